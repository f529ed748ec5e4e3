"""The ordinary way to integrate contacts, for comparison: closed contacts are two-sided constraints until they pull.

When a contact closes, the normal velocities of all closed contacts are made zero, whether their impulses push or pull.
A contact is released only when its force becomes tensile, and a sticking patch slips when its friction exceeds the
limit; each is looked at alone, without complementarity. Where a contact must open at the instant at which another one
closes, as in rocking, this gives another motion. Waltersberger, Example 5.7, Fig. 5.23.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, StepFailed, registered
from klapper.schemes.event_driven import EventDriven
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.mode_decision import Decision
from klapper.schemes.phase_impact import Impact, two_sided_impact
from klapper.schemes.phase_modes import (
    RELEASE,
    SLIDING,
    SLIP_BEGINS,
    SMOOTH,
    STARTING,
    STICKING,
    STOP,
    Modes,
    PhaseMemory,
)
from klapper.schemes.touching import Touching
from klapper.schemes.work import Work

_ZERO = 1e-9  # of the largest force: pulls and excesses below it are round-off


@registered
@dataclass(frozen=True)
class Ordinary(EventDriven):
    """Event location and integration as in :class:`EventDriven`, but contacts as two-sided constraints with release.

        J_Nᵀ v⁺ = 0 where contacts are closed,   J_Nᵀ v̇ = 0 as long as λ_N > 0

    The options are those of :class:`EventDriven`. A ball that hits the floor stays there; its 5 kg m/s go into it:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import Ordinary
    >>> from klapper.simulation import simulate
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[Contact("floor", normal=[1.0])])
    >>> run = simulate(ball, 1.0, Ordinary())
    >>> run.impacts().impulse[0].round(9), run.contact("floor").force[-1].round(9)
    (array([5.]), array([10.]))
    """

    name = "ordinary"

    def init(self, system: System) -> Snapshot:
        restitution = system.contacts.laws(np.arange(system.contacts.count)).restitution
        if np.any(restitution > 0.0):
            worst = system.contacts.name(int(np.argmax(restitution)))
            raise InvalidModel(
                f"contact '{worst}' has restitution {restitution.max():g}, but Ordinary brings closed contacts to "
                f"rest: set it to 0, or use EventDriven."
            )
        if self.impact is not None:
            raise InvalidModel(
                f"impact is {self.impact!r}, but Ordinary brings closed contacts to rest: leave it out, or use "
                f"EventDriven."
            )
        return super().init(system)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "impact": "two-sided"}

    def collide(self, touching: Touching) -> Impact:
        return two_sided_impact(touching)

    def decide(self, memory: PhaseMemory, touching: Touching, ahead: float, work: Work) -> Decision:
        modes, still = self._all_held(memory, touching)
        for _ in range(4 * len(modes.contact) + 4):
            released = self._released(modes, touching, work)
            if released is None:
                return Decision(modes, still, np.zeros(0, dtype=np.int64))
            kept = released.pressed | released.rough
            modes = _of(released, kept, touching)
            still = still[kept]
        raise StepFailed(
            f"At {touching.t:.9g} s releasing contacts that pull and patches that exceed their friction does not end. "
            f"Complementarity decides such cases: use EventDriven."
        )

    def _all_held(self, memory: PhaseMemory, touching: Touching) -> tuple[Modes, np.ndarray]:
        """Everything that is closed and does not leave is held; what is at rest sticks."""
        k = len(touching.contact)
        leaves = np.isin(touching.contact, memory.of(RELEASE)) | (touching.approach > touching.quiet)
        pressed = touching.laws.normal & ~leaves
        friction = touching.coefficients(touching.speed)
        rough = (friction[:, pressed].sum(axis=1) > 0.0) | (touching.laws.limit > 0.0)
        if touching.d == 0:
            rough = np.zeros(k, dtype=bool)
        moving = (touching.speed > self.slip_speed) & ~np.isin(touching.contact, memory.of(STOP))
        grip = np.where(rough, np.where(moving, SLIDING if touching.d == 2 else STARTING, STICKING), SMOOTH)
        size = np.linalg.norm(touching.slip, axis=1)
        sense = np.where(
            (rough & moving)[:, None], touching.slip / np.where(size > 0.0, size, 1.0)[:, None], 0.0
        )
        self._go_on_sliding(memory, touching, grip, sense)
        kept = pressed | rough
        modes = Modes(touching.contact, pressed, grip, sense, np.zeros(0))
        return _of(modes, kept, touching), ~moving[kept]

    def _go_on_sliding(
        self, memory: PhaseMemory, touching: Touching, grip: np.ndarray, sense: np.ndarray
    ) -> None:
        """Patches that began to slip, or were about to, keep their sense."""
        old, row = memory.modes, int(np.count_nonzero(memory.modes.pressed))
        for i in np.flatnonzero(old.rough):
            force = old.reference[row : row + touching.d]
            row += touching.d
            for at in np.flatnonzero((touching.contact == old.contact[i]) & (grip == STICKING)):
                if old.contact[i] in memory.of(SLIP_BEGINS) and np.any(force):
                    grip[at], sense[at] = STARTING, -force / np.linalg.norm(force)
                elif (
                    old.grip[i] != STICKING
                    and old.contact[i] not in memory.of(STOP)
                    and touching.slip[at] @ old.sense[i] > 0.0
                ):
                    grip[at], sense[at] = STARTING, old.sense[i]

    def _released(self, modes: Modes, touching: Touching, work: Work) -> Modes | None:
        """The same without the contact that pulls most, or with the patch sliding that exceeds its limit most."""
        equations = phase_equations(touching.system, modes, self.inverse(touching.system, work))
        forces = equations.instant(touching.t, touching.q, touching.v).forces
        zero = _ZERO * float(np.abs(forces).max(initial=0.0))
        m = len(equations.normal)
        if m and forces[:m].min() < -zero:
            pressed = modes.pressed.copy()
            pressed[equations.normal[int(np.argmin(forces[:m]))]] = False
            return replace(modes, pressed=pressed)
        limits = equations.limit + equations.at_rest @ forces[:m]
        excess = [
            float(np.linalg.norm(forces[equations.patch_rows[i]]) - limits[i]) for i in equations.sticking
        ]
        if not excess or max(excess) <= zero:
            return None
        patch = equations.sticking[int(np.argmax(excess))]
        force = forces[equations.patch_rows[patch]]
        grip, sense = modes.grip.copy(), modes.sense.copy()
        grip[equations.patch[patch]] = STARTING
        sense[equations.patch[patch]] = -force / np.linalg.norm(force)
        return replace(modes, grip=grip, sense=sense)


def _of(modes: Modes, kept: np.ndarray, touching: Touching) -> Modes:
    """The modes of the kept contacts, with no forces to refer to."""
    grip = modes.grip[kept]
    rows = np.count_nonzero(modes.pressed[kept]) + touching.d * np.count_nonzero(grip != SMOOTH)
    reference = np.zeros(rows + len(touching.system.constraints))
    return Modes(modes.contact[kept], modes.pressed[kept], grip, modes.sense[kept], reference)
