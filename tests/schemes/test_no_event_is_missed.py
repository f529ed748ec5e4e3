"""Events that are easy to miss, by every scheme that goes from event to event; nothing else happens."""

import numpy as np
import pytest

from klapper.contact_states import IMPACT, SLIP
from klapper.mechanics import (
    Constraint,
    Contact,
    Harmonic,
    LinearSystem,
    Ramp,
)
from klapper.schemes import SCHEMES, Moreau, Ordinary
from klapper.schemes.phases import Phased
from klapper.simulation import simulate

G = 9.81
PHASED = [scheme() for scheme in SCHEMES.values() if issubclass(scheme, Phased)]
DECIDING = [scheme for scheme in PHASED if not isinstance(scheme, Ordinary)]  # of several contacts at once


@pytest.mark.parametrize("scheme", DECIDING)
class TestNoEventIsMissed:
    def test_impacts_between_stops_a_millimetre_apart_follow_newtons_law(self, scheme):
        """Newton's law at both: speeds e^k v, so that the k-th crossing takes d/(e^k v)."""
        speed, e, width = 1e4, 0.9, 1e-3
        system = LinearSystem(
            [1.0],
            position=[0.9995],
            velocity=[speed],
            contacts=[
                Contact("right", normal=[-1.0], gap=1.0, restitution=e),
                Contact("left", normal=[1.0], gap=-0.999, restitution=e),
            ],
        )
        run = simulate(system, 1e-4, scheme)
        hits = 0.5 * width / speed + np.cumsum(
            np.concatenate([[0.0], width / (speed * e ** np.arange(1, 80))])
        )
        hits = hits[hits < 1e-4]
        found = run.time[np.any(run.state == IMPACT, axis=1)]
        np.testing.assert_allclose(found, hits, rtol=0, atol=1e-14)

    @pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6, 1e-8, -1e-8, -1e-4])
    def test_a_mass_that_grazes_a_stop_hits_it_once_or_not_at_all(self, scheme, depth):
        """An oscillator touches a stop near its turning point, or does not.

        An error δ of the position there changes the speed v = ω √(2 A d) by the share δ/(2 d)."""
        omega = 10.0
        system = LinearSystem(
            [1.0],
            stiffness=[omega**2],
            position=[1.0],
            contacts=[Contact("stop", normal=[1.0], gap=1.0 - depth, restitution=0.5)],
        )
        run = simulate(system, 0.4, scheme)
        hits = run.contact("stop").impacts
        assert len(hits.time) == (1 if depth > 0.0 else 0)
        if depth > 0.0:
            turn = np.arccos(-(1.0 - depth)) / omega
            assert hits.time[0] == pytest.approx(turn, abs=1e-8 * np.sqrt(1e-8 / depth))
            assert hits.impulse[0, 0] == pytest.approx(1.5 * omega * np.sin(omega * turn), rel=1e-10 / depth)

    def test_symmetric_impacts_are_one_event(self, scheme):
        system = LinearSystem(
            np.ones(3),
            velocity=[1.0, 0.0, -1.0],
            contacts=[
                Contact("left", normal=[-1.0, 1.0, 0.0], gap=0.1, restitution=1.0),
                Contact("right", normal=[0.0, -1.0, 1.0], gap=0.1, restitution=1.0),
            ],
        )
        run = simulate(system, 1.0, scheme)
        np.testing.assert_allclose(run.velocity[-1], [-1.0, 0.0, 1.0], atol=1e-14)
        assert np.count_nonzero(np.all(run.state == IMPACT, axis=1)) == 1

    @pytest.mark.parametrize(("length", "mass"), [(1e-6, 1.0), (1e-3, 1e-6), (1.0, 1e6), (1e3, 1.0)])
    def test_a_ball_of_any_size_comes_to_rest_in_time(self, scheme, length, mass):
        """With ε = 1/2 it lies after three times the fall; energy lost is m g h."""
        system = LinearSystem(
            [mass],
            force=[-mass * G],
            position=[length],
            contacts=[Contact("floor", normal=[1.0], restitution=0.5)],
        )
        fall = np.sqrt(2.0 * length / G)
        run = simulate(system, 4.0 * fall, scheme)
        rests = run.time[np.argmax(run.state[:, 0] == SLIP) - 1]
        assert rests == pytest.approx(3.0 * fall, abs=max(1e-6 * fall, 4e-9))
        assert abs(run.position[-1, 0]) <= 1e-11
        assert run.ledger.impact[-1] == pytest.approx(mass * G * length, rel=1e-9)
        assert "closed without restitution" in run.about["audit"]["impacts accumulate"]

    def test_impact_times_do_not_suffer_far_from_the_origin(self, scheme):
        height, fall = 1e4, np.sqrt(2.0 / G)
        system = LinearSystem(
            [1.0],
            force=[-G],
            position=[height + 1.0],
            contacts=[Contact("floor", normal=[1.0], gap=-height, restitution=0.5)],
        )
        run = simulate(system, 4.0 * fall, scheme)
        np.testing.assert_allclose(
            run.contact("floor").impacts.time[:3], fall * np.array([1.0, 2.0, 2.5]), atol=1e-11
        )
        assert run.position[-1, 0] == pytest.approx(height, abs=1e-11)

    def test_a_table_throws_where_it_falls_faster_than_the_mass(self, scheme):
        """ε = 0: the mass leaves where the table falls faster than it, A ω² sin ωt = g."""
        amplitude, omega = 2e-3, 100.0
        system = LinearSystem(
            [1.0],
            force=[-G],
            velocity=[amplitude * omega],
            contacts=[Contact("table", normal=[1.0], gap=Harmonic(-amplitude, omega, -np.pi / 2))],
        )
        run = simulate(system, 0.5, scheme)
        leaves = np.arcsin(G / (amplitude * omega**2)) / omega
        assert np.abs(run.time - leaves).min() <= 1e-12
        assert np.nanmin(run.gap) >= -1e-12
        assert len(run.contact("table").impacts.time) > 5


