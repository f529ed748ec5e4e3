"""Torsion springs in the plane, on top of weight, springs and loads: formulas of :mod:`klapper.bodies.torsion`."""

from __future__ import annotations

import numpy as np

from klapper.bodies.kernels import planar_forces as others
from klapper.bodies.kernels.planar_contacts import motion
from klapper.bodies.kernels.planar_forces import push, spring_tangents
from klapper.bodies.kernels.planar_joints import turn_of
from klapper.bodies.kernels.slots import (
    BODY,
    BODY_SIZE,
    TORSION,
    TORSION_COUNT,
    TORSION_NUMBERS,
    TORSION_SIZE,
    TORSION_WIDTH,
)
from klapper.mechanics.kernels.signatures import form_function, inlined


@inlined
def twist(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, v: np.ndarray, k: int
) -> tuple[float, float, int]:
    """α − α₀ and α̇ of a torsion spring, and the place of its numbers."""
    at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
    a, b = index[at], index[at + 1]
    angle = turn_of(index, q, a) - turn_of(index, q, b) - data[numbers + 3]
    return angle - data[numbers + 8], motion(index, v, a)[2] - motion(index, v, b)[2], numbers


@form_function("force", allocates=False)
def force(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    others.force(index, data, t, q, v, out)
    for k in range(index[TORSION_COUNT]):
        at = index[TORSION] + TORSION_SIZE * k
        stretch, rate, numbers = twist(index, data, q, v, k)
        moment = data[numbers + 7] * stretch + data[numbers + 9] * rate
        push(index, out, index[at], 0.0, 0.0, -moment)
        push(index, out, index[at + 1], 0.0, 0.0, moment)


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
    """Of springs, and of every torsion spring all turns of its two bodies by all of them."""
    entry = spring_tangents(index, data, q, by_position, by_velocity)
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


@form_function("potential", allocates=False)
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    total = others.potential(index, data, q)
    for k in range(index[TORSION_COUNT]):
        at, numbers = index[TORSION] + TORSION_SIZE * k, index[TORSION_NUMBERS] + TORSION_WIDTH * k
        stretch = turn_of(index, q, index[at]) - turn_of(index, q, index[at + 1])
        stretch = stretch - data[numbers + 3] - data[numbers + 8]
        total += 0.5 * data[numbers + 7] * stretch * stretch
    return total


@form_function("powers", allocates=False)
def powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    others.powers(index, data, t, q, v, out)
    for k in range(index[TORSION_COUNT]):
        _, rate, numbers = twist(index, data, q, v, k)
        out[1] += data[numbers + 9] * rate * rate


@form_function("damping")
def damping(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> float:
    both = np.empty(2)
    powers(index, data, t, q, v, both)
    return both[1]
