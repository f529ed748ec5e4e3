"""Craig & Bampton 1968: boundary coordinates stay, the inside keeps its lowest modes with the boundary held.

    q_i = Ψ q_b + Φ η,   Ψ = −K_ii⁻¹ K_ib,   K_ii φ = ω² M_ii φ

The boundary coordinates keep their names and are those in which contacts, friction and constraints are written. Loads
on the inside get static shapes K_ii⁻¹ f_i of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel, LinearSystem
from klapper.mechanics.eigenmodes import Modes
from klapper.reduction import loads as of_load
from klapper.reduction.elasticity import Elasticity, independent_shapes
from klapper.reduction.reduced import (
    Reduced,
    contact_columns,
    projected,
    reduction_error,
    require_linear,
    start_in,
    start_of,
)
from klapper.reduction.shapes import joined


def craig_bampton(
    system: LinearSystem, modes: int, *, boundary: Sequence[str] | None = None, loads: bool = True
) -> Reduced:
    """The system in its boundary coordinates and ``modes`` fixed-interface modes.

        q_i = Ψ q_b + Φ η,   Ψ = −K_ii⁻¹ K_ib

    ``system``    linear, n coordinates
    ``boundary``  names of coordinates that stay; None: all in which a contact or constraint is written
    ``loads``     whether the patterns of the load on the inside get shapes too

    Three masses of 1 kg between walls: with the last one held, the first mode of the two others has ω = 1 rad/s.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.reduction import craig_bampton
    >>> springs = [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]
    >>> stop = Contact("stop", normal=[0.0, 0.0, -1.0], gap=1.0)
    >>> reduced = craig_bampton(LinearSystem([1.0] * 3, stiffness=springs, contacts=[stop]), 1)
    >>> reduced.system.coordinates, round(float(reduced.system.stiffness[1, 1]), 9)
    (('q3', 'inner mode 1'), 1.0)
    """
    require_linear(system, "Craig–Bampton reduction")
    forces = sparse.hstack([contact_columns(system)[0], sparse.csc_array(system.constraint_matrix)])
    outer = boundary_coordinates(system, boundary, forces)
    inner = np.setdiff1d(np.arange(system.size), outer)
    inside = _inside(system, inner)
    kept = _inner_modes(inside, modes)
    if loads and len(inner):
        patterns = of_load.patterns(system.load, system.start.time)[inner]
        kept = joined(kept, independent_shapes(inside, kept, patterns))
    follow = np.zeros((system.size, len(outer)))
    follow[outer, np.arange(len(outer))] = 1.0
    follow[inner] = -inside.respond(sparse.csc_array(inside_coupling(system, inner, outer)))
    inner_shapes = np.zeros((system.size, len(kept)))
    inner_shapes[inner] = kept.shapes
    basis = np.hstack([follow, inner_shapes])
    values = start_of(system)[outer]
    start = np.vstack([values, start_in(system, inner_shapes, follow, values)])
    names = [system.coordinates[i] for i in outer] + [f"inner mode {i + 1}" for i in range(len(kept))]
    small = projected(
        system,
        basis,
        names=names,
        name=f"{system.name}, {len(outer)} boundary coordinates and {len(kept)} inner modes",
        start=(start[:, 0], start[:, 1]),
        modes=(slice(len(outer), None), kept.squares),
    )
    highest = float(kept.frequencies[modes - 1]) if modes else 0.0
    elastic = Elasticity.of(system)
    return Reduced(small, system, basis, reduction_error(elastic, system, small, basis, highest))


def boundary_coordinates(system: LinearSystem, names: Sequence[str] | None, directions: object) -> np.ndarray:
    """Numbers (b,) of the boundary coordinates, rising: those named, or those of the directions (n, k)."""
    if names is None:
        outer = np.unique(sparse.csc_array(directions).indices)
        if len(outer) == 0:
            raise InvalidModel(f"'{system.name}' has no contacts that name a boundary; give boundary=[…].")
        return outer
    known = {name: i for i, name in enumerate(system.coordinates)}
    for name in names:
        if name not in known:
            raise InvalidModel(f"boundary names '{name}', which is no coordinate of '{system.name}'.")
    return np.unique([known[name] for name in names])


def inside_coupling(system: LinearSystem, inner: np.ndarray, outer: np.ndarray) -> sparse.csr_array:
    """K_ib."""
    if system.stiffness is None:
        raise InvalidModel(f"'{system.name}' has no stiffness: its inside does not follow its boundary.")
    return sparse.csr_array(system.stiffness)[inner][:, outer]


def _inside(system: LinearSystem, inner: np.ndarray) -> Elasticity:
    mass = sparse.csr_array(system.mass_matrix)[inner][:, inner]
    inside = Elasticity(mass, inside_coupling(system, inner, inner))
    if len(inner) and inside.rigid.shape[1]:
        raise InvalidModel(
            f"the inside of '{system.name}' can move freely while its boundary is held; give more boundary coordinates."
        )
    return inside


def _inner_modes(inside: Elasticity, modes: int) -> Modes:
    if not (isinstance(modes, int | np.integer) and 0 <= modes <= inside.size):
        raise InvalidModel(
            f"modes is {modes!r}; allowed are whole numbers from 0 to {inside.size}, those of the inside."
        )
    return inside.modes(modes) if modes else Modes(np.zeros(0), np.zeros((inside.size, 0)))
