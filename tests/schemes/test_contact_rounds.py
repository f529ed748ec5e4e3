"""Implicit steps with contacts: laws at the end of every step, energy options, friction, partners that change."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from klapper.contact_states import OPEN, STICK
from klapper.continuum import (
    Continuum,
    Gravity,
    Mortar,
    NeoHooke,
    NodeToSegment,
    Pressure,
    SaintVenantKirchhoff,
    Solid,
    Support,
    Wall,
    annulus,
    block,
)
from klapper.mechanics import Contact, InvalidModel, LinearSystem, Ramp
from klapper.schemes import EnergyMomentum, HardContact, PenaltyContact, QuasiStatic
from klapper.schemes.base import StepFailed
from klapper.schemes.contact_rounds import ContactRounds
from klapper.schemes.contact_trial import Trial
from klapper.schemes.held_contacts import FORWARD, GapTargets, HeldContacts
from klapper.schemes.newton import NewtonIteration
from klapper.simulation import SimulationFailed, simulate


def rings(kind, *, friction=0.0, offset=0.4, element="quad4", **options) -> Continuum:
    """Two rings that fly at each other, a little off centre."""
    ring, law = annulus(0.8, 1.0, (1, 16), element=element), SaintVenantKirchhoff(100.0, 0.1)
    one = Solid("one", ring, law, density=1e-3)
    two = Solid("two", ring.moved((2.05, offset)), law, density=1e-3)
    sides = {"secondary": ("one", "outer"), "primary": ("two", "outer"), "friction": friction, **options}
    return Continuum(
        [one, two], interfaces=[kind(**sides)], velocity={"one": (10.0, 0.0), "two": (-10.0, 0.0)}
    )


def kept(world: Continuum, run) -> tuple[float, float, float]:
    """Changes of energy (with what friction took), momentum and angular momentum, relative to their sizes."""
    energy = run.samples.energy
    total = energy[:, 0] + energy[:, 1] + energy[:, 4]
    momentum = np.array([world.linear_momentum(v) for v in run.velocity])
    turn = np.array([world.angular_momentum(q, v) for q, v in zip(run.position, run.velocity, strict=True)])
    size = float(np.abs(world.mass_matrix @ run.velocity[0]).sum())
    return (
        float(np.ptp(total) / total[0]),
        float(np.ptp(momentum, axis=0).max() / size),
        float(np.ptp(turn) / size),
    )


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
@pytest.mark.parametrize("energy", ["consistent", "gradient", "momentum-update"])
def test_collisions_keep_energy_momentum_and_angular_momentum(kind, energy):
    world = rings(kind)
    run = simulate(world, 0.06, EnergyMomentum(2e-3, contact=HardContact(energy)), progress=False)
    assert np.count_nonzero(run.state.any(axis=1)) > 5
    assert max(kept(world, run)) < 1e-9
    assert "energy not projected" not in run.about["audit"]


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
def test_without_a_measure_energy_changes_and_less_so_with_smaller_steps(kind):
    world = rings(kind)
    lost = []
    for step in (4e-3, 1e-3):
        run = simulate(world, 0.04, EnergyMomentum(step, contact=HardContact("none")), progress=False)
        energy, momentum, turn = kept(world, run)
        assert max(momentum, turn) < 1e-9
        lost.append(energy)
    assert lost[0] > 1e-3
    assert lost[1] < 0.8 * lost[0]


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
@pytest.mark.parametrize("energy", ["none", "gradient"])
def test_gaps_and_forces_are_complementary_at_the_end_of_every_step(kind, energy):
    world = rings(kind)
    run = simulate(world, 0.05, EnergyMomentum(2e-3, contact=HardContact(energy)), progress=False)
    force = run.impulse[:, :, 0]
    assert run.gap.min() > -1e-9
    assert force.min() >= -1e-9 * force.max()
    near = np.where(np.isfinite(run.gap), run.gap, 1.0)
    assert np.abs(near * force).max() < 1e-9 * force.max()
    assert run.about["audit"]["contact residual"] < 1e-9


def test_gaps_of_the_consistent_option_stay_what_they_were():
    world = rings(NodeToSegment)
    run = simulate(world, 0.04, EnergyMomentum(2e-3), progress=False)
    closed = run.state[1:] > 0
    before = np.array(
        [
            world.pair(0.0, q1, 0.5, q0).gaps(q0)
            for q0, q1 in zip(run.position[:-1], run.position[1:], strict=True)
        ],
        dtype=object,
    )
    for k in range(len(run) - 1):
        pairing = world.pair(0.0, run.position[k + 1], 0.5, run.position[k])
        held = np.isin(pairing.which, np.flatnonzero(closed[k]))
        expected = np.maximum(before[k][held], 0.0)
        assert np.allclose(pairing.gaps(run.position[k + 1])[held], expected, atol=1e-9)


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
def test_friction_takes_exactly_its_work_and_never_gives(kind):
    world = rings(kind, friction=0.4)
    run = simulate(world, 0.06, EnergyMomentum(2e-3), progress=False)
    friction = run.samples.energy[:, 4]
    assert friction[-1] > 0.0
    assert np.diff(friction).min() > -1e-12 * run.samples.energy[0, 0]
    assert max(kept(world, run)) < 1e-9
    normal, tangential = run.impulse[:, :, 0], run.impulse[:, :, 1]
    assert np.all(np.abs(tangential) <= 0.4 * normal + 1e-9 * normal.max())


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
def test_quadratic_elements_collide_as_well(kind):
    world = rings(kind, element="quad9")
    run = simulate(world, 0.02, EnergyMomentum(2e-3), progress=False)
    assert run.state.any()
    assert max(kept(world, run)) < 1e-9


def test_friction_is_the_same_seen_from_a_turning_frame():
    """Bodies that are pressed together and turn as one do not slip: nothing is taken."""
    law = NeoHooke(1e4, 0.3)
    low, up = block((1.0, 0.5), (3, 1)), block((1.0, 0.5), (2, 1), corner=(0.0, 0.5))
    bodies = [Solid("low", low, law, density=1.0), Solid("up", up, law, density=1.0)]
    spin = {
        name: 3.0 * np.column_stack([0.5 - mesh.nodes[:, 1], mesh.nodes[:, 0] - 0.5])
        for name, mesh in (("low", low), ("up", up))
    }
    for kind in (NodeToSegment, Mortar):
        touch = kind(secondary=("up", "bottom"), primary=("low", "top"), friction=0.5)
        loads = [Pressure("up", "top", 200.0), Pressure("low", "bottom", 200.0)]
        world = Continuum(bodies, loads=loads, interfaces=[touch], velocity=spin)
        run = simulate(world, 0.2, EnergyMomentum(0.02), progress=False)
        assert np.all(run.state[2:] > 0)
        assert np.ptp(run.position[:, 0]) > 0.2  # it has turned
        assert abs(run.samples.energy[-1, 4]) < 1e-3 * run.samples.energy[0, 0]
        assert np.diff(run.samples.energy[:, 4]).min() > -1e-12


def test_surfaces_that_never_part_pull():
    law = NeoHooke(1e4, 0.3)
    low = Solid("low", block((1.0, 0.5), (3, 1)), law, density=1.0)
    up = Solid("up", block((1.0, 0.5), (2, 1), corner=(0.0, 0.5)), law, density=1.0)
    for held in (False, True):
        touch = Mortar(secondary=("up", "bottom"), primary=("low", "top"), always_active=held)
        world = Continuum([low, up], interfaces=[touch], velocity={"up": (0.0, 1.0), "low": (0.0, -1.0)})
        run = simulate(world, 0.02, EnergyMomentum(2e-3), progress=False)
        if held:
            assert np.abs(run.gap).max() < 1e-9
            assert run.impulse[:, :, 0].min() < -1e-6
        else:
            assert run.gap[-1].min() > 0.03


def test_the_answer_does_not_depend_on_the_partners_that_were_tried_first(monkeypatch):
    world = rings(Mortar)
    plain = simulate(world, 0.03, EnergyMomentum(2e-3, contact=HardContact("none")), progress=False)
    honest, calls = ContactRounds._paired, []

    def misled(self, q, *, corners=False):
        calls.append(1)
        first = len(calls) % 7 == 1
        return honest(self, self.before.position if first else q, corners=corners)

    monkeypatch.setattr(ContactRounds, "_paired", misled)
    other = simulate(world, 0.03, EnergyMomentum(2e-3, contact=HardContact("none")), progress=False)
    assert plain.state.any()
    assert np.allclose(other.position, plain.position, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
@pytest.mark.parametrize("energy", ["consistent", "gradient"])
def test_newtons_method_converges_quadratically_with_closed_contacts(kind, energy, monkeypatch):
    """Hesch (B.13)-(B.33), corrected: with a wrong tangent the number of right digits would not double."""
    histories, solve = [], NewtonIteration.solve

    class Recorder:
        def __init__(self, inner):
            self.inner, self.seen = inner, []
            self.residual = inner.residual

        def inverse(self, x):
            self.seen.append(self.inner.residual(x).relative)
            return self.inner.inverse(x)

    def watched(self, equations, start, capped):
        recorder = Recorder(equations)
        found = solve(self, recorder, start, capped)
        if sum(part.count for part in equations.holding) > 1:
            histories.append([*recorder.seen, found[2]])
        return found

    monkeypatch.setattr(NewtonIteration, "solve", watched)
    scheme = EnergyMomentum(
        2e-3, contact=HardContact(energy), newton=NewtonIteration(line_search=False, reuse=0.0)
    )
    simulate(rings(kind, friction=0.3), 0.03, scheme, progress=False)
    later = [
        seen[1:] for seen in histories
    ]  # gaps weigh less than forces: a start may look nearer than it is
    pairs = [(a, b) for seen in later for a, b in pairwise(seen) if 1e-6 < a < 1e-3]
    assert len(pairs) >= 4
    for one, two in pairs:
        assert two < max(100.0 * one**2, 1e-12)


def test_states_that_come_back_are_settled_by_complementarity(monkeypatch):
    """With a judge that flips one contact back and forth, the linearised problem decides, and decides right."""
    world = rings(NodeToSegment)
    scheme = EnergyMomentum(2e-3, contact=HardContact("none"))
    plain = simulate(world, 0.02, scheme, progress=False)
    honest, program = ContactRounds._judged, ContactRounds._by_complementarity
    asked = []

    def flipping(self, contacts, q, normal, tangential):
        after = honest(self, contacts, q, normal, tangential)
        touched = np.flatnonzero((contacts.states != OPEN) | (after != OPEN))
        if len(touched) and not asked:
            after = after.copy()
            after[touched[0]] = OPEN if contacts.states[touched[0]] != OPEN else STICK
        return after

    def noted(self, *arguments):
        asked.append(1)
        return program(self, *arguments)

    monkeypatch.setattr(ContactRounds, "_judged", flipping)
    monkeypatch.setattr(ContactRounds, "_by_complementarity", noted)
    other = simulate(world, 0.02, scheme, progress=False)
    assert asked
    assert np.allclose(other.position, plain.position, rtol=0, atol=1e-8)


def test_gaps_are_not_held_where_parts_overlap_at_the_start():
    """As with a partner that is new to a node, whose line it was behind: held there it would stay inside."""
    world = rings(NodeToSegment)
    start = EnergyMomentum(2e-3).init(world)
    deep = replace(start, position=start.position + 0.01 * world.start.velocity)
    for energy in ("consistent", "gradient"):
        rounds = ContactRounds(
            HardContact(energy), world, deep, 2e-3, 2e-3, "between", NewtonIteration(), lambda contacts: None
        )
        pairing = rounds._paired(deep.position)
        k = len(pairing.which)
        every, none = np.ones(k, dtype=bool), np.zeros(k)
        now = Trial(pairing, every.astype(np.int8) * STICK, none, none, every, none)
        before = pairing.gaps(deep.position)
        assert before.min() < -1e-2
        assert np.allclose(rounds._held(now).targets.target, np.maximum(before, 0.0), atol=1e-9)


def test_a_step_that_finds_no_states_is_done_in_halves_that_keep_everything(monkeypatch):
    world = rings(NodeToSegment)
    plain = simulate(world, 0.03, EnergyMomentum(2.5e-3), progress=False)
    honest = ContactRounds.settle

    def lazy(self, start, multipliers):
        if self.h > 2.6e-3:
            raise StepFailed("no states")
        return honest(self, start, multipliers)

    monkeypatch.setattr(ContactRounds, "settle", lazy)
    run = simulate(world, 0.03, EnergyMomentum(5e-3), progress=False)
    assert np.allclose(run.position, plain.position[::2], rtol=0.0, atol=1e-12)
    assert run.time.tolist() == pytest.approx(plain.time[::2].tolist(), abs=1e-15)
    assert run.state.any()
    assert max(kept(world, run)) < 1e-9
    assert "done in halves" in run.about["audit"]["step halved"]


def test_a_step_that_no_part_of_it_solves_is_refused(monkeypatch):
    def never(self, start, multipliers):
        raise StepFailed("no states")

    monkeypatch.setattr(ContactRounds, "settle", never)
    with pytest.raises(SimulationFailed, match="no states"):
        simulate(rings(NodeToSegment), 0.01, EnergyMomentum(5e-3), progress=False)


def notched(friction: float = 0.0, **options) -> Continuum:
    """A pointed block above a block with a notch that is blunter than the point: a node will sit in the corner."""
    low, up = block((2.0, 1.0), (4, 2), corner=(-1.0, -1.0)), block((1.0, 1.0), (2, 2), corner=(-0.5, 0.0))
    x, y = low.nodes.T
    low = replace(low, nodes=np.column_stack([x, -1.0 + (y + 1.0) * (1.0 + 0.5 * np.abs(x))]))
    x, y = up.nodes.T
    point = 1.2 * np.abs(x)
    up = replace(up, nodes=np.column_stack([x + 0.01, point + y * (1.2 - point) + 0.02]))
    law = NeoHooke(1000.0, 0.3)
    bodies = [Solid("low", low, law, density=1.0), Solid("up", up, law, density=1.0)]
    touch = NodeToSegment(secondary=("up", "bottom"), primary=("low", "top"), friction=friction)
    return Continuum(bodies, interfaces=[touch], **options)


def corner_sides(world: Continuum, q: np.ndarray) -> np.ndarray:
    """Signed distances [m] of the point from the lines of both sides of the notch, by hand."""
    tip = world.positions(q, "up")[1]
    side = world.positions(q, "low")[[11, 12, 13]]  # nodes left of the corner, in it, and right of it
    found = []
    for first, second in ((0, 1), (1, 2)):
        along = side[second] - side[first]
        apart = tip - side[first]
        found.append((along[0] * apart[1] - along[1] * apart[0]) / np.linalg.norm(along))
    return np.array(found)


def test_a_node_in_a_re_entrant_corner_is_held_by_both_sides():
    """With one partner it would pass through the other side, whichever partner is taken."""
    world = notched(
        supports=[
            Support("low", "bottom"),
            Support("up", "top", displacement=Ramp(np.zeros(2), np.array([0.05, -0.15]))),
        ]
    )
    run = simulate(world, 1.0, QuasiStatic(0.25), progress=False)
    assert np.abs(corner_sides(world, run.position[-1])).max() < 1e-9
    assert run.about["audit"]["largest penetration"] < 1e-9
    assert run.force[-1][1, 0] > 0.0


@pytest.mark.parametrize("energy", ["consistent", "gradient"])
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_what_hits_a_re_entrant_corner_keeps_its_energy_and_stays_outside(energy, friction):
    world = notched(friction, supports=[Support("low", "bottom")], velocity={"up": (0.3, -2.0)})
    run = simulate(world, 0.12, EnergyMomentum(5e-3, contact=HardContact(energy)), progress=False)
    assert run.state.any()
    assert min(corner_sides(world, q).min() for q in run.position) > -1e-9
    total = run.samples.energy[:, 0] + run.samples.energy[:, 1] + run.samples.energy[:, 4]
    assert np.ptp(total) < 1e-9 * total[0]


def test_open_contacts_are_judged_by_the_partners_of_the_solution(monkeypatch):
    """A gap of partners that have gone, here made to look deep, closes nothing."""
    world = rings(Mortar)
    scheme = EnergyMomentum(2e-3, contact=HardContact("none"))
    plain = simulate(world, 0.03, scheme, progress=False)
    honest = ContactRounds._judged

    def misled(self, contacts, q, normal, tangential):
        after = honest(self, contacts, q, normal, tangential)
        if not self._paired(q).same(contacts.pairing):
            after[contacts.states == OPEN] = STICK
        return after

    monkeypatch.setattr(ContactRounds, "_judged", misled)
    other = simulate(world, 0.03, scheme, progress=False)
    assert np.allclose(other.position, plain.position, rtol=0.0, atol=1e-9)


def test_a_mass_at_a_stop_bounces_without_loss():
    """The gap is held over the step of the impact, so v₁ = 2 Δq/h − v₀ = −v₀."""
    ball = LinearSystem(
        [1.0], position=[0.105], velocity=[-1.0], contacts=[Contact("floor", normal=[1.0], gap=0.0)]
    )
    run = simulate(ball, 0.5, EnergyMomentum(0.01), progress=False)
    assert run.velocity[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert np.count_nonzero(run.state) == 1


def test_a_block_on_an_incline_sticks_below_the_friction_angle_and_slides_above():
    g, mu, h = 10.0, 0.3, 0.01
    for slope, moves in ((0.25, False), (0.6, True)):
        along, down = g * np.sin(slope), g * np.cos(slope)
        floor = Contact("floor", normal=[0.0, 1.0], gap=0.0, tangents=[[1.0, 0.0]], friction=mu)
        block_ = LinearSystem([2.0, 2.0], force=[2.0 * along, -2.0 * down], contacts=[floor])
        run = simulate(block_, 1.0, EnergyMomentum(h), progress=False)
        expected = along - mu * down if moves else 0.0
        assert run.velocity[-1, 0] == pytest.approx(expected, abs=1e-9)
        assert run.position[-1, 0] == pytest.approx(0.5 * expected, abs=1e-9)
        assert run.samples.energy[-1, 4] == pytest.approx(2.0 * mu * down * 0.5 * expected, abs=1e-9)


def test_elastic_blocks_on_a_wall_fall_and_keep_their_energy():
    law = NeoHooke(1e4, 0.2)
    body = Solid("block", block((1.0, 1.0), (2, 2)), law, density=10.0)
    floor = Wall("block", "bottom", point=(0.0, -0.05), normal=(0.0, 1.0))
    world = Continuum([body], loads=[Gravity((0.0, -9.81))], walls=[floor])
    run = simulate(world, 0.4, EnergyMomentum(5e-3), progress=False)
    total = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    assert np.ptp(total) < 1e-9 * np.abs(run.samples.energy).max()
    assert run.state.any()
    assert run.gap.min() > -1e-12


def test_pressed_columns_carry_their_load_through_the_interface():
    """A column of two blocks under its own weight: the interface carries the weight of the upper one."""
    law = NeoHooke(1e6, 0.0)
    low = Solid("low", block((1.0, 1.0), (3, 2)), law, density=100.0)
    up = Solid("up", block((1.0, 1.0), (2, 2), corner=(0.0, 1.0)), law, density=100.0)
    for kind in (NodeToSegment, Mortar):
        touch = kind(secondary=("up", "bottom"), primary=("low", "top"))
        world = Continuum(
            [low, up],
            loads=[Gravity((0.0, -10.0))],
            supports=[Support("low", "bottom"), Support("up", [0], [0])],
            interfaces=[touch],
        )
        run = simulate(world, 1.0, QuasiStatic(1.0), progress=False)
        assert run.impulse[-1, :, 0].sum() == pytest.approx(
            1000.0, rel=1e-6
        )  # normals lean by less than 1e-3
        assert run.about["audit"]["largest penetration"] < 1e-9


def test_targets_say_what_gaps_are_held_at_and_where_work_is_counted_from():
    gaps, never = np.array([0.2, -0.1]), np.zeros(2, dtype=bool)
    none, consistent, gradient = (
        GapTargets.of(o, gaps, never, never) for o in ("none", "consistent", "gradient")
    )
    assert none.target.tolist() == [0.0, 0.0]
    assert none.start.tolist() == [0.2, -0.1]
    assert consistent.target.tolist() == consistent.start.tolist() == [0.2, 0.0]
    assert gradient.target.tolist() == gradient.start.tolist() == [0.0, 0.0]
    assert GapTargets.of("consistent", gaps, ~never, never).start.tolist() == [0.2, -0.1]
    assert GapTargets.of("consistent", gaps, never, ~never).target.tolist() == [0.0, 0.0]


def test_prescribed_dissipation_is_what_a_contact_takes():
    """start = g₀ + D makes the force do the work λ (g₁ − g₀ − D).                          Hesch (3.60), (3.61)"""
    world = rings(NodeToSegment)
    q0 = world.start.position
    q1 = q0 + 0.05 * world.start.velocity / 10.0
    pairing = world.pair(0.0, q0, 0.2, q0)
    gaps = pairing.gaps(q0)
    targets = GapTargets(np.zeros(len(gaps)), gaps + 0.03)
    held = HeldContacts(pairing, np.full(len(gaps), STICK, dtype=np.int8), targets, q0, 0.1, "between")
    work = held.at(q1).push.T @ (q1 - q0)
    assert np.allclose(work, pairing.gaps(q1) - gaps - 0.03, atol=1e-12)


def test_equations_of_held_contacts_have_the_right_derivatives():
    world = rings(NodeToSegment, friction=0.3)
    q0 = world.start.position
    random = np.random.default_rng(3)
    q1 = q0 + 0.02 * random.standard_normal(len(q0))
    pairing = world.pair(0.0, q0, 0.2, q0)
    k = len(pairing.which)
    states = np.array([STICK, FORWARD, OPEN] * k)[:k].astype(np.int8)
    targets = GapTargets.of("gradient", pairing.gaps(q0), np.zeros(k, bool), np.zeros(k, bool))
    for where in ("between", "middle", "end"):
        held = HeldContacts(pairing, states, targets, q0, 0.1, where)
        forces = random.random(held.count)
        touched = np.flatnonzero(np.abs(held.at(q1).push).sum(axis=1))[:12]
        curved = held.curvature(q1, forces).toarray()
        for j in touched:
            d = np.zeros(len(q0))
            d[j] = 1e-6
            change = (held.at(q1 + d).push - held.at(q1 - d).push) @ forces / 2e-6
            value = (held.at(q1 + d).value - held.at(q1 - d).value) / 2e-6
            if where != "middle":  # friction forces of the middle are those between both ends
                assert np.allclose(curved[:, j], change, atol=1e-6)
            assert np.allclose(held.at(q1).slope[[j]].toarray().ravel(), value, atol=1e-7)


def test_penalty_contact_keeps_momentum_but_not_the_energy_of_the_bodies():
    world = rings(NodeToSegment)
    run = simulate(
        world, 0.05, EnergyMomentum(2e-3, forces="midpoint", contact=PenaltyContact(50.0)), progress=False
    )
    _, momentum, turn = kept(world, run)
    assert max(momentum, turn) < 1e-9
    assert run.gap.min() < -1e-4


@pytest.mark.parametrize(
    "make, said",
    [
        (
            lambda: HardContact("soft"),
            "energy is 'soft'; allowed are consistent, gradient, momentum-update and none",
        ),
        (lambda: HardContact(tolerance=0.0), "tolerance is 0"),
        (lambda: QuasiStatic(0.0), "step_size is 0"),
        (lambda: QuasiStatic(1.0, contact=PenaltyContact(1.0)), "contact is PenaltyContact"),
    ],
)
def test_wrong_options_are_refused(make, said):
    with pytest.raises(InvalidModel, match=said):
        make()
