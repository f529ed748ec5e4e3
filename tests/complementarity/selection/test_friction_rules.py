"""Rules of friction against creeping bodies found by another method, linear programs, and numpy's pseudo-inverse."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from klapper.complementarity import InvalidProblem
from klapper.complementarity.selection import (
    EqualUtilisation,
    ExtremeMotion,
    ForceSet,
    MaximumDissipation,
    MinimumNorm,
    PseudoInverse,
)


def creeping(directions, limit, load, width):
    """Friction (r,) of bodies that creep with u: |T| = limit · min(|Jᵀu|, 1), from the least potential of u."""

    def potential(u):
        slip = np.linalg.norm((directions.T @ u).reshape(-1, width), axis=1)
        return np.sum(limit * np.where(slip < 1.0, 0.5 * slip**2, slip - 0.5)) - load @ u

    def slope(u):
        slip = (directions.T @ u).reshape(-1, width)
        size = np.maximum(np.linalg.norm(slip, axis=1, keepdims=True), 1.0)
        return directions @ (limit[:, None] * slip / size).ravel() - load

    u = minimize(potential, np.zeros(len(load)), jac=slope, method="BFGS", options={"gtol": 1e-11}).x
    slip = (directions.T @ u).reshape(-1, width)
    size = np.maximum(np.linalg.norm(slip, axis=1, keepdims=True), 1.0)
    return -(limit[:, None] * slip / size).ravel()


@pytest.mark.parametrize("width", [1, 2], ids=["in the plane", "in space"])
def test_equal_utilisation_is_what_creeping_bodies_select(width: int) -> None:
    rng = np.random.default_rng(3)
    for _ in range(25):
        n, k = int(rng.integers(1, 4)), int(rng.integers(3, 6))
        directions = rng.standard_normal((n, k * width))
        limit = rng.uniform(0.2, 3.0, k)
        held = rng.standard_normal((k, width))
        held *= (0.7 * limit / np.maximum(np.linalg.norm(held, axis=1), 0.3))[:, None] * rng.uniform(
            0.2, 1.0, (k, 1)
        )
        member = held.ravel()
        expected = creeping(directions, limit, -directions @ member, width)
        if np.abs(directions @ (expected - member)).max() > 1e-8:
            continue  # the minimiser did not end
        forces = ForceSet.from_arrays(
            member, directions, patches=np.arange(k * width).reshape(k, width), limit=limit
        )
        assert EqualUtilisation().select(forces).forces == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(
    ("mu", "expected"), [((0.1, 0.1), (-4.681, -5.319)), ((0.2, 0.05), (-7.788, -2.212))]
)
def test_ten_newtons_on_the_block_of_the_source(mu, expected) -> None:
    """The normal forces of the push of 10 N are 73.48 and 83.48 N; T/(μ N) is equal at both feet."""
    block = ForceSet.from_arrays(
        [73.48, 83.48, -5.0, -5.0] if mu[0] == mu[1] else [73.48, 83.48, -7.0, -3.0],
        [[0, 0, 1, 1], [1, 1, 0, 0], [-0.1, 0.1, 0.05, 0.05]],
        normal=[0, 1], patches=[[2], [3]], friction=mu,
    )  # fmt: skip
    chosen = EqualUtilisation().select(block).forces[2:]
    assert chosen == pytest.approx(expected, abs=5e-4)
    used = chosen / (np.array(mu) * [73.48, 83.48])
    assert used[0] == pytest.approx(used[1], rel=1e-9)


def test_maximum_dissipation_is_a_linear_program() -> None:
    """Loads on more feet than a body needs, with other friction and other speeds: scipy's linear program."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        k = int(rng.integers(3, 7))
        held = np.vstack([np.ones(k), rng.standard_normal(k)])
        pressed, mu, speed = rng.uniform(0.1, 2.0, k), rng.uniform(0.0, 1.0, k), rng.uniform(0.0, 3.0, k)
        sense = np.sign(rng.standard_normal(k))
        directions = np.vstack(
            [np.hstack([held, np.zeros((2, k))]), np.hstack([np.zeros((1, k)), rng.standard_normal((1, k))])]
        )
        forces = ForceSet.from_arrays(
            np.concatenate([pressed, -sense * mu * pressed]), directions, normal=np.arange(k),
            patches=np.arange(k, 2 * k), friction=mu, sense=sense, speed=speed,
            held=np.hstack([held, np.zeros((2, k))]),
        )  # fmt: skip
        best = linprog(-speed * mu, A_eq=held, b_eq=held @ pressed, method="highs")
        chosen = MaximumDissipation().select(forces)
        if best.status == 3:
            assert "has no bound" in chosen.note
            continue
        assert chosen.exact
        assert chosen.forces[:k] @ (speed * mu) == pytest.approx(-best.fun, rel=1e-7)
        assert chosen.forces[k:] == pytest.approx(-sense * mu * chosen.forces[:k], abs=1e-9)


