"""Compliant wedge: below a friction coefficient the turning disc comes to rest, above it it rattles for ever.

A disc turns in a wedge whose walls are stiff springs with a little damping. Pressed into the wedge from where it
touches both walls, its centre oscillates. Below μ = cot α that dies away and the disc turns in place; above it
the oscillation grows until the more loaded contact opens, and ends in a limit cycle in which it opens and
closes in every period. The model is positively homogeneous: f times the load, f times the motion.

    λ_N = max(0, −c g − d ġ) for g < 0, else 0                                          (4.80)
    λ_T = −μ λ_N v_T/|v_T|                                                              (4.87)

As long as the disc turns faster than its centre moves, both contacts slide in one sense. The motion is then
linear from switch to switch and is computed exactly; the senses are checked. The limit cycle is found by
following the motion, and polished by Newton's method on its return map."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery._compliant_wedge import BLOCK, Wedge
from klapper.gallery._compliant_wedge_figures import drawings
from klapper.gallery._wedged_disc import Disc
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example
from klapper.gallery.wedge_stability import judge, require_turning

if TYPE_CHECKING:
    from klapper.analysis.attractor import Attractor
    from klapper.gallery._sliding_flow import FlowTrajectory
    from klapper.mechanics import State

BORDER = 0.01  # relative distance from cot α below which nothing settles in a reasonable time
PRINTED = {"mu": (0.95, 1.05), "force": (9.81, 98.1), "alpha": np.pi / 4, "stiffness": 1e5, "damping": 0.5}


@example("compliant-wedge", source="Waltersberger (2007), Example 5.6, Figs. 5.17-5.19")
def compliant_wedge(
    *,
    mu: Annotated[
        tuple[float, ...], Parameter("friction coefficients, each a motion of its own", above=0.0)
    ] = (0.95, 1.05),
    force: Annotated[
        tuple[float, float], Parameter("forces into the wedge, to be compared", unit="N", above=0.0)
    ] = (9.81, 98.1),
    alpha: Annotated[
        float, Parameter("opening angle of the wedge", unit="rad", above=0.05, below=1.5)
    ] = np.pi / 4,
    stiffness: Annotated[float, Parameter("stiffness of each wall", unit="N/m", above=0.0)] = 1e5,
    damping: Annotated[float, Parameter("damping of each wall", unit="N s/m", at_least=0.0)] = 0.5,
    moment_ratio: Annotated[float, Parameter("moment M in units of M₀; its sign is the sense")] = -1.5,
    start: Annotated[
        Literal["pushed", "touching"],
        Parameter("where motions begin: turning in place and pushed, or touching both walls at rest"),
    ] = "pushed",
    push: Annotated[
        float,
        Parameter(
            "speed of the push under the first force, as much more under the other", unit="m/s", above=0.0
        ),
    ] = 0.01,
    speed: Annotated[float, Parameter("angular speed at the start", unit="rad/s", above=0.0)] = 100.0,
    radius: Annotated[float, Parameter("radius of the disc", unit="m", above=0.0)] = 0.1,
    mass: Annotated[float, Parameter("mass of the homogeneous disc", unit="kg", above=0.0)] = 1.0,
    compared: Annotated[
        float, Parameter("duration compared with the scheme Regularised", unit="s", above=0.0, at_most=0.5)
    ] = 0.1,
    until: Annotated[
        float, Parameter("duration of the plotted motions", unit="s", above=0.1, at_most=60.0)
    ] = 10.0,
    patience: Annotated[
        float,
        Parameter("how long to wait for a limit cycle or for rest", unit="s", at_least=2.0, at_most=2e3),
    ] = 200.0,
) -> Outcome:
    wedges = [
        [Wedge(Disc(m, alpha, moment_ratio, f, radius, mass), stiffness, damping) for f in force] for m in mu
    ]
    for row in wedges:
        require_turning(row[0].disc)
        if abs(row[0].disc.mu * np.tan(alpha) - 1.0) < BORDER:
            raise ParameterError(
                f"mu is {row[0].disc.mu:g}, within 1 % of cot α = {1 / np.tan(alpha):.6g}, where motions "
                f"neither grow nor die away in a reasonable time."
            )
    starts = [
        [one.touching if start == "touching" else one.pushed(push * one.disc.force / force[0]) for one in row]
        for row in wedges
    ]
    motions = [
        [one.flow.advance(begin, until) for one, begin in zip(row, begins, strict=True)]
        for row, begins in zip(wedges, starts, strict=True)
    ]
    ends = [row[0].attractor(begins[0], patience) for row, begins in zip(wedges, starts, strict=True)]
    scaled = [_from_scaled(row, end, patience) for row, end in zip(wedges, ends, strict=True)]
    margin = min(
        _sliding_margin(row[0], motion[0], speed) for row, motion in zip(wedges, motions, strict=True)
    )
    rates = np.array([row[0].measured_rates() for row in wedges])
    apart = [
        _distance(row[0], begins[0], speed, compared) for row, begins in zip(wedges, starts, strict=True)
    ]
    costs = [_late_cost(row[0], end, speed, compared) for row, end in zip(wedges, ends, strict=True)]
    numbers, units = _numbers(wedges, motions, ends, rates, margin, costs)
    printed = {"mu": mu, "force": force, "alpha": alpha, "stiffness": stiffness, "damping": damping}
    checks = _checks(wedges, ends, scaled, rates, margin)
    checks.append(
        Check(
            "distance from the scheme Regularised",
            value=apart,
            expected=0.0,
            tolerance=1e-5,
            source=f"another method, over the first {compared:g} s, relative to the motion",
        )
    )
    if printed == PRINTED and (mass, radius) == (1.0, 0.1):
        checks += _printed_checks(wedges, ends)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=checks,
        audit={
            "method": f"exact between switches, steps of {wedges[0][0].flow.step:.3g} s only to look for switches",
            "stability": {f"mu {row[0].disc.mu:g}": str(row[0].judged).splitlines()[3] for row in wedges},
            "attractors": {f"mu {row[0].disc.mu:g}": str(end) for row, end in zip(wedges, ends, strict=True)},
            "multipliers of the return map": {
                f"mu {row[0].disc.mu:g}": np.abs(end.multipliers).tolist()
                for row, end in zip(wedges, ends, strict=True)
                if len(end.multipliers)
            },
            "uniqueness": "with compliant walls the motion is unique; between rigid walls it need not be",
        },
        figures=drawings(wedges, motions, ends),
    )


def _from_scaled(row: "list[Wedge]", end: "Attractor", patience: float) -> "Attractor":
    """What the disc under the second force settles to, from the scaled limit cycle of the first."""
    from klapper.mechanics import State

    if end.kind != "periodic":
        return end
    factor = row[1].disc.force / row[0].disc.force
    start = State(0.0, factor * end.cycle.position[-1], factor * end.cycle.velocity[-1])
    return row[1].attractor(start, min(patience, 20 * BLOCK))


def _distance(one: Wedge, start: "State", speed: float, duration: float) -> float:
    """How far the general scheme ends from the exact flow, relative to the displacements."""
    run = one.by_regularised(start, speed, duration)
    exact = one.flow.advance(start, duration)
    return float(np.abs(run.position[-1, :2] - exact.position[-1]).max() / np.abs(exact.position).max())


def _late_cost(one: Wedge, end: "Attractor", speed: float, duration: float) -> float:
    """Steps per second that the general scheme needs in the motion that the disc settles to; nan if it does not."""
    from klapper.mechanics import State

    if not end.settled:
        return np.nan
    last = State(0.0, end.cycle.position[-1], end.cycle.velocity[-1])
    return float(one.by_regularised(last, speed, duration).about["steps"]) / duration


def _cost_ratio(wedges: "list[list[Wedge]]", costs: list[float]) -> float:
    """Steps above the critical friction coefficient over those below, if both were computed."""
    kinds = np.array([row[0].stable for row in wedges])
    if kinds.all() or not kinds.any():
        return np.nan
    return float(np.mean(np.array(costs)[~kinds]) / np.mean(np.array(costs)[kinds]))


def _sliding_margin(one: Wedge, motion: "FlowTrajectory", speed: float) -> float:
    """Least sliding speed of both contacts in the sense of the rotation [m/s]; negative if one slid backwards.

    The rotation follows from its moment balance, J_S ω' = M − r μ (λ_N1 + λ_N2) in the sense of the moment."""
    disc, sense = one.disc, np.sign(one.disc.moment)
    braking = disc.radius * disc.mu * one.flow.normal_forces(motion).sum(axis=1)
    rate = (abs(disc.moment) - braking) / disc.inertia
    turned = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(motion.time))])
    rim = disc.radius * (speed + turned)
    tangents = np.array([[1.0, 0.0], [-np.cos(disc.alpha), -np.sin(disc.alpha)]])
    return float((rim[:, None] + sense * motion.velocity @ tangents.T).min())


