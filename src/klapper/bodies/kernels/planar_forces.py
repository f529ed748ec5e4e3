"""Springs, torsion springs and loads in the plane, by the formulas of :mod:`klapper.bodies.springs`, ``torsion`` and
``loads``."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.bodies.kernels.planar_contacts import motion, pose
from klapper.bodies.kernels.planar_joints import reach, turn_of
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
    TORSION,
    TORSION_COUNT,
    TORSION_NUMBERS,
    TORSION_SIZE,
    TORSION_WIDTH,
)
from klapper.mechanics.kernels.signatures import form_function


@njit(cache=True, error_model="numpy")
def push(index: np.ndarray, out: np.ndarray, body: int, x: float, y: float, moment: float) -> None:
    """Add a force and a moment on a body to a generalised force (nv,)."""
    at = index[BODY] + BODY_SIZE * body
    row, count = index[at + 1], index[at + 2]
    if count > 0:
        out[row] += x
        out[row + 1] += y
        if count == 3:
            out[row + 2] += moment


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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


@form_function("force")
def force(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Weight, springs, torsion springs and loads."""
    weight(index, data, t, q, v, out)
    for k in range(index[SPRING_COUNT]):
        at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
        length, x, y, a_x, a_y, b_x, b_y = spring(index, data, q, k)
        own, given = lengthening(index, data, v, k, x, y, a_x, a_y, b_x, b_y)
        pull = data[numbers + 6] * (length - data[numbers + 7]) + data[numbers + 8] * (own + given)
        push(index, out, index[at], -pull * x, -pull * y, -pull * (a_x * y - a_y * x))
        push(index, out, index[at + 1], pull * x, pull * y, pull * (b_x * y - b_y * x))
    for k in range(index[TORSION_COUNT]):
        at = index[TORSION] + TORSION_SIZE * k
        stretch, rate, numbers = twist(index, data, q, v, k)
        moment = data[numbers + 7] * stretch + data[numbers + 9] * rate
        push(index, out, index[at], 0.0, 0.0, -moment)
        push(index, out, index[at + 1], 0.0, 0.0, moment)
    for k in range(index[LOAD_COUNT]):
        at = index[LOAD] + LOAD_SIZE * k
        body, given, turning = index[at], index[at + 1], index[at + 2]
        x, y = reach(data, pose(index, q, body), index[LOAD_NUMBERS] + LOAD_WIDTH * k, index[NOTHING])
        moment = data[turning] + (x * data[given + 1] - y * data[given])
        push(index, out, body, data[given], data[given + 1], moment)


@njit(cache=True, error_model="numpy")
def twist(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, v: np.ndarray, k: int
) -> tuple[float, float, int]:
    """α − α₀ and α̇ of a torsion spring, and the place of its numbers."""
    at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
    a, b = index[at], index[at + 1]
    angle = turn_of(index, q, a) - turn_of(index, q, b) - data[numbers + 3]
    return angle - data[numbers + 8], motion(index, v, a)[2] - motion(index, v, b)[2], numbers


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
    """Of every spring all velocities of its two bodies by all of them, of torsion springs those that turn."""
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
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        a = index[index[BODY] + BODY_SIZE * index[at] + 2] == 3
        b = index[index[BODY] + BODY_SIZE * index[at + 1] + 2] == 3
        for m in range(2):
            for n in range(2):
                if (a if m == 0 else b) and (a if n == 0 else b):
                    sign = 1.0 if m == n else -1.0
                    by_position[entry] = -sign * data[numbers + 7]
                    by_velocity[entry] = -sign * data[numbers + 9]
                    entry += 1


@form_function("potential")
def weight_potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    return height_energy(index, data, q, 2)


@form_function("potential")
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    """Of weight, of springs that are not on moved supports, and of torsion springs."""
    total = height_energy(index, data, q, 2)
    for k in range(index[SPRING_COUNT]):
        if index[index[SPRING] + SPRING_SIZE * k + 4] == 0:
            numbers = index[SPRING_NUMBERS] + SPRING_WIDTH * k
            stretch = spring(index, data, q, k)[0] - data[numbers + 7]
            total += 0.5 * data[numbers + 6] * stretch * stretch
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        stretch = turn_of(index, q, index[at]) - turn_of(index, q, index[at + 1])
        stretch = stretch - data[numbers + 3] - data[numbers + 8]
        total += 0.5 * data[numbers + 7] * stretch * stretch
    return total


@form_function("powers")
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
    for k in range(index[TORSION_COUNT]):
        _, rate, numbers = twist(index, data, q, v, k)
        out[1] += data[numbers + 9] * rate * rate
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
