"""Sets of forces of solved contact problems.

For a given motion v̄ = W x̄ + b the forces of contacts that separate are zero, those of closed contacts push, friction
sticks inside its disc or opposes sliding at its limit. If only the contact state is given, v = 0 is kept where contacts
are closed and stick, and elsewhere the signs of v that belong to the state.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from klapper.complementarity.dense import dense
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity
from klapper.complementarity.selection.accuracy import CLOSED, judged_contact, judged_linear
from klapper.complementarity.selection.force_set import ForceSet
from klapper.convex import RegularPolygon

Motion = Literal["same", "any"]


def linear_force_set(
    problem: LinearComplementarity, x: np.ndarray, motion: Motion, duration: float
) -> ForceSet:
    """Normal forces of 0 ≤ x ⟂ A x + b ≥ 0."""
    matrix, answer = dense(problem.matrix), judged_linear(problem, x)
    x, image = answer.x, answer.image
    closed = image <= answer.still
    held = keeping = None
    if motion == "any":
        held = matrix[closed] * duration
        keeping = (matrix[~closed] * duration, image[~closed])
    return ForceSet(
        x / duration,
        matrix * duration,
        np.arange(problem.size),
        np.zeros((0, 1), dtype=int),
        np.zeros((0, problem.size)),
        np.zeros(0),
        np.zeros((0, 1)),
        ~closed,
        problem.names,
        held,
        keeping,
        mobility=matrix * duration,
    )


def contact_force_set(problem: FrictionalContact, x: np.ndarray, motion: Motion, duration: float) -> ForceSet:
    """Forces of contacts with friction."""
    matrix, answer = dense(problem.delassus), judged_contact(problem, x)
    x, velocity, still = answer.x, answer.image, answer.still
    closed = velocity[problem.normal] <= still[problem.normal]
    fixed = np.zeros(problem.size, dtype=bool)
    fixed[problem.normal[~closed]] = True
    friction = problem.friction.toarray()
    pressed = (problem.limit > 0) | np.any(friction[:, closed] > 0, axis=1)
    sense = np.zeros(problem.tangential.shape)
    edges = np.zeros(sense.shape)
    sliding_speed = np.zeros(len(sense))
    for k, rows in enumerate(problem.tangential):
        sliding = velocity[rows]
        speed = float(np.linalg.norm(sliding))
        if not pressed[k]:
            fixed[rows] = True
        elif speed > still[rows].max():
            sense[k], sliding_speed[k] = sliding / speed, speed
            if (
                problem.polygon is not None
            ):  # at the corners that dissipate most: one, or two and the edge between
                corners = _best_corners(problem.polygon, -sense[k])
                sense[k] = -corners[0]
                edges[k] = corners[-1] - corners[0]
    held = keeping = None
    if motion == "any":
        moving = np.any(sense != 0.0, axis=1)
        rest = [problem.normal[closed], problem.tangential[pressed & ~moving].ravel(), problem.bilateral]
        held = matrix[np.concatenate(rest)] * duration
        goes_on = [sense[k] @ matrix[problem.tangential[k]] for k in np.flatnonzero(moving)]
        speeds = [sense[k] @ velocity[problem.tangential[k]] for k in np.flatnonzero(moving)]
        opens = problem.normal[~closed]
        keeping = (
            np.vstack([matrix[opens], *goes_on]).reshape(-1, problem.size) * duration,
            np.concatenate([velocity[opens], speeds]),
        )
    return ForceSet(
        x / duration,
        matrix * duration,
        problem.normal,
        problem.tangential,
        friction,
        problem.limit / duration,
        sense,
        fixed,
        problem.names,
        held,
        keeping,
        problem.polygon,
        edges if np.any(edges) else None,
        mobility=matrix * duration,
        speed=sliding_speed,
    )


def _best_corners(sides: int, direction: np.ndarray) -> np.ndarray:
    """The one or two corners (k, 2) of the unit polygon that lie furthest in a direction."""
    corners = RegularPolygon(1.0, sides).directions.T
    reach = corners @ direction
    return corners[reach >= reach.max() - CLOSED]
