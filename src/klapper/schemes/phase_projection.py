"""Drift taken out at the end of a step, with the least change in the metric of the mass.

    q ← q − M⁻¹ J (Jᵀ M⁻¹ J)⁺ (g, Φ),     v ← v − M⁻¹ D (Dᵀ M⁻¹ D)⁺ (Dᵀ v + a)

The equations of a phase hold accelerations only, so positions and velocities drift by the error of the integration;
Waltersberger, section 4.2, recommends the projection.
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.mobility import natural_units
from klapper.schemes.phase_equations import PhaseEquations

_ROUNDS = 6
_RANK = 1e-10
_EXACT = 1e-15  # of the coordinates: drift that is round-off
_FLUSHED = 1e-12  # of the terms of a velocity: what is left of it where contacts hold it


def held_position(equations: PhaseEquations, t: float, q: np.ndarray) -> np.ndarray:
    """The nearest position (nq,) at which the pressed contacts are closed and the two-sided constraints met."""
    system = equations.system
    q = system.advance(q, np.zeros(len(system.velocities)))  # quaternions to unit length
    if len(equations.placed) == 0:
        return q
    which = equations.which[equations.normal]
    for _ in range(_ROUNDS):
        residual = np.concatenate([system.gaps(t, q, which), system.constraint_residuals(t, q)])
        if np.abs(residual).max() <= _EXACT * max(float(np.abs(q).max(initial=0.0)), 1e-3):
            break
        rows = equations.rows(t, q, np.zeros(len(system.velocities)))
        columns = rows.columns[:, equations.placed]
        q = system.advance(q, -_least_change(equations, q, columns, residual))
    return q


def held_velocity(
    equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray, held: np.ndarray, pushed: np.ndarray
) -> np.ndarray:
    """The nearest velocity (nv,) without motion in the rows ``held``, exact zeros where only round-off is left.

    ``pushed`` (nv,) [m/s] are the sizes of the velocities that cancel, by which round-off is judged.
    """
    if len(held) == 0:
        return v
    rows = equations.rows(t, q, v)
    columns = rows.columns[:, held]
    after = v
    for _ in range(2):
        residual = columns.T @ after + rows.rates[held]
        if not np.any(residual):
            break
        after = after - _least_change(equations, q, columns, residual)
    touched = np.any(columns != 0.0, axis=1)
    cancelled = _cancelled(equations, q, columns, np.abs(v) + pushed)
    return np.where(touched & (np.abs(after) < _FLUSHED * cancelled), 0.0, after)


def _cancelled(equations: PhaseEquations, q: np.ndarray, columns: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Sizes (nv,) of the velocities that cancel: ``size`` and what impulses at the contacts make of it.

    Round-off of one coordinate reaches the others through the contacts they share, and from there the next ones.
    """
    response = np.asarray(equations.inverse(q)(columns))
    mobility = np.sum(columns * response, axis=0)
    carried = np.abs(response) / np.where(mobility > 0.0, mobility, np.inf)
    for _ in range(2):
        size = size + carried @ (np.abs(columns).T @ size)
    return size


def _least_change(
    equations: PhaseEquations, q: np.ndarray, columns: np.ndarray, residual: np.ndarray
) -> np.ndarray:
    """M⁻¹ J (Jᵀ M⁻¹ J)⁺ residual (nv,)."""
    response = np.asarray(equations.inverse(q)(columns))
    mobility = columns.T @ response
    unit = natural_units(mobility.diagonal())
    scaled = mobility / np.outer(unit, unit)
    return response @ (np.linalg.lstsq(scaled, residual / unit, rcond=_RANK)[0] / unit)
