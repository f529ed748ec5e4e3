"""A contact state of a linear system: which directions are held, and along which ones the forces act.

    M q̈ + (D + D_R) q̇ + K q = f + F λ,   Wᵀ q + w₀ = 0,   F = W + R                Waltersberger & Wauer (7)

W holds two-sided constraints, normals of closed contacts and tangents of sticking ones. A sliding contact is held in
its normal direction only, but its friction follows the normal force: R adds μ J_T r to the column of the normal, r the
direction of the friction force. D_R is what friction does when the sliding velocity turns or changes its size.
Anisotropic contacts are treated in scaled tangential directions, in which their friction ellipse is a disc.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.analysis.stationary_state import StationaryState
from klapper.contact_states import SLIP, STICK
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_DIFFERENCE = 6.0e-6  # relative change of a speed over which the slope of a friction coefficient is taken


@dataclass(frozen=True, eq=False)
class ContactState:
    """What holds a linear system of n coordinates and m contacts.

    ``closed``              numbers (a,) of the contacts whose gap is held at zero
    ``sticking``            numbers (b,) of the contacts and friction elements whose tangential motion is held
    ``sliding``             numbers (c,) of those that slide with friction
    ``sliding_velocity``    (c, d) [m/s]; zero where only the direction of the friction force is known
    ``friction_direction``  (c, d), unit vectors of the friction forces in the scaled directions
    ``forces``              (m, 1 + d) [N] of the contacts at rest, None if they are not known
    """

    system: LinearSystem
    closed: np.ndarray
    sticking: np.ndarray
    sliding: np.ndarray
    sliding_velocity: np.ndarray
    friction_direction: np.ndarray
    forces: np.ndarray | None = None

    @classmethod
    def at(cls, rest: StationaryState) -> ContactState:
        """The state of a stationary state: its loaded contacts are held, those that stick in all directions."""
        system = rest.system
        normal = system.contacts.has_normal
        loaded = rest.loaded
        sliding = np.flatnonzero((rest.states == SLIP) & has_friction(system))
        velocity = tangential_at_rest(system)[sliding]
        direction = -_unit(velocity * scale(system)[sliding])
        pushed = ~np.any(direction, axis=1)
        direction[pushed] = _unit(rest.forces[sliding[pushed], 1:] / scale(system)[sliding[pushed]])
        return cls(
            system,
            loaded[normal[loaded]],
            np.flatnonzero(rest.states == STICK),
            sliding,
            velocity,
            direction,
            rest.forces,
        )

    @classmethod
    def of(
        cls,
        system: LinearSystem,
        closed: Iterable[str | int] = (),
        sticking: Iterable[str | int] | None = None,
    ) -> ContactState:
        """The state with these contacts ``closed`` and ``sticking``, by name or number.

        Without ``sticking`` the closed contacts with friction and the friction elements stick unless a belt makes them
        slide. Friction elements need not be listed as closed.
        """
        require_linear(system)
        shut = numbers_of(system, closed)
        rough = has_friction(system)
        elements = np.flatnonzero(~system.contacts.has_normal)
        candidates = np.union1d(shut[rough[shut]], elements)
        velocity = tangential_at_rest(system)
        moving = np.any(velocity, axis=1)
        stick = candidates[~moving[candidates]] if sticking is None else numbers_of(system, sticking)
        _require_candidates(system, stick, candidates, moving)
        slide = np.setdiff1d(candidates, stick)
        for contact in slide[~moving[slide]]:
            raise InvalidModel(
                f"contact '{system.contacts.name(int(contact))}' has friction, but neither sticks nor slides over a "
                f"belt, so the sense of its friction is not known; name it in sticking, or give a StationaryState."
            )
        direction = -_unit(velocity[slide] * scale(system)[slide])
        return cls(system, np.setdiff1d(shut, elements), stick, slide, velocity[slide], direction)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the held directions (h,): constraints, normals, tangents."""
        contacts = self.system.contacts
        tangents = [
            f"friction of {contacts.name(int(i))}" + (f" {a + 1}" if self._width > 1 else "")
            for i, a in self.held_tangents
        ]
        return (*self.system.constraints, *(contacts.name(int(i)) for i in self.closed), *tangents)

    @cached_property
    def held(self) -> sparse.csc_array:
        """W (n, h)."""
        tangential = [int(i) * self._width + a for i, a in self.held_tangents]
        return sparse.hstack(
            [
                _columns(self.system.constraint_matrix),
                _columns(self.system.normal_directions)[:, self.closed],
                _columns(self.system.tangential_directions)[:, tangential],
            ],
            format="csc",
        )

    @cached_property
    def friction(self) -> sparse.csc_array:
        """R (n, h): the friction of sliding contacts that follows the held normal forces."""
        start = len(self.system.constraints)
        rows = self.friction_matrix[self.sliding][:, self.closed]
        follows = self._pushes @ rows
        before = sparse.csc_array((self.system.size, start))
        after = sparse.csc_array((self.system.size, len(self.held_tangents)))
        return sparse.hstack([before, follows, after], format="csc")

    @cached_property
    def turning(self) -> sparse.csr_array:
        """D_R (n, n) [N s/m]: −∂(J_T λ_T)/∂q̇ at fixed normal forces."""
        blocks = sparse.block_diag([*self.turning_blocks, np.zeros((0, 0))], format="csr")
        scaled = self.sliding_tangents
        return (scaled @ blocks @ scaled.T).tocsr()

    @cached_property
    def turning_blocks(self) -> list[np.ndarray]:
        """ρ/|v| (1 − r rᵀ) + ∂ρ/∂|v| r rᵀ (d, d) of every sliding contact, in the scaled directions."""
        speeds = np.linalg.norm(self.sliding_velocity * scale(self.system)[self.sliding], axis=1)
        slopes = self._limit_slopes(speeds)
        blocks = []
        for k, contact in enumerate(self.sliding):
            along = np.outer(self.friction_direction[k], self.friction_direction[k])
            across = np.eye(self._width) - along
            if speeds[k] == 0.0 or not (np.any(across) or slopes[k]):
                blocks.append(np.zeros((self._width, self._width)))
                continue
            self._require_forces(int(contact))
            blocks.append(self.limits[contact] / speeds[k] * across + slopes[k] * along)
        return blocks

    @cached_property
    def friction_matrix(self) -> sparse.csr_array:
        """Friction limits over normal forces, (m, m): μ of each contact, shares of friction elements."""
        return _rows(self._laws(1.0).friction)

    @cached_property
    def limits(self) -> np.ndarray:
        """ρ (m,) [N]: friction limits at rest."""
        forces = np.zeros(self.system.contacts.count) if self.forces is None else self.forces[:, 0]
        return self.friction_matrix @ forces + np.asarray(self._laws(1.0).limit, dtype=float)

    @cached_property
    def held_tangents(self) -> list[tuple[int, int]]:
        """Contact and direction of the held tangents; directions that a contact does not have are left out."""
        parts = self.system.contacts.parts
        return [
            (int(i), a)
            for i in self.sticking
            for a in range(0 if parts[i].tangents is None else len(parts[i].tangents))
        ]

    @property
    def _width(self) -> int:
        return self.system.contacts.tangential

    @cached_property
    def sliding_tangents(self) -> sparse.csc_array:
        """Scaled tangents (n, c d) of the sliding contacts."""
        columns = (self.sliding[:, None] * self._width + np.arange(self._width)).ravel()
        ratio = sparse.diags_array(scale(self.system)[self.sliding].ravel())
        return (_columns(self.system.tangential_directions)[:, columns] @ ratio).tocsc()

    @cached_property
    def _pushes(self) -> sparse.csc_array:
        """(n, c): what friction of 1 N does, by sliding contact."""
        directions = sparse.block_diag(
            [*(row[:, None] for row in self.friction_direction), np.zeros((0, 0))], format="csc"
        )
        return self.sliding_tangents @ directions

    def _laws(self, factor: float) -> ContactLaws:
        """The laws at the sliding speeds of the state times ``factor``."""
        speeds = np.zeros(self.system.contacts.count)
        speeds[self.sliding] = factor * np.linalg.norm(self.sliding_velocity, axis=1)
        return self.system.contacts.laws(np.arange(self.system.contacts.count), speeds)

    def _limit_slopes(self, speeds: np.ndarray) -> np.ndarray:
        """∂ρ/∂|v| (c,) [N s/m], by differences; zero for Coulomb's law."""
        if self.system.contacts.constant or not len(self.sliding):
            return np.zeros(len(self.sliding))
        for contact in self.sliding:
            self._require_forces(int(contact))
        assert self.forces is not None
        ahead, behind = (
            (_rows(self._laws(factor).friction) @ self.forces[:, 0])[self.sliding]
            for factor in (1 + _DIFFERENCE, 1 - _DIFFERENCE)
        )
        return (ahead - behind) / (2 * _DIFFERENCE * np.where(speeds > 0.0, speeds, np.inf))

    def _require_forces(self, contact: int) -> None:
        if self.forces is None:
            raise InvalidModel(
                f"friction of contact '{self.system.contacts.name(contact)}' turns with the sliding velocity or "
                f"depends on its size, so its normal force is needed; give a StationaryState instead of the system."
            )


