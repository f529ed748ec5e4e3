"""The compiled loop for rigid bodies with standard contacts: tables for the kernel, samples from it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.rigid_form import RigidForm
from klapper.schemes.base import Snapshot

if TYPE_CHECKING:
    from klapper.mechanics.kernels.signatures import Pointer
    from klapper.schemes.kernels.rigid_saving import Log, Saved
    from klapper.schemes.kernels.rigid_tables import Model

MOST_LISTED_CONTACTS = 2000


class RigidStretch:
    """Many steps of Moreau's scheme on rigid bodies, see :mod:`klapper.schemes.moreau` for the formulas.

    ``theta``       from ½ (midpoint) to 1 (implicit Euler)
    ``step``        h [s]
    ``tolerance``   allowed residual of the contact problems, relative to their largest velocity term
    ``max_sweeps``  sweeps over all contacts of a step before the loop stops and says so
    ``start``       time [s] of step number 0

    Up to a dozen contacts are solved to round-off. Heaps have nearly indeterminate forces: 1e-4 is a tolerance that
    they reach quickly, 1e-8 one that they reach at rest; while they fall together it may take seconds a step.
    Contacts are sampled as a table of all possible ones if these are at most ``MOST_LISTED_CONTACTS`` (a number that
    stands for none has the gap nan), else as a log of those loaded in the last step before a sample.
    """

    def __init__(
        self,
        form: RigidForm,
        theta: float,
        step: float,
        tolerance: float = 1e-9,
        max_sweeps: int = 20_000,
        *,
        start: float = 0.0,
    ) -> None:
        if form.dimension not in (2, 3):
            raise InvalidModel(f"the dimension is {form.dimension}; allowed are 2 and 3.")
        if not 0.5 <= theta <= 1.0:
            raise InvalidModel(f"theta is {theta}; allowed are numbers from 0.5 to 1.")
        if not (np.isfinite(step) and step > 0.0):
            raise InvalidModel(f"the step size is {step}; allowed are numbers above 0, in s.")
        if not tolerance > 0.0:
            raise InvalidModel(f"tolerance is {tolerance}; allowed are numbers above 0.")
        if max_sweeps < 1:
            raise InvalidModel(f"max_sweeps is {max_sweeps}; allowed are numbers from 1 on.")
        self.form, self.theta, self.step, self.tolerance = form, float(theta), float(step), float(tolerance)
        self.max_sweeps, self.start = int(max_sweeps), float(start)
        self._newton: Pointer | None = None  # of heaps, from the first step on that wants it

    @property
    def contact_count(self) -> int:
        """How many numbers the contacts take."""
        group = len(self.form.group_ball)
        return len(self.form.pair_ball) + group * (group + len(self.form.group_plane))

    @cached_property
    def _model(self) -> Model:
        from klapper.schemes.kernels.rigid_tables import tables

        return tables(self.form)

    @cached_property
    def _every_pair(self) -> np.ndarray:
        from klapper.schemes.kernels.rigid_tables import every_pair

        if self.contact_count > MOST_LISTED_CONTACTS:
            return np.empty((0, 4), dtype=np.int64)
        return every_pair(self._model)

    def run(
        self, snapshot: Snapshot, count: int, every: int, until: float = np.inf
    ) -> tuple[Snapshot, dict[str, Any], str]:
        """Do ``count`` steps; samples are the multiples of ``every``, counted from step 0, and the last step.

        Snapshot and samples end at the last sample whose steps all succeeded (no samples: at the given snapshot); the
        text is empty if that is the last one, else it says why the loop stopped. The samples are the arrays of
        ``klapper.results.Samples``; "loaded", if there, is a dict with the arrays of ``klapper.results.Loaded``.
        """
        from klapper.schemes.kernels.rigid_loop import UNSOLVED
        from klapper.schemes.kernels.rigid_parts import with_newton, without_newton

        numbers = _sample_numbers(snapshot.step, count, every)
        saved, ended = self._loop(snapshot, count, every, len(numbers), self._newton or without_newton())
        if ended[0] == UNSOLVED and self._newton is None and np.isnan(ended[3]):
            self._newton = with_newton()
            saved, ended = self._loop(snapshot, count, every, len(numbers), self._newton)
        return self._ending(snapshot, numbers, saved, ended)

    def _loop(
        self, snapshot: Snapshot, count: int, every: int, samples: int, newton: Pointer
    ) -> tuple[Saved, tuple[Any, ...]]:
        """The arrays with the samples, and what the compiled loop returns."""
        from klapper.schemes.kernels.rigid_loop import run

        saved, log = self._room(samples)
        return saved, run(
            self._model,
            self.step,
            self.theta,
            self.tolerance,
            self.max_sweeps,
            np.array(snapshot.position, dtype=float),
            np.array(snapshot.velocity, dtype=float),
            np.array(snapshot.contact, dtype=np.int64),
            self._padded(snapshot.impulse),
            np.array(snapshot.sums, dtype=float),
            snapshot.step,
            count,
            every,
            self._every_pair,
            saved,
            log,
            newton,
        )

    def _ending(
        self, snapshot: Snapshot, numbers: np.ndarray, saved: Saved, loop: tuple[Any, ...]
    ) -> tuple[Snapshot, dict[str, Any], str]:
        """What :meth:`run` returns."""
        ended, done, contacts, residual, number, impulse, log = loop
        why = self._why(ended, contacts, residual)
        if done == 0:
            return snapshot, {}, why
        samples = self._samples(numbers[:done], saved, log, snapshot.sums)
        after = replace(
            snapshot,
            step=int(numbers[done - 1]),
            time=float(samples["time"][-1]),
            position=samples["position"][-1].copy(),
            velocity=samples["velocity"][-1].copy(),
            contact=number,
            impulse=impulse[:, : self.form.dimension].copy(),
            sums=samples["energy"][-1, 2:].copy(),
        )
        return after, samples, why

    def _room(self, samples: int) -> tuple[Saved, Log]:
        from klapper.schemes.kernels.rigid_saving import Log, Saved

        bodies, m, d = len(self.form.mass), len(self._every_pair), self.form.dimension - 1
        nq, nv = (3 * bodies, 3 * bodies) if d == 1 else (7 * bodies, 6 * bodies)
        saved = Saved(
            np.empty((samples, nq)),
            np.empty((samples, nv)),
            np.zeros((samples, 7)),
            np.zeros(samples),
            np.empty((samples, m)),
            np.zeros((samples, m, 1 + d)),
            np.zeros((samples, m), np.int8),
        )
        start = np.zeros(samples + 1, np.int64)
        log = Log(start, np.empty(0, np.int64), np.empty(0), np.empty((0, 3)), np.empty(0, np.int8))
        return saved, log

    def _padded(self, impulse: np.ndarray) -> np.ndarray:
        full = np.zeros((len(impulse), 3))
        full[:, : self.form.dimension] = impulse
        return full

    def _samples(self, numbers: np.ndarray, saved: Saved, log: Log, sums: np.ndarray) -> dict[str, Any]:
        done = len(numbers)
        saved.energy[:done, 2:4] = sums[:2]  # loads and damping: there are none
        samples: dict[str, Any] = {
            "step": numbers,
            "time": self.start + numbers * self.step,
            "position": saved.position[:done],
            "velocity": saved.velocity[:done],
            "gap": saved.gap[:done],
            "impulse": saved.impulse[:done],
            "state": saved.state[:done],
            "constraint_impulse": np.zeros((done, 0)),
            "energy": saved.energy[:done],
            "residual": saved.residual[:done],
        }
        if self.contact_count > MOST_LISTED_CONTACTS:
            used = slice(log.start[done])
            samples["loaded"] = {
                "start": log.start[: done + 1],
                "contact": log.number[used],
                "gap": log.gap[used],
                "impulse": log.impulse[used, : self.form.dimension],
                "state": log.state[used],
            }
        return samples

    def _why(self, ended: int, contacts: int, residual: float) -> str:
        from klapper.schemes.kernels.rigid_loop import OVERFLOW, UNSOLVED

        if ended == UNSOLVED:
            return (
                f"the problem of {contacts} contacts was solved to {residual:.1e} only in {self.max_sweeps} sweeps, "
                f"wanted {self.tolerance:.1e}"
            )
        return "the motion left the range of numbers" if ended == OVERFLOW else ""


def _sample_numbers(first: int, count: int, every: int) -> np.ndarray:
    """Step numbers after ``first`` that are multiples of ``every``, and the last."""
    numbers = np.arange(first - first % every + every, first + count + 1, every, dtype=np.int64)
    if count > 0 and (len(numbers) == 0 or numbers[-1] != first + count):
        numbers = np.append(numbers, first + count)
    return numbers
