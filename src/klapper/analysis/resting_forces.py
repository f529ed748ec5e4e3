"""Positions and forces of contacts at rest with friction, as a convex set.

x = (y, λ_N, λ_T):   K y = f + F λ_N + J_T λ_T,   J_Nᵀ y + g₀ = 0 ≤ λ_N of closed, ≥ 0 of open contacts,   |λ_T| ≤ ρ
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from klapper.analysis.contact_state import has_friction, scale
from klapper.analysis.polytope import FLAT, Disc, Polytope
from klapper.analysis.stationary_problem import StationaryProblem, friction_rows
from klapper.analysis.stationary_state import StationaryState
from klapper.complementarity.dense import dense
from klapper.contact_states import SLIP, STICK
from klapper.mechanics.arguments import finite

_AT_LIMIT = 1e-8  # relative: friction forces nearer to their limit than this are at it


@dataclass(frozen=True, eq=False)
class RestingForces:
    """Stationary states with the contacts ``closed`` (c,); those that only ``may_press`` (c,) may be open or closed.

    ``patches``   numbers (s,) of the contacts and friction elements that may hold by friction
    ``tangents``  J_T (n, s, d), scaled so that friction ellipses are discs; ``units`` (s,) [N] of their forces in x
    """

    problem: StationaryProblem
    closed: np.ndarray
    may_press: np.ndarray
    patches: np.ndarray
    tangents: np.ndarray
    units: np.ndarray

    @classmethod
    def of(cls, problem: StationaryProblem, closed: np.ndarray, may_press: np.ndarray) -> RestingForces:
        system, form = problem.system, problem.form
        pressed = np.ones(system.contacts.count, dtype=bool)
        pressed[problem.contacts] = may_press
        patches = np.flatnonzero(has_friction(system) & ~problem.sliding & pressed)
        m, d = system.contacts.count, system.contacts.tangential
        tangents = dense(system.tangential_directions).reshape(system.size, m, d)[:, patches]
        tangents = tangents * scale(system)[patches]
        length = np.linalg.norm(np.einsum("nr,nsd->rsd", form.basis, tangents), axis=0).max(
            axis=1, initial=0.0
        )
        units = form.force_scale / np.where(length > 0.0, length, 1.0)
        return cls(problem, closed, may_press, patches, tangents, units)

    @cached_property
    def set(self) -> Polytope:
        """In the dimensionless unknowns (y (r), λ_N (a) of the contacts that may press, λ_T (s d))."""
        form, k = self.problem.form, self._count
        balance = np.zeros((form.size, k))
        balance[:, : form.size] = form.stiffness
        balance[:, self._normal] = -form.force[:, self.may_press]
        held = np.einsum("nr,nsd->rsd", form.basis, self.tangents) * self.units[:, None] / form.force_scale
        balance[:, self._tangential.ravel()] = -held.reshape(form.size, -1)
        gaps = np.zeros((len(form.gap), k))
        gaps[:, : form.size] = form.normal.T
        equations = np.vstack([balance, gaps[self.closed], np.eye(k)[self._missing]])
        right = np.concatenate([form.load, -form.gap[self.closed], np.zeros(len(self._missing))])
        presses = np.eye(k)[self._normal]
        rows, offsets = [presses, gaps[~self.closed]], [np.zeros(len(presses)), form.gap[~self.closed]]
        discs = []
        slopes, limits = self._limits()
        for s, columns in enumerate(self._tangential):
            both = np.eye(k)[columns]
            if len(columns) == 2 and not np.isin(columns, self._missing).any():
                discs.append(Disc(both, slopes[s], float(limits[s])))
                continue
            rows.append(np.vstack([slopes[s] - both, slopes[s] + both]))
            offsets.append(np.full(2 * len(columns), limits[s]))
        return Polytope((equations, right), (np.vstack(rows), np.concatenate(offsets)), discs)

    @property
    def dimension(self) -> int:
        """Of the set."""
        return self.set.dimension

    def opens_all(self) -> bool:
        """Whether every open contact can be open by more than nothing; else a piece with it closed says all."""
        form = self.problem.form
        for i in np.flatnonzero(~self.closed):
            direction = np.zeros(self._count)
            direction[: form.size] = form.normal[:, i]
            if self.set.range(direction)[1] + form.gap[i] <= FLAT * self.set.size:
                return False
        return True

    def of_position(self, row: Any) -> tuple[np.ndarray, float]:
        """A row (n,) of the position as a direction in x, and its constant part."""
        form = self.problem.form
        given = finite(row, "row", form.origin.shape)
        direction = np.zeros(self._count)
        direction[: form.size] = given @ form.basis
        return direction, float(given @ form.origin)

    def force_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest contact forces (m, 1 + d) [N]."""
        contacts, form = self.problem.system.contacts, self.problem.form
        low, high = (np.zeros((contacts.count, 1 + contacts.tangential)) for _ in range(2))
        pressing = self.problem.contacts[self.may_press]
        units = form.force_unit[self.may_press]
        for contact, column, unit in zip(pressing, self._normal, units, strict=True):
            ends = self.set.range(np.eye(self._count)[column])
            low[contact, 0], high[contact, 0] = max(0.0, unit * ends[0]), unit * ends[1]
        factors = scale(self.problem.system)
        for contact, columns, unit in zip(self.patches, self._tangential, self.units, strict=True):
            for axis, column in enumerate(columns):
                ends = self.set.range(np.eye(self._count)[column])
                low[contact, 1 + axis], high[contact, 1 + axis] = (
                    np.array(ends) * unit * factors[contact, axis]
                )
        if self.problem.sliding.any():
            sliding = [self.problem.friction_forces(normal[:, 0])[0] for normal in (low, high)]
            low[:, 1:], high[:, 1:] = low[:, 1:] + np.minimum(*sliding), high[:, 1:] + np.maximum(*sliding)
        return low, high

    def stationary_state(self, x: np.ndarray) -> StationaryState:
        """The state of a point of the set."""
        problem, form = self.problem, self.problem.form
        normal = np.zeros(len(form.gap))
        normal[self.may_press] = np.maximum(x[self._normal], 0.0)
        friction = x[self._tangential] * self.units[:, None]
        pushed = replace(problem, load=problem.load + np.einsum("nsd,sd->n", self.tangents, friction))
        state = pushed.stationary_state(form.position(x[: form.size]), form.physical_forces(normal))
        forces, states = state.forces.copy(), state.states.copy()
        forces[self.patches, 1:] += friction * scale(problem.system)[self.patches]
        limits = problem.friction_forces(forces[:, 0])[1][self.patches]
        size = np.linalg.norm(friction, axis=1)
        states[self.patches] = np.where(
            limits > 0.0, np.where(size >= (1 - _AT_LIMIT) * limits, SLIP, STICK), states[self.patches]
        )
        beyond = np.max((size - limits) / np.maximum(limits, 1e-300), initial=0.0, where=limits > 0.0)
        return replace(
            state,
            forces=forces,
            states=states,
            residual=max(state.residual, float(beyond)),
            isolated=self.dimension == 0,
        )

    @property
    def _count(self) -> int:
        return (
            self.problem.form.size
            + int(self.may_press.sum())
            + self.tangents.shape[1] * self.tangents.shape[2]
        )

    @property
    def _normal(self) -> np.ndarray:
        """Places of the normal forces in x (a,)."""
        return self.problem.form.size + np.arange(int(self.may_press.sum()))

    @property
    def _tangential(self) -> np.ndarray:
        """Places of the friction forces in x (s, d)."""
        first = self.problem.form.size + int(self.may_press.sum())
        return first + np.arange(self.tangents.shape[1] * self.tangents.shape[2]).reshape(
            self.tangents.shape[1:]
        )

    @cached_property
    def _missing(self) -> np.ndarray:
        """Places of friction forces in directions that a contact does not have."""
        return self._tangential[~np.any(self.tangents, axis=0)]

    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Friction limits of the patches, slopes (s, k) · x + limits (s,)."""
        problem = self.problem
        friction, limit = friction_rows(problem.system)
        pressing = problem.contacts[self.may_press]
        slopes = np.zeros((len(self.patches), self._count))
        shares = friction[self.patches][:, pressing].toarray()
        slopes[:, self._normal] = shares * problem.form.force_unit[self.may_press] / self.units[:, None]
        return slopes, limit[self.patches] / self.units
