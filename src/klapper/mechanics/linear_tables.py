"""A linear system packed for compiled code, see :mod:`klapper.mechanics.kernels.linear`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.compiled_form import CompiledForm, Tables
from klapper.mechanics.contacts import Contact
from klapper.mechanics.friction import Coulomb

if TYPE_CHECKING:
    from klapper.mechanics.linear_system import LinearSystem
    from klapper.mechanics.user_signals import OwnSignals


def linear_form(system: LinearSystem) -> CompiledForm:
    """Its compiled form."""
    from klapper.mechanics.kernels import linear
    from klapper.mechanics.user_signals import compile_signals

    tables = Tables()
    parts, joints = system.contacts.parts, system.constraint_parts
    n, m, d, p = system.size, len(parts), system.contacts.tangential, len(joints)
    directions = np.zeros((m, 1 + d, n))
    for i, part in enumerate(parts):
        if isinstance(part, Contact):
            directions[i, 0] = part.normal
        if part.tangents is not None:
            directions[i, 1 : 1 + len(part.tangents)] = part.tangents
    contact_columns, contact_rows = _packed_rows(directions)
    held = np.array([part.direction for part in joints], dtype=float).reshape(p, 1, n)
    joint_columns, joint_rows = _packed_rows(held)
    mass = sparse.coo_array(system.mass_matrix)
    head = [n, m, d, p, contact_columns.shape[1], joint_columns.shape[1]]
    head += [tables.numbers(mass.data), mass.data.size]
    matrices = (
        system.rate_matrix,
        system.position_matrix,
        system.damping,
        system.stiffness,
        system.circulatory,
    )
    entries = [_by_rows(each, n) for each in matrices]
    assert tables.integers(np.zeros(48)) == Tables.HEADER  # room for the head, filled below
    for matrix in entries:
        head += [tables.integers(matrix.indptr), tables.integers(matrix.indices)]
        head += [tables.numbers(matrix.data), matrix.data.size]
    head += [tables.signal(system.load), tables.numbers(system._dead_load)]
    head += [tables.integers(contact_columns), tables.numbers(contact_rows)]
    offsets = [tables.signal(part.gap) if isinstance(part, Contact) else -1 for part in parts]
    rates = [tables.signal(part.tangential_rate) for part in parts]
    sizes = [int(np.prod(part.tangential_rate.shape, dtype=int)) for part in parts]
    head += [tables.integers(offsets), tables.integers(rates), tables.integers(sizes)]
    head.append(tables.numbers([_law(tables, part) for part in parts]))
    motions = [tables.signal(part.offset) for part in joints]
    head += [tables.integers(joint_columns), tables.numbers(joint_rows), tables.integers(motions)]
    tangents, stiff, rate = _at_the_same_places(entries[1], entries[0])
    head += [tables.numbers(stiff), tables.numbers(rate)]
    own = compile_signals(tables)
    index, data = tables.packed()
    index[Tables.HEADER : Tables.HEADER + len(head)] = head
    return CompiledForm(
        index,
        data,
        positions=n,
        velocities=n,
        bring=own.bring,
        mass=linear.mass,
        mass_entries=np.array(mass.coords, dtype=np.int64),
        force=linear.force,
        tangents=linear.tangents if tangents.size else None,
        tangent_entries=tangents,
        constant_tangents=True,
        by_position=entries[1].nnz > 0,
        by_velocity=entries[0].nnz > 0,
        complete=True,
        contacts=m,
        tangential=d,
        gaps=linear.gaps,
        directions=linear.directions,
        contact_width=contact_columns.shape[1],
        laws=_laws(tables, own),
        constant_friction=system.contacts.constant,
        shares=system.contacts.coupling,
        compliance=system.compliance,
        straight=True,
        curvature=linear.curvature,
        constraints=p,
        residuals=linear.residuals,
        constraint_directions=linear.constraint_directions,
        constraint_width=joint_columns.shape[1],
        affine_constraints=True,
        constraint_curvature=linear.constraint_curvature,
        potential=linear.potential,
        powers=linear.powers,
    )


def _by_rows(matrix: Any, size: int) -> Any:
    """A matrix by compressed rows; None is one of zeros."""
    rows = sparse.csr_array((size, size)) if matrix is None else sparse.csr_array(matrix)
    rows.sum_duplicates()
    return rows


def _at_the_same_places(one: Any, two: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places (2, e) where either of two matrices (n, n) has an entry, and the entries (e,) of both."""
    n = one.shape[0]
    at = [np.repeat(np.arange(n), np.diff(each.indptr)) * n + each.indices for each in (one, two)]
    places = np.union1d(*at)
    entries = np.zeros((2, places.size))
    for row, where, each in zip(entries, at, (one, two), strict=True):
        row[np.searchsorted(places, where)] = each.data
    return np.array(np.divmod(places, n), dtype=np.int64), entries[0], entries[1]


def _laws(tables: Tables, own: OwnSignals) -> Any:
    """The laws, with friction functions of users where there are such."""
    from klapper.mechanics.kernels import linear
    from klapper.mechanics.kernels.signatures import LAWS
    from klapper.mechanics.user_functions import compiled

    return (
        compiled(linear.laws_of(own.coefficient), LAWS, "friction")
        if tables.friction_functions
        else linear.laws
    )


def _packed_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns (k, w) where any of the rows (k, r, n) of a contact is not zero, and the entries (k, r, w) there."""
    used = np.any(rows != 0.0, axis=1)
    width = max(int(used.sum(axis=1).max(initial=0)), 1)
    columns = np.zeros((len(rows), width), dtype=np.int64)
    entries = np.zeros((len(rows), rows.shape[1], width))
    for i, mask in enumerate(used):
        places = np.flatnonzero(mask)
        columns[i, : len(places)] = places
        entries[i, :, : len(places)] = rows[i][:, places]
    return columns, entries


def _law(tables: Tables, part: Any) -> list[float]:
    """Has normal, ε, number of the friction law, limit, μ₂/μ₁."""
    if not isinstance(part, Contact):
        return [0.0, 0.0, -1.0, part.limit, 1.0]
    plain = isinstance(part.friction, Coulomb) and part.friction.mu == 0.0
    law = -1 if plain else tables.friction(part.friction)
    return [1.0, part.restitution, float(law), part.limit, part.friction.ratio]
