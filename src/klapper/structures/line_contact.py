"""Contact along a line: a beam over a stop, two beams or two laminae on each other.

    g_i = ∫ h_i(x) g(x) dx = J_Nᵢ · q + g₀,   J_Nᵢ = ∫ h_i(x) r(x) dx,   ∫ h_i dx = 1      Waltersberger (5.48)–(5.50)
    F_N(x) = Σ h_i(x) λ_i                                                                  (5.56)
    J_Tᵢ = 1/|Γ_i| ∫_{Γ_i} r_T(x) dx                                                       (5.159) without the factor L₂

r(x) is the row of the gap: the deflection over a stop, the difference of two lines between beams. Integrals are exact
for the polynomials of the elements, because the quadrature changes its panels where an element or a weight ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from klapper.mechanics import (
    AveragedContact,
    Contact,
    ContactArea,
    FrictionElement,
    FrictionPatches,
    InvalidModel,
    areal_contacts,
)
from klapper.mechanics.arguments import naming, number
from klapper.mechanics.signals import as_signal
from klapper.structures.line import Line
from klapper.structures.line_mesh import sampled

Weights = Literal["dirac", "box", "hat"]


class LineContact:
    """Averaged contacts on ``start`` ≤ x ≤ ``end`` [m].

    ``line``         the gap is line(x) · q + gap(x): ``beam.line("w")`` over a stop, its negative below one, the
                     difference of two lines between them
    ``count``        number of weight functions, evenly placed; or give their places by
    ``at``           positions of Dirac functions, edges of boxes, or nodes of hats [m]
    ``weights``      "dirac" (collocation, the first and last at both ends), "box" or "hat"
    ``gap``          gap at q = 0 [m], a number or a function of x; ``motion`` is added to it over time, a signal
    ``restitution``  ε in [0, 1], dimensionless; 0 for elastic structures
    ``sliding``      line of the sliding velocity, in one direction or two, for friction patches with
    ``friction``     coefficient μ, one number or one for each patch, and
    ``patches``      their number, or their edges [m]; as many as weight functions if not given
    ``name``         in front of the names of contacts and patches

    ``contacts`` is what a system takes; :meth:`line_load` gives back the pressure.

    >>> cable = Line(lambda x: np.column_stack((1 - x, x)), breaks=(0.0, 1.0), degree=1)
    >>> halves = LineContact(cable, 0.0, 1.0, count=2, weights="box")
    >>> [contact.normal.round(12).tolist() for contact in halves.contacts]
    [[0.75, 0.25], [0.25, 0.75]]
    """

    averaged: AveragedContact
    patches: FrictionPatches | None
    contacts: tuple[Contact | FrictionElement, ...]

    def __init__(
        self,
        line: Line,
        start: float,
        end: float,
        *,
        count: int | None = None,
        at: Any = None,
        weights: Weights = "dirac",
        gap: Any = 0.0,
        motion: Any = 0.0,
        restitution: float = 0.0,
        sliding: Line | None = None,
        friction: Any = 0.0,
        patches: Any = None,
        name: str = "line",
    ) -> None:
        self.start, self.end, self.name = _bounds(start, end, name)
        with naming(f"line contact '{name}'"):
            places = self._places(count, at, weights)
            edges = self._patch_edges(patches, places.size - (weights == "box"), friction, sliding)
            area = self._area([line] if sliding is None else [line, sliding], places, edges, weights)
            self.averaged = _averaged(area, places, weights)
            self.patches = None if edges is None else FrictionPatches(area, edges)
            points = self.averaged.points[:, 0]
            parts = areal_contacts(
                self.averaged,
                line.at(points),
                gap=sampled(gap, points),
                restitution=restitution,
                patches=self.patches,
                sliding=None if sliding is None or edges is None else sliding.at(area.points[:, 0]),
                friction=friction,
                name=name,
            )
            self.contacts = _moved(parts, motion)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the normal contacts, in the order of the normal forces."""
        return tuple(part.name for part in self.contacts if isinstance(part, Contact))

    def line_load(self, normal_force: Any, x: Any = None) -> np.ndarray:
        """F_N(x) [N/m] at ``x`` (k,) or the quadrature's points, from normal forces (m,) or (m, times) [N]."""
        return self.averaged.pressure(normal_force, x)

    def _places(self, count: int | None, at: Any, weights: str) -> np.ndarray:
        if weights not in ("dirac", "box", "hat"):
            raise InvalidModel(f"weights is {weights!r}; allowed are 'dirac', 'box' and 'hat'.")
        if (count is None) == (at is None):
            raise InvalidModel("give either count or at, the places of the weight functions.")
        if at is not None:
            return np.atleast_1d(np.asarray(at, dtype=float))
        least = 2 if weights == "hat" else 1
        number(count, "count", f"whole numbers from {least} on", at_least=least)
        if weights == "dirac" and count == 1:
            return np.array([0.5 * (self.start + self.end)])
        return np.linspace(self.start, self.end, int(count or 0) + (weights == "box"))

    def _patch_edges(
        self, patches: Any, default: int, friction: Any, sliding: Line | None
    ) -> np.ndarray | None:
        if not np.any(np.asarray(friction, dtype=float)):
            return None
        if sliding is None:
            raise InvalidModel("friction needs sliding, the line of the sliding velocity.")
        given = default if patches is None else patches
        if np.ndim(given) == 0:
            number(given, "patches", "whole numbers from 1 on, or edges", at_least=1)
            return np.linspace(self.start, self.end, int(given) + 1)
        return np.asarray(given, dtype=float)

    def _area(
        self, lines: Sequence[Line], places: np.ndarray, edges: np.ndarray | None, weights: str
    ) -> ContactArea:
        ends = [np.array([self.start, self.end])]
        ends += [np.asarray(line.breaks, dtype=float) for line in lines]
        ends += [] if weights == "dirac" else [places]
        ends += [] if edges is None else [edges]
        panels = _merged(np.concatenate(ends), self.start, self.end)
        degree = max(line.degree for line in lines)
        order = degree // 2 + 2  # exact up to the degree + 1 of a hat times the element's polynomial
        return ContactArea.line(self.end - self.start, panels=panels, order=order, start=self.start)


