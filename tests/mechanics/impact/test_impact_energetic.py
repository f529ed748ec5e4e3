"""Stronge's law: closed forms, a spring with hysteresis integrated in time, and energy that is never gained."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from impact_cases import random_impact, three
from scipy.integrate import solve_ivp

from klapper.mechanics import InvalidModel
from klapper.mechanics.impact import Energetic, ImpactProblem, Newton, Sequential
from klapper.mechanics.impact.energetic import Collision


def rod(angle: float, before: tuple[float, float, float], **given: float) -> ImpactProblem:
    """A slender rod, 1 kg and 1 m, inclined by an angle to the floor that its lower end hits."""
    c, s = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    return ImpactProblem(
        [1.0, 1.0, 1 / 12], before, [[0.0], [1.0], [-c]], tangential=[[1.0], [0.0], [s]], **given
    )


def pressed_in_time(compliance: np.ndarray, velocity: np.ndarray, friction: float, e: float) -> np.ndarray:
    """Velocities after a contact with a spring that unloads with k/e², friction as a steep function of slip.

    Positions stay, so k is arbitrary; the work returned is e² of the work taken by the geometry of the loop.
    """
    slow = 1e-6 * np.linalg.norm(velocity)

    def motion(unloading: bool, deepest: float):
        def rates(t, state):
            depth, y = state[0], state[1:]
            force = (depth - (1.0 - e**2) * deepest) / e**2 if unloading else depth
            slip = y[1:] / np.sqrt(y[1:] @ y[1:] + slow**2)
            return np.concatenate([[-y[0]], compliance @ (force * np.concatenate([[1.0], -friction * slip]))])

        return rates

    def turns(t, state):
        return state[1]

    def leaves(t, state):
        return state[0] - (1.0 - e**2) * deepest[0]

    turns.terminal, turns.direction = True, 1
    leaves.terminal, leaves.direction = True, -1
    how = {"method": "Radau", "rtol": 1e-9, "atol": 1e-12}
    first = solve_ivp(motion(False, 0.0), (0.0, 1e3), [0.0, *velocity], events=turns, **how).y[:, -1]
    deepest = [first[0]]
    start = [first[0], 0.0, *first[2:]]
    return solve_ivp(motion(True, first[0]), (0.0, 1e3), start, events=leaves, **how).y[1:, -1]


@pytest.mark.parametrize(
    ("slip", "friction"),
    [(0.3, 0.2), (0.3, 1.0), (-1.0, 0.4), (2.0, 0.1), (0.0, 0.1), (0.0, 2.0)],
    ids=["slides on", "sticks", "slides on backwards", "fast", "slips from rest", "rests"],
)
def test_a_rod_in_the_plane_is_a_hysteretic_spring_integrated_in_time(slip: float, friction: float) -> None:
    problem = rod(np.deg2rad(50), (slip, -1.0, 0.0), friction=friction, restitution=0.7)
    expected = pressed_in_time(problem.delassus, problem.contact_velocity(problem.before), friction, e=0.7)
    result = Energetic().resolve(problem)
    found = np.concatenate([result.normal_velocity, result.tangential_velocity.ravel()])
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("friction", [0.1, 0.5])
def test_a_body_in_space_is_a_hysteretic_spring_integrated_in_time(friction: float) -> None:
    compliance = np.array([[2.0, 0.6, -0.3], [0.6, 3.0, 0.8], [-0.3, 0.8, 1.5]])
    before = np.array([-1.0, 0.6, -0.4])
    expected = pressed_in_time(compliance, before, friction, e=0.8)
    pieces = [piece for _, piece in Collision(compliance, friction, 0.8).pieces(before, 1e-10)]
    np.testing.assert_allclose(before + compliance @ np.sum(pieces, axis=0), expected, atol=2e-4)


def test_slip_that_ends_during_compression_goes_as_calculated_by_hand() -> None:
    """W = (2 −1; −1 2)/kg, ⁻v = (−1, ½) m/s, μ = 1: slip ends at p = 1/6, then stick with v_N' = 3/2, c = ½.

    Work taken: 1/6 − ½·3/36 = 1/8 with v_N = −½ reached, then ½ · ½ · 1/3 = 1/12; e = ½ returns (5/24)/4 J,
    so that ⁺v_N = √(2 · 3/2 · 5/96).
    """
    pieces = list(
        Collision(np.array([[2.0, -1.0], [-1.0, 2.0]]), 1.0, 0.5).pieces(np.array([-1.0, 0.5]), 1e-12)
    )
    (_, first), (_, second), (phase, third) = pieces
    np.testing.assert_allclose(first, [1 / 6, -1 / 6])
    np.testing.assert_allclose(second, [1 / 3, 1 / 6])
    assert phase == "restitution"
    assert third[0] * 1.5 == pytest.approx(np.sqrt(2 * 1.5 * 5 / 96))


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    dimension=st.sampled_from([1, 2]),
    friction=st.floats(0.01, 3.0),
)
def test_energy_is_never_gained_and_each_contact_takes(seed: int, dimension: int, friction: float) -> None:
    """Where Newton's law gives energy: restitution and friction together, any coupling, any coefficient."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, restitution=rng.uniform(size=3), dimension=dimension, friction=friction)
    result = Energetic(limit=20).resolve(problem)
    assert result.audit.gain == 0.0
    assert result.audit.givers == {}
    assert result.normal.min() >= 0.0
    limit = friction * result.normal
    assert np.all(np.linalg.norm(result.tangential, axis=1) <= limit * (1 + 1e-9))


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_without_friction_one_contact_at_a_time_is_the_sequential_law(restitution: float) -> None:
    """Newton's, Poisson's and Stronge's coefficient are the same there."""
    one, other = Energetic().resolve(three(restitution)), Sequential().resolve(three(restitution))
    np.testing.assert_allclose(one.after, other.after, atol=1e-8)
    single = ImpactProblem([2.0], [-3.0], [[1.0]], restitution=restitution, normal_rate=0.5)
    np.testing.assert_allclose(Energetic().resolve(single).after, Newton().resolve(single).after, atol=1e-12)


