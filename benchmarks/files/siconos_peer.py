"""Siconos on one problem: ``python3 siconos_peer.py request.npz answer.npz`` by the interpreter that has siconos.

The request holds the blocks of W by compressed rows, q, μ, the ``method`` and the ``tolerance``. NSGS: fc3d_nsgs or
fc2d_nsgs_sbm with their default options; NSN: fc3d_nonsmooth_Newton_AlartCurnier. Timed is the call alone, the best of
several where it is short, in time of the processor. The tolerance of Siconos is its own error, ‖natural map‖ / ‖q‖.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import siconos.numerics as sn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import siconos_peer

SHORT, REPEATS = 0.5, 3  # s: shorter calls are repeated
BRIEF, MANY_REPEATS = 0.01, 50  # s: they are repeated more often
ITERATIONS = {"NSGS": 100_000, "NSN": 500}


def method(name: str, dimension: int) -> tuple[Any, int]:
    """The function and the number of its options."""
    if name == "NSGS" and dimension == 3:
        return sn.fc3d_nsgs, sn.SICONOS_FRICTION_3D_NSGS
    if name == "NSGS":
        return sn.fc2d_nsgs_sbm, sn.SICONOS_FRICTION_2D_NSGS
    return sn.fc3d_nonsmooth_Newton_AlartCurnier, sn.SICONOS_FRICTION_3D_NSN_AC


def solve(request: dict[str, np.ndarray]) -> dict[str, Any]:
    name, dimension = str(request["method"]), int(request["dimension"])
    problem = siconos_peer.friction_problem(request)
    call, number = method(name, dimension)
    size = request["offset"].size
    best = np.inf
    for repeat in range(MANY_REPEATS):
        options = sn.SolverOptions(number)
        options.dparam[sn.SICONOS_DPARAM_TOL] = float(request["tolerance"])
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = ITERATIONS[name]
        forces, velocity = np.zeros(size), np.zeros(size)
        start = time.process_time()
        info = call(problem, forces, velocity, options)
        best = min(best, max(time.process_time() - start, 1e-7))
        if best > SHORT or (best > BRIEF and repeat >= REPEATS - 1):
            break
    return {"seconds": best, "forces": forces, "info": info}


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    answer = {} if str(request["task"]) == "version" else solve(request)
    np.savez(sys.argv[2], version=siconos_peer.version(), **answer)


if __name__ == "__main__":
    main()
