"""Normal impulses of contacts without friction whose matrix is not symmetric: exchange with LU factors.

As :mod:`klapper.schemes.kernels.linear_contacts`; the factors of W_FF are made anew whenever F changes.
"""

from __future__ import annotations

import numpy as np

from klapper.complementarity.kernels.linear import factorise, substitute
from klapper.machine_code import njit
from klapper.schemes.kernels.linear_contacts import Basis, give, judge, opened

_DEPENDENT = 1e-10  # of a diagonal entry: pivot below which contacts are taken to depend on each other


@njit(cache=True, error_model="numpy")
def solve_unsymmetric(
    delassus: np.ndarray,
    laws: np.ndarray,
    step: float,
    tolerance: float,
    active: np.ndarray,
    b: np.ndarray,
    places: np.ndarray,
    numbers: np.ndarray,
    impulse: np.ndarray,
) -> float:
    """By exchange of contacts alone."""
    basis, m = opened(places, numbers, active, b), delassus.shape[0]
    load, swapped = np.empty(m), np.empty(m, np.int64)
    fewest, patience = m + 1, 3
    for _ in range(60):
        if not factors(delassus, basis, swapped):
            return np.inf
        size = basis.size[0]
        for r in range(size):
            load[r] = -basis.right[basis.order[r]]
        substitute(basis.lower[:size, :size], swapped[:size], load[:size], basis.x)
        residual, wrong = judge(delassus, basis)
        if wrong == 0:
            if residual <= tolerance:
                give(basis, active, impulse)
            return residual
        if wrong < fewest:
            fewest, patience = wrong, 3
        else:
            patience -= 1
            if patience < 0:
                break
    return np.inf


@njit(cache=True, error_model="numpy")
def factors(matrix: np.ndarray, basis: Basis, swapped: np.ndarray) -> bool:
    """L and U of the block of the members that take part; False if they depend on each other."""
    size, order, lu = 0, basis.order, basis.lower
    for i in range(basis.member.size):
        if basis.right[i] == np.inf:
            basis.member[i] = 0
        elif basis.member[i] > 0:
            order[size] = i
            size += 1
    basis.size[0] = size
    least = np.inf
    for r in range(size):
        least = min(least, abs(matrix[order[r], order[r]]))
        for c in range(size):
            lu[r, c] = matrix[order[r], order[c]]
    if not factorise(lu[:size, :size], swapped[:size]):
        return False
    smallest = np.inf
    for r in range(size):
        smallest = min(smallest, abs(lu[r, r]))
    return size == 0 or smallest > _DEPENDENT * least
