"""The contact problem of one step: rows from directions and laws, solved and verified.

v⁺ = v + Δ_free + A J Λ                     A: mobility with the two-sided constraints held
0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0                 Waltersberger (4.12), (4.23); a_N is in both velocities
−v_T⁺ ∈ N_D(Λ_T),  |D| = μ Λ_N + h limit    (4.24)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import (
    ComplementarityError,
    FrictionalContact,
    GaussSeidel,
    LinearComplementarity,
    Solution,
    solve,
)
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import Directions, Matrix
from klapper.schemes.mobility import Held
from klapper.schemes.newton_contacts import NewtonContacts

_FINE = 1e-13  # residual that sweeps aim at; what is reached is judged against the scheme's tolerance
_QUICK_SWEEPS = 300


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Columns (n, r) of all contact directions, contact by contact: normal first, then tangential.

    ``normal`` (k,) and ``tangential`` (k, d) are the rows of each contact, −1 where it has none. Tangential columns
    of anisotropic contacts are scaled, see :mod:`klapper.mechanics.friction`.
    """

    columns: Matrix
    normal: np.ndarray
    tangential: np.ndarray
    scale: np.ndarray

    @property
    def size(self) -> int:
        return self.columns.shape[1]


def contact_rows(directions: Directions, laws: ContactLaws, tangential: int) -> ContactRows:
    """The rows of the contacts that can carry something: no tangential rows where nothing has friction."""
    count = len(laws.normal)
    rough = laws.rough
    d = tangential if np.any(rough) else 0
    present = np.zeros((count, 1 + d), dtype=bool)
    present[:, 0] = laws.normal
    present[:, 1:] = True
    rows = np.full(present.shape, -1)
    rows[present] = np.arange(np.count_nonzero(present))
    scale = np.ones((count, d))
    if d == 2:
        scale[:, 1] = laws.ratio
    return ContactRows(_interleave(directions, present, scale), rows[:, 0], rows[:, 1:], scale)


def _interleave(directions: Directions, present: np.ndarray, scale: np.ndarray) -> Matrix:
    count, width = present.shape
    if sparse.issparse(directions.tangential) and not sparse.issparse(directions.normal):
        directions = replace(directions, tangential=directions.tangential.toarray())
    if sparse.issparse(directions.normal):
        if width == 1:
            return directions.normal[:, present[:, 0]].tocsc()
        scaled = directions.tangential @ sparse.diags_array(scale.ravel())
        both = sparse.hstack([directions.normal, scaled]).tocsc()
        number = np.empty((count, width), dtype=int)
        number[:, 0] = np.arange(count)
        number[:, 1:] = count + np.arange(count * (width - 1)).reshape(count, width - 1)
        return both[:, number[present]]
    full = np.empty((directions.normal.shape[0], count, width))
    full[:, :, 0] = directions.normal
    if width > 1:
        full[:, :, 1:] = directions.tangential.reshape(-1, count, width - 1) * scale
    return full[:, present]


def solve_contacts(
    rows: ContactRows,
    held: Held,
    laws: ContactLaws,
    velocity: np.ndarray,
    duration: float,
    *,
    compliance: np.ndarray | None = None,
    start: np.ndarray,
    solver: Any = "auto",
    tolerance: float,
    names: list[str],
) -> Solution[Any]:
    """Impulses (r,) in the order of the rows, verified.

    ``velocity``    right-hand side b (r,): free velocities with all given parts
    ``duration``    h [s], for friction limits that are given as forces
    ``compliance``  added to W between the normal rows, (5.70)
    ``start``       impulses (r,) of the last step
    """
    response = held.respond(rows.columns)
    delassus = rows.columns.T @ response
    if sparse.issparse(delassus) and delassus.shape[0] <= 400:
        delassus = delassus.toarray()
    if held.inverse.symmetric:
        delassus = 0.5 * (delassus + delassus.T)
    if compliance is not None:
        delassus = delassus.copy()
        has = rows.normal >= 0  # friction elements have no normal row
        delassus[np.ix_(rows.normal[has], rows.normal[has])] += compliance[np.ix_(has, has)]
    if rows.tangential.shape[1] == 0:
        problem: Any = LinearComplementarity(delassus, velocity, names=names)
        return solve(problem, solver, tolerance=tolerance, start=start)
    problem = _frictional(rows, laws, delassus, velocity, duration, names)
    return _solve_frictional(problem, solver, tolerance, start, held.inverse.symmetric)


def _frictional(
    rows: ContactRows,
    laws: ContactLaws,
    delassus: Any,
    velocity: np.ndarray,
    duration: float,
    names: list[str],
) -> FrictionalContact:
    if np.all(laws.normal) and not laws.coupled:
        return FrictionalContact(
            delassus,
            velocity,
            laws.friction,
            dimension=1 + rows.tangential.shape[1],
            limit=laws.limit * duration,
            names=names,
        )
    friction = laws.friction if laws.coupled else sparse.diags_array(laws.friction).tocsr()
    return FrictionalContact.from_parts(
        delassus,
        velocity,
        normal=rows.normal[laws.normal],
        tangential=rows.tangential,
        friction=friction[:, laws.normal],
        limit=laws.limit * duration,
        normal_names=[name for name, has in zip(names, laws.normal, strict=True) if has],
        tangential_names=names,
    )


def _solve_frictional(
    problem: FrictionalContact, solver: Any, tolerance: float, start: np.ndarray, symmetric: bool
) -> Solution[Any]:
    if solver != "auto":
        return solve(problem, solver, tolerance=tolerance, start=start)
    first: Any = NewtonContacts()
    if first.obstacle(problem):
        if not symmetric:
            return solve(problem, tolerance=tolerance, start=start)
        first, tolerance_of_first = GaussSeidel(max_sweeps=_QUICK_SWEEPS), _FINE
    else:
        tolerance_of_first = tolerance
    try:
        return solve(problem, first, tolerance=tolerance_of_first, start=start)
    except ComplementarityError:
        return solve(problem, tolerance=tolerance, start=start)
