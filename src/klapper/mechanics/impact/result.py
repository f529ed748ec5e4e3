"""A resolved impact: velocities after it, impulses, its books, and what the law leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from klapper.complementarity import NotApplicable, Solution, Uniqueness, uniqueness
from klapper.complementarity.unique import Verdict
from klapper.mechanics.impact.audit import ImpactAudit, audit_stages
from klapper.mechanics.impact.problem import ImpactProblem

CLOSED = 1e-7
"""An approach after the impact below this part of the largest contact speed is none."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One jump of an impact, ``after`` = ``before`` + M⁻¹ J Λ.

    ``name`` of the stage, ``impulse`` Λ (m + s d + k,) [N s], velocities ``before`` and ``after`` it (n,) [m/s, rad/s].
    ``solution`` is the verified contact problem behind it, None where nothing had to be solved.

    Poisson's law compresses a ball of 2 kg at −3 m/s to rest and returns half of the 6 N s:

    >>> from klapper.mechanics.impact import Poisson
    >>> ball = ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5)
    >>> [(stage.name, stage.impulse.round(12).tolist()) for stage in Poisson().resolve(ball).stages]
    [('compression', [6.0]), ('restitution', [3.0])]
    """

    name: str
    impulse: np.ndarray
    before: np.ndarray
    after: np.ndarray
    solution: Solution[Any] | None = None


@dataclass(frozen=True, eq=False)
class ImpactDeterminacy:
    """Whether a law determines the motion after the impact and the impulses, with the analysis of each stage.

    ``motion`` and ``forces`` are "unique", "not unique" or "undecided", ``words`` the same for a reader, ``stages`` the
    :class:`~klapper.complementarity.Uniqueness` of each stage. A table of 1 kg that falls on two legs stops, but how
    the legs share the impulse is open:

    >>> from klapper.mechanics.impact import Newton
    >>> table = ImpactProblem([1.0], [-1.0], [[1.0, 1.0]], names=["left", "right"])
    >>> found = Newton().resolve(table).unique
    >>> found.motion, found.forces
    ('unique', 'not unique')

    As a condition it is true where both are unique:

    >>> bool(found)
    False
    """

    motion: Verdict
    forces: Verdict
    words: str
    stages: tuple[Uniqueness, ...] = ()

    def __str__(self) -> str:
        return self.words

    def __bool__(self) -> bool:
        return self.motion == self.forces == "unique"


@dataclass(frozen=True, eq=False)
class Impact:
    """What a law makes of an :class:`ImpactProblem`.

    ``problem``     that was given; ``law`` the name of what resolved it
    ``stages``      the jumps one after the other, each a :class:`Stage`
    ``after``       ⁺v (n,) [m/s, rad/s]
    ``normal``      impulses of the normal contacts (m,) [N s]
    ``tangential``  of the friction patches (s, d) [N s], ``bilateral`` of the two-sided constraints (k,) [N s]
    ``audit``       where the energy went; ``unique`` whether the law had a choice (computed when asked for)

    ⁺v = ⁻v + M⁻¹ J Λ. A ball of 2 kg with −3 m/s and ε = 0.5 leaves with 1.5 m/s and takes 2 · 4.5 N s:

    >>> from klapper.mechanics.impact import Newton
    >>> impact = Newton().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5))
    >>> impact.after.round(12).tolist(), impact.normal.round(12).tolist(), impact.words
    ([1.5], [9.0], "6.75 J of 9 J are dissipated by Newton's law.")
    """

    problem: ImpactProblem
    law: str
    stages: tuple[Stage, ...]

    @property
    def after(self) -> np.ndarray:
        return self.stages[-1].after if self.stages else self.problem.before

    @cached_property
    def impulse(self) -> np.ndarray:
        """All impulses (m + s d + k,) [N s], summed over the stages."""
        return sum((stage.impulse for stage in self.stages), np.zeros(self.problem.rates.size))

    @property
    def normal(self) -> np.ndarray:
        return self.impulse[: self.problem.contacts]

    @property
    def tangential(self) -> np.ndarray:
        first = self.problem.contacts
        rows = self.impulse[first : first + self.problem.patches * self.problem.dimension]
        return rows.reshape(self.problem.patches, self.problem.dimension)

    @property
    def bilateral(self) -> np.ndarray:
        return self.impulse[self.impulse.size - self.problem.constraints :]

    @property
    def normal_velocity(self) -> np.ndarray:
        """⁺v_N (m,) [m/s]."""
        return self.problem.normal_velocity(self.after)

    @property
    def tangential_velocity(self) -> np.ndarray:
        """⁺v_T (s, d) [m/s]."""
        return self.problem.tangential_velocity(self.after)

    @cached_property
    def remaining(self) -> np.ndarray:
        """Speeds (m,) [m/s] with which contacts still approach; zero where they do not."""
        speed = -self.normal_velocity
        scale = np.abs(self.problem.contact_velocity(self.problem.before)).max(initial=0.0)
        return np.where(speed > CLOSED * scale, speed, 0.0)

    @cached_property
    def audit(self) -> ImpactAudit:
        return audit_stages(self.problem, self.law, self.stages, self.restitution_loss())

    @cached_property
    def unique(self) -> ImpactDeterminacy:
        return self.determinacy()

    @property
    def words(self) -> str:
        """What a reader must know: energy, contacts that still approach, contacts that pull."""
        return " ".join(filter(None, [self.audit.words, self._words_of_approach(), self._words_of_tension()]))

    def restitution_loss(self) -> float | None:
        """The loss that a law predicts in closed form, if it does."""
        return None

    def determinacy(self) -> ImpactDeterminacy:
        """Each stage starts from a motion that is unique if the stages before it leave it so."""
        solved = [stage.solution for stage in self.stages if stage.solution is not None]
        try:
            answers = tuple(uniqueness(solution) for solution in solved)
        except NotApplicable as error:
            return ImpactDeterminacy("undecided", "undecided", str(error))
        return ImpactDeterminacy(
            worst([answer.motion for answer in answers]),
            worst(["unique" if answer.forces.all() else "not unique" for answer in answers]),
            " ".join(dict.fromkeys(str(answer) for answer in answers))
            or "Nothing hits: the motion is unique.",
            answers,
        )

    def _words_of_approach(self) -> str:
        still = np.flatnonzero(self.remaining)
        if not still.size:
            return ""
        named = ", ".join(f"{self.problem.names[i]} with {self.remaining[i]:.6g} m/s" for i in still[:5])
        more = f" and {still.size - 5} more" if still.size > 5 else ""
        return f"After the impact still approaching: {named}{more}; resolve again or use the sequential law."

    def _words_of_tension(self) -> str:
        smallest = -CLOSED * np.abs(self.normal).max(initial=0.0)
        pulling = [
            name for name, pull in zip(self.problem.names, self.normal < smallest, strict=True) if pull
        ]
        return f"Contacts that pull: {', '.join(pulling)}." if pulling else ""

    def __str__(self) -> str:
        problem = self.problem
        lines = [f"{problem!r} by {self.law}"]
        lines += _table("velocity", "before", "after", problem.coordinates, problem.before, self.after)
        lines += _table("contact", "impulse", "opening", problem.names, self.normal, self.normal_velocity)
        return "\n".join([*lines, self.words])


def worst(verdicts: list[Any]) -> Verdict:
    """The verdict on a sequence of stages."""
    if "not unique" in verdicts:
        return "not unique"
    return "undecided" if "undecided" in verdicts else "unique"


def _table(
    title: str, first: str, second: str, names: tuple[str, ...], one: np.ndarray, two: np.ndarray
) -> list[str]:
    shown = min(len(names), 12)
    if shown == 0:
        return []
    width = max(len(title), *(len(name) for name in names[:shown]))
    lines = [f"  {title:<{width}}  {first:>13}  {second:>13}"]
    lines += [f"  {names[i]:<{width}}  {one[i]:>13.6g}  {two[i]:>13.6g}" for i in range(shown)]
    return lines + ([f"  … and {len(names) - shown} more"] if len(names) > shown else [])
