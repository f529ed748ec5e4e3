"""How friction is split between contacts that push in one common direction. Seiwald 4.3.

A rigid body that stands on several contacts feels only the sum S of such friction forces. Where at least two closed
contacts share their direction, a strategy gives the impulses of one round with the normal impulses held; everywhere
else, and with the strategy "prox", friction is iterated like the normal impulses.

    PseudoInverseFriction  λ = −G⁺ (Wᵀ M⁻¹ h + w̄), tangential part, clipped to the friction limits    (4.8), Fig. C.5
    FunctionalFriction     S minimises z = v̇ᵀ P v̇; the split by the smallest Σ (T_i − preload_i)² / stiffness_i Fig. C.6

A strategy of one's own has a ``name`` and ``impulses(now)``, which gets a :class:`Round` and returns friction impulses
(k,) [N s] and a word about them. It keeps |T| ≤ ``limit``; the step refuses others, and says where the friction does
not agree with the sliding velocities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from klapper.mechanics.arguments import number, numbers
from klapper.mechanics.errors import InvalidModel
from klapper.schemes.mobility import Inverse

NAMES = (
    "prox",
    "pinv",
    "pinv-redistributed",
    "functional-1",
    "functional-2",
    "functional-3",
    "equal-utilisation",
)
_NOTHING = 1e-12  # of the largest friction limit: stiffness of a contact that can hold nothing
_PARALLEL = 1e-3  # relative difference up to which directions count as one
_RANK = 1e-10  # of the largest eigenvalue of G, below which the pseudo-inverse leaves a direction out


@dataclass(frozen=True, eq=False)
class Round:
    """What a strategy sees of k closed contacts, all with one direction, in one round.

    ``mass`` (n, n), ``inverse`` M⁻¹, ``force`` h (n,) [N]
    ``normal``, ``tangential``    directions (n, k) at the middle of the step
    ``bend_normal``, ``bend_tangential``  (k,) of g̈ = Jᵀ v̇ + bend
    ``contact``  numbers (k,), ``friction`` coefficients (k,)
    ``pressed``  normal impulses (k,), ``limit`` of the friction impulses (k,) [N s], ``duration`` h [s]
    ``sticks``   whether each contact stuck at the start of the step (k,), and its sliding velocity ``slip`` (k,) [m/s]
    """

    mass: Any
    inverse: Inverse
    force: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    bend_normal: np.ndarray
    bend_tangential: np.ndarray
    contact: np.ndarray
    friction: np.ndarray
    pressed: np.ndarray
    limit: np.ndarray
    sticks: np.ndarray
    slip: np.ndarray
    duration: float

    @property
    def direction(self) -> np.ndarray:
        """The common direction (n,)."""
        return self.tangential.mean(axis=1)

    @property
    def sliding_row(self) -> tuple[np.ndarray, np.ndarray]:
        """(g, r) (k,): tangential accelerations a = g S + r [m/s²] by the friction sum S [N], while contacts that press
        stay closed, (4.10); zero where a contact does not press."""
        pressing = self.pressed > 0.0
        held = self.normal[:, pressing]
        columns = np.column_stack([held, self.tangential])
        response = columns.T @ self.inverse(np.column_stack([held, self.direction, self.force]))
        n = held.shape[1]
        effect, rest = response[:, n], response[:, n + 1]
        rest = rest + np.concatenate([self.bend_normal[pressing], self.bend_tangential])
        both = np.column_stack([effect, rest])
        closing = np.linalg.pinv(response[:n, :n], rcond=_RANK, hermitian=True) @ both[:n]
        g, r = np.where(pressing, (both[n:] - response[n:, :n] @ closing).T, 0.0)
        return np.where(np.abs(g) > _RANK * np.abs(effect[n:]), g, 0.0), r

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest friction impulses (k,) [N s]: both the same for a contact that slides."""
        sliding = -np.sign(self.slip) * self.limit
        return np.where(self.sticks, -self.limit, sliding), np.where(self.sticks, self.limit, sliding)


class FrictionStrategy(Protocol):
    """Gives the friction impulses of contacts with one common direction (contract in the module's docstring).

    All of it at the first contact that can take it:

    >>> from klapper.bodies import FootedBlock, rigid_block
    >>> from klapper.mechanics import Constant
    >>> from klapper.schemes import NestedProx
    >>> from klapper.simulation import simulate
    >>> @dataclass(frozen=True)
    ... class FirstComeFirstServed:
    ...     name = "first come, first served"
    ...     def impulses(self, now):
    ...         g, r = now.sliding_row
    ...         wanted, given = -(r[0] / g[0]) * now.duration, []
    ...         for lower, upper in zip(*now.bounds):
    ...             given.append(np.clip(wanted - sum(given), lower, upper))
    ...         return np.array(given), ""
    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1)), load=Constant([10.0, 0.0, 0.0]))
    >>> run = simulate(block, 0.002, NestedProx(1e-3, friction=FirstComeFirstServed()))
    >>> run.force[-1, :, 1].round(3)  # 0.1 · 73.48 N at A
    array([-7.348, -2.652])
    """

    @property
    def name(self) -> str: ...

    def impulses(self, now: Round) -> tuple[np.ndarray, str]: ...


