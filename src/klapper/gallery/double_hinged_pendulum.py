"""Door on two hinges: joints that hold twice what one would hold, and forces that no theory of rigid bodies knows.

A door swings about an axis that leans by λ from the vertical. Each hinge alone holds five of its six freedoms; both
together give ten equations of rank five. The motion is that of the door on one hinge, a pendulum,

    I φ̈ = −m g sin λ (w/2) sin φ,    period 4 K(sin φ₀/2) / ω₀,    ω₀² = m g sin λ w / (2 I)

with the complete elliptic integral K. How the hinges share their force is not determined, only its resultant is: the
shares shown are the smallest ones. Since joints are held by velocities, the hinges open a little as the door turns, by
the square of the step; a projection of the position closes them again.
"""

from dataclasses import dataclass
from functools import partial
from math import cos, radians, sin
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._double_hinged_pendulum import Door
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.bodies import RigidSystem
    from klapper.results import Run

STEPS_PER_SWING = 50  # at least
TRUSTED = 0.05  # change of the angle by halving the step, as a share of the amplitude, up to which it tells the error


@dataclass(frozen=True)
class Motions:
    """The same swing four times: on two hinges, on one, on two with projection, on two with half the step."""

    double: "Run"
    single: "Run"
    projected: "Run"
    finer: "Run"
    drift: np.ndarray
    projected_drift: np.ndarray
    rank: int


@example(
    "double-hinged-pendulum", source="closed form; redundant constraints as in Waltersberger (2007), 4.2.1"
)
def double_hinged_pendulum(
    *,
    mass: Annotated[float, Parameter("mass of the door", unit="kg", above=0.0)] = 20.0,
    width: Annotated[float, Parameter("width of the door, from the hinges", unit="m", above=0.0)] = 0.8,
    height: Annotated[float, Parameter("height of the door", unit="m", above=0.0)] = 2.0,
    thickness: Annotated[float, Parameter("thickness of the door", unit="m", above=0.0)] = 0.04,
    separation: Annotated[float, Parameter("distance of the hinges", unit="m", above=0.0)] = 1.6,
    lean_deg: Annotated[
        float, Parameter("angle of the axis with the vertical", unit="°", above=0.0, at_most=90.0)
    ] = 10.0,
    amplitude_deg: Annotated[float, Parameter("angle of release", unit="°", above=0.0, at_most=170.0)] = 80.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 0.01,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 4.5,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    door = Door(
        mass, width, height, thickness, separation, radians(lean_deg), radians(amplitude_deg), gravity
    )
    if step > door.period / STEPS_PER_SWING:
        raise ParameterError(
            f"step must be at most {door.period / STEPS_PER_SWING:.3g} s, a {STEPS_PER_SWING}th of the period, not "
            f"{step:g} s."
        )
    motions = _motions(door, step, until)
    numbers, units = _numbers(door, motions)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[
            *_motion_checks(door, motions),
            *_joint_checks(door, motions, step),
            ledger_check(motions.double),
        ],
        audit={
            "redundant joints": f"{numbers['constraints']} constraints of rank {motions.rank}: the motion and the "
            "resultant of the hinge forces are unique, the share of each hinge is not",
            **run_audit(motions.double),
        },
        figures={
            "door": partial(_draw_door, door=door, run=motions.double),
            "motion": partial(_draw_motion, door=door, motions=motions),
            "hinge-forces": partial(_draw_forces, door=door, motions=motions),
            "drift": partial(_draw_drift, motions=motions),
            **run_figures(motions.double),
        },
    )


def _motions(door: Door, step: float, until: float) -> Motions:
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    system = door.system(("upper", "lower"))
    double = simulate(system, until, Moreau(step, projection=False))
    projected = simulate(system, until, Moreau(step, projection=True))
    return Motions(
        double,
        simulate(door.system(("upper",)), until, Moreau(step, projection=False)),
        projected,
        simulate(system, until, Moreau(0.5 * step, projection=False)),
        _opening(system, double),
        _opening(system, projected),
        int(np.linalg.matrix_rank(system.constraint_directions(0.0, system.start.position)[0])),
    )


def _opening(system: "RigidSystem", run: "Run") -> np.ndarray:
    """Largest violation (s,) of a joint equation."""
    return np.array(
        [np.abs(system.constraint_residuals(t, q)).max() for t, q in zip(run.time, run.position, strict=True)]
    )


def _period(time: np.ndarray, angle: np.ndarray) -> float | None:
    """Twice the time [s] between the first two passages through the lowest place; None before the second."""
    k = np.flatnonzero(np.sign(angle[:-1]) != np.sign(angle[1:]))
    if len(k) < 2:
        return None
    passed = time[k] - angle[k] * (time[k + 1] - time[k]) / (angle[k + 1] - angle[k])
    return float(2.0 * (passed[1] - passed[0]))


