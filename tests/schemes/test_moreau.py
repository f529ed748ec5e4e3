"""Moreau's scheme between jumps: implicit Euler, midpoint rule, orders, numerical damping, stiffness."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.mechanics import FunctionSystem, Harmonic, InvalidModel, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import SimulationFailed, simulate

OMEGA = 2 * np.pi


def oscillator(damping: float = 0.0, omega: float = OMEGA, **more) -> LinearSystem:
    return LinearSystem(
        [1.0], stiffness=[omega**2], damping=[damping] if damping else None, position=[1.0], **more
    )


def random_system(seed: int, n: int = 4) -> LinearSystem:
    rng = np.random.default_rng(seed)

    def positive() -> np.ndarray:
        a = rng.standard_normal((n, n))
        return a @ a.T + np.eye(n)

    def skew() -> np.ndarray:
        a = rng.standard_normal((n, n))
        return a - a.T

    return LinearSystem(
        positive(),
        damping=positive(),
        gyroscopic=skew(),
        stiffness=10 * positive(),
        circulatory=skew(),
        force=Harmonic(rng.standard_normal(n), 3.0, 0.5),
        position=rng.standard_normal(n),
        velocity=rng.standard_normal(n),
    )


def matrices(system: LinearSystem):
    rate = system.damping + system.gyroscopic
    return system.mass_matrix, rate, system.stiffness + system.circulatory


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_theta_one_is_implicit_euler(seed: int, compiled: bool) -> None:
    """C26: the same motion as y⁺ = y + h A y⁺ + h b(t⁺) of the first-order system, to round-off."""
    system, h, steps = random_system(seed), 0.02, 60
    mass, rate, stiffness = matrices(system)
    n = len(mass)
    zero, one, inverse = np.zeros((n, n)), np.eye(n), np.linalg.inv(mass)
    a = np.block([[zero, one], [-inverse @ stiffness, -inverse @ rate]])
    y = np.concatenate([system.start.position, system.start.velocity])
    reference = [y]
    for k in range(steps):
        b = np.concatenate([np.zeros(n), inverse @ system.load.value((k + 1) * h)])
        y = np.linalg.solve(np.eye(2 * n) - h * a, y + h * b)
        reference.append(y)
    run = simulate(system, steps * h, Moreau(h, theta=1.0, compiled=compiled))
    assert run.about["audit"]["path"] == ("compiled" if compiled else "general")
    np.testing.assert_allclose(np.hstack([run.position, run.velocity]), reference, atol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_theta_half_is_the_midpoint_rule(seed: int, compiled: bool) -> None:
    """(y⁺ − y)/h = A (y + y⁺)/2 + b(t + h/2), solved as one system."""
    system, h, steps = random_system(seed), 0.02, 60
    mass, rate, stiffness = matrices(system)
    n = len(mass)
    inverse = np.linalg.inv(mass)
    a = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ stiffness, -inverse @ rate]])
    y = np.concatenate([system.start.position, system.start.velocity])
    reference = [y]
    for k in range(steps):
        b = np.concatenate([np.zeros(n), inverse @ system.load.value((k + 0.5) * h)])
        y = np.linalg.solve(np.eye(2 * n) - h / 2 * a, y + h / 2 * (a @ y) + h * b)
        reference.append(y)
    run = simulate(system, steps * h, Moreau(h, compiled=compiled))
    np.testing.assert_allclose(np.hstack([run.position, run.velocity]), reference, atol=1e-12)


def error_at_end(system: LinearSystem, h: float, theta: float, exact: np.ndarray) -> float:
    return float(np.abs(simulate(system, 1.0, Moreau(h, theta=theta)).position[-1] - exact).max())


@pytest.mark.parametrize(("theta", "order"), [(1.0, 1), (0.75, 1), (0.5, 2)])
def test_the_error_of_a_forced_oscillator_falls_with_the_order_of_theta(theta: float, order: int) -> None:
    """B34: the error falls with the order of the scheme; the reference is an ODE solver."""
    system = oscillator(0.4, force=Harmonic([3.0], 4.0))
    exact = solve_ivp(
        lambda t, y: [y[1], -(OMEGA**2) * y[0] - 0.4 * y[1] + 3.0 * np.cos(4.0 * t)],
        (0.0, 1.0),
        [1.0, 0.0],
        rtol=1e-12,
        atol=1e-13,
    ).y[0, -1]
    errors = [error_at_end(system, h, theta, exact) for h in (1 / 400, 1 / 800, 1 / 1600)]
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(rates, order, atol=0.06)


def test_theta_one_damps_by_half_omega_h() -> None:
    """B34, trap 1: ζ = ωh/2 from the decay of the amplitude of an undamped oscillator."""
    h = 1e-3
    run = simulate(oscillator(), 5.0, Moreau(h, theta=1.0))
    amplitude = np.sqrt(run.position[:, 0] ** 2 + (run.velocity[:, 0] / OMEGA) ** 2)
    decay = -np.log(amplitude[-1] / amplitude[0]) / (OMEGA * 5.0)
    assert decay == pytest.approx(OMEGA * h / 2, rel=5e-3)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("omega_h", [0.1, 1.0, 100.0])
def test_theta_half_keeps_the_energy(omega_h: float, compiled: bool) -> None:
    """No numerical damping at any step size: the energy of an undamped oscillator is constant to round-off."""
    h = omega_h / OMEGA
    run = simulate(oscillator(), (20000 if compiled else 500) * h, Moreau(h, compiled=compiled), every=10)
    energy = 0.5 * run.velocity[:, 0] ** 2 + 0.5 * OMEGA**2 * run.position[:, 0] ** 2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-11)
    assert abs(run.ledger.numerical[-1]) <= 1e-11 * energy[0]


def test_theta_one_is_stable_far_beyond_the_period() -> None:
    run = simulate(oscillator(), 100.0, Moreau(10.0, theta=1.0))
    assert abs(run.position[-1, 0]) < 1e-8
    assert np.all(np.diff(np.abs(run.position[:, 0])) <= 0.0)


def stiff_pair(**options) -> FunctionSystem:
    """A stiff spring (ω = 10⁴ rad/s) beside a soft, nonlinear one that is to be taken explicitly."""

    def stiff(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([-1e8 * q[0], 0.0])

    return FunctionSystem(
        [1e-6, 1.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: stiff(t, q, v) + np.array([0.0, -np.sin(q[1])]),
        **({"stiff": stiff} | options),
    )


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_stiff_part_is_stable_where_explicit_diverges(theta: float) -> None:
    """ω h = 100: implicit for the stiff spring, explicit for the rest; all explicit leaves the range of numbers."""
    run = simulate(stiff_pair(), 2.0, Moreau(0.01, theta=theta))
    assert np.abs(run.position[:, 0]).max() <= 1.01e-6
    soft = solve_ivp(lambda t, y: [y[1], -np.sin(y[0])], (0, 2.0), [1.0, 0.0], rtol=1e-10, atol=1e-12).y[
        0, -1
    ]
    assert run.position[-1, 1] == pytest.approx(soft, abs=2e-4 if theta == 0.5 else 2e-2)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(SimulationFailed) as caught:
        simulate(stiff_pair(stiff=False), 2.0, Moreau(0.01, theta=theta))
    assert caught.value.run.about["status"] == "failed"
    assert np.abs(caught.value.run.position[:, 0]).max() > 1e100


@pytest.mark.parametrize("compiled", [True, False])
def test_a_motion_that_overflows_is_told_as_such(compiled: bool) -> None:
    """A negative stiffness: the motion grows until it leaves the range of numbers, and does not come to rest there."""
    system = LinearSystem([1.0], stiffness=[-1e8], force=Harmonic([1.0], 1.0), position=[1.0])
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(SimulationFailed) as caught:
        simulate(system, 0.09, Moreau(1.5e-4, compiled=compiled))
    assert np.all(np.diff(np.abs(caught.value.run.position[:, 0])) > 0.0)
    assert "range of numbers" in str(caught.value)


def exact_end(force, start: list[float], until: float) -> np.ndarray:
    """Position and velocity at the end, by an ODE solver; ``force`` is the acceleration of (t, q, v)."""
    n = len(start) // 2
    found = solve_ivp(
        lambda t, y: np.concatenate([y[n:], force(t, y[:n], y[n:])]),
        (0.0, until),
        start,
        rtol=1e-12,
        atol=1e-13,
    )
    return found.y[:, -1]


def observed_orders(
    system: FunctionSystem, exact: np.ndarray, steps: tuple[float, ...], **options
) -> np.ndarray:
    errors = []
    for h in steps:
        run = simulate(system, 1.0, Moreau(h, **options))
        errors.append(np.abs(np.concatenate([run.position[-1], run.velocity[-1]]) - exact).max())
    return np.log2(np.array(errors[:-1]) / errors[1:])


STEPS = (1 / 50, 1 / 100, 1 / 200)


def pendulum_acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -9.81 * np.sin(q) - 0.2 * v * np.abs(v) + np.cos(5 * t)


@pytest.mark.parametrize("stiff", [None, False])
@pytest.mark.parametrize(("theta", "order"), [(0.5, 2), (1.0, 1)])
def test_the_error_of_a_pendulum_falls_with_the_order_of_theta(
    theta: float, order: int, stiff: bool | None
) -> None:
    system = FunctionSystem([2.0], [0.5], mass=[[1.0]], force=pendulum_acceleration, stiff=stiff)
    exact = exact_end(pendulum_acceleration, [2.0, 0.5], 1.0)
    np.testing.assert_allclose(observed_orders(system, exact, STEPS, theta=theta), order, atol=0.15)


def double_pendulum_mass(q: np.ndarray) -> np.ndarray:
    c = np.cos(q[0] - q[1])
    return np.array([[2.0, c], [c, 1.0]])


def double_pendulum_force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    s = np.sin(q[0] - q[1])
    return np.array([-s * v[1] ** 2 - 2 * 9.81 * np.sin(q[0]), s * v[0] ** 2 - 9.81 * np.sin(q[1])])


def double_pendulum(stiff: bool | None = None) -> FunctionSystem:
    """Two equal pendulums of unit mass and length, angles from the vertical: the mass matrix depends on q."""
    return FunctionSystem(
        [1.0, 1.5],
        [0.0, -1.0],
        mass=double_pendulum_mass,
        force=double_pendulum_force,
        stiff=stiff,
        potential=lambda q: -9.81 * (2 * np.cos(q[0]) + np.cos(q[1])),
    )


@pytest.mark.parametrize("stiff", [None, False])
def test_with_a_mass_matrix_that_changes_steps_are_of_second_order(stiff: bool | None) -> None:
    exact = exact_end(
        lambda t, q, v: np.linalg.solve(double_pendulum_mass(q), double_pendulum_force(t, q, v)),
        [1.0, 1.5, 0.0, -1.0],
        1.0,
    )
    orders = observed_orders(double_pendulum(stiff), exact, (1 / 100, 1 / 200, 1 / 400))
    np.testing.assert_allclose(orders, 2, atol=0.1)


def test_energy_drift_of_a_double_pendulum_is_of_second_order() -> None:
    drifts = []
    for h in (4e-3, 2e-3, 1e-3):
        run = simulate(double_pendulum(), 1.0, Moreau(h))
        total = run.ledger.kinetic + run.ledger.potential
        drifts.append(np.abs(total - total[0]).max())
        np.testing.assert_allclose(run.ledger.residual, 0.0, atol=1e-10 * run.ledger.scale)
    np.testing.assert_allclose(np.log2(np.array(drifts[:-1]) / drifts[1:]), 2, atol=0.15)


@pytest.mark.parametrize("stiff", [None, False])
@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_forces_of_the_velocity_keep_the_order_of_theta(theta: float, stiff: bool | None) -> None:
    """A force that depends on the velocity, B = 3 + x²: order 2 through the corrected midpoint, speed kept."""

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (3.0 + q[0] ** 2) * np.array([v[1], -v[0]])

    system = FunctionSystem([0.0, 0.0], [1.0, 0.5], mass=np.eye(2), force=force, stiff=stiff)
    exact = exact_end(force, [0.0, 0.0, 1.0, 0.5], 1.0)
    orders = observed_orders(system, exact, STEPS, theta=theta)
    np.testing.assert_allclose(orders, 2 if theta == 0.5 else 1, atol=0.15)


def test_gyroscopic_linear_system_keeps_its_energy() -> None:
    """A particle in a rotating frame, in the compiled loop: gyroscopic forces do no work at θ = ½."""
    system = LinearSystem(
        [1.0, 1.0],
        gyroscopic=[[0.0, -4.0], [4.0, 0.0]],
        stiffness=[9.0, 16.0],
        position=[1.0, 0],
        velocity=[0, 2.0],
    )
    run = simulate(system, 50.0, Moreau(0.05), every=10)
    assert run.about["audit"]["path"] == "compiled"
    total = run.ledger.kinetic + run.ledger.potential
    np.testing.assert_allclose(total, total[0], rtol=1e-12)


def test_time_comes_from_the_counter() -> None:
    """After a hundred thousand steps the clock has no accumulated error."""
    run = simulate(oscillator(), 10000.0, Moreau(0.1), every=1000)
    np.testing.assert_array_equal(run.time, run.samples.step * 0.1)


def test_the_last_step_reaches_the_end_and_rounding_adds_none() -> None:
    for until, h, steps in ((1.0, 0.1, 10), (1.0, 0.3, 4), (0.7, 0.1, 7), (1e-3, 0.1, 1)):
        assert Moreau(h).steps(oscillator(), until) == steps


def test_a_very_short_run_has_a_step() -> None:
    assert Moreau(0.1).steps(oscillator(), 1e-8) == 1


def test_a_step_changes_neither_system_nor_snapshot() -> None:
    system = random_system(2)
    scheme = Moreau(0.01)
    first = scheme.init(system)
    q, v = first.position.copy(), first.velocity.copy()
    one = scheme.step(system, first)
    two = scheme.step(system, first)
    np.testing.assert_array_equal(first.position, q)
    np.testing.assert_array_equal(first.velocity, v)
    np.testing.assert_array_equal(one.after.position, two.after.position)
    np.testing.assert_array_equal(one.after.velocity, two.after.velocity)
    np.testing.assert_array_equal(one.after.sums, two.after.sums)


BAD = {
    "step zero": lambda: Moreau(0.0),
    "step negative": lambda: Moreau(-0.1),
    "step nan": lambda: Moreau(np.nan),
    "step infinite": lambda: Moreau(np.inf),
    "theta below a half": lambda: Moreau(0.1, theta=0.4),
    "theta above one": lambda: Moreau(0.1, theta=1.1),
    "theta nan": lambda: Moreau(0.1, theta=np.nan),
    "level unknown": lambda: Moreau(0.1, level="acceleration"),
    "accuracy zero": lambda: Moreau(0.1, accuracy=0.0),
    "accuracy nan": lambda: Moreau(0.1, accuracy=np.nan),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InvalidModel) as caught:
        BAD[name]()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Moreau("small"), id="step text"),
        pytest.param(lambda: Moreau(0.1, solver="guess"), id="solver unknown"),
        pytest.param(lambda: Moreau(0.1, impact="newton"), id="impact a text"),
        pytest.param(lambda: Moreau(0.1, tolerance=-1.0), id="tolerance negative"),
        pytest.param(lambda: Moreau(0.1, tolerance=np.nan), id="tolerance nan"),
    ],
)
def test_bad_steps_solvers_impacts_and_tolerances_are_refused(make) -> None:
    with pytest.raises(InvalidModel):
        make()


def test_the_scheme_names_its_settings_and_its_sources() -> None:
    settings = Moreau(0.01, theta=1.0, accuracy=1e-4).settings
    assert (settings["step_size"], settings["theta"], settings["accuracy"]) == (0.01, 1.0, 1e-4)
    assert "anitescu2002" in Moreau(0.01, theta=1.0).citations
    assert "jean1999" in Moreau(0.01).citations
    run = simulate(oscillator(), 0.1, Moreau(0.01))
    assert "Moreau" in run.citation()
