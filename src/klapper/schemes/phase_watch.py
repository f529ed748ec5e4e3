"""The event functions of a phase: each is above zero as long as its contact keeps its mode.

    i)   g of the contacts that do not press          ii)  sliding speed along the sense
    iii) λ_N of the pressed contacts                  iv)  ρ² − |λ_T|² of the sticking patches, ρ = limit + μ λ_N

Waltersberger, Definition 4.1. In the plane iv) is ρ − λ_T and ρ + λ_T. In space a sliding patch stops when its velocity
along the sense it had at the start of the step falls to the slip speed and not much is left across; if more is left,
the velocity has only turned, and the sense is renewed, (4.65)-(4.69). A gap that the projection of others has left a
little below zero is measured from there.
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.first_crossing import Crossing, first_crossing
from klapper.schemes.linear_flow import LinearFlow
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow
from klapper.schemes.phase_modes import RELEASE, SLIDING, SLIP_BEGINS, STARTING, STOP, TOUCH, TURN

LOOKS = 32
"""Intervals of a step at whose ends it is asked which contacts are near, where a system searches for them."""

_OSCILLATIONS = 8  # half ones in a flow from which on all pieces are looked at by products of matrices
_FORCE_NOISE = 1e-9  # of the forces that balance at a contact
_ROUND_OFF = 64.0 * float(np.finfo(float).eps)


class PhaseWatch:
    """Event functions of a flow, and what their first crossing means.

    ``tolerance`` [m] is the error allowed to positions, ``slip_speed`` [m/s] that at which sliding stops in space.
    """

    def __init__(self, equations: PhaseEquations, flow: Flow, tolerance: float, slip_speed: float) -> None:
        self.equations, self.flow, self.slip_speed = equations, flow, slip_speed
        system, modes, d = equations.system, equations.modes, equations.d
        ends = np.array([flow.start, flow.end])
        q, v = flow.states(ends)
        near = self._near(q)
        near = near[system.contacts.laws(near).normal]
        self.watched = near[~np.isin(near, modes.contact[modes.pressed])]
        self.depth = np.maximum(-equations.gaps(ends[:1], q[:1], self.watched)[0], 0.0)
        late, fastest = 8.0 * float(np.spacing(abs(flow.end))), float(np.abs(v).max(initial=0.0))
        lengths = max(1e-3 * tolerance, _ROUND_OFF * float(np.abs(q).max(initial=0.0)), late * fastest)
        self.follows = follows = np.isin(self.watched, modes.contact)
        pushed = np.abs(equations.inverse(q[0])(system.force(flow.start, q[0], v[0]))).max(initial=0.0)
        speeds = max(1e-3 * slip_speed, _ROUND_OFF * fastest, late * float(pushed))
        forces = self._force_noise(q[0], v[0]) if equations.size else np.zeros(0)
        noise = list(np.where(follows, max(10.0 * tolerance, lengths), lengths))
        noise += list(forces[: len(equations.normal)])
        self.kinetic = len(equations.normal) > 0
        for patch in equations.sticking:
            limit = forces[equations.patch_rows[patch]].max()
            noise += [limit] * (2 if d == 1 else 1)
            self.kinetic = True
        for patch in equations.sliding:
            starts = d == 2 and modes.grip[equations.patch[patch]] == STARTING
            noise += [speeds] * (2 if starts else 1)
        self.meanings = meanings_of(equations, self.watched)
        self.noise = np.array(noise, dtype=float)
        self._limit_scale = self._first_limits() if d == 2 and len(equations.sticking) else None

    def _near(self, q: np.ndarray) -> np.ndarray:
        """Contacts (k,) worth looking at anywhere in the flow; ``q`` (2, nq) at its ends."""
        system, flow = self.equations.system, self.flow
        near = np.union1d(system.near(flow.start, q[0]), system.near(flow.end, q[1]))
        if np.isfinite(system.search_margin):
            times = np.linspace(flow.start, flow.end, LOOKS + 1)[1:-1]
            looks = [system.near(t, at) for t, at in zip(times, flow.states(times)[0], strict=True)]
            near = np.unique(np.concatenate([near, *looks]))
        return near.astype(np.int64)

    def _force_noise(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Forces (r,) [N] that count as zero: a share of those that balance, and the round-off of all others."""
        equations, t = self.equations, self.flow.start
        rows, inverse = equations.rows(t, q, v), equations.inverse(q)
        free = inverse(equations.system.force(t, q, v))
        own = np.einsum("nr,nr->r", rows.columns, np.asarray(inverse(rows.columns)))
        terms = np.abs(rows.columns).T @ np.abs(free) + np.abs(rows.bias)
        forces = np.abs(self.flow.reactions(np.array([t]))[0])
        scale = terms / np.where(own > 0.0, own, np.inf) + forces.max(initial=0.0)
        times = np.linspace(t, self.flow.end, 3)
        applied = [
            equations.system.force(*state) for state in zip(times, *self.flow.states(times), strict=True)
        ]
        elsewhere = _ROUND_OFF * float(np.abs(applied).max(initial=0.0))
        return np.maximum(_FORCE_NOISE * scale, max(elsewhere, 1e-300))

    def _first_limits(self) -> np.ndarray:
        forces = self.flow.reactions(np.array([self.flow.start]))[0]
        limits = self.limits(forces[None])[0]
        return np.where(limits > 0.0, limits, max(float(np.abs(forces).max(initial=0.0)), 1e-300))

    def limits(self, forces: np.ndarray) -> np.ndarray:
        """Friction limits ρ (k, s) [N] of all patches at rest."""
        equations = self.equations
        return equations.limit + forces[:, : len(equations.normal)] @ equations.at_rest.T

    def functions(self, times: np.ndarray) -> np.ndarray:
        """Values (k, m) of all event functions at times (k,)."""
        equations, d = self.equations, self.equations.d
        q, v = self.flow.states(times)
        parts = [equations.gaps(times, q, self.watched) + self.depth]
        if self.kinetic:
            forces = self.flow.reactions(times)
            parts.append(forces[:, : len(equations.normal)])
            if len(equations.sticking):
                limits = self.limits(forces)
                for patch in equations.sticking:
                    force = forces[:, equations.patch_rows[patch]]
                    rho = limits[:, patch : patch + 1]
                    if d == 1:
                        parts += [rho - force, rho + force]
                    else:
                        assert self._limit_scale is not None
                        squares = np.sum(force**2, axis=1, keepdims=True)
                        parts.append((rho**2 - squares) / (2.0 * self._limit_scale[patch]))
        if len(equations.sliding):
            slip = equations.slips(times, q, v)
            for patch in equations.sliding:
                along = slip[:, patch] @ equations.sense[patch]
                if d == 1:
                    parts.append(along[:, None])
                elif equations.modes.grip[equations.patch[patch]] == SLIDING:
                    parts.append(along[:, None] - self.slip_speed)
                else:
                    squares = np.sum(slip[:, patch] ** 2, axis=1)
                    begun = (2.0 * self.slip_speed) ** 2 - squares
                    parts += [along[:, None], begun[:, None] / (4.0 * self.slip_speed)]
        return np.concatenate(parts, axis=1)

    def first(self) -> tuple[float, np.ndarray] | None:
        """Time [s] of the first event and its (e, 2) kinds and contacts, or None."""
        if len(self.noise) == 0:
            return None
        found = self._crossing()
        time, which = (self.flow.end, np.zeros(0, int)) if found is None else (found.time, found.which)
        if found is not None and time == self.flow.start:
            time, which = self._after_short_rise(which, self.flow.end)
        early = self._unnoticed(time)
        if early.size:
            before, sooner = self._after_short_rise(early, time)
            if before > self.flow.start and (before < time or which.size == 0):
                time, which = before, sooner
        if which.size == 0:
            return None
        return time, self._stops_or_turns(time, np.unique(self.meanings[which], axis=0))

    def _crossing(self) -> Crossing | None:
        """The first crossing; of a motion over many oscillations only where products of matrices leave a doubt."""
        flow = self.flow
        if not isinstance(flow, LinearFlow) or flow.pieces < _OSCILLATIONS or self.equations.d > 1:
            return first_crossing(self.functions, flow.start, flow.end, self.noise, pieces=flow.pieces)
        rows, offset = self._linear_functions(flow)
        after = flow.start
        while (doubtful := flow.first_doubtful(rows, offset, after)) is not None:
            begin, end = doubtful
            found = first_crossing(self.functions, begin, end, self.noise)
            if (
                found is not None and found.time == begin > flow.start
            ):  # it may have begun in the piece before
                before = max(flow.start, begin - (end - begin))
                found = first_crossing(self.functions, before, end, self.noise, pieces=2)
            if found is not None:
                return found
            after = end
            if end >= flow.end:
                break
        return None

    def _linear_functions(self, flow: LinearFlow) -> tuple[np.ndarray, np.ndarray]:
        """Rows (f, N) and offsets (f,) that give all event functions from the extended state of a linear motion."""
        equations = self.equations
        rows, offset = [flow.gap_rows(self.watched)], [self.depth]
        of_forces, given = flow.force_rows()
        m = len(equations.normal)
        rows.append(of_forces[:m])
        offset.append(given[:m])
        for patch in equations.sticking:
            at = equations.patch_rows[patch, 0]
            limit = equations.at_rest[patch] @ of_forces[:m]
            given_limit = equations.limit[patch] + equations.at_rest[patch] @ given[:m]
            rows += [(limit - of_forces[at])[None], (limit + of_forces[at])[None]]
            offset += [[given_limit - given[at]], [given_limit + given[at]]]
        slips = flow.slip_rows()
        for patch in equations.sliding:
            rows.append(equations.sense[patch, 0] * slips[patch : patch + 1])
            offset.append([0.0])
        return np.concatenate(rows), np.concatenate(offset)

    def _unnoticed(self, time: float) -> np.ndarray:
        """Gaps that have fallen below zero before ``time`` by less than their noise: flights that ended."""
        if len(self.watched) == 0 or time == self.flow.start:
            return np.zeros(0, int)
        at = np.array([self.flow.start, time])
        q, _ = self.flow.states(at)
        gaps = self.equations.gaps(at, q, self.watched)[1] + self.depth
        reach = _ROUND_OFF * float(np.abs(q).max(initial=0.0))
        below = gaps < -np.maximum(reach, 1e-300)
        return np.flatnonzero(below & (gaps >= -self.noise[: len(gaps)]) & ~self.follows)

    def _after_short_rise(self, which: np.ndarray, end: float) -> tuple[float, np.ndarray]:
        """Where functions that begin at zero really fall, if they first rise by less than their noise.

        Such are the gaps after the last impacts of a series: the flight is short, but not nothing.
        """
        start, length = self.flow.start, end - self.flow.start
        times = start + length * 0.5 ** np.arange(52, -1, -1.0)
        values = self._values(times, which)
        zeros = np.full(len(which), float(start))
        for k, (j, course) in enumerate(zip(which, values.T, strict=True)):
            deep = course < -self.noise[j]
            low = int(np.argmax(deep)) if deep.any() else len(course) - 1
            above = np.flatnonzero(course[:low] > 0.0)
            if above.size:
                last = int(above[-1])
                zeros[k] = self._bisected(int(j), float(times[last]), float(times[last + 1]))
        first = zeros.min()
        return float(first), which[zeros <= first + 4.0 * np.spacing(abs(first))]

    def _values(self, times: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Values (k, w) of some of the functions; gaps cost less than forces."""
        if np.all(which < len(self.watched)):
            gaps = self.equations.gaps(times, self.flow.states(times)[0], self.watched[which])
            return gaps + self.depth[which]
        return self.functions(times)[:, which]

    def _bisected(self, number: int, above: float, below: float) -> float:
        """The zero of one function between a time above zero and one not above."""
        while below - above > 2.0 * np.spacing(abs(below)):
            times = np.linspace(above, below, 34)
            fallen = self._values(times, np.array([number]))[1:, 0] <= 0.0
            if not fallen.any():  # the later value is zero but for round-off
                break
            after = int(np.argmax(fallen)) + 1
            above, below = float(times[after - 1]), float(times[after])
        return below

    def _stops_or_turns(self, time: float, events: np.ndarray) -> np.ndarray:
        return stops_or_turns(self.equations, self.flow, time, events, self.slip_speed)


def meanings_of(equations: PhaseEquations, watched: np.ndarray) -> np.ndarray:
    """Kind and contact (f, 2) of the event functions of a phase, in their order."""
    modes, d = equations.modes, equations.d
    found: list[tuple[int, int]] = [(TOUCH, int(i)) for i in watched]
    found += [(RELEASE, int(i)) for i in modes.contact[equations.normal]]
    for patch in equations.sticking:
        found += [(SLIP_BEGINS, int(modes.contact[equations.patch[patch]]))] * (2 if d == 1 else 1)
    for patch in equations.sliding:
        contact = int(modes.contact[equations.patch[patch]])
        found.append((STOP, contact))
        if d == 2 and modes.grip[equations.patch[patch]] == STARTING:
            found.append((TURN, contact))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def stops_or_turns(
    equations: PhaseEquations, flow: Flow, time: float, events: np.ndarray, slip_speed: float
) -> np.ndarray:
    """A patch whose sense follows its velocity and that still slides across it has turned, not stopped."""
    if not equations.following.any():
        return events
    q, v = flow.states(np.array([time]))
    speed = np.linalg.norm(equations.slips(np.array([time]), q, v)[0], axis=1)
    contact = equations.modes.contact[equations.patch]
    events = events.copy()
    for event in events:
        patch = int(np.flatnonzero(contact == event[1])[0]) if event[0] == STOP else -1
        if patch >= 0 and equations.following[patch] and speed[patch] > 2.0 * slip_speed:
            event[0] = TURN
    return events
