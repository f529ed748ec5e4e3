"""The contact forces that a state of a system leaves possible, as a set with bounds and selection rules.

Loaded contacts and those that stay closed without a force can push; friction of contacts at rest lies inside its disc,
that of sliding ones opposes their velocity. Members of the set keep closed contacts closed and sticking ones at rest.
Where no contact slides with friction all of them give the same accelerations,

    J_hᵀ M⁻¹ W (x − x̄) = 0   for the held rows h  ⟹  W (x − x̄) = 0,                 Waltersberger (4.60)-(4.62)

otherwise the accelerations may depend on the choice (Glocker's pantograph).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import Solution
from klapper.complementarity.dense import dense
from klapper.complementarity.selection import ForceSet
from klapper.complementarity.selection.accuracy import judged_contact
from klapper.contact_states import STICK
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.system import Directions, System

_CLOSED = 1e-9  # gap [m], and approach relative to its terms, up to which an unloaded contact is closed
_UNLOADED = 1e-12  # of the largest force
_AT_REST = 1e-9  # of the terms of a sliding velocity
SLIP_SPEED = 1e-9  # [m/s]: terms of a velocity at rest are round-off themselves, and no measure for it
_LARGEST_MASS = 300  # coordinates up to which the set knows mass and load


@dataclass(frozen=True, eq=False)
class ClosedForces:
    """The set of forces of the closed contacts of a state, and how its rows belong to them.

    ``set``      rows: normal forces, friction patch by patch (anisotropic directions scaled), two-sided constraints
    ``contact``  numbers (k,) of the closed contacts; ``normal`` (m,) and ``patch`` (s,) are places among them
    ``scale``    (s, d) by which friction rows are multiplied to give forces
    """

    set: ForceSet
    contact: np.ndarray
    normal: np.ndarray
    patch: np.ndarray
    scale: np.ndarray

    def by_contact(self, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (k, 1 + d) of the closed contacts and (p,) of the constraints [N] from those of the rows (r,)."""
        m, (s, d) = len(self.normal), self.scale.shape
        table = np.zeros((len(self.contact), 1 + d))
        table[self.normal, 0] = forces[:m]
        table[self.patch, 1:] = forces[m : m + s * d].reshape(s, d) * self.scale
        return table, forces[m + s * d :]


def closed_forces(
    system: System,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    contact: np.ndarray,
    force: np.ndarray,
    *,
    state: np.ndarray | None = None,
    constraint_force: np.ndarray | None = None,
    largest: int = 400,
    slip_speed: float = SLIP_SPEED,
) -> ClosedForces | None:
    """All contact forces of the contact state in which contacts (k,) carry ``force`` (k, 1 + d) [N].

    ``state``             (k,) 1 where a contact sticks; None: by the sliding velocities
    ``constraint_force``  (p,) [N] of the two-sided constraints; None: unknown, taken as zero, which shifts their bounds
    ``largest``           number of forces above which None is returned
    ``slip_speed``        [m/s] up to which a contact is at rest, and stays closed
    """
    taking_part = _closed(system, t, q, v, contact, force, slip_speed)
    contact, force = contact[taking_part], force[taking_part]
    state = None if state is None else state[taking_part]
    bilateral, _ = system.constraint_directions(t, q)
    d, p = system.contacts.tangential, len(system.constraints)
    if len(contact) * (1 + d) + p > largest:
        return None
    directions = system.directions(t, q, contact)
    slip = directions.tangential_velocity(v).reshape(len(contact), d)
    speed = np.linalg.norm(slip, axis=1)
    laws = system.contacts.laws(contact, speed)
    normal = np.flatnonzero(laws.normal)
    friction = laws.friction_matrix
    patch = np.flatnonzero((friction[:, normal].sum(axis=1) > 0.0) | (laws.limit > 0.0)) if d else normal[:0]
    scale = np.ones((len(contact), d))
    if d == 2:
        scale[:, 1] = laws.ratio
    m, s = len(normal), len(patch)
    of_patch = (patch[:, None] * d + np.arange(d)).ravel()
    columns = np.hstack(
        [
            dense(directions.normal)[:, normal],
            dense(directions.tangential)[:, of_patch] * scale[patch].ravel(),
            dense(bilateral),
        ]
    )
    unscaled = np.where(scale > 0.0, scale, 1.0)
    given = np.zeros(p) if constraint_force is None else constraint_force
    rubbing = force[:, 1:] / unscaled
    forces = np.concatenate([force[normal, 0], rubbing[patch].ravel(), given])
    patches = m + np.arange(s * d).reshape(s, d) if d else np.zeros((0, 1), dtype=int)
    sense = np.zeros((0, 1))
    if d:
        rest = np.maximum(slip_speed, _AT_REST * _tangential_terms(directions, v, d))
        sense = _senses(slip * scale, speed > rest, state, rubbing)[patch]
    names = _names(system, contact, normal, patch)
    mass, load, held = None, None, None
    if np.any(sense) and m:
        mass = system.mass(q)
        rest = np.concatenate(
            [np.arange(m), patches[~np.any(sense, axis=1)].ravel(), m + s * d + np.arange(p)]
        ).astype(int)
        held = columns[:, rest].T @ _solved(mass, columns)
    if mass is not None and len(v) <= _LARGEST_MASS:
        mass, load = dense(mass), system.force(t, q, v)
    else:
        mass = None
    found = ForceSet(
        forces,
        columns,
        np.arange(m),
        patches,
        friction[np.ix_(patch, normal)],
        laws.limit[patch],
        sense,
        np.zeros(len(forces), dtype=bool),
        names,
        held,
        mass=mass,
        load=load,
        speed=np.linalg.norm(slip * scale, axis=1)[patch] if d else np.zeros(0),
    )
    return ClosedForces(found, contact, normal, patch, scale[patch])


