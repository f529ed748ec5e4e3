"""Which forces the friction level of the prox iteration selects: the nearest to the start in the metric 1/r, and when.

One sweep over contacts with a common direction is T ← clip(T − R 1 v), v = G ΣT + c. With ρ = G Σ r_i ≤ 1 a sweep
cannot change the sign of v, and shifts in one direction commute with the limits: T stays on clip(T₀ + R 1 α), whose
end meets the conditions of the nearest point.
"""

import numpy as np
import pytest

from klapper.complementarity.selection.two_contacts import water_filling


def iterated(start, factor, total, lower, upper):
    """The fixed point of T ← clip(T − R 1 v) with v = ΣT − total."""
    force = start
    for _ in range(200_000):
        swept = np.clip(force - factor * (force.sum() - total), lower, upper)
        if np.abs(swept - force).max() <= 1e-13:
            break
        force = swept
    return force


def problems(seed: int, count: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, 6))
        upper, weight = rng.uniform(0.5, 3.0, n), rng.uniform(0.1, 1.0, n)
        yield rng.uniform(-upper, upper), weight / weight.sum(), upper.sum() * rng.uniform(-1.0, 1.0), upper


@pytest.mark.parametrize("rho", [0.3, 0.9, 1.0])
def test_without_overshoot_it_is_the_nearest_point(rho: float) -> None:
    for start, weight, total, upper in problems(1, 60):
        found = iterated(start, rho * weight, total, -upper, upper)
        nearest = water_filling(total, -upper, upper, start=start, stiffness=weight)
        np.testing.assert_allclose(found, nearest, atol=1e-10)


def test_without_limits_it_is_the_nearest_point_for_every_factor() -> None:
    far = np.full(5, 1e6)
    for start, weight, total, _ in problems(2, 60):
        bound = far[: len(start)]
        found = iterated(start, 1.9 * weight, total, -bound, bound)
        np.testing.assert_allclose(found, start + (total - start.sum()) * weight, atol=1e-9)


def test_with_overshoot_limits_can_spoil_it() -> None:
    """ρ between 1 and 2 still converges, to a possible force, but not always to the nearest."""
    missed = 0
    for start, weight, total, upper in problems(3, 60):
        found = iterated(start, 1.6 * weight, total, -upper, upper)
        assert found.sum() == pytest.approx(total, abs=1e-9)
        nearest = water_filling(total, -upper, upper, start=start, stiffness=weight)
        missed += np.abs(found - nearest).max() > 1e-3
    assert missed > 10


def test_a_start_beyond_the_limits_is_cut_off_first() -> None:
    """With v small against the excess, the end is the nearest point to the start that was cut off."""
    upper = np.array([1.0, 2.0])
    found = iterated(np.array([-50.0, 50.0]), np.array([0.4, 0.4]), 0.5, -upper, upper)
    np.testing.assert_allclose(found, water_filling(0.5, -upper, upper, start=[-1.0, 2.0]), atol=1e-12)
    np.testing.assert_allclose(found, [-1.0, 1.5], atol=1e-12)
