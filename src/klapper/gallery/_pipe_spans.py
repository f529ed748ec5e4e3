"""A pipe conveying fluid over rigid supports, without finite elements.

    E I w'''' + M_f U² w'' + 2 M_f U ẇ' + (m + M_f) ẅ + d ẇ = −q

In every span w = Σ_i c_i e^{κ_i x} e^{iωt} with the roots κ_i of

    E I κ⁴ + M_f U² κ² + 2 i ω M_f U κ − (m + M_f) ω² + i ω d = 0,

or at rest 1, x, cos px, sin px and a particular solution. At a support w = 0 on both sides, slope and curvature are
continuous; at the ends the usual conditions hold. A motion with real ω exists where the determinant of all of these
conditions vanishes; the jump of E I w''' at a support is its force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, fsolve

Shapes = Callable[[float, int], np.ndarray]  # place in a span and order of the derivative → values (4,)


@dataclass(frozen=True)
class PipeSpans:
    """A pipe of ``length`` [m], clamped at x = 0 and free at its end, or pinned at both (``free`` False).

    ``stiffness`` E I [N m²], ``mass`` m + M_f and ``fluid`` M_f [kg/m], ``damping`` d [N s/m²], ``weight`` q [N/m]
    ``supports``  places [m] between the ends that hold it, rising
    """

    length: float
    stiffness: float
    mass: float
    fluid: float
    damping: float
    weight: float
    free: bool
    supports: tuple[float, ...]

    def support_forces(self, flow: float) -> np.ndarray:
        """Forces [N] of the supports on the pipe at rest, positive upwards."""
        shapes, load = self._shapes_at_rest(flow), self._load(flow)
        matrix, right = self._conditions(shapes, load)
        c = np.linalg.solve(matrix.real, right).reshape(-1, 4)
        starts = (0.0, *self.supports)

        def shear(span: int, place: float) -> float:
            local = place - starts[span]
            return self.stiffness * float(c[span] @ shapes(local, 3) + load(local, 3))

        return np.array([shear(i + 1, place) - shear(i, place) for i, place in enumerate(self.supports)])

    def opening_flow(self, support: int, near: float) -> float:
        """Flow [m/s] near the given one at which the force of a support vanishes, by its number."""
        return _zero(lambda flow: float(self.support_forces(flow)[support]), near)

    def buckling_flow(self, near: float) -> float:
        """Flow [m/s] near the given one at which a neighbouring position is a position of rest, too."""
        return _zero(
            lambda flow: float(np.linalg.det(self._conditions(self._shapes_at_rest(flow))[0].real)), near
        )

    def flutter_flow(self, near: float, frequency: float) -> float:
        """Flow [m/s] near the given one and this angular frequency, at which a motion neither grows nor decays."""
        scale = np.array([near, frequency])

        def residual(unknown: np.ndarray) -> np.ndarray:
            value = self._determinant(*(unknown * scale)) / size
            return np.array([value.real, value.imag])

        size = abs(self._determinant(1.02 * near, frequency)) or 1.0
        return float(fsolve(residual, np.ones(2), xtol=1e-12)[0] * near)

    def _determinant(self, flow: float, omega: float) -> complex:
        """Of the conditions of a harmonic motion; it does not depend on the order of the roots κ."""
        inertia = -self.mass * omega**2 + 1j * omega * self.damping
        kappa = np.roots([self.stiffness, 0.0, self.fluid * flow**2, 2j * omega * self.fluid * flow, inertia])
        matrix, _ = self._conditions(lambda x, order: kappa**order * np.exp(kappa * x))
        units = np.abs(kappa).max() ** np.arange(4.0)
        order = np.prod([kappa[j] - kappa[i] for i in range(4) for j in range(i)]) / units[3] ** 2
        return complex(np.linalg.det(matrix) / order ** (len(self.supports) + 1))

    def _wave_number(self, flow: float) -> float:
        """p [1/m], p² = M_f U²/E I."""
        return float(np.sqrt(self.fluid / self.stiffness) * flow)

    def _shapes_at_rest(self, flow: float) -> Shapes:
        p = self._wave_number(flow)

        def shapes(x: float, order: int) -> np.ndarray:
            line = [np.polyval(np.polyder([1.0, 0.0], order), x), 1.0 if order == 0 else 0.0]
            if p == 0.0:
                curve = [np.polyval(np.polyder(np.eye(4)[i], order), x) for i in (0, 1)]
            else:
                phase = p * x + 0.5 * np.pi * order
                curve = [p**order * np.cos(phase), p**order * np.sin(phase)]
            return np.array([*line, *curve])

        return shapes

    def _load(self, flow: float) -> Callable[[float, int], float]:
        """The particular solution −q x²/(2 M_f U²) or, without flow, −q x⁴/(24 E I), and its derivatives."""
        p, q = self._wave_number(flow), self.weight / self.stiffness
        solution = [-q / 24, 0.0, 0.0, 0.0, 0.0] if p == 0.0 else [-q / (2 * p**2), 0.0, 0.0]
        return lambda x, order: float(np.polyval(np.polyder(solution, order), x))

    def _conditions(
        self, shapes: Shapes, load: Callable[[float, int], float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Matrix (4 s, 4 s) and right-hand side (4 s,) of the conditions on the coefficients of s spans."""
        starts, spans = (0.0, *self.supports), len(self.supports) + 1
        rows: list[np.ndarray] = []
        right: list[float] = []

        def require(*terms: tuple[int, float, int, float]) -> None:
            """That the sum of sign · w⁽ᵏ⁾(x) in the named spans vanishes; terms are span, x, k, sign."""
            row, value = np.zeros(4 * spans, dtype=complex), 0.0
            for span, place, order, sign in terms:
                local = place - starts[span]
                row[4 * span : 4 * span + 4] += sign * shapes(local, order)
                value -= sign * load(local, order) if load is not None else 0.0
            rows.append(row)
            right.append(value)

        for order in (0, 1) if self.free else (0, 2):
            require((0, 0.0, order, 1.0))
        for i, place in enumerate(self.supports):
            require((i, place, 0, 1.0))
            require((i + 1, place, 0, 1.0))
            for order in (1, 2):
                require((i, place, order, 1.0), (i + 1, place, order, -1.0))
        for order in (2, 3) if self.free else (0, 2):
            require((spans - 1, self.length, order, 1.0))
        return np.array(rows), np.array(right)


def _zero(function: Callable[[float], float], near: float) -> float:
    """The zero of a function next to ``near``."""
    width = 1e-4
    while function((1 - width) * near) * function((1 + width) * near) > 0.0 and width < 0.1:
        width *= 1.5
    return float(brentq(function, (1 - width) * near, (1 + width) * near, xtol=1e-12 * near))
