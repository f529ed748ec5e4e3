"""Block on two feet under a growing push: one friction sum, and eight ways to split it.

While both feet stand, the motion of a rigid block sees the sum of its friction forces only:

    m ẍ = F + λ_TA + λ_TB,      λ_NB − λ_NA = (b/a) (F − λ_TA − λ_TB)

`method` chooses the split: `pinv` (smallest forces by the pseudo-inverse, cut off at the friction limits, which makes
the block chatter), `pinv-redistributed` (the other foot takes what was cut off), `prox` (the fixed-point iteration,
from `start_forces`), `functional-1`, `-2`, `-3` (smallest acceleration, then smallest forces), `compliant` (shares by
the stiffness of the two halves), and `two-body`, the block cut in half and held together by stiff springs, which
leaves nothing open. All of them move the block alike.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._block import (
    HIGH,
    Computed,
    Height,
    Mass,
    Method,
    Mu,
    Projection,
    Rate,
    Springs,
    Width,
    compute,
    make_block,
    thinned,
)
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRINTED = {"force_rate": 250.0, "mu": 0.1, "mass": 16.0, "width": 0.2, "height": 0.1, "until": 0.1}
FRAMES = 60


@example("undetermined-block", source="Seiwald (2014), 4.3, 5.2.2, 5.3, Table 5.3")
def undetermined_block(
    *,
    method: Annotated[Method, Parameter("how friction is split between the feet")] = "prox",
    force_rate: Rate = PRINTED["force_rate"],
    force: Annotated[float, Parameter("push at the start", unit="N", at_least=0.0)] = 0.0,
    mu: Mu = PRINTED["mu"],
    mass: Mass = PRINTED["mass"],
    width: Width = PRINTED["width"],
    height: Height = PRINTED["height"],
    step: Annotated[
        float,
        Parameter("time step; 0 for 1e-4 s, and 1e-6 s for the two-body method", unit="s", at_least=0.0),
    ] = 0.0,
    until: Annotated[float, Parameter("end of the motion", unit="s", above=0.0)] = PRINTED["until"],
    start_forces: Annotated[
        tuple[float, ...], Parameter("T_A,T_B (or T_A,N_A,T_B,N_B) from which every step iterates", unit="N")
    ] = (0.0, 0.0),
    projection: Annotated[Projection, Parameter("projection of closed and sticking states")] = "thesis",
    springs: Springs = HIGH,
    max_rounds: Annotated[
        int, Parameter("most rounds of a step; 0 for 20, and 5000 for functional-1", at_least=0)
    ] = 0,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.mechanics import Ramp

    block = make_block(width, height, mass, mu)
    if force + force_rate * until > block.tipping_force:
        raise ParameterError(
            f"the push grows to {force + force_rate * until:g} N; above {block.tipping_force:g} N the block tips. Give "
            f"a smaller force_rate or until."
        )
    done = compute(
        method,
        block,
        load=Ramp([force, 0.0, 0.0], [force_rate, 0.0, 0.0]),
        until=until,
        step=step,
        springs=springs,
        projection=projection,
        start_forces=start_forces,
        max_rounds=max_rounds,
    )
    found, history = done.onset, done.history
    given = {
        "force_rate": force_rate,
        "mu": mu,
        "mass": mass,
        "width": width,
        "height": height,
        "until": until,
    }
    usual = (force, step, projection, springs, any(start_forces)) == (0.0, 0.0, "thesis", HIGH, False)
    checks = [*_motion_checks(done, force, force_rate), ledger_check(done.run)]
    if usual and given == PRINTED:
        checks += _printed(done)
    return Outcome(
        numbers={
            "transition_time": found.all_saturated,
            "forces_at_10N": done.forces_at(10.0),
            "flag_changes": found.flag_changes,
            "outer_iterations": history.outer_total,
            "inner_iterations": history.inner_total,
            "final_position": float(done.run.position[-1, ::3].mean()),
            "displacement": float(done.way[-1]),
            "final_speed": float(done.speed[-1]),
            "saturation_times": found.saturated,
            "last_reserve": found.last_reserve,
            "slip_flag_times": found.slips,
            "slips_for_good": found.slips_for_good,
            "first_restick": found.resticks[0] if len(found.resticks) else np.nan,
            "last_restick": found.resticks[-1] if len(found.resticks) else np.nan,
            "velocity_times": found.moves,
            "cases": _cases(history.case),
        },
        units={
            "transition_time": "s (first step with both feet at their friction limits)",
            "forces_at_10N": "N (λ_TA, λ_NA, λ_TB, λ_NB)",
            "flag_changes": "steps in which a foot began to slip or to stick",
            "final_position": "m (x of the centre of mass)",
            "displacement": "m",
            "final_speed": "m/s",
            "saturation_times": "s (A and B, first at the limit)",
            "last_reserve": "s (last step in which a foot was below its limit)",
            "slip_flag_times": "s (A and B, first flag slip)",
            "slips_for_good": "s",
            "first_restick": "s",
            "last_restick": "s",
            "velocity_times": "s (A and B, first above 1e-6 m/s)",
            "cases": "steps of each case of Tables C.1-C.4",
        },
        checks=checks,
        audit={**run_audit(done.run), "selection": _selection(done)},
        figures=_figures(done),
    )


def _cases(case: tuple[str, ...]) -> dict[str, int]:
    return {name: case.count(name) for name in dict.fromkeys(case) if name}


def _selection(done: Computed) -> str:
    """What the method assumes, in a sentence."""
    return {
        "pinv": "smallest forces that stop all contact accelerations, cut off at the limits: sums may be missed",
        "pinv-redistributed": "smallest forces that stop all contact accelerations; what one foot cannot carry, the "
        "other takes",
        "prox": "the point of the possible forces nearest to the start of the iteration, in the metric of 1/r",
        "functional-1": "sum with the smallest accelerations, then the smallest forces",
        "functional-2": "sum with the smallest unbalanced forces, then the smallest forces",
        "functional-3": "sum with the smallest horizontal acceleration, then the smallest forces",
        "equal-utilisation": "sum with the smallest horizontal acceleration, shared by the friction limits, as "
        "regularised friction does",
        "compliant": "sum with the smallest horizontal acceleration, shared like springs, with a locked-in pair",
        "two-body": "nothing is open: the springs between the halves decide, and the way to the start",
    }[done.method]


def _motion_checks(done: Computed, force: float, rate: float) -> list[Check]:
    """What holds for every method: the way of the sliding block, and the normal forces at the end."""
    block, until = done.block, done.until
    checks = []
    push, total = done.push[-1], done.forces[-1, 0] + done.forces[-1, 2]
    slides = force + rate * until > block.slip_force
    if rate > 0.0 and force < block.slip_force:
        begin = (block.slip_force - force) / rate
        late = max(until - begin, 0.0)
        checks.append(
            Check(
                "way of the centre of mass",
                value=float(done.way[-1]),
                expected=rate * late**3 / (6.0 * block.mass),
                tolerance=done.way_tolerance(late, rate),
                source="Newton's law after the start of sliding; the tolerance is the speed times the uncertain start",
            )
        )
    if done.bodies == 1 and (slides or done.method != "pinv"):
        checks.append(
            Check(
                "friction sum at the end",
                value=total,
                expected=-min(push, block.friction[0] * block.weight),
                tolerance=0.05 if done.method == "functional-1" else 2e-3,
                source="at rest the push, sliding μ m g",
            )
        )
        checks.append(
            Check(
                "normal forces at the end",
                value=done.forces[-1, [1, 3]],
                expected=block.normal_forces(push, total),
                tolerance=2e-2 if done.method == "functional-1" else 2e-3,
                source="balance of moments",
            )
        )
    return checks


def _printed(done: Computed) -> list[Check]:
    """Table 5.3 under the criterion that fits its row best; the slope of the ramp was inferred from it."""
    found = done.onset
    if done.method == "pinv":
        return [
            Check(
                "first re-stick",
                value=found.resticks[0],
                expected=58.5e-3,
                tolerance=1e-4,
                source="Table 5.3, row b",
            ),
            Check(
                "last re-stick",
                value=found.resticks[-1],
                expected=62.1e-3,
                tolerance=1e-4,
                source="Table 5.3, row b",
            ),
            Check(
                "changes of the flags",
                value=found.flag_changes,
                at_least=10,
                source="5.2.2: permanent switching",
            ),
        ]
    if done.method == "two-body":
        return [
            Check(
                "start of sliding of A and B",
                value=[found.all_saturated, found.moves[1]],
                expected=[62.65e-3, 62.60e-3],
                tolerance=0.5e-3,
                source="Table 5.3, row a, ±0.5 ms because the criterion is not stated",
            ),
            Check(
                "friction at 10 N",
                value=done.forces_at(10.0)[[0, 2]],
                expected=done.expected_friction(10.0),
                tolerance=0.05,
                source="quasi-static shares of the halves",
            ),
        ]
    checks = [
        Check(
            "start of sliding",
            value=found.all_saturated,
            expected=62.9e-3,
            tolerance=1e-6,
            source="Table 5.3, rows c and d (the slope 250 N/s was inferred from it)",
        ),
        Check("changes of the flags", value=found.flag_changes, expected=1, source="one transition"),
    ]
    if not (done.method == "prox" and done.scheme.start is not None):
        grown = np.array([5.0, 10.0, 14.5, 15.5])
        checks.append(
            Check(
                "friction at 5, 10, 14.5 and 15.5 N",
                value=np.array([done.forces_at(push)[[0, 2]] for push in grown]),
                expected=done.expected_friction(grown),
                tolerance=0.02 if done.method == "functional-1" else 2e-3,
                source="closed form of the selection",
            )
        )
    return checks


def _figures(done: Computed) -> "dict[str, Callable[[Figure], Any]]":
    from klapper.gallery._block_film import draw_block
    from klapper.report.film import Film

    return {
        "friction": partial(_draw_friction, done=done),
        "iterations": partial(_draw_iterations, done=done),
        "slip": partial(_draw_slip, done=done),
        "block": Film(
            partial(draw_block, done=done, frames=FRAMES), frames=FRAMES, interval=0.08, still=FRAMES // 2
        ),
    }


def _draw_friction(figure: "Figure", *, done: Computed) -> None:
    """Friction forces of both feet over the push, with their limits. Dotted: the closed form of the selection. Where a
    line fills an area, the force changes from step to step."""
    figure.set_size_inches(7.0, 4.2)
    axes = figure.subplots()
    chosen = thinned(len(done.run))[1:]
    push, forces = done.push[chosen], done.forces[chosen]
    chatters = len(done.onset.resticks) > 0
    for foot, colour, width in ((0, "C0", 3.2), (1, "C1", 0.9 if chatters else 1.6)):
        name = "AB"[foot]
        axes.plot(push, forces[:, 2 * foot], color=colour, linewidth=width, label=f"$\\lambda_{{T{name}}}$")
        limit = -done.block.friction[foot] * forces[:, 2 * foot + 1]
        axes.plot(push, limit, color=colour, linestyle="--", linewidth=1.0, label=f"limit of {name}")
    axes.plot(push, forces[:, 0] + forces[:, 2], color="0.25", linewidth=0.8, label="sum")
    closed = done.expected_friction(push)
    axes.plot(push, closed, color="k", linestyle=":", linewidth=1.4)
    axes.axvline(done.block.slip_force, color="0.6", linewidth=0.9)
    axes.text(done.block.slip_force, axes.get_ylim()[1], r" sliding", color="0.4", va="top")
    axes.set(xlabel="push F / N", ylabel="friction force / N", title=f"Split by {done.method}")
    axes.legend(ncols=2, loc="lower left")


def _draw_iterations(figure: "Figure", *, done: Computed) -> None:
    """Iterations of every step: rounds of the outer level, and iterations of the inner levels."""
    axes = figure.subplots()
    history = done.history
    chosen = thinned(len(history.time))
    time = 1e3 * history.time[chosen]
    axes.plot(time, history.normal[chosen], label="normal iterations")
    axes.plot(time, history.tangential[chosen], label="tangential iterations")
    axes.plot(time, history.rounds[chosen], label="rounds")
    if history.rounds.max() > 100:
        axes.set_yscale("symlog", linthresh=10)
    axes.set(xlabel="time / ms", ylabel="number per step", title=f"Work of {done.method}")
    axes.legend()


def _draw_slip(figure: "Figure", *, done: Computed) -> None:
    """Sliding velocity of the feet around the start of sliding. The line in the background is the closed form of the
    rigid block, the grey band the time between the first and the last change of the flags."""
    axes = figure.subplots()
    slip = done.system.foot_velocities(done.run.position, done.run.velocity)
    rate = float(done.system.load.rate(0.0)[0])
    force = float(done.system.load.value(0.0)[0])
    begin = (done.block.slip_force - force) / rate if rate else 0.0
    window = (
        (done.run.time > 0.9 * begin) & (done.run.time < 1.06 * begin)
        if begin < done.until
        else done.run.time >= 0
    )
    chosen = np.flatnonzero(window)
    chosen = chosen[thinned(len(chosen))] if len(chosen) else chosen
    time = 1e3 * done.run.time[chosen]
    axes.plot(
        time, 1e6 * _exact_speed(done, chosen, begin, rate), color="0.7", linewidth=4.0, label="rigid, exact"
    )
    for foot, colour, width in ((0, "C0", 2.4), (1, "C1", 1.0)):
        axes.plot(time, 1e6 * slip[chosen, foot], color=colour, linewidth=width, label=f"foot {'AB'[foot]}")
    _mark_chatter(axes, done)
    axes.set(
        xlabel="time / ms", ylabel="sliding velocity / (µm/s)", title=f"Start of sliding by {done.method}"
    )
    axes.legend(loc="upper left")


def _exact_speed(done: Computed, chosen: np.ndarray, begin: float, rate: float) -> np.ndarray:
    late = np.maximum(done.run.time[chosen] - begin, 0.0)
    return rate * late**2 / (2.0 * done.block.mass)


def _mark_chatter(axes: "Axes", done: Computed) -> None:
    found = done.onset
    if len(found.resticks):
        axes.axvspan(1e3 * np.nanmin(found.slips), 1e3 * found.slips_for_good, color="0.92", zorder=0)
