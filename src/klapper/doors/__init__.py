"""The doors through which files come in: each format is checked before anything in it is believed.

A file may be damaged, or made by somebody to do harm. Each door reads one format, opens nothing but the file itself
(a regular file, never a pipe or a device), and compares sizes and depths with limits before it parses or allocates.
What a door refuses is told as :class:`Unreadable`; the room that asked names the file.

    files    the bytes of a file, up to a limit
    json     JSON, limited in size and depth; only what JSON knows
    toml     TOML, limited in size and depth
    hdf5     datasets in files as klapper writes them; nothing outside of the file, sizes before contents
    sqlite   SQLite with exactly the tables that are expected
    helper   what is read by programs that are not ours, in a process of its own with limits of time and memory
"""

from klapper.doors.errors import Unreadable

__all__ = ["Unreadable"]
