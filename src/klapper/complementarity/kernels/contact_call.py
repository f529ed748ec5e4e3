"""A contact problem with friction in one compiled call: what needs no force, sweeps, Newton steps, and the check.

    driven parts, in units of their loads → one sweep → few rows: Newton steps → sweeps → few rows: damped Newton steps

A part that W does not couple with others and whose contacts do not approach needs no force, a contact that nothing
couples has its local answer. The check is that of ``FrictionalContact.residuals``, with the matrix and in the units of
the problem.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.complementarity.kernels.alart_curnier import alart_curnier
from klapper.complementarity.kernels.contact_acceleration import overwrite
from klapper.complementarity.kernels.contact_blocks import CONSTRAINT, CONTACT, ContactBlocks
from klapper.complementarity.kernels.contact_form import (
    BLOCKS,
    HEAD,
    PARTS,
    POLYGON,
    ROWS,
    SHARES,
    SWEPT,
    WIDTH,
    blocks_of,
)
from klapper.complementarity.kernels.contact_friction import dissipation_bound, project_on_disc
from klapper.complementarity.kernels.contact_local import solve_contact
from klapper.complementarity.kernels.contact_sweep import friction_radius, gauss_seidel, sweep
from klapper.complementarity.problem import AMPLIFICATION
from klapper.complementarity.work_limits import (
    LEAST_SWEEPS,
    MOST_SWEEPS,
    PIVOTED_ROWS,
    STEPPED_ROWS,
    SWEPT_ENTRIES,
    WARM,
)
from klapper.machine_code import njit

SWEEPS, STEPS = 0, 1
"""The method that found the point."""

_EXACT = 1e-13  # residual that is asked for where pivoting would find the answer to round-off
_CUBE = 4000  # n³ for each stored pair of contacts up to which a step takes no longer than some twenty sweeps
_PLAIN_STEPS = 12  # without damping: near, or with few contacts, they settle within eight or not at all
_BEFORE_STEPS = (1, 4)  # sweeps before plain steps: the few that settle most contact states
_DAMPED_STEPS = 50  # they settle within twenty or hardly ever
_FIRST_SWEEPS = 100  # of few rows: they cost as much as the damped steps that follow
_OF_SKEW = 4  # answers of a contact by itself, from whose forces those of a skew part follow
_SMALL_CHANGE = 1e-8  # relative, of the last of these answers: what another would change is about its square
_SIMILAR = 1e4  # ratio of loads from which on uncoupled parts are measured each in their own unit
_CLEAR = 0.9  # part of the tolerance that is asked for here: Python adds the same terms in another order
_SWEEPS_STOP, _STEPS_STOP = 0.5, 0.1  # parts of the tolerance at which sweeps and Newton steps stop
_AGAIN = 3  # times that sweeps go on where the units of their own check were too large
_RELAXATION, _MEMORY = 1.3, 5  # of the sweeps, as in ``GaussSeidel``


@njit(cache=True, error_model="numpy")
def solve_contacts(
    places: np.ndarray,
    numbers: np.ndarray,
    free_velocity: np.ndarray,
    guess: np.ndarray,
    tolerance: float,
    x: np.ndarray,
) -> tuple[int, int, int, float, float]:
    """Forces ``x`` (n,) from a ``guess`` (n,), or (0,) for none: the point with the least residual.

    Returns the method, the sweeps and Newton steps done, the residual at the end of the sweeps (infinite without any),
    and that of x, which solves the problem if it is at most the tolerance.
    """
    x[:] = 0.0
    residual = each_alone(places, numbers, free_velocity, x) / _CLEAR
    if residual <= tolerance:
        return SWEEPS, 1, 0, math.inf, residual
    x[:] = 0.0
    rows, part, blocks = blocks_of(places, numbers, free_velocity)
    load, spread = loads(blocks, part, places)
    chosen = driven_blocks(blocks, part, places[PARTS])
    if chosen.size == 0:
        return SWEEPS, 0, 0, math.inf, 0.0
    if chosen.size < part.size:
        rows, part, blocks = restricted(rows, part, blocks, chosen)
    blocks = loaded(blocks, part, load)
    force = np.zeros(rows.size)
    for i in range(part.size if guess.size else 0):
        for c in range(3):
            if rows[i, c] >= 0:
                force[3 * i + c] = guess[rows[i, c]] / load[part[i]]
    unit = part if spread else np.zeros(part.size, np.int64)
    few = places[ROWS] <= PIVOTED_ROWS and places[WIDTH] == 1
    wanted = _CLEAR * (min(tolerance, _EXACT) if few else tolerance)
    method, swept, stepped, ended, reached = stages(
        rows, unit, blocks, places[SWEPT] == 1, places[WIDTH], few, wanted, force
    )
    if not reached < math.inf:
        return method, swept, stepped, ended, math.inf
    for i in range(part.size):
        for c in range(3):
            if rows[i, c] >= 0:
                x[rows[i, c]] = force[3 * i + c] * load[part[i]]
    if few and reached > wanted:
        reached = math.inf
    return method, swept, stepped, ended, reached / _CLEAR


@njit(cache=True, error_model="numpy")
def each_alone(places: np.ndarray, numbers: np.ndarray, free_velocity: np.ndarray, x: np.ndarray) -> float:
    """Local answers where nothing couples those contacts that approach; returns the residual, infinite elsewhere.

    It reads the flat arrays where they are: views of all parts of them take as long as three contacts.
    """
    count = places[BLOCKS]
    if places[SHARES] > 0 or places[POLYGON] > 0 or places[SWEPT] == 0:
        return math.inf
    kind, alone, start = HEAD + 3 * count, HEAD + 5 * count, HEAD + 6 * count
    neighbour = start + count + 1
    schur, tangent, mobility, push = 11 * count, 15 * count, 19 * count, 21 * count
    largest, smallest = 0.0, math.inf
    for i in range(free_velocity.size):
        size = abs(free_velocity[i])
        largest = max(largest, size)
        if size > 0.0:
            smallest = min(smallest, size)
    several = count > 1 and places[ROWS] > 1 + places[WIDTH]
    spread = several and largest > _SIMILAR * smallest  # each has a unit of its own
    worst, unit = 0.0, largest
    for measure in (False, True):
        for i in range(count):
            a, b, c = places[HEAD + 3 * i], places[HEAD + 3 * i + 1], places[HEAD + 3 * i + 2]
            q = _three(free_velocity, a, b, c)
            mu, limit = numbers[i], numbers[count + i]
            at_rest = q[0] >= 0.0 if places[kind + i] == CONTACT else q[0] == 0.0
            if at_rest and (limit == 0.0 or (q[1] == 0.0 and q[2] == 0.0)):
                continue
            if places[alone + i] == 0 or places[kind + i] != CONTACT:
                return math.inf
            w = push
            for k in range(places[start + i], places[start + i + 1]):
                if places[neighbour + k] == i:
                    w = push + 9 * k
            s, t, m = schur + 4 * i, tangent + 4 * i, mobility + 2 * i
            if not measure:
                skew = (
                    0.5 * (numbers[w + 1] - numbers[w + 3]),
                    0.5 * (numbers[w + 2] - numbers[w + 6]),
                    0.5 * (numbers[w + 5] - numbers[w + 7]),
                )
                f0, f1, f2, kappa = 0.0, 0.0, 0.0, 0.0
                for _ in range(_OF_SKEW):
                    before = f0
                    f0, f1, f2, kappa = solve_contact(
                        (
                            q[0] + skew[0] * f1 + skew[1] * f2,
                            q[1] - skew[0] * f0 + skew[2] * f2,
                            q[2] - skew[1] * f0 - skew[2] * f1,
                        ),
                        (numbers[w], numbers[w + 1] - skew[0], numbers[w + 2] - skew[1]),
                        (numbers[s], numbers[s + 1], numbers[s + 2], numbers[s + 3]),
                        (numbers[t], numbers[t + 1], numbers[t + 2], numbers[t + 3]),
                        mu,
                        limit,
                        kappa,
                    )
                    settled = abs(f0 - before) <= _SMALL_CHANGE * abs(f0)
                    if settled or (skew[0] == 0.0 and skew[1] == 0.0 and skew[2] == 0.0):
                        break
                x[a] = f0
                if b >= 0:
                    x[b] = f1
                if c >= 0:
                    x[c] = f2
            force = _three(x, a, b, c)
            p0, s0 = _row(numbers, w, force)
            p1, s1 = _row(numbers, w + 3, force)
            p2, s2 = _row(numbers, w + 6, force)
            load = max(abs(q[0]), abs(q[1]), abs(q[2])) if spread else largest
            terms = min(max(abs(q[0]) + s0, abs(q[1]) + s1, abs(q[2]) + s2), AMPLIFICATION * load)
            if not measure:
                unit = max(unit, terms)
                continue
            violated = violation(
                CONTACT, force, (q[0] + p0, q[1] + p1, q[2] + p2), max(limit + mu * force[0], 0.0), numbers[m],
                numbers[m + 1], max(terms, load) if spread else unit, 0,
            )  # fmt: skip
            worst = max(worst, violated)
            if not worst < math.inf:
                return math.inf
    return worst


@njit(cache=True, error_model="numpy")
def _three(values: np.ndarray, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Entries of rows, zero for those that a contact does not have."""
    return (values[a] if a >= 0 else 0.0), (values[b] if b >= 0 else 0.0), (values[c] if c >= 0 else 0.0)


