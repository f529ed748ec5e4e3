"""A running computation on disk, which survives the end of its process at any moment.

    folder/header.json      layout, origin and fingerprint of the run
    folder/part-000001.h5   samples since the last part, and the complete state to go on from
    folder/part-000002.h5   …
    folder/run.h5           the whole run, when it is finished; then the others are gone
    folder/run.log          what happened when, for people

Every file is written under another name, brought to the disk and renamed. So the folder always holds a beginning of
the run without gaps, and the last part says how to go on.

    with PartStore(folder) as store:
        resumed = store.resume(fingerprint)
        if resumed is None:
            store.begin(layout, about, fingerprint)
        …
        store.append(samples, snapshot)
        …
        store.finish(run)
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from klapper.counting import counted
from klapper.doors.files import content_of
from klapper.doors.json import LARGEST, parse_json
from klapper.results import overview
from klapper.results.container import EXPANSION, FORMAT, FREE, TEMPORARY, write_whole
from klapper.results.errors import CannotRead, ResultsError
from klapper.results.files import layout_from, read_fingerprint, read_part, read_run, write_part, write_run
from klapper.results.lock import Lock
from klapper.results.log import RunLog
from klapper.results.plain import plain
from klapper.results.run import Run
from klapper.results.samples import Layout, Samples

RUN, HEADER, LOCK = "run.h5", "header.json", "lock"


class Resumed(NamedTuple):
    """What there is of an unfinished run, as :meth:`PartStore.resume` gives it.

    ``layout``, ``samples``  the s samples on disk and the meaning of their columns
    ``snapshot``             the complete state after the last of them
    ``message``              tells what was damaged and left out, empty if nothing

    >>> import tempfile
    >>> from klapper.results import PartStore
    >>> with tempfile.TemporaryDirectory() as folder, PartStore(folder) as store:
    ...     store.resume("ball, 1 kg") is None  # nothing there: the run has to begin
    True
    """

    layout: Layout
    samples: Samples
    snapshot: dict[str, Any]
    message: str


class PartStore:
    """Writes a running computation into ``folder``, which is made if missing and locked until :meth:`close`.

    A ``fingerprint`` is a text that is the same if and only if the computation is: same system, scheme, settings and
    start. It keeps runs apart; a folder that holds another run is refused.

    :func:`klapper.simulate` does all of this for ``store=folder``; a computation with a loop of its own does

    >>> import tempfile
    >>> from klapper.results import Layout, PartStore, Samples
    >>> layout = Layout(("x",), ("x",))
    >>> with tempfile.TemporaryDirectory() as folder, PartStore(folder) as store:
    ...     store.begin(layout, {"system": "ball"}, fingerprint="ball, 1 kg")
    ...     store.append(Samples.empty(layout), {"step": 5})
    ...     store.resume("ball, 1 kg").snapshot
    {'step': 5}
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(self.folder / LOCK)
        except OSError as error:
            raise ResultsError(f"{self.folder} cannot hold a run: {error.strerror or error}.") from error
        for left in self.folder.glob(f".*{TEMPORARY}"):
            left.unlink(missing_ok=True)
        self._log = RunLog(self.folder)
        self._layout: Layout | None = None
        self._origin: dict[str, Any] = {}
        self._parts = self._samples = 0
        self._end = -math.inf

    def __enter__(self) -> PartStore:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._layout is not None and error is not None:
            self._log.note(f"{type(error).__name__}: {error}")
        self.close()

    def close(self) -> None:
        """Unlock the folder; what is in it stays."""
        if self._layout is not None:
            end = f" at {self._end:.6g} s" if math.isfinite(self._end) else ""
            self._log.note(
                f"stopped{end} with {counted(self._parts, 'part')} stored; the same call goes on from there"
            )
        self._layout = None
        self._lock.release()

    def finished(self, fingerprint: str) -> Run | None:
        """The whole run if it is finished, None if not; :class:`ResultsError` if the folder holds another run."""
        file = self.folder / RUN
        if not file.exists():
            return None
        if read_fingerprint(file) != fingerprint:
            raise ResultsError(f"{file} is another run: give another folder, or remove it.")
        run = read_run(file)
        self._tidy()
        return run

    def resume(self, fingerprint: str) -> Resumed | None:
        """What there is of an unfinished run, to go on from; None if there is nothing, so that it has to begin.

        Parts behind a damaged one are removed, since the computation repeats them.
        """
        if (self.folder / RUN).exists():
            raise ResultsError(f"{self.folder} holds the finished run: read it instead of going on with it.")
        if not _parts(self.folder):
            return None
        header = _header(self.folder)
        if header["fingerprint"] != fingerprint:
            raise ResultsError(
                f"{self.folder} holds another run: give another folder, or begin with overwrite."
            )
        found, good = _unfinished(self.folder, header, large=True)
        _remove(_parts(self.folder)[good:])
        if not good:
            return None
        self._take(found.layout, header["token"], good, found.samples)
        self._log.note(
            f"resumed after {counted(self._samples, 'sample')} at {self._end:.6g} s. {found.message}"
        )
        return found

    def begin(
        self, layout: Layout, about: Mapping[str, Any], fingerprint: str, *, overwrite: bool = False
    ) -> None:
        """Start a run in the folder; what another run left there is refused, or removed with ``overwrite``."""
        parts, file = _parts(self.folder), self.folder / RUN
        if (parts or file.exists()) and not overwrite:
            raise ResultsError(
                f"{self.folder} holds a run already: resume it, overwrite it or give another folder."
            )
        file.unlink(missing_ok=True)
        _remove(parts)
        self._log.clear()
        token = secrets.token_hex(8)
        content = {
            "format": FORMAT,
            "token": token,
            "fingerprint": fingerprint,
            "layout": asdict(layout),
            "about": plain(about, "about"),
        }
        content["blake2b"] = _digest(content)
        write_whole(self.folder / HEADER, json.dumps(content, indent=1).encode())
        self._take(layout, token, 0, Samples.empty(layout))
        self._log.note(f"begun: {_named(about)}")

    def append(self, samples: Samples, snapshot: Mapping[str, Any]) -> None:
        """Write the samples since the last part, and the complete state after them.

        ``snapshot`` holds arrays of numbers, numbers, truth values and texts by name; they come back bit for bit.
        """
        samples.require(self._begun())
        if len(samples) and samples.time[0] < self._end:
            raise ResultsError(
                f"The samples begin at {samples.time[0]:g} s, but the parts before them end at {self._end:g} s: give "
                "those since the last part."
            )
        number = self._parts + 1
        write_part(
            self.folder / _part_name(number),
            self._origin | {"part": number, "before": self._samples},
            samples,
            snapshot,
        )
        self._parts = number
        self._count(samples)
        self._log.note(f"part {number}: {counted(len(samples), 'sample')}, to {self._end:.6g} s")

    def finish(self, run: Run) -> Path:
        """Write the whole run and remove its parts; the path of its file. A run that is to go on is not finished."""
        self._begun()
        if run.about.get("status") == "interrupted":
            raise ResultsError(
                "An interrupted run is not finished: close the store, so that its parts can be resumed."
            )
        if len(run) < self._samples:
            raise ResultsError(
                f"The run has {counted(len(run), 'sample')}, but its parts hold {self._samples}: give all of them."
            )
        file = write_run(self.folder / RUN, run, fingerprint=_header(self.folder)["fingerprint"])
        self._tidy()
        self._layout = None
        self._log.note(f"finished: {overview.headline(run)}. {run.ledger.verdict}")
        return file

    def _tidy(self) -> None:
        """Remove what the finished run makes superfluous."""
        _remove(_parts(self.folder))
        (self.folder / HEADER).unlink(missing_ok=True)

    def _take(self, layout: Layout, token: str, parts: int, samples: Samples) -> None:
        self._layout, self._origin, self._parts, self._samples = layout, {"token": token}, parts, 0
        self._end = -math.inf
        self._count(samples)

    def _count(self, samples: Samples) -> None:
        self._samples += len(samples)
        self._end = float(samples.time[-1]) if len(samples) else self._end

    def _begun(self) -> Layout:
        if self._layout is None:
            raise ResultsError(f"The store of {self.folder} has no run to write: begin or resume one.")
        return self._layout


