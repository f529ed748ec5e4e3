"""Functions for the tests of studies; workers import them by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401  so that forked processes have it

import klapper
from klapper.studies import grid


def square(x: float, y: float = 1.0) -> dict[str, Any]:
    return {"value": x * x + y, "side": "left" if x < 0.3 else "right", "inside": x * x + y * y < 1.0}


def squares(x: Any, y: Any = 1.0) -> dict[str, Any]:
    """The same for arrays; refuses negative numbers as a whole."""
    if (x < 0.0).any():
        raise ValueError("x is negative.")
    return {"value": x * x + y}


def logged_square(x: float, log: str, pause: float = 0.0) -> dict[str, Any]:
    """x², with a line in a file for every computation."""
    time.sleep(pause)
    with Path(log).open("a", encoding="utf-8") as stream:
        stream.write(f"{x!r}\n")
    return {"value": x * x}


def squares_in(folder: Path, count: int, pause: float) -> klapper.studies.Study:
    """A study of ``logged_square`` with its store and its log in a folder."""
    return klapper.study(
        logged_square,
        over={"x": grid(0.0, 1.0, count)},
        outputs=["value"],
        fixed={"log": str(folder / "log"), "pause": pause},
        store=folder / "s",
        code="test",
    )


def study_of_squares(folder: Path, count: int, pause: float) -> None:
    squares_in(folder, count, pause).run(workers=1)


def fragile(x: float) -> dict[str, Any]:
    if x == 0.5:
        raise ArithmeticError("no answer\nat a half.")
    return {"value": x}


def deadly(x: float) -> dict[str, Any]:
    """Kills its worker at one point."""
    if x == 7.0:
        os._exit(1)
    return {"value": x}


def interrupted(x: float) -> dict[str, Any]:
    """As if the user pressed Ctrl-C at one point; slow enough for batches of one."""
    time.sleep(0.3)
    if x == 5.0:
        raise KeyboardInterrupt
    return {"value": x}


def noisy(x: float, generator: Any) -> dict[str, Any]:
    return {"value": x + generator.standard_normal(), "first": generator.random()}


def seeded(x: float, seed: int = 0) -> dict[str, Any]:
    return {"value": seed}


def buckled(force: float, start: float | None = None) -> dict[str, Any]:
    """Rest of ẋ = force + x − x³ from the neighbour's x: stable branches end at folds, force = ±2/(3√3)."""
    x = -1.0 if start is None else start
    for _ in range(3000):
        x += 0.2 * (force + x - x**3)
    return {"x": x, "state": x}


def logged_buckled(force: float, log: str, start: float | None = None) -> dict[str, Any]:
    with Path(log).open("a", encoding="utf-8") as stream:
        stream.write(f"{force!r}\n")
    return buckled(force, start)


def logistic(rate: float, settled: int = 2000, kept: int = 64) -> dict[str, Any]:
    """Values that x → rate x (1 − x) takes after settling."""
    x = 0.4
    for _ in range(settled):
        x = rate * x * (1.0 - x)
    orbit = []
    for _ in range(kept):
        x = rate * x * (1.0 - x)
        orbit.append(x)
    return {
        "orbit": sorted({round(value, 9) for value in orbit}),
        "period": len({round(v, 6) for v in orbit}),
    }


def power(x: float, y: float) -> dict[str, Any]:
    return {"value": x**3 / y**0.5}
