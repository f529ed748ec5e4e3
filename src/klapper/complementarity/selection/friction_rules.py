"""Rules for friction that no model of elasticity decides: what regularised friction selects, and maximum dissipation.

Regularised friction T = −(limit/v₀) v up to its limit creeps where Coulomb's friction sticks. Forces that creeping with
any velocity u of the bodies gives, v = Jᵀ u, are those of

    min Σ |T_i|²/limit_i,   limit = given part + μ λ_N,                                  Seiwald 1.2

over all that move the system the same way: equal T/(μ λ_N) at contacts of one body that only translates, whatever v₀.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.complementarity.selection.force_set import ForceSet
from klapper.complementarity.selection.least_squares import MinimumNorm
from klapper.complementarity.selection.rule import Selection, chosen

_LIGHT = 1e-9  # metric of forces without a friction limit (joints), of that of the weakest friction


@dataclass(frozen=True)
class EqualUtilisation:
    """The forces of regularised friction: every contact uses its friction limit as much as the creeping bodies ask for.

    Assumes that all contacts creep by the same law, as in codes that replace stick by a steep slope: the stronger a
    contact is pressed, the more it takes. Normal forces that are not unique are taken smallest first, as of equal
    springs.

    Feet that can hold 3 N and 1 N share 2 N in this ratio:

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 1.0])
    >>> EqualUtilisation().select(pair).forces.round(9).tolist()
    [-1.5, -0.5]
    """

    name = "equal utilisation"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        face = forces.face
        rows = np.eye(forces.size)[forces.normal]
        if len(rows):
            face = face.through(face.least_squares(rows @ face.null, rows @ face.point), rows)
        limits = forces.limits(face.point)
        weakest = limits[limits > 0.0].min(initial=np.inf)
        metric = np.full(forces.size, _LIGHT / weakest if np.isfinite(weakest) else 1.0)
        for patch, limit in zip(forces.patches, limits, strict=True):
            metric[patch] = 1.0 / limit if limit > 0.0 else 1.0 / weakest if np.isfinite(weakest) else 1.0
        metric = metric / metric.max()
        return chosen(forces, face.at(face.nearest(np.zeros(forces.size), metric)), self.name)


@dataclass(frozen=True)
class MaximumDissipation:
    """The forces that take the most power, Σ speed_k (limit_k + μ_k λ_N), and of these the smallest.

    Assumes that friction takes what it can. Forces at rest take no power: the rule decides where normal forces that
    depend on each other feed different friction of sliding contacts, and the motion depends on them. The set must know
    the speeds of its sliding contacts; without them, or where all members take the same power, the minimum norm is
    used, and the note says so.

    A weight of 4 N on two feet that slide with 1 m/s, of which the second is the rougher one:

    >>> feet = ForceSet.from_arrays([2.0, 2.0, -0.2, -1.0], [[0, 0, 1, 1], [1, 1, 0, 0]], normal=[0, 1],
    ...     patches=[[2], [3]], friction=[0.1, 0.5], sense=[1.0, 1.0], speed=[1.0, 1.0], held=[[1, 1, 0, 0]])
    >>> MaximumDissipation().select(feet).forces.round(9).tolist()
    [0.0, 4.0, 0.0, -2.0]
    """

    name = "maximum dissipation"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        power, note = np.zeros(forces.size), "the set does not know how fast its contacts slide"
        if forces.speed is not None:
            speed = np.where(forces.sliding, forces.speed, 0.0)
            power[forces.normal] = speed @ forces.friction
            note = "all members take the same power"
        t = None
        if np.abs(power @ forces.face.null).max(initial=0.0) > _LIGHT * np.abs(power).max(initial=0.0):
            t = forces.face.extreme(-power)
            note = "the power has no bound"
        if t is None:
            other = MinimumNorm().select(forces)
            return Selection(other.forces, self.name, other.exact, f"{note}: the minimum norm was used")
        most = forces.face.through(t, power[None])
        smallest = most.nearest(np.zeros(forces.size), np.ones(forces.size))
        return chosen(forces, most.at(smallest), self.name)
