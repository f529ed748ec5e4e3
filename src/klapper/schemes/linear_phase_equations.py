"""The equations of a phase of a linear system, whose directions and mobilities are constant.

    λ = G (Dᵀ M⁻¹ f + b) + g                                                        Waltersberger (4.58)

solves :mod:`klapper.schemes.phase_equations` once for all states where the senses of sliding are fixed; what is left
of an evaluation are products.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contacts import Contact
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.mobility import Inverse, natural_units, rank
from klapper.schemes.phase_equations import RANK, Instant, PhaseEquations, Rows
from klapper.schemes.phase_modes import Modes


class LinearPhaseEquations(PhaseEquations):
    """Motion of a linear system in fixed modes; where friction turns or changes with the speed, as any system."""

    system: LinearSystem

    def __init__(self, system: LinearSystem, modes: Modes, inverse: Inverse) -> None:
        super().__init__(system, modes)
        self._inverse = inverse
        self._watched: tuple[np.ndarray, Any] | None = None
        parts = [system.contacts.parts[i] for i in self.which]
        d, m = self.d, len(self.normal)
        of_normal = self.which[self.normal]
        of_patch = (self.which[self.patch, None] * d + np.arange(d)).ravel()
        self.columns = np.hstack(
            [
                dense(system.normal_directions[:, of_normal]),
                dense(system.tangential_directions[:, of_patch]) * self.scale.ravel(),
                dense(system.constraint_matrix),
            ]
        )
        self.response = np.asarray(inverse(self.columns))
        self.mobility = self.columns.T @ self.response
        self._walls: list[tuple[Any, Any, Any, Any]] = []  # rows, rate, acceleration, scale of given motions
        for row, i in enumerate(self.normal):
            part = parts[i]
            if isinstance(part, Contact) and not part.gap.constant:
                self._walls.append((row, part.gap.rate, part.gap.acceleration, 1.0))
        self._steady = np.zeros(self.size)
        for rows, i, scale in zip(self.patch_rows, self.patch, self.scale, strict=True):
            belt = parts[i].tangential_rate
            at, factor = (rows[0], scale[0]) if belt.shape == () else (rows, scale)
            if belt.constant:
                self._steady[at] = belt.value(0.0) * factor
            else:
                self._walls.append((at, belt.value, belt.rate, factor))
        for row, guide in enumerate(system.constraint_parts, start=m + len(self.patch) * d):
            if not guide.offset.constant:
                self._walls.append((row, guide.offset.rate, guide.offset.acceleration, 1.0))
        self.fixed = not self.following.any() and not self.changing
        self._load = system.load.value(0.0) if system.load.constant else None
        self._weight = system._dead_load

    def rates(self, times: Any) -> np.ndarray:
        """Given parts (…, r) [m/s] of Dᵀ v."""
        values = np.zeros((*np.shape(times), self.size)) + self._steady
        for at, rate, _, scale in self._walls:
            values[..., at] = rate(times) * scale
        return values

    def bias(self, times: Any) -> np.ndarray:
        """Given parts (…, r) [m/s²] of Dᵀ v̇."""
        values = np.zeros((*np.shape(times), self.size))
        for at, _, acceleration, scale in self._walls:
            values[..., at] = acceleration(times) * scale
        return values

    def rows(self, t: float, q: np.ndarray, v: np.ndarray) -> Rows:
        if not self._walls:
            return Rows(self.columns, self._steady, np.zeros(self.size))
        return Rows(self.columns, self.rates(t), self.bias(t))

    def inverse(self, q: np.ndarray) -> Inverse:
        return self._inverse

    @cached_property
    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """G (r, r) and g (r,): forces = G (Dᵀ M⁻¹ f + b) + g, where the senses of sliding are fixed."""
        matrix, given = self.distribution(self.sense, self.at_rest)
        held = self.mobility[self.held] @ matrix
        unit = natural_units(self.mobility.diagonal()[self.held])
        self.determined = rank(held, self.mobility.diagonal()[self.held], RANK) == len(self.held)
        if self.determined:
            inverse = np.linalg.inv(held) if held.size else held
        else:
            inverse = np.linalg.pinv(held / np.outer(unit, unit), rcond=RANK) / np.outer(unit, unit)
        near = self.modes.reference[self.held]
        select = np.zeros((len(self.held), self.size))
        select[np.arange(len(self.held)), self.held] = 1.0
        rest = near - inverse @ (held @ near) if not self.determined else np.zeros(len(self.held))
        offset = rest - inverse @ (self.mobility[self.held] @ given)
        return -matrix @ inverse @ select, matrix @ offset + given

    @cached_property
    def _from_force(self) -> np.ndarray:
        """G Dᵀ M⁻¹ (r, n): forces from f."""
        return self.solution[0] @ self.response.T

    def instant(self, t: float, q: np.ndarray, v: np.ndarray) -> Instant:
        if not self.fixed:
            return super().instant(t, q, v)
        return self._instant(t, q, v, self._load if self._load is not None else self.system.load.value(t))

    def _instant(self, t: float, q: np.ndarray, v: np.ndarray, load: np.ndarray) -> Instant:
        """With the load (n,) [N] at hand."""
        system, force = self.system, load
        if system.rate_matrix is not None:
            force = force - system.rate_matrix @ v
        if system.position_matrix is not None:
            force = force - system.position_matrix @ q
        free = self._inverse(force)
        if self.size == 0:
            return Instant(free, np.zeros(0), np.zeros((0, self.d)), self._steady)
        forces = self._from_force @ force + self.solution[1]
        rates = self._steady
        if self._walls:
            forces = forces + self.solution[0] @ self.bias(t)
            rates = self.rates(t)
        of = slice(len(self.normal), self.size - len(system.constraints))
        slip = (self.columns[:, of].T @ v + rates[of]).reshape(len(self.patch), self.d)
        return Instant(free + self.response @ forces, forces, slip, rates)

    def many(self, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if not self.fixed:
            return super().many(times, q, v)
        system = self.system
        force = system.load.value(times)
        if system.rate_matrix is not None:
            force = force - (system.rate_matrix @ v.T).T
        if system.position_matrix is not None:
            force = force - (system.position_matrix @ q.T).T
        to_forces, offset = self.solution
        return force @ self._from_force.T + self.bias(times) @ to_forces.T + offset

    def slips(self, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        of = slice(len(self.normal), self.size - len(self.system.constraints))
        return (v @ self.columns[:, of] + self.rates(times)[:, of]).reshape(
            len(times), len(self.patch), self.d
        )

    def gaps(self, times: np.ndarray, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        constant, moving = _gap_offsets(self.system)
        gaps = (self._watched_directions(which) @ q.T).T + constant[which]
        for k in np.flatnonzero(moving[which]):
            gaps[:, k] += self.system.contacts.parts[which[k]].gap.value(times)
        return gaps

    def _watched_directions(self, which: np.ndarray) -> Any:
        """Rows of J_Nᵀ, kept as long as the same contacts are asked for."""
        if self._watched is None or not np.array_equal(self._watched[0], which):
            self._watched = (which, self.system.normal_directions[:, which].T)
        return self._watched[1]

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        if not self.fixed:
            return super().derivative(t, y)
        system, n = self.system, self.system.size
        q, v = y[:n], y[n : 2 * n]
        given = self._load if self._load is not None else system.load.value(t)
        now = self._instant(t, q, v, given)
        out = np.empty(len(y))
        out[:n], out[n : 2 * n], out[2 * n : 2 * n + self.size] = v, now.acceleration, now.forces
        load = 0.0 if self._load is not None else float(v @ (given - self._weight))
        if system.circulatory is not None:
            load -= float(v @ (system.circulatory @ q))
        damping = 0.0 if system.damping is None else float(v @ (system.damping @ v))
        friction = 0.0
        if self.size:
            load -= float(now.forces @ now.rates)
            friction = -float(now.forces[self.patch_rows.ravel()] @ now.slip.ravel())
        out[-3:] = load, damping, friction
        return out


_OFFSETS: WeakKeyDictionary[LinearSystem, tuple[np.ndarray, np.ndarray]] = WeakKeyDictionary()


def _gap_offsets(system: LinearSystem) -> tuple[np.ndarray, np.ndarray]:
    """Constant parts g₀ (m,) [m] of all gaps, nan for friction elements, and which of them move (m,) and have none."""
    if system not in _OFFSETS:
        constant, moving = np.full(system.contacts.count, np.nan), np.zeros(system.contacts.count, dtype=bool)
        for i, part in enumerate(system.contacts.parts):
            if isinstance(part, Contact):
                moving[i] = not part.gap.constant
                constant[i] = 0.0 if moving[i] else float(part.gap.value(0.0))
        _OFFSETS[system] = constant, moving
    return _OFFSETS[system]


def phase_equations(system: System, modes: Modes, inverse: Inverse | None = None) -> PhaseEquations:
    """The equations that fit the system; ``inverse`` is M⁻¹ of a linear one if it is at hand."""
    if isinstance(system, LinearSystem):
        return LinearPhaseEquations(system, modes, inverse or Inverse(system.mass_matrix))
    return PhaseEquations(system, modes)
