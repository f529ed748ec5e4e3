"""Another distribution of forces that are not unique, when the one at hand has reached a limit.

Motion is unique, forces are x + N z with the null space N of the held rows, (4.60)-(4.62). Of all admissible ones that
with the largest margin s is chosen by a linear program:

    max s:   λ_N ≥ s F,   |λ_T| ≤ limit + μ λ_N − s F          (a polygon inside the friction disc)
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.phase_equations import Instant, PhaseEquations

_RANK = 1e-9
_MARGIN = 1e-6  # of the forces: less is no margin
_SIDES = 16


def with_margin(equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Forces (r,) [N] of the same motion with the largest margin to their limits; None if there is none to spare."""
    from scipy.optimize import linprog

    now = equations.instant(t, q, v)
    free = _null_space(equations, t, q, v, now)
    if free.shape[1] == 0:
        return None
    size = float(np.abs(now.forces).max(initial=0.0))
    rows, bounds = _limits(equations, now.forces, free)
    left = np.hstack([-rows, np.full((len(rows), 1), size)])
    count = free.shape[1]
    answer = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=left,
        b_ub=bounds,
        bounds=[(None, None)] * count + [(None, 1.0)],
        method="highs",
    )
    if answer.status != 0 or answer.x[-1] <= _MARGIN:
        return None
    return now.forces + free @ answer.x[:-1]


def _null_space(
    equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray, now: Instant
) -> np.ndarray:
    """All forces (r, z) that change no acceleration."""
    rows, inverse = equations.rows(t, q, v), equations.inverse(q)
    matrix, _ = equations.distribution(equations.senses(now.slip), equations.friction_at(now.slip))
    pushes = rows.columns @ matrix
    unit = np.sqrt(np.abs(np.einsum("nr,nr->r", pushes, np.asarray(inverse(pushes)))))
    unit = np.where(unit > 0.0, unit, 1.0)
    mobility = pushes.T @ np.asarray(inverse(pushes)) / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(0.5 * (mobility + mobility.T))
    kept = vectors[:, values < _RANK * values.max(initial=0.0)]
    return matrix @ (kept / unit[:, None])


def _limits(equations: PhaseEquations, forces: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and bounds of rows z + bounds ≥ s F."""
    m, d = len(equations.normal), equations.d
    rows, bounds = [free[i] for i in range(m)], [forces[i] for i in range(m)]
    for patch in equations.sticking:
        share = equations.at_rest[patch]
        rho, rho_rows = equations.limit[patch] + share @ forces[:m], share @ free[:m]
        at = equations.patch_rows[patch]
        if d == 1:
            sides, inside = np.array([[1.0], [-1.0]]), 1.0
        else:
            angle = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
            sides, inside = np.column_stack([np.cos(angle), np.sin(angle)]), np.cos(np.pi / _SIDES)
        for side in sides:
            rows.append(inside * rho_rows - side @ free[at])
            bounds.append(inside * rho - side @ forces[at])
    return np.array(rows).reshape(-1, free.shape[1]), np.array(bounds)
