"""M̂ = M − h θ G_v − (h θ)² G_q assembled from entries, its factors, and products with both. Waltersberger (4.13)"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.schemes.form_kernels.compiling import bare

DIAGONAL, BAND, DENSE = 0, 1, 2
_EPS = 2.3e-16


class Inverse(NamedTuple):
    """Room for the factors of M̂ (n, n).

    ``kind``     DIAGONAL, BAND (without pivoting) or DENSE (with)
    ``band``     half bandwidth
    ``factors``  (n,) and one row; (n, 2 b + 1), of pivots their reciprocals; or (n, n)
    ``order``    (n,) rows of the pivots, DENSE
    """

    kind: int
    band: int
    factors: np.ndarray
    order: np.ndarray


@bare
def assemble(
    inverse: Inverse,
    mass: np.ndarray,
    mass_row: np.ndarray,
    mass_column: np.ndarray,
    by_position: np.ndarray,
    by_velocity: np.ndarray,
    tangent_row: np.ndarray,
    tangent_column: np.ndarray,
    step: float,
) -> float:
    """M̂ from entries, with ``step`` h θ; returns its asymmetry relative to its largest entry."""
    factors, shift = inverse.factors, inverse.band
    factors[:, :] = 0.0
    diagonal, dense = inverse.kind == DIAGONAL, inverse.kind == DENSE
    for e in range(mass.size):
        i, j = mass_row[e], mass_column[e]
        if diagonal:
            factors[i, 0] += mass[e]
        elif dense:
            factors[i, j] += mass[e]
        else:
            factors[i, j - i + shift] += mass[e]
    for e in range(tangent_row.size):
        i, j = tangent_row[e], tangent_column[e]
        value = step * by_velocity[e] + step * step * by_position[e]
        if diagonal:
            factors[i, 0] -= value
        elif dense:
            factors[i, j] -= value
        else:
            factors[i, j - i + shift] -= value
    if diagonal:
        return 0.0
    skew, size = 0.0, 0.0
    for i in range(factors.shape[0]):
        for j in range(0 if dense else max(i - shift, 0), i + 1):
            one = factors[i, j] if dense else factors[i, j - i + shift]
            two = factors[j, i] if dense else factors[j, i - j + shift]
            skew = max(skew, abs(one - two))
            size = max(size, abs(one), abs(two))
    return skew / size if size > 0.0 else 0.0


@bare
def factorise(inverse: Inverse) -> bool:
    """Factors L U in place; False where a pivot is zero to round-off."""
    factors, order = inverse.factors, inverse.order
    n = factors.shape[0]
    if inverse.kind == DIAGONAL:
        smallest = np.inf
        for i in range(n):
            smallest = min(smallest, factors[i, 0])
        return smallest > 0.0
    if inverse.kind == DENSE:
        return lu(factors, order)
    shift = inverse.band
    for k in range(n):
        pivot = factors[k, shift]
        if not pivot > 0.0:
            return False
        last = min(k + shift, n - 1)
        for i in range(k + 1, last + 1):
            part = factors[i, k - i + shift] / pivot
            factors[i, k - i + shift] = part
            if part != 0.0:
                for j in range(k + 1, last + 1):
                    factors[i, j - i + shift] -= part * factors[k, j - k + shift]
        factors[k, shift] = 1.0 / pivot
    return True


@bare
def lu(a: np.ndarray, order: np.ndarray) -> bool:
    """Factors of a dense matrix in place, with partial pivoting; False where a pivot is zero to round-off."""
    n = a.shape[0]
    largest = 0.0
    for i in range(n):
        order[i] = i
        for j in range(n):
            largest = max(largest, abs(a[i, j]))
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if not abs(a[p, k]) > n * _EPS * largest:
            return False
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            order[k], order[p] = order[p], order[k]
        for i in range(k + 1, n):
            if a[i, k] != 0.0:
                part = a[i, k] / a[k, k]
                a[i, k] = part
                for j in range(k + 1, n):
                    a[i, j] -= part * a[k, j]
    return True


@bare
def lu_solve(a: np.ndarray, order: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """out = a⁻¹ right with the factors of :func:`lu`; ``out`` is another array than ``right``."""
    n = a.shape[0]
    for i in range(n):
        value = right[order[i]]
        for j in range(i):
            value -= a[i, j] * out[j]
        out[i] = value
    for i in range(n - 1, -1, -1):
        value = out[i]
        for j in range(i + 1, n):
            value -= a[i, j] * out[j]
        out[i] = value / a[i, i]


@bare
def solve(inverse: Inverse, right: np.ndarray, out: np.ndarray) -> None:
    """out = M̂⁻¹ right; ``out`` is another array than ``right``."""
    factors = inverse.factors
    n = out.size
    if inverse.kind == DIAGONAL:
        for i in range(n):
            out[i] = right[i] / factors[i, 0]
        return
    if inverse.kind == DENSE:
        lu_solve(factors, inverse.order, right, out)
        return
    shift = inverse.band
    for i in range(n):
        value = right[i]
        for j in range(max(i - shift, 0), i):
            value -= factors[i, j - i + shift] * out[j]
        out[i] = value
    for i in range(n - 1, -1, -1):
        value = out[i]
        for j in range(i + 1, min(i + shift, n - 1) + 1):
            value -= factors[i, j - i + shift] * out[j]
        out[i] = value * factors[i, shift]


@bare
def multiply(
    row: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, factor: float, out: np.ndarray
) -> None:
    """out += factor A x for a matrix given by entries."""
    for e in range(row.size):
        out[row[e]] += factor * value[e] * x[column[e]]


@bare
def quadratic(row: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """yᵀ A x for a matrix given by entries."""
    total = 0.0
    for e in range(row.size):
        total += y[row[e]] * value[e] * x[column[e]]
    return total


@bare
def along(column: np.ndarray, value: np.ndarray, x: np.ndarray) -> float:
    """A row, given by its columns and entries, times x."""
    total = 0.0
    for k in range(column.size):
        total += value[k] * x[column[k]]
    return total


@bare
def along_sizes(column: np.ndarray, value: np.ndarray, x: np.ndarray) -> float:
    """The same with all terms by their size."""
    total = 0.0
    for k in range(column.size):
        total += abs(value[k]) * abs(x[column[k]])
    return total
