"""The energy ledger: where the energy is, where it came from and where it went.

    kinetic + potential + damping + friction + impact + numerical − loads = const

Kinetic and potential energy are values; the others are sums over the run. Normal impulses take −½ Λ_N (⁺v_N + ⁻v_N),
Waltersberger (3.118), friction −½ Λ_T · (⁺v_T + ⁻v_T); what moving walls and belts put in, −Λ · a, counts as load.
``numerical`` is what the scheme gains or loses by stepping: the work of its discrete forces against the potential and
the powers of the model. Each entry is computed from its own terms, so that the sum is a check.
"""

from __future__ import annotations

from typing import NamedTuple

ENTRIES = ("kinetic", "potential", "loads", "damping", "friction", "impact", "numerical")


class Increment(NamedTuple):
    """What one step adds to the sums, all in J."""

    loads: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    impact: float = 0.0
    numerical: float = 0.0
