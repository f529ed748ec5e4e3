"""A pendulum as a mass point on a circle, and where it swings."""

import numpy as np
from scipy.integrate import solve_ivp

from klapper.mechanics import Constraint, FunctionSystem

G = 9.81


def rod() -> FunctionSystem:
    """Length 1 m, mass 1 kg, at rest at 2 rad from below."""
    return FunctionSystem(
        [np.sin(2.0), -np.cos(2.0)],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -G]),
        potential=lambda q: G * q[1],
        constraints=[Constraint("rod", lambda t, q: q.copy(), lambda t, q: 0.5 * (q @ q - 1.0))],
    )


def swung(until: float) -> np.ndarray:
    """Its place (2,) [m] at a time [s], by the equation of the angle."""
    angle = solve_ivp(
        lambda t, y: [y[1], -G * np.sin(y[0])], (0.0, until), [2.0, 0.0], rtol=1e-12, atol=1e-13
    ).y[0, -1]
    return np.array([np.sin(angle), -np.cos(angle)])
