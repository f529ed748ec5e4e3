"""Sizes of batches, and the line of progress: from times that are given, not measured."""

import pytest

from klapper.studies.batch import Answer, Row
from klapper.studies.runner import StudyLine, line_for
from klapper.studies.work import WANTED_SECONDS, Pace


def answered(points: int, seconds_each: float, *, cold: bool = False) -> Answer:
    rows = tuple(Row("", seconds_each, ()) for _ in range(points))
    return Answer(rows, points * seconds_each, cold, {}, {}, frozenset(), ())


def test_batches_of_cheap_points_grow_to_half_a_second() -> None:
    """Points of a millisecond: 500 in a batch, after few answers; what compiles first is not counted."""
    pace = Pace()
    pace.learn(answered(1, 20.0, cold=True))
    assert pace.size == 1
    sizes = []
    for _ in range(4):
        pace.learn(answered(pace.size, 1e-3))
        sizes.append(pace.size)
    assert sizes[0] == 8  # it grows eightfold at most, in case the first point was an exception
    assert sizes[-1] == pytest.approx(WANTED_SECONDS / 1e-3, abs=1)


def test_points_of_seconds_travel_alone() -> None:
    pace = Pace()
    pace.learn(answered(1, 3.0))
    assert pace.size == 1


def test_the_last_batches_are_small() -> None:
    """So that no worker waits long for another."""
    pace = Pace(size=500)
    assert pace.next(10_000, 2) == 500
    assert pace.next(100, 2) == 25
    assert pace.next(1, 2) == 1


def test_the_line_tells_points_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[float, str, str]] = []
    monkeypatch.setattr(StudyLine, "_show", lambda self, *words: shown.append(words))
    monkeypatch.setattr("klapper.studies.runner.perf_counter", iter([0.0, 4.0]).__next__)
    StudyLine(200).count(80)
    assert shown == [(80.0, "80 of 200 points", "20 points/s")]


def test_the_line_has_a_column_for_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import TimeRemainingColumn

    monkeypatch.setattr("klapper.progress._MOMENT", 0.0)
    with line_for(True, 10) as line:
        line.count(1)
        assert any(isinstance(column, TimeRemainingColumn) for column in line._bar.columns)
    assert not hasattr(line_for(False, 10), "_bar")
