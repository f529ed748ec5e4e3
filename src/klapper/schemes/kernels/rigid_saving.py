"""What a sample keeps: the state, the energies, and the contacts as a table or as a log of the loaded ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_contacts import contact_velocity
from klapper.schemes.kernels.rigid_geometry import gap_of
from klapper.schemes.kernels.rigid_ledger import kinetic_energy, potential_energy
from klapper.schemes.kernels.rigid_sweep import natural_map
from klapper.schemes.kernels.rigid_tables import (
    APPLIED,
    APPROACH,
    BALL,
    BODY_A,
    BODY_B,
    FRICTION,
    LASTING,
    NUMBER,
    OWN,
    VELOCITY,
)

_fast = {"contract"}


class Saved(NamedTuple):
    """Samples, one row each: the arrays of ``klapper.results.Samples``; ``impulse`` and ``state`` start as zeros.

    ``gap``, ``state`` (s, m) and ``impulse`` (s, m, 1 + d) of all possible contacts; m = 0 if they are logged.
    """

    position: np.ndarray
    velocity: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray


class Log(NamedTuple):
    """Contacts loaded in the last step before each sample; entries ``start[k]:start[k + 1]`` belong to sample k.

    ``impulse`` (k, 3) is that of this one step.
    """

    start: np.ndarray
    number: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _state(
    f: tuple[float, float, float],
    v: tuple[float, float, float],
    approach: float,
    smooth: float,
    normal: float,
    weight: float,
    mu: float,
) -> int:
    """OPEN, STICK, SLIP or IMPACT from impulses f and velocities v after the step.

    An impact approaches faster than the applied forces of two steps, ``smooth`` each, could make it.
    """
    if not f[0] > 0.0:
        return OPEN
    if approach > 2.0 * smooth + 1e-12 * abs(approach):
        return IMPACT
    if mu == 0.0 or natural_map(f, v, normal, weight, mu)[1]:
        return SLIP
    return STICK


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def contact_state(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, i: int
) -> int:
    """State of contact i after the step."""
    a, b = link[i, BODY_A], link[i, BODY_B]
    smooth = abs(contact_velocity(body, APPLIED, contact, i, a, b)[0])
    v = contact_velocity(body, VELOCITY, contact, i, a, b)
    f = (impulse[i, 0], impulse[i, 1], impulse[i, 2])
    weight = max(contact[i, OWN + 3], contact[i, OWN + 5])
    approach = 0.0 if contact[i, LASTING] != 0.0 else -contact[i, APPROACH]
    return _state(f, v, approach, smooth, contact[i, OWN], weight, contact[i, FRICTION])


@njit(cache=True, error_model="numpy")
def save_state(
    saved: Saved,
    row: int,
    dimension: int,
    gravity: np.ndarray,
    body: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    losses: tuple[float, float, float],
) -> None:
    """Position, velocity and energies; ``losses`` [J] to friction, impact and stepping since the start."""
    position, velocity, energy = saved.position, saved.velocity, saved.energy
    for a in range(q.size):
        position[row, a] = q[a]
    for a in range(v.size):
        velocity[row, a] = v[a]
    energy[row, 0] = kinetic_energy(dimension, body, v)
    energy[row, 1] = potential_energy(dimension, gravity, body, q)
    energy[row, 4], energy[row, 5], energy[row, 6] = losses


@njit(cache=True, error_model="numpy")
def sum_impulses(
    saved: Saved,
    row: int,
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
) -> None:
    """Add the impulses of a step to the coming sample, and note its impacts."""
    total, state = saved.impulse, saved.state
    for i in range(count):
        if impulse[i, 0] != 0.0:
            k = link[i, NUMBER]
            for c in range(total.shape[2]):
                total[row, k, c] += impulse[i, c]
            if state[row, k] != IMPACT and contact_state(body, contact, link, impulse, i) == IMPACT:
                state[row, k] = IMPACT


@njit(cache=True, error_model="numpy")
def save_contacts(
    saved: Saved,
    row: int,
    every_pair: np.ndarray,
    centre: np.ndarray,
    ball: np.ndarray,
    plane: np.ndarray,
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
) -> None:
    """Gaps of all contacts at the ``centre`` of the sample, and states: of the last step unless there was an impact."""
    gap, state = saved.gap, saved.state
    for k in range(every_pair.shape[0]):
        gap[row, k] = gap_of(every_pair, k, centre, ball, plane) if every_pair[k, BALL] >= 0 else np.nan
    for i in range(count):
        k = link[i, NUMBER]
        if state[row, k] != IMPACT:
            state[row, k] = contact_state(body, contact, link, impulse, i)


@njit(cache=True)
def _wider(log: Log, needed: int) -> Log:
    """The log with room for at least ``needed`` entries."""
    if needed <= log.number.size:
        return log
    room = 2 * needed
    number, gap, state = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int8)
    impulse = np.empty((room, 3))
    for k in range(log.number.size):
        number[k], gap[k], state[k] = log.number[k], log.gap[k], log.state[k]
        for c in range(3):
            impulse[k, c] = log.impulse[k, c]
    return Log(log.start, number, gap, impulse, state)


@njit(cache=True, error_model="numpy")
def save_log(
    log: Log,
    row: int,
    pair: np.ndarray,
    near: np.ndarray,
    closed: np.ndarray,
    of_pairs: int,
    centre: np.ndarray,
    ball: np.ndarray,
    plane: np.ndarray,
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
) -> Log:
    """Append the loaded contacts, with their gaps at the ``centre`` of the sample."""
    entry = log.start[row]
    log = _wider(log, entry + count)
    for i in range(count):
        if impulse[i, 0] != 0.0:
            source = pair if i < of_pairs else near
            log.number[entry] = link[i, NUMBER]
            log.gap[entry] = gap_of(source, closed[i], centre, ball, plane)
            log.state[entry] = contact_state(body, contact, link, impulse, i)
            for c in range(3):
                log.impulse[entry, c] = impulse[i, c]
            entry += 1
    log.start[row + 1] = entry
    return log
