"""A contact joins a vibrating system: impact, then the contact state and the minimal coordinates after it.

    q̇⁺ = q̇⁻ + M⁻¹ J Λ,   0 ≤ Λ ⟂ Jᵀq̇⁺ + ε Jᵀq̇⁻ ≥ 0                                  Waltersberger & Wauer (11)

J holds the closed contacts of the state before and those that join. Jᵀ M⁻¹ J is positive semidefinite, so there is
always an answer, also for dependent contacts. Contacts that separate after the impact are open; of those that do not,
the accelerations decide which ones stay closed, stick or slide. The motion goes on in the minimal coordinates of that
state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from klapper.analysis.contact_state import ContactState, has_friction, numbers_of, scale
from klapper.analysis.minimal_coordinates import MinimalCoordinates, minimal_coordinates, state_of
from klapper.analysis.stationary_problem import friction_rows
from klapper.analysis.stationary_state import StationaryState
from klapper.complementarity.dense import dense
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.arguments import finite
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.impact import Impact, ImpactLaw, ImpactProblem, Newton
from klapper.mechanics.linear_system import LinearSystem

_CLOSED = 1e-9  # of the terms of a gap, and of the gaps of the system: gaps up to it are closed
_STILL = 1e-9  # of the largest contact velocity: velocities up to it are none


@dataclass(frozen=True, eq=False)
class StateChange:
    """What an impact makes of a contact state.

    ``before``    the contact state that the joining contacts hit
    ``impact``    the impact, with its impulses and its books
    ``after``     the contact state after it, with the contact forces (m, 1 + d) [N] at that moment
    ``position``  (n,) [m], which stays; ``velocity`` (n,) [m/s] after the impact

    A cart of 1 kg hits with 2 m/s another one that leans on a wall, and stops: 2 J are lost.

    >>> from klapper.analysis import change_of_state, minimal_coordinates
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> buffer, wall = Contact("buffer", normal=[-1.0, 1.0]), Contact("wall", normal=[0.0, -1.0])
    >>> leaning = minimal_coordinates(LinearSystem([1.0, 1.0], contacts=[buffer, wall]), closed=["wall"])
    >>> change = change_of_state(leaning, [0.0, 0.0], [2.0, 0.0], joins=["buffer"])
    >>> round(change.loss, 9), change.joined, change.velocity.round(9)
    (2.0, ('buffer',), array([0., 0.]))
    """

    before: ContactState
    impact: Impact
    after: ContactState
    position: np.ndarray
    velocity: np.ndarray

    @cached_property
    def coordinates(self) -> MinimalCoordinates:
        """Minimal coordinates of the state after the impact."""
        return minimal_coordinates(self.after)

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """z and ż (size,) each, from which the motion goes on."""
        return self.coordinates.coordinates_of(self.position), self.coordinates.rates_of(self.velocity)

    @property
    def loss(self) -> float:
        """Kinetic energy lost in the impact [J]; walls that move may have added some."""
        problem = self.impact.problem
        return problem.kinetic_energy(problem.before) - problem.kinetic_energy(self.velocity)

    @property
    def joined(self) -> tuple[str, ...]:
        """Names of the contacts that are closed after the impact and were not before."""
        return self._names(np.setdiff1d(self.after.closed, self.before.closed))

    @property
    def opened(self) -> tuple[str, ...]:
        """Names of the contacts that were closed before the impact and are not after it."""
        return self._names(np.setdiff1d(self.before.closed, self.after.closed))

    def _names(self, numbers: np.ndarray) -> tuple[str, ...]:
        return tuple(self.before.system.contacts.name(int(i)) for i in numbers)

    def __str__(self) -> str:
        lines = [f"Impact takes {self.loss:.6g} J"]
        for text, names in (("joined", self.joined), ("opened", self.opened)):
            if names:
                lines.append(f"  {text}: {', '.join(names)}")
        return "\n".join([*lines, f"  closed: {', '.join(self._names(self.after.closed)) or 'none'}"])


def change_of_state(
    of: MinimalCoordinates | ContactState | StationaryState,
    position: Any,
    velocity: Any,
    *,
    joins: Iterable[str | int],
    law: ImpactLaw | None = None,
    time: float | None = None,
) -> StateChange:
    """The contact state after contacts joined another one by an impact.

    ``of``        the state before: minimal coordinates, a :class:`ContactState` or a :class:`StationaryState`
    ``position``  (n,) [m], at which the joining contacts touch; or (size,), in the minimal coordinates
    ``velocity``  (n,) [m/s] with which they do; or (size,)
    ``joins``     names or numbers of the contacts that hit
    ``law``       of the impact, default Newton's with the restitution of the contacts
    ``time``      [s], default that of the start

    Two carts, the first one hits the second, which leans on a wall; nothing rebounds:

    >>> from klapper.analysis import change_of_state, minimal_coordinates
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> carts = LinearSystem([1.0, 1.0], stiffness=[0.0, 50.0], contacts=[
    ...     Contact("buffer", normal=[-1.0, 1.0]), Contact("wall", normal=[0.0, -1.0])])
    >>> leaning = minimal_coordinates(carts, closed=["wall"])
    >>> change = change_of_state(leaning, [0.0, 0.0], [2.0, 0.0], joins=["buffer"])
    >>> print(change)
    Impact takes 2 J
      joined: buffer
      closed: buffer, wall
    """
    before = of.state if isinstance(of, MinimalCoordinates) else state_of(of)
    system = before.system
    q, v = _full(of, position, velocity, system)
    t = system.start.time if time is None else float(time)
    joining = numbers_of(system, joins)
    touching = np.union1d(before.closed, joining)
    _require_touch(system, t, q, touching, joining)
    impact = _impact_problem(system, t, q, v, touching)
    chosen = Newton() if law is None else law
    if not isinstance(chosen, ImpactLaw):
        raise InvalidModel(f"law is {law!r}; give an impact law, e.g. klapper.mechanics.impact.Newton().")
    taken = impact if chosen.in_sequence else impact.approaching(_noise(impact)).problem
    result = chosen.resolve(taken)
    after = result.after
    return StateChange(before, result, _state_after(system, t, q, after, touching, impact), q, after)


def _full(of: Any, position: Any, velocity: Any, system: LinearSystem) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity (n,), given in these or in minimal coordinates."""
    q, v = finite(position, "position"), finite(velocity, "velocity")
    if isinstance(of, MinimalCoordinates) and q.shape == v.shape == (of.size,) != (system.size,):
        return of.position(q), of.basis @ v
    for name, values in (("position", q), ("velocity", v)):
        if values.shape != (system.size,):
            raise InvalidModel(f"{name} has shape {values.shape}, expected ({system.size},).")
    return q, v


