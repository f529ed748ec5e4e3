"""The linear structure in frequency, condensed to the directions of its contacts.

    Z_k = K + N + i k Ω (D + G) − k² Ω² M,      q_k = Z_k⁻¹ (f_k + J λ_k)
    x_k = Jᵀ q_k = A_k λ_k + x_free,k,          A_k = Jᵀ Z_k⁻¹ J,   x_free,k = Jᵀ Z_k⁻¹ f_k

Two-sided constraints border Z_k. Structures whose damping does not couple their modes are solved mode by mode; other
small ones by dense matrices, all harmonics at once; large ones by sparse factors of one harmonic after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_BY_MODES, _DENSE = 600, 120  # most coordinates that are treated this way
_UNCOUPLED = 1e-10  # of its diagonal: what modal damping may have beside it
_UNSUPPORTED = 1e-13  # of the largest stiffness of a mode, below which it has none
_DEPENDENT = 1e-10  # of the largest pivot: below it a constraint repeats others


@dataclass(frozen=True, eq=False)
class Condensed:
    """A (K + 1, c, c) [m/N], x_free (K + 1, c) [m], and their derivatives by Ω."""

    flexibility: np.ndarray
    free: np.ndarray
    flexibility_rate: np.ndarray
    free_rate: np.ndarray


class Dynamics(ABC):
    """The linear part of a system, to be asked at any Ω [rad/s]."""

    def __init__(self, system: LinearSystem, matrix: np.ndarray) -> None:
        self.system, self.matrix = system, matrix

    def right(self, load: np.ndarray, guide: np.ndarray) -> np.ndarray:
        """Right-hand sides (K + 1, n) of loads (K + 1, n) and offsets of constraints (K + 1, p)."""
        return load

    @abstractmethod
    def condensed(self, omega: float, right: np.ndarray) -> Condensed: ...

    @abstractmethod
    def motion(self, omega: float, right: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """q (K + 1, n) under right-hand sides and contact forces (K + 1, c)."""


def dynamics_of(system: LinearSystem, matrix: np.ndarray) -> Dynamics:
    """The cheapest treatment of the system; ``matrix`` is J (n, c)."""
    if not system.constraints and system.size <= _BY_MODES:
        modes = _decoupled(system)
        if modes is not None:
            return _Modal(system, matrix, *modes)
    size = system.size + len(system.constraints)
    return _Dense(system, matrix) if size <= _DENSE else _Sparse(system, matrix)


def _decoupled(system: LinearSystem) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Mass-normalised modes (n, n), ω² (n,) and modal damping (n,), or None if something couples them."""
    if system.gyroscopic is not None or system.circulatory is not None:
        return None
    mass, stiffness = _array(system.mass_matrix, system.size), _array(system.stiffness, system.size)
    if _is_diagonal(mass) and _is_diagonal(stiffness):
        shapes = np.diag(1.0 / np.sqrt(np.diag(mass)))
        squares = np.diag(stiffness) / np.diag(mass)
    else:
        squares, shapes = scipy.linalg.eigh(stiffness, mass)
    damping = shapes.T @ _array(system.damping, system.size) @ shapes
    beside = np.abs(damping - np.diag(np.diag(damping))).max(initial=0.0)
    if beside > _UNCOUPLED * np.abs(np.diag(damping)).max(initial=0.0):
        return None
    return shapes, squares, np.diag(damping).copy()


