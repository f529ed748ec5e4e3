"""Massless contact boundary: the cure for contact-force spikes.

In a mesh the mass of a contact node is stopped at once when it hits, which no continuum does; the force spikes with the
step and the mesh. Here the boundary coordinates lose their mass to the inside, in the way in which they follow it
statically, and become contact compliance:

    u_b = T u_i + K_bb⁻¹ (J_b λ + f_b),   T = −K_bb⁻¹ K_bi
    M' = M_ii + M_ib T + Tᵀ M_bi + Tᵀ M_bb T,   K' = K_ii + K_ib T,   C = J_bᵀ K_bb⁻¹ J_b

Rigid motion keeps its mass exactly, statics are exact. With a number of modes of the inside, the others follow
statically and add their compliance. Integrate with ``Moreau(h, theta=1.0, level="position")``.
Khenous, Laborde & Renard 2008; Monjaraz-Tec, Gross & Krack 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel, LinearSystem
from klapper.reduction import loads
from klapper.reduction.craig_bampton import boundary_coordinates, inside_coupling
from klapper.reduction.elasticity import Elasticity
from klapper.reduction.quasi_static import require_compliant_contacts, residual, with_static_part
from klapper.reduction.reduced import Reduced, projected, reduction_error, require_linear, start_of


def massless_boundary(
    system: LinearSystem, modes: int | None = None, *, boundary: Sequence[str] | None = None
) -> Reduced:
    """The system without inertia at its contact boundary.

        M' = M_ii + M_ib T + Tᵀ M_bi + Tᵀ M_bb T,   K' = K_ii + K_ib T,   C = J_bᵀ K_bb⁻¹ J_b,   T = −K_bb⁻¹ K_bi

    ``system``    linear, n coordinates
    ``modes``     of the inside that are kept; None: all
    ``boundary``  names of coordinates without mass; None: all in which a contact is written

    Two masses of 1 kg on springs of 1 N/m; the outer one hands its mass over, its spring becomes compliance.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.reduction import massless_boundary
    >>> stop = Contact("stop", normal=[0.0, -1.0], gap=1.0)
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 1.0]], contacts=[stop])
    >>> small = massless_boundary(chain).system
    >>> [float(matrix[0, 0]) for matrix in (small.mass_matrix, small.stiffness, small.compliance)]
    [2.0, 1.0, 1.0]
    """
    require_linear(system, "massless boundary")
    require_compliant_contacts(system)
    outer = boundary_coordinates(system, boundary, system.normal_directions)
    _require_free_of_constraints(system, outer)
    inner = np.setdiff1d(np.arange(system.size), outer)
    if not len(inner):
        raise InvalidModel(
            f"every coordinate of '{system.name}' is on its boundary; name fewer with boundary=[…]."
        )
    flexibility = _boundary_flexibility(system, outer)
    follow = _follow(system, inner, outer, flexibility)
    normal = sparse.csc_array(system.normal_directions)

    def respond(forces: Any) -> np.ndarray:
        """Displacements of the boundary by loads on it."""
        answer = np.zeros(forces.shape)
        answer[outer] = flexibility @ forces[outer]
        return answer

    by_force = respond(normal)
    by_load = loads.response(system.load, respond)
    start = start_of(system)[inner]
    condensed = projected(
        system,
        follow,
        names=[system.coordinates[i] for i in inner],
        name=f"{system.name}, massless boundary",
        start=(start[:, 0], start[:, 1]),
        shifts=loads.gap_shifts(system.load, by_force),
        compliance=_symmetric(np.asarray(normal.T @ by_force)),
    )
    elastic = Elasticity.of(system)
    if modes is None:
        error = reduction_error(elastic, system, condensed, follow, np.inf, by_load)
        return Reduced(condensed, system, follow, error, by_force, by_load)
    inside = Elasticity.of(condensed)
    kept = inside.modes(modes)
    small, shapes, static = with_static_part(condensed, inside, kept, residual(inside, kept))
    basis = follow @ shapes
    if by_load is not None and static.by_load is not None:
        by_load = by_load + static.by_load.mapped(follow)
    error = reduction_error(elastic, system, small, basis, float(kept.frequencies[-1]), by_load)
    return Reduced(small, system, basis, error, by_force + follow @ static.by_force, by_load)


def _boundary_flexibility(system: LinearSystem, outer: np.ndarray) -> np.ndarray:
    """K_bb⁻¹ (b, b)."""
    try:
        return _symmetric(np.linalg.inv(inside_coupling(system, outer, outer).toarray()))
    except np.linalg.LinAlgError:
        raise InvalidModel(
            f"the boundary of '{system.name}' can move freely while the inside is held; name fewer coordinates with "
            f"boundary=[…]."
        ) from None


def _follow(system: LinearSystem, inner: np.ndarray, outer: np.ndarray, flexibility: np.ndarray) -> Any:
    """[1; T] (n, n_i), sparse: every coordinate by those of the inside, no forces on the boundary."""
    coupling = sparse.csc_array(inside_coupling(system, outer, inner))
    near = np.flatnonzero(np.diff(coupling.indptr))
    block = -flexibility @ coupling[:, near].toarray()
    row, column = np.indices(block.shape)
    n = len(inner)
    rows = np.concatenate([inner, outer[row.ravel()]])
    columns = np.concatenate([np.arange(n), near[column.ravel()]])
    values = np.concatenate([np.ones(n), block.ravel()])
    follow = sparse.csr_array((values, (rows, columns)), shape=(system.size, n))
    follow.eliminate_zeros()
    return follow


def _require_free_of_constraints(system: LinearSystem, outer: np.ndarray) -> None:
    directions = sparse.csr_array(system.constraint_matrix)
    for i in outer:
        if directions[[i]].nnz:
            part = system.constraint_parts[directions[[i]].indices[0]]
            raise InvalidModel(
                f"{part.called} is written in '{system.coordinates[i]}', which would lose its mass; leave it out of "
                f"the boundary, or use Craig–Bampton."
            )


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
