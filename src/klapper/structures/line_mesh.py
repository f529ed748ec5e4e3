"""A straight line cut into elements, and functions on it.

Everything that is integrated along a line is written with rows: R (k, size) gives a quantity at k points from the
coordinates, so that ∫ c r rᵀ dx = Rᵀ diag(c w) R with the weights w of the quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel
from klapper.mechanics.arguments import finite, number
from klapper.structures.shape_functions import ShapeFunctions, gauss, hermite, lagrange

_ON_END = 1e-9  # of the length: a point this near to an element's end lies on it


@dataclass(frozen=True, eq=False)
class LineMesh:
    """``ends`` (elements + 1,) [m], rising from 0."""

    ends: np.ndarray

    @classmethod
    def of(cls, length: float, elements: Any) -> LineMesh:
        """``elements`` of equal size, or the coordinates of their ends from 0 to ``length`` [m]."""
        reach = number(length, "length", "numbers above 0, in m", above=0.0)
        if np.ndim(elements) == 0:
            if int(elements) != elements or elements < 1:
                raise InvalidModel(
                    f"elements is {elements}; allowed are whole numbers from 1 on, or their ends."
                )
            return cls(np.linspace(0.0, reach, int(elements) + 1))
        ends = finite(elements, "elements")
        if ends.ndim != 1 or ends.size < 2 or np.any(np.diff(ends) <= 0.0):
            raise InvalidModel("elements given by their ends must be at least two rising coordinates, in m.")
        if ends[0] != 0.0 or abs(ends[-1] - reach) > _ON_END * reach:
            raise InvalidModel(
                f"elements reach from {ends[0]:g} m to {ends[-1]:g} m; expected 0 to {reach:g} m."
            )
        return cls(ends)

    @property
    def length(self) -> float:
        return float(self.ends[-1])

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.ends.size - 1

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.ends)

    def locate(self, x: np.ndarray, side: str = "right") -> tuple[np.ndarray, np.ndarray]:
        """Element and ξ of every point (k,); at the common end of two elements the one on this ``side``."""
        if side not in ("left", "right"):
            raise InvalidModel(f"side is {side!r}; allowed are 'left' and 'right' of the point.")
        margin = _ON_END * self.length
        outside = (x < -margin) | (x > self.length + margin) | ~np.isfinite(x)
        if outside.any():
            raise InvalidModel(
                f"there is no point at {x[outside][0]:g} m; allowed are 0 to {self.length:g} m."
            )
        shift = margin if side == "right" else -margin
        element = np.clip(np.searchsorted(self.ends, x + shift, side="right") - 1, 0, self.count - 1)
        xi = 2 * (x - self.ends[element]) / self.sizes[element] - 1
        return element, np.clip(xi, -1.0, 1.0)

    def quadrature(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Points (k,) and weights (k,) [m] of ``count`` Gauss points in every element."""
        return panels_quadrature(self.ends, count)

    def panels(self, start: float, end: float) -> np.ndarray:
        """``start``, the ends of elements between, ``end``: pieces on which the functions are polynomials."""
        inside = self.ends[
            (self.ends > start + _ON_END * self.length) & (self.ends < end - _ON_END * self.length)
        ]
        return np.concatenate(([start], inside, [end]))


