"""What planar and spatial models have in common: coordinates, contact numbers, laws, mass and weight."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.bodies.kernels.slots import (
    BALL,
    BALL_NUMBERS,
    BALL_WIDTH,
    BODIES,
    BODY,
    BODY_SIZE,
    GRAVITY,
    GROUP,
    GROUP_COUNT,
    GROUP_SIZE,
    LAW,
    LAW_NUMBERS,
    LAW_WIDTH,
    LISTED,
    LISTED_COUNT,
    LISTED_SIZE,
    MASS,
    PLANE,
    PLANE_NUMBERS,
    PLANE_SIZE,
    PLANE_WIDTH,
    WEIGHT,
)
from klapper.mechanics.kernels.given import coefficient
from klapper.mechanics.kernels.signatures import form_function


@njit(cache=True, error_model="numpy")
def pair(index: np.ndarray, which: int) -> tuple[int, int, int, int, bool]:
    """Ball, other, whether the other is a half-space, law, and whether the number stands for a contact."""
    if which < index[LISTED_COUNT]:
        at = index[LISTED] + LISTED_SIZE * which
        return index[at], index[at + 1], index[at + 2], which, True
    at, law = index[GROUP], index[LISTED_COUNT]
    for _ in range(index[GROUP_COUNT]):
        within, balls = which - index[at], index[at + 1]
        if within < balls * (balls + index[at + 2]):
            row, column = within // balls, within % balls
            second = index[index[at + 3] + column]
            if row >= balls:
                return second, index[index[at + 4] + row - balls], 1, law + 1, True
            first = index[index[at + 3] + row]
            apart = index[index[BALL] + first] != index[index[BALL] + second]
            return first, second, 0, law, row < column and apart
        at += GROUP_SIZE
        law += 2
    return 0, 0, 0, 0, False


@njit(cache=True, error_model="numpy")
def numbers_of(
    index: np.ndarray, ball: int, other: int, with_plane: int
) -> tuple[int, int, int, int, int, int]:
    """Places in ``data`` of a ball and what it may touch, their bodies, and signals of motion and sliding or −1."""
    at = index[BALL_NUMBERS] + BALL_WIDTH * ball
    if with_plane:
        plane = index[PLANE] + PLANE_SIZE * other
        numbers = index[PLANE_NUMBERS] + PLANE_WIDTH * other
        return at, numbers, index[index[BALL] + ball], index[plane], index[plane + 1], index[plane + 2]
    numbers = index[BALL_NUMBERS] + BALL_WIDTH * other
    return at, numbers, index[index[BALL] + ball], index[index[BALL] + other], -1, -1


@njit(cache=True, error_model="numpy")
def put_columns(index: np.ndarray, columns: np.ndarray, first: int, second: int) -> None:
    """The velocities (w,) of two bodies, those that they have."""
    at = 0
    for body in (first, second):
        start = index[index[BODY] + BODY_SIZE * body + 1]
        for k in range(index[index[BODY] + BODY_SIZE * body + 2]):
            columns[at] = start + k
            at += 1
    for k in range(at, columns.size):
        columns[k] = 0


@form_function("laws")
def laws(index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray) -> None:
    for k in range(which.size):
        _, _, _, law, _ = pair(index, which[k])
        numbers = index[LAW_NUMBERS] + LAW_WIDTH * law
        out[k, 0] = 1.0
        out[k, 1] = data[numbers]
        out[k, 2] = coefficient(index, data, index[index[LAW] + law], speed[k])
        out[k, 3] = 0.0
        out[k, 4] = data[numbers + 1]


@form_function("mass")
def mass(index: np.ndarray, data: np.ndarray, q: np.ndarray, out: np.ndarray) -> None:
    for k in range(out.size):
        out[k] = data[index[MASS] + k]


@form_function("force")
def weight(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    for k in range(out.size):
        out[k] = data[index[WEIGHT] + k]


@njit(cache=True, error_model="numpy")
def height_energy(index: np.ndarray, data: np.ndarray, q: np.ndarray, dimension: int) -> float:
    """−Σ m g · x."""
    total = 0.0
    for body in range(index[BODIES]):
        at = index[index[BODY] + BODY_SIZE * body]
        for k in range(dimension):
            total -= data[index[GRAVITY] + 3 * body + k] * q[at + k]
    return total


@form_function("powers")
def no_powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    out[0] = out[1] = 0.0


@njit(cache=True, error_model="numpy")
def share_of(rest: float, length: float, stiffness: float) -> float:
    """k (l − l₀)/l of a spring; k without a rest length, and 0 where the direction is undefined."""
    if length > 0.0:
        return stiffness * (1.0 - rest / length)
    return 0.0 if rest > 0.0 else stiffness


@njit(cache=True, error_model="numpy")
def half_turn(angle: float) -> float:
    """An angle in [−π, π), as by the remainder."""
    return np.remainder(angle + math.pi, 2.0 * math.pi) - math.pi
