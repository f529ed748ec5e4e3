"""No path outside of the folder is read or written: names upwards, absolute, hidden, and links."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from klapper.results import Layout, Run, Samples
from klapper.scenario import starter
from klapper.studio.app import _log
from klapper.studio.errors import StudioError
from klapper.studio.place import Root

SECRET = "the secret outside"
OUT = [
    "../secret.toml",
    "..",
    "a/../../secret.toml",
    "/etc/passwd",
    "//etc/passwd",
    "./../secret.toml",
    ".hidden/my.toml",
    "a/.git/config.toml",
    "link/secret.toml",
    "secret-link.toml",
    "\0",
    "a\0.toml",
    "",
]


@pytest.fixture
def shown(studio: Any) -> Any:
    """A folder with links that lead out of it, and a secret beside it."""
    outside = studio.folder.parent
    (outside / "secret.toml").write_text(f'# {SECRET}\n[model]\nkind = "bodies"\n', encoding="utf-8")
    (outside / "secret.html").write_text(SECRET, encoding="utf-8")
    (studio.folder / "link").symlink_to(outside)
    (studio.folder / "secret-link.toml").symlink_to(outside / "secret.toml")
    (studio.folder / "secret-link.html").symlink_to(outside / "secret.html")
    (studio.folder / "dangling.toml").symlink_to(outside / "not-there.toml")
    return studio


def everything(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.glob("*.*")) if file.is_file()}


@pytest.mark.parametrize("name", [*OUT, "dangling.toml"])
def test_nothing_outside_is_read_or_written(shown: Any, name: str) -> None:
    before = everything(shown.folder.parent)
    for question in ("glance", "run", "study", "scenario"):
        answer = shown.get(question, path=name)
        assert answer.status in (400, 403, 404), question
        assert answer.sentence and SECRET not in answer.body.decode()
    assert shown.get("compare", a=name, b=name).status in (400, 403, 404)
    for command in (
        ("save", {"path": name, "text": starter("bodies"), "digest": None}),
        ("save", {"path": name, "text": starter("bodies"), "digest": "0"}),
        ("begin", {"path": name, "kind": "bodies"}),
        ("check", {"path": name, "text": "[model]"}),
        ("start", {"path": name, "out": "new"}),
    ):
        answer = shown.post(*command)
        assert answer.status in (400, 403, 404), command
        assert SECRET not in answer.body.decode()
    assert everything(shown.folder.parent) == before
    assert not (shown.folder / "new").exists()


@pytest.mark.parametrize("out", ["../out", "/tmp/out", "link/out", "link", ".hidden", ".", ""])
def test_a_run_is_never_written_outside(shown: Any, out: str) -> None:
    (shown.folder / "my.toml").write_text(starter("bodies"), encoding="utf-8")
    answer = shown.post("start", {"path": "my.toml", "out": out})
    assert answer.status in (400, 403)
    assert answer.sentence
    assert shown.get("list").json["jobs"] == []


def test_a_link_inside_of_a_result_folder_is_not_followed(shown: Any) -> None:
    (shown.folder / "my.toml").write_text(starter("bodies"), encoding="utf-8")
    for name in ("run.h5", "header.json", "result.json", "report.html", "scenario.toml", "study.sqlite"):
        folder = shown.folder / f"with-{name}"
        folder.mkdir()
        (folder / "run.h5").write_bytes(b"")
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(shown.folder.parent / "secret.toml")
        for question in ("glance", "run", "study"):
            answer = shown.get(question, path=folder.name)
            assert answer.status == 403
            assert "leads out of the folder" in answer.sentence
        answer = shown.post("start", {"path": "my.toml", "out": folder.name})
        assert answer.status == 403, name


def test_pages_are_held_to_the_same_rule(shown: Any) -> None:
    (shown.folder / "run").mkdir()
    (shown.folder / "run" / "result.json").write_text("{}", encoding="utf-8")
    (shown.folder / "run" / "report.html").write_text("<p>own</p>", encoding="utf-8")
    address = shown.get("run", path="run").json["pages"][0]["address"]
    assert shown.page(address).body == b"<p>own</p>"
    room = address.removesuffix("run/report.html")
    for name in (
        "../secret.html",
        "%2e%2e/secret.html",
        "run/../../secret.html",
        "link/secret.html",
        "secret-link.html",
        "/etc/passwd",
        "run/result.json",
        "run",
    ):
        answer = shown.page(f"{room}{name}")
        assert answer.status in (400, 403, 404), name
        assert SECRET.encode() not in answer.body
    pages = address.strip("/").split("/")[0]
    assert shown.ask(f"/{pages}/api/list").status == 404  # the token of pages shows pages only
    assert shown.post("cancel", {"number": 1}).status == 404


def test_links_out_of_the_folder_are_not_listed(shown: Any) -> None:
    listed = {entry["path"] for entry in shown.get("list").json["entries"]}
    assert listed == set()


def test_a_study_whose_points_lie_outside_is_refused(shown: Any) -> None:
    study = 'example = "vielsack-drift"\noutputs = ["drift"]\nstore = "../points"\n[over]\nA = [0.1, 0.2]\n'
    (shown.folder / "study.toml").write_text(study, encoding="utf-8")
    assert shown.get("study", path="study.toml").status == 403
    assert shown.get("glance", path="study.toml").status == 403


@pytest.mark.parametrize("name", ["../secret.toml", "link/secret.toml", "secret-link.toml", "/etc/passwd"])
def test_a_study_of_a_scenario_outside_is_refused(shown: Any, name: str) -> None:
    study = f'scenario = "{name}"\noutputs = ["energy"]\n[over]\n"run.until" = [0.1, 0.2]\n'
    (shown.folder / "study.toml").write_text(study, encoding="utf-8")
    for question in ("study", "glance"):
        answer = shown.get(question, path="study.toml")
        assert answer.status == 403 and "lies outside" in answer.sentence


@given(st.text(min_size=1, max_size=60))
def test_any_name_is_inside_or_refused(name: str) -> None:
    root = Root.of(Path(__file__).parent)
    try:
        path = root.inside(name)
    except StudioError as error:
        assert error.status in (400, 403)
    else:
        assert path.is_relative_to(root.path)


@pytest.mark.parametrize("name", ["x" * 300 + ".toml", "a/" * 3000 + "x.toml", "é" * 200 + ".toml"])
def test_names_that_are_too_long_are_told_so(name: str, studio: Any) -> None:
    for answer in (
        *(studio.get(question, path=name) for question in ("glance", "run", "study", "scenario")),
        studio.post("save", {"path": name, "text": "", "digest": None}),
        studio.post("begin", {"path": name, "kind": "linear"}),
    ):
        assert (answer.status, "too long" in answer.sentence) == (400, True)


@pytest.mark.parametrize("name", ["run.log", "report.html"])
def test_a_pipe_beside_a_run_is_not_waited_for(name: str, studio: Any) -> None:
    layout = Layout(("x",), ("x",))
    Run(layout, Samples.empty(layout)).save(studio.folder / "run" / "run.h5")
    os.mkfifo(studio.folder / "run" / name)
    answer = studio.get("run", path="run")
    assert (answer.status, answer.json["log"]) == (200, "")
    pages = answer.json["pages"][0]["address"].strip("/").split("/")[0]
    assert studio.page(f"/{pages}/written/run/report.html").status == 404


def test_the_log_of_a_job_is_one_of_the_folder(shown: Any) -> None:
    (shown.folder / "out").mkdir()
    (shown.folder / "out" / "run.log").symlink_to(shown.folder.parent / "secret.toml")
    assert _log(Root.of(shown.folder), shown.folder / "out") == ""
    (shown.folder / "out" / "run.log").unlink()
    (shown.folder / "out" / "run.log").write_text("begun\n")
    assert _log(Root.of(shown.folder), shown.folder / "out") == "begun\n"
