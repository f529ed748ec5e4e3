"""The page of benchmarks: its arithmetic, and its fair clock against sleeping and computing."""

import time

import pytest
from benchmarks.studies.fairness import windowed
from benchmarks.studies.measurements import MapCost
from benchmarks.studies.run import PAGE, on_paper


def test_needs_of_a_thousand_million_points_follow_from_those_of_one() -> None:
    """Points of 36 µs in the study and 26 µs in a worker, 125 bytes on disk and 640 in memory."""
    paper = on_paper(MapCost(36e-6, 26e-6, 125.0, 640.0, 70.0), parts=100)
    assert paper["hours"] == pytest.approx(26e3 / 3600)
    assert paper["own_hours"] == pytest.approx(10.0)
    assert paper["divided"] == pytest.approx(6.0)  # the writer of each part is what takes longest
    assert (paper["terabytes"], paper["gigabytes"]) == (0.125, 1.25)
    assert (paper["memory_terabytes"], paper["memory_gigabytes"]) == (0.64, 6.4)
    assert paper["core_days"] == pytest.approx(11.57, abs=0.01)
    assert paper["core_years"] == pytest.approx(31.7, abs=0.1)


def test_the_fair_clock_counts_computing_and_sleeping_but_no_queue() -> None:
    """Without workers it is the time that this thread ran or slept: never more than the clock."""
    seen = []

    def work() -> None:
        for k in range(20):
            seen.append(k)
            time.sleep(0.02)

    window = windowed(work, lambda: len(seen), 20, 2)
    assert 0.5 * 0.02 <= window.fair <= window.clock * 1.001


def test_the_page_tells_promises_and_paper() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for words in ("10⁶ points", "efficiency", "per point", "A thousand million points, on paper"):
        assert words in text
