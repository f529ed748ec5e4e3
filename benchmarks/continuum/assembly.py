"""Force and stiffness of a block at large strains, klapper beside other programs and beside its own factorisation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.continuum.programs import (
    PEERS,
    Found,
    asked,
    difference,
    klapper,
    klapper_with_pardiso,
    peers,
    unknowns,
    up_to,
)
from benchmarks.measure import growth_exponent
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration, ratio, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {2: (22, 70, 223, 386), 3: (6, 14, 20, 31, 45)}
QUICK = {2: (5, 10), 3: (2, 3)}
LARGEST = {("felupe", 3): 110_000, ("scikit-fem", 3): 11_000}  # unknowns, for the sake of memory and time
LARGEST_FACTOR = {
    (2, "SuperLU"): 310_000,
    (3, "SuperLU"): 30_000,
    (2, "PARDISO"): 310_000,
    (3, "PARDISO"): 110_000,
}
FROM = 10_000  # unknowns from which on assembly must not take longer than the factorisation
ELEMENTS = {2: "quad4, plane strain", 3: "hex8"}

Measured = dict[tuple[str, int, int], Found]


def section(*, quick: bool, peers_python: str, largest: int) -> Section:
    sizes = up_to(largest, QUICK if quick else SIZES)
    found = measure(sizes, peers_python)
    return Section(
        words(found, sizes),
        partial(draw, found=found, sizes=sizes),
        "Time of assembly and factorisation",
        (9.6, 4.2),
    )


def measure(sizes: dict[int, tuple[int, ...]], peers_python: str) -> Measured:
    """Answers by program or solver, dimension and n."""
    found: Measured = {}
    for d, each in sizes.items():
        for n in each:
            count = unknowns(d, n)
            many = 5 if count < 20_000 else 2
            ours = found["klapper", d, n] = Found(klapper().ask("assemble", dimension=d, n=n, repeats=many))
            assert ours.answer is not None
            for side in peers(peers_python):
                if count <= LARGEST.get((side.name, d), count):
                    took = asked(
                        side, "assemble", timeout=900.0, dimension=d, n=n, repeats=1 if many == 2 else 3
                    )
                    found[side.name, d, n] = took
                    for key in ("force", "along"):
                        difference(took, ours.answer, key)
            for name, side in (("SuperLU", klapper()), ("PARDISO", klapper_with_pardiso(peers_python))):
                if count <= LARGEST_FACTOR[d, name]:
                    took = asked(side, "factorise", timeout=900.0, dimension=d, n=n, repeats=1)
                    found[name, d, n] = took
    return found


def words(found: Measured, sizes: dict[int, tuple[int, ...]]) -> str:
    parts = []
    for d in sizes:
        parts.append(
            f"### {ELEMENTS[d]}\n\n{_programs(found, d, sizes[d])}\n\n{_against_factors(found, d, sizes[d])}"
        )
    worst = max(
        difference(answer, _ours(found, d, n), key) or 0.0
        for (name, d, n), answer in found.items()
        if name in PEERS
        for key in ("force", "along")
    )
    failed = sorted(
        {f"{name}: {answer.why}" for (name, *_), answer in found.items() if answer.answer is None}
    )
    text = "\n\n".join(parts)
    text += (
        f"\n\nBetween any program and klapper, forces and products of the stiffness with a smooth vector differ by at "
        f"most {worst:.1e} of their largest entry."
    )
    return text + ("\n\nWithout an answer: " + "; ".join(failed) + "." if failed else "")


def _programs(found: Measured, d: int, sizes: tuple[int, ...]) -> str:
    names = ["klapper", *PEERS]
    versions = {
        name: str(answer.answer["version"])
        for (name, *_), answer in found.items()
        if name in names and answer.answer is not None
    }
    made = Table(
        "",
        ("unknowns", *(f"{name} {versions.get(name, '')}".strip() for name in names), "next best / klapper"),
    )
    for n in sizes:
        times = [found.get((name, d, n), Found(None)).number("seconds") for name in names]
        others = [time for time in times[1:] if time is not None]
        best = min(others) / times[0] if others and times[0] else None
        made.add(f"{unknowns(d, n)}", *(duration(time) for time in times), ratio(best))
    slopes = [_slope(found, name, d, sizes) for name in names]
    made.add("power of the unknowns", *slopes, "")
    made.add("memory per unknown", *(_memory(found, name, d, sizes) for name in names), "")
    return body(made)


def _against_factors(found: Measured, d: int, sizes: tuple[int, ...]) -> str:
    made = Table(
        "",
        ("unknowns", "force alone", "force and stiffness", "the same between two configurations", "on all cores, clock",
         "SuperLU", "PARDISO, first", "PARDISO, again", "assembly / fastest factor", "target"),
    )  # fmt: skip
    for n in sizes:
        ours = found["klapper", d, n]
        lu, pardiso = (found.get((name, d, n), Found(None)) for name in ("SuperLU", "PARDISO"))
        factors = [t for t in (lu.number("seconds"), pardiso.number("seconds")) if t is not None]
        share = (ours.number("seconds") or 0.0) / min(factors) if factors else None
        wanted = f"≤ 1: {verdict(share, 1.0)}" if unknowns(d, n) >= FROM else "none below 10⁴"
        made.add(
            f"{unknowns(d, n)}",
            *(duration(ours.number(key)) for key in ("force_alone", "seconds", "between", "clock")),
            duration(lu.number("seconds")), duration(pardiso.number("first")), duration(pardiso.number("seconds")),
            ratio(share), wanted,
        )  # fmt: skip
    return body(made)


def _ours(found: Measured, d: int, n: int) -> dict[str, np.ndarray]:
    answer = found["klapper", d, n].answer
    assert answer is not None
    return answer


def _measured(
    found: Measured, name: str, d: int, sizes: tuple[int, ...], key: str
) -> tuple[np.ndarray, np.ndarray]:
    """Unknowns and amounts where there are any."""
    pairs = [(unknowns(d, n), found[name, d, n].number(key)) for n in sizes if (name, d, n) in found]
    known = [(count, amount) for count, amount in pairs if amount is not None]
    return np.array([c for c, _ in known], dtype=float), np.array([a for _, a in known], dtype=float)


def _slope(found: Measured, name: str, d: int, sizes: tuple[int, ...]) -> str:
    counts, seconds = _measured(found, name, d, sizes, "seconds")
    return f"{growth_exponent(counts[1:], seconds[1:]):.2f}" if len(counts) > 2 else "–"


def _memory(found: Measured, name: str, d: int, sizes: tuple[int, ...]) -> str:
    """From the two largest sizes, so that what a program needs anyway does not count."""
    counts, peaks = _measured(found, name, d, sizes, "peak")
    if len(counts) < 2:
        return "–"
    return f"{(peaks[-1] - peaks[-2]) / (counts[-1] - counts[-2]) / 1e3:.1f} kB"


def draw(figure: Figure, *, found: Measured, sizes: dict[int, tuple[int, ...]]) -> None:
    """Seconds over unknowns: programs with marks, factorisations dashed."""
    for axes, d in zip(figure.subplots(1, 2), sizes, strict=True):
        for name, mark in zip(("klapper", *PEERS), "osD^v", strict=True):
            counts, seconds = _measured(found, name, d, sizes[d], "seconds")
            if len(counts):
                axes.loglog(
                    counts, seconds, mark + "-", label=name, lw=2.2 if name == "klapper" else 1.2, ms=5
                )
        for name, colour in (("SuperLU", "0.3"), ("PARDISO", "0.6")):
            counts, seconds = _measured(found, name, d, sizes[d], "seconds")
            if len(counts):
                axes.loglog(counts, seconds, "--", color=colour, label=f"factorisation, {name}")
        axes.set(xlabel="unknowns", ylabel="time on one processor / s", title=ELEMENTS[d])
        axes.grid(True, alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
