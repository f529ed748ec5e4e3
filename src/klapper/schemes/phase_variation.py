"""How neighbouring motions move along in a phase without closed form: the variational equation, integrated.

    x' = F(t, x),   Φ' = (∂F/∂x) Φ,   Φ(t₀) = 1

F are the equations of :mod:`klapper.schemes.phase_equations`; their derivatives are differences of fourth order, with
friction that depends on the sliding speed taken from the side of faster sliding. Neighbours that belong to the phase
keep what it holds: Jᵀ δq = 0 for pressed contacts and constraints, Dᵀ δv + ∂(Dᵀ v + a)/∂q δq = 0 for all that is held.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.linear_phase_equations import LinearPhaseEquations
from klapper.schemes.mobility import natural_units
from klapper.schemes.phase_equations import PhaseEquations, Rows
from klapper.schemes.phase_map import Arrival, Linearised
from klapper.schemes.phase_projection import held_position, held_velocity
from klapper.schemes.sliding_rates import SlidingRates

_SPACING = 1e-3  # of differences of fourth order, in parts of the size of the motion
_FALL = 1e-4  # of the speeds at hand: spacing of the one-sided differences of a friction law
_RANK = 1e-10  # relative size below which a held direction counts as redundant
_RELATIVE, _ABSOLUTE = 1e-12, 1e-14  # tolerances of the integration


class IntegratedPhaseMap:
    """The :class:`~klapper.schemes.phase_map.PhaseMap` of any phase with at most one direction of sliding."""

    def __init__(self, equations: PhaseEquations) -> None:
        if equations.d == 2 and len(equations.sliding):
            names = ", ".join(
                equations.system.contacts.name(int(equations.which[i])) for i in equations.patch
            )
            raise InvalidModel(
                f"{names} can slide in two directions, where the motion has no derivative at the onset of sliding; "
                f"give these contacts one tangential direction."
            )
        self.equations, self.system = equations, equations.system
        self.n = len(self.system.velocities)
        self._rates: SlidingRates | None = None
        if isinstance(equations, LinearPhaseEquations) and len(equations.held) and equations.d == 1:
            _ = equations.solution  # says whether forces are determined
            self._rates = SlidingRates(equations) if equations.determined else None

    def entered(self, t: float, x: np.ndarray) -> Linearised:
        equations, n = self.equations, self.n
        if len(equations.held) == 0:
            return Linearised(x, np.eye(2 * n), np.zeros(2 * n))
        q = held_position(equations, t, x[:n])
        v = held_velocity(equations, t, q, x[n:], equations.held, np.zeros(n))
        rows, inverse = equations.rows(t, q, v), equations.inverse(q)
        placed, held = rows.columns[:, equations.placed], rows.columns[:, equations.held]
        place, push = _least_change(inverse, placed), _least_change(inverse, held)
        turning = row_gradient(equations, t, q, v, equations.held)
        by_state, by_time = np.eye(2 * n), np.zeros(2 * n)
        by_state[:n, :n] -= place @ placed.T
        by_state[n:, n:] -= push @ held.T
        by_state[n:, :n] -= push @ turning @ by_state[:n, :n]
        by_time[:n] = -place @ rows.rates[equations.placed]
        by_time[n:] = -push @ (rows.bias[equations.held] - turning @ (v - by_time[:n]))
        return Linearised(np.concatenate([q, v]), by_state, by_time)

    def arrival(self, t: float, x: np.ndarray, end: float) -> Arrival:
        size = 2 * self.n
        reach = self._reach(x, end - t)

        def rate(time: float, y: np.ndarray) -> np.ndarray:
            state, columns = y[:size], y[size:].reshape(size, size)
            if self._rates is not None:
                slope, jacobian = self._rates.slope_and_jacobian(time, state)
            else:
                slope, jacobian = self.slope(time, state), self._jacobian(time, state, reach)
            return np.concatenate([slope, (jacobian @ columns).ravel()])

        found = self._solved(
            rate, t, np.concatenate([x, np.eye(size).ravel()]), end, self._absolute(x, end - t, size**2)
        )
        after, grown = found.y[:size, -1], found.y[size:, -1].reshape(size, size)
        return Arrival(after, grown, -grown @ self.slope(t, x), self.slope(end, after))

    def destination(self, t: float, x: np.ndarray, end: float) -> np.ndarray:
        return self._solved(self.slope, t, x, end, self._absolute(x, end - t, 0)).y[:, -1]

    def slope(self, t: float, x: np.ndarray) -> np.ndarray:
        """F (2n,)."""
        if self._rates is not None:
            return self._rates.slope(t, x)
        v = x[self.n :]
        return np.concatenate([v, self.equations.instant(t, x[: self.n], v).acceleration])

    def forces(self, t: float, x: np.ndarray) -> Linearised:
        """Their change in time is the one along the motion, less what the motion of the state makes of it."""
        n, slope, reach = self.n, self.slope(t, x), self._reach(x, 0.0)

        def at(time: float, state: np.ndarray) -> np.ndarray:
            return self.equations.instant(time, state[:n], state[n:]).forces

        by_state = self._differences(lambda state: at(t, state), x, reach)
        speed, push = float(np.abs(slope[:n]).max()), float(np.abs(slope[n:]).max())
        pace = reach / max(speed + np.sqrt(reach * push), 1e-300)
        along = difference(lambda s: at(t + s, x + s * slope), _SPACING * pace)
        return Linearised(at(t, x), by_state, along - by_state @ slope)

    def flow(self, t: float, x: np.ndarray, end: float) -> SolvedFlow:
        found = self._solved(self.slope, t, x, end, self._absolute(x, end - t, 0), dense_output=True)
        return SolvedFlow(self.equations, t, end, found)

    def _solved(
        self, rate: Callable[..., np.ndarray], t: float, y: np.ndarray, end: float, absolute: Any, **more: Any
    ) -> Any:
        from scipy.integrate import solve_ivp

        end = end if end != t else float(np.nextafter(t, np.inf))
        return solve_ivp(rate, (t, end), y, method="DOP853", rtol=_RELATIVE, atol=absolute, **more)

    def _absolute(self, x: np.ndarray, duration: float, others: int) -> np.ndarray:
        """Allowed errors of positions, velocities, and numbers of the size 1."""
        reach = self._reach(x, duration)
        speed = max(float(np.abs(x[self.n :]).max()), reach / max(abs(duration), 1e-300))
        sizes = np.concatenate([np.full(self.n, reach), np.full(self.n, speed), np.ones(others)])
        return _ABSOLUTE * sizes

    def _reach(self, x: np.ndarray, duration: float) -> float:
        """Size [m] of the motion: its places and its way."""
        way = abs(duration) * float(np.abs(x[self.n :]).max())
        return max(float(np.abs(x[: self.n]).max()), way, 1e-12)

    def _jacobian(self, t: float, x: np.ndarray, reach: float) -> np.ndarray:
        """∂F/∂x (2n, 2n)."""
        n, equations = self.n, self.equations
        q, v = x[:n], x[n:]
        matrix = np.zeros((2 * n, 2 * n))
        matrix[:n, n:] = np.eye(n)
        rows = equations.rows(t, q, v)
        slip = equations.slip_of(rows, v)
        friction = equations.friction_at(slip)
        matrix[n:] = self._differences(lambda state: self._acceleration(t, state, friction), x, reach)
        if equations.changing:
            matrix[n:] += self._fall(t, x, rows, slip, friction)
        return matrix

    def _acceleration(self, t: float, x: np.ndarray, friction: np.ndarray) -> np.ndarray:
        """v̇ (n,) with given coefficients μ (s, m), which do not follow the sliding speed."""
        equations, q, v = self.equations, x[: self.n], x[self.n :]
        inverse = equations.inverse(q)
        free = inverse(self.system.force(t, q, v))
        if equations.size == 0:
            return free
        rows = equations.rows(t, q, v)
        response = inverse(rows.columns)
        mobility = rows.columns.T @ response
        matrix, given = equations.distribution(equations.sense, friction)
        pushed = rows.columns.T @ free + rows.bias + mobility @ given
        held = equations.held
        unknown = equations.solve_held(mobility[held] @ matrix, -pushed[held], mobility.diagonal())
        return free + response @ (matrix @ unknown + given)

    def _fall(
        self, t: float, x: np.ndarray, rows: Rows, slip: np.ndarray, friction: np.ndarray
    ) -> np.ndarray:
        """∂v̇/∂μ · dμ/d|v_T| · ∂|v_T|/∂x (n, 2n) of the sliding patches."""
        equations, n = self.equations, self.n
        total = np.zeros((n, 2 * n))
        speeds = max(float(np.abs(slip).max(initial=0.0)), float(np.abs(x[n:]).max()), 1e-12)
        for patch in equations.sliding:
            sense, at = equations.sense[patch], equations.patch_rows[patch]
            change = self._coefficient_slope(slip, int(patch), _FALL * speeds)
            if not np.any(change):
                continue
            by_speed = np.concatenate(
                [sense @ row_gradient(equations, t, x[:n], x[n:], at), rows.columns[:, at] @ sense]
            )
            unit = 1e-2 / float(np.abs(change).max())
            push = difference(partial(self._pushed, t, x, friction, change), unit)
            total += np.outer(push, by_speed)
        return total

    def _pushed(
        self, t: float, x: np.ndarray, friction: np.ndarray, change: np.ndarray, share: float
    ) -> np.ndarray:
        return self._acceleration(t, x, friction + share * change)

    def _coefficient_slope(self, slip: np.ndarray, patch: int, spacing: float) -> np.ndarray:
        """dμ/d|v_T| (s, m) [s/m] of one patch."""
        sense = self.equations.sense[patch]
        speed = max(float(slip[patch] @ sense), 0.0)
        values = []
        for k in range(5):
            faster = slip.copy()
            faster[patch] = (speed + k * spacing) * sense
            values.append(self.equations.friction_at(faster))
        return np.tensordot([-25.0, 48.0, -36.0, 16.0, -3.0], values, axes=1) / (12.0 * spacing)

    def _differences(
        self, function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, reach: float
    ) -> np.ndarray:
        """∂function/∂x (k, 2n)."""
        speed = max(float(np.abs(x[self.n :]).max()), reach)
        return gradient(function, x, np.concatenate([np.full(self.n, reach), np.full(self.n, speed)]))


class SolvedFlow:
    """States and reactions between two times, of scipy's solution; see :class:`~klapper.schemes.phase_flow.Flow`."""

    def __init__(self, equations: PhaseEquations, start: float, end: float, solution: Any) -> None:
        self.equations, self.start, self.end = equations, start, end
        self.pieces = max(len(solution.t) - 1, 1)
        self._dense, self._n = solution.sol, len(equations.system.velocities)

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = self._dense(times).T
        return y[:, : self._n], y[:, self._n :]

    def reactions(self, times: np.ndarray) -> np.ndarray:
        return self.equations.many(times, *self.states(times))


