"""The smooth motion between two switches of regularised contacts, as one equation ẏ = r(t, y).

    y = (q, v, s, z | Λ, Λ_B, works)

with q̇ = B(q) v, the accelerations of :mod:`klapper.schemes.regularised_forces`, free layers s and friction springs z.
The impulses of all contacts and constraints and the works for the energy ledger are integrated along.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.contact_modes import APART, IDLE, SLIDING, ContactModes
from klapper.schemes.friction_branches import FrictionBranches, directions_of
from klapper.schemes.normal_laws import NormalBranches
from klapper.schemes.regularised_forces import Moment, RegularisedContacts

WORKS = 4
"""Loads, damping, what normal dampers take, and −∫ λ_T·v_T [J]."""

_DIFFERENCE = 1.5e-8  # root of the rounding unit


class Phase(RegularisedContacts):
    """A system whose contacts keep their modes.

    ``watched`` are the contacts apart that might close; ``blur`` says how much larger than its rounding the error of a
    velocity is.
    """

    def __init__(
        self,
        system: System,
        normal: NormalBranches,
        friction: FrictionBranches,
        modes: ContactModes,
        watched: np.ndarray,
        inverse: Any,
        blur: float,
    ) -> None:
        super().__init__(system, normal, friction, modes, inverse)
        self.apart, self.blur = watched[modes.normal[watched] == APART], blur
        self.nq, self.m = len(system.coordinates), system.contacts.count

    @cached_property
    def core(self) -> int:
        """Number of those components of y on which the motion depends."""
        layers = self.m if self.normal.layered else 0
        return self.nq + self.nv + layers + (self.m * self.d if self.has_spring else 0)

    @property
    def size(self) -> int:
        return self.core + len(self.closed) * (1 + self.d) + self.p + WORKS

    def begin(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """y at the beginning of a step, with sums from zero."""
        parts = [q, v]
        if self.normal.layered:
            parts.append(self.modes.layer)
        if self.has_spring:
            parts.append(self._spring_or_direction().ravel())
        parts.append(np.zeros(self.size - self.core))
        return np.concatenate(parts)

    def _spring_or_direction(self) -> np.ndarray:
        """(m, d): the stretch of springs, in space the direction of those that slide."""
        spring = self.modes.spring
        slides = self.closed[self.tangential_mode == SLIDING]
        if self.d == 2 and len(slides):
            spring = spring.copy()
            spring[slides] = self.modes.sense[slides]
        return spring

    def parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, v, s (m,), z (m, d)."""
        q, v, at = y[: self.nq], y[self.nq : self.nq + self.nv], self.nq + self.nv
        layer, spring = self.modes.layer, self.modes.spring
        if self.normal.layered:
            layer = y[at : at + self.m]
            at += self.m
        if self.has_spring:
            spring = y[at : at + self.m * self.d].reshape(self.m, self.d)
        return q, v, layer, spring

    def sums(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Impulses (k, 1 + d), constraint impulses (p,), works (4,)."""
        count = len(self.closed) * (1 + self.d)
        parts = np.split(y[self.core :], [count, count + self.p])
        return parts[0].reshape(len(self.closed), 1 + self.d), parts[1], parts[2]

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """ẏ."""
        q, v, layer, spring = self.parts(y)
        now = self.moment(t, q, v, spring)
        load, damping = self.system.powers(t, q, v)
        walls = now.wall_power
        if self.p:
            walls -= float(now.constraint_force @ self.system.constraint_directions(t, q)[1])
        friction = -float(np.sum(now.sliding.force * now.sliding.velocity))
        works = np.array([load + walls, damping, self._normal_loss(now, layer), friction])
        parts = [self.system.rate(q, v), now.acceleration]
        if self.normal.layered:
            parts.append(self._layer_rate(layer, now.gap_rate))
        if self.has_spring:
            rates = np.zeros((self.m, self.d))
            rates[self.closed] = self.friction.spring_rate(now.sliding)
            parts.append(rates.ravel())
        forces = np.column_stack([now.normal_force, now.tangential_force])
        return np.concatenate([*parts, forces.ravel(), now.constraint_force, works])

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """∂ẏ/∂y by differences; nothing depends on the sums."""
        at_rest = self.rate(t, y)
        matrix = np.zeros((self.size, self.size))
        for j in range(self.core):
            moved = y.copy()
            moved[j] += _DIFFERENCE * max(abs(y[j]), 1e-3)
            matrix[:, j] = (self.rate(t, moved) - at_rest) / (moved[j] - y[j])
        return matrix

    @cached_property
    def labels(self) -> list[tuple[str, int]]:
        """What it means that the functions of ``ends`` fall through zero, with the number of the contact."""
        pressing = np.flatnonzero(self.presses)
        idle = self.closed[self.mode == IDLE]
        tangential = self.friction.labels(self.tangential_mode, self.d)
        return (
            [("closes", int(i)) for i in self.apart]
            + [("releases", int(self.closed[i])) for i in pressing]
            + [("presses", int(i)) for i in idle]
            + [("opens", int(i)) for i in idle]
            + [(what, int(self.closed[i])) for what, i in tangential]
        )

    def ends(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Functions whose fall through zero ends the phase, and the size of their terms, for judging rounding."""
        q, v, layer, spring = self.parts(y)
        place = float(np.abs(q).max(initial=0.0))
        distance = self.system.gaps(t, q, self.apart)
        if self.normal.layered:
            distance = distance + layer[self.apart]
        values, terms = [distance], [np.abs(distance) + place]
        if len(self.closed):
            now = self._kinematics(t, q, v, spring)
            pressing, idle = self.presses, self.mode == IDLE
            release = self.normal.release(now.gap, now.gap_rate)
            sizes = self.normal.release_terms(now.gap, now.gap_rate, place, float(np.abs(v).max(initial=0.0)))
            values += [release[pressing], -release[idle], -now.gap[idle]]
            terms += [sizes[pressing], sizes[idle], np.abs(now.gap[idle]) + place]
            if self.rough:
                ends, sizes = self.friction.ends(self.with_terms(t, q, v, now))
                values.append(ends)
                terms.append(sizes * self.blur if self.friction.continuous else sizes)
        return np.concatenate(values), np.concatenate(terms)

    def settled(self, t: float, y: np.ndarray) -> ContactModes:
        """The modes with inner variables as they are at the end of a step."""
        q, v, layer, spring = self.parts(y)
        layer, spring, sense = layer.copy(), spring.copy(), self.modes.sense
        if self.normal.layered and len(self.closed):
            touching = self.closed[self.laws.normal]
            layer[touching] = -self.system.gaps(t, q, touching)
        slides = self.tangential_mode == SLIDING
        if self.has_spring and np.any(slides):
            force = self.given(t, q, v, spring)[4].force
            places, sense = self.closed[slides], sense.copy()
            sense[places] = directions_of(-force[slides], self.sense[slides])
            spring[places] = -force[slides] / self.friction.stiffness
        return self.modes.changed(layer=layer, spring=spring, sense=sense)

    def _kinematics(self, t: float, q: np.ndarray, v: np.ndarray, spring: np.ndarray) -> Moment:
        """The moment; without accelerations if no end of a branch depends on them."""
        rates = self.friction.needs_limit_rate and np.any(self.tangential_mode == SLIDING)
        if len(self.stuck) or rates:
            return self.moment(t, q, v, spring)
        _, gap, rate, force, sliding = self.given(t, q, v, spring)
        none = np.zeros(0)
        return Moment(gap, rate, force, sliding, none, none, none, 0.0, None)

    def _normal_loss(self, now: Moment, layer: np.ndarray) -> float:
        """What the dampers of the normal laws take [W]: (e − λ_N) ġ, and c²s²/d in free layers."""
        has = self.laws.normal
        loss = (self.normal.elastic(now.gap) - now.normal_force) * now.gap_rate
        total = float(np.sum(loss[has]))
        if self.normal.layered:
            free = layer.copy()
            free[self.closed[has]] = 0.0
            total -= float(np.sum(self.all_normal.stiffness * free * self.all_normal.relaxation(free)))
        return total

    def _layer_rate(self, layer: np.ndarray, gap_rate: np.ndarray) -> np.ndarray:
        rate = self.all_normal.relaxation(layer)
        touching = self.laws.normal
        rate[self.closed[touching]] = -gap_rate[touching]
        return rate
