"""Contact problems of one step whose matrix is the same in every step.

Without friction the loaded contacts F of the last step are tried first, with the Cholesky factor of their block W_FF:

    x_F = −W_FF⁻¹ b_F > 0,   y = b + W x ≥ 0 elsewhere

All wrong contacts are exchanged at once (Júdice & Pires) by adding rows to the factor or rotating them out of it: a
step in which nothing changes costs no factorisation, one in which few contacts change no new one. What does not settle
in this way is solved from the start, among the contacts that press or would penetrate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from klapper.complementarity.kernels.active_set import append, cholesky_solve, remove
from klapper.complementarity.kernels.batch import solve_one
from klapper.complementarity.kernels.contact_blocks import ContactBlocks, columns_from_dense, local_data
from klapper.complementarity.kernels.contact_local import solve_contact
from klapper.complementarity.kernels.contact_sweep import gauss_seidel
from klapper.schemes.kernels.linear_form import LinearForm

_DEPENDENT = 1e-10  # of a diagonal entry: pivot below which a contact is taken to depend on others
_ROUND_OFF = 1e-12  # of the terms of a velocity: what counts as none
_WORN = 1e-13  # residual beyond which a factor that was changed often is made anew
_FINE = 0.5e-13  # residual that sweeps aim at
_QUICK_SWEEPS = 300


class Basis(NamedTuple):
    """The loaded contacts of the last steps with the Cholesky factor of their Delassus matrix, and room to work.

    ``order``   (m,) contacts in the order of the factor
    ``member``  (m,) whether a contact is among them
    ``lower``   (m, m)
    ``size``    (1,) their number
    ``x``, ``y``, ``terms``, ``leaving``   (m,) impulses, velocities, sizes of their terms, contacts that let go
    """

    order: np.ndarray
    member: np.ndarray
    lower: np.ndarray
    size: np.ndarray
    x: np.ndarray
    y: np.ndarray
    terms: np.ndarray
    leaving: np.ndarray


@njit(cache=True)
def new_basis(contacts: int, impulse: np.ndarray) -> Basis:
    """The contacts that ``impulse`` (m, w) loads, still without a factor."""
    basis = Basis(
        np.zeros(contacts, np.int64),
        np.zeros(contacts, np.bool_),
        np.zeros((contacts, contacts)),
        np.zeros(1, np.int64),
        np.empty(contacts),
        np.empty(contacts),
        np.empty(contacts),
        np.zeros(contacts, np.bool_),
    )
    for i in range(contacts):
        basis.member[i] = impulse[i, 0] > 0.0
    return basis


@njit(cache=True)
def solve_smooth(
    model: LinearForm,
    active: np.ndarray,
    right: np.ndarray,
    tolerance: float,
    basis: Basis,
    impulse: np.ndarray,
) -> tuple[float, bool]:
    """Normal impulses of the ``active`` contacts without friction, w = 1; returns (residual, whether it is solved).

    ``right`` (m,) free velocities b, infinite where a contact does not take part; ``impulse`` (m, 1) holds the guess
    """
    if model.symmetric:
        residual = exchange(model.delassus, right, basis)
        if residual <= tolerance:
            for k in range(active.size):
                impulse[active[k], 0] = 0.0
            for r in range(basis.size[0]):
                impulse[basis.order[r], 0] = basis.x[r]
            return residual, True
    residual, solved = solve_afresh(model, active, right, tolerance, impulse)
    basis.size[0] = 0
    for i in range(right.size):
        basis.member[i] = impulse[i, 0] > 0.0
    return residual, solved


@njit(cache=True)
def exchange(matrix: np.ndarray, right: np.ndarray, basis: Basis) -> float:
    """Exchange contacts until all signs are right; returns the residual, infinite if that did not come about."""
    order, member, lower, leaving = basis.order, basis.member, basis.lower, basis.leaving
    for r in range(basis.size[0] - 1, -1, -1):
        if right[order[r]] == np.inf:
            member[order[r]] = False
            remove(lower, order, basis.size[0], r)
            basis.size[0] -= 1
    for i in range(right.size):
        member[i] = member[i] and right[i] < np.inf
    if not complete(matrix, basis):
        return np.inf
    fewest, patience, renewed = right.size + 1, 3, False
    for _ in range(60):
        size = basis.size[0]
        residual, wrong = judge(matrix, right, basis)
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
                if leaving[r]:
                    remove(lower, order, basis.size[0], r)
                    basis.size[0] -= 1
        if not complete(matrix, basis):
            return np.inf
    return np.inf


@njit(cache=True)
def complete(matrix: np.ndarray, basis: Basis) -> bool:
    """Add the members that the factor does not have; False if one depends on the others."""
    known = np.zeros(basis.member.size, np.bool_)
    for r in range(basis.size[0]):
        known[basis.order[r]] = True
    for i in range(basis.member.size):
        if basis.member[i] and not known[i]:
            size = basis.size[0]
            append(matrix, basis.lower, basis.order, size, i)
            if not basis.lower[size, size] ** 2 > _DEPENDENT * matrix[i, i]:
                return False
            basis.size[0] += 1
    return True


@njit(cache=True)
def judge(matrix: np.ndarray, right: np.ndarray, basis: Basis) -> tuple[float, int]:
    """Impulses of the members and velocities of all; returns (relative residual, number of wrong signs).

    Members that pull are marked as ``leaving`` and lose their membership, contacts that would penetrate become members.
    """
    size, order, x, y, terms = basis.size[0], basis.order, basis.x, basis.y, basis.terms
    for r in range(size):
        x[r] = -right[order[r]]
    cholesky_solve(basis.lower, size, x)
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
        basis.leaving[r] = not x[r] > 0.0
        if terms[i] > 0.0:
            residual = max(residual, abs(y[i]) / terms[i])
        wrong += basis.leaving[r]
    for i in range(right.size):
        if not basis.member[i] and y[i] < 0.0:
            if y[i] < -_ROUND_OFF * terms[i]:
                basis.member[i] = True
                wrong += 1
            else:
                residual = max(residual, -y[i] / terms[i])
    for r in range(size):
        if basis.leaving[r]:
            basis.member[order[r]] = False
    return residual, wrong


@njit(cache=True)
def solve_afresh(
    model: LinearForm, active: np.ndarray, right: np.ndarray, tolerance: float, impulse: np.ndarray
) -> tuple[float, bool]:
    """The problem among the contacts that press or would penetrate, with more of them until no other one would."""
    chosen = np.zeros(right.size, np.bool_)
    count = 0
    for k in range(active.size):
        i = active[k]
        chosen[i] = right[i] < 0.0 or impulse[i, 0] > 0.0
        count += chosen[i]
    while True:
        among = np.flatnonzero(chosen)
        matrix, offset = np.empty((count, count)), np.empty(count)
        start, x = np.empty(count, np.bool_), np.empty(count)
        for k in range(count):
            offset[k] = right[among[k]]
            start[k] = impulse[among[k], 0] > 0.0
            for j in range(count):
                matrix[k, j] = model.delassus[among[k], among[j]]
        status, _, _, residual = solve_one(matrix, offset, start, tolerance, x)
        for k in range(active.size):
            impulse[active[k], 0] = 0.0
        if status != 0:
            return residual, False
        for k in range(count):
            impulse[among[k], 0] = x[k]
        missing = 0
        for k in range(active.size):
            i = active[k]
            if not chosen[i]:
                y, terms = right[i], abs(right[i])
                for j in range(count):
                    term = model.delassus[i, among[j]] * x[j]
                    y += term
                    terms += abs(term)
                if y < -_ROUND_OFF * terms:
                    chosen[i] = True
                    missing += 1
                elif y < 0.0:
                    residual = max(residual, -y / terms)
        if missing == 0:
            return residual, residual <= tolerance
        count += missing


@njit(cache=True)
def solve_rough(
    model: LinearForm, active: np.ndarray, b: np.ndarray, tolerance: float, impulse: np.ndarray
) -> tuple[float, bool]:
    """Impulses of the ``active`` contacts with friction; the guess is in ``impulse`` (m, w)."""
    count, width = active.size, model.width
    if count == 1 and model.has_normal[active[0]]:
        return _solve_single(model, active[0], b, impulse)
    rows = np.full((count, 3), -1, np.int64)
    matrix = np.empty((count * width, count * width))
    free, force = np.zeros(3 * count), np.zeros(3 * count)
    kind, limit, friction = np.zeros(count, np.int8), np.empty(count), np.empty(count)
    for k in range(count):
        i = active[k]
        first = 0 if model.has_normal[i] else 1
        kind[k] = 0 if model.has_normal[i] else 1
        limit[k], friction[k] = model.limit[i] * model.step, model.friction[i]
        for a in range(first, width):
            rows[k, a] = k * width + a
            free[3 * k + a] = b[k * width + a]
            force[3 * k + a] = impulse[i, a]
        for a in range(width):
            for j in range(count):
                for c in range(width):
                    matrix[k * width + a, j * width + c] = model.delassus[
                        i * width + a, active[j] * width + c
                    ]
    start, neighbour, push = columns_from_dense(matrix, rows)
    own, schur, tangent, mobility = local_data(start, neighbour, push)
    softest = mobility.max()
    for k in range(count):
        for a in range(2):
            if mobility[k, a] == 0.0:
                mobility[k, a] = softest
    blocks = ContactBlocks(
        start,
        neighbour,
        push,
        own,
        schur,
        tangent,
        mobility,
        kind,
        friction,
        limit,
        np.zeros(count + 1, np.int64),
        np.zeros(0, np.int64),
        np.zeros(0),
        free,
        0,
    )
    _, residual = gauss_seidel(blocks, force, 1.3, 5, _FINE, _QUICK_SWEEPS)
    for k in range(count):
        for a in range(width):
            impulse[active[k], a] = force[3 * k + a]
    return residual, residual <= tolerance


@njit(cache=True)
def _solve_single(model: LinearForm, i: int, b: np.ndarray, impulse: np.ndarray) -> tuple[float, bool]:
    w = np.zeros((1, 9))
    q = np.zeros(3)
    for a in range(model.width):
        q[a] = b[a]
        for c in range(model.width):
            w[0, 3 * a + c] = model.delassus[i * model.width + a, i * model.width + c]
    _, schur, tangent, _ = local_data(np.array([0, 1]), np.array([0]), w)
    s, t = schur[0], tangent[0]
    normal, first, second, _ = solve_contact(
        (q[0], q[1], q[2]),
        (w[0, 0], w[0, 1], w[0, 2]),
        (s[0], s[1], s[2], s[3]),
        (t[0], t[1], t[2], t[3]),
        model.friction[i],
        model.limit[i] * model.step,
        0.0,
    )
    impulse[i, 0], impulse[i, 1] = normal, first
    if model.width == 3:
        impulse[i, 2] = second
    return 0.0, np.isfinite(normal) and w[0, 0] > 0.0
