"""The sides of the comparison: each runs in its own process on one thread, asked and answering by .npz."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)

Answer = dict[str, np.ndarray]


class SideFailed(Exception):
    """A side gave no answer; the message says why in one line."""


@dataclass(frozen=True)
class Side:
    """A program that answers requests: `command` is followed by the request's and the answer's file."""

    name: str
    command: tuple[str, ...]

    def ask(self, task: str, timeout: float = 600.0, **request: Any) -> Answer:
        """Answer to a task; SideFailed if the side is missing, fails or takes longer than `timeout` [s]."""
        with tempfile.TemporaryDirectory() as folder:
            question, answer = Path(folder, "request.npz"), Path(folder, "answer.npz")
            np.savez(question, task=task, **request)
            try:
                subprocess.run(
                    [*self.command, str(question), str(answer)],
                    cwd=ROOT,
                    env={**os.environ, **_ONE_THREAD},
                    capture_output=True,
                    text=True,
                    timeout=timeout,
                    check=True,
                )
            except FileNotFoundError:
                raise SideFailed("interpreter not found") from None
            except subprocess.TimeoutExpired:
                raise SideFailed(f"not finished within {timeout:.0f} s") from None
            except subprocess.CalledProcessError as error:
                raise SideFailed(_last_line(error.stderr)) from None
            with np.load(answer) as stored:
                return dict(stored)

    def version(self) -> str:
        return str(self.ask("version", timeout=120.0)["version"])


def klapper() -> Side:
    return Side("klapper", (sys.executable, "-m", "benchmarks.klapper_side"))


def siconos(interpreter: str = "/usr/bin/python3") -> Side:
    return Side("Siconos", (interpreter, str(ROOT / "benchmarks" / "siconos_peer.py")))


def quantecon() -> Side:
    return Side("quantecon", (sys.executable, "-m", "benchmarks.quantecon_peer"))


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
