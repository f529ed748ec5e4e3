"""Bouncing ball: impacts that come ever faster until the ball lies still.

A ball falls from the height H and loses a part of its speed at every impact. In closed form impact k happens at

    t_k = t₁ (1 + 2 (ε + ε² + … + ε^(k−1))),   t₁ = √(2 H / g),   rebound height  ε^(2k) H

and for ε < 1 the infinitely many impacts end at t∞ = t₁ (1 + ε)/(1 − ε). Time stepping passes this point without
counting: free flight is exact, an impact is seen up to half a step early or late, and the errors that follow from this
have strict bounds. Methods that locate events are exact up to t∞, where they see impacts accumulate and close the
contact.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf, log, sqrt
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.results import Run

SHOWN = 20  # impacts among the numbers


@dataclass(frozen=True)
class Flight:
    """One flight in closed form, and between which bounds time stepping must find it.

    ``begin``, ``end``  [s]; ``begins`` and ``ends`` are the bounds for the middle of the steps with the impacts
    ``speed``           [m/s] at floor level; with its bounds ``speeds``
    ``crossings``       bounds [s] for the time at which the parabola leaves the floor level
    ``impact_speeds``   bounds [m/s] for the impact that ends the flight
    """

    begin: float
    begins: tuple[float, float]
    end: float
    ends: tuple[float, float]
    speed: float
    speeds: tuple[float, float]
    crossings: tuple[float, float]
    impact_speeds: tuple[float, float]


@dataclass(frozen=True)
class Ball:
    """The parameters that decide the motion, and what follows from them in closed form."""

    height: float
    restitution: float
    gravity: float

    @property
    def fall(self) -> float:
        """Duration [s] of the first fall."""
        return sqrt(2 * self.height / self.gravity)

    @property
    def rest(self) -> float:
        """Time [s] from which the ball lies still; infinite if it never does."""
        e = self.restitution
        return self.fall * (1 + e) / (1 - e) if e < 1 else inf

    def heights(self, time: np.ndarray) -> np.ndarray:
        """Height (s,) [m] in closed form at times (s,)."""
        g, e, fall = self.gravity, self.restitution, self.fall
        heights = np.where(time <= fall, self.height - 0.5 * g * time**2, 0.0)
        if e == 0.0:
            return heights
        flies = (time > fall) & (time < self.rest)
        since = time[flies] - fall
        if e == 1.0:
            number = np.floor(since / (2 * fall))  # of flights before
            back = 2 * fall * number
        else:  # their durations are a geometric series
            share = np.minimum(since * (1 - e) / (2 * fall * e), 1 - 1e-15)
            number = np.floor(np.log1p(-share) / log(e))
            back = -2 * fall * e * np.expm1(number * log(e)) / (1 - e)
        speed = g * fall * e ** (number + 1)
        heights[flies] = (since - back) * (speed - 0.5 * g * (since - back))
        return heights


@example("bouncing-ball", source="closed form; scheme of Moreau (1988)")
def bouncing_ball(
    *,
    height: Annotated[float, Parameter("height of the ball at the start", unit="m", above=0.0)] = 1.0,
    restitution: Annotated[
        float, Parameter("speed after an impact over speed before", at_least=0.0, at_most=1.0)
    ] = 0.8,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-3,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 5.0,
    scheme: Annotated[SchemeName, Parameter("method")] = "moreau",
) -> Outcome:
    from klapper.contact_states import IMPACT
    from klapper.gallery._run import impact_time, ledger_check, run_audit, run_figures, run_named
    from klapper.mechanics import Contact, LinearSystem

    ball = Ball(height, restitution, gravity)
    floor = Contact("floor", normal=[1.0], restitution=restitution)
    system = LinearSystem(
        [1.0],
        force=[-gravity],
        position=[height],
        contacts=[floor],
        coordinates=["height"],
        name="bouncing ball",
    )
    run = run_named(system, until, scheme, step)
    course, hits = run.coordinate("height"), np.flatnonzero(run.state[:, 0] == IMPACT)
    return Outcome(
        numbers={
            "final_height": course[-1],
            "minimum_height": course.min(),
            "final_speed": run.speed("height")[-1],
            "time": run.time[-1],
            "impacts": len(hits),
            "first_impact_times": [impact_time(run, hit, step) for hit in hits[:SHOWN]],
            "rest_time": ball.rest,
            "energy_lost": run.ledger.impact[-1] / run.ledger.potential[0],
        },
        units={
            "final_height": "m",
            "minimum_height": "m",
            "final_speed": "m/s",
            "time": "s",
            "first_impact_times": "s (of time stepping: middle of the step)",
            "rest_time": "s (closed form)",
            "energy_lost": "of the energy at the start",
        },
        checks=[
            *(_checks(ball, run, hits, step) if scheme == "moreau" else _exact_checks(ball, run, hits)),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={"motion": partial(_draw, ball=ball, run=run), **run_figures(run)},
    )


def _flights(ball: Ball, step: float, interval: float, until: float) -> list[Flight]:
    """The flights up to ``until`` that are long against the ``interval`` of samples, with bounds for Moreau's scheme.

    An impact is taken in the first step with q + h v/2 ≤ 0, so at a height |q| ≤ h |v|/2; then q⁺ = q − h (1 − ε) |v|/2
    and v⁺ = ε |v|. With E = v²/2 + g q this bounds v, and E⁺ = ε² E + g ((1 − ε²) q − h (1 − ε) |v|/2). The middle of
    the step is never before the parabola meets the floor, and less than 3 h/2 after it.
    """
    g, e = ball.gravity, ball.restitution
    speed = g * ball.fall
    low = high = g * ball.height  # bounds of E
    end, ends = ball.fall, (ball.fall, ball.fall + 1.5 * step)
    slow, fast = _impact_speeds(low, high, g * step)
    flights = [Flight(0.0, (0.0, 0.0), end, ends, speed, (speed, speed), (-end, -end), (slow, fast))]
    while ends[0] < until:
        error = 0.5 * g * step * fast * (1 - e)
        low, high = e**2 * low - (2 + e) * error, e**2 * high + e * error
        if low <= 2 * (g * interval) ** 2:
            break
        speeds = (sqrt(2 * low), sqrt(2 * high))
        begin, begins, speed = end, ends, e * speed
        crossings = (
            begins[0] + 0.5 * step + (e * slow - speeds[1]) / g,
            begins[1] + 0.5 * step + (e * fast - speeds[0]) / g,
        )
        end += 2 * speed / g
        ends = (crossings[0] + 2 * speeds[0] / g, crossings[1] + 2 * speeds[1] / g + 1.5 * step)
        slow, fast = _impact_speeds(low, high, g * step)
        flights.append(Flight(begin, begins, end, ends, speed, speeds, crossings, (slow, fast)))
    return flights


def _impact_speeds(low: float, high: float, change: float) -> tuple[float, float]:
    """Roots of v²/2 = low − change v/2 and v²/2 = high + change v/2 [m/s]."""
    half = 0.5 * change
    return sqrt(half**2 + 2 * low) - half, sqrt(half**2 + 2 * high) + half


def _possible_heights(
    ball: Ball, flights: list[Flight], step: float, time: float, settled: tuple[float, float]
) -> tuple[float, float]:
    """Between which heights [m] time stepping may find the ball; ``settled`` are those after the last flight."""
    g, found = ball.gravity, []
    for number, flight in enumerate(flights):
        if not flight.begins[0] <= time <= flight.ends[1]:
            continue
        if number == 0:
            found.append(ball.height - 0.5 * g * time**2)
            continue
        slow, fast = flight.speeds
        start_speed = ball.restitution * flights[number - 1].impact_speeds[1]
        first = max(time - flight.crossings[1], (slow - start_speed) / g)
        last = min(time - flight.crossings[0], 2 * fast / g + step)
        found += [s * (v - 0.5 * g * s) for s in (first, last) for v in flight.speeds]
        if first < fast / g < last:
            found.append(0.5 * fast**2 / g)
    if time >= flights[-1].ends[0]:
        found.extend(settled)
    return min(found), max(found)


def _settled_heights(ball: Ball, last: Flight, step: float) -> tuple[float, float]:
    """Between which heights [m] the ball stays after the ``last`` flight.

    Impacts only take energy. What a closed contact gives back to a ball slower than g h lifts it by less than g h².
    """
    g, e, fast = ball.gravity, ball.restitution, last.impact_speeds[1]
    energy = 0.5 * (e * last.speeds[1]) ** 2 + 0.5 * e * (1 - e) * g * step * fast
    return -step * max(fast, 2 * g * step), max(energy / g, g * step**2)


def _checks(ball: Ball, run: "Run", hits: np.ndarray, step: float) -> list[Check]:
    g, time, course = ball.gravity, run.time, run.coordinate("height")
    interval = float(time[1] - time[0])
    flights = _flights(ball, step, interval, float(time[-1]))
    settled = _settled_heights(ball, flights[-1], step)
    fast = max(*(flight.impact_speeds[1] for flight in flights), 2 * g * step)
    low, high = _possible_heights(ball, flights, step, float(time[-1]), settled)
    exact = float(ball.heights(time[-1:])[0])
    small = 1e-9 * ball.height
    strict = "closed form; strict bounds of the scheme's errors"
    return [
        *_impact_checks(ball, run, flights, hits, step, interval),
        Check(
            "final height",
            value=course[-1],
            expected=exact,
            tolerance=max(high - exact, exact - low) + small,
            source=strict,
        ),
        Check(
            "deepest penetration",
            value=max(-course.min(), 0.0),
            at_least=0.0,
            at_most=step * (1 - 0.5 * ball.restitution) * fast + small,
            source="step times (1 − ε/2) times the greatest impact speed",
        ),
    ]


def _exact_checks(ball: Ball, run: "Run", hits: np.ndarray) -> list[Check]:
    """The motion of methods that locate impacts, to round-off that grows from flight to flight."""
    e, end = ball.restitution, float(run.time[-1])
    expected = [ball.fall]
    while len(expected) < SHOWN and e ** len(expected) > 1e-4:
        expected.append(expected[-1] + 2 * ball.fall * e ** len(expected))
    expected = [time for time in expected if time < end]
    course = run.coordinate("height")
    source = "closed form; round-off"
    checks = [
        Check(
            "height, largest error",
            value=np.abs(course - ball.heights(run.time)).max(),
            expected=0.0,
            tolerance=1e-8 * ball.height,
            source=source,
        ),
        Check(
            "deepest penetration",
            value=max(-course.min(), 0.0),
            expected=0.0,
            tolerance=1e-9 * ball.height,
            source="impacts are located to round-off",
        ),
    ]
    if expected:
        times = run.time[hits[: len(expected)]]
        tolerance = 1e-9 * ball.fall
        checks.append(
            Check("impact times", value=times, expected=expected, tolerance=tolerance, source=source)
        )
    return checks


def _impact_checks(
    ball: Ball, run: "Run", flights: list[Flight], hits: np.ndarray, step: float, interval: float
) -> list[Check]:
    """Times of the first impacts and heights of the first rebounds that have certainly happened."""
    g, over = ball.gravity, float(run.time[-1]) - interval
    sure = [f for f in flights if f.ends[1] < over and f.impact_speeds[0] > 2 * g * step][:SHOWN]
    if not sure:
        return []
    times = run.time[hits[: len(sure)]] - 0.5 * step
    course = run.coordinate("height")
    tops = [course[a:b].max() for a, b in pairwise(hits[: len(sure)])]
    rounding = 1e-9 * (ball.fall + sure[-1].end)
    checks = [
        Check(
            "impact times",
            value=times,
            expected=[flight.end for flight in sure],
            tolerance=[max(f.ends[1] - f.end, f.end - f.ends[0]) + interval - step + rounding for f in sure],
            source="closed form; strict bounds of the scheme's errors",
        )
    ]
    if tops:
        risen = [0.5 * flight.speed**2 / g for flight in sure[1:]]
        bounds = [(0.5 * f.speeds[0] ** 2 / g, 0.5 * f.speeds[1] ** 2 / g) for f in sure[1:]]
        missed = 0.125 * g * interval**2 + 1e-9 * ball.height
        checks.append(
            Check(
                "rebound heights",
                value=tops,
                expected=risen,
                tolerance=[max(r - a, b - r) + missed for r, (a, b) in zip(risen, bounds, strict=True)],
                source="closed form; strict bounds of the scheme's errors",
            )
        )
    return checks


def _draw(figure: "Figure", *, ball: Ball, run: "Run") -> None:
    """Height of the ball by the chosen method and in closed form, and the difference of both."""
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    time, course, exact = run.time, run.coordinate("height"), ball.heights(run.time)
    points = thinned(course)
    upper.plot(time[points], course[points], label=run.about["scheme"])
    upper.plot(time[points], exact[points], "--", color="#333333", linewidth=1.0, label="closed form")
    if ball.rest < time[-1]:
        for axes in (upper, lower):
            axes.axvline(ball.rest, color="#888888", linewidth=0.9, linestyle=":")
        side = "left" if ball.rest < 0.5 * time[-1] else "right"
        upper.text(
            ball.rest, 0.97 * ball.height, " all impacts are over ", color="#555555", ha=side, va="top"
        )
    upper.set(ylabel="height / m", xlim=(time[0], time[-1]))
    upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
    points = thinned(course - exact)
    lower.plot(time[points], (course - exact)[points], color="#555555", linewidth=1.0)
    lower.set(xlabel="time / s", ylabel="difference / m")
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
