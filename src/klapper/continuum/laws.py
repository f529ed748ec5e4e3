"""Hyperelastic laws W(C): energy, stress and tangent at many points at once.

    S = 2 ∂W/∂C,   𝔻 = 2 ∂S/∂C                                                              Hesch (2.116)

C comes as components π with doubled shear, see :mod:`klapper.continuum.voigt`: three of them for plane strain, where
C₃₃ = 1, six in space. :class:`PlaneStress` makes a law for plates that are free to change their thickness.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.continuum.voigt import IN_PLANE, PAIRS, dimension_of, embedded
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel

_ROUNDS = 60  # of Newton's method for the thickness of a plate


class MaterialLaw(ABC):
    """What a material must answer; p points, v = 3 or 6 components.

    ``metric`` holds the components of C (p, v), dimensionless, with doubled shear: (C₁₁, C₂₂, 2 C₁₂) in the plane.

    A law of one's own, W = ½ κ tr(E)² with κ = 100 N/m² in the plane, E = (C − 1)/2, stretched to C₁₁ = 1.44:

    >>> class Fluid(MaterialLaw):
    ...     one = np.array([1.0, 1.0, 0.0])
    ...     def energy(self, metric):
    ...         return 50.0 * (0.5 * (metric @ self.one - 2.0)) ** 2
    ...     def stress(self, metric):
    ...         return np.outer(50.0 * (metric @ self.one - 2.0), self.one)
    ...     def tangent(self, metric):
    ...         return np.tile(100.0 * np.outer(self.one, self.one), (len(metric), 1, 1))
    >>> stretched = np.array([[1.44, 1.0, 0.0]])
    >>> Fluid().energy(stretched).round(9).tolist(), Fluid().stress(stretched).round(9).tolist()
    ([2.42], [[22.0, 22.0, 0.0]])
    """

    @abstractmethod
    def energy(self, metric: np.ndarray) -> np.ndarray:
        """W (p,) [J/m³] of π (p, v)."""

    @abstractmethod
    def stress(self, metric: np.ndarray) -> np.ndarray:
        """S (p, v) [N/m²]."""

    @abstractmethod
    def tangent(self, metric: np.ndarray) -> np.ndarray:
        """𝔻 (p, v, v) [N/m²]: change of S with the strain E = (C − 1)/2, shear doubled."""

    plane = "strain"
    """What a body in the plane is free of across it: "strain" or "stress"."""

    @property
    def of_space(self) -> MaterialLaw:
        """The law of the material, for all six components."""
        return self

    def in_space(self, metric: np.ndarray) -> np.ndarray:
        """π (p, 6) of a body in the plane, with what happens across it."""
        return embedded(metric)


@dataclass(frozen=True)
class Isotropic(MaterialLaw):
    """Laws with Young's modulus ``young`` [N/m²] and Poisson's ratio ``poisson`` at small strains."""

    young: float
    poisson: float

    def __post_init__(self) -> None:
        number(self.young, "young", "numbers above 0, in N/m²", above=0.0)
        number(
            self.poisson,
            "poisson",
            "numbers above −1 and below 0.5",
            above=-1.0,
            at_most=np.nextafter(0.5, 0.0),
        )

    @property
    def shear(self) -> float:
        """μ [N/m²]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def lame(self) -> float:
        """λ [N/m²]."""
        return self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))

    @cached_property
    def pressure_wave(self) -> float:
        """λ + 2 μ [N/m²]: over density, the squared speed of the fastest wave at small strains."""
        return self.lame + 2.0 * self.shear


class SaintVenantKirchhoff(Isotropic):
    """The law of Saint-Venant and Kirchhoff, S = λ tr(E) 1 + 2 μ E, Hesch (2.112).

    For small strains at large rotations; too soft under strong compression. ``young`` E [N/m²] and ``poisson`` ν at
    small strains, from −1 to below 0.5. Stretched by 1.2 without a lateral effect, E₁₁ = (1.44 − 1)/2 = 0.22:

    >>> SaintVenantKirchhoff(young=100.0, poisson=0.0).stress(np.array([[1.44, 1.0, 0.0]])).round(9).tolist()
    [[22.0, 0.0, 0.0]]
    """

    def energy(self, metric: np.ndarray) -> np.ndarray:
        return 0.5 * np.einsum("pv,pv->p", self.stress(metric), _strain(metric))

    def stress(self, metric: np.ndarray) -> np.ndarray:
        return _strain(metric) @ self._stiffness(metric.shape[1])

    def tangent(self, metric: np.ndarray) -> np.ndarray:
        v = metric.shape[1]
        return np.broadcast_to(self._stiffness(v), (len(metric), v, v))

    def _stiffness(self, components: int) -> np.ndarray:
        one = _unit(components)
        doubled = np.where(one > 0.0, 2.0, 1.0)
        return self.lame * np.outer(one, one) + self.shear * np.diag(doubled)


