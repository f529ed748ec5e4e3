"""Piecewise exact motion against formulas by hand, Vielsack's problem, event-driven integration and time stepping."""

import numpy as np
import pytest
from scipy.optimize import brentq

from klapper.contact_states import IMPACT, SLIP, STICK
from klapper.mechanics import (
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    InvalidModel,
    LinearSystem,
    Stribeck,
)
from klapper.mechanics.signals import Constant, FunctionOfTime, Harmonic, Ramp
from klapper.schemes import Moreau
from klapper.schemes.event_driven import EventDriven
from klapper.schemes.piecewise_exact import PiecewiseExact
from klapper.simulation import simulate

PERIOD = 2.0 * np.pi


def at(run, times):
    """Positions and velocities (k, n) at sample times, after jumps."""
    last = [np.flatnonzero(np.abs(run.samples.time - t) <= 1e-9 * (1.0 + abs(t)))[-1] for t in times]
    return run.samples.position[last], run.samples.velocity[last]


def coupled(count, fixed, between):
    """Stiffness (n, n) of masses in a row, each tied to the ground and to its neighbours."""
    stiffness = (fixed + 2.0 * between) * np.eye(count) - between * (np.eye(count, k=1) + np.eye(count, k=-1))
    stiffness[0, 0] -= between
    stiffness[-1, -1] -= between
    return stiffness


def belt(count):
    """Masses in a row on one moving belt."""
    return LinearSystem(
        1.0 + np.arange(count),
        stiffness=coupled(count, 1.0, 2.0),
        contacts=[
            FrictionElement(
                f"mass {i}", tangents=np.eye(count)[i], limit=0.4 + 0.12 * i, tangential_rate=-0.3
            )
            for i in range(count)
        ],
        position=0.5 * np.arange(count) - 0.7,
    )


def rattling_chain():
    """Four shaken masses that hit stops of their own."""
    stiffness = coupled(4, 100.0, 300.0)
    return LinearSystem(
        2.0 * np.ones(4),
        damping=0.002 * stiffness,
        stiffness=stiffness,
        force=Harmonic(np.linspace(5.0, 9.0, 4), 7.3, 0.3),
        contacts=[
            Contact(f"stop {i}", normal=np.eye(4)[i], gap=0.01 * (1.0 + 0.37 * i), restitution=0.6)
            for i in range(4)
        ],
    )


def rough_bar():
    """Two masses with inelastic stops, Coulomb friction at them, a guide and a shaken floor."""
    stiffness = coupled(3, 40.0, 90.0)
    return LinearSystem(
        [1.0, 1.5, 0.5],
        damping=0.003 * stiffness,
        stiffness=stiffness,
        gyroscopic=[[0.0, 0.4, 0.0], [-0.4, 0.0, 0.0], [0.0, 0.0, 0.0]],
        force=Constant([0.0, 0.0, -1.0]) + Harmonic([3.0, -2.0, 1.0], 5.1, 0.2),
        contacts=[
            Contact(
                "floor",
                normal=[0.0, 0.0, 1.0],
                tangents=[1.0, 0.0, 0.0],
                friction=0.5,
                gap=0.01 + Harmonic(0.004, 9.0, 0.5),
                tangential_rate=Harmonic(0.05, 3.0),
            ),
            Contact("stop", normal=[0.0, -1.0, 0.0], gap=0.03, restitution=0.4),
        ],
        constraints=[Constraint("guide", direction=[1.0, -0.5, 0.0], offset=Harmonic(0.01, 2.0, -np.pi / 2))],
        velocity=[-0.02, 0.0, 0.0],
    )


