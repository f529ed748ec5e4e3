"""Siconos steps the models: TimeStepping with MoreauJeanOSI, run by the interpreter of python3-siconos.

    python3 -m benchmarks.dynamics.siconos_dynamics request.npz answer.npz

Timed is `TimeStepping.run()`, whose loop is C++ (about a tenth faster than computeOneStep and nextStep called from
Python); a second, untimed run called step by step gives the trajectory. The spheres are run once, step by step,
with the clock stopped while a sample is taken; Bullet finds their contacts.

Debian compiles Siconos with assertions, some of which cost most of the time. With a C++ compiler and the headers of
libsiconos-kernel-dev the worst of them are replaced by a preloaded library, compiled once and kept in the user's
cache; without them Siconos runs as packaged. KLAPPER_SICONOS_PRELOAD names another library to preload, for
instance a release build of Siconos' kernel; empty, it leaves the package as it is. The settings say which.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

from benchmarks.dynamics.exchange import Run, serve
from benchmarks.dynamics.models import (
    ROUND_OFF,
    BouncingBall,
    ImpactingBar,
    InclinedBlock,
    MassChain,
    Model,
    SettlingSpheres,
)
from benchmarks.siconos_peer import LOCAL_SOLVERS, version

PRELOAD = "KLAPPER_SICONOS_PRELOAD"
UNCHECKED = Path(__file__).with_name("siconos_unchecked.cpp")
HEADERS = "/usr/include/siconos"
ONE_CONTACT_TOLERANCE = 1e-10
WALL_THICKNESS = 1.0  # m
SAMPLES = 20  # of the spheres

Built = tuple[Any, list[Any], list[Any]]  # time stepping, bodies, interactions


def run(model: Model, repeats: int) -> list[Run]:
    if isinstance(model, SettlingSpheres):
        return [run_spheres(model)]
    if isinstance(model, InclinedBlock):
        return [run_block(model, repeats)]
    if isinstance(model, BouncingBall):
        return [run_linear(model, build_ball, "LCP, Lemke", repeats, every=1)]
    if isinstance(model, MassChain):
        return [run_linear(model, build_chain, "one system per mass, LCP, Lemke", repeats, every=10)]
    return [run_linear(model, build_bar, "dense matrices, LCP, Lemke", repeats, every=1)]


def run_linear(model: Any, build: Any, settings: str, repeats: int, *, every: int) -> Run:
    seconds = min(clocked(build(model)) for _ in range(repeats))
    return Run(f"{settings}, {package()}", model.steps, seconds, sample(model, build(model), every=every))


def run_block(model: InclinedBlock, repeats: int) -> Run:
    """The fastest of the local solvers of NSGS."""
    times = {
        local: min(clocked(build_block(model, local)) for _ in range(repeats)) for local in LOCAL_SOLVERS
    }
    fastest = min(times, key=lambda local: times[local])
    settings = f"NSGS, {fastest}, tolerance {ONE_CONTACT_TOLERANCE:.0e}, {package()}"
    trajectory = sample(model, build_block(model, fastest), every=10)
    return Run(settings, model.steps, times[fastest], trajectory)


def clocked(built: Built) -> float:
    start = time.perf_counter()
    built[0].run()
    return time.perf_counter() - start


def sample(model: Any, built: Built, *, every: int) -> dict[str, np.ndarray]:
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


def build_ball(model: BouncingBall) -> Built:
    ball = sk.LagrangianLinearTIDS([model.height], [0.0], np.array([[model.mass]]))
    ball.setFExtPtr([-model.mass * model.gravity])
    ground = sk.Interaction(sk.NewtonImpactNSL(model.restitution), sk.LagrangianLinearTIR(np.array([[1.0]])))
    return simulation(model, [ball], [(ground, (ball,))], sk.LCP())


def build_chain(model: MassChain) -> Built:
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
        for pair in itertools.pairwise(masses)
    ]
    return simulation(model, masses, links, sk.LCP())


def build_block(model: InclinedBlock, local: str) -> Built:
    block = sk.LagrangianLinearTIDS([0.0] * 3, [0.0] * 3, model.mass * np.eye(3))
    block.setFExtPtr(list(model.mass * model.gravity_vector()))
    law = sk.NewtonImpactFrictionNSL(0.0, 0.0, model.friction, 3)
    plane = sk.Interaction(law, sk.LagrangianLinearTIR(np.eye(3)))
    problem = friction_problem(local, ONE_CONTACT_TOLERANCE, sweeps=1000)
    return simulation(model, [block], [(plane, (block,))], problem)


def build_bar(model: ImpactingBar) -> Built:
    nodes = model.elements + 1
    bar = sk.LagrangianLinearTIDS(np.zeros(nodes), np.full(nodes, -model.speed), np.diag(model.node_masses()))
    bar.setKPtr(model.stiffness_matrix())
    end = np.zeros((1, nodes))
    end[0, 0] = 1.0
    wall = sk.Interaction(sk.NewtonImpactNSL(model.restitution), sk.LagrangianLinearTIR(end))
    return simulation(model, [bar], [(wall, (bar,))], sk.LCP())


def friction_problem(local: str, tolerance: float, *, sweeps: int) -> Any:
    """NSGS on sparse blocks, starting from the forces of the last step."""
    options = sk.solver_options_create(sn.SICONOS_FRICTION_3D_NSGS)
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = sweeps
    options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    sk.solver_options_update_internal(options, 0, LOCAL_SOLVERS[local])
    problem = sk.FrictionContact(3, options)
    problem.setMStorageType(sn.NM_SPARSE_BLOCK)
    problem.setKeepLambdaAndYState(True)
    return problem


def simulation(
    model: Any, bodies: list[Any], links: list[tuple[Any, tuple[Any, ...]]], contact_problem: Any
) -> Built:
    """The time stepping, its bodies and its interactions; the linear models need one Newton iteration."""
    world = sk.NonSmoothDynamicalSystem(0.0, (model.steps + 0.5) * model.step)
    for body in bodies:
        world.insertDynamicalSystem(body)
    for interaction, partners in links:
        world.link(interaction, *partners)
    scheme = sk.MoreauJeanOSI(model.theta, 1.0 - model.theta)
    scheme.setConstraintActivationThreshold(ROUND_OFF)
    stepping = sk.TimeStepping(world, sk.TimeDiscretisation(0.0, model.step), scheme, contact_problem)
    stepping.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return stepping, bodies, [interaction for interaction, _ in links]


def run_spheres(model: SettlingSpheres) -> Run:
    """Rigid bodies in Bullet's broad phase; the facts count sweeps and steps without convergence."""
    stepping, bodies, problem = build_spheres(model)
    options = problem.numericsSolverOptions()
    every, seconds, sweeps, unsolved = model.steps // SAMPLES, 0.0, 0, 0
    samples: list[tuple[np.ndarray, np.ndarray, int]] = []
    for number in range(1, model.steps + 1):
        start = time.perf_counter()
        stepping.computeOneStep()
        seconds += time.perf_counter() - start
        sweeps += int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE])
        unsolved += bool(options.dparam[sn.SICONOS_DPARAM_RESIDU] > model.tolerance)
        if number % every == 0:
            places = np.array([body.q()[:3] for body in bodies])
            speeds = np.array([body.twist()[:3] for body in bodies])
            samples.append((places, speeds, problem.getSizeOutput() // 3))
        start = time.perf_counter()
        stepping.nextStep()
        seconds += time.perf_counter() - start
    trajectory = {
        key: np.array(each)
        for key, each in zip(("position", "velocity", "contacts"), zip(*samples, strict=True), strict=True)
    }
    trajectory["time"] = model.step * every * np.arange(1, len(samples) + 1)
    settings = (
        f"Bullet, NSGS, Newton, tolerance {model.tolerance:.0e}, at most {model.sweeps} sweeps, {package()}"
    )
    facts = {"sweeps": sweeps / model.steps, "steps_not_converged": float(unsolved)}
    return Run(settings, model.steps, seconds, trajectory, facts)


def build_spheres(model: SettlingSpheres) -> tuple[Any, list[Any], Any]:
    from siconos.mechanics.collision import RigidBodyDS, SiconosContactor, SiconosSphere
    from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

    world = sk.NonSmoothDynamicalSystem(0.0, (model.steps + 0.5) * model.step)
    bodies = []
    for centre in model.centres():
        body = RigidBodyDS([*centre, 1.0, 0.0, 0.0, 0.0], [0.0] * 6, model.mass, model.inertia * np.eye(3))
        body.contactors().push_back(SiconosContactor(without_margins(SiconosSphere(model.radius))))
        body.setFExtPtr([0.0, 0.0, -model.mass * model.gravity])
        world.insertDynamicalSystem(body)
        bodies.append(body)
    options = SiconosBulletOptions()
    options.perturbationIterations = 0
    options.minimumPointsPerturbationThreshold = 0
    collisions = SiconosBulletCollisionManager(options)
    law = sk.NewtonImpactFrictionNSL(model.restitution, 0.0, model.friction, 3)
    collisions.insertNonSmoothLaw(law, 0, 0)
    for contactors, place in walls(model):
        collisions.insertStaticContactorSet(contactors, place)
    problem = friction_problem("Newton", model.tolerance, sweeps=model.sweeps)
    problem.setMaxSize(30 * model.spheres)
    stepping = sk.TimeStepping(world, sk.TimeDiscretisation(0.0, model.step))
    stepping.insertInteractionManager(collisions)
    stepping.insertIntegrator(sk.MoreauJeanOSI(model.theta, 1.0 - model.theta))
    stepping.insertNonSmoothProblem(problem)
    stepping.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    stepping.setNewtonMaxIteration(1)
    return stepping, bodies, problem


def walls(model: SettlingSpheres) -> list[tuple[Any, list[float]]]:
    """Thick boxes with their inner faces on the planes; Bullet's own plane lets resting spheres sink in."""
    from siconos.mechanics.collision import SiconosBox, SiconosContactor, SiconosContactorSet

    middle = np.array([0.5 * model.width, 0.5 * model.width, 0.5 * model.width])
    found = []
    for plane in model.planes():
        normal, offset = plane[:3], plane[3]
        centre = middle - (normal @ middle + offset + 0.5 * WALL_THICKNESS) * normal
        size = np.where(normal == 0.0, 4.0 * model.width, WALL_THICKNESS)
        contactors = SiconosContactorSet()
        contactors.append(SiconosContactor(without_margins(SiconosBox(*size))))
        found.append((contactors, [*centre, 1.0, 0.0, 0.0, 0.0]))
    return found


def without_margins(shape: Any) -> Any:
    shape.setInsideMargin(0.0)
    shape.setOutsideMargin(0.0)
    return shape


def package() -> str:
    """What runs: the package as it is, or with which library preloaded."""
    library = Path(os.environ.get(PRELOAD, ""))
    if not library.name:
        return "as packaged"
    return "costly assertions removed" if library.stem.startswith(UNCHECKED.stem) else f"with {library.name}"


def unchecked_library() -> str:
    """Path of the compiled siconos_unchecked.cpp; empty if it cannot be compiled here."""
    source = UNCHECKED.read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "klapper-benchmarks")
    mark = hashlib.sha256(source + version().encode()).hexdigest()[:16]
    library = cache / f"{UNCHECKED.stem}_{mark}.so"
    if library.exists():
        return str(library)
    folders = [f"-I{HEADERS}", f"-I{HEADERS}/kernel", f"-I{HEADERS}/numerics"]
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            made = Path(folder, library.name)
            command = ["g++", "-O2", "-w", "-std=c++17", "-shared", "-fPIC", *folders, str(UNCHECKED)]
            subprocess.run([*command, "-o", str(made)], capture_output=True, check=True)
            made.replace(library)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return str(library)


def main() -> None:
    if PRELOAD not in os.environ:
        os.environ[PRELOAD] = unchecked_library()
    preloaded = os.environ.get("LD_PRELOAD", "").split(":")
    if os.environ[PRELOAD] and os.environ[PRELOAD] not in preloaded:
        os.environ["LD_PRELOAD"] = ":".join([os.environ[PRELOAD], *filter(None, preloaded)])
        os.execv(sys.executable, sys.orig_argv)
    serve(version(), run)


if __name__ == "__main__":
    main()
