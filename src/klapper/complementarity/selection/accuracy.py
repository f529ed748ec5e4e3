"""The accuracy of a verified answer: velocities that it leaves where there are none, and the step that removes them.

A verified answer satisfies its contact laws up to a residual, in units in which a velocity of 1e-7 m/s can be zero.
Before its contact state is read, the equations of that state are solved,

    v_N = 0 closed,   x_N = 0 open,   v_T = 0 sticking,   x_T = −(limit + μ x_N) v_T/|v_T| sliding

by the smallest change of x; what then counts as rest follows from the residual that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.complementarity.dense import dense
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity
from klapper.complementarity.selection.null_space import RANK

CLOSED = 1e-8  # of the velocities: what counts as rest
_LEFT = (
    10.0  # of the residual, in the units in which it was measured: velocities that the answer does not know
)
_LARGEST = 1e-5  # the same where the residual says nothing, of the largest term of a velocity
_ROUND_OFF = 1e-13  # residual of an answer that needs no correction
_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Judged:
    """An answer ``x`` (n,), its ``image`` A x + b (n,), and the sizes ``still`` (n,) up to which entries are zero."""

    x: np.ndarray
    image: np.ndarray
    still: np.ndarray


def judged_contact(problem: FrictionalContact, x: np.ndarray) -> Judged:
    """A verified answer of a problem with friction, corrected to round-off where its contact state allows."""
    now = _contact(problem, x)
    worst = problem.residuals(x).worst
    for _ in range(_ROUNDS):
        if worst <= _ROUND_OFF:
            break
        other = now.x + _contact_step(problem, now)
        left = problem.residuals(other).worst
        if not left < worst:
            break
        now, worst = _contact(problem, other), left
    return now


def judged_linear(problem: LinearComplementarity | MixedComplementarity, x: np.ndarray) -> Judged:
    """A verified answer of a linear or mixed problem, corrected to round-off where its active set allows."""
    now = _linear(problem, x)
    worst = problem.residuals(x).worst
    for _ in range(_ROUNDS):
        if worst <= _ROUND_OFF:
            break
        other = now.x + _linear_step(problem, now)
        left = problem.residuals(other).worst
        if not left < worst:
            break
        now, worst = _linear(problem, other), left
    return now


def _contact(problem: FrictionalContact, x: np.ndarray) -> Judged:
    velocity, free = problem.image(x), problem.free_velocity
    rest = CLOSED * (np.abs(np.concatenate([free, velocity - free])).max(initial=0.0) or 1.0)
    terms = np.abs(free) + np.abs(dense(problem.delassus)) @ np.abs(x)
    left = min(_LEFT * problem.residuals(x).worst, _LARGEST) * problem.velocity_scale(terms)
    return Judged(x, velocity, np.maximum(rest, left))


def _linear(problem: LinearComplementarity | MixedComplementarity, x: np.ndarray) -> Judged:
    terms = np.abs(problem.offset) + np.abs(dense(problem.matrix)) @ np.abs(x)
    return Judged(x, problem.image(x), np.full(len(x), unknown_part(problem, x) * terms.max(initial=0.0)))


def unknown_part(problem: LinearComplementarity | MixedComplementarity, x: np.ndarray) -> float:
    """The part of the largest term up to which entries of A x + b are zero."""
    return max(CLOSED, min(_LEFT * problem.residuals(x).worst, _LARGEST))


def _contact_step(problem: FrictionalContact, now: Judged) -> np.ndarray:
    """The smallest change of x (n,) that satisfies the equations of its contact state to first order."""
    matrix, x, identity = dense(problem.delassus), now.x, np.eye(problem.size)
    unit = float(np.abs(matrix).max(initial=0.0)) or 1.0
    closed = now.image[problem.normal] <= now.still[problem.normal]
    rest, given = [problem.bilateral, problem.normal[closed]], [problem.normal[~closed]]
    friction, limits = problem.friction.toarray(), problem.friction_limits(x)
    rows, right = [], []
    for k, patch in enumerate(problem.tangential):
        speed = float(np.linalg.norm(now.image[patch]))
        if not (problem.limit[k] > 0.0 or np.any(friction[k, closed] > 0.0)):
            given.append(patch)
        elif speed <= now.still[patch].max():
            rest.append(patch)
        else:
            sense = now.image[patch] / speed
            corner = problem.polygon is not None  # the corner, or a place on an edge, stays as it was found
            follows = np.zeros((len(patch), problem.size))
            follows[:, problem.normal] = 0.0 if corner else np.outer(sense, friction[k])
            rows.append(identity[patch] + follows)
            right.append(np.zeros(len(patch)) if corner else -(x[patch] + limits[k] * sense))
    still, gone = np.concatenate(rest).astype(int), np.concatenate(given).astype(int)
    equations = np.vstack([matrix[still] / unit, identity[gone], *rows])
    values = np.concatenate([-now.image[still] / unit, -x[gone], *right])
    return np.linalg.lstsq(equations, values, rcond=RANK)[0]


def _linear_step(problem: LinearComplementarity | MixedComplementarity, now: Judged) -> np.ndarray:
    matrix = dense(problem.matrix)
    unit = float(np.abs(matrix).max(initial=0.0)) or 1.0
    held = now.image <= now.still
    if isinstance(problem, MixedComplementarity):
        held = held | problem.free
    equations = np.where(held[:, None], matrix / unit, np.eye(problem.size))
    return np.linalg.lstsq(equations, -np.where(held, now.image / unit, now.x), rcond=RANK)[0]
