"""Energy-momentum steps of a block, free and held, far beyond the limit of explicit schemes: klapper alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.continuum.programs import Found, asked, klapper, klapper_with_pardiso, unknowns, up_to
from benchmarks.continuum.step import ITERATES
from benchmarks.measure import growth_exponent
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {2: (70, 128, 223), 3: (14, 20, 31)}
QUICK = {2: (5,), 3: (2,)}
TIMES = (2.0, 20.0)  # steps in units of the explicit limit

Case = tuple[str, int, int, float, bool]  # program, dimension, n, step over the explicit limit, held
Measured = dict[Case, Found]


def section(*, quick: bool, peers_python: str, largest: int) -> Section:
    sizes = up_to(largest, QUICK if quick else SIZES)
    found = measure(sizes, peers_python)
    return Section(
        words(found),
        partial(draw, found=found),
        "Time of an energy-momentum step against the unknowns",
        (9.6, 4.2),
    )


def measure(sizes: dict[int, tuple[int, ...]], peers_python: str) -> Measured:
    """Answers by case; PARDISO where it takes part."""
    found: Measured = {}
    for d, each in sizes.items():
        for n in each:
            limit = float(klapper().ask("limit", dimension=d, n=n)["limit"])
            for times in TIMES:
                for held in (False, True):
                    for side in sides(d, n, peers_python):
                        took = asked(
                            side, "step", timeout=1800.0, dimension=d, n=n, step_size=times * limit,
                            forces="discrete", support=held,
                        )  # fmt: skip
                        found[side.name, d, n, times, held] = took
    return found


def sides(d: int, n: int, peers_python: str) -> list:
    """klapper with SuperLU and with PARDISO, where factors are taken at all."""
    if d == 3 and unknowns(d, n) >= ITERATES:
        return [klapper()]
    return [klapper(), klapper_with_pardiso(peers_python)]


def equations(name: str, d: int, n: int) -> str:
    if d == 3 and unknowns(d, n) >= ITERATES:
        return "BiCGSTAB"
    return "PARDISO" if name == "klapper, pypardiso" else "SuperLU"


def words(found: Measured) -> str:
    made = Table(
        "",
        ("block", "unknowns", "held", "step / explicit limit", "linear equations", "rounds", "step", "per round",
         "memory of the step per unknown", "change of energy"),
    )  # fmt: skip
    for (name, d, n, times, held), took in found.items():
        seconds, rounds = took.number("seconds"), took.number("rounds")
        start = (
            f"{d}D",
            f"{unknowns(d, n)}",
            "left side" if held else "–",
            f"{times:g}",
            equations(name, d, n),
        )
        if seconds is None or rounds is None:
            made.add(*start, "–", took.why, "–", "–", "–")
            continue
        made.add(
            *start, f"{rounds:.0f}", duration(seconds), duration(seconds / max(rounds, 1.0)),
            f"{(took.number('grown') or 0.0) / unknowns(d, n) / 1e3:.1f} kB", f"{took.number('energy') or 0.0:.1e}",
        )  # fmt: skip
    return body(made) + "\n" + _powers(found)


def _powers(found: Measured) -> str:
    """How time and memory grow, for every kind of step that was measured at three sizes or more."""
    told = []
    kinds = dict.fromkeys((name, d, times, held) for name, d, _, times, held in found)
    for name, d, times, held in kinds:
        cases = [
            (unknowns(d, n), took.number("seconds"), took.number("peak"), equations(name, d, n))
            for (who, dd, n, t, h), took in found.items()
            if (who, dd, t, h) == (name, d, times, held) and took.answer is not None
        ]
        if len(cases) < 3 or held:
            continue
        counts, seconds, peaks = (
            np.array(column, dtype=float) for column in zip(*(case[:3] for case in cases), strict=True)
        )
        memory = (peaks[-1] - peaks[0]) / (counts[-1] - counts[0]) / 1e3
        told.append(
            f"{d}D, {cases[-1][3]}, {times:g} times the limit: time grows with the power "
            f"{growth_exponent(counts, seconds):.2f} of the unknowns, the largest memory by {memory:.1f} kB for each"
        )
    return "Free blocks: " + "; ".join(told) + "." if told else ""


def draw(figure: Figure, *, found: Measured) -> None:
    """Seconds per step of free blocks over unknowns."""
    for axes, d in zip(figure.subplots(1, 2), (2, 3), strict=True):
        for name in ("klapper", "klapper, pypardiso"):
            for times, style in zip(TIMES, ("o-", "s--"), strict=True):
                pairs = [
                    (unknowns(d, n), took.number("seconds"), equations(name, d, n))
                    for (who, dd, n, t, held), took in found.items()
                    if (who, dd, t, held) == (name, d, times, False) and took.answer is not None
                ]
                if pairs:
                    counts, seconds, how = zip(*pairs, strict=True)
                    axes.loglog(counts, seconds, style, label=f"{how[-1]}, {times:g} × explicit limit", ms=5)
        axes.set(xlabel="unknowns", ylabel="time per step on one processor / s", title=f"{d}D")
        axes.grid(True, alpha=0.3)
        if axes.lines:
            axes.legend(frameon=False, fontsize=8)
