"""The models in klapper: what a user writes, timed as a user calls it.

The time is that of a call of `simulate` less that of a call with one step: stepping, saving every sample, ledger and
audit, but not the set-up, which is not timed for the other programs either. Kernels are compiled before. The timed runs
save a hundred samples (the other programs none); the trajectory comes from another run.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks.dynamics.exchange import Run, serve
from benchmarks.dynamics.models import (
    BouncingBall,
    ImpactingBar,
    InclinedBlock,
    MassChain,
    Model,
    SettlingSpheres,
)
from klapper import __version__
from klapper.bodies import Spatial
from klapper.mechanics import Contact, LinearSystem, System
from klapper.results import Run as Result
from klapper.schemes import Moreau
from klapper.simulation import simulate


def ball(model: BouncingBall) -> LinearSystem:
    return LinearSystem(
        [model.mass],
        force=[-model.mass * model.gravity],
        position=[model.height],
        contacts=[Contact("ground", normal=[1.0], restitution=model.restitution)],
    )


def chain(model: MassChain) -> LinearSystem:
    n = model.masses
    opening = np.eye(n)[1:] - np.eye(n)[:-1]
    return LinearSystem(
        np.full(n, model.mass),
        stiffness=np.full(n, model.stiffness),
        force=model.forces(),
        position=model.positions(),
        velocity=model.velocities(),
        contacts=[
            Contact(f"{i}-{i + 1}", normal=row, restitution=model.restitution)
            for i, row in enumerate(opening)
        ],
    )


def block(model: InclinedBlock) -> LinearSystem:
    plane = Contact("plane", normal=[1, 0, 0], tangents=[[0, 1, 0], [0, 0, 1]], friction=model.friction)
    return LinearSystem(np.full(3, model.mass), force=model.mass * model.gravity_vector(), contacts=[plane])


def bar(model: ImpactingBar) -> LinearSystem:
    n = model.elements + 1
    return LinearSystem(
        model.node_masses(),
        stiffness=model.stiffness_matrix(),
        velocity=np.full(n, -model.speed),
        contacts=[Contact("wall", normal=np.eye(n)[0], restitution=model.restitution)],
    )


def spheres(model: SettlingSpheres) -> System:
    world = Spatial(gravity=(0.0, 0.0, -model.gravity))
    walls = [
        world.wall(f"wall {i}", point=-plane[3] * plane[:3], normal=plane[:3])
        for i, plane in enumerate(model.planes())
    ]
    balls = [
        world.body(f"sphere {i}", mass=model.mass, inertia=np.full(3, model.inertia), at=centre).sphere(
            model.radius
        )
        for i, centre in enumerate(model.centres())
    ]
    world.search(balls, walls, friction=model.friction, restitution=model.restitution)
    return world.build()


def run(model: Model, repeats: int) -> list[Run]:
    if isinstance(model, SettlingSpheres):
        return [_spheres(model, repeats)]
    build = {BouncingBall: ball, MassChain: chain, InclinedBlock: block, ImpactingBar: bar}[type(model)]
    system, scheme = build(model), Moreau(model.step, theta=model.theta)
    seconds, _ = _timed(system, model, scheme, max(model.steps // 100, 1), repeats)
    result = simulate(system, model.steps * model.step, scheme, every=1, progress=False)
    trajectory = {"time": result.time[1:], "position": result.position[1:], "velocity": result.velocity[1:]}
    if isinstance(model, BouncingBall):
        trajectory = {name: array.reshape(len(array)) for name, array in trajectory.items()}
    if isinstance(model, ImpactingBar):
        trajectory = {
            "time": result.time[1:],
            "position": result.position[1:, 0],
            "force": result.impulse[1:, 0, 0] / model.step,
            "final_position": result.position[-1],
            "final_velocity": result.velocity[-1],
        }
    return [Run(f"Moreau, θ = {model.theta:g}", model.steps, seconds, trajectory, _facts(result))]


def _spheres(model: SettlingSpheres, repeats: int) -> Run:
    scheme = Moreau(model.step, theta=model.theta, tolerance=model.tolerance)
    every = max(model.steps // 50, 1)
    seconds, result = _timed(spheres(model), model, scheme, every, repeats)
    centres = result.position.reshape(len(result), model.spheres, 7)[1:, :, :3]
    velocity = result.velocity.reshape(len(result), model.spheres, 6)[1:, :, :3]
    log = result.samples.loaded  # few spheres have all their contacts in a table instead
    contacts = np.count_nonzero(result.state, axis=1) if log is None else np.diff(log.start)
    trajectory = {
        "time": result.time[1:],
        "position": centres,
        "velocity": velocity,
        "contacts": contacts[1:].astype(float),
    }
    settings = f"Moreau, θ = {model.theta:g}, Gauss–Seidel to {model.tolerance:g}"
    return Run(settings, model.steps, seconds, trajectory, _facts(result))


def _timed(system: System, model: Model, scheme: Moreau, every: int, repeats: int) -> tuple[float, Result]:
    simulate(system, 3 * model.step, scheme, every=1)  # compiles, or reads compiled kernels
    one_step = min(_clocked(system, model.step, scheme, every)[0] for _ in range(5))
    timed = [_clocked(system, model.steps * model.step, scheme, every) for _ in range(repeats)]
    seconds, result = min(timed, key=lambda pair: pair[0])
    return seconds - one_step, result


def _clocked(system: System, until: float, scheme: Moreau, every: int) -> tuple[float, Result]:
    start = perf_counter()
    result = simulate(system, until, scheme, every=every, progress=False)
    return perf_counter() - start, result


def _facts(result: Result) -> dict[str, float]:
    audit = result.about["audit"]
    return {"contact_residual": audit["contact residual"], "ledger_residual": audit["ledger residual"]}


if __name__ == "__main__":
    serve(__version__, run)
