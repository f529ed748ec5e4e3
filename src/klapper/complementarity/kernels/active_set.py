"""Active sets for symmetric positive semidefinite A: 0 ≤ x ⟂ A x + b ≥ 0, i.e. min ½ xᵀA x + bᵀx over x ≥ 0.

First block principal pivoting (exchange every wrong index at once, Júdice & Pires), which needs a handful of Cholesky
factorisations. If that meets a singular block or does not settle, Keller's symmetric principal pivoting: one driving
variable at a time, finite also for rank-deficient A, and able to prove that there is no solution.
"""

import numpy as np
from numba import njit

from klapper.complementarity.kernels.lemke import LIMIT, RAY, SOLVED, UNVERIFIED, finish

NOT_SEMIDEFINITE = 4
ROUND_OFF = 1e-12


@njit(cache=True)
def solve_by_active_set(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, float]:
    """Returns (status, factorisations or pivots, residual); on RAY ``x`` holds the certificate d ≥ 0, A d = 0, bᵀd < 0."""
    n = offset.size
    active = start.copy()
    settled, steps = block_pivoting(matrix, offset, active, x)
    if settled:
        status, residual = finish(matrix, offset, active, tolerance, x)
        if status == SOLVED:
            return SOLVED, steps, residual
    status, pivots = keller(matrix, offset, active, x)
    steps += pivots
    if status != SOLVED:
        return status, steps, np.inf
    status, residual = finish(matrix, offset, active, tolerance, x)
    return status, steps, residual


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def cholesky(a: np.ndarray, count: int) -> bool:
    """Lower factor in place of the leading block; False unless clearly positive definite."""
    for j in range(count):
        own = a[j, j]
        for k in range(j):
            own -= a[j, k] * a[j, k]
        if not own > ROUND_OFF * a[j, j]:
            return False
        root = np.sqrt(own)
        a[j, j] = root
        inverse = 1.0 / root
        for i in range(j + 1, count):
            value = a[i, j]
            for k in range(j):
                value -= a[i, k] * a[j, k]
            a[i, j] = value * inverse
    return True


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def cholesky_solve(lower: np.ndarray, count: int, rhs: np.ndarray) -> None:
    """Solve L Lᵀ z = rhs in place."""
    for i in range(count):
        value = rhs[i]
        for k in range(i):
            value -= lower[i, k] * rhs[k]
        rhs[i] = value / lower[i, i]
    for i in range(count - 1, -1, -1):
        rhs[i] /= lower[i, i]
        value = rhs[i]
        for k in range(i):
            rhs[k] -= lower[i, k] * value


@njit(cache=True)
def block_pivoting(
    matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, x: np.ndarray
) -> tuple[bool, int]:
    """Exchange all wrong indices at once; the number of wrong ones must fall within ten trials of its best."""
    n = offset.size
    index = np.empty(n, np.int64)
    factor = np.empty((n, n))
    rhs = np.empty(n)
    wrong = np.empty(n, np.bool_)
    fewest = n + 1
    patience = 3
    for step in range(1, 40):
        count = 0
        for i in range(n):
            if active[i]:
                index[count] = i
                count += 1
        for r in range(count):
            row = matrix[index[r]]
            for c in range(r + 1):
                factor[r, c] = row[index[c]]
            rhs[r] = -offset[index[r]]
        if not cholesky(factor, count):
            return False, step
        cholesky_solve(factor, count, rhs)
        x[:] = 0.0
        for r in range(count):
            x[index[r]] = rhs[r]
        errors = 0
        for i in range(n):
            wrong[i] = False
            if active[i]:
                wrong[i] = x[i] < 0.0
            else:
                row = matrix[i]
                value = offset[i]
                scale = abs(offset[i])
                for r in range(count):
                    term = row[index[r]] * rhs[r]
                    value += term
                    scale += abs(term)
                wrong[i] = value < -ROUND_OFF * scale
            if wrong[i]:
                errors += 1
        if errors == 0:
            return True, step
        if errors < fewest:
            fewest = errors
            patience = 3
        else:
            patience -= 1
            if patience < 0:
                return False, step
        for i in range(n):
            if wrong[i]:
                active[i] = not active[i]
    return False, 40


