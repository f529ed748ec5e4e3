"""The page on contact between bodies, followed word by word."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "continuum_contact.md"


def test_the_page_can_be_followed(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "guide"}
    for snippet in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(snippet, PAGE.name, "exec"), namespace)
    told = capsys.readouterr().out
    table = told.split("highest contact pressure")[0]
    assert table.count("yes") == 3
    kept, springs = (line for line in told.splitlines() if line.startswith("{"))
    assert "False" not in kept
    assert "'energy': False" in springs
    took = float(re.search(r"friction took ([-\d.e]+) J; kept", told)[1])  # type: ignore[index]
    assert took > 0.0
    assert told.rstrip().splitlines()[-1].startswith("kept")


def test_the_pictures_of_the_page_exist() -> None:
    named = re.findall(r"\]\((images/[^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not (PAGE.parent / name).exists()] == []
