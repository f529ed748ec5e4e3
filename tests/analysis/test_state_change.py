"""Contacts that join by an impact: momentum, energy, projection in the metric of the mass, dependent contacts."""

import numpy as np
import pytest
import scipy.linalg

from klapper.analysis import change_of_state, minimal_coordinates, stationary_state
from klapper.analysis.contact_state import ContactState
from klapper.mechanics import Constraint, Contact, FrictionElement, InvalidModel, LinearSystem
from klapper.mechanics.impact import Poisson, Sequential
from klapper.schemes import EventDriven
from klapper.simulation import simulate


def carts(restitution: float = 0.0) -> LinearSystem:
    """Two carts of 1 and 3 kg; the second one leans on a wall by a load of 6 N."""
    return LinearSystem(
        [1.0, 3.0],
        force=[0.0, 6.0],
        contacts=[
            Contact("buffer", normal=[-1.0, 1.0], restitution=restitution),
            Contact("wall", normal=[0.0, -1.0], restitution=restitution),
        ],
    )


def test_a_cart_joins_another_one_and_both_roll_on() -> None:
    """Without the wall: momentum is kept, 1 · 4 = 4 · v, and ½ μ v² is lost with the reduced mass 3/4."""
    free = minimal_coordinates(LinearSystem([1.0, 3.0], contacts=[Contact("buffer", normal=[-1.0, 1.0])]))
    change = change_of_state(free, [0.0, 0.0], [4.0, 0.0], joins=["buffer"])
    assert change.velocity == pytest.approx([1.0, 1.0])
    assert change.loss == pytest.approx(0.5 * 0.75 * 16.0)
    assert change.impact.normal == pytest.approx([3.0])
    assert change.joined == ("buffer",)
    assert change.coordinates.size == 1
    z, rate = change.start
    assert change.coordinates.position(z) == pytest.approx([0.0, 0.0])
    assert change.coordinates.basis @ rate == pytest.approx(change.velocity)


def test_a_rebound_joins_nothing() -> None:
    """ε = 1: the relative velocity turns around, no energy is lost."""
    system = LinearSystem([1.0, 3.0], contacts=[Contact("buffer", normal=[-1.0, 1.0], restitution=1.0)])
    change = change_of_state(minimal_coordinates(system), [0.0, 0.0], [4.0, 0.0], joins=["buffer"])
    assert change.velocity == pytest.approx([-2.0, 2.0])
    assert change.loss == pytest.approx(0.0, abs=1e-12)
    assert change.joined == ()
    assert len(change.after.closed) == 0


def test_an_impact_opens_a_contact_that_was_closed() -> None:
    """A lever rests on a stop; hit at its other end it lifts off: the projection in the metric of the mass."""
    lever = LinearSystem(
        np.diag([2.0, 0.5]),
        force=[-10.0, 0.0],
        contacts=[Contact("rest", normal=[1.0, 1.0]), Contact("hammer", normal=[1.0, -1.0])],
    )
    resting = minimal_coordinates(lever, closed=["rest"])
    before = np.array([-1.0, 1.0])
    change = change_of_state(resting, [0.0, 0.0], before, joins=["hammer"])
    mass, hammer = np.diag([2.0, 0.5]), np.array([1.0, -1.0])
    mobility = np.linalg.solve(mass, hammer)
    expected = before - mobility * (hammer @ before) / (hammer @ mobility)
    assert np.array([1.0, 1.0]) @ expected < 0.0  # the stop must act too
    both = np.array([[1.0, 1.0], [1.0, -1.0]])
    assert change.velocity == pytest.approx(np.linalg.solve(both, [0.0, 0.0]), abs=1e-12)
    heavy = LinearSystem(np.diag([0.5, 2.0]), force=[-10.0, 0.0], contacts=list(lever.contacts.parts))
    lifted = change_of_state(
        minimal_coordinates(heavy, closed=["rest"]), [0.0, 0.0], before, joins=["hammer"]
    )
    mobility = np.linalg.solve(np.diag([0.5, 2.0]), hammer)
    alone = before - mobility * (hammer @ before) / (hammer @ mobility)
    assert np.array([1.0, 1.0]) @ alone > 0.0  # hit alone, the lever leaves the stop
    assert lifted.velocity == pytest.approx(alone)
    assert lifted.opened == ("rest",)
    assert lifted.joined == ("hammer",)


