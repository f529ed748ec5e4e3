"""Mass on a moving belt: stick-slip, as of a bow on a string.

A spring holds a mass that a belt of speed V carries along by friction, which falls with the sliding speed:

    m ẍ + k x = λ,   |λ| ≤ μ_s N while it sticks,   λ = μ(V − ẋ) N while it lags behind,
    μ(v) = μ_d + (μ_s − μ_d)/(1 + δ |v|)

The belt stretches the spring to x_s = μ_s N/k, the mass slips back and is caught again. Falling friction feeds every
vibration about steady sliding, so this cycle is where all motions end, and it is reached with the first slip (only if
friction falls to almost nothing, μ_d ≈ 0, may the mass pass the speed of the belt and not be caught). For δ → ∞ its
times have a closed form: it slips for (2/ω) (π − atan(ω (μ_s − μ_d) N/(k V))) and sticks for
2 (μ_s − μ_d) N/(k V). With constant friction (δ = 0 or μ_s = μ_d) nothing is fed: the mass vibrates about x_s with the
speed V, just touches the speed of the belt, never sticks again, and period and duration of slip are both 2π/ω.
"""

from functools import partial
from math import exp, pi
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._belt_oscillator import FASTER, Belt, Motion
from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.results import Run

MOST_STEPS = 5_000_000
TOLERANCE = 1e-12  # of the integrations with error control


