"""Models that the tests of periodic motions share, with what is known about them."""

import numpy as np

from klapper.gallery._single_impact import Oscillator
from klapper.mechanics import Contact, FunctionSystem, Harmonic, LinearSystem


def impact_oscillator(frequency=1.5, gap=0.5, restitution=0.9, damping=0.02):
    return Oscillator(frequency, gap, restitution, damping, 1.0, 1.0, 1.0)


def single(oscillator):
    """The motion with one impact per period, in closed form."""
    return next(motion for motion in oscillator.single_impacts if motion.possible)


def driven_slider(frequency, limit):
    """A mass on a spring with Coulomb friction, driven by cos ωt; ω₀ = F = 1."""
    ground = Contact("ground", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=limit)
    return LinearSystem(
        [1.0, 1.0],
        stiffness=[1.0, 0.0],
        force=Harmonic([1.0, 0.0], frequency) + np.array([0.0, -1.0]),
        contacts=[ground],
        name="driven slider",
    )


def den_hartog_amplitude(frequency, limit):
    """Largest displacement where the slider never rests, Den Hartog (1931)."""
    response = 1.0 / (1.0 - frequency**2)
    damping = np.sin(np.pi / frequency) / (1.0 + np.cos(np.pi / frequency)) / frequency
    return np.sqrt(response**2 - (limit * damping) ** 2)


def van_der_pol():
    """ẍ − (1 − x²) ẋ + x = 0."""
    return FunctionSystem(
        [2.0], [0.0], mass=[[1.0]], force=lambda t, q, v: np.array([(1.0 - q[0] ** 2) * v[0] - q[0]])
    )
