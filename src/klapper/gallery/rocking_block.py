"""Rocking block: it turns about one corner, then about the other, and loses energy only in between.

A rigid rectangle of width w and height h rocks on its lower corners without sliding. With its half diagonal R,
α = atan(w/h) and p² = 3 g/(4 R), the tilt φ follows Housner's equation, and every impact takes energy:

    φ̈ = −p² sin(α − φ) while φ > 0,     angular velocity after/before an impact  1 − 3/2 sin² α

A slender block that is tilted by φ₀ comes down after arccosh(1/(1 − φ₀/α))/p. Both corners are contacts with friction
and without restitution; which one carries, and that the other lifts off, is found by the laws. Where the pivot has
drifted off the floor by rounding and curvature, it falls for one step and carries twice its force in the next.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import cos, sin
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._rocking_block import Block
from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.results import Run

SETTLED = 5  # steps after an impact in which the other corner of a wide block comes down, too


@example(
    "rocking-block", source="Housner (1963), Bulletin of the Seismological Society of America 53, 403–417"
)
def rocking_block(
    *,
    width: Annotated[float, Parameter("width of the block", unit="m", above=0.0)] = 0.2,
    height: Annotated[float, Parameter("height of the block", unit="m", above=0.0)] = 1.0,
    tilt: Annotated[float, Parameter("tilt at the start, in units of α", above=0.0, below=1.0)] = 0.7,
    mu: Annotated[float, Parameter("friction coefficient of the floor", at_least=0.0)] = 0.5,
    mass: Annotated[float, Parameter("mass of the block", unit="kg", above=0.0)] = 10.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 2e-4,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 2.0,
    scheme: Annotated[SchemeName, Parameter("method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named
    from klapper.report import rectangle as outline, scene_of

    block = Block(width, height, tilt, mu, mass, gravity)
    if step > block.longest_step:
        raise ParameterError(
            f"step must be at most {block.longest_step:.4g} s to resolve the fall of this block, not {step:g}."
        )
    system: Any = block.system()
    run = run_named(system, until, scheme, step)
    rocks = _Rocks(block, run)
    return Outcome(
        numbers={
            "first_impact_time": rocks.impact_time(0, step),
            "second_impact_time": rocks.impact_time(1, step),
            "energy_ratio": rocks.energy_ratio,
            "second_tilt": rocks.second_tilt,
            "final_tilt": run.coordinate("block angle")[-1],
            "time": run.time[-1],
            "pivot_moved": rocks.pivot_moved,
            "exact_first_impact_time": block.fall_time(block.first_tilt),
            "slender_first_impact_time": block.slender_fall_time,
            "exact_energy_ratio": block.speed_ratio**2,
            "exact_second_tilt": block.next_tilt(block.speed_ratio**2),
            "friction_needed": block.friction_needed,
        },
        units={
            "first_impact_time": "s (of time stepping: middle of the step)",
            "second_impact_time": "s (of time stepping: middle of the step)",
            "energy_ratio": "of rocking, after over before the first impact",
            "second_tilt": "rad (largest tilt to the other side)",
            "final_tilt": "rad",
            "time": "s",
            "pivot_moved": "m (until the first impact)",
            "exact_first_impact_time": "s",
            "slender_first_impact_time": "s (Housner's formula for slender blocks)",
            "exact_energy_ratio": "(1 − 3/2 sin² α)²",
            "exact_second_tilt": "rad",
            "friction_needed": "(below it the block slides)",
        },
        checks=[*_checks(rocks, step), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "positions": partial(_draw_positions, rocks=rocks),
            "motion": partial(_draw_motion, rocks=rocks),
            **run_figures(run),
        },
        runs={"run": run},
        scenes={"run": partial(scene_of, run, outlines={"block": outline(width, height)})},
    )


@dataclass(frozen=True)
class _Rocks:
    """What the run says about the first rocks of the block."""

    block: Block
    run: "Run"

    @cached_property
    def impacts(self) -> list[int]:
        """Samples of the first impact, on the right corner, and of the second, on the left corner; if they happened."""
        right = np.flatnonzero(self.run.impulse[:, 1, 0] > 0.0)
        if not len(right):
            return []
        angle = self.run.coordinate("block angle")
        away = np.flatnonzero((angle < -1e-3 * self.block.first_tilt) & (np.arange(len(angle)) > right[0]))
        if not len(away):
            return [int(right[0])]
        left = np.flatnonzero(self.run.impulse[away[0] :, 0, 0] > 0.0)
        return [int(right[0]), *(int(away[0] + k) for k in left[:1])]

    def impact_time(self, number: int, step: float) -> float | None:
        """[s]; of time stepping the middle of the step."""
        from klapper.gallery._run import impact_time

        return impact_time(self.run, self.impacts[number], step) if number < len(self.impacts) else None

    @cached_property
    def energies(self) -> np.ndarray:
        """Energy (s,) above that of the standing block, in units of that at the start."""
        energy = self.run.ledger.kinetic + self.run.ledger.potential
        standing = 0.5 * self.block.mass * self.block.gravity * self.block.height
        return np.asarray((energy - standing) / (energy[0] - standing))

    @property
    def energy_ratio(self) -> float | None:
        """Energy of rocking some steps after the first impact, in units of that at the start."""
        return float(self.energies[: self.impacts[0] + SETTLED + 1][-1]) if self.impacts else None

    @property
    def second_tilt(self) -> float | None:
        """Largest tilt [rad] to the other side, if the block came back from it."""
        if len(self.impacts) < 2:
            return None
        return float(-self.run.coordinate("block angle")[slice(*self.impacts)].min())

    @property
    def pivot_moved(self) -> float:
        """Largest displacement [m] of the left corner along the floor until the first impact."""
        block, angle = self.block, self.run.coordinate("block angle")
        corner = self.run.coordinate("block x") - 0.5 * (
            block.width * np.cos(angle) - block.height * np.sin(angle)
        )
        end = self.impacts[0] if self.impacts else len(angle)
        return float(np.abs(corner[:end] + 0.5 * block.width).max())


def _checks(rocks: _Rocks, step: float) -> list[Check]:
    """Housner's solution, if friction is high enough for it."""
    block, run = rocks.block, rocks.run
    never_grows = Check(
        "largest energy of rocking over that at the start",
        value=float(rocks.energies.max()),
        at_most=1.0 + block.lost_by_step(step),
        source="contacts without restitution take energy; what the weight does in two steps",
    )
    if block.mu < (1.02 + 2.0 * block.lost_by_step(step)) * block.friction_needed:
        return [never_grows]
    speed, late = block.impact_speed(block.first_tilt), block.late(step)
    fall = block.fall_time(block.first_tilt)
    before = run.time < fall - late
    exact = block.first_fall(run.time[before])
    checks = [
        never_grows,
        Check(
            "pivot moved along the floor",
            value=rocks.pivot_moved,
            expected=0.0,
            tolerance=step * speed * block.radius,
            source="sticking; the way of the centre in a step",
        ),
        Check(
            "tilt until the first impact, largest error",
            value=np.abs(run.coordinate("block angle")[before] - exact).max(initial=0.0),
            expected=0.0,
            tolerance=late * speed,
            source="Housner's equation, other integrator; the turn in two steps",
        ),
    ]
    return [*checks, *_impact_checks(rocks, step)] if rocks.impacts else checks


