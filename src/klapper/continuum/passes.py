"""Energy, forces and stiffness of a body of one of the built-in laws, each in one compiled pass over its cells.

Laws of other classes are evaluated by :class:`klapper.continuum.solid.Solid` over arrays of all points at once; both
ways agree to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klapper.continuum.body import Pull
from klapper.continuum.kernels.passes import energies, force_pass, stiffness_pass
from klapper.continuum.pattern import Slots
from klapper.continuum.threads import shared


@dataclass(frozen=True, eq=False)
class Passes:
    """Cells and their law.

    ``cells``      (e, k) node numbers
    ``gradients``  ∇N (e, g, k, d) [1/m] and ``weights`` (e, g) [m³] at the quadrature points
    ``law``        (6,) [N/m²], see :func:`klapper.continuum.laws.coefficients`
    """

    cells: np.ndarray
    gradients: np.ndarray
    weights: np.ndarray
    law: np.ndarray

    def energy(self, position: np.ndarray) -> float:
        """V [J] at node positions (n, d) [m]."""
        found = np.empty(len(self.cells))
        shared(energies, len(found), *self._data, np.ascontiguousarray(position), found)
        return float(found.sum())

    def pull(self, before: np.ndarray, after: np.ndarray, mode: int, *, stiffness: bool) -> Pull:
        """Forces in a mode of :mod:`klapper.continuum.kernels.passes`; the stiffness is found when it is added up."""
        count, points, size, d = self.gradients.shape
        force = np.empty((count, size, d))
        first, second = np.ascontiguousarray(before), np.ascontiguousarray(after)
        shared(force_pass(points, size, d), count, *self._data, first, second, mode, force)
        matrices: Any = CellStiffness(self, first.copy(), second.copy(), mode) if stiffness else None
        return Pull(force.reshape(count, -1), matrices)

    @property
    def _data(self) -> tuple[np.ndarray, ...]:
        return self.cells, self.gradients, self.weights, self.law


@dataclass(frozen=True, eq=False)
class CellStiffness:
    """Element matrices (e, k d, k d) [N/m] of two configurations in a mode, times a factor: never stored."""

    passes: Passes
    before: np.ndarray
    after: np.ndarray
    mode: int
    factor: float = 1.0

    __array_ufunc__ = None

    @property
    def dimension(self) -> int:
        return self.passes.gradients.shape[3]

    def __mul__(self, factor: float) -> CellStiffness:
        return replace(self, factor=factor * self.factor)

    __rmul__ = __mul__

    def __neg__(self) -> CellStiffness:
        return replace(self, factor=-self.factor)

    def add_to(self, data: np.ndarray, slots: Slots) -> None:
        """Add them to the stored values of a matrix."""
        kernel = stiffness_pass(*self.passes.gradients.shape[1:])
        for turn in slots.turns:
            shared(
                kernel, len(turn), turn, *self.passes._data, self.before, self.after, self.mode, self.factor,
                slots.first, data, worth=2,
            )  # fmt: skip
