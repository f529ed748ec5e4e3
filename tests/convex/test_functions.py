"""Convex functions against their definitions: conjugates and prox by sampling, gradients by differences."""

import numpy as np
import pytest

from klapper.convex import (
    Ball,
    Dilated,
    Disc,
    Indicator,
    MoreauEnvelope,
    Norm,
    Orthant,
    PowerNorm,
    Quadratic,
    Raised,
    RegularPolygon,
    Shifted,
    SupportFunction,
    Tilted,
    Weighted,
    penalty,
    power_friction,
    saturated_friction,
)

from .catalogue import FUNCTIONS, draw

every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
SMOOTH = {
    name: FUNCTIONS[name]
    for name in (
        "spring",
        "coupled springs",
        "saturated friction",
        "power friction",
        "steep power friction",
        "power",
        "penalty",
        "penalty on cone",
        "shifted",
        "weighted",
    )
}


@every_function
def test_prox_minimises(function):
    points = draw(function.dimension, 20, seed=1, spread=1.5)
    for step in (0.1, 1.0, 7.0):
        nearest = function.prox(points, step)
        cost = function.value(nearest) + np.sum((nearest - points) ** 2, axis=1) / (2.0 * step)
        assert np.all(np.isfinite(cost))
        for other in draw(function.dimension, 60, seed=2, spread=0.3):
            trial = nearest + other
            assert np.all(
                cost <= function.value(trial) + np.sum((trial - points) ** 2, axis=1) / (2.0 * step) + 1e-9
            )


@every_function
def test_subgradients_of_function_and_conjugate_are_inverse(function):
    """(A.91): y ∈ ∂f(x) ⇔ x ∈ ∂f*(y) ⇔ f(x) + f*(y) = yᵀx; the pair comes from the prox."""
    conjugate = function.conjugate()
    points = draw(function.dimension, 40, seed=3, spread=1.5)
    x = function.prox(points)
    y = points - x
    assert np.all(function.in_subdifferential(x, y))
    assert np.all(conjugate.in_subdifferential(y, x))
    work = np.sum(x * y, axis=1)
    assert np.allclose(function.value(x) + conjugate.value(y), work, atol=1e-8)
    wrong = y + draw(function.dimension, 40, seed=4, spread=1.0)
    told = function.in_subdifferential(x, wrong)
    assert np.array_equal(told, conjugate.in_subdifferential(wrong, x))
    gap = function.value(x) + conjugate.value(wrong) - np.sum(x * wrong, axis=1)
    assert np.all(gap[~told] > 0.0) and np.allclose(gap[told], 0.0, atol=1e-8)


@every_function
def test_conjugate_bounds_and_is_attained(function):
    """f*(y) = sup {yᵀx - f(x)} (A.86): never exceeded by samples, and reached at the prox pair above."""
    conjugate = function.conjugate()
    slopes, points = draw(function.dimension, 30, 5, 1.0), draw(function.dimension, 400, 6, 1.5)
    gain = slopes @ points.T - function.value(points)[None]
    assert np.all(gain <= conjugate.value(slopes)[:, None] + 1e-9)


@every_function
def test_biconjugate_is_the_function(function):
    points = draw(function.dimension, 60, seed=7, spread=1.5)
    points = np.vstack([points, function.prox(points)])
    assert np.allclose(function.conjugate().conjugate().value(points), function.value(points))  # (A.89)


@every_function
def test_the_prox_of_a_function_and_of_its_conjugate_add_up_to_the_point(function):
    points = draw(function.dimension, 40, seed=8)
    for step in (0.2, 3.0):
        parts = function.prox(points, step) + step * function.conjugate().prox(points / step, 1.0 / step)
        assert np.allclose(parts, points, atol=1e-9)


@pytest.mark.parametrize("function", SMOOTH.values(), ids=SMOOTH.keys())
def test_gradient_equals_difference_quotient(function):
    points = draw(function.dimension, 30, seed=9, spread=1.0)
    for k in range(function.dimension):
        step = 1e-6 * np.eye(function.dimension)[k]
        quotient = (function.value(points + step) - function.value(points - step)) / 2e-6
        assert np.allclose(function.gradient(points)[:, k], quotient, atol=2e-5)
    assert np.all(function.in_subdifferential(points, function.gradient(points), 1e-8))


def test_the_conjugate_of_the_spring_potential_is_that_of_its_force():
    for stiffness in (0.5, 4.0, 1e7):
        forces = draw(1, 20, seed=10)
        expected = forces[:, 0] ** 2 / (2.0 * stiffness)  # (A.92)
        assert np.allclose(Quadratic([[stiffness]]).conjugate().value(forces), expected, rtol=1e-13)


def test_support_function_of_the_ball_is_a_norm():
    points = draw(3, 30, seed=11)
    assert np.allclose(Indicator(Ball(1.7)).conjugate().value(points), Norm(1.7, 3).value(points))  # (A.87)


def test_tilts_shifts_and_weights_have_the_printed_conjugates():
    """(A.90), each against the right-hand side written out."""
    f, w, alpha = Quadratic([[3.0, 1.0], [1.0, 2.0]]), np.array([0.3, -0.8]), 2.5
    star, y = f.conjugate(), draw(2, 30, seed=12)
    assert np.allclose(Tilted(f, w).conjugate().value(y), star.value(y + w))
    assert np.allclose(Shifted(f, w).conjugate().value(y), star.value(y) - y @ w)
    assert np.allclose(Raised(f, alpha).conjugate().value(y), star.value(y) - alpha)
    assert np.allclose(Weighted(f, alpha).conjugate().value(y), alpha * star.value(y / alpha))
    assert np.allclose(Dilated(f, alpha).conjugate().value(y), alpha * star.value(y))


