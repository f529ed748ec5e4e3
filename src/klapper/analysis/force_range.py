"""Contact forces that one position leaves open, and their bounds.

    F λ = K q − f,   λ ≥ 0,   λ = 0 where the gap is open

If the directions of the touching contacts depend on each other, the forces are a polytope; where it has no bound,
contacts press against each other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from klapper.analysis.held_directions import independent_columns
from klapper.analysis.polytope import Polytope
from klapper.analysis.stationary_problem import StationaryProblem
from klapper.analysis.stationary_state import StationaryState

_NONE = 1e-12  # of the largest force: bounds up to it are zero


def force_range(state: StationaryState, problem: StationaryProblem) -> StationaryState:
    """The state with bounds of its contact forces, if they are not unique."""
    form = problem.form
    touching = np.flatnonzero(state.touching[problem.contacts])
    columns = form.force[:, touching]
    if len(independent_columns(columns)) == len(touching):
        return state
    forces = state.forces[problem.contacts, 0] / form.force_unit
    size = np.abs(forces).max(initial=0.0) or 1.0
    carried = forces[touching] / size
    count = len(touching)
    keeps = Polytope((columns, columns @ carried), (np.eye(count), np.zeros(count)), known=carried)
    bounds = [state.forces[:, 0].copy(), state.forces[:, 0].copy()]
    for k, i in enumerate(touching):
        for bound, end in zip(bounds, keeps.range(np.eye(count)[k]), strict=True):
            bound[problem.contacts[i]] = (end if end > _NONE else 0.0) * size * form.force_unit[i]
    ends = [np.column_stack([bound, problem.friction_forces(bound)[0]]) for bound in bounds]
    return replace(state, lower=np.minimum(*ends), upper=np.maximum(*ends))
