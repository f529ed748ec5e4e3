"""Friction over one period of a motion, in time: predicted as if it stuck, corrected onto its limit.

    λ_pred,n = λ*_n + a (λ_{n−1} − λ*_{n−1}) − e_n,      λ_n = the point of |λ| ≤ R_n nearest to λ_pred,n

λ* is the force of the harmonics, e the increment of the displacement over a sample in units of force, a ≤ 1 the memory
of what the harmonics leave out. The period is passed until the force repeats. The derivative follows the same way:

    dλ_n = Π_n (source_n + a dλ_{n−1}) + u_n dR_n

Π is the derivative of the projection, u its outward direction where the contact slips.
"""

import numpy as np

from klapper.machine_code import njit

_MOST_PASSES = 60
_REPEATED = 1e-13  # of the largest force: what counts as the same


@njit(cache=True, nogil=True)
def pass_period(
    star: np.ndarray, increment: np.ndarray, limit: np.ndarray, memory: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Forces (N, d), Π (N, d, d), u (N, d), which samples stick (N,), and the number of passes, 0 if all of them stick.

    ``star`` λ* (N, d) [N], ``increment`` e (N, d) [N], ``limit`` R (N,) [N] from 0 on.
    """
    count, d = star.shape
    force, slope = np.zeros((count, d)), np.zeros((count, d, d))
    outward, sticks = np.zeros((count, d)), np.zeros(count, np.bool_)
    left, start = np.zeros(d), np.zeros(d)
    predicted = np.empty(d)
    forgotten = 1.0 - memory**count
    passes, always = 0, False
    while passes < _MOST_PASSES:
        change, largest = 0.0, 0.0
        start[:] = left
        met = False  # whether a sample has the force of the pass before, so that all others have it too
        for n in range(count):
            size = 0.0
            for i in range(d):
                predicted[i] = star[n, i] + memory * left[i] - increment[n, i]
                size += predicted[i] ** 2
            size = np.sqrt(size)
            sticks[n] = size <= limit[n] and limit[n] > 0.0
            share = 1.0 if sticks[n] else (limit[n] / size if size > 0.0 else 0.0)
            met = passes > 0
            for i in range(d):
                new = share * predicted[i]
                met = met and new == force[n, i]
                change = max(change, abs(new - force[n, i]))
                largest = max(largest, abs(new))
                force[n, i] = new
                left[i] = new - star[n, i]
                outward[n, i] = 0.0 if sticks[n] or size == 0.0 else predicted[i] / size
            for i in range(d):
                for j in range(d):
                    slope[n, i, j] = share * ((1.0 if i == j else 0.0) - outward[n, i] * outward[n, j])
            if met:
                break
        passes += 1
        always = bool(np.all(sticks))
        if met or (passes > 1 and change <= _REPEATED * largest):
            break
        if always and forgotten > 0.0:  # what is remembered fades slowly; this is where it ends
            for i in range(d):
                left[i] = start[i] + (left[i] - start[i]) / forgotten
    return force, slope, outward, sticks, 0 if always else passes


@njit(cache=True, nogil=True)
def pass_derivative(
    slope: np.ndarray, source: np.ndarray, limit: np.ndarray, memory: float, passes: int
) -> np.ndarray:
    """dλ (N, d, c) of the last of ``passes``, from ``source`` (N, d, c) and ``limit`` u_n dR_n (N, d, c)."""
    count, d, columns = source.shape
    rows = np.zeros((count, d, columns))
    total = np.empty(d)
    forgotten = 1.0 - memory**count
    for number in range(max(passes, 2)):
        if passes == 0 and number == 1:
            if forgotten == 0.0:
                break
            rows[count - 1] /= forgotten
        for n in range(count):
            before = n - 1 if n > 0 else count - 1
            for c in range(columns):
                for i in range(d):
                    total[i] = source[n, i, c] + memory * rows[before, i, c]
                for i in range(d):
                    value = limit[n, i, c]
                    for j in range(d):
                        value += slope[n, i, j] * total[j]
                    rows[n, i, c] = value
            if number > 0 and not np.any(
                slope[n]
            ):  # nothing is remembered: the others are as in the pass before
                break
    return rows