class NeoHooke(Isotropic):
    """The neo-Hookean law, W = μ/2 (I₁ − 3) − μ ln J + λ/2 ln² J, Hesch (2.118).

    ``young`` E [N/m²] and ``poisson`` ν at small strains, from −1 to below 0.5. With ν = 0 it is λ = 0, μ = E/2
    and S = μ (1 − C⁻¹):

    >>> NeoHooke(young=100.0, poisson=0.0).stress(np.array([[1.25, 1.0, 0.0]])).round(9).tolist()
    [[10.0, 0.0, 0.0]]
    """

    def energy(self, metric: np.ndarray) -> np.ndarray:
        log = 0.5 * np.log(determinant(metric))
        return 0.5 * self.shear * (trace(metric) - 3.0) - self.shear * log + 0.5 * self.lame * log**2

    def stress(self, metric: np.ndarray) -> np.ndarray:
        log = 0.5 * np.log(determinant(metric))
        return self.shear * _unit(metric.shape[1]) + (self.lame * log - self.shear)[:, None] * inverse(metric)

    def tangent(self, metric: np.ndarray) -> np.ndarray:
        log, back = 0.5 * np.log(determinant(metric)), inverse(metric)
        return self.lame * _dyad(back) + 2.0 * (self.shear - self.lame * log)[:, None, None] * _crossed(back)


@dataclass(frozen=True)
class MooneyRivlin(Isotropic):
    """The law of Mooney and Rivlin, W = c₁ (I₁ − 3) + c₂ (I₂ − 3) − 2 (c₁ + 2 c₂) ln J + ½ (λ − 4 c₂) ln² J.

    ``share`` = c₂/(c₁ + c₂), from 0 (neo-Hooke) to 1, with μ = 2 (c₁ + c₂): rubber at moderate strains. The coefficient
    of ln² J must not be negative, so that share ≤ λ/(2 μ). ``young`` E [N/m²], ``poisson`` ν as of the other laws.

    With E = 100 N/m² and ν = 0.25 it is λ = μ = 40 N/m², at most c₁ = c₂ = 10 N/m²; stretched to twice the length,
    S₁₁ = 20 + 20 (6 − 4) − 60/4:

    >>> MooneyRivlin(100.0, 0.25, share=0.5).stress(np.array([[4.0, 1.0, 0.0]])).round(9).tolist()
    [[45.0, 60.0, 0.0]]
    """

    share: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        most = min(1.0, self.lame / (2.0 * self.shear))
        number(
            self.share,
            "share",
            f"numbers from 0 to {most:.4g} for this Poisson's ratio",
            at_least=0.0,
            at_most=most,
        )

    @property
    def _first(self) -> float:
        return 0.5 * self.shear * (1.0 - self.share)

    @property
    def _second(self) -> float:
        return 0.5 * self.shear * self.share

    @property
    def _volumetric(self) -> float:
        return self.lame - 4.0 * self._second

    def energy(self, metric: np.ndarray) -> np.ndarray:
        log, first = 0.5 * np.log(determinant(metric)), trace(metric)
        second = 0.5 * (first**2 - _squared(metric))
        linear = self._first * (first - 3.0) + self._second * (second - 3.0)
        return linear - 2.0 * (self._first + 2.0 * self._second) * log + 0.5 * self._volumetric * log**2

    def stress(self, metric: np.ndarray) -> np.ndarray:
        log, one = 0.5 * np.log(determinant(metric)), _unit(metric.shape[1])
        shift = self._volumetric * log - 2.0 * (self._first + 2.0 * self._second)
        plain = np.where(one > 0.0, metric, 0.5 * metric)
        second = trace(metric)[:, None] * one - plain
        return 2.0 * self._first * one + 2.0 * self._second * second + shift[:, None] * inverse(metric)

    def tangent(self, metric: np.ndarray) -> np.ndarray:
        log, back, one = 0.5 * np.log(determinant(metric)), inverse(metric), _unit(metric.shape[1])
        shift = 2.0 * (self._first + 2.0 * self._second) - self._volumetric * log
        second = 4.0 * self._second * (np.outer(one, one) - np.diag(np.where(one > 0.0, 1.0, 0.5)))
        return second + self._volumetric * _dyad(back) + 2.0 * shift[:, None, None] * _crossed(back)


