"""Two-sided constraints held in the mobility of a step: A = M̂⁻¹ − M̂⁻¹ J_B (J_Bᵀ M̂⁻¹ J_B)⁺ J_Bᵀ M̂⁻¹.

Redundant constraints get the smallest impulses that hold them, each measured by the velocity that it gives to its own
constraint: with the symmetric part L Lᵀ (p, r) of the Gram matrix S in these units, S⁺ = L (Lᵀ S L)⁻¹ Lᵀ, since S and
its symmetric part vanish for the same impulses. Waltersberger (4.60)-(4.62).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.schemes.form_kernels.compiling import apart, bare
from klapper.schemes.form_kernels.inverse import DIAGONAL, Inverse, along, lu, lu_solve, solve

BANDED, FULL, REDUNDANT, UNSYMMETRIC = 0, 1, 2, 3
_RANK = 1e-10  # pivot, relative to the mobility of a constraint, below which it follows from the others
_SKEW = 1e-13  # asymmetry of M̂ up to which it is round-off


class Joints(NamedTuple):
    """Room for p constraints with rows of w entries.

    ``columns``, ``rows`` (p, w), ``rates`` (p,)  J_Bᵀ and a_B
    ``reach``   M̂⁻¹ J_B: (p, w) at the same columns where M̂ is diagonal, else (p, n)
    ``gram``    (p, b + 1) band of the Gram matrix and its factor, and
    ``dense``   (p, p) the same, dense; with the factor L (p, r) in
    ``lower``   (p, p), ``normal`` (p, p) factors of Lᵀ S L, ``order``, ``pivots`` (p,)
    ``unit``    (p,) square roots of mobilities
    ``kind``    (2,): which of the factors holds; rank
    ``one``, ``two``, ``three``  (max(p, n),) to work with
    """

    columns: np.ndarray
    rows: np.ndarray
    rates: np.ndarray
    reach: np.ndarray
    gram: np.ndarray
    dense: np.ndarray
    lower: np.ndarray
    normal: np.ndarray
    order: np.ndarray
    pivots: np.ndarray
    unit: np.ndarray
    kind: np.ndarray
    one: np.ndarray
    two: np.ndarray
    three: np.ndarray


@apart
def prepare_joints(joints: Joints, inverse: Inverse, skew: float) -> bool:
    """Gram matrix and its factors for the rows that stand in ``joints``; False where they cannot be found here."""
    p, w = joints.rows.shape
    joints.kind[1] = p
    if p == 0:
        return True
    if inverse.kind == DIAGONAL:
        for i in range(p):
            for k in range(w):
                joints.reach[i, k] = joints.rows[i, k] / inverse.factors[joints.columns[i, k], 0]
        if joints.gram.shape[1] < p and _banded(joints):
            joints.kind[0] = BANDED
            return True
    else:
        for i in range(p):
            right = joints.one[: joints.reach.shape[1]]
            right[:] = 0.0
            for k in range(w):
                right[joints.columns[i, k]] += joints.rows[i, k]
            solve(inverse, right, joints.reach[i])
    if joints.dense.shape[0] < p:
        return False
    half = inverse.kind == DIAGONAL  # then it is symmetric
    for i in range(p):
        for j in range(i + 1 if half else p):
            joints.dense[i, j] = _mobility(joints, i, j)
            if half:
                joints.dense[j, i] = joints.dense[i, j]
    if not _decomposed(joints):
        return False
    if skew > _SKEW and joints.kind[0] == FULL:
        joints.kind[0] = UNSYMMETRIC
        return lu(joints.dense, joints.order)
    return True


@bare
def _mobility(joints: Joints, i: int, j: int) -> float:
    """Velocity of constraint i by a unit impulse in constraint j."""
    total = 0.0
    w = joints.rows.shape[1]
    if joints.reach.shape[1] == w and joints.kind[2] == 1:
        for k in range(w):
            value = joints.rows[i, k]
            if value != 0.0:
                for m in range(w):
                    if joints.columns[j, m] == joints.columns[i, k]:
                        total += value * joints.reach[j, m]
        return total
    for k in range(w):
        total += joints.rows[i, k] * joints.reach[j, joints.columns[i, k]]
    return total


@bare
def _banded(joints: Joints) -> bool:
    """Cholesky factor within the band; False where a constraint follows from others."""
    gram = joints.gram
    p, band = gram.shape[0], gram.shape[1] - 1
    for i in range(p):
        for j in range(max(i - band, 0), i + 1):
            total = _mobility(joints, i, j)
            own = total
            for k in range(max(i - band, j - band, 0), j):
                total -= gram[i, i - k] * gram[j, j - k]
            if j < i:
                gram[i, i - j] = total / gram[j, 0]
            else:
                if not total > _RANK * own:
                    return False
                gram[i, 0] = np.sqrt(total)
    return True


@bare
def _decomposed(joints: Joints) -> bool:
    """L (p, r) of the Gram matrix in natural units by Cholesky with pivots, and factors of Lᵀ S L where r < p."""
    dense, lower, unit, order = joints.dense, joints.lower, joints.unit, joints.order
    p = dense.shape[0]
    left = joints.two
    for i in range(p):
        size = np.sqrt(abs(dense[i, i]))
        unit[i] = size if size > 0.0 else 1.0
        left[i] = dense[i, i] / unit[i] ** 2
        order[i] = i
        for j in range(p):
            lower[i, j] = 0.0
    rank = p
    for k in range(p):
        best = k
        for i in range(k + 1, p):
            if left[order[i]] > left[order[best]]:
                best = i
        if not left[order[best]] > _RANK:
            rank = k
            break
        order[k], order[best] = order[best], order[k]
        c = order[k]
        pivot = np.sqrt(left[c])
        lower[c, k] = pivot
        for m in range(k + 1, p):
            i = order[m]
            total = 0.5 * (dense[i, c] + dense[c, i]) / (unit[i] * unit[c])
            for e in range(k):
                total -= lower[i, e] * lower[c, e]
            lower[i, k] = total / pivot
            left[i] -= lower[i, k] ** 2
    joints.kind[0], joints.kind[1] = FULL, rank
    if rank == p:
        return True
    joints.kind[0] = REDUNDANT
    normal, column = joints.normal, joints.two
    for i in range(p):
        for j in range(p):
            normal[i, j] = 1.0 if i == j else 0.0
    for j in range(rank):
        for k in range(p):
            column[k] = 0.0
            for m in range(p):
                column[k] += dense[k, m] * lower[m, j] / (unit[k] * unit[m])
        for i in range(rank):
            total = 0.0
            for k in range(p):
                total += lower[k, i] * column[k]
            normal[i, j] = total
    return lu(normal, joints.pivots)


@bare
def impulses(joints: Joints, violation: np.ndarray, out: np.ndarray) -> None:
    """Λ_B (p,) that removes the velocities ``violation`` (p,) of the constraints."""
    p = out.size
    kind = joints.kind[0]
    if p == 0:
        return
    if kind == BANDED:
        gram = joints.gram
        band = gram.shape[1] - 1
        for i in range(p):
            total = -violation[i]
            for j in range(max(i - band, 0), i):
                total -= gram[i, i - j] * out[j]
            out[i] = total / gram[i, 0]
        for i in range(p - 1, -1, -1):
            total = out[i]
            for j in range(i + 1, min(i + band, p - 1) + 1):
                total -= gram[j, j - i] * out[j]
            out[i] = total / gram[i, 0]
        return
    if kind == UNSYMMETRIC:
        lu_solve(joints.dense, joints.order, violation, out)
        for i in range(p):
            out[i] = -out[i]
        return
    lower, unit, order = joints.lower, joints.unit, joints.order
    one, two, rank = joints.two, joints.three, joints.kind[1]
    if kind == FULL:
        for k in range(p):
            i = order[k]
            total = -violation[i] / unit[i]
            for e in range(k):
                total -= lower[i, e] * one[e]
            one[k] = total / lower[i, k]
        for k in range(p - 1, -1, -1):
            total = one[k]
            for m in range(k + 1, p):
                total -= lower[order[m], k] * one[m]
            one[k] = total / lower[order[k], k]
        for k in range(p):
            out[order[k]] = one[k] / unit[order[k]]
        return
    for k in range(p):
        one[k] = 0.0
        two[k] = 0.0
    for k in range(rank):
        for i in range(p):
            one[k] -= lower[i, k] * violation[i] / unit[i]
    lu_solve(joints.normal, joints.pivots, one[:p], two[:p])
    for i in range(p):
        total = 0.0
        for k in range(rank):
            total += lower[i, k] * two[k]
        out[i] = total / unit[i]


@bare
def push(joints: Joints, impulse: np.ndarray, velocity: np.ndarray) -> None:
    """velocity += M̂⁻¹ J_B Λ_B."""
    p, w = joints.rows.shape
    sparse = joints.kind[2] == 1
    for i in range(p):
        if impulse[i] != 0.0:
            if sparse:
                for k in range(w):
                    velocity[joints.columns[i, k]] += joints.reach[i, k] * impulse[i]
            else:
                for j in range(velocity.size):
                    velocity[j] += joints.reach[i, j] * impulse[i]


@bare
def violations(joints: Joints, velocity: np.ndarray, given: np.ndarray, out: np.ndarray) -> None:
    """out = J_Bᵀ v + given (p,)."""
    for i in range(joints.rows.shape[0]):
        out[i] = along(joints.columns[i], joints.rows[i], velocity) + given[i]


@apart
def hold_response(joints: Joints, held: np.ndarray, impulse: np.ndarray, out: np.ndarray) -> None:
    """The velocity ``out`` (n,) that an impulse gives, with constraints held; ``held``, ``impulse`` (p,) are room."""
    for i in range(joints.rows.shape[0]):
        held[i] = along(joints.columns[i], joints.rows[i], out)
    impulses(joints, held, impulse)
    push(joints, impulse, out)


@bare
def contradicts(joints: Joints, violation: np.ndarray, impulse: np.ndarray) -> bool:
    """Whether redundant constraints demand what no impulse can give."""
    p = impulse.size
    if p == 0 or joints.kind[0] != REDUNDANT:
        return False
    scale, worst = 0.0, 0.0
    for i in range(p):
        left = violation[i]
        for j in range(p):
            left += joints.dense[i, j] * impulse[j]
        scale = max(scale, abs(violation[i]))
        worst = max(worst, abs(left))
    return worst > 1e-6 * scale
