"""quantecon's lcp_lemke: reads a request (.npz), times the solver, writes the answer (.npz).

lcp_lemke is compiled by numba; the batch is looped over in compiled code, with the workspace given once,
which is the fastest way to call it. Compilation is not timed.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version

import numpy as np
from numba import njit
from quantecon.optimize import lcp_lemke


@njit(cache=True)
def _batch(
    matrices: np.ndarray, offsets: np.ndarray, x: np.ndarray, solved: np.ndarray, iterations: np.ndarray
) -> None:
    size = offsets.shape[1]
    tableau = np.empty((size, 2 * size + 2))
    basis = np.empty(size, np.int_)
    for k in range(offsets.shape[0]):
        result = lcp_lemke(matrices[k], offsets[k], tableau=tableau, basis=basis, z=x[k])
        solved[k] = result.success
        iterations[k] = result.num_iter


def solve_linear(request: dict[str, np.ndarray]) -> dict[str, object]:
    matrices, offsets = request["matrices"], request["offsets"]
    x = np.zeros_like(offsets)
    solved, iterations = np.zeros(len(x), bool), np.zeros(len(x), np.int64)
    _batch(matrices[:1], offsets[:1], x[:1], solved[:1], iterations[:1])
    times = []
    for _ in range(int(request["repeats"])):
        start = time.perf_counter()
        _batch(matrices, offsets, x, solved, iterations)
        times.append(time.perf_counter() - start)
    return {"x": x, "solved": solved, "iterations": iterations, "seconds": min(times) / len(x)}


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    answer = solve_linear(request) if str(request["task"]) == "linear" else {}
    np.savez(sys.argv[2], version=version("quantecon"), **answer)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
