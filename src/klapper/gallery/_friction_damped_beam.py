"""The cantilever with a dry damper between its ends: its modes, its damper, and its response without friction or stuck.

With the coordinates q of the beam and the displacement z of the slider,

    M q̈ + D q̇ + K q = r F cos ωt − r_d s,    m z̈ = s + λ,    |λ| ≤ R,    s = k (r_d · q − z) + d (r_d · q̇ − ż)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem
    from klapper.structures import Beam

YOUNG, SHEAR, DENSITY = 210e9, 81e9, 7850.0
INNER_DAMPING = 0.3  # damping ratio of the slider on its spring


@dataclass(frozen=True)
class DampedBeam:
    """The beam with its damper; lengths in m, stiffness in N/m, limit in N."""

    length: float
    thickness: float
    width: float
    modes: int
    ratio: float
    place: float
    stiffness: float
    slider: float
    limit: float

    @cached_property
    def beam(self) -> "Beam":
        from klapper.structures import Beam, Material, Section

        steel = Material(young=YOUNG, density=DENSITY, shear=SHEAR)
        section = Section.rectangle(self.thickness, self.width)
        return Beam(self.length, steel, section, elements=10, supports={0.0: "clamped"})

    @cached_property
    def kept(self) -> Any:
        """The lowest modes of the beam."""
        return self.beam.modes(self.modes)

    @cached_property
    def damper(self) -> float:
        """d [N s/m]."""
        return 2.0 * INNER_DAMPING * float(np.sqrt(self.stiffness * self.slider))

    @cached_property
    def tip(self) -> np.ndarray:
        """Row of the deflection of the tip."""
        return np.append(self.beam.row(self.length) @ self.kept.shapes, 0.0)

    @cached_property
    def foot(self) -> np.ndarray:
        """Row of the deflection of the beam at the damper."""
        return np.append(self.beam.row(self.place * self.length) @ self.kept.shapes, 0.0)

    def system(self, force: float, frequency: float) -> "LinearSystem":
        """Shaken by ``force`` [N] at ``frequency`` [Hz]."""
        from klapper.mechanics import FrictionElement, Harmonic, LinearSystem

        slider = np.append(np.zeros(self.modes), 1.0)
        apart = np.outer(self.foot - slider, self.foot - slider)
        omega = 2.0 * np.pi * self.kept.frequencies
        return LinearSystem(
            np.append(np.ones(self.modes), self.slider),
            stiffness=np.diag(np.append(omega**2, 0.0)) + self.stiffness * apart,
            damping=np.diag(np.append(2.0 * self.ratio * omega, 0.0)) + self.damper * apart,
            force=Harmonic(force * self.tip, 2.0 * np.pi * frequency),
            contacts=[FrictionElement("damper", tangents=[slider], limit=self.limit)],
            coordinates=[*(f"mode {i + 1}" for i in range(self.modes)), "slider"],
            name="friction-damped beam",
        )

    def frequency(self, *, stuck: bool) -> float:
        """Lowest natural frequency [Hz] of the beam alone, or with the slider held."""
        at = self.beam.row(self.place * self.length)
        return float((self.beam.with_spring(at, self.stiffness) if stuck else self.beam).frequencies(1)[0])

    def linear(self, frequencies: np.ndarray, *, stuck: bool) -> np.ndarray:
        """|x| / F (k,) [m/N] at the tip of the whole finite-element beam, with the slider held or gone."""
        row, at = self.beam.row(self.length), self.beam.row(self.place * self.length)
        modal = self.beam.mass @ self.kept.shapes
        damping = (modal * (4.0 * np.pi * self.ratio * self.kept.frequencies)) @ modal.T
        stiffness = self.beam.stiffness.toarray()
        if stuck:
            stiffness = stiffness + self.stiffness * np.outer(at, at)
            damping = damping + self.damper * np.outer(at, at)
        w = (2.0 * np.pi * frequencies)[:, None, None]
        matrices = stiffness + 1j * w * damping - w**2 * self.beam.mass.toarray()
        return np.abs(
            np.linalg.solve(matrices, np.broadcast_to(row[:, None], (len(w), len(row), 1)))[:, :, 0] @ row
        )

    def range(self) -> tuple[float, float]:
        """Frequencies [Hz] between which the curves are followed."""
        return 0.75 * self.frequency(stuck=False), 1.2 * self.frequency(stuck=True)
