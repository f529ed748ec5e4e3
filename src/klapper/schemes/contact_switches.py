"""What happens to the modes of regularised contacts where a branch of their laws ends.

Normal laws switch by themselves: force and acceleration are continuous there, or the new branch presses at once. So do
the branches of regularised friction. Where patches are at rest under set-valued friction,

    v̇ = argmin_y ½ yᵀM y − yᵀf' + Σ ρ_i |J_Tiᵀ y + b_Ti|                              Waltersberger (4.95)

decides which of them stick; it is strictly convex, so the decision is unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.complementarity.dense import dense
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import System
from klapper.schemes.base import StepFailed
from klapper.schemes.contact_modes import (
    APART,
    IDLE,
    NO_FRICTION,
    PRESSING,
    SLIDING,
    STARTING,
    STICKING,
    ContactModes,
)
from klapper.schemes.friction_branches import NOISE, FrictionBranches, direction_of
from klapper.schemes.mobility import Held
from klapper.schemes.normal_laws import NormalBranches
from klapper.schemes.regularised_phase import Phase

_AT_REST = 1e-8  # of the terms of a tangential acceleration: what counts as none


@dataclass(frozen=True, eq=False)
class Switches:
    """The switching rules of one system under one pair of laws; ``blur`` is that of :class:`Phase`."""

    system: System
    normal: NormalBranches
    friction: FrictionBranches
    inverse_of: Any
    blur: float = 1.0

    def phase(self, modes: ContactModes, t: float, q: np.ndarray, v: np.ndarray) -> Phase:
        """The smooth motion with these modes, as of now."""
        phase = self._phase(modes, self.system.near(t, q))
        sense = phase.slip_directions(t, q, v)
        return phase if sense is modes.sense else self._phase(modes.changed(sense=sense), phase.apart)

    def watching(self, phase: Phase, more: np.ndarray) -> Phase:
        """The same phase, with an eye on more contacts that might close."""
        seen = np.union1d(phase.apart, more[phase.modes.normal[more] == APART])
        return phase if len(seen) == len(phase.apart) else self._phase(phase.modes, seen)

    def at_start(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[ContactModes, np.ndarray]:
        """Modes of a state that comes from nowhere, and its velocity."""
        system = self.system
        modes = ContactModes.all_apart(system.contacts.count, system.contacts.tangential)
        near = system.near(t, q)
        has_normal = system.contacts.laws(near).normal
        gap, rate = system.gaps(t, q, near), system.directions(t, q, near).normal_velocity(v)
        inside = has_normal & (np.nan_to_num(gap) < 0.0)
        presses = self.normal.at(near).trial(np.nan_to_num(gap), rate) > 0.0
        modes.normal[near] = np.where(inside, np.where(presses | self.normal.layered, PRESSING, IDLE), APART)
        modes.normal[near[~has_normal]] = PRESSING
        modes.layer[near[inside]] = -gap[inside] if self.normal.layered else 0.0
        return self._decided(self._entered(modes, modes.closed, t, q, v), t, q, v)

    def after(
        self,
        phase: Phase,
        modes: ContactModes,
        labels: Sequence[tuple[str, int]],
        t: float,
        q: np.ndarray,
        v: np.ndarray,
    ) -> tuple[ContactModes, np.ndarray]:
        """Modes after what the labels of the phase say, and the velocity in which patches at rest are so exactly."""
        old = phase.moment(t, q, v, modes.spring)
        modes = modes.copy()
        closing = self._switch_normal(modes, labels, t, q)
        place = {int(contact): k for k, contact in enumerate(phase.closed)}
        for what, contact in labels:
            if what in _NORMAL or modes.normal[contact] == APART:
                continue
            mode, sense, spring = self.friction.after(what, old.sliding, place[contact])
            modes.tangential[contact], modes.sense[contact], modes.spring[contact] = mode, sense, spring
        return self._decided(self._entered(modes, np.array(closing, dtype=np.int64), t, q, v), t, q, v)

    def held(self, t: float, q: np.ndarray, v: np.ndarray, patches: np.ndarray) -> np.ndarray:
        """The nearest velocity, in the metric of the mass, that meets constraints and does not slide at patches."""
        system, d = self.system, self.system.contacts.tangential
        columns, rates = [], []
        if system.constraints:
            bilateral, rate = system.constraint_directions(t, q)
            columns.append(dense(bilateral))
            rates.append(rate)
        if len(patches) and d:
            directions = system.directions(t, q, patches)
            columns.append(dense(directions.tangential))
            rates.append(directions.tangential_rate)
        if not columns:
            return v
        matrix = np.hstack(columns)
        held = Held(self.inverse_of(system.mass(q)), matrix)
        return v + held.push(held.impulses(matrix.T @ v + np.concatenate(rates)))

    def _phase(self, modes: ContactModes, watched: np.ndarray) -> Phase:
        return Phase(self.system, self.normal, self.friction, modes, watched, self.inverse_of, self.blur)

    def _switch_normal(
        self, modes: ContactModes, labels: Sequence[tuple[str, int]], t: float, q: np.ndarray
    ) -> list[int]:
        """Switch the normal modes in place; the contacts that have closed."""
        closing: list[int] = []
        for what, contact in labels:
            if what == "closes":
                modes.normal[contact] = PRESSING
                closing.append(contact)
            elif what == "presses":
                modes.normal[contact] = PRESSING
            elif what == "releases":
                gap = float(self.system.gaps(t, q, np.array([contact]))[0])
                damped = self.normal.damping[contact] > 0.0 and not self.normal.layered
                modes.normal[contact] = IDLE if damped and gap < 0.0 else APART
        for what, contact in labels:
            if what == "opens":
                modes.normal[contact] = APART
        apart = modes.normal == APART
        modes.tangential[apart], modes.spring[apart] = NO_FRICTION, 0.0
        return closing

    def _entered(
        self, modes: ContactModes, contacts: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
    ) -> ContactModes:
        """Friction modes of contacts that have just closed."""
        if len(contacts) == 0 or self.system.contacts.tangential == 0:
            return modes
        table = self.system.contacts
        rough = rough_contacts(table.laws(np.arange(table.count)), table.constant)
        contacts = contacts[rough[contacts]]
        modes.tangential[contacts] = STICKING
        phase = self._phase(modes, contacts)
        sliding = phase.given(t, q, v, modes.spring)[4]
        for contact in contacts:
            k = int(np.searchsorted(phase.closed, contact))
            mode, sense = self.friction.entered(sliding.velocity[k], float(sliding.limit[k]))
            modes.tangential[contact], modes.sense[contact] = mode, sense
        return modes

    def _decided(
        self, modes: ContactModes, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[ContactModes, np.ndarray]:
        """Which of the patches at rest stick under set-valued friction."""
        resting = np.flatnonzero(modes.tangential == STICKING)
        if not self.friction.holds or len(resting) == 0:
            return modes, v
        resting, v = self._brought_to_rest(modes, resting, t, q, v)
        if len(resting) == 0:
            return modes, v
        decision = self.decision(modes, resting, t, q, v)
        change = decision.tangential_acceleration
        terms = np.abs(decision.problem.tangential).T @ np.abs(decision.acceleration)
        terms = terms + np.abs(decision.problem.tangential_bias)
        small = _AT_REST * terms.reshape(change.shape).sum(axis=1)
        sticks = decision.sticks | (np.linalg.norm(change, axis=1) <= small)
        starts = STARTING if change.shape[1] == 2 else SLIDING
        for k in np.flatnonzero(~sticks):
            modes.tangential[resting[k]], modes.sense[resting[k]] = starts, direction_of(change[k])
        return modes, v

    def _brought_to_rest(
        self, modes: ContactModes, resting: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The patches that do rest, and the velocity in which they do so exactly.

        Feet of one block slide nearly alike while it rocks: to stop them all would stop the rocking. If the nearest
        velocity leaves some of them creeping, those that crept before are switched to sliding, in place.
        """
        held = self.held(t, q, v, resting)
        before, noise = self._creep(modes, resting, t, q, v)
        after, _ = self._creep(modes, resting, t, q, held)
        creeps = np.linalg.norm(before, axis=1) > noise
        if not (np.any(creeps) and np.any(np.linalg.norm(after, axis=1) > noise)):
            return resting, held
        for contact, slip in zip(resting[creeps], before[creeps], strict=True):
            modes.tangential[contact] = STARTING if len(slip) == 2 else SLIDING
            modes.sense[contact] = direction_of(slip)
        return resting[~creeps], self.held(t, q, v, resting[~creeps])

    def _creep(
        self, modes: ContactModes, patches: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """v_T (r, d) of patches in scaled directions, and the speeds (r,) that count as zero [m/s].

        Those are its round-off and the error that the integration may make: at complete rest the terms of v_T vanish
        with it, and what is left of it has no meaning.
        """
        phase = self._phase(modes, patches)
        sliding, places = phase.given(t, q, v, modes.spring)[4], np.searchsorted(phase.closed, patches)
        return sliding.velocity[places], NOISE * sliding.terms[places] + self.friction.error

    def decision(
        self, modes: ContactModes, resting: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
    ) -> ModeDecision:
        """(4.95) for the patches at rest; verified."""
        system = self.system
        phase = self._phase(modes, resting)
        directions, _, _, normal_force, sliding = phase.given(t, q, v, modes.spring)
        push = phase.push(t, q, v, directions, normal_force, sliding)
        places = np.searchsorted(phase.closed, resting)
        scale = phase.scale[places].ravel()
        bilateral = dense(system.constraint_directions(t, q)[0]) if system.constraints else None
        try:
            return AccelerationProblem(
                system.mass(q),
                push,
                tangential=dense(directions.tangential)[:, phase.rows_of(places)] * scale,
                tangential_bias=system.curvature(t, q, v, resting)[1] * scale,
                sliding_velocity=np.zeros((len(resting), phase.d)),
                limit=np.maximum(sliding.limit[places], 0.0),
                bilateral=bilateral,
                bilateral_bias=system.constraint_curvature(t, q, v) if system.constraints else 0.0,
                tangential_names=[system.contacts.name(int(i)) for i in resting],
                bilateral_names=system.constraints,
            ).solve()
        except ComplementarityError as error:
            raise StepFailed(f"At {t:.9g} s it is not decided which contacts stick. {error}") from error


_NORMAL = ("closes", "presses", "releases", "opens")


def rough_contacts(laws: ContactLaws, constant: bool) -> np.ndarray:
    """Which contacts (k,) can have friction; where it changes with the speed, any may."""
    return laws.rough if constant else np.ones(len(laws.normal), dtype=bool)
