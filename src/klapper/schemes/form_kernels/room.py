"""Arrays that one computation works with: made once, overwritten in every step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.schemes.form_kernels.by_reference import (
    InverseType,
    JointsType,
    KeptType,
    RoomType,
    StateType,
    constructor,
)
from klapper.schemes.form_kernels.compiling import inner
from klapper.schemes.form_kernels.contacts import Contacts, new_contacts
from klapper.schemes.form_kernels.inverse import BAND, DENSE, DIAGONAL, Inverse
from klapper.schemes.form_kernels.joints import Joints
from klapper.schemes.form_kernels.model import Model

FEW_ROWS = 24  # of contacts, for whose problems there is always room
_MOST_DENSE = 400  # constraints up to which redundant ones are sorted out in a dense matrix


class State(NamedTuple):
    """What goes from step to step, changed in place.

    ``q``, ``v``                position (nq,) and velocity (nv,)
    ``held``, ``held_impulse``  contacts loaded in the last step: numbers (room,), rising, and impulses (room, 1 + d)
    ``counts``                  (1,) how many of them
    ``sums``                    (5,) loads, damping, friction, impact, numerical [J]
    ``stored``                  (3,) potential energy, energy of contact compliance, kinetic energy [J]
    ``mass``                    entries of M at q, where it is not constant
    """

    q: np.ndarray
    v: np.ndarray
    held: np.ndarray
    held_impulse: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    stored: np.ndarray
    mass: np.ndarray


class Room(NamedTuple):
    """Vectors (nq,), (nv,), (p,) and entries of matrices, by their names in ``MoreauStep``; numbers and places to solve
    the problems of a few contacts with."""

    q_contact: np.ndarray
    q_force: np.ndarray
    q_after: np.ndarray
    at: np.ndarray
    mass: np.ndarray
    mass_after: np.ndarray
    by_position: np.ndarray
    by_velocity: np.ndarray
    force: np.ndarray
    pushed: np.ndarray
    free: np.ndarray
    v_after: np.ndarray
    middle: np.ndarray
    one: np.ndarray
    two: np.ndarray
    three: np.ndarray
    given: np.ndarray
    violation: np.ndarray
    joint_impulse: np.ndarray
    joint_one: np.ndarray
    joint_two: np.ndarray
    powers: np.ndarray
    state: np.ndarray
    numbers: np.ndarray
    work: np.ndarray
    places: np.ndarray


class Kept(NamedTuple):
    """Responses M̂⁻¹ J (R, n) of all contact rows and their Delassus matrix (R, R), if they are constant; ``ready`` (1,)
    says whether they are known."""

    response: np.ndarray
    delassus: np.ndarray
    ready: np.ndarray


room_by_reference = constructor(Room, RoomType)
state_by_reference = constructor(State, StateType)
kept_by_reference = constructor(Kept, KeptType)
inverse_by_reference = constructor(Inverse, InverseType)
joints_by_reference = constructor(Joints, JointsType)


@inner
def new_room(model: Model) -> Room:
    nq, n, p = model.positions, model.velocities, model.constraints
    rows = min(model.room * (1 + model.tangential), FEW_ROWS)
    contacts, shares = min(model.room, rows), model.share.size
    return room_by_reference(
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(model.mass_row.size),
        np.zeros(model.mass_row.size),
        np.zeros(model.tangent_row.size),
        np.zeros(model.tangent_row.size),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(p),
        np.zeros(p),
        np.zeros(p),
        np.zeros(p),
        np.zeros(p),
        np.zeros(2),
        np.zeros(model.room, np.int8),
        np.zeros(4),
        np.zeros(rows * (n + 2 * rows + 7) + 2 * contacts + shares),
        np.zeros(contacts + 1 + shares + 3 * rows, np.int64),
    )


@inner
def new_state(model: Model) -> State:
    width = 1 + model.tangential
    return state_by_reference(
        np.zeros(model.positions),
        np.zeros(model.velocities),
        np.zeros(model.room, np.int64),
        np.zeros((model.room, width)),
        np.zeros(1, np.int64),
        np.zeros(5),
        np.zeros(3),
        np.zeros(model.mass_row.size),
    )


@inner
def copy_state(source: State, target: State) -> None:
    target.q[:] = source.q
    target.v[:] = source.v
    target.held[:] = source.held
    target.held_impulse[:, :] = source.held_impulse
    target.counts[:] = source.counts
    target.sums[:] = source.sums
    target.stored[:] = source.stored
    target.mass[:] = source.mass


@inner
def new_inverse(kind: int, band: int, n: int) -> Inverse:
    if kind == DIAGONAL:
        return inverse_by_reference(DIAGONAL, 0, np.zeros((n, 1)), np.zeros(0, np.int64))
    if kind == BAND:
        return inverse_by_reference(BAND, band, np.zeros((n, 2 * band + 1)), np.zeros(0, np.int64))
    return inverse_by_reference(DENSE, n, np.zeros((n, n)), np.zeros(n, np.int64))


@inner
def new_joints(model: Model, kind: int) -> Joints:
    p, w, n = model.constraints, model.joint_width, model.velocities
    dense = p if p <= _MOST_DENSE else 0
    sparse = kind == DIAGONAL
    band = model.joint_band if sparse else 0
    most = max(p, n)
    joints = joints_by_reference(
        np.zeros((p, w), np.int64),
        np.zeros((p, w)),
        np.zeros(p),
        np.zeros((p, w if sparse else n)),
        np.zeros((p, band + 1)),
        np.zeros((dense, dense)),
        np.zeros((dense, dense)),
        np.zeros((dense, dense)),
        np.zeros(p, np.int64),
        np.zeros(p, np.int64),
        np.zeros(p),
        np.zeros(3, np.int64),
        np.zeros(most),
        np.zeros(most),
        np.zeros(most),
    )
    joints.kind[1] = p
    joints.kind[2] = 1 if sparse else 0
    return joints


__all__ = ["Contacts", "Kept", "Room", "State", "new_contacts", "new_inverse", "new_joints", "new_room"]
