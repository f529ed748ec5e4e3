"""Joints of bodies in space, by the formulas of :mod:`klapper.bodies.joints` and ``angles``."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.bodies.kernels.shared import half_turn, put_columns
from klapper.bodies.kernels.slots import (
    ANGLE_ROW,
    AXIS_ROW,
    DISTANCE_ROW,
    JOINT,
    JOINT_COUNT,
    JOINT_NUMBERS,
    JOINT_SIZE,
    JOINT_WIDTH,
)
from klapper.bodies.kernels.spatial_vectors import (
    Quaternion,
    Rotation,
    Vector,
    centre,
    cross,
    dot,
    minus,
    plus,
    product,
    put_wrench,
    quaternion,
    rotation,
    speed,
    spin,
    times,
    turn,
    turn_back,
    vector,
)
from klapper.mechanics.kernels.signatures import form_function


@njit(cache=True, error_model="numpy")
def relative_turn(data: np.ndarray, a: Quaternion, b: Quaternion, reference: int) -> tuple[float, Vector]:
    """The quaternion (w, r) of the turn of a relative to b from how they were placed, in b's axes, with w ≥ 0."""
    turned = product((b[0], -b[1], -b[2], -b[3]), a)
    back = (data[reference], -data[reference + 1], -data[reference + 2], -data[reference + 3])
    w, x, y, z = product(turned, back)
    length = math.sqrt(w * w + x * x + y * y + z * z)
    sign = -1.0 if w < 0.0 else 1.0
    return sign * (w / length), (sign * (x / length), sign * (y / length), sign * (z / length))


@njit(cache=True, error_model="numpy")
def angle_direction(w: float, r: Vector, axis: Vector) -> tuple[float, float, Vector]:
    """s = r · e, w² + s², and the direction n of the angle's rate, in b's axes."""
    s = dot(r, axis)
    below = max(w * w + s * s, 1e-30)
    above = plus(plus(times(w * w, axis), times(w, cross(r, axis))), times(s, r))
    return s, below, (above[0] / below, above[1] / below, above[2] / below)


@njit(cache=True, error_model="numpy")
def direction_rate(
    w: float, r: Vector, axis: Vector, s: float, below: float, n: Vector, relative: Vector
) -> Vector:
    """ṅ in b's axes at a ``relative`` angular velocity in these axes: ẇ = −½ r · Ω, ṙ = ½ (w Ω − r × Ω)."""
    dw = -0.5 * dot(r, relative)
    dr = times(0.5, minus(times(w, relative), cross(r, relative)))
    ds = dot(dr, axis)
    above = plus(times(2.0 * w * dw, axis), times(dw, cross(r, axis)))
    above = plus(above, plus(times(w, cross(dr, axis)), plus(times(ds, r), times(s, dr))))
    above = minus(above, times(2.0 * (w * dw + s * ds), n))
    return above[0] / below, above[1] / below, above[2] / below


@njit(cache=True, error_model="numpy")
def joint(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, k: int, r_a: Rotation, r_b: Rotation
) -> tuple[float, float, Vector, Vector, Vector]:
    """Residual, rate, and the direction: a force with its moments on the two bodies, in world axes."""
    at, numbers = index[JOINT] + JOINT_SIZE * k, index[JOINT_NUMBERS] + JOINT_WIDTH * k
    kind, a, b, moved_a, moved_b = index[at], index[at + 1], index[at + 2], index[at + 4], index[at + 5]
    none = (0.0, 0.0, 0.0)
    if kind == ANGLE_ROW:
        w, r = relative_turn(data, quaternion(index, q, a), quaternion(index, q, b), numbers + 3)
        s, _, direction = angle_direction(w, r, vector(data, numbers))
        moment = turn(r_b, direction)
        return half_turn(2.0 * math.atan2(s, w) - data[moved_a]), -data[moved_a + 1], none, moment, moment
    if kind == AXIS_ROW:
        axis_a, axis_b = turn(r_a, vector(data, numbers)), turn(r_b, vector(data, numbers + 3))
        moment = cross(axis_a, axis_b)
        return dot(axis_a, axis_b), 0.0, none, moment, moment
    arm_a = plus(turn(r_a, vector(data, numbers)), vector(data, moved_a))
    arm_b = plus(turn(r_b, vector(data, numbers + 3)), vector(data, moved_b))
    x_b = centre(index, q, b)
    point_a = plus(centre(index, q, a), arm_a)
    away = minus(point_a, plus(x_b, arm_b))
    given = minus(vector(data, moved_a + 3), vector(data, moved_b + 3))
    if kind == DISTANCE_ROW:
        length = math.sqrt(dot(away, away))
        line = (away[0] / length, away[1] / length, away[2] / length)
        residual = length - data[numbers + 6]
    else:
        line = vector(data, numbers + 6)
        if index[at + 3]:
            line, arm_b = turn(r_b, line), minus(point_a, x_b)
        residual = dot(line, away)
    return residual, dot(line, given), line, cross(arm_a, line), cross(arm_b, line)


