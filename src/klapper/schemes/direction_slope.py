"""How directions turn with the position, where a system does not say it: Σ_k w_k ∂J_k/∂q by central differences.

It is the geometric part of the tangent of contact and constraint forces. Only coordinates that the directions touch
are moved, so the cost grows with these and not with the size of the system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse

_DIFFERENCE = 6.0e-6  # cube root of the rounding unit


def direction_slope(
    directions: Callable[[np.ndarray], Any], q: np.ndarray, weights: np.ndarray
) -> sparse.csr_array:
    """Σ_k w_k ∂J_k/∂q (n, n), symmetric, of the columns J (n, k) that ``directions`` gives at a position (n,)."""
    n = len(q)
    on = weights != 0.0
    touched = np.flatnonzero(abs(directions(q)) @ on) if np.any(on) else np.zeros(0, dtype=int)
    columns = []
    for j in touched:
        d = np.zeros(n)
        d[j] = _DIFFERENCE * max(abs(q[j]), 1.0)
        change = directions(q + d) @ weights - directions(q - d) @ weights
        columns.append(np.asarray(change)[touched] / (2.0 * d[j]))
    if not columns:
        return sparse.csr_array((n, n))
    block = np.column_stack(columns)
    rows = np.repeat(touched, len(touched))
    return sparse.csr_array(
        (0.5 * (block + block.T).ravel(), (rows, np.tile(touched, len(touched)))), shape=(n, n)
    )
