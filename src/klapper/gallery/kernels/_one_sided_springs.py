"""Linear motion between one-sided springs, exact from switch to switch.

    y' = A y + b + Σ w_i p_i(y) over the contacts that press,   p_i = −c_i g_i − d_i ġ_i,   g_i = G_i y + g₀_i

A contact presses while g_i < 0 and p_i > 0. In each of the 2^m combinations the motion is a matrix exponential: a
step of fixed length is one product with its precomputed matrix, and inside a step the Taylor series of the exponential
converges to round-off. A switch is bracketed there, also one that goes back within the step.
"""

from typing import Any

import numpy as np

from klapper.machine_code import njit

TERMS = 16  # of the Taylor series; the size of (step A) must stay below 0.25


@njit(cache=True)
def _within(
    matrix: np.ndarray, offset: np.ndarray, state: np.ndarray, time: float, after: np.ndarray
) -> None:
    """after = state at ``time`` later, by the Taylor series of the exponential."""
    n = len(state)
    term = np.empty(n)
    following = np.empty(n)
    for i in range(n):
        after[i] = state[i]
        rate = offset[i]
        for j in range(n):
            rate += matrix[i, j] * state[j]
        term[i] = time * rate
    for order in range(2, TERMS):
        for i in range(n):
            after[i] += term[i]
        for i in range(n):
            product = 0.0
            for j in range(n):
                product += matrix[i, j] * term[j]
            following[i] = product * time / order
        for i in range(n):
            term[i] = following[i]


@njit(cache=True)
def _margin(
    contact: int,
    state: np.ndarray,
    gap_row: np.ndarray,
    gap_offset: np.ndarray,
    press_row: np.ndarray,
    press_offset: np.ndarray,
) -> float:
    """min(−g, p): above zero exactly where the contact presses."""
    gap = gap_offset[contact]
    press = press_offset[contact]
    for j in range(len(state)):
        gap += gap_row[contact, j] * state[j]
        press += press_row[contact, j] * state[j]
    return min(-gap, press)


@njit(cache=True)
def _rate(matrix: np.ndarray, offset: np.ndarray, state: np.ndarray, rate: np.ndarray) -> None:
    """rate = y'."""
    for i in range(len(state)):
        total = offset[i]
        for j in range(len(state)):
            total += matrix[i, j] * state[j]
        rate[i] = total


@njit(cache=True)
def _product(rows: np.ndarray, contact: int, vector: np.ndarray) -> float:
    total = 0.0
    for j in range(len(vector)):
        total += rows[contact, j] * vector[j]
    return total


@njit(cache=True)
def _turning_point(
    rows: np.ndarray,
    contact: int,
    matrix: np.ndarray,
    offset: np.ndarray,
    state: np.ndarray,
    duration: float,
    work: np.ndarray,
) -> float:
    """Time in (0, duration) at which the rate of row · y changes its sign, known to happen."""
    rate = np.empty(len(state))
    low, high = 0.0, duration
    _rate(matrix, offset, state, rate)
    first = _product(rows, contact, rate)
    for _ in range(60):
        middle = 0.5 * (low + high)
        _within(matrix, offset, state, middle, work)
        _rate(matrix, offset, work, rate)
        if _product(rows, contact, rate) * first > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit(cache=True)
