"""An impact at an instant: velocities jump, positions stay, and the ledger knows what was lost to what.

    M (v⁺ − v⁻) = J_N Λ_N + J_T Λ_T + J_B Λ_B                                     Waltersberger (3.97)
    0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   −v_T⁺ ∈ N_D(Λ_T),   J_Bᵀ v⁺ + a_B = 0

over all contacts that are closed and do not separate. Another impact law takes the place of the second line. With
v_m = (v⁺ + v⁻)/2 the losses are −Λ · (Jᵀ v_m + a).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.complementarity.dense import dense
from klapper.contact_states import IMPACT, OPEN
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import System
from klapper.schemes.base import StepFailed
from klapper.schemes.contact_step import ContactRows, contact_rows, solve_contacts
from klapper.schemes.dependent_contacts import dependent_forces
from klapper.schemes.few_contacts import solve_few
from klapper.schemes.force_selection import choose
from klapper.schemes.jump import resolve_jump
from klapper.schemes.mobility import Held, Inverse
from klapper.schemes.touching import Touching


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did.

    ``velocity``    (nv,) after it
    ``contact``     numbers (k,) of the contacts that took part, ``impulse`` (k, 1 + d) [N s], ``state`` (k,)
    ``constraint``  impulses of two-sided constraints (p,) [N s]
    ``losses``      (5,) [J]: loads (moving walls), damping, friction, impact, numerical
    """

    velocity: np.ndarray
    contact: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    constraint: np.ndarray
    losses: np.ndarray
    residual: float
    notes: dict[str, str] = field(default_factory=dict)


def newton_impact(
    touching: Touching, solver: Any = "auto", *, push: float = 0.0, selection: Any = None
) -> Impact:
    """Newton's law for all closed contacts that do not separate; ``selection`` chooses among impulses that it leaves
    open.

    ``push`` > 0 [m/s] counts all of them as approaching with this speed, without restitution: an impact without
    collision (Painlevé).
    """
    system, v = touching.system, touching.v
    part = np.flatnonzero(~touching.laws.normal | (touching.approach <= touching.quiet))
    contact = touching.contact[part]
    directions = touching.directions_of(part)
    laws = (
        touching.laws
        if len(part) == len(touching.contact)
        else system.contacts.laws(contact, touching.speed[part])
    )
    if push > 0.0:
        laws = replace(laws, restitution=np.zeros(len(contact)))
    bilateral, bilateral_rate = touching.bilateral
    held = Held(touching.inverse, bilateral, system.constraints)
    constraint = held.impulses(held.direction.T @ v + bilateral_rate) if system.constraints else np.zeros(0)
    free = v + held.push(constraint) if system.constraints else v
    rows = contact_rows(directions, laws, touching.d)
    wanted = np.asarray(rows.columns.T @ free)
    has = laws.normal
    before = directions.normal_velocity(v)
    wanted[rows.normal[has]] += (directions.normal_rate + laws.restitution * np.minimum(before, 0.0) - push)[
        has
    ]
    if rows.tangential.shape[1]:
        rate = directions.tangential_rate.reshape(rows.scale.shape) * rows.scale
        wanted[rows.tangential.ravel()] += rate.ravel()
    impulses, residual, notes = np.zeros(rows.size), 0.0, {}
    few = None
    if solver == "auto" and selection is None:
        if not system.constraints:
            few = _of_few(rows, laws, touching.inverse, wanted)
        if few is None:
            few = _of_dependent(system, rows, laws, held, wanted)
    if few is not None:
        impulses = few
    elif rows.size:
        try:
            solution = solve_contacts(
                rows,
                held,
                laws,
                wanted,
                0.0,
                start=np.zeros(rows.size),
                solver=solver,
                tolerance=1e-9,
                names=[system.contacts.name(int(i)) for i in contact],
            )
        except ComplementarityError as error:
            raise StepFailed(f"The impact at {touching.t:.9g} s has no verified answer. {error}") from error
        residual = float(solution.residuals.worst)
        if selection is not None:
            chosen = choose(selection, solution, 1.0, None, touching.t)
            solution, notes = chosen.solution, chosen.notes
        impulses = solution.x
    push_by_contacts = np.asarray(rows.columns @ impulses)
    after = free + held.respond(push_by_contacts)
    if system.constraints:
        after_free = v + held.inverse(push_by_contacts)
        constraint = held.impulses(held.direction.T @ after_free + bilateral_rate)
    full = np.zeros((len(contact), 1 + touching.d))
    full[has, 0] = impulses[rows.normal[has]]
    if rows.tangential.shape[1]:
        full[:, 1:] = impulses[rows.tangential] * rows.scale
    return replace(_booked(touching, contact, full, constraint, after, residual), notes=notes)