def _require_touch(
    system: LinearSystem, t: float, q: np.ndarray, touching: np.ndarray, joining: np.ndarray
) -> None:
    """Refuse contacts that are not closed, or that have no gap."""
    elements = joining[~system.contacts.has_normal[joining]]
    if len(elements):
        raise InvalidModel(
            f"'{system.contacts.name(int(elements[0]))}' is a friction element and cannot hit; name contacts with gaps."
        )
    gaps = system.gaps(t, q, touching)
    offsets = np.abs(system.gap_offsets(t))
    terms = abs(system.normal_directions).T @ np.abs(q) + np.nanmax(offsets, initial=0.0)
    away = touching[np.abs(gaps) > _CLOSED * terms[touching]]
    if len(away):
        name = system.contacts.name(int(away[0]))
        gap = float(system.gaps(t, q, away[:1])[0])
        raise InvalidModel(
            f"contact '{name}' has a gap of {gap:.3g} m at this position; it must be closed. Give the position at "
            f"which the contact touches."
        )


def _impact_problem(
    system: LinearSystem, t: float, q: np.ndarray, v: np.ndarray, touching: np.ndarray
) -> ImpactProblem:
    """The impact (11) of the touching contacts, with their friction and that of the patches they press."""
    directions = system.directions(t, q, np.arange(system.contacts.count))
    friction, _ = friction_rows(system, _speeds(system, t, v))
    shares = friction[:, touching].toarray()
    patches = np.flatnonzero(shares.any(axis=1))
    bilateral, rate = system.constraint_directions(t, q)
    tangents, tangential_rate = _patches(system, t, patches)
    return ImpactProblem(
        system.mass_matrix,
        v,
        dense(directions.normal)[:, touching],
        restitution=system.contacts.laws(touching).restitution,
        tangential=tangents if len(patches) else None,
        friction=shares[patches] if len(patches) else 0.0,
        normal_rate=directions.normal_rate[touching],
        tangential_rate=tangential_rate if len(patches) else 0.0,
        bilateral=dense(bilateral) if len(rate) else None,
        bilateral_rate=rate if len(rate) else 0.0,
        dimension=max(system.contacts.tangential, 1),
        names=[system.contacts.name(int(i)) for i in touching],
        coordinates=list(system.velocities),
    )


