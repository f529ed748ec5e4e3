"""Compiled semismooth Newton for small dense problems.

    linear, mixed:  φ(x_i, y_i) = 0, y = A x + b, the penalised Fischer–Burmeister function; free: y_i = 0
    contact:        ξ − P(ξ − u) = 0, u = A ξ + q, with the Alart–Curnier function (see ``alart_curnier``)

Both run in dimensionless variables with a nonmonotone line search and a Levenberg–Marquardt step where the
Newton matrix is singular. Linear problems that resist follow the smooth path x y = τ², τ → 0. What does not
converge is left to the general path in ``newton``, which has more means.
Chen, Chen and Kanzow, Math. Programming 88 (2000) 211-216 (penalised function); Waltersberger (4.35)-(4.40).
"""

import numpy as np
from numba import njit

from klapper.complementarity.kernels.linear import AMPLIFICATION, factorise, substitute

THETA = 0.95  # weight of the Fischer–Burmeister part; the rest is x₊ y₊
MEMORY = 6  # merit values the nonmonotone line search compares with
DECREASE = 1e-4
SHORTEST = 2.0**-12
DAMPING = (0.0, 1e-8, 1e-4, 1.0)  # Levenberg–Marquardt terms tried in turn, relative to ‖Φ‖


@njit(cache=True)
def multiply(matrix: np.ndarray, x: np.ndarray, offset: np.ndarray, y: np.ndarray) -> None:
    """y = A x + b."""
    n = x.size
    for i in range(n):
        value = offset[i]
        for j in range(n):
            value += matrix[i, j] * x[j]
        y[i] = value


@njit(cache=True)
def balance(matrix: np.ndarray, row: np.ndarray, column: np.ndarray) -> None:
    """Scales (n,) that bring the largest entries of all rows and columns of D A E near one (Ruiz)."""
    n = row.size
    row[:] = 1.0
    column[:] = 1.0
    for _ in range(12):
        by_row = np.zeros(n)
        by_column = np.zeros(n)
        for i in range(n):
            for j in range(n):
                size = abs(matrix[i, j]) * row[i] * column[j]
                by_row[i] = max(by_row[i], size)
                by_column[j] = max(by_column[j], size)
        worst = 1.0
        for i in range(n):
            if by_row[i] > 0.0:
                row[i] /= np.sqrt(by_row[i])
                worst = max(worst, by_row[i], 1.0 / by_row[i])
            if by_column[i] > 0.0:
                column[i] /= np.sqrt(by_column[i])
                worst = max(worst, by_column[i], 1.0 / by_column[i])
        if worst < 3.0:
            return


@njit(cache=True)
def mixed_residual(
    matrix: np.ndarray, offset: np.ndarray, free: np.ndarray, x: np.ndarray, active: np.ndarray
) -> float:
    """Largest of the residuals of ``problem.linear_residuals`` for balanced rows with max |b| = 1.

    Marks as ``active`` the rows whose relative y is below their relative x.
    """
    n = x.size
    y = np.empty(n)
    weight = np.empty(n)
    influence = np.zeros(n)
    for i in range(n):
        y[i] = offset[i]
        weight[i] = abs(offset[i])
        for j in range(n):
            term = matrix[i, j] * x[j]
            y[i] += term
            weight[i] += abs(term)
        weight[i] = 1.0 / min(weight[i], AMPLIFICATION) if weight[i] > 0.0 else 0.0
        for j in range(n):
            influence[j] = max(influence[j], abs(matrix[i, j]) * weight[i])
    worst = 0.0
    for i in range(n):
        b = y[i] * weight[i]
        if not np.isfinite(b):
            return np.inf
        if free[i]:
            active[i] = True
            worst = max(worst, abs(b))
            continue
        a = x[i] * influence[i]
        if influence[i] == 0.0 and x[i] != 0.0:
            a = np.sign(x[i])
        active[i] = a > b
        worst = max(worst, abs(min(a, b)), abs(a * b))
    return worst


