"""What can be asked of a run, against closed forms and against a plain loop over the states."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.results import Layout, ResultsError, Run

from .motions import GRAVITY, bouncing_ball, braked_block, driven_oscillator, logged_by_number, run_of_states

quick = settings(max_examples=80)


@st.composite
def states(draw: st.DrawFn) -> np.ndarray:
    count, contacts = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    values = draw(st.lists(st.integers(0, 3), min_size=count * contacts, max_size=count * contacts))
    return np.array(values).reshape(count, contacts)


def events_by_hand(state: list[int], frictionless: bool) -> list[tuple[int, str, int, int]]:
    """Sample, kind, state before and after, by going through the samples one by one."""
    found, settled = [], None
    for sample, now in enumerate(state):
        if frictionless and now == SLIP:
            now = STICK
        if now == IMPACT:
            found.append((sample, "impact", OPEN if settled is None else settled, now))
            continue
        if settled is not None and now != settled:
            if now == OPEN:
                kind = "opens"
            elif settled == OPEN:
                kind = "closes"
            else:
                kind = "sticks" if now == STICK else "slips"
            found.append((sample, kind, settled, now))
        settled = now
    return found


@quick
@given(states(), st.sampled_from([0, 1, 2]), st.booleans())
def test_events_are_those_found_by_hand(state: np.ndarray, tangential: int, by_number: bool) -> None:
    run = run_of_states(state, tangential=tangential)
    names = ["open", "stick", "slip", "impact"] if tangential else ["open", "closed", "closed", "impact"]
    expected = []
    for contact in range(state.shape[1]):
        for sample, kind, before, after in events_by_hand(state[:, contact].tolist(), tangential == 0):
            name = str(contact) if by_number else f"contact {contact}"
            impulse = tuple(run.impulse[sample, contact].tolist())
            expected.append((run.time[sample], contact, kind, name, names[before], names[after], impulse))
    expected.sort(key=lambda row: row[:2])
    asked = logged_by_number(run) if by_number else run
    events = asked.events()
    told = [(e.time, e.kind, e.contact, e.before, e.after, e.impulse) for e in events]
    assert told == [(time, *rest) for time, _, *rest in expected]
    last = state.shape[1] - 1
    assert asked.events(last) == [event for event in events if event.contact.endswith(str(last))]


@quick
@given(states(), st.sampled_from([0, 1, 2]))
def test_contacts_by_number_have_the_history_of_named_ones(state: np.ndarray, tangential: int) -> None:
    run = run_of_states(state, tangential=tangential)
    numbered = logged_by_number(run)
    for contact in range(state.shape[1]):
        one, other = run.contact(contact), numbered.contact(contact)
        closed = state[:, contact] != OPEN
        np.testing.assert_array_equal(other.state, one.state)
        np.testing.assert_array_equal(other.impulse, one.impulse)
        np.testing.assert_array_equal(other.force, one.force)
        np.testing.assert_array_equal(other.gap[closed], one.gap[closed])
        assert np.isnan(other.gap[~closed]).all()
    np.testing.assert_array_equal(numbered.impacts().impulse, run.impacts().impulse)
    np.testing.assert_array_equal(numbered.impacts().time, run.impacts().time)


def test_impacts_of_a_bouncing_ball_form_a_geometric_series() -> None:
    mass, height, restitution = 2.0, 1.0, 0.8
    run = bouncing_ball(mass=mass, height=height, restitution=restitution, until=3.0, count=3001)
    impacts = run.contact("floor").impacts
    first = mass * (1 + restitution) * math.sqrt(2 * GRAVITY * height)
    fall = math.sqrt(2 * height / GRAVITY)
    times = [fall * (1 + 2 * sum(restitution**k for k in range(1, n))) for n in range(1, 7)]
    assert impacts.impulse[:, 0] == pytest.approx([first * restitution**n for n in range(6)], rel=1e-12)
    assert np.all(
        (impacts.time >= times) & (impacts.time - 1e-3 <= times)
    )  # the interval that holds the impact
    assert impacts.contact == ("floor",) * 6
    assert [event.kind for event in run.events()] == ["impact"] * 6


def test_the_ball_closes_after_its_last_impact_and_then_its_force_is_its_weight() -> None:
    run = bouncing_ball(mass=2.0, restitution=0.5, until=3.0)
    rest = math.sqrt(2 / GRAVITY) * 1.5 / 0.5
    kinds = [event.kind for event in run.events()]
    assert kinds[-1] == "closes"
    assert set(kinds[:-1]) == {"impact"}
    assert run.events()[-1].before == "open"
    assert run.events()[-1].after == "closed"
    floor = run.contact("floor")
    resting = run.time > rest + 0.01
    assert floor.force[resting, 0] == pytest.approx(2.0 * GRAVITY, rel=1e-9)
    assert np.isnan(floor.force[floor.state == IMPACT]).all()
    assert np.all(floor.force[1:][(floor.state == OPEN)[1:]] == 0.0)
    assert np.isnan(floor.force[0]).all()  # no interval before the first sample


def test_impulses_and_weight_change_the_momentum() -> None:
    run = bouncing_ball(mass=2.0)
    change = 2.0 * np.diff(run.speed("ball y"))
    assert run.impulse[1:, 0, 0] - 2.0 * GRAVITY * np.diff(run.time) == pytest.approx(change, abs=1e-11)


def test_friction_is_its_coefficient_times_the_weight_until_the_block_sticks() -> None:
    run = braked_block(mass=3.0, speed=2.0, friction=0.3)
    force = run.force[:, 0]
    stop = 2.0 / (0.3 * GRAVITY)
    assert force[1:, 0] == pytest.approx(3.0 * GRAVITY, rel=1e-9)
    assert force[1:][run.time[1:] < stop, 1] == pytest.approx(-0.3 * 3.0 * GRAVITY, rel=1e-9)
    (event,) = run.events()
    assert (event.kind, event.before, event.after, event.contact) == ("sticks", "slip", "stick", "floor")
    assert stop <= event.time <= stop + 1.0 / 400
    assert len(run.impacts()) == 0


def test_constraint_forces_exist_where_nothing_is_hit() -> None:
    run = driven_oscillator()
    assert np.isnan(run.constraint_force[0])
    assert run.constraint_force[1:] == pytest.approx(7.0)
    state = np.array([[OPEN, OPEN], [STICK, OPEN], [STICK, IMPACT], [STICK, OPEN]])
    for other in (run_of_states(state), logged_by_number(run_of_states(state))):
        samples = {name: getattr(other.samples, name) for name in type(other.samples).__dataclass_fields__}
        samples["constraint_impulse"] = np.ones((4, 1))
        layout = Layout(("q",), ("v",), other.layout.contacts, 1, ("hinge",))
        hinged = Run(layout, type(other.samples)(**samples))
        np.testing.assert_array_equal(hinged.constraint_force[:, 0], [np.nan, 2.0, np.nan, 2.0])


def test_two_samples_at_the_same_time_have_no_force() -> None:
    run = run_of_states(np.full((4, 1), STICK), time=np.array([0.0, 1.0, 1.0, 2.0]))
    force = run.force[:, 0, 0]
    assert np.isnan(force[2])
    assert force[3] == run.impulse[3, 0, 0]


def test_columns_are_found_by_their_names() -> None:
    run = braked_block()
    np.testing.assert_array_equal(run.coordinate("block x"), run.position[:, 0])
    np.testing.assert_array_equal(run.speed("block y"), run.velocity[:, 1])
    time, position, velocity = run.final
    assert (time, position[0], velocity[0]) == (1.0, run.position[-1, 0], 0.0)
    assert position[0] == pytest.approx(2.0**2 / (2 * 0.3 * GRAVITY))
    assert len(run) == 401


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda run: run.coordinate("blok x"), "There is no coordinate 'blok x': the nearest are 'block x'"),
        (lambda run: run.speed("z"), "There is no velocity 'z'"),
        (lambda run: run.contact("flor"), "There is no contact 'flor': the nearest are 'floor'."),
        (lambda run: run.contact(4), "There is no contact 4: the run has 1, counted from 0."),
        (lambda run: run.events("roof"), "There is no contact 'roof'"),
        (lambda run: logged_by_number(run).contact("floor"), "logs its contacts by number"),
        (lambda run: driven_oscillator().contact("floor"), "There is no contact 'floor': this run has none."),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(ask: object, message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        ask(braked_block())  # type: ignore[operator]


def test_summary_and_repr_tell_the_essentials() -> None:
    run = bouncing_ball()
    assert repr(run) == "Run(bouncing ball: 601 samples to 3 s, 1 contact, complete)"
    text = run.summary()
    for part in ("closed form (restitution=0.8)", "6000 steps", "6 × impact", "The ledger closes", "0.25 s"):
        assert part in text
    numbered = logged_by_number(run_of_states(np.array([[0, 1, 1], [1, 0, 1]])))
    assert "3 contacts loaded, 2 at once" in numbered.summary()


def test_about_is_plain_data() -> None:
    base = bouncing_ball(count=3)
    run = Run(base.layout, base.samples, {"a": np.float64(2.0), "b": (1, np.arange(2)), "c": np.inf, 3: None})
    assert run.about == {"a": 2.0, "b": [1, [0, 1]], "c": "inf", "3": None}
    with pytest.raises(ResultsError, match=r"about\['x'\]\[0\] is a set, which cannot be stored"):
        Run(base.layout, base.samples, {"x": [{1}]})
