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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.complementarity import (
    OPEN,
    SLIP,
    STATE_NAMES,
    STICK,
    Attempt,
    FrictionalContact,
    InvalidProblem,
    NoSolution,
    NotDecided,
    Solution,
    Uniqueness,
    enumerate_solutions,
    solve,
    uniqueness,
)
from klapper.complementarity.checking import as_names, as_vector, require_finite
from klapper.complementarity.solver import Solver
from klapper.mechanics.errors import InvalidModel

DECISION = 10.0  # accelerations up to this multiple of the solver's tolerance count as zero
TOLERANCE = 1e-9
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
            self._solve_mass = _mass_solver(mass, n)
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
            matrix[rows, : self.contacts] = -np.outer(self._sense[patch], self.friction[patch])
        return matrix

    @cached_property
    def given_forces(self) -> np.ndarray:
        """λ₀ (m + s d + p,): sliding friction of given limits [N]."""
        forces = np.zeros(self.directions.shape[1])
        for patch in np.flatnonzero(self.sliding):
            forces[self._rows(int(patch))] = -self.limit[patch] * self._sense[patch]
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
    def _sense(self) -> np.ndarray:
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
            f"AccelerationProblem({self.size} coordinates, {self.contacts} contacts, {self.patches} friction patches, "
            f"{sliding} of them sliding)"
        )


