"""Anderson acceleration of a contact iteration x ← G(x), for iterates whose velocities are affine in x.

    minimise ‖f_k − Σ γ_i Δf_i‖ over γ,   f = G(x) − x,   x_{k+1} = G(x_k) − Σ γ_i ΔG_i
                                              Walker and Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735

Near the solution, where no contact changes its state, this is a Krylov method. Far from it an extrapolation
may mislead: if ‖f‖ grows after one, it is taken back, and the next ones wait for longer and longer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit

_LONGEST_WAIT = 16
_DEPENDENT = 1e-13
_fast = {"contract", "reassoc"}

RECORDED, STORED, PENDING, WAIT, IDLE = range(5)


class History(NamedTuple):
    """Differences of the last iterations, each (depth, n), and the latest iteration, each (n,).

    ``counter`` (5,): iterations recorded, differences stored, whether an extrapolation awaits its judgement,
    how many iterations to wait after the next failure, and how many are still to wait. ``norm`` (1,): ‖f‖².
    """

    change: np.ndarray
    image: np.ndarray
    velocity: np.ndarray
    gram: np.ndarray
    last_change: np.ndarray
    last_image: np.ndarray
    last_velocity: np.ndarray
    counter: np.ndarray
    norm: np.ndarray


@njit(cache=True)
def overwrite(target: np.ndarray, source: np.ndarray) -> None:
    """target ← source; compiles far faster than a slice assignment, which may broadcast."""
    for i in range(target.size):
        target[i] = source[i]


@njit(cache=True)
def new_history(depth: int, size: int) -> History:
    """An empty history of ``depth`` differences; with depth 0 nothing is ever accelerated."""
    length = size if depth > 0 else 0
    return History(
        np.zeros((depth, length)),
        np.zeros((depth, length)),
        np.zeros((depth, length)),
        np.zeros((depth, depth)),
        np.zeros(length),
        np.zeros(length),
        np.zeros(length),
        np.zeros(5, np.int64),
        np.zeros(1),
    )


@njit(cache=True)
def forget(history: History) -> None:
    """Drop all differences and any pending judgement; the next recorded iteration is the first."""
    history.counter[RECORDED] = 0
    history.counter[STORED] = 0
    history.counter[PENDING] = 0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def accelerate(
    history: History, origin: np.ndarray, image: np.ndarray, velocity: np.ndarray, weight: np.ndarray
) -> None:
    """Judge the last extrapolation by the iteration origin → image, then extrapolate anew.

    Overwrites ``image`` and its ``velocity``, either by the extrapolated iterate or by the last good one.
    ``weight`` (n,) is the metric of ‖f‖.
    """
    depth, counter = history.change.shape[0], history.counter
    if depth == 0:
        return
    norm = 0.0
    for i in range(image.size):
        norm += weight[i] * (image[i] - origin[i]) ** 2
    if counter[PENDING]:
        counter[PENDING] = 0
        if not norm <= history.norm[0]:
            overwrite(image, history.last_image)
            overwrite(velocity, history.last_velocity)
            forget(history)
            counter[WAIT] = min(2 * max(counter[WAIT], 1), _LONGEST_WAIT)
            counter[IDLE] = counter[WAIT]
            return
        counter[WAIT] //= 2
    if counter[IDLE] > 0:
        counter[IDLE] -= 1
        if counter[IDLE] <= depth:
            _record(history, origin, image, velocity, weight)
        return
    _record(history, origin, image, velocity, weight)
    history.norm[0] = norm
    if _extrapolate(history, image, velocity, weight):
        counter[PENDING] = 1


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _record(
    history: History, origin: np.ndarray, image: np.ndarray, velocity: np.ndarray, weight: np.ndarray
) -> None:
    depth, size = history.change.shape
    first = history.counter[RECORDED] == 0
    row = history.counter[RECORDED] % depth
    change, images, velocities = history.change[row], history.image[row], history.velocity[row]
    for i in range(size):
        f = image[i] - origin[i]
        if not first:
            change[i] = f - history.last_change[i]
            images[i] = image[i] - history.last_image[i]
            velocities[i] = velocity[i] - history.last_velocity[i]
        history.last_change[i] = f
        history.last_image[i] = image[i]
        history.last_velocity[i] = velocity[i]
    history.counter[RECORDED] += 1
    if first:
        history.counter[RECORDED] = depth  # so that the first difference goes into row 0
        history.counter[STORED] = 0
        return
    history.counter[STORED] = min(history.counter[STORED] + 1, depth)
    for k in range(history.counter[STORED]):
        other = history.change[k]
        product = 0.0
        for i in range(size):
            product += weight[i] * change[i] * other[i]
        history.gram[row, k] = product
        history.gram[k, row] = product


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _extrapolate(history: History, force: np.ndarray, velocity: np.ndarray, weight: np.ndarray) -> bool:
    """Overwrite force and velocity by the extrapolated iterate; False if no difference is stored."""
    stored, size = history.counter[STORED], force.size
    gram = history.gram
    matrix, right, length = np.empty((stored, stored)), np.empty(stored), np.empty(stored)
    for k in range(stored):
        if not gram[k, k] > 0.0:
            return False
        length[k] = math.sqrt(gram[k, k])
    for k in range(stored):
        change = history.change[k]
        product = 0.0
        for i in range(size):
            product += weight[i] * change[i] * history.last_change[i]
        right[k] = product / length[k]
        for j in range(stored):
            matrix[k, j] = gram[k, j] / (length[k] * length[j])
    _solve(matrix, right)
    for k in range(stored):
        gamma = right[k] / length[k]
        image, moved = history.image[k], history.velocity[k]
        for i in range(size):
            force[i] -= gamma * image[i]
            velocity[i] -= gamma * moved[i]
    return bool(stored > 0)


@njit(cache=True, error_model="numpy")
def _solve(matrix: np.ndarray, right: np.ndarray) -> None:
    """Cholesky solution in place; directions that depend on earlier ones to round-off are left out."""
    n = right.size
    for k in range(n):
        pivot = matrix[k, k]
        for j in range(k):
            pivot -= matrix[k, j] ** 2
        independent = pivot > _DEPENDENT
        matrix[k, k] = math.sqrt(pivot) if independent else 1.0
        for i in range(k + 1, n):
            for j in range(k):
                matrix[i, k] -= matrix[i, j] * matrix[k, j]
            matrix[i, k] = matrix[i, k] / matrix[k, k] if independent else 0.0
        if not independent:
            matrix[k, :k] = 0.0
            right[k] = 0.0
    for k in range(n):
        for j in range(k):
            right[k] -= matrix[k, j] * right[j]
        right[k] /= matrix[k, k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            right[k] -= matrix[j, k] * right[j]
        right[k] /= matrix[k, k]
