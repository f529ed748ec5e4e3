"""Shooting: periodic motions against closed forms, published numbers, differences and long integration."""

import copy

import numpy as np
import pytest
from oscillators import den_hartog_amplitude, driven_slider, impact_oscillator, single, van_der_pol
from scipy.integrate import solve_ivp

from klapper.analysis import NoPeriodicMotion, flow_map, periodic_motion
from klapper.analysis.periodic import search
from klapper.mechanics import Contact, FunctionSystem, Harmonic, LinearSystem, State
from klapper.mechanics.errors import InvalidModel
from klapper.schemes import EventDriven, Moreau
from klapper.schemes.base import StepFailed
from klapper.schemes.phase_record import record_phases
from klapper.simulation import simulate


def same_values(found, expected, tolerance):
    """Whether two sets of complex numbers agree, whatever their order."""
    rest = list(expected)
    for value in found:
        near = min(rest, key=lambda other: abs(other - value))
        assert abs(near - value) < tolerance
        rest.remove(near)


def settled(motion, periods):
    """State after some periods from a start that is off by 1 %."""
    system = copy.copy(motion.system)
    start = motion.start
    system.start = State(start.time, 0.99 * start.position, 0.99 * start.velocity)
    return State(*simulate(system, start.time + periods * motion.period, motion.scheme, progress=False).final)


@pytest.mark.parametrize(("frequency", "gap"), [(1.5, 0.5), (1.2, 0.5), (2.2, 0.0), (1.06, 0.5)])
def test_speed_and_multipliers_of_the_impact_oscillator_are_the_closed_forms(frequency, gap):
    oscillator = impact_oscillator(frequency, gap)
    known = single(oscillator)
    after = oscillator.after(known)
    motion = periodic_motion(oscillator.system(), State(after.time, after.position, 1.01 * after.velocity))
    (event,) = motion.events
    assert (event.kind, event.contact) == ("impact", "stop")
    assert event.speed == pytest.approx(known.u, rel=1e-10)
    assert event.time == pytest.approx(after.time, abs=1e-10)
    assert motion.period_ratio == pytest.approx(1.0, abs=1e-14)
    same_values(motion.multipliers, known.multipliers, 1e-9)
    assert motion.stable == known.stable
    assert motion.residual < 1e-11


def test_a_motion_of_one_period_searched_over_two_is_called_one():
    # with a stop far away and order 2 the motion is that of one period, and is called so
    system = impact_oscillator(2.2, gap=5.0).system()
    motion = periodic_motion(system, order=2)
    assert motion.period_ratio == pytest.approx(1.0)
    assert motion.events == ()
    # e^{λT} of the free vibration
    roots = np.roots([1.0, 0.04, 1.0])
    same_values(motion.multipliers, np.exp(roots * motion.period), 1e-12)
    amplitude = impact_oscillator(2.2, gap=5.0).amplitude
    assert np.abs(motion.run.position).max() == pytest.approx(amplitude, rel=1e-4)


def test_shooting_and_long_integration_agree():
    for frequency, restitution in ((1.5, 0.5), (2.4, 0.6)):
        motion = periodic_motion(impact_oscillator(frequency, 0.1, restitution, 0.05).system())
        assert motion.stable
        periods = int(np.ceil(np.log(1e-11) / np.log(np.abs(motion.multipliers[0]))))
        assert motion.distance(settled(motion, periods)) < 1e-8


def test_multipliers_are_those_of_differences_of_motions():
    motion = periodic_motion(impact_oscillator(1.5).system())
    start, spacing = motion.start, 1e-4

    def end(x):
        state = State(start.time, x[:1], x[1:])
        return record_phases(motion.system, motion.scheme, state, start.time + motion.period)[-1].after

    x = np.concatenate([start.position, start.velocity])
    columns = [
        (8 * (end(x + d) - end(x - d)) - (end(x + 2 * d) - end(x - 2 * d))) / (12 * spacing)
        for d in spacing * np.eye(2)
    ]
    same_values(motion.multipliers, np.linalg.eigvals(np.array(columns).T), 1e-8)


@pytest.mark.parametrize(("frequency", "limit"), [(1.4, 0.3), (0.8, 0.3), (0.6, 0.3)])
def test_a_slider_without_stops_has_the_amplitude_of_den_hartog(frequency, limit):
    motion = periodic_motion(driven_slider(frequency, limit))
    assert [event.kind for event in motion.events] == ["turns", "turns"]
    turn = motion.events[0].time
    at = flow_map(motion.system, turn - motion.start.time, start=motion.start).end
    assert abs(at.position[0]) == pytest.approx(den_hartog_amplitude(frequency, limit), rel=1e-10)
    assert motion.stable
    # the coordinate that is pressed down has no neighbours
    assert np.count_nonzero(np.abs(motion.multipliers) < 1e-12) == 2


def test_sticking_gives_multipliers_that_are_zero():
    motion = periodic_motion(driven_slider(0.6, 0.6))
    assert [event.kind for event in motion.events] == ["sticks", "slips", "sticks", "slips"]
    assert np.count_nonzero(np.abs(motion.multipliers) < 1e-12) == 3
    assert motion.stable and not motion.superstable
    assert motion.distance(settled(motion, 12)) < 1e-8


