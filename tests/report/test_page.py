"""The report page: well-formed, escaped, self-contained."""

from html.parser import HTMLParser
from typing import Any

import pytest

from klapper.gallery import find
from klapper.report.figures import Picture
from klapper.report.page import page
from klapper.report.record import About, Record

VOID = {"meta", "img"}


class Structure(HTMLParser):
    """Checks that every element is closed in order, and keeps texts, tags and addresses."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Structure:
    structure = Structure()
    structure.feed(html)
    structure.close()
    assert structure.open == []
    return structure


NASTY = '<script>alert("1")</script>&amp;$title\'"'


@pytest.fixture
def lever_page(fakes: dict[str, Any]) -> Structure:
    entry = find("fake-lever")
    outcome = entry.run()
    pictures = [Picture("force", "Force <at> the end", b"<svg></svg>", b"")]
    return parsed(page(entry.record({}, outcome), entry.introduction({}, outcome), pictures))


def test_it_tells_source_checks_numbers_audit_and_figures(lever_page: Structure) -> None:
    for text in (
        "Lever <&>: one force balances another",
        "Source: Archimedes",
        "<b>not bold</b>",
        "F l_2 = W l_1",
        "All 3 checks passed.",
        "by hand <b>",
        "the force is unique",
        "25 N",
        "50 entries from 0 to 25",
        "law of the lever",
        "≤ 100",
        "weight on the short arm",
        "Force <at> the end",
        "klapper run fake-lever",
    ):
        assert text in lever_page.text, text
    assert "pre" in lever_page.tags
    assert "b" not in lever_page.tags


def test_it_needs_nothing_from_elsewhere(lever_page: Structure) -> None:
    assert "script" not in lever_page.tags
    assert "link" not in lever_page.tags
    assert all(address.startswith("data:") for address in lever_page.addresses)


def test_everything_is_escaped() -> None:
    check = {
        "name": NASTY,
        "value": NASTY,
        "expected": {NASTY: NASTY},
        "tolerance": None,
        "passed": False,
        "source": NASTY,
    }
    nested = {NASTY: {NASTY: [NASTY, {NASTY: NASTY}]}, "list": [{NASTY: NASTY}], "text": NASTY}
    record = Record(NASTY, {NASTY: NASTY}, {NASTY: [NASTY]}, [check], nested)
    about = About(
        NASTY,
        f"{NASTY}\n\n    {NASTY}\n\n`{NASTY}`",
        NASTY,
        {NASTY: NASTY},
        {NASTY: NASTY},
        {NASTY: NASTY},
        NASTY,
    )
    result = parsed(page(record, about, [Picture("a", NASTY, b"<svg/>", b"")]))
    assert "script" not in result.tags
    assert result.text.count(NASTY) >= 20


def test_a_failed_check_is_named_in_the_verdict(fakes: dict[str, Any]) -> None:
    entry = find("fake-lever")
    outcome = entry.run(wrong=True)
    html = page(entry.record({"wrong": True}, outcome), entry.introduction({"wrong": True}, outcome))
    assert "1 of 3 checks failed: force &lt;F&gt;." in html
    assert 'class="verdict failed"' in html


def test_an_empty_record_has_a_page() -> None:
    result = parsed(page(Record("empty", {}, {}, [], {}), About()))
    assert "No check applies to these parameters." in result.text
    assert "table" not in result.tags