def read(path: str | Path, *, large: bool = False) -> Run:
    """The run in the file ``path``, or in a folder, where it may be unfinished: then its status is "interrupted".

    ``large``  whether a file may unpack to more than 64 MB and 64 times its size: give it for a motion at rest that you
               trust, since such a file may also be made to fill the memory

    >>> import tempfile
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.results import read
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven()).save(f"{folder}/run.h5")
    ...     read(path).final[1].round(9)
    array([6.])
    """
    path = Path(path)
    if not path.is_dir():
        return read_run(path, large=large)
    if not (path / RUN).exists() and holds_parts(path):
        try:
            run = _interrupted(path, large=large)
        except ResultsError:
            if not (path / RUN).exists():
                raise
        else:
            if not (
                path / RUN
            ).exists():  # else it was finished, and parts removed, while they were being read
                return run
    if not (path / RUN).exists():
        raise ResultsError(f"{path} holds no run: there is neither {RUN} nor {HEADER}.")
    return read_run(path / RUN, large=large)


def holds_parts(folder: Path) -> bool:
    """Whether there is an unfinished run in ``folder``."""
    return (folder / HEADER).exists()


def _interrupted(folder: Path, *, large: bool) -> Run:
    """The run as far as its parts tell it."""
    header = _header(folder)
    found, _ = _unfinished(folder, header, large=large)
    end = f" at {found.samples.time[-1]:g} s" if len(found.samples) else ""
    message = f"The run stopped{end} and can be resumed. {found.message}".strip()
    steps = int(found.samples.step[-1]) if len(found.samples) else 0
    about = header["about"] | {"status": "interrupted", "message": message, "steps": steps}
    for name in ("statistics", "iterations"):
        if found.snapshot.get(name):
            about[name] = _told(folder, name, found.snapshot[name])
    return Run(found.layout, found.samples, about)


