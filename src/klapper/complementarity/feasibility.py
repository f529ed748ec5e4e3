"""Proof that a linear problem has no solution: its inequalities alone already contradict each other.

By Farkas' lemma {x ≥ 0, A x + b ≥ 0} is empty exactly if some d ≥ 0 has Aᵀd ≤ 0 and bᵀd < 0. For positive
semidefinite A feasible problems are also solvable, so that this decides the question.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.complementarity.convert import as_linear, dense, is_linear


def contradiction(problem: Any) -> str:
    """One sentence with the contradicting contacts, or "" if the inequalities are compatible or cannot be tested."""
    if not is_linear(problem):
        return ""
    from scipy.optimize import linprog

    linear = as_linear(problem).problem
    matrix = dense(linear.matrix)
    if linear.size == 0:
        return ""
    scale = np.abs(matrix).max(axis=1)
    scale = np.where(scale > 0, scale, 1.0)
    size = np.abs(linear.offset / scale).max() or 1.0
    offset = linear.offset / scale / size
    certificate = linprog(
        offset,
        A_ub=(matrix / scale[:, None]).T,
        b_ub=np.zeros(linear.size),
        bounds=(0.0, 1.0),
        method="highs",
    )
    if certificate.status != 0 or certificate.fun > -1e-7:
        return ""
    names = [linear.names[i] for i in np.flatnonzero(certificate.x > 1e-9)]
    shown = ", ".join(names[:6]) + (" and others" if len(names) > 6 else "")
    return (
        f"There is no solution: the inequalities of {shown} contradict each other for every choice of contact forces. "
        "Their prescribed motions cannot be fulfilled together."
    )
