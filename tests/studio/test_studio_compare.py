"""Two runs compared: differences against the closed form of a bouncing ball."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.studio.compare import _row
from results.motions import GRAVITY, bouncing_ball
from studio.studio_files import record

SCENARIO = '[model]\nkind = "bodies"\ntitle = "Ball"\n[[contact]]\nrestitution = {}\n[run]\nuntil = 1.0\n'


@pytest.fixture
def told(studio: Any) -> Any:
    """A ball that keeps 0.8 of its speed beside one that keeps half of it, for one second."""
    for name, restitution in (("a", 0.8), ("b", 0.5)):
        folder: Path = studio.folder / name
        folder.mkdir()
        bouncing_ball(restitution=restitution, until=1.0).save(folder / "run.h5")
        (folder / "scenario.toml").write_text(SCENARIO.format(restitution), encoding="utf-8")
    answer = studio.get("compare", a="a", b="b")
    assert answer.status == 200
    return answer.json


def row(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(row for row in rows if row["name"] == name)


def test_only_what_was_given_differently_is_listed(told: Any) -> None:
    assert told["parameters"] == [
        {"name": "contact 1.restitution", "a": "0.8", "b": "0.5", "more": "", "differs": True}
    ]
    assert told["equal_parameters"] == 2


def test_numbers_are_those_of_the_closed_form(told: Any) -> None:
    """In one second the first ball hits once (next at 2.6 T), the other twice (next at 2.5 T), T = √(2 h / g)."""
    fall = np.sqrt(2.0 / GRAVITY)
    assert fall < 1.0 < 2.5 * fall and 2.0 * fall < 1.0 < 2.6 * fall
    impacts = row(told["numbers"], "floor: impacts")
    assert (impacts["a"], impacts["b"], impacts["more"]) == ("1", "2", "+1")
    energy = 2.0 * GRAVITY  # m g h
    lost = row(told["ledger"], "lost in impacts")
    assert float(lost["a"]) == pytest.approx(energy * (1 - 0.8**2), rel=1e-5)
    assert float(lost["b"]) == pytest.approx(energy * (1 - 0.5**4), rel=1e-5)
    assert float(lost["more"]) == pytest.approx(energy * (0.8**2 - 0.5**4), rel=1e-3)
    assert not row(told["numbers"], "time reached / s")["differs"]


def test_histories_verdicts_and_ledgers_stand_beside_each_other(told: Any) -> None:
    assert [side["path"] for side in told["sides"]] == ["a", "b"]
    assert all("ledger closes" in side["lines"]["energy"] for side in told["sides"])
    for data in told["histories"]:
        assert [line["name"] for line in data["position"]] == list(bouncing_ball().layout.coordinates)
        assert data["time"]["shape"] == [601]
        assert data["contacts"][0]["name"] == "floor"


def test_a_difference_of_round_off_is_none() -> None:
    assert not _row("x", 1.0, 1.0 + 1e-13)["differs"]
    assert not _row("x", float("nan"), float("nan"))["differs"]
    assert _row("x", 1.0, 1.0 + 1e-6)["differs"]
    assert _row("x", 1.0, None)["b"] == "–"


def test_a_run_can_be_compared_with_a_result(studio: Any) -> None:
    (studio.folder / "result").mkdir()
    (studio.folder / "result" / "result.json").write_text(record(True), encoding="utf-8")
    bouncing_ball().save(studio.folder / "ball.h5")
    told = studio.get("compare", a="result", b="ball.h5").json
    assert told["histories"][0] is None and told["histories"][1] is not None
    assert row(told["numbers"], "force")["b"] == "–"


def test_results_of_an_example_bring_their_runs(studio: Any) -> None:
    """What an example keeps in its folder is compared with its numbers, and is no entry of its own."""
    for name, restitution in (("a", 0.8), ("b", 0.5)):
        bouncing_ball(restitution=restitution, until=1.0).save(studio.folder / name / "runs" / "run.h5")
        (studio.folder / name / "result.json").write_text(record(True), encoding="utf-8")
    assert {entry["path"] for entry in studio.get("list").json["entries"]} == {"a", "b"}
    told = studio.get("compare", a="a", b="b").json
    assert all(data["contacts"][0]["name"] == "floor" for data in told["histories"])
    assert row(told["numbers"], "floor: impacts")["more"] == "+1"
    (studio.folder / "a" / "runs" / "run.h5").write_bytes(b"damaged")
    refused = studio.get("compare", a="a", b="b")
    assert refused.status == 422
    assert refused.json["message"] == "a/runs/run.h5 is no run of klapper."
