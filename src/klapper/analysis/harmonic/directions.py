"""The directions in which the contacts of a system can carry forces, and the laws along them.

    normal       0 ≤ λ_N ⟂ g ≥ 0
    tangential   |λ_T| ≤ R,   R = limit + Σ_j μ_j λ_Nj,   −v_T ∈ N(λ_T)

A column of J belongs to each of them. The second direction of an anisotropic contact is scaled, so that its ellipse
becomes a disc (see :mod:`klapper.mechanics.friction`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.contacts import Contact
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem


@dataclass(frozen=True)
class Direction:
    """Direction ``row`` (n,) of a contact, multiplied by ``scale``; ``source`` is its column in J_N or J_T."""

    contact: int
    is_normal: bool
    source: int
    scale: float
    row: np.ndarray


@dataclass(frozen=True)
class ContactPart:
    """One contact by columns of J: ``normal`` (or None) and ``tangential`` (none, one or two).

    ``limit`` [N] is the given part of the friction limit, ``shares`` (column of a normal, μ) raise it.
    """

    contact: int
    name: str
    normal: int | None
    tangential: tuple[int, ...]
    limit: float
    shares: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class ContactDirections:
    """All directions of a system as the columns of J, and the contacts they belong to."""

    columns: tuple[Direction, ...]
    parts: tuple[ContactPart, ...]

    @classmethod
    def of(cls, system: LinearSystem) -> ContactDirections:
        table = system.contacts
        if not table.constant:
            raise InvalidModel(
                "harmonic balance takes friction coefficients that do not depend on the sliding speed; give numbers, "
                "or use periodic_motion or a time integration."
            )
        laws = table.laws(np.arange(table.count))
        coupling = laws.friction_matrix
        columns = tuple(_directions(system, coupling, laws))
        normals = {column.contact: place for place, column in enumerate(columns) if column.is_normal}
        parts = tuple(
            ContactPart(
                i,
                table.name(i),
                normals.get(i),
                tuple(p for p, column in enumerate(columns) if column.contact == i and not column.is_normal),
                float(laws.limit[i]),
                tuple((normals[j], float(coupling[i, j])) for j in normals if coupling[i, j] != 0.0),
            )
            for i in range(table.count)
        )
        return cls(columns, parts)

    @property
    def count(self) -> int:
        """c."""
        return len(self.columns)

    def matrix(self, size: int) -> np.ndarray:
        """J (n, c)."""
        rows = [column.scale * column.row for column in self.columns]
        return np.array(rows, dtype=float).reshape(self.count, size).T

    @property
    def is_normal(self) -> np.ndarray:
        """(c,)."""
        return np.array([column.is_normal for column in self.columns], dtype=bool)

    def seen(self, normal: np.ndarray, tangential: np.ndarray) -> np.ndarray:
        """Values (…, c) of quantities that the system has as (…, m) and (…, m d)."""
        picked = [
            normal[..., c.source] if c.is_normal else c.scale * tangential[..., c.source]
            for c in self.columns
        ]
        return np.stack(picked, axis=-1) if picked else np.zeros((*normal.shape[:-1], 0))


def _directions(system: LinearSystem, coupling: np.ndarray, laws: Any) -> Iterator[Direction]:
    for i, part in enumerate(system.contacts.parts):
        if isinstance(part, Contact):
            yield Direction(i, True, i, 1.0, part.normal)
        if laws.limit[i] > 0.0 or np.any(coupling[i]):
            for j, row in enumerate(part.tangents):
                scale = float(laws.ratio[i]) if j == 1 else 1.0
                yield Direction(i, False, i * system.contacts.tangential + j, scale, row)
