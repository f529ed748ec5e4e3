"""A film of a turning, bending, opening laminate: the whole shaft, its middle section, and the gap over one turn.

Everything is shown in the frame that stands still; lengths across the shaft are enlarged, all by the same factor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.results import Run
    from klapper.structures.delaminated_beam import DelaminatedModel

Face = tuple[float, np.ndarray, tuple[float, float, float]]

FRAMES = 60
_STATIONS = 25  # along each segment
_VIEW = np.array([0.35, 0.94])  # towards the eye, in directions 1 (up) and 2
_SHEAR = np.array(
    [0.30, -0.34]
)  # how direction 2 appears on paper: to the right, downward as it comes closer
_CORNERS = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]])
_SIDES = ((0, 1), (2, 3), (3, 0), (1, 2))  # pairs of corners: +1, −1, +2, −2
_OUTWARD = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
_COLOURS = {
    1: np.array([0.62, 0.68, 0.74]),
    2: np.array([0.25, 0.57, 0.80]),
    3: np.array([0.93, 0.60, 0.34]),
    4: np.array([0.62, 0.68, 0.74]),
}


class TurningShaft:
    """Edges and faces of the four segments over time, from the last turn of a run."""

    def __init__(self, model: DelaminatedModel, run: Run, speed: float) -> None:
        self.parts = model.beam.segments
        self.width = model.beam.width
        self.omega = 2 * np.pi * speed
        end = float(run.time[-1])
        self.times = end - 1 / speed + np.arange(FRAMES) / (FRAMES * speed)
        position = run.position_at(self.times)
        places = np.linspace(0.0, 1.0, _STATIONS)
        self.bent = [
            np.stack([position @ model.rows(part, places, axis).T for axis in (1, 2)], axis=2)
            for part in (1, 2, 3, 4)
        ]
        starts = [
            0.0,
            self.parts[0].length,
            self.parts[0].length,
            self.parts[0].length + self.parts[1].length,
        ]
        self.along = [start + places * part.length for start, part in zip(starts, self.parts, strict=True)]
        factor = 0.13 * self.along[3][-1] / model.beam.height
        self.enlarged = float(f"{factor:.1g}")

    def corners(self, part: int, frame: int) -> np.ndarray:
        """(stations, 4, 2) [m] of segment 0…3 across the shaft, in the frame that stands still."""
        piece = self.parts[part]
        half = 0.5 * np.array([piece.thickness, self.width])
        centre = self.bent[part][frame] + np.array([piece.offset, 0.0])
        seen = centre[:, None, :] + _CORNERS * half
        return seen @ self.turned(frame).T

    def turned(self, frame: int) -> np.ndarray:
        """T^AB (2, 2). (5.74), corrected"""
        angle = self.omega * self.times[frame]
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def widest_frame(model: DelaminatedModel, run: Run, speed: float) -> int:
    """The number of the frame with the widest gap in the middle."""
    times = TurningShaft(model, run, speed).times
    return int(np.argmax(run.position_at(times) @ model.gap_rows([0.5])[0]))


def draw_turn(figure: Figure, *, model: DelaminatedModel, run: Run, speed: float) -> Callable[[int], None]:
    """One turn of the clattering shaft in slow motion, seen by somebody who stands still. Left: the shaft; right: the
    section in its middle; below: the gap there. Gravity acts downward."""
    figure.set_size_inches(7.4, 4.9)
    grid = figure.add_gridspec(2, 2, width_ratios=(2.2, 1.0), height_ratios=(1.5, 1.0))
    shaft = TurningShaft(model, run, speed)
    parts = [
        _whole(figure.add_subplot(grid[0, 0]), shaft),
        _section(figure.add_subplot(grid[0, 1]), shaft),
        _history(figure.add_subplot(grid[1, :]), shaft, model, run, speed),
    ]

    def show(number: int) -> None:
        for part in parts:
            part(number)

    return show


def _whole(axes: Axes, shaft: TurningShaft) -> Callable[[int], None]:
    from matplotlib.collections import PolyCollection

    faces = PolyCollection([], edgecolors="#333333", linewidths=0.4)
    axes.add_collection(faces)
    length = shaft.along[3][-1]
    reach = (
        1.25
        * shaft.enlarged
        * max(np.abs(shaft.corners(part, frame)).max() for part in range(4) for frame in range(0, FRAMES, 3))
    )
    axes.set(xlim=(-0.06 * length, 1.06 * length), ylim=(-reach, reach))
    axes.plot([0.0, length], [-reach, -reach], color="#888888", linewidth=0.8)
    for x in (0.0, length):
        axes.plot(x, -0.93 * reach, marker="^", color="#888888", markersize=7, clip_on=False)
    axes.set_axis_off()
    axes.set_title(f"across the shaft {shaft.enlarged:g} times enlarged", fontsize=10)

    def show(frame: int) -> None:
        drawn = []
        for part in range(4):
            drawn += _visible(shaft, part, frame)
        drawn.sort(key=lambda face: face[0])
        faces.set_verts([face[1] for face in drawn])
        faces.set_facecolor([face[2] for face in drawn])

    return show


def _visible(shaft: TurningShaft, part: int, frame: int) -> list[Face]:
    """Faces of one segment that look at the eye: their nearness, outline on paper and colour."""
    corners, x = shaft.corners(part, frame), shaft.along[part]
    found = []
    for (one, two), outward in zip(_SIDES, _OUTWARD, strict=True):
        facing = float(_VIEW @ (shaft.turned(frame) @ outward))
        if facing <= 0.0:
            continue
        near = float(_VIEW @ corners[:, (one, two)].mean(axis=(0, 1)))
        outline = np.concatenate([_paper(shaft, x, corners[:, one]), _paper(shaft, x, corners[:, two])[::-1]])
        red, green, blue = np.clip(_COLOURS[part + 1] * (0.62 + 0.45 * facing), 0.0, 1.0).tolist()
        found.append((near, outline, (red, green, blue)))
    return found


def _paper(shaft: TurningShaft, x: np.ndarray, across: np.ndarray) -> np.ndarray:
    """(k, 2) oblique projection of points at x (k,) and ``across`` (k, 2)."""
    up, toward = shaft.enlarged * across.T
    return np.column_stack([x + _SHEAR[0] * toward, up + _SHEAR[1] * toward])


def _section(axes: Axes, shaft: TurningShaft) -> Callable[[int], None]:
    from matplotlib.patches import Polygon

    middle = _STATIONS // 2
    laminae = [
        Polygon(np.zeros((4, 2)), facecolor=tuple(_COLOURS[part + 1]), edgecolor="#333333", linewidth=0.8)
        for part in (1, 2)
    ]
    for lamina in laminae:
        axes.add_patch(lamina)
    reach = 1.1e3 * max(
        np.abs(shaft.corners(part, frame)[middle]).max() for part in (1, 2) for frame in range(FRAMES)
    )
    axes.axhline(0.0, color="#AAAAAA", linewidth=0.7, zorder=0)
    axes.axvline(0.0, color="#AAAAAA", linewidth=0.7, zorder=0)
    axes.annotate(
        "g",
        (0.93 * reach, 0.55 * reach),
        (0.93 * reach, 0.95 * reach),
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "->", "color": "#333333"},
        fontsize=10,
    )
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="mm", ylabel="mm")
    axes.set_title("section in the middle", fontsize=10)
    axes.grid(False)

    def show(frame: int) -> None:
        for lamina, part in zip(laminae, (1, 2), strict=True):
            lamina.set_xy(1e3 * shaft.corners(part, frame)[middle][:, ::-1])

    return show


def _history(
    axes: Axes, shaft: TurningShaft, model: DelaminatedModel, run: Run, speed: float
) -> Callable[[int], None]:
    from klapper.gallery._sketch import BLUE, ORANGE

    row = model.gap_rows([0.5])[0]
    last = run.time >= run.time[-1] - 1.0000001 / speed
    turns = speed * (run.time[last] - shaft.times[0])
    axes.axhline(0.0, color="#444444", linewidth=0.8)
    touching = np.any(run.impulse[last, :, 0] > 0.0, axis=1)
    axes.fill_between(
        turns,
        0.0,
        1.0,
        where=touching,
        step="pre",
        color="#E2E2E2",
        transform=axes.get_xaxis_transform(),
        linewidth=0,
        label="laminae touch",
    )
    axes.plot(turns, 1e3 * (run.position[last] @ row), color=BLUE)
    (dot,) = axes.plot([], [], "o", color=ORANGE, markersize=8)
    axes.set(xlabel="turns", ylabel="gap in the middle / mm", xlim=(0.0, 1.0))
    if touching.any():
        axes.legend(loc="upper right", frameon=True)
    gaps = 1e3 * (run.position_at(shaft.times) @ row)

    def show(frame: int) -> None:
        dot.set_data([frame / FRAMES], [gaps[frame]])

    return show
