"""Figures of the woodpecker toy, and the toy itself as drawn and as a moving picture."""

from typing import TYPE_CHECKING

import numpy as np

from klapper.gallery._woodpecker import START, Cycles, Toy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.report import Scene
    from klapper.results import Run


def scene(toy: Toy, run: "Run") -> "Scene":
    """The toy as an eye sees it that falls with the sleeve."""
    from klapper.report import Scene, Shape, disc, frame_times, moved, rectangle

    time = frame_times(run)
    _, sleeve, bird = run.position_at(time).T
    spring = np.column_stack([np.full(len(time), toy.l_M), toy.l_M * sleeve])
    centre = spring + np.column_stack([np.full(len(time), toy.l_G), toy.l_G * bird])
    beak = centre + np.column_stack([-toy.l_S - toy.h_S * bird, toy.h_S - toy.l_S * bird])
    height = 4.0 * (toy.h_M + toy.h_S)
    arm = np.stack([np.zeros_like(spring), spring, centre], axis=1)
    shapes = [
        Shape("pole", moved(rectangle(2.0 * toy.r_0, height), 0.0, 0.0), faint=True),
        Shape("sleeve", moved(rectangle(2.0 * toy.r_M, 2.0 * toy.h_M), 0.0, 0.0, sleeve)),
        Shape("spring", arm, "line", faint=True),
        Shape("bird", moved(disc(0.4 * toy.h_S), centre[:, 0], centre[:, 1], bird)),
        Shape("beak", np.stack([centre, beak], axis=1), "line"),
    ]
    return Scene(time, shapes, caption="The toy, seen by an eye that falls with the sleeve.")


def draw_cycle(figure: "Figure", *, toy: Toy, run: "Run") -> None:
    """The toy at six moments of a period, to scale; contacts that carry force are marked."""
    figure.set_size_inches(8.6, 3.4)
    panels = figure.subplots(1, 6)
    moments = np.linspace(0, len(run) - 1, 7)[:-1].astype(int)
    for axes, k in zip(panels, moments, strict=True):
        _draw_toy(axes, toy, run.position[k], np.any(run.impulse[k] != 0.0, axis=1))
        axes.set_title(f"{1e3 * (run.time[k] - run.time[0]):.0f} ms", fontsize=10, loc="center")


def _draw_toy(axes: "Axes", toy: Toy, q: np.ndarray, loaded: np.ndarray) -> None:
    from klapper.gallery._sketch import DARK, ORANGE, bare

    _, sleeve, bird = q
    tall = toy.h_M + toy.h_S + toy.l_G
    axes.fill_between([-toy.r_0, toy.r_0], -1.4 * tall, 1.4 * tall, color="#E9E4DC", zorder=1)
    for side in (-1.0, 1.0):
        axes.plot([side * toy.r_0] * 2, [-1.4 * tall, 1.4 * tall], color=DARK, linewidth=0.9, zorder=2)
        wall = np.array([[side * toy.r_M - sign * toy.h_M * sleeve, sign * toy.h_M + side * toy.r_M * sleeve]
                         for sign in (-1.0, 1.0)])  # fmt: skip
        axes.plot(*wall.T, color=DARK, linewidth=3.0, solid_capstyle="butt", zorder=4)
    spring = np.array([toy.l_M, toy.l_M * sleeve])
    centre = spring + np.array([toy.l_G, toy.l_G * bird])
    beak = centre + np.array([-toy.l_S - toy.h_S * bird, toy.h_S - toy.l_S * bird])
    axes.plot([toy.r_M, spring[0]], [toy.r_M * sleeve, spring[1]], color=DARK, linewidth=1.6, zorder=3)
    axes.plot(*np.array([spring, centre]).T, color=ORANGE, linewidth=1.6, zorder=3)
    for outline, color in _bird(toy):
        turned = centre + outline + bird * np.stack([-outline[:, 1], outline[:, 0]], axis=1)
        axes.fill(*turned.T, facecolor=color, edgecolor=DARK, linewidth=0.8, zorder=5)
    places = [beak, (toy.r_0, -toy.h_M), (toy.r_0, toy.h_M)]
    for place, force in zip(places, loaded, strict=True):
        if force:
            axes.plot(*place, "o", color=ORANGE, markersize=5, zorder=8)
    bare(axes, (-2.0 * toy.r_M, toy.l_M + toy.l_G + 0.9 * toy.l_S), (-1.35 * tall, 1.35 * tall))