@njit(cache=True)
def keller(matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, x: np.ndarray) -> tuple[int, int]:
    """Symmetric principal pivoting from x = 0; every driving variable runs until its y reaches zero.

    Along the way A_FF stays positive definite (F: active set), x ≥ 0, y_F = 0, and the energy never rises.
    """
    n = offset.size
    order = np.empty(n, np.int64)  # active indices in the order of the factor
    lower = np.zeros((n, n))
    direction = np.empty(n)
    count = 0
    x[:] = 0.0
    active[:] = False
    limit = 50 * n + 100
    pivots = 0
    while pivots < limit:
        driving = most_violated(matrix, offset, active, x, order, count, pivots > 20 * n + 50)
        if driving < 0:
            return SOLVED, pivots
        while True:
            pivots += 1
            if pivots >= limit:
                return LIMIT, pivots
            curvature = search_direction(matrix, lower, order, count, driving, direction)
            if curvature < -1e-9 * abs(matrix[driving, driving]):
                return NOT_SEMIDEFINITE, pivots
            flat = curvature <= ROUND_OFF * matrix[driving, driving]
            y = offset[driving] + matrix[driving, driving] * x[driving]
            for r in range(count):
                y += matrix[driving, order[r]] * x[order[r]]
            step = np.inf if flat else max(-y / curvature, 0.0)
            blocking = -1
            for r in range(count):
                if direction[r] < 0.0 and x[order[r]] < -direction[r] * step:
                    step = x[order[r]] / -direction[r]
                    blocking = r
            if blocking < 0 and flat:
                x[:] = 0.0
                x[driving] = 1.0
                for r in range(count):
                    x[order[r]] = max(direction[r], 0.0)
                return (RAY if is_certificate(matrix, offset, x) else NOT_SEMIDEFINITE), pivots
            for r in range(count):
                x[order[r]] = max(x[order[r]] + step * direction[r], 0.0)
            x[driving] += step
            if blocking < 0:
                append(matrix, lower, order, count, driving)
                active[driving] = True
                count += 1
                break
            dropped = order[blocking]
            x[dropped] = 0.0
            active[dropped] = False
            remove(lower, order, count, blocking)
            count -= 1
    return LIMIT, pivots


@njit(cache=True)
def is_certificate(matrix: np.ndarray, offset: np.ndarray, ray: np.ndarray) -> bool:
    """Whether A d = 0 and bᵀd < 0 for d ≥ 0, which for symmetric A rules out every solution."""
    load = 0.0
    size = 0.0
    for i in range(ray.size):
        value = 0.0
        scale = 0.0
        for j in range(ray.size):
            value += matrix[i, j] * ray[j]
            scale += abs(matrix[i, j]) * ray[j]
        if abs(value) > 1e-9 * scale:
            return False
        load += offset[i] * ray[i]
        size += abs(offset[i]) * ray[i]
    return load < -ROUND_OFF * size


@njit(cache=True)
def most_violated(
    matrix: np.ndarray,
    offset: np.ndarray,
    active: np.ndarray,
    x: np.ndarray,
    order: np.ndarray,
    count: int,
    first: bool,
) -> int:
    """Inactive index with the most negative relative y (or simply the first, which cannot cycle); -1 if none."""
    n = offset.size
    chosen = -1
    worst = -ROUND_OFF
    for i in range(n):
        if active[i]:
            continue
        y = offset[i]
        scale = abs(offset[i])
        for r in range(count):
            term = matrix[i, order[r]] * x[order[r]]
            y += term
            scale += abs(term)
        if scale > 0.0 and y < worst * scale:
            chosen = i
            if first:
                return chosen
            worst = y / scale
    return chosen


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def search_direction(
    matrix: np.ndarray, lower: np.ndarray, order: np.ndarray, count: int, driving: int, direction: np.ndarray
) -> float:
    """How the active x move with the driving one so that y_F stays zero; returns the curvature."""
    for r in range(count):
        direction[r] = -matrix[order[r], driving]
    cholesky_solve(lower, count, direction)
    curvature = matrix[driving, driving]
    for r in range(count):
        curvature += matrix[driving, order[r]] * direction[r]
    return curvature


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def append(matrix: np.ndarray, lower: np.ndarray, order: np.ndarray, count: int, driving: int) -> None:
    """Add a row to the Cholesky factor."""
    own = matrix[driving, driving]
    for i in range(count):
        value = matrix[driving, order[i]]
        for k in range(i):
            value -= lower[i, k] * lower[count, k]
        lower[count, i] = value / lower[i, i]
        own -= lower[count, i] * lower[count, i]
    lower[count, count] = np.sqrt(max(own, ROUND_OFF * ROUND_OFF * matrix[driving, driving]))
    order[count] = driving


@njit(cache=True)
def remove(lower: np.ndarray, order: np.ndarray, count: int, position: int) -> None:
    """Take a row out of the Cholesky factor by plane rotations."""
    for i in range(position, count - 1):
        order[i] = order[i + 1]
        for k in range(i + 2):
            lower[i, k] = lower[i + 1, k]
    for k in range(position, count - 1):
        a, b = lower[k, k], lower[k, k + 1]
        radius = np.hypot(a, b)
        c, s = a / radius, b / radius
        lower[k, k] = radius
        lower[k, k + 1] = 0.0
        for i in range(k + 1, count - 1):
            u, v = lower[i, k], lower[i, k + 1]
            lower[i, k] = c * u + s * v
            lower[i, k + 1] = c * v - s * u
