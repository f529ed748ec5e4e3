"""Active sets: nested on random states, and the closed form of a block that lifts, slides and sticks."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.mechanics import (
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    LinearSystem,
    Tolerances,
    active_sets,
)


def random_system(seed: int, contacts: int = 6) -> LinearSystem:
    """Integer directions and states, so that exact zeros of gap and velocity are frequent."""
    rng = np.random.default_rng(seed)
    parts: list[Contact | FrictionElement] = []
    for i in range(contacts):
        normal, tangent = rng.integers(-1, 2, 4), rng.integers(-1, 2, 4)
        normal[0], tangent[0] = normal[0] or 1, tangent[0] or 1
        parts.append(
            Contact(f"c{i}", normal=normal, tangents=tangent, friction=0.3, gap=Harmonic(1.0, 2.0) + 20.0)
        )
    brake = rng.integers(-1, 2, 4)
    brake[0] = brake[0] or 1
    parts.append(FrictionElement("brake", tangents=brake, limit=1.0))
    return LinearSystem(np.ones(4), contacts=parts)


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-9, 0.5]), st.booleans())
def test_sets_are_nested(seed: int, tolerance: float, by_acceleration: bool) -> None:
    """C3: A_N1 ⊂ A_N2 ⊂ A_N3, A_T1 ⊂ A_T2 ⊂ closed or gapless, and each by its own definition."""
    rng, system = np.random.default_rng(seed), random_system(seed)
    t = rng.uniform(0, 3)
    q, v, a = (
        rng.integers(-12, 5, 4).astype(float),
        rng.integers(-1, 2, 4).astype(float),
        rng.integers(-1, 2, 4) * 1.0,
    )
    bounds = Tolerances(tolerance, tolerance, tolerance)
    sets = active_sets(system, t, q, v, a if by_acceleration else None, bounds)
    everything = np.arange(7)
    gaps, directions = system.gaps(t, q, everything), system.directions(t, q, everything)
    b_n, b_t = system.curvature(t, q, v, everything)
    closed = [i for i in range(6) if gaps[i] <= tolerance]
    approach = [i for i in closed if directions.normal_velocity(v)[i] <= tolerance]
    still = [i for i in [*closed, 6] if abs(directions.tangential_velocity(v)[i]) <= tolerance]
    assert sets.closed.tolist() == closed
    assert sets.not_separating.tolist() == approach
    assert sets.not_sliding.tolist() == still
    if not by_acceleration:
        assert sets.staying is None and sets.sticking is None
        return
    stays = [i for i in approach if (directions.normal.T @ a + b_n)[i] <= tolerance]
    sticks = [i for i in still if abs((directions.tangential.T @ a + b_t)[i]) <= tolerance]
    assert sets.staying.tolist() == stays
    assert sets.sticking.tolist() == sticks
    assert set(stays) <= set(approach) <= set(closed)
    assert set(sticks) <= set(still)


@pytest.mark.parametrize(
    ("height", "speed", "lift", "expected"),
    [
        (0.1, (0.0, -1.0), 0.0, ([], [], [])),
        (0.0, (1.0, 1.0), 0.0, ([0], [], [])),
        (0.0, (1.0, 0.0), 1.0, ([0], [0], [])),
        (0.0, (0.0, 0.0), 0.0, ([0], [0], [0])),
        (-1e-12, (0.0, -1.0), -1.0, ([0], [0], [0])),
    ],
)
def test_a_contact_is_closed_not_separating_and_staying_by_its_gap_velocity_and_acceleration(
    height: float, speed: tuple[float, float], lift: float, expected
) -> None:
    block = FunctionSystem(
        [0.0, 1.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.zeros(2),
        contacts=[Contact("floor", gap=lambda t, q: q[1], tangents=[1.0, 0.0], friction=0.5)],
    )
    state = np.array([0.0, height]), np.array(speed), np.array([0.0, lift])
    sets = active_sets(block, 0.0, *state, Tolerances(velocity=1e-9, acceleration=1e-6))
    assert (sets.closed.tolist(), sets.not_separating.tolist(), sets.staying.tolist()) == expected
    assert sets.not_sliding.tolist() == ([0] if expected[0] and speed[0] == 0.0 else [])


def test_without_contacts_all_sets_are_empty() -> None:
    sets = active_sets(LinearSystem([1.0]), 0.0, np.zeros(1), np.zeros(1), np.zeros(1))
    assert all(
        len(part) == 0
        for part in (sets.closed, sets.not_separating, sets.staying, sets.not_sliding, sets.sticking)
    )
