"""One step of an ordinary differential equation: which size it tries first, where it ends, how accurate it is."""

import numpy as np
import pytest

from klapper.schemes.smooth_step import METHODS, smooth_step


def decay(method, **options):
    given = {"until": 1.0, "size": None, "relative": 1e-9, "absolute": 1e-12} | options
    return smooth_step(method, lambda t, y: -y, 0.0, np.ones(1), **given)


@pytest.mark.parametrize("method", METHODS)
def test_a_size_that_meets_the_tolerances_is_taken_as_it_is_given(method):
    assert decay(method, size=3e-4).end == pytest.approx(3e-4, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [None, 0.0, -1.0])
def test_without_a_size_one_is_chosen(method, size):
    step = decay(method, size=size)
    assert 0.0 < step.end <= 1.0
    assert step.after[0] == pytest.approx(np.exp(-step.end), rel=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_step_does_not_go_past_its_end(method):
    step = decay(method, until=2e-4, size=5.0)
    assert step.end == 2e-4
    assert step.dense(np.array([0.0, 1e-4, 2e-4]))[:, 0] == pytest.approx(
        np.exp([0.0, -1e-4, -2e-4]), rel=1e-9
    )
