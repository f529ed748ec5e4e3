"""Solutions of the acceleration-level problem: which contacts stay closed and stick, with which forces.

    A_N1: closed contacts with g̈ = 0                                              Waltersberger (4.50)
    A_T1: patches at rest that are pressed together, with v̇_T = 0                  (4.51)

An acceleration counts as zero up to a small multiple of what the solver leaves over. Accelerations and forces may be
unique or not, (4.60)-(4.62).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from klapper.complementarity import FrictionalContact, Solution, Uniqueness, uniqueness
from klapper.contact_states import OPEN, SLIP, STATE_NAMES, STICK

if TYPE_CHECKING:
    from klapper.mechanics.acceleration import AccelerationProblem

DECISION = 10.0  # accelerations up to this multiple of the solver's tolerance count as zero
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class ModeDecision:
    """Accelerations, contact forces and contact modes of one verified solution.

    ``problem``    what was asked
    ``solution``   in contact coordinates, x = (λ_N, λ_T, λ_B) [N]
    ``tolerance``  that of the solver, dimensionless; accelerations below ten times as much of the largest count as zero

    A mass of 2 kg on a rough floor (μ = 0.5) under 20 N, pushed to the side by 5 N, stays:

    >>> import numpy as np
    >>> from klapper.mechanics import AccelerationProblem
    >>> block = AccelerationProblem(2.0 * np.eye(2), [5.0, -20.0], normal=[[0.0], [1.0]],
    ...     tangential=[[1.0], [0.0]], sliding_velocity=[[0.0]], friction=0.5)
    >>> decision = block.solve()
    >>> decision.modes, decision.tangential_force.round(9).tolist()
    (('stick',), [[-5.0]])
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
        return np.where(self.problem.sliding, np.sum(change * self.problem.sense, axis=1), onset)

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
