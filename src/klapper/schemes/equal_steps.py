"""Steps of equal length h: how many there are, and when each ends.

    t_k = t_0 + k h

Times follow from the counter and not from sums, so that the clock does not drift.
"""

from __future__ import annotations

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot


def steps_until(system: System, until: float, h: float) -> int:
    """Number of steps of h [s] from the start of a system to the time ``until`` [s]: at least one."""
    return max(int(np.ceil((until - system.start.time) / h - 1e-6)), 1)


def end_of_step(system: System, before: Snapshot, h: float) -> float:
    """Time [s] at the end of the step of h [s] that begins with ``before``."""
    return float(system.start.time + (before.step + 1) * h)
