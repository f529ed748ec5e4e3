"""The block cut into two halves that stiff springs hold together. Seiwald 2.3, B.2.2, B.2.3.

Each half stands on one foot, so every contact force is determined; in return there are stiffnesses to choose and a
start to find. Standing still with A and B fixed, linear in the small angles, the halves share a push F by

    λ_TA = (c_T b/2) (m₁ g a/2 − b F) / (2 c_R + b² c_T/2),   λ_TB = −F − λ_TA

until B is at its limit; from then on A takes the rest. The share depends on the ratio c_T b²/c_R and not on the size
of the stiffnesses: the limit of a rigid block is not unique. The term of the weight is a pair of friction forces that
the sagging halves lock in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, sin
from typing import Any

import numpy as np

from klapper.bodies.footed_block import FootedBlock
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel

_ROUNDS = 20


@dataclass(frozen=True)
class Coupling:
    """Springs and dampers between the halves of a block.

    ``stiffness`` c_T [N/m] and ``turning_stiffness`` c_R [N m/rad], both above 0; ``damping`` d_T [N s/m] and
    ``turning_damping`` d_R [N m s/rad]. The halves move against each other with the angular frequencies √(c/m) of
    :attr:`Halves.angular_frequencies`.

    >>> Coupling(1e5, 1000.0).damping
    0.0
    """

    stiffness: float
    turning_stiffness: float
    damping: float = 0.0
    turning_damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("stiffness", "turning_stiffness"):
            number(getattr(self, name), f"the {name} of the coupling", "numbers above 0", above=0.0)
        for name in ("damping", "turning_damping"):
            number(getattr(self, name), f"the {name} of the coupling", "numbers from 0 on", at_least=0.0)


@dataclass(frozen=True)
class Halves:
    """A ``block`` and the ``coupling`` of its halves, with masses, static start and quasi-static forces.

    With c_T b²/2 = 2 c_R = 2000 N m/rad the feet share a push equally:

    >>> halves = Halves(FootedBlock(0.4, 0.2, 16.0, friction=(0.1, 0.1)), Coupling(1e5, 1000.0))
    >>> halves.mass, round(halves.share_of_a, 12)
    (8.0, 0.5)
    """

    block: FootedBlock
    coupling: Coupling

    def __post_init__(self) -> None:
        if not self.inertia > 0.0:
            raise InvalidModel(
                f"the inertia of the block is {self.block.inertia} kg m²; halves need more than m a²/16 = "
                f"{self.block.mass * self.block.width**2 / 16.0:g} kg m², the part of their distance."
            )

    @property
    def mass(self) -> float:
        """m₁ = m₂ [kg], (B.24)."""
        return 0.5 * self.block.mass

    @property
    def inertia(self) -> float:
        """θ₁ = θ₂ [kg m²], (B.26)."""
        assert self.block.inertia is not None
        return 0.5 * self.block.inertia - self.block.mass * self.block.width**2 / 32.0

    @property
    def _resistance(self) -> float:
        """2 c_R + b² c_T/2 [N m/rad]: against turning both halves about A and B."""
        return 2.0 * self.coupling.turning_stiffness + 0.5 * self.block.height**2 * self.coupling.stiffness

    @property
    def sag_of_turning_springs(self) -> float:
        """q_3s = −a m₁ g / (8 c_R) [rad] without the horizontal springs, (B.29)."""
        return -self.block.width * self.mass * self.block.gravity / (8.0 * self.coupling.turning_stiffness)

    @cached_property
    def sag(self) -> float:
        """q_3s [rad] of the equilibrium with A and B fixed, all springs and large angles included."""
        angle = -self.mass * self.block.gravity * self.block.width / 4.0 / self._resistance
        for _ in range(_ROUNDS):
            moment, slope = self._moment_about_a(angle)
            change = -moment / slope
            angle += change
            if abs(change) <= 1e-16 * abs(angle):
                break
        return angle

    def _moment_about_a(self, angle: float) -> tuple[float, float]:
        """Moment [N m] on the left half about A when both are turned inwards, and its derivative."""
        a, b, c = self.block.width, self.block.height, self.coupling
        weight = self.mass * self.block.gravity
        s, k = sin(angle), cos(angle)
        stretch, stretch_rate = a - a * k + b * s, a * s + b * k
        lever, lever_rate = 0.5 * (a * s + b * k), 0.5 * (a * k - b * s)
        reach, reach_rate = 0.25 * a * k - 0.5 * b * s, -0.25 * a * s - 0.5 * b * k
        moment = -2.0 * c.turning_stiffness * angle - c.stiffness * lever * stretch - weight * reach
        slope = -2.0 * c.turning_stiffness - weight * reach_rate
        slope -= c.stiffness * (lever_rate * stretch + lever * stretch_rate)
        return moment, slope

    @property
    def locked_in_friction(self) -> float:
        """λ_TA = −λ_TB [N] of the equilibrium without a push."""
        a, b = self.block.width, self.block.height
        return -self.coupling.stiffness * (a - a * cos(self.sag) + b * sin(self.sag))

    @property
    def share_of_a(self) -> float:
        """Part of a push that A takes while both feet stick: (b² c_T/2) / (2 c_R + b² c_T/2)."""
        return 0.5 * self.block.height**2 * self.coupling.stiffness / self._resistance

    @property
    def foot_stiffnesses(self) -> tuple[float, float]:
        """What A and B have of the common stiffness against a push, up to a factor: their shares."""
        return self.share_of_a, 1.0 - self.share_of_a

    def quasi_static_friction(self, force: Any) -> np.ndarray:
        """λ_TA, λ_TB (…, 2) [N] at pushes F [N] that grew slowly from 0, from sticking to sliding."""
        push = np.asarray(force, dtype=float)
        held = np.minimum(push, self.block.slip_force)
        limit = np.array(self.block.friction) * self.block.normal_forces(held, -held)
        first = self.locked_in_friction - self.share_of_a * held
        second = np.maximum(-held - first, -limit[..., 1])
        sticking = np.stack([-held - second, second], axis=-1)
        sliding = self.block.smallest_friction(np.maximum(push, self.block.slip_force))
        return np.where((push > self.block.slip_force)[..., None], sliding, sticking)

    @property
    def saturation_force_of_b(self) -> float:
        """Push [N] at which B is at its limit, −λ_TB = μ_B λ_NB."""
        mu, block = self.block.friction[1], self.block
        rest = 0.5 * mu * block.weight - self.locked_in_friction
        return rest / (1.0 - self.share_of_a - mu * block.height / block.width)

    @cached_property
    def angular_frequencies(self) -> np.ndarray:
        """Angular frequencies (3,) [rad/s] of the free halves against each other, rising."""
        c, inverse = self.coupling, np.array([1 / self.mass, 1 / self.mass, 1 / self.inertia])
        place = 0.25 * self.block.width
        stretch = np.array([[-1, 0, 0, 1, 0, 0], [0, -1, -place, 0, 1, -place], [0, 0, -1, 0, 0, 1]])
        springs = np.array([c.stiffness, c.stiffness, c.turning_stiffness])
        half = np.sqrt(springs)[:, None] * stretch * np.sqrt(np.tile(inverse, 2))
        return np.sqrt(np.linalg.eigvalsh(half @ half.T))

    @property
    def critical_step(self) -> float:
        """Largest stable step 2/ω [s] of explicit midpoint steps without damping."""
        return 2.0 / float(self.angular_frequencies[-1])