def _impact_checks(rocks: _Rocks, step: float) -> list[Check]:
    block = rocks.block
    late = block.late(step) + float(rocks.run.time[1] - rocks.run.time[0]) - step
    fall = block.fall_time(block.first_tilt)
    ratio, error = block.speed_ratio**2, block.lost_by_step(step)
    checks = [
        Check(
            "first impact time",
            value=rocks.impact_time(0, step),
            expected=fall,
            tolerance=late,
            source="Housner's equation by quadrature; two steps",
        ),
        Check(
            "energy ratio of the first impact",
            value=rocks.energy_ratio,
            expected=ratio,
            tolerance=error,
            source="angular momentum about the corner that is hit; what the weight does in a step",
        ),
    ]
    if len(rocks.impacts) < 2 or ratio == 0.0:
        return checks
    tilts = [block.next_tilt(part) for part in (max(ratio - error, 0.0), ratio, min(ratio + error, 1.0))]
    least, tilt, most = tilts
    soon, then, at_last = (fall + 2.0 * block.fall_time(each) for each in tilts)
    return [
        *checks,
        Check(
            "largest tilt to the other side",
            value=rocks.second_tilt,
            expected=tilt,
            tolerance=max(tilt - least, most - tilt),
            source="energy ratio of the first impact, with its tolerance",
        ),
        Check(
            "second impact time",
            value=rocks.impact_time(1, step),
            expected=then,
            tolerance=max(then - soon, at_last - then) + 2.0 * late,
            source="Housner's equation by quadrature, with the tolerances before",
        ),
    ]


def _draw_motion(figure: "Figure", *, rocks: _Rocks) -> None:
    """Tilt of the block by time stepping and by Housner's equation, which knows no sliding."""
    from klapper.results.thinning import thinned

    axes = figure.subplots()
    time, angle = rocks.run.time, rocks.run.coordinate("block angle")
    points = thinned(angle)
    axes.plot(time[points], angle[points], label=rocks.run.about["scheme"])
    axes.plot(*rocks.block.motion(time[-1]), "--", color="#333333", linewidth=1.0, label="Housner")
    axes.axhline(0.0, color="#888888", linewidth=0.8)
    axes.set(xlabel="time / s", ylabel="tilt / rad", xlim=(0.0, time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_positions(figure: "Figure", *, rocks: _Rocks) -> None:
    """The block at the start, at the first impact and at its largest tilt to the other side."""
    from klapper.gallery._sketch import bare, wall

    figure.set_size_inches(6.0, 2.8)
    block, run = rocks.block, rocks.run
    samples = [0]
    if rocks.impacts:
        samples.append(rocks.impacts[0])
        other = run.coordinate("block angle")[rocks.impacts[0] :]
        samples.append(rocks.impacts[0] + int(np.argmin(other)))
    shown = figure.subplots(1, len(samples), squeeze=False)[0]
    reach = 1.1 * (2.0 * block.radius + block.width)
    for axes, sample in zip(shown, samples, strict=True):
        _draw_block(axes, block, run.position[sample])
        wall(axes, (-0.5 * reach, 0.0), (0.5 * reach, 0.0), (0.0, -0.04 * reach))
        axes.set_title(f"{run.time[sample]:.3f} s")
        bare(axes, (-0.55 * reach, 0.55 * reach), (-0.1 * reach, 2.1 * block.radius))


def _draw_block(axes: "Axes", block: Block, position: np.ndarray) -> None:
    from klapper.gallery._sketch import BODY, DARK

    x, y, angle = position
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * (
        block.width / 2,
        block.height / 2,
    )
    turned = corners @ np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]]) + (x, y)
    axes.fill(*turned.T, facecolor=BODY, edgecolor=DARK, zorder=3)
