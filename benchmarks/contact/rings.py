"""Collision of two soft rings: drift of energy and momenta, klapper beside GetFEM with the midpoint rule."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.contact import models
from benchmarks.contact.programs import Found, asked, getfem, klapper
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration
from klapper.gallery.ring_collision import DENSITY, POISSON, YOUNG

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNTIL, QUICK = 9.0, 0.3  # s
STEP, FINE = 0.1, 0.02  # s, and the step that GetFEM is given as well
REACH = 20.0  # m, release distance of GetFEM: the thickness of a ring
ROUNDING = 1e-16
AUGMENTATION = 0.1  # N/m³, of GetFEM: that with which it comes farthest with the longer step
CASES = {
    ("nts", "consistent"): "node-to-segment, energy-momentum",
    ("nts", "none"): "node-to-segment, gaps close with loss or gain",
    ("mortar", "consistent"): "mortar, energy-momentum",
}

Measured = dict[tuple[str, str], Found]


def section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
    until = QUICK if quick else UNTIL
    found: Measured = {
        ("klapper", name): asked(
            klapper(), "rings", timeout=600.0, interface=kind, energy=energy, until=until
        )
        for (kind, energy), name in CASES.items()
    }
    request = models.arrays(models.rings("nts")) | models.lame(YOUNG, POISSON)
    request |= {"reach": REACH, "augmentation": AUGMENTATION, "density": DENSITY, "points": 2}
    for step in (STEP, FINE):
        found["GetFEM", f"rays, midpoint rule, step {step:g} s"] = asked(
            getfem(getfem_python), "rings", timeout=300.0, step=step, steps=round(until / step), **request
        )
    return Section(words(found), partial(draw, found=found), "Energy of both rings", (6.4, 3.8))


def histories(answer: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Energy (s,) [J], momentum (s, 2) [kg m/s], angular momentum (s,) [kg m²/s], by klapper's matrices."""
    world = models.rings("nts")
    q, v = answer["position"], answer["velocity"]
    energy = [world.elastic_energy(a) + 0.5 * b @ (world.mass_matrix @ b) for a, b in zip(q, v, strict=True)]
    turning = [world.angular_momentum(a, b)[0] for a, b in zip(q, v, strict=True)]
    return np.array(energy), np.array([world.linear_momentum(b) for b in v]), np.array(turning)


def words(found: Measured) -> str:
    made = Table(
        "",
        ("program", "method", "steps", "energy drift", "angular momentum drift", "rounds per step", "time",
         "per round"),
    )  # fmt: skip
    for (program, how), took in found.items():
        if took.answer is None:
            made.add(program, how, f"no answer: {took.why}", *["–"] * 5)
            continue
        energy, _, turning = histories(took.answer)
        seconds, rounds, steps = (float(took.answer[key]) for key in ("seconds", "rounds", "steps"))
        made.add(
            f"{program} {took.answer['version']}", how, f"{steps:.0f}", _drift(energy), _drift(turning),
            f"{rounds / steps:.1f}", duration(seconds), duration(seconds / max(rounds, 1.0)),
        )  # fmt: skip
    return body(made)


def _drift(history: np.ndarray) -> str:
    return f"{np.abs(history - history[0]).max() / np.abs(history[0]):.1e}"


def draw(figure: Figure, *, found: Measured) -> None:
    """Change of the energy over time, in units of that at the start; what is below rounding is drawn there."""
    axes = figure.subplots()
    for ((program, how), took), line in zip(found.items(), ("-", "--", ":", "-.", "-"), strict=False):
        if took.answer is not None:
            energy = histories(took.answer)[0]
            t = float(took.answer["step"]) * np.arange(len(energy))
            change = np.maximum(np.abs(energy / energy[0] - 1.0), ROUNDING)
            axes.semilogy(t, change, line, lw=1.2, label=f"{program}: {how}")
    axes.set(xlabel="time / s", ylabel="|change of energy|, relative", ylim=(0.3 * ROUNDING, 1e2))
    axes.grid(True, alpha=0.3)
    axes.legend(frameon=False, fontsize=8, loc="center")
