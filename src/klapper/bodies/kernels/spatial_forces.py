"""Gyroscopic moments, springs, torsion springs and loads in space, by the formulas of :mod:`klapper.bodies.springs`,
``torsion`` and ``loads``."""

from __future__ import annotations

import math

import numpy as np

from klapper.bodies.kernels.shared import height_energy, share_of, weight
from klapper.bodies.kernels.slots import (
    BODIES,
    BODY,
    BODY_SIZE,
    INERTIA,
    LOAD,
    LOAD_COUNT,
    LOAD_NUMBERS,
    LOAD_SIZE,
    LOAD_WIDTH,
    SPRING,
    SPRING_COUNT,
    SPRING_NUMBERS,
    SPRING_SIZE,
    SPRING_WIDTH,
)
from klapper.bodies.kernels.spatial_vectors import (
    Rotation,
    Vector,
    centre,
    cross,
    dot,
    minus,
    plus,
    rotation,
    speed,
    spin,
    times,
    turn,
    turn_back,
    vector,
)
from klapper.machine_code import njit
from klapper.mechanics.kernels.signatures import form_function, inlined


@inlined
def push(index: np.ndarray, out: np.ndarray, body: int, r: Rotation, force: Vector, moment: Vector) -> None:
    """Add a force and a moment, in world axes, on a body to a generalised force (nv,)."""
    at = index[BODY] + BODY_SIZE * body
    row, count = index[at + 1], index[at + 2]
    if count > 0:
        out[row] += force[0]
        out[row + 1] += force[1]
        out[row + 2] += force[2]
        if count == 6:
            x, y, z = turn_back(r, moment)
            out[row + 3] += x
            out[row + 4] += y
            out[row + 5] += z


