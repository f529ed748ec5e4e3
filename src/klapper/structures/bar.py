"""A straight bar that stretches: ρA ü = (E A u′)′ + p, elements of any degree."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from klapper.mechanics import InvalidModel
from klapper.structures.coupling import elimination, projected
from klapper.structures.line import Line
from klapper.structures.line_mesh import LineMesh, continuous
from klapper.structures.loads import along
from klapper.structures.material import Material
from klapper.structures.structure import Structure


class Bar(Structure):
    """A bar along 0 ≤ x ≤ ``length`` [m] with the displacement u [m] along its axis.

    ``material``  a :class:`Material`; ``area`` of the cross-section [m²]
    ``elements``  their number, or the coordinates of their ends [m]; ``degree`` of their polynomials, from 1 on
    ``fixed``     places x [m] where u = 0; ``name`` of the structure

    >>> steel = Material(young=200e9, density=8000.0)
    >>> Bar(1.0, steel, 1e-4, elements=4, degree=4, fixed=[0.0]).frequencies(1).round(3).tolist()  # 5000 m/s / 4 m
    [1250.0]
    """

    def __init__(
        self,
        length: float,
        material: Material,
        area: float,
        *,
        elements: Any = 20,
        degree: int = 1,
        fixed: Any = (),
        name: str = "bar",
    ) -> None:
        if not area > 0.0:
            raise InvalidModel(f"area is {area}; allowed are numbers above 0, in m².")
        self.material, self.area = material, float(area)
        self.mesh = LineMesh.of(length, elements)
        self._field = continuous(self.mesh, degree)
        self._basis, kept = elimination(self._field.rows(np.asarray(fixed, dtype=float).ravel()))
        super().__init__(
            projected(material.density * area * self._field.gram(), self._basis),
            projected(material.young * area * self._field.gram(1), self._basis),
            coordinates=[f"u{i}" for i in kept],
            name=name,
        )

    @property
    def degree(self) -> int:
        """Degree of the displacement in an element."""
        return self._field.degree

    def rows(self, x: Any, quantity: str = "u", side: str = "right") -> np.ndarray:
        """(k, n): displacement "u" [m] or elastic "normal" force E A u′ [N] (tension positive) at ``x`` (k,) [m]."""
        if quantity not in ("u", "normal"):
            raise InvalidModel(f"a bar has no {quantity!r}; allowed are u and normal.")
        if quantity == "u":
            return (self._field.rows(x, 0, side) @ self._basis).toarray()
        return self.material.young * self.area * (self._field.rows(x, 1, side) @ self._basis).toarray()

    def row(self, x: float, quantity: str = "u", side: str = "right") -> np.ndarray:
        """(n,): a quantity at one point; see :meth:`rows`."""
        return self.rows([x], quantity, side)[0]

    def line(self) -> Line:
        """The displacement along the whole bar, for contacts."""
        return Line(self.rows, self.mesh.ends, self.degree)

    def with_line_load(self, density: Any, *, course: Any = 1.0) -> Self:
        """With a ``density`` [N/m] along the axis (a number or a function of x), times ``course`` in time."""
        pattern = self._field.integral(density, 0.0, self.mesh.length)
        return self.with_load(along(self._basis.T @ pattern, course))
