"""Models and runs through given positions."""

from typing import Any

import numpy as np

from klapper.bodies import Planar, RigidSystem, Spatial
from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, block
from klapper.mechanics import Contact, LinearSystem
from klapper.results import Layout, Run, Samples
from klapper.structures import Beam, Material, Section
from klapper.view import with_picture

STEEL = Material(young=210e9, density=7500.0, shear=81e9)


def run_through(positions: Any, names: tuple[str, ...] | None = None, velocities: int | None = None) -> Run:
    """A run through given positions (s, n), one each second, at rest in each."""
    positions = np.asarray(positions, dtype=float)
    count, size = positions.shape
    names = names or tuple(f"q {k}" for k in range(size))
    rates = tuple(f"v {k}" for k in range(velocities)) if velocities else names
    empty = np.zeros((count, 0))
    samples = Samples(
        np.arange(count),
        np.arange(count, dtype=float),
        positions,
        np.zeros((count, len(rates))),
        empty,
        np.zeros((count, 0, 1)),
        empty,
        empty,
        np.zeros((count, 7)),
        np.zeros(count),
    )
    return Run(Layout(names, rates), samples, {"system": "given motion"})


def pictured(model: Any, positions: Any, coordinates: tuple[str, ...] | None = None) -> Run:
    names = getattr(model, "coordinates", None) if coordinates is None else coordinates
    rates = len(getattr(model, "velocities", names or ()))
    return with_picture(run_through(positions, names, rates), model)


def planar() -> RigidSystem:
    model = Planar(gravity=(0.0, -9.81), name="block and ball")
    block_ = model.body("block", mass=1.0, inertia=1.0, at=(0.0, 3.0))
    ball = model.body("ball", mass=1.0, inertia=1.0, at=(2.0, 1.0))
    floor = model.wall("floor", normal=(0.0, 1.0))
    table = model.wall("table", point=(0.0, -1.0), normal=(0.0, 1.0), motion=lambda t: 0.1 * t)
    model.contact(block_.corners(0.4, 0.2), floor)
    model.contact(ball.disc(0.5), floor)
    model.contact(ball.disc(0.5), table)
    model.spring(block_.point(0.2, 0.0), ball.point(), stiffness=10.0)
    return model.build()


def spatial() -> RigidSystem:
    model = Spatial(gravity=(0.0, 0.0, -9.81), name="box and ball")
    box = model.body("box", mass=1.0, inertia=(0.002, 0.003, 0.004), at=(0.0, 0.0, 0.6))
    ball = model.body("ball", mass=1.0, inertia=0.004, at=(0.5, 0.2, 0.4))
    table = model.wall("table", normal=(0.0, 0.0, 1.0))
    model.contact(box.corners(0.3, 0.2, 0.1), table)
    model.contact(ball.sphere(0.1), table)
    return model.build()


def turned_box() -> Run:
    """The box and the ball, at last moved by (1, 2, 3) and turned by a right angle about z."""
    system = spatial()
    after = system.start.position.copy()
    after[:3] += (1.0, 2.0, 3.0)
    after[3:7] = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    return pictured(system, [system.start.position, after])


def turned_block() -> Run:
    system = planar()
    return pictured(system, [system.start.position, [1.0, 2.0, np.pi / 2, 4.0, 1.5, 1.0]])


def beam() -> Beam:
    supports = {0.0: "pinned", 1.0: "pinned"}
    return Beam(
        1.0, STEEL, Section.rectangle(0.02, 0.01), elements=8, theory="euler-bernoulli", supports=supports
    )


def bent_beam(force: float = -100.0) -> Run:
    """A beam that was straight and is bent by a force in its middle."""
    made = beam()
    q = made.with_point_load(0.5, force).deflection()
    return pictured(made, [np.zeros(made.size), q], made.coordinates)


def row() -> LinearSystem:
    return LinearSystem(
        [1.0, 1.0],
        stiffness=[[2.0, -1.0], [-1.0, 1.0]],
        contacts=[Contact("stop", normal=[0.0, -1.0], gap=0.3)],
        coordinates=["left", "right"],
    )


def cube(law: Any = None) -> Continuum:
    solid = Solid(
        "cube",
        block((1.0, 1.0, 1.0), (2, 2, 2), element="hex8"),
        law or SaintVenantKirchhoff(1000.0, 0.0),
        density=1.0,
    )
    return Continuum([solid])


def stretched_cube(stretch: float = 1.2) -> Run:
    world = cube()
    rest = world.start.position
    return pictured(world, [rest, (rest.reshape(-1, 3) * [stretch, 1.0, 1.0]).ravel()])


ALL = {
    "planar": turned_block,
    "spatial": turned_box,
    "beam": bent_beam,
    "row": lambda: pictured(row(), [[0.0, 0.0], [0.1, 0.3]]),
    "cube": stretched_cube,
}
