"""Branches of chains, beams and rotors with stops and friction: whole, with the same events for every end."""

import numpy as np
import pytest

from klapper.analysis import NoPeriodicMotion, follow_periodic, periodic_motion
from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem
from klapper.reduction import modal
from klapper.structures import Beam, Material, Section

TURNS = "fold", "grazing", "branch point", "lift-off"  # where a branch may turn back


def chain_of(springs, gaps, limit, restitution=0.6):
    """Three masses in a row, a stop at the last one, another behind the first one, a pad on the one between."""
    stiffness = (
        np.diag(springs + np.append(springs[1:], 0.0)) - np.diag(springs[1:], 1) - np.diag(springs[1:], -1)
    )

    def chain(speed):
        return LinearSystem(
            mass=np.ones(3),
            stiffness=stiffness,
            damping=0.05 * stiffness + 0.02 * np.eye(3),
            force=Harmonic([0.0, 0.0, 1.0], speed),
            contacts=[
                Contact("stop3", normal=[0.0, 0.0, -1.0], gap=gaps[0], restitution=restitution),
                Contact("stop1", normal=[1.0, 0.0, 0.0], gap=gaps[1], restitution=restitution),
                FrictionElement("pad2", tangents=[[0.0, 1.0, 0.0]], limit=limit),
            ],
        )

    return chain


CHAIN = chain_of(np.ones(3), (1.2, 0.5), 0.15)


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def require_whole(branch, start, end):
    """It turns back nowhere but at folds and grazings, passes no event twice, and all its motions are true."""
    sense = np.sign(np.diff(branch.parameters))
    sense = sense[sense != 0.0]
    turns = sum(found.kind in TURNS for found in branch.bifurcations)
    assert sense[0] == np.sign(end - start)
    assert np.count_nonzero(sense[1:] != sense[:-1]) <= turns
    for i, one in enumerate(branch.bifurcations):
        for other in branch.bifurcations[:i]:
            same = (one.kind, one.contact) == (other.kind, other.contact)
            near = abs(one.parameter - other.parameter) < 1e-5 * abs(end - start)
            assert not (same and near and one.motion.distance(other.motion.start) < 1e-5)
    for motion in branch.motions[2:-2:9]:
        if motion.margin.value > 1e-6:
            assert motion.residual < 1e-6


def events_until(branch, end):
    """Kinds, contacts and parameters up to an end, before the branch has turned back."""
    found = []
    for one in branch.bifurcations:
        if abs(one.parameter - branch.parameters[0]) > abs(end - branch.parameters[0]):
            break
        found.append((one.kind, one.contact, one.parameter))
    return found


def require_same_events(far, near, end):
    one, other = events_until(far, end), events_until(near, end)
    assert [event[:2] for event in one] == [event[:2] for event in other]
    assert [event[2] for event in one] == pytest.approx([event[2] for event in other], abs=2e-6)


def test_a_branch_passes_the_place_where_a_slip_that_has_turned_vanishes():
    """At 0.74084 the pad, which slid on the other way and stopped, sticks at once: the branch used to turn back there
    and to retrace the same motions, and a slip of no time was a solution of its equations everywhere."""
    near, far = (follow_periodic(CHAIN, 0.8, end) for end in (0.735, 0.7))
    assert near.ended == "the parameter has reached 0.735"
    assert far.ended == "the parameter has reached 0.7"
    require_same_events(far, near, 0.735)
    assert [event[:2] for event in events_until(near, 0.735)] == [
        ("grazing-sliding", "pad2"),
        ("crossing-sliding", "pad2"),
    ]
    for branch, end in ((near, 0.735), (far, 0.7)):
        require_whole(branch, 0.8, end)
        assert np.all(np.diff(branch.parameters) < 0.0)
    found = near.named("crossing-sliding")[0]
    assert found.parameter == pytest.approx(0.740842974, abs=1e-8)  # 0.74084297 from either side
    last = near.motions[-1]
    alone = periodic_motion(CHAIN(0.735), scheme=last.scheme)  # by long integration, then by shooting
    assert last.distance(alone.start) < 1e-6
    assert last.approach(left=1e-6).distance < 1e-5