@dataclass(frozen=True, eq=False)
class ModeDecision:
    """Accelerations, contact forces and contact modes of one verified solution.

    ``tolerance`` is that of the solver; accelerations below ten times as much of the largest count as zero.
    """

    problem: AccelerationProblem
    solution: Solution[FrictionalContact]
    tolerance: float = TOLERANCE

    @cached_property
    def acceleration(self) -> np.ndarray:
        """v̇ (n,) [m/s²]."""
        return self.problem.accelerations(self.solution.x)

    @property
    def normal_force(self) -> np.ndarray:
        """λ_N (m,) [N]."""
        return self._forces[: self.problem.contacts]

    @property
    def tangential_force(self) -> np.ndarray:
        """λ_T (s, d) [N], sliding patches included."""
        return self._tangential(self._forces)

    @property
    def bilateral_force(self) -> np.ndarray:
        """λ_B (p,) [N]."""
        return self._forces[self.problem.contacts + self.problem.tangential.shape[1] :]

    @property
    def normal_acceleration(self) -> np.ndarray:
        """g̈ (m,) [m/s²]."""
        return self.solution.y[: self.problem.contacts]

    @property
    def tangential_acceleration(self) -> np.ndarray:
        """v̇_T (s, d) [m/s²]."""
        return self._tangential(self.solution.y)

    @cached_property
    def sliding_rate(self) -> np.ndarray:
        """z (s,) [m/s²]: rate of the sliding speed, for patches at rest that with which they start (never negative)."""
        change = self.tangential_acceleration
        onset = self.solution.problem.dissipation_support(change, np.ones(self.problem.patches))
        return np.where(self.problem.sliding, np.sum(change * self.problem._sense, axis=1), onset)

    @cached_property
    def stays_closed(self) -> np.ndarray:
        """A_N1 (m,): contacts whose gap does not accelerate apart, (4.50)."""
        return self.normal_acceleration <= self._zero[: self.problem.contacts]

    @cached_property
    def sticks(self) -> np.ndarray:
        """A_T1 (s,): patches at rest that stay at rest and are pressed together, (4.51)."""
        zero = self._tangential(self._zero).max(axis=1, initial=0.0)
        return ~self.problem.sliding & (self.sliding_rate <= zero) & self._pressed

    @cached_property
    def contact_states(self) -> np.ndarray:
        """OPEN, STICK or SLIP of every contact (m,); a closed contact sticks if a patch it presses sticks."""
        held = (self.problem.friction[self.sticks] > 0.0).any(axis=0)
        return np.where(self.stays_closed, np.where(held, STICK, SLIP), OPEN)

    @cached_property
    def patch_states(self) -> np.ndarray:
        """OPEN, STICK or SLIP of every friction patch (s,); open if all contacts that could press it open."""
        loaded = (self.problem.friction > 0.0).any(axis=1)
        return np.where(self.sticks, STICK, np.where(loaded & ~self._pressed, OPEN, SLIP))

    @property
    def modes(self) -> tuple[str, ...]:
        """The states of the contacts in words (m,)."""
        return tuple(STATE_NAMES[state] for state in self.contact_states)

    @cached_property
    def uniqueness(self) -> Uniqueness:
        """Whether the accelerations are unique, and which forces are, within which bounds (4.60)-(4.62).

        Names and bounds are those of the unknowns x; the friction of a sliding patch follows its normal force.
        """
        answer = uniqueness(self.solution)
        if answer.motion == "undecided" and (self.problem.convex or self.problem.decoupled):
            return replace(answer, motion="unique", complete=True)
        return answer

    @cached_property
    def _forces(self) -> np.ndarray:
        return self.problem.distribution @ self.solution.x + self.problem.given_forces

    @cached_property
    def _pressed(self) -> np.ndarray:
        """Patches (s,) with a given limit, or with friction at a contact that stays closed."""
        return (self.problem.limit > 0.0) | (self.problem.friction[:, self.stays_closed] > 0.0).any(axis=1)

    @cached_property
    def _zero(self) -> np.ndarray:
        """Contact accelerations (m + s d + p,) up to which they count as zero [m/s²]."""
        contact = self.solution.problem
        pushed = np.abs(self.solution.y - contact.free_velocity)
        return DECISION * self.tolerance * contact.velocity_scale(np.abs(contact.free_velocity) + pushed)

    def _tangential(self, values: np.ndarray) -> np.ndarray:
        first = self.problem.contacts
        rows = values[first : first + self.problem.tangential.shape[1]]
        return rows.reshape(self.problem.sliding_velocity.shape)

    def __str__(self) -> str:
        lines = [f"{self.problem!r}, residual {self.solution.residuals.worst:.1e}"]
        names = self.problem.normal_names
        width = max((len(name) for name in (*names, *self.problem.tangential_names)), default=0)
        for name, mode, force, opening in zip(
            names, self.modes, self.normal_force, self.normal_acceleration, strict=True
        ):
            lines.append(f"  {name:<{width}}  {mode:<5}  {force:>12.6g} N   opens with {opening:.6g} m/s²")
        for name, state, force, rate in zip(
            self.problem.tangential_names,
            self.patch_states,
            self.tangential_force,
            self.sliding_rate,
            strict=True,
        ):
            size = float(np.linalg.norm(force))
            lines.append(
                f"  {name:<{width}}  {STATE_NAMES[state]:<5}  {size:>12.6g} N   friction, slides with {rate:.6g} m/s²"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class AllMotions:
    """Every motion that the model admits (none: Painlevé), one decision each, and the range of its contact forces.

    ``lower``, ``upper``  (k, m + s d + p) bounds of the unknowns x of every motion [N]
    ``same``              whether all solutions have one and the same acceleration
    ``doubtful``          combinations dropped because their equations are singular to rounding

    Where a combination admits a continuum of accelerations it contributes one of them, and ``same`` is False.
    """

    problem: AccelerationProblem
    decisions: tuple[ModeDecision, ...]
    lower: np.ndarray
    upper: np.ndarray
    same: bool
    doubtful: int = 0

    @property
    def accelerations(self) -> np.ndarray:
        """v̇ (k, n) [m/s²], one row per motion."""
        rows = [decision.acceleration for decision in self.decisions]
        return np.array(rows).reshape(len(rows), self.problem.size)

    def __len__(self) -> int:
        return len(self.decisions)

    def __iter__(self) -> Iterator[ModeDecision]:
        return iter(self.decisions)


def _mass_solver(mass: Any, n: int) -> Callable[[np.ndarray], np.ndarray]:
    """v ↦ M⁻¹ v of a symmetric positive definite matrix."""
    given = sparse.csc_array(mass, dtype=float) if sparse.issparse(mass) else np.array(mass, dtype=float)
    if given.shape != (n, n):
        raise InvalidModel(f"mass has shape {given.shape}, expected ({n}, {n}) to fit force.")
    if not sparse.issparse(given):
        require_finite(given, "mass")
    if abs(given - given.T).max() > 1e-9 * abs(given).max():
        raise InvalidModel("mass is not symmetric; it must be a symmetric positive definite matrix.")
    if sparse.issparse(given):
        return _sparse_solver(given)
    try:
        factor = scipy.linalg.cho_factor(given)
    except scipy.linalg.LinAlgError:
        raise InvalidModel(
            "mass is not positive definite: some direction has no inertia. Remove that coordinate, or give it a mass."
        ) from None

    def solve_dense(right: np.ndarray) -> np.ndarray:
        return scipy.linalg.cho_solve(factor, right)

    return solve_dense


def _sparse_solver(mass: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Symmetric elimination without pivoting: positive pivots prove that the matrix is positive definite."""
    try:
        factor = splu(
            mass, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:
        factor = None
    if factor is None or np.any(factor.perm_r != factor.perm_c) or np.any(factor.U.diagonal() <= 0.0):
        raise InvalidModel(
            "mass is not positive definite: some direction has no inertia. Remove that coordinate, or give it a mass."
        )

    def solve_sparse(right: np.ndarray) -> np.ndarray:
        return factor.solve(np.ascontiguousarray(right)) if right.size else np.zeros_like(right)

    return solve_sparse


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
                f"friction is one number per patch, but there are {patches} patches and {contacts} contacts; give the "
                f"matrix ({patches}, {contacts})."
            )
        rows = np.diag(values) if patches == contacts else np.zeros((patches, contacts))
    require_finite(rows, "friction")
    return _not_negative(rows, "friction")


def _not_negative(values: np.ndarray, argument: str) -> np.ndarray:
    if values.min(initial=0.0) < 0.0:
        raise InvalidModel(f"{argument} must not be negative, got {values.min()}.")
    return values


def _speed(sticking_speed: float) -> float:
    if not (np.isfinite(sticking_speed) and sticking_speed >= 0.0):
        raise InvalidModel(f"sticking_speed is {sticking_speed}; allowed are numbers from 0 on, in m/s.")
    return float(sticking_speed)
