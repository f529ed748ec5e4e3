"""Small pictures of figures: PNG of few colours, at most 60 kB, the same bytes for the same drawing."""

import io
from collections.abc import Callable

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

from klapper.report.figures import STYLE

WIDTH = 720
"""Width of a picture in pixels."""
LARGEST = 60_000
"""Bytes that a picture may have."""


def small_picture(drawing: Callable[[Figure], None], *, width: int = WIDTH, largest: int = LARGEST) -> bytes:
    """The figure of a drawing as PNG: fewer colours, then fewer pixels, until it is small enough."""
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(layout="constrained")
        drawing(figure)
        while True:
            image = _image(figure, width)
            for colours in (96, 48, 24):
                content = _png(image, colours)
                if len(content) <= largest:
                    return content
            width = int(0.85 * width)


def _image(figure: Figure, width: int) -> Image.Image:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=width / figure.get_size_inches()[0])
    return Image.open(content).convert("RGB")


def _png(image: Image.Image, colours: int) -> bytes:
    few = image.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    content = io.BytesIO()
    few.save(content, format="PNG", optimize=True)
    return content.getvalue()
