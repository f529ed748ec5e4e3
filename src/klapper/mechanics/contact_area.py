"""A contact line or surface as a quadrature rule, and what is given along it.

    ∫_Γ f dΓ ≈ Σ_k w_k f(P_k)

with the points of Gauss on each panel: exact for polynomials up to the degree 2 order − 1, if the breaks of f lie on
the ends of panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel

ALIGNED = 1e-9  # relative distance up to which a break lies on a panel's end


@dataclass(frozen=True, eq=False)
class ContactArea:
    """The contact surface as a quadrature rule.

    ``points``   (k,) or (k, d): coordinates on the surface [m], d = 1 for a contact line, 2 for a surface
    ``weights``  (k,) > 0: share of the surface that belongs to each point [m or m²]
    ``panels``   ends (p + 1,) [m] of the panels along every direction, if the rule is built of panels: kinks and jumps
                 of weight functions must lie there

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
        return np.tensordot(self.weights, sampled(values, len(self.weights)), axes=1)

    def require_alignment(self, breaks: Sequence[np.ndarray], what: str) -> None:
        """Refuse breaks inside a panel, over which the rule would integrate wrongly; untested without panels."""
        if len(breaks) != self.dimension:
            raise InvalidModel(
                f"{what}: coordinates are given along {counted(len(breaks), 'direction')}, but the area has "
                f"{self.dimension}."
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


def _panel_ends(argument: str, length: float, panels: Any, start: float) -> np.ndarray:
    if not (np.isfinite(length) and length > 0.0 and np.isfinite(start)):
        raise InvalidModel(f"{argument} is {length}; allowed are finite numbers above 0, in m.")
    if np.ndim(panels) == 0:
        if int(panels) != panels or panels < 1:
            raise InvalidModel(
                f"panels is {panels}; allowed are whole numbers from 1 on, or the panels' ends."
            )
        return start + length * np.linspace(0.0, 1.0, int(panels) + 1)
    ends = rising(panels, "panels", 2)
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


def rising(given: Any, argument: str, least: int) -> np.ndarray:
    """Rising coordinates (k,) [m] along one direction, or what is wrong with them."""
    values = np.array(given, dtype=float)
    rising = values.ndim == 1 and values.size >= least and np.isfinite(values).all()
    if not (rising and np.all(np.diff(values) > 0.0)):
        raise InvalidModel(f"{argument} must be at least {least} rising coordinates, got {given!r}.")
    return values


def surface_points(given: Any, dimension: int, argument: str) -> np.ndarray:
    """Coordinates (number, d) [m] of points; (number,) on a line."""
    points = np.array(given, dtype=float)
    points = points.reshape(-1, 1) if points.ndim <= 1 and dimension == 1 else points
    if points.ndim != 2 or points.shape[1] != dimension or not np.isfinite(points).all():
        raise InvalidModel(
            f"{argument} have shape {np.shape(given)}; expected finite coordinates (number, {dimension})."
        )
    return points


def sampled(values: Any, count: int, owner: str = "point") -> np.ndarray:
    """Values (count, ...), one row for every point, or whatever else is their owner."""
    array = np.asarray(values, dtype=float)
    if array.ndim == 0 or array.shape[0] != count:
        raise InvalidModel(
            f"values have shape {array.shape}; expected ({count}, ...), one row for every {owner}."
        )
    return array
