"""Contact problems without friction, 0 ≤ x ⟂ W x + b ≥ 0, by exchange of contacts.

    x_F = −W_FF⁻¹ b_F > 0,   y = b + W x ≥ 0 elsewhere

The loaded contacts F of the last step are tried first. All wrong ones are exchanged at once (Júdice & Pires 1994) while
their number falls, then the last one only (Murty 1974), which ends for every P-matrix. Where contacts depend on each
other, one that would make W_FF singular is left out: its velocity follows from those of the others.
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.form_kernels.compiling import bare, inner
from klapper.schemes.form_kernels.inverse import lu_solve

_ROUND_OFF = 1e-12  # of the terms of a velocity: what counts as none
_DEPENDENT = 1e-10  # of a diagonal entry: pivot below which a contact depends on others
_PATIENCE = 4
_ROUNDS = 40


@bare
def independent(
    matrix: np.ndarray, member: np.ndarray, chosen: np.ndarray, factor: np.ndarray, order: np.ndarray
) -> int:
    """Factors of W over the members that do not depend on earlier ones; their number, they stand in ``chosen``.

    Elimination without exchange of rows: W is positive semidefinite but for a skew part.
    """
    size = 0
    for i in range(member.size):
        if not member[i]:
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


@inner
def solve_smooth(matrix: np.ndarray, offset: np.ndarray, x: np.ndarray) -> float:
    """The answer, from the guess in ``x``; returns the relative residual, infinite where none was found."""
    n = offset.size
    member, chosen, order = np.empty(n, np.bool_), np.empty(n, np.int64), np.empty(n, np.int64)
    factor, right, force = np.empty((n, n)), np.empty(n), np.empty(n)
    y, terms = np.empty(n), np.empty(n)
    for i in range(n):
        member[i] = x[i] > 0.0
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
            if not flips:
                member[i] = loaded
            elif patience >= 0 or i == last:
                member[i] = not loaded
            else:
                member[i] = loaded
    return np.inf