def _patches(system: LinearSystem, t: float, patches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scaled tangents (n, s d) and their given velocities (s, d) [m/s]."""
    m, d = system.contacts.count, system.contacts.tangential
    factors = scale(system)[patches]
    tangents = dense(system.tangential_directions).reshape(system.size, m, d)[:, patches] * factors
    rates = system.tangential_rates(t).reshape(m, d)[patches] * factors
    return tangents.reshape(system.size, -1), rates


def _state_after(
    system: LinearSystem, t: float, q: np.ndarray, v: np.ndarray, touching: np.ndarray, impact: ImpactProblem
) -> ContactState:
    """What the touching contacts do after the impact, by their velocities and then by the accelerations."""
    remains = touching[impact.normal_velocity(v) <= _noise(impact)]
    pressed = np.ones(system.contacts.count, dtype=bool)
    pressed[system.contacts.has_normal] = False
    pressed[remains] = True
    patches = np.flatnonzero(has_friction(system) & pressed)
    decision, slip = _decide(system, t, q, v, remains, patches)
    closed = remains[decision.stays_closed]
    forces = np.zeros((system.contacts.count, 1 + system.contacts.tangential))
    forces[remains, 0] = decision.normal_force
    factors = scale(system)[patches]
    if len(patches):
        forces[patches, 1:] = decision.tangential_force * factors
    open_contact = np.isin(patches, np.setdiff1d(remains, closed))
    sticks = decision.sticks & ~open_contact
    slides = ~sticks & ~open_contact
    push = decision.tangential_force[slides] if len(patches) else np.zeros((0, factors.shape[1]))
    along = np.where(np.any(slip[slides], axis=1)[:, None], -slip[slides], push)
    size = np.linalg.norm(along, axis=1, keepdims=True)
    return ContactState(
        system,
        closed,
        patches[sticks],
        patches[slides],
        slip[slides] / factors[slides],
        np.divide(along, size, out=np.zeros_like(along), where=size > 0.0),
        forces,
    )


def _decide(
    system: LinearSystem, t: float, q: np.ndarray, v: np.ndarray, remains: np.ndarray, patches: np.ndarray
) -> tuple[ModeDecision, np.ndarray]:
    """Forces and accelerations of contacts that do not separate, and scaled sliding velocities (s, d)."""
    d = system.contacts.tangential
    tangents, rates = _patches(system, t, patches)
    slip = (tangents.T @ v).reshape(len(patches), d) + rates
    noise = _STILL * max(float(np.abs(slip).max(initial=0.0)), float(np.abs(v).max(initial=0.0)))
    slip = np.where(np.linalg.norm(slip, axis=1, keepdims=True) <= noise, 0.0, slip)
    friction, limit = friction_rows(system, _speeds(system, t, v))
    normal_curve, tangential_curve = system.curvature(t, q, v, np.arange(system.contacts.count))
    factors = scale(system)[patches]
    name = system.contacts.name
    rough = len(patches) > 0
    problem = AccelerationProblem(
        system.mass_matrix,
        system.force(t, q, v),
        normal=dense(system.normal_directions)[:, remains],
        normal_bias=normal_curve[remains],
        tangential=tangents if rough else None,
        tangential_bias=(tangential_curve.reshape(-1, d)[patches] * factors).ravel() if rough else 0.0,
        sliding_velocity=slip if rough else None,
        friction=friction[patches][:, remains].toarray() if rough else 0.0,
        limit=limit[patches] if rough else 0.0,
        bilateral=dense(system.constraint_matrix) if system.constraints else None,
        bilateral_bias=system.constraint_curvature(t, q, v) if system.constraints else 0.0,
        normal_names=[name(int(i)) for i in remains],
        tangential_names=[name(int(i)) for i in patches] if rough else None,
        bilateral_names=list(system.constraints) or None,
    )
    return problem.solve(), slip


def _speeds(system: LinearSystem, t: float, v: np.ndarray) -> np.ndarray:
    """Sliding speeds (m,) [m/s] of all contacts."""
    slip = dense(system.tangential_directions).T @ v + system.tangential_rates(t)
    return np.linalg.norm(slip.reshape(system.contacts.count, -1), axis=1)


def _noise(impact: ImpactProblem) -> float:
    """Contact velocities [m/s] up to which they count as none."""
    return _STILL * float(np.abs(impact.contact_velocity(impact.before)).max(initial=0.0))
