"""Poisson's law at jumps: the surfaces of Ex. 5.2, equality with Newton, friction in both phases, open splits."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from impact_cases import projection, random_impact, three

from klapper.mechanics.impact import ImpactProblem, Newton, Poisson

SEEDS = st.integers(0, 2**32 - 1)
careful = settings(max_examples=30)


def surface(first: float, second: float) -> tuple[float, float]:
    """⁺v₂ − ⁺v₁ and ⁺v₃ − ⁺v₂ of three unit masses, by cases."""
    if second <= first:
        return first, 0.0
    if second <= 4 * first:
        return 4 / 3 * first - second / 3, 2 / 3 * (second - first)
    return 0.0, second / 2


def test_three_masses_open_as_the_published_surfaces_say() -> None:
    """C22, Waltersberger Ex. 5.2, Figs 5.4 and 5.5 on a grid of 41 × 41."""
    grid = np.linspace(0.0, 1.0, 41)
    opening = np.array([[Poisson().resolve(three([a, b])).normal_velocity for b in grid] for a in grid])
    expected = np.array([[surface(a, b) for b in grid] for a in grid])
    assert opening == pytest.approx(expected, abs=1e-13)
    assert opening[..., 1].max() == pytest.approx(0.5, abs=1e-14)
    reached = opening[..., 1] > 0.5 - 1e-12
    assert reached[grid <= 0.25, -1].all()
    assert reached.sum() == np.count_nonzero(grid <= 0.25)


def test_compression_leaves_three_masses_with_one_velocity() -> None:
    """Λ_K = (2/3, 1/3), v_K = 1/3 for all."""
    result = Poisson().resolve(three([0.3, 0.9]))
    assert result.compression == pytest.approx([2 / 3, 1 / 3])
    assert result.compressed == pytest.approx([1 / 3] * 3)


@careful
@given(seed=SEEDS, restitution=st.floats(0.0, 1.0))
def test_equal_coefficients_give_newtons_law(seed: int, restitution: float) -> None:
    """All contacts approaching: ⁺v and Λ as by Newton's law, to round-off."""
    problem = random_impact(np.random.default_rng(seed), restitution=restitution)
    newton, poisson = Newton().resolve(problem), Poisson().resolve(problem)
    size = np.abs(newton.after).max() * np.linalg.cond(problem.delassus)
    assert poisson.after == pytest.approx(newton.after, abs=1e-13 * size)


