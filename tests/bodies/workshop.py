"""Models with one of everything, and states of them that are not special in any way."""

from __future__ import annotations

import numpy as np

from klapper.bodies import Planar, RigidSystem, Spatial, turned
from klapper.mechanics import Harmonic, Ramp


def planar_contacts() -> RigidSystem:
    """Every kind of planar contact, on bodies that turn and on one that does not."""
    model = Planar(gravity=(0.3, -9.81))
    disc = model.body("disc", mass=0.7, inertia=0.02, at=(0.0, 2.0), angle=0.3)
    block = model.body("block", mass=2.0, inertia=0.4, at=(5.0, 2.0), angle=-0.4)
    cart = model.particle("cart", mass=1.5, at=(10.0, 3.0))
    floor = model.wall("floor", point=(0.0, -1.0), normal=(0.2, 2.0))
    table = model.wall("table", point=(0.0, -1.0), normal=(0.1, 1.0), motion=Harmonic(0.05, 7.0, 0.4))
    belt = model.wall("belt", point=(0.0, -1.0), normal=(0.0, 3.0), sliding=Ramp((0.4, 0.0), (0.3, 0.0)))
    model.contact(disc.disc(0.2, at=(0.1, -0.3)), floor, friction=0.3, restitution=0.8)
    model.contact(block.corners(1.0, 0.6), floor, friction=0.2)
    model.contact(table, disc.disc(0.2, at=(0.1, 0.2)), friction=0.5, name="shaker")
    model.contact(disc.disc(0.2), belt, friction=0.5)
    model.contact(disc.disc(0.2), block.disc(0.5, at=(-0.2, 0.1)), friction=0.1, restitution=1.0)
    model.contact(cart.point(0.1, 0.2), block.disc(0.3), friction=0.1)
    model.contact(cart.disc(0.1), block.wall((0.5, 0.1), (1.0, 0.2)), friction=0.2, name="side")
    model.contact(disc.disc(0.1), cart.wall((-1.0, 0.0), (-1.0, 0.0)), name="post")
    model.contact(block.wall((0.0, -0.3), (0.0, -1.0)), model.ground.disc(0.3, at=(0.0, -3.0)), name="peg")
    model.clearance(disc.disc(0.1, at=(0.1, 0.0)), block.ring(9.0), friction=0.1, name="play")
    return model.build()


def spatial_contacts() -> RigidSystem:
    """Every kind of spatial contact."""
    model = Spatial(gravity=(0.3, 0.1, -9.81))
    ball = model.body(
        "ball", mass=0.7, inertia=(0.02, 0.03, 0.025), at=(0.0, 0.5, 2.0), orientation=turned((1, 2, 3), 0.8)
    )
    box = model.body(
        "box", mass=2.0, inertia=(0.4, 0.5, 0.3), at=(5.0, 0.2, 2.0), orientation=turned((3, -1, 1), -0.5)
    )
    cart = model.particle("cart", mass=1.5, at=(10.0, 0.4, 3.0))
    floor = model.wall("floor", point=(0.0, 0.0, -1.0), normal=(0.2, -0.1, 2.0))
    table = model.wall("table", point=(0, 0, -1.0), normal=(0.1, 0.0, 1.0), motion=Harmonic(0.05, 7.0, 0.4))
    belt = model.wall(
        "belt", point=(0, 0, -1.0), normal=(0, 0, 3.0), sliding=Ramp((0.4, 0.2, 0), (0.3, 0, 0))
    )
    model.contact(ball.sphere(0.2, at=(0.1, -0.3, 0.2)), floor, friction=0.3, restitution=0.8)
    model.contact(box.corners(1.0, 0.6, 0.4), floor, friction=0.2)
    model.contact(table, ball.sphere(0.2, at=(0.1, 0.2, 0.0)), friction=0.5, name="shaker")
    model.contact(ball.sphere(0.2), belt, friction=0.5)
    model.contact(ball.sphere(0.2), box.sphere(0.5, at=(-0.2, 0.1, 0.3)), friction=0.1, restitution=1.0)
    model.contact(cart.point(0.1, 0.2, 0.3), box.sphere(0.3), friction=0.1)
    model.contact(cart.sphere(0.1), box.wall((0.5, 0.1, 0.0), (1.0, 0.2, 0.3)), friction=0.2, name="side")
    model.contact(ball.sphere(0.1), cart.wall((-1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)), name="post")
    model.contact(
        box.wall((0.0, -0.3, 0.0), (0.0, -1.0, 0.2)),
        model.ground.sphere(0.3, at=(0.0, -5.0, -3.0)),
        name="peg",
    )
    model.clearance(ball.sphere(0.1, at=(0.1, 0.0, 0.1)), box.shell(9.0), friction=0.1, name="play")
    return model.build()


def planar_joints() -> RigidSystem:
    """Every kind of planar joint, rheonomic ones too."""
    model = Planar()
    a = model.body("a", mass=1.0, inertia=0.1, at=(1.0, 0.5), angle=0.4)
    b = model.body("b", mass=1.2, inertia=0.2, at=(2.0, -0.5), angle=-0.3)
    c = model.particle("c", mass=0.7, at=(3.0, 0.1))
    place = a.point(0.3, 0.1)
    world = np.array([1.0, 0.5]) + rotation(0.4) @ [0.3, 0.1]
    on_b = rotation(-0.3).T @ (world - [2.0, -0.5])
    model.hinge(place, b.point(on_b))
    model.hinge(a.point(), model.ground.point(1.0, 0.5, motion=Harmonic((0.1, 0.2), 3.0, -0.5 * np.pi)))
    model.slider(b.point(), a.point(rotation(0.4).T @ [1.0, -1.0]), along=(0.6, 0.8))
    model.slot(
        c.point(0.1, 0.0), a.point(rotation(0.4).T @ [2.1, -0.4]), along=(1.0, 0.3), name="pin in slot"
    )
    model.weld(b, c)
    model.rod(c, a.point(0.1, 0.2))
    model.motor(a, model.ground, angle=Ramp(0.0, 2.0))
    return model.build()


