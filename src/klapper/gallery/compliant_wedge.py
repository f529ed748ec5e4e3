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

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example
from klapper.gallery.wedge_stability import closed_form, judge, require_turning, wedge
from klapper.gallery.wedged_disc import Disc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis.attractor import Attractor
    from klapper.analysis.sliding_stability import SlidingStability
    from klapper.gallery._sliding_flow import FlowTrajectory, SlidingFlow
    from klapper.mechanics import State
    from klapper.results import Run

BLOCK = 2.0  # s between two looks at the motion
SETTLED = 1e-2  # return points that repeat to this accuracy are handed to Newton's method
BORDER = 0.01  # relative distance from cot α below which nothing settles in a reasonable time
PRINTED = {"mu": (0.95, 1.05), "force": (9.81, 98.1), "alpha": np.pi / 4, "stiffness": 1e5, "damping": 0.5}


@dataclass(frozen=True)
class Wedge:
    """A disc that turns in a compliant wedge."""

    disc: Disc
    stiffness: float
    damping: float

    @property
    def stable(self) -> bool:
        return self.disc.mu * np.tan(self.disc.alpha) < 1.0

    @property
    def loaded(self) -> int:
        """The number of the more loaded contact."""
        return 0 if self.disc.moment < 0.0 else 1

    @property
    def resting_penetrations(self) -> np.ndarray:
        """(2,) [m] of the disc that turns in place, in closed form."""
        return self.disc.turning_forces()[0::2] / self.stiffness

    @property
    def eigenvalues(self) -> np.ndarray:
        """s (4,) [1/s] in closed form: D = (d/c) K, so s² + (d/c) κ s + κ = 0 with κ = −s² of (5.31)."""
        squares = -closed_form(self.disc, np.sqrt(self.stiffness / self.disc.mass))
        ratio = self.damping / self.stiffness
        return np.concatenate([np.roots([1.0, ratio * kappa, kappa]) for kappa in squares])

    @cached_property
    def judged(self) -> "SlidingStability":
        return judge(self.disc, self.stiffness, self.damping)

    @cached_property
    def flow(self) -> "SlidingFlow":
        """The motion of the centre; the rotation does not act on it."""
        from klapper.gallery._sliding_flow import SlidingFlow
        from klapper.mechanics.compliance import CompliantNormal

        law = CompliantNormal(self.stiffness, self.damping)
        return SlidingFlow(wedge(self.disc), law, (0.0, 0.0, np.sign(self.disc.moment)), (0, 1))

    @property
    def touching(self) -> "State":
        """The centre at rest, where the disc touches both walls."""
        from klapper.mechanics import State

        return State(0.0, np.zeros(2), np.zeros(2))

    def pushed(self, push: float) -> "State":
        """The disc turning in place, its centre pushed away from the more loaded wall with ``push`` [m/s]."""
        from klapper.mechanics import State

        normals = np.array([[0.0, 1.0], [np.sin(self.disc.alpha), -np.cos(self.disc.alpha)]])
        return State(0.0, self.judged.sliding.position[:2], push * normals[self.loaded])

    def by_regularised(self, start: "State", speed: float, duration: float) -> "Run":
        """The same motion, rotation included, by the general scheme for compliant contacts."""
        from klapper.mechanics.compliance import CompliantNormal
        from klapper.schemes.regularised import Regularised
        from klapper.simulate import simulate

        system = wedge(self.disc, speed=speed, centre=start.position, rate=start.velocity)
        scheme = Regularised(CompliantNormal(self.stiffness, self.damping))
        return simulate(system, duration, scheme, progress=False)

    def measured_rates(self) -> np.ndarray:
        """Growth (2,) [1/s] of the two oscillations, from a motion near steady sliding: how fast its parts in the two
        eigenspaces grow, the faster first."""
        from klapper.mechanics import State

        rest = np.concatenate([self.judged.sliding.position[:2], np.zeros(2)])
        size = 1e-6 * np.abs(rest).max()
        duration = 3.0 / max(np.abs(self.judged.eigenvalues.real).max(), 1.0)
        motion = self.flow.advance(State(0.0, rest[:2] + size * np.array([1.0, 0.3]), rest[2:]), duration)
        values, left = np.linalg.eig(self.flow.pressed_matrix.T)
        chosen = np.flatnonzero(values.imag > 0.0)
        states = np.hstack([motion.position, motion.velocity])[[0, -1]] - rest
        parts = np.abs(states @ left[:, chosen])
        return np.sort(np.log(parts[1] / parts[0]) / duration)[::-1]

    def attractor(self, start: "State", patience: float) -> "Attractor":
        from klapper.analysis.attractor import find_attractor
        from klapper.analysis.poincare_section import PoincareSection

        below = self.judged.sliding.gap[self.loaded]
        flow = self.flow
        return find_attractor(
            flow.advance,
            start,
            section=PoincareSection(lambda t, q, v: flow.gaps(q)[:, self.loaded] - below, rising=False),
            block=BLOCK,
            patience=patience,
            tolerance=SETTLED if not self.stable else 1e-9,
            quantities={
                "loaded": lambda t, q, v: flow.gaps(q)[:, self.loaded],
                "other": lambda t, q, v: flow.gaps(q)[:, 1 - self.loaded],
            },
        )


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
        figures=_figures(wedges, motions, ends),
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


