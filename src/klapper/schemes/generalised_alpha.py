"""The generalised-α method: Newmark steps that damp what the step does not resolve, and little else.

    α_m = (2 ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ − α_m + α_f,   β = ¼ (1 − α_m + α_f)²

Second order for every ρ; see :mod:`klapper.schemes.newmark` for the equations.
Chung & Hulbert (1993), (17), (20), (25).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from klapper.mechanics.arguments import number
from klapper.schemes.base import registered
from klapper.schemes.newmark import NewmarkFamily, Weights


@registered
@dataclass(frozen=True)
class GeneralisedAlpha(NewmarkFamily):
    """Implicit steps with chosen damping of high frequencies, for systems with a constant mass matrix.

        α_m = (2 ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ − α_m + α_f,   β = ¼ (1 − α_m + α_f)²

    ``step_size``        h [s]; with ``accuracy`` the largest one
    ``spectral_radius``  ρ, dimensionless, by which vibrations of infinite frequency are multiplied in a step: 0 removes
                         them at once, 1 does not damp at all
    ``contact``, ``newton``, ``accuracy``  as in :class:`klapper.schemes.Newmark`

    >>> from klapper.schemes import GeneralisedAlpha
    >>> GeneralisedAlpha(1e-3, 1.0).weights
    Weights(inertia=0.5, force=0.5, gamma=0.5, beta=0.25)
    >>> GeneralisedAlpha(1e-3, 0.0).weights
    Weights(inertia=-1.0, force=0.0, gamma=1.5, beta=1.0)
    """

    spectral_radius: float = 0.8

    name = "generalised-alpha"

    def __post_init__(self) -> None:
        super().__post_init__()
        number(self.spectral_radius, "spectral_radius", "numbers from 0 to 1", at_least=0.0, at_most=1.0)

    @property
    def weights(self) -> Weights:
        radius = self.spectral_radius
        inertia, force = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
        return Weights(inertia, force, 0.5 - inertia + force, 0.25 * (1.0 - inertia + force) ** 2)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "spectral_radius": self.spectral_radius}

    @property
    def citations(self) -> tuple[str, ...]:
        return ("chung1993", "newmark1959", "arnold2007")
