"""What is asked of a rotor, and its matrices as arrays.

M q̈ + (Ω G + D_in + D_a) q̇ + (K_el − Ω² K_c + Ω P) q = Ω² f_c + Ω f_da + f_g(t)     Waltersberger (5.114)
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.arguments import finite
from klapper.mechanics.errors import InvalidModel

_LARGEST = 3000  # coordinates up to which dense eigenvalues are sensible
_BATCH = 2**24  # numbers held by one batch of matrices


class RotorMatrices(Protocol):
    """What is needed of a rotor: all (n, n) but ``unbalance`` (n,) and ``weight`` (n, 2).

    Units as of :class:`klapper.structures.Rotor`, which offers them:

    >>> from klapper.structures import Structure, rotating
    >>> rotor: RotorMatrices = rotating(Structure(np.eye(2), np.eye(2), coordinates=["x", "y"]), [[0, 1]])
    >>> rotor.mass.shape, rotor.unbalance.shape, rotor.weight.shape
    ((2, 2), (2,), (2, 2))
    """

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


def dense_matrices(rotor: RotorMatrices) -> tuple[np.ndarray, ...]:
    """M, D, G, K_el, K_c, P, dense."""
    mass = small_dense(rotor.mass)
    damping = small_dense(rotor.internal_damping) + small_dense(rotor.external_damping)
    others = (rotor.gyroscopic, rotor.stiffness, rotor.centrifugal, rotor.circulatory)
    return mass, damping, *(small_dense(each) for each in others)


def small_dense(matrix: Any) -> np.ndarray:
    if matrix.shape[0] > _LARGEST:
        raise InvalidModel(
            f"the rotor has {matrix.shape[0]} coordinates; this analysis takes at most {_LARGEST}. Project it on "
            "its modes."
        )
    return dense(matrix)


def checked_speeds(given: Any) -> np.ndarray:
    speeds = np.atleast_1d(finite(given, "speeds"))
    if speeds.ndim != 1 or speeds.size == 0:
        raise InvalidModel(f"speeds have shape {speeds.shape}; expected (k,) with at least one speed.")
    return speeds


def batches(omega: np.ndarray, numbers: int) -> list[np.ndarray]:
    """Speeds in parts small enough for the matrices of one part, and enough parts to share among threads."""
    count = max(1, -(-len(omega) * numbers // _BATCH), min(8, len(omega) // 16))
    return np.array_split(omega, count)
