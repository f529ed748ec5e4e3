"""Impulses of many contacts that depend on each other, where sweeps do not get on: implicit drift.

Forces of wedged bodies are nearly indeterminate. Under sweeps they drift along lines on which the velocities hardly
change until contacts slip or open, which may take 10⁵ sweeps (see ``rigid_drift``). This drift is

    dλ/dτ = P(λ − R v(λ)) − λ          P: λ_N ≥ 0, then λ_T into the disc of μ λ_N,   R = r / W_ii

and here it is taken in implicit steps of any length: λ⁺ = P(λ − R v(u⁺)), u⁺ = u_free + M⁻¹ J λ⁺, that is the problem
with contacts that are springs of stiffness R, prestressed by λ. A step is one smooth-enough system for the velocities
of the bodies alone, with y = M^½ (u − u_free) and G = Jᵀ M^-½,

    F(y) = y − Gᵀ P(λ − R (v_free + G y)) = 0,      (1 + Gᵀ P′ R G) Δy = −F,

solved by Newton's method with a line search on |F|. It has the sparsity of the bodies that touch and is well
conditioned for moderate r, however redundant the contacts are. r grows as long as Newton's method needs few iterations,
and falls where it fails: for large r a step is a Newton step on the contact problem itself, for small r a sweep over
all contacts at once. Linear systems that iterations do not solve are factorised, unless there are too many bodies.

Proximal steps: Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898; P: Alart & Curnier, CMAME 92 (1991) 353-375;
r: pseudo-transient continuation, Kelley & Keyes, SIAM J. Numer. Anal. 35 (1998) 508-523.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_blocks import (
    Factor,
    Pattern,
    assemble,
    complete,
    dot,
    factorise,
    incomplete,
    pattern_of,
    solve_blocks,
)
from klapper.schemes.kernels.rigid_contacts import contact_velocity
from klapper.schemes.kernels.rigid_sweep import refresh, residual, velocity_scale
from klapper.schemes.kernels.rigid_tables import (
    APPLIED,
    APPROACH,
    ARM_A,
    ARM_B,
    BODY_A,
    BODY_B,
    BOUNCE,
    FRICTION,
    INVERSE_MASS,
    INVERSE_MOMENT,
    NORMAL,
    OWN,
    ROTATION,
)

_fast = {"contract"}
UNSOLVED, FAILED = -1, -2
# These decide on the time that a solution takes, not on what is accepted.
_FIRST = 100.0  # r of the first step: worth about so many sweeps
_SMALLEST, _LARGEST = 1e-2, 1e10
_FASTER, _SLOWER = 4.0, 4.0  # factors by which r grows after easy steps and falls after failed ones
_EASY, _HARD = 3, 7  # Newton steps up to which a step was easy, and from which on the next one is shorter
_NEWTON = 10  # Newton steps before a step has failed
_INNER = 1e-3  # part of |F| that may be left of a step
_FORCING = 1e-2  # part of |F| that may be left of a linear system
_LINEAR = 150  # iterations before a linear system has failed
_HALVINGS = 6
_MOST_EXACT = 3000  # bodies up to which a matrix may be factorised: 10 000 would take a minute each time
_EPSILON = 4.5e-16


class Problem(NamedTuple):
    """The contacts of a step in scaled velocities y of the bodies.

    ``lever``   G (m, 2, 3, 6) by sides, zero for the ground
    ``free``    v_free (m, 3) [m/s] with the parts of restitution
    ``spring``  1/W_ii (m, 2) for normal and tangents
    ``rough``   μ (m,)
    ``body``    (m, 2) rows of the bodies
    """

    lever: np.ndarray
    free: np.ndarray
    spring: np.ndarray
    rough: np.ndarray
    body: np.ndarray


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _set_lever(
    body: np.ndarray, b: int, contact: np.ndarray, i: int, arm: int, sign: float, lever: np.ndarray
) -> None:
    """G (3, 6) of one side: directions over √mass, moments in the body's axes over √inertia."""
    light = sign * math.sqrt(body[b, INVERSE_MASS])
    for row in range(3):
        d = NORMAL + 3 * row
        x, y, z = contact[i, d], contact[i, d + 1], contact[i, d + 2]
        r1, r2, r3 = contact[i, arm], contact[i, arm + 1], contact[i, arm + 2]
        m1, m2, m3 = r2 * z - r3 * y, r3 * x - r1 * z, r1 * y - r2 * x
        lever[row, 0], lever[row, 1], lever[row, 2] = light * x, light * y, light * z
        for a in range(3):
            r = ROTATION + a
            turn = body[b, r] * m1 + body[b, r + 3] * m2 + body[b, r + 6] * m3
            lever[row, 3 + a] = sign * math.sqrt(body[b, INVERSE_MOMENT + a]) * turn