def _switch(
    contact: int,
    presses: bool,
    matrix: np.ndarray,
    offset: np.ndarray,
    state: np.ndarray,
    rate: np.ndarray,
    duration: float,
    end: np.ndarray,
    end_rate: np.ndarray,
    rows: Any,
    work: np.ndarray,
) -> float:
    """Earliest bracketed time in (0, duration] by which the contact has switched, or −1."""
    gap_row, gap_offset, press_row, press_offset = rows
    high = -1.0
    if (_margin(contact, end, gap_row, gap_offset, press_row, press_offset) > 0.0) != presses:
        high = duration
    else:
        for part in range(2):
            row = gap_row if part == 0 else press_row
            towards = 1.0 if (part == 0) == presses else -1.0  # sign of the rate that leads to a switch
            first = towards * _product(row, contact, rate)
            last = towards * _product(row, contact, end_rate)
            if first > 0.0 and last < 0.0:
                time = _turning_point(row, contact, matrix, offset, state, duration, work)
                _within(matrix, offset, state, time, work)
                found = _margin(contact, work, gap_row, gap_offset, press_row, press_offset) > 0.0
                if found != presses and (high < 0.0 or time < high):
                    high = time
    if high < 0.0:
        return -1.0
    low = 0.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        _within(matrix, offset, state, middle, work)
        if (_margin(contact, work, gap_row, gap_offset, press_row, press_offset) > 0.0) == presses:
            low = middle
        else:
            high = middle
    return high


@njit(cache=True)
def flow(
    matrices: np.ndarray,
    offsets: np.ndarray,
    steps: np.ndarray,
    shifts: np.ndarray,
    rows: Any,
    state: np.ndarray,
    duration: float,
    step: float,
    every: int,
    room: int,
) -> Any:
    """The motion from ``state`` (n,) over ``duration`` [s].

    ``matrices`` (2^m, n, n), ``offsets`` (2^m, n) of every combination; ``steps``, ``shifts`` their exact maps over one
    ``step`` [s]; ``rows`` = (G (m, n), g₀ (m,), p rows (m, n), p offsets (m,)). Every ``every``-th step is saved, and
    the state at every switch twice, before and after, up to ``room`` samples.

    Returns times (k,), states (k, n), rates (k, n), numbers of switches (m,), and the number of samples; that is
    negative if there was no room for all.
    """
    m, n = rows[0].shape
    times = np.empty(room)
    states = np.empty((room, n))
    rates = np.empty((room, n))
    switches = np.zeros(m, np.int64)
    now = state.copy()
    end = np.empty(n)
    work = np.empty(n)
    work_2 = np.empty(n)
    rate = np.empty(n)
    end_rate = np.empty(n)
    mode = 0
    for i in range(m):
        if _margin(i, now, rows[0], rows[1], rows[2], rows[3]) > 0.0:
            mode |= 1 << i
    count = int(np.ceil(duration / step * (1.0 - 1e-12)))
    saved = 0
    for k in range(count + 1):
        if k % every == 0 or k == count:
            if saved == room:
                return times, states, rates, switches, -saved
            times[saved] = min(k * step, duration)
            states[saved] = now
            _rate(matrices[mode], offsets[mode], now, rates[saved])
            saved += 1
        if k == count:
            break
        here = k * step
        left = step if k + 1 < count else duration - here
        whole = left == step
        while left > 0.0:
            if whole:
                for i in range(n):
                    total = shifts[mode, i]
                    for j in range(n):
                        total += steps[mode, i, j] * now[j]
                    end[i] = total
            else:
                _within(matrices[mode], offsets[mode], now, left, end)
            _rate(matrices[mode], offsets[mode], now, rate)
            _rate(matrices[mode], offsets[mode], end, end_rate)
            first = -1.0
            which = 0
            for i in range(m):
                presses = (mode >> i) & 1 == 1
                time = _switch(
                    i, presses, matrices[mode], offsets[mode], now, rate, left, end, end_rate, rows, work_2
                )
                if time >= 0.0 and (first < 0.0 or time < first):
                    first, which = time, i
            if first < 0.0:
                for i in range(n):
                    now[i] = end[i]
                break
            _within(matrices[mode], offsets[mode], now, first, work)
            switches[which] += 1
            here += first
            left -= first
            whole = False
            if saved + 2 > room:
                return times, states, rates, switches, -saved
            for side in range(2):
                times[saved] = here
                states[saved] = work
                _rate(matrices[mode], offsets[mode], work, rates[saved])
                saved += 1
                if side == 0:
                    mode ^= 1 << which
            for i in range(n):
                now[i] = work[i]
    return times, states, rates, switches, saved
