"""Nested prox iteration of a block on two feet, compiled: the levels of :mod:`klapper.schemes.nested_iteration`.

Impulses are (N_A, T_A, N_B, T_B). Contact velocities belong to the end of the step, with the feet turned as they are
there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.complementarity.kernels.friction_split import case_minimum, water_fill
from klapper.machine_code import njit
from klapper.mechanics.block_form import BlockForm
from klapper.schemes.kernels.block_model import turned
from klapper.schemes.kernels.small_matrices import copy, symmetric_eigen

PROX, PSEUDO_INVERSE, REDISTRIBUTED, FUNCTIONAL = 0, 1, 2, 3
NO_PROJECTION, THESIS, STEP_SAFE = 0, 1, 2
CONVERGED, DIVERGED = 0, 1
_VANISHING = 1e-12  # ε of (C.9), relative to the largest eigenvalue
_RANK = 1e-10
_PARALLEL = 1e-3
_NOTHING = 1e-12


class Options(NamedTuple):
    """The settings of the scheme as numbers, see :class:`klapper.schemes.nested_prox.NestedProx`.

    ``metric``  (3,) P of ansatz 1, 2 for one body; ``of_contacts``: ansatz 3, with ``contact_weights`` and
                ``contact_linear`` (2,); ``by_limit``: stiffness of the feet by their limits;
                ``stiffness``, ``preload`` [N s], ``weights`` (2,)
    ``start``   (4,) [N s] of every step, or those of the step before if ``warm``
    """

    step: float
    implicit: bool
    strategy: int
    metric: np.ndarray
    of_contacts: bool
    contact_weights: np.ndarray
    contact_linear: np.ndarray
    plain: bool
    by_limit: bool
    stiffness: np.ndarray
    preload: np.ndarray
    warm: bool
    start: np.ndarray
    weights: np.ndarray
    projection: int
    slip_speed: float
    slip_force: float
    gap_tolerance: float
    change: float
    rounds: int
    iterations: int
    reductions: int
    reduction: float


class Place(NamedTuple):
    """What else is known of a step before its impulses.

    ``column`` W (n, 4), ``force`` h (n,), ``delassus`` (4, 4), ``closed`` (2,), ``sticks`` (2,) and ``slip`` (2,) [m/s]
    at the start of the step
    """

    column: np.ndarray
    force: np.ndarray
    delassus: np.ndarray
    closed: np.ndarray
    sticks: np.ndarray
    slip: np.ndarray


class Motion(NamedTuple):
    """How impulses move the feet in a step: few arrays, because they go through the innermost loop.

    ``free`` v⁺ (n,) without contacts, ``response`` M̂⁻¹ W (n, 4), ``foot`` (2, 2) their places, ``q`` and ``v`` (n,) at
    the start of the step, ``v_after`` (n,) and ``contact`` (4,): velocities at its end; ``begin`` (4,), ``factor`` and
    ``change`` (2,) are room for the iteration
    """

    free: np.ndarray
    response: np.ndarray
    foot: np.ndarray
    q: np.ndarray
    v: np.ndarray
    v_after: np.ndarray
    contact: np.ndarray
    begin: np.ndarray
    factor: np.ndarray
    change: np.ndarray


@njit(cache=True)
def set_velocity(motion: Motion, step: float, implicit: bool, impulse: np.ndarray) -> None:
    """v⁺ and the contact velocities by impulses (4,)."""
    v_after, response, v = motion.v_after, motion.response, motion.v
    size = v.size
    apart = size == 6 and not implicit  # a half feels its own foot only
    for i in range(size):
        own = 2 * (i // 3)
        change = response[i, own] * impulse[own] + response[i, own + 1] * impulse[own + 1]
        if not apart:
            other = 2 - own
            change += response[i, other] * impulse[other] + response[i, other + 1] * impulse[other + 1]
        v_after[i] = motion.free[i] + change
    for i in range(2):
        row = (size - 3) * i
        spin = v_after[row + 2]
        mean = spin if implicit else 0.5 * (v[row + 2] + spin)
        x, y = turned(motion.q[row + 2] + step * mean, motion.foot[i])
        motion.contact[2 * i] = v_after[row + 1] + x * spin
        motion.contact[2 * i + 1] = v_after[row] - y * spin


@njit(cache=True, inline="always")
def global_factor(form: BlockForm, options: Options, place: Place) -> float:
    """r [kg] by (C.11) from the rows of the closed contacts."""
    g, closed = place.delassus, place.closed
    low, high = np.inf, -np.inf
    if closed[0] and closed[1] and (form.mass.size == 1 or options.implicit):
        values, vectors = np.empty((4, 4)), np.empty((4, 4))
        for a in range(4):
            for b in range(4):
                values[a, b] = 0.5 * (g[a, b] + g[b, a])
        symmetric_eigen(values, vectors)
        for a in range(4):
            low, high = min(low, values[a, a]), max(high, values[a, a])
    else:
        for i in range(2):
            if closed[i]:
                a, b = g[2 * i, 2 * i], g[2 * i + 1, 2 * i + 1]
                c = 0.5 * (g[2 * i, 2 * i + 1] + g[2 * i + 1, 2 * i])
                root = np.sqrt((0.5 * (a - b)) ** 2 + c * c)
                low, high = min(low, 0.5 * (a + b) - root), max(high, 0.5 * (a + b) + root)
    if not high > 0.0:
        return 1.0
    return 2.0 / (max(low, _VANISHING * high) + high)


@njit(cache=True)
def sweep(
    closed: np.ndarray,
    friction: np.ndarray,
    contact: np.ndarray,
    level: int,
    factor: np.ndarray,
    impulse: np.ndarray,
    change: np.ndarray,
) -> None:
    """One sweep of a level over the impulses (4,) in place, and how much each foot's changed (2,)."""
    for i in range(2):
        change[i] = 0.0
        if closed[i]:
            k = 2 * i + level
            moved = impulse[k] - factor[i] * contact[k]
            if level == 0:
                moved = max(moved, 0.0)
            else:
                limit = friction[i] * impulse[2 * i]
                moved = min(max(moved, -limit), limit)
            change[i] = abs(moved - impulse[k])
            impulse[k] = moved