def _hinge_forces(door: Door, run: "Run", hinge: str) -> np.ndarray:
    """Force (s, 3) [N] of a hinge on the door: down across the axis, horizontal, along the axis."""
    names = [run.layout.constraints.index(f"{hinge} hinge {axis}") for axis in "xyz"]
    return run.constraint_force[:, names] @ door.frame


def _numbers(door: Door, motions: Motions) -> tuple[dict[str, Any], dict[str, str]]:
    double = motions.double
    shares = [_hinge_forces(door, double, name) for name in ("upper", "lower")]
    numbers: dict[str, Any] = {
        "period_closed_form": door.period,
        "final_angle": float(door.swing(double)[-1]),
        "final_angle_closed_form": float(door.angles(double.time[-1:])[0]),
        "constraints": len(double.layout.constraints),
        "rank": motions.rank,
        "free_force_combinations": len(double.layout.constraints) - motions.rank,
        "largest_resultant": float(np.linalg.norm(shares[0] + shares[1], axis=1)[1:].max()),
        "largest_opening": float(motions.drift.max()),
        "largest_opening_with_projection": float(motions.projected_drift.max()),
        "numerical_loss": float(double.ledger.numerical[-1]),
    }
    units = {
        "period_closed_form": "s",
        "final_angle": "rad",
        "final_angle_closed_form": "rad",
        "largest_resultant": "N",
        "largest_opening": "m",
        "largest_opening_with_projection": "m",
        "numerical_loss": "J",
    }
    period = _period(double.time, door.swing(double))
    if period is not None:
        numbers["period"], units["period"] = period, "s"
    return numbers, units


