"""Steady sliding on compliant contacts: where, and whether it is stable.

    f + J_N λ_N + J_T λ_T = 0,   λ_N = λ_N(g, ġ),   λ_T = −ρ v_T/|v_T|,   ρ = limit + μ λ_N

While every contact slides in a known sense the friction follows the normal force, and small motions obey

    M ẍ + D ẋ + K x = 0,   K = −∂f/∂q − (J_N + R) ∂λ_N/∂g J_Nᵀ − …                 Waltersberger (5.28), (5.29)

with R = −s μ J_T of the sliding directions s. R makes K unsymmetric. The points are the geometric stiffness of contact
forces whose directions turn with the position; they vanish where directions are constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klapper.analysis.linear_stability import Stability, stability
from klapper.complementarity.dense import dense
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.function_system import FunctionSystem
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import Directions, System, difference_tangents, require_system

_DIFFERENCE = 6.0e-6
_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class SteadySliding:
    """Steady sliding of a system with m contacts.

    ``position`` (nq,), ``velocity`` (nv,)
    ``contacts``         names (m,)
    ``gap``              (m,) [m], negative where pressed; not a number for friction elements
    ``normal_force``     λ_N (m,) [N]
    ``friction_force``   λ_T (m, d) [N]
    ``acceleration``     (nv,): zero but for the free coordinates
    ``residual``         largest unbalanced force of the others, relative

    A belt drags a block of 10 N (μ = 0.5) against a spring of 100 N/m; the belt gives way by 10 N / 10⁴ N/m:

    >>> from klapper.analysis import sliding_stability
    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-2.0, friction=0.5)
    >>> block = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[belt])
    >>> sliding = sliding_stability(block, CompliantNormal(1e4)).sliding
    >>> sliding.position.round(9), sliding.normal_force.round(6), sliding.friction_force[0].round(6)
    (array([ 0.05 , -0.001]), array([10.]), array([5.]))
    """

    position: np.ndarray
    velocity: np.ndarray
    contacts: tuple[str, ...]
    gap: np.ndarray
    normal_force: np.ndarray
    friction_force: np.ndarray
    acceleration: np.ndarray
    residual: float

    def __str__(self) -> str:
        width = max((len(name) for name in self.contacts), default=0)
        lines = [f"Steady sliding, residual {self.residual:.1e}"]
        for name, gap, normal, friction in zip(
            self.contacts, self.gap, self.normal_force, self.friction_force, strict=True
        ):
            force = ", ".join(f"{part:.6g}" for part in friction)
            lines.append(
                f"  {name:<{width}}  gap {gap:.6g} m, presses with {normal:.6g} N, friction {force} N"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class SlidingStability(Stability):
    """The eigenvalues of small motions about steady sliding.

    The block of :class:`SteadySliding`, of 1 kg, vibrates on its spring and on the belt with 10 and 100 rad/s:

    >>> from klapper.analysis import sliding_stability
    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-2.0, friction=0.5)
    >>> block = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[belt])
    >>> judged = sliding_stability(block, CompliantNormal(1e4))
    >>> judged.verdict, sorted(abs(judged.eigenvalues).round(6).tolist())
    ('stable', [10.0, 10.0, 100.0, 100.0])
    """

    sliding: SteadySliding

    def __str__(self) -> str:
        return f"{self.sliding}\n{super().__str__()}"


def sliding_stability(
    system: System,
    law: CompliantNormal,
    *,
    velocity: Any = None,
    position: Any = None,
    free: Iterable[str | int] | None = None,
    tolerance: float = 1e-12,
) -> SlidingStability:
    """Find the steady sliding motion of ``system`` on contacts of the compliant ``law`` and judge its stability.

    ``velocity``   (nv,) of the steady motion: its sliding velocities J_Tᵀ v + a_T say in which sense every contact
                   slides; default that of the start, e.g. zero over a moving belt
    ``position``   (nq,) where to start the search, default the start of the system
    ``free``       names or numbers of velocity coordinates whose forces need not balance, because they go on anyway
                   (a disc that is turned by more than friction takes); default those that move in ``velocity``
    ``tolerance``  relative to the forces

    A block of 1 kg on a belt that runs to the right, held by a spring and pressed onto it by 10 N:

    >>> from klapper.analysis import sliding_stability
    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> floor = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-2.0, friction=0.5)
    >>> block = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[floor])
    >>> judged = sliding_stability(block, CompliantNormal(1e4))
    >>> judged.sliding.position.round(9).tolist(), judged.verdict
    ([0.05, -0.001], 'stable')
    """
    require_system(system)
    if not isinstance(law, CompliantNormal):
        raise InvalidModel(f"law is {law!r}; give the CompliantNormal of the contacts.")
    state = _Sliding.of(system, law, velocity, position, free)
    where = state.sliding_position(tolerance)
    damping, stiffness = state.matrices(where)
    judged = stability(dense(system.mass(where)), damping, stiffness)
    return SlidingStability(
        judged.mass,
        judged.damping,
        judged.stiffness,
        judged.eigenvalues,
        judged.modes,
        judged.zeros,
        state.sliding(where),
    )


@dataclass(frozen=True, eq=False)
class _Sliding:
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
    def of(cls, system: System, law: CompliantNormal, velocity: Any, position: Any, free: Any) -> _Sliding:
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

    def sliding_position(self, tolerance: float) -> np.ndarray:
        """Newton's method from a position in which linear springs of the right size carry the load."""
        q, pressing = self.pressed_position()
        smooth = replace(self, pulling=pressing)
        for _ in range(_ROUNDS):
            total = smooth.total(q, smooth.directions(q))
            if smooth.relative(q, total) <= tolerance:
                break
            ahead = smooth.damped_step(q, total)
            if ahead is None:
                break
            q = ahead
        self.require_balance(q, tolerance)
        return q

    def require_balance(self, q: np.ndarray, tolerance: float) -> None:
        directions = self.directions(q)
        left = self.relative(q, self.total(q, directions))
        if left > max(tolerance, 1e-9):
            raise InvalidModel(
                f"no steady sliding was found: {left:.2g} of the force stays unbalanced. Perhaps a contact lifts "
                f"off in steady sliding; start from another position."
            )
        if self.has_normal.any() and not np.any(self.normal_force(q, directions) > 0.0):
            raise InvalidModel("the forces balance without any contact: nothing presses, so nothing slides.")

    def damped_step(self, q: np.ndarray, total: np.ndarray) -> np.ndarray | None:
        """The position after a step of Newton's method that lowers the unbalanced force, or None if none does."""
        size = np.linalg.norm(total[self.held])
        change = np.zeros(len(self.velocity))
        slopes = self.matrices(q)[1][np.ix_(self.held, self.held)]
        change[self.held] = np.linalg.lstsq(slopes, total[self.held], rcond=1e-14)[0]
        for halving in range(20):
            ahead = self.system.advance(q, 0.5**halving * change)
            if np.linalg.norm(self.total(ahead, self.directions(ahead))[self.held]) < size:
                return ahead
        return None

    def pressed_position(self) -> tuple[np.ndarray, np.ndarray]:
        """A position in which the contacts are about as pressed as the load demands, and which of them press (m,).

        The springs also pull and have the secant stiffness of their law at the load; those that pull are left out one
        after the other."""
        q, directions = self.start, self.directions(self.start)
        load = self.system.force(self.time, q, self.velocity)
        size = np.abs(load[self.held]).max(initial=0.0) or 1.0
        pressing = self.has_normal.copy()
        secant = np.broadcast_to(self.law.stiffness * size ** (1.0 - 1.0 / self.law.exponent), pressing.shape)
        pushes, normal = self.pushes(directions), dense(directions.normal)
        given = self.total(q, directions) - pushes @ self.normal_force(q, directions)
        gap = np.where(self.has_normal, self.system.gaps(self.time, q, self.which), 0.0)
        by_position, _ = self.force_tangents(q)
        change = np.zeros(len(self.velocity))
        for _ in range(len(pressing) + 1):
            springs = pushes * np.where(pressing, secant, 0.0)
            matrix = (springs @ normal.T - by_position)[np.ix_(self.held, self.held)]
            right = (given - springs @ gap)[self.held]
            change[self.held] = np.linalg.lstsq(matrix, right, rcond=1e-14)[0]
            after = gap + normal.T @ change
            if not np.any(pulls := pressing & (after > 0.0)):
                break
            pressing[np.argmax(np.where(pulls, after, -np.inf))] = False
        missing = np.abs(matrix @ change[self.held] - right).max(initial=0.0)
        if isinstance(self.system, LinearSystem) and missing > 1e-6 * np.abs(right).max(initial=0.0):
            names = [self.system.contacts.name(int(i)) for i in np.flatnonzero(self.has_normal & ~pressing)]
            raise InvalidModel(
                f"there is no steady sliding: to balance the forces {' and '.join(names) or 'a contact'} would have to "
                f"pull. Lower the friction, or change the load."
            )
        return self.system.advance(q, change), pressing

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

    def sliding(self, q: np.ndarray) -> SteadySliding:
        directions = self.directions(q)
        normal, tangential = self.contact_forces(q, directions)
        total = self.total(q, directions)
        acceleration = np.linalg.solve(dense(self.system.mass(q)), total)
        acceleration[self.held] = 0.0
        return SteadySliding(
            q,
            self.velocity,
            tuple(self.system.contacts.name(int(i)) for i in self.which),
            self.system.gaps(self.time, q, self.which),
            normal,
            tangential,
            acceleration,
            self.relative(q, total),
        )


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
