"""Block Gauss–Seidel sweeps over contacts with friction.

    for each contact i:  q = v_i − W_ii λ_i,   λ_i ← exact local answer to q,   v_j ← v_j + W_ji Δλ_i for its neighbours j

Contacts whose force does not change, above all open ones, cost no update.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.complementarity.kernels.contact_blocks import CONSTRAINT, CONTACT, ContactBlocks
from klapper.complementarity.kernels.contact_friction import dissipation_bound, project_on_disc
from klapper.complementarity.kernels.contact_local import solve_contact, solve_disc

_fast = {"contract"}


@njit(cache=True, fastmath=_fast, error_model="numpy")
def friction_radius(blocks: ContactBlocks, i: int, force: np.ndarray) -> float:
    """ρ = limit + μ λ_N of block i."""
    radius = blocks.limit[i] + blocks.friction[i] * force[3 * i]
    for k in range(blocks.share_start[i], blocks.share_start[i + 1]):
        radius += blocks.share[k] * force[3 * blocks.share_of[k]]
    return max(radius, 0.0)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def sweep(
    blocks: ContactBlocks,
    force: np.ndarray,
    velocity: np.ndarray,
    kappa: np.ndarray,
    relaxation: float,
    negligible: float,
) -> float:
    """One pass over all blocks in place; returns the largest change of force, as velocity at its own contact.

    Changes up to ``negligible`` [m/s] are not made.
    """
    largest = 0.0
    own, mobility, schur, tangent = blocks.own, blocks.mobility, blocks.schur, blocks.tangent
    kind, friction, limit = blocks.kind, blocks.friction, blocks.limit
    start, neighbour, push = blocks.start, blocks.neighbour, blocks.push
    for i in range(start.size - 1):
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
            t = (tangent[i, 0], tangent[i, 1], tangent[i, 2], tangent[i, 3])
            if kind[i] == CONTACT:
                s = (schur[i, 0], schur[i, 1], schur[i, 2], schur[i, 3])
                n0, n1, n2, kappa[i] = solve_contact(
                    (qn, q1, q2), (w0, w1, w2), s, t, friction[i], limit[i], kappa[i]
                )
            else:
                radius = friction_radius(blocks, i, force)
                n1, n2, kappa[i] = solve_disc(q1, q2, t[0], t[1], t[2], t[3], radius, kappa[i])
        d0, d1, d2 = relaxation * (n0 - f0), relaxation * (n1 - f1), relaxation * (n2 - f2)
        change = max(abs(d0) * mobility[i, 0], max(abs(d1), abs(d2)) * mobility[i, 1])
        if not change > negligible:
            if change != change:
                return math.nan
            continue
        largest = max(largest, change)
        force[a], force[b], force[c] = f0 + d0, f1 + d1, f2 + d2
        for k in range(start[i], start[i + 1]):
            j = 3 * neighbour[k]
            velocity[j] += push[k, 0] * d0 + push[k, 1] * d1 + push[k, 2] * d2
            velocity[j + 1] += push[k, 3] * d0 + push[k, 4] * d1 + push[k, 5] * d2
            velocity[j + 2] += push[k, 6] * d0 + push[k, 7] * d1 + push[k, 8] * d2
    return largest


@njit(cache=True, fastmath=_fast, error_model="numpy")
def refresh(blocks: ContactBlocks, force: np.ndarray, velocity: np.ndarray) -> float:
    """Recompute v = W λ + b without accumulated round-off; returns the largest sum of velocity terms of a row."""
    terms = np.abs(blocks.free)
    velocity[:] = blocks.free
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
    return terms.max() if terms.size else 0.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def residual(blocks: ContactBlocks, force: np.ndarray, velocity: np.ndarray, scale: float) -> float:
    """The worst residual of ``FrictionalContact.residuals`` for current velocities and velocity scale [m/s]."""
    worst = 0.0
    for i in range(blocks.start.size - 1):
        v0, v1, v2 = velocity[3 * i] / scale, velocity[3 * i + 1] / scale, velocity[3 * i + 2] / scale
        if blocks.kind[i] == CONSTRAINT:
            worst = max(worst, abs(v0))
            continue
        normal_weight, weight = blocks.mobility[i, 0] / scale, blocks.mobility[i, 1] / scale
        if blocks.kind[i] == CONTACT:
            worst = max(worst, abs(min(force[3 * i] * normal_weight, v0)))
        f1, f2 = force[3 * i + 1] * weight, force[3 * i + 2] * weight
        radius = friction_radius(blocks, i, force) * weight
        p1, p2 = project_on_disc(f1 - v1, f2 - v2, radius, blocks.polygon)
        gap = abs(dissipation_bound(v1, v2, radius, blocks.polygon) + f1 * v1 + f2 * v2)
        worst = max(worst, math.sqrt((f1 - p1) ** 2 + (f2 - p2) ** 2), gap)
    return worst
