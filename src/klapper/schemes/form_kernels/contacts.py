"""Closed contacts of a step: which ones take part, which last, their directions and laws.

See :mod:`klapper.schemes.lasting_contacts` for the law of contacts that last.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from klapper.schemes.base import TOUCHING
from klapper.schemes.form_kernels import calls as call
from klapper.schemes.form_kernels.by_reference import ContactsType, constructor
from klapper.schemes.form_kernels.compiling import apart, bare, inner, part
from klapper.schemes.form_kernels.inverse import along
from klapper.schemes.form_kernels.model import Model
from klapper.schemes.lasting_contacts import APPROACH, NOISE

_DIFFERENCE = 6.0e-6  # as klapper.mechanics.system: the best spacing of central differences


class Contacts(NamedTuple):
    """Room for contacts, k of which are in use.

    ``near``, ``gap``        numbers (room,) and gaps [m] of those that were looked at
    ``number``               (room,) of those that take part, rising, with
    ``columns``, ``rows``, ``rates``, ``law``  as in a compiled form
    ``scale``                (room, 1 + d) factors between impulses and scaled ones: μ₂/μ₁ in the second tangent
    ``lasts``, ``shift``, ``allowed``  (room,) see ``Lasting``
    ``row``                  (room, 3) rows in the contact problem, −1 where there is none
    ``speed``                (room,) sliding speed [m/s]
    ``impulse``              (room, 1 + d) [N s]
    ``given``                (room, 1 + d) b [m/s]: velocities without contact impulses, with all that laws add
    ``loaded``, ``soft``     (room,)
    ``curved``, ``earlier``  (room, 1 + d) b_N now and a step ago
    """

    near: np.ndarray
    gap: np.ndarray
    number: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    rates: np.ndarray
    law: np.ndarray
    scale: np.ndarray
    lasts: np.ndarray
    shift: np.ndarray
    allowed: np.ndarray
    row: np.ndarray
    speed: np.ndarray
    impulse: np.ndarray
    given: np.ndarray
    loaded: np.ndarray
    soft: np.ndarray
    curved: np.ndarray
    earlier: np.ndarray
    kept: np.ndarray


contacts_by_reference = constructor(Contacts, ContactsType)


@inner
def new_contacts(room: int, width: int, tangential: int) -> Contacts:
    d = 1 + tangential
    return contacts_by_reference(
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros(room, np.int64),
        np.zeros((room, width), np.int64),
        np.zeros((room, d, width)),
        np.zeros((room, d)),
        np.zeros((room, 5)),
        np.ones((room, d)),
        np.zeros(room, np.bool_),
        np.zeros(room),
        np.zeros(room),
        np.full((room, 3), -1),
        np.zeros(room),
        np.zeros((room, d)),
        np.zeros((room, d)),
        np.zeros(room, np.bool_),
        np.zeros(room, np.bool_),
        np.zeros((room, d)),
        np.zeros((room, d)),
        np.zeros(room, np.int64),
    )


@bare
def difference_step(q: np.ndarray, v: np.ndarray) -> float:
    """Spacing [s] of central differences along the motion."""
    reach, speed = 1.0, 1.0
    for i in range(q.size):
        reach = max(reach, 1.0 + abs(q[i]))
    for i in range(v.size):
        speed = max(speed, abs(v[i]))
    return _DIFFERENCE * min(reach / speed, 1.0)


@bare
def moved(model: Model, q: np.ndarray, v: np.ndarray, factor: float, out: np.ndarray) -> None:
    """out = the position after the displacement ``factor`` v."""
    if model.advances:
        for i in range(v.size):
            model.scratch[i] = factor * v[i]
        call.advance(model.call, model.index, model.data, q, model.scratch, out)
        return
    for i in range(q.size):
        out[i] = q[i] + factor * v[i]


@bare
def brought(model: Model, t: float) -> None:
    """Given motions at the time t."""
    if model.brings:
        call.bring(model.call, model.index, model.data, t)


@bare
def near_contacts(model: Model, t: float, q: np.ndarray, contacts: Contacts) -> int:
    """Numbers and gaps of the contacts to be looked at; how many, −1 if there is no room."""
    if model.contacts == 0:
        return 0
    if model.searches:
        count = call.near(model.call, model.index, model.data, t, q, contacts.near)
        if count < 0:
            return -1
    else:
        count = model.contacts
        for i in range(count):
            contacts.near[i] = i
    call.gaps(model.call, model.index, model.data, t, q, contacts.near[:count], contacts.gap[:count])
    return count


@bare
def curvatures(
    model: Model, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    """b_N in the first column of ``out``; given motions are those of t afterwards."""
    brought(model, t)
    if model.curves:
        call.curvature(model.call, model.index, model.data, t, q, v, which, out)
    else:
        call.difference_curvatures(model.call, model, t, q, v, which, out)


@part
def difference_curvatures(
    model: Model, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    count, d = which.size, out.shape[1]
    step = difference_step(q, v)
    columns = np.zeros((count, model.width), np.int64)
    rows, rates = np.zeros((count, d, model.width)), np.zeros((count, d))
    at = np.empty(q.size)
    for side in range(2):
        s = step if side == 0 else -step
        moved(model, q, v, s, at)
        brought(model, t + s)
        call.directions(model.call, model.index, model.data, t + s, at, which, columns, rows, rates)
        for c in range(count):
            speed = along(columns[c], rows[c, 0], v) + rates[c, 0]
            out[c, 0] = speed if side == 0 else (out[c, 0] - speed) / (2.0 * step)
    brought(model, t)


@apart
def lasting(
    model: Model,
    start: float,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    count: int,
    contacts: Contacts,
    at: np.ndarray,
    held: np.ndarray,
    held_count: int,
    step: float,
    longest: float,
) -> None:
    """Mark those of the near contacts that last, with shift and allowed penetration, by their place among them.

    ``at`` (nq,) is room for a position.
    """
    kept, which, turning = contacts.kept, contacts.number, contacts.speed
    size, h = 0, 0
    for c in range(count):
        contacts.lasts[c], contacts.shift[c], contacts.allowed[c] = False, 0.0, 0.0
        while h < held_count and held[h] < contacts.near[c]:
            h += 1
        if h < held_count and held[h] == contacts.near[c] and math.isfinite(contacts.gap[c]):
            kept[size], which[size] = c, contacts.near[c]
            size += 1
    if size == 0:
        return
    curvatures(model, t, q, v, which[:size], contacts.curved[:size])
    back = min(longest, t - start)
    if back > 0.0:
        moved(model, q, v, -back, at)
        curvatures(model, t - back, at, v, which[:size], contacts.earlier[:size])
        brought(model, t)
    fastest = 0.0
    for i in range(v.size):
        fastest = max(fastest, abs(v[i]))
    chosen = 0
    for k in range(size):
        b = abs(contacts.curved[k, 0])
        if back > 0.0:
            b = max(b, abs(contacts.earlier[k, 0]))
        b *= longest
        if b > NOISE * fastest and contacts.gap[kept[k]] <= max(longest * b, TOUCHING):
            kept[chosen], which[chosen], turning[chosen] = kept[k], which[k], b
            chosen += 1
    if chosen == 0:
        return
    call.directions(model.call, model.index, model.data, t, q, which[:chosen],
        contacts.columns[:chosen], contacts.rows[:chosen], contacts.rates[:chosen],
    )  # fmt: skip
    for k in range(chosen):
        speed = along(contacts.columns[k], contacts.rows[k, 0], v) + contacts.rates[k, 0]
        if speed >= -APPROACH * turning[k]:
            c = kept[k]
            contacts.lasts[c] = True
            contacts.shift[c] = max(contacts.gap[c] / step, -turning[k])
            contacts.allowed[c] = longest * turning[k]


@bare
def closed(count: int, contacts: Contacts, every: bool) -> int:
    """Move those of the near contacts to the front that take part; how many."""
    size = 0
    for c in range(count):
        gap = contacts.gap[c]
        if every or math.isnan(gap) or gap <= TOUCHING or contacts.lasts[c]:
            contacts.number[size] = contacts.near[c]
            contacts.lasts[size] = contacts.lasts[c]
            contacts.shift[size] = contacts.shift[c]
            contacts.allowed[size] = contacts.allowed[c]
            size += 1
    return size


@bare
def laws(model: Model, v: np.ndarray, count: int, contacts: Contacts) -> bool:
    """Laws and rows of the contacts in use; whether any can carry a tangential force."""
    d = model.tangential
    for c in range(count):
        contacts.speed[c] = 0.0
        if not model.constant_friction:
            for a in range(1, 1 + d):
                slip = along(contacts.columns[c], contacts.rows[c, a], v) + contacts.rates[c, a]
                contacts.speed[c] = math.hypot(contacts.speed[c], slip)
    call.laws(
        model.call,
        model.index,
        model.data,
        contacts.number[:count],
        contacts.speed[:count],
        contacts.law[:count],
    )
    rough = False
    for c in range(count):
        law = contacts.law[c]
        if contacts.lasts[c]:
            law[1] = 0.0
        if d == 2:
            contacts.scale[c, 2] = law[4]
        rough = rough or law[2] > 0.0 or law[3] > 0.0
        if model.coupled and not rough:
            i = contacts.number[c]
            for k in range(model.share_start[i], model.share_start[i + 1]):
                rough = rough or (
                    model.share[k] > 0.0 and among(model.share_of[k], contacts.number[:count]) >= 0
                )
    size = 0
    for c in range(count):
        for a in range(3):
            contacts.row[c, a] = -1
        if contacts.law[c, 0] > 0.0:
            contacts.row[c, 0] = size
            size += 1
        if rough:
            for a in range(1, 1 + d):
                contacts.row[c, a] = size
                size += 1
    return rough and d > 0


@bare
def among(number: int, numbers: np.ndarray) -> int:
    """Place of a number among rising ones, −1 where it is not there."""
    low, high = 0, numbers.size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < numbers.size and numbers[low] == number else -1
