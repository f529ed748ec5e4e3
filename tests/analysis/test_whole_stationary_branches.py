"""Branches of stationary states of random chains, beams and rotors with stops: whole, each point one of all states that
enumeration finds, and the same events for every end."""

import numpy as np
import pytest
from stationary_oracles import all_states

from klapper.analysis import follow_stationary
from klapper.mechanics import Contact, LinearSystem

PLAIN = {"closes", "opens", "loads", "unloads", "critical", "branching", "fold"}


def chain(draw):
    """Masses in a row; a load whose parts come and go with the parameter presses them onto stops."""
    size = int(draw.integers(3, 6))
    springs = draw.uniform(0.5, 2.0, size)
    stiffness = (
        np.diag(springs + np.append(springs[1:], 0.0)) - np.diag(springs[1:], 1) - np.diag(springs[1:], -1)
    )
    return size, lambda s: stiffness, draw.uniform(1.0, 4.0, size)


def beam(draw):
    """A clamped beam of few nodes under an axial force that grows beyond its first buckling load."""
    size = int(draw.integers(3, 6))
    bending = 6.0 * np.eye(size) - 4.0 * np.eye(size, k=1) - 4.0 * np.eye(size, k=-1)
    bending += np.eye(size, k=2) + np.eye(size, k=-2)
    string = 2.0 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
    return size, lambda s: bending - 0.35 * s * string, draw.uniform(1.0, 3.0, size)


def rotor(draw):
    """Coordinates in a turning frame: the stiffness falls with the square of the speed, through critical ones."""
    size = int(draw.integers(2, 5))
    root = draw.standard_normal((size, size))
    stiffness = root @ root.T + np.diag(np.arange(1.0, size + 1.0))
    return size, lambda s: stiffness - s**2 * np.eye(size), draw.uniform(0.5, 2.0, size)


def random_family(seed):
    draw = np.random.default_rng(seed)
    size, stiffness, rates = (chain, beam, rotor)[seed % 3](draw)
    contacts = int(draw.integers(2, 5))
    rows = draw.standard_normal((contacts, size))
    stops = [
        Contact(f"stop {i}", draw.uniform(0.05, 0.4), row / np.linalg.norm(row)) for i, row in enumerate(rows)
    ]
    load, phases = 0.7 * draw.standard_normal(size), draw.uniform(0.0, 6.0, size)

    def family(s):
        force = load * (1.0 + 0.8 * np.sin(3.0 * rates * s + phases))
        return LinearSystem(np.ones(size), stiffness=stiffness(s), force=force, contacts=stops)

    return family


def events_before(branch, end):
    """Kinds, names and parameters of what happens before an end, until the branch is lost or turns."""
    found = []
    for event in branch.events:
        if event.kind not in PLAIN or event.parameter > end - 1e-6:
            break
        found.append((event.kind, event.name, event.parameter))
        if event.kind == "fold":
            break
    return found


def require_whole(seed, steps=5):  # so few that changes of contact come and go within one
    family = random_family(seed)
    near, far = (
        follow_stationary(family, 0.0, 1.0, steps=steps),
        follow_stationary(family, 0.0, 1.6, steps=steps),
    )
    one, other = events_before(near, 1.0), events_before(far, 1.0)
    assert [event[:2] for event in one] == [event[:2] for event in other]
    assert [event[2] for event in one] == pytest.approx([event[2] for event in other], abs=1e-8)
    for branch in (near, far):
        changes = np.array([event.parameter for event in branch.events])
        for i in range(0, len(branch), 3):
            if np.abs(changes - branch.parameter[i]).min() < 1e-9:
                continue  # where contacts change, enumeration is at the edge of what it takes for a state
            states = all_states(family(float(branch.parameter[i])))
            reach = 1e-7 * max(1.0, float(np.abs(branch.position[i]).max()))
            assert any(np.abs(branch.position[i] - q).max() < reach for q, _ in states)
        for number in range(int(branch.number[-1]) + 1):
            require_nowhere_twice(branch, np.flatnonzero(branch.number == number))


def require_nowhere_twice(branch, chosen):
    """No state of one branch lies on the way between two others of it."""
    x = np.column_stack([branch.parameter[chosen], branch.position[chosen]])
    x = x / np.maximum(np.abs(x).max(axis=0), 1e-12)
    for i in range(2, len(x)):
        apart = np.linalg.norm(x[: i - 1] - x[i], axis=1)
        step = np.linalg.norm(x[i] - x[i - 1])
        assert not step or apart.min() > 1e-9


@pytest.mark.parametrize("seed", [3, 19, 22])
def test_a_random_branch_is_whole(seed):
    require_whole(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_forty_random_branches_are_whole(seed):
    require_whole(seed)
