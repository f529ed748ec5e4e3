"""The methods against each other and against closed forms, on random and on chosen models.

Event-driven and exact integration share the decision about contacts but not the motion in between: one integrates with
error control, the other has matrix exponentials. Time stepping shares neither.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klapper.bodies import Planar, Spatial, inertia
from klapper.compare import compare
from klapper.contact_states import IMPACT, SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    LinearSystem,
    Ramp,
    Signal,
    Stribeck,
)
from klapper.results import Run
from klapper.schemes import EventDriven, Moreau, Ordinary, PiecewiseExact
from klapper.simulate import simulate

G = 9.81
NUMERICAL = 6  # column of the energies
ARRAYS = ("step", "time", "position", "velocity", "gap", "impulse", "state", "energy", "residual")
randomised = settings(max_examples=4)


def at(run: Run, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at sampled times, after an impact there."""
    last = [np.flatnonzero(np.abs(run.time - t) <= 1e-12 * max(1.0, abs(t)))[-1] for t in times]
    return run.position[last], run.velocity[last]


def random_load(rng: np.random.Generator, n: int) -> Signal:
    load: Signal = Constant(5.0 * rng.standard_normal(n))
    for _ in range(rng.integers(0, 3)):
        load = load + Harmonic(20.0 * rng.standard_normal(n), rng.uniform(1.0, 20.0), rng.uniform(0.0, 6.0))
    return load + Ramp(np.zeros(n), rng.choice([0.0, 5.0]) * rng.standard_normal(n))


