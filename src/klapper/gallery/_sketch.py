"""Strokes of mechanical sketches: arrows, hatched walls, turning arrows, and axes without frame."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, PURPLE, YELLOW = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
GREY, DARK, BODY = "#888888", "#333333", "#DCE6EE"


def bare(axes: "Axes", x: tuple[float, float], y: tuple[float, float]) -> None:
    """Equal scales, the given limits, no frame and no ticks."""
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.set_axis_off()


def arrow(
    axes: "Axes",
    tail: Any,
    vector: Any,
    color: str,
    *,
    width: float = 2.2,
    alpha: float = 1.0,
    front: int = 5,
) -> None:
    """An arrow from ``tail`` (2,) along ``vector`` (2,); nothing if the vector vanishes."""
    tail, vector = np.asarray(tail, dtype=float), np.asarray(vector, dtype=float)
    if not vector.any():
        return
    axes.annotate(
        "",
        xy=tuple(tail + vector),
        xytext=tuple(tail),
        zorder=front,
        arrowprops={
            "arrowstyle": "-|>",
            "color": color,
            "linewidth": width,
            "mutation_scale": 7 + 4 * width,
            "shrinkA": 0,
            "shrinkB": 0,
            "alpha": alpha,
        },
    )


def wall(axes: "Axes", start: Any, end: Any, thickness: Any) -> None:
    """A line from ``start`` to ``end`` (2,) with a hatched strip on the side of ``thickness`` (2,)."""
    start, end, thickness = (np.asarray(point, dtype=float) for point in (start, end, thickness))
    corners = np.array([start, end, end + thickness, start + thickness])
    axes.fill(*corners.T, facecolor="#F2F2F2", edgecolor="#AAAAAA", hatch="////", linewidth=0, zorder=1)
    axes.plot(*np.array([start, end]).T, color=DARK, linewidth=1.8, zorder=2)


def turning_arrow(axes: "Axes", centre: Any, radius: float, angles: tuple[float, float], color: str) -> None:
    """An arc about ``centre`` from the first to the second angle [rad] with its head at the second."""
    way = np.linspace(*angles, 60)
    x, y = centre[0] + radius * np.cos(way), centre[1] + radius * np.sin(way)
    axes.plot(x[:-4], y[:-4], color=color, linewidth=2.2, zorder=6)
    arrow(axes, (x[-8], y[-8]), (x[-1] - x[-8], y[-1] - y[-8]), color, front=6)


def label(axes: "Axes", place: Any, text: str, color: str) -> None:
    """A text centred at ``place`` (2,)."""
    axes.text(place[0], place[1], text, color=color, ha="center", va="center", zorder=8)
