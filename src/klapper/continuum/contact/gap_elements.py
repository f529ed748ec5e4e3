"""Gaps and slips that are sums over small elements, each a function of invariants of a few nodes.

    g_k(q) = Σ_e w_e φ_e(π(x_e))                                                            Hesch (5.10), (5.25)
    ∇̄g_k  = Σ_e w_e ∇π(x̄_e)ᵀ ∇̄φ_e(π⁰, π¹),   ∇̄g_k · Δq = g_k(q¹) − start_k                  (3.45), (3.46), (3.63)

x̄ is the mean of two configurations. With start = g(q⁰) a constant gap does no work; with start = 0 a gap that closes
does none either. Everything is summed into sparse matrices over all coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.contact.invariants import (
    Expansion,
    InvariantFunctions,
    invariant_gradients,
    invariants as invariants_of,
)
from klapper.mechanics.discrete_gradient import discrete_gradient, discrete_gradient_slope

_KEPT = 3  # configurations: the beginning of a step, its end, and the one before


@dataclass(frozen=True, eq=False)
class GapElements:
    """E elements with f functions each, over ``size`` coordinates, that add up to ``count`` gaps.

    ``functions``  what each element computes from its invariants
    ``places``     (E, s) coordinates of the nodes
    ``owner``      (E, f) number of the gap that each function belongs to
    ``weight``     (E, f)
    ``scale``      [m] lengths are measured in, so that invariants are of the order of one
    """

    functions: InvariantFunctions
    places: np.ndarray
    owner: np.ndarray
    weight: np.ndarray
    size: int
    count: int
    scale: float
    _known: dict[bytes, Expansion] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _forms(self) -> np.ndarray:
        return self.functions.forms / self.scale**2

    def value(self, q: np.ndarray) -> np.ndarray:
        """(count,)."""
        return self._summed(self.parts(q))

    def parts(self, q: np.ndarray) -> np.ndarray:
        """w φ (E, f)."""
        return self.weight * self._expanded(self.invariants(q)).value

    def slope(self, q: np.ndarray) -> sparse.csc_array:
        """∂g/∂q (n, count)."""
        found = self._expanded(self.invariants(q))
        return self._columns(found.gradient, self._gradients(q))

    def hessian(self, q: np.ndarray, factor: np.ndarray) -> sparse.csr_array:
        """Σ_k factor_k ∂²g_k/∂q² (n, n)."""
        found = self.functions.expand(self.invariants(q), curved=True)
        gradients = self._gradients(q)
        weight = self.weight * factor[self.owner]
        assert found.curvature is not None
        inner = np.einsum("ef,efij->eij", weight, found.curvature)
        outer = np.einsum("ef,efi->ei", weight, found.gradient)
        return self._matrix(inner, outer, gradients, gradients)

    def push(
        self, before: np.ndarray, after: np.ndarray, start: np.ndarray | None = None
    ) -> sparse.csc_array:
        """∇̄g (n, count) between two configurations; ``start`` (count,) is g(before) if not given."""
        step = self._between(before, after, start, curved=False)
        gradient = discrete_gradient(step.first, step.second, step.slope, step.change[:, None, :])
        return self._columns(gradient, self._gradients(0.5 * (before + after)))

    def push_slope(
        self, before: np.ndarray, after: np.ndarray, factor: np.ndarray, start: np.ndarray | None = None
    ) -> sparse.csr_array:
        """Σ_k factor_k ∂∇̄g_k/∂after (n, n), not symmetric.                         Hesch (B.20), (B.32), corrected"""
        step = self._between(before, after, start, curved=True)
        assert step.curvature is not None
        change = step.change[:, None, :]
        gradient = discrete_gradient(step.first, step.second, step.slope, change)
        curvature = discrete_gradient_slope(
            step.first, step.second, step.slope, step.end, step.curvature, change
        )
        weight = self.weight * factor[self.owner]
        inner = np.einsum("ef,efij->eij", weight, curvature)
        outer = 0.5 * np.einsum("ef,efi->ei", weight, gradient)
        middle = self._gradients(0.5 * (before + after))
        return self._matrix(inner, outer, middle, self._gradients(after))

    def invariants(self, q: np.ndarray) -> np.ndarray:
        """π (E, m), lengths in units of the scale."""
        return invariants_of(self._forms, q[self.places])

    def _gradients(self, q: np.ndarray) -> np.ndarray:
        return invariant_gradients(self._forms, q[self.places])

    def _between(
        self, before: np.ndarray, after: np.ndarray, start: np.ndarray | None, *, curved: bool
    ) -> _Between:
        p0, p1 = self.invariants(before), self.invariants(after)
        f0, f1 = self._expanded(p0).value, self._expanded(p1)
        mean = self.functions.expand(0.5 * (p0 + p1), curved=curved)
        if start is not None:  # what a gap starts from beside its value is shared by its elements
            shift = (start - self._summed(self.weight * f0)) / np.maximum(self._elements_of_gap, 1)
            f0 = f0 + shift[self.owner] / self.weight
        return _Between(f0, f1.value, mean.gradient, f1.gradient, mean.curvature, p1 - p0)

    def _expanded(self, invariants: np.ndarray) -> Expansion:
        """Values and gradients; those of the last invariants are kept: gaps, slopes and pushes ask for the same."""
        key = invariants.tobytes()
        if key not in self._known:
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = self.functions.expand(invariants, curved=False)
        return self._known[key]

    @cached_property
    def _elements_of_gap(self) -> np.ndarray:
        return np.bincount(self.owner.ravel(), minlength=self.count)

    def _summed(self, parts: np.ndarray) -> np.ndarray:
        return np.bincount(self.owner.ravel(), parts.ravel(), minlength=self.count)

    def _columns(self, gradient: np.ndarray, gradients: np.ndarray) -> sparse.csc_array:
        """Σ_e w ∇πᵀ ∇φ (n, count)."""
        entries = self.weight[:, :, None] * (gradient @ gradients)
        rows = np.broadcast_to(self.places[:, None, :], entries.shape)
        columns = np.broadcast_to(self.owner[:, :, None], entries.shape)
        return sparse.coo_array(
            (entries.ravel(), (rows.ravel(), columns.ravel())), shape=(self.size, self.count)
        ).tocsc()

    def _matrix(
        self, inner: np.ndarray, outer: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> sparse.csr_array:
        """Σ_e ∇π(left)ᵀ inner ∇π(right) + Σ_m outer_m H_m."""
        entries = left.swapaxes(1, 2) @ (inner @ right)
        entries += np.tensordot(outer, self._forms, axes=1)
        rows = np.broadcast_to(self.places[:, :, None], entries.shape)
        columns = np.broadcast_to(self.places[:, None, :], entries.shape)
        return sparse.coo_array(
            (entries.ravel(), (rows.ravel(), columns.ravel())), shape=(self.size, self.size)
        ).tocsr()


@dataclass(frozen=True, eq=False)
class _Between:
    """Functions before and after (E, f), slopes at the mean of the invariants and after (E, f, m), curvatures there."""

    first: np.ndarray
    second: np.ndarray
    slope: np.ndarray
    end: np.ndarray
    curvature: np.ndarray | None
    change: np.ndarray
