"""Contact over areas: finitely many averaged gaps and friction patches in place of a distributed contact.

    g_i = ∫_Γ h_i g dΓ,   ∫_Γ h_i dΓ = 1,   h_i ≥ 0, linearly independent          Waltersberger (3.10)-(3.12)
    J_T,i = 1/|Γ_i| ∫_{Γ_i} (∂r_T/∂q)ᵀ dΓ,   Γ = ∪ Γ_i                               (3.43), (3.44)
    F_N(P) = Σ_j h_j(P) λ_N,j                                                       (3.60)
    ρ_i = Σ_j μ_ij λ_N,j,   μ_ij = μ_i ∫_{Γ_i} h_j dΓ                                (3.74)

All integrals are taken by one quadrature rule. The same average serves gaps and directions, so that the averaged forces
do the virtual work of the pressure, (3.59). A Dirac function as weight is collocation: the gap at a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.contact_area import ALIGNED, ContactArea, rising, sampled, surface_points
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.weight_functions import (
    Box,
    WeightFunction,
    hat,
    products,
    require_independence,
    require_weights,
)


class AveragedContact:
    """Averaged gaps of a contact area: one for each weight function, normalised to ∫ h_i dΓ = 1.

    ``functions`` are callables h(x) on a line, h(x, y) on a surface, that take arrays; see also :meth:`boxes`,
    :meth:`hats` and :meth:`diracs`. Negative, vanishing and linearly dependent ones are refused by name.
    ``area`` is the :class:`ContactArea`, ``names`` (m,) those of the averaged gaps.

    ``points``    (k, d) where gap and directions have to be known: those of the area, or of the Dirac functions
    ``operator``  (m, k) sparse: averages from values at these points; rows sum up to one

    >>> import numpy as np
    >>> strip = ContactArea.line(1.0, panels=2)
    >>> halves = AveragedContact.boxes(strip, [0.0, 0.5, 1.0])
    >>> halves.average(strip.points[:, 0]).round(12).tolist()  # the gap g(x) = x
    [0.25, 0.75]
    """

    points: np.ndarray
    operator: Any
    names: tuple[str, ...]

    def __init__(
        self,
        area: ContactArea,
        functions: Sequence[WeightFunction],
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.area = area
        self.points = area.points
        self.names = _names(names, len(functions), "weight function ")
        self._functions: tuple[WeightFunction, ...] = tuple(functions)
        values = self._raw(area.points)
        require_weights(values, area.weights, self.names)
        self._scale = 1.0 / (values @ area.weights)  # (3.12)
        self.operator = sparse.csr_array(values * area.weights * self._scale[:, None])
        require_independence(values * np.sqrt(area.weights), self.names)

    @classmethod
    def boxes(cls, area: ContactArea, *edges: Any, names: Sequence[str] | None = None) -> AveragedContact:
        """Constant on each cell between the ``edges``.

        One array of edges per direction; on a surface all products, last fastest.
        """
        places = [rising(each, "edges", 2) for each in edges]
        area.require_alignment(places, "boxes")
        families = [
            [Box(left, right, right == each[-1]) for left, right in pairwise(each)] for each in places
        ]
        return cls(area, products(families), names=names)

    @classmethod
    def hats(cls, area: ContactArea, *nodes: Any, names: Sequence[str] | None = None) -> AveragedContact:
        """Piecewise linear, one at its node and zero at all others; halves at the first and last node.

        One array of ``nodes`` per direction; on a surface all products, last fastest.
        """
        places = [rising(each, "nodes", 2) for each in nodes]
        area.require_alignment(places, "hats")
        families = [[hat(each, i) for i in range(each.size)] for each in places]
        return cls(area, products(families), names=names)

    @classmethod
    def diracs(
        cls, area: ContactArea, positions: Any, *, names: Sequence[str] | None = None
    ) -> AveragedContact:
        """Collocation: the gap at the ``positions`` (m,) or (m, d) themselves, which become ``points``."""
        contact = cls.__new__(cls)
        points = surface_points(positions, area.dimension, "positions")
        contact.area, contact.points, contact._functions = area, points, ()
        contact.names = _names(names, len(points), "point ")
        contact.operator = sparse.eye_array(len(points), format="csr")
        area.require_inside(points, contact.names)
        _, numbers, repeats = np.unique(points, axis=0, return_inverse=True, return_counts=True)
        if np.any(repeats > 1):
            same = np.flatnonzero(numbers.ravel() == np.argmax(repeats > 1))
            raise InvalidModel(
                f"'{contact.names[same[1]]}' lies where '{contact.names[same[0]]}' does; weights must be independent."
            )
        return contact

    @property
    def count(self) -> int:
        """Number m of averaged contacts."""
        return len(self.names)

    @property
    def concentrated(self) -> bool:
        """Whether the weights are Dirac functions, so that forces act at points."""
        return not self._functions

    def average(self, values: Any) -> np.ndarray:
        """∫ h_i values dΓ (m, ...) from values at :attr:`points` (k, ...): gaps, gap rates, gradients alike. (3.11)"""
        return _apply(self.operator, sampled(values, len(self.points)))

    def directions(self, gradients: Any) -> np.ndarray:
        """J_N (n, m) from the gradients ∂g/∂q (k, n) at :attr:`points`."""
        return self.average(gradients).T

    def weights(self, points: Any = None) -> np.ndarray:
        """Normalised h_i (m, number of points) [1/m or 1/m²] at the area's points, or at any others."""
        self._require_functions("weights")
        where = self.area.points if points is None else surface_points(points, self.area.dimension, "points")
        return self._scale[:, None] * self._raw(where)

    def pressure(self, normal_force: Any, points: Any = None) -> np.ndarray:
        """F_N(P) = Σ h_i(P) λ_i [N/m or N/m²] at the area's points, or at any others. (3.60)

        ``normal_force`` λ_N (m,) [N], or (m, times) for a history; the answer is (points,) or (points, times).
        """
        self._require_functions("pressure")
        return self.weights(points).T @ sampled(normal_force, self.count, "weight function")

    def _raw(self, points: np.ndarray) -> np.ndarray:
        """h_i (m, number of points) before normalisation."""
        values = [
            np.broadcast_to(np.asarray(function(*points.T), dtype=float), len(points))
            for function in self._functions
        ]
        return np.array(values).reshape(len(self._functions), len(points))

    def _require_functions(self, what: str) -> None:
        if self.concentrated:
            raise InvalidModel(
                f"{what}: the weights are Dirac functions, so that forces are concentrated at the points; use boxes or "
                "hats to obtain a distribution."
            )


