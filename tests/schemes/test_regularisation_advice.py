"""The advice is kept by the motion that follows it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.mechanics import Contact, InvalidModel, LinearSystem
from klapper.mechanics.compliance import restitution
from klapper.results.penetration import penetration_statistics
from klapper.schemes.regularisation_advice import damping_ratio, propose_regularisation
from klapper.simulation import simulate

GRAVITY = 9.81


@settings(max_examples=40)
@given(st.floats(0.0, 5.0))
def test_the_damping_ratio_inverts_the_restitution(ratio):
    assert restitution(damping_ratio(restitution(ratio))) == pytest.approx(restitution(ratio), rel=1e-9)


@pytest.mark.parametrize("wished", [0.3, 0.8])
def test_a_dropped_mass_keeps_penetration_and_rebound(wished):
    drop = LinearSystem(
        [2.0],
        force=[-2.0 * GRAVITY],
        position=[0.1],
        contacts=[Contact("floor", normal=[1.0], restitution=wished)],
    )
    advice = propose_regularisation(drop, penetration=1e-4)
    speed = np.sqrt(2.0 * GRAVITY * 0.1)
    assert advice.speed == pytest.approx(speed, rel=1e-12)
    run = simulate(drop, 0.16, advice.scheme(), progress=False)
    assert 0.3e-4 < penetration_statistics(run).deepest < 1e-4
    assert run.velocity.max() / speed == pytest.approx(wished, abs=advice.restitution_error)
    assert advice.restitution_error < 0.01


def test_a_block_on_a_slope_keeps_penetration_and_creep():
    slope = LinearSystem(
        [1.0, 1.0],
        force=[0.2 * GRAVITY, -GRAVITY],
        contacts=[Contact("slope", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.4)],
    )
    advice = propose_regularisation(slope, penetration=1e-4, creep=1e-4, restitution=0.1)
    run = simulate(slope, 0.3, advice.scheme(tolerance=1e-6), progress=False)
    assert -run.gap[-1, 0] == pytest.approx(1e-4, rel=1e-3)
    assert run.velocity[-1, 0] == pytest.approx(0.5e-4, rel=1e-3)
    assert advice.penetration == pytest.approx(1e-4)
    assert advice.method == "radau"  # the friction is a hundred times stiffer than the contact
    text = str(advice)
    for said in ("stiffness", "creep up to", "explicit step at most", "per second in contact"):
        assert said in text


def test_explicit_steps_are_no_longer_than_the_limit_says():
    """At rest in contact an explicit method is held by stability alone."""
    resting = LinearSystem(
        [1.0], force=[-GRAVITY], position=[0.0], contacts=[Contact("floor", normal=[1.0], restitution=0.3)]
    )
    advice = propose_regularisation(resting, penetration=1e-6)
    run = simulate(resting, 0.2, advice.scheme(method="rk45", tolerance=1e-4, absolute=1e-9), progress=False)
    at_rest = np.diff(run.time[run.time > 0.1])
    assert np.median(at_rest) == pytest.approx(advice.step_limit, rel=0.5)


def test_nothing_to_regularise_is_refused():
    free = LinearSystem([1.0])
    with pytest.raises(InvalidModel, match="no contact"):
        propose_regularisation(free)
    floating = LinearSystem([1.0], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    with pytest.raises(InvalidModel, match="give load"):
        propose_regularisation(floating)
    assert propose_regularisation(floating, load=10.0).normal.stiffness == pytest.approx(1e7)
