"""Natural modes of an undamped structure.

    (K − Ω_i² M) v_i = 0,   v_iᵀ M v_i = 1                                          Waltersberger (5.40)–(5.43)

The eigenvalue problem is inverted about a shift σ below all eigenvalues, so that free structures with rigid-body modes
need no special treatment and the lowest modes are the most accurate ones. Small problems are solved densely, large ones
by Lanczos steps; there the number of modes found is compared with the inertia of K − σM, which counts them (Sylvester).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel

_DENSE_UP_TO = 500
_ROUND_OFF = 16 * np.finfo(float).eps  # of |v|ᵀ|K||v| + |σ|: below it, the strain energy vᵀKv is zero
_GUARD = 6  # modes computed beyond those asked for
_FIRST_LOOK = (
    14  # modes from which the size of the first elastic one is learned; two free bodies have 12 rigid ones
)


@dataclass(frozen=True, eq=False)
class Modes:
    """``squares`` Ω² (k,) [rad²/s²], rising, exactly zero for rigid-body modes, and ``shapes`` (n, k), the columns
    mass-normalised."""

    squares: np.ndarray
    shapes: np.ndarray

    @property
    def angular_frequencies(self) -> np.ndarray:
        """Ω (k,) [rad/s]; negative, −√|Ω²|, where the stiffness of a mode is."""
        return np.sign(self.squares) * np.sqrt(np.abs(self.squares))

    @property
    def frequencies(self) -> np.ndarray:
        """Ω/2π (k,) [Hz]."""
        return self.angular_frequencies / (2 * np.pi)

    @property
    def rigid(self) -> int:
        """Number of rigid-body modes: those of frequency zero."""
        return int(np.count_nonzero(self.squares == 0.0))

    def __len__(self) -> int:
        return len(self.squares)

    def of(self, which: Any) -> Modes:
        """Some of the modes, by numbers, a mask or a slice."""
        return Modes(self.squares[which], self.shapes[:, which])


def lowest_modes(mass: Any, stiffness: Any, count: int, *, least: float = 0.0) -> Modes:
    """The ``count`` lowest modes of M (n, n) and K (n, n), symmetric, dense or sparse.

    ``least``  smallest Ω² [rad²/s²] that is accepted, 0 or −inf: a turning structure may have a negative stiffness
               and still be stable
    """
    n = mass.shape[0]
    if int(count) != count or not 1 <= count <= n:
        raise InvalidModel(
            f"count is {count}; allowed are whole numbers from 1 to {n}, the number of coordinates."
        )
    wanted = min(int(count) + _GUARD, n)
    whole = n <= _DENSE_UP_TO or count > n // 4
    solve = _all_of_them if whole else _lanczos
    shift = -1e-10 * _largest(mass, stiffness)
    shift, values, shapes = _below(solve, mass, stiffness, min(_FIRST_LOOK, n), shift, 1e-2, least)
    elastic = values[~_rigid(stiffness, values, shapes, shift)]
    if elastic.size:  # of the size of the first elastic mode: nearest to what is wanted
        shift = min(shift, min(elastic[0], 0.0) - 0.5 * np.abs(elastic).min())
    shift, values, shapes = _below(solve, mass, stiffness, wanted, shift, 0.0, least)
    if not whole:
        _require_all(mass, stiffness, values, int(count))
    values = np.where(_rigid(stiffness, values, shapes, shift), 0.0, values)
    return Modes(values[:count], _signed(shapes[:, :count]))


def _below(
    solve: Callable[..., tuple[np.ndarray, np.ndarray]],
    mass: Any,
    stiffness: Any,
    count: int,
    shift: float,
    tolerance: float,
    least: float,
) -> tuple[float, np.ndarray, np.ndarray]:
    """A shift below all eigenvalues, and what is found from there."""
    for _ in range(200):
        try:
            return shift, *solve(mass, stiffness, count, shift, tolerance)
        except _ModesBelow:
            if least == 0.0:
                raise InvalidModel(_INDEFINITE) from None
            shift *= 4.0
    raise InvalidModel(
        "the stiffness matrix has no lower bound; check that the mass matrix is positive definite."
    )


class _ModesBelow(Exception):
    """There are eigenvalues below the shift."""


def _rigid(stiffness: Any, values: np.ndarray, shapes: np.ndarray, shift: float) -> np.ndarray:
    """Which strain energies vᵀKv are zero within the round-off of the products and the shift they are summed from."""
    products = np.einsum("ij,ij->j", np.abs(shapes), abs(stiffness) @ np.abs(shapes))
    return np.abs(values) <= _ROUND_OFF * (products + abs(shift))


def _largest(mass: Any, stiffness: Any) -> float:
    """Size of the largest eigenvalue, from the diagonals."""
    inertia = mass.diagonal()
    moving = inertia > 0.0
    if not moving.any():
        raise InvalidModel(
            "the mass matrix has no positive entry on its diagonal; a structure needs mass to vibrate."
        )
    return float(np.max(np.abs(stiffness.diagonal()[moving]) / inertia[moving], initial=0.0)) or 1.0


def _all_of_them(
    mass: Any, stiffness: Any, count: int, shift: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    m, k = dense(mass), dense(stiffness)
    n = m.shape[0]
    try:
        inverse, vectors = scipy.linalg.eigh(m, k - shift * m, subset_by_index=[n - count, n - 1])
    except np.linalg.LinAlgError:
        raise _ModesBelow from None
    return _sorted(m, inverse, vectors, shift)


def _lanczos(
    mass: Any, stiffness: Any, count: int, shift: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    factors = _factors(stiffness - shift * mass)
    if _negative_pivots(factors):
        raise _ModesBelow
    n = mass.shape[0]
    start = np.random.default_rng(1).standard_normal(n)
    inverted = LinearOperator((n, n), matvec=factors.solve, dtype=float)
    values, vectors = eigsh(
        stiffness,
        count,
        M=mass,
        sigma=shift,
        OPinv=inverted,
        v0=start,
        tol=tolerance,
        ncv=min(n, max(2 * count + 20, 40)),
        maxiter=200 * count,
    )
    return _sorted(mass, 1.0 / (values - shift), vectors, shift)


def _sorted(
    mass: Any, inverse: np.ndarray, vectors: np.ndarray, shift: float
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues Ω² rising and mass-normalised vectors from 1/(Ω² − σ)."""
    order = np.argsort(-inverse)
    vectors = vectors[:, order]
    norms = np.sqrt(np.einsum("ij,ij->j", vectors, mass @ vectors))
    return 1.0 / inverse[order] + shift, vectors / norms


