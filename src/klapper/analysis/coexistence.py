"""Rest and sliding side by side: which of them do rigid contacts with friction admit under the same load?

Rest needs contact forces in their friction cones that balance the load; sliding in given senses needs forces on the
cones and accelerations that agree with the senses. Both are linear in forces, accelerations and the load factor s,

    rest      f₀ + s f₁ + D λ = 0,   λ_N ≥ 0,   |λ_T| ≤ ρ = limit + μ λ_N
    sliding   M v̇ = f₀ + s f₁ + D λ,   λ_T = −σ ρ,   σ v̇_T ≥ 0,   closed: g̈ = 0, λ_N ≥ 0,   open: g̈ ≥ 0, λ = 0

so linear programs decide whether each exists, between which load factors, and within which bounds its forces lie.
Both at once is the wedged disc of Waltersberger (5.15), (5.16), after McNamara et al. (2005).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System, require_system

MOST_CANDIDATES = 5000
CLOSED = 1e-9  # gap [m] up to which a contact of a system takes part
_MOVES = 1e-6  # accelerations from this part of the free ones on are a motion
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_WORDS = {"stick": "sticks", "+": "slides +", "-": "slides −", "open": "opens"}


@dataclass(frozen=True, eq=False)
class PossibleMotion:
    """One kind of solution: what every contact does, for which loads it exists, and what its forces may be.

    ``states``          what every friction patch does: "stick", "+", "-" (sense of sliding) or "open"
    ``factors``         least and greatest load factor for which it exists; infinite where there is no bound
    ``exists``          whether it exists under the given load, s = 1
    ``lower``, ``upper`` bounds of the contact forces (λ_N, λ_T, λ_B) [N] under the given load; nan if it does not exist
    ``acceleration``    v̇ (n,) of one solution under the given load; nan if it does not exist

    A block of 20 N on a floor with μ = 0.5, pushed by 5 N, rests up to twice that:

    >>> from klapper.analysis import coexistence
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    >>> rest = coexistence(LinearSystem([2.0, 2.0], force=[5.0, -20.0], contacts=[floor]), load=[5.0, 0.0]).rest
    >>> round(rest.margin, 9), rest.lower.round(9)  # λ_N and λ_T [N]
    (2.0, array([20., -5.]))
    """

    states: tuple[str, ...]
    factors: tuple[float, float]
    exists: bool
    lower: np.ndarray
    upper: np.ndarray
    acceleration: np.ndarray

    @property
    def margin(self) -> float:
        """The load may grow by this factor before it ends; infinite if it never does."""
        return self.factors[1]


@dataclass(frozen=True, eq=False)
class Coexistence:
    """Which motions a state of rest admits.

    ``problem``   the accelerations that were asked
    ``rest``      the branch on which nothing moves
    ``sliding``   all branches with a motion that exist for some load factor among the candidates tried
    ``tried``     number of candidates

    A block of 2 kg and 20 N on a floor with μ = 0.5, pushed by 15 N, slides with (15 − 10)/2 m/s²:

    >>> from klapper.analysis import coexistence
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    >>> judged = coexistence(LinearSystem([2.0, 2.0], force=[15.0, -20.0], contacts=[floor]))
    >>> judged.verdict, float(judged.moving[0].acceleration[0].round(9))
    ('sliding', 2.5)
    """

    problem: AccelerationProblem
    rest: PossibleMotion
    sliding: tuple[PossibleMotion, ...]
    tried: int

    @property
    def moving(self) -> tuple[PossibleMotion, ...]:
        """The sliding branches that exist under the given load."""
        return tuple(branch for branch in self.sliding if branch.exists)

    @property
    def verdict(self) -> str:
        """ "rest", "sliding", "both" or "none"."""
        if self.rest.exists:
            return "both" if self.moving else "rest"
        return "sliding" if self.moving else "none"

    def __str__(self) -> str:
        head = {
            "both": "Rest and sliding are both solutions",
            "rest": "Rest is the only kind of solution",
            "sliding": "Rest is impossible, sliding is a solution",
            "none": "Neither rest nor any sliding motion tried is a solution",
        }[self.verdict]
        return "\n".join([f"{head}.", *self._rest_lines(), *self._sliding_lines()])

    def _rest_lines(self) -> Iterator[str]:
        if self.rest.factors[0] > self.rest.factors[1]:
            yield "  rest: impossible under any load factor"
            return
        yield f"  rest: {_range(self.rest.factors)}"
        if self.rest.exists:
            names = self.problem.normal_names
            for name, low, high in zip(names, self.rest.lower, self.rest.upper, strict=False):
                bound = "no upper bound" if np.isinf(high) else f"{high:.6g} N"
                yield f"    '{name}' presses with {low:.6g} N … {bound}"

    def _sliding_lines(self) -> Iterator[str]:
        names = self.problem.tangential_names
        for branch in self.sliding:
            doing = ", ".join(
                f"'{name}' {_WORDS[state]}" for name, state in zip(names, branch.states, strict=True)
            )
            yield f"  {doing}: {_range(branch.factors)}{'' if branch.exists else ' (not under this load)'}"


def coexistence(
    problem: AccelerationProblem | System,
    *,
    load: Any = None,
    senses: Iterable[Sequence[str]] | None = None,
    vertices: int = 16,
) -> Coexistence:
    """Ask a state of rest for all its kinds of solutions.

    ``problem``   accelerations of contacts at rest, or a system at its start, whose closed contacts take part
    ``load``      f₁ (n,) [N]: the part of the force that the load factor s multiplies; default all of it. The given
                  load is s = 1
    ``senses``    candidates of motions: what every friction patch does, "stick", "+", "-" or "open"; default all.
                  A contact opens if its patches do; one without friction stays closed
    ``vertices``  of the polygon inside the friction disc of contacts in space, where sliding is not tried

    >>> import numpy as np
    >>> from klapper.analysis import coexistence
    >>> from klapper.mechanics.acceleration import AccelerationProblem
    >>> block = AccelerationProblem(2.0 * np.eye(2), [15.0, -20.0], normal=[[0.0], [1.0]], tangential=[[1.0], [0.0]],
    ...     sliding_velocity=[[0.0]], friction=0.5, normal_names=["floor"], tangential_names=["floor"])
    >>> print(coexistence(block, load=[15.0, 0.0]))
    Rest is impossible, sliding is a solution.
      rest: load factors -0.666667 … 0.666667
      'floor' slides +: load factors 0.666667 … no upper bound
      'floor' slides −: load factors no lower bound … -0.666667 (not under this load)
    """
    if not isinstance(problem, AccelerationProblem):
        require_system(problem)
    asked = problem if isinstance(problem, AccelerationProblem) else _at_start(problem)
    programs = _Programs(asked, _load(load, asked), vertices)
    programs.require_rest()
    candidates = list(_candidates(asked, senses))
    rest = programs.rest()
    branches = (programs.sliding(states) for states in candidates)
    return Coexistence(
        asked, rest, tuple(branch for branch in branches if branch is not None), len(candidates)
    )


@dataclass(frozen=True, eq=False)
class _Programs:
    """Linear programs in the unknowns x = (λ_N (m), λ_T (s d), λ_B (p), load factor), scaled to size one."""

    problem: AccelerationProblem
    load: np.ndarray
    vertices: int

    @property
    def m(self) -> int:
        return self.problem.contacts

    @property
    def size(self) -> int:
        return self.problem.directions.shape[1] + 1

    @cached_property
    def unit(self) -> float:
        """A contact force of the size of the load [N]."""
        columns = self.problem.directions
        reach = np.abs(columns).max(axis=1, initial=0.0)
        force = np.maximum(np.abs(self.problem.force), np.abs(self.load))
        sizes = np.divide(force, reach, out=np.zeros_like(force), where=reach > 0.0)
        return float(sizes.max(initial=0.0)) or 1.0

    @cached_property
    def dead(self) -> np.ndarray:
        """f₀ (n,) [N]."""
        return self.problem.force - self.load

    @cached_property
    def balance(self) -> tuple[np.ndarray, np.ndarray]:
        """A x = b of rest, f₀ + s f₁ + D λ = 0."""
        return np.hstack([self.problem.directions * self.unit, self.load[:, None]]), -self.dead

    @cached_property
    def accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """v̇ = A x + b (n,)."""
        solve = self.problem._solve_mass
        return solve(self.balance[0]), solve(self.dead)

    @cached_property
    def contact_accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """(g̈, v̇_T, 0) = A x + b (m + s d + p,)."""
        matrix, offset = self.accelerations
        problem = self.problem
        bias = np.concatenate([problem.normal_bias, problem.tangential_bias, problem.bilateral_bias])
        return problem.directions.T @ matrix, problem.directions.T @ offset + bias

    def require_rest(self) -> None:
        problem = self.problem
        if problem.sliding.any():
            name = problem.tangential_names[int(np.argmax(problem.sliding))]
            raise InvalidModel(f"'{name}' slides already; coexistence is asked of a state of rest.")
        biases = (problem.normal_bias, problem.tangential_bias, problem.bilateral_bias)
        if any(np.any(bias) for bias in biases):
            raise InvalidModel("a wall accelerates, so that nothing can stay at rest; leave the biases zero.")

    def friction_cones(self) -> tuple[np.ndarray, np.ndarray]:
        """A x ≤ b for the friction forces: |λ_T| ≤ ρ in the plane, a polygon inside the disc in space."""
        d = self.problem.sliding_velocity.shape[1]
        if d == 1:
            normals, inside = np.array([[1.0], [-1.0]]), 1.0
        else:
            angles = 2 * np.pi * (np.arange(self.vertices) + 0.5) / self.vertices
            normals, inside = np.column_stack([np.cos(angles), np.sin(angles)]), np.cos(np.pi / self.vertices)
        rows, bounds = [], []
        for patch in range(self.problem.patches):
            for normal in normals:
                row = np.zeros(self.size)
                row[self._tangential(patch)] = normal
                row[: self.m] = -inside * self.problem.friction[patch]
                rows.append(row)
                bounds.append(inside * self.problem.limit[patch] / self.unit)
        return np.array(rows).reshape(-1, self.size), np.array(bounds)

    def rest(self) -> PossibleMotion:
        """The branch on which every contact sticks and nothing accelerates."""
        equations, cones = _Rows(*self.balance).scaled(), _Rows(*self.friction_cones())
        factors = self._factors(equations, cones)
        branch = self._branch(("stick",) * self.problem.patches, factors, equations, cones)
        return replace(branch, acceleration=0.0 * branch.acceleration)

    def sliding(self, states: tuple[str, ...]) -> PossibleMotion | None:
        """The branch of one candidate, or None if it has no motion under any load factor.

        A motion is an acceleration of at least ε. The value of a linear program is a piecewise linear function of ε, so
        two small ones give the exact load factors of ε = 0, without the loads under which the candidate only rests on
        the border of its friction cones."""
        equations, inequalities, (row, start) = self._motion(states)
        unit = max(np.abs(self.accelerations[1]).max(initial=0.0), np.abs(self.accelerations[0][:, -1]).max())
        moving, barely = (
            inequalities.and_(_Rows(-row[None], np.array([start - share * _MOVES * unit])).scaled())
            for share in (1.0, 0.5)
        )
        far = self._factors(equations, moving)
        if far[0] > far[1]:
            return None
        near = self._factors(equations, barely)
        low, high = (b if np.isinf(a) else 2.0 * b - a for a, b in zip(far, near, strict=True))
        return self._branch(states, (low, high), equations, moving)

    def _motion(self, states: tuple[str, ...]) -> tuple[_Rows, _Rows, tuple[np.ndarray, float]]:
        """Equations, inequalities A x ≤ b, and the sum of all accelerations that are a motion, a · x + b."""
        matrix, offset = self.contact_accelerations
        problem, equations, inequalities = self.problem, _Rows.none(self.size), _Rows.none(self.size)
        moving, start = np.zeros(self.size), 0.0
        opens = self._opens(states)
        for contact in range(self.m):
            force = np.eye(self.size)[contact]
            if opens[contact]:
                equations = equations.add(force, 0.0)
                inequalities = inequalities.add(-matrix[contact], offset[contact])
                moving, start = moving + matrix[contact], start + offset[contact]
            else:
                equations = equations.add(matrix[contact], -offset[contact])
        for patch, state in enumerate(states):
            row = self._tangential(patch).start
            force, limit = np.zeros(self.size), problem.limit[patch] / self.unit
            force[: self.m] = problem.friction[patch]
            own = np.eye(self.size)[row]
            if state == "open":
                equations = equations.add(own, 0.0)
            elif state == "stick":
                equations = equations.add(matrix[row], -offset[row])
                inequalities = inequalities.add(own - force, limit).add(-own - force, limit)
            else:
                sense = 1.0 if state == "+" else -1.0
                equations = equations.add(own + sense * force, -sense * limit)
                inequalities = inequalities.add(-sense * matrix[row], sense * offset[row])
                moving, start = moving + sense * matrix[row], start + sense * offset[row]
        for row in range(self.m + problem.tangential.shape[1], self.size - 1):
            equations = equations.add(matrix[row], -offset[row])
        return equations.scaled(), inequalities.scaled(), (moving, start)

    def _opens(self, states: tuple[str, ...]) -> np.ndarray:
        """Contacts (m,) that open: those whose patches all do; a contact without friction stays."""
        presses = self.problem.friction > 0.0
        opened = np.array([state == "open" for state in states], dtype=bool)
        return np.array(
            [presses[:, i].any() and opened[presses[:, i]].all() for i in range(self.m)], dtype=bool
        )

    def _signs(self) -> list[tuple[float | None, float | None]]:
        return [(0.0, None)] * self.m + [(None, None)] * (self.size - self.m)

    def _tangential(self, patch: int) -> slice:
        d = self.problem.sliding_velocity.shape[1]
        return slice(self.m + patch * d, self.m + (patch + 1) * d)

    def _factors(self, equations: _Rows, inequalities: _Rows) -> tuple[float, float]:
        """Least and greatest load factor; the least above the greatest if there is none."""
        factor = np.eye(self.size)[-1]
        low = _least(factor, equations, inequalities, self._signs())
        if low is None:
            return np.inf, -np.inf
        high = _least(-factor, equations, inequalities, self._signs())
        return low, np.inf if high is None else -high

    def _branch(
        self, states: tuple[str, ...], factors: tuple[float, float], equations: _Rows, inequalities: _Rows
    ) -> PossibleMotion:
        here = [*self._signs()[:-1], (1.0, 1.0)]
        x = _point(equations, inequalities, here)
        if x is None:
            nothing = np.full(self.size - 1, np.nan)
            return PossibleMotion(
                states, factors, False, nothing, nothing, np.full(self.problem.size, np.nan)
            )
        rows = np.eye(self.size)[:-1]
        lower = np.array([_least(row, equations, inequalities, here) for row in rows], dtype=float)
        upper = -np.array([_least(-row, equations, inequalities, here) for row in rows], dtype=float)
        acceleration = self.accelerations[0] @ x + self.accelerations[1]
        return PossibleMotion(states, factors, True, lower * self.unit, upper * self.unit, acceleration)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of A x = b or A x ≤ b."""

    matrix: np.ndarray
    right: np.ndarray

    @classmethod
    def none(cls, size: int) -> _Rows:
        return cls(np.zeros((0, size)), np.zeros(0))

    def add(self, row: np.ndarray, right: float) -> _Rows:
        return _Rows(np.vstack([self.matrix, row]), np.append(self.right, right))

    def and_(self, other: _Rows) -> _Rows:
        return _Rows(np.vstack([self.matrix, other.matrix]), np.concatenate([self.right, other.right]))

    def scaled(self) -> _Rows:
        """The same rows with largest entries of one."""
        size = np.maximum(np.abs(self.matrix).max(axis=1, initial=0.0), np.abs(self.right))
        size = np.where(size > 0.0, size, 1.0)
        return _Rows(self.matrix / size[:, None], self.right / size)


