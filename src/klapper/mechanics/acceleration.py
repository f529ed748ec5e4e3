"""The acceleration-level problem: which contacts open, stick or start to slide.

    M v̇ = f + (J_N + R) λ_N + J_T λ_T + J_B λ_B                                   Waltersberger (4.44)
    0 ≤ J_Nᵀ v̇ + b_N ⟂ λ_N ≥ 0,   J_Bᵀ v̇ + b_B = 0
    at rest:  −v̇_T ∈ N_D(λ_T),  v̇_T = J_Tᵀ v̇ + b_T,  |D| = ρ = limit + μ λ_N      (3.48), (4.48)
    sliding:  λ_T = −ρ v_T/|v_T|,  which R λ_N stands for                          (4.49)

Sliding friction makes the problem unsymmetric: it may have several solutions or none (Painlevé). With T collecting
(4.49), all contact forces are T x + λ₀ and all contact accelerations Dᵀ M⁻¹ D T x + b, D = (J_N, J_T, J_B), so that the
accelerations v̇ are unique exactly if those of the contacts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import (
    Attempt,
    FrictionalContact,
    InvalidProblem,
    NoSolution,
    NotDecided,
    Solution,
    enumerate_solutions,
    solve,
)
from klapper.complementarity.checking import as_names, as_vector, require_finite
from klapper.complementarity.solver import Solver
from klapper.counting import counted
from klapper.mechanics.acceleration_solution import TOLERANCE, AllMotions, ModeDecision
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.mass_solver import mass_solver

DECOUPLED = 1e-12  # entries of the scaled Delassus matrix up to this count as zero
DETERMINED = 1e-9  # its eigenvalues above this determine forces


class AccelerationProblem:
    """Accelerations and contact forces of n coordinates with m closed contacts and s friction patches.

    ``mass``              M (n, n), symmetric positive definite, dense or sparse [kg]
    ``force``             f (n,): everything but contact forces [N]
    ``normal``            J_N (n, m) of the contacts in A_N2 (closed, not separating); ``normal_bias`` b_N (m,) [m/s²]
    ``tangential``        J_T (n, s d), patch by patch; ``tangential_bias`` b_T (s d,) [m/s²]
    ``sliding_velocity``  v_T (s, d) [m/s], d = 1 in the plane, 2 in space; a zero row is a patch at rest (A_T2)
    ``friction``          μ: one number or (s,) if the patches belong to the contacts one by one, else (s, m)
    ``limit``             given part of the friction limits (s,) [N], independent of λ_N
    ``bilateral``         J_B (n, p); ``bilateral_bias`` b_B (p,) [m/s²]
    ``polygon``           None for the exact friction disc of patches at rest, or an even number of vertices
    ``sticking_speed``    a patch up to this speed counts as at rest [m/s]
    ``normal_names``      (m,) of the contacts, ``tangential_names`` (s,), ``bilateral_names`` (p,)

    ``contact_problem`` is the same in contact coordinates, with the unknowns x = (λ_N, λ_T, λ_B).

    A mass of 2 kg on a rough floor (μ = 0.5), pushed to the side by 15 N:

    >>> block = AccelerationProblem(2.0 * np.eye(2), [15.0, -2.0 * 9.81], normal=[[0.0], [1.0]],
    ...     tangential=[[1.0], [0.0]], sliding_velocity=[[0.0]], friction=0.5)
    >>> decision = block.solve()
    >>> decision.modes, decision.acceleration.round(9).tolist()
    (('slip',), [2.595, 0.0])
    """

    def __init__(
        self,
        mass: Any,
        force: Any,
        *,
        normal: Any = None,
        normal_bias: Any = 0.0,
        tangential: Any = None,
        tangential_bias: Any = 0.0,
        sliding_velocity: Any = None,
        friction: Any = 0.0,
        limit: Any = 0.0,
        bilateral: Any = None,
        bilateral_bias: Any = 0.0,
        polygon: int | None = None,
        sticking_speed: float = 0.0,
        normal_names: Sequence[str] | None = None,
        tangential_names: Sequence[str] | None = None,
        bilateral_names: Sequence[str] | None = None,
    ) -> None:
        try:
            self.force = as_vector(force, "force")
            n = self.force.size
            self._solve_mass = mass_solver(mass, n)
            self.normal = _columns(normal, "normal", n)
            self.bilateral = _columns(bilateral, "bilateral", n)
            self.tangential = _columns(tangential, "tangential", n)
            self.sliding_velocity = _grouped(sliding_velocity, self.tangential.shape[1])
            patches, contacts = len(self.sliding_velocity), self.normal.shape[1]
            self.normal_bias = as_vector(normal_bias, "normal_bias", contacts)
            self.tangential_bias = as_vector(tangential_bias, "tangential_bias", self.tangential.shape[1])
            self.bilateral_bias = as_vector(bilateral_bias, "bilateral_bias", self.bilateral.shape[1])
            self.friction = _friction_rows(friction, patches, contacts)
            self.limit = _not_negative(as_vector(limit, "limit", patches), "limit")
            self.normal_names = as_names(normal_names, contacts, "contact ")
            self.tangential_names = as_names(
                tangential_names, patches, "contact " if patches == contacts else "friction patch "
            )
            self.bilateral_names = as_names(bilateral_names, self.bilateral.shape[1], "constraint ")
            self.sticking_speed = _speed(sticking_speed)
            self.contact_problem = self._in_contact_coordinates(polygon)
        except InvalidProblem as error:
            raise InvalidModel(str(error)) from None

    @property
    def size(self) -> int:
        """Number of coordinates n."""
        return self.force.size

    @property
    def contacts(self) -> int:
        return self.normal.shape[1]

    @property
    def patches(self) -> int:
        return len(self.sliding_velocity)

    @cached_property
    def sliding(self) -> np.ndarray:
        """Which patches slide already (s,); the others are A_T2, (4.42)."""
        return np.linalg.norm(self.sliding_velocity, axis=1) > self.sticking_speed

    @cached_property
    def directions(self) -> np.ndarray:
        """D = (J_N, J_T, J_B), (n, m + s d + p)."""
        return np.hstack([self.normal, self.tangential, self.bilateral])

    @cached_property
    def distribution(self) -> np.ndarray:
        """T: all contact forces from the unknown ones. Sliding friction follows its normal forces, (4.49)."""
        matrix = np.eye(self.directions.shape[1])
        for patch in np.flatnonzero(self.sliding):
            rows = self._rows(int(patch))
            matrix[rows, : self.contacts] = -np.outer(self.sense[patch], self.friction[patch])
        return matrix

    @cached_property
    def given_forces(self) -> np.ndarray:
        """λ₀ (m + s d + p,): sliding friction of given limits [N]."""
        forces = np.zeros(self.directions.shape[1])
        for patch in np.flatnonzero(self.sliding):
            forces[self._rows(int(patch))] = -self.limit[patch] * self.sense[patch]
        return forces

    @cached_property
    def free_acceleration(self) -> np.ndarray:
        """v̇ (n,) without unknown contact forces [m/s²]."""
        return self._solve_mass(self.force + self.directions @ self.given_forces)

    @property
    def normal_mobility(self) -> np.ndarray:
        """J_Niᵀ M⁻¹ (J_N + R)_i (m,) [1/kg]: how fast a unit force opens its own contact.

        Negative: sliding friction turns the normal force against itself, and there are no or two solutions (Painlevé).
        """
        return np.diag(self.contact_problem.delassus)[: self.contacts]

    @property
    def convex(self) -> bool:
        """Whether no friction limit depends on a normal force: v̇ then minimises a strictly convex function (4.95)."""
        return not self.friction.any()

    @cached_property
    def decoupled(self) -> bool:
        """Whether friction does not act on the other contact motions, and these determine their forces.

        Then the normal forces are those without friction, the friction limits are known, and v̇ is unique.
        """
        delassus, m = self.contact_problem.delassus, self.contacts
        patches = slice(m, m + self.tangential.shape[1])
        others = np.delete(np.arange(len(delassus)), patches)
        size = np.sqrt(np.abs(np.diag(delassus)))
        scaled = delassus / np.outer(np.where(size > 0.0, size, 1.0), np.where(size > 0.0, size, 1.0))
        block = scaled[np.ix_(others, others)]
        return bool(
            np.abs(scaled[others, patches]).max(initial=0.0) <= DECOUPLED
            and np.abs(block - block.T).max(initial=0.0) <= DECOUPLED
            and np.linalg.eigvalsh(block).min(initial=1.0) > DETERMINED
        )

    def accelerations(self, unknowns: np.ndarray) -> np.ndarray:
        """v̇ (n,) from the unknowns x of :attr:`contact_problem`."""
        return self.free_acceleration + self._responses @ (self.distribution @ unknowns)

    def solve(
        self, solver: str | Solver = "auto", *, tolerance: float = TOLERANCE, start: Any = None
    ) -> ModeDecision:
        """One verified solution; ``start`` is a guess of x = (λ_N, λ_T, λ_B).

        Raises :class:`~klapper.complementarity.NoSolution` if rigid bodies and Coulomb's law admit no acceleration.
        """
        try:
            solution = solve(self.contact_problem, solver, tolerance=tolerance, start=start)
        except (NoSolution, NotDecided) as error:
            raise type(error)(self._obstacle(str(error)), error.attempts) from error
        return ModeDecision(self, solution, tolerance)

    def all_solutions(self) -> AllMotions:
        """Every acceleration the model admits, by trying all combinations of lift-off, stick and slip.

        For few contacts with friction in the plane or of polygons.
        """
        size, done = self.contact_problem.size, (Attempt("enumeration", "solved"),)
        if size == 0:
            free = ModeDecision(self, Solution(self.contact_problem, np.zeros(0), done))
            return AllMotions(self, (free,), np.zeros((1, 0)), np.zeros((1, 0)), same=True)
        found = enumerate_solutions(self.contact_problem)
        motions = found.motions()
        groups: list[list[Any]] = [[] for _ in motions]
        for piece in found.pieces:
            image = self.contact_problem.image(piece.point)
            apart = np.abs((motions - image) / found.image_unit).max(axis=1)
            groups[int(np.argmin(apart))].append(piece)
        solutions = [Solution(self.contact_problem, group[0].point, done).verify() for group in groups]
        return AllMotions(
            self,
            tuple(ModeDecision(self, solution) for solution in solutions),
            np.array([np.min([p.lower for p in group], axis=0) for group in groups]).reshape(-1, size),
            np.array([np.max([p.upper for p in group], axis=0) for group in groups]).reshape(-1, size),
            found.same_motion() if found else False,
            found.doubtful,
        )

    def _in_contact_coordinates(self, polygon: int | None) -> FrictionalContact:
        """The problem in the unknowns x = (λ_N, λ_T, λ_B); a sliding patch has no friction of its own, λ_T = 0."""
        mobility = self.directions.T @ self._responses
        patches = self.contacts + np.arange(self.tangential.shape[1]).reshape(self.sliding_velocity.shape)
        at_rest = np.where(self.sliding, 0.0, 1.0)
        bias = np.concatenate([self.normal_bias, self.tangential_bias, self.bilateral_bias])
        return FrictionalContact.from_parts(
            0.5 * (mobility + mobility.T) @ self.distribution,
            self.directions.T @ self.free_acceleration + bias,
            normal=np.arange(self.contacts),
            tangential=patches,
            friction=self.friction * at_rest[:, None],
            limit=self.limit * at_rest,
            bilateral=self.contacts + self.tangential.shape[1] + np.arange(self.bilateral.shape[1]),
            polygon=polygon,
            normal_names=self.normal_names,
            tangential_names=self.tangential_names,
            bilateral_names=self.bilateral_names,
        )

    @cached_property
    def _responses(self) -> np.ndarray:
        """M⁻¹ D."""
        return self._solve_mass(self.directions)

    @cached_property
    def sense(self) -> np.ndarray:
        """Unit vectors (s, d) of the sliding velocities; zero at rest."""
        speed = np.linalg.norm(self.sliding_velocity, axis=1, keepdims=True)
        return np.divide(
            self.sliding_velocity,
            speed,
            out=np.zeros_like(self.sliding_velocity),
            where=self.sliding[:, None],
        )

    def _rows(self, patch: int) -> slice:
        d = self.sliding_velocity.shape[1]
        return slice(self.contacts + patch * d, self.contacts + (patch + 1) * d)

    def _obstacle(self, reason: str) -> str:
        pushed = (self.normal_mobility < 0.0) & (self.contact_problem.free_velocity[: self.contacts] < 0.0)
        if not pushed.any():
            return reason
        worst = int(np.argmin(np.where(pushed, self.normal_mobility, 0.0)))
        return (
            f"'{self.normal_names[worst]}' presses, and sliding friction turns its force against itself: 1 N more "
            f"would open the contact by {self.normal_mobility[worst]:.3g} m/s² (Painlevé). Rigid bodies with this "
            "friction have no finite acceleration here: let the velocity jump (an impact with friction), lower the "
            f"friction, or make the contact compliant. {reason}"
        )

    def __repr__(self) -> str:
        sliding = int(self.sliding.sum())
        return (
            f"AccelerationProblem({counted(self.size, 'coordinate')}, {counted(self.contacts, 'contact')}, "
            f"{self.patches} friction patches, "
            f"{sliding} of them sliding)"
        )


def _columns(given: Any, argument: str, n: int) -> np.ndarray:
    """Directions (n, k); None stands for none."""
    if given is None:
        return np.zeros((n, 0))
    matrix = np.array(given.toarray() if sparse.issparse(given) else given, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != n:
        raise InvalidModel(
            f"{argument} has shape {matrix.shape}, expected ({n}, number of directions): one column each."
        )
    require_finite(matrix, argument)
    return matrix


def _grouped(sliding_velocity: Any, columns: int) -> np.ndarray:
    """v_T (s, d); its shape says how the tangential columns belong together."""
    if sliding_velocity is None:
        if columns:
            raise InvalidModel(
                f"tangential has {columns} columns, but sliding_velocity is missing; give it as (s, 1) in the plane "
                "or (s, 2) in space, zero rows for patches at rest."
            )
        return np.zeros((0, 1))
    velocity = np.array(sliding_velocity, dtype=float)
    if velocity.ndim != 2 or velocity.shape[1] not in (1, 2) or velocity.size != columns:
        raise InvalidModel(
            f"sliding_velocity has shape {velocity.shape}, expected (s, 1) or (s, 2) with one entry for each of the "
            f"{columns} tangential columns."
        )
    require_finite(velocity, "sliding_velocity")
    return velocity


def _friction_rows(friction: Any, patches: int, contacts: int) -> np.ndarray:
    """μ (s, m)."""
    given = np.array(friction.toarray() if sparse.issparse(friction) else friction, dtype=float)
    if given.ndim == 2:
        if given.shape != (patches, contacts):
            raise InvalidModel(f"friction has shape {given.shape}, expected ({patches}, {contacts}).")
        rows = given
    else:
        values = as_vector(given, "friction", patches)
        if patches != contacts and values.any():
            raise InvalidModel(
                f"friction is one number per patch, but there are {patches} patches and "
                f"{counted(contacts, 'contact')}; give the "
                f"matrix ({patches}, {contacts})."
            )
        rows = np.diag(values) if patches == contacts else np.zeros((patches, contacts))
    require_finite(rows, "friction")
    return _not_negative(rows, "friction")


def _not_negative(values: np.ndarray, argument: str) -> np.ndarray:
    if values.min(initial=0.0) < 0.0:
        raise InvalidModel(f"the least entry of {argument} is {values.min()}; allowed are numbers from 0 on.")
    return values


def _speed(sticking_speed: float) -> float:
    if not (np.isfinite(sticking_speed) and sticking_speed >= 0.0):
        raise InvalidModel(f"sticking_speed is {sticking_speed}; allowed are numbers from 0 on, in m/s.")
    return float(sticking_speed)