class TestBouncingBall:
    ball = LinearSystem(
        [1.0],
        force=[-9.81],
        position=[1.0],
        contacts=[Contact("floor", normal=[1.0], restitution=0.8)],
    )

    def test_impacts_come_at_their_exact_times_down_to_the_shortest_flight(self):
        run = simulate(self.ball, 4.5, PiecewiseExact())
        hits = run.samples.time[run.samples.state[:, 0] == IMPACT]
        first = np.sqrt(2.0 / 9.81)
        flights = 2.0 * first * 0.8 ** np.arange(1, len(hits))
        np.testing.assert_allclose(hits, first + np.concatenate([[0.0], np.cumsum(flights)]), atol=1e-13)
        assert 2.0 * first * 0.8 ** len(hits) < 1e-9 < 2.0 * first * 0.8 ** (len(hits) - 1) / 0.8
        assert "closed without restitution" in run.about["audit"]["impacts accumulate"]
        assert run.samples.position[-1, 0] == pytest.approx(0.0, abs=1e-15)
        assert run.samples.velocity[-1, 0] == 0.0

    def test_a_step_goes_from_event_to_event(self):
        run = simulate(self.ball, 1.0, PiecewiseExact())
        assert run.about["steps"] == 3  # flight, impact, flight

    def test_both_limits_of_the_velocity_are_kept(self):
        run = simulate(self.ball, 1.0, PiecewiseExact())
        hit = np.flatnonzero(np.diff(run.time) == 0.0)[0]
        before, after = run.samples.velocity[hit : hit + 2, 0]
        assert before == pytest.approx(-np.sqrt(2.0 * 9.81), rel=1e-14)
        assert after == pytest.approx(-0.8 * before, rel=1e-14)
        assert run.impacts().time[0] == run.time[hit]


def vielsack(gravity, shaking, position=0.0, velocity=0.0):
    return LinearSystem(
        [1.0],
        force=Constant([gravity]) + Harmonic([shaking], 1.0, -np.pi / 2),
        contacts=[FrictionElement("plane", tangents=[1.0], limit=1.0)],
        position=[position],
        velocity=[velocity],
    )


def vielsack_by_hand(gravity, shaking, periods):
    """Positions at multiples of the period: the phases of Vielsack (14), their ends by a scan and bracketed roots."""

    def pull(t):
        return gravity + shaking * np.sin(t)

    t, x, v, sense, places, end = 0.0, 0.0, 0.0, 0, [0.0], periods * PERIOD

    def first_root(function, begin):
        grid = np.linspace(begin + 1e-9, begin + 1.5 * PERIOD, 20001)
        values = function(grid)
        turn = int(np.argmax((values[:-1] > 0.0) & (values[1:] <= 0.0)))
        return brentq(function, grid[turn], grid[turn + 1], xtol=1e-15, rtol=1e-15)

    while len(places) <= periods:
        if sense == 0:
            if abs(pull(t)) < 1.0:
                t_next = first_root(lambda s: 1.0 - np.abs(pull(s)), t)
                sense = int(np.sign(pull(t_next)))
            else:
                t_next, sense = t, int(np.sign(pull(t)))
            while len(places) * PERIOD <= t_next and len(places) <= periods:
                places.append(x)
            t = t_next
            continue

        def speed(s, sign=sense, t0=t, v0=v):
            return v0 + (gravity - sign) * (s - t0) - shaking * (np.cos(s) - np.cos(t0))

        def place(s, sign=sense, t0=t, v0=v, x0=x):
            r = s - t0
            return (
                x0
                + (v0 + shaking * np.cos(t0)) * r
                + 0.5 * (gravity - sign) * r**2
                - shaking * (np.sin(s) - np.sin(t0))
            )

        stop = first_root(lambda s, sign=sense, f=speed: sign * f(s), t)
        while len(places) * PERIOD <= stop and len(places) <= periods:
            places.append(place(len(places) * PERIOD))
        t, x, v, sense = stop, place(stop), 0.0, 0
        if t > end:
            break
    return np.array(places)


class TestVielsack:
    @pytest.mark.parametrize(
        ("gravity", "shaking", "printed", "digits"),
        [(0.9, 0.11, 6.633450e-4, 5e-11), (0.05, 3.0, 0.200489, 5e-7), (0.1, 3.0, 0.39948, 5e-6)],
    )
    def test_drift_is_exact_and_independent_of_the_start(self, gravity, shaking, printed, digits):
        by_hand = np.diff(vielsack_by_hand(gravity, shaking, 24))[-1] / PERIOD
        drifts = []
        for position, velocity in ((0.0, 0.0), (3.0, -2.0)):
            run = simulate(
                vielsack(gravity, shaking, position, velocity), 24 * PERIOD, PiecewiseExact(sample=PERIOD)
            )
            q, _ = at(run, PERIOD * np.array([23, 24]))
            drifts.append(float(q[1, 0] - q[0, 0]) / PERIOD)
        assert drifts[0] == pytest.approx(printed, abs=digits)
        np.testing.assert_allclose(drifts, by_hand, rtol=0, atol=1e-10)

    def test_the_first_five_periods_follow_the_solution_by_hand(self):
        run = simulate(vielsack(0.5, 1.6), 5 * PERIOD, PiecewiseExact(sample=PERIOD))
        q, _ = at(run, PERIOD * np.arange(6))
        np.testing.assert_allclose(q[:, 0], vielsack_by_hand(0.5, 1.6, 5), atol=1e-12)

    def test_rest_below_the_limit_is_rest(self):
        run = simulate(vielsack(0.5, 0.4), 20 * PERIOD, PiecewiseExact())
        assert np.all(run.samples.position == 0.0)
        assert run.about["steps"] == 1


