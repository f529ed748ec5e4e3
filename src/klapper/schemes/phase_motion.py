"""The motion within one step of a method with phases: an :class:`~klapper.schemes.inner_motion.InnerMotion`.

The flow of the phase gives states, reactions and integrals at any time; the ledger follows from them as at the end of
the step: the numerical entry is what the balance lacks.
"""

from __future__ import annotations

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, kinetic_energy
from klapper.schemes.force_selection import Distribution
from klapper.schemes.inner_motion import Progress
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow
from klapper.schemes.phase_projection import held_position, held_velocity


class PhaseMotion:
    """A flow up to ``end`` [s]; ``walls`` [J] of work were done at its start, ``distribution`` changes its forces."""

    def __init__(
        self,
        equations: PhaseEquations,
        flow: Flow,
        before: Snapshot,
        end: float,
        walls: float,
        distribution: Distribution | None,
    ) -> None:
        self.equations, self.flow, self.before = equations, flow, before
        self.start, self.end = flow.start, end
        self.walls, self.distribution = walls, distribution

    @property
    def pieces(self) -> int:
        share = (self.end - self.start) / (self.flow.end - self.flow.start)
        return max(int(np.ceil(share * self.flow.pieces)), 1)

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.flow.states(times)

    def gaps(self, times: np.ndarray, positions: np.ndarray) -> np.ndarray:
        return self.equations.gaps(times, positions, np.arange(self.equations.system.contacts.count))

    def forces(self, times: np.ndarray) -> np.ndarray:
        forces = self._by_contact(self.flow.forces(times))
        return forces if self.distribution is None else forces + self.distribution.rates(times)

    def progress(self, times: np.ndarray, states: tuple[np.ndarray, np.ndarray] | None = None) -> Progress:
        """At rising times (k,), with other ``states`` than those of the flow where drift was removed."""
        system = self.equations.system
        positions, velocities = self._held(times) if states is None else states
        sums = self.flow.integrals(times)
        impulse = self._by_contact(sums.impulses)
        constraint = sums.impulses[:, self.equations.size - len(system.constraints) :]
        if self.distribution is not None:
            change, joints = self.distribution.impulses(times)
            impulse, constraint = impulse + change, constraint + joints
        energies = energies_of(system, positions, velocities)
        begun = energies_of(system, self.before.position[None], self.before.velocity[None]).sum()
        loads = sums.loads + self.walls
        numerical = loads - (energies.sum(axis=1) - begun) - sums.damping - sums.friction
        nothing = np.zeros(len(times))
        works = np.column_stack([loads, sums.damping, sums.friction, nothing, numerical]) + self.before.sums
        return Progress(positions, velocities, impulse, constraint, np.hstack([energies, works]))

    def _held(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities without drift."""
        positions, velocities = self.flow.states(times)
        equations = self.equations
        if not self.flow.drifts or len(equations.held) == 0:
            return positions, velocities
        quick = getattr(self.flow, "held", lambda times: None)(times)
        if quick is not None:
            return quick  # type: ignore[no-any-return]
        held = []
        for t, q, v in zip(times.tolist(), positions, velocities, strict=True):
            q = held_position(equations, t, q)
            held.append((q, held_velocity(equations, t, q, v, equations.held, np.abs(v))))
        return tuple(np.array(part) for part in zip(*held, strict=True))  # type: ignore[return-value]

    def _by_contact(self, rows: np.ndarray) -> np.ndarray:
        """Impulses or forces (k, r) of the phase's rows as (k, c, 1 + d) of its contacts."""
        equations = self.equations
        found = np.zeros((len(rows), len(equations.modes.contact), 1 + equations.d))
        found[:, equations.normal, 0] = rows[:, : len(equations.normal)]
        found[:, equations.patch, 1:] = rows[:, equations.patch_rows] * equations.scale
        return found


def energies_of(system: System, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy (k, 2) [J] at states (k, nq), (k, nv)."""
    return np.array(
        [
            (kinetic_energy(system, q, v), system.potential(q))
            for q, v in zip(positions, velocities, strict=True)
        ]
    ).reshape(len(positions), 2)