def require_plain_coordinates(system: System) -> None:
    """Refuse systems whose velocities are not the rates of their coordinates."""
    q, v = system.start.position, np.arange(1.0, 1.0 + len(system.velocities))
    if len(q) != len(v) or not np.array_equal(system.rate(q, v), v):
        raise InvalidModel(
            f"'{system.name}' has {len(q)} coordinates and {len(v)} velocities that are not their rates; neighbouring "
            f"motions are followed in coordinates with q' = v only: use planar bodies or a LinearSystem."
        )


def row_gradient(
    equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """∂(Dᵀ v + a)/∂q (k, n) of some of a phase's rows."""
    if isinstance(equations.system, LinearSystem):
        return np.zeros((len(rows), len(q)))

    def moves(position: np.ndarray) -> np.ndarray:
        at = equations.rows(t, position, v)
        return at.columns[:, rows].T @ v + at.rates[rows]

    return gradient(moves, q, np.full(len(q), max(float(np.abs(q).max()), 1e-12)))


def gradient(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """∂function/∂x (k, n) at x (n,), for a function that changes over lengths like ``sizes`` (n,)."""

    def along(unit: np.ndarray, share: float) -> np.ndarray:
        return function(at + share * unit)

    units = zip(np.eye(len(at)), sizes, strict=True)
    return np.column_stack([difference(partial(along, unit), _SPACING * size) for unit, size in units])


def difference(function: Callable[[float], np.ndarray], spacing: float) -> np.ndarray:
    """Derivative at 0 by central differences of fourth order."""
    near = function(spacing) - function(-spacing)
    far = function(2.0 * spacing) - function(-2.0 * spacing)
    return (8.0 * near - far) / (12.0 * spacing)


def _least_change(inverse: Any, columns: np.ndarray) -> np.ndarray:
    """M⁻¹ J (Jᵀ M⁻¹ J)⁺ (n, k)."""
    response = np.asarray(inverse(columns))
    mobility = columns.T @ response
    unit = natural_units(mobility.diagonal())
    scaled = np.linalg.pinv(mobility / np.outer(unit, unit), rcond=_RANK)
    return response @ (scaled / np.outer(unit, unit))
