"""Does a system at rest have to stay at rest, has it to move, or are both solutions?

With rigid bodies and Coulomb friction both may be possible under one load (Waltersberger (5.15), (5.16); Painlevé): the
motion is then not unique although each solver finds one answer. Asked in the order of costs:

    1. no friction that follows a normal force, or friction that acts on no normal force: v̇ is unique
    2. one contact with friction: rest and sliding exclude each other if n M⁻¹ (n − μ σ t) > 0 for both senses σ
    3. rest: one linear program
    4. motion: what the solver finds; if it finds rest, every combination of sliding, sticking and opening
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.complementarity.dense import dense
from klapper.contact_states import OPEN, STICK
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.possible_motion import RestAndSliding
from klapper.mechanics.system import System

CLOSED = 1e-9  # gap [m] up to which a contact takes part
MOST_PATCHES = 3  # in the plane: 4³ combinations cost a tenth of a second
MOST_CONTACTS = 60  # of one linear program that an audit may wait for
_VERTICES = 16  # of polygons inside friction discs in space
_MOVES = 1e-6  # of the free acceleration: what is a motion
_STILL = 1e-12  # relative size of a coupling that is round-off
_WORDS = {"stick": "sticks", "+": "slides +", "-": "slides −", "slip": "slides", "open": "opens"}


@dataclass(frozen=True, eq=False)
class TwoAnswers:
    """Rest and a motion under one load.

    ``problem``       the accelerations that were asked
    ``acceleration``  v̇ (n,) [m/s², rad/s²] of the motion
    ``states``        what every friction patch does in it: "stick", "+", "-" or "open"; "slip" in space
    """

    problem: AccelerationProblem
    acceleration: np.ndarray
    states: tuple[str, ...]

    def __str__(self) -> str:
        names = self.problem.tangential_names
        doing = "; ".join(f"'{name}' {_WORDS[state]}" for name, state in zip(names, self.states, strict=True))
        return f"rest and motion are both solutions (in the motion {doing})"


def resting_problem(system: System, t: float, q: np.ndarray, which: np.ndarray) -> AccelerationProblem:
    """Accelerations of a system from rest with contacts ``which`` closed."""
    laws, directions = system.contacts.laws(which), system.directions(t, q, which)
    pressing = np.flatnonzero(laws.normal)
    friction = laws.friction_matrix
    names = [system.contacts.name(int(i)) for i in which]
    v = np.zeros(len(system.velocities))
    bilateral = system.constraint_directions(t, q)[0] if system.constraints else None
    d = system.contacts.tangential
    rough = np.flatnonzero(friction.sum(axis=1) + laws.limit > 0.0) if d else np.zeros(0, dtype=int)
    columns = (rough[:, None] * d + np.arange(d)).ravel()
    return AccelerationProblem(
        system.mass(q),
        system.force(t, q, v),
        normal=dense(directions.normal)[:, pressing],
        tangential=dense(directions.tangential)[:, columns] if len(rough) else None,
        sliding_velocity=np.zeros((len(rough), d)) if len(rough) else None,
        friction=friction[np.ix_(rough, pressing)] if len(rough) else 0.0,
        limit=laws.limit[rough] if len(rough) else 0.0,
        bilateral=bilateral,
        normal_names=[names[i] for i in pressing],
        tangential_names=[names[i] for i in rough] if len(rough) else None,
        bilateral_names=system.constraints or None,
    )


def closed_at(system: System, t: float, q: np.ndarray) -> np.ndarray:
    """Numbers of the contacts that are closed at a position."""
    near = system.near(t, q)
    gaps = system.gaps(t, q, near)
    return near[np.isnan(gaps) | (gaps <= CLOSED)]


def two_answers(problem: AccelerationProblem) -> TwoAnswers | None:
    """Rest and a motion, if both are solutions; None if not, or if it is not known (more than ``MOST_PATCHES`` friction
    patches, or contacts in space, where the solver finds rest)."""
    if problem.patches == 0 or not problem.force.any():
        return None
    if problem.convex or problem.decoupled or _excluded(problem):
        return None
    programs = RestAndSliding(problem, problem.force, _VERTICES)
    try:
        programs.require_rest()
    except InvalidModel:  # a wall moves
        return None
    if not programs.may_rest():
        return None
    least = _MOVES * float(np.abs(problem.free_acceleration).max())
    try:
        found = problem.solve()
    except ComplementarityError:
        found = None
    if found is not None and np.abs(found.acceleration).max(initial=0.0) > least:
        return TwoAnswers(problem, found.acceleration, _states(found))
    if problem.sliding_velocity.shape[1] > 1 or problem.patches > MOST_PATCHES:
        return None
    for states in product(("+", "-", "stick", "open"), repeat=problem.patches):
        if set(states) != {"stick"}:
            acceleration = programs.moving(states, least)
            if acceleration is not None:
                return TwoAnswers(problem, acceleration, states)
    return None


def _states(found: ModeDecision) -> tuple[str, ...]:
    sense = found.tangential_acceleration
    in_space = sense.shape[1] > 1
    sliding = ["slip" if in_space else "+" if rate[0] > 0.0 else "-" for rate in sense]
    return tuple(
        {STICK: "stick", OPEN: "open"}.get(int(state), slip)
        for state, slip in zip(found.patch_states, sliding, strict=True)
    )


def _excluded(problem: AccelerationProblem) -> bool:
    """Whether one contact alone cannot both stay and slide: it opens by a force on either edge of its cone."""
    if problem.contacts != 1 or problem.patches != 1 or problem.tangential.shape[1] != 1:
        return False
    if problem.bilateral.shape[1]:
        return False
    delassus = problem.contact_problem.delassus
    return bool(delassus[0, 0] > problem.friction[0, 0] * abs(delassus[0, 1]) * (1.0 + _STILL))
