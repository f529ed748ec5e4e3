"""How friction is split between contacts that push in one common direction. Seiwald 4.3.

A rigid body that stands on several contacts feels only the sum S of such friction forces. Where at least two closed
contacts share their direction, a strategy gives the impulses of one round with the normal impulses held; everywhere
else, and with the strategy "prox", friction is iterated like the normal impulses.

    PseudoInverseFriction  λ = −G⁺ (Wᵀ M⁻¹ h + w̄), tangential part, clipped to the friction limits    (4.8), Fig. C.5
    FunctionalFriction     S minimises z = v̇ᵀ P v̇; the split by the smallest Σ (T_i − preload_i)² / stiffness_i Fig. C.6
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.arguments import number, numbers
from klapper.mechanics.errors import InvalidModel
from klapper.schemes.mobility import Inverse

NAMES = ("prox", "pinv", "pinv-redistributed", "functional-1", "functional-2", "functional-3")
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
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest friction impulses (k,) [N s]: both the same for a contact that slides."""
        sliding = -np.sign(self.slip) * self.limit
        return np.where(self.sticks, -self.limit, sliding), np.where(self.sticks, self.limit, sliding)


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

    ``ansatz``       1: P = 1, all accelerations; 2: P = M M, all forces; 3: accelerations of ``coordinates`` only
    ``coordinates``  numbers of the velocities that ansatz 3 looks at
    ``stiffness``    of each contact of the system, only ratios count; None: equal, i.e. the smallest Σ T_i²
    ``preload``      friction forces [N] of each contact without a load; None: zero

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
    coordinates: tuple[int, ...] = (0,)
    stiffness: tuple[float, ...] | None = None
    preload: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.ansatz not in (1, 2, 3):
            raise InvalidModel(f"ansatz is {self.ansatz!r}; allowed are 1, 2 and 3.")
        if self.ansatz == 3 and not self.coordinates:
            raise InvalidModel("coordinates is empty; ansatz 3 needs at least one number of a velocity.")
        for part in self.stiffness or ():
            number(part, "stiffness", "numbers above 0", above=0.0)
        numbers(self.preload or (), "preload")

    @property
    def name(self) -> str:
        return "compliant" if self.stiffness or self.preload else f"functional-{self.ansatz}"

    @property
    def plain(self) -> bool:
        """Whether the contacts share alike."""
        return self.stiffness is None and self.preload is None

    def sum_weights(self, now: Round) -> tuple[float, float]:
        """k and w of z = k S² + 2 w S + c in the force sum S [N]."""
        reach = now.inverse(now.direction)
        rest = now.inverse(now.force + now.normal @ now.pressed / now.duration)
        if self.ansatz == 2:
            reach, rest = now.mass @ reach, now.mass @ rest
        elif self.ansatz == 3:
            chosen = list(self.coordinates)
            reach, rest = reach[chosen], rest[chosen]
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
        stiffness = 1.0 if self.stiffness is None else np.array(self.stiffness)[now.contact]
        return water_filling(-w / k * now.duration, lower, upper, start=start, stiffness=stiffness), label


def strategy_of(given: Any) -> PseudoInverseFriction | FunctionalFriction | None:
    """A strategy from itself or its name; None for "prox"."""
    if isinstance(given, PseudoInverseFriction | FunctionalFriction):
        return given
    if given == "prox":
        return None
    if given in ("pinv", "pinv-redistributed"):
        return PseudoInverseFriction(redistribute=given == "pinv-redistributed")
    if given in NAMES:
        return FunctionalFriction(int(given[-1]))
    raise InvalidModel(
        f"friction is {given!r}; allowed are {', '.join(repr(name) for name in NAMES)}, PseudoInverseFriction(...) and "
        f"FunctionalFriction(...)."
    )


def share_direction(tangential: np.ndarray) -> bool:
    """Whether at least two directions, the columns (n, k), are given and all are the same."""
    if tangential.shape[1] < 2:
        return False
    mean = tangential.mean(axis=1, keepdims=True)
    return bool(np.any(mean) and np.abs(tangential - mean).max() <= _PARALLEL * np.abs(mean).max())
