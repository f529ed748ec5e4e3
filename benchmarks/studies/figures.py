"""Computes the maps of docs/studies.md and draws them into docs/images.

    python -m benchmarks.studies.figures [FOLDER] [--only NAME] [--workers N]

Stores are kept in FOLDER (by default a temporary one), so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import klapper
from klapper.studies import grid
from klapper.studies.maps import MAPS

IMAGES = Path(__file__).parents[2] / "docs" / "images"
RULES = ["pinv", "pinv-redistributed", "prox", "functional-2", "functional-3", "compliant"]


def rotor(store: Path, workers: int | None) -> Any:
    """Regimes over speed and length of the delamination, one panel for each position."""
    over = {
        "centre": [0.9, 1.1, 1.3, 1.5],
        "split": grid(0.2, 1.6, 22),
        "speed": grid(2.0, 20.0, 121),
    }
    study = _study("rotor-clatter", over, ["regime", "margin"], store, workers)
    return study.figure.map("speed", "split", "regime", by="centre")


def drift(store: Path, workers: int | None) -> Any:
    """Relative error of the drift over A and B, one panel for each regularisation."""
    over = {
        "A": grid(0.05, 0.95, 91),
        "B": grid(0.1, 4.0, 79),
        "regularisation": ["spring", "damper", "both", "arctan"],
    }
    study = _study("shaken-incline", over, ["relative_error"], store, workers, fixed={"eps": 1e-2})
    return study.figure.map("A", "B", "relative_error", by="regularisation", log=True)


def block(store: Path, workers: int | None) -> Any:
    """First step with both feet at their limits over the step, one line for each rule."""
    over = {"method": RULES, "step": grid(1e-5, 1e-3, 13, log=True)}
    study = _study("block-transition", over, ["at_limit"], store, workers, fixed={"projection": "step-safe"})
    return study.figure.slices("step", "at_limit", by="method", log="x")


def impacts(store: Path, workers: int | None) -> Any:
    """Speeds of impacts over the frequency of the force, downwards."""
    over = {"angular_frequency": grid(2.2, 0.75, 97)}
    study = _study(
        "impact-oscillator",
        over,
        ["speeds"],
        store,
        workers,
        fixed={"settle": 60, "keep": 20},
        continue_along="angular_frequency",
    )
    return study.figure.bifurcation("angular_frequency", "speeds")


DRAWN = {"rotor": rotor, "drift": drift, "block": block, "impacts": impacts}


def _study(name: str, over: Any, outputs: list[str], store: Path, workers: int | None, **options: Any) -> Any:
    shipped = MAPS[name]
    units = {each: unit for each, unit in shipped.units.items() if each in over or each in outputs}
    study = klapper.study(
        shipped.function,
        over=over,
        outputs=outputs,
        store=store,
        vectorised=shipped.vectorised,
        units=units,
        **options,
    )
    return study.run(workers=workers)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.figures", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where stores are kept")
    parser.add_argument("--only", choices=DRAWN, action="append", help="draw these only")
    parser.add_argument("--workers", type=int, help="processes; as many as there are cores if not given")
    options = parser.parse_args(arguments)
    folder = options.folder or Path(tempfile.mkdtemp())
    for name in options.only or DRAWN:
        DRAWN[name](folder / name, options.workers).savefig(IMAGES / f"studies_{name}.png", dpi=110)
        print(IMAGES / f"studies_{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
