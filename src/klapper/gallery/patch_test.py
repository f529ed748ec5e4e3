"""Contact patch test: a uniform stress must pass from one mesh to another as it is.

Two blocks with meshes that do not match are pressed together, so that both deform alike. Saint Venant-Kirchhoff, plane
strain, F = diag(F₁, F₂), E = ½ (F² − 1), S = λ tr(E) 1 + 2 μ E:

    dead load on the top        F₂ S₂ = −p,        sides free, S₁ = 0, or confined, F₁ = 1
    pressure on the top         F₂ S₂/F₁ = −p
    pressure on all sides       S₁ = S₂ = −p

Node-to-segment contact loads the nodes of one side by forces that do not belong to a uniform pressure: stresses
near the interface are wrong, whatever the mesh. Averages over exact segments (mortar) pass the test. With linear
elements so does a second pass, but then the forces are not unique. On an inclined interface a stress along one axis has
a shear part, which friction must hold; pressure on all sides needs none. A curved interface is made of straight facets:
their gaps and overlaps, of second order in their length, are all that is left.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery._interfaces import InterfaceName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, Mesh, SurfacePressure
    from klapper.results import Run

Shape = Literal["flat", "inclined", "curved"]
Load = Literal["dead", "pressure", "all-round"]
Lateral = Literal["free", "confined"]

WIDTH, HEIGHT = 2.0, 1.0  # of each block [m]
SLOPE, RISE = 0.2, 0.15  # of the inclined interface, and of the curved one [m]
YOUNG, POISSON, SIZE = 1000.0, 0.4, 100.0
CELLS = r"[1-9]\d*x[1-9]\d*"
PRINTED = {
    ("dead", "free"): (1.060262, 0.902090, -94.3163, -46.3604, 81.6842),
    ("pressure", "free"): (1.064566, 0.894455, -100.0, -49.9969, 86.6025),
    ("dead", "confined"): (1.0, 0.949585, -100.0, -73.9335, 26.0665),
    ("pressure", "confined"): (1.0, 0.949585, -100.0, -73.9335, 26.0665),
}


@dataclass(frozen=True)
class Uniform:
    """The uniform state: stretches, and stresses (3,) [N/m²] along the axes."""

    stretch: tuple[float, float]
    stress: np.ndarray

    @property
    def von_mises(self) -> float:
        a, b, c = self.stress
        return float(np.sqrt(0.5 * ((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2)))

    @classmethod
    def of(cls, load: Load, lateral: Lateral, young: float, poisson: float, size: float) -> "Uniform":
        """From one equation for E₂, with E₁ from what holds the sides."""
        from scipy.optimize import brentq

        first = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
        second = 0.5 * young / (1.0 + poisson)
        held = 0.0 if lateral == "confined" else -first / (first + 2.0 * second)
        aside = 1.0 if load == "all-round" else held

        def stress(strain: float) -> np.ndarray:
            strains = np.array([aside * strain, strain, 0.0])
            stretch = np.sqrt(1.0 + 2.0 * strains)
            return stretch**2 * (first * strains.sum() + 2.0 * second * strains) / np.prod(stretch)

        def unbalanced(strain: float) -> float:
            area = np.sqrt(1.0 + 2.0 * aside * strain) if load == "dead" else 1.0
            return float(area * stress(strain)[1] + size)

        found = brentq(unbalanced, -0.3, 0.0, xtol=1e-15)
        stretch = (float(np.sqrt(1.0 + 2.0 * aside * found)), float(np.sqrt(1.0 + 2.0 * found)))
        return cls(stretch, stress(found))


@dataclass(frozen=True)
class Patch:
    """Two blocks under load."""

    interface: InterfaceName
    upper: tuple[int, int]
    lower: tuple[int, int]
    element: str
    shape: Shape
    lateral: Lateral
    load: Load
    friction: float
    size: float

    @cached_property
    def meshes(self) -> tuple["Mesh", "Mesh"]:
        """Lower and upper block; single nodes that meet a curved interface are moved onto its facets."""
        from klapper.continuum import block, fitted

        low = block((WIDTH, HEIGHT), self.lower, element=self.element)
        up = block((WIDTH, HEIGHT), self.upper, corner=(0.0, HEIGHT), element=self.element)
        low = replace(low, nodes=_bent(low.nodes, self.shape, low.nodes[:, 1] / HEIGHT))
        up = replace(up, nodes=_bent(up.nodes, self.shape, 2.0 - up.nodes[:, 1] / HEIGHT))
        if self.shape == "curved" and self.interface.startswith("nts"):
            up = fitted(up, "bottom", onto=(low, "top"), method="node-to-segment")
        return low, up

    @cached_property
    def world(self) -> "Continuum":
        from klapper.continuum import Continuum, Pressure, SaintVenantKirchhoff, Solid, Support, Traction
        from klapper.gallery._interfaces import interface_named

        law = SaintVenantKirchhoff(YOUNG, POISSON)
        bodies = [
            Solid(name, mesh, law, density=1.0) for name, mesh in zip(("low", "up"), self.meshes, strict=True)
        ]
        supports: list[Support] = [Support("low", "bottom", [1])]
        sides = [(name, side) for name in ("low", "up") for side in ("left", "right")]
        if self.lateral == "confined":
            supports += [Support(name, side, [0]) for name, side in sides]
        else:
            supports += [Support("low", [0], [0]), Support("up", [0], [0])]
        loads: list[Traction | Pressure]
        if self.load == "dead":
            loads = [Traction("up", "top", (0.0, -self.size))]
        else:
            loads = [Pressure("up", "top", self.size)]
        if self.load == "all-round":
            loads += [Pressure(name, side, self.size) for name, side in sides]
        friction = 0.0 if self.shape == "flat" or self.load == "all-round" else self.friction
        touching = interface_named(self.interface, ("up", "bottom"), ("low", "top"), friction=friction)
        return Continuum(
            bodies,
            loads=loads,
            supports=supports,
            interfaces=[touching],
            penetration=HEIGHT,
            name="contact patch",
        )

    @cached_property
    def run(self) -> "Run":
        from klapper.schemes import QuasiStatic
        from klapper.simulation import SimulationFailed, simulate

        try:
            return simulate(self.world, 1.0, QuasiStatic(1.0))
        except SimulationFailed as error:
            raise ParameterError(
                f"interface {self.interface} bears no load of this size here: {error}"
            ) from error

    @cached_property
    def uniform(self) -> Uniform:
        return Uniform.of(self.load, self.lateral, YOUNG, POISSON, self.size)

    @cached_property
    def stresses(self) -> dict[str, np.ndarray]:
        """σ (e, g, 3, 3) [N/m²] by body."""
        from klapper.continuum import Solid

        q = self.run.position[-1]
        return {
            body.name: body.cauchy_stress(self.world.positions(q, body.name))
            for body in self.world.bodies
            if isinstance(body, Solid)
        }

    @property
    def deviation(self) -> float:
        """Largest difference of a stress from the uniform one, in units of the latter."""
        wanted = np.diag(self.uniform.stress)
        return float(
            max(np.abs(found - wanted).max() for found in self.stresses.values()) / np.abs(wanted).max()
        )

    @property
    def scatter(self) -> float:
        """Root mean square of that difference over all quadrature points."""
        wanted = np.diag(self.uniform.stress)
        wrong = np.concatenate([(found - wanted).reshape(-1, 9) for found in self.stresses.values()])
        return float(np.sqrt(np.mean(np.sum(wrong**2, axis=1))) / np.abs(wanted).max())

    @property
    def pressure(self) -> "SurfacePressure":
        from klapper.continuum import contact_pressure

        return contact_pressure(self.world, self.run.position[-1], self.run.force[-1])["up", "bottom"]


def _bent(nodes: np.ndarray, shape: Shape, share: np.ndarray) -> np.ndarray:
    """Nodes (n, 2) with the interface lifted to its shape; ``share`` (n,) is 1 there and 0 at the far end."""
    x = nodes[:, 0] / WIDTH
    lift = {"flat": 0.0 * x, "inclined": SLOPE * WIDTH * (x - 0.5), "curved": RISE * np.sin(np.pi * x)}[shape]
    return nodes + np.column_stack([0.0 * x, lift * share])


@example("patch-test", source="Hesch (2007), A.2; closed form of the uniform state")
def patch_test(
    *,
    interface: Annotated[InterfaceName, Parameter("how the blocks touch")] = "mortar",
    upper: Annotated[str, Parameter("cells of the upper block, across x up", pattern=CELLS)] = "39x20",
    lower: Annotated[str, Parameter("cells of the lower block, across x up", pattern=CELLS)] = "40x20",
    element: Annotated[
        Literal["quad4", "quad8", "quad9", "tri3", "tri6"], Parameter("kind of cells")
    ] = "quad4",
    shape: Annotated[Shape, Parameter("shape of the interface")] = "flat",
    lateral: Annotated[Lateral, Parameter("sides of the blocks")] = "free",
    load: Annotated[Load, Parameter("dead load or pressure on the top, or pressure on all sides")] = "dead",
    friction: Annotated[
        float, Parameter("friction coefficient of interfaces that bear shear", at_least=0.0)
    ] = 1.0,
    size: Annotated[float, Parameter("load", unit="N/m²", above=0.0, at_most=250.0)] = SIZE,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit

    if load == "all-round" and lateral == "confined":
        raise ParameterError("lateral cannot be confined where pressure acts on all sides; set lateral=free.")
    steepest = {"flat": 0.0, "inclined": SLOPE, "curved": np.pi * RISE / WIDTH}[shape]
    if load != "all-round" and friction < 1.2 * steepest:
        raise ParameterError(
            f"friction must be at least {1.2 * steepest:.3g} to hold an interface that is {shape}, not {friction:g}."
        )
    if shape == "curved" and element not in ("quad4", "tri3"):
        raise ParameterError(f"element must be quad4 or tri3 on a curved interface, not {element}.")
    patch = Patch(interface, _cells(upper), _cells(lower), element, shape, lateral, load, friction, size)
    coarse = replace(patch, upper=_half(patch.upper), lower=_half(patch.lower)) if shape == "curved" else None
    uniform = patch.uniform
    forces = patch.run.about["audit"].get("forces at the end", "")
    return Outcome(
        numbers={
            "stress_deviation": patch.deviation,
            "stretch_across": uniform.stretch[0],
            "stretch_up": uniform.stretch[1],
            "stress_22": uniform.stress[1],
            "stress_33": uniform.stress[2],
            "von_mises": uniform.von_mises,
            "least_pressure": patch.pressure.pressure.min(),
            "largest_pressure": patch.pressure.pressure.max(),
            **({} if coarse is None else {"stress_deviation_coarse": coarse.deviation}),
        },
        units={
            "stress_deviation": "of the largest uniform stress",
            "stress_22": "N/m² (uniform)",
            "stress_33": "N/m² (uniform)",
            "von_mises": "N/m² (uniform)",
            "least_pressure": "N/m²",
            "largest_pressure": "N/m²",
        },
        checks=[*_checks(patch, coarse, forces), ledger_check(patch.run)],
        audit=run_audit(patch.run),
        figures={
            "stress": partial(_draw_stress, patch=patch),
            "pressure": partial(_draw_pressure, patch=patch),
        },
    )


def _cells(text: str) -> tuple[int, int]:
    across, up = text.split("x")
    return int(across), int(up)


def _half(cells: tuple[int, int]) -> tuple[int, int]:
    return max(cells[0] // 2, 1), max(cells[1] // 2, 1)


def _checks(patch: Patch, coarse: Patch | None, forces: str) -> list[Check]:
    uniform, checks = patch.uniform, []
    if patch.size == SIZE and (patch.load, patch.lateral) in PRINTED:
        found = [*uniform.stretch, uniform.stress[1], uniform.stress[2], uniform.von_mises]
        checks.append(
            Check(
                "uniform state: stretches, stresses up and across the plane, von Mises",
                value=found,
                expected=PRINTED[patch.load, patch.lateral],
                tolerance=[5e-7, 5e-7, 5e-5, 5e-5, 5e-5],
                source="homogeneous solutions, found independently, to six and four printed decimals",
            )
        )
    linear = patch.element in ("quad4", "tri3")
    passes = patch.interface.startswith("mortar") or (patch.interface == "nts-two-pass" and linear)
    if passes and patch.shape != "curved":
        checks.append(
            Check(
                "deviation from the uniform stress",
                value=patch.deviation,
                at_most=1e-10,
                source="consistency of the interface; Newton's tolerance",
            )
        )
    if patch.interface.startswith("mortar") and patch.shape != "curved":
        slope = SLOPE * uniform.stretch[1] / uniform.stretch[0] if patch.shape == "inclined" else 0.0
        normal = (uniform.stress[1] + slope**2 * uniform.stress[0]) / (1.0 + slope**2)
        checks.append(
            Check(
                "contact pressure at all nodes",
                value=patch.pressure.pressure,
                expected=-normal,
                tolerance=1e-8 * patch.size,
                source="normal part of the uniform stress on the deformed interface",
            )
        )
    if patch.interface == "nts" and patch.upper[0] != patch.lower[0]:
        checks.append(
            Check(
                "deviation from the uniform stress",
                value=patch.deviation,
                at_least=1e-3,
                source="Hesch A.2, Simo, Wriggers, Taylor 1985: node-to-segment contact fails the patch test",
            )
        )
    if patch.interface == "nts-two-pass" and linear and patch.shape == "flat" and _apart(patch):
        checks.append(
            Check(
                "free combinations of contact forces",
                value=forces.partition(" free")[0],
                expected="not unique: 2",
                source="gaps of both passes vanish together for straight lines only, which have two parameters",
            )
        )
    if coarse is not None and patch.interface.startswith("mortar"):
        checks.append(
            Check(
                "deviation (root mean square), over that with half as many cells",
                value=patch.scatter / coarse.scatter,
                at_most=0.35,
                source="gaps of straight facets are of second order in their length",
            )
        )
    return checks


def _apart(patch: Patch) -> bool:
    """Whether the two sides share no node but their ends."""
    return int(np.gcd(patch.upper[0], patch.lower[0])) == 1


def _draw_stress(figure: "Figure", *, patch: Patch) -> None:
    """Deformed blocks, coloured by the von Mises stress at their quadrature points; right, its difference from the
    uniform one, in units of the uniform one."""
    from matplotlib.colors import LogNorm

    from klapper.continuum import Solid
    from klapper.gallery._interfaces import paint_bodies
    from klapper.gallery._stress_view import painted

    figure.set_size_inches(9.6, 4.2)
    left, right = figure.subplots(1, 2)
    q, world = patch.run.position[-1], patch.world
    paint_bodies(figure, left, world, q)
    wanted = patch.uniform.von_mises
    for body in world.bodies:
        if isinstance(body, Solid):
            picture = painted(right, body, world.positions(q, body.name), highest=wanted)
            wrong = np.abs(body.von_mises(world.positions(q, body.name)) / wanted - 1.0)
            picture.set_array(np.maximum(wrong, 1e-16).ravel())
            picture.set(cmap="magma", norm=LogNorm(1e-16, 1.0))
    right.set(xlabel="x / m", ylabel="y / m", aspect="equal")
    figure.colorbar(picture, ax=right, label="|von Mises/uniform − 1|", shrink=0.8)


def _draw_pressure(figure: "Figure", *, patch: Patch) -> None:
    """Contact pressure along the interface; dashed the normal part of the uniform stress."""
    from klapper.gallery._interfaces import WORDS, draw_pressures
    from klapper.gallery._sketch import DARK

    axes = figure.subplots()
    found = patch.pressure
    draw_pressures(axes, [(WORDS[patch.interface], found)])
    slope = np.gradient(found.place[:, 1], found.place[:, 0])
    stress = patch.uniform.stress
    normal = -(stress[1] + slope**2 * stress[0]) / (1.0 + slope**2)
    axes.plot(found.arc, normal, "--", color=DARK, label="uniform stress")
    spread = max(np.ptp(found.pressure), np.ptp(normal), 0.02 * patch.size)
    axes.set_ylim(
        min(found.pressure.min(), normal.min()) - spread, max(found.pressure.max(), normal.max()) + spread
    )
    axes.legend()