@careful
@given(seed=SEEDS)
def test_both_phases_are_projections(seed: int) -> None:
    """(5.11) and (5.13) by least distance programming: from ⁻v, and from v_K + M⁻¹ J e Λ_K, onto v_N ≥ 0."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, restitution=rng.uniform(size=3), approaching=False)
    plastic = ImpactProblem(problem.mass, problem.before, problem.normal)
    result = Poisson().resolve(problem)
    compressed = projection(plastic)
    size = 1e-9 * np.abs(problem.before).max()
    assert result.compressed == pytest.approx(compressed, abs=size)
    returned = problem.normal @ (problem.restitution * result.compression)
    pushed = result.compressed + np.linalg.solve(problem.mass, returned)
    assert result.after == pytest.approx(projection(plastic.starting_from(pushed)), abs=size)
    assert result.audit.gain == 0.0


@pytest.mark.parametrize("dimension", [1, 2])
def test_a_sliding_ball_may_stick_only_in_restitution(dimension: int) -> None:
    """Uncoupled directions: friction brakes μ m |v_N| in compression and up to e times that in restitution.

    Sphere of 1 kg with W_T = 7/2 per kg: the slip of 2 m/s loses 3.5 · 0.4 · 1 in compression and the rest, 0.6 m/s,
    in restitution with 0.6/3.5 < 0.4 · 0.5.
    """
    mass, radius = 1.0, 0.1
    normal = np.array([[0.0], [1.0], [0.0]])
    tangential = np.column_stack([[1.0, 0.0, radius], [0.0, 0.0, 0.0]])[:, :dimension]
    problem = ImpactProblem(
        [mass, mass, 0.4 * mass * radius**2],
        [2.0, -1.0, 0.0],
        normal,
        restitution=0.5,
        tangential=tangential,
        friction=0.4,
        dimension=dimension,
    )
    result = Poisson().resolve(problem)
    assert result.stages[0].impulse[:2] == pytest.approx([1.0, -0.4])
    assert result.stages[1].impulse[:2] == pytest.approx([0.5, -0.6 / 3.5], abs=1e-9)
    assert result.tangential_velocity == pytest.approx(np.zeros((1, dimension)), abs=1e-9)
    assert result.normal_velocity == pytest.approx([0.5])


def test_friction_of_a_phase_is_limited_by_the_normal_impulse_of_that_phase() -> None:
    """Sliding throughout: Λ_TK = −μ Λ_K and Λ_TE = −μ (e Λ_K + Λ_+), with Λ_+ > 0 at one of three contacts."""
    rng = np.random.default_rng(11)
    checked = 0
    for _ in range(60):
        problem = random_impact(rng, restitution=rng.uniform(size=3), dimension=2, friction=0.05)
        result = Poisson().resolve(problem)
        for stage in result.stages:
            force = stage.impulse[3:].reshape(3, 2)
            limit = 0.05 * stage.impulse[:3]
            slip = problem.tangential_velocity(stage.after)
            assert np.all(np.linalg.norm(force, axis=1) <= limit + 1e-9 * limit.max())
            power = np.sum(force * slip, axis=1) + limit * np.linalg.norm(slip, axis=1)
            assert np.abs(power).max() <= 1e-7 * limit.max() * np.linalg.norm(slip, axis=1).max()
        returned = problem.restitution * result.compression
        extra = result.stages[1].impulse[:3] - returned
        assert extra.min() >= -1e-9 * returned.max()
        assert np.abs(extra * result.normal_velocity).max() <= 1e-7 * returned.max()
        checked += int(np.any(extra > 1e-3 * returned.max()))
    assert checked > 5


def test_a_compression_impulse_shared_by_unequal_stops_leaves_the_rebound_open() -> None:
    """One mass, two stops with e = 0 and 1: any split of the compression is possible, so 0 ≤ ⁺v ≤ 1."""
    unequal = Poisson().resolve(ImpactProblem([1.0], [-1.0], [[1.0, 1.0]], restitution=[0.0, 1.0]))
    assert 0.0 <= unequal.after[0] <= 1.0
    assert unequal.unique.motion == "not unique"
    equal = Poisson().resolve(ImpactProblem([1.0], [-1.0], [[1.0, 1.0]], restitution=0.7))
    assert equal.after == pytest.approx([0.7])
    assert equal.unique.motion == "unique"
    assert equal.unique.forces == "not unique"


def test_the_split_is_looked_at_with_friction_too() -> None:
    axes = np.eye(2)
    given = {"tangential": axes[:, [0, 0]], "friction": 0.1}
    rough = ImpactProblem([1.0, 1.0], [3.0, -1.0], axes[:, [1, 1]], restitution=[0.0, 1.0], **given)
    assert Poisson().resolve(rough).unique.motion == "not unique"
    even = ImpactProblem([1.0, 1.0], [3.0, -1.0], axes[:, [1, 1]], restitution=0.5, **given)
    assert Poisson().resolve(even).unique.motion != "not unique"
    assert Poisson().resolve(even).after == pytest.approx([3.0 - 0.1 * 1.5, 0.5])


@pytest.mark.parametrize("dimension", [1, 2])
def test_friction_with_poissons_law_gained_no_energy_in_random_impacts(dimension: int) -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        problem = random_impact(rng, restitution=rng.uniform(size=3), dimension=dimension, friction=0.3)
        audit = Poisson().resolve(problem).audit
        assert audit.gain == 0.0
        assert abs(audit.residual) < 1e-12 * audit.energy_before
