"""One pass over the cells of a body for forces, one for stiffness: strain, law and assembly while a cell is at hand.

    f_A = Σ_g w F S ∇N_A                                                                     Hesch (2.132)
    K_AB = Σ_g w ∇N_A · 𝔸 ∇N_B,   𝔸_iJkL = F_iI 𝔻_IJKL F'_kK + share S_JL δ_ik

F and F' are the same for one configuration, and K is symmetric. Between two of them S is the discrete gradient, F
belongs to their mean, F' to the second, and share = ½. Lengths of loops are known to the compiler: there is one
function per kind of cell.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from klapper.continuum.kernels.hyperelastic import (
    PLACE,
    energy,
    stress,
    stress_between,
    tangent,
    tangent_between,
)
from klapper.machine_code import njit

PLAIN, MEAN, BETWEEN = 0, 1, 2
"""Forces of the second configuration, of the mean of both, or the discrete gradient between both."""


@njit(cache=True, nogil=True, error_model="numpy")
def energies(
    begin: int,
    end: int,
    cells: np.ndarray,
    gradients: np.ndarray,
    weights: np.ndarray,
    law: np.ndarray,
    position: np.ndarray,
    found: np.ndarray,
) -> None:
    """V (e,) [J] of the cells."""
    _, points, size, d = gradients.shape
    strain, place, metric = np.empty((d, d)), np.empty((size, d)), np.empty(6)
    for e in range(begin, end):
        for a in range(size):
            place[a] = position[cells[e, a]]
        found[e] = 0.0
        for g in range(points):
            _deformation(gradients[e, g], place, strain)
            _metric(strain, metric)
            found[e] += weights[e, g] * energy(law, metric)


@cache
def force_pass(points: int, size: int, d: int) -> Callable[..., None]:
    """The pass for cells with so many quadrature points and nodes in d dimensions."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def forces(
        begin: int,
        end: int,
        cells: np.ndarray,
        gradients: np.ndarray,
        weights: np.ndarray,
        law: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
        mode: int,
        found: np.ndarray,
    ) -> None:
        """f (e, k, d) [N] of positions (n, d) [m]."""
        first, second = np.empty((size, d)), np.empty((size, d))
        left, right = np.empty((d, d)), np.empty((d, d))
        metric, ahead, pull, work = np.empty(6), np.empty(6), np.empty(6), np.empty((6, 6))
        for e in range(begin, end):
            _places(cells[e], before, after, mode, first, second)
            for a in range(size):
                for i in range(d):
                    found[e, a, i] = 0.0
            for g in range(points):
                shape = gradients[e, g]
                _deformation(shape, second, right)
                _metric(right, ahead)
                if mode == BETWEEN:
                    _deformation(shape, first, left)
                    _metric(left, metric)
                    stress_between(law, metric, ahead, work, pull)
                    for i in range(d):
                        for j in range(d):
                            right[i, j] = 0.5 * (left[i, j] + right[i, j])
                else:
                    stress(law, ahead, work[0], pull)
                for i in range(d):
                    for j in range(d):
                        total = 0.0
                        for k in range(d):
                            total += right[i, k] * pull[PLACE[k, j]]
                        total *= weights[e, g]
                        for a in range(size):
                            found[e, a, i] += total * shape[a, j]

    return forces


