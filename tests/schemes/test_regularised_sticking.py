"""Blocks that stick and slip on stiff feet under set-valued friction: what the motion costs, and that it is right.

The reference knows nothing of switches: Newton's and Euler's equations of one block on compliant feet, with friction
−μ λ_N v / √(|v|² + ε²), by scipy. Its motion tends to that of Coulomb's law as ε does to zero.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from klapper.bodies import Planar, Spatial
from klapper.contact_states import STICK
from klapper.mechanics import CompliantNormal, Harmonic, StickElement
from klapper.schemes import Regularised

GRAVITY = 9.81
NODES = 17  # at which a search for switches looks at most, if it knows how exact its functions are


@dataclass(frozen=True)
class Block:
    """A box on feet above a belt; axes 0 and 2 are those of the plane."""

    mass: float
    size: np.ndarray
    feet: np.ndarray
    height: float
    tilt: float
    velocity: np.ndarray
    belt: float
    friction: float
    stiffness: float
    damping: float
    spatial: bool

    @property
    def moments(self):
        x, y, z = self.size
        return self.mass / 12.0 * np.array([y**2 + z**2, x**2 + z**2, x**2 + y**2])

    @property
    def period(self):
        """Of the fastest vibration of the pressed feet."""
        x, y = self.feet[:, 0], self.feet[:, 1]
        rows = np.column_stack([np.ones(len(x)), y, -x]) / np.sqrt([self.mass, *self.moments[:2]])
        if not self.spatial:
            rows = rows[:, [0, 2]]
        return 2.0 * np.pi / np.sqrt(self.stiffness * np.linalg.eigvalsh(rows.T @ rows).max())

    def system(self):
        names = [f"foot{k}" for k in range(len(self.feet))]
        if self.spatial:
            model = Spatial(gravity=(0.0, 0.0, -GRAVITY))
            body = model.body(
                "block",
                mass=self.mass,
                inertia=self.moments,
                at=(0.0, 0.0, self.height),
                velocity=tuple(self.velocity),
            )
            belt = model.wall("belt", normal=(0.0, 0.0, 1.0), sliding=(self.belt, 0.0, 0.0))
            for name, foot in zip(names, self.feet, strict=True):
                model.contact(body.point(*foot), belt, friction=self.friction, name=name)
            return model.build()
        model = Planar(gravity=(0.0, -GRAVITY))
        body = model.body(
            "block",
            mass=self.mass,
            inertia=self.moments[1],
            at=(0.0, self.height),
            angle=self.tilt,
            velocity=(self.velocity[0], self.velocity[2]),
        )
        belt = model.wall("belt", normal=(0.0, 1.0), sliding=(self.belt, 0.0))
        for name, foot in zip(names, self.feet, strict=True):
            model.contact(body.point(foot[0], foot[2]), belt, friction=self.friction, name=name)
        return model.build()

    def reference(self, duration, slow):
        """Centre, its velocity and the heights of the feet after ``duration``; friction is viscous below ``slow``."""

        def feet(y):
            arms = Rotation.from_quat(y[3:7]).apply(self.feet)
            return arms, arms[:, 2] + y[2]

        def rate(t, y):
            turn = Rotation.from_quat(y[3:7])
            arms, heights = feet(y)
            spin = y[10:]  # in the frame of the body
            velocities = y[7:10] + np.cross(turn.apply(spin), arms)
            press = np.where(heights < 0.0, -self.stiffness * heights - self.damping * velocities[:, 2], 0.0)
            press = np.maximum(press, 0.0)
            slip = velocities[:, :2] - np.array([self.belt, 0.0])
            speed = np.sqrt(np.sum(slip**2, axis=1) + slow**2)
            forces = np.column_stack([-(self.friction * press / speed)[:, None] * slip, press])
            moment = turn.inv().apply(np.cross(arms, forces).sum(axis=0))
            x, y_, z, w = y[3:7]
            a, b, c = spin
            quaternion = 0.5 * np.array(
                [
                    w * a + y_ * c - z * b,
                    w * b + z * a - x * c,
                    w * c + x * b - y_ * a,
                    -x * a - y_ * b - z * c,
                ]
            )
            acceleration = forces.sum(axis=0) / self.mass - np.array([0.0, 0.0, GRAVITY])
            spin_rate = (moment - np.cross(spin, self.moments * spin)) / self.moments
            return np.concatenate([y[7:10], quaternion, acceleration, spin_rate])

        turn = Rotation.from_rotvec([0.0, -self.tilt, 0.0]).as_quat()
        start = np.concatenate([[0.0, 0.0, self.height], turn, self.velocity, np.zeros(3)])
        end = solve_ivp(rate, (0.0, duration), start, method="LSODA", rtol=1e-10, atol=1e-13).y[:, -1]
        return end[:3], end[7:10], feet(end)[1]


def random_block(rng, spatial):
    mass, size = rng.uniform(0.5, 3.0), rng.uniform(0.1, 0.4, 3)
    count = int(rng.integers(3, 6) if spatial else rng.integers(2, 5))
    angles = 2.0 * np.pi * (np.arange(count) + rng.uniform()) / count
    x = 0.5 * size[0] * (np.cos(angles) if spatial else np.linspace(-1.0, 1.0, count))
    y = 0.5 * size[1] * np.sin(angles) if spatial else np.zeros(count)
    feet = np.column_stack([x, y, np.full(count, -0.5 * size[2])])
    stiffness, friction = 10.0 ** rng.uniform(4.0, 8.0), rng.uniform(0.1, 0.8)
    fall = rng.uniform(0.02, 0.2)
    tilt = 0.0 if spatial else rng.uniform(-1.0, 1.0) * fall * np.sqrt(mass / stiffness) / size[0]
    lowest = feet[:, 0] * np.sin(tilt) + feet[:, 2] * np.cos(tilt)
    side, across = rng.uniform(-0.5, 0.5, 2) * friction * fall  # so slow that feet stick within an impact
    belt = rng.uniform(-1.0, 1.0)
    return Block(
        mass=mass,
        size=size,
        feet=feet,
        height=1e-9 - lowest.min(),
        tilt=tilt,
        velocity=np.array([belt + side, across if spatial else 0.0, -fall]),
        belt=belt,
        friction=friction,
        stiffness=stiffness,
        damping=rng.uniform(0.02, 0.3) * 2.0 * np.sqrt(stiffness * mass),
        spatial=spatial,
    )


def run(system, scheme, until):
    """The last snapshot, the costs, and the number of steps in which a contact stuck."""
    now, stuck = scheme.init(system), 0
    while now.time < until:
        step = scheme.step(system, now, until)
        now, stuck = step.after, stuck + bool(np.any(step.state == STICK))
    return now, scheme.costs(system, now), stuck


def check(block, periods):
    """Cost and motion of one block over so many periods of its fastest vibration."""
    system, until = block.system(), periods * block.period
    now, costs, _ = run(system, Regularised(CompliantNormal(block.stiffness, block.damping)), until)
    looks, tries = costs["looks for switches"], costs["steps"] + costs["switches"]
    if block.spatial:  # near rest the direction of sliding turns fast, and a search has to follow it
        assert looks <= costs["right-hand sides"]
    else:
        assert looks <= NODES * tries
        # ten steps resolve a period; every foot may close, release, open, stop and break in it
        assert costs["steps"] <= (10 + 5 * len(block.feet)) * (periods + 1)
    axes = [0, 1, 2] if block.spatial else [0, 2]
    fall, relative = abs(block.velocity[2]), 1e-4
    centre, velocity, heights = block.reference(until, relative * block.friction * fall)
    # a patch that comes to rest lacks the impulse ∫ (1 − v/√(v² + ε²)) dv ~ ε log(v/ε)
    allowed = max(periods, 1.0) * relative * np.log(1.0 / relative) * fall
    gaps = system.gaps(until, now.position, np.arange(len(block.feet)))
    assert np.abs(now.velocity[: len(axes)] - velocity[axes]).max() <= allowed
    assert np.abs(now.position[: len(axes)] - centre[axes]).max() <= allowed * block.period
    assert np.abs(gaps - heights).max() <= allowed * block.period


@pytest.mark.parametrize("seed", range(17))
def test_block_that_sticks_takes_few_looks_and_moves_as_its_smooth_limit(seed):
    check(random_block(np.random.default_rng(seed), spatial=False), 2.0)


@pytest.mark.parametrize("seed", range(3))
def test_block_in_space_takes_few_looks_and_moves_as_its_smooth_limit(seed):
    check(random_block(np.random.default_rng(seed), spatial=True), 0.05)


@pytest.mark.parametrize("friction", ["set-valued", StickElement(1e6, 0.0)])
def test_block_that_rocks_at_the_speed_of_its_belt_takes_few_looks(friction):
    block = Block(
        mass=1.0,
        size=np.array([0.2, 0.2, 0.1]),
        feet=np.array([[-0.1, 0.0, -0.05], [0.1, 0.0, -0.05]]),
        height=0.05 + 1e-5,
        tilt=5e-5,
        velocity=np.array([1.5, 0.0, -0.02]),
        belt=1.5,
        friction=0.4,
        stiffness=1e6,
        damping=200.0,
        spatial=False,
    )
    scheme = Regularised(CompliantNormal(block.stiffness, block.damping), friction=friction)
    _, costs, stuck = run(block.system(), scheme, 3.0 * block.period)
    assert stuck > 0
    assert costs["looks for switches"] <= NODES * (costs["steps"] + costs["switches"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_blocks_that_stick_move_as_their_smooth_limits(seed):
    spatial = seed % 4 == 0
    check(random_block(np.random.default_rng(seed), spatial=spatial), 0.3 if spatial else 6.0)


@dataclass(frozen=True)
class Slider:
    """A block on symmetric feet in line, from its static equilibrium, pushed by a force F cos ωt at its centre."""

    mass: float
    moment: float
    feet: np.ndarray
    height: float
    belt: float
    friction: float
    stiffness: float
    damping: float
    push: float
    angular_frequency: float

    @classmethod
    def random(cls, rng):
        count, mass, reach = int(rng.integers(3, 7)), rng.uniform(0.5, 3.0), 0.1
        friction = rng.uniform(0.1, 0.8)
        half = reach * np.append(rng.uniform(0.1, 0.9, count // 2 - 1), 1.0)
        stiffness = mass * 10.0 ** rng.uniform(4.0, 6.0)
        return cls(
            mass=mass,
            moment=rng.uniform(0.5, 1.5) * mass * reach**2,
            feet=np.sort(np.concatenate([-half, half, np.zeros(count % 2)])),
            height=rng.uniform(0.1, 0.3) * reach,
            belt=rng.choice([0.0, 0.02]),
            friction=friction,
            stiffness=stiffness,
            damping=rng.uniform(0.1, 0.5) * np.sqrt(stiffness * mass),
            push=rng.uniform(1.1, 1.8) * friction * mass * GRAVITY,
            angular_frequency=rng.uniform(20.0, 40.0),
        )

    @property
    def period(self):
        return 2.0 * np.pi / self.angular_frequency

    @property
    def turn(self):
        """By which a change of the sense of friction turns the block, when it rests again."""
        moment = 2.0 * self.friction * self.mass * GRAVITY * self.height
        return moment / (self.stiffness * np.sum(self.feet**2))

    @property
    def rocking(self):
        """How far such a change moves the feet against a point: a weak damper lets the turn be twice as large, and its
        speed changes when they stop."""
        return 2.0 * self.turn * self.height * (1.0 + self.mass * self.height**2 / self.moment)

    def rounds(self, error):
        """Vibrations of a turned block until slips of its feet against each other are below the error of a velocity."""
        arms = np.sum(self.feet**2)
        speed, ratio = np.sqrt(self.stiffness * arms / self.moment), 0.5 * self.damping / self.stiffness
        slip = self.turn**2 * speed * np.ptp(self.feet)
        return np.log(1.0 + slip / error) / (4.0 * np.pi * ratio * speed)

    def system(self):
        model = Planar(gravity=(0.0, -GRAVITY))
        pressed = self.mass * GRAVITY / (len(self.feet) * self.stiffness)
        body = model.body(
            "block",
            mass=self.mass,
            inertia=self.moment,
            at=(0.0, self.height - pressed),
            velocity=(self.belt, 0.0),
        )
        belt = model.wall("belt", normal=(0.0, 1.0), sliding=(self.belt, 0.0))
        for k, x in enumerate(self.feet):
            model.contact(body.point(x, -self.height), belt, friction=self.friction, name=f"foot{k}")
        model.force(body.point(0.0, 0.0), Harmonic([self.push, 0.0], self.angular_frequency))
        return model.build(penetration=2.0 * pressed)

    def point(self, duration, steps):
        """Path and number of stops and reversals of a point mass under the sum of the friction limits, by Moreau's
        scheme."""
        t = np.linspace(0.0, duration, steps + 1)
        gain = self.push / self.mass * np.diff(np.sin(self.angular_frequency * t)) / self.angular_frequency
        slip, path, senses = 0.0, self.belt * duration, [0.0]
        for change in gain:
            free = slip + change
            after = np.sign(free) * max(abs(free) - self.friction * GRAVITY * duration / steps, 0.0)
            path += 0.5 * (slip + after) * duration / steps
            slip = after
            if np.sign(slip) != senses[-1]:
                senses.append(np.sign(slip))
        return path, len(senses) - 1


def check_slider(slider, periods):
    """Steps of a block on many feet: its path is that of a point, no foot exceeds its own limit, switches are few."""
    system, until = slider.system(), periods * slider.period
    scheme = Regularised(CompliantNormal(slider.stiffness, slider.damping))
    now = scheme.init(system)
    while now.time < until:
        step = scheme.step(system, now, until)
        now = step.after
        normal, tangential = step.impulse[:, 0], step.impulse[:, 1]
        assert np.all(np.abs(tangential) <= slider.friction * normal * (1.0 + 1e-9) + 1e-15)
    steps = 20000
    path, events = slider.point(until, steps)
    late = until / steps * (slider.push / slider.mass + slider.friction * GRAVITY) * until
    assert abs(now.position[0] - path) <= events * slider.rocking + late
    feet = len(slider.feet)
    # the order of the slips of the feet changes with the sign of angle and rate: four times in a vibration
    assert scheme.costs(system, now)["switches"] <= events * feet * (
        4.0 * slider.rounds(scheme.absolute_error) + 3.0
    )


@pytest.mark.parametrize("seed", range(12))
def test_block_on_many_feet_in_line_stops_and_goes_as_a_point(seed):
    check_slider(Slider.random(np.random.default_rng(seed)), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 22))
def test_blocks_on_many_feet_in_line_stop_and_go_as_points(seed):
    check_slider(Slider.random(np.random.default_rng(seed)), 2.0)
