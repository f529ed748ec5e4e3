"""Block Gauss–Seidel sweeps over contacts with friction.

    for each contact i:   q = v_i − W_ii λ_i,   λ_i ← exact local answer to q,
                          v_j ← v_j + W_ji Δλ_i for its neighbours j

After each sweep over all contacts, only those are swept whose neighbours moved and whose own change is still
above a tenth of the largest one: in large heaps most sweeps are spent on a few contacts that drift until one
of them sticks, slips or opens. While that is not so, the iterates are combined by Anderson acceleration.
Without progress the relaxation is varied, since friction can make sweeps run in circles.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.complementarity.kernels.contact_acceleration import accelerate, forget, new_history, overwrite
from klapper.complementarity.kernels.contact_blocks import CONSTRAINT, CONTACT, ContactBlocks
from klapper.complementarity.kernels.contact_friction import dissipation_bound, project_on_disc
from klapper.complementarity.kernels.contact_local import solve_contact, solve_disc
from klapper.complementarity.kernels.contact_polygon import solve_polygon, solve_polygon_contact
from klapper.complementarity.problem import AMPLIFICATION
from klapper.machine_code import njit

_fast = {"contract"}
_CYCLES_PER_REFRESH = 20
_NEGLIGIBLE = 0.05  # changes below this part of the tolerance are not made
_HOT = 0.1  # part of the largest change above which contacts are swept again
_WIDE = 0.25  # part of all contacts from which on sweeping only the hot ones saves nothing
_WIDE_SWEEPS, _HOT_SWEEPS = 3, 100  # contact visits per contact before the next sweep over all
_SETTLED = 1e-16
_PATIENCE, _PROGRESS = 300, 0.7  # sweeps within which the change must have fallen to this part
_DAMPED = 0.7  # relaxation that breaks the cycles which friction can cause


@njit(cache=True, fastmath=_fast, error_model="numpy")
def friction_radius(blocks: ContactBlocks, i: int, force: np.ndarray) -> float:
    """ρ = limit + μ λ_N of block i."""
    radius = blocks.limit[i] + blocks.friction[i] * force[3 * i]
    for k in range(blocks.share_start[i], blocks.share_start[i + 1]):
        radius += blocks.share[k] * force[3 * blocks.share_of[k]]
    return max(radius, 0.0)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def polygon_answer(
    blocks: ContactBlocks, i: int, force: np.ndarray, q: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Forces of block i whose disc is a polygon, for the velocities q that it has without its own force."""
    own = blocks.own
    if blocks.kind[i] == CONTACT:
        return solve_polygon_contact(
            q,
            (own[i, 0], own[i, 1], own[i, 2]),
            (own[i, 4], own[i, 5], own[i, 8]),
            blocks.friction[i],
            blocks.limit[i],
            blocks.polygon,
        )
    radius = friction_radius(blocks, i, force)
    t1, t2, _ = solve_polygon(
        q[1], q[2], own[i, 4], own[i, 5], own[i, 8], 0.0, 0.0, 0.0, radius, blocks.polygon
    )
    return 0.0, t1, t2