def test_dependent_contacts_join_like_one() -> None:
    """Two buffers at the same place, and a third one that follows from both: motion and coordinates as with one."""
    normal = np.array([-1.0, 1.0])
    many = LinearSystem(
        [1.0, 3.0],
        contacts=[Contact(f"buffer {i}", normal=scale * normal) for i, scale in enumerate((1.0, 1.0, 2.0))],
    )
    change = change_of_state(minimal_coordinates(many), [0.0, 0.0], [4.0, 0.0], joins=[0, 1, 2])
    assert change.velocity == pytest.approx([1.0, 1.0])
    assert len(change.joined) == 3
    assert change.coordinates.size == 1
    assert len(change.coordinates.dependent) == 2
    assert change.loss == pytest.approx(6.0)


CHAIN = np.array([[20.0, -10.0, 0.0], [-10.0, 20.0, -10.0], [0.0, -10.0, 10.0]]) * 10.0


def chain(**more: object) -> LinearSystem:
    """Three masses on springs and dampers over a stop, which the last one reaches at −0.1 m."""
    return LinearSystem(
        [1.0, 1.0, 2.0],
        stiffness=CHAIN,
        damping=0.02 * CHAIN,
        contacts=[Contact("stop", 0.1, [0.0, 0.0, 1.0])],
        **more,
    )


def test_the_motion_goes_on_like_in_a_simulation() -> None:
    """Impact and motion in the new coordinates (exponential of their matrix) against event-driven integration."""
    system = chain(force=[0.0, 0.0, -30.0], velocity=[0.0, 0.0, -2.0])
    run = simulate(system, 0.2, EventDriven(1e-11), progress=False)
    (hit,) = np.flatnonzero(np.diff(run.time) == 0.0)
    change = change_of_state(
        minimal_coordinates(system), run.position[hit], run.velocity[hit], joins=["stop"]
    )
    assert change.velocity == pytest.approx(run.velocity[hit + 1], rel=1e-9, abs=1e-10)
    reduced, (z, rate) = change.coordinates, change.start
    assert reduced.size == 2
    generator = np.zeros((5, 5))  # of (z, ż, 1)
    inverse = np.linalg.inv(reduced.mass)
    generator[:2, 2:4] = np.eye(2)
    generator[2:4, :2], generator[2:4, 2:4] = -inverse @ reduced.stiffness, -inverse @ reduced.damping
    generator[2:4, 4] = inverse @ reduced.load(system.load.value(0.0) - CHAIN @ reduced.origin)
    after = scipy.linalg.expm(generator * (0.2 - run.time[hit])) @ [*z, *rate, 1.0]
    assert reduced.position(after[:2]) == pytest.approx(run.position[-1], rel=1e-7, abs=1e-9)


def test_a_spring_that_pushes_opens_the_contact_at_once() -> None:
    """Nothing rebounds, but the springs accelerate the mass away from the stop: no contact stays closed."""
    change = change_of_state(minimal_coordinates(chain()), [0.0, 0.0, -0.1], [0.0, 0.0, -1.0], joins=["stop"])
    assert change.velocity == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert change.joined == ()
    pressed = chain(force=[0.0, 0.0, -30.0])
    stays = change_of_state(minimal_coordinates(pressed), [0.0, 0.0, -0.1], [0.0, 0.0, -1.0], joins=["stop"])
    assert stays.joined == ("stop",)
    assert stays.after.forces is not None
    assert stays.after.forces[0, 0] == pytest.approx(30.0 - 10.0)  # at rest after the impact: 30 N − k 0.1 m


def rough(friction: float, **more: object) -> LinearSystem:
    """A block of 2 kg over a floor."""
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=friction)
    return LinearSystem([2.0, 2.0], stiffness=[8.0, 0.0], force=[0.0, -20.0], contacts=[floor], **more)


def test_a_contact_sticks_after_an_impact_only_if_friction_stops_its_slip() -> None:
    """It sticks if the impulse 2 · 3 · μ suffices to stop the slip 2 · 1, else it slides on with what is left."""
    stuck = change_of_state(minimal_coordinates(rough(0.4)), [0.0, 0.0], [1.0, -3.0], joins=["floor"])
    assert stuck.velocity == pytest.approx([0.0, 0.0], abs=1e-12)
    assert stuck.after.sticking.tolist() == [0]
    assert stuck.coordinates.size == 0
    slides = change_of_state(minimal_coordinates(rough(0.2)), [0.0, 0.0], [1.0, -3.0], joins=["floor"])
    assert slides.velocity == pytest.approx([1.0 - 0.6, 0.0])
    assert slides.after.sliding.tolist() == [0]
    assert slides.after.sliding_velocity == pytest.approx(np.array([[0.4]]))
    assert slides.after.friction_direction == pytest.approx(np.array([[-1.0]]))
    assert slides.after.forces == pytest.approx(np.array([[20.0, -4.0]]))
    assert slides.coordinates.size == 1


