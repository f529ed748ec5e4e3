"""The energy ledger of Moreau's scheme: every entry against its closed form, the sum against zero."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.mechanics import Contact, FrictionElement, FunctionSystem, Harmonic, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate

G = 9.81


def closes(run, tolerance: float = 1e-10) -> bool:
    return bool(np.abs(run.ledger.residual).max() <= tolerance * run.ledger.scale)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_impact_takes_its_share(e: float, compiled: bool) -> None:
    """A mass thrown against a stop at v: ½ m (1 − e²) v² are lost, everything else is zero."""
    m, v = 2.0, 1.5
    system = LinearSystem(
        [m], velocity=[-v], position=[0.1], contacts=[Contact("stop", normal=[1.0], restitution=e)]
    )
    run = simulate(system, 0.2, Moreau(1e-3, compiled=compiled))
    ledger = run.ledger
    assert ledger.impact[-1] == pytest.approx(0.5 * m * (1 - e**2) * v**2, abs=1e-13)
    assert ledger.kinetic[-1] == pytest.approx(0.5 * m * (e * v) ** 2, abs=1e-13)
    for entry in (ledger.loads, ledger.damping, ledger.friction, ledger.potential, ledger.numerical):
        np.testing.assert_allclose(entry, 0.0, atol=1e-13)
    assert closes(run)


@pytest.mark.parametrize("compiled", [True, False])
def test_friction_takes_force_times_way(compiled: bool) -> None:
    """While sliding: μ m g times the distance of the middle velocities, exactly."""
    system = LinearSystem(
        [2.0, 2.0],
        force=[0.0, -2.0 * G],
        velocity=[1.0, 0.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)],
    )
    run = simulate(system, 0.3, Moreau(1e-3, compiled=compiled))
    np.testing.assert_allclose(run.ledger.friction, 0.3 * 2.0 * G * run.position[:, 0], atol=1e-12)
    np.testing.assert_allclose(run.ledger.impact, 0.0, atol=1e-13)
    assert closes(run)


@pytest.mark.parametrize("compiled", [True, False])
def test_in_a_steady_vibration_loads_put_in_what_damping_takes(compiled: bool) -> None:
    """Over a period in the steady state: ∫ c ẋ² = π c ω A² = work of the force."""
    c, omega = 2.0, 6.0
    system = LinearSystem([1.0], damping=[c], stiffness=[25.0], force=Harmonic([3.0], omega))
    period = 2 * np.pi / omega
    h = period / 400
    cycles = 12 if compiled else 9
    run = simulate(system, cycles * period, Moreau(h, compiled=compiled))
    amplitude = 3.0 / np.hypot(25.0 - omega**2, c * omega)
    expected = np.pi * c * omega * amplitude**2
    for entry in (run.ledger.damping, run.ledger.loads):
        assert entry[400 * cycles] - entry[400 * (cycles - 1)] == pytest.approx(expected, rel=2e-3)
    np.testing.assert_allclose(run.ledger.numerical, 0.0, atol=1e-12)
    assert closes(run)


def test_weight_is_potential_and_not_load() -> None:
    run = simulate(LinearSystem([2.0], force=[-2.0 * G], position=[1.0]), 0.5, Moreau(1e-2))
    np.testing.assert_allclose(run.ledger.potential, 2.0 * G * run.position[:, 0], rtol=1e-12)
    np.testing.assert_allclose(run.ledger.loads, 0.0)
    np.testing.assert_allclose(run.ledger.kinetic + run.ledger.potential, 2.0 * G, rtol=1e-12)


def test_circulatory_forces_are_loads() -> None:
    """N skew: the work ∮ N q · dq is 2 N times the area that the motion sweeps."""
    n = 0.5
    system = LinearSystem(
        [1.0, 1.0],
        stiffness=[4.0, 4.0],
        circulatory=[[0.0, n], [-n, 0.0]],
        position=[1.0, 0.0],
        velocity=[0.0, 2.0],
    )
    run = simulate(system, 2.0, Moreau(1e-3))
    x, y = run.position.T
    swept = 0.5 * np.sum(x[:-1] * np.diff(y) - y[:-1] * np.diff(x))
    assert run.ledger.loads[-1] == pytest.approx(2 * n * swept, rel=1e-9)
    assert closes(run)


@pytest.mark.parametrize("compiled", [True, False])
def test_numerical_loss_of_theta_one_is_positive_and_of_first_order(compiled: bool) -> None:
    """Free vibration at ω h ≪ 1: the loss is E (1 − exp(−ω² h t)); θ = ½ loses nothing."""
    omega = 5.0
    system = LinearSystem([1.0], stiffness=[omega**2], position=[1.0])
    energy, lost = 0.5 * omega**2, []
    for h in (1e-3, 5e-4) if compiled else (4e-3, 2e-3):
        run = simulate(system, 1.0, Moreau(h, theta=1.0, compiled=compiled))
        assert np.all(np.diff(run.ledger.numerical) >= -1e-13)
        assert run.ledger.numerical[-1] == pytest.approx(energy * (1 - np.exp(-(omega**2) * h)), rel=0.02)
        lost.append(run.ledger.numerical[-1])
        assert closes(run)
    assert lost[0] / lost[1] == pytest.approx(2.0, rel=0.06)
    half = simulate(system, 1.0, Moreau(2e-3, compiled=compiled))
    np.testing.assert_allclose(half.ledger.numerical, 0.0, atol=1e-12)


def test_numerical_loss_of_a_function_system_is_of_second_order_with_the_middle_step() -> None:
    """A pendulum: the books close to round-off, and what the midpoint rule gains or loses falls with h²."""
    lost = []
    for h in (0.04, 0.02, 0.01):
        system = FunctionSystem(
            [2.0],
            [0.0],
            mass=[[1.0]],
            force=lambda t, q, v: -G * np.sin(q),
            potential=lambda q: -G * np.cos(q[0]),
        )
        run = simulate(system, 2.0, Moreau(h))
        assert closes(run)
        lost.append(np.abs(run.ledger.numerical).max())
    np.testing.assert_allclose(np.log2(np.array(lost[:-1]) / lost[1:]), 2.0, atol=0.3)


def test_without_potential_everything_is_load() -> None:
    run = simulate(
        FunctionSystem([1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -4.0 * q - 0.5 * v),
        1.0,
        Moreau(1e-2),
    )
    gained = run.ledger.kinetic - run.ledger.kinetic[0]
    np.testing.assert_allclose(run.ledger.loads - run.ledger.numerical, gained, atol=1e-12)
    assert np.abs(run.ledger.numerical).max() < 1e-3


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.7, 1.0]))
def test_books_close_in_any_rattling_system(seed: int, theta: float) -> None:
    """Damping, gyroscopic and circulatory parts, forcing, moving walls, belts, restitution, friction, brakes."""
    rng = np.random.default_rng(seed)
    n, smooth = 4, bool(rng.integers(2))

    def positive() -> np.ndarray:
        a = rng.standard_normal((n, n))
        return a @ a.T + np.eye(n)

    def skew() -> np.ndarray:
        a = rng.standard_normal((n, n))
        return a - a.T

    contacts: list = []
    for i in range(2):
        e = rng.uniform(0, 1)
        more = (
            {}
            if smooth
            else {
                "tangents": rng.standard_normal((2, n)),
                "friction": rng.uniform(0, 0.5),
                "tangential_rate": Harmonic(rng.standard_normal(2), 3.0),
            }
        )
        contacts.append(
            Contact(
                f"c{i}", normal=rng.standard_normal(n), gap=Harmonic(0.1, 5.0) + 0.15, restitution=e, **more
            )
        )
    if not smooth:
        contacts.append(FrictionElement("brake", tangents=rng.standard_normal(n), limit=1.0))
    system = LinearSystem(
        positive(),
        damping=positive(),
        gyroscopic=skew() if smooth else None,
        circulatory=skew() if smooth else None,
        stiffness=20 * positive(),
        force=Harmonic(10 * rng.standard_normal(n), 4.0),
        velocity=rng.standard_normal(n),
        contacts=contacts,
    )
    run = simulate(system, 2.0, Moreau(5e-3, theta=theta))
    assert closes(run)
    assert np.all(np.diff(run.ledger.damping) >= 0.0)
    if theta == 0.5:
        # contacts that last on walls of up to 0.1 · 5² m/s² err by h |b| in their velocities
        turned = 5e-3 * 2.5 * run.impulse[:, :2, 0].sum()
        assert np.abs(run.ledger.numerical).max() <= 1e-11 * run.ledger.scale + turned
