"""Penetration statistics of motions whose gaps are known."""

import numpy as np
import pytest

from klapper.mechanics import Contact, FrictionElement, LinearSystem
from klapper.mechanics.compliance import CompliantNormal
from klapper.results.penetration import penetration_statistics
from klapper.schemes.regularised import Regularised
from klapper.simulation import simulate


def test_a_mass_that_oscillates_on_its_contact_penetrates_by_twice_its_weight_over_stiffness():
    """Dropped from zero onto a spring without damping: g = −(mg/c)(1 − cos ωt), always inside."""
    mass = LinearSystem(
        [1.0],
        force=[-10.0],
        contacts=[Contact("floor", normal=[1.0]), FrictionElement("guide", tangents=[1.0], limit=1e-9)],
    )
    run = simulate(
        mass, 2.0 * np.pi / 10.0 * 2.5, Regularised(CompliantNormal(100.0), tolerance=1e-10), progress=False
    )
    floor = penetration_statistics(run)["floor"]
    assert floor.deepest == pytest.approx(0.2, rel=1e-5)
    t = np.linspace(0.0, 2.5 * 2.0 * np.pi, 100001)
    assert floor.mean == pytest.approx(0.1 * np.mean(1.0 - np.cos(t)), rel=1e-3)
    assert floor.share == pytest.approx(1.0, rel=1e-3)
    statistics = penetration_statistics(run)
    assert [contact.name for contact in statistics.contacts] == ["floor"]
    assert "closings" in str(statistics)
    with pytest.raises(KeyError, match="wall"):
        statistics["wall"]


def test_a_run_without_contact_has_no_penetration():
    mass = LinearSystem([1.0], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    run = simulate(mass, 1.0, Regularised(CompliantNormal(100.0)), progress=False)
    floor = penetration_statistics(run)["floor"]
    assert (floor.deepest, floor.mean, floor.share, floor.closings) == (0.0, 0.0, 0.0, 0)
