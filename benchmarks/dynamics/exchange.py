"""How the bench and a program talk about a run: a model goes out, timed runs with trajectories come back.

A program's side is a script started as `side request.npz answer.npz` (see `benchmarks.sides`). It calls

    serve(version, run)        run(model, repeats) -> list[Run], one Run per setting of the program

and the bench calls `ask`, which judges every trajectory by `accuracy.judge` and returns plain dictionaries
that JSON can write. Only numpy is imported: Siconos' interpreter reads this file too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dynamics import accuracy
from benchmarks.dynamics.models import Model, from_text, to_text
from benchmarks.sides import Side


@dataclass(frozen=True)
class Run:
    """One timed run of a model.

    settings: what was chosen, in words; steps: how many the program took; seconds: the stepping loop alone,
    best of the repeats; trajectory: arrays named in `accuracy`; facts: anything else worth a number, such as
    mean iterations of the solver.
    """

    settings: str
    steps: int
    seconds: float
    trajectory: dict[str, np.ndarray]
    facts: dict[str, float] = field(default_factory=dict)


class NotModelled(Exception):
    """The program has no such model; the message says why in one line."""


def serve(version: str, run: Callable[[Model, int], list[Run]]) -> None:
    """Answer the request named on the command line."""
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    if str(request["task"]) == "version":
        np.savez(sys.argv[2], version=version)
        return
    try:
        runs = run(from_text(str(request["model"])), int(request["repeats"]))
    except NotModelled as reason:
        sys.exit(str(reason))
    reports = [{k: v for k, v in asdict(each).items() if k != "trajectory"} for each in runs]
    arrays: dict[str, Any] = {
        f"{i} {k}": v for i, each in enumerate(runs) for k, v in each.trajectory.items()
    }
    np.savez(sys.argv[2], version=version, reports=json.dumps(reports), **arrays)


def ask(
    side: Side, case: str, model: Model, *, repeats: int, folder: Path, timeout: float = 600.0
) -> list[dict[str, Any]]:
    """Results of one program for one case, its trajectories written to `folder`; SideFailed says why not."""
    answer = side.ask("dynamics", timeout=timeout, model=to_text(model), repeats=repeats)
    results = []
    for number, report in enumerate(json.loads(str(answer["reports"]))):
        head = f"{number} "
        trajectory: dict[str, Any] = {k[len(head) :]: v for k, v in answer.items() if k.startswith(head)}
        path = folder / (_file_name(side.name, case, number) + ".npz")
        np.savez_compressed(path, **trajectory)
        results.append(
            {
                "case": case,
                "model": model.kind,
                "program": side.name,
                "version": str(answer["version"]),
                "settings": report["settings"],
                "steps": report["steps"],
                "seconds": report["seconds"],
                "seconds_per_step": report["seconds"] / report["steps"],
                "accuracy": accuracy.judge(model, trajectory),
                "facts": report["facts"],
                "trajectory": str(path),
            }
        )
    return results


def load(result: dict[str, Any]) -> dict[str, np.ndarray]:
    """Trajectory of a result of `ask`."""
    with np.load(result["trajectory"]) as stored:
        return dict(stored)


def _file_name(*parts: object) -> str:
    words = " ".join(str(part) for part in parts).lower()
    return "_".join("".join(c if c.isalnum() else " " for c in words).split())