def random_matrices(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    stiffness = rng.uniform(20.0, 400.0) * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    skew = rng.standard_normal((n, n))
    skew -= skew.T
    return {
        "stiffness": stiffness,
        "damping": rng.choice([0.0, 0.005]) * stiffness,
        "gyroscopic": rng.choice([0.0, 2.0]) * skew,
        "circulatory": rng.choice([0.0, 3.0]) * skew,
    }


def random_offset(rng: np.random.Generator, begin: float) -> Signal:
    """A wall at rest, shaken, or steadily approaching from the start on."""
    speed = rng.uniform(0.0, 0.005)
    rest = Constant(rng.uniform(0.01, 0.05))
    return (
        rest,
        rest + Harmonic(0.005, rng.uniform(1.0, 15.0), np.pi / 2),
        Ramp(rest.amount + speed * begin, -speed),
    )[rng.integers(3)]


def rattling(rng: np.random.Generator) -> LinearSystem:
    """A chain with stops at walls and between masses, from elastic to plastic, and a tie that may be given twice."""
    n = int(rng.integers(1, 7))
    unit, begin = np.eye(n), float(rng.choice([0.0, -2.5, 40.0]))
    stops = []
    for i in rng.permutation(n)[: rng.integers(1, 4)]:
        free = rng.random() < 0.5 or n == 1
        normal = rng.choice([-1.0, 1.0]) * unit[i] if free else unit[(i + 1) % n] - unit[i]
        offset, restitution = random_offset(rng, begin), float(rng.choice([0.0, 0.3, 0.7, 1.0]))
        stops.append(Contact(f"stop {i}", normal=normal, gap=offset, restitution=restitution))
    held = (
        [Constraint("tie", unit[0] - unit[1]), Constraint("tie again", 2.0 * (unit[0] - unit[1]))]
        if n > 3
        else []
    )
    return LinearSystem(
        rng.uniform(0.3, 3.0, n),
        force=random_load(rng, n),
        contacts=stops,
        constraints=held[: rng.integers(0, 3)] if n > 3 else [],
        time=begin,
        **random_matrices(rng, n),
    )


def rubbing(rng: np.random.Generator) -> LinearSystem:
    """A chain with joints between masses, brakes, and belts at given or shaken speed."""
    n = int(rng.integers(1, 7))
    unit = np.eye(n)
    joints = []
    for i in rng.permutation(n)[: rng.integers(1, 4)]:
        to_ground = rng.random() < 0.6 or n == 1
        speeds = (0.0, 0.2, -0.1, Harmonic(0.1, rng.uniform(1.0, 10.0)))
        joints.append(
            FrictionElement(
                f"joint {i}",
                tangents=unit[i] if to_ground else unit[i] - unit[(i + 1) % n],
                limit=rng.uniform(0.1, 6.0),
                tangential_rate=speeds[rng.integers(4)],
            )
        )
    return LinearSystem(
        rng.uniform(0.3, 3.0, n), force=random_load(rng, n), contacts=joints, **random_matrices(rng, n)
    )


def bouncing_blocks(rng: np.random.Generator) -> LinearSystem:
    """Blocks that are pressed on a floor, lift off and come back, coupled along the floor."""
    n = int(rng.integers(1, 4))
    unit = np.eye(2 * n)
    along = np.zeros((2 * n, 2 * n))
    along[:n, :n] = rng.uniform(20.0, 200.0) * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    push = np.concatenate([10.0 * rng.standard_normal(n), rng.uniform(5.0, 15.0, n)])
    return LinearSystem(
        np.tile(rng.uniform(0.3, 3.0, n), 2),
        stiffness=along,
        force=Constant(np.repeat([0.0, -G], n))
        + Harmonic(push, rng.uniform(4.0, 15.0), rng.uniform(0.0, 6.0)),
        contacts=[
            Contact(
                f"floor {i}",
                normal=unit[n + i],
                gap=float(rng.choice([0.0, 0.02])),
                tangents=unit[i],
                friction=rng.uniform(0.0, 0.6),
                restitution=float(rng.choice([0.0, 0.5])),
                tangential_rate=float(rng.choice([0.0, 0.3])),
            )
            for i in range(n)
        ],
    )


def require_agreement(system: LinearSystem, duration: float) -> None:
    begin, parts = system.start.time, 6
    times = begin + duration / parts * np.arange(1, parts + 1)
    exact = simulate(system, begin + duration, PiecewiseExact(sample=duration / parts))
    driven = simulate(system, begin + duration, EventDriven(1e-12, sample=duration / parts))
    for one, two in zip(at(exact, times), at(driven, times), strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-9 * max(1.0, np.abs(one).max()))
    for run in (exact, driven):
        turnover = max(1.0, np.abs(run.samples.energy).max())
        assert np.abs(run.ledger.residual).max() <= 1e-12 * turnover
        assert np.abs(run.samples.energy[:, NUMERICAL]).max() <= 3e-9 * turnover
        assert np.nanmin(run.gap, initial=0.0) >= -1e-11


@pytest.mark.parametrize("family", [rattling, rubbing, bouncing_blocks])
@randomised
@given(seed=st.integers(0, 10_000))
def test_event_driven_and_exact_agree_on_random_models(family, seed):
    require_agreement(family(np.random.default_rng(seed)), 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("family", [rattling, rubbing, bouncing_blocks])
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000_000))
def test_event_driven_and_exact_agree_on_many_random_models(family, seed):
    require_agreement(family(np.random.default_rng(seed)), 1.5)


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()])
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


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact(), Ordinary()])
def test_nothing_happens_where_nothing_acts(scheme):
    assert simulate(LinearSystem([2.0]), 3.0, scheme).position[-1, 0] == 0.0
    run = simulate(LinearSystem([2.0], velocity=[3.0], time=-1.0), 1e-6 - 1.0, scheme)
    assert run.time[-1] == 1e-6 - 1.0
    assert simulate(LinearSystem([2.0], velocity=[3.0]), 100.0, scheme).position[-1, 0] == pytest.approx(
        300.0
    )


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()])
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


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact(), Moreau(1e-3)])
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_a_drive_into_a_wall_is_a_contradiction_in_words(scheme, gap):
    system = LinearSystem(
        [1.0],
        contacts=[Contact("wall", normal=[1.0], gap=gap)],
        constraints=[Constraint("drive", [1.0], Ramp(0.0, 1.0))],
    )
    with pytest.raises(RuntimeError, match=r"wall .* contradict each other"):
        simulate(system, 0.1, scheme)