@njit(cache=True, fastmath=_fast, error_model="numpy")
def sweep(
    blocks: ContactBlocks,
    force: np.ndarray,
    velocity: np.ndarray,
    kappa: np.ndarray,
    marked: np.ndarray,
    relaxation: float,
    negligible: float,
) -> tuple[float, int]:
    """One pass over the marked blocks in place; marks the neighbours of those that change.

    Returns the largest change of force, as velocity at its own contact [m/s], and the number of blocks
    visited. Changes up to ``negligible`` [m/s] are not made.
    """
    largest, visits = 0.0, 0
    own, mobility, schur, tangent = blocks.own, blocks.mobility, blocks.schur, blocks.tangent
    kind, friction, limit = blocks.kind, blocks.friction, blocks.limit
    start, neighbour, push = blocks.start, blocks.neighbour, blocks.push
    for i in range(start.size - 1):
        if marked[i] == 0:
            continue
        marked[i] = 0
        visits += 1
        a, b, c = 3 * i, 3 * i + 1, 3 * i + 2
        f0, f1, f2 = force[a], force[b], force[c]
        w0, w1, w2 = own[i, 0], own[i, 1], own[i, 2]
        qn = velocity[a] - w0 * f0 - w1 * f1 - w2 * f2
        n0, n1, n2 = 0.0, 0.0, 0.0
        if kind[i] == CONSTRAINT:
            n0 = -qn / w0
        elif kind[i] != CONTACT or qn < 0.0 or limit[i] > 0.0:
            q1 = velocity[b] - own[i, 3] * f0 - own[i, 4] * f1 - own[i, 5] * f2
            q2 = velocity[c] - own[i, 6] * f0 - own[i, 7] * f1 - own[i, 8] * f2
            if blocks.polygon > 0:
                n0, n1, n2 = polygon_answer(blocks, i, force, (qn, q1, q2))
            elif kind[i] == CONTACT:
                s = (schur[i, 0], schur[i, 1], schur[i, 2], schur[i, 3])
                t = (tangent[i, 0], tangent[i, 1], tangent[i, 2], tangent[i, 3])
                n0, n1, n2, kappa[i] = solve_contact(
                    (qn, q1, q2), (w0, w1, w2), s, t, friction[i], limit[i], kappa[i]
                )
            else:
                t = (tangent[i, 0], tangent[i, 1], tangent[i, 2], tangent[i, 3])
                radius = friction_radius(blocks, i, force)
                n1, n2, kappa[i] = solve_disc(q1, q2, t[0], t[1], t[2], t[3], radius, kappa[i])
        factor = 1.0 if kind[i] == CONTACT and n0 == 0.0 else relaxation  # an open contact is simply open
        d0, d1, d2 = factor * (n0 - f0), factor * (n1 - f1), factor * (n2 - f2)
        change = abs(d0) * mobility[i, 0] + (abs(d1) + abs(d2)) * mobility[i, 1]
        if not change > negligible:
            if change != change:
                return math.nan, visits
            continue
        largest = max(largest, change)
        force[a], force[b], force[c] = f0 + d0, f1 + d1, f2 + d2
        for k in range(start[i], start[i + 1]):
            j = 3 * neighbour[k]
            marked[neighbour[k]] = 1
            velocity[j] += push[k, 0] * d0 + push[k, 1] * d1 + push[k, 2] * d2
            velocity[j + 1] += push[k, 3] * d0 + push[k, 4] * d1 + push[k, 5] * d2
            velocity[j + 2] += push[k, 6] * d0 + push[k, 7] * d1 + push[k, 8] * d2
    return largest, visits


@njit(cache=True, fastmath=_fast, error_model="numpy")
def refresh(blocks: ContactBlocks, force: np.ndarray, velocity: np.ndarray) -> float:
    """Recompute v = W λ + b without accumulated round-off; returns the residuals' velocity scale [m/s]."""
    terms = np.abs(blocks.free)
    overwrite(velocity, blocks.free)
    for i in range(blocks.start.size - 1):
        f0, f1, f2 = force[3 * i], force[3 * i + 1], force[3 * i + 2]
        if f0 == 0.0 and f1 == 0.0 and f2 == 0.0:
            continue
        for k in range(blocks.start[i], blocks.start[i + 1]):
            j = 3 * blocks.neighbour[k]
            for row in range(3):
                p0 = blocks.push[k, 3 * row] * f0
                p1 = blocks.push[k, 3 * row + 1] * f1
                p2 = blocks.push[k, 3 * row + 2] * f2
                velocity[j + row] += p0 + p1 + p2
                terms[j + row] += abs(p0) + abs(p1) + abs(p2)
    load = np.abs(blocks.free).max() if terms.size else 0.0
    scale = terms.max() if terms.size else 0.0
    if load > 0.0:
        scale = min(scale, AMPLIFICATION * load)
    return scale if scale > 0.0 else 1.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def residual(blocks: ContactBlocks, force: np.ndarray, velocity: np.ndarray, scale: float) -> float:
    """The worst of ``FrictionalContact.residuals`` for current velocities and the velocity scale [m/s]."""
    worst = 0.0
    for i in range(blocks.start.size - 1):
        v0, v1, v2 = velocity[3 * i] / scale, velocity[3 * i + 1] / scale, velocity[3 * i + 2] / scale
        if blocks.kind[i] == CONSTRAINT:
            worst = max(worst, abs(v0))
            continue
        normal_weight, weight = blocks.mobility[i, 0] / scale, blocks.mobility[i, 1] / scale
        if blocks.kind[i] == CONTACT:
            f0 = force[3 * i] * normal_weight
            worst = max(worst, abs(min(f0, v0)), abs(f0 * v0))
        f1, f2 = force[3 * i + 1] * weight, force[3 * i + 2] * weight
        radius = friction_radius(blocks, i, force) * weight
        p1, p2 = project_on_disc(f1 - v1, f2 - v2, radius, blocks.polygon)
        gap = abs(dissipation_bound(v1, v2, radius, blocks.polygon) + f1 * v1 + f2 * v2)
        worst = max(worst, math.sqrt((f1 - p1) ** 2 + (f2 - p2) ** 2), gap)
    return worst


