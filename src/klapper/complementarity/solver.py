"""The contract of a solver.

1. A solver is an immutable object; its fields are its options, its ``name`` what the user types.
2. ``obstacle(problem)`` returns ``""`` if the solver can treat the problem, otherwise one sentence that says why not.
3. ``attempt(problem, start, tolerance)`` returns an :class:`Answer` it believes to be a solution, or raises a
   :class:`ComplementarityError` whose text tells a mechanician what happened. It does not verify: the caller does.
4. ``start`` is a guess of x (n,) or None; a solver may ignore it, but must not be misled by a bad one.
5. Solvers see arrays only and keep no state between calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Answer:
    """A solver's claim: the point (n,), and how many iterations or pivots it took."""

    x: np.ndarray
    iterations: int


class Solver(Protocol):
    """See the numbered contract in this module's docstring."""

    @property
    def name(self) -> str: ...

    def obstacle(self, problem: Any) -> str: ...

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer: ...
