"""Ring collision: two soft rings hit each other off-centre, flatten, spring back and part.

Nothing acts on them from outside. Energy, momentum and angular momentum of both,

    H = Σ ½ m v² + ½ I ω²,   L = Σ m v,   J = Σ (x × m v + I ω),

stay what they were, though the rings undergo large strains, and nodes come into contact and leave it step after step.
Which scheme keeps what, whatever its step, is the question. With friction the energy falls by exactly the work of
friction, and the rings begin to spin. Radii, distance and offset are lost with the figures of the source: chosen here.
"""

from functools import partial
from math import hypot
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._contact_motion import ClosingGaps, ContactScheme, Penalty
from klapper.gallery._interfaces import InterfaceName, interface_named
from klapper.gallery._polygon_ring import polygon_ring
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.continuum import Continuum
    from klapper.gallery._contact_motion import Balance

YOUNG, POISSON, DENSITY = 100.0, 0.1, 1e-3
FRAMES = 60
GEOMETRY = {"radii": (80.0, 100.0), "cells": (2, 32), "distance": 205.0, "offset": 40.0, "speed": 10.0}


@example("ring-collision", source="Hesch 6.3, Figs. 6.14-6.21; geometry chosen")
def ring_collision(
    *,
    interface: Annotated[InterfaceName, Parameter("node-to-segment or mortar")] = "nts",
    scheme: Annotated[ContactScheme, Parameter("time-stepping method")] = "energy-momentum",
    energy_option: ClosingGaps = "consistent",
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 0.1,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 9.0,
    speed: Annotated[
        float, Parameter("each component of the velocities, ± for both rings", unit="m/s", above=0.0)
    ] = 10.0,
    mu: Annotated[float, Parameter("coefficient of friction", at_least=0.0)] = 0.0,
    penalty: Penalty = 100.0,
    spin: Annotated[float, Parameter("angular velocity of the first ring at the start", unit="rad/s")] = 0.0,
    radii: Annotated[tuple[float, float], Parameter("inner and outer radius", unit="m", above=0.0)] = (
        80.0,
        100.0,
    ),
    distance: Annotated[
        float, Parameter("between the middles along the flight", unit="m", above=0.0)
    ] = 205.0,
    offset: Annotated[float, Parameter("between the middles across the flight", unit="m")] = 40.0,
    cells: Annotated[tuple[int, int], Parameter("cells across and around each ring", at_least=1)] = (2, 32),
) -> Outcome:
    from klapper.gallery._contact_motion import DRIFT_UNITS, Balance, contact_scheme, penetration
    from klapper.gallery._contact_view import (
        Meshes,
        draw_contact_forces,
        draw_energies,
        draw_momenta,
        draw_pressures,
    )
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.mechanics import InvalidModel
    from klapper.report.film import Film
    from klapper.simulation import SimulationFailed, simulate

    if radii[0] >= radii[1] or cells[1] < 3 or hypot(distance, offset) <= 2.0 * radii[1]:
        raise ParameterError(
            "radii must rise, there must be at least 3 cells around, and the rings must start apart: "
            "√(distance² + offset²) above twice the outer radius."
        )
    try:
        world = two_rings(
            interface, radii, cells, distance, offset, speed, spin, mu, lumped=scheme == "central-difference"
        )
        run = simulate(world, until, contact_scheme(scheme, step, energy_option, penalty))
    except InvalidModel as error:
        raise ParameterError(f"scheme cannot be {scheme} here: {error}") from error
    except SimulationFailed as error:
        raise ParameterError(f"scheme {scheme} does not get through: {error}") from error
    balance, shapes = Balance(world, run), Meshes(world, run)
    touching = (run.state > 0).any(axis=1)
    when = run.time[touching] if touching.any() else np.full(1, np.nan)
    spins = ring_spins(world, balance, -1)
    return Outcome(
        numbers={
            **balance.numbers,
            "max_penetration": penetration(run),
            "newton_iterations": run.statistics.newton_iterations / max(run.statistics.steps, 1),
            "friction_work": balance.friction[-1],
            "contact_begins": when[0],
            "contact_ends": when[-1],
            "highest_force": run.force[1:, :, 0].sum(axis=1).max(),
            "spin_one": spins[0],
            "spin_two": spins[1],
            "energy": balance.energy[0],
            "angular_momentum": balance.angular_momentum[0],
        },
        units={
            **DRIFT_UNITS,
            "max_penetration": "m",
            "newton_iterations": "per step",
            "friction_work": "J",
            "contact_begins": "s",
            "contact_ends": "s",
            "highest_force": "N",
            "spin_one": "kg m²/s (angular momentum about its middle, at the end)",
            "spin_two": "kg m²/s (angular momentum about its middle, at the end)",
            "energy": "J",
            "angular_momentum": "kg m²/s",
        },
        checks=[
            *_start_checks(balance, scheme, radii, cells, (distance, offset), speed, spin),
            *balance.kept_checks(scheme, energy_option),
            *(balance.friction_checks() if mu > 0.0 else ()),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={
            "collision": shapes.row,
            "motion": Film(partial(shapes.scene, frames=FRAMES), frames=FRAMES, still=FRAMES // 2),
            "energy-split": partial(draw_energies, balance=balance),
            "momenta": partial(draw_momenta, balance=balance),
            "contact-forces": partial(draw_contact_forces, run=run),
            "contact-pressure": partial(draw_pressures, world=world, run=run, body="one", surface="outer"),
        },
    )


def two_rings(
    interface: InterfaceName,
    radii: tuple[float, float],
    cells: tuple[int, int],
    distance: float,
    offset: float,
    speed: float,
    spin: float,
    mu: float,
    *,
    lumped: bool = False,
) -> "Continuum":
    """Rings "one", at the origin, and "two", that fly towards each other along the diagonal."""
    from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, annulus, rigid_velocity

    along, across = np.array([1.0, 1.0]) / np.sqrt(2.0), np.array([-1.0, 1.0]) / np.sqrt(2.0)
    ring, law = annulus(*radii, cells), SaintVenantKirchhoff(YOUNG, POISSON)
    one = Solid("one", ring, law, density=DENSITY)
    two = Solid("two", ring.moved(distance * along + offset * across), law, density=DENSITY)
    face = interface_named(interface, secondary=("one", "outer"), primary=("two", "outer"), friction=mu)
    return Continuum(
        [one, two],
        interfaces=[face],
        velocity={
            "one": rigid_velocity(one, (speed, speed), spin),
            "two": rigid_velocity(two, (-speed, -speed), 0.0),
        },
        lumped=lumped,
        name="two rings",
    )


def ring_spins(world: "Continuum", balance: "Balance", sample: int) -> tuple[float, float]:
    """Angular momentum [kg m²/s] of each ring about its own middle."""
    q, v = balance.run.position[sample], balance.run.velocity[sample]
    momentum = (world.mass_matrix @ v).reshape(-1, 2)
    found, first = [], 0
    for solid in world.bodies:
        last = first + len(solid.mesh.nodes)
        share = solid.volume_load()
        place = world.positions(q, solid.name)
        arm = place - share @ place / share.sum()
        found.append(float(np.sum(arm[:, 0] * momentum[first:last, 1] - arm[:, 1] * momentum[first:last, 0])))
        first = last
    return found[0], found[1]


def _start_checks(
    balance: "Balance",
    scheme: ContactScheme,
    radii: tuple[float, float],
    cells: tuple[int, int],
    apart: tuple[float, float],
    speed: float,
    spin: float,
) -> list[Check]:
    """Energy and angular momentum at the start, exact with the consistent mass matrix."""
    area, moment = polygon_ring(radii, cells[1])
    mass, inertia = DENSITY * area, DENSITY * moment
    energy = 2.0 * mass * speed**2 + 0.5 * inertia * spin**2
    turning = (
        mass * np.sqrt(2.0) * speed * apart[1] + inertia * spin
    )  # m |v₂| times the lever arm of ring two
    found = []
    if scheme != "central-difference":
        source = "rigid rings between two polygons in closed form; round-off"
        size = mass * speed * (apart[0] + abs(apart[1])) + abs(inertia * spin)
        found = [
            Check(
                "energy at the start",
                value=balance.energy[0],
                expected=energy,
                tolerance=1e-11 * energy,
                source=source,
            ),
            Check(
                "angular momentum at the start",
                value=balance.angular_momentum[0],
                expected=turning,
                tolerance=1e-11 * size,
                source=source,
            ),
        ]
    given = {"radii": radii, "cells": cells, "distance": apart[0], "offset": apart[1], "speed": speed}
    if scheme != "central-difference" and given == GEOMETRY and spin == 0.0:
        source = "another program with the same geometry, to its digits"
        found += [
            Check(
                "energy of both rings",
                value=balance.energy[0],
                expected=2247.4405,
                tolerance=5e-5,
                source=source,
            ),
            Check(
                "angular momentum of both rings",
                value=abs(balance.angular_momentum[0]),
                expected=6356.722,
                tolerance=5e-4,
                source=source,
            ),
        ]
    return found