def mode_forces(decision: ModeDecision, *, mass: np.ndarray | None = None) -> ForceSet:
    """All forces that keep the contact modes of a decision: rows λ_N, λ_T, λ_B of its problem.

    They move the system differently where ``motion_unique`` is False; ``motions`` then gives the extreme ones. ``mass``
    M (n, n) [kg] is for rules that look at accelerations.

    A block of 16 kg slides on three feet with different friction, pushed by 60 N at its upper edge:

    >>> from klapper.mechanics.acceleration import AccelerationProblem
    >>> M, feet = np.diag([16.0, 16.0, 1 / 15]), np.array([-0.1, 0.0, 0.1])
    >>> slider = AccelerationProblem(M, [60.0, -16.0 * 9.81, -3.0], normal=[[0, 0, 0], [1, 1, 1], feet],
    ...     tangential=[[1, 1, 1], [0, 0, 0], [0.05, 0.05, 0.05]], sliding_velocity=[[0.1]] * 3,
    ...     friction=[0.1, 0.5, 0.1])
    >>> forces = mode_forces(slider.solve(), mass=M)
    >>> motions, _ = forces.motions(np.linalg.solve(M, forces.directions))
    >>> np.sort(60.0 / 16.0 + motions[:, 0]).round(4).tolist()
    [0.2875, 2.769]
    """
    problem, solved = decision.problem, decision.solution
    exact = judged_contact(solved.problem, solved.x).x
    decision = replace(decision, solution=Solution(solved.problem, exact, solved.attempts))
    m, width = problem.contacts, problem.tangential.shape[1]
    s, d = problem.sliding_velocity.shape
    patches = m + np.arange(width).reshape(s, d)
    mobility = problem.directions.T @ problem._responses
    change, pressed, closed = decision.tangential_acceleration, decision._pressed, decision.stays_closed
    starts = pressed & ~problem.sliding & ~decision.sticks
    along = np.where(problem.sliding[:, None], problem.sense, np.where(starts[:, None], change, 0.0))
    length = np.linalg.norm(along, axis=1, keepdims=True)
    sense = np.divide(along, length, out=np.zeros_like(along), where=length > 0.0)
    sense[~pressed] = 0.0
    fixed = np.zeros(len(mobility), dtype=bool)
    fixed[np.flatnonzero(~closed)] = True
    fixed[patches[~pressed].ravel()] = True
    joints = np.arange(m + width, len(mobility))
    rest = np.concatenate([np.flatnonzero(closed), patches[decision.sticks].ravel(), joints]).astype(int)
    begin = [sense[k] @ mobility[patches[k]] for k in np.flatnonzero(starts)]
    keeping = (
        np.vstack([mobility[:m][~closed], *begin]),
        np.concatenate([decision.normal_acceleration[~closed], np.sum(change * sense, axis=1)[starts]]),
    )
    return ForceSet(
        decision._forces,
        problem.directions,
        np.arange(m),
        patches if d else np.zeros((0, 1), dtype=int),
        problem.friction,
        problem.limit,
        sense,
        fixed,
        problem.contact_problem.names,
        mobility[rest],
        keeping,
        problem.contact_problem.polygon,
        mass=mass,
        load=problem.force,
        mobility=mobility,
        speed=np.linalg.norm(problem.sliding_velocity, axis=1),
    )


