"""Solutions of a complementarity problem for a given set of closed contacts, and singular points of their equations.

    M [y, λ] + q = (0, g),   0 ≤ λ ⟂ g ≥ 0,   λ = 0 where open,  g = 0 where closed

y are unknowns without a bound; of a linear problem in the contact forces alone there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from klapper.complementarity.problem import LinearComplementarity

SINGULAR = 1e-14  # reciprocal condition number up to which equations count as singular


@dataclass(frozen=True, eq=False)
class HeldPoint:
    """The solution for one set of closed contacts, admissible or not.

    ``y`` (r,), ``forces`` λ (c,), ``gaps`` (c,): dimensionless; ``closed`` (c,)
    ``margins``  (c,): forces of closed and gaps of open contacts, which must not be negative; ``sizes`` (c,): the
                 largest force and the largest gap that occur, for each of them
    """

    y: np.ndarray
    forces: np.ndarray
    gaps: np.ndarray
    closed: np.ndarray
    margins: np.ndarray
    sizes: np.ndarray

    def admissible(self, tolerance: float) -> bool:
        return bool(np.all(self.margins >= -tolerance * self.sizes))


@dataclass(frozen=True)
class Orientation:
    """On which side of its singular points a matrix is: the ``sign`` of its determinant, which changes at simple ones,
    and where it is that of a conservative system the number of ``negative`` stiffnesses, which changes at all of
    them; and the ``size`` of its entries."""

    sign: int
    negative: int | None
    size: float = 1.0

    def differs(self, other: Orientation) -> bool:
        """Whether a singular point is certain to lie between: K may be symmetric on one side only, e.g. at rest, where
        a rotor has no circulatory forces."""
        if self.negative is not None and other.negative is not None:
            return self.negative != other.negative
        return self.sign != other.sign


class BasisForm(Protocol):
    """A complementarity problem as a path along its bases needs it; contacts by masks ``closed`` (c,).

    ``names`` of the contacts are those of the problem that ``condensed`` gives to a solver
    """

    @property
    def monotone(self) -> bool:
        """Whether there is exactly one solution, which a solver for monotone problems finds."""

    def reach(self, point: HeldPoint) -> float:
        """The size of y at a point, against which changes of it are judged."""

    def held(self, closed: np.ndarray) -> HeldPoint | None:
        """The solution with the contacts closed; None if their equations are singular."""

    def orientation(self, closed: np.ndarray) -> Orientation:
        """Of the equations of the closed contacts."""

    def regularity(self, closed: np.ndarray, since: Orientation) -> float:
        """A smooth function that is positive where the orientation is that of ``since``, and vanishes at the singular
        points in between."""

    def crossing(self, closed: np.ndarray) -> np.ndarray:
        """Changes (c,) of forces of closed and of gaps of open contacts along what branches off at a singular point."""

    def condensed(self, names: tuple[str, ...]) -> LinearComplementarity | None:
        """The problem in the contact forces; None if there is none."""


def regular_solver(
    matrix: np.ndarray, singular: float = SINGULAR
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Solves with a square matrix, scaled by rows and columns; None if it is singular."""
    if len(matrix) == 0:
        return lambda right: right
    row = np.abs(matrix).max(axis=1)
    if not np.all(row > 0.0):
        return None
    column = np.abs(matrix / row[:, None]).max(axis=0)
    if not np.all(column > 0.0):
        return None
    scaled = matrix / row[:, None] / column
    factors, pivots, fault = dgetrf(scaled)
    if fault:
        return None
    reciprocal, _ = dgecon(factors, np.abs(scaled).sum(axis=0).max())
    if not reciprocal > singular:
        return None

    def solve(right: np.ndarray) -> np.ndarray:
        answer, _ = dgetrs(factors, pivots, (right.T / row).T)
        return (answer.T / column).T

    return solve


def signed_distance(matrix: np.ndarray) -> float:
    """Smallest singular value of a square matrix with the sign of its determinant: smooth where it is singular."""
    if len(matrix) == 0:
        return 1.0
    sign = float(np.linalg.slogdet(matrix)[0])
    return sign * float(np.linalg.svd(matrix, compute_uv=False)[-1])
