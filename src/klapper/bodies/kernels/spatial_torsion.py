"""Torsion springs in space, on top of weight, springs and loads: formulas of :mod:`klapper.bodies.torsion`."""

from __future__ import annotations

import math

import numpy as np

from klapper.bodies.kernels import spatial_forces as others
from klapper.bodies.kernels.slots import (
    BODY,
    BODY_SIZE,
    TORSION,
    TORSION_COUNT,
    TORSION_NUMBERS,
    TORSION_SIZE,
    TORSION_WIDTH,
)
from klapper.bodies.kernels.spatial_forces import push, spring_tangents
from klapper.bodies.kernels.spatial_joints import angle_direction, direction_rate, relative_turn
from klapper.bodies.kernels.spatial_vectors import (
    Rotation,
    Vector,
    cross,
    dot,
    plus,
    quaternion,
    rotation,
    spin,
    times,
    turn,
    turn_back,
    vector,
)
from klapper.mechanics.kernels.signatures import form_function, inlined


@inlined
def twist(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, v: np.ndarray, k: int, r_a: Rotation, r_b: Rotation
) -> tuple[float, float, Vector]:
    """α − α₀ and α̇ of a torsion spring, and the direction n in world axes."""
    at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
    a, b = index[at], index[at + 1]
    w, r = relative_turn(data, quaternion(index, q, a), quaternion(index, q, b), numbers + 3)
    s, _, direction = angle_direction(w, r, vector(data, numbers))
    n = turn(r_b, direction)
    rate = dot(turn_back(r_a, n), spin(index, v, a)) - dot(turn_back(r_b, n), spin(index, v, b))
    return 2.0 * math.atan2(s, w) - data[numbers + 8], rate, n


@form_function("force", allocates=False)
def force(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    others.force(index, data, t, q, v, out)
    none = (0.0, 0.0, 0.0)
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        r_a, r_b = rotation(index, q, index[at]), rotation(index, q, index[at + 1])
        stretch, rate, n = twist(index, data, q, v, k, r_a, r_b)
        moment = data[numbers + 7] * stretch + data[numbers + 9] * rate
        push(index, out, index[at], r_a, none, times(-moment, n))
        push(index, out, index[at + 1], r_b, none, times(moment, n))


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
    """Of springs, and of every torsion spring all spins of its two bodies by all of them: −k n nᵀ − M ∂n/∂q and
    −d n nᵀ."""
    entry = spring_tangents(index, data, q, by_position, by_velocity)
    direction, turning = np.empty(6), np.empty((6, 6))
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        a, b, axis = index[at], index[at + 1], vector(data, numbers)
        r_a, r_b = rotation(index, q, a), rotation(index, q, b)
        w, r = relative_turn(data, quaternion(index, q, a), quaternion(index, q, b), numbers + 3)
        s, below, n = angle_direction(w, r, axis)
        on_a = turn_back(r_a, turn(r_b, n))
        for i in range(3):
            direction[i], direction[3 + i] = on_a[i], -n[i]
        for j in range(6):
            unit = (1.0 if j % 3 == 0 else 0.0, 1.0 if j % 3 == 1 else 0.0, 1.0 if j % 3 == 2 else 0.0)
            relative = turn_back(r_b, turn(r_a, unit)) if j < 3 else times(-1.0, unit)
            change = direction_rate(w, r, axis, s, below, n, relative)
            seen = turn_back(r_a, turn(r_b, plus(change, cross(n, relative))))
            for i in range(3):
                turning[i, j], turning[3 + i, j] = seen[i], -change[i]
        stiffness, damping = data[numbers + 7], data[numbers + 9]
        moment = stiffness * (2.0 * math.atan2(s, w) - data[numbers + 8])
        begin = 0 if index[index[BODY] + BODY_SIZE * a + 2] == 6 else 3
        end = 6 if index[index[BODY] + BODY_SIZE * b + 2] == 6 else 3
        for i in range(begin, end):
            for j in range(begin, end):
                outer = direction[i] * direction[j]
                by_position[entry] = -stiffness * outer - 0.5 * moment * (turning[i, j] + turning[j, i])
                by_velocity[entry] = -damping * outer
                entry += 1


@form_function("potential", allocates=False)
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    total = others.potential(index, data, q)
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        a, b = quaternion(index, q, index[at]), quaternion(index, q, index[at + 1])
        w, r = relative_turn(data, a, b, numbers + 3)
        stretch = 2.0 * math.atan2(dot(r, vector(data, numbers)), w) - data[numbers + 8]
        total += 0.5 * data[numbers + 7] * stretch * stretch
    return total


@form_function("powers", allocates=False)
def powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    others.powers(index, data, t, q, v, out)
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        r_a, r_b = rotation(index, q, index[at]), rotation(index, q, index[at + 1])
        rate = twist(index, data, q, v, k, r_a, r_b)[1]
        out[1] += data[numbers + 9] * rate * rate


@form_function("damping")
def damping(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> float:
    both = np.empty(2)
    powers(index, data, t, q, v, both)
    return both[1]
