"""The contact and joint forces that a system may have at a state, without a run before it.

The acceleration-level problem tells which contacts press, stick and slide; all forces of this contact state form a
convex set (:mod:`klapper.mechanics.force_sets`), whose bounds are linear or cone programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.complementarity.selection import ForceSet
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.arguments import finite
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.force_sets import SLIP_SPEED, mode_forces
from klapper.mechanics.system import System, require_system

_TOUCH = 1e-9  # [m]: a gap up to which a contact is closed
_ROUND_OFF = 1e-9  # of the terms of a velocity


@dataclass(frozen=True, eq=False)
class PossibleForces:
    """All forces of a system at a state, in N (moments of joints in N m).

    ``set``       the set of forces, for selection rules; friction rows of anisotropic contacts are scaled there
    ``scale``     (r,) by which its rows are multiplied to give forces, dimensionless
    ``decision``  what every contact does, and the accelerations

    A block of 20 N on two feet side by side:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> feet = [Contact(name, normal=[1.0]) for name in ("left", "right")]
    >>> found = possible_forces(LinearSystem([2.0], force=[-20.0], contacts=feet))
    >>> found.determined.tolist(), [round(end, 9) for end in found.between("left normal")]
    ([False, False], [0.0, 20.0])
    """

    set: ForceSet
    scale: np.ndarray
    decision: ModeDecision

    @property
    def names(self) -> tuple[str, ...]:
        """Of the forces (r,), e.g. "A normal", "A tangential 1", "hinge x"."""
        return self.set.names

    @property
    def lower(self) -> np.ndarray:
        """Least value of each force (r,) [N]; −inf where there is none."""
        return self.set.lower * self.scale

    @property
    def upper(self) -> np.ndarray:
        """Greatest value of each force (r,) [N]; inf where there is none."""
        return self.set.upper * self.scale

    @property
    def determined(self) -> np.ndarray:
        """Which forces (r,) are unique."""
        return self.set.determined

    @cached_property
    def motion_unique(self) -> bool:
        """Whether all these forces give the same accelerations."""
        return self.set.motion_unique

    def between(self, name: str) -> tuple[float, float]:
        """Least and greatest value [N] of the force with this ``name``."""
        if name not in self.names:
            raise InvalidModel(f"there is no force '{name}'; forces are {', '.join(self.names)}.")
        row = self.names.index(name)
        return float(self.lower[row]), float(self.upper[row])

    def __str__(self) -> str:
        motion = "unique" if self.motion_unique else "not unique: it depends on the forces"
        if not self.names:
            return "No contact is closed: there are no forces."
        lines = [f"{len(self.names)} forces, {int(self.determined.sum())} unique; the motion is {motion}"]
        width = max(len(name) for name in self.names)
        for name, low, high, unique in zip(self.names, self.lower, self.upper, self.determined, strict=True):
            value = f"{0.5 * (low + high):.6g}" if unique else f"{low:.6g} … {high:.6g}"
            lines.append(f"  {name:<{width}}  {value}")
        return "\n".join([*lines, *(f"  {text}" for text in self.set.words)])


def possible_forces(
    system: System,
    *,
    time: float = 0.0,
    position: Any = None,
    velocity: Any = None,
    touch: float = _TOUCH,
    slip_speed: float = SLIP_SPEED,
) -> PossibleForces:
    """All contact and joint forces that a system may have at a state.

    ``system``      any system with rigid contacts
    ``time``        t [s]
    ``position``    q (nq,) [m, rad]; None: that of the start of the system
    ``velocity``    v (nv,) [m/s, rad/s]; None: that of the start of the system
    ``touch``       gap [m] up to which a contact is closed
    ``slip_speed``  [m/s] up to which a contact is at rest

    They belong to the contact state that the accelerations lead to: closed contacts stay closed, sticking ones stick,
    sliding ones slide. A state in which a contact approaches is refused, as it is an impact.

    A beam of 100 N on three rigid supports, its middle between the two on the left:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> supports = [Contact(name, normal=[1.0, x]) for name, x in (("A", -1.0), ("B", 0.5), ("C", 2.0))]
    >>> beam = LinearSystem([10.0, 3.0], force=[-100.0, 0.0], contacts=supports)
    >>> print(possible_forces(beam))
    3 forces, 0 unique; the motion is unique
      A normal  33.3333 … 66.6667
      B normal  0 … 66.6667
      C normal  0 … 33.3333
      normal forces of A, B and C: only A normal - C normal, 0.5 B normal + C normal are determined
    """
    require_system(system)
    if system.compliance is not None:
        raise InvalidModel("Contacts of this system are compliant: their forces follow from the position.")
    q = (
        system.start.position
        if position is None
        else finite(position, "position", system.start.position.shape)
    )
    v = (
        system.start.velocity
        if velocity is None
        else finite(velocity, "velocity", system.start.velocity.shape)
    )
    problem, scale = _problem(system, float(time), q, v, touch, slip_speed)
    decision = problem.solve()
    return PossibleForces(mode_forces(decision, mass=dense(system.mass(q))), scale, decision)


def _problem(
    system: System, t: float, q: np.ndarray, v: np.ndarray, touch: float, slip_speed: float
) -> tuple[AccelerationProblem, np.ndarray]:
    """Accelerations of the contacts that are closed and do not separate, and the scale (r,) of its rows."""
    contact = _closed(system, t, q, v, touch, slip_speed)
    directions, d = system.directions(t, q, contact), system.contacts.tangential
    slip = directions.tangential_velocity(v).reshape(len(contact), d)
    terms = np.asarray(abs(directions.tangential).T @ np.abs(v)) + np.abs(directions.tangential_rate)
    rest = np.maximum(slip_speed, _ROUND_OFF * terms.reshape(len(contact), d).max(axis=1, initial=0.0))
    moves = np.linalg.norm(slip, axis=1) > rest
    slip = np.where(moves[:, None], slip, 0.0)
    laws = system.contacts.laws(contact, np.linalg.norm(slip, axis=1))
    normal = np.flatnonzero(laws.normal)
    friction = laws.friction_matrix[:, normal]
    patch = np.flatnonzero((friction.sum(axis=1) > 0.0) | (laws.limit > 0.0)) if d else normal[:0]
    scale = np.ones((len(contact), d))
    if d == 2:
        scale[:, 1] = laws.ratio
    columns = (patch[:, None] * d + np.arange(d)).ravel()
    b_n, b_t = system.curvature(t, q, v, contact) if len(contact) else (np.zeros(0), np.zeros(0))
    bilateral = dense(system.constraint_directions(t, q)[0])
    names = [system.contacts.name(int(i)) for i in contact]
    problem = AccelerationProblem(
        system.mass(q),
        system.force(t, q, v),
        normal=dense(directions.normal)[:, normal],
        normal_bias=b_n[normal],
        tangential=(dense(directions.tangential) * scale.ravel())[:, columns],
        tangential_bias=(b_t * scale.ravel())[columns],
        sliding_velocity=(slip * scale)[patch].reshape(len(patch), max(d, 1)),
        friction=friction[patch],
        limit=laws.limit[patch],
        bilateral=bilateral,
        bilateral_bias=system.constraint_curvature(t, q, v),
        normal_names=[names[i] for i in normal],
        tangential_names=[names[i] for i in patch],
        bilateral_names=system.constraints,
    )
    return problem, np.concatenate([np.ones(len(normal)), scale[patch].ravel(), np.ones(bilateral.shape[1])])


def _closed(
    system: System, t: float, q: np.ndarray, v: np.ndarray, touch: float, slip_speed: float
) -> np.ndarray:
    """Numbers (k,) of the contacts that are closed and do not separate, and of the friction elements."""
    near = system.near(t, q)
    gaps = system.gaps(t, q, near)
    near = near[np.isnan(gaps) | (gaps <= touch)].astype(np.int64)
    directions, presses = system.directions(t, q, near), system.contacts.laws(near).normal
    terms = np.asarray(abs(directions.normal).T @ np.abs(v)) + np.abs(directions.normal_rate)
    still = np.maximum(slip_speed, _ROUND_OFF * terms)
    opening = directions.normal_velocity(v)
    hits = np.flatnonzero(presses & (opening < -still))
    if hits.size:
        raise InvalidModel(
            f"contact '{system.contacts.name(int(near[hits[0]]))}' is closed and approaches with "
            f"{-opening[hits[0]]:.3g} m/s: the velocity jumps, and there are impulses in place of forces. Give the "
            f"velocity after the impact."
        )
    return near[~presses | (opening <= still)]