@dataclass(frozen=True)
class PlaneStress(MaterialLaw):
    """A law of space for thin plates: at every point C₃₃ is such that S₃₃ = 0.

    ``Solid(…, plane="stress")`` does this by itself. With E/(1 − ν²) = 100 N/m² and a strain E₁₁ = 0.22:

    >>> plate = PlaneStress(SaintVenantKirchhoff(young=93.75, poisson=0.25))
    >>> plate.stress(np.array([[1.44, 1.0, 0.0]])).round(9).tolist()
    [[22.0, 5.5, 0.0]]
    """

    law: MaterialLaw
    plane = "stress"

    def energy(self, metric: np.ndarray) -> np.ndarray:
        return self.law.energy(self.in_space(metric))

    def stress(self, metric: np.ndarray) -> np.ndarray:
        return self.law.stress(self.in_space(metric))[:, IN_PLANE]

    def tangent(self, metric: np.ndarray) -> np.ndarray:
        full = self.law.tangent(self.in_space(metric))
        plane = full[:, IN_PLANE][:, :, IN_PLANE]
        aside = full[:, IN_PLANE, 2]
        return plane - aside[:, :, None] * aside[:, None, :] / full[:, 2, 2][:, None, None]

    @property
    def of_space(self) -> MaterialLaw:
        return self.law

    def in_space(self, metric: np.ndarray) -> np.ndarray:
        """π (p, 6) with the thickness that leaves the plate free of stress across."""
        if metric.shape[1] != 3:
            raise InvalidModel("plane stress is for bodies in the plane; give the law itself in space.")
        full = embedded(metric, 1.0 / np.sqrt(determinant(metric)))
        for _ in range(_ROUNDS):
            stress, tangent = self.law.stress(full)[:, 2], self.law.tangent(full)[:, 2, 2]
            change = -2.0 * stress / np.where(tangent > 0.0, tangent, np.abs(tangent) + 1e-300)
            full[:, 2] = np.maximum(full[:, 2] + change, 0.1 * full[:, 2])
            if np.all(np.abs(change) <= 1e-14 * full[:, 2]):
                return full
        return full


def coefficients(law: MaterialLaw) -> np.ndarray | None:
    """(k, m, a₁, a₂, b, c) [N/m²] of :mod:`klapper.continuum.kernels.hyperelastic` for the laws of this file, None for
    laws of other classes, which only themselves know."""
    if type(law) is SaintVenantKirchhoff:
        return np.array([law.lame, law.shear, 0.0, 0.0, 0.0, 0.0])
    if type(law) is NeoHooke:
        return np.array([0.0, 0.0, 0.5 * law.shear, 0.0, -law.shear, law.lame])
    if type(law) is MooneyRivlin:
        one, two = law._first, law._second
        return np.array([0.0, 0.0, one, two, -2.0 * (one + 2.0 * two), law._volumetric])
    return None


def trace(metric: np.ndarray) -> np.ndarray:
    """I₁ = tr C (p,), with C₃₃ = 1 in the plane."""
    d = dimension_of(metric)
    return metric[:, :d].sum(axis=1) + (3 - d)


def determinant(metric: np.ndarray) -> np.ndarray:
    """det C (p,)."""
    if metric.shape[1] == 3:
        return metric[:, 0] * metric[:, 1] - 0.25 * metric[:, 2] ** 2
    return np.einsum("pa,pa->p", metric, _adjugate(metric) * np.array([1.0, 1, 1, 1, 1, 1])) / 3.0


def inverse(metric: np.ndarray) -> np.ndarray:
    """C⁻¹ (p, v), shear not doubled."""
    return _adjugate(metric) / determinant(metric)[:, None]


def _adjugate(metric: np.ndarray) -> np.ndarray:
    """det C · C⁻¹ (p, v), shear not doubled."""
    if metric.shape[1] == 3:
        return np.column_stack([metric[:, 1], metric[:, 0], -0.5 * metric[:, 2]])
    a, b, c, d, e, f = metric.T * np.array([1.0, 1, 1, 0.5, 0.5, 0.5])[:, None]  # 11 22 33 12 23 13
    return np.column_stack(
        [b * c - e * e, a * c - f * f, a * b - d * d, e * f - c * d, d * f - a * e, d * e - b * f]
    )


def _squared(metric: np.ndarray) -> np.ndarray:
    """C : C (p,)."""
    d = dimension_of(metric)
    return (metric[:, :d] ** 2).sum(axis=1) + 0.5 * (metric[:, d:] ** 2).sum(axis=1) + (3 - d)


def _unit(components: int) -> np.ndarray:
    return np.array([1.0, 1.0, 0.0]) if components == 3 else np.array([1.0, 1, 1, 0, 0, 0])


def _strain(metric: np.ndarray) -> np.ndarray:
    """E (p, v), shear doubled."""
    return 0.5 * (metric - _unit(metric.shape[1]))


def _dyad(tensor: np.ndarray) -> np.ndarray:
    return tensor[:, :, None] * tensor[:, None, :]


def _crossed(back: np.ndarray) -> np.ndarray:
    """½ (C⁻¹_ik C⁻¹_jl + C⁻¹_il C⁻¹_jk) (p, v, v): minus the derivative of C⁻¹ with respect to C."""
    pairs = PAIRS[dimension_of(back)]
    place = {pair: a for a, pair in enumerate(pairs)} | {(j, i): a for a, (i, j) in enumerate(pairs)}
    crossed = np.empty((len(back), len(pairs), len(pairs)))
    for a, (i, j) in enumerate(pairs):
        for b, (k, m) in enumerate(pairs[: a + 1]):
            both = back[:, place[i, k]] * back[:, place[j, m]] + back[:, place[i, m]] * back[:, place[j, k]]
            crossed[:, a, b] = crossed[:, b, a] = 0.5 * both
    return crossed
