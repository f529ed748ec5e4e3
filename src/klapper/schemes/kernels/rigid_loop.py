"""Moreau's θ-steps for rigid bodies, the whole loop compiled.

    place (1 − θ) h v ahead → contacts with gap ≤ 0, or that last → impulses → v⁺ → q⁺ → ledger → sample

The same formulas as ``klapper.schemes.moreau``. The ledger of a step, with v_m = (v + v⁺)/2:

    impact −Σ λ_N v_N,m    friction −Σ λ_T · v_T,m    numerical −(v_m · h f̂ + ΔV)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_contacts import set_contact, set_lasting, warm_start
from klapper.schemes.kernels.rigid_geometry import set_centres
from klapper.schemes.kernels.rigid_lasting import find_closed
from klapper.schemes.kernels.rigid_ledger import contact_losses, numerical_loss
from klapper.schemes.kernels.rigid_momentum import new_momentum
from klapper.schemes.kernels.rigid_motion import advance, set_after, set_change, set_free, set_place
from klapper.schemes.kernels.rigid_saving import Log, Saved, save_contacts, save_log, save_state, sum_impulses
from klapper.schemes.kernels.rigid_search import has_moved, near_pairs
from klapper.schemes.kernels.rigid_solve import solve, solve_alone
from klapper.schemes.kernels.rigid_tables import CONTACT_COLUMNS, KIND, NUMBER, Model

_MARGIN = 0.25  # of the mean radius: gap up to which pairs are listed as near
_LEAST_MARGIN = 1e-9  # [m]
_ROOM = 16  # contacts for which there is room at first
DONE, UNSOLVED, OVERFLOW = 0, 1, 2


@njit(cache=True)
def _copy(source: np.ndarray, target: np.ndarray) -> None:
    for a in range(source.shape[0]):
        for b in range(source.shape[1]):
            target[a, b] = source[a, b]


@njit(cache=True)
def _loaded(link: np.ndarray, impulse: np.ndarray, count: int, number: np.ndarray, loaded: np.ndarray) -> int:
    """Numbers and impulses of the contacts that carry something; returns how many there are."""
    found = 0
    for i in range(count):
        if impulse[i, 0] != 0.0:
            number[found] = link[i, NUMBER]
            for c in range(3):
                loaded[found, c] = impulse[i, c]
            found += 1
    return found


@njit(cache=True)
def _widened(number: np.ndarray, impulse: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
    """The same numbers and impulses in arrays of ``room`` rows."""
    wide_number, wide_impulse = np.zeros(room, np.int64), np.zeros((room, 3))
    for i in range(number.size):
        wide_number[i] = number[i]
        for c in range(3):
            wide_impulse[i, c] = impulse[i, c]
    return wide_number, wide_impulse


@njit(cache=True)
def _margin(group: np.ndarray, ball: np.ndarray) -> float:
    """Gap [m] up to which pairs are listed as near."""
    total = 0.0
    for a in range(group.size):
        total += ball[group[a], 3]
    return max(_MARGIN * total / max(group.size, 1), _LEAST_MARGIN)


@njit(cache=True, error_model="numpy")
def run(
    model: Model,
    step_size: float,
    theta: float,
    tolerance: float,
    max_sweeps: int,
    q: np.ndarray,
    v: np.ndarray,
    old_number: np.ndarray,
    old_impulse: np.ndarray,
    sums: np.ndarray,
    first: int,
    count: int,
    every: int,
    every_pair: np.ndarray,
    saved: Saved,
    log: Log,
    newton: Any,
) -> tuple[int, int, int, float, np.ndarray, np.ndarray, Log]:
    """Do ``count`` steps from step number ``first`` and save the multiples of ``every`` and the last.

    ``old_number`` (k,), ``old_impulse`` (k, 3)  of the contacts loaded in the step before
    ``every_pair``  (m, 4) all possible contacts if they are saved as a table, else (0, 4) and they are logged
    ``newton``      the method for heaps, by its address, see ``rigid_parts``
    Uses q and v as its own. Returns how it ended (DONE, UNSOLVED, OVERFLOW), the number of samples saved, the number
    of contacts in the last step and its residual, numbers and impulses of the contacts loaded at the last sample, and
    the log.
    """
    dimension, gravity, body, ball = model.dimension, model.gravity, model.body.copy(), model.ball
    ball_body, plane, pair, pair_law = model.ball_body, model.plane, model.pair, model.pair_law
    group, group_plane, group_law = model.group, model.group_plane, model.group_law
    ground, listed = body.shape[0] - 1, model.listed
    centre, reference = np.empty((ball.shape[0], 3)), np.empty((ball.shape[0], 3))
    near, closed = np.empty((0, 4), np.int64), np.empty(pair.shape[0], np.int64)
    known = np.empty(pair.shape[0])
    room = max(_ROOM, old_number.size)
    contact, link = np.empty((room, CONTACT_COLUMNS)), np.empty((room, 3), np.int64)
    impulse, momentum = np.empty((room, 3)), new_momentum(room, body.shape[0])
    number, loaded = _widened(old_number, old_impulse, room)
    kept_number, kept_impulse = _widened(old_number, old_impulse, room)
    found, kept = old_number.size, old_number.size
    q_after, v_after = np.empty_like(q), np.empty_like(v)
    margin, searched = _margin(group, ball), False
    friction, impact, numerical = sums[2], sums[3], sums[4]
    row, total, reached = 0, 0, 0.0
    for n in range(count):
        set_place(dimension, body, q, v, (1.0 - theta) * step_size)
        set_centres(body, ball, ball_body, centre)
        if group.size > 0 and (not searched or has_moved(group, centre, reference, margin)):
            near = near_pairs(
                listed, dimension, group, group_plane, centre, ball, ball_body, plane, ground, margin
            )
            _copy(centre, reference)
            searched = True
            if closed.size < pair.shape[0] + near.shape[0]:
                closed = np.empty(2 * (pair.shape[0] + near.shape[0]), np.int64)
                known = np.empty(closed.size)
        set_free(dimension, gravity, body, v, step_size, theta)
        back = step_size * min(1.0, first + n + 1.0 - theta)
        fastest = 0.0
        for a in range(v.size):
            fastest = max(fastest, abs(v[a]))
        of_pairs = total = find_closed(
            pair,
            centre,
            ball,
            ball_body,
            plane,
            body,
            fastest,
            step_size,
            back,
            number,
            found,
            closed,
            known,
            0,
        )
        if group.size > 0:
            total = find_closed(
                near, centre, ball, ball_body, plane, body, fastest, step_size, back, number, found,
                closed, known, total,
            )  # fmt: skip
        if total > room:
            room = 2 * total
            contact, link = np.empty((room, CONTACT_COLUMNS)), np.empty((room, 3), np.int64)
            impulse, momentum = np.empty((room, 3)), new_momentum(room, body.shape[0])
            number, loaded = _widened(number, loaded, room)
            kept_number, kept_impulse = _widened(kept_number, kept_impulse, room)
        for i in range(of_pairs):
            k = closed[i]
            set_contact(
                dimension, pair, k, centre, ball, ball_body, plane, body, contact, link, i,
                pair_law[k, 0], pair_law[k, 1],
            )  # fmt: skip
        for i in range(of_pairs, total):
            k, kind = closed[i], near[closed[i], KIND]
            set_contact(
                dimension, near, k, centre, ball, ball_body, plane, body, contact, link, i,
                group_law[kind, 0], group_law[kind, 1],
            )  # fmt: skip
        for i in range(total):
            set_lasting(contact, i, known[i])
        reached = 0.0
        if total == 1:
            reached = solve_alone(body, contact, link, impulse, total)
        elif total > 1:
            warm_start(link, impulse, total, number, loaded, found)
            reached = solve(body, contact, link, impulse, total, tolerance, max_sweeps, momentum, newton)
        if not reached <= tolerance:
            return UNSOLVED, row, total, reached, kept_number[:kept], kept_impulse[:kept], log
        if total > 0 or found > 0:
            set_change(body, contact, link, impulse, total)
        set_after(dimension, body, v, v_after)
        advance(dimension, q, v, v_after, step_size, theta, q_after)
        rubbed, hit, turned = contact_losses(body, contact, link, impulse, total)
        lost = turned + numerical_loss(dimension, gravity, body, q, q_after, v, v_after)
        if not math.isfinite(rubbed + hit + lost):
            return OVERFLOW, row, total, reached, kept_number[:kept], kept_impulse[:kept], log
        friction, impact, numerical = friction + rubbed, impact + hit, numerical + lost
        q, q_after, v, v_after = q_after, q, v_after, v
        found = _loaded(link, impulse, total, number, loaded)
        saved.residual[row] = max(saved.residual[row], reached)
        if every_pair.shape[0] > 0:
            sum_impulses(saved, row, body, contact, link, impulse, total)
        if n + 1 == count or (first + n + 1) % every == 0:
            save_state(saved, row, dimension, gravity, body, q, v, (friction, impact, numerical))
            set_place(dimension, body, q, v, 0.0)
            set_centres(body, ball, ball_body, centre)
            if every_pair.shape[0] > 0:
                save_contacts(
                    saved, row, every_pair, centre, ball, plane, body, contact, link, impulse, total
                )
            else:
                log = save_log(
                    log, row, pair, near, closed, of_pairs, centre, ball, plane, body, contact, link, impulse, total
                )  # fmt: skip
            kept = _loaded(link, impulse, total, kept_number, kept_impulse)
            row += 1
    return DONE, row, total, reached, kept_number[:kept], kept_impulse[:kept], log
