"""Figures of the impact oscillator: a motion, branches of motions over the frequency, and their multipliers."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.gallery._single_impact import Oscillator, impact_speeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis import BifurcationDiagram, PeriodicBranch, PeriodicMotion


def draw_motion(figure: "Figure", *, oscillator: Oscillator, motion: "PeriodicMotion") -> None:
    """Left: displacement over two periods with the stop (hatched) and the impacts (dots). Right: the motion in the
    phase plane; at an impact the velocity jumps along the dotted line."""
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(9.6, 3.9)
    course, plane = figure.subplots(1, 2, width_ratios=[1.35, 1.0])
    run = motion.over(2, samples=120)
    time, x, v = run.time - run.time[0], run.coordinate("displacement"), run.speed("displacement")
    reach = max(np.ptp(x), 1e-12)
    course.axhspan(
        oscillator.gap, oscillator.gap + 0.12 * reach, facecolor="#F2F2F2", edgecolor="#AAAAAA", hatch="////"
    )
    course.axhline(oscillator.gap, color=DARK, linewidth=1.4)
    course.plot(time, x, color=BLUE)
    hit = run.impacts().time - run.time[0]
    course.plot(hit, np.full(len(hit), oscillator.gap), "o", color=ORANGE, zorder=4)
    course.set(xlabel="time / s", ylabel="displacement / m", xlim=(0.0, time[-1]))
    course.set_ylim(x.min() - 0.08 * reach, max(x.max(), oscillator.gap) + 0.12 * reach)
    jumps = np.flatnonzero(np.diff(time) == 0.0)
    cuts = np.concatenate([[0], jumps + 1, [len(time)]])
    for begin, end in pairwise(cuts):
        plane.plot(x[begin:end], v[begin:end], color=BLUE)
    for j in jumps:
        plane.plot(x[j : j + 2], v[j : j + 2], ":o", color=ORANGE, linewidth=2.0, markersize=4, zorder=4)
    plane.axvline(oscillator.gap, color=GREY, linewidth=0.9)
    plane.axhline(0.0, color=GREY, linewidth=0.6)
    plane.set(xlabel="displacement / m", ylabel="velocity / (m/s)")


def draw_branch(
    figure: "Figure",
    *,
    oscillator: Oscillator,
    branch: "PeriodicBranch",
    doubled: "list[PeriodicBranch]",
    diagram: "BifurcationDiagram | None",
) -> None:
    """Speed of the impacts over the frequency of the force; zero without impacts. Lines: branches that were followed,
    stable (full) and unstable (dashed), of the period of the force (blue) and of the doubled one (green), which the
    panel on the right shows closer. Dots: simulated motions after settling, down and up again; some find other
    motions. Grey: the closed form, as far as the motion is possible. Dotted: the frequency of the motion above."""
    from klapper.gallery._sketch import GREY

    figure.set_size_inches(10.8 if doubled else 8.4, 5.0)
    panels = figure.subplots(
        1, 2 if doubled else 1, squeeze=False, width_ratios=[2.0, 1.0] if doubled else None
    )[0]
    low, high = branch.parameters.min(), branch.parameters.max()
    grid = np.unique(np.concatenate([np.linspace(low, high, 400), branch.parameters]))
    singles = [oscillator.at(w).single_impacts for w in grid]
    known = [[s[k].u if s and s[k].possible else np.nan for s in singles] for k in range(2)]
    for axes in panels:
        axes.plot(
            grid,
            known[0],
            color="#CCCCCC",
            linewidth=5.0,
            label="closed form, one impact per period",
            zorder=1,
        )
        axes.plot(grid, known[1], color="#CCCCCC", linewidth=5.0, zorder=1)
        _draw_all(axes, branch, doubled, diagram)
        axes.set(xlabel="angular frequency of the force / (rad/s)", xlim=(low, high))
    panels[0].axvline(oscillator.frequency, color=GREY, linewidth=0.8, linestyle=":")
    panels[0].set_ylabel("speed of the impacts / (m/s)")
    panels[0].set_ylim(bottom=-0.02 * panels[0].get_ylim()[1])
    panels[0].legend(loc="upper left", fontsize=9)
    if doubled:
        values = np.concatenate([other.parameters for other in doubled])
        fastest = max(max(impact_speeds(motion)) for other in doubled for motion in other.motions)
        wide = 0.2 * np.ptp(values)
        panels[1].set(xlim=(values.min() - wide, values.max() + wide), ylim=(-0.02 * fastest, 1.1 * fastest))
        panels[1].set_title("doubled period", fontsize=10)


def _draw_all(
    axes: "Axes",
    branch: "PeriodicBranch",
    doubled: "list[PeriodicBranch]",
    diagram: "BifurcationDiagram | None",
) -> None:
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    _lines(axes, branch, BLUE, "followed, period of the force")
    for other in doubled:
        _lines(axes, other, GREEN, "followed, doubled period")
    if diagram is not None:
        axes.plot(
            *diagram.scatter(), "o", color=DARK, markersize=3.2, alpha=0.55, label="simulated", zorder=5
        )
    marks = {"grazing": "v", "fold": "D", "period doubling": "s"}
    shown: set[str] = set()
    for found in (
        found for other in (branch, *doubled) for found in other.bifurcations if found.kind in marks
    ):
        speed = max(impact_speeds(found.motion), default=0.0)
        label = None if found.kind in shown else found.kind
        style: dict[str, Any] = {"color": ORANGE, "markeredgecolor": "white", "markersize": 8, "zorder": 6}
        axes.plot(found.parameter, speed, marks[found.kind], label=label, **style)
        shown.add(found.kind)


def _lines(axes: "Axes", branch: "PeriodicBranch", color: str, label: str) -> None:
    """All impacts of the motions of a branch; a line for each as long as their number stays."""
    speeds = [sorted(impact_speeds(motion)) or [0.0] for motion in branch.motions]
    cuts = [0, *(i for i in range(1, len(speeds)) if len(speeds[i]) != len(speeds[i - 1])), len(speeds)]
    for begin, end in pairwise(cuts):
        part = np.array(speeds[begin:end])
        parameters, stable = branch.parameters[begin:end], branch.stable[begin:end]
        for column in part.T:
            for kind, style, width in ((stable, "-", 1.8), (~stable, "--", 1.4)):
                shown = np.where(_with_neighbours(kind), column, np.nan)
                axes.plot(parameters, shown, style, color=color, linewidth=width, label=label, zorder=3)
                label = None if kind is stable and kind.any() else label  # type: ignore[assignment]


def _with_neighbours(chosen: np.ndarray) -> np.ndarray:
    """The chosen points and those beside them, so that lines of both kinds meet."""
    return chosen | np.append(chosen[1:], False)


def draw_multipliers(figure: "Figure", *, branch: "PeriodicBranch") -> None:
    """Multipliers along the branch: their size over the frequency, and in the complex plane with the unit circle, which
    they leave at +1 in a fold and at −1 in a period doubling. At grazing one of them is infinite."""
    from klapper.gallery._sketch import BLUE, GREY, ORANGE

    figure.set_size_inches(9.6, 4.2)
    size, plane = figure.subplots(1, 2, width_ratios=[1.35, 1.0])
    values = branch.multipliers
    for column in values.T:
        size.plot(branch.parameters, np.abs(column), ".", markersize=3.5, color=BLUE)
    size.axhline(1.0, color=GREY, linewidth=0.9)
    size.set(xlabel="angular frequency of the force / (rad/s)", ylabel="|multiplier|", ylim=(0.0, 3.0))
    angle = np.linspace(0.0, 2 * np.pi, 200)
    plane.plot(np.cos(angle), np.sin(angle), color=GREY, linewidth=0.9)
    for stable, color in ((True, BLUE), (False, ORANGE)):
        part = values[branch.stable == stable].ravel()
        plane.plot(
            part.real, part.imag, ".", color=color, markersize=4, label="stable" if stable else "unstable"
        )
    plane.set(xlabel="real part", ylabel="imaginary part", xlim=(-2.0, 2.6), ylim=(-1.3, 1.3), aspect="equal")
    plane.legend(loc="lower right", fontsize=9)
