"""The contract of a solver.

1. A solver is an immutable object; its fields are its options, its ``name`` what the user types.
2. ``obstacle(problem)`` returns ``""`` if the solver can treat the problem, otherwise one sentence that says why not.
3. ``attempt(problem, start, tolerance)`` returns an :class:`Answer` it believes to be a solution, or raises a
   :class:`ComplementarityError` whose text tells a mechanician what happened. It does not verify: the caller does.
4. ``start`` is a guess of x (n,) or None; a solver may ignore it, but must not be misled by a bad one.
5. Solvers see arrays only and keep no state between calls.
6. ``@solver`` over the class lists it: by its name ``solve`` knows it, and so do the tests of all solvers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

C = TypeVar("C", bound=type)

SOLVERS: dict[str, type[Any]] = {}
"""Every solver by the name under which ``solve(problem, "lemke")`` and schemes know it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A solver's claim: the point ``x`` (n,), in its unit, and how many ``iterations`` or pivots it took.

    >>> from klapper.complementarity import Lemke, LinearComplementarity
    >>> Lemke().attempt(LinearComplementarity([[2.0]], [-4.0]), None, 1e-9)
    Answer(x=array([2.]), iterations=2)
    """

    x: np.ndarray
    iterations: int


class Solver(Protocol):
    """What finds a point that may solve a problem; the numbered contract is in the module's docstring.

    ``name``      what the user types
    ``obstacle``  why a problem cannot be treated, in one sentence; empty if it can
    ``attempt``   an :class:`Answer` from ``start`` (n,) or None, or a :class:`ComplementarityError`

    A solver of one's own, for problems with a diagonal matrix a, where x = max(−b/a, 0):

    >>> import numpy as np
    >>> from klapper.complementarity import Answer, LinearComplementarity, solve
    >>> class Diagonal:
    ...     name = "diagonal"
    ...     def obstacle(self, problem):
    ...         return ""
    ...     def attempt(self, problem, start, tolerance):
    ...         return Answer(np.maximum(-problem.offset / np.diag(problem.matrix), 0.0), 1)
    >>> solve(LinearComplementarity([[2.0, 0.0], [0.0, 1.0]], [-4.0, 3.0]), Diagonal()).x.tolist()
    [2.0, 0.0]
    """

    @property
    def name(self) -> str: ...

    def obstacle(self, problem: Any) -> str: ...

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer: ...


def solver(kind: C) -> C:
    """Enter a class of solvers in ``SOLVERS`` under its name."""
    SOLVERS[kind.name] = kind  # type: ignore[attr-defined]
    return kind
