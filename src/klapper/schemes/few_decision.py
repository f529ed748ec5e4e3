"""The decision about at most two contacts in closed form, in the words of the acceleration-level problem.

See :mod:`klapper.mechanics.acceleration` for the problem and :mod:`klapper.schemes.few_contacts` for what is solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.schemes.few_contacts import CLEAR, solve_few

if TYPE_CHECKING:
    from klapper.schemes.touching import Touching

_MOST = 2


@dataclass(frozen=True, eq=False)
class FewDecision:
    """Accelerations, forces and modes; the names are those of ``AccelerationProblem`` and ``ModeDecision``."""

    contacts: int
    directions: np.ndarray
    _responses: np.ndarray
    free_acceleration: np.ndarray
    acceleration: np.ndarray
    _forces: np.ndarray
    normal_force: np.ndarray
    tangential_force: np.ndarray
    stays_closed: np.ndarray
    sticks: np.ndarray
    bilateral_force: np.ndarray

    @staticmethod
    def of(
        touching: Touching,
        normals: np.ndarray,
        patches: np.ndarray,
        question: Any,
        friction: np.ndarray,
        b_normal: np.ndarray,
        b_tangential: np.ndarray,
        force: np.ndarray,
    ) -> FewDecision | None:
        """The decision, or None where the general problem has to be solved. ``friction`` is μ (s, m)."""
        m, s, d = len(normals), len(patches), touching.d
        if m > _MOST or s > _MOST or (s and d != 1):
            return None
        directions = np.hstack(
            [touching.normal[:, normals], touching.tangential[:, patches]]
            if s
            else [touching.normal[:, normals]]
        )
        responses = np.asarray(touching.inverse(directions))
        free = np.asarray(touching.inverse(force))
        mobility = directions.T @ responses
        bias = np.concatenate([b_normal[normals], b_tangential[patches]]) if s else b_normal[normals]
        limit = touching.laws.limit[patches]
        slides = question.sliding[patches]
        spread, given = np.eye(m + s), np.zeros(m + s)
        for i in np.flatnonzero(slides):
            sense = float(question.sense[patches[i], 0])
            spread[m + i, :m] = -sense * friction[i]
            spread[m + i, m + i] = 0.0
            given[m + i] = -limit[i] * sense
        velocity = directions.T @ (free + responses @ given) + bias
        matrix = mobility @ spread
        if np.any(np.diag(matrix)[:m] <= 0.0):
            return None  # sliding friction turns a normal force against itself
        asked = np.concatenate([np.arange(m), m + np.flatnonzero(~slides)])
        terms = np.abs(directions).T @ np.abs(free) + np.abs(bias)
        if np.any(np.abs(velocity[:m]) <= CLEAR * terms[:m]):
            return None
        found = solve_few(matrix[np.ix_(asked, asked)], velocity[asked], m, friction[~slides], limit[~slides])
        if found is None:
            return None
        unknown = np.zeros(m + s)
        unknown[asked] = found
        forces = spread @ unknown + given
        acceleration = free + responses @ forces
        closed = unknown[:m] > 0.0
        pressed = (limit > 0.0) | np.any((friction > 0.0) & closed, axis=1)
        at_limit = np.abs(forces[m:]) >= (limit + friction @ unknown[:m]) * (1.0 - CLEAR)
        return FewDecision(
            m,
            directions,
            responses,
            free,
            acceleration,
            forces,
            forces[:m],
            forces[m:].reshape(s, max(d, 1)),
            closed,
            ~slides & pressed & ~at_limit,
            np.zeros(0),
        )
