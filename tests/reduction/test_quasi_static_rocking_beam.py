"""Waltersberger Ex. 5.8: the rocking beam of Ex. 5.7 with high modes that follow statically."""

import numpy as np
import pytest

from klapper.reduction import modal, quasi_static
from klapper.schemes import Moreau
from klapper.simulation import simulate
from klapper.structures import Beam, LineContact, Material, Section

STEEL = Material(young=210e9, density=7500.0, shear=81e9)
SECTION = Section(area=0.02**2, second_moment=0.01**4 / 12, shear_area=0.02**2 / 1.2)
BEAM = (
    Beam(1.0, STEEL, SECTION, elements=40, degree=3)
    .with_gravity(9.81)
    .with_rayleigh(mass=0.01, stiffness=1e-4)
)
ROWS = BEAM.rows([0.4, 0.6])
UNTIL, TIMES = 0.25, np.linspace(0.0, 0.25, 2501)


@pytest.fixture(scope="module")
def beam():
    contacts = LineContact(BEAM.line(), 0.4, 0.6, count=25).contacts
    return BEAM.system(contacts, position=BEAM.position(lambda x: 0.05 * (x - 0.4)), name="rocking beam")


@pytest.fixture(scope="module")
def reference(beam):
    return motion(modal(beam, 15), 2e-5)


def motion(reduced, step):
    """Deflections (k, 2) [m] at A and B over the first rock."""
    level = "velocity" if reduced.system.compliance is None else "position"
    run = simulate(reduced.system, UNTIL, Moreau(step, theta=1.0, level=level), progress=False)
    if level == "position":
        assert reduced.gaps(run).min() >= -1e-12
    return reduced.output(run, ROWS, TIMES)


def error(path, reference):
    """Root mean square over time of the distance of (w_A, w_B) [mm]."""
    return 1e3 * np.sqrt(np.mean(np.sum((path - reference) ** 2, axis=1)))


def test_four_quasi_static_degrees_of_freedom_beat_six_modes(beam, reference):
    """Claim of Ex. 5.8, and the values that an independent program found for h = 1e-4 s, to their spread of 10 %."""
    found = {
        f"{name} {count}": error(motion(reduce(beam, count), 1e-4), reference)
        for name, reduce, count in (
            ("quasi-static", quasi_static, 3),
            ("quasi-static", quasi_static, 4),
            ("modal", modal, 3),
            ("modal", modal, 6),
        )
    }
    assert found["quasi-static 4"] < found["modal 6"]
    published = {"quasi-static 3": 0.89, "quasi-static 4": 0.089, "modal 3": 0.40, "modal 6": 0.17}
    for name, value in published.items():
        assert found[name] == pytest.approx(value, rel=0.1), name


def test_the_loss_at_impacts_depends_on_the_step(beam, reference):
    """The static modes are a spring without loss: the step decides, and 4 modes beat 6 at 4e-4 s too."""
    coarse = error(motion(quasi_static(beam, 4), 4e-4), reference)
    assert coarse == pytest.approx(0.278, rel=0.1)
    assert coarse < error(motion(modal(beam, 6), 4e-4), reference)
    three = error(motion(quasi_static(beam, 3), 4e-4), reference)
    assert three == pytest.approx(0.385, rel=0.1)
    assert three < error(motion(modal(beam, 3), 4e-4), reference)


def test_a_free_beam_keeps_its_rigid_modes(beam):
    reduced = quasi_static(beam, 4)
    assert reduced.system.coordinates == ("rigid 1", "rigid 2", "mode 1", "mode 2")
    assert np.linalg.eigvalsh(reduced.system.compliance).min() > -1e-20
    np.testing.assert_allclose(reduced.error.contact, 0.0, atol=1e-8)
