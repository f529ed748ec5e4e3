"""One step of the midpoint rule of a spinning block, klapper beside other programs: time, rounds and agreement."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.continuum.programs import (
    Found,
    asked,
    difference,
    klapper,
    klapper_with_pardiso,
    peers,
    unknowns,
    up_to,
)
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {2: (22, 70, 223), 3: (6, 14, 20, 31)}
QUICK = {2: (5,), 3: (2,)}
LARGEST = {  # unknowns in space: factors of SuperLU fill in too much beyond
    "klapper, pypardiso": 9_999,  # iterates from 10⁴ on, as without
    "felupe": 11_000,
    "scikit-fem": 11_000,
}
SOLVERS = {
    "klapper": "SuperLU, order of A + Aᵀ",
    "klapper, pypardiso": "PARDISO",
    "NGSolve": "its sparse Cholesky",
    "felupe": "scipy's spsolve",
    "scikit-fem": "scipy's spsolve",
}

ITERATES = 10_000  # unknowns in space from which on klapper solves by iteration

Measured = dict[tuple[str, int, int], Found]


def section(*, quick: bool, peers_python: str, largest: int) -> Section:
    sizes = up_to(largest, QUICK if quick else SIZES)
    found = measure(sizes, peers_python)
    return Section(words(found), partial(draw, found=found), "Time per step against the unknowns", (9.6, 4.2))


def measure(sizes: dict[int, tuple[int, ...]], peers_python: str) -> Measured:
    """Answers by program, dimension and n; the first that answers is what others are compared with."""
    found: Measured = {}
    others = [side for side in peers(peers_python) if side.name in SOLVERS]
    for d, each in sizes.items():
        for n in each:
            for side in (klapper_with_pardiso(peers_python), klapper(), *others):
                if d == 2 or unknowns(d, n) <= LARGEST.get(side.name, unknowns(d, n)):
                    found[side.name, d, n] = asked(side, "step", timeout=900.0, dimension=d, n=n)
    return found


def equations(name: str, d: int, n: int) -> str:
    """How a program solves its linear equations."""
    if name == "klapper" and d == 3 and unknowns(d, n) >= ITERATES:
        return "BiCGSTAB"
    return SOLVERS[name]


def words(found: Measured) -> str:
    made = Table(
        "", ("block", "unknowns", "program", "linear equations", "rounds", "step", "per round", "difference")
    )
    for (name, d, n), took in found.items():
        seconds, rounds = took.number("seconds"), took.number("rounds")
        apart = difference(took, _reference(found, d, n), "change")
        if seconds is None or rounds is None:
            made.add(f"{d}D", f"{unknowns(d, n)}", name, equations(name, d, n), "–", took.why, "–", "–")
            continue
        made.add(
            f"{d}D", f"{unknowns(d, n)}", name, equations(name, d, n), f"{rounds:.0f}", duration(seconds),
            duration(seconds / max(rounds, 1.0)), f"{apart:.1e}",
        )  # fmt: skip
    return body(made)


def _reference(found: Measured, d: int, n: int) -> dict:
    """The first answer of klapper, else of anyone."""
    return next(
        took.answer for (_, dd, nn), took in found.items() if (dd, nn) == (d, n) and took.answer is not None
    )


def draw(figure: Figure, *, found: Measured) -> None:
    """Seconds per step over unknowns."""
    for axes, d in zip(figure.subplots(1, 2), (2, 3), strict=True):
        for name, mark in zip(SOLVERS, "osD^v", strict=True):
            pairs = [
                (unknowns(d, n), took.number("seconds"))
                for (who, dd, n), took in found.items()
                if who == name and dd == d and took.answer is not None
            ]
            if pairs:
                axes.loglog(
                    *zip(*pairs, strict=True),
                    mark + "-",
                    label=f"{name}: {equations(name, d, max(n for _, dd, n in found if dd == d))}",
                    ms=5,
                )
        axes.set(xlabel="unknowns", ylabel="time per step on one processor / s", title=f"{d}D")
        axes.grid(True, alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
