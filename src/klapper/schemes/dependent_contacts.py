"""Forces of contacts that depend on each other, chosen as the compiled loops choose them.

Where contacts at rest are redundant, every distribution of their forces solves the contact problem, and the next phase
depends on which is taken. So the general code asks the compiled solver, for systems that have a compiled form.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.compiled_phases import compiled_system
from klapper.schemes.mobility import rank

_RANK = 1e-9  # as in klapper.schemes.kernels.phase_rows


@cache
def _solver() -> tuple[Any, np.ndarray]:
    from klapper.schemes.kernels.event_contacts import solve_dependent
    from klapper.schemes.kernels.event_parts import part_address
    from klapper.schemes.kernels.event_room import DEPENDENT_PART, PARTS, ROUGH_PART

    at = np.zeros(PARTS, dtype=np.int64)
    at[ROUGH_PART], at[DEPENDENT_PART] = part_address(ROUGH_PART), part_address(DEPENDENT_PART)
    return solve_dependent, at


def dependent_forces(
    system: System, mobility: np.ndarray, velocity: np.ndarray, friction: np.ndarray, limit: np.ndarray
) -> np.ndarray | None:
    """x (m + s d,) of m normal rows and of d friction rows of each of s patches; None if they
    determine their forces, if what one of them does is on a border, or if the system has no compiled form.

    ``mobility`` W (m + s d, m + s d), ``velocity`` b (m + s d,), ``friction`` μ (s, m), ``limit`` (s,).
    """
    normals, d = friction.shape[1], system.contacts.tangential
    if len(velocity) < 2 or rank(mobility, mobility.diagonal(), _RANK) == len(velocity):
        return None
    if compiled_system(system) is None:
        return None
    solve, at = _solver()
    given = [np.ascontiguousarray(each, dtype=float) for each in (mobility, velocity, friction, limit)]
    x = np.zeros(len(velocity))
    return x if solve(at, *given[:2], normals, d, *given[2:], x) else None
