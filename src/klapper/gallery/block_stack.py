"""Block stack: how far it may hang over, how far its ground may tilt, and what its joints carry.

Equal blocks lie on each other. The uppermost hangs over the next by o w/2, this one by o w/4, then o w/6 …: for o = 1
every joint is at its limit (the stack of books that reaches as far as one likes, Johnson 1955), for o = 0 it is a
straight tower. The ground is tilted by α. What lies above a joint, with its centre of mass at (x, z), presses on it at

    p = x + (z − z_joint) tan α

The stack stands if every p lies within its joint and tan α ≤ μ. Then the normal forces at the two ends of a joint
follow from statics, but only the sum of the tangential ones does: they are not unique, and the audit says so. A stack
that stands does not move at all, however long one waits. One that does not is followed until a corner leaves the face
it rests on.
"""

from dataclasses import replace
from functools import partial
from math import cos, radians, sin, sinh
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._block_stack import STILL, Motion, Stack, Toppling
from klapper.gallery._run import SteppingName
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOLERANCE = (
    1e-7  # of the contact problems, for falling stacks with much friction; a standing one is solved exactly
)


@example("block-stack", source="statics; Johnson (1955), American Journal of Physics 23, 240")
def block_stack(
    *,
    count: Annotated[int, Parameter("number of blocks", at_least=1, at_most=40)] = 6,
    width: Annotated[float, Parameter("width of a block", unit="m", above=0.0)] = 0.2,
    height: Annotated[float, Parameter("height of a block", unit="m", above=0.0)] = 0.05,
    overhang: Annotated[
        float,
        Parameter("overhang in units of the largest possible one on level ground", at_least=0.0, at_most=1.9),
    ] = 0.9,
    tilt_deg: Annotated[
        float,
        Parameter("tilt of the ground, down towards the overhang", unit="°", at_least=-60.0, at_most=60.0),
    ] = 0.0,
    mu: Annotated[float, Parameter("friction coefficient of all joints", at_least=0.0)] = 0.5,
    mass: Annotated[float, Parameter("mass of a block", unit="kg", above=0.0)] = 1.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-3,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.3,
    scheme: Annotated[SteppingName, Parameter("time-stepping method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, scheme_named
    from klapper.simulation import simulate

    stack = Stack(count, width, height, overhang, radians(tilt_deg), mu, mass, gravity)
    system = stack.system()
    method: Any = scheme_named(scheme, step)
    run = simulate(system, until, replace(method, tolerance=TOLERANCE))
    motion = Motion(stack, system, run, step)
    end = motion.end
    still = bool(motion.displacement.max() <= STILL * stack.size)
    free = _free_forces(motion) if still else None
    figures: dict[str, Any] = {"stack": partial(_draw_stack, motion=motion, still=still)}
    if still:
        figures["forces"] = partial(_draw_forces, motion=motion)
    figures["displacement"] = partial(_draw_displacement, motion=motion)
    if not still:
        figures |= run_figures(run, "energy")
    return Outcome(
        numbers={
            "stands": still,
            "stands_by_statics": stack.stands,
            "margin_of_tipping": stack.margins[:-1].min(),
            "margin_of_sliding": stack.margins[-1],
            "overhang_length": stack.centres[-1, 0],
            "displacement": motion.displacement[end].max(),
            "followed_until": run.time[end],
            "normal_forces": motion.forces[:, :, 0] if still else None,
            "tangential_forces": motion.forces[:, :, 1] if still else None,
            "free_forces": free,
            "statics_normal_forces": stack.normal if stack.stands else None,
            "statics_tangential_sums": stack.shear if stack.stands else None,
        },
        units={
            "margin_of_tipping": "widths (of the nearest joint)",
            "margin_of_sliding": "(μ − tan α)",
            "overhang_length": "m (of the uppermost block over the lowest)",
            "displacement": "m (largest of a corner)",
            "followed_until": "s",
            "normal_forces": "N (joints from the ground up: left end, right end)",
            "tangential_forces": "N (on the block above; not unique)",
            "free_forces": "(independent changes of the forces that no block notices)",
            "statics_normal_forces": "N",
            "statics_tangential_sums": "N (sum of both ends)",
        },
        checks=[*_verdict(motion, still), *_motion_checks(motion, still), ledger_check(run)],
        audit={**run_audit(run), **(_uniqueness(free) if free is not None else {})},
        figures=figures,
    )


def _free_forces(motion: Motion) -> int:
    """Number of independent changes of the contact forces that no block notices, all joints sticking."""
    run, which = motion.run, np.arange(2 * motion.stack.count)
    directions = motion.system.directions(run.time[-1], run.position[-1], which)
    columns = (
        directions.normal if motion.stack.mu == 0.0 else np.hstack([directions.normal, directions.tangential])
    )
    return int(columns.shape[1] - np.linalg.matrix_rank(columns))


def _uniqueness(free: int) -> dict[str, Any]:
    forces = f"not unique: {free} of them may change without any effect" if free else "unique"
    return {"uniqueness": f"motion unique; forces of the standing stack {forces}"}


def _verdict(motion: Motion, still: bool) -> list[Check]:
    """What statics says, where it is not decided by round-off."""
    stack = motion.stack
    if not stack.certain(motion.run.time[-1]):
        return []
    checks = [
        Check(
            "the stack stands",
            value=still,
            expected=stack.stands,
            source="p within every joint and tan α ≤ μ",
        )
    ]
    return checks + (_force_checks(motion) if still and stack.stands else [])


def _force_checks(motion: Motion) -> list[Check]:
    stack, forces = motion.stack, motion.forces
    weight = stack.weights[0]
    small = 1e-7 * weight * stack.size / min(stack.width, stack.height)
    outside = np.maximum(
        stack.shear_range[..., 0] - forces[..., 1], forces[..., 1] - stack.shear_range[..., 1]
    )
    return [
        Check(
            "displacement",
            value=motion.displacement.max(),
            expected=0.0,
            tolerance=STILL * stack.size,
            source="a stack that stands does not creep; round-off",
        ),
        Check(
            "force of the ground",
            value=forces[0].sum(axis=0),
            expected=[weight * cos(stack.tilt), -weight * sin(stack.tilt)],
            tolerance=1e-8 * weight,
            source="weight of all blocks, normal and along the ground",
        ),
        Check(
            "normal forces at the ends of the joints",
            value=forces[..., 0],
            expected=stack.normal,
            tolerance=small,
            source="law of the lever",
        ),
        Check(
            "independent changes of the forces without effect",
            value=_free_forces(motion),
            expected=stack.count if stack.mu > 0.0 else 0,
            source="one for each joint: its ends pull against each other by friction",
        ),
        Check(
            "tangential forces of the joints",
            value=forces[..., 1].sum(axis=1),
            expected=stack.shear,
            tolerance=small,
            source="weight above the joint along the ground",
        ),
        Check(
            "tangential forces at the ends outside what friction allows",
            value=np.maximum(outside, 0.0).max(),
            expected=0.0,
            tolerance=small,
            source="sum of both ends, |λ_T| ≤ μ λ_N at each",
        ),
    ]


def _motion_checks(motion: Motion, still: bool) -> list[Check]:
    stack, run, h = motion.stack, motion.run, motion.step
    energy = run.ledger.kinetic + run.ledger.potential
    checks = [
        Check(
            "energy above that of the start",
            value=max(float(energy.max() - energy[0]), 0.0),
            at_least=0.0,
            at_most=run.time[-1] * h * stack.count * stack.mass * stack.gravity**2 / 8.0
            + run.ledger.round_off,
            source="contacts take energy; strict bound of what a step can give",
        )
    ]
    return checks if still else checks + _toppling_checks(motion)


def _toppling_checks(motion: Motion) -> list[Check]:
    """The turn of a stack that falls as one, at the last moment at which it certainly does."""
    stack, run = motion.stack, motion.run
    toppling = Toppling.of(stack)
    if toppling is None or motion.end < 10:
        return []
    times = run.time[: motion.end + 1]
    angles, speeds = toppling.turned(times)
    holds = [toppling.holds(angle, speed) for angle, speed in zip(angles, speeds, strict=True)]
    last = (holds.index(False) if False in holds else len(holds)) - 1
    if last < 10:
        return []
    fallen = 2.0 * stack.gravity * motion.step / toppling.radius
    return [
        Check(
            "turn of the stack that topples as one",
            value=-toppling.side * motion.poses[last, :, 2],
            expected=angles[last],
            tolerance=fallen * sinh(toppling.rate * times[last]) / toppling.rate,
            source="rigid body about an edge, other integrator; two steps of free fall before contacts are seen",
        ),
    ]


def _draw_stack(figure: "Figure", *, motion: Motion, still: bool) -> None:
    """The stack, with its normal forces if it stands, or as far as it was followed (outlines: the start)."""
    from klapper.gallery._sketch import BLUE, BODY, DARK, ORANGE, arrow, bare, wall

    figure.set_size_inches(6.4, 4.2)
    stack, axes, end = motion.stack, figure.subplots(), motion.end
    turn = np.array([[cos(stack.tilt), sin(stack.tilt)], [-sin(stack.tilt), cos(stack.tilt)]])
    for k in range(stack.count):
        axes.fill(
            *(motion.corners[end, k] @ turn.T).T, facecolor=BODY, edgecolor=DARK, linewidth=1.0, zorder=3
        )
        if not still:
            start = motion.corners[0, k] @ turn.T
            axes.fill(*start.T, fill=False, edgecolor="#999999", linewidth=0.8, linestyle=":", zorder=4)
    drawn = np.concatenate([motion.corners[0], motion.corners[end]]).reshape(-1, 2) @ turn.T
    ground = np.array([[-1.0, 0.0], [1.0, 0.0]]) * stack.size * 0.6 + (0.5 * stack.centres[-1, 0], 0.0)
    thick = 0.03 * stack.size
    begin, finish = ground @ turn.T
    wall(axes, begin, finish, turn @ (0.0, -thick))
    if still:
        longest = 0.9 * stack.height / motion.forces[..., 0].max()
        for k, (left, right) in enumerate(motion.forces[..., 0]):
            for x, force in zip(stack.ends[k], (left, right), strict=True):
                foot = np.array([x, k * stack.height])
                push = np.array([0.0, longest * force])
                if push[1] > 0.04 * stack.height:
                    arrow(axes, turn @ (foot - push), turn @ push, BLUE if k else ORANGE, width=1.4)
    drawn = np.vstack([drawn, ground @ turn.T])
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    below = 1.2 * stack.height if still else 2.0 * thick
    bare(axes, (low[0], high[0]), (low[1] - below, high[1] + thick))


def _draw_forces(figure: "Figure", *, motion: Motion) -> None:
    """Forces at the ends of the joints by time stepping (dots) and statics (bars). Statics leaves the tangential
    forces free within the bars."""
    figure.set_size_inches(7.4, 3.8)
    stack, forces = motion.stack, motion.forces
    left, right = figure.subplots(1, 2, sharey=True)
    rows = np.arange(stack.count)
    for side, (name, colour, shift) in enumerate(
        (("left end", "#0072B2", 0.18), ("right end", "#D55E00", -0.18))
    ):
        light = {"height": 0.3, "color": colour, "alpha": 0.35, "linewidth": 0.0}
        left.barh(rows + shift, stack.normal[:, side], label=name, **light)
        left.plot(forces[:, side, 0], rows + shift, "o", color=colour, markersize=4)
        least, most = stack.shear_range[:, side].T
        right.barh(rows + shift, most - least, left=least, **light)
        right.plot(forces[:, side, 1], rows + shift, "o", color=colour, markersize=4)
    right.axvline(0.0, color="#444444", linewidth=0.8)
    step = -(-stack.count // 12)
    left.set_yticks(rows[::step], [f"joint {k + 1}" for k in rows[::step]])
    left.set_xlabel("normal force / N")
    right.set_xlabel("tangential force / N")
    left.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_displacement(figure: "Figure", *, motion: Motion) -> None:
    """Largest displacement of a corner of each block over time, as far as the stack was followed."""
    from matplotlib import colormaps

    axes = figure.subplots()
    time, count = motion.run.time[: motion.end + 1], motion.stack.count
    for k in range(count):
        colour = colormaps["cividis"](k / max(count - 1, 1) * 0.9)
        name = f"block {k + 1}" if k in (0, count - 1) else None
        _line(axes, time, motion.displacement[: motion.end + 1, k], color=colour, linewidth=1.3, label=name)
    axes.set(xlabel="time / s", ylabel="displacement / m")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 3))
    axes.legend(loc="lower left", bbox_to_anchor=(0.12, 1.0), ncols=2, borderaxespad=0.3)


def _line(axes: "Axes", time: np.ndarray, values: np.ndarray, **style: Any) -> None:
    from klapper.results.thinning import thinned

    points = thinned(values, 1500)
    axes.plot(time[points], values[points], **style)
