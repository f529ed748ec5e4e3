"""Normal impulses of contacts without friction whose matrix is the same in every step.

The loaded contacts F of the last step are tried first, with the Cholesky factor of their block W_FF:

    x_F = −W_FF⁻¹ b_F > 0,   y = b + W x ≥ 0 elsewhere

All wrong contacts are exchanged at once (Júdice & Pires) by adding rows to the factor or rotating them out of it: a
step in which nothing changes costs no factorisation, one in which few contacts change no new one.

A solver is ``solve(delassus, laws, h, tolerance, active, b, places, numbers, impulse)`` and returns the relative
residual, infinite if it found no answer:

    ``delassus``   (m w, m w), and ``laws`` (5, m) as in :class:`klapper.schemes.kernels.linear_form.LinearForm`
    ``active``     (c,) contacts of the step, and ``b`` (c w,) their free velocities [m/s]
    ``impulse``    (m, w) [N s], in: those of the step before; out: those of the active contacts
    ``places``, ``numbers``   what a solver keeps from step to step, see :class:`Basis`; each call of the loop begins
                   with a basis without a factor
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64

from klapper.complementarity.kernels.active_set import append, cholesky_solve, remove
from klapper.machine_code import njit

SOLVE = float64(
    float64[:, ::1],
    float64[:, ::1],
    float64,
    float64,
    int64[::1],
    float64[::1],
    int64[:, ::1],
    float64[:, ::1],
    float64[:, ::1],
)
_DEPENDENT = 1e-10  # of a diagonal entry: pivot below which a contact is taken to depend on others
ROUND_OFF = 1e-12  # of the terms of a velocity: what counts as none
_WORN = 1e-13  # residual beyond which a factor that was changed often is made anew


class Basis(NamedTuple):
    """The loaded contacts of the last steps with the Cholesky factor of their Delassus matrix, and room to work.

    ``order``   (m,) contacts in the order of the factor
    ``member``  (m,) whether a contact is among them
    ``leaving`` (m,) contacts that let go
    ``size``    (m,) their number in the first place
    ``lower``   (m, m)
    ``right``, ``x``, ``y``, ``terms``   (m,) free velocities, infinite where a contact takes no part, impulses,
                velocities, sizes of their terms
    """

    order: np.ndarray
    member: np.ndarray
    leaving: np.ndarray
    size: np.ndarray
    lower: np.ndarray
    right: np.ndarray
    x: np.ndarray
    y: np.ndarray
    terms: np.ndarray


def new_basis(impulse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (4, m) and numbers (m + 4, m) of a basis of the contacts that ``impulse`` (m, w) loads, no factor yet."""
    m = len(impulse)
    places = np.zeros((4, m), dtype=np.int64)
    places[1] = impulse[:, 0] > 0.0
    return places, np.zeros((m + 4, m))


