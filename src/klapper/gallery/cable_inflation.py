"""Inflated ring: the tension of a cable under pressure is the pressure times the radius.

A closed cable, a balloon in the plane, is inflated by a pressure that stays normal to it. At every pressure it is a
circle of radius λ R with

    EA ½ (λ² − 1) λ = N = p λ R,   so that   λ = √(1 + 2 (p R − N₀)/EA)

with a pretension N₀. Straight lines with their corners on that circle bear N = p r cos(π/n): with more of them the
error falls with the square of their length. The cable has no stiffness against bending; only its tension and the
following pressure hold its shape, which is found from a start that is far from round.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis import LoadPath
    from klapper.continuum import Cable, Continuum

SLACK = 0.3  # how far the ring is pushed out of round at the start of the calculation, over its radius


@dataclass(frozen=True)
class Balloon:
    """A ring of cable and the pressure in it."""

    radius: float
    stiffness: float
    pretension: float
    pressure: float
    cells: int

    @cached_property
    def cable(self) -> "Cable":
        from klapper.continuum import Cable, circle

        return Cable(
            "ring",
            circle(self.radius, self.cells),
            young=self.stiffness,
            area=1.0,
            density=1.0,
            pretension=self.pretension,
        )

    @cached_property
    def world(self) -> "Continuum":
        """Inflated from inside; three supports hold the ring in its place and carry nothing."""
        from klapper.continuum import Continuum, Pressure, Support

        supports = [Support("ring", [0, self.cells // 2], [1]), Support("ring", [self.cells // 4], [0])]
        loads = [Pressure("ring", "inner", self.pressure)]
        return Continuum([self.cable], loads=loads, supports=supports, position={"ring": self.guess})

    @property
    def guess(self) -> np.ndarray:
        """A shape (n, 2) [m] out of round, from which the first state is found."""
        x, y = self.cable.mesh.nodes.T
        return 1.05 * np.column_stack([(1.0 + SLACK) * x, y])

    def stretch(self, pressure: np.ndarray, corner: float = 1.0) -> np.ndarray:
        """λ of a circle, or of a polygon with ``corner`` = cos(π/n)."""
        load = pressure * self.radius * corner - self.pretension
        return np.sqrt(1.0 + 2.0 * load / self.stiffness)

    def inflated(self, steps: int) -> "Inflated":
        from klapper.analysis import load_path

        wanted = np.arange(1, steps + 1) / steps
        path = load_path(self.world, np.concatenate([self._first_steps(wanted[0]), wanted]))
        return Inflated(self, path, np.flatnonzero(np.isin(path.factors, wanted)))

    def _first_steps(self, until: float) -> np.ndarray:
        """Factors of the pressure below ``until``, each with twice the size of the one before: a ring that is blown up
        to many times its size at once may fall into a point, where it is at rest as well."""
        tension = self.pretension + self.stiffness * 4.0 ** np.arange(40)
        factors = tension / (self.pressure * self.radius * np.cos(np.pi / self.cells))
        return factors[factors < until]


@dataclass(frozen=True, eq=False)
class Inflated:
    """The states ``which`` of a path at equal steps of the pressure."""

    balloon: Balloon
    path: "LoadPath"
    which: np.ndarray

    @property
    def pressures(self) -> np.ndarray:
        return self.balloon.pressure * self.path.factors[self.which]

    @cached_property
    def shapes(self) -> np.ndarray:
        """(k, n, 2) [m]."""
        return self.path.positions[self.which].reshape(len(self.which), -1, 2)

    @cached_property
    def radii(self) -> np.ndarray:
        """(k, n) [m] of the corners."""
        return np.linalg.norm(self.shapes, axis=2)

    @cached_property
    def tensions(self) -> np.ndarray:
        """(k, e) [N]."""
        return np.array([self.balloon.cable.tension(shape) for shape in self.shapes])


@example("cable-inflation", source="Hesch (2007), A.1 without contact; closed form of the inflated ring")
def cable_inflation(
    *,
    pressure: Annotated[float, Parameter("pressure at the end", unit="N/m²", above=0.0)] = 100.0,
    radius: Annotated[float, Parameter("radius of the ring without tension", unit="m", above=0.0)] = 1.0,
    young: Annotated[float, Parameter("Young's modulus of the cable", unit="N/m²", above=0.0)] = 200000.0,
    area: Annotated[
        float, Parameter("cross-section per metre across the plane", unit="m²", above=0.0)
    ] = 4e-4,
    pretension: Annotated[float, Parameter("tension before inflation", unit="N", at_least=0.0)] = 0.0,
    lines: Annotated[int, Parameter("straight lines of the ring", at_least=8, multiple_of=4)] = 48,
    steps: Annotated[int, Parameter("steps of the pressure", at_least=2)] = 10,
) -> Outcome:
    if pressure * radius / steps * np.cos(np.pi / (lines // 2)) <= pretension:
        raise ParameterError(
            f"pretension must be below {pressure * radius / steps:.4g} N, the tension of the first pressure, not "
            f"{pretension:g}."
        )
    balloons = [
        Balloon(radius, young * area, pretension, pressure, n) for n in (lines // 2, lines, 2 * lines)
    ]
    coarse, run, fine = (balloon.inflated(steps) for balloon in balloons)
    exact = balloons[1].stretch(run.pressures) * radius
    return Outcome(
        numbers={
            "radius": run.radii[-1].mean(),
            "exact_radius": exact[-1],
            "tension": run.tensions[-1].mean(),
            "exact_tension": pressure * exact[-1],
            "stretch": run.radii[-1].mean() / radius,
            "radius_error": abs(run.radii[-1].mean() / exact[-1] - 1.0),
            "load_steps": len(run.path.states),
        },
        units={
            "radius": "m",
            "exact_radius": "m",
            "tension": "N",
            "exact_tension": "N",
            "radius_error": "of the exact radius",
            "load_steps": "of Newton's method, with those that were cut",
        },
        checks=_checks(coarse, run, fine),
        audit={
            "method": "load stepping, Newton's method with the exact tangent of the following pressure",
            "largest residual": run.path.residuals.max(),
            "uniqueness": "not examined; the round shape is found from one that is far from round",
        },
        figures={
            "radius": partial(_draw_radius, run=run),
            "shapes": partial(_draw_shapes, run=run),
        },
    )


def _checks(coarse: Inflated, run: Inflated, fine: Inflated) -> list[Check]:
    balloon = run.balloon
    corner = np.cos(np.pi / balloon.cells)
    polygon = balloon.radius * balloon.stretch(run.pressures, corner)
    held = np.abs(run.path.constraint_forces).max() / run.tensions.max()
    errors = []
    for each in (coarse, run, fine):
        circle = each.balloon.radius * each.balloon.stretch(each.pressures[-1:])
        errors.append(
            [
                abs(each.radii[-1].mean() - circle[0]),
                abs(each.tensions[-1].mean() - each.pressures[-1] * circle[0]),
            ]
        )
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    return [
        Check(
            "radius of all corners at all pressures, over that of the exact polygon",
            value=np.abs(run.radii / polygon[:, None] - 1.0).max(),
            expected=0.0,
            tolerance=1e-8,
            source="closed form of a polygon, λ = √(1 + 2 (p R cos(π/n) − N₀)/EA)",
        ),
        Check(
            "tension over p r cos(π/n)",
            value=np.abs(run.tensions / (run.pressures[:, None] * run.radii * corner) - 1.0).max(),
            expected=0.0,
            tolerance=1e-8,
            source="balance of a corner, 2 N sin(π/n) = p l cos(π/n)",
        ),
        Check(
            "order of the radius and of the tension over the number of lines",
            value=orders.ravel(),
            expected=2.0,
            tolerance=0.1,
            source="closed form of the circle: tension p r",
        ),
        Check(
            "forces of the supports over the tension",
            value=held,
            expected=0.0,
            tolerance=1e-8,
            source="pressure in a closed line has no resultant",
        ),
    ]


def _draw_radius(figure: "Figure", *, run: Inflated) -> None:
    """Radius and tension over the pressure: straight lines of cable, the closed form, and small strains."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    figure.set_size_inches(8.4, 3.8)
    left, right = figure.subplots(1, 2)
    balloon = run.balloon
    start = balloon.pretension / balloon.radius
    pressures = np.linspace(start, run.pressures[-1], 200)
    exact = balloon.radius * balloon.stretch(pressures)
    linear = balloon.radius * (1.0 + (pressures * balloon.radius - balloon.pretension) / balloon.stiffness)
    left.plot(pressures, linear, ":", color=DARK, label="small strains")
    left.plot(pressures, exact, color=BLUE, label="closed form")
    left.plot(run.pressures, run.radii.mean(axis=1), "o", color=ORANGE, label=f"{balloon.cells} lines")
    left.set(xlabel="pressure / (N/m²)", ylabel="radius / m")
    left.legend()
    right.plot(pressures, pressures * exact, color=BLUE, label="pressure × radius")
    right.plot(run.pressures, run.tensions.mean(axis=1), "o", color=ORANGE, label="tension of the lines")
    right.set(xlabel="pressure / (N/m²)", ylabel="tension / N")
    right.legend()


def _draw_shapes(figure: "Figure", *, run: Inflated) -> None:
    """The ring without tension (grey), the shape with which the calculation begins (dashed), and the inflated ring."""
    from klapper.gallery._sketch import DARK, GREY

    figure.set_size_inches(6.0, 5.2)
    axes = figure.subplots()
    nodes = run.balloon.cable.mesh.nodes
    axes.fill(*nodes.T, facecolor="#EEEEEE", edgecolor=GREY, linewidth=1.2)
    guess = run.balloon.guess
    axes.plot(*np.vstack([guess, guess[:1]]).T, "--", color=DARK, linewidth=0.9)
    import matplotlib as mpl

    colours = mpl.colormaps["viridis"](np.linspace(0.1, 0.9, len(run.shapes)))
    for shape, colour in zip(run.shapes, colours, strict=True):
        axes.plot(
            *np.vstack([shape, shape[:1]]).T, "-", marker=".", markersize=3, color=colour, linewidth=1.1
        )
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")
    scale = mpl.colors.Normalize(0.0, run.pressures[-1])
    picture = mpl.cm.ScalarMappable(scale, mpl.colors.ListedColormap(colours))
    figure.colorbar(picture, ax=axes, label="pressure / (N/m²)")
