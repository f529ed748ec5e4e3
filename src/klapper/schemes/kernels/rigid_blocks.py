"""Sparse matrices of 6 × 6 blocks, one for each pair of bodies that touch: A = 1 + Σ_i G_iᵀ D_i G_i.

Systems with A are solved by stabilised biconjugate gradients with an incomplete factorisation that keeps the pattern.
Rows of blocks lie one after the other; ``Pattern.where`` tells where the four blocks of a contact are.

van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631-644; Meijerink & van der Vorst, Math. Comp. 31 (1977) 148-162.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_tables import BODY_A, BODY_B

_fast = {"contract"}
_N = 6  # rows of a block


class Pattern(NamedTuple):
    """Where the blocks are, of n bodies.

    ``start``   (n + 1,) of each row of blocks in the list of blocks
    ``column``  (k,) of each block, rising in a row
    ``middle``  (n,) the diagonal blocks
    ``where``   (contacts, 4) blocks aa, bb, ab, ba of each contact; −1 where a body is the ground
    """

    start: np.ndarray
    column: np.ndarray
    middle: np.ndarray
    where: np.ndarray


@njit(cache=True)
def _neighbours(link: np.ndarray, count: int, ground: int) -> tuple[np.ndarray, np.ndarray]:
    """Start (n + 1,) and members of the rising list of each body's partners, itself among them."""
    first = np.zeros(ground + 1, np.int64)
    for i in range(count):
        a, b = link[i, BODY_A], link[i, BODY_B]
        if a < ground and b < ground:
            first[a + 1] += 1
            first[b + 1] += 1
    for a in range(ground):
        first[a + 1] += first[a] + 1
    every, filled = np.empty(first[ground], np.int64), first[:ground].copy()
    for a in range(ground):
        every[filled[a]] = a
        filled[a] += 1
    for i in range(count):
        a, b = link[i, BODY_A], link[i, BODY_B]
        if a < ground and b < ground:
            every[filled[a]], every[filled[b]] = b, a
            filled[a] += 1
            filled[b] += 1
    start, found = np.zeros(ground + 1, np.int64), 0
    for a in range(ground):
        row = np.sort(every[first[a] : first[a + 1]])
        for k in range(row.size):
            if k == 0 or row[k] != row[k - 1]:
                every[found] = row[k]
                found += 1
        start[a + 1] = found
    return start, every[:found].copy()


@njit(cache=True)
def pattern_of(link: np.ndarray, count: int, ground: int) -> Pattern:
    """The pattern of the bodies 0 … ground − 1 that the first ``count`` contacts link."""
    start, column = _neighbours(link, count, ground)
    middle = np.empty(ground, np.int64)
    for a in range(ground):
        middle[a] = start[a] + np.searchsorted(column[start[a] : start[a + 1]], a)
    where = np.full((count, 4), -1, np.int64)
    for i in range(count):
        a, b = link[i, BODY_A], link[i, BODY_B]
        if a < ground:
            where[i, 0] = middle[a]
        if b < ground:
            where[i, 1] = middle[b]
        if a < ground and b < ground:
            where[i, 2] = start[a] + np.searchsorted(column[start[a] : start[a + 1]], b)
            where[i, 3] = start[b] + np.searchsorted(column[start[b] : start[b + 1]], a)
    return Pattern(start, column, middle, where)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def assemble(pattern: Pattern, lever: np.ndarray, slope: np.ndarray, blocks: np.ndarray) -> None:
    """Blocks (k, 6, 6) of 1 + Σ Gᵀ D G from G (m, 2, 3, 6), by sides, and D (m, 3, 3)."""
    middle, where = pattern.middle, pattern.where
    product = np.empty((3, _N))
    for k in range(blocks.shape[0]):
        for r in range(_N):
            for c in range(_N):
                blocks[k, r, c] = 0.0
    for a in range(middle.size):
        for c in range(_N):
            blocks[middle[a], c, c] = 1.0
    for i in range(where.shape[0]):
        for side in range(2):
            if where[i, side] < 0:
                continue
            for p in range(3):
                for c in range(_N):
                    product[p, c] = (
                        slope[i, p, 0] * lever[i, side, 0, c]
                        + slope[i, p, 1] * lever[i, side, 1, c]
                        + slope[i, p, 2] * lever[i, side, 2, c]
                    )
            for row in range(2):
                k = where[i, side] if row == side else where[i, 2 + row]
                if k < 0:
                    continue
                for r in range(_N):
                    for c in range(_N):
                        blocks[k, r, c] += (
                            lever[i, row, 0, r] * product[0, c]
                            + lever[i, row, 1, r] * product[1, c]
                            + lever[i, row, 2, r] * product[2, c]
                        )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _invert(block: np.ndarray, inverse: np.ndarray) -> None:
    """Inverse (6, 6) by Gauss and Jordan with row exchanges; destroys the block."""
    for r in range(_N):
        for c in range(_N):
            inverse[r, c] = 1.0 if r == c else 0.0
    for k in range(_N):
        largest = k
        for r in range(k + 1, _N):
            if abs(block[r, k]) > abs(block[largest, k]):
                largest = r
        if largest != k:
            for c in range(_N):
                block[k, c], block[largest, c] = block[largest, c], block[k, c]
                inverse[k, c], inverse[largest, c] = inverse[largest, c], inverse[k, c]
        pivot = 1.0 / block[k, k]
        for c in range(_N):
            block[k, c] *= pivot
            inverse[k, c] *= pivot
        for r in range(_N):
            part = block[r, k]
            if r != k and part != 0.0:
                for c in range(_N):
                    block[r, c] -= part * block[k, c]
                    inverse[r, c] -= part * inverse[k, c]


