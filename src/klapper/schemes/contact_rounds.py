"""Which contacts of an implicit step are closed, stick or slip: primal-dual active sets around Newton's method.

    closed   if λ_N ≥ 0;   open   if g(q₁) ≥ 0                            Hesch (3.47)-(3.56), signs corrected
    stick    if |λ_T| ≤ μ λ_N;   slip   if it runs against λ_T

The equations are solved completely for given states and partners, then both are looked up again, until neither changes
(Hesch 3.2.3: changing them inside Newton's method is not stable). If states come back that were there before, nodes in
re-entrant corners get a second partner; if they come back again, partners are kept from then on, and what overlaps with
those at the solution is held by both (:mod:`klapper.schemes.joined_contacts`); at last the linearised step is solved as
one complementarity problem. A step that leaves an overlap is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.contact_states import OPEN, STICK
from klapper.counting import counted
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, StepFailed
from klapper.schemes.contact_pairing import NO_CONTACTS, ContactPairing, pairing_of
from klapper.schemes.contact_trial import Trial
from klapper.schemes.held_contacts import BACKWARD, FORWARD, EnergyOption, GapTargets, HeldContacts, Where
from klapper.schemes.implicit_step import ImplicitStep
from klapper.schemes.joined_contacts import Groups, JoinedContacts, missed_gaps
from klapper.schemes.linearised_contacts import linearised_states
from klapper.schemes.newton import NewtonIteration, NotConverged
from klapper.schemes.settled_step import Settled
from klapper.schemes.sparse_factor import SingularMatrix

_PLAIN, _CORNERS, _KEPT, _PROGRAMME = range(4)  # stages of a search whose states come back
_EXACT = float(np.finfo(float).eps)  # residual that no round improves
_BACKWARD = 64.0 * _EXACT  # of the size of the model: slip against its direction, which would put energy in
_PATIENCE = 6  # failures of Newton's method in a step
_CAP = 0.02  # of the extent of the model: largest correction of a position when Newton's method has failed without
_EASIEST = 0.95  # of the overlap: the largest easing of a gap


@dataclass(frozen=True)
class HardContact:
    """Contacts that neither overlap nor pull, by multipliers.

    ``energy``     what becomes of the energy of gaps that close: "consistent" (default), "gradient", "momentum-update"
                   or "none", see :mod:`klapper.schemes.held_contacts`
    ``tolerance``  of penetration in units of the size of the model, of tension in units of the largest force
    ``most``       rounds of states

        0 ≤ g(q₁) ⟂ λ_N ≥ 0

    Restitution is not used: waves in the bodies carry away what an impact takes. A single mass has none; it flies
    against a wall with 5 m/s and is turned around in a step that keeps its energy:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EnergyMomentum, HardContact
    >>> from klapper.simulation import simulate
    >>> wall = Contact("wall", normal=[1.0])
    >>> mass = LinearSystem([1.0], position=[0.2], velocity=[-5.0], contacts=[wall])
    >>> simulate(mass, 0.3, EnergyMomentum(0.1, contact=HardContact())).velocity[:, 0].round(9)
    array([-5.,  5.,  5.,  5.])
    """

    energy: EnergyOption = "consistent"
    tolerance: float = 1e-9
    most: int = 60

    def __post_init__(self) -> None:
        if self.energy not in ("none", "consistent", "gradient", "momentum-update"):
            raise InvalidModel(
                f"energy is {self.energy!r}; allowed are consistent, gradient, momentum-update and none."
            )
        number(self.tolerance, "tolerance", "numbers above 0", above=0.0)
        number(self.most, "most", "whole numbers from 1 on", at_least=1.0)

    def require(self, system: System) -> None:
        """Refuse what needs another scheme."""
        if system.contacts.tangential > 1:
            raise InvalidModel(
                f"'{system.name}' has contacts that slide in two directions, which these steps do not treat; use "
                f"Moreau."
            )


@dataclass(eq=False)
class ContactRounds:
    """The search for the states of one step from ``before`` to the time ``t1`` [s].

    ``build``  the equations of the step with the given contacts closed
    ``hard``   False where contacts are springs, so that none is ever closed here
    ``travel`` [m] that things may move in the step; ``missed`` [m] by which they overlapped with partners left aside;
    ``tried``  numbers (k,) of the contacts that had a partner in the last round
    """

    rule: HardContact
    system: System
    before: Snapshot
    h: float
    t1: float
    where: Where
    newton: NewtonIteration
    build: Callable[[HeldContacts], ImplicitStep]
    hard: bool = True
    notes: dict[str, str] = field(default_factory=dict)
    travel: float = 0.0
    missed: float = 0.0
    tried: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def settle(self, start: np.ndarray, multipliers: np.ndarray) -> Settled:
        """From a predicted position (n,) and the multipliers (p,) of the two-sided constraints.

        Every round solves the step with the states of ``now``, judges the answer and takes over the states and partners
        that it suggests. States that come back raise the stage of the search:

            plain      states contact by contact, nearest partners
            corners    the same, where a node in a re-entrant corner has both sides as partners
            kept       partners stay; where others are overlapped, both are held
            programme  besides, states by one complementarity problem of the linearised step

        Where Newton's method fails, the last answer is linearised: states that were found contact by contact may leave
        no equilibrium where those of one complementarity problem do. If that does not help, gaps are eased and closed
        bit by bit. States that last are solved once more to the
        last digit and returned, unless partners that were left aside are overlapped (``missed``) or surfaces that never
        part pull at one partner and push at another (``opposed``). The search ends without an answer if Newton's method
        fails too often, if states come back in the last stage, or where partners are opposed, or missed before they are
        kept.
        """
        self.travel = 2.0 * float(np.abs(start - self.before.position).max(initial=0.0))
        pairing = self._paired(start)
        states, normal, tangential = self._remembered(pairing)
        k = len(pairing.which)
        now = Trial(pairing, states, normal, tangential, np.zeros(k, dtype=bool), np.zeros(k))
        q, held_by = start, multipliers
        seen: set[bytes] = set()
        last: Trial | None = None
        stage, total, failures, polish = _PLAIN, 0, 0, k == 0
        for _ in range(self.rule.most):
            contacts, self.tried = self._held(now), now.pairing.which
            try:
                x, rounds, residual = self._solved(contacts, q, held_by, now, polish=polish)
            except NotConverged:
                failures += 1
                if failures > _PATIENCE:
                    raise
                together = None if last is None else self._together(last, q, held_by)
                if together is not None and together.key() != now.key():
                    now, last = together, None
                else:
                    now, q = self._easier(now, contacts, q, converged=total > 0)
                continue
            total += rounds
            equations = self.build(contacts)
            q, found = equations.split(x)
            held_by, mine = found[: len(multipliers)], found[len(multipliers) :]
            normal, tangential = contacts.forces(mine)
            last = replace(now, normal=normal, tangential=tangential) if contacts.rough else None
            fresh = now.pairing if stage >= _KEPT else self._paired(q, corners=stage == _CORNERS)
            after = self._judged(contacts, q, normal, tangential)
            eased = bool(np.any(now.ease))
            lasting = fresh.same(now.pairing) and np.array_equal(after, now.states) and not eased
            if lasting and not polish and residual > _EXACT:
                now, polish = replace(now, normal=normal, tangential=tangential), True
                continue
            polish = False
            if lasting:
                fresh = self._paired(q) if stage >= _KEPT else fresh
                off = missed_gaps(now.pairing, fresh, q, self.system.contacts.count) / self._length(q)
                missed = np.flatnonzero(off > max(self.rule.tolerance, 2.0 * residual))
                opposed = self._opposed(now.pairing, normal)
                if not len(missed) and not opposed:
                    worst = self._violation(contacts, q, normal, tangential)
                    return Settled(
                        x,
                        equations,
                        contacts,
                        self._groups(now.pairing).number,
                        normal,
                        tangential,
                        total,
                        max(residual, worst, float(off.max(initial=0.0))),
                        self.notes,
                    )
                self.missed = max(self.missed, float(off.max(initial=0.0)) * self._length(q))
                if opposed or stage < _KEPT:
                    break
                both = JoinedContacts(now.pairing, fresh, missed, self.system.contacts.count)
                now = replace(now, normal=normal, tangential=tangential).carried(both, self._length(q))
                now = self._touching(now, q)
                seen.clear()
                continue
            if stage == _PROGRAMME:
                after = self._by_complementarity(contacts, q, held_by, normal, tangential)
            if not fresh.same(now.pairing):  # partners that have gone say nothing about gaps that are open
                after = np.where(now.states == OPEN, OPEN, after).astype(np.int8)
            now = replace(now, states=after, normal=normal, tangential=tangential).carried(
                fresh, self._length(q)
            )
            now = self._touching(now, q)
            key = now.key()
            if key in seen and not eased:
                if stage == _PROGRAMME:
                    break
                stage += 1
                seen.clear()
            else:
                seen.add(key)
        if self.missed:
            raise StepFailed(
                f"at {self.before.time:.6g} s partners in the step of {self.h:.3g} s keep changing, and parts would "
                f"overlap by {self.missed:.3g} m; use a smaller step or a finer mesh."
            )
        raise StepFailed(
            f"at {self.before.time:.6g} s the contacts of the step of {self.h:.3g} s found no states that last in "
            f"{counted(self.rule.most, 'round')}; use a smaller step."
        )

    @property
    def lost(self) -> np.ndarray:
        """Contacts (c,) that carried a force and had no partner any more in the last round."""
        return np.setdiff1d(self.before.contact, self.tried)

    def _paired(self, q: np.ndarray, *, corners: bool = False) -> ContactPairing:
        if not self.hard or self.system.contacts.count == 0:
            return NO_CONTACTS
        return pairing_of(self.system, self.t1, q, self.travel, self.before.position, corners=corners)

    def _held(self, now: Trial) -> HeldContacts:
        if self.where == "end":
            zero = np.zeros(len(now.states))
            targets = GapTargets(zero + now.ease, zero)
        else:
            gaps = now.pairing.gaps(self.before.position)
            plain = now.plain & self._apart(gaps)
            targets = GapTargets.of(self.rule.energy, gaps, plain, now.pairing.held)
            targets = replace(targets, target=targets.target + now.ease)
        smooth = self._groups(now.pairing).smooth(now.states)
        return HeldContacts(
            now.pairing, now.states, targets, self.before.position, self.h, self.where, smooth
        )

    def _apart(self, gaps: np.ndarray) -> np.ndarray:
        """Where (k,) contacts may be held as they were: not where parts overlap."""
        return gaps >= -self.rule.tolerance * self._length(self.before.position)

    def _groups(self, pairing: ContactPairing) -> Groups:
        return Groups(pairing, self.system.contacts.count)

    def _remembered(self, pairing: ContactPairing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States and forces (k,) of the step before."""
        k = len(pairing.which)
        states, normal, tangential = np.zeros(k, dtype=np.int8), np.zeros(k), np.zeros(k)
        place = np.searchsorted(pairing.which, self.before.contact)
        there = place < k
        there[there] = pairing.which[place[there]] == self.before.contact[there]
        here = place[there]
        normal[here] = self.before.impulse[there, 0] / self.h
        if self.before.impulse.shape[1] > 1:
            tangential[here] = self.before.impulse[there, 1] / self.h
        limit = pairing.friction * normal
        states[here] = STICK
        slides = (states == STICK) & (pairing.friction > 0.0) & (np.abs(tangential) >= (1.0 - 1e-9) * limit)
        states[slides] = np.where(tangential[slides] < 0.0, FORWARD, BACKWARD)
        touching = pairing.gaps(self.before.position) <= self.rule.tolerance * self._length(
            self.before.position
        )
        states[(states == OPEN) & (pairing.held | (touching & (self.where == "end")))] = STICK
        return states, normal, tangential

    def _solved(
        self, contacts: HeldContacts, q: np.ndarray, multipliers: np.ndarray, now: Trial, *, polish: bool
    ) -> tuple[np.ndarray, int, float]:
        """Newton's method from where it stands, from the beginning of the step, and that with capped corrections.

        Only states that last are worth to be solved for beyond the tolerance, ``polish``. Where contacts get a partner
        beside their own, gaps are almost closed and forces still have to pass from one to the other: a line search
        would not let the residual grow for that.
        """
        equations = self.build(contacts)
        q0 = self.before.position
        cap = self.newton.largest or _CAP * max(float(np.ptp(q0)), float(np.abs(q0).max()), 1e-300)
        usual = replace(self.newton, polish=polish)
        capped = replace(usual, largest=cap, most=3 * self.newton.most, line_search=False)
        starts = [(q, usual), (q0, usual), (q0, capped)]
        if isinstance(now.pairing, JoinedContacts):
            starts.insert(0, (q, replace(usual, line_search=False)))
        failure: NotConverged | None = None
        for start, newton in starts:
            x = np.concatenate([start, multipliers, contacts.multipliers(now.normal, now.tangential)])
            try:
                return newton.solve(equations, x, len(q))
            except NotConverged as error:
                failure = error
        assert failure is not None
        raise failure

    def _easier(
        self, now: Trial, contacts: HeldContacts, q: np.ndarray, *, converged: bool
    ) -> tuple[Trial, np.ndarray]:
        """What to try when the equations found no solution: gaps that close against the rules of their energy are held
        where they were; contacts of the step before are let go; what floats at rest without contacts is tried with
        all that are near; what overlaps may do so for some rounds more."""
        gaps = now.pairing.gaps(self.before.position)
        bent = (now.states != OPEN) & ~now.plain & (contacts.targets.start != gaps)
        bent &= self._apart(gaps)
        if self.rule.energy in ("consistent", "gradient") and self.where == "between" and np.any(bent):
            self.notes["gaps held"] = (
                f"at {self.t1:.6g} s gaps of {counted(int(bent.sum()), 'contact')} could not close without "
                "work and were held"
            )
            return replace(now, plain=now.plain | bent), q if converged else self.before.position
        parted = np.where(now.pairing.held, STICK, OPEN).astype(np.int8)
        if not converged and np.any(now.states != parted):
            return replace(now, states=parted), self.before.position
        if not converged and self.where == "end" and np.any(now.states == OPEN):
            return replace(now, states=np.full(len(now.states), STICK, np.int8)), self.before.position
        overlap = np.where(now.states != OPEN, np.minimum(now.pairing.gaps(q), 0.0), 0.0)
        if not converged or not np.any(overlap) or np.all(now.ease <= _EASIEST * overlap):
            raise NotConverged("Newton's method did not converge, whatever it started from")
        return replace(now, ease=0.5 * (now.ease + overlap)), q

    def _judged(
        self, contacts: HeldContacts, q: np.ndarray, normal: np.ndarray, tangential: np.ndarray
    ) -> np.ndarray:
        """States (k,) that the forces and gaps of a solution ask for."""
        pairing, states = contacts.pairing, contacts.states
        after = states.copy()
        length, force = self._units(q, normal)
        after[(states == OPEN) & (pairing.gaps(q) < -self.rule.tolerance * length)] = STICK
        after[(states != OPEN) & (normal < -self.rule.tolerance * force) & ~pairing.held] = OPEN
        if contacts.rough:
            limit = contacts.friction * self._borne(contacts, normal)
            over = (after == STICK) & (states == STICK) & (contacts.friction > 0.0)
            over &= np.abs(tangential) > limit + self.rule.tolerance * force
            after[over] = np.where(tangential[over] < 0.0, FORWARD, BACKWARD)
            slip = contacts.slip(q)
            back = _BACKWARD * length
            after[(after == FORWARD) & (slip < -back)] = STICK
            after[(after == BACKWARD) & (slip > back)] = STICK
        return self._groups(pairing).in_step(after)

    def _borne(self, contacts: HeldContacts, normal: np.ndarray) -> np.ndarray:
        """(k,) [N] that friction is limited by."""
        return self._groups(contacts.pairing).borne(contacts.states, np.maximum(normal, 0.0))

    def _touching(self, now: Trial, q: np.ndarray) -> Trial:
        """With open contacts closed that overlap at q."""
        deep = now.pairing.gaps(q) < -self.rule.tolerance * self._length(q)
        states = np.where((now.states == OPEN) & deep, STICK, now.states).astype(np.int8)
        return replace(now, states=self._groups(now.pairing).in_step(states))

    def _violation(
        self, contacts: HeldContacts, q: np.ndarray, normal: np.ndarray, tangential: np.ndarray
    ) -> float:
        """How far the answer is from the laws, relative."""
        pairing = contacts.pairing
        length, force = self._units(q, normal)
        bound = ~pairing.held
        worst = float(np.max(-normal[bound] / force, initial=0.0))
        open_ = contacts.states == OPEN
        worst = max(worst, float(np.max(-pairing.gaps(q)[open_ & bound] / length, initial=0.0)))
        if contacts.rough:
            excess = np.abs(tangential) - contacts.friction * self._borne(contacts, normal)
            worst = max(worst, float(np.max(excess / force, initial=0.0)))
            power = tangential * contacts.slip(q)
            worst = max(worst, float(np.max(power / (force * length), initial=0.0)))
        return worst

    def _opposed(self, pairing: ContactPairing, normal: np.ndarray) -> bool:
        """Whether surfaces that never part pull at one partner and push at another."""
        force = float(np.abs(normal).max(initial=0.0))
        return self._groups(pairing).opposed(pairing.held, normal, self.rule.tolerance * force)

    def _length(self, q: np.ndarray) -> float:
        """[m] that penetrations are measured in."""
        return max(float(np.abs(q).max(initial=0.0)), 1e-300)

    def _units(self, q: np.ndarray, normal: np.ndarray) -> tuple[float, float]:
        """Lengths [m] and forces [N] that violations are measured in."""
        return self._length(q), max(float(np.abs(normal).max(initial=0.0)), 1e-300)

    def _together(self, last: Trial, q: np.ndarray, multipliers: np.ndarray) -> Trial | None:
        """The trial that solved its equations at q, with states that the linearised step asks of all contacts."""
        try:
            states = self._by_complementarity(self._held(last), q, multipliers, last.normal, last.tangential)
        except (StepFailed, SingularMatrix):
            return None
        return replace(last, states=states)

    def _by_complementarity(
        self,
        contacts: HeldContacts,
        q: np.ndarray,
        multipliers: np.ndarray,
        normal: np.ndarray,
        tangential: np.ndarray,
    ) -> np.ndarray:
        """States (k,) of the step linearised at q, all contacts of the pairing at once."""
        pairing, k = contacts.pairing, len(contacts.states)
        target = np.where(contacts.states == OPEN, 0.0, contacts.targets.target)
        targets = replace(contacts.targets, target=target)
        closed, parted = (
            HeldContacts(
                pairing, np.full(k, state, np.int8), targets, self.before.position, self.h, self.where
            )
            for state in (STICK, OPEN)
        )
        try:
            states = linearised_states(closed, self.build(parted), q, multipliers, normal, tangential)
        except ComplementarityError as error:
            raise StepFailed(
                f"at {self.before.time:.6g} s the contacts of the step of {self.h:.3g} s have no states that obey "
                f"their laws: {error}"
            ) from error
        return self._groups(pairing).in_step(states)
