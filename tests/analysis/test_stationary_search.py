"""States of rest under contact, against quadratic programs, all combinations of contacts, and closed forms."""

import numpy as np
import pytest
from stationary_oracles import all_states, least_energy, parts, random_family, violation

from klapper.analysis import (
    NoStationaryState,
    StationaryState,
    minimal_coordinates,
    stationary_state,
    stationary_states,
)
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics import Constraint, Contact, FrictionElement, Harmonic, InvalidModel, LinearSystem

TABLE = [
    Contact(f"leg {i}", normal=[1.0, x, y]) for i, (x, y) in enumerate([(-1, -1), (-1, 1), (1, -1), (1, 1)])
]
ROUGH = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5, tangential_rate=-2.0)


@pytest.mark.parametrize("seed", range(6))
def test_below_the_critical_speed_it_is_the_quadratic_program(seed: int) -> None:
    """1e-10, Waltersberger & Wauer."""
    family, critical = random_family(seed)
    for speed in (0.0, 0.5 * critical[0], 0.95 * critical[0]):
        system = family(speed)
        state, expected = stationary_state(system), least_energy(system)
        assert np.abs(state.position - expected).max() <= 1e-10 * np.abs(expected).max()
        assert violation(system, state.position, state.forces[:, 0]) <= 1e-10
        assert state.residual <= 1e-10
        assert state.convex
        assert state.isolated
        assert state.negative == 0
        assert len(state.loaded) > 0


def test_two_sided_constraints_hold_even_where_one_is_redundant() -> None:
    rng = np.random.default_rng(3)
    root = rng.standard_normal((8, 8))
    rows = rng.standard_normal((3, 8))
    start = np.linalg.lstsq(rows, [-0.2, 0.1, 0.0], rcond=None)[0]
    ties = [
        Constraint(f"tie {i}", row, offset)
        for i, (row, offset) in enumerate(zip(rows, (0.2, -0.1, 0.0), strict=True))
    ]
    double = Constraint("double", rows[0] + rows[1], 0.1)
    stops = [Contact(f"stop {i}", 1.0, normal) for i, normal in enumerate(rng.standard_normal((5, 8)))]
    given = {"stiffness": root @ root.T + np.eye(8), "force": 4.0 * rng.standard_normal(8), "contacts": stops}
    alone = LinearSystem(np.eye(8), constraints=ties, position=start, penetration=10.0, **given)
    redundant = LinearSystem(
        np.eye(8), constraints=[*ties, double], position=start, penetration=10.0, **given
    )
    for system in (alone, redundant):
        state = stationary_state(system)
        assert state.position == pytest.approx(least_energy(alone), rel=1e-10, abs=1e-11)
        assert system.constraint_residuals(0.0, state.position) == pytest.approx(0.0, abs=1e-12)
        stiffness, load, normal, _ = parts(system)
        pushed = load + normal @ state.forces[:, 0] + np.asarray(system.constraint_matrix) @ state.constraint
        assert stiffness @ state.position == pytest.approx(pushed, rel=1e-9, abs=1e-10)


def test_unsymmetric_stiffness_has_the_one_state_of_all_combinations() -> None:
    for seed in range(4):
        family, _ = random_family(seed, size=8, contacts=6, circulatory=0.6)
        system = family(0.0)
        state, (expected,) = stationary_state(system), all_states(system)
        assert state.position == pytest.approx(expected[0], rel=1e-10, abs=1e-12)
        assert state.forces[:, 0] == pytest.approx(expected[1], rel=1e-9, abs=1e-11)
        assert state.convex


def test_forces_of_a_table_with_four_legs_have_bounds() -> None:
    """Weight in the middle: each leg carries anything from nothing to half of it."""
    state = stationary_state(LinearSystem([20.0, 1.0, 1.0], force=[-200.0, 0.0, 0.0], contacts=TABLE))
    assert state.forces[:, 0].sum() == pytest.approx(200.0)
    assert state.lower is not None and state.upper is not None
    assert state.lower[:, 0] == pytest.approx(0.0)
    assert state.upper[:, 0] == pytest.approx(100.0)
    assert state.undetermined == tuple(leg.name for leg in TABLE)
    assert state.touching.all()
    assert state.isolated
    assert "anything from 0 to 100 N" in str(state)