def _bird(toy: Toy) -> list[tuple[np.ndarray, str]]:
    """Outlines (n, 2) around the bird's centre, with colours: the beak with its tip at (−l_S, h_S), body, head."""
    from klapper.gallery._sketch import BODY

    way = np.linspace(0.0, 2.0 * np.pi, 60)
    circle = np.stack([np.cos(way), np.sin(way)], axis=1)
    tall, wide = toy.h_S, toy.l_S
    head = np.array([-0.35 * wide, 0.92 * tall])
    lean = np.array([[0.30 * wide, -0.12 * wide], [0.12 * tall, 1.1 * tall]])
    thick = np.array([0.0, 0.16 * tall])
    beak = np.array([head + thick, (-wide, tall), head - thick])
    return [(beak, "#E69F00"), (circle @ lean.T, BODY), (head + 0.24 * circle * [wide, tall], "#D55E00")]


def draw_motion(figure: "Figure", *, run: "Run") -> None:
    """Height of the sleeve, and angles of sleeve and bird, over the last swings."""
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, names, factor in ((upper, ("y",), 1e3), (lower, ("φ_M", "φ_S"), 1.0)):
        for name in names:
            values = factor * run.coordinate(name)
            points = thinned(values)
            axes.plot(run.time[points], values[points], label={"φ_M": "sleeve", "φ_S": "bird"}.get(name))
    upper.set(ylabel="height / mm", xlim=(run.time[0], run.time[-1]))
    lower.set(xlabel="time / s", ylabel="angle / rad")
    lower.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def draw_phases(figure: "Figure", *, run: "Run", last: "Run") -> None:
    """Phase portraits of bird and sleeve: the whole run in grey, its last period in colour, impacts as jumps."""
    from klapper.results.thinning import thinned_curve, thinned_together

    figure.set_size_inches(8.0, 3.6)
    for axes, name, title, color in zip(
        figure.subplots(1, 2), ("φ_S", "φ_M"), ("bird", "sleeve"), ("#0072B2", "#D55E00"), strict=True
    ):
        x, y = run.coordinate(name), run.speed(name)
        points = thinned_curve(x, y)
        axes.plot(x[points], y[points], ".", color="#BBBBBB", markersize=1.5)
        x, y = last.coordinate(name), last.speed(name)
        points = thinned_together(np.stack([x, y], axis=1))
        axes.plot(x[points], y[points], color=color, linewidth=1.3)
        axes.set(xlabel=f"{name} / rad", ylabel=f"rate of {name} / (rad/s)", title=title)


def draw_sections(figure: "Figure", *, cycles: Cycles) -> None:
    """Speeds where the bird passes φ_S = −0.2788 downwards, swing by swing; dashed the published state."""
    figure.set_size_inches(6.0, 4.2)
    panels = figure.subplots(2, 1, sharex=True)
    number = np.arange(1, len(cycles) + 1)
    for axes, column, printed, text in zip(
        panels, (0, 2), (START[2], START[1]), ("ẏ / (m/s)", "rate of φ_S / (rad/s)"), strict=True
    ):
        axes.plot(number, cycles.velocity[:, column], "o-", markersize=4, linewidth=1.0)
        axes.axhline(printed, color="#444444", linestyle="--", linewidth=1.0)
        axes.set_ylabel(text)
    panels[1].set_xlabel("swing")
    panels[1].xaxis.get_major_locator().set_params(integer=True)


def draw_states(figure: "Figure", *, run: "Run") -> None:
    """States of the contacts over a period: where the lower edge sticks, the toy is jammed."""
    run.plot.states(figure)


def draw_forces(figure: "Figure", *, run: "Run") -> None:
    """Contact forces (lines, left scale) and impulses of impacts (stems, right scale) over a period."""
    run.plot.forces(figure)
