"""What a round of a step with contact is made of, and a whole step, over the number of unknowns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.contact.programs import Found, asked, klapper, klapper_with_pardiso
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration, ratio, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (40, 72, 125, 230)  # cells along the interface: 3·10³ to 10⁵ unknowns
QUICK = (8, 12)
STEP_SIZES = {72: 0.3, 230: 0.0}  # cells along the interface, and up to which friction coefficient
CASES = (("nts", 0.0), ("nts", 0.3), ("mortar", 0.0), ("mortar", 0.3))
NAMES = {"nts": "node-to-segment", "mortar": "mortar"}
CONTACT = ("pairing", "gaps", "curvature")
FROM = 10_000  # unknowns from which on contact must not take longer than the factorisation

Measured = dict[tuple[str, float], Found]


def section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
    found = {
        (kind, friction): asked(
            klapper(),
            "parts",
            timeout=900.0,
            interface=kind,
            sizes=QUICK if quick else SIZES,
            friction=friction,
        )
        for kind, friction in CASES
    }
    return Section(words(found), partial(draw, found=found), "Parts of a round over the unknowns", (9.6, 4.2))


def words(found: Measured) -> str:
    made = Table(
        "",
        ("interface", "μ", "unknowns", "contacts", "search and segments", "gaps and directions", "curvature",
         "contact together", "bulk assembly", "factorisation", "contact / factorisation", "target"),
    )  # fmt: skip
    for (kind, friction), took in found.items():
        for row in rows(took):
            together = sum(row[part] for part in CONTACT)
            share = together / row["factor"]
            wanted = f"≤ 1: {verdict(share, 1.0)}" if row["unknowns"] >= FROM else "none below 10⁴"
            made.add(
                NAMES[kind], f"{friction:g}", f"{row['unknowns']:.0f}", f"{row['contacts']:.0f}",
                *(duration(row[part]) for part in CONTACT), duration(together), duration(row["bulk"]),
                duration(row["factor"]), ratio(share), wanted,
            )  # fmt: skip
    return body(made)


def rows(took: Found) -> list[dict[str, float]]:
    """What was measured, size by size."""
    if took.answer is None:
        raise RuntimeError(f"klapper gave no answer: {took.why}")
    columns = {name: column for name, column in took.answer.items() if name != "version"}
    return [
        dict(zip(columns, map(float, values), strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def draw(figure: Figure, *, found: Measured) -> None:
    """Seconds over unknowns for both interfaces with friction."""
    curves = {
        "search and segments": ("pairing", "o-"),
        "gaps and directions": ("gaps", "s-"),
        "curvature": ("curvature", "^-"),
        "bulk assembly": ("bulk", "D--"),
        "factorisation": ("factor", "k--"),
    }
    for axes, kind in zip(figure.subplots(1, 2, sharey=True), NAMES, strict=True):
        here = rows(found[kind, 0.3])
        for label, (key, line) in curves.items():
            axes.loglog([row["unknowns"] for row in here], [row[key] for row in here], line, label=label)
        axes.set(xlabel="unknowns", title=f"{NAMES[kind]}, μ = 0.3")
        axes.grid(True, alpha=0.3)
    figure.axes[0].set_ylabel("time on one processor / s")
    figure.axes[0].legend(frameon=False, fontsize=8)


def step_section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
    sides = {"SuperLU": klapper(), "PARDISO": klapper_with_pardiso(pardiso_python)}
    found = {
        (kind, friction, solver, n): asked(
            side, "step", timeout=600.0, interface=kind, n=n, friction=friction
        )
        for n, largest in ({QUICK[0]: 0.3} if quick else STEP_SIZES).items()
        for kind, friction in CASES
        for solver, side in sides.items()
        if friction <= largest
    }
    return Section(step_words(found))


def step_words(found: dict[tuple[str, float, str, int], Found]) -> str:
    made = Table("", ("interface", "μ", "unknowns", "linear equations", "rounds", "step", "per round"))
    for (kind, friction, solver, n), took in found.items():
        made.add(NAMES[kind], f"{friction:g}", *_step_cells(took, solver, n))
    return body(made)


def _step_cells(took: Found, solver: str, n: int) -> tuple[str, ...]:
    seconds, rounds, count = (took.number(key) for key in ("seconds", "rounds", "unknowns"))
    if seconds is None or rounds is None or count is None:
        return (f"n = {n}", solver, "–", took.why, "–")
    return (f"{count:.0f}", solver, f"{rounds:.0f}", duration(seconds), duration(seconds / max(rounds, 1.0)))
