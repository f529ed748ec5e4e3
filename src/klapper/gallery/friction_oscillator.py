"""Friction oscillator: a mass on a spring that dry friction brings to rest.

    m ẍ + k x = λ,   λ = −R sgn ẋ while it slides,   |λ| ≤ R while it stands

In closed form the mass swings about −R/k when it moves to the right and about R/k when it moves to the left: half
circles in the phase plane. Each half-swing takes π/ω and shortens the displacement by 2 R/k. The first turn within the
dead band |x| ≤ R/k is the last: there the spring cannot overcome friction, and the mass rests at once and for good,
in general not where the spring is relaxed.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import atan2, hypot, pi, sqrt
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.results import Run

MOST_TURNS = 2000
MOST_STEPS = 5_000_000
STIFFER = 1000.0  # stiffness of the stick element of regularised friction, relative to the spring
EDGE = 1e-14  # of the displacements: a turn so near to the edge of the dead band is on it


@dataclass(frozen=True)
class Swing:
    """One half-swing: from ``begin`` to ``end`` [s] about ``centre`` with ``amplitude`` [m].

    It ends at the ``turn`` [m]; ``phase`` is the angle [rad] left to it at the beginning, π unless it is the first.
    """

    begin: float
    end: float
    centre: float
    amplitude: float
    phase: float
    turn: float


@dataclass(frozen=True)
class Oscillator:
    """The parameters of the motion, and the motion in closed form."""

    mass: float
    stiffness: float
    threshold: float
    x0: float
    v0: float

    @property
    def frequency(self) -> float:
        """ω [rad/s]."""
        return sqrt(self.stiffness / self.mass)

    @property
    def band(self) -> float:
        """Half of the dead band R/k [m]."""
        return self.threshold / self.stiffness

    @property
    def reach(self) -> float:
        """Largest distance [m] from the middle of the first swing, which bounds all others."""
        return hypot(abs(self.x0) + self.band, self.v0 / self.frequency)

    @cached_property
    def swings(self) -> tuple[Swing, ...]:
        """All half-swings until the mass rests."""
        x, v, time = self.x0, self.v0, 0.0
        swings: list[Swing] = []
        while v != 0.0 or abs(x) > self.band + EDGE * self.reach:
            if len(swings) == MOST_TURNS:
                raise ParameterError(
                    f"threshold is {self.threshold:g} N, with which the mass would turn more than {MOST_TURNS} times; "
                    "take more friction or a smaller x0 and v0."
                )
            way = np.sign(v) or -np.sign(x)
            centre = float(-way * self.band)
            amplitude = hypot(x - centre, v / self.frequency)
            phase = atan2(abs(v) / self.frequency, float(way * (x - centre)))
            end = time + phase / self.frequency
            turn = float(centre + way * amplitude)
            swings.append(Swing(time, end, centre, amplitude, phase, turn))
            x, v, time = turn, 0.0, end
        return tuple(swings)

    @property
    def rest_time(self) -> float:
        return self.swings[-1].end if self.swings else 0.0

    @property
    def rest_position(self) -> float:
        return self.swings[-1].turn if self.swings else self.x0

    def displacement(self, time: np.ndarray) -> np.ndarray:
        """x (s,) [m] at times (s,)."""
        x = np.full(len(time), self.rest_position)
        for swing in self.swings:
            inside = (time >= swing.begin) & (time < swing.end)
            angle = self.frequency * (swing.end - time[inside])
            x[inside] = swing.centre + (swing.turn - swing.centre) * np.cos(angle)
        return x

    def system(self) -> "LinearSystem":
        from klapper.mechanics import FrictionElement, LinearSystem

        return LinearSystem(
            [self.mass],
            stiffness=[self.stiffness],
            contacts=[FrictionElement("floor", tangents=[[1.0]], limit=self.threshold)],
            position=[self.x0],
            velocity=[self.v0],
            coordinates=["displacement"],
            name="friction oscillator",
        )

    def stick_element(self) -> dict[str, Any]:
        """For the regularised method: friction with a stiff spring and a critical damper where the mass sticks."""
        from klapper.mechanics.compliance import CompliantNormal
        from klapper.mechanics.smooth_friction import StickElement

        spring = STIFFER * self.stiffness
        element = StickElement(spring, 2 * sqrt(spring * self.mass))
        return {"normal": CompliantNormal(1.0), "friction": element, "method": "dop853"}


@example("friction-oscillator", source="closed form; half circles in the phase plane (Lecornu 1906)")
def friction_oscillator(
    *,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N/m", above=0.0)] = 100.0,
    threshold: Annotated[float, Parameter("friction force", unit="N", above=0.0)] = 2.0,
    x0: Annotated[float, Parameter("displacement at the start", unit="m")] = 0.15,
    v0: Annotated[float, Parameter("velocity at the start", unit="m/s")] = 0.5,
    step: Annotated[float, Parameter("time step, or interval of output", unit="s", above=0.0)] = 5e-3,
    scheme: Annotated[SchemeName, Parameter("method")] = "event-driven",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named

    oscillator = Oscillator(mass, stiffness, threshold, x0, v0)
    until = oscillator.rest_time + pi / oscillator.frequency
    _require_step(oscillator, step, until, scheme)
    run = run_named(oscillator.system(), until, scheme, step, **oscillator.stick_element())
    displacement = run.coordinate("displacement")
    return Outcome(
        numbers={
            "rest_position": displacement[-1],
            "rest_time": _rest_time(run),
            "turns": len(oscillator.swings),
            "dead_band": oscillator.band,
            "energy_lost": run.ledger.friction[-1],
            "largest_displacement": np.abs(displacement).max(),
            "steps": run.about["steps"],
        },
        units={
            "rest_position": "m",
            "rest_time": "s",
            "turns": "(closed form)",
            "dead_band": "m to either side (closed form)",
            "energy_lost": "J",
            "largest_displacement": "m",
        },
        checks=[*_checks(oscillator, run, step, scheme), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "motion": partial(_draw_motion, oscillator=oscillator, run=run),
            "phase": partial(_draw_phase, oscillator=oscillator, run=run),
            **run_figures(run, "contact-states", "energy"),
        },
    )


def _require_step(oscillator: Oscillator, step: float, until: float, scheme: SchemeName) -> None:
    if scheme == "moreau" and until / step > MOST_STEPS:
        raise ParameterError(
            f"step must be at least {until / MOST_STEPS:.4g} s for a motion of {until:.4g} s."
        )
    if scheme == "moreau" and step > 0.2 / oscillator.frequency:
        raise ParameterError(
            f"step must be at most {0.2 / oscillator.frequency:.4g} s, a fifth of 1/ω, for time stepping; "
            f"it is {step:g} s."
        )


def _rest_time(run: "Run") -> float:
    """When [s] the mass sticks for good; not a number if it does not."""
    from klapper.contact_states import STICK
    from klapper.gallery._run import switching_times

    times, _ = switching_times(run, "floor")
    if run.state[-1, 0] != STICK:
        return float("nan")
    return float(times[-1]) if len(times) else float(run.time[0])


def _checks(oscillator: Oscillator, run: "Run", step: float, scheme: SchemeName) -> list[Check]:
    """Where and when the mass rests, and the energy that friction took: force times way."""
    place, when, source = _allowed(oscillator, step, scheme)
    ways = [abs(swing.turn - x) for swing, x in zip(oscillator.swings, _begins(oscillator), strict=True)]
    return [
        Check(
            "rest position",
            value=run.coordinate("displacement")[-1],
            expected=oscillator.rest_position,
            tolerance=place,
            source=source,
        ),
        Check(
            "rest time",
            value=_rest_time(run),
            expected=oscillator.rest_time,
            tolerance=when,
            source=source,
        ),
        Check(
            "energy lost",
            value=run.ledger.friction[-1],
            expected=oscillator.threshold * sum(ways),
            tolerance=(2 * len(ways) + 1) * oscillator.threshold * place,
            source="friction force times the way of all swings",
        ),
    ]


def _begins(oscillator: Oscillator) -> list[float]:
    return [oscillator.x0, *(swing.turn for swing in oscillator.swings[:-1])] if oscillator.swings else []


def _allowed(oscillator: Oscillator, step: float, scheme: SchemeName) -> tuple[float, float, str]:
    """Errors of the rest position [m] and of the rest time [s] that the method may have, and the source in words.

    Time stepping keeps the energy of a half-swing, and its frequency up to (ωh)²/12. A turn falls into a step, which
    ends at rest or in the next swing: up to two steps late, with a displacement that is wrong by ω² A h² or less. If
    then it is open on which side of the dead band's edge the mass turns, one more tiny half-swing may follow.
    """
    turns, ω = len(oscillator.swings), oscillator.frequency
    if scheme == "moreau":
        place = (turns + 1) * (ω * step) ** 2 * oscillator.reach
        when = 2 * (turns + 1) * step + (ω * step) ** 2 / 10 * oscillator.rest_time
        source = "closed form; bounds of the errors of time stepping"
    elif scheme == "regularised":
        place = (turns + 1) * 2 * oscillator.band / STIFFER
        when = (turns + 1) * 2 / (ω * sqrt(STIFFER))
        source = "closed form; every turn takes the displacement and the time in which the stick element is turned over"
    else:
        place = 1e-9 * oscillator.reach
        when = 1e-9 * (turns + 1) / ω
        source = "closed form"
    last = [abs(swing.turn) for swing in oscillator.swings[-2:]]
    if any(abs(x - oscillator.band) <= place for x in last):
        place, when = 3 * place, when + pi / ω
    return place, when, source


def _draw_motion(figure: "Figure", *, oscillator: Oscillator, run: "Run") -> None:
    """Displacement by the chosen method and in closed form, with the dead band (grey) and the difference of both."""
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.4, 4.8)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    time, x = run.time, run.coordinate("displacement")
    exact = oscillator.displacement(time)
    points = thinned(x)
    _dead_band(upper, oscillator)
    upper.plot(time[points], x[points], label=run.about["scheme"])
    upper.plot(time[points], exact[points], "--", color="#333333", linewidth=1.0, label="closed form")
    if oscillator.rest_time > 0.0:
        upper.axvline(oscillator.rest_time, color="#888888", linewidth=0.9, linestyle=":")
    upper.set(ylabel="displacement / m", xlim=(time[0], time[-1]))
    upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)
    points = thinned(x - exact)
    lower.plot(time[points], (x - exact)[points], color="#555555", linewidth=1.0)
    lower.set(xlabel="time / s", ylabel="difference / m")
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))


def _dead_band(axes: "Axes", oscillator: Oscillator) -> None:
    axes.axhspan(-oscillator.band, oscillator.band, color="#DDDDDD", linewidth=0, label="dead band")


def _draw_phase(figure: "Figure", *, oscillator: Oscillator, run: "Run") -> None:
    """Velocity over ω against displacement: half circles about the two edges of the dead band (crosses), until one ends
    inside it (square)."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE, YELLOW
    from klapper.results.thinning import thinned_curve

    figure.set_size_inches(5.6, 4.6)
    axes = figure.subplots()
    x, u = run.coordinate("displacement"), run.speed("displacement") / oscillator.frequency
    axes.plot(
        [-oscillator.band, oscillator.band], [0.0, 0.0], color="#BBBBBB", linewidth=5, label="dead band"
    )
    for swing in oscillator.swings:
        side = np.sign(swing.turn - swing.centre)
        angle = np.linspace(swing.phase, 0.0, 100)
        circle = swing.centre + side * swing.amplitude * np.cos(angle), side * swing.amplitude * np.sin(angle)
        first = swing is oscillator.swings[0]
        axes.plot(*circle, color=YELLOW, linewidth=4.0, alpha=0.5, label="half circles" if first else None)
    points = thinned_curve(x, u)
    axes.plot(x[points], u[points], color=BLUE, linewidth=1.3, label=run.about["scheme"])
    axes.plot([-oscillator.band, oscillator.band], [0.0, 0.0], "x", color=DARK)
    axes.plot(x[0], u[0], "o", color=GREEN, label="start")
    axes.plot(x[-1], u[-1], "s", color=ORANGE, label="rest")
    axes.set(xlabel="displacement / m", ylabel="velocity / ω / m", aspect="equal")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3, fontsize=9)