@njit(cache=True, fastmath=_fast, error_model="numpy")
def problem_of(body: np.ndarray, contact: np.ndarray, link: np.ndarray, count: int) -> Problem:
    """The first ``count`` contacts of the tables."""
    ground = body.shape[0] - 1
    lever, free = np.zeros((count, 2, 3, 6)), np.empty((count, 3))
    spring, rough, bodies = np.empty((count, 2)), np.empty(count), np.empty((count, 2), np.int64)
    for i in range(count):
        a, b = link[i, BODY_A], link[i, BODY_B]
        bodies[i, 0], bodies[i, 1] = a, b
        if a != ground:
            _set_lever(body, a, contact, i, ARM_A, 1.0, lever[i, 0])
        if b != ground:
            _set_lever(body, b, contact, i, ARM_B, -1.0, lever[i, 1])
        pn, p1, p2 = contact_velocity(body, APPLIED, contact, i, a, b)
        free[i, 0] = contact[i, APPROACH] + pn + contact[i, BOUNCE]
        free[i, 1] = contact[i, APPROACH + 1] + p1
        free[i, 2] = contact[i, APPROACH + 2] + p2
        spring[i, 0], spring[i, 1] = (
            1.0 / contact[i, OWN],
            1.0 / max(contact[i, OWN + 3], contact[i, OWN + 5]),
        )
        rough[i] = contact[i, FRICTION]
    return Problem(lever, free, spring, rough, bodies)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def add_to_bodies(problem: Problem, force: np.ndarray, sign: float, y: np.ndarray) -> None:
    """y += sign Gᵀ λ."""
    lever, bodies, ground = problem.lever, problem.body, y.shape[0]
    for i in range(force.shape[0]):
        f0, f1, f2 = sign * force[i, 0], sign * force[i, 1], sign * force[i, 2]
        if f0 == 0.0 and f1 == 0.0 and f2 == 0.0:
            continue
        for side in range(2):
            b = bodies[i, side]
            if b < ground:
                for c in range(6):
                    y[b, c] += (
                        f0 * lever[i, side, 0, c] + f1 * lever[i, side, 1, c] + f2 * lever[i, side, 2, c]
                    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _project(
    z0: float,
    z1: float,
    z2: float,
    mu: float,
    normal: float,
    rough: float,
    force: np.ndarray,
    slope: np.ndarray,
) -> None:
    """λ (3,) = P(z) and P′ R (3, 3) with the springs ``normal`` and ``rough``."""
    for p in range(3):
        force[p] = 0.0
        for c in range(3):
            slope[p, c] = 0.0
    if not z0 > 0.0:
        return
    force[0], slope[0, 0] = z0, normal
    radius, size = mu * z0, math.sqrt(z1 * z1 + z2 * z2)
    if size <= radius:
        force[1], force[2] = z1, z2
        slope[1, 1] = slope[2, 2] = rough
        return
    e1, e2, part = z1 / size, z2 / size, rough * radius / size
    force[1], force[2] = radius * e1, radius * e2
    slope[1, 0], slope[2, 0] = mu * e1 * normal, mu * e2 * normal
    slope[1, 1], slope[2, 2] = part * e2 * e2, part * e1 * e1
    slope[1, 2] = slope[2, 1] = -part * e1 * e2


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _evaluate(
    problem: Problem,
    last: np.ndarray,
    r: float,
    y: np.ndarray,
    force: np.ndarray,
    slope: np.ndarray,
    f: np.ndarray,
) -> float:
    """λ⁺, P′ R and F at y, from the impulses ``last`` (m, 3); returns |F|."""
    lever, free, spring, bodies = problem.lever, problem.free, problem.spring, problem.body
    ground = y.shape[0]
    for i in range(last.shape[0]):
        v0, v1, v2 = free[i, 0], free[i, 1], free[i, 2]
        for side in range(2):
            b = bodies[i, side]
            if b < ground:
                for c in range(6):
                    v0 += lever[i, side, 0, c] * y[b, c]
                    v1 += lever[i, side, 1, c] * y[b, c]
                    v2 += lever[i, side, 2, c] * y[b, c]
        normal, rough = r * spring[i, 0], r * spring[i, 1]
        _project(
            last[i, 0] - normal * v0, last[i, 1] - rough * v1, last[i, 2] - rough * v2,
            problem.rough[i], normal, rough, force[i], slope[i],
        )  # fmt: skip
    for b in range(ground):
        for c in range(6):
            f[b, c] = y[b, c]
    add_to_bodies(problem, force, -1.0, f)
    return math.sqrt(dot(f, f))


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _round_off(problem: Problem, r: float, y: np.ndarray) -> float:
    """|F| that is left by the rounding of the velocities, which the springs make forces of."""
    fastest, total = 0.0, 0.0
    for i in range(problem.free.shape[0]):
        for c in range(3):
            fastest = max(fastest, abs(problem.free[i, c]))
        total += problem.spring[i, 0]
    moved = math.sqrt(dot(y, y))
    return _EPSILON * (moved + r * (fastest * math.sqrt(total) + moved))


class Room(NamedTuple):
    """Arrays of a solution: P′ R, λ⁺, a trial of y, F, Δy, blocks of the matrix."""

    slope: np.ndarray
    force: np.ndarray
    trial: np.ndarray
    f: np.ndarray
    step: np.ndarray
    blocks: np.ndarray


@njit(cache=True)
def _new_room(count: int, bodies: int, blocks: int) -> Room:
    return Room(
        np.empty((count, 3, 3)),
        np.empty((count, 3)),
        np.empty((bodies, 6)),
        np.empty((bodies, 6)),
        np.empty((bodies, 6)),
        np.empty((blocks, 6, 6)),
    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _implicit_step(
    problem: Problem, pattern: Pattern, factor: Factor, room: Room, last: np.ndarray, r: float, y: np.ndarray
) -> int:
    """Solve F = 0 from y, in place, with λ⁺ in ``room.force``.

    Returns the number of Newton steps, UNSOLVED if a linear system took too long, FAILED if Newton's method did.
    """
    size = _evaluate(problem, last, r, y, room.force, room.slope, room.f)
    goal = max(_INNER * size, _round_off(problem, r, y))
    for n in range(1, _NEWTON + 1):
        assemble(pattern, problem.lever, room.slope, room.blocks)
        factorise(room.blocks, factor)
        if solve_blocks(pattern, room.blocks, factor, room.f, _FORCING, _LINEAR, room.step) < 0:
            return UNSOLVED
        part = 1.0
        for k in range(_HALVINGS + 1):
            if k == _HALVINGS:
                return FAILED
            for b in range(y.shape[0]):
                for c in range(6):
                    room.trial[b, c] = y[b, c] - part * room.step[b, c]
            reached = _evaluate(problem, last, r, room.trial, room.force, room.slope, room.f)
            if reached <= max((1.0 - 0.1 * part) * size, goal):
                break
            part *= 0.5
        size = reached
        for b in range(y.shape[0]):
            for c in range(6):
                y[b, c] = room.trial[b, c]
        if size <= goal:
            return n
    return FAILED


@njit(cache=True, error_model="numpy")
def drift_implicitly(
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
    tolerance: float,
    most: int,
) -> float:
    """Take about ``most`` Newton steps from the given impulses to a residual of at most ``tolerance``.

    The impulses with the smallest residual replace the given ones; returns it.
    """
    ground = body.shape[0] - 1
    problem = problem_of(body, contact, link, count)
    pattern = pattern_of(link, count, ground)
    room = _new_room(count, ground, pattern.column.size)
    force, y, before = impulse[:count].copy(), np.zeros((ground, 6)), np.empty((ground, 6))
    add_to_bodies(problem, force, 1.0, y)
    factor, exact, exact_from = incomplete(pattern), False, math.inf
    exact_factor = factor
    best = _reached(body, contact, link, impulse, count, tolerance)
    r, done = _FIRST, 0
    while done < most and r >= _SMALLEST:
        before[:] = y
        steps = _implicit_step(
            problem, pattern, exact_factor if r >= exact_from else factor, room, force, r, y
        )
        done += steps if steps > 0 else _EASY
        if steps < 0:
            y[:] = before
            if steps == UNSOLVED and r < exact_from and ground <= _MOST_EXACT:
                if not exact:
                    exact, exact_factor = True, complete(pattern)
                exact_from = r
            else:
                r /= _SLOWER
            continue
        force[:] = room.force
        reached = _reached(body, contact, link, force, count, tolerance)
        if reached < best:
            best = reached
            impulse[:count] = force
        if reached <= tolerance:
            break
        if steps <= _EASY:
            r = min(_FASTER * r, _LARGEST)
        elif steps >= _HARD:
            r *= 0.5
    return best


@njit(cache=True, error_model="numpy")
def _reached(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int, tolerance: float
) -> float:
    """The residual of impulses, measured as that of sweeps."""
    refresh(body, contact, link, impulse, count)
    scale = velocity_scale(body, contact, link, impulse, count, tolerance)
    return residual(body, contact, link, impulse, count) / scale