def _of_few(rows: ContactRows, laws: ContactLaws, inverse: Inverse, wanted: np.ndarray) -> np.ndarray | None:
    """Impulses (r,) of one or two contacts without friction or with one direction of it, where they are unique."""
    normal, tangential = rows.normal[rows.normal >= 0], rows.tangential
    if rows.size == 0 or len(laws.normal) > 2 or tangential.shape[1] > 1:
        return None
    order = np.concatenate([normal, tangential.ravel()]).astype(int)
    columns = dense(rows.columns)[:, order]
    mobility = columns.T @ np.asarray(inverse(columns))
    friction = np.zeros((tangential.size, len(normal)))
    if tangential.size:
        friction = laws.friction_matrix[:, rows.normal >= 0]
    x = solve_few(mobility, wanted[order], len(normal), friction, np.zeros(tangential.size))
    if x is None:
        return None
    impulses = np.zeros(rows.size)
    impulses[order] = x
    return impulses


def _of_dependent(
    system: System, rows: ContactRows, laws: ContactLaws, held: Held, wanted: np.ndarray
) -> np.ndarray | None:
    """Impulses (r,) of contacts that depend on each other."""
    has = rows.normal >= 0
    friction = laws.friction_matrix[:, has] if rows.tangential.size else np.zeros((0, np.count_nonzero(has)))
    rough = friction.sum(axis=1) > 0.0
    asked = np.concatenate([rows.normal[has], rows.tangential[rough].ravel() if rough.size else []]).astype(
        int
    )
    columns = dense(rows.columns)[:, asked]
    mobility = columns.T @ np.asarray(held.respond(columns))
    x = dependent_forces(system, mobility, wanted[asked], friction[rough], np.zeros(np.count_nonzero(rough)))
    if x is None:
        return None
    impulses = np.zeros(rows.size)
    impulses[asked] = x
    return impulses


def law_impact(law: Any, touching: Touching) -> Impact:
    """An impact law of :mod:`klapper.mechanics.impact`."""
    system = touching.system
    bilateral = touching.bilateral
    jump = resolve_jump(
        law,
        system,
        system.mass(touching.q),
        bilateral,
        touching.v,
        touching.contact,
        touching.directions,
        touching.laws,
    )
    notes = {jump.finding[0]: f"at {touching.t:.6g} s: {jump.finding[1]}"} if jump.finding else {}
    return replace(
        _booked(touching, touching.contact, jump.impulse, jump.constraint, jump.velocity, 0.0), notes=notes
    )


def two_sided_impact(touching: Touching) -> Impact:
    """All closed contacts are brought to zero normal velocity, whether they approach or separate, without friction."""
    system, v = touching.system, touching.v
    part = np.flatnonzero(touching.laws.normal)
    contact = touching.contact[part]
    directions = touching.directions_of(part)
    bilateral, bilateral_rate = touching.bilateral
    columns = np.hstack([touching.normal[:, part], bilateral])
    rates = np.concatenate([directions.normal_rate, bilateral_rate])
    names = tuple(system.contacts.name(int(i)) for i in contact) + system.constraints
    held = Held(touching.inverse, columns, names)
    impulses = held.impulses(columns.T @ v + rates)
    full = np.zeros((len(contact), 1 + touching.d))
    full[:, 0] = impulses[: len(contact)]
    after = v + held.push(impulses)
    return _booked(touching, contact, full, impulses[len(contact) :], after, 0.0)


def _booked(
    touching: Touching,
    contact: np.ndarray,
    impulse: np.ndarray,
    constraint: np.ndarray,
    after: np.ndarray,
    residual: float,
) -> Impact:
    system = touching.system
    directions = touching.directions_of(np.searchsorted(touching.contact, contact))
    bilateral, bilateral_rate = touching.bilateral
    middle = 0.5 * (touching.v + after)
    normal, tangential = impulse[:, 0], impulse[:, 1:].ravel()
    joints = -float(constraint @ (bilateral.T @ middle + bilateral_rate)) if len(constraint) else 0.0
    lost = -float(normal @ directions.normal_velocity(middle)) + joints
    friction = -float(tangential @ directions.tangential_velocity(middle))
    walls = -float(normal @ directions.normal_rate + tangential @ directions.tangential_rate)
    walls -= float(constraint @ bilateral_rate)
    mass = system.mass(touching.q)
    change = 0.5 * float(after @ (mass @ after) - touching.v @ (mass @ touching.v))
    losses = np.array([walls, 0.0, friction, lost, walls - friction - lost - change])
    state = np.where(normal != 0.0, IMPACT, OPEN).astype(np.int8)
    return Impact(after, contact, impulse, state, constraint, losses, residual)
