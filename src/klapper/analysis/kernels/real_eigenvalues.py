"""Eigenvalues of many small real matrices, each on one core.

Householder reduction to Hessenberg form and Francis' implicit double shifts, after the EISPACK routines orthes and hqr
(Martin, Peters and Wilkinson 1970). A threaded LAPACK spends more time on sharing a matrix of this size than on its
eigenvalues; here threads share the matrices instead.
"""

import numpy as np

from klapper.machine_code import njit

_EPSILON = np.finfo(np.float64).eps
_SWEEPS = 60  # double shifts for one eigenvalue


@njit(cache=True, nogil=True)
def eigenvalues(matrices: np.ndarray, values: np.ndarray) -> int:
    """Write the eigenvalues of ``matrices`` (k, n, n), which are overwritten, into ``values`` (k, n) complex.

    Returns the number of matrices whose shifts did not converge; their values are not finite.
    """
    failed = 0
    for i in range(matrices.shape[0]):
        hessenberg(matrices[i])
        if not shifted(matrices[i], values[i]):
            values[i, :] = np.nan
            failed += 1
    return failed


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def hessenberg(a: np.ndarray) -> None:
    """Reduce a (n, n) to Hessenberg form by Householder reflections from both sides."""
    n = a.shape[0]
    v, w = np.empty(n), np.empty(n)
    for k in range(n - 2):
        size = 0.0
        for i in range(k + 1, n):
            v[i] = a[i, k]
            size += v[i] * v[i]
        if size - v[k + 1] * v[k + 1] == 0.0:
            continue
        length = np.sqrt(size)
        head = -np.copysign(length, v[k + 1])
        v[k + 1] -= head
        factor = 1.0 / (length * abs(v[k + 1]))
        w[k:] = 0.0
        for i in range(k + 1, n):
            for j in range(k, n):
                w[j] += v[i] * a[i, j]
        for i in range(k + 1, n):
            scaled = factor * v[i]
            for j in range(k, n):
                a[i, j] -= scaled * w[j]
        for i in range(n):
            product = 0.0
            for j in range(k + 1, n):
                product += a[i, j] * v[j]
            product *= factor
            for j in range(k + 1, n):
                a[i, j] -= product * v[j]
        a[k + 1, k] = head
        a[k + 2 :, k] = 0.0


@njit(cache=True, nogil=True)
def shifted(a: np.ndarray, values: np.ndarray) -> bool:
    """Eigenvalues of a Hessenberg matrix (n, n), which is overwritten; False if the shifts do not converge."""
    norm = np.abs(a).sum()
    last, shift, sweeps = a.shape[0] - 1, 0.0, 0
    while last >= 0:
        first = _uncoupled(a, last, norm)
        x = a[last, last]
        if first == last:
            values[last] = x + shift
            last, sweeps = last - 1, 0
            continue
        y, w = a[last - 1, last - 1], a[last, last - 1] * a[last - 1, last]
        if first == last - 1:
            _pair(values, last, x + shift, 0.5 * (y - x), w)
            last, sweeps = last - 2, 0
            continue
        if sweeps == _SWEEPS:
            return False
        if sweeps > 0 and sweeps % 10 == 0:  # an exceptional shift breaks cycles
            shift += x
            for i in range(last + 1):
                a[i, i] -= x
            s = abs(a[last, last - 1]) + abs(a[last - 1, last - 2])
            x = y = 0.75 * s
            w = -0.4375 * s * s
        sweeps += 1
        _double_shift(a, first, last, x, y, w)
    return True


@njit(cache=True, nogil=True)
def _uncoupled(a: np.ndarray, last: int, norm: float) -> int:
    """First row of the lowest block that no subdiagonal entry couples to those above."""
    row = last
    while row >= 1:
        s = abs(a[row - 1, row - 1]) + abs(a[row, row])
        if abs(a[row, row - 1]) <= _EPSILON * (s if s > 0.0 else norm):
            a[row, row - 1] = 0.0
            break
        row -= 1
    return row


@njit(cache=True, nogil=True)
def _pair(values: np.ndarray, last: int, x: float, p: float, w: float) -> None:
    """Both eigenvalues of a (2, 2) block."""
    q = p * p + w
    z = np.sqrt(abs(q))
    if q >= 0.0:
        z = p + np.copysign(z, p)
        values[last - 1] = x + z
        values[last] = x - w / z if z != 0.0 else x + z
    else:
        values[last - 1] = complex(x + p, z)
        values[last] = complex(x + p, -z)


@njit(cache=True, nogil=True)
def _double_shift(a: np.ndarray, first: int, last: int, x: float, y: float, w: float) -> None:
    """One implicit double QR step on the rows from ``first`` to ``last``."""
    start = last - 2
    p = q = r = 0.0
    while True:
        z = a[start, start]
        r, s = x - z, y - z
        p = (r * s - w) / a[start + 1, start] + a[start, start + 1]
        q = a[start + 1, start + 1] - z - r - s
        r = a[start + 2, start + 1]
        s = abs(p) + abs(q) + abs(r)
        p, q, r = p / s, q / s, r / s
        if start == first:
            break
        neighbours = abs(a[start - 1, start - 1]) + abs(z) + abs(a[start + 1, start + 1])
        if abs(a[start, start - 1]) * (abs(q) + abs(r)) <= _EPSILON * abs(p) * neighbours:
            break
        start -= 1
    for i in range(start + 2, last + 1):
        a[i, i - 2] = 0.0
        if i > start + 2:
            a[i, i - 3] = 0.0
    for k in range(start, last):
        three = k != last - 1
        if k != start:
            p, q = a[k, k - 1], a[k + 1, k - 1]
            r = a[k + 2, k - 1] if three else 0.0
            x = abs(p) + abs(q) + abs(r)
            if x == 0.0:
                continue
            p, q, r = p / x, q / x, r / x
        s = np.copysign(np.sqrt(p * p + q * q + r * r), p)
        if s == 0.0:
            continue
        if k != start:
            a[k, k - 1] = -s * x
        elif first != start:
            a[k, k - 1] = -a[k, k - 1]
        p += s
        x, y, z = p / s, q / s, r / s
        q, r = q / p, r / p
        _reflect(a, k, first, last, x, y, z, q, r, three)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _reflect(
    a: np.ndarray,
    k: int,
    first: int,
    last: int,
    x: float,
    y: float,
    z: float,
    q: float,
    r: float,
    three: bool,
) -> None:
    """One reflection of the bulge, from the left and from the right."""
    if three:
        for j in range(k, last + 1):
            p = a[k, j] + q * a[k + 1, j] + r * a[k + 2, j]
            a[k, j] -= p * x
            a[k + 1, j] -= p * y
            a[k + 2, j] -= p * z
        for i in range(first, min(last, k + 3) + 1):
            p = x * a[i, k] + y * a[i, k + 1] + z * a[i, k + 2]
            a[i, k] -= p
            a[i, k + 1] -= p * q
            a[i, k + 2] -= p * r
    else:
        for j in range(k, last + 1):
            p = a[k, j] + q * a[k + 1, j]
            a[k, j] -= p * x
            a[k + 1, j] -= p * y
        for i in range(first, min(last, k + 3) + 1):
            p = x * a[i, k] + y * a[i, k + 1]
            a[i, k] -= p
            a[i, k + 1] -= p * q
