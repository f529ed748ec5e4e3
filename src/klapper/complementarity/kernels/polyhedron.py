"""Ranges of linear functions over small polyhedra {t : G t + h ≥ 0}, t free.

A dictionary simplex with Bland's rule: first the free t become basic, then one violated row after the other is raised
to zero, then every function is minimised and maximised from the feasible dictionary.
"""

import numpy as np

from klapper.machine_code import njit

SMALL = 1e-10
FOUND, EMPTY, UNBOUNDED = 0, 1, 2


@njit(cache=True)
def ranges(
    constraints: np.ndarray, offsets: np.ndarray, functions: np.ndarray, constants: np.ndarray
) -> tuple[bool, np.ndarray, np.ndarray, np.ndarray]:
    """Whether {t : G t + h ≥ 0} is not empty; the least and greatest value of each F_i t + f_i over it; all at one
    vertex.

    ``constraints`` G (m, k), ``offsets`` h (m,), ``functions`` F (f, k), ``constants`` f (f,). Unbounded ends are ±inf.
    """
    m, k = constraints.shape
    count = constants.size
    table = np.empty((m + count, k + 1))
    table[:m, :k] = constraints
    table[m:, :k] = functions
    table[:m, k] = offsets
    table[m:, k] = constants
    lower = np.empty(count)
    upper = np.empty(count)
    sign_free = np.zeros(m, np.bool_)  # rows that now stand for a free t
    lineal = np.zeros(k, np.bool_)  # columns that no constraint feels
    basic = np.arange(m)
    nonbasic = np.arange(m, m + k)
    free_to_basic(table, basic, nonbasic, sign_free, lineal, m)
    if not reach_feasibility(table, basic, nonbasic, sign_free, lineal, m):
        return False, lower, upper, upper
    vertex = table[m:, k].copy()
    for f in range(count):
        upper[f] = maximise(table, basic, nonbasic, sign_free, lineal, m, m + f, 1.0)
        lower[f] = -maximise(table, basic, nonbasic, sign_free, lineal, m, m + f, -1.0)
    return True, lower, upper, vertex


@njit(cache=True)
def free_to_basic(
    table: np.ndarray,
    basic: np.ndarray,
    nonbasic: np.ndarray,
    sign_free: np.ndarray,
    lineal: np.ndarray,
    m: int,
) -> None:
    """Exchange every free t with the slack of the row that feels it most."""
    for j in range(nonbasic.size):
        row = -1
        size = SMALL
        for i in range(m):
            if not sign_free[i] and abs(table[i, j]) > size:
                size = abs(table[i, j])
                row = i
        if row < 0:
            lineal[j] = True
        else:
            exchange(table, basic, nonbasic, row, j)
            sign_free[row] = True


@njit(cache=True)
def exchange(table: np.ndarray, basic: np.ndarray, nonbasic: np.ndarray, row: int, column: int) -> None:
    inverse = 1.0 / table[row, column]
    rows, width = table.shape
    for j in range(width):
        table[row, j] *= -inverse
    table[row, column] = inverse
    for i in range(rows):
        factor = table[i, column]
        if i == row or factor == 0.0:
            continue
        for j in range(width):
            if j != column:
                table[i, j] += factor * table[row, j]
        table[i, column] = factor * inverse
    basic[row], nonbasic[column] = nonbasic[column], basic[row]


@njit(cache=True)
def blocking_row(
    table: np.ndarray, basic: np.ndarray, sign_free: np.ndarray, column: int, m: int
) -> tuple[int, float]:
    """Feasible row that limits the increase of a nonbasic slack (smallest number among ties), and the step."""
    rhs = table.shape[1] - 1
    row = -1
    step = np.inf
    for i in range(m):
        slope = table[i, column]
        if sign_free[i] or slope >= -SMALL or table[i, rhs] < -SMALL:
            continue
        ratio = max(table[i, rhs], 0.0) / -slope
        tied = row >= 0 and abs(ratio - step) <= SMALL * (1.0 + step)
        if (tied and basic[i] < basic[row]) or (not tied and ratio < step):
            row = i
            step = ratio
    return row, step


@njit(cache=True)
def entering_column(
    table: np.ndarray, nonbasic: np.ndarray, lineal: np.ndarray, row: int, sign: float
) -> int:
    """Bland: the smallest-numbered slack whose increase raises ``sign`` times the row; -1 if none."""
    column = -1
    for j in range(nonbasic.size):
        improves = sign * table[row, j] > SMALL and not lineal[j]
        if improves and (column < 0 or nonbasic[j] < nonbasic[column]):
            column = j
    return column


@njit(cache=True)
def reach_feasibility(
    table: np.ndarray,
    basic: np.ndarray,
    nonbasic: np.ndarray,
    sign_free: np.ndarray,
    lineal: np.ndarray,
    m: int,
) -> bool:
    rhs = table.shape[1] - 1
    for r in range(m):
        if sign_free[r]:
            continue
        steps = 0
        while table[r, rhs] < -SMALL:
            steps += 1
            column = entering_column(table, nonbasic, lineal, r, 1.0)
            if column < 0 or steps > 2000:
                return False
            row, step = blocking_row(table, basic, sign_free, column, m)
            if table[r, rhs] + step * table[r, column] >= 0.0:
                row = r
            exchange(table, basic, nonbasic, row, column)
            if row == r:
                break
    return True


@njit(cache=True)
def maximise(
    table: np.ndarray,
    basic: np.ndarray,
    nonbasic: np.ndarray,
    sign_free: np.ndarray,
    lineal: np.ndarray,
    m: int,
    objective: int,
    sign: float,
) -> float:
    """Greatest value of ``sign`` times the objective row."""
    for j in range(nonbasic.size):
        if lineal[j] and abs(table[objective, j]) > SMALL:
            return np.inf
    for _ in range(2000):
        column = entering_column(table, nonbasic, lineal, objective, sign)
        if column < 0:
            return sign * table[objective, table.shape[1] - 1]
        row, _ = blocking_row(table, basic, sign_free, column, m)
        if row < 0:
            return np.inf
        exchange(table, basic, nonbasic, row, column)
    return np.inf


@njit(cache=True)
def least_point(
    constraints: np.ndarray, offsets: np.ndarray, objective: np.ndarray, point: np.ndarray
) -> int:
    """``point`` (k,) gets a t that minimises objective·t over {t : G t + h ≥ 0}; whether it was FOUND.

    Directions that no constraint feels stay at zero unless the objective feels them.
    """
    m, k = constraints.shape
    table = np.zeros((m + 1 + k, k + 1))
    table[:m, :k] = constraints
    table[:m, k] = offsets
    table[m, :k] = objective
    for j in range(k):
        table[m + 1 + j, j] = 1.0
    sign_free = np.zeros(m, np.bool_)
    lineal = np.zeros(k, np.bool_)
    basic = np.arange(m)
    nonbasic = np.arange(m, m + k)
    free_to_basic(table, basic, nonbasic, sign_free, lineal, m)
    if not reach_feasibility(table, basic, nonbasic, sign_free, lineal, m):
        return EMPTY
    if maximise(table, basic, nonbasic, sign_free, lineal, m, m, -1.0) == np.inf:
        return UNBOUNDED
    point[:] = table[m + 1 :, k]
    return FOUND