def test_saturated_friction_is_the_printed_function():
    """Ex. 2.4: α|v|² below 1/(2α), |v| - 1/(4α) beyond."""
    limit, alpha = 1.5, 4.0
    velocities = draw(2, 300, seed=13, spread=0.2)
    speed = np.linalg.norm(velocities, axis=1)
    printed = np.where(speed < 1.0 / (2.0 * alpha), alpha * speed**2, speed - 1.0 / (4.0 * alpha))
    assert np.any(speed < 1.0 / (2.0 * alpha)) and np.any(speed > 1.0 / (2.0 * alpha))
    assert np.allclose(saturated_friction(limit, alpha).value(velocities), limit * printed, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 20.0, 1e4])
def test_saturated_friction_is_continuously_differentiable(alpha):
    """At |v| = 1/(2α): value 1/(4α) and slope 1 from both sides, and never further than 1/(4α) from |v|."""
    f, edge = saturated_friction(1.0, alpha, dimension=1), 1.0 / (2.0 * alpha)
    below, above = [edge * (1.0 - 1e-9)], [edge * (1.0 + 1e-9)]
    assert f.value([edge]) == pytest.approx(1.0 / (4.0 * alpha), rel=1e-12)
    assert f.value(below) == pytest.approx(f.value(above), rel=1e-8)
    assert f.gradient(below)[0] == pytest.approx(1.0, rel=1e-8)
    assert f.gradient(above)[0] == pytest.approx(1.0, rel=1e-12)
    speeds = np.linspace(-3.0, 3.0, 301)[:, None]
    assert np.all(np.abs(f.value(speeds) - np.abs(speeds[:, 0])) <= 1.0 / (4.0 * alpha) * (1.0 + 1e-9))


@pytest.mark.parametrize("regularise", [saturated_friction, power_friction])
def test_regularised_friction_tends_to_coulomb(regularise):
    """Force → μF_N against the sliding direction as α → ∞, for any speed but zero."""
    limit = 2.4
    for velocity in ([0.6, 0.8], [0.03, -0.04]):
        exact = -limit * np.array(velocity) / np.linalg.norm(velocity)
        errors = [
            np.linalg.norm(-regularise(limit, alpha).gradient(velocity) - exact)
            for alpha in (1.0, 1e2, 1e4, 1e6)
        ]
        assert errors[-1] < 1e-5
        assert np.all(np.diff(errors) <= 1e-15)


def test_power_friction_is_the_printed_function():
    """Ex. 2.4 second form and (4.78), (4.79)."""
    velocities = draw(2, 50, seed=14, spread=1.0)
    square = np.sum(velocities**2, axis=1)
    for alpha in (0.7, 3.0, 25.0):
        f = power_friction(1.8, alpha)
        assert np.allclose(
            f.value(velocities), 1.8 / (1.0 + 1.0 / alpha) * square ** (0.5 * (1.0 + 1.0 / alpha))
        )
        printed = 1.8 * square[:, None] ** (0.5 * (1.0 / alpha - 1.0)) * velocities
        assert np.allclose(f.gradient(velocities), printed)


def test_power_friction_with_a_reference_speed_carries_the_units():
    """The same law in m/s and in mm/s."""
    metres = power_friction(1.8, 5.0, reference_speed=0.01)
    millimetres = power_friction(1.8, 5.0, reference_speed=10.0)
    assert np.allclose(metres.gradient([0.003, 0.004]), millimetres.gradient([3.0, 4.0]), rtol=1e-13)
    assert np.linalg.norm(metres.gradient([0.0, 0.01])) == pytest.approx(1.8, rel=1e-13)


def test_penalty_is_a_spring_on_the_penetration():
    """Ex. 2.5, (4.76), (4.77): α/2 min(g, 0)², force -α min(g, 0)."""
    gaps = draw(3, 50, seed=15, spread=1.0)
    wall = penalty(Orthant(3), 40.0)
    assert np.allclose(wall.value(gaps), 20.0 * np.sum(np.minimum(gaps, 0.0) ** 2, axis=1))
    assert np.allclose(-wall.gradient(gaps), -40.0 * np.minimum(gaps, 0.0))


def test_penalty_tends_to_the_indicator():
    gap = [-0.1]
    assert penalty(Orthant(1), 1e3).value(gap) < penalty(Orthant(1), 1e6).value(gap)
    assert penalty(Orthant(1), 1e6).value([0.1]) == 0.0


def test_envelope_of_a_polygon_keeps_its_corners_as_limit():
    """Regularised polygonal friction saturates at a vertex force."""
    f = MoreauEnvelope(SupportFunction(RegularPolygon(2.0, 4)), width=1e-3)
    assert np.allclose(f.gradient([1.0, 0.2]), [2.0, 0.0], atol=1e-12)


def test_the_prox_of_a_steep_power_holds_at_the_ends_of_its_range():
    f = PowerNorm(1.0, 1.01)
    for length in (0.5, 1.0, 1.5, 1e6):
        x = f.prox([length, 0.0])
        assert np.linalg.norm(x + f.gradient(x) - [length, 0.0]) <= 1e-9 * max(length, 1.0)
    assert f.prox([0.0, 0.0]).tolist() == [0.0, 0.0]


def test_indicator_has_no_gradient():
    with pytest.raises(NotImplementedError, match="not differentiable everywhere; use in_subdifferential"):
        Indicator(Disc(1.0)).gradient([0.0, 0.0])
