"""All solutions of a small complementarity problem: every combination of alternatives is one polyhedron.

The problem is given by affine expressions e_k(x) = R_k x + c_k and, for each law, alternatives that say which
expressions vanish and which are non-negative. A combination has as many equations as unknowns: mostly one point, and a
whole polyhedron where the equations are dependent.
"""

import numpy as np

from klapper.complementarity.kernels.polyhedron import ranges
from klapper.machine_code import njit

RANK = 1e-10
EPS = np.finfo(np.float64).eps
ACCEPT = 1e-9
ROUND_OFF = 1e-13


@njit(cache=True)
def solution_pieces(
    rows: np.ndarray,
    constants: np.ndarray,
    zero: np.ndarray,
    positive: np.ndarray,
    alternatives: np.ndarray,
    limit: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Pieces of the solution set.

    ``rows`` R (E, n) and ``constants`` c (E,): the expressions; the first n of them must be the unknowns and the next n
    their images, whose ranges are reported. ``zero`` (laws, A, Z) and ``positive`` (laws, A, P): expression numbers for
    each alternative, padded with -1. ``alternatives`` (laws,): how many each law has. At most ``limit`` pieces are
    kept.

    Returns points (pieces, n), lower and upper bounds (pieces, 2 n), and the number of combinations dropped although
    their equations are singular only to rounding.
    """
    laws = alternatives.size
    n = rows.shape[1]
    points = np.empty((limit, n))
    lower = np.empty((limit, 2 * n))
    upper = np.empty((limit, 2 * n))
    found = 0
    doubtful = 0
    choice = np.zeros(laws, np.int64)
    system = np.empty((n, n + 1))
    inequality = np.empty(positive.shape[0] * positive.shape[2] + 1, np.int64)
    column_order = np.empty(n, np.int64)
    x = np.empty(n)
    while True:
        equations = 0
        inequalities = 0
        for law in range(laws):
            for k in zero[law, choice[law]]:
                if k >= 0:
                    system[equations, :n] = rows[k]
                    system[equations, n] = -constants[k]
                    equations += 1
            for k in positive[law, choice[law]]:
                if k >= 0:
                    inequality[inequalities] = k
                    inequalities += 1
        rank, gap = eliminate(system, column_order)
        doubt = rank < n and gap > 64 * n * EPS
        if consistent(system, rank):
            x[:] = 0.0
            for r in range(rank):
                x[column_order[r]] = system[r, n]
            feasible = False
            if rank == n:
                feasible = satisfied(rows, constants, inequality, inequalities, x)
                if feasible and found < limit:
                    for i in range(2 * n):
                        value = constants[i]
                        for j in range(n):
                            value += rows[i, j] * x[j]
                        lower[found, i] = value
                        upper[found, i] = value
            else:
                null = null_space(system, column_order, rank)
                feasible, low, high, point = piece_ranges(rows, constants, inequality, inequalities, x, null)
                if feasible and found < limit:
                    lower[found] = low
                    upper[found] = high
                    x[:] = point
            if feasible:
                if found < limit:
                    points[found] = x
                found += 1
                doubt = False
        if doubt:
            doubtful += 1
        law = 0
        while law < laws:
            choice[law] += 1
            if choice[law] < alternatives[law]:
                break
            choice[law] = 0
            law += 1
        if law == laws:
            break
    kept = min(found, limit)
    return points[:kept], lower[:kept], upper[:kept], doubtful


@njit(cache=True)
def eliminate(system: np.ndarray, column_order: np.ndarray) -> tuple[int, float]:
    """Gauss–Jordan with full pivoting on (n, n + 1); columns are permuted in ``column_order``.

    Returns the rank and, relative to the first pivot, the largest entry that was taken for zero.
    """
    n = system.shape[0]
    for j in range(n):
        column_order[j] = j
    first = 0.0
    for k in range(n):
        p, q, size = k, k, 0.0
        for i in range(k, n):
            for j in range(k, n):
                if abs(system[i, j]) > size:
                    p, q, size = i, j, abs(system[i, j])
        if k == 0:
            first = size
        if size <= RANK * first or size == 0.0:
            return k, size / first if first > 0.0 else 0.0
        if p != k:
            for j in range(n + 1):
                system[k, j], system[p, j] = system[p, j], system[k, j]
        if q != k:
            for i in range(n):
                system[i, k], system[i, q] = system[i, q], system[i, k]
            column_order[k], column_order[q] = column_order[q], column_order[k]
        inverse = 1.0 / system[k, k]
        for j in range(k, n + 1):
            system[k, j] *= inverse
        for i in range(n):
            factor = system[i, k]
            if i != k and factor != 0.0:
                for j in range(k, n + 1):
                    system[i, j] -= factor * system[k, j]
    return n, 0.0


@njit(cache=True)
def consistent(system: np.ndarray, rank: int) -> bool:
    """Whether the rows beyond the rank read 0 = 0."""
    n = system.shape[0]
    scale = 1.0
    for i in range(rank):
        scale = max(scale, abs(system[i, n]))
    residue = 0.0
    for i in range(rank, n):
        residue = max(residue, abs(system[i, n]))
    return residue <= 1e2 * ROUND_OFF * scale


@njit(cache=True)
def null_space(system: np.ndarray, column_order: np.ndarray, rank: int) -> np.ndarray:
    """Basis (n, n - rank) of the solutions of the homogeneous eliminated system."""
    n = system.shape[0]
    basis = np.zeros((n, n - rank))
    for c in range(n - rank):
        basis[column_order[rank + c], c] = 1.0
        for r in range(rank):
            basis[column_order[r], c] = -system[r, rank + c]
    return basis


@njit(cache=True)
def satisfied(
    rows: np.ndarray, constants: np.ndarray, inequality: np.ndarray, count: int, x: np.ndarray
) -> bool:
    largest = 1.0
    for j in range(x.size):
        largest = max(largest, abs(x[j]))
    for t in range(count):
        k = inequality[t]
        value = constants[k]
        scale = abs(value)
        for j in range(x.size):
            term = rows[k, j] * x[j]
            value += term
            scale += abs(term)
        if value < -ACCEPT * scale - ROUND_OFF * largest:
            return False
    return True


@njit(cache=True)
def piece_ranges(
    rows: np.ndarray,
    constants: np.ndarray,
    inequality: np.ndarray,
    count: int,
    x: np.ndarray,
    null: np.ndarray,
) -> tuple[bool, np.ndarray, np.ndarray, np.ndarray]:
    """Ranges of unknowns and images over x + span(null) under the inequalities, and one point of the piece."""
    n = x.size
    k = null.shape[1]
    constraints = np.zeros((count, k))
    offsets = np.empty(count)
    for t in range(count):
        e = inequality[t]
        offsets[t] = constants[e]
        for j in range(n):
            offsets[t] += rows[e, j] * x[j]
            for c in range(k):
                constraints[t, c] += rows[e, j] * null[j, c]
        for c in range(k):
            if abs(constraints[t, c]) < RANK:
                constraints[t, c] = 0.0
    functions = np.zeros((2 * n, k))
    values = np.empty(2 * n)
    for i in range(2 * n):
        values[i] = constants[i]
        for j in range(n):
            values[i] += rows[i, j] * x[j]
            for c in range(k):
                functions[i, c] += rows[i, j] * null[j, c]
        for c in range(k):
            if abs(functions[i, c]) < RANK:
                functions[i, c] = 0.0
    feasible, lower, upper, vertex = ranges(constraints, offsets, functions, values)
    return feasible, lower, upper, vertex[:n]
