"""Springs in place of constraints: with midpoint forces a step is the implicit midpoint rule of mechanics."""

import numpy as np
from pendulum import G, rod
from scipy.optimize import fsolve

from klapper.schemes import EnergyMomentum, Penalty
from klapper.simulation import simulate


def test_a_penalty_with_midpoint_forces_is_the_implicit_midpoint_rule():
    """v₁ − v₀ = h (g − ε Φ(q̄) ∇Φ(q̄)), q₁ − q₀ = ½ h (v₀ + v₁), Φ = ½ (|q|² − 1), solved by itself."""
    h, stiffness = 0.05, 1e3
    q, v = rod().start.position, np.zeros(2)
    places = [q]
    for _ in range(10):

        def balance(after, q=q, v=v):
            middle = 0.5 * (q + after)
            spring = -stiffness * 0.5 * (middle @ middle - 1.0) * middle
            return 2.0 * (after - q) / h - 2.0 * v - h * (np.array([0.0, -G]) + spring)

        after = fsolve(balance, q + h * v, xtol=1e-12)
        q, v = after, 2.0 * (after - q) / h - v
        places.append(q)
    scheme = EnergyMomentum(h, constraint_forces="midpoint", enforcement=Penalty(stiffness))
    run = simulate(rod(), 10 * h, scheme, progress=False)
    assert np.abs(run.position - places).max() < 1e-10
    assert abs(np.linalg.norm(run.position[-1]) - 1.0) > 1e-6  # the spring gives way