def _late_switches(motion: "FlowTrajectory") -> int:
    """Switches in the last tenth of a motion: every one is a pair of samples at one time."""
    late = motion.time[1:] > motion.time[0] + 0.9 * (motion.time[-1] - motion.time[0])
    return int(np.sum((np.diff(motion.time) == 0.0) & late))


def _numbers(
    wedges: "list[list[Wedge]]",
    motions: "list[list[FlowTrajectory]]",
    ends: "list[Attractor]",
    rates: np.ndarray,
    margin: float,
    costs: list[float],
) -> tuple[dict[str, Any], dict[str, str]]:
    firsts = [row[0] for row in wedges]
    cycles = [end.cycle for end in ends]
    per_period = [
        int(np.sum(np.diff(cycle.time) == 0.0)) if end.kind == "periodic" else 0
        for cycle, end in zip(cycles, ends, strict=True)
    ]
    numbers = {
        "settles_to": [end.kind for end in ends],
        "settled_after": [end.time for end in ends],
        "growth": [one.judged.growth for one in firsts],
        "growth_without_damping": [judge(one.disc, one.stiffness).growth for one in firsts],
        "measured_rates": rates,
        "sliding_penetrations": [-one.judged.sliding.gap for one in firsts],
        "period": [end.period for end in ends],
        "loaded_gap": [end.extrema.get("loaded", (np.nan, np.nan)) for end in ends],
        "other_gap": [end.extrema.get("other", (np.nan, np.nan)) for end in ends],
        "largest_multiplier": [
            float(np.abs(end.multipliers[0])) if len(end.multipliers) else np.nan for end in ends
        ],
        "switches": [motion[0].switches for motion in motions],
        "late_switches": [_late_switches(motion[0]) for motion in motions],
        "switches_per_period": per_period,
        "steps_per_second": costs,
        "cost_ratio": _cost_ratio(wedges, costs),
        "least_sliding_speed": margin,
    }
    units = {
        "settled_after": "s",
        "growth": "1/s",
        "growth_without_damping": "1/s",
        "measured_rates": "1/s (both oscillations)",
        "sliding_penetrations": "m (walls 1, 2)",
        "period": "s",
        "loaded_gap": "m (least, greatest)",
        "other_gap": "m (least, greatest)",
        "steps_per_second": "1/s (of Regularised, in the motion each settles to)",
        "least_sliding_speed": "m/s",
    }
    return numbers, units


