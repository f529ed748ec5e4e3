"""Impacts on two time scales: within one instant, fast impacts follow each other until nothing approaches.

    A_seq(u) = {i | J_Nᵀ u + a_N < −tol}                                            Waltersberger (5.14)
    repeat:  ˡ⁺¹u from ˡu by Newton's law on A_seq(ˡu) alone,  until A_seq is empty  Scheme 5.3

Positions and time are frozen. Waves run through a row of bodies as in Newton's cradle, which laws for all contacts at
once cannot show. The result is the last iterate (step 3 of the printed scheme names the one before it). With friction
every fast impact is Newton's law with Coulomb friction at the approaching contacts. The scheme is heuristic and need
not end (a ring of elastic discs), and with ε < 1 between three or more bodies it may end only in the limit; hence
``limit`` and a positive ``least_approach``. What remains is reported, and the velocities reached are handed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from klapper.complementarity import LinearComplementarity
from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.impact.law import ImpactLaw, impact_law
from klapper.mechanics.impact.newton import newton_velocity
from klapper.mechanics.impact.problem import ImpactProblem
from klapper.mechanics.impact.result import Impact, ImpactDeterminacy, Stage
from klapper.mechanics.options import Option


@dataclass(frozen=True, eq=False)
class SequentialImpact(Impact):
    """An impact by Scheme 5.3; its stages are the fast impacts.

    ``finished``  whether nothing approaches any more; otherwise the limit was hit and ``remaining`` are the speeds

    Newton's cradle: the wave runs through in two fast impacts:

    >>> row = ImpactProblem([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]], restitution=1.0)
    >>> impact = Sequential().resolve(row)
    >>> impact.finished, impact.iterates.tolist()
    (True, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """

    finished: bool

    @property
    def fast_impacts(self) -> int:
        """Number of fast impacts."""
        return len(self.stages)

    @property
    def iterates(self) -> np.ndarray:
        """Velocities ˡu (fast impacts + 1, n) [m/s, rad/s], from ⁻v to ⁺v."""
        return np.array([self.problem.before, *(stage.after for stage in self.stages)])

    def determinacy(self) -> ImpactDeterminacy:
        """Without friction a set of contacts with a regular Delassus matrix leaves nothing open, whatever it meets."""
        solved = [stage.solution.problem for stage in self.stages if stage.solution is not None]
        if not all(isinstance(problem, LinearComplementarity) for problem in solved):
            return super().determinacy()
        sets = {problem.names: dense(problem.matrix) for problem in solved}
        if any(np.linalg.matrix_rank(matrix, hermitian=True) < len(matrix) for matrix in sets.values()):
            return super().determinacy()
        return ImpactDeterminacy("unique", "unique", "The motion is unique. All forces are unique.")

    def _words_of_approach(self) -> str:
        if self.finished:
            return f"Finished after {self.fast_impacts} fast impacts."
        worst, count = int(np.argmax(self.remaining)), np.count_nonzero(self.remaining)
        return (
            f"Not finished after {self.fast_impacts} fast impacts: {count} of {self.problem.contacts} contacts still "
            f"approaching, {self.problem.names[worst]} with {self.remaining[worst]:.6g} m/s. Hand over to a law for "
            f"all contacts at once, Newton().resolve(problem.starting_from(after)), or raise limit or least_approach."
        )


@impact_law("sequential")
@dataclass(frozen=True)
class Sequential(ImpactLaw):
    """Fast impacts one after the other.

    ``limit``      greatest number of fast impacts
    ``least_approach``  approach speeds below this share of the largest one at the start count as none

    Options as of :class:`ImpactLaw`. Balls of 1 kg with ε = 0.5 share the speed of a hit as (1 ∓ ε)/2:

    >>> row = ImpactProblem([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]], restitution=0.5)
    >>> result = Sequential().resolve(row)
    >>> result.after.tolist(), result.fast_impacts
    ([0.203125, 0.234375, 0.5625], 3)
    """

    limit: Annotated[int, Option("greatest number of fast impacts", at_least=1)] = 1000
    least_approach: Annotated[float, Option("share of the largest approach speed", above=0.0)] = 1e-9
    name: ClassVar[str] = "the sequential law"
    in_sequence: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit < 1:
            raise InvalidModel(f"limit is {self.limit}; at least 1 fast impact must be allowed.")
        if not 0.0 <= self.least_approach < 1.0:
            raise InvalidModel(
                f"least_approach is {self.least_approach}; allowed are numbers from 0 to below 1."
            )

    def resolve(self, impact: ImpactProblem) -> SequentialImpact:
        contacts = impact.contacts
        velocity, reached = impact.contact_velocity(impact.before), impact.before
        threshold = self.least_approach * max(0.0, float(-velocity[:contacts].min(initial=0.0)))
        total = np.zeros(velocity.size)
        stages: list[Stage] = []
        approaching = np.flatnonzero(velocity[:contacts] < -threshold)  # Waltersberger (5.14)
        while approaching.size and len(stages) < self.limit:
            name = f"{self.name}, fast impact {len(stages) + 1}"
            impulse, solution = self.contact_impulses(
                impact, impact.delassus, newton_velocity(impact, velocity), name, contacts=approaching
            )
            total += impulse
            before, reached = reached, impact.before + impact.response @ total
            velocity = impact.contact_velocity(reached)
            stages.append(Stage(name, impulse, before, reached, solution))
            approaching = np.flatnonzero(velocity[:contacts] < -threshold)
        return SequentialImpact(impact, self.name, tuple(stages), finished=approaching.size == 0)
