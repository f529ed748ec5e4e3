"""Waltersberger Ex. 5.7: a free beam rocks on a stop; modal reduction by hand, contact at 25 points."""

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate
from klapper.structures import Beam, LineContact, Material, Section

STEEL = Material(young=210e9, density=7500.0, shear=81e9)
SECTION = Section(area=0.02**2, second_moment=0.01**4 / 12, shear_area=0.02**2 / 1.2)
BEAM = Beam(1.0, STEEL, SECTION, elements=40, degree=3).with_gravity(9.81)
TILTED = BEAM.position(lambda x: 0.05 * (x - 0.4))


def rocking(modes: int, points: int, step: float, until: float):  # type: ignore[no-untyped-def]
    """Times and deflections at A (0.4 m) and B (0.6 m)."""
    basis = BEAM.modes(modes)
    v, squares = basis.shapes, basis.angular_frequencies**2
    line = LineContact(BEAM.line(), 0.4, 0.6, count=points)
    contacts = [Contact(c.name, normal=v.T @ c.normal) for c in line.contacts if isinstance(c, Contact)]
    system = LinearSystem(
        np.eye(modes),
        stiffness=squares,
        damping=0.01 + 1e-4 * squares,
        force=v.T @ BEAM.load.value(0.0),
        contacts=contacts,
        position=v.T @ (BEAM.mass @ TILTED),
    )
    run = simulate(system, until, Moreau(step, theta=1.0), progress=False)
    ends = BEAM.rows([0.4, 0.6]) @ v
    return run.time, run.position @ ends.T


@pytest.mark.parametrize(("modes", "height"), [(3, 6.95), (6, 7.22), (10, 7.32), (15, 7.37)])
def test_the_end_a_rises_to_the_printed_heights(modes: int, height: float) -> None:
    time, w = rocking(modes, points=25, step=2e-5, until=0.25)
    touch = time[np.argmax(w[:, 1] <= 1e-6)]
    assert touch == pytest.approx(0.0975, abs=5e-4)
    assert 1e3 * w[time > touch, 0].max() == pytest.approx(height, abs=0.005)  # printed digits
    assert w.min() > -5e-6  # penetration of the velocity level, h v


def test_two_modes_rock_like_a_rigid_bar() -> None:
    """Two modes, contact at A and B only: ω⁺/ω⁻ = (L²/12 − d²)/(L²/12 + d²), heights fall by its square."""
    d, inertia = 0.1, 1 / 12
    ratio = (inertia - d**2) / (inertia + d**2)
    time, w = rocking(2, points=2, step=5e-6, until=0.31)
    touch = time[np.argmax(w[:, 1] <= 1e-7)]
    angle, acceleration = 0.01 / 0.2, 9.81 * d / (inertia + d**2)
    assert touch == pytest.approx(np.sqrt(2 * angle / acceleration), rel=2e-3)
    first = 1e3 * w[time > touch, 0].max()
    assert first == pytest.approx(10 * ratio**2, rel=2e-3)
