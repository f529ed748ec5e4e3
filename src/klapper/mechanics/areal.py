"""Contact over areas: finitely many averaged gaps and friction patches in place of a distributed contact.

    g_i = ∫_Γ h_i g dΓ,   ∫_Γ h_i dΓ = 1,   h_i ≥ 0, linearly independent          Waltersberger (3.10)-(3.12)
    J_T,i = 1/|Γ_i| ∫_{Γ_i} (∂r_T/∂q)ᵀ dΓ,   Γ = ∪ Γ_i                               (3.43), (3.44)
    F_N(P) = Σ_j h_j(P) λ_N,j                                                       (3.60)
    ρ_i = Σ_j μ_ij λ_N,j,   μ_ij = μ_i ∫_{Γ_i} h_j dΓ                                (3.74)

All integrals are taken by one quadrature rule. The same average serves gaps and directions, so that the averaged forces
do the virtual work of the pressure, (3.59). A Dirac function as weight is collocation: the gap at a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel

WeightFunction = Callable[..., Any]  # h(x) on a line, h(x, y) on a surface; arrays in, an array out

DEPENDENT = 1e-13  # smallest eigenvalue of the scaled Gram matrix of independent weight functions
ALIGNED = 1e-9  # relative distance up to which a break lies on a panel's end


@dataclass(frozen=True, eq=False)
class ContactArea:
    """The contact surface as a quadrature rule.

    ``points``   (k,) or (k, d): coordinates on the surface [m], d = 1 for a contact line, 2 for a surface
    ``weights``  (k,) > 0: share of the surface that belongs to each point [m or m²]
    ``panels``   ends of the panels along every direction, if the rule is built of panels: kinks and jumps of weight
                 functions must lie there

    >>> strip = ContactArea.line(0.6, panels=3)
    >>> strip.integrate(strip.points[:, 0] ** 2).round(12).item(), round(strip.measure, 12)
    (0.072, 0.6)
    """

    points: Any
    weights: Any
    panels: tuple[np.ndarray, ...] | None = None

    def __post_init__(self) -> None:
        points, weights = np.array(self.points, dtype=float), np.array(self.weights, dtype=float)
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or weights.shape != points.shape[:1] or weights.size == 0:
            raise InvalidModel(
                f"points have shape {np.shape(self.points)} and weights {weights.shape}; expected (k,) or (k, d) and "
                "(k,) with at least one point."
            )
        if not (np.isfinite(points).all() and np.isfinite(weights).all() and weights.min() > 0.0):
            raise InvalidModel(
                "points must be finite and weights positive: each is a share of the contact area."
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def line(cls, length: float, *, panels: Any = 1, order: int = 4, start: float = 0.0) -> ContactArea:
        """The contact line from ``start`` to ``start + length`` [m].

        ``panels`` is their number, or the coordinates of their ends; ``order`` the number of Gauss points on each:
        exact for polynomials up to the degree 2 order − 1.
        """
        ends = _panel_ends("length", length, panels, start)
        points, weights = _gauss(ends, order)
        return cls(points, weights, (ends,))

    @classmethod
    def rectangle(
        cls, lengths: Any, *, panels: Any = (1, 1), order: int = 4, start: Any = (0.0, 0.0)
    ) -> ContactArea:
        """The rectangle with the sides ``lengths`` (2,) and the corner ``start`` (2,) [m].

        Panels and order as on a line, ``panels`` for each of both directions.
        """
        if not len(lengths) == len(panels) == len(start) == 2:
            raise InvalidModel("lengths, panels and start of a rectangle need two entries each.")
        ends = tuple(
            _panel_ends("lengths", length, count, corner)
            for length, count, corner in zip(lengths, panels, start, strict=True)
        )
        (x, weight_x), (y, weight_y) = (_gauss(end, order) for end in ends)
        points = np.column_stack([np.repeat(x, y.size), np.tile(y, x.size)])
        return cls(points, np.outer(weight_x, weight_y).ravel(), ends)

    @property
    def dimension(self) -> int:
        return self.points.shape[1]

    @property
    def measure(self) -> float:
        """|Γ| [m or m²]."""
        return float(self.weights.sum())

    def integrate(self, values: Any) -> np.ndarray:
        """∫ values dΓ (...) from values at the points (k, ...)."""
        return np.tensordot(self.weights, _sampled(values, len(self.weights)), axes=1)

    def require_alignment(self, breaks: Sequence[np.ndarray], what: str) -> None:
        """Refuse breaks inside a panel, over which the rule would integrate wrongly; untested without panels."""
        if len(breaks) != self.dimension:
            raise InvalidModel(
                f"{what}: coordinates are given along {len(breaks)} directions, but the area has {self.dimension}."
            )
        for ends, places in zip(self.panels or (), breaks, strict=False):
            inside = places[(places > ends[0]) & (places < ends[-1])]
            apart = np.abs(inside[:, None] - ends).min(axis=1, initial=np.inf)
            if np.any(apart > ALIGNED * (ends[-1] - ends[0])):
                wrong = inside[np.argmax(apart)]
                raise InvalidModel(
                    f"{what}: the break at {wrong:g} m lies inside a panel of the quadrature rule; choose panels that "
                    "end there, e.g. ContactArea.line(length, panels=breaks)."
                )

    def require_inside(self, points: np.ndarray, names: Sequence[str]) -> None:
        """Refuse points (number, d) outside the panels by name; untested without panels."""
        for ends, along in zip(self.panels or (), points.T, strict=False):
            outside = (along < ends[0]) | (along > ends[-1])
            if outside.any():
                first = int(np.argmax(outside))
                raise InvalidModel(
                    f"'{names[first]}' lies at {along[first]:g} m, outside the contact area from {ends[0]:g} m to "
                    f"{ends[-1]:g} m."
                )


class AveragedContact:
    """Averaged gaps of a contact area: one for each weight function, normalised to ∫ h_i dΓ = 1.

    ``functions`` are callables h(x) on a line, h(x, y) on a surface, that take arrays; see also :meth:`boxes`,
    :meth:`hats` and :meth:`diracs`. Negative, vanishing and linearly dependent ones are refused by name.

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
        _require_weights(values, area.weights, self.names)
        self._scale = 1.0 / (values @ area.weights)  # (3.12)
        self.operator = sparse.csr_array(values * area.weights * self._scale[:, None])
        _require_independence(values * np.sqrt(area.weights), self.names)

    @classmethod
    def boxes(cls, area: ContactArea, *edges: Any, names: Sequence[str] | None = None) -> AveragedContact:
        """Constant on each cell between the ``edges``.

        One array of edges per direction; on a surface all products, last fastest.
        """
        places = [_rising(each, "edges", 2) for each in edges]
        area.require_alignment(places, "boxes")
        families = [
            [_Box(left, right, right == each[-1]) for left, right in pairwise(each)] for each in places
        ]
        return cls(area, _products(families), names=names)

    @classmethod
    def hats(cls, area: ContactArea, *nodes: Any, names: Sequence[str] | None = None) -> AveragedContact:
        """Piecewise linear, one at its node and zero at all others; halves at the first and last node.

        One array of ``nodes`` per direction; on a surface all products, last fastest.
        """
        places = [_rising(each, "nodes", 2) for each in nodes]
        area.require_alignment(places, "hats")
        families = [[_hat(each, i) for i in range(each.size)] for each in places]
        return cls(area, _products(families), names=names)

    @classmethod
    def diracs(
        cls, area: ContactArea, positions: Any, *, names: Sequence[str] | None = None
    ) -> AveragedContact:
        """Collocation: the gap at the ``positions`` (m,) or (m, d) themselves, which become ``points``."""
        contact = cls.__new__(cls)
        points = _points(positions, area.dimension, "positions")
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
        return _apply(self.operator, _sampled(values, len(self.points)))

    def directions(self, gradients: Any) -> np.ndarray:
        """J_N (n, m) from the gradients ∂g/∂q (k, n) at :attr:`points`."""
        return self.average(gradients).T

    def weights(self, points: Any = None) -> np.ndarray:
        """Normalised h_i (m, number of points) [1/m or 1/m²] at the area's points, or at any others."""
        self._require_functions("weights")
        where = self.area.points if points is None else _points(points, self.area.dimension, "points")
        return self._scale[:, None] * self._raw(where)

    def pressure(self, normal_force: Any, points: Any = None) -> np.ndarray:
        """F_N(P) = Σ h_i(P) λ_i [N/m or N/m²] at the area's points, or at any others. (3.60)

        ``normal_force`` λ_N (m,) [N], or (m, times) for a history; the answer is (points,) or (points, times).
        """
        self._require_functions("pressure")
        return self.weights(points).T @ _sampled(normal_force, self.count, "weight function")

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
        self._edges: tuple[np.ndarray, ...] = tuple(_rising(each, "edges", 2) for each in edges)
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
        return _apply(self.operator, _sampled(values, len(self.area.weights)))

    def directions(self, gradients: Any) -> np.ndarray:
        """J_T (n, s d), patch by patch, from ∂v_T/∂v (k, d, n) at the area's points; (k, n) in the plane. (3.43)"""
        values = _sampled(gradients, len(self.area.weights))
        means = self.average(values[:, None, :] if values.ndim == 2 else values)
        return means.reshape(-1, means.shape[-1]).T

    def traction(self, tangential_force: Any) -> np.ndarray:
        """Mean tractions λ_T,i/|Γ_i| (s, d) [N/m or N/m²] from the patch forces (s, d) [N]."""
        forces = _sampled(tangential_force, self.count, "patch")
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

    ``friction`` is the coefficient of every patch, one number or (s,). Patches that match boxes give a diagonal matrix.

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


