"""Stationary states followed over speed, load and flow: closed forms, folds, poles, branchings, dependent contacts."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from stationary_oracles import all_states, least_energy, random_family, violation

import klapper.analysis.stationary_path as stationary_path
from klapper.analysis import NoStationaryState, follow_stationary, stationary_state, stationary_states
from klapper.mechanics import Contact, Harmonic, InvalidModel, LinearSystem
from klapper.structures.pipe import Pipe

STIFFNESS, GAP = 100.0, 0.02
STOP = Contact("stop", GAP, [1.0])
STOPS = [Contact("left", GAP, [1.0]), Contact("right", GAP, [-1.0])]
Family = Callable[[float], LinearSystem]


def turning(load: float, contacts: list[Contact] | None = None) -> Family:
    """A mass of 1 kg on a spring in a frame that turns; critical speed 10 rad/s."""
    stops = [STOP] if contacts is None else contacts
    return lambda speed: LinearSystem([1.0], stiffness=[STIFFNESS - speed**2], force=[load], contacts=stops)


def kinds(branch) -> list[str]:
    return [event.kind for event in branch.events]


@pytest.mark.parametrize("steps", [20, 33])  # with and without a point exactly at the critical speed
def test_a_stop_holds_through_the_critical_speed(steps: int) -> None:
    """λ = F − g₀ (k − Ω²), though K is singular at Ω = 10."""
    branch = follow_stationary(turning(-5.0), 0.0, 20.0, steps=steps)
    assert branch.forces[:, 0, 0] == pytest.approx(5.0 - GAP * (STIFFNESS - branch.parameter**2), rel=1e-12)
    assert kinds(branch) == ["critical", "end"]
    assert branch.named("critical") == pytest.approx([10.0], rel=1e-12)
    away = np.abs(branch.parameter - 10.0) > 1e-9
    assert np.array_equal(branch.convex[away], branch.parameter[away] < 10.0)
    assert np.all(branch.negative == 0)
    assert np.all(branch.closed)
    assert branch.residual.max() <= 1e-10
    assert branch.finished


def test_a_contact_may_close_in_the_step_of_the_critical_speed() -> None:
    """It closes where f/(k − Ω²) = g₀, within the same step in which the stiffness vanishes."""
    load = 1e-3
    branch = follow_stationary(turning(-load), 0.0, 20.0, steps=33)
    assert kinds(branch) == ["closes", "critical", "end"]
    assert branch.named("closes") == pytest.approx([np.sqrt(STIFFNESS - load / GAP)], rel=1e-12)
    assert branch.forces[-1, 0, 0] == pytest.approx(load + GAP * (400.0 - STIFFNESS), rel=1e-10)


def test_where_a_state_grows_without_bound_the_branch_is_lost_and_another_one_found() -> None:
    """Pulled off the stop: a pole at Ω = 10, no state up to Ω² = k + f/g₀, two beyond."""
    branch = follow_stationary(turning(5.0), 0.0, 30.0, steps=50)
    assert kinds(branch) == ["unbounded", "lost", "critical", "resumed", "end"]
    assert branch.named("unbounded") == pytest.approx([10.0], rel=1e-9)
    first_again = np.sqrt(STIFFNESS + 5.0 / GAP)
    assert first_again <= branch.named("resumed")[0] <= first_again + 0.6
    assert branch.number[-1] == 1
    for speed, position, force in zip(branch.parameter, branch.position, branch.forces, strict=True):
        states = all_states(turning(5.0)(speed))
        assert any(np.allclose(position, q) and np.allclose(force[:, 0], f) for q, f in states)


def test_no_state_beyond_is_the_end() -> None:
    branch = follow_stationary(turning(5.0), 0.0, 15.0, steps=20)
    assert kinds(branch)[-1] == "end"
    assert "no state was found beyond" in str(branch)
    assert branch.parameter.max() < 10.0


def test_a_fold_turns_back() -> None:
    """From high speed down: the pressed and the free state meet at Ω² = k + f/g₀."""
    family = turning(5.0)
    pressed = next(state for state in stationary_states(family(25.0)) if len(state.loaded))
    branch = follow_stationary(family, 25.0, 12.0, steps=40, first=pressed)
    assert kinds(branch) == ["opens", "fold", "end"]
    assert branch.folds == pytest.approx([np.sqrt(STIFFNESS + 5.0 / GAP)], rel=1e-12)
    assert branch.parameter[-1] == pytest.approx(25.0)
    assert branch.position[-1] == pytest.approx([5.0 / (STIFFNESS - 625.0)])
    assert str(branch.events[-1]).endswith("back at the start")


def hysteresis(speed: float) -> LinearSystem:
    """Pressed by 4 N onto a floor, flung off by 0.02 Ω², caught by a rim at 0.03 m; critical speed 10 rad/s."""
    contacts = [Contact("floor", 0.0, [1.0]), Contact("rim", 0.03, [-1.0])]
    return LinearSystem([1.0], stiffness=[100.0 - speed**2], force=[0.02 * speed**2 - 4.0], contacts=contacts)


LIFTS = np.sqrt(4.0 / 0.02)  # 0.02 Ω² = 4
CAUGHT = np.sqrt((4.0 + 0.03 * 100.0) / (0.02 + 0.03))  # 0.02 Ω² − 4 = 0.03 (100 − Ω²)


def test_an_s_shaped_branch_has_two_folds_and_three_states_between() -> None:
    branch = follow_stationary(hysteresis, 0.0, 20.0, steps=60)
    assert kinds(branch) == ["critical", "opens", "fold", "closes", "fold", "end"]
    assert branch.folds == pytest.approx([LIFTS, CAUGHT], rel=1e-12)
    assert branch.parameter[-1] == 20.0
    free = ~branch.closed.any(axis=1)
    assert np.all(branch.negative[free] == 1)
    assert np.all(branch.negative[~free] == 0)
    assert len(stationary_states(hysteresis(0.5 * (LIFTS + CAUGHT)))) == 3


def test_a_machine_jumps_at_folds_up_and_down() -> None:
    up = follow_stationary(hysteresis, 0.0, 20.0, steps=60, at_fold="jump")
    assert kinds(up) == ["critical", "opens", "fold", "lost", "resumed", "end"]
    assert up.folds == pytest.approx([LIFTS], rel=1e-12)
    assert np.all(np.diff(up.parameter) >= 0.0)
    down = follow_stationary(hysteresis, 20.0, 0.0, steps=60, first=up.state(-1), at_fold="jump")
    assert down.folds == pytest.approx([CAUGHT], rel=1e-12)
    assert down.parameter[-1] == 0.0
    assert down.forces[-1, 0, 0] == pytest.approx(4.0)


def test_a_perfect_system_passes_its_critical_speed_and_names_what_branches_off() -> None:
    branch = follow_stationary(turning(0.0, STOPS), 0.0, 20.0, steps=33)
    assert kinds(branch) == ["branching", "critical", "end"]
    assert "'left'" in str(branch.events[0]) and "'right'" in str(branch.events[0])
    assert np.all(branch.position == 0.0)
    above = stationary_states(turning(0.0, STOPS)(15.0))
    assert sorted(float(state.position[0]) for state in above) == pytest.approx([-GAP, 0.0, GAP])
    left = next(state for state in above if state.position[0] < 0.0)
    other = follow_stationary(turning(0.0, STOPS), 15.0, 20.0, steps=10, first=left)
    assert other.forces[:, 0, 0] == pytest.approx(GAP * (other.parameter**2 - STIFFNESS))


def test_dependent_contacts_close_and_open_together() -> None:
    twins = [Contact("one", GAP, [1.0]), Contact("two", GAP, [1.0])]
    loaded = lambda load: LinearSystem([1.0], stiffness=[STIFFNESS], force=[load], contacts=twins)  # noqa: E731
    branch = follow_stationary(loaded, 5.0, -5.0, steps=7)
    assert [(event.kind, event.name) for event in branch.events[:2]] == [("closes", "one"), ("closes", "two")]
    assert branch.named("closes") == pytest.approx(-STIFFNESS * GAP)
    total = branch.forces[:, :, 0].sum(axis=1)
    assert total == pytest.approx(np.maximum(-branch.parameter - STIFFNESS * GAP, 0.0), abs=1e-12)


def test_far_legs_lift_off_where_the_load_leaves_the_table() -> None:
    """Beyond the legs the far ones lift off, at x = ±1; between them forces are shared, and one leg takes over."""
    legs = [
        Contact(f"leg {i}", normal=[1.0, x, y])
        for i, (x, y) in enumerate([(-1, -1), (-1, 1), (1, -1), (1, 1)])
    ]
    soft = np.full(3, 1e-3)
    walking = lambda x: LinearSystem(np.ones(3), stiffness=soft, force=[-1.0, -x, 0.0], contacts=legs)  # noqa: E731
    branch = follow_stationary(walking, -1.2, 1.2, steps=11)
    touching = [
        (round(event.parameter, 3), event.name)
        for event in branch.events
        if event.kind in ("closes", "opens")
    ]
    left, right = -1.0 - 1e-9, 1.0 + 1e-9
    assert {name for _, name in touching} == {leg.name for leg in legs}
    assert branch.named("closes") == pytest.approx([-1.0, -1.0], abs=2e-3)
    assert branch.named("opens") == pytest.approx([1.0, 1.0], abs=2e-3)
    inside = (branch.parameter > left) & (branch.parameter < right)
    assert branch.forces[inside, :, 0].sum(axis=1) == pytest.approx(1.0, abs=2e-3)
    assert branch.residual.max() <= 1e-10


def test_over_a_load_it_is_the_quadratic_program_everywhere() -> None:
    family, _ = random_family(4)
    direction = np.random.default_rng(1).standard_normal(20)
    base = family(0.0)

    def pushed(load: float) -> LinearSystem:
        return LinearSystem(
            np.eye(20), stiffness=base.stiffness, force=load * direction, contacts=list(base.contacts.parts)
        )

    branch = follow_stationary(pushed, 0.0, 20.0, steps=40)
    assert "closes" in kinds(branch)
    assert np.all(branch.convex)
    for load, position in zip(branch.parameter[1:], branch.position[1:], strict=True):
        expected = least_energy(pushed(load))
        assert np.abs(position - expected).max() <= 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("seed", "circulatory", "steps"), [(0, 0.0, 200), (1, 0.0, 80), (2, 0.0, 80), (3, 0.05, 80)]
)
def test_every_point_of_a_random_branch_is_a_state_of_rest(seed: int, circulatory: float, steps: int) -> None:
    """20 coordinates, 10 contacts: every point a solution of (3), the convex part the quadratic program."""
    family, critical = random_family(seed, circulatory=circulatory)
    branch = follow_stationary(family, 0.0, float(critical[3]), steps=steps)
    assert len(branch) >= 0.75 * steps
    assert branch.residual.max() <= 1e-10
    for k in range(0, len(branch), 10):
        speed = float(branch.parameter[k])
        if np.abs(speed - critical).min() > 1e-3:
            assert violation(family(speed), branch.position[k], branch.forces[k, :, 0]) <= 1e-10
        if speed < 0.98 * critical[0] and not circulatory:
            expected = least_energy(family(speed))
            assert np.abs(branch.position[k] - expected).max() <= 1e-10 * np.abs(expected).max()
    for k, after in pairwise(
        range(len(branch))
    ):  # between events positions change by little, in proportion to the step
        if branch.number[k] == branch.number[after] and branch.parameter[k] == branch.parameter[after]:
            assert branch.position[k] == pytest.approx(branch.position[after], rel=1e-6, abs=1e-9)


def test_every_crossing_of_a_speed_is_one_of_all_states() -> None:
    family, critical = random_family(5, size=8, contacts=6)
    branch = follow_stationary(family, 0.0, float(critical[3]), steps=120)
    for k in np.linspace(1, len(branch) - 2, 25).astype(int):
        states = all_states(family(float(branch.parameter[k])))
        assert any(np.allclose(branch.position[k], q, rtol=1e-7, atol=1e-9) for q, _ in states)


def test_a_pipe_is_held_by_its_stop_through_the_critical_flow() -> None:
    """Pinned pipe: critical flow (π/L) √(E I/M_f); gravity lays it on a stop in the middle, which holds the first
    shape. In the closed range q is the deflection of two fields."""
    pipe = Pipe(2.0, 100.0, 1.0, 0.5, supports={0.0: "pinned", 2.0: "pinned"}, elements=8)
    stop = Contact("stop", 0.001, pipe.row(1.0))
    branch = follow_stationary(lambda flow: pipe.system(flow, [stop], gravity=9.81), 0.0, 30.0, steps=40)
    assert kinds(branch) == ["critical", "end"]
    assert branch.named("critical") == pytest.approx([np.pi / 2.0 * np.sqrt(100.0 / 0.5)], rel=1e-4)
    assert np.all(branch.closed)
    at_rest = stationary_state(pipe.system(0.0, [stop], gravity=9.81))
    deflection = (
        5 * 1.5 * 9.81 * 2.0**4 / (384 * 100.0)
    )  # beam under its weight, then a force 48 E I/L³ per lift
    assert at_rest.forces[0, 0] == pytest.approx(48 * 100.0 / 2.0**3 * (deflection - 0.001), rel=1e-9)
    assert branch.forces[0, 0, 0] == pytest.approx(at_rest.forces[0, 0], rel=1e-12)


def test_a_cantilever_pipe_has_an_unsymmetric_stiffness() -> None:
    """The follower force of the jet is circulatory; the state equals that of every single flow."""
    pipe = Pipe(1.0, 50.0, 0.5, 0.5, supports={0.0: "clamped"}, elements=6)
    stop = Contact("stop", 0.02, pipe.row(1.0))
    family = lambda flow: pipe.system(flow, [stop], gravity=9.81)  # noqa: E731
    branch = follow_stationary(family, 0.0, 20.0, steps=30)
    assert branch.residual.max() <= 1e-10
    for k in (5, 15, 25):
        states = stationary_states(family(float(branch.parameter[k])))
        assert any(np.allclose(branch.position[k], state.position, rtol=1e-8) for state in states)


def test_points_are_states_that_can_be_used_further() -> None:
    branch = follow_stationary(hysteresis, 0.0, 12.0, steps=10)
    state = branch.state(-1)
    assert state.position == pytest.approx(branch.position[-1])
    assert state.system.contacts.names == branch.contacts == ("floor", "rim")
    assert state.convex is False


def test_ctrl_c_keeps_what_there_is() -> None:
    calls = 0

    def impatient(speed: float) -> LinearSystem:
        nonlocal calls
        calls += 1
        if calls > 20:
            raise KeyboardInterrupt
        return hysteresis(speed)

    branch = follow_stationary(impatient, 0.0, 20.0, steps=60)
    assert not branch.finished
    assert 5 < len(branch) < 60
    assert str(branch.events[-1]).endswith("interrupted")


def test_progress_is_counted_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Counter:
        def __enter__(self):
            return self

        def __exit__(self, *error: object) -> None:
            return None

        def count(self, done: int) -> None:
            seen.append(done)

    asked = []
    monkeypatch.setattr(stationary_path, "tally_for", lambda *about: asked.append(about) or Counter())
    follow_stationary(turning(-5.0), 0.0, 20.0, steps=30, progress=True)
    assert asked == [(True, 30, "steps")]
    assert seen[0] == 0 and seen[-1] == 30
    assert seen == sorted(seen)


def test_changing_loads_are_frozen() -> None:
    def family(stiffness: float) -> LinearSystem:
        return LinearSystem([1.0], stiffness=[stiffness], force=Harmonic([5.0], 2.0), contacts=[STOP])

    with pytest.raises(InvalidModel, match="changes with time"):
        follow_stationary(family, 10.0, 20.0)
    branch = follow_stationary(family, 10.0, 20.0, steps=4, time=0.5)
    assert branch.position[:, 0] == pytest.approx(5.0 * np.cos(1.0) / branch.parameter)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: follow_stationary(turning(1.0), 1.0, 1.0), "must differ"),
        (lambda: follow_stationary(3, 0.0, 1.0), "family is 3"),
        (lambda: follow_stationary(lambda s: s, 0.0, 1.0), "expected a LinearSystem"),
        (lambda: follow_stationary(turning(1.0), 0.0, 1.0, steps=0), "steps is 0"),
        (lambda: follow_stationary(turning(1.0), 0.0, 1.0, at_fold="stop"), "allowed are 'turn' and 'jump'"),
        (
            lambda: follow_stationary(turning(1.0), 0.0, 1.0, first=stationary_state(turning(2.0)(0.0))),
            "first is not a state of rest",
        ),
        (
            lambda: follow_stationary(lambda s: turning(1.0, STOPS if s > 0.5 else None)(s), 0.0, 1.0),
            "other contacts or coordinates",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        call()


def test_a_start_that_is_not_unique_must_be_given() -> None:
    with pytest.raises(NoStationaryState, match="give first"):
        follow_stationary(turning(-5.0), 15.0, 20.0)


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(i, marks=pytest.mark.slow) for i in range(8, 40))]
)
def test_a_stiffness_that_is_symmetric_only_at_rest_is_singular_nowhere(seed: int) -> None:
    """Circulatory forces that grow with the speed, on a positive symmetric part: one state at every speed, whose
    equations are never singular. At rest the orientation was a count, elsewhere a sign: a branching at 1e-8."""
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 6))
    root, skew = draw.standard_normal((2, size, size))
    stiffness, skew = root @ root.T + np.eye(size), skew - skew.T
    stops = [
        Contact(f"stop {i}", draw.uniform(0.05, 0.3), row)
        for i, row in enumerate(draw.standard_normal((int(draw.integers(1, 4)), size)))
    ]
    load = draw.standard_normal(size)

    def family(speed: float) -> LinearSystem:
        around = {} if speed == 0.0 else {"circulatory": speed * skew}
        return LinearSystem(np.ones(size), stiffness=stiffness, force=load, contacts=stops, **around)

    branch = follow_stationary(family, 0.0, 2.0, steps=12)
    assert set(kinds(branch)) <= {"closes", "opens", "loads", "unloads", "end"}
    assert branch.parameter[-1] == 2.0
    for i in (0, len(branch.parameter) // 2, -1):
        alone = stationary_state(family(float(branch.parameter[i])))
        assert branch.position[i] == pytest.approx(alone.position, abs=1e-9)