@cache
def stiffness_pass(points: int, size: int, d: int) -> Callable[..., None]:
    """The pass for cells with so many quadrature points and nodes in d dimensions."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def stiffness(
        begin: int,
        end: int,
        batches: np.ndarray,
        cells: np.ndarray,
        gradients: np.ndarray,
        weights: np.ndarray,
        law: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
        mode: int,
        factor: float,
        slots: np.ndarray,
        data: np.ndarray,
    ) -> None:
        """``factor`` K of batches of cells added to the stored values: see :class:`klapper.continuum.pattern.Slots`."""
        first, second = np.empty((size, d)), np.empty((size, d))
        left, right = np.empty((d, d)), np.empty((d, d))
        metric, ahead, pull, work = np.empty(6), np.empty(6), np.empty(6), np.empty((6, 6))
        modulus, carried = np.empty((6, 6)), np.empty((d, d, 6))
        elastic, shape, matrix = np.empty((d, d, d, d)), np.empty((d, size)), np.empty((size, d, d, size))
        share = factor if mode == PLAIN else 0.5 * factor
        for batch in range(begin, end):
            for e in range(batches[batch, 0], batches[batch, 1]):
                _places(cells[e], before, after, mode, first, second)
                matrix[:] = 0.0
                for g in range(points):
                    _deformation(gradients[e, g], second, right)
                    _metric(right, ahead)
                    scale = share * weights[e, g]
                    if mode == BETWEEN:
                        _deformation(gradients[e, g], first, left)
                        _metric(left, metric)
                        level = stress_between(law, metric, ahead, work, pull)
                        tangent_between(law, metric, ahead, level, work, modulus)
                        for i in range(d):
                            for j in range(d):
                                left[i, j] += right[i, j]  # twice the mean
                    else:
                        level = stress(law, ahead, work[0], pull)
                        tangent(law, work[0], level, modulus)
                        left[:] = right
                    _elasticity(left, right, modulus, pull, scale, carried, elastic)
                    for a in range(size):
                        for i in range(d):
                            shape[i, a] = gradients[e, g, a, i]
                    for a in range(size):
                        start = 0 if mode == BETWEEN else a
                        for i in range(d):
                            for k in range(d):
                                if d == 3:
                                    x, y, z = 0.0, 0.0, 0.0
                                    for j in range(3):
                                        x += shape[j, a] * elastic[i, j, k, 0]
                                        y += shape[j, a] * elastic[i, j, k, 1]
                                        z += shape[j, a] * elastic[i, j, k, 2]
                                    for b in range(start, size):
                                        matrix[a, i, k, b] += (
                                            x * shape[0, b] + y * shape[1, b] + z * shape[2, b]
                                        )
                                else:
                                    x, y = 0.0, 0.0
                                    for j in range(2):
                                        x += shape[j, a] * elastic[i, j, k, 0]
                                        y += shape[j, a] * elastic[i, j, k, 1]
                                    for b in range(start, size):
                                        matrix[a, i, k, b] += x * shape[0, b] + y * shape[1, b]
                for a in range(size):
                    for b in range(0 if mode == BETWEEN else a, size):
                        for i in range(d):
                            for k in range(d):
                                data[slots[e, a, i, b] + k] += matrix[a, i, k, b]
                        if mode != BETWEEN and b > a:
                            for i in range(d):
                                for k in range(d):
                                    data[slots[e, b, i, a] + k] += matrix[a, k, i, b]

    return stiffness


@njit(cache=True, inline="always")
def _places(
    cell: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    mode: int,
    first: np.ndarray,
    second: np.ndarray,
) -> None:
    """Positions (k, d) of the nodes of a cell; the second are those of the mean where the mode says so."""
    size, d = first.shape
    for a in range(size):
        for i in range(d):
            second[a, i] = after[cell[a], i]
            if mode != PLAIN:
                first[a, i] = before[cell[a], i]
                if mode == MEAN:
                    second[a, i] = 0.5 * (first[a, i] + second[a, i])


@njit(cache=True, inline="always")
def _deformation(shape: np.ndarray, place: np.ndarray, found: np.ndarray) -> None:
    """F (d, d)."""
    size, d = shape.shape
    for i in range(d):
        for j in range(d):
            total = 0.0
            for a in range(size):
                total += place[a, i] * shape[a, j]
            found[i, j] = total


@njit(cache=True, inline="always")
def _metric(strain: np.ndarray, found: np.ndarray) -> None:
    """π (6,) of F (d, d)."""
    d = strain.shape[0]
    if d == 2:
        found[2], found[4], found[5] = 1.0, 0.0, 0.0
    for i in range(d):
        for j in range(i, d):
            total = 0.0
            for k in range(d):
                total += strain[k, i] * strain[k, j]
            found[PLACE[i, j]] = total if i == j else 2.0 * total


@njit(cache=True, inline="always")
def _elasticity(
    left: np.ndarray,
    right: np.ndarray,
    modulus: np.ndarray,
    pull: np.ndarray,
    scale: float,
    carried: np.ndarray,
    found: np.ndarray,
) -> None:
    """𝔸 (d, d, d, d) times ``scale``."""
    d = left.shape[0]
    for i in range(d):
        for j in range(d):
            for x in range(6):
                total = 0.0
                for k in range(d):
                    total += left[i, k] * modulus[PLACE[k, j], x]
                carried[i, j, x] = scale * total
    for i in range(d):
        for j in range(d):
            for k in range(d):
                for m in range(d):
                    total = 0.0
                    for n in range(d):
                        total += carried[i, j, PLACE[n, m]] * right[k, n]
                    found[i, j, k, m] = total
            for m in range(d):
                found[i, j, i, m] += scale * pull[PLACE[j, m]]
