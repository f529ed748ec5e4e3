"""Figures of the compliant wedge: motions under both forces, the limit cycle, and how motions approach it."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.gallery._compliant_wedge import Wedge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis.attractor import Attractor
    from klapper.gallery._sliding_flow import FlowTrajectory
    from klapper.mechanics import State


def drawings(
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
