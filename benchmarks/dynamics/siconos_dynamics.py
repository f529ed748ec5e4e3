"""Siconos steps the models: TimeStepping with MoreauJeanOSI, run by the interpreter of python3-siconos.

    python3 -m benchmarks.dynamics.siconos_dynamics request.npz answer.npz

Timed is `TimeStepping.run()`, whose loop is C++ (about a tenth faster than computeOneStep and nextStep called
from Python); a second, untimed run called step by step gives the trajectory. The spheres are run once, step by
step, with the clock stopped while a sample is taken.

Debian compiles Siconos with assertions: every change of an interaction graph checks the whole graph, which
for many contacts costs most of the time. With a C compiler at hand these two checks are answered by a
preloaded library; without one Siconos runs as packaged. The settings say which.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

from benchmarks.dynamics.exchange import Run, serve
from benchmarks.dynamics.models import (
    BouncingBall,
    ImpactingBar,
    InclinedBlock,
    MassChain,
    Model,
    SettlingSpheres,
)
from benchmarks.siconos_peer import version

PRELOADED = "KLAPPER_BENCH_SICONOS_CHECKS"
_GRAPHS = (
    ("11Interaction", "15DynamicalSystem", "21InteractionProperties25DynamicalSystemProperties"),
    ("15DynamicalSystem", "11Interaction", "25DynamicalSystemProperties21InteractionProperties"),
)
_CHECKS = ("12state_assertEv", "20adjacent_vertices_okEv")
BROAD_PHASE_THRESHOLD = 1e-3  # m, Bullet keeps a contact point up to this distance
WALL_THICKNESS = 1.0  # m


def run(model: Model, repeats: int) -> list[Run]:
    if isinstance(model, SettlingSpheres):
        return [run_spheres(model)]
    build, settings, sampling = {
        BouncingBall: (build_ball, "LCP, Lemke", 1),
        MassChain: (build_chain, "one system per mass, LCP, Lemke", 10),
        InclinedBlock: (build_block, "FrictionContact, NSGS, tolerance 1e-10", 10),
        ImpactingBar: (build_bar, "one linear system, dense matrices, LCP, Lemke", 1),
    }[type(model)]
    seconds = []
    for _ in range(repeats):
        simulation, _, _ = build(model)
        start = time.perf_counter()
        simulation.run()
        seconds.append(time.perf_counter() - start)
    trajectory = sample(model, build(model), every=sampling)
    return [Run(f"{settings}, {build_kind()}", model.steps, min(seconds), trajectory)]


def sample(model: Any, built: tuple[Any, list[Any], list[Any]], *, every: int) -> dict[str, np.ndarray]:
    """Step by step; a state after each `every` steps."""
    simulation, bodies, interactions = built
    places, speeds, forces = [], [], []
    for number in range(1, model.steps + 1):
        simulation.computeOneStep()
        if number % every == 0:
            places.append(np.concatenate([body.q() for body in bodies]))
            speeds.append(np.concatenate([body.velocity() for body in bodies]))
            forces.append(interactions[0].lambda_(1)[0] / model.step)
        simulation.nextStep()
    trajectory = {
        "time": model.step * every * np.arange(1, len(places) + 1),
        "position": np.squeeze(places),
        "velocity": np.squeeze(speeds),
    }
    if isinstance(model, ImpactingBar):
        trajectory = {
            "time": trajectory["time"],
            "position": trajectory["position"][:, 0],
            "force": np.array(forces),
            "final_position": trajectory["position"][-1],
            "final_velocity": trajectory["velocity"][-1],
        }
    return trajectory


def build_ball(model: BouncingBall) -> tuple[Any, list[Any], list[Any]]:
    ball = sk.LagrangianLinearTIDS([model.height], [0.0], np.array([[model.mass]]))
    ball.setFExtPtr([-model.mass * model.gravity])
    ground = sk.Interaction(sk.NewtonImpactNSL(model.restitution), sk.LagrangianLinearTIR(np.array([[1.0]])))
    return simulation(model, [ball], [(ground, (ball,))], sk.LCP())


def build_chain(model: MassChain) -> tuple[Any, list[Any], list[Any]]:
    """One system per mass: with one system for all, each contact would be a neighbour of every other."""
    masses = []
    for place, speed, force in zip(model.positions(), model.velocities(), model.forces(), strict=True):
        mass = sk.LagrangianLinearTIDS([place], [speed], np.array([[model.mass]]))
        mass.setKPtr(np.array([[model.stiffness]]))
        mass.setFExtPtr([force])
        masses.append(mass)
    law = sk.NewtonImpactNSL(model.restitution)
    links = [
        (sk.Interaction(law, sk.LagrangianLinearTIR(np.array([[-1.0, 1.0]]))), pair)
        for pair in zip(masses[:-1], masses[1:], strict=True)
    ]
    return simulation(model, masses, links, sk.LCP())


def build_block(model: InclinedBlock) -> tuple[Any, list[Any], list[Any]]:
    block = sk.LagrangianLinearTIDS([0.0] * 3, [0.0] * 3, model.mass * np.eye(3))
    block.setFExtPtr(list(model.mass * model.gravity_vector()))
    law = sk.NewtonImpactFrictionNSL(0.0, 0.0, model.friction, 3)
    plane = sk.Interaction(law, sk.LagrangianLinearTIR(np.eye(3)))
    options = sk.solver_options_create(sn.SICONOS_FRICTION_3D_NSGS)
    options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-10
    return simulation(model, [block], [(plane, (block,))], sk.FrictionContact(3, options))


def build_bar(model: ImpactingBar) -> tuple[Any, list[Any], list[Any]]:
    nodes = model.elements + 1
    bar = sk.LagrangianLinearTIDS(np.zeros(nodes), np.full(nodes, -model.speed), np.diag(model.node_masses()))
    bar.setKPtr(model.stiffness_matrix())
    end = np.zeros((1, nodes))
    end[0, 0] = 1.0
    wall = sk.Interaction(sk.NewtonImpactNSL(model.restitution), sk.LagrangianLinearTIR(end))
    return simulation(model, [bar], [(wall, (bar,))], sk.LCP())


def simulation(
    model: Any, bodies: list[Any], links: list[tuple[Any, tuple[Any, ...]]], contact_problem: Any
) -> tuple[Any, list[Any], list[Any]]:
    """The time stepping, its bodies and its interactions; the linear models need one Newton iteration."""
    world = sk.NonSmoothDynamicalSystem(0.0, (model.steps + 0.5) * model.step)
    for body in bodies:
        world.insertDynamicalSystem(body)
    for interaction, partners in links:
        world.link(interaction, *partners)
    scheme = sk.MoreauJeanOSI(model.theta, 1.0 - model.theta)
    stepping = sk.TimeStepping(world, sk.TimeDiscretisation(0.0, model.step), scheme, contact_problem)
    stepping.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return stepping, bodies, [interaction for interaction, _ in links]
