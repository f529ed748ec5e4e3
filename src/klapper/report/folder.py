"""A run on disk: ``result.json``, ``report.html``, each figure as PNG and SVG, films as GIF.

Every file is written under another name first and then renamed, so that a reader never meets half a file, and
files that are not of this run stay as they are.
"""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from klapper.report.page import page
from klapper.report.record import About, Record

if TYPE_CHECKING:
    from klapper.report.figures import Picture


def store(folder: Path, record: Record, about: About, pictures: Sequence["Picture"]) -> Path:
    """Write the run into ``folder`` (made if missing); the path of the page, which is written last."""
    contents = {f"{picture.name}.svg": picture.svg for picture in pictures}
    contents |= {f"{picture.name}.png": picture.png for picture in pictures}
    contents |= {f"{picture.name}.gif": picture.gif for picture in pictures if picture.gif}
    contents["result.json"] = record.as_json().encode()
    contents["report.html"] = page(record, about, pictures).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write(folder / name, content)
    return folder / "report.html"


def write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing; a device or pipe is written to directly."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
