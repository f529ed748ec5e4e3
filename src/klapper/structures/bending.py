"""Bending of a straight line in one plane, with and without shear deformation.

Deflection w(x), rotation θ(x) of the cross-section (θ = w′ without shear), line load p(x):

    Timoshenko         M_b = E I θ′,   Q = G A_S (w′ − θ),   Q′ + p = ρA ẅ,   M_b′ + Q = ρI θ̈     Waltersberger 5.2.1
    Euler–Bernoulli    M_b = E I w″,   Q = −E I w‴,          Q′ + p = ρA ẅ

Timoshenko: w and θ are interpolated independently with the same degree p; the shear strain is taken at p Gauss points
per element only (selective integration), which removes locking for every degree, and is a polynomial through them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel
from klapper.structures.line_mesh import LineField, LineMesh, continuous, gram, smooth
from klapper.structures.shape_functions import gauss

QUANTITIES = ("deflection", "slope", "rotation", "moment", "shear")


class Bending(Protocol):
    """What beams and members of frames know of bending; all arrays are in the field's own ``size`` coordinates."""

    mesh: LineMesh
    size: int
    mass: Any
    stiffness: Any

    @property
    def degree(self) -> int:
        """Of the deflection in an element."""
        ...

    @property
    def names(self) -> list[tuple[str, int]]:
        """Kind ("deflection" or "rotation") and node of every coordinate."""
        ...

    @property
    def ends(self) -> np.ndarray:
        """Numbers (4,) of deflection and rotation at the start and at the end."""
        ...

    def rows(self, x: Any, quantity: str, side: str = "right") -> Any:
        """Sparse (k, size): one of ``QUANTITIES`` at the points ``x`` (k,) [m]."""
        ...

    def integral(self, density: Any, start: float, end: float) -> np.ndarray:
        """∫ N p dx (size,): line load [N/m] on the deflection."""
        ...

    def interpolated(self, deflection: Any, rotation: Any) -> np.ndarray:
        """Coordinates (size,) of a deflection [m] and rotation [rad] given as functions of x."""
        ...