@example(
    "belt-oscillator", source="stick-slip with falling friction, Leine et al. (1998); closed form for δ → ∞"
)
def belt_oscillator(
    *,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N/m", above=0.0)] = 1.0,
    normal_force: Annotated[
        float, Parameter("force that presses the mass on the belt", unit="N", above=0.0)
    ] = 10.0,
    mu_static: Annotated[float, Parameter("friction coefficient at rest, μ_s", at_least=0.0)] = 0.4,
    mu_dynamic: Annotated[float, Parameter("friction coefficient of fast sliding, μ_d", at_least=0.0)] = 0.2,
    delta: Annotated[float, Parameter("fall of the friction with speed, δ", unit="s/m", at_least=0.0)] = 3.0,
    belt_speed: Annotated[float, Parameter("speed of the belt", unit="m/s", above=0.0)] = 0.5,
    steps: Annotated[int, Parameter("time steps, or samples, per period of the spring", at_least=50)] = 100,
    cycles: Annotated[int, Parameter("least number of cycles", at_least=2, at_most=100)] = 3,
    scheme: Annotated[SchemeName, Parameter("method")] = "event-driven",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named

    if mu_static < mu_dynamic:
        raise ParameterError(
            f"mu_static must be at least mu_dynamic {mu_dynamic:g}: friction that rises with speed has no cycle."
        )
    belt = Belt(mass, stiffness, normal_force, mu_static, mu_dynamic, delta, belt_speed)
    until = belt.slip_position / belt_speed + (cycles + 0.5) * (
        belt.cycle.period if belt.cycle else belt.longest
    )
    step = _step(belt, steps, until, scheme)
    run = run_named(belt.system(), until, scheme, step, tolerance=TOLERANCE, **belt.compliance())
    motion = Motion.of(belt, run)
    settled = run.time >= run.time[-1] - motion.period
    x = run.coordinate("displacement")
    return Outcome(
        numbers={
            "period": motion.period,
            "slip_duration": motion.slip,
            "stick_duration": motion.period - motion.slip,
            "motion": motion.kind,
            "largest_displacement": x[settled].max() if settled.any() else x[-1],
            "smallest_displacement": x[settled].min() if settled.any() else x[-1],
            "first_slip": motion.switches[0] if len(motion.switches) else float("nan"),
            "sharp_period": belt.sharp.period,
            "sharp_slip_duration": belt.sharp.slip,
            "steps": run.about["steps"],
        },
        units={
            "period": "s",
            "slip_duration": "s",
            "stick_duration": "s",
            "largest_displacement": "m (last period)",
            "smallest_displacement": "m (last period)",
            "first_slip": "s",
            "sharp_period": "s (closed form for δ → ∞)",
            "sharp_slip_duration": "s (closed form for δ → ∞)",
        },
        checks=[
            *_checks(belt, motion, step, scheme),
            *_exact_checks(belt, motion, until, step, scheme),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={
            "motion": partial(_draw_motion, belt=belt, run=run),
            "phase": partial(_draw_phase, belt=belt, run=run),
            "fall-of-friction": partial(_draw_fall, belt=belt, motion=motion),
            **run_figures(run),
        },
    )


def _step(belt: Belt, steps: int, until: float, scheme: SchemeName) -> float:
    """Time step of time stepping, or interval of output [s]."""
    step = 2 * pi / belt.frequency / steps
    if scheme == "moreau" and until / step > MOST_STEPS:
        raise ParameterError(
            f"belt_speed is {belt.speed:g} m/s, so slow that {until / step:.2g} time steps would be needed; allowed "
            f"are {MOST_STEPS:g}. Take a faster belt, fewer steps per period, or scheme=event-driven."
        )
    return step


def _checks(belt: Belt, motion: Motion, step: float, scheme: SchemeName) -> list[Check]:
    """The cycle, by another integration of the slip or in closed form.

    An error of the velocity moves the end of slip by as much over the acceleration there, which is small before short
    sticking; and it moves the beginning, where the sliding speed grows from nothing like exp(r t), by r/(ω² V) of it.
    """
    cycle, ω = belt.cycle, belt.frequency
    if cycle is None:
        return []
    touch = 1.0 / (ω * max(cycle.stick, 1e-9 / ω))
    if scheme == "moreau":
        period = 3 * step * (1 + belt.delta * belt.speed)
        slip = min(period * (1 + touch), cycle.period)
    else:
        period = 1e-10 * cycle.period + 10 * TOLERANCE * belt.onset / (ω**2 * belt.speed)
        slip = min(period + 1e-10 * touch / ω, cycle.period)
    source = "closed form" if belt.constant else "the slip integrated on its own (scipy, rtol 1e-13)"
    return [
        Check("period", value=motion.period, expected=cycle.period, tolerance=period, source=source),
        Check("slip duration", value=motion.slip, expected=cycle.slip, tolerance=slip, source=source),
        Check(
            "first slip",
            value=motion.switches[0] if len(motion.switches) else 0.0,
            expected=belt.slip_position / belt.speed,
            tolerance=_first_slip_error(belt, step, scheme),
            source="the belt stretches the spring to μ_s N/k",
        ),
    ]


def _first_slip_error(belt: Belt, step: float, scheme: SchemeName) -> float:
    """[s]; a compliant contact takes its time to carry the normal force."""
    begin = belt.slip_position / belt.speed
    if scheme == "moreau":
        return 2 * step
    settling = FASTER * belt.frequency * begin
    late = 2 * begin * (1 + settling) * exp(-settling) if scheme == "regularised" else 0.0
    return 1e-10 * (begin + 1 / belt.frequency) + late


def _exact_checks(belt: Belt, motion: Motion, until: float, step: float, scheme: SchemeName) -> list[Check]:
    """For constant friction: the same motion without any step size."""
    if not belt.constant or scheme not in ("event-driven", "regularised"):
        return []
    from klapper.gallery._run import run_named

    exact = Motion.of(belt, run_named(belt.system(), until, "exact", step))
    return [
        Check(
            "period by the exact method",
            value=motion.period,
            expected=exact.period,
            tolerance=1e-10 * exact.period,
            source="piecewise exact solution",
        )
    ]


def _draw_motion(figure: "Figure", *, belt: Belt, run: "Run") -> None:
    """Displacement and velocity over time; sticking is shaded, the dotted lines are the place where the spring
    overcomes static friction and the speed of the belt."""
    from klapper.contact_states import STICK
    from klapper.gallery._sketch import BLUE, GREY, ORANGE
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.6, 4.8)
    panels = figure.subplots(2, 1, sharex=True)
    time, sticking = run.time, run.contact("belt").state == STICK
    courses = (
        (run.coordinate("displacement"), "displacement / m", BLUE, belt.slip_position),
        (run.speed("displacement"), "velocity / (m/s)", ORANGE, belt.speed),
    )
    for axes, (values, text, color, limit) in zip(panels, courses, strict=True):
        points = thinned(values)
        axes.plot(time[points], values[points], color=color)
        axes.axhline(limit, color=GREY, linewidth=0.9, linestyle=":")
        axes.fill_between(
            time,
            0.0,
            1.0,
            where=sticking,
            step="pre",
            color="#DDDDDD",
            linewidth=0,
            transform=axes.get_xaxis_transform(),
        )
        axes.set(ylabel=text, xlim=(time[0], time[-1]))
    panels[1].set_xlabel("time / s")


def _draw_phase(figure: "Figure", *, belt: Belt, run: "Run") -> None:
    """Velocity over displacement: the mass sticks on the horizontal line and slips on the arc around steady sliding
    (cross); dashed, the slip with friction that falls at once (δ → ∞)."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY
    from klapper.results.thinning import thinned_curve

    figure.set_size_inches(5.6, 4.6)
    axes = figure.subplots()
    x, v = run.coordinate("displacement"), run.speed("displacement")
    points = thinned_curve(x, v)
    axes.axhline(belt.speed, color=GREY, linewidth=0.9, linestyle=":")
    axes.plot(x[points], v[points], color=BLUE, label=run.about["scheme"])
    if not belt.constant:
        drop = (belt.mu_static - belt.mu_dynamic) * belt.normal_force / belt.stiffness
        angle = np.linspace(0.0, belt.frequency * belt.sharp.slip, 300)
        centre, u = belt.slip_position - drop, belt.speed / belt.frequency
        arc = centre + drop * np.cos(angle) + u * np.sin(angle)
        speed = belt.frequency * (u * np.cos(angle) - drop * np.sin(angle))
        axes.plot(arc, speed, "--", color=DARK, linewidth=1.0, label="δ → ∞, closed form")
    axes.plot(belt.steady_position, 0.0, "x", color=DARK, label="steady sliding")
    axes.plot(x[0], v[0], "o", color=GREEN, label="start")
    axes.set(xlabel="displacement / m", ylabel="velocity / (m/s)")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3, fontsize=9)


def _draw_fall(figure: "Figure", *, belt: Belt, motion: Motion) -> None:
    """Left: the friction law. Right: period and duration of slip over δ (lines; dashed the closed forms for δ → ∞,
    dotted 2π/ω), and this run (dots)."""
    from dataclasses import replace

    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(9.6, 3.9)
    law, chart = figure.subplots(1, 2)
    speed = np.linspace(0.0, 4 * belt.speed, 200)
    law.plot(speed, belt.coefficient(speed), color=BLUE)
    law.plot(belt.speed, belt.coefficient(belt.speed), "x", color=DARK)
    law.set(xlabel="sliding speed / (m/s)", ylabel="friction coefficient", xlim=(0.0, speed[-1]))
    law.set_ylim(0.0, 1.1 * max(belt.mu_static, 0.1))
    deltas = np.geomspace(1e-3, 1e3, 25) / belt.speed
    found = [(d, replace(belt, delta=float(d)).cycle) for d in deltas]
    known = [(d, cycle) for d, cycle in found if cycle is not None]
    for name, color in (("period", BLUE), ("slip", ORANGE)):
        chart.plot([d for d, _ in known], [getattr(c, name) for _, c in known], color=color, label=name)
        chart.axhline(getattr(belt.sharp, name), color=color, linewidth=1.0, linestyle="--")
        if belt.delta > 0.0:
            chart.plot(belt.delta, getattr(motion, name), "o", color=color)
    chart.axhline(2 * pi / belt.frequency, color=GREY, linewidth=0.9, linestyle=":")
    chart.set(xscale="log", xlabel="fall of the friction δ / (s/m)", ylabel="duration / s")
    chart.set_ylim(bottom=0.0)
    chart.legend()
