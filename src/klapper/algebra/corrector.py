"""Points of a curve F(x) = 0 of N equations in N + 1 unknowns, by Newton's method in a plane across the curve.

    [F_x ; nᵀ] Δx = −[F ; nᵀ (x − x̂)],      [F_x ; nᵀ] t = [0 ; 1],   t ← t / |t|

n is the normal of the plane through the guess x̂, t the tangent. The bordered matrix is regular also where the curve
turns back in its parameter, and singular only where another branch crosses: there its determinant changes sign.
Keller 1977; Govaerts, Numerical Methods for Bifurcations of Dynamical Equilibria, 2000.

All numbers here are scaled: y = x / scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.algebra.factors import SMALL, Factors, Singular, factors

Equations = Callable[[np.ndarray], tuple[np.ndarray, Any]]

_MOST_ROUNDS = 9
_CONTRACTION = 0.7  # of Newton's corrections, above which the guess was too far away


class StepRefused(ArithmeticError):
    """No point of the curve was found from this guess. Equations may raise it where they have no meaning."""


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A point ``y`` (N + 1,), its unit ``tangent`` (N + 1,), the scaled ``jacobian`` (N, N + 1), dense or sparse (None
    where it is no longer needed), the sign of the bordered determinant, and how hard it was to find: ``rounds`` and the
    size of the ``first`` correction."""

    y: np.ndarray
    tangent: np.ndarray
    jacobian: Any
    orientation: float
    rounds: int
    first: float

    def rescaled(self, factor: np.ndarray) -> CurvePoint:
        """The same point in scaled unknowns y / ``factor`` (N + 1,), factors above 0: its orientation stays."""
        tangent = self.tangent / factor
        return CurvePoint(
            self.y / factor,
            tangent / np.linalg.norm(tangent),
            _scaled(self.jacobian, factor),
            self.orientation,
            self.rounds,
            self.first,
        )

    def reversed(self) -> CurvePoint:
        """The same point of the curve passed the other way."""
        return CurvePoint(self.y, -self.tangent, self.jacobian, -self.orientation, self.rounds, self.first)


@dataclass(frozen=True, eq=False)
class Corrector:
    """``graph``: the curve is one over the parameter, and its points are corrected at theirs."""

    equations: Equations
    scale: np.ndarray
    tolerance: float
    graph: bool = False

    def evaluate(self, y: np.ndarray) -> tuple[np.ndarray, Any]:
        """F (N,) and F_y (N, N + 1), which is sparse if it is large and given as such."""
        with np.errstate(over="ignore", invalid="ignore"):  # far from the curve; refused below
            residual, jacobian = self.equations(y * self.scale)
        residual = np.asarray(residual, dtype=float)
        if sparse.issparse(jacobian):
            jacobian = sparse.csr_array(jacobian) if len(y) > SMALL else jacobian.toarray()
        else:
            jacobian = np.asarray(jacobian, dtype=float)
        entries = jacobian.data if sparse.issparse(jacobian) else jacobian
        if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(entries))):
            raise StepRefused("the equations are not finite here")
        return residual, _scaled(jacobian, self.scale)

    def correct(
        self, guess: np.ndarray, normal: np.ndarray, *, along: np.ndarray | None = None, eager: bool = False
    ) -> CurvePoint:
        """The point in the plane through ``guess`` with this ``normal``; its tangent points ``along``, default the
        normal. An ``eager`` correction trusts the speed of convergence for its last round."""
        along = normal if along is None else along
        if self.graph:
            normal = np.append(np.zeros(len(guess) - 1), 1.0)
        y, first, last = guess.copy(), 0.0, np.inf
        for rounds in range(1, _MOST_ROUNDS + 1):
            residual, jacobian = self.evaluate(y)
            solver = bordered(jacobian, normal)
            change = solver.solve(np.append(-residual, -normal @ (y - guess)))
            size = float(np.linalg.norm(change))
            limit = self.tolerance * max(1.0, float(np.linalg.norm(y)))
            if not np.isfinite(size) or (rounds > 2 and size > max(_CONTRACTION * last, limit)):
                raise StepRefused("Newton's method does not converge from the predicted point")
            first = size if rounds == 1 else first
            y = y + change
            if size <= limit or (eager and rounds > 1 and size * size <= limit * last):
                tangent = _across(solver, len(y))
                sense = 1.0 if tangent @ along >= 0.0 else -1.0
                return CurvePoint(y, sense * tangent, jacobian, sense * solver.sign, rounds, first)
            last = size
        raise StepRefused("Newton's method has not converged")

    def oriented(self, y: np.ndarray, orientation: float) -> np.ndarray:
        """The unit tangent of the equations at ``y``, with this orientation.

        Across a kink of the equations the orientation stays: with J⁺ = J⁻ + a nᵀ on the other side of a plane n,
        det [J⁺; n] = det [J⁻; n], so that the tangent of this orientation leads into that side.
        """
        tangent, sign = _null_vector(self.evaluate(y)[1])
        return tangent * orientation * sign

    def tangent_at(self, y: np.ndarray) -> np.ndarray:
        """Null vector of F_y, for a start without a direction."""
        return _null_vector(self.evaluate(y)[1])[0]


def bordered(jacobian: Any, normal: np.ndarray) -> Factors:
    """Factors of [F_y ; nᵀ] (N + 1, N + 1)."""
    rows = [jacobian, normal[None]]
    try:
        return factors(sparse.vstack(rows, format="csc") if sparse.issparse(jacobian) else np.vstack(rows))
    except Singular:
        raise StepRefused("the equations do not decide where to go") from None


def _null_vector(jacobian: Any) -> tuple[np.ndarray, float]:
    """The unit vector t that a Jacobian (N, N + 1) leaves, and the sign of det [F_y ; tᵀ]."""
    if sparse.issparse(jacobian):  # from any border that is not square to it: the sign is that of the border
        solver = bordered(jacobian, np.random.default_rng(0).standard_normal(jacobian.shape[1]))
        return _across(solver, jacobian.shape[1]), solver.sign
    tangent = np.linalg.qr(jacobian.T, mode="complete")[0][:, -1]
    return tangent, float(np.linalg.slogdet(np.vstack([jacobian, tangent]))[0])


def _across(solver: Factors, size: int) -> np.ndarray:
    """The unit tangent t (N + 1,), nᵀ t > 0, from factors of [F_y ; nᵀ]."""
    tangent = solver.solve(np.append(np.zeros(size - 1), 1.0))
    return tangent / np.linalg.norm(tangent)


def _scaled(jacobian: Any, factor: np.ndarray) -> Any:
    """F_y diag(factor)."""
    if jacobian is None:
        return None
    return jacobian @ sparse.diags_array(factor) if sparse.issparse(jacobian) else jacobian * factor
