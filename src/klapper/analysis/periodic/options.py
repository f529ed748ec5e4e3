"""What a branch of periodic motions is followed with, and refused where it cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.analysis.periodic.motion import PeriodicMotion
from klapper.counting import counted
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System


def require_motion_of(system: System, motion: Any) -> None:
    """Refuse what is no motion of a system like this one."""
    if not isinstance(motion, PeriodicMotion):
        raise InvalidModel(f"first is {motion!r}; give one that periodic_motion has found, or None.")
    given = motion.system
    sizes = (len(given.velocities), given.contacts.count), (len(system.velocities), system.contacts.count)
    if sizes[0] != sizes[1]:
        raise InvalidModel(
            f"the motion has {counted(sizes[0][0], 'coordinate')} and {counted(sizes[0][1], 'contact')}, the family "
            f"has {sizes[1][0]} and {sizes[1][1]}; give a motion of the family."
        )


@dataclass(frozen=True)
class Options:
    """Range of the parameter, steps and tolerance in the unit of :func:`follow_periodic`, most motions."""

    low: float
    high: float
    step: float = 0.01
    largest: float = 0.05
    tolerance: float = 1e-10
    most: int = 1000

    def __post_init__(self) -> None:
        if self.low == self.high:
            raise InvalidModel(f"start and end are both {self.low:g}; give a range of the parameter.")
        for name in ("step", "largest", "tolerance"):
            number(getattr(self, name), name, "numbers above 0", above=0.0)
        if self.step > self.largest:
            raise InvalidModel(f"step is {self.step:g}; allowed are numbers up to largest, {self.largest:g}.")
        if not (isinstance(self.most, int | np.integer) and self.most >= 2):
            raise InvalidModel(f"most is {self.most!r}; allowed are whole numbers of motions from 2 on.")

    @property
    def width(self) -> float:
        return self.high - self.low
