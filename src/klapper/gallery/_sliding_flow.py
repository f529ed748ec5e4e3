"""Motion of a linear system that slides in one direction on one-sided springs, exact between the switches.

    M q̈ + D q̇ + K q = f + Σ (J_N + R)_i p_i over the contacts that press,   p_i = −c g_i − d ġ_i

While every contact slides in the sense of a steady motion, the friction R p follows the normal force, Waltersberger
(4.49) with (4.80), κ = 1. The motion is then linear from switch to switch and needs no error control; whether the
senses really held is for the caller to check.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.analysis.sampled_motion import Motion, Trajectory
from klapper.mechanics import InvalidModel, LinearSystem, State
from klapper.mechanics.compliance import CompliantNormal

_SIZE = 0.05  # of (step A): small enough for the Taylor series within a step
_MOST_CONTACTS = 8


@dataclass(frozen=True, eq=False)
class FlowTrajectory(Trajectory):
    """Samples of the flow, and how often every contact switched between pressing and not (m,)."""

    switches: Any = None


@dataclass(frozen=True, eq=False)
class SlidingFlow:
    """The flow of some coordinates of a linear system.

    ``system``       with constant load; its other coordinates must not act on the chosen ones
    ``law``          with exponent 1
    ``velocity``     (nv,) of the steady motion that says in which sense the contacts slide
    ``coordinates``  numbers of the coordinates that are followed
    """

    system: LinearSystem
    law: CompliantNormal
    velocity: Any
    coordinates: tuple[int, ...]

    def __post_init__(self) -> None:
        if np.any(np.asarray(self.law.exponent) != 1.0):
            raise InvalidModel("the exact flow needs linear springs; the exponent of the law must be 1.")
        if self.system.contacts.count > _MOST_CONTACTS:
            raise InvalidModel(f"the exact flow takes at most {_MOST_CONTACTS} contacts.")
        if self.system.contacts.tangential > 1:
            raise InvalidModel("the exact flow takes contacts in the plane; in space the friction turns.")
        if not self.system.load.constant:
            raise InvalidModel("the exact flow needs a load that does not change.")

    def advance(self, state: State, until: float, *, every: int = 1) -> FlowTrajectory:
        """The motion from ``state``, of the chosen coordinates, to the time ``until`` [s]; every so many steps a
        sample, and two at every switch."""
        from klapper.gallery.kernels._one_sided_springs import flow

        duration, n = until - state.time, len(self.coordinates)
        first = np.concatenate([state.position, state.velocity])
        room = int(duration / self.step / every) + 64
        while True:
            room *= 2
            times, states, rates, switches, count = flow(
                *self._modes, self._rows, first, duration, self.step, every, room
            )
            if count > 0:
                break
        t, y, dy = state.time + times[:count], states[:count], rates[:count]
        t[-1] = until
        return FlowTrajectory(t, y[:, :n], y[:, n:], dy[:, n:], switches)

    def normal_forces(self, motion: Motion) -> np.ndarray:
        """λ_N (k, m) [N] at the samples of a motion."""
        return self._forces(np.hstack([motion.position, motion.velocity]))

    def pressing(self, motion: Motion) -> np.ndarray:
        """Which contacts press between the samples (k − 1, m); at a switch itself round-off would decide."""
        states = np.hstack([motion.position, motion.velocity])
        return self._forces(0.5 * (states[1:] + states[:-1])) > 0.0

    def _forces(self, states: np.ndarray) -> np.ndarray:
        gap_rows, gap_offsets, press_rows, press_offsets = self._rows
        press = states @ press_rows.T + press_offsets
        return np.where(states @ gap_rows.T + gap_offsets < 0.0, np.maximum(press, 0.0), 0.0)

    def gaps(self, position: np.ndarray) -> np.ndarray:
        """(k, m) [m] from positions (k, n)."""
        return position @ self._rows[0][:, : len(self.coordinates)].T + self._rows[1]

    @property
    def pressed_matrix(self) -> np.ndarray:
        """A (2n, 2n) of y' = A y + b while all contacts press."""
        return self._modes[0][-1]

    @cached_property
    def step(self) -> float:
        """[s] within which the motion is nearly a polynomial."""
        return _SIZE / max(float(np.abs(np.linalg.eigvals(matrix)).max()) for matrix in self._modes[0])

    @cached_property
    def pushes(self) -> np.ndarray:
        """J_N + R (n, m) of the chosen coordinates."""
        system, chosen = self.system, np.array(self.coordinates)
        which = np.arange(system.contacts.count)
        directions = system.directions(system.start.time, system.start.position, which)
        if system.contacts.tangential == 0:
            return _dense(directions.normal)[chosen]
        sliding = directions.tangential_velocity(np.asarray(self.velocity, dtype=float))
        friction = np.asarray(system.contacts.laws(which).friction) * -np.sign(sliding)
        return (_dense(directions.normal) + _dense(directions.tangential) * friction)[chosen]

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows over (q, v) and offsets of the gaps and of the spring forces p."""
        normal = _dense(self.system.normal_directions).T[:, list(self.coordinates)]
        m = len(normal)
        c, d = (np.broadcast_to(value, m)[:, None] for value in (self.law.stiffness, self.law.damping))
        gap_offsets = self.system.gap_offsets(self.system.start.time)
        return (
            np.hstack([normal, np.zeros_like(normal)]),
            gap_offsets,
            np.hstack([-c * normal, -d * normal]),
            -c[:, 0] * gap_offsets,
        )

    @cached_property
    def _modes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Matrices and offsets of every combination of pressing contacts, and their maps over one step."""
        free, offset = self._free
        _, _, press_rows, press_offsets = self._rows
        n, m = len(self.coordinates), len(press_rows)
        pushes = np.vstack([np.zeros((n, m)), np.linalg.solve(self._mass, self.pushes)])
        pressing = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
        matrices = np.array([free + (pushes * on) @ press_rows for on in pressing])
        offsets = np.array([offset + pushes @ (on * press_offsets) for on in pressing])
        step = _SIZE / max(float(np.abs(np.linalg.eigvals(matrix)).max()) for matrix in matrices)
        extended = np.zeros((2**m, 2 * n + 1, 2 * n + 1))
        extended[:, :-1, :-1], extended[:, :-1, -1] = matrices, offsets
        maps = scipy.linalg.expm(step * extended)
        return (
            matrices,
            offsets,
            np.ascontiguousarray(maps[:, :-1, :-1]),
            np.ascontiguousarray(maps[:, :-1, -1]),
        )

    @cached_property
    def _mass(self) -> np.ndarray:
        return _dense(self.system.mass_matrix)[np.ix_(self.coordinates, self.coordinates)]

    @cached_property
    def _free(self) -> tuple[np.ndarray, np.ndarray]:
        """A and b of y' = A y + b without contacts."""
        system, n = self.system, len(self.coordinates)
        chosen = np.ix_(self.coordinates, self.coordinates)
        matrix, offset = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        matrix[:n, n:] = np.eye(n)
        for columns, part in ((slice(0, n), system.position_matrix), (slice(n, 2 * n), system.rate_matrix)):
            if part is not None:
                matrix[n:, columns] = -np.linalg.solve(self._mass, _dense(part)[chosen])
        load = system.load.value(system.start.time)[list(self.coordinates)]
        offset[n:] = np.linalg.solve(self._mass, load)
        return matrix, offset


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=float)
