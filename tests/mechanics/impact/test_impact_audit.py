"""The books of impacts: they close, they know the closed form of the loss, and they name who gives energy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from impact_cases import random_impact, three

from klapper.complementarity import ComplementarityError
from klapper.mechanics.impact import IMPACT_LAWS, ImpactProblem, Newton, Poisson, Sequential
from klapper.mechanics.options import example_of

SEEDS = st.integers(0, 2**32 - 1)
careful = settings(max_examples=30)
LAWS = [example_of(law) for law in IMPACT_LAWS.values()]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@careful
@given(seed=SEEDS, dimension=st.sampled_from([0, 1, 2]))
def test_the_books_of_every_law_close_with_moving_walls_and_belts(
    law: Any, seed: int, dimension: int
) -> None:
    """C25 for every law, with moving walls and belts: ⁺T − ⁻T = walls − Σ dissipated to round-off."""
    rng = np.random.default_rng(seed)
    given = random_impact(rng, dimension=dimension, friction=0.1)
    problem = ImpactProblem(
        given.mass,
        given.before,
        given.normal,
        restitution=rng.uniform(size=3) if dimension == 0 else 0.0,
        tangential=given.tangential,
        friction=given.friction,
        normal_rate=0.3 * rng.normal(size=3),
        tangential_rate=rng.normal(size=(given.patches, given.dimension)),
        dimension=given.dimension,
    )
    audit = law.resolve(problem).audit
    terms = audit.energy_before + audit.energy_after + abs(audit.walls) + abs(audit.dissipated)
    assert abs(audit.residual) < 1e-12 * terms
    assert audit.friction.size == given.patches


@careful
@given(seed=SEEDS)
def test_newtons_law_loses_the_closed_form_in_a_frictionless_impact(seed: int) -> None:
    """C25, (3.118): 2 ΔT = Λᵀ (I − ε) Jᵀ ⁻v ≤ 0 to 1e-12, with different ε, all approaching; each contact takes."""
    rng = np.random.default_rng(seed)
    problem = random_impact(rng, restitution=rng.uniform(size=3))
    result = Newton().resolve(problem)
    audit = result.audit
    change = audit.energy_after - audit.energy_before
    twice = result.normal @ ((1 - problem.restitution) * (problem.normal.T @ problem.before))
    assert 2 * change == pytest.approx(twice, abs=1e-12 * audit.energy_before * np.linalg.cond(problem.mass))
    assert audit.restitution_loss == pytest.approx(-0.5 * twice)
    assert change <= 0.0
    assert audit.normal.min() >= -1e-12 * audit.energy_before
    assert audit.gain == 0.0


def test_one_restitution_for_all_never_gains_even_with_opening_contacts() -> None:
    rng = np.random.default_rng(21)
    for _ in range(150):
        problem = random_impact(rng, restitution=rng.uniform(), approaching=False)
        audit = Newton().resolve(problem).audit
        assert audit.energy_after <= audit.energy_before * (1 + 1e-12)


def test_an_opening_contact_with_another_restitution_gains_energy_and_is_named() -> None:
    """Three masses, ⁻v = (3, 0, 1), ε = (1, 0): Λ = (11/3, 4/3), the opening contact gives ½ · 4/3 · 1 J."""
    problem = three([1.0, 0.0], before=(3.0, 0.0, 1.0))
    result = Newton().resolve(problem)
    assert result.normal == pytest.approx([11 / 3, 4 / 3])
    assert result.audit.gain == pytest.approx(2 / 3)
    assert result.audit.givers == {"contact 1": pytest.approx(2 / 3)}
    assert result.words.startswith(
        "Energy gain of 0.666667 J by Newton's law (5 J before the impact): contact 1"
    )
    assert "Pass approaching contacts only" in result.words
    assert Newton().resolve(problem.approaching().problem).audit.gain == 0.0
    assert Sequential().resolve(problem).audit.gain == 0.0


def test_random_impacts_with_different_restitution_and_opening_contacts_do_gain() -> None:
    """The trap of section 3.2.5; the approaching contacts alone never gain."""
    rng = np.random.default_rng(0)
    gained = 0
    for _ in range(200):
        problem = random_impact(rng, restitution=rng.uniform(size=3), approaching=False)
        audit = Newton().resolve(problem).audit
        gained += audit.gain > 0
        if audit.gain:
            opening = problem.normal_velocity(problem.before) > 0
            assert any(opening[problem.names.index(name)] for name in audit.givers)
        assert Newton().resolve(problem.approaching().problem).audit.gain == 0.0
    assert gained > 0


@pytest.mark.parametrize("dimension", [1, 2])
def test_plastic_impacts_with_friction_always_lose(dimension: int) -> None:
    """C24, (3.121): ε = 0, so ⁺T − ⁻T ≤ −Σ μ Λ_N |⁺v_T| ≤ 0."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        problem = random_impact(rng, dimension=dimension, friction=0.5)
        result = Newton().resolve(problem)
        audit = result.audit
        slip = np.linalg.norm(result.tangential_velocity, axis=1)
        bound = -0.5 * (result.normal @ slip)
        assert audit.energy_after - audit.energy_before <= bound + 1e-9 * audit.energy_before


def test_friction_with_restitution_may_gain_and_says_so() -> None:
    """C24: reported, not failed. Newton's law with ε > 0 and friction, in the plane."""
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(150):
        problem = random_impact(rng, restitution=rng.uniform(size=3), dimension=1)
        try:
            result = Newton().resolve(problem)
        except ComplementarityError:
            continue
        change = result.audit.energy_after - result.audit.energy_before
        assert result.audit.gain == pytest.approx(max(change, 0.0), abs=1e-8 * result.audit.energy_before)
        if result.audit.gain:
            gains.append(result)
    assert gains
    for result in gains:
        assert result.words.startswith("Energy gain")
        assert "contact" in next(iter(result.audit.givers))
        assert "only restitution 0 rules this out" in result.words


def test_stages_are_booked_one_by_one() -> None:
    """Elastic row, sequential: no contact takes or gives, though contact 1 is the only one that opens in sum."""
    audit = Sequential().resolve(three(1.0)).audit
    assert audit.normal == pytest.approx([0.0, 0.0], abs=1e-15)
    assert audit.givers == {}
    assert audit.words == "All of 0.5 J is kept by the sequential law."


def test_poisson_moves_energy_between_contacts() -> None:
    """e = (0, 1): contact 2 stores no energy in compression but returns ½ · 1/3 · 1/2 J; ⁺v = (1, 1, 4)/6."""
    audit = Poisson().resolve(three([0.0, 1.0])).audit
    assert audit.givers == {"contact 1": pytest.approx(1 / 12)}
    assert audit.gain == 0.0
    assert audit.dissipated == pytest.approx(0.25)
    assert "contact 1 gives 0.0833333 J" in audit.words


def test_wall_and_belt_work_is_the_kinetic_energy_seen_from_them() -> None:
    """A block dropped on a belt of 3 m/s sticks to it: the belt works μ-free 2 · ½ m u², half of it is dissipated."""
    problem = ImpactProblem(
        [2.0, 2.0],
        [0.0, -1.0],
        [[0.0], [1.0]],
        tangential=[[1.0], [0.0]],
        friction=5.0,
        tangential_rate=[[-3.0]],
    )
    audit = Newton().resolve(problem).audit
    assert audit.walls == pytest.approx(2.0 * 9.0)
    assert audit.friction == pytest.approx([9.0])
    assert audit.normal == pytest.approx([1.0])
    assert audit.energy_after == pytest.approx(9.0)
    assert audit.gain == 0.0
