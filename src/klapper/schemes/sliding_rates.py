"""A linear system while contacts slide with friction that depends on their speed: v̇ and its derivative.

    v̇ = M⁻¹ (f − K q − C v + D (T x + λ₀)),      H x = −(D_hᵀ M⁻¹ (f − K q − C v) + b_h + W_h λ₀),
    H = W_h T,   W = Dᵀ M⁻¹ D,        λ_T = −s (limit + μ(|v_T|) λ_N)  in T and λ₀

h are the held rows, as in :mod:`klapper.schemes.phase_equations`. The derivative is exact but for the slope of μ, which
is a difference of fourth order from the side of faster sliding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contacts import Contact
from klapper.schemes.linear_phase_equations import LinearPhaseEquations

_SPACING = 1e-4  # of the speed at hand
_SLOPE = (-25.0 / 12.0, 4.0, -3.0, 4.0 / 3.0, -0.25)


class SlidingRates:
    """Of a phase with determined forces and one tangential direction."""

    def __init__(self, equations: LinearPhaseEquations) -> None:
        self.equations, system = equations, equations.system
        self.n, inverse = system.size, equations.inverse(np.zeros(system.size))
        zero = np.zeros((self.n, self.n))
        parts = [zero if m is None else dense(m) for m in (system.position_matrix, system.rate_matrix)]
        self._free = -np.asarray(inverse(np.hstack(parts)))
        self._inverse, self._load = inverse, system.load
        self._steady = np.asarray(inverse(system.load.value(0.0))) if system.load.constant else None
        self.held, self.response = equations.held, equations.response
        self._columns = np.ascontiguousarray(equations.columns[:, self.held].T)
        self._mobility = equations.mobility[self.held]
        self._rows = [int(equations.patch_rows[i, 0]) for i in equations.sliding]
        self._directions = [equations.columns[:, row].copy() for row in self._rows]
        self._senses = [float(equations.sense[i, 0]) for i in equations.sliding]
        self._base, self._given = equations.distribution(equations.sense, equations.at_rest)
        self._pushed = self._mobility @ self._given
        self._laws = [self._law(int(i)) for i in equations.sliding]

    def _law(self, patch: int) -> tuple[int, Any] | None:
        """Place among the pressed contacts and friction law of a patch, None if its coefficients do not change."""
        contact = self.equations.patch[patch]
        part = self.equations.system.contacts.parts[self.equations.which[contact]]
        place = np.flatnonzero(self.equations.normal == contact)
        if not isinstance(part, Contact) or part.friction.constant or place.size == 0:
            return None
        return int(place[0]), part.friction

    def slope(self, t: float, x: np.ndarray) -> np.ndarray:
        """x' (2n,)."""
        free, forces, _, _, _ = self._forces(t, x)
        return np.concatenate([x[self.n :], free + self.response @ forces])

    def slope_and_jacobian(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x' (2n,) and ∂x'/∂x (2n, 2n)."""
        n = self.n
        free, forces, matrix, inverse, speeds = self._forces(t, x)
        through = matrix @ inverse
        found = np.zeros((2 * n, 2 * n))
        found[np.arange(n), n + np.arange(n)] = 1.0
        found[n:] = self._free - self.response @ (through @ (self._columns @ self._free))
        fastest = max(float(np.abs(x[n:]).max()), 1e-12)
        for row, direction, law, speed in zip(self._rows, self._directions, self._laws, speeds, strict=True):
            if law is None:
                continue
            place, friction = law
            spacing = _SPACING * max(speed, fastest)
            fall = sum(w * friction.coefficient(max(speed, 0.0) + j * spacing) for j, w in enumerate(_SLOPE))
            push = self.response[:, row] - self.response @ (through @ self._mobility[:, row])
            weight = -fall / spacing * forces[place]  # both senses cancel
            found[n:, n:] += np.outer(weight * push, direction)
        return np.concatenate([x[n:], free + self.response @ forces]), found

    def _forces(self, t: float, x: np.ndarray) -> tuple[Any, Any, Any, Any, list[float]]:
        """M⁻¹ f (n,) of all but contacts, forces (r,), T (r, u), H⁻¹ (u, u), speeds along the senses of sliding."""
        free = self._free @ x
        free += self._steady if self._steady is not None else self._inverse(self._load.value(t))
        v = x[self.n :]
        rows = self.equations.rows(t, x[: self.n], v)
        matrix, speeds = self._base.copy(), []
        for row, sense, law, direction in zip(
            self._rows, self._senses, self._laws, self._directions, strict=True
        ):
            speed = sense * float(direction @ v + rows.rates[row])
            speeds.append(speed)
            if law is not None:
                matrix[row, law[0]] = -sense * law[1].coefficient(abs(speed))
        held = self._mobility @ matrix
        inverse = 1.0 / held if held.size == 1 else np.linalg.inv(held)
        unknown = inverse @ (-(self._columns @ free) - rows.bias[self.held] - self._pushed)
        return free, matrix @ unknown + self._given, matrix, inverse, speeds
