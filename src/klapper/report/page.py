"""One run as one page: a single HTML file, style and figures inside, that needs no network and no scripts."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from klapper.report.document import document
from klapper.report.record import About, Record
from klapper.report.words import brief, deviation, expectation, verdict

if TYPE_CHECKING:
    from klapper.report.figures import Picture

_MAIN = Template("""\
$source
$text
$verdict
$sections
<footer>
$command
<p>Computed with klapper $version. The file <code>result.json</code> holds every number in full.</p>
</footer>
""")


def page(record: Record, about: About, pictures: Sequence["Picture"] = (), runs: Sequence[str] = ()) -> str:
    """The HTML text of the report; ``runs`` are names of pages of runs beside it."""
    sections = [
        _section("Look into the motion", "\n".join(_link(name) for name in runs)),
        _section("Figures", "\n".join(_figure(picture) for picture in pictures)),
        _section("Numbers", _numbers(record.numbers, about.number_units)),
        _section("Checks", _checks(record.checks)),
        _section("Parameters", _parameters(record.parameters, about)),
    ]
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    main = _MAIN.substitute(
        source=f'<p class="source">Source: {escape(about.source)}</p>' if about.source else "",
        text=_paragraphs(about.text),
        verdict=_verdict(record),
        sections="\n".join(filter(None, sections)),
        command=f"<p>Repeat with <code>{escape(about.command)}</code></p>" if about.command else "",
        version=escape(version("klapper")),
    )
    kicker = f'<span class="name">{escape(record.example)}</span>'
    return document(about.title or record.example, kicker, main, style=style)


def _link(name: str) -> str:
    words = "time histories, contacts, energy and an animation, to zoom and play"
    return f'<p><a href="{escape(name)}.html">{escape(name.replace("-", " "))}</a>: {words}.</p>'


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>" if content else ""


def _paragraphs(text: str) -> str:
    """Paragraphs of a docstring: indented ones are formulas, words between backticks are names."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if not block.strip():
            continue
        if all(line.startswith("    ") for line in block.splitlines()):
            blocks.append(f"<pre>{escape(cleandoc(block))}</pre>")
        else:
            named = re.sub(r"(`+)([^`]+)\1", r"<code>\2</code>", escape(block))
            blocks.append(f"<p>{named}</p>")
    return "\n".join(blocks)


def _verdict(record: Record) -> str:
    kind = "none" if not record.checks else "passed" if record.passed else "failed"
    sentence = escape(verdict(record.checks))
    audit = _nested(record.audit) if record.audit else ""
    return f'<div class="verdict {kind}">\n<strong>{sentence}</strong>\n{audit}\n</div>'


def _nested(value: Any) -> str:
    """Dictionaries as definition lists, lists of dictionaries line by line, the rest in short."""
    if isinstance(value, dict) and value and value.keys() != {"real", "imag"}:
        return (
            "<dl>"
            + "".join(f"<dt>{escape(str(n))}</dt><dd>{_nested(v)}</dd>\n" for n, v in value.items())
            + "</dl>"
        )
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return "".join(f"<div>{escape(brief(entry))}</div>" for entry in value)
    return escape(brief(value))


def _numbers(numbers: Mapping[str, Any], units: Mapping[str, str]) -> str:
    return _table(
        ["name", "value"],
        [
            [("name", name), ("value", f"{brief(value)} {units.get(name, '')}")]
            for name, value in numbers.items()
        ],
    )


def _parameters(parameters: Mapping[str, Any], about: About) -> str:
    units, meanings = about.parameter_units, about.meanings
    return _table(
        ["name", "value", "meaning"],
        [
            [("name", n), ("value", f"{brief(v)} {units.get(n, '')}"), ("meaning", meanings.get(n, ""))]
            for n, v in parameters.items()
        ],
    )


def _table(titles: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "\n".join(
        "<tr>" + "".join(f'<td class="{kind}">{escape(text.strip())}</td>' for kind, text in row) + "</tr>"
        for row in rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _checks(checks: Sequence[Mapping[str, Any]]) -> str:
    if not checks:
        return ""
    titles = ["value", "expected", "off by", "tolerance", "source"]
    head = '<th></th><th scope="col">check</th>' + "".join(
        f'<th scope="col">{title}</th>' for title in titles
    )
    body = "\n".join(_check(dict(check), titles) for check in checks)
    return f'<table class="stacked">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>'


def _check(check: dict[str, Any], titles: Sequence[str]) -> str:
    tolerance = "" if check["tolerance"] is None else brief(check["tolerance"])
    texts = [brief(check["value"]), expectation(check), deviation(check), tolerance, str(check["source"])]
    cells = "".join(
        f'<td data-label="{title}">{escape(text)}</td>' if text else "<td></td>"
        for title, text in zip(titles, texts, strict=True)
    )
    kind, mark, word = ("passed", "✓", "passed") if check["passed"] else ("failed", "✗", "failed")
    title = f'<td class="mark" title="{word}">{mark}</td><td class="title">{escape(check["name"])}</td>'
    return f'<tr class="{kind}">{title}{cells}</tr>'


def _figure(picture: "Picture") -> str:
    still = f"data:image/svg+xml;base64,{b64encode(picture.svg).decode()}"
    caption = escape(picture.caption)
    image = f'<img alt="{caption}" src="{still}">'
    if picture.gif:
        calm = f'<source media="print, (prefers-reduced-motion: reduce)" srcset="{still}">'
        film = f"data:image/gif;base64,{b64encode(picture.gif).decode()}"
        image = f'<picture>{calm}<img alt="{caption}" src="{film}"></picture>'
    return f"<figure>\n{image}\n<figcaption>{caption}</figcaption>\n</figure>"
