"""Compiled semismooth Newton for small dense contact problems with exact friction discs.

    ξ − P(ξ − u) = 0,  u = A ξ + q          the Alart–Curnier function, see ``alart_curnier``

in dimensionless variables, with a nonmonotone line search and a Levenberg–Marquardt step where the Newton matrix is
singular. What does not converge is left to the general path in ``newton``. Waltersberger (4.35)-(4.40).
"""

import numpy as np

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
from klapper.machine_code import njit


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
    damped: bool,
) -> tuple[np.ndarray, int, bool]:
    """(ξ, iterations, converged) of the contact problem of ``AlartCurnier``; μ (s, m) in compressed rows.

    Without ``damped`` steps it ends where the Newton matrix is singular.
    """
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
        for kind in range(4 if damped else 1):
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
