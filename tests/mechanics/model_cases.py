"""Random rigid bodies on rough feet, with redundant joints, and between walls, at rest, sticking and sliding."""

from __future__ import annotations

import numpy as np

from klapper.bodies import Planar, Spatial, inertia
from klapper.mechanics import System

FAMILIES = ("planar feet", "spatial feet", "door", "walls", "ball joints", "sliding feet")


def model(seed: int) -> tuple[str, System]:
    """One of the models; families follow each other with the seed."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    built = {
        "planar feet": _planar_feet,
        "spatial feet": _spatial_feet,
        "door": _door,
        "walls": _walls,
        "ball joints": _ball_joints,
        "sliding feet": _sliding_feet,
    }[family](rng)
    return family, built


def _planar_feet(rng: np.random.Generator) -> System:
    world = Planar(gravity=(0.0, -9.81))
    mass, width, height = rng.uniform(1.0, 20.0), rng.uniform(0.5, 2.0), rng.uniform(0.1, 0.6)
    speed = rng.choice([0.0, 0.5, -1.0])
    block = world.body(
        "block",
        mass=mass,
        inertia=inertia.rectangle(mass, width, height),
        at=(0.0, 0.5 * height),
        velocity=(speed, 0.0),
    )
    floor = world.wall("floor", normal=(0.0, 1.0))
    for k, x in enumerate(np.linspace(-0.5, 0.5, int(rng.integers(2, 5))) * width):
        world.contact(block.point(x, -0.5 * height), floor, friction=rng.uniform(0.1, 0.8), name=f"foot {k}")
    world.force(block.point(0.0, 0.0), (rng.normal() * mass, 0.0))
    return world.build()


def _table(rng: np.random.Generator, velocity: tuple[float, float, float], push: float) -> System:
    world = Spatial(gravity=(0.0, 0.0, -9.81))
    mass, spacing, height = rng.uniform(1.0, 20.0), rng.uniform(0.5, 2.0), rng.uniform(0.05, 0.5)
    table = world.body(
        "table",
        mass=mass,
        inertia=inertia.box(mass, spacing, spacing, 0.1 * spacing),
        at=(0.0, 0.0, height),
        velocity=velocity,
    )
    floor = world.wall("floor", normal=(0.0, 0.0, 1.0))
    mu = rng.uniform(0.1, 0.6)
    for k, (x, y) in enumerate(0.5 * spacing * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])):
        world.contact(table.point(x, y, -height), floor, friction=mu, name=f"leg {k}")
    angle = rng.uniform(0.0, 2.0 * np.pi)
    size = push * mu * mass * 9.81
    world.force(table, (size * np.cos(angle), size * np.sin(angle), 0.0))
    return world.build()


def _spatial_feet(rng: np.random.Generator) -> System:
    return _table(rng, (0.0, 0.0, 0.0), rng.choice([0.3, 0.7, 1.3, 2.0]))


def _sliding_feet(rng: np.random.Generator) -> System:
    angle = rng.uniform(0.0, 2.0 * np.pi)
    return _table(rng, (np.cos(angle), np.sin(angle), 0.0), rng.uniform(0.0, 1.0))


def _leaf(rng: np.random.Generator, world: Spatial) -> object:
    mass = rng.uniform(5.0, 40.0)
    leaf = world.body("leaf", mass=mass, inertia=inertia.box(mass, 1.0, 0.05, 1.2), at=(0.5, 0.0, 0.0))
    seal = world.wall("seal", point=(0.0, -0.025, 0.0), normal=(0.0, 1.0, 0.0))
    world.contact(
        leaf.point(0.5, -0.025, rng.uniform(-0.5, 0.5)), seal, friction=rng.uniform(0.1, 0.8), name="latch"
    )
    world.force(leaf.point(0.5, 0.0, 0.0), (0.0, -rng.uniform(5.0, 60.0), 0.0))
    return leaf


def _door(rng: np.random.Generator) -> System:
    world = Spatial(gravity=(0.0, 0.0, -9.81))
    leaf = _leaf(rng, world)
    for k, z in enumerate(rng.uniform(-0.6, 0.6, int(rng.integers(1, 4)))):
        world.hinge(leaf.point(-0.5, 0, z), world.ground.point(0, 0, z), axis=(0, 0, 1), name=f"h{k}")
    return world.build()


def _ball_joints(rng: np.random.Generator) -> System:
    world = Spatial(gravity=(0.0, 0.0, -9.81))
    leaf = _leaf(rng, world)
    for k, z in enumerate(rng.uniform(-0.6, 0.6, int(rng.integers(2, 4)))):
        world.ball_joint(leaf.point(-0.5, 0, z), world.ground.point(0, 0, z), name=f"b{k}")
    return world.build()


def _walls(rng: np.random.Generator) -> System:
    world = Planar(gravity=(0.0, -9.81))
    mass = rng.uniform(1.0, 10.0)
    speed = rng.choice([0.0, -1.0])
    beam = world.body("beam", mass=mass, inertia=inertia.rod(mass, 2.0), at=(0.0, 0.0), velocity=(0.0, speed))
    left = world.wall("left", point=(-1.0, 0.0), normal=(1.0, 0.0))
    right = world.wall("right", point=(1.0, 0.0), normal=(-1.0, 0.0))
    mu = rng.uniform(0.2, 0.8)
    world.contact(beam.point(-1.0, 0.0), left, friction=mu, name="L")
    world.contact(beam.point(1.0, 0.0), right, friction=mu * rng.choice([1.0, 0.5]), name="R")
    return world.build()