def _checks(
    wedges: "list[list[Wedge]]",
    ends: "list[Attractor]",
    scaled: "list[Attractor]",
    rates: np.ndarray,
    margin: float,
) -> list[Check]:
    checks = [
        Check(
            "both contacts slide in one sense throughout",
            value=margin,
            at_least=0.0,
            source="what the exact flow assumes",
        )
    ]
    for row, end, again, measured in zip(wedges, ends, scaled, rates, strict=True):
        one, word = row[0], f"μ = {row[0].disc.mu:g}"
        expected = np.sort(one.eigenvalues[one.eigenvalues.imag > 0.0].real)[::-1]
        checks.append(
            Check(
                f"{word}: growth of both oscillations",
                value=measured,
                expected=expected,
                tolerance=1e-6 * float(np.sqrt(one.stiffness / one.disc.mass)),
                source="roots of s² + (d/c) κ s + κ, κ from (5.31); measured on the motion",
            )
        )
        checks.append(_scaling_check(row, word))
        if one.stable:
            checks.append(_rest_check(one, end, word))
        elif end.kind == "periodic":
            checks += _cycle_checks(row, end, again, word)
    return checks


def _scaling_check(row: "list[Wedge]", word: str) -> Check:
    """The motions under both forces have the same ratio as the forces, before round-off grows."""
    factor = row[1].disc.force / row[0].disc.force
    first, second = (one.flow.advance(one.touching, 0.05) for one in row)
    size = np.abs(first.position).max()
    return Check(
        f"{word}: displacements grow with the force",
        value=float(np.abs(second.position[-1] / factor - first.position[-1]).max() / size),
        expected=0.0,
        tolerance=1e-9,
        source="positive homogeneity, over the first 0.05 s",
    )


