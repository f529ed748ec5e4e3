"""Natural modes of a delaminated beam, as functions, from its characteristic matrix.

In each segment, with x = L ξ,

    across    U(ξ) = c₁ sin Kξ + c₂ cos Kξ + c₃ e^−Kξ + c₄ e^K(ξ−1)                   Waltersberger (5.133)
    along     U(ξ) = c₁ sin Kξ + c₂ cos Kξ                                            (5.134)

(Krylov's combinations of these where K is small). Supports and transition conditions make A(ω) c = 0, (5.147): 24
unknowns in the plane 1-3, 16 in the plane 2-3. At a natural frequency, found by counting, the null space of A holds the
mode; at a double one it has two dimensions.

Laminae and intact beam share w and w' at the tips, and u_i = u − y_i w' (Euler–Bernoulli; (5.143)–(5.146) print the
opposite sign, a mirrored direction 3). Virtual work gives the balance of shear force, normal force and moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from klapper.mechanics import InvalidModel
from klapper.structures.delamination_segments import PLANES, SEGMENTS, Segment
from klapper.structures.delamination_spectrum import (
    axial_number,
    bending_number,
    bending_rigidity,
    natural_frequencies,
)

_KRYLOV_BELOW = 1.0  # bending number up to which Krylov's functions are the better basis
_SAME = 2e-7  # relative distance up to which frequencies are one multiple one: the count has √ε beside a clamped one
_CLOSE = 1e-7  # relative distance up to which Newton steps may correct a counted frequency
_SINGULAR = 1e-6  # singular values up to this part of the largest belong to the null space
_NEIGHBOURS = 1e-3  # relative distance from which on frequencies can be told apart in any case
_ORTHOGONAL = 1e-6  # largest admitted product of mass-normalised modes


@dataclass(frozen=True, eq=False)
class ModeFunctions:
    """Mass-normalised natural modes of the non-rotating beam, rising in frequency.

    ``angular_frequencies``  ω (n,) [rad/s]
    ``planes``               "1-3" or "2-3" of each mode
    ``coefficients``         (n, 4, 6): c of each mode and segment, four across and two along
    """

    segments: tuple[Segment, ...]
    angular_frequencies: np.ndarray
    planes: tuple[str, ...]
    coefficients: np.ndarray

    @property
    def size(self) -> int:
        """Number n of modes."""
        return len(self.planes)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(
            f"mode {i + 1} ({omega / (2 * np.pi):.4g} Hz, plane {plane})"
            for i, (omega, plane) in enumerate(zip(self.angular_frequencies, self.planes, strict=True))
        )

    def rows(self, segment: int, places: Any, direction: int, derivative: int = 0) -> np.ndarray:
        """d^j u/dx^j (k, n) of every mode in ``direction`` 1, 2 or 3 at the ``places`` ξ (k,) of a segment 1…4."""
        part, xi = self.segments[SEGMENTS.index(segment)], np.atleast_1d(np.asarray(places, dtype=float))
        plane = "2-3" if direction == 2 else "1-3"
        values = np.zeros((xi.size, self.size))
        for i in np.flatnonzero([mine == plane for mine in self.planes]):
            own = self.coefficients[i, segment - 1]
            if direction == 3:
                basis, own = _along(part, self.angular_frequencies[i], xi, derivative), own[4:]
            else:
                basis, own = _across(part, plane, self.angular_frequencies[i], xi, derivative), own[:4]
            values[:, i] = basis @ own
        return values

    @cached_property
    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss points ξ (k,) and weights on a segment, exact to round-off for products of two modes."""
        largest = max(
            float(bending_number(part, min(part.bending), self.angular_frequencies).max())
            for part in self.segments
        )
        points, weights = np.polynomial.legendre.leggauss(32 + int(1.5 * largest))
        return 0.5 * (1 + points), 0.5 * weights

    def gram(self, line_weight: Sequence[float], left: int, right: int) -> np.ndarray:
        """Σ_i ∫ c_i u_left u_right dx (n, n) for line weights c (4,) and directions of both factors."""
        _, weights = self.quadrature
        total = np.zeros((self.size, self.size))
        for part, weight in zip(self.segments, line_weight, strict=True):
            first = self._sampled[part.number, left]
            second = self._sampled[part.number, right]
            total += first.T @ ((weight * part.length * weights)[:, None] * second)
        return total

    def mean(self, line_weight: Sequence[float], direction: int) -> np.ndarray:
        """Σ_i ∫ c_i u_direction dx (n,) for line weights c (4,)."""
        _, weights = self.quadrature
        parts = zip(self.segments, line_weight, strict=True)
        return sum(
            (
                weight * part.length * weights @ self._sampled[part.number, direction]
                for part, weight in parts
            ),
            np.zeros(self.size),
        )

    @cached_property
    def _sampled(self) -> dict[tuple[int, int], np.ndarray]:
        xi, _ = self.quadrature
        return {(number, axis): self.rows(number, xi, axis) for number in SEGMENTS for axis in (1, 2, 3)}


