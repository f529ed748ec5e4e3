"""Fixed-point iteration on the prox form of the contact laws.

    λ_N ← prox_{≥0}(λ_N − r v_N),   λ_T ← prox_D(λ_T − r v_T),   λ_B ← λ_B − r v_B,   v = W λ + b
                                                    Seiwald (3.15), Waltersberger (4.35)-(4.37)

All rows at once (Jacobi), so W is needed only as a product. ``fixed_point`` and ``nested`` are written once:
as plain Python they take any operator W, compiled (``compiled_…``) a dense matrix or :class:`SparseRows`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from klapper.complementarity.kernels.contact_acceleration import accelerate, forget, new_history, overwrite
from klapper.complementarity.kernels.contact_friction import dissipation_bound, project_on_disc
from klapper.machine_code import njit

NORMAL, TANGENTIAL, ALL = 1, 2, 3
_REMEASURE = 50  # iterations after which the scale is measured anew
_PATIENCE = 1000  # iterations without any progress that count as divergence
_EXPLOSION = 1e6  # growth of the change that counts as divergence
_fast = {"contract"}


class SparseRows(NamedTuple):
    """A matrix in compressed sparse rows."""

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray


class Laws(NamedTuple):
    """The contact laws by row numbers.

    ``normal`` (m,), ``tangential`` (s, 2) with −1 for a missing second row, ``bilateral`` (k,)
    ``share_start`` (s + 1,), ``share_of``, ``share``, ``limit`` (s,)   ρ = limit + Σ share · λ_N[share_of]
    ``normal_weight`` (m,), ``tangential_weight`` (s,)   mobilities [1/kg] of the residual
    ``polygon``   number of vertices in place of the disc, 0 for the disc
    ``by_rows``   whether residuals are measured row by row, as for linear complementarity
    ``largest_scale`` (n,)   bound of the scale of each row
    """

    normal: np.ndarray
    tangential: np.ndarray
    bilateral: np.ndarray
    share_start: np.ndarray
    share_of: np.ndarray
    share: np.ndarray
    limit: np.ndarray
    normal_weight: np.ndarray
    tangential_weight: np.ndarray
    polygon: int
    by_rows: bool
    largest_scale: np.ndarray


def multiply(matrix: Any, x: np.ndarray, out: np.ndarray) -> None:
    """out = W x."""
    out[:] = matrix @ x


@overload(multiply)
def _multiply(matrix: Any, x: Any, out: Any) -> Any:
    if isinstance(matrix, types.Array):

        def dense(matrix: Any, x: Any, out: Any) -> None:
            np.dot(matrix, x, out)

        return dense

    def rows(matrix: Any, x: Any, out: Any) -> None:
        for i in range(out.size):
            total = 0.0
            for k in range(matrix.start[i], matrix.start[i + 1]):
                total += matrix.value[k] * x[matrix.column[k]]
            out[i] = total

    return rows


def terms(matrix: Any, x: np.ndarray, product: np.ndarray, out: np.ndarray) -> None:
    """out = |W||x|, or for an operator its lower bound |W x|, with the product W x given."""
    out[:] = np.abs(product)


@overload(terms)
def _terms(matrix: Any, x: Any, product: Any, out: Any) -> Any:
    if isinstance(matrix, types.Array):

        def dense(matrix: Any, x: Any, product: Any, out: Any) -> None:
            for i in range(out.size):
                total = 0.0
                for j in range(x.size):
                    total += abs(matrix[i, j] * x[j])
                out[i] = total

        return dense

    def rows(matrix: Any, x: Any, product: Any, out: Any) -> None:
        for i in range(out.size):
            total = 0.0
            for k in range(matrix.start[i], matrix.start[i + 1]):
                total += abs(matrix.value[k] * x[matrix.column[k]])
            out[i] = total

    return rows


def influence(matrix: Any, scale: np.ndarray, out: np.ndarray) -> None:
    """out_j = largest |W_ij| / scale_i; operators have no columns to look at and never need it."""
    raise NotImplementedError


@overload(influence)
def _influence(matrix: Any, scale: Any, out: Any) -> Any:
    if isinstance(matrix, types.Array):

        def dense(matrix: Any, scale: Any, out: Any) -> None:
            out[:] = 0.0
            for i in range(scale.size):
                for j in range(out.size):
                    out[j] = max(out[j], abs(matrix[i, j]) / scale[i])

        return dense

    def rows(matrix: Any, scale: Any, out: Any) -> None:
        out[:] = 0.0
        for i in range(scale.size):
            for k in range(matrix.start[i], matrix.start[i + 1]):
                j = matrix.column[k]
                out[j] = max(out[j], abs(matrix.value[k]) / scale[i])

    return rows


@njit(cache=True, fastmath=_fast, error_model="numpy")
def friction_radius(laws: Laws, patch: int, force: np.ndarray) -> float:
    """ρ = limit + μ λ_N of one friction patch."""
    radius = laws.limit[patch]
    for k in range(laws.share_start[patch], laws.share_start[patch + 1]):
        radius += laws.share[k] * force[laws.normal[laws.share_of[k]]]
    return max(radius, 0.0)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def prox_step(
    laws: Laws, part: int, force: np.ndarray, velocity: np.ndarray, factor: np.ndarray, change: np.ndarray
) -> None:
    """One step λ ← prox(λ − r v) of the given part in place; ``change`` (n,) becomes Δλ / r [m/s]."""
    change[:] = 0.0
    if part & NORMAL:
        for row in laws.normal:
            new = max(force[row] - factor[row] * velocity[row], 0.0)
            change[row] = (new - force[row]) / factor[row]
            force[row] = new
        for row in laws.bilateral:
            change[row] = -velocity[row]
            force[row] -= factor[row] * velocity[row]
    if part & TANGENTIAL:
        for patch in range(laws.tangential.shape[0]):
            a, b = laws.tangential[patch, 0], laws.tangential[patch, 1]
            z1 = force[a] - factor[a] * velocity[a]
            z2 = force[b] - factor[a] * velocity[b] if b >= 0 else 0.0
            z1, z2 = project_on_disc(z1, z2, friction_radius(laws, patch, force), laws.polygon)
            change[a] = (z1 - force[a]) / factor[a]
            force[a] = z1
            if b >= 0:
                change[b] = (z2 - force[b]) / factor[a]
                force[b] = z2


@njit(cache=True, fastmath=_fast, error_model="numpy")
def contact_residual(laws: Laws, force: np.ndarray, velocity: np.ndarray, scale: float) -> float:
    """The worst of ``FrictionalContact.residuals`` for current velocities and the velocity scale [m/s]."""
    worst = 0.0
    for row in laws.bilateral:
        worst = max(worst, abs(velocity[row]) / scale)
    for contact in range(laws.normal.size):
        row = laws.normal[contact]
        f, v = force[row] * laws.normal_weight[contact] / scale, velocity[row] / scale
        worst = max(worst, abs(min(f, v)), abs(f * v))
    for patch in range(laws.tangential.shape[0]):
        a, b = laws.tangential[patch, 0], laws.tangential[patch, 1]
        weight = laws.tangential_weight[patch] / scale
        f1, v1 = force[a] * weight, velocity[a] / scale
        f2, v2 = (force[b] * weight, velocity[b] / scale) if b >= 0 else (0.0, 0.0)
        radius = friction_radius(laws, patch, force) * weight
        p1, p2 = project_on_disc(f1 - v1, f2 - v2, radius, laws.polygon)
        gap = abs(dissipation_bound(v1, v2, radius, laws.polygon) + f1 * v1 + f2 * v2)
        worst = max(worst, math.sqrt((f1 - p1) ** 2 + (f2 - p2) ** 2), gap)
    return worst


@njit(cache=True, fastmath=_fast, error_model="numpy")
def linear_residual(force: np.ndarray, answer: np.ndarray, scale: np.ndarray, reach: np.ndarray) -> float:
    """The worst residual of ``LinearComplementarity.residuals`` for row scales and column influences."""
    worst = 0.0
    for i in range(force.size):
        x, y = force[i] * reach[i], answer[i] / scale[i]
        worst = max(worst, abs(min(x, y)), abs(x * y))
    return worst


@register_jitable
def measure(
    matrix: Any, free: np.ndarray, laws: Laws, force: np.ndarray, velocity: np.ndarray, scale: np.ndarray
) -> float:
    """Recompute velocity and the scale (n,) of each row; returns the problem's worst residual."""
    multiply(matrix, force, velocity)
    terms(matrix, force, velocity, scale)
    velocity += free
    scale += np.abs(free)
    if laws.by_rows:
        overwrite(scale, np.minimum(scale, laws.largest_scale))
        scale[scale == 0.0] = 1.0
        reach = np.empty_like(scale)
        influence(matrix, scale, reach)
        return linear_residual(force, velocity, scale, reach)
    largest = min(scale.max(), laws.largest_scale[0]) if scale.size else 0.0
    scale[:] = largest if largest > 0.0 else 1.0
    return contact_residual(laws, force, velocity, scale[0] if scale.size else 1.0)