@pytest.mark.parametrize("scheme", PHASED)
def test_nothing_happens_where_nothing_acts(scheme):
    assert simulate(LinearSystem([2.0]), 3.0, scheme).position[-1, 0] == 0.0
    run = simulate(LinearSystem([2.0], velocity=[3.0], time=-1.0), 1e-6 - 1.0, scheme)
    assert run.time[-1] == 1e-6 - 1.0
    assert simulate(LinearSystem([2.0], velocity=[3.0]), 100.0, scheme).position[-1, 0] == pytest.approx(
        300.0
    )


@pytest.mark.parametrize("scheme", DECIDING)
@pytest.mark.parametrize(("velocity", "after"), [(-1.0, 0.5), (0.0, 0.0), (1.0, 1.0)])
def test_a_start_in_contact_with_speed_is_an_impact(scheme, velocity, after):
    system = LinearSystem(
        [1.0],
        force=[-G],
        velocity=[velocity],
        contacts=[Contact("floor", normal=[1.0], restitution=0.5)],
    )
    run = simulate(system, 0.05, scheme)
    assert run.velocity[-1, 0] == pytest.approx(after - (G * 0.05 if after else 0.0), abs=1e-12)
    assert len(run.contact("floor").impacts.time) == (1 if velocity < 0.0 else 0)


@pytest.mark.parametrize("scheme", [*DECIDING, Moreau(1e-3)])
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_a_drive_into_a_wall_is_a_contradiction_in_words(scheme, gap):
    system = LinearSystem(
        [1.0],
        contacts=[Contact("wall", normal=[1.0], gap=gap)],
        constraints=[Constraint("drive", [1.0], Ramp(0.0, 1.0))],
    )
    with pytest.raises(RuntimeError, match=r"wall .* contradict each other"):
        simulate(system, 0.1, scheme)
