"""Newton's law at jumps against closed forms, the projection (3.111), the mixed problem (3.97) and frame changes."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st
from impact_cases import projection, random_impact, ring, row, three

from klapper.complementarity import Lemke, MixedComplementarity, NoSolution, solve
from klapper.mechanics.impact import ImpactProblem, Newton, Poisson

SEEDS = st.integers(0, 2**32 - 1)
careful = settings(max_examples=30)


@pytest.mark.parametrize(
    ("restitution", "after", "impulses"),
    [
        (1.0, [-1 / 3, 2 / 3, 2 / 3], [4 / 3, 2 / 3]),
        (0.5, [0.0, 0.5, 0.5], [1.0, 0.5]),
        (0.0, [1 / 3, 1 / 3, 1 / 3], [2 / 3, 1 / 3]),
    ],
)
def test_a_row_of_three_masses_has_the_published_velocities_and_impulses(
    restitution: float, after: list[float], impulses: list[float]
) -> None:
    """C19, Waltersberger Ex. 5.1 (ε of the captions, the text has them exchanged)."""
    result = Newton().resolve(three(restitution))
    assert result.after == pytest.approx(after, abs=1e-14)
    assert result.normal == pytest.approx(impulses, abs=1e-14)
    assert projection(three(restitution)) == pytest.approx(after, abs=1e-12)


def test_two_carts_have_the_published_velocities_and_impulses() -> None:
    """Waltersberger Ex. 1.1b in relative coordinates: Λ = (0, 1), ⁺v = (1, 0); mirrored: (1, 2) and (0, 0)."""
    mass = [[1.0, -1.0], [-1.0, 2.0]]
    right = Newton().resolve(ImpactProblem(mass, [0.0, -1.0], np.eye(2)))
    assert right.after == pytest.approx([1.0, 0.0], abs=1e-14)
    assert right.normal == pytest.approx([0.0, 1.0], abs=1e-14)
    left = Newton().resolve(ImpactProblem(mass, [0.0, 1.0], np.diag([1.0, -1.0])))
    assert left.after == pytest.approx([0.0, 0.0], abs=1e-14)
    assert left.normal == pytest.approx([1.0, 2.0], abs=1e-14)


def test_the_elastic_of_two_stops_takes_the_whole_impulse() -> None:
    """Waltersberger Ex. 1.1c: as equations unsolvable, as inequalities ⁺v = 1, Λ = (0, 2)."""
    result = Newton().resolve(ImpactProblem([1.0], [-1.0], [[1.0, 1.0]], restitution=[0.0, 1.0]))
    assert result.after == pytest.approx([1.0])
    assert result.normal == pytest.approx([0.0, 2.0])
    assert result.unique.forces == "unique"


@pytest.mark.parametrize("law", [Newton(), Poisson()], ids=lambda law: law.name)
@careful
@given(seed=SEEDS)
def test_one_contact_returns_with_its_restitution(law: Any, seed: int) -> None:
    """C20: ⁺ġ = −ε ⁻ġ to round-off."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, contacts=1, restitution=rng.uniform())
    before = problem.normal_velocity(problem.before)
    scale = np.abs(problem.normal).sum() * np.abs(problem.before).max()
    assert law.resolve(problem).normal_velocity == pytest.approx(
        -problem.restitution * before, abs=1e-14 * scale * np.linalg.cond(problem.mass)
    )


