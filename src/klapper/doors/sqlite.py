"""SQLite files that hold exactly the tables that are expected.

A hostile file brings a program with it: views that never end, triggers, columns that are computed, and a journal that
names other files to be read and removed. So the text of every table is compared with the one expected, nothing else may
be there, and pages are checked before rows are read. SQLite itself finds all other damage.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from klapper.doors.errors import Unreadable
from klapper.doors.files import content_of, opened

CHECKED = (
    32_000_000  # bytes up to which pages are checked; rows of larger files cannot be many times their size
)
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 64_000_000,  # bytes of a text or a row
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_SUPER = bytes.fromhex("d9d505f920a163d7")  # ends a journal that names another one
_HEAD = b"SQLite format 3\0"


def connect(file: Path, *, write: bool = False) -> sqlite3.Connection:
    """A connection to a file that exists, or is made if it is to be written; its content is not checked yet."""
    for part in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))):
        if part.is_symlink() or (part.exists() and not part.is_file()):
            raise Unreadable(f"{part.name} is no regular file")
    if file.exists():
        with opened(file) as stream:
            head = stream.read(len(_HEAD))
        if head and head != _HEAD:
            raise Unreadable("it is no SQLite file")
    journal = file.with_name(f"{file.name}-journal")
    if journal.exists() and content_of(journal, 4 * CHECKED).endswith(_SUPER):
        raise Unreadable("its journal names other files")
    if write:
        base = sqlite3.connect(file, timeout=60.0, isolation_level=None)
    else:
        how = "mode=ro" if os.access(file.parent, os.W_OK) or _waits(file) else "mode=ro&immutable=1"
        base = sqlite3.connect(f"{file.resolve().as_uri()}?{how}", uri=True, timeout=60.0)
    for limit, most in _LIMITS.items():
        base.setlimit(limit, most)
    for statement in (
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "mmap_size = 0",
        "recursive_triggers = OFF",
    ):
        base.execute(f"PRAGMA {statement}")
    if not write:
        base.execute("PRAGMA query_only = ON")
    return base


def _waits(file: Path) -> bool:
    """Whether some of the content is in the write-ahead log still. (Without, nothing need be written to read it.)"""
    log = file.with_name(f"{file.name}-wal")
    return log.exists() and log.stat().st_size > 0


def names_of(base: sqlite3.Connection) -> set[str]:
    """Names of the tables; :class:`Unreadable` if there is anything but tables and what SQLite makes for them."""
    rows = base.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 1000").fetchall()
    for kind, name, table, text in rows:
        made = kind == "index" and text is None and str(name).startswith("sqlite_autoindex_")
        if not all(isinstance(entry, str) for entry in (kind, name, table)) or (kind != "table" and not made):
            raise Unreadable(f"it holds a {kind!s:.20}, and only tables are read")
    return {name for kind, name, _, _ in rows if kind == "table"}


def require_tables(base: sqlite3.Connection, statements: Iterable[str], size: int) -> None:
    """Refuse a file of ``size`` bytes whose tables are not made by exactly these statements, or are damaged."""
    there = {
        text for (text,) in base.execute("SELECT sql FROM sqlite_master WHERE type = 'table' LIMIT 1000")
    }
    if there != set(statements):
        raise Unreadable("its tables are not those of a study")
    if size <= CHECKED:
        found = base.execute("PRAGMA quick_check(1)").fetchone()
        if found != ("ok",):
            raise Unreadable(f"it is damaged ({found[0]!s:.100})")
