"""Closed-form motion in fixed modes: against formulas, matrix exponentials and a Runge–Kutta method of order 8."""

import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import solve_ivp

from klapper.mechanics import Constraint, Contact, FrictionElement, InvalidModel, LinearSystem
from klapper.mechanics.signals import Constant, FunctionOfTime, Harmonic, Ramp
from klapper.schemes.linear_flow import Held, LinearFlow, LinearModel, LinearPhase, quadrature
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.matrix_exponential import Exponential
from klapper.schemes.phase_modes import SMOOTH, STARTING, STICKING, Modes
from klapper.schemes.time_functions import TimeFunctions


def modes_of(system, contacts, pressed, grip, sense, reference=None):
    d, p = system.contacts.tangential, len(system.constraints)
    rows = int(np.sum(pressed)) + d * int(np.sum(np.array(grip) != SMOOTH)) + p
    return Modes(
        np.array(contacts, dtype=np.int64),
        np.array(pressed, dtype=bool),
        np.array(grip, dtype=np.int64),
        np.array(sense, dtype=float).reshape(len(contacts), d),
        np.zeros(rows) if reference is None else np.array(reference, dtype=float),
    )


def flow_of(system, modes, start, q, v, end):
    equations = phase_equations(system, modes)
    model = LinearModel(system)
    return LinearFlow(LinearPhase(model, Held.of(model, equations)), equations, start, q, v, end)


def free_flow(system, end):
    modes = Modes.none(system.contacts.tangential, len(system.constraints))
    start = system.start
    return flow_of(system, modes, start.time, start.position, start.velocity, end)


def oscillator(t, mass, damping, stiffness, amplitude, frequency, q0, v0):
    """m ẍ + d ẋ + k x = a cos ωt, under-critical."""
    response = amplitude / (stiffness - mass * frequency**2 + 1j * frequency * damping)
    decay = 0.5 * damping / mass
    own = np.sqrt(stiffness / mass - decay**2)
    a = q0 - response.real
    b = (v0 + frequency * response.imag + decay * a) / own
    forced = np.real(response * np.exp(1j * frequency * t))
    return forced + np.exp(-decay * t) * (a * np.cos(own * t) + b * np.sin(own * t))


@pytest.mark.parametrize("damping", [0.0, 0.3, 5.0])
def test_free_and_forced_vibration_are_the_closed_forms(damping):
    system = LinearSystem(
        [2.0],
        damping=[damping],
        stiffness=[50.0],
        force=Harmonic([4.0], 3.0),
        position=[0.1],
        velocity=[-0.2],
    )
    times = np.linspace(0.0, 40.0, 301)
    q, v = free_flow(system, 40.0).states(times)
    exact = oscillator(times, 2.0, damping, 50.0, 4.0, 3.0, 0.1, -0.2)
    np.testing.assert_allclose(q[:, 0], exact, rtol=0, atol=1e-13 * np.abs(exact).max())
    ahead, behind = (free_flow(system, 41.0).states(times[1:] + s * 1e-4)[0][:, 0] for s in (1, -1))
    np.testing.assert_allclose(v[1:, 0], (ahead - behind) / 2e-4, atol=1e-6)


def test_a_thousand_periods_keep_their_phase():
    system = LinearSystem([1.0], stiffness=[1.0], position=[1.0])
    times = np.linspace(0.0, 2000.0 * np.pi, 1001)
    q, v = free_flow(system, times[-1]).states(times)
    bound = 1e-14  # a hundredth of the error of ωt itself
    np.testing.assert_allclose(q[:, 0], np.cos(times), rtol=0, atol=bound)
    np.testing.assert_allclose(v[:, 0], -np.sin(times), rtol=0, atol=bound)


