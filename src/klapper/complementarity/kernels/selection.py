"""Compiled parts of force selection: the prox iteration, and many small selection problems at once."""

import numpy as np

from klapper.complementarity.kernels.quadratic_program import SOLVED, least_quadratic
from klapper.machine_code import njit

_PROXIMAL = 1e-5  # of the largest eigenvalue: damping of the semidefinite first stage
_MOST_PROXIMAL = 100
_SETTLED = 1e-15


@njit(cache=True)
def prox_member(
    mobility: np.ndarray,
    member: np.ndarray,
    normal: np.ndarray,
    patches: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    sense: np.ndarray,
    sliding: np.ndarray,
    fixed: np.ndarray,
    factors: np.ndarray,
    goal: float,
    most: int,
    x: np.ndarray,
) -> tuple[float, int]:
    """Prox iteration from ``x`` (r,) on G (x − member); patches (s, 2) with −1 for a missing row. Returns the last
    change and the number of sweeps."""
    r = x.size
    velocity = np.empty(r)
    in_patch = np.zeros(r, np.bool_)
    pushes = np.zeros(r, np.bool_)
    for k in range(len(patches)):
        for a in range(2):
            if patches[k, a] >= 0:
                in_patch[patches[k, a]] = True
    pushes[normal] = True
    change = np.inf
    for sweep in range(most):
        for i in range(r):
            total = 0.0
            for j in range(r):
                total += mobility[i, j] * (x[j] - member[j])
            velocity[i] = total
        change = 0.0
        for i in range(r):
            if fixed[i] or in_patch[i]:
                continue
            moved = x[i] - factors[i] * velocity[i]
            if pushes[i]:
                moved = max(moved, 0.0)
            change = max(change, abs(moved - x[i]))
            x[i] = moved
        for k in range(len(patches)):
            first, second = patches[k, 0], patches[k, 1]
            if fixed[first]:
                continue
            radius = limit[k]
            for j in range(normal.size):
                radius += friction[k, j] * x[normal[j]]
            radius = max(radius, 0.0)
            if sliding[k]:
                along, across = -radius * sense[k, 0], -radius * sense[k, 1]
            else:
                along = x[first] - factors[first] * velocity[first]
                across = x[second] - factors[second] * velocity[second] if second >= 0 else 0.0
                reach = np.sqrt(along**2 + across**2)
                if reach > radius:
                    along, across = along * (radius / reach), across * (radius / reach)
            change = max(change, abs(along - x[first]))
            x[first] = along
            if second >= 0:
                change = max(change, abs(across - x[second]))
                x[second] = across
        if change <= goal:
            return change, sweep + 1
    return change, most


@njit(cache=True)
def box_rows(lower: np.ndarray, upper: np.ndarray, equal: int, rows: np.ndarray, offsets: np.ndarray) -> None:
    """lower ≤ x ≤ upper as rows behind the first ``equal``."""
    n = lower.size
    for i in range(n):
        rows[equal + 2 * i, :] = 0.0
        rows[equal + 2 * i + 1, :] = 0.0
        rows[equal + 2 * i, i] = 1.0
        rows[equal + 2 * i + 1, i] = -1.0
        offsets[equal + 2 * i] = -lower[i]
        offsets[equal + 2 * i + 1] = upper[i]


