"""The common problem: a unit block of n cells a side, neo-Hooke in plane strain or in space, smooth fields over it.

    W = μ/2 (I₁ − 3) − μ ln J + λ/2 ln² J
    2/h M (q₁ − q₀) − 2 M v₀ + h f(½ (q₀ + q₁)) = 0                                            midpoint rule

Every program numbers its nodes as it likes; answers are put into the order of the grid. Needs numpy only, as the peers
have environments of their own.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

YOUNG, POISSON, DENSITY = 1.0e6, 0.3, 1000.0  # N/m², 1, kg/m³
SHEAR = YOUNG / (2.0 * (1.0 + POISSON))
LAME = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
STEP = 2.0e-3  # s
TOLERANCE = 1e-10  # of the residual, in units of its largest term
ROUNDS = 20


def grid_order(places: np.ndarray, n: int) -> np.ndarray:
    """Node numbers in the order of the grid, first coordinate fastest, of places (N, d) on it."""
    index = np.rint(places * n).astype(np.int64)
    return np.argsort(index @ (n + 1) ** np.arange(places.shape[1]))


def displacement(places: np.ndarray) -> np.ndarray:
    """(N, d) [m]: large strains, no cell turned inside out."""
    return 0.08 * np.sin(2.0 * np.roll(places, 1, axis=1) + 0.5) + 0.1 * places**2


def probe(places: np.ndarray) -> np.ndarray:
    """(N, d) [m]: a direction in which stiffness matrices are compared."""
    return np.cos(3.0 * places + np.arange(places.shape[1]))


def velocity(places: np.ndarray) -> np.ndarray:
    """(N, d) [m/s]: spinning and stretching."""
    arm = places - 0.5
    found = 5.0 * arm * (1.0 + places)
    found[:, 0] -= 20.0 * arm[:, 1]
    found[:, 1] += 20.0 * arm[:, 0]
    return found


def newton_midpoint(
    mass: Any,
    force_and_stiffness: Callable[[np.ndarray], tuple[np.ndarray, Any]],
    solve: Callable[[Any, np.ndarray], np.ndarray],
    start: np.ndarray,
    speed: np.ndarray,
) -> tuple[np.ndarray, int]:
    """q₁ − q₀ = u (n,) and the number of rounds, for a program that gives f and K at displacements and solves."""
    u = STEP * speed
    momentum = 2.0 * (mass @ speed)
    for rounds in range(ROUNDS):
        force, stiffness = force_and_stiffness(start + 0.5 * u)
        inertia = mass @ ((2.0 / STEP) * u)
        residual = inertia - momentum + STEP * force
        size = max(np.abs(term).max() for term in (inertia, momentum, STEP * force))
        if np.abs(residual).max() <= TOLERANCE * size:
            return u, rounds
        u = u - solve((2.0 / STEP) * mass + (0.5 * STEP) * stiffness, residual)
    raise ArithmeticError(f"Newton's method is at {np.abs(residual).max() / size:.1e} after {ROUNDS} rounds")


def clocked(work: Callable[[], object], repeats: int) -> float:
    """Least seconds on the processor."""
    taken = []
    for _ in range(repeats):
        start = process_time()
        work()
        taken.append(process_time() - start)
    return min(taken)


def peak_bytes() -> float:
    """Largest memory of this process until now."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def serve(version: str, tasks: dict[str, Callable[..., dict[str, Any]]]) -> None:
    """Answer the request named on the command line, on one processor."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[os.getpid() % len(processors)]})
    with np.load(sys.argv[1]) as stored:
        request = {name: value if value.ndim else value.item() for name, value in stored.items()}
    task = request.pop("task")
    answer = {} if task == "version" else tasks[task](**request)
    np.savez(sys.argv[2], version=version, **answer)