@njit(cache=True)
def gradient_of(jacobian: np.ndarray, value: np.ndarray, gradient: np.ndarray) -> None:
    """Gradient VᵀΦ of the merit function ½‖Φ‖²."""
    gradient[:] = 0.0
    for i in range(value.size):
        for j in range(value.size):
            gradient[j] += jacobian[i, j] * value[i]


@njit(cache=True)
def newton_direction(jacobian: np.ndarray, value: np.ndarray, step: np.ndarray) -> bool:
    """step = −V⁻¹ Φ; False where V is singular to round-off."""
    lu = jacobian.copy()
    order = np.empty(value.size, np.int64)
    if not factorise(lu, order):
        return False
    substitute(lu, order, -value, step)
    return bool(np.all(np.isfinite(step)))


@njit(cache=True)
def damped_direction(jacobian: np.ndarray, gradient: np.ndarray, damping: float, step: np.ndarray) -> bool:
    """Levenberg–Marquardt step −(VᵀV + νI)⁻¹ VᵀΦ."""
    n = gradient.size
    normal = np.zeros((n, n))
    for k in range(n):
        for i in range(n):
            entry = jacobian[k, i]
            if entry != 0.0:
                for j in range(n):
                    normal[i, j] += entry * jacobian[k, j]
    for i in range(n):
        normal[i, i] += damping
    return newton_direction(normal, gradient, step)


@njit(cache=True)
def active_set_point(
    matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, near: np.ndarray, x: np.ndarray
) -> bool:
    """x with (A x + b)_i = 0 for active i, x_i = 0 else; if that is singular, the one close to ``near``."""
    index = np.flatnonzero(active)
    count = index.size
    x[:] = 0.0
    if count == 0:
        return True
    block = np.empty((count, count))
    for r in range(count):
        for c in range(count):
            block[r, c] = matrix[index[r], index[c]]
    lu = block.copy()
    order = np.empty(count, np.int64)
    regular = factorise(lu, order)
    right = np.empty(count)
    change = np.empty(count)
    gradient = np.empty(count)
    if not regular:
        x[index] = near[index]
    for _ in range(2 if regular else 4):
        for r in range(count):
            right[r] = offset[index[r]]
            for c in range(count):
                right[r] += block[r, c] * x[index[c]]
        if regular:
            substitute(lu, order, right, change)
            x[index] -= change
        else:
            gradient_of(block, right, gradient)
            if not damped_direction(block, gradient, 1e-11, change):
                return False
            x[index] += change
    return True


@njit(cache=True)
def pair_function(
    x: np.ndarray, y: np.ndarray, free: np.ndarray, smoothing: float, value: np.ndarray
) -> float:
    """φ of each pair, y for free rows; returns half the sum of squares.

    Penalised Fischer–Burmeister function, or x + y − √(x² + y² + 2τ²) with the smoothing parameter τ > 0.
    """
    merit = 0.0
    for i in range(x.size):
        if free[i]:
            value[i] = y[i]
        elif smoothing > 0.0:
            value[i] = x[i] + y[i] - np.sqrt(x[i] * x[i] + y[i] * y[i] + 2.0 * smoothing * smoothing)
        else:
            value[i] = THETA * (x[i] + y[i] - np.hypot(x[i], y[i]))
            value[i] += (1.0 - THETA) * max(x[i], 0.0) * max(y[i], 0.0)
        merit += value[i] * value[i]
    return 0.5 * merit