def _program(objective: np.ndarray, equations: _Rows, inequalities: _Rows, bounds: list[Any]) -> Any:
    from scipy.optimize import linprog

    return linprog(
        objective,
        A_ub=inequalities.matrix if len(inequalities.right) else None,
        b_ub=inequalities.right if len(inequalities.right) else None,
        A_eq=equations.matrix if len(equations.right) else None,
        b_eq=equations.right if len(equations.right) else None,
        bounds=bounds,
        method="highs-ds",
        options=_EXACT,
    )


def _least(objective: np.ndarray, equations: _Rows, inequalities: _Rows, bounds: list[Any]) -> float | None:
    """The least value of a linear function, −inf without a bound, None if nothing is feasible."""
    found = _program(objective, equations, inequalities, bounds)
    if found.status in (0, 2):
        return float(found.fun) if found.status == 0 else None
    unbounded = found.status == 3 or _point(equations, inequalities, bounds) is not None
    return -np.inf if unbounded else None


def _point(equations: _Rows, inequalities: _Rows, bounds: list[Any]) -> np.ndarray | None:
    found = _program(np.zeros(len(bounds)), equations, inequalities, bounds)
    return np.asarray(found.x) if found.status == 0 else None


def _candidates(problem: AccelerationProblem, senses: Any) -> Iterator[tuple[str, ...]]:
    """What the patches may do in a motion; not all of them stick."""
    patches = problem.patches
    if problem.sliding_velocity.shape[1] > 1:
        if senses is not None:
            raise InvalidModel(
                "senses + and − belong to contacts in the plane; in space only rest is decided."
            )
        return
    if senses is None:
        if 4**patches > MOST_CANDIDATES:
            raise InvalidModel(
                f"{patches} friction patches have {4**patches} combinations, more than {MOST_CANDIDATES}; give the "
                f"senses to be tried."
            )
        senses = product(("+", "-", "stick", "open"), repeat=patches)
    for states in senses:
        named = tuple(states)
        if len(named) != patches or not set(named) <= set(_WORDS):
            raise InvalidModel(f"senses has {named}; expected {patches} of {', '.join(_WORDS)}.")
        if set(named) != {"stick"}:
            yield named


