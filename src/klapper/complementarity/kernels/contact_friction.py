"""Projection and support of the friction disc, or of the regular polygon inscribed into it.

    prox_D(z) = argmin over f ∈ D of ‖z − f‖,   support_D(−v) = largest power that a force in D takes from v

Polygon with an even number of vertices at the angles 2πk/vertices, Waltersberger (3.61)-(3.63).
"""

from __future__ import annotations

import math

from klapper.machine_code import njit


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def project_on_disc(z1: float, z2: float, radius: float, vertices: int) -> tuple[float, float]:
    """Nearest point of the disc (``vertices`` = 0) or of the polygon."""
    length = math.sqrt(z1 * z1 + z2 * z2)
    if length <= radius * (math.cos(math.pi / vertices) if vertices > 0 else 1.0):
        return z1, z2
    if vertices == 0:
        return z1 * (radius / length), z2 * (radius / length)
    sector = math.floor(math.atan2(z2, z1) * vertices / (2.0 * math.pi))
    angle = (2.0 * sector + 1.0) * math.pi / vertices
    n1, n2 = math.cos(angle), math.sin(angle)
    apothem, half = radius * math.cos(math.pi / vertices), radius * math.sin(math.pi / vertices)
    height = min(n1 * z1 + n2 * z2, apothem)
    along = min(max(n1 * z2 - n2 * z1, -half), half)
    return n1 * height - n2 * along, n2 * height + n1 * along


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def dissipation_bound(v1: float, v2: float, radius: float, vertices: int) -> float:
    """Largest power −f·v over forces f in the disc or polygon."""
    if vertices == 0:
        return radius * math.sqrt(v1 * v1 + v2 * v2)
    nearest = round(math.atan2(-v2, -v1) * vertices / (2.0 * math.pi))
    angle = 2.0 * math.pi * nearest / vertices
    return -radius * (math.cos(angle) * v1 + math.sin(angle) * v2)