class FrictionPatches:
    """Disjoint patches Γ_i that cover the contact area; on each, friction acts on the mean sliding velocity. (3.43)

    ``edges``  one rising array per direction that spans the area; on a surface all products, last fastest.
    ``area`` is the :class:`ContactArea` [m or m²], the edges in m; ``names`` (s,) are those of the patches.
    Use :meth:`labelled` for patches of any shape.

    >>> strip = ContactArea.line(1.0, panels=4)
    >>> patches = FrictionPatches(strip, [0.0, 0.25, 1.0])
    >>> patches.measures.tolist(), patches.average(strip.points[:, 0]).round(12).tolist()
    ([0.25, 0.75], [0.125, 0.625])
    """

    operator: Any
    measures: np.ndarray
    names: tuple[str, ...]

    def __init__(self, area: ContactArea, *edges: Any, names: Sequence[str] | None = None) -> None:
        self._edges: tuple[np.ndarray, ...] = tuple(rising(each, "edges", 2) for each in edges)
        area.require_alignment(self._edges, "friction patches")
        cells = [each.size - 1 for each in self._edges]
        numbers = [
            np.clip(np.searchsorted(each, along, side="right") - 1, 0, count - 1)
            for each, along, count in zip(self._edges, area.points.T, cells, strict=True)
        ]
        for each, along in zip(self._edges, area.points.T, strict=True):
            margin = ALIGNED * (each[-1] - each[0])
            if along.min() < each[0] - margin or along.max() > each[-1] + margin:
                raise InvalidModel(
                    f"friction patches from {each[0]:g} m to {each[-1]:g} m leave out part of the contact area; they "
                    "must cover it (a patch without friction has μ = 0)."
                )
        self._setup(area, np.ravel_multi_index(numbers, cells), int(np.prod(cells)), names)

    @classmethod
    def labelled(
        cls, area: ContactArea, labels: Any, *, names: Sequence[str] | None = None
    ) -> FrictionPatches:
        """``labels`` (k,): number from 0 on of the patch each quadrature point belongs to."""
        given = np.asarray(labels)
        if given.shape != area.weights.shape or not np.issubdtype(given.dtype, np.integer) or given.min() < 0:
            raise InvalidModel(
                f"labels have shape {given.shape} and type {given.dtype}; expected one whole number from 0 on for each "
                f"of the {area.weights.size} points."
            )
        patches = cls.__new__(cls)
        patches._edges = ()
        patches._setup(area, given, int(given.max()) + 1, names)
        return patches

    def _setup(self, area: ContactArea, labels: np.ndarray, count: int, names: Sequence[str] | None) -> None:
        self.area = area
        self.names = _names(names, count, "patch ")
        self.measures = np.bincount(labels, weights=area.weights, minlength=count)
        if np.any(self.measures == 0.0):
            empty = self.names[int(np.argmin(self.measures))]
            raise InvalidModel(
                f"'{empty}' holds no quadrature point; make the patch larger or the rule finer (panels, order)."
            )
        columns = np.arange(labels.size)
        self._membership = sparse.csr_array((area.weights, (labels, columns)), shape=(count, labels.size))
        self.operator = (sparse.diags_array(1.0 / self.measures) @ self._membership).tocsr()

    @property
    def count(self) -> int:
        """Number s of patches."""
        return len(self.names)

    def average(self, values: Any) -> np.ndarray:
        """Means (s, ...) over the patches from values at the area's points (k, ...). (3.44)"""
        return _apply(self.operator, sampled(values, len(self.area.weights)))

    def directions(self, gradients: Any) -> np.ndarray:
        """J_T (n, s d), patch by patch, from ∂v_T/∂v (k, d, n) at the area's points; (k, n) in the plane. (3.43)"""
        values = sampled(gradients, len(self.area.weights))
        means = self.average(values[:, None, :] if values.ndim == 2 else values)
        return means.reshape(-1, means.shape[-1]).T

    def traction(self, tangential_force: Any) -> np.ndarray:
        """Mean tractions λ_T,i/|Γ_i| (s, d) [N/m or N/m²] from the patch forces (s, d) [N]."""
        forces = sampled(tangential_force, self.count, "patch")
        return forces / self.measures.reshape(-1, *(1 for _ in forces.shape[1:]))

    def shares(self, contact: AveragedContact) -> np.ndarray:
        """∫_{Γ_i} h_j dΓ (s, m): which part of contact j presses on patch i; columns sum up to one.

        A Dirac function on the border between patches presses on each of them alike.
        """
        if contact.area is not self.area:
            raise InvalidModel("contact and friction patches belong to different areas; build both on one.")
        if not contact.concentrated:
            return self._membership @ contact.weights().T
        if not self._edges:
            raise InvalidModel(
                "labelled patches do not tell to which of them a point belongs; give the patches by edges, or use "
                "boxes or hats as weight functions."
            )
        share = np.ones((contact.count, 1))
        for edges, along in zip(self._edges, contact.points.T, strict=True):
            inside = (edges[:-1] <= along[:, None]) & (along[:, None] <= edges[1:])
            if not inside.any(axis=1).all():
                lost = contact.names[int(np.argmin(inside.any(axis=1)))]
                raise InvalidModel(f"'{lost}' lies outside all friction patches.")
            part = inside / inside.sum(axis=1, keepdims=True)
            share = (share[:, :, None] * part[:, None, :]).reshape(contact.count, -1)
        return share.T