def test_a_table_that_overhangs_stands_on_legs_with_unique_forces() -> None:
    """Weight W at x = 0.8, y = 0.4: bounds of the leg (1, 1) from balance, W(0.8 + 0.4)/2 … W(1 + 0.4)/2 and so on."""
    weight, x, y = 200.0, 0.8, 0.4
    system = LinearSystem([20.0, 1.0, 1.0], force=[-weight, -weight * x, -weight * y], contacts=TABLE)
    state = stationary_state(system)
    assert state.lower is not None and state.upper is not None
    assert state.lower[3, 0] == pytest.approx(weight * (x + y) / 2)
    assert state.upper[3, 0] == pytest.approx(weight * (1 + y) / 2)
    at_edge = LinearSystem([20.0, 1.0, 1.0], force=[-weight, -weight, 0.0], contacts=TABLE)
    unique = stationary_state(at_edge)
    assert unique.forces[:, 0] == pytest.approx([0.0, 0.0, weight / 2, weight / 2], abs=1e-9)
    assert unique.undetermined == ()


def test_without_stiffness_contacts_hold_and_what_they_leave_is_told() -> None:
    floor = [Contact("floor", normal=[0.0, 1.0])]
    block = stationary_state(LinearSystem([2.0, 2.0], force=[0.0, -20.0], contacts=floor))
    assert block.forces[0, 0] == pytest.approx(20.0)
    assert block.isolated is False
    assert "nothing holds it in place" in str(block)
    with pytest.raises(NoStationaryState, match="pushes it away, most of all in 'q1'"):
        stationary_state(LinearSystem([2.0, 2.0], force=[1.0, -20.0], contacts=floor))


def test_a_block_on_a_belt_is_dragged_by_friction() -> None:
    """k x = μ N; the spring stands between belt and wall."""
    state = stationary_state(
        LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[ROUGH])
    )
    assert state.position == pytest.approx([0.05, 0.0])
    assert state.forces[0] == pytest.approx([10.0, 5.0])
    assert state.states.tolist() == [SLIP]


def test_friction_elements_over_belts_pull_with_their_limit_and_their_share() -> None:
    stop = Contact("stop", normal=[0.0, 1.0])
    patch = FrictionElement("patch", [1.0, 0.0], limit=2.0, shares={"stop": 0.3}, tangential_rate=1.5)
    state = stationary_state(
        LinearSystem([1.0, 1.0], stiffness=[50.0, 0.0], force=[0.0, -10.0], contacts=[stop, patch])
    )
    assert state.forces[1, 1] == pytest.approx(-5.0)
    assert state.position[0] == pytest.approx(-0.1)


def test_friction_at_rest_carries_nothing_and_sticks() -> None:
    rest = Contact("table", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    bolt = FrictionElement("bolt", [1.0, 0.0], limit=3.0)
    state = stationary_state(
        LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[1.0, -10.0], contacts=[rest, bolt])
    )
    assert state.position == pytest.approx([0.01, 0.0])
    assert state.states.tolist() == [STICK, STICK]
    assert state.forces[:, 1] == pytest.approx(0.0)


def test_loads_that_change_are_refused_or_frozen() -> None:
    shaken = LinearSystem(
        [1.0], stiffness=[100.0], force=Harmonic([5.0], 2.0), contacts=[Contact("stop", 1.0, [1.0])]
    )
    with pytest.raises(InvalidModel, match="the load changes with time"):
        stationary_state(shaken)
    assert stationary_state(shaken, time=0.5).position == pytest.approx([0.05 * np.cos(1.0)])


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (LinearSystem([1.0], stiffness=[-1.0], force=[1.0]), "negative in 1 direction"),
        (
            LinearSystem(
                [1.0],
                stiffness=[1.0],
                contacts=[Contact("left", 0.0, [1.0]), Contact("right", -0.1, [-1.0])],
                penetration=1.0,
            ),
            "jammed between them",
        ),
    ],
)
def test_no_state_is_told_in_words_of_mechanics(system: LinearSystem, words: str) -> None:
    with pytest.raises(NoStationaryState, match=words):
        stationary_state(system)


def test_a_given_friction_limit_belongs_to_a_friction_element() -> None:
    pulled = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], limit=2.0, tangential_rate=1.0)
    with pytest.raises(InvalidModel, match="give the limit to a FrictionElement"):
        stationary_state(LinearSystem([1.0, 1.0], stiffness=[1.0, 1.0], contacts=[pulled]))


def test_what_is_no_linear_system_is_refused() -> None:
    with pytest.raises(InvalidModel, match="expected a LinearSystem"):
        stationary_state(3)  # type: ignore[arg-type]


def turning(speed: float, load: float) -> LinearSystem:
    """A mass of 1 kg on 100 N/m with a stop at 0.02 m, in a frame that turns."""
    return LinearSystem(
        [1.0], stiffness=[100.0 - speed**2], force=[load], contacts=[Contact("stop", 0.02, [1.0])]
    )


