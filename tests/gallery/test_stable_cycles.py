"""Every stable cycle of the gallery: shooting, or the return map, and a long integration meet to 1e-8.

Impact-oscillator, stick-slip-cycle and friction-damped-beam check themselves. Which other examples end on a cycle, and
which do not, is listed in docs/analysis_periodic.md.
"""

import numpy as np
import pytest

from klapper.analysis import periodic_motion
from klapper.analysis.attractor import Section
from klapper.analysis.shaken_incline import stationary_drift
from klapper.gallery._rotor import Shaft
from klapper.gallery.belt_oscillator import Belt
from klapper.gallery.compliant_wedge import Wedge
from klapper.gallery.forced_delamination import Shaken
from klapper.gallery.rotor_clatter import settled
from klapper.gallery.validity_limit import ELEMENTS
from klapper.gallery.validity_limit import Shaken as ShakenBeam
from klapper.gallery.wedged_disc import Disc
from klapper.gallery.woodpecker import START, Toy
from klapper.mechanics import FrictionElement, Harmonic, LinearSystem, State
from klapper.structures import Beam, Material
from klapper.structures import Section as CrossSection
from klapper.structures.delaminated_beam import DelaminatedBeam

MEET = 1e-8


def test_belt_oscillator():
    belt = Belt(1.0, 1.0, 10.0, 0.4, 0.2, 3.0, 0.5)
    motion = periodic_motion(belt.system(), period=belt.cycle.period, settle=1)
    assert motion.period == pytest.approx(belt.cycle.period, abs=1e-9)
    np.testing.assert_allclose(np.abs(motion.multipliers), [1.0, 0.0, 0.0, 0.0], atol=1e-8)
    assert motion.approach().distance < MEET


@pytest.mark.parametrize(
    "pull, shaking, kind", [(0.5, 1.2, "III"), (0.1, 1.5, "IV"), (0.5, 1.6, "V"), (0.5, 3.0, "VI")]
)
def test_shaken_incline(pull, shaking, kind):
    floor = FrictionElement("floor", tangents=[[1.0]], limit=1.0)
    load = Harmonic([shaking], 1.0, phase=-0.5 * np.pi) + np.array([pull])
    system = LinearSystem([1.0], force=load, contacts=[floor], coordinates=["x"])
    motion, exact = periodic_motion(system, drifting=["x"]), stationary_drift(pull, shaking)
    assert str(exact.motion_type) == kind
    assert motion.drift[0] / motion.period == pytest.approx(float(exact.drift), abs=1e-12)
    assert motion.approach().distance < MEET


@pytest.mark.slow
def test_woodpecker():
    motion = periodic_motion(Toy().system(*START), period=0.146, settle=4, drifting=["y"])
    assert motion.period == pytest.approx(0.1460, abs=1e-4)  # Leine, Glocker and van Campen (2001)
    assert [event.kind for event in motion.events].count("impact") == 5
    assert motion.stable
    assert motion.approach(off=1e-4).distance < MEET


@pytest.mark.slow
def test_compliant_wedge():
    """The return map polished by Newton's method, and two minutes of the exact flow from beside the cycle."""
    one = Wedge(Disc(1.05, np.pi / 4, -1.5, 9.81, 0.1, 1.0), 1e5, 0.5)
    end = one.attractor(one.pushed(0.01), 200.0)
    cycle, flow, below = end.cycle, one.flow, one.judged.equilibrium.gap[one.loaded]

    def beyond(position):
        return flow.gaps(position[None])[0, one.loaded] - below

    def at_section(position, velocity):
        start = State(0.0, position, velocity)
        section = Section(lambda t, q, v: flow.gaps(q)[:, one.loaded] - below, rising=False)
        time = float(section.returns(flow.advance(start, 1.5 * end.period)).time[0])
        for _ in range(4):
            motion = flow.advance(start, time)
            q, v = motion.position[-1], motion.velocity[-1]
            time -= beyond(q) / (beyond(q + v) - beyond(q))
        return np.concatenate([q, v])

    size = np.repeat([np.ptp(cycle.position, axis=0).max(), np.abs(cycle.velocity).max()], 2)
    known = at_section(cycle.position[-1], cycle.velocity[-1])
    periods = np.ceil(np.log(1e-8) / np.log(np.abs(end.multipliers).max()))
    later = flow.advance(
        State(0.0, 0.99 * cycle.position[-1], 0.99 * cycle.velocity[-1]), periods * end.period, every=1000
    )
    found = at_section(later.position[-1], later.velocity[-1])
    assert np.abs((found - known) / size).max() < MEET


@pytest.mark.slow
def test_rotor_clatter_with_six_modes():
    model = Shaft(3.0, 1.6, 0.045, 0.04, 0.036, 69e9, 2800.0, 1.0, 1e-5).model(6)
    stepped = settled(model, 5.2, 39, 40.0, 1000)
    _, position, velocity = stepped.run.final
    motion = periodic_motion(model.system(5.2, model.contacts(39)), State(0.0, position, velocity))
    assert motion.stable
    late = np.abs(stepped.middle_rate).max() / (5.2 * 1000)  # time stepping sees events up to a step late
    largest = (motion.run.position @ model.gap_rows([0.5])[0]).max()
    assert largest == pytest.approx(stepped.middle.max(), abs=late)
    assert motion.approach(off=1e-4).distance < MEET


@pytest.mark.slow
def test_validity_limit_at_nine_tenths_of_it():
    """No contact changes: the motion that shooting finds is the linear answer, and where a long integration ends."""
    places = (0.15, 0.75, 1.3, 1.85)
    ends = np.unique(np.round(np.concatenate([np.linspace(0.0, 2.0, ELEMENTS + 1), places, [1.0]]), 9))
    steel, section = Material(210e9, 7850.0), CrossSection.rectangle(0.008, 0.03)
    beam = Beam(2.0, steel, section, elements=ends, theory="euler-bernoulli")
    beam = beam.with_external_damping(20.0).with_rayleigh(stiffness=2e-5).with_gravity()
    answer = ShakenBeam(beam, places, 0.0, 1e-4, 1.0, 5.0, 80.0).here
    driven = answer.driven(0, factor=0.9 * answer.limit.factor[0])
    motion = periodic_motion(driven, driven.start)
    assert motion.stable
    assert motion.events == ()
    assert motion.distance(driven.start) < MEET
    assert motion.approach().distance < MEET


@pytest.mark.slow
def test_forced_delamination_with_one_point_of_contact():
    beam = DelaminatedBeam(1.0, 0.6, 0.01, 0.02, 0.0075, 210e9, 7500.0)
    shaken = Shaken(beam, 8, 1, 0.5, 0.0, 10.0, 22.8, 900, 400)
    last = shaken.transient
    motion = periodic_motion(shaken.system, State(0.0, last.position[-1], last.velocity[-1]), settle=10)
    assert motion.stable
    assert motion.approach(off=1e-7, left=5e-9).distance < MEET
