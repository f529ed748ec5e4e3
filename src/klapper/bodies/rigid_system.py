"""Rigid bodies as a system of the waist.

    m ẍ = m g + F,   I ω̇ = −ω × I ω + M        ω, M in the body's principal axes

with springs, dampers and loads in F and M, balls and half-spaces that may touch, and joints as two-sided constraints.
The mass matrix is constant and diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from klapper.bodies.contact_geometry import ContactGeometry, smallest_axis, tangents
from klapper.bodies.contact_table import Group, RigidContacts
from klapper.bodies.joints import Joints
from klapper.bodies.layout import Layout
from klapper.bodies.loads import Loads
from klapper.bodies.picture import rigid_picture
from klapper.bodies.rotations import cross, dot
from klapper.bodies.shapes import Ball, Point
from klapper.bodies.springs import Springs
from klapper.bodies.torsion import TorsionSprings
from klapper.counting import counted
from klapper.mechanics.compiled_form import CompiledForm
from klapper.mechanics.friction import Coulomb
from klapper.mechanics.picture import Picture
from klapper.mechanics.rigid_form import RigidForm
from klapper.mechanics.system import (
    Directions,
    ForceTangents,
    Matrix,
    State,
    System,
    check_start,
)


@dataclass(frozen=True, eq=False)
class Parts:
    """What a system of bodies is made of.

    ``mass`` (nb,) [kg], ``inertia`` (nb, 3) principal moments [kg m²], ``gravity`` (3,) [m/s²]
    """

    layout: Layout
    mass: np.ndarray
    inertia: np.ndarray
    gravity: np.ndarray
    geometry: ContactGeometry
    contacts: RigidContacts
    joints: Joints
    springs: Springs
    torsion: TorsionSprings
    loads: Loads

    @cached_property
    def mass_diagonal(self) -> np.ndarray:
        """Diagonal (nv,) of the mass matrix."""
        return self._by_velocity(np.repeat(self.mass[:, None], 3, axis=1), self.inertia)

    @cached_property
    def weight(self) -> np.ndarray:
        """Generalised force (nv,) of gravity."""
        return self._by_velocity(self.mass[:, None] * self.gravity, np.zeros((self.mass.size, 3)))

    @cached_property
    def gyroscopic(self) -> bool:
        """Whether ω × I ω is not zero for every ω."""
        turning = self.inertia[self.layout.turning]
        return self.layout.dimension == 3 and bool(np.any(np.ptp(turning, axis=1) > 0.0))

    def _by_velocity(self, translation: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        values = np.zeros(self.layout.velocity_count + 1)
        rows = self.layout.rows[: self.mass.size]
        values[rows[:, :3]], values[rows[:, 3:]] = translation, rotation
        return values[:-1]


class RigidSystem(System):
    """Rigid bodies with contacts, joints, springs and loads; made by ``Planar(…).build()`` or ``Spatial(…).build()``.

    Position is (x, y, φ) in the plane and (x, y, z, w, i, j, k) in space, a unit quaternion that turns body into world
    directions; velocity is (ẋ, ẏ, φ̇) and (ẋ, ẏ, ż, ω) with ω in the body's principal axes, body after body. Particles
    have no rotation. Normals and tangents are those of :mod:`klapper.bodies.contact_geometry`.

    ``parts``        bodies, contacts, joints, springs and loads as the model collected them
    ``start``        time, position and velocity at the start, with a ``penetration`` [m] up to which it is accepted
    ``coordinates``  their names (nq,), ``velocities`` those of the velocities (nv,), ``name`` that of the system

    M v' = f(t, q, v) + J_N λ_N + J_T λ_T + J_B λ_B, q' = B(q) v. A ball of 0.1 kg that flies over a floor:

    >>> from klapper.bodies import Planar
    >>> model = Planar(gravity=(0.0, -10.0))
    >>> ball = model.body("ball", mass=0.1, inertia=1e-4, at=(0.0, 1.0), velocity=(2.0, 0.0))
    >>> _ = model.contact(ball.disc(0.25), model.wall("floor", normal=(0.0, 1.0)))
    >>> system = model.build()
    >>> system.force(0.0, system.start.position, system.start.velocity).tolist()
    [0.0, -1.0, 0.0]
    >>> system.gaps(0.0, system.start.position, np.array([0])).tolist(), system.contacts.name(0)
    ([0.75], 'ball – floor')
    """

    def __init__(
        self,
        parts: Parts,
        start: State,
        coordinates: tuple[str, ...],
        velocities: tuple[str, ...],
        *,
        name: str,
        penetration: float = 1e-9,
    ) -> None:
        self.name, self.parts, self.start = name, parts, start
        self.coordinates, self.velocities = coordinates, velocities
        self.contacts = parts.contacts
        self.constraints = parts.joints.names
        self._layout = parts.layout
        self._mass = parts.layout.diagonal(parts.mass_diagonal)
        check_start(self, penetration=penetration)

    def mass(self, q: np.ndarray) -> Matrix:
        return self._mass

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        parts = self.parts
        total = parts.weight.copy()
        if parts.gyroscopic:
            total += self._gyroscopic_force(v)
        if parts.springs.count or parts.torsion.count or parts.loads.count:
            poses = self._layout.poses(q)
            total += parts.springs.force(t, poses, v) if parts.springs.count else 0.0
            total += parts.torsion.force(poses, v) if parts.torsion.count else 0.0
            total += parts.loads.force(t, poses) if parts.loads.count else 0.0
        return total

    def _gyroscopic_force(self, v: np.ndarray) -> np.ndarray:
        """−ω × I ω of the bodies that turn (nv,)."""
        turning = self._layout.turning
        rows = self._layout.rows[turning, 3:]
        force = np.zeros(len(v))
        force[rows] = -cross(v[rows], self.parts.inertia[turning] * v[rows])
        return force

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        """Of springs and dampers; of elastic forces the symmetric part of ∂f/∂q B."""
        parts, complete = self.parts, not self.parts.gyroscopic
        by_position: Any = None
        by_velocity: Any = None
        if parts.springs.count or parts.torsion.count:
            poses = self._layout.poses(q)
            if parts.springs.count:
                by_position, by_velocity = parts.springs.tangents(t, poses)
            if parts.torsion.count:
                position, velocity = parts.torsion.tangents(poses)
                by_position, by_velocity = _sum(by_position, position), _sum(by_velocity, velocity)
        return ForceTangents(by_position, by_velocity, complete=complete)

    def advance(self, q: np.ndarray, displacement: np.ndarray) -> np.ndarray:
        return self._layout.advance(q, displacement)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._layout.rate(q, v)

    def near(self, t: float, q: np.ndarray) -> np.ndarray:
        if not self.contacts.groups:
            return np.arange(len(self.contacts.listed))
        return self.contacts.near(t, self._layout.poses(q), self.parts.geometry)

    @property
    def search_margin(self) -> float:
        """Gap [m] below which the contacts of a search are near; infinite without a search."""
        return min((group.margin for group in self.contacts.groups), default=np.inf)

    rigid_bodies = True

    @cached_property
    def affine_gaps(self) -> bool:  # type: ignore[override]
        """Whether all contacts are between centres of bodies and half-spaces that do not turn."""
        if self.contacts.groups:
            return False
        pairs, balls, planes = self.contacts.pairs, self.parts.geometry.balls, self.parts.geometry.planes
        if not np.all(pairs.with_plane):
            return False
        turns = np.any(balls.place[pairs.ball] != 0.0, axis=1) & (balls.body[pairs.ball] >= 0)
        return not (np.any(turns) or np.any(planes.body[pairs.other] >= 0))

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        if len(which) == 0:
            return np.zeros(0)
        gap = self.parts.geometry.touch(t, self._layout.poses(q), self.contacts.decode(which)).gap
        if self.contacts.groups:
            gap[self.contacts.unused(which)] = np.nan
        return gap

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions:
        if len(which) == 0:
            none = np.zeros((len(self.velocities), 0))
            return Directions(none, np.zeros(0), none, np.zeros(0))
        poses = self._layout.poses(q)
        touch = self.parts.geometry.touch(t, poses, self.contacts.decode(which))
        count, d = len(touch.gap), self.contacts.tangential
        axis = smallest_axis(touch.normal)
        sideways = tangents(touch.normal, self._layout.dimension, axis).reshape(-1, 3)
        contact = np.concatenate((np.arange(count), np.repeat(np.arange(count), d)))
        wrenches = self.parts.geometry.along(poses, touch, contact, np.concatenate((touch.normal, sideways)))
        columns = self._layout.columns(wrenches)
        sliding = touch.sliding[contact[count:]]
        return Directions(columns[:, :count], touch.opening, columns[:, count:], -dot(sideways, sliding))

    def curvature(
        self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Along the motion with v held, and the choice of tangents too."""
        return self.parts.geometry.curvature(t, self._layout.poses(q), v, self.contacts.decode(which))

    def constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        return self.parts.joints.residuals(t, self._layout.poses(q)) if self.constraints else np.zeros(0)

    def constraint_directions(self, t: float, q: np.ndarray) -> tuple[Matrix, np.ndarray]:
        if not self.constraints:
            return np.zeros((len(self.velocities), 0)), np.zeros(0)
        return self.parts.joints.directions(t, self._layout.poses(q))

    def constraint_curvature(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Along the motion with v held."""
        return self.parts.joints.curvature(t, self._layout.poses(q), v) if self.constraints else np.zeros(0)

    def potential(self, q: np.ndarray) -> float:
        """Of weight and of springs that are not on moved supports [J]."""
        parts = self.parts
        total = -float(parts.mass @ (self._layout.centres(q)[:-1] @ parts.gravity))
        if parts.springs.count or parts.torsion.count:
            poses = self._layout.poses(q)
            total += parts.springs.potential(poses) if parts.springs.count else 0.0
            total += parts.torsion.potential(poses) if parts.torsion.count else 0.0
        return total

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        """Power of applied forces, moments and moved supports, and power that dampers take [W]."""
        parts = self.parts
        load = damping = 0.0
        if not (parts.springs.count or parts.torsion.count or parts.loads.count):
            return load, damping
        poses = self._layout.poses(q)
        if parts.loads.count:
            load += float(v @ parts.loads.force(t, poses))
        if parts.springs.count:
            supports, dampers = parts.springs.powers(t, poses, v)
            load, damping = load + supports, damping + dampers
        if parts.torsion.count:
            damping += parts.torsion.damping_power(poses, v)
        return load, damping

    def picture(self, until: float = 0.0) -> Picture:
        return rigid_picture(self, max(until, self.start.time))

    def place(self, point: Point | Ball, q: np.ndarray) -> np.ndarray:
        """World place (…, 2) or (…, 3) [m] of a point or of the centre of a ball, for positions (…, nq).

        A support that is moved is shown where it was placed.
        """
        return self._over(q, lambda poses: poses.place(point.body, point.place)[: self._layout.dimension])

    def axes(self, body: Any, q: np.ndarray) -> np.ndarray:
        """R (…, d, d) that turns directions of a body into the world, for positions (…, nq)."""
        d = self._layout.dimension
        return self._over(q, lambda poses: poses.rotation[body.number, :d, :d])

    def _over(self, q: np.ndarray, function: Any) -> np.ndarray:
        positions = np.asarray(q, dtype=float)
        rows = positions.reshape(-1, positions.shape[-1])
        values = np.array([function(self._layout.poses(row)) for row in rows])
        return values.reshape(*positions.shape[:-1], *values.shape[1:])

    def compiled_form(self) -> CompiledForm:
        """The system as compiled functions and plain arrays; raises NotCompiled where a part is an own function."""
        from klapper.bodies.rigid_compiled import compiled_form

        return compiled_form(self.parts)

    @cached_property
    def why_no_heap(self) -> str:
        """Why the loop for heaps of balls cannot run this system; empty if it can."""
        parts, contacts, geometry = self.parts, self.contacts, self.parts.geometry
        counted = (
            (parts.springs.count + parts.torsion.count, "springs or dampers"),
            (parts.loads.count, "applied forces or moments"),
            (parts.joints.count, "joints"),
            (np.count_nonzero(~parts.layout.rotates[:-1]), "particles, which do not turn"),
            (np.count_nonzero(geometry.planes.moves), "moved walls"),
            (np.count_nonzero(geometry.planes.body >= 0), "walls that are fixed to a body"),
            (np.count_nonzero(geometry.balls.radius < 0.0), "clearances"),
            (sum(not _plain(law) for law in contacts.friction_laws), "friction laws that are not a number"),
            (max(len(contacts.groups) - 1, 0), "more than one search"),
            (
                sum(self._shares_bodies(group) for group in contacts.groups),
                "several balls of a search on a body",
            ),
        )
        found = [what for count, what in counted if count]
        if not found:
            return ""
        return f"the model has {', '.join(found)}; the loop for heaps knows rigid bodies, weight and contacts only."

    def _shares_bodies(self, group: Group) -> bool:
        bodies = self.parts.geometry.balls.body[group.balls]
        return len(np.unique(bodies)) < len(bodies)

    def rigid_form(self) -> RigidForm | None:
        """The system as plain arrays for the loop of heaps, or None for the reason in ``why_no_heap``."""
        if self.why_no_heap:
            return None
        parts, contacts, geometry = self.parts, self.contacts, self.parts.geometry
        nobody = Group(np.zeros(0, int), np.zeros(0, int), (Coulomb(), Coulomb()), (0.0, 0.0), 0.0)
        group = contacts.groups[0] if contacts.groups else nobody
        laws = contacts.laws(np.arange(len(contacts.listed)))
        return RigidForm(
            dimension=self._layout.dimension,
            mass=parts.mass.copy(),
            inertia=parts.inertia.copy(),
            gravity=parts.gravity.copy(),
            ball_body=geometry.balls.body.copy(),
            ball_place=geometry.balls.place.copy(),
            ball_radius=geometry.balls.radius.copy(),
            plane_point=geometry.planes.point.copy(),
            plane_normal=geometry.planes.normal.copy(),
            pair_ball=contacts.pairs.ball.copy(),
            pair_other=contacts.pairs.other.copy(),
            pair_with_plane=contacts.pairs.with_plane.copy(),
            pair_friction=laws.friction,
            pair_restitution=laws.restitution,
            group_ball=group.balls.copy(),
            group_plane=group.planes.copy(),
            group_friction=np.array([law.coefficient(0.0) for law in group.friction]),
            group_restitution=np.array(group.restitution),
        )

    def __repr__(self) -> str:
        return (
            f"RigidSystem('{self.name}', {self.parts.mass.size} bodies, {self.contacts.count} possible contacts, "
            f"{counted(len(self.constraints), 'constraint')})"
        )


def _plain(law: Any) -> bool:
    return isinstance(law, Coulomb)


def _sum(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first + second
