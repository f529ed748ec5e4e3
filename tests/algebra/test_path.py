"""Pseudo-arclength continuation, on curves that are known."""

import numpy as np
import pytest

from klapper.algebra import NoCurve, StepRefused, follow_curve


def circle(x):
    return np.array([x @ x - 1.0]), 2.0 * x[None]


def cubic(x):
    """u³ − u + p = 0: folds at u = ±1/√3, p = ±2/(3√3)."""
    u, p = x
    return np.array([u**3 - u + p]), np.array([[3 * u**2 - 1.0, 1.0]])


def pitchfork(x):
    """u (p − u²) + w = 0, w = 0: the trivial branch is crossed by p = u² at the origin."""
    u, w, p = x
    return np.array([u * (p - u**2) + w, w]), np.array([[p - 3 * u**2, 1.0, u], [0.0, 1.0, 0.0]])


def transcritical(x):
    """u (p − 2 u): the other branch p = 2 u has the tangent (1, 2)."""
    u, p = x
    return np.array([u * (p - 2.0 * u)]), np.array([[p - 4.0 * u, u]])


def test_circle_closes_with_both_folds():
    curve = follow_curve(circle, [-1.0, 0.0], largest=0.2)
    assert curve.end == "closed"
    np.testing.assert_allclose([fold.parameter for fold in curve.named("fold")], [1.0, -1.0], atol=1e-12)
    np.testing.assert_allclose(np.sum(curve.points**2, axis=1), 1.0, atol=1e-10)
    assert curve.places[-1] == pytest.approx(2 * np.pi, rel=5e-3)


def test_the_folds_of_a_cubic_are_where_its_slope_vanishes():
    curve = follow_curve(cubic, [-1.5, 1.875], direction=-1.0, low=-2.0, high=2.0)
    assert curve.end == "low"
    fold = 2.0 / (3.0 * np.sqrt(3.0))
    np.testing.assert_allclose([special.parameter for special in curve.special], [-fold, fold], atol=1e-11)
    assert curve.parameters[-1] == -2.0


def test_the_zero_of_a_monitor_is_located():
    curve = follow_curve(
        cubic, [-1.5, 1.875], direction=-1.0, low=-2.0, high=2.0, monitors={"half": lambda x: x[0] - 0.5}
    )
    (found,) = curve.named("half")
    assert found.point[0] == pytest.approx(0.5, abs=1e-10)
    assert found.parameter == pytest.approx(0.375, abs=1e-10)


def test_a_monitor_that_jumps_has_no_zero():
    curve = follow_curve(
        cubic,
        [-1.5, 1.875],
        direction=-1.0,
        low=-2.0,
        monitors={"sign": lambda x: 1.0 if x[0] < 0.2 else -1.0},
    )
    assert curve.named("sign") == ()


def test_an_edge_ends_the_curve():
    curve = follow_curve(cubic, [-1.5, 1.875], direction=-1.0, low=-2.0, edges={"wall": lambda x: 0.3 - x[0]})
    assert curve.end == "edge"
    assert curve.points[-1, 0] == pytest.approx(0.3, abs=1e-9)
    assert curve.special[-1].kind == "wall"
    assert curve.special[-1].parameter == pytest.approx(0.3 - 0.027, abs=1e-9)


def test_the_other_branch_of_a_pitchfork_is_a_parabola():
    curve = follow_curve(pitchfork, [0.0, 0.0, -1.0], high=1.0, low=-1.0)
    (point,) = curve.named("branch point")
    assert abs(point.parameter) < 1e-9
    other = follow_curve(
        pitchfork, point.point + 0.05 * point.other, direction=point.other, low=-1.0, high=1.0, largest=0.05
    )
    np.testing.assert_allclose(other.points[:, 0] ** 2, other.parameters, atol=1e-9)
    assert other.end == "high"


def test_the_other_branch_of_a_transcritical_point_leaves_along_its_tangent():
    curve = follow_curve(transcritical, [0.0, -1.0], high=1.0)
    (point,) = curve.named("branch point")
    slope = point.other[1] / point.other[0]
    assert slope == pytest.approx(2.0, rel=1e-5)


def test_scale_does_not_move_points():
    curve = follow_curve(
        lambda x: (
            cubic(x / [1e6, 1e-3]) and (cubic(x / [1e6, 1e-3])[0], cubic(x / [1e6, 1e-3])[1] / [1e6, 1e-3])
        ),
        [-1.5e6, 1.875e-3],
        direction=-1.0,
        low=-2e-3,
        scale=[1e6, 1e-3],
    )
    fold = 2e-3 / (3.0 * np.sqrt(3.0))
    np.testing.assert_allclose([s.parameter for s in curve.named("fold")], [-fold, fold], rtol=1e-9)


def test_interrupted_and_stuck_curves_keep_what_there_is():
    def stop(point, count):
        if count == 5:
            raise KeyboardInterrupt

    curve = follow_curve(circle, [-1.0, 0.0], progress=stop)
    assert curve.end == "interrupted"
    assert len(curve.points) == 5

    def wall(x):
        if x[1] > 0.5:
            raise StepRefused("no solution beyond 0.5")
        return circle(x)

    curve = follow_curve(wall, [-1.0, 0.0])
    assert curve.end == "stuck"
    assert "no solution beyond 0.5" in curve.ended
    assert curve.parameters.max() <= 0.5


def test_a_curve_refuses_bad_arguments():
    with pytest.raises(ValueError, match="expected \\(N \\+ 1,\\)"):
        follow_curve(circle, [1.0])
    with pytest.raises(ValueError, match="in ascending"):
        follow_curve(circle, [-1.0, 0.0], step=1.0)
    with pytest.raises(ValueError, match="not between"):
        follow_curve(circle, [-1.0, 0.0], low=0.5)
    with pytest.raises(NoCurve, match="not on the curve"):
        follow_curve(lambda x: (np.array([x[0] ** 2 + 1.0]), np.array([[2 * x[0], 0.0]])), [1.0, 0.0])
