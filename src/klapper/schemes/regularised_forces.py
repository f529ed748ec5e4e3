"""Forces and accelerations of regularised contacts at one state, in which every contact keeps its mode.

    M v̇ = f + J_N λ_N + J_T λ_T + J_S λ_S + J_B λ_B,   J_Sᵀ v̇ + b_S = 0,   J_Bᵀ v̇ + b_B = 0

λ_N and λ_T are functions of the state, (4.84)-(4.87) of Waltersberger; only sticking patches S of set-valued friction
and two-sided constraints have reactions. The friction limit ρ = limit + μ λ_N has a rate where a law needs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import System
from klapper.schemes.contact_modes import NO_FRICTION, PRESSING, SLIDING, STICKING, ContactModes
from klapper.schemes.friction_branches import FrictionBranches, Sliding, directions_of
from klapper.schemes.mobility import Held
from klapper.schemes.normal_laws import NormalBranches


@dataclass(frozen=True, eq=False)
class Balance:
    """The terms of M v̇ = push + J λ at one state.

    ``directions`` of the closed contacts; ``push`` (nv,) without reactions; ``held`` and ``bias`` (p + i d,) of what
    has reactions, None if nothing has
    """

    directions: Any
    push: np.ndarray
    held: Held | None
    bias: np.ndarray


@dataclass(frozen=True, eq=False)
class Moment:
    """Everything about the k closed contacts at one state.

    ``gap`` (k,), ``gap_rate`` (k,), ``normal_force`` (k,), ``sliding`` with forces in scaled directions,
    ``tangential_force`` (k, d) [N] unscaled; ``acceleration`` v̇ (nv,), ``constraint_force`` (p,);
    ``wall_power`` [W]: what moving walls and belts put in; ``balance``: where accelerations and reactions come from,
    None if they are not asked for
    """

    gap: np.ndarray
    gap_rate: np.ndarray
    normal_force: np.ndarray
    sliding: Sliding
    tangential_force: np.ndarray
    acceleration: np.ndarray
    constraint_force: np.ndarray
    wall_power: float
    balance: Balance | None


class RegularisedContacts:
    """The closed contacts of a system in their modes; ``inverse`` gives M⁻¹ for a mass matrix."""

    def __init__(
        self,
        system: System,
        normal: NormalBranches,
        friction: FrictionBranches,
        modes: ContactModes,
        inverse: Any,
    ) -> None:
        self.system, self.friction, self.modes, self.inverse_of = system, friction, modes, inverse
        self.closed = modes.closed
        self.mode = modes.normal[self.closed]
        self.tangential_mode = modes.tangential[self.closed]
        self.all_normal, self.normal = normal, normal.at(self.closed)
        self.sense = modes.sense[self.closed]
        self.nv, self.d = len(system.velocities), system.contacts.tangential
        self.p = len(system.constraints)
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
        balance = self._balance(t, q, v, directions, push)
        acceleration, reaction, constraint = self._accelerated(q, balance)
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
        return Moment(
            gap, rate, normal_force, sliding, tangential_force, acceleration, constraint, walls, balance
        )

    def with_terms(self, t: float, q: np.ndarray, v: np.ndarray, now: Moment) -> Sliding:
        """The tangential state with the size of the terms of its forces.

        A stiff contact turns the round-off of positions into one of its force, c times as large. It is in the friction
        limit μ λ_N, and in reactions, which balance the normal forces too.
        """
        at, laws, balance = now.sliding, self.laws, now.balance
        place, pace = float(np.abs(q).max(initial=0.0)), float(np.abs(v).max(initial=0.0))
        normal = np.where(self.presses, self.normal.trial_terms(now.gap, now.gap_rate, place, pace), 0.0)
        at = replace(at, limit_terms=np.abs(laws.limit) + laws.friction_from(normal))
        if balance is None:
            return at
        push = np.abs(self.system.force(t, q, v)) + abs(balance.directions.normal) @ normal
        friction = np.maximum(np.abs(at.force), at.limit_terms[:, None]) * self.scale
        push = push + abs(balance.directions.tangential) @ friction.ravel()
        if len(self.stuck):
            assert balance.held is not None
            free = np.abs(balance.held.direction).T @ np.abs(now.acceleration) + np.abs(balance.bias)
            size = balance.held.impulse_terms(push, free)[self.p :].reshape(len(self.stuck), self.d)
            terms = np.zeros(len(self.closed))
            terms[self.stuck] = size.sum(axis=1)
            at = replace(at, force_terms=terms)
        if self.friction.needs_limit_rate:
            reach = np.abs(dense(self.inverse_of(self.system.mass(q))(balance.directions.normal)))
            change = self.normal.trial_rate_terms(now.gap, now.gap_rate, pace, reach.T @ push)
            at = replace(at, limit_rate_terms=laws.friction_from(np.where(self.presses, change, 0.0)))
        return at

    def _normal_force(self, gap: np.ndarray, rate: np.ndarray) -> np.ndarray:
        return np.where(self.presses, self.normal.trial(gap, rate), 0.0)

    def _slip(self, directions: Any, v: np.ndarray) -> np.ndarray:
        """v_T (k, d) in scaled directions."""
        return np.asarray(directions.tangential_velocity(v)).reshape(len(self.closed), self.d) * self.scale

    @cached_property
    def _without_friction(self) -> Sliding:
        rows, none = np.zeros((len(self.closed), self.d)), np.zeros(len(self.closed))
        return Sliding(self.tangential_mode, rows, none, none, rows, rows, rows, none, none, none, none)

    def _sliding(
        self, directions: Any, v: np.ndarray, normal_force: np.ndarray, spring: np.ndarray
    ) -> Sliding:
        if not self.rough:
            return self._without_friction
        velocity, none = self._slip(directions, v), np.zeros(len(self.closed))
        terms = abs(directions.tangential).T @ np.abs(v) + np.abs(directions.tangential_rate)
        at = Sliding(
            mode=self.tangential_mode,
            velocity=velocity,
            limit=self._limit(normal_force, velocity / np.where(self.scale > 0.0, self.scale, 1.0)),
            limit_rate=none,
            sense=self.sense,
            spring=spring[self.closed],
            force=np.zeros_like(velocity),
            terms=np.asarray(terms).reshape(velocity.shape).sum(axis=1),
            limit_terms=none,
            limit_rate_terms=none,
            force_terms=none,
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
        step = 1e-4 * np.maximum(speed, 1e-2)
        laws = self.system.contacts.laws
        ahead, behind = laws(self.closed, speed + step), laws(self.closed, np.maximum(speed - step, 0.0))
        rise = ahead.friction_from(normal_force) - behind.friction_from(normal_force)
        slope = rise / (speed + step - np.maximum(speed - step, 0.0))
        return laws(self.closed, speed).friction_from(force_rate) + slope * speed_rate

    def _balance(self, t: float, q: np.ndarray, v: np.ndarray, directions: Any, push: np.ndarray) -> Balance:
        if not (self.p or len(self.stuck)):
            return Balance(directions, push, None, np.zeros(0))
        columns, bias = self._reactions(t, q, v, directions)
        return Balance(directions, push, Held(self.inverse_of(self.system.mass(q)), columns), bias)

    def _accelerated(self, q: np.ndarray, balance: Balance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """v̇ (nv,), reactions of sticking patches (i, d) in scaled directions, and of constraints (p,)."""
        free, held = self.inverse_of(self.system.mass(q))(balance.push), balance.held
        if held is None:
            return free, np.zeros((0, self.d)), np.zeros(0)
        forces = held.impulses(held.direction.T @ free + balance.bias)
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
