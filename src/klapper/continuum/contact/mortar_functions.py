"""Gap and slip averaged over one mortar segment, over invariants.

A segment belongs to one non-mortar facet with end nodes x₁, x₂ and one mortar facet with end nodes y₁, y₂, numbered in
the same running direction; a = x₂ − x₁, and z_j are all nodes but x₁, x₂ (for quadratic facets also those in the
middle). Points of the non-mortar chord project along its normal Λ a/|a|, which points out of its body.

    π₀ = a · a,   π₁ = a · (y₁ − x₁),   π₂ = a · (y₂ − x₁),   δ_j = (z_j − x₁) · Λ a     Hesch (5.32)-(5.43)
    start at a mortar node    ξ = 2 π₁/π₀ − 1,  ζ = −1;     at a non-mortar node  ξ = −1,  ζ = −(π₁ + π₂)/(π₂ − π₁)
    end   at a mortar node    ξ = 2 π₂/π₀ − 1,  ζ = +1;     at a non-mortar node  ξ = 1,  ζ = (2π₀ − π₁ − π₂)/(π₂ − π₁)
    φ_A = ¼ (ξ_b − ξ_a) Σ_g w_g M_A(ξ_g) (Σ_mortar N_j(ζ_g) δ_j − Σ_non-mortar N_j(ξ_g) δ_j)     (5.26), (5.44)

ξ_g and ζ_g are linear along the segment. φ_A is the integral of M_A times the gap; M_A are the multiplier functions of
the end nodes, linear along the facet, or the ones dual to them. On quadratic facets they are one order lower than the
shape functions, whose weighted gaps would have no sign. For linear facets the invariants are those of the thesis but
for a change of basis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from klapper.continuum.contact.invariants import Expansion, product
from klapper.continuum.elements import Element, gauss


class Limit(NamedTuple):
    """An end of segments on one of the facets: value (E,), gradient (E, m), curvature (E, m, m)."""

    value: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray


@dataclass(frozen=True, eq=False)
class FacetPair:
    """The kinds of the facets on both sides, and the multiplier functions.

    ``non_mortar``, ``mortar``  "line2" or "line3" elements
    ``multipliers``             (k, n), or (E, k, n) for each segment: functions M_A = Σ_B multipliers_AB N_B
    """

    non_mortar: Element
    mortar: Element
    multipliers: np.ndarray

    @property
    def nodes(self) -> int:
        return self.non_mortar.size + self.mortar.size

    @cached_property
    def rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (g,) and weights (g,), exact for what is integrated."""
        points, weights = gauss(2 if self.nodes == 4 else 3, 1)
        return points[:, 0], weights

    @cached_property
    def others(self) -> np.ndarray:
        """Local numbers of the nodes z_j: the middle of the non-mortar facet, then all of the mortar facet."""
        return np.arange(2, self.nodes)

    @cached_property
    def forms(self) -> np.ndarray:
        """H of π₀, π₁, π₂ and δ_j."""
        chord = self._difference(1)
        first, second = self.non_mortar.size, self.non_mortar.size + 1
        along = [chord, self._difference(first), self._difference(second)]
        return np.stack(
            [product(other, chord) for other in along]
            + [product(self._difference(j), chord, turned=True) for j in self.others]
        )

    @cached_property
    def slip_forms(self) -> np.ndarray:
        """H of a · a and a · (z_j − x₁)."""
        chord = self._difference(1)
        return np.stack([product(self._difference(j), chord) for j in (1, *self.others)])

    def _difference(self, node: int) -> np.ndarray:
        """Coefficients of z − x₁."""
        found = np.zeros(self.nodes)
        found[node] += 1.0
        found[0] -= 1.0
        return found

    @property
    def count(self) -> int:
        """k multiplier functions."""
        return int(self.multipliers.shape[-2])

    def combined(self, values: np.ndarray) -> np.ndarray:
        """M_A (E, k) from values (E, n) of the shape functions of the non-mortar facet."""
        return (self.multipliers @ values[:, :, None])[:, :, 0]

    def shapes(self, xi: np.ndarray, zeta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M_A (E, k) and the signed shape functions (E, j) of the nodes z_j, at one point of each segment."""
        own, other = self.non_mortar.values(xi[:, None]), self.mortar.values(zeta[:, None])
        return self.combined(own), np.concatenate([-own[:, 2:], other], axis=1)


def multiplier_functions(element: Element, *, dual: bool) -> np.ndarray:
    """(2, n): M_A of the end nodes over the shape functions; dual ones have ∫ M_A L_B = δ_AB ∫ L_A for linear L.

    Hesch (4.54)

    >>> from klapper.continuum.elements import element_named
    >>> multiplier_functions(element_named("line2"), dual=True)
    array([[ 2., -1.],
           [-1.,  2.]])
    """
    linear = 0.5 * (1.0 + np.array([[-1.0], [1.0]]) * element.nodes.T)  # their values at the nodes
    return np.array([[2.0, -1.0], [-1.0, 2.0]]) @ linear if dual else linear


@dataclass(frozen=True, eq=False)
class MortarGap:
    """φ_A of E segments; ``start_at_mortar`` and ``end_at_mortar`` (E,) say which nodes bound them."""

    pair: FacetPair
    start_at_mortar: np.ndarray
    end_at_mortar: np.ndarray

    @property
    def forms(self) -> np.ndarray:
        return self.pair.forms

    def limits(self, invariants: np.ndarray) -> tuple[Limit, Limit, Limit, Limit]:
        """ξ_a, ξ_b on the non-mortar facet, ζ_a, ζ_b on the mortar facet.      Hesch (5.35), (5.36), (B.13), (B.21)"""
        start, end = self.start_at_mortar, self.end_at_mortar
        return (
            _where(start, _share(invariants, 1), -1.0),
            _where(end, _share(invariants, 2), 1.0),
            _where(~start, _opposite(invariants, 0.0), -1.0),
            _where(~end, _opposite(invariants, 2.0), 1.0),
        )

    def expand(self, invariants: np.ndarray, *, curved: bool) -> Expansion:
        xi_a, xi_b, zeta_a, zeta_b = self.limits(invariants)
        length = _mixed(xi_b, xi_a, 1.0, -1.0)
        k, (count, m) = self.pair.count, invariants.shape
        value, gradient = np.zeros((count, k)), np.zeros((count, k, m))
        curvature = np.zeros((count, k, m, m)) if curved else None
        for eta, weight in zip(*self.pair.rule, strict=True):
            xi = _mixed(xi_a, xi_b, 0.5 * (1.0 - eta), 0.5 * (1.0 + eta))
            zeta = _mixed(zeta_a, zeta_b, 0.5 * (1.0 - eta), 0.5 * (1.0 + eta))
            part = _integrand(self.pair, xi, zeta, invariants, curved=curved)
            value += weight * part.value
            gradient += weight * part.gradient
            if curvature is not None and part.curvature is not None:
                curvature += weight * part.curvature
        return _times(
            length, Expansion(0.25 * value, 0.25 * gradient, None if curvature is None else 0.25 * curvature)
        )


@dataclass(frozen=True, eq=False)
class MortarSlip:
    """φ_A = Σ_j c_Aj a · (z_j − x₁)/|a| with given coefficients c (E, k, 1 + j), those of a · a first.

    The coefficients are integrals of multiplier and shape functions over segments that are kept: slip is the relative
    motion, along the facet, of points that face each other there.
    """

    pair: FacetPair
    coefficients: np.ndarray

    @property
    def forms(self) -> np.ndarray:
        return self.pair.slip_forms

    def expand(self, invariants: np.ndarray, *, curved: bool) -> Expansion:
        chord = invariants[:, 0]
        root = np.sqrt(chord)
        total = np.einsum("ekj,ej->ek", self.coefficients, invariants)
        gradient = self.coefficients / root[:, None, None]
        gradient[:, :, 0] -= 0.5 * total / (chord * root)[:, None]
        curvature = None
        if curved:
            count, k, m = self.coefficients.shape
            curvature = np.zeros((count, k, m, m))
            mixed = -0.5 * self.coefficients / (chord * root)[:, None, None]
            curvature[:, :, 0, :] += mixed
            curvature[:, :, :, 0] += mixed
            curvature[:, :, 0, 0] += 0.75 * total / (chord**2 * root)[:, None]
        return Expansion(total / root[:, None], gradient, curvature)


def slip_coefficients(gap: MortarGap, invariants: np.ndarray) -> np.ndarray:
    """c (E, k, 1 + j) of :class:`MortarSlip` for the segments at the given invariants of the gap, per length |a|."""
    xi_a, xi_b, zeta_a, zeta_b = (limit.value for limit in gap.limits(invariants))
    pair = gap.pair
    found = np.zeros((len(invariants), pair.count, 1 + len(pair.others)))
    for eta, weight in zip(*pair.rule, strict=True):
        xi = 0.5 * ((1.0 - eta) * xi_a + (1.0 + eta) * xi_b)
        zeta = 0.5 * ((1.0 - eta) * zeta_a + (1.0 + eta) * zeta_b)
        multiplier, shape = pair.shapes(xi, zeta)
        end = pair.non_mortar.values(xi[:, None])[:, 1]
        share = 0.25 * weight * (xi_b - xi_a)
        found[:, :, 0] += (share * end)[:, None] * multiplier
        found[:, :, 1:] -= np.einsum("e,ek,ej->ekj", share, multiplier, shape)
    return found


def _integrand(pair: FacetPair, xi: Limit, zeta: Limit, invariants: np.ndarray, *, curved: bool) -> Expansion:
    """M_A(ξ) Σ_j S_j δ_j at one point of each segment, S_j the signed shape functions of the nodes z_j."""
    first, second = _derivatives(pair.non_mortar, xi.value), _derivatives(pair.mortar, zeta.value)
    multiplier = [pair.combined(values) for values in first]  # M, M', M'' (E, k)
    inner = invariants[:, 3:]
    middle = pair.non_mortar.size - 2
    own, other = inner[:, :middle], inner[:, middle:]

    def opening(order_xi: int, order_zeta: int) -> np.ndarray:
        """Derivatives of o = Σ_j S_j δ_j by ξ or by ζ, (E,)."""
        total = np.zeros(len(inner))
        if order_zeta == 0:
            total = total - np.einsum("ej,ej->e", first[order_xi][:, 2:], own)
        if order_xi == 0:
            total = total + np.einsum("ej,ej->e", second[order_zeta], other)
        return total

    def shares(order_xi: int, order_zeta: int) -> np.ndarray:
        """Derivatives of S_j (E, j) by ξ and ζ."""
        left = -first[order_xi][:, 2:] if order_zeta == 0 else np.zeros_like(own)
        right = second[order_zeta] if order_xi == 0 else np.zeros_like(other)
        return np.concatenate([left, right], axis=1)

    m0, m1, m2 = multiplier
    o, o_x, o_z = opening(0, 0), opening(1, 0), opening(0, 1)
    by_xi, by_zeta = m1 * o[:, None] + m0 * o_x[:, None], m0 * o_z[:, None]
    gradient = by_xi[:, :, None] * xi.gradient[:, None] + by_zeta[:, :, None] * zeta.gradient[:, None]
    gradient[:, :, 3:] += m0[:, :, None] * shares(0, 0)[:, None]
    curvature = None
    if curved:
        xx = m2 * o[:, None] + 2.0 * m1 * o_x[:, None] + m0 * opening(2, 0)[:, None]
        xz, zz = m1 * o_z[:, None], m0 * opening(0, 2)[:, None]
        curvature = (
            by_xi[:, :, None, None] * xi.curvature[:, None]
            + by_zeta[:, :, None, None] * zeta.curvature[:, None]
        )
        curvature += xx[:, :, None, None] * _dyad(xi.gradient, xi.gradient)[:, None]
        curvature += zz[:, :, None, None] * _dyad(zeta.gradient, zeta.gradient)[:, None]
        both = _dyad(xi.gradient, zeta.gradient)
        curvature += xz[:, :, None, None] * (both + both.swapaxes(1, 2))[:, None]
        by_xi_delta = m1[:, :, None] * shares(0, 0)[:, None] + m0[:, :, None] * shares(1, 0)[:, None]
        by_zeta_delta = m0[:, :, None] * shares(0, 1)[:, None]
        mixed = np.zeros_like(curvature)
        mixed[:, :, :, 3:] = (
            xi.gradient[:, None, :, None] * by_xi_delta[:, :, None, :]
            + zeta.gradient[:, None, :, None] * by_zeta_delta[:, :, None, :]
        )
        curvature += mixed + mixed.swapaxes(2, 3)
    return Expansion(m0 * o[:, None], gradient, curvature)


def _derivatives(element: Element, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """N, N', N'' (E, k) of a line element."""
    points = xi[:, None]
    second = np.zeros((len(xi), element.size))
    if element.size == 3:
        second[:] = (1.0, 1.0, -2.0)
    return element.values(points), element.gradients(points)[:, :, 0], second


def _share(invariants: np.ndarray, which: int) -> Limit:
    """2 π_i/π₀ − 1."""
    p0, p = invariants[:, 0], invariants[:, which]
    count, m = invariants.shape
    gradient, curvature = np.zeros((count, m)), np.zeros((count, m, m))
    gradient[:, 0], gradient[:, which] = -2.0 * p / p0**2, 2.0 / p0
    curvature[:, 0, 0] = 4.0 * p / p0**3
    curvature[:, 0, which] = curvature[:, which, 0] = -2.0 / p0**2
    return Limit(2.0 * p / p0 - 1.0, gradient, curvature)


def _opposite(invariants: np.ndarray, ends: float) -> Limit:
    """(ends π₀ − π₁ − π₂)/(π₂ − π₁)."""
    p0, p1, p2 = invariants[:, :3].T
    d = p2 - p1
    n = ends * p0 - p1 - p2
    count, m = invariants.shape
    gradient, curvature = np.zeros((count, m)), np.zeros((count, m, m))
    gradient[:, 0] = ends / d
    gradient[:, 1] = n / d**2 - 1.0 / d
    gradient[:, 2] = -n / d**2 - 1.0 / d
    curvature[:, 0, 1] = curvature[:, 1, 0] = ends / d**2
    curvature[:, 0, 2] = curvature[:, 2, 0] = -ends / d**2
    curvature[:, 1, 1] = -2.0 / d**2 + 2.0 * n / d**3
    curvature[:, 1, 2] = curvature[:, 2, 1] = -2.0 * n / d**3
    curvature[:, 2, 2] = 2.0 / d**2 + 2.0 * n / d**3
    return Limit(n / d, gradient, curvature)


def _where(mask: np.ndarray, limit: Limit, fixed: float) -> Limit:
    return Limit(
        np.where(mask, limit.value, fixed),
        np.where(mask[:, None], limit.gradient, 0.0),
        np.where(mask[:, None, None], limit.curvature, 0.0),
    )


def _mixed(first: Limit, second: Limit, a: float, b: float) -> Limit:
    return Limit(*(a * one + b * other for one, other in zip(first, second, strict=True)))


def _times(factor: Limit, function: Expansion) -> Expansion:
    """Product of a scalar function (E,) and k functions."""
    s, ds = factor.value[:, None], factor.gradient[:, None]
    value = s * function.value
    gradient = s[:, :, None] * function.gradient + function.value[:, :, None] * ds
    curvature = None
    if function.curvature is not None:
        cross = function.gradient[:, :, :, None] * ds[:, :, None, :]
        curvature = (
            s[:, :, None, None] * function.curvature
            + cross
            + cross.swapaxes(2, 3)
            + function.value[:, :, None, None] * factor.curvature[:, None]
        )
    return Expansion(value, gradient, curvature)


def _dyad(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, :, None] * b[:, None, :]
