"""Contact problems by Newton steps in which all that carries, sticks or slips is solved for at once.

    closed  u_N = 0,   sticks  u_T = 0,   slips  x_T = ρ z / |z|,   z = w x_T − u_T,   ρ = limit + μ x_N + Σ share x_j

What each contact does is read from x_N w − u_N and z (Alart & Curnier 1991), w being its own mobility. Velocities u are

    u = W x + b                          with the Delassus matrix W, or
    u = Jᵀ Δ + b,   M̂ Δ = J x            without it: all unknowns together are as narrow as M̂ and J, in a good order

In the second way two-sided constraints are rows like those of closed contacts. Where contacts or constraints depend on
each other, the equations get a small diagonal; steps are repeated until it does not matter, and forces are those
nearest to the start.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from klapper.complementarity.problem import AMPLIFICATION
from klapper.schemes.form_kernels.by_reference import ContactingType, constructor
from klapper.schemes.form_kernels.compiling import bare

OPEN, CLOSED = 0, 1
FREE, STICKS, SLIPS = 0, 1, 2
FINE = 0.5e-13  # residual that is aimed at
_STEPS = 60
_SMALL = 1e-9  # residual from which on only round-off is left
_PATIENCE = 3  # steps without progress that are made then
_SAME = 1e-9  # part of ρ that a force which slips may lack by rounding
_SINGULAR = 1e-11  # pivot, relative to the mobility of a row, below which rows depend on each other
_NEAREST, _FARTHEST = 1e-6, 1e-2  # small diagonal where rows depend on each other: 0.1 residual between these
_SMALLEST = 1e-8  # what becomes of it while contacts only get more exact
_FIRST_DAMPING, _MOST_DAMPING = 1e-4, 1.0  # small diagonal where steps run in circles


class Contacting(NamedTuple):
    """A contact problem with k contacts in r rows, and p more rows of constraints.

    ``matrix``           W (r, r), or empty
    ``offset``           b (r + p,)
    ``table``            (k, 3) rows of each contact, −1 where it has none
    ``friction``, ``limit``  (k,), the limit in N s
    ``share_start``, ``share_of``, ``share``  normal impulses of other contacts that add to the limit
    ``weight``           (r + p,) own mobilities of rows
    ``entry_row``, ``entry_column``, ``entry``  M̂, if W is empty
    ``start``, ``column``, ``value``  Jᵀ by rows (r + p), if W is empty
    ``rank``             (n,) order of the coordinates in which M̂ and constraints are narrow
    """

    matrix: np.ndarray
    offset: np.ndarray
    table: np.ndarray
    friction: np.ndarray
    limit: np.ndarray
    share_start: np.ndarray
    share_of: np.ndarray
    share: np.ndarray
    weight: np.ndarray
    entry_row: np.ndarray
    entry_column: np.ndarray
    entry: np.ndarray
    start: np.ndarray
    column: np.ndarray
    value: np.ndarray
    rank: np.ndarray


contacting_by_reference = constructor(Contacting, ContactingType)


@bare
def numbers_needed(rows: int, coordinates: int, half: int) -> int:
    """Length of ``work`` for :func:`settle`."""
    total = rows + coordinates
    return 5 * rows + 2 * coordinates + total + total * (3 * half + 1 if coordinates > 0 else total)


@bare
def places_needed(rows: int, coordinates: int, contacts: int) -> int:
    """Length of ``marks``."""
    return 3 * (rows + coordinates) + 2 * contacts + coordinates + 1


@bare
def widest(given: Contacting, marks: np.ndarray) -> int:
    """Half bandwidth with all rows in place: there is none wider."""
    rows, n = given.offset.size, given.rank.size
    place, sorted_rows, place_of, by_rank = (
        marks[:rows], marks[rows : 2 * rows], marks[2 * rows : 2 * rows + n], marks[2 * rows + n : 2 * (rows + n)],
    )  # fmt: skip
    first = marks[2 * (rows + n) : 2 * (rows + n) + n + 1]
    _sort(given, first, sorted_rows, by_rank)
    for i in range(rows):
        place[i] = 0
    return _numbered(given, place, place_of, first, sorted_rows, by_rank)[1]


@bare
def own_mobilities(given: Contacting, mass: np.ndarray) -> None:
    """Weights of the rows: W_NN, for both tangents the larger one; where there is none, the largest of all.

    ``mass`` (n,) is room.
    """
    weight, table = given.weight, given.table
    rows = given.offset.size
    for i in range(mass.size):
        mass[i] = 0.0
    for e in range(given.entry.size):
        if given.entry_row[e] == given.entry_column[e]:
            mass[given.entry_row[e]] += given.entry[e]
    largest = 0.0
    for i in range(rows):
        own = 0.0
        if given.matrix.shape[0] > 0:
            own = abs(given.matrix[i, i])
        else:
            for e in range(given.start[i], given.start[i + 1]):
                own += given.value[e] ** 2 / mass[given.column[e]]
        weight[i] = own
        largest = max(largest, own)
    for c in range(table.shape[0]):
        one, two = table[c, 1], table[c, 2]
        if one >= 0 and two >= 0:
            weight[one] = weight[two] = max(weight[one], weight[two])
    for i in range(rows):
        if weight[i] == 0.0:
            weight[i] = largest if largest > 0.0 else 1.0


@bare
def radius_of(given: Contacting, c: int, x: np.ndarray) -> float:
    """ρ of contact c [N s]."""
    radius = given.limit[c]
    if given.table[c, 0] >= 0:
        radius += given.friction[c] * max(x[given.table[c, 0]], 0.0)
    for k in range(given.share_start[c], given.share_start[c + 1]):
        other = given.table[given.share_of[k], 0]
        if other >= 0:
            radius += given.share[k] * max(x[other], 0.0)
    return max(radius, 0.0)


@bare
def residual_of(given: Contacting, x: np.ndarray, u: np.ndarray, terms: np.ndarray) -> float:
    """The worst of ``FrictionalContact.residuals``; ``terms`` (r + p,) are the sizes of what u adds up [m/s]."""
    load, scale = 0.0, 0.0
    for i in range(u.size):
        load = max(load, abs(given.offset[i]))
        scale = max(scale, terms[i])
    if load > 0.0:
        scale = min(scale, AMPLIFICATION * load)
    if scale == 0.0:
        scale = 1.0
    worst = 0.0
    table, contact_rows = given.table, 0
    for c in range(table.shape[0]):
        normal = table[c, 0]
        if normal >= 0:
            contact_rows += 1
            force, speed = x[normal] * given.weight[normal] / scale, u[normal] / scale
            worst = max(worst, abs(min(force, speed)), abs(force * speed))
        if table[c, 1] < 0:
            continue
        weight = given.weight[table[c, 1]] / scale
        radius = radius_of(given, c, x) * weight
        length, slip, power = 0.0, 0.0, 0.0
        for a in range(1, 3):
            i = table[c, a]
            if i >= 0:
                contact_rows += 1
                force, speed = x[i] * weight, u[i] / scale
                length += (force - speed) ** 2
                slip += speed**2
                power += force * speed
        length, slip = math.sqrt(length), math.sqrt(slip)
        part = radius / length if length > radius else 1.0
        off = 0.0
        for a in range(1, 3):
            i = table[c, a]
            if i >= 0:
                force, speed = x[i] * weight, u[i] / scale
                off += (force - part * (force - speed)) ** 2
        worst = max(worst, math.sqrt(off), abs(radius * slip + power))
    for i in range(contact_rows, u.size):
        worst = max(worst, abs(u[i]) / scale)
    if not math.isfinite(worst):
        return math.inf
    return worst


@bare
def velocities(
    given: Contacting, x: np.ndarray, change: np.ndarray, u: np.ndarray, terms: np.ndarray
) -> None:
    """u and the sizes of its terms, from W x, or from Δ in ``change`` (n,)."""
    for i in range(u.size):
        total = given.offset[i]
        size = abs(total)
        if given.matrix.shape[0] > 0:
            for j in range(u.size):
                term = given.matrix[i, j] * x[j]
                total += term
                size += abs(term)
        else:
            for e in range(given.start[i], given.start[i + 1]):
                term = given.value[e] * change[given.column[e]]
                total += term
                size += abs(term)
        u[i] = total
        terms[i] = size


@bare
def settle(
    given: Contacting, x: np.ndarray, change: np.ndarray, work: np.ndarray, marks: np.ndarray, most: int
) -> float:
    """Impulses from the guess in ``x`` (r + p,), the best that was found, and their Δ (n,); returns the residual.

    ``work`` and ``marks`` are room of the sizes above, for a half bandwidth of at most ``most``.
    """
    rows, n, count = x.size, given.rank.size, given.table.shape[0]
    total = rows + n
    u, terms, best = work[:rows], work[rows : 2 * rows], work[2 * rows : 3 * rows]
    trial, root = work[3 * rows : 4 * rows], work[4 * rows : 5 * rows]
    at = 5 * rows
    moved, size = work[at : at + n], work[at + n : at + 2 * n]
    right, factors = work[at + 2 * n : at + 2 * n + total], work[at + 2 * n + total :]
    place, sorted_rows, place_of, by_rank = (
        marks[:rows], marks[rows : 2 * rows], marks[2 * rows : 2 * rows + n], marks[2 * rows + n : 2 * total],
    )  # fmt: skip
    at = 2 * total
    order, contact = marks[at : at + total], marks[at + total : at + total + 2 * count]
    first = marks[at + total + 2 * count :]
    for i in range(rows):
        root[i] = 1.0 / math.sqrt(given.weight[i])
        trial[i] = x[i]
    if n > 0:
        _units(given, size)
        _sort(given, first, sorted_rows, by_rank)
    for i in range(n):
        moved[i] = 0.0
    least, patience, reached = math.inf, _PATIENCE, math.inf
    dependent, nearest, damping = False, _NEAREST, 0.0
    for step in range(_STEPS):
        velocities(given, trial, moved, u, terms)
        if n > 0 and step == 0:
            _as_before(given, trial, u)
            _decided(given, trial, u, 1.0 - _SAME, contact, place)
            velocities(given, trial, moved, u, terms)
        else:
            reached = residual_of(given, trial, u, terms)
            if n > 0:
                reached = max(reached, _unbalanced(given, trial, moved, size, right))
            patience = _PATIENCE if reached < 0.5 * least else patience - 1
            if reached < least:
                least = reached
                for i in range(rows):
                    best[i] = trial[i]
                for i in range(n):
                    change[i] = moved[i]
            if least <= FINE or (least <= _SMALL and patience < -2 * _PATIENCE) or reached == math.inf:
                break
            changed = _decided(given, trial, u, 1.0, contact, place)
            nearest = _NEAREST if changed else max(0.1 * nearest, _SMALLEST)
            if not changed:
                damping *= 0.01
            elif patience < 0 and patience % _PATIENCE == 0:
                damping = min(max(100.0 * damping, _FIRST_DAMPING), _MOST_DAMPING)
            if n == 0 and _cleared(trial, place):
                velocities(given, trial, moved, u, terms)
        unknown, half = _numbered(given, place, place_of, first, sorted_rows, by_rank)
        if half > most:
            break
        stride, shift = (unknown, 0) if n == 0 else (3 * half, half)
        filled = unknown * (stride + 1) if n > 0 else unknown * unknown
        solved = False
        for attempt in range(2):
            dependent = dependent or attempt == 1
            near = damping
            if dependent:
                near = max(near, min(max(0.1 * reached, nearest), _FARTHEST))
            for i in range(filled):
                factors[i] = 0.0
            _assemble(
                given,
                trial,
                u,
                contact,
                place,
                place_of,
                root,
                size,
                moved,
                near,
                stride,
                shift,
                factors,
                right,
            )
            solved = _factorised(factors, stride, shift, half, unknown, order)
            if solved:
                break
        if not solved:
            break
        _substitute(factors, stride, shift, half, unknown, order, right)
        for i in range(rows):
            trial[i] = trial[i] + right[place[i]] * root[i] if place[i] >= 0 else 0.0
        for i in range(n):
            moved[i] += right[place_of[i]] * size[i]
    if least < math.inf:
        for i in range(rows):
            x[i] = best[i]
    for c in range(count):
        if given.table[c, 0] >= 0:
            x[given.table[c, 0]] = max(x[given.table[c, 0]], 0.0)
    return least


@bare
def _units(given: Contacting, size: np.ndarray) -> None:
    """Coordinates are measured by the roots of their masses."""
    for i in range(size.size):
        size[i] = 0.0
    for e in range(given.entry.size):
        if given.entry_row[e] == given.entry_column[e]:
            size[given.entry_row[e]] += given.entry[e]
    for i in range(size.size):
        size[i] = 1.0 / math.sqrt(abs(size[i])) if size[i] != 0.0 else 1.0


@bare
def _as_before(given: Contacting, x: np.ndarray, u: np.ndarray) -> None:
    """No velocity where the guess has an impulse: it is decided from what it says itself."""
    for c in range(given.table.shape[0]):
        loaded = False
        for a in range(3):
            i = given.table[c, a]
            loaded = loaded or (i >= 0 and x[i] != 0.0)
        if loaded:
            for a in range(3):
                if given.table[c, a] >= 0:
                    u[given.table[c, a]] = 0.0


@bare
def _unbalanced(
    given: Contacting, x: np.ndarray, change: np.ndarray, size: np.ndarray, off: np.ndarray
) -> float:
    """M̂ Δ − J x, relative to the largest of its terms, in units of the coordinates."""
    n, largest, worst = change.size, 0.0, 0.0
    for i in range(n):
        off[i] = 0.0
    for e in range(given.entry.size):
        i = given.entry_row[e]
        term = given.entry[e] * change[given.entry_column[e]] * size[i]
        off[i] += term
        largest = max(largest, abs(term))
    for k in range(x.size):
        if x[k] != 0.0:
            for e in range(given.start[k], given.start[k + 1]):
                i = given.column[e]
                term = given.value[e] * x[k] * size[i]
                off[i] -= term
                largest = max(largest, abs(term))
    for i in range(n):
        worst = max(worst, abs(off[i]))
    return worst / largest if largest > 0.0 else 0.0


@bare
def _sort(given: Contacting, first: np.ndarray, sorted_rows: np.ndarray, by_rank: np.ndarray) -> None:
    """Rows by the rank of the last coordinate that they touch, those of rank k from ``first[k]`` on."""
    rows, n = sorted_rows.size, given.rank.size
    for j in range(n):
        by_rank[given.rank[j]] = j
    for k in range(n + 1):
        first[k] = 0
    for i in range(rows):
        first[_last_rank(given, i) + 1] += 1
    for k in range(n):
        first[k + 1] += first[k]
    for i in range(rows):
        last = _last_rank(given, i)
        sorted_rows[first[last]] = i
        first[last] += 1
    for k in range(n, 0, -1):
        first[k] = first[k - 1]
    first[0] = 0


@bare
def _last_rank(given: Contacting, i: int) -> int:
    last = 0
    for e in range(given.start[i], given.start[i + 1]):
        if given.value[e] != 0.0:
            last = max(last, given.rank[given.column[e]])
    return last


@bare
def _decided(
    given: Contacting,
    x: np.ndarray,
    u: np.ndarray,
    below: float,
    contact: np.ndarray,
    place: np.ndarray,
) -> bool:
    """What each contact does, slipping from ``below`` ρ on, and whether that is new; other rows get the place −1."""
    table, changed = given.table, False
    for i in range(place.size):
        place[i] = 0
    for c in range(table.shape[0]):
        normal = table[c, 0]
        before = contact[2 * c], contact[2 * c + 1]
        contact[2 * c], contact[2 * c + 1] = OPEN, FREE
        push = 0.0
        if normal >= 0:
            push = x[normal] - u[normal] / given.weight[normal]
            if push > 0.0:
                contact[2 * c] = CLOSED
            else:
                place[normal] = -1
        changed = changed or contact[2 * c] != before[0]
        if table[c, 1] < 0:
            continue
        radius = given.limit[c] + given.friction[c] * max(push, 0.0)
        for k in range(given.share_start[c], given.share_start[c + 1]):
            other = table[given.share_of[k], 0]
            if other >= 0:
                radius += given.share[k] * max(x[other] - u[other] / given.weight[other], 0.0)
        length = 0.0
        for a in range(1, 3):
            i = table[c, a]
            if i >= 0:
                length = math.hypot(length, x[i] - u[i] / given.weight[i])
                if not radius > 0.0:
                    place[i] = -1
        if radius > 0.0:
            contact[2 * c + 1] = SLIPS if length > below * radius else STICKS
        changed = changed or contact[2 * c + 1] != before[1]
    return changed


@bare
def _cleared(x: np.ndarray, place: np.ndarray) -> bool:
    """Impulses of rows that take no part become zero; whether one was not."""
    any_force = False
    for i in range(x.size):
        if place[i] < 0 and x[i] != 0.0:
            x[i] = 0.0
            any_force = True
    return any_force


@bare
def _numbered(
    given: Contacting,
    place: np.ndarray,
    place_of: np.ndarray,
    first: np.ndarray,
    sorted_rows: np.ndarray,
    by_rank: np.ndarray,
) -> tuple[int, int]:
    """Places of coordinates and of rows that take part; how many unknowns, and their half bandwidth."""
    size, n = 0, given.rank.size
    if n == 0:
        for i in range(place.size):
            if place[i] >= 0:
                place[i] = size
                size += 1
        return size, max(size - 1, 0)
    for k in range(n):
        place_of[by_rank[k]] = size
        size += 1
        for s in range(first[k], first[k + 1]):
            if place[sorted_rows[s]] >= 0:
                place[sorted_rows[s]] = size
                size += 1
    half = 0
    for e in range(given.entry.size):
        half = max(half, abs(place_of[given.entry_row[e]] - place_of[given.entry_column[e]]))
    for i in range(place.size):
        if place[i] >= 0:
            for e in range(given.start[i], given.start[i + 1]):
                if given.value[e] != 0.0:
                    half = max(half, abs(place[i] - place_of[given.column[e]]))
    table = given.table
    for c in range(table.shape[0]):
        one, two, normal = table[c, 1], table[c, 2], table[c, 0]
        if one >= 0 and place[one] >= 0:
            if two >= 0:
                half = max(half, abs(place[one] - place[two]))
            if normal >= 0 and place[normal] >= 0:
                half = max(half, abs(place[one] - place[normal]))
                if two >= 0:
                    half = max(half, abs(place[two] - place[normal]))
            for k in range(given.share_start[c], given.share_start[c + 1]):
                other = table[given.share_of[k], 0]
                if other >= 0 and place[other] >= 0:
                    half = max(half, abs(place[one] - place[other]))
                    if two >= 0:
                        half = max(half, abs(place[two] - place[other]))
    return size, half


@bare
def _add_velocity(
    given: Contacting,
    at: int,
    k: int,
    factor: float,
    place: np.ndarray,
    place_of: np.ndarray,
    root: np.ndarray,
    size: np.ndarray,
    stride: int,
    shift: int,
    factors: np.ndarray,
) -> None:
    """``factor`` times the change of u_k into the equation ``at``."""
    begin = at * stride + shift
    if given.rank.size == 0:
        for j in range(place.size):
            if place[j] >= 0:
                factors[begin + place[j]] += factor * given.matrix[k, j] * root[j]
        return
    for e in range(given.start[k], given.start[k + 1]):
        j = given.column[e]
        factors[begin + place_of[j]] += factor * given.value[e] * size[j]


@bare
def _assemble(
    given: Contacting,
    x: np.ndarray,
    u: np.ndarray,
    contact: np.ndarray,
    place: np.ndarray,
    place_of: np.ndarray,
    root: np.ndarray,
    size: np.ndarray,
    change: np.ndarray,
    near: float,
    stride: int,
    shift: int,
    factors: np.ndarray,
    right: np.ndarray,
) -> None:
    """The equations of a step, in units in which own mobilities and masses are one."""
    table, n, contact_rows = given.table, given.rank.size, 0
    if n > 0:
        for i in range(n):
            right[place_of[i]] = 0.0
        for e in range(given.entry.size):
            i, j = given.entry_row[e], given.entry_column[e]
            factors[place_of[i] * stride + shift + place_of[j]] += given.entry[e] * size[i] * size[j]
            right[place_of[i]] -= given.entry[e] * size[i] * change[j]
        for i in range(place.size):
            if place[i] >= 0:
                for e in range(given.start[i], given.start[i + 1]):
                    j = given.column[e]
                    factors[place_of[j] * stride + shift + place[i]] -= given.value[e] * size[j] * root[i]
                    right[place_of[j]] += given.value[e] * size[j] * x[i]
    for c in range(table.shape[0]):
        normal = table[c, 0]
        if normal >= 0:
            contact_rows += 1
            if contact[2 * c] == CLOSED:
                _add_velocity(
                    given,
                    place[normal],
                    normal,
                    root[normal],
                    place,
                    place_of,
                    root,
                    size,
                    stride,
                    shift,
                    factors,
                )
                factors[place[normal] * stride + shift + place[normal]] += near
                right[place[normal]] = -u[normal] * root[normal]
        for a in range(1, 3):
            i = table[c, a]
            if i < 0:
                continue
            contact_rows += 1
            if contact[2 * c + 1] == STICKS:
                _add_velocity(
                    given, place[i], i, root[i], place, place_of, root, size, stride, shift, factors
                )
                factors[place[i] * stride + shift + place[i]] += near
                right[place[i]] = -u[i] * root[i]
        if contact[2 * c + 1] == SLIPS:
            _add_slip(given, x, u, c, contact, place, place_of, root, size, stride, shift, factors, right)
    for i in range(contact_rows, place.size):
        _add_velocity(given, place[i], i, root[i], place, place_of, root, size, stride, shift, factors)
        factors[place[i] * stride + shift + place[i]] += near
        right[place[i]] = -u[i] * root[i]


@bare
def _add_slip(
    given: Contacting,
    x: np.ndarray,
    u: np.ndarray,
    c: int,
    contact: np.ndarray,
    place: np.ndarray,
    place_of: np.ndarray,
    root: np.ndarray,
    size: np.ndarray,
    stride: int,
    shift: int,
    factors: np.ndarray,
    right: np.ndarray,
) -> None:
    """x_T − ρ n = 0 with n = z/|z|: dx_T − n dρ − (ρ/|z|) (1 − n nᵀ) dz = −x_T + ρ n, all over √w."""
    table = given.table
    normal, one, two = table[c, 0], table[c, 1], table[c, 2]
    weight = given.weight[one]
    z1 = x[one] - u[one] / weight
    z2 = x[two] - u[two] / weight if two >= 0 else 0.0
    length = math.hypot(z1, z2)
    n1, n2 = z1 / length, z2 / length
    linear, seen = given.limit[c], given.limit[c]
    if normal >= 0 and contact[2 * c] == CLOSED:
        linear += given.friction[c] * x[normal]
        seen += given.friction[c] * max(x[normal] - u[normal] / given.weight[normal], 0.0)
    for k in range(given.share_start[c], given.share_start[c + 1]):
        other = table[given.share_of[k], 0]
        if other >= 0 and place[other] >= 0:
            linear += given.share[k] * x[other]
            seen += given.share[k] * max(x[other] - u[other] / given.weight[other], 0.0)
    part = seen / length
    for a in range(1, 3):
        i = table[c, a]
        if i < 0:
            continue
        along = n1 if a == 1 else n2
        at = place[i] * stride + shift
        factors[at + place[i]] += 1.0
        right[place[i]] = (linear * along - x[i]) / root[i]
        if normal >= 0 and contact[2 * c] == CLOSED:
            factors[at + place[normal]] -= along * given.friction[c] * root[normal] / root[i]
        for k in range(given.share_start[c], given.share_start[c + 1]):
            other = table[given.share_of[k], 0]
            if other >= 0 and place[other] >= 0:
                factors[at + place[other]] -= along * given.share[k] * root[other] / root[i]
        if two < 0:
            continue
        for b in range(1, 3):
            k = table[c, b]
            across = (1.0 if a == b else 0.0) - along * (n1 if b == 1 else n2)
            factors[at + place[k]] -= part * across
            _add_velocity(
                given, place[i], k, part * across / (weight * root[i]), place, place_of, root, size, stride, shift,
                factors,
            )  # fmt: skip


@bare
def _factorised(factors: np.ndarray, stride: int, shift: int, half: int, n: int, order: np.ndarray) -> bool:
    """Factors in place, with exchange of rows within the band; False where a pivot is zero to round-off."""
    for k in range(n):
        last, far = min(k + half, n - 1), min(k + 2 * half, n - 1)
        row, best = k, abs(factors[k * stride + shift + k])
        for i in range(k + 1, last + 1):
            if abs(factors[i * stride + shift + k]) > best:
                row, best = i, abs(factors[i * stride + shift + k])
        if not best > _SINGULAR:
            return False
        order[k] = row
        top = k * stride + shift
        if row != k:
            other = row * stride + shift
            for j in range(k, far + 1):
                factors[top + j], factors[other + j] = factors[other + j], factors[top + j]
        inverse = 1.0 / factors[top + k]
        for i in range(k + 1, last + 1):
            here = i * stride + shift
            part = factors[here + k]
            if part != 0.0:
                part *= inverse
                factors[here + k] = part
                for j in range(k + 1, far + 1):
                    factors[here + j] -= part * factors[top + j]
    return True


@bare
def _substitute(
    factors: np.ndarray, stride: int, shift: int, half: int, n: int, order: np.ndarray, right: np.ndarray
) -> None:
    """``right`` becomes the answer."""
    for k in range(n):
        row = order[k]
        right[k], right[row] = right[row], right[k]
        value = right[k]
        if value != 0.0:
            for i in range(k + 1, min(k + half, n - 1) + 1):
                right[i] -= factors[i * stride + shift + k] * value
    for k in range(n - 1, -1, -1):
        at = k * stride + shift
        value = right[k]
        for j in range(k + 1, min(k + 2 * half, n - 1) + 1):
            value -= factors[at + j] * right[j]
        right[k] = value / factors[at + k]
