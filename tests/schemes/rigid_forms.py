"""Rigid bodies as plain arrays for the compiled loop: balls, discs, boxes and heaps, and what is asked of its runs."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from klapper.mechanics.rigid_form import RigidForm
from klapper.schemes.base import Snapshot

G = 9.81
FLOOR = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
PLANAR_FLOOR = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def form(
    dimension: int = 3,
    *,
    mass: Any = (1.0,),
    inertia: Any = ((1.0, 1.0, 1.0),),
    gravity: Any = None,
    balls: Any = (),
    planes: Any = (),
    pairs: Any = (),
    group: Any = (),
    group_plane: Any = (),
    group_friction: Any = (0.0, 0.0),
    group_restitution: Any = (0.0, 0.0),
) -> RigidForm:
    """Balls as (body, place, radius), planes as (point, normal), pairs as (ball, other, with plane, friction, ε)."""
    if gravity is None:
        gravity = (0.0, -G, 0.0) if dimension == 2 else (0.0, 0.0, -G)

    def column(rows: Any, i: int, kind: Any, width: int = 0) -> np.ndarray:
        return np.array([row[i] for row in rows], dtype=kind).reshape((-1, width) if width else -1)

    return RigidForm(
        dimension,
        np.array(mass, dtype=float),
        np.array(inertia, dtype=float).reshape(-1, 3),
        np.array(gravity, dtype=float),
        column(balls, 0, int),
        column(balls, 1, float, 3),
        column(balls, 2, float),
        column(planes, 0, float, 3),
        column(planes, 1, float, 3),
        column(pairs, 0, int),
        column(pairs, 1, int),
        column(pairs, 2, bool),
        column(pairs, 3, float),
        column(pairs, 4, float),
        np.array(group, dtype=int),
        np.array(group_plane, dtype=int),
        np.array(group_friction, dtype=float),
        np.array(group_restitution, dtype=float),
    )


def at(position: Any, velocity: Any, dimension: int = 3) -> Snapshot:
    return Snapshot(
        step=0,
        time=0.0,
        position=np.array(position, dtype=float).ravel(),
        velocity=np.array(velocity, dtype=float).ravel(),
        contact=np.zeros(0, dtype=np.int64),
        impulse=np.zeros((0, dimension)),
        sums=np.zeros(5),
    )


def ball(
    radius: float = 0.1, mass: float = 1.0, mu: float = 0.0, epsilon: float = 0.0, floor: Any = FLOOR
) -> RigidForm:
    """A solid sphere above a half-space."""
    return form(
        mass=[mass],
        inertia=[[0.4 * mass * radius**2] * 3],
        balls=[(0, (0, 0, 0), radius)],
        planes=[floor],
        pairs=[(0, 0, True, mu, epsilon)],
    )


def disc(radius: float = 0.1, mu: float = 0.0, epsilon: float = 0.0, floor: Any = PLANAR_FLOOR) -> RigidForm:
    """A homogeneous disc of 1 kg above a line."""
    return form(
        2,
        inertia=[[0, 0, 0.5 * radius**2]],
        balls=[(0, (0, 0, 0), radius)],
        planes=[floor],
        pairs=[(0, 0, True, mu, epsilon)],
    )


def slope(angle: float, heading: float = 0.0) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A half-space that falls by ``angle`` in the direction ``heading`` from the x-axis."""
    n = (math.sin(angle) * math.cos(heading), math.sin(angle) * math.sin(heading), math.cos(angle))
    return (0.0, 0.0, 0.0), n


def box_on(plane: Any, mu: float, epsilon: float = 0.0, half: Any = (0.1, 0.08, 0.05)) -> RigidForm:
    """A box of 1 kg whose lower corners may touch a half-space."""
    a, b, c = half
    return form(
        inertia=[[(b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3]],
        balls=[(0, (x * a, y * b, -c), 0.0) for x in (-1, 1) for y in (-1, 1)],
        planes=[plane],
        pairs=[(i, 0, True, mu, epsilon) for i in range(4)],
    )


def heap(
    across: int, layers: int, *, seed: int, mu: float = 0.3, epsilon: float = 0.0, listed: bool = False
) -> tuple[RigidForm, Snapshot, float]:
    """Spheres of about 1 cm radius in a box without a lid, and the width of the box."""
    rng = np.random.default_rng(seed)
    n, pitch = across * across * layers, 0.025
    k = np.arange(n)
    place = np.column_stack([k // across % across + 0.5, k % across + 0.5, k // across**2 + 0.6]) * pitch
    place += rng.uniform(-1e-3, 1e-3, (n, 3))
    radius = rng.uniform(0.008, 0.011, n)
    mass = 2500.0 * 4.0 / 3.0 * np.pi * radius**3
    side = across * pitch
    planes = [
        FLOOR,
        ((0, 0, 0), (1, 0, 0)),
        ((side, 0, 0), (-1, 0, 0)),
        ((0, 0, 0), (0, 1, 0)),
        ((0, side, 0), (0, -1, 0)),
    ]
    contacts: dict[str, Any]
    if listed:
        pairs = [(a, b, False, mu, epsilon) for a in range(n) for b in range(a + 1, n)]
        contacts = {"pairs": pairs + [(a, p, True, mu, epsilon) for p in range(5) for a in range(n)]}
    else:
        contacts = {
            "group": range(n),
            "group_plane": range(5),
            "group_friction": (mu, mu),
            "group_restitution": (epsilon, epsilon),
        }
    model = form(
        mass=mass,
        inertia=np.repeat((0.4 * mass * radius**2)[:, None], 3, axis=1),
        balls=[(i, (0, 0, 0), radius[i]) for i in range(n)],
        planes=planes,
        **contacts,
    )
    position, velocity = np.zeros((n, 7)), np.zeros((n, 6))
    position[:, :3], position[:, 3] = place, 1.0
    velocity[:, :3] = rng.normal(0.0, 0.1, (n, 3))
    return model, at(position, velocity), side


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """R from the definition v ↦ q v q*."""
    w, u = quaternion[0], quaternion[1:]
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def books(samples: dict[str, Any]) -> np.ndarray:
    """kinetic + potential + damping + friction + impact + numerical − loads of each sample."""
    return samples["energy"] @ np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0])


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots agree in every bit."""
    return all(
        np.array_equal(np.asarray(getattr(one, part.name)), np.asarray(getattr(other, part.name)))
        for part in fields(Snapshot)
    )
