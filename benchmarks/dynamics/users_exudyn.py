"""Exudyn steps the slider-crank with motor, implicitly and with klapper's step.

    python -m benchmarks.dynamics.users_exudyn request.npz answer.npz

Bodies of three coordinates and joints as constraints, as in klapper; the motor is a constraint on the speed. The
fastest of two implicit integrators and two linear solvers counts, with modified Newton. Timed is `SolveSteps`, whose
loop is C++, in seconds of processor time, all output being switched off.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

CRANK, ROD, SPEED, GRAVITY = 0.15, 0.4, 10.0, 9.81


def build() -> tuple[Any, Any]:
    system: Any = exu.SystemContainer().AddSystem()

    def point(body: Any, x: float) -> Any:
        return system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0.0, 0.0]))

    def body(mass: float, inertia: float, x: float, lift: float, spin: float) -> tuple[Any, Any]:
        node = system.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[x, 0.0, 0.0], initialVelocities=[0.0, lift, spin])
        )
        made = system.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        load = items.LoadForceVector(markerNumber=point(made, 0.0), loadVector=[0.0, -GRAVITY * mass, 0.0])
        system.AddLoad(load)
        return node, made

    def hinge(a: Any, b: Any) -> None:
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[a, b]))

    def fixed(node: Any, coordinate: int, **more: Any) -> None:
        marker = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        system.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[still, marker], **more))

    ground = system.AddObject(items.ObjectGround())
    still = system.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=system.AddNode(items.NodePointGround()), coordinate=0)
    )
    crank_node, crank = body(1.0, CRANK**2 / 12, 0.5 * CRANK, 0.5 * CRANK * SPEED, SPEED)
    _, rod = body(1.0, ROD**2 / 12, CRANK + 0.5 * ROD, 0.5 * CRANK * SPEED, -SPEED * CRANK / ROD)
    slider_node, slider = body(2.0, 0.01, CRANK + ROD, 0.0, 0.0)
    hinge(point(ground, 0.0), point(crank, -0.5 * CRANK))
    hinge(point(crank, 0.5 * CRANK), point(rod, -0.5 * ROD))
    hinge(point(rod, 0.5 * ROD), point(slider, 0.0))
    fixed(slider_node, 1)
    fixed(slider_node, 2)
    fixed(crank_node, 2, velocityLevel=True, offset=SPEED)
    system.Assemble()
    return system, slider_node


def timed(step: float, steps: int, index2: bool, linear: Any) -> tuple[float, float]:
    """Seconds per step, and where the slider is in the end."""
    system, slider = build()
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime = steps, steps * step
    integration.adaptiveStep = False
    integration.newton.useModifiedNewton = True
    if index2:
        integration.generalizedAlpha.useIndex2Constraints = True
        integration.generalizedAlpha.useNewmark = True
    else:
        integration.generalizedAlpha.spectralRadius = 0.8
    settings.linearSolver.solverType = linear
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    stepping: Any = exu.MainSolverImplicitSecondOrder()
    stepping.InitializeSolver(system, settings)
    start = time.process_time()
    stepping.SolveSteps(system, settings)
    seconds = (time.process_time() - start) / steps
    stepping.FinalizeSolver(system, settings)
    return seconds, float(system.GetNodeOutput(slider, exu.OutputVariableType.Position)[0])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    step, steps = float(request["step"]), int(request["steps"])
    best: dict[str, Any] = {"seconds_per_step": np.inf}
    ways = {"dense": exu.LinearSolverType.EXUdense, "sparse": exu.LinearSolverType.EigenSparse}
    for index2, (word, linear) in itertools.product((True, False), ways.items()):
        for _ in range(2):
            seconds, place = timed(step, steps, index2, linear)
            if seconds < best["seconds_per_step"]:
                name = "trapezoidal, index 2" if index2 else "generalised α"
                best = {"seconds_per_step": seconds, "settings": f"{name}, {word}", "position": place}
    return best


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        asked = dict(stored)
    reply = {"version": exu.__version__} if str(asked["task"]) == "version" else answer(asked)
    np.savez(sys.argv[2], **reply)
