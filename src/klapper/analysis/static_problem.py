"""Equations of rest under loads that are brought on by a factor s.

    f(t, q, 0) − (1 − s) p(t, q) + J Λ = 0,   (1 − s) Φ(t₀, q) + s Φ(t, q) = 0

p are the loads that a system tells apart (``load_at``, see :class:`klapper.continuum.Continuum`): s multiplies all of
them. Of other systems p is the force that is out of balance at the start. Supports go from where they are at the start
time t₀ to where they are at the time t. At s = 1 these are the equations of the system at the time t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.dense import dense
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System, difference_tangents, require_system
from klapper.schemes.newton import Equations, NewtonIteration, NotConverged, Residual
from klapper.schemes.sparse_factor import Solve, factorised

SMALL = 160  # unknowns up to which dense matrices are faster
_DIFFERENCE = 6.0e-6
_ROUNDING = float(np.finfo(float).eps)  # entries so small, in units of their terms, are none


@dataclass(frozen=True, eq=False)
class StaticState:
    """A state of rest.

    ``factor``             s of the loads, dimensionless
    ``position``           (n,) [m, rad]
    ``constraint_forces``  Λ (p,) [N], positive along ∇Φ
    ``residual``           of the equations, in units of the forces and lengths that occur
    ``rounds``             of Newton's method

    >>> from klapper.analysis import static_state
    >>> from klapper.mechanics import LinearSystem
    >>> static_state(LinearSystem([1.0], stiffness=[4.0], force=[8.0])).position
    array([2.])
    """

    factor: float
    position: np.ndarray
    constraint_forces: np.ndarray
    residual: float
    rounds: int

    @property
    def unknowns(self) -> np.ndarray:
        """(q, Λ) (n + p,)."""
        return np.concatenate([self.position, self.constraint_forces])


class StaticProblem:
    """What path followers ask of a system: residual and its derivatives over x = (q, Λ) and s.

    ``system``, with loads and supports as at the ``time`` [s]; at its start if not given.

    A problem with more unknown forces, such as those of contact, keeps the same methods: path followers ask for no more
    than ``start``, ``solved_at``, ``solved``, and the residual with its derivatives.

    A spring of 4 N/m under s times 8 N:

    >>> import numpy as np
    >>> from klapper.analysis import StaticProblem
    >>> from klapper.mechanics import LinearSystem
    >>> problem = StaticProblem(LinearSystem([1.0], stiffness=[4.0], force=[8.0]))
    >>> problem.residual(np.array([1.0]), 0.5).value  # 0.5 · 8 − 4 · 1
    array([0.])
    """

    def __init__(self, system: System, time: float | None = None) -> None:
        require_system(system)
        if system.contacts.count:
            raise InvalidModel(
                f"'{system.name}' has one-sided contacts, which load paths do not treat; leave them out, or bring the "
                f"loads on over time by simulate with QuasiStatic steps."
            )
        if len(system.coordinates) != len(system.velocities):
            raise InvalidModel(
                f"'{system.name}' has {len(system.coordinates)} coordinates for {len(system.velocities)} velocities; "
                f"load paths need as many of both."
            )
        self.system = system
        self.begin = system.start.time
        self.time = self.begin if time is None else number(time, "time", "times, in s")
        self.n, self.p = len(system.coordinates), len(system.constraints)
        self.rest = np.zeros(self.n)

    def start(self, factor: float) -> np.ndarray:
        """x (n + p,) of the system's start, with the constraint forces that bear most of the load if they curve."""
        q, multipliers = self.system.start.position, np.zeros(self.p)
        if self.p and not self._affine:
            force = self._unbalanced - (1.0 - factor) * self._load(q)[0]
            multipliers = np.linalg.lstsq(dense(self._constraints(q, factor)[1]), -force)[0]
        return np.concatenate([q, multipliers])

    def residual(self, x: np.ndarray, factor: float) -> Residual:
        q, multipliers = x[: self.n], x[self.n :]
        load = self._load(q)[0]
        force = self.system.force(self.time, q, self.rest) - (1.0 - factor) * load
        value, directions = self._constraints(q, factor)
        held = directions @ multipliers
        terms = (load, held, self._unbalanced)
        size = max(float(np.abs(term).max(initial=0.0)) for term in terms)
        reach = max(float(np.abs(q).max(initial=0.0)), 1e-300)
        found = np.concatenate([force + held, np.where(self.active, value, multipliers)])
        sizes = np.concatenate([np.full(self.n, size), np.where(self.active, reach, max(size, 1e-300))])
        return Residual(np.where(np.abs(found) > _ROUNDING * sizes, found, 0.0), sizes)

    def matrix(self, x: np.ndarray, factor: float) -> Any:
        """Derivative (n + p, n + p) of the residual by x."""
        q, multipliers = x[: self.n], x[self.n :]
        slope = self._force_slope(q)
        load_slope = self._load(q)[1]
        if load_slope is not None:
            slope = slope - (1.0 - factor) * load_slope
        curved = self._curvature(q, multipliers, factor) if self.p else None
        whole = slope if curved is None else slope + curved
        directions, idle = self._constraints(q, factor)[1], (~self.active).astype(float)
        small = self.n + self.p <= SMALL
        return bordered(dense(whole) if small else whole, directions, directions.T, sparse.diags_array(idle))

    def by_factor(self, x: np.ndarray, factor: float) -> np.ndarray:
        """Derivative (n + p,) of the residual by the factor."""
        q, multipliers = x[: self.n], x[self.n :]
        ahead, behind = self._constraints(q, 1.0), self._constraints(q, 0.0)
        force = self._load(q)[0] + (ahead[1] - behind[1]) @ multipliers
        return np.concatenate([force, np.where(self.active, ahead[0] - behind[0], 0.0)])

    def solved_at(self, guess: np.ndarray, factor: float, newton: NewtonIteration) -> StaticState:
        """The state of rest at a factor, from a guess x (n + p,)."""
        return self.state(factor, *self.solved(_AtFactor(self, factor), guess, newton))

    def solved(
        self, equations: Equations, guess: np.ndarray, newton: NewtonIteration
    ) -> tuple[np.ndarray, int, float]:
        """x (N,), number of rounds and residual of equations over (q, Λ, …).

        Slender bodies turn in full steps whose residual first grows and then vanishes, so these are tried first; then,
        if ``newton`` searches along its corrections, once more with that.
        """
        ways = (replace(newton, line_search=False), newton) if newton.line_search else (newton,)
        failure = NotConverged("a cell would be turned inside out")
        for way in ways:
            try:
                x, rounds, residual = way.solve(equations, guess, self.n)
            except NotConverged as error:
                failure = error
                continue
            if self.sound(x):
                return x, rounds, residual
        raise failure

    def state(self, factor: float, x: np.ndarray, rounds: int, residual: float) -> StaticState:
        """(q, Λ) as a state; x may hold more unknowns behind them."""
        q, forces = x[: self.n], x[self.n : self.n + self.p]
        return StaticState(float(factor), q.copy(), forces.copy(), residual, rounds)

    def sound(self, x: np.ndarray) -> bool:
        """Whether no cell is turned inside out."""
        ask = getattr(self.system, "least_volume", None)
        return ask is None or ask(x[: self.n]) > 0.0

    @cached_property
    def active(self) -> np.ndarray:
        """Which constraints (p,) hold at the time of the loads."""
        directions = self.system.constraint_directions(self.time, self.system.start.position)[0]
        return np.asarray(abs(directions).sum(axis=0)).ravel() > 0.0

    @property
    def _affine(self) -> bool:
        """Whether directions of constraints do not change."""
        return self.system.affine_constraints

    @cached_property
    def _unbalanced(self) -> np.ndarray:
        """Force (n,) [N] at the start."""
        return self.system.force(self.time, self.system.start.position, self.rest)

    def _load(self, q: np.ndarray) -> tuple[np.ndarray, Any]:
        """p (n,) [N] and ∂p/∂q (n, n) [N/m] or None."""
        ask = getattr(self.system, "load_at", None)
        return (self._unbalanced, None) if ask is None else ask(self.time, q)

    def _force_slope(self, q: np.ndarray) -> Any:
        slope = self.system.tangents(self.time, q, self.rest).position
        if slope is None:
            found = difference_tangents(self.system.force, self.system.advance, self.time, q, self.rest)
            return found.position
        return slope

    def _constraints(self, q: np.ndarray, factor: float) -> tuple[np.ndarray, Any]:
        """Φ (p,) and J (n, p) between those of the start time and those of the time of the loads."""
        value = self.system.constraint_residuals(self.time, q)
        directions = self.system.constraint_directions(self.time, q)[0]
        if self.time == self.begin or not self.p:
            return value, directions
        earlier = self.system.constraint_residuals(self.begin, q)
        value = factor * value + (1.0 - factor) * earlier
        if not self._affine:
            before = self.system.constraint_directions(self.begin, q)[0]
            directions = factor * directions + (1.0 - factor) * before
        return value, directions

    def _curvature(self, q: np.ndarray, multipliers: np.ndarray, factor: float) -> np.ndarray | None:
        """Σ Λ ∂²Φ/∂q² (n, n) by differences; None where constraints are affine."""
        if self._affine or not np.any(multipliers):
            return None
        h = _DIFFERENCE * max(float(np.abs(q).max(initial=0.0)), 1.0)
        columns = []
        for unit in np.eye(self.n):
            ahead, behind = (self._constraints(q + s * h * unit, factor)[1] @ multipliers for s in (1, -1))
            columns.append((ahead - behind) / (2 * h))
        found = np.column_stack(columns)
        return 0.5 * (found + found.T)


def bordered(matrix: Any, columns: Any, rows: Any, corner: Any) -> Any:
    """[A B; C D], dense if A is."""
    if not columns.shape[1]:
        return matrix
    if not sparse.issparse(matrix):
        return np.block([[matrix, dense(columns)], [dense(rows), dense(corner)]])
    parts = [[matrix, sparse.csr_array(columns)], [sparse.csr_array(rows), sparse.csr_array(corner)]]
    return sparse.block_array(parts, format="csc")


@dataclass(frozen=True, eq=False)
class _AtFactor:
    """The equations at one load factor."""

    problem: StaticProblem
    factor: float

    def residual(self, x: np.ndarray) -> Residual:
        return self.problem.residual(x, self.factor)

    def inverse(self, x: np.ndarray) -> Solve:
        return factorised(self.problem.matrix(x, self.factor))
