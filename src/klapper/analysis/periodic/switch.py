"""A switch between two phases: what triggers it, what it does to the state, and what it does to neighbouring motions.

A phase ends at the zero of a function h(t, x): a gap, a sliding speed, a normal force, a friction force short of its
limit. There the state jumps, x⁺ = R(t, x⁻), and the next phase begins. Neighbours reach h = 0 a little earlier or
later; to first order they differ after the switch by δx⁺ = S δx⁻, with the saltation matrix

    S = R_x + (F⁺ − R_x F⁻ − R_t) h_xᵀ / (h_t + h_xᵀ F⁻)

Aizerman and Gantmacher 1958; Leine and Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klapper.analysis.periodic.impact_pattern import ImpactPattern
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_map import Linearised, PhaseMap, PhaseMaps
from klapper.schemes.phase_modes import RELEASE, SLIP_BEGINS, SMOOTH, STICKING, STOP, TOUCH, Modes
from klapper.schemes.phase_record import Phase
from klapper.schemes.phase_variation import row_gradient

CLOCK = 0
"""No event: a given time."""


@dataclass(frozen=True, eq=False)
class Switch:
    """What ends one phase and begins the next.

    ``kind``     TOUCH, STOP, RELEASE, SLIP_BEGINS of :mod:`klapper.schemes.phase_modes`, or CLOCK
    ``contact``  number of the contact that triggers it, −1 for CLOCK
    ``side``     sign of the friction force that has reached its limit, for SLIP_BEGINS
    ``impacts``  at this instant, one after the other
    ``after``    modes of the phase that begins
    """

    kind: int
    contact: int
    side: float
    impacts: tuple[ImpactPattern, ...]
    after: Modes

    @property
    def is_clock(self) -> bool:
        return self.kind == CLOCK

    def same_as(self, other: Switch) -> bool:
        """Whether both are triggered by the same and do the same."""
        return (
            (self.kind, self.contact, self.side) == (other.kind, other.contact, other.side)
            and self.after.key == other.after.key
            and len(self.impacts) == len(other.impacts)
            and all(a.same_as(b) for a, b in zip(self.impacts, other.impacts, strict=True))
        )

    def trigger(self, maps: PhaseMaps, before: PhaseMap, t: float, x: np.ndarray) -> Linearised:
        """h (one number) with its derivatives, at the end of the phase ``before``."""
        n = len(x) // 2
        q, v = x[:n], x[n:]
        if self.kind == TOUCH:
            which = np.array([self.contact])
            directions = maps.directions(t, q, which)
            by_state = np.concatenate([directions.normal[:, 0], np.zeros(n)])
            return Linearised(maps.system.gaps(t, q, which)[0], by_state, directions.normal_rate[0])
        if self.kind == STOP:
            return _sliding_speed(before.equations, self.contact, t, q, v)
        return before.forces(t, x).combined(*_margin(before.equations, self))

    def entered(self, maps: PhaseMaps, t: float, x: np.ndarray) -> Linearised:
        """x⁺ = R(t, x⁻): through the impacts, and into the phase that begins."""
        value, by_state, by_time = x, np.eye(len(x)), np.zeros(len(x))
        steps = [impact.linearised for impact in self.impacts]
        for step in (*steps, lambda maps, t, y: maps.of(self.after).entered(t, y)):
            done = step(maps, t, value)
            value, by_state = done.value, done.by_state @ by_state
            by_time = done.by_state @ by_time + done.by_time
        return Linearised(value, by_state, by_time)


def saltation(trigger: Linearised, reset: Linearised, slope: np.ndarray, new_slope: np.ndarray) -> np.ndarray:
    """S (2n, 2n) from h and R with their derivatives, and the slopes F⁻ and F⁺; very large where h only touches 0."""
    rate = float(trigger.by_time + trigger.by_state @ slope)
    terms = abs(float(trigger.by_time)) + float(np.linalg.norm(trigger.by_state) * np.linalg.norm(slope))
    rate = float(np.copysign(max(abs(rate), np.finfo(float).eps * terms), rate))
    change = new_slope - reset.by_state @ slope - reset.by_time
    return reset.by_state + np.outer(change, trigger.by_state) / rate


def switches_of(maps: PhaseMaps, phases: Sequence[Phase]) -> list[Switch]:
    """The switches at the begins of recorded phases; the first is a clock."""
    return [_switch(maps, phase, phases[i - 1].modes if i else None) for i, phase in enumerate(phases)]


def _switch(maps: PhaseMaps, phase: Phase, before: Modes | None) -> Switch:
    n = len(phase.before) // 2
    impacts = tuple(ImpactPattern.of(maps, phase.begin, phase.before[:n], jump) for jump in phase.jumps)
    if before is None or len(phase.events) == 0:
        return Switch(CLOCK, -1, 0.0, impacts, phase.modes)
    kind, contact = _chosen(phase.events, before)
    side = 0.0
    if kind == SLIP_BEGINS:
        row = _patch_row(maps.of(before).equations, contact)
        side = float(np.sign(before.reference[row]))
    return Switch(kind, contact, side, impacts, phase.modes)


def _chosen(events: np.ndarray, before: Modes) -> tuple[int, int]:
    """One of the events that came together: a contact that closes first, and of forces one that is known."""
    pressed = before.contact[before.pressed]
    usable = [(int(kind), int(contact)) for kind, contact in events if kind != RELEASE or contact in pressed]
    closing = [event for event in usable if event[0] == TOUCH]
    return (closing or usable)[0]


def _patch_row(equations: PhaseEquations, contact: int) -> int:
    """Row of the friction force of a contact among the forces of a phase."""
    patch = int(np.flatnonzero(equations.which[equations.patch] == contact)[0])
    return int(equations.patch_rows[patch, 0])


def _margin(equations: PhaseEquations, switch: Switch) -> tuple[np.ndarray, float]:
    """Weights (r,) and constant of the function of forces that vanishes: λ_N, or limit + μ λ_N ∓ λ_T."""
    weights = np.zeros(equations.size)
    if switch.kind == RELEASE:
        normal = equations.which[equations.normal]
        weights[int(np.flatnonzero(normal == switch.contact)[0])] = 1.0
        return weights, 0.0
    row = _patch_row(equations, switch.contact)
    patch = row - len(equations.normal)
    weights[: len(equations.normal)] = equations.at_rest[patch]
    weights[row] = -switch.side
    return weights, float(equations.limit[patch])


def _sliding_speed(
    equations: PhaseEquations, contact: int, t: float, q: np.ndarray, v: np.ndarray
) -> Linearised:
    """Speed along the sense of sliding, which falls to zero."""
    row = _patch_row(equations, contact)
    sense = float(equations.sense[row - len(equations.normal), 0])
    rows = equations.rows(t, q, v)
    turning = row_gradient(equations, t, q, v, np.array([row]))[0]
    column = rows.columns[:, row]
    return Linearised(
        sense * (column @ v + rows.rates[row]),
        sense * np.concatenate([turning, column]),
        sense * (rows.bias[row] - turning @ v),
    )


def described(before: Modes, switch: Switch) -> list[tuple[str, int]]:
    """What the contacts do at a switch, in words, with their numbers."""
    hit = {int(c) for impact in switch.impacts for c in impact.contact[impact.pressing]}
    old, new = _doing(before), _doing(switch.after)
    told = [("impact", contact) for contact in sorted(hit)]
    for contact in sorted(old.keys() | new.keys()):
        was, now = old.get(contact, "open"), new.get(contact, "open")
        if was != now:
            word = {"open": "opens", "sticks": "sticks", "closed": "closes"}.get(now, "slips")
            turned = was.startswith("slips") and now.startswith("slips")
            told.append(("turns" if turned else "closes" if was == "open" else word, contact))
    return told


def _doing(modes: Modes) -> dict[int, str]:
    """Per contact: "closed" without friction, "sticks", or "slips" with the sign of its direction."""
    doing = {}
    for contact, grip, sense in zip(modes.contact, modes.grip, modes.sense, strict=True):
        if grip == SMOOTH:
            doing[int(contact)] = "closed"
        elif grip == STICKING:
            doing[int(contact)] = "sticks"
        else:
            doing[int(contact)] = "slips+" if sense[0] > 0.0 else "slips-"
    return doing
