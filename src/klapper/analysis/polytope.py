"""Sets of forces and positions bounded by equations, inequalities and friction discs.

    { x : E x = e,   G x + h ≥ 0,   ‖P_i x‖ ≤ r_iᵀx + ρ_i }

Extreme values are linear programs; discs enter by tangents that are added until none is violated. Without discs the set
is a polytope, and its vertices are found in the coordinates t of its own plane, x = x₀ + N t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from klapper.mechanics.errors import InvalidModel

RANK = 1e-10
FLAT = 1e-9  # of the size of the set: extents up to it are none
MOST_DIMENSIONS = 8  # of a polytope whose vertices are listed
_OUTSIDE = 1e-10  # of the size of the set: how far a point may lie outside a disc
_ROUNDS = 80  # tangents added to a disc
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class Disc:
    """‖P x‖ ≤ rᵀx + ρ: P (2, k) ``rows``, r (k,) ``slope``, ρ ``radius``."""

    rows: np.ndarray
    slope: np.ndarray
    radius: float


@dataclass(frozen=True, eq=False)
class Polytope:
    """A set in k unknowns: ``equations`` E (i, k), e (i,); ``inequalities`` G (j, k), h (j,); ``discs``.

    The unknowns should be of comparable size. ``known`` is a point (k,) of the set, if there is one: extreme values are
    then found even where the set is as thin as round-off.
    """

    equations: tuple[np.ndarray, np.ndarray]
    inequalities: tuple[np.ndarray, np.ndarray]
    discs: Sequence[Disc] = ()
    known: np.ndarray | None = None

    @cached_property
    def point(self) -> np.ndarray | None:
        """A point (k,) of the set that stays away from its borders where it can; None if the set is empty."""
        if self.plane is None:
            return None
        start, inner = self.plane
        if inner.shape[1] == 0:
            return start if self._holds(start) else None
        return None if self._centre is None else start + inner @ self._centre

    @cached_property
    def plane(self) -> tuple[np.ndarray, np.ndarray] | None:
        """x₀ (k,) and N (k, t) with E x₀ = e and E N = 0; None if the equations contradict each other."""
        matrix, right = self.equations
        if len(right) == 0:
            return np.zeros(matrix.shape[1]), np.eye(matrix.shape[1])
        left, values, across = np.linalg.svd(matrix)
        rank = int(np.count_nonzero(values > RANK * values.max(initial=0.0)))
        if self.known is not None:
            return self.known, across[rank:].T
        start = across[:rank].T @ ((left[:, :rank].T @ right) / values[:rank])
        error = np.abs(matrix @ start - right).max(initial=0.0)
        if error > FLAT * max(np.abs(right).max(initial=0.0), 1e-300):
            return None
        return start, across[rank:].T

    @cached_property
    def size(self) -> float:
        """Of the numbers that make up the set."""
        numbers = [*self.inequalities[1], *(disc.radius for disc in self.discs)]
        if self.plane is not None:
            numbers += [*self.plane[0]]
        return float(np.abs(numbers).max(initial=0.0)) or 1.0

    @cached_property
    def dimension(self) -> int:
        """Of a set that is not empty."""
        return self._own_plane()[1].shape[1]

    def greatest(self, direction: np.ndarray) -> tuple[float, np.ndarray | None]:
        """The greatest value of ``direction`` (k,) · x with a point (k,) where it is taken; inf and None if there is no
        bound."""
        assert self.plane is not None
        start, inner = self.plane
        slope = direction @ inner
        if np.abs(slope).max(initial=0.0) <= RANK * np.abs(direction).max(initial=0.0):
            point = self.point
            assert point is not None
            return float(direction @ point), point
        answer = self._program(-slope)
        if answer is None:
            return np.inf, None
        point = start + inner @ answer
        return float(direction @ point), point

    def range(self, direction: np.ndarray) -> tuple[float, float]:
        """Least and greatest value of ``direction`` (k,) · x."""
        low, high = -self.greatest(-direction)[0], self.greatest(direction)[0]
        if high - low <= FLAT * self.size * np.abs(direction).max(initial=0.0):
            middle = 0.5 * (low + high)
            return middle, middle
        return low, high

    @cached_property
    def vertices(self) -> np.ndarray:
        """(v, k): the corners of a polytope without discs."""
        if self.discs:
            raise InvalidModel("a set with friction discs has no corners; ask for its greatest values.")
        if self.point is None or self.plane is None:
            return np.zeros((0, self.equations[0].shape[1]))
        start, inner, rows, offsets = self._own_plane()
        if inner.shape[1] == 0:
            return start[None]
        if inner.shape[1] == 1:
            return start + np.array(_ends(rows[:, 0], offsets))[:, None] * inner[:, 0]
        if inner.shape[1] > MOST_DIMENSIONS:
            raise InvalidModel(
                f"the set has {inner.shape[1]} dimensions; corners are listed for up to {MOST_DIMENSIONS}. Ask for "
                f"ranges."
            )
        return start + _corners(rows, offsets, self.size) @ inner.T

    def _own_plane(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x₀, N, G N and G x₀ + h with a point x₀ inside, after inequalities that leave no room became equations."""
        start, inner = self.point, self.plane[1] if self.plane else np.zeros((0, 0))
        assert start is not None
        matrix, constant = self.inequalities
        reach = np.abs(matrix).max(axis=1, initial=0.0) * self.size
        while inner.shape[1]:
            rows = matrix @ inner
            tight = matrix @ start + constant <= FLAT * reach
            tight &= np.abs(rows).max(axis=1, initial=0.0) > RANK
            flat = [
                i for i in np.flatnonzero(tight) if self.range(matrix[i])[1] + constant[i] <= FLAT * reach[i]
            ]
            if not flat:
                break
            inner = inner @ scipy.linalg.null_space(rows[flat], rcond=RANK)
            rows = matrix @ inner
            moves = np.abs(rows).max(axis=1, initial=0.0) > RANK
            within = np.maximum((matrix @ start + constant)[moves], 0.0) / self.size
            deepest = _deepest(rows[moves], within) if moves.any() else None
            start = start if deepest is None else start + inner @ deepest * self.size
        rows = matrix @ inner
        seen = np.abs(rows).max(axis=1, initial=0.0) > RANK
        offsets = np.maximum((matrix @ start + constant)[seen], 0.0)
        return start, inner, rows[seen], offsets

    @cached_property
    def _centre(self) -> np.ndarray | None:
        """t of a point as far inside as possible; None if the set is empty."""
        cuts = self._first_cuts()
        for _ in range(_ROUNDS):
            t = _deepest(*self._rows(cuts))
            if t is None or not self._cut(t, cuts):
                break
        return None if t is None else t * self.size

    def _program(self, slope: np.ndarray) -> np.ndarray | None:
        """t that minimises slope · t; None if there is no bound."""
        cuts = self._first_cuts()
        size = np.abs(slope).max()
        for _ in range(_ROUNDS):
            rows, offsets = self._rows(cuts)
            program = linprog(slope / size, A_ub=-rows, b_ub=offsets, bounds=(None, None), options=_EXACT)
            if program.status in (3, 4):
                return None
            if program.status != 0:
                raise InvalidModel(
                    f"a bound of the set of stationary states was not found: {program.message}"
                )
            if not self._cut(program.x, cuts):
                break
        return np.asarray(program.x) * self.size

    def _rows(self, cuts: list[tuple[np.ndarray, float]]) -> tuple[np.ndarray, np.ndarray]:
        """Inequalities rows · t + offsets ≥ 0 of the plane, in units of the size of the set."""
        assert self.plane is not None
        start, inner = self.plane
        matrix, constant = self.inequalities
        rows = np.vstack([matrix, *(row for row, _ in cuts)])
        offsets = np.concatenate([constant, [offset for _, offset in cuts]])
        slack = (rows @ start + offsets) / self.size
        return rows @ inner, slack if self.known is None else np.maximum(slack, 0.0)

    def _first_cuts(self) -> list[tuple[np.ndarray, float]]:
        return [_tangent(disc, angle) for disc in self.discs for angle in np.arange(8) * (np.pi / 4)]

    def _cut(self, t: np.ndarray, cuts: list[tuple[np.ndarray, float]]) -> bool:
        """Add the tangent of every disc that a point violates; whether there was one."""
        assert self.plane is not None
        x = self.plane[0] + self.plane[1] @ t * self.size
        violated = False
        for disc in self.discs:
            force = disc.rows @ x
            if np.linalg.norm(force) > disc.slope @ x + disc.radius + _OUTSIDE * self.size:
                cuts.append(_tangent(disc, float(np.arctan2(force[1], force[0]))))
                violated = True
        return violated

    def _holds(self, x: np.ndarray) -> bool:
        matrix, constant = self.inequalities
        reach = np.abs(matrix).max(axis=1, initial=0.0) * self.size
        inside = matrix @ x + constant >= -FLAT * reach
        round_ones = [
            np.linalg.norm(disc.rows @ x) <= disc.slope @ x + disc.radius + FLAT * self.size
            for disc in self.discs
        ]
        return bool(np.all(inside)) and all(round_ones)


