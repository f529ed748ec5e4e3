"""Ironing: a stiff block is pressed into a softer one and drawn along it with friction.

First the top of the iron moves down, then aside, so slowly that inertia does not matter. Nodes stick, until their
friction reaches μ times their normal force; once all slide, the forces T along and N down that draw the iron obey

    T cos β − N sin β ≤ μ (N cos β + T sin β)

with the slope β of the surface at each node, so that T/N is not far from μ. What the supports put in is what the
bodies store and what friction takes. Without friction a symmetric iron that is only pressed needs no force aside.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._interfaces import InterfaceName
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, SurfacePressure
    from klapper.results import Run

WIDTH, HEIGHT = 3.0, 1.0  # of the block [m]
IRON = 0.8  # width of the iron, which is 0.4 m high [m]
BELLY = 0.06  # how far its middle hangs below its ends [m]
SOFT, STIFF, POISSON = 100.0, 2000.0, 0.3


@dataclass(frozen=True)
class Ironing:
    """The iron goes down by ``depth`` until 1 s, then aside by ``travel`` until 2 s."""

    interface: InterfaceName
    friction: float
    depth: float
    travel: float
    steps: int
    cells: tuple[int, int]

    @cached_property
    def world(self) -> "Continuum":
        from klapper.continuum import Continuum, NeoHooke, Solid, Support, block
        from klapper.gallery._interfaces import interface_named
        from klapper.mechanics import FunctionOfTime

        base = block((WIDTH, HEIGHT), self.cells)
        count = 2 * max(round(0.6 * self.cells[0] * IRON / WIDTH), 2)
        tool = block((IRON, 0.4), (count, 2), corner=(0.2 * WIDTH, HEIGHT))
        x, y = tool.nodes.T
        middle = 0.2 * WIDTH + 0.5 * IRON
        lift = BELLY * (2.0 * (x - middle) / IRON) ** 2 * (1.0 - (y - HEIGHT) / 0.4)
        tool = replace(tool, nodes=np.column_stack([x, y + lift]))
        moved = FunctionOfTime(
            lambda t: np.array([self.travel * max(t - 1.0, 0.0), -self.depth * min(t, 1.0)]),
            lambda t: np.array([self.travel * (t > 1.0), -self.depth * (t < 1.0)]),
        )
        return Continuum(
            [
                Solid("block", base, NeoHooke(SOFT, POISSON), density=1.0),
                Solid("iron", tool, NeoHooke(STIFF, POISSON), density=1.0),
            ],
            supports=[Support("block", "bottom"), Support("iron", "top", displacement=moved)],
            interfaces=[
                interface_named(self.interface, ("iron", "bottom"), ("block", "top"), friction=self.friction)
            ],
            name="ironing",
        )

    @cached_property
    def run(self) -> "Run":
        from klapper.schemes import QuasiStatic
        from klapper.simulation import simulate

        return simulate(self.world, 2.0, QuasiStatic(1.0 / self.steps))

    @cached_property
    def drawn(self) -> np.ndarray:
        """Forces (s, 2) [N/m] by which the iron is drawn along and pressed down: of the supports on its top."""
        return self._of_supports("iron") * [1.0, -1.0]

    @cached_property
    def held(self) -> np.ndarray:
        """Forces (s, 2) [N/m] of the supports of the block, with which it answers."""
        return self._of_supports("block") * [-1.0, 1.0]

    def _of_supports(self, body: str) -> np.ndarray:
        """Sum (s, 2) [N/m] of the forces along x and y that hold a body; none at the start."""
        names = self.run.layout.constraints
        forces = self.run.constraint_force
        columns = [
            [k for k, name in enumerate(names) if name.startswith(body) and name.endswith(a)] for a in "xy"
        ]
        found = np.stack([forces[:, column].sum(axis=1) for column in columns], axis=1)
        found[0] = 0.0
        return found

    @cached_property
    def place(self) -> np.ndarray:
        """(s,) [m] way of the iron aside."""
        return self.travel * np.maximum(self.run.time - 1.0, 0.0)

    def pressure(self, sample: int) -> "SurfacePressure":
        from klapper.continuum import contact_pressure

        found = contact_pressure(self.world, self.run.position[sample], self.run.force[sample])
        return found["iron", "bottom"]


@example("ironing", source="Coulomb friction between large deformations; balance of forces and of energy")
def ironing(
    *,
    interface: Annotated[InterfaceName, Parameter("how the bodies touch")] = "mortar-dual",
    mu: Annotated[float, Parameter("friction coefficient", at_least=0.0, at_most=1.0)] = 0.3,
    depth: Annotated[float, Parameter("way down", unit="m", above=0.0, at_most=0.3)] = 0.12,
    travel: Annotated[float, Parameter("way aside", unit="m", above=0.0, at_most=1.2)] = 0.6,
    steps: Annotated[int, Parameter("steps of each of the two ways", at_least=1)] = 10,
    cells: Annotated[tuple[int, int], Parameter("cells of the block, along and up", at_least=2)] = (24, 5),
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit

    model = Ironing(interface, mu, depth, travel, steps, cells)
    run, ledger = model.run, model.run.ledger.balance
    along, down = model.drawn[-1]
    return Outcome(
        numbers={
            "normal_force": down,
            "tangential_force": along,
            "ratio": along / down,
            "friction_work": ledger["friction"],
            "support_work": ledger["loads"],
            "stored_energy": ledger["potential"],
            "unbalanced_energy": ledger["numerical"],
            "largest_pressure": model.pressure(-1).pressure.max(),
        },
        units={
            "normal_force": "N/m",
            "tangential_force": "N/m",
            "friction_work": "J/m",
            "support_work": "J/m",
            "stored_energy": "J/m",
            "unbalanced_energy": "J/m (by the mean forces of a step)",
            "largest_pressure": "N/m²",
        },
        checks=[*_checks(model), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "stress": partial(_draw_stress, model=model),
            "forces": partial(_draw_forces, model=model),
            "pressure": partial(_draw_pressure, model=model),
        },
    )


def _checks(model: Ironing) -> list[Check]:
    run, ledger = model.run, model.run.ledger.balance
    force = run.force[1:]
    size = np.abs(model.drawn).max()
    tangential = force[..., 1] if force.shape[2] > 1 else 0.0 * force[..., 0]
    checks = [
        Check(
            "friction less μ times the normal force, over the largest force, at all nodes and steps",
            value=float((np.abs(tangential) - model.friction * force[..., 0]).max() / size),
            at_most=1e-8,
            source="Coulomb's law",
        ),
        Check(
            "normal forces over the largest force",
            value=float(force[..., 0].min() / size),
            at_least=-1e-8,
            source="contacts do not pull",
        ),
        Check(
            "forces on the iron less those on the block, over the largest",
            value=np.abs(model.drawn - model.held).max() / size,
            expected=0.0,
            tolerance=1e-8,
            source="balance of forces of both bodies together",
        ),
        Check(
            "energy that the mean forces of steps leave out, over the work of the supports",
            value=ledger["numerical"] / ledger["loads"],
            expected=0.0,
            tolerance=0.5 / model.steps,
            source="trapezoidal rule over the steps of the supports; friction by the force at their ends, order one",
        ),
        Check("friction work", value=ledger["friction"], at_least=0.0, source="friction takes energy"),
    ]
    if model.friction == 0.0:
        pressed = model.steps
        checks.append(
            Check(
                "force aside over force down, while it is only pressed",
                value=model.drawn[pressed, 0] / model.drawn[pressed, 1],
                expected=0.0,
                tolerance=0.02,
                source="a smooth symmetric iron; the block is longer on one side, and the meshes do not match",
            )
        )
    return checks


def _draw_stress(figure: "Figure", *, model: Ironing) -> None:
    """Pressed, and drawn to the end; colours are the von Mises stress in the block."""
    from klapper.gallery._interfaces import paint_bodies
    from klapper.gallery._stress_view import outlined

    figure.set_size_inches(7.4, 6.4)
    for axes, sample in zip(figure.subplots(2, 1), (model.steps, -1), strict=True):
        q = model.run.position[sample]
        paint_bodies(figure, axes, model.world, q, names=["block"])
        iron = model.world.bodies[1]
        outlined(axes, iron.mesh, model.world.positions(q, "iron"), colors="#333333", linewidths=0.9)  # type: ignore[arg-type]


def _draw_forces(figure: "Figure", *, model: Ironing) -> None:
    """Forces that draw and press the iron over its way aside; dashed μ times the latter."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    axes = figure.subplots()
    from_here = slice(model.steps, None)
    along, down = model.drawn[from_here].T
    axes.plot(model.place[from_here], down, "o-", markersize=3, color=BLUE, label="down, N")
    axes.plot(model.place[from_here], along, "s-", markersize=3, color=ORANGE, label="along, T")
    axes.plot(model.place[from_here], model.friction * down, "--", color=DARK, label="μ N")
    axes.set(xlabel="way of the iron / m", ylabel="force / (N/m)")
    axes.legend()


def _draw_pressure(figure: "Figure", *, model: Ironing) -> None:
    """Contact pressure under the iron, pressed and drawn."""
    from klapper.gallery._interfaces import draw_pressures

    axes = figure.subplots()
    draw_pressures(axes, [("pressed", model.pressure(model.steps)), ("drawn", model.pressure(-1))])
    axes.legend()
