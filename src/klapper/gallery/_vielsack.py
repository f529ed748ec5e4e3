"""Vielsack's shaken incline by numerical integration with switches: the other method, for comparison.

scipy's DOP853 from switch to switch; no closed form and no root finder of :mod:`klapper.analysis` is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.analysis.shaken_incline import History

PERIOD = 2.0 * pi
LAWS = ("none", "spring", "damper", "both", "arctan")
NAMES = {
    "none": "Coulomb",
    "spring": "spring",
    "damper": "damper",
    "both": "spring and damper",
    "arctan": "arctan",
}
COLOURS = {
    "none": "#333333",
    "spring": "#0072B2",
    "damper": "#D55E00",
    "both": "#009E73",
    "arctan": "#CC79A7",
}


@dataclass(frozen=True)
class Incline:
    """The shaken incline with one of its laws; ``eps`` is not used by "none"."""

    A: float
    B: float
    eps: float = 0.01
    regularisation: str = "none"

    def load(self, t: float) -> float:
        return self.A + self.B * sin(t)

    def force(self, v: float, z: float) -> float:
        """Contact force of the stick for the velocity v and the stretch z."""
        from math import atan

        spring, damper = z / self.eps, v / self.eps
        forces = {"spring": spring, "damper": damper, "both": spring + damper, "none": 0.0}
        return 2.0 / pi * atan(damper) if self.regularisation == "arctan" else forces[self.regularisation]


@dataclass(frozen=True)
class Integrated:
    """Distance covered; velocity, phase and stretch of the spring at the end."""

    distance: float
    velocity: float
    phase: int
    stretch: float


def integrate(
    incline: Incline,
    start: float,
    end: float,
    velocity: float,
    *,
    phase: int | None = None,
    stretch: float = 0.0,
    tolerance: float = 1e-12,
) -> Integrated:
    """The motion from τ = ``start`` to ``end``, which begins in ``phase`` (+1, −1 slip, 0 stick)."""
    law = incline.regularisation
    t, x, v, z = start, 0.0, velocity, stretch
    phase = _first_phase(incline, start, velocity) if phase is None else phase
    level = incline.eps if law == "damper" else 0.0
    while t < end:
        if phase != 0:
            t, moved, v, found = _stretch(incline, t, end, v, z, phase, tolerance)
            x += moved
            if found is None:
                break
            turning = law == "none" and phase * incline.load(t) < -1.0
            v, z = phase * level, phase * incline.eps
            phase = -phase if turning else 0
        elif law == "none":
            t, released = _release(incline, t, end)
            v, phase = 0.0, released
        else:
            t, moved, v, found = _stretch(incline, t, end, v, z, 0, tolerance)
            x, z = x + moved, z + moved
            if found is None:
                break
            phase = found
    return Integrated(x, v, phase, z)


def integrated_period(incline: Incline, motion: History, cycle: int = 1) -> Integrated:
    """``cycle`` periods from the state with which a stationary history begins."""
    velocity, force, phase = float(motion.velocity[0]), float(motion.force[0]), int(motion.phase[0])
    stretch = incline.eps * force - (velocity if incline.regularisation == "both" else 0.0)
    if incline.regularisation == "arctan":
        phase = 0
    return integrate(incline, 0.0, cycle * PERIOD, velocity, phase=phase, stretch=stretch)


def _first_phase(incline: Incline, t: float, v: float) -> int:
    law = incline.regularisation
    if law == "none" and v == 0.0:
        load = incline.load(t)
        return 0 if abs(load) <= 1.0 else int(copysign(1.0, load))
    if law == "arctan" or v == 0.0 or (law == "damper" and abs(v) < incline.eps):
        return 0
    return int(copysign(1.0, v))


def _stretch(
    incline: Incline, t: float, end: float, v: float, z: float, phase: int, tolerance: float
) -> tuple[float, float, float, int | None]:
    """One phase: its end, distance covered, velocity there, and the event (the side of the limit) or None."""
    from scipy.integrate import solve_ivp

    def rate(time: float, y: np.ndarray) -> list[float]:
        force = phase if phase else incline.force(y[1], z + y[0])
        return [y[1], incline.load(time) - force]

    events = [] if incline.regularisation == "arctan" else _events(incline, phase, z)
    soft = incline.eps if phase == 0 else 1.0
    solution = solve_ivp(
        rate,
        (t, end),
        [0.0, v],
        method="DOP853",
        events=events,
        rtol=tolerance,
        atol=tolerance * 0.1 * min(soft, 1.0),
        max_step=0.02,
    )
    found = None
    for number, times in enumerate(solution.t_events or []):
        if len(times):
            found = 0 if phase else (1, -1)[number]
    return float(solution.t[-1]), float(solution.y[0, -1]), float(solution.y[1, -1]), found


def _events(incline: Incline, phase: int, z: float) -> list[Callable[..., Any]]:
    level = incline.eps if incline.regularisation == "damper" else 0.0
    if phase:

        def stops(_: float, y: np.ndarray) -> float:
            return phase * y[1] - level

        return [_terminal(stops, -1.0)]

    def forwards(_: float, y: np.ndarray) -> float:
        return incline.force(y[1], z + y[0]) - 1.0

    def backwards(_: float, y: np.ndarray) -> float:
        return incline.force(y[1], z + y[0]) + 1.0

    return [_terminal(forwards, 1.0), _terminal(backwards, -1.0)]


def _terminal(event: Any, direction: float) -> Any:
    event.terminal, event.direction = True, direction
    return event


def _beyond(t: float, incline: Incline, side: int) -> float:
    """How far the load is beyond the limit of a side."""
    return side * incline.load(t) - 1.0


def _release(incline: Incline, t: float, end: float) -> tuple[float, int]:
    """The end of a stick under Coulomb's law: the first instant at which the load leaves [−1, 1]."""
    from scipy.optimize import brentq

    times = np.linspace(t, end, max(int(500 * (end - t)), 2))
    loads = incline.A + incline.B * np.sin(times)
    for side in (1, -1):
        outside = np.flatnonzero(side * loads[1:] > 1.0)
        if len(outside):
            k = int(outside[0])
            if side * loads[k] > 1.0 - 1e-14:
                return float(times[k]), side
            left, right = float(times[k]), float(times[k + 1])
            other = np.flatnonzero(-side * loads[1 : k + 1] > 1.0)
            if not len(other):
                return float(brentq(_beyond, left, right, args=(incline, side), xtol=1e-15)), side
    return end, 0
