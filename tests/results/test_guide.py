"""The page on results, followed word by word."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "results.md"


def test_the_page_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "guide"}
    for snippet in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        exec(compile(snippet, PAGE.name, "exec"), namespace)
    told = capsys.readouterr().out
    assert "The ledger closes" in told
    assert "weight of the ball at rest: 19.6" in told
    assert "1.0 m, rad" in told
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert made == {"ball/run.h5", "mine/run.h5", "mine/run.log", "positions.png", "forces.png", "ledger.png"}
