"""Contact patch test: how far stresses are from the uniform one, klapper beside GetFEM."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.contact import models
from benchmarks.contact.programs import Found, asked, getfem, klapper
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration
from klapper.continuum import Solid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.gallery.patch_test import Patch

CELLS, QUICK = ((39, 20), (40, 20)), ((3, 2), (4, 2))  # upper and lower block
INTERFACES = {"nts": "node-to-segment", "mortar": "mortar", "mortar-dual": "mortar, dual"}
POINTS = (2, 5)  # on each secondary facet
REACH = 0.3  # m, release distance of GetFEM

Measured = dict[tuple[str, str], Found]


def section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
    upper, lower = QUICK if quick else CELLS
    model = models.patch("mortar", upper, lower)
    found: Measured = {
        ("klapper", name): asked(klapper(), "patch", timeout=300.0, interface=kind, upper=upper, lower=lower)
        for kind, name in INTERFACES.items()
    }
    request = models.arrays(model.world) | models.lame(models.PATCH_YOUNG, models.PATCH_POISSON)
    request |= {"reach": REACH, "augmentation": models.PATCH_YOUNG}
    for points in POINTS:
        took = asked(getfem(getfem_python), "equilibrium", timeout=300.0, points=points, **request)
        found["GetFEM", f"rays, {points} Gauss points"] = took
    return Section(
        words(found, model),
        partial(draw, found=found, model=model),
        "Contact pressure along the interface",
        (9.6, 3.8),
    )


def deviation(model: Patch, answer: dict[str, np.ndarray]) -> float:
    """Largest difference of a stress at a quadrature point from the uniform one, in units of the latter."""
    q, wanted = models.position(model.world, answer), np.diag(model.uniform.stress)
    stresses = [
        solid.cauchy_stress(model.world.positions(q, solid.name))
        for solid in model.world.bodies
        if isinstance(solid, Solid)
    ]
    return float(max(np.abs(found - wanted).max() for found in stresses) / np.abs(wanted).max())


def words(found: Measured, model: Patch) -> str:
    made = Table("", ("program", "contact", "deviation of stress", "rounds", "solve", "per round"))
    for (program, how), took in found.items():
        if took.answer is None:
            made.add(program, how, f"no answer: {took.why}", "–", "–", "–")
            continue
        seconds, rounds = float(took.answer["seconds"]), int(took.answer["rounds"])
        made.add(
            f"{program} {took.answer['version']}", how, f"{deviation(model, took.answer):.1e}", f"{rounds}",
            duration(seconds), duration(seconds / rounds),
        )  # fmt: skip
    return body(made) + f"\nUnknowns of the bodies: {model.world.size}."


def draw(figure: Figure, *, found: Measured, model: Patch) -> None:
    """Difference of the pressure at secondary nodes from the uniform one."""
    exact = -float(model.uniform.stress[1])
    axes = figure.subplots()
    nodes = np.unique(model.meshes[1].surface("bottom"))
    x = model.meshes[1].nodes[nodes, 0]
    for ((program, how), took), mark in zip(found.items(), "osD^v", strict=False):
        if took.answer is not None:
            wrong = np.maximum(np.abs(took.answer["pressure"] / exact - 1.0), 1e-16)
            axes.semilogy(x, wrong, mark + "-", ms=4, lw=0.8, label=f"{program}: {how}")
    axes.set(xlabel="along the interface / m", ylabel="|p/p uniform − 1|", ylim=(1e-16, 10.0))
    axes.grid(True, alpha=0.3)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="center")
