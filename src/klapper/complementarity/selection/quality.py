"""Seiwald's quality functional for any number of dependent forces: a convex program in two stages.

    1.  min z = v̇ᵀ P v̇,   M v̇ = h + W x,   over the admissible forces x                Seiwald (4.14), (4.41)
    2.  min xᵀx   over all x with this least z

Ansatz 1: P = 1. Ansatz 2: P = M M, so that z = |h + W x|². Ansatz 3: tangential accelerations of the contacts,
z = Σ w_i |a_i|² + 2 l_i · a_i with a_i = W_Tiᵀ v̇, which is (ẍ)² for the block of the source and does not depend on the
choice of coordinates. For two contacts with one common direction this is what the case tables C.1-C.4 do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.selection.force_set import ForceSet
from klapper.complementarity.selection.least_squares import MinimumNorm
from klapper.complementarity.selection.reading import as_matrix
from klapper.complementarity.selection.rule import Selection, by_force, chosen


@dataclass(frozen=True)
class QualityFunctional:
    """The forces that accelerate least, and of these the smallest.

    Assumes that a system which may rest rests, in the sense of the functional; P weighs the coordinates and has no
    physical meaning beyond that (with P = M it is Gauss' principle, for which friction at given limits is exact).
    Where all members move the system the same way the first stage has no choice and only the second decides. Sets of
    forces that move the system differently need ``mass`` and ``load``; without them the minimum norm is used, and the
    note says so.

    ``ansatz``           1, 2 or 3, see the module's docstring
    ``contact_weights``  w of Ansatz 3, numbers from 0 on: one, one for each force, or a mapping from names of forces
    ``contact_linear``   l of Ansatz 3 [m/s²], the same: −l/w is the acceleration at which a contact's part is least
    ``weight``           P (n, n), positive semidefinite, in place of an ansatz

    A mass of 1 kg under 2 N rubs at two feet that hold 0.5 N and 3 N: it rests, with the smallest such forces:

    >>> feet = ForceSet.from_arrays([0.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[0.5, 3.0],
    ...     held=np.zeros((0, 2)), mass=[[1.0]], load=[2.0])
    >>> QualityFunctional().select(feet).forces.round(9).tolist()
    [-0.5, -1.5]

    It may also be asked to accelerate with 1 m/s²:

    >>> QualityFunctional(3, contact_linear=-1.0).select(feet).forces.round(9).tolist()
    [-0.5, -0.5]
    """

    ansatz: Literal[1, 2, 3] = 2
    weight: Any = None
    contact_weights: Any = 1.0
    contact_linear: Any = 0.0

    def __post_init__(self) -> None:
        if self.ansatz not in (1, 2, 3):
            raise InvalidProblem(f"ansatz is {self.ansatz!r}; allowed are 1, 2 and 3.")
        own = self.ansatz == 3 and self.weight is None
        for argument, plain in (("contact_weights", 1.0), ("contact_linear", 0.0)):
            given = getattr(self, argument)
            entries = np.asarray(list(given.values()) if isinstance(given, dict) else given, dtype=float)
            if not np.all(np.isfinite(entries)) or (plain and np.any(entries < 0.0)):
                kind = "finite numbers from 0 on" if plain else "finite numbers"
                raise InvalidProblem(f"{argument} is {given!r}; allowed are {kind}.")
            if not own and np.any(entries != plain):
                raise InvalidProblem(
                    f"{argument} belongs to ansatz 3; leave it out, or take QualityFunctional(3)."
                )
        if self.weight is not None:
            matrix = np.asarray(self.weight, dtype=float)
            square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and np.all(np.isfinite(matrix))
            if not square or np.linalg.eigvalsh(matrix + matrix.T).min() < -1e-12 * np.abs(matrix).max():
                raise InvalidProblem(
                    f"weight has shape {matrix.shape}; it must be a square, symmetric, positive semidefinite matrix of "
                    f"finite numbers."
                )

    @property
    def name(self) -> str:
        return f"quality functional, ansatz {self.ansatz}" if self.weight is None else "quality functional"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        if forces.motion_unique:
            only = MinimumNorm().select(forces)
            return Selection(only.forces, self.name, only.exact)
        if forces.load is None or forces.mass is None:
            other = MinimumNorm().select(forces)
            return Selection(
                other.forces,
                self.name,
                other.exact,
                "the set of forces has no mass and load to compute accelerations: the minimum norm was used",
            )
        root, offset = self.residual(forces)
        face = forces.face
        t = face.least_squares(root @ face.null, offset + root @ face.point)
        best = face.through(t, root)
        smallest = best.at(best.nearest(np.zeros(forces.size), np.ones(forces.size)))
        return chosen(forces, smallest, self.name)

    def residual(self, forces: ForceSet) -> tuple[np.ndarray, np.ndarray]:
        """(R, d) with z = |R x + d|²: R (p, r), d (p,)."""
        assert forces.mass is not None and forces.load is not None
        by_force, free = forces.directions, forces.load
        if self.weight is None and self.ansatz == 2:
            return by_force, free
        response = np.linalg.solve(forces.mass, np.column_stack([by_force, free]))
        if self.weight is None and self.ansatz == 3:
            return self._of_contacts(forces, response)
        if self.weight is None:
            return response[:, :-1], response[:, -1]
        matrix = as_matrix(self.weight, "weight", len(response))
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return root @ response[:, :-1], root @ response[:, -1]

    def _of_contacts(self, forces: ForceSet, response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for tangential accelerations: √w a + l/√w, whose square is w a² + 2 l a but for a constant."""
        rows = forces.patches.ravel()
        weights = by_force(self.contact_weights, forces, "contact_weights", 1.0)[rows]
        linear = by_force(self.contact_linear, forces, "contact_linear", 0.0)[rows]
        if np.any((weights == 0.0) & (linear != 0.0)):
            worst = forces.names[rows[int(np.argmax((weights == 0.0) & (linear != 0.0)))]]
            raise InvalidProblem(
                f"contact_weights is 0 and contact_linear is not at '{worst}': there is no least value; give a weight "
                f"above 0."
            )
        root = np.sqrt(weights)
        acceleration = root[:, None] * (forces.directions[:, rows].T @ response)
        shift = np.divide(linear, root, out=np.zeros(len(rows)), where=root > 0.0)
        return acceleration[:, :-1], acceleration[:, -1] + shift
