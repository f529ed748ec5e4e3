"""Gaps that Newton's method cannot close at once are closed in parts, and the step is the one that it was."""

import numpy as np
import pytest

from klapper.contact_states import OPEN
from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import EnergyMomentum, HardContact
from klapper.schemes.base import StepFailed
from klapper.schemes.contact_rounds import ContactRounds
from klapper.schemes.newton import NotConverged
from klapper.simulation import simulate

FREE = 0.3  # m, overlap of the mass that nothing holds: it is 0.2 m away and moves by 0.5 m in the step


@pytest.mark.parametrize("reach", [0.6, 0.3])
def test_overlaps_are_taken_back_in_parts_until_gaps_are_closed(reach, monkeypatch):
    """Newton's method is made to fail where a gap is off by more than ``reach`` of the overlap.

    The middle velocity of the step is that over 0.2 m in 0.1 s, so v₁ = 2·(−2 m/s) + 5 m/s.
    """
    wall = Contact("wall", normal=[1.0], gap=-1.0)
    mass = LinearSystem([1.0], position=[1.2], velocity=[-5.0], contacts=[wall])
    honest, failures = ContactRounds._solved, []

    def weak(self, contacts, q, multipliers, now, *, polish):
        off = np.abs(contacts.pairing.gaps(q) - contacts.targets.target)[contacts.states != OPEN]
        if np.any(off > reach * FREE * (1.0 + 1e-9)):
            failures.append(off)
            raise NotConverged("too far")
        return honest(self, contacts, q, multipliers, now, polish=polish)

    monkeypatch.setattr(ContactRounds, "_solved", weak)
    run = simulate(mass, 0.1, EnergyMomentum(0.1, contact=HardContact("none")), progress=False)
    assert failures
    assert run.position[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert run.velocity[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert "step halved" not in run.about["audit"]


def test_a_gap_that_does_not_close_even_in_small_parts_ends_the_step(monkeypatch):
    """Half of what is left of an overlap is eased with every failure: 1/2, 3/4, ... 31/32 are enough to give up."""
    wall = Contact("wall", normal=[1.0], gap=-1.0)
    mass = LinearSystem([1.0], position=[1.2], velocity=[-5.0], contacts=[wall])
    honest, eased = ContactRounds._solved, []

    def never(self, contacts, q, multipliers, now, *, polish):
        if np.any(contacts.states != OPEN):
            eased.append(float(contacts.targets.target[0] / contacts.pairing.gaps(q)[0]))
            raise NotConverged("never")
        return honest(self, contacts, q, multipliers, now, polish=polish)

    monkeypatch.setattr(ContactRounds, "_solved", never)
    scheme = EnergyMomentum(0.1, contact=HardContact("none"))
    with pytest.raises(StepFailed):
        scheme.step(mass, scheme.init(mass))
    assert eased[:6] == pytest.approx([0.0, 1 / 2, 3 / 4, 7 / 8, 15 / 16, 31 / 32])
