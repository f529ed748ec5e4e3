"""The derivative of the flow through events of every kind, against differences of motions."""

import numpy as np
import pytest

from klapper.analysis import flow_map
from klapper.analysis.periodic.flow_map import scheme_for
from klapper.mechanics import Constraint, Contact, FrictionElement, FunctionSystem, LinearSystem
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.friction import Stribeck
from klapper.mechanics.impact import Poisson
from klapper.mechanics.signals import Harmonic
from klapper.mechanics.system import State
from klapper.schemes import EventDriven, Moreau
from klapper.schemes.phase_record import record_phases

SPACING = 1e-4
TOLERANCE = 1e-8  # differences of fourth order, SPACING⁴ and the round-off of events over SPACING are below


def end_of(system, duration, start, scheme=None):
    """State (2n,) at the end of the motion, and how often contacts switched."""
    phases = record_phases(system, scheme or scheme_for(system), start, start.time + duration)
    return phases[-1].after, len(phases)


def differences(system, duration, start, directions=None, scheme=None):
    """Derivatives of the end along ``directions`` (k, 2n), default all, by differences of fourth order of motions."""
    n = len(start.position)
    first = np.concatenate([start.position, start.velocity])
    counts = set()

    def end(x):
        state, count = end_of(system, duration, State(start.time, x[:n], x[n:]), scheme)
        counts.add(count)
        return state

    columns = []
    for along in SPACING * np.atleast_2d(np.eye(2 * n) if directions is None else directions):
        near, far = end(first + along) - end(first - along), end(first + 2 * along) - end(first - 2 * along)
        columns.append((8.0 * near - far) / (12.0 * SPACING))
    assert len(counts) == 1, "the differences must not cross a change of events"
    return np.array(columns).T


def check(system, duration, q, v, kinds, *, time=0.0, tolerance=TOLERANCE, scheme=None):
    start = State(time, np.array(q, dtype=float), np.array(v, dtype=float))
    found = flow_map(system, duration, start=start, scheme=scheme)
    assert [event.kind for event in found.events] == kinds
    expected = differences(system, duration, start, scheme=scheme)
    np.testing.assert_allclose(found.derivative, expected, atol=tolerance * max(np.abs(expected).max(), 1.0))
    return found


def test_the_derivative_of_one_bounce_is_the_closed_form():
    # x = 1 − t², v = −2t; after the impact at t = 1: x = ε 2 s − s², s = t − 1
    e, t = 0.5, 1.5
    ball = LinearSystem(
        [1.0], force=[-2.0], position=[1.0], contacts=[Contact("floor", normal=[1.0], restitution=e)]
    )
    found = flow_map(ball, t)
    # the impact comes at x + v t − t² = 0 with the speed sqrt(v² + 4 x): dt/dx = 1/2, dt/dv = 1/2 at the start
    s, speed = t - 1.0, 2.0
    by_x = [e * (2.0 / speed) * s + (-e * speed + 2.0 * s) * 0.5, e * 2.0 / speed + 2.0 * 0.5]
    by_v = [(-e * speed + 2.0 * s) * 0.5, 2.0 * 0.5]
    np.testing.assert_allclose(found.derivative, np.array([by_x, by_v]).T, atol=1e-13)
    assert found.events[0].speed == pytest.approx(2.0, abs=1e-13)
    assert found.events[0].impulse == pytest.approx(3.0, abs=1e-13)


def test_the_derivative_over_impacts_on_a_stop_is_that_of_differences():
    system = LinearSystem(
        [1.0],
        stiffness=[1.0],
        damping=[0.1],
        force=Harmonic([1.0], 2.8),
        contacts=[Contact("stop", normal=[-1.0], gap=0.1, restitution=0.8)],
    )
    check(system, 10.0, [0.0], [0.0], ["impact"] * 4)


def test_the_derivative_over_impacts_on_a_moving_wall_is_that_of_differences():
    wall = Contact("wall", normal=[1.0, 0.0], gap=Harmonic(0.2, 3.0, 0.4), restitution=0.6)
    system = LinearSystem(
        [[2.0, 0.3], [0.3, 1.0]], stiffness=[[3.0, -1.0], [-1.0, 2.0]], force=[-1.0, 0.2], contacts=[wall]
    )
    check(system, 3.0, [0.6, 0.1], [-0.3, 0.5], ["impact"] * 2)