class Factor(NamedTuple):
    """Room for A ≈ (1 + L) U with rows in another order: L below the diagonal, U above it, its inverse on it.

    ``start``, ``column``, ``middle``  as of a pattern, in the new order
    ``rank``    (n,) new number of each body
    ``target``  (k,) place of each block of A
    ``values``  (blocks, 6, 6)
    """

    start: np.ndarray
    column: np.ndarray
    middle: np.ndarray
    rank: np.ndarray
    target: np.ndarray
    values: np.ndarray


@njit(cache=True)
def incomplete(pattern: Pattern) -> Factor:
    """Factors that keep order and pattern of A."""
    return Factor(
        pattern.start,
        pattern.column,
        pattern.middle,
        np.arange(pattern.middle.size),
        np.arange(pattern.column.size),
        np.empty((pattern.column.size, _N, _N)),
    )


@njit(cache=True)
def complete(pattern: Pattern) -> Factor:
    """Exact factors, in the order of least degree; takes n² bits of room and time for their pattern."""
    start, column = pattern.start, pattern.column
    n = pattern.middle.size
    linked = np.zeros((n, n), np.bool_)
    degree, rank = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    for a in range(n):
        degree[a] = start[a + 1] - start[a] - 1
        for k in range(start[a], start[a + 1]):
            linked[a, column[k]] = True
    near, blocks = np.empty(n, np.int64), n
    for number in range(n):
        least = -1
        for a in range(n):
            if rank[a] < 0 and (least < 0 or degree[a] < degree[least]):
                least = a
        rank[least], count = number, 0
        for b in range(n):
            if linked[least, b] and rank[b] < 0:
                near[count] = b
                count += 1
        blocks += 2 * count
        for j in range(count):
            b = near[j]
            degree[b] -= 1
            for k in range(j):
                c = near[k]
                if not linked[b, c]:
                    linked[b, c] = linked[c, b] = True
                    degree[b] += 1
                    degree[c] += 1
    order = np.argsort(rank)
    first, members, middle = np.zeros(n + 1, np.int64), np.empty(blocks, np.int64), np.empty(n, np.int64)
    found = 0
    for a in range(n):
        for b in range(n):
            if linked[order[a], order[b]]:
                if a == b:
                    middle[a] = found
                members[found] = b
                found += 1
        first[a + 1] = found
    target = np.empty(column.size, np.int64)
    for a in range(n):
        row = rank[a]
        for k in range(start[a], start[a + 1]):
            target[k] = first[row] + np.searchsorted(members[first[row] : first[row + 1]], rank[column[k]])
    return Factor(first, members, middle, rank, target, np.empty((blocks, _N, _N)))


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def _subtract_product(left: np.ndarray, right: np.ndarray, target: np.ndarray) -> None:
    """C −= A B."""
    for r in range(_N):
        for j in range(_N):
            part = left[r, j]
            for c in range(_N):
                target[r, c] -= part * right[j, c]