class _Modal(Dynamics):
    def __init__(
        self,
        system: LinearSystem,
        matrix: np.ndarray,
        shapes: np.ndarray,
        squares: np.ndarray,
        damping: np.ndarray,
    ) -> None:
        super().__init__(system, matrix)
        self.shapes, self.squares, self.damping = shapes, squares, damping
        self.seen = shapes.T @ matrix
        if np.any(squares <= _UNSUPPORTED * squares.max(initial=0.0)):
            raise _unsupported(system)

    def _factors(self, omega: float, count: int) -> tuple[np.ndarray, np.ndarray]:
        """1 / d and d' of d = ω_j² + i k Ω δ_j − k² Ω² (count, n)."""
        k = np.arange(count)[:, None]
        d = self.squares + 1j * k * omega * self.damping - (k * omega) ** 2
        if np.any(d == 0.0):
            raise _resonance(self.system, omega)
        return 1.0 / d, 1j * k * self.damping - 2.0 * k**2 * omega

    def condensed(self, omega: float, right: np.ndarray) -> Condensed:
        inverse, change = self._factors(omega, len(right))
        modal = right @ self.shapes
        pairs = np.einsum("ja,jb->jab", self.seen, self.seen)
        slope = -(inverse**2) * change
        return Condensed(
            np.tensordot(inverse, pairs, 1),
            (inverse * modal) @ self.seen,
            np.tensordot(slope, pairs, 1),
            (slope * modal) @ self.seen,
        )

    def motion(self, omega: float, right: np.ndarray, forces: np.ndarray) -> np.ndarray:
        inverse, _ = self._factors(omega, len(right))
        return (inverse * (right @ self.shapes + forces @ self.seen.T)) @ self.shapes.T


class _Bordered(Dynamics):
    """Matrices bordered by constraints: [Z, u J_B; u J_Bᵀ, 0] (q, −λ_B / u) = (f, −u φ₀), u of the size of Z."""

    def __init__(self, system: LinearSystem, matrix: np.ndarray) -> None:
        super().__init__(system, matrix)
        n = system.size
        stiffness = _sparse(system.position_matrix, n)
        held, self.picked = _independent(system.constraint_matrix)
        self.border = len(self.picked)
        self.unit = float(abs(stiffness).max() or abs(_sparse(system.mass_matrix, n)).max())
        self.mass = self._bordered(_sparse(system.mass_matrix, n))
        self.rates = self._bordered(_sparse(system.rate_matrix, n))
        self.stiffness = self._bordered(stiffness, self.unit * held)
        self.wide = np.vstack([matrix, np.zeros((self.border, matrix.shape[1]))])
        self.symmetric = system.gyroscopic is None and system.circulatory is None

    def _bordered(self, matrix: Any, border: Any = None) -> Any:
        if not self.border:
            return matrix.tocsc()
        corner = sparse.csc_array((self.border, self.border))
        beside = sparse.csc_array((matrix.shape[0], self.border) if border is None else border)
        return sparse.block_array([[matrix, beside], [beside.T, corner]], format="csc")

    def right(self, load: np.ndarray, guide: np.ndarray) -> np.ndarray:
        return np.hstack([load, -self.unit * guide[:, self.picked]])

    def _split(self, left: np.ndarray, solved: np.ndarray, change: np.ndarray) -> Condensed:
        """From Z⁻ᵀ J, Z⁻¹ [J, f] and dZ/dΩ Z⁻¹ [J, f], each (K + 1, n, …)."""
        seen = self.wide.T @ solved
        slope = -(left.transpose(0, 2, 1) @ change)
        return Condensed(seen[:, :, :-1], seen[:, :, -1], slope[:, :, :-1], slope[:, :, -1])


class _Dense(_Bordered):
    def __init__(self, system: LinearSystem, matrix: np.ndarray) -> None:
        super().__init__(system, matrix)
        self.stiffness, self.rates, self.mass = (
            part.toarray() for part in (self.stiffness, self.rates, self.mass)
        )
        values = np.linalg.svd(self.stiffness, compute_uv=False)
        if values[-1] <= _UNSUPPORTED * values[0]:
            raise _unsupported(system)

    def _stiffnesses(self, omega: float, count: int) -> np.ndarray:
        w = omega * np.arange(count)[:, None, None]
        return self.stiffness + 1j * w * self.rates - w**2 * self.mass

    def condensed(self, omega: float, right: np.ndarray) -> Condensed:
        matrices = self._stiffnesses(omega, len(right))
        beside = np.broadcast_to(self.wide, (len(right), *self.wide.shape))
        solved = self._inverted(matrices, np.concatenate([beside, right[:, :, None]], axis=2), omega)
        left = solved[:, :, :-1]
        if not self.symmetric:
            left = self._inverted(matrices.transpose(0, 2, 1), beside, omega)
        k = np.arange(len(right))[:, None, None]
        return self._split(
            left, solved, k * (1j * (self.rates @ solved) - 2.0 * k * omega * (self.mass @ solved))
        )

    def motion(self, omega: float, right: np.ndarray, forces: np.ndarray) -> np.ndarray:
        whole = right + forces @ self.wide.T
        solved = self._inverted(self._stiffnesses(omega, len(right)), whole[:, :, None], omega)
        return solved[:, : self.system.size, 0]

    def _inverted(self, matrices: np.ndarray, right: np.ndarray, omega: float) -> np.ndarray:
        try:
            return np.linalg.solve(matrices, right)
        except np.linalg.LinAlgError:
            raise _resonance(self.system, omega) from None