def _figures(
    wedges: "list[list[Wedge]]", motions: "list[list[FlowTrajectory]]", ends: "list[Attractor]"
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for row, motion, end in zip(wedges, motions, ends, strict=True):
        name = f"{row[0].disc.mu:g}".replace(".", "-")
        figures[f"motion-{name}"] = partial(_draw_motion, row=row, motion=motion)
        if end.kind == "periodic":
            begin = _first_state(motion[0])
            figures[f"limit-cycle-{name}"] = partial(_draw_cycle, one=row[0], end=end)
            figures[f"approach-{name}"] = partial(_draw_approach, one=row[0], end=end, begin=begin)
    return figures


def _first_state(motion: "FlowTrajectory") -> "State":
    from klapper.mechanics import State

    return State(float(motion.time[0]), motion.position[0], motion.velocity[0])


def _draw_motion(figure: "Figure", *, row: "list[Wedge]", motion: "list[FlowTrajectory]") -> None:
    """Height of the centre above wall 1, from where the disc touches it, under both forces: above zero the contact is
    open. Right: the beginning. Dashed: the disc turns in place."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    figure.set_size_inches(9.0, 5.2)
    panels = figure.subplots(2, 2, width_ratios=[1.5, 1.0], sharey="row")
    for (whole, beginning), one, path, color in zip(panels, row, motion, (BLUE, ORANGE), strict=True):
        height = 1e3 * path.position[:, 1]
        start = path.time <= 0.25
        whole.plot(path.time, height, color=color, linewidth=0.3, rasterized=True)
        beginning.plot(path.time[start], height[start], color=color, linewidth=1.0)
        for axes in (whole, beginning):
            axes.axhline(-1e3 * one.resting_penetrations[0], color=DARK, linewidth=1.0, linestyle="--")
            axes.axhline(0.0, color=DARK, linewidth=0.8)
        whole.set(ylabel="height / mm", xlim=(0.0, path.time[-1]))
        whole.set_title(f"μ = {one.disc.mu:g}, f = {one.disc.force:g} N")
        beginning.set(xlim=(0.0, 0.25))
    for axes in panels[1]:
        axes.set_xlabel("time / s")
    panels[0, 1].set_title("the beginning; dashed: turning in place", fontsize=10)


def _draw_cycle(figure: "Figure", *, one: Wedge, end: "Attractor") -> None:
    """The limit cycle. Left: phase portrait of the height above wall 1; right: path of the centre, with the
    walls at the places where the disc just touches them. Orange: one contact is open; blue: both press."""
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(9.0, 4.2)
    portrait, path = figure.subplots(1, 2)
    cycle = end.cycle
    gaps = one.flow.gaps(cycle.position)
    opened = np.where((gaps >= 0.0).any(axis=1), 1.0, np.nan)
    x, y = 1e3 * cycle.position.T
    portrait.plot(y, cycle.velocity[:, 1], color=BLUE)
    portrait.plot(opened * y, cycle.velocity[:, 1], color=ORANGE, linewidth=2.4)
    portrait.axvline(0.0, color=GREY, linewidth=1.0)
    portrait.set(xlabel="height above wall 1 / mm", ylabel="its rate / (m/s)")
    portrait.set_title(f"μ = {one.disc.mu:g}: period {1e3 * end.period:.5g} ms")
    path.plot(x, y, color=BLUE)
    path.plot(opened * x, y, color=ORANGE, linewidth=2.4)
    limits = path.get_xlim(), path.get_ylim()
    across = np.array([-1.0, 1.0])
    path.axhline(0.0, color=GREY, linewidth=1.0)
    path.plot(across, np.tan(one.disc.alpha) * across, color=GREY, linewidth=1.0)
    rest = 1e3 * one.judged.sliding.position[:2]
    path.plot(*rest, "+", color=DARK, markersize=10)
    path.annotate("turning in place", rest, (-8, 4), textcoords="offset points", ha="right")
    path.set(
        xlim=limits[0], ylim=limits[1], xlabel="centre along wall 1 / mm", ylabel="centre above wall 1 / mm"
    )
    path.set_title("Path of the centre")


def _draw_approach(figure: "Figure", *, one: Wedge, end: "Attractor", begin: "State") -> None:
    """Return points: the motion whenever the more loaded contact passes its rest inwards. Left: the less loaded
    gap over time; right: in the section, coloured by time, with the fixed point of the return map. The points turn
    about it and come nearer slowly, as its multipliers say: a complex pair close to the unit circle."""
    from klapper.analysis.poincare_section import PoincareSection
    from klapper.gallery._sketch import BLUE, ORANGE

    figure.set_size_inches(9.0, 4.2)
    over_time, section = figure.subplots(1, 2, width_ratios=[1.5, 1.0])
    flow, loaded = one.flow, one.loaded
    below = one.judged.sliding.gap[loaded]
    surface = PoincareSection(lambda t, q, v: flow.gaps(q)[:, loaded] - below, rising=False)
    points = surface.returns(flow.advance(begin, min(end.time, 60.0)))
    fixed = surface.returns(end.cycle)
    gap, rate = (
        1e6 * flow.gaps(points.position)[:, 1 - loaded],
        flow.gaps(points.velocity)[:, loaded],
    )
    target = 1e6 * flow.gaps(fixed.position)[0, 1 - loaded], flow.gaps(fixed.velocity)[0, loaded]
    over_time.plot(points.time, gap, ".", markersize=2.0, color=BLUE)
    over_time.axhline(target[0], color=ORANGE)
    over_time.set(xlabel="time / s", ylabel="less loaded gap / µm", title="Returns to the section")
    shown = section.scatter(gap, rate, c=points.time, s=4, cmap="cividis")
    section.plot(*target, "+", color=ORANGE, markersize=14, markeredgewidth=2.0)
    section.set(xlabel="less loaded gap / µm", ylabel="rate of the more loaded gap / (m/s)")
    section.set_title("Poincaré section")
    figure.colorbar(shown, ax=section, label="time / s")
