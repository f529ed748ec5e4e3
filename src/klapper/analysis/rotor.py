"""Linear analysis of rotors over their speed: stability, critical speeds, opening, gravity, clatter.

In the frame that turns with the rotor at Ω,

    M q̈ + (Ω G + D_in + D_a) q̇ + (K_el − Ω² K_c + Ω P) q = Ω² f_c + Ω f_da + f_g(t)     Waltersberger (5.114)

(λ² M + λ (Ω G + D) + K_el − Ω² K_c + Ω P) q̂ = 0 decides on stability, (5.167). Centrifugal forces open a joint,
(5.161), gravity shakes it once per turn, (5.163); where the second exceeds the first it clatters, (5.166).

Speeds are revolutions per second [Hz]. Everything over speeds is computed in batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from klapper.analysis.batched_eigenvalues import real_eigenvalues, shared
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel

GRAVITY = (-9.81, 0.0)  # m/s², along directions 1 and 2 of the frame that stands still

_LARGEST = 3000  # coordinates up to which dense eigenvalues are sensible
_UNCOUPLED = 1e-10  # entries up to this part of the largest couple nothing
_NEUTRAL = 1e-7  # growth up to this part of the angular speed is round-off of a neutral motion
_BATCH = 2**24  # numbers held by one batch of matrices


class RotorMatrices(Protocol):
    """What is needed of a rotor: all (n, n) but ``unbalance`` (n,) and ``weight`` (n, 2)."""

    @property
    def mass(self) -> Any: ...
    @property
    def stiffness(self) -> Any: ...
    @property
    def internal_damping(self) -> Any: ...
    @property
    def external_damping(self) -> Any: ...
    @property
    def gyroscopic(self) -> Any: ...
    @property
    def centrifugal(self) -> Any: ...
    @property
    def circulatory(self) -> Any: ...
    @property
    def unbalance(self) -> np.ndarray: ...
    @property
    def weight(self) -> np.ndarray: ...


@dataclass(frozen=True)
class Band:
    """A range of speeds from ``low`` to ``high`` [Hz]; ``largest`` is the largest sampled value of what defines it.

    A band that begins or ends with the range looked at is not ``closed`` there: (left, right).
    """

    low: float
    high: float
    largest: float
    closed: tuple[bool, bool] = (True, True)

    def __contains__(self, speed: float) -> bool:
        return self.low <= speed <= self.high


@dataclass(frozen=True, eq=False)
class Campbell:
    """Eigenvalues followed over speed.

    ``speeds`` (k,) [Hz]; ``eigenvalues`` λ (k, 2n) complex [1/s] in the turning frame, each column one branch
    """

    speeds: np.ndarray
    eigenvalues: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """|Im λ|/2π (k, 2n) [Hz] in the turning frame."""
        return np.abs(self.eigenvalues.imag) / (2 * np.pi)

    @property
    def growth(self) -> np.ndarray:
        """Largest real part (k,) [1/s]."""
        return self.eigenvalues.real.max(axis=1)


@dataclass(frozen=True, eq=False)
class Parity:
    """The determinant criterion, Waltersberger (5.168).

    ``below``    (k,) number of critical speeds below each speed: negative eigenvalues of K_el − Ω² K_c
    ``unstable`` (k,) certainly unstable without external damping: ``below`` is odd, the determinant negative
    """

    below: np.ndarray
    unstable: np.ndarray


@dataclass(frozen=True, eq=False)
class ThomsonTait:
    """Material damping and K_el − Ω² K_c that is not positive definite: never stable without external damping.

    ``applies``     whether the rotor has material damping in all coordinates and no external damping
    ``indefinite``  (k,) whether a critical speed lies below; ``growth`` (k,) [1/s] largest real part
    """

    applies: bool
    indefinite: np.ndarray
    growth: np.ndarray

    @property
    def holds(self) -> bool:
        """Whether the eigenvalues say what the theorem does, at every speed."""
        return bool(np.all((self.growth > 0.0) == self.indefinite))


@dataclass(frozen=True)
class GravityResonance:
    """A speed at which the load that turns backward meets a motion of the rotor.

    ``speed`` [Hz]; ``damping_ratio``, small if sharp; ``participation`` share of gravity that drives it, 0 to 1
    """

    speed: float
    damping_ratio: float
    participation: float


@dataclass(frozen=True, eq=False)
class ClatterMap:
    """Opening of a joint by centrifugal forces against its shaking by gravity, without contact.

    ``speeds`` (k,) [Hz]; ``opening`` g_stat (k, p) [m]; ``amplitude`` g_dyn (k, p) [m] ≥ 0 at p points
    """

    speeds: np.ndarray
    opening: np.ndarray
    amplitude: np.ndarray

    @property
    def margin(self) -> np.ndarray:
        """g_stat − g_dyn (k, p) [m]: negative where the joint may clatter. (5.166)"""
        return self.opening - self.amplitude


def eigenvalues(rotor: RotorMatrices, speeds: Any) -> np.ndarray:
    """λ (k, 2n) complex [1/s] of (5.167) at the speeds (k,) [Hz], the fastest growing first.

    Coordinates that no matrix couples (symmetric and antisymmetric motions, say) are treated apart.
    """
    omega = 2 * np.pi * _speeds(speeds)
    unit = _in_mass_units(rotor)
    found = [_block_eigenvalues(unit.block(part), omega) for part in unit.parts()]
    values = np.concatenate(found, axis=1)
    return np.take_along_axis(values, np.argsort(-values.real, axis=1, kind="stable"), axis=1)


def growth(rotor: RotorMatrices, speeds: Any) -> np.ndarray:
    """Largest real part (k,) [1/s] at the speeds (k,) [Hz]: unstable where positive."""
    return eigenvalues(rotor, speeds).real.max(axis=1)


def campbell(rotor: RotorMatrices, speeds: Any) -> Campbell:
    """Eigenvalues at rising speeds (k,) [Hz], each branch followed by continuity."""
    places = _speeds(speeds)
    values = eigenvalues(rotor, places)
    values[0] = values[0][np.lexsort((values[0].real, values[0].imag))]
    for k in range(1, len(places)):
        expected = values[k - 1]
        if k > 1:
            stretch = (places[k] - places[k - 1]) / (places[k - 1] - places[k - 2])
            expected = expected + stretch * (values[k - 1] - values[k - 2])
        _, order = linear_sum_assignment(np.abs(expected[:, None] - values[k]))
        values[k] = values[k][order]
    return Campbell(places, values)


def critical_speeds(rotor: RotorMatrices, up_to: float | None = None) -> np.ndarray:
    """Speeds [Hz], rising, at which K_el − Ω² K_c is singular: the unbalance is in resonance. (5.161)"""
    inverse = scipy.linalg.eigvalsh(_dense(rotor.centrifugal), _dense(rotor.stiffness))
    inverse = inverse[inverse > 1e-14 * inverse.max()]
    speeds = np.sort(1.0 / np.sqrt(inverse)) / (2 * np.pi)
    return speeds if up_to is None else speeds[speeds <= up_to]


def determinant_parity(rotor: RotorMatrices, speeds: Any) -> Parity:
    """Number of critical speeds below each speed (k,) [Hz], and whether it is odd. (5.168)"""
    below = np.searchsorted(critical_speeds(rotor), _speeds(speeds), side="left")
    return Parity(below, below % 2 == 1)


def thomson_tait(rotor: RotorMatrices, speeds: Any) -> ThomsonTait:
    """Check the theorem of Thomson and Tait at the speeds (k,) [Hz]."""
    internal, external = _dense(rotor.internal_damping), _dense(rotor.external_damping)
    pervasive = internal.any() and np.linalg.eigvalsh(internal)[0] > 0.0
    places = _speeds(speeds)
    return ThomsonTait(
        bool(pervasive and not external.any()),
        determinant_parity(rotor, places).below > 0,
        growth(rotor, places),
    )


def unstable_bands(
    rotor: RotorMatrices,
    low: float,
    high: float,
    *,
    samples: int = 400,
    accuracy: float = 1e-6,
    neutral: float | None = None,
) -> list[Band]:
    """Ranges of speed [Hz] in which the largest real part is positive, their limits bracketed to ``accuracy`` [Hz].

    Besides ``samples`` at equal distances the critical speeds and the middles between them are looked at, where narrow
    ranges are. ``neutral`` [1/s] is the growth that still counts as none; by default 1e-7 of the largest angular speed.
    """
    grid = _grid(low, high, samples, critical_speeds(rotor, up_to=high))
    limit = _NEUTRAL * 2 * np.pi * high if neutral is None else number(neutral, "neutral", at_least=0.0)
    return _bands(lambda speeds: growth(rotor, speeds) - limit, grid, accuracy, shift=limit)


def centrifugal_deflection(rotor: RotorMatrices, speeds: Any, rows: Any = None) -> np.ndarray:
    """Static deflection (k, n), or of the ``rows`` (p, n): (k, p) [m], external damping neglected. (5.161), (5.162)"""
    omega = 2 * np.pi * _speeds(speeds)
    stiffness, centrifugal = _dense(rotor.stiffness), _dense(rotor.centrifugal)
    found = []
    for part in _batches(omega, stiffness.size):
        squared = (part**2)[:, None, None]
        found.append(_solved(stiffness - squared * centrifugal, squared[..., 0] * rotor.unbalance))
    return _seen(np.concatenate(found), rows)


def gravity_response(
    rotor: RotorMatrices, speeds: Any, rows: Any = None, *, gravity: Any = GRAVITY
) -> np.ndarray:
    """Complex amplitude q̂ (k, n) or of the ``rows`` (p, n): (k, p) [m] of Re(q̂ e^jΩt) under gravity (2,) [m/s²].

    Waltersberger (5.163) with f_cos − j f_sin: seen from the rotor, gravity turns backward.
    """
    omega = 2 * np.pi * _speeds(speeds)
    mass, damping, gyroscopic, stiffness, centrifugal, circulatory = _matrices(rotor)
    load = _gravity_phasor(rotor, gravity)
    found = []
    for part in _batches(omega, 2 * mass.size):
        w = part[:, None, None]
        matrix = stiffness + w * (circulatory + 1j * damping) + w**2 * (1j * gyroscopic - mass - centrifugal)
        found.append(_solved(matrix, np.broadcast_to(load, (len(part), len(load)))))
    return _seen(np.concatenate(found), rows)


def gravity_resonances(
    rotor: RotorMatrices, up_to: float, *, gravity: Any = GRAVITY, damping_ratio: float = 0.1
) -> list[GravityResonance]:
    """Speeds up to ``up_to`` [Hz] at which the matrix of (5.163) is nearly singular, with at most this damping ratio.

    They are the eigenvalues Ω of K_el + Ω (P + j D) + Ω² (j G − M − K_c) close to the real axis.
    """
    mass, damping, gyroscopic, stiffness, centrifugal, circulatory = _matrices(rotor)
    n = len(mass)
    first = circulatory + 1j * damping
    second = 1j * gyroscopic - mass - centrifugal
    companion = np.block([[-np.linalg.solve(stiffness, np.hstack([first, second]))], [np.eye(n, 2 * n)]])
    inverse = np.linalg.eigvals(companion)
    inverse = inverse[np.abs(inverse) > 1.0 / (4 * np.pi * up_to)]
    found = 1.0 / inverse
    chosen = found[(found.real > 0.0) & (found.real <= 2 * np.pi * up_to)]
    chosen = chosen[np.abs(chosen.imag) <= damping_ratio * np.abs(chosen)]
    load = _gravity_phasor(rotor, gravity)
    resonances = []
    for omega in np.sort_complex(chosen):
        matrix = stiffness + omega * first + omega**2 * second
        left = np.linalg.svd(matrix)[0][:, -1]
        share = abs(np.vdot(left, load)) / (np.linalg.norm(load) or 1.0)
        resonances.append(
            GravityResonance(omega.real / (2 * np.pi), abs(omega.imag) / abs(omega), float(share))
        )
    return resonances


def gravity_resonance_of_pair(first: Any, second: Any) -> Any:
    """Speed [Hz] of the resonance of one mode shape with frequencies [Hz] ``first`` and ``second`` in both directions.

        Ω = ω₁ ω₂/√(2 (ω₁² + ω₂²)),

    ω/2 for equal ones, where however nothing is excited: gravity does not move in the frame that stands still.
    """
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return one * two / np.sqrt(2 * (one**2 + two**2))


def clatter_map(rotor: RotorMatrices, rows: Any, speeds: Any, *, gravity: Any = GRAVITY) -> ClatterMap:
    """Opening and shaking of the gaps with ``rows`` (p, n) at the speeds (k,) [Hz]. (5.161)–(5.166)"""
    return ClatterMap(
        _speeds(speeds),
        centrifugal_deflection(rotor, speeds, rows),
        np.abs(gravity_response(rotor, speeds, rows, gravity=gravity)),
    )


def clatter_bands(
    rotor: RotorMatrices,
    rows: Any,
    low: float,
    high: float,
    *,
    gravity: Any = GRAVITY,
    samples: int = 400,
    accuracy: float = 1e-6,
) -> list[Band]:
    """Ranges of speed [Hz] in which gravity shakes one of the gaps with ``rows`` (p, n) harder than it is open. (5.166)

    Resonances with gravity and critical speeds are looked at in addition to ``samples`` at equal distances.
    """
    special = [each.speed for each in gravity_resonances(rotor, high, gravity=gravity)]
    grid = _grid(low, high, samples, np.union1d(special, critical_speeds(rotor, up_to=high) * (1 + 1e-9)))

    def excess(speeds: np.ndarray) -> np.ndarray:
        return -clatter_map(rotor, rows, speeds, gravity=gravity).margin.min(axis=1)

    return _bands(excess, grid, accuracy)


@dataclass(frozen=True, eq=False)
class _MassUnits:
    """Dense matrices in coordinates with M = 1; all entries are powers of an angular frequency."""

    stiffness: np.ndarray
    damping: np.ndarray
    gyroscopic: np.ndarray
    centrifugal: np.ndarray
    circulatory: np.ndarray

    def all(self) -> tuple[np.ndarray, ...]:
        return self.stiffness, self.damping, self.gyroscopic, self.centrifugal, self.circulatory

    def block(self, part: np.ndarray) -> _MassUnits:
        return _MassUnits(*(matrix[np.ix_(part, part)] for matrix in self.all()))

    def parts(self) -> list[np.ndarray]:
        """Sets of coordinates that no matrix couples."""
        coupled = np.zeros(self.stiffness.shape, dtype=bool)
        root = np.sqrt(np.abs(np.diag(self.stiffness)))
        sizes = (root[:, None] * root, *(np.abs(matrix).max() for matrix in self.all()[1:]))
        for matrix, size in zip(self.all(), sizes, strict=True):
            coupled |= np.abs(matrix) > _UNCOUPLED * size
        count, labels = connected_components(sparse.csr_array(coupled), directed=False)
        return [np.flatnonzero(labels == i) for i in range(count)]


def _in_mass_units(rotor: RotorMatrices) -> _MassUnits:
    mass, damping, gyroscopic, stiffness, centrifugal, circulatory = _matrices(rotor)
    if np.array_equal(mass, np.eye(len(mass))):
        return _MassUnits(stiffness, damping, gyroscopic, centrifugal, circulatory)
    try:
        factor = np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise InvalidModel("the mass matrix of the rotor is not positive definite.") from None

    def scaled(matrix: np.ndarray) -> np.ndarray:
        half = scipy.linalg.solve_triangular(factor, matrix, lower=True)
        return scipy.linalg.solve_triangular(factor, half.T, lower=True).T

    return _MassUnits(*(scaled(each) for each in (stiffness, damping, gyroscopic, centrifugal, circulatory)))


def _block_eigenvalues(unit: _MassUnits, omega: np.ndarray) -> np.ndarray:
    """λ (k, 2n) of one set of coupled coordinates."""
    n = len(unit.stiffness)
    root = np.sqrt(np.maximum(np.diag(unit.stiffness), 1e-12 * np.abs(unit.stiffness).max() + 1e-300))

    def some(part: np.ndarray) -> np.ndarray:
        w = part[:, None, None]
        matrix = np.zeros((len(part), 2 * n, 2 * n))
        matrix[:, np.arange(n), n + np.arange(n)] = root
        matrix[:, n:, :n] = -(unit.stiffness - w**2 * unit.centrifugal + w * unit.circulatory) / root
        matrix[:, n:, n:] = -(w * unit.gyroscopic + unit.damping)
        return real_eigenvalues(matrix)

    return np.concatenate(shared(some, _batches(omega, 4 * n * n)))


def _batches(omega: np.ndarray, numbers: int) -> list[np.ndarray]:
    """Speeds in parts small enough for the matrices of one part, and enough parts to share among threads."""
    count = max(1, -(-len(omega) * numbers // _BATCH), min(8, len(omega) // 16))
    return np.array_split(omega, count)


def _matrices(rotor: RotorMatrices) -> tuple[np.ndarray, ...]:
    """M, D, G, K_el, K_c, P, dense."""
    mass = _dense(rotor.mass)
    damping = _dense(rotor.internal_damping) + _dense(rotor.external_damping)
    others = (rotor.gyroscopic, rotor.stiffness, rotor.centrifugal, rotor.circulatory)
    return mass, damping, *(_dense(each) for each in others)


def _dense(matrix: Any) -> np.ndarray:
    if matrix.shape[0] > _LARGEST:
        raise InvalidModel(
            f"the rotor has {matrix.shape[0]} coordinates; this analysis takes at most {_LARGEST}. Project it on "
            "its modes."
        )
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)


def _gravity_phasor(rotor: RotorMatrices, gravity: Any) -> np.ndarray:
    """f_cos − j f_sin (n,) [N]. (5.164)"""
    first, second = finite(gravity, "gravity", (2,))
    return rotor.weight @ np.array([first, second]) - 1j * (rotor.weight @ np.array([second, -first]))


def _solved(matrices: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Responses (k, n) of matrices (k, n, n) to loads (k, n); infinite exactly in a resonance that the load excites."""
    try:
        return np.linalg.solve(matrices, loads[..., None])[..., 0]
    except np.linalg.LinAlgError:
        pass
    answers = np.empty(loads.shape, dtype=np.result_type(matrices, loads))
    for i, (matrix, load) in enumerate(zip(matrices, loads, strict=True)):
        answers[i] = np.linalg.lstsq(matrix, load, rcond=None)[0]
        error = np.abs(matrix @ answers[i] - load).max()
        if error > 1e-8 * np.abs(load).max(initial=1e-300):
            answers[i] = np.inf
    return answers


