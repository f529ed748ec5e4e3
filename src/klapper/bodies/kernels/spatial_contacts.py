"""Contacts of bodies in space, by the formulas of :mod:`klapper.bodies.contact_geometry`."""

from __future__ import annotations

import math

import numpy as np

from klapper.bodies.kernels.shared import numbers_of, pair, put_columns
from klapper.bodies.kernels.spatial_vectors import (
    NO_TURN,
    Rotation,
    Vector,
    centre,
    cross,
    dot,
    minus,
    plus,
    put_wrench,
    rotation,
    speed,
    spin,
    times,
    turn,
    vector,
)
from klapper.mechanics.kernels.signatures import form_function, inlined


@inlined
def touch(
    data: np.ndarray,
    x_a: Vector,
    r_a: Rotation,
    x_b: Vector,
    r_b: Rotation,
    ball: int,
    other: int,
    with_plane: int,
    shift: float,
) -> tuple[float, Vector, Vector, Vector]:
    """Gap, normal, and the contact points relative to the centres of the two bodies.

    ``ball`` and ``other`` are places in ``data``, ``shift`` the displacement of a half-space along its normal.
    """
    arm, off = turn(r_a, vector(data, ball)), turn(r_b, vector(data, other))
    away, radius = minus(plus(x_a, arm), plus(x_b, off)), data[ball + 3]
    if with_plane:
        normal = turn(r_b, vector(data, other + 3))
        height = dot(normal, away) - shift
        gap = height - radius
        off = minus(minus(plus(x_a, arm), times(height, normal)), x_b)
    else:
        outside = data[other + 3]
        sign = -1.0 if outside < 0.0 else 1.0
        distance = math.sqrt(dot(away, away))
        normal = (sign, 0.0, 0.0)
        if distance > 0.0:
            normal = (sign * (away[0] / distance), sign * (away[1] / distance), sign * (away[2] / distance))
        gap = sign * distance - radius - outside
        off = plus(off, times(outside, normal))
    return gap, normal, minus(arm, times(radius, normal)), off


@inlined
def across(normal: Vector) -> tuple[Vector, float, Vector, Vector]:
    """The axis of the smallest |n_i| + i/10, the length of its product with n, and both tangents."""
    x, y, z = abs(normal[0]), abs(normal[1]) + 0.1, abs(normal[2]) + 0.2
    axis = (1.0, 0.0, 0.0)
    if y < x and y <= z:
        axis = (0.0, 1.0, 0.0)
    elif z < x and z < y:
        axis = (0.0, 0.0, 1.0)
    first = cross(axis, normal)
    length = math.sqrt(dot(first, first))
    first = (first[0] / length, first[1] / length, first[2] / length)
    return axis, length, first, cross(normal, first)


@form_function("gaps", allocates=False)
def gaps(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    last_a = last_b = -1
    r_a = r_b = NO_TURN
    for k in range(which.size):
        ball, other, with_plane, _, used = pair(index, which[k])
        if not used:
            out[k] = math.nan
            continue
        at, to, a, b, moved, _ = numbers_of(index, ball, other, with_plane)
        if a != last_a:
            last_a, r_a = a, rotation(index, q, a)
        if b != last_b:
            last_b, r_b = b, rotation(index, q, b)
        out[k] = touch(
            data, centre(index, q, a), r_a, centre(index, q, b), r_b, at, to, with_plane, data[moved]
        )[0]


@form_function("directions", allocates=False)
def directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    last_a = last_b = -1
    r_a = r_b = NO_TURN
    for k in range(which.size):
        ball, other, with_plane, _, _ = pair(index, which[k])
        at, to, a, b, moved, sliding = numbers_of(index, ball, other, with_plane)
        if a != last_a:
            last_a, r_a = a, rotation(index, q, a)
        if b != last_b:
            last_b, r_b = b, rotation(index, q, b)
        _, normal, arm_a, arm_b = touch(
            data, centre(index, q, a), r_a, centre(index, q, b), r_b, at, to, with_plane, data[moved]
        )
        _, _, first, second = across(normal)
        put_columns(index, columns, k, a, b)
        for j in range(3):
            along = normal if j == 0 else first if j == 1 else second
            end = put_wrench(index, rows, (k, j), 0, a, r_a, along, cross(arm_a, along))
            back = (-along[0], -along[1], -along[2])
            end = put_wrench(index, rows, (k, j), end, b, r_b, back, cross(arm_b, back))
            for i in range(end, rows.shape[2]):
                rows[k, j, i] = 0.0
            rates[k, j] = -data[moved + 1] if j == 0 else -dot(along, vector(data, sliding))


@form_function("curvature", allocates=False)
def curvature(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
) -> None:
    """b_N = ṅ · w + n · ẇ − s̈ and b_T = ṫ · (w − u) + t · (ẇ − u̇), w the relative velocity at the contact points and
    u that of the surface, along the motion with v held, and the axis of the tangents too."""
    last_a = last_b = -1
    r_a = r_b = NO_TURN
    for k in range(which.size):
        ball, other, with_plane, _, _ = pair(index, which[k])
        at, to, a, b, moved, sliding = numbers_of(index, ball, other, with_plane)
        if a != last_a:
            last_a, r_a = a, rotation(index, q, a)
        if b != last_b:
            last_b, r_b = b, rotation(index, q, b)
        gap, normal, arm_a, arm_b = touch(
            data, centre(index, q, a), r_a, centre(index, q, b), r_b, at, to, with_plane, data[moved]
        )
        axis, length, first, second = across(normal)
        turn_a, turn_b = turn(r_a, spin(index, v, a)), turn(r_b, spin(index, v, b))
        fast_a, fast_b, radius = speed(index, v, a), speed(index, v, b), data[at + 3]
        swing = cross(
            turn_a, plus(arm_a, times(radius, normal))
        )  # of the ball's centre about that of its body
        slip = minus(plus(fast_a, cross(turn_a, arm_a)), plus(fast_b, cross(turn_b, arm_b)))
        apart = minus(plus(fast_a, swing), fast_b)
        if with_plane:
            change = cross(turn_b, normal)
            rising = dot(normal, slip) - data[moved + 1]
            change_b = minus(minus(apart, times(rising, normal)), times(gap + radius, change))
        else:
            outside = data[to + 3]
            distance = gap + radius + outside  # with the sign of the normal
            swing_b = cross(turn_b, minus(arm_b, times(outside, normal)))
            apart = minus(apart, swing_b)
            change = (0.0, 0.0, 0.0)
            if distance != 0.0:
                change = times(1.0 / distance, minus(apart, times(dot(normal, apart), normal)))
            change_b = plus(swing_b, times(outside, change))
        change_a = minus(swing, times(radius, change))
        pull = minus(cross(turn_a, change_a), cross(turn_b, change_b))
        out[k, 0] = dot(change, slip) + dot(normal, pull) - data[moved + 2]
        slip, pull = minus(slip, vector(data, sliding)), minus(pull, vector(data, sliding + 3))
        turning = times(1.0 / length, cross(axis, change))
        turning = minus(turning, times(dot(first, turning), first))
        out[k, 1] = dot(turning, slip) + dot(first, pull)
        turning = plus(cross(change, first), cross(normal, turning))
        out[k, 2] = dot(turning, slip) + dot(second, pull)