def test_resonance_grows_with_time():
    system = LinearSystem([1.0], stiffness=[4.0], force=Harmonic([1.0], 2.0, -np.pi / 2))
    times = np.linspace(0.0, 300.0, 200)
    q, _ = free_flow(system, 300.0).states(times)
    exact = 0.125 * np.sin(2.0 * times) - 0.25 * times * np.cos(2.0 * times)
    np.testing.assert_allclose(q[:, 0], exact, rtol=0, atol=1e-13 * 75.0)


def test_critical_damping_is_the_closed_form():
    system = LinearSystem([1.0], damping=[4.0], stiffness=[4.0], position=[1.0], velocity=[0.5])
    times = np.linspace(0.0, 10.0, 101)
    q, _ = free_flow(system, 10.0).states(times)
    np.testing.assert_allclose(q[:, 0], (1.0 + 2.5 * times) * np.exp(-2.0 * times), rtol=1e-13, atol=1e-15)


def test_free_flight_is_a_parabola_and_a_ramp_makes_it_a_cubic():
    system = LinearSystem([2.0], force=Constant([-3.0]) + Ramp([1.0], [0.5]), position=[7.0], velocity=[1.5])
    times = np.linspace(0.0, 1e3, 77)
    q, v = free_flow(system, 1e3).states(times)
    np.testing.assert_allclose(q[:, 0], 7.0 + 1.5 * times - 0.5 * times**2 + times**3 / 24.0, rtol=1e-14)
    np.testing.assert_allclose(v[:, 0], 1.5 - times + times**2 / 8.0, rtol=1e-13, atol=1e-12)


def test_a_stiff_and_a_soft_spring_keep_their_phases_together():
    frequency = np.array([1.0, 1e4])
    system = LinearSystem([1.0, 1.0], stiffness=frequency**2, position=[1.0, 1e-3])
    times = np.linspace(0.0, 60.0, 50)
    q, _ = free_flow(system, 60.0).states(times)
    np.testing.assert_allclose(q[:, 0], np.cos(times), rtol=0, atol=1e-12)  # ε ω_max t is 1e-10
    np.testing.assert_allclose(
        q[:, 1], 1e-3 * np.cos(1e4 * times), rtol=0, atol=1e-3 * 3e-10
    )  # ωt has 1e-10 itself


def test_a_rotor_with_gyroscopic_and_circulatory_terms_follows_its_exponential():
    rotor = LinearSystem(
        [1.5, 1.5],
        damping=[0.2, 0.3],
        gyroscopic=[[0.0, 2.0], [-2.0, 0.0]],
        stiffness=[30.0, 45.0],
        circulatory=[[0.0, 1.2], [-1.2, 0.0]],
        position=[0.1, -0.3],
        velocity=[2.0, 0.5],
    )
    matrix = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-rotor.position_matrix / 1.5, -rotor.rate_matrix / 1.5]]
    )
    times = np.linspace(0.0, 12.0, 25)
    q, v = free_flow(rotor, 12.0).states(times)
    start = np.concatenate([rotor.start.position, rotor.start.velocity])
    exact = np.array([scipy.linalg.expm(matrix * t) @ start for t in times])
    np.testing.assert_allclose(np.hstack([q, v]), exact, rtol=0, atol=2e-13 * np.abs(exact).max())


def frame(seed):
    """Six coordinates with everything that a linear system can have."""
    random = np.random.default_rng(seed)
    n = 6
    root, springs, dampers = (random.standard_normal((n, n)) for _ in range(3))
    skew, turn = random.standard_normal((n, n)), random.standard_normal((n, n))
    directions = random.standard_normal((6, n))
    return LinearSystem(
        root @ root.T + n * np.eye(n),
        damping=0.05 * dampers @ dampers.T,
        stiffness=5.0 * springs @ springs.T,
        gyroscopic=skew - skew.T,
        circulatory=0.3 * (turn - turn.T),
        force=Harmonic(random.standard_normal(n), 2.3, 0.4)
        + Ramp(np.ones(n), 0.2 * np.ones(n))
        + Harmonic(np.ones(n), -0.7),
        contacts=[
            Contact(
                "slides",
                normal=directions[0],
                tangents=directions[1],
                friction=0.3,
                limit=0.2,
                gap=Harmonic(0.01, 3.0, np.pi / 2),
                tangential_rate=0.4,
            ),
            Contact(
                "sticks",
                normal=directions[2],
                tangents=directions[3],
                friction=0.5,
                tangential_rate=Ramp(0.1, 0.2) + Harmonic(0.3, 1.1, 0.2),
                gap=Ramp(0.0, 0.05),
            ),
            FrictionElement("patch", tangents=directions[4], limit=0.7, shares={"slides": 0.2}),
            Contact("far", normal=directions[1], gap=1e3),
        ],
        constraints=[Constraint("guide", direction=directions[5], offset=Harmonic(0.02, 1.7, -np.pi / 2))],
    )