@njit(cache=True)
def pair_jacobian(
    matrix: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    free: np.ndarray,
    smoothing: float,
    jacobian: np.ndarray,
) -> None:
    """Generalised Jacobian D_x + D_y A of :func:`pair_function`."""
    n = x.size
    for i in range(n):
        d_x, d_y = 0.0, 1.0
        if not free[i]:
            length = np.sqrt(x[i] * x[i] + y[i] * y[i] + 2.0 * smoothing * smoothing)
            d_x = 1.0 - (x[i] / length if length > 0.0 else np.sqrt(0.5))
            d_y = 1.0 - (y[i] / length if length > 0.0 else np.sqrt(0.5))
            if smoothing == 0.0:
                d_x *= THETA
                d_y *= THETA
                if x[i] > 0.0 and y[i] > 0.0:
                    d_x += (1.0 - THETA) * y[i]
                    d_y += (1.0 - THETA) * x[i]
        for j in range(n):
            jacobian[i, j] = d_y * matrix[i, j]
        jacobian[i, i] += d_x


@njit(cache=True)
def shortcut(
    a: np.ndarray, b: np.ndarray, free: np.ndarray, x: np.ndarray, residual: float, tolerance: float
) -> bool:
    """Replace x by the point of its own active set if that one solves the problem and does so better than x.

    Active are the rows with y_i < x_i, first as they are, then each relative to its own magnitude.
    """
    n = x.size
    active = np.zeros(n, np.bool_)
    y = np.empty(n)
    trial = np.empty(n)
    for comparison in range(2):
        if comparison == 0:
            multiply(a, x, b, y)
            active[:] = free | (x > y)
        else:
            mixed_residual(a, b, free, x, active)
        if active_set_point(a, b, active, x, trial):
            exact = mixed_residual(a, b, free, trial, active)
            if exact <= tolerance and exact < residual:
                x[:] = trial
                return True
    return False


@njit(cache=True)
def descend(
    a: np.ndarray,
    b: np.ndarray,
    free: np.ndarray,
    x: np.ndarray,
    smoothing: float,
    tolerance: float,
    max_iterations: int,
) -> tuple[int, bool]:
    """Damped Newton steps on φ in place; (steps, converged).

    Without smoothing it ends at the residual ``tolerance``, trying the active set when it has not changed;
    with smoothing it ends near the smooth path, max |φ| ≤ τ/10.
    """
    n = x.size
    y = np.empty(n)
    value = np.empty(n)
    jacobian = np.empty((n, n))
    gradient = np.empty(n)
    step = np.empty(n)
    trial = np.empty(n)
    active = np.zeros(n, np.bool_)
    before = np.zeros(n, np.bool_)
    history = np.zeros(MEMORY)
    multiply(a, x, b, y)
    merit = pair_function(x, y, free, smoothing, value)
    for iteration in range(max_iterations + 1):
        if smoothing > 0.0:
            if np.abs(value).max() <= 0.1 * smoothing:
                return iteration, True
        else:
            residual = mixed_residual(a, b, free, x, active)
            active[:] = free | (x > y)
            changed = np.any(active != before)
            before[:] = active
            settled = residual <= tolerance or not changed or iteration == max_iterations
            if settled and shortcut(a, b, free, x, residual, tolerance):
                return iteration, True
            if residual <= tolerance:
                return iteration, True
        if iteration == max_iterations or not np.isfinite(merit):
            break
        history[iteration % MEMORY] = merit
        reference = history[: min(iteration + 1, MEMORY)].max()
        pair_jacobian(a, x, y, free, smoothing, jacobian)
        gradient_of(jacobian, value, gradient)
        accepted = False
        attained = merit
        for kind in range(4):
            if kind == 0:
                usable = newton_direction(jacobian, value, step)
            else:
                damping = min(1.0, np.sqrt(2.0 * merit)) * DAMPING[kind]
                usable = damped_direction(jacobian, gradient, damping, step)
            slope = np.dot(gradient, step) if usable else 0.0
            if not slope < 0.0:
                continue
            length = 1.0
            while length >= SHORTEST and not accepted:
                for i in range(n):
                    trial[i] = x[i] + length * step[i]
                multiply(a, trial, b, y)
                attained = pair_function(trial, y, free, smoothing, value)
                accepted = attained <= reference + DECREASE * length * slope
                length *= 0.5
            if accepted:
                break
            multiply(a, x, b, y)
            pair_function(x, y, free, smoothing, value)
        if not accepted:
            return iteration, False
        x[:] = trial
        merit = attained
    return max_iterations, False