@njit(cache=True, inline="always")
def inner(
    motion: Motion,
    closed: np.ndarray,
    friction: np.ndarray,
    options: Options,
    level: int,
    r: float,
    impulse: np.ndarray,
    counts: np.ndarray,
) -> int:
    """One level to convergence; ``impulse`` (4,) changes in place."""
    begin, factor, change = motion.begin, motion.factor, motion.change
    step, implicit, allowed = options.step, options.implicit, options.change
    for i in range(2):
        factor[i] = r * options.weights[i] if level == 1 else r
    copy(impulse, begin)
    for _ in range(options.reductions + 1):
        copy(begin, impulse)
        for _ in range(options.iterations):
            set_velocity(motion, step, implicit, impulse)
            sweep(closed, friction, motion.contact, level, factor, impulse, change)
            counts[1 + level] += 1
            if change[0] <= allowed and change[1] <= allowed:
                return CONVERGED
        for i in range(2):
            if not change[i] <= allowed:
                factor[i] *= options.reduction  # (C.12)
        counts[3] += 1
    return DIVERGED


@njit(cache=True, inline="always")
def shares_direction(form: BlockForm, place: Place) -> bool:
    """Whether both feet are closed and belong to one body, with one direction of friction."""
    if form.mass.size == 2 or not (place.closed[0] and place.closed[1]):
        return False
    a, b = place.column[2, 1], place.column[2, 3]
    return 0.5 * abs(a - b) <= _PARALLEL * max(1.0, 0.5 * abs(a + b))


@njit(cache=True)
def split(form: BlockForm, options: Options, place: Place, v_after: np.ndarray, impulse: np.ndarray) -> int:
    """Friction impulses of one body by the strategy, in place; returns the number of the case, −1 if there is none."""
    h = options.step
    lower, upper = np.empty(2), np.empty(2)
    for i in range(2):
        limit = form.friction[i] * impulse[2 * i]
        lower[i], upper[i] = -limit, limit
        if not place.sticks[i]:
            lower[i] = upper[i] = -np.sign(place.slip[i]) * limit
    if options.strategy == FUNCTIONAL:
        return _by_functional(form, options, place, v_after, lower, upper, impulse)
    wanted = _bilateral(form, place, v_after)
    total = 0.0
    for i in range(2):
        wanted[i] *= h
    for i in range(2):
        impulse[2 * i + 1] = min(max(wanted[i], lower[i]), upper[i])
        total += wanted[i] if place.sticks[i] else impulse[2 * i + 1]
    if options.strategy == REDISTRIBUTED and (place.sticks[0] or place.sticks[1]):
        shared = water_fill(total, lower, upper, wanted, np.ones(2))
        impulse[1], impulse[3] = shared[0], shared[1]
    return -1


