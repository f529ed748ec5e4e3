"""``simulate``: the only time loop.

    run = simulate(system, until=10.0, scheme=Moreau(1e-3))

It steps, saves samples, keeps the ledger, shows progress, writes parts to disk so that a run survives being killed, and
has the whole judged at the end by :mod:`klapper.audit`. Work is cut at fixed step numbers; at each cut the state is
plain data. A resumed run goes through the same cuts, so it ends in the same bits.
"""

from __future__ import annotations

import hashlib
import json
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from klapper.audit import audit
from klapper.compiling import compilation_told
from klapper.contact_states import IMPACT
from klapper.effort import Effort
from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.fingerprint import options_of, plain_answers, written_out
from klapper.mechanics.picture_format import plain_picture
from klapper.mechanics.system import System, require_system
from klapper.progress import Progress, progress_for
from klapper.results import ENERGY, Layout, Loaded, PartStore, ResultsError, Run, Samples
from klapper.results.findings import Findings
from klapper.results.iterations import COLUMNS, Iterations
from klapper.results.statistics import Statistics
from klapper.sampling import Sampler
from klapper.schemes.base import (
    Scheme,
    Snapshot,
    Step,
    StepFailed,
    Stretch,
    kinetic_energy,
    require_scheme,
)
from klapper.schemes.work import StepIterations, Work

__all__ = ["SimulationFailed", "SimulationInterrupted", "simulate"]

MOST_STEPS = 1e9  # that are made without being confirmed: compiled steps of a ball take about 10 minutes
MOST_SECONDS = 1e9  # of a motion whose steps the scheme chooses
MOST_LISTED_CONTACTS = 2000  # with more, only loaded contacts are logged, by number
_MEMORY = 4e8  # bytes of samples beyond which they are thinned out
_AT_ONCE = 2e7  # bytes of steps that are merged to samples at once
_MOST_SAMPLES = 200_000  # of a motion that is sampled inside its steps
_LOOKED_INTO = 1024  # steps between cuts where a compiled loop gives samples inside its steps
_PART_EVERY = 5.0  # seconds between parts on disk


