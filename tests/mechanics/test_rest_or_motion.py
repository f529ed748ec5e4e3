"""Rest and motion that are both solutions: closed forms of the wedge and of Painlevé's rod, and enumeration."""

import numpy as np
import pytest

from klapper.bodies import Planar, inertia
from klapper.gallery._wedged_disc import Disc
from klapper.mechanics import AccelerationProblem, Contact, FunctionSystem, LinearSystem, Ramp
from klapper.mechanics.rest_or_motion import closed_at, resting_problem, two_answers
from klapper.schemes import EventDriven, Moreau, PiecewiseExact
from klapper.simulation import simulate


def wedge(ratio: float, mu: float = 0.5, moment=None):
    """The disc of the source, built of general bodies: a wedge of 45° that opens upwards."""
    disc = Disc(mu, np.pi / 4, ratio, 9.81, 0.1, 1.0)
    model = Planar(gravity=(0.0, -9.81))
    body = model.body("disc", mass=1.0, inertia=disc.inertia, at=(0.0, 0.0))
    for name, side in (("left", 1.0), ("right", -1.0)):
        normal = np.array([side * np.cos(np.pi / 8), np.sin(np.pi / 8)])
        wall = model.wall(name, point=tuple(-0.1 * normal), normal=tuple(normal))
        model.contact(body.disc(0.1), wall, friction=mu, name=name)
    model.moment(body, disc.moment if moment is None else moment)
    return model.build()


def asked(system) -> AccelerationProblem:
    t, q = system.start.time, system.start.position
    return resting_problem(system, t, q, closed_at(system, t, q))


def by_enumeration(problem: AccelerationProblem) -> bool:
    """Whether rest and a motion are among all solutions."""
    size = np.abs(problem.free_acceleration).max()
    speeds = [np.abs(one.acceleration).max() / size for one in problem.all_solutions()]
    return min(speeds, default=1.0) < 1e-8 and max(speeds, default=0.0) > 1e-6


@pytest.mark.parametrize(
    ("mu", "ratio"), [(0.5, 1.2), (0.5, -3.0), (0.5, 0.8), (0.3, 1.2), (0.9, 1.01), (0.9, 0.99)]
)
def test_the_wedged_disc_has_two_answers_where_both_conditions_of_the_source_hold(
    mu: float, ratio: float
) -> None:
    disc = Disc(mu, np.pi / 4, ratio, 9.81, 0.1, 1.0)
    both = two_answers(asked(wedge(ratio, mu)))
    assert (both is not None) == (disc.self_locking and abs(ratio) > 1.0)
    if both is not None:
        assert both.acceleration[2] == pytest.approx(disc.turning_acceleration, rel=1e-9)


