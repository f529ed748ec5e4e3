"""Springs, torsion springs and loads in the plane, by the formulas of :mod:`klapper.bodies.springs`, ``torsion`` and
``loads``."""

from __future__ import annotations

import math

import numpy as np

from klapper.bodies.kernels.planar_contacts import motion, pose
from klapper.bodies.kernels.planar_joints import reach
from klapper.bodies.kernels.shared import height_energy, share_of, weight
from klapper.bodies.kernels.slots import (
    BODY,
    BODY_SIZE,
    LOAD,
    LOAD_COUNT,
    LOAD_NUMBERS,
    LOAD_SIZE,
    LOAD_WIDTH,
    NOTHING,
    SPRING,
    SPRING_COUNT,
    SPRING_NUMBERS,
    SPRING_SIZE,
    SPRING_WIDTH,
)
from klapper.machine_code import njit
from klapper.mechanics.kernels.signatures import form_function, inlined


@inlined
def push(index: np.ndarray, out: np.ndarray, body: int, x: float, y: float, moment: float) -> None:
    """Add a force and a moment on a body to a generalised force (nv,)."""
    at = index[BODY] + BODY_SIZE * body
    row, count = index[at + 1], index[at + 2]
    if count > 0:
        out[row] += x
        out[row + 1] += y
        if count == 3:
            out[row + 2] += moment


@inlined
def spring(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, k: int
) -> tuple[float, float, float, float, float, float, float]:
    """Length, the line (x, y) from b to a, and the points a and b relative to the centres of their bodies."""
    at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
    pose_a, pose_b = pose(index, q, index[at]), pose(index, q, index[at + 1])
    a_x, a_y = reach(data, pose_a, numbers, index[at + 2])
    b_x, b_y = reach(data, pose_b, numbers + 3, index[at + 3])
    x, y = pose_a[0] + a_x - (pose_b[0] + b_x), pose_a[1] + a_y - (pose_b[1] + b_y)
    length = math.sqrt(x * x + y * y)
    if length > 0.0:
        x, y = x / length, y / length
    else:
        x, y = 0.0, 0.0
    return length, x, y, a_x, a_y, b_x, b_y


@inlined
def lengthening(
    index: np.ndarray,
    data: np.ndarray,
    v: np.ndarray,
    k: int,
    x: float,
    y: float,
    a_x: float,
    a_y: float,
    b_x: float,
    b_y: float,
) -> tuple[float, float]:
    """l̇ of a spring, from the velocities and from moved supports."""
    at = index[SPRING] + SPRING_SIZE * k
    first, second = motion(index, v, index[at]), motion(index, v, index[at + 1])
    moved_a, moved_b = index[at + 2], index[at + 3]
    own = x * (first[0] - first[2] * a_y - second[0] + second[2] * b_y)
    own += y * (first[1] + first[2] * a_x - second[1] - second[2] * b_x)
    given = x * (data[moved_a + 2] - data[moved_b + 2]) + y * (data[moved_a + 3] - data[moved_b + 3])
    return own, given