def _bounds(start: float, end: float, name: str) -> tuple[float, float, str]:
    first, last = number(start, f"{name}: start"), number(end, f"{name}: end")
    if not first < last:
        raise InvalidModel(f"{name}: start is {first:g} m and end {last:g} m; expected start < end.")
    return first, last, name


def _averaged(area: ContactArea, places: np.ndarray, weights: str) -> AveragedContact:
    if weights == "dirac":
        return AveragedContact.diracs(area, places, names=[f"at {x:.6g} m" for x in places])
    if weights == "box":
        names = [f"{a:.6g}–{b:.6g} m" for a, b in pairwise(places)]
        return AveragedContact.boxes(area, places, names=names)
    return AveragedContact.hats(area, places, names=[f"around {x:.6g} m" for x in places])


def _merged(places: np.ndarray, start: float, end: float) -> np.ndarray:
    """Rising places within the bounds, those that differ by round-off taken as one."""
    margin = 1e-9 * (end - start)
    inside = np.unique(places[(places > start + margin) & (places < end - margin)])
    apart = np.concatenate(([True], np.diff(inside) > margin)) if inside.size else np.zeros(0, dtype=bool)
    return np.concatenate(([start], inside[apart], [end]))


def _moved(parts: Sequence[Contact | FrictionElement], motion: Any) -> tuple[Contact | FrictionElement, ...]:
    signal = as_signal(motion, "motion")
    if signal.constant and not np.any(signal.value(0.0)):
        return tuple(parts)
    return tuple(
        replace(part, gap=part.gap + signal) if isinstance(part, Contact) else part for part in parts
    )
