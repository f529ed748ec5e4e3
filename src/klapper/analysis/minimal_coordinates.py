"""Minimal coordinates of a linear system in a contact state.

    q = q₀ + B z,   B = [B₀, n′₁, …],   Jᵀ B₀ = 0,   Jᵀ J₀′ = 1                   Waltersberger & Wauer (5), (6), (8)
    Lᵀ M B z̈ + Lᵀ D B ż + Lᵀ K B z = Lᵀ f                                         (9)

J are the directions of all constraints, closed or not. B₀ spans the motions that touch none of them; the dual vector
n′ᵢ opens the contact i and leaves all others as they are. Of all dual vectors those of least kinetic energy are taken:

    J₀′ = M⁻¹ J (Jᵀ M⁻¹ J)⁻¹

They do not depend on units, and L = B − J_A′ (FᵀJ_A′)⁻¹ FᵀB, which removes the contact forces F λ, leaves the mass
symmetric, Lᵀ M B = Bᵀ M B, also where friction follows the normal forces (F = J_A + R). Without sliding friction
L = B. Directions that depend on others are named and left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.analysis.contact_state import ContactState, require_linear
from klapper.analysis.held_directions import HeldDirections, independent_columns
from klapper.analysis.linear_stability import Stability, stability
from klapper.analysis.stationary_state import StationaryState
from klapper.complementarity.dense import dense
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

LARGEST = 2000  # coordinates up to which bases are formed, as dense matrices
_SINGULAR = 1e-12
_APART = 1e-9  # relative: by how much closed gaps may disagree


@dataclass(frozen=True, eq=False)
class MinimalCoordinates:
    """The motions of a linear system of n coordinates that keep a contact state.

    ``held``        the directions that the state holds, r of them independent
    ``origin``      (n,) [m]: a position at which all held constraints are satisfied; q = origin + basis z
    ``basis``       B (n, z), dimensionless, its last columns dual to the contacts named in ``opens``
    ``projection``  L (n, z), dimensionless, Lᵀ F = 0; the basis itself if no friction follows a normal force
    ``dual``        J_A′ (n, r), dimensionless, dual to the independent held directions
    ``mass``        BᵀMB (z, z), symmetric; ``damping`` Lᵀ(D + G)B and ``stiffness`` Lᵀ(K + N)B (z, z), any
                    [kg, N s/m, N/m]
    ``opens``       names of the open contacts that have a dual vector of their own
    ``follows``     names of the open contacts whose gaps depend on the other directions

    Two masses, the second one held by a stop; the first one has ω = √(8/2) rad/s:

    >>> from klapper.analysis import minimal_coordinates
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> stop = Contact("stop", normal=[0.0, 1.0])
    >>> held = minimal_coordinates(LinearSystem([2.0, 1.0], stiffness=[8.0, 1.0], contacts=[stop]), closed=["stop"])
    >>> held.size, held.names, abs(held.eigenvalues()).round(9)
    (1, ('free 1',), array([2., 2.]))
    """

    held: HeldDirections
    origin: np.ndarray
    basis: np.ndarray
    projection: np.ndarray
    dual: np.ndarray
    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    opens: tuple[str, ...]
    follows: tuple[str, ...]

    @property
    def state(self) -> ContactState:
        """Which contacts are closed, stick and slide."""
        return self.held.state

    @property
    def system(self) -> LinearSystem:
        return self.state.system

    @property
    def size(self) -> int:
        """Number of minimal coordinates."""
        return self.basis.shape[1]

    @property
    def dependent(self) -> tuple[str, ...]:
        """Names of the held directions that depend on the other ones."""
        return self.held.dependent

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the minimal coordinates: "free 1", …, then "opening of …" for every dual vector."""
        free = self.size - len(self.opens)
        return (*(f"free {i + 1}" for i in range(free)), *(f"opening of {name}" for name in self.opens))

    @cached_property
    def stability(self) -> Stability:
        """Eigenvalues, modes z (size, 2 size) and verdict of small motions that keep the state."""
        if self.size == 0:
            raise InvalidModel("the closed contacts hold every coordinate; nothing can move.")
        return stability(self.mass, self.damping, self.stiffness)

    def eigenvalues(self) -> np.ndarray:
        """(2 size,) complex [1/s], the fastest growing first: the finite ones of the constrained equations (7)."""
        return self.stability.eigenvalues if self.size else np.zeros(0, dtype=complex)

    def position(self, z: Any) -> np.ndarray:
        """q (…, n) [m] of minimal coordinates (…, size)."""
        return self.origin + np.asarray(z, dtype=float) @ self.basis.T

    def coordinates_of(self, position: Any) -> np.ndarray:
        """z (…, size) of positions (…, n) [m]; what the constraints forbid is left out in the metric of the mass."""
        return self.rates_of(np.asarray(position, dtype=float) - self.origin)

    def rates_of(self, velocity: Any) -> np.ndarray:
        """ż (…, size) of velocities (…, n) [m/s], the same way."""
        pushed = np.asarray(velocity, dtype=float) @ (self.system.mass_matrix @ self.basis)
        return np.linalg.solve(self.mass, pushed[..., None])[..., 0]

    def load(self, force: Any) -> np.ndarray:
        """Lᵀ f (…, size) of forces f (…, n) [N]."""
        return np.asarray(force) @ self.projection

    @cached_property
    def reaction(self) -> np.ndarray:
        """(r, n): the independent forces λ from M q̈ + D q̇ + K q − f = F λ."""
        return np.linalg.solve(self.dual.T @ self.held.forces, self.dual.T)

    def __str__(self) -> str:
        rank = len(self.held.independent)
        lines = [f"{self.size} minimal coordinates of {self.system.size}, {counted(rank, 'direction')} held"]
        for text, names in (("opens", self.opens), ("follows", self.follows), ("dependent", self.dependent)):
            if names:
                lines.append(f"  {text}: {', '.join(names)}")
        return "\n".join(lines)


