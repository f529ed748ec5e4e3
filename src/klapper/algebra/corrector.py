"""Points of a curve F(x) = 0 of N equations in N + 1 unknowns, by Newton's method in a plane across the curve.

    [F_x ; nᵀ] Δx = −[F ; nᵀ (x − x̂)],      [F_x ; nᵀ] t = [0 ; 1],   t ← t / |t|

n is the normal of the plane through the guess x̂, t the tangent. The bordered matrix is regular also where the curve
turns back in its parameter, and singular only where another branch crosses: there its determinant changes sign.
Keller 1977; Govaerts, Numerical Methods for Bifurcations of Dynamical Equilibria, 2000.

All numbers here are scaled: y = x / scale.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

Equations = Callable[[np.ndarray], tuple[np.ndarray, Any]]

_MOST_ROUNDS = 9
_CONTRACTION = 0.7  # of Newton's corrections, above which the guess was too far away


class StepRefused(ArithmeticError):
    """No point of the curve was found from this guess. Equations may raise it where they have no meaning."""


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A point ``y`` (N + 1,), its unit ``tangent`` (N + 1,), the scaled ``jacobian`` (N, N + 1), the sign of the
    bordered determinant, and how hard it was to find: ``rounds`` and the size of the ``first`` correction."""

    y: np.ndarray
    tangent: np.ndarray
    jacobian: np.ndarray
    orientation: float
    rounds: int
    first: float

    def rescaled(self, factor: np.ndarray) -> CurvePoint:
        """The same point in scaled unknowns y / ``factor`` (N + 1,), factors above 0: its orientation stays."""
        tangent = self.tangent / factor
        return CurvePoint(
            self.y / factor,
            tangent / np.linalg.norm(tangent),
            self.jacobian * factor,
            self.orientation,
            self.rounds,
            self.first,
        )

    def reversed(self) -> CurvePoint:
        """The same point of the curve passed the other way."""
        return CurvePoint(self.y, -self.tangent, self.jacobian, -self.orientation, self.rounds, self.first)


@dataclass(frozen=True, eq=False)
class Corrector:
    equations: Equations
    scale: np.ndarray
    tolerance: float

    def evaluate(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F (N,) and F_y (N, N + 1)."""
        with np.errstate(over="ignore", invalid="ignore"):  # far from the curve; refused below
            residual, jacobian = self.equations(y * self.scale)
        dense = jacobian.toarray() if hasattr(jacobian, "toarray") else np.asarray(jacobian, dtype=float)
        residual = np.asarray(residual, dtype=float)
        if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(dense))):
            raise StepRefused("the equations are not finite here")
        return residual, dense * self.scale

    def correct(
        self, guess: np.ndarray, normal: np.ndarray, *, along: np.ndarray | None = None, eager: bool = False
    ) -> CurvePoint:
        """The point in the plane through ``guess`` with this ``normal``; its tangent points ``along``, default the
        normal. An ``eager`` correction trusts the speed of convergence for its last round."""
        y, first, last = guess.copy(), 0.0, np.inf
        for rounds in range(1, _MOST_ROUNDS + 1):
            residual, jacobian = self.evaluate(y)
            factors = bordered(jacobian, normal)
            change = factors.solve(np.append(-residual, -normal @ (y - guess)))
            size = float(np.linalg.norm(change))
            limit = self.tolerance * max(1.0, float(np.linalg.norm(y)))
            if not np.isfinite(size) or (rounds > 2 and size > max(_CONTRACTION * last, limit)):
                raise StepRefused("Newton's method does not converge from the predicted point")
            first = size if rounds == 1 else first
            y = y + change
            if size <= limit or (eager and rounds > 1 and size * size <= limit * last):
                tangent = factors.solve(np.append(np.zeros(len(residual)), 1.0))
                tangent /= np.linalg.norm(tangent)
                sense = 1.0 if along is None or tangent @ along >= 0.0 else -1.0
                return CurvePoint(y, sense * tangent, jacobian, sense * factors.sign, rounds, first)
            last = size
        raise StepRefused("Newton's method has not converged")

    def oriented(self, y: np.ndarray, orientation: float) -> np.ndarray:
        """The unit tangent of the equations at ``y``, with this orientation.

        Across a kink of the equations the orientation stays: with J⁺ = J⁻ + a nᵀ on the other side of a plane n,
        det [J⁺; n] = det [J⁻; n], so that the tangent of this orientation leads into that side.
        """
        jacobian = self.evaluate(y)[1]
        tangent = np.linalg.qr(jacobian.T, mode="complete")[0][:, -1]
        return tangent * orientation * np.linalg.slogdet(np.vstack([jacobian, tangent]))[0]

    def tangent_at(self, y: np.ndarray) -> np.ndarray:
        """Null vector of F_y by singular values, for a start without a direction."""
        return np.linalg.svd(self.evaluate(y)[1])[2][-1]


@dataclass(frozen=True, eq=False)
class Factors:
    """Triangular factors of a bordered matrix and the sign of its determinant."""

    lu: tuple[np.ndarray, np.ndarray]
    sign: float

    def solve(self, right: np.ndarray) -> np.ndarray:
        return scipy.linalg.lu_solve(self.lu, right, check_finite=False)


def bordered(jacobian: np.ndarray, normal: np.ndarray) -> Factors:
    """Factors of [F_y ; nᵀ] (N + 1, N + 1)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
        lu, pivots = scipy.linalg.lu_factor(np.vstack([jacobian, normal]), check_finite=False)
    diagonal = np.diag(lu)
    if np.any(diagonal == 0.0):
        raise StepRefused("the equations do not decide where to go")
    swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
    return Factors((lu, pivots), float(np.prod(np.sign(diagonal)) * (-1.0) ** swaps))
