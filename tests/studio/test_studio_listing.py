"""What the folder holds, judged at a glance; what is damaged says so in one sentence and hides nothing else."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from klapper.results import PartStore
from klapper.scenario import starter
from results.motions import bouncing_ball
from studio.studio_files import record

STUDY = """\
example = "vielsack-drift"
outputs = ["drift", "motion_type"]
store = "points"

[over]
A = [0.1, 0.5, 0.9]
B = [0.5, 3.0]
"""


def fill(folder: Path) -> None:
    """One of everything."""
    bouncing_ball().save(folder / "ball.h5")
    with PartStore(folder / "parts") as store:
        run = bouncing_ball()
        store.begin(run.layout, run.about, "1")
        store.append(run.samples, {"step": 1})
    (folder / "deep" / "result").mkdir(parents=True)
    (folder / "deep" / "result" / "result.json").write_text(record(True), encoding="utf-8")
    (folder / "my.toml").write_text(starter("bodies"), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    (folder / "parts" / "scenario.toml").write_text(starter("bodies"), encoding="utf-8")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "my.toml").write_text(starter("bodies"), encoding="utf-8")


def test_everything_is_listed_and_judged(studio: Any) -> None:
    fill(studio.folder)
    listed = {entry["path"]: entry["kind"] for entry in studio.get("list").json["entries"]}
    assert listed == {
        "ball.h5": "run",
        "parts": "run",
        "deep/result": "result",
        "my.toml": "scenario",
        "study.toml": "study",
    }
    glances = {path: studio.get("glance", path=path).json for path in listed}
    assert glances["ball.h5"]["title"] == "bouncing ball"
    assert glances["ball.h5"]["verdict"] in ("passed", "none")
    assert glances["parts"]["verdict"] == "warned"
    assert glances["parts"]["sentence"].startswith("The run was interrupted at 3 s")
    assert glances["deep/result"]["sentence"] == "The check passed."
    assert glances["my.toml"]["title"] == "A disc and a block on a moving belt"
    assert glances["study.toml"]["sentence"] == "Nothing is computed yet."


def test_a_glance_follows_the_files(studio: Any) -> None:
    folder = studio.folder / "result"
    folder.mkdir()
    (folder / "result.json").write_text(record(True), encoding="utf-8")
    assert studio.get("glance", path="result").json["verdict"] == "passed"
    (folder / "result.json").write_text(record(False) + " ", encoding="utf-8")
    assert studio.get("glance", path="result").json["verdict"] == "failed"


def damaged(folder: Path) -> dict[str, str]:
    """Broken entries by name, and a part of the sentence that tells it."""
    whole = bouncing_ball().save(folder / "whole.h5").read_bytes()
    for name, content in {
        "cut": whole[:3000],
        "changed": whole[:-9] + b"x" + whole[-8:],
        "empty": b"",
    }.items():
        (folder / name).mkdir()
        (folder / name / "run.h5").write_bytes(content)
    (folder / "header").mkdir()
    (folder / "header" / "header.json").write_text("{", encoding="utf-8")
    (folder / "json").mkdir()
    (folder / "json" / "result.json").write_text("[1, 2", encoding="utf-8")
    (folder / "deep").mkdir()
    (folder / "deep" / "result.json").write_text("[" * 100_000, encoding="utf-8")
    (folder / "points").mkdir()
    (folder / "points" / "study.sqlite").write_bytes(b"SQLite format 3\0 and no more" * 100)
    (folder / "torn").mkdir()
    with sqlite3.connect(folder / "torn" / "study.sqlite") as base:
        base.execute("CREATE TABLE about (name TEXT, value TEXT)")
    base.close()
    (folder / "broken.toml").write_text("[model\n", encoding="utf-8")
    (folder / "text.toml").write_bytes(b"\xff\xfe")
    (folder / "nested.toml").write_text("[over]\nx = " + "[" * 50_000, encoding="utf-8")
    return {
        "cut": "is damaged",
        "changed": "is damaged",
        "empty": "is empty",
        "header": "is damaged",
        "json": "is no result of a run",
        "deep": "is no result of a run",
        "points": "study.sqlite",
        "torn": "study.sqlite",
        "broken.toml": "it is no TOML",
        "text.toml": "no text in UTF-8",
        "nested.toml": "nested more than 20 levels deep",
    }


def test_what_is_damaged_is_told_in_one_sentence_each(studio: Any) -> None:
    told = damaged(studio.folder)
    listed = {entry["path"]: entry["kind"] for entry in studio.get("list").json["entries"]}
    assert set(told) <= set(listed)
    for name, words in told.items():
        glance = studio.get("glance", path=name).json
        assert glance["verdict"] in ("failed", "warned"), name
        assert words in glance["sentence"], name
        assert glance["sentence"].endswith(".") and "\n" not in glance["sentence"]
        assert str(studio.folder) not in json.dumps(glance)
    for name in ("cut", "changed", "empty", "header", "json", "deep"):
        answer = studio.get("compare", a=name, b="whole.h5")
        assert answer.status == 422 and answer.sentence
        assert studio.get("run", path=name).json["verdict"] == "failed"
        page = studio.get("run", path=name).json["pages"][0]["address"]
        assert studio.page(page).status == 422
    for name in ("points", "torn"):
        assert studio.get("study", path=name).status == 422


@pytest.mark.parametrize("path", ["nothing", "pyproject.toml", "plain"])
def test_what_is_nothing_is_refused(studio: Any, path: str) -> None:
    (studio.folder / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (studio.folder / "plain").mkdir()
    for question in ("glance", "run"):
        answer = studio.get(question, path=path)
        assert answer.status == 404 and answer.sentence
