"""Motions of reduced systems against full ones, closed forms and the continuum."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
from bars import bar

from klapper.mechanics import Constraint, Contact, FrictionElement, Harmonic, LinearSystem
from klapper.reduction import attachment, craig_bampton, massless_boundary, modal, quasi_static
from klapper.schemes import Moreau
from klapper.simulation import simulate

ALL = {
    "modal": lambda system, k: modal(system, k),
    "attachment": lambda system, k: attachment(system, k),
    "Craig–Bampton": lambda system, k: craig_bampton(system, k),
}


def position_level(step):
    return Moreau(step, theta=1.0, level="position")


@pytest.mark.parametrize("name", ALL)
def test_with_all_modes_the_motion_is_that_of_the_full_system(name):
    system = bar(10, force=0.3, stop=0.05, rayleigh=(0.05, 1e-3))
    reduced = ALL[name](system, 9 if name == "Craig–Bampton" else 10)
    assert reduced.system.size == 10
    whole, part = (simulate(each, 3.0, Moreau(2e-3), progress=False) for each in (system, reduced.system))
    assert np.count_nonzero(whole.impulse) > 10
    np.testing.assert_allclose(reduced.recover(part), whole.position, atol=1e-9)
    np.testing.assert_allclose(reduced.recover_velocity(part), whole.velocity, atol=1e-7)
    rows = np.eye(10)[[3, 9]]
    np.testing.assert_allclose(reduced.output(part, rows), whole.position[:, [3, 9]], atol=1e-9)
    np.testing.assert_allclose(reduced.gaps(part), whole.gap, atol=1e-9)


def test_without_truncated_modes_the_quasi_static_step_is_the_position_level_one():
    """Example 5.8: with m = n nothing is static."""
    system = bar(8, force=0.3, stop=0.05)
    reduced = quasi_static(system, 8)
    whole, part = (
        simulate(each, 3.0, position_level(2e-3), progress=False) for each in (system, reduced.system)
    )
    assert np.count_nonzero(whole.impulse) > 10
    np.testing.assert_allclose(reduced.recover(part), whole.position, atol=1e-9)


@pytest.mark.parametrize("reduce", [quasi_static, attachment, craig_bampton, massless_boundary])
def test_a_pressed_bar_comes_to_rest_on_its_stop(reduce):
    """A pull on node 11 of 20 against the stop: the force there is 1 N · 11/20 − u EA/L."""
    reduced = reduce(bar(20, force=1.0, stop=0.1, rayleigh=(2.0, 0.2)), 4)
    compliant = reduced.system.compliance is not None
    scheme = position_level(2e-2) if compliant else Moreau(2e-2, theta=1.0)
    run = simulate(reduced.system, 24.0, scheme, progress=False)
    end = reduced.recover(run)[-1, -1]
    assert run.contact("stop").force[-1, 0] == pytest.approx(11.0 / 20.0 - end, abs=1e-8)
    speed = np.abs(reduced.recover_velocity(run)[:, -1]).max()
    assert end == pytest.approx(0.1, abs=1e-9 if compliant else 2e-2 * speed)  # velocity level: within a step
    assert reduced.gaps(run)[-1, 0] == pytest.approx(0.1 - end, abs=1e-12)


def test_rigid_motion_keeps_its_mass_without_boundary_mass():
    reduced = massless_boundary(bar(30, held=False)).system
    rigid = np.ones(reduced.size)
    assert rigid @ (reduced.mass_matrix @ rigid) == pytest.approx(1.0, rel=1e-12)
    assert np.abs(reduced.stiffness @ rigid).max() < 1e-9


def test_massless_boundary_removes_the_force_spike():
    """A free bar hits a wall with 1 m/s; the continuum presses with ρ c A v = 1 N for 2 L/c = 2 s.

    The end of a mesh of linear elements of mass m, consistent masses, resists a blow like a mass m/√12 (semi-infinite
    chain), so that the first force is m/√12 · v/h: no force at all, but a mark of the step. Without that mass the force
    rises to a finite overshoot whatever the step, and its impulse is that of the continuum.
    """
    elements = 30
    flying = bar(elements, held=False, stop=1e-3, velocity=np.ones(elements + 1))
    cured = massless_boundary(flying).system
    peaks = {}
    for step in (1e-3, 2.5e-4):
        for name, system in (("mesh", flying), ("massless", cured)):
            run = simulate(system, 0.3, position_level(step), progress=False)
            force = run.impulse[1:, 0, 0] / step
            peaks[name, step] = force.max()
            settled = force[run.time[1:] > 0.2]
            assert np.sqrt(np.mean((settled - 1.0) ** 2)) < 0.1
            assert force.sum() * step == pytest.approx(0.3 - 1e-3, rel=0.02)
    for step in (1e-3, 2.5e-4):
        assert peaks["mesh", step] == pytest.approx(1 / elements / np.sqrt(12.0) / step, rel=0.2)
        assert peaks["massless", step] < 1.35
    assert peaks["massless", 2.5e-4] == pytest.approx(peaks["massless", 1e-3], rel=0.03)


def test_friction_passes_through_attachment_modes():
    """A bar shaken at its end with a friction joint in its middle: closer to the full motion the more modes are kept,
    and closer than modes alone of the same number of coordinates."""
    n = 30
    base = bar(n)
    system = LinearSystem(
        base.mass_matrix,
        stiffness=base.stiffness,
        damping=0.01 * base.stiffness,
        force=Harmonic(0.2 * np.eye(n)[-1], 1.2),
        contacts=[FrictionElement("joint", tangents=np.eye(n)[[n // 2]], limit=0.1)],
    )
    whole = simulate(system, 12.0, Moreau(2e-3), progress=False)
    assert np.count_nonzero(np.diff(whole.state[:, 0].astype(int))) > 3

    def error(reduced):
        part = simulate(reduced.system, 12.0, Moreau(2e-3), progress=False)
        return np.abs(reduced.recover(part) - whole.position).max() / np.abs(whole.position).max()

    few, more = error(attachment(system, 3)), error(attachment(system, 9))
    assert more < 0.25 * few  # at least of second order
    assert few < 0.5 * error(modal(system, 5)) and more < 0.5 * error(modal(system, 11))


@pytest.mark.parametrize("reduce", [modal, attachment, craig_bampton])
def test_a_reduced_bar_follows_its_moving_support_and_loads_it_alike(reduce):
    """A free bar moved at its left end by a slow sine: it follows, and the support carries its inertia."""
    free = bar(20, held=False)
    n, frequency, amplitude = free.size, 0.05, 0.3
    omega = 2 * np.pi * frequency
    system = LinearSystem(
        free.mass_matrix,
        stiffness=free.stiffness,
        damping=0.05 * free.stiffness,
        contacts=[Contact("stop", normal=-np.eye(n)[-1], gap=1.0)],
        constraints=[Constraint("shaker", np.eye(n)[0], Harmonic(-amplitude, omega, -np.pi / 2))],
        velocity=np.full(n, amplitude * omega),
    )
    reduced = reduce(system, 3)
    whole, part = (simulate(each, 10.0, Moreau(1e-2), progress=False) for each in (system, reduced.system))
    shaken = amplitude * np.sin(omega * part.time)
    np.testing.assert_allclose(reduced.output(part, np.eye(n)[0]), shaken, atol=1e-4)
    assert np.abs(reduced.recover(part) - whole.position).max() < 1e-3 * amplitude
    reaction = whole.constraint_force[2:, 0]
    assert np.abs(part.constraint_force[2:, 0] - reaction).max() < 0.05 * np.abs(reaction).max()


@pytest.mark.parametrize("speed", [0.1, 0.5])
def test_rotors_are_reduced_below_and_above_their_critical_speed(speed):
    """A round shaft in the turning frame: eigenvalues are those of the frame at rest, less ±jΩ, mode by mode.

    Above the first critical speed the stiffness K − Ω² M is indefinite. External damping d M is circulatory there.
    """
    base, d = bar(20), 0.03
    omega = 2 * np.pi * speed
    m, k = base.mass_matrix.toarray(), base.stiffness.toarray()
    both, turn = np.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]])
    n = 2 * len(m)
    system = LinearSystem(
        np.kron(both, m),
        stiffness=np.kron(both, k - omega**2 * m),
        damping=d * np.kron(both, m),
        gyroscopic=2 * omega * np.kron(turn, m),
        circulatory=d * omega * np.kron(turn, m),
        contacts=[Contact("stop", normal=-np.eye(n)[len(m) - 1], gap=1.0)],
        name="shaft",
    )
    squares = scipy.linalg.eigvalsh(k, m)[:3]
    inertial = -d / 2 + 1j * np.sqrt(squares - d**2 / 4)
    expected = np.concatenate([inertial - 1j * omega, inertial + 1j * omega])
    for reduce in (modal, attachment, quasi_static):
        reduced = reduce(system, 6)
        small = reduced.system
        mass, rate, place = (
            np.asarray(sparse.csr_array(a).todense())[:6, :6]
            for a in (small.mass_matrix, small.rate_matrix, small.position_matrix)
        )
        first = np.block(
            [[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(mass, place), -np.linalg.solve(mass, rate)]]
        )
        found = np.linalg.eigvals(first)
        for value in expected:
            assert np.abs(found - value).min() < 1e-8
        assert (reduced.error.contact[0] < 1e-8) == (reduce is not modal)
    assert (modal(system, 2).system.stiffness[0, 0] < 0.0) == (speed > 0.25)


def test_the_start_is_kept_as_far_as_the_modes_allow():
    """A bar stretched in its first mode starts in its first mode."""
    base = bar(30)
    shape = modal(base, 1).basis[:, 0]
    system = LinearSystem(
        base.mass_matrix,
        stiffness=base.stiffness,
        contacts=[Contact("stop", normal=-np.eye(30)[-1], gap=5.0)],
        position=0.2 * shape,
        velocity=-0.1 * shape,
    )
    for reduce in (modal, attachment, quasi_static):
        start = reduce(system, 4).system.start
        np.testing.assert_allclose(start.position[:4], [0.2, 0, 0, 0], atol=1e-10)
        np.testing.assert_allclose(start.velocity[:4], [-0.1, 0, 0, 0], atol=1e-10)
    reduced = craig_bampton(system, 4)
    assert reduced.system.start.position[0] == pytest.approx(0.2 * shape[-1], abs=1e-12)
    assert np.abs(reduced.basis @ reduced.system.start.position - 0.2 * shape).max() < 1e-3


def test_a_touching_end_without_mass_is_the_spring_alone():
    """A mass of 2 kg, a spring of 8 N/m, an end of 1 kg that touches: without its mass it is the spring alone."""
    system = LinearSystem(
        [[2.0, 0.0], [0.0, 1.0]],
        stiffness=[[8.0, -8.0], [-8.0, 8.0]],
        force=[0.0, -4.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], gap=0.5)],
    )
    reduced = massless_boundary(system)
    assert reduced.system.mass_matrix[0, 0] == pytest.approx(3.0)  # rigid motion keeps all mass
    assert reduced.system.stiffness is None
    assert reduced.system.compliance[0, 0] == pytest.approx(1.0 / 8.0)
    np.testing.assert_allclose(reduced.system.load.value(0.0), [-4.0])
    assert reduced.system.gap_offsets(0.0)[0] == pytest.approx(0.5 - 4.0 / 8.0)
