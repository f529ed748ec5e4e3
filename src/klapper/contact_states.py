"""What a contact does: the four numbers by which problems, schemes, results and pages tell contact states apart.

They stand in arrays (int8) of solutions, steps and samples, and in compiled kernels, which take their values when they
are compiled. A closed contact without friction cannot stick or slip; motions call it STICK, contact problems SLIP.
"""

__all__ = ["IMPACT", "OPEN", "SLIP", "STATE_NAMES", "STICK"]

OPEN, STICK, SLIP, IMPACT = 0, 1, 2, 3
"""Apart or without force; closed and at rest along the surface; closed and sliding; hit in this step or sample."""

STATE_NAMES = ("open", "stick", "slip", "impact")
"""In words: ``STATE_NAMES[SLIP]`` is "slip"."""
