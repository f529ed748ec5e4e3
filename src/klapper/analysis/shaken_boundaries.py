"""Where the motion types of a mass on a shaken incline meet in the plane of pull A and shaking B.

Vielsack's Fig. 2: I rest, II accelerating, III one direction with a pause, IV both directions with two pauses, V with
one pause, VI without. Each boundary is a closed form or the root of one equation, so the map needs no simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel

PERIOD = 2.0 * pi


@dataclass(frozen=True)
class TypeBoundaries:
    """Boundaries of the motion types in the plane of A in [0, 1) and B: arrays (n,) of B, nan where there is none.

    ``rest`` I | III, ``reversal`` III | IV, ``second_pause`` IV | V, ``first_reversal`` III | V, ``no_pause`` V | VI.
    The types III, IV and V meet at A = ``meeting``; II begins at A = 1.
    """

    A: np.ndarray
    rest: np.ndarray
    reversal: np.ndarray
    second_pause: np.ndarray
    first_reversal: np.ndarray
    no_pause: np.ndarray
    meeting: float


def type_boundaries(A: Any) -> TypeBoundaries:
    """The boundaries in closed form, or as the zero of the velocity at the instant at which the load passes −1.

    Slip forwards begins where A + B sin τ = 1. Type V replaces IV where it ends when the load falls below −1, and
    III where it ends when the load comes back above −1: in between, the mass turns without a pause.
    """
    from scipy.optimize import brentq

    pulls = np.atleast_1d(np.asarray(A, dtype=float))
    if np.any((pulls < 0.0) | (pulls >= 1.0)):
        raise InvalidModel(
            f"A is {pulls.min():g} to {pulls.max():g}; the boundaries are given for 0 ≤ A < 1."
        )

    def when_falling(B: float, pull: float) -> float:
        return _forward_velocity(pull, B, pi + np.arcsin(min((1.0 + pull) / B, 1.0)))

    def when_rising(B: float, pull: float) -> float:
        return _forward_velocity(pull, B, PERIOD - np.arcsin(min((1.0 + pull) / B, 1.0)))

    def boundary(velocity: Any, pull: float, high: float) -> float:
        return float(brentq(velocity, 1.0 + pull, high, args=(float(pull),), xtol=1e-15, rtol=1e-14))

    meeting = float(brentq(lambda pull: _forward_velocity(pull, 1.0 + pull, 1.5 * pi), 0.1, 0.9, xtol=1e-15))
    no_pause = _least_shaking_without_pause(pulls)
    left, nothing = pulls < meeting, np.full(pulls.shape, np.nan)
    second_pause, first_reversal = nothing.copy(), nothing.copy()
    for k, (pull, high) in enumerate(zip(pulls, no_pause, strict=True)):
        if left[k]:
            second_pause[k] = boundary(when_falling, pull, high) if pull > 0.0 else high
        else:
            first_reversal[k] = boundary(when_rising, pull, high)
    reversal = np.where(left, 1.0 + pulls, np.nan)
    return TypeBoundaries(pulls, 1.0 - pulls, reversal, second_pause, first_reversal, no_pause, meeting)


def _forward_velocity(pull: float, shaking: float, t: float) -> float:
    """Velocity at t of the slip that begins when the load passes +1."""
    begin = float(np.arcsin((1.0 - pull) / shaking))
    return float((pull - 1.0) * (t - begin) - shaking * (np.cos(t) - np.cos(begin)))


def _least_shaking_without_pause(A: np.ndarray) -> np.ndarray:
    """B above which the mass never pauses.

    Backward slip then lasts π (1 − A), and the instants of reversal follow from the zeros of the velocity; the load has
    to exceed the friction limit at both. For A = 0 this is √(1 + π²/4).
    """
    sine, cosine = np.sin(0.5 * pi * A), np.cos(0.5 * pi * A)
    in_phase = pi * (1.0 - A * A) / (2.0 * cosine)
    return np.hypot(in_phase, (1.0 + np.abs(A - in_phase * sine)) / cosine)
