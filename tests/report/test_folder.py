"""Writing a run to disk: whole files or none, foreign files untouched."""

import os
from pathlib import Path

import pytest

from klapper.report.figures import Picture
from klapper.report.folder import store, write
from klapper.report.record import About, Record

RECORD = Record("table", {}, {"force": 25.0}, [], {})
PICTURE = Picture("forces", "Forces", b"<svg/>", b"png")


def test_a_result_is_stored_with_its_page_and_its_figures(tmp_path: Path) -> None:
    page = store(tmp_path / "a" / "b", RECORD, About(), [PICTURE])
    assert page == tmp_path / "a" / "b" / "report.html"
    assert sorted(os.listdir(page.parent)) == ["forces.png", "forces.svg", "report.html", "result.json"]


def test_foreign_files_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "other.png").write_bytes(b"mine")
    store(tmp_path, RECORD, About(), [PICTURE])
    store(tmp_path, RECORD, About(), [PICTURE])
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "other.png").read_bytes() == b"mine"
    assert len(os.listdir(tmp_path)) == 6


def test_a_page_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    broken = Record("table", {}, {}, [{"name": "half a check", "passed": True}], {})
    with pytest.raises(KeyError):
        store(tmp_path / "new", broken, About(), [PICTURE])
    assert not (tmp_path / "new").exists()


def test_an_interrupted_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.json"
    file.write_text("old")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(file, b"new")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write(tmp_path / "link.json", b"new")
    assert (tmp_path / "real.json").read_text() == "new"
    assert (tmp_path / "link.json").is_symlink()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_new_files_have_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write(tmp_path / "result.json", b"")
    assert (tmp_path / "result.json").stat().st_mode == (tmp_path / "usual").stat().st_mode
