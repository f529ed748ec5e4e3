"""What a convex stationary problem leaves open: no solution, and why, or many.

no y with Jᵀ y + g₀ ≥ 0     ⇔  some λ ≥ 0:  J λ = 0,  g₀ᵀλ < 0                                        (Farkas)
energy without a minimum    ⇔  some d:  K d = 0,  Jᵀ d ≥ 0,  fᵀd > 0
more than one minimum       ⇔  some d ≠ 0:  K d = 0,  J_iᵀ d = 0 of loaded, J_iᵀ d ≥ 0 of other touching contacts
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from klapper.analysis.stationary_problem import StationaryProblem
from klapper.complementarity.basis_point import HeldPoint

_CERTAIN = 1e-9


def why_none(problem: StationaryProblem) -> str:
    """One sentence in words of mechanics, for a problem without a state of rest."""
    return (
        _jammed(problem)
        or _pushed_away(problem)
        or (
            "no solver found one. The stiffness matrix is badly conditioned; reduce the system (klapper.reduction)."
        )
    )


def moves_freely(problem: StationaryProblem, point: HeldPoint) -> bool:
    """Whether a solution of a convex problem can be moved without a change of its forces."""
    form = problem.form
    loaded = point.forces > 0.0
    touching = ~loaded & (point.gaps <= _CERTAIN * np.maximum(point.sizes, 1e-300))
    free = form.rigid
    held = form.normal[:, loaded].T @ free
    for axis in np.vstack([np.eye(free.shape[1]), -np.eye(free.shape[1])]):
        found = linprog(
            -axis,
            A_ub=-(form.normal[:, touching].T @ free),
            b_ub=np.zeros(int(np.count_nonzero(touching))),
            A_eq=held,
            b_eq=np.zeros(len(held)),
            bounds=(-1.0, 1.0),
        )
        if found.status == 0 and found.fun < -_CERTAIN:
            return True
    return False


def _jammed(problem: StationaryProblem) -> str:
    form = problem.form
    if not len(form.gap):
        return ""
    size = np.abs(form.gap).max() or 1.0
    found = linprog(form.gap / size, A_eq=form.normal, b_eq=np.zeros(form.size), bounds=(0.0, 1.0))
    if found.status != 0 or found.fun >= -_CERTAIN:
        return ""
    names = [f"'{problem.names[i]}'" for i in np.flatnonzero(found.x > _CERTAIN)]
    shown = ", ".join(names[:6]) + (" and others" if len(names) > 6 else "")
    return f"wherever it is, one of the gaps of {shown} is negative; a part is jammed between them. Enlarge these gaps."


def _pushed_away(problem: StationaryProblem) -> str:
    form = problem.form
    size = np.abs(form.load).max(initial=0.0)
    if size == 0.0:
        return ""
    free = form.rigid
    if not free.shape[1]:
        return ""
    found = linprog(
        -(form.load @ free) / size,
        A_ub=-(form.normal.T @ free),
        b_ub=np.zeros(len(form.gap)),
        bounds=(-1.0, 1.0),
    )
    if found.status != 0 or found.fun >= -_CERTAIN:
        return ""
    motion = form.basis @ (free @ found.x)
    moving = problem.system.coordinates[int(np.argmax(np.abs(motion)))]
    return (
        f"the load pushes it away, most of all in '{moving}', where neither stiffness nor a contact holds it. Add a "
        f"support or a contact, or turn the load."
    )
