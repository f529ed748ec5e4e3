"""A film: a drawing that moves, as an animated GIF that a page can hold without scripts.

    def scene(figure):
        '''The turning shaft.'''
        (line,) = figure.subplots().plot(...)
        def show(number): line.set_data(...)
        return show

    figures={"motion": Film(scene, frames=60)}

A film is a drawing as well: called with a figure it draws one frame, for print and for files that do not move. It runs
in a loop, so it looks best if its last frame leads to its first.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

Staging = Callable[["Figure"], Callable[[int], None]]

_COLOURS = 240
_DOTS_PER_INCH = 90
_SHORTEST = 0.02  # s; browsers show faster films slower


@dataclass(frozen=True)
class Film:
    """A moving drawing.

    ``scene``     draws into an empty figure and returns a function that changes it to the frame of a number; its
                  docstring is the caption
    ``frames``    their number
    ``interval``  [s] between frames, in hundredths
    ``still``     number of the frame that stands for all where nothing moves
    """

    scene: Staging
    frames: int
    interval: float = 0.05
    still: int = 0

    def __post_init__(self) -> None:
        if self.frames < 2 or not 0 <= self.still < self.frames:
            raise ValueError(
                f"a film has at least 2 frames, and its still is one of them: {self.frames} frames, still {self.still}"
            )
        if not self.interval >= _SHORTEST:
            raise ValueError(f"the interval is {self.interval} s; allowed are numbers from {_SHORTEST} s on")

    def __call__(self, figure: Figure) -> None:
        """Draw the still."""
        self.scene(figure)(self.still)

    def gif(self) -> bytes:
        """All frames in the present style of matplotlib; the same film gives the same bytes."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from PIL import Image

        figure = Figure(layout="constrained", dpi=_DOTS_PER_INCH)
        canvas = FigureCanvasAgg(figure)
        show = self.scene(figure)

        def frame(number: int) -> Image.Image:
            show(number)
            canvas.draw()
            return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")

        seen = [
            np.asarray(frame(number)) for number in (self.still, 0, self.frames // 3, 2 * self.frames // 3)
        ]
        colours = Image.fromarray(np.vstack(seen)).quantize(_COLOURS, dither=Image.Dither.NONE)
        figure.set_layout_engine("none")  # the place of the axes is found, and stays
        frames = [
            frame(number).quantize(palette=colours, dither=Image.Dither.NONE) for number in range(self.frames)
        ]
        content = io.BytesIO()
        frames[0].save(
            content,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=10 * round(100 * self.interval),
            loop=0,
        )
        return content.getvalue()
