"""The compiled loop of the nested prox scheme for a block on two feet: numbers for the kernel, samples from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.contact_states import SLIP, STICK
from klapper.effort import report
from klapper.mechanics.block_form import BlockForm
from klapper.schemes.base import Snapshot
from klapper.schemes.friction_strategies import FunctionalFriction, PseudoInverseFriction

if TYPE_CHECKING:
    from klapper.schemes.kernels.block_iteration import Options
    from klapper.schemes.kernels.block_loop import Saved
    from klapper.schemes.kernels.block_state import Loads, State
    from klapper.schemes.nested_prox import NestedProx


def obstacle(scheme: NestedProx, system: Any) -> str:
    """Why the compiled loop cannot take the scheme; empty if it can."""
    if not isinstance(scheme.strategy, PseudoInverseFriction | FunctionalFriction | None):
        return f"friction strategy '{scheme.strategy.name}' is Python code"
    if not system.contacts.constant:
        return "a friction coefficient depends on the sliding speed"
    return ""


@dataclass(frozen=True, eq=False)
class StepRecord:
    """What every one of n steps took: ``counts`` (n, 4) rounds, normal and tangential iterations, reductions of r;
    ``case`` (n,) of the friction tables, empty where there is none; ``missed`` (n,) whether friction by a strategy
    disagreed with the sliding velocities."""

    counts: np.ndarray
    case: tuple[str, ...]
    missed: np.ndarray


class BlockStretch:
    """Many steps of a :class:`~klapper.schemes.nested_prox.NestedProx` on a system with ``block_form`` and ``load``."""

    def __init__(self, scheme: NestedProx, system: Any) -> None:
        self.scheme, self.load, self.start = scheme, system.load, float(system.start.time)
        self.form: BlockForm = system.block_form()
        self.rough = system.contacts.laws(np.arange(system.contacts.count)).rough

    def run(
        self, snapshot: Snapshot, count: int, every: int, until: float = np.inf
    ) -> tuple[Snapshot, dict[str, Any], str]:
        """Do ``count`` steps, see :class:`klapper.schemes.base.Stretch`."""
        after, samples, why, record = self.recorded(snapshot, count, every)
        if samples:
            report("contact_problems", len(record.counts))
            report("contact_iterations", int(record.counts[:, 1:3].sum()))
            samples["iterations"] = (record.counts, record.case)
        return after, samples, why

    def recorded(
        self, snapshot: Snapshot, count: int, every: int
    ) -> tuple[Snapshot, dict[str, Any], str, StepRecord]:
        """As :meth:`run`, with what every step took."""
        from klapper.complementarity.kernels.friction_split import LABELS
        from klapper.schemes.kernels.block_loop import DONE, run

        numbers = _sample_numbers(snapshot.step, count, every)
        saved, now, kept = self._room(len(numbers), count), self._state(snapshot), self._state(snapshot)
        ended, done = run(
            self.form,
            self._options(),
            self._loads(snapshot.step, count),
            now,
            kept,
            snapshot.step,
            count,
            every,
            saved,
        )
        why = "" if ended == DONE else "the impulses of a step did not converge, or its motion is not finite"
        steps = int(numbers[done - 1]) - snapshot.step if done else 0
        record = StepRecord(
            saved.step_counts[:steps],
            tuple(LABELS[i] if i >= 0 else "" for i in saved.step_case[:steps]),
            saved.step_missed[:steps],
        )
        if done == 0:
            return snapshot, {}, why, record
        samples = self._samples(numbers[:done], saved)
        impulse = kept.impulse.reshape(2, 2)
        loaded = np.any(impulse != 0.0, axis=1)
        after = replace(
            snapshot,
            step=int(numbers[done - 1]),
            time=float(samples["time"][-1]),
            position=kept.q,
            velocity=kept.v,
            contact=np.flatnonzero(loaded).astype(np.int64),
            impulse=impulse[loaded],
            sums=kept.sums,
            memory=np.concatenate([kept.sticks.astype(float), kept.counts]),
        )
        return after, samples, why, record

    def _options(self) -> Options:
        from klapper.schemes.kernels import block_iteration as kernel

        scheme, strategy, h = self.scheme, self.scheme.strategy, self.scheme.step_size
        code, metric, plain = kernel.PROX, np.ones(3), True
        stiffness, preload = np.ones(2), np.zeros(2)
        of_contacts, contact_weights, contact_linear, by_limit = False, np.ones(2), np.zeros(2), False
        if isinstance(strategy, PseudoInverseFriction):
            code = kernel.REDISTRIBUTED if strategy.redistribute else kernel.PSEUDO_INVERSE
        elif isinstance(strategy, FunctionalFriction):
            code, plain = kernel.FUNCTIONAL, strategy.plain
            metric = self._metric(strategy)
            of_contacts = strategy.ansatz == 3
            contact_weights = np.array(strategy.contact_weights or (1.0, 1.0))
            contact_linear = np.array(strategy.contact_linear or (0.0, 0.0))
            by_limit = strategy.stiffness == "limit"
            given_stiffness = None if by_limit else strategy.stiffness
            stiffness = np.array((1.0, 1.0) if given_stiffness is None else given_stiffness)
            preload = h * np.array(strategy.preload if strategy.preload is not None else (0.0, 0.0))
        given = None if scheme.start in (None, "previous") else h * np.array(scheme.start)
        return kernel.Options(
            h,
            scheme.integrator == "implicit",
            code,
            metric,
            of_contacts,
            contact_weights,
            contact_linear,
            plain,
            by_limit,
            stiffness,
            preload,
            scheme.start == "previous",
            np.zeros(4) if given is None else given.ravel(),
            np.ones(2) if scheme.weights is None else np.array(scheme.weights, dtype=float),
            {"none": kernel.NO_PROJECTION, "thesis": kernel.THESIS, "step-safe": kernel.STEP_SAFE}[
                scheme.projection
            ],
            scheme.slip_speed,
            scheme.slip_force,
            scheme.gap_tolerance,
            scheme.limits.change,
            scheme.max_rounds,
            scheme.max_iterations,
            scheme.max_reductions,
            scheme.reduction,
        )

    def _metric(self, strategy: FunctionalFriction) -> np.ndarray:
        """P (3,) of one body."""
        if strategy.ansatz == 2:
            return np.array([self.form.mass[0], self.form.mass[0], self.form.inertia[0]]) ** 2
        return np.ones(3)

    def _loads(self, first: int, count: int) -> Loads:
        from klapper.schemes.kernels.block_state import Loads

        start = self.start + np.arange(first, first + count) * self.scheme.step_size
        middle = start + 0.5 * self.scheme.step_size
        columns = [self.load.value(middle), np.zeros((0, 3)), np.zeros((0, 3))]
        if self.scheme.integrator == "implicit":
            columns[1:] = [self.load.value(start), self.load.rate(start)]
        return Loads(*(np.ascontiguousarray(column) for column in columns))

    def _state(self, snapshot: Snapshot) -> State:
        from klapper.schemes.kernels.block_state import State

        impulse = np.zeros((2, 2))
        impulse[snapshot.contact] = snapshot.impulse
        return State(
            np.array(snapshot.position, dtype=float),
            np.array(snapshot.velocity, dtype=float),
            snapshot.memory[:2] > 0.0,
            impulse.ravel(),
            np.array(snapshot.sums, dtype=float),
            np.array(snapshot.memory[-4:], dtype=float),
        )

    def _room(self, samples: int, count: int) -> Saved:
        from klapper.schemes.kernels.block_loop import Saved

        n = 3 * len(self.form.mass)
        return Saved(
            np.empty((samples, n)),
            np.empty((samples, n)),
            np.empty((samples, 2)),
            np.empty((samples, 2, 2)),
            np.empty((samples, 2), np.int8),
            np.empty((samples, 7)),
            np.empty(samples),
            np.zeros((count, 4), np.int64),
            np.full(count, -1),
            np.zeros(count, np.bool_),
        )

    def _samples(self, numbers: np.ndarray, saved: Saved) -> dict[str, Any]:
        done = len(numbers)
        return {
            "step": numbers,
            "time": self.start + numbers * self.scheme.step_size,
            "position": saved.position[:done],
            "velocity": saved.velocity[:done],
            "gap": saved.gap[:done],
            "impulse": saved.impulse[:done],
            "state": np.where((saved.state[:done] == STICK) & ~self.rough, SLIP, saved.state[:done]).astype(
                np.int8
            ),
            "constraint_impulse": np.zeros((done, 0)),
            "energy": saved.energy[:done],
            "residual": saved.residual[:done],
        }


def _sample_numbers(first: int, count: int, every: int) -> np.ndarray:
    """Step numbers after ``first`` that are multiples of ``every``, and the last."""
    numbers = np.arange(first - first % every + every, first + count + 1, every, dtype=np.int64)
    if count > 0 and (len(numbers) == 0 or numbers[-1] != first + count):
        numbers = np.append(numbers, first + count)
    return numbers