def panels_quadrature(ends: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (k,) and weights (k,) of ``count`` Gauss points between each two ``ends``."""
    places, weights = gauss(count)
    half = 0.5 * np.diff(ends)
    middle = 0.5 * (ends[1:] + ends[:-1])
    return (middle[:, None] + half[:, None] * places).ravel(), (half[:, None] * weights).ravel()


class LineField:
    """A function along a line, polynomial in every element and continuous; use :func:`continuous` or :func:`smooth`.

    ``size``    number of coordinates
    ``nodes``   (m,) [m] where coordinates are values of the function, and ``values`` (m,) their numbers
    ``slopes``  numbers of the coordinates that are derivatives at the elements' ends, empty if there are none
    """

    def __init__(
        self,
        mesh: LineMesh,
        functions: ShapeFunctions,
        numbers: np.ndarray,
        values: np.ndarray,
        slopes: np.ndarray,
    ) -> None:
        self.mesh, self.functions, self._numbers = mesh, functions, numbers
        self.values, self.slopes = values, slopes
        self.size = int(numbers.max()) + 1
        self._sloped = np.isin(numbers[0], slopes)
        inner = mesh.ends[:-1, None] + mesh.sizes[:, None] * (functions.points[:-1] + 1) / 2
        self.nodes = np.append(inner.ravel(), mesh.length)

    @property
    def degree(self) -> int:
        return self.functions.degree

    def rows(self, x: Any, derivative: int = 0, side: str = "right") -> Any:
        """Sparse (k, size): the function, or its derivative along the line, at the points ``x`` (k,) [m]."""
        points = np.atleast_1d(np.asarray(x, dtype=float))
        element, xi = self.mesh.locate(points, side)
        half = 0.5 * self.mesh.sizes[element][:, None]
        values = self.functions.at(xi, derivative) / half**derivative
        values = np.where(self._sloped, values * half, values)
        k, functions = values.shape
        starts = np.arange(0, k * functions + 1, functions)
        return sparse.csr_array(
            (values.ravel(), self._numbers[element].ravel(), starts), shape=(k, self.size)
        )

    def gram(self, derivative: int = 0) -> Any:
        """∫ N⁽ᵈ⁾ N⁽ᵈ⁾ᵀ dx (size, size), exact."""
        points, weights = self.mesh.quadrature(self.degree + 1)
        return gram(self.rows(points, derivative), weights)

    def integral(self, density: Any, start: float, end: float) -> np.ndarray:
        """∫ N p dx (size,) over start ≤ x ≤ end; ``density`` p a number, or a function of x (k,)."""
        points, weights = panels_quadrature(self.mesh.panels(start, end), self.degree + 3)
        return self.rows(points).T @ (weights * sampled(density, points))


def gram(rows: Any, weights: np.ndarray) -> Any:
    """Rᵀ diag(w) R, symmetric."""
    root = sparse.diags_array(np.sqrt(weights)) @ rows
    return (root.T @ root).tocsr()


def sampled(function: Any, points: np.ndarray) -> np.ndarray:
    """A number or a function of x at points (k,): (k,)."""
    values = np.asarray(function(points) if callable(function) else function, dtype=float)
    if values.shape not in ((), points.shape) or not np.all(np.isfinite(values)):
        raise InvalidModel(
            f"a distribution along the line has shape {values.shape}; expected finite values, one number or one for "
            f"each of the {points.size} points."
        )
    return np.broadcast_to(values, points.shape)


def continuous(mesh: LineMesh, degree: int) -> LineField:
    """Continuous; coordinates are the values at the nodes, p in every element and one more at the end."""
    p = _degree(degree, 1, "a continuous function")
    numbers = p * np.arange(mesh.count)[:, None] + np.arange(p + 1)
    return LineField(mesh, lagrange(p), numbers, np.arange(p * mesh.count + 1), np.zeros(0, dtype=int))


def smooth(mesh: LineMesh, degree: int) -> LineField:
    """Continuous with its slope; coordinates are value and slope at the elements' ends, values between."""
    p = _degree(degree, 3, "a function with continuous slope")
    numbers = (p - 1) * np.arange(mesh.count)[:, None] + np.arange(p + 1)
    slopes = (p - 1) * np.arange(mesh.count + 1) + 1
    values = np.setdiff1d(np.arange(slopes[-1] + 1), slopes)
    return LineField(mesh, hermite(p), numbers, values, slopes)


def _degree(given: Any, least: int, what: str) -> int:
    if int(given) != given or not least <= given <= 30:
        raise InvalidModel(f"degree is {given}; allowed for {what} are whole numbers from {least} to 30.")
    return int(given)
