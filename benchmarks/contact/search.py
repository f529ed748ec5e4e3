"""Search for partners alone: how its time grows with the number of segments."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.contact.programs import Found, asked, klapper
from benchmarks.measure import growth_exponent
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
QUICK = (100, 200, 400)
NAMES = {"nts": "node-to-segment", "mortar": "mortar"}

Measured = dict[str, Found]


def section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
    sizes = QUICK if quick else SIZES
    found = {
        kind: asked(klapper(), "search", timeout=600.0, interface=kind, sizes=sizes, repeats=3)
        for kind in NAMES
    }
    return Section(
        words(found, sizes), partial(draw, found=found, sizes=sizes), "Time of the search", (5.6, 4.0)
    )


def words(found: Measured, sizes: tuple[int, ...]) -> str:
    made = Table(
        "", ("segments", *(f"{name}, {what}" for name in NAMES.values() for what in ("time", "pairs")))
    )
    for number, n in enumerate(sizes):
        cells = []
        for took in found.values():
            cells += [duration(_column(took, "seconds")[number]), f"{_column(took, 'pairs')[number]}"]
        made.add(f"{n}", *cells)
    given = np.array(sizes, dtype=float)
    slopes = {kind: growth_exponent(given, _column(took, "seconds")) for kind, took in found.items()}
    expected = growth_exponent(given, given * np.log(given))
    return (
        body(made)
        + f"\nPower of the number of segments, from a fit: node-to-segment {slopes['nts']:.2f}, mortar "
        f"{slopes['mortar']:.2f}; n log n over the same sizes is {expected:.2f}, all pairs would be 2."
    )


def _column(took: Found, name: str) -> np.ndarray:
    if took.answer is None:
        raise RuntimeError(f"klapper gave no answer: {took.why}")
    return took.answer[name]


def draw(figure: Figure, *, found: Measured, sizes: tuple[int, ...]) -> None:
    """Seconds over segments, with n log n and n² through the first point."""
    axes = figure.subplots()
    n = np.array(sizes, dtype=float)
    for kind, mark in zip(NAMES, "os", strict=True):
        axes.loglog(n, _column(found[kind], "seconds"), mark + "-", label=NAMES[kind])
    first = _column(found["nts"], "seconds")[0]
    growth = n * np.log(n)
    axes.loglog(n, first * growth / growth[0], "--", color="0.3", label="n log n")
    axes.loglog(n, first * (n / n[0]) ** 2, ":", color="0.6", label="n²")
    axes.set(xlabel="segments of the surface", ylabel="time on one processor / s")
    axes.set_ylim(top=50.0 * float(_column(found["mortar"], "seconds").max()))
    axes.grid(True, alpha=0.3)
    axes.legend(frameon=False)