def minimal_coordinates(
    of: LinearSystem | StationaryState | ContactState,
    *,
    closed: Iterable[str | int] | None = None,
    sticking: Iterable[str | int] | None = None,
) -> MinimalCoordinates:
    """Coordinates of the motions that keep a contact state.

    ``of``        a :class:`StationaryState`, a :class:`ContactState` or a :class:`~klapper.mechanics.LinearSystem` with
    ``closed``    names or numbers of the closed contacts, none if not given, and
    ``sticking``  those of them that stick; if not given, all that have friction and are not over a moving belt

    A mass between two stops, the right one closed, leaves no coordinate; open, both gaps are one coordinate:

    >>> from klapper.analysis import minimal_coordinates
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> stops = [Contact("left", normal=[1.0], gap=0.01), Contact("right", normal=[-1.0])]
    >>> cart = LinearSystem([2.0], stiffness=[8.0], contacts=stops)
    >>> minimal_coordinates(cart, closed=["right"]).size
    0
    >>> minimal_coordinates(cart).names, minimal_coordinates(cart).follows
    (('opening of left',), ('right',))
    """
    state = state_of(of, closed, sticking)
    system = state.system
    if system.size > LARGEST:
        raise InvalidModel(
            f"the system has {system.size} coordinates; minimal coordinates are formed for up to {LARGEST}. Reduce it "
            f"first (klapper.reduction), or ask for its frequency_response, which needs no basis."
        )
    factor = np.linalg.cholesky(dense(system.mass_matrix))
    held = HeldDirections.of(state)
    inner, rank = held.directions.toarray(), len(held.independent)
    away = np.setdiff1d(np.flatnonzero(system.contacts.has_normal), state.closed)
    gaps = sparse.csc_array(system.normal_directions)[:, away].toarray()
    opened = independent_columns(gaps, inner)
    free, dual = _free_and_dual(factor, np.hstack([inner, gaps[:, opened]]))
    basis = np.hstack([free, dual[:, rank:]])  # Waltersberger & Wauer (8)
    dual = _free_and_dual(factor, inner)[1]
    projection = _projection(held, basis, dual)
    names = [system.contacts.name(int(i)) for i in away]
    rates = _times(system.rate_matrix, basis) + state.turning @ basis
    return MinimalCoordinates(
        held,
        of.position if isinstance(of, StationaryState) else _nearest(held, dual),
        basis,
        projection,
        dual,
        basis.T @ (system.mass_matrix @ basis),
        projection.T @ rates,
        projection.T @ _times(system.position_matrix, basis),
        tuple(names[i] for i in opened),
        tuple(name for i, name in enumerate(names) if i not in set(opened.tolist())),
    )


