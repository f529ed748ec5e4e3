"""Load paths by arc length: through limit points, snap-through and snap-back.

    R(x, s) = 0,   |Δq|²/n + ψ² Δs² = Δl²                                       Riks (1979), Crisfield (1981)

Unknown are x = (q, Λ) and the load factor s; |Δq|²/n is the mean square of the displacements. ψ = 0 is the cylinder; on
the sphere ψ is such that both terms are equal in the first step. The path is a curve like any other, with these
lengths: see :func:`klapper.algebra.follow_curve`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.algebra import (
    BRANCH_POINT,
    FOLD,
    Curve,
    Singular,
    SpecialPoint,
    StepRefused,
    factors,
    follow_curve,
)
from klapper.analysis.critical_point import CriticalPoint
from klapper.analysis.load_path import LoadPath, NoStaticState
from klapper.analysis.static_problem import StaticProblem, StaticState
from klapper.mechanics.arguments import number, whole
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.newton import NewtonIteration, NotConverged, require_newton
from klapper.schemes.sparse_factor import SingularMatrix

_LARGEST = 4.0  # arc length in units of the first one
_SMALLEST = 2.0**-12  # of the first arc length, after which it is given up
_UNMEASURED = 1e6  # times their sizes: forces, and on the cylinder the factor, count for nothing in a length
_TOLERANCE = (
    1e-8  # of a correction, in arc lengths and relative to the distance from the origin: round-off of stiff
)
# bodies beside singular points is not far below, and what such a correction leaves is its square
_KINDS: dict[str, Literal["limit", "bifurcation"]] = {FOLD: "limit", BRANCH_POINT: "bifurcation"}


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
    ``newton``   how the equations of the first state are solved

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
    longest = number(largest, "largest", "numbers from 1 on", at_least=1.0)
    whole(most, "most")
    problem, solver = StaticProblem(system, time), newton or NewtonIteration()
    require_newton(solver)
    try:
        begin = problem.solved_at(problem.start(0.0), 0.0, solver) if first is None else first
        path = _Path(problem, begin, step, arc)
    except (NotConverged, SingularMatrix, Singular) as failure:
        raise NoStaticState(
            f"'{system.name}' has no regular state of rest to begin with: {failure}. Hold it by supports or a "
            f"pretension, or give first=static_state(system, factor=…).",
            LoadPath(system, ()),
        ) from None
    return path.followed(end, stop, most, longest)


class _Path:
    """The path that begins at a state, as a curve in (q, Λ, s) (n + p + 1,)."""

    def __init__(self, problem: StaticProblem, begin: StaticState, step: float, arc: str) -> None:
        self.problem, self.states, self.sense, self.rounds = problem, [begin], float(np.sign(step)), 0
        matrix = problem.matrix(begin.unknowns, begin.factor)
        self.along = -factors(matrix).solve(problem.by_factor(begin.unknowns, begin.factor))
        if not np.all(np.isfinite(self.along)):
            raise SingularMatrix("its stiffness is singular")
        n = problem.n
        moved = float(np.sqrt(np.mean(self.along[:n] ** 2)))
        if moved == 0.0:
            raise SingularMatrix("the loads do not move it")
        first = abs(step) * moved * (np.sqrt(2.0) if arc == "spherical" else 1.0)
        held = abs(step) * float(np.abs(self.along[n:]).max(initial=0.0))
        force = max(float(problem.residual(begin.unknowns, begin.factor).size[:n].max()), held) or 1.0
        factor = first / moved if arc == "spherical" else _UNMEASURED
        self.scale = np.concatenate(
            [np.full(n, np.sqrt(n) * first), np.full(problem.p, _UNMEASURED * force), [factor]]
        )

    def followed(
        self, end: float | None, stop: Callable[[StaticState], bool] | None, most: int, largest: float
    ) -> LoadPath:
        begin = self.states[0]
        low, high = -np.inf, np.inf
        if end is not None:
            up = begin.factor < end or (begin.factor == end and self.sense < 0.0)
            low, high = (low, end) if up else (end, high)

        def arrived(x: np.ndarray) -> bool:
            self.states.append(self._state(x))
            self.rounds = 0
            return stop is not None and stop(self.states[-1])

        start = np.append(begin.unknowns, begin.factor)
        curve = follow_curve(
            self.equations,
            start,
            direction=self.sense * np.append(self.along, 1.0),
            low=low,
            high=high,
            step=1.0,
            smallest=_SMALLEST,
            largest=largest,
            tolerance=_TOLERANCE,
            scale=self.scale,
            stop=arrived,
            most=most + 1,
        )
        path = LoadPath(self.problem.system, tuple(self.states), self._critical(curve), _why(curve))
        if curve.end == "interrupted":
            raise KeyboardInterrupt
        if curve.end in ("low", "high", "stopped"):
            return path
        why = f"{most} steps do not suffice" if curve.end == "most" else curve.ended
        raise NoStaticState(
            f"the load path of '{self.problem.system.name}' was followed to a load factor of "
            f"{self.states[-1].factor:.6g}, then {why}; use a smaller first step, more steps, or another end.",
            path,
        )

    def equations(self, x: np.ndarray) -> tuple[np.ndarray, Any]:
        """R (n + p,) in units of the forces and lengths that occur, and its derivative (n + p, n + p + 1)."""
        problem, inner, s = self.problem, x[:-1], float(x[-1])
        self.rounds += 1
        if not problem.sound(inner):
            raise StepRefused("a cell would be turned inside out")
        residual = problem.residual(inner, s)
        matrix, push = problem.matrix(inner, s), problem.by_factor(inner, s)
        whole_matrix = (
            sparse.hstack([matrix, sparse.csr_array(push[:, None])], format="csr")
            if sparse.issparse(matrix)
            else np.column_stack([matrix, push])
        )
        return residual.value, whole_matrix

    def _state(self, x: np.ndarray) -> StaticState:
        residual = self.problem.residual(x[:-1], float(x[-1])).relative
        return self.problem.state(float(x[-1]), x[:-1], self.rounds, residual)

    def _critical(self, curve: Curve) -> tuple[CriticalPoint, ...]:
        return tuple(
            self._critical_point(curve, special) for special in curve.special if special.kind in _KINDS
        )

    def _critical_point(self, curve: Curve, special: SpecialPoint) -> CriticalPoint:
        state = self._state(special.point)
        after = int(np.searchsorted(curve.places, special.place, side="right")) - 1
        return CriticalPoint(_KINDS[special.kind], state, max(after, 0), self._mode(state))

    def _mode(self, state: StaticState) -> np.ndarray:
        """Direction (n,) in which the stiffness is smallest, by inverse iteration."""
        n = self.problem.n
        matrix = self.problem.matrix(state.unknowns, state.factor)
        size = float(abs(matrix).max()) or 1.0  # one coordinate whose stiffness vanishes exactly
        solve = factors(matrix + 1e-13 * size * _unit(matrix)).solve
        mode = np.concatenate([np.random.default_rng(0).standard_normal(n), np.zeros(self.problem.p)])
        for _ in range(4):
            mode = solve(mode)
            mode /= np.abs(mode).max()
        part = mode[:n]
        return part / part[np.argmax(np.abs(part))]


def _why(curve: Curve) -> str:
    """The end of the path in words."""
    factor = f"{curve.parameters[-1]:.8g}"
    return {
        "low": f"the load factor has reached {factor}",
        "high": f"the load factor has reached {factor}",
        "stopped": f"it was to stop there, at a load factor of {factor}",
    }.get(curve.end, curve.ended)


def _unit(matrix: Any) -> Any:
    """The identity, dense or sparse as a matrix is."""
    size = matrix.shape[0]
    return sparse.eye_array(size) if sparse.issparse(matrix) else np.eye(size)