def test_an_impact_is_felt_by_another_contact_that_rests():
    # the second contact is pressed when the first is hit, and both feel the impulse by the mass matrix
    contacts = [
        Contact("stop", normal=[1.0, 0.0], restitution=0.7),
        Contact("support", normal=[0.0, 1.0], restitution=0.2),
    ]
    system = LinearSystem(
        [[2.0, 0.5], [0.5, 1.0]], stiffness=[2.0, 1.0], force=[-1.0, -3.0], contacts=contacts
    )
    found = flow_map(system, 0.9, start=State(0.0, np.array([0.4, 0.0]), np.array([-0.5, 0.0])))
    assert [(e.kind, e.contact) for e in found.events] == [("impact", "stop"), ("impact", "support")]

    moving = np.eye(4)[[0, 2]]  # neighbours on the support
    expected = differences(system, 0.9, found.start, moving)
    np.testing.assert_allclose(found.derivative @ moving.T, expected, atol=TOLERANCE)


def test_dependent_contacts_are_hit_together():
    # two stops at the same place: the livelier one takes the impulse
    contacts = [Contact(name, normal=[1.0], restitution=e) for name, e in (("dull", 0.2), ("lively", 0.9))]
    system = LinearSystem([1.0], stiffness=[1.0], force=[-0.5], contacts=contacts)
    check(system, 4.0, [1.0], [0.0], ["impact"] * 2)
    equal = [Contact(name, normal=[1.0], restitution=0.5) for name in ("one", "two")]
    system = LinearSystem([1.0], stiffness=[1.0], force=[-0.5], contacts=equal)
    check(system, 2.5, [1.0], [0.0], ["impact"] * 2)  # they share one impact


@pytest.mark.parametrize(("friction", "rank"), [(1.0, 3), (0.2, 4)])
def test_an_impact_that_ends_in_sticking_takes_one_dimension(friction, rank):
    # where the impact ends in sticking, neighbours lose one of their four dimensions
    floor = Contact(
        "floor",
        normal=[0.3, 1.0],
        tangents=[[1.0, -0.2]],
        friction=friction,
        restitution=0.5,
        tangential_rate=0.1,
    )
    system = LinearSystem([[1.0, 0.2], [0.2, 1.5]], stiffness=[1.0, 0.5], force=[0.0, -2.0], contacts=[floor])
    found = check(system, 1.2, [0.0, 0.4], [1.2, -1.0], ["impact"])
    assert np.linalg.matrix_rank(found.derivative, tol=1e-10) == rank


def test_the_derivative_over_stick_slip_and_turning_is_that_of_differences():
    element = FrictionElement("patch", tangents=[1.0, 0.0], limit=0.7)
    system = LinearSystem(
        [1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 1.5]], force=Harmonic([0.0, 2.0], 1.3), contacts=[element]
    )
    kinds = ["sticks", "slips", "sticks", "slips", "turns", "turns", "turns"]
    check(system, 12.0, [0.3, 0.1], [0.5, 0.2], kinds)


def test_the_derivative_over_stick_slip_on_an_unsteady_belt_is_that_of_differences():
    belt = Contact(
        "belt", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=0.5, tangential_rate=Harmonic(0.8, 2.0)
    )
    system = LinearSystem([1.0, 2.0], stiffness=[1.5, 0.0], force=[0.0, -1.0], contacts=[belt])
    start = State(0.0, np.array([0.5, 0.0]), np.array([0.9, 0.0]))
    found = flow_map(system, 6.0, start=start)
    assert {"sticks", "slips"} <= {event.kind for event in found.events}
    expected = differences(system, 6.0, start, np.eye(4)[[0, 2]])
    np.testing.assert_allclose(found.derivative[:, [0, 2]], expected, atol=TOLERANCE)


