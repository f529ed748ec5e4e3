"""An example on disk: ``result.json``, ``report.html``, figures as PNG and SVG, films as GIF, a page per run.

Every file is written under another name first and then renamed, so that a reader never meets half a file, and
files that are not of this run stay as they are.
"""

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from klapper.doors.files import target_of
from klapper.report.page import page
from klapper.report.record import About, Record

if TYPE_CHECKING:
    from klapper.report.figures import Picture


def store(
    folder: Path,
    record: Record,
    about: About,
    pictures: Sequence["Picture"],
    runs: Mapping[str, str] | None = None,
) -> Path:
    """Write an example into ``folder`` (made if missing); the path of its page, which is written last.

    ``runs`` holds the pages of its runs by name; the page of the example leads to them.
    """
    contents = {f"{picture.name}.svg": picture.svg for picture in pictures}
    contents |= {f"{picture.name}.png": picture.png for picture in pictures}
    contents |= {f"{picture.name}.gif": picture.gif for picture in pictures if picture.gif}
    contents["result.json"] = record.as_json().encode()
    contents |= {f"{name}.html": text.encode() for name, text in (runs or {}).items()}
    contents["report.html"] = page(record, about, pictures, list(runs or {})).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write(folder / name, content)
    return folder / "report.html"


def write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing; a device or pipe is written to directly, by its own name."""
    device = not path.is_symlink() or path.is_relative_to("/dev")
    if device and path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    target = target_of(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # a full disk does not say which file it is about
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