@njit(cache=True)
def _by_functional(
    form: BlockForm,
    options: Options,
    place: Place,
    v_after: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    impulse: np.ndarray,
) -> int:
    h = options.step
    k, w = 0.0, 0.0
    if options.of_contacts:
        k, w = _of_contacts(form, options, place, v_after, impulse)
    else:
        for i in range(3):
            mass = form.inertia[0] if i == 2 else form.mass[0]
            reach = 0.5 * (place.column[i, 1] + place.column[i, 3]) / mass
            rest = place.column[i, 0] * impulse[0] + place.column[i, 2] * impulse[2]
            k += options.metric[i] * reach**2
            w += options.metric[i] * reach * (place.force[i] + rest / h) / mass
    slip_a = 0.0 if place.sticks[0] else place.slip[0]
    slip_b = 0.0 if place.sticks[1] else place.slip[1]
    mu_a, mu_b, case = case_minimum(
        k, w, impulse[0] / h, impulse[2] / h, form.friction[0], form.friction[1], slip_a, slip_b
    )
    if options.plain:
        impulse[1], impulse[3] = mu_a * impulse[0], mu_b * impulse[2]
    else:
        stiffness = options.stiffness
        if options.by_limit:
            stiffness = np.empty(2)
            most = max(form.friction[0] * impulse[0], form.friction[1] * impulse[2])
            for i in range(2):
                stiffness[i] = max(form.friction[i] * impulse[2 * i], _NOTHING * max(most, _NOTHING))
        shared = water_fill(-w / k * h, lower, upper, options.preload, stiffness)
        impulse[1], impulse[3] = shared[0], shared[1]
    return case


@njit(cache=True)
def _of_contacts(
    form: BlockForm, options: Options, place: Place, v_after: np.ndarray, impulse: np.ndarray
) -> tuple[float, float]:
    """k and w of ansatz 3: tangential accelerations g S + r of the feet that press, while these stay closed; 1 and 0 if
    there are none."""
    rest = _unforced(form, place, v_after)
    effect = np.empty(4)
    for a in range(4):
        effect[a] = 0.5 * (place.delassus[a, 1] + place.delassus[a, 3])
    k, w = 0.0, 0.0
    both = impulse[0] > 0.0 and impulse[2] > 0.0
    high, low, across = place.delassus[0, 0], place.delassus[2, 2], place.delassus[0, 2]
    det = high * low - across**2
    for i in range(2):
        if not impulse[2 * i] > 0.0:
            continue
        row = 2 * i + 1
        g, r = effect[row], rest[row]
        if both:
            to_a, to_b = place.delassus[row, 0], place.delassus[row, 2]
            g -= (
                to_a * (low * effect[0] - across * effect[2]) + to_b * (high * effect[2] - across * effect[0])
            ) / det
            r -= (
                to_a * (low * rest[0] - across * rest[2]) + to_b * (high * rest[2] - across * rest[0])
            ) / det
        else:
            normal = 2 * i
            share = place.delassus[row, normal] / place.delassus[normal, normal]
            g -= share * effect[normal]
            r -= share * rest[normal]
        if abs(g) > _RANK * abs(effect[row]):
            k += options.contact_weights[i] * g**2
            w += g * (options.contact_weights[i] * r + options.contact_linear[i])
    if k == 0.0:
        return 1.0, 0.0
    return k, w


@njit(cache=True)
def _unforced(form: BlockForm, place: Place, v_after: np.ndarray) -> np.ndarray:
    """Wᵀ M⁻¹ h + w̄ (4,): contact accelerations without contact forces."""
    needed = np.zeros(4)
    spin = v_after[2] ** 2
    for k in range(4):
        for i in range(3):
            mass = form.inertia[0] if i == 2 else form.mass[0]
            needed[k] += place.column[i, k] * place.force[i] / mass
    for i in range(2):
        needed[2 * i] += (
            place.column[2, 2 * i + 1] * spin
        )  # −r_y φ̇² of the normal, −r_x φ̇² of the sliding velocity
        needed[2 * i + 1] -= place.column[2, 2 * i] * spin
    return needed


@njit(cache=True)
def _bilateral(form: BlockForm, place: Place, v_after: np.ndarray) -> np.ndarray:
    """λ_TA, λ_TB (2,) [N] of the smallest forces that stop all contact accelerations, (4.8)."""
    needed = _unforced(form, place, v_after)
    values, vectors = np.empty((4, 4)), np.empty((4, 4))
    for a in range(4):
        for b in range(4):
            values[a, b] = place.delassus[a, b]
    symmetric_eigen(values, vectors)
    high = 0.0
    for a in range(4):
        high = max(high, values[a, a])
    force = np.zeros(2)
    for a in range(4):
        if values[a, a] > _RANK * high:
            part = 0.0
            for k in range(4):
                part += vectors[k, a] * needed[k]
            for i in range(2):
                force[i] -= vectors[2 * i + 1, a] * part / values[a, a]
    return force