@register_jitable
def fixed_point(
    matrix: Any,
    free: np.ndarray,
    laws: Laws,
    part: int,
    force: np.ndarray,
    factor: np.ndarray,
    weight: np.ndarray,
    reduction: float,
    memory: int,
    tolerance: float,
    max_iterations: int,
    max_restarts: int,
) -> tuple[int, float, int]:
    """Iterate one part of the laws, other forces held; ``force`` (n,) is the start and becomes the answer.

    ``factor`` r (n,) is reduced by ``reduction`` for rows that still change when the iteration diverges or
    ends, which then begins again from its start, Seiwald (C.12). Returns iterations, residual and restarts;
    the residual is that of the whole problem for ALL, otherwise the largest change Δλ / r of the part,
    relative to the rows' scale.
    """
    size = force.size
    start, origin = force.copy(), np.empty(size)
    velocity, change, scale = np.empty(size), np.empty(size), np.empty(size)
    history = new_history(memory, size)
    whole = measure(matrix, free, laws, force, velocity, scale)
    if part == ALL and whole <= tolerance:
        return 0, whole, 0
    iterations, largest = 0, math.inf
    for restart in range(max_restarts + 1):
        goal, best, since_best = tolerance, math.inf, 0
        for iteration in range(1, max_iterations + 1):
            overwrite(origin, force)
            prox_step(laws, part, force, velocity, factor, change)
            multiply(matrix, force, velocity)
            velocity += free
            iterations += 1
            largest = np.max(np.abs(change) / scale)
            if largest <= goal:
                if part != ALL:
                    return iterations, largest, restart
                whole = measure(matrix, free, laws, force, velocity, scale)
                if whole <= tolerance or largest == 0.0:
                    return iterations, whole, restart
                goal = 0.5 * largest
            since_best += 1
            if largest < 0.99 * best:
                best, since_best = largest, 0
            if not largest < _EXPLOSION * best or since_best > _PATIENCE:
                break
            if part == ALL and iteration % _REMEASURE == 0:
                measure(matrix, free, laws, force, velocity, scale)
            accelerate(history, origin, force, velocity, weight)
        if restart == max_restarts:
            break
        reduce_factors(laws, factor, change, scale, reduction, goal)
        overwrite(force, start)
        forget(history)
        measure(matrix, free, laws, force, velocity, scale)
    if part == ALL:
        return iterations, measure(matrix, free, laws, force, velocity, scale), max_restarts
    return iterations, largest, max_restarts


