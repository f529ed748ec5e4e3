"""Which contacts of rigid bodies last, as in ``klapper.schemes.lasting_contacts``: how their gaps turn.

ball–plane   ġ = n · ċ,                b = n · c̈₀              c̈₀ = ω × (ω × ρ),  ρ = R o
ball–ball    ġ = n · (ċ_A − ċ_B),      b = n · (c̈₀_A − c̈₀_B) + (|ċ_A − ċ_B|² − ġ²)/|c_A − c_B|
"""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.base import TOUCHING
from klapper.schemes.kernels.rigid_geometry import gap_of
from klapper.schemes.kernels.rigid_tables import BALL, BEFORE, KIND, NUMBER, OTHER, PLACE, WITH_PLANE
from klapper.schemes.lasting_contacts import APPROACH, NOISE

_fast = {"contract"}


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _of_centre(
    body: np.ndarray, b: int, centre: np.ndarray, s: int, back: float
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Place c, velocity ċ and ω × (ω × ρ) of the centre of ball s on body b, ``back`` [s] ago."""
    x, y, z = (
        centre[s, 0] - body[b, PLACE],
        centre[s, 1] - body[b, PLACE + 1],
        centre[s, 2] - body[b, PLACE + 2],
    )
    w1, w2, w3 = body[b, BEFORE + 3], body[b, BEFORE + 4], body[b, BEFORE + 5]
    u1, u2, u3 = w2 * z - w3 * y, w3 * x - w1 * z, w1 * y - w2 * x
    square = w1 * w1 + w2 * w2 + w3 * w3
    if back > 0.0 and square > 0.0:  # ρ turned by −back ω
        rate = math.sqrt(square)
        sin, cos = -math.sin(back * rate) / rate, (1.0 - math.cos(back * rate)) / square
        p1, p2, p3 = w2 * u3 - w3 * u2, w3 * u1 - w1 * u3, w1 * u2 - w2 * u1
        x, y, z = x + sin * u1 + cos * p1, y + sin * u2 + cos * p2, z + sin * u3 + cos * p3
        u1, u2, u3 = w2 * z - w3 * y, w3 * x - w1 * z, w1 * y - w2 * x
    return (
        body[b, PLACE] - back * body[b, BEFORE] + x,
        body[b, PLACE + 1] - back * body[b, BEFORE + 1] + y,
        body[b, PLACE + 2] - back * body[b, BEFORE + 2] + z,
        body[b, BEFORE] + u1,
        body[b, BEFORE + 1] + u2,
        body[b, BEFORE + 2] + u3,
        w2 * u3 - w3 * u2,
        w3 * u1 - w1 * u3,
        w1 * u2 - w2 * u1,
    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def normal_motion(
    pair: np.ndarray,
    k: int,
    centre: np.ndarray,
    ball_body: np.ndarray,
    plane: np.ndarray,
    body: np.ndarray,
    back: float,
) -> tuple[float, float]:
    """ġ [m/s] and b [m/s²] of the k-th pair of a list, at the velocities BEFORE the step and ``back`` [s] ago."""
    s, other = pair[k, BALL], pair[k, OTHER]
    x, y, z, v1, v2, v3, a1, a2, a3 = _of_centre(body, ball_body[s], centre, s, back)
    if pair[k, KIND] == WITH_PLANE:
        x, y, z = plane[other, 3], plane[other, 4], plane[other, 5]
        return x * v1 + y * v2 + z * v3, x * a1 + y * a2 + z * a3
    p, q, r, u1, u2, u3, c1, c2, c3 = _of_centre(body, ball_body[other], centre, other, back)
    x, y, z = x - p, y - q, z - r
    distance = math.sqrt(x * x + y * y + z * z)
    if distance == 0.0:
        return 0.0, 0.0
    x, y, z = x / distance, y / distance, z / distance
    v1, v2, v3 = v1 - u1, v2 - u2, v3 - u3
    opening = x * v1 + y * v2 + z * v3
    across = max(v1 * v1 + v2 * v2 + v3 * v3 - opening * opening, 0.0)
    return opening, x * (a1 - c1) + y * (a2 - c2) + z * (a3 - c3) + across / distance


@njit(cache=True, error_model="numpy")
def find_closed(
    pair: np.ndarray,
    centre: np.ndarray,
    ball: np.ndarray,
    ball_body: np.ndarray,
    plane: np.ndarray,
    body: np.ndarray,
    fastest: float,
    step: float,
    back: float,
    held: np.ndarray,
    held_count: int,
    closed: np.ndarray,
    known: np.ndarray,
    count: int,
) -> int:
    """Append the places in the list of those pairs that touch or last; returns how many there are now.

    ``held``     numbers, rising, of the contacts that were loaded in the last step
    ``known``    x/h [m/s] of every one that is appended, nan if it does not last
    ``fastest``  the largest velocity; ``back`` [s] the time since the last step, for the turning there
    """
    j = 0
    for k in range(pair.shape[0]):
        number = pair[k, NUMBER]
        while j < held_count and held[j] < number:
            j += 1
        was_held = j < held_count and held[j] == number
        if not was_held and _apart(pair, k, centre, ball, plane):
            continue
        gap = gap_of(pair, k, centre, ball, plane)
        shift, lasts = np.nan, False
        if was_held:
            opening, b = normal_motion(pair, k, centre, ball_body, plane, body, 0.0)
            earlier = normal_motion(pair, k, centre, ball_body, plane, body, back)[1]
            turning = step * max(abs(b), abs(earlier))
            lasts = turning > NOISE * fastest and opening >= -APPROACH * turning
            if lasts:
                lasts = gap <= max(step * turning, TOUCHING)
            if lasts:
                shift = max(gap / step, -turning)
        if lasts or gap <= TOUCHING:
            closed[count] = k
            known[count] = shift
            count += 1
    return count


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def _apart(pair: np.ndarray, k: int, centre: np.ndarray, ball: np.ndarray, plane: np.ndarray) -> bool:
    """Whether two balls are so far from each other that their gap need not be computed."""
    if pair[k, KIND] == WITH_PLANE:
        return False
    s, other = pair[k, BALL], pair[k, OTHER]
    x = centre[s, 0] - centre[other, 0]
    y = centre[s, 1] - centre[other, 1]
    z = centre[s, 2] - centre[other, 2]
    limit = 1.000001 * (ball[s, 3] + ball[other, 3]) + TOUCHING
    return not x * x + y * y + z * z <= limit * limit
