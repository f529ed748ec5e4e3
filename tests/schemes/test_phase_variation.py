"""Integrated phases without friction: neighbours of free and of held motions, against matrices known in closed form."""

import numpy as np
import pytest
import scipy.linalg

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.mobility import Inverse
from klapper.schemes.phase_modes import SMOOTH, Modes
from klapper.schemes.phase_variation import IntegratedPhaseMap

MASS = np.array([[2.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 1.5]])
STIFFNESS = np.array([[3.0, -1.0, 0.0], [-1.0, 2.0, -0.5], [0.0, -0.5, 1.0]])
DAMPING = np.diag([0.1, 0.2, 0.1])
LOAD = np.array([0.0, -5.0, 0.0])
NORMAL = np.array([0.2, 1.0, 0.1])
DURATION = 0.8
X = np.array([0.1, -0.2, 0.3, 0.5, -0.1, 0.2])


def phase_map(pressed):
    system = LinearSystem(
        MASS,
        stiffness=STIFFNESS,
        damping=np.diag(DAMPING),
        force=LOAD,
        contacts=[Contact("stop", normal=NORMAL)],
    )
    modes = Modes.none(0, 0)
    if pressed:
        modes = Modes(np.array([0]), np.array([True]), np.array([SMOOTH]), np.zeros((1, 0)), np.zeros(1))
    return IntegratedPhaseMap(phase_equations(system, modes, Inverse(system.mass_matrix)))


def exponential(basis):
    """Fundamental matrix (2n, 2n) of motions in the columns of a basis (n, k) of the directions that are free."""
    mass, damping, stiffness = (basis.T @ matrix @ basis for matrix in (MASS, DAMPING, STIFFNESS))
    k = basis.shape[1]
    rate = np.block(
        [[np.zeros((k, k)), np.eye(k)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]]
    )
    return scipy.linalg.expm(DURATION * rate)


def test_a_free_state_belongs_to_its_phase_as_it_is():
    entered = phase_map(False).entered(0.0, X)
    assert entered.value == pytest.approx(X)
    assert np.array_equal(entered.by_state, np.eye(6))
    assert np.array_equal(entered.by_time, np.zeros(6))


def test_neighbours_of_a_free_motion_follow_the_exponential():
    found = phase_map(False).arrival(0.0, X, DURATION)
    assert found.by_state == pytest.approx(exponential(np.eye(3)), abs=1e-9)
    rest = np.concatenate([np.linalg.solve(STIFFNESS, LOAD), np.zeros(3)])
    assert found.state == pytest.approx(rest + exponential(np.eye(3)) @ (X - rest), abs=1e-9)


def test_neighbours_of_a_held_motion_follow_the_exponential_of_what_is_free():
    """nᵀq = 0: motion in the plane across n, whose mass, damping and stiffness are those of its basis."""
    phase = phase_map(True)
    basis = scipy.linalg.null_space(NORMAL[None])
    both = scipy.linalg.block_diag(basis, basis)
    start = phase.entered(0.0, X).value
    assert NORMAL @ start[:3] == pytest.approx(0.0, abs=1e-12)
    assert NORMAL @ start[3:] == pytest.approx(0.0, abs=1e-12)
    found = phase.arrival(0.0, start, DURATION)
    assert both.T @ found.by_state @ both == pytest.approx(exponential(basis), abs=1e-8)
    assert found.by_state @ both == pytest.approx(both @ exponential(basis), abs=1e-8)
