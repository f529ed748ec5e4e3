"""The penalised Fischer–Burmeister function of a complementarity problem, and its smooth path.

    Φ_i = φ(x_i, F_i(x)),  φ(a, b) = 0 ⇔ 0 ≤ a ⟂ b ≥ 0;  free rows Φ_i = F_i
    φ(a, b) = θ (a + b − √(a² + b²)) + (1 − θ) a₊ b₊

Chen, Chen & Kanzow, Math. Programming 88 (2000) 211-216.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.checking import Matrix
from klapper.complementarity.newton_directions import least_squares_direction, newton_direction
from klapper.complementarity.semismooth import damped_newton, largest_entry

THETA = 0.95  # weight of the Fischer–Burmeister part of φ


class FischerBurmeister:
    """Φ for the problem F(x)_i = 0 (free i), 0 ≤ x_i ⟂ F(x)_i ≥ 0 (others), in dimensionless x and F.

    With ``smoothing`` τ > 0 the pair function is a + b − √(a² + b² + 2τ²): zero where a b = τ², a, b > 0.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        jacobian: Callable[[np.ndarray], Matrix],
        free: np.ndarray,
        *,
        smoothing: float = 0.0,
    ) -> None:
        self.function = function
        self.jacobian = jacobian
        self.free = free
        self.smoothing = smoothing
        self.theta = 1.0 if smoothing > 0.0 else THETA

    def smoothed(self, smoothing: float) -> FischerBurmeister:
        return FischerBurmeister(self.function, self.jacobian, self.free, smoothing=smoothing)

    def value(self, x: np.ndarray) -> np.ndarray:
        y = self.function(x)
        pair = self.theta * (x + y - np.sqrt(x * x + y * y + 2.0 * self.smoothing**2))
        pair += (1.0 - self.theta) * np.maximum(x, 0.0) * np.maximum(y, 0.0)
        return np.where(self.free, y, pair)

    def derivative(self, x: np.ndarray) -> Matrix:
        y = self.function(x)
        length = np.sqrt(x * x + y * y + 2.0 * self.smoothing**2)
        kink = length == 0.0
        length[kink] = 1.0
        both = (x > 0.0) & (y > 0.0)
        d_x = self.theta * (1.0 - np.where(kink, np.sqrt(0.5), x / length)) + (1.0 - self.theta) * both * y
        d_y = self.theta * (1.0 - np.where(kink, np.sqrt(0.5), y / length)) + (1.0 - self.theta) * both * x
        d_x[self.free] = 0.0
        d_y[self.free] = 1.0
        jacobian = self.jacobian(x)
        if sparse.issparse(jacobian):
            return sparse.csr_array(sparse.diags_array(d_x) + sparse.diags_array(d_y) @ jacobian)
        return np.diag(d_x) + d_y[:, None] * jacobian

    def shortcut(self, x: np.ndarray) -> np.ndarray | None:
        """Full step with F_i = 0 where F_i < x_i and x_i = 0 elsewhere, least-squares if that is singular."""
        if self.smoothing > 0.0:
            return None
        y = self.function(x)
        active = self.free | (x > y)
        index = np.flatnonzero(active)
        jacobian = self.jacobian(x)
        point = np.where(active, x, 0.0)
        right = y + jacobian @ (point - x)
        block = jacobian[index][:, index]
        step = newton_direction(block, right[index])
        if step is None:
            step = least_squares_direction(block, right[index])
        if step is None:
            return None
        point[index] += step
        return point


def smooth_path(
    mapping: FischerBurmeister, x: np.ndarray, smoothing: float, factor: float
) -> tuple[np.ndarray, int]:
    """Follow the zeros of the smoothed map from τ = ``smoothing`` to 1e-6; the end and the steps taken."""
    iterations = 0
    while smoothing > 1e-6:
        smooth = mapping.smoothed(smoothing)
        path = damped_newton(smooth, x, largest_entry(smooth), 0.1 * smoothing, 15)
        x, iterations = path.x, iterations + path.iterations
        smoothing *= factor
    return x, iterations
