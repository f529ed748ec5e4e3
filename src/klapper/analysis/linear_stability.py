"""Stability of M q̈ + D q̇ + K q = 0 with matrices that need not be symmetric.

    (M s² + D s + K) q̂ = 0                                                        Waltersberger (5.30)

In coordinates x = Lᵀ q, M = L Lᵀ, all entries have the unit of an eigenvalue, whatever q is measured in. Without
damping s² are the eigenvalues of −L⁻¹ K L⁻ᵀ, so that real parts of stable motions vanish exactly. Zero eigenvalues are
counted from the null spaces of K, not guessed from small numbers: with K Z = 0 and Wᵀ K = 0 their number is

    2 p − rank(Wᵀ D Z),   p = n − rank K.

Friction makes K unsymmetric; then two frequencies may merge and the motion grow although no force has a negative
stiffness (flutter). A real growth is called divergence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel

NEUTRAL = 1e-12  # growth up to this part of the largest eigenvalue counts as none
SINGULAR = 1e-12  # singular values up to this part of the largest count as zero


@dataclass(frozen=True, eq=False)
class Stability:
    """Eigenvalues of a linear motion and what they say.

    ``mass``, ``damping``, ``stiffness``  M, D, K (n, n) [kg, N s/m, N/m]
    ``eigenvalues``  s (2n,) complex [1/s], the fastest growing first, zero eigenvalues last
    ``modes``        q̂ (n, 2n), one column each, relative to its largest entry
    ``zeros``        number of zero eigenvalues: 2 for every motion that nothing holds and nothing brakes

    >>> from klapper.analysis import stability
    >>> stability([[1.0]], None, [[4.0]]).eigenvalues.tolist()
    [2j, (-0-2j)]
    """

    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    eigenvalues: np.ndarray
    modes: np.ndarray
    zeros: int

    @property
    def free_motions(self) -> int:
        """Dimension of the null space of K: positions that no force holds."""
        return len(self.mass) - _rank(_in_mass_units(self.mass, self.stiffness))

    @cached_property
    def growth(self) -> float:
        """Largest real part [1/s] but for the zero eigenvalues; −inf if there is no other."""
        return float(self.eigenvalues[: len(self.eigenvalues) - self.zeros].real.max(initial=-np.inf)) + 0.0

    @property
    def angular_frequency(self) -> float:
        """Imaginary part [rad/s] of the eigenvalue that grows fastest."""
        return float(abs(self.eigenvalues[0].imag)) if self.zeros < len(self.eigenvalues) else 0.0

    @property
    def verdict(self) -> str:
        """ "stable", "flutter" or "divergence"; zero eigenvalues are not judged."""
        if self.growth <= self.neutral:
            return "stable"
        return "flutter" if self.angular_frequency > self.neutral else "divergence"

    @property
    def stable(self) -> bool:
        """Whether nothing grows."""
        return self.verdict == "stable"

    @property
    def decays(self) -> bool:
        """Whether everything but the zero eigenvalues dies away."""
        return self.growth < -self.neutral

    @property
    def neutral(self) -> float:
        """Growth [1/s] up to which it counts as none."""
        return NEUTRAL * float(np.abs(self.eigenvalues).max(initial=0.0))

    def __str__(self) -> str:
        head = {
            "stable": "Stable: " + ("every disturbance dies away" if self.decays else "no disturbance grows"),
            "flutter": f"Flutter: oscillations of {self.angular_frequency:.6g} rad/s grow with {self.growth:.6g} 1/s",
            "divergence": f"Divergence: disturbances grow with {self.growth:.6g} 1/s",
        }[self.verdict]
        zeros = f"; {self.zeros} zero eigenvalues ({self.free_motions} free motions)" if self.zeros else ""
        rows = [
            f"  {s.real:>14.6g}  ± {s.imag:<14.6g} 1/s" if s.imag else f"  {s.real:>14.6g} 1/s"
            for s in self.eigenvalues[: len(self.eigenvalues) - self.zeros]
            if s.imag >= 0.0
        ]
        return "\n".join([f"{head}{zeros}.", *rows])


def stability(mass: Any, damping: Any, stiffness: Any) -> Stability:
    """Eigenvalues and verdict of M q̈ + D q̇ + K q = 0.

    ``mass`` (n, n) is symmetric and positive definite; ``damping`` and ``stiffness`` (n, n) are arbitrary, None: zero.

    >>> import numpy as np
    >>> from klapper.analysis import stability
    >>> print(stability(np.eye(2), None, [[2.0, -1.5], [1.0, 2.5]]))
    Flutter: oscillations of 1.54911 rad/s grow with 0.386982 1/s.
            0.386982  ± 1.54911        1/s
           -0.386982  ± 1.54911        1/s
    """
    m, d, k = checked_matrices(mass, damping, stiffness)
    rates, elastic = _in_mass_units(m, d), _in_mass_units(m, k)
    values, vectors = _oscillations(elastic) if not d.any() else _quadratic(rates, elastic)
    zeros = _zeros(rates, elastic)
    order = np.argsort(np.abs(values), kind="stable")
    values[order[:zeros]] = 0.0
    rank = np.where(np.isin(np.arange(len(values)), order[:zeros]), 1, 0)
    order = np.lexsort((-values.imag, -np.round(values.real, 12 - _decade(values)), rank))
    modes = np.linalg.solve(np.linalg.cholesky(m).T, vectors[:, order])
    largest = modes[np.argmax(np.abs(modes), axis=0), np.arange(modes.shape[1])]
    return Stability(m, d, k, values[order], modes / np.where(largest == 0.0, 1.0, largest), zeros)


def checked_matrices(mass: Any, damping: Any, stiffness: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, D, K (n, n), dense; refused if they do not fit or the mass is not symmetric and positive definite."""
    m = _square(mass, "mass", None)
    return m, _square(damping, "damping", len(m)), _square(stiffness, "stiffness", len(m))