def mode_functions(segments: Sequence[Segment], count: int, planes: Sequence[str] = PLANES) -> ModeFunctions:
    """The ``count`` lowest modes over the given planes together."""
    found = [(omega, plane) for plane in planes for omega in natural_frequencies(segments, plane, count)]
    found.sort(key=lambda each: each[0])
    chosen = found[:count]
    own = np.array([plane for _, plane in chosen])
    frequencies = np.array([omega for omega, _ in chosen])
    coefficients = np.zeros((len(chosen), 4, 6))
    for plane in planes:
        mine = own == plane
        frequencies[mine], coefficients[mine] = _shapes(segments, plane, frequencies[mine])
    return _normalised(ModeFunctions(tuple(segments), frequencies, tuple(own.tolist()), coefficients))


def characteristic_matrix(segments: Sequence[Segment], plane: str, frequency: float) -> np.ndarray:
    """A(ω) of the conditions A c = 0, (24, 24) in the plane 1-3 and (16, 16) in the plane 2-3. (5.147)"""
    first, upper, lower, last = (_Ends(part, plane, frequency) for part in segments)
    rows = [condition for intact, at in ((first, 0), (last, 1)) for condition in intact.support(at)]
    for intact, at, lamina_at in ((first, 1, 0), (last, 0, 1)):
        for lamina in (upper, lower):
            rows.append(lamina.across(lamina_at) - intact.across(at))
            rows.append(lamina.across(lamina_at, 1) - intact.across(at, 1))
            if plane == "1-3":
                turning = lamina.part.lever * intact.across(at, 1)
                rows.append(lamina.along(lamina_at) - intact.along(at) + turning)
        rows.append(intact.shear(at) - upper.shear(lamina_at) - lower.shear(lamina_at))
        moments = upper.moment(lamina_at) + lower.moment(lamina_at)
        if plane == "1-3":
            rows.append(intact.normal(at) - upper.normal(lamina_at) - lower.normal(lamina_at))
            for lamina in (upper, lower):
                moments = moments - lamina.part.lever * lamina.normal(lamina_at)
        rows.append(intact.moment(at) - moments)
    return np.array(rows)


class _Ends:
    """Displacements and section forces at the ends (0 or 1) of a segment, as rows over all unknowns."""

    def __init__(self, part: Segment, plane: str, frequency: float) -> None:
        self.part, self.plane, self.frequency = part, plane, frequency
        self._own = 6 if plane == "1-3" else 4
        self._first = (part.number - 1) * self._own

    def across(self, end: int, derivative: int = 0) -> np.ndarray:
        values = _across(self.part, self.plane, self.frequency, np.array([float(end)]), derivative)
        return self._row(values[0], 0)

    def along(self, end: int, derivative: int = 0) -> np.ndarray:
        return self._row(_along(self.part, self.frequency, np.array([float(end)]), derivative)[0], 4)

    def moment(self, end: int) -> np.ndarray:
        return bending_rigidity(self.part, self.plane) * self.across(end, 2)

    def shear(self, end: int) -> np.ndarray:
        return bending_rigidity(self.part, self.plane) * self.across(end, 3)

    def normal(self, end: int) -> np.ndarray:
        return self.part.axial * self.along(end, 1)

    def support(self, end: int) -> list[np.ndarray]:
        """Simply supported and held lengthwise. (5.137)–(5.142)"""
        conditions = [self.across(end), self.across(end, 2)]
        return [*conditions, self.along(end)] if self.plane == "1-3" else conditions

    def _row(self, values: np.ndarray, place: int) -> np.ndarray:
        row = np.zeros(4 * self._own)
        row[self._first + place : self._first + place + values.size] = values
        return row