def test_beyond_the_critical_speed_there_are_two_states() -> None:
    """Free, q = f/(k − Ω²), and on the stop, λ = −f − g₀ (k − Ω²)."""
    free, pressed = stationary_states(turning(15.0, -5.0))
    assert free.position == pytest.approx([5.0 / 125.0])
    assert (free.negative, free.convex, free.isolated) == (1, False, True)
    assert pressed.forces[0, 0] == pytest.approx(5.0 + 0.02 * 125.0)
    assert (pressed.negative, pressed.states.tolist()) == (0, [SLIP])
    assert "not convex" in str(pressed)


def test_there_is_no_state_between_the_critical_speed_and_the_fold() -> None:
    """Pulled off the stop, there is nothing from Ω² = k to k + f/g₀ = 350, and two states beyond."""
    assert stationary_states(turning(15.0, 5.0)) == ()
    assert len(stationary_states(turning(20.0, 5.0))) == 2


def test_at_the_critical_speed_itself_the_stop_holds_or_nothing_is_isolated() -> None:
    """K = 0: pressed, the mass can be on the stop only; unloaded it may be anywhere between two stops."""
    (pressed,) = stationary_states(turning(10.0, -5.0))
    assert pressed.forces[0, 0] == pytest.approx(5.0)
    stops = [Contact("left", 0.02, [1.0]), Contact("right", 0.02, [-1.0])]
    states = stationary_states(LinearSystem([1.0], contacts=stops))
    assert len(states) >= 1
    assert not any(state.isolated for state in states)


@pytest.mark.parametrize("seed", range(8))
def test_all_states_of_problems_that_are_not_convex_are_found(seed: int) -> None:
    family, critical = random_family(seed, size=6, contacts=5, circulatory=0.3 * (seed % 2))
    system = family(0.5 * (critical[1] + critical[2]))
    expected = sorted(all_states(system), key=lambda one: one[0][0])
    states = sorted(stationary_states(system), key=lambda one: one.position[0])
    assert len(states) == len(expected)
    for state, (position, forces) in zip(states, expected, strict=True):
        assert state.position == pytest.approx(position, rel=1e-9, abs=1e-11)
        assert state.forces[:, 0] == pytest.approx(forces, rel=1e-8, abs=1e-10)
        assert violation(system, state.position, state.forces[:, 0]) <= 1e-10


def test_states_that_differ_in_their_forces_only_are_one() -> None:
    stops = [Contact("one", 0.02, [1.0]), Contact("two", 0.02, [1.0]), Contact("far", 0.5, [-1.0])]
    system = LinearSystem([1.0], stiffness=[-125.0], force=[-5.0], contacts=stops)
    states = stationary_states(system)
    assert [len(state.open) for state in states] in (
        [3, 1, 2],
        [3, 2, 1],
        [1, 3, 2],
        [1, 2, 3],
        [2, 3, 1],
        [2, 1, 3],
    )
    pressed = next(state for state in states if state.touching[0])
    assert pressed.upper is not None and pressed.lower is not None
    assert pressed.lower[:2, 0] == pytest.approx(0.0)
    assert pressed.upper[:2, 0] == pytest.approx(5.0 + 0.02 * 125.0)
    assert pressed.isolated


def test_too_many_contacts_are_refused() -> None:
    many = [
        Contact(f"stop {i}", 1.0, row)
        for i, row in enumerate(np.random.default_rng(0).standard_normal((40, 5)))
    ]
    with pytest.raises(InvalidModel, match="too many to try all combinations"):
        stationary_states(LinearSystem(np.ones(5), stiffness=np.ones(5), contacts=many))


def test_the_state_goes_on_to_minimal_coordinates() -> None:
    """The loaded stop takes away one of two coordinates; the other one vibrates with √(k/m)."""
    stop = Contact("stop", normal=[1.0, 0.0])
    system = LinearSystem([1.0, 2.0], stiffness=[100.0, 50.0], force=[-1.0, 0.0], contacts=[stop])
    reduced = minimal_coordinates(stationary_state(system))
    assert reduced.size == 1
    assert np.abs(reduced.eigenvalues().imag) == pytest.approx(5.0)


def test_a_system_without_contacts_rests_where_stiffness_balances_the_load() -> None:
    state = stationary_state(LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]], force=[3.0, 0.0]))
    assert isinstance(state, StationaryState)
    assert state.position == pytest.approx([2.0, 1.0])
    assert state.states.size == 0
    (only,) = stationary_states(LinearSystem([1.0], stiffness=[2.0], force=[3.0]))
    assert only.position == pytest.approx([1.5])
    assert np.all(stationary_state(turning(0.0, 1.0)).states == OPEN)