class _Sparse(_Bordered):
    def __init__(self, system: LinearSystem, matrix: np.ndarray) -> None:
        super().__init__(system, matrix)
        static = next(self._factors(0.0, 1))
        size = abs(self.stiffness).max() * np.abs(static.solve(self.wide + 0j)).max(initial=0.0)
        if size * _UNSUPPORTED > np.abs(self.wide).max(initial=0.0):
            raise _unsupported(system)

    def _factors(self, omega: float, count: int) -> Iterator[Any]:
        for k in range(count):
            w = k * omega
            dynamic = (self.stiffness + 1j * w * self.rates - w**2 * self.mass).tocsc()
            try:
                yield splu(dynamic)
            except RuntimeError:
                raise (_resonance(self.system, omega) if k else _unsupported(self.system)) from None

    def condensed(self, omega: float, right: np.ndarray) -> Condensed:
        parts = []
        for k, factors in enumerate(self._factors(omega, len(right))):
            solved = factors.solve(np.column_stack([self.wide, right[k]]).astype(complex))
            left = solved[:, :-1] if self.symmetric else factors.solve(self.wide + 0j, trans="T")
            change = k * (1j * (self.rates @ solved) - 2.0 * k * omega * (self.mass @ solved))
            parts.append(self._split(left[None], solved[None], change[None]))
        return Condensed(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("flexibility", "free", "flexibility_rate", "free_rate")
            )
        )

    def motion(self, omega: float, right: np.ndarray, forces: np.ndarray) -> np.ndarray:
        whole = (right + forces @ self.wide.T).astype(complex)
        factors = self._factors(omega, len(right))
        solved = np.array([one.solve(whole[k]) for k, one in enumerate(factors)])
        return solved[:, : self.system.size]


def _independent(constraints: Any) -> tuple[Any, np.ndarray]:
    """Columns of J_B that do not repeat others, and their numbers."""
    columns = constraints.toarray() if sparse.issparse(constraints) else constraints
    if columns.shape[1] == 0:
        return columns, np.zeros(0, dtype=int)
    _, upper, order = scipy.linalg.qr(
        columns / np.linalg.norm(columns, axis=0), mode="economic", pivoting=True
    )
    pivots = np.abs(np.diag(upper))
    picked = np.sort(order[: np.count_nonzero(pivots > _DEPENDENT * pivots[0])])
    return columns[:, picked], picked


def _array(matrix: Any, size: int) -> np.ndarray:
    if matrix is None:
        return np.zeros((size, size))
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def _sparse(matrix: Any, size: int) -> Any:
    return sparse.csc_array((size, size)) if matrix is None else sparse.csc_array(matrix)


def _is_diagonal(matrix: np.ndarray) -> bool:
    return not np.any(matrix - np.diag(np.diag(matrix)))


def _unsupported(system: LinearSystem) -> InvalidModel:
    return InvalidModel(
        f"'{system.name}' can move without being deformed, so its mean position is not determined by its stiffness; "
        f"harmonic balance needs a supported structure. Add a spring, however weak, or use periodic_motion."
    )


def _resonance(system: LinearSystem, omega: float) -> InvalidModel:
    return InvalidModel(
        f"'{system.name}' has an undamped resonance at a multiple of {omega / (2 * np.pi):.8g} Hz, where its response "
        f"without contact forces is not finite; add damping, or choose another frequency."
    )
