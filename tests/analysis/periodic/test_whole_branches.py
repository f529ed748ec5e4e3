"""Branches of chains with stops and friction pads: to their end, forwards, with the same events for every end."""

import numpy as np
import pytest

from klapper.analysis import NoPeriodicMotion, follow_periodic, periodic_motion
from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem

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


def random_chain(seed):
    draw = np.random.default_rng(seed)
    chain = chain_of(draw.uniform(0.6, 1.6, 3), draw.uniform(0.4, 1.4, 2), draw.uniform(0.05, 0.3))
    start = draw.uniform(0.7, 1.4)
    return chain, start, start * np.array([0.97, 0.94])


def require_random(seed):
    chain, start, ends = random_chain(seed)
    try:
        first = periodic_motion(chain(start))
    except NoPeriodicMotion:
        return
    near, far = (follow_periodic(chain, start, end, first=first, most=150) for end in ends)
    for branch, end in zip((near, far), ends, strict=True):
        require_whole(branch, start, end)
    if not any(found.kind in TURNS for found in far.bifurcations):
        require_same_events(far, near, ends[0])


@pytest.mark.parametrize("seed", [3])
def test_a_random_branch_is_whole(seed):
    require_random(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_forty_random_branches_are_whole(seed):
    require_random(seed)
