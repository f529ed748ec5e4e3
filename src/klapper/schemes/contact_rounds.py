"""Which contacts of an implicit step are closed, stick or slip: primal-dual active sets around Newton's method.

    closed   if λ_N ≥ 0;   open   if g(q₁) ≥ 0                            Hesch (3.47)-(3.56), signs corrected
    stick    if |λ_T| ≤ μ λ_N;   slip   if it runs against λ_T

The equations are solved completely for given states and partners, then both are looked up again, until neither changes
(Hesch 3.2.3: changing them inside Newton's method is not stable). If states come back that were there before, nodes in
re-entrant corners get a second partner; if they come back again, partners are kept from then on; at last the linearised
step is solved as one complementarity problem. What was found is checked against the laws in the end, with partners
looked up once more: a step that leaves an overlap is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from klapper.complementarity import ComplementarityError, FrictionalContact, solve
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import number
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, StepFailed
from klapper.schemes.contact_pairing import NO_CONTACTS, ContactPairing, pairing_of
from klapper.schemes.held_contacts import (
    BACKWARD,
    FORWARD,
    OPEN,
    STICK,
    EnergyOption,
    GapTargets,
    HeldContacts,
    Where,
)
from klapper.schemes.implicit_step import ImplicitStep
from klapper.schemes.newton import Newton, NotConverged
from klapper.schemes.settled_step import Settled

_PLAIN, _CORNERS, _KEPT, _PROGRAMME = range(4)  # stages of a search whose states come back
_AMBIGUOUS = 1e-6  # of the size of the model: overlap that is taken where partners change back and forth
_EXACT = float(np.finfo(float).eps)  # residual that no round improves
_BACKWARD = 64.0 * _EXACT  # of the size of the model: slip against its direction, which would put energy in
_PATIENCE = 6  # failures of Newton's method in a step
_CAP = 0.02  # of the extent of the model: largest correction of a position when Newton's method has failed without
_EASED, _EASIEST = 1e-3, 0.95  # of the extent and of the overlap: the last easing of a gap, and the largest


@dataclass(frozen=True)
class HardContact:
    """Contacts that neither overlap nor pull, by multipliers.

    ``energy``     what becomes of the energy of gaps that close: "consistent" (default), "gradient", "momentum-update"
                   or "none", see :mod:`klapper.schemes.held_contacts`
    ``tolerance``  of penetration in units of the size of the model, of tension in units of the largest force
    ``most``       rounds of states
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


@dataclass(frozen=True, eq=False)
class _Round:
    """What is tried: states (k,), forces (k,) [N] to start from, ``plain`` (k,) where gaps are held as they were, and
    ``ease`` (k,) [m], not above zero, by which gaps may still be violated."""

    pairing: ContactPairing
    states: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    plain: np.ndarray
    ease: np.ndarray

    def carried(self, pairing: ContactPairing, length: float) -> _Round:
        """The same with other partners, a little less eased."""
        states, normal, tangential, plain, ease = (
            _carried(self.pairing, pairing, part)
            for part in (self.states, self.normal, self.tangential, self.plain, 0.5 * self.ease)
        )
        states = np.where(pairing.held & (states == OPEN), STICK, states).astype(np.int8)
        ease = np.where(ease < -_EASED * length, ease, 0.0)
        return _Round(pairing, states, normal, tangential, plain, ease)

    def key(self) -> bytes:
        return self.states.tobytes() + self.pairing.key


