"""The disc in a rough wedge, which three examples share: its forces at rest and turning, in closed form.

It locks itself, and its moment is above the critical one, where

    tan φ > 1/μ,   φ = (π − α)/2                                 (5.15)
    |M| > M₀ = r f μ / (cos φ (1 + μ²))                          (5.16)

Waltersberger (2007), section 5.1.4.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    pass

MARGIN = 1e-6  # relative distance from (5.15), (5.16) below which the closed forms decide by round-off


@dataclass(frozen=True)
class Disc:
    """The parameters of the example and what follows from them in closed form."""

    mu: float
    alpha: float
    moment_ratio: float
    force: float
    radius: float
    mass: float

    @property
    def phi(self) -> float:
        return (np.pi - self.alpha) / 2

    @property
    def critical_moment(self) -> float:
        """M₀ of (5.16) [N m]."""
        return float(self.radius * self.force * self.mu / (np.cos(self.phi) * (1 + self.mu**2)))

    @property
    def moment(self) -> float:
        return self.moment_ratio * self.critical_moment

    @property
    def inertia(self) -> float:
        return self.mass * self.radius**2 / 2

    @property
    def self_locking(self) -> bool:
        """(5.15): the line through both contacts lies inside both friction cones."""
        return bool(self.mu * np.tan(self.phi) > 1)

    @property
    def both_walls_press(self) -> bool:
        """Whether a disc that turns in place keeps both contacts; otherwise it climbs a wall."""
        return bool(np.tan(self.phi) >= self.mu)

    @property
    def turning_acceleration(self) -> float:
        return float(np.sign(self.moment) * (abs(self.moment) - self.critical_moment) / self.inertia)

    def turning_forces(self) -> np.ndarray:
        """Normal and tangential forces (4,) of both walls while the disc turns in place [N]."""
        total = self.force / (np.cos(self.phi) * (1 + self.mu**2))
        sense = np.sign(self.moment)
        half_difference = sense * self.mu * total / np.tan(self.phi) / 2
        first, second = total / 2 - half_difference, total / 2 + half_difference
        return np.array([first, -sense * self.mu * first, second, sense * self.mu * second])

    def resting_forces(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Least and greatest wall forces (4,) of rest [N], or None: three equations, four forces, a line of
        solutions.

        The line is x₀ + t (1, −k, 1, −k), k = tan(α/2), with t the normal force of wall 2; every |λ_T| ≤ μ
        λ_N cuts it."""
        c, s, k = np.cos(self.alpha), np.sin(self.alpha), np.tan(self.alpha / 2)
        lever = self.moment / self.radius
        first = (self.force * np.cos(self.alpha / 2) - lever * c) / (1 + c)
        start = np.array(
            [self.force * np.sin(self.alpha / 2) - (first + lever) * s, first, 0.0, first + lever]
        )
        line = np.array([1.0, -k, 1.0, -k])
        cuts = np.array([[self.mu, -1, 0, 0], [self.mu, 1, 0, 0], [0, 0, self.mu, -1], [0, 0, self.mu, 1]])
        slopes, offsets = cuts @ line, cuts @ start
        with np.errstate(divide="ignore"):
            ends = -offsets / slopes
        low = ends[slopes > 0].max(initial=0.0)
        high = ends[slopes < 0].min(initial=np.inf)
        if low > high:
            return None
        both = np.array([start + low * line, start + high * line])
        return both.min(axis=0), both.max(axis=0)

    @property
    def certain(self) -> bool:
        """Whether the parameters keep away from the borders of the closed forms."""
        borders = (self.mu * np.tan(self.phi), abs(self.moment_ratio), np.tan(self.phi) / self.mu)
        return all(abs(border - 1) > MARGIN for border in borders)
