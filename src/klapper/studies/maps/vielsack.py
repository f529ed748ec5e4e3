"""Maps of Vielsack's shaken incline: regimes, drift, and what a smeared stick does to it.

    ξ'' + ρ = A + B sin τ        Vielsack (14); with spring (20), damper (24), both (27), arctan (section 7)

One function over arrays, for ``klapper.study(drift, …, vectorised=True)``. All quantities are dimensionless.
P. Vielsack, Regularisierung des Haftzustandes bei Coulombscher Reibung, ZAMM 76 (1996) 439-446.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def drift(A: Any, B: Any, eps: Any = 0.01, regularisation: Any = "none") -> dict[str, Any]:
    """Drift, motion type under Coulomb's law, error of the regularised drift, largest force jump; arrays (k,).

    ``drift_error`` is the drift of the regularisation minus that of Coulomb's law; ``relative_error`` is nan at rest.
    ``regularisation`` is one name, or an array (k,) of names.
    """
    from klapper.analysis.shaken_incline import stationary_drift

    A, B, eps, laws = np.broadcast_arrays(A, B, eps, regularisation)
    exact = stationary_drift(A, B, threads=1)
    found, jump = np.array(exact.drift), np.array(exact.force_jump)
    for law in set(np.unique(laws).tolist()) - {"none"}:
        chosen = laws == law
        smeared = stationary_drift(A[chosen], B[chosen], eps[chosen], str(law), threads=1)
        found[chosen], jump[chosen] = smeared.drift, smeared.force_jump
    error = found - exact.drift
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(np.asarray(exact.drift) != 0.0, error / exact.drift, np.nan)
    return {
        "drift": found,
        "motion_type": exact.motion_type,
        "drift_error": error,
        "relative_error": relative,
        "force_jump": jump,
    }