def require_linear(system: Any) -> None:
    """Refuse what has no constant matrices, or contacts that are springs by reduction."""
    if not isinstance(system, LinearSystem):
        raise InvalidModel(f"the system is a {type(system).__name__}; expected a LinearSystem.")
    if system.compliance is not None:
        raise InvalidModel(
            f"'{system.name}' has contact compliance, so closed contacts still move; reduce it with rigid contacts, "
            f"e.g. by modes."
        )


def numbers_of(system: LinearSystem, given: Iterable[str | int]) -> np.ndarray:
    """Numbers of contacts in rising order, from names or numbers."""
    if isinstance(given, str):
        given = [given]
    chosen = set()
    for one in given:
        number = system.contacts.number(one) if isinstance(one, str) else int(one)
        if not 0 <= number < system.contacts.count:
            raise InvalidModel(
                f"there is no contact {number}; contacts are numbered from 0 to {system.contacts.count - 1}."
            )
        chosen.add(number)
    return np.array(sorted(chosen), dtype=int)


def has_friction(system: LinearSystem) -> np.ndarray:
    """Which contacts and friction elements (m,) can carry a tangential force."""
    return np.array([part.rough for part in system.contacts.parts], dtype=bool)


def tangential_at_rest(system: LinearSystem) -> np.ndarray:
    """a_T (m, d) [m/s]: the sliding velocities over belts while the structure rests."""
    shape = (system.contacts.count, system.contacts.tangential)
    return system.tangential_rates(system.start.time).reshape(shape)


