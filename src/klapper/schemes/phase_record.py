"""A stretch of motion by a method with phases, told as what it is: phases in fixed modes, and switches between them.

At a switch the events of Waltersberger's Definition 4.1 end a phase; velocities may jump, once or several times at the
same instant; then the modes of the next phase hold.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from klapper.mechanics.system import State, System
from klapper.schemes.base import Step
from klapper.schemes.phase_modes import Modes, PhaseMemory
from klapper.schemes.phases import Phased
from klapper.schemes.work import Work


@dataclass(frozen=True, eq=False)
class Jump:
    """Velocities (n,) before and after an impact, with the numbers (k,) and impulses (k, 1 + d) [N s] of contacts."""

    before: np.ndarray
    after: np.ndarray
    contact: np.ndarray
    impulse: np.ndarray


@dataclass(frozen=True, eq=False)
class Phase:
    """A phase and how it began.

    ``begin``, ``end``    [s]
    ``before``, ``after`` states (2n,) before the switch at its begin, and at its end
    ``events``            (e, 2) kinds and contacts that ended the phase before; none at the start of the record
    ``jumps``             of the velocity at the begin
    ``modes``             of the contacts; at the end of a phase with events their forces are those of its end
    """

    begin: float
    end: float
    before: np.ndarray
    after: np.ndarray
    events: np.ndarray
    jumps: tuple[Jump, ...]
    modes: Modes


def record_phases(system: System, scheme: Phased, start: State, until: float) -> list[Phase]:
    """The phases of the motion from a state to the time ``until`` [s]; an event at that time is left out."""
    begun = copy.copy(system)
    begun.start = start
    snapshot, work = scheme.init(begun), Work()
    phases: list[Phase] = []
    events, jumps, going = np.zeros((0, 2), dtype=np.int64), [], False
    before, begin = _state(snapshot.position, snapshot.velocity), start.time
    while snapshot.time < until - 1e-12 * max(abs(until), until - start.time):
        step = scheme.bare_step(begun, snapshot, until, work)
        memory = PhaseMemory.read(step.after.memory)
        after = _state(step.after.position, step.after.velocity)
        if memory.impacts > PhaseMemory.read(snapshot.memory).impacts:
            jumps.append(_jump(snapshot.velocity, step))
        elif going and phases[-1].modes.key == memory.modes.key:
            phases[-1] = _longer(phases[-1], step.after.time, after, memory.modes)
        else:
            phases.append(Phase(begin, step.after.time, before, after, events, tuple(jumps), memory.modes))
            jumps = []
        going = memory.decided
        if not going and memory.impacts == PhaseMemory.read(snapshot.memory).impacts:
            events, before, begin = memory.events, after, step.after.time
        snapshot = step.after
    return phases


def _longer(phase: Phase, end: float, after: np.ndarray, modes: Modes) -> Phase:
    return Phase(phase.begin, end, phase.before, after, phase.events, phase.jumps, modes)


def _jump(before: np.ndarray, step: Step) -> Jump:
    return Jump(before, step.after.velocity, step.contact, step.impulse)


def _state(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([q, v])
