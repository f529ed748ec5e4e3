"""The block on its two feet in motion: forces as arrows that grow with the push, way enlarged."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from klapper.gallery._block import Computed, thinned
from klapper.gallery._sketch import BODY, DARK, GREEN, GREY, ORANGE, bare, wall

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch

_WAY = 0.35  # of the width: how far the block slides in the picture
_ARROW = 0.45  # of the width: length of the longest friction arrow
_NORMAL = 0.35  # of the width: length of the longest normal arrow


def draw_block(figure: "Figure", *, done: Computed, frames: int) -> Callable[[int], None]:
    """The block under the growing push (grey) with the forces of the ground: friction (orange) and normal forces
    (green), to different scales. A foot is filled while it sticks. The way is enlarged; halves are drawn apart."""
    figure.set_size_inches(6.4, 4.6)
    above, below = figure.subplots(2, 1, height_ratios=(1.9, 1.0))
    numbers = np.linspace(1, len(done.run) - 1, frames).astype(int)
    scene = _Scene(above, done)
    colours = ("C0", "C1")
    time = 1e3 * done.run.time[numbers]
    every = thinned(len(done.run))[1:]
    for foot, colour in enumerate(colours):
        name = f"$\\lambda_{{T{'AB'[foot]}}}$"
        below.plot(
            1e3 * done.run.time[every], done.forces[every, 2 * foot], color=colour, linewidth=1.1, label=name
        )
    below.set(xlabel="time / ms", ylabel="friction / N")
    below.legend(loc="lower left", ncols=2)
    cursor = below.axvline(time[0], color="0.4", linewidth=1.0)

    def show(number: int) -> None:
        cursor.set_xdata([time[number]] * 2)
        scene.show(int(numbers[number]))

    return show


class _Scene:
    """The block, its feet and the arrows at them."""

    def __init__(self, axes: "Axes", done: Computed) -> None:
        self.done = done
        block = done.block
        a, b = block.width, block.height
        self.enlarged = _WAY * a / max(float(np.abs(done.way).max()), 1e-12)
        self.friction_scale = _ARROW * a / max(float(np.abs(done.forces[1:, [0, 2]]).max()), 1e-12)
        self.normal_scale = _NORMAL * a / max(float(done.forces[1:, [1, 3]].max()), 1e-12)
        self.push_scale = _ARROW * a / max(float(np.abs(done.push).max()), 1e-12)
        bare(axes, (-0.75 * a, 2.0 * a), (-0.5 * a, b + 0.3 * a))
        wall(axes, (-0.75 * a, 0.0), (2.0 * a, 0.0), (0.0, -0.06 * a))
        gap = 0.0 if done.bodies == 1 else 0.02 * a
        widths = [a] if done.bodies == 1 else [0.5 * (a - gap)] * 2
        from matplotlib.patches import Circle, Rectangle

        self.parts = [
            Rectangle((0, 0), w, b, facecolor=BODY, edgecolor=DARK, linewidth=1.2, zorder=3) for w in widths
        ]
        self.offsets = [0.0] if done.bodies == 1 else [0.0, 0.5 * (a + gap)]
        self.feet = [Circle((0, 0), 0.022 * a, edgecolor=DARK, linewidth=1.2, zorder=6) for _ in "AB"]
        for patch in (*self.parts, *self.feet):
            axes.add_patch(patch)
        self.friction = [self._arrow(axes, ORANGE) for _ in "AB"]
        self.normal = [self._arrow(axes, GREEN) for _ in "AB"]
        self.push = self._arrow(axes, GREY)
        self.text = axes.text(-0.7 * a, b + 0.2 * a, "", fontsize=10, va="center")
        axes.text(
            2.0 * a,
            b + 0.2 * a,
            f"way {self.enlarged:,.0f} times enlarged",
            fontsize=9,
            color="0.4",
            ha="right",
            va="center",
        )

    @staticmethod
    def _arrow(axes: "Axes", colour: str) -> "FancyArrowPatch":
        from matplotlib.patches import FancyArrowPatch

        arrow = FancyArrowPatch(
            (0, 0),
            (0, 0),
            arrowstyle="-|>",
            mutation_scale=13,
            linewidth=2.0,
            color=colour,
            shrinkA=0,
            shrinkB=0,
            zorder=7,
        )
        axes.add_patch(arrow)
        return arrow

    def show(self, sample: int) -> None:
        done, a, b = self.done, self.done.block.width, self.done.block.height
        shift = self.enlarged * float(done.way[sample])
        for part, offset in zip(self.parts, self.offsets, strict=True):
            part.set_xy((shift + offset, 0.0))
        for foot, x in enumerate((shift, shift + a)):
            sticks = done.run.state[sample, foot] == 1
            self.feet[foot].set(center=(x, 0.0), facecolor=DARK if sticks else "white")
            tangential, normal = done.forces[sample, 2 * foot : 2 * foot + 2]
            self.friction[foot].set_positions((x, 0.0), (x + self.friction_scale * tangential, 0.0))
            self.normal[foot].set_positions((x, -self.normal_scale * normal), (x, 0.0))
        push = float(done.push[sample])
        self.push.set_positions((shift + a, b), (shift + a + self.push_scale * push, b))
        states = {(True, True): "both feet stick", (False, False): "both feet slide"}
        pair = tuple(bool(state == 1) for state in done.run.state[sample])
        now = states.get((pair[0], pair[1]), "A sticks, B slides" if pair[0] else "A slides, B sticks")
        self.text.set_text(f"t = {1e3 * done.run.time[sample]:.1f} ms, F = {push:.1f} N, {now}")
