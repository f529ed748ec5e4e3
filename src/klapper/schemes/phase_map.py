"""Motion in fixed contact modes as a map of states, with its derivatives; no event is looked for.

In a phase x = (q, v) (2n,) obeys x' = F(t, x). From x at t to x₁ = φ(t, t₁, x) at t₁, to first order

    δx₁ = Φ δx + (∂φ/∂t) δt + (∂φ/∂t₁) δt₁,     ∂φ/∂t₁ = F(t₁, x₁),

Φ being the fundamental matrix. A linear system with constant friction has all of it in closed form, see
:mod:`klapper.schemes.linear_flow`: with the extended state z = S(t, x), z' = A z and x = C z,

    φ = C e^{A (t₁ − t)} S,   Φ = C e^{A (t₁ − t)} S_x,   F = C A S.

C S(t, x) is the state in the phase that belongs to x: what is held takes its given value. Everything here goes on
smoothly where an event would end the phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.linear_flow import Held, LinearFlow, LinearModel, LinearPhase
from klapper.schemes.linear_phase_equations import LinearPhaseEquations, phase_equations
from klapper.schemes.mobility import Inverse
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_modes import Modes


@dataclass(frozen=True, eq=False)
class Linearised:
    """A function of time and state: ``value`` (k,), ``by_state`` ∂/∂x (k, 2n), ``by_time`` ∂/∂t (k,)."""

    value: np.ndarray
    by_state: np.ndarray
    by_time: np.ndarray

    def combined(self, weights: np.ndarray, given: float = 0.0) -> Linearised:
        """weights · value + given, with the weights (k,)."""
        return Linearised(weights @ self.value + given, weights @ self.by_state, weights @ self.by_time)


@dataclass(frozen=True, eq=False)
class Arrival:
    """x₁ (2n,), Φ (2n, 2n), ∂φ/∂t (2n,) and ∂φ/∂t₁ (2n,)."""

    state: np.ndarray
    by_state: np.ndarray
    by_start: np.ndarray
    by_end: np.ndarray


class PhaseMap(Protocol):
    """Contract:

    1. ``entered`` is the state of the phase that belongs to x at t; all others take states that were entered, or came
       from ``arrival``; ``destination`` is only the state of that.
    2. ``forces`` come in the order of the rows of ``equations``.
    3. ``flow`` has ``states`` and ``reactions`` at many times, as :class:`~klapper.schemes.phase_flow.Flow` has them.
    """

    @property
    def equations(self) -> PhaseEquations: ...

    def entered(self, t: float, x: np.ndarray) -> Linearised: ...

    def arrival(self, t: float, x: np.ndarray, end: float) -> Arrival: ...

    def destination(self, t: float, x: np.ndarray, end: float) -> np.ndarray: ...

    def slope(self, t: float, x: np.ndarray) -> np.ndarray: ...

    def forces(self, t: float, x: np.ndarray) -> Linearised: ...

    def flow(self, t: float, x: np.ndarray, end: float) -> Any: ...


class LinearPhaseMap:
    """The map in closed form."""

    def __init__(self, model: LinearModel, equations: LinearPhaseEquations) -> None:
        self.equations = equations
        self.phase = phase = LinearPhase(model, Held.of(model, equations), precise=False)
        n, m = model.system.size, phase.free.shape[1]
        self.n, self._kept = n, phase.held.free_place
        self._signals = slice(2 * m, 2 * m + model.functions.count)
        self._into = np.zeros((phase.size, 2 * n))  # S_x
        self._into[:m, :n] = self._into[m : 2 * m, n:] = phase.free.T @ model.factor.T
        self._into[self._signals.stop :, :n] = phase.held.directions[:, self._kept].T
        self._out = np.vstack([phase.position_rows, phase.velocity_rows])  # C
        self._rate = self._out @ phase.matrix  # C A
        matrix, self._given = equations.distribution(equations.sense, equations.at_rest)
        self._forces = matrix @ phase.force_rows

    def entered(self, t: float, x: np.ndarray) -> Linearised:
        extended, by_time = self._extended(t, x)
        return Linearised(self._out @ extended, self._out @ self._into, self._out @ by_time)

    def arrival(self, t: float, x: np.ndarray, end: float) -> Arrival:
        extended, by_time = self._extended(t, x)
        grown = self.phase.exponential.matrix(end - t)
        after = grown @ extended
        by_end = self._rate @ after
        out = self._out @ grown
        return Arrival(self._out @ after, out @ self._into, out @ by_time - by_end, by_end)

    def destination(self, t: float, x: np.ndarray, end: float) -> np.ndarray:
        return self._out @ (self.phase.exponential.matrix(end - t) @ self._extended(t, x)[0])

    def slope(self, t: float, x: np.ndarray) -> np.ndarray:
        return self._rate @ self._extended(t, x)[0]

    def forces(self, t: float, x: np.ndarray) -> Linearised:
        extended, by_time = self._extended(t, x)
        return Linearised(
            self._forces @ extended + self._given, self._forces @ self._into, self._forces @ by_time
        )

    def flow(self, t: float, x: np.ndarray, end: float) -> LinearFlow:
        return LinearFlow(self.phase, self.equations, t, x[: self.n], x[self.n :], end)  # type: ignore[arg-type]

    def _extended(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """S (N,) and ∂S/∂t (N,)."""
        extended = self.phase.start(t, x[: self.n], x[self.n :])
        by_time = np.zeros(len(extended))
        change = self.phase.model.functions.derivative @ extended[self._signals]
        by_time[self._signals] = change
        by_time[self._signals.stop :] = self.phase.held.place[self._kept] @ change
        return extended, by_time


@dataclass(frozen=True, eq=False)
class ContactDirections:
    """Of k contacts: ``normal`` J_N (n, k), ``normal_rate`` a_N (k,), and the same of their first tangential direction,
    zero where there is none."""

    normal: np.ndarray
    normal_rate: np.ndarray
    tangential: np.ndarray
    tangential_rate: np.ndarray

    def approach(self, v: np.ndarray) -> np.ndarray:
        """ġ (k,) [m/s]."""
        return self.normal.T @ v + self.normal_rate

    def slip(self, v: np.ndarray) -> np.ndarray:
        """v_T (k,) [m/s]."""
        return self.tangential.T @ v + self.tangential_rate


class PhaseMaps:
    """The maps of a system by contact modes, made when they are first asked for.

    In closed form where the phase has one, integrated where it has not. What else does not change with the state of a
    linear system is formed once, too; ``shared`` is a place for what others want to keep along with it.
    """

    def __init__(self, system: System) -> None:
        from klapper.schemes.phase_variation import require_plain_coordinates

        require_plain_coordinates(system)
        self.system = system
        self.shared: dict[Any, Any] = {}
        self._made: dict[tuple[bytes, ...], PhaseMap] = {}
        self._model: LinearModel | None = None
        self._inverse: Inverse | None = None
        if isinstance(system, LinearSystem):
            self._inverse = Inverse(dense(system.mass_matrix))
            self._normal = dense(system.normal_directions)
            self._tangential = dense(system.tangential_directions)
            try:
                self._model = LinearModel(system)
            except InvalidModel:  # forces or walls without a closed form
                self._model = None

    def of(self, modes: Modes) -> PhaseMap:
        exact = (*modes.key, modes.reference.tobytes())
        found = self._made.get(modes.key) or self._made.get(exact)
        if found is None:
            found = self._map(modes)
            unique = isinstance(found, LinearPhaseMap) and found.phase.determined
            self._made[modes.key if unique else exact] = found
        return found

    def inverse(self, q: np.ndarray) -> Inverse:
        """M⁻¹ at a position."""
        return self._inverse if self._inverse is not None else Inverse(self.system.mass(q))

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> ContactDirections:
        """Of the contacts ``which`` (k,) at a time and position."""
        d = self.system.contacts.tangential
        if isinstance(self.system, LinearSystem):
            system = self.system
            return ContactDirections(
                self._normal[:, which],
                system.gap_rates(t)[which],
                self._tangential[:, which * d] if d else np.zeros((len(q), len(which))),
                system.tangential_rates(t)[which * d] if d else np.zeros(len(which)),
            )
        given = self.system.directions(t, q, which)
        first = np.arange(len(which)) * d
        return ContactDirections(
            dense(given.normal),
            given.normal_rate,
            dense(given.tangential)[:, first] if d else np.zeros((len(q), len(which))),
            given.tangential_rate[first] if d else np.zeros(len(which)),
        )

    def _map(self, modes: Modes) -> PhaseMap:
        equations = phase_equations(self.system, modes, self._inverse)
        if self._model is not None and isinstance(equations, LinearPhaseEquations) and equations.fixed:
            return LinearPhaseMap(self._model, equations)
        from klapper.schemes.phase_variation import IntegratedPhaseMap

        return IntegratedPhaseMap(equations)
