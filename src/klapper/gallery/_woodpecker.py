"""The woodpecker toy as a mechanical system, and its motion cut at one angle of the bird.

Coordinates q = (y, φ_M, φ_S): height of the sleeve, angles of sleeve and bird, all small. Data of Glocker (1995).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem
    from klapper.results import Run

CONTACTS = ("beak", "lower edge", "upper edge")
START = (-0.2788, -7.4583, -0.3411)  # φ_S, φ̇_S, ẏ of the published simulations [rad, rad/s, m/s]
SETTLED = 0.02  # change of the speeds at the section from period to period, as a share of the greatest speed
MOST_SWINGS = 6  # of a period


@dataclass(frozen=True)
class Toy:
    """Masses [kg], inertias [kg m²] and lengths [m] of sleeve (M), bird (S) and pole, named as in the formulas."""

    m_M: float = 0.0003
    J_M: float = 5.0e-9
    m_S: float = 0.0045
    J_S: float = 7.0e-7
    c: float = 0.0056
    r_0: float = 0.0025
    r_M: float = 0.0031
    h_M: float = 0.0058
    l_M: float = 0.010
    l_G: float = 0.015
    h_S: float = 0.02
    l_S: float = 0.0201
    mu: float = 0.3
    restitution: float = 0.5
    gravity: float = 9.81

    @property
    def mass(self) -> np.ndarray:
        """M (3, 3)."""
        arms = np.array([1.0, self.l_M, self.l_G])  # how far the bird rises with y, φ_M and φ_S
        return np.diag([self.m_M, self.J_M, self.J_S]) + self.m_S * np.outer(arms, arms)

    @property
    def stiffness(self) -> np.ndarray:
        """K (3, 3) of the spring between sleeve and bird."""
        turn = np.array([0.0, 1.0, -1.0])
        return self.c * np.outer(turn, turn)

    @property
    def weight(self) -> np.ndarray:
        """f (3,)."""
        m = self.m_S
        return -self.gravity * np.array([self.m_M + m, m * self.l_M, m * self.l_G])

    @property
    def normals(self) -> np.ndarray:
        """Rows of J_Nᵀ (3, 3)."""
        return np.array([[0.0, 0.0, -self.h_S], [0.0, self.h_M, 0.0], [0.0, -self.h_M, 0.0]])

    @property
    def tangents(self) -> np.ndarray:
        """Rows of J_Tᵀ (3, 3): how fast the contact points move up."""
        return np.array([[1.0, self.l_M, self.l_G - self.l_S], [1.0, self.r_M, 0.0], [1.0, self.r_M, 0.0]])

    @property
    def gaps_at_zero(self) -> np.ndarray:
        """Gaps (3,) [m] for q = 0."""
        play = self.r_M - self.r_0
        return np.array([self.l_M + self.l_G - self.l_S - self.r_0, play, play])

    @property
    def restitutions(self) -> np.ndarray:
        return np.array([self.restitution, 0.0, 0.0])

    @property
    def hanging(self) -> float:
        """φ_S [rad] at which the bird is in equilibrium when the sleeve hangs on its lower edge."""
        return -(self.r_M - self.r_0) / self.h_M - self.m_S * self.gravity * self.l_G / self.c

    def system(self, bird_angle: float, bird_rate: float, speed: float) -> "LinearSystem":
        """Started with the sleeve on its lower edge."""
        from klapper.mechanics import Contact, LinearSystem

        contacts = [
            Contact(
                name, normal=normal, gap=gap, tangents=[tangent], friction=self.mu, restitution=restitution
            )
            for name, normal, gap, tangent, restitution in zip(
                CONTACTS, self.normals, self.gaps_at_zero, self.tangents, self.restitutions, strict=True
            )
        ]
        return LinearSystem(
            self.mass,
            stiffness=self.stiffness,
            force=self.weight,
            position=[0.0, -(self.r_M - self.r_0) / self.h_M, bird_angle],
            velocity=[speed, 0.0, bird_rate],
            contacts=contacts,
            coordinates=["y", "φ_M", "φ_S"],
            name="woodpecker toy",
        )


@dataclass(frozen=True)
class Cycles:
    """Where the bird passes the angle ``level`` [rad] downwards: n sections through the motion.

    ``time`` (n,) [s], ``position`` and ``velocity`` (n, 3), interpolated; ``sample`` (n,) just before.
    """

    run: "Run" = field(repr=False)
    level: float

    @cached_property
    def sample(self) -> np.ndarray:
        angle = self.run.coordinate("φ_S")
        return np.flatnonzero((angle[:-1] > self.level) & (angle[1:] <= self.level))

    @cached_property
    def _share(self) -> np.ndarray:
        """How far (n,) between two samples the section lies."""
        angle, k = self.run.coordinate("φ_S"), self.sample
        return (self.level - angle[k]) / (angle[k + 1] - angle[k])

    def _between(self, values: np.ndarray) -> np.ndarray:
        share = self._share.reshape(-1, *(1,) * (values.ndim - 1))
        return (1.0 - share) * values[self.sample] + share * values[self.sample + 1]

    @cached_property
    def time(self) -> np.ndarray:
        return self._between(self.run.time)

    @cached_property
    def position(self) -> np.ndarray:
        return self._between(self.run.position)

    @cached_property
    def velocity(self) -> np.ndarray:
        return self._between(self.run.velocity)

    def __len__(self) -> int:
        return len(self.sample)

    def change(self, swings: int) -> float:
        """Largest change of ẏ and φ̇_S from a section to the one so many ``swings`` later, among the last ones.

        As a share of the greatest speed of each; infinite if there are too few sections.
        """
        if len(self) < 2 * swings + 3:
            return np.inf
        last = self.velocity[-(2 * swings + 2) :, [0, 2]]
        greatest = np.abs(self.run.velocity[:, [0, 2]]).max(axis=0)
        return float((np.abs(last[swings:] - last[:-swings]) / np.where(greatest > 0.0, greatest, 1.0)).max())

    @cached_property
    def swings(self) -> int:
        """After how many swings the motion repeats; 0 if it does not (yet)."""
        return next((n for n in range(1, MOST_SWINGS + 1) if self.change(n) <= SETTLED), 0)

    @property
    def settled(self) -> bool:
        return self.swings > 0

    @property
    def averaged(self) -> slice:
        """The sections at the ends of whole periods, an even number of them where there are enough swings."""
        whole = min(len(self) - 1, 12) // self.swings
        return slice(-1 - self.swings * (whole - whole % 2 or whole), None)

    def per_period(self, values: np.ndarray) -> float:
        """Mean change of ``values`` (n,) over a period."""
        part = values[self.averaged]
        return float(self.swings * (part[-1] - part[0]) / (len(part) - 1))

    @property
    def speeds(self) -> np.ndarray:
        """ẏ and φ̇_S (swings, 2) at the sections of a period."""
        part = self.velocity[self.averaged][1:, [0, 2]]
        return part.reshape(-1, self.swings, 2).mean(axis=0)