@careful
@given(seed=SEEDS, approaching=st.booleans())
def test_the_law_is_a_projection(seed: int, approaching: bool) -> None:
    """(3.98) = (3.111), with different ε, with opening contacts, and unique."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, restitution=rng.uniform(size=3), approaching=approaching)
    result = Newton().resolve(problem)
    assert result.after == pytest.approx(projection(problem), abs=1e-9 * np.abs(result.after).max())
    assert result.unique.motion == result.unique.forces == "unique"


@careful
@given(seed=SEEDS, dimension=st.sampled_from([0, 1]))
def test_the_mixed_problem_of_the_source_has_the_same_answer(seed: int, dimension: int) -> None:
    """(3.97) with ⁺v among the unknowns, assembled here by hand and solved by another method."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, dimension=dimension, friction=0.2)
    n, m = problem.normal.shape
    vertices = np.kron(np.eye(problem.patches), [[1.0, -1.0]])
    friction = problem.tangential @ vertices
    ones = np.kron(np.eye(problem.patches), np.ones((2, 1)))
    p, s = friction.shape[1], problem.patches
    matrix = np.block(
        [
            [problem.mass, -problem.normal, -friction, np.zeros((n, s))],
            [problem.normal.T, np.zeros((m, m + p + s))],
            [friction.T, np.zeros((p, m + p)), ones],
            [np.zeros((s, n)), problem.friction.toarray(), -ones.T, np.zeros((s, s))],
        ]
    )
    offset = np.concatenate([-problem.mass @ problem.before, np.zeros(m + p + s)])
    mixed = solve(MixedComplementarity(matrix, offset, free=n), Lemke())
    result = Newton().resolve(problem)
    if dimension == 0 or result.unique.motion == "unique":
        assert result.after == pytest.approx(mixed.x[:n], abs=1e-8 * np.abs(result.after).max())


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(("friction", "sticks"), [(0.1, False), (2.0, True)])
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_a_mass_point_hits_a_rough_plane(
    dimension: int, friction: float, sticks: bool, restitution: float
) -> None:
    """Closed form: |Λ_T| = min(m |v_T|, μ Λ_N) against the slip, Λ_N = (1 + ε) m |v_N|."""
    slip = np.array([1.2, -0.5])[:dimension]
    before = np.append(slip, -2.0)
    axes = np.eye(dimension + 1)
    problem = ImpactProblem(
        3.0 * np.ones(dimension + 1),
        before,
        axes[:, [dimension]],
        restitution=restitution,
        tangential=axes[:, :dimension],
        friction=friction,
        dimension=dimension,
    )
    result = Newton().resolve(problem)
    press = (1 + restitution) * 3.0 * 2.0
    speed = np.linalg.norm(slip)
    stop = min(3.0 * speed, friction * press)
    assert result.normal == pytest.approx([press])
    assert result.tangential == pytest.approx(-stop * slip[None] / speed, abs=1e-8)
    assert result.after == pytest.approx(
        np.append(slip * (1 - stop / (3.0 * speed)), restitution * 2.0), abs=1e-8
    )
    assert sticks == (np.linalg.norm(result.tangential_velocity) < 1e-8)


def test_a_rod_slides_through_its_impact() -> None:
    """Coupled directions: Λ_N (W_NN − μ s W_NT) = −(1 + ε) v_N while the tip keeps sliding in the direction s."""
    length, angle, friction, restitution = 1.0, 1.1, 0.3, 0.5
    arm = 0.5 * length * np.array([np.cos(angle), np.sin(angle)])
    normal = np.array([[0.0], [1.0], [-arm[0]]])
    tangential = np.array([[1.0], [0.0], [arm[1]]])
    problem = ImpactProblem(
        [1.0, 1.0, length**2 / 12], [4.0, -1.0, 0.0], normal,
        restitution=restitution, tangential=tangential, friction=friction,
    )  # fmt: skip
    w = problem.delassus
    press = 1.5 * 1.0 / (w[0, 0] - friction * w[0, 1])
    for law in (Newton(), Poisson()):
        result = law.resolve(problem)
        assert result.normal == pytest.approx([press])
        assert result.tangential[0] == pytest.approx([-friction * press])
        assert result.tangential_velocity[0, 0] > 0


def test_polygon_tends_to_the_disc_and_planar_friction_needs_none() -> None:
    problem = random_impact(np.random.default_rng(2), dimension=2)
    exact = Newton().resolve(problem).after
    errors = [np.abs(Newton(polygon=sides).resolve(problem).after - exact).max() for sides in (4, 16, 64)]
    assert errors[2] < 0.1 * errors[0]
    assert errors[2] < 2 * np.pi / 64 * np.abs(problem.before).max()
    planar = random_impact(np.random.default_rng(2), dimension=1)
    assert Newton(polygon=8).resolve(planar).after == pytest.approx(Newton().resolve(planar).after)


@pytest.mark.parametrize("dimension", [1, 2])
def test_one_patch_pressed_by_two_contacts_has_the_sum_of_their_limits(dimension: int) -> None:
    """μ as a row (0.2, 0.5): two posts on a floor, one friction patch between them, (3.74)."""
    axes = np.eye(3)
    problem = ImpactProblem(
        [2.0, 2.0, 2.0],
        [5.0, -1.0, -3.0],
        axes[:, 1:],
        tangential=np.column_stack([axes[:, 0], np.zeros(3)])[:, :dimension],
        friction=[[0.2, 0.5]],
        dimension=dimension,
    )
    result = Newton().resolve(problem)
    assert result.tangential[0, 0] == pytest.approx(-(0.2 * 2.0 + 0.5 * 6.0))


def test_opening_contact_may_approach_afterwards() -> None:
    """Three masses, ⁻v = (3, 0, 1), ε = 1 → (−1/3, 8/3, 5/3): contact 2 opened before and closes after."""
    result = Newton().resolve(three(1.0, before=(3.0, 0.0, 1.0)))
    assert result.after == pytest.approx([-1 / 3, 8 / 3, 5 / 3], abs=1e-14)
    assert result.normal_velocity[1] == pytest.approx(-1.0)
    assert result.remaining == pytest.approx([0.0, 1.0])
    assert "contact 1 with 1 m/s" in result.words