@dataclass(frozen=True)
class PseudoInverseFriction:
    """Minimum norm of all contact forces that stop the contact accelerations, friction clipped to its limits.

    A force that is clipped makes the sum too small, so that the body slides for a step: it chatters. With
    ``redistribute`` the other contacts take what was cut off, as far as they can.

    A block is pushed with 10 N and sticks; its two feet share alike:

    >>> from klapper.bodies import FootedBlock, rigid_block
    >>> from klapper.mechanics import Constant
    >>> from klapper.schemes import NestedProx, PseudoInverseFriction
    >>> from klapper.simulation import simulate
    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.5, 0.5)), load=Constant([10.0, 0.0, 0.0]))
    >>> run = simulate(block, 0.002, NestedProx(1e-3, friction=PseudoInverseFriction(), compiled=False))
    >>> run.force[-1, :, 1].round(6)
    array([-5., -5.])
    """

    redistribute: bool = False

    @property
    def name(self) -> str:
        return "pinv-redistributed" if self.redistribute else "pinv"

    def impulses(self, now: Round) -> tuple[np.ndarray, str]:
        """Friction impulses (k,) [N s], and what was decided in a word."""
        columns = np.hstack([now.normal, now.tangential])
        bend = np.concatenate([now.bend_normal, now.bend_tangential])
        delassus = columns.T @ now.inverse(columns)
        needed = columns.T @ now.inverse(now.force) + bend
        force = -(np.linalg.pinv(delassus, rcond=_RANK, hermitian=True) @ needed)
        wanted = force[len(now.pressed) :] * now.duration
        lower, upper = now.bounds
        clipped = np.clip(wanted, lower, upper)
        if self.redistribute and np.any(now.sticks):
            from klapper.complementarity.selection.two_contacts import water_filling

            total = float(wanted[now.sticks].sum() + clipped[~now.sticks].sum())
            clipped = water_filling(total, lower, upper, start=wanted)
        return clipped, "clipped" if np.any(clipped != wanted) else "free"