def _across(part: Segment, plane: str, frequency: float, xi: np.ndarray, derivative: int) -> np.ndarray:
    """d^j/dx^j of the four bending functions (k, 4)."""
    number = float(bending_number(part, bending_rigidity(part, plane), np.array(frequency)))
    if number < _KRYLOV_BELOW:
        values = [_krylov(number, xi, m, derivative) for m in range(4)]
    else:
        quarter = derivative * np.pi / 2
        values = [
            number**derivative * np.sin(number * xi + quarter),
            number**derivative * np.cos(number * xi + quarter),
            (-number) ** derivative * np.exp(-number * xi),
            number**derivative * np.exp(number * (xi - 1.0)),
        ]
    return np.stack(values, -1) / part.length**derivative


def _krylov(number: float, xi: np.ndarray, which: int, derivative: int) -> np.ndarray:
    """ξ^m/m! + K⁴ ξ^(m+4)/(m+4)! + …, summed until it no longer changes; each is the derivative of the next."""
    lowest = which - derivative
    factor = 1.0
    while lowest < 0:
        lowest, factor = lowest + 4, factor * number**4
    term = xi**lowest / np.prod(np.arange(1.0, lowest + 1))
    total = np.zeros_like(xi)
    power = lowest
    while np.any(total + term != total):
        total = total + term
        term = term * (number * xi) ** 4 / ((power + 1) * (power + 2) * (power + 3) * (power + 4))
        power += 4
    return factor * total


def _along(part: Segment, frequency: float, xi: np.ndarray, derivative: int) -> np.ndarray:
    """d^j/dx^j of sin(Kξ)/K and cos Kξ (k, 2)."""
    number = float(axial_number(part, np.array(frequency)))
    angle = number * xi + derivative * np.pi / 2
    values = [number ** (derivative - 1) * np.sin(angle), number**derivative * np.cos(angle)]
    return np.stack(values, -1) / part.length**derivative


