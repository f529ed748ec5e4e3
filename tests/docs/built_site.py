"""What a built page would fetch: addresses of scripts, styles, pictures and fonts, links for readers left out."""

import re
from html.parser import HTMLParser
from pathlib import Path

_STYLE_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)["']?(?P<address>[^"')\s]+)""")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_SCRIPT_ADDRESS = re.compile(r"https?://[\w.@/-]+")
NAMES = "http://www.w3.org/"
"""Begin of the names of formats: texts, never fetched."""


class _Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name in ("src", "srcset", "data", "poster") or (name == "href" and tag != "a")):
                self.addresses.append(value)


def fetched_by(page: Path) -> list[str]:
    """Everything that a browser fetches for an HTML page by itself."""
    reader = _Fetched()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader.addresses


def external_addresses(site: Path) -> dict[str, list[str]]:
    """Addresses outside of the site, by file, that its pages, styles and scripts would fetch."""
    found: dict[str, list[str]] = {}
    for path in site.rglob("*"):
        text = path.read_text(encoding="utf-8") if path.suffix in (".css", ".js", ".svg") else ""
        if path.suffix == ".html":
            addresses = fetched_by(path)
        elif path.suffix == ".css":
            addresses = [match["address"] for match in _STYLE_ADDRESS.finditer(text)]
        else:
            addresses = _SCRIPT_ADDRESS.findall(_COMMENT.sub("", text))
        outside = [a for a in addresses if re.match(r"(https?:)?//", a) and not a.startswith(NAMES)]
        if outside:
            found[path.relative_to(site).as_posix()] = outside
    return found
