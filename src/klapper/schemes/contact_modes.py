"""What is remembered of every contact between the switches of a regularised motion.

Between two switches every contact force is a smooth function of the state. Which function it is says the mode: of the
normal law (apart, pressing, or inside without pressing) and of the friction law (none, stick, slip, ...).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

APART, PRESSING, IDLE = 0, 1, 2
"""Normal modes: no contact; force by the law; penetration whose damper would pull, so that there is no force."""

NO_FRICTION, STICKING, SLIDING, STARTING, YIELDING = 0, 1, 2, 3, 4
"""Tangential modes. Starting: sliding that is too slow to have a direction of its own. Yielding: a spring with damper
that gives way because its limit falls, although its end moves back."""


@dataclass(frozen=True, eq=False)
class ContactModes:
    """Modes and inner variables of the m contacts of a system.

    ``normal``, ``tangential``  (m,) modes
    ``sense``    (m, d) direction of sliding
    ``layer``    (m,) compression s of boundary layers [m]
    ``spring``   (m, d) stretch z of tangential springs [m]
    """

    normal: np.ndarray
    tangential: np.ndarray
    sense: np.ndarray
    layer: np.ndarray
    spring: np.ndarray

    @staticmethod
    def all_apart(contacts: int, tangential: int) -> ContactModes:
        return ContactModes(
            np.zeros(contacts, dtype=np.int64),
            np.zeros(contacts, dtype=np.int64),
            np.zeros((contacts, tangential)),
            np.zeros(contacts),
            np.zeros((contacts, tangential)),
        )

    @property
    def closed(self) -> np.ndarray:
        """Numbers of the contacts that are not apart."""
        return np.flatnonzero(self.normal != APART)

    def changed(self, **arrays: Any) -> ContactModes:
        return replace(self, **arrays)

    def copy(self) -> ContactModes:
        """The same with arrays of its own."""
        return ContactModes(*(getattr(self, item.name).copy() for item in fields(self)))

    def packed(self) -> np.ndarray:
        return np.concatenate([np.ravel(getattr(self, item.name)).astype(float) for item in fields(self)])

    @staticmethod
    def unpacked(packed: np.ndarray, contacts: int, tangential: int) -> ContactModes:
        m, d = contacts, tangential
        parts = np.split(packed, np.cumsum([m, m, m * d, m]))
        return ContactModes(
            parts[0].astype(np.int64),
            parts[1].astype(np.int64),
            parts[2].reshape(m, d).copy(),
            parts[3].copy(),
            parts[4].reshape(m, d).copy(),
        )