@njit(cache=True)
def fischer_burmeister(
    matrix: np.ndarray,
    offset: np.ndarray,
    free: np.ndarray,
    start: np.ndarray,
    tolerance: float,
    max_iterations: int,
) -> tuple[np.ndarray, int, bool]:
    """(x, iterations, converged) of the mixed linear problem with data A (n, n), b (n,), free (n,) of bool.

    First from ``start``; if that fails along the smooth path from x = 1, τ = 1 to τ = 1e-6.
    """
    n = offset.size
    row = np.empty(n)
    column = np.empty(n)
    balance(matrix, row, column)
    a = np.empty((n, n))
    b = np.empty(n)
    unit = 0.0
    for i in range(n):
        b[i] = row[i] * offset[i]
        unit = max(unit, abs(b[i]))
        for j in range(n):
            a[i, j] = row[i] * matrix[i, j] * column[j]
    if unit == 0.0:
        return np.zeros(n), 0, True
    b /= unit
    x = start / column / unit
    iterations, converged = descend(a, b, free, x, 0.0, tolerance, min(max_iterations, 30))
    if converged:
        return x * column * unit, iterations, True
    x[:] = 1.0
    smoothing = 1.0
    while smoothing > 1e-6 and iterations < 3 * max_iterations:
        steps, _ = descend(a, b, free, x, smoothing, tolerance, 15)
        iterations += steps
        smoothing *= 0.3
        if smoothing < 1e-2 and shortcut(a, b, free, x, np.inf, tolerance):
            return x * column * unit, iterations, True
    steps, converged = descend(a, b, free, x, 0.0, tolerance, max_iterations)
    return x * column * unit, iterations + steps, converged


@njit(cache=True)
def contact_function(
    x: np.ndarray,
    u: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    value: np.ndarray,
) -> float:
    """Alart–Curnier function ξ − P(ξ − u); returns half the sum of squares. Bilateral rows: u."""
    value[:] = u
    for i in normal:
        value[i] = min(x[i], u[i])
    width = tangential.shape[1]
    for i in range(tangential.shape[0]):
        radius = limit[i]
        for k in range(starts[i], starts[i + 1]):
            j = normal[columns[k]]
            radius += friction[k] * max(x[j] - u[j], 0.0)
        length = 0.0
        for c in range(width):
            j = tangential[i, c]
            length = np.hypot(length, x[j] - u[j])
        if length > radius:
            for c in range(width):
                j = tangential[i, c]
                value[j] = x[j] - radius * (x[j] - u[j]) / length
    return 0.5 * np.dot(value, value)


@njit(cache=True)
def contact_jacobian(
    matrix: np.ndarray,
    x: np.ndarray,
    u: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    jacobian: np.ndarray,
) -> None:
    """Generalised Jacobian (I − DP) + DP A of :func:`contact_function`."""
    n = x.size
    width = tangential.shape[1]
    jacobian[:, :] = matrix
    for i in normal:
        if not x[i] - u[i] > 0.0:
            jacobian[i, :] = 0.0
            jacobian[i, i] = 1.0
    direction = np.zeros(width)
    for i in range(tangential.shape[0]):
        radius = limit[i]
        for k in range(starts[i], starts[i + 1]):
            j = normal[columns[k]]
            radius += friction[k] * max(x[j] - u[j], 0.0)
        length = 0.0
        for c in range(width):
            j = tangential[i, c]
            direction[c] = x[j] - u[j]
            length = np.hypot(length, direction[c])
        if length <= radius:
            continue
        direction /= length
        shrink = radius / length
        for c in range(width):
            row = tangential[i, c]
            jacobian[row, :] = 0.0
            jacobian[row, row] = 1.0
        for c in range(width):
            row = tangential[i, c]
            for e in range(width):
                p = tangential[i, e]
                factor = -direction[c] * direction[e]
                if c == e:
                    factor += 1.0
                factor *= shrink
                if factor != 0.0:
                    jacobian[row, p] -= factor
                    for j in range(n):
                        jacobian[row, j] += factor * matrix[p, j]
            for k in range(starts[i], starts[i + 1]):
                p = normal[columns[k]]
                if x[p] - u[p] > 0.0:
                    factor = direction[c] * friction[k]
                    jacobian[row, p] -= factor
                    for j in range(n):
                        jacobian[row, j] += factor * matrix[p, j]


