"""Distance and slip of a node along a straight segment, over invariants.

Nodes: x of the node, y₁, y₂ of the segment, which runs with its body to the left; a = y₂ − y₁.

    distance   g = π₁/√π₂,    π₁ = (x − y₁) · Λ a,   π₂ = a · a,   π₃ = (x − y₁) · a        Hesch (5.8)-(5.10)
    slip       s = ℓ π₁/π₂,   π₁ = (x − y₁) · a,     π₂ = a · a

Λ a/|a| points out of the body, so that g > 0 is a gap. π₁/π₂ of the slip is where the node projects to, as a share of
the segment; ℓ is the length of the segment at the beginning of a step. A slip that stays constant sticks exactly.

The distance does not depend on π₃, but a gap that closes while the node slides does so without work only if the force
may lean against the sliding: with π₁ and π₂ alone, (3.63) has no direction left where the segment keeps its length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.continuum.contact.invariants import Expansion, product

_NODE = (1.0, -1.0, 0.0)  # x − y₁
_SEGMENT = (0.0, -1.0, 1.0)  # a
_ALONG = np.stack([product(_NODE, _SEGMENT), product(_SEGMENT, _SEGMENT)])


class NodeDistance:
    """φ = π₁/√π₂, over π₁, π₂, π₃."""

    forms = np.stack([product(_NODE, _SEGMENT, turned=True), product(_SEGMENT, _SEGMENT), _ALONG[0]])

    def expand(self, invariants: np.ndarray, *, curved: bool) -> Expansion:
        p1, p2, _ = invariants.T
        root = np.sqrt(p2)
        gradient = np.zeros((len(p1), 1, 3))
        gradient[:, 0, 0], gradient[:, 0, 1] = 1.0 / root, -0.5 * p1 / (p2 * root)  # (5.20), sign corrected
        curvature = None
        if curved:
            curvature = np.zeros((len(p1), 1, 3, 3))
            curvature[:, 0, 0, 1] = curvature[:, 0, 1, 0] = -0.5 / (p2 * root)
            curvature[:, 0, 1, 1] = 0.75 * p1 / (p2 * p2 * root)
        return Expansion((p1 / root)[:, None], gradient, curvature)


@dataclass(frozen=True, eq=False)
class NodeSlip:
    """φ = ℓ π₁/π₂ with lengths ℓ (E,)."""

    length: np.ndarray

    @property
    def forms(self) -> np.ndarray:
        return _ALONG

    def expand(self, invariants: np.ndarray, *, curved: bool) -> Expansion:
        p1, p2 = invariants.T
        share = p1 / p2
        gradient = np.stack([self.length / p2, -self.length * share / p2], axis=1)
        curvature = None
        if curved:
            mixed = -self.length / p2**2
            curvature = np.stack(
                [np.stack([0.0 * p1, mixed], axis=1), np.stack([mixed, -2.0 * share * mixed], axis=1)], axis=1
            )[:, None]
        return Expansion((self.length * share)[:, None], gradient[:, None], curvature)
