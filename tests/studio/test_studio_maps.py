"""Studies in the studio: points to map, figures of the file, stores that a program filled."""

from typing import Any

import pytest

import klapper
from klapper.studies.file import read_study
from klapper.studies.target import ExampleTarget
from studies.study_targets import square

STUDY = """\
example = "vielsack-drift"
outputs = ["drift", "motion_type"]
store = "points"

[over]
A = [0.1, 0.5, 0.9]
B = [0.5, 3.0]
"""


@pytest.fixture
def squares(studio: Any) -> Any:
    """A study of x² + y that a program filled, twelve points."""
    made = klapper.study(
        square,
        over={"x": [0.0, 0.25, 0.5, 0.75], "y": [1.0, 2.0, 3.0]},
        outputs=["value", "side"],
        store=studio.folder / "squares",
        units={"x": "m", "value": "m²"},
    )
    made.run(workers=1, progress=False)
    return studio


def test_points_of_a_store_are_those_of_the_function(squares: Any) -> None:
    told = squares.get("study", path="squares").json
    points = told["points"]
    assert told["counts"] == {"done": 12}
    assert (points["parameters"], points["outputs"]) == (["x", "y"], ["value", "side"])
    columns = points["columns"]
    assert all(v == x * x + y for x, y, v in zip(columns["x"], columns["y"], columns["value"], strict=True))
    assert set(columns["side"]) == {"left", "right"}
    assert points["units"] == {"x": "m", "value": "m²"}
    assert squares.get("glance", path="squares").json["sentence"] == "12 points done."


def test_a_study_that_was_not_run_says_so(studio: Any) -> None:
    (studio.folder / "study.toml").write_text(STUDY, encoding="utf-8")
    told = studio.get("study", path="study.toml").json
    assert told["points"] is None and told["counts"] == {"missing": 6}
    assert not (studio.folder / "points").exists()


@pytest.mark.slow
def test_a_study_of_a_file_has_a_map_for_every_output(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (studio.folder / "study.toml").write_text(STUDY, encoding="utf-8")
    read_study(studio.folder / "study.toml")[0].run(workers=1, progress=False)
    assert [entry["path"] for entry in studio.get("list").json["entries"]] == ["study.toml"]
    told = studio.get("study", path="study.toml").json
    assert told["counts"] == {"done": 6, "failed": 0, "missing": 0}
    assert [figure["words"] for figure in told["figures"]] == [
        "drift over A and B.",
        "motion_type over A and B.",
    ]
    for figure in told["figures"]:
        answer = studio.ask(f"/{studio.token}/figure.svg?path=study.toml&figure={figure['name']}")
        assert answer.status == 200 and answer.headers["content-type"].startswith("image/svg+xml")
        assert b"<svg" in answer.body
    assert studio.ask(f"/{studio.token}/figure.svg?path=study.toml&figure=none").status == 404
    monkeypatch.setattr(ExampleTarget, "code", "another version")
    told = studio.get("study", path="study.toml").json
    assert "another version" in told["note"] and told["counts"] == {"done": 6}
    (studio.folder / "study.toml").touch()
    assert (
        studio.get("glance", path="study.toml").json["sentence"]
        == "6 points, of another version of the code."
    )


@pytest.mark.parametrize(
    "text", [STUDY.replace("over", "ovr"), STUDY.replace("vielsack-drift", "nothing"), STUDY + "[refine]\n"]
)
def test_a_study_with_a_mistake_is_told_in_one_sentence(studio: Any, text: str) -> None:
    (studio.folder / "study.toml").write_text(text, encoding="utf-8")
    answer = studio.get("study", path="study.toml")
    assert answer.status in (404, 422)
    assert answer.sentence
