"""Reads report pages back, with the means of the standard library and numpy only."""

import json
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

import numpy as np


class Page(HTMLParser):
    """Tags, addresses, visible text, scripts and styles of a page; every element has to be closed in order."""

    VOID = frozenset({"meta", "img", "source"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str]]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text, self.style, self.script, self.data_text, self.policy = "", "", "", "", ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in given.items()]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag not in self.VOID:
            self.open.append((tag, given))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, given = self.open[-1] if self.open else ("", {})
        if tag == "style":
            self.style += data
        elif tag == "script" and given.get("type") == "application/json":
            self.data_text += data
        elif tag == "script":
            self.script += data
        else:
            self.text += data

    @property
    def data(self) -> Any:
        """The data element with its arrays restored."""
        return json.loads(self.data_text, object_hook=_restored)


def _restored(entry: dict[str, Any]) -> Any:
    if "base64" not in entry:
        return entry
    raw = np.frombuffer(b64decode(entry["base64"]), dtype=np.dtype(entry["kind"]).newbyteorder("<"))
    return raw.reshape(entry["shape"])


def line_of(page_data: Any, line: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a line of the page."""
    time = page_data["time"] if line["at"] is None else page_data["time"][line["at"]]
    return time, line["value"]
