"""The motion of a clattering rotor: from rest until it repeats or has grown, and how large motions grow."""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from klapper.complementarity.dense import dense
from klapper.gallery.example import ParameterError

if TYPE_CHECKING:
    from klapper.analysis import ContactGrowth
    from klapper.results import Run
    from klapper.structures.delaminated_beam import DelaminatedModel

SHOWN_TURNS = 3  # at the end, with every step saved
ENOUGH_CONTACTS = 15  # growth with 3, 15 and 39 points differs by less than it varies from second to second
MEASURED = 10.0  # [s] of motion, of which half counts
SHOWN_GROWTH = (
    12.0  # powers of e by which a motion that grows without bound may grow before its last turns are shown
)
ROUND_OFF = 1e-9  # of the largest entry


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
    going_on = model.system(speed, joint, position=position, velocity=velocity, time=time, penetration=np.inf)
    return Clatter(model, simulate(going_on, turns / speed, scheme, every=1), speed)


def growth_with_contact(model: "DelaminatedModel", speed: float, contacts: int) -> "ContactGrowth":
    """How large motions grow at a speed, with as many contacts and turns as make no difference."""
    from klapper.analysis import contact_growth

    system = model.system(speed, model.contacts(min(contacts, ENOUGH_CONTACTS)))
    return contact_growth(system, step_size=1.0 / (speed * 500), until=MEASURED)


def closed_growth(model: "DelaminatedModel", speed: float, contacts: int) -> float:
    """Fastest motion [1/s] that only grows, e^(s t) y, with some points of the joint closed: real eigenvalues in the
    coordinates that are left, with contact forces that push there and gaps that open elsewhere; −∞ if there is none."""
    at_speed = model.system(speed, model.contacts(contacts))
    now, start = at_speed.start, at_speed.start.position
    joint = dense(at_speed.directions(now.time, start, np.arange(contacts)).normal).T
    tangents = at_speed.tangents(now.time, start, now.velocity)
    mass = dense(at_speed.mass(start))
    stiffness, damping = (
        np.zeros(mass.shape) if part is None else -dense(part)
        for part in (tangents.position, tangents.velocity)
    )
    found = -np.inf
    for closed in product((False, True), repeat=contacts):
        held = joint[list(closed)]
        for rate, shape in _growing(mass, damping, stiffness, held):
            load = (rate**2 * mass + rate * damping + stiffness) @ shape
            force = np.linalg.lstsq(held.T, load, rcond=None)[0] if len(held) else np.zeros(0)
            for sense in (1.0, -1.0):
                pushes = np.all(sense * force >= -ROUND_OFF * np.abs(force).max(initial=0.0))
                opens = np.all(sense * (joint @ shape) >= -ROUND_OFF * np.abs(shape).max())
                if pushes and opens:
                    found = max(found, rate)
    return found


def _growing(
    mass: np.ndarray, damping: np.ndarray, stiffness: np.ndarray, held: np.ndarray
) -> "list[tuple[float, np.ndarray]]":
    """Real positive eigenvalues [1/s] and their shapes (n,) while rows ``held`` (k, n) stay zero."""
    from scipy.linalg import eig, null_space

    left = null_space(held) if len(held) else np.eye(len(mass))
    n = left.shape[1]
    if n == 0:
        return []
    small = [left.T @ matrix @ left for matrix in (mass, damping, stiffness)]
    solved = np.linalg.solve(small[0], np.hstack([small[2], small[1]]))
    values, vectors = eig(np.block([[np.zeros((n, n)), np.eye(n)], [-solved]]))
    real = np.flatnonzero((np.abs(values.imag) <= ROUND_OFF * np.abs(values)) & (values.real > 0.0))
    return [(float(values[i].real), left @ vectors[:n, i].real) for i in real]


def require_stable(model: "DelaminatedModel", speed: float) -> None:
    """Refuse a speed at which motions grow without bound."""
    from klapper.analysis.rotor import growth

    rate = float(growth(model.rotor, [speed])[0])
    if rate > 1e-6 * 2 * np.pi * speed:
        raise ParameterError(
            f"speed is {speed:g} Hz, at which motions grow by {rate:.3g} 1/s without bound; choose a speed outside "
            f"the unstable_bands of rotor-stability."
        )
