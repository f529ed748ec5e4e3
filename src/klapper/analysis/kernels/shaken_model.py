"""The mass on a shaken incline as numbers, and the names of its models and phases."""

from __future__ import annotations

from typing import NamedTuple

NONE, SPRING, DAMPER, BOTH, ARCTAN = 0, 1, 2, 3, 4
STICK = 0  # a slip is named by its direction, +1 or −1


class Model(NamedTuple):
    """``pull`` A, ``shaking`` B, ``kind`` of the stick law, ``stiffness`` 1/ε_e and ``damping`` 1/ε_d of it.

    Where there is no spring or no damper, its number is zero. The arctan law has the ``damping`` 1/ε.
    """

    pull: float
    shaking: float
    kind: int
    stiffness: float
    damping: float
