"""A run as one page that can be looked into: a single HTML file that needs no network and opens from a disk.

The plots are drawn by some hundred lines of plain canvas (``browser/*.js``) and not by a library: half of what is
needed, the timeline of contact states, phase portraits and the animation, is in no small one, and one hand keeps
the shared time window, cursor, keys and spoken readouts the same everywhere. The page allows itself only what it holds:
its Content-Security-Policy names the one script and the one style by their digests and forbids everything else, so a
hostile name of a coordinate could do nothing even if it were not escaped, which it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from klapper.counting import counted
from klapper.report.document import document
from klapper.report.embedding import script_text
from klapper.report.folder import write
from klapper.report.run_data import run_data
from klapper.report.run_scene import scene_of
from klapper.report.scene import Scene
from klapper.report.verdict import Verdict, verdict
from klapper.report.words import brief
from klapper.results import overview
from klapper.results.events import KINDS
from klapper.results.tables import number

if TYPE_CHECKING:
    from klapper.results import Run

SCRIPTS = ("data", "panel", "chart", "timeline", "stage", "player", "page")
_HERE = Path(__file__).parent

_MAIN = Template("""\
$text
$verdict
<noscript><p>The plots and the animation need JavaScript; everything else is here without it.</p></noscript>
$animation
<div id="window" class="window" role="group" aria-label="Time window of all plots over time">
<span class="title">Time window</span></div>
<section>
<h2>Motion</h2>
<div id="histories"></div>
<h3>Phase portrait</h3>
<div id="phase"></div>
<h3>Spectrum</h3>
<div id="spectrum"></div>
</section>
<section>
<h2>Contacts</h2>
<div id="contacts"></div>
$contacts
</section>
<section>
<h2>Energy</h2>
<div id="energy"></div>
</section>
$tables
<section>
<h2>Data</h2>
<p>$data_words</p>
<p><button type="button" id="download" data-file="$file">Download the data as CSV</button></p>
</section>
<footer>
<p>Drag across a plot to zoom, double-click to see all again; every plot can be focused and moved with the keyboard.</p>
<p>Computed with klapper $version.</p>
</footer>
""")


def write_report(
    run: Run,
    path: str | Path,
    *,
    title: str = "",
    text: str = "",
    parameters: Mapping[str, Any] | None = None,
    scene: Scene | None = None,
) -> Path:
    """Write the page of a run, whole or not at all; the path of the file.

    ``title``       what was computed; empty: the name of the system
    ``text``        what the reader should know, in paragraphs
    ``parameters``  of the model, by name, with units in the names or values
    ``scene``       what the model looks like while it moves; None: the picture that the run carries, see
                    :func:`~klapper.report.scene_of`

    >>> import tempfile
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.report import write_report
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> run = simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(run, f"{folder}/run.html", title="Steady motion").read_text(encoding="utf-8")
    >>> "<title>Steady motion" in page
    True
    """
    file = Path(path)
    write(
        file,
        run_page(run, title=title, text=text, parameters=parameters, scene=scene, name=file.stem).encode(),
    )
    return file


def run_page(
    run: Run,
    *,
    title: str = "",
    text: str = "",
    parameters: Mapping[str, Any] | None = None,
    scene: Scene | None = None,
    name: str = "run",
) -> str:
    """The HTML text of the page; ``name`` names the file of the download."""
    style = "\n".join((_HERE / part).read_text(encoding="utf-8") for part in ("page.css", "browser/run.css"))
    parts = [(_HERE / "browser" / f"{part}.js").read_text(encoding="utf-8") for part in SCRIPTS]
    script = "\n".join(['"use strict";', "(() => {", *parts, "})();"])
    shown = scene_of(run) if scene is None else scene
    data = run_data(run, shown)
    system = run.about.get("system")
    named = system.get("name", "") if isinstance(system, dict) else system
    main = _MAIN.substitute(
        text=_paragraphs([*text.strip().split("\n\n"), _computed(run)]),
        verdict=_verdict(verdict(run)),
        animation='<section>\n<h2>Animation</h2>\n<div id="animation"></div>\n</section>' if shown else "",
        contacts=_contacts(run) + _events(run),
        tables=_settings(run, parameters or {}) + _papers(run),
        data_words=escape(_data_words(run, data)),
        file=escape(f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name) or 'run'}.csv"),
        version=escape(version("klapper")),
    )
    shown_title = title or str(named or "A run")
    return document(shown_title, "a run", main, style=style, data=script_text(data), script=script)


def _paragraphs(texts: Sequence[str]) -> str:
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts if text.strip())


def _computed(run: Run) -> str:
    """What was computed, in a few sentences."""
    about, layout = run.about, run.layout
    scheme = about.get("scheme")
    named = scheme.get("name", "") if isinstance(scheme, dict) else scheme
    span = f" from {run.time[0]:.6g} s to {run.time[-1]:.6g} s" if len(run) else ""
    by = f" by the scheme “{named}”" if named else ""
    steps = f" in {counted(about['steps'], 'step')}" if "steps" in about else ""
    spent = f", in {number(about['wall_time'])} s" if isinstance(about.get("wall_time"), int | float) else ""
    counts = overview.event_counts(run)
    seen = ", ".join(f"{counts[kind]} × {kind}" for kind in KINDS if counts[kind]) or "none"
    contacts = "contacts logged by number"
    if run.samples.loaded is None:
        contacts = counted(len(layout.contacts), "contact")
    return (
        f"The motion{span} was computed{by}{steps}{spent}: {counted(len(layout.coordinates), 'coordinate')}, "
        f"{contacts}, {counted(len(layout.constraints), 'two-sided constraint')}. Events at the contacts: {seen}."
    )


def _verdict(judged: Verdict) -> str:
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in judged.warnings)
    return (
        f'<div class="verdict {judged.kind}" role="region" aria-label="Verdict">\n<strong>{escape(judged.sentence)}'
        f"</strong>\n{f'<ul>{warnings}</ul>' if warnings else ''}{_nested(judged.lines)}\n</div>"
    )


def _nested(value: Any) -> str:
    if isinstance(value, dict) and value:
        rows = "".join(f"<dt>{escape(str(n))}</dt><dd>{_nested(v)}</dd>\n" for n, v in value.items())
        return f"<dl>{rows}</dl>"
    return escape(brief(value))


def _contacts(run: Run) -> str:
    rows = list(overview.contact_rows(run))[: overview.SHOWN_CONTACTS]
    if not rows:
        return ""
    shares = [name for name in rows[0] if name in ("open", "closed", "stick", "slip", "impact")]
    head = ["contact", *shares, "impacts", "smallest gap / m", "largest force / N", "largest impulse / N s"]
    cells = [
        [
            row["contact"],
            *(f"{100 * row[name]:.1f} %" for name in shares),
            str(row["impacts"]),
            *(number(row[name]) for name in ("smallest_gap", "largest_force", "largest_impulse")),
        ]
        for row in rows
    ]
    return f"<h3>Contacts in numbers</h3>\n{_table(head, cells)}\n"


def _events(run: Run) -> str:
    rows, left_out = overview.event_rows(run)
    if not rows:
        return ""
    head = ["contact", "event", "time / s", *(f"{name} impulse / N s" for name in run.layout.directions)]
    cells = [
        [row["contact"], row["event"], number(row["time"]), *map(number, row["impulse"])] for row in rows
    ]
    title = "Events" if not left_out else f"First and last events ({left_out} between them)"
    return f"<h3>{title}</h3>\n{_table(head, cells, texts=2)}\n"


def _settings(run: Run, parameters: Mapping[str, Any]) -> str:
    about = run.about
    settings = about.get("settings")
    told = {
        **{name: parameters[name] for name in parameters},
        **{name: about[name] for name in ("system", "scheme") if about.get(name)},
        **(settings if isinstance(settings, dict) else {}),
        **{name: about[name] for name in ("version",) if about.get(name)},
    }
    rows = [[str(name), brief(value)] for name, value in told.items() if value is not None]
    return f"<section>\n<h2>Parameters and settings</h2>\n{_table(['name', 'value'], rows, texts=2)}\n</section>\n"


def _papers(run: Run) -> str:
    lines = run.citation().splitlines()
    if not lines:
        return ""
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return (
        f'<section>\n<h2>Publications behind this run</h2>\n<ul class="papers">\n{items}\n</ul>\n</section>\n'
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> str:
    """A table whose first ``texts`` columns are texts and whose others are numbers."""
    kind = ["" if k < texts else ' class="number"' for k in range(len(head))]
    titles = "".join(
        f'<th scope="col"{mark}>{escape(title)}</th>' for title, mark in zip(head, kind, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{mark}>{escape(str(cell))}</td>" for cell, mark in zip(row, kind, strict=True))
        + "</tr>"
        for row in rows
    )
    wide = ' class="scroll" tabindex="0" role="region" aria-label="Table"' if len(head) > 3 else ""
    return f"<div{wide}><table><thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"


def _data_words(run: Run, data: Mapping[str, Any]) -> str:
    """How much of the run the page holds."""
    if data["kept"] == len(run):
        words = [f"The page holds all {counted(len(run), 'sample')}"]
    else:
        words = [
            f"The page holds {data['kept']} of {counted(len(run), 'sample')}: of every line the least and "
            "the largest values in "
            "equal stretches of time, so that no extreme is lost. Cells are empty where a line has no value"
        ]
    words.append("Values have 7 digits; the stored run has them all")
    shown, all_ = len(data["position"]), len(run.layout.coordinates)
    if shown < all_:
        words.append(f"Of {all_} coordinates the {shown} that move most are shown")
    contacts = len(run.layout.contacts)
    if len(data["contacts"]) < contacts or run.samples.loaded is not None:
        words.append(f"The {len(data['contacts'])} contacts with the largest normal impulse are shown")
    return ". ".join(words) + "."
