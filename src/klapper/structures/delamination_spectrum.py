"""How many natural frequencies of a delaminated beam lie below a frequency, and which they are.

Each segment has an exact dynamic stiffness; assembled over the tips of the delamination and the slopes at the supports
they give a small matrix K(ω). The count of Wittrick and Williams (1971),

    J(ω) = Σ_i J_i(ω) + number of negative eigenvalues of K(ω),

with J_i clamped frequencies of segment i below ω, is the number of natural frequencies below ω, multiple ones and those
that do not move the tips included. Bisection on J misses none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from klapper.mechanics import InvalidModel
from klapper.structures.delamination_segments import PLANES, Segment

_SMALL = 0.1  # bending number below which a segment's dynamic stiffness is K − ω² M, exact to 1e-12


def natural_frequencies(segments: Sequence[Segment], plane: str, count: int) -> np.ndarray:
    """The lowest ``count`` angular frequencies [rad/s] in a plane, multiple ones repeated."""
    if int(count) != count or count < 1:
        raise InvalidModel(f"count is {count}; allowed are whole numbers from 1 on.")
    high = np.array([_first_guess(segments, plane)])
    while count_below(segments, plane, high)[0] < count:
        high *= 2.0
    low, high = np.zeros(int(count)), np.repeat(high, int(count))
    wanted = np.arange(1, int(count) + 1)
    while np.any(high - low > 4e-15 * high):
        middle = 0.5 * (low + high)
        below = count_below(segments, plane, middle) < wanted
        if np.all((middle == low) | (middle == high)):
            break
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def count_below(segments: Sequence[Segment], plane: str, frequency: np.ndarray) -> np.ndarray:
    """J (k,): number of natural frequencies below each angular frequency (k,) [rad/s]. (Wittrick and Williams 1971)"""
    omega = np.asarray(frequency, dtype=float)
    total = np.zeros(omega.shape, dtype=int)
    stiffness = np.zeros((*omega.shape, *(_unknowns(plane),) * 2))
    static = np.zeros(_unknowns(plane))
    for segment in segments:
        ends = _end_displacements(segment, plane)
        rigidity = bending_rigidity(segment, plane)
        number = bending_number(segment, rigidity, omega)
        parts = [_bending_stiffness(number, rigidity, segment.length)]
        total += _clamped_bending(number)
        if plane == "1-3":
            wave = axial_number(segment, omega)
            parts.append(_axial_stiffness(wave, segment.axial / segment.length))
            total += np.floor(wave / np.pi).astype(int)
        for rows, part in zip((ends[:4], ends[4:]), parts, strict=False):
            stiffness += rows.T @ part @ rows
        static += _static_diagonal(segment, rigidity, ends)
    scale = 1.0 / np.sqrt(static)
    values = np.linalg.eigvalsh(stiffness * scale[:, None] * scale)
    return total + np.count_nonzero(values < 0.0, axis=-1)


def bending_rigidity(segment: Segment, plane: str) -> float:
    """E I [N m²] of displacements in the plane."""
    return segment.bending[PLANES.index(plane)]


def bending_number(segment: Segment, rigidity: float, frequency: np.ndarray) -> np.ndarray:
    """K = (ν L⁴ ω²/E I)^¼. Waltersberger (5.135)"""
    return segment.length * np.sqrt(frequency * np.sqrt(segment.line_mass / rigidity))


def axial_number(segment: Segment, frequency: np.ndarray) -> np.ndarray:
    """K = (ν L² ω²/E A)^½. Waltersberger (5.136)"""
    return segment.length * frequency * np.sqrt(segment.line_mass / segment.axial)


def _first_guess(segments: Sequence[Segment], plane: str) -> float:
    """First frequency of the intact, simply supported beam [rad/s]."""
    first, second, _, last = segments
    length = first.length + second.length + last.length
    return float((np.pi / length) ** 2 * np.sqrt(bending_rigidity(first, plane) / first.line_mass))


def _unknowns(plane: str) -> int:
    return 8 if plane == "1-3" else 6


def _end_displacements(segment: Segment, plane: str) -> np.ndarray:
    """Rows w, w' at both ends and u at both ends, from slope at support, (w, w', u) at tips A and B, slope at support.

    In the plane 2-3 there is no u.
    """
    axial = plane == "1-3"
    n = _unknowns(plane)
    tips = {"A": 1, "B": 4 if axial else 3}
    ends: dict[int, tuple[str | None, str | None]] = {1: (None, "A"), 4: ("B", None)}
    rows = np.zeros((6 if axial else 4, n))
    for end, tip in enumerate(ends.get(segment.number, ("A", "B"))):
        if tip is None:
            rows[2 * end + 1, 0 if segment.number == 1 else n - 1] = 1.0
            continue
        at = tips[tip]
        rows[2 * end, at] = rows[2 * end + 1, at + 1] = 1.0
        if axial:
            rows[4 + end, at + 2], rows[4 + end, at + 1] = 1.0, -segment.lever
    return rows


def _bending_stiffness(number: np.ndarray, rigidity: float, length: float) -> np.ndarray:
    """Dynamic stiffness (…, 4, 4) of w, w' at both ends; hyperbolic functions scaled by e^−K."""
    k = np.maximum(number, _SMALL)
    e = np.exp(-k)
    cosh, sinh, cos, sin = 0.5 * (1 + e**2), 0.5 * (1 - e**2), np.cos(k), np.sin(k)
    determinant = e - cos * cosh
    determinant = np.where(determinant == 0.0, np.finfo(float).tiny, determinant)
    near = np.stack([k**3 * (cos * sinh + sin * cosh), k**2 * sin * sinh, k * (sin * cosh - cos * sinh)], -1)
    far = np.stack([-(k**3) * (sinh + sin * e), k**2 * (cosh - cos * e), k * (sinh - sin * e)], -1)
    exact = _arranged(near / determinant[..., None], far / determinant[..., None])
    series = _arranged(np.array([12.0, 6.0, 4.0]), np.array([-12.0, 6.0, 2.0])) - (number**4)[
        ..., None, None
    ] * _arranged(np.array([156.0, 22.0, 4.0]) / 420, np.array([54.0, -13.0, -3.0]) / 420)
    matrix = np.where((number < _SMALL)[..., None, None], series, exact)
    sizes = np.array([1.0, length, 1.0, length])
    return rigidity / length**3 * matrix * sizes[:, None] * sizes


