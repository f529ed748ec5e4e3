"""Systems of units of programs that have none of their own.

A consistent system is named by its units of mass, length and time, e.g. "t, mm, s": forces are then in N, moduli in
MPa. Displacements count in the unit of length, rotations in rad, so that with the unit of energy e = m l²/t²

    K → e S K S,   D → e t S D S,   M → e t² S M S,   f → e S f,   S = diag(1/l for displacements, 1 for rotations)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel

MASSES = {"t": 1e3, "kg": 1.0, "g": 1e-3, "mg": 1e-6, "lb": 0.45359237, "slug": 14.593902937206364}
LENGTHS = {"km": 1e3, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "in": 0.0254, "ft": 0.3048}
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}


@dataclass(frozen=True)
class Units:
    """``mass`` [kg], ``length`` [m] and ``time`` [s] of one unit.

    >>> units = Units.named("t, mm, s")
    >>> round(units.mass * units.length / units.time**2, 12)  # N
    1.0
    """

    mass: float
    length: float
    time: float

    @classmethod
    def named(cls, names: str) -> Units:
        """From the names of the units of mass, length and time, separated by commas."""
        parts = [part.strip() for part in str(names).split(",")]
        tables = (MASSES, LENGTHS, TIMES)
        if len(parts) != 3 or not all(part in table for part, table in zip(parts, tables, strict=True)):
            choice = "; ".join(", ".join(table) for table in tables)
            raise InvalidModel(
                f"units is {names!r}; expected mass, length and time such as 't, mm, s', out of {choice}."
            )
        return cls(*(table[part] for part, table in zip(parts, tables, strict=True)))

    @property
    def energy(self) -> float:
        """[J] of one unit."""
        return self.mass * self.length**2 / self.time**2

    def scale(self, rotations: np.ndarray) -> np.ndarray:
        """diag S (n,), from which coordinates are rotations (n,)."""
        return np.where(rotations, 1.0, 1.0 / self.length)

    def stiffness(self, matrix: Any, rotations: np.ndarray) -> Any:
        """K (n, n) in SI units."""
        return self._scaled(matrix, self.energy, rotations)

    def damping(self, matrix: Any, rotations: np.ndarray) -> Any:
        """D (n, n) in SI units."""
        return self._scaled(matrix, self.energy * self.time, rotations)

    def inertia(self, matrix: Any, rotations: np.ndarray) -> Any:
        """M (n, n) in SI units."""
        return self._scaled(matrix, self.energy * self.time**2, rotations)

    def _scaled(self, matrix: Any, factor: float, rotations: np.ndarray) -> Any:
        diagonal = sparse.diags_array(self.scale(rotations))
        return (factor * (diagonal @ matrix @ diagonal)).tocsr()
