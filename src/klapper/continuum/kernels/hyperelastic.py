"""The built-in laws at one point, compiled.

    W = ½ k (tr E)² + m E:E + a₁ (I₁ − 3) + a₂ (I₂ − 3) + b ln J + ½ c ln² J
    S = k tr E 1 + 2 m E + 2 a₁ 1 + 2 a₂ (I₁ 1 − C) + (b + c ln J) C⁻¹
    𝔻 = k 1⊗1 + 2 m 𝕀 + 4 a₂ (1⊗1 − 𝕀) + c C⁻¹⊗C⁻¹ − 2 (b + c ln J) C⁻¹⊙C⁻¹

with six coefficients (k, m, a₁, a₂, b, c), see :func:`klapper.continuum.laws.coefficients`. π has six components with
doubled shear; in the plane C₃₃ = 1 and what is across vanishes.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.discrete_gradient import _NEAR

_FAR = _NEAR**2
PAIR = np.array([[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [0, 2]])
PLACE = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2]])
"""Component of the entry ij of a symmetric tensor, the same in the plane and in space."""


@njit(cache=True, error_model="numpy")
def energy(law: np.ndarray, metric: np.ndarray) -> float:
    """W [J/m³] of π (6,)."""
    trace, square = metric[0] + metric[1] + metric[2], 0.0
    stretch, shear = 0.0, 0.0
    for i in range(3):
        square += metric[i] * metric[i] + 0.5 * metric[3 + i] * metric[3 + i]
        stretch += (metric[i] - 1.0) * (metric[i] - 1.0)
        shear += metric[3 + i] * metric[3 + i]
    found = 0.125 * law[0] * (trace - 3.0) ** 2 + 0.25 * law[1] * (stretch + 0.5 * shear)
    found += law[2] * (trace - 3.0) + law[3] * (0.5 * (trace * trace - square) - 3.0)
    if law[4] != 0.0 or law[5] != 0.0:
        log = 0.5 * math.log(_determinant(metric))
        found += law[4] * log + 0.5 * law[5] * log * log
    return found


@njit(cache=True, error_model="numpy")
def stress(law: np.ndarray, metric: np.ndarray, back: np.ndarray, found: np.ndarray) -> float:
    """S (6,) [N/m²] of π (6,), also C⁻¹ (6,); returns b + c ln J."""
    trace = metric[0] + metric[1] + metric[2]
    level = 0.5 * law[0] * (trace - 3.0) + 2.0 * law[2] + 2.0 * law[3] * trace - law[1]
    slope = law[1] - 2.0 * law[3]
    for i in range(3):
        found[i] = level + slope * metric[i]
        found[3 + i] = 0.5 * slope * metric[3 + i]
    if law[4] == 0.0 and law[5] == 0.0:
        back[:] = 0.0
        return 0.0
    factor = law[4] + law[5] * 0.5 * math.log(_inverse(metric, back))
    for i in range(6):
        found[i] += factor * back[i]
    return factor


@njit(cache=True, error_model="numpy")
def tangent(law: np.ndarray, back: np.ndarray, factor: float, found: np.ndarray) -> None:
    """𝔻 (6, 6) [N/m²] from C⁻¹ (6,) and b + c ln J."""
    level, slope = law[0] + 4.0 * law[3], law[1] - 2.0 * law[3]
    for x in range(6):
        for y in range(x + 1):
            found[x, y] = law[5] * back[x] * back[y] - factor * _crossed(back, x, y)
            found[y, x] = found[x, y]
    for i in range(3):
        for j in range(3):
            found[i, j] += level
        found[i, i] += 2.0 * slope
        found[3 + i, 3 + i] += slope


@njit(cache=True, error_model="numpy")
def stress_between(
    law: np.ndarray, before: np.ndarray, after: np.ndarray, work: np.ndarray, found: np.ndarray
) -> float:
    """Ξ (6,) [N/m²], twice the discrete gradient of W from π₀ to π₁, both (6,); ``work`` (6, 6).   Hesch (2.192)

    Afterwards the rows of ``work`` are the mean of both, C⁻¹ there, S there, and π₁ − π₀. Returns b + c ln J there.
    """
    mean, back, middle, change = work[0], work[1], work[2], work[3]
    for i in range(6):
        mean[i] = 0.5 * (before[i] + after[i])
        change[i] = after[i] - before[i]
    factor = stress(law, mean, back, middle)
    share = 2.0 * _correction(law, before, after, middle, change)
    for i in range(6):
        found[i] = middle[i] + share * change[i]
    return factor


@njit(cache=True, error_model="numpy")
def tangent_between(
    law: np.ndarray, before: np.ndarray, after: np.ndarray, factor: float, work: np.ndarray, found: np.ndarray
) -> None:
    """2 ∂Ξ/∂π₁ (6, 6) after :func:`stress_between`.                                             Hesch (B.32)"""
    back, middle, change, end = work[1], work[2], work[3], work[4]
    tangent(law, back, factor, found)
    square = 0.0
    for i in range(6):
        square += change[i] * change[i]
        for j in range(6):
            found[i, j] *= 0.5
    if square <= _FAR:
        return
    share = _correction(law, before, after, middle, change)
    stress(law, after, work[5], end)
    for i in range(6):
        rest = 2.0 * (end[i] - middle[i])
        for j in range(6):
            rest -= found[i, j] * change[j]
        work[5, i] = (rest - 8.0 * share * change[i]) / square
    for i in range(6):
        for j in range(6):
            found[i, j] += change[i] * work[5, j]
        found[i, i] += 4.0 * share


@njit(cache=True, error_model="numpy")
def _correction(
    law: np.ndarray, before: np.ndarray, after: np.ndarray, middle: np.ndarray, change: np.ndarray
) -> float:
    """(W₁ − W₀ − ½ S·Δ)/|Δ|², none for changes so small that rounding would be larger."""
    square, product = 0.0, 0.0
    for i in range(6):
        square += change[i] * change[i]
        product += middle[i] * change[i]
    if square <= _FAR:
        return 0.0
    return (energy(law, after) - energy(law, before) - 0.5 * product) / square


@njit(cache=True, error_model="numpy")
def _determinant(metric: np.ndarray) -> float:
    d, e, f = 0.5 * metric[3], 0.5 * metric[4], 0.5 * metric[5]
    first = metric[0] * (metric[1] * metric[2] - e * e)
    return first + d * (e * f - metric[2] * d) + f * (d * e - metric[1] * f)


@njit(cache=True, error_model="numpy")
def _inverse(metric: np.ndarray, found: np.ndarray) -> float:
    """C⁻¹ (6,), shear not doubled; returns det C."""
    a, b, c = metric[0], metric[1], metric[2]
    d, e, f = 0.5 * metric[3], 0.5 * metric[4], 0.5 * metric[5]  # 12 23 13
    determinant = _determinant(metric)
    inverse = 1.0 / determinant
    found[0] = (b * c - e * e) * inverse
    found[1] = (a * c - f * f) * inverse
    found[2] = (a * b - d * d) * inverse
    found[3] = (e * f - c * d) * inverse
    found[4] = (d * f - a * e) * inverse
    found[5] = (d * e - b * f) * inverse
    return determinant


@njit(cache=True, error_model="numpy")
def _crossed(back: np.ndarray, x: int, y: int) -> float:
    """C⁻¹_ik C⁻¹_jl + C⁻¹_il C⁻¹_jk for the components x = ij and y = kl."""
    i, j, k, m = PAIR[x, 0], PAIR[x, 1], PAIR[y, 0], PAIR[y, 1]
    return back[PLACE[i, k]] * back[PLACE[j, m]] + back[PLACE[i, m]] * back[PLACE[j, k]]