class TestBeltOscillator:
    def test_a_released_mass_is_caught_by_the_belt_and_then_swings_without_sticking(self):
        """Released at 3 F/k: it slides back, is caught by the belt, carried to F/k, and from there swings with the
        amplitude V/ω, touching the belt's speed once a period without sticking."""
        stiffness, limit, speed = 4.0, 1.0, 0.3
        frequency, rest = 2.0, limit / stiffness
        system = LinearSystem(
            [1.0],
            stiffness=[stiffness],
            contacts=[FrictionElement("belt", tangents=[1.0], limit=limit, tangential_rate=-speed)],
            position=[3.0 * rest],
        )
        sine = speed / (2.0 * rest * frequency)
        caught = (np.pi + np.arcsin(sine)) / frequency
        place = rest - 2.0 * rest * np.sqrt(1.0 - sine**2)
        carried = caught + (rest - place) / speed
        run = simulate(system, carried + 9.0, PiecewiseExact(sample=0.05))
        assert np.abs(run.samples.time - caught).min() <= 1e-14
        assert np.abs(run.samples.time - carried).min() <= 1e-14
        t, q = run.samples.time, run.samples.position[:, 0]
        sliding, riding = t <= caught, (t >= caught) & (t <= carried)
        np.testing.assert_allclose(
            q[sliding], rest + 2.0 * rest * np.cos(frequency * t[sliding]), rtol=0, atol=1e-14
        )
        np.testing.assert_allclose(q[riding], place + speed * (t[riding] - caught), rtol=0, atol=1e-14)
        swinging = t >= carried
        swing = rest + speed / frequency * np.sin(frequency * (t[swinging] - carried))
        np.testing.assert_allclose(q[swinging], swing, rtol=0, atol=1e-12)
        state = run.samples.state[:, 0]
        assert np.all(state[1:][(t[1:] > caught + 1e-9) & (t[1:] < carried + 1e-9)] == STICK)
        assert np.all(state[1:][t[1:] < caught + 1e-9] == SLIP)

    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_masses_on_a_belt_agree_with_event_driven_integration(self, count):
        times = np.linspace(0.0, 20.0, 11)
        exact, integrated = (
            at(simulate(belt(count), 20.0, scheme), times)
            for scheme in (PiecewiseExact(sample=2.0), EventDriven(1e-12, sample=2.0))
        )
        np.testing.assert_allclose(exact[0], integrated[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(exact[1], integrated[1], rtol=0, atol=1e-9)


def test_friction_oscillator_comes_to_rest_after_swings_that_shrink_by_two_limits():
    stiffness, limit, start = 9.0, 0.5, 1.0
    system = LinearSystem(
        [1.0],
        stiffness=[stiffness],
        contacts=[FrictionElement("ground", tangents=[1.0], limit=limit)],
        position=[start],
    )
    run = simulate(system, 20.0, PiecewiseExact())
    swings = int(np.ceil((start * stiffness / limit - 1.0) / 2.0))  # of 2 F/k each, until |x| ≤ F/k
    rest = (-1.0) ** swings * (start - 2.0 * swings * limit / stiffness)
    assert run.samples.position[-1, 0] == pytest.approx(rest, abs=1e-15 * swings)
    moving = np.abs(np.diff(run.samples.position[:, 0])) > 1e-9
    stopped = run.samples.time[1:][moving].max()
    assert stopped == pytest.approx(swings * np.pi / np.sqrt(stiffness), abs=1e-13)


def test_a_ball_on_a_vibrating_table_hits_where_the_parabola_meets_the_wave():
    amplitude, frequency, e = 0.05, 11.0, 0.7
    table = LinearSystem(
        [1.0],
        force=[-9.81],
        position=[0.3],
        contacts=[
            Contact("table", normal=[1.0], gap=Harmonic(-amplitude, frequency, -np.pi / 2), restitution=e)
        ],
    )
    run = simulate(table, 1.2, PiecewiseExact())
    hits = run.samples.time[run.samples.state[:, 0] == IMPACT]
    t, x, v, expected = 0.0, 0.3, 0.0, []
    while len(expected) < 4:

        def gap(s, t0=t, x0=x, v0=v):
            return x0 + v0 * (s - t0) - 0.5 * 9.81 * (s - t0) ** 2 - amplitude * np.sin(frequency * s)

        grid = np.linspace(t + 1e-6, t + 1.0, 100001)
        turn = int(np.argmax(gap(grid) <= 0.0))
        hit = brentq(gap, grid[turn - 1], grid[turn], xtol=1e-15, rtol=1e-15)
        wall = amplitude * frequency * np.cos(frequency * hit)
        x, v = amplitude * np.sin(frequency * hit), wall - e * (v - 9.81 * (hit - t) - wall)
        t = hit
        expected.append(hit)
    np.testing.assert_allclose(hits[:4], expected, atol=1e-12)


@pytest.mark.parametrize(("system", "end"), [(rattling_chain(), 3.0), (rough_bar(), 3.0)])
class TestSeveralContacts:
    def test_event_driven_integration_agrees(self, system, end):
        times = np.linspace(0.0, end, 13)
        exact, integrated = (
            at(simulate(system, end, scheme), times)
            for scheme in (PiecewiseExact(sample=end / 12), EventDriven(1e-12, sample=end / 12))
        )
        np.testing.assert_allclose(exact[0], integrated[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(exact[1], integrated[1], rtol=0, atol=1e-9)

    def test_ledger_closes_and_the_numerical_entry_is_round_off(self, system, end):
        run = simulate(system, end, PiecewiseExact())
        turnover = np.abs(run.samples.energy).max()
        assert np.abs(run.ledger.residual).max() <= 1e-12 * turnover
        assert np.abs(run.samples.energy[:, -1]).max() <= 1e-12 * turnover

    def test_no_gap_is_penetrated(self, system, end):
        run = simulate(system, end, PiecewiseExact(sample=end / 100))
        assert np.nanmin(run.samples.gap) >= -1e-14

    def test_samples_between_the_events_change_nothing(self, system, end):
        coarse = simulate(system, end, PiecewiseExact())
        fine = simulate(system, end, PiecewiseExact(sample=end / 77))
        np.testing.assert_allclose(coarse.samples.position[-1], fine.samples.position[-1], rtol=0, atol=1e-12)
        multiples = end / 77 * np.arange(78)
        assert np.all(np.abs(fine.samples.time[:, None] - multiples).min(axis=0) <= 1e-15 * end * 8)

    def test_taken_up_from_any_snapshot_it_goes_on_bit_for_bit(self, system, end):
        scheme = PiecewiseExact()
        snapshots = [scheme.init(system)]
        while snapshots[-1].time < end:
            snapshots.append(scheme.step(system, snapshots[-1], end).after)
        cut = len(snapshots) // 2
        fresh, snapshot = PiecewiseExact(), snapshots[cut]
        for expected in snapshots[cut + 1 :]:
            snapshot = fresh.step(system, snapshot, end).after
            for name in ("time", "position", "velocity", "contact", "impulse", "sums", "memory"):
                np.testing.assert_array_equal(getattr(snapshot, name), getattr(expected, name))


@pytest.mark.parametrize(("system", "end"), [(rattling_chain(), 1.5), (belt(3), 10.0)])
def test_time_stepping_converges_to_it_with_order_one(system, end):
    """The error of an impact time within a step looks random, so that only many step sizes show the order."""
    times = end / 10 * np.arange(1, 11)
    reference, _ = at(simulate(system, end, PiecewiseExact(sample=end / 10)), times)
    counts = np.unique(np.geomspace(20, 1000, 24).astype(int))
    errors = [
        np.abs(at(simulate(system, end, Moreau(end / 10 / n)), times)[0] - reference).mean() for n in counts
    ]
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] > 0.95
    assert errors[-1] < 1e-4


def test_a_contact_given_twice_changes_nothing():
    def plate(names):
        return LinearSystem(
            [1.0, 2.0],
            stiffness=[[30.0, -10.0], [-10.0, 20.0]],
            force=Constant([0.0, -3.0]) + Harmonic([4.0, 2.0], 3.0),
            contacts=[Contact(name, normal=[0.0, 1.0], gap=0.02, restitution=0.3) for name in names],
        )

    single, double = (
        simulate(plate(names), 4.0, PiecewiseExact(sample=0.5)) for names in (["a"], ["a", "b"])
    )
    times = np.linspace(0.0, 4.0, 9)
    np.testing.assert_allclose(at(single, times)[0], at(double, times)[0], rtol=0, atol=1e-12)


def test_a_thousand_periods_of_a_pressed_oscillator_are_one_step():
    """Pressed to a frictionless wall, it swings along it: no event, no drift of the wall."""
    system = LinearSystem(
        [1.0, 1.0],
        stiffness=[1.0, 1.0],
        force=[0.0, -1.0],
        contacts=[Contact("wall", normal=[0.0, 1.0])],
        position=[0.5, 0.0],
    )
    run = simulate(system, 1000 * PERIOD, PiecewiseExact())
    assert run.about["steps"] == 1
    assert run.samples.position[-1, 0] == pytest.approx(0.5, abs=1e-14)
    assert run.samples.position[-1, 1] == 0.0
    assert run.samples.impulse[:, 0, 0].sum() == pytest.approx(1000 * PERIOD, rel=1e-13)


def test_a_motion_that_grows_beyond_all_numbers_finds_its_stops():
    """Pushed apart by a negative spring, x = ε cosh t would be 1e600 at the end; the stop comes at arcosh(1/ε)."""
    system = LinearSystem(
        [1.0],
        stiffness=[-1.0],
        position=[1e-6],
        contacts=[Contact("stop", normal=[-1.0], gap=1.0, restitution=1.0)],
    )
    run = simulate(system, 1400.0, PiecewiseExact(sample=1400.0 / 3))
    hits = run.samples.time[run.samples.state[:, 0] == IMPACT]
    first = np.arccosh(1e6)
    assert hits[0] == pytest.approx(first, abs=1e-13)
    assert hits[1] == pytest.approx(3 * first, rel=1e-3)  # on the way back round-off has grown by 1e12
    assert np.nanmin(run.samples.gap) >= -1e-12  # the clock has 2e-13 s there, the speed is 1 m/s


class TestRefusals:
    def test_a_function_system_is_refused_by_name(self):
        free = FunctionSystem([0.0], [1.0], mass=[[1.0]], force=lambda t, q, v: -np.sin(q), name="pendulum")
        with pytest.raises(InvalidModel, match="'pendulum' is a FunctionSystem"):
            PiecewiseExact().init(free)

    def test_forces_that_are_any_function_of_time_are_refused(self):
        system = LinearSystem([1.0], force=FunctionOfTime(lambda t: np.array([np.tanh(t)])))
        with pytest.raises(InvalidModel, match="the force is a FunctionOfTime"):
            PiecewiseExact().init(system)

    def test_friction_that_depends_on_the_speed_is_refused(self):
        contact = Contact("shoe", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=Stribeck(0.4, 0.2, 0.1))
        with pytest.raises(
            InvalidModel, match="contact 'shoe' has friction that depends on the sliding speed"
        ):
            PiecewiseExact().init(LinearSystem([1.0, 1.0], contacts=[contact]))

    def test_contacts_that_slide_in_two_directions_are_refused(self):
        contact = Contact("puck", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.2)
        with pytest.raises(InvalidModel, match="contact 'puck' can slide in two directions"):
            PiecewiseExact().init(LinearSystem(np.ones(3), contacts=[contact]))

    def test_compliant_contacts_are_refused(self):
        system = LinearSystem([1.0], contacts=[Contact("soft", normal=[1.0])], compliance=[[1e-6]])
        with pytest.raises(InvalidModel, match="compliance"):
            PiecewiseExact().init(system)

    def test_ramps_and_moving_walls_are_welcome(self):
        system = LinearSystem(
            [1.0], force=Ramp([0.0], [-1.0]), contacts=[Contact("wall", normal=[1.0], gap=Ramp(0.1, -0.01))]
        )
        run = simulate(system, 3.0, PiecewiseExact())
        assert run.samples.position[-1, 0] == pytest.approx(0.01 * 3.0 - 0.1, abs=1e-14)
