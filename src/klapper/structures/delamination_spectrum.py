"""How many natural frequencies of a delaminated beam lie below a frequency, and which they are.

Each segment has an exact dynamic stiffness; assembled over the tips of the delamination and the slopes at the supports
they give a small matrix K(ω). The count of Wittrick and Williams (1971),

    J(ω) = Σ_i J_i(ω) + number of negative eigenvalues of K(ω),

with J_i clamped frequencies of segment i below ω, is the number of natural frequencies below ω, multiple ones and those
that do not move the tips included. Bisection on J misses none.

Unknown are deformations: what the end of each segment does beyond being carried along rigidly by its start. A stiffness
K(0) without couplings between the segments belongs to them, so that short ones, whose stiffness grows with 1/L³, do not
drown the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, sqrt

import numpy as np

from klapper.structures.delamination_segments import PLANES, Segment

_SMALL = 1.0  # bending number up to which Krylov's functions are the better basis
_TERMS = 5  # of their series; the next ones are below 1/20!
_UNEVEN = 0.5 * (
    1 + sqrt(5)
)  # keeps bisection off the frequencies of the intact beam, where the count is uncertain
_CARRIED = np.array(
    [[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1]]
)  # ends of a segment from its motions


def natural_frequencies(segments: Sequence[Segment], plane: str, count: int) -> np.ndarray:
    """The lowest ``count`` angular frequencies [rad/s] in a plane, multiple ones repeated."""
    high = np.array([_UNEVEN * _first_guess(segments, plane)])
    while count_below(segments, plane, high)[0] < count:
        high *= 2.0
    low, high = np.zeros(count), np.repeat(high, count)
    wanted = np.arange(1, count + 1)
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
    for segment, motions in zip(segments, _motions(segments, plane), strict=True):
        rigidity = bending_rigidity(segment, plane)
        number = bending_number(segment, rigidity, omega)
        parts = [_bending_stiffness(number, rigidity, segment.length)]
        total += _clamped_bending(number)
        if plane == "1-3":
            wave = axial_number(segment, omega)
            parts.append(_axial_stiffness(wave, segment.axial / segment.length))
            total += np.floor(wave / np.pi).astype(int)
        for rows, part in zip((motions[:4], motions[4:]), parts, strict=False):
            stiffness += rows.T @ part @ rows
        static += _static_diagonal(segment, rigidity, motions)
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


def _motions(segments: Sequence[Segment], plane: str) -> list[np.ndarray]:
    """Of each segment: w, w' at its start, w − w₀ − L w₀' and w' − w₀' at its end; u at its start, u − u₀ at its end.

    Columns: the deformations (two of bending) of beam 1, of both laminae, of beam 4, and the stretches of the laminae's
    tips and of beam 4; supports that do not move give the slope at the left one and the stretch of beam 1. In the plane
    2-3 nothing is stretched.
    """
    unit = np.eye(_unknowns(plane))
    bent, turned = unit[0:6:2], unit[1:6:2]
    stretched = np.zeros((3, len(unit)))
    if plane == "1-3":
        stretched[1:] = unit[6:]
        stretched[0] = -unit[6] - unit[7]
    lengths = np.array([segments[i].length for i in (0, 1, 3)])
    beyond = lengths.sum() - np.cumsum(lengths)
    w, u = np.zeros((2, len(unit)))
    slope = -(bent.sum(axis=0) + beyond @ turned) / lengths.sum()
    motions = []
    for i, together in enumerate(((0,), (1, 2), (3,))):
        for segment in (segments[each] for each in together):
            rows = [w, slope, bent[i], turned[i]]
            if plane == "1-3":
                rows += [u - segment.lever * slope, stretched[i] - segment.lever * turned[i]]
            motions.append(np.array(rows))
        w, slope, u = w + lengths[i] * slope + bent[i], slope + turned[i], u + stretched[i]
    return motions


def _bending_stiffness(number: np.ndarray, rigidity: float, length: float) -> np.ndarray:
    """Dynamic stiffness (…, 4, 4) of the bending :func:`_motions`; hyperbolic functions scaled by e^−K."""
    k = np.maximum(number, _SMALL)
    e = np.exp(-k)
    cosh, sinh, cos, sin = 0.5 * (1 + e**2), 0.5 * (1 - e**2), np.cos(k), np.sin(k)
    determinant = e - cos * cosh
    determinant = np.where(determinant == 0.0, np.finfo(float).eps, determinant)
    near = np.stack([k**3 * (cos * sinh + sin * cosh), k**2 * sin * sinh, k * (sin * cosh - cos * sinh)], -1)
    far = np.stack([-(k**3) * (sinh + sin * e), k**2 * (cosh - cos * e), k * (sinh - sin * e)], -1)
    matrix = _CARRIED.T @ _arranged(near / determinant[..., None], far / determinant[..., None]) @ _CARRIED
    short = number < _SMALL
    if np.any(short):
        matrix[short] = _by_krylov(number[short])
    sizes = np.array([1.0, length, 1.0, length])
    return rigidity / length**3 * matrix * sizes[:, None] * sizes


def _by_krylov(number: np.ndarray) -> np.ndarray:
    """The same (…, 4, 4) for E I = L = 1 and small K, nothing cancelling.

    w = w₀ S₀ + w₀' S₁ + a S₂ + b S₃ with S_m = ξ^m/m! + K⁴ ξ^(m+4)/(m+4)! + …; derivatives give the forces.
    """
    power, j = number**4, np.arange(1, _TERMS)
    rest = [
        np.sum(power[..., None] ** j / [factorial(m + 4 * each) for each in j], axis=-1) for m in range(4)
    ]  # S_m(1) − 1/m!
    s0, s1, s2, s3 = (part + 1 / factorial(m) for m, part in enumerate(rest))

    def table(*entries: np.ndarray) -> np.ndarray:
        return np.stack(entries, -1).reshape(*power.shape, 2, 2)

    carried = table(rest[0], rest[1], power * s3, rest[0])  # of (w₀, w₀') in the end's deviations
    answer = np.linalg.inv(table(s2, s3, s1, s2))  # (a, b) of these
    start = table(-power * s1, -power * s2, power * (s2 - s1), power * (s3 - s2))
    start_by_shape = table(-power * s3, -rest[0], rest[0] - power * s3, rest[1] - rest[0])
    end_by_shape = table(-power * s3, -s0, s0, s1)
    whole = np.empty((*power.shape, 4, 4))
    whole[..., :2, :2] = start - start_by_shape @ answer @ carried
    whole[..., :2, 2:] = start_by_shape @ answer
    whole[..., 2:, :2] = np.swapaxes(whole[..., :2, 2:], -1, -2)
    whole[..., 2:, 2:] = end_by_shape @ answer
    return whole


def _arranged(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Symmetric (…, 4, 4) from its entries (ww, ws, ss) at one end and (ww, ws, ss) between both ends."""
    (ww, ws, ss), (xww, xws, xss) = np.moveaxis(near, -1, 0), np.moveaxis(far, -1, 0)
    rows = [[ww, ws, xww, xws], [ws, ss, -xws, xss], [xww, -xws, ww, -ws], [xws, xss, -ws, ss]]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def _axial_stiffness(number: np.ndarray, rigidity: float) -> np.ndarray:
    """Dynamic stiffness (…, 2, 2) of the axial :func:`_motions`."""
    sine = np.sinc(number / np.pi)  # sin K / K
    sine = np.where(sine == 0.0, np.finfo(float).eps, sine)
    carried = -2.0 * np.sin(0.5 * number) ** 2 / sine  # (cos K − 1) K / sin K
    rows = [[2.0 * carried, carried], [carried, np.cos(number) / sine]]
    return rigidity * np.stack([np.stack(row, -1) for row in rows], -2)


def _clamped_bending(number: np.ndarray) -> np.ndarray:
    """Number of frequencies of the clamped–clamped segment below K."""
    whole = np.floor(number / np.pi).astype(int)
    e = np.exp(-np.maximum(number, _SMALL))
    sign = np.where(number < np.pi, 1, np.where(e - np.cos(number) * 0.5 * (1 + e**2) >= 0.0, 1, -1))
    parity = np.where(whole % 2 == 0, 1, -1)
    return whole - (1 - parity * sign) // 2


def _static_diagonal(segment: Segment, rigidity: float, motions: np.ndarray) -> np.ndarray:
    """Sizes of the unknowns' stiffnesses, to scale K(ω)."""
    length = segment.length
    sizes = rigidity / length**3 * np.array([0.0, 0.0, 12.0, 4 * length**2])
    stretching = np.array([0.0, segment.axial / length])[: len(motions) - 4]
    return np.concatenate([sizes, stretching]) @ motions**2
