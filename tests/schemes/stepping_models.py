"""Random models of every kind for one step of Moreau's scheme: linear, of functions, planar and spatial bodies.

Each draws its shape and numbers from a generator. They move sensibly, so that contacts open, close, stick and slip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from klapper.bodies import Planar, Spatial, inertia
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    LinearSystem,
    Ramp,
    Stribeck,
    System,
)

Draw = np.random.Generator


def linear(draw: Draw) -> System:
    """Full or diagonal masses, skew matrices, moving walls and belts, shares, redundant guides."""
    n, d = int(draw.integers(1, 8)), int(draw.integers(0, 3))
    root = draw.normal(size=(n, n))
    mass = root @ root.T + n * np.eye(n) if draw.random() < 0.5 else np.diag(draw.uniform(0.5, 2.0, n))
    stiffness = None
    if draw.random() < 0.7:
        root = draw.normal(size=(n, n))
        stiffness = 50.0 * root @ root.T
    skew = draw.normal(size=(2, n, n))
    contacts: list[Any] = [_linear_contact(draw, f"contact {i}", n, d) for i in range(draw.integers(0, 5))]
    if d and draw.random() < 0.4:
        shares = {contact.name: 0.3 for contact in contacts[:2]} if draw.random() < 0.6 else {}
        pad = draw.normal(size=(d, n))
        contacts.append(FrictionElement("pad", tangents=pad, limit=draw.uniform(0.1, 2.0), shares=shares))
    guides = []
    if n > 1 and draw.random() < 0.4:
        row, moves = draw.normal(size=n), bool(draw.random() < 0.5)
        for k in range(1 + int(draw.random() < 0.4)):  # the second one says the same again
            offset = Harmonic(0.01 * (k + 1), 4.0, -np.pi / 2) if moves else 0.0
            guides.append(Constraint(f"guide {k}", direction=(k + 1) * row, offset=offset))
    return LinearSystem(
        mass,
        stiffness=stiffness,
        damping=None if stiffness is None else 0.01 * stiffness,
        gyroscopic=skew[0] - skew[0].T if draw.random() < 0.3 else None,
        circulatory=3.0 * (skew[1] - skew[1].T) if draw.random() < 0.2 else None,
        force=Harmonic(30.0 * draw.normal(size=n), draw.uniform(2.0, 20.0)) + 5.0 * draw.normal(size=n),
        contacts=contacts,
        constraints=guides,
    )


def _linear_contact(draw: Draw, name: str, n: int, d: int) -> Contact:
    gap: Any = draw.uniform(0.0, 0.05)
    if draw.random() < 0.3:
        gap = gap + 0.02 + Harmonic(0.02, draw.uniform(3.0, 20.0))
    if d == 0:
        return Contact(name, normal=draw.normal(size=n), gap=gap, restitution=draw.uniform(0.0, 0.8))
    friction: list[Any] = [0.0, draw.uniform(0.1, 0.6), Stribeck(0.4, 0.2, 0.1)]
    if d == 2:
        friction.append(Anisotropic(0.5, 0.2))
    rate: list[Any] = [0.0, draw.normal(), Harmonic(draw.normal(), 5.0)]
    return Contact(
        name,
        normal=draw.normal(size=n),
        gap=gap,
        restitution=draw.uniform(0.0, 0.8),
        tangents=draw.normal(size=(d, n)),
        friction=friction[draw.integers(len(friction))],
        tangential_rate=rate[draw.integers(3)],
        limit=draw.uniform(0.0, 1.0) if draw.random() < 0.2 else 0.0,
    )


def pendulum(draw: Draw) -> System:
    """A double pendulum that hits a wall, with M(q); loads and a potential or none."""
    g, ratio, wall, push = 9.81, draw.uniform(0.2, 2.0), draw.uniform(0.7, 1.3), draw.uniform(0.0, 3.0)

    def mass(q):
        c = ratio * np.cos(q[0] - q[1])
        return np.array([[1.0 + ratio, c], [c, ratio]])

    def force(t, q, v):
        s = ratio * np.sin(q[0] - q[1])
        return np.array(
            [
                -s * v[1] ** 2 - (1.0 + ratio) * g * np.sin(q[0]),
                s * v[0] ** 2 - ratio * g * np.sin(q[1]) + push * np.cos(3.0 * t),
            ]
        )

    gap = Contact(
        "wall", gap=lambda t, q: wall - np.sin(q[0]) - np.sin(q[1]), restitution=draw.uniform(0.0, 0.9)
    )
    return FunctionSystem(
        draw.uniform(-0.3, 0.3, 2),
        draw.normal(size=2),
        mass=mass,
        force=force,
        contacts=[gap],
        stiff=[None, False][draw.integers(2)],
        potential=[None, lambda q: -g * ((1.0 + ratio) * np.cos(q[0]) + ratio * np.cos(q[1]))][
            draw.integers(2)
        ],
    )


def ring(draw: Draw) -> System:
    """A rotor that rubs in a ring or a bead on a hoop: curved gap or curved constraint, friction by a function."""
    radius, k, c = draw.uniform(0.5, 1.5), draw.uniform(0.0, 20.0), draw.uniform(0.0, 1.0)
    speed, mu = draw.uniform(-3.0, 3.0), draw.uniform(0.05, 0.5)

    def force(t, q, v):
        x = -k * q - c * v
        x[1] -= 9.81
        x[0] += 2.0 * np.cos(4.0 * t)
        return x

    def tangents(t, q):
        r = np.sqrt(q[0] ** 2 + q[1] ** 2)
        return np.array([[-q[1] / r, q[0] / r]])

    if draw.random() < 0.3:
        hoop = Constraint("hoop", offset=lambda t, q: np.sqrt(q[0] ** 2 + q[1] ** 2) - radius)
        angle = draw.uniform(0.0, 6.0)
        start = radius * np.array([np.cos(angle), np.sin(angle)])
        turn = draw.normal() * np.array([-np.sin(angle), np.cos(angle)])
        return FunctionSystem(start, turn, mass=np.eye(2), force=force, constraints=[hoop])
    rub = Contact(
        "rub",
        gap=lambda t, q: radius - np.sqrt(q[0] ** 2 + q[1] ** 2),
        tangents=tangents,
        tangential_rate=speed,
        friction=[mu, lambda v: mu / (1.0 + v)][draw.integers(2)],
        restitution=draw.uniform(0.0, 0.8),
    )
    start = radius * draw.uniform(0.5, 0.999) * np.array([0.6, -0.8])
    mass = np.diag(draw.uniform(0.5, 2.0, 2))
    return FunctionSystem(start, draw.normal(size=2), mass=mass, force=force, contacts=[rub])


def chain(draw: Draw) -> System:
    """Hinged links over a floor at rest or a belt, hung or free, with springs or torsion."""
    model = Planar(gravity=(0.0, -9.81))
    count, angle = int(draw.integers(1, 6)), draw.uniform(-1.0, 1.0)
    links = []
    place = np.array([0.0, draw.uniform(0.5, 2.0)])
    for i in range(count):
        angle += draw.uniform(-0.4, 0.4)
        half = 0.5 * np.array([np.cos(angle), np.sin(angle)]) * 0.4
        link = model.body(
            f"link {i}",
            mass=draw.uniform(0.5, 2.0),
            inertia=inertia.rod(1.0, 0.4),
            at=place + half,
            angle=angle,
        )
        if links:
            model.hinge(links[-1].point(0.2, 0.0), link.point(-0.2, 0.0), name=f"hinge {i}")
            if draw.random() < 0.3:
                model.torsion_spring(links[-1], link, stiffness=draw.uniform(0.5, 5.0), damping=0.05)
        elif draw.random() < 0.6:
            model.hinge(link.point(-0.2, 0.0), model.ground.point(*place), name="hung")
        place = place + 2.0 * half
        links.append(link)
    low = min(-0.01, float(place[1]) - 1.5)
    sliding = (draw.uniform(-1.0, 1.0), 0.0) if draw.random() < 0.4 else (0.0, 0.0)
    floor = model.wall("floor", point=(0.0, low), normal=(0.0, 1.0), sliding=sliding)
    for i, link in enumerate(links):
        model.contact(
            link.point(0.2, 0.0), floor, friction=[0.0, 0.3, Stribeck(0.4, 0.2, 0.1)][draw.integers(3)],
            restitution=draw.uniform(0.0, 0.6), name=f"tip {i}",
        )  # fmt: skip
    if draw.random() < 0.5:
        model.spring(links[-1].point(0.2, 0.0), model.ground.point(0.5, 1.0), stiffness=20.0, damping=0.2)
    return model.build(velocity="consistent", penetration=10.0)


def block(draw: Draw) -> System:
    """A block on a belt or between walls, balls that meet, a disc in a ring."""
    model = Planar(gravity=(0.0, -9.81))
    body = model.body(
        "block", mass=1.0, inertia=inertia.rectangle(1.0, 0.2, 0.1), at=(0.0, 0.06), velocity=draw.normal(size=2),
        spin=draw.normal(),
    )  # fmt: skip
    floor = model.wall("belt", normal=(0.0, 1.0), sliding=(draw.normal(), 0.0))
    model.contact(
        body.corners(0.2, 0.1), floor, friction=draw.uniform(0.0, 0.6), restitution=draw.uniform(0.0, 0.5)
    )
    ball = model.body(
        "ball",
        mass=0.5,
        inertia=1e-3,
        at=(draw.uniform(0.2, 0.4), draw.uniform(0.1, 0.3)),
        velocity=(-1.0, 0.0),
    )
    model.contact(ball.disc(0.05), floor, friction=0.2, restitution=0.5)
    model.contact(ball.disc(0.05), body.disc(0.05), friction=0.3, name="ball – block")
    if draw.random() < 0.5:
        ring = model.body("ring", mass=2.0, inertia=0.1, at=(2.0, 1.0), spin=draw.normal())
        disc = model.body("disc", mass=0.3, inertia=1e-3, at=(2.0, 0.96))
        model.clearance(disc.disc(0.1), ring.ring(0.15), friction=0.2)
    if draw.random() < 0.5:
        model.force(body.point(0.05, 0.0), Harmonic(draw.normal(size=2), 7.0))
    return model.build(penetration=10.0)


def spatial(draw: Draw) -> System:
    """A ball or box that spins on a turntable or floor, pendulums on ball joints and hinges."""
    model = Spatial(gravity=(0.0, 0.0, -9.81))
    floor = model.wall("floor", normal=(0.0, 0.0, 1.0))
    box = model.body(
        "box", mass=2.0, inertia=inertia.box(2.0, 0.4, 0.3, 0.2), at=(0.0, 0.0, 0.12), spin=draw.normal(size=3),
        velocity=0.3 * draw.normal(size=3),
    )  # fmt: skip
    model.contact(
        box.corners(0.4, 0.3, 0.2), floor, friction=[0.0, 0.4, Anisotropic(0.5, 0.2)][draw.integers(3)],
        restitution=draw.uniform(0.0, 0.5),
    )  # fmt: skip
    if draw.random() < 0.6:
        arm = model.body(
            "arm", mass=1.0, inertia=(0.01, 0.1, 0.1), at=(1.0, 0.0, 1.0), spin=draw.normal(size=3)
        )
        model.ball_joint(arm.point(-0.3, 0.0, 0.0), model.ground.point(0.7, 0.0, 1.0))
        if draw.random() < 0.5:
            fore = model.body("fore", mass=0.5, inertia=(0.01, 0.05, 0.05), at=(1.6, 0.0, 1.0))
            model.hinge(fore.point(-0.3, 0.0, 0.0), arm.point(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
        model.spring(arm.point(0.3, 0.0, 0.0), box.point(0.0, 0.0, 0.1), stiffness=30.0, damping=0.3)
    if draw.random() < 0.5:
        disc = model.body("disc", mass=5.0, inertia=inertia.cylinder(5.0, 0.5, 0.02), at=(-2.0, 0.0, 0.0))
        model.hinge(disc.point(0.0, 0.0, 0.0), model.ground.point(-2.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        model.motor(disc, model.ground, angle=Ramp(0.0, draw.normal()), axis=(0.0, 0.0, 1.0))
        coin = model.particle("coin", mass=0.2, at=(-1.8, 0.1, 0.001))
        model.contact(coin.point(), disc.wall((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), name="top"), friction=0.3)
    return model.build(velocity="consistent", penetration=10.0)


FAMILIES: dict[str, Callable[[Draw], System]] = {
    family.__name__: family for family in (linear, pendulum, ring, chain, block, spatial)
}