def _shapes(segments: Sequence[Segment], plane: str, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (n,) and coefficients (n, 4, 6) of the modes of one plane, before normalisation."""
    own = 6 if plane == "1-3" else 4
    frequencies, shapes = counted.copy(), np.zeros((len(counted), 4, 6))
    for same in _clusters(counted):
        others = np.abs(np.delete(counted, same) - counted[same[0]]).min(initial=np.inf)
        reach = min(_CLOSE * counted[same[0]], 0.25 * others)
        frequencies[same] = _polished(segments, plane, counted[same], reach)
        vectors = _null_space(segments, plane, float(frequencies[same].mean()), len(same))
        shapes[same, :, :own] = vectors.T.reshape(len(same), 4, own)
    return frequencies, shapes


def _clusters(frequencies: np.ndarray) -> list[list[int]]:
    """Numbers of rising frequencies (n,), multiple ones together."""
    groups: list[list[int]] = []
    for i, frequency in enumerate(frequencies):
        if groups and frequency - frequencies[groups[-1][0]] <= _SAME * frequency:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _polished(segments: Sequence[Segment], plane: str, counted: np.ndarray, reach: float) -> np.ndarray:
    """A frequency (1,), or a cluster of m, [rad/s] to round-off.

    The count loses digits where a clamped frequency of a segment is close. With the m smallest singular values of A and
    their vectors u and v, the steps δ are the eigenvalues of (uᵀ A v + δ uᵀ A' v) y = 0. Within ``reach`` [rad/s] there
    is no other frequency.
    """
    frequencies, m = counted, counted.size
    for _ in range(2):
        middle = float(frequencies.mean())
        matrix = characteristic_matrix(segments, plane, middle)
        rows, columns = _sizes(matrix)
        left, singular, right = np.linalg.svd(matrix / rows[:, None] / columns)
        step = 1e-6 * middle
        change = characteristic_matrix(segments, plane, middle + step)
        change = (change - characteristic_matrix(segments, plane, middle - step)) / rows[:, None] / columns
        slope = left[:, -m:].T @ change @ right[-m:].T / (2 * step)
        try:
            steps = np.linalg.eigvals(-np.linalg.solve(slope, np.diag(singular[-m:])))
        except np.linalg.LinAlgError:
            break
        moved = np.sort(middle + steps.real)
        if not np.abs(moved - counted).max() <= reach:
            break
        frequencies = moved
    return frequencies


def _null_space(segments: Sequence[Segment], plane: str, frequency: float, dimension: int) -> np.ndarray:
    """c (24 or 16, dimension) with A(ω) c = 0. (5.149)"""
    matrix = characteristic_matrix(segments, plane, frequency)
    rows, columns = _sizes(matrix)
    _, singular, right = np.linalg.svd(matrix / rows[:, None] / columns)
    if singular[-dimension] > _SINGULAR * singular[0]:
        raise InvalidModel(
            f"the mode at {frequency / (2 * np.pi):.6g} Hz in the plane {plane} is lost in round-off (singular value "
            f"{singular[-dimension] / singular[0]:.1e}); ask for fewer modes, or use finite elements."
        )
    return right[-dimension:].T / columns[:, None]


def _sizes(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of the rows and columns of A: conditions and unknowns have different units."""
    rows, columns = np.ones(len(matrix)), np.ones(len(matrix))
    for _ in range(3):
        rows = rows * np.abs(matrix / rows[:, None] / columns).max(axis=1)
        columns = columns * np.abs(matrix / rows[:, None] / columns).max(axis=0)
    return rows, columns


def _normalised(modes: ModeFunctions) -> ModeFunctions:
    """Modes of a multiple frequency made orthogonal, all of unit modal mass, largest displacement positive. (5.115)"""
    gram = _mass(modes)
    mixing = np.zeros_like(gram)
    for same in _multiple(modes):
        block = np.ix_(same, same)
        try:
            mixing[block] = np.linalg.inv(np.linalg.cholesky(gram[block]))
        except np.linalg.LinAlgError:
            raise InvalidModel(_not_orthogonal(modes, same[0], same[-1])) from None
    coefficients = np.tensordot(mixing, modes.coefficients, axes=1)
    sampled = _sampled_across(replace(modes, coefficients=coefficients))
    signs = np.array([_sign(column) for column in sampled.T])
    normal = replace(modes, coefficients=signs[:, None, None] * coefficients)
    error = np.abs(_mass(normal) - np.eye(normal.size))
    if error.max() > _ORTHOGONAL:
        raise InvalidModel(_not_orthogonal(normal, *np.unravel_index(np.argmax(error), error.shape)))
    return normal


def _multiple(modes: ModeFunctions) -> list[list[int]]:
    """Numbers of the modes of each frequency in each plane, multiple ones together."""
    groups = []
    for plane in PLANES:
        mine = np.flatnonzero([own == plane for own in modes.planes])
        groups += [mine[same].tolist() for same in _clusters(modes.angular_frequencies[mine])]
    return groups


def _not_orthogonal(modes: ModeFunctions, first: Any, second: Any) -> str:
    one, other = modes.angular_frequencies[[first, second]]
    if abs(one - other) <= _NEIGHBOURS * one:
        return (
            f"{modes.coordinates[first]} and {modes.coordinates[second]} are too close to be told apart; ask for fewer "
            "modes, or use finite elements."
        )
    shortest = min(modes.segments, key=lambda part: part.length)
    return (
        f"segment {shortest.number} is {shortest.length:.3g} m long, so short that {modes.coordinates[first]} is lost "
        "in round-off; make it longer, or ask for frequencies only."
    )


def _mass(modes: ModeFunctions) -> np.ndarray:
    line_mass = [part.line_mass for part in modes.segments]
    return sum((modes.gram(line_mass, axis, axis) for axis in (1, 2, 3)), np.zeros((modes.size, modes.size)))


def _sampled_across(modes: ModeFunctions) -> np.ndarray:
    """Displacements across (k, n) at points all over the beam."""
    places = np.linspace(0.0, 1.0, 61)
    return np.concatenate([modes.rows(part, places, axis) for part in SEGMENTS for axis in (1, 2)])


def _sign(values: np.ndarray) -> float:
    """Sign of the first entry about as large as the largest."""
    size = np.abs(values)
    return 1.0 if values[np.argmax(size > 0.999 * size.max())] >= 0.0 else -1.0
