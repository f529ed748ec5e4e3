"""A stored run tells what happened to it."""

import re
from pathlib import Path

import pytest

from klapper.results import PartStore, ResultsError

from .motions import bouncing_ball

ABOUT = {"system": "a ball", "scheme": "moreau", "settings": {"step_size": 0.001}}


def lines(folder: Path) -> list[str]:
    """The lines of the log without their times."""
    found = (folder / "run.log").read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00  \S", line) for line in found)
    return [line.split("  ", 1)[1] for line in found]


def test_the_log_tells_when_a_run_stops_goes_on_and_ends(tmp_path: Path) -> None:
    run = bouncing_ball()
    with PartStore(tmp_path) as store:
        store.begin(run.layout, ABOUT, "one")
        store.append(run.samples[:201], {})
    with PartStore(tmp_path) as store:
        store.resume("one")
        store.append(run.samples[201:], {})
        store.finish(run)
    assert lines(tmp_path) == [
        "begun: a ball by moreau (step_size 0.001)",
        "part 1: 201 samples, to 1 s",
        "stopped at 1 s with 1 part stored; the same call goes on from there",
        "resumed after 201 samples at 1 s.",
        "part 2: 400 samples, to 3 s",
        f"finished: bouncing ball: 601 samples to 3 s, 1 contact, complete. {run.ledger.verdict}",
    ]


def test_an_error_is_told_and_another_run_forgets_it(tmp_path: Path) -> None:
    run = bouncing_ball(count=11)
    with pytest.raises(ResultsError), PartStore(tmp_path) as store:
        store.begin(run.layout, {}, "one")
        raise ResultsError("The disk\nis full.")
    assert lines(tmp_path)[1:] == [
        "ResultsError: The disk is full.",
        "stopped with 0 parts stored; the same call goes on from there",
    ]
    with PartStore(tmp_path) as store:
        store.begin(run.layout, {}, "two", overwrite=True)
    assert lines(tmp_path)[0] == "begun: a system without name"


def test_a_log_that_cannot_be_written_stops_no_run(tmp_path: Path) -> None:
    (tmp_path / "run.log").mkdir()
    run = bouncing_ball(count=11)
    with PartStore(tmp_path) as store:
        store.begin(run.layout, {}, "one")
        store.finish(run)
    assert (tmp_path / "run.h5").exists()
