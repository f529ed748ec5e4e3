"""Figures for papers: any drawing in the style of the house, as vector graphics whose texts stay texts.

    write_figure(run.plot.forces, "forces.pdf")
    write_figure(run.plot.phase, "phase.svg", name="mass")      # what the drawing asks for besides
    write_figure(run.plot.ledger, "energy.pdf", width=3.4)      # one column of a journal, in inches

The same drawing gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from klapper.report.folder import write
from klapper.results import ResultsError

FORMATS = ("pdf", "svg", "eps", "png")
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": "klapper"},
    "svg": {"Date": None, "Creator": "klapper"},
    "eps": {"Creator": "klapper"},
    "png": {"Software": None},
}
_SMALLEST = 0.65  # share of the usual size of letters
_SIZES = (
    *(
        "font.size",
        "axes.titlesize",
        "axes.labelsize",
        "xtick.labelsize",
        "ytick.labelsize",
        "legend.fontsize",
    ),
    *("lines.linewidth", "lines.markersize"),
)
_TEXTS: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "klapper"}


def write_figure(
    drawing: Callable[..., Any], path: str | Path, *, width: float | None = None, **wanted: Any
) -> Path:
    """Draw into an empty figure and write it; the ending of ``path`` says how: .pdf, .svg, .eps or .png.

    ``drawing``  function of a figure, such as ``run.plot.gaps`` or a figure of an example
    ``width``    [inch]; None: that of the style, 6 inches
    ``wanted``   further arguments of the drawing
    """
    file = Path(path)
    kind = file.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ResultsError(f"{file} has the ending '{file.suffix}': allowed are .{', .'.join(FORMATS)}.")
    if width is not None and not 0.5 <= width <= 100.0:
        raise ResultsError(f"width is {width!r} inches; allowed are numbers from 0.5 to 100.")
    write(file, drawn(drawing, kind, width=width, **wanted))
    return file


def _resized(style: Any, width: float) -> Any:
    """A figure of this width, with smaller letters and lines where it is narrow."""
    wide, high = style["figure.figsize"]
    share = width / wide
    smaller = min(max(share, _SMALLEST), 1.0)
    sizes = {name: smaller * style[name] for name in _SIZES}
    return {"figure.figsize": (width, high * max(share, _SMALLEST)), **sizes}


def drawn(drawing: Callable[..., Any], kind: str, *, width: float | None = None, **wanted: Any) -> bytes:
    """The content of such a file of the ``kind`` "pdf", "svg", "eps" or "png"."""
    import matplotlib
    from matplotlib.figure import Figure

    from klapper.report.figures import STYLE

    with matplotlib.rc_context(fname=STYLE), matplotlib.rc_context(_TEXTS):
        if width is not None:
            matplotlib.rcParams.update(_resized(matplotlib.rcParams, width))
        figure = Figure(layout="constrained")
        drawing(onto=figure, **wanted) if wanted else drawing(figure)
        if width is not None:
            figure.set_figwidth(width)
        content = io.BytesIO()
        figure.savefig(content, format=kind, metadata=_METADATA[kind])
    return content.getvalue()
