"""The sequential law: printed chains, conservation, its limit, and impacts of pairs computed by hand."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from impact_cases import balls, random_impact, ring, row, three

from klapper.mechanics.impact import ImpactProblem, Newton, Sequential

careful = settings(max_examples=30)

CHAINS = {
    "AAA": (0.01478, 0.01500, 0.97022),
    "AAB": (0.01500, 0.16996, 0.69201),
    "ABA": (0.17255, 0.20897, 0.58133),
    "BAA": (0.09720, 0.24827, 0.81504),
    "AAC": (0.01500, 0.28716, 0.59251),
    "ADA": (-0.52626, 0.24256, 0.63148),
    "DAA": (0.35317, 0.88273, 1.50336),
    "AAD": (-0.51036, 0.00700, 0.40754),
    "BBB": (0.25037, 0.28723, 0.46240),
    "CCC": (0.28040, 0.31637, 0.40322),
    "DDD": (0.06980, 0.07458, 0.85562),
    "AAAA": (0.01456, 0.01478, 0.01499, 0.95567),
    "AAAAA": (0.01435, 0.01456, 0.01477, 0.01498, 0.94134),
}


def by_hand(problem: ImpactProblem) -> tuple[np.ndarray, int]:
    """A row of masses hit at one end: of two neighbouring contacts only one approaches at a time, so pairs suffice."""
    mass, v, rounds = problem.mass, problem.before.copy(), 0
    while np.any(v[:-1] - v[1:] > 1e-9 * np.abs(problem.before).max()):
        rounds += 1
        for i in np.flatnonzero(v[:-1] - v[1:] > 1e-9 * np.abs(problem.before).max()):
            total = mass[i] + mass[i + 1]
            push = (1 + problem.restitution[i]) * mass[i] * mass[i + 1] / total * (v[i] - v[i + 1])
            v[i] -= push / mass[i]
            v[i + 1] += push / mass[i + 1]
    return v, rounds


def test_elastic_row_passes_the_velocity_on() -> None:
    """C23, Waltersberger Ex. 5.4, Fig. 5.6: (1, 0, 0) → (0, 1, 0) → (0, 0, 1)."""
    result = Sequential().resolve(three(1.0))
    assert result.iterates.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert result.finished
    assert "Finished after 2 fast impacts" in result.words


def test_a_half_elastic_row_ends_after_three_fast_impacts() -> None:
    """C23, Fig. 5.7: three fast impacts to (0.203125, 0.234375, 0.5625); the last iterate, not the one before it."""
    result = Sequential().resolve(three(0.5))
    assert result.iterates[1:].tolist() == [
        [0.25, 0.75, 0.0],
        [0.25, 0.1875, 0.5625],
        [0.203125, 0.234375, 0.5625],
    ]
    assert result.fast_impacts == 3


@pytest.mark.parametrize("types", CHAINS)
def test_chains_of_balls_end_with_the_printed_velocities(types: str) -> None:
    """Waltersberger Table 5.1 and Scheme 5.3 for 1 m/s, to the printed digits."""
    problem = balls(types)
    result = Sequential().resolve(problem)
    assert result.after == pytest.approx(CHAINS[types], abs=6e-6)
    assert problem.mass @ result.after == pytest.approx(problem.mass[0], rel=1e-12)
    energies = [problem.kinetic_energy(v) for v in result.iterates]
    assert np.all(np.diff(energies) <= 1e-15 * energies[0])
    assert np.diff(result.after).min() >= -1e-9
    assert result.finished


def test_a_chain_of_equal_balls_scales_with_the_speed_to_seven_digits() -> None:
    """B16: A-A-A gives (0.0147784, 0.0149966, 0.970225) times the speed, for any speed."""
    for speed in (0.5, 1.0, 2.0):
        after = Sequential().resolve(balls("AAA", speed)).after
        assert after == pytest.approx(speed * np.array([0.0147784, 0.0149966, 0.970225]), abs=6e-7 * speed)


@careful
@given(
    masses=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=7),
    restitution=st.floats(0.1, 1.0),
    speed=st.floats(0.1, 10.0),
)
def test_rows_hit_at_one_end_are_impacts_of_pairs(
    masses: list[float], restitution: float, speed: float
) -> None:
    problem = row(masses, speed * (np.arange(len(masses)) == 0), restitution=restitution)
    expected, rounds = by_hand(problem)
    result = Sequential().resolve(problem)
    assert result.after == pytest.approx(expected, abs=1e-8 * speed)
    assert abs(result.fast_impacts - rounds) <= 1
    assert problem.mass @ result.after == pytest.approx(masses[0] * speed, rel=1e-12)


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_ring_of_elastic_discs_stops_at_the_limit(limit: int) -> None:
    """B16, Waltersberger Ex. 5.5: the velocity runs round for ever; after l fast impacts disc l has it."""
    result = Sequential(limit=limit).resolve(ring(6, 1.0))
    assert not result.finished
    assert result.fast_impacts == limit
    assert result.after == pytest.approx(np.eye(6)[limit % 6])
    assert result.remaining.sum() == pytest.approx(1.0)
    assert f"Not finished after {limit} fast impacts" in result.words
    assert "contact" in result.words
    assert result.audit.gain == 0.0


def test_newtons_law_turns_around_what_a_stopped_sequence_left() -> None:
    stuck = Sequential(limit=4).resolve(ring(6, 0.5))
    after = Newton().resolve(stuck.problem.starting_from(stuck.after)).after
    assert after == pytest.approx(1 / 6 - 0.5 * (stuck.after - 1 / 6), abs=1e-12)


def test_plastic_row_ends_only_in_the_limit() -> None:
    """Approach speeds halve with every fast impact: as many impacts as the tolerance has bits, ⁺v → 1/3 each."""
    for tolerance in (1e-3, 1e-6, 1e-9):
        result = Sequential(least_approach=tolerance).resolve(three(0.0))
        assert result.fast_impacts == int(np.ceil(np.log2(1 / tolerance)))
        assert np.abs(result.after - 1 / 3).max() < tolerance
    assert not Sequential(least_approach=0.0, limit=20).resolve(three(0.0)).finished


def test_opening_contacts_are_left_alone() -> None:
    """⁻v = (3, 0, 1), ε = 1: unlike Newton's law for all contacts nothing approaches at the end; elastic passing on."""
    result = Sequential().resolve(three(1.0, before=(3.0, 0.0, 1.0)))
    assert result.after == pytest.approx([0.0, 1.0, 3.0])
    assert not result.remaining.any()


