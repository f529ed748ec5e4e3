"""Forces that are not unique in a phase: another distribution when the one at hand has reached a limit.

Forces of the same motion are x + N z with the null space N of the directions, (4.60)-(4.62). Of all admissible ones
that with the largest margin s is chosen:

    max s:   λ_N ≥ s,   |λ_T| ≤ limit + μ λ_N − s

Where sliding contacts feed different friction from normal forces that depend on each other, forces that hold the same
contacts at rest move the system differently.
"""

from __future__ import annotations

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.complementarity.selection import ForceSet, extreme
from klapper.schemes.phase_equations import PhaseEquations


def phase_forces(equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray) -> ForceSet:
    """All forces of the rows of a phase that keep its modes at a state."""
    now, rows = equations.instant(t, q, v), equations.rows(t, q, v)
    response = np.asarray(equations.inverse(q)(rows.columns))
    root = np.sqrt(np.abs(np.einsum("nr,nr->r", rows.columns, response)))
    size = np.where(root > 0.0, root, 1.0)
    m = len(equations.normal)
    sense = np.zeros((len(equations.patch), max(equations.d, 1)))
    if len(equations.sliding):
        sense[equations.sliding] = equations.senses(now.slip)[equations.sliding]
    mobility = rows.columns.T @ response
    names = [f"row {i}" for i in range(equations.size)]
    return ForceSet(
        now.forces,
        mobility / size[:, None],
        np.arange(m),
        equations.patch_rows if equations.d else np.zeros((0, 1), dtype=int),
        equations.friction_at(now.slip),
        equations.limit,
        sense,
        np.zeros(equations.size, dtype=bool),
        tuple(names),
        (mobility / size[:, None])[equations.held] if len(equations.sliding) else None,
    )


def with_margin(equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Forces (r,) [N] of the same motion with the largest margin to their limits; None if there is none to spare."""
    try:
        return extreme.with_margin(phase_forces(equations, t, q, v).same_motion())
    except ComplementarityError:
        return None


def motion_depends_on_forces(equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray) -> bool:
    """Whether forces that keep the modes of a phase can give different accelerations."""
    if len(equations.sliding) == 0 or len(equations.normal) < 2:
        return False
    forces = phase_forces(equations, t, q, v)
    try:
        return not forces.motion_unique
    except ComplementarityError:
        return False