def consistent_state(system, held, t):
    """A state that meets what is held: place where it is given, velocity everywhere."""
    random = np.random.default_rng(5)
    equations = phase_equations(system, held)
    rows, rates = equations.columns[:, equations.held], equations.rates(t)[equations.held]
    q, v = random.standard_normal((2, system.size))
    placed = equations.columns[:, equations.placed]
    offset = np.concatenate(
        [system.gap_offsets(t)[:2], [part.offset.value(t) for part in system.constraint_parts]]
    )
    q = q - np.linalg.pinv(placed.T) @ (placed.T @ q + offset)
    v = v - np.linalg.pinv(rows.T) @ (rows.T @ v + rates)
    return q, v


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_held_sliding_and_sticking_contacts_follow_the_general_equations(seed):
    system = frame(seed)
    modes = modes_of(system, [0, 1, 2], [1, 1, 0], [STARTING, STICKING, STARTING], [[1.0], [0.0], [-1.0]])
    t0, t1 = 0.3, 4.0
    q, v = consistent_state(system, modes, t0)
    equations = phase_equations(system, modes)
    flow = flow_of(system, modes, t0, q, v, t1)
    begin = np.concatenate([q, v, np.zeros(equations.size + 3)])
    times = np.linspace(t0, t1, 14)
    slow = solve_ivp(
        equations.derivative, (t0, t1), begin, "DOP853", t_eval=times, rtol=3e-14, atol=1e-14
    ).y.T
    positions, velocities = flow.states(times)
    n = system.size
    np.testing.assert_allclose(positions, slow[:, :n], atol=3e-12 * np.abs(slow[:, :n]).max())
    np.testing.assert_allclose(velocities, slow[:, n : 2 * n], atol=3e-12 * np.abs(slow[:, n : 2 * n]).max())
    forces = equations.many(times, positions, velocities)
    np.testing.assert_allclose(flow.reactions(times), forces, rtol=0, atol=1e-12 * np.abs(forces).max())
    found = flow.integrals(np.array([t1]))
    integrals = slow[-1, 2 * n :]
    np.testing.assert_allclose(found.impulses[0], integrals[:-3], atol=1e-11 * np.abs(integrals).max())
    np.testing.assert_allclose(
        [found.loads[0], found.damping[0], found.friction[0]],
        integrals[-3:],
        atol=1e-11 * np.abs(integrals).max(),
    )


def test_what_is_held_does_not_drift_over_a_long_time():
    system = frame(4)
    modes = modes_of(system, [0, 1], [1, 1], [STARTING, STICKING], [[1.0], [0.0]])
    q, v = consistent_state(system, modes, 0.0)
    flow = flow_of(system, modes, 0.0, q, v, 100.0)
    times = np.array([0.0, 10.0, 50.0, 100.0])
    positions, velocities = flow.states(times)
    size = np.abs(positions).max(axis=1)
    gaps = [np.abs(system.gaps(t, x, np.array([0, 1]))).max() for t, x in zip(times, positions, strict=True)]
    assert np.all(np.array(gaps) <= 1e-14 * (1.0 + size))
    slip = velocities @ system.tangential_directions[:, 1] + system.tangential_rates(times)[:, 1]
    assert np.all(np.abs(slip) <= 1e-14 * (1.0 + np.abs(velocities).max(axis=1) + times))


