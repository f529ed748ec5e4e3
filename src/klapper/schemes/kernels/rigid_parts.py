"""Newton's method for heaps by its address, compiled when a step first needs it.

Most runs of rigid bodies never do, and it takes longer to compile than the rest of the loop.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import float64, int64

from klapper.machine_code import njit
from klapper.mechanics.kernels.signatures import Pointer

_TABLE = float64[:, ::1]
_SIGNATURE = float64(_TABLE, _TABLE, int64[:, ::1], _TABLE, int64, float64, int64)


@njit(cache=True)
def _wanting(
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
    tolerance: float,
    most: int,
) -> float:
    """Stands where ``drift_implicitly`` is not compiled; nan ends the loop, which is repeated with it."""
    return math.nan


@cache
def without_newton() -> Pointer:
    return Pointer(_wanting, _SIGNATURE)


@cache
def with_newton() -> Pointer:
    from klapper.schemes.kernels.rigid_newton import drift_implicitly

    return Pointer(drift_implicitly, _SIGNATURE)
