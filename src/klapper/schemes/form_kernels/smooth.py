"""Contact problems without friction, 0 ≤ x ⟂ W x + b ≥ 0, by exchange of contacts.

    x_F = −W_FF⁻¹ b_F > 0,   y = b + W x ≥ 0 elsewhere

The loaded contacts F of the last step are tried first. All wrong ones are exchanged at once (Júdice & Pires 1994) while
their number falls, then the last one only (Murty 1974), which ends for every P-matrix. Where contacts depend on each
other, one that would make W_FF singular is left out: its velocity follows from those of the others. Where that runs in
circles, W gets a small diagonal, with which the exchange ends, and is solved with it again and again from the last
answer (proximal point iteration).
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.form_kernels.compiling import apart, bare
from klapper.schemes.form_kernels.inverse import lu_solve

_ROUND_OFF = 1e-12  # of the terms of a velocity: what counts as none
_DEPENDENT = 1e-10  # of a diagonal entry: pivot below which a contact depends on others
_PATIENCE = 4
_ROUNDS = 40
_NEARNESS = 1e-6  # small diagonal, relative to that of W
_FINE = 1e-14  # residual at which the iteration with it ends


@bare
def independent(
    matrix: np.ndarray, member: np.ndarray, chosen: np.ndarray, factor: np.ndarray, order: np.ndarray
) -> int:
    """Factors of W over the members that do not depend on earlier ones; their number, they stand in ``chosen``.

    Elimination without exchange of rows: W is positive semidefinite but for a skew part.
    """
    size = 0
    for i in range(member.size):
        if member[i] == 0:
            continue
        for c in range(size):
            factor[size, c] = matrix[i, chosen[c]]
            factor[c, size] = matrix[chosen[c], i]
        factor[size, size] = matrix[i, i]
        for c in range(size):
            for k in range(c):
                factor[size, c] -= factor[size, k] * factor[k, c]
            factor[size, c] /= factor[c, c]
        for c in range(size):
            for k in range(c):
                factor[c, size] -= factor[c, k] * factor[k, size]
        for k in range(size):
            factor[size, size] -= factor[size, k] * factor[k, size]
        if factor[size, size] > _DEPENDENT * matrix[i, i]:
            chosen[size], order[size] = i, size
            size += 1
    return size


@bare
def room_for_smooth(rows: int) -> int:
    """Numbers that :func:`solve_smooth` works with."""
    return rows * (rows + 5)


@bare
def places_for_smooth(rows: int) -> int:
    return 3 * rows


@apart
def solve_smooth(
    matrix: np.ndarray, offset: np.ndarray, x: np.ndarray, work: np.ndarray, places: np.ndarray
) -> float:
    """The answer, from the guess in ``x``; returns the relative residual, infinite where none was found."""
    n = offset.size
    shifted, rest = work[:n], work[n:]
    for i in range(n):
        shifted[i] = x[i]
    residual = _exchanged(matrix, offset, x, rest, places)
    if residual < np.inf:
        return residual
    for i in range(n):
        x[i] = shifted[i]
        matrix[i, i] *= 1.0 + _NEARNESS
    for _ in range(_ROUNDS):
        for i in range(n):
            shifted[i] = offset[i] - _NEARNESS / (1.0 + _NEARNESS) * matrix[i, i] * x[i]
        if not _exchanged(matrix, shifted, x, rest, places) < np.inf:
            residual = np.inf
            break
        residual = _residual(matrix, offset, x)
        if residual <= _FINE:
            break
    for i in range(n):
        matrix[i, i] /= 1.0 + _NEARNESS
    return residual


@bare
def _residual(matrix: np.ndarray, offset: np.ndarray, x: np.ndarray) -> float:
    """Relative residual of W x + b; W stands there with the small diagonal."""
    worst = 0.0
    for i in range(x.size):
        y, terms = offset[i], abs(offset[i])
        for j in range(x.size):
            term = matrix[i, j] * x[j]
            if i == j:
                term /= 1.0 + _NEARNESS
            y += term
            terms += abs(term)
        if terms > 0.0:
            worst = max(worst, (abs(y) if x[i] > 0.0 else max(-y, 0.0)) / terms)
    return worst


@bare
def _exchanged(
    matrix: np.ndarray, offset: np.ndarray, x: np.ndarray, work: np.ndarray, places: np.ndarray
) -> float:
    """The same by exchange alone."""
    n = offset.size
    member, chosen, order = places[:n], places[n : 2 * n], places[2 * n : 3 * n]
    factor = work[: n * n].reshape((n, n))
    right, force = work[n * n : n * n + n], work[n * n + n : n * n + 2 * n]
    y, terms = work[n * n + 2 * n : n * n + 3 * n], work[n * n + 3 * n : n * n + 4 * n]
    for i in range(n):
        member[i] = 1 if x[i] > 0.0 else 0
    fewest, patience = n + 1, _PATIENCE
    for _ in range(_ROUNDS + 10 * n):
        size = independent(matrix, member, chosen, factor, order)
        for c in range(size):
            right[c] = -offset[chosen[c]]
        lu_solve(factor[:size, :size], order[:size], right, force[:size])
        for i in range(n):
            x[i] = 0.0
            y[i] = offset[i]
            terms[i] = abs(offset[i])
        for c in range(size):
            x[chosen[c]] = force[c]
            for i in range(n):
                term = matrix[i, chosen[c]] * force[c]
                y[i] += term
                terms[i] += abs(term)
        wrong, last, residual = 0, -1, 0.0
        for i in range(n):
            loaded = x[i] != 0.0
            if (loaded and x[i] < 0.0) or (not loaded and y[i] < -_ROUND_OFF * terms[i]):
                wrong, last = wrong + 1, i
            elif terms[i] > 0.0:
                residual = max(residual, (abs(y[i]) if loaded else max(-y[i], 0.0)) / terms[i])
        if wrong == 0:
            return residual
        if wrong < fewest:
            fewest, patience = wrong, _PATIENCE
        else:
            patience -= 1
        for i in range(n):
            loaded = x[i] != 0.0
            flips = (loaded and x[i] < 0.0) or (not loaded and y[i] < -_ROUND_OFF * terms[i])
            if flips and (patience >= 0 or i == last):
                loaded = not loaded
            member[i] = 1 if loaded else 0
    return np.inf