class TimoshenkoBending:
    """Coordinates node by node: deflection, rotation."""

    def __init__(
        self,
        mesh: LineMesh,
        degree: int,
        *,
        line_mass: float,
        rotary_inertia: float,
        bending_stiffness: float,
        shear_stiffness: float,
    ) -> None:
        self.mesh = mesh
        self._field: LineField = continuous(mesh, degree)
        self._bending, self._shear = bending_stiffness, shear_stiffness
        self.size = 2 * self._field.size
        squares = self._field.gram()
        self.mass = self._both(line_mass * squares, rotary_inertia * squares)
        curvature = self._both(0.0 * squares, bending_stiffness * self._field.gram(1))
        points, weights = mesh.quadrature(self.degree)
        self.stiffness = (curvature + gram(self._strain(points), shear_stiffness * weights)).tocsr()

    @property
    def degree(self) -> int:
        return self._field.degree

    @property
    def names(self) -> list[tuple[str, int]]:
        return [(kind, node) for node in range(self._field.size) for kind in ("deflection", "rotation")]

    @property
    def ends(self) -> np.ndarray:
        return np.array([0, 1, self.size - 2, self.size - 1])

    def rows(self, x: Any, quantity: str, side: str = "right") -> Any:
        if quantity == "deflection":
            return self._deflection(self._field.rows(x, 0, side))
        if quantity == "slope":
            return self._deflection(self._field.rows(x, 1, side))
        if quantity == "rotation":
            return self._rotation(self._field.rows(x, 0, side))
        if quantity == "moment":
            return self._bending * self._rotation(self._field.rows(x, 1, side))
        if quantity == "shear":
            return self._shear * self._interpolated_strain(x, side)
        raise _unknown(quantity)

    def integral(self, density: Any, start: float, end: float) -> np.ndarray:
        whole = np.zeros(self.size)
        whole[0::2] = self._field.integral(density, start, end)
        return whole

    def interpolated(self, deflection: Any, rotation: Any) -> np.ndarray:
        whole = np.zeros(self.size)
        whole[0::2] = deflection(self._field.nodes)
        whole[1::2] = rotation(self._field.nodes)
        return whole

    def _strain(self, x: np.ndarray) -> Any:
        """w′ − θ at points inside elements."""
        return self._deflection(self._field.rows(x, 1)) - self._rotation(self._field.rows(x, 0))

    def _interpolated_strain(self, x: Any, side: str) -> Any:
        """The polynomial of degree p − 1 through w′ − θ at the p Gauss points of the element."""
        p = self.degree
        element, xi = self.mesh.locate(np.atleast_1d(np.asarray(x, dtype=float)), side)
        places, _ = gauss(p)
        through = np.linalg.solve(np.vander(places, p).T, np.vander(xi, p).T).T
        columns = (p * element[:, None] + np.arange(p)).ravel()
        starts = np.arange(0, columns.size + 1, p)
        points, _ = self.mesh.quadrature(p)
        pick = sparse.csr_array((through.ravel(), columns, starts), shape=(xi.size, points.size))
        return (pick @ self._strain(points)).tocsr()

    def _deflection(self, rows: Any) -> Any:
        return (rows @ self._pick[0]).tocsr()

    def _rotation(self, rows: Any) -> Any:
        return (rows @ self._pick[1]).tocsr()

    def _both(self, deflection: Any, rotation: Any) -> Any:
        w, theta = self._pick
        return (w.T @ deflection @ w + theta.T @ rotation @ theta).tocsr()

    @cached_property
    def _pick(self) -> tuple[Any, Any]:
        """(nodes, size) each: deflections and rotations of the nodes."""
        half = self.size // 2
        node, one = np.arange(half), np.ones(half)
        return (
            sparse.csr_array((one, (node, 2 * node)), shape=(half, self.size)),
            sparse.csr_array((one, (node, 2 * node + 1)), shape=(half, self.size)),
        )


class BernoulliBending:
    """Coordinates node by node: deflection, and at the elements' ends the rotation w′."""

    def __init__(self, mesh: LineMesh, degree: int, *, line_mass: float, bending_stiffness: float) -> None:
        self.mesh = mesh
        self._field = smooth(mesh, degree)
        self._bending = bending_stiffness
        self.size = self._field.size
        self.mass = line_mass * self._field.gram()
        self.stiffness = bending_stiffness * self._field.gram(2)

    @property
    def degree(self) -> int:
        return self._field.degree

    @property
    def names(self) -> list[tuple[str, int]]:
        sloped = np.isin(np.arange(self.size), self._field.slopes)
        node = np.cumsum(~sloped) - 1
        return [("rotation" if s else "deflection", int(i)) for s, i in zip(sloped, node, strict=True)]

    @property
    def ends(self) -> np.ndarray:
        return np.array([0, 1, self.size - 2, self.size - 1])

    def rows(self, x: Any, quantity: str, side: str = "right") -> Any:
        order = {"deflection": 0, "slope": 1, "rotation": 1, "moment": 2, "shear": 3}
        factor = {"moment": self._bending, "shear": -self._bending}
        if quantity not in order:
            raise _unknown(quantity)
        return factor.get(quantity, 1.0) * self._field.rows(x, order[quantity], side)

    def integral(self, density: Any, start: float, end: float) -> np.ndarray:
        return self._field.integral(density, start, end)

    def interpolated(self, deflection: Any, rotation: Any) -> np.ndarray:
        whole = np.zeros(self.size)
        whole[self._field.values] = deflection(self._field.nodes)
        whole[self._field.slopes] = rotation(self.mesh.ends)
        return whole


def _unknown(quantity: str) -> InvalidModel:
    return InvalidModel(f"there is no quantity {quantity!r} of bending; allowed are {', '.join(QUANTITIES)}.")
