"""Tippe top: a spinning sphere with its centre of mass below the middle turns itself upside down.

The sphere of radius R slides on a table with Coulomb friction. Its centre of mass is a below the middle, its axis e is
one of symmetry. Friction lifts the centre of mass while the spin about the vertical goes on, and the one about the own
axis changes its sign. Whatever the contact force does, Jellett's invariant stays,

    J = L · (R e_z − a e) = const,      since  ṙ ⟂ L  and the moment of the force is ⟂ r

and energy goes into friction only. Geometry after Rauch-Wojciechowski and Rutstam 2014, who let a top with
1 − a/R < I₁/I₃ < 1 invert if J > √(m g R³ I₃ α) (1 + α)²/√(1 + α − I₁/I₃), α = a/R, with friction that never holds.
Coulomb's may: where the top rolls without slip, it loses nothing and rises no further. Spin friction is not modelled.
"""

from functools import partial
from math import cos, sin, sqrt
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._tippe_top import Motion, Top
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = 40_000
LARGEST_TURN = 0.05  # rad per step


@example(
    "tippe-top", source="Jellett (1872); geometry after Rauch-Wojciechowski, Rutstam, SIGMA 10 (2014) 017"
)
def tippe_top(
    *,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 0.02,
    radius: Annotated[float, Parameter("radius R of the sphere", unit="m", above=0.0)] = 0.02,
    offset: Annotated[
        float, Parameter("distance a of the centre of mass below the middle", unit="m", above=0.0)
    ] = 0.006,
    inertias: Annotated[
        tuple[float, float],
        Parameter("moments of inertia I₁ across and I₃ about the axis", unit="kg m²", above=0.0),
    ] = (2.9942857e-6, 3.2e-6),
    friction: Annotated[float, Parameter("friction coefficient", at_least=0.0)] = 0.05,
    tilt: Annotated[
        float,
        Parameter("angle of the axis with the vertical at the start", unit="rad", at_least=0.0, at_most=3.0),
    ] = 0.3,
    spin: Annotated[float, Parameter("spin about the axis at the start", unit="rad/s")] = 120.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 2e-5,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 8.0,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    top = Top(mass, radius, offset, *inertias, friction, gravity)
    _require(top, spin, step)
    every = max(round(until / step) // SAMPLES, 1)
    run = simulate(top.system(tilt, spin), until, Moreau(step), every=every)
    motion = Motion(top, run)
    numbers, units = _numbers(motion)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[*_checks(motion, step), *_inversion_checks(motion, tilt, spin, step), ledger_check(run)],
        audit={"off the table": "yes, for some time" if motion.lifted else "never", **run_audit(run)},
        figures={
            "inversion": partial(_draw_tops, motion=motion),
            "inclination": partial(_draw_inclination, motion=motion),
            "spin": partial(_draw_spin, motion=motion),
            "invariant": partial(_draw_invariant, motion=motion),
            "path": partial(_draw_path, motion=motion),
            **run_figures(run),
        },
    )


def _require(top: Top, spin: float, step: float) -> None:
    """Refuse bodies that do not exist, and steps that do not resolve the spin."""
    if top.offset >= top.radius:
        raise ParameterError(
            f"offset must be below radius, {top.radius:g} m, not {top.offset:g} m: the centre of mass is in the sphere."
        )
    if top.about > 2.0 * top.across:
        raise ParameterError(
            f"inertias must have I₃ of at most 2 I₁, {2.0 * top.across:g} kg m², not {top.about:g} kg m²: no body has."
        )
    if step * abs(spin) > LARGEST_TURN:
        raise ParameterError(
            f"step must be at most {LARGEST_TURN / abs(spin):.3g} s, in which the top turns by {LARGEST_TURN:g} rad, "
            f"not {step:g} s."
        )


def _numbers(motion: Motion) -> tuple[dict[str, Any], dict[str, str]]:
    from klapper.contact_states import STICK

    top, run, theta = motion.top, motion.run, np.degrees(motion.inclination)
    over = np.flatnonzero(theta > 90.0)
    numbers: dict[str, Any] = {
        "final_inclination_deg": theta[-1],
        "largest_inclination_deg": theta.max(),
        "inverts": bool(theta[-1] > 90.0),
        "final_spin": motion.spin[-1, 2],
        "final_turn": motion.turn[-1],
        "turn_if_upside_down": motion.jellett[0] / (top.about * (top.radius + top.offset)),
        "jellett_change": float(np.abs(motion.jellett_error).max()),
        "friction_loss": run.ledger.friction[-1] / run.ledger.kinetic[0]
        if run.ledger.kinetic[0] > 0.0
        else 0.0,
        "share_of_time_rolling": float(np.mean(run.state[1:, 0] == STICK)),
        "largest_penetration": max(-float(run.gap.min()), 0.0),
    }
    units = {
        "final_inclination_deg": "°",
        "largest_inclination_deg": "°",
        "final_spin": "rad/s (about the axis)",
        "final_turn": "rad/s (about the vertical)",
        "turn_if_upside_down": "rad/s (by Jellett's invariant)",
        "jellett_change": "of I₃ ω (R − a)",
        "friction_loss": "of the kinetic energy at the start",
        "largest_penetration": "m",
    }
    if np.isfinite(top.threshold):
        numbers["jellett_over_threshold"] = motion.jellett[0] / top.threshold
        units["jellett_over_threshold"] = "above 1 theory without sticking predicts inversion"
    if len(over) and theta[0] < 90.0:
        numbers["time_of_90_deg"], units["time_of_90_deg"] = run.time[over[0]], "s"
    return numbers, units


def _checks(motion: Motion, step: float) -> list[Check]:
    """Invariant, momentum and energy, with bounds of the first order in the step from how the scheme errs."""
    top, run = motion.top, motion.run
    end, ledger = float(run.time[-1]), run.ledger
    weight = top.mass * top.gravity
    normal = run.impulse[:, 0, 0]
    gained = top.mass * (run.velocity[-1, 2] - run.velocity[0, 2])
    force = float((normal[1:] / np.diff(run.time)).max())
    depth = step * (0.5 * motion.curving + motion.fall)
    slid = force * top.friction * step**2 * (top.radius + top.offset) * motion.fastest**2
    turned = step * motion.fastest
    checks = [
        Check(
            "Jellett's invariant",
            value=float(np.abs(motion.jellett_error).max()),
            expected=0.0,
            tolerance=_jellett_bound(motion, step) + 1e-9,
            source="constant; bound of the first order, as gyroscopic forces see the contact a step late",
        ),
        Check(
            "normal impulse",
            value=float(normal.sum()),
            expected=weight * end + gained,
            tolerance=1e-9 * weight * end,
            source="momentum: weight times duration plus the momentum gained upwards",
        ),
        Check(
            "friction takes energy",
            value=float(np.diff(ledger.friction, prepend=0.0).min()),
            at_least=-run.about["settings"]["every"] * slid - 1e-12 * ledger.scale,
            source="Coulomb's law, but for what a rolling contact turns in a step",
        ),
        Check(
            "deepest penetration",
            value=max(-float(run.gap.min()), 0.0),
            at_most=depth + 1e-12,
            source="half a step times what the turning of the axis changes of the normal speed in the whole run",
        ),
    ]
    if not motion.lifted:
        checks.append(
            Check(
                "energy not taken by friction",
                value=float(np.abs(ledger.impact + ledger.numerical).max()),
                expected=0.0,
                tolerance=force * depth + run.about["steps"] * turned**3 * ledger.scale,
                source="none, to the first order of the step: greatest force times bound of the penetration",
            )
        )
    return checks


def _jellett_bound(motion: Motion, step: float) -> float:
    """Of the change of J, as a share of I₃ ω (R − a).

    Gyroscopic forces of a step do not see the moment of the contact force in it, which matters for I₁ ≠ I₃; turns are
    of the second order. On average the contact force is the weight.
    """
    top, turned = motion.top, step * motion.fastest
    end, steps = float(motion.run.time[-1]), int(motion.run.about["steps"])
    lever = top.offset + top.friction * (top.radius + top.offset)
    moment = top.mass * top.gravity * lever
    slowest = min(top.across, top.about)
    unequal = abs(top.about - top.across) / slowest
    ratio = top.radius / (top.radius - top.offset)
    first = sqrt(0.5) * step * end * moment / slowest * ratio + steps * turned**3
    return unequal * first + turned * step * end * moment / top.about * ratio


def _inversion_checks(motion: Motion, tilt: float, spin: float, step: float) -> list[Check]:
    """What the shipped top does: others may roll before they have inverted."""
    run = motion.run
    if motion.top != Top() or (tilt, spin) != (0.3, 120.0) or run.time[-1] < 6.0 or step > 4e-5:
        return []
    turn = motion.jellett[0] / (motion.top.about * (motion.top.radius + motion.top.offset))
    return [
        Check(
            "inversion",
            value=float(np.degrees(motion.inclination[-1])),
            at_least=90.0,
            at_most=180.0,
            source="Jellett's invariant is above the threshold of Rauch-Wojciechowski and Rutstam (2014)",
        ),
        Check(
            "turn after the inversion",
            value=float(motion.turn[run.time > run.time[-1] - 0.5].mean()),
            expected=float(turn),
            tolerance=0.05 * float(turn),
            source="J/(I₃ (R + a)) if the axis were vertical; it still nutates by about 10°",
        ),
    ]


def _draw_tops(figure: "Figure", *, motion: Motion) -> None:
    """The top at six moments: the cap that was up (blue), the centre of mass (orange) and the point of contact."""
    figure.set_size_inches(8.6, 1.9)
    run = motion.run
    for axes, k in zip(figure.subplots(1, 6), np.linspace(0, len(run) - 1, 6).astype(int), strict=True):
        _draw_top(axes, motion.top, float(motion.inclination[k]))
        axes.set_title(f"{run.time[k]:.2f} s", fontsize=10, loc="center")


def _draw_top(axes: "Axes", top: Top, theta: float) -> None:
    from klapper.gallery._sketch import BODY, DARK, GREY, ORANGE, bare, wall

    r, a = top.radius, top.offset
    way = np.linspace(0.0, 2.0 * np.pi, 90)
    middle, up = np.array([0.0, r]), np.array([sin(theta), cos(theta)])
    wall(axes, (-1.8 * r, 0.0), (1.8 * r, 0.0), (0.0, -0.22 * r))
    axes.fill(r * np.cos(way), r + r * np.sin(way), facecolor=BODY, edgecolor=DARK, linewidth=1.2, zorder=3)
    cap = 0.5 * np.pi - theta + np.linspace(-0.7, 0.7, 40)
    axes.fill(
        r * np.cos(cap), r + r * np.sin(cap), facecolor="#0072B2", edgecolor=DARK, linewidth=1.2, zorder=4
    )
    axes.plot(
        *np.array([middle - r * up, middle + r * up]).T, color=GREY, linewidth=0.9, linestyle="--", zorder=5
    )
    axes.plot(*(middle - a * up), "o", color=ORANGE, markersize=6, zorder=6)
    axes.plot(0.0, 0.0, "o", color=DARK, markersize=4, zorder=6)
    bare(axes, (-1.8 * r, 1.8 * r), (-0.4 * r, 2.2 * r))


def _draw_inclination(figure: "Figure", *, motion: Motion) -> None:
    """Inclination of the axis, and the speed with which the contact point slides; where it is zero, the top rolls."""
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    time, theta, slip = motion.run.time, np.degrees(motion.inclination), motion.slip
    points = thinned(theta)
    upper.plot(time[points], theta[points], linewidth=1.2)
    upper.axhline(90.0, color="#888888", linewidth=0.9, linestyle=":")
    upper.set(ylabel="inclination / °", ylim=(0.0, 182.0), yticks=range(0, 181, 45), xlim=(time[0], time[-1]))
    points = thinned(slip)
    lower.plot(time[points], slip[points], color="#D55E00", linewidth=0.9)
    lower.set(xlabel="time / s", ylabel="slip / (m/s)")


def _draw_spin(figure: "Figure", *, motion: Motion) -> None:
    """Spin about the own axis, which changes its sign, and about the vertical; dashed what J gives upside down."""
    from klapper.results.thinning import thinned

    axes = figure.subplots()
    top, time = motion.top, motion.run.time
    for values, name in ((motion.spin[:, 2], "about the axis"), (motion.turn, "about the vertical")):
        points = thinned(values)
        axes.plot(time[points], values[points], linewidth=1.2, label=name)
    limit = motion.jellett[0] / (top.about * (top.radius + top.offset))
    for sign in (-1.0, 1.0):
        axes.axhline(sign * limit, color="#444444", linewidth=0.9, linestyle="--")
    axes.set(xlabel="time / s", ylabel="spin / (rad/s)", xlim=(time[0], time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_invariant(figure: "Figure", *, motion: Motion) -> None:
    """Change of Jellett's invariant by the time stepping, as a share of its size, and energy that friction took."""
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.0, 4.4)
    upper, lower = figure.subplots(2, 1, sharex=True)
    run, error = motion.run, motion.jellett_error
    points = thinned(error)
    upper.plot(run.time[points], error[points], linewidth=1.2)
    upper.set(ylabel="change of J", xlim=(run.time[0], run.time[-1]))
    upper.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    for values, name in (
        (run.ledger.friction, "friction"),
        (run.ledger.impact + run.ledger.numerical, "normal contact and scheme"),
    ):
        points = thinned(values)
        lower.plot(run.time[points], values[points], linewidth=1.4, label=name)
    lower.set(xlabel="time / s", ylabel="energy taken / J")
    lower.legend()


def _draw_path(figure: "Figure", *, motion: Motion) -> None:
    """Path of the point of contact on the table, coloured by time."""
    from matplotlib.collections import LineCollection

    figure.set_size_inches(5.4, 4.6)
    axes = figure.subplots()
    run = motion.run
    every = max(len(run) // 8000, 1)
    middle = 1e3 * (run.position[::every, :2] + motion.top.offset * motion.rotation[::every, :2, 2])
    pieces = list(np.stack([middle[:-1], middle[1:]], axis=1))
    path = LineCollection(pieces, array=run.time[::every][: len(pieces)])
    path.set_linewidth(0.9)
    axes.add_collection(path)
    axes.autoscale_view()
    axes.set(xlabel="x / mm", ylabel="y / mm", aspect="equal")
    figure.colorbar(path, ax=axes, label="time / s")
