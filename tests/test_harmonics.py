"""Harmonics of runs: transfer functions, and Fourier series of a bouncing ball and of a clipped oscillator."""

import numpy as np
import pytest
from scipy.integrate import quad

from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.results import ResultsError
from klapper.schemes import EventDriven, Moreau, PiecewiseExact
from klapper.simulation import simulate

MASS, STIFFNESS = np.diag([1.0, 2.0]), np.array([[300.0, -100.0], [-100.0, 100.0]])
DAMPING = 0.01 * STIFFNESS + 0.6 * MASS


def chain():
    load = Harmonic([0.0, 3.0], 2 * np.pi * 1.7)
    return LinearSystem(MASS, stiffness=STIFFNESS, damping=DAMPING, force=load, coordinates=["x", "y"])


@pytest.mark.parametrize("scheme", [Moreau(2e-4), PiecewiseExact()], ids=str)
def test_a_linear_system_answers_with_one_harmonic_of_its_transfer_function(scheme) -> None:
    run = simulate(chain(), 40.0, scheme)
    omega = 2 * np.pi * 1.7
    load = Harmonic([0.0, 3.0], omega).value(0.0)
    quarter = Harmonic([0.0, 3.0], omega).value(0.25 / 1.7)
    phasor = load - 1j * quarter  # Re(F e^{iωt})
    expected = np.linalg.solve(STIFFNESS + 1j * omega * DAMPING - omega**2 * MASS, phasor)
    for name, value in zip("xy", expected, strict=True):
        found = run.harmonics(name, 1.7, count=5)
        assert found.complex[1] == pytest.approx(value, rel=2e-4)
        assert found.distortion < 2e-4
        assert found.rest < 1e-3
        assert found.unrest < 1e-4
    velocity, acceleration = (run.harmonics("y", 1.7, quantity=what) for what in ("velocity", "acceleration"))
    assert velocity.complex[1] == pytest.approx(1j * omega * expected[1], rel=2e-4)
    assert acceleration.complex[1] == pytest.approx(-(omega**2) * expected[1], rel=1e-3)
    sum_of_both = run.harmonics([1.0, 1.0], 1.7)
    assert sum_of_both.complex[1] == pytest.approx(expected.sum(), rel=2e-4)


@pytest.mark.parametrize("scheme", [EventDriven(), Moreau(1e-4)], ids=str)
def test_a_ball_that_bounces_for_ever(scheme) -> None:
    """x = v τ − g τ²/2 over T = 2 v/g: A_k = g T²/(2 π² k²); one impulse 2 m v per period: A_k = 2 (2 m v)/T."""
    g, v, m = 10.0, 5.0, 2.0
    floor = Contact("floor", normal=[1.0], restitution=1.0)
    ball = LinearSystem([m], force=[-m * g], velocity=[v], contacts=[floor], coordinates=["x"])
    run = simulate(ball, 5.5, scheme)  # periods of 1 s, in the middle of a flight
    period, k = 2 * v / g, np.arange(1, 6)
    close = 1e-6 if scheme.name == "event-driven" else 3e-3
    found = run.harmonics("x", 1.0 / period, count=5, periods=3)
    assert found.amplitude[0] == pytest.approx(g * period**2 / 12, rel=close)
    assert found.amplitude[1:] == pytest.approx(g * period**2 / (2 * np.pi**2 * k**2), rel=close, abs=1e-5)
    assert np.cos(found.phase[1:]) == pytest.approx(-1.0, abs=close)
    force = run.harmonics("floor", 1.0 / period, count=5, periods=3, quantity="force")
    assert force.amplitude[0] == pytest.approx(m * g, rel=close)
    assert force.amplitude[1:] == pytest.approx(2 * m * g, rel=close)
    jump = run.harmonics("x", 1.0 / period, count=5, periods=3, quantity="acceleration")
    assert m * jump.amplitude[1:] == pytest.approx(2 * m * g, rel=10 * close)
    assert run.harmonics("floor", 1.0 / period, periods=3).amplitude[1] == pytest.approx(
        g * period**2 / (2 * np.pi**2), rel=max(close, 1e-3)
    )


def test_harmonics_of_a_mass_that_rests_on_a_stop_for_a_while() -> None:
    """Quasi-static: x = max(sin ωt, −½) within corrections of order m ω²/k; coefficients by quadrature."""
    stop = Contact("stop", normal=[1.0], gap=0.5)
    load = Harmonic([1e4], 2 * np.pi)
    system = LinearSystem(
        [1e-3], stiffness=[1e4], damping=[2.0], force=load, contacts=[stop], coordinates=["x"]
    )
    run = simulate(system, 3.0, Moreau(1e-4))
    found = run.harmonics("x", 1.0, count=4)
    start = Harmonic([1.0], 2 * np.pi)

    def clipped(t: float) -> float:
        return max(float(start.value(t)[0]), -0.5)

    for k in range(1, 5):
        real, imaginary = (
            2
            * quad(
                lambda t, f=f, k=k: clipped(t) * f(2 * np.pi * k * t),
                0,
                1,
                limit=200,
                points=[0.25, 0.5, 0.75],
            )[0]
            for f in (np.cos, np.sin)
        )
        assert found.complex[k] == pytest.approx(real - 1j * imaginary, abs=3e-3)
    assert found.distortion > 0.1
    moved = run.position[-10_000:, 0]
    left = np.std(found.at(run.time[-10_000:]) - moved) / np.std(moved)
    assert found.rest == pytest.approx(left, rel=1e-2)
    values = run.harmonics(2.0 * run.position[:, 0], 1.0, count=4)
    assert values.amplitude == pytest.approx(2.0 * found.amplitude, rel=1e-4, abs=1e-6)


def test_a_motion_that_does_not_repeat_is_called_so() -> None:
    run = simulate(LinearSystem([1.0], velocity=[1.0], coordinates=["x"]), 2.0, Moreau(1e-2))
    found = run.harmonics("x", 1.0)
    assert found.unrest == pytest.approx(1.0, abs=0.05)
    assert "does not repeat" in str(found)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("z", 1.7), {}, "it must be a coordinate or a contact of the run: 'x', 'y'"),
        (("x", 0.0), {}, "frequency is 0.0"),
        (("x", 1.7), {"count": 0}, "whole numbers from 1 on"),
        (("x", 0.01), {}, "shorter than 1 periods"),
        (("x", 1.7), {"quantity": "gap"}, "quantity is 'gap'"),
        (([1.0, 2.0, 3.0], 1.7), {}, r"output has shape \(3,\)"),
    ],
)
def test_what_has_no_harmonics_is_refused(arguments, options, words) -> None:
    run = simulate(chain(), 1.0, Moreau(1e-2))
    with pytest.raises(ResultsError, match=words):
        run.harmonics(*arguments, **options)
