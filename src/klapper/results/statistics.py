"""What a run took: steps, iterations, factorisations, and the time by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from klapper.counting import counted


@dataclass(frozen=True)
class Statistics:
    """What a run took since its start, also over several sessions.

    ``steps``               of the scheme
    ``compiled_steps``      how many of them were done in compiled loops. These count their steps and nothing else, but
                            for the loop of ``NestedProx``, which counts its iterations, too
    ``newton_iterations``   rounds of Newton's method for the equations of a step, those of attempts that failed
                            included
    ``contact_problems``    number of contact problems that were solved, and
    ``contact_iterations``  iterations or pivots of their solvers
    ``factorisations``      of matrices
    ``seconds``             [s] by part: "contact problem", "linear algebra" (factorisations), "compiled loop",
                            "judging" (the audit), and "other": the functions of the model, and the step itself

    >>> from klapper.mechanics import LinearSystem, Ramp
    >>> from klapper.schemes import QuasiStatic
    >>> from klapper.simulation import simulate
    >>> spring = LinearSystem([1.0], stiffness=[4.0], force=Ramp([0.0], [2.0]))
    >>> taken = simulate(spring, 1.0, QuasiStatic(0.5)).statistics
    >>> taken.steps, taken.newton_iterations >= 2, taken.factorisations >= 2
    (2, True, True)
    """

    steps: int = 0
    compiled_steps: int = 0
    newton_iterations: int = 0
    contact_problems: int = 0
    contact_iterations: int = 0
    factorisations: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The same as plain data, for a file."""
        return {**vars(self), "seconds": dict(self.seconds)}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Statistics:
        """From what :meth:`plain` gave."""
        return cls(**stored)

    def __str__(self) -> str:
        told = [counted(self.steps, "step")]
        if self.compiled_steps:
            told.append(f"{self.compiled_steps} of them compiled")
        for number, one in (
            (self.newton_iterations, "Newton iteration"),
            (self.contact_problems, "contact problem"),
            (self.contact_iterations, "contact iteration"),
            (self.factorisations, "factorisation"),
        ):
            if number:
                told.append(counted(number, one))
        return ", ".join(told)
