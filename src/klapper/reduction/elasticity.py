"""Undamped modes and static response of a structure with its two-sided constraints held.

    K φ = ω² M φ,   φᵀ M φ = 1                                                   Waltersberger (5.40)-(5.43)
    F = K⁺: static response; F₂ = F − Σ φ φᵀ/ω² over the kept elastic modes: static response of all the others

A free structure has rigid modes R (ω = 0). K⁺ is then P K⁻ Pᵀ with P = 1 − R RᵀM: inertia carries the rigid part of the
load, and the response has no rigid part (inertia relief). K⁻ is the inverse with as many coordinates held as there are
rigid modes: since relieved loads are in equilibrium, those supports carry nothing. One sparse factor serves all loads.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.complementarity.dense import dense
from klapper.mechanics import InvalidModel, LinearSystem
from klapper.mechanics.eigenmodes import Modes, lowest_modes
from klapper.reduction.supports import Supports

_AT_ONCE = 64  # loads that are solved together
_BACKWARD = (
    64 * np.finfo(float).eps
)  # of the terms of an equation: a residual that refinement could not lower
_NOTHING = 1e-12  # share of a flexibility that counts as none


class Elasticity:
    """M and K (n, n) of a structure, with what follows from them alone.

    ``constraints``  directions J_B (n, p) that are held
    ``rigid``        mass-normalised rigid modes (n, r) if they are known
    """

    def __init__(
        self, mass: Any, stiffness: Any, constraints: Any = None, rigid: np.ndarray | None = None
    ) -> None:
        n = mass.shape[0]
        self.size = n
        self.supports = Supports(sparse.csc_array((n, 0)) if constraints is None else constraints)
        self.full_stiffness = sparse.csr_array((n, n)) if stiffness is None else sparse.csr_array(stiffness)
        self.full_mass = sparse.csr_array(mass)
        self.mass = self.supports.held(self.full_mass)
        self.stiffness = self.supports.held(self.full_stiffness)
        self._known: Modes | None = None
        if rigid is not None:
            self.rigid = self.supports.read(rigid)

    @classmethod
    def of(cls, system: LinearSystem) -> Elasticity:
        return cls(system.mass_matrix, system.stiffness, system.constraint_matrix)

    def modes(self, count: int) -> Modes:
        """The ``count`` lowest modes, shapes (n, count)."""
        found = self._modes(count)
        return Modes(found.squares, self.supports.spread(found.shapes))

    def _modes(self, count: int) -> Modes:
        n = self.mass.shape[0]
        if not (isinstance(count, int | np.integer) and 1 <= count <= n):
            raise InvalidModel(
                f"the number of modes is {count!r}; allowed are whole numbers from 1 to {n}, those of the structure."
            )
        if self._known is None or len(self._known) < count:
            self._known = lowest_modes(self.mass, self.stiffness, int(count), least=-np.inf)
        return self._known.of(slice(int(count)))

    @cached_property
    def rigid(self) -> np.ndarray:
        """All rigid modes of the constrained structure, in its free coordinates."""
        count, n = 8, self.mass.shape[0]
        known = self._known
        while known is None or (np.all(known.squares <= 0.0) and len(known) < n):
            known = self._modes(min(count, n))
            count *= 2
        return known.shapes[:, known.squares == 0.0]

    def respond(self, loads: Any) -> np.ndarray:
        """K⁺ f: static displacements (n, k) by loads (n, k), or (n,) by (n,)."""
        if loads.ndim == 1:
            return self.respond(loads[:, None])[:, 0]
        answer = np.empty(loads.shape)
        for part in _chunks(loads.shape[1]):
            answer[:, part] = self._respond(dense(loads[:, part]))
        return answer

    def flexibility(self, loads: Any) -> np.ndarray:
        """fᵀ K⁺ f (k,) [m/N] for unit loads (n, k), without keeping the responses."""
        answer = np.empty(loads.shape[1])
        for part in _chunks(loads.shape[1]):
            columns = dense(loads[:, part])
            answer[part] = np.einsum("ij,ij->j", columns, self._respond(columns))
        return answer

    def deforms(self, load: np.ndarray) -> bool:
        """Whether inertia alone does not carry a load (n,), as it does the weight of a free structure."""
        force = self.supports.gathered(load[:, None])
        rest = force - self.mass @ self.rigid @ (self.rigid.T @ force)
        return bool(np.linalg.norm(rest) > np.sqrt(_NOTHING) * np.linalg.norm(force))

    @cached_property
    def support_shapes(self) -> np.ndarray:
        """Static shapes (n, r) of unit displacements of the constraints."""
        given = self.supports.given
        return given - self.respond(self.full_stiffness @ given) if given.shape[1] else given

    def _respond(self, loads: np.ndarray) -> np.ndarray:
        rigid, inertia = self.rigid, self.mass @ self.rigid
        forces = self.supports.gathered(np.asarray(loads, dtype=float))
        forces = forces - inertia @ (rigid.T @ forces)
        free, factor = self._factor
        answer = np.zeros(forces.shape)
        if len(free):
            answer[free] = factor.solve(np.ascontiguousarray(forces[free]))
            rest = forces - self.stiffness @ answer
            terms = np.abs(forces) + self._sizes @ np.abs(answer)
            if np.any(np.abs(rest[free]) > _BACKWARD * terms[free]):
                answer[free] += factor.solve(np.ascontiguousarray(rest[free]))
        answer -= rigid @ (inertia.T @ answer)
        return self.supports.spread(answer)

    @cached_property
    def _sizes(self) -> Any:
        """|K|."""
        return abs(self.stiffness)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, Any]:
        """Coordinates that stay free when rigid motion is held, and the factor of their stiffness."""
        n, r = self.rigid.shape
        free = np.arange(n)
        if r:
            weight = np.sqrt(self.mass.diagonal())
            order = scipy.linalg.qr((weight[:, None] * self.rigid).T, mode="r", pivoting=True)[1]
            free = np.setdiff1d(free, order[:r])
        if not len(free):
            return free, None
        matrix = sparse.csc_array(self.stiffness[free][:, free])
        try:
            return free, splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.1)
        except RuntimeError:
            raise InvalidModel(
                "the stiffness is singular beyond rigid motion; check the structure for parts without stiffness."
            ) from None


def residual_response(kept: Modes, loads: Any, response: np.ndarray) -> np.ndarray:
    """F₂ f from F f (n, k): without what the kept modes carry. Rigid modes carry nothing in F."""
    elastic = kept.of(kept.squares != 0.0)
    carried = (elastic.shapes.T @ loads) / elastic.squares[:, None]
    return response - elastic.shapes @ carried


def independent_shapes(elastic: Elasticity, kept: Modes, loads: Any) -> Modes:
    """The static responses to ``loads`` (n, k) beyond the kept modes, as pseudo-modes.

    They are orthonormal in mass, diagonal in stiffness and orthogonal to the kept modes. Shapes that repeat others are
    dropped; what is lost of the flexibility is below 1e-12.
    """
    if loads.shape[1] == 0:
        return Modes(np.zeros(0), np.zeros((elastic.size, 0)))
    response = elastic.respond(loads)
    whole = np.einsum("ij,ij->j", dense(loads), response)
    shapes = residual_response(kept, loads, response)
    energy = shapes.T @ (elastic.full_stiffness @ shapes)
    size = np.sqrt(np.maximum(np.diag(energy), 0.0))
    there = size**2 > _NOTHING * np.abs(whole)
    shapes, size = shapes[:, there], size[there]
    values, vectors = np.linalg.eigh(energy[np.ix_(there, there)] / np.outer(size, size))
    use = values > _NOTHING * values.max(initial=0.0)
    pseudo = Modes(values[use], shapes @ (vectors[:, use] / (size[:, None] * np.sqrt(values[use]))))
    for _ in range(2):  # the second time removes the rounding that near-dependent shapes had blown up
        pseudo = _diagonalised(elastic, kept, pseudo.shapes)
    return pseudo


def _diagonalised(elastic: Elasticity, kept: Modes, shapes: np.ndarray) -> Modes:
    """Shapes of the same span, orthogonal to the kept modes, as modes of the structure within that span."""
    shapes = shapes - kept.shapes @ (kept.shapes.T @ (elastic.full_mass @ shapes))
    inertia = shapes.T @ (elastic.full_mass @ shapes)
    energy = shapes.T @ (elastic.full_stiffness @ shapes)
    values, turned = scipy.linalg.eigh(inertia + inertia.T, energy + energy.T)
    values, turned = values[::-1], turned[:, ::-1]
    found = shapes @ turned
    return Modes(1.0 / values, found / np.sqrt(np.einsum("ij,ij->j", found, elastic.full_mass @ found)))


def _chunks(count: int) -> list[slice]:
    return [slice(first, min(first + _AT_ONCE, count)) for first in range(0, count, _AT_ONCE)]
