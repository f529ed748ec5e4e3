"""The watch over a drifting contact iteration: when it goes without momentum, how far it leaps, how it begins again."""

import numpy as np
import pytest

from klapper.schemes.kernels.rigid_drift import drifts, follow, new_watch
from klapper.schemes.kernels.rigid_momentum import new_momentum
from klapper.schemes.kernels.rigid_tables import CONTACT_COLUMNS, FRICTION, OWN


def one_contact(friction):
    contact = np.zeros((1, CONTACT_COLUMNS))
    contact[0, [OWN, OWN + 3, OWN + 5]], contact[0, FRICTION] = 1.0, friction
    return contact


def drifting(watch, last, step, impulse, sweeps=1000):
    """A sweep of one contact whose step was ``last`` before: the leap, and the direction that is remembered."""
    momentum = new_momentum(1, 1)
    momentum.direction[0], momentum.step[0] = last, step
    leap = follow(watch, momentum, one_contact(0.5), np.array([impulse]), 1, sweeps)
    return leap, momentum.direction[0]


def quiet_watch():
    """After 200 sweeps in which the step has not halved, the iteration goes on without momentum."""
    watch = new_watch()
    assert not drifts(watch, 1.0, 1)
    assert not drifts(watch, 1.0, 200)
    assert drifts(watch, 1.0, 201)
    return watch


def test_a_step_that_halves_is_progress():
    watch = new_watch()
    assert not drifts(watch, 1.0, 1)
    assert not drifts(watch, 0.2, 200)
    assert not drifts(watch, 0.2, 399)
    assert drifts(watch, 0.2, 400)


def test_a_steady_drift_leaps_to_where_the_contact_opens():
    """λ_N = 2 falls by 1e-3 in every sweep: zero after 2000 of them."""
    step = np.array([-1e-3, 0.0, 0.0])
    leap, _ = drifting(quiet_watch(), step, step, [2.0, 0.0, 0.0])
    assert leap == pytest.approx(2000.0, rel=1e-6)


def test_a_steady_drift_leaps_to_where_the_contact_slips():
    """|λ_T| = 0.4 grows by 1e-3 up to μ λ_N = 1: after 600 sweeps."""
    step = np.array([0.0, 1e-3, 0.0])
    leap, _ = drifting(quiet_watch(), step, step, [2.0, 0.4, 0.0])
    assert leap == pytest.approx(600.0, rel=1e-6)


def test_an_unsteady_step_does_not_leap_but_is_remembered():
    step = np.array([-1e-3, 0.0, 0.0])
    leap, remembered = drifting(quiet_watch(), 0.5 * step, step, [2.0, 0.0, 0.0])
    assert leap == 0.0
    assert remembered.tolist() == step.tolist()


def test_a_drift_that_never_becomes_steady_is_given_up_and_momentum_begins_from_zero():
    watch, step = quiet_watch(), np.array([-1e-3, 0.0, 0.0])
    for sweeps in range(400):
        leap, remembered = drifting(watch, 0.5 * step, step, [2.0, 0.0, 0.0], sweeps)
        assert leap == 0.0
        if not remembered.any():
            break
    assert sweeps < 399
    assert not drifts(watch, 1.0, sweeps + 1)
