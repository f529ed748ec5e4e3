"""Tied bearing: a shaft and a shell with meshes that do not match are tied together and spin freely.

Ties hold constraints Φ(q) = 0 that are linear in the positions. Their forces turn the bodies by

    J̇ = Σ λ_A × Φ_A,                                                                    Hesch (4.13), (4.60)

which is nothing only where the constraints hold exactly, also in the undeformed bodies. Two polygons with different
numbers of corners do not meet them: what is left has to close in the first step, and takes angular momentum and energy
along. Moving the nodes of one surface onto the other mesh beforehand mends it, for nodes on segments and for mortars.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery._polygon_ring import polygon_ring
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum
    from klapper.gallery._contact_motion import Balance

YOUNG, POISSON, DENSITY = 1e5, 0.1, 1e-3
FRAMES = 40


@example("tied-bearing", source="Hesch 4.1.2, 4.2.3; conservation laws")
def tied_bearing(
    *,
    tie: Annotated[Literal["nts", "mortar"], Parameter("node-to-segment or mortar")] = "mortar",
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 0.005,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.25,
    spin: Annotated[float, Parameter("angular velocity at the start", unit="rad/s", above=0.0)] = 20.0,
    radii: Annotated[
        tuple[float, float, float],
        Parameter("inner radius, radius of the joint, outer radius", unit="m", above=0.0),
    ] = (50.0, 80.0, 100.0),
    cells: Annotated[tuple[int, int], Parameter("cells around the shaft and the shell", at_least=3)] = (
        20,
        27,
    ),
    rows: Annotated[int, Parameter("cells across each of them", at_least=1)] = 2,
) -> Outcome:
    from klapper.gallery._contact_motion import DRIFT_UNITS, Balance
    from klapper.gallery._contact_view import Meshes, draw_energies
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.report.film import Film
    from klapper.schemes import EnergyMomentum
    from klapper.simulation import simulate

    if not radii[0] < radii[1] < radii[2]:
        raise ParameterError("radii must rise.")
    found = {}
    for name, fit in (("fitted", True), ("not fitted", False)):
        world = tied_rings(tie, radii, cells, rows, spin, fit=fit)
        found[name] = Balance(world, simulate(world, until, EnergyMomentum(step)))
    good, bad = found["fitted"], found["not fitted"]
    shapes = Meshes(good.world, good.run)
    return Outcome(
        numbers={
            **good.numbers,
            "unfitted_energy_drift": bad.drift["energy"],
            "unfitted_angular_momentum_drift": bad.drift["angular momentum"],
            "misfit": misfit(bad.world),
            "fitted_misfit": misfit(good.world),
            "angular_momentum": good.angular_momentum[0],
        },
        units={
            **DRIFT_UNITS,
            "unfitted_energy_drift": "of the energy",
            "unfitted_angular_momentum_drift": "of the sum of its terms",
            "misfit": "m",
            "fitted_misfit": "m",
            "angular_momentum": "kg m²/s",
        },
        checks=[
            *good.kept_checks("energy-momentum", "consistent"),
            Check(
                "constraints in the fitted meshes",
                value=misfit(good.world),
                expected=0.0,
                tolerance=1e-12 * 2.0 * radii[2],
                source="Hesch 4.1.2: needed for angular momentum; round-off",
            ),
            Check(
                "angular momentum lost without fitting",
                value=bad.drift["angular momentum"],
                at_least=1e3 * good.drift["angular momentum"],
                source="Hesch (4.13): constraints that do not hold exactly turn the bodies",
            ),
            _start_check(good, radii, cells[1], spin),
            ledger_check(good.run),
        ],
        audit=run_audit(good.run),
        figures={
            "meshes": partial(_draw_meshes, worlds={name: each.world for name, each in found.items()}),
            "angular-momentum": partial(_draw_change, found=found),
            "energy-split": partial(draw_energies, balance=good),
            "shapes": partial(shapes.row, columns=3),
            "motion": Film(partial(shapes.scene, frames=FRAMES), frames=FRAMES, still=FRAMES // 3),
        },
    )


def tied_rings(
    tie: Literal["nts", "mortar"],
    radii: tuple[float, float, float],
    cells: tuple[int, int],
    rows: int,
    spin: float,
    *,
    fit: bool,
) -> "Continuum":
    """A "shaft" in a "shell", tied, spinning as one."""
    from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, Tie, annulus, fitted, rigid_velocity

    method: Literal["mortar", "node-to-segment"] = "mortar" if tie == "mortar" else "node-to-segment"
    law = SaintVenantKirchhoff(YOUNG, POISSON)
    shaft, shell = (
        annulus(radii[0], radii[1], (rows, cells[0])),
        annulus(radii[1], radii[2], (rows, cells[1])),
    )
    if fit:
        shaft = fitted(shaft, "outer", onto=(shell, "inner"), method=method)
    bodies = [Solid("shaft", shaft, law, density=DENSITY), Solid("shell", shell, law, density=DENSITY)]
    return Continuum(
        bodies,
        ties=[Tie(("shaft", "outer"), ("shell", "inner"), method=method)],
        velocity={body.name: rigid_velocity(body, (0.0, 0.0), spin) for body in bodies},
        penetration=0.1 * radii[1],
        name="tied bearing",
    )


def misfit(world: "Continuum") -> float:
    """Largest violation [m] of the ties at the start."""
    return float(np.abs(world.constraint_residuals(0.0, world.start.position)).max())


def _start_check(balance: "Balance", radii: tuple[float, float, float], corners: int, spin: float) -> Check:
    """The shell's angular momentum is that of a rigid ring between two polygons."""
    world = balance.world
    shell = world.bodies[1]
    velocity = world.start.velocity.copy()
    velocity[: world.offsets["shell"] * 2] = 0.0
    expected = DENSITY * polygon_ring((radii[1], radii[2]), corners)[1] * spin
    return Check(
        f"angular momentum of the {shell.name} at the start",
        value=world.angular_momentum(world.start.position, velocity)[0],
        expected=expected,
        tolerance=1e-10 * expected,
        source="rigid ring between two polygons in closed form; round-off",
    )