def _told(folder: Path, name: str, text: Any) -> Any:
    """What the last part of a run tells about it as JSON."""
    try:
        return parse_json(text.encode())
    except (AttributeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ResultsError(f"The last part in {folder} does not hold '{name}' ({reason}).") from None


def _unfinished(folder: Path, header: Mapping[str, Any], *, large: bool) -> tuple[Resumed, int]:
    """The parts from the first one on as far as they are whole and follow each other, and how many they are."""
    layout, message = layout_from(header["layout"]), ""
    stretches, count = [Samples.empty(layout)], 0
    snapshot: dict[str, Any] = {}
    files = _parts(folder)
    allowed = math.inf if large else float(max(FREE, EXPANSION * sum(map(_size, files))))
    for number, file in enumerate(files, 1):
        try:
            origin, samples, state, taken = read_part(file, layout, allowed=allowed)
            samples.require(layout)
            follows = origin == {"token": header["token"], "part": number, "before": count}
            reason = "" if follows else f"{file} does not continue the run."
        except CannotRead:
            raise  # it may be whole: nothing is left out, or removed, because of a disk that does not answer
        except ResultsError as error:
            reason = str(error)
        if reason:
            message = f"Parts from number {number} on are left out: {reason}"
            return Resumed(layout, _joined(stretches), snapshot, message), number - 1
        stretches.append(samples)
        allowed -= taken
        snapshot, count = state, count + len(samples)
    return Resumed(layout, _joined(stretches), snapshot, message), len(files)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _joined(stretches: list[Samples]) -> Samples:
    return Samples.concatenate(stretches[1:] or stretches)


def _header(folder: Path) -> dict[str, Any]:
    file = folder / HEADER
    try:
        header = parse_json(content_of(file, LARGEST))
        newer, digest = header["format"] > FORMAT, header.pop("blake2b", "")
    except FileNotFoundError:
        raise ResultsError(
            f"{file} does not exist, so the parts of the run beside it cannot be read."
        ) from None
    except OSError as error:
        raise ResultsError(f"{file} cannot be read: {error.strerror or error}.") from error
    except (AttributeError, KeyError, TypeError, ValueError):
        newer, digest, header = False, "", {}
    if newer:
        raise ResultsError(
            f"{file} was written by a newer klapper (format {header['format']}): upgrade klapper."
        )
    if digest != _digest(header):
        raise ResultsError(f"{file} is damaged, so the parts of the run beside it cannot be read.")
    try:
        layout_from(header["layout"])
        whole = isinstance(header["about"], dict) and isinstance(header["token"] + header["fingerprint"], str)
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise ResultsError(f"{file} does not hold what the header of a run holds.")
    return header


def _named(about: Mapping[str, Any]) -> str:
    """The system, the scheme and its settings in one line."""
    settings = about.get("settings")
    told = (
        ", ".join(f"{name} {value}" for name, value in settings.items()) if isinstance(settings, dict) else ""
    )
    scheme = f" by {about['scheme']}" if about.get("scheme") else ""
    return f"{about.get('system') or 'a system without name'}{scheme}{f' ({told})' if told else ''}"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _part_name(number: int) -> str:
    return f"part-{number:06d}.h5"


def _parts(folder: Path) -> list[Path]:
    """The parts in their order."""
    numbers = {file: re.fullmatch(r"part-(\d{6,})\.h5", file.name) for file in folder.glob("part-*.h5")}
    return sorted((file for file, number in numbers.items() if number), key=lambda file: int(file.stem[5:]))


def _remove(files: list[Path]) -> None:
    """Remove the last ones first, so that what is left at any moment is a beginning."""
    for file in reversed(files):
        file.unlink(missing_ok=True)
