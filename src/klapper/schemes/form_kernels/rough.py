"""Contact problems with friction: Newton steps, and sweeps where those find no answer.

Compiled only for models with friction, which call it through a pointer.
"""

from __future__ import annotations

import numpy as np

from klapper.complementarity.kernels.contact_blocks import ContactBlocks, columns_from_dense, local_data
from klapper.complementarity.kernels.contact_sweep import gauss_seidel
from klapper.schemes.form_kernels.compiling import inner, outer
from klapper.schemes.form_kernels.newton import (
    FINE,
    contacting_by_reference,
    numbers_needed,
    own_mobilities,
    places_needed,
    settle,
)

_FINE_ENOUGH = 1e-12  # residual at which no more sweeps are tried
_QUICK_SWEEPS, _MORE_SWEEPS = 60, 600
_SWEEPS = 3000  # of a few contacts: redundant ones with friction in space converge slowly


@outer
def solve_rough(
    matrix: np.ndarray,
    offset: np.ndarray,
    table: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    tolerance: float,
    x: np.ndarray,
) -> float:
    """Impulses from the guess in ``x`` (r,); returns the relative residual.

    ``matrix`` W (r, r), ``offset`` b (r,); ``table`` (k, 3) rows of each contact, −1 where it has none; ``limit`` (k,)
    [N s]; ``share_…`` rows of the coefficients with which other contacts' normal impulses add to the limits
    """
    rows, count = offset.size, table.shape[0]
    work = np.empty(numbers_needed(rows, 0, rows) + 2 * rows)
    marks = np.empty(places_needed(rows, 0, count), np.int64)
    none, nothing = work[:0], marks[:0]
    given = contacting_by_reference(
        matrix, offset, table, friction, limit, share_start, share_of, share, work[:rows],
        nothing, nothing, none, nothing, nothing, none, nothing,
    )  # fmt: skip
    own_mobilities(given, none)
    guess = work[rows : 2 * rows]
    for i in range(rows):
        guess[i] = x[i]
    reached = settle(given, x, none, work[2 * rows :], marks, rows)
    if reached <= FINE:
        return reached
    best = x.copy()
    for sweeps in (_QUICK_SWEEPS, _MORE_SWEEPS, _SWEEPS):
        for i in range(rows):
            x[i] = guess[i]
        for newton in range(2):
            if newton == 0:
                found = _swept(
                    matrix, offset, table, friction, limit, share_start, share_of, share, sweeps, x
                )
            else:
                found = settle(given, x, none, work[2 * rows :], marks, rows)
            if found < reached:
                reached = found
                for i in range(rows):
                    best[i] = x[i]
        if reached <= _FINE_ENOUGH or (reached <= tolerance and sweeps > _QUICK_SWEEPS):
            break
    for i in range(rows):
        x[i] = best[i]
    return reached


@inner
def _swept(
    matrix: np.ndarray,
    offset: np.ndarray,
    table: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    sweeps: int,
    x: np.ndarray,
) -> float:
    """The same by so many sweeps."""
    count = table.shape[0]
    start, neighbour, push = columns_from_dense(matrix, table)
    own, schur, tangent, mobility = local_data(start, neighbour, push)
    softest = mobility.max()
    kind = np.zeros(count, np.int8)
    free, force = np.zeros(3 * count), np.zeros(3 * count)
    for i in range(count):
        kind[i] = 0 if table[i, 0] >= 0 else 1
        for a in range(2):
            if mobility[i, a] == 0.0:
                mobility[i, a] = softest
        for a in range(3):
            if table[i, a] >= 0:
                free[3 * i + a] = offset[table[i, a]]
                force[3 * i + a] = x[table[i, a]]
    blocks = ContactBlocks(
        start, neighbour, push, own, schur, tangent, mobility, kind, friction, limit,
        share_start, share_of, share, free, 0,
    )  # fmt: skip
    _, reached = gauss_seidel(blocks, force, 1.3, 5, FINE, sweeps)
    for i in range(count):
        for a in range(3):
            if table[i, a] >= 0:
                x[table[i, a]] = force[3 * i + a]
    return reached
