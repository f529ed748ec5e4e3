"""Many contacts of a chain, or of bodies side by side, solved together with the constraints in a band.

Compiled only for models that may have so many, which call it through a pointer.
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.form_kernels.compiling import outer
from klapper.schemes.form_kernels.newton import (
    contacting_by_reference,
    numbers_needed,
    own_mobilities,
    places_needed,
    settle,
    widest,
)


@outer
def solve_narrow(
    offset: np.ndarray,
    table: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    entry_row: np.ndarray,
    entry_column: np.ndarray,
    entry: np.ndarray,
    start: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    rank: np.ndarray,
    x: np.ndarray,
    change: np.ndarray,
) -> float:
    """Impulses (r + p,) from the guess in ``x``, and the velocities Δ (n,) that they give; the relative residual.

    The arguments are those of ``Contacting``.
    """
    rows, n = offset.size, rank.size
    marks = np.empty(places_needed(rows, n, table.shape[0]), np.int64)
    given = contacting_by_reference(
        np.empty((0, 0)), offset, table, friction, limit, share_start, share_of, share, np.empty(rows),
        entry_row, entry_column, entry, start, column, value, rank,
    )  # fmt: skip
    own_mobilities(given, change)
    most = widest(given, marks)
    work = np.empty(numbers_needed(rows, n, most))
    return settle(given, x, change, work, marks, most)
