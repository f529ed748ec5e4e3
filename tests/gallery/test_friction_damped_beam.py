"""The friction-damped beam: natural frequencies of the continuous beam, similarity of responses, refusals."""

from math import cosh, pi, sinh

import numpy as np
import pytest
from scipy.optimize import brentq

from klapper.analysis import harmonic_response
from klapper.gallery import find
from klapper.gallery._friction_damped_beam import DENSITY, YOUNG, DampedBeam
from klapper.gallery.parameter import ParameterError

SHIPPED = {
    "length": 0.5,
    "thickness": 0.008,
    "width": 0.03,
    "modes": 6,
    "ratio": 0.005,
    "place": 0.6,
    "stiffness": 2e4,
    "slider": 2e-4,
    "limit": 5.0,
}


def model(**changed: float) -> DampedBeam:
    return DampedBeam(**(SHIPPED | changed))


def cantilever(count: int) -> tuple[np.ndarray, np.ndarray]:
    """ω (count,) [rad/s] of the Euler–Bernoulli cantilever and its modes at the damper, normalised by mass."""
    length, thickness, width = 0.5, 0.008, 0.03
    rigid, line = YOUNG * width * thickness**3 / 12, DENSITY * width * thickness
    omega, shapes = [], []
    for n in range(count):
        around = (n + 0.5) * pi
        root = brentq(lambda a: np.cos(a) + 1.0 / cosh(a), around - 0.6, around + 0.6, xtol=1e-13)
        share = (sinh(root) - np.sin(root)) / (cosh(root) + np.cos(root))
        x = 0.6 * root
        shapes.append((cosh(x) - np.cos(x) - share * (sinh(x) - np.sin(x))) / np.sqrt(line * length))
        omega.append((root / length) ** 2 * np.sqrt(rigid / line))
    return np.array(omega), np.array(shapes)


def test_frequencies_are_those_of_the_continuous_beam() -> None:
    """With the slider held: 1/k + Σ φ² / (ω_j² − ω²) = 0. Shear and rotary inertia lower them by less than 0.2 %."""
    omega, shapes = cantilever(8)
    assert model().frequency(stuck=False) == pytest.approx(omega[0] / (2 * pi), rel=2e-3)
    held = brentq(
        lambda w: 1.0 / 2e4 + (shapes**2 / (omega**2 - w**2)).sum(), 1.001 * omega[0], 0.5 * omega[1]
    )
    assert model().frequency(stuck=True) == pytest.approx(held / (2 * pi), rel=2e-3)


def test_response_depends_on_force_over_limit_only() -> None:
    """Twice the force and twice the limit: twice the motion. And a stiffer law of the same kind is another one."""
    beam, twice = model(), model(limit=10.0)
    one = harmonic_response(beam.system(1.6, 30.5), harmonics=7)
    two = harmonic_response(twice.system(3.2, 30.5), harmonics=7)
    assert two.amplitudes == pytest.approx(2.0 * one.amplitudes, rel=1e-9, abs=1e-12)
    other = harmonic_response(beam.system(3.2, 30.5), harmonics=7)
    assert other.amplitude(beam.tip) < 1.9 * one.amplitude(beam.tip)


@pytest.mark.parametrize(("stuck", "force", "hertz"), [(True, 1e-3, 33.0), (False, 2e4, 24.0)])
def test_limits_are_the_linear_beams(stuck: bool, force: float, hertz: float) -> None:
    beam = model(modes=12)
    found = harmonic_response(beam.system(force, hertz), harmonics=3).amplitude(beam.tip) / force
    assert found == pytest.approx(beam.linear(np.array([hertz]), stuck=stuck)[0], rel=3e-3)


def test_checks_hold_for_other_parameters() -> None:
    outcome = find("friction-damped-beam").run(
        forces=(1.0, 3.0), harmonics=5, modes=3, place=0.8, stiffness=8e3, limit=3.0
    )
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    assert outcome.numbers["best_force"] in (1.0, 3.0)


@pytest.mark.parametrize("forces", [(1.0,), (2.0, 1.0)])
def test_forces_out_of_order_are_refused(forces: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="rising order"):
        find("friction-damped-beam").run(forces=forces)
