"""Rest and sliding of rigid contacts with friction under one load, as linear programs.

    rest      f₀ + s f₁ + D λ = 0,   λ_N ≥ 0,   |λ_T| ≤ ρ = limit + μ λ_N
    sliding   M v̇ = f₀ + s f₁ + D λ,   λ_T = −σ ρ,   σ v̇_T ≥ 0,   closed: g̈ = 0, λ_N ≥ 0,   open: g̈ ≥ 0, λ = 0

are linear in forces, accelerations and the load factor s: whether each exists, between which load factors, and within
which bounds its forces lie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_program import Rows, feasible_point, least

_MOVES = 1e-6  # accelerations from this part of the free ones on are a motion


@dataclass(frozen=True, eq=False)
class PossibleMotion:
    """One kind of solution: what every contact does, for which loads it exists, and what its forces may be.

    ``states``          what every friction patch does: "stick", "+", "-" (sense of sliding) or "open"
    ``factors``         least and greatest load factor, dimensionless, for which it exists; infinite where there is no
                        bound
    ``exists``          whether it exists under the given load, s = 1
    ``lower``, ``upper``  (r,) bounds of the contact forces (λ_N, λ_T, λ_B) [N] under the given load; nan if there is
                          none
    ``acceleration``    v̇ (n,) [m/s², rad/s²] of one solution under the given load; nan if it does not exist

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
class RestAndSliding:
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

    def may_rest(self) -> bool:
        """Whether rest exists under the given load."""
        equations, cones = Rows(*self.balance).scaled(), Rows(*self.friction_cones())
        return feasible_point(equations, cones, self._given_load) is not None

    def moving(self, states: tuple[str, ...], least_motion: float) -> np.ndarray | None:
        """v̇ (n,) of a candidate under the given load, of at least ``least_motion`` [m/s², rad/s²]; None if there is
        none."""
        equations, inequalities, (row, start) = self._motion(states)
        enough = Rows(-row[None], np.array([start - least_motion])).scaled()
        x = feasible_point(equations, inequalities.and_(enough), self._given_load)
        if x is None:
            return None
        matrix, offset = self.accelerations
        return np.asarray(matrix @ x + offset)

    def rest(self) -> PossibleMotion:
        """The branch on which every contact sticks and nothing accelerates."""
        equations, cones = Rows(*self.balance).scaled(), Rows(*self.friction_cones())
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
            inequalities.and_(Rows(-row[None], np.array([start - share * _MOVES * unit])).scaled())
            for share in (1.0, 0.5)
        )
        far = self._factors(equations, moving)
        if far[0] > far[1]:
            return None
        near = self._factors(equations, barely)
        low, high = (b if np.isinf(a) else 2.0 * b - a for a, b in zip(far, near, strict=True))
        return self._branch(states, (low, high), equations, moving)

    def _motion(self, states: tuple[str, ...]) -> tuple[Rows, Rows, tuple[np.ndarray, float]]:
        """Equations, inequalities A x ≤ b, and the sum of all accelerations that are a motion, a · x + b."""
        matrix, offset = self.contact_accelerations
        problem, equations, inequalities = self.problem, Rows.none(self.size), Rows.none(self.size)
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

    @property
    def _given_load(self) -> list[tuple[float | None, float | None]]:
        return [*self._signs()[:-1], (1.0, 1.0)]

    def _tangential(self, patch: int) -> slice:
        d = self.problem.sliding_velocity.shape[1]
        return slice(self.m + patch * d, self.m + (patch + 1) * d)

    def _factors(self, equations: Rows, inequalities: Rows) -> tuple[float, float]:
        """Least and greatest load factor; the least above the greatest if there is none."""
        factor = np.eye(self.size)[-1]
        low = least(factor, equations, inequalities, self._signs())
        if low is None:
            return np.inf, -np.inf
        high = least(-factor, equations, inequalities, self._signs())
        return low, np.inf if high is None else -high

    def _branch(
        self, states: tuple[str, ...], factors: tuple[float, float], equations: Rows, inequalities: Rows
    ) -> PossibleMotion:
        here = self._given_load
        x = feasible_point(equations, inequalities, here)
        if x is None:
            nothing = np.full(self.size - 1, np.nan)
            return PossibleMotion(
                states, factors, False, nothing, nothing, np.full(self.problem.size, np.nan)
            )
        rows = np.eye(self.size)[:-1]
        lower = np.array([least(row, equations, inequalities, here) for row in rows], dtype=float)
        upper = -np.array([least(-row, equations, inequalities, here) for row in rows], dtype=float)
        acceleration = self.accelerations[0] @ x + self.accelerations[1]
        return PossibleMotion(states, factors, True, lower * self.unit, upper * self.unit, acceleration)
