"""Every stable cycle of the gallery: shooting, or the return map, and a long integration meet to 1e-8.

Impact-oscillator, stick-slip-cycle and friction-damped-beam check themselves. Which other examples end on a cycle, and
which do not, is listed in docs/analysis_periodic.md.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq, fsolve

from klapper.analysis import periodic_motion
from klapper.analysis.poincare_section import PoincareSection
from klapper.analysis.shaken_incline import stationary_drift
from klapper.gallery._belt_oscillator import Belt
from klapper.gallery._compliant_wedge import Wedge
from klapper.gallery._forced_delamination import Shaken
from klapper.gallery._mode_coupling import Slider
from klapper.gallery._rotor import Shaft
from klapper.gallery._rotor_clatter import settled
from klapper.gallery._sliding_flow import SlidingFlow
from klapper.gallery._validity_limit import Shaken as ShakenBeam
from klapper.gallery._wedged_disc import Disc
from klapper.gallery._woodpecker import START, Toy
from klapper.gallery.validity_limit import ELEMENTS
from klapper.mechanics import FrictionElement, Harmonic, LinearSystem, State
from klapper.mechanics.compliance import CompliantNormal
from klapper.schemes.regularised import Regularised
from klapper.simulation import simulate
from klapper.structures import Beam, Material, Section as CrossSection
from klapper.structures.delaminated_beam import DelaminatedBeam

MEET = 1e-8


def test_the_belt_oscillator_returns_to_its_cycle_at_once():
    belt = Belt(1.0, 1.0, 10.0, 0.4, 0.2, 3.0, 0.5)
    motion = periodic_motion(belt.system(), period=belt.cycle.period, settle=1)
    assert motion.period == pytest.approx(belt.cycle.period, abs=1e-9)
    np.testing.assert_allclose(np.abs(motion.multipliers), [1.0, 0.0, 0.0, 0.0], atol=1e-8)
    assert motion.approach().distance < MEET


class Hopping:
    """The mass of mode-coupling, which slides on its contact spring and flies, by exponentials of both matrices."""

    def __init__(self, one: Slider) -> None:
        self.pressed, self.free = (
            self._generator(one, stiffness) for stiffness in (one.matrices[2], one.springs)
        )

    @staticmethod
    def _generator(one: Slider, stiffness: np.ndarray) -> np.ndarray:
        """Of (x, y, ẋ, ẏ, 1)."""
        generator = np.zeros((5, 5))
        generator[:2, 2:4] = np.eye(2)
        generator[2:4, :2] = -stiffness / one.mass
        generator[2:4, 2:4] = -np.diag([one.damping_x, one.damping_y]) / one.mass
        generator[3, 4] = -one.force / one.mass
        return generator

    def until_switch(self, generator: np.ndarray, state: np.ndarray) -> tuple[float, np.ndarray]:
        """Duration and state (5,) where y is zero next, on the other side of where it goes first."""

        def height(t: float) -> float:
            return float((expm(generator * t) @ state)[1])

        times = np.linspace(1e-4, 0.1, 200)
        heights = np.array([height(t) for t in times])
        k = int(np.argmax(heights * heights[0] < 0.0))
        time = brentq(height, times[k - 1], times[k], xtol=1e-16, rtol=1e-14)
        return time, expm(generator * time) @ state

    def landing(self, state: np.ndarray) -> tuple[float, np.ndarray]:
        """Duration until it lands next, and (x, ẋ, ẏ) then, from any state (4,)."""
        state, spent = np.append(state, 1.0), 0.0
        if state[1] < 0.0 or (state[1] == 0.0 and state[3] < 0.0):
            spent, state = self.until_switch(self.pressed, state)
        time, state = self.until_switch(self.free, state)
        return spent + time, state[[0, 2, 3]]

    def again(self, landed: np.ndarray) -> np.ndarray:
        return self.landing(np.array([landed[0], 0.0, landed[1], landed[2]]))[1]


def test_beyond_its_limit_the_coupled_mass_returns_to_hopping():
    """Beyond its limit the mass ends up hopping on the belt, without sticking: Newton's method on its return map, the
    exact flow over hundreds of periods from 1 % beside, and one period by the general scheme."""
    one = Slider(0.9, 1.0, 1786.33, 24880.34, 13333.33, *np.radians([150.0, 30.0]), 6.0, 1.0, 50.0, 0.1)
    hopping, size = Hopping(one), np.array([1e-3, 0.1, 0.4])
    guess = np.array([-3.7e-4, -3.4e-2, -0.406])
    found = fsolve(lambda u: (hopping.again(u * size) - u * size) / size, guess / size, xtol=1e-13) * size
    period, again = hopping.landing(np.array([found[0], 0.0, found[1], found[2]]))
    assert np.abs((again - found) / size).max() < 1e-11
    assert period == pytest.approx(0.0466, abs=1e-4)
    slopes = [
        (hopping.again(found + 1e-4 * e) - hopping.again(found - 1e-4 * e)) / 2e-4 for e in np.diag(size)
    ]
    largest = np.abs(np.linalg.eigvals(np.array(slopes).T / size[:, None])).max()
    assert 0.5 < largest < 0.98

    flow = SlidingFlow(one.system(), CompliantNormal(one.k3), (0.0, 0.0), (0, 1))
    start = State(0.0, np.array([found[0], 0.0]), found[1:])
    beside = State(0.0, 0.99 * start.position, 0.99 * start.velocity)
    periods = np.ceil(np.log(1e-9) / np.log(largest))
    late = flow.advance(beside, (periods + 0.3) * period, every=1000)
    end = hopping.landing(np.concatenate([late.position[-1], late.velocity[-1]]))[1]
    assert np.abs((end - found) / size).max() < MEET
    cycle = flow.advance(start, period)
    assert cycle.velocity[:, 0].min() > -one.belt_speed  # it never sticks

    system = one.system(start.position, start.velocity)
    run = simulate(
        system, period, Regularised(CompliantNormal(one.k3), tolerance=1e-12), progress=False, every=1
    )
    closed = np.concatenate([run.position[-1], run.velocity[-1]])
    known = np.concatenate([start.position, start.velocity])
    assert np.abs((closed - known) / np.repeat([1e-3, 0.4], 2)).max() < MEET


@pytest.mark.parametrize(
    "pull, shaking, kind", [(0.5, 1.2, "III"), (0.1, 1.5, "IV"), (0.5, 1.6, "V"), (0.5, 3.0, "VI")]
)
def test_the_shaken_incline_returns_to_the_drift_of_its_type(pull, shaking, kind):
    floor = FrictionElement("floor", tangents=[[1.0]], limit=1.0)
    load = Harmonic([shaking], 1.0, phase=-0.5 * np.pi) + np.array([pull])
    system = LinearSystem([1.0], force=load, contacts=[floor], coordinates=["x"])
    motion, exact = periodic_motion(system, drifting=["x"]), stationary_drift(pull, shaking)
    assert str(exact.motion_type) == kind
    assert motion.drift[0] / motion.period == pytest.approx(float(exact.drift), abs=1e-12)
    assert motion.approach().distance < MEET


@pytest.mark.slow
def test_the_woodpecker_returns_to_its_cycle_of_the_published_period():
    motion = periodic_motion(Toy().system(*START), period=0.146, settle=4, drifting=["y"])
    assert motion.period == pytest.approx(0.1460, abs=1e-4)  # Leine, Glocker and van Campen (2001)
    assert [event.kind for event in motion.events].count("impact") == 5
    assert motion.stable
    assert motion.approach(off=1e-4).distance < MEET


@pytest.mark.slow
def test_the_compliant_wedge_returns_to_its_cycle():
    """The return map polished by Newton's method, and two minutes of the exact flow from beside the cycle."""
    one = Wedge(Disc(1.05, np.pi / 4, -1.5, 9.81, 0.1, 1.0), 1e5, 0.5)
    end = one.attractor(one.pushed(0.01), 200.0)
    cycle, flow, below = end.cycle, one.flow, one.judged.sliding.gap[one.loaded]

    def beyond(position):
        return flow.gaps(position[None])[0, one.loaded] - below

    def at_section(position, velocity):
        start = State(0.0, position, velocity)
        section = PoincareSection(lambda t, q, v: flow.gaps(q)[:, one.loaded] - below, rising=False)
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
def test_the_clattering_rotor_returns_to_its_cycle():
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
def test_below_the_validity_limit_the_motion_returns_to_the_linear_answer():
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
def test_the_forced_delamination_returns_to_its_cycle():
    beam = DelaminatedBeam(1.0, 0.6, 0.01, 0.02, 0.0075, 210e9, 7500.0)
    shaken = Shaken(beam, 8, 1, 0.5, 0.0, 10.0, 22.8, 900, 400)
    last = shaken.transient
    motion = periodic_motion(shaken.system, State(0.0, last.position[-1], last.velocity[-1]), settle=10)
    assert motion.stable
    assert motion.approach(off=1e-7, left=5e-9).distance < MEET
