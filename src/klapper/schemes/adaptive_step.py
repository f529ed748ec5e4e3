"""A step whose length follows a wanted accuracy: two half steps, checked against one whole step.

    e = max |q(h) − q(h/2, h/2)|,   h ← 0.9 h (accuracy/e)^{1/(p + 1)}

p is the order of the scheme. The half steps are the ones that are kept: what the scheme conserves, it conserves with
every length of its step. Hairer, Nørsett & Wanner, Solving ordinary differential equations I, II.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Self

import numpy as np

from klapper.contact_states import IMPACT
from klapper.mechanics.arguments import number
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, Step, StepFailed
from klapper.schemes.equal_steps import EqualSteps

SMALLEST = 1e-6  # of the largest step


class AccurateSteps(EqualSteps):
    """What schemes share whose steps are equal or, with an ``accuracy`` [m] of position per step, as long as it allows.

    Those that use :meth:`adapted` keep the length that is wanted of the next step in ``memory[-2]``.
    """

    accuracy: float | None

    def require_lengths(self) -> None:
        """Refuse a step size or an accuracy that is not above zero."""
        number(self.step_size, "step_size", "numbers above 0, in s", above=0.0)
        if self.accuracy is not None:
            number(self.accuracy, "accuracy", "numbers above 0, in m, or None", above=0.0)

    def require_memory(self, system: System, memory: np.ndarray) -> None:
        super().require_memory(system, memory)
        # ten times beyond the lengths that steps take: one that is next to nothing would never end
        if self.accuracy is not None and not 0.1 * SMALLEST < memory[-2] / self.step_size < 10.0:
            raise ValueError("memory holds a length of the next step that is none")

    def steps(self, system: System, until: float) -> int | None:
        return None if self.accuracy is not None else self.equal_steps(system, until)

    def refined(self, factor: float) -> Self:
        accuracy = None if self.accuracy is None else self.accuracy / factor
        return replace(self, step_size=self.step_size / factor, accuracy=accuracy)  # type: ignore[type-var]

    def adapted(
        self, fixed: Callable[[Snapshot, float], Step], snapshot: Snapshot, until: float, *, order: int
    ) -> Step:
        """The step from ``snapshot`` that keeps the accuracy, see :func:`adaptive_step`."""
        assert self.accuracy is not None
        done, following = adaptive_step(
            fixed,
            snapshot,
            wanted=float(snapshot.memory[-2]),
            largest=self.step_size,
            until=until,
            accuracy=self.accuracy,
            order=order,
        )
        memory = done.after.memory.copy()
        memory[-2] = following
        return replace(done, after=replace(done.after, memory=memory))


def adaptive_step(
    fixed: Callable[[Snapshot, float], Step],
    snapshot: Snapshot,
    *,
    wanted: float,
    largest: float,
    until: float,
    accuracy: float,
    order: int,
    unseen: Callable[[Step], float] = lambda step: 0.0,
) -> tuple[Step, float]:
    """The step from ``snapshot`` to at most ``until`` [s], and the length [s] that the next one should have.

    ``fixed``     makes a step of a given length [s]; where it fails the length is halved
    ``wanted``    length [s] to begin with; ``largest`` is never exceeded
    ``accuracy``  allowed error of position [m] per step
    ``order``     p of the scheme
    ``unseen``    error [m] of the second half step that does not show by comparing, since the whole step has it, too
    """
    h, smallest = min(wanted, largest, until - snapshot.time), SMALLEST * largest
    while True:
        try:
            whole = fixed(snapshot, h)
            first = fixed(snapshot, 0.5 * h)
            second = fixed(first.after, 0.5 * h)
        except StepFailed:
            if h <= smallest:
                raise
            h = max(0.5 * h, smallest)
            continue
        error = float(np.abs(whole.after.position - second.after.position).max(initial=0.0))
        error = max(error, unseen(second))
        factor = float(np.clip(0.9 * (accuracy / max(error, 1e-300)) ** (1.0 / (order + 1)), 0.2, 2.0))
        if error <= accuracy or h <= smallest:
            break
        h = max(h * min(factor, 0.7), smallest)
    step = joined(first, second, snapshot.step + 1)
    if error > accuracy:
        text = (
            f"at {snapshot.time:.6g} s the error of {error:.1e} m exceeds {accuracy:.1e} m even with the smallest "
            f"step {h:.1e} s"
        )
        step = replace(step, notes={**step.notes, "accuracy": text})
    return step, min(h * factor, largest)


def joined(first: Step, second: Step, number: int) -> Step:
    """Two half steps as one, with the given number."""
    contact = np.union1d(first.contact, second.contact).astype(np.int64)
    impulse = np.zeros((len(contact), first.impulse.shape[1]))
    state = np.zeros(len(contact), dtype=np.int8)
    for part in (first, second):
        place = np.searchsorted(contact, part.contact)
        impulse[place] += part.impulse
        state[place] = np.where(state[place] == IMPACT, IMPACT, part.state)
    return Step(
        replace(second.after, step=number),
        contact,
        impulse,
        state,
        first.constraint + second.constraint,
        max(first.residual, second.residual),
        {**first.notes, **second.notes},
    )
