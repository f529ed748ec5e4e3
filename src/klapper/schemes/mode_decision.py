"""The decision which contacts press, stick and slide from now on, by the acceleration-level problem.

    A_N1 = A_N2 \\ {g̈ > 0},   A_T1 = A_T2 \\ {z > 0}                              Waltersberger (4.44), (4.50), (4.51)

At the instant of an event the problem is on the border between two answers: the normal force that ended the phase is
zero, or the friction force is at its limit. There the contact is released, or slides against its friction force, unless
the acceleration that follows contradicts; then the problem decides with the contact held.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from klapper.complementarity import Attempt, NoSolution, NotDecided, Solution
from klapper.complementarity.dense import dense
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import DECISION, TOLERANCE, ModeDecision
from klapper.mechanics.force_sets import mode_forces
from klapper.schemes.base import StepFailed
from klapper.schemes.dependent_contacts import dependent_forces
from klapper.schemes.few_decision import FewDecision
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
from klapper.schemes.touching import ROUND_OFF, Touching

_CONTRADICTS = 1e-8  # of the accelerations at hand: what is more than round-off of a degenerate instant
_DEPENDENT = 1e-9  # of its own mobility: what a direction adds to those that are held already
_ROUND_OFF = 4.0 * float(np.finfo(float).eps)
_ENUMERATED = 6  # contact forces up to which other motions are searched for
_ROUNDS = 30


class Painleve(StepFailed):
    """Rigid bodies with this friction have no finite acceleration here."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided.

    ``modes``        of the next phase
    ``still``        (k,) patches among ``modes.contact`` that are at rest now, whether they will stick or not
    ``accumulated``  numbers of the contacts whose flights became too short to be followed
    """

    modes: Modes
    still: np.ndarray
    accumulated: np.ndarray
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class _Question:
    """What is asked about the contacts that touch, (k,) each: ``candidate`` for pressing, ``sliding`` with ``sense``
    (k, d), ``forced`` to slide because a friction force reached its limit."""

    candidate: np.ndarray
    sliding: np.ndarray
    sense: np.ndarray
    forced: np.ndarray


@dataclass(frozen=True)
class DecisionRules:
    """``slip_speed`` [m/s] up to which a patch is at rest, ``shortest_flight`` [s] that is followed, the ``solver`` of
    the contact problem, and the ``selection`` rule for forces on which the motion depends."""

    slip_speed: float
    shortest_flight: float
    solver: Any = "auto"
    selection: Any = None


def decide(rules: DecisionRules, memory: PhaseMemory, touching: Touching, ahead: float = 0.0) -> Decision:
    """The modes of the phase that begins; with ``ahead`` > 0 [s] the forces a little later break a tie."""
    question = _first_question(rules, memory, touching)
    released = touching.place(memory.of(RELEASE))
    if released.size:  # what followed from a released contact without pressing opens with it
        follows = touching.place(memory.modes.contact[~memory.modes.pressed])
        released = np.union1d(released, follows[touching.laws.normal[follows]])
    question.candidate[released] = False
    accumulated = np.zeros(0, dtype=int)
    released_set, acceleration = set(released.tolist()), None
    for _ in range(_ROUNDS + len(touching.contact)):
        answer = _Answer(rules, touching, question, ahead, acceleration, memory.modes)
        acceleration = answer.acceleration
        back = [i for i in released_set if answer.opening[i] < -answer.zero_opening[i]]
        stays = np.flatnonzero(question.forced & (answer.onset < -answer.zero_sliding))
        short = answer.short_flights(rules.shortest_flight)
        if not back and stays.size == 0 and short.size == 0:
            return answer.decision(accumulated)
        question.candidate[back] = True
        released_set -= set(back)
        question.forced[stays], question.sliding[stays] = False, False
        question.candidate[short] = True
        accumulated = np.union1d(accumulated, short)
    raise StepFailed(
        f"At {touching.t:.9g} s no combination of open, sticking and sliding contacts holds: "
        f"{', '.join(touching.names(np.flatnonzero(touching.laws.normal)))} contradict each other. Change the start or "
        f"a friction coefficient a little, or use Moreau."
    )


def _first_question(rules: DecisionRules, memory: PhaseMemory, touching: Touching) -> _Question:
    k, d = len(touching.contact), touching.d
    candidate = touching.laws.normal & (touching.approach <= touching.quiet)  # A_N2, Waltersberger (4.41)
    sliding = touching.speed > rules.slip_speed  # not in A_T2, (4.42)
    sense = np.zeros((k, d))
    size = np.linalg.norm(touching.slip, axis=1)
    sense[sliding] = touching.slip[sliding] / np.where(size > 0.0, size, 1.0)[sliding, None]
    stopped = touching.place(memory.of(STOP))
    sliding[stopped] = False
    forced = np.zeros(k, dtype=bool)
    modes, row = memory.modes, int(np.count_nonzero(memory.modes.pressed))
    slipping = memory.of(SLIP_BEGINS)
    for i, contact in enumerate(modes.contact):
        if modes.grip[i] == SMOOTH:
            continue
        force = modes.reference[row : row + d]
        row += d
        places = np.flatnonzero(touching.contact == contact)
        if places.size == 0 or sliding[places[0]] or contact in memory.of(STOP):
            continue
        at = int(places[0])
        if contact in slipping and np.linalg.norm(force) > 0.0:
            forced[at] = sliding[at] = True
            sense[at] = -force / np.linalg.norm(force)
        elif modes.grip[i] != STICKING and touching.slip[at] @ modes.sense[i] > ROUND_OFF * np.abs(
            touching.v
        ).max(initial=0.0):
            sliding[at] = True
            sense[at] = modes.sense[i]
    return _Question(candidate, sliding, sense, forced)


class _Answer:
    """The acceleration-level problem of a question, solved, and what it says about every contact that touches."""

    def __init__(
        self,
        rules: DecisionRules,
        touching: Touching,
        question: _Question,
        ahead: float,
        acceleration: np.ndarray | None,
        last: Modes,
    ) -> None:
        self.touching, self.question, self.rules, self.last = touching, question, rules, last
        system, t, q, v = touching.system, touching.t, touching.q, touching.v
        self.problem: Any
        self.mode: Any
        self.normals = np.flatnonzero(question.candidate)
        speed = np.where(question.sliding, touching.speed, 0.0)
        friction = touching.coefficients(speed)[:, self.normals]
        self.patches = np.flatnonzero((friction.sum(axis=1) > 0.0) | (touching.laws.limit > 0.0))
        if touching.d == 0:
            self.patches = self.patches[:0]
        self.friction = friction[self.patches]
        self.b_n, b_t = np.zeros(0), np.zeros(0)
        if len(touching.contact):
            self.b_n, b_t = system.curvature(t, q, v, touching.contact)
        self.b_t = b_t * touching.scale.ravel()
        if ahead > 0.0:
            t, q = t + ahead, system.advance(q, ahead * v)
            v = v if acceleration is None else v + ahead * acceleration
        self.by_rule = False
        few = None
        if rules.selection is None and rules.solver == "auto" and not system.constraints:
            few = FewDecision.of(
                touching,
                self.normals,
                self.patches,
                question,
                self.friction,
                self.b_n,
                self.b_t,
                system.force(t, q, v),
            )
        if few is not None:
            self.problem, self.mode = few, few
            self._take(self.mode.acceleration)
            return
        self.problem = AccelerationProblem(
            system.mass(touching.q),
            system.force(t, q, v),
            normal=touching.normal[:, self.normals],
            normal_bias=self.b_n[self.normals],
            tangential=touching.tangential[:, self._columns],
            tangential_bias=self.b_t[self._columns],
            sliding_velocity=np.where(question.sliding[:, None], question.sense, 0.0)[self.patches].reshape(
                len(self.patches), max(touching.d, 1)
            ),
            friction=self.friction,
            limit=touching.laws.limit[self.patches],
            bilateral=system.constraint_directions(touching.t, touching.q)[0],
            bilateral_bias=system.constraint_curvature(touching.t, touching.q, touching.v),
            normal_names=touching.names(self.normals),
            tangential_names=touching.names(self.patches),
            bilateral_names=system.constraints,
        )
        self.mode = self._solved()
        self._take(self.mode.acceleration)

    def _take(self, acceleration: np.ndarray) -> None:
        touching = self.touching
        self.acceleration = acceleration
        self.opening = touching.normal.T @ acceleration + self.b_n  # g̈ of all that touch
        self.sliding_change = (touching.tangential.T @ acceleration + self.b_t).reshape(touching.slip.shape)

    @property
    def _columns(self) -> np.ndarray:
        d = self.touching.d
        return (self.patches[:, None] * d + np.arange(d)).ravel()

    def _solved(self) -> ModeDecision:
        dependent = self._dependent()
        if dependent is not None:
            return dependent
        try:
            mode = self.problem.solve(self.rules.solver)
        except (NoSolution, NotDecided) as error:
            raise Painleve(
                f"At {self.touching.t:.9g} s the contact forces have no solution. {error} Time stepping (Moreau) would "
                f"pass with a velocity jump: sliding stops abruptly. painleve='jump' does the same here."
            ) from error
        turned = (self.problem.normal_mobility < 0.0) & (mode.normal_force > 0.0)
        if turned.any():
            worst = int(np.argmax(turned))
            raise Painleve(
                f"At {self.touching.t:.9g} s '{self.problem.normal_names[worst]}' is pressed although sliding friction "
                f"turns its normal force against itself (1 N more would open it by "
                f"{self.problem.normal_mobility[worst]:.3g} m/s²): the motion is not unique and this one is unstable "
                f"(Painlevé). Time stepping (Moreau) would pass with a velocity jump: sliding stops abruptly. "
                f"painleve='jump' does the same here; or lower the friction, or make the contact compliant."
            )
        return mode if self.rules.selection is None else self._selected(mode)

    def _dependent(self) -> ModeDecision | None:
        """The forces of contacts at rest that depend on each other, as the compiled loop chooses them."""
        problem, rules = self.problem, self.rules
        if rules.selection is not None or rules.solver != "auto" or problem.sliding.any():
            return None
        contact, c = problem.contact_problem, problem.contacts + problem.tangential.shape[1]
        mobility, velocity = contact.delassus, contact.free_velocity
        try:
            back = np.linalg.solve(mobility[c:, c:], np.column_stack([mobility[c:, :c], velocity[c:]]))
        except np.linalg.LinAlgError:
            return None
        free = mobility[:c, :c] - mobility[:c, c:] @ back[:, :c]
        pushed = velocity[:c] - mobility[:c, c:] @ back[:, c]
        x = dependent_forces(self.touching.system, free, pushed, self.friction, problem.limit)
        if x is None:
            return None
        unknown = np.concatenate([x, -back[:, c] - back[:, :c] @ x])
        solution = Solution(contact, unknown, (Attempt("compiled", "solved"),))
        return ModeDecision(problem, solution) if solution.residuals.worst <= TOLERANCE else None

    def _selected(self, mode: ModeDecision) -> ModeDecision:
        """The mode with the forces of the selection rule, where the motion depends on them."""
        system, problem = self.touching.system, self.problem
        forces = mode_forces(mode, mass=dense(system.mass(self.touching.q)))
        if forces.motion_unique:
            return mode
        unknown = self.rules.selection.select(forces, self._previous()).forces - problem.given_forces
        sliding = problem.contacts + np.arange(problem.tangential.shape[1]).reshape(-1, self.touching.d)
        unknown[sliding[problem.sliding].ravel()] = 0.0  # follows from the normal forces
        chosen = Solution(mode.solution.problem, unknown, mode.solution.attempts)
        self.by_rule = chosen.residuals.worst <= DECISION * TOLERANCE
        return replace(mode, solution=chosen) if self.by_rule else mode

    def _previous(self) -> np.ndarray | None:
        """Forces of the last phase in the order of the problem's rows; None if there is none."""
        last, d = self.last, self.touching.d
        if len(last.contact) == 0:
            return None
        table = {int(i): np.zeros(1 + d) for i in last.contact}
        pressed, rough = last.contact[last.pressed], last.contact[last.rough]
        for i, force in zip(pressed, last.reference, strict=False):
            table[int(i)][0] = force
        of_patches = last.reference[len(pressed) : len(pressed) + len(rough) * d].reshape(len(rough), d)
        for i, force in zip(rough, of_patches, strict=True):
            table[int(i)][1:] = force
        none = np.zeros(1 + d)
        numbers = self.touching.contact
        return np.concatenate(
            [
                [table.get(int(numbers[i]), none)[0] for i in self.normals],
                *(table.get(int(numbers[i]), none)[1:] for i in self.patches),
                last.reference[len(pressed) + len(rough) * d :],
            ]
        )

    @property
    def _push(self) -> np.ndarray:
        """Sizes (n,) of the accelerations that cancel where contacts hold."""
        response = np.abs(self.problem._responses) @ np.abs(self.mode._forces)
        return np.abs(self.problem.free_acceleration) + response

    @property
    def zero_opening(self) -> np.ndarray:
        """g̈ (k,) up to which it counts as zero."""
        return _CONTRADICTS * (np.abs(self.touching.normal).T @ self._push + np.abs(self.b_n))

    @property
    def zero_sliding(self) -> np.ndarray:
        terms = np.abs(self.touching.tangential).T @ self._push + np.abs(self.b_t)
        return _CONTRADICTS * terms.reshape(self.touching.slip.shape).max(axis=1, initial=0.0)

    @property
    def onset(self) -> np.ndarray:
        """Rate of sliding along the sense (k,) [m/s²]."""
        return np.sum(self.sliding_change * self.question.sense, axis=1)

    def short_flights(self, shortest: float) -> np.ndarray:
        """Contacts that leave and would come back within ``shortest`` [s], 2 ġ / |g̈|, or would not rise above the
        round-off of positions, ġ² / 2 |g̈|."""
        leaving = self.touching.laws.normal & ~self.question.candidate
        leaving &= (self.touching.approach > self.touching.quiet) & (self.opening < -self.zero_opening)
        pull, speed = -self.opening, self.touching.approach
        rise = _ROUND_OFF * float(np.abs(self.touching.q).max(initial=0.0))
        return np.flatnonzero(leaving & ((2.0 * speed < pull * shortest) | (speed**2 < 2.0 * pull * rise)))

    def decision(self, accumulated: np.ndarray) -> Decision:
        touching, mode, d = self.touching, self.mode, self.touching.d
        k = len(touching.contact)
        force, closed = np.zeros(k), np.zeros(k, dtype=bool)
        force[self.normals] = mode.normal_force
        closed[self.normals] = mode.stays_closed
        loaded = np.zeros(k, dtype=bool)
        scale = np.abs(self.touching.normal).T @ self._push + self._push.max(initial=0.0)
        loaded[self.normals] = (
            mode.normal_force * np.diag(self._mobility)[: len(self.normals)] > ROUND_OFF * scale[self.normals]
        ) & mode.stays_closed
        grip, sense = self._grips(loaded, closed)
        pressed = self._independent(loaded, closed, grip)
        for i in self.patches:  # patches whose limit can only come from contacts that do not press
            limited = self.touching.laws.limit[i] > 0.0
            if not limited and not np.any((self._friction_row(i) > 0.0) & pressed):
                grip[i], sense[i] = SMOOTH, 0.0
        kept = closed | (grip != SMOOTH)
        tangential = np.zeros((k, d))
        tangential[self.patches] = mode.tangential_force if d else 0.0
        reference = np.concatenate(
            [force[pressed], tangential[kept & (grip != SMOOTH)].ravel(), mode.bilateral_force]
        )
        modes = Modes(touching.contact[kept], pressed[kept], grip[kept], sense[kept], reference)
        still = ~self.question.sliding | self.question.forced
        return Decision(modes, still[kept], touching.contact[accumulated], self._notes())

    def _grips(self, loaded: np.ndarray, closed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Friction modes (k,) and senses (k, d)."""
        touching, question = self.touching, self.question
        grip = np.full(len(touching.contact), SMOOTH)
        sense = np.zeros_like(question.sense)
        for patch, i in enumerate(self.patches):
            held = np.any(closed & (self._friction_row(i) > 0.0)) or touching.laws.limit[i] > 0.0
            if not held:
                continue
            if question.sliding[i]:
                follows = touching.d == 2 and touching.speed[i] > self.rules.slip_speed
                grip[i] = SLIDING if follows else STARTING
                sense[i] = question.sense[i]
            elif self.mode.sticks[patch]:
                grip[i] = STICKING
            else:
                change = self.sliding_change[i]
                grip[i] = STARTING
                sense[i] = change / np.linalg.norm(change)
        return grip, sense

    def _friction_row(self, place: Any) -> np.ndarray:
        """μ (k,) of one patch over all contacts that touch."""
        row = np.zeros(len(self.touching.contact))
        row[self.normals] = self.friction[int(np.searchsorted(self.patches, place))]
        return row

    @property
    def _mobility(self) -> np.ndarray:
        """Dᵀ M⁻¹ D of the problem's normals, patches and constraints."""
        return self.problem.directions.T @ self.problem._responses

    def _independent(self, loaded: np.ndarray, closed: np.ndarray, grip: np.ndarray) -> np.ndarray:
        """Pressed contacts (k,): all that are loaded, and of the other closed ones those that add a direction.

        What follows from the others needs no force of its own; only its gap is watched.
        """
        pressed = loaded.copy()
        idle = np.flatnonzero(closed & ~loaded)
        if idle.size == 0:
            return pressed
        mobility, m, d = self._mobility, len(self.normals), self.touching.d
        place = {int(i): row for row, i in enumerate(self.normals)}
        held = [place[int(i)] for i in np.flatnonzero(loaded)]
        for patch, i in enumerate(self.patches):
            if grip[i] == STICKING:
                held += list(range(m + patch * d, m + (patch + 1) * d))
        held += list(range(m + len(self.patches) * d, len(mobility)))
        for i in idle:
            row = place[int(i)]
            own = mobility[row, row]
            coupling = mobility[np.ix_(held, [row])]
            unit = np.sqrt(np.maximum(np.diag(mobility)[held], 1e-300))
            scaled = mobility[np.ix_(held, held)] / np.outer(unit, unit)
            share = np.linalg.lstsq(scaled, coupling[:, 0] / unit, rcond=_DEPENDENT)[0] if held else []
            rest = own - (float(coupling[:, 0] / unit @ share) if held else 0.0)
            if rest > _DEPENDENT * own:
                pressed[i] = True
                held.append(row)
        return pressed

    def _notes(self) -> dict[str, str]:
        problem = self.problem
        if isinstance(problem, FewDecision):
            return {}
        if self.by_rule:
            return {
                "motion by selection": f"at {self.touching.t:.6g} s the motion depends on forces that the model leaves "
                f"open, and follows those of {self.rules.selection.name}"
            }
        if not self.question.sliding[self.patches].any() or problem.convex or problem.decoupled:
            return {}
        if problem.normal_mobility.min(initial=1.0) > 0.0 and problem.contacts == 1:
            return {}
        if problem.contact_problem.size > _ENUMERATED or self.mode.uniqueness.motion != "not unique":
            return {}
        return {
            "motion not unique": f"at {self.touching.t:.6g} s sliding friction admits more than one motion; one of "
            f"them is followed"
        }
