"""Ring of discs: fast impacts that never end, and how the law hands over.

Discs fill a closed circular track without play; one of them is hit and moves. The opening speeds of all
contacts sum up to zero, so that something always approaches unless all discs move alike:

    Σ v_N = 0,   A_seq(u) = {i | v_N < −tol} ≠ ∅

With ε = 1 the velocity runs round for ever. The sequential law stops at its limit and says what remains; Newton's
law for all contacts at once takes over and, with ⁺v_N = −ε ⁻v_N everywhere, turns the differences round.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics.impact import ImpactProblem


@example("disc-ring", source="Waltersberger (2007), Example 5.5, Fig. 5.9")
def disc_ring(
    *,
    discs: Annotated[int, Parameter("number of discs", at_least=3, at_most=40)] = 8,
    restitution: Annotated[float, Parameter("coefficient of all contacts", at_least=0.0, at_most=1.0)] = 1.0,
    speed: Annotated[float, Parameter("speed of the disc that was hit", unit="m/s", above=0.0)] = 1.0,
    limit: Annotated[int, Parameter("greatest number of fast impacts", at_least=1, at_most=5000)] = 20,
) -> Outcome:
    from klapper.gallery._chain import audit
    from klapper.mechanics.impact import Newton, Sequential

    problem = _ring(discs, restitution, speed)
    impact = Sequential(limit=limit).resolve(problem)
    mean = speed / discs
    handed = Newton().resolve(problem.starting_from(impact.after)).after
    energies = np.array([problem.kinetic_energy(velocity) for velocity in impact.iterates])
    checks = [
        Check(
            "every fast impact",
            value=float(np.abs(impact.iterates - _by_equations(problem, len(impact.stages))).max()) / speed,
            expected=0.0,
            tolerance=1e-9,
            source="⁺v_N = −ε ⁻v_N at all approaching contacts as linear equations",
        ),
        Check(
            "sum of all velocities",
            value=impact.iterates.sum(axis=1),
            expected=speed,
            tolerance=1e-12 * speed * len(energies),
            source="conservation of momentum",
        ),
        Check(
            "kinetic energy never grows",
            value=np.diff(energies) / energies[0],
            at_most=1e-12,
            source="(3.118)",
        ),
        Check(
            "the law stops",
            value=impact.fast_impacts == limit or impact.finished,
            expected=True,
            source="Scheme 5.3 with a limit",
        ),
        Check(
            "velocities handed over to Newton's law",
            value=handed,
            expected=mean - restitution * (impact.after - mean),
            tolerance=1e-9 * speed,
            source="closed ring: v̄ − ε (v − v̄)",
        ),
    ]
    if restitution == 1.0:
        checks += [
            Check(
                "velocities reached",
                value=impact.after,
                expected=speed * np.eye(discs)[limit % discs],
                tolerance=1e-12 * speed * limit,
                source="equal elastic discs exchange velocities: the motion advances one disc per fast impact",
            ),
            Check(
                "finished", value=impact.finished, expected=False, source="Ex. 5.5: the sequence is infinite"
            ),
        ]
    return Outcome(
        numbers={
            "velocities": impact.after,
            "fast_impacts": impact.fast_impacts,
            "finished": impact.finished,
            "remaining_approach": impact.remaining.max(),
            "energy_lost": impact.audit.dissipated,
            "velocities_after_handing_over": handed,
        },
        units={
            "velocities": "m/s",
            "remaining_approach": "m/s",
            "energy_lost": "J",
            "velocities_after_handing_over": "m/s",
        },
        checks=checks,
        audit=audit(impact),
        figures={"waves": partial(_draw, iterates=impact.iterates, speed=speed, finished=impact.finished)},
    )


def _ring(discs: int, restitution: float, speed: float) -> "ImpactProblem":
    """Discs of 1 kg; velocities along the track, contact i between disc i and the next."""
    from klapper.mechanics.impact import ImpactProblem

    normal = np.roll(np.eye(discs), 1, axis=0) - np.eye(discs)
    names = [f"{i + 1}-{(i + 1) % discs + 1}" for i in range(discs)]
    before = speed * (np.arange(discs) == 0)
    return ImpactProblem(np.ones(discs), before, normal, restitution=restitution, names=names)


def _by_equations(problem: "ImpactProblem", rounds: int) -> np.ndarray:
    """Velocities (rounds + 1, n) with the approaching contacts of each round as equations.

    Their Delassus matrix has no positive entry off its diagonal, so that all impulses come out positive.
    """
    velocity = problem.before
    reached = [velocity]
    threshold = 1e-9 * velocity.max()
    for _ in range(rounds):
        opening = problem.normal.T @ velocity
        active = problem.normal[:, opening < -threshold]
        demand = -(1.0 + problem.restitution[0]) * opening[opening < -threshold]
        velocity = velocity + active @ np.linalg.solve(active.T @ active, demand)
        reached.append(velocity)
    return np.array(reached)


def _draw(figure: "Figure", *, iterates: np.ndarray, speed: float, finished: bool) -> None:
    """Left: the discs on their track; the arrow is the velocity before, the colours are those of the velocities after
    the last fast impact. Right: velocity of every disc after each fast impact."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize
    from matplotlib.ticker import MaxNLocator

    figure.set_size_inches(9.6, 4.2)
    ring, chart = figure.subplots(1, 2, width_ratios=[1.0, 1.5])
    shown = min(len(iterates), 121)
    reach = float(np.abs(iterates).max()) / speed
    scale, colors = Normalize(-reach, reach), colormaps["RdBu_r"]
    _draw_ring(ring, [colors(scale(velocity / speed)) for velocity in iterates[-1]])
    image = chart.pcolormesh(
        np.arange(shown + 1) - 0.5,
        np.arange(iterates.shape[1] + 1) + 0.5,
        iterates[:shown].T / speed,
        cmap=colors,
        norm=scale,
    )
    figure.colorbar(image, ax=chart, label="velocity / speed of the hit disc")
    chart.set(xlabel="number of fast impacts", ylabel="disc")
    for axis in (chart.xaxis, chart.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    cut = f"the first {shown - 1} of {len(iterates) - 1}" if shown < len(iterates) else f"{len(iterates) - 1}"
    chart.set_title(f"{cut} fast impacts, {'finished' if finished else 'stopped at the limit'}")
    chart.grid(False)


def _draw_ring(axes: "Axes", colors: list[Any]) -> None:
    from klapper.gallery._sketch import DARK, GREY, arrow, bare

    count = len(colors)
    radius = np.sin(np.pi / count)
    way = np.linspace(0.0, 2 * np.pi, 200)
    circle = np.array([np.cos(way), np.sin(way)])
    for rim in (1 - radius, 1 + radius):
        axes.plot(*(rim * circle), color=GREY, linewidth=1.0)
    for k, color in enumerate(colors):
        angle = np.pi / 2 - 2 * np.pi * k / count
        centre = np.array([np.cos(angle), np.sin(angle)])
        axes.fill(*(centre[:, None] + radius * circle), facecolor=color, edgecolor=DARK, zorder=2)
        dark = sum(color[:3]) < 1.4
        axes.text(
            centre[0],
            centre[1],
            str(k + 1),
            ha="center",
            va="center",
            zorder=3,
            fontsize=9 if count <= 16 else 6,
            color="white" if dark else DARK,
        )
    arrow(axes, (0.0, 1.12 + radius), (0.55, 0.0), DARK)
    bare(axes, (-1.2 - radius, 1.2 + radius), (-1.2 - radius, 1.25 + radius))
