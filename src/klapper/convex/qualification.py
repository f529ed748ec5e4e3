"""Do the gradients of the active constraints describe the admissible directions?

    C = {x : f_i(x) ≥ 0, h_j(x) = 0}
    T_C = {v : ∇f_i·v ≥ 0, ∇h_j·v = 0},   N_C = {-Σ λ_i ∇f_i + Σ κ_j ∇h_j : λ ≥ 0}     Waltersberger (A.56)

holds if the equality gradients are linearly independent and some v has ∇f_i·v > 0, ∇h_j·v = 0 (Mangasarian
and Fromovitz, A.57). Where it fails, contact forces may be unbounded, and a contact may act though no
gradient shows it. Gradients are columns, like the contact directions J_N.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from klapper.convex._arguments import Array, frozen_array
from klapper.convex.polyhedron import GeneratedCone, Polyhedron


@dataclass(frozen=True, eq=False)
class Qualification:
    """Outcome of the test of Mangasarian and Fromovitz.

    ``holds``      whether the constraints are qualified
    ``margin``     largest s with ∇f_i·v ≥ s |∇f_i| for some v with |v_k| ≤ 1, ∇h_j·v = 0; 0 if there is none
    ``direction``  that v (n,), dimensionless: it opens all active contacts at once

    A wall and a floor leave the corner by v = (1, 1), which opens both at once:

    >>> corner = mangasarian_fromovitz([[1.0, 0.0], [0.0, 1.0]])
    >>> corner.holds, corner.margin, corner.direction.tolist()
    (True, 1.0, [1.0, 1.0])
    """

    holds: bool
    margin: float
    direction: Array


def linearly_independent(gradients: ArrayLike, tolerance: float = 1e-10) -> bool:
    """Whether the columns of ``gradients``, shape (n, m), are linearly independent, each scaled to unit length.

    A singular value below ``tolerance``, dimensionless, counts as zero.

    >>> linearly_independent([[1.0, 1.0], [0.0, 1.0]]), linearly_independent([[1.0, 2.0], [1.0, 2.0]])
    (True, False)
    """
    columns = frozen_array("gradients", gradients, (None, None))
    lengths = np.linalg.norm(columns, axis=0)
    if columns.shape[1] == 0:
        return True
    if (lengths == 0.0).any() or columns.shape[1] > columns.shape[0]:
        return False
    return bool(np.linalg.svd(columns / lengths, compute_uv=False)[-1] > tolerance)


def mangasarian_fromovitz(
    inequalities: ArrayLike, equalities: ArrayLike | None = None, tolerance: float = 1e-9
) -> Qualification:
    """Test of Mangasarian and Fromovitz whether constraints are qualified, Waltersberger (A.57).

    A linear program: maximise s subject to ∇f_i·v ≥ s |∇f_i|, ∇h_j·v = 0, |v_k| ≤ 1.

    ``inequalities``  gradients of the active f_i ≥ 0 as columns, (n, r)
    ``equalities``    gradients of the h_j = 0 as columns, (n, m - r); none if not given
    ``tolerance``     least s, dimensionless, with which the constraints count as qualified

    The set {x : -x² ≥ 0} = {0} has gradient 0 there and is not qualified, Waltersberger (A.61):

    >>> mangasarian_fromovitz([[0.0]]).holds
    False
    >>> mangasarian_fromovitz([[1.0, 0.0], [0.0, 1.0]]).holds
    True
    """
    active = frozen_array("inequalities", inequalities, (None, None))
    dimension, count = active.shape
    held = (
        np.zeros((dimension, 0))
        if equalities is None
        else frozen_array("equalities", equalities, (dimension, None))
    )
    lengths = np.linalg.norm(active, axis=0)
    if (lengths == 0.0).any() or not linearly_independent(held):
        return Qualification(holds=False, margin=0.0, direction=np.zeros(dimension))
    if count == 0:
        return Qualification(holds=True, margin=1.0, direction=np.zeros(dimension))
    margin, direction = _widest_opening(active / lengths, held)
    return Qualification(holds=margin > tolerance, margin=margin, direction=direction)


def constraint_cones(
    inequalities: ArrayLike, equalities: ArrayLike | None = None
) -> tuple[Polyhedron, GeneratedCone]:
    """Tangent and normal cone (A.56) of {f_i ≥ 0, h_j = 0} at a point, from its active gradients.

    Arguments as of :func:`mangasarian_fromovitz`. Raises ValueError if the constraints are not qualified, since the
    formula is then wrong in general.

    >>> tangent, normal = constraint_cones([[0.0], [1.0]])  # resting on the floor x_2 ≥ 0
    >>> tangent.contains([5.0, 0.0]), normal.contains([0.0, -2.0]), normal.contains([0.0, 2.0])
    (True, True, False)
    """
    if not mangasarian_fromovitz(inequalities, equalities).holds:
        raise ValueError(
            "the gradients fail the Mangasarian-Fromovitz test, they must allow a direction that opens all "
            "active inequalities; describe the set by other constraints"
        )
    active = frozen_array("inequalities", inequalities, (None, None))
    held = np.zeros((active.shape[0], 0)) if equalities is None else np.asarray(equalities, dtype=float)
    normals = np.hstack([active, held, -held])
    tangent = Polyhedron(normals, np.zeros(normals.shape[1]))
    return tangent, tangent.polar()


def _widest_opening(unit: Array, held: Array) -> tuple[float, Array]:
    from scipy.optimize import linprog

    dimension, count = unit.shape
    objective = np.append(np.zeros(dimension), -1.0)
    program = linprog(
        objective,
        A_ub=np.hstack([-unit.T, np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=np.hstack([held.T, np.zeros((held.shape[1], 1))]) if held.size else None,
        b_eq=np.zeros(held.shape[1]) if held.size else None,
        bounds=[(-1.0, 1.0)] * dimension + [(0.0, None)],
        method="highs",
    )
    if program.status != 0:
        raise RuntimeError(f"the linear program of the qualification test was not solved: {program.message}")
    return float(program.x[-1]), program.x[:-1]