@dataclass(frozen=True)
class _Box:
    """One between two edges, zero elsewhere; an inner edge belongs to the box on its right."""

    left: float
    right: float
    last: bool

    def __call__(self, x: np.ndarray) -> np.ndarray:
        below = x <= self.right if self.last else x < self.right
        return ((self.left <= x) & below).astype(float)


@dataclass(frozen=True)
class _Hat:
    """One at the middle node, zero at its neighbours and beyond; a missing neighbour cuts it off."""

    places: tuple[float, ...]
    heights: tuple[float, ...]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.interp(x, self.places, self.heights, left=0.0, right=0.0)


@dataclass(frozen=True)
class _Product:
    """h(x, y, …) = h₁(x) h₂(y) …"""

    factors: tuple[Callable[[np.ndarray], np.ndarray], ...]

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        values = [factor(along) for factor, along in zip(self.factors, coordinates, strict=True)]
        return np.prod(values, axis=0)


def _hat(nodes: np.ndarray, i: int) -> _Hat:
    chosen = range(max(i - 1, 0), min(i + 2, nodes.size))
    return _Hat(tuple(float(nodes[j]) for j in chosen), tuple(float(j == i) for j in chosen))


def _products(families: list[list[Any]]) -> list[_Product]:
    return [_Product(factors) for factors in product(*families)]


