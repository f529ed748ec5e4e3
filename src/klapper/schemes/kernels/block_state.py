"""The arrays that the compiled loop of nested prox steps reads and writes: loads, the state, and room for one step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.block_iteration import Place


class Loads(NamedTuple):
    """(F_x, F_y, M) of every step (count, 3): at its middle, at its start, and the rate there."""

    middle: np.ndarray
    start: np.ndarray
    rate: np.ndarray


class State(NamedTuple):
    """What a step changes: position and velocity (n,), flags κ (2,), impulses (4,) of the step, sums (5,) of the
    ledger, counts (4,) of the run."""

    q: np.ndarray
    v: np.ndarray
    sticks: np.ndarray
    impulse: np.ndarray
    sums: np.ndarray
    counts: np.ndarray


class Room(NamedTuple):
    """Arrays that steps write into."""

    q_middle: np.ndarray
    q_after: np.ndarray
    middle: np.ndarray
    gap: np.ndarray
    slip: np.ndarray
    stretch: np.ndarray
    rows: np.ndarray
    counts: np.ndarray
    by_position: np.ndarray
    by_velocity: np.ndarray
    by_time: np.ndarray


@njit(cache=True, inline="always")
def new_room(n: int) -> Room:
    return Room(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(2),
        np.empty(2),
        np.empty(3),
        np.empty((3, 6)),
        np.empty(4),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n),
    )


@njit(cache=True, inline="always")
def new_place(n: int) -> Place:
    return Place(
        np.empty((n, 4)),
        np.empty(n),
        np.empty((4, 4)),
        np.zeros(2, np.bool_),
        np.zeros(2, np.bool_),
        np.zeros(2),
    )
