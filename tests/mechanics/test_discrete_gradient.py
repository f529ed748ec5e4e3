"""Discrete gradients: exact differences, their derivative, and what they become without a change."""

import numpy as np
import pytest

from klapper.mechanics.discrete_gradient import discrete_gradient, discrete_gradient_slope


def value(x):
    return np.sin(x[..., 0]) * x[..., 1] ** 3 + np.exp(x[..., 2] * x[..., 0])


def slope(x):
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    e = np.exp(c * a)
    return np.stack([np.cos(a) * b**3 + c * e, 3 * np.sin(a) * b**2, a * e], axis=-1)


def curvature(x):
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    e = np.exp(c * a)
    rows = [
        [-np.sin(a) * b**3 + c**2 * e, 3 * np.cos(a) * b**2, (1 + a * c) * e],
        [3 * np.cos(a) * b**2, 6 * np.sin(a) * b, 0.0 * a],
        [(1 + a * c) * e, 0.0 * a, a**2 * e],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def between(x0, x1):
    return discrete_gradient(value(x0), value(x1), slope(0.5 * (x0 + x1)), x1 - x0)


POINTS = np.random.default_rng(1).uniform(-1.0, 1.0, (2, 8, 3))


def test_along_a_step_it_gives_the_difference_of_the_function() -> None:
    x0, x1 = POINTS
    found = np.sum(between(x0, x1) * (x1 - x0), axis=-1)
    np.testing.assert_allclose(found, value(x1) - value(x0), atol=1e-14)


def test_its_derivative_is_that_of_differences() -> None:
    x0, x1 = POINTS
    middle = 0.5 * (x0 + x1)
    found = discrete_gradient_slope(
        value(x0), value(x1), slope(middle), slope(x1), curvature(middle), x1 - x0
    )
    for j, unit in enumerate(np.eye(3)):
        difference = (between(x0, x1 + 1e-6 * unit) - between(x0, x1 - 1e-6 * unit)) / 2e-6
        np.testing.assert_allclose(found[..., j], difference, atol=2e-8)


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-7])
def test_near_each_other_it_is_the_gradient(distance: float) -> None:
    x0 = POINTS[0]
    x1 = x0 + distance
    middle = 0.5 * (x0 + x1)
    np.testing.assert_allclose(between(x0, x1), slope(middle), atol=1e-12)
    found = discrete_gradient_slope(
        value(x0), value(x1), slope(middle), slope(x1), curvature(middle), x1 - x0
    )
    np.testing.assert_allclose(found, 0.5 * curvature(middle), atol=1e-12)


def test_it_agrees_with_the_gradient_to_second_order() -> None:
    x, way = POINTS[0], POINTS[1] - POINTS[0]
    errors = [np.abs(between(x - h * way, x + h * way) - slope(x)).max() for h in (0.1, 0.05)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
