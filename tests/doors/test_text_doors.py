"""JSON and TOML are limited before they are parsed; pipes, devices and orders to a terminal do no harm."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from typer.testing import CliRunner

from klapper.cli.commands import app
from klapper.cli.errors import _told
from klapper.doors import Unreadable
from klapper.doors.files import content_of, opened, target_of
from klapper.doors.json import DEEPEST as DEEPEST_JSON, parse_json
from klapper.doors.text import Printed, printable
from klapper.doors.toml import DEEPEST, MOST_TABLES, parse_toml, read_toml
from klapper.report.record import DamagedRecord, read
from klapper.results import Layout, Run, Samples
from klapper.studies import StudyError
from klapper.studies.file import read_study

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(PLAIN)
def test_what_is_written_as_json_is_read(content: Any) -> None:
    assert parse_json(json.dumps(content).encode()) == content


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 61 + "]" * 61, "more than 60 levels"),
        ('{"a":' * 100_000, "more than 60 levels"),
        ("9" * 5000, "number of 5000 digits"),
        ("[1e999]", "beyond the range"),
        ("[NaN]", "NaN is no number"),
        ('["\\ud800"]', "cannot be written in UTF-8"),
        ('"' + "\\" * 100_000, "no JSON"),
        ("\xff", "cannot be written in UTF-8"),
    ],
)
def test_json_that_would_hurt_is_refused(text: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        parse_json(text.encode("latin-1" if text == "\xff" else "utf-8"))


@pytest.mark.parametrize(
    "content", [b'["\xed\xa0\x80"]', '["a"]'.encode("utf-16"), '["a"]'.encode("utf-32-le")]
)
def test_json_is_in_utf8(content: bytes) -> None:
    with pytest.raises(Unreadable):
        parse_json(content)


def test_json_as_deep_as_allowed_is_read_and_brackets_in_texts_do_not_count() -> None:
    assert parse_json(b"[" * DEEPEST_JSON + b"]" * DEEPEST_JSON)
    assert parse_json(json.dumps(["[" * 1000 + '\\"' + "{" * 1000]).encode())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" + ".a" * 20_000 + " = 1", "line 1: a key has more than 20 parts"),
        ("x = 1\n[" + "a." * 20_000 + "a]", "line 2: a key has more than 20 parts"),
        ("a = " + "[" * 100_000, "line 1: brackets are nested more than 20"),
        ("a = " + "{a = " * 100_000, "line 1: brackets are nested more than 20"),
        ("[a]\n" * (MOST_TABLES + 1), "more than 20000 tables"),
        ("# " + "x" * 1_000_000, "larger than 1 MB"),
        ("x = 0x" + "f" * 300, "more than 64 bits"),
    ],
)
def test_toml_that_would_hurt_never_meets_the_parser(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "64 bits" not in words:
        monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(Unreadable, match=words):
        parse_toml(text)


def test_tables_may_not_be_deep_in_any_way() -> None:
    deep = "[" + ".".join("a" * 15) + "]\n" + ".".join("b" * 15) + " = 1"
    with pytest.raises(Unreadable, match="more than 20 levels"):
        parse_toml(deep)


@given(st.integers(0, DEEPEST - 1), st.text("[]{}.#='\"\\\n a", max_size=30))
def test_what_looks_deep_inside_texts_is_none(depth: int, text: str) -> None:
    quoted = json.dumps(text)
    whole = f"x = {'[' * depth}{quoted}{']' * depth} # {'[' * 50}\n'a.b.c' = '''{'.' * 50}\n[[['''"
    assert parse_toml(whole) == tomllib.loads(whole)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "device", "folder"):
        with pytest.raises(Unreadable, match="no regular file"), opened(tmp_path / name):
            pass
        with pytest.raises(Unreadable, match="no regular file"):
            read_toml(tmp_path / name)
    (tmp_path / "result.json").symlink_to("/dev/zero")
    with pytest.raises(DamagedRecord, match="no regular file"):
        read(tmp_path)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert content_of(tmp_path / "x", 5) == b"12345"
    with pytest.raises(Unreadable, match="larger than 4 bytes"):
        content_of(tmp_path / "x", 4)


def test_links_are_followed_within_their_folder_only(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "theirs").write_text("theirs")
    (here / "inner").symlink_to("real")
    (here / "outer").symlink_to(tmp_path / "theirs")
    (here / "loop").symlink_to("loop")
    assert target_of(here / "inner") == here / "real"
    assert target_of(here / "outer") == here / "outer"
    assert target_of(here / "loop") == here / "loop"


def test_orders_to_a_terminal_are_shown_and_not_sent() -> None:
    class Stream:
        text = ""

        def write(self, text: str) -> int:
            self.text += text
            return len(text)

    stream = Stream()
    Printed(stream).write("\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\x9b\n")
    assert stream.text == "\x1b[31mred\x1b[0m �]0;title� �[2J�\n"
    assert printable("a\x1b[31m\r") == "a�[31m�"
    assert "\x1b" not in _told(DamagedRecord("x\x1b]0;y"))[0]


@pytest.mark.parametrize(
    "about", [{"citations": [1]}, {"citations": 3}, {"over_time": [[0.0]]}, {"picture": {"format": 1}}]
)
def test_what_a_run_tells_of_itself_is_shown_or_refused_in_one_sentence(about: Any, tmp_path: Path) -> None:
    layout = Layout(("x",), ("x",))
    Run(layout, Samples.empty(layout), about).save(tmp_path / "run.h5")
    for words in (
        ["show"],
        ["show", "--page", str(tmp_path / "page.html")],
        ["export", "--data", str(tmp_path / "x.csv")],
    ):
        done = CliRunner().invoke(app, [words[0], str(tmp_path / "run.h5"), *words[1:]])
        assert done.exit_code in (0, 2), done.output


@pytest.mark.parametrize("text", ['[[figure]]\nkind = ["map"]\n', 'store = "a\\nb"\n', 'example = "a\\nb"\n'])
def test_studies_with_impossible_names_are_refused_in_one_line(text: str, tmp_path: Path) -> None:
    whole = (
        'example = "bouncing-ball"\noutputs = ["impacts"]\nstore = "s"\n[over]\nrestitution = [0.1, 0.2]\n'
    )
    head, _, rest = text.partition("[[")
    lines = [line for line in whole.splitlines() if line.split(" ")[0] != text.split(" ")[0]]
    (tmp_path / "study.toml").write_text(head + "\n".join(lines) + ("\n[[" + rest if rest else ""))
    with pytest.raises(StudyError) as refused:
        read_study(tmp_path / "study.toml")
    assert "\n" not in str(refused.value)
