"""Gradients between two points that give differences exactly.

    ∇̄f · Δ = f₁ − f₀,   Δ = x₁ − x₀
    ∇̄f = ∇f(x_m) + (f₁ − f₀ − ∇f(x_m) · Δ) Δ/|Δ|²                        Gonzalez (1996), Hesch (2.171), (2.180)

x_m is the mean of both points. A force −∇̄V does the work V₀ − V₁ whatever the step. With x the translation and
rotation invariants of a body, at most quadratic in its positions, momentum and angular momentum are kept, too.
All functions take many points at once: f (…,), x (…, k).
"""

from __future__ import annotations

import numpy as np

_NEAR = 1e-6
"""|Δ| in units of |x| up to which the correction is left out: it is of the order |Δ|², and rounding would be more."""


def discrete_gradient(
    before: np.ndarray,
    after: np.ndarray,
    slope: np.ndarray,
    change: np.ndarray,
    size: np.ndarray | float = 1.0,
) -> np.ndarray:
    """∇̄f (…, k) from f₀, f₁ (…,), ∇f(x_m) (…, k) and Δ (…, k); ``size`` is that of x."""
    factor = _over_square(after - before - np.sum(slope * change, axis=-1), change, size)
    return slope + factor[..., None] * change


def discrete_gradient_slope(
    before: np.ndarray,
    after: np.ndarray,
    slope: np.ndarray,
    slope_after: np.ndarray,
    curvature: np.ndarray,
    change: np.ndarray,
    size: np.ndarray | float = 1.0,
) -> np.ndarray:
    """∂∇̄f/∂x₁ (…, k, k); ``slope`` and ``curvature`` (…, k, k) at x_m, ``slope_after`` at x₁.   Hesch (B.32)"""
    half = 0.5 * curvature
    error = _over_square(after - before - np.sum(slope * change, axis=-1), change, size)
    rest = slope_after - slope - np.einsum("...ij,...j->...i", half, change)
    square = np.sum(change**2, axis=-1)
    far = _far(square, size)
    inverse = np.where(far, 1.0 / np.where(far, square, 1.0), 0.0)
    along = change[..., :, None] * (rest * inverse[..., None])[..., None, :]
    unit = (
        np.eye(change.shape[-1])
        - 2.0 * inverse[..., None, None] * change[..., :, None] * change[..., None, :]
    )
    return half + along + error[..., None, None] * unit


def _over_square(error: np.ndarray, change: np.ndarray, size: np.ndarray | float) -> np.ndarray:
    square = np.sum(change**2, axis=-1)
    far = _far(square, size)
    return np.where(far, error / np.where(far, square, 1.0), 0.0)


def _far(square: np.ndarray, size: np.ndarray | float) -> np.ndarray:
    return square > (_NEAR * np.asarray(size)) ** 2