def friction_matrix(contact: AveragedContact, patches: FrictionPatches, friction: Any) -> np.ndarray:
    """μ (s, m): the friction limit of patch i is Σ_j μ_ij λ_N,j, Waltersberger (3.74).

    ``contact`` has m averaged gaps, ``patches`` are s on the same area; ``friction`` is the coefficient of every
    patch, dimensionless, one number or (s,). Patches that match boxes give a diagonal matrix.

    Two boxes of normal force and one patch of friction with μ = 0.5 over both:

    >>> strip = ContactArea.line(1.0, panels=2)
    >>> halves = AveragedContact.boxes(strip, [0.0, 0.5, 1.0])
    >>> friction_matrix(halves, FrictionPatches(strip, [0.0, 1.0]), 0.5).round(12).tolist()
    [[0.5, 0.5]]
    """
    coefficients = np.asarray(friction, dtype=float)
    if coefficients.shape not in ((), (patches.count,)):
        raise InvalidModel(
            f"friction has shape {coefficients.shape}; expected one number or ({patches.count},)."
        )
    if not (np.isfinite(coefficients).all() and coefficients.min() >= 0.0):
        raise InvalidModel(f"friction is {coefficients.min():g}; allowed are numbers from 0 on.")
    return np.broadcast_to(coefficients, patches.count)[:, None] * patches.shares(contact)


def _apply(operator: Any, values: np.ndarray) -> np.ndarray:
    """A sparse matrix (m, k) times an array (k, ...)."""
    flat = operator @ values.reshape(len(values), -1)
    return flat.reshape(operator.shape[0], *values.shape[1:])


def _names(names: Sequence[str] | None, count: int, default: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{default}{i}" for i in range(count))
    if len(names) != count or len(set(names)) != count:
        raise InvalidModel(f"names has {len(set(names))} different entries, expected {count}.")
    return tuple(str(name) for name in names)
