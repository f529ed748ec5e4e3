"""What a contact does: the four numbers by which problems, schemes, results and pages tell contact states apart.

They stand in arrays (int8) of solutions, steps and samples, and in compiled kernels, which take their values when they
are compiled. A closed contact without friction cannot stick: it is SLIP, also at rest.
"""

__all__ = ["IMPACT", "OPEN", "SLIP", "STATE_NAMES", "STICK"]

OPEN, STICK, SLIP, IMPACT = 0, 1, 2, 3
"""OPEN 0: apart or without force; STICK 1: closed, at rest along the surface; SLIP 2: sliding; IMPACT 3: hit."""

STATE_NAMES = ("open", "stick", "slip", "impact")
"""Contact states in words, ``STATE_NAMES[SLIP]`` is "slip"."""
