"""A straight beam that bends in one plane.

    w(x, t) = Nᵀ(x) q(t),   M q̈ + D q̇ + K q = f                                   Waltersberger (5.32)–(5.39)

Timoshenko elements of any degree or Hermite elements without shear deformation (see :mod:`klapper.structures.bending`
for the equations and the signs of moment and shear force). w points up, so that weight is negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from klapper.mechanics import InvalidModel, Picture
from klapper.mechanics.arguments import number
from klapper.structures.bending import Bending, BernoulliBending, TimoshenkoBending
from klapper.structures.coupling import elimination, projected
from klapper.structures.line import Line
from klapper.structures.line_mesh import LineMesh, gram, panels_quadrature, sampled
from klapper.structures.loads import along
from klapper.structures.material import Material
from klapper.structures.picture import beam_picture
from klapper.structures.section import Section
from klapper.structures.structure import Structure

Theory = Literal["timoshenko", "euler-bernoulli"]

SUPPORTS = {"pinned": ("w",), "clamped": ("w", "rotation"), "guided": ("rotation",)}
QUANTITIES = {
    "w": "deflection",
    "slope": "slope",
    "rotation": "rotation",
    "moment": "moment",
    "shear": "shear",
}


class Beam(Structure):
    """A beam along 0 ≤ x ≤ ``length`` [m] with deflection w [m] and rotation [rad].

    ``material``  a :class:`Material`; ``section`` a :class:`Section`; ``name`` of the structure
    ``elements``  their number, or the coordinates of their ends (elements + 1,) [m]
    ``degree``    of the polynomials in an element: from 1 on (Timoshenko), from 3 on (Euler–Bernoulli)
    ``theory``    "timoshenko" (shear deformation and rotary inertia) or "euler-bernoulli" (neither)
    ``supports``  place x [m]: "pinned" (w = 0), "clamped" (w = 0 and no rotation) or "guided" (no rotation)

    >>> steel = Material(young=210e9, density=7500.0, shear=81e9)
    >>> beam = Beam(1.0, steel, Section.rectangle(0.01, 0.01), elements=8, supports={0.0: "pinned", 1.0: "pinned"})
    >>> beam.frequencies(2).round(2).tolist()
    [23.99, 95.91]
    """

    def __init__(
        self,
        length: float,
        material: Material,
        section: Section,
        *,
        elements: Any = 40,
        degree: int = 3,
        theory: Theory = "timoshenko",
        supports: Mapping[float, str] | None = None,
        name: str = "beam",
    ) -> None:
        self.material, self.section = material, section
        self.mesh = LineMesh.of(length, elements)
        self._bending: Bending = bending_of(self.mesh, degree, material, section, theory)
        self._basis, self._kept = elimination(self._support_rows(supports or {}))
        kinds = {"deflection": "w", "rotation": "rotation"}
        names = [f"{kinds[kind]}{node}" for kind, node in self._bending.names]
        super().__init__(
            projected(self._bending.mass, self._basis),
            projected(self._bending.stiffness, self._basis),
            coordinates=[names[i] for i in self._kept],
            name=name,
        )

    @property
    def length(self) -> float:
        """[m]."""
        return self.mesh.length

    @property
    def degree(self) -> int:
        """Degree of the deflection in an element."""
        return self._bending.degree

    def rows(self, x: Any, quantity: str = "w", side: str = "right") -> np.ndarray:
        """(k, n): a quantity at the points ``x`` (k,) [m].

        "w" [m], "slope" w′ and "rotation" θ [rad], elastic bending "moment" [N m] and "shear" force [N]. What jumps
        between elements is taken from the element on this ``side`` of the point.
        """
        if quantity not in QUANTITIES:
            raise InvalidModel(f"a beam has no {quantity!r}; allowed are {', '.join(QUANTITIES)}.")
        return (self._bending.rows(x, QUANTITIES[quantity], side) @ self._basis).toarray()

    def row(self, x: float, quantity: str = "w", side: str = "right") -> np.ndarray:
        """(n,): a quantity at one point; see :meth:`rows`."""
        return self.rows([x], quantity, side)[0]

    def line(self, quantity: str = "w") -> Line:
        """A quantity along the whole beam, for contacts; see :meth:`rows`."""
        return Line(lambda x: self.rows(x, quantity), self.mesh.ends, self.degree)

    def with_point_load(self, x: float, load: Any, quantity: str = "w") -> Self:
        """With a force [N] at x [m] in the direction of w, or a moment [N m] if ``quantity`` is "rotation".

        ``load`` is a number, a :class:`~klapper.mechanics.Harmonic` or other signal, or a function of time.
        """
        return self.with_load(load, self.row(x, quantity))

    def with_line_load(
        self, density: Any, *, start: float = 0.0, end: float | None = None, course: Any = 1.0
    ) -> Self:
        """With a ``density`` [N/m] (number or function of x) from ``start`` to ``end`` [m] times ``course`` in time."""
        first, last = self._range(start, end)
        return self.with_load(along(self._basis.T @ self._bending.integral(density, first, last), course))

    def with_gravity(self, acceleration: float = 9.81) -> Self:
        """With its weight, downwards. (5.39)"""
        g = number(acceleration, "acceleration")
        return self.with_line_load(-g * self.material.density * self.section.area)

    def with_external_damping(
        self, coefficient: Any, *, start: float = 0.0, end: float | None = None
    ) -> Self:
        """With viscous damping per length [N s/m²] (a number or a function of x) of the deflection."""
        first, last = self._range(start, end)
        points, weights = panels_quadrature(self.mesh.panels(first, last), self.degree + 3)
        values = sampled(coefficient, points)
        if np.any(values < 0.0):
            raise InvalidModel(
                f"the damping is {values.min():g} N s/m² somewhere; allowed are numbers from 0 on."
            )
        rows = self._bending.rows(points, "deflection") @ self._basis
        return self.with_damping(gram(rows, weights * values))

    def position(self, w: Any = 0.0, rotation: Any = None) -> np.ndarray:
        """q (n,) of the beam bent to ``w`` [m], a number or a function of x (k,); the same way, velocities.

        Without ``rotation`` [rad] the cross-sections stay perpendicular to the axis: differences of ``w``.
        """
        reach = 1e-5 * self.length

        def slope(x: np.ndarray) -> np.ndarray:
            ahead, behind = np.minimum(x + reach, self.length), np.maximum(x - reach, 0.0)
            return (sampled(w, ahead) - sampled(w, behind)) / (ahead - behind)

        whole = self._bending.interpolated(
            lambda x: sampled(w, x), slope if rotation is None else lambda x: sampled(rotation, x)
        )
        position = whole[self._kept]
        apart = np.abs(self._basis @ position - whole).max(initial=0.0)
        if apart > 1e-8 * max(np.abs(whole).max(initial=0.0), 1e-300):
            raise InvalidModel(
                f"the given shape violates the supports by {apart:.3g}; give one that satisfies them."
            )
        return position

    def _carried(self, direction: Any) -> np.ndarray:
        if direction is not None:
            raise InvalidModel("the base of a beam moves in the direction of w; leave the direction out.")
        translation = self._bending.interpolated(np.ones_like, np.zeros_like)
        return self._carried_with_supports(self._bending.mass, self._basis, self._kept, translation)

    def picture(self, until: float = 0.0) -> Picture:
        """The beam in the plane in which it bends."""
        return beam_picture(self)

    def _range(self, start: float, end: float | None) -> tuple[float, float]:
        last = self.length if end is None else float(end)
        if not 0.0 <= start < last <= self.length * (1 + 1e-12):
            raise InvalidModel(
                f"start is {start:g} m and end {last:g} m; expected 0 ≤ start < end ≤ {self.length:g} m."
            )
        return float(start), min(last, self.length)

    def _support_rows(self, supports: Mapping[float, str]) -> np.ndarray:
        rows = [np.zeros((0, self._bending.size))]
        for place, kind in supports.items():
            if kind not in SUPPORTS:
                raise InvalidModel(
                    f"the support at {place:g} m is {kind!r}; allowed are {', '.join(SUPPORTS)}."
                )
            for quantity in SUPPORTS[kind]:
                rows.append(self._bending.rows([place], QUANTITIES[quantity]).toarray())
        return np.vstack(rows)


def bending_of(
    mesh: LineMesh, degree: int, material: Material, section: Section, theory: str, *, lateral: bool = False
) -> Bending:
    """Bending of a prismatic line in the plane of w, or in the ``lateral`` one."""
    inertia = (
        section.required("lateral_second_moment", "a frame in space") if lateral else section.second_moment
    )
    line_mass, stiffness = material.density * section.area, material.young * inertia
    if theory == "euler-bernoulli":
        return BernoulliBending(mesh, degree, line_mass=line_mass, bending_stiffness=stiffness)
    if theory != "timoshenko":
        raise InvalidModel(f"theory is {theory!r}; allowed are 'timoshenko' and 'euler-bernoulli'.")
    shear_area = section.required("lateral_shear_area" if lateral else "shear_area", "a Timoshenko beam")
    return TimoshenkoBending(
        mesh,
        degree,
        line_mass=line_mass,
        rotary_inertia=material.density * inertia,
        bending_stiffness=stiffness,
        shear_stiffness=material.shear_modulus("a Timoshenko beam") * shear_area,
    )
