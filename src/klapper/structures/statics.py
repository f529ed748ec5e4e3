"""Static equilibrium K q = f of a supported structure.

The answer is checked against the equation it solves: a structure that can still move as a rigid body or a mechanism has
no static deflection, and is refused with the coordinate that moves most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

from klapper.mechanics import InvalidModel

_SINGULAR = 1e-13  # smallest admitted pivot relative to the diagonal of K


def deflection(stiffness: Any, load: np.ndarray, coordinates: Sequence[str]) -> np.ndarray:
    """q (n,) or (n, k) from K (n, n) and f (n,) or (n, k)."""
    n = stiffness.shape[0]
    if load.shape[0] != n or load.ndim > 2:
        raise InvalidModel(f"load has shape {load.shape}, expected ({n},) or ({n}, k).")
    scale = 1.0 / np.sqrt(np.maximum(stiffness.diagonal(), np.finfo(float).tiny))
    scaled = (stiffness.multiply(scale[:, None]).multiply(scale)).tocsc()
    try:
        factors = splu(scaled, permc_spec="MMD_AT_PLUS_A")
    except RuntimeError:
        raise InvalidModel(_unsupported(coordinates, None)) from None
    pivots = np.abs(factors.U.diagonal())
    if pivots.min() < _SINGULAR:
        raise InvalidModel(_unsupported(coordinates, int(np.argmax(factors.perm_c == np.argmin(pivots)))))
    columns = load.reshape(n, -1) * scale[:, None]
    answer = factors.solve(columns)
    answer += factors.solve(columns - scaled @ answer)
    return (answer * scale[:, None]).reshape(load.shape)


def _unsupported(coordinates: Sequence[str], moving: int | None) -> str:
    which = "" if moving is None else f" (it moves in '{coordinates[moving]}')"
    return (
        f"the structure has no static deflection: it can move without deformation{which}. Add supports, or compute the "
        "motion instead."
    )
