"""Joints of bodies in the plane, by the formulas of :mod:`klapper.bodies.joints`."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.bodies.kernels.planar_contacts import Pose, motion, pose, put_row
from klapper.bodies.kernels.shared import put_columns
from klapper.bodies.kernels.slots import (
    ANGLE_ROW,
    BODY,
    BODY_SIZE,
    DISTANCE_ROW,
    JOINT,
    JOINT_COUNT,
    JOINT_NUMBERS,
    JOINT_SIZE,
    JOINT_WIDTH,
)
from klapper.mechanics.kernels.signatures import form_function


@njit(cache=True, error_model="numpy")
def reach(data: np.ndarray, at: Pose, place: int, moved: int) -> tuple[float, float]:
    """A place of a body, given by where it stands in ``data``, relative to the body's centre, in world axes."""
    _, _, cos, sin = at
    x = cos * data[place] - sin * data[place + 1] + data[moved]
    return x, sin * data[place] + cos * data[place + 1] + data[moved + 1]


@njit(cache=True, error_model="numpy")
def turn_of(index: np.ndarray, q: np.ndarray, body: int) -> float:
    """φ of a body, 0 of one that does not turn."""
    at = index[BODY] + BODY_SIZE * body
    return q[index[at] + 2] if index[at + 2] == 3 else 0.0


@njit(cache=True, error_model="numpy")
def joint(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, k: int
) -> tuple[float, float, float, float, float, float]:
    """Residual, rate, and the direction: a force (x, y) with its moments on the two bodies."""
    at, numbers = index[JOINT] + JOINT_SIZE * k, index[JOINT_NUMBERS] + JOINT_WIDTH * k
    kind, a, b, turns, moved_a, moved_b = (
        index[at],
        index[at + 1],
        index[at + 2],
        index[at + 3],
        index[at + 4],
        index[at + 5],
    )
    if kind == ANGLE_ROW:
        angle = turn_of(index, q, a) - turn_of(index, q, b) - data[numbers + 3] - data[moved_a]
        return angle, -data[moved_a + 1], 0.0, 0.0, 1.0, 1.0
    pose_a, pose_b = pose(index, q, a), pose(index, q, b)
    a_x, a_y = reach(data, pose_a, numbers, moved_a)
    b_x, b_y = reach(data, pose_b, numbers + 3, moved_b)
    away_x, away_y = pose_a[0] + a_x - (pose_b[0] + b_x), pose_a[1] + a_y - (pose_b[1] + b_y)
    given_x, given_y = data[moved_a + 2] - data[moved_b + 2], data[moved_a + 3] - data[moved_b + 3]
    if kind == DISTANCE_ROW:
        length = math.sqrt(away_x * away_x + away_y * away_y)
        e_x, e_y = away_x / length, away_y / length
        residual = length - data[numbers + 6]
    else:
        e_x, e_y = data[numbers + 6], data[numbers + 7]
        if turns:
            _, _, cos, sin = pose_b
            e_x, e_y = cos * e_x - sin * e_y, sin * e_x + cos * e_y
            b_x, b_y = pose_a[0] + a_x - pose_b[0], pose_a[1] + a_y - pose_b[1]
        residual = e_x * away_x + e_y * away_y
    return residual, e_x * given_x + e_y * given_y, e_x, e_y, a_x * e_y - a_y * e_x, b_x * e_y - b_y * e_x


@form_function("residuals")
def residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
    for k in range(index[JOINT_COUNT]):
        out[k] = joint(index, data, q, k)[0]


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
        _, rates[k], x, y, moment_a, moment_b = joint(index, data, q, k)
        put_columns(index, columns[k], a, b)
        put_row(index, rows[k], a, b, x, y, moment_a, moment_b)


@form_function("constraint_curvature")
def constraint_curvature(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Φ̈ along the motion with v held."""
    for k in range(index[JOINT_COUNT]):
        at, numbers = index[JOINT] + JOINT_SIZE * k, index[JOINT_NUMBERS] + JOINT_WIDTH * k
        kind, a, b, turns, moved_a, moved_b = (
            index[at],
            index[at + 1],
            index[at + 2],
            index[at + 3],
            index[at + 4],
            index[at + 5],
        )
        if kind == ANGLE_ROW:
            out[k] = -data[moved_a + 2]
            continue
        pose_a, pose_b = pose(index, q, a), pose(index, q, b)
        motion_a, motion_b = motion(index, v, a), motion(index, v, b)
        a_x, a_y = reach(data, pose_a, numbers, moved_a)
        b_x, b_y = reach(data, pose_b, numbers + 3, moved_b)
        x, y = pose_a[0] + a_x - (pose_b[0] + b_x), pose_a[1] + a_y - (pose_b[1] + b_y)
        turn_a, turn_b = motion_a[2], motion_b[2]
        dx = motion_a[0] - turn_a * a_y - motion_b[0] + turn_b * b_y + data[moved_a + 2] - data[moved_b + 2]
        dy = motion_a[1] + turn_a * a_x - motion_b[1] - turn_b * b_x + data[moved_a + 3] - data[moved_b + 3]
        ddx = turn_b**2 * b_x - turn_a**2 * a_x + data[moved_a + 4] - data[moved_b + 4]
        ddy = turn_b**2 * b_y - turn_a**2 * a_y + data[moved_a + 5] - data[moved_b + 5]
        if kind == DISTANCE_ROW:
            length = math.sqrt(x * x + y * y)
            across = (x * dy - y * dx) / length
            out[k] = (x * ddx + y * ddy + across * across) / length
            continue
        e_x, e_y = data[numbers + 6], data[numbers + 7]
        if turns:
            _, _, cos, sin = pose_b
            e_x, e_y = cos * e_x - sin * e_y, sin * e_x + cos * e_y
            out[k] = -(turn_b**2) * (e_x * x + e_y * y) + 2.0 * turn_b * (e_x * dy - e_y * dx)
        else:
            out[k] = 0.0
        out[k] += e_x * ddx + e_y * ddy