def _draw_meshes(figure: "Figure", *, worlds: "dict[str, Continuum]") -> None:
    """The joint of both meshes at the start: as generated, and with the nodes of the shaft moved onto the shell."""
    from matplotlib.collections import PolyCollection

    figure.set_size_inches(7.0, 3.4)
    for axes, (name, world) in zip(
        figure.subplots(1, len(worlds), sharex=True, sharey=True), worlds.items(), strict=True
    ):
        for body, colour in zip(world.bodies, ("#0072B2", "#D55E00"), strict=True):
            corners = body.mesh.nodes[body.mesh.cells[:, :4]]
            axes.add_collection(
                PolyCollection(list(corners), facecolor=f"{colour}33", edgecolor=colour, linewidth=0.8)
            )
        joint = float(np.linalg.norm(world.bodies[1].mesh.nodes, axis=1).min())
        axes.set(
            xlim=(0.55 * joint, 1.05 * joint),
            ylim=(0.15 * joint, 0.75 * joint),
            aspect="equal",
            xlabel="x / m",
            title=f"{name}: misfit {misfit(world):.1e} m",
        )
        axes.set_ylabel("y / m" if name == "fitted" else "")


def _draw_change(figure: "Figure", *, found: "dict[str, Balance]") -> None:
    """Change of angular momentum and energy since the start, relative, with and without fitting."""
    figure.set_size_inches(6.4, 4.2)
    parts = figure.subplots(2, 1, sharex=True)
    for (name, each), style in zip(found.items(), ("-", "--"), strict=True):
        for part, history in zip(parts, (each.angular_momentum, each.energy), strict=True):
            part.semilogy(
                each.run.time[1:],
                np.maximum(np.abs(history[1:] / history[0] - 1.0), 1e-17),
                style,
                label=name,
            )
    parts[0].set_ylabel("|ΔJ| / J")
    parts[0].legend(loc="center right")
    parts[1].set(ylabel="|ΔH| / H", xlabel="time / s")