def test_a_contact_given_twice_changes_no_motion_and_shares_its_force_as_preferred():
    table = LinearSystem(
        [1.0, 2.0],
        stiffness=[[3.0, -1.0], [-1.0, 3.0]],
        force=[0.0, -5.0],
        contacts=[Contact(name, normal=[0.0, 1.0]) for name in ("left", "right")],
        position=[0.4, 0.0],
    )
    start = table.start
    single = flow_of(table, modes_of(table, [0], [1], [SMOOTH], []), 0.0, start.position, start.velocity, 3.0)
    twice = modes_of(table, [0, 1], [1, 1], [SMOOTH, SMOOTH], [], reference=[3.0, 2.0])
    double = flow_of(table, twice, 0.0, start.position, start.velocity, 3.0)
    times = np.linspace(0.0, 3.0, 7)
    np.testing.assert_allclose(double.states(times)[0], single.states(times)[0], atol=1e-14)
    forces = double.reactions(times)
    np.testing.assert_allclose(forces.sum(axis=1), single.reactions(times)[:, 0], atol=1e-13)
    np.testing.assert_allclose(forces[:, 0] - forces[:, 1], 1.0, atol=1e-13)


def test_time_functions_differentiate_and_integrate():
    signal = Harmonic(2.0, 3.0, 0.7) + Ramp(1.0, -0.5) + Harmonic(1.5, -4.0, 0.2) + Harmonic(3.0, 0.0, 1.0)
    functions = TimeFunctions([(signal, "signal")])
    row = functions.coefficients(signal)
    for t in (0.0, 0.9, 7.3):
        sigma = functions.values(t)
        assert row @ sigma == pytest.approx(float(signal.value(t)), abs=1e-14)
        assert row @ functions.derivative @ sigma == pytest.approx(float(signal.rate(t)), abs=1e-13)
        assert functions.integral(row) @ functions.derivative @ sigma == pytest.approx(
            float(signal.value(t)), abs=1e-13
        )


def test_arbitrary_functions_of_time_are_refused_by_name():
    wall = Contact("wall", normal=[1.0], gap=FunctionOfTime(lambda t: 1.0 + t**4))
    with pytest.raises(InvalidModel, match="the gap of contact 'wall' is a FunctionOfTime"):
        LinearModel(LinearSystem([1.0], contacts=[wall]))
    with pytest.raises(InvalidModel, match="the force is a FunctionOfTime"):
        LinearModel(LinearSystem([1.0], force=lambda t: np.array([np.tanh(t)])))


def test_quadrature_is_exact_to_round_off():
    times, weights = quadrature(1.0, 9.0, 2.0)
    assert weights @ np.cos(2.0 * times) == pytest.approx(0.5 * (np.sin(18.0) - np.sin(2.0)), abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_the_transition_matrix_is_that_of_scaling_and_squaring(seed):
    """e^{Aτ} against scaling and squaring, with states in units of very different size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    units = 2.0 ** rng.integers(-12, 12, n)
    matrix = rng.standard_normal((n, n)) * units[:, None] / units
    exponential = Exponential(matrix, units)
    for duration in (0.0, 1e-9, 0.3, 1.7, 40.0 / np.linalg.norm(matrix / units[:, None] * units, 2)):
        found, exact = exponential.matrix(duration), scipy.linalg.expm(matrix * duration)
        size = np.linalg.norm(exact / units[:, None] * units, 2)
        np.testing.assert_allclose(
            found / units[:, None] * units, exact / units[:, None] * units, atol=1e-12 * size
        )
        start = rng.standard_normal(n) * units
        states = exponential(np.array([duration]), start)[0] / units
        np.testing.assert_allclose(
            found @ start / units, states, atol=1e-12 * size * np.linalg.norm(start / units)
        )