@njit(cache=True, error_model="numpy")
def solve_smooth(
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
    """By exchange of contacts alone, for a symmetric matrix."""
    basis = opened(places, numbers, active, b)
    residual = exchange(delassus, basis)
    if residual <= tolerance:
        give(basis, active, impulse)
    return residual


@njit(cache=True, error_model="numpy")
def opened(places: np.ndarray, numbers: np.ndarray, active: np.ndarray, b: np.ndarray) -> Basis:
    """The basis in the memory of a solver, with the free velocities of a step."""
    m = places.shape[1]
    lower, right = numbers[:m], numbers[m]
    for i in range(m):
        right[i] = np.inf
    for k in range(active.size):
        right[active[k]] = b[k]
    return Basis(
        places[0],
        places[1],
        places[2],
        places[3],
        lower,
        right,
        numbers[m + 1],
        numbers[m + 2],
        numbers[m + 3],
    )


@njit(cache=True, error_model="numpy")
def give(basis: Basis, active: np.ndarray, impulse: np.ndarray) -> None:
    """The impulses of the basis to the active contacts."""
    for k in range(active.size):
        impulse[active[k], 0] = 0.0
    for r in range(basis.size[0]):
        impulse[basis.order[r], 0] = basis.x[r]


@njit(cache=True, error_model="numpy")
def solve_nothing(
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
    """Stands where no solver is called."""
    return np.inf


@njit(cache=True, error_model="numpy")
def exchange(matrix: np.ndarray, basis: Basis) -> float:
    """Exchange contacts until all signs are right; returns the residual, infinite if that did not come about."""
    order, member, lower, leaving, right = basis.order, basis.member, basis.lower, basis.leaving, basis.right
    for r in range(basis.size[0] - 1, -1, -1):
        if right[order[r]] == np.inf:
            member[order[r]] = 0
            remove(lower, order, basis.size[0], r)
            basis.size[0] -= 1
    for i in range(right.size):
        if right[i] == np.inf:
            member[i] = 0
    if not complete(matrix, basis):
        return np.inf
    fewest, patience, renewed = right.size + 1, 3, False
    for _ in range(60):
        size = basis.size[0]
        for r in range(size):
            basis.x[r] = -right[order[r]]
        cholesky_solve(lower, size, basis.x)
        residual, wrong = judge(matrix, basis)
        if wrong == 0:
            if residual <= _WORN or renewed:
                return residual
            renewed = True
            basis.size[0] = 0
        elif wrong < fewest:
            fewest, patience = wrong, 3
        else:
            patience -= 1
            if patience < 0:
                return np.inf
        let_go = 0
        for r in range(size):
            let_go += leaving[r]
        if 3 * let_go > size:
            basis.size[0] = 0
        else:
            for r in range(size - 1, -1, -1):
                if leaving[r] > 0:
                    remove(lower, order, basis.size[0], r)
                    basis.size[0] -= 1
        if not complete(matrix, basis):
            return np.inf
    return np.inf


@njit(cache=True, error_model="numpy")
def complete(matrix: np.ndarray, basis: Basis) -> bool:
    """Add the members that the factor does not have; False if one depends on the others."""
    known = np.zeros(basis.member.size, np.bool_)
    for r in range(basis.size[0]):
        known[basis.order[r]] = True
    for i in range(basis.member.size):
        if basis.member[i] > 0 and not known[i]:
            size = basis.size[0]
            append(matrix, basis.lower, basis.order, size, i)
            if not basis.lower[size, size] ** 2 > _DEPENDENT * matrix[i, i]:
                return False
            basis.size[0] += 1
    return True


@njit(cache=True, error_model="numpy")
def judge(matrix: np.ndarray, basis: Basis) -> tuple[float, int]:
    """Velocities of all from the impulses x of the members; returns (relative residual, number of wrong signs).

    Members that pull are marked as ``leaving`` and lose their membership, contacts that would penetrate become members.
    """
    size, order, x, y, terms, right = basis.size[0], basis.order, basis.x, basis.y, basis.terms, basis.right
    for i in range(right.size):
        y[i] = right[i]
        terms[i] = abs(right[i])
    for r in range(size):
        row, force = order[r], x[r]
        for i in range(right.size):
            term = matrix[row, i] * force
            y[i] += term
            terms[i] += abs(term)
    residual, wrong = 0.0, 0
    for r in range(size):
        i = order[r]
        basis.leaving[r] = 0 if x[r] > 0.0 else 1
        if terms[i] > 0.0:
            residual = max(residual, abs(y[i]) / terms[i])
        wrong += basis.leaving[r]
    for i in range(right.size):
        if basis.member[i] == 0 and y[i] < 0.0:
            if y[i] < -ROUND_OFF * terms[i]:
                basis.member[i] = 1
                wrong += 1
            else:
                residual = max(residual, -y[i] / terms[i])
    for r in range(size):
        if basis.leaving[r] > 0:
            basis.member[order[r]] = 0
    return residual, wrong
