"""What a run says is what moved: samples and statistics against closed forms and integrations of their own.

The references never read a run: they integrate the same equations with scipy, cut them at impacts and switches of
friction themselves, and take extremes and means from their own dense output (``tests.planar_motion``).
"""

import csv
from contextlib import suppress

import numpy as np
import pytest
from tests.planar_motion import Statistics
from tests.random_motion import RIGID, drawn, linear_system

from klapper.mechanics import CompliantNormal, Constant, Contact, FrictionElement, Harmonic, LinearSystem
from klapper.results import read
from klapper.schemes import EventDriven, Moreau, Ordinary, PiecewiseExact, Regularised
from klapper.simulation import simulate
from klapper.studies.run_numbers import RunNumber

SAMPLES, EXACT = 1e-3, 1e-6  # of the range of a coordinate: what samples and statistics may err
QUICK, FULL = 16, 200  # random models: in the default suite, and in all


def kept(run, tmp_path):
    """Positions and velocities (s, n) with their times, as a CSV file tells them."""
    with run.export(tmp_path / "run.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = [name for name in rows[0] if name.startswith(("position", "velocity"))]
    return (
        np.array([float(row["time [s]"]) for row in rows]),
        np.array([[float(row[name]) for name in columns] for row in rows]),
    )


def require_motion(run, found, tmp_path):
    """Samples, exports and statistics of a ``run`` agree with the reference ``found``."""
    span = found.largest - found.least
    span = np.maximum(span, 1e-6 * span.max())
    time, values = kept(run, tmp_path)
    duration = time[-1] - time[0]
    mean = np.trapezoid(values, time, axis=0) / duration
    rms = np.sqrt(np.trapezoid(values**2, time, axis=0) / duration)
    for name, one, other in (
        ("largest", values.max(axis=0), found.largest),
        ("least", values.min(axis=0), found.least),
        ("mean", mean, found.mean),
        ("rms", rms, found.rms),
    ):
        assert np.all(np.abs(one - other) <= SAMPLES * span), name
    statistics = run.over_time
    for name in ("least", "largest", "mean", "rms"):
        told = np.concatenate([getattr(statistics.position, name), getattr(statistics.velocity, name)])
        assert np.all(np.abs(told - getattr(found, name)) <= EXACT * span), name
    n = len(run.layout.coordinates)
    for i in range(n):
        for name in ("largest", "mean", "rms"):
            number = RunNumber.named(f"position.{i + 1}.{name}").of(run)
            assert abs(number - getattr(found, name)[i]) <= EXACT * span[i]


def cases(count):
    return [pytest.param(seed, marks=[pytest.mark.slow] if seed >= QUICK else []) for seed in range(count)]


@pytest.mark.parametrize("seed", cases(FULL // 2))
@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()], ids=["events", "exact"])
def test_random_linear_systems_are_sampled_as_they_move(seed, scheme, tmp_path):
    """Stops, smooth, rough or moving, and joints that slip, under loads of any frequency."""
    system, until, found = drawn(linear_system, [20, seed])
    require_motion(simulate(system, until, scheme), found, tmp_path)


@pytest.mark.parametrize("seed", cases(FULL // 2))
def test_random_bodies_are_sampled_as_they_move(seed, tmp_path):
    """Boxes and discs on floors and belts, pendulums at walls, M(q), tops, and spheres that slide until they roll."""
    system, until, found = drawn(RIGID[seed % len(RIGID)], [21, seed])
    require_motion(simulate(system, until, EventDriven()), found, tmp_path)


@pytest.mark.parametrize(
    "scheme", [EventDriven(), PiecewiseExact(), Ordinary()], ids=["events", "exact", "ordinary"]
)
def test_methods_that_know_their_motion_sample_it(scheme, tmp_path):
    """Siblings of event-driven integration: half a vibration in one step, and friction that stops it."""
    system = LinearSystem([1.0], stiffness=[4.0], position=[1.0])
    found = Statistics(2)
    found.piece(lambda t: np.array([np.cos(2.0 * t), -2.0 * np.sin(2.0 * t)]), np.linspace(0.0, 5.0, 40))
    require_motion(simulate(system, 5.0, scheme), found, tmp_path)


def test_regularised_contact_is_sampled_inside_its_steps(tmp_path):
    """A mass runs into a spring: straight flight, half a sine, straight flight back."""
    stiffness, speed = 1e4, 2.0
    system = LinearSystem([1.0], position=[0.1], velocity=[-speed], contacts=[Contact("floor", normal=[1.0])])
    run = simulate(system, 0.12, Regularised(CompliantNormal(stiffness, 0.0), tolerance=1e-9))
    omega, begin = np.sqrt(stiffness), 0.1 / speed
    found = Statistics(2)
    found.piece(lambda t: np.array([0.1 - speed * t, -speed + 0.0 * t]), [0.0, begin])

    def pressed(t):
        return -speed * np.array([np.sin(omega * (t - begin)) / omega, np.cos(omega * (t - begin))])

    end = begin + np.pi / omega
    found.piece(pressed, np.linspace(begin, end, 9))
    found.piece(lambda t: np.array([speed * (t - end), speed + 0.0 * t]), [end, 0.12])
    require_motion(run, found, tmp_path)
    force = run.over_time.force
    assert force.largest[0] == pytest.approx(stiffness * speed / omega, rel=1e-6)
    impulse = 2.0 * speed
    assert force.mean[0] == pytest.approx(impulse / 0.12, rel=1e-6)


def test_forces_of_a_phase_have_statistics():
    """A weight on a shelf under a force that varies: the shelf carries the difference."""
    until = 1.2
    shelf = LinearSystem(
        [2.0], force=Harmonic([8.0], 3.0) + Constant([-20.0]), contacts=[Contact("shelf", normal=[1.0])]
    )
    run = simulate(shelf, until, EventDriven())
    times = np.linspace(0.0, until, 100_001)
    force = 20.0 - 8.0 * np.cos(3.0 * times)
    told = run.over_time.force
    for name, value in (
        ("least", force.min()),
        ("largest", force.max()),
        ("mean", np.trapezoid(force, times) / until),
        ("rms", np.sqrt(np.trapezoid(force**2, times) / until)),
    ):
        assert getattr(told, name)[0] == pytest.approx(value, abs=1e-6 * np.ptp(force)), name
    assert RunNumber.named("force.shelf.largest").of(run) == pytest.approx(
        force.max(), abs=1e-6 * np.ptp(force)
    )


def test_both_limits_of_a_velocity_are_kept_at_every_jump():
    floor = Contact("floor", normal=[1.0], restitution=0.5)
    run = simulate(LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor]), 2.0, EventDriven())
    for time in run.impacts().time:
        at = np.flatnonzero(run.time == time)
        before, after = run.velocity[at[0], 0], run.velocity[at[-1], 0]
        assert len(at) == 2 and after == pytest.approx(-0.5 * before)


def test_impacts_that_accumulate_do_not_flood_the_samples():
    floor = Contact("floor", normal=[1.0], restitution=0.98)
    ball = LinearSystem([1.0], force=[-10.0], position=[0.001], contacts=[floor])
    run = simulate(ball, 3.0, EventDriven())
    impacts = len(run.impacts().time)
    assert impacts > 500
    assert len(run) <= 3 * impacts + 50 / (1.0 - 0.98)  # a flight of speed v takes 50 v/v_0 samples inside


@pytest.mark.parametrize("largest_step", [1.0, None], ids=["many steps", "one step"])
def test_a_cap_on_samples_is_told_and_statistics_stay(largest_step, monkeypatch, tmp_path):
    """Also where the whole run is one step; a run that is cut after the cap goes on to the same samples."""
    monkeypatch.setattr("klapper.simulation._MOST_SAMPLES", 1000)
    until = 60 * 2.0 * np.pi
    system = LinearSystem([1.0], stiffness=[1.0], position=[1.0])
    scheme = PiecewiseExact(largest_step=largest_step)
    run = simulate(system, until, scheme)
    assert 900 <= len(run) <= 3000
    assert np.diff(run.time).max() <= max(2.0 * until / 1000, largest_step or 0.0)
    assert "1000 samples were reached" in run.about["audit"]["samples"]
    assert run.over_time.position.rms[0] == pytest.approx(np.sqrt(0.5), abs=1e-6)
    assert run.ledger.closes(1e-9)
    if largest_step is None:
        return
    step = PiecewiseExact.step

    def stopped(self, system, snapshot, *rest, **options):
        if snapshot.step == 128:  # a cut, after the cap
            raise KeyboardInterrupt
        return step(self, system, snapshot, *rest, **options)

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(PiecewiseExact, "step", stopped)
        simulate(system, until, scheme, store=tmp_path / "cut")
    again = simulate(system, until, scheme, store=tmp_path / "cut")
    assert np.array_equal(run.time, again.time) and np.array_equal(run.position, again.position)


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()], ids=["events", "exact"])
def test_a_mass_at_rest_takes_few_samples(scheme):
    """Its velocities are the round-off of its position, 3 m and 5 m from the origin."""
    rest = LinearSystem([1.0, 1.0], stiffness=np.eye(2), force=[3.0, 5.0], position=[3.0, 5.0])
    run = simulate(rest, 10.0, scheme)
    assert len(run) < 20
    np.testing.assert_allclose(run.over_time.position.rms, [3.0, 5.0], rtol=1e-12)