def _arranged(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Symmetric (…, 4, 4) from its entries (ww, ws, ss) at one end and (ww, ws, ss) between both ends."""
    (ww, ws, ss), (xww, xws, xss) = np.moveaxis(near, -1, 0), np.moveaxis(far, -1, 0)
    rows = [[ww, ws, xww, xws], [ws, ss, -xws, xss], [xww, -xws, ww, -ws], [xws, xss, -ws, ss]]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def _axial_stiffness(number: np.ndarray, rigidity: float) -> np.ndarray:
    """Dynamic stiffness (…, 2, 2) of u at both ends."""
    sine = np.sinc(number / np.pi)  # sin K / K
    sine = np.where(sine == 0.0, np.finfo(float).tiny, sine)
    near, far = np.cos(number) / sine, -1.0 / sine
    return rigidity * np.stack([np.stack([near, far], -1), np.stack([far, near], -1)], -2)


def _clamped_bending(number: np.ndarray) -> np.ndarray:
    """Number of frequencies of the clamped–clamped segment below K."""
    whole = np.floor(number / np.pi).astype(int)
    e = np.exp(-np.maximum(number, _SMALL))
    sign = np.where(number < np.pi, 1, np.where(e - np.cos(number) * 0.5 * (1 + e**2) >= 0.0, 1, -1))
    parity = np.where(whole % 2 == 0, 1, -1)
    return whole - (1 - parity * sign) // 2


def _static_diagonal(segment: Segment, rigidity: float, ends: np.ndarray) -> np.ndarray:
    """Sizes of the unknowns' stiffnesses, to scale K(ω)."""
    length = segment.length
    sizes = rigidity / length**3 * np.array([12.0, 4 * length**2, 12.0, 4 * length**2])
    stiff = np.concatenate([sizes, np.full(len(ends) - 4, segment.axial / length)])
    return stiff @ ends**2
