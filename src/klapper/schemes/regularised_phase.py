"""The smooth motion between two switches of regularised contacts.

    M v̇ = f + J_N λ_N + J_T λ_T + J_S λ_S + J_B λ_B,   J_Sᵀ v̇ + b_S = 0,   J_Bᵀ v̇ + b_B = 0,   q̇ = B(q) v

λ_N and λ_T are functions of the state, (4.84)-(4.87) of Waltersberger; only sticking patches S of set-valued friction
and two-sided constraints have reactions. The impulses of all of them and the works for the energy ledger are integrated
along. The state is y = (q, v, s, z | Λ, Λ_B, works).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import System
from klapper.schemes.contact_modes import APART, IDLE, NO_FRICTION, PRESSING, SLIDING, STICKING, ContactModes
from klapper.schemes.friction_branches import FrictionBranches, Sliding, directions_of
from klapper.schemes.mobility import Held, Inverse
from klapper.schemes.normal_laws import NormalBranches

WORKS = 4
"""Loads, damping, what normal dampers take, and −∫ λ_T·v_T [J]."""

_DIFFERENCE = 1.5e-8  # root of the rounding unit


@dataclass(frozen=True, eq=False)
class Moment:
    """Everything about the k closed contacts at one state.

    ``gap`` (k,), ``gap_rate`` (k,), ``normal_force`` (k,), ``sliding`` with forces in scaled directions,
    ``tangential_force`` (k, d) [N] unscaled; ``acceleration`` v̇ (nv,), ``constraint_force`` (p,);
    ``wall_power`` [W]: what moving walls and belts put in
    """

    gap: np.ndarray
    gap_rate: np.ndarray
    normal_force: np.ndarray
    sliding: Sliding
    tangential_force: np.ndarray
    acceleration: np.ndarray
    constraint_force: np.ndarray
    wall_power: float


class Phase:
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
        self.system, self.friction, self.modes = system, friction, modes
        self.inverse_of, self.blur = inverse, blur
        self.closed = modes.closed
        self.apart = watched[modes.normal[watched] == APART]
        self.mode = modes.normal[self.closed]
        self.tangential_mode = modes.tangential[self.closed]
        self.all_normal, self.normal = normal, normal.at(self.closed)
        self.sense = modes.sense[self.closed]
        self.nq, self.nv, self.d = len(system.coordinates), len(system.velocities), system.contacts.tangential
        self.m, self.p = system.contacts.count, len(system.constraints)
        self.presses = (self.mode == PRESSING) & self.laws.normal
        self.has_spring = friction.stiffness > 0.0
        self.rough = bool(np.any(self.tangential_mode != NO_FRICTION))
        self.stuck = np.flatnonzero((self.tangential_mode == STICKING) & friction.holds)

    @cached_property
    def laws(self) -> ContactLaws:
        """Laws of the closed contacts at rest."""
        return self.system.contacts.laws(self.closed)

    @cached_property
    def scale(self) -> np.ndarray:
        """(k, d): tangential directions times this make the friction set a disc."""
        scale = np.ones((len(self.closed), self.d))
        if self.d == 2:
            scale[:, 1] = self.laws.ratio
        return scale

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

    def slip_directions(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Sense (m, d) with the directions of sliding in space as they are now."""
        if self.d < 2 or self.has_spring or not np.any(self.tangential_mode == SLIDING):
            return self.modes.sense
        velocity = self._slip(self.system.directions(t, q, self.closed), v)
        slides = (self.tangential_mode == SLIDING)[:, None]
        sense = self.modes.sense.copy()
        sense[self.closed] = np.where(slides, directions_of(velocity, self.sense), self.sense)
        return sense

    def given(
        self, t: float, q: np.ndarray, v: np.ndarray, spring: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, Sliding]:
        """Directions, gaps, gap rates, normal forces (k,) and friction without reactions."""
        directions = self.system.directions(t, q, self.closed)
        gap = np.where(self.laws.normal, self.system.gaps(t, q, self.closed), 0.0)
        rate = np.asarray(directions.normal_velocity(v))
        normal_force = self._normal_force(gap, rate)
        return directions, gap, rate, normal_force, self._sliding(directions, v, normal_force, spring)

    def push(
        self, t: float, q: np.ndarray, v: np.ndarray, directions: Any, normal_force: np.ndarray, at: Sliding
    ) -> np.ndarray:
        """f + J_N λ_N + J_T λ_T (nv,) without reactions."""
        force = self.system.force(t, q, v)
        if len(self.closed):
            force = force + directions.normal @ normal_force
        if self.rough:
            force = force + directions.tangential @ (at.force * self.scale).ravel()
        return force

    def moment(self, t: float, q: np.ndarray, v: np.ndarray, spring: np.ndarray) -> Moment:
        """Forces and accelerations at a state."""
        directions, gap, rate, normal_force, sliding = self.given(t, q, v, spring)
        push = self.push(t, q, v, directions, normal_force, sliding)
        acceleration, reaction, constraint = self._held(t, q, v, directions, push)
        if len(self.stuck):
            force = sliding.force.copy()
            force[self.stuck] = reaction
            sliding = replace(sliding, force=force)
        if self.friction.needs_limit_rate and np.any(self.tangential_mode == SLIDING):
            rates = self._limit_rate(t, q, v, directions, gap, rate, normal_force, sliding, acceleration)
            sliding = replace(sliding, limit_rate=rates)
        tangential_force = sliding.force * self.scale
        walls = -float(
            normal_force @ directions.normal_rate + tangential_force.ravel() @ directions.tangential_rate
        )
        return Moment(gap, rate, normal_force, sliding, tangential_force, acceleration, constraint, walls)

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
                ends, sizes = self.friction.ends(now.sliding)
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
        return Moment(gap, rate, force, sliding, none, none, none, 0.0)

    def _normal_force(self, gap: np.ndarray, rate: np.ndarray) -> np.ndarray:
        return np.where(self.presses, self.normal.trial(gap, rate), 0.0)

    def _slip(self, directions: Any, v: np.ndarray) -> np.ndarray:
        """v_T (k, d) in scaled directions."""
        return np.asarray(directions.tangential_velocity(v)).reshape(len(self.closed), self.d) * self.scale

    @cached_property
    def _without_friction(self) -> Sliding:
        rows, none = np.zeros((len(self.closed), self.d)), np.zeros(len(self.closed))
        return Sliding(self.tangential_mode, rows, none, none, rows, rows, rows, none)

    def _sliding(
        self, directions: Any, v: np.ndarray, normal_force: np.ndarray, spring: np.ndarray
    ) -> Sliding:
        if not self.rough:
            return self._without_friction
        velocity = self._slip(directions, v)
        terms = abs(directions.tangential).T @ np.abs(v) + np.abs(directions.tangential_rate)
        at = Sliding(
            mode=self.tangential_mode,
            velocity=velocity,
            limit=self._limit(normal_force, velocity / np.where(self.scale > 0.0, self.scale, 1.0)),
            limit_rate=np.zeros(len(self.closed)),
            sense=self.sense,
            spring=spring[self.closed],
            force=np.zeros_like(velocity),
            terms=np.asarray(terms).reshape(velocity.shape).sum(axis=1),
        )
        return replace(at, force=self.friction.force(at))

    def _limit(self, normal_force: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """ρ (k,) [N]."""
        laws = self.laws
        if not self.system.contacts.constant:
            held = (self.tangential_mode == STICKING) & (self.friction.holds or self.has_spring)
            laws = self.system.contacts.laws(
                self.closed, np.where(held, 0.0, np.linalg.norm(velocity, axis=1))
            )
        return laws.limit + laws.friction_from(normal_force)

    def _limit_rate(
        self,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        directions: Any,
        gap: np.ndarray,
        rate: np.ndarray,
        normal_force: np.ndarray,
        sliding: Sliding,
        acceleration: np.ndarray,
    ) -> np.ndarray:
        """ρ̇ (k,) [N/s]."""
        b_normal, b_tangential = self.system.curvature(t, q, v, self.closed)
        change = self.normal.trial_rate(gap, rate, directions.normal.T @ acceleration + b_normal)
        force_rate = np.where(self.presses, change, 0.0)
        if self.system.contacts.constant:
            return self.laws.friction_from(force_rate)
        slip = np.asarray(directions.tangential_velocity(v)).reshape(len(self.closed), self.d)
        slip_rate = (directions.tangential.T @ acceleration + b_tangential).reshape(slip.shape)
        speed = np.linalg.norm(slip, axis=1)
        speed_rate = np.sum(directions_of(slip) * slip_rate, axis=1)
        step = 1e-4 * np.maximum(speed, 1e-4)
        laws = self.system.contacts.laws
        ahead, behind = laws(self.closed, speed + step), laws(self.closed, np.maximum(speed - step, 0.0))
        rise = ahead.friction_from(normal_force) - behind.friction_from(normal_force)
        slope = rise / (speed + step - np.maximum(speed - step, 0.0))
        return laws(self.closed, speed).friction_from(force_rate) + slope * speed_rate

    def _held(
        self, t: float, q: np.ndarray, v: np.ndarray, directions: Any, push: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """v̇ (nv,), reactions of sticking patches (i, d) in scaled directions, and of constraints (p,)."""
        inverse = self.inverse_of(self.system.mass(q))
        free = inverse(push)
        if not (self.p or len(self.stuck)):
            return free, np.zeros((0, self.d)), np.zeros(0)
        columns, bias = self._reactions(t, q, v, directions)
        held = Held(inverse, columns)
        forces = held.impulses(columns.T @ free + bias)
        return free + held.push(forces), forces[self.p :].reshape(len(self.stuck), self.d), forces[: self.p]

    def _reactions(
        self, t: float, q: np.ndarray, v: np.ndarray, directions: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """(J_B, J_S) and (b_B, b_S)."""
        columns, bias = [np.zeros((self.nv, 0))], [np.zeros(0)]
        if self.p:
            columns.append(dense(self.system.constraint_directions(t, q)[0]))
            bias.append(self.system.constraint_curvature(t, q, v))
        if len(self.stuck):
            _, b_tangential = self.system.curvature(t, q, v, self.closed[self.stuck])
            scale = self.scale[self.stuck].ravel()
            columns.append(dense(directions.tangential)[:, self.rows_of(self.stuck)] * scale)
            bias.append(b_tangential * scale)
        return np.hstack(columns), np.concatenate(bias)

    def rows_of(self, places: np.ndarray) -> np.ndarray:
        """Columns of J_T of the closed contacts at these places."""
        return (places[:, None] * self.d + np.arange(self.d)).ravel()

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


def stored_energies(
    system: System,
    normal: NormalBranches,
    friction: FrictionBranches,
    modes: ContactModes,
    t: float,
    q: np.ndarray,
) -> tuple[float, float]:
    """Energy [J] in the normal and in the tangential springs."""
    layer, spring = modes.layer, modes.spring
    tangential = 0.0
    if friction.stiffness > 0.0:
        tangential = 0.5 * friction.stiffness * float(np.sum(spring**2))
    if normal.layered:
        return float(np.sum(normal.stored(layer, layer, layer > 0.0))), tangential
    closed = modes.closed
    gap = system.gaps(t, q, closed)
    return float(np.sum(normal.at(closed).stored(gap, layer[closed], np.isfinite(gap)))), tangential


def inverse_kept() -> Any:
    """M ↦ M⁻¹ that factorises a matrix once as long as it stays the same object."""
    kept: dict[str, Any] = {}

    def inverse_of(mass: Any) -> Inverse:
        if kept.get("mass") is not mass:
            kept["mass"], kept["inverse"] = mass, Inverse(mass)
        return kept["inverse"]

    return inverse_of