@njit(cache=True, error_model="numpy")
def sweep_hot(
    blocks: ContactBlocks,
    force: np.ndarray,
    velocity: np.ndarray,
    kappa: np.ndarray,
    marked: np.ndarray,
    relaxation: float,
    threshold: float,
) -> tuple[int, bool]:
    """Sweep over marked blocks until no change exceeds ``threshold`` [m/s] or enough was spent.

    Returns the number of blocks visited and whether the last pass still visited a large part of all.
    """
    count = kappa.size
    visits, spent = 0, 0
    while True:
        change, visited = sweep(blocks, force, velocity, kappa, marked, relaxation, threshold)
        visits += visited
        spent += visited + count // 50 + 1  # looking for marks costs time as well
        wide = visited > _WIDE * count
        if not change > 0.0 or spent > (_WIDE_SWEEPS if wide else _HOT_SWEEPS) * count:
            return visits, wide


@njit(cache=True, error_model="numpy")
def gauss_seidel(
    blocks: ContactBlocks,
    force: np.ndarray,
    relaxation: float,
    memory: int,
    tolerance: float,
    max_sweeps: int,
) -> tuple[int, float]:
    """Sweep until the residual is at most ``tolerance``; ``force`` (3 n,) is the start, then the answer.

    Returns the number of sweeps (contact visits over contacts, rounded up) and the residual reached (nan
    after an overflow). Ends early when no force changes any more: the residual is then what the arithmetic
    allows.
    """
    count = force.size // 3
    velocity, origin = np.empty_like(force), np.empty_like(force)
    kappa, marked = np.zeros(count), np.ones(count, np.uint8)
    weight = metric(blocks)
    history = new_history(memory, force.size)
    scale = refresh(blocks, force, velocity)
    reached = residual(blocks, force, velocity, scale)
    visits, cycle, negligible = 0, 0, _NEGLIGIBLE * tolerance
    factor, smallest, latest = 1.0, math.inf, 0
    while not reached <= tolerance and visits < max_sweeps * count:
        cycle += 1
        overwrite(origin, force)
        marked[:] = 1
        change, visited = sweep(blocks, force, velocity, kappa, marked, factor, negligible * scale)
        change /= scale
        visits += visited
        if change != change:
            return _sweeps(visits, count), math.nan
        if cycle == 1:
            factor = relaxation  # not in the first sweep: independent contacts need no second one
        if change < _PROGRESS * smallest:
            smallest, latest = change, visits
        elif visits - latest > _PATIENCE * count:
            factor, latest = next_relaxation(factor, relaxation), visits
        threshold = max(_HOT * change, negligible)
        visited, wide = sweep_hot(blocks, force, velocity, kappa, marked, factor, threshold * scale)
        visits += visited
        settled = change <= _SETTLED
        if threshold <= tolerance:
            reached = residual(blocks, force, velocity, scale)
        if (
            reached <= tolerance
            or settled
            or visits >= max_sweeps * count
            or cycle % _CYCLES_PER_REFRESH == 0
        ):
            scale = refresh(blocks, force, velocity)
            reached = residual(blocks, force, velocity, scale)
            if settled and negligible == 0.0:
                break
        if settled:
            negligible = 0.0
        if not wide:
            forget(history)
        elif not reached <= tolerance:
            accelerate(history, origin, force, velocity, weight)
    return _sweeps(visits, count), reached


@njit(cache=True)
def next_relaxation(factor: float, wanted: float) -> float:
    """The next of (wanted, 1, damped): where one makes no progress, another may."""
    if factor == 1.0:
        return _DAMPED
    return 1.0 if factor == wanted else wanted


@njit(cache=True)
def metric(blocks: ContactBlocks) -> np.ndarray:
    """Weights (3 n,) [1/kg] that turn squared forces into energies."""
    weight = np.empty(blocks.free.size)
    for i in range(weight.size // 3):
        weight[3 * i] = blocks.mobility[i, 0]
        weight[3 * i + 1] = blocks.mobility[i, 1]
        weight[3 * i + 2] = blocks.mobility[i, 1]
    return weight


@njit(cache=True)
def _sweeps(visits: int, count: int) -> int:
    return (visits + count - 1) // count