def _panel_ends(argument: str, length: float, panels: Any, start: float) -> np.ndarray:
    if not (np.isfinite(length) and length > 0.0 and np.isfinite(start)):
        raise InvalidModel(f"{argument} is {length}; allowed are finite numbers above 0, in m.")
    if np.ndim(panels) == 0:
        if int(panels) != panels or panels < 1:
            raise InvalidModel(
                f"panels is {panels}; allowed are whole numbers from 1 on, or the panels' ends."
            )
        return start + length * np.linspace(0.0, 1.0, int(panels) + 1)
    ends = _rising(panels, "panels", 2)
    if not np.allclose([ends[0], ends[-1]], [start, start + length], rtol=0.0, atol=ALIGNED * length):
        raise InvalidModel(
            f"panels reach from {ends[0]:g} m to {ends[-1]:g} m; expected {start:g} m to {start + length:g} m."
        )
    return ends


def _gauss(ends: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and weights on all panels of a line."""
    if int(order) != order or order < 1:
        raise InvalidModel(f"order is {order}; allowed are whole numbers from 1 on.")
    places, weights = np.polynomial.legendre.leggauss(int(order))
    half = 0.5 * np.diff(ends)
    middle = 0.5 * (ends[:-1] + ends[1:])
    return (middle[:, None] + half[:, None] * places).ravel(), (half[:, None] * weights).ravel()


def _rising(given: Any, argument: str, least: int) -> np.ndarray:
    values = np.array(given, dtype=float)
    rising = values.ndim == 1 and values.size >= least and np.isfinite(values).all()
    if not (rising and np.all(np.diff(values) > 0.0)):
        raise InvalidModel(f"{argument} must be at least {least} rising coordinates, got {given!r}.")
    return values


def _points(given: Any, dimension: int, argument: str) -> np.ndarray:
    points = np.array(given, dtype=float)
    points = points.reshape(-1, 1) if points.ndim <= 1 and dimension == 1 else points
    if points.ndim != 2 or points.shape[1] != dimension or not np.isfinite(points).all():
        raise InvalidModel(
            f"{argument} have shape {np.shape(given)}; expected finite coordinates (number, {dimension})."
        )
    return points


def _sampled(values: Any, count: int, owner: str = "point") -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim == 0 or array.shape[0] != count:
        raise InvalidModel(
            f"values have shape {array.shape}; expected ({count}, ...), one row for every {owner}."
        )
    return array


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


def _require_weights(values: np.ndarray, weights: np.ndarray, names: tuple[str, ...]) -> None:
    """h_i ≥ 0 and ∫ h_i > 0, (3.12)."""
    if len(values) == 0:
        raise InvalidModel("an averaged contact needs at least one weight function.")
    for name, row in zip(names, values, strict=True):
        if not np.isfinite(row).all():
            raise InvalidModel(f"'{name}' is not finite everywhere on the contact area.")
        if row.min() < 0.0:
            raise InvalidModel(
                f"'{name}' is negative ({row.min():.3g}) on part of the contact area; weight functions must be ≥ 0."
            )
        if row @ weights <= 0.0:
            raise InvalidModel(
                f"'{name}' vanishes at all points of the contact area; let it reach into the area, or refine the rule."
            )


def _require_independence(rows: np.ndarray, names: tuple[str, ...]) -> None:
    """Linear independence of the weight functions, from the Gram matrix ∫ h_i h_j dΓ."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    gram = rows @ rows.T
    if np.linalg.eigvalsh(gram)[0] > DEPENDENT:
        return
    first = next(i for i in range(1, len(gram) + 1) if np.linalg.eigvalsh(gram[:i, :i])[0] <= DEPENDENT)
    reason = (
        f"; the quadrature rule has only {rows.shape[1]} points, refine it"
        if len(rows) > rows.shape[1]
        else ""
    )
    raise InvalidModel(
        f"'{names[first - 1]}' is a combination of the weight functions before it{reason}. Weight functions must be "
        "linearly independent."
    )