@form_function("force", allocates=False)
def force(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Weight, springs and loads."""
    weight(index, data, t, q, v, out)
    for k in range(index[SPRING_COUNT]):
        at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
        length, x, y, a_x, a_y, b_x, b_y = spring(index, data, q, k)
        own, given = lengthening(index, data, v, k, x, y, a_x, a_y, b_x, b_y)
        pull = data[numbers + 6] * (length - data[numbers + 7]) + data[numbers + 8] * (own + given)
        push(index, out, index[at], -pull * x, -pull * y, -pull * (a_x * y - a_y * x))
        push(index, out, index[at + 1], pull * x, pull * y, pull * (b_x * y - b_y * x))
    for k in range(index[LOAD_COUNT]):
        at = index[LOAD] + LOAD_SIZE * k
        body, given, turning = index[at], index[at + 1], index[at + 2]
        x, y = reach(data, pose(index, q, body), index[LOAD_NUMBERS] + LOAD_WIDTH * k, index[NOTHING])
        moment = data[turning] + (x * data[given + 1] - y * data[given])
        push(index, out, body, data[given], data[given + 1], moment)


@njit(cache=True, error_model="numpy")
def spring_tangents(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, by_position: np.ndarray, by_velocity: np.ndarray
) -> int:
    """Of every spring all velocities of its two bodies by all of them; returns how many entries that are."""
    direction, arms = np.empty(6), np.empty((2, 6))
    entry = 0
    for k in range(index[SPRING_COUNT]):
        at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
        stiffness, rest, damping = data[numbers + 6], data[numbers + 7], data[numbers + 8]
        length, x, y, a_x, a_y, b_x, b_y = spring(index, data, q, k)
        arms[0, 0], arms[0, 1], arms[0, 2] = 1.0, 0.0, -a_y
        arms[0, 3], arms[0, 4], arms[0, 5] = -1.0, 0.0, b_y
        arms[1, 0], arms[1, 1], arms[1, 2] = 0.0, 1.0, a_x
        arms[1, 3], arms[1, 4], arms[1, 5] = 0.0, -1.0, -b_x
        for i in range(6):
            direction[i] = x * arms[0, i] + y * arms[1, i]
        share, pull = share_of(rest, length, stiffness), stiffness * (length - rest)
        first = index[index[BODY] + BODY_SIZE * index[at] + 2]
        size = first + index[index[BODY] + BODY_SIZE * index[at + 1] + 2]
        for m in range(size):
            i = m if m < first else 3 + m - first
            for n in range(size):
                j = n if n < first else 3 + n - first
                outer = direction[i] * direction[j]
                across = arms[0, i] * arms[0, j] + arms[1, i] * arms[1, j] - outer
                by_position[entry] = -stiffness * outer - share * across
                if i == 2 and j == 2:
                    by_position[entry] += pull * (a_x * x + a_y * y)
                if i == 5 and j == 5:
                    by_position[entry] -= pull * (b_x * x + b_y * y)
                by_velocity[entry] = -damping * outer
                entry += 1
    return entry


@form_function("tangents")
def tangents(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    by_position: np.ndarray,
    by_velocity: np.ndarray,
) -> None:
    spring_tangents(index, data, q, by_position, by_velocity)


@form_function("potential", allocates=False)
def weight_potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    return height_energy(index, data, q, 2)


@form_function("potential", allocates=False)
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    """Of weight, and of springs that are not on moved supports."""
    total = height_energy(index, data, q, 2)
    for k in range(index[SPRING_COUNT]):
        if index[index[SPRING] + SPRING_SIZE * k + 4] == 0:
            numbers = index[SPRING_NUMBERS] + SPRING_WIDTH * k
            stretch = spring(index, data, q, k)[0] - data[numbers + 7]
            total += 0.5 * data[numbers + 6] * stretch * stretch
    return total


@form_function("powers", allocates=False)
def powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    out[0] = out[1] = 0.0
    for k in range(index[SPRING_COUNT]):
        numbers = index[SPRING_NUMBERS] + SPRING_WIDTH * k
        length, x, y, a_x, a_y, b_x, b_y = spring(index, data, q, k)
        own, given = lengthening(index, data, v, k, x, y, a_x, a_y, b_x, b_y)
        pull, rate = data[numbers + 6] * (length - data[numbers + 7]), own + given
        out[0] += (pull + data[numbers + 8] * rate) * given
        if index[index[SPRING] + SPRING_SIZE * k + 4] != 0:
            out[0] -= pull * rate
        out[1] += data[numbers + 8] * rate * rate
    for k in range(index[LOAD_COUNT]):
        at = index[LOAD] + LOAD_SIZE * k
        body, given, turning = index[at], index[at + 1], index[at + 2]
        x, y = reach(data, pose(index, q, body), index[LOAD_NUMBERS] + LOAD_WIDTH * k, index[NOTHING])
        fast_x, fast_y, turn = motion(index, v, body)
        out[0] += data[given] * fast_x + data[given + 1] * fast_y
        out[0] += (data[turning] + (x * data[given + 1] - y * data[given])) * turn


@form_function("damping")
def damping(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> float:
    both = np.empty(2)
    powers(index, data, t, q, v, both)
    return both[1]