@njit(cache=True)
def nearest_in_box(
    directions: np.ndarray,
    member: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    x: np.ndarray,
) -> int:
    """x (n,) that minimises Σ w_i (x_i − target_i)² with W x = W x̄ and lower ≤ x ≤ upper."""
    p, n = directions.shape
    size = 0.0
    for i in range(n):
        size = max(size, abs(member[i]), abs(target[i]))
    size = size if size > 0.0 else 1.0
    rows, offsets = np.empty((p + 2 * n, n)), np.empty(p + 2 * n)
    for k in range(p):
        total = 0.0
        for j in range(n):
            rows[k, j] = directions[k, j]
            total -= directions[k, j] * (member[j] / size)
        offsets[k] = total
    box_rows(lower / size, upper / size, p, rows, offsets)
    hessian, gradient = np.zeros((n, n)), np.empty(n)
    heaviest = weight.max()
    for i in range(n):
        hessian[i, i] = weight[i] / heaviest
        gradient[i] = -hessian[i, i] * (target[i] / size)
    multipliers = np.empty(p + 2 * n)
    status, _ = least_quadratic(hessian, gradient, rows, offsets, p, x, multipliers)
    for i in range(n):
        x[i] = min(max(x[i] * size, lower[i]), upper[i])
    return status


@njit(cache=True)
def least_residual_in_box(
    matrix: np.ndarray, offset: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray
) -> int:
    """Some x (n,) that minimises |A x + d|² within lower ≤ x ≤ upper, A (p, n) of any rank; from the x given."""
    p, n = matrix.shape
    size = 0.0
    for i in range(n):
        size = max(size, abs(lower[i]), abs(upper[i]))
    if size == 0.0:
        x[:] = 0.0
        return SOLVED
    hessian, slope = np.zeros((n, n)), np.zeros(n)
    unit = 0.0
    for i in range(n):
        for k in range(p):
            slope[i] += matrix[k, i] * offset[k]
            for j in range(n):
                hessian[i, j] += matrix[k, i] * matrix[k, j]
        unit += hessian[i, i]
    if unit == 0.0:
        return SOLVED
    hessian /= unit
    slope /= unit * size
    for i in range(n):
        hessian[i, i] += _PROXIMAL
    rows, offsets, multipliers = np.empty((2 * n, n)), np.empty(2 * n), np.empty(2 * n)
    box_rows(lower / size, upper / size, 0, rows, offsets)
    now, before = x / size, np.empty(n)
    root = np.sqrt(unit)
    status = SOLVED
    for _ in range(_MOST_PROXIMAL):
        before[:] = now
        status, _ = least_quadratic(hessian, slope - _PROXIMAL * before, rows, offsets, 0, now, multipliers)
        if status != SOLVED:
            break
        moved = 0.0
        for k in range(p):
            total = 0.0
            for j in range(n):
                total += matrix[k, j] * (now[j] - before[j])
            moved = max(moved, abs(total))
        if moved <= _SETTLED * root:
            break
    for i in range(n):
        x[i] = min(max(now[i] * size, lower[i]), upper[i])
    return status


@njit(cache=True)
def nearest_many(
    directions: np.ndarray,
    members: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    x: np.ndarray,
    status: np.ndarray,
) -> None:
    """Many problems of :func:`nearest_in_box`; the first axis of every array counts them, one entry serves all."""
    for k in range(len(members)):
        status[k] = nearest_in_box(
            directions[min(k, len(directions) - 1)],
            members[k],
            lower[min(k, len(lower) - 1)],
            upper[min(k, len(upper) - 1)],
            targets[min(k, len(targets) - 1)],
            weights[min(k, len(weights) - 1)],
            x[k],
        )


@njit(cache=True)
def quality_many(
    matrices: np.ndarray,
    offsets: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    x: np.ndarray,
    status: np.ndarray,
) -> None:
    """Many problems: least |A x + d|² in a box, and of these the smallest x."""
    n = x.shape[1]
    zero, one = np.zeros(n), np.ones(n)
    for k in range(len(offsets)):
        matrix = matrices[min(k, len(matrices) - 1)]
        low, high = lower[min(k, len(lower) - 1)], upper[min(k, len(upper) - 1)]
        first = np.zeros(n)
        for i in range(n):
            first[i] = min(max(0.0, low[i]), high[i])
        status[k] = least_residual_in_box(matrix, offsets[k], low, high, first)
        if status[k] == SOLVED:
            status[k] = nearest_in_box(matrix, first, low, high, zero, one, x[k])
