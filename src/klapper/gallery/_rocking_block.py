"""The block that rocks on its lower corners: Housner's equation, its impacts, and its model with contacts.

With the half diagonal R, α = atan(w/h) and p² = 3 g/(4 R),

    φ̈ = −p² sin(α − φ) while φ > 0,     angular velocity after/before an impact  1 − 3/2 sin² α
"""

from dataclasses import dataclass
from functools import cached_property
from math import acos, acosh, atan2, cos, hypot, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import System


@dataclass(frozen=True)
class Block:
    """The parameters of the block, and what follows from them in closed form or by quadrature."""

    width: float
    height: float
    tilt: float
    mu: float
    mass: float
    gravity: float

    @property
    def alpha(self) -> float:
        """Angle [rad] between diagonal and side: the tilt at which the block would fall over."""
        return atan2(self.width, self.height)

    @property
    def radius(self) -> float:
        """Distance R [m] of the centre from a corner."""
        return 0.5 * hypot(self.width, self.height)

    @property
    def p(self) -> float:
        """√(3 g/(4 R)) [1/s]."""
        return sqrt(0.75 * self.gravity / self.radius)

    @property
    def first_tilt(self) -> float:
        """φ₀ [rad]."""
        return self.tilt * self.alpha

    @cached_property
    def speed_ratio(self) -> float:
        """Angular velocity after over before an impact; a wide block stays on both corners."""
        return max(1.0 - 1.5 * sin(self.alpha) ** 2, 0.0)

    def impact_speed(self, tilt: float) -> float:
        """Angular velocity [rad/s] with which a block comes down from a tilt [rad]."""
        return self.p * sqrt(2.0 * max(cos(self.alpha - tilt) - cos(self.alpha), 0.0))

    def next_tilt(self, energy_ratio: float) -> float:
        """Tilt [rad] that is reached with a part of the energy of the first one."""
        down = cos(self.alpha)
        return max(self.alpha - acos(down + energy_ratio * (cos(self.alpha - self.first_tilt) - down)), 0.0)

    def fall_time(self, tilt: float) -> float:
        """Time [s] from rest at a tilt [rad] down to the impact: a quarter of a swing to and fro."""
        from scipy.integrate import quad

        begin = self.alpha - tilt

        def rate(u: float) -> float:  # θ = α − φ from its start, θ − θ₀ = u²
            return u / sqrt(sin(begin + 0.5 * u**2) * sin(0.5 * u**2)) if u > 0.0 else sqrt(2.0 / sin(begin))

        return float(quad(rate, 0.0, sqrt(tilt))[0]) / self.p

    @property
    def slender_fall_time(self) -> float:
        """The same [s] by Housner's formula for slender blocks."""
        return acosh(1.0 / (1.0 - self.tilt)) / self.p

    @cached_property
    def friction_needed(self) -> float:
        """Greatest ratio of horizontal to vertical force, or impulse, while the block rocks without sliding."""
        theta = np.linspace(self.alpha - self.first_tilt, self.alpha, 400)
        fallen = 2.0 * (cos(theta[0]) - np.cos(theta))
        across = 0.75 * np.sin(theta) * (np.cos(theta) - fallen)
        upward = 1.0 - 0.75 * (np.sin(theta) ** 2 + fallen * np.cos(theta))
        ratio = 1.0 - 1.5 * sin(self.alpha) ** 2
        blow = (1.0 - ratio) / (1.0 + ratio) if ratio > 0.0 else 1.0
        return float(max(np.max(np.abs(across) / upward), blow / np.tan(self.alpha)))

    def lost_by_step(self, step: float) -> float:
        """Bound for the error of the energy ratio: what the weight does in two steps to a block that turns, and to one
        that falls, in units of the energy before the first impact."""
        turn, fall = self._step_errors
        return turn * step * (1.0 + fall * step)

    @property
    def longest_step(self) -> float:
        """Step [s] with 50 steps to the first impact, and an error of at most 0.2 in the energy ratio."""
        turn, fall = self._step_errors
        return min(self.fall_time(self.first_tilt) / 50, (sqrt(1.0 + 0.8 * fall / turn) - 1.0) / (2.0 * fall))

    def late(self, step: float) -> float:
        """Bound [s] for the error of the first impact's time: two steps, and the time by which a fall shortens them."""
        return 2.0 * step + self._step_errors[1] * step**2

    @property
    def _step_errors(self) -> tuple[float, float]:
        """[1/s]: relative change of energy by turning, and by falling instead of turning, per step size."""
        speed = self.impact_speed(self.first_tilt)
        return 8.0 * self.p**2 * sin(self.alpha) / speed, 2.0 * self.gravity / (self.width * speed)

    def rates(self, time: float, state: np.ndarray) -> list[float]:
        """φ̇, φ̈ of Housner's equation for φ > 0."""
        return [state[1], -(self.p**2) * sin(self.alpha - state[0])]

    def first_fall(self, times: np.ndarray) -> np.ndarray:
        """Tilts (s,) [rad] at rising times (s,) [s] before the first impact, by a Runge–Kutta method."""
        from scipy.integrate import solve_ivp

        start, end = [self.first_tilt, 0.0], float(times[-1])
        found = solve_ivp(self.rates, (0.0, end), start, t_eval=times, rtol=1e-10, atol=1e-12)
        return np.asarray(found.y[0])

    def motion(self, until: float) -> tuple[np.ndarray, np.ndarray]:
        """Times (s,) [s] and tilts (s,) [rad] of Housner's block, up to 100 impacts."""
        from scipy.integrate import solve_ivp

        def height(time: float, state: np.ndarray) -> float:
            return float(state[0])

        height.terminal, height.direction = True, -1  # type: ignore[attr-defined]
        begin, state, side = 0.0, [self.first_tilt, 0.0], 1.0
        times, tilts = [], []
        for _ in range(100):
            found = solve_ivp(
                self.rates, (begin, until), state, events=height, rtol=1e-9, max_step=0.02 * until
            )
            times.append(found.t)
            tilts.append(side * found.y[0])
            speed = -self.speed_ratio * found.y[1, -1]
            if found.status == 0:
                break
            if speed <= 1e-6 * self.p:
                times.append(np.array([until]))
                tilts.append(np.zeros(1))
                break
            begin, state, side = float(found.t[-1]), [0.0, speed], -side
        return np.concatenate(times), np.concatenate(tilts)

    def system(self) -> "System":
        from klapper.bodies import Planar
        from klapper.bodies.inertia import rectangle

        turn = np.array(
            [[cos(self.first_tilt), -sin(self.first_tilt)], [sin(self.first_tilt), cos(self.first_tilt)]]
        )
        half = 0.5 * np.array([self.width, self.height])
        model = Planar(gravity=(0.0, -self.gravity), name="rocking block")
        block = model.body(
            "block",
            mass=self.mass,
            inertia=rectangle(self.mass, self.width, self.height),
            at=np.array([-half[0], 0.0]) + turn @ half,
            angle=self.first_tilt,
        )
        floor = model.wall("floor", normal=(0.0, 1.0))
        left, right = block.corners(self.width, self.height)[:2]
        model.contact(left, floor, friction=self.mu, name="left corner")
        model.contact(right, floor, friction=self.mu, name="right corner")
        return model.build()
