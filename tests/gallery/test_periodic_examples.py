"""Periodic motions in the gallery, with other parameters than the shipped ones."""

import numpy as np
import pytest

from klapper.gallery._belt_oscillator import Belt
from klapper.gallery._stick_slip_cycle import Drag
from klapper.gallery.example import ParameterError
from klapper.gallery.impact_oscillator import impact_oscillator
from klapper.gallery.stick_slip_cycle import stick_slip_cycle


def failed(outcome):
    return [str(check) for check in outcome.checks if not check.passed]


def test_a_stop_at_the_rest_position_doubles_the_period_once():
    # classical period doubling: Shaw and Holmes (1983) have the stop where the spring is relaxed
    outcome = impact_oscillator(
        angular_frequency=2.4,
        gap=0.0,
        restitution=0.8,
        damping=0.05,
        angular_frequencies=(2.35, 2.7),
        simulated=0,
    )
    assert failed(outcome) == []
    assert outcome.numbers["period_ratio"] == pytest.approx(1.0)
    assert len(outcome.numbers["period_doublings"]) == 1
    assert outcome.numbers["stable"]


def test_units_do_not_matter():
    # ten times the frequency, a thousand times the mass, lengths in the same proportion to F/k
    one = impact_oscillator(angular_frequency=1.5, angular_frequencies=(1.4, 1.6), simulated=0).numbers
    other = impact_oscillator(
        angular_frequency=15.0,
        mass=1e3,
        stiffness=1e5,
        force=1e2,
        gap=0.5e-3,
        angular_frequencies=(14.0, 16.0),
        simulated=0,
    ).numbers
    np.testing.assert_allclose(other["multipliers"], one["multipliers"], atol=1e-8)
    assert other["impact_velocity"] == pytest.approx(one["impact_velocity"] * 1e-2, rel=1e-8)


def test_a_motion_without_impacts_has_no_impact_velocity():
    outcome = impact_oscillator(angular_frequency=2.1, angular_frequencies=(2.0, 2.1), simulated=0)
    assert failed(outcome) == []
    assert outcome.numbers["impact_velocity"] == 0.0


def test_impact_oscillator_refuses_a_range_without_width():
    with pytest.raises(ParameterError, match="the first must be below the second"):
        impact_oscillator(angular_frequencies=(2.0, 1.0))


def test_belts_without_stick_slip_are_refused():
    with pytest.raises(ParameterError, match="too fast"):
        stick_slip_cycle(belt_speed=0.6)
    with pytest.raises(ParameterError, match="must fall"):
        stick_slip_cycle(mu_dynamic=0.5)
    with pytest.raises(ParameterError, match="fastest must be above"):
        stick_slip_cycle(fastest=0.4)


def test_friction_that_falls_at_once_has_the_closed_form():
    # without damper the cycle has a closed form for v_s → 0, as in belt-oscillator
    sharp = Belt(1.0, 1.0, 10.0, 0.4, 0.2, 1e6, 0.5).sharp
    drag = Drag(1.0, 1.0, 1e-12, 10.0, 0.4, 0.2, 1e-6, 0.5)
    assert drag.period == pytest.approx(sharp.period, rel=1e-4)
    assert drag.slip[0] == pytest.approx(sharp.slip, rel=1e-4)