class SimulationFailed(RuntimeError):
    """The run ended before its time, or its books do not close; ``run`` holds what there is.

    A mass cannot be held at a wall and follow a ram at once:

    >>> from klapper.mechanics import Constraint, LinearSystem, Ramp
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulation import simulate
    >>> wall, ram = Constraint("wall", [1.0]), Constraint("ram", [1.0], offset=Ramp(0.0, 2.0))
    >>> held = LinearSystem([1.0], constraints=[wall, ram])
    >>> simulate(held, 1.0, Moreau(0.1, compiled=False))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.simulation.SimulationFailed: At 0 s constraint 'ram' contradicts the others: 1 m/s cannot be met. ...
    """

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.run)


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C ended the run; ``run`` holds what there is, with the status "interrupted".

    It is a ``KeyboardInterrupt``, so that a loop over runs ends, too. ``simulate(…, on_interrupt="return")`` returns
    the run instead:

    >>> from klapper.mechanics import FunctionSystem
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulation import SimulationInterrupted, simulate
    >>> def force(t, q, v):
    ...     if t > 0.22:
    ...         raise KeyboardInterrupt
    ...     return [-10.0]
    >>> ball = FunctionSystem([0.0], [0.0], mass=[[1.0]], force=force, stiff=False)
    >>> try:
    ...     simulate(ball, 1.0, Moreau(0.1))
    ... except SimulationInterrupted as stopped:
    ...     print(stopped, len(stopped.run))
    interrupted at 0.2 s 3
    """

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.run)


_KEPT: ContextVar[list[Run] | None] = ContextVar("klapper_interrupted_runs", default=None)


_LONG: ContextVar[bool] = ContextVar("klapper_long_runs", default=False)


@contextmanager
def long_runs_allowed() -> Iterator[None]:
    """Within, long runs need no ``long=True``: for examples, which call :func:`simulate` themselves."""
    token = _LONG.set(True)
    try:
        yield
    finally:
        _LONG.reset(token)


@contextmanager
def interrupted_runs_kept() -> Iterator[list[Run]]:
    """Within, an interrupted run is returned, and no other begins: for the command line, which stores what there is.

    Examples call :func:`simulate` themselves, and make figures and numbers of what they get, if they can. The list that
    this yields holds the interrupted run as soon as there is one.
    """
    kept: list[Run] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


def simulate(
    system: System,
    until: float,
    scheme: Scheme,
    *,
    every: int | None = None,
    store: str | Path | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    long: bool = False,
) -> Run:
    """Integrate ``system`` from its start to the time ``until`` [s] and return the run.

    ``scheme``     of :mod:`klapper.schemes`, e.g. ``Moreau(1e-3)``
    ``every``      save every so many steps; None: every step, fewer if that would take more than 400 MB, and inside
                   the steps of a method that knows the motion there, as densely as straight lines need it
    ``store``      folder for the run; if it holds the beginning of the same run, that is resumed, and if it holds the
                   finished run, that is returned
    ``overwrite``  whether another run in ``store`` may be replaced
    ``progress``   show progress, and what is compiled; None: on a terminal, for what takes longer than a moment
    ``on_interrupt``  what Ctrl-C does after it has stored what there is: "raise" :class:`SimulationInterrupted`, which
                   holds the run so far, or "return" that run (status "interrupted"), for notebooks
    ``long``       confirms a run of more than 10⁹ steps, or of more than 10⁹ s if the scheme chooses its steps

    A step without a verified answer raises :class:`SimulationFailed`, which holds the run so far.

        M dv = f dt + J_N dΛ_N + J_T dΛ_T + J_B dΛ_B

    A ball dropped from 1.25 m under 10 m/s² hits the floor after 0.5 s and rebounds with 0.6 of its speed:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> time, position, velocity = simulate(ball, 1.0, EventDriven()).final
    >>> time, position.round(9), velocity.round(9)
    (1.0, array([0.25]), array([-2.]))
    """
    require_arguments(system, until, scheme, every)
    if on_interrupt not in ("raise", "return"):
        raise InvalidModel(f"on_interrupt is {on_interrupt!r}; allowed are 'raise' and 'return'.")
    if not (long or _LONG.get()) and (reason := too_long(system, scheme, float(until))):
        raise InvalidModel(
            f"until is {until:g}, {reason}; give a smaller time, or confirm by long=True (--long)."
        )
    kept = _KEPT.get()
    if kept:
        raise SimulationInterrupted(kept[-1].about["message"], kept[-1])
    try:
        return _simulated(system, until, scheme, every, store, overwrite=overwrite, progress=progress)
    except SimulationInterrupted as interrupted:
        if kept is not None:
            kept.append(interrupted.run)
        elif on_interrupt != "return":
            raise
        return interrupted.run


def _simulated(
    system: System,
    until: float,
    scheme: Scheme,
    every: int | None,
    store: str | Path | None,
    *,
    overwrite: bool,
    progress: bool | None,
) -> Run:
    loop = _Loop(system, scheme, float(until), every, quiet=progress is False)
    shown = progress_for(progress, system.start.time, float(until))
    if store is None:
        return loop.run(None, shown)
    with PartStore(store) as parts:
        fingerprint = loop.fingerprint()
        if not overwrite:
            finished = parts.finished(fingerprint)
            if finished is not None:
                return finished
            resumed = parts.resume(fingerprint)
            if resumed is not None:
                with _of_this_run(store):
                    loop.go_on(resumed.samples, resumed.snapshot)
                return loop.run(parts, shown)
        parts.begin(loop.layout, loop.about(), fingerprint, overwrite=overwrite)
        return loop.run(parts, shown)


@contextmanager
def _of_this_run(store: str | Path) -> Iterator[None]:
    """Tells in one sentence that what a file gives is no state of this run."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ResultsError(
            f"{store} holds no state from which this run can go on ({reason}): begin with overwrite, or give another "
            "folder."
        ) from error


def require_arguments(system: Any, until: Any, scheme: Any, every: Any) -> None:
    """Refuse what cannot be simulated, before anything is computed."""
    require_system(system)
    require_scheme(scheme)
    if not (isinstance(until, int | float | np.number) and np.isfinite(until) and until > system.start.time):
        raise InvalidModel(
            f"until is {until!r}; it must be a time later than the start at {system.start.time} s."
        )
    if every is not None and not (isinstance(every, int | np.integer) and every >= 1):
        raise InvalidModel(f"every is {every!r}; allowed are whole numbers from 1 on.")


def too_long(system: System, scheme: Scheme, until: float) -> str:
    """Why a run would hardly end, empty if it may: too many steps or samples, or too long a time."""
    duration = float(until) - float(system.start.time)
    lengths = {
        "steps": None
        if getattr(scheme, "accuracy", None) is not None
        else getattr(scheme, "step_size", None),
        "samples": getattr(scheme, "sample", None),
    }
    for what, length in lengths.items():
        if length is not None and duration / float(length) > MOST_STEPS:
            return f"which takes {duration / float(length):.1g} {what}, more than {MOST_STEPS:.0g}"
    if lengths["steps"] is None and duration > MOST_SECONDS:
        return f"which is more than {MOST_SECONDS:.0g} s after the start"
    return ""


