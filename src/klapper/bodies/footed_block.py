"""A block on two feet and what is known about it in closed form. Seiwald 2.1, Table 5.1.

A homogeneous block of width a and height b stands with its lower corners A (left) and B (right) on a rough plane; a
force pushes at its upper right corner. While both feet are on the ground only the sum S of the friction forces is
seen in the motion, so the split between the feet is not determined by the rigid body:

    m ẍ = F + S,   λ_NB − λ_NA = (b/a) (F − S),   λ_NA + λ_NB = m g               from (2.1)-(2.3), φ̈ = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.arguments import number, numbers
from klapper.mechanics.errors import InvalidModel


@dataclass(frozen=True)
class FootedBlock:
    """A block on two feet.

    ``width``, ``height`` [m], ``mass`` [kg], ``inertia`` about the centre [kg m²] (None: homogeneous),
    ``friction`` coefficients of A and B, ``gravity`` [m/s²]

    With the same friction at both feet it slides at μ m g and tips at (a/b − μ) m g:

    >>> block = FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1), gravity=10.0)
    >>> block.slip_force, round(block.tipping_force, 9)
    (16.0, 304.0)
    """

    width: float
    height: float
    mass: float
    inertia: float | None = None
    friction: tuple[float, float] = (0.0, 0.0)
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for name, unit in (("width", "m"), ("height", "m"), ("mass", "kg")):
            number(getattr(self, name), f"the {name} of the block", f"numbers above 0, in {unit}", above=0.0)
        number(self.gravity, "gravity", "numbers from 0 on, in m/s²", at_least=0.0)
        friction = numbers(self.friction, "friction")
        if friction.shape != (2,) or not np.all(friction >= 0.0) or not np.all(np.isfinite(friction)):
            raise InvalidModel(
                f"friction is {self.friction!r}; allowed are two numbers from 0 on, of A and of B."
            )
        object.__setattr__(self, "friction", (float(friction[0]), float(friction[1])))
        if self.inertia is None:
            object.__setattr__(self, "inertia", self.mass * (self.width**2 + self.height**2) / 12.0)
        number(self.inertia, "the inertia of the block", "numbers above 0, in kg m²", above=0.0)

    @property
    def weight(self) -> float:
        """m g [N]."""
        return self.mass * self.gravity

    def normal_forces(self, force: Any, friction_sum: Any) -> np.ndarray:
        """λ_NA, λ_NB (…, 2) [N] with both feet on the ground, for pushes F and friction sums S [N]."""
        shift = 0.5 * self.height / self.width * (np.asarray(force) - np.asarray(friction_sum))
        return np.stack([0.5 * self.weight - shift, 0.5 * self.weight + shift], axis=-1)

    @property
    def slip_force(self) -> float:
        """Push [N] at which both feet are at their limits: μ_A λ_NA + μ_B λ_NB = F."""
        mu_a, mu_b = self.friction
        return 0.5 * (mu_a + mu_b) * self.weight / (1.0 + (mu_a - mu_b) * self.height / self.width)

    @property
    def equal_split_force(self) -> float:
        """Push [N] up to which both feet can carry the same friction force: F/2 = μ_A λ_NA."""
        mu = self.friction[0]
        return 0.5 * mu * self.weight / (0.5 + mu * self.height / self.width)

    @property
    def tipping_force(self) -> float:
        """Push [N] at which foot A of the sliding block lifts off, λ_NA = 0."""
        return (self.width / self.height - self.friction[1]) * self.weight

    def smallest_friction(self, force: Any) -> np.ndarray:
        """λ_TA, λ_TB (…, 2) [N] with the smallest sum of squares, for pushes F ≥ 0 [N] at rest or sliding.

        Equal shares; beyond :attr:`equal_split_force` A at its limit and B with the rest; both at their limits beyond
        :attr:`slip_force`.
        """
        push = np.asarray(force, dtype=float)
        held = np.minimum(push, self.slip_force)
        limit = np.array(self.friction) * self.normal_forces(held, -held)
        first = -np.minimum(0.5 * held, limit[..., 0])
        second = -np.minimum(held + first, limit[..., 1])
        sticking = np.stack([-held - second, second], axis=-1)
        return np.where((push > self.slip_force)[..., None], self._sliding(push), sticking)

    def _sliding(self, push: np.ndarray) -> np.ndarray:
        """Both at their limits while sliding to the right, S = −μ_A λ_NA − μ_B λ_NB."""
        mu = np.array(self.friction)
        tilt = 0.5 * self.height / self.width
        total = -(0.5 * self.weight * mu.sum() + tilt * push * (mu[1] - mu[0])) / (
            1.0 - tilt * (mu[1] - mu[0])
        )
        return -mu * self.normal_forces(push, total)

    def ramp_motion(self, rate: float, time: Any) -> tuple[np.ndarray, np.ndarray]:
        """Way [m] and speed [m/s] at times [s] under a push that grows from 0 with ``rate`` [N/s], equal feet.

        x = s (t − t*)³ / 6m,  v = s (t − t*)² / 2m from the start of sliding t* = μ m g / s on.
        """
        late = np.maximum(np.asarray(time, dtype=float) - self.slip_force / rate, 0.0)
        return rate * late**3 / (6.0 * self.mass), rate * late**2 / (2.0 * self.mass)