@form_function("residuals")
def residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
    for k in range(index[JOINT_COUNT]):
        at = index[JOINT] + JOINT_SIZE * k
        r_a, r_b = rotation(index, q, index[at + 1]), rotation(index, q, index[at + 2])
        out[k] = joint(index, data, q, k, r_a, r_b)[0]


@form_function("constraint_directions")
def constraint_directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    for k in range(index[JOINT_COUNT]):
        at = index[JOINT] + JOINT_SIZE * k
        a, b = index[at + 1], index[at + 2]
        r_a, r_b = rotation(index, q, a), rotation(index, q, b)
        _, rates[k], force, moment_a, moment_b = joint(index, data, q, k, r_a, r_b)
        put_columns(index, columns[k], a, b)
        row = rows[k]
        end = put_wrench(index, row, 0, a, r_a, force, moment_a)
        end = put_wrench(index, row, end, b, r_b, times(-1.0, force), times(-1.0, moment_b))
        for i in range(end, row.size):
            row[i] = 0.0


@form_function("constraint_curvature")
def constraint_curvature(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Φ̈ along the motion with v held."""
    for k in range(index[JOINT_COUNT]):
        at, numbers = index[JOINT] + JOINT_SIZE * k, index[JOINT_NUMBERS] + JOINT_WIDTH * k
        kind, a, b, moved_a, moved_b = index[at], index[at + 1], index[at + 2], index[at + 4], index[at + 5]
        r_a, r_b = rotation(index, q, a), rotation(index, q, b)
        turn_a, turn_b = turn(r_a, spin(index, v, a)), turn(r_b, spin(index, v, b))
        if kind == ANGLE_ROW:
            w, r = relative_turn(data, quaternion(index, q, a), quaternion(index, q, b), numbers + 3)
            axis = vector(data, numbers)
            s, below, direction = angle_direction(w, r, axis)
            relative = turn_back(r_b, minus(turn_a, turn_b))
            change = direction_rate(w, r, axis, s, below, direction, relative)
            change = plus(change, cross(spin(index, v, b), direction))
            out[k] = dot(change, relative) - data[moved_a + 2]
            continue
        if kind == AXIS_ROW:
            axis_a, axis_b = turn(r_a, vector(data, numbers)), turn(r_b, vector(data, numbers + 3))
            swing_a, swing_b = cross(turn_a, axis_a), cross(turn_b, axis_b)
            out[k] = dot(cross(turn_a, swing_a), axis_b) + 2.0 * dot(swing_a, swing_b)
            out[k] += dot(axis_a, cross(turn_b, swing_b))
            continue
        arm_a, arm_b = turn(r_a, vector(data, numbers)), turn(r_b, vector(data, numbers + 3))
        swing_a, swing_b = cross(turn_a, arm_a), cross(turn_b, arm_b)
        away = minus(plus(centre(index, q, a), arm_a), plus(centre(index, q, b), arm_b))
        away = plus(away, minus(vector(data, moved_a), vector(data, moved_b)))
        first = minus(plus(speed(index, v, a), swing_a), plus(speed(index, v, b), swing_b))
        first = plus(first, minus(vector(data, moved_a + 3), vector(data, moved_b + 3)))
        second = minus(cross(turn_a, swing_a), cross(turn_b, swing_b))
        second = plus(second, minus(vector(data, moved_a + 6), vector(data, moved_b + 6)))
        if kind == DISTANCE_ROW:
            length = math.sqrt(dot(away, away))
            side = cross(away, first)
            out[k] = (dot(away, second) + dot(side, side) / (length * length)) / length
            continue
        line = vector(data, numbers + 6)
        out[k] = 0.0
        if index[at + 3]:
            line = turn(r_b, line)
            change = cross(turn_b, line)
            out[k] = dot(cross(turn_b, change), away) + 2.0 * dot(change, first)
        out[k] += dot(line, second)