class _Loop:
    def __init__(
        self, system: System, scheme: Scheme, until: float, every: int | None, *, quiet: bool = True
    ) -> None:
        self.system, self.scheme, self.until = system, scheme, until
        count = system.contacts.count
        self.listed = count <= MOST_LISTED_CONTACTS
        self.layout = Layout(
            system.coordinates,
            system.velocities,
            tuple(system.contacts.name(i) for i in range(count)) if self.listed else (),
            system.contacts.tangential,
            system.constraints,
        )
        self.steps = scheme.steps(system, until)
        self.every = self._thinning() if every is None else int(every)
        self.dense = every is None and getattr(scheme, "sample", None) is None
        self.most = int(np.clip(_MEMORY / self._sample_bytes, 1000, _MOST_SAMPLES))
        self.saved = self.counted = 1  # samples, or all that may be; now and at the last sample
        self._tallied: np.ndarray | None = None
        self.snapshot = scheme.init(system)
        self.sampled = self.snapshot  # at the last sample: what a run that is interrupted goes on from
        self.stretches: list[Samples] = [self._first_sample()]
        self.began = time.perf_counter()
        self.unsaved = 0  # index of the first stretch that is not on disk
        self.findings = Findings()
        self.seconds = 0.0  # of work before this session
        self.not_compiled = ""  # why the steps are not compiled, in words
        self.no_picture = ""  # why there is none, in words
        self.fallbacks, self.fallback = 0, ""  # steps by the general code, and why the first of them was
        self.worst_residual = 0.0
        self.work = Work()
        self.effort = Effort()
        self.compiled_steps = 0
        self.quiet = quiet
        self.iterations = _IterationRecord()

    @cached_property
    def sampler(self) -> Sampler:
        """Looks into steps, where the scheme or thinned samples need it."""
        return Sampler(self.system, self.layout)

    @property
    def tallied(self) -> np.ndarray:
        """The sums (5, n) of the statistics at the last sample."""
        if self._tallied is None:
            return Sampler(self.system, self.layout).tally.written()
        return self._tallied

    @tallied.setter
    def tallied(self, sums: np.ndarray) -> None:
        self._tallied = sums

    def _thinning(self) -> int:
        if self.steps is None:
            return 1
        return max(int(np.ceil(self.steps * self._sample_bytes / _MEMORY)), 1)

    @property
    def _sample_bytes(self) -> float:
        width = len(self.layout.coordinates) + len(self.layout.velocities) + 12
        width += len(self.layout.contacts) * (3 + self.layout.tangential)
        return 8.0 * width

    def fingerprint(self) -> str:
        """A text that differs for another system, scheme or length: by what the system answers at several times."""
        digest = hashlib.blake2b(digest_size=16)
        for array in plain_answers(self.system, self.until, MOST_LISTED_CONTACTS):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype=float).tobytes())
        options = (self.scheme.name, self.scheme.settings, options_of(self.scheme))
        for text in (repr(self.layout), written_out(options), repr(self.until), repr(self.every)):
            digest.update(text.encode())
        return digest.hexdigest()

    def go_on(self, samples: Samples, stored: dict[str, Any]) -> None:
        """Take up a run that was stored."""
        snapshot, last = Snapshot.read(stored), samples[-1:]
        snapshot.require_of(self.snapshot, self.system.contacts.count)
        self.scheme.require_memory(self.system, snapshot.memory)
        for name in ("step", "time", "position", "velocity"):
            if not np.array_equal(np.ravel(getattr(snapshot, name)), np.ravel(getattr(last, name))):
                raise ValueError(f"{name} is not that of the last sample")
        self.stretches, self.unsaved = [samples], 1
        self.snapshot = self.sampled = snapshot
        self.findings = Findings.read(stored["findings"])
        self.saved = self.counted = int(stored["samples"])
        sums = np.asarray(stored["over_time"])
        if sums.dtype.kind != "f" or sums.shape != self.sampler.tally.written().shape:
            raise ValueError("over_time holds no sums of these histories")
        self.tallied = sums
        self.sampler.tally.read(sums)
        self.seconds = float(stored["seconds"])
        self.fallbacks = int(stored["fallbacks"])
        self.worst_residual = float(stored["worst_residual"])
        taken = json.loads(stored.get("statistics") or "{}")
        self.compiled_steps = int(taken.get("compiled_steps", 0))
        self.effort = Effort(taken, taken.get("seconds"))
        if stored.get("iterations"):
            self.iterations = _IterationRecord.read(json.loads(stored["iterations"]))

    def run(self, store: PartStore | None, shown: Progress) -> Run:
        status, message, cause = "complete", "", None
        self.began = last_part = time.perf_counter()
        stretch = self._stretch()
        try:
            with shown, self.effort.measured():
                while not self._finished():
                    self._advance(stretch)
                    shown.update(self.snapshot.time, self.snapshot.step, self._now())
                    if store is not None and time.perf_counter() - last_part > _PART_EVERY:
                        self._write(store)
                        last_part = time.perf_counter()
        except KeyboardInterrupt:
            status, message = "interrupted", f"interrupted at {self.snapshot.time:.6g} s"
        except StepFailed as error:
            status, message = "failed", str(error)
        except ResultsError as error:
            status, message, store = "failed", f"The run cannot be stored. {error}", None
        except Exception as error:  # in a function of the user's: what was computed is not lost with it
            status, cause = "failed", error
            message = f"The model failed after {self.snapshot.time:.6g} s: {type(error).__name__}: {error}"
        unstored: ResultsError | None = None
        if store is not None:  # first of all: judging takes time, in which Ctrl-C may be pressed again
            try:
                self._write(store)
            except ResultsError as error:
                unstored = error
            except KeyboardInterrupt:  # heard while the part was written, which is whole
                if status == "complete":
                    status, message = "interrupted", f"interrupted at {self.snapshot.time:.6g} s"
        run = self._judged(status, message, stretch)
        if store is not None and unstored is None and run.about["status"] == "complete":
            try:
                with _undisturbed():
                    store.finish(run)
            except ResultsError as error:
                unstored = error
        if unstored is not None:
            raise SimulationFailed(f"The run cannot be stored. {unstored}", run) from unstored
        if run.about["status"] == "failed":
            raise SimulationFailed(run.about["message"], run) from cause
        if status == "interrupted":
            raise SimulationInterrupted(message, run)
        return run

    def _stretch(self) -> Stretch | None:
        """The compiled loop, or None: then the audit says why."""
        try:
            return self.scheme.stretch(self.system)
        except NotCompiled as reason:
            if getattr(self.scheme, "compiled", True) == "require":
                raise InvalidModel(
                    f"compiled='require', but '{self.system.name}' is not compiled: {reason}."
                ) from None
            self.not_compiled = str(reason)
            return None

    def _finished(self) -> bool:
        if self.steps is not None:
            return self.snapshot.step >= self.steps
        return self.snapshot.time >= self.until - 1e-12 * abs(self.until)

    def _ahead(self) -> float:
        """The time [s] that a step of variable size may not go past: the next kink of what is given, or the end."""
        if self.steps is not None or not len(self.breaks):
            return self.until
        now = self.snapshot.time
        later = np.searchsorted(self.breaks, now + 1e-12 * max(abs(now), abs(self.until)), side="right")
        return min(self.until, float(self.breaks[later])) if later < len(self.breaks) else self.until

    @cached_property
    def breaks(self) -> np.ndarray:
        """Times (k,) [s] at which something given has a kink."""
        return np.asarray(self.system.breaks, dtype=float)

    def _advance(self, stretch: Stretch | None) -> None:
        """Go to the next cut."""
        if stretch is None or not self._takes(stretch):
            with nullcontext() if stretch is None else self._told():
                self._general(self._cut(64))
            return
        cut = self._cut(_LOOKED_INTO if _looks_inside(stretch) else self._compiled_cut())
        while self.snapshot.step < cut and not self._finished():
            count, before = cut - self.snapshot.step, self.snapshot.step
            run = self._stretched if self.every == 1 else self._merged
            if _looks_inside(stretch) and (self.every > 1 or self._crowded):
                run = self._thinned
            after, samples, why = run(stretch, count)
            if samples is not None:
                self._take(samples)
                self.compiled_steps += after.step - before
                self.snapshot = self.sampled = after
                if _looks_inside(stretch):
                    self.tallied = self.sampler.tally.written()
                    self.saved = self.counted = self.saved + len(samples)
            if why:
                step = self.snapshot.step
                self._general(min(step - step % self.every + self.every, cut))
                self.fallbacks += self.snapshot.step - step
                self.fallback = self.fallback or why

    def _compiles(self, stretch: Stretch) -> bool:
        """Whether steps were, or would have been, compiled."""
        return self.compiled_steps > 0 or not _looks_inside(stretch)

    def _takes(self, stretch: Any) -> bool:
        """Whether the compiled loop does the next steps: one that looks inside them begins after some steps only, since
        it takes long to compile."""
        return not _looks_inside(stretch) or bool(self.snapshot.step >= stretch.begins_after)

    def _stretched(self, stretch: Stretch, count: int) -> tuple[Snapshot, Samples | None, str]:
        """Up to ``count`` compiled steps, each with its sample."""
        after, steps, why, told = self._compiled(stretch, count)
        if steps is not None:
            self._note_iterations(told, steps, np.arange(len(steps)))
        return after, steps, why

    def _merged(self, stretch: Stretch, count: int) -> tuple[Snapshot, Samples | None, str]:
        """The same with one sample for every so many steps; the statistics see them all."""
        together = max(int(_AT_ONCE / (self.every * self._sample_bytes)), 1) * self.every
        together = min(count, together - self.snapshot.step % self.every)
        after, steps, why, told = self._compiled(stretch, together)
        if steps is None:
            return after, None, why
        ends = np.flatnonzero(steps.step % self.every == 0)
        if not why and ends[-1:].tolist() != [len(steps) - 1]:
            ends = np.append(ends, len(steps) - 1)  # the last step of the run
        if len(ends) == 0:
            return after, None, why
        if ends[-1] < len(steps) - 1:
            after, steps, _, told = self._compiled(stretch, int(ends[-1]) + 1)
        assert steps is not None
        self.sampler.tally.take_samples(Samples.concatenate([self.stretches[-1][-1:], steps]))
        self.tallied = self.sampler.tally.written()
        self._note_iterations(told, steps, ends)
        return after, steps.merged(ends), why

    def _thinned(self, stretch: Stretch, count: int) -> tuple[Snapshot, Samples | None, str]:
        """Steps of a loop that looks inside them, with one sample for every so many steps, or for so much time in a run
        that has as many samples as it may have."""
        after, steps, why, _ = self._compiled(stretch, count)
        if steps is None:
            return after, None, why
        if self._crowded:
            ends, last, apart = [], self.sampled.time, self._apart * (1.0 - 1e-9)  # those inside differ by it
            for i, time in enumerate(steps.time):
                if time - last >= apart:
                    ends.append(i)
                    last = time
        else:
            ends = np.flatnonzero(steps.step % self.every == 0).tolist()
        if ends[-1:] != [len(steps) - 1]:
            ends.append(len(steps) - 1)  # what the next call goes on from
        return after, steps.merged(np.array(ends)), why

    def _compiled(self, stretch: Stretch, count: int) -> tuple[Snapshot, Samples | None, str, Any]:
        """What a compiled loop did in up to ``count`` steps, and the iterations it tells of, if any."""
        with self.effort.timed("compiled loop"), self._told():
            looks: dict[str, Any] = {}
            if _looks_inside(stretch):
                looks = {
                    "tally": self.sampler.tally,
                    "allowed": self.most - self.saved if self.dense else None,
                    "apart": self._apart if self._crowded else None,
                }
            after, arrays, why = stretch.run(self.snapshot, count, 1, self._ahead(), **looks)
        told = arrays.pop("iterations", None) if arrays else None
        findings: Any = arrays.pop("findings", {}) if arrays else {}
        self.findings.take(findings)
        return after, _as_samples(arrays) if arrays else None, why, told

    def _told(self) -> AbstractContextManager[None]:
        """Says what is compiled within, if that takes more than a moment."""
        return nullcontext() if self.quiet else compilation_told()

    def _note_iterations(self, told: Any, steps: Samples, ends: np.ndarray) -> None:
        """Iterations of compiled steps by the samples number ``ends`` (k,) of them."""
        if told is not None:
            counts, case = told
            self.iterations.take_many(counts, case, steps.step[ends] - self.snapshot.step)

    def _cut(self, distance: int) -> int:
        """The next step number at which the state is plain data: a multiple of a fixed distance, or the end."""
        distance = -(-distance // self.every) * self.every
        cut = (self.snapshot.step // distance + 1) * distance
        return cut if self.steps is None else min(cut, self.steps)

    def _compiled_cut(self) -> int:
        rows = min(self.system.contacts.count, 500) * (1 + self.layout.tangential)
        work = len(self.layout.velocities) ** 2 + (100 if self.layout.tangential else 5) * rows**2 + 200
        return int(np.clip(5e7 / work, 10, 500_000))

    def _general(self, cut: int) -> None:
        """Step by step to step number ``cut``, one sample per ``every`` steps."""
        collected: list[Samples] = []
        gathered = _Gathered(self.layout, self.listed)
        try:
            while self.snapshot.step < cut and not self._finished():
                before = self.snapshot
                step = self.scheme.step(self.system, before, self._ahead(), self.work)
                self.snapshot = step.after
                self.findings.take(step.notes)
                inner = self._look(before, step, alone=gathered.last is None)
                gathered.add(step if inner is None else _rest(step, inner), self.work.iterations)
                if inner is not None or self._due(cut):
                    sample = self._sample(gathered)
                    collected.append(
                        sample if inner is None else Samples.concatenate([inner.samples, sample])
                    )
                    if gathered.iterations is not None:
                        self.iterations.take(*gathered.iterations)
                    self.sampled = self.snapshot
                    if "sampler" in vars(self):
                        self.tallied = self.sampler.tally.written()
                    self.saved = self.counted = self.saved + len(collected[-1])
                    gathered = _Gathered(self.layout, self.listed)
        finally:
            if collected:
                self._take(Samples.concatenate(collected))

    def _due(self, cut: int) -> bool:
        """Whether the state that was reached is saved."""
        now = self.snapshot
        if self._finished() or now.step == cut:
            return True
        if self._crowded:
            return now.time - self.sampled.time >= self._apart
        return now.step % self.every == 0

    @property
    def _crowded(self) -> bool:
        """Whether there are as many samples as a motion that is sampled inside its steps may have."""
        return self.dense and self.saved >= self.most and not self.sampler.tally.empty

    @property
    def _apart(self) -> float:
        """Time [s] between the samples of a crowded run, so that it has at most twice as many as it may have."""
        return (self.until - self.system.start.time) / self.most

    def _look(self, before: Snapshot, step: Step, *, alone: bool) -> _Inner | None:
        """Look into a step for the statistics; samples inside it, if they are due.

        ``alone``  whether the state before was saved, so that samples inside hold nothing of earlier steps
        """
        if step.motion is None:
            if self.every > 1 and step.after.time > before.time:
                self.sampler.step(before, step)
            return None
        times = self.sampler.look(step.motion, step.contact if self.listed else step.contact[:0])
        if not self.dense or len(times) == 0:
            return None
        if self.saved + len(times) < self.most:
            return self._inner(step, times)
        if self.saved < self.most:
            self.findings.take(
                {
                    "samples": f"{self.most} samples were reached at {before.time:.6g} s; later ones are "
                    f"{self._apart:.3g} s apart or more and do not resolve the motion. run.over_time does; sample= "
                    f"sets samples by hand"
                }
            )
            self.saved = self.most
        apart = self._apart
        times = np.arange(before.time + apart, step.after.time - 0.5 * apart, apart)
        return self._inner(step, times) if alone and len(times) else None

    def _inner(self, step: Step, times: np.ndarray) -> _Inner:
        """Samples at times (k,) inside a step."""
        assert step.motion is not None
        reached = step.motion.progress(times)
        count, m, d = len(times), len(self.layout.contacts), self.layout.tangential
        since = np.diff(reached.impulse, axis=0, prepend=0.0)
        impulse, state, gap = np.zeros((count, m, 1 + d)), np.zeros((count, m), np.int8), np.zeros((count, 0))
        loaded = None
        if self.listed:
            impulse[:, step.contact], state[:, step.contact] = since, step.state
            gap = step.motion.gaps(times, reached.position)
        else:
            loaded = self._loaded(step, times, reached.position, since)
        samples = Samples(
            step=np.full(count, step.after.step),
            time=times,
            position=reached.position,
            velocity=reached.velocity,
            gap=gap,
            impulse=impulse,
            state=state,
            constraint_impulse=np.diff(reached.constraint, axis=0, prepend=0.0),
            energy=reached.energy,
            residual=np.zeros(count),
            loaded=loaded,
        )
        return _Inner(samples, reached.impulse[-1], reached.constraint[-1])

    def _loaded(self, step: Step, times: np.ndarray, positions: np.ndarray, since: np.ndarray) -> Loaded:
        """The log of the contacts that are loaded inside a step, with impulses (k, c, 1 + d) [N s] since the last."""
        sample, place = np.nonzero(since[:, :, 0])
        gaps = [self.system.gaps(float(t), q, step.contact) for t, q in zip(times, positions, strict=True)]
        start = np.concatenate([[0], np.cumsum(np.bincount(sample, minlength=len(times)))])
        gap = np.array(gaps).reshape(len(times), -1)[sample, place]
        return Loaded(start, step.contact[place], gap, since[sample, place], step.state[place])

    def _take(self, samples: Samples) -> None:
        self.stretches.append(samples)
        self.worst_residual = max(self.worst_residual, float(samples.residual.max()))

    def _energy(self) -> np.ndarray:
        s = self.snapshot
        kinetic = kinetic_energy(self.system, s.position, s.velocity)
        potential = self.system.potential(s.position) + self.scheme.stored_energy(self.system, s)
        return np.array([kinetic, potential, *s.sums])

    def _first_sample(self) -> Samples:
        return self._sample(_Gathered(self.layout, self.listed))

    def _sample(self, gathered: _Gathered) -> Samples:
        s, system = self.snapshot, self.system
        m, d = len(self.layout.contacts), self.layout.tangential
        gap = system.gaps(s.time, s.position, np.arange(m)) if self.listed else np.zeros(0)
        loaded = None
        if not self.listed:
            ids, impulse, state = gathered.log()
            gaps = system.gaps(s.time, s.position, ids)
            loaded = Loaded(np.array([0, len(ids)]), ids, gaps, impulse, state)
        return Samples(
            step=np.array([s.step]),
            time=np.array([s.time]),
            position=s.position[None],
            velocity=s.velocity[None],
            gap=gap[None],
            impulse=gathered.impulse[None] if self.listed else np.zeros((1, m, 1 + d)),
            state=gathered.state[None] if self.listed else np.zeros((1, m), np.int8),
            constraint_impulse=gathered.constraint[None],
            energy=self._energy()[None],
            residual=np.array([gathered.residual]),
            loaded=loaded,
        )

    def _now(self) -> dict[str, float]:
        first, last = self.stretches[0].energy[0], self.stretches[-1].energy[-1]
        balance = _balance(last) - _balance(first)
        return {"contacts": len(self.snapshot.contact), "drift": float(balance)}

    def _write(self, store: PartStore) -> None:
        fresh = self.stretches[self.unsaved :]
        if not fresh:
            return
        s = self.sampled
        if s.step != self.stretches[-1].step[-1]:  # interrupted while the sample was noted
            return
        told = self.iterations.told(self._samples)
        with _undisturbed():
            store.append(
                Samples.concatenate(fresh),
                {
                    **s.written(),
                    "findings": self.findings.written(),
                    "over_time": self.tallied,
                    "samples": self.counted,
                    "seconds": self._seconds,
                    "fallbacks": self.fallbacks,
                    "worst_residual": self.worst_residual,
                    "statistics": json.dumps(self._statistics(s.step).plain()),
                    "iterations": "" if told is None else json.dumps(told.plain()),
                },
            )
            self.unsaved = len(self.stretches)

    @property
    def _seconds(self) -> float:
        """Of work, in all sessions [s]."""
        return self.seconds + time.perf_counter() - self.began

    @property
    def _samples(self) -> int:
        return sum(map(len, self.stretches))

    def _statistics(self, steps: int) -> Statistics:
        parts = {name: spent for name, spent in self.effort.seconds.items() if name != "other"}
        parts["other"] = max(self._seconds - sum(parts.values()), 0.0)
        return Statistics(steps, self.compiled_steps, **self.effort.counts, seconds=parts)

    def about(self) -> dict[str, Any]:
        from klapper import __version__

        return {
            "system": self.system.name,
            "scheme": self.scheme.name,
            "settings": {**self.scheme.settings, "until": self.until, "every": self.every},
            "version": __version__,
            "citations": list(self.scheme.citations),
            **self.picture,
        }

    @cached_property
    def picture(self) -> dict[str, Any]:
        """What the run keeps of the looks of its model; nothing where that fails, for a picture must not cost a run.

        The audit says why there is none."""
        try:
            picture = self.system.picture(self.until)
            return {} if picture is None else {"picture": plain_picture(picture)}
        except Exception as error:  # in a function of the user's, such as a given motion
            self.no_picture = f"no picture: {type(error).__name__}: {error}"
            return {}

    def _judged(self, status: str, message: str, stretch: Stretch | None) -> Run:
        seconds = self._seconds
        samples, about = Samples.concatenate(self.stretches), self.about()
        with self.effort.timed("judging"):
            run = Run(self.layout, samples, {"settings": about["settings"]})
            judged = audit(run, self.system, self.scheme)
        if judged.failure and status == "complete":
            status, message = "failed", judged.failure
        about |= {
            "steps": self.snapshot.step,
            "wall_time": seconds,
            "status": status,
            "message": message,
            "audit": {
                "path": "compiled" if stretch is not None and self._compiles(stretch) else "general",
                **({"not compiled": self.not_compiled} if self.not_compiled else {}),
                "contact residual": self.worst_residual,
                **(
                    {"steps by the general path": self.fallbacks, "because": self.fallback}
                    if self.fallbacks
                    else {}
                ),
                **judged.findings,
                **dict(self.findings),
                **({"picture": self.no_picture} if self.no_picture else {}),
            },
        }
        if self._tallied is not None and self._tallied[-1].any():
            tally = self.sampler.tally
            tally.read(self._tallied)
            tally.take_extremes(np.hstack([samples.position, samples.velocity, samples.gap]))
            about["over_time"] = tally.over_time.plain()
        if judged.conservation is not None:
            about["conservation"] = judged.conservation.plain()
        about["statistics"] = self._statistics(self.snapshot.step).plain()
        told = self.iterations.told(len(samples))
        if told is not None:
            about["iterations"] = told.plain()
        return run.told(about)


def _looks_inside(stretch: Stretch) -> bool:
    """Whether a compiled loop gives samples and statistics of the motion inside its steps."""
    return getattr(stretch, "looks_inside", False)


class _Inner(NamedTuple):
    """Samples inside a step, and the impulses (c, 1 + d) of its contacts and (p,) of its constraints up to the last."""

    samples: Samples
    impulse: np.ndarray
    constraint: np.ndarray


def _rest(step: Step, inner: _Inner) -> Step:
    """What a step did since the last sample inside it."""
    return replace(step, impulse=step.impulse - inner.impulse, constraint=step.constraint - inner.constraint)


class _Gathered:
    """What happened since the last sample."""

    def __init__(self, layout: Layout, listed: bool) -> None:
        m, d = len(layout.contacts), layout.tangential
        self.listed, self.width = listed, 1 + d
        self.impulse, self.state = np.zeros((m, 1 + d)), np.zeros(m, np.int8)
        self.constraint = np.zeros(len(layout.constraints))
        self.residual = 0.0
        self.last: Step | None = None
        self.iterations: tuple[np.ndarray, str] | None = None

    def add(self, step: Step, iterations: StepIterations | None = None) -> None:
        if iterations is not None:
            before = 0 if self.iterations is None else self.iterations[0]
            self.iterations = before + iterations.counts, iterations.case
        self.constraint = self.constraint + step.constraint
        self.residual = max(self.residual, step.residual)
        self.last = step
        if self.listed:
            self.impulse[step.contact] += step.impulse
            hit = self.state == IMPACT
            self.state[:] = 0
            self.state[step.contact] = step.state
            self.state[hit] = IMPACT

    def log(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contacts loaded in the last step: numbers, impulses, states."""
        if self.last is None:
            return np.zeros(0, np.int64), np.zeros((0, self.width)), np.zeros(0, np.int8)
        loaded = self.last.impulse[:, 0] != 0.0
        return self.last.contact[loaded], self.last.impulse[loaded], self.last.state[loaded]


class _IterationRecord:
    """Iterations since the sample before, for every sample but the first, by schemes that tell them."""

    def __init__(self) -> None:
        self.counts: list[np.ndarray] = []  # of stretches (s, 4)
        self.case: list[np.ndarray] = []  # (s,) places in the labels
        self.labels: dict[str, int] = {}

    @classmethod
    def read(cls, stored: dict[str, Any]) -> _IterationRecord:
        known, record = Iterations.read(stored), cls()
        record.counts, record.case = [known.counts[1:]], [known.case[1:]]
        record.labels = {label: place for place, label in enumerate(known.labels)}
        return record

    def take(self, counts: np.ndarray, case: str) -> None:
        self.counts.append(counts[None])
        self.case.append(np.array([self._place(case)]))

    def take_many(self, counts: np.ndarray, case: Sequence[str], ends: np.ndarray) -> None:
        """Counts (n, 4) and cases (n,) of steps, between samples after ``ends`` (s,) of these steps."""
        self.counts.append(np.add.reduceat(counts, np.append(0, ends[:-1]), axis=0))
        self.case.append(np.array([self._place(case[end - 1]) for end in ends.tolist()]))

    def _place(self, case: str) -> int:
        return self.labels.setdefault(case, len(self.labels))

    def told(self, samples: int) -> Iterations | None:
        """Of so many samples; None if the scheme tells none of all their steps."""
        if not self.counts:
            return None
        counts = np.concatenate([np.zeros((1, len(COLUMNS)), dtype=np.int64), *self.counts])
        case = np.concatenate([[self._place("")], *self.case])
        if len(counts) < samples:
            return None
        return Iterations(counts[:samples].astype(np.int64), case[:samples], tuple(self.labels))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C within is heard at the end: a file is written whole, and known to be written."""
    if threading.current_thread() is not threading.main_thread():  # it is not interrupted
        yield
        return
    heard: list[tuple[Any, Any]] = []
    before = signal.getsignal(signal.SIGINT)
    if before is None:  # not set from Python
        yield
        return
    signal.signal(signal.SIGINT, lambda *given: heard.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard and callable(before):
        before(*heard[-1])


def _as_samples(arrays: dict[str, Any]) -> Samples:
    loaded = arrays.get("loaded")
    return Samples(**{**arrays, "loaded": None if loaded is None else Loaded(**loaded)})


def _balance(energy: np.ndarray) -> float:
    """What the ledger keeps constant [J]."""
    return float(energy.sum() - 2.0 * energy[ENERGY.index("loads")])