def test_a_mass_that_rests_and_is_thrown_off_forgets_two_dimensions():
    # a mass falls on a shaken table, stays, and is thrown off; its neighbours become one motion
    table = Contact("table", normal=[1.0, 0.0], gap=Harmonic(-0.3, 4.0))
    system = LinearSystem(
        [1.0, 1.0],
        stiffness=[[0.4, -0.4], [-0.4, 0.9]],
        force=[-2.0, 0.0],
        position=[1.0, 0.2],
        contacts=[table],
    )
    found = check(system, 2.2, [1.0, 0.2], [0.0, 0.0], ["impact", "closes", "opens"], tolerance=3e-8)
    assert np.linalg.matrix_rank(found.derivative, tol=1e-10) == 2


def test_neighbours_that_keep_a_two_sided_constraint_move_as_the_derivative_says():
    system = LinearSystem(
        [1.0, 1.0, 2.0],
        stiffness=[1.0, 2.0, 0.5],
        force=Harmonic([0.0, 1.0, -0.5], 1.7),
        contacts=[Contact("stop", normal=[1.0, 0.0, 0.0], gap=0.1, restitution=0.6)],
        constraints=[Constraint("bar", direction=[1.0, -1.0, 0.5])],
    )
    start = State(0.0, np.array([0.1, 0.1, 0.0]), np.array([-1.0, 0.2, 2.4]))
    found = flow_map(system, 2.5, start=start)
    assert [event.kind for event in found.events].count("impact") >= 1
    # a neighbour that keeps the bar
    allowed = np.array([0.5, 1.0, 1.0, 0.0, 0.0, 0.0])
    expected = differences(system, 2.5, start, allowed)[:, 0]
    np.testing.assert_allclose(found.derivative @ allowed, expected, atol=10 * TOLERANCE)


def test_falling_friction_is_integrated():
    belt = Contact(
        "belt",
        normal=[0.0, 1.0],
        tangents=[[1.0, 0.0]],
        friction=Stribeck(0.4, 0.2, 0.3),
        tangential_rate=-0.5,
    )
    system = LinearSystem([1.0, 1.0], stiffness=[1.0, 0.0], force=[0.0, -1.0], contacts=[belt])
    start = State(0.0, np.array([0.9, 0.0]), np.array([0.1, 0.0]))
    found = flow_map(system, 6.0, start=start)
    assert [event.kind for event in found.events] == ["sticks", "slips"]
    expected = differences(system, 6.0, start, np.eye(4)[[0, 2]])
    np.testing.assert_allclose(found.derivative[:, [0, 2]], expected, atol=1e-7)


def test_the_derivative_of_a_pendulum_against_a_wall_is_that_of_differences():
    # nonlinear: the wall is met at an angle, the gap is no linear function of it
    system = FunctionSystem(
        [0.8],
        [0.0],
        mass=[[2.0]],
        force=lambda t, q, v: np.array([-3.0 * np.sin(q[0]) - 0.1 * v[0] + 0.3 * np.cos(2.0 * t)]),
        contacts=[Contact("wall", gap=lambda t, q: 0.4 + np.sin(q[0]), restitution=0.7)],
    )
    check(system, 6.0, [0.8], [0.0], ["impact"] * 2, tolerance=1e-7, scheme=EventDriven(1e-12))


def test_what_has_no_derivative_is_refused():
    ball = LinearSystem([1.0], force=[-2.0], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    with pytest.raises(InvalidModel, match="PiecewiseExact or EventDriven"):
        flow_map(ball, 1.0, scheme=Moreau(1e-3))
    with pytest.raises(InvalidModel, match="Newton's law"):
        flow_map(ball, 1.0, scheme=EventDriven(impact=Poisson()))
    with pytest.raises(InvalidModel, match="duration"):
        flow_map(ball, -1.0)
    plane = Contact("plane", normal=[0.0, 0.0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.3)
    slider = LinearSystem([1.0] * 3, force=[0.0, 0.0, -1.0], velocity=[1.0, 0.5, 0.0], contacts=[plane])
    with pytest.raises(InvalidModel, match="two directions"):
        flow_map(slider, 0.1)
