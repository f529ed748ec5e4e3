"""Scenarios in the editor: mistakes with their line, saving without loss, new files that replace no other."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from klapper.scenario import KINDS, starter


def saved(studio: Any, text: str, name: str = "my.toml") -> dict[str, Any]:
    """A file in the folder, as the editor reads it."""
    (studio.folder / name).write_text(text, encoding="utf-8")
    return dict(studio.get("scenario", path=name).json)


def test_a_mistake_is_told_with_its_line_and_what_is_allowed(studio: Any) -> None:
    text = starter("bodies")
    lines = text.splitlines()
    place = lines.index(next(line for line in lines if line.startswith("mass = 0.1")))
    wrong = text.replace("mass = 0.1", "mass = -0.1", 1)
    told = studio.post("check", {"path": "my.toml", "text": wrong}).json
    assert (told["valid"], told["line"]) == (False, place + 1)
    assert (
        told["message"] == f"my.toml, line {place + 1}: body.ball.mass is -0.1; allowed are numbers above 0."
    )
    broken = studio.post("check", {"path": "my.toml", "text": "[model]\nkind = \n"}).json
    assert broken["line"] == 2 and "it is no TOML" in broken["message"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_starter_is_begun_and_valid(studio: Any, kind: str) -> None:
    told = studio.post("begin", {"path": f"deep/{kind}.toml", "kind": kind}).json
    assert told["checked"]["valid"] and told["checked"]["kind"] == kind
    assert (studio.folder / "deep" / f"{kind}.toml").read_text(encoding="utf-8") == starter(kind)


def test_parameters_of_an_example_are_checked_against_the_gallery(studio: Any) -> None:
    text = '[model]\nkind = "example"\nname = "bouncing-ball"\n\n[parameters]\nrestitution = 7.0\n'
    told = studio.post("check", {"path": "my.toml", "text": text}).json
    assert told["line"] == 6 and "restitution" in told["message"]
    unknown = studio.post("check", {"path": "my.toml", "text": text.replace("bouncing", "boncing")}).json
    assert unknown["line"] == 3 and "bouncing-ball" in unknown["message"]


def test_saving_replaces_what_was_read(studio: Any) -> None:
    read = saved(studio, starter("linear"))
    os.chmod(studio.folder / "my.toml", 0o600)
    text = read["text"].replace("until = 2.0", "until = 1.0")
    told = studio.post("save", {"path": "my.toml", "text": text, "digest": read["digest"]}).json
    assert (studio.folder / "my.toml").read_text(encoding="utf-8") == text
    assert stat.S_IMODE((studio.folder / "my.toml").stat().st_mode) == 0o600
    again = studio.post("save", {"path": "my.toml", "text": "", "digest": told["digest"]})
    assert again.status == 200 and not again.json["checked"]["valid"]  # work in progress may be saved
    assert [file.name for file in studio.folder.iterdir()] == ["my.toml"]


def test_a_file_that_another_program_changed_is_not_replaced(studio: Any) -> None:
    read = saved(studio, starter("linear"))
    (studio.folder / "my.toml").write_text("# theirs\n", encoding="utf-8")
    answer = studio.post("save", {"path": "my.toml", "text": "# mine\n", "digest": read["digest"]})
    assert answer.status == 409
    assert "changed by another program" in answer.sentence
    assert (studio.folder / "my.toml").read_text(encoding="utf-8") == "# theirs\n"
    (studio.folder / "my.toml").unlink()
    answer = studio.post("save", {"path": "my.toml", "text": "# mine\n", "digest": read["digest"]})
    assert answer.status == 409 and "removed" in answer.sentence
    assert not (studio.folder / "my.toml").exists()


def test_a_new_file_never_takes_the_place_of_another(studio: Any) -> None:
    saved(studio, "# theirs\n")
    for answer in (
        studio.post("save", {"path": "my.toml", "text": "# mine\n", "digest": None}),
        studio.post("begin", {"path": "my.toml", "kind": "bodies"}),
    ):
        assert answer.status == 409 and "exists already" in answer.sentence
    assert (studio.folder / "my.toml").read_text(encoding="utf-8") == "# theirs\n"
    assert [file.name for file in studio.folder.iterdir()] == ["my.toml"]


def test_a_disk_that_refuses_leaves_the_file_as_it_was(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = saved(studio, starter("linear"))

    def full(self: Path, target: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    answer = studio.post("save", {"path": "my.toml", "text": "# mine\n", "digest": read["digest"]})
    assert answer.sentence == "'my.toml' cannot be written: No space left on device."
    assert (studio.folder / "my.toml").read_text(encoding="utf-8") == starter("linear")
    assert [file.name for file in studio.folder.iterdir()] == ["my.toml"]


def test_the_ends_of_lines_stay_those_of_the_file(studio: Any) -> None:
    (studio.folder / "my.toml").write_bytes(b"# one\r\n# two\r\n")
    read = studio.get("scenario", path="my.toml").json
    studio.post("save", {"path": "my.toml", "text": "# one\n# three\n", "digest": read["digest"]})
    assert (studio.folder / "my.toml").read_bytes() == b"# one\r\n# three\r\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"path": "my.txt", "text": "", "digest": None}, "its name ends in .toml"),
        ({"path": "my.toml", "text": "x" * 1_000_001, "digest": None}, "at most 1 MB"),
        ({"path": "my.toml", "text": "\ud800", "digest": None}, "cannot be written in UTF-8"),
        ({"path": "my.toml", "text": 3, "digest": None}, "lacks the text 'text'"),
        ({"path": "my.toml", "text": "", "digest": 3}, "digest is no text"),
        ({"path": 3, "text": "", "digest": None}, "lacks the text 'path'"),
        ({"path": "a" * 300 + ".toml", "text": "", "digest": None}, "."),
    ],
)
def test_what_cannot_be_saved_is_told_in_one_sentence(studio: Any, body: Any, words: str) -> None:
    answer = studio.post("save", body)
    assert answer.status in (400, 413)
    assert words in answer.sentence
    assert not list(studio.folder.iterdir())


def test_a_file_that_is_no_text_is_not_edited(studio: Any) -> None:
    (studio.folder / "my.toml").write_bytes(b"# fine\n\xff\xfe\n")
    answer = studio.get("scenario", path="my.toml")
    assert "line 2: it is no text in UTF-8" in answer.sentence


def test_the_next_folder_for_a_run_is_free(studio: Any) -> None:
    assert saved(studio, starter("linear"))["out"] == "my-1"
    (studio.folder / "my-1").mkdir()
    assert studio.get("scenario", path="my.toml").json["out"] == "my-2"


def test_what_only_the_built_model_shows_is_told_with_its_line(studio: Any) -> None:
    """Parts that overlap at the start, the mistake that the first-hour page proposes."""
    text = starter("linear")
    first = text.index("[[contact]]")
    place = text.index("gap = ", first)
    wrong = text[:place] + "gap = -0.1 #" + text[place:].removeprefix("gap =")
    told = studio.post("check", {"path": "my.toml", "text": wrong}).json
    assert (told["valid"], told["line"]) == (False, text.count("\n", 0, place) + 1)
    assert "the parts overlap" in told["message"]