@njit(cache=True)
def contact_scale(matrix: np.ndarray, offset: np.ndarray, x: np.ndarray) -> float:
    """Largest velocity term, max_i |q_i| + Σ_j |A_ij ξ_j|."""
    scale = 0.0
    for i in range(x.size):
        size = abs(offset[i])
        for j in range(x.size):
            size += abs(matrix[i, j] * x[j])
        scale = max(scale, size)
    return scale if scale > 0.0 else 1.0


@njit(cache=True)
def alart_curnier(
    matrix: np.ndarray,
    offset: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    start: np.ndarray,
    tolerance: float,
    max_iterations: int,
) -> tuple[np.ndarray, int, bool]:
    """(ξ, iterations, converged) of the contact problem of ``AlartCurnier``; μ (s, m) in compressed rows."""
    n = offset.size
    x = start.copy()
    u = np.empty(n)
    value = np.empty(n)
    jacobian = np.empty((n, n))
    gradient = np.empty(n)
    step = np.empty(n)
    trial = np.empty(n)
    best = x.copy()
    history = np.zeros(MEMORY)
    multiply(matrix, x, offset, u)
    merit = contact_function(x, u, normal, tangential, starts, columns, friction, limit, value)
    least = np.inf
    polish = 0
    for iteration in range(max_iterations + 1):
        residual = np.abs(value).max() / contact_scale(matrix, offset, x)
        if residual <= tolerance:
            if residual > 0.5 * least or residual < 1e-15 or polish == 3 or iteration == max_iterations:
                if residual < least:
                    best[:] = x
                return best, iteration, True
            polish += 1
        elif polish > 0:
            return best, iteration, True
        if residual < least:
            least = residual
            best[:] = x
        if iteration == max_iterations or not np.isfinite(residual):
            break
        history[iteration % MEMORY] = merit
        reference = history[: min(iteration + 1, MEMORY)].max()
        contact_jacobian(matrix, x, u, normal, tangential, starts, columns, friction, limit, jacobian)
        gradient_of(jacobian, value, gradient)
        accepted = False
        attained = merit
        for kind in range(4):
            if kind == 0:
                usable = newton_direction(jacobian, value, step)
            else:
                damping = min(1.0, np.sqrt(2.0 * merit)) * DAMPING[kind]
                usable = damped_direction(jacobian, gradient, damping, step)
            slope = np.dot(gradient, step) if usable else 0.0
            if not usable or (not slope < 0.0 and polish == 0):
                continue
            length = 1.0
            while length >= SHORTEST:
                for i in range(n):
                    trial[i] = x[i] + length * step[i]
                multiply(matrix, trial, offset, u)
                attained = contact_function(
                    trial, u, normal, tangential, starts, columns, friction, limit, value
                )
                if polish > 0 or attained <= reference + DECREASE * length * slope:
                    accepted = True
                    break
                length *= 0.5
            if accepted:
                break
            multiply(matrix, x, offset, u)
            contact_function(x, u, normal, tangential, starts, columns, friction, limit, value)
        if not accepted:
            return best, iteration, polish > 0
        x[:] = trial
        merit = attained
    return best, max_iterations, False