@njit(cache=True, error_model="numpy")
def _row(numbers: np.ndarray, first: int, force: tuple[float, float, float]) -> tuple[float, float]:
    """Velocity from the forces of a row of three entries, and the size of its terms."""
    p0, p1, p2 = numbers[first] * force[0], numbers[first + 1] * force[1], numbers[first + 2] * force[2]
    return p0 + p1 + p2, abs(p0) + abs(p1) + abs(p2)


@njit(cache=True, error_model="numpy")
def stages(
    rows: np.ndarray,
    unit: np.ndarray,
    blocks: ContactBlocks,
    sweeps_apply: bool,
    width: int,
    few: bool,
    wanted: float,
    force: np.ndarray,
) -> tuple[int, int, int, float, float]:
    """One method after the other until the residual is as ``wanted``; ``force`` (3 k,) is the guess, then the best."""
    size = 0
    for i in range(rows.shape[0]):
        size += (rows[i, 0] >= 0) + (rows[i, 1] >= 0) + (rows[i, 2] >= 0)
    small = size <= STEPPED_ROWS
    cheap = small and size**3 <= _CUBE * blocks.neighbour.size
    best, begin = force.copy(), force.copy()
    swept, stepped, method = 0, 0, SWEEPS
    reached, ended = math.inf, math.inf
    velocity, kappa = velocities(blocks, force)[0], np.zeros(unit.size)
    for sweeps in _BEFORE_STEPS:
        for _ in range(sweeps if sweeps_apply else 0):
            sweep(blocks, force, velocity, kappa, np.ones(unit.size, np.uint8), 1.0, 0.0)
            swept += 1
        ended = measured(blocks, unit, force)
        if ended < reached:
            method, reached = SWEEPS, ended
            overwrite(best, force)
        if reached <= wanted or not cheap:
            break
        point, steps = newton_steps(rows, blocks, width, force, wanted, _PLAIN_STEPS, False)
        stepped += steps
        residual = measured(blocks, unit, point)
        if residual < reached:
            method, reached = STEPS, residual
            overwrite(best, point)
        if reached <= wanted:
            break
    if sweeps_apply and not reached <= wanted and not few:
        most = _FIRST_SWEEPS
        if not small:
            most = min(max(SWEPT_ENTRIES // (9 * blocks.neighbour.size), LEAST_SWEEPS), MOST_SWEEPS)
        aim = _SWEEPS_STOP * wanted
        for _ in range(_AGAIN):
            done, claimed = gauss_seidel(blocks, force, _RELAXATION, _MEMORY, aim, most - swept)
            swept += done
            ended = measured(blocks, unit, force)
            if not claimed <= aim or ended <= wanted or swept >= most:
                break
            aim *= 0.5 * wanted / ended
        if ended < reached:
            method, reached = SWEEPS, ended
            overwrite(best, force)
    if small and not reached <= wanted and not few:
        start = best if reached <= WARM else begin
        point, more = newton_steps(rows, blocks, width, start, wanted, _DAMPED_STEPS, True)
        stepped += more
        residual = measured(blocks, unit, point)
        if residual < reached:
            method, reached = STEPS, residual
            overwrite(best, point)
    overwrite(force, best)
    return method, swept, stepped, ended, reached


@njit(cache=True, error_model="numpy")
def loads(blocks: ContactBlocks, part: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, bool]:
    """The largest free velocity of each part (parts,), of all where they are similar, and whether they are not."""
    parts = places[PARTS]
    load = np.zeros(parts)
    largest, smallest = 0.0, math.inf
    for i in range(part.size):
        for c in range(3):
            size = abs(blocks.free[3 * i + c])
            load[part[i]] = max(load[part[i]], size)
            largest = max(largest, size)
            if size > 0.0:
                smallest = min(smallest, size)
    spread = parts > 1 and places[ROWS] > 1 + places[WIDTH] and largest > _SIMILAR * smallest
    for k in range(parts):
        if not spread or load[k] == 0.0:
            load[k] = largest if largest > 0.0 else 1.0
    return load, spread


@njit(cache=True, error_model="numpy")
def driven_blocks(blocks: ContactBlocks, part: np.ndarray, parts: int) -> np.ndarray:
    """Numbers of the blocks whose part has a contact that approaches, a constraint that is not met, or slip with a
    limit."""
    driven = np.zeros(parts, np.bool_)
    count = 0
    for i in range(part.size):
        v0, v1, v2 = blocks.free[3 * i], blocks.free[3 * i + 1], blocks.free[3 * i + 2]
        if (
            (blocks.kind[i] == CONTACT and v0 < 0.0)
            or (blocks.kind[i] == CONSTRAINT and v0 != 0.0)
            or (blocks.limit[i] > 0.0 and (v1 != 0.0 or v2 != 0.0))
        ):
            driven[part[i]] = True
    for i in range(part.size):
        count += driven[part[i]]
    chosen = np.empty(count, np.int64)
    count = 0
    for i in range(part.size):
        if driven[part[i]]:
            chosen[count] = i
            count += 1
    return chosen


@njit(cache=True, error_model="numpy")
def restricted(
    rows: np.ndarray, part: np.ndarray, blocks: ContactBlocks, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray, ContactBlocks]:
    """Rows, parts and blocks of the chosen blocks (k,), whole parts."""
    place = np.full(part.size, -1)
    start, share_start = np.zeros(chosen.size + 1, np.int64), np.zeros(chosen.size + 1, np.int64)
    for i in range(chosen.size):
        j = chosen[i]
        place[j] = i
        share_start[i + 1] = share_start[i] + blocks.share_start[j + 1] - blocks.share_start[j]
    for i in range(chosen.size):  # entries of other parts are zeros that W stores
        start[i + 1] = start[i]
        for k in range(blocks.start[chosen[i]], blocks.start[chosen[i] + 1]):
            start[i + 1] += place[blocks.neighbour[k]] >= 0
    neighbour, push = np.empty(start[-1], np.int64), np.empty((start[-1], 9))
    share_of, share = np.empty(share_start[-1], np.int64), np.empty(share_start[-1])
    free = np.empty(3 * chosen.size)
    filled, given = 0, 0
    for i in range(chosen.size):
        j = chosen[i]
        for c in range(3):
            free[3 * i + c] = blocks.free[3 * j + c]
        for k in range(blocks.start[j], blocks.start[j + 1]):
            if place[blocks.neighbour[k]] >= 0:
                neighbour[filled] = place[blocks.neighbour[k]]
                for c in range(9):
                    push[filled, c] = blocks.push[k, c]
                filled += 1
        for k in range(blocks.share_start[j], blocks.share_start[j + 1]):
            share_of[given], share[given] = place[blocks.share_of[k]], blocks.share[k]
            given += 1
    return rows[chosen], part[chosen], ContactBlocks(
        start, neighbour, push, blocks.own[chosen], blocks.schur[chosen], blocks.tangent[chosen],
        blocks.mobility[chosen], blocks.kind[chosen], blocks.friction[chosen], blocks.limit[chosen], share_start,
        share_of, share, free, blocks.polygon,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def loaded(blocks: ContactBlocks, part: np.ndarray, load: np.ndarray) -> ContactBlocks:
    """The same with velocities, and forces, in units of the ``load`` of each part."""
    limit, free = np.empty(part.size), np.empty(3 * part.size)
    for i in range(part.size):
        limit[i] = blocks.limit[i] / load[part[i]]
        for c in range(3):
            free[3 * i + c] = blocks.free[3 * i + c] / load[part[i]]
    return ContactBlocks(
        blocks.start, blocks.neighbour, blocks.push, blocks.own, blocks.schur, blocks.tangent, blocks.mobility,
        blocks.kind, blocks.friction, limit, blocks.share_start, blocks.share_of, blocks.share, free, blocks.polygon,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def velocities(blocks: ContactBlocks, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """v = W λ + b (3 k,), and the size of the terms that each is made of."""
    velocity, terms = blocks.free.copy(), np.abs(blocks.free)
    for j in range(blocks.start.size - 1):
        f0, f1, f2 = force[3 * j], force[3 * j + 1], force[3 * j + 2]
        if f0 == 0.0 and f1 == 0.0 and f2 == 0.0:
            continue
        for k in range(blocks.start[j], blocks.start[j + 1]):
            i = 3 * blocks.neighbour[k]
            for c in range(3):
                p0 = blocks.push[k, 3 * c] * f0
                p1 = blocks.push[k, 3 * c + 1] * f1
                p2 = blocks.push[k, 3 * c + 2] * f2
                velocity[i + c] += p0 + p1 + p2
                terms[i + c] += abs(p0) + abs(p1) + abs(p2)
    return velocity, terms


@njit(cache=True, error_model="numpy")
def violation(
    kind: int,
    force: tuple[float, float, float],
    velocity: tuple[float, float, float],
    radius: float,
    normal_mobility: float,
    mobility: float,
    unit: float,
    polygon: int,
) -> float:
    """The worst residual of one block, as ``FrictionalContact.residuals`` measures it, in a ``unit`` of velocity."""
    f0 = force[0] * (normal_mobility / unit)
    weight = mobility / unit
    f1, f2, r = force[1] * weight, force[2] * weight, radius * weight
    v0, v1, v2 = velocity[0] / unit, velocity[1] / unit, velocity[2] / unit
    if not math.isfinite(f0 + f1 + f2 + r + v0 + v1 + v2):
        return math.inf
    if kind == CONSTRAINT:
        return abs(v0)
    worst = 0.0
    if kind == CONTACT:
        worst = max(abs(min(f0, v0)), min(abs(f0), 1.0) * min(abs(v0), 1.0))
    p1, p2 = project_on_disc(f1 - v1, f2 - v2, r, polygon)
    i1, i2 = project_on_disc(f1, f2, r, polygon)
    gap = abs(dissipation_bound(v1, v2, r, polygon) + f1 * v1 + f2 * v2) / max(r, 1.0)
    slip, outside = (f1 - p1) ** 2 + (f2 - p2) ** 2, (f1 - i1) ** 2 + (f2 - i2) ** 2
    return max(worst, math.sqrt(max(slip, outside)), gap)


@njit(cache=True, error_model="numpy")
def measured(blocks: ContactBlocks, part: np.ndarray, force: np.ndarray) -> float:
    """The worst of ``FrictionalContact.residuals``; ``part`` (k,) numbers the blocks that share a unit.

    Loads are at most one, and one somewhere in a unit, be it among the blocks without force that are left out.
    """
    velocity, terms = velocities(blocks, force)
    unit = np.ones(part.max() + 1)
    for i in range(part.size):
        for c in range(3):
            if not math.isfinite(terms[3 * i + c]):
                return math.inf
            unit[part[i]] = max(unit[part[i]], min(terms[3 * i + c], AMPLIFICATION))
    worst = 0.0
    for i in range(part.size):
        f0, f1, f2 = force[3 * i], force[3 * i + 1], force[3 * i + 2]
        v0, v1, v2 = velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]
        violated = violation(
            blocks.kind[i], (f0, f1, f2), (v0, v1, v2), friction_radius(blocks, i, force),
            blocks.mobility[i, 0], blocks.mobility[i, 1], unit[part[i]], blocks.polygon,
        )  # fmt: skip
        if not violated < math.inf:
            return math.inf
        worst = max(worst, violated)
    return worst


@njit(cache=True, error_model="numpy")
def newton_steps(
    rows: np.ndarray,
    blocks: ContactBlocks,
    width: int,
    guess: np.ndarray,
    tolerance: float,
    most_steps: int,
    damped: bool,
) -> tuple[np.ndarray, int]:
    """The point (3 k,) of semismooth Newton steps from a guess (3 k,), and their number; small problems only.

    Writes the dimensionless problem of ``AlartCurnier`` as a dense one.
    """
    count = rows.shape[0]
    number = np.full(3 * count, -1)
    contact = np.full(count, -1)  # number of each block among the normal contacts
    size, normals, patches, entries = 0, 0, 0, 0
    for i in range(count):
        for c in range(3):
            if rows[i, c] >= 0:
                number[3 * i + c] = size
                size += 1
        if blocks.kind[i] == CONTACT:
            contact[i] = normals
            normals += 1
        if rows[i, 1] >= 0:
            patches += 1
            entries += (blocks.friction[i] > 0.0) + blocks.share_start[i + 1] - blocks.share_start[i]
    speed = np.abs(blocks.free).max()
    matrix, offset, start = np.zeros((size, size)), np.empty(size), np.empty(size)
    unit = np.empty(size)
    normal, tangential = np.empty(normals, np.int64), np.empty((patches, width), np.int64)
    first, columns, friction = np.zeros(patches + 1, np.int64), np.empty(entries, np.int64), np.empty(entries)
    limit = np.empty(patches)
    patches, entries = 0, 0
    for i in range(count):
        for c in range(3):
            row = number[3 * i + c]
            if row >= 0:
                unit[row] = speed / blocks.mobility[i, min(c, 1)]
                offset[row] = blocks.free[3 * i + c] / speed
                start[row] = guess[3 * i + c] / unit[row]
        if contact[i] >= 0:
            normal[contact[i]] = number[3 * i]
        if rows[i, 1] < 0:
            continue
        weight = blocks.mobility[i, 1]
        for c in range(width):
            tangential[patches, c] = number[3 * i + 1 + c]
        limit[patches] = blocks.limit[i] * weight / speed
        if blocks.friction[i] > 0.0:
            columns[entries], friction[entries] = (
                contact[i],
                blocks.friction[i] * weight / blocks.mobility[i, 0],
            )
            entries += 1
        for k in range(blocks.share_start[i], blocks.share_start[i + 1]):
            other = blocks.share_of[k]
            columns[entries] = contact[other]
            friction[entries] = blocks.share[k] * weight / blocks.mobility[other, 0]
            entries += 1
        patches += 1
        first[patches] = entries
    for j in range(count):
        for k in range(blocks.start[j], blocks.start[j + 1]):
            i = blocks.neighbour[k]
            for a in range(3):
                for b in range(3):
                    if number[3 * i + a] >= 0 and number[3 * j + b] >= 0:
                        scale = blocks.mobility[j, min(b, 1)]
                        matrix[number[3 * i + a], number[3 * j + b]] = blocks.push[k, 3 * a + b] / scale
    found, steps, _ = alart_curnier(
        matrix, offset, normal, tangential, first, columns, friction, limit, start, _STEPS_STOP * tolerance, most_steps,
        damped,
    )  # fmt: skip
    point = np.zeros(3 * count)
    for i in range(3 * count):
        if number[i] >= 0:
            point[i] = found[number[i]] * unit[number[i]]
    return point, steps
