"""How many iterations every step of a nested prox run took, and which case its friction was.

A run keeps states and forces, not the way to them. The steps are done once more, compiled where that is possible, and
counted: the same start gives the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.nested_iteration import Counter
from klapper.schemes.nested_prox import NestedProx
from klapper.schemes.nested_step import NestedStep


@dataclass(frozen=True, eq=False)
class IterationHistory:
    """How many iterations each of n steps took.

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


def iteration_history(system: System, scheme: NestedProx, until: float) -> IterationHistory:
    """The iterations of all steps of ``scheme`` from the start of ``system`` to the time ``until`` [s].

    Raises :class:`klapper.schemes.StepFailed` where a step has no answer.

    Three steps of a block that stands on two feet:

    >>> from klapper.analysis import iteration_history
    >>> from klapper.bodies import FootedBlock, rigid_block
    >>> from klapper.mechanics import Constant
    >>> from klapper.schemes import NestedProx
    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.5, 0.5)), load=Constant([10.0, 0.0, 0.0]))
    >>> history = iteration_history(block, NestedProx(1e-3, compiled=False), 0.003)
    >>> history.time.round(9), bool((history.rounds > 0).all())
    (array([0.001, 0.002, 0.003]), True)
    """
    snapshot, count = scheme.init(system), scheme.equal_steps(system, until)
    time = system.start.time + scheme.step_size * np.arange(1, count + 1)
    stretch = scheme.stretch(system)
    counts, cases = np.zeros((count, 4), dtype=np.int64), [""] * count
    done = 0
    if stretch is not None:
        snapshot, _, _, record = stretch.recorded(snapshot, count, 1)
        done = len(record.counts)
        counts[:done], cases[:done] = record.counts, record.case
    for k in range(done, count):
        counter = Counter()
        snapshot = scheme.finish(NestedStep(scheme, system, snapshot, counter)).after
        counts[k], cases[k] = counter.totals, counter.label
    rounds, normal, tangential, reductions = counts.T
    return IterationHistory(time, rounds, normal, tangential, reductions, tuple(cases))
