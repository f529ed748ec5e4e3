"""The delaminated beam shaken by a harmonic force: its modes with contact in the joint, and the motion it settles to.

The joint may open and close anywhere along its length:

    M q̈ + D q̇ + K q = r F cos ωt + J λ,   0 ≤ λ ⟂ J q ≥ 0,   J q = u₁₂ − u₁₃        Waltersberger (5.150)–(5.155)
"""

import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.gallery.example import ParameterError

if TYPE_CHECKING:
    from klapper.analysis.attractor import Attractor
    from klapper.mechanics import LinearSystem, State
    from klapper.results import Run
    from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel

TRANSIENT = 200  # periods before the motion is looked at
BLOCK = 25  # periods between two looks
RECORD = 20  # periods that are kept when it has settled
LEADING = 2  # modes whose return points must repeat; the higher ones carry the scatter of small impacts
SETTLED = 0.05  # of the size of the motion: return points that differ by less are the same
COARSE = 40  # samples per period before it has settled, at least
MIDDLE = np.array([0.5])
QUICK = 900  # steps per period, at most, of the transient


@dataclass(frozen=True, eq=False)
class Shaken:
    """The beam with its force, in so many modes, and its motion by so many midpoint steps per period of the force."""

    beam: "DelaminatedBeam"
    modes: int
    contacts: int
    damping: float
    alpha2: float
    force: float
    frequency: float
    steps: int
    patience: int

    @property
    def period(self) -> float:
        return 1.0 / self.frequency

    @property
    def model(self) -> "DelaminatedModel":
        return _model(self.beam, self.modes, self.damping, self.alpha2)

    @cached_property
    def system(self) -> "LinearSystem":
        from klapper.mechanics import Harmonic

        return self.model.system(
            0.0,
            self.model.contacts(self.contacts),
            gravity=(0.0, 0.0),
            force=Harmonic(self.force, 2 * np.pi * self.frequency),
            row=self.model.row(1, 0.5, 1),
            name="forced delaminated beam",
        )

    @cached_property
    def middle(self) -> np.ndarray:
        """Row of the gap in the middle of the joint."""
        return self.model.gap_rows(MIDDLE)[0]

    @cached_property
    def tip(self) -> np.ndarray:
        """Row of the deflection where the joint begins, the end of segment 1."""
        return self.model.row(1, 1.0, 1)

    def advance(self, state: "State", until: float, every: int = 1, steps: int | None = None) -> "Run":
        from klapper.schemes.moreau import Moreau
        from klapper.simulation import simulate

        begun = copy.copy(self.system)
        begun.start = state
        scheme = Moreau(self.period / (self.steps if steps is None else steps))
        return simulate(begun, until, scheme, every=every, progress=False)

    @cached_property
    def transient(self) -> "Run":
        """From rest, with few samples and long steps."""
        steps = min(self.steps, QUICK)
        return self.advance(self.system.start, TRANSIENT * self.period, _every(steps), steps)

    @cached_property
    def attractor(self) -> "Attractor":
        from klapper.analysis.attractor import find_attractor
        from klapper.analysis.poincare_section import Stroboscope

        return find_attractor(
            lambda state, until: self.advance(state, until, _every(self.steps)),
            _end(self.transient),
            section=Stroboscope(self.period),
            block=BLOCK * self.period,
            patience=self.patience * self.period,
            tolerance=SETTLED,
            most=8,
            polish=False,
            coordinates=range(min(LEADING, self.modes)),
        )

    @cached_property
    def record(self) -> "Run":
        """The periods after it has settled, every step."""
        begin = _end(self.attractor.cycle)
        return self.advance(begin, begin.time + RECORD * self.period)

    @cached_property
    def cycles(self) -> np.ndarray:
        """Gap in the middle (RECORD, steps) [m], a line per period."""
        return self._by_period(self.record.position @ self.middle)

    @property
    def mean_cycle(self) -> np.ndarray:
        """(steps,) [m]."""
        return self.cycles.mean(axis=0)

    @property
    def max_gap(self) -> float:
        """Mean of the largest gaps of all periods [m]."""
        return float(self.cycles.max(axis=1).mean())

    @property
    def scatter(self) -> float:
        """Root mean square distance of the periods from their mean, relative to its range."""
        return float(np.sqrt(np.mean((self.cycles - self.mean_cycle) ** 2)) / np.ptp(self.mean_cycle))

    @property
    def jump(self) -> float:
        """Largest jump of the velocity of the tip in one step, mean of the periods [m/s]."""
        change = np.diff(self.record.velocity @ self.tip, prepend=np.nan)
        return float(np.nanmax(np.abs(self._by_period(change[1:], first=0)), axis=1).mean())

    @property
    def amplitudes(self) -> tuple[float, float]:
        """Half the ranges of displacement [m] and velocity [m/s] of the tip, means of the periods."""
        values = (self.record.position @ self.tip, self.record.velocity @ self.tip)
        displacement, velocity = (0.5 * np.ptp(self._by_period(each), axis=1).mean() for each in values)
        return float(displacement), float(velocity)

    @property
    def order(self) -> float:
        """Period of the motion over that of the force; nan if it has not settled."""
        return float(self.attractor.order) if self.attractor.kind == "periodic" else float("nan")

    def _by_period(self, values: np.ndarray, first: int = 1) -> np.ndarray:
        return values[first : first + RECORD * self.steps].reshape(RECORD, self.steps)


@lru_cache(maxsize=16)
def _model(beam: "DelaminatedBeam", modes: int, damping: float, alpha2: float) -> "DelaminatedModel":
    from klapper.mechanics import InvalidModel

    try:
        return beam.model(modes, plane="1-3", external_damping=damping, material_damping=alpha2)
    except InvalidModel as error:
        raise ParameterError(f"L2 cannot be {beam.delamination:g} m here: {error}") from error


def _every(steps: int) -> int:
    """Steps between samples of a motion that is not yet recorded, a divisor of those of a period."""
    most = max(steps // COARSE, 1)
    return next(k for k in range(most, 0, -1) if steps % k == 0)


def _end(motion: Any) -> "State":
    from klapper.mechanics import State

    return State(float(motion.time[-1]), motion.position[-1].copy(), motion.velocity[-1].copy())
