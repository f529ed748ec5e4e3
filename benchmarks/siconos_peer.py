"""Siconos in its own interpreter: reads a request (.npz), times its solver calls, writes the answer (.npz).

Run by the interpreter of Debian's python3-siconos, so it imports numpy and siconos.numerics only:

    python3 siconos_peer.py request.npz answer.npz

Timed is the call of the solver alone; problems and options are built before. Every call starts from zero.

Linear complementarity: lcp_lexicolemke, options as they come. Frictional contact: fc3d_nsgs on a sparse
block matrix. Its settings matter, so several are tried and the fastest that reaches the tolerance is
kept: the local solver (the default hybrid Newton, the plain and the damped Newton of Alart and Curnier,
projection with local iterations), settled contacts frozen for 10 sweeps or not, and the error judged by
the change of the forces with a full evaluation at the end (the default) or by the full error every 10
sweeps. The full error is the residual that both sides are held to.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import siconos.numerics as sn

Request = dict[str, np.ndarray]
Answer = dict[str, Any]

LOCAL_SOLVERS = {
    "hybrid Newton": sn.SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID,
    "Newton": sn.SICONOS_FRICTION_3D_ONECONTACT_NSN,
    "damped Newton": sn.SICONOS_FRICTION_3D_ONECONTACT_NSN_GP,
    "local projection": sn.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration,
}
FREEZING = {"": 0, ", frozen": 10}
ERRORS = {
    "": sn.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT_WITH_FULL_FINAL,
    ", full error": sn.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL,
}


def version() -> str:
    """Debian's version of the package, else the version in the package's own data."""
    try:
        query = ["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"]
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split("+")[0]
    except (OSError, subprocess.CalledProcessError):
        from importlib.metadata import version as installed

        return installed("siconos")


def solve_linear(request: Request) -> Answer:
    """Best time over the repeats, per problem of the batch."""
    matrices, offsets = request["matrices"], request["offsets"]
    options = sn.SolverOptions(sn.SICONOS_LCP_LEMKE)
    size = offsets.shape[1]
    calls = [(sn.LCP(a, b), np.zeros(size), np.zeros(size)) for a, b in zip(matrices, offsets, strict=True)]
    times = []
    for _ in range(int(request["repeats"])):
        start = time.perf_counter()
        for problem, x, slack in calls:
            sn.lcp_lexicolemke(problem, x, slack, options)
        times.append(time.perf_counter() - start)
    iterations, solved = [], []
    for problem, x, slack in calls:
        solved.append(sn.lcp_lexicolemke(problem, x, slack, options) == 0)
        iterations.append(options.iparam[sn.SICONOS_IPARAM_ITER_DONE])
    return {
        "x": np.array([x for _, x, _ in calls]),
        "solved": np.array(solved),
        "iterations": np.array(iterations),
        "seconds": min(times) / len(calls),
    }


def solve_friction(request: Request) -> Answer:
    """The fastest setting that reaches each tolerance; after the first one only the finalists compete."""
    problem = friction_problem(request)
    settings = list(itertools.product(LOCAL_SOLVERS, FREEZING, ERRORS))
    tolerances = request["tolerances"]
    answer: Answer = {"seconds": [], "iterations": [], "forces": [], "settings": [], "reached": []}
    for tolerance in tolerances:
        runs = [nsgs(problem, request, tolerance, setting) for setting in settings]
        runs.sort(key=_slowness)
        close = [run for run in runs if run["seconds"] < 2.0 * runs[0]["seconds"]]
        for run in close:
            for _ in range(int(request["repeats"]) - 1):
                again = nsgs(problem, request, tolerance, run["setting"])
                run["seconds"] = min(run["seconds"], again["seconds"])
        runs.sort(key=_slowness)
        settings = [run["setting"] for run in runs[: int(request["finalists"])]]
        for key in ("seconds", "iterations", "forces", "reached"):
            answer[key].append(runs[0][key])
        answer["settings"].append("".join(runs[0]["setting"]))
    return {key: np.array(value) for key, value in answer.items()}


def _slowness(run: Answer) -> tuple[bool, float]:
    return not run["reached"], run["seconds"]


def nsgs(problem: Any, request: Request, tolerance: float, setting: tuple[str, str, str]) -> Answer:
    local, freezing, error = setting
    options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = int(request["max_iterations"])
    options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[sn.SICONOS_FRICTION_3D_NSGS_FREEZING_CONTACT] = FREEZING[freezing]
    options.iparam[sn.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = ERRORS[error]
    options.iparam[sn.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY] = 10 if error else 0
    sn.solver_options_update_internal(options, 0, LOCAL_SOLVERS[local])
    forces, velocity = np.zeros(request["offset"].size), np.zeros(request["offset"].size)
    start = time.perf_counter()
    info = sn.fc3d_nsgs(problem, forces, velocity, options)
    seconds = time.perf_counter() - start
    return {
        "setting": setting,
        "seconds": seconds,
        "forces": forces,
        "iterations": int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]),
        "reached": info == 0,
    }


def friction_problem(request: Request) -> Any:
    """A FrictionContactProblem with a sparse block matrix, through Siconos' own text format.

    The Python interface takes sparse matrices only from scipy, which Debian's package does not bring along.
    """
    blocks, contacts = request["blocks"], request["friction"].size
    rows = blocks.shape[1]  # of a contact, 2 or 3
    edges = " ".join(str(rows * (i + 1)) for i in range(contacts))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problem.dat")
        with open(path, "w") as file:
            file.write(f"{rows}\n{contacts}\n1\n{rows * contacts}\n{rows * contacts}\n")
            file.write(f"{len(blocks)}\n{contacts}\n{contacts}\n{edges}\n{edges}\n")
            file.write(f"{contacts + 1}\n{len(blocks)}\n")
            file.write(" ".join(map(str, request["indptr"])) + "\n")
            file.write(" ".join(map(str, request["indices"])) + "\n")
            for number, block in enumerate(blocks):  # column by column
                file.write(f"{number}\n" + "\n".join(f"{value:.17e}" for value in block.T.ravel()) + "\n")
            file.write(" ".join(f"{value:.17e}" for value in request["offset"]) + "\n")
            file.write(" ".join(f"{value:.17e}" for value in request["friction"]) + "\n")
        return sn.frictionContact_new_from_filename(path)


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    tasks: dict[str, Callable[[Request], Answer]] = {
        "linear": solve_linear,
        "friction": solve_friction,
        "version": lambda _: {},
    }
    answer = tasks[str(request["task"])](request)
    np.savez(sys.argv[2], version=version(), **answer)


if __name__ == "__main__":
    main()
