"""Stores of studies that bring a program, a journal or links with them are refused before anything in them runs."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from tools.fuzz_files import hostile
from tools.fuzz_files.samples import _square

from klapper.studies import Study, StudyError, study
from klapper.studies.refine import Bracket, bisected
from klapper.studies.store import FILE, open_reader


def squares(folder: Path) -> Study:
    over = {"x": [k / 8 for k in range(9)]}
    return study(_square, over=over, fixed={"y": 1.0}, outputs=["value", "word"], store=folder, code="1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store") / "s"
    squares(folder).run(workers=1)
    return folder


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT * FROM c",
        "CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM points; END",
        "CREATE INDEX i ON points (abs(x))",
        "ALTER TABLE points ADD COLUMN z TEXT AS (hex(zeroblob(100000000)))",
        "CREATE TABLE more (a)",
        "UPDATE columns SET stored_as = 'x\" FROM points; --' WHERE number = 1",
        "UPDATE columns SET name = x'ff' WHERE number = 1",
    ],
)
def test_a_store_with_more_than_its_tables_is_neither_read_nor_written(
    statement: str, whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    shutil.copytree(whole, folder)
    base = sqlite3.connect(folder / FILE)
    base.execute("PRAGMA journal_mode = DELETE")
    base.execute(statement)
    base.commit()
    base.close()
    before = (folder / FILE).read_bytes()
    for ask in (squares(folder).table, lambda: squares(folder).run(workers=1)):
        with pytest.raises(StudyError, match=r"is no store of a study|is damaged"):
            ask()
    assert (folder / FILE).read_bytes() == before


def test_a_journal_that_names_another_file_touches_nothing(whole: Path, tmp_path: Path) -> None:
    """SQLite reads such a file, and removes it."""
    kept = tmp_path / "kept"
    for seed in range(6):
        folder = tmp_path / str(seed)
        shutil.copytree(whole, folder)
        kept.write_text("mine")
        hostile._journal(folder, random.Random(seed))
        for ask in (squares(folder).counts, lambda folder=folder: squares(folder).run(workers=1)):
            try:
                ask()
            except StudyError as error:
                assert "\n" not in str(error)
        assert kept.read_text() == "mine"


def test_values_of_the_wrong_kind_are_told_in_one_sentence(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    shutil.copytree(whole, folder)
    base = sqlite3.connect(folder / FILE)
    base.execute("UPDATE points SET value = 'text'")
    base.commit()
    base.close()
    with pytest.raises(StudyError, match="is damaged"):
        squares(folder).table()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE about SET value = 'a' || char(10) || 'b' WHERE name = 'target'",
        "UPDATE about SET value = printf('%.5000c', 'x') WHERE name = 'target'",
        "UPDATE about SET value = char(10) || '2' WHERE name = 'format'",
        "UPDATE points SET value = printf('%.5000c', '[')",
    ],
)
def test_texts_of_a_store_stay_in_one_short_sentence(statement: str, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    shutil.copytree(whole, folder)
    base = sqlite3.connect(folder / FILE)
    base.execute(statement)
    base.commit()
    base.close()
    with pytest.raises(StudyError) as refused:
        squares(folder).table()
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 1000


def test_no_link_is_opened_as_a_store(whole: Path, tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(whole / FILE)
    with pytest.raises(StudyError, match="no regular file"):
        open_reader(tmp_path)


def test_an_accuracy_beyond_floating_point_ends() -> None:
    """A bracket that no number divides is narrow enough."""
    bracket = Bracket("x", (), 0.0, 1.0, False, True)
    (found,) = bisected([bracket], 1e-300, lambda columns: [x > 0.3 for x in columns["x"]])
    assert found.low == 0.3 < found.high
