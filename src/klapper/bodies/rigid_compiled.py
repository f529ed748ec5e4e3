"""The compiled form of rigid bodies: which compiled functions a model needs, and the tables that they read."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.bodies.rigid_tables import RigidTables, body_table
from klapper.mechanics.compiled_form import CompiledForm, NotCompiled

if TYPE_CHECKING:
    from klapper.bodies.rigid_system import Parts

_PAIRS_PER_BALL = {2: 6, 3: 12}
"""Near pairs per ball that a search has room for. Equal discs have at most 3, equal spheres at most 6 that touch; the
margin and unequal sizes add to that. With more, the search says that it has no room."""
_WALLS_PER_BALL = 2
"""Near half-spaces per ball that a search has room for."""
_FEW = 64
"""Balls up to which a search has room for all pairs."""


def compiled_form(parts: Parts) -> CompiledForm:
    """The form of a system made of ``parts``; NotCompiled where a part has no compiled code."""
    from klapper.bodies.kernels import shared

    packed = RigidTables(parts)
    if packed.tables.own_functions:
        raise NotCompiled("the model has functions of time or of the sliding speed that are not compiled")
    index, data = packed.packed()
    nv = parts.layout.velocity_count
    return CompiledForm(
        index=index,
        data=data,
        positions=parts.layout.position_count,
        velocities=nv,
        bring=_bring(packed),
        mass=shared.mass,
        mass_entries=np.tile(np.arange(nv), (2, 1)),
        complete=not parts.gyroscopic,
        **_forces(parts),
        **_motion(parts),
        **_contacts(parts),
        **_constraints(parts),
    )


def _kernels(parts: Parts, what: str) -> Any:
    """The planar or spatial functions for ``what``, one of "contacts", "joints" and "forces"."""
    where = "planar" if parts.layout.dimension == 2 else "spatial"
    return import_module(f"klapper.bodies.kernels.{where}_{what}")


def _bring(packed: RigidTables) -> Any:
    from klapper.mechanics.kernels.given import bring

    return bring if packed.over_time else None


def _motion(parts: Parts) -> dict[str, Any]:
    if parts.layout.dimension == 2 or not len(parts.layout.turning):
        return {}
    from klapper.bodies.kernels.spatial_vectors import advance

    return {"advance": advance}


def _forces(parts: Parts) -> dict[str, Any]:
    from klapper.bodies.kernels import shared

    forces = _kernels(parts, "forces")
    springs, torsion = parts.springs, parts.torsion
    if not (springs.count or torsion.count or parts.loads.count):
        weight = forces.gyroscopic if parts.gyroscopic else shared.weight
        return {"force": weight, "potential": forces.weight_potential, "powers": shared.no_powers}
    found = {"force": forces.force, "potential": forces.potential, "powers": forces.powers}
    if np.any(springs.damping) or np.any(torsion.damping):
        found["damping"] = forces.damping
    if springs.count or torsion.count:
        found |= {
            "tangents": forces.tangents,
            "tangent_entries": tangent_entries(parts),
            "by_position": bool(np.any(springs.stiffness) or np.any(torsion.stiffness)),
            "by_velocity": bool(np.any(springs.damping) or np.any(torsion.damping)),
        }
    return found


def tangent_entries(parts: Parts) -> np.ndarray:
    """Places (2, e) of the tangents: of every spring all velocities of its bodies by all of them, of torsion springs
    those that turn."""
    bodies, dimension = body_table(parts.layout), parts.layout.dimension
    entries: list[np.ndarray] = [np.zeros((2, 0), dtype=np.int64)]
    for pairs, first in ((parts.springs.pairs.bodies, 0), (parts.torsion.angles.bodies, dimension)):
        for pair in pairs:
            rows = np.concatenate([bodies[b, 1] + np.arange(first, max(bodies[b, 2], first)) for b in pair])
            entries.append(np.array([np.repeat(rows, rows.size), np.tile(rows, rows.size)]))
    return np.concatenate(entries, axis=1)


def _contacts(parts: Parts) -> dict[str, Any]:
    from klapper.bodies.kernels import shared

    contacts, dimension = parts.contacts, parts.layout.dimension
    found: dict[str, Any] = {"contacts": contacts.count, "tangential": contacts.tangential}
    if contacts.count == 0:
        return found
    kernels = _kernels(parts, "contacts")
    found |= {
        "gaps": kernels.gaps,
        "directions": kernels.directions,
        "curvature": kernels.curvature,
        "contact_width": _contact_width(parts),
        "laws": shared.laws,
        "constant_friction": contacts.constant,
        "straight": _straight(parts),
    }
    if contacts.groups:
        from klapper.bodies.kernels import near

        found |= {"near": near.planar if dimension == 2 else near.spatial, "most_near": _most_near(parts)}
    return found


def _contact_width(parts: Parts) -> int:
    """Most velocities that the two bodies of a contact have."""
    velocities = body_table(parts.layout)[:, 2]
    contacts, geometry = parts.contacts, parts.geometry
    pairs, balls, planes = contacts.pairs, geometry.balls.body, geometry.planes.body
    widest = 0
    if len(contacts.listed):
        other = np.empty(len(pairs.other), dtype=int)
        other[pairs.with_plane] = planes[pairs.other[pairs.with_plane]]
        other[~pairs.with_plane] = balls[pairs.other[~pairs.with_plane]]
        widest = int((velocities[balls[pairs.ball]] + velocities[other]).max())
    for group in contacts.groups:
        of_balls, of_planes = velocities[balls[group.balls]], velocities[planes[group.planes]]
        widest = max(widest, int(of_balls.max() + max(of_balls.max(), of_planes.max(initial=0))))
    return widest


def _straight(parts: Parts) -> bool:
    """Whether every contact is between a half-space that does not turn and a point whose arm stays the same."""
    contacts, layout = parts.contacts, parts.layout
    pairs, balls, planes = contacts.pairs, parts.geometry.balls, parts.geometry.planes
    if contacts.groups or not np.all(pairs.with_plane):
        return False
    turns = layout.rotates[balls.body[pairs.ball]]
    off = np.any(balls.place[pairs.ball] != 0.0, axis=1)
    if layout.dimension == 3:
        off |= balls.radius[pairs.ball] != 0.0
    return not (np.any(turns & off) or np.any(layout.rotates[planes.body[pairs.other]]))


def _most_near(parts: Parts) -> int:
    total = len(parts.contacts.listed)
    for group in parts.contacts.groups:
        balls, planes = len(group.balls), len(group.planes)
        pairs = balls * (balls - 1) // 2
        if balls > _FEW:
            pairs = min(pairs, _PAIRS_PER_BALL[parts.layout.dimension] * balls)
            planes = min(planes, _WALLS_PER_BALL)
        total += pairs + balls * planes
    return total


def _constraints(parts: Parts) -> dict[str, Any]:
    joints = parts.joints
    if not joints.count:
        return {}
    kernels = _kernels(parts, "joints")
    velocities = body_table(parts.layout)[:, 2]
    return {
        "constraints": joints.count,
        "residuals": kernels.residuals,
        "constraint_directions": kernels.constraint_directions,
        "constraint_width": max(int(velocities[list(row.bodies)].sum()) for row in joints.rows),
        "constraint_curvature": kernels.constraint_curvature,
    }
