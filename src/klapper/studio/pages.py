"""Pages of runs and results: those that were written beside them, or one made now.

A written page knows more (a picture of the model that moves), so it is taken unless the run went on since.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from klapper.doors import Unreadable
from klapper.doors.files import content_of
from klapper.results.store import HEADER, RUN
from klapper.studio.errors import StudioError
from klapper.studio.opened import opened
from klapper.studio.place import Root

REPORT = "report.html"
LARGEST = 256_000_000  # bytes; pages with films have some ten million


def page_addresses(root: Root, name: str) -> list[dict[str, str]]:
    """Titles and addresses, below the room of pages, of the pages of a run or result; the best first."""
    path = root.existing(name)
    made = {"title": "run", "address": f"made/{quote(name)}"}
    if not path.is_dir():
        return [made]
    written = [
        {"title": file.stem.replace("-", " "), "address": f"written/{quote(root.name(file))}"}
        for file in sorted(path.glob("*.html"), key=lambda file: (file.name != REPORT, file.name))
    ]
    stored = (path / RUN).exists() or (path / HEADER).exists()
    if stored and not (written and _current(path)):
        return [made]
    return written or [made]


def _current(folder: Path) -> bool:
    """Whether the written page is of the run as it is."""
    try:
        page = (folder / REPORT).stat().st_mtime
        data = [file.stat().st_mtime for file in folder.iterdir() if file.suffix == ".h5"]
    except OSError:
        return False
    return page >= max(data, default=0.0)


def written_page(root: Root, name: str) -> bytes:
    """A page on disk."""
    file = root.existing(name)
    if file.suffix != ".html" or not file.is_file():
        raise StudioError(f"'{name}' is no page.", 404)
    try:
        return content_of(file, LARGEST)
    except OSError as error:
        raise StudioError(f"'{name}' cannot be read: {error.strerror or error}.") from None
    except Unreadable as error:
        raise StudioError(f"'{name}' cannot be shown: {error}.") from None


def made_page(root: Root, name: str) -> bytes:
    """The page of a stored run, made from what is there now."""
    from klapper.report.run_page import run_page

    entry = opened(root, name)
    if entry.run is None:
        raise StudioError(f"'{name}' has no page: run it again to write one.", 404)
    stem = Path(entry.path).stem or "run"
    return run_page(entry.run, title=entry.title, parameters=entry.parameters, name=stem).encode()
