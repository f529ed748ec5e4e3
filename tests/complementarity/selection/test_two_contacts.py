"""Friction of two contacts with one direction: constants of z, its quadric, the 17 cases, water filling."""

import numpy as np
import pytest
from scipy.optimize import minimize

from klapper.complementarity import InvalidProblem
from klapper.complementarity.kernels.friction_split import LABELS, water_fill
from klapper.complementarity.selection.two_contacts import (
    Quality,
    block_quality,
    constrained_minima,
    constrained_minimum,
    optimum,
    quadric,
    water_filling,
)

DEMONSTRATION = {"mass": 1.0, "inertia": 1.0, "width": 0.2, "height": 0.1, "force": (0.5, -7.0, 0.0)}


def random_problems(count: int) -> tuple[np.ndarray, ...]:
    """k, w, normal, friction, slip of problems that fall into every case."""
    rng = np.random.default_rng(7)
    k, w = rng.uniform(0.1, 5.0, count), rng.normal(0.0, 20.0, count)
    normal = rng.uniform(0.1, 100.0, (count, 2)) * (rng.random((count, 2)) > 0.25)
    friction = rng.uniform(0.01, 1.0, (count, 2))
    slip = rng.normal(size=(count, 2)) * (rng.random((count, 2)) > 0.6)
    w[: count // 2] *= 10.0 * k[: count // 2]
    return k, w, normal, friction, slip


@pytest.mark.parametrize("ansatz", [1, 2, 3])
def test_the_functional_is_the_square_of_the_acceleration(ansatz: int) -> None:
    """C14: z by (4.14) from M, h, W equals k S² + 2 w S + c for random forces (4.3), (4.12)."""
    rng = np.random.default_rng(ansatz)
    for _ in range(50):
        m, theta, a, b = rng.uniform(0.1, 5.0, 4)
        h, normal, friction = rng.normal(size=3), rng.uniform(0.0, 10.0, 2), rng.normal(size=2)
        directions = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [b / 2, -a / 2, b / 2, a / 2]])
        total = h + directions @ [friction[0], normal[0], friction[1], normal[1]]
        acceleration = total / [m, m, theta]
        expected = [acceleration @ acceleration, total @ total, total[0] ** 2][ansatz - 1]
        quality = block_quality(ansatz, mass=m, inertia=theta, width=a, height=b, force=h, normal=normal)
        assert quality.value(friction.sum()) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("normal", "k", "w", "c", "mu", "z"),
    [
        ((0.0, 5.0), 1.0025, 0.525, 4.5, (np.nan, -0.1047382), 4.225062),
        ((5.0, 0.0), 1.0025, 0.475, 4.5, (-0.0947631, np.nan), 4.274938),
        ((5.0, 5.0), 1.0025, 0.5, 9.25, (-0.0997506 / 2, -0.0997506 / 2), 9.000623),
    ],
)
def test_the_demonstration_surfaces_have_their_printed_constants_and_optimum(normal, k, w, c, mu, z) -> None:
    """E4: constants and optimum of the three surfaces, to the printed digits."""
    quality = block_quality(1, **DEMONSTRATION, normal=normal)
    assert (quality.k, quality.w, quality.c) == pytest.approx((k, w, c), abs=1e-12)
    found = optimum(quality, normal)
    np.testing.assert_allclose(found.mu, mu, atol=5e-8)
    assert found.z == pytest.approx(z, abs=5e-7)


