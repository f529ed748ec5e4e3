"""The mean force of a step between two positions.

A system may say itself what its forces do between two positions (``force_between``, see
:class:`klapper.continuum.Continuum`). For all others the force in the middle is corrected along M Δ, Δ = q₁ − q₀, so
that its conservative part does exactly the work V₀ − V₁: the discrete gradient of Gonzalez (1996), Hesch (2.171), with
lengths measured by the mass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from klapper.mechanics.system import System, difference_tangents

_NEAR = 1e-10  # of the size of the positions: steps so short need no correction
_DIFFERENCE = 6.0e-6


class MeanForce(NamedTuple):
    """Force (n,) [N] and its derivative (n, n) by the second position, None if not asked for."""

    force: np.ndarray
    slope: Any


def mean_force(
    system: System,
    t: float,
    before: np.ndarray,
    after: np.ndarray,
    h: float,
    *,
    exact: bool,
    slope: bool = False,
) -> MeanForce:
    """Between positions (n,) over a step of h [s] with its middle at ``t``; ``exact``: with exact work."""
    own = getattr(system, "force_between", None)
    if own is not None:
        found = own(t, before, after, slope=slope, exact=exact)
        return MeanForce(found.force, found.slope)
    change = after - before
    middle, speed = 0.5 * (before + after), change / h
    force = np.asarray(system.force(t, middle, speed), dtype=float)
    factor = _correction(system, t, before, after, h, force) if exact else 0.0
    push = system.mass(middle) @ change
    if not slope:
        return MeanForce(force + factor * push, None)
    tangents = system.tangents(t, middle, speed)
    if not tangents.complete:
        tangents = difference_tangents(system.force, system.advance, t, middle, speed)
    matrix = _added(tangents.position, 0.5, tangents.velocity, 1.0 / h, len(change))
    if exact:
        by = _slope_of_correction(system, t, before, after, h)
        matrix = matrix + np.outer(push, by) + factor * system.mass(middle)
    return MeanForce(force + factor * push, matrix)


def potential_gradient(system: System, q: np.ndarray) -> np.ndarray:
    """∂V/∂q (n,) [N]."""
    own = getattr(system, "potential_gradient", None)
    if own is not None:
        return own(q)
    found = np.empty(len(q))
    for j in range(len(q)):
        d = np.zeros(len(q))
        d[j] = _DIFFERENCE * max(abs(q[j]), 1.0)
        found[j] = (system.potential(q + d) - system.potential(q - d)) / (2.0 * d[j])
    return found


def _correction(
    system: System, t: float, before: np.ndarray, after: np.ndarray, h: float, force: np.ndarray
) -> float:
    change = after - before
    middle = 0.5 * (before + after)
    weight = float(change @ (system.mass(middle) @ change))
    reach = float(np.abs(middle).max(initial=0.0))
    if float(np.abs(change).max(initial=0.0)) <= _NEAR * reach or weight == 0.0:
        return 0.0
    load, damping = system.powers(t, middle, change / h)
    done = float(force @ change) - h * (load - damping)
    return (system.potential(before) - system.potential(after) - done) / weight


def _slope_of_correction(
    system: System, t: float, before: np.ndarray, after: np.ndarray, h: float
) -> np.ndarray:
    found = np.empty(len(after))
    for j in range(len(after)):
        d = np.zeros(len(after))
        d[j] = _DIFFERENCE * max(abs(after[j]), 1.0)
        sides = []
        for place in (after + d, after - d):
            force = np.asarray(system.force(t, 0.5 * (before + place), (place - before) / h), dtype=float)
            sides.append(_correction(system, t, before, place, h, force))
        found[j] = (sides[0] - sides[1]) / (2.0 * d[j])
    return found


def _added(first: Any, a: float, second: Any, b: float, size: int) -> Any:
    total: Any = np.zeros((size, size)) if first is None and second is None else 0.0
    for matrix, factor in ((first, a), (second, b)):
        if matrix is not None:
            total = factor * matrix if np.isscalar(total) else total + factor * matrix
    return total