def state_of(of: Any, closed: Any = None, sticking: Any = None) -> ContactState:
    """The contact state of a stationary state, or of a system with these contacts closed."""
    if isinstance(of, LinearSystem):
        return ContactState.of(of, () if closed is None else closed, sticking)
    if closed is not None or sticking is not None:
        raise InvalidModel(
            "closed and sticking belong to a LinearSystem; a StationaryState or a ContactState has them already."
        )
    if isinstance(of, StationaryState):
        require_linear(of.system)
        return ContactState.at(of)
    if isinstance(of, ContactState):
        return of
    raise InvalidModel(
        f"a {type(of).__name__} has no contact state; give a LinearSystem or a StationaryState."
    )


def _free_and_dual(factor: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B₀ (n, n − r), mass-normalised, and J₀′ (n, r) of independent directions J (n, r), M = L Lᵀ: from L⁻¹ J = Q R."""
    rank = directions.shape[1]
    if rank == 0:
        inverse = scipy.linalg.solve_triangular(factor, np.eye(len(factor)), trans="T", lower=True)
        return inverse, np.zeros((len(factor), 0))
    in_mass_units = scipy.linalg.solve_triangular(factor, directions, lower=True)
    orthogonal, triangle = scipy.linalg.qr(in_mass_units)
    back = scipy.linalg.solve_triangular(factor, orthogonal, trans="T", lower=True)
    inverse = scipy.linalg.solve_triangular(triangle[:rank], np.eye(rank))
    return back[:, rank:], back[:, :rank] @ inverse.T


def _projection(held: HeldDirections, basis: np.ndarray, dual: np.ndarray) -> np.ndarray:
    """L with Lᵀ F = 0."""
    follows = held.state.friction[:, held.independent].toarray()
    if not follows.any():
        return basis
    mobility = np.eye(follows.shape[1]) + dual.T @ follows
    if np.linalg.cond(mobility) * _SINGULAR > 1.0:
        raise InvalidModel(
            "sliding friction takes the normal forces out of the equations (Painlevé): 1 N more in a contact does not "
            "accelerate it. Lower the friction, or make the contacts compliant (sliding_stability)."
        )
    return basis - dual @ np.linalg.solve(mobility.T, follows.T @ basis)


def _nearest(held: HeldDirections, dual: np.ndarray) -> np.ndarray:
    """The position nearest to zero, in the metric of the mass, at which the constraints hold."""
    state, system = held.state, held.state.system
    time = system.start.time
    residuals = system.constraint_residuals(time, np.zeros(system.size))
    gaps = system.gap_offsets(time)[state.closed]
    offsets = np.concatenate([residuals, gaps, np.zeros(len(state.names) - len(residuals) - len(gaps))])
    position = -dual @ offsets[held.independent]
    size = abs(state.held).T @ np.abs(position) + np.abs(offsets)
    apart = np.abs(state.held.T @ position + offsets) > _APART * size
    if np.any(apart):
        names = ", ".join(f"'{name}'" for name, far in zip(state.names, apart, strict=True) if far)
        raise InvalidModel(
            f"{names} cannot be closed together with the others: no position satisfies all of them."
        )
    return position


def _times(matrix: Any, columns: np.ndarray) -> np.ndarray:
    return np.zeros_like(columns) if matrix is None else matrix @ columns
