"""Which contacts are near: all that are listed, and of every search those with a gap below its margin.

Few balls are compared pair by pair. Many are sorted into cubes a little wider than the largest diameter and the margin,
so that only balls in the same or in neighbouring cubes can be near; cubes are numbered by a hash of their integer
coordinates, so that far flyers cost nothing.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.bodies.kernels.planar_contacts import pose
from klapper.bodies.kernels.slots import (
    BALL,
    BALL_NUMBERS,
    BALL_WIDTH,
    GROUP,
    GROUP_COUNT,
    GROUP_NUMBERS,
    GROUP_SIZE,
    LISTED_COUNT,
    PLANE,
    PLANE_NUMBERS,
    PLANE_SIZE,
    PLANE_WIDTH,
)
from klapper.bodies.kernels.spatial_vectors import Vector, centre, plus, rotation, turn, vector
from klapper.machine_code import njit
from klapper.mechanics.kernels.signatures import form_function, inlined

_FARTHEST = 2.0**40  # cubes beyond count as the last one
_FEW = 24  # balls up to which all pairs cost less than sorting


@form_function("near")
def planar(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> int:
    found = _listed(index, out)
    for g in range(index[GROUP_COUNT]):
        group = index[GROUP] + GROUP_SIZE * g
        ball = np.empty((index[group + 1], 4))
        for a in range(ball.shape[0]):
            number = index[index[group + 3] + a]
            at = index[BALL_NUMBERS] + BALL_WIDTH * number
            x, y, cos, sin = pose(index, q, index[index[BALL] + number])
            ball[a, 0] = x + (cos * data[at] - sin * data[at + 1])
            ball[a, 1] = y + (sin * data[at] + cos * data[at + 1])
            ball[a, 2], ball[a, 3] = 0.0, data[at + 3]
        found = _near_balls(index, data, g, ball, out, found)
        for p in range(index[group + 2]):
            number = index[index[group + 4] + p]
            at, plane = index[PLANE_NUMBERS] + PLANE_WIDTH * number, index[PLANE] + PLANE_SIZE * number
            x, y, cos, sin = pose(index, q, index[plane])
            point = (
                x + (cos * data[at] - sin * data[at + 1]),
                y + (sin * data[at] + cos * data[at + 1]),
                0.0,
            )
            normal = (
                cos * data[at + 3] - sin * data[at + 4],
                sin * data[at + 3] + cos * data[at + 4],
                0.0,
            )
            found = _near_plane(index, data, g, p, ball, point, normal, data[index[plane + 1]], out, found)
    return found


@form_function("near")
def spatial(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> int:
    found = _listed(index, out)
    for g in range(index[GROUP_COUNT]):
        group = index[GROUP] + GROUP_SIZE * g
        ball = np.empty((index[group + 1], 4))
        for a in range(ball.shape[0]):
            number = index[index[group + 3] + a]
            at, body = index[BALL_NUMBERS] + BALL_WIDTH * number, index[index[BALL] + number]
            place = plus(centre(index, q, body), turn(rotation(index, q, body), vector(data, at)))
            ball[a, 0], ball[a, 1], ball[a, 2] = place
            ball[a, 3] = data[at + 3]
        found = _near_balls(index, data, g, ball, out, found)
        for p in range(index[group + 2]):
            number = index[index[group + 4] + p]
            at, plane = index[PLANE_NUMBERS] + PLANE_WIDTH * number, index[PLANE] + PLANE_SIZE * number
            turned = rotation(index, q, index[plane])
            point = plus(centre(index, q, index[plane]), turn(turned, vector(data, at)))
            normal = turn(turned, vector(data, at + 3))
            found = _near_plane(index, data, g, p, ball, point, normal, data[index[plane + 1]], out, found)
    return found


@inlined
def _listed(index: np.ndarray, out: np.ndarray) -> int:
    if index[LISTED_COUNT] > out.size:
        return -1
    for k in range(index[LISTED_COUNT]):
        out[k] = k
    return index[LISTED_COUNT]


@inlined
def _near_plane(
    index: np.ndarray,
    data: np.ndarray,
    g: int,
    p: int,
    ball: np.ndarray,
    point: Vector,
    normal: Vector,
    shift: float,
    out: np.ndarray,
    found: int,
) -> int:
    """Adds the balls (n, 4) near the p-th half-space; −1 if there is no room."""
    if found < 0:
        return -1
    margin, count = data[index[GROUP_NUMBERS] + g], ball.shape[0]
    first = index[index[GROUP] + GROUP_SIZE * g] + (count + p) * count
    for a in range(count):
        height = normal[0] * (ball[a, 0] - point[0]) + normal[1] * (ball[a, 1] - point[1])
        height += normal[2] * (ball[a, 2] - point[2])
        if height - shift - ball[a, 3] < margin:
            if found == out.size:
                return -1
            out[found] = first + a
            found += 1
    return found


@inlined
def _close(index: np.ndarray, first: int, ball: np.ndarray, a: int, b: int, margin: float) -> bool:
    """Whether two balls of a group are near; ``first`` is where its list of balls begins."""
    x, y, z = ball[a, 0] - ball[b, 0], ball[a, 1] - ball[b, 1], ball[a, 2] - ball[b, 2]
    if not math.sqrt(x * x + y * y + z * z) - ball[a, 3] - ball[b, 3] < margin:
        return False
    return index[index[BALL] + index[first + a]] != index[index[BALL] + index[first + b]]


@njit(cache=True, error_model="numpy")
def _near_balls(
    index: np.ndarray, data: np.ndarray, g: int, ball: np.ndarray, out: np.ndarray, found: int
) -> int:
    """Adds the pairs of balls (n, 4) of a group that are near; −1 if there is no room."""
    group, count = index[GROUP] + GROUP_SIZE * g, ball.shape[0]
    begin, first, margin = index[group], index[group + 3], data[index[GROUP_NUMBERS] + g]
    if count > _FEW:
        return _among_many(index, begin, first, ball, margin, out, found)
    for a in range(count):
        for b in range(a + 1, count):
            if found >= 0 and _close(index, first, ball, a, b, margin):
                if found == out.size:
                    return -1
                out[found] = begin + a * count + b
                found += 1
    return found


@inlined
def _bucket(x: int, y: int, z: int, mask: int) -> int:
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & mask


@njit(cache=True, error_model="numpy")
def _among_many(
    index: np.ndarray,
    begin: int,
    first: int,
    ball: np.ndarray,
    margin: float,
    out: np.ndarray,
    found: int,
) -> int:
    count = ball.shape[0]
    mask, largest, flat = 64, 0.0, True
    while mask < 2 * count:
        mask *= 2
    mask -= 1
    for a in range(count):
        largest = max(largest, ball[a, 3])
        flat = flat and ball[a, 2] == 0.0
    width = 2.0 * largest + margin
    cube, start, member = (
        np.empty((count, 3), np.int64),
        np.zeros(mask + 3, np.int64),
        np.empty(count, np.int64),
    )
    for a in range(count):
        for c in range(3):
            cube[a, c] = int(min(max(math.floor(ball[a, c] / width), -_FARTHEST), _FARTHEST))
        start[_bucket(cube[a, 0], cube[a, 1], cube[a, 2], mask) + 2] += 1
    for k in range(mask + 1):
        start[k + 2] += start[k + 1]
    for a in range(count):  # start[k + 1] runs from the first of bucket k to the first of the next
        k = _bucket(cube[a, 0], cube[a, 1], cube[a, 2], mask) + 1
        member[start[k]] = a
        start[k] += 1
    layers = 0 if flat else 1
    for a in range(count):
        here = found
        for x in range(cube[a, 0] - 1, cube[a, 0] + 2):
            for y in range(cube[a, 1] - 1, cube[a, 1] + 2):
                for z in range(cube[a, 2] - layers, cube[a, 2] + layers + 1):
                    k = _bucket(x, y, z, mask)
                    for m in range(start[k], start[k + 1]):
                        b = member[m]
                        same = cube[b, 0] == x and cube[b, 1] == y and cube[b, 2] == z
                        if b > a and same and found >= 0 and _close(index, first, ball, a, b, margin):
                            if found == out.size:
                                return -1
                            place, number = found, begin + a * count + b
                            while place > here and out[place - 1] > number:
                                out[place] = out[place - 1]
                                place -= 1
                            out[place] = number
                            found += 1
    return found
