"""Contacts of bodies in the plane, by the formulas of :mod:`klapper.bodies.contact_geometry`.

Poses are (x, y, cos φ, sin φ), motions (ẋ, ẏ, φ̇).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.bodies.kernels.shared import numbers_of, pair, put_columns
from klapper.bodies.kernels.slots import BODY, BODY_SIZE
from klapper.mechanics.kernels.signatures import form_function

Pose = tuple[float, float, float, float]
Motion = tuple[float, float, float]


@njit(cache=True, error_model="numpy")
def pose(index: np.ndarray, q: np.ndarray, body: int) -> Pose:
    at = index[BODY] + BODY_SIZE * body
    place, count = index[at], index[at + 2]
    if count == 0:
        return 0.0, 0.0, 1.0, 0.0
    if count == 2:
        return q[place], q[place + 1], 1.0, 0.0
    return q[place], q[place + 1], math.cos(q[place + 2]), math.sin(q[place + 2])


@njit(cache=True, error_model="numpy")
def motion(index: np.ndarray, v: np.ndarray, body: int) -> Motion:
    at = index[BODY] + BODY_SIZE * body
    row, count = index[at + 1], index[at + 2]
    if count == 0:
        return 0.0, 0.0, 0.0
    return v[row], v[row + 1], v[row + 2] if count == 3 else 0.0


@njit(cache=True, error_model="numpy")
def touch(
    data: np.ndarray,
    pose_a: Pose,
    pose_b: Pose,
    ball: int,
    other: int,
    with_plane: int,
    shift: float,
) -> tuple[float, float, float, float, float, float, float]:
    """Gap, normal, and the contact points relative to the centres of the two bodies.

    ``ball`` and ``other`` are places in ``data``, ``shift`` the displacement of a half-space along its normal.
    """
    x, y, cos, sin = pose_a
    arm_x = cos * data[ball] - sin * data[ball + 1]
    arm_y = sin * data[ball] + cos * data[ball + 1]
    radius = data[ball + 3]
    other_x, other_y, cos, sin = pose_b
    off_x = cos * data[other] - sin * data[other + 1]
    off_y = sin * data[other] + cos * data[other + 1]
    away_x, away_y = (x + arm_x) - (other_x + off_x), (y + arm_y) - (other_y + off_y)
    if with_plane:
        normal_x = cos * data[other + 3] - sin * data[other + 4]
        normal_y = sin * data[other + 3] + cos * data[other + 4]
        height = normal_x * away_x + normal_y * away_y - shift
        gap = height - radius
        off_x, off_y = x + arm_x - height * normal_x - other_x, y + arm_y - height * normal_y - other_y
    else:
        outside = data[other + 3]
        sign = -1.0 if outside < 0.0 else 1.0
        distance = math.sqrt(away_x * away_x + away_y * away_y)
        normal_x, normal_y = sign, 0.0
        if distance > 0.0:
            normal_x, normal_y = sign * (away_x / distance), sign * (away_y / distance)
        gap = sign * distance - radius - outside
        off_x, off_y = off_x + outside * normal_x, off_y + outside * normal_y
    return gap, normal_x, normal_y, arm_x - radius * normal_x, arm_y - radius * normal_y, off_x, off_y


@form_function("gaps")
def gaps(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    for k in range(which.size):
        ball, other, with_plane, _, used = pair(index, which[k])
        if not used:
            out[k] = math.nan
            continue
        at, to, a, b, moved, _ = numbers_of(index, ball, other, with_plane)
        shift = data[moved] if with_plane else 0.0
        out[k] = touch(data, pose(index, q, a), pose(index, q, b), at, to, with_plane, shift)[0]


@form_function("directions")
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
    for k in range(which.size):
        ball, other, with_plane, _, _ = pair(index, which[k])
        at, to, a, b, moved, sliding = numbers_of(index, ball, other, with_plane)
        shift = data[moved] if with_plane else 0.0
        _, n_x, n_y, a_x, a_y, b_x, b_y = touch(
            data, pose(index, q, a), pose(index, q, b), at, to, with_plane, shift
        )
        put_columns(index, columns[k], a, b)
        put_row(index, rows[k, 0], a, b, n_x, n_y, a_x * n_y - a_y * n_x, b_x * n_y - b_y * n_x)
        put_row(index, rows[k, 1], a, b, n_y, -n_x, -a_x * n_x - a_y * n_y, -b_x * n_x - b_y * n_y)
        rates[k, 0] = rates[k, 1] = 0.0
        if with_plane:
            rates[k, 0] = -data[moved + 1]
            rates[k, 1] = -(n_y * data[sliding] - n_x * data[sliding + 1])


@njit(cache=True, error_model="numpy")
def put_row(
    index: np.ndarray, row: np.ndarray, first: int, second: int, x: float, y: float, a: float, b: float
) -> None:
    """A force (x, y) with the moment a on the first body and its opposite, with b, on the second, as one row (w,)."""
    at = 0
    count = index[index[BODY] + BODY_SIZE * first + 2]
    if count > 0:
        row[0], row[1] = x, y
        if count == 3:
            row[2] = a
        at = count
    count = index[index[BODY] + BODY_SIZE * second + 2]
    if count > 0:
        row[at], row[at + 1] = -x, -y
        if count == 3:
            row[at + 2] = -b
        at += count
    for k in range(at, row.size):
        row[k] = 0.0


@form_function("curvature")
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
    u that of the surface, both along the motion with v held."""
    for k in range(which.size):
        ball, other, with_plane, _, _ = pair(index, which[k])
        at, to, a, b, moved, sliding = numbers_of(index, ball, other, with_plane)
        shift = data[moved] if with_plane else 0.0
        gap, n_x, n_y, a_x, a_y, b_x, b_y = touch(
            data, pose(index, q, a), pose(index, q, b), at, to, with_plane, shift
        )
        x_a, y_a, turn_a = motion(index, v, a)
        x_b, y_b, turn_b = motion(index, v, b)
        radius = data[at + 3]
        centre_x, centre_y = x_a - turn_a * (a_y + radius * n_y), y_a + turn_a * (a_x + radius * n_x)
        slip_x, slip_y = x_a - turn_a * a_y - x_b + turn_b * b_y, y_a + turn_a * a_x - y_b - turn_b * b_x
        if with_plane:
            dn_x, dn_y = -turn_b * n_y, turn_b * n_x
            height, rising = gap + radius, n_x * slip_x + n_y * slip_y - data[moved + 1]
            db_x = centre_x - rising * n_x - height * dn_x - x_b
            db_y = centre_y - rising * n_y - height * dn_y - y_b
        else:
            outside = data[to + 3]
            distance = gap + radius + outside  # with the sign of the normal
            off_x, off_y = b_x - outside * n_x, b_y - outside * n_y
            apart_x, apart_y = centre_x - x_b + turn_b * off_y, centre_y - y_b - turn_b * off_x
            along = n_x * apart_x + n_y * apart_y
            dn_x = dn_y = 0.0
            if distance != 0.0:
                dn_x, dn_y = (apart_x - along * n_x) / distance, (apart_y - along * n_y) / distance
            db_x, db_y = -turn_b * off_y + outside * dn_x, turn_b * off_x + outside * dn_y
        da_x, da_y = centre_x - x_a - radius * dn_x, centre_y - y_a - radius * dn_y
        pull_x, pull_y = -turn_a * da_y + turn_b * db_y, turn_a * da_x - turn_b * db_x
        out[k, 0] = dn_x * slip_x + dn_y * slip_y + n_x * pull_x + n_y * pull_y
        if with_plane:
            out[k, 0] -= data[moved + 2]
            slip_x, slip_y = slip_x - data[sliding], slip_y - data[sliding + 1]
            pull_x, pull_y = pull_x - data[sliding + 2], pull_y - data[sliding + 3]
        out[k, 1] = dn_y * slip_x - dn_x * slip_y + n_y * pull_x - n_x * pull_y
