"""The smooth motion of a phase, as a method gives it to the engine of phases.

In fixed modes of all contacts the equations of motion are smooth,

    M v̇ = f + D λ,   Dᵀ v̇ + b = 0 for the held rows

An integrator gives their solution as one step with dense output, a closed form gives it for any length. Forces, works
and impulses come along with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class Integrals:
    """Integrals over a phase from its start to some time.

    ``impulses``  (r,) [N s] of the forces in the order of the phase's rows: normal forces of the pressed contacts,
                  friction of the rough patches (d each, in scaled directions), two-sided constraints
    ``loads``     [J] work of loads, moving walls and belts included
    ``damping``   [J], ``friction`` [J] dissipated
    """

    impulses: np.ndarray
    loads: float
    damping: float
    friction: float


class Flow(Protocol):
    """Smooth motion in fixed modes from ``start`` to ``end`` [s], as if no event came. Contract:

    1. ``states(times)`` (k,) → positions (k, nq) and velocities (k, nv) at any times in [start, end], in any order;
       the same time gives the same bits.
    2. ``reactions(times)`` (k,) → forces (k, r) [N] in the order of the rows of
       :class:`~klapper.schemes.phase_equations.PhaseEquations`.
    3. ``integrals(time)`` up to one time in [start, end].
    4. ``pieces`` is a number of intervals that [start, end] is to be cut into for the search of events, about one for
       every oscillation; ``next_size`` [s] is proposed for the next flow, 0 if there is nothing to propose.
    """

    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...

    @property
    def pieces(self) -> int: ...

    @property
    def next_size(self) -> float: ...

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def reactions(self, times: np.ndarray) -> np.ndarray: ...

    def integrals(self, time: float) -> Integrals: ...
