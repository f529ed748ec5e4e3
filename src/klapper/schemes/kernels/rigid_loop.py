"""Moreau's θ-steps for rigid bodies, the whole loop compiled.

    place (1 − θ) h v ahead → contacts with gap ≤ 0 → impulses → v⁺ → q⁺ → ledger → sample

The same formulas as ``klapper.schemes.moreau``. The ledger of a step, with v_m = (v + v⁺)/2:

    impact −Σ λ_N v_N,m    friction −Σ λ_T · v_T,m    numerical −(v_m · h f̂ + ΔV)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from klapper.schemes.kernels.rigid_contacts import contact_velocity, find_closed, set_contact, warm_start
from klapper.schemes.kernels.rigid_geometry import gap_of, set_centres
from klapper.schemes.kernels.rigid_motion import (
    advance,
    kinetic_energy,
    numerical_loss,
    potential_energy,
    set_after,
    set_change,
    set_free,
    set_place,
)
from klapper.schemes.kernels.rigid_search import has_moved, near_pairs, pair_numbers
from klapper.schemes.kernels.rigid_solve import new_momentum, solve, solve_one
from klapper.schemes.kernels.rigid_sweep import natural_map
from klapper.schemes.kernels.rigid_tables import (
    APPLIED,
    APPROACH,
    BALL,
    BALLS,
    BODY_A,
    BODY_B,
    CONTACT_COLUMNS,
    FRICTION,
    KIND,
    NUMBER,
    OTHER,
    VELOCITY,
    Model,
)

_fast = {"contract"}
_MARGIN = 0.25  # of the mean radius: width of the list of near pairs
OPEN, STICK, SLIP, IMPACT = 0, 1, 2, 3
DONE, UNSOLVED, OVERFLOW = 0, 1, 2


class Samples(NamedTuple):
    """Samples of a stretch, one row each, and a last row for what has been summed since the last sample.

    ``energy`` (s, 7); ``gap``, ``state`` (s, m), ``impulse`` (s, m, 3) of all possible contacts, or m = 0.
    """

    position: np.ndarray
    velocity: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray


class Log(NamedTuple):
    """Contacts loaded in the last step before each sample: entries ``start[k]:start[k+1]`` belong to sample k."""

    start: np.ndarray
    number: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray


@njit(cache=True, fastmath=_fast, error_model="numpy")
def contact_state(body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, i: int) -> int:
    """OPEN, STICK, SLIP or IMPACT of contact i, from the velocities after the step."""
    if not impulse[i, 0] > 0.0:
        return OPEN
    a, b = link[i, BODY_A], link[i, BODY_B]
    approach = -contact[i, APPROACH]
    smooth = abs(contact_velocity(body, APPLIED, contact, i, a, b)[0])
    if approach > 2.0 * smooth + 1e-12 * abs(approach):
        return IMPACT
    if contact[i, FRICTION] == 0.0:
        return SLIP
    vn, v1, v2 = contact_velocity(body, VELOCITY, contact, i, a, b)
    return SLIP if natural_map(contact, i, impulse, vn, v1, v2)[1] else STICK


@njit(cache=True, fastmath=_fast, error_model="numpy")
def contact_losses(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int
) -> tuple[float, float]:
    """Energies [J] that friction and the normal impulses of the step take."""
    friction, impact = 0.0, 0.0
    for i in range(count):
        if impulse[i, 0] != 0.0:
            vn, v1, v2 = contact_velocity(body, VELOCITY, contact, i, link[i, BODY_A], link[i, BODY_B])
            impact -= 0.5 * impulse[i, 0] * (vn + contact[i, APPROACH])
            friction -= 0.5 * impulse[i, 1] * (v1 + contact[i, APPROACH + 1])
            friction -= 0.5 * impulse[i, 2] * (v2 + contact[i, APPROACH + 2])
    return friction, impact


@njit(cache=True, error_model="numpy")
def _wider(table: np.ndarray, rows: int) -> np.ndarray:
    """A table of at least ``rows`` rows; contents are not kept."""
    return table if table.shape[0] >= rows else np.empty((rows + rows // 4, table.shape[1]), table.dtype)


@njit(cache=True, error_model="numpy")
def run(
    model: Model,
    step_size: float,
    theta: float,
    tolerance: float,
    max_sweeps: int,
    relaxation: float,
    q: np.ndarray,
    v: np.ndarray,
    old_number: np.ndarray,
    old_impulse: np.ndarray,
    sums: np.ndarray,
    first: int,
    count: int,
    every: int,
    samples: Samples,
    stats: np.ndarray,
):
    dimension, gravity = model.dimension, model.gravity
    body, ball, ball_body, plane = model.body, model.ball, model.ball_body, model.plane
    pair, pair_law, group, group_plane, group_law = (
        model.pair,
        model.pair_law,
        model.group,
        model.group_plane,
        model.group_law,
    )
    ground = body.shape[0] - 1
    centre = np.empty((ball.shape[0], 3))
    reference = np.empty((ball.shape[0], 3))
    near = np.empty((0, 4), np.int64)
    closed = np.empty(pair.shape[0], np.int64)
    contact = np.empty((16, CONTACT_COLUMNS))
    link = np.empty((16, 3), np.int64)
    impulse = np.zeros((16, 3))
    v_after, q_after = np.empty_like(v), np.empty_like(q)
    old_count = old_number.size
    momentum = new_momentum(16, body.shape[0])
    margin = 0.0
    for a in range(group.size):
        margin += _MARGIN * ball[group[a], 3] / group.size
    listed = False
    status = DONE
    friction, impact, numerical = sums[2], sums[3], sums[4]
    row = 0
    for n in range(count):
        set_place(dimension, body, q, v, (1.0 - theta) * step_size)
        set_centres(body, ball, ball_body, centre)
        if group.size > 0 and (not listed or has_moved(group, centre, reference, margin)):
            near = near_pairs(
                pair.shape[0], dimension, group, group_plane, centre, ball, ball_body, plane, ground, margin
            )
            for s in range(centre.shape[0]):
                for c in range(3):
                    reference[s, c] = centre[s, c]
            listed = True
            if closed.size < pair.shape[0] + near.shape[0]:
                closed = np.empty(2 * (pair.shape[0] + near.shape[0]), np.int64)
        first_near = find_closed(pair, centre, ball, plane, closed, 0)
        total = find_closed(near, centre, ball, plane, closed, first_near)
        set_free(dimension, gravity, body, v, step_size, theta)
        if total > link.shape[0]:
            contact, link, impulse = _wider(contact, total), _wider(link, total), _wider(impulse, total)
        for i in range(total):
            k = closed[i]
            if i < first_near:
                set_contact(
                    dimension, pair, k, centre, ball, ball_body, plane, body, contact, link, i,
                    pair_law[k, 0], pair_law[k, 1],
                )
            else:
                kind = near[k, KIND]
                set_contact(
                    dimension, near, k, centre, ball, ball_body, plane, body, contact, link, i,
                    group_law[kind, 0], group_law[kind, 1],
                )
        if total > 0:
            warm_start(link, impulse, total, old_number, old_impulse, old_count)
            if total == 1:
                reached, sweeps = solve_one(body, contact, link, impulse), 1
            else:
                if momentum.origin.shape[0] < total:
                    momentum = new_momentum(link.shape[0], body.shape[0])
                reached, sweeps = solve(body, contact, link, impulse, total, tolerance, max_sweeps, momentum)
            stats[n, 0], stats[n, 1], stats[n, 2] = total, sweeps, reached
            samples.residual[row] = max(samples.residual[row], reached)
            if not reached <= tolerance:
                status = UNSOLVED
                break
        set_change(body, contact, link, impulse, total)
        set_after(dimension, body, v, v_after)
        for a in range(q.size):
            q_after[a] = q[a]
        advance(dimension, q_after, v, v_after, step_size, theta)
        lost, hit = contact_losses(body, contact, link, impulse, total)
        loss = numerical_loss(dimension, gravity, body, q, q_after, v, v_after)
        if not math.isfinite(loss + hit + lost):
            status = OVERFLOW
            break
        friction += lost
        impact += hit
        numerical += loss
        for a in range(q.size):
            q[a] = q_after[a]
        for a in range(v.size):
            v[a] = v_after[a]
        if total > old_number.size:
            old_number, old_impulse = np.empty(link.shape[0], np.int64), np.empty((link.shape[0], 3))
        old_count = 0
        for i in range(total):
            if impulse[i, 0] != 0.0:
                old_number[old_count] = link[i, NUMBER]
                for c in range(3):
                    old_impulse[old_count, c] = impulse[i, c]
                old_count += 1
        if (first + n + 1) % every == 0:
            for a in range(q.size):
                samples.position[row, a] = q[a]
            for a in range(v.size):
                samples.velocity[row, a] = v[a]
            energy = samples.energy
            energy[row, 0] = kinetic_energy(dimension, body, v)
            energy[row, 1] = potential_energy(dimension, gravity, body, q)
            energy[row, 4], energy[row, 5], energy[row, 6] = friction, impact, numerical
            row += 1
    return status, row
