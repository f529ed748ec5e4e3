"""Newton's method for a periodic orbit from a state near it, with finite differences of the flow φ:

    x* = φ_T(x*)   in (x, T), or in x alone where a forcing sets the period T

Without a forcing every state of the orbit solves this; the correction then goes across the flow. The eigenvalues of the
derivative of the return map (the multipliers) say whether the orbit attracts: all inside the unit circle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.analysis.sampled_motion import Advance, Motion
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State

_ROUND_OFF = 1e-13  # misses of a periodic orbit up to this part of its size are as good as none
CONVERGED = 1e-6  # up to this one Newton's method has found an orbit
_SPACING = 1e-6  # of finite differences, in parts of the size of the orbit and of its period


@dataclass(frozen=True, eq=False)
class PolishedOrbit:
    state: State
    period: float
    multipliers: np.ndarray
    residual: float


@dataclass(frozen=True, eq=False)
class Orbit:
    """Newton's method on z = φ_T(z) in states z scaled by the size of the motion; T is unknown unless forced."""

    advance: Advance
    forced: bool
    columns: np.ndarray
    unit: np.ndarray
    start: State

    def polish(self, period: float, rounds: int = 15) -> PolishedOrbit | None:
        """The periodic orbit near the start, or None if there is none."""
        z, best = self._read(self.start), np.inf
        across = self._rate(z, period)
        for _ in range(rounds):
            miss = self._flow(z, period) - z
            residual = float(np.abs(miss).max())
            if residual <= _ROUND_OFF or not residual < 0.9 * best:
                break
            best = residual
            change, longer = self._correction(z, period, miss, across)
            if not (np.all(np.isfinite(change)) and 0.0 < period + longer < 2.0 * period):
                return None
            z, period = z + change, period + longer
        residual = float(np.abs(self._flow(z, period) - z).max())
        if not residual <= CONVERGED:
            return None
        return PolishedOrbit(self._state(z), period, self._multipliers(z, period), residual)

    def smallest_order(self, polished: PolishedOrbit, order: int) -> int:
        """The smallest p such that the orbit, found as one of ``order`` returns, closes after p of them.

        Asked of the motion at the end of p/order of its period, not of return points between samples.
        """
        z = self._read(polished.state)
        for p in (p for p in range(1, order) if order % p == 0):
            if np.abs(self._flow(z, polished.period * p / order) - z).max() <= CONVERGED:
                return p
        return order

    def _correction(
        self, z: np.ndarray, period: float, miss: np.ndarray, across: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Changes of z and T; without a forcing z moves across the flow."""
        matrix = self._monodromy(z, period) - np.eye(len(z))
        if self.forced:
            return np.linalg.solve(matrix, -miss), 0.0
        along = period * self._rate(z + miss, period)
        bordered = np.block([[matrix, along[:, None]], [across[None], np.zeros((1, 1))]])
        solved = np.linalg.solve(bordered, np.append(-miss, 0.0))
        return solved[:-1], period * float(solved[-1])

    def _multipliers(self, z: np.ndarray, period: float) -> np.ndarray:
        """Eigenvalues of the return map: those of the monodromy matrix, without the direction of the flow."""
        matrix = self._monodromy(z, period)
        if not self.forced:
            across = np.linalg.svd(self._rate(z, period)[None])[2][1:]
            matrix = across @ matrix @ across.T
        values = np.linalg.eigvals(matrix).astype(complex)
        return values[np.argsort(-np.abs(values), kind="stable")]

    def _monodromy(self, z: np.ndarray, period: float) -> np.ndarray:
        """∂φ_T/∂z (n, n) by central differences."""
        steps = _SPACING * np.eye(len(z))
        return np.array([self._flow(z + d, period) - self._flow(z - d, period) for d in steps]).T / (
            2 * _SPACING
        )

    def _rate(self, z: np.ndarray, period: float) -> np.ndarray:
        """z' (n,) [1/s] by a one-sided difference of second order."""
        duration = _SPACING * period
        return (4.0 * self._flow(z, duration) - self._flow(z, 2.0 * duration) - 3.0 * z) / (2.0 * duration)

    def _flow(self, z: np.ndarray, duration: float) -> np.ndarray:
        motion = self.cycle(self._state(z), duration)
        return np.concatenate([motion.position[-1], motion.velocity[-1]])[self.columns] / self.unit

    def cycle(self, state: State, duration: float) -> Motion:
        until = state.time + duration
        motion = self.advance(state, until)
        if abs(motion.time[-1] - until) > 1e-3 * _SPACING * duration:
            raise InvalidModel(
                f"the motion was to end after {duration:.6g} s and ended after {motion.time[-1] - state.time:.6g} s; "
                f"polishing needs a scheme that ends where it is told. Take another one, or polish=False."
            )
        return motion

    def _read(self, state: State) -> np.ndarray:
        return np.concatenate([state.position, state.velocity])[self.columns] / self.unit

    def _state(self, z: np.ndarray) -> State:
        full = np.concatenate([self.start.position, self.start.velocity])
        full[self.columns] = z * self.unit
        nq = len(self.start.position)
        return State(self.start.time, full[:nq], full[nq:])
