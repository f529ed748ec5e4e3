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
    """Integrals over a phase from its start to k times.

    ``impulses``  (k, r) [N s] of the forces in the order of the phase's rows: normal forces of the pressed contacts,
                  friction of the rough patches (d each, in scaled directions), two-sided constraints
    ``loads``     (k,) [J] work of loads, moving walls and belts included
    ``damping``   (k,) [J], ``friction`` (k,) [J] dissipated
    """

    impulses: np.ndarray
    loads: np.ndarray
    damping: np.ndarray
    friction: np.ndarray


class Flow(Protocol):
    """Smooth motion in fixed modes from ``start`` to ``end`` [s], as if no event came. Contract:

    1. ``states(times)`` (k,) → positions (k, nq) and velocities (k, nv) at any times in [start, end], in any order;
       the same time gives the same bits.
    2. ``reactions(times)`` (k,) → forces (k, r) [N] in the order of the rows of
       :class:`~klapper.schemes.phase_equations.PhaseEquations`.
    3. ``integrals(times)`` (k,) from the start up to rising times in [start, end].
    4. ``pieces`` is a number of intervals that [start, end] is to be cut into for the search of events, about one for
       every oscillation; ``next_size`` [s] is proposed for the next flow, 0 if there is nothing to propose.
    5. ``forces(times)`` (k, r) are the reactions as the motion has them, for statistics at many times: they may be
       taken from the integrals.
    6. ``drifts`` says whether held rows are met only to the error of an integration.
    """

    drifts: bool

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

    def forces(self, times: np.ndarray) -> np.ndarray: ...

    def integrals(self, times: np.ndarray) -> Integrals: ...