def _seen(states: np.ndarray, rows: Any) -> np.ndarray:
    if rows is None:
        return states
    looked = np.atleast_2d(np.asarray(rows, dtype=float))
    if looked.shape[1] != states.shape[1]:
        raise InvalidModel(f"rows have shape {looked.shape}, expected (p, {states.shape[1]}).")
    return states @ looked.T


def _speeds(given: Any) -> np.ndarray:
    speeds = np.atleast_1d(finite(given, "speeds"))
    if speeds.ndim != 1 or speeds.size == 0:
        raise InvalidModel(f"speeds have shape {speeds.shape}; expected (k,) with at least one speed.")
    return speeds


def _grid(low: float, high: float, samples: int, special: np.ndarray) -> np.ndarray:
    """Equally spaced speeds, special ones, and the middles between neighbouring special ones."""
    if not 0.0 <= low < high:
        raise InvalidModel(f"speeds from {low} to {high} Hz; expected 0 ≤ low < high.")
    inside = special[(special > low) & (special < high)]
    middles = 0.5 * (inside[1:] + inside[:-1])
    return np.unique(np.concatenate([np.linspace(low, high, max(int(samples), 2)), inside, middles]))


def _bands(
    function: Callable[[np.ndarray], np.ndarray], grid: np.ndarray, accuracy: float, shift: float = 0.0
) -> list[Band]:
    """Ranges in which a function of speed is positive, from samples on a grid and bisection of all changes at once."""
    number(accuracy, "accuracy", "numbers above 0, in Hz", above=0.0)
    values = function(grid)
    inside = values > 0.0
    change = np.flatnonzero(inside[1:] != inside[:-1])
    left, right, rising = grid[change], grid[change + 1], inside[change + 1]
    while change.size and np.any(right - left > accuracy):
        middle = 0.5 * (left + right)
        if np.all((middle <= left) | (middle >= right)):
            break
        reached = (function(middle) > 0.0) == rising
        left, right = np.where(reached, left, middle), np.where(reached, middle, right)
    limits = 0.5 * (left + right)
    starts, ends = limits[rising], limits[~rising]
    closed_left, closed_right = not inside[0], not inside[-1]
    starts = starts if closed_left else np.append(grid[0], starts)
    ends = ends if closed_right else np.append(ends, grid[-1])
    return [
        Band(
            float(low),
            float(high),
            float(values[(grid >= low) & (grid <= high)].max() + shift),
            (bool(closed_left or low > grid[0]), bool(closed_right or high < grid[-1])),
        )
        for low, high in zip(starts, ends, strict=True)
    ]