@njit(cache=True, fastmath=_fast, error_model="numpy")
def factorise(blocks: np.ndarray, factor: Factor) -> None:
    """Set the values of the factors from the blocks of A; fill beyond their pattern is dropped."""
    start, column, middle, values = factor.start, factor.column, factor.middle, factor.values
    place = np.full(middle.size, -1, np.int64)
    block, other = np.empty((_N, _N)), np.empty((_N, _N))
    values[:] = 0.0
    for k in range(blocks.shape[0]):
        values[factor.target[k]] = blocks[k]
    for a in range(middle.size):
        for k in range(start[a], start[a + 1]):
            place[column[k]] = k
        for k in range(start[a], middle[a]):
            b = column[k]
            block[:] = 0.0
            _subtract_product(values[k], values[middle[b]], block)
            for r in range(_N):
                for c in range(_N):
                    values[k, r, c] = -block[r, c]
            for n in range(middle[b] + 1, start[b + 1]):
                target = place[column[n]]
                if target >= 0:
                    _subtract_product(values[k], values[n], values[target])
        block[:] = values[middle[a]]
        _invert(block, other)
        values[middle[a]] = other
        for k in range(start[a], start[a + 1]):
            place[column[k]] = -1


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def _subtract(block: np.ndarray, x: np.ndarray, b: int, y: np.ndarray, a: int) -> None:
    """y_a −= A_ab x_b."""
    for r in range(_N):
        total = 0.0
        for c in range(_N):
            total += block[r, c] * x[b, c]
        y[a, r] -= total


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _undo(factor: Factor, x: np.ndarray, work: np.ndarray, y: np.ndarray) -> None:
    """y = U⁻¹ (1 + L)⁻¹ x; all (n, 6)."""
    start, column, middle, rank, values = (
        factor.start,
        factor.column,
        factor.middle,
        factor.rank,
        factor.values,
    )
    right = np.empty(_N)
    for a in range(middle.size):
        for r in range(_N):
            work[rank[a], r] = x[a, r]
    for a in range(middle.size):
        for k in range(start[a], middle[a]):
            _subtract(values[k], work, column[k], work, a)
    for a in range(middle.size - 1, -1, -1):
        for k in range(middle[a] + 1, start[a + 1]):
            _subtract(values[k], work, column[k], work, a)
        for r in range(_N):
            right[r] = work[a, r]
        for r in range(_N):
            total = 0.0
            for c in range(_N):
                total += values[middle[a], r, c] * right[c]
            work[a, r] = total
    for a in range(middle.size):
        for r in range(_N):
            y[a, r] = work[rank[a], r]


@njit(cache=True, fastmath=_fast, error_model="numpy")
def multiply(pattern: Pattern, blocks: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """y = A x, all (n, 6)."""
    start, column = pattern.start, pattern.column
    for a in range(start.size - 1):
        for r in range(_N):
            y[a, r] = 0.0
        for k in range(start[a], start[a + 1]):
            b = column[k]
            for r in range(_N):
                total = 0.0
                for c in range(_N):
                    total += blocks[k, r, c] * x[b, c]
                y[a, r] += total


@njit(cache=True, fastmath=_fast, error_model="numpy")
def dot(x: np.ndarray, y: np.ndarray) -> float:
    """Σ x y of two arrays (n, 6)."""
    total = 0.0
    for a in range(x.shape[0]):
        for c in range(_N):
            total += x[a, c] * y[a, c]
    return total


@njit(cache=True, fastmath=_fast, error_model="numpy")
def solve_blocks(
    pattern: Pattern,
    blocks: np.ndarray,
    factor: Factor,
    right: np.ndarray,
    tolerance: float,
    most: int,
    x: np.ndarray,
) -> int:
    """x (n, 6) with |b − A x| ≤ tolerance |b|; returns the number of iterations, −1 if ``most`` were not enough."""
    r, shadow, p, v = right.copy(), right.copy(), np.zeros_like(right), np.zeros_like(right)
    p_hat, r_hat, t = np.empty_like(right), np.empty_like(right), np.empty_like(right)
    work = np.empty_like(right)
    for a in range(x.shape[0]):
        for c in range(_N):
            x[a, c] = 0.0
    goal = tolerance * math.sqrt(dot(right, right))
    if goal == 0.0:
        return 0
    last, alpha, omega = 1.0, 1.0, 1.0
    for k in range(1, most + 1):
        product = dot(shadow, r)
        beta = product / last * (alpha / omega)
        last = product
        for a in range(x.shape[0]):
            for c in range(_N):
                p[a, c] = r[a, c] + beta * (p[a, c] - omega * v[a, c])
        _undo(factor, p, work, p_hat)
        multiply(pattern, blocks, p_hat, v)
        alpha = product / dot(shadow, v)
        for a in range(x.shape[0]):
            for c in range(_N):
                r[a, c] -= alpha * v[a, c]
        _undo(factor, r, work, r_hat)
        multiply(pattern, blocks, r_hat, t)
        square = dot(t, t)
        omega = dot(t, r) / square if square > 0.0 else 0.0
        for a in range(x.shape[0]):
            for c in range(_N):
                x[a, c] += alpha * p_hat[a, c] + omega * r_hat[a, c]
                r[a, c] -= omega * t[a, c]
        left = math.sqrt(dot(r, r))
        if left <= goal:
            return k
        if not math.isfinite(left) or omega == 0.0:
            return -1
    return -1
