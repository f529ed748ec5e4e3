"""The mass on a moving belt: its cycle without the methods that are to be checked, and what a run shows of it.

While the mass lags behind the belt, friction falls with the sliding speed v:

    m ẍ + k x = λ,   μ(v) = μ_d + (μ_s − μ_d)/(1 + δ |v|)
"""

from dataclasses import dataclass
from functools import cached_property
from math import atan, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem
    from klapper.results import Run

MOST_PASSES = 20
FASTER = 20.0  # than the spring: the contact of the regularised method


@dataclass(frozen=True)
class Cycle:
    """One period: its duration, how long the mass slips in it [s], and where it is caught by the belt [m]."""

    period: float
    slip: float
    caught: float

    @property
    def stick(self) -> float:
        return self.period - self.slip


@dataclass(frozen=True)
class Belt:
    """The parameters, and what is known about the motion without the methods that are to be checked."""

    mass: float
    stiffness: float
    normal_force: float
    mu_static: float
    mu_dynamic: float
    delta: float
    speed: float

    @property
    def frequency(self) -> float:
        """ω [rad/s] without friction."""
        return sqrt(self.stiffness / self.mass)

    @property
    def constant(self) -> bool:
        """Whether friction does not depend on the sliding speed."""
        return self.delta == 0.0 or self.mu_static == self.mu_dynamic

    def coefficient(self, speed: Any) -> Any:
        """μ at a sliding speed [m/s]."""
        return self.mu_dynamic + (self.mu_static - self.mu_dynamic) / (1.0 + self.delta * np.abs(speed))

    @property
    def slip_position(self) -> float:
        """x_s [m], at which the spring overcomes static friction."""
        return self.mu_static * self.normal_force / self.stiffness

    @property
    def steady_position(self) -> float:
        """Displacement [m] in steady sliding."""
        return float(self.coefficient(self.speed)) * self.normal_force / self.stiffness

    @property
    def onset(self) -> float:
        """Rate r [1/s] with which falling friction makes the first sliding grow."""
        return self.delta * (self.mu_static - self.mu_dynamic) * self.normal_force / self.mass

    @property
    def longest(self) -> float:
        """Bound [s] of a period: one free oscillation and sticking all the way from −x_s to x_s."""
        return 2 * pi / self.frequency + 2 * self.slip_position / self.speed

    @property
    def sharp(self) -> Cycle:
        """The cycle for δ → ∞: static and dynamic friction, nothing in between."""
        drop = (self.mu_static - self.mu_dynamic) * self.normal_force / self.stiffness
        slip = 2 / self.frequency * (pi - atan(self.frequency * drop / self.speed))
        return Cycle(slip + 2 * drop / self.speed, slip, self.slip_position - 2 * drop)

    @cached_property
    def cycle(self) -> Cycle | None:
        """The cycle by integrating the slip on its own; in closed form for constant friction.

        None if the mass passes the speed of the belt again and again without being caught, which needs friction that
        falls to almost nothing.
        """
        if self.constant:
            around = 2 * pi / self.frequency
            return Cycle(around, around, self.slip_position)
        x, slip, side = self.slip_position, 0.0, -1.0
        for _ in range(MOST_PASSES):
            x, duration = self._slide(x, side)
            slip += duration
            if abs(x) <= self.slip_position:
                return Cycle(slip + (self.slip_position - x) / self.speed, slip, x)
            side = -side
        return None

    def _slide(self, x: float, side: float) -> tuple[float, float]:
        """Where [m] and when [s] the mass has the belt's speed again that leaves it at x to one side (±1).

        Integrated in ω t up to the next extreme of the velocity, which lies beyond; from there back to the speed of the
        belt, so that even the shortest touch is found.
        """
        from scipy.integrate import solve_ivp
        from scipy.optimize import brentq

        ω, reach = self.frequency, self.speed / self.frequency

        def rate(_: float, y: np.ndarray) -> list[float]:  # y = (x, (ẋ − V)/ω)
            friction = -side * float(self.coefficient(ω * y[1])) * self.normal_force / self.stiffness
            return [y[1] + reach, friction - y[0]]

        def extreme(_: float, y: np.ndarray) -> float:
            return rate(_, y)[1]

        extreme.terminal, extreme.direction = True, side  # type: ignore[attr-defined]
        options: dict[str, Any] = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14 * max(abs(x), reach)}
        begin = solve_ivp(rate, (0.0, 1e-3), [x, 0.0], **options)
        slide = solve_ivp(rate, (1e-3, 4 * pi), begin.y[:, -1], events=extreme, dense_output=True, **options)
        fastest, trough = float(slide.t[-1]), float(slide.t[np.argmin(-side * slide.y[1])])
        if side * slide.y[1, -1] >= 0.0:
            return float(slide.y[0, -1]), fastest / ω
        time = float(brentq(lambda t: slide.sol(t)[1], trough, fastest, xtol=1e-14))
        for _ in range(2):  # the dense output is less exact than the steps
            y = solve_ivp(rate, (1e-3, time), begin.y[:, -1], **options).y[:, -1]
            time -= y[1] / rate(time, y)[1]
        return float(y[0] - y[1] / rate(time, y)[1] * reach), float(time) / ω

    def system(self) -> "LinearSystem":
        """Put on the belt with a relaxed spring and carried along; the second coordinate is pressed down."""
        from klapper.mechanics import Contact, LinearSystem
        from klapper.mechanics.friction import Stribeck

        law = self.mu_static if self.constant else Stribeck(self.mu_static, self.mu_dynamic, 1.0 / self.delta)
        belt = Contact(
            "belt", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], tangential_rate=-self.speed, friction=law
        )
        return LinearSystem(
            [self.mass, self.mass],
            stiffness=[self.stiffness, 0.0],
            force=[0.0, -self.normal_force],
            velocity=[self.speed, 0.0],
            contacts=[belt],
            coordinates=["displacement", "lift"],
            name="mass on a belt",
        )

    def compliance(self) -> dict[str, Any]:
        """For the regularised method: a contact much faster than the spring, critically damped."""
        from klapper.mechanics.compliance import CompliantNormal

        fast = FASTER * self.frequency
        return {"normal": CompliantNormal(self.mass * fast**2, 2 * self.mass * fast), "method": "dop853"}


