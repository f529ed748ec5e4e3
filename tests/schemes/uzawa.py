"""Uzawa's iteration for linear systems with multipliers, without a penalty in the inner solution.

    A x_k = r − B λ_k,   λ_{k+1} = λ_k + ε (Cᵀ x_k − s)                                      Hesch (3.11)-(3.13)

It is Richardson's iteration for the Schur complement S = Cᵀ A⁻¹ B: it converges for 0 < ε < 2/ρ(S), and not beyond.
:class:`klapper.schemes.AugmentedLagrange` keeps the penalty ε Φ in the inner solution and converges for every ε > 0,
with the factor 1/(1 + ε σ) for each eigenvalue σ of S.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from klapper.schemes.sparse_factor import factorised


class Uzawa(NamedTuple):
    """``x`` (n,), ``multipliers`` (p,), and the largest violation of Cᵀ x = s after each round."""

    x: np.ndarray
    multipliers: np.ndarray
    violations: np.ndarray


def uzawa(
    matrix: Any,
    push: Any,
    slope: Any,
    right: np.ndarray,
    given: np.ndarray,
    *,
    relaxation: float,
    rounds: int,
) -> Uzawa:
    """``rounds`` of the iteration from λ = 0 with ``relaxation`` ε; A (n, n), B and C (n, p), r (n,), s (p,)."""
    inner = factorised(matrix)
    multipliers = np.zeros(len(given))
    violations = []
    for _ in range(rounds):
        x = inner(right - push @ multipliers)
        violation = slope.T @ x - given
        multipliers = multipliers + relaxation * violation
        violations.append(float(np.abs(violation).max(initial=0.0)))
    return Uzawa(x, multipliers, np.array(violations))


def largest_relaxation(matrix: Any, push: Any, slope: Any) -> float:
    """2/ρ(S): the iteration converges below."""
    columns = push.toarray() if hasattr(push, "toarray") else push
    schur = slope.T @ factorised(matrix)(columns)
    return 2.0 / float(np.abs(np.linalg.eigvals(schur)).max())