@pytest.mark.parametrize(("seed", "count"), [(5, 50), pytest.param(6, 600, marks=pytest.mark.slow)])
def test_random_problems_have_two_answers_where_enumeration_finds_both(seed: int, count: int) -> None:
    """Up to three contacts with large friction on a body in the plane, loads inside and outside of what rest bears."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(count):
        k = int(rng.integers(1, 4))
        angle, arm = rng.uniform(0.0, 2.0 * np.pi, k), rng.standard_normal((2, k))
        n, t = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        normal = np.vstack([n, arm[0] * n[1] - arm[1] * n[0]])
        tangential = np.vstack([t, arm[0] * t[1] - arm[1] * t[0]])
        mu = rng.uniform(0.1, 3.0, k)
        pressed = rng.uniform(0.0, 1.0, k)
        bears = normal @ pressed + tangential @ (rng.uniform(-1.0, 1.0, k) * mu * pressed)
        load = -bears if rng.random() < 0.8 else rng.standard_normal(3)
        problem = AccelerationProblem(
            np.diag([1.0, 1.0, rng.uniform(0.05, 1.0)]), load, normal=normal, tangential=tangential,
            sliding_velocity=np.zeros((k, 1)), friction=mu,
        )  # fmt: skip
        expected = by_enumeration(problem)
        assert (two_answers(problem) is not None) == expected
        found += expected
    assert found >= count / 25


def test_the_answers_are_solutions() -> None:
    """The motion that is told obeys M v̇ = h + D λ with forces of its states: those of enumeration."""
    model = Planar(gravity=(0.0, -9.81))
    beam = model.body("beam", mass=4.0, inertia=inertia.rod(4.0, 2.0), at=(0.0, 0.0))
    for name, side in (("left", -1.0), ("right", 1.0)):
        wall = model.wall(f"{name} wall", point=(side, 0.0), normal=(-side, 0.0))
        model.contact(beam.point(side, 0.0), wall, friction=0.5, name=name)
    problem = asked(model.build())
    both = two_answers(problem)
    assert both is not None
    assert both.acceleration == pytest.approx(
        [0.0, -9.81, 0.0], abs=1e-9
    )  # it falls, or is jammed by any force
    known = [one.acceleration for one in problem.all_solutions()]
    assert min(np.abs(one - both.acceleration).max() for one in known) < 1e-9


def painleve(mu: float, angle: float):
    """A rod of 1 m and 1 kg that stands with its lower end on the floor, leaning by ``angle`` from the floor."""
    c, s = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    floor = Contact("floor", normal=[0.0, 1.0, -c], tangents=[1.0, 0.0, s], friction=mu)
    return LinearSystem(np.diag([1.0, 1.0, 1.0 / 12.0]), force=[0.0, -9.81, -9.81 * c], contacts=[floor])


@pytest.mark.parametrize(("mu", "angle"), [(0.5, 1.1), (1.2, 1.1), (1.4, 1.1), (3.0, 1.1), (3.0, 1.5)])
def test_one_contact_is_judged_by_painleves_condition(mu: float, angle: float) -> None:
    """A support keeps the rod in balance; N = 1/m + c²/J, coupling s c/J: above μ = N/(s c/J) both exist."""
    system = painleve(mu, angle)
    c, s = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    critical = (1.0 + 12.0 * c**2) / (12.0 * s * c)
    problem = asked(system)
    assert (two_answers(problem) is not None) == by_enumeration(problem)
    if mu < critical:
        assert two_answers(problem) is None


@pytest.mark.parametrize("scheme", [Moreau(1e-3), EventDriven(), Moreau(1e-3, compiled=False)], ids=str)
def test_the_audit_tells_of_both_at_the_start(scheme) -> None:
    """The text has no parameters that let it start to turn; every method does, and the run says that it could rest."""
    run = simulate(wedge(1.2), 0.02, scheme)
    words = run.about["audit"]["rest or motion"]
    assert "at 0 s rest and motion are both solutions" in words
    assert "'left' slides" in words
    assert words.endswith("this run starts to move")
    assert "rest or motion" not in simulate(wedge(0.8), 0.02, scheme).about["audit"]


def test_the_audit_tells_of_both_at_a_standstill() -> None:
    """A moment that grows through M₀ at 0.05 s while the disc rests."""
    critical = Disc(0.5, np.pi / 4, 1.0, 9.81, 0.1, 1.0).critical_moment
    run = simulate(wedge(1.0, moment=Ramp(0.0, critical / 0.05)), 0.08, Moreau(1e-3))
    words = run.about["audit"]["rest or motion"]
    time = float(words.split(" s ")[0].removeprefix("at "))
    assert time == pytest.approx(0.05, abs=2.1e-3)
    assert words.endswith("this run starts to move")


@pytest.mark.parametrize("scheme", [Moreau(1e-3), PiecewiseExact()], ids=str)
def test_ordinary_friction_is_not_mentioned(scheme) -> None:
    feet = [
        Contact(name, normal=[0.0, 1.0, x], tangents=[1.0, 0.0, 0.05], friction=0.4)
        for name, x in (("A", -0.1), ("B", 0.1))
    ]
    block = LinearSystem([2.0, 2.0, 0.02], force=[5.0, -20.0, 0.0], contacts=feet)
    assert "rest or motion" not in simulate(block, 0.05, scheme).about["audit"]


def test_contacts_in_space_are_judged_by_the_answer_of_the_solver() -> None:
    """The jammed beam in space: the solver lets it fall, and one linear program says that it could stay."""
    contacts = [
        Contact(name, normal=[side, 0.0, 0.0], tangents=[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], friction=0.5)
        for name, side in (("left", 1.0), ("right", -1.0))
    ]
    run = simulate(
        LinearSystem([1.0, 1.0, 1.0], force=[0.0, 0.0, -9.81], contacts=contacts), 0.02, Moreau(1e-3)
    )
    assert "'left' slides; 'right' slides" in run.about["audit"]["rest or motion"]


def test_a_model_of_functions_is_asked_too() -> None:
    """The jammed mass between two rough walls, given by functions."""
    contacts = [
        Contact(
            name, gap=lambda t, q, s=side: s * q[0], normal=lambda t, q, s=side: [s, 0.0],
            tangents=lambda t, q: [[0.0, 1.0]], friction=0.3, restitution=0.0,
        )
        for name, side in (("left", 1.0), ("right", -1.0))
    ]  # fmt: skip
    system = FunctionSystem(
        [0.0, 0.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -9.81]),
        contacts=contacts,
    )
    assert "rest or motion" in simulate(system, 0.01, Moreau(1e-3)).about["audit"]
