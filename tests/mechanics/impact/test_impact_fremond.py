"""Frémond's law at jumps: Ex. 3.8, the form with M̂ in generalised velocities, dissipation, friction on rebound."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from impact_cases import random_impact
from scipy.optimize import LinearConstraint, minimize

from klapper.complementarity import MixedComplementarity, solve
from klapper.mechanics.impact import Fremond, ImpactProblem

SEEDS = st.integers(0, 2**32 - 1)
careful = settings(max_examples=30)


@pytest.mark.parametrize(
    ("parameter", "after"), [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (2.0, 1 / 3), (3.0, 1 / 2), (9.0, 0.8)]
)
def test_one_mass_leaves_a_wall_as_its_dissipative_mass_says(parameter: float, after: float) -> None:
    """C21, Waltersberger Ex. 3.8: ⁺v = max(0, (m − m₁)/(m + m₁) ⁻v), λ_N = 0 for m₁ ≥ m."""
    result = Fremond(parameter).resolve(ImpactProblem([1.0], [-1.0], [[1.0]]))
    assert result.after == pytest.approx([after], abs=1e-14)
    assert result.dissipative == pytest.approx([parameter * (1.0 - after)])
    assert result.reaction == pytest.approx([max(0.0, 1.0 - parameter)], abs=1e-14)
    assert result.normal == pytest.approx([1.0 + after])


@careful
@given(seed=SEEDS, approaching=st.booleans())
def test_the_law_is_a_mixed_problem_in_generalised_velocities(seed: int, approaching: bool) -> None:
    """(3.115) as a mixed problem with M̂ and M̄ formed in full."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, approaching=approaching)
    masses = rng.uniform(0.0, 4.0, 3)
    damping = problem.normal * masses @ problem.normal.T
    matrix = np.block([[problem.mass + damping, -problem.normal], [problem.normal.T, np.zeros((3, 3))]])
    offset = np.concatenate([-(problem.mass - damping) @ problem.before, np.zeros(3)])
    mixed = solve(MixedComplementarity(matrix, offset, free=5)).x
    result = Fremond(masses).resolve(problem)
    size = np.abs(problem.before).max()
    assert result.after == pytest.approx(mixed[:5], abs=1e-8 * size)
    assert result.reaction == pytest.approx(mixed[5:], abs=1e-7 * np.abs(problem.mass).max() * size)


def test_the_velocity_minimises_the_convex_function() -> None:
    """(3.117) by sequential quadratic programming."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        problem, masses = random_impact(rng), rng.uniform(0.0, 4.0, 3)
        damping = problem.normal * masses @ problem.normal.T
        heavy, load = problem.mass + damping, (problem.mass - damping) @ problem.before

        def function(
            v: np.ndarray, heavy: np.ndarray = heavy, load: np.ndarray = load
        ) -> tuple[float, np.ndarray]:
            return 0.5 * v @ heavy @ v - load @ v, heavy @ v - load

        found = minimize(
            function,
            np.zeros(5),
            jac=True,
            constraints=LinearConstraint(problem.normal.T, 0.0, np.inf),
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert Fremond(masses).resolve(problem).after == pytest.approx(found.x, abs=1e-5)


@careful
@given(seed=SEEDS)
def test_approaching_contacts_lose_energy(seed: int) -> None:
    """(3.119): 2 ΔT = λ_N · ⁻v_N − Σ m (⁺v_N + ⁻v_N)² ≤ 0."""
    rng = np.random.default_rng(seed)
    problem, masses = random_impact(rng), rng.uniform(0.0, 4.0, 3)
    result = Fremond(masses).resolve(problem)
    before = problem.normal_velocity(problem.before)
    expected = 0.5 * (result.reaction @ before - masses @ (result.normal_velocity + before) ** 2)
    audit = result.audit
    assert audit.energy_after - audit.energy_before == pytest.approx(
        expected, abs=1e-11 * audit.energy_before
    )
    assert audit.gain == 0.0


def test_opening_contacts_may_gain_energy_and_are_named() -> None:
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(150):
        problem = random_impact(rng, approaching=False)
        audit = Fremond(rng.uniform(0.0, 4.0, 3)).resolve(problem).audit
        if audit.gain:
            gains.append(audit)
    assert gains
    for audit in gains:
        assert audit.words.startswith("Energy gain")
        opening = next(iter(audit.givers))
        assert opening in audit.words


@pytest.mark.parametrize(("parameter", "after", "impulse"), [(0.5, 1 / 3, -2 / 3), (2.0, 0.0, -1.0)])
def test_a_contact_that_opens_is_pulled_back(parameter: float, after: float, impulse: float) -> None:
    """⁻v = 1: λ_D = −m₁ (⁺v + 1) brakes; for m₁ = 2 down to ⁺v = 0, where λ_D = −2 and λ_N = 1."""
    result = Fremond(parameter).resolve(ImpactProblem([1.0], [1.0], [[1.0]], names=["wall"]))
    assert result.after == pytest.approx([after], abs=1e-14)
    assert result.normal == pytest.approx([impulse])
    assert "Contacts that pull: wall." in result.words


def test_a_stop_given_twice_with_half_the_mass_each_is_the_same_stop() -> None:
    once = Fremond(3.0).resolve(ImpactProblem([1.0], [-1.0], [[1.0]]))
    twice = Fremond(1.5).resolve(ImpactProblem([1.0], [-1.0], [[1.0, 1.0]]))
    assert twice.after == pytest.approx(once.after)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(("parameter", "press"), [(0.5, 1.0), (3.0, 1.5)])
def test_a_rebounding_point_rubs(dimension: int, parameter: float, press: float) -> None:
    """Uncoupled directions: the whole percussion (m + m₁ restitution) presses, also where λ_N = 0."""
    axes = np.eye(dimension + 1)
    before = np.append([2.0, 0.0][:dimension], -1.0)
    problem = ImpactProblem(
        np.ones(dimension + 1),
        before,
        axes[:, [dimension]],
        tangential=axes[:, :dimension],
        friction=0.2,
        dimension=dimension,
    )
    result = Fremond(parameter).resolve(problem)
    assert result.normal == pytest.approx([press])
    assert result.tangential[0, 0] == pytest.approx(-0.2 * press)
    assert result.after[0] == pytest.approx(2.0 - 0.2 * press)


@pytest.mark.parametrize("dimension", [1, 2])
def test_friction_limits_fit_to_the_whole_percussion(dimension: int) -> None:
    rng = np.random.default_rng(6)
    for _ in range(25):
        problem = random_impact(rng, dimension=dimension, friction=0.15)
        result = Fremond(rng.uniform(0.0, 4.0, 3)).resolve(problem)
        limit = 0.15 * (result.reaction + np.maximum(result.dissipative, 0.0))
        force, slip = result.tangential, result.tangential_velocity
        assert np.all(np.linalg.norm(force, axis=1) <= limit + 1e-7 * limit.max())
        power = np.sum(force * slip, axis=1) + limit * np.linalg.norm(slip, axis=1)
        assert np.abs(power).max() <= 1e-6 * limit.max() * np.linalg.norm(slip, axis=1).max()
        assert abs(result.audit.residual) < 1e-12 * result.audit.energy_before
