"""Exudyn steps the models it can describe: ball, chain, inclined block, settling spheres.

    python -m benchmarks.dynamics.exudyn_dynamics request.npz answer.npz

Its contacts are springs and dampers, its Coulomb friction is linear in the velocity below a small sliding
speed, so a block under load creeps. Stiffness and damping follow from the step: one contact of two bodies
lasts `CONTACT_STEPS` steps and returns with the wanted restitution, ε = exp(−π ζ / √(1 − ζ²)). Explicit solvers
with a fixed step, on one thread; timed is `SolveSteps`, whose loop is C++, with all output switched off. A
second, untimed run gives the trajectory.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from benchmarks.dynamics.exchange import NotModelled, Run, serve
from benchmarks.dynamics.models import BouncingBall, InclinedBlock, MassChain, Model, SettlingSpheres

CONTACT_STEPS = 20  # one bounce lasts so many steps
CHAIN_FINER, BLOCK_FINER, SPHERES_FINER = 10, 5, 5  # steps within one step of the model
FRICTION_ZONE = 1e-3  # m/s, friction grows linearly up to this sliding speed
SAMPLES = 20  # of the spheres
RADIUS = 0.1  # m, of the sphere that stands for the block

Built = tuple[Any, Callable[[], dict[str, Any]]]


def run(model: Model, repeats: int) -> list[Run]:
    solver = exu.DynamicSolverType.RK44
    if isinstance(model, BouncingBall):
        every = max(1, round(1e-3 / model.step))
        return [timed(model, build_ball, solver, "RK44, linear contact", repeats, finer=1, every=every)]
    if isinstance(model, MassChain):
        return [
            timed(model, build_chain, solver, "RK44, linear contact", repeats, finer=CHAIN_FINER, every=10)
        ]
    zone = f"friction zone {1e3 * FRICTION_ZONE:g} mm/s"
    if isinstance(model, InclinedBlock):
        return [timed(model, build_block, solver, f"RK44, {zone}", repeats, finer=BLOCK_FINER, every=10)]
    if isinstance(model, SettlingSpheres):
        every = model.steps // SAMPLES
        solver = exu.DynamicSolverType.ExplicitEuler  # as accurate here as RK44, the contacts being damped
        return [
            timed(
                model, build_spheres, solver, f"explicit Euler, {zone}", 0, finer=SPHERES_FINER, every=every
            )
        ]
    raise NotModelled(f"Exudyn's {model.kind} is left out, its penalty would decide the result")


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
    samples, pieces = [], []
    for _ in range(model.steps // every):
        pieces.append(advance(system, solver, step, every * finer))
        samples.append(take())
    trajectory = {key: np.array([sample[key] for sample in samples]) for key in samples[0]}
    trajectory["time"] = model.step * every * np.arange(1, len(samples) + 1)
    words = f"{settings}, contact of {CONTACT_STEPS} steps, step {1e3 * step:g} ms"
    return Run(words, model.steps * finer, min(seconds, default=sum(pieces)), trajectory)


def advance(system: Any, solver: Any, step: float, steps: int) -> float:
    """Go on from the current state; the seconds of the stepping loop."""
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.solverType = solver
    integration.numberOfSteps = steps
    integration.startTime = system.systemData.GetTime()
    integration.endTime = integration.startTime + steps * step
    integration.automaticStepSize = False
    integration.adaptiveStep = False
    integration.discontinuous.useRecommendedStepSize = False
    integration.explicit.computeMassMatrixInversePerBody = True
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    stepping: Any = exu.MainSolverExplicit()
    stepping.InitializeSolver(system, settings)
    start = time.perf_counter()
    stepping.SolveSteps(system, settings)
    seconds = time.perf_counter() - start
    stepping.FinalizeSolver(system, settings)
    system.systemData.SetSystemState(system.systemData.GetSystemState(), exu.ConfigurationType.Initial)
    return seconds


def build_ball(model: BouncingBall, step: float) -> Built:
    system: Any = exu.SystemContainer().AddSystem()
    ground = _ground_coordinate(system)
    ball = _mass_on_a_line(system, model.mass, model.height, 0.0, -model.mass * model.gravity)
    _contact_on_a_line(system, ground, ball, model.mass, model.restitution, step)
    system.Assemble()

    def take() -> dict[str, Any]:
        data = system.systemData
        return {"position": data.GetODE2Coordinates()[0], "velocity": data.GetODE2Coordinates_t()[0]}

    return system, take


def build_chain(model: MassChain, step: float) -> Built:
    system: Any = exu.SystemContainer().AddSystem()
    ground = _ground_coordinate(system)
    masses = [
        _mass_on_a_line(system, model.mass, place, speed, force)
        for place, speed, force in zip(model.positions(), model.velocities(), model.forces(), strict=True)
    ]
    for mass in masses:
        spring = items.CoordinateSpringDamper(markerNumbers=[ground, mass], stiffness=model.stiffness)
        system.AddObject(spring)
    for left, right in itertools.pairwise(masses):
        _contact_on_a_line(system, left, right, 0.5 * model.mass, model.restitution, step)
    system.Assemble()

    def take() -> dict[str, Any]:
        data = system.systemData
        return {"position": data.GetODE2Coordinates(), "velocity": data.GetODE2Coordinates_t()}

    return system, take


def build_block(model: InclinedBlock, step: float) -> Built:
    """A mass point with a sphere around it on two large triangles, in the axes (tangent 1, tangent 2, normal)."""
    system: Any = exu.SystemContainer().AddSystem()
    normal, first, second = model.gravity_vector()
    node = system.AddNode(items.NodePoint(referenceCoordinates=[0.0, 0.0, RADIUS]))
    system.AddObject(items.ObjectMassPoint(mass=model.mass, nodeNumber=node))
    marker = system.AddMarker(items.MarkerNodePosition(nodeNumber=node))
    weight = [model.mass * first, model.mass * second, model.mass * normal]
    system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=weight))
    reach = 10.0 + 2.0 * model.exact_displacement(model.until)
    corners = reach * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    spring = _spring_and_damper(model.mass, 0.0, step)
    _general_contact(system, [marker], RADIUS, [corners], spring, model.friction)
    system.Assemble()

    def take() -> dict[str, Any]:
        data = system.systemData
        return {
            "position": data.GetODE2Coordinates()[[2, 0, 1]],
            "velocity": data.GetODE2Coordinates_t()[[2, 0, 1]],
        }

    return system, take


def build_spheres(model: SettlingSpheres, step: float) -> Built:
    system: Any = exu.SystemContainer().AddSystem()
    markers = []
    for centre in model.centres():
        place = [*centre, 0.0, 0.0, 0.0]
        node = system.AddNode(items.NodeRigidBodyRotVecLG(referenceCoordinates=place))
        inertia = [model.inertia] * 3 + [0.0] * 3
        system.AddObject(items.ObjectRigidBody(mass=model.mass, inertia=inertia, nodeNumber=node))
        marker = system.AddMarker(items.MarkerNodeRigid(nodeNumber=node))
        weight = [0.0, 0.0, -model.mass * model.gravity]
        system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=weight))
        markers.append(marker)
    contact = _general_contact(
        system,
        markers,
        model.radius,
        _box_faces(model.width, 2.0 * model.width),
        _spring_and_damper(0.5 * model.mass, model.restitution, step),
        model.friction,
    )
    contact.SetSearchTreeCellSize(numberOfCells=[model.per_edge] * 3)
    contact.SetSearchTreeBox(pMin=np.zeros(3), pMax=model.width * np.array([1.0, 1.0, 2.0]))
    system.Assemble()
    start = model.centres()

    def take() -> dict[str, Any]:
        data = system.systemData
        centres = start + data.GetODE2Coordinates().reshape(-1, 6)[:, :3]
        return {
            "position": centres,
            "velocity": data.GetODE2Coordinates_t().reshape(-1, 6)[:, :3],
            "contacts": touching(model, centres),
        }

    return system, take


def touching(model: SettlingSpheres, centres: np.ndarray) -> int:
    """Number of overlapping pairs and of overlaps with floor and walls."""
    planes = model.planes()
    walls = (centres @ planes[:, :3].T + planes[:, 3] < model.radius).sum()
    between = np.linalg.norm(centres[:, None] - centres[None], axis=2) < 2.0 * model.radius
    return int(walls + (between.sum() - len(centres)) // 2)


def _ground_coordinate(system: Any) -> Any:
    node = system.AddNode(items.NodePointGround())
    return system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))


def _mass_on_a_line(system: Any, mass: float, place: float, speed: float, force: float) -> Any:
    """Marker of the coordinate of a loaded mass."""
    node = system.AddNode(
        items.Node1D(referenceCoordinates=[0.0], initialCoordinates=[place], initialVelocities=[speed])
    )
    system.AddObject(items.Mass1D(mass=mass, nodeNumber=node))
    marker = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))
    system.AddLoad(items.LoadCoordinate(markerNumber=marker, load=force))
    return marker


def _contact_on_a_line(
    system: Any, left: Any, right: Any, mass: float, restitution: float, step: float
) -> None:
    data = system.AddNode(items.NodeGenericData(initialCoordinates=[0.0], numberOfDataCoordinates=1))
    stiffness, damping = _spring_and_damper(mass, restitution, step)
    system.AddObject(
        items.ObjectContactCoordinate(
            markerNumbers=[left, right], nodeNumber=data, contactStiffness=stiffness, contactDamping=damping
        )
    )


def _spring_and_damper(mass: float, restitution: float, step: float) -> tuple[float, float]:
    """Stiffness [N/m] and damping [N s/m] of a contact between bodies of that effective mass [kg]."""
    frequency = np.pi / (CONTACT_STEPS * step)
    decay = np.log(restitution) if restitution > 0.0 else -np.inf
    ratio = 1.0 if np.isinf(decay) else -decay / np.sqrt(np.pi**2 + decay**2)
    return mass * frequency**2, 2.0 * ratio * mass * frequency


def _box_faces(width: float, height: float) -> list[np.ndarray]:
    """Corners (4, 3) of the floor and of four walls, seen from inside against the clock."""
    low, high = np.zeros(3), np.array([width, width, height])
    x, y, z = (np.array([low[i], high[i]]) for i in range(3))
    floor = [(x[0], y[0], 0.0), (x[1], y[0], 0.0), (x[1], y[1], 0.0), (x[0], y[1], 0.0)]
    left = [(0.0, y[0], z[0]), (0.0, y[1], z[0]), (0.0, y[1], z[1]), (0.0, y[0], z[1])]
    right = [(width, y[0], z[0]), (width, y[0], z[1]), (width, y[1], z[1]), (width, y[1], z[0])]
    front = [(x[0], 0.0, z[0]), (x[0], 0.0, z[1]), (x[1], 0.0, z[1]), (x[1], 0.0, z[0])]
    back = [(x[0], width, z[0]), (x[1], width, z[0]), (x[1], width, z[1]), (x[0], width, z[1])]
    return [np.array(face) for face in (floor, left, right, front, back)]


def _general_contact(
    system: Any,
    markers: list[Any],
    radius: float,
    faces: list[np.ndarray],
    spring: tuple[float, float],
    friction: float,
) -> Any:
    """Spheres around the markers and two triangles per face, a part of the ground.

    Springs of two partners act in series and dampers in parallel: twice the stiffness, half the damping.
    """
    stiffness, damping = 2.0 * spring[0], 0.5 * spring[1]
    contact = system.AddGeneralContact()
    ground = system.AddObject(items.ObjectGround())
    marker = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))
    for corners in faces:
        contact.AddTrianglesRigidBodyBased(
            rigidBodyMarkerIndex=marker,
            contactStiffness=stiffness,
            contactDamping=damping,
            frictionMaterialIndex=0,
            pointList=corners,
            triangleList=[[0, 1, 2], [0, 2, 3]],
            staticTriangles=True,
        )
    for each in markers:
        contact.AddSphereWithMarker(
            each, radius=radius, contactStiffness=stiffness, contactDamping=damping, frictionMaterialIndex=0
        )
    contact.SetFrictionPairings(friction * np.eye(1))
    contact.SetFrictionProportionalZone(FRICTION_ZONE)
    return contact


if __name__ == "__main__":
    serve(exu.__version__, run)
