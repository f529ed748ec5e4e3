"""Branches of periodic motions: what was followed, and what happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.periodic.motion import PeriodicMotion
from klapper.counting import counted
from klapper.shown import Shown

if TYPE_CHECKING:
    from klapper.analysis.periodic.family import Family

PERIOD_DOUBLING, NEIMARK_SACKER, HOPF = "period doubling", "Neimark-Sacker", "Hopf"
"""A multiplier passes −1; a pair of complex multipliers passes the unit circle; the motion shrinks to rest."""


@dataclass(frozen=True, eq=False)
class Bifurcation:
    """A bifurcation of periodic motions, or where the sequence of their events changes.

    ``kind``       "fold" (a multiplier passes +1 and the parameter turns back), "branch point" (another branch
                   crosses), "period doubling" (a multiplier passes −1), "Neimark-Sacker" (a pair passes the unit
                   circle), "Hopf" (the motion shrinks to rest); or where the sequence of events changes: "grazing",
                   "grazing-sliding", "adding-sliding", "crossing-sliding", "lift-off", "events coincide",
                   "impact changes"
    ``parameter``  at which it happens, in its unit
    ``motion``     there
    ``contact``    by which it happens, "" if by none
    ``accuracy``   estimated error of the point, in parts of the range of parameters and of the size of the motion
    ``other``      (p + 1,) tangent of the branch that crosses at a branch point, in the units of the unknowns and of
                   the parameter

    x'' + x' + x = cos Ωt has the amplitude 1 at Ω = 1 rad/s, where it grazes a stop at x = 1:

    >>> from klapper.analysis import follow_periodic
    >>> from klapper.mechanics import Contact, Harmonic, LinearSystem
    >>> stop = Contact("stop", normal=[-1.0], gap=1.0, restitution=0.5)
    >>> def driven(speed):
    ...     force = Harmonic([1.0], speed)
    ...     return LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=force, contacts=[stop])
    >>> branch = follow_periodic(driven, 1.01, 0.999, step=0.5, largest=1.0, most=4)
    >>> print(branch.bifurcations[0])
    grazing of stop at 1
    """

    kind: str
    parameter: float
    motion: PeriodicMotion
    contact: str = ""
    accuracy: float = 0.0
    other: np.ndarray | None = field(default=None, repr=False)

    def __str__(self) -> str:
        by = f" of {self.contact}" if self.contact else ""
        return f"{self.kind}{by} at {self.parameter:.10g}"


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicBranch(Shown):
    """A branch of periodic motions.

    ``family``        parameter → system
    ``motions``       in the order of the branch
    ``parameters``    (k,) in the unit of the parameter
    ``bifurcations``  in the order of the branch
    ``ended``         why it ended, in a sentence

    x'' + x' + x = cos Ωt followed from Ω = 1 to 1.1 rad/s; the multipliers of its period have the size e^(−π/Ω):

    >>> import numpy as np
    >>> from klapper.analysis import follow_periodic
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> driven = lambda speed: LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], speed))
    >>> branch = follow_periodic(driven, 1.0, 1.1, step=0.5, largest=1.0)
    >>> bool(abs(abs(branch.multipliers[-1, 0]) - np.exp(-np.pi / 1.1)) < 1e-9), bool(branch.stable.all())
    (True, True)
    """

    family: Family
    parameters: np.ndarray
    motions: tuple[PeriodicMotion, ...]
    bifurcations: tuple[Bifurcation, ...]
    ended: str

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def events(self) -> tuple[Bifurcation, ...]:
        """What happens on the branch: its bifurcations and changes of the sequence of events."""
        return self.bifurcations

    @cached_property
    def multipliers(self) -> np.ndarray:
        """(k, 2n), complex, the largest first."""
        return np.array([motion.multipliers for motion in self.motions])

    @cached_property
    def stable(self) -> np.ndarray:
        """(k,)."""
        return np.array([motion.stable for motion in self.motions], dtype=bool)

    @cached_property
    def periods(self) -> np.ndarray:
        """(k,) [s]."""
        return np.array([motion.period for motion in self.motions])

    def values(self, quantity: Callable[[PeriodicMotion], Any]) -> np.ndarray:
        """(k, …) a quantity of every motion."""
        return np.array([quantity(motion) for motion in self.motions])

    def named(self, kind: str) -> tuple[Bifurcation, ...]:
        """The bifurcations of one kind."""
        return tuple(found for found in self.bifurcations if found.kind == kind)

    def switch(self, bifurcation: Bifurcation, *, side: float = 1.0, **options: Any) -> PeriodicBranch:
        """The other branch at a period doubling or a branch point.

        ``side``     +1 or −1: which way to go on it; both ways are the same motion at a period doubling
        ``options``  of :func:`follow_periodic`: ``start`` and ``end`` bound the parameter, default as before
        """
        from klapper.analysis.periodic.follow import follow_other

        return follow_other(self, bifurcation, side, **options)

    def __repr__(self) -> str:
        return f"PeriodicBranch({counted(len(self), 'motion')}, {counted(len(self.bifurcations), 'bifurcation')})"

    def __str__(self) -> str:
        low, high = float(np.min(self.parameters)), float(np.max(self.parameters))
        lines = [
            f"Branch of {len(self)} periodic motions between {low:.8g} and {high:.8g}, "
            f"{int(self.stable.sum())} of them stable.",
            *(f"  {found}" for found in self.bifurcations),
            f"  It ends because {self.ended}.",
        ]
        return "\n".join(lines)
