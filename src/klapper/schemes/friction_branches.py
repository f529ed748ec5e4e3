"""Regularised and set-valued friction branch by branch, so that between two switches it is smooth.

Velocities and forces are those of the scaled directions in which the friction set is a disc of the radius ρ. Every
branch ends where a function falls through zero:

    inside a disc    R − |x| ≥ 0     stick: x = λ_T, R = ρ; slow branch of a smooth law: x = v_T, R = its kink
    outside of it    x·e − R ≥ 0     slip: x = v_T, e its direction

In the plane e is the sign of the sliding velocity. In space it is the direction at the beginning of a step: if x·e
falls below R while |x| does not, the step ends there without a switch, and the next one has a new e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from klapper.mechanics.smooth_friction import StickElement
from klapper.schemes.contact_modes import NO_FRICTION, SLIDING, STARTING, STICKING, YIELDING

SHORTEST_STRETCH = 1e-8
"""[m]: below this stretch ρ/c_T the direction of a sliding spring turns more slowly; without a force it rests."""

NOISE = 200.0 * np.finfo(float).eps  # of the terms of a function: what counts as zero
# Allowed errors of a velocity by which a patch slides back before it stops. To hold other feet of the same body moves
# a slip that counts as zero by up to two of them: at less than three the foot would stop at once, and without end.
_BACK = 4.0

Label = tuple[str, int]
"""What happens and the place of the contact among the closed ones."""


@dataclass(frozen=True, eq=False)
class Sliding:
    """Tangential state of k closed contacts.

    ``mode`` (k,); ``velocity`` v_T (k, d) [m/s]; ``limit`` ρ (k,) [N]; ``limit_rate`` ρ̇ (k,) [N/s], where it is asked
    for; ``sense`` (k, d); ``spring`` z (k, d) [m]; ``force`` λ_T (k, d) [N]; ``terms`` (k,) [m/s] size of the terms of
    v_T, for judging its rounding; ``limit_terms`` (k,) [N], ``limit_rate_terms`` (k,) [N/s] and ``force_terms`` (k,)
    [N] those of ρ, ρ̇ and reactions, where ends of branches are looked for
    """

    mode: np.ndarray
    velocity: np.ndarray
    limit: np.ndarray
    limit_rate: np.ndarray
    sense: np.ndarray
    spring: np.ndarray
    force: np.ndarray
    terms: np.ndarray
    limit_terms: np.ndarray
    limit_rate_terms: np.ndarray
    force_terms: np.ndarray


class FrictionBranches(Protocol):
    """A friction law by branches."""

    @property
    def holds(self) -> bool:
        """Whether sticking is a constraint with a reaction."""
        ...

    @property
    def continuous(self) -> bool:
        """Whether force and rate do not jump at any end, so that it need not be located better than v_T is known."""
        ...

    @property
    def needs_limit_rate(self) -> bool:
        """Whether ends of branches depend on ρ̇."""
        ...

    @property
    def stiffness(self) -> float:
        """c_T [N/m] of springs, whose stretch z is an inner variable; 0 if there are none."""
        ...

    @property
    def error(self) -> float:
        """Speeds [m/s] that the integration does not tell from rest, where sticking is a constraint."""
        ...

    def force(self, at: Sliding) -> np.ndarray:
        """λ_T (k, d) [N], zero where it is a reaction."""
        ...

    def spring_rate(self, at: Sliding) -> np.ndarray:
        """ż (k, d) [m/s], or the rate [1/s] of the direction that stands for z."""
        ...

    def labels(self, mode: np.ndarray, d: int) -> list[Label]:
        """What it means that the functions of ``ends`` fall through zero."""
        ...

    def ends(self, at: Sliding) -> tuple[np.ndarray, np.ndarray]:
        """Functions whose fall through zero ends a branch, and the size of their terms."""
        ...

    def entered(self, velocity: np.ndarray, limit: float) -> tuple[int, np.ndarray]:
        """Mode and sense (d,) of a contact that has just closed."""
        ...

    def after(self, label: str, at: Sliding, i: int) -> tuple[int, np.ndarray, np.ndarray]:
        """Mode, sense (d,) and stretch (d,) of contact i after what the label says."""
        ...


@dataclass(frozen=True)
class SmoothBranches:
    """λ_T = −ρ φ(|v|) v/|v| with one kink of φ: slow below (mode sticking) and fast above (sliding)."""

    law: Any
    holds = False
    continuous = True
    needs_limit_rate = False
    stiffness = 0.0
    error = 0.0

    def force(self, at: Sliding) -> np.ndarray:
        speed = np.linalg.norm(at.velocity, axis=1)
        slow = at.mode == STICKING
        viscosity = self.law.viscosity(speed, slow)
        direction = at.velocity
        if at.velocity.shape[1] == 1:  # the fast branch keeps its sign also where a trial step goes too far
            direction = np.where(slow[:, None], at.velocity, at.sense * speed[:, None])
        return -(at.limit * viscosity * (at.mode != NO_FRICTION))[:, None] * direction

    def spring_rate(self, at: Sliding) -> np.ndarray:
        return np.zeros_like(at.spring)

    def labels(self, mode: np.ndarray, d: int) -> list[Label]:
        if not np.isfinite(self.law.kink):
            return []
        return _labels("faster", mode == STICKING, 2 if d == 1 else 1) + _labels("slower", mode == SLIDING)

    def ends(self, at: Sliding) -> tuple[np.ndarray, np.ndarray]:
        kink = self.law.kink
        if not np.isfinite(kink):
            return np.zeros(0), np.zeros(0)
        slow, fast = at.mode == STICKING, at.mode == SLIDING
        radius = np.full(len(at.mode), kink)
        return _joined(
            _inside(at.velocity[slow], radius[slow], at.terms[slow]),
            _outside(at.velocity[fast], at.sense[fast], radius[fast], at.terms[fast]),
        )

    def entered(self, velocity: np.ndarray, limit: float) -> tuple[int, np.ndarray]:
        speed = float(np.linalg.norm(velocity))
        return (STICKING if speed <= self.law.kink else SLIDING), direction_of(velocity)

    def after(self, label: str, at: Sliding, i: int) -> tuple[int, np.ndarray, np.ndarray]:
        if label == "slower" and np.linalg.norm(at.velocity[i]) > self.law.kink * (1.0 + 1e-9):
            return SLIDING, direction_of(at.velocity[i]), at.spring[i]
        mode = STICKING if label == "slower" else SLIDING
        return mode, direction_of(at.velocity[i]), at.spring[i]


@dataclass(frozen=True)
class DamperBranches:
    """A damper that saturates at ρ. Vielsack (24)."""

    damping: float
    holds = False
    continuous = True
    needs_limit_rate = False
    stiffness = 0.0
    error = 0.0

    def force(self, at: Sliding) -> np.ndarray:
        sliding = at.mode == SLIDING
        slip = at.sense if at.velocity.shape[1] == 1 else directions_of(at.velocity)
        force = np.where(sliding[:, None], at.limit[:, None] * slip, self.damping * at.velocity)
        return -force * (at.mode != NO_FRICTION)[:, None]

    def spring_rate(self, at: Sliding) -> np.ndarray:
        return np.zeros_like(at.spring)

    def labels(self, mode: np.ndarray, d: int) -> list[Label]:
        return _labels("breaks", mode == STICKING, 2 if d == 1 else 1) + _labels("slower", mode == SLIDING)

    def ends(self, at: Sliding) -> tuple[np.ndarray, np.ndarray]:
        stick, slip = at.mode == STICKING, at.mode == SLIDING
        pull, terms = self.damping * at.velocity, self.damping * at.terms + at.limit_terms
        return _joined(
            _inside(pull[stick], at.limit[stick], terms[stick]),
            _outside(pull[slip], at.sense[slip], at.limit[slip], terms[slip]),
        )

    def entered(self, velocity: np.ndarray, limit: float) -> tuple[int, np.ndarray]:
        pull = self.damping * float(np.linalg.norm(velocity))
        return (STICKING if pull <= limit else SLIDING), direction_of(velocity)

    def after(self, label: str, at: Sliding, i: int) -> tuple[int, np.ndarray, np.ndarray]:
        pull = self.damping * float(np.linalg.norm(at.velocity[i]))
        still_slips = label == "slower" and pull > at.limit[i] * (1.0 + 1e-9)
        mode = SLIDING if still_slips or label == "breaks" else STICKING
        return mode, direction_of(at.velocity[i]), at.spring[i]


@dataclass(frozen=True)
class SpringBranches:
    """A spring, alone or with a damper, that slides at ρ. Vielsack (20), (27).

    While it slides, the spring stays stretched by ρ/c_T along the sense of sliding, so that the force is continuous
    where sliding ends: at v_T·n = 0, for a spring alone at c_T v_T·n = ρ̇. A spring with a damper can reach ρ while its
    end moves back, if ρ falls; then it yields by c_T z + d_T ż = −λ_T until the force is below ρ again. In space n
    turns towards v_T, ṅ = (v_T − (v_T·n) n) c_T/ρ; while a contact slides, n takes the place of z in the state.
    """

    stiffness: float
    damping: float
    holds = False
    continuous = False
    error = 0.0

    @property
    def needs_limit_rate(self) -> bool:
        return self.damping == 0.0

    def _pull(self, at: Sliding) -> np.ndarray:
        return self.stiffness * at.spring + self.damping * at.velocity

    def _sense(self, at: Sliding) -> np.ndarray:
        if at.velocity.shape[1] == 1:
            return at.sense
        yields = (at.mode == YIELDING)[:, None]
        return directions_of(np.where(yields, self._pull(at), at.spring), at.sense)

    def force(self, at: Sliding) -> np.ndarray:
        stick = (at.mode == STICKING)[:, None]
        force = np.where(stick, self._pull(at), at.limit[:, None] * self._sense(at))
        return -force * (at.mode != NO_FRICTION)[:, None]

    def spring_rate(self, at: Sliding) -> np.ndarray:
        rate = np.where((at.mode == STICKING)[:, None], at.velocity, 0.0)
        n = self._sense(at)
        slides, yields = at.mode == SLIDING, at.mode == YIELDING
        if at.velocity.shape[1] == 2 and np.any(slides):
            across = at.velocity - np.sum(at.velocity * n, axis=1, keepdims=True) * n
            stretch = np.maximum(at.limit, 0.0) / self.stiffness
            turning = stretch / (stretch**2 + SHORTEST_STRETCH**2)
            rate[slides] = (across * turning[:, None])[slides]
        if np.any(yields):
            rate[yields] = ((at.limit[:, None] * n - self.stiffness * at.spring) / self.damping)[yields]
        return rate

    def labels(self, mode: np.ndarray, d: int) -> list[Label]:
        return (
            _labels("breaks", mode == STICKING, 2 if d == 1 else 1)
            + _labels("stops", mode == SLIDING)
            + _labels("holds", mode == YIELDING)
        )

    def ends(self, at: Sliding) -> tuple[np.ndarray, np.ndarray]:
        stick, slip, yields = (at.mode == mode for mode in (STICKING, SLIDING, YIELDING))
        n, pull = self._sense(at), self._pull(at)
        terms = self.stiffness * np.linalg.norm(at.spring, axis=1) + self.damping * at.terms + at.limit_terms
        end, end_terms = np.zeros(len(at.mode)), np.zeros(len(at.mode))
        if self.needs_limit_rate:
            end, end_terms = at.limit_rate / self.stiffness, at.limit_rate_terms / self.stiffness
        return _joined(
            _inside(pull[stick], at.limit[stick], terms[stick]),
            _outside(at.velocity[slip], n[slip], end[slip], (at.terms + end_terms)[slip]),
            _outside(pull[yields], n[yields], at.limit[yields], terms[yields]),
        )

    def entered(self, velocity: np.ndarray, limit: float) -> tuple[int, np.ndarray]:
        return STICKING, direction_of(velocity)

    def after(self, label: str, at: Sliding, i: int) -> tuple[int, np.ndarray, np.ndarray]:
        if label == "holds":
            return STICKING, at.sense[i], at.spring[i]
        if label == "stops":
            n = self._sense(at)[i]
            return STICKING, n, (at.limit[i] * n - self.damping * at.velocity[i]) / self.stiffness
        pull = self._pull(at)[i]
        n = direction_of(pull if np.any(pull) else at.velocity[i])
        if self.damping > 0.0 and float(at.velocity[i] @ n) <= 0.0:
            return YIELDING, n, at.spring[i]
        return SLIDING, n, at.limit[i] / self.stiffness * n


@dataclass(frozen=True)
class SetValuedBranches:
    """Coulomb's law itself: sticking is a constraint with the reaction |λ_T| ≤ ρ. Waltersberger (4.87)-(4.90).

    ``slip_speed`` [m/s]: slower contacts count as at rest where a decision is made; in space also the speed from which
    sliding has a direction. ``error`` [m/s]: the allowed one of a velocity.
    """

    slip_speed: float
    error: float
    holds = True
    continuous = False
    needs_limit_rate = False
    stiffness = 0.0

    def force(self, at: Sliding) -> np.ndarray:
        slip = at.sense
        if at.velocity.shape[1] == 2:
            slip = np.where((at.mode == SLIDING)[:, None], directions_of(at.velocity, at.sense), at.sense)
        moves = (at.mode == SLIDING) | (at.mode == STARTING)
        return -(at.limit * moves)[:, None] * slip

    def spring_rate(self, at: Sliding) -> np.ndarray:
        return np.zeros_like(at.spring)

    def labels(self, mode: np.ndarray, d: int) -> list[Label]:
        return (
            _labels("breaks", mode == STICKING, 2 if d == 1 else 1)
            + _labels("stops", mode == SLIDING)
            + _labels("moves", mode == STARTING)
            + _labels("stops", mode == STARTING)
        )

    def ends(self, at: Sliding) -> tuple[np.ndarray, np.ndarray]:
        stick, slip, starts = (at.mode == mode for mode in (STICKING, SLIDING, STARTING))
        slow = np.full(len(at.mode), self.slip_speed)
        rest = slow if at.velocity.shape[1] == 2 else np.zeros(len(at.mode))
        size, pace = at.limit_terms + at.force_terms, at.terms + _BACK * self.error / NOISE
        moved, terms = _outside(
            at.velocity[starts], at.sense[starts], np.zeros(np.count_nonzero(starts)), at.terms[starts]
        )
        return _joined(
            _inside(at.force[stick], at.limit[stick], size[stick]),
            _outside(at.velocity[slip], at.sense[slip], rest[slip], pace[slip]),
            (2.0 * slow[starts] - moved, terms),
            (moved + slow[starts], terms),
        )

    def entered(self, velocity: np.ndarray, limit: float) -> tuple[int, np.ndarray]:
        moves = float(np.linalg.norm(velocity)) > self.slip_speed
        return (SLIDING if moves else STICKING), direction_of(velocity)

    def after(self, label: str, at: Sliding, i: int) -> tuple[int, np.ndarray, np.ndarray]:
        """Sticking means here: at rest, to be decided."""
        if label == "breaks":
            starts = STARTING if at.velocity.shape[1] == 2 else SLIDING
            return starts, direction_of(-at.force[i]), at.spring[i]
        if label == "moves":
            return SLIDING, direction_of(at.velocity[i]), at.spring[i]
        slow = np.linalg.norm(at.velocity[i]) <= self.slip_speed * (1.0 + 1e-9)
        if at.velocity.shape[1] == 1 or slow or at.mode[i] == STARTING:
            return STICKING, at.sense[i], at.spring[i]
        return SLIDING, direction_of(at.velocity[i]), at.spring[i]


def friction_branches(friction: Any, slip_speed: float, error: float) -> FrictionBranches:
    """The branches of a law of ``klapper.mechanics.smooth_friction`` or of "set-valued"."""
    if isinstance(friction, str):
        return SetValuedBranches(slip_speed, error)
    if not isinstance(friction, StickElement):
        return SmoothBranches(friction)
    if friction.stiffness == 0.0:
        return DamperBranches(friction.damping)
    return SpringBranches(friction.stiffness, friction.damping)


def direction_of(vector: np.ndarray) -> np.ndarray:
    """Unit vector (d,); the first axis for zero."""
    size = float(np.linalg.norm(vector))
    if size > 0.0:
        return vector / size
    first = np.zeros(len(vector))
    first[:1] = 1.0
    return first


def directions_of(vectors: np.ndarray, instead: np.ndarray | float = 0.0) -> np.ndarray:
    """Unit vectors (k, d); ``instead`` of zero ones."""
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(size > 0.0, vectors / np.maximum(size, 1e-300), instead)


def _labels(what: str, which: np.ndarray, times: int = 1) -> list[Label]:
    return [(what, int(i)) for i in np.flatnonzero(which)] * times


def _inside(x: np.ndarray, radius: np.ndarray, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R − |x| as functions that are smooth at x = 0: in the plane R − x and R + x, in space R² − |x|²."""
    if x.shape[1] == 1:
        return np.concatenate([radius - x[:, 0], radius + x[:, 0]]), np.concatenate([terms, terms])
    size = np.linalg.norm(x, axis=1)
    return radius**2 - size**2, 2.0 * (np.abs(radius) + size) * terms


def _outside(
    x: np.ndarray, direction: np.ndarray, radius: np.ndarray, terms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    return np.sum(x * direction, axis=1) - radius, terms


def _joined(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    values: Sequence[np.ndarray] = [part[0] for part in parts]
    return np.concatenate(values), np.concatenate([part[1] for part in parts])