def spatial_joints() -> RigidSystem:
    """Every kind of spatial joint, rheonomic ones too."""
    model = Spatial()
    a = model.body(
        "a", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(1, 0.5, 0.2), orientation=turned((1, 1, 0), 0.4)
    )
    b = model.body(
        "b", mass=1.2, inertia=(0.2, 0.3, 0.25), at=(2, -0.5, 0), orientation=turned((0, 1, -1), 0.7)
    )
    c = model.particle("c", mass=0.7, at=(3.0, 0.1, 0.4))
    free = model.build()  # to find places that coincide
    start = free.start.position
    world = free.place(a.point(0.3, 0.1, -0.2), start)

    def on_b(point: np.ndarray) -> np.ndarray:
        return free.axes(b, start).T @ (point - [2, -0.5, 0])

    model.hinge(a.point(0.3, 0.1, -0.2), b.point(on_b(world)), axis=(1.0, 2.0, 0.5))
    model.ball_joint(
        a.point(), model.ground.point(1, 0.5, 0.2, motion=Harmonic((0.1, 0.2, 0.3), 3.0, -0.5 * np.pi))
    )
    model.slider(a.point(), b.point(on_b(np.array([1, 0.5, 0.2]))), along=(0.6, 0.8, 0.1))
    model.slot(c.point(0.1, 0.0, 0.2), b.point(on_b(np.array([3.1, 0.1, 0.6]))), along=(1.0, 0.3, 0.2))
    model.weld(a, c)
    model.rod(c, a.point(0.1, 0.2, 0.3))
    model.motor(b, a, axis=(0.3, 0.1, 1.0), angle=Ramp(0.0, 2.0))
    return model.build()


def planar_springs(*, loads: bool = True) -> RigidSystem:
    """Springs, dampers, torsion springs and loads in the plane."""
    model = Planar(gravity=(0.0, -9.81))
    a = model.body("a", mass=1.0, inertia=0.1, at=(1.0, 0.5), angle=0.4)
    b = model.body("b", mass=1.2, inertia=0.2, at=(2.0, -0.5), angle=-0.3)
    c = model.particle("c", mass=0.7, at=(3.0, 0.1))
    ground = model.ground
    model.spring(a.point(0.1, 0.2), b.point(-0.3, 0.1), stiffness=30.0, length=0.9, damping=0.7)
    model.spring(a, ground.point(1.0, 3.0), stiffness=20.0)
    model.spring(b, c, stiffness=15.0, length=0.0, damping=0.2)
    model.damper(a.point(0.0, 0.1), c, damping=0.4)
    model.torsion_spring(a, b, stiffness=3.0, angle=0.1, damping=0.05)
    model.torsion_spring(b, ground, stiffness=2.0)
    if loads:
        moved = ground.point(4.0, 1.0, motion=Harmonic((0.2, 0.1), 5.0))
        model.spring(c, moved, stiffness=25.0, damping=0.6)
        model.force(a.point(0.2, 0.1), (3.0, 1.0))
        model.force(c, Harmonic((1.0, -2.0), 4.0))
        model.moment(b, lambda t: 0.5 * np.sin(t))
    return model.build()


def spatial_springs(*, loads: bool = True) -> RigidSystem:
    """Springs, dampers, torsion springs and loads in space."""
    model = Spatial(gravity=(0.0, 0.0, -9.81))
    a = model.body(
        "a", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(1, 0.5, 0.2), orientation=turned((1, 1, 0), 0.4)
    )
    b = model.body(
        "b", mass=1.2, inertia=(0.2, 0.3, 0.25), at=(2, -0.5, 0), orientation=turned((0, 1, -1), 0.7)
    )
    c = model.particle("c", mass=0.7, at=(3.0, 0.1, 0.4))
    ground = model.ground
    model.spring(a.point(0.1, 0.2, 0.3), b.point(-0.3, 0.1, 0.2), stiffness=30.0, length=0.9, damping=0.7)
    model.spring(a, ground.point(1.0, 3.0, 1.0), stiffness=20.0)
    model.spring(b, c, stiffness=15.0, length=0.0, damping=0.2)
    model.damper(a.point(0.0, 0.1, 0.3), c, damping=0.4)
    model.torsion_spring(a, b, axis=(1.0, 0.5, 0.2), stiffness=3.0, angle=0.1, damping=0.05)
    model.torsion_spring(b, ground, axis=(0.0, 0.0, 1.0), stiffness=2.0)
    if loads:
        moved = ground.point(4.0, 1.0, 0.0, motion=Harmonic((0.2, 0.1, 0.3), 5.0))
        model.spring(c, moved, stiffness=25.0, damping=0.6)
        model.force(a.point(0.2, 0.1, -0.1), (3.0, 1.0, 2.0))
        model.force(c, Harmonic((1.0, -2.0, 0.5), 4.0))
        model.moment(b, lambda t: (0.5 * np.sin(t), 0.2, -0.1 * t))
    return model.build()


def rotation(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def some_state(system: RigidSystem, seed: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Time, position and velocity away from the start, unit quaternions kept."""
    random = np.random.default_rng(seed)
    n = len(system.velocities)
    q = system.advance(system.start.position, 0.6 * random.normal(size=n))
    return float(random.uniform(0.1, 0.9)), q, random.normal(size=n)
