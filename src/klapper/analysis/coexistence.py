"""Rest and sliding side by side: which of them do rigid contacts with friction admit under the same load?

Rest needs contact forces in their friction cones that balance the load; sliding in given senses needs forces on the
cones and accelerations that agree with the senses: ``klapper.mechanics.possible_motion`` decides on each, here stand
the candidates and the verdict. Both at once is the wedged disc of Waltersberger (5.15), (5.16), after McNamara et al.
(2005).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from klapper.mechanics import AccelerationProblem
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.possible_motion import PossibleMotion, RestAndSliding
from klapper.mechanics.rest_or_motion import closed_at, resting_problem
from klapper.mechanics.system import System, require_system

MOST_CANDIDATES = 5000
_WORDS = {"stick": "sticks", "+": "slides +", "-": "slides −", "open": "opens"}


@dataclass(frozen=True, eq=False)
class Coexistence:
    """Which motions a state of rest admits.

    ``problem``   the accelerations that were asked
    ``rest``      the branch on which nothing moves
    ``sliding``   all branches with a motion that exist for some load factor among the candidates tried
    ``tried``     number of candidates

    A block of 2 kg and 20 N on a floor with μ = 0.5, pushed by 15 N, slides with (15 − 10)/2 m/s²:

    >>> from klapper.analysis import coexistence
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    >>> judged = coexistence(LinearSystem([2.0, 2.0], force=[15.0, -20.0], contacts=[floor]))
    >>> judged.verdict, float(judged.moving[0].acceleration[0].round(9))
    ('sliding', 2.5)
    """

    problem: AccelerationProblem
    rest: PossibleMotion
    sliding: tuple[PossibleMotion, ...]
    tried: int

    @property
    def moving(self) -> tuple[PossibleMotion, ...]:
        """The sliding branches that exist under the given load."""
        return tuple(branch for branch in self.sliding if branch.exists)

    @property
    def verdict(self) -> str:
        """ "rest", "sliding", "both" or "none"."""
        if self.rest.exists:
            return "both" if self.moving else "rest"
        return "sliding" if self.moving else "none"

    def __str__(self) -> str:
        head = {
            "both": "Rest and sliding are both solutions",
            "rest": "Rest is the only kind of solution",
            "sliding": "Rest is impossible, sliding is a solution",
            "none": "Neither rest nor any sliding motion tried is a solution",
        }[self.verdict]
        return "\n".join([f"{head}.", *self._rest_lines(), *self._sliding_lines()])

    def _rest_lines(self) -> Iterator[str]:
        if self.rest.factors[0] > self.rest.factors[1]:
            yield "  rest: impossible under any load factor"
            return
        yield f"  rest: {_range(self.rest.factors)}"
        if self.rest.exists:
            names = self.problem.normal_names
            for name, low, high in zip(names, self.rest.lower, self.rest.upper, strict=False):
                bound = "no upper bound" if np.isinf(high) else f"{high:.6g} N"
                yield f"    '{name}' presses with {low:.6g} N … {bound}"

    def _sliding_lines(self) -> Iterator[str]:
        names = self.problem.tangential_names
        for branch in self.sliding:
            doing = ", ".join(
                f"'{name}' {_WORDS[state]}" for name, state in zip(names, branch.states, strict=True)
            )
            yield f"  {doing}: {_range(branch.factors)}{'' if branch.exists else ' (not under this load)'}"


def coexistence(
    problem: AccelerationProblem | System,
    *,
    load: Any = None,
    senses: Iterable[Sequence[str]] | None = None,
    vertices: int = 16,
) -> Coexistence:
    """Ask a state of rest for all its kinds of solutions.

    ``problem``   accelerations of contacts at rest, or a system at its start, whose closed contacts take part
    ``load``      f₁ (n,) [N]: the part of the force that the load factor s multiplies; default all of it. The given
                  load is s = 1
    ``senses``    candidates of motions: what every friction patch does, "stick", "+", "-" or "open"; default all.
                  A contact opens if its patches do; one without friction stays closed
    ``vertices``  of the polygon inside the friction disc of contacts in space, where sliding is not tried

    >>> import numpy as np
    >>> from klapper.analysis import coexistence
    >>> from klapper.mechanics import AccelerationProblem
    >>> block = AccelerationProblem(2.0 * np.eye(2), [15.0, -20.0], normal=[[0.0], [1.0]], tangential=[[1.0], [0.0]],
    ...     sliding_velocity=[[0.0]], friction=0.5, normal_names=["floor"], tangential_names=["floor"])
    >>> print(coexistence(block, load=[15.0, 0.0]))
    Rest is impossible, sliding is a solution.
      rest: load factors -0.666667 … 0.666667
      'floor' slides +: load factors 0.666667 … no upper bound
      'floor' slides −: load factors no lower bound … -0.666667 (not under this load)
    """
    if isinstance(problem, AccelerationProblem):
        asked = problem
    else:
        require_system(problem)
        t, q = problem.start.time, problem.start.position
        asked = resting_problem(problem, t, q, closed_at(problem, t, q))
    programs = RestAndSliding(asked, _load(load, asked), vertices)
    programs.require_rest()
    candidates = list(_candidates(asked, senses))
    rest = programs.rest()
    branches = (programs.sliding(states) for states in candidates)
    return Coexistence(
        asked, rest, tuple(branch for branch in branches if branch is not None), len(candidates)
    )


def _candidates(problem: AccelerationProblem, senses: Any) -> Iterator[tuple[str, ...]]:
    """What the patches may do in a motion; not all of them stick."""
    patches = problem.patches
    if problem.sliding_velocity.shape[1] > 1:
        if senses is not None:
            raise InvalidModel(
                "senses + and − belong to contacts in the plane; in space only rest is decided."
            )
        return
    if senses is None:
        if 4**patches > MOST_CANDIDATES:
            raise InvalidModel(
                f"{patches} friction patches have {4**patches} combinations, more than {MOST_CANDIDATES}; give the "
                f"senses to be tried."
            )
        senses = product(("+", "-", "stick", "open"), repeat=patches)
    for states in senses:
        named = tuple(states)
        if len(named) != patches or not set(named) <= set(_WORDS):
            raise InvalidModel(f"senses has {named}; expected {patches} of {', '.join(_WORDS)}.")
        if set(named) != {"stick"}:
            yield named


def _load(given: Any, problem: AccelerationProblem) -> np.ndarray:
    load = np.array(problem.force if given is None else given, dtype=float)
    if load.shape != (problem.size,) or not np.all(np.isfinite(load)):
        raise InvalidModel(f"load has shape {load.shape}, expected ({problem.size},) finite numbers.")
    if not load.any():
        raise InvalidModel("load is zero; its factor would mean nothing.")
    return load


def _range(factors: tuple[float, float]) -> str:
    low, high = factors
    first = "no lower bound" if np.isinf(low) else f"{low:.6g}"
    last = "no upper bound" if np.isinf(high) else f"{high:.6g}"
    return f"load factors {first} … {last}"
