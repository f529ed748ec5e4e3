"""Steps of the compiled semismooth Newton methods on small dense problems: Newton and Levenberg–Marquardt directions,
and the constants of their nonmonotone line search (Grippo, Lampariello & Lucidi 1986).
"""

import numpy as np

from klapper.complementarity.kernels.linear import factorise, substitute
from klapper.machine_code import njit

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
