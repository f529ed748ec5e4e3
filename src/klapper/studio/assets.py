"""The files of the page: its own, and the charts and the style of report pages, which are shipped once.

The scripts of a report page stand one after the other in one function; here the same texts become one module.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import klapper.report

_OWN = Path(__file__).with_name("browser")
_REPORT = Path(klapper.report.__file__).parent
_CHARTS = ("data", "panel", "chart", "timeline")
_EXPORTS = "revived, timesOf, nearest, brief, element, shade, lineShade, Range, Chart, Timeline, PANELS"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


@cache
def assets() -> dict[str, tuple[bytes, str]]:
    """Content and media type by name."""
    found = {
        file.name: (file.read_bytes(), f"{_KINDS[file.suffix]}; charset=utf-8")
        for file in sorted(_OWN.iterdir())
        if file.suffix in _KINDS
    }
    charts = [(_REPORT / "browser" / f"{part}.js").read_text(encoding="utf-8") for part in _CHARTS]
    found["charts.js"] = (
        "\n".join([*charts, f"export {{ {_EXPORTS} }};\n"]).encode(),
        "text/javascript; charset=utf-8",
    )
    style = [(_REPORT / part).read_bytes() for part in ("page.css", "browser/run.css")]
    found["studio.css"] = (b"\n".join([*style, found["studio.css"][0]]), "text/css; charset=utf-8")
    return found