def test_the_normal_form_is_the_quadric() -> None:
    """C15: VᵀAV is diagonal, Vᵀb as (4.31), d = 0.1412449 in E4, and points of the parabola lie on the surface."""
    quality = block_quality(1, **DEMONSTRATION, normal=(5.0, 5.0))
    assert quadric(quality, (5.0, 5.0)).half_width == pytest.approx(0.1412449, abs=5e-8)
    rng = np.random.default_rng(3)
    for _ in range(20):
        normal = rng.uniform(0.1, 10.0, 2)
        quality = Quality(*rng.uniform(0.5, 2.0, 3))
        form = quadric(quality, normal)
        np.testing.assert_allclose(form.axes.T @ form.axes, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(
            form.axes.T @ form.matrix @ form.axes, np.diag(form.eigenvalues), atol=1e-12
        )
        np.testing.assert_allclose(form.axes.T @ form.vector, form.turned_vector, atol=1e-13)
        z_1, along = rng.normal(size=2)
        z_2 = 0.5 * (z_1 / form.half_width) ** 2
        size = np.hypot(*normal)
        y = np.array([along, 2 * z_2 + quality.least, z_1 - quality.w / (quality.k * size)])  # (4.32)
        x = form.axes @ y
        assert x @ form.matrix @ x + 2 * form.vector @ x + form.constant == pytest.approx(0.0, abs=1e-9)
        assert quality.value(normal @ x[:2]) == pytest.approx(x[2], rel=1e-10)
    with pytest.raises(InvalidProblem, match="a plane"):
        quadric(quality, (0.0, 0.0))


def test_the_tables_agree_with_water_filling() -> None:
    """C16: 20 000 random problems of all 17 cases, tables against water filling."""
    k, w, normal, friction, slip = random_problems(20_000)
    mu, case = constrained_minima(k, w, normal, friction, slip)
    assert set(case) == set(LABELS)
    reach = friction * normal
    held = slip != 0.0
    lower = np.where(held, -np.sign(slip) * reach, -reach)
    upper = np.where(held, lower, reach)
    zero, one = np.zeros(2), np.ones(2)
    force = [water_fill(*given, zero, one) for given in zip(-w / k, lower, upper, strict=True)]
    np.testing.assert_allclose(mu * normal, force, rtol=1e-12, atol=1e-12)


def test_the_tables_agree_with_a_general_optimiser() -> None:
    """First z, then λᵀλ on its minimisers, by a bounded quasi-Newton method without any knowledge of cases."""
    k, w, normal, friction, slip = (part[:200] for part in random_problems(20_000))
    mu, _ = constrained_minima(k, w, normal, friction, slip)
    for i in range(200):
        reach = friction[i] * normal[i]
        bounds = [
            (-r, r) if s == 0.0 else (-np.sign(s) * r, -np.sign(s) * r)
            for r, s in zip(reach, slip[i], strict=True)
        ]
        scale = max(1.0, reach.max()) ** 2
        weight = 1e-7 * k[i]

        def cost(force, i=i, weight=weight, scale=scale):
            total = force.sum()
            slope = 2 * k[i] * total + 2 * w[i] + 2 * weight * force
            return (k[i] * total**2 + 2 * w[i] * total + weight * force @ force) / scale, slope / scale

        best = minimize(cost, np.zeros(2), jac=True, bounds=bounds, options={"ftol": 1e-16, "gtol": 1e-13})
        allowed = 1e-3 * max(1.0, abs(w[i] / k[i]))
        assert np.abs(best.x - mu[i] * normal[i]).max() <= allowed


def test_the_block_of_the_thesis_has_the_printed_minimum_and_case() -> None:
    """E8: F = 10 N with ansatz 3 on the block of Table 5.1."""
    force, normal = (10.0, -156.96, -0.5), (73.48, 83.48)
    quality = block_quality(3, mass=16.0, inertia=1 / 15, width=0.2, height=0.1, force=force, normal=normal)
    assert (quality.k, quality.w, quality.c, quality.least) == (1.0, 10.0, 100.0, 0.0)
    found = constrained_minimum(quality, normal, (0.1, 0.1))
    assert found.case == "4d-i"
    assert found.mu == pytest.approx((-0.0680457, -0.0598946), abs=5e-8)
    assert found.z == pytest.approx(0.0, abs=1e-12)
    assert found.mu[1] == pytest.approx(-0.88021 * found.mu[0] - 0.11979, abs=1e-5)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_water_filling_meets_the_conditions_of_the_minimum(count: int) -> None:
    """KKT of min Σ (T − start)²/stiffness: one level s inside, beyond it at the bounds; the sum is the given one."""
    rng = np.random.default_rng(count)
    for _ in range(200):
        lower, upper = np.sort(rng.normal(size=(2, count)), axis=0)
        start, stiffness = rng.normal(size=count), rng.uniform(0.1, 10.0, count)
        total = rng.uniform(lower.sum(), upper.sum())
        force = water_filling(total, lower, upper, start=start, stiffness=stiffness)
        assert force.sum() == pytest.approx(total, abs=1e-12)
        assert np.all((lower <= force) & (force <= upper))
        level = (force - start) / stiffness
        inside = (lower < force) & (force < upper)
        if np.any(inside):
            s = level[inside].mean()
            np.testing.assert_allclose(level[inside], s, atol=1e-12)
            assert np.all(level[force == lower] >= s - 1e-12)
            assert np.all(level[(force == upper) & ~inside] <= s + 1e-12)
    assert water_filling(99.0, [-1.0, -2.0], [1.0, 2.0]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: constrained_minimum(Quality(1, 1, 1), (-1.0, 2.0), (0.1, 0.1)), "normal is"),
        (lambda: constrained_minimum(Quality(1, 1, 1), (1.0, 2.0), (0.1,)), "friction is"),
        (lambda: block_quality(4, **DEMONSTRATION, normal=(1, 1)), "ansatz is 4"),
        (lambda: block_quality(1, **{**DEMONSTRATION, "mass": 0.0}, normal=(1, 1)), "above 0"),
        (lambda: block_quality(1, **{**DEMONSTRATION, "force": [1.0]}, normal=(1, 1)), "force has shape"),
        (lambda: constrained_minima([1.0], [1.0], [[1.0]], [[0.1, 0.1]], [[0.0, 0.0]]), "normal has shape"),
        (lambda: constrained_minima([1.0, 1.0], 1.0, *[[[1.0, 1.0]]] * 3), "must have the 2 rows"),
        (lambda: water_filling(1.0, [1.0, 0.0], [0.0, 1.0]), "exceeds upper"),
        (lambda: water_filling(1.0, [0.0], [2.0], stiffness=[0.0]), "stiffness must be above 0"),
    ],
)
def test_wrong_arguments_are_refused(call, words: str) -> None:
    with pytest.raises(InvalidProblem, match=words):
        call()
