"""A state of rest under contact: where a system may stay, and the forces that keep it there.

    K q = f + J_N λ_N + J_T λ_T + J_B λ_B,   0 ≤ g ⟂ λ_N ≥ 0,   |λ_T| ≤ μ λ_N

K holds all that depends on the position: elastic, centrifugal and circulatory terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.mechanics.linear_system import LinearSystem
from klapper.schemes.base import OPEN, SLIP, STICK


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A stationary state of a linear system.

    ``position``    (n,) [m]
    ``forces``      (m, 1 + d) [N], normal and tangential, by contact
    ``gaps``        (m,) [m], not a number for friction elements
    ``states``      (m,) OPEN (without force), STICK or SLIP; a loaded smooth contact is SLIP
    ``touching``    (m,) whether a contact is closed, loaded or not
    ``constraint``  (p,) [N], forces of two-sided constraints
    ``residual``    of the equations and the contact laws, relative to the forces and gaps that occur
    """

    system: LinearSystem
    position: np.ndarray
    forces: np.ndarray
    gaps: np.ndarray
    states: np.ndarray
    touching: np.ndarray
    constraint: np.ndarray
    residual: float

    @cached_property
    def loaded(self) -> np.ndarray:
        """Numbers of the contacts that carry a force."""
        return np.flatnonzero((self.states == STICK) | (self.states == SLIP))

    @cached_property
    def open(self) -> np.ndarray:
        """Numbers of the contacts that do not touch."""
        return np.flatnonzero((self.states == OPEN) & ~self.touching)