def puck(velocity, friction, **options) -> LinearSystem:
    """A mass on a table in space."""
    unit = np.eye(3)
    rate = options.pop("tangential_rate", 0.0)
    table = Contact("table", normal=unit[2], tangents=unit[:2], friction=friction, tangential_rate=rate)
    return LinearSystem(
        np.ones(3), force=[0.0, 0.0, -G], velocity=[*velocity, 0.0], contacts=[table], **options
    )


class TestFrictionInSpace:
    def test_a_thrown_puck_stops_on_its_line(self):
        run = simulate(puck((3.0, 4.0), 0.3), 3.0, EventDriven())
        np.testing.assert_allclose(run.position[-1], 25.0 / (0.6 * G) * np.array([0.6, 0.8, 0.0]), atol=1e-12)
        assert np.abs(run.time - 5.0 / (0.3 * G)).min() <= 1e-9
        assert run.state[-1, 0] == STICK

    def test_on_a_belt_the_line_is_that_of_the_relative_motion(self):
        run = simulate(puck((0.0, 2.0), 0.3, tangential_rate=[-1.0, 0.0]), 3.0, EventDriven())
        relative = np.array([-1.0, 2.0, 0.0])
        place = np.array([3.0, 0.0, 0.0]) + relative * np.sqrt(5.0) / (0.6 * G)
        np.testing.assert_allclose(run.position[-1], place, atol=1e-11)

    def test_a_drive_against_friction_keeps_circular_sliding_a_circle(self):
        """A central spring turns the velocity, a drive along it balances friction: the circle stays a circle."""
        radius, omega, mu = 0.5, 2.0, 0.3

        def force(t, q, v):
            drive = mu * G * v[:2] / np.hypot(*v[:2])
            return np.array([*(drive - omega**2 * q[:2]), -G])

        system = FunctionSystem(
            [radius, 0.0, 0.0],
            [0.0, radius * omega, 0.0],
            mass=np.eye(3),
            force=force,
            contacts=[Contact("table", normal=[0.0, 0.0, 1.0], tangents=np.eye(3)[:2], friction=mu)],
        )
        run = simulate(system, 4.0, EventDriven())
        angle = omega * run.time
        circle = radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
        np.testing.assert_allclose(run.position, circle, atol=1e-9)

    @pytest.mark.parametrize(
        "friction", [Anisotropic(0.3, 0.1), Anisotropic(0.1, 0.3), Stribeck(0.3, 0.1, 0.5)]
    )
    def test_time_stepping_converges_to_it(self, friction):
        system = puck((3.0, 2.0), friction, stiffness=np.diag([2.0, 1.0, 0.0]))
        goal = simulate(system, 1.0, EventDriven()).position[-1]
        errors = [np.abs(simulate(system, 1.0, Moreau(h)).position[-1] - goal).max() for h in (8e-3, 2e-3)]
        assert errors[1] < 0.35 * errors[0] < 1e-2

    def test_a_belt_that_turns_carries_the_puck_only_as_fast_as_friction_can(self):
        """Steady motion on a belt of velocity u (cos ωt, sin ωt): sticks if u ω ≤ μ g, else circles at speed μ g/ω."""
        mu, speed = 0.3, 1.0
        for omega in (2.0, 6.0):
            belt = Harmonic([-speed, 0.0], omega) + Harmonic([0.0, -speed], omega, -np.pi / 2)
            run = simulate(puck((0.0, 0.0), mu, tangential_rate=belt), 6.0, EventDriven(1e-8))
            own = np.hypot(*run.velocity[-1, :2])
            if omega * speed <= mu * G:
                assert run.state[-1, 0] == STICK
                assert own == pytest.approx(speed, abs=1e-9)
            else:
                assert run.state[-1, 0] == SLIP
                drift = run.velocity[run.time > 2.0]
                assert np.hypot(drift[:, 0], drift[:, 1]).max() < speed


