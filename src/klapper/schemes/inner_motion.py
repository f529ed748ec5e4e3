"""The motion within one step, for methods that know it at every time and not only at the ends of their steps.

A method of high order or a closed form takes long steps. The time loop samples the motion inside them as densely as it
needs, and takes its statistics from the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a step has come at k times within it.

    ``position``    (k, nq) [m, rad], ``velocity`` (k, nv) [m/s, rad/s]
    ``impulse``     (k, c, 1 + d) [N s] of the c contacts of the step, since its start
    ``constraint``  (k, p) [N s], since its start
    ``energy``      (k, 7) [J], columns of ``klapper.results.ENERGY``, works since the start of the run
    """

    position: np.ndarray
    velocity: np.ndarray
    impulse: np.ndarray
    constraint: np.ndarray
    energy: np.ndarray


class InnerMotion(Protocol):
    """Smooth motion from ``start`` to ``end`` [s] of one step. Contract:

    1. ``states(times)`` (k,) → positions (k, nq) and velocities (k, nv) at any times in [start, end].
    2. ``gaps(times, positions)`` → gaps (k, m) [m] of all contacts of the system.
    3. ``forces(times)`` → (k, c, 1 + d) [N] of the contacts of the step, in its order.
    4. ``progress(times)`` at rising times.
    5. ``pieces`` is a number of parts into which the step is to be cut for a first look, about one for every half
       oscillation.
    """

    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...

    @property
    def pieces(self) -> int: ...

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def gaps(self, times: np.ndarray, positions: np.ndarray) -> np.ndarray: ...

    def forces(self, times: np.ndarray) -> np.ndarray: ...

    def progress(self, times: np.ndarray) -> Progress: ...