@njit(cache=True)
def reduce_factors(
    laws: Laws, factor: np.ndarray, change: np.ndarray, scale: np.ndarray, reduction: float, goal: float
) -> None:
    """r ← ν r for contacts that did not converge, Seiwald (C.12); both rows of a patch keep one factor."""
    for row in laws.normal:
        if not abs(change[row]) <= goal * scale[row]:
            factor[row] *= reduction
    for row in laws.bilateral:
        if not abs(change[row]) <= goal * scale[row]:
            factor[row] *= reduction
    for patch in range(laws.tangential.shape[0]):
        a, b = laws.tangential[patch, 0], laws.tangential[patch, 1]
        moved = abs(change[a]) + (abs(change[b]) if b >= 0 else 0.0)
        if not moved <= goal * scale[a]:
            factor[a] *= reduction
            if b >= 0:
                factor[b] *= reduction


@register_jitable
def nested(
    matrix: Any,
    free: np.ndarray,
    laws: Laws,
    force: np.ndarray,
    factor: np.ndarray,
    weight: np.ndarray,
    reduction: float,
    memory: int,
    tolerance: float,
    max_iterations: int,
    max_restarts: int,
    max_rounds: int,
) -> tuple[int, int, float]:
    """Normal forces to convergence, then tangential ones, and so on until the whole problem is solved.

    Seiwald 10.1 to 10.3; convergence is tested before divergence is declared. Returns rounds, iterations and
    residual.
    """
    velocity, scale = np.empty_like(force), np.empty_like(force)
    reached = measure(matrix, free, laws, force, velocity, scale)
    iterations, rounds, goal = 0, 0, 0.1 * tolerance
    while not reached <= tolerance and rounds < max_rounds:
        rounds += 1
        before = force.copy()
        worked = 0
        for part in (NORMAL, TANGENTIAL):
            done, change, _ = fixed_point(
                matrix,
                free,
                laws,
                part,
                force,
                factor.copy(),
                weight,
                reduction,
                memory,
                goal,
                max_iterations,
                max_restarts,
            )
            worked += done
            if not change <= goal:
                return rounds, iterations + worked, measure(matrix, free, laws, force, velocity, scale)
        iterations += worked
        reached = measure(matrix, free, laws, force, velocity, scale)
        if worked == 2:  # both parts were content, the whole is not
            goal *= 0.1
        if np.all(force == before):
            break
    return rounds, iterations, reached


compiled_fixed_point = njit(cache=True)(fixed_point)
compiled_nested = njit(cache=True)(nested)