def critical_value(
    judge: Callable[[float], Stability], low: float, high: float, *, accuracy: float = 1e-13
) -> float:
    """The parameter between ``low`` and ``high`` at which the verdict changes from stable to unstable or back.

    ``judge`` gives the stability at a parameter, in the unit of which ``low`` and ``high`` are. Bisection down to an
    interval of ``accuracy`` (dimensionless) times the larger end.

    >>> from klapper.analysis import critical_value, stability
    >>> round(critical_value(lambda k: stability([[1.0]], None, [[k]]), -1.0, 2.0), 9)
    0.0
    """
    if not callable(judge):
        raise InvalidModel(f"judge is {judge!r}; give a function of the parameter that returns a Stability.")
    first, last = judge(low).stable, judge(high).stable
    if first == last:
        word = "stable" if first else "unstable"
        raise InvalidModel(
            f"the motion is {word} at both ends, {low:g} and {high:g}; give an interval over which that changes."
        )
    size = max(abs(low), abs(high))
    while abs(high - low) > accuracy * size:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if judge(middle).stable == first:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _oscillations(elastic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s = ±√(−κ) of the eigenvalues κ of the elastic matrix; a positive κ has no real part, not even of round-off."""
    squares, vectors = np.linalg.eig(elastic)
    roots = np.where(
        (np.imag(squares) == 0.0) & (np.real(squares) >= 0.0),
        1j * np.sqrt(np.abs(squares)),
        np.sqrt(-squares.astype(complex)),
    )
    return np.concatenate([roots, -roots]), np.hstack([vectors, vectors]).astype(complex)


def _quadratic(rates: np.ndarray, elastic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of the first-order form, in units of time that make both its blocks of size one."""
    n = len(elastic)
    unit = max(np.sqrt(np.abs(elastic).max()), np.abs(rates).max())
    first_order = np.block([[np.zeros((n, n)), np.eye(n)], [-elastic / unit**2, -rates / unit]])
    values, vectors = np.linalg.eig(first_order)
    return unit * values.astype(complex), vectors[:n].astype(complex)


def _zeros(rates: np.ndarray, elastic: np.ndarray) -> int:
    left, singular, right = np.linalg.svd(elastic)
    rank = int(np.sum(singular > SINGULAR * singular.max(initial=0.0)))
    free = len(elastic) - rank
    braking = left[:, rank:].T @ rates @ right[rank:].T
    return 2 * free - _rank(braking, np.abs(rates).max(initial=0.0))


def _rank(matrix: np.ndarray, size: float | None = None) -> int:
    """Numerical rank; ``size`` is what counts as a large entry, if not the largest singular value."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(singular > SINGULAR * (singular.max(initial=0.0) if size is None else size)))


def _in_mass_units(mass: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """L⁻¹ A L⁻ᵀ."""
    factor = np.linalg.cholesky(mass)
    return np.linalg.solve(factor, np.linalg.solve(factor, matrix).T).T


def _decade(values: np.ndarray) -> int:
    """The decimal exponent of the largest value: real parts are ordered to 12 digits of it."""
    largest = np.abs(values).max(initial=0.0)
    return int(np.floor(np.log10(largest))) if largest > 0.0 else 0


def _square(given: Any, name: str, size: int | None) -> np.ndarray:
    if given is None:
        return np.zeros((size or 0, size or 0))
    matrix = np.array(given.toarray() if sparse.issparse(given) else given, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or (size is not None and len(matrix) != size):
        expected = "(n, n)" if size is None else f"({size}, {size}) to fit mass"
        raise InvalidModel(f"{name} has shape {matrix.shape}, expected {expected}.")
    if not np.all(np.isfinite(matrix)):
        raise InvalidModel(f"{name} has entries that are not finite.")
    if size is None:
        _require_mass(matrix)
    return matrix


def _require_mass(mass: np.ndarray) -> None:
    if np.abs(mass - mass.T).max(initial=0.0) > 1e-9 * np.abs(mass).max(initial=0.0):
        raise InvalidModel("mass is not symmetric; it must be a symmetric positive definite matrix.")
    try:
        np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise InvalidModel("mass is not positive definite: some direction has no inertia.") from None