def _closed(
    system: System,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    contact: np.ndarray,
    force: np.ndarray,
    slip_speed: float,
) -> np.ndarray:
    """Which contacts (k,) are loaded, or stay closed without a force."""
    size = np.abs(force).max(axis=1, initial=0.0)
    loaded = size > _UNLOADED * size.max(initial=0.0)
    gaps = system.gaps(t, q, contact)
    idle = np.flatnonzero(~loaded & (gaps <= _CLOSED))  # numbers that name no contact have no gap
    if idle.size:
        directions = system.directions(t, q, contact[idle])
        loaded[idle[stays_closed(directions, v, slip_speed)]] = True
    return loaded


def stays_closed(directions: Directions, v: np.ndarray, slip_speed: float = SLIP_SPEED) -> np.ndarray:
    """Which contacts (k,) neither approach nor separate, up to round-off and ``slip_speed`` [m/s]."""
    terms = np.asarray(abs(directions.normal).T @ np.abs(v)) + np.abs(directions.normal_rate)
    return np.abs(directions.normal_velocity(v)) <= np.maximum(_CLOSED * terms, slip_speed)


def _tangential_terms(directions: Directions, v: np.ndarray, d: int) -> np.ndarray:
    """The largest term (k,) [m/s] of the sliding velocities."""
    terms = np.asarray(abs(directions.tangential).T @ np.abs(v)) + np.abs(directions.tangential_rate)
    return terms.reshape(-1, d).max(axis=1, initial=0.0)


def _senses(
    slip: np.ndarray, moves: np.ndarray, state: np.ndarray | None, friction: np.ndarray
) -> np.ndarray:
    """Unit vectors (k, d) of sliding, zero where a contact sticks; from the friction force where it just begins.

    ``moves`` (k,) says which slide already. ``slip`` and ``friction`` (k, d) are in the scaled directions of
    anisotropic contacts, in which they are opposite.
    """
    along = np.where(moves[:, None], slip, 0.0)
    if state is not None:
        begins = ~moves & (state != STICK)
        along = np.where((state == STICK)[:, None], 0.0, np.where(begins[:, None], -friction, along))
    length = np.linalg.norm(along, axis=1, keepdims=True)
    return np.divide(along, length, out=np.zeros_like(along), where=length > 0.0)


def _names(system: System, contact: np.ndarray, normal: np.ndarray, patch: np.ndarray) -> tuple[str, ...]:
    name = system.contacts.name
    kinds = ("tangential",) if system.contacts.tangential == 1 else ("tangential 1", "tangential 2")
    return (
        *(f"{name(int(contact[i]))} normal" for i in normal),
        *(f"{name(int(contact[i]))} {kind}" for i in patch for kind in kinds),
        *system.constraints,
    )


def _solved(mass: Any, columns: np.ndarray) -> np.ndarray:
    """M⁻¹ W."""
    if sparse.issparse(mass):
        if mass.nnz == np.count_nonzero(mass.diagonal()):
            return columns / mass.diagonal()[:, None]
        from scipy.sparse.linalg import splu

        return splu(mass.tocsc()).solve(columns)
    return np.linalg.solve(mass, columns)