def random_chain(draw):
    chain = chain_of(draw.uniform(0.6, 1.6, 3), draw.uniform(0.4, 1.4, 2), draw.uniform(0.05, 0.3))
    return chain, draw.uniform(0.7, 1.4)


def random_beam(draw):
    """A cantilever in three modes, shaken at its tip between a stop and a rubbing pad."""
    material = Material.isotropic(young=200e9, poisson=0.3, density=8000.0)
    section = Section.rectangle(height=draw.uniform(0.004, 0.008), width=0.03)
    beam = Beam(
        draw.uniform(0.25, 0.4),
        material,
        section,
        elements=8,
        supports={0.0: "clamped"},
        theory="euler-bernoulli",
    ).with_rayleigh(mass=20.0, stiffness=4e-5)
    reduced = modal(beam.system(), 3)
    tip, inside = (beam.row(x * beam.length) @ reduced.basis for x in (1.0, draw.uniform(0.4, 0.8)))
    stiffness, damping = (dense(reduced.system.position_matrix), dense(reduced.system.rate_matrix))
    force = draw.uniform(2.0, 6.0)
    reach = force * float(tip @ np.linalg.solve(stiffness, tip))
    gap, limit = draw.uniform(3.0, 8.0) * reach, draw.uniform(0.05, 0.2) * force

    def driven(speed):
        return LinearSystem(
            dense(reduced.system.mass_matrix),
            stiffness=stiffness,
            damping=damping,
            force=Harmonic(force * tip, speed),
            contacts=[
                Contact("stop", normal=-tip, gap=gap, restitution=0.6),
                FrictionElement("pad", tangents=[inside], limit=limit),
            ],
        )

    return driven, draw.uniform(0.75, 1.3) * np.sqrt(stiffness[0, 0])


def random_rotor(draw):
    """A disc on an anisotropic shaft with gyroscopic coupling, unbalance, two stops and a rubbing seal."""
    stiffness, gyroscopic = draw.uniform(0.8, 1.5, 2), draw.uniform(0.05, 0.3)
    unbalance, gaps, limit = draw.uniform(0.1, 0.3), draw.uniform(0.3, 0.9, 2), draw.uniform(0.02, 0.1)

    def turning(speed):
        size = unbalance * speed**2
        return LinearSystem(
            np.ones(2),
            stiffness=stiffness,
            damping=[0.1, 0.1],
            gyroscopic=gyroscopic * speed * np.array([[0.0, 1.0], [-1.0, 0.0]]),
            force=Harmonic([size, 0.0], speed) + Harmonic([0.0, size], speed, -0.5 * np.pi),
            contacts=[
                Contact("right", normal=[-1.0, 0.0], gap=gaps[0], restitution=0.6),
                Contact("above", normal=[0.0, -1.0], gap=gaps[1], restitution=0.6),
                FrictionElement("seal", tangents=[[1.0, 0.0]], limit=limit),
            ],
        )

    return turning, draw.uniform(0.7, 1.4)


def random_model(seed):
    draw = np.random.default_rng(seed)
    model, start = (random_chain, random_beam, random_rotor)[seed % 3](draw)
    return model, start, start * np.array([0.97, 0.94])


def require_random(seed):
    model, start, ends = random_model(seed)
    try:
        first = periodic_motion(model(start))
    except NoPeriodicMotion:
        return
    near, far = (follow_periodic(model, start, end, first=first, most=150) for end in ends)
    for branch, end in zip((near, far), ends, strict=True):
        require_whole(branch, start, end)
    if not any(found.kind in TURNS for found in far.bifurcations):
        require_same_events(far, near, ends[0])


@pytest.mark.parametrize("seed", [5, 13])
def test_a_random_branch_is_whole(seed):
    require_random(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_forty_random_branches_are_whole(seed):
    require_random(seed)
