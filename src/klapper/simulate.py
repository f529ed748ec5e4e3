"""``simulate``: the only time loop.

    run = simulate(system, until=10.0, scheme=Moreau(1e-3))

It steps, saves samples, keeps the ledger, shows progress, writes parts to disk so that a run survives being killed, and
has the whole judged at the end by :mod:`klapper.audit`. Work is cut at fixed step numbers; at each cut the state is
plain data. A resumed run goes through the same cuts, so it ends in the same bits.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from klapper.audit import audit
from klapper.contact_states import IMPACT
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.fingerprint import options_of, plain_answers, written_out
from klapper.mechanics.picture_format import plain_picture
from klapper.mechanics.system import System, require_system
from klapper.progress import Progress, progress_for
from klapper.results import ENERGY, Layout, Loaded, PartStore, ResultsError, Run, Samples
from klapper.results.findings import Findings
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

__all__ = ["SimulationFailed", "simulate"]

MOST_LISTED_CONTACTS = 2000  # with more, only loaded contacts are logged, by number
_MEMORY = 4e8  # bytes of samples beyond which they are thinned out
_AT_ONCE = 2e7  # bytes of steps that are merged to samples at once
_MOST_SAMPLES = 200_000  # of a motion that is sampled inside its steps
_PART_EVERY = 5.0  # seconds between parts on disk


class SimulationFailed(RuntimeError):
    """The run ended before its time, or its books do not close; ``run`` holds what there is.

    A mass cannot be held at a wall and follow a ram at once:

    >>> from klapper.mechanics import Constraint, LinearSystem, Ramp
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulate import simulate
    >>> wall, ram = Constraint("wall", [1.0]), Constraint("ram", [1.0], offset=Ramp(0.0, 2.0))
    >>> held = LinearSystem([1.0], constraints=[wall, ram])
    >>> simulate(held, 1.0, Moreau(0.1, compiled=False))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.simulate.SimulationFailed: At 0 s constraint 'ram' contradicts the others: 1 m/s cannot be met. ...
    """

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run


def simulate(
    system: System,
    until: float,
    scheme: Scheme,
    *,
    every: int | None = None,
    store: str | Path | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
) -> Run:
    """Integrate ``system`` from its start to the time ``until`` [s] and return the run.

    ``scheme``     of :mod:`klapper.schemes`, e.g. ``Moreau(1e-3)``
    ``every``      save every so many steps; None: every step, fewer if that would take more than 400 MB, and inside
                   the steps of a method that knows the motion there, as densely as straight lines need it
    ``store``      folder for the run; if it holds the beginning of the same run, that is resumed, and if it holds the
                   finished run, that is returned
    ``overwrite``  whether another run in ``store`` may be replaced
    ``progress``   show progress; None: on a terminal, for runs that take longer than a moment

    Ctrl-C ends the run early and keeps what there is (status "interrupted"). A step without a verified answer raises
    :class:`SimulationFailed`, which holds the run so far.

        M dv = f dt + J_N dΛ_N + J_T dΛ_T + J_B dΛ_B

    A ball dropped from 1.25 m under 10 m/s² hits the floor after 0.5 s and rebounds with 0.6 of its speed:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulate import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> time, position, velocity = simulate(ball, 1.0, EventDriven()).final
    >>> time, position.round(9), velocity.round(9)
    (1.0, array([0.25]), array([-2.]))
    """
    require_arguments(system, until, scheme, every)
    loop = _Loop(system, scheme, float(until), every)
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
                loop.go_on(resumed.samples, resumed.snapshot)
                return loop.run(parts, shown)
        parts.begin(loop.layout, loop.about(), fingerprint, overwrite=overwrite)
        return loop.run(parts, shown)


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


class _Loop:
    def __init__(self, system: System, scheme: Scheme, until: float, every: int | None) -> None:
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
        self.saved, self.sampler = 1, Sampler(system, self.layout)
        self.tallied = self.sampler.tally.written()  # at the last sample
        self.snapshot = scheme.init(system)
        self.sampled = self.snapshot  # at the last sample: what a run that is interrupted goes on from
        self.stretches: list[Samples] = [self._first_sample()]
        self.began = time.perf_counter()
        self.unsaved = 0  # index of the first stretch that is not on disk
        self.findings = Findings()
        self.seconds = 0.0  # of work before this session
        self.fallbacks = 0
        self.worst_residual = 0.0

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
        self.stretches, self.unsaved = [samples], 1
        self.snapshot = self.sampled = Snapshot.read(stored)
        self.findings = Findings.read(stored["findings"])
        self.saved, self.tallied = len(samples), np.asarray(stored["over_time"])
        self.sampler.tally.read(self.tallied)
        self.seconds = float(stored["seconds"])
        self.fallbacks = int(stored["fallbacks"])
        self.worst_residual = float(stored["worst_residual"])

    def run(self, store: PartStore | None, shown: Progress) -> Run:
        status, message, cause = "complete", "", None
        self.began = last_part = time.perf_counter()
        stretch = self.scheme.stretch(self.system)
        try:
            with shown:
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
        run = self._judged(status, message, self.seconds + time.perf_counter() - self.began, stretch)
        if store is not None:
            try:
                self._write(store)
                if run.about["status"] == "complete":
                    store.finish(run)
            except ResultsError as error:
                raise SimulationFailed(f"The run cannot be stored. {error}", run) from error
        if run.about["status"] == "failed":
            raise SimulationFailed(run.about["message"], run) from cause
        return run

    def _finished(self) -> bool:
        if self.steps is not None:
            return self.snapshot.step >= self.steps
        return self.snapshot.time >= self.until - 1e-12 * abs(self.until)

    def _advance(self, stretch: Stretch | None) -> None:
        """Go to the next cut."""
        if stretch is None:
            self._general(self._cut(64))
            return
        cut = self._cut(self._compiled_cut())
        while self.snapshot.step < cut:
            count = cut - self.snapshot.step
            after, samples, why = (
                self._stretched(stretch, count) if self.every == 1 else self._merged(stretch, count)
            )
            if samples is not None:
                self._take(samples)
                self.snapshot = self.sampled = after
            if why:
                step = self.snapshot.step
                self._general(min(step - step % self.every + self.every, cut))
                self.fallbacks += self.snapshot.step - step

    def _stretched(self, stretch: Stretch, count: int) -> tuple[Snapshot, Samples | None, str]:
        """Up to ``count`` compiled steps, each with its sample."""
        after, arrays, why = stretch.run(self.snapshot, count, 1)
        return after, _as_samples(arrays) if arrays else None, why

    def _merged(self, stretch: Stretch, count: int) -> tuple[Snapshot, Samples | None, str]:
        """The same with one sample for every so many steps; the statistics see them all."""
        together = max(int(_AT_ONCE / (self.every * self._sample_bytes)), 1) * self.every
        together = min(count, together - self.snapshot.step % self.every)
        after, steps, why = self._stretched(stretch, together)
        if steps is None:
            return after, None, why
        ends = np.flatnonzero(steps.step % self.every == 0)
        if not why and ends[-1:].tolist() != [len(steps) - 1]:
            ends = np.append(ends, len(steps) - 1)  # the last step of the run
        if len(ends) == 0:
            return after, None, why
        if ends[-1] < len(steps) - 1:
            after, steps, _ = self._stretched(stretch, int(ends[-1]) + 1)
        assert steps is not None
        self.sampler.tally.take_samples(Samples.concatenate([self.stretches[-1][-1:], steps]))
        self.tallied = self.sampler.tally.written()
        return after, steps.merged(ends), why

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
                step = self.scheme.step(self.system, before, self.until)
                self.snapshot = step.after
                self.findings.take(step.notes)
                inner = self._look(before, step)
                gathered.add(step if inner is None else _rest(step, inner))
                if self._due(cut):
                    sample = self._sample(gathered)
                    collected.append(
                        sample if inner is None else Samples.concatenate([inner.samples, sample])
                    )
                    self.sampled, self.tallied = self.snapshot, self.sampler.tally.written()
                    self.saved += len(collected[-1])
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
            return now.time - self.sampled.time >= (self.until - self.system.start.time) / self.most
        return now.step % self.every == 0

    @property
    def _crowded(self) -> bool:
        """Whether there are as many samples as a motion that is sampled inside its steps may have."""
        return self.dense and self.saved >= self.most and not self.sampler.tally.empty

    def _look(self, before: Snapshot, step: Step) -> _Inner | None:
        """Look into a step for the statistics; samples inside it, if they are due."""
        if step.motion is None:
            if self.every > 1 and step.after.time > before.time:
                self.sampler.step(before, step)
            return None
        times = self.sampler.look(step.motion, step.contact if self.listed else step.contact[:0])
        if not self.dense or len(times) == 0 or self._crowded:
            return None
        if self.saved + len(times) >= self.most:
            apart = (self.until - self.system.start.time) / self.most
            self.findings.take(
                {
                    "samples": f"{self.most} samples were reached at {before.time:.6g} s; later ones are {apart:.3g} s "
                    f"apart or more and do not resolve the motion. run.over_time does; sample= sets samples by hand"
                }
            )
            self.saved = self.most
            return None
        return self._inner(step, times)

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
        store.append(
            Samples.concatenate(fresh),
            {
                **s.written(),
                "findings": self.findings.written(),
                "over_time": self.tallied,
                "seconds": self.seconds + time.perf_counter() - self.began,
                "fallbacks": self.fallbacks,
                "worst_residual": self.worst_residual,
            },
        )
        self.unsaved = len(self.stretches)

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
        """What the run keeps of the looks of its model; nothing where that fails, for a picture must not cost a run."""
        try:
            picture = self.system.picture(self.until)
            return {} if picture is None else {"picture": plain_picture(picture)}
        except Exception:  # in a function of the user's, such as a given motion
            return {}

    def _judged(self, status: str, message: str, seconds: float, stretch: Stretch | None) -> Run:
        samples, about = Samples.concatenate(self.stretches), self.about()
        judged = audit(Run(self.layout, samples, about), self.system, self.scheme)
        if judged.failure and status == "complete":
            status, message = "failed", judged.failure
        about |= {
            "steps": self.snapshot.step,
            "wall_time": seconds,
            "status": status,
            "message": message,
            "audit": {
                "path": "general" if stretch is None else "compiled",
                "contact residual": self.worst_residual,
                **({"steps by the general path": self.fallbacks} if self.fallbacks else {}),
                **judged.findings,
                **dict(self.findings),
            },
        }
        if self.tallied[-1].any():
            tally = self.sampler.tally
            tally.read(self.tallied)
            tally.take_extremes(np.hstack([samples.position, samples.velocity, samples.gap]))
            about["over_time"] = tally.over_time.plain()
        if judged.conservation is not None:
            about["conservation"] = judged.conservation.plain()
        return Run(self.layout, samples, about)


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

    def add(self, step: Step) -> None:
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


def _as_samples(arrays: dict[str, Any]) -> Samples:
    loaded = arrays.get("loaded")
    return Samples(**{**arrays, "loaded": None if loaded is None else Loaded(**loaded)})


def _balance(energy: np.ndarray) -> float:
    """What the ledger keeps constant [J]."""
    return float(energy.sum() - 2.0 * energy[ENERGY.index("loads")])
