"""Singular points of a load path: limit points, where the load turns, and bifurcations, where other paths cross.

det ∂R/∂x = 0;   at a limit point ds changes its sign, at a bifurcation it does not
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from klapper.analysis.static_problem import StaticState


@dataclass(frozen=True, eq=False)
class CriticalPoint:
    """A singular point of a load path: there the load turns back, or other states of rest branch off.

    ``kind``   "limit" or "bifurcation"
    ``state``  the state of rest there
    ``after``  number of the state of the path before it
    ``mode``   (n,) direction in which the stiffness vanishes, relative to its largest entry

    A shallow arch carries q (q − 1) (q − 2) N, at most 2/√27 N at q = 1 − 1/√3:

    >>> from klapper.analysis import follow_load
    >>> from klapper.mechanics import FunctionSystem
    >>> arch = FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: 1.0 - q * (q - 1.0) * (q - 2.0))
    >>> path = follow_load(arch, end=None, stop=lambda state: state.position[0] > 0.8)
    >>> point = path.critical[0]
    >>> point.kind, round(float(point.factor * 27.0**0.5), 6), point.state.position.round(6)
    ('limit', 2.0, array([0.42265]))
    """

    kind: Literal["limit", "bifurcation"]
    state: StaticState
    after: int
    mode: np.ndarray

    @property
    def factor(self) -> float:
        return self.state.factor
