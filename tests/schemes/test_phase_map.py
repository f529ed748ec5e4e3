"""Maps of phases: closed form and integration agree, and both have the derivatives that differences show."""

import numpy as np
import pytest
import scipy.linalg

from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.matrix_exponential import Exponential
from klapper.schemes.mobility import Inverse
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phase_modes import SLIDING, STARTING, STICKING, Modes
from klapper.schemes.phase_variation import IntegratedPhaseMap

T, END = 0.3, 1.1


def system():
    belt = Contact(
        "belt",
        normal=[0.2, 1.0, 0.0],
        tangents=[[1.0, 0.0, 0.3]],
        friction=0.4,
        gap=Harmonic(0.1, 2.0),
        tangential_rate=Harmonic(0.3, 1.5) + 0.2,
    )
    return LinearSystem(
        [[2.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 1.5]],
        stiffness=[[3.0, -1.0, 0.0], [-1.0, 2.0, -0.5], [0.0, -0.5, 1.0]],
        damping=[0.1, 0.2, 0.1],
        force=Harmonic([0.3, 0.0, 0.5], 1.5) + np.array([0.0, -5.0, 0.0]),
        contacts=[belt],
    )


def modes(grip):
    sense = np.array([[1.0 if grip != STICKING else 0.0]])
    return Modes(np.array([0]), np.array([True]), np.array([grip]), sense, np.zeros(2))


@pytest.mark.parametrize("grip", [STICKING, STARTING])
def test_closed_form_and_integration_agree(grip):
    given = system()
    closed = PhaseMaps(given).of(modes(grip))
    integrated = IntegratedPhaseMap(phase_equations(given, modes(grip), Inverse(given.mass_matrix)))
    x = np.array([0.1, -0.2, 0.3, 0.5, -0.1, 0.2])
    one, two = closed.entered(T, x), integrated.entered(T, x)
    for part in ("by_state", "by_time"):
        np.testing.assert_allclose(
            held_rows(given, getattr(one, part), grip), held_rows(given, getattr(two, part), grip), atol=1e-9
        )
    x = one.value
    np.testing.assert_allclose(closed.slope(T, x), integrated.slope(T, x), atol=1e-11)
    here, there = closed.arrival(T, x, END), integrated.arrival(T, x, END)
    np.testing.assert_allclose(here.state, there.state, atol=1e-10)
    np.testing.assert_allclose(here.by_end, there.by_end, atol=1e-9)
    allowed = one.by_state
    np.testing.assert_allclose(here.by_state @ allowed, there.by_state @ allowed, atol=1e-9)
    np.testing.assert_allclose(closed.destination(T, x, END), here.state, atol=1e-13)
    forces, others = closed.forces(T, x), integrated.forces(T, x)
    np.testing.assert_allclose(forces.value, others.value, atol=1e-10)
    np.testing.assert_allclose(forces.by_state @ allowed, others.by_state @ allowed, atol=1e-8)


def held_rows(given, change, grip):
    """What the contact holds of a change of the state: place and velocity normal to it, and along it if it sticks."""
    normal, tangent = np.array([0.2, 1.0, 0.0]), np.array([1.0, 0.0, 0.3])
    rows = [normal @ change[:3], normal @ change[3:]]
    return np.array(rows + ([tangent @ change[3:]] if grip == STICKING else []))


@pytest.mark.parametrize("grip", [STICKING, STARTING])
def test_derivatives_of_the_closed_form_are_those_of_differences(grip):
    phase = PhaseMaps(system()).of(modes(grip))
    x = np.array([0.1, -0.2, 0.3, 0.5, -0.1, 0.2])
    d = 1e-5

    def end(t, x, to):
        return phase.destination(t, x, to)

    found = phase.arrival(T, x, END)
    columns = [(end(T, x + d * u, END) - end(T, x - d * u, END)) / (2 * d) for u in np.eye(6)]
    np.testing.assert_allclose(found.by_state, np.array(columns).T, atol=1e-9)
    np.testing.assert_allclose(found.by_start, (end(T + d, x, END) - end(T - d, x, END)) / (2 * d), atol=1e-8)
    np.testing.assert_allclose(found.by_end, (end(T, x, END + d) - end(T, x, END - d)) / (2 * d), atol=1e-8)
    forces = phase.forces(T, x)
    change = (phase.forces(T + d, x).value - phase.forces(T - d, x).value) / (2 * d)
    np.testing.assert_allclose(forces.by_time, change, atol=1e-7)


@pytest.mark.parametrize("duration", [0.0, 0.37, 25.0, -0.8])
def test_the_exponential_is_that_of_scaling_and_squaring(duration):
    matrix = np.array([[0.0, 1.0, 0.0], [-4.0, -0.1, 0.3], [0.0, 0.0, -0.2]])
    for precise in (True, False):
        found = Exponential(matrix, np.ones(3), precise=precise).matrix(duration)
        np.testing.assert_allclose(found, scipy.linalg.expm(matrix * duration), atol=1e-12)


def test_sliding_in_two_directions_is_refused():
    plane = Contact("plane", normal=[0.0, 0.0, 1.0], tangents=np.eye(3)[:2], friction=0.3)
    given = LinearSystem([1.0] * 3, force=[0.0, 0.0, -1.0], contacts=[plane])
    sliding = Modes(np.array([0]), np.array([True]), np.array([SLIDING]), np.array([[1.0, 0.0]]), np.zeros(3))
    with pytest.raises(Exception, match="two directions"):
        PhaseMaps(given).of(sliding)
