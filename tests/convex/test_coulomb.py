"""The seven forms of Coulomb's law hold together or fail together (Waltersberger Definition 3.3)."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.convex import CoulombLaw

FORMS = [
    "case_distinction",
    "variational_inequality",
    "subgradient",
    "reflected_subgradient",
    "normal_cone",
    "least_power",
    "maximum_dissipation",
]


def answers(law, force, velocity):
    return {form: law.holds(force, velocity, form=form) for form in FORMS}


def test_the_law_has_seven_forms():
    assert list(CoulombLaw(1.0).residuals([0.0], [0.0])) == FORMS


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_random_pairs_all_agree(dimension):
    rng = np.random.default_rng(0)
    outcomes = []
    for _ in range(400):
        limit = rng.choice([0.0, 0.2, 3.0, 5e4])
        force = rng.normal(size=dimension) * rng.choice([0.0, limit, 2.0])
        velocity = rng.normal(size=dimension) * rng.choice([0.0, 1e-5, 1.0, 40.0])
        told = answers(CoulombLaw(limit), force, velocity)
        assert len(set(told.values())) == 1, (limit, force, velocity, told)
        outcomes.append(told["normal_cone"])
    assert 20 < sum(outcomes) < 380


@settings(max_examples=80)
@given(st.floats(1e-6, 1e6), st.floats(0.0, 6.3), st.floats(1e-9, 1e3))
def test_sliding_pairs_fulfil_all(limit, angle, speed):
    direction = np.array([np.cos(angle), np.sin(angle)])
    told = answers(CoulombLaw(limit), -limit * direction, speed * direction)
    assert all(told.values()), told


@settings(max_examples=80)
@given(st.floats(1e-6, 1e6), st.floats(0.0, 6.3), st.floats(0.0, 1.0))
def test_sticking_pairs_fulfil_all(limit, angle, share):
    force = share * limit * np.array([np.cos(angle), np.sin(angle)])
    told = answers(CoulombLaw(limit), force, np.zeros(2))
    assert all(told.values()), told


@pytest.mark.parametrize(
    ("force", "velocity"),
    [
        ([-3.0, 0.01], [1.0, 0.0]),  # not opposite
        ([3.0, 0.0], [1.0, 0.0]),  # drives instead of brakes
        ([-2.99, 0.0], [1.0, 0.0]),  # below the limit though sliding
        ([-3.01, 0.0], [1.0, 0.0]),  # above the limit
        ([3.01, 0.0], [0.0, 0.0]),  # sticks above the limit
        ([0.0, 0.0], [0.0, 1.0]),  # slides without friction
    ],
)
def test_broken_pairs_fail_all(force, velocity):
    assert not any(answers(CoulombLaw(3.0), force, velocity).values())


def test_residuals_measure_the_error():
    """A force turned by the angle δ is reported with a residual of the order δ by every form."""
    for delta in (1e-2, 1e-4):
        force = [-np.cos(delta), np.sin(delta)]
        values = np.array(list(CoulombLaw(1.0).residuals(force, [2.0, 0.0]).values()))
        assert np.all(values > 0.2 * delta) and np.all(values < 3.0 * delta)


def test_unloaded_contact_carries_no_friction():
    law = CoulombLaw(0.0)
    assert all(answers(law, [0.0, 0.0], [1.0, 2.0]).values())
    assert not any(answers(law, [1e-3, 0.0], [1.0, 2.0]).values())


def test_sticking_speed_ignores_residual_slip():
    assert not CoulombLaw(3.0).holds([1.0, 0.0], [1e-12, 0.0])
    assert CoulombLaw(3.0, sticking_speed=1e-10).holds([1.0, 0.0], [1e-12, 0.0])