def _rest_check(one: Wedge, end: "Attractor", word: str) -> Check:
    gaps = one.flow.gaps(end.cycle.position[-1:])[0]
    decay = abs(one.eigenvalues.real).min()
    left = float(np.exp(-decay * max(end.time - 5.0, 0.0)))
    return Check(
        f"{word}: penetrations at the end",
        value=-gaps,
        expected=one.resting_penetrations,
        tolerance=max(20.0 * left, 1e-7) * one.resting_penetrations.max(),
        source="closed form of the disc that turns in place; the tolerance is what its decay rate leaves",
    )


def _cycle_checks(row: "list[Wedge]", end: "Attractor", again: "Attractor", word: str) -> list[Check]:
    one, factor = row[0], row[1].disc.force / row[0].disc.force
    cycle = end.cycle
    pressed = float(one.flow.pressing(cycle).sum(axis=1) @ np.diff(cycle.time))
    return [
        Check(
            f"{word}: the loaded contact opens in every period",
            value=end.extrema["loaded"][1],
            at_least=0.0,
            source="thesis: contacts open and close permanently",
        ),
        Check(
            f"{word}: product of the multipliers",
            value=float(np.prod(end.multipliers).real),
            expected=float(np.exp(-one.damping / one.disc.mass * pressed)),
            tolerance=2e-6,
            source="Liouville: volumes shrink with d/m for every contact that presses; differences of 1e-6",
        ),
        Check(
            f"{word}: limit cycle grows with the force",
            value=np.array([*again.extrema["loaded"], *again.extrema["other"]]) / factor,
            expected=np.array([*end.extrema["loaded"], *end.extrema["other"]]),
            tolerance=1e-7 * abs(end.extrema["loaded"][0]),
            source="positive homogeneity",
        ),
        Check(
            f"{word}: period does not depend on the force",
            value=again.period / end.period,
            expected=1.0,
            tolerance=1e-9,
            source="positive homogeneity",
        ),
    ]


def _printed_checks(wedges: "list[list[Wedge]]", ends: "list[Attractor]") -> list[Check]:
    """What is known of the printed parameters."""
    rest, cycle = 0, 1
    penetrations = np.sort(-wedges[rest][0].flow.gaps(ends[rest].cycle.position[-1:])[0])
    checks = [
        Check(
            "penetrations of the disc that turns in place",
            value=penetrations,
            expected=np.array([4.086e-5, 9.388e-5]),
            tolerance=5e-9,
            source="steady loads 4.086 N and 9.388 N, closed form",
        ),
        _beginning_check(wedges[cycle][0]),
    ]
    if ends[cycle].kind == "periodic":
        found = ends[cycle]
        checks += [
            Check(
                "period of the limit cycle",
                value=found.period,
                expected=0.021831,
                tolerance=5e-7,
                source="Runge-Kutta with steps of 1e-6 s",
            ),
            Check(
                "gaps in the limit cycle",
                value=np.array([*found.extrema["loaded"], *found.extrema["other"]]),
                expected=np.array([-2.643e-4, 1.545e-4, -6.277e-5, -7.64e-6]),
                tolerance=np.array([5e-8, 5e-8, 5e-9, 5e-9]),
                source="Runge-Kutta with steps of 1e-6 s",
            ),
        ]
    return checks


def _beginning_check(one: Wedge) -> Check:
    gaps = one.flow.gaps(one.flow.advance(one.touching, 0.5).position)[:, [one.loaded, 1 - one.loaded]]
    return Check(
        "gaps in the first 0.5 s from the touching position",
        value=np.concatenate([gaps.min(axis=0), gaps.max(axis=0)]),
        expected=np.array([-3.879e-4, -1.008e-4, 7.990e-4, 3.479e-5]),
        tolerance=np.array([1e-7, 5e-8, 1e-7, 1e-8]),
        source="Runge-Kutta with steps of 2e-7 … 2e-5 s, the first four digits of which agree",
    )