def _deepest(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray | None:
    """t (k,) of the largest ball, of radius up to one, inside {t : rows t + offsets ≥ 0}; None if that is empty."""
    program = linprog(
        np.append(np.zeros(rows.shape[1]), -1.0),
        A_ub=np.column_stack([-rows, np.linalg.norm(rows, axis=1)]),
        b_ub=offsets,
        bounds=[(None, None)] * rows.shape[1] + [(0.0, 1.0)],
        options=_EXACT,
    )
    if program.status == 2:
        return None
    if program.status != 0:
        raise InvalidModel(f"no point of the set of stationary states was found: {program.message}")
    return np.asarray(program.x[:-1])


def _tangent(disc: Disc, angle: float) -> tuple[np.ndarray, float]:
    """The half-plane e · P x ≤ rᵀx + ρ as row · x + offset ≥ 0."""
    e = np.array([np.cos(angle), np.sin(angle)])
    return disc.slope - e @ disc.rows, disc.radius


def _ends(slopes: np.ndarray, offsets: np.ndarray) -> list[float]:
    """Both ends of {t : slopes t + offsets ≥ 0}, which contains zero."""
    low = max((-o / s for s, o in zip(slopes, offsets, strict=True) if s > 0.0), default=-np.inf)
    high = min((-o / s for s, o in zip(slopes, offsets, strict=True) if s < 0.0), default=np.inf)
    _require_bounded([low, high])
    return [low, high] if high > low else [low]


def _corners(rows: np.ndarray, offsets: np.ndarray, size: float) -> np.ndarray:
    """(v, t): the corners of {t : rows t + offsets ≥ 0}, which contains zero in its inside."""
    from scipy.spatial import HalfspaceIntersection, QhullError

    length = np.linalg.norm(rows, axis=1)
    halves = np.column_stack([-rows / length[:, None], -offsets / length / size])
    try:
        corners = HalfspaceIntersection(halves, np.zeros(rows.shape[1])).intersections * size
    except QhullError as error:
        raise InvalidModel(f"the corners of the set of stationary states were not found: {error}") from None
    _require_bounded(corners)
    distinct: list[np.ndarray] = []
    for corner in corners:
        if all(np.abs(corner - other).max() > 10 * FLAT * size for other in distinct):
            distinct.append(corner)
    return np.array(distinct)


def _require_bounded(values: Any) -> None:
    if not np.all(np.isfinite(values)) or np.abs(values).max() > 1e12:
        raise InvalidModel(
            "the set of stationary states is not bounded, so that it has no corners on all sides; ask for ranges."
        )