@form_function("force", allocates=False)
def gyroscopic(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Weight and −ω × I ω."""
    weight(index, data, t, q, v, out)
    for body in range(index[BODIES]):
        at = index[BODY] + BODY_SIZE * body
        if index[at + 2] == 6:
            row, inertia = index[at + 1] + 3, index[INERTIA] + 3 * body
            x, y, z = v[row], v[row + 1], v[row + 2]
            l_x, l_y, l_z = data[inertia] * x, data[inertia + 1] * y, data[inertia + 2] * z
            out[row] -= y * l_z - z * l_y
            out[row + 1] -= z * l_x - x * l_z
            out[row + 2] -= x * l_y - y * l_x


@inlined
def spring(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, k: int, r_a: Rotation, r_b: Rotation
) -> tuple[float, Vector, Vector, Vector]:
    """Length, the line from b to a, and the points a and b relative to the centres of their bodies."""
    at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
    arm_a = plus(turn(r_a, vector(data, numbers)), vector(data, index[at + 2]))
    arm_b = plus(turn(r_b, vector(data, numbers + 3)), vector(data, index[at + 3]))
    away = minus(plus(centre(index, q, index[at]), arm_a), plus(centre(index, q, index[at + 1]), arm_b))
    length = math.sqrt(dot(away, away))
    line = (0.0, 0.0, 0.0)
    if length > 0.0:
        line = (away[0] / length, away[1] / length, away[2] / length)
    return length, line, arm_a, arm_b


@inlined
def lengthening(
    index: np.ndarray,
    data: np.ndarray,
    v: np.ndarray,
    k: int,
    r_a: Rotation,
    r_b: Rotation,
    line: Vector,
    arm_a: Vector,
    arm_b: Vector,
) -> tuple[float, float]:
    """The two parts of l̇ of a spring: from the velocities, and from moved supports."""
    at = index[SPRING] + SPRING_SIZE * k
    a, b = index[at], index[at + 1]
    first = plus(speed(index, v, a), cross(turn(r_a, spin(index, v, a)), arm_a))
    second = plus(speed(index, v, b), cross(turn(r_b, spin(index, v, b)), arm_b))
    given = minus(vector(data, index[at + 2] + 3), vector(data, index[at + 3] + 3))
    return dot(line, minus(first, second)), dot(line, given)


@inlined
def load(index: np.ndarray, data: np.ndarray, k: int, r: Rotation) -> tuple[Vector, Vector]:
    """Force and moment about the centre of the body, in world axes."""
    at = index[LOAD] + LOAD_SIZE * k
    force = vector(data, index[at + 1])
    arm = turn(r, vector(data, index[LOAD_NUMBERS] + LOAD_WIDTH * k))
    return force, plus(vector(data, index[at + 2]), cross(arm, force))


@form_function("force", allocates=False)
def force(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Weight, gyroscopic moments, springs and loads."""
    gyroscopic(index, data, t, q, v, out)
    for k in range(index[SPRING_COUNT]):
        at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
        r_a, r_b = rotation(index, q, index[at]), rotation(index, q, index[at + 1])
        length, line, arm_a, arm_b = spring(index, data, q, k, r_a, r_b)
        own, given = lengthening(index, data, v, k, r_a, r_b, line, arm_a, arm_b)
        pull = data[numbers + 6] * (length - data[numbers + 7]) + data[numbers + 8] * (own + given)
        on_b = times(pull, line)
        on_a = times(-1.0, on_b)
        push(index, out, index[at], r_a, on_a, cross(arm_a, on_a))
        push(index, out, index[at + 1], r_b, on_b, cross(arm_b, on_b))
    for k in range(index[LOAD_COUNT]):
        body = index[index[LOAD] + LOAD_SIZE * k]
        r_a = rotation(index, q, body)
        on_a, moment_a = load(index, data, k, r_a)
        push(index, out, body, r_a, on_a, moment_a)


@inlined
def put_reach(reach: np.ndarray, side: int, sign: float, r: Rotation, p: Vector) -> None:
    """Columns of P (3, 12) of one body: ±I and ∓R p̃, p in the axes of the body."""
    for i in range(3):
        for j in range(3):
            reach[i, 6 * side + j] = sign if i == j else 0.0
    for j in range(3):
        unit = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        x, y, z = turn(r, cross(unit, p))  # −p × e_j
        reach[0, 6 * side + 3 + j], reach[1, 6 * side + 3 + j] = sign * x, sign * y
        reach[2, 6 * side + 3 + j] = sign * z


@inlined
def put_arms(arms: np.ndarray, side: int, sign: float, p: Vector, seen: Vector) -> None:
    """± p̃ s̃ = ± (s pᵀ − p · s I), symmetric part, of one body: what its turning adds while u stays."""
    straight = dot(p, seen)
    for i in range(3):
        for j in range(3):
            arms[side, i, j] = sign * 0.5 * (seen[i] * p[j] + seen[j] * p[i])
        arms[side, i, i] -= sign * straight


@njit(cache=True, error_model="numpy")
def spring_tangents(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, by_position: np.ndarray, by_velocity: np.ndarray
) -> int:
    """Of every spring all velocities of its two bodies by all of them; returns how many entries that are."""
    direction, reach, arms = np.empty(12), np.empty((3, 12)), np.empty((2, 3, 3))
    entry = 0
    for k in range(index[SPRING_COUNT]):
        at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
        stiffness, rest, damping = data[numbers + 6], data[numbers + 7], data[numbers + 8]
        r_a, r_b = rotation(index, q, index[at]), rotation(index, q, index[at + 1])
        length, line, _, _ = spring(index, data, q, k, r_a, r_b)
        place_a, place_b = vector(data, numbers), vector(data, numbers + 3)
        put_reach(reach, 0, 1.0, r_a, place_a)
        put_reach(reach, 1, -1.0, r_b, place_b)
        put_arms(arms, 0, 1.0, place_a, turn_back(r_a, line))
        put_arms(arms, 1, -1.0, place_b, turn_back(r_b, line))
        for i in range(12):
            direction[i] = line[0] * reach[0, i] + line[1] * reach[1, i] + line[2] * reach[2, i]
        share, pull = share_of(rest, length, stiffness), stiffness * (length - rest)
        first = index[index[BODY] + BODY_SIZE * index[at] + 2]
        size = first + index[index[BODY] + BODY_SIZE * index[at + 1] + 2]
        for m in range(size):
            i = m if m < first else 6 + m - first
            for n in range(size):
                j = n if n < first else 6 + n - first
                outer = direction[i] * direction[j]
                across = reach[0, i] * reach[0, j] + reach[1, i] * reach[1, j] + reach[2, i] * reach[2, j]
                by_position[entry] = -stiffness * outer - share * (across - outer)
                if i // 6 == j // 6 and i % 6 > 2 and j % 6 > 2:
                    by_position[entry] -= pull * arms[i // 6, i % 6 - 3, j % 6 - 3]
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
    return height_energy(index, data, q, 3)


@form_function("potential", allocates=False)
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    """Of weight, and of springs that are not on moved supports."""
    total = height_energy(index, data, q, 3)
    for k in range(index[SPRING_COUNT]):
        at = index[SPRING] + SPRING_SIZE * k
        if index[at + 4] == 0:
            numbers = index[SPRING_NUMBERS] + SPRING_WIDTH * k
            r_a, r_b = rotation(index, q, index[at]), rotation(index, q, index[at + 1])
            stretch = spring(index, data, q, k, r_a, r_b)[0] - data[numbers + 7]
            total += 0.5 * data[numbers + 6] * stretch * stretch
    return total


@form_function("powers", allocates=False)
def powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    out[0] = out[1] = 0.0
    for k in range(index[SPRING_COUNT]):
        at, numbers = index[SPRING] + SPRING_SIZE * k, index[SPRING_NUMBERS] + SPRING_WIDTH * k
        r_a, r_b = rotation(index, q, index[at]), rotation(index, q, index[at + 1])
        length, line, arm_a, arm_b = spring(index, data, q, k, r_a, r_b)
        own, given = lengthening(index, data, v, k, r_a, r_b, line, arm_a, arm_b)
        pull, rate = data[numbers + 6] * (length - data[numbers + 7]), own + given
        out[0] += (pull + data[numbers + 8] * rate) * given
        if index[at + 4] != 0:
            out[0] -= pull * rate
        out[1] += data[numbers + 8] * rate * rate
    for k in range(index[LOAD_COUNT]):
        body = index[index[LOAD] + LOAD_SIZE * k]
        r_a = rotation(index, q, body)
        on_a, moment_a = load(index, data, k, r_a)
        out[0] += dot(on_a, speed(index, v, body)) + dot(turn_back(r_a, moment_a), spin(index, v, body))


@form_function("damping")
def damping(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> float:
    both = np.empty(2)
    powers(index, data, t, q, v, both)
    return both[1]
