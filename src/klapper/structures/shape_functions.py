"""Shape functions of one element on −1 ≤ ξ ≤ 1.

    Lagrange  degree p ≥ 1, values at the p + 1 Gauss–Lobatto points
    Hermite   degree p ≥ 3, value and slope at both ends, values at p − 3 points between

Both are kept as coefficients over Legendre polynomials, so that high degrees stay well conditioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre


@dataclass(frozen=True, eq=False)
class ShapeFunctions:
    """``coefficients`` (p + 1, functions) over Legendre polynomials; ``points`` (nodes,) of the nodes, −1 … 1."""

    coefficients: np.ndarray
    points: np.ndarray

    @property
    def degree(self) -> int:
        return self.coefficients.shape[0] - 1

    def at(self, xi: np.ndarray, derivative: int = 0) -> np.ndarray:
        """All functions, or their derivatives with respect to ξ, at ``xi`` (k,): (k, functions)."""
        coefficients = legendre.legder(self.coefficients, derivative) if derivative else self.coefficients
        return legendre.legval(xi, coefficients).reshape(self.coefficients.shape[1], -1).T


@cache
def lagrange(degree: int) -> ShapeFunctions:
    """One function for each Gauss–Lobatto point."""
    points = _lobatto(degree + 1)
    return ShapeFunctions(np.linalg.inv(legendre.legvander(points, degree)), points)


@cache
def hermite(degree: int) -> ShapeFunctions:
    """Value and slope d/dξ at ξ = −1, values between, value and slope at ξ = 1, in this order."""
    inner = _lobatto(degree - 1)[1:-1]
    points = np.concatenate(([-1.0], inner, [1.0]))
    values = legendre.legvander(points, degree)
    slopes = legendre.legval(np.array([-1.0, 1.0]), legendre.legder(np.eye(degree + 1))).T
    functionals = np.vstack((values[:1], slopes[:1], values[1:], slopes[1:]))
    return ShapeFunctions(np.linalg.inv(functionals), points)


@cache
def gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on −1 ≤ ξ ≤ 1, exact for the degree 2 count − 1."""
    return legendre.leggauss(count)


def _lobatto(count: int) -> np.ndarray:
    inner = legendre.legroots(legendre.legder(np.eye(count)[count - 1])) if count > 2 else np.zeros(0)
    return np.concatenate(([-1.0], np.sort(np.real(inner)), [1.0]))
