"""Rest and sliding side by side: the wedged disc in closed form, and enumeration as another method."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.analysis.coexistence import coexistence
from klapper.gallery._wedged_disc import Disc
from klapper.mechanics import Contact, FrictionElement, InvalidModel, LinearSystem
from klapper.mechanics.acceleration import AccelerationProblem


def wedge(disc: Disc) -> AccelerationProblem:
    s, c, r = np.sin(disc.alpha), np.cos(disc.alpha), disc.radius
    force = [-disc.force * np.cos(disc.alpha / 2), -disc.force * np.sin(disc.alpha / 2), disc.moment]
    return AccelerationProblem(
        np.diag([disc.mass, disc.mass, disc.inertia]),
        force,
        normal=np.array([[0.0, 1.0, 0.0], [s, -c, 0.0]]).T,
        tangential=np.array([[1.0, 0.0, r], [c, s, -r]]).T,
        sliding_velocity=np.zeros((2, 1)),
        friction=disc.mu,
    )


@pytest.mark.parametrize(
    ("mu", "ratio", "verdict", "accelerations"),
    [
        (0.3, 0.5, "rest", [0.0]),
        (0.3, 0.9, "rest", [0.0]),
        (0.3, 1.2, "sliding", [28.222]),
        (0.3, 3.0, "sliding", [282.218]),
        (0.5, 0.5, "rest", [0.0]),
        (0.5, 1.2, "both", [0.0, 41.016]),
        (0.5, 3.0, "both", [0.0, 410.156]),
        (0.8, 1.2, "both", [0.0, 50.019]),
        (0.8, 3.0, "both", [0.0, 500.191]),
    ],
)
def test_the_wedged_disc_rests_slides_or_both_as_tabulated(
    mu: float, ratio: float, verdict: str, accelerations: list[float]
) -> None:
    disc = Disc(mu, np.pi / 4, ratio, 9.81, 0.1, 1.0)
    answer = coexistence(wedge(disc), load=[0.0, 0.0, disc.moment])
    assert answer.verdict == verdict
    branches = [branch for branch in (answer.rest, *answer.moving) if branch.exists]
    assert [branch.acceleration[2] for branch in branches] == pytest.approx(accelerations, abs=5e-4)
    assert answer.tried == 15


@given(st.floats(0.05, 2.0), st.floats(0.2, 2.5), st.floats(0.1, 5.0), st.booleans())
@settings(max_examples=12)
def test_sliding_of_the_wedged_disc_begins_at_the_critical_moment(
    mu: float, alpha: float, ratio: float, clockwise: bool
) -> None:
    """M₀ of (5.16) to round-off: where sliding begins, and without self-locking where rest ends."""
    mu = min(mu, 0.9 / np.tan(alpha / 2))
    disc = Disc(mu, alpha, -ratio if clockwise else ratio, 20.0, 0.3, 2.0)
    answer = coexistence(wedge(disc), load=[0.0, 0.0, disc.moment])
    senses = ("-", "+") if clockwise else ("+", "-")
    branch = next(branch for branch in answer.sliding if branch.states == senses)
    assert branch.factors[0] * abs(disc.moment) == pytest.approx(disc.critical_moment, rel=1e-9)
    assert branch.factors[1] == np.inf
    if abs(mu * np.tan(disc.phi) - 1) > 1e-6:
        expected = np.inf if disc.self_locking else disc.critical_moment
        assert answer.rest.margin * abs(disc.moment) == pytest.approx(expected, rel=1e-9)


@given(st.floats(0.1, 1.2), st.floats(0.2, 3.0))
@settings(max_examples=8)
def test_the_bounds_of_forces_at_rest_are_those_of_the_wedged_disc(mu: float, ratio: float) -> None:
    disc = Disc(mu, np.pi / 4, ratio, 9.81, 0.1, 1.0)
    if abs(ratio - 1) < 1e-3 or abs(mu * np.tan(disc.phi) - 1) < 1e-3:
        return
    rest, known = coexistence(wedge(disc)).rest, disc.resting_forces()
    assert rest.exists == (known is not None)
    if known is not None:
        order = [0, 2, 1, 3]
        size = np.abs(known[0]).max()
        assert rest.lower[order] == pytest.approx(known[0], abs=1e-7 * size)
        assert rest.upper[order] == pytest.approx(known[1], abs=1e-7 * size)


@given(st.integers(0, 2**31))
@settings(max_examples=8)
def test_motions_are_those_of_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    problem = AccelerationProblem(
        root @ root.T + np.eye(4),
        rng.normal(size=4) * 10.0,
        normal=rng.normal(size=(4, 2)),
        tangential=rng.normal(size=(4, 2)),
        sliding_velocity=np.zeros((2, 1)),
        friction=rng.uniform(0.1, 0.6, 2),
    )
    found = coexistence(problem)
    known = problem.all_solutions().accelerations
    branches = [branch.acceleration for branch in (found.rest, *found.sliding) if branch.exists]
    assert len(branches) >= len(known) > 0
    for acceleration in branches:
        assert np.abs(known - acceleration).max(axis=1).min() <= 1e-7 * (1 + np.abs(known).max())
    for acceleration in known:
        assert np.abs(np.array(branches) - acceleration).max(axis=1).min() <= 1e-7 * (1 + np.abs(known).max())


@pytest.mark.parametrize(("angle", "part"), [(0.0, 1.0), (np.pi / 8, np.cos(np.pi / 8))])
def test_between_its_vertices_a_polygon_holds_less_than_the_disc(angle: float, part: float) -> None:
    push = np.array([np.cos(angle), np.sin(angle), 0.0])
    block = AccelerationProblem(
        2.0 * np.eye(3),
        push - np.array([0.0, 0.0, 20.0]),
        normal=[[0.0], [0.0], [1.0]],
        tangential=np.eye(3)[:, :2],
        sliding_velocity=np.zeros((1, 2)),
        friction=0.5,
    )
    answer = coexistence(block, load=push, vertices=8)
    assert answer.rest.margin == pytest.approx(10.0 * part, rel=1e-9)
    assert answer.tried == 0


def test_the_load_factors_of_a_clamped_block_are_those_of_both_friction_limits() -> None:
    """A block between a floor and a clamp of 3 N, and a wall too far away to matter."""
    system = LinearSystem(
        [2.0, 2.0],
        force=[4.0, -10.0],
        contacts=[
            Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5),
            Contact("wall", normal=[-1.0, 0.0], gap=1.0),
            FrictionElement("clamp", tangents=[1.0, 0.0], limit=3.0),
        ],
    )
    answer = coexistence(system, load=[4.0, 0.0])
    assert answer.verdict == "rest"
    assert answer.rest.factors == pytest.approx((-2.0, 2.0), rel=1e-9)
    both = next(branch for branch in answer.sliding if branch.states == ("+", "+"))
    assert both.factors[0] == pytest.approx(2.0, rel=1e-9)
    assert "'floor' presses with 10 N … 10 N" in str(answer)
    assert "'floor' slides +, 'clamp' slides +: load factors 2 … no upper bound (not under this load)" in str(
        answer
    )


def test_a_block_that_is_pulled_up_opens_its_contact() -> None:
    block = LinearSystem(
        [1.0, 1.0],
        force=[0.0, 5.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)],
    )
    answer = coexistence(block)
    assert answer.verdict == "sliding"
    assert [branch.states for branch in answer.moving] == [("open",)]
    assert answer.moving[0].acceleration == pytest.approx([0.0, 5.0])
    assert coexistence(block, senses=[("+",)]).verdict == "none"


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"sliding_velocity": [[1.0]]}, {}, "slides already"),
        ({"tangential_bias": 1.0}, {}, "a wall accelerates"),
        ({}, {"load": [0.0, 0.0]}, "load is zero"),
        ({}, {"load": [1.0]}, r"load has shape \(1,\), expected \(2,\)"),
        ({}, {"senses": [("up",)]}, "senses has"),
        (
            {
                "tangential": np.ones((2, 8)),
                "sliding_velocity": np.zeros((8, 1)),
                "friction": np.ones((8, 1)),
            },
            {},
            "65536",
        ),
    ],
)
def test_wrong_problems_and_loads_are_refused_in_one_sentence(
    changes: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    parts = {
        "normal": [[0.0], [1.0]],
        "tangential": [[1.0], [0.0]],
        "sliding_velocity": [[0.0]],
        "friction": 0.5,
        **changes,
    }
    with pytest.raises(InvalidModel, match=message):
        coexistence(AccelerationProblem(np.eye(2), [1.0, -1.0], **parts), **options)