def _signed(shapes: np.ndarray) -> np.ndarray:
    """The entry of largest size of every column positive, so that a basis does not depend on the solver's mood."""
    first = np.argmax(np.abs(shapes) > 0.999 * np.abs(shapes).max(axis=0), axis=0)
    return shapes * np.sign(shapes[first, np.arange(shapes.shape[1])])


def _require_all(mass: Any, stiffness: Any, values: np.ndarray, count: int) -> None:
    """Compare the modes found with the inertia of K − σM at a σ in the widest gap behind the modes asked for."""
    known = values[count - 1 :]
    gaps = np.diff(known)
    if gaps.size == 0 or gaps.max() <= 1e-9 * abs(known[-1]):
        return
    at = int(np.argmax(gaps))
    between = 0.5 * (known[at] + known[at + 1])
    expected = _negative_pivots(_factors(stiffness - between * mass))
    if expected != count + at:
        raise InvalidModel(
            f"{count + at} modes were found below {np.sqrt(between) / (2 * np.pi):.6g} Hz, but there are {expected}; "
            "ask for a few modes more."
        )


def _factors(matrix: Any) -> Any:
    """L U of a symmetric matrix with pivots on the diagonal, whose signs are those of its eigenvalues."""
    return splu(
        sparse.csc_array(matrix),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _negative_pivots(factors: Any) -> int:
    return int(np.count_nonzero(factors.U.diagonal() < 0.0))


_INDEFINITE = (
    "the stiffness matrix is not positive semidefinite: the structure is unstable at rest. Check signs, units and the "
    "order of rows of the matrices."
)