def test_a_mass_that_rests_on_a_shaken_table_is_superstable():
    # it rests on the table, is thrown off and lands for good: whatever starts nearby is the same motion after a period
    table = Contact("table", normal=[1.0], gap=Harmonic(-0.4, 2.0))
    system = LinearSystem([1.0], force=[-1.0], position=[0.4], contacts=[table])
    motion = periodic_motion(system)
    assert [event.kind for event in motion.events] == ["impact", "closes", "opens"]
    assert motion.superstable
    opens = motion.events[-1].time
    # the table is at 0.4 cos 2t and lets go where it falls faster than the mass: 1.6 cos 2t = 1
    assert 1.6 * np.cos(2.0 * opens) == pytest.approx(1.0, abs=1e-9)
    assert motion.distance(settled(motion, 3)) < 1e-8


def test_van_der_pol_has_the_published_period_and_the_multiplier_of_liouville():
    motion = periodic_motion(van_der_pol(), period=6.5, settle=1)
    assert motion.period == pytest.approx(6.66328685932313, abs=1e-11)  # published to these digits
    assert np.isnan(motion.period_ratio)

    # Liouville: the product of the multipliers is exp ∫ (1 − x²) dt
    def rate(t, y):
        return [y[1], (1 - y[0] ** 2) * y[1] - y[0], 1 - y[0] ** 2]

    start = [*motion.start.position, *motion.start.velocity, 0.0]
    total = solve_ivp(rate, (0.0, motion.period), start, method="DOP853", rtol=1e-12, atol=1e-13).y[2, -1]
    same_values(motion.multipliers, [1.0, np.exp(total)], 1e-9)
    assert motion.stable


def test_a_period_that_cannot_be_read_off_must_be_given():
    pushed = FunctionSystem(
        [0.0],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: np.array([np.cos(2.0 * t) - 0.4 * v[0] - q[0]]),
    )
    with pytest.raises(InvalidModel, match="give its period"):
        periodic_motion(pushed)
    motion = periodic_motion(pushed, period=np.pi, settle=4)
    amplitude = 1.0 / np.hypot(1.0 - 4.0, 0.8)
    place = amplitude * np.cos(np.angle(complex(1.0 - 4.0, 0.8)))
    assert motion.start.position[0] == pytest.approx(place, abs=1e-10)


def test_a_motion_says_its_period_its_stability_and_its_impacts():
    motion = periodic_motion(impact_oscillator(1.5).system())
    assert "1 × the period of the forcing, stable" in str(motion)
    assert "stop impact with 2.339" in str(motion)
    assert repr(motion).startswith("PeriodicMotion(4.188")


def test_a_periodic_motion_refuses_bad_arguments():
    system = impact_oscillator().system()
    with pytest.raises(InvalidModel, match="order is 0"):
        periodic_motion(system, order=0)
    with pytest.raises(InvalidModel, match="give a multiple of it"):
        periodic_motion(system, period=1.0)
    with pytest.raises(InvalidModel, match="period is nan"):
        periodic_motion(system, period=np.nan)
    with pytest.raises(InvalidModel, match="settle is -1"):
        periodic_motion(system, settle=-1)
    with pytest.raises(InvalidModel, match="tolerance is 0"):
        periodic_motion(system, tolerance=0.0)
    with pytest.raises(InvalidModel, match="about how long"):
        periodic_motion(van_der_pol())
    with pytest.raises(InvalidModel, match="PiecewiseExact or EventDriven"):
        periodic_motion(system, scheme=Moreau(1e-3))
    with pytest.raises(InvalidModel, match="a State, a periodic motion or a run"):
        periodic_motion(system, 3.0)
    both = LinearSystem(
        [1.0], stiffness=[1.0], force=Harmonic([1.0], 1.0) + Harmonic([1.0], np.sqrt(2.0)), contacts=[]
    )
    with pytest.raises(InvalidModel, match="no common period"):
        periodic_motion(both)


@pytest.mark.parametrize("calls", [1, 21])
def test_a_simulation_that_fails_is_told(monkeypatch, calls):
    # while it settles, and while one period is recorded
    left = calls

    def failing(*given):
        nonlocal left
        left -= 1
        if left == 0:
            raise StepFailed("Contacts switch there without end.")
        return record_phases(*given)

    monkeypatch.setattr(search, "record_phases", failing)
    with pytest.raises(NoPeriodicMotion, match="Contacts switch there without end"):
        periodic_motion(impact_oscillator().system())


def test_a_free_mass_has_no_periodic_motion():
    falling = LinearSystem([1.0], force=Harmonic([0.1], 3.0) + np.array([-1.0]), contacts=[])
    with pytest.raises(NoPeriodicMotion, match="No periodic motion of 'linear system'"):
        periodic_motion(falling, settle=0)


def test_event_driven_finds_the_same():
    oscillator = impact_oscillator(1.5)
    exact = periodic_motion(oscillator.system())
    integrated = periodic_motion(oscillator.system(), exact.start, scheme=EventDriven(1e-12))
    same_values(integrated.multipliers, exact.multipliers, 1e-10)
    assert integrated.residual < 1e-9