def _load(given: Any, problem: AccelerationProblem) -> np.ndarray:
    load = np.array(problem.force if given is None else given, dtype=float)
    if load.shape != (problem.size,) or not np.all(np.isfinite(load)):
        raise InvalidModel(f"load has shape {load.shape}, expected ({problem.size},) finite numbers.")
    if not load.any():
        raise InvalidModel("load is zero; its factor would mean nothing.")
    return load


def _at_start(system: System) -> AccelerationProblem:
    """The closed contacts of a system at its start, taken as at rest."""
    t, q = system.start.time, system.start.position
    near = system.near(t, q)
    gaps = system.gaps(t, q, near)
    which = near[np.isnan(gaps) | (gaps <= CLOSED)]
    laws, directions = system.contacts.laws(which), system.directions(t, q, which)
    pressing = np.flatnonzero(laws.normal)
    friction = laws.friction_matrix
    names = [system.contacts.name(int(i)) for i in which]
    v = np.zeros(len(system.velocities))
    bilateral = system.constraint_directions(t, q)[0] if system.constraints else None
    d = system.contacts.tangential
    rough = np.flatnonzero(friction.sum(axis=1) + laws.limit > 0.0) if d else np.zeros(0, dtype=int)
    columns = (rough[:, None] * d + np.arange(d)).ravel()
    return AccelerationProblem(
        system.mass(q),
        system.force(t, q, v),
        normal=dense(directions.normal)[:, pressing],
        tangential=dense(directions.tangential)[:, columns] if len(rough) else None,
        sliding_velocity=np.zeros((len(rough), d)) if len(rough) else None,
        friction=friction[np.ix_(rough, pressing)] if len(rough) else 0.0,
        limit=laws.limit[rough] if len(rough) else 0.0,
        bilateral=bilateral,
        normal_names=[names[i] for i in pressing],
        tangential_names=[names[i] for i in rough] if len(rough) else None,
        bilateral_names=system.constraints or None,
    )


def _range(factors: tuple[float, float]) -> str:
    low, high = factors
    first = "no lower bound" if np.isinf(low) else f"{low:.6g}"
    last = "no upper bound" if np.isinf(high) else f"{high:.6g}"
    return f"load factors {first} … {last}"
