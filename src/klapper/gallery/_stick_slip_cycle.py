"""The mass on spring and damper that a belt drags: its slip by integration, and steady sliding in closed form.

    m ẍ + c ẋ + k x = λ,   μ(v) = μ_d + (μ_s − μ_d)/(1 + v/v_s),   V_H = v_s (√((μ_s − μ_d) N/(c v_s)) − 1)

Above the belt speed V_H steady sliding is stable.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem


@dataclass(frozen=True)
class Drag:
    """The parameters, and what is known about the motion by other means."""

    mass: float
    stiffness: float
    damping: float
    normal_force: float
    mu_static: float
    mu_dynamic: float
    falling_speed: float
    belt_speed: float

    @property
    def frequency(self) -> float:
        """ω₀ [rad/s]."""
        return sqrt(self.stiffness / self.mass)

    def coefficient(self, speed: Any) -> Any:
        fall = 1.0 + np.abs(speed) / self.falling_speed
        return self.mu_dynamic + (self.mu_static - self.mu_dynamic) / fall

    @property
    def release(self) -> float:
        """Where [m] the spring and the damper overcome static friction while the mass sticks."""
        return (self.mu_static * self.normal_force - self.damping * self.belt_speed) / self.stiffness

    @property
    def steady(self) -> float:
        """Displacement [m] in steady sliding."""
        return float(self.coefficient(self.belt_speed)) * self.normal_force / self.stiffness

    @property
    def hopf_speed(self) -> float:
        """V_H [m/s]; not above zero if sliding is always stable."""
        drop = (self.mu_static - self.mu_dynamic) * self.normal_force
        return self.falling_speed * (sqrt(drop / (self.damping * self.falling_speed)) - 1.0)

    def at(self, belt_speed: float) -> "Drag":
        return replace(self, belt_speed=float(belt_speed))

    @cached_property
    def slip(self) -> tuple[float, float, float]:
        """From the release on, by scipy: duration [s] of the slip and where [m] the belt catches the mass; and how far
        [m/s] its velocity rises above that of the belt, if friction went on as before. Below zero it is not caught."""
        from scipy.integrate import solve_ivp

        def rate(_: float, y: np.ndarray) -> list[float]:
            friction = float(self.coefficient(y[1])) * self.normal_force
            return [
                y[1] + self.belt_speed,
                (friction - self.damping * (y[1] + self.belt_speed) - self.stiffness * y[0]) / self.mass,
            ]

        def turning(t: float, y: np.ndarray) -> float:
            return rate(t, y)[1]

        def caught(t: float, y: np.ndarray) -> float:
            return float(y[1])

        turning.direction, turning.terminal = -1.0, True  # type: ignore[attr-defined]
        caught.direction = 1.0  # type: ignore[attr-defined]
        brief = 1e-3 / self.frequency
        options: dict[str, Any] = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}
        begin = solve_ivp(rate, (0.0, brief), [self.release, 0.0], **options).y[:, -1]
        long = (brief, 4.0 * np.pi / self.frequency)
        found = solve_ivp(rate, long, begin, events=[turning, caught], **options)
        above = float(found.y_events[0][0][1]) if len(found.y_events[0]) else -np.inf
        if len(found.t_events[1]) == 0:
            return np.nan, np.nan, above
        time = float(found.t_events[1][0])
        for _ in range(2):  # events are found on the dense output, which is less exact
            y = solve_ivp(rate, (brief, time), begin, **options).y[:, -1]
            time -= float(y[1]) / rate(time, y)[1]
        return time, float(y[0]), above

    @property
    def period(self) -> float:
        """Of the stick-slip cycle [s]; not a number if the mass is not caught."""
        duration, place, _ = self.slip
        return duration + (self.release - place) / self.belt_speed

    def last_caught(self, near: float) -> float:
        """Belt speed [m/s] near the given one up to which the mass is caught."""
        from scipy.optimize import brentq

        return float(brentq(lambda speed: self.at(speed).slip[2], 0.98 * near, 1.02 * near, xtol=1e-13))

    def system(self) -> "LinearSystem":
        """Carried along by the belt; the second coordinate is pressed down."""
        from klapper.mechanics import Contact, LinearSystem
        from klapper.mechanics.friction import Stribeck

        belt = Contact(
            "belt",
            normal=[0.0, 1.0],
            tangents=[[1.0, 0.0]],
            tangential_rate=-self.belt_speed,
            friction=Stribeck(self.mu_static, self.mu_dynamic, self.falling_speed),
        )
        return LinearSystem(
            [self.mass, self.mass],
            stiffness=[self.stiffness, 0.0],
            damping=[self.damping, 0.0],
            force=[0.0, -self.normal_force],
            position=[self.release - 0.2 * abs(self.release), 0.0],
            velocity=[self.belt_speed, 0.0],
            contacts=[belt],
            coordinates=["displacement", "lift"],
            name="mass on a belt",
        )
