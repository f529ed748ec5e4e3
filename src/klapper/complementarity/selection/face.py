"""A convex set of forces {x̄ + N t}: linear inequalities and friction discs in t, and what can be asked about it.

    G t + h ≥ 0,      ‖P t + p‖ ≤ rᵀt + ρ

Extreme values are linear programs, nearest points quadratic ones. Without discs they are solved by a simplex and an
active-set method, to round-off; with discs by a barrier method, and nearest points are then sharpened by Newton's
method on the optimality conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from klapper.complementarity.errors import ComplementarityError
from klapper.complementarity.kernels.cone_limits import Limits
from klapper.complementarity.selection.discs import Discs, sharpened
from klapper.complementarity.selection.null_space import RANK, level_directions, split_directions

_NOISE = 1e-12  # of the forces: what counts as zero
_MEMBER = 1e-6  # of the forces: violations by x̄ that its solver may have left
_ACCURACY, _ROUGH = 1e-11, 1e-3  # of the largest force: where a barrier method stops
_THIN, _TIGHT = (
    1e-8,
    1e-5,
)  # of the largest force: room inside a set, and slack of constraints, that count as none
_REMOTE = 10.0  # of the largest force: ends beyond may be those of a set without any
_NO_FORCES = "No forces of this motion satisfy the contact laws: the given ones are none of it."
_PULL = (
    1e-6  # of the margin at a distance of one: keeps a first point inside away from the far end of open sets
)
_PROXIMAL, _MOST_PROXIMAL, _SETTLED = 1e-5, 100, 1e-15


@dataclass(frozen=True, eq=False)
class Face:
    """All forces x̄ + N t.

    ``point``    x̄ (r,); violations up to the accuracy of a solver are forgiven, larger ones are made good
    ``null``     N (r, k), orthonormal
    ``rows``     G (m, k) = g N of linear functions g x of the forces, ``offsets`` h (m,)
    ``discs``    friction discs of the plane of contact
    ``scale``    |g| (m,): rows and discs that are no more than round-off of it are felt by no t; None: ones
    ``largest``  force [N] that is the unit of the programs; None: the largest of x̄, h and the friction limits
    """

    point: np.ndarray
    null: np.ndarray
    rows: np.ndarray
    offsets: np.ndarray
    discs: Discs = field(default_factory=lambda: Discs.none(0))
    scale: np.ndarray | None = None
    largest: float | None = None
    lengths: np.ndarray = field(init=False, repr=False)  # of the rows (m,) before they were scaled to one

    def __post_init__(self) -> None:
        length = np.linalg.norm(self.rows, axis=1)
        scale = np.ones(len(length)) if self.scale is None else self.scale
        felt = length > RANK * scale  # N is known no better: shorter rows are round-off of g N = 0
        length = length[felt]
        if (
            self.largest is None
        ):  # before rows are made longer: a limit far away says nothing about the forces
            ends = [self.point, self.offsets, self.discs.radius]
            object.__setattr__(self, "largest", max(float(np.abs(end).max(initial=0.0)) for end in ends))
        object.__setattr__(self, "lengths", length)
        object.__setattr__(self, "scale", scale[felt] / length)
        object.__setattr__(self, "rows", np.ascontiguousarray(self.rows[felt] / length[:, None]))
        object.__setattr__(self, "offsets", self.offsets[felt] / length)
        object.__setattr__(self, "discs", self.discs.felt(self.dimension, RANK))

    @cached_property
    def _lenient(self) -> Face:
        """The same set, with room for what x̄ violates by no more than a solver may have left."""
        noise = _MEMBER * self.size
        slight = (self.offsets < 0.0) & (self.offsets > -noise)
        if not slight.any():
            raise ComplementarityError(_NO_FORCES)
        return replace(self, offsets=np.where(slight, 0.0, self.offsets))

    @property
    def dimension(self) -> int:
        return self.null.shape[1]

    @cached_property
    def size(self) -> float:
        """Largest force: the unit in which programs are solved."""
        return self.largest or float(np.abs(self.offsets).max(initial=0.0)) or 1.0

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
        scale = np.ones(len(base)) if functions is None else np.linalg.norm(functions, axis=1)
        lower, upper = base.copy(), base.copy()
        free = np.flatnonzero(np.abs(slopes).max(axis=1, initial=0.0) > RANK * scale)
        if free.size:
            both = np.vstack([slopes[free], -slopes[free]])
            ends = self._least_linear(both, np.tile(scale[free], 2), accuracy)
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
        scale = np.array([np.linalg.norm(direction)])
        return self._least_linear((direction @ self.null)[None], scale, _ACCURACY)[0]

    def _least_linear(
        self, slopes: np.ndarray, scale: np.ndarray, accuracy: float
    ) -> list[np.ndarray | None]:
        """A minimiser t (k,) of every row g N (f, k), None where there is no bound; ``scale`` |g| (f,)."""
        length = np.linalg.norm(slopes, axis=1)
        if self.dimension == 0:
            return list(np.zeros(slopes.shape))
        noise = RANK * scale
        slopes = np.where((length > noise)[:, None], slopes, 0.0)
        loose, held = self._loose
        unbounded = np.linalg.norm(slopes @ loose, axis=1) > noise
        if loose.shape[1]:
            inner = self._pointed._least_linear(slopes @ held, scale, accuracy)
            found = [None if t is None else held @ t for t in inner]
        else:
            length = np.where(length > noise, length, 1.0)
            unit = np.ascontiguousarray(slopes / length[:, None])
            if len(self.discs.radius):
                found = self._least_with_discs(unit, scale / length, accuracy)
            else:
                found = [self._least_without_discs(row) for row in unit]
        return [None if free else t for free, t in zip(unbounded, found, strict=True)]

    @cached_property
    def _loose(self) -> tuple[np.ndarray, np.ndarray]:
        """Orthonormal directions in t that no limit feels (k, j), as of redundant joints, and the others."""
        discs, k = self.discs, self.dimension
        felt = np.vstack([self.rows, discs.slope, discs.rows.reshape(-1, k)])
        scale = np.concatenate([np.ones(len(self.rows)), np.ones(3 * len(discs.radius))])
        return split_directions(felt, scale)

    @cached_property
    def _pointed(self) -> Face:
        """The set across the directions that no limit feels."""
        held = self._loose[1]
        return replace(
            self,
            null=self.null @ held,
            rows=self.rows @ held,
            discs=self.discs.moved(np.zeros(len(held)), held),
        )

    def _least_without_discs(self, slope: np.ndarray) -> np.ndarray | None:
        from klapper.complementarity.kernels.polyhedron import EMPTY, UNBOUNDED, least_point

        t = np.zeros(self.dimension)
        status = least_point(self.rows, self.offsets / self.size, slope, t) if slope.any() else 0
        if status == EMPTY:
            return self._lenient._least_without_discs(slope)
        return None if status == UNBOUNDED else self.size * t

    def _least_with_discs(
        self, slopes: np.ndarray, scale: np.ndarray, accuracy: float
    ) -> list[np.ndarray | None]:
        from klapper.complementarity.kernels.cone_program import UNBOUNDED, least_linear

        core = self._core
        if core.face is not self:
            found = core.face._least_linear(slopes @ core.basis, scale, accuracy)
            return [None if t is None else core.start + core.basis @ t for t in found]
        t, status = np.zeros(slopes.shape), np.zeros(len(slopes), dtype=np.int64)
        arguments = (np.ascontiguousarray(slopes), self._scaled, core.start, accuracy, t, status)
        least_linear(*arguments)
        return [
            None if found == UNBOUNDED or self._recedes(slope, end) else self.size * end
            for slope, found, end in zip(slopes, status, t, strict=True)
        ]

    def _recedes(self, slope: np.ndarray, end: np.ndarray) -> bool:
        """Whether the set goes on without end in a direction d of falling slope · d, where ``end`` (k,) is far away.

        G d ≥ s, rᵀd − ‖P d‖ ≥ s and −slope · d ≥ s with s = 1: a thin cone of directions ends a barrier method early.
        """
        from klapper.complementarity.kernels.cone_program import inside

        if np.abs(end).max(initial=0.0) <= _REMOTE:
            return False
        rows, offsets, disc_rows, centre, disc_slope, radius = self._scaled
        cone = Limits(
            *_plain(
                np.vstack([rows, -slope]),
                np.zeros(len(offsets) + 1),
                disc_rows,
                0.0 * centre,
                disc_slope,
                0.0 * radius,
            )
        )
        return bool(inside(cone, np.ones(len(offsets) + 1), _ROUGH, 0.0, np.zeros(self.dimension)) > 0.5)

    @cached_property
    def _scaled(self) -> Limits:
        """Rows, offsets and discs in units of the largest force."""
        discs, size = self.discs, self.size
        return Limits(
            *_plain(
                self.rows,
                self.offsets / size,
                discs.rows,
                discs.centre / size,
                discs.slope,
                discs.radius / size,
            )
        )

    @cached_property
    def _core(self) -> _Core:
        """The set itself and a point inside it, or what is left of it where some constraints have no room at all."""
        t, margin = self._with_margin(np.ones(len(self.rows)), _ROUGH, _PULL)
        if margin <= _ROUGH:
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
        basis = level_directions(equations, np.ones(len(equations)))
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
            largest=self.size,
        )
        return _Core(face, start, basis)

    def _with_margin(
        self, lengths: np.ndarray, accuracy: float, pull: float = 0.0
    ) -> tuple[np.ndarray, float]:
        """t (k,) with the largest margin s of all constraints G t + h ≥ s / lengths, less ½ pull |t|², and s, in units
        of the largest force."""
        from klapper.complementarity.kernels.cone_program import inside

        t = np.zeros(self.dimension)
        arguments = (self._scaled, lengths, accuracy, pull, t)
        return t, inside(*arguments)

    def with_margin(self) -> tuple[np.ndarray, float]:
        """t (k,) that keeps furthest from all limits, and by how much; at most the largest force."""
        held = self._loose[1]
        t, margin = self._pointed._with_margin(self.lengths, _ACCURACY)
        return held @ t * self.size, margin * self.size

    def with_room(self, margin: float) -> Face:
        """The members that keep a ``margin`` [N] from all limits."""
        discs = replace(self.discs, radius=self.discs.radius - margin)
        return replace(self, offsets=self.offsets - margin / self.lengths, discs=discs)

    def nearest(self, target: np.ndarray, metric: np.ndarray) -> np.ndarray:
        """t (k,) that minimises ½ (x − target)ᵀ C (x − target), the metric C (r,) or (r, r) positive definite."""
        full = np.diag(metric) if metric.ndim == 1 else 0.5 * (metric + metric.T)
        weighted = full @ self.null
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
        rows, offsets = self._scaled[:2]
        status, _ = kernel.least_quadratic(hessian, gradient, rows, offsets, 0, t, multipliers)
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
        loose, held = self._loose
        if loose.shape[
            1
        ]:  # the best along directions that no limit feels, for whatever is chosen across them
            stiff, across = loose.T @ hessian @ loose, held.T @ hessian @ loose
            best = np.linalg.solve(stiff, np.column_stack([across.T, loose.T @ gradient]))
            inner = self._pointed.least_quadratic(
                held.T @ hessian @ held - across @ best[:, :-1],
                (held.T @ gradient - across @ best[:, -1]) * self.size,
            )
            inner = inner / self.size
            return held @ inner - loose @ (best @ np.append(inner, 1.0))
        core = self._core
        if core.face is not self:
            start = core.start / self.size
            pull = core.basis.T @ (gradient + hessian @ start)
            inner = core.face.least_quadratic(core.basis.T @ hessian @ core.basis, pull * self.size)
            return start + core.basis @ inner / self.size
        t = core.start.copy()
        arguments = (hessian, gradient, self._scaled, _ACCURACY, t)
        tau = follow(*arguments)
        with np.errstate(divide="ignore"):
            multipliers = 1.0 / (tau * np.abs(rows @ t + offsets))
            by_disc = 1.0 / (tau * np.abs(discs.excess(t)))
        return sharpened(hessian, gradient, rows, offsets, discs, t, multipliers, by_disc)

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
        basis = level_directions(kept @ self.null, np.abs(kept).max(axis=1, initial=0.0))
        return Face(
            self.at(t),
            self.null @ basis,
            self.rows @ basis,
            self.offsets + self.rows @ t,
            self.discs.moved(t, basis),
            largest=self.size,
        )


@dataclass(frozen=True, eq=False)
class _Core:
    """A set with room inside: t = start + basis s, with s in ``face``; ``start`` is inside if it is the set itself."""

    face: Face
    start: np.ndarray
    basis: np.ndarray


def _plain(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.ascontiguousarray(array, dtype=float) for array in arrays)
