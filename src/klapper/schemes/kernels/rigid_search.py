"""Which balls of a group are near each other or near a half-space, without testing all pairs.

Balls are sorted into cubes a little wider than the largest diameter; only balls in the same or in neighbouring cubes
can touch. Cubes are numbered by a hash of their integer coordinates, so that far flyers cost nothing. The list holds
all pairs with a gap below a margin and is good until some ball has moved half of it. Its order is that of the contact
numbers, so that what is found does not depend on when the list was made.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_geometry import gap_to_plane
from klapper.schemes.kernels.rigid_tables import BALL, BALLS, KIND, NUMBER, OTHER, WITH_PLANE

_fast = {"contract"}
_FARTHEST = 2.0**40  # cubes beyond count as the last one


@njit(cache=True)
def _hash(x: int, y: int, z: int, mask: int) -> int:
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & mask


@njit(cache=True, error_model="numpy")
def _cubes(group: np.ndarray, centre: np.ndarray, width: float) -> np.ndarray:
    """Integer coordinates (ng, 3) of the cube of each ball."""
    cube = np.empty((group.size, 3), np.int64)
    for a in range(group.size):
        for c in range(3):
            cube[a, c] = int(min(max(math.floor(centre[group[a], c] / width), -_FARTHEST), _FARTHEST))
    return cube


@njit(cache=True)
def _sorted_by_bucket(cube: np.ndarray, mask: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each bucket starts (mask + 2,), and the balls (ng,) bucket by bucket in rising order."""
    start = np.zeros(mask + 2, np.int64)
    count = cube.shape[0]
    for a in range(count):
        start[_hash(cube[a, 0], cube[a, 1], cube[a, 2], mask) + 1] += 1
    for bucket in range(mask + 1):
        start[bucket + 1] += start[bucket]
    filled = start.copy()
    member = np.empty(count, np.int64)
    for a in range(count):
        bucket = _hash(cube[a, 0], cube[a, 1], cube[a, 2], mask)
        member[filled[bucket]] = a
        filled[bucket] += 1
    return start, member


@njit(cache=True)
def _grown(pair: np.ndarray) -> np.ndarray:
    larger = np.empty((2 * pair.shape[0] + 64, 4), np.int64)
    for k in range(pair.shape[0]):
        for c in range(4):
            larger[k, c] = pair[k, c]
    return larger


@njit(cache=True)
def _put(pair: np.ndarray, k: int, number: int, ball: int, other: int, kind: int) -> None:
    pair[k, NUMBER], pair[k, BALL], pair[k, OTHER], pair[k, KIND] = number, ball, other, kind


@njit(cache=True)
def _sort(values: np.ndarray, count: int) -> None:
    """Insertion sort of the first few values."""
    for k in range(1, count):
        value, place = values[k], k
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@njit(cache=True, fastmath=_fast, error_model="numpy")
def near_pairs(
    first: int,
    dimension: int,
    group: np.ndarray,
    group_plane: np.ndarray,
    centre: np.ndarray,
    ball: np.ndarray,
    ball_body: np.ndarray,
    plane: np.ndarray,
    ground: int,
    margin: float,
) -> np.ndarray:
    """Pairs (k, 4) of NUMBER, BALL, OTHER, KIND with a gap up to ``margin`` [m], in the order of their numbers.

    ``first`` is the number of contacts that are listed one by one.
    """
    size = group.size
    largest = 0.0
    for a in range(size):
        largest = max(largest, ball[group[a], 3])
    mask = 64
    while mask < 2 * size:
        mask *= 2
    mask -= 1
    cube = _cubes(group, centre, max(2.0 * largest + margin, 1e-300))
    start, member = _sorted_by_bucket(cube, mask)
    pair, count = np.empty((8 * size + 64, 4), np.int64), 0
    partner = np.empty(size, np.int64)
    layers = 1 if dimension == 3 else 0
    for a in range(size):
        found, s = 0, group[a]
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dz in range(-layers, layers + 1):
                    x, y, z = cube[a, 0] + dx, cube[a, 1] + dy, cube[a, 2] + dz
                    bucket = _hash(x, y, z, mask)
                    for k in range(start[bucket], start[bucket + 1]):
                        b = member[k]
                        if b <= a or cube[b, 0] != x or cube[b, 1] != y or cube[b, 2] != z:
                            continue
                        other = group[b]
                        reach = ball[s, 3] + ball[other, 3] + margin
                        u = centre[s, 0] - centre[other, 0]
                        v = centre[s, 1] - centre[other, 1]
                        w = centre[s, 2] - centre[other, 2]
                        if u * u + v * v + w * w <= reach * reach and ball_body[s] != ball_body[other]:
                            partner[found] = b
                            found += 1
        _sort(partner, found)
        while count + found > pair.shape[0]:
            pair = _grown(pair)
        for k in range(found):
            _put(pair, count, first + a * size + partner[k], s, group[partner[k]], BALLS)
            count += 1
    for p in range(group_plane.size):
        for a in range(size):
            s = group[a]
            if (
                ball_body[s] != ground
                and gap_to_plane(centre, s, ball[s, 3], plane, group_plane[p]) <= margin
            ):
                if count == pair.shape[0]:
                    pair = _grown(pair)
                _put(pair, count, first + size * size + p * size + a, s, group_plane[p], WITH_PLANE)
                count += 1
    return pair[:count]


@njit(cache=True, fastmath=_fast, error_model="numpy")
def has_moved(group: np.ndarray, centre: np.ndarray, reference: np.ndarray, margin: float) -> bool:
    """Whether some ball is farther than half the margin from where it was when the list was made."""
    allowed = 0.25 * margin * margin
    for a in range(group.size):
        s = group[a]
        u = centre[s, 0] - reference[s, 0]
        v = centre[s, 1] - reference[s, 1]
        w = centre[s, 2] - reference[s, 2]
        if not u * u + v * v + w * w <= allowed:
            return True
    return False
