"""Contacts on the kink between two partners: by hand in grooves, and where meshes with curved surfaces end."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.contact_states import OPEN, SLIP, STICK, STICK as STICKS
from klapper.continuum import Continuum, Mortar, NodeToSegment, SaintVenantKirchhoff, Solid, Support, annulus
from klapper.gallery.patch_test import Patch
from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import EnergyMomentum, HardContact, QuasiStatic, contact_rounds
from klapper.schemes.base import StepFailed
from klapper.schemes.contact_rounds import ContactRounds
from klapper.schemes.held_contacts import BACKWARD, FORWARD
from klapper.schemes.joined_contacts import Groups, JoinedContacts
from klapper.simulation import simulate

SLOPE, ASIDE = 0.1, 0.01


@dataclass(frozen=True, eq=False)
class Plane:
    """The contact of a point (x, y, z) with y + s x ≥ 0, along which it slides in z."""

    slope_: float
    mu: float
    held: np.ndarray
    which = np.zeros(1, dtype=np.int64)
    rate = np.zeros(1)

    @property
    def friction(self) -> np.ndarray:
        return np.array([self.mu])

    @property
    def key(self) -> bytes:
        return np.array([self.slope_]).tobytes()

    def same(self, other) -> bool:
        return self.key == other.key

    def gaps(self, q):
        return np.array([q[1] + self.slope_ * q[0]])

    def slope(self, q):
        return sparse.csc_array([[self.slope_], [1.0], [0.0]])

    def hessian(self, q, force):
        return sparse.csr_array((3, 3))

    def slipped(self, before, after):
        return np.array([after[2] - before[2]])

    def slip_slope(self, before, after):
        return sparse.csc_array([[0.0], [0.0], [1.0]])

    def slip_hessian(self, before, after, force):
        return sparse.csr_array((3, 3))


class Kinked(LinearSystem):
    """A point on springs of 1 N/m to (ASIDE, −pull, 1 + along), above a groove, y = s |x|, or a ridge, y = −s |x|."""

    mu, ridge, held = 0.0, False, False

    def pair(self, t, q, travel, start, *, corners=False):
        sign = 1.0 if (q[0] > 0.0) == self.ridge else -1.0
        return Plane(sign * SLOPE, self.mu, np.array([self.held]))


def kinked(pull: float, *, along: float = 0.0, mu: float = 0.0, ridge=False, held=False) -> Kinked:
    contact = Contact("floor", normal=[0.0, 1.0, 0.0], tangents=[[0.0, 0.0, 1.0]], friction=mu)
    found = Kinked(
        np.eye(3),
        stiffness=np.eye(3),
        force=np.array([ASIDE, -pull, 1.0 + along]),
        position=[0.0, 0.0, 1.0],
        contacts=[contact],
    )
    found.mu, found.ridge, found.held = mu, ridge, held
    return found


def settled(system, **options):
    scheme = QuasiStatic(1.0, contact=HardContact(**options))
    return scheme.step(system, scheme.init(system))


def test_a_point_comes_to_rest_where_two_planes_meet():
    """With either plane alone it would lie beyond the other: at (ASIDE ± s λ, …), λ ≈ 1 N."""
    found = settled(kinked(1.0))
    np.testing.assert_allclose(found.after.position, [0.0, 0.0, 1.0], atol=1e-14)
    np.testing.assert_allclose(found.impulse[:, 0], 1.0, atol=1e-13)  # both together bear the pull
    assert found.contact.tolist() == [0]
    assert found.residual < 1e-12
    assert not found.notes


@pytest.mark.parametrize("stage", [contact_rounds._KEPT, contact_rounds._PROGRAMME])
def test_a_search_that_begins_late_holds_it_by_both_planes_as_well(stage, monkeypatch):
    monkeypatch.setattr(contact_rounds, "_PLAIN", stage)
    np.testing.assert_allclose(settled(kinked(1.0)).after.position, [0.0, 0.0, 1.0], atol=1e-14)


@pytest.mark.parametrize(("along", "state"), [(0.25, STICK), (-0.25, STICK), (0.5, SLIP), (-0.5, SLIP)])
def test_friction_is_limited_by_what_both_partners_bear(along, state):
    """μ (λ_A + λ_B) = 0.3 N; either alone could hold 0.18 N at most."""
    found = settled(kinked(1.0, along=along, mu=0.3))
    slid = np.sign(along) * max(abs(along) - 0.3, 0.0)
    np.testing.assert_allclose(found.after.position, [0.0, 0.0, 1.0 + slid], atol=1e-13)
    np.testing.assert_allclose(found.impulse, [[1.0, slid - along]], atol=1e-13)
    assert found.state.tolist() == [state]


@pytest.mark.parametrize(("pull", "ridge"), [(1.0, False), (-1.0, True)], ids=["pushed", "pulled"])
def test_surfaces_that_never_part_push_in_a_groove_and_pull_on_a_ridge(pull, ridge):
    found = settled(kinked(pull, ridge=ridge, held=True))
    np.testing.assert_allclose(found.after.position, [0.0, 0.0, 1.0], atol=1e-14)
    np.testing.assert_allclose(found.impulse[:, 0], pull, atol=1e-13)


def test_a_step_that_is_left_with_an_overlap_is_refused():
    """Rounds run out when partners are kept. On the plane y = ∓s x the point has the gap −2 s |x| to the other one.

    At last only the smallest part of the pull is let go: the point is drawn that little from where it began.
    """
    normal = np.array([SLOPE, 1.0]) / np.hypot(SLOPE, 1.0)
    begin = kinked(1.0).start.position[:2]
    goal = begin + 2.0**-10 * (np.array([ASIDE, -1.0]) - begin)
    rest = goal - normal * (normal @ goal)  # on y + s x = 0
    other = goal - normal * [-1.0, 1.0] * (normal @ (goal * [-1.0, 1.0]))  # on y − s x = 0
    depths = [f"overlap by {2.0 * SLOPE * abs(x):.3g} m; use a smaller step" for x in (rest[0], other[0])]
    said = []
    for most in range(1, 12):
        try:
            settled(kinked(1.0), most=most)
        except StepFailed as failure:
            said.append(str(failure))
    assert 2 <= len(said) < 11
    assert "found no states that last in 1 round;" in said[0]
    assert any(depth in said[-1] for depth in depths)
    assert "partners in the step of 0.000977 s keep changing" in said[-1]


def curved(interface: str, cells: tuple[int, int], height: int = 3) -> Patch:
    upper, lower = cells
    return Patch(
        interface, (upper, height), (lower, height), "quad4", "curved", "free", "all-round", 0.0, 100.0
    )


@pytest.mark.parametrize(
    ("interface", "cells"),
    [
        ("mortar", (7, 8)),
        ("mortar", (14, 16)),
        ("mortar", (5, 9)),
        ("mortar-dual", (7, 8)),
        ("mortar-dual", (14, 16)),
    ],
)
def test_curved_blocks_do_not_overlap_with_the_partners_they_end_with(interface, cells):
    patch = curved(interface, cells)
    world, run = patch.world, patch.run
    q = run.position[-1]
    fresh = world.pair(1.0, q, 0.0, q)
    tolerance = HardContact().tolerance * np.abs(q).max()
    assert fresh.gaps(q).min() > -tolerance
    force = run.force[-1][fresh.which, 0]
    assert np.abs(fresh.gaps(q)[force > 0.0]).max() < tolerance
    assert run.about["audit"]["contact residual"] < HardContact().tolerance


def test_forces_at_the_end_of_a_curved_surface_lie_between_the_directions_on_both_sides():
    """The end of one surface lies exactly opposite the end of the other. Contact forces that balance the stresses are
    combinations of the directions of gaps a little to this side and to that; with those of one side they are not."""
    patch = curved("mortar", (7, 8))
    world, q = patch.world, patch.run.position[-1]
    search = world.contacts.searches[0]
    x, (first, second) = q.reshape(-1, 2), search.surface.facets[0]
    ends = x[search.opposite[0][0]] - x[first]
    chord = x[second] - x[first]
    assert abs(ends @ chord) < 1e-14 < 1e-5 < np.linalg.norm(ends)

    aside = np.zeros_like(x)
    aside[search.opposite[0][0]] = 1e-9 * chord
    sides = [world.pair(1.0, q + sign * aside.ravel(), 0.0, q).slope(q).toarray() for sign in (-1.0, 1.0)]
    held = world.constraint_directions(1.0, q)[0]
    held = held.toarray() if sparse.issparse(held) else np.asarray(held)
    load = -np.asarray(world.force(1.0, q, 0.0 * q))

    def balanced(*columns):
        matrix = np.hstack([*columns, held])
        found = np.linalg.lstsq(matrix, load, rcond=1e-14)[0]
        return np.abs(matrix @ found - load).max() / np.abs(load).max(), found

    wrong, forces = balanced(sides[0], sides[1][:, :1])
    assert wrong < 1e-11
    k = sides[0].shape[1]
    assert forces[0] > 1.0
    assert forces[k] > 1.0
    np.testing.assert_allclose(forces[0] + forces[k], patch.run.force[-1][0, 0], rtol=1e-8)
    assert min(balanced(side)[0] for side in sides) > 1e-8


def test_what_hits_the_end_of_a_surface_keeps_its_energy(monkeypatch):
    """In the third step the end of the block that falls stays opposite the end of the other, held by both averages."""
    low, up = curved("mortar", (4, 5), 2).meshes
    law = SaintVenantKirchhoff(1000.0, 0.4)
    world = Continuum(
        [Solid("low", low, law, density=1.0), Solid("up", up.moved((0.002, 0.02)), law, density=1.0)],
        supports=[Support("low", "bottom")],
        interfaces=[Mortar(secondary=("up", "bottom"), primary=("low", "top"))],
        velocity={"up": (0.05, -2.0)},
    )
    joined, solved = [], ContactRounds._solved

    def noted(self, contacts, *arguments, **options):
        if isinstance(contacts.pairing, JoinedContacts):
            joined.append(self.t1)
        return solved(self, contacts, *arguments, **options)

    monkeypatch.setattr(ContactRounds, "_solved", noted)
    run = simulate(world, 0.02, EnergyMomentum(4e-3, contact=HardContact("gradient")), progress=False)
    assert set(np.round(joined, 12)) == {0.012}
    assert "step halved" not in run.about["audit"]
    total = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    assert np.ptp(total) < 1e-12 * total[0]
    least = min(world.pair(0.0, q, 0.0, q).gaps(q).min(initial=0.0) for q in run.position)
    assert least > -HardContact().tolerance * np.abs(run.position).max()


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
def test_joined_gaps_and_slips_have_the_right_derivatives(kind):
    ring, law = annulus(0.8, 1.0, (1, 16)), SaintVenantKirchhoff(100.0, 0.1)
    world = Continuum(
        [Solid("one", ring, law, density=1.0), Solid("two", ring.moved((2.02, 0.2)), law, density=1.0)],
        interfaces=[kind(secondary=("one", "outer"), primary=("two", "outer"), friction=0.3)],
    )
    q0, rng = world.start.position, np.random.default_rng(3)
    moved = q0.reshape(-1, 2).copy()
    moved[len(ring.nodes) :] += (0.0, 0.2)
    first, second = world.pair(0.0, q0, 0.1, q0), world.pair(0.0, moved.ravel(), 0.1, q0)
    both = JoinedContacts(first, second, np.array([0, 2]), world.contacts.count)
    k, count = len(first.which), world.contacts.count
    assert not first.same(both)
    assert np.all(np.diff(both.which) > 0)
    assert (both.which[k:] - 2 * count).tolist() == second.which[[0, 2]].tolist()
    q1 = q0 + 0.01 * rng.standard_normal(len(q0))
    way, e = rng.standard_normal(len(q0)), 1e-6
    force, start = rng.standard_normal(k + 2), 0.1 * rng.standard_normal(k + 2)

    def change(function):
        return (function(q1 + e * way) - function(q1 - e * way)) / (2.0 * e)

    def same(one, two):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)

    same(both.slope(q1).T @ way, change(both.gaps))
    same(both.hessian(q1, force) @ way, change(lambda q: both.slope(q) @ force))
    same(both.push(q0, q1, start).T @ (q1 - q0), both.gaps(q1) - start)
    same(both.push_slope(q0, q1, force, start) @ way, change(lambda q: both.push(q0, q, start) @ force))
    same(both.slip_slope(q0, q1).T @ way, change(lambda q: both.slipped(q0, q)))
    same(both.slip_hessian(q0, q1, force) @ way, change(lambda q: both.slip_slope(q0, q) @ force))
    same(both.slip_push(q0, q1).T @ (q1 - q0), both.slipped(q0, q1))
    same(both.slip_push_slope(q0, q1, force) @ way, change(lambda q: both.slip_push(q0, q) @ force))


class Numbered:
    def __init__(self, *which: int) -> None:
        self.which = np.array(which)


def test_contacts_of_a_group_stick_and_slide_together():
    """Of ten contacts, 3 has a second partner in a corner, 5 and 7 have joined ones."""
    groups = Groups(Numbered(3, 5, 7, 13, 25, 27, 35), 10)
    states = np.array([STICKS, FORWARD, OPEN, STICKS, STICKS, BACKWARD, STICKS], dtype=np.int8)
    together = groups.in_step(states)
    assert together.tolist() == [STICKS, FORWARD, OPEN, STICKS, FORWARD, BACKWARD, FORWARD]
    assert groups.smooth(together).tolist() == [True, False, False, True, False, False, False]
    normal = np.arange(1.0, 8.0)
    assert groups.borne(together, normal).tolist() == normal.tolist()
    together[[1, 4, 6]] = STICKS
    assert groups.smooth(together).tolist() == [True, False, False, True, True, False, True]
    assert groups.borne(together, normal).tolist() == [1.0, 2.0 + 5.0 + 7.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_surfaces_that_never_part_do_not_pull_at_one_partner_and_push_at_another():
    groups, held = Groups(Numbered(1, 2, 21), 10), np.array([True, True, True])
    assert groups.opposed(held, np.array([1.0, -1.0, -1.0]), 1e-9)
    assert not groups.opposed(held, np.array([-1.0, 1.0, -1.0]), 1e-9)
    assert not groups.opposed(held, np.array([1.0, -1.0, -1e-10]), 1e-9)
    assert not groups.opposed(~held, np.array([1.0, -1.0, -1.0]), 1e-9)


class Partners(Numbered):
    """Contacts with numbers, and nothing else that matters here."""

    def __init__(self, *which: int) -> None:
        super().__init__(*which)
        self.friction = self.rate = np.zeros(len(which))
        self.held, self.key = np.zeros(len(which), dtype=bool), self.which.tobytes()


def test_contacts_that_are_joined_again_and_again_keep_their_own_numbers():
    """Of ten contacts, 2 and 7 get a partner more with every round; units are those of the contact."""
    pairing, found = Partners(1, 2, 7), Partners(2, 7)
    for rounds in range(1, 4):
        pairing = JoinedContacts(pairing, found, np.array([0, 1]), 10)
        assert np.all(np.diff(pairing.which) > 0)
        assert pairing.which.tolist() == [1, 2, 7] + [
            c + 10 * k for k in range(2, 2 + rounds) for c in (2, 7)
        ]
        assert Groups(pairing, 10).number.tolist() == [1, 2, 7] + [2, 7] * rounds
