"""Load paths by arc length: through limit points, snap-through and snap-back.

    R(x, s) = 0,   |Δq|²/n + ψ² Δs² = Δl²                                       Riks (1979), Crisfield (1981)

Unknown are x = (q, Λ) and the load factor s; |Δq|²/n is the mean square of the displacements since the last state.
ψ = 0 is the cylinder; on the sphere ψ is such that both terms are equal in the first step. The equations are solved
as one bordered system, which stays regular where the load turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import brentq

from klapper.analysis.critical_point import CriticalPoint, Determinant, determinant
from klapper.analysis.load_path import LoadPath, NoStaticState
from klapper.analysis.static_problem import StaticProblem, StaticState, bordered
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.newton import NewtonIteration, NotConverged, Residual, require_newton
from klapper.schemes.sparse_factor import SingularMatrix, Solve, factorised

_CUTS = 12  # halvings of the arc length after which it is given up
_ROUNDS = 6  # of Newton's method that a step should take
_AHEAD = 0.5  # cosine between the tangent and the next state at least, so that no step goes back
_LARGEST = 4.0  # arc length in units of the first one


def follow_load(
    system: System,
    *,
    end: float | None = 1.0,
    step: float = 0.1,
    stop: Callable[[StaticState], bool] | None = None,
    most: int = 400,
    arc: Literal["spherical", "cylindrical"] = "spherical",
    largest: float = _LARGEST,
    time: float | None = None,
    first: StaticState | None = None,
    newton: NewtonIteration | None = None,
) -> LoadPath:
    """States of rest along a load path, and its limit and bifurcation points.

    ``end``      load factor, dimensionless, at which the path ends; None: only ``stop`` ends it
    ``step``     change of the load factor in the first step; negative: the load is taken away
    ``stop``     ends the path at the first state that it is true for
    ``most``     number of steps; the path is not complete if they do not suffice, which raises :class:`NoStaticState`
    ``arc``      "spherical" or "cylindrical"
    ``largest``  arc length of a step at most, in units of that of the first one
    ``time``     [s] at which loads and supports that change are taken; the start of the system if not given
    ``first``    a state of rest to begin with; found at a load factor of zero if not given
    ``newton``   how the equations are solved

    A shallow arch carries q (q − 1) (q − 2) N and snaps through at 2/√27 N; at q = 1 it carries nothing:

    >>> from klapper.analysis import follow_load
    >>> from klapper.mechanics import FunctionSystem
    >>> arch = FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: 1.0 - q * (q - 1.0) * (q - 2.0))
    >>> path = follow_load(arch, end=None, stop=lambda state: state.position[0] > 1.0)
    >>> round(float(path.critical[0].factor * 27.0**0.5), 6), bool(path.factors[-1] < 0.0)
    (2.0, True)
    """
    if number(step, "step", "numbers other than 0") == 0.0:
        raise InvalidModel("step is 0; allowed are numbers other than 0.")
    if arc not in ("spherical", "cylindrical"):
        raise InvalidModel(f"arc is {arc!r}; allowed are 'spherical' and 'cylindrical'.")
    if end is None and stop is None:
        raise InvalidModel("neither end nor stop is given; one of them must end the path.")
    number(largest, "largest", "numbers from 1 on", at_least=1.0)
    problem, solver = StaticProblem(system, time), newton or NewtonIteration()
    require_newton(solver)
    try:
        begin = problem.solved_at(problem.start(0.0), 0.0, solver) if first is None else first
        return _Path(problem, solver, begin, step, arc).followed(end, stop, most, largest)
    except (NotConverged, SingularMatrix) as failure:
        raise NoStaticState(
            f"'{system.name}' has no regular state of rest to begin with: {failure}. Hold it by supports or a "
            f"pretension, or give first=static_state(system, factor=…).",
            LoadPath(system, ()),
        ) from None


class _Point(NamedTuple):
    """A state with the unit tangent (n + p,), ds of the path there, and det ∂R/∂x."""

    state: StaticState
    tangent: np.ndarray
    rate: float
    det: Determinant


class _Path:
    """The path that begins at a state."""

    def __init__(
        self, problem: StaticProblem, newton: NewtonIteration, begin: StaticState, step: float, arc: str
    ) -> None:
        self.problem, self.newton = problem, newton
        matrix = problem.matrix(begin.unknowns, begin.factor)
        along = -factorised(matrix)(problem.by_factor(begin.unknowns, begin.factor))
        if not np.all(np.isfinite(along)):
            raise SingularMatrix("its stiffness is singular")
        moved = float(np.sqrt(np.mean(along[: problem.n] ** 2)))
        if moved == 0.0:
            raise SingularMatrix("the loads do not move it")
        self.psi = moved if arc == "spherical" else 0.0
        size = np.sign(step) * np.hypot(moved, self.psi)
        self.first = abs(step) * np.hypot(moved, self.psi)
        self.points = [_Point(begin, along / size, 1.0 / size, determinant(matrix))]
        self.critical: list[CriticalPoint] = []

    def followed(
        self, end: float | None, stop: Callable[[StaticState], bool] | None, most: int, largest: float
    ) -> LoadPath:
        length, cuts = self.first, 0
        while len(self.points) <= most:
            here = self.points[-1]
            try:
                ahead = self._point(here, length)
                last = end is not None and (here.state.factor < end) != (ahead.state.factor < end)
                if last and end is not None:
                    ahead = self._ended(here, ahead, end)
            except NotConverged as failure:
                cuts, length = cuts + 1, 0.5 * length
                if cuts > _CUTS:
                    raise self._failed(f"no state was found beyond it ({failure})") from None
                continue
            self._append(ahead)
            if last or (stop is not None and stop(ahead.state)):
                return self._done()
            cuts = 0
            growth = np.clip(np.sqrt(_ROUNDS / ahead.state.rounds), 0.5, 1.5)
            length = min(float(growth) * length, largest * self.first)
        raise self._failed(f"{most} steps do not suffice")

    def _failed(self, why: str) -> NoStaticState:
        factor = self.points[-1].state.factor
        return NoStaticState(
            f"the load path of '{self.problem.system.name}' was followed to a load factor of {factor:.6g}, then {why}; "
            f"use a smaller first step, more steps, or another end.",
            self._done(),
        )

    def _done(self) -> LoadPath:
        return LoadPath(
            self.problem.system, tuple(point.state for point in self.points), tuple(self.critical)
        )

    def _append(self, ahead: _Point) -> None:
        here = self.points[-1]
        self.points.append(ahead)
        if here.det.sign * ahead.det.sign < 0.0 or here.rate * ahead.rate < 0.0:
            self.critical.append(self._located(here, ahead, len(self.points) - 2))

    def _point(self, here: _Point, length: float, guess: np.ndarray | None = None) -> _Point:
        """The state at an arc length from a point, from a guess (n + p + 1,) or along the tangent."""
        equations = _OnArc(self.problem, here.state, length, self.psi)
        if guess is None:
            guess = equations.origin + length * np.append(here.tangent, here.rate)
        found, rounds, residual = self.problem.solved(equations, guess, self.newton)
        change = found - equations.origin
        if change @ self._metric(np.append(here.tangent, here.rate)) < _AHEAD * length:
            raise NotConverged("the path turns too sharply for the arc length")
        return self._with_tangent(self.problem.state(found[-1], found, rounds, residual), change)

    def _with_tangent(self, state: StaticState, ahead: np.ndarray) -> _Point:
        """The tangent at a state that leads on in the direction ``ahead`` (n + p + 1,)."""
        x, s = state.unknowns, state.factor
        matrix, push = self.problem.matrix(x, s), self.problem.by_factor(x, s)
        row = self._metric(ahead)
        right = np.zeros(len(x) + 1)
        right[-1] = 1.0
        try:
            tangent = factorised(_bordered(matrix, push, row))(right)
        except SingularMatrix as failure:
            raise NotConverged(f"the path has no tangent there ({failure})") from None
        tangent /= np.sqrt(tangent @ self._metric(tangent))
        return _Point(state, tangent[:-1], float(tangent[-1]), determinant(matrix))

    def _metric(self, change: np.ndarray) -> np.ndarray:
        return _metric(change, self.problem.n, self.psi)

    def _ended(self, here: _Point, ahead: _Point, end: float) -> _Point:
        """The point at a factor between those of two points."""
        a, b = here.state, ahead.state
        share = (end - a.factor) / (b.factor - a.factor)
        state = self.problem.solved_at((1 - share) * a.unknowns + share * b.unknowns, end, self.newton)
        change = np.append(state.unknowns - a.unknowns, end - a.factor)
        return self._with_tangent(state, change if np.any(change) else np.append(here.tangent, here.rate))

    def _located(self, here: _Point, ahead: _Point, number: int) -> CriticalPoint:
        """The singular point between two neighbours."""
        origin = np.append(here.state.unknowns, here.state.factor)
        change = np.append(ahead.state.unknowns, ahead.state.factor) - origin
        whole = float(np.sqrt(change @ self._metric(change)))
        turned = here.rate * ahead.rate < 0.0
        found: dict[float, _Point] = {0.0: here, whole: ahead}

        def measure(length: float) -> float:
            if length not in found:
                found[length] = self._point(here, length, origin + (length / whole) * change)
            point = found[length]
            return point.rate if turned else point.det.over(here.det)

        try:
            root = float(brentq(measure, 0.0, whole, xtol=1e-9 * whole, rtol=1e-12))
        except NotConverged:
            root = min(found, key=lambda length: abs(measure(length)))
        measure(root)
        state = found[root].state
        return CriticalPoint("limit" if turned else "bifurcation", state, number, self._mode(state))

    def _mode(self, state: StaticState) -> np.ndarray:
        """Direction (n,) in which the stiffness is smallest, by inverse iteration."""
        n = self.problem.n
        matrix = self.problem.matrix(state.unknowns, state.factor)
        size = float(abs(matrix).max()) or 1.0  # one coordinate whose stiffness vanishes exactly
        solve = factorised(matrix + 1e-13 * size * _unit(matrix))
        mode = np.concatenate([np.random.default_rng(0).standard_normal(n), np.zeros(self.problem.p)])
        for _ in range(4):
            mode = solve(mode)
            mode /= np.abs(mode).max()
        part = mode[:n]
        return part / part[np.argmax(np.abs(part))]


@dataclass(frozen=True, eq=False)
class _OnArc:
    """The equations of a state at a given distance from another one; unknown is (q, Λ, s) (n + p + 1,)."""

    problem: StaticProblem
    since: StaticState
    length: float
    psi: float

    @cached_property
    def origin(self) -> np.ndarray:
        return np.append(self.since.unknowns, self.since.factor)

    def residual(self, x: np.ndarray) -> Residual:
        inner = self.problem.residual(x[:-1], x[-1])
        change = x - self.origin
        distance = change @ _metric(change, self.problem.n, self.psi) / self.length**2 - 1.0
        return Residual(np.append(inner.value, distance), np.append(inner.size, 1.0))

    def inverse(self, x: np.ndarray) -> Solve:
        row = 2.0 / self.length**2 * _metric(x - self.origin, self.problem.n, self.psi)
        matrix, push = self.problem.matrix(x[:-1], x[-1]), self.problem.by_factor(x[:-1], x[-1])
        return factorised(_bordered(matrix, push, row))


def _metric(change: np.ndarray, n: int, psi: float) -> np.ndarray:
    """Change (n + p + 1,) weighted so that its product with a change is |Δq|²/n + ψ² Δs²."""
    weighted = np.zeros_like(change)
    weighted[:n], weighted[-1] = change[:n] / n, psi**2 * change[-1]
    return weighted


def _bordered(matrix: Any, column: np.ndarray, row: np.ndarray) -> Any:
    """[A c; rᵀ] with r (n + 1,)."""
    return bordered(matrix, column[:, None], row[None, :-1], row[None, -1:])


def _unit(matrix: Any) -> Any:
    """The identity, dense or sparse as a matrix is."""
    size = matrix.shape[0]
    return sparse.eye_array(size) if sparse.issparse(matrix) else np.eye(size)