@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_one_fast_impact_is_newtons_law(dimension: int) -> None:
    problem = random_impact(np.random.default_rng(9), restitution=0.4, dimension=dimension, friction=0.1)
    one = Sequential(limit=1).resolve(problem)
    assert one.after == pytest.approx(Newton().resolve(problem).after, abs=1e-8)


def test_only_approaching_contacts_rub() -> None:
    """Three unit masses on a line that also slide across it; the second contact is passed by the second fast impact."""
    normal = np.zeros((6, 2))
    normal[[0, 1], 0], normal[[1, 2], 1] = (-1.0, 1.0), (-1.0, 1.0)
    tangential = np.zeros((6, 2))
    tangential[[3, 4], 0], tangential[[4, 5], 1] = (-1.0, 1.0), (-1.0, 1.0)
    before = [1.0, 0.0, 0.0, 3.0, 0.0, 0.0]
    problem = ImpactProblem(np.ones(6), before, normal, restitution=1.0, tangential=tangential, friction=0.1)
    result = Sequential().resolve(problem)
    assert result.iterates[1] == pytest.approx([0.0, 1.0, 0.0, 2.9, 0.1, 0.0])
    assert result.iterates[2] == pytest.approx(
        [0.0, 0.0, 1.0, 2.9, 0.05, 0.05]
    )  # the slip 0.1 stops below μ Λ
    assert result.fast_impacts == 2
    assert result.audit.gain == 0.0


def test_energy_never_grows_without_friction() -> None:
    rng = np.random.default_rng(12)
    for _ in range(100):
        problem = random_impact(rng, restitution=rng.uniform(size=3), approaching=False)
        result = Sequential(limit=200).resolve(problem)
        energies = [problem.kinetic_energy(v) for v in result.iterates]
        assert np.all(np.diff(energies) <= 1e-13 * energies[0])
        assert result.audit.normal.min() >= -1e-12 * energies[0]
