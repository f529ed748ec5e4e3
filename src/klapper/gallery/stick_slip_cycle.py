"""Stick-slip cycle: its multipliers, and how it ends when the belt runs faster.

A mass on a spring and a damper is dragged by a belt of speed V, with friction that falls with the sliding speed:

    m ẍ + c ẋ + k x = λ,   |λ| ≤ μ_s N  while it sticks (ẋ = V),   λ = μ(V − ẋ) N  while it lags behind,
    μ(v) = μ_d + (μ_s − μ_d)/(1 + v/v_s)

On a slow belt the mass sticks and slips in turn. Whatever its neighbours do, they leave the belt at the same place: of
all differences only a shift in time is left, so the multipliers are 1 (that shift) and 0. The cycle is superstable.

Steady sliding is stable where the damper beats the falling friction, c > −N μ'(V), that is above the belt speed

    V_H = v_s (√((μ_s − μ_d) N/(c v_s)) − 1).

There a cycle without sticking branches off, which is unstable and grows with V, until it just touches the speed of the
belt. At this speed (grazing-sliding) it meets the stick-slip cycle, and both are gone. In between the mass may slide
steadily or stick and slip, as it is started.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._stick_slip_cycle import Drag
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis import Bifurcation, PeriodicBranch, PeriodicMotion

TOLERANCE = 1e-12  # of the integration


@example("stick-slip-cycle", source="Leine and Nijmeijer (2004), stick-slip; V_H and μ(v) in closed form")
def stick_slip_cycle(
    *,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N/m", above=0.0)] = 1.0,
    damping: Annotated[float, Parameter("coefficient of the damper, c", unit="N s/m", above=0.0)] = 0.12,
    normal_force: Annotated[
        float, Parameter("force that presses the mass on the belt", unit="N", above=0.0)
    ] = 1.0,
    mu_static: Annotated[float, Parameter("friction coefficient at rest, μ_s", above=0.0)] = 0.4,
    mu_dynamic: Annotated[float, Parameter("friction coefficient of fast sliding, μ_d", at_least=0.0)] = 0.2,
    falling_speed: Annotated[
        float, Parameter("sliding speed at which half of the fall is done, v_s", unit="m/s", above=0.0)
    ] = 0.3,
    belt_speed: Annotated[float, Parameter("speed V of the belt", unit="m/s", above=0.0)] = 0.45,
    fastest: Annotated[
        float, Parameter("speed of the belt up to which cycles are followed", unit="m/s", above=0.0)
    ] = 1.0,
) -> Outcome:
    from klapper.analysis import follow_periodic, periodic_motion
    from klapper.schemes import EventDriven

    if not mu_static > mu_dynamic:
        raise ParameterError(
            f"mu_static must be above mu_dynamic {mu_dynamic:g}: friction must fall with speed."
        )
    if not fastest > belt_speed:
        raise ParameterError(f"fastest must be above the speed of the belt, {belt_speed:g} m/s.")
    drag = Drag(mass, stiffness, damping, normal_force, mu_static, mu_dynamic, falling_speed, belt_speed)
    if not np.isfinite(drag.period):
        raise ParameterError(
            f"belt_speed {belt_speed:g} m/s is too fast: the mass is not caught again and slides steadily; take a "
            f"slower belt."
        )
    scheme = EventDriven(TOLERANCE)
    motion = periodic_motion(drag.system(), period=drag.period, settle=1, scheme=scheme)
    branch = follow_periodic(
        lambda speed: drag.at(speed).system(),
        belt_speed,
        fastest,
        first=motion,
        back=min(0.9 * drag.hopf_speed, belt_speed) if drag.hopf_speed > 0.0 else belt_speed,
        step=0.05,
        largest=0.15,
        most=60,
        scheme=scheme,
    )
    touching = next(iter(branch.named("grazing-sliding")), None)
    hopf = next(iter(branch.named("Hopf")), None)
    other = _same_speed(branch, belt_speed)
    stick = _stick(motion)
    return Outcome(
        numbers={
            "period": motion.period,
            "stick_duration": stick,
            "slip_duration": motion.period - stick,
            "multipliers": motion.multipliers.real,
            "superstable": motion.superstable,
            "last_stick_slip": touching.parameter if touching else float("nan"),
            "first_stable_sliding": drag.hopf_speed,
            "unstable_multiplier": float(np.abs(other.deciding[0])) if other else float("nan"),
            "motions_followed": len(branch),
            "end_of_branch": branch.ended,
        },
        units={
            "period": "s",
            "stick_duration": "s",
            "slip_duration": "s",
            "last_stick_slip": "m/s (belt)",
            "first_stable_sliding": "m/s (belt, closed form)",
            "unstable_multiplier": "(cycle without sticking nearest to this belt speed)",
        },
        checks=_checks(drag, motion, touching, hopf),
        audit={
            "motion": str(motion).splitlines(),
            "branch": str(branch).splitlines(),
            "residual of the motion by integration": motion.residual,
        },
        figures={
            "cycle": partial(_draw_cycle, drag=drag, motion=motion, other=other),
            "branch": partial(_draw_branch, drag=drag, branch=branch),
        },
    )


def _stick(motion: "PeriodicMotion") -> float:
    """How long [s] the mass sticks in one period."""
    begin, end = (next(e.time for e in motion.events if e.kind == kind) for kind in ("sticks", "slips"))
    return float((end - begin) % motion.period)


def _same_speed(branch: "PeriodicBranch", belt_speed: float) -> "PeriodicMotion | None":
    """The unstable cycle nearest to a belt speed."""
    slide = [i for i, motion in enumerate(branch.motions) if not motion.events and not motion.stable]
    if not slide:
        return None
    return branch.motions[min(slide, key=lambda i: abs(branch.parameters[i] - belt_speed))]


def _checks(
    drag: Drag, motion: "PeriodicMotion", touching: "Bifurcation | None", hopf: "Bifurcation | None"
) -> list[Check]:
    values = motion.multipliers
    reached = motion.approach()
    checks = [
        Check(
            "period",
            value=motion.period,
            expected=drag.period,
            tolerance=1e-9 * drag.period,
            source="the slip integrated on its own (scipy, rtol 1e-13)",
        ),
        Check(
            "multiplier of a shift in time",
            value=float(values[0].real),
            expected=1.0,
            tolerance=1e-8,
            source="theory",
        ),
        Check(
            "other multipliers",
            value=float(np.abs(values[1:]).max()),
            expected=0.0,
            tolerance=1e-9,
            source="all neighbours leave the belt at the same place",
        ),
        Check(
            "long integration ends on the cycle",
            value=reached.distance,
            at_most=1e-8,
            source=f"{reached.periods} periods from a start that is off by 0.1 %, in parts of the size of the motion",
        ),
    ]
    if touching is not None:
        checks.append(
            Check(
                "belt speed of the last stick-slip cycle",
                value=touching.parameter,
                expected=drag.last_caught(touching.parameter),
                tolerance=1e-7 * touching.parameter,
                source="the slip integrated on its own just reaches the speed of the belt (scipy)",
            )
        )
    if hopf is not None:
        checks.append(
            Check(
                "belt speed at which the unstable cycle shrinks to steady sliding",
                value=hopf.parameter,
                expected=drag.hopf_speed,
                tolerance=1e-5 * drag.hopf_speed,
                source="closed form V_H",
            )
        )
    return checks


def _draw_cycle(
    figure: "Figure", *, drag: Drag, motion: "PeriodicMotion", other: "PeriodicMotion | None"
) -> None:
    """Left: velocity over displacement of the stick-slip cycle, which sticks on the line at the speed of the belt
    (dotted); dashed, the unstable cycle without sticking nearest to this belt speed: what starts inside of it ends in
    steady sliding (cross). Right: the displacement over two periods, sticking shaded; dotted, the place where the
    spring overcomes static friction."""
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(9.6, 4.2)
    plane, course = figure.subplots(1, 2, width_ratios=[1.0, 1.25])
    run = motion.over(2, samples=100)
    x, v, time = run.coordinate("displacement"), run.speed("displacement"), run.time - run.time[0]
    plane.axhline(drag.belt_speed, color=GREY, linewidth=0.9, linestyle=":")
    plane.plot(x, v, color=BLUE, label="stick-slip, superstable")
    if other is not None:
        slide = other.over(1, samples=100)
        speed = f"at V = {-other.system.tangential_rates(0.0)[0]:.3g} m/s"  # type: ignore[attr-defined]
        plane.plot(
            slide.coordinate("displacement"),
            slide.speed("displacement"),
            "--",
            color=ORANGE,
            label=f"sliding, unstable, {speed}",
        )
    plane.plot(drag.steady, 0.0, "x", color=DARK, label="steady sliding")
    plane.set(xlabel="displacement / m", ylabel="velocity / (m/s)")
    plane.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=1, borderaxespad=0.3, fontsize=9)
    for event in motion.events:
        if event.kind == "sticks":
            begin = event.time - motion.start.time
            for shift in (-motion.period, 0.0, motion.period):
                course.axvspan(begin + shift, begin + shift + _stick(motion), color="#DDDDDD", linewidth=0)
    course.plot(time, x, color=BLUE)
    course.axhline(drag.release, color=GREY, linewidth=0.9, linestyle=":")
    course.set(xlabel="time / s", ylabel="displacement / m", xlim=(0.0, time[-1]))


def _draw_branch(figure: "Figure", *, drag: Drag, branch: "PeriodicBranch") -> None:
    """Left: largest distance of the displacement from steady sliding over the speed of the belt, for stick-slip
    cycles (full), cycles without sticking (dashed, unstable) and steady sliding (on the axis, stable above V_H). Right:
    the largest multiplier besides 1."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE

    figure.set_size_inches(9.6, 4.2)
    size, multiplier = figure.subplots(1, 2, width_ratios=[1.35, 1.0])
    sticking = np.array([bool(motion.events) for motion in branch.motions])
    reach = np.array(
        [
            _reach(drag.at(speed), motion)
            for speed, motion in zip(branch.parameters, branch.motions, strict=True)
        ]
    )
    size.plot(branch.parameters[sticking], reach[sticking], ".-", color=BLUE, label="stick-slip, superstable")
    if np.any(~sticking):
        size.plot(
            branch.parameters[~sticking],
            reach[~sticking],
            ".--",
            color=ORANGE,
            label="sliding cycle, unstable",
        )
    low, high = 0.92 * branch.parameters.min(), 1.12 * branch.parameters.max()
    change = min(max(drag.hopf_speed, low), high)
    size.plot([low, change], [0.0, 0.0], "--", color=GREY, label="steady sliding, unstable")
    size.plot([change, high], [0.0, 0.0], "-", color=GREEN, linewidth=2.4, label="steady sliding, stable")
    for kind, mark in (("grazing-sliding", "v"), ("Hopf", "o")):
        for found in branch.named(kind):
            size.plot(
                found.parameter,
                _reach(drag.at(found.parameter), found.motion),
                mark,
                color=DARK,
                label=kind,
                zorder=5,
            )
    size.set(
        xlabel="speed of the belt / (m/s)",
        ylabel="largest distance from steady sliding / m",
        xlim=(low, high),
    )
    size.set_ylim(bottom=-0.04 * reach.max())
    size.legend(fontsize=9)
    largest = np.array([float(np.abs(motion.deciding[0])) for motion in branch.motions])
    for chosen, color in ((sticking, BLUE), (~sticking, ORANGE)):
        multiplier.plot(branch.parameters[chosen], largest[chosen], ".-", color=color)
    multiplier.axhline(1.0, color=GREY, linewidth=0.9)
    multiplier.set(
        xlabel="speed of the belt / (m/s)", ylabel="largest multiplier besides 1", xlim=(low, high)
    )
    multiplier.set_ylim(-0.05, max(1.2, 1.05 * largest.max()))


def _reach(drag: Drag, motion: "PeriodicMotion") -> float:
    """Largest distance [m] from steady sliding."""
    passage = motion.passage
    farthest = 0.0
    for i, switch in enumerate(passage.switches):
        flow = passage.maps.of(switch.after).flow(passage.times[i], passage.entered[i], passage.times[i + 1])
        x = flow.states(np.linspace(passage.times[i], passage.times[i + 1], 60))[0][:, 0]
        farthest = max(farthest, float(np.abs(x - drag.steady).max()))
    return farthest