def test_all_closed_contacts_may_leave_no_velocity_where_the_approaching_ones_do() -> None:
    """A mass between two walls: ⁺v ≥ 1 at the wall it hits and ⁺v ≤ 0.5 at the one it leaves."""
    between = ImpactProblem([1.0], [-1.0], [[1.0, -1.0]], restitution=[1.0, 0.5])
    with pytest.raises(NoSolution):
        Newton().resolve(between)
    assert Newton().resolve(between.approaching().problem).after == pytest.approx([1.0])


def test_ring_turns_its_velocity_differences_around() -> None:
    """All gaps of a closed ring are zero: Σ ⁺v_N = 0 leaves only ⁺v_N = −ε ⁻v_N, v̄ − ε (⁻v − v̄)."""
    problem = ring(5, 0.7)
    expected = 0.2 - 0.7 * (problem.before - 0.2)
    assert Newton().resolve(problem).after == pytest.approx(expected, abs=1e-12)


@careful
@given(seed=SEEDS, dimension=st.sampled_from([0, 1, 2]))
def test_a_moving_wall_is_a_resting_wall_in_its_frame(seed: int, dimension: int) -> None:
    """v → v + u, a → a − Jᵀ u leaves contact velocities and impulses."""
    rng = np.random.default_rng(seed)
    still = random_impact(rng, restitution=0.3 if dimension == 0 else 0.0, dimension=dimension, friction=0.2)
    shift = rng.normal(size=5)
    moving = ImpactProblem(
        still.mass,
        still.before + shift,
        still.normal,
        restitution=still.restitution,
        tangential=still.tangential,
        friction=still.friction,
        normal_rate=-still.normal.T @ shift,
        tangential_rate=(-still.tangential.T @ shift).reshape(-1, still.dimension),
        dimension=still.dimension,
    )
    one, two = Newton().resolve(still), Newton().resolve(moving)
    size = np.abs(one.impulse).max() * np.linalg.cond(still.mass)
    assert two.impulse == pytest.approx(one.impulse, abs=1e-9 * size)
    assert two.after - shift == pytest.approx(one.after, abs=1e-8 * np.abs(one.after).max())
    assert abs(two.audit.residual) < 1e-12 * (two.audit.energy_before + two.audit.energy_after)


def test_a_wall_that_comes_throws_a_resting_ball_and_puts_work_in() -> None:
    """a_N = −2 m/s, ε = 0.5: the ball leaves with 2 + 0.5 · 2; the wall works −Λ a."""
    result = Newton().resolve(ImpactProblem([1.5], [0.0], [[1.0]], restitution=0.5, normal_rate=[-2.0]))
    assert result.after == pytest.approx([3.0])
    assert result.audit.walls == pytest.approx(1.5 * 3.0 * 2.0)
    assert result.audit.energy_after == pytest.approx(0.5 * 1.5 * 9.0)
    assert result.audit.dissipated == pytest.approx(0.5 * 1.5 * (1 - 0.25) * 4.0)
    assert "Moving walls put in 9 J" in result.words


@careful
@given(seed=SEEDS, dimension=st.sampled_from([0, 1]))
def test_a_contact_given_twice_changes_nothing_but_the_forces(seed: int, dimension: int) -> None:
    """Rank-deficient J: ⁺v as before, the sum of both impulses as before, and the split reported as open."""
    rng = np.random.default_rng(seed)
    once = random_impact(
        rng, restitution=0.0 if dimension else rng.uniform(), dimension=dimension, friction=0.2
    )
    twice = ImpactProblem(
        once.mass,
        once.before,
        np.column_stack([once.normal, once.normal[:, 0]]),
        restitution=np.append(once.restitution, once.restitution[0]),
        tangential=np.column_stack([once.tangential, once.tangential[:, : once.patches and 1]]),
        friction=0.2 if dimension else 0.0,
    )
    single, double = Newton().resolve(once), Newton().resolve(twice)
    if single.unique.motion == "unique":
        assert double.after == pytest.approx(single.after, abs=1e-8 * np.abs(once.before).max())
        assert double.normal[0] + double.normal[3] == pytest.approx(single.normal[0], abs=1e-7)
    if dimension == 0:
        assert double.unique.motion == "unique"
        assert (double.unique.forces == "not unique") == (single.normal[0] > 1e-6)


def test_a_long_row_is_solved_sparsely() -> None:
    """600 masses, plastic: all move with v/600, the impulse in contact i is (1 − (i + 1)/600) m v."""
    n = 600
    normal = sparse.csr_array(row(np.ones(n), np.zeros(n)).normal)
    problem = ImpactProblem(np.ones(n), np.arange(n) == 0, normal)
    assert sparse.issparse(problem.delassus)
    result = Newton().resolve(problem)
    assert result.after == pytest.approx(np.full(n, 1 / n), abs=1e-7)
    assert result.normal == pytest.approx(1 - np.arange(1, n) / n, abs=1e-5)
