"""A hyperelastic body: energy, forces and stiffness over the positions of its nodes.

    V = ∫ W(C) dV,   f_A = ∂V/∂q_A = Σ_B (∫ ∇N_A · S ∇N_B dV) q_B                          Hesch (2.120), (2.132)

Between two configurations S becomes Ξ, the discrete gradient of W over the components of C, and q_B the mean of both:
then Σ f_A · Δq_A = ΔV, Σ f_A = 0 and Σ q_A × f_A = 0 hold exactly, for every law.               (2.192)
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from klapper.continuum.body import Body, Pull
from klapper.continuum.kernels import cells as kernels
from klapper.continuum.kernels.passes import BETWEEN, MEAN, PLAIN
from klapper.continuum.laws import MaterialLaw, PlaneStress, coefficients
from klapper.continuum.mesh import Mesh
from klapper.continuum.passes import Passes
from klapper.continuum.stated_laws import stated
from klapper.continuum.threads import shared
from klapper.continuum.voigt import from_stress_like
from klapper.mechanics.arguments import number
from klapper.mechanics.discrete_gradient import discrete_gradient, discrete_gradient_slope
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Part


class Solid(Body):
    """A body made of one law, V = ∫ W(C) dV.

    ``name``       by which loads, supports and interfaces know it
    ``mesh``       in its reference configuration, free of stress
    ``law``        e.g. ``NeoHooke(young, poisson)``
    ``density``    ρ₀ [kg/m³]
    ``thickness``  [m] of a body in the plane
    ``plane``      "strain" (default) or "stress" for bodies in the plane

    >>> from klapper.continuum import SaintVenantKirchhoff, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), SaintVenantKirchhoff(100.0, 0.0), density=1.0)
    >>> round(bar.energy(bar.mesh.nodes * [1.1, 1.0]), 6)  # ½ E ((λ² − 1)/2)² L A
    1.1025
    """

    mesh: Mesh

    def __init__(
        self,
        name: str,
        mesh: Mesh,
        law: MaterialLaw,
        *,
        density: float,
        thickness: float = 1.0,
        plane: Literal["strain", "stress"] = "strain",
    ) -> None:
        if not isinstance(law, MaterialLaw):
            raise InvalidModel(f"the law of '{name}' is {law!r}; expected e.g. NeoHooke(young, poisson).")
        if plane not in ("strain", "stress"):
            raise InvalidModel(f"plane is {plane!r}; allowed are 'strain' and 'stress'.")
        self.name, self.mesh = name, mesh
        self.law: MaterialLaw = PlaneStress(law) if plane == "stress" and mesh.dimension == 2 else law
        self.density = number(density, "density", "numbers above 0, in kg/m³", above=0.0)
        self.thickness = number(thickness, "thickness", "numbers above 0, in m", above=0.0)
        self._gradients, self._weights = self._reference()
        law_coefficients = coefficients(self.law)
        self._passes = (
            None
            if law_coefficients is None
            else Passes(mesh.cells, self._gradients, self._weights, law_coefficients)
        )

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.density * self.mesh.volume * (self.thickness if self.dimension == 2 else 1.0)

    def energy(self, position: np.ndarray) -> float:
        """V [J] at node positions (n, d) [m]."""
        if self._passes is not None:
            return self._passes.energy(position)
        density = self.law.energy(_flat(self._metric(position)))
        return float(np.sum(density * self._weights.ravel()))

    def least_volume(self, position: np.ndarray) -> float:
        """Smallest det F; what is not above zero is turned inside out."""
        return float(np.linalg.det(self.deformation(position)).min())

    def pull(self, position: np.ndarray, *, stiffness: bool = False) -> Pull:
        """∂V/∂q of every cell, and ∂²V/∂q² on request."""
        if self._passes is not None:
            return self._passes.pull(position, position, PLAIN, stiffness=stiffness)
        gradient = self.deformation(position)
        strain = _metric(gradient)
        stress = self.law.stress(_flat(strain)).reshape(strain.shape)
        tangent = self.law.tangent(_flat(strain)) if stiffness else None
        return self._assembled(gradient, gradient, stress, tangent, 1.0)

    def pull_between(self, before: np.ndarray, after: np.ndarray, *, stiffness: bool = False) -> Pull:
        """The discrete gradient of V between two configurations, and its derivative by the second one."""
        if self._passes is not None:
            return self._passes.pull(before, after, BETWEEN, stiffness=stiffness)
        first, second = self.deformation(before), self.deformation(after)
        c0, c1 = _flat(_metric(first)), _flat(_metric(second))
        mean, change = 0.5 * (c0 + c1), c1 - c0
        w0, w1, slope = self.law.energy(c0), self.law.energy(c1), 0.5 * self.law.stress(mean)
        stress = 2.0 * discrete_gradient(w0, w1, slope, change)
        tangent = None
        if stiffness:
            curvature = 0.25 * self.law.tangent(mean)
            tangent = 4.0 * discrete_gradient_slope(
                w0, w1, slope, 0.5 * self.law.stress(c1), curvature, change
            )
        shape = (*first.shape[:2], c0.shape[1])
        return self._assembled(0.5 * (first + second), second, stress.reshape(shape), tangent, 0.5)

    def pull_at_mean(self, before: np.ndarray, after: np.ndarray, *, stiffness: bool = False) -> Pull:
        """∂V/∂q at the mean of two configurations (midpoint rule), and its derivative by the second one."""
        if self._passes is not None:
            return self._passes.pull(before, after, MEAN, stiffness=stiffness)
        return super().pull_at_mean(before, after, stiffness=stiffness)

    def mass(self, *, lumped: bool = False) -> np.ndarray:
        """Element matrices (e, k d, k d) [kg]; ``lumped``: their diagonals, scaled to the mass of the element."""
        points, weights = self.mesh.element.mass
        values = self.mesh.element.values(points)
        factor = self.density * (self.thickness if self.dimension == 2 else 1.0)
        weight = factor * self.mesh.jacobians(points)[1] * weights
        matrix = np.einsum("eg,ga,gb->eab", weight, values, values)
        if lumped:
            diagonal = np.einsum("eaa->ea", matrix)
            diagonal = diagonal * (matrix.sum(axis=(1, 2)) / diagonal.sum(axis=1))[:, None]
            matrix = diagonal[:, :, None] * np.eye(matrix.shape[1])
        return np.kron(matrix, np.eye(self.dimension)[None])

    def volume_load(self) -> np.ndarray:
        """∫ N_A dV (n,) [m³]: a force density (d,) times it is the load on each node."""
        points, weights = self.mesh.element.mass
        thickness = self.thickness if self.dimension == 2 else 1.0
        share = thickness * np.einsum(
            "eg,ga->ea", self.mesh.jacobians(points)[1] * weights, self.mesh.element.values(points)
        )
        return np.bincount(self.mesh.cells.ravel(), share.ravel(), minlength=len(self.mesh.nodes))

    def deformation(self, position: np.ndarray) -> np.ndarray:
        """F (e, g, d, d) at the quadrature points."""
        count, points, _, d = self._gradients.shape
        found = np.empty((count, points, d, d))
        shared(
            kernels.deformation,
            count,
            self.mesh.cells,
            self._gradients,
            np.ascontiguousarray(position),
            found,
        )
        return found

    def cauchy_stress(self, position: np.ndarray) -> np.ndarray:
        """σ (e, g, 3, 3) [N/m²] at the quadrature points, with the stress across the plane."""
        gradient = self.deformation(position)
        strain = _flat(_metric(gradient))
        if self.dimension == 2:
            full = self.law.in_space(strain)
            stress = from_stress_like(self.law.of_space.stress(full))
            space = np.zeros((*gradient.shape[:2], 3, 3))
            space[..., :2, :2] = gradient
            space[..., 2, 2] = np.sqrt(full[:, 2]).reshape(gradient.shape[:2])
        else:
            stress, space = from_stress_like(self.law.stress(strain)), gradient
        stress = stress.reshape(*space.shape[:2], 3, 3)
        return np.einsum("egij,egjk,eglk->egil", space, stress, space) / np.linalg.det(space)[..., None, None]

    def von_mises(self, position: np.ndarray) -> np.ndarray:
        """(e, g) [N/m²] at the quadrature points."""
        stress = self.cauchy_stress(position)
        part = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
        return np.sqrt(1.5 * np.sum(part**2, axis=(-2, -1)))

    def at_nodes(self, values: np.ndarray) -> np.ndarray:
        """(n,): means over the cells around each node of values (e, g) at the quadrature points."""
        cell = np.repeat(values.mean(axis=1)[:, None], self.mesh.cells.shape[1], axis=1)
        count = np.bincount(self.mesh.cells.ravel(), minlength=len(self.mesh.nodes))
        return np.bincount(self.mesh.cells.ravel(), cell.ravel(), minlength=len(self.mesh.nodes)) / count

    def part(self, first: int) -> Part:
        """What is seen of the body, whose coordinates begin with the number ``first``: its mesh, with its law."""
        mesh = self.mesh
        return Part(
            self.name,
            "mesh",
            mesh.nodes,
            mesh.cells,
            first=first,
            element=mesh.element.name,
            law=stated(self.law),
        )

    def __repr__(self) -> str:
        return f"Solid('{self.name}', {self.mesh!r}, {self.law!r})"

    def _metric(self, position: np.ndarray) -> np.ndarray:
        return _metric(self.deformation(position))

    def _reference(self) -> tuple[np.ndarray, np.ndarray]:
        """∇N (e, g, k, d) and weights (e, g) in the reference configuration."""
        points, weights = self.mesh.element.stiffness
        jacobian, volume = self.mesh.jacobians(points)
        gradients = np.einsum("gka,egai->egki", self.mesh.element.gradients(points), np.linalg.inv(jacobian))
        thickness = self.thickness if self.dimension == 2 else 1.0
        return np.ascontiguousarray(gradients), thickness * volume * weights

    def _assembled(
        self,
        left: np.ndarray,
        right: np.ndarray,
        stress: np.ndarray,
        tangent: np.ndarray | None,
        share: float,
    ) -> Pull:
        count, _, size, d = self._gradients.shape
        force = np.empty((count, size, d))
        shared(kernels.forces, count, left, stress, self._gradients, self._weights, force)
        if tangent is None:
            return Pull(force.reshape(count, -1), None)
        v = stress.shape[2]
        full = np.ascontiguousarray(tangent).reshape(*stress.shape[:2], v, v)
        matrix = np.empty((count, size * d, size * d))
        shared(
            kernels.stiffness, count, left, right, stress, full, self._gradients, self._weights, share, matrix
        )
        return Pull(force.reshape(count, -1), matrix)


def _metric(gradient: np.ndarray) -> np.ndarray:
    """π (e, g, v) of F (e, g, d, d)."""
    count, points, d, _ = gradient.shape
    found = np.empty((count, points, d * (d + 1) // 2))
    shared(kernels.metric, count, gradient, found)
    return found


def _flat(components: np.ndarray) -> np.ndarray:
    """(e g, v)."""
    return components.reshape(-1, components.shape[-1])
