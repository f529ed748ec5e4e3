"""Random systems of functions with every kind of part, whose functions differ in captured numbers only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from klapper.mechanics import Constraint, Contact, FrictionElement, FunctionSystem
from klapper.mechanics.exponential_friction import ExponentialFriction
from klapper.mechanics.friction import Anisotropic, Stribeck
from klapper.mechanics.signals import Constant, FunctionOfTime, Harmonic, Ramp

TILT = 0.3  # a global that functions read


def pendulum(draw: np.random.Generator) -> FunctionSystem:
    """A double pendulum with walls: all of it functions, with differences for all derivatives."""
    length, weight, damping = draw.uniform(0.5, 2.0), draw.uniform(1.0, 12.0), draw.random()

    def mass(q):
        c = np.cos(q[0] - q[1])
        return np.array([[2.0, c], [c, 1.0]]) * length**2

    def force(t, q, v):
        s = length**2 * np.sin(q[0] - q[1])
        turning = weight * length * np.sin(q)
        return np.array([-s * v[1] ** 2 - 2.0 * turning[0], s * v[0] ** 2 - turning[1]])

    def wall(side, distance):
        return lambda t, q: distance + 0.1 * np.sin(t) - side * length * (np.sin(q[0]) + np.sin(q[1]))

    return FunctionSystem(
        draw.uniform(-0.3, 0.3, 2),
        draw.standard_normal(2),
        mass=mass,
        force=force,
        potential=lambda q: -weight * length * (2.0 * np.cos(q[0]) + np.cos(q[1])),
        damping_power=lambda t, q, v, d=damping: d * v @ v,
        contacts=[Contact(f"wall {k}", gap=wall(1 - 2 * k, 3.0 * length), restitution=0.5) for k in range(2)],
        time=draw.random(),
    )


def everything(draw: np.random.Generator) -> FunctionSystem:
    """Three coordinates with contacts and constraints of all kinds, two tangential directions."""
    stiffness = draw.standard_normal((3, 3))
    bend, belt = draw.uniform(0.1, 1.0), draw.standard_normal(2)
    mean, fall = draw.uniform(0.1, 0.5), draw.uniform(0.1, 2.0)

    def stiff(t, q, v):
        return -stiffness @ q

    def surface(t, q):
        return 5.0 + q[2] - bend * q[0] ** 2 - TILT * q[1] * np.cos(t)

    def normal(t, q):
        return (-2.0 * bend * q[0], -TILT * np.cos(t), 1)

    def tangents(t, q):
        return np.array([[1.0, 0.0, 2.0 * bend * q[0]], [0.0, 1.0, TILT]])

    def fading(speed):
        if speed > 5.0:
            return 0.0
        return mean * np.exp(-fall * speed)

    flat = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    moved = FunctionOfTime(lambda t: belt * np.sin(2.0 * t))
    contacts = [
        Contact("affine", normal=draw.standard_normal(3), gap=20.0, restitution=draw.random()),
        Contact(
            "floor",
            normal=[0.0, 0.0, 1.0],
            gap=Ramp(9.0, -0.1) + Harmonic(0.1, 3.0, 0.2),
            tangents=flat,
            friction=Anisotropic(0.4, draw.uniform(0.1, 0.5)),
            tangential_rate=Constant(belt),
            limit=draw.random(),
        ),
        Contact(
            "surface", gap=surface, normal=normal, tangents=tangents, friction=fading, tangential_rate=moved
        ),
        Contact(
            "differences",
            gap=surface,
            tangents=lambda t, q: [1.0, 0.0, q[0]],
            friction=Stribeck(0.4, 0.2, 0.1),
        ),
        Contact(
            "partly",
            gap=lambda t, q: 9.0 + q[2] + 1e-3 * t,
            normal=[0.0, 0.0, 1.0],
            tangents=[1.0, 0.0, 0.0],
            tangential_rate=lambda t: bend * t**2,
            friction=ExponentialFriction(0.5, 0.3, speed=0.2, viscous=0.01),
        ),
        FrictionElement("joint", tangents=[1.0, -1.0, 0.0], limit=draw.random() + 0.1),
        FrictionElement("patch", tangents=flat, shares={"affine": 0.2, "floor": draw.random()}),
    ]
    constraints = [
        Constraint("moved", direction=draw.standard_normal(3), offset=Harmonic(0.1, 2.0)),
        Constraint("curve", offset=lambda t, q: np.hypot(q[0], 2.0) + bend * q[1] - 2.0),
        Constraint("sphere", offset=lambda t, q: q @ q - bend * t, direction=lambda t, q: 2 * q),
        Constraint("line", offset=lambda t, q: TILT * q[1] + q[2], direction=[0.0, TILT, 1.0]),
    ]
    return FunctionSystem(
        np.zeros(3),
        draw.standard_normal(3),
        mass=np.diag(draw.uniform(1.0, 2.0, 3)),
        force=lambda t, q, v: stiff(t, q, v) - 0.1 * v + np.array([0.0, 0.0, np.sin(t)]),
        stiff=stiff,
        contacts=contacts,
        constraints=constraints,
        penetration=np.inf,
    )


def tangents_given(draw: np.random.Generator) -> FunctionSystem:
    """A cubic spring with tangents, words of other types than arrays, one rough contact in the plane."""
    cubic, damping = draw.uniform(1.0, 5.0, 2)

    def force(t, q, v):
        f = [0.0, 0.0]
        for k in range(2):
            f[k] = -cubic * q[k] ** 3 - damping * v[k]
        return f

    def tangents(t, q, v):
        return np.diag(-3.0 * cubic * q**2), -damping * np.eye(2)

    return FunctionSystem(
        draw.standard_normal(2),
        draw.standard_normal(2),
        mass=[[2.0, 0.5], [0.5, 1.0]],
        force=force,
        tangents=tangents,
        contacts=[Contact("floor", normal=[0.0, 1.0], gap=9.0, tangents=[1.0, 0.0], friction=0.3)],
    )


def nothing_stiff(draw: np.random.Generator) -> FunctionSystem:
    weight = float(draw.random())
    return FunctionSystem([1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: (-weight,), stiff=False)


KINDS: tuple[Callable[[np.random.Generator], FunctionSystem], ...] = (
    pendulum,
    everything,
    tangents_given,
    nothing_stiff,
)
