"""Models of the kinds that users write, in klapper: mechanisms, belts, rotors, functions of the position.

Each is what a user writes, nothing is prepared for the loop. `SYSTEMS` has them by name, `WITHOUT` the same ones
without what makes them costly: friction, constraints, or the motion of the belt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from klapper.bodies import Planar, Spatial, inertia
from klapper.gallery._rotor import ALUMINIUM
from klapper.gallery._rotor_clatter import settled
from klapper.gallery._woodpecker import START, Toy
from klapper.mechanics import Constraint, Contact, FunctionSystem, Harmonic, LinearSystem, Ramp, System
from klapper.structures import Beam, Material, Section

GRAVITY = 9.81
BELT = 1.5  # m/s
LINK = 0.2  # m
LINK_MASS = 0.5  # kg


@dataclass(frozen=True)
class UserModel:
    """A system, the step [s] with which it is timed, and how many steps are timed at once.

    ``without``       the same without what is named in ``lacks``, for the ratio that this costs
    """

    system: Callable[[], System]
    step: float
    steps: int = 2000
    without: Callable[[], System] | None = None
    lacks: str = ""


def double_pendulum() -> FunctionSystem:
    """Angles from the vertical; the tip hits a wall."""
    g = GRAVITY

    def mass(q: np.ndarray) -> np.ndarray:
        c = np.cos(q[0] - q[1])
        return np.array([[2.0, c], [c, 1.0]])

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        s = np.sin(q[0] - q[1])
        return np.array([-s * v[1] ** 2 - 2 * g * np.sin(q[0]), s * v[0] ** 2 - g * np.sin(q[1])])

    wall = Contact(
        "wall",
        gap=lambda t, q: 1.2 - np.sin(q[0]) - np.sin(q[1]),
        normal=lambda t, q: np.array([-np.cos(q[0]), -np.cos(q[1])]),
        restitution=0.5,
    )
    return FunctionSystem(
        [1.0, 0.3],
        [1.0, 2.0],
        mass=mass,
        force=force,
        contacts=[wall],
        stiff=False,
        potential=lambda q: -2 * g * np.cos(q[0]) - g * np.cos(q[1]),
    )


def slider_crank(speed: float = 10.0) -> System:
    """Crank of 0.15 m driven at constant speed, rod of 0.4 m, slider on a straight guide."""
    model = Planar(gravity=(0.0, -GRAVITY))
    crank = model.body("crank", mass=1.0, inertia=inertia.rod(1.0, 0.15), at=(0.075, 0.0), spin=speed)
    rod = model.body("rod", mass=1.0, inertia=inertia.rod(1.0, 0.4), at=(0.35, 0.0))
    slider = model.body("slider", mass=2.0, inertia=0.01, at=(0.55, 0.0))
    model.hinge(crank.point(-0.075, 0.0), model.ground.point(0.0, 0.0))
    model.hinge(crank.point(0.075, 0.0), rod.point(-0.2, 0.0))
    model.hinge(rod.point(0.2, 0.0), slider.point(0.0, 0.0))
    model.slider(slider.point(0.0, 0.0), model.ground.point(0.0, 0.0), along=(1.0, 0.0))
    model.motor(crank, model.ground, angle=Ramp(0.0, speed))
    return model.build(velocity="consistent")


def four_bar(friction: float = 0.1) -> System:
    """Crank and rocker; the pin between coupler and rocker has a clearance of 0.5 mm."""
    speed = 8.0
    model = Planar(gravity=(0.0, -GRAVITY))
    crank = model.body(
        "crank", mass=0.5, inertia=inertia.rod(0.5, 0.2), at=(0.0, 0.1), angle=np.pi / 2, spin=speed
    )
    coupler = model.body("coupler", mass=1.0, inertia=inertia.rod(1.0, 0.6), at=(0.3, 0.2))
    rocker = model.body("rocker", mass=1.0, inertia=inertia.rod(1.0, 0.4), at=(0.6, 0.0), angle=np.pi / 2)
    model.hinge(crank.point(-0.1, 0.0), model.ground.point(0.0, 0.0))
    model.hinge(crank.point(0.1, 0.0), coupler.point(-0.3, 0.0))
    model.hinge(rocker.point(-0.2, 0.0), model.ground.point(0.6, -0.2))
    model.clearance(
        coupler.disc(0.01, at=(0.3, 0.0)),
        rocker.ring(0.0105, at=(0.2, 0.0)),
        friction=friction,
        restitution=0.3,
    )
    model.motor(crank, model.ground, angle=Ramp(0.0, speed))
    return model.build(velocity="consistent")


def hinged_chain(links: int = 20, friction: float = 0.3, slope: float = 0.1, height: float = 0.02) -> System:
    """Links of 0.2 m in a row, dropped at an angle onto the ground."""
    model = Planar(gravity=(0.0, -GRAVITY))
    bodies: list[Any] = []
    along = LINK * np.array([np.cos(slope), np.sin(slope)])
    floor = model.wall("floor", normal=(0.0, 1.0))
    for i in range(links):
        body = model.body(
            f"link {i + 1}", mass=LINK_MASS, inertia=inertia.rod(LINK_MASS, LINK),
            at=np.array([0.0, height]) + (i + 0.5) * along, angle=slope,
        )  # fmt: skip
        if bodies:
            model.hinge(bodies[-1].point(0.5 * LINK, 0.0), body.point(-0.5 * LINK, 0.0), name=f"hinge {i}")
        model.contact(body.point(0.5 * LINK, 0.0), floor, friction=friction, name=f"foot {i + 1}")
        bodies.append(body)
    model.contact(bodies[0].point(-0.5 * LINK, 0.0), floor, friction=friction, name="foot 0")
    return model.build()


def lying_chain(links: int) -> System:
    return hinged_chain(links, slope=0.0, height=0.0)


def flying_chain(links: int) -> System:
    """The same links without a ground, thrown so that they turn."""
    model = Planar(gravity=(0.0, -GRAVITY))
    bodies = []
    for i in range(links):
        spin, place = 3.0, np.array([(i + 0.5) * LINK, 0.0])
        body = model.body(
            f"link {i + 1}", mass=LINK_MASS, inertia=inertia.rod(LINK_MASS, LINK), at=place, spin=spin,
            velocity=(0.0, spin * place[0]),
        )  # fmt: skip
        if bodies:
            model.hinge(bodies[-1].point(0.5 * LINK, 0.0), body.point(-0.5 * LINK, 0.0), name=f"hinge {i}")
        bodies.append(body)
    return model.build()


def row_of_blocks(count: int) -> System:
    """Blocks on a belt, which do not touch each other."""
    model = Planar(gravity=(0.0, -GRAVITY))
    belt = model.wall("belt", normal=(0.0, 1.0), sliding=(BELT, 0.0))
    for i in range(count):
        block = model.body(
            f"block {i + 1}", mass=1.0, inertia=inertia.rectangle(1.0, 0.2, 0.1), at=(float(i), 0.05)
        )
        model.contact(block.corners(0.2, 0.1), belt, friction=0.4, restitution=0.3)
    return model.build()


def row_of_masses(count: int) -> System:
    return Row(count).system("moved base")


def turntable(friction: float = 0.3) -> System:
    """A coin on a disc that a motor turns at 4 rad/s."""
    speed = 4.0
    model = Spatial(gravity=(0.0, 0.0, -GRAVITY))
    disc = model.body(
        "disc", mass=5.0, inertia=inertia.cylinder(5.0, 0.5, 0.02), at=(0.0, 0.0, 0.0), spin=(0.0, 0.0, speed)
    )
    model.hinge(disc.point(0.0, 0.0, 0.0), model.ground, axis=(0.0, 0.0, 1.0))
    model.motor(disc, model.ground, angle=Ramp(0.0, speed), axis=(0.0, 0.0, 1.0))
    coin = model.particle("coin", mass=0.2, at=(0.15, 0.0, 0.0))
    model.contact(coin.point(), disc.wall((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), name="top"), friction=friction)
    return model.build(velocity="consistent")


def block_on_belt(sliding: float = BELT) -> System:
    model = Planar(gravity=(0.0, -GRAVITY))
    block = model.body("block", mass=1.0, inertia=inertia.rectangle(1.0, 0.2, 0.1), at=(0.0, 0.08))
    belt = model.wall("belt", normal=(0.0, 1.0), sliding=(sliding, 0.0))
    model.contact(block.corners(0.2, 0.1), belt, friction=0.4, restitution=0.3)
    return model.build()


def woodpecker(friction: float = 0.3) -> System:
    return Toy(mu=friction).system(*START)


def _beam(constrained: bool) -> System:
    """A cantilever of ten elements whose base moves up and down (or whose tip is shaken), over a stop at its tip."""
    steel = Material.isotropic(young=200e9, poisson=0.3, density=8000.0)
    beam = Beam(
        0.5, steel, Section.rectangle(height=0.005, width=0.02), elements=10,
        supports={} if constrained else {0.0: "clamped"}, theory="euler-bernoulli",
    ).with_rayleigh(mass=1.0, stiffness=1e-5)  # fmt: skip
    structure = beam if constrained else beam.with_load(Harmonic(5.0, 60.0), beam.row(0.5))
    stop = Contact("stop", normal=beam.row(0.5), gap=1e-3, restitution=0.3)
    if not constrained:
        return structure.system([stop])
    base, tilt = beam.row(0.0), np.zeros(len(structure.system().velocities))
    tilt[1] = 1.0
    guides = [
        Constraint("base", direction=base, offset=Harmonic(2e-3, 60.0, -np.pi / 2)),
        Constraint("base angle", direction=tilt),
    ]
    given = structure.system([stop])
    return LinearSystem(
        given.mass_matrix,
        stiffness=given.stiffness,
        damping=given.damping,
        contacts=[stop],
        constraints=guides,
    )


@cache
def _rotor_start() -> Any:
    return settled(ALUMINIUM.model(10), 5.2, 9, 5.0, 800).run.final


def rotor(friction: float = 0.3) -> System:
    """A delaminated shaft: 10 modes, 9 contacts in its joint, 3 patches of friction."""
    model = ALUMINIUM.model(10)
    time, position, velocity = _rotor_start()
    parts = model.contacts(9, friction=friction, patches=3, slip="surface") if friction else model.contacts(9)
    return model.system(
        5.2, parts, position=position, velocity=velocity, time=time, penetration=ALUMINIUM.height
    )


def jeffcott(friction: float = 0.1) -> FunctionSystem:
    """A rotor in a ring with 1 mm of clearance, just below its critical speed."""
    m, k, d, c, radius, e = 1.0, 4e4, 8.0, 1e-3, 0.02, 2e-4
    speed = 0.95 * np.sqrt(k / m)

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return m * e * speed**2 * np.array([np.cos(speed * t), np.sin(speed * t)]) - k * q - d * v

    rub = Contact(
        "rub",
        gap=lambda t, q: c - np.hypot(q[0], q[1]),
        normal=lambda t, q: -np.array(q) / (np.hypot(q[0], q[1]) + 1e-300),
        tangents=lambda t, q: np.array([[-q[1], q[0]]]) / (np.hypot(q[0], q[1]) + 1e-300),
        tangential_rate=radius * speed,
        friction=friction,
    )
    if friction == 0.0:
        rub = Contact("rub", gap=rub.gap, normal=rub.normal)
    return FunctionSystem([1e-6, 0.0], [0.0, 0.0], mass=np.eye(2) * m, force=force, contacts=[rub])


@dataclass(frozen=True)
class Row:
    """Ten masses between springs, pushed to a stop behind the last one."""

    n: int = 10

    @property
    def stiffness(self) -> np.ndarray:
        n = self.n
        return 1e4 * (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))

    @property
    def damping(self) -> np.ndarray:
        return 2e-5 * self.stiffness

    @property
    def gyroscopic(self) -> np.ndarray:
        return 5.0 * (np.eye(self.n, k=1) - np.eye(self.n, k=-1))

    @property
    def load(self) -> np.ndarray:
        return np.r_[np.zeros(self.n - 1), 30.0]

    @property
    def velocity(self) -> np.ndarray:
        return np.where(np.arange(self.n) % 2, -1.0, 1.0)

    def system(self, kind: str) -> LinearSystem:
        """Plain, with a moved base (the first mass), or with a rough stop and a gyroscopic matrix."""
        unit = np.eye(self.n)
        stop: dict[str, Any] = {"normal": -unit[-1], "gap": 1e-3, "restitution": 0.5}
        more: dict[str, Any] = {}
        if kind == "moved base":
            base = Harmonic(1e-3, 40.0, -np.pi / 2)
            more["constraints"] = [Constraint("base", direction=unit[0], offset=base)]
        elif kind == "rough":
            stop |= {"tangents": [unit[4]], "friction": 0.3}
            more["gyroscopic"] = self.gyroscopic
        velocity = self.velocity
        if kind == "moved base":
            velocity[0] = 0.04
        return LinearSystem(
            np.ones(self.n), stiffness=self.stiffness, damping=self.damping, force=self.load,
            velocity=velocity, contacts=[Contact("stop", **stop)], **more,
        )  # fmt: skip


MODELS: dict[str, UserModel] = {
    "double pendulum, wall": UserModel(double_pendulum, 1e-4, 20_000),
    "slider-crank with motor": UserModel(slider_crank, 1e-3),
    "four-bar with clearance": UserModel(four_bar, 1e-4, 4000, lambda: four_bar(friction=0.0), "friction"),
    "chain of 20 hinged bodies on the ground": UserModel(
        hinged_chain, 1e-3, 500, lambda: hinged_chain(friction=0.0), "friction"
    ),
    "coin on a turntable": UserModel(turntable, 1e-3, 1000, lambda: turntable(friction=0.0), "friction"),
    "block on a moving belt": UserModel(
        block_on_belt, 1e-3, 2000, lambda: block_on_belt(0.0), "motion of the belt"
    ),
    "woodpecker": UserModel(woodpecker, 1e-4, 10_000, lambda: woodpecker(0.0), "friction"),
    "base-excited beam with a stop": UserModel(
        lambda: _beam(True), 1e-5, 5000, lambda: _beam(False), "constraints"
    ),
    "rotor, 10 modes, 9 contacts, friction in the joint": UserModel(
        rotor, 1.0 / (5.2 * 800), 1600, lambda: rotor(0.0), "friction"
    ),
    "Jeffcott rotor rubbing in a ring": UserModel(jeffcott, 1e-5, 20_000, lambda: jeffcott(0.0), "friction"),
    "10 masses with a stop": UserModel(lambda: Row().system("plain"), 1e-3, 10_000),
    "10 masses with a stop, moved base": UserModel(
        lambda: Row().system("moved base"), 1e-3, 5000, lambda: Row().system("plain"), "the constraint"
    ),
    "10 masses with a rough stop, gyroscopic": UserModel(
        lambda: Row().system("rough"),
        1e-3,
        5000,
        lambda: Row().system("plain"),
        "friction and gyroscopic matrix",
    ),
}


def matrices(name: str) -> dict[str, np.ndarray] | None:
    """What Siconos needs of a linear model: matrices, load, start and contacts; None for the others.

    The block turns little, so that its corners move as the matrices say; it is seen from the belt.
    """
    if name == "woodpecker":
        toy = Toy()
        bird, rate, speed = START
        start = toy.system(bird, rate, speed).start
        return {
            "mass": toy.mass, "damping": np.zeros((3, 3)), "stiffness": toy.stiffness, "load": toy.weight,
            "position": start.position, "velocity": start.velocity, "normals": toy.normals,
            "tangents": toy.tangents, "gaps": toy.gaps_at_zero, "friction": np.full(3, toy.mu),
            "restitution": toy.restitutions,
        }  # fmt: skip
    if name == "10 masses with a rough stop, gyroscopic":
        row = Row()
        unit = np.eye(row.n)
        return {
            "mass": unit, "damping": row.damping + row.gyroscopic, "stiffness": row.stiffness, "load": row.load,
            "position": np.zeros(row.n), "velocity": row.velocity, "normals": -unit[-1:], "tangents": unit[4:5],
            "gaps": np.array([1e-3]), "friction": np.array([0.3]), "restitution": np.array([0.5]),
        }  # fmt: skip
    if name == "block on a moving belt":
        corners = np.array([[-0.1, -0.05], [0.1, -0.05]])
        turn = inertia.rectangle(1.0, 0.2, 0.1)
        return {
            "mass": np.diag([1.0, 1.0, turn]), "damping": np.zeros((3, 3)), "stiffness": np.zeros((3, 3)),
            "load": np.array([0.0, -GRAVITY, 0.0]), "position": np.array([0.0, 0.08, 0.0]),
            "velocity": np.array([-BELT, 0.0, 0.0]), "normals": np.array([[0.0, 1.0, x] for x, _ in corners]),
            "tangents": np.array([[1.0, 0.0, -y] for _, y in corners]), "gaps": corners[:, 1],
            "friction": np.full(2, 0.4), "restitution": np.full(2, 0.3),
        }  # fmt: skip
    return None
