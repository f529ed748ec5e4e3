"""A convex set of forces {x̄ + N t}: linear inequalities and friction discs in t, and what can be asked about it.

    G t + h ≥ 0,      ‖P t + p‖ ≤ rᵀt + ρ

Extreme values are linear programs, nearest points quadratic ones. Without discs they are solved by a simplex and an
active-set method, to round-off; with discs by a barrier method, and nearest points are then sharpened by Newton's method
on the optimality conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg

from klapper.complementarity.errors import ComplementarityError

RANK = 1e-10  # singular values below this share of the largest belong to the null space
_NOISE = 1e-12  # of the forces: what counts as zero
_MEMBER = 1e-6  # of the forces: violations by x̄ that its solver may have left
_IDLE = 1e-12  # length of the rows of inequalities that no t feels, where forces change by about one
_SHARPENED = 1e-13
_ACCURACY, _ROUGH = 1e-11, 1e-3  # of the largest force: where a barrier method stops
_THIN, _TIGHT = (
    1e-8,
    1e-5,
)  # of the largest force: room inside a set, and slack of constraints, that count as none
_NO_FORCES = "No forces of this motion satisfy the contact laws: the given ones are none of it."
_NEWTON = 12
_PROXIMAL, _MOST_PROXIMAL, _SETTLED = 1e-5, 100, 1e-15


@dataclass(frozen=True, eq=False)
class Discs:
    """s friction discs ‖P t + p‖ ≤ rᵀt + ρ: P (s, 2, k), p (s, 2), r (s, k), ρ (s,)."""

    rows: np.ndarray
    centre: np.ndarray
    slope: np.ndarray
    radius: np.ndarray

    @classmethod
    def none(cls, dimension: int) -> Discs:
        return cls(np.zeros((0, 2, dimension)), np.zeros((0, 2)), np.zeros((0, dimension)), np.zeros(0))

    def moved(self, start: np.ndarray, basis: np.ndarray) -> Discs:
        """The same discs in s, where t = start + basis s."""
        return Discs(
            self.rows @ basis,
            self.centre + self.rows @ start,
            self.slope @ basis,
            self.radius + self.slope @ start,
        )

    def excess(self, t: np.ndarray) -> np.ndarray:
        """‖P t + p‖ − rᵀt − ρ (s,)."""
        return np.linalg.norm(self.rows @ t + self.centre, axis=1) - self.slope @ t - self.radius


@dataclass(frozen=True, eq=False)
class Face:
    """All forces x̄ + N t.

    ``point``    x̄ (r,); violations up to the accuracy of a solver are forgiven, larger ones are made good
    ``null``     N (r, k), orthonormal
    ``rows``     G (m, k), of about unit length where t is felt, ``offsets`` h (m,)
    ``discs``    friction discs of the plane of contact
    """

    point: np.ndarray
    null: np.ndarray
    rows: np.ndarray
    offsets: np.ndarray
    discs: Discs = field(default_factory=lambda: Discs.none(0))
    lengths: np.ndarray = field(init=False, repr=False)  # of the rows (m,) before they were scaled to one

    def __post_init__(self) -> None:
        length = np.linalg.norm(self.rows, axis=1)
        felt = length > _IDLE
        length = length[felt]
        object.__setattr__(self, "lengths", length)
        object.__setattr__(self, "rows", np.ascontiguousarray(self.rows[felt] / length[:, None]))
        object.__setattr__(self, "offsets", self.offsets[felt] / length)
        if len(self.discs.radius) == 0:
            object.__setattr__(self, "discs", Discs.none(self.dimension))

    @cached_property
    def _lenient(self) -> Face:
        """The same set, with room for what x̄ violates by no more than a solver may have left."""
        noise = _MEMBER * self.size
        slight = (self.offsets < 0.0) & (self.offsets > -noise)
        if not slight.any():
            raise ComplementarityError(_NO_FORCES)
        return Face(self.point, self.null, self.rows, np.where(slight, 0.0, self.offsets), self.discs)

    @property
    def dimension(self) -> int:
        return self.null.shape[1]

    @cached_property
    def size(self) -> float:
        """Largest force: the unit in which programs are solved."""
        ends = [self.point, self.offsets, self.discs.radius]
        return max(float(np.abs(end).max(initial=0.0)) for end in ends) or 1.0

    def at(self, t: np.ndarray) -> np.ndarray:
        return self.point + self.null @ t

    def violation(self, t: np.ndarray) -> float:
        """By how much t leaves the set, in units of the largest force."""
        below = -float((self.rows @ t + self.offsets).min(initial=0.0))
        return max(below, float(self.discs.excess(t).max(initial=0.0)), 0.0) / self.size

    def ranges(
        self, functions: np.ndarray | None = None, *, accuracy: float = _ACCURACY
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every force, or of linear ``functions`` (f, r) of the forces.

        ``accuracy`` is that of friction discs, in units of the largest force; bounds are too wide by about as much.
        """
        base = self.point if functions is None else functions @ self.point
        slopes = self.null if functions is None else functions @ self.null
        scale = np.ones(len(base)) if functions is None else np.abs(functions).max(axis=1, initial=0.0)
        lower, upper = base.copy(), base.copy()
        free = np.flatnonzero(np.abs(slopes).max(axis=1, initial=0.0) > RANK * scale)
        if free.size:
            ends = self._least_linear(np.vstack([slopes[free], -slopes[free]]), accuracy)
            change = np.array(
                [
                    -np.inf if end is None else slope @ end
                    for slope, end in zip([*slopes[free], *-slopes[free]], ends, strict=True)
                ]
            )
            lower[free] += change[: len(free)]
            upper[free] -= change[len(free) :]
        noise = (10.0 * accuracy if len(self.discs.radius) else _NOISE) * self.size * scale
        lower, upper = (np.where(np.abs(end) < noise, 0.0, end) for end in (lower, upper))
        return lower, upper

    def extreme(self, direction: np.ndarray) -> np.ndarray | None:
        """A t (k,) that minimises direction · x, None if there is no bound."""
        return self._least_linear((direction @ self.null)[None], _ACCURACY)[0]

    def _least_linear(self, slopes: np.ndarray, accuracy: float) -> list[np.ndarray | None]:
        """A minimiser t (k,) of every row (f, k), None where there is no bound."""
        length = np.linalg.norm(slopes, axis=1, keepdims=True)
        unit = np.divide(slopes, length, out=np.zeros_like(slopes), where=length > 0.0)
        if self.dimension == 0:
            return list(unit)
        if len(self.discs.radius):
            return self._least_with_discs(unit, accuracy)
        return [self._least_without_discs(row) for row in unit]

    def _least_without_discs(self, slope: np.ndarray) -> np.ndarray | None:
        from klapper.complementarity.kernels.polyhedron import EMPTY, UNBOUNDED, least_point

        t = np.zeros(self.dimension)
        status = least_point(self.rows, self.offsets / self.size, slope, t) if slope.any() else 0
        if status == EMPTY:
            return self._lenient._least_without_discs(slope)
        return None if status == UNBOUNDED else self.size * t

    def _least_with_discs(self, slopes: np.ndarray, accuracy: float) -> list[np.ndarray | None]:
        from klapper.complementarity.kernels.cone_program import UNBOUNDED, least_linear

        core = self._core
        if core.face is not self:
            found = core.face._least_linear(slopes @ core.basis, accuracy)
            return [None if t is None else core.start + core.basis @ t for t in found]
        t, status = np.zeros(slopes.shape), np.zeros(len(slopes), dtype=np.int64)
        least_linear(np.ascontiguousarray(slopes), *self._scaled, core.start, accuracy, t, status)
        return [None if found == UNBOUNDED else self.size * end for found, end in zip(status, t, strict=True)]

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, ...]:
        """Rows, offsets and discs in units of the largest force."""
        discs, size = self.discs, self.size
        return _plain(
            self.rows, self.offsets / size, discs.rows, discs.centre / size, discs.slope, discs.radius / size
        )

    @cached_property
    def _core(self) -> _Core:
        """The set itself and a point inside it, or what is left of it where some constraints have no room at all."""
        t, margin = self._with_margin(np.ones(len(self.rows)), _ROUGH)
        if margin <= _THIN:
            t, margin = self._with_margin(np.ones(len(self.rows)), _ACCURACY)
        if margin < -_MEMBER:
            raise ComplementarityError(_NO_FORCES)
        if margin > _THIN:
            return _Core(self, t, np.eye(self.dimension))
        return self._without_room(t)

    def _without_room(self, t: np.ndarray) -> _Core:
        """Constraints that are met with nothing to spare by every member become equations."""
        rows, offsets, *parts = self._scaled
        discs = Discs(*parts)
        tight = rows @ t + offsets <= _TIGHT
        round_tight = -discs.excess(t) <= _TIGHT
        matrix, right = [rows[tight]], [-offsets[tight]]
        for p, centre, slope, radius in zip(*(part[round_tight] for part in parts), strict=True):
            force, allowed = p @ t + centre, float(slope @ t + radius)
            if allowed <= 10.0 * _TIGHT:  # the tip of a cone
                matrix.append(np.vstack([p, slope]))
                right.append(np.append(-centre, -radius))
            else:  # a point on its surface: force = allowed · direction
                along = force / np.linalg.norm(force)
                matrix.append(p - np.outer(along, slope))
                right.append(along * radius - centre)
        equations, values = np.vstack(matrix), np.concatenate(right)
        start = t + np.linalg.lstsq(equations, values - equations @ t, rcond=RANK)[0]
        basis = _level(equations, np.ones(len(equations)))
        left = Discs(
            *(
                part[~round_tight]
                for part in (self.discs.rows, self.discs.centre, self.discs.slope, self.discs.radius)
            )
        )
        start = start * self.size
        face = Face(
            self.at(start),
            self.null @ basis,
            self.rows[~tight] @ basis,
            (self.offsets + self.rows @ start)[~tight],
            left.moved(start, basis),
        )
        return _Core(face, start, basis)

    def _with_margin(self, lengths: np.ndarray, accuracy: float) -> tuple[np.ndarray, float]:
        """t (k,) with the largest margin s of all constraints G t + h ≥ s / lengths, and s, in units of the largest
        force."""
        from klapper.complementarity.kernels.cone_program import inside

        t = np.zeros(self.dimension)
        margin = inside(*self._scaled, lengths, accuracy, t)
        return t, margin

    def with_margin(self) -> tuple[np.ndarray, float]:
        """t (k,) that keeps furthest from all limits, and by how much; at most the largest force."""
        t, margin = self._with_margin(self.lengths, _ACCURACY)
        return t * self.size, margin * self.size

    def nearest(self, target: np.ndarray, metric: np.ndarray) -> np.ndarray:
        """t (k,) that minimises ½ (x − target)ᵀ C (x − target), the metric C (r,) or (r, r) positive definite."""
        if metric.ndim == 1:
            weighted = metric[:, None] * self.null
        else:
            weighted = 0.5 * (metric + metric.T) @ self.null
        hessian = self.null.T @ weighted
        return self.least_quadratic(hessian, weighted.T @ (self.point - target))

    def least_quadratic(self, hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """t (k,) that minimises ½ tᵀH t + gᵀt, H (k, k) positive definite."""
        from klapper.complementarity.kernels import quadratic_program as kernel

        k, size = self.dimension, self.size
        if k == 0:
            return np.zeros(0)
        unit = float(np.abs(hessian).max())
        hessian, gradient = np.ascontiguousarray(hessian / unit), gradient / (unit * size)
        if len(self.discs.radius):
            return size * self._quadratic_with_discs(hessian, gradient)
        t, multipliers = np.empty(k), np.empty(len(self.rows))
        status, _ = kernel.least_quadratic(hessian, gradient, *self._scaled[:2], 0, t, multipliers)
        if status != kernel.SOLVED:
            return self._lenient.least_quadratic(hessian, gradient * size)
        return t * size

    def _quadratic_with_discs(self, hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        from klapper.complementarity.kernels.cone_program import follow

        free = np.linalg.solve(hessian, -gradient)
        rows, offsets, *parts = self._scaled
        discs = Discs(*parts)
        if (rows @ free + offsets).min(initial=0.0) >= 0.0 and discs.excess(free).max() <= 0.0:
            return free
        core = self._core
        if core.face is not self:
            start = core.start / self.size
            pull = core.basis.T @ (gradient + hessian @ start)
            inner = core.face.least_quadratic(core.basis.T @ hessian @ core.basis, pull * self.size)
            return start + core.basis @ inner / self.size
        t = core.start.copy()
        tau = follow(hessian, gradient, *self._scaled, _ACCURACY, t)
        with np.errstate(divide="ignore"):
            multipliers = 1.0 / (tau * np.abs(rows @ t + offsets))
            by_disc = 1.0 / (tau * np.abs(discs.excess(t)))
        return _sharpened(hessian, gradient, rows, offsets, discs, t, multipliers, by_disc)

    def least_squares(self, matrix: np.ndarray, offset: np.ndarray) -> np.ndarray:
        """A t (k,) that minimises ½ |A t + d|², A (p, k) of any rank, by proximal points."""
        unit = float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0
        t = np.zeros(self.dimension)
        if unit == 0.0:
            return t
        hessian, gradient = (matrix.T @ matrix) / unit**2, matrix.T @ offset / unit**2
        damped = hessian + _PROXIMAL * np.eye(self.dimension)
        for _ in range(_MOST_PROXIMAL):
            before, t = t, self.least_quadratic(damped, gradient - _PROXIMAL * t)
            moved = float(np.abs(matrix @ (t - before)).max()) / unit
            if moved <= _SETTLED * (self.size + float(np.abs(t).max())):
                break
        return t

    def through(self, t: np.ndarray, kept: np.ndarray) -> Face:
        """The part of the set in which the linear functions ``kept`` (f, r) keep the values they have at t."""
        basis = _level(kept @ self.null, np.abs(kept).max(axis=1, initial=0.0))
        return Face(
            self.at(t),
            self.null @ basis,
            self.rows @ basis,
            self.offsets + self.rows @ t,
            self.discs.moved(t, basis),
        )


@dataclass(frozen=True, eq=False)
class _Core:
    """A set with room inside: t = start + basis s, with s in ``face``; ``start`` is inside if it is the set itself."""

    face: Face
    start: np.ndarray
    basis: np.ndarray


def _level(matrix: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Orthonormal directions (k, j) that change no row of ``matrix`` (f, k) by more than round-off of ``scale`` (f,)."""
    rows = matrix[scale > 0] / scale[scale > 0, None]
    if rows.size == 0:
        return np.eye(matrix.shape[1])
    _, values, right = np.linalg.svd(rows)
    return right[np.count_nonzero(values > RANK) :].T


def null_space(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis (columns, k) of the null space, judged with rows and columns scaled to one."""
    if matrix.shape[1] == 0:
        return np.empty((0, 0))
    row_scale = np.abs(matrix).max(axis=1, initial=0.0)
    matrix = matrix / np.where(row_scale > 0, row_scale, 1.0)[:, None]
    length = np.linalg.norm(matrix, axis=0)
    length = np.where(length > 0, length, 1.0)
    null = scipy.linalg.null_space(matrix / length, rcond=RANK, check_finite=False) / length[:, None]
    return scipy.linalg.orth(null) if null.size else null


def echelon(basis: np.ndarray) -> np.ndarray:
    """Columns (n, k) combined to reduced echelon form, largest entry one: short combinations with simple numbers."""
    rows = basis.T.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[best, column]) < 1e-8 * np.abs(rows[best]).max():
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, column]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return np.where(np.abs(rows) < 1e-12 * size, 0.0, rows / np.where(size > 0, size, 1.0)).T


def _plain(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.ascontiguousarray(array, dtype=float) for array in arrays)


def _sharpened(
    hessian: np.ndarray,
    gradient: np.ndarray,
    rows: np.ndarray,
    offsets: np.ndarray,
    discs: Discs,
    t: np.ndarray,
    multipliers: np.ndarray,
    by_disc: np.ndarray,
) -> np.ndarray:
    """Newton's method on H t + g = Gᵀμ + Σ ν ∇c with the active rows and discs as equations, from a t close by.

    A disc at its tip, where a friction limit vanishes, gives three linear equations.
    """
    scale = float(np.abs(gradient).max(initial=0.0)) + float(np.abs(hessian @ t).max(initial=0.0)) or 1.0
    reach = np.linalg.norm(discs.rows @ t + discs.centre, axis=1)
    active, presses = multipliers > 1e-7 * scale, by_disc > 1e-7 * scale
    tip, bent = presses & (reach <= 1e-6), presses & (reach > 1e-6)
    k, disc_rows, slope = len(t), discs.rows[bent], discs.slope[bent]
    held = np.vstack(
        [rows[active], *(np.vstack([p, r]) for p, r in zip(discs.rows[tip], discs.slope[tip], strict=True))]
    )
    level = np.concatenate(
        [
            offsets[active],
            *(np.append(c, r) for c, r in zip(discs.centre[tip], discs.radius[tip], strict=True)),
        ]
    )
    linear = len(held)
    unknown = np.concatenate([t, np.zeros(linear), by_disc[bent]])
    for _ in range(_NEWTON):
        now, nu = unknown[:k], unknown[k + linear :]
        force = disc_rows @ now + discs.centre[bent]
        length = np.linalg.norm(force, axis=1)
        if np.any(length == 0.0):
            return t
        along = force / length[:, None]
        pull = np.einsum("sd,sdk->sk", along, disc_rows)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        turn = np.einsum("sd,sdk->sk", across, disc_rows)
        curved = hessian + np.einsum("s,si,sj->ij", nu / length, turn, turn)
        normals = np.vstack([held, slope - pull])
        residual = np.concatenate(
            [
                hessian @ now + gradient - normals.T @ unknown[k:],
                held @ now + level,
                slope @ now + discs.radius[bent] - length,
            ]
        )
        if np.abs(residual).max() <= _SHARPENED * scale:
            break
        matrix = np.zeros((len(unknown), len(unknown)))
        matrix[:k, :k], matrix[:k, k:], matrix[k:, :k] = curved, -normals.T, normals
        unknown = unknown - np.linalg.lstsq(matrix, residual, rcond=None)[0]
    fresh, found = unknown[:k], unknown[k:]
    a = int(active.sum())
    at_tips = found[a:linear].reshape(-1, 3)
    pushes = np.concatenate(
        [found[:a], found[linear:], at_tips[:, 2] - np.linalg.norm(at_tips[:, :2], axis=1)]
    )
    below = min(
        float((rows @ fresh + offsets).min(initial=0.0)), -float(discs.excess(fresh).max(initial=0.0))
    )
    better = np.abs(fresh - t).max() <= 1e-4 and pushes.min(initial=0.0) >= -1e-7 * scale and below >= -1e-12
    return fresh if better else t
