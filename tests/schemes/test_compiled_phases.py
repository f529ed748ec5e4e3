"""Compiled phases: the motion of the general phases, no event missed, and few evaluations."""

import numpy as np
import pytest

from klapper.bodies import Spatial, inertia
from klapper.mechanics import Contact, FunctionSystem, Harmonic, LinearSystem, Ramp
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.schemes import EventDriven, PiecewiseExact
from klapper.schemes.few_contacts import solve_few
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.work import Work
from klapper.simulation import simulate

G = 9.81


def followed(system, until, scheme):
    """Last snapshot and number of steps."""
    snapshot, work, steps = scheme.init(system), Work(), 0
    while snapshot.time < until - 1e-12:
        snapshot, steps = scheme.step(system, snapshot, until, work).after, steps + 1
    return snapshot, steps


def balls(count: int) -> LinearSystem:
    contacts = [Contact(f"floor {i}", normal=np.eye(count)[i], restitution=0.7) for i in range(count)]
    heights = 0.5 + 0.5 * np.arange(count) / count
    return LinearSystem(np.ones(count), force=-G * np.ones(count), position=heights, contacts=contacts)


def pendulum() -> FunctionSystem:
    def mass(q):
        c = np.cos(q[0] - q[1])
        return np.array([[2.0, c], [c, 1.0]])

    def force(t, q, v):
        s = np.sin(q[0] - q[1])
        return np.array([-(v[1] ** 2) * s - 2 * G * np.sin(q[0]), v[0] ** 2 * s - G * np.sin(q[1])])

    wall = Contact("wall", gap=lambda t, q: 0.3 + np.sin(q[0]) + np.sin(q[1]), restitution=0.8)
    return FunctionSystem([1.0, 0.4], [0.0, 0.0], mass=mass, force=force, contacts=[wall])


def turntable() -> object:
    model = Spatial(gravity=(0, 0, -G))
    disc = model.body(
        "disc", mass=5.0, inertia=inertia.cylinder(5.0, 0.5, 0.02), at=(0, 0, 0), spin=(0, 0, 4.0)
    )
    model.hinge(disc.point(0, 0, 0), model.ground, axis=(0, 0, 1))
    model.motor(disc, model.ground, angle=Ramp(0.0, 4.0), axis=(0, 0, 1))
    coin = model.particle("coin", mass=0.2, at=(0.15, 0, 0))
    model.contact(coin.point(), disc.wall((0, 0, 0), (0, 0, 1), name="top"), friction=0.3)
    return model.build(velocity="consistent")


