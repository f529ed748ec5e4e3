"""Runs that the studio started: processes of ``klapper run``, watched and ended from the page.

A process tells its progress as lines of JSON (``KLAPPER_PROGRESS=lines``, :mod:`klapper.progress`); everything else
that it writes is the log. Cancelling is Ctrl-C: the run keeps what there is. The time left is what the progress of
the last minute promises:

    t_left = (1 − s) (t − t₀) / (s − s₀)
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

from klapper.studio.errors import StudioError

MOST_LINES, MOST_KEPT = 2000, 50
COMMAND = (sys.executable, "-P", "-m", "klapper.cli")  # -P: nothing in the folder is imported
WINDOW = 60.0  # seconds over which the time left is estimated
_STATES = {0: "complete", 1: "failed", 130: "interrupted"}


@dataclass
class Job:
    """One process: ``scenario`` and ``out`` are names inside of the folder."""

    number: int
    scenario: str
    out: str
    process: subprocess.Popen[bytes]
    began: float = field(
        default_factory=time.time
    )  # [s since 1970], for people; durations are of another clock
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    cancelled: float | None = None
    log: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    now: str = ""
    facts: str = ""
    history: deque[tuple[float, float]] = field(default_factory=deque)  # (time, share)

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    @property
    def state(self) -> str:
        """running, cancelling, complete, failed, refused or interrupted."""
        status = self.process.poll()
        if status is None:
            return "running" if self.cancelled is None else "cancelling"
        if status < 0:
            return "interrupted" if self.cancelled is not None else "failed"
        return _STATES.get(status, "refused")

    @property
    def share(self) -> float | None:
        """Of the work that is done, from 0 to 1; None before the first step."""
        return self.history[-1][1] if self.history else None

    @property
    def left(self) -> float | None:
        """Seconds until the end, None while that is not known."""
        if len(self.history) < 2 or not self.running:
            return None
        (start, before), (now, done) = self.history[0], self.history[-1]
        if done <= before:
            return None
        return max((1.0 - done) * (now - start) / (done - before) - (time.monotonic() - now), 0.0)

    def took(self) -> float:
        return (self.ended or time.monotonic()) - self.started

    def told(self, lines: int = 0) -> dict[str, Any]:
        """The job as plain data, with the last ``lines`` of its log."""
        return {
            "number": self.number,
            "scenario": self.scenario,
            "out": self.out,
            "state": self.state,
            "began": self.began,
            "seconds": self.took(),
            "share": self.share,
            "left": self.left,
            "now": self.now,
            "facts": self.facts,
            "waiting": None if self.cancelled is None else time.monotonic() - self.cancelled,
            "log": list(self.log)[-lines:] if lines else [],
        }

    def hear(self, line: str) -> None:
        """Take a line of the process: progress, or a line of the log."""
        progress = _progress(line)
        if progress is None:
            self.log.append(line)
            return
        now = time.monotonic()
        self.now, self.facts = str(progress.get("now", "")), str(progress.get("facts", ""))
        self.history.append((now, progress["share"]))
        while now - self.history[0][0] > WINDOW and len(self.history) > 2:
            self.history.popleft()


def _progress(line: str) -> dict[str, Any] | None:
    if not line.startswith('{"progress"'):
        return None
    try:
        told = json.loads(line)["progress"]
        told["share"] = float(told["share"])
    except (ValueError, KeyError, TypeError):
        return None
    return told if math.isfinite(told["share"]) else None


class Jobs:
    """All jobs of a session; a handful may run at once."""

    def __init__(self, folder: Path, *, command: Sequence[str] = COMMAND, at_once: int | None = None) -> None:
        self.folder, self.command = folder, tuple(command)
        self.at_once = at_once or max(2, os.cpu_count() or 1)
        self._jobs: dict[int, Job] = {}
        self._numbers = count(1)
        self._lock = Lock()

    def start(self, scenario: str, out: str, *, overwrite: bool = False) -> Job:
        """Run a scenario into the folder ``out``; both are names that were checked."""
        with self._lock:
            running = [job for job in self._jobs.values() if job.running]
            if any(job.out == out for job in running):
                raise StudioError(f"A run is being written into '{out}': give another folder.", 409)
            if len(running) >= self.at_once:
                raise StudioError(f"{len(running)} runs are under way: wait for one, or cancel one.", 409)
            words = ["run", f"./{scenario}", f"--out=./{out}", *(["--overwrite"] if overwrite else [])]
            job = Job(next(self._numbers), scenario, out, self._process(words))
            self._jobs[job.number] = job
            self._forget()
        Thread(target=_watch, args=(job,), daemon=True).start()
        return job

    def _process(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "KLAPPER_PROGRESS": "lines", "PYTHONUNBUFFERED": "1", "COLUMNS": "100"}
        return subprocess.Popen(
            [*self.command, *words],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal of the studio is passed on by the studio
        )

    def _forget(self) -> None:
        """Forget the oldest that ended."""
        for number in [n for n, job in self._jobs.items() if not job.running][:-MOST_KEPT]:
            del self._jobs[number]

    def all(self) -> list[Job]:
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.number)

    def find(self, number: object) -> Job:
        with self._lock:
            job = self._jobs.get(number) if isinstance(number, int) else None
        if job is None:
            raise StudioError("There is no such run in this session.", 404)
        return job

    def cancel(self, number: object, *, at_once: bool = False) -> Job:
        """Interrupt a run, so that it keeps what there is; ``at_once`` ends one that does not listen."""
        job = self.find(number)
        if job.running:
            job.cancelled = job.cancelled or time.monotonic()
            with suppress(ProcessLookupError):
                job.process.send_signal(signal.SIGKILL if at_once else signal.SIGINT)
        return job

    def close(self, patience: float = 20.0) -> None:
        """Interrupt everything that runs and wait for it; what does not end in time is killed."""
        running = [job for job in self.all() if job.running]
        for job in running:
            self.cancel(job.number)
        end = time.monotonic() + patience
        for job in running:
            try:
                job.process.wait(max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                job.process.kill()
                job.process.wait()


def _watch(job: Job) -> None:
    """Read what the process writes until it ends."""
    stream: IO[bytes] | None = job.process.stdout
    if stream is None:
        return
    with stream:
        for line in stream:
            job.hear(line.decode("utf-8", "replace").rstrip("\r\n"))
    job.process.wait()
    job.ended = time.monotonic()