def scale(system: LinearSystem) -> np.ndarray:
    """(m, d): factors that make the friction ellipse of every contact a disc."""
    factors = np.ones((system.contacts.count, system.contacts.tangential))
    if system.contacts.tangential == 2:
        factors[:, 1] = system.contacts.laws(np.arange(system.contacts.count)).ratio
    return factors


def _require_candidates(
    system: LinearSystem, stick: np.ndarray, candidates: np.ndarray, moving: np.ndarray
) -> None:
    for contact in stick:
        name = system.contacts.name(int(contact))
        if contact not in candidates:
            raise InvalidModel(
                f"contact '{name}' cannot stick: it is not closed or has no friction. Sticking contacts are among "
                f"the closed ones with friction."
            )
        if moving[contact]:
            raise InvalidModel(
                f"contact '{name}' cannot stick: its belt moves while the structure rests. Leave it out of sticking."
            )


def _unit(rows: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, size, out=np.zeros_like(rows), where=size > 0.0)


def _columns(matrix: Any) -> sparse.csc_array:
    return sparse.csc_array(matrix)


def _rows(friction: Any) -> sparse.csr_array:
    if np.ndim(friction) == 1:
        return sparse.diags_array(np.asarray(friction, dtype=float)).tocsr()
    return sparse.csr_array(friction)
