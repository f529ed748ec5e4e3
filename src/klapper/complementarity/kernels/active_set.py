"""Active sets for symmetric positive semidefinite A: 0 ≤ x ⟂ A x + b ≥ 0, i.e. min ½ xᵀA x + bᵀx over x ≥ 0.

First block principal pivoting (exchange every wrong index at once, Júdice & Pires), which needs a handful of Cholesky
factorisations. If that does not settle, Keller's symmetric principal pivoting: one driving variable at a time, finite
also for rank-deficient A, and able to prove that there is no solution.
"""

import numpy as np

from klapper.complementarity.kernels.lemke import LIMIT, RAY, SOLVED, finish
from klapper.complementarity.kernels.linear import EPS, natural_residual
from klapper.complementarity.residuals import AMPLIFICATION
from klapper.machine_code import njit

NOT_SEMIDEFINITE = 4
UNSETTLED, AMPLIFIED = np.inf, 1e300
ROUND_OFF = 1e-12


@njit(cache=True)
def solve_by_active_set(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, float]:
    """Returns (status, factorisations or pivots, residual); on RAY ``x`` holds the certificate d ≥ 0, A d = 0, bᵀd < 0.

    ``start`` (n,) booleans: the contacts believed to be closed; none of them means that nothing is known.
    """
    n = offset.size
    residual = np.zeros(1)
    steps = np.zeros(1, np.int64)
    block_pivoting(
        matrix.reshape((1, n, n)),
        offset.reshape((1, n)),
        start.reshape((1, n)),
        bool(start.any()),
        x.reshape((1, n)),
        residual,
        steps,
    )
    if residual[0] <= tolerance:
        return SOLVED, steps[0], residual[0]
    status, pivots, reached = settle(matrix, offset, residual[0], tolerance, x)
    return status, steps[0] + pivots, reached


@njit(cache=True)
def settle(
    matrix: np.ndarray, offset: np.ndarray, reached: float, tolerance: float, x: np.ndarray
) -> tuple[int, int, float]:
    """Bring to an end what block pivoting left open: a point to be measured with care, or no point at all."""
    if reached == AMPLIFIED:
        residual = natural_residual(matrix, offset, x, ROUND_OFF)
        if residual <= tolerance:
            return SOLVED, 0, residual
    active = np.empty(offset.size, np.bool_)
    status, pivots = keller(matrix, offset, active, x)
    if status != SOLVED:
        return status, pivots, np.inf
    residual = natural_residual(matrix, offset, x, ROUND_OFF)
    if residual > ROUND_OFF:
        status, residual = finish(matrix, offset, active, tolerance, x)
    return status, pivots, residual


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def block_pivoting(
    matrices: np.ndarray,
    offsets: np.ndarray,
    starts: np.ndarray,
    warm: bool,
    points: np.ndarray,
    residual: np.ndarray,
    steps: np.ndarray,
) -> None:
    """Exchange all wrong indices at once, for each problem of a stack whose ``residual`` (k,) is zero on entry.

    ``offsets``, ``starts`` and ``points`` (k, n); ``matrices`` (k, n, n), or (1, n, n) for all. On return
    ``residual`` holds what was reached: UNSETTLED if the number of wrong indices did not fall within four trials,
    AMPLIFIED if the forces are so large that the point must be measured with care; ``steps`` (k,) counts
    factorisations. Unless ``warm`` the contacts that would penetrate are the start set. Contacts that depend on
    others are left to them.

    The loop over the problems is in here because a compiled call costs as much as a problem with three contacts.
    """
    n = offsets.shape[1]
    factor = np.empty((n, n))  # L of A_FF = L D Lᵀ
    scaled = np.empty((n, n))  # L D
    inverse = np.empty(n)  # 1 / D
    rhs = np.empty(n)
    index = np.empty(n, np.int64)
    active = np.empty(n, np.bool_)
    for k in range(offsets.shape[0]):
        if residual[k] != 0.0:
            continue
        m = k if matrices.shape[0] > 1 else 0
        for i in range(n):
            active[i] = starts[k, i] if warm else offsets[k, i] < 0.0
        fewest = n + 1
        patience = 3
        residual[k] = UNSETTLED
        for step in range(1, 40):
            steps[k] = step
            r = 0
            for i in range(n):
                points[k, i] = 0.0
                if not active[i]:
                    continue
                own = matrices[m, i, i]
                load = -offsets[k, i]
                for c in range(r):
                    value = matrices[m, i, index[c]]
                    for p in range(c):
                        value -= factor[r, p] * scaled[c, p]
                    scaled[r, c] = value
                    value *= inverse[c]
                    factor[r, c] = value
                    own -= value * scaled[r, c]
                    load -= value * rhs[c]
                if own > ROUND_OFF * matrices[m, i, i]:
                    index[r] = i
                    inverse[r] = 1.0 / own
                    rhs[r] = load
                    r += 1
                else:
                    active[i] = False  # depends on the others: they may carry its share
            count = r
            for r in range(count):
                rhs[r] *= inverse[r]
            for r in range(count - 1, -1, -1):
                value = rhs[r]
                points[k, index[r]] = value
                for c in range(r):
                    rhs[c] -= factor[r, c] * value
            errors = 0
            worst = EPS
            largest, least = 0.0, np.inf
            for i in range(n):
                value = 0.0
                total = 0.0
                for j in range(n):
                    term = matrices[m, i, j] * points[k, j]
                    value += term
                    total += abs(term)
                load = abs(offsets[k, i])
                value += offsets[k, i]
                total += load
                if not total < np.inf:  # overflow: leave it to others
                    errors = n + 1
                    break
                largest = max(largest, total)
                if load > 0.0:
                    least = min(least, load)
                if active[i]:
                    if abs(value) > worst * total:
                        worst = abs(value) / total
                    if points[k, i] < 0.0:
                        active[i] = False
                        errors += 1
                elif value < -ROUND_OFF * total:
                    active[i] = True
                    errors += 1
                elif value < -worst * total:
                    worst = -value / total
            if errors == 0:
                residual[k] = worst if least == np.inf or largest <= AMPLIFICATION * least else AMPLIFIED
                break
            if errors < fewest:
                fewest = errors
                patience = 3
            else:
                patience -= 1
                if patience < 0 or errors > n:
                    break


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
def keller(matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, x: np.ndarray) -> tuple[int, int]:
    """Symmetric principal pivoting from x = 0; every driving variable runs until its y reaches zero.

    Along the way A_FF stays positive definite (F: active set), x ≥ 0, y_F = 0, and the energy never rises.
    """
    n = offset.size
    lower = np.empty((n, n))  # Cholesky factor of A_FF
    order = np.empty(n, np.int64)  # active indices in its order
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
        if abs(value) > 8.0 * ray.size * EPS * scale:
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
