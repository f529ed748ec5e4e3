"""Figures of the slider-crank: the mechanism, the slider in its guide, the speed of the crank, and smaller steps."""

from typing import TYPE_CHECKING

import numpy as np

from klapper.gallery._slider_crank import Mechanism, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.results import Run


def draw_mechanism(figure: "Figure", *, mechanism: Mechanism, run: "Run") -> None:
    """The mechanism at eight moments of the first turn of the crank, to scale."""
    figure.set_size_inches(7.0, 4.4)
    axes = figure.subplots()
    l1, l2 = mechanism.lengths
    left, right = l2 - 1.1 * l1 - mechanism.a, l2 + 1.1 * l1 + mechanism.a
    for sign in (-1.0, 1.0):
        wall_at = 0.5 * sign * mechanism.guide
        axes.fill_between(
            [left, right], wall_at, wall_at + 0.02 * sign, color="#DDDDDD", linewidth=0.0, zorder=1
        )
        axes.plot([left, right], [wall_at] * 2, color="#333333", linewidth=1.4, zorder=2)
    turn = np.abs(run.coordinate("crank angle"))
    last = int(np.searchsorted(np.maximum.accumulate(turn), min(2.0 * np.pi, turn.max())))
    for k in np.unique(np.linspace(0, min(last, len(run) - 1), 9)[:-1].astype(int)):
        _draw_links(axes, mechanism, run, int(k), strong=bool(k == 0))
    axes.plot(0.0, 0.0, "o", color="#333333", markersize=7, zorder=7)
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")


def _draw_links(axes: "Axes", mechanism: Mechanism, run: "Run", k: int, *, strong: bool) -> None:
    angle = np.array([run.coordinate(f"{name} angle")[k] for name in ("crank", "rod", "slider")])
    crank = mechanism.lengths[0] * np.array([np.cos(angle[0]), np.sin(angle[0])])
    pin = np.array([run.coordinate("slider x")[k], run.coordinate("slider y")[k]])
    alpha = 1.0 if strong else 0.45
    axes.plot(*np.array([(0.0, 0.0), crank]).T, color="#D55E00", linewidth=2.4, alpha=alpha, zorder=4)
    axes.plot(*np.array([crank, pin]).T, color="#0072B2", linewidth=2.0, alpha=alpha, zorder=4)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [mechanism.a, mechanism.b]
    cosine, sine = np.cos(angle[2]), np.sin(angle[2])
    box = pin + corners @ np.array([[cosine, sine], [-sine, cosine]])
    axes.plot(*box.T, color="#333333", linewidth=1.0, alpha=alpha, zorder=5)
    axes.plot(*np.array([crank, pin]).T, "o", color="#333333", markersize=3.5, alpha=alpha, zorder=6)


def draw_slider(figure: "Figure", *, mechanism: Mechanism, run: "Run") -> None:
    """The slider in its guide: its height over the way, in parts of the play, and its angle; dots are impacts."""
    from klapper.contact_states import IMPACT

    figure.set_size_inches(6.4, 5.0)
    upper, lower = figure.subplots(2, 1, height_ratios=(2, 1))
    x, y = run.coordinate("slider x"), run.coordinate("slider y") / mechanism.play
    hit = np.any(run.state == IMPACT, axis=1)
    upper.plot(x, y, linewidth=1.2)
    upper.plot(x[hit], y[hit], ".", color="#D55E00", markersize=6)
    for limit in (-1.0, 1.0):
        upper.axhline(limit, color="#444444", linewidth=1.0, linestyle="--")
    upper.set(xlabel="slider x / m", ylabel="slider y / play")
    angle = run.coordinate("slider angle")
    reach = 1.1 * max(float(np.abs(angle).max()), 1e-6)
    lower.plot(run.time, angle, linewidth=1.2)
    lower.set(xlabel="time / s", ylabel="slider angle / rad", xlim=(0.0, run.time[-1]), ylim=(-reach, reach))
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))


def draw_speed(figure: "Figure", *, mechanism: Mechanism, run: "Run") -> None:
    """Speed of the crank over its angle, with play and (dashed) for a slider without play and friction."""
    axes = figure.subplots()
    angle, speed = run.coordinate("crank angle"), run.speed("crank angle")
    turns = angle / (2.0 * np.pi)
    axes.plot(turns, speed, label="with play")
    axes.plot(turns, mechanism.ideal_speed(angle), "--", color="#333333", linewidth=1.0, label="without")
    axes.set(xlabel="turns of the crank", ylabel="speed of the crank / (rad/s)")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def draw_refinement(figure: "Figure", *, rows: list[Row]) -> None:
    """Results at the end for ever smaller steps, with what they cost; above, how fast the errors fall with the step."""
    figure.set_size_inches(8.4, 5.8)
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    steps = np.array([row.step for row in rows])
    end = float(rows[-1].run.time[-1])
    last = np.array([row.place(end) for row in rows])
    curves = {
        "slider x − that of the smallest step": np.abs(last[:-1, 1] - last[-1, 1]),
        "penetration": np.array([row.penetration for row in rows]),
        "opening of the hinges": np.array([row.opening for row in rows]),
    }
    for (name, values), mark in zip(curves.items(), "osD", strict=True):
        upper.loglog(steps[: len(values)], np.maximum(values, 1e-16), f"{mark}-", label=name, markersize=5)
    upper.loglog(steps, _first_order(steps, curves["penetration"]), ":", color="#666666", label="slope 1")
    upper.set(xlabel="step / s", ylabel="m")
    upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
    columns = [
        "step / s",
        "crank / rad",
        "slider x / m",
        "penetration / m",
        "hinges / m",
        "num. loss / J",
        "impacts",
    ]
    cells = [
        [
            f"{row.step:.3g}",
            f"{place[0]:.5f}",
            f"{place[1]:.6f}",
            f"{row.penetration:.1e}",
            f"{row.opening:.1e}",
            f"{row.run.ledger.numerical[-1]:.1e}",
            f"{row.impacts}",
        ]
        for row, place in zip(rows, last, strict=True)
    ]
    lower.set_axis_off()
    table = lower.table(cells, colLabels=columns, loc="center", cellLoc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(9.5)
    table.scale(1.0, 1.35)


def _first_order(steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A line of first order through the last of the values."""
    return steps / steps[-1] * max(float(values[-1]), 1e-16)
