"""Curves with corners: polygons are followed around, whatever their angles, and no point of them is visited twice."""

import numpy as np
import pytest

from klapper.algebra import StepRefused, follow_curve


def polygon(corners):
    """A star-shaped polygon around the origin as r / R(φ) = 1, linear in every sector."""

    def equations(x):
        for one, other in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            shares = np.linalg.solve(np.column_stack([one, other]), x)
            if np.all(shares >= -1e-14):
                slope = np.linalg.solve(np.column_stack([one, other]).T, np.ones(2))
                return np.array([slope @ x - 1.0]), slope[None]
        raise StepRefused("the centre of the polygon")

    return equations


@pytest.mark.parametrize("width", [1.0, 0.3, 0.15])
def test_a_rhombus_closes_with_its_corners_as_folds(width):
    corners = np.array([[0.0, 1.0], [-width, 0.0], [0.0, -1.0], [width, 0.0]])
    curve = follow_curve(polygon(corners), [-0.5 * width, 0.5], largest=0.1)
    assert curve.end == "closed"
    assert [fold.parameter for fold in curve.named("fold")] == pytest.approx([1.0, -1.0], abs=1e-2)
    assert curve.places[-1] == pytest.approx(4.0 * np.hypot(1.0, width), rel=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_random_polygons_close(seed):
    draw = np.random.default_rng(seed)
    count = int(draw.integers(3, 12))
    angles = 2.0 * np.pi * (np.arange(count) + draw.uniform(-0.35, 0.35, count)) / count
    corners = draw.uniform(0.4, 1.0, count)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    middle = 0.5 * (corners[0] + corners[1])
    curve = follow_curve(polygon(corners), middle, direction=corners[1] - corners[0], largest=0.05)
    assert curve.end == "closed"
    around = np.unwrap(np.arctan2(*curve.points.T[::-1]))
    assert np.all(np.diff(around) > 0.0)  # forwards all along, also in reentrant corners
    assert around[-1] - around[0] == pytest.approx(2.0 * np.pi, abs=1e-9)
    ways = np.linalg.norm(np.diff(np.vstack([corners, corners[:1]]), axis=0), axis=1)
    assert curve.places[-1] == pytest.approx(ways.sum(), rel=0.05)


def test_a_scale_that_grows_with_the_unknowns_takes_equal_shares():
    """u = e^p in sizes |u|: steps of equal ratio, and the same points as without."""

    def exponential(x):
        return np.array([x[0] - np.exp(x[1])]), np.array([[1.0, -np.exp(x[1])]])

    curve = follow_curve(
        exponential, [1.0, 0.0], high=12.0, step=0.1, largest=0.1, scale=lambda x: [abs(x[0]), 1.0]
    )
    assert curve.end == "high"
    assert np.log(curve.points[:, 0]) == pytest.approx(curve.parameters, abs=1e-9)
    assert np.diff(curve.parameters).max() < 0.11
    assert len(curve.points) < 12.0 * np.sqrt(2.0) / 0.1 + 5
