"""Hertz contact: the pressure under a cylinder is half an ellipse.

A long elastic cylinder is pressed by P (per length) against a rigid plane, or against a second one with another mesh.
As long as the half width a of the contact is small beside the radius,

    a = √(4 P R*/(π E*)),   p = p₀ √(1 − x²/a²),   p₀ = 2 P/(π a) = E* a/(2 R*)                    Hertz (1882)
    one cylinder   R* = R,    E* = E/(1 − ν²);      two   R* = R/2,   E* = E/(2 (1 − ν²))

whatever the bodies look like far away: of each cylinder half a sector is modelled, with cells that grow away from the
contact. Strains are of the order p₀/E* = a/(2 R*), and so is what linear theory leaves out. Near x = a the pressure
falls like a square root, which linear functions on cells of length h meet to the order h in the mean square. Nodal
forces of a mortar with ordinary multipliers swing there, since each depends on the gaps of its neighbours; those with
dual multipliers and those of single nodes do not.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery._interfaces import InterfaceName
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, Mesh, SurfacePressure
    from klapper.results import Run

CORE, OPENING = 0.5, 0.8  # inner radius over the outer one, and angle of the sector [rad]
GROWTH = 1.25  # of cells away from the contact
FINE = 1.6  # half widths along which cells are equal


@dataclass(frozen=True)
class Cylinders:
    """A cylinder on a plane or on another cylinder; half of it, by symmetry."""

    interface: InterfaceName
    elements: float
    partner: Literal["plane", "cylinder"]
    ratio: float
    radius: float
    young: float
    poisson: float
    steps: int

    @property
    def wanted(self) -> float:
        """Half width [m] that the mesh is made for; the one of the load comes near it."""
        return self.ratio * self.radius

    @property
    def modulus(self) -> float:
        """E* [N/m²]."""
        bodies = 1.0 if self.partner == "plane" else 2.0
        return self.young / (bodies * (1.0 - self.poisson**2))

    @property
    def curvature(self) -> float:
        """1/R* [1/m]."""
        return (1.0 if self.partner == "plane" else 2.0) / self.radius

    @property
    def approach(self) -> float:
        """[m] by which the core comes nearer: Johnson (1985), 5.58, for the depth that is modelled."""
        load = 0.25 * np.pi * self.wanted**2 * self.modulus * self.curvature
        depth = 2.0 * (1.0 - CORE) * self.radius / self.wanted
        shear = 0.5 * self.poisson / (1.0 - self.poisson)
        return 2.0 * load / (np.pi * self.modulus) * (np.log(depth) - shear)

    @cached_property
    def load(self) -> float:
        """P [N/m] on the whole cylinder, measured."""
        return 2.0 * float(self.run.force[-1][:, 0].sum())

    @property
    def half_width(self) -> float:
        """a [m] of this load."""
        return float(np.sqrt(4.0 * self.load / (np.pi * self.modulus * self.curvature)))

    @property
    def largest(self) -> float:
        """p₀ [N/m²]."""
        return 2.0 * self.load / (np.pi * self.half_width)

    def exact(self, x: np.ndarray) -> np.ndarray:
        return self.largest * np.sqrt(np.maximum(1.0 - (x / self.half_width) ** 2, 0.0))

    def sector(self, elements: float, *, up: bool) -> "Mesh":
        """Half a sector above the contact, or below it."""
        from klapper.continuum import block

        h = self.wanted / elements
        along = _graded(h, FINE * self.wanted, OPENING * self.radius) / self.radius
        deep = _graded(h, 0.6 * self.wanted, (1.0 - CORE) * self.radius)
        mesh = block((1.0, 1.0), (len(along) - 1, len(deep) - 1))
        angle = along[np.rint(mesh.nodes[:, 0] * (len(along) - 1)).astype(int)]
        level = np.rint(mesh.nodes[:, 1] * (len(deep) - 1)).astype(int)
        depth = deep[level if up else len(deep) - 1 - level]
        r = self.radius - depth
        height = self.radius - r * np.cos(angle)
        return replace(mesh, nodes=np.column_stack([r * np.sin(angle), height if up else -height]))

    @cached_property
    def world(self) -> "Continuum":
        from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, Support, block
        from klapper.gallery._interfaces import interface_named
        from klapper.mechanics import Ramp

        law = SaintVenantKirchhoff(self.young, self.poisson)
        cylinder = Solid("cylinder", self.sector(self.elements, up=True), law, density=1.0)
        pushed = Ramp((0.0, 0.0), (0.0, -self.approach))
        supports = [Support("cylinder", "left", [0]), Support("cylinder", "top", [1], pushed)]
        if self.partner == "plane":
            width = self.radius * np.sin(OPENING)
            mesh = block((width, 0.2 * width), (7, 1), corner=(0.0, -0.2 * width))
            base = Solid("base", mesh, law, density=1.0)
            supports.append(Support("base", np.arange(len(mesh.nodes))))
        else:
            base = Solid("base", self.sector(0.8 * self.elements, up=False), law, density=1.0)
            supports += [Support("base", "left", [0]), Support("base", "bottom", [1])]
        return Continuum(
            [cylinder, base],
            supports=supports,
            interfaces=[interface_named(self.interface, ("cylinder", "bottom"), ("base", "top"))],
            name="Hertz contact",
        )

    @cached_property
    def run(self) -> "Run":
        from klapper.schemes import QuasiStatic
        from klapper.simulation import simulate

        return simulate(self.world, 1.0, QuasiStatic(1.0 / self.steps))

    @cached_property
    def pressures(self) -> "dict[tuple[str, str], SurfacePressure]":
        """What the nodes of each surface bear; with two passes it is a share."""
        from klapper.continuum import contact_pressure

        return contact_pressure(self.world, self.run.position[-1], self.run.force[-1])

    @property
    def pressure(self) -> "SurfacePressure":
        return self.pressures["cylinder", "bottom"]

    @property
    def error(self) -> float:
        """Root mean square of the error of the pressure over that of the pressure, along the contact."""
        x = np.linspace(0.0, FINE * self.half_width, 4000)
        found = np.interp(x, self.pressure.place[:, 0], self.pressure.pressure)
        exact = self.exact(x)
        return float(np.sqrt(np.mean((found - exact) ** 2) / np.mean(exact**2)))

    @property
    def measured_half_width(self) -> float:
        """2 √(∫ p x² dx/∫ p dx): of half an ellipse it is a."""
        square, whole = (
            sum(_integral(*_rising(each), power) for each in self.pressures.values()) for power in (2, 0)
        )
        return 2.0 * float(np.sqrt(square / whole))

    @property
    def interpolation_error(self) -> float:
        """As ``error``, of the half ellipse at the nodes with straight lines between, wherever in a cell its end lies.

        The square root at the end makes it of order h/a.
        """
        x = np.linspace(0.0, FINE * self.half_width, 4000)
        nodes, exact = self.pressure.place[:, 0], self.exact(x)
        worst = 0.0
        for share in (0.0, 0.25, 0.5, 0.75):
            moved = nodes - share * np.diff(nodes, prepend=nodes[0])
            wrong = np.interp(x, moved, self.exact(moved)) - exact
            worst = max(worst, float(np.sqrt(np.mean(wrong**2) / np.mean(exact**2))))
        return worst


def _rising(found: "SurfacePressure") -> tuple[np.ndarray, np.ndarray]:
    """Places (k,) [m] across the axis, rising, and pressures (k,) [N/m²]."""
    order = np.argsort(found.place[:, 0])
    return found.place[order, 0], found.pressure[order]


def _graded(first: float, equal: float, total: float) -> np.ndarray:
    """Places from 0 to ``total`` [m]: equal steps of ``first`` up to ``equal``, then growing ones."""
    steps = [first] * max(round(equal / first), 1)
    rest, size = total - sum(steps), first
    grown: list[float] = []
    while sum(grown) < rest:
        size *= GROWTH
        grown.append(size)
    scaled = np.array(grown) * rest / sum(grown)
    return np.concatenate([[0.0], np.cumsum(np.concatenate([steps, scaled]))])


def _integral(x: np.ndarray, p: np.ndarray, power: int) -> float:
    """∫ p xᵏ dx of a pressure that is linear between nodes, exactly."""
    points, weights = np.polynomial.legendre.leggauss(3)
    share = 0.5 * (1.0 + points)
    width = np.diff(x)
    at = x[:-1, None] + width[:, None] * share
    value = p[:-1, None] + np.diff(p)[:, None] * share
    return float(np.sum(0.5 * width[:, None] * weights * value * at**power))


@example("hertz", source="Hertz (1882); Johnson, Contact Mechanics (1985)")
def hertz(
    *,
    interface: Annotated[InterfaceName, Parameter("how the bodies touch")] = "mortar-dual",
    elements: Annotated[int, Parameter("cells along the half width of the contact", at_least=4)] = 8,
    partner: Annotated[
        Literal["plane", "cylinder"],
        Parameter("what the cylinder is pressed against: rigid plane or cylinder"),
    ] = "plane",
    ratio: Annotated[
        float, Parameter("half width over radius that the mesh is made for", above=0.0, at_most=0.05)
    ] = 0.01,
    radius: Annotated[float, Parameter("radius of the cylinder", unit="m", above=0.0)] = 0.05,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 210e9,
    poisson: Annotated[float, Parameter("Poisson's ratio", above=0.0, below=0.5)] = 0.3,
    steps: Annotated[int, Parameter("steps of the approach", at_least=1)] = 1,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit

    fine = Cylinders(interface, elements, partner, ratio, radius, young, poisson, steps)
    coarse = replace(fine, elements=elements / 2)
    nonlinear = 0.5 * fine.half_width * fine.curvature
    return Outcome(
        numbers={
            "pressure_error": fine.error,
            "pressure_error_coarse": coarse.error,
            "interpolation_error": fine.interpolation_error,
            "order": float(np.log2(coarse.error / fine.error)),
            "half_width": fine.measured_half_width,
            "exact_half_width": fine.half_width,
            "largest_pressure": fine.pressure.pressure.max(),
            "exact_largest_pressure": fine.largest,
            "load": fine.load,
            "strain": nonlinear,
        },
        units={
            "pressure_error": "root mean square, of the pressure",
            "pressure_error_coarse": "root mean square, of the pressure",
            "interpolation_error": "of the exact pressure at the nodes, of the pressure",
            "half_width": "m",
            "exact_half_width": "m",
            "largest_pressure": "N/m²",
            "exact_largest_pressure": "N/m²",
            "load": "N/m",
            "strain": "p₀/E*, what linear theory leaves out",
        },
        checks=[*_checks(fine, nonlinear), ledger_check(fine.run)],
        audit=run_audit(fine.run),
        figures={
            "pressure": partial(_draw_pressure, runs=[coarse, fine]),
            "stress": partial(_draw_stress, run=fine),
        },
    )


def _checks(model: Cylinders, nonlinear: float) -> list[Check]:
    """Within what interpolation on this mesh leaves; two passes share the pressure in ways that are not unique."""
    mesh = model.interpolation_error
    checks = [
        Check(
            "half width from the second moment of the pressure, over a",
            value=model.measured_half_width / model.half_width,
            expected=1.0,
            tolerance=mesh + nonlinear,
            source="a = √(4 P R*/(π E*)) of the measured load; interpolation, and a/(2 R*) of linear theory",
        )
    ]
    if model.interface == "nts-two-pass":
        return checks
    return [
        Check(
            "error of the pressure",
            value=model.error,
            at_most=2.0 * mesh + nonlinear,  # the best line through the nodes, and as much for the interface
            source="Hertz's half ellipse; twice the interpolation error, and a/(2 R*) of linear theory",
        ),
        *checks,
        Check(
            "largest pressure over p₀",
            value=model.pressure.pressure.max() / model.largest,
            expected=1.0,
            tolerance=mesh + nonlinear,
            source="p₀ = 2 P/(π a) of the measured load; interpolation, and a/(2 R*) of linear theory",
        ),
    ]


def _draw_pressure(figure: "Figure", *, runs: list[Cylinders]) -> None:
    """Contact pressure over the distance from the axis, with half as many cells and with all; dashed the half ellipse
    of the load."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    axes = figure.subplots()
    fine = runs[-1]
    x = np.linspace(0.0, fine.half_width, 400)
    axes.plot(x / fine.half_width, fine.exact(x) / 1e6, "--", color=DARK, label="Hertz")
    for each, colour, mark in zip(runs, (ORANGE, BLUE), ("s", "o"), strict=True):
        here = each.pressure.place[:, 0] < FINE * each.half_width
        axes.plot(
            each.pressure.place[here, 0] / each.half_width,
            each.pressure.pressure[here] / 1e6,
            "-",
            marker=mark,
            markersize=4,
            linewidth=1.0,
            color=colour,
            label=f"{each.elements:g} cells along a",
        )
    axes.set(xlabel="distance from the axis x/a", ylabel="contact pressure / (N/mm²)")
    axes.legend()


def _draw_stress(figure: "Figure", *, run: Cylinders) -> None:
    """The model, and its deformed mesh near the contact, right; colours are the von Mises stress."""
    from klapper.gallery._interfaces import paint_bodies

    figure.set_size_inches(9.2, 4.2)
    left, right = figure.subplots(1, 2)
    q, world, a = run.run.position[-1], run.world, run.half_width
    names = [body.name for body in world.bodies if body.name != "base" or run.partner == "cylinder"]
    for axes in (left, right):
        paint_bodies(figure, axes, world, q, names=names)
    low = -2.5 * a if run.partner == "cylinder" else -0.3 * a
    right.set(xlim=(0.0, 3.0 * a), ylim=(low, 2.5 * a))
    right.ticklabel_format(scilimits=(-2, 2))
