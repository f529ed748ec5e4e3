"""The store of a study: a folder with one SQLite file that any program can read, also while the study runs.

    about    (name, value)                              format, target
    columns  (number, name, role, stored_as, kind, unit)   what the columns of points mean
    codes    (number, code)                             versions of the code
    points   (key, code, replicate, status, error, seconds, finished, state, parameters …, outputs …)

``status`` is "done" or "failed", ``error`` its text, ``finished`` seconds since 1970, ``seconds`` the time of the
computation. Truth values are 0 and 1, lists JSON texts; what is not a number is NULL. SQLite does not tell A from a:
``stored_as`` is the name of the column, ``A`` and ``a_2``. Points are only added, each batch in one transaction
(write-ahead log): a killed writer leaves whole batches. One process writes at a time; a lock of the folder sees to it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klapper.doors import Unreadable
from klapper.doors.sqlite import connect, names_of, require_tables
from klapper.doors.text import in_a_sentence
from klapper.results.errors import ResultsError
from klapper.results.lock import Lock
from klapper.studies.batch import Row
from klapper.studies.errors import StudyError

FORMAT = "1"
FILE, LOCK = "study.sqlite", "lock"
KEPT = ("key", "code", "replicate", "status", "error", "seconds", "finished", "state")
_SCHEMA = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE columns (number INTEGER PRIMARY KEY, name TEXT, role TEXT, stored_as TEXT UNIQUE, kind TEXT, "
    "unit TEXT)",
    "CREATE TABLE codes (number INTEGER PRIMARY KEY, code TEXT UNIQUE NOT NULL)",
)
_POINTS = """CREATE TABLE points (key BLOB PRIMARY KEY, code INTEGER NOT NULL REFERENCES codes,
  replicate INTEGER NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL, seconds REAL NOT NULL, finished REAL NOT NULL,
  state TEXT{values})"""


@dataclass(frozen=True)
class Content:
    """What a store holds: the target, and the names of parameters and outputs in the order of their columns."""

    target: str
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def stored_as(self) -> tuple[str, ...]:
        """Names of the columns: SQLite does not tell capitals from small letters."""
        taken, names = set(KEPT), []
        for name in (*self.parameters, *self.outputs):
            column, number = name, 2
            while column.lower() in taken:
                column, number = f"{name}_{number}", number + 1
            taken.add(column.lower())
            names.append(column)
        return tuple(names)


class Store:
    """The points of a study on disk, open for writing; a context manager."""

    def __init__(self, folder: Path, content: Content, units: Mapping[str, str]) -> None:
        self.folder, self.content = folder, content
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(folder / LOCK)
        except (OSError, ValueError) as error:
            if isinstance(error, ResultsError):
                raise
            reason = getattr(error, "strerror", None) or "it is no name of a folder"
            raise StudyError(f"{folder} cannot hold a study: {reason}.") from error
        try:
            with told(folder):
                self._base = connect(folder / FILE, write=True)
                try:
                    self._prepare(units)
                except BaseException:
                    self._base.close()
                    raise
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()
        self._lock.release()

    def keys(self, *, failed: bool = True) -> set[bytes]:
        """Keys of the points that are done, and of the ``failed`` ones."""
        where = "" if failed else " WHERE status = 'done'"
        return {key for (key,) in self._base.execute(f"SELECT key FROM points{where}")}

    def states(self, keys: Iterable[bytes]) -> dict[bytes, str | None]:
        """States (JSON) of points that are done, by key; for continuation."""
        wanted = set(keys)
        rows = self._base.execute("SELECT key, state FROM points WHERE status = 'done'")
        return {key: state for key, state in rows if key in wanted}

    def keep(
        self,
        code: str,
        points: Iterable[tuple[bytes, int, Sequence[Any], Row]],
        kinds: Mapping[str, str],
        units: Mapping[str, str],
    ) -> None:
        """Write computed points (key, replicate, parameters, row), all or none of them."""
        with told(self.folder):
            self._keep(code, points, kinds, units)

    def _keep(
        self,
        code: str,
        points: Iterable[tuple[bytes, int, Sequence[Any], Row]],
        kinds: Mapping[str, str],
        units: Mapping[str, str],
    ) -> None:
        now = time.time()
        self._base.execute("BEGIN IMMEDIATE")
        try:
            number = self._code(code)
            self._base.executemany(
                self._insert,
                [
                    (key, number, replicate, *_verdict(row), now, row.state, *parameters, *row.values)
                    for key, replicate, parameters, row in points
                ],
            )
            self._learn(kinds, units)
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:  # a full disk ends it by itself
                self._base.execute("ROLLBACK")
            raise

    def read(self, names: Sequence[str], keys: Iterable[bytes]) -> list[tuple[Any, ...] | None]:
        """The columns ``names`` of points, None for those that are not there."""
        return read_points(self._base, self.content, names, keys)

    def _prepare(self, units: Mapping[str, str]) -> None:
        if names_of(self._base):  # before anything is written
            require_same(self.folder, content_of(self._base, self.folder), self.content)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.execute("PRAGMA wal_autocheckpoint = 4000")
        self._base.execute("PRAGMA cache_size = -131072")  # KiB: keys arrive in random order
        columns = self.content.stored_as
        if not names_of(self._base):
            names = (*self.content.parameters, *self.content.outputs)
            roles = ["parameter"] * len(self.content.parameters) + ["output"] * len(self.content.outputs)
            self._base.execute("BEGIN IMMEDIATE")
            for statement in (*_SCHEMA, _points_table(columns)):
                self._base.execute(statement)
            about = [("format", FORMAT), ("target", self.content.target)]
            self._base.executemany("INSERT INTO about VALUES (?, ?)", about)
            self._base.executemany(
                "INSERT INTO columns (name, role, stored_as, unit) VALUES (?, ?, ?, ?)",
                [(n, r, c, units.get(n, "")) for n, r, c in zip(names, roles, columns, strict=True)],
            )
            self._base.execute("COMMIT")
        require_same(self.folder, content_of(self._base, self.folder), self.content)
        listed = ", ".join(map(quoted, (*KEPT, *columns)))
        marks = ", ".join("?" * (len(KEPT) + len(columns)))
        self._insert = f"INSERT OR REPLACE INTO points ({listed}) VALUES ({marks})"

    def _code(self, code: str) -> int:
        self._base.execute("INSERT OR IGNORE INTO codes (code) VALUES (?)", (code,))
        return int(self._base.execute("SELECT number FROM codes WHERE code = ?", (code,)).fetchone()[0])

    def _learn(self, kinds: Mapping[str, str], units: Mapping[str, str]) -> None:
        for name, kind in kinds.items():
            self._base.execute(
                "UPDATE columns SET kind = ? WHERE name = ? AND role = 'output' AND kind IS NULL",
                (kind, name),
            )
        for name, unit in units.items():
            self._base.execute(
                "UPDATE columns SET unit = ? WHERE name = ? AND role = 'output' AND unit = ''", (unit, name)
            )


def quoted(column: str) -> str:
    """The name of a column in a statement, whatever is in it."""
    return '"' + column.replace('"', '""') + '"'


def _verdict(row: Row) -> tuple[str, str, float]:
    """Status, error and seconds of a row."""
    return "failed" if row.error else "done", row.error, row.seconds


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """Raises one sentence for what a store cannot do: a damaged file, a full disk, a folder without permission."""
    try:
        yield
    except Unreadable as error:
        reason = in_a_sentence(error)
        raise StudyError(
            f"{folder / FILE} is no store of a study ({reason}): give another folder."
        ) from error
    except (sqlite3.Error, OSError) as error:
        reason = in_a_sentence(error).removesuffix(".")
        raise StudyError(f"{folder / FILE} cannot be used: {reason}.") from error


@contextmanager
def sound(folder: Path) -> Iterator[None]:
    """Raises one sentence for a damaged store that cannot be read."""
    try:
        with told(folder):
            yield
    except (StudyError, ResultsError):
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        # SQLite hands out what the bytes say: numbers for texts, texts that are none
        reason = in_a_sentence(error).removesuffix(".")
        raise StudyError(f"{folder / FILE} is damaged ({type(error).__name__}: {reason}).") from error


def open_reader(folder: Path) -> sqlite3.Connection:
    """A connection that only reads, to a store that may be written at the same time; see :func:`content_of` first."""
    file = folder / FILE
    if not file.is_file():
        raise StudyError(f"{folder} holds no study: run it first.")
    with told(folder):
        return connect(file)


def content_of(base: sqlite3.Connection, folder: Path) -> Content:
    """What the store holds; :class:`StudyError` if it is none of ours."""
    with told(folder):
        if not {"about", "columns", "codes", "points"} <= names_of(base):
            raise Unreadable("its tables are not those of a study")
        about = dict(base.execute("SELECT name, value FROM about LIMIT 100"))
        rows = base.execute("SELECT name, role, stored_as FROM columns ORDER BY number LIMIT 3000").fetchall()
        if not all(isinstance(entry, str) for row in (*about.items(), *rows) for entry in row):
            raise Unreadable("it does not say what it holds")
        if {"format", "target"} - about.keys():
            raise Unreadable("it does not say what it holds")
        if about["format"] != FORMAT:
            newer = in_a_sentence(about["format"], 20)
            raise StudyError(f"{folder} was written by a newer klapper (format {newer}): upgrade klapper.")
        content = Content(
            about["target"],
            tuple(name for name, role, _ in rows if role == "parameter"),
            tuple(name for name, role, _ in rows if role == "output"),
        )
        if content.stored_as != tuple(stored for _, _, stored in rows):
            raise Unreadable("it does not say what it holds")
        sizes = (folder / f"{FILE}{end}" for end in ("", "-wal"))
        size = sum(file.stat().st_size for file in sizes if file.exists())
        require_tables(base, (*_SCHEMA, _points_table(content.stored_as)), size)
        return content


def _points_table(columns: Sequence[str]) -> str:
    """The statement that makes the table of points."""
    return _POINTS.format(values="".join(f", {quoted(column)}" for column in columns))


def require_same(folder: Path, there: Content, wanted: Content) -> None:
    """Refuse a store of another target or with other columns."""
    if there == wanted:
        return
    what = "target" if there.target != wanted.target else "parameters or outputs"
    raise StudyError(
        f"{folder} holds {in_a_sentence(there.target)} with outputs {in_a_sentence(', '.join(there.outputs))}, not "
        f"{wanted.target} with "
        f"{', '.join(wanted.outputs)}: its {what} differ, so give another folder."
    )


def described(base: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Kind and unit of the columns by name."""
    rows = base.execute("SELECT name, kind, unit FROM columns ORDER BY number DESC")
    return {name: (kind or "", unit or "") for name, kind, unit in rows}


def read_points(
    base: sqlite3.Connection, content: Content, names: Sequence[str], keys: Iterable[bytes]
) -> list[tuple[Any, ...] | None]:
    """The columns ``names`` of points, None for those that are not there."""
    known = dict(zip((*content.parameters, *content.outputs), content.stored_as, strict=True))
    listed = ", ".join(quoted(known.get(name, name)) for name in names)
    wanted = list(keys)
    if len(wanted) < 500:  # parameters of a statement are limited to 999 by older SQLite
        marks = ", ".join("?" * len(wanted))
        rows = base.execute(f"SELECT key, {listed} FROM points WHERE key IN ({marks})", wanted)
    else:
        rows = base.execute(f"SELECT key, {listed} FROM points")
    found = {row[0]: row[1:] for row in rows}
    return [found.get(key) for key in wanted]