@dataclass(eq=False)
class ContactRounds:
    """The search for the states of one step from ``before`` to the time ``t1`` [s].

    ``build``  the equations of the step with the given contacts closed
    ``hard``   False where contacts are springs, so that none is ever closed here
    """

    rule: HardContact
    system: System
    before: Snapshot
    h: float
    t1: float
    where: Where
    newton: Newton
    build: Callable[[HeldContacts], ImplicitStep]
    hard: bool = True
    notes: dict[str, str] = field(default_factory=dict)
    travel: float = 0.0

    def settle(self, start: np.ndarray, multipliers: np.ndarray) -> Settled:
        """From a predicted position (n,) and the multipliers (p,) of the two-sided constraints."""
        self.travel = 2.0 * float(np.abs(start - self.before.position).max(initial=0.0))
        pairing = self._paired(start)
        states, normal, tangential = self._remembered(pairing)
        k = len(pairing.which)
        now = _Round(pairing, states, normal, tangential, np.zeros(k, dtype=bool), np.zeros(k))
        q, held_by = start, multipliers
        seen: set[bytes] = set()
        stage, total, failures, polish = _PLAIN, 0, 0, k == 0
        for _ in range(self.rule.most):
            contacts = self._held(now)
            try:
                x, rounds, residual = self._solved(contacts, q, held_by, now, polish=polish)
            except NotConverged:
                failures += 1
                if failures > _PATIENCE:
                    raise
                now, q = self._easier(now, contacts, q, converged=total > 0)
                continue
            total += rounds
            equations = self.build(contacts)
            q, found = equations.split(x)
            held_by, mine = found[: len(multipliers)], found[len(multipliers) :]
            normal, tangential = contacts.forces(mine)
            fresh = now.pairing if stage >= _KEPT else self._paired(q, corners=stage == _CORNERS)
            after = self._judged(contacts, q, normal, tangential)
            eased = bool(np.any(now.ease))
            lasting = fresh.same(now.pairing) and np.array_equal(after, now.states) and not eased
            if lasting and not polish and residual > _EXACT:
                now, polish = replace(now, normal=normal, tangential=tangential), True
                continue
            polish = False
            if lasting:
                worst = max(residual, self._violation(contacts, q, normal, tangential))
                allowed = max(self.rule.tolerance, 2.0 * residual)
                if stage >= _KEPT:
                    fresh, allowed = self._paired(q), max(allowed, _AMBIGUOUS)
                worst = max(worst, self._overlap(fresh, q, allowed))
                return Settled(
                    x,
                    equations,
                    contacts,
                    self._numbers(now.pairing),
                    normal,
                    tangential,
                    total,
                    worst,
                    self.notes,
                )
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
        raise StepFailed(
            f"at {self.before.time:.6g} s the contacts of the step of {self.h:.3g} s found no states that last in "
            f"{self.rule.most} rounds; use a smaller step."
        )

    def _paired(self, q: np.ndarray, *, corners: bool = False) -> ContactPairing:
        if not self.hard or self.system.contacts.count == 0:
            return NO_CONTACTS
        return pairing_of(self.system, self.t1, q, self.travel, self.before.position, corners=corners)

    def _held(self, now: _Round) -> HeldContacts:
        if self.where == "end":
            zero = np.zeros(len(now.states))
            targets = GapTargets(zero + now.ease, zero)
        else:
            gaps = now.pairing.gaps(self.before.position)
            plain = now.plain & self._apart(gaps)
            targets = GapTargets.of(self.rule.energy, gaps, plain, now.pairing.held)
            targets = replace(targets, target=targets.target + now.ease)
        wedged = None
        numbers = self._numbers(now.pairing)
        if len(now.pairing.which) and now.pairing.which[-1] >= self.system.contacts.count:
            wedged = np.bincount(numbers, now.states != OPEN)[numbers] > 1
        return HeldContacts(
            now.pairing, now.states, targets, self.before.position, self.h, self.where, wedged
        )

    def _apart(self, gaps: np.ndarray) -> np.ndarray:
        """Where (k,) contacts may be held as they were: not where parts overlap."""
        return gaps >= -self.rule.tolerance * self._length(self.before.position)

    def _numbers(self, pairing: ContactPairing) -> np.ndarray:
        """(k,) of contacts in the system: both of a node in a corner have one."""
        return pairing.which % max(self.system.contacts.count, 1)

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
        self, contacts: HeldContacts, q: np.ndarray, multipliers: np.ndarray, now: _Round, *, polish: bool
    ) -> tuple[np.ndarray, int, float]:
        """Newton's method from where it stands, from the beginning of the step, and that with capped corrections.

        Only states that last are worth to be solved for beyond the tolerance, ``polish``.
        """
        equations = self.build(contacts)
        q0 = self.before.position
        cap = self.newton.largest or _CAP * max(float(np.ptp(q0)), float(np.abs(q0).max()), 1e-300)
        usual = replace(self.newton, polish=polish)
        capped = replace(usual, largest=cap, most=3 * self.newton.most, line_search=False)
        failure: NotConverged | None = None
        for start, newton in ((q, usual), (q0, usual), (q0, capped)):
            x = np.concatenate([start, multipliers, contacts.multipliers(now.normal, now.tangential)])
            try:
                return newton.solve(equations, x, len(q))
            except NotConverged as error:
                failure = error
        assert failure is not None
        raise failure

    def _easier(
        self, now: _Round, contacts: HeldContacts, q: np.ndarray, *, converged: bool
    ) -> tuple[_Round, np.ndarray]:
        """What to try when the equations found no solution: gaps that close against the rules of their energy are held
        where they were; contacts of the step before are let go; what overlaps may do so for some rounds more."""
        gaps = now.pairing.gaps(self.before.position)
        bent = (now.states != OPEN) & ~now.plain & (contacts.targets.start != gaps)
        bent &= self._apart(gaps)
        if self.rule.energy in ("consistent", "gradient") and self.where == "between" and np.any(bent):
            self.notes["gaps held"] = (
                f"at {self.t1:.6g} s gaps of {int(bent.sum())} contact(s) could not close without work and were held"
            )
            return replace(now, plain=now.plain | bent), q if converged else self.before.position
        parted = np.where(now.pairing.held, STICK, OPEN).astype(np.int8)
        if not converged and np.any(now.states != parted):
            return replace(now, states=parted), self.before.position
        here = now.pairing.gaps(q)
        overlap = np.where((now.states != OPEN) & (here < 0.0), here, 0.0)
        if not converged or not np.any(overlap) or np.all(now.ease <= _EASIEST * overlap):
            raise NotConverged("Newton's method did not converge, whatever it started from")
        return replace(now, ease=np.minimum(0.5 * (now.ease + overlap), 0.0)), q

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
            limit = contacts.friction * np.maximum(normal, 0.0)
            over = (after == STICK) & (states == STICK) & (contacts.friction > 0.0)
            over &= np.abs(tangential) > limit + self.rule.tolerance * force
            after[over] = np.where(tangential[over] < 0.0, FORWARD, BACKWARD)
            slip = contacts.slip(q)
            back = _BACKWARD * length
            after[(after == FORWARD) & (slip < -back)] = STICK
            after[(after == BACKWARD) & (slip > back)] = STICK
        return after

    def _touching(self, now: _Round, q: np.ndarray) -> _Round:
        """With open contacts closed that overlap at q."""
        deep = now.pairing.gaps(q) < -self.rule.tolerance * self._length(q)
        return replace(now, states=np.where((now.states == OPEN) & deep, STICK, now.states).astype(np.int8))

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
            excess = np.abs(tangential) - contacts.friction * np.maximum(normal, 0.0)
            worst = max(worst, float(np.max(excess / force, initial=0.0)))
            power = tangential * contacts.slip(q)
            worst = max(worst, float(np.max(power / (force * length), initial=0.0)))
        return worst

    def _overlap(self, pairing: ContactPairing, q: np.ndarray, allowed: float) -> float:
        """How far contacts overlap at the end of a step, relative; refused above what is ``allowed``."""
        deepest = float(-pairing.gaps(q).min(initial=0.0))
        if deepest > allowed * self._length(q):
            raise StepFailed(
                f"at {self.before.time:.6g} s partners in the step of {self.h:.3g} s keep changing, and parts would "
                f"overlap by {deepest:.3g} m; use a smaller step or a finer mesh."
            )
        if deepest > self.rule.tolerance * self._length(q):
            self.notes["partners"] = (
                f"at {self.t1:.6g} s partners change back and forth, by which gaps differ by {deepest:.3g} m"
            )
        return deepest / self._length(q)

    def _length(self, q: np.ndarray) -> float:
        """[m] that penetrations are measured in."""
        return max(float(np.abs(q).max(initial=0.0)), 1e-300)

    def _units(self, q: np.ndarray, normal: np.ndarray) -> tuple[float, float]:
        """Lengths [m] and forces [N] that violations are measured in."""
        return self._length(q), max(float(np.abs(normal).max(initial=0.0)), 1e-300)

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
        found = closed.at(q)
        equations = self.build(parted)
        inverse = equations.inverse(np.concatenate([q, multipliers]))
        push = np.zeros((len(q) + len(multipliers), found.push.shape[1]))
        push[: len(q)] = equations.balance.weight * found.push.toarray()
        mobility = found.slope.T @ inverse(push)[: len(q)]
        force = np.concatenate([normal, tangential[closed.stick]])
        rough = closed.stick
        matrix = np.zeros((len(rough), k))
        matrix[np.arange(len(rough)), rough] = pairing.friction[rough]
        problem = FrictionalContact.from_parts(
            mobility,
            found.value - mobility @ force,
            normal=np.arange(k),
            tangential=np.arange(k, k + len(rough)),
            friction=matrix,
        )
        try:
            solution = solve(problem)
        except ComplementarityError as error:
            raise StepFailed(
                f"at {self.before.time:.6g} s the contacts of the step of {self.h:.3g} s have no states that obey "
                f"their laws: {error}"
            ) from error
        return _states_of(solution.x[:k], solution.x[k:], rough, pairing.friction)


def _states_of(normal: np.ndarray, tangential: np.ndarray, rough: np.ndarray, mu: np.ndarray) -> np.ndarray:
    states = np.where(normal > 0.0, STICK, OPEN).astype(np.int8)
    slides = (np.abs(tangential) >= (1.0 - 1e-9) * mu[rough] * normal[rough]) & (normal[rough] > 0.0)
    states[rough[slides]] = np.where(tangential[slides] < 0.0, FORWARD, BACKWARD)
    return states


def _carried(old: ContactPairing, new: ContactPairing, values: np.ndarray) -> np.ndarray:
    """Values (k,) of contacts of one pairing at those of another; zero for contacts that are new."""
    found = np.zeros(len(new.which), dtype=values.dtype)
    place = np.searchsorted(old.which, new.which)
    there = place < len(old.which)
    there[there] = old.which[place[there]] == new.which[there]
    found[there] = values[place[there]]
    return found
