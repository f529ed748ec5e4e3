"""The stretch of a curve between two of its points: any point of it, and where a function changes its sign.

    y(σ) ≈ H(σ),   0 ≤ σ ≤ 1

H is Hermite's cubic through both points with their tangents; a point is corrected from it across its derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from klapper.algebra.corrector import Corrector, CurvePoint, StepRefused

_SHARE = {
    False: 1e-11,
    True: 1e-13,
}  # of the way: how well zeros are located; on graphs, whose points cost little, to round-off


@dataclass(frozen=True, eq=False)
class Span:
    """The curve from the point ``before`` to the point ``after``, by shares σ of the way."""

    corrector: Corrector
    before: CurvePoint
    after: CurvePoint

    @cached_property
    def length(self) -> float:
        """Distance of both points in scaled unknowns."""
        return float(np.linalg.norm(self.after.y - self.before.y))

    def cubic(self, share: float) -> tuple[np.ndarray, np.ndarray]:
        """H and its direction, of length 1."""
        s, before, after = share, self.before, self.after
        values = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        slopes = 6 * s * (s - 1), (1 - s) * (1 - 3 * s), 6 * s * (1 - s), s * (3 * s - 2)
        nodes = np.array([before.y, self.length * before.tangent, after.y, self.length * after.tangent])
        along = np.array(slopes) @ nodes
        return np.array(values) @ nodes, along / np.linalg.norm(along)

    def point(self, share: float) -> CurvePoint:
        """The point of the curve near the cubic."""
        return self.corrector.correct(*self.cubic(share))

    def crossing(self, value: Callable[[CurvePoint], float]) -> float | None:
        """Share of the way at which a function of the point changes its sign; None if it cannot be found."""
        ends = value(self.before), value(self.after)

        def at(share: float) -> float:
            return ends[int(share)] if share in (0.0, 1.0) else value(self.point(share))

        try:  # of a function that is noise near its zero the last bracket is as good as any
            return float(
                brentq(at, 0.0, 1.0, xtol=_SHARE[self.corrector.graph], disp=False, full_output=True)[0]
            )
        except StepRefused:
            return None
