"""Stability of rotors over their speed.

    (λ² M + λ (Ω G + D) + K_el − Ω² K_c + Ω P) q̂ = 0                                    Waltersberger (5.167)

decides; critical speeds, at which K_el − Ω² K_c is singular (5.161), tell what is certain without eigenvalues:
an odd number of them below a speed (5.168), and the theorem of Thomson and Tait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from klapper.analysis.batched_eigenvalues import real_eigenvalues, shared
from klapper.analysis.rotor.bands import Band, positive_bands, speed_grid
from klapper.analysis.rotor.matrices import (
    RotorMatrices,
    batches,
    checked_speeds,
    dense_matrices,
    small_dense,
)
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel

_UNCOUPLED = 1e-10  # entries up to this part of the largest couple nothing
_NEUTRAL = 1e-7  # growth up to this part of the angular speed is round-off of a neutral motion


@dataclass(frozen=True, eq=False)
class Campbell:
    """Eigenvalues followed over speed.

    ``speeds`` (k,) [Hz]; ``eigenvalues`` λ (k, 2n) complex [1/s] in the turning frame, each column one branch

    >>> Campbell(np.array([0.5]), np.array([[0.1 + 2j * np.pi, -0.1 - 2j * np.pi]])).frequencies.tolist()
    [[1.0, 1.0]]
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
    ``unstable`` (k,) whether certainly unstable without external damping: ``below`` is odd, the determinant negative

    >>> below = np.array([0, 1, 2])
    >>> Parity(below, below % 2 == 1).unstable.tolist()
    [False, True, False]
    """

    below: np.ndarray
    unstable: np.ndarray


@dataclass(frozen=True, eq=False)
class ThomsonTait:
    """Material damping and K_el − Ω² K_c that is not positive definite: never stable without external damping.

    ``applies``     whether the rotor has material damping in all coordinates and no external damping
    ``indefinite``  (k,) whether a critical speed lies below; ``growth`` (k,) [1/s] largest real part

    >>> ThomsonTait(True, np.array([False, True]), np.array([-0.1, 0.2])).holds
    True
    """

    applies: bool
    indefinite: np.ndarray
    growth: np.ndarray

    @property
    def holds(self) -> bool:
        """Whether the eigenvalues say what the theorem does, at every speed."""
        return bool(np.all((self.growth > 0.0) == self.indefinite))


def eigenvalues(rotor: RotorMatrices, speeds: Any) -> np.ndarray:
    """Eigenvalues λ (k, 2n) complex [1/s] of a ``rotor`` at the ``speeds`` (k,) [Hz], the fastest growing first.

    (λ² M + λ (Ω G + D) + K_el − Ω² K_c + Ω P) q̂ = 0, (5.167). Coordinates that no matrix couples (symmetric and
    antisymmetric motions, say) are treated apart. A disc with ω = 10 rad/s is seen from a frame with Ω = 5 rad/s to
    vibrate with ω ∓ Ω:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> np.sort(abs(eigenvalues(rotating(disc, [[0, 1]]), [5.0 / (2 * np.pi)]))).round(9).tolist()
    [[5.0, 5.0, 15.0, 15.0]]
    """
    omega = 2 * np.pi * checked_speeds(speeds)
    unit = _in_mass_units(rotor)
    found = [_block_eigenvalues(unit.block(part), omega) for part in unit.parts()]
    values = np.concatenate(found, axis=1)
    return np.take_along_axis(values, np.argsort(-values.real, axis=1, kind="stable"), axis=1)


def growth(rotor: RotorMatrices, speeds: Any) -> np.ndarray:
    """Largest real part (k,) [1/s] of a ``rotor`` at the ``speeds`` (k,) [Hz]: unstable where positive.

    Internal damping makes a disc with ω = 10 rad/s unstable at speeds above ω:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), damping=np.eye(2), coordinates=["x", "y"])
    >>> (growth(rotating(disc, [[0, 1]]), np.array([9.9, 10.1]) / (2 * np.pi)) > 0.0).tolist()
    [False, True]
    """
    return eigenvalues(rotor, speeds).real.max(axis=1)


def campbell(rotor: RotorMatrices, speeds: Any) -> Campbell:
    """Eigenvalues of a ``rotor`` at rising ``speeds`` (k,) [Hz], each branch followed by continuity.

    A disc with ω = 10 rad/s in frames with Ω = 1 and 2 rad/s, ω ± Ω:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> seen = campbell(rotating(disc, [[0, 1]]), np.array([1.0, 2.0]) / (2 * np.pi))
    >>> np.sort(2 * np.pi * seen.frequencies, axis=1).round(9).tolist()
    [[9.0, 9.0, 11.0, 11.0], [8.0, 8.0, 12.0, 12.0]]
    """
    places = checked_speeds(speeds)
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
    """Critical speeds [Hz] of a ``rotor``, rising: K_el − Ω² K_c is singular, the unbalance in resonance. (5.161)

    None beyond ``up_to`` [Hz]; all of them if it is not given. A disc of 2 kg on a shaft of
    200 N/m one way and 288 N/m the other, at √(K/m):

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 288.0]), coordinates=["x", "y"])
    >>> (2 * np.pi * critical_speeds(rotating(disc, [[0, 1]]))).round(9).tolist()
    [10.0, 12.0]
    """
    inverse = scipy.linalg.eigvalsh(small_dense(rotor.centrifugal), small_dense(rotor.stiffness))
    inverse = inverse[inverse > 1e-14 * inverse.max()]
    speeds = np.sort(1.0 / np.sqrt(inverse)) / (2 * np.pi)
    return speeds if up_to is None else speeds[speeds <= up_to]


def determinant_parity(rotor: RotorMatrices, speeds: Any) -> Parity:
    """How many critical speeds of a ``rotor`` are below each of the ``speeds`` (k,) [Hz], and if it is odd. (5.168)

    A shaft that is not round, with ω = 10 and 12 rad/s, is unstable in between:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 288.0]), coordinates=["x", "y"])
    >>> determinant_parity(rotating(disc, [[0, 1]]), np.array([9.0, 11.0, 13.0]) / (2 * np.pi)).unstable.tolist()
    [False, True, False]
    """
    below = np.searchsorted(critical_speeds(rotor), checked_speeds(speeds), side="left")
    return Parity(below, below % 2 == 1)


def thomson_tait(rotor: RotorMatrices, speeds: Any) -> ThomsonTait:
    """Check the theorem of Thomson and Tait for a ``rotor`` at the ``speeds`` (k,) [Hz].

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), damping=np.eye(2), coordinates=["x", "y"])
    >>> found = thomson_tait(rotating(disc, [[0, 1]]), [1.0, 2.0])  # below and above ω = 10 rad/s
    >>> found.indefinite.tolist(), found.holds
    ([False, True], True)
    """
    internal, external = small_dense(rotor.internal_damping), small_dense(rotor.external_damping)
    pervasive = internal.any() and np.linalg.eigvalsh(internal)[0] > 0.0
    places = checked_speeds(speeds)
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
    """Ranges of speed between ``low`` and ``high`` [Hz] in which the largest real part of a ``rotor`` is positive.

    Their limits are bracketed to ``accuracy`` [Hz]. Besides ``samples`` at equal distances the critical speeds and the
    middles between them are looked at, where narrow ranges are. ``neutral`` [1/s] is the growth that still counts as
    none; by default 1e-7 of the largest angular speed.

    Internal damping makes a disc with ω = 10 rad/s unstable at all speeds above ω:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), damping=np.eye(2), coordinates=["x", "y"])
    >>> [band] = unstable_bands(rotating(disc, [[0, 1]]), 0.0, 5.0)
    >>> round(2 * np.pi * band.low, 3), band.high, band.closed
    (10.0, 5.0, (True, False))
    """
    grid = speed_grid(low, high, samples, critical_speeds(rotor, up_to=high))
    limit = _NEUTRAL * 2 * np.pi * high if neutral is None else number(neutral, "neutral", at_least=0.0)
    return positive_bands(lambda speeds: growth(rotor, speeds) - limit, grid, accuracy, shift=limit)


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
    mass, damping, gyroscopic, stiffness, centrifugal, circulatory = dense_matrices(rotor)
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

    return np.concatenate(shared(some, batches(omega, 4 * n * n)))
