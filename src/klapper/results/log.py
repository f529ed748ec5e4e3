"""The log of a stored run: what happened when, one line each, in ``run.log`` beside the run.

    2026-03-01T09:30:00+00:00  begun: rotor by moreau (step_size 0.0001, until 10)
    2026-03-01T09:30:05+00:00  part 1: 52000 samples, to 0.52 s
    2026-03-01T09:30:07+00:00  stopped at 0.71 s with 2 parts stored; the same call goes on from there

It is for people: nothing is read back from it, and a log that cannot be written stops no run.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

LOG = "run.log"


class RunLog:
    """Appends lines to ``run.log`` in a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / LOG

    def note(self, text: str) -> None:
        """One line with the present time in UTC."""
        line = f"{datetime.now(UTC).isoformat(timespec='seconds')}  {' '.join(text.split())}\n"
        with suppress(OSError):
            flags = (
                os.O_WRONLY
                | os.O_APPEND
                | os.O_CREAT
                | getattr(os, "O_NOFOLLOW", 0)
                | getattr(os, "O_NONBLOCK", 0)
            )
            handle = os.open(self._file, flags, 0o666)
            try:
                os.write(handle, line.encode("utf-8", "replace"))
            finally:
                os.close(handle)

    def clear(self) -> None:
        """Forget another run."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
