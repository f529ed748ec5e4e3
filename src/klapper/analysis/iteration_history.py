"""How many iterations every step of a nested prox run took, and which case its friction was, as the run noted it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.results import ResultsError, Run
from klapper.results.iterations import Iterations


@dataclass(frozen=True, eq=False)
class IterationHistory:
    """How many iterations each of n steps took, or the steps from one sample to the next where only some were saved.

    ``time``        (n,) [s] at its end
    ``rounds``      (n,) number of rounds of the outer level
    ``normal``, ``tangential``  (n,) number of iterations of the inner levels, ``reductions`` (n,) of r
    ``case``        of the friction tables, empty where there is none

    >>> import numpy as np
    >>> from klapper.analysis import IterationHistory
    >>> time, rounds, normal, tangential = np.array([0.1, 0.2]), np.array([2, 3]), np.array([9, 8]), np.array([1, 2])
    >>> history = IterationHistory(time, rounds, normal, tangential, reductions=np.zeros(2, int), case=("", ""))
    >>> history.outer_total, history.inner_total
    (5, 20)
    """

    time: np.ndarray
    rounds: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    reductions: np.ndarray
    case: tuple[str, ...]

    @property
    def outer_total(self) -> int:
        return int(self.rounds.sum())

    @property
    def inner_total(self) -> int:
        return int(self.normal.sum() + self.tangential.sum())


def iteration_history(run: Run) -> IterationHistory:
    """The iterations of a run by :class:`~klapper.schemes.NestedProx`, from sample to sample.

    They are those that the run noted, one entry per step if every step was saved. A run by a scheme that notes none is
    refused.

    Three steps of a block that stands on two feet:

    >>> from klapper.analysis import iteration_history
    >>> from klapper.bodies import FootedBlock, rigid_block
    >>> from klapper.mechanics import Constant
    >>> from klapper.schemes import NestedProx
    >>> from klapper.simulation import simulate
    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.5, 0.5)), load=Constant([10.0, 0.0, 0.0]))
    >>> history = iteration_history(simulate(block, 0.003, NestedProx(1e-3, compiled=False)))
    >>> history.time.round(9), bool((history.rounds > 0).all())
    (array([0.001, 0.002, 0.003]), True)
    """
    stored = run.about.get("iterations")
    if stored is None:
        raise ResultsError(
            f"This run by {run.about.get('scheme', 'an unknown scheme')} has no iterations from step to step; "
            f"NestedProx notes them, and run.statistics has the sums of every scheme."
        )
    noted = Iterations.read(stored)
    rounds, normal, tangential, reductions = noted.counts[1:].T
    case = tuple(noted.labels[place] for place in noted.case[1:])
    return IterationHistory(run.time[1:], rounds, normal, tangential, reductions, case)
