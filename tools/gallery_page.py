"""What runs of examples put into docs/gallery.md: pictures where it asks for them, and a table of all examples."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from klapper.gallery import examples, find

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
PICTURES = PAGE.parent / "images" / "gallery"

_PICTURES = re.compile(
    r"(?P<head><!-- pictures: (?P<asked>[^>]*?) -->\n).*?(?P<foot><!-- /pictures -->)", re.S
)
_EXAMPLES = re.compile(r"(?P<head><!-- examples -->\n).*?(?P<foot><!-- /examples -->)", re.S)


def asked(page: str) -> list[str]:
    """Names of the examples whose pictures a page asks for."""
    return [word.partition("/")[0] for found in _PICTURES.finditer(page) for word in found["asked"].split()]


def written(page: str, runs: Mapping[str, Mapping[str, Any]]) -> str:
    """The page with its pictures and its table as the runs tell."""
    page = _PICTURES.sub(
        lambda found: found["head"] + _figures(found["asked"].split(), runs) + found["foot"], page
    )
    return _EXAMPLES.sub(lambda found: found["head"] + _table(runs) + found["foot"], page)


def _figures(words: list[str], runs: Mapping[str, Mapping[str, Any]]) -> str:
    names = [word.partition("/")[0] for word in words]
    figures = [_figure(name, runs[name]) for name in names if "figure" in runs.get(name, {})]
    return '<div class="gallery" markdown>\n\n' + "\n\n".join(figures) + "\n\n</div>\n"


def _figure(name: str, run: Mapping[str, Any]) -> str:
    picture = f"images/gallery/{name}.png"
    alternative = re.sub(r"[\[\]]", "", run["caption"])
    return (
        "<figure markdown>\n\n"
        f"[![{alternative}]({picture})]({picture})\n\n"
        f"<figcaption markdown>**{title(name)}**<br>`klapper run {name}`</figcaption>\n\n"
        "</figure>"
    )


def title(name: str) -> str:
    """What an example is called: the part of its summary before the colon, if that is short."""
    head = find(name).summary.partition(":")[0]
    return head if len(head) <= 60 else name.replace("-", " ").capitalize()


def _table(runs: Mapping[str, Mapping[str, Any]]) -> str:
    rows = ["| example | what it is | source | checks | CPU / s |", "|---|---|---|---|---|"]
    for example in examples():
        run = runs.get(example.name, {"missing": "not run yet"})
        told = (
            f"{run['checks']} {'passed' if run['passed'] else '**failed**'} | {run['seconds']:.0f} "
            if "figure" in run
            else f"– | no picture: {run['missing']} "
        )
        rows.append(f"| `{example.name}` | {_cell(example.summary)} | {_cell(example.source)} | {told}|")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
