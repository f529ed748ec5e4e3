"""Stationary equations without units, and their solution for a given set of closed contacts.

    K y = f + F λ,   0 ≤ g = Jᵀ y + g₀ ⟂ λ ≥ 0

The largest entries of K and f/g₀ are at most one, the columns of J have length one. For the closed contacts A the
equations

    [K  −F_A] [y  ]   [f  ]
    [J_Aᵀ  0] [λ_A] = [−g₀]

are regular also where K is not, as long as the contacts hold what has lost its stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from klapper.complementarity import LinearComplementarity, MixedComplementarity
from klapper.complementarity.basis_point import HeldPoint, Orientation, regular_solver, signed_distance

_CONDENSED = 1e-11  # the same for K, up to which contact forces are not taken as the only unknowns
_ROUND_OFF = 1e-14  # eigenvalues of K up to this, times its size, are zero
_SYMMETRIC = 1e-12
_NOISE = 8 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class StationaryForm:
    """r coordinates and c contacts.

    ``origin`` (n,), ``basis`` (n, r): q = origin + basis y
    ``stiffness`` K (r, r), ``load`` f (r,), ``normal`` J and ``force`` F (r, c), ``gap`` g₀ (c,)
    ``force_scale``  what was divided out of K and f; ``force_unit`` (c,) [N]: a dimensionless contact force of one
    ``reference``    a force known to be large, against which others are judged where all of them are small
    """

    origin: np.ndarray
    basis: np.ndarray
    stiffness: np.ndarray
    load: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    gap: np.ndarray
    force_scale: float
    force_unit: np.ndarray
    reference: float

    @classmethod
    def of(
        cls,
        origin: np.ndarray,
        basis: np.ndarray,
        stiffness: np.ndarray,
        load: np.ndarray,
        normal: np.ndarray,
        force: np.ndarray,
        gap: np.ndarray,
        reference: float,
    ) -> StationaryForm:
        """From matrices in the coordinates y, in SI units."""
        length = np.linalg.norm(normal, axis=0)
        length = np.where(length > 1e-12 * length.max(initial=0.0), length, 1.0)
        distance = float(np.abs(gap / length).max(initial=0.0))
        size = float(np.abs(stiffness).max(initial=0.0))
        if distance > 0.0:
            size = max(size, float(np.abs(load).max(initial=0.0)) / distance)
        size = size or 1.0
        return cls(
            origin,
            basis,
            stiffness / size,
            load / size,
            normal / length,
            force / length,
            gap / length,
            size,
            size / length,
            reference / size,
        )

    @property
    def size(self) -> int:
        """Number r of coordinates."""
        return len(self.load)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the state is a stationary point of an energy."""
        skew = np.abs(self.stiffness - self.stiffness.T).max(initial=0.0)
        return bool(skew <= _SYMMETRIC and np.array_equal(self.normal, self.force))

    def position(self, y: np.ndarray) -> np.ndarray:
        """q (n,) [m]."""
        return self.origin + self.basis @ y

    def physical_forces(self, forces: np.ndarray) -> np.ndarray:
        """λ (c,) [N]."""
        return self.force_unit * forces

    def held(self, closed: np.ndarray) -> HeldPoint | None:
        """The solution with the contacts ``closed`` (c,); None if the equations are singular."""
        key = closed.tobytes()
        if key not in self._points:
            self._points[key] = self._held(closed)
        return self._points[key]

    def _held(self, closed: np.ndarray) -> HeldPoint | None:
        matrix, right = self.equations(closed)
        solve = regular_solver(matrix)
        if solve is None:
            return None
        x = solve(right)
        x = x + solve(right - matrix @ x)
        if not np.all(np.isfinite(x)):
            return None
        return self._split(x, closed)

    def point(self, y: np.ndarray, forces: np.ndarray, closed: np.ndarray) -> HeldPoint:
        """Coordinates (r,) and forces (c,) with what follows from them."""
        gaps = self.normal.T @ y + self.gap
        largest_force, largest_gap = self.largest(y, forces)
        return HeldPoint(
            y,
            forces,
            gaps,
            closed,
            np.where(closed, forces, gaps),
            np.where(closed, largest_force, largest_gap),
        )

    def largest(self, y: np.ndarray, forces: np.ndarray) -> tuple[float, float]:
        """The largest terms of the balance of forces and of the gaps, which say what round-off is."""
        gap = (np.abs(self.normal).T @ np.abs(y) + np.abs(self.gap)).max(initial=0.0)
        return max(self.largest_force(y, forces), self.reference) or 1.0, float(gap) or 1.0

    def largest_force(self, y: np.ndarray, forces: np.ndarray) -> float:
        """The largest term of the balance of forces."""
        terms = np.abs(self.stiffness) @ np.abs(y) + np.abs(self.load) + np.abs(self.force) @ np.abs(forces)
        return float(max(terms.max(initial=0.0), np.abs(forces).max(initial=0.0)))

    def residual(self, y: np.ndarray, forces: np.ndarray) -> float:
        """Error of balance, and of 0 ≤ λ ⟂ g ≥ 0, relative to the largest forces and gaps that occur."""
        pushed = self.stiffness @ y - self.load - self.force @ forces
        gaps = self.normal.T @ y + self.gap
        largest_force, largest_gap = self.largest(y, forces)
        pairs = np.minimum(forces / largest_force, gaps / largest_gap)
        return float(max(np.abs(pushed).max(initial=0.0) / largest_force, np.abs(pairs).max(initial=0.0)))

    def equations(self, closed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and right-hand side in the unknowns (y, λ_A)."""
        r, a = self.size, int(np.count_nonzero(closed))
        matrix = np.zeros((r + a, r + a))
        matrix[:r, :r] = self.stiffness
        matrix[:r, r:] = -self.force[:, closed]
        matrix[r:, :r] = self.normal[:, closed].T
        return matrix, np.concatenate([self.load, -self.gap[closed]])

    def negative(self, closed: np.ndarray) -> int:
        """Number of directions with negative stiffness while the contacts ``closed`` (c,) stay closed."""
        return int(np.count_nonzero(self.stiffnesses(closed) < 0.0))

    def orientation(self, closed: np.ndarray) -> Orientation:
        """On which side of the singular points of its equations the state with the contacts ``closed`` (c,) is."""
        sign = int(np.linalg.slogdet(self.equations(closed)[0])[0])
        return Orientation(sign, self.negative(closed) if self.symmetric else None, self.force_scale)

    def regularity(self, closed: np.ndarray, since: Orientation) -> float:
        """A smooth function of the parameter that is positive where the orientation is that of ``since``: of the
        stiffnesses next to zero the one that passes it, or the smallest singular value with its sign."""
        unit = self.force_scale / since.size
        if since.negative is None or not self.symmetric:
            matrix = self.equations(closed)[0]
            matrix[: self.size, : self.size] *= unit
            return since.sign * signed_distance(matrix)
        values, count = unit * self.stiffnesses(closed), since.negative
        return float(min([*values[count : count + 1], *-values[max(count - 1, 0) : count]], default=1.0))

    def crossing(self, closed: np.ndarray) -> np.ndarray:
        """Changes (c,) of forces of closed and of gaps of open contacts along what branches off at a singular point."""
        mode = np.linalg.svd(self.equations(closed)[0])[2][-1]
        forces = np.zeros(len(self.gap))
        forces[closed] = mode[self.size :]
        return np.where(closed, forces, self.normal.T @ mode[: self.size])

    def stiffnesses(self, closed: np.ndarray) -> np.ndarray:
        """Eigenvalues of the stiffness in the directions that keep the contacts ``closed`` (c,), real ones, rising."""
        key = closed.tobytes()
        if key not in self._values:
            self._values[key] = self._stiffnesses(closed)
        return self._values[key]

    @cached_property
    def _points(self) -> dict[bytes, HeldPoint | None]:
        """Solutions by the closed contacts, each found once."""
        return {}

    @cached_property
    def _values(self) -> dict[bytes, np.ndarray]:
        """Eigenvalues by the closed contacts."""
        return {}

    def _stiffnesses(self, closed: np.ndarray) -> np.ndarray:
        inner = _null_space(self.normal[:, closed])
        if inner.shape[1] == 0:
            return np.zeros(0)
        if self.symmetric:
            return np.linalg.eigvalsh(inner.T @ self.stiffness @ inner)
        outer = _null_space(self.force[:, closed])
        if outer.shape[1] != inner.shape[1]:
            return np.zeros(0)
        values = scipy.linalg.eigvals(outer.T @ self.stiffness @ inner, outer.T @ inner)
        return np.sort(values[np.isreal(values)].real)

    @cached_property
    def rigid(self) -> np.ndarray:
        """Directions (r, k) in which a semidefinite stiffness is zero."""
        values, vectors = np.linalg.eigh(0.5 * (self.stiffness + self.stiffness.T))
        return vectors[:, np.abs(values) <= _ROUND_OFF * self.size]

    @cached_property
    def least_stiffness(self) -> float:
        """Smallest eigenvalue of (K + Kᵀ)/2: the problem is convex, or monotone, if it is not negative."""
        if self.size == 0:
            return np.inf
        if self.symmetric:
            least = float(self.stiffnesses(np.zeros(len(self.gap), dtype=bool))[0])
        else:
            least = float(np.linalg.eigvalsh(0.5 * (self.stiffness + self.stiffness.T))[0])
        return 0.0 if abs(least) <= _ROUND_OFF * self.size else least

    @property
    def monotone(self) -> bool:
        """Whether K is positive definite: then there is one state, which any solver finds."""
        return self.least_stiffness > 0.0

    def reach(self, point: HeldPoint) -> float:
        """The size of positions and gaps at a point."""
        return max(self.largest(point.y, point.forces)[1], float(np.abs(point.y).max(initial=0.0)))

    @cached_property
    def convex(self) -> bool:
        """Whether the state minimises a convex energy, or solves a monotone problem."""
        if self.least_stiffness < 0.0 or np.array_equal(self.normal, self.force):
            return self.least_stiffness >= 0.0
        if self.flexibility is None:
            return False
        moved = self.normal.T @ self.flexibility[:, :-1]
        least = float(np.linalg.eigvalsh(moved + moved.T)[0])
        return least >= -1e-12 * np.abs(moved).max()

    @cached_property
    def flexibility(self) -> np.ndarray | None:
        """K⁻¹ (F, f) (r, c + 1); None if K is singular or nearly so."""
        if self.size == 0:
            return np.zeros((0, len(self.gap) + 1))
        solve = regular_solver(self.stiffness, _CONDENSED)
        return None if solve is None else solve(np.column_stack([self.force, self.load]))

    def condensed(self, names: tuple[str, ...]) -> LinearComplementarity | None:
        """The problem in the contact forces, (3); None if K is singular or nearly so."""
        if self.flexibility is None:
            return None
        moved = self.normal.T @ self.flexibility
        return LinearComplementarity(moved[:, :-1], self.gap + moved[:, -1], names=names)

    def mixed(self, names: tuple[str, ...]) -> MixedComplementarity:
        """The problem in the unknowns (y, λ), whatever K is."""
        matrix, _ = self.equations(np.ones(len(self.gap), dtype=bool))
        offset = np.concatenate([-self.load, self.gap])
        all_names = (*(f"y{i + 1}" for i in range(self.size)), *names)
        return MixedComplementarity(matrix, offset, free=self.size, names=all_names)

    def polished(self, y: np.ndarray, forces: np.ndarray, closed: np.ndarray) -> HeldPoint:
        """A solution from a nearly exact one, its contacts ``closed`` (c,) perhaps dependent."""
        regular = self.held(closed)
        if regular is not None:
            return regular
        matrix, right = self.equations(closed)
        x = np.concatenate([y, forces[closed]])
        x = x + np.linalg.lstsq(matrix, right - matrix @ x, rcond=None)[0]
        return self._split(x, closed)

    def _split(self, x: np.ndarray, closed: np.ndarray) -> HeldPoint:
        """The point of the unknowns (y, λ_A), entries that are round-off of the others set to zero."""
        noise = _NOISE * max(np.abs(x).max(initial=0.0), np.abs(self.load).max(initial=0.0))
        x = np.where(np.abs(x) <= noise, 0.0, x)
        forces = np.zeros(len(self.gap))
        forces[closed] = x[self.size :]
        return self.point(x[: self.size], forces, closed)


def _null_space(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis (r, r − a) of the directions square to the independent ones among the columns (r, a)."""
    if columns.shape[1] == 0:
        return np.eye(len(columns))
    orthogonal, triangle, _ = scipy.linalg.qr(columns, pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > 1e-10))
    return orthogonal[:, rank:]
