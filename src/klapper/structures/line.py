"""A quantity along a line, as rows: what a beam, a member or a lamina offers to a contact.

    g(x) = r(x) · q,   r polynomial of a known degree between known breaks

Differences are lines again, so that the gap between two laminae is ``upper - lower``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics import InvalidModel


@dataclass(frozen=True, eq=False)
class Line:
    """A quantity along a structure, rows(x) · q, e.g. the deflection [m] of a beam.

    ``rows``    a function of x (k,) [m] → (k, n), or (k, d, n) for d directions at once
    ``breaks``  places [m] where the polynomials change: the ends of elements, in rising order
    ``degree``  of the polynomials between

    >>> cable = Line(lambda x: np.column_stack((1 - x, x)), breaks=(0.0, 1.0), degree=1)
    >>> (-cable).at([0.25]).tolist()
    [[-0.75, -0.25]]
    """

    rows: Callable[[np.ndarray], Any]
    breaks: Any
    degree: int

    def at(self, x: Any) -> np.ndarray:
        """(k, n) or (k, d, n) at the points ``x`` (k,) [m]."""
        points = np.asarray(x, dtype=float)
        values = self.rows(points)
        values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=float)
        if values.ndim not in (2, 3) or values.shape[0] != points.size:
            n = points.size
            raise InvalidModel(
                f"rows at {n} points have shape {values.shape}; expected ({n}, n) or ({n}, d, n)."
            )
        return values

    def __neg__(self) -> Line:
        return Line(lambda x: -self.at(x), self.breaks, self.degree)

    def __add__(self, other: Line) -> Line:
        return self._with(other, lambda x: self.at(x) + other.at(x))

    def __sub__(self, other: Line) -> Line:
        return self._with(other, lambda x: self.at(x) - other.at(x))

    def beside(self, other: Line) -> Line:
        """Both as two directions: (k, 2, n)."""
        return self._with(other, lambda x: np.stack((self.at(x), other.at(x)), axis=1))

    def scaled(self, factor: float) -> Line:
        """The quantity times a number."""
        return Line(lambda x: factor * self.at(x), self.breaks, self.degree)

    def _with(self, other: Line, rows: Callable[[np.ndarray], Any]) -> Line:
        breaks = np.union1d(np.asarray(self.breaks, dtype=float), np.asarray(other.breaks, dtype=float))
        return Line(rows, breaks, max(self.degree, other.degree))
