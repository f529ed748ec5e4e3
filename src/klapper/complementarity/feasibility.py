"""Proof that a linear problem has no solution: its inequalities alone already contradict each other.

By Farkas' lemma {x ≥ 0, A x + b ≥ 0} is empty exactly if some d ≥ 0 has Aᵀd ≤ 0 and bᵀd < 0. For positive
semidefinite A feasible problems are also solvable, so that this decides the question.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.convert import as_linear, is_linear
from klapper.complementarity.problem import LinearComplementarity

MAX_DENSE = 5000


def contradiction(problem: Any) -> str:
    """One sentence with the contradicting contacts, or "" if the inequalities are compatible or cannot be tested."""
    if not is_linear(problem):
        return ""
    from scipy.optimize import linprog

    if not isinstance(problem, LinearComplementarity) and problem.size > MAX_DENSE:
        return ""
    linear = as_linear(problem).problem
    matrix = sparse.csr_array(linear.matrix)
    if linear.size == 0:
        return ""
    scale = abs(matrix).max(axis=1).toarray().ravel()
    scale = np.where(scale > 0, scale, 1.0)
    with np.errstate(over="ignore"):
        size = np.abs(linear.offset / scale).max() or 1.0
    if not np.isfinite(size):
        return ""
    offset = linear.offset / scale / size
    rows = sparse.csr_array(sparse.diags_array(1.0 / scale) @ matrix)
    certificate = linprog(offset, A_ub=rows.T, b_ub=np.zeros(linear.size), bounds=(0.0, 1.0), method="highs")
    if certificate.status != 0 or certificate.fun > -1e-7 or not _is_certificate(rows, offset, certificate.x):
        return ""
    names = [linear.names[i] for i in np.flatnonzero(certificate.x > 1e-9)]
    shown = ", ".join(names[:6]) + (" and others" if len(names) > 6 else "")
    return (
        f"There is no solution: the inequalities of {shown} contradict each other for every choice of contact forces. "
        "Their prescribed motions cannot be fulfilled together."
    )


def _is_certificate(rows: sparse.csr_array, offset: np.ndarray, d: np.ndarray) -> bool:
    """Whether Aᵀd ≤ 0 to rounding; anything larger could be outweighed by enormous forces."""
    rounding = 16 * offset.size * np.finfo(float).eps * (abs(rows).T @ d)
    return bool(np.all(rows.T @ d <= rounding)) and bool(offset @ d < 0)
