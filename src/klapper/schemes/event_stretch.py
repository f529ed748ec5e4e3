"""Many steps from event to event in compiled code, for systems that offer a compiled form.

One call goes over many phases, impacts and decisions, and brings back their samples, those inside the phases included.
What is out of the ordinary in a step is left to the general code, which does the same steps one by one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot
from klapper.schemes.compiled_phases import PHASE_STEPS, CompiledSystem, compiled_or_reason, compiled_system
from klapper.schemes.exact_flow import stiff
from klapper.schemes.phase_modes import Modes, PhaseMemory, most_events, not_unique

if TYPE_CHECKING:
    from klapper.schemes.event_driven import EventDriven

BEGINS_AFTER = 100
"""Steps of a run that the general code does: a tenth of a second of work, where the loop takes many times as long to
compile on a new machine. Fewer would make short first runs wait; a number that depends on what is compiled already
would change the last bits of a run that is resumed elsewhere."""

_ROWS = 2048  # samples of one call
_NUMBERS = 2_000_000  # of one call, with which large systems get fewer samples


class EventStretch:
    """Steps of event-driven integration on a system with a compiled form.

    ``looks_inside``  the loop may give samples inside the steps and take statistics of the motion there: it hands over
    its tally, and the number of samples that it allows.
    ``begins_after``  so many steps of the general code, since the loop takes some seconds to compile on a new machine
    """

    looks_inside = True
    begins_after = BEGINS_AFTER

    def __init__(self, scheme: EventDriven, system: System, compiled: CompiledSystem) -> None:
        self.scheme, self.system, self.compiled = scheme, system, compiled

    @cached_property
    def _loop(self) -> Any:
        """The arrays of the loop but for those of a call."""
        from klapper.schemes.kernels.event_parts import ALWAYS, part_address
        from klapper.schemes.kernels.event_room import PARTS, Loop
        from klapper.schemes.kernels.phase_packing import packed_room
        from klapper.schemes.kernels.phase_parts import parts
        from klapper.schemes.kernels.phase_search import SERIES
        from klapper.schemes.kernels.phase_steps import TABLEAU

        form, contacts, compiled = self.compiled.form, self.system.contacts, self.compiled
        m, d = contacts.count, contacts.tangential
        given = contacts.laws(np.arange(m), np.zeros(m))
        laws = np.zeros((m, 5))
        for column, values in enumerate(
            (given.normal, given.restitution, given.own_friction, given.limit, given.ratio)
        ):
            laws[:, column] = values
        steady = form.constant_mass and form.straight and (form.affine_constraints or form.constraints == 0)
        base = np.array(
            [
                *(form.positions, form.velocities, d, form.constraints, compiled.kind, not contacts.constant),
                *(form.curvature is not None, form.constraint_curvature is not None, form.powers is not None),
                *(form.potential is not None, form.damping is not None, form.advance is not None, steady),
                *(max(form.contact_width, 1), max(form.constraint_width, 1), m),
            ],
            dtype=np.int64,
        )
        entries, r = compiled.places.shape[1], self._rows_of_forces
        integers, numbers = packed_room(base, entries)
        moving = form.positions + form.velocities
        nothing, whole = np.zeros(0), np.zeros(m, dtype=np.int64)
        free = self._addresses(parts(free=True))
        known = np.zeros(PARTS, dtype=np.int64)
        for which in ALWAYS:
            known[which] = part_address(which)
        return Loop(
            parts=known,
            indices=compiled.index,
            data=compiled.data,
            free_at=free,
            held_at=np.zeros_like(free),
            base=base,
            places=compiled.places,
            inverse=compiled.inverse if form.constant_mass else np.zeros((form.velocities,) * 2),
            laws=laws,
            friction=np.ascontiguousarray(given.friction_matrix, dtype=float).reshape(m, m),
            rough=given.rough if contacts.constant else np.ones(m, dtype=bool),
            tableau=TABLEAU,
            series=SERIES,
            options=nothing,
            counters=whole,
            memory=whole,
            clock=nothing,
            state=nothing,
            sums=nothing,
            tally=np.zeros((5, 0)),
            ints=np.zeros(integers, dtype=np.int64),
            floats=np.zeros(numbers),
            touch_ints=np.zeros(integers, dtype=np.int64),
            touch_floats=np.zeros(numbers),
            output=np.empty(PHASE_STEPS * (2 + 9 * (moving + r + 3) + m * d)),
            meanings=np.zeros((self._most_events, 2), dtype=np.int64),
            samples=np.zeros((0, 0)),
            marks=np.zeros((0, 0), dtype=np.int64),
            last=np.zeros((m, 1 + d)),
            every=np.arange(m),
            gaps=np.zeros(m),
            touching=whole.copy(),
            presses=whole.copy(),
            grips=whole.copy(),
            no_sense=np.zeros((m, d)),
            at_rest=np.zeros(m, dtype=bool),
            part=np.zeros(m, dtype=bool),
            states=whole.copy(),
            velocities=np.zeros(r),
            quiet=np.zeros(r),
            forces=np.zeros(r),
            motion=np.zeros(3 * (moving + r + 3)),
            books=np.zeros(10 + entries),
            impulse=np.zeros((m, 1 + d)),
            earlier=np.zeros(m * (1 + d) + form.constraints),
            joints=np.zeros(form.constraints),
            flags=np.zeros(self._most_events, dtype=bool),
        )

    @property
    def _width(self) -> int:
        """Numbers of a sample."""
        form, contacts = self.compiled.form, self.system.contacts
        return (
            8
            + form.positions
            + form.velocities
            + contacts.count * (2 + contacts.tangential)
            + form.constraints
        )

    @property
    def _rows(self) -> int:
        """Samples of one call."""
        return int(np.clip(_NUMBERS // self._width, 64, _ROWS))

    @property
    def _rows_of_forces(self) -> int:
        contacts = self.system.contacts
        return contacts.count * (1 + contacts.tangential) + len(self.system.constraints)

    @property
    def _most_events(self) -> int:
        return most_events(self.system.contacts.count)

    def _addresses(self, parts: Any) -> np.ndarray:
        return np.array(
            self.compiled.addresses + [part.__wrapper_address__() for part in parts], dtype=np.int64
        )

    def run(
        self,
        snapshot: Snapshot,
        count: int,
        every: int,
        until: float = np.inf,
        tally: Any = None,
        allowed: int | None = None,
        apart: float | None = None,
    ) -> tuple[Snapshot, dict[str, Any], str]:
        """As in :class:`~klapper.schemes.base.Stretch`, with a sample at every step.

        ``tally``    of the motion over time, which is taken further; None: nobody asks for it
        ``allowed``  samples inside the steps are given as well, up to so many in all; None: none
        ``apart``    time [s] between samples inside the steps instead, in a run that has as many as it may have
        """
        from klapper.schemes.kernels import event_room as kernel
        from klapper.schemes.kernels.event_run import run_events
        from klapper.schemes.kernels.phase_parts import quietly

        scheme, system, form = self.scheme, self.system, self.compiled.form
        m, d, p = system.contacts.count, system.contacts.tangential, len(system.constraints)
        memory, clock = self._remembered(PhaseMemory.read(snapshot.memory))
        state = np.concatenate([[snapshot.time], snapshot.position, snapshot.velocity])
        sums, last = snapshot.sums.copy(), np.zeros((m, 1 + d))
        options = np.array(
            [
                *(until, scheme.tolerance, scheme.slip_speed, scheme.shortest_flight),
                np.inf if scheme.sample is None else scheme.sample,
                np.inf if scheme.largest_step is None else scheme.largest_step,
                system.start.time,
                0.0 if apart is None else apart,
                0.0,
            ]
        )
        counters = np.zeros(kernel.COUNTERS, dtype=np.int64)
        counters[kernel.COUNT], counters[kernel.STEP_NUMBER] = count, snapshot.step
        counters[kernel.BY_LAW], counters[kernel.LOOKING] = scheme.impact is not None, tally is not None
        counters[kernel.INSIDE] = kernel.SPACED if apart is not None else allowed is not None
        counters[kernel.ALLOWED] = 0 if allowed is None else allowed
        counters[kernel.PIECES], counters[kernel.MISSING] = PHASE_STEPS, -1
        signals = np.zeros((5, 0)) if tally is None else tally.written()
        samples, marks = np.empty((self._rows, self._width)), np.empty((self._rows, 1 + m), dtype=np.int64)
        given = self._loop._replace(
            options=options,
            counters=counters,
            memory=memory,
            clock=clock,
            state=state,
            sums=sums,
            tally=signals,
            samples=samples,
            marks=marks,
            last=last,
        )
        while True:
            with quietly():
                ended = run_events(given)
            if ended != kernel.NO_PARTS:
                break
            self._bring(int(counters[kernel.MISSING]))
            counters[kernel.MISSING] = -1
        rows, why = int(counters[kernel.ROWS_DONE]), ""
        if ended == kernel.LEFT:
            why = "an event is on a border between two answers, or its contacts depend on each other"
        if rows == 0:
            return snapshot, {}, why
        if tally is not None:
            tally.read(signals)
        nq, n = form.positions, form.velocities
        after = self._after(snapshot, counters, memory, clock, state, sums, last)
        edges = np.cumsum([1, nq, n, m, m * (1 + d), p])
        t, q, v, gap, impulse, joints, energy = np.split(samples[:rows], edges, axis=1)
        return (
            after,
            {
                "step": marks[:rows, 0].copy(),
                "time": t[:, 0].copy(),
                "position": q.copy(),
                "velocity": v.copy(),
                "gap": gap.copy(),
                "impulse": impulse.reshape(rows, m, 1 + d).copy(),
                "state": marks[:rows, 1:].astype(np.int8),
                "constraint_impulse": joints.copy(),
                "energy": energy.copy(),
                "residual": np.zeros(rows),
                "findings": (
                    {"contact forces": not_unique(float(options[kernel.LOOSE_SINCE]))}
                    if counters[kernel.LOOSE_STEPS]
                    else {}
                ),
            },
            why,
        )

    def _bring(self, which: int) -> None:
        """Compile a part of the loop that this model needs, too."""
        from klapper.schemes.kernels.event_parts import part_address
        from klapper.schemes.kernels.event_room import HELD_PARTS
        from klapper.schemes.kernels.phase_parts import parts

        if which == HELD_PARTS:
            self._loop.held_at[:] = self._addresses(parts(free=False))
        else:
            self._loop.parts[which] = part_address(which)

    def _remembered(self, memory: PhaseMemory) -> tuple[np.ndarray, np.ndarray]:
        """What the scheme remembers, as the kernel takes it."""
        from klapper.schemes.kernels import event_room as kernel

        modes, m, d = memory.modes, self.system.contacts.count, self.system.contacts.tangential
        k, e, most = len(modes.contact), len(memory.events), self._most_events
        integers = np.zeros(kernel.MEMORY_HEAD + 2 * most + 3 * m, dtype=np.int64)
        numbers = np.zeros(kernel.CLOCK_HEAD + m * d + self._rows_of_forces)
        integers[: kernel.MEMORY_HEAD] = memory.decided, memory.impacts, memory.stalled, e, k
        integers[kernel.MEMORY_HEAD : kernel.MEMORY_HEAD + 2 * e] = memory.events.ravel()
        table = integers[kernel.MEMORY_HEAD + 2 * most :].reshape(3, m)
        table[0, :k], table[1, :k], table[2, :k] = modes.contact, modes.pressed, modes.grip
        numbers[: kernel.CLOCK_HEAD] = memory.size, memory.since
        numbers[kernel.CLOCK_HEAD : kernel.CLOCK_HEAD + k * d] = modes.sense.ravel()
        first = kernel.CLOCK_HEAD + m * d
        numbers[first : first + len(modes.reference)] = modes.reference
        return integers, numbers

    def _after(
        self,
        before: Snapshot,
        counters: np.ndarray,
        memory: np.ndarray,
        clock: np.ndarray,
        state: np.ndarray,
        sums: np.ndarray,
        last: np.ndarray,
    ) -> Snapshot:
        from klapper.schemes.kernels import event_room as kernel

        m, d, nq = (
            self.system.contacts.count,
            self.system.contacts.tangential,
            len(self.system.coordinates),
        )
        decided, impacts, stalled, e, k = memory[: kernel.MEMORY_HEAD].tolist()
        events = memory[kernel.MEMORY_HEAD : kernel.MEMORY_HEAD + 2 * e].reshape(e, 2).copy()
        table = memory[kernel.MEMORY_HEAD + 2 * self._most_events :].reshape(3, m)
        contact, pressed, grip = table[0, :k].copy(), table[1, :k].astype(bool), table[2, :k].copy()
        sense = clock[kernel.CLOCK_HEAD : kernel.CLOCK_HEAD + k * d].reshape(k, d).copy()
        size = np.count_nonzero(pressed) + d * np.count_nonzero(grip) + len(self.system.constraints)
        first = kernel.CLOCK_HEAD + m * d
        modes = Modes(contact, pressed, grip, sense, clock[first : first + size].copy())
        known = PhaseMemory(modes, bool(decided), float(clock[0]), impacts, stalled, float(clock[1]), events)
        loaded = np.flatnonzero(np.any(last != 0.0, axis=1))
        return replace(
            before,
            step=int(counters[kernel.STEP_NUMBER]),
            time=float(state[0]),
            position=state[1 : 1 + nq].copy(),
            velocity=state[1 + nq :].copy(),
            contact=loaded.astype(np.int64),
            impulse=last[loaded],
            sums=sums,
            memory=known.written(),
        )


def event_stretch(scheme: EventDriven, system: System) -> EventStretch:
    """The compiled loop of a scheme on a system, or the reason why there is none."""
    if scheme.method != "dop853":
        raise NotCompiled(f"the method {scheme.method} is not compiled")
    if scheme.selection is not None:
        raise NotCompiled("forces are chosen by a selection rule")
    if np.isfinite(system.search_margin):
        raise NotCompiled("contacts are searched for")
    if isinstance(system, LinearSystem) and stiff(system):
        raise NotCompiled("stiff linear phases are followed in closed form")
    return EventStretch(scheme, system, compiled_system(system) or compiled_or_reason(system))
