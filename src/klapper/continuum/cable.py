"""Cables and trusses at large strains: straight lines that only resist a change of their length.

    V = Σ L (N₀ E + ½ EA E²),   E = ½ (l²/L² − 1),   S = N₀ + EA E,   N = S l/L

S is the force per reference length, N the one that acts along the line. V is quadratic in the only invariant l², so
that the mean of S at both ends of a step is the difference quotient of V, Hesch (3.64). Lines also bear compression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.continuum.body import Body, Pull
from klapper.continuum.line_mesh import LineMesh
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel


class Cable(Body):
    """A cable or a truss: tension N = N₀ λ + E A ½ (λ² − 1) λ at the stretch λ.

    ``name``        by which loads, supports and interfaces know it
    ``mesh``        its lines, e.g. ``circle(radius, cells)``
    ``young``       E [N/m²]; ``density`` ρ₀ [kg/m³]
    ``area``        A [m²] of the cross-section, one number or one per line (e,)
    ``pretension``  N₀ [N] along the lines in the reference configuration
    ``thickness``   [m], width on which pressure acts in the plane

    >>> from klapper.continuum import polyline
    >>> rope = Cable("rope", polyline([(0, 0), (2, 0)]), young=1000.0, area=0.1, density=1.0)
    >>> rope.tension(rope.mesh.nodes * 1.1).round(6)  # EA ½ (λ² − 1) λ
    array([11.55])
    """

    mesh: LineMesh

    def __init__(
        self,
        name: str,
        mesh: LineMesh,
        *,
        young: float,
        area: Any,
        density: float,
        pretension: float = 0.0,
        thickness: float = 1.0,
    ) -> None:
        if not isinstance(mesh, LineMesh):
            raise InvalidModel(
                f"the mesh of cable '{name}' is {mesh!r}; expected a LineMesh, e.g. circle(…)."
            )
        self.name, self.mesh = name, mesh
        self.young = number(young, "young", "numbers above 0, in N/m²", above=0.0)
        self.area = _areas(area, len(mesh.cells))
        self.density = number(density, "density", "numbers above 0, in kg/m³", above=0.0)
        self.pretension = number(pretension, "pretension", "numbers, in N")
        self.thickness = number(thickness, "thickness", "numbers above 0, in m", above=0.0)

    @property
    def axial_stiffness(self) -> np.ndarray:
        """EA (e,) [N]."""
        return self.young * self.area

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.density * float(self.area @ self.mesh.lengths)

    def stretch(self, position: np.ndarray) -> np.ndarray:
        """l/L (e,) at node positions (n, d) [m]."""
        return np.linalg.norm(self._span(position), axis=1) / self.mesh.lengths

    def tension(self, position: np.ndarray) -> np.ndarray:
        """N (e,) [N] along the lines."""
        return self._force_per_length(self._strain(position)) * self.stretch(position)

    def energy(self, position: np.ndarray) -> float:
        strain = self._strain(position)
        return float(self.mesh.lengths @ (strain * (self.pretension + 0.5 * self.axial_stiffness * strain)))

    def least_volume(self, position: np.ndarray) -> float:
        """Smallest l/L."""
        return float(self.stretch(position).min())

    def pull(self, position: np.ndarray, *, stiffness: bool = False) -> Pull:
        span, force = self._span(position), self._force_per_length(self._strain(position))
        return self._assembled(span, span, force, 1.0, stiffness)

    def pull_between(self, before: np.ndarray, after: np.ndarray, *, stiffness: bool = False) -> Pull:
        first, second = self._span(before), self._span(after)
        force = self._force_per_length(0.5 * (self._strain(before) + self._strain(after)))
        return self._assembled(0.5 * (first + second), second, force, 0.5, stiffness)

    def mass(self, *, lumped: bool = False) -> np.ndarray:
        shares = np.array([[3.0, 0.0], [0.0, 3.0]]) if lumped else np.array([[2.0, 1.0], [1.0, 2.0]])
        weight = self.density * self.area * self.mesh.lengths / 6.0
        return weight[:, None, None] * np.kron(shares, np.eye(self.dimension))

    def volume_load(self) -> np.ndarray:
        half = np.repeat(0.5 * self.area * self.mesh.lengths, 2)
        return np.bincount(self.mesh.cells.ravel(), half, minlength=len(self.mesh.nodes))

    def __repr__(self) -> str:
        return f"Cable('{self.name}', {self.mesh!r}, EA up to {self.axial_stiffness.max():g} N)"

    def _span(self, position: np.ndarray) -> np.ndarray:
        """From the first to the second node (e, d) [m]."""
        return position[self.mesh.cells[:, 1]] - position[self.mesh.cells[:, 0]]

    def _strain(self, position: np.ndarray) -> np.ndarray:
        return 0.5 * (np.sum(self._span(position) ** 2, axis=1) / self.mesh.lengths**2 - 1.0)

    def _force_per_length(self, strain: np.ndarray) -> np.ndarray:
        return self.pretension + self.axial_stiffness * strain

    def _assembled(
        self, left: np.ndarray, right: np.ndarray, force: np.ndarray, share: float, stiffness: bool
    ) -> Pull:
        """f = S/L (−d, d) and its derivative, share (S/L 1 + EA/L³ d ⊗ d'), d = ``left``, d' = ``right``."""
        length, signs = self.mesh.lengths, np.array([-1.0, 1.0])
        vector = (force / length)[:, None] * left
        push = (signs[None, :, None] * vector[:, None, :]).reshape(len(length), -1)
        if not stiffness:
            return Pull(push, None)
        outer = left[:, :, None] * right[:, None, :]
        inner = (force / length)[:, None, None] * np.eye(self.dimension)
        inner = share * (inner + (self.axial_stiffness / length**3)[:, None, None] * outer)
        return Pull(push, np.kron(np.outer(signs, signs), inner))


def _areas(given: Any, count: int) -> np.ndarray:
    """(e,) [m²]."""
    area = finite(given, "area")
    if area.shape not in ((), (count,)) or area.min() <= 0.0:
        raise InvalidModel(f"area is {given!r}; allowed are numbers above 0, in m², one or {count} of them.")
    return np.full(count, area)
