"""The motion of a clattering rotor: from rest until it repeats, at a speed that keeps it bounded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from klapper.gallery.example import ParameterError

if TYPE_CHECKING:
    from klapper.results import Run
    from klapper.structures.delaminated_beam import DelaminatedModel

SHOWN_TURNS = 3  # at the end, with every step saved


@dataclass(frozen=True, eq=False)
class Clatter:
    """The last turns of a motion that has settled."""

    model: "DelaminatedModel"
    run: "Run"
    speed: float

    @property
    def middle(self) -> np.ndarray:
        """Gap in the middle of the joint (s,) [m]."""
        return self.run.position @ self.model.gap_rows([0.5])[0]

    @property
    def middle_rate(self) -> np.ndarray:
        """Velocity of the gap in the middle (s,) [m/s]."""
        return self.run.velocity @ self.model.gap_rows([0.5])[0]

    @property
    def end(self) -> tuple[np.ndarray, np.ndarray]:
        """Displacement [m] and velocity [m/s] of the end of beam 1 in direction 1 (s,)."""
        row = self.model.row(1, 1.0, 1)
        return self.run.position @ row, self.run.velocity @ row

    @property
    def touching(self) -> np.ndarray:
        """Whether any contact was loaded (s,)."""
        return np.any(self.run.impulse[:, :, 0] > 0.0, axis=1)

    @property
    def turns(self) -> np.ndarray:
        """(s,) since the first shown sample."""
        return self.speed * (self.run.time - self.run.time[0])

    @property
    def unrest(self) -> float:
        """Largest change of the gap in the middle from the last turn but one to the last, as a part of its range."""
        per_turn = (len(self.run) - 1) // SHOWN_TURNS
        gap = self.middle
        return float(np.abs(gap[-per_turn:] - gap[-2 * per_turn : -per_turn]).max() / np.ptp(gap))


def settled(model: "DelaminatedModel", speed: float, contacts: int, until: float, steps: int) -> Clatter:
    """The motion from rest until ``until`` [s], of which the last turns are kept."""
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    joint = model.contacts(contacts)
    scheme = Moreau(1.0 / (speed * steps))
    turns = max(int(np.ceil(until * speed)), SHOWN_TURNS + 1)
    before = simulate(model.system(speed, joint), (turns - SHOWN_TURNS) / speed, scheme, every=steps)
    time, position, velocity = before.final
    going_on = model.system(
        speed, joint, position=position, velocity=velocity, time=time, penetration=model.beam.height
    )
    return Clatter(model, simulate(going_on, turns / speed, scheme, every=1), speed)


def require_stable(model: "DelaminatedModel", speed: float) -> None:
    """Refuse a speed at which motions grow without bound."""
    from klapper.analysis.rotor import growth

    rate = float(growth(model.rotor, [speed])[0])
    if rate > 1e-6 * 2 * np.pi * speed:
        raise ParameterError(
            f"speed is {speed:g} Hz, at which motions grow by {rate:.3g} 1/s without bound; choose a speed outside "
            f"the unstable_bands of rotor-stability."
        )
