"""Singular points of a load path: limit points, where the load turns, and bifurcations, where other paths cross.

det ∂R/∂x = 0;   at a limit point ds changes its sign, at a bifurcation it does not
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.analysis.static_problem import SMALL, StaticState
from klapper.complementarity.dense import dense


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


@dataclass(frozen=True)
class Determinant:
    """sign · exp(log)."""

    sign: float
    log: float

    def over(self, other: Determinant) -> float:
        """This determinant in units of another one's size, within floating numbers."""
        return self.sign * float(np.exp(np.clip(self.log - other.log, -700.0, 700.0)))


def determinant(matrix: Any) -> Determinant:
    """Of a square matrix, dense or sparse; a singular one has the sign zero."""
    if matrix.shape[0] <= SMALL or not sparse.issparse(matrix):
        sign, log = np.linalg.slogdet(dense(matrix))
        return Determinant(float(sign), float(log))
    from scipy.sparse.linalg import splu

    try:
        factors = splu(sparse.csc_array(matrix))
    except RuntimeError:
        return Determinant(0.0, -np.inf)
    pivots = factors.U.diagonal()
    sign = np.prod(np.sign(pivots)) * _parity(factors.perm_r) * _parity(factors.perm_c)
    return Determinant(float(sign), float(np.sum(np.log(np.abs(pivots)))))


def _parity(order: np.ndarray) -> float:
    """+1 for an even permutation, −1 for an odd one."""
    seen, cycles = np.zeros(len(order), dtype=bool), 0
    for first in range(len(order)):
        if not seen[first]:
            cycles += 1
            place = first
            while not seen[place]:
                seen[place] = True
                place = order[place]
    return -1.0 if (len(order) - cycles) % 2 else 1.0
