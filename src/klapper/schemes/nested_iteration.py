"""Fixed points in three levels: normal impulses, friction impulses, and rounds of both. Seiwald 10.1-10.3.

    Λ_N ← prox_{≥0}(Λ_N − r_N v_N),     Λ_T ← prox_{|x| ≤ μ Λ_N}(Λ_T − r_T v_T)                    (3.15)

Each level runs until no impulse changes by more than a tolerance; v are the contact velocities at the end of the step
with the impulses so far. An inner level that does not converge begins again with smaller r where impulses still
change, (C.12).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

NORMAL, TANGENTIAL = 0, 1
LEVELS = ("normal", "tangential")


class Diverged(RuntimeError):
    """A level did not converge; the text says which, and how far it was."""


@dataclass(frozen=True)
class Limits:
    """``change`` [N s] that ends a level; most ``iterations`` of an inner one, ``rounds`` of the outer one, and
    ``reductions`` of r, each by the factor ``reduction``."""

    change: float
    iterations: int
    rounds: int
    reductions: int
    reduction: float


@dataclass(frozen=True, eq=False)
class IterationLog:
    """Every iterate of one step, n entries in their order.

    ``round`` (n,) from 1 on, ``level`` (n,) "normal", "tangential" or the name of a strategy, ``iteration`` (n,) from 1
    on, ``impulse`` (n, k, 2) [N s], normal and tangential, ``label`` (n,) what a strategy decided
    """

    contact: np.ndarray
    round: np.ndarray
    level: tuple[str, ...]
    iteration: np.ndarray
    impulse: np.ndarray
    label: tuple[str, ...]

    def of(self, level: str, round: int | None = None) -> np.ndarray:
        """Impulses (i, k, 2) of one level, in all rounds or in one."""
        chosen = np.array([name == level for name in self.level], dtype=bool)
        if round is not None:
            chosen &= self.round == round
        return self.impulse[chosen]


@dataclass
class Counter:
    """Counts and, if ``entries`` is a list, writes down every iterate."""

    entries: list[tuple[int, str, int, np.ndarray, str]] | None = None
    round: int = 0
    inner: np.ndarray = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    reductions: int = 0
    label: str = ""

    def note(self, level: str, iteration: int, impulse: np.ndarray, label: str = "") -> None:
        if self.entries is not None:
            self.entries.append((self.round, level, iteration, impulse.copy(), label))

    @property
    def totals(self) -> np.ndarray:
        """Rounds, normal iterations, tangential iterations, reductions of r (4,)."""
        return np.array([self.round, *self.inner, self.reductions], dtype=float)

    def log(self, contact: np.ndarray) -> IterationLog:
        entries = self.entries or []
        return IterationLog(
            contact,
            np.array([entry[0] for entry in entries], dtype=np.int64),
            tuple(entry[1] for entry in entries),
            np.array([entry[2] for entry in entries], dtype=np.int64),
            np.array([entry[3] for entry in entries]).reshape(len(entries), len(contact), 2),
            tuple(entry[4] for entry in entries),
        )


class StepProblem(Protocol):
    """What the iteration needs of a step with k closed contacts.

    ``velocity(impulse)`` (k, 2) [m/s] at its end, ``limit(normal)`` (k,) [N s] of friction, ``factor`` r (k, 2) [kg];
    ``presses`` (k,): which contacts have a normal direction
    """

    factor: np.ndarray
    presses: np.ndarray

    def velocity(self, impulse: np.ndarray) -> np.ndarray: ...

    def limit(self, normal: np.ndarray) -> np.ndarray: ...


def projected(problem: StepProblem, impulse: np.ndarray, level: int, factor: np.ndarray) -> np.ndarray:
    """The impulses (k, 2) after one sweep of a level."""
    changed = impulse.copy()
    moved = impulse[:, level] - factor * problem.velocity(impulse)[:, level]
    if level == NORMAL:
        changed[:, NORMAL] = np.where(problem.presses, np.maximum(moved, 0.0), 0.0)
    else:
        limit = problem.limit(impulse[:, NORMAL])
        changed[:, TANGENTIAL] = np.clip(moved, -limit, limit)
    return changed


def inner(
    problem: StepProblem, start: np.ndarray, level: int, limits: Limits, counter: Counter
) -> np.ndarray:
    """Normal or tangential impulses to convergence, the others held."""
    factor = problem.factor[:, level].copy()
    for _ in range(limits.reductions + 1):
        impulse = start
        for iteration in range(1, limits.iterations + 1):
            changed = projected(problem, impulse, level, factor)
            change = np.abs(changed - impulse)[:, level]
            impulse = changed
            counter.inner[level] += 1
            counter.note(LEVELS[level], iteration, impulse)
            if change.max(initial=0.0) <= limits.change:
                return impulse
        factor[~(change <= limits.change)] *= limits.reduction  # (C.12)
        counter.reductions += 1
    raise Diverged(
        f"the {LEVELS[level]} impulses still change by {change.max():.2e} N s (allowed {limits.change:.2e} N s) after "
        f"{limits.iterations} iterations with r reduced {limits.reductions} times"
    )


def rounds(
    problem: StepProblem,
    start: np.ndarray,
    strategy: Callable[[np.ndarray], tuple[np.ndarray, str]] | None,
    strategy_name: str,
    limits: Limits,
    counter: Counter,
) -> np.ndarray:
    """Impulses (k, 2) [N s]: normal level, then friction level or ``strategy(impulse)``, until nothing changes."""
    impulse = start
    for counter.round in range(1, limits.rounds + 1):
        before = impulse
        impulse = inner(problem, impulse, NORMAL, limits, counter)
        if strategy is None:
            impulse = inner(problem, impulse, TANGENTIAL, limits, counter)
        else:
            chosen, counter.label = strategy(impulse)
            impulse = impulse.copy()
            impulse[:, TANGENTIAL] = chosen
            counter.note(strategy_name, 1, impulse, counter.label)
        change = float(np.abs(impulse - before).max(initial=0.0))
        if change <= limits.change:
            return impulse
    raise Diverged(
        f"after {limits.rounds} rounds of normal and friction impulses they still change by {change:.2e} N s "
        f"(allowed {limits.change:.2e} N s)"
    )
