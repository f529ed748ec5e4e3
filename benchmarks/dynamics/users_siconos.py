"""Siconos steps the linear models of users' kinds, with the scheme and the step of klapper.

    python3 -m benchmarks.dynamics.users_siconos request.npz answer.npz

The request holds M, C, K, the constant load, the start, and of each contact its normal, its tangent, its gap at q = 0,
μ and ε. Timed is `TimeStepping.run()`, whose loop is C++, in seconds of processor time.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

from benchmarks.dynamics.siconos_dynamics import PRELOAD, ROUND_OFF, package, unchecked_library
from benchmarks.siconos_peer import version

TOLERANCE = 1e-10
SOLVERS = {"NSGS": sn.SICONOS_FRICTION_2D_NSGS, "Lemke": sn.SICONOS_FRICTION_2D_LEMKE}


def build(model: dict[str, Any], solver: int) -> tuple[Any, Any]:
    body = sk.LagrangianLinearTIDS(model["position"], model["velocity"], model["mass"])
    body.setKPtr(model["stiffness"])
    body.setCPtr(model["damping"])
    body.setFExtPtr(model["load"])
    steps, step = int(model["steps"]), float(model["step"])
    world = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * step)
    world.insertDynamicalSystem(body)
    for normal, tangent, gap, friction, restitution in zip(
        *(model[name] for name in ("normals", "tangents", "gaps", "friction", "restitution")), strict=True
    ):
        law = sk.NewtonImpactFrictionNSL(float(restitution), 0.0, float(friction), 2)
        relation = sk.LagrangianLinearTIR(np.array([normal, tangent]), [float(gap), 0.0])
        world.link(sk.Interaction(law, relation), body)
    scheme = sk.MoreauJeanOSI(0.5, 0.5)
    scheme.setConstraintActivationThreshold(ROUND_OFF)
    problem = sk.FrictionContact(2, solver)
    problem.numericsSolverOptions().dparam[sn.SICONOS_DPARAM_TOL] = TOLERANCE
    problem.numericsSolverOptions().iparam[sn.SICONOS_IPARAM_MAX_ITER] = 1000
    problem.setKeepLambdaAndYState(True)
    stepping = sk.TimeStepping(world, sk.TimeDiscretisation(0.0, step), scheme, problem)
    stepping.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return stepping, body


def answer(model: dict[str, Any]) -> dict[str, Any]:
    best: dict[str, Any] = {"seconds_per_step": np.inf}
    for name, solver in SOLVERS.items():
        for _ in range(2):
            stepping, body = build(model, solver)
            start = time.process_time()
            stepping.run()
            seconds = (time.process_time() - start) / int(model["steps"])
            if seconds < best["seconds_per_step"]:
                best = {"seconds_per_step": seconds, "settings": f"{name}, {package()}", "position": body.q()}
    return best


def main() -> None:
    if PRELOAD not in os.environ:
        os.environ[PRELOAD] = unchecked_library()
    preloaded = os.environ.get("LD_PRELOAD", "").split(":")
    if os.environ[PRELOAD] and os.environ[PRELOAD] not in preloaded:
        os.environ["LD_PRELOAD"] = ":".join([os.environ[PRELOAD], *filter(None, preloaded)])
        os.execv(sys.executable, sys.orig_argv)
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    if str(request["task"]) == "version":
        np.savez(sys.argv[2], version=version())
        return
    np.savez(sys.argv[2], **answer(request))


if __name__ == "__main__":
    main()
