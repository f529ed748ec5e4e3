"""Many small selection problems in one compiled call: planar friction at given limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.checking import require_finite
from klapper.complementarity.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class BatchSelection:
    """Forces (k, r) [N] of k problems; ``solved`` (k,) is False where the given forces contradict their limits.

    Two feet share 2 N and then 9 N, of which they can hold 0.5 N and 3 N:

    >>> chosen = select_nearest([[1.0, 1.0]], [[2.0, 0.0], [9.0, 0.0]], [-0.5, -3.0], [0.5, 3.0])
    >>> chosen.forces[0].round(12).tolist(), chosen.solved.tolist()
    ([0.5, 1.5], [True, False])
    """

    forces: np.ndarray
    solved: np.ndarray


def select_nearest(
    directions: Any, forces: Any, lower: Any, upper: Any, *, target: Any = 0.0, weight: Any = 1.0
) -> BatchSelection:
    """x nearest to ``target`` with W x = W x̄ and lower ≤ x ≤ upper, for k problems of one size.

    ``directions`` W (n, r) or (k, n, r), ``forces`` x̄ (k, r) [N]; ``lower``, ``upper`` (r,) or (k, r) [N]. With the
    defaults it is :class:`MinimumNorm`; ``weight`` (r,) or (k, r) are compliances as in :class:`Compliant`; ``target``
    (r,) or (k, r) [N] are previous forces as in :class:`NearPrevious`.

    >>> select_nearest([[1.0, 1.0]], [[-2.0, 0.0], [-1.0, 0.0]], [-0.5, -3.0], [0.5, 3.0]).forces.round(12).tolist()
    [[-0.5, -1.5], [-0.5, -0.5]]
    """
    from klapper.complementarity.kernels.quadratic_program import SOLVED
    from klapper.complementarity.kernels.selection import nearest_many

    members = _stack(forces, "forces", 2)
    count, r = members.shape
    matrices = _stack(directions, "directions", 3)
    if matrices.shape[0] not in (1, count) or matrices.shape[2] != r:
        raise InvalidProblem(
            f"directions has shape {matrices.shape}, expected ({count}, n, {r}) or (n, {r})."
        )
    others = [
        _rows(value, name, count, r)
        for value, name in ((lower, "lower"), (upper, "upper"), (target, "target"), (weight, "weight"))
    ]
    if np.any(others[3] <= 0.0):
        raise InvalidProblem(f"the least entry of weight is {others[3].min()}; allowed are numbers above 0.")
    x, status = np.empty((count, r)), np.empty(count, dtype=np.int64)
    arguments = (matrices, members, *others, x, status)
    nearest_many(*arguments)
    return BatchSelection(x, status == SOLVED)


def select_quality(residual: Any, offset: Any, lower: Any, upper: Any) -> BatchSelection:
    """The smallest x of those that minimise |R x + d|² within lower ≤ x ≤ upper, for k problems of one size.

    ``residual`` R (p, r) or (k, p, r), ``offset`` d (k, p); ``lower``, ``upper`` (r,) or (k, r) [N]. With R = M⁻¹W and
    d = M⁻¹h it is Ansatz 1 of :class:`QualityFunctional`, with R = W and d = h Ansatz 2.

    >>> select_quality([[1.0, 1.0]], [[2.0], [9.0]], [-0.5, -3.0], [0.5, 3.0]).forces.round(12).tolist()
    [[-0.5, -1.5], [-0.5, -3.0]]
    """
    from klapper.complementarity.kernels.quadratic_program import SOLVED
    from klapper.complementarity.kernels.selection import quality_many

    offsets = _stack(offset, "offset", 2)
    matrices = _stack(residual, "residual", 3)
    count, p = offsets.shape
    if matrices.shape[0] not in (1, count) or matrices.shape[1] != p:
        raise InvalidProblem(f"residual has shape {matrices.shape}, expected ({count}, {p}, r) or ({p}, r).")
    r = matrices.shape[2]
    low, high = _rows(lower, "lower", count, r), _rows(upper, "upper", count, r)
    x, status = np.empty((count, r)), np.empty(count, dtype=np.int64)
    quality_many(matrices, offsets, low, high, x, status)
    return BatchSelection(x, status == SOLVED)


def _stack(value: Any, argument: str, axes: int) -> np.ndarray:
    array = np.ascontiguousarray(value, dtype=float)
    if array.ndim == axes - 1:
        array = array[None]
    if array.ndim != axes:
        raise InvalidProblem(
            f"{argument} has shape {array.shape}, expected {axes} axes, or one less for all problems."
        )
    require_finite(array, argument)
    return array


def _rows(value: Any, argument: str, count: int, size: int) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.ndim < 2:
        array = np.broadcast_to(array, (size,))[None] if array.shape in ((), (size,)) else array[None]
    if array.shape not in ((1, size), (count, size)):
        raise InvalidProblem(f"{argument} has shape {array.shape}, expected ({size},) or ({count}, {size}).")
    require_finite(array, argument)
    return np.ascontiguousarray(array)
