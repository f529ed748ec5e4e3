"""Spinning ring: an elastic ring flies and spins, and keeps what it should keep.

No force acts on it from outside, so energy, momentum and angular momentum stay as they are at the start,

    H = ½ m v² + ½ I ω²,   L = m v,   J = I ω   (about the origin, through which the flight starts)

although the ring widens, breathes and bends at large strains. What a scheme keeps, whatever its step:

    energy-momentum      H, L, J      discrete gradient of the elastic energy                     Hesch (2.192)
    midpoint             L, J         its energy error is of second order
    projected            L, J, and H where a quadratic has a real root                            (2.166)
    newmark, gen.-α      L
    central differences  L, J         explicit, up to its stability limit only
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._elastic_flight import FlightScheme, Material
from klapper.gallery._polygon_ring import polygon_ring
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.continuum import Continuum

DENSITY, POISSON = 1000.0, 0.3
HEADING = (0.96, 0.28)
FRAMES = 50


@example("spinning-ring", source="conservation laws; Hesch 2.4, 6.3")
def spinning_ring(
    *,
    material: Annotated[Material, Parameter("hyperelastic law")] = "neo-hooke",
    scheme: Annotated[FlightScheme, Parameter("time-stepping method")] = "energy-momentum",
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 0.01,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 1.5,
    speed: Annotated[float, Parameter("speed of the flight", unit="m/s", at_least=0.0)] = 6.0,
    spin: Annotated[float, Parameter("angular velocity at the start", unit="rad/s")] = 5.0,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 1e5,
    radii: Annotated[tuple[float, float], Parameter("inner and outer radius", unit="m", above=0.0)] = (
        0.8,
        1.0,
    ),
    cells: Annotated[tuple[int, int], Parameter("cells across and around", at_least=1)] = (1, 32),
) -> Outcome:
    from klapper.continuum import Continuum, Solid, annulus, rigid_velocity
    from klapper.gallery._elastic_flight import (
        Shapes,
        draw_energies,
        draw_momenta,
        flight_scheme,
        kept_checks,
        law_named,
    )
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.mechanics import InvalidModel
    from klapper.report.film import Film
    from klapper.simulation import simulate

    if radii[0] >= radii[1] or cells[1] < 3:
        raise ParameterError("radii must rise, and there must be at least 3 cells around.")
    solid = Solid("ring", annulus(*radii, cells), law_named(material, young, POISSON), density=DENSITY)
    flight = rigid_velocity(solid, speed * np.array(HEADING), spin)
    world = Continuum(
        [solid], velocity={"ring": flight}, lumped=scheme == "central-difference", name="spinning ring"
    )
    try:
        run = simulate(world, until, flight_scheme(scheme, step))
    except InvalidModel as error:
        raise ParameterError(f"scheme cannot be {scheme} here: {error}") from error
    kept, shapes = run.conservation, Shapes(solid, run)
    drift = {name: each.since_start / (each.size or 1.0) for name, each in kept.quantities.items()}
    return Outcome(
        numbers={
            "energy_drift": drift["energy"],
            "momentum_drift": drift["momentum"],
            "angular_momentum_drift": drift["angular momentum"],
            "newton_iterations": run.statistics.newton_iterations / max(run.statistics.steps, 1),
            "energy": run.samples.energy[0, :2].sum(),
            "angular_momentum": world.angular_momentum(run.position[0], run.velocity[0])[0],
            "highest_stress": 1e3 * shapes.highest,
            "largest_radius": _radius(shapes.positions).max(),
        },
        units={
            "energy_drift": "of the energy turned over",
            "momentum_drift": "of the sum of its terms",
            "angular_momentum_drift": "of the sum of its terms",
            "newton_iterations": "per step",
            "energy": "J",
            "angular_momentum": "kg m²/s",
            "highest_stress": "N/m² (von Mises, mean of a cell)",
            "largest_radius": "m",
        },
        checks=[
            *_start_checks(run.samples.energy[0, 0], world, scheme, radii, cells[1], speed, spin),
            *kept_checks(scheme, kept, run.about["steps"]),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={
            "flight": shapes.row,
            "motion": Film(partial(shapes.scene, frames=FRAMES), frames=FRAMES, still=FRAMES // 2),
            "energy-split": partial(draw_energies, run=run),
            "momenta": partial(draw_momenta, run=run, world=world),
        },
        runs={"motion": run},
    )


def _radius(positions: np.ndarray) -> np.ndarray:
    """Distance (s, n) [m] of the nodes from their middle."""
    return np.asarray(np.linalg.norm(positions - positions.mean(axis=1, keepdims=True), axis=2))


def _start_checks(
    kinetic: float,
    world: "Continuum",
    scheme: FlightScheme,
    radii: tuple[float, float],
    corners: int,
    speed: float,
    spin: float,
) -> list[Check]:
    """Energy and angular momentum of a rigid ring, exact with the consistent mass matrix."""
    if scheme == "central-difference":
        return []
    area, moment = polygon_ring(radii, corners)
    energy = 0.5 * DENSITY * (area * speed**2 + moment * spin**2)
    turning = world.angular_momentum(world.start.position, world.start.velocity)[0]
    source = "rigid ring between two polygons in closed form; round-off"
    small = 1e-11 * (energy + 1e-300)
    return [
        Check("kinetic energy at the start", value=kinetic, expected=energy, tolerance=small, source=source),
        Check(
            "angular momentum at the start",
            value=turning,
            expected=DENSITY * moment * spin,
            tolerance=1e-11 * DENSITY * (moment * abs(spin) + area * radii[1] * speed),
            source=source,
        ),
    ]
