"""Contact problems of a few contacts in compiled code, by the combinations of :mod:`klapper.schemes.few_contacts`.

    y = W x + b,   0 ≤ x_N ⟂ y_N ≥ 0,   −y_T ∈ N(x_T),  |x_T| ≤ ρ = limit + μ x_N          Waltersberger (3.48)

Without friction, and with more contacts than combinations can be tried for, by exchanging principal pivots. An answer
is given only where it holds clearly. Whatever is on a border is left to the general solvers.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.few_contacts import CLEAR
from klapper.schemes.form_kernels.compiling import bare, inner, outer, part
from klapper.schemes.form_kernels.solver_signatures import SOLVE_ROUGH
from klapper.schemes.kernels.addresses import called_at
from klapper.schemes.kernels.phase_rows import (
    UNSOLVED,
    settled,
    solved,
)

_MOST_TRIED = 1500  # combinations of open, closed, stick and slip: about a millisecond
_ENUMERATED = 5  # normal forces without friction; for more, pivots are exchanged
_ROUNDS = 60
_STICK, _AHEAD, _BACK, _UNLOADED = 0, 1, 2, 3
_EXACT = 1e-12  # residual of forces of contacts that depend on each other: far below what is clear

ROUGH_PLACE = 9
"""Of the address of ``solve_rough`` among those of the parts of the loop."""

solve_rough_of = called_at(SOLVE_ROUGH, ROUGH_PLACE)


@part
def solve_few(
    matrix: np.ndarray,
    velocity: np.ndarray,
    m: int,
    d: int,
    friction: np.ndarray,
    limit: np.ndarray,
    x: np.ndarray,
) -> bool:
    """x (m + s d,) of m normal and then s times d friction rows into ``x``; whether there is a clear answer.

    ``friction`` μ (s, m), ``limit`` (s,). With d = 2 patches are tried at rest only.
    """
    s, size = limit.size, m + limit.size * d
    for i in range(size):
        if not matrix[i, i] > 0.0:
            return False
    if s == 0 and m > _ENUMERATED:
        return _pivoted(matrix, velocity, m, x)
    tried = 2.0**m * (3.0**s if d == 1 else 1.0)
    if m > 20 or tried > _MOST_TRIED:
        return False
    equations, trial = np.empty((size, size + 1)), np.empty(size)
    held, grips, found = np.empty(size, dtype=np.int64), np.empty(s, dtype=np.int64), False
    for closed in range(1 << m):
        for i in range(s):
            loaded = limit[i] > 0.0
            for j in range(m):
                loaded = loaded or ((closed >> j) & 1 and friction[i, j] > 0.0)
            grips[i] = _STICK if loaded else _UNLOADED
        while True:
            verdict = _tried(matrix, velocity, closed, m, d, grips, friction, limit, equations, held, trial)
            if verdict == 0 or (verdict > 0 and found):
                return False
            if verdict > 0:
                found = True
                for i in range(size):
                    x[i] = trial[i]
            place = 0  # the next combination of grips, as one counts
            while place < s:
                if d == 1 and grips[place] < _BACK:
                    grips[place] += 1
                    break
                if grips[place] < _UNLOADED:
                    grips[place] = _STICK
                place += 1
            if place == s:
                break
    return found


@bare
def _tried(
    matrix: np.ndarray,
    velocity: np.ndarray,
    closed: int,
    m: int,
    d: int,
    grips: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    equations: np.ndarray,
    held: np.ndarray,
    x: np.ndarray,
) -> int:
    """1 if a combination holds, with its x; −1 if it is contradicted, 0 on a border."""
    s, size, h = limit.size, x.size, 0
    for i in range(m):
        if (closed >> i) & 1:
            held[h] = i
            h += 1
    for i in range(size):
        x[i] = 0.0
    for i in range(s):
        if grips[i] == _STICK:
            for c in range(d):
                held[h] = m + i * d + c
                h += 1
        elif grips[i] != _UNLOADED:
            x[m + i] = limit[i] if grips[i] == _BACK else -limit[i]
    for a in range(h):
        i = held[a]
        total = -velocity[i]
        for j in range(m, size):
            total -= matrix[i, j] * x[j]
        equations[a, h] = total
        for b in range(h):
            j = held[b]
            total = matrix[i, j]
            if j < m:
                for k in range(s):
                    if grips[k] == _AHEAD:
                        total -= matrix[i, m + k] * friction[k, j]
                    elif grips[k] == _BACK:
                        total += matrix[i, m + k] * friction[k, j]
            equations[a, b] = total
    if not solved(equations, h):
        return 0
    for a in range(h):
        x[held[a]] += equations[a, h]
    for k in range(s):
        if grips[k] == _AHEAD or grips[k] == _BACK:
            for j in range(m):
                x[m + k] += (friction[k, j] if grips[k] == _BACK else -friction[k, j]) * x[j]
    worst = math.inf
    for i in range(size):
        y, terms = velocity[i], abs(velocity[i])
        for j in range(size):
            y += matrix[i, j] * x[j]
            terms += abs(matrix[i, j] * x[j])
        terms = max(terms, 1e-300)
        if i < m:
            worst = min(worst, (x[i] * matrix[i, i] if (closed >> i) & 1 else y) / terms)
            continue
        k = (i - m) // d
        if grips[k] == _AHEAD or grips[k] == _BACK:
            worst = min(worst, (y if grips[k] == _AHEAD else -y) / terms)
        elif grips[k] == _STICK and (i - m) % d == d - 1:
            rho, square = limit[k], 0.0
            for j in range(m):
                rho += friction[k, j] * x[j]
            for c in range(d):
                square += x[m + k * d + c] ** 2
            own = matrix[i, i]
            worst = min(worst, (rho - math.sqrt(square)) * own / max(terms, rho * own))
    if not abs(worst) > CLEAR:
        return 0
    return 1 if worst > 0.0 else -1


@inner
def _pivoted(matrix: np.ndarray, velocity: np.ndarray, m: int, x: np.ndarray) -> bool:
    """Many normal forces without friction: blocks of principal pivots, the least index where these circle.

    Only for symmetric positive definite W, for which the answer is unique. Júdice and Pires (1994).
    """
    for i in range(m):
        for j in range(i):
            if abs(matrix[i, j] - matrix[j, i]) > 1e-12 * math.sqrt(matrix[i, i] * matrix[j, j]):
                return False
    equations, held, closed = np.empty((m, m + 1)), np.empty(m, np.int64), np.zeros(m, np.bool_)
    for i in range(m):
        for j in range(m):
            equations[i, j] = matrix[i, j]
        equations[i, m] = 0.0
        closed[i] = velocity[i] < 0.0
    if not _definite(equations, m):
        return False
    fewest, patience = m + 1, 5
    for _ in range(_ROUNDS + m):
        h = 0
        for i in range(m):
            x[i] = 0.0
            if closed[i]:
                held[h] = i
                h += 1
        for a in range(h):
            for b in range(h):
                equations[a, b] = matrix[held[a], held[b]]
            equations[a, h] = -velocity[held[a]]
        if not solved(equations, h):
            return False
        for a in range(h):
            x[held[a]] = equations[a, h]
        wrong, last, worst = 0, -1, math.inf
        for i in range(m):
            y, terms = velocity[i], abs(velocity[i])
            for j in range(m):
                y += matrix[i, j] * x[j]
                terms += abs(matrix[i, j] * x[j])
            margin = (x[i] * matrix[i, i] if closed[i] else y) / max(terms, 1e-300)
            worst = min(worst, abs(margin))
            held[i] = 1 if margin < 0.0 else 0
            if margin < 0.0:
                wrong, last = wrong + 1, i
        if wrong == 0:
            return worst > CLEAR
        if wrong < fewest:
            fewest, patience = wrong, 5
        else:
            patience -= 1
        for i in range(m):
            if held[i] and (patience > 0 or i == last):
                closed[i] = not closed[i]
    return False


@outer
def solve_dependent(
    at: np.ndarray,
    matrix: np.ndarray,
    velocity: np.ndarray,
    m: int,
    d: int,
    friction: np.ndarray,
    limit: np.ndarray,
    x: np.ndarray,
) -> bool:
    """The same for contacts that depend on each other: the forces that the compiled step of Moreau's scheme chooses.

    ``at``  addresses, of which that of ``solve_rough`` is needed. False where a contact is on a border of what it does
    """
    s, size = limit.size, x.size
    places, none = np.full((m + s, 3), -1), np.zeros(m + s)
    limits, begins, shares = np.zeros(m + s), np.zeros(m + s + 1, np.int64), 0
    of, share = np.empty(s * m, np.int64), np.empty(s * m)
    for i in range(m):
        places[i, 0] = i
    for i in range(s):
        limits[m + i] = limit[i]
        for a in range(d):
            places[m + i, 1 + a] = m + i * d + a
        for j in range(m):
            if friction[i, j] != 0.0:
                of[shares], share[shares] = j, friction[i, j]
                shares += 1
        begins[m + i + 1] = shares
    for i in range(size):
        x[i] = 0.0
    reached = solve_rough_of(at)(
        matrix, velocity, places, none, limits, begins, of[:shares].copy(), share[:shares].copy(), _EXACT, x
    )
    if not reached <= _EXACT:
        return False
    _spread_evenly(matrix, velocity, m, d, friction, limit, x)
    for i in range(size):
        y, terms, own = velocity[i], abs(velocity[i]), matrix[i, i]
        for j in range(size):
            y += matrix[i, j] * x[j]
            terms += abs(matrix[i, j] * x[j])
        terms = max(terms, 1e-300)
        if i < m:
            if x[i] * own > CLEAR * terms:
                continue
            if not y > CLEAR * terms:
                return False
            x[i] = 0.0
        elif (i - m) % d == 0:
            k = (i - m) // d
            rho, square, change = limit[k], 0.0, 0.0
            for j in range(m):
                rho += friction[k, j] * x[j]
            for a in range(d):
                row = i + a
                y = velocity[row]
                for j in range(size):
                    y += matrix[row, j] * x[j]
                square, change = square + x[row] ** 2, change + y**2
            lacks = rho - math.sqrt(square)
            if lacks <= CLEAR * rho and not math.sqrt(change) > CLEAR * terms:
                return False
            if lacks > CLEAR * rho and lacks * own <= CLEAR * terms:
                return False
    return True


@inner
def _spread_evenly(
    matrix: np.ndarray,
    velocity: np.ndarray,
    m: int,
    d: int,
    friction: np.ndarray,
    limit: np.ndarray,
    x: np.ndarray,
) -> None:
    """Where nothing that is closed slides, the smallest forces that hold it, if all of them are within their limits:
    solvers may stop with one of them at its limit."""
    size, h = x.size, 0
    held, change = np.empty(size, np.int64), np.empty(size)
    for i in range(size):
        y, terms = velocity[i], abs(velocity[i])
        for j in range(size):
            y += matrix[i, j] * x[j]
            terms += abs(matrix[i, j] * x[j])
        if abs(y) <= CLEAR * terms:
            held[h] = i
            h += 1
        elif i >= m:
            return
    equations = np.empty((h, h + 1))
    for a in range(h):
        equations[a, h] = -velocity[held[a]]
        for b in range(h):
            equations[a, b] = matrix[held[a], held[b]]
    if settled(equations, h, np.zeros(h), _EXACT) == UNSOLVED:
        return
    for i in range(size):
        change[i] = 0.0
    for a in range(h):
        change[held[a]] = equations[a, h]
        if held[a] < m and not equations[a, h] > 0.0:
            return
    for k in range(limit.size):
        rho, square = limit[k], 0.0
        for j in range(m):
            rho += friction[k, j] * change[j]
        for a in range(d):
            square += change[m + k * d + a] ** 2
        if not math.sqrt(square) < rho * (1.0 - CLEAR):
            return
    for i in range(size):
        x[i] = change[i]


@bare
def _definite(matrix: np.ndarray, n: int) -> bool:
    """Whether a symmetric matrix is clearly positive definite; overwrites it."""
    for j in range(n):
        own = matrix[j, j]
        for k in range(j):
            matrix[j, j] -= matrix[j, k] ** 2
        if not matrix[j, j] > 1e-9 * own:
            return False
        matrix[j, j] = math.sqrt(matrix[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
            matrix[i, j] /= matrix[j, j]
    return True
