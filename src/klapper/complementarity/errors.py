"""What can go wrong with a complementarity problem, in words that help a mechanician.

Every exception carries ``attempts``: what was tried before it was raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from klapper.complementarity.solution import Attempt


class InvalidProblem(ValueError):
    """The data do not describe a problem: wrong shape, not finite, negative friction."""


class ComplementarityError(RuntimeError):
    """A problem was well posed as data, but no verified solution can be returned."""

    def __init__(self, message: str, attempts: tuple[Attempt, ...] = ()) -> None:
        super().__init__(message)
        self.attempts = attempts


class NoSolution(ComplementarityError):
    """It is proved that the problem has no solution at all."""


class NotDecided(ComplementarityError):
    """Every applicable solver stopped without a solution, and non-existence is not proved either."""


class RayTermination(ComplementarityError):
    """Lemke's path went to infinity: no solution for this covering vector (perhaps none at all)."""


class IterationLimit(ComplementarityError):
    """An iteration ran out of steps; the text states the residual it had reached."""


class Unverified(ComplementarityError):
    """A solver claimed success, but its answer does not satisfy the problem."""


class NotApplicable(ComplementarityError):
    """This solver cannot treat this kind of problem; the text says why and what can."""