class TestBodies:
    @pytest.mark.parametrize("share", [0.2, 0.999, 1.001, 3.0])
    def test_a_disc_on_an_incline_rolls_from_a_third_of_the_slope_on(self, share):
        slope, radius = np.radians(20.0), 0.1
        mu = share * np.tan(slope) / 3.0
        model = Planar(gravity=(G * np.sin(slope), -G * np.cos(slope)))
        disc = model.body("disc", mass=2.0, inertia=inertia.disc(2.0, radius), at=(0.0, radius))
        model.contact(disc.disc(radius), model.wall("slope", normal=(0.0, 1.0)), friction=mu)
        run = simulate(model.build(), 1.0, EventDriven())
        rolls = share > 1.0
        acceleration = G * np.sin(slope) * 2.0 / 3.0 if rolls else G * (np.sin(slope) - mu * np.cos(slope))
        assert run.position[-1, 0] == pytest.approx(acceleration / 2.0, abs=1e-10)
        assert run.state[-1, 0] == (STICK if rolls else SLIP)
        if rolls:
            assert run.position[-1, 0] == pytest.approx(-radius * run.position[-1, 2], abs=1e-10)

    def test_a_bowling_ball_with_side_spin_ends_rolling(self):
        """Angular momentum about the floor is kept: 7/5 v = v₀ + 2/5 r × spin, here along both directions."""
        radius, speed, spin = 0.1, 3.0, -30.0
        model = Spatial(gravity=(0.0, 0.0, -G))
        ball = model.body(
            "ball",
            mass=1.0,
            inertia=inertia.sphere(1.0, radius),
            at=(0.0, 0.0, radius),
            velocity=(speed, 0.0, 0.0),
            spin=(spin, 0.0, 0.0),
        )
        model.contact(ball.sphere(radius), model.wall("floor", normal=(0.0, 0.0, 1.0)), friction=0.5)
        run = simulate(model.build(), 0.6, EventDriven(1e-8))
        np.testing.assert_allclose(
            run.velocity[-1, :3], [5 / 7 * speed, -2 / 7 * radius * spin, 0.0], atol=1e-6
        )

    def test_a_pendulum_hits_a_wall_with_the_speed_of_its_fall(self):
        length = 0.5
        model = Planar(gravity=(0.0, -G))
        rod = model.body("rod", mass=1.0, inertia=inertia.rod(1.0, length), at=(length / 2, 0.0))
        model.hinge(rod.point(-length / 2, 0.0), model.ground.point(0.0, 0.0))
        model.contact(rod.point(length / 2, 0.0), model.wall("wall", normal=(1.0, 0.0)), restitution=0.6)
        run = simulate(model.build(), 0.8, EventDriven())
        hit = int(np.argmax(run.state[:, 0] == IMPACT))
        assert run.velocity[hit - 1, 2] == pytest.approx(-np.sqrt(3.0 * G / length), abs=1e-8)
        assert run.velocity[hit, 2] == pytest.approx(0.6 * np.sqrt(3.0 * G / length), abs=1e-8)
        assert np.abs(run.samples.energy[:, NUMERICAL]).max() < 1e-8

    @pytest.mark.parametrize("friction", [0.2, 1.0])
    def test_a_disc_in_a_groove_rests_with_forces_that_are_not_unique(self, friction):
        half, radius = np.radians(30.0), 0.1
        model = Planar(gravity=(0.0, -G))
        disc = model.body(
            "disc", mass=1.0, inertia=inertia.disc(1.0, radius), at=(0.0, radius / np.sin(half))
        )
        for side, sign in (("left", 1.0), ("right", -1.0)):
            wall = model.wall(side, normal=(sign * np.cos(half), np.sin(half)))
            model.contact(disc.disc(radius), wall, friction=friction)
        run = simulate(model.build(), 0.5, EventDriven())
        assert np.abs(run.velocity).max() < 1e-12
        assert "not unique" in run.about["audit"]["forces at the end"]


