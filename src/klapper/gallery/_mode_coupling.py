"""The mass on a belt between inclined springs: its matrices, its critical friction coefficient, and its motion.

    m q̈ + C q̇ + K q = 0,   K = [k_xx, k_xy − μ k₃; k_xy, k_yy]

It flutters where Hurwitz' determinant a₁ a₂ a₃ − a₁² a₄ − a₀ a₃² of det(m s² + C s + K) is negative.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.analysis import SlidingStability
    from klapper.mechanics import LinearSystem
    from klapper.results import Run

PERIODS = 26  # of the undamped oscillation, that the motion is followed
SAMPLES = 900  # of that motion
DISTURBANCE = 2e-3  # of the static deflection


@dataclass(frozen=True)
class Slider:
    """A mass on a belt that runs towards negative x, held by two inclined springs, pressed onto it by a force."""

    mu: float
    mass: float
    k1: float
    k2: float
    k3: float
    alpha1: float
    alpha2: float
    damping_x: float
    damping_y: float
    force: float
    belt_speed: float

    @property
    def springs(self) -> np.ndarray:
        """Stiffness (2, 2) [N/m] without the contact."""
        rows = [np.array([np.cos(angle), np.sin(angle)]) for angle in (self.alpha1, self.alpha2)]
        return self.k1 * np.outer(rows[0], rows[0]) + self.k2 * np.outer(rows[1], rows[1])

    @property
    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K (2, 2) of small motions while it slides, by the formulas of the source."""
        stiffness = self.springs + self.k3 * np.array([[0.0, -self.mu], [0.0, 1.0]])
        return self.mass * np.eye(2), np.diag([self.damping_x, self.damping_y]), stiffness

    @property
    def polynomial(self) -> np.ndarray:
        """a₄ … a₀ of det(m s² + C s + K)."""
        _, _, k = self.matrices
        one, two = (
            np.array([self.mass, c, s]) for c, s in ((self.damping_x, k[0, 0]), (self.damping_y, k[1, 1]))
        )
        return np.polysub(np.polymul(one, two), [k[0, 1] * k[1, 0]])

    @property
    def critical(self) -> float:
        """The friction coefficient of the limit, in closed form."""
        a4, a3, a2, a1, _ = self.polynomial
        limit = a1 * (a2 * a3 - a1 * a4) / a3**2 if a3 > 0.0 else a2**2 / (4 * a4)
        k = replace(self, mu=0.0).matrices[2]
        return float((k[0, 1] ** 2 + limit - k[0, 0] * k[1, 1]) / (k[0, 1] * self.k3))

    def system(self, position: Any = (0.0, 0.0), velocity: Any = (0.0, 0.0)) -> "LinearSystem":
        from klapper.mechanics import Contact, LinearSystem

        belt = Contact(
            "belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=self.belt_speed, friction=self.mu
        )
        return LinearSystem(
            [self.mass, self.mass],
            stiffness=self.springs,
            damping=[self.damping_x, self.damping_y],
            force=[0.0, -self.force],
            contacts=[belt],
            position=position,
            velocity=velocity,
            coordinates=["x", "y"],
            penetration=np.inf,
            name="mass on a belt",
        )

    @cached_property
    def judged(self) -> "SlidingStability":
        """Steady sliding and eigenvalues from the contact directions."""
        from klapper.analysis.sliding_stability import sliding_stability
        from klapper.mechanics.compliance import CompliantNormal

        return sliding_stability(self.system(), CompliantNormal(self.k3))

    @property
    def duration(self) -> float:
        return PERIODS * 2 * np.pi / np.sqrt(self.polynomial[2] / (2 * self.mass**2))

    @cached_property
    def motion(self) -> "Run":
        """From steady sliding, disturbed a little."""
        from klapper.mechanics.compliance import CompliantNormal
        from klapper.schemes.regularised import Regularised
        from klapper.simulation import simulate

        rest = self.judged.sliding.position
        system = self.system(rest + DISTURBANCE * np.abs(rest).max() * np.array([1.0, 0.3]))
        scheme = Regularised(CompliantNormal(self.k3), tolerance=1e-9, sample=self.duration / SAMPLES)
        return simulate(system, self.duration, scheme, progress=False)

    @property
    def linear(self) -> int:
        """Number of samples of the motion until it sticks or lifts off."""
        from klapper.contact_states import SLIP

        left = np.flatnonzero(self.motion.contact("belt").state[1:] != SLIP)
        return int(left[0]) if left.size else len(self.motion.time) - 1

    @property
    def fastest(self) -> np.ndarray:
        """(samples,) amplitude of x [m] of the fastest growing part of the motion, as if it were linear throughout."""
        judged, run = self.judged, self.motion
        rates, elastic = (np.linalg.solve(judged.mass, each) for each in (judged.damping, judged.stiffness))
        values, right = np.linalg.eig(np.block([[np.zeros((2, 2)), np.eye(2)], [-elastic, -rates]]))
        which = int(np.argmax(values.real + 1e-9 * values.imag))
        states = np.hstack([run.position - judged.sliding.position, run.velocity])
        return 2.0 * np.abs(right[0, which] * (states @ np.linalg.inv(right)[which]))

    @property
    def measured_growth(self) -> float:
        """[1/s] of the fastest growing part of the simulated motion while it is linear."""
        parts, time = self.fastest[[0, self.linear]], self.motion.time[[0, self.linear]]
        return float(np.log(parts[1] / parts[0]) / (time[1] - time[0]))
