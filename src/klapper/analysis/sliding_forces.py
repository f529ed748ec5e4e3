"""Forces of contacts that all slide on compliant normals, and their derivatives, at a position.

    λ_N = λ_N(g, ġ),   λ_T = −ρ v_T/|v_T|,   ρ = limit + μ λ_N
    D = −∂f/∂v − (J_N + R) ∂λ_N/∂ġ J_Nᵀ − …,   K = −∂f/∂q − (J_N + R) ∂λ_N/∂g J_Nᵀ − …          Waltersberger (5.28)

with R = −s μ J_T of the sliding directions s: the friction that follows the normal force. The points stand for friction
that turns with the sliding velocity or changes with its speed, and for directions that turn with the position.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.function_system import FunctionSystem
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import Directions, System, difference_tangents

_DIFFERENCE = 6.0e-6


@dataclass(frozen=True, eq=False)
class SlidingForces:
    """A system whose contacts slide: forces and their derivatives at a position."""

    system: System
    law: CompliantNormal
    time: float
    start: np.ndarray
    velocity: np.ndarray
    held: np.ndarray  # numbers of the velocity coordinates whose forces balance
    which: np.ndarray
    has_normal: np.ndarray
    pulling: np.ndarray  # contacts whose springs also pull: only on the way to steady sliding

    @classmethod
    def of(
        cls, system: System, law: CompliantNormal, velocity: Any, position: Any, free: Any
    ) -> SlidingForces:
        if system.constraints:
            raise InvalidModel(
                f"the system has {len(system.constraints)} two-sided constraints; describe it in coordinates without "
                f"them to ask for its sliding stability."
            )
        if system.contacts.count == 0:
            raise InvalidModel("the system has no contacts that could slide.")
        nv = len(system.velocities)
        v = _vector(velocity, system.start.velocity, "velocity", nv)
        q = _vector(position, system.start.position, "position", len(system.coordinates))
        moving = np.flatnonzero(v) if free is None else _numbers(free, system.velocities)
        which = np.arange(system.contacts.count)
        sliding = cls(
            system,
            law,
            system.start.time,
            q,
            v,
            np.setdiff1d(np.arange(nv), moving),
            which,
            np.asarray(system.contacts.laws(which).normal, dtype=bool),
            np.zeros(len(which), dtype=bool),
        )
        sliding.require_sliding()
        return sliding

    def require_sliding(self) -> None:
        speed = np.linalg.norm(self.sliding_velocity(self.directions(self.start)), axis=1)
        laws = self.system.contacts.laws(self.which, speed)
        for contact in np.flatnonzero((speed == 0.0) & laws.rough):
            raise InvalidModel(
                f"contact '{self.system.contacts.name(int(contact))}' does not slide in the steady motion, so the "
                f"sense of its friction is not known; give a velocity in which it slides."
            )

    def directions(self, q: np.ndarray) -> Directions:
        return self.system.directions(self.time, q, self.which)

    def sliding_velocity(self, directions: Directions) -> np.ndarray:
        """v_T (m, d) [m/s]."""
        return directions.tangential_velocity(self.velocity).reshape(len(self.which), -1)

    def gap(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps (m,) [m] for the law, and the signs of its forces: a spring that also pulls is odd in the gap."""
        gap = np.where(self.has_normal, self.system.gaps(self.time, q, self.which), 1.0)
        pulled = self.pulling & (gap > 0.0)
        return np.where(pulled, -gap, gap), np.where(pulled, -1.0, 1.0)

    def normal_force(self, q: np.ndarray, directions: Directions) -> np.ndarray:
        gap, sign = self.gap(q)
        return sign * self.law.force(gap, directions.normal_velocity(self.velocity))

    def friction(self, sliding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F (m, m) and limit (m,) of the friction limits ρ = F λ_N + limit at the sliding velocities (m, d)."""
        laws = self.system.contacts.laws(self.which, np.linalg.norm(sliding, axis=1))
        return laws.friction_matrix, np.asarray(laws.limit, dtype=float)

    def contact_forces(self, q: np.ndarray, directions: Directions) -> tuple[np.ndarray, np.ndarray]:
        """λ_N (m,) and λ_T (m, d) [N]."""
        normal, sliding = self.normal_force(q, directions), self.sliding_velocity(directions)
        rows, limit = self.friction(sliding)
        return normal, -(rows @ normal + limit)[:, None] * _unit(sliding)

    def total(self, q: np.ndarray, directions: Directions) -> np.ndarray:
        """All forces (nv,) [N]."""
        normal, tangential = self.contact_forces(q, directions)
        pushed = directions.normal @ normal + directions.tangential @ tangential.ravel()
        return self.system.force(self.time, q, self.velocity) + pushed

    def pushes(self, directions: Directions) -> np.ndarray:
        """J_N + R (nv, m): what 1 N more in a contact does, with the friction that follows it."""
        sliding = self.sliding_velocity(directions)
        rows, _ = self.friction(sliding)
        friction = directions.tangential @ (rows[:, None, :] * -_unit(sliding)[:, :, None]).reshape(
            -1, len(rows)
        )
        return dense(directions.normal) + friction

    def matrices(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D and K (nv, nv) of small motions."""
        directions = self.directions(q)
        by_position, by_velocity = self.force_tangents(q)
        stiffness, damping = -by_position, -by_velocity
        by_gap, by_rate = self.law.derivatives(self.gap(q)[0], directions.normal_velocity(self.velocity))
        normal, pushes = dense(directions.normal), self.pushes(directions)
        stiffness -= (pushes * by_gap) @ normal.T
        damping -= (pushes * by_rate) @ normal.T
        damping -= self.turning_friction(q, directions)
        if not isinstance(self.system, LinearSystem):
            stiffness -= self.turning_directions(q, directions)
        return damping, stiffness

    def force_tangents(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂q and ∂f/∂v (nv, nv); by differences where the system does not state all of them."""
        t, v, n = self.time, self.velocity, len(self.velocity)
        tangents = self.system.tangents(t, q, v)
        if not (tangents.complete and isinstance(self.system, LinearSystem | FunctionSystem)):
            tangents = difference_tangents(self.system.force, self.system.advance, t, q, v)
        parts = (tangents.position, tangents.velocity)
        first, second = (np.zeros((n, n)) if part is None else dense(part) for part in parts)
        return first, second

    def turning_friction(self, q: np.ndarray, directions: Directions) -> np.ndarray:
        """∂(J_T λ_T)/∂v (nv, nv) at fixed λ_N: friction turns with the sliding velocity, and μ changes with speed."""
        sliding, n = self.sliding_velocity(directions), len(self.velocity)
        normal, total = self.normal_force(q, directions), np.zeros((n, n))
        rows, limit = self.friction(sliding)
        bounds, slopes = rows @ normal + limit, self.limit_slopes(sliding, normal)
        units, d = _unit(sliding), sliding.shape[1]
        for i, unit in enumerate(units):
            speed = np.linalg.norm(sliding[i])
            if speed == 0.0:
                continue
            columns = dense(directions.tangential[:, i * d : (i + 1) * d])
            along = np.outer(unit, unit)
            total -= columns @ (bounds[i] / speed * (np.eye(d) - along) + slopes[i] * along) @ columns.T
        return total

    def limit_slopes(self, sliding: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """∂ρ/∂|v_T| (m,) [N s/m]; zero for Coulomb's law, else by differences."""
        if self.system.contacts.constant:
            return np.zeros(len(self.which))
        speed = np.linalg.norm(sliding, axis=1, keepdims=True)
        step = _DIFFERENCE * np.maximum(speed, 1e-300)
        ahead, behind = (
            self.friction(sliding * factor)[0] @ normal for factor in (1 + _DIFFERENCE, 1 - _DIFFERENCE)
        )
        return (ahead - behind) / (2 * step.ravel())

    def turning_directions(self, q: np.ndarray, directions: Directions) -> np.ndarray:
        """∂(J_N λ_N + J_T λ_T)/∂q (nv, nv) at fixed contact forces, by differences."""
        normal, tangential = self.contact_forces(q, directions)

        def force(_: float, position: np.ndarray, __: np.ndarray) -> np.ndarray:
            here = self.directions(position)
            return here.normal @ normal + here.tangential @ tangential.ravel()

        turned = difference_tangents(force, self.system.advance, self.time, q, self.velocity)
        return np.asarray(turned.position)

    def relative(self, q: np.ndarray, total: np.ndarray) -> float:
        """Largest unbalanced force of a held coordinate, relative to the forces that meet there."""
        directions = self.directions(q)
        normal, tangential = self.contact_forces(q, directions)
        size = (
            self.applied(q)
            + abs(directions.normal) @ normal
            + abs(directions.tangential) @ np.abs(tangential.ravel())
        )
        unbalanced = np.abs(total[self.held])
        return float(np.max(unbalanced / np.where(unbalanced > 0.0, size[self.held], 1.0), initial=0.0))

    def applied(self, q: np.ndarray) -> np.ndarray:
        """Sizes (nv,) of the forces but those of contacts: of each term, if they are known apart."""
        system, velocity = self.system, np.abs(self.velocity)
        if not isinstance(system, LinearSystem):
            return np.abs(system.force(self.time, q, self.velocity))
        size = np.abs(system.load.value(self.time))
        for matrix, values in ((system.position_matrix, np.abs(q)), (system.rate_matrix, velocity)):
            size = size if matrix is None else size + abs(matrix) @ values
        return size


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Rows of length one; zero rows stay."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)


def _vector(given: Any, default: np.ndarray, name: str, size: int) -> np.ndarray:
    values = np.array(default if given is None else given, dtype=float)
    if values.shape != (size,) or not np.all(np.isfinite(values)):
        raise InvalidModel(f"{name} is {given!r}; expected {size} finite numbers.")
    return values


def _numbers(free: Iterable[str | int], names: tuple[str, ...]) -> np.ndarray:
    found = []
    for entry in free:
        if isinstance(entry, str) and entry in names:
            found.append(names.index(entry))
        elif not isinstance(entry, str) and 0 <= entry < len(names):
            found.append(int(entry))
        else:
            raise InvalidModel(f"free names {entry!r}; coordinates are {', '.join(names)}, counted from 0.")
    return np.array(found, dtype=int)
