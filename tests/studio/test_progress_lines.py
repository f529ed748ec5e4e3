"""Progress for a program that watches: lines of JSON that rise to the end."""

import json
import sys

import pytest

from klapper.progress import progress_for, tally_for


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line)["progress"] for line in text.splitlines()]


def test_lines_tell_the_share_of_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KLAPPER_PROGRESS", "lines")
    monkeypatch.setattr("klapper.progress._LINE_EVERY", 0.0)
    with progress_for(None, 1.0, 3.0) as shown:
        for now in (1.0, 2.0, 3.0):
            shown.update(now, 7, {"contacts": 2.0, "drift": 0.0})
    told = lines(capsys.readouterr().err)
    assert [line["share"] for line in told] == [0.0, 0.5, 1.0]
    assert (told[1]["now"], told[1]["facts"]) == ("2 s", "step 7  contacts 2  ledger +0.0e+00 J")
    tally = tally_for(None, 4, "points")
    tally.count(1)
    assert lines(capsys.readouterr().err)[0]["share"] == 0.25


def test_a_thousand_steps_have_less_than_a_hundred_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KLAPPER_PROGRESS", "lines")
    with progress_for(None, 0.0, 1.0) as shown:
        for step in range(1000):
            shown.update(step / 1000, step, {"contacts": 0.0, "drift": 0.0})
    assert len(lines(capsys.readouterr().err)) < 100


def test_a_watcher_that_is_gone_stops_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, text: str) -> None:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

        def isatty(self) -> bool:
            return False

    monkeypatch.setenv("KLAPPER_PROGRESS", "lines")
    monkeypatch.setattr(sys, "stderr", Broken())
    with progress_for(None, 0.0, 1.0) as shown:
        shown.update(0.5, 1, {"contacts": 0.0, "drift": 0.0})


def test_nothing_is_said_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_for(None, 0.0, 1.0) as shown:
        shown.update(0.5, 1, {"contacts": 0.0, "drift": 0.0})
    assert capsys.readouterr().err == ""
