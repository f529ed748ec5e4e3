"""The page about pages: its snippets run."""

import re
from pathlib import Path

import pytest

from report.page_reader import Page

GUIDE = Path(__file__).parents[2] / "docs" / "report.md"


def test_the_snippets_of_the_page_write_the_report_that_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "guide"}
    for snippet in re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S):
        exec(compile(snippet, GUIDE.name, "exec"), namespace)
    page = Page((tmp_path / "block.html").read_text())
    assert "Some contact forces are not unique" in page.text  # it rests on two rough corners
    assert [shape["name"] for shape in page.data["scene"]["shapes"]] == ["floor", "block"]
    assert "begun: tilted block by moreau" in capsys.readouterr().out