@dataclass(frozen=True)
class Motion:
    """What a run shows of the cycle: its kind in words, and period and duration of slip of the last one [s]."""

    kind: str
    period: float
    slip: float
    switches: np.ndarray

    @classmethod
    def of(cls, belt: Belt, run: "Run") -> "Motion":
        """From one beginning of slip to the next; without sticking from one pass of steady sliding to the next."""
        from klapper.contact_states import SLIP, STICK
        from klapper.gallery._run import switching_times

        times, states = switching_times(run, "belt")
        slips, sticks = times[states == SLIP], times[states == STICK]
        if len(slips) > 1 and len(sticks):
            begin, end = slips[-2:]
            held = end - sticks[(sticks > begin) & (sticks < end)]
            slip = end - begin - (held[0] if len(held) else 0.0)
            return cls("stick-slip", end - begin, slip, times[times >= slips[0]])
        passes = _passes(run, belt.steady_position)
        if len(passes) < 2:
            return cls("steady sliding", float("nan"), float("nan"), times)
        around = passes[-1] - passes[-2]
        return cls("sliding vibration without sticking", around, around, times)


def _passes(run: "Run", place: float) -> np.ndarray:
    """Times [s] at which the mass passes ``place`` on its way back.

    By polynomials of degree 7 that meet positions and velocities of the four samples around.
    """
    from scipy.interpolate import KroghInterpolator
    from scipy.optimize import brentq

    x, v, time = run.coordinate("displacement") - place, run.speed("displacement"), run.time
    distinct = np.flatnonzero(np.diff(time, prepend=-np.inf) > 0.0)
    x, v, time = x[distinct], v[distinct], time[distinct]
    found = np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0) & (v[:-1] < 0.0))
    passes = []
    for j in found[(found > 0) & (found + 2 < len(x))]:
        around = np.arange(j - 1, j + 3)
        given = np.stack([x[around], v[around]], axis=1).ravel()
        course = KroghInterpolator(np.repeat(time[around] - time[j], 2), given)
        passes.append(time[j] + brentq(course, 0.0, time[j + 1] - time[j], xtol=1e-15))
    return np.array(passes)