def test_impulses_between_samples_add_up():
    """Samples inside steps divide impulses and works, they do not change their sums."""
    rubbed = LinearSystem(
        [1.0],
        stiffness=[100.0],
        position=[0.15],
        contacts=[FrictionElement("floor", tangents=[[1.0]], limit=2.0)],
    )
    for scheme in (EventDriven(), PiecewiseExact()):
        fine, coarse = simulate(rubbed, 3.0, scheme), simulate(rubbed, 3.0, scheme, every=1)
        assert len(fine) > 2 * len(coarse)
        np.testing.assert_allclose(fine.impulse.sum(axis=0), coarse.impulse.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(fine.samples.energy[-1], coarse.samples.energy[-1], atol=1e-12)
        assert np.array_equal(fine.position[-1], coarse.position[-1])
        assert fine.ledger.closes(1e-12)
        slides = fine.state[1:, 0] == 2
        np.testing.assert_allclose(np.abs(fine.force[1:][slides, 0, 1]), 2.0, rtol=1e-9)
        assert np.all(np.isnan(fine.gap)) and np.all(np.isnan(fine.over_time.gap.mean))  # it has none


def test_a_run_that_is_resumed_has_the_same_samples_and_statistics(tmp_path):
    system, _, _ = drawn(linear_system, [7])
    whole = simulate(system, 4.0, EventDriven(), store=tmp_path / "whole")

    class Stop(EventDriven):
        def step(self, system, snapshot, *rest, **options):
            if snapshot.time > 2.0:
                raise KeyboardInterrupt
            return super().step(system, snapshot, *rest, **options)

    with suppress(KeyboardInterrupt):
        simulate(system, 4.0, Stop(), store=tmp_path / "cut")
    again = simulate(system, 4.0, EventDriven(), store=tmp_path / "cut")
    assert np.array_equal(whole.time, again.time) and np.array_equal(whole.position, again.position)
    for quantity in ("position", "velocity", "gap", "force"):
        one, two = getattr(whole.over_time, quantity), getattr(again.over_time, quantity)
        assert all(
            np.array_equal(a, b, equal_nan=True)
            for a, b in zip(vars(one).values(), vars(two).values(), strict=True)
        )
    stored = read(tmp_path / "cut").over_time.position
    assert np.array_equal(stored.largest, whole.over_time.position.largest)


@pytest.mark.parametrize("compiled", [True, False])
def test_statistics_of_time_stepping_see_the_steps_that_are_not_saved(compiled):
    floor = Contact("floor", normal=[1.0], restitution=0.8)
    ball = LinearSystem([1.0], force=[-10.0], position=[0.5], velocity=[1.0], contacts=[floor])
    scheme = Moreau(1e-3, compiled=compiled)
    every, tenth = simulate(ball, 1.2345, scheme), simulate(ball, 1.2345, scheme, every=100)
    assert len(tenth) < len(every) / 50
    for quantity in ("position", "velocity", "gap", "force"):
        one, two = getattr(every.over_time, quantity), getattr(tenth.over_time, quantity)
        for name in ("least", "largest", "mean", "rms"):
            np.testing.assert_allclose(
                getattr(two, name), getattr(one, name), rtol=1e-12, err_msg=f"{quantity} {name}"
            )
    np.testing.assert_allclose(tenth.impulse.sum(axis=0), every.impulse.sum(axis=0), rtol=1e-12)
    assert np.array_equal(tenth.position[-1], every.position[-1])
