"""Hertz contact of two cylinders: pressure against the half ellipse, klapper beside GetFEM on the same meshes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.contact import models
from benchmarks.contact.programs import Found, asked, getfem, klapper
from benchmarks.page import Section, body
from benchmarks.tables import Table, duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.gallery.hertz import Cylinders

ELEMENTS, QUICK = (4, 8, 16), (2,)  # cells along the half width
INTERFACES = {"nts": "node-to-segment", "mortar": "mortar", "mortar-dual": "mortar, dual"}
POINTS = (2, 5)
REACH = 2e-3  # m, release distance of GetFEM
EQUAL = 1.6  # half widths over which the error is taken

Measured = dict[tuple[str, str, int], Found]


@dataclass(frozen=True)
class Judged:
    """``place`` (k,) [m] from the axis, ``pressure`` (k,) [N/m²], and Hertz's half width [m] and largest pressure."""

    place: np.ndarray
    pressure: np.ndarray
    half_width: float
    largest: float

    @classmethod
    def of(cls, model: Cylinders, answer: dict[str, np.ndarray]) -> Judged:
        """The load that the deformed upper body carries decides on the half ellipse."""
        world, search = model.world, models.search_of(model.world)
        q = models.position(world, answer)
        inner = -world.force(1.0, q, np.zeros_like(q)).reshape(-1, 2)
        load = 2.0 * float(inner[search.surface.nodes, 1].sum())
        half_width = float(np.sqrt(4.0 * abs(load) / (np.pi * model.modulus * model.curvature)))
        place = q.reshape(-1, 2)[search.surface.nodes, 0]
        order = np.argsort(place)
        largest = 2.0 * abs(load) / (np.pi * half_width)
        return cls(place[order], answer["pressure"][order], half_width, largest)

    def exact(self, x: np.ndarray) -> np.ndarray:
        return self.largest * np.sqrt(np.maximum(1.0 - (x / self.half_width) ** 2, 0.0))

    @property
    def error(self) -> float:
        """Root mean square of the error of the pressure over that of the pressure."""
        x = np.linspace(0.0, EQUAL * self.half_width, 4000)
        found, exact = np.interp(x, self.place, self.pressure), self.exact(x)
        return float(np.sqrt(np.mean((found - exact) ** 2) / np.mean(exact**2)))


def section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
    found: Measured = {}
    for elements in QUICK if quick else ELEMENTS:
        for kind, name in INTERFACES.items():
            took = asked(klapper(), "hertz", timeout=600.0, interface=kind, elements=elements)
            found["klapper", name, elements] = took
        request = models.arrays(models.cylinders("mortar", elements).world)
        request |= models.lame(models.HERTZ_YOUNG, models.HERTZ_POISSON)
        request |= {"reach": REACH, "augmentation": models.HERTZ_YOUNG / models.HERTZ_RADIUS}
        for points in POINTS:
            took = asked(getfem(getfem_python), "equilibrium", timeout=300.0, points=points, **request)
            found["GetFEM", f"rays, {points} Gauss points", elements] = took
    return Section(words(found), partial(draw, found=found), "Pressure under two cylinders", (9.6, 4.0))


def words(found: Measured) -> str:
    made = Table(
        "",
        ("cells along a", "unknowns", "program", "contact", "error of pressure", "largest pressure / p₀", "rounds",
         "solve", "per round"),
    )  # fmt: skip
    for (program, how, elements), took in found.items():
        model = models.cylinders("mortar", elements)
        head = (f"{elements}", f"{model.world.size}")
        if took.answer is None:
            made.add(*head, program, how, f"no answer: {took.why}", *["–"] * 4)
            continue
        judged = Judged.of(model, took.answer)
        seconds, rounds = float(took.answer["seconds"]), int(took.answer["rounds"])
        made.add(
            *head, f"{program} {took.answer['version']}", how, f"{100.0 * judged.error:.2f} %",
            f"{judged.pressure.max() / judged.largest:.3f}", f"{rounds}", duration(seconds),
            duration(seconds / rounds),
        )  # fmt: skip
    return body(made)


def draw(figure: Figure, *, found: Measured) -> None:
    """Left, pressure over the distance from the axis on the finest mesh that all have; right, error over time."""
    left, right = figure.subplots(1, 2)
    finest = sorted({elements for *_, elements in found})
    shown = finest[min(1, len(finest) - 1)]
    for name, mark in zip(dict.fromkeys((p, h) for p, h, _ in found), "osD^v", strict=False):
        label = f"{name[0]}: {name[1]}"
        known = [(e, took) for (p, h, e), took in found.items() if (p, h) == name and took.answer is not None]
        judged = {e: Judged.of(models.cylinders("mortar", e), took.answer) for e, took in known}  # type: ignore[arg-type]
        if shown in judged:
            here = judged[shown]
            near = here.place < EQUAL * here.half_width
            left.plot(
                here.place[near] / here.half_width, here.pressure[near] / here.largest, mark + "-", ms=4, lw=0.8,
                label=label,
            )  # fmt: skip
        right.loglog(
            [took.number("seconds") for _, took in known], [judged[e].error for e, _ in known], mark + "-",
            ms=5, label=label,
        )  # fmt: skip
    x = np.linspace(0.0, 1.0, 400)
    left.plot(x, np.sqrt(1.0 - x**2), "k--", lw=1.0, label="Hertz")
    left.set(xlabel="distance from the axis x/a", ylabel="pressure p/p₀", title=f"{shown} cells along a")
    right.set(xlabel="time of the solution on one processor / s", ylabel="error of the pressure")
    for axes in (left, right):
        axes.grid(True, alpha=0.3)
    left.legend(frameon=False, fontsize=8)
