"""What can go wrong with a complementarity problem, in words that help a mechanician.

Every exception carries ``attempts``, what was tried before it was raised, and ``closest``, the best point on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from klapper.complementarity.solution import Attempt


class InvalidProblem(ValueError):
    """The data do not describe a problem: wrong shape, not finite, negative friction.

    >>> from klapper.complementarity import LinearComplementarity
    >>> LinearComplementarity([[1.0]], [1.0, 2.0])
    Traceback (most recent call last):
    klapper.complementarity.errors.InvalidProblem: offset has shape (2,), expected shape (1,).
    """


class ComplementarityError(RuntimeError):
    """A problem was well posed as data, but no verified solution can be returned.

    The common kind of all that :func:`solve` raises. ``attempts`` tells what was tried, ``closest`` (n,) is the point
    with the smallest residual on the way, None if no iteration had one:

    >>> from klapper.complementarity import LinearComplementarity, solve
    >>> try:
    ...     solve(LinearComplementarity([[-1.0]], [-1.0]))  # −x − 1 ≥ 0 for no x ≥ 0
    ... except ComplementarityError as error:
    ...     print(type(error).__name__, [attempt.solver for attempt in error.attempts])
    NoSolution ['active-set', 'lemke', 'enumeration']
    """

    def __init__(
        self, message: str, attempts: tuple[Attempt, ...] = (), closest: np.ndarray | None = None
    ) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.closest = closest


class NoSolution(ComplementarityError):
    """It is proved that the problem has no solution at all.

    Two-sided constraints that demand 1 m/s and 2 m/s of the same point:

    >>> from klapper.complementarity import bilateral_forces
    >>> bilateral_forces([[1.0, 1.0], [1.0, 1.0]], [-1.0, -2.0])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    klapper.complementarity.errors.NoSolution: Redundant two-sided constraints contradict each other: ...
    """


class NotDecided(ComplementarityError):
    """Every applicable solver stopped without a solution, and non-existence is not proved either.

    The text names the smallest residual that was reached, if an iteration came near; ``closest`` are its unknowns.

    An equation that no x satisfies, 1 + 0 · x = 0, which Newton's method alone cannot know:

    >>> import numpy as np
    >>> from klapper.complementarity import NonlinearComplementarity, solve
    >>> never = NonlinearComplementarity(lambda x: 1.0 + 0.0 * x, lambda x: np.zeros((1, 1)), 1, free=1)
    >>> solve(never)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    klapper.complementarity.errors.NotDecided: No solver found a solution of the nonlinear complementarity problem, ...
    """


class RayTermination(ComplementarityError):
    """Lemke's path went to infinity: no solution for this covering vector (perhaps none at all).

    >>> from klapper.complementarity import LinearComplementarity, solve
    >>> solve(LinearComplementarity([[-1.0]], [-1.0]), "lemke")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    klapper.complementarity.errors.RayTermination: Lemke ended on a ray after 2 pivots: no solution on the path of ...
    """


class IterationLimit(ComplementarityError):
    """An iteration ran out of steps; the text states the residual it had reached.

    >>> from klapper.complementarity import Lemke, LinearComplementarity, solve
    >>> solve(LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0]), Lemke(max_pivots=1))
    Traceback (most recent call last):
    klapper.complementarity.errors.IterationLimit: Lemke stopped after 1 pivot without reaching a solution.
    """


class Unverified(ComplementarityError):
    """A solver claimed success, but its answer does not satisfy the problem.

    x = 1 offered as the solution of 0 ≤ x ⟂ 2 x − 4 ≥ 0, with 2 of 2 + 4 missing:

    >>> import numpy as np
    >>> from klapper.complementarity import Attempt, LinearComplementarity, Solution
    >>> guess = Solution(LinearComplementarity([[2.0]], [-4.0]), np.array([1.0]), (Attempt("guess", "solved"),))
    >>> guess.verify()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    klapper.complementarity.errors.Unverified: The answer of guess does not satisfy ...: natural map 3.3e-01, ...
    """


class NotApplicable(ComplementarityError):
    """This solver cannot treat this kind of problem; the text says why and what can.

    >>> import numpy as np
    >>> from klapper.complementarity import FrictionalContact, solve
    >>> solve(FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5), "active-set")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    klapper.complementarity.errors.NotApplicable: The active-set solver takes frictionless problems; ...
    """
