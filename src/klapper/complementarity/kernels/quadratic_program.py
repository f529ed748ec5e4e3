"""Small strictly convex quadratic programs, by the dual active-set method of Goldfarb and Idnani (1983).

    min ½ xᵀH x + gᵀx   subject to   E x + e = 0,   A x + a ≥ 0

With H = L Lᵀ and y = Lᵀ(x − x*) from the free minimum x* = −H⁻¹g the objective is ½|y|². One violated constraint after
the other is taken in; |y| grows with every step, so the method is finite, also for dependent constraints.
"""

import numpy as np

from klapper.machine_code import njit

SOLVED, EMPTY, LIMIT = 0, 1, 2
_VIOLATED = 1e-13  # of the slack at the start and the step: what counts as round-off of a constraint
_DEPENDENT = 1e-10  # of a unit row: what is left of it after the active ones if it depends on them
_CONTRADICTION = 1e-8  # of the largest slack and the step: violation of a dependent row that cannot be met


@njit(cache=True)
def dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(cache=True)
def length_of(a: np.ndarray) -> float:
    return np.sqrt(dot(a, a))


@njit(cache=True)
def cholesky(matrix: np.ndarray) -> np.ndarray:
    """L of H = L Lᵀ, positive definite."""
    n = matrix.shape[0]
    factor = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            total = matrix[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                factor[j, j] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return factor


@njit(cache=True)
def project_out(basis: np.ndarray, count: int, vector: np.ndarray, share: np.ndarray) -> None:
    """vector ← vector − Q Qᵀ vector, twice for round-off; ``share`` gets Qᵀ vector. ``basis`` holds Q as rows."""
    n = vector.size
    for i in range(count):
        share[i] = 0.0
    for _ in range(2):
        for i in range(count):
            along = 0.0
            for j in range(n):
                along += basis[i, j] * vector[j]
            share[i] += along
            for j in range(n):
                vector[j] -= along * basis[i, j]


@njit(cache=True)
def triangular(upper: np.ndarray, count: int, share: np.ndarray, rates: np.ndarray) -> None:
    """rates = R⁻¹ share."""
    for i in range(count - 1, -1, -1):
        total = share[i]
        for j in range(i + 1, count):
            total -= upper[i, j] * rates[j]
        rates[i] = total / upper[i, i]


@njit(cache=True)
def refactor(
    unit: np.ndarray, active: np.ndarray, first: int, count: int, basis: np.ndarray, upper: np.ndarray
) -> None:
    """Q and R of the active rows from position ``first`` on."""
    n = unit.shape[1]
    share = np.empty(n + 1)
    vector = np.empty(n)
    for k in range(first, count):
        vector[:] = unit[active[k]]
        project_out(basis, k, vector, share)
        length = length_of(vector)
        for i in range(k):
            upper[i, k] = share[i]
        upper[k, k] = length
        for j in range(n):
            basis[k, j] = vector[j] / length


@njit(cache=True)
def shortest_step(
    rows: np.ndarray, slacks: np.ndarray, equal: int, step: np.ndarray, multipliers: np.ndarray
) -> tuple[int, int]:
    """arg min ½|y|² under rows·y + slacks = 0 for the first ``equal`` rows and ≥ 0 for the others.

    ``rows`` (m, n), ``slacks`` (m,); ``step`` (n,) gets y and ``multipliers`` (m,) those of the constraints. Returns
    (status, number of exchanges).
    """
    m, n = rows.shape
    unit = np.empty((m, n))
    start = np.empty(m)
    length = np.empty(m)
    largest = 0.0
    for i in range(m):
        length[i] = length_of(rows[i])
        scale = 1.0 / length[i] if length[i] > 0.0 else 0.0
        for j in range(n):
            unit[i, j] = rows[i, j] * scale
        start[i] = slacks[i] * scale
        largest = max(largest, abs(start[i]))
    step[:] = 0.0
    multipliers[:] = 0.0
    active = np.empty(n + 1, np.int64)
    is_active = np.zeros(m, np.bool_)
    given_up = np.zeros(m, np.bool_)
    value = np.zeros(n + 1)  # multipliers of the active rows, in units of the unit rows
    basis, upper = np.zeros((n, n)), np.zeros((n, n))
    share, rates, direction = np.empty(n + 1), np.empty(n + 1), np.empty(n)
    count, exchanges, status = 0, 0, SOLVED
    limit = 60 * (n + m + 1)
    while exchanges < limit:
        reach = length_of(step)
        worst, violation = -1, 0.0
        for i in range(m):
            if is_active[i] or length[i] == 0.0 or given_up[i]:
                continue
            slack = start[i]
            for j in range(n):
                slack += unit[i, j] * step[j]
            if i < equal:
                worst, violation = i, slack
                break
            if slack < -_VIOLATED * (abs(start[i]) + reach) and slack < violation:
                worst, violation = i, slack
        if worst < 0:
            break
        sign = -1.0 if worst < equal and violation > 0.0 else 1.0
        own = 0.0
        while exchanges < limit:
            exchanges += 1
            for j in range(n):
                direction[j] = sign * unit[worst, j]
            project_out(basis, count, direction, share)
            triangular(upper, count, share, rates)
            rise = dot(direction, direction)
            slack = start[worst]
            for j in range(n):
                slack += unit[worst, j] * step[j]
            slack *= sign
            partial, drop = np.inf, -1
            for k in range(count):
                if active[k] >= equal and rates[k] > 1e-12 and value[k] / rates[k] < partial:
                    partial, drop = value[k] / rates[k], k
            full = np.inf
            if rise > _DEPENDENT**2 and count < n:
                full = max(0.0, -slack) / rise
            if partial == np.inf and full == np.inf:
                given_up[worst] = True  # depends on the active rows
                if -slack > _CONTRADICTION * (largest + reach):
                    status = EMPTY
                break
            move = min(partial, full)
            if full < np.inf:
                for j in range(n):
                    step[j] += move * direction[j]
            for k in range(count):
                value[k] -= move * rates[k]
            own += move
            if full <= partial:
                active[count] = worst
                value[count] = own
                is_active[worst] = True
                if sign < 0.0:
                    for j in range(n):
                        unit[worst, j] *= -1.0
                    start[worst] *= -1.0
                    length[worst] *= -1.0
                refactor(unit, active, count, count + 1, basis, upper)
                count += 1
                break
            is_active[active[drop]] = False
            for k in range(drop, count - 1):
                active[k] = active[k + 1]
                value[k] = value[k + 1]
            count -= 1
            refactor(unit, active, drop, count, basis, upper)
        if status == EMPTY:
            break
    if exchanges >= limit:
        status = LIMIT
    if count:
        polish(unit, start, active, count, basis, upper, largest, step)
    for k in range(count):
        multipliers[active[k]] = value[k] / length[active[k]]
    return status, exchanges


@njit(cache=True)
def polish(
    unit: np.ndarray,
    start: np.ndarray,
    active: np.ndarray,
    count: int,
    basis: np.ndarray,
    upper: np.ndarray,
    largest: float,
    step: np.ndarray,
) -> None:
    """y = Q R⁻ᵀ(−s) of the active rows from scratch, kept unless other rows are violated more than before."""
    m, n = unit.shape
    along = np.empty(count)
    for i in range(count):
        total = -start[active[i]]
        for j in range(i):
            total -= upper[j, i] * along[j]
        along[i] = total / upper[i, i]
    fresh = np.zeros(n)
    for i in range(count):
        for j in range(n):
            fresh[j] += along[i] * basis[i, j]
    before, after = 0.0, 0.0
    for i in range(m):
        before = min(before, start[i] + dot(unit[i], step))
        after = min(after, start[i] + dot(unit[i], fresh))
    if after >= before - 1e-14 * (largest + length_of(step)):
        step[:] = fresh


@njit(cache=True)
def least_quadratic(
    hessian: np.ndarray,
    gradient: np.ndarray,
    rows: np.ndarray,
    offsets: np.ndarray,
    equal: int,
    x: np.ndarray,
    multipliers: np.ndarray,
) -> tuple[int, int]:
    """x (n,) that minimises ½ xᵀH x + gᵀx under rows·x + offsets = 0 (the first ``equal``) and ≥ 0 (the others)."""
    n = gradient.size
    m = offsets.size
    factor = cholesky(hessian)
    free = np.empty(n)
    for i in range(n):  # L u = −g
        total = -gradient[i]
        for j in range(i):
            total -= factor[i, j] * free[j]
        free[i] = total / factor[i, i]
    back_substitute(factor, free)
    scaled = np.empty((m, n))
    slacks = np.empty(m)
    for k in range(m):
        slack = offsets[k]
        for i in range(n):
            total = rows[k, i]
            for j in range(i):
                total -= factor[i, j] * scaled[k, j]
            scaled[k, i] = total / factor[i, i]
            slack += rows[k, i] * free[i]
        slacks[k] = slack
    step = np.empty(n)
    status, exchanges = shortest_step(scaled, slacks, equal, step, multipliers)
    back_substitute(factor, step)
    for i in range(n):
        x[i] = free[i] + step[i]
    return status, exchanges


@njit(cache=True)
def back_substitute(factor: np.ndarray, x: np.ndarray) -> None:
    """x ← L⁻ᵀ x."""
    n = x.size
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= factor[j, i] * x[j]
        x[i] = total / factor[i, i]
