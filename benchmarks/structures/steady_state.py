"""Example 5.14 with 16 modes from rest to its steady state: compiled loop, general path, Siconos."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.page import Section, body
from benchmarks.sides import Answer, Side, SideFailed
from benchmarks.structures.clattering_rotor import STEPS_PER_TURN, ClatteringRotor, shipped
from benchmarks.structures.side import ask
from benchmarks.tables import Table, duration, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FASTER_THAN_GENERAL, FASTER_THAN_SICONOS = 20.0, 5.0  # targets
SHOWN_TURNS = 2


@dataclass(frozen=True, eq=False)
class Settling:
    """What both programs answered; ``siconos`` is None where it is not found, for the ``reason`` given."""

    rotor: ClatteringRotor
    steps: int
    klapper: Answer
    siconos: Answer | None
    reason: str = ""

    @property
    def per_step(self) -> dict[str, float]:
        """Seconds on the processor for a step: of the whole motion, and of the last turns by both of our paths."""
        count = int(self.klapper["general_steps"])
        found = {"klapper": float(self.klapper["seconds"]) / self.steps}
        for path in ("compiled", "general"):
            found[path] = float(self.klapper[f"{path}_seconds"]) / count
        if self.siconos is not None:
            found["siconos"] = float(self.siconos["seconds"]) / self.steps
        return found

    @property
    def apart(self) -> np.ndarray:
        """Difference of the gap in the middle between both programs (steps,) [m]."""
        assert self.siconos is not None
        return np.abs(self.klapper["gap"] - self.siconos["gap"])

    @property
    def unrest(self) -> float:
        """Largest change of the gap from the last turn but one to the last, over its range."""
        last = self.klapper["gap"][-2 * STEPS_PER_TURN :].reshape(2, -1)
        return float(np.abs(last[1] - last[0]).max() / np.ptp(last[1]))


def section(*, quick: bool, siconos_python: str) -> Section:
    turns, repeats, general = (12, 1, 1) if quick else (208, 5, 5)
    found = measure(siconos_python, turns=turns, repeats=repeats, general_turns=general)
    return Section(
        words(found),
        partial(draw, found=found),
        "Gap in the middle of the joint by both programs",
        (8.4, 3.6),
    )


def measure(siconos_python: str, *, turns: int, repeats: int, general_turns: int) -> Settling:
    """Both programs from rest over the given number of turns."""
    rotor, steps = shipped(), turns * STEPS_PER_TURN
    request: dict[str, Any] = {**rotor.arrays(), "steps": steps}
    ours = ask("klapper_rotor", **request, repeats=repeats, general_turns=general_turns)
    theirs = Side("Siconos", (siconos_python, "-m", "benchmarks.structures.siconos_rotor"))
    try:
        return Settling(
            rotor, steps, ours, theirs.ask("rotor", timeout=1800.0, **request, repeats=min(repeats, 2))
        )
    except SideFailed as reason:
        return Settling(rotor, steps, ours, None, str(reason))


def table(found: Settling) -> Table:
    made = Table(
        "To the steady state of Example 5.14",
        ("program", "settings", "steps", "time per step", "whole motion", "largest gap at the end / mm"),
    )
    sides = [(f"klapper {found.klapper['version']}", found.klapper)]
    if found.siconos is not None:
        sides.append((f"Siconos {found.siconos['version']}", found.siconos))
    for name, answer in sides:
        seconds = float(answer["seconds"])
        made.add(
            name, str(answer["settings"]), str(found.steps), duration(seconds / found.steps), duration(seconds),
            f"{1e3 * largest_gap(answer):.4f}",
        )  # fmt: skip
    count = str(found.klapper["general_steps"])
    for name in ("compiled", "general"):
        made.add(
            f"klapper, {name} path",
            "the same, last turns only",
            count,
            duration(found.per_step[name]),
            "–",
            "–",
        )
    return made


def targets(found: Settling) -> Table:
    per_step = found.per_step
    made = Table("", ("how many times faster is the compiled loop", "measured", "target", "verdict"))
    rows = [
        ("than the general path, over the same clattering turns", "general", "compiled", FASTER_THAN_GENERAL),
        ("than Siconos, over the whole motion", "siconos", "klapper", FASTER_THAN_SICONOS),
    ]
    for name, slow, fast, target in rows:
        factor = per_step[slow] / per_step[fast] if slow in per_step else None
        shown = "–" if factor is None else f"{factor:.1f}"
        made.add(name, shown, f"≥ {target:g}", verdict(None if factor is None else target / factor, 1.0))
    return made


def words(found: Settling) -> str:
    """Tables and what the comparison says, for the page."""
    ours = found.klapper
    lines = [
        body(table(found)), body(targets(found)),
        f"In the timed last turns {100 * float(ours['touching']):.0f} % of the steps had loaded contacts; compiled and "
        f"general path differ there by at most {float(ours['paths_apart']):.1e} in the coordinates. From the last turn "
        f"but one to the last the gap changes by {found.unrest:.1e} of its range.",
    ]  # fmt: skip
    if found.siconos is None:
        lines.append(f"Siconos is left out: {found.reason}.")
    else:
        first = round(1.0 / found.rotor.step)
        lines.append(
            f"Between klapper and Siconos the gap in the middle differs by at most {found.apart[:first].max():.1e} m "
            f"within the first second and {found.apart[-STEPS_PER_TURN:].max():.1e} m within the last turn."
        )
    return "\n".join(lines)


def largest_gap(answer: Answer) -> float:
    """In the middle, over the last turn [m]."""
    return float(answer["gap"][-STEPS_PER_TURN:].max())


def draw(figure: Figure, *, found: Settling) -> None:
    """The last turns, and how far the programs drift apart over all of them."""
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    shown = slice(-SHOWN_TURNS * STEPS_PER_TURN, None)
    turns = np.arange(1, found.steps + 1) / STEPS_PER_TURN
    left.plot(turns[shown], 1e3 * found.klapper["gap"][shown], label="klapper")
    left.axhline(0.0, color="0.4", linewidth=0.8)
    left.set(xlabel="turns", ylabel="gap in the middle / mm")
    left.set_xticks(np.arange(turns[-1] - SHOWN_TURNS, turns[-1] + 0.25, 0.5))
    if found.siconos is not None:
        left.plot(
            turns[shown][::40], 1e3 * found.siconos["gap"][shown][::40], "o", markersize=3, label="Siconos"
        )
        largest = found.apart.reshape(-1, STEPS_PER_TURN).max(axis=1)
        right.semilogy(np.arange(1, len(largest) + 1), largest, ".-", linewidth=0.8)
        right.set(xlabel="turns", ylabel="largest difference within a turn / m")
        right.grid(True, alpha=0.3)
    else:
        right.set_axis_off()
    left.legend(frameon=False)
