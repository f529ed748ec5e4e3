"""klapper on files: ``python -m benchmarks.files.klapper_side request.npz answer.npz``.

The request names ``files``, ``solvers``, the ``error`` to reach and the ``limit`` [s] of a call. klapper judges answers
in units of its own: the tolerance is lowered until the error of the file is reached, and the call that reaches it
counts. Problems are built before the clock, with the form that compiled calls read, as those of Siconos are with their
sparse blocks; what that takes is measured apart. All code is compiled before, and the best of several calls is taken
where they are short, each on a problem of its own. Times are those of the processor, on one thread, so that other
programs on the machine do not count.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import klapper
from benchmarks.files.problem_file import ProblemFile, read
from klapper.complementarity import ComplementarityError, FrictionalContact, solve

TOLERANCES = (1e-9, 1e-10, 1e-11, 1e-12)
SHORT, REPEATS = 0.5, 3  # s: shorter calls are repeated
BRIEF, MANY_REPEATS = 0.01, 50  # s: they are repeated more often
PATIENCE = 8.0  # times the limit by the clock on the wall: another program may have the processor


class TooLong(Exception):
    """A call took longer than its limit."""


def _interrupt(*_: Any) -> None:
    raise TooLong


def measure(file: ProblemFile, solver: str, error: float, limit: float) -> tuple[float, float, str]:
    """Seconds of the call that reached the error, the error reached, and what the solver said otherwise."""
    reached, said = np.inf, ""
    for tolerance in TOLERANCES:
        seconds, found, said = timed(built(file), file, solver, tolerance, limit)
        reached = min(reached, found)
        if found <= error:
            return min([seconds, *again(file, solver, tolerance, limit, seconds)]), found, ""
        if said:
            return seconds, reached, said
    return seconds, reached, "the error was not reached at any tolerance"


def again(file: ProblemFile, solver: str, tolerance: float, limit: float, seconds: float) -> list[float]:
    """Seconds of more calls of one that took so many, each on a new problem; all are built before the first call."""
    count = 0 if seconds >= SHORT else REPEATS - 1 if seconds >= BRIEF else MANY_REPEATS
    return [
        timed(problem, file, solver, tolerance, limit)[0] for problem in [built(file) for _ in range(count)]
    ]


def built(file: ProblemFile) -> FrictionalContact:
    """The problem of a file, with what is kept about it for all calls."""
    problem = FrictionalContact(file.matrix, file.load, friction=file.friction, dimension=file.dimension)
    _ = problem.form, problem.rough_discs
    return problem


def construction(file: ProblemFile) -> float:
    """Seconds that the problem of a file takes to build, the best of several."""
    times = []
    for _ in range(REPEATS * 3):
        start = time.process_time()
        built(file)
        times.append(time.process_time() - start)
    return min(times)


def timed(
    problem: FrictionalContact, file: ProblemFile, solver: str, tolerance: float, limit: float
) -> tuple[float, float, str]:
    """One call: seconds, error reached, and why there is no verified answer."""
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * limit)
    forces, said = None, ""
    start = time.process_time()
    try:
        forces = solve(problem, solver, tolerance=tolerance).x
        seconds = time.process_time() - start
    except ComplementarityError as failure:
        seconds = time.process_time() - start
        forces, said = failure.closest, str(failure)
    except TooLong:
        seconds = time.process_time() - start
        said = f"not finished within {PATIENCE * limit:g} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return seconds, file.error(np.full(problem.size, np.nan) if forces is None else forces), said


def compile_all(solvers: list[str]) -> None:
    """Small problems of every kind, so that no measured call compiles."""
    rng = np.random.default_rng(0)
    for dimension in (2, 3):
        for contacts in (2, 30):
            n = dimension * contacts
            factor = rng.normal(size=(n, n))
            matrix = factor @ factor.T / n + 0.1 * np.eye(n)
            sample = ProblemFile(
                "", read_sparse(matrix), rng.normal(size=n), np.full(contacts, 0.5), dimension
            )
            for solver in solvers:
                timed(built(sample), sample, solver, 1e-9, 60.0)


def read_sparse(matrix: np.ndarray) -> Any:
    from scipy import sparse

    return sparse.csr_array(matrix)


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    if str(request["task"]) == "version":
        np.savez(sys.argv[2], version=klapper.__version__)
        return
    signal.signal(signal.SIGALRM, _interrupt)
    solvers = [str(solver) for solver in request["solvers"]]
    compile_all(solvers)
    files = [read(Path(str(file))) for file in request["files"]]
    rows = [
        [measure(file, solver, float(request["error"]), float(request["limit"])) for solver in solvers]
        for file in files
    ]
    np.savez(
        sys.argv[2],
        seconds=np.array([[cell[0] for cell in row] for row in rows]),
        errors=np.array([[cell[1] for cell in row] for row in rows]),
        reasons=np.array([[cell[2] for cell in row] for row in rows]),
        construction=np.array([construction(file) for file in files]),
    )


if __name__ == "__main__":
    main()
