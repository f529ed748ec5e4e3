"""Bodies at large strains as one mechanical system: a :class:`klapper.mechanics.System` like any other.

    M q̈ = −∂V/∂q + loads + J_N λ_N + J_T λ_T + J_B λ_B

Coordinates q are the positions of all nodes, body after body, node after node, not displacements.   Hesch (2.133)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.applied_loads import AppliedLoads, LoadAt
from klapper.continuum.body import Body, Pull
from klapper.continuum.contact.contacts import ContinuumContacts
from klapper.continuum.contact.interface import Interface
from klapper.continuum.contact.pairing import Pairing
from klapper.continuum.contact.tying import Tie
from klapper.continuum.holding import Holding
from klapper.continuum.loads import DeadLoad, FollowingLoad, named
from klapper.continuum.massless import extrapolation
from klapper.continuum.pattern import Pattern
from klapper.continuum.picture import continuum_picture
from klapper.continuum.supports import Support
from klapper.continuum.walls import Wall, WallContacts
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.compiled_form import CompiledForm, NotCompiled
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Picture
from klapper.mechanics.system import Directions, ForceTangents, State, System, check_geometry


class ForceBetween(NamedTuple):
    """Forces (n,) [N] of a step between two configurations, and their derivative (n, n) by the second one or None."""

    force: np.ndarray
    slope: Any


class Continuum(System):
    """Hyperelastic bodies with loads, supports, walls, contact between them and ties.

    ``bodies``    ``Solid`` or ``Cable``, all in the plane or all in space, of different names
    ``loads``     ``Gravity``, ``Traction``, ``NodeForce``, ``Pressure``, ``Torque``
    ``supports``  ``Support``: nodes that are held or moved
    ``walls``     ``Wall``: rigid half-spaces that nodes may touch
    ``interfaces``  ``NodeToSegment`` or ``Mortar``: surfaces of bodies that may touch
    ``ties``      ``Tie``: surfaces that stay together
    ``position``  by body: start (n, d) [m], the reference configuration if not given
    ``velocity``  by body: start (n, d) or one vector (d,) [m/s], at rest if not given
    ``lumped``    a diagonal mass matrix
    ``massless``  (body, surface) pairs whose nodes carry no mass, see :mod:`klapper.continuum.massless`
    ``time``      [s] of the start; ``penetration`` [m] up to which the start is accepted
    ``name``      of the system

    A bar of 6 kg that is thrown with 2 m/s over a floor; ½ m v² = 12 J:

    >>> from klapper.continuum import Gravity, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> floor = Wall("bar", "bottom", point=(0.0, -0.1), normal=(0.0, 1.0))
    >>> world = Continuum([bar], loads=[Gravity((0.0, -9.81))], walls=[floor], velocity={"bar": (2.0, 0.0)})
    >>> v = world.start.velocity
    >>> len(world.coordinates), round(0.5 * float(v @ world.mass(world.start.position) @ v), 9), world.contacts.count
    (12, 12.0, 3)
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        *,
        loads: Sequence[DeadLoad | FollowingLoad] = (),
        supports: Sequence[Support] = (),
        walls: Sequence[Wall] = (),
        interfaces: Sequence[Interface] = (),
        ties: Sequence[Tie] = (),
        position: Mapping[str, Any] | None = None,
        velocity: Mapping[str, Any] | None = None,
        lumped: bool = False,
        massless: Sequence[tuple[str, str]] = (),
        time: float = 0.0,
        penetration: float = 1e-9,
        name: str = "continuum",
    ) -> None:
        self.bodies = _different(bodies)
        self.name, self.dimension = name, self.bodies[0].dimension
        counts = [len(solid.mesh.nodes) for solid in self.bodies]
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self.offsets = {solid.name: int(s) for solid, s in zip(self.bodies, self._starts, strict=False)}
        self.size = int(self._starts[-1]) * self.dimension
        self.coordinates = tuple(
            f"{solid.name} {node} {axis}"
            for solid in self.bodies
            for node in range(len(solid.mesh.nodes))
            for axis in "xyz"[: self.dimension]
        )
        self.velocities = self.coordinates
        self._loads = AppliedLoads(loads, self.bodies, self.offsets, time)
        self._holding = Holding(supports, ties, self.bodies, self.offsets, self._reference)
        self.constraints = self._holding.names
        self.contacts = ContinuumContacts(
            WallContacts(walls, self.bodies, self.offsets),
            interfaces,
            self.bodies,
            self.offsets,
            self._reference.reshape(-1, self.dimension),
        )
        if lumped and massless:
            raise InvalidModel("a lumped mass cannot be taken from a surface; leave lumped or massless out.")
        self._lumped, self._massless = lumped, self._extrapolation(massless)
        self.start = State(
            number(time, "time"),
            self._by_body(position, True).ravel(),
            self._by_body(velocity, False).ravel(),
        )
        check_geometry(self, penetration=penetration)

    def positions(self, q: np.ndarray, body: str) -> np.ndarray:
        """Node positions (n, d) [m] of one body; the same for velocities."""
        solid = named(self.bodies, body)
        begin = self.offsets[body] * self.dimension
        return q[begin : begin + solid.mesh.nodes.size].reshape(-1, self.dimension)

    def picture(self, until: float = 0.0) -> Picture:
        return continuum_picture(self)

    def compiled_form(self) -> CompiledForm:
        raise NotCompiled(
            "finite elements at large strains need sparse matrices that change in every step; the compiled step has "
            "constant, banded or small ones"
        )

    def mass(self, q: np.ndarray) -> sparse.csr_array:
        return self.mass_matrix

    @cached_property
    def mass_matrix(self) -> sparse.csr_array:
        """M (n, n) [kg], constant, with the sparsity of the stiffness unless it is lumped."""
        parts = [solid.mass(lumped=self._lumped) for solid in self.bodies]
        matrix = self._pattern.matrix([*parts, *self._loads.no_slopes()])
        if self._massless is not None:
            return (self._massless.T @ matrix @ self._massless).tocsr()
        if self._lumped:
            return sparse.diags_array(matrix.diagonal()).tocsr()
        return matrix

    @property
    def singular_mass(self) -> bool:
        """Whether some nodes carry no mass."""
        return self._massless is not None

    def carried_velocity(self, v: np.ndarray) -> np.ndarray:
        """Velocities (n,) in which nodes without mass move with those that carry theirs: the same momentum."""
        return v if self._massless is None else self._massless @ v

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pulls = [solid.pull(self.positions(q, solid.name)).force for solid in self.bodies]
        return self._loads.force(t, q) - self._pattern.vector([*pulls, *self._loads.no_forces()])

    def load_at(self, t: float, q: np.ndarray) -> LoadAt:
        """All loads at a time [s] and a configuration: that part of the force which a load factor scales."""
        return self._loads.at(t, q)

    def stiffness(self, q: np.ndarray) -> sparse.csr_array:
        """∂²V/∂q² (n, n) [N/m] of the bodies."""
        pulls = [solid.pull(self.positions(q, solid.name), stiffness=True) for solid in self.bodies]
        return self._pattern.matrix([*(_matrix(pull) for pull in pulls), *self._loads.no_slopes()])

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        pulls = [solid.pull(self.positions(q, solid.name), stiffness=True) for solid in self.bodies]
        parts = [*(-_matrix(pull) for pull in pulls), *self._loads.slopes(t, q)]
        return ForceTangents(self._pattern.matrix(parts), None, self._loads.rate(t, q), complete=True)

    def force_between(
        self, t: float, before: np.ndarray, after: np.ndarray, *, slope: bool = False, exact: bool = True
    ) -> ForceBetween:
        """Mean force of a step between two configurations: its elastic part does exactly the work V(before) − V(after).

        Loads are taken at the time ``t`` [s] and at the mean configuration. ``exact`` False takes the elastic forces of
        the mean configuration instead: the midpoint rule.
        """
        middle = 0.5 * (before + after)
        pulls = []
        for solid in self.bodies:
            ask = solid.pull_between if exact else solid.pull_at_mean
            pulls.append(
                ask(self.positions(before, solid.name), self.positions(after, solid.name), stiffness=slope)
            )
        elastic = self._pattern.vector([*(pull.force for pull in pulls), *self._loads.no_forces()])
        force = self._loads.force(t, middle) - elastic
        if not slope:
            return ForceBetween(force, None)
        parts = [*(-_matrix(pull) for pull in pulls), *(0.5 * s for s in self._loads.slopes(t, middle))]
        return ForceBetween(force, self._pattern.matrix(parts))

    def least_volume(self, q: np.ndarray) -> float:
        """Smallest det F of all bodies: not above zero where a cell is turned inside out."""
        return min(solid.least_volume(self.positions(q, solid.name)) for solid in self.bodies)

    def elastic_energy(self, q: np.ndarray) -> float:
        """[J]."""
        return sum(solid.energy(self.positions(q, solid.name)) for solid in self.bodies)

    def potential(self, q: np.ndarray) -> float:
        return self.elastic_energy(q) - float(self._loads.steady @ (q - self._reference))

    def potential_gradient(self, q: np.ndarray) -> np.ndarray:
        """∂V/∂q (n,) [N]."""
        pulls = [solid.pull(self.positions(q, solid.name)).force for solid in self.bodies]
        return self._pattern.vector([*pulls, *self._loads.no_forces()]) - self._loads.steady

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        return float(v @ (self._loads.force(t, q) - self._loads.steady)), 0.0

    def linear_momentum(self, v: np.ndarray) -> np.ndarray:
        """L (d,) [kg m/s]."""
        return (self.mass_matrix @ v).reshape(-1, self.dimension).sum(axis=0)

    def angular_momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """J about the origin [kg m²/s]: (1,) in the plane, (3,) in space."""
        return self.resultants(q, self.mass_matrix @ v)[1]

    def resultants(self, q: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sum (d,) [N] of forces (n,) on the coordinates, and their moment about the origin [N m]."""
        place, parts = q.reshape(-1, self.dimension), force.reshape(-1, self.dimension)
        if self.dimension == 2:
            moment = np.array([np.sum(place[:, 0] * parts[:, 1] - place[:, 1] * parts[:, 0])])
        else:
            moment = np.cross(place, parts).sum(axis=0)
        return parts.sum(axis=0), moment

    def pair(
        self, t: float, q: np.ndarray, travel: float, start: np.ndarray, *, corners: bool = False
    ) -> Pairing:
        """Which parts meet at q, when nothing moved farther than ``travel`` [m] since ``start`` (n,); with ``corners``
        nodes in re-entrant corners meet two."""
        return self.contacts.pair(q, travel, start, corners=corners)

    def near(self, t: float, q: np.ndarray) -> np.ndarray:
        return self.contacts.near(q)

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        return self.contacts.gaps(q, which)

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions:
        return self.contacts.directions(q, which)

    def contact_hessian(self, t: float, q: np.ndarray, which: np.ndarray, force: np.ndarray) -> Any:
        """Σ force_k ∂²g_k/∂q² (n, n) [N/m]."""
        return self.contacts.hessian(q, which, force)

    def curvature(
        self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if not self.contacts.affine:
            return super().curvature(t, q, v, which)
        return np.zeros(len(which)), np.zeros(len(which) * self.contacts.tangential)

    affine_constraints = True
    """Supports hold single coordinates: their directions do not change."""

    @property
    def affine_gaps(self) -> bool:  # type: ignore[override]
        """Whether there are walls only."""
        return self.contacts.affine

    def constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        return self._holding.residuals(t, q)

    def constraint_directions(self, t: float, q: np.ndarray) -> tuple[sparse.csc_array, np.ndarray]:
        return self._holding.directions(t)

    def constraint_curvature(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._holding.curvature(t)

    def __repr__(self) -> str:
        return f"Continuum({', '.join(repr(solid) for solid in self.bodies)})"

    @cached_property
    def _reference(self) -> np.ndarray:
        return np.concatenate([solid.mesh.nodes.ravel() for solid in self.bodies])

    @cached_property
    def _pattern(self) -> Pattern:
        places = [solid.places + self.dimension * self.offsets[solid.name] for solid in self.bodies]
        return Pattern.of(self.size, [*places, *self._loads.places])

    def _extrapolation(self, massless: Sequence[tuple[str, str]]) -> sparse.csr_array | None:
        """P (n, n) of all surfaces without mass."""
        if not len(massless):
            return None
        count = self.size // self.dimension
        total = sparse.eye_array(count, format="csr")
        for body, surface in massless:
            first, solid = self.offsets[named(self.bodies, body).name], named(self.bodies, body)
            before, behind = first, count - first - len(solid.mesh.nodes)
            total = total @ sparse.block_diag(
                [sparse.eye_array(before), extrapolation(solid, surface), sparse.eye_array(behind)],
                format="csr",
            )
        return sparse.csr_array(sparse.kron(total, sparse.eye_array(self.dimension)))

    def _by_body(self, given: Mapping[str, Any] | None, reference: bool) -> np.ndarray:
        """Start (n, d) of all nodes."""
        parts = []
        given = {} if given is None else given
        for name in given:
            named(self.bodies, name)
        for solid in self.bodies:
            shape = solid.mesh.nodes.shape
            if solid.name not in given:
                parts.append(solid.mesh.nodes if reference else np.zeros(shape))
                continue
            value = finite(given[solid.name], f"the start of '{solid.name}'")
            allowed = (shape,) if reference else (shape, shape[1:])
            if value.shape not in allowed:
                raise InvalidModel(
                    f"the start of '{solid.name}' has shape {value.shape}; expected {' or '.join(map(str, allowed))}."
                )
            parts.append(np.broadcast_to(value, shape))
        return np.concatenate(parts)


def rigid_velocity(solid: Body, velocity: Any, spin: float) -> np.ndarray:
    """Velocities (n, d) [m/s] of the nodes of a body that moves and turns as if it were rigid.

    The body ``solid`` moves with ``velocity`` (d,) [m/s] and turns about its middle with ``spin`` [rad/s]. v = v_C + Ω
    × (X − X_C). A corner 1 m to the right of and 0.5 m above the middle, with 3 m/s and 2 rad/s:

    >>> from klapper.continuum import NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> rigid_velocity(bar, (3.0, 0.0), 2.0)[-1].round(9).tolist()
    [2.0, 2.0]
    """
    share = solid.volume_load()
    centre = share @ solid.mesh.nodes / share.sum()
    arm = solid.mesh.nodes - centre
    turned = np.zeros_like(arm)
    turned[:, 0], turned[:, 1] = -spin * arm[:, 1], spin * arm[:, 0]
    return turned + np.asarray(velocity, dtype=float)


def _different(bodies: Sequence[Body]) -> tuple[Body, ...]:
    listed = tuple(bodies) if isinstance(bodies, Sequence) else (bodies,)
    if not listed or not all(isinstance(solid, Body) for solid in listed):
        raise InvalidModel("a continuum needs a list of at least one Solid or Cable.")
    names = [solid.name for solid in listed]
    if len(set(names)) < len(names):
        raise InvalidModel(
            f"two bodies are called '{next(n for n in names if names.count(n) > 1)}'; names must differ."
        )
    if len({solid.dimension for solid in listed}) > 1:
        raise InvalidModel("some bodies lie in the plane and some in space; one continuum needs one kind.")
    return listed


def _matrix(pull: Pull) -> np.ndarray:
    assert pull.stiffness is not None
    return pull.stiffness