def rattling_with_brake() -> LinearSystem:
    n = 4
    unit = np.eye(n)
    stiffness = 300.0 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    return LinearSystem(
        np.ones(n),
        stiffness=stiffness,
        damping=0.002 * stiffness,
        force=Harmonic([20.0, -5.0, 3.0, 9.0], 11.0),
        contacts=[
            *(Contact(f"gap {i}", normal=unit[i + 1] - unit[i], gap=0.02, restitution=0.4) for i in range(3)),
            FrictionElement("brake", tangents=unit[3], limit=2.0),
        ],
    )


@pytest.mark.parametrize("system", [rattling_with_brake(), bouncing_blocks(np.random.default_rng(3))])
def test_time_stepping_converges_to_exact_integration(system):
    """Order one, as the mean over many step sizes: the place of an impact within its step looks random."""
    end = 0.6
    goal = simulate(system, end, PiecewiseExact()).position[-1]
    counts = np.unique(np.geomspace(100, 30_000, 16).astype(int))
    errors = [np.abs(simulate(system, end, Moreau(end / k)).position[-1] - goal).max() for k in counts]
    assert np.polyfit(np.log(counts), np.log(errors), 1)[0] < -0.85
    assert errors[-1] < 1e-4


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()])
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_ctrl_c_keeps_what_there_is_and_the_rest_follows_bit_for_bit(scheme, share, tmp_path, monkeypatch):
    system, end = rattling_with_brake(), 0.8
    whole = simulate(system, end, scheme)
    steps = int(share * whole.about["steps"])
    step = type(scheme).step

    def interrupted(self, system, snapshot, until=np.inf):
        if snapshot.step == steps:
            raise KeyboardInterrupt
        return step(self, system, snapshot, until)

    with monkeypatch.context() as patch:
        patch.setattr(type(scheme), "step", interrupted)
        part = simulate(system, end, scheme, store=tmp_path / "run")
    assert part.about["status"] == "interrupted"
    assert len(part) == steps + 1
    resumed = simulate(system, end, scheme, store=tmp_path / "run")
    assert resumed.about["status"] == "complete"
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(resumed.samples, name), getattr(whole.samples, name), err_msg=name
        )


def test_a_scheme_serves_several_systems_in_turn():
    """What it keeps from one system is not used for another."""
    scheme = PiecewiseExact()
    first = simulate(rattling_with_brake(), 0.3, scheme)
    other = LinearSystem(
        np.ones(4),
        stiffness=7.0 * np.ones(4),
        position=np.ones(4),
        contacts=first_contacts(),
        velocity=np.zeros(4),
    )
    simulate(other, 0.3, scheme)
    again = simulate(rattling_with_brake(), 0.3, scheme)
    np.testing.assert_array_equal(first.position, again.position)


def first_contacts() -> list[FrictionElement]:
    return [FrictionElement(f"brake {i}", tangents=np.eye(4)[i], limit=0.5) for i in range(4)]


def test_ordinary_integration_is_event_driven_where_one_contact_acts_at_a_time():
    system = LinearSystem(
        [1.0],
        force=Harmonic([20.0], 5.0) + Constant([-G]),
        contacts=[Contact("floor", normal=[1.0])],
        position=[0.2],
    )
    runs = [simulate(system, 3.0, scheme) for scheme in (Ordinary(), EventDriven(), PiecewiseExact())]
    for run in runs[:2]:
        np.testing.assert_allclose(run.position[-1], runs[2].position[-1], rtol=0, atol=1e-9)


def test_compare_sees_the_same():
    comparison = compare(
        rattling_with_brake(),
        0.5,
        [Moreau(1e-3), EventDriven(), PiecewiseExact(), Ordinary()],
        samples=40,
        refine=5,
    )
    assert comparison.reference == "exact"
    assert comparison.distance("event-driven").max() < 1e-9
    assert comparison.order("moreau") > 0.85
    assert "restitution 0.4" in comparison.refused["ordinary"]
    losses = {row["method"]: row["impact"] + row["friction"] for row in comparison.table}
    assert losses["event-driven"] == pytest.approx(losses["exact"], rel=1e-8)
    assert losses["moreau"] == pytest.approx(losses["exact"], rel=0.05)
