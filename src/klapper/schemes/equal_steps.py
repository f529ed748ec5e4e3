"""Schemes with steps of equal length h: how many there are, and when each ends.

    t_k = t_0 + k h

Times follow from the counter and not from sums, so that the clock does not drift.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.base import Scheme, Snapshot


class EqualSteps(Scheme):
    """What schemes with a ``step_size`` h [s] share; those that inherit it are dataclasses with that field."""

    step_size: float

    def equal_steps(self, system: System, until: float) -> int:
        """Number of steps from the start of a system to the time ``until`` [s]: at least one."""
        return max(int(np.ceil((until - system.start.time) / self.step_size - 1e-6)), 1)

    def steps(self, system: System, until: float) -> int | None:
        return self.equal_steps(system, until)

    def end_of_step(self, system: System, before: Snapshot) -> float:
        """Time [s] at the end of the step that begins with ``before``."""
        return float(system.start.time + (before.step + 1) * self.step_size)

    def refined(self, factor: float) -> Self:
        return replace(self, step_size=self.step_size / factor)  # type: ignore[type-var]
