"""Exudyn steps the models it can describe: ball, chain, inclined block, settling spheres.

    python -m benchmarks.dynamics.exudyn_dynamics request.npz answer.npz

Its contacts are springs and dampers, its Coulomb friction is linear in the velocity below a small sliding
speed, so a block under load creeps. Stiffness and damping follow from the step: one contact of two bodies
lasts `CONTACT_STEPS` steps and returns with the wanted restitution, ε = exp(−π ζ / √(1 − ζ²)). Explicit solvers
with a fixed step, on one thread; timed is `SolveSteps`, whose loop is C++, with all output switched off. A
second, untimed run gives the trajectory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from benchmarks.dynamics.exchange import NotModelled, Run, serve
from benchmarks.dynamics.models import BouncingBall, InclinedBlock, MassChain, Model, SettlingSpheres

CONTACT_STEPS = 20  # one bounce lasts so many steps
FINER = 10  # steps within one step of the model, where stiffness asks for it
FRICTION_ZONE = 1e-3  # m/s, friction grows linearly up to this sliding speed
SAMPLES = 20  # of the spheres
RADIUS = 0.1  # m, of the sphere that stands for the block

Built = tuple[Any, Callable[[], dict[str, Any]]]


def run(model: Model, repeats: int) -> list[Run]:
    solver = exu.DynamicSolverType.RK44
    if isinstance(model, BouncingBall):
        return [timed(model, build_ball, solver, "RK44, linear contact", repeats, finer=1, every=1)]
    if isinstance(model, MassChain):
        return [timed(model, build_chain, solver, "RK44, linear contact", repeats, finer=FINER, every=10)]
    zone = f"friction zone {1e3 * FRICTION_ZONE:g} mm/s"
    if isinstance(model, InclinedBlock):
        return [timed(model, build_block, solver, f"RK44, {zone}", repeats, finer=FINER, every=10)]
    if isinstance(model, SettlingSpheres):
        every = model.steps // SAMPLES
        return [timed(model, build_spheres, solver, f"RK44, {zone}", 1, finer=FINER, every=every)]
    raise NotModelled(f"{model.kind}: its penalty contact adds nothing to the chain")


def timed(
    model: Any,
    build: Callable[[Any, float], Built],
    solver: Any,
    settings: str,
    repeats: int,
    *,
    finer: int,
    every: int,
) -> Run:
    step = model.step / finer
    seconds = []
    for _ in range(repeats):
        system, _ = build(model, step)
        seconds.append(advance(system, solver, step, model.steps * finer))
    system, take = build(model, step)
    samples = []
    for _ in range(model.steps // every):
        advance(system, solver, step, every * finer)
        samples.append(take())
    trajectory = {key: np.array([sample[key] for sample in samples]) for key in samples[0]}
    trajectory["time"] = model.step * every * np.arange(1, len(samples) + 1)
    words = f"{settings}, contact of {CONTACT_STEPS} steps, step {1e3 * step:g} ms"
    return Run(words, model.steps * finer, min(seconds), trajectory)
