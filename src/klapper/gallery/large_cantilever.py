"""Cantilever at large rotation: solid elements against the elastica, and one that locks.

A cantilever of length L is bent by a dead force P at its end, α = P L²/EI. A thin one is the elastica, with

    K(k) − F(φ, k) = √α,   k sin φ = 1/√2
    x/L = √((4 k² − 2)/α),   y/L = 1 − 2/√α (E(k) − E(φ, k))

A solid beam differs from it by terms of the order (h/L)², because it shears and stretches: without them, by two
thicknesses, what is left is of the fourth order. Quadratic elements get there with few cells. Four-node quadrilaterals
cannot bend without shear, which adds G A l²/12 to the bending stiffness EI if they are l long: until l is a fraction of
the thickness they follow an elastica that is stiffer by 1 + ½ (l/h)², and look converged while they are not.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import sqrt
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis import LoadPath
    from klapper.continuum import Continuum, Solid

KINDS = ("quad4", "tri6", "quad9")
NAMES = {"quad4": "4-node quadrilaterals", "tri6": "6-node triangles", "quad9": "9-node quadrilaterals"}
FINE = 3.2  # elements along a length of one thickness, for the comparison with the elastica
SHOWN = (0.2, 0.5, 1.0)  # parts of the load in the picture


def elastica_end(alpha: float) -> tuple[float, float]:
    """(x, y)/L of the end for a load P L²/EI = alpha."""
    from scipy.optimize import brentq
    from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

    def miss(m: float) -> float:  # m = k²
        return float(ellipk(m) - ellipkinc(np.arcsin(sqrt(0.5 / m)), m) - sqrt(alpha))

    m = brentq(miss, 0.5 + 1e-15, 1.0 - 1e-15, xtol=1e-15)
    angle = np.arcsin(sqrt(0.5 / m))
    return (
        sqrt((4.0 * m - 2.0) / alpha),
        float(1.0 - 2.0 / sqrt(alpha) * (ellipe(m) - ellipeinc(angle, m))),
    )


def elastica(alpha: float) -> np.ndarray:
    """Places (k, 2)/L along the elastica, by integration of θ'' = −α cos θ from the clamp."""
    from scipy.integrate import solve_ivp

    x = elastica_end(alpha)[0]
    places = np.linspace(0.0, 1.0, 120)
    rate = lambda s, z: [z[1], -alpha * np.cos(z[0]), np.cos(z[0]), np.sin(z[0])]  # noqa: E731
    start = [0.0, alpha * x, 0.0, 0.0]  # the moment at the clamp is P x
    return solve_ivp(rate, (0.0, 1.0), start, t_eval=places, rtol=1e-10, atol=1e-12).y[2:].T


@dataclass(frozen=True)
class Beam:
    """A cantilever of ``elements`` cells of one kind along its length, one across."""

    length: float
    thickness: float
    young: float
    alpha: float
    kind: str
    elements: int

    @cached_property
    def body(self) -> "Solid":
        from klapper.continuum import SaintVenantKirchhoff, Solid, block

        mesh = block(
            (self.length, self.thickness),
            (self.elements, 1),
            element=self.kind,
            corner=(0.0, -0.5 * self.thickness),
        )
        return Solid("beam", mesh, SaintVenantKirchhoff(self.young, 0.0), density=1.0)

    @property
    def force(self) -> float:
        """P [N] per metre across the plane."""
        return self.alpha * self.young * self.thickness**3 / 12.0 / self.length**2

    @cached_property
    def world(self) -> "Continuum":
        from klapper.continuum import Continuum, Support, Traction

        loads = [Traction("beam", "right", (0.0, self.force / self.thickness))]
        return Continuum([self.body], loads=loads, supports=[Support("beam", "left")])

    @cached_property
    def path(self) -> "LoadPath":
        from klapper.analysis import load_path

        return load_path(self.world, np.arange(1, 11) / 10)

    @cached_property
    def ends(self) -> np.ndarray:
        """(k, 2)/L: middle of the loaded end at all states."""
        tip = self.body.mesh.surface_nodes("right")
        weight = self._middle(tip)
        return np.array([weight @ q.reshape(-1, 2)[tip] for q in self.path.positions]) / self.length

    def _middle(self, tip: np.ndarray) -> np.ndarray:
        """Shares of the nodes of the end: its middle node, or both nodes of a linear element."""
        away = np.abs(self.body.mesh.nodes[tip, 1])
        nearest = np.isclose(away, away.min())
        return nearest / nearest.sum()

    @property
    def locked(self) -> float:
        """1 + ½ (l/h)²: bending stiffness of 4-node quadrilaterals over EI, without sideways strain."""
        return 1.0 + 0.5 * (self.length / self.elements / self.thickness) ** 2


@example("large-cantilever", source="elastica by elliptic integrals; Hesch (2007), 2.2 and 2.3")
def large_cantilever(
    *,
    alpha: Annotated[
        float, Parameter("load P L²/EI: 1 bends, 10 turns the end by 80°", above=0.0, at_most=20.0)
    ] = 4.0,
    thickness: Annotated[float, Parameter("thickness over length", at_least=0.01, at_most=0.1)] = 0.05,
    length: Annotated[float, Parameter("length", unit="m", above=0.0)] = 1.0,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 1e7,
    elements: Annotated[
        tuple[int, ...], Parameter("elements along the length of the meshes that are compared", at_least=2)
    ] = (8, 16, 32),
) -> Outcome:
    h = thickness * length
    meshes = {kind: [Beam(length, h, young, alpha, kind, count) for count in elements] for kind in KINDS}
    many = max(round(FINE / thickness), 64)
    fine = Beam(length, h, young, alpha, "quad9", many)
    thin = Beam(length, 0.5 * h, young, alpha, "quad9", many)
    exact = np.array(elastica_end(alpha))
    limit = (4.0 * thin.ends[-1] - fine.ends[-1]) / 3.0
    return Outcome(
        numbers={
            "end": fine.ends[-1] * length,
            "elastica_end": exact * length,
            "thickness_effect": fine.ends[-1] - exact,
            "limit_of_zero_thickness": limit * length,
            "largest_stress": fine.body.von_mises(fine.path.positions[-1].reshape(-1, 2)).max(),
            **{f"deflection_{kind}": [beam.ends[-1, 1] * length for beam in meshes[kind]] for kind in KINDS},
        },
        units={
            "end": "m",
            "elastica_end": "m",
            "thickness_effect": "of the length, beyond the elastica",
            "limit_of_zero_thickness": "m",
            "largest_stress": "N/m² (von Mises, at quadrature points)",
            **{f"deflection_{kind}": "m, by number of elements" for kind in KINDS},
        },
        checks=_checks(meshes, fine, thin, limit, exact),
        audit={
            "method": "ten load steps, Newton's method with the exact tangent",
            "largest residual": max(beam.path.residuals.max() for row in meshes.values() for beam in row),
            "uniqueness": "not examined; the path begins at the straight beam",
        },
        figures={
            "shapes": partial(_draw_shapes, fine=fine, locked=meshes["quad4"]),
            "convergence": partial(_draw_convergence, meshes=meshes, fine=fine),
            "deflection": partial(_draw_deflection, meshes=meshes, fine=fine),
        },
    )


def _checks(
    meshes: dict[str, list[Beam]], fine: Beam, thin: Beam, limit: np.ndarray, exact: np.ndarray
) -> list[Check]:
    slender = fine.thickness / fine.length
    stiff = [np.array(elastica_end(beam.alpha / beam.locked)) for beam in meshes["quad4"]]
    coarse = [beam for beam in meshes["quad4"] if beam.locked > 1.5 and beam.elements >= 8]
    checks = [
        Check(
            "end of the beam in the limit of zero thickness, over the length",
            value=limit,
            expected=exact,
            tolerance=2.0 * slender**4 + 5e-6,
            source="elastica, elliptic integrals; terms of fourth order in the thickness, and the mesh",
        ),
        Check(
            "difference from the elastica, thick over half as thick",
            value=(fine.ends[-1] - exact) / (thin.ends[-1] - exact),
            expected=4.0,
            tolerance=0.2,
            source="shear, stretch and thickness act by (h/L)²",
        ),
    ]
    if coarse:
        wanted = [stiff[meshes["quad4"].index(beam)][1] for beam in coarse]
        checks.append(
            Check(
                "deflection of 4-node quadrilaterals over that of the stiffer elastica",
                value=[beam.ends[-1, 1] / want for beam, want in zip(coarse, wanted, strict=True)],
                expected=1.0,
                tolerance=0.03,
                source="they bend with EI + G A l²/12",
            )
        )
    for kind in ("tri6", "quad9"):
        errors = [abs(beam.ends[-1, 1] - fine.ends[-1, 1]) for beam in meshes[kind]]
        checks.append(
            Check(
                f"error of {NAMES[kind]}, finest over that of 4-node ones",
                value=errors[-1] / abs(meshes["quad4"][-1].ends[-1, 1] - fine.ends[-1, 1]),
                at_most=0.1,
                source="quadratic elements bend without shear",
            )
        )
    return checks


def _draw_shapes(figure: "Figure", *, fine: Beam, locked: list[Beam]) -> None:
    """Beams under parts of the load, coloured by the von Mises stress; dashed the elastica, grey the outline of the
    coarsest mesh of 4-node quadrilaterals under the full load."""
    from klapper.gallery._sketch import DARK, GREY, wall
    from klapper.gallery._stress_view import outlined, painted

    figure.set_size_inches(7.4, 4.4)
    axes = figure.subplots()
    beam, h = fine, fine.thickness
    shown = [int(np.argmin(np.abs(beam.path.factors - part))) for part in SHOWN]
    highest = beam.body.von_mises(beam.path.positions[-1].reshape(-1, 2)).max()
    wall(axes, (0.0, -1.5 * h), (0.0, 1.5 * h), (-0.03 * beam.length, 0.0))
    for state in shown:
        picture = painted(axes, beam.body, beam.path.positions[state].reshape(-1, 2), highest=highest)
        line = elastica(beam.alpha * float(beam.path.factors[state])) * beam.length
        axes.plot(*line.T, "--", color="white", linewidth=1.2)
        x, y = beam.ends[state] * beam.length
        axes.annotate(
            "P" if state == shown[-1] else f"{beam.path.factors[state]:g} P",
            (x, y),
            (12, -3),
            textcoords="offset points",
            color=DARK,
        )
    stiff = locked[0]
    outlined(axes, stiff.body.mesh, stiff.path.positions[-1].reshape(-1, 2), colors=GREY, linewidths=0.8)
    x, y = stiff.ends[-1] * beam.length
    axes.annotate(f"{stiff.elements} quad4, P", (x, y), (-4, 17), textcoords="offset points", color=GREY)
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")
    axes.set_xlim(-0.06 * beam.length, 1.2 * beam.length)
    figure.colorbar(picture, ax=axes, label="von Mises stress / (N/m²)", shrink=0.85, format="%.2g")


def _draw_convergence(figure: "Figure", *, meshes: dict[str, list[Beam]], fine: Beam) -> None:
    """Error of the deflection over the number of elements along the beam, beside a fine mesh of 9-node
    quadrilaterals; dashed what the parasitic shear of 4-node quadrilaterals predicts."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE

    axes = figure.subplots()
    reference = fine.ends[-1, 1]
    for (kind, beams), colour in zip(meshes.items(), (ORANGE, GREEN, BLUE), strict=True):
        counts = [beam.elements for beam in beams]
        errors = [abs(beam.ends[-1, 1] / reference - 1.0) for beam in beams]
        axes.loglog(counts, errors, "o-", color=colour, label=NAMES[kind])
    counts = [beam.elements for beam in meshes["quad4"]]
    exact = elastica_end(fine.alpha)[1]
    shear = [1.0 - elastica_end(beam.alpha / beam.locked)[1] / exact for beam in meshes["quad4"]]
    axes.loglog(counts, shear, "--", color=DARK, label="parasitic shear")
    axes.axhline(abs(reference / exact - 1.0), color=GREY, linestyle=":", label="solid − elastica")
    axes.set(xlabel="elements along the length", ylabel="error of the deflection / deflection")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.legend()


def _draw_deflection(figure: "Figure", *, meshes: dict[str, list[Beam]], fine: Beam) -> None:
    """Displacements of the loaded end over the load: lines are the elastica, dots the finest mesh of every kind."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    axes = figure.subplots()
    loads = np.linspace(1e-3, 1.0, 60) * fine.alpha
    ends = np.array([elastica_end(float(load)) for load in loads])
    axes.plot(loads, ends[:, 1], color=DARK, label="elastica, across")
    axes.plot(loads, 1.0 - ends[:, 0], "--", color=DARK, label="elastica, along")
    for (kind, beams), colour, mark in zip(
        meshes.items(), (ORANGE, GREEN, BLUE), ("s", "^", "o"), strict=True
    ):
        beam = beams[-1]
        load = beam.path.factors * beam.alpha
        axes.plot(load, beam.ends[:, 1], mark, color=colour, markersize=5, label=f"{beam.elements} {kind}")
        axes.plot(load, 1.0 - beam.ends[:, 0], mark, color=colour, markersize=5, fillstyle="none")
    axes.set(xlabel="load P L²/EI", ylabel="displacement of the end / length")
    axes.legend()
