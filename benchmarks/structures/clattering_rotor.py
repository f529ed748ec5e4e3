"""The rotor of Example 5.14 as plain arrays, so that several programs step the same matrices.

    M q̈ + C q̇ + K q = f₀ + f_cos cos Ωt + f_sin sin Ωt + J λ,   0 ≤ λ ⟂ Jᵀ q ≥ 0        Waltersberger (5.114), (5.150)

C = D + Ω G and K = K_el − Ω² K_c + Ω P are not symmetric. All contacts are without restitution. Only numpy is imported
before `shipped` is called: Siconos' interpreter reads this file too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

SPEED = 5.2  # Hz, the resonance with gravity
STEPS_PER_TURN = 1000


@dataclass(frozen=True, eq=False)
class ClatteringRotor:
    """Matrices (n, n), loads (n,), contact directions J (n, m), the row of the gap in the middle (n,), a start (n,).

    ``speed`` Ω/2π [Hz]; ``start_time`` [s]; SI units.
    """

    mass: np.ndarray
    rate: np.ndarray
    position: np.ndarray
    steady: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray
    directions: np.ndarray
    middle: np.ndarray
    start_position: np.ndarray
    start_velocity: np.ndarray
    start_time: float = 0.0
    speed: float = SPEED

    @property
    def step(self) -> float:
        """h [s]."""
        return 1.0 / (self.speed * STEPS_PER_TURN)

    @property
    def omega(self) -> float:
        """Ω [rad/s]."""
        return 2.0 * np.pi * self.speed

    def arrays(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_arrays(cls, stored: dict[str, Any]) -> ClatteringRotor:
        given = {each.name: stored[each.name] for each in fields(cls)}
        return cls(**{name: float(each) if np.ndim(each) == 0 else each for name, each in given.items()})


def shipped(modes: int = 16, contacts: int = 39) -> ClatteringRotor:
    """The shaft of the gallery's `rotor-clatter`, L₂ = 1.6 m, at rest at its start."""
    from klapper.gallery._rotor import ALUMINIUM

    model = ALUMINIUM.model(modes)
    system = model.system(SPEED, model.contacts(contacts))
    cosine, sine = model.rotor.gravity_load()
    omega = 2.0 * np.pi * SPEED
    return ClatteringRotor(
        mass=dense(system.mass_matrix),
        rate=dense(system.rate_matrix),
        position=dense(system.position_matrix),
        steady=omega**2 * model.rotor.unbalance + omega * model.rotor.drag,
        cosine=cosine,
        sine=sine,
        directions=dense(system.normal_directions),
        middle=model.gap_rows([0.5])[0],
        start_position=np.zeros(modes),
        start_velocity=np.zeros(modes),
    )


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix, dtype=float)