def test_where_all_contacts_slide_alike_most_power_is_least_acceleration() -> None:
    directions = np.array(
        [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [-0.1, 0, 0.1, 0.05, 0.05, 0.05]], dtype=float
    )
    forces = ForceSet.from_arrays(
        [59.556, 0.0, 97.404, -5.9556, 0.0, -9.7404], directions, normal=[0, 1, 2], patches=[[3], [4], [5]],
        friction=[0.1, 0.5, 0.1], sense=[1.0, 1.0, 1.0], speed=[0.1, 0.1, 0.1],
        held=np.linalg.solve(np.diag([16.0, 16.0, 1 / 15]), directions)[1:], mass=np.diag([16.0, 16.0, 1 / 15]),
        load=[60.0, -156.96, -3.0],
    )  # fmt: skip
    most, least = MaximumDissipation().select(forces), ExtremeMotion(0, "min").select(forces)
    assert most.forces == pytest.approx(least.forces, abs=1e-6)


def test_maximum_dissipation_without_a_choice_says_what_it_used() -> None:
    pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])
    chosen = MaximumDissipation().select(pair)
    assert "does not know how fast" in chosen.note
    assert chosen.forces == pytest.approx(MinimumNorm().select(pair).forces)


def test_a_weighted_pseudo_inverse_is_that_of_scaled_forces() -> None:
    """Least Σ c x² with W x given: x = C^−½ (W C^−½)⁺ W x̄."""
    rng = np.random.default_rng(9)
    for limits in ("clip", "redistribute"):
        for _ in range(20):
            p, n = int(rng.integers(1, 4)), int(rng.integers(4, 8))
            directions, member = rng.standard_normal((p, n)), rng.standard_normal(n)
            weight = rng.uniform(0.1, 5.0, n)
            forces = ForceSet.from_arrays(member, directions, patches=np.arange(n), limit=np.full(n, 1e3))
            root = 1.0 / np.sqrt(weight)
            expected = root * (np.linalg.pinv(directions * root) @ (directions @ member))
            chosen = PseudoInverse(limits, weight=weight).select(forces)
            assert chosen.forces == pytest.approx(expected, abs=1e-9)


def test_a_weighted_redistribution_keeps_the_sum_and_the_weights_of_the_others() -> None:
    forces = ForceSet.from_arrays(
        [-4.0, 0.0, 0.0], [[1.0, 1.0, 1.0]], patches=[[0], [1], [2]], limit=[0.5, 9.0, 9.0],
        names=["A", "B", "C"],
    )  # fmt: skip
    chosen = PseudoInverse("redistribute", weight={"B": 2.0}).select(forces)
    assert chosen.forces == pytest.approx([-0.5, -3.5 / 3.0, -7.0 / 3.0])
    with pytest.raises(InvalidProblem, match="weight is 0"):
        PseudoInverse(weight=0.0)