@dataclass(frozen=True)
class FunctionalFriction:
    """The friction sum with the smallest acceleration, shared by stiffness.

    ``ansatz``           1: P = 1, all accelerations; 2: P = M M, all forces; 3: z = Σ w_i a_i² + 2 l_i a_i, tangential
                         accelerations a_i of the contacts that press, while these stay closed
    ``stiffness``        of each contact of the system, only ratios count; None: equal, i.e. the smallest Σ T_i²;
                         "limit": the friction limits, so that T/(μ λ_N) is equal, as regularised friction selects
    ``preload``          friction forces [N] of each contact without a load; None: zero
    ``contact_weights``  w_i of ansatz 3, dimensionless, of each contact of the system, above 0; None: one
    ``contact_linear``   l_i [m/s²], the same: the accelerations wanted are −l_i/w_i; None: zero

    A block is pushed with 10 N and sticks; one foot is three times as stiff as the other one:

    >>> from klapper.bodies import FootedBlock, rigid_block
    >>> from klapper.mechanics import Constant
    >>> from klapper.schemes import FunctionalFriction, NestedProx
    >>> from klapper.simulation import simulate
    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.5, 0.5)), load=Constant([10.0, 0.0, 0.0]))
    >>> scheme = NestedProx(1e-3, friction=FunctionalFriction(stiffness=(1.0, 3.0)), compiled=False)
    >>> simulate(block, 0.002, scheme).force[-1, :, 1].round(6)
    array([-2.5, -7.5])
    """

    ansatz: int = 3
    stiffness: tuple[float, ...] | str | None = None
    preload: tuple[float, ...] | None = None
    contact_weights: tuple[float, ...] | None = None
    contact_linear: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.ansatz not in (1, 2, 3):
            raise InvalidModel(f"ansatz is {self.ansatz!r}; allowed are 1, 2 and 3.")
        if isinstance(self.stiffness, str) and self.stiffness != "limit":
            raise InvalidModel(f"stiffness is {self.stiffness!r}; allowed are numbers, 'limit' and None.")
        for argument in ("stiffness", "contact_weights"):
            given = getattr(self, argument)
            for part in () if given is None or given == "limit" else given:
                number(part, argument, "numbers above 0", above=0.0)
        for argument in ("preload", "contact_linear"):
            numbers(getattr(self, argument) or (), argument)
        for argument in ("contact_weights", "contact_linear"):
            if self.ansatz != 3 and getattr(self, argument) is not None:
                raise InvalidModel(f"{argument} belongs to ansatz 3; leave it out, or take ansatz=3.")

    @property
    def name(self) -> str:
        if self.stiffness == "limit":
            return "equal-utilisation"
        return "compliant" if self.stiffness or self.preload else f"functional-{self.ansatz}"

    @property
    def plain(self) -> bool:
        """Whether the contacts share alike."""
        return self.stiffness is None and self.preload is None

    def sum_weights(self, now: Round) -> tuple[float, float]:
        """k and w of z = k S² + 2 w S + c in the force sum S [N]; 1 and 0 if S does not change z."""
        if self.ansatz == 3:
            g, r = now.sliding_row
            weights, linear = (
                default if given is None else np.array(given)[now.contact]
                for given, default in ((self.contact_weights, 1.0), (self.contact_linear, 0.0))
            )
            k, w = float(np.sum(weights * g**2)), float(np.sum(g * (weights * r + linear)))
            return (k, w) if k > 0.0 else (1.0, 0.0)
        reach = now.inverse(now.direction)
        rest = now.inverse(now.force + now.normal @ now.pressed / now.duration)
        if self.ansatz == 2:
            reach, rest = now.mass @ reach, now.mass @ rest
        return float(reach @ reach), float(reach @ rest)

    def impulses(self, now: Round) -> tuple[np.ndarray, str]:
        """Friction impulses (k,) [N s], and the case of Tables C.1-C.4 if there are two contacts."""
        from klapper.complementarity.kernels.friction_split import LABELS, case_minimum
        from klapper.complementarity.selection.two_contacts import water_filling

        k, w = self.sum_weights(now)
        label = ""
        if len(now.contact) == 2 and np.array_equal(now.limit, now.friction * now.pressed):
            slip = np.where(now.sticks, 0.0, now.slip)
            mu_a, mu_b, case = case_minimum(k, w, *(now.pressed / now.duration), *now.friction, *slip)
            label = LABELS[case]
            if self.plain:
                return np.array([mu_a, mu_b]) * now.pressed, label
        lower, upper = now.bounds
        start = 0.0 if self.preload is None else np.array(self.preload)[now.contact] * now.duration
        if self.stiffness == "limit":
            stiffness: Any = np.maximum(now.limit, _NOTHING * max(float(now.limit.max()), _NOTHING))
        else:
            stiffness = 1.0 if self.stiffness is None else np.array(self.stiffness)[now.contact]
        return water_filling(-w / k * now.duration, lower, upper, start=start, stiffness=stiffness), label


def strategy_of(given: Any) -> FrictionStrategy | None:
    """A strategy from itself or its name; None for "prox"."""
    if isinstance(given, str):
        if given == "prox":
            return None
        if given in ("pinv", "pinv-redistributed"):
            return PseudoInverseFriction(redistribute=given == "pinv-redistributed")
        if given == "equal-utilisation":
            return FunctionalFriction(3, stiffness="limit")
        if given in NAMES:
            return FunctionalFriction(int(given[-1]))
    named = isinstance(getattr(given, "name", None), str) and not isinstance(given, type)
    if named and callable(getattr(given, "impulses", None)):
        return given  # type: ignore[no-any-return]
    raise InvalidModel(
        f"friction is {given!r}; allowed are {', '.join(repr(name) for name in NAMES)}, PseudoInverseFriction(...), "
        f"FunctionalFriction(...) and objects with a name and impulses(round)."
    )


def impulses_of(strategy: FrictionStrategy, now: Round) -> tuple[np.ndarray, str]:
    """The impulses (k,) [N s] of a strategy and its word, each of the kind that the step needs."""
    answer = strategy.impulses(now)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise InvalidModel(
            f"the friction strategy '{strategy.name}' returned {answer!r}; expected a pair: impulses and a word."
        )
    impulse = np.asarray(answer[0], dtype=float)
    if impulse.shape != now.pressed.shape or not np.all(np.isfinite(impulse)):
        raise InvalidModel(
            f"the friction strategy '{strategy.name}' returned impulses {answer[0]!r}; expected {len(now.pressed)} "
            f"finite numbers in N s."
        )
    return impulse, str(answer[1])


def share_direction(tangential: np.ndarray) -> bool:
    """Whether at least two directions, the columns (n, k), are given and all are the same."""
    if tangential.shape[1] < 2:
        return False
    mean = tangential.mean(axis=1, keepdims=True)
    return bool(np.any(mean) and np.abs(tangential - mean).max() <= _PARALLEL * np.abs(mean).max())