def _motion_checks(door: Door, motions: Motions) -> list[Check]:
    """Against the closed form, as long as halving the step changes little; twice that change is the tolerance."""
    double, finer = motions.double, motions.finer
    coarse, fine = np.unwrap(door.swing(double)), np.unwrap(door.swing(finer))
    count = min(len(coarse), (len(fine) + 1) // 2)
    changed = np.abs(coarse[:count] - fine[: 2 * count : 2])
    large = np.flatnonzero(changed > TRUSTED * door.amplitude)
    trusted = int(large[0]) if len(large) else count
    error = np.abs(fine - door.angles(finer.time))[: 2 * trusted : 2]
    checks = [
        Check(
            "swing",
            value=float(error.max()),
            expected=0.0,
            tolerance=2.0 * float(changed[:trusted].max()) + 1e-9,
            source="elliptic function; within twice what halving the step changed",
        ),
        Check(
            "motion on one hinge",
            value=float(np.abs(double.position - motions.single.position).max()),
            expected=0.0,
            tolerance=1e-9 * (1.0 + door.width),
            source="redundant joints do not change the motion",
        ),
    ]
    first, second = _period(double.time, coarse), _period(finer.time, fine)
    if first is not None and second is not None and trusted == count:
        rounding = door.frequency**2 * float(finer.time[1]) ** 3  # of the interpolation between samples
        checks.append(
            Check(
                "period",
                value=second,
                expected=door.period,
                tolerance=2.0 * abs(first - second) + rounding,
                source="4 K(sin φ₀/2)/ω₀; within twice what halving the step changed",
            )
        )
    return checks


def _joint_checks(door: Door, motions: Motions, step: float) -> list[Check]:
    double = motions.double
    fastest = float(np.abs(double.velocity[:, 3:]).max())
    upper, lower = (_hinge_forces(door, double, name)[1:] for name in ("upper", "lower"))
    resultant = upper + lower
    turning = 0.125 * door.width * fastest * (door.frequency**2 + fastest**2)
    weight = door.mass * door.gravity
    scale = 1e-9 * (weight + door.mass * door.width * fastest**2)
    return [
        Check(
            "rank of the joints",
            value=motions.rank,
            expected=5,
            source="six freedoms of a body, one of which is left",
        ),
        Check(
            "resultant of the hinge forces",
            value=float(np.abs(resultant - _hinge_forces(door, motions.single, "upper")[1:]).max()),
            expected=0.0,
            tolerance=1e3 * scale,
            source="force of the only hinge of the door on one hinge",
        ),
        Check(
            "force along the axis",
            value=float(np.abs(resultant[:, 2] - weight * cos(door.lean)).max()),
            expected=0.0,
            tolerance=1e3 * scale,
            source="the weight along the axis, at all times",
        ),
        Check(
            "opening of the hinges",
            value=float(motions.drift.max()),
            at_most=step**2 * float(double.time[-1]) * turning + 1e-9 * door.width,
            source="of the second order: ⅛ w ω (ω₀² + ω²) times the square of the step times the duration",
        ),
        Check(
            "opening with projection",
            value=float(motions.projected_drift.max()),
            expected=0.0,
            tolerance=1e-9 * max(door.width, 1.0),
            source="the projection meets the joints",
        ),
    ]


def _draw_door(figure: "Figure", *, door: Door, run: "Run") -> None:
    """The door at the start and at three later moments, the leaning axis with its hinges, and the vertical (dashed)."""
    figure.set_size_inches(5.6, 4.6)
    axes = figure.subplots()
    angles = door.swing(run)
    moments = np.linspace(0.0, min(0.5 * door.period, run.time[-1]), 4)
    for k in np.unique(np.searchsorted(run.time, moments - 1e-9)):
        shade = 0.9 - 0.6 * run.time[k] / max(moments[-1], 1e-300)
        _draw_panel(axes, door, float(angles[k]), f"{run.time[k]:.2f} s", shade)
    reach = 0.7 * max(door.height, door.separation)
    axis = np.array([-reach, reach])[:, None] * _seen(door.frame[:, 2])
    axes.plot(*axis.T, color="#333333", linewidth=1.4)
    axes.plot([0.0, 0.0], [-reach, reach], color="#888888", linewidth=0.9, linestyle="--")
    for along in (-0.5, 0.5):
        place = _seen(door.frame[:, 2] * along * door.separation)
        axes.plot(*place, "s", color="#D55E00", markersize=9, zorder=6)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _seen(points: np.ndarray) -> np.ndarray:
    """World places (…, 3) in the plane of the drawing (…, 2), seen from the side and a little from above."""
    x, y, z = np.moveaxis(np.asarray(points), -1, 0)
    return np.stack([0.87 * x + 0.5 * y, z - 0.25 * y + 0.14 * x], axis=-1)


def _draw_panel(axes: "Axes", door: Door, angle: float, text: str, shade: float) -> None:
    across = door.frame @ np.array([cos(angle), sin(angle), 0.0])
    along = door.frame[:, 2] * 0.5 * door.height
    corners = _seen(np.array([-along, door.width * across - along, door.width * across + along, along]))
    axes.fill(*corners.T, facecolor="#0072B2", alpha=0.18, edgecolor="none", zorder=3)
    axes.plot(
        *np.vstack([corners, corners[:1]]).T, color=(shade * 0.8, shade * 0.8, shade), linewidth=1.3, zorder=4
    )
    x, y = _seen(1.04 * door.width * across + 1.04 * along)
    axes.text(x, y, text, fontsize=9, ha="center", zorder=7)


def _draw_motion(figure: "Figure", *, door: Door, motions: Motions) -> None:
    """Swing of the door by time stepping and in closed form, and the difference of both for two steps."""
    figure.set_size_inches(6.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    double = motions.double
    upper.plot(double.time, np.degrees(door.swing(double)), label="time stepping")
    exact = np.degrees(door.angles(double.time))
    upper.plot(double.time, exact, "--", color="#333333", linewidth=1.0, label="closed form")
    upper.set(ylabel="angle / °", xlim=(0.0, double.time[-1]))
    upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
    for run, color in ((double, "#0072B2"), (motions.finer, "#D55E00")):
        error = np.degrees(door.swing(run) - door.angles(run.time))
        lower.plot(run.time, error, color=color, linewidth=1.2, label=f"step {run.time[1]:.3g} s")
    lower.set(xlabel="time / s", ylabel="difference / °")
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    lower.legend(ncols=2)


def _draw_forces(figure: "Figure", *, door: Door, motions: Motions) -> None:
    """Forces of the hinges towards the axis and along it: only their sum (black, dashed: closed form) is determined."""
    figure.set_size_inches(6.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    double = motions.double
    angle = door.swing(double)
    inward = -np.stack([np.cos(angle), np.sin(angle)], axis=1)
    total = np.zeros((len(double), 2))
    for name, style in (("upper", "-"), ("lower", "--")):
        force = _hinge_forces(door, double, name)
        parts = np.stack([np.sum(force[:, :2] * inward, axis=1), force[:, 2]], axis=1)
        total += parts
        for axes, values in zip((upper, lower), parts.T, strict=True):
            axes.plot(double.time, values, style, label=f"{name} hinge (smallest)", linewidth=1.6)
    exact = (
        door.pull(door.angles(double.time)),
        np.full(len(double), door.mass * door.gravity * cos(door.lean)),
    )
    for axes, values, known in zip((upper, lower), total.T, exact, strict=True):
        axes.plot(double.time, values, color="#111111", linewidth=1.2, label="sum")
        axes.plot(double.time, known, ":", color="#E69F00", linewidth=2.2, label="closed form")
    upper.set(ylabel="to the axis / N", xlim=(0.0, double.time[-1]))
    lower.set(ylabel="along the axis / N", xlabel="time / s")
    lower.set_ylim(bottom=min(0.0, lower.get_ylim()[0]))
    upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_drift(figure: "Figure", *, motions: Motions) -> None:
    """Opening of the hinges over time, with and without projection of the position."""
    axes = figure.subplots()
    floor = 1e-17
    axes.semilogy(motions.double.time, np.maximum(motions.drift, floor), label="without projection")
    axes.semilogy(motions.projected.time, np.maximum(motions.projected_drift, floor), label="with projection")
    axes.set(xlabel="time / s", ylabel="largest opening / m", xlim=(0.0, motions.double.time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
