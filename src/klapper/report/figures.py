"""Figures: drawn without a screen and without global state, in one legible style, as SVG and PNG.

A drawing is a function of an empty :class:`matplotlib.figure.Figure`; its docstring is the caption. It may
set the size. A :class:`~klapper.report.film.Film` is drawn as a GIF in addition.
"""

import inspect
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from klapper.report.film import Film

STYLE = Path(__file__).with_name("klapper.mplstyle")
Drawing = Callable[[Figure], None]


@dataclass(frozen=True)
class Picture:
    """A drawn figure: file contents and caption; ``gif`` is empty if it does not move."""

    name: str
    caption: str
    svg: bytes
    png: bytes
    gif: bytes = b""


def draw(drawings: Mapping[str, Drawing]) -> list[Picture]:
    """All figures drawn in the style of the house; the same drawing gives the same bytes."""
    return [_picture(name, drawing) for name, drawing in drawings.items()]


def _picture(name: str, drawing: Drawing) -> Picture:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(layout="constrained")
        drawing(figure)
        svg = _saved(figure, "svg", {"Date": None})
        png = _saved(figure, "png", {"Software": None})
        gif = drawing.gif() if isinstance(drawing, Film) else b""
    return Picture(name, _caption(name, drawing), svg, png, gif)


def _saved(figure: Figure, format: str, metadata: dict[str, None]) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=format, metadata=metadata)
    return content.getvalue()


def _caption(name: str, drawing: Drawing) -> str:
    described = drawing.scene if isinstance(drawing, Film) else drawing
    function = described.func if isinstance(described, partial) else described
    caption = inspect.getdoc(function) if inspect.isroutine(function) else None
    return " ".join((caption or name.replace("-", " ")).split())