def test_stuck_too_far_from_its_spring_it_starts_to_slide() -> None:
    """At rest after the impact, but k x = 8 · 2 exceeds μ N = 8: it slides towards the spring's rest position."""
    change = change_of_state(minimal_coordinates(rough(0.4)), [2.0, 0.0], [0.0, -3.0], joins=["floor"])
    assert change.after.sliding.tolist() == [0]
    assert change.after.sliding_velocity == pytest.approx(np.array([[0.0]]))
    assert change.after.friction_direction == pytest.approx(np.array([[1.0]]))


def test_a_friction_element_keeps_holding() -> None:
    bolt = FrictionElement("bolt", [1.0, 0.0], limit=5.0)
    system = LinearSystem([1.0, 1.0], force=[1.0, -9.0], contacts=[Contact("floor", normal=[0.0, 1.0]), bolt])
    before = ContactState.of(system, sticking=["bolt"])
    change = change_of_state(before, [0.0, 0.0], [0.0, -2.0], joins=["floor"])
    assert change.after.sticking.tolist() == [1]
    assert change.after.closed.tolist() == [0]
    assert change.coordinates.size == 0


def test_two_sided_constraints_take_part() -> None:
    """Two masses tied together hit as one of 3 kg."""
    tie = Constraint("tie", [1.0, -1.0])
    system = LinearSystem(
        [1.0, 2.0], force=[0.0, -1.0], contacts=[Contact("stop", normal=[0.0, 1.0])], constraints=[tie]
    )
    change = change_of_state(minimal_coordinates(system), [0.0, 0.0], [-1.0, -1.0], joins=["stop"])
    assert change.velocity == pytest.approx([0.0, 0.0], abs=1e-12)
    assert change.impact.normal == pytest.approx([3.0])
    assert change.impact.bilateral == pytest.approx([1.0])
    assert change.loss == pytest.approx(1.5)


def test_a_change_may_begin_in_the_coordinates_of_a_stationary_state() -> None:
    """The state before is a stationary state; position and velocity are given in its coordinates."""
    system = LinearSystem(
        [1.0, 1.0],
        stiffness=[100.0, 100.0],
        force=[-1.0, 0.0],
        contacts=[Contact("rest", normal=[1.0, 0.0]), Contact("stop", 0.01, [0.0, 1.0])],
    )
    rest = stationary_state(system)
    before = minimal_coordinates(rest)
    z = before.coordinates_of([0.0, -0.01])
    rate = before.rates_of([0.0, -0.5])
    change = change_of_state(before, z, rate, joins=["stop"])
    assert change.position == pytest.approx([0.0, -0.01])
    assert change.velocity == pytest.approx([0.0, 0.0], abs=1e-12)
    assert change.opened == ()
    assert change_of_state(rest, [0.0, -0.01], [0.0, -0.5], joins=["stop"]).loss == pytest.approx(0.125)


def test_impact_laws_agree_where_one_contact_is_hit() -> None:
    """Poisson and Newton agree for a single contact; a sequence of impacts ends in the same velocities for ε = 0."""
    system = carts(0.5)
    free = minimal_coordinates(LinearSystem([1.0, 3.0], contacts=list(system.contacts.parts)[:1]))
    newton = change_of_state(free, [0.0, 0.0], [4.0, 0.0], joins=["buffer"])
    poisson = change_of_state(free, [0.0, 0.0], [4.0, 0.0], joins=["buffer"], law=Poisson())
    assert poisson.velocity == pytest.approx(newton.velocity)
    plastic = minimal_coordinates(carts(), closed=["wall"])
    sequence = change_of_state(plastic, [0.0, 0.0], [4.0, 0.0], joins=["buffer"], law=Sequential())
    assert sequence.velocity == pytest.approx([0.0, 0.0], abs=4e-9)  # it ends at 1e-9 of the first approach


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"position": [0.5, 0.0]}, "'buffer' has a gap of -0.5 m"),
        ({"joins": ["bumper"]}, "no contact 'bumper'"),
        ({"velocity": [1.0]}, r"velocity has shape \(1,\)"),
        ({"law": "Newton"}, "law is 'Newton'"),
    ],
)
def test_wrong_arguments_are_refused(change: dict, words: str) -> None:
    given = {"position": [0.0, 0.0], "velocity": [1.0, 0.0], "joins": ["buffer"]} | change
    position, velocity = given.pop("position"), given.pop("velocity")
    with pytest.raises(InvalidModel, match=words):
        change_of_state(minimal_coordinates(carts()), position, velocity, **given)


def test_friction_elements_do_not_hit() -> None:
    system = LinearSystem([1.0], contacts=[FrictionElement("bolt", [1.0], limit=1.0)])
    with pytest.raises(InvalidModel, match="cannot hit"):
        change_of_state(ContactState.of(system), [0.0], [1.0], joins=["bolt"])
