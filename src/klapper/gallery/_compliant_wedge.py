"""A disc that turns in a wedge with compliant walls: its motion, and what is known of it in closed form.

The disc that turns in place presses walls of stiffness c in by λ_N/c; its small oscillations obey, with D = (d/c) K,

    s² + (d/c) κ s + κ = 0,   κ = −s² of the wedge without damping.

Waltersberger (2007), Example 5.6 and (5.31).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from klapper.gallery._wedged_disc import Disc
from klapper.gallery.wedge_stability import closed_form, judge, wedge

if TYPE_CHECKING:
    from klapper.analysis.attractor import Attractor
    from klapper.analysis.sliding_stability import SlidingStability
    from klapper.gallery._sliding_flow import SlidingFlow
    from klapper.mechanics import State
    from klapper.results import Run

BLOCK = 2.0  # s between two looks at the motion
SETTLED = 1e-2  # return points that repeat to this accuracy are handed to Newton's method


@dataclass(frozen=True)
class Wedge:
    """A disc that turns in a compliant wedge."""

    disc: Disc
    stiffness: float
    damping: float

    @property
    def stable(self) -> bool:
        return self.disc.mu * np.tan(self.disc.alpha) < 1.0

    @property
    def loaded(self) -> int:
        """The number of the more loaded contact."""
        return 0 if self.disc.moment < 0.0 else 1

    @property
    def resting_penetrations(self) -> np.ndarray:
        """(2,) [m] of the disc that turns in place, in closed form."""
        return self.disc.turning_forces()[0::2] / self.stiffness

    @property
    def eigenvalues(self) -> np.ndarray:
        """s (4,) [1/s] in closed form: D = (d/c) K, so s² + (d/c) κ s + κ = 0 with κ = −s² of (5.31)."""
        squares = -closed_form(self.disc, np.sqrt(self.stiffness / self.disc.mass))
        ratio = self.damping / self.stiffness
        return np.concatenate([np.roots([1.0, ratio * kappa, kappa]) for kappa in squares])

    @cached_property
    def judged(self) -> "SlidingStability":
        return judge(self.disc, self.stiffness, self.damping)

    @cached_property
    def flow(self) -> "SlidingFlow":
        """The motion of the centre; the rotation does not act on it."""
        from klapper.gallery._sliding_flow import SlidingFlow
        from klapper.mechanics.compliance import CompliantNormal

        law = CompliantNormal(self.stiffness, self.damping)
        return SlidingFlow(wedge(self.disc), law, (0.0, 0.0, np.sign(self.disc.moment)), (0, 1))

    @property
    def touching(self) -> "State":
        """The centre at rest, where the disc touches both walls."""
        from klapper.mechanics import State

        return State(0.0, np.zeros(2), np.zeros(2))

    def pushed(self, push: float) -> "State":
        """The disc turning in place, its centre pushed away from the more loaded wall with ``push`` [m/s]."""
        from klapper.mechanics import State

        normals = np.array([[0.0, 1.0], [np.sin(self.disc.alpha), -np.cos(self.disc.alpha)]])
        return State(0.0, self.judged.sliding.position[:2], push * normals[self.loaded])

    def by_regularised(self, start: "State", speed: float, duration: float) -> "Run":
        """The same motion, rotation included, by the general scheme for compliant contacts."""
        from klapper.mechanics.compliance import CompliantNormal
        from klapper.schemes.regularised import Regularised
        from klapper.simulation import simulate

        system = wedge(self.disc, speed=speed, centre=start.position, rate=start.velocity)
        scheme = Regularised(CompliantNormal(self.stiffness, self.damping))
        return simulate(system, duration, scheme, progress=False)

    def measured_rates(self) -> np.ndarray:
        """Growth (2,) [1/s] of the two oscillations, from a motion near steady sliding: how fast its parts in the two
        eigenspaces grow, the faster first."""
        from klapper.mechanics import State

        rest = np.concatenate([self.judged.sliding.position[:2], np.zeros(2)])
        size = 1e-6 * np.abs(rest).max()
        duration = 3.0 / max(np.abs(self.judged.eigenvalues.real).max(), 1.0)
        motion = self.flow.advance(State(0.0, rest[:2] + size * np.array([1.0, 0.3]), rest[2:]), duration)
        values, left = np.linalg.eig(self.flow.pressed_matrix.T)
        chosen = np.flatnonzero(values.imag > 0.0)
        states = np.hstack([motion.position, motion.velocity])[[0, -1]] - rest
        parts = np.abs(states @ left[:, chosen])
        return np.sort(np.log(parts[1] / parts[0]) / duration)[::-1]

    def attractor(self, start: "State", patience: float) -> "Attractor":
        from klapper.analysis.attractor import find_attractor
        from klapper.analysis.poincare_section import PoincareSection

        below = self.judged.sliding.gap[self.loaded]
        flow = self.flow
        return find_attractor(
            flow.advance,
            start,
            section=PoincareSection(lambda t, q, v: flow.gaps(q)[:, self.loaded] - below, rising=False),
            block=BLOCK,
            patience=patience,
            tolerance=SETTLED if not self.stable else 1e-9,
            quantities={
                "loaded": lambda t, q, v: flow.gaps(q)[:, self.loaded],
                "other": lambda t, q, v: flow.gaps(q)[:, 1 - self.loaded],
            },
        )
