"""Friction that falls with the sliding speed: the derivative of the motion is that which differences show."""

import numpy as np
import pytest

from klapper.mechanics import Contact, ExponentialFriction, Harmonic, LinearSystem
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.mobility import Inverse
from klapper.schemes.phase_modes import STARTING, Modes
from klapper.schemes.sliding_rates import SlidingRates

MASS = np.array([[2.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 1.5]])
STIFFNESS = np.array([[3.0, -1.0, 0.0], [-1.0, 2.0, -0.5], [0.0, -0.5, 1.0]])
NORMAL, TANGENT, BELT = np.array([0.2, 1.0, 0.0]), np.array([1.0, 0.0, 0.3]), 0.4
FRICTION = ExponentialFriction(static=0.5, dynamic=0.2, speed=0.3)
X = np.array([0.1, -0.02, 0.3, 0.5, -0.1, 0.2])  # Nᵀ q = Nᵀ v = 0


def rates(sense: float) -> SlidingRates:
    belt = Contact("belt", normal=NORMAL, tangents=[TANGENT], friction=FRICTION, tangential_rate=sense * BELT)
    system = LinearSystem(
        MASS,
        stiffness=STIFFNESS,
        force=Harmonic([0.3, 0.0, 0.5], 1.5) + np.array([0.0, -5.0, 0.0]),
        contacts=[belt],
    )
    modes = Modes(np.array([0]), np.array([True]), np.array([STARTING]), np.array([[sense]]), np.zeros(2))
    return SlidingRates(phase_equations(system, modes, Inverse(system.mass_matrix)))


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_the_motion_obeys_newton_and_coulomb(sense: float) -> None:
    """M v̇ = f − K q + (N − sense μ(|v_T|) T) λ with Nᵀ v̇ = 0."""
    t, x = 0.7, sense * X
    speed = abs(TANGENT @ x[3:] + sense * BELT)
    along = NORMAL - sense * FRICTION.coefficient(speed) * TANGENT
    load = np.array([0.3, 0.0, 0.5]) * np.cos(1.5 * t) + np.array([0.0, -5.0, 0.0])
    whole = np.block([[MASS, -along[:, None]], [NORMAL[None], np.zeros((1, 1))]])
    wanted = np.linalg.solve(whole, np.append(load - STIFFNESS @ x[:3], 0.0))[:3]
    assert rates(sense).slope(t, x)[3:] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_its_derivative_is_that_of_differences(sense: float) -> None:
    given, d, x = rates(sense), 1e-5, sense * X
    slope, jacobian = given.slope_and_jacobian(0.7, x)
    assert slope == pytest.approx(given.slope(0.7, x), abs=1e-14)
    columns = [(given.slope(0.7, x + d * u) - given.slope(0.7, x - d * u)) / (2.0 * d) for u in np.eye(6)]
    np.testing.assert_allclose(jacobian, np.array(columns).T, atol=1e-8)
