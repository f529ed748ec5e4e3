"""Compiled semismooth Newton for small dense linear and mixed problems.

    φ(x_i, y_i) = 0,  y = A x + b;  free: y_i = 0

φ is the penalised Fischer–Burmeister function. It runs in dimensionless variables with a nonmonotone line search and a
Levenberg–Marquardt step where the Newton matrix is singular. Problems that resist follow the smooth path x y = τ²,
τ → 0. What does not converge is left to the general path in ``newton``, which has more means.
Chen, Chen and Kanzow, Math. Programming 88 (2000) 211-216.
"""

import numpy as np

from klapper.complementarity.kernels.linear import AMPLIFICATION, factorise, substitute
from klapper.complementarity.kernels.newton_steps import (
    DAMPING,
    DECREASE,
    MEMORY,
    SHORTEST,
    damped_direction,
    gradient_of,
    multiply,
    newton_direction,
)
from klapper.complementarity.kernels.scaling import equilibrate
from klapper.machine_code import njit

THETA = 0.95  # weight of the Fischer–Burmeister part; the rest is x₊ y₊


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
    equilibrate(matrix, offset, row, column)
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