@pytest.mark.parametrize(
    ("make", "until"),
    [(lambda: balls(3), 1.2), (pendulum, 2.0), (turntable, 0.2)],
    ids=["balls", "pendulum", "coin"],
)
def test_compiled_and_general_phases_are_the_same_motion(make, until, monkeypatch) -> None:
    quick, _ = followed(make(), until, EventDriven())
    monkeypatch.setattr(EventDriven, "run", lambda *_: None)
    general, _ = followed(make(), until, EventDriven())
    np.testing.assert_allclose(quick.position, general.position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(quick.velocity, general.velocity, rtol=0, atol=1e-8)
    np.testing.assert_allclose(quick.sums[:4], general.sums[:4], rtol=0, atol=1e-7)


def test_no_contact_problem_is_set_up_for_single_impacts_and_forces_are_not_asked_in_python(
    monkeypatch,
) -> None:
    """Ten balls, their times of impact in closed form: steps, problems and evaluations per impact."""
    problems, forces = [], []
    made, derivative = AccelerationProblem.__init__, PhaseEquations.derivative
    monkeypatch.setattr(AccelerationProblem, "__init__", lambda *a, **k: problems.append(1) or made(*a, **k))
    monkeypatch.setattr(PhaseEquations, "derivative", lambda *a, **k: forces.append(1) or derivative(*a, **k))
    system, until = balls(10), 1.0
    _, steps = followed(system, until, EventDriven())
    fall = np.sqrt(2.0 * system.start.position / G)
    impacts = int(np.count_nonzero(fall < until) + np.count_nonzero(fall * (1.0 + 2.0 * 0.7) < until))
    assert steps <= 2 * impacts + 2
    assert not problems
    assert not forces


def test_a_phase_of_many_steps_is_one_call() -> None:
    """Free flight of the double pendulum: dozens of steps of the integrator, one step of the scheme per phase."""
    _, steps = followed(pendulum(), 0.4, EventDriven())
    assert steps <= 4


def test_end_of_a_flight_lower_than_what_counts_as_zero_is_not_missed() -> None:
    """A mass that hits the floor again 1 µs after an impact: the step that ends just behind does not show it."""
    speed = 1.2e-6
    ball = LinearSystem(
        [1.0, 1.0],
        force=[-1.0, 0.0],
        position=[0.0, 1.0],
        velocity=[speed, 1.0],
        contacts=[Contact("floor", normal=[1.0, 0.0], restitution=0.5)],
    )
    run = simulate(ball, 1e-4, EventDriven(1e-12))
    expected = 2.0 * speed * np.cumsum(0.5 ** np.arange(3))
    np.testing.assert_allclose(run.impacts().time[:3], expected, rtol=0, atol=1e-11)


def test_coin_on_a_turntable_keeps_its_tangents_and_needs_few_evaluations(monkeypatch) -> None:
    """The normal of the plate tilts by round-off, which must not turn its tangents; a search took 3723 evaluations."""
    looks = []
    derivative = PhaseEquations.derivative
    monkeypatch.setattr(EventDriven, "run", lambda *_: None)
    monkeypatch.setattr(PhaseEquations, "derivative", lambda *a: looks.append(1) or derivative(*a))
    counted = PhaseEquations.instant
    monkeypatch.setattr(PhaseEquations, "instant", lambda *a: looks.append(1) or counted(*a))
    system, scheme = turntable(), EventDriven()
    scheme.step(system, scheme.init(system), 0.02)
    assert len(looks) < 400


def test_stiff_modes_are_followed_in_closed_form() -> None:
    """Modes of 20 to 5000 Hz with a stop: the steps of the exact method, and its motion."""
    rates = 2.0 * np.pi * np.array([20.0, 130.0, 900.0, 5000.0])
    shape = np.array([1.0, -1.0, 1.0, -1.0])
    system = LinearSystem(
        np.ones(4),
        stiffness=np.diag(rates**2),
        damping=np.diag(0.02 * rates),
        force=Harmonic(8.0 * shape, 2.0 * np.pi * 40.0),
        contacts=[Contact("stop", normal=-shape, gap=1e-4, restitution=0.5)],
    )
    driven, steps = followed(system, 0.05, EventDriven())
    exact, others = followed(system, 0.05, PiecewiseExact())
    assert steps == others
    np.testing.assert_allclose(driven.position, exact.position, rtol=0, atol=1e-12)


def test_few_contacts_agree_with_all_solutions_or_leave_it() -> None:
    """Random problems of two contacts with friction: where an answer is given it is the only one."""
    random = np.random.default_rng(7)
    given = 0
    for _ in range(60):
        root = random.normal(size=(4, 4))
        force, friction = random.normal(size=4), np.diag(random.uniform(0.0, 0.8, size=2))
        problem = AccelerationProblem(
            np.eye(4),
            force,
            normal=root[:, :2],
            tangential=root[:, 2:],
            sliding_velocity=np.zeros((2, 1)),
            friction=friction,
        )
        contact = problem.contact_problem
        x = solve_few(contact.delassus, contact.free_velocity, 2, friction, np.zeros(2))
        if x is None:
            continue
        given += 1
        all_of_them = problem.all_solutions()
        assert len(all_of_them.decisions) == 1
        np.testing.assert_allclose(
            problem.accelerations(x), all_of_them.accelerations[0], rtol=0, atol=1e-8 * np.abs(force).max()
        )
    assert given > 40
