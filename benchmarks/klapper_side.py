"""klapper's side: reads a request (.npz), times the solver calls, writes the answer (.npz).

Each task is called once before the clock starts, so compilation is not timed. Friction is solved from
zero. Should klapper's own measure of convergence be milder than the common residual, the tolerance is
tightened until the common residual is reached, and only the run that reaches it counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import klapper
from benchmarks import measure, problems
from klapper.complementarity import FrictionalContact, LinearComplementarity, solve, solve_batch

Request = dict[str, np.ndarray]
Answer = dict[str, Any]


def solve_linear(request: Request) -> Answer:
    """The batch entry."""
    matrices, offsets = request["matrices"], request["offsets"]
    solve_batch(matrices[:1], offsets[:1])
    times = []
    for _ in range(int(request["repeats"])):
        start = time.perf_counter()
        solution = solve_batch(matrices, offsets)
        times.append(time.perf_counter() - start)
    return {"x": solution.x, "solved": solution.solved, "seconds": min(times) / len(offsets)}


def solve_singly(request: Request) -> Answer:
    """One call per problem from Python with the named solver; problems that raise count as not solved."""
    solver = str(request["solver"])
    matrices, offsets = request["matrices"], request["offsets"]
    cases = [LinearComplementarity(a, b) for a, b in zip(matrices, offsets, strict=True)]
    answer = _single_pass(cases, solver, offsets.shape[1])
    for _ in range(int(request["repeats"])):
        again = _single_pass(cases, solver, offsets.shape[1])
        answer["each"] = np.minimum(answer["each"], again["each"])
    answer["seconds"] = float(answer.pop("each").mean())
    return answer


def _single_pass(cases: list[LinearComplementarity], solver: str, size: int) -> Answer:
    x = np.full((len(cases), size), np.nan)
    each, iterations = np.empty(len(cases)), np.zeros(len(cases))
    for k, case in enumerate(cases):
        start = time.perf_counter()
        try:
            solution = solve(case, solver)
        except Exception:
            each[k] = time.perf_counter() - start
            continue
        each[k] = time.perf_counter() - start
        x[k], iterations[k] = solution.x, solution.iterations
    return {"x": x, "solved": np.isfinite(x).all(axis=1), "iterations": iterations, "each": each}


def solve_friction(request: Request) -> Answer:
    """Time, iterations and forces of the named solver at each tolerance of the common residual."""
    solver = str(request["solver"])
    _warm_up(solver)
    delassus = sparse.bsr_array((request["blocks"], request["indices"], request["indptr"]))
    problem = FrictionalContact(delassus, request["offset"], friction=request["friction"], dimension=3)
    answer: Answer = {"seconds": [], "iterations": [], "forces": [], "reached": [], "reason": []}
    for tolerance in request["tolerances"]:
        seconds, iterations, forces, reason = np.nan, 0, np.full(request["offset"].size, np.nan), ""
        own = float(tolerance)
        for _ in range(5):
            try:
                seconds, solution = _timed(problem, solver, own, int(request["repeats"]))
            except Exception as error:
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                break
            iterations, forces = solution.iterations, solution.x
            residual = measure.friction_residual(delassus, request["offset"], request["friction"], forces)
            if residual <= tolerance:
                break
            own *= 0.5 * tolerance / residual
        answer["seconds"].append(seconds)
        answer["iterations"].append(iterations)
        answer["forces"].append(forces)
        answer["reached"].append(np.isfinite(seconds) and residual <= tolerance)
        answer["reason"].append(reason)
    return answer


def memory(request: Request) -> Answer:
    """Peak memory in bytes of building and solving one sphere pile, compiled code loaded before."""
    solver = str(request["solver"])
    _warm_up(solver)

    def work() -> None:
        pile = problems.sphere_pile(np.random.default_rng(0), int(request["contacts"]))
        problem = FrictionalContact(pile.delassus, pile.offset, friction=pile.friction, dimension=3)
        solve(problem, solver, tolerance=1e-2)

    return {"bytes": measure.peak_memory(work)}


def _warm_up(solver: str) -> None:
    pile = problems.sphere_pile(np.random.default_rng(0), 20)
    problem = FrictionalContact(pile.delassus, pile.offset, friction=pile.friction, dimension=3)
    solve(problem, solver, tolerance=1e-4)


def _timed(problem: FrictionalContact, solver: str, tolerance: float, repeats: int) -> tuple[float, Any]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        solution = solve(problem, solver, tolerance=tolerance)
        times.append(time.perf_counter() - start)
    return min(times), solution


TASKS: dict[str, Callable[[Request], Answer]] = {
    "linear": solve_linear,
    "single": solve_singly,
    "friction": solve_friction,
    "memory": memory,
    "version": lambda _: {},
}


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    np.savez(sys.argv[2], version=klapper.__version__, **TASKS[str(request["task"])](request))


if __name__ == "__main__":
    main()