def test_a_hanging_body_keeps_its_hinge() -> None:
    """A rod hinged at its upper end has one freedom: friction helps on the way in and hinders on the way out."""
    angle, spin = np.deg2rad(50), -2.0
    c, s = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    hinge = [[1.0, 0.0], [0.0, 1.0], [-s, c]]
    before = np.array([s, -c, 1.0]) * -spin
    problem = ImpactProblem(
        [1.0, 1.0, 1 / 12], before, [[0.0], [1.0], [-c]], tangential=[[1.0], [0.0], [s]], friction=0.2,
        bilateral=hinge, restitution=0.6,
    )  # fmt: skip
    np.testing.assert_allclose(problem.bilateral.T @ before, 0.0, atol=1e-15)
    result = Energetic().resolve(problem)
    np.testing.assert_allclose(problem.bilateral.T @ result.after, 0.0, atol=1e-14)
    inertia = 1 / 12 + c**2 + s**2
    arm_n, arm_t = -2 * c, 2 * s  # v_N = −2c ω, v_T = 2s ω
    assert result.normal_velocity[0] > 0.0
    # one freedom: W_NN = 4c²/J, W_NT = −4cs/J; compression slips one way, restitution the other
    way_in, way_out = 4 * c * (c + 0.2 * s) / inertia, 4 * c * (c - 0.2 * s) / inertia
    if arm_n * arm_t * before[2] ** 2 > 0:
        way_in, way_out = way_out, way_in
    rebound = 0.6 * np.sqrt(way_out / way_in) * abs(arm_n * before[2])
    assert result.normal_velocity[0] == pytest.approx(rebound, rel=1e-9)


def test_velocities_that_break_a_constraint_are_mended_first() -> None:
    """A pair of masses tied together, of which one moves: the tie takes its half, then both hit the wall."""
    problem = ImpactProblem(
        [1.0, 1.0], [0.0, -2.0], [[1.0], [0.0]], bilateral=[[1.0], [-1.0]], restitution=1.0
    )
    result = Energetic().resolve(problem)
    np.testing.assert_allclose(result.after, [1.0, 1.0], atol=1e-12)
    assert result.stages[0].name == "two-sided constraints"


def test_what_it_leaves_open_and_cannot_do_is_told() -> None:
    assert Energetic().resolve(three(0.5)).unique
    both = ImpactProblem([1.0, 1.0], [-1.0, -1.0], np.eye(2))
    assert Energetic().resolve(both).unique.motion == "undecided"
    stopped = Energetic(limit=1).resolve(three(0.5))
    assert not stopped.finished
    assert "Not finished after 1 collisions: 1 of 2 contacts still approaching" in stopped.words
    shared = ImpactProblem(
        [1.0, 1.0], [-1.0, 0.0], [[1.0], [0.0]], tangential=[[0.0, 0.0], [1.0, 1.0]], friction=[[0.1], [0.2]]
    )
    with pytest.raises(InvalidModel, match="contact 0 presses 2 friction patches"):
        Energetic().resolve(shared)
    with pytest.raises(InvalidModel, match="limit is 0"):
        Energetic(limit=0)
    with pytest.raises(InvalidModel, match="least_approach is 1"):
        Energetic(least_approach=1.0)
