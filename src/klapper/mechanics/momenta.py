"""Momentum and angular momentum of systems that have them, and what changes them from outside.

    L̇ = L(M⁻¹ F),   J̇ = J(q, M⁻¹ F)

for any generalised force F, since L and J are linear in the velocity and the mass matrix of bodies made of points is
symmetric in them. Elastic forces and contacts between bodies drop out; supports, walls and loads remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Protocol, TypeGuard

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.system import System

_ROUND_OFF = 1e-9  # of the sizes of its parts: a resultant below is none


class HasMomenta(System, Protocol):
    """A system that knows L (d,) [kg m/s] and J about the origin [kg m²/s]."""

    def linear_momentum(self, v: np.ndarray) -> np.ndarray: ...

    def angular_momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray: ...


def has_momenta(system: Any) -> TypeGuard[HasMomenta]:
    return hasattr(system, "linear_momentum") and hasattr(system, "angular_momentum")


def momentum_sizes(system: System, position: np.ndarray, velocity: np.ndarray) -> tuple[float, float]:
    """Largest sums of the terms of L and of J over s samples (s, n)."""
    mass = system.mass(position[0])
    terms = max(float(np.abs(mass @ v).sum()) for v in velocity)
    return terms, terms * float(np.abs(position).max(initial=0.0))


class Pushes:
    """Finds out which forces of a system have a resultant force or moment."""

    def __init__(self, system: Any) -> None:
        self.system = system

    def resultant(self, q: np.ndarray, force: np.ndarray) -> tuple[bool, bool]:
        """Whether a generalised force (n,) at a position (n,) changes L, and whether it changes J."""
        size = float(np.abs(force).sum())
        if size == 0.0:
            return False, False
        turning = size * float(np.abs(q).max(initial=0.0))
        linear, angular = (np.abs(part).max(initial=0.0) for part in self._rates(q, force))
        return bool(linear > _ROUND_OFF * size), bool(angular > _ROUND_OFF * turning)

    def _rates(self, q: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """L̇ and J̇ of a force, from the system where it says them itself."""
        own = getattr(self.system, "resultants", None)
        if own is not None:
            return own(q, force)
        rate = self._inverse(force)
        return self.system.linear_momentum(rate), self.system.angular_momentum(q, rate)

    @cached_property
    def _inverse(self) -> Callable[[np.ndarray], np.ndarray]:
        return _inverse(self.system.mass(self.system.start.position))

    def named(
        self, moments: Iterable[tuple[np.ndarray, dict[str, np.ndarray]]]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the forces that change L, and of those that change J, of forces (n,) by name at positions (n,)."""
        linear: dict[str, None] = {}
        angular: dict[str, None] = {}
        for q, forces in moments:
            for name, force in forces.items():
                moves, turns = self.resultant(q, force)
                if moves:
                    linear[name] = None
                if turns:
                    angular[name] = None
        return tuple(linear), tuple(angular)


def _inverse(mass: Any) -> Callable[[np.ndarray], np.ndarray]:
    diagonal = mass.diagonal()
    if sparse.issparse(mass):
        if mass.nnz == np.count_nonzero(diagonal):
            return lambda right: right / diagonal
        from scipy.sparse.linalg import splu

        return splu(mass.tocsc()).solve
    return lambda right: np.linalg.solve(mass, right)
