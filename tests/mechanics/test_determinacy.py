"""Whether forces are determined by the motion: structures whose degree of indeterminacy is known by counting."""

import numpy as np
import pytest

from klapper.mechanics import Constraint, Contact, FrictionElement, LinearSystem
from klapper.mechanics.determinacy import force_determinacy

STICK, SLIP, IMPACT = 1, 2, 3


def verdict(system: LinearSystem, impulse, state):
    count = system.contacts.count
    q = system.start.position
    impulses, states = np.array(impulse, dtype=float).reshape(count, -1), np.array(state, dtype=np.int8)
    return force_determinacy(
        system, 0.0, q, np.zeros(len(system.velocities)), np.arange(count), impulses, states
    )


def table(legs: int, *, friction: float = 0.0) -> LinearSystem:
    """A rigid planar table (x, y, rotation) on ``legs`` legs."""
    places = np.linspace(-1.0, 1.0, legs)
    return LinearSystem(
        [1.0, 1.0, 1.0],
        contacts=[
            Contact(f"leg {i}", normal=[0.0, 1.0, x], tangents=[1.0, 0.0, 0.5], friction=friction)
            for i, x in enumerate(places)
        ],
    )


@pytest.mark.parametrize("legs", [1, 2, 3, 5])
def test_frictionless_table_is_determined_on_two_legs(legs: int) -> None:
    found = verdict(table(legs), [[1.0, 0.0]] * legs, [SLIP] * legs)
    assert (found.changes, found.rank, found.unique) == (legs, min(legs, 2), legs <= 2)
    if legs > 2:
        assert f"{legs - 2} free" in str(found)


def test_two_sticking_legs_push_against_each_other() -> None:
    found = verdict(table(2, friction=0.5), [[1.0, 0.1]] * 2, [STICK] * 2)
    assert (found.changes, found.rank) == (4, 3)
    assert set(found.names) == {"leg 0", "leg 1"}


def test_sliding_legs_can_only_change_along_the_friction_cone() -> None:
    found = verdict(table(2, friction=0.5), [[1.0, -0.5]] * 2, [SLIP] * 2)
    assert (found.changes, found.rank, found.unique) == (2, 2, True)
    one_sticks = verdict(table(2, friction=0.5), [[1.0, -0.5], [1.0, 0.2]], [SLIP, STICK])
    assert (one_sticks.changes, one_sticks.rank, one_sticks.unique) == (3, 3, True)


def test_a_leg_that_stands_without_a_load_might_carry_one() -> None:
    found = verdict(table(3), [[1.0, 0], [0.0, 0], [1.0, 0]], [SLIP, 0, SLIP])
    assert not found.unique
    assert set(found.names) == {"leg 0", "leg 1", "leg 2"}
    nothing = verdict(table(3), np.zeros((3, 2)), [0, 0, 0])
    assert (nothing.changes, nothing.unique, str(nothing)) == (0, True, "unique")


def test_only_the_undetermined_are_named() -> None:
    """Two bodies: one on a single support, the other held by two parallel ones."""
    system = LinearSystem(
        [1.0, 1.0],
        contacts=[
            Contact("single", normal=[1.0, 0.0]),
            Contact("twin a", normal=[0.0, 1.0]),
            Contact("twin b", normal=[0.0, 1.0]),
        ],
    )
    found = verdict(system, [[1.0], [1.0], [1.0]], [SLIP] * 3)
    assert (found.changes, found.rank, found.names) == (3, 2, ("twin a", "twin b"))


def test_constraints_count_as_well() -> None:
    system = LinearSystem(
        [1.0, 1.0],
        contacts=[Contact("floor", normal=[0.0, 1.0])],
        constraints=[Constraint("guide", direction=[1.0, 0.0]), Constraint("rail", direction=[0.0, 1.0])],
    )
    found = verdict(system, [[1.0]], [SLIP])
    assert (found.changes, found.rank) == (3, 2)
    assert set(found.names) == {"floor", "rail"}


def test_friction_elements_stick_but_have_no_normal_force() -> None:
    system = LinearSystem(
        [1.0],
        contacts=[
            FrictionElement("a", tangents=[1.0], limit=1.0),
            FrictionElement("b", tangents=[1.0], limit=1.0),
        ],
    )
    found = verdict(system, [[0.0, 0.5], [0.0, 0.5]], [STICK] * 2)
    assert (found.changes, found.rank) == (2, 1)
    sliding = verdict(system, [[0.0, 1.0], [0.0, 0.5]], [SLIP, STICK])
    assert sliding.unique


def test_walls_that_a_mass_touches_cannot_take_its_weight() -> None:
    """A mass point in the corner of a floor and two walls: neither wall can push against the floor."""
    names = ("left wall", "back wall", "floor")
    corner = LinearSystem(
        [1.0] * 3, contacts=[Contact(name, normal=np.eye(3)[i]) for i, name in enumerate(names)]
    )
    found = verdict(corner, [[0.0], [0.0], [1.0]], [0, 0, SLIP])
    assert (found.changes, found.rank, found.names) == (1, 1, ())


def test_too_many_contacts_are_not_looked_at() -> None:
    assert verdict(table(700), [[1.0, 0.0]] * 700, [SLIP] * 700) is None
