"""Random models beside their equations as plain functions, for tests of what a run says: see tests/planar_motion.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from tests.planar_motion import Moved, NotFollowed, Statistics, Touch

from klapper.bodies import Planar, Spatial, inertia
from klapper.mechanics import Constant, Contact, FrictionElement, FunctionSystem, Harmonic, LinearSystem

LONGEST = 0.02  # s


def linear_system(rng: np.random.Generator) -> Any:
    """Coupled masses under harmonic load, stops that are smooth or rough, at rest or moving, and joints that slip."""
    n = int(rng.integers(1, 5))
    root = np.diag(rng.uniform(0.7, 1.4, n)) + rng.choice([0.0, 0.2]) * rng.normal(size=(n, n))
    mass = root @ root.T
    k = np.diag(springs := rng.uniform(1.0, 60.0, n))
    k += np.diag(np.append(springs[1:], 0.0)) - np.diag(springs[1:], 1) - np.diag(springs[1:], -1)
    c = rng.uniform(0.0, 0.05) * k + rng.uniform(0.0, 0.2) * np.eye(n)
    load, frequency, phase = 3.0 * rng.normal(size=n), 10.0 ** rng.uniform(-0.3, 1.7), rng.uniform(0.0, 6.0)
    steady = rng.normal(size=n)
    q, v = 0.3 * rng.normal(size=n), rng.normal(size=n)
    contacts: list[Any] = []
    touches: list[Touch] = []
    for i in range(int(rng.integers(0, 4))):
        normal = np.eye(n)[rng.integers(n)] * rng.choice([-1.0, 1.0])
        normal = normal + rng.choice([0.0, 0.3]) * rng.normal(size=n)
        swing, speed = rng.choice([0.0, 0.03]), rng.uniform(2.0, 20.0)
        first = max(-normal @ q, 0.0) + rng.uniform(0.05, 0.4) + swing
        friction = 0.0 if n == 1 else float(rng.choice([0.0, rng.uniform(0.1, 0.5)]))
        across, belt = rng.normal(size=n), float(rng.choice([0.0, rng.normal()]))
        restitution = float(rng.choice([0.0, rng.uniform(0.2, 0.95)]))
        rough = {"tangents": [across], "tangential_rate": [belt], "friction": friction} if friction else {}
        gap = Constant(first) + Harmonic(swing, speed) if swing else first
        contacts.append(Contact(f"stop {i}", normal=normal, gap=gap, restitution=restitution, **rough))
        touches.append(
            Touch(
                gap=lambda t, q, a=(normal, first, swing, speed): a[0] @ q + a[1] + a[2] * np.cos(a[3] * t),
                normal=lambda t, q, normal=normal: normal,
                gap_rate=lambda t, a=(swing, speed): -a[0] * a[1] * np.sin(a[1] * t),
                normal_turn=lambda t, q, v, a=(swing, speed): -a[0] * a[1] ** 2 * np.cos(a[1] * t),
                tangent=lambda t, q, across=across: across,
                given=belt,
                friction=friction,
                restitution=restitution,
            )
        )
    for i in range(int(rng.integers(0, 3))):
        across, belt, limit = (
            rng.normal(size=n),
            float(rng.choice([0.0, rng.normal()])),
            rng.uniform(0.2, 3.0),
        )
        contacts.append(FrictionElement(f"joint {i}", tangents=[across], tangential_rate=[belt], limit=limit))
        touches.append(Touch(tangent=lambda t, q, across=across: across, given=belt, limit=limit))
    system = LinearSystem(
        mass, stiffness=k, damping=c, force=Harmonic(load, frequency, phase=phase) + Constant(steady),
        position=q, velocity=v, contacts=contacts,
    )  # fmt: skip
    moved = Moved(
        lambda q: mass, lambda t, q, v: load * np.cos(frequency * t + phase) + steady - k @ q - c @ v, touches
    )
    until = rng.uniform(0.5, 4.0)
    return system, until, moved.follow(q, v, until, longest=min(LONGEST, 0.5 / frequency))


class PlanarBody:
    """Gap and tangent of a point of a planar body above a straight wall, or of a disc."""

    def __init__(self, wall: tuple[float, float], point: Any, at: Any, radius: float = 0.0) -> None:
        self.n, self.t = np.array(wall), np.array([wall[1], -wall[0]])
        self.point, self.at, self.radius = np.array(point), np.array(at), radius

    def arm(self, angle: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s], [s, c]]) @ self.point - self.radius * self.n

    def touch(self, **law: Any) -> Touch:
        def row(q: np.ndarray, direction: np.ndarray) -> np.ndarray:
            x, y = self.arm(q[2])
            return np.array([*direction, direction @ [-y, x]])

        def turn(q: np.ndarray, v: np.ndarray, direction: np.ndarray) -> float:
            return float(-(v[2] ** 2) * direction @ (self.arm(q[2]) + self.radius * self.n))

        return Touch(
            gap=lambda t, q: float(self.n @ (q[:2] + self.arm(q[2]) - self.at)),
            normal=lambda t, q: row(q, self.n),
            normal_turn=lambda t, q, v: turn(q, v, self.n),
            tangent=lambda t, q: row(q, self.t),
            tangent_turn=lambda t, q, v: turn(q, v, self.t),
            **law,
        )


def planar_body(rng: np.random.Generator) -> Any:
    """A box on its corners or a disc falls on a floor or belt, perhaps beside a wall, perhaps pulled and turned."""
    g, m, moment = rng.uniform(2.0, 15.0), rng.uniform(0.5, 3.0), rng.uniform(0.01, 0.1)
    width, height, radius = rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.4)
    at, angle = np.array([0.0, rng.uniform(0.4, 1.0)]), rng.uniform(-3.0, 3.0)
    velocity, spin = 1.5 * rng.normal(size=2), 4.0 * rng.normal()
    friction, restitution = (
        float(rng.choice([0.0, 0.2, 0.5])),
        float(rng.choice([0.0, rng.uniform(0.3, 0.8)])),
    )
    belt = float(rng.choice([0.0, rng.normal()]))
    pull, frequency, twist = 4.0 * rng.normal(size=2), rng.uniform(3.0, 40.0), 0.3 * rng.normal()
    pull *= rng.choice([0.0, 1.0])
    twist *= rng.choice([0.0, 1.0])
    model = Planar(gravity=(0.0, -g))
    body = model.body(
        "body", mass=m, inertia=moment, at=tuple(at), angle=angle, velocity=tuple(velocity), spin=spin
    )
    model.force(body, Harmonic(pull, frequency))
    model.moment(body, Harmonic(twist, 0.7 * frequency))
    disc = rng.random() < 0.5
    points = [(0.0, 0.0)] if disc else [(a * width / 2, b * height / 2) for a in (-1, 1) for b in (-1, 1)]
    walls = [((0.0, 1.0), (0.0, 0.0), belt)]
    if rng.random() < 0.4:
        walls.append(((-1.0, 0.0), (rng.uniform(0.5, 1.0), 0.0), 0.0))
    touches = []
    for k, (normal, place, slide) in enumerate(walls):
        along = np.array([normal[1], -normal[0]])
        wall = model.wall(f"wall {k}", point=place, normal=normal, sliding=tuple(slide * along))
        shape = body.disc(radius) if disc else body.corners(width, height)
        model.contact(shape, wall, friction=friction, restitution=restitution)
        for point in points:
            touches.append(
                PlanarBody(normal, point, place, radius if disc else 0.0).touch(
                    given=-slide, friction=friction, restitution=restitution
                )
            )

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array(
            [*(pull * np.cos(frequency * t) + [0.0, -m * g]), twist * np.cos(0.7 * frequency * t)]
        )

    moved = Moved(lambda q: np.diag([m, m, moment]), force, touches)
    until = rng.uniform(0.5, 2.5)
    found = moved.follow([*at, angle], [*velocity, spin], until, longest=LONGEST)
    return model.build(), until, found


def pendulum(rng: np.random.Generator) -> Any:
    """A rod on a hinge, perhaps with its tip against a wall: the angle's equation, from which the rest follows."""
    length, m, g = rng.uniform(0.2, 2.0), rng.uniform(0.5, 3.0), 9.81
    angle, spin, until = rng.uniform(-2.5, 2.5), 2.0 * rng.normal(), rng.uniform(0.5, 3.0)
    half, restitution = 0.5 * length, rng.uniform(0.3, 0.9)
    at, wall = half * np.array([np.cos(angle), np.sin(angle)]), rng.uniform(-0.8, 0.5) * length
    model = Planar(gravity=(0.0, -g))
    rod = model.body(
        "rod", mass=m, inertia=inertia.rod(m, length), at=tuple(at), angle=angle,
        velocity=tuple(spin * np.array([-at[1], at[0]])), spin=spin,
    )  # fmt: skip
    model.hinge(rod.point(-half, 0.0), model.ground.point(0.0, 0.0))
    touches = []
    if length * np.cos(angle) > wall + 0.05 and rng.random() < 0.7:
        stop = model.wall("stop", point=(wall, 0.0), normal=(1.0, 0.0))
        model.contact(rod.point(half, 0.0), stop, restitution=restitution)
        touches.append(
            Touch(
                gap=lambda t, q: length * np.cos(q[0]) - wall,
                normal=lambda t, q: np.array([-length * np.sin(q[0])]),
                normal_turn=lambda t, q, v: -length * np.cos(q[0]) * v[0] ** 2,
                restitution=restitution,
            )
        )

    def shown(times: np.ndarray, y: np.ndarray) -> np.ndarray:
        x, z = half * np.cos(y[0]), half * np.sin(y[0])
        return np.array([x, z, y[0], -z * y[1], x * y[1], y[1]])

    moved = Moved(
        lambda q: np.array([[m * length**2 / 3.0]]),
        lambda t, q, v: np.array([-m * g * half * np.cos(q[0])]),
        touches,
    )
    return model.build(), until, moved.follow([angle], [spin], until, longest=LONGEST, shown=shown)


def changing_mass(rng: np.random.Generator) -> Any:
    """M = A + Bᵀ diag(2 + sin Cq) B, springs, a harmonic load and up to two stops."""
    n = int(rng.integers(2, 4))
    b, c = 0.7 * rng.normal(size=(2, n, n))
    stiffness, load, frequency = rng.uniform(2.0, 30.0, n), rng.normal(size=n), rng.uniform(1.0, 20.0)
    q, v = 0.4 * rng.normal(size=n), rng.normal(size=n)

    def mass(q: np.ndarray) -> np.ndarray:
        return np.eye(n) + (b.T * (2.0 + np.sin(c @ q))) @ b

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        cosine, bv = np.cos(c @ q), b @ v
        turning = 0.5 * c.T @ (cosine * bv**2) - b.T @ (cosine * (c @ v) * bv)
        return turning - stiffness * q + load * np.sin(frequency * t)

    contacts, touches = [], []
    for i in range(int(rng.integers(0, 3))):
        normal, restitution = rng.normal(size=n), float(rng.choice([0.0, rng.uniform(0.2, 0.9)]))
        first = max(-normal @ q, 0.0) + rng.uniform(0.05, 0.4)
        contacts.append(Contact(f"stop {i}", normal=normal, gap=first, restitution=restitution))
        touches.append(
            Touch(
                gap=lambda t, q, a=(normal, first): a[0] @ q + a[1],
                normal=lambda t, q, normal=normal: normal,
                restitution=restitution,
            )
        )
    system = FunctionSystem(
        q, v, mass=mass, force=force, potential=lambda q: 0.5 * stiffness @ q**2, contacts=contacts
    )
    until = rng.uniform(0.5, 4.0)
    return system, until, Moved(mass, force, touches).follow(q, v, until, longest=LONGEST)


def _spun(spin: Callable[[float, np.ndarray], np.ndarray], start: Any, turn: Rotation, until: float) -> Any:
    """Dense (w, i, j, k, ω) of ω̇ = ``spin(t, y)`` with the rates of a quaternion."""

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([0.5 * _times(y[:4], [0.0, *y[4:]]), spin(t, y)])

    x, y, z, w = turn.as_quat()
    return solve_ivp(
        rate, (0.0, until), [w, x, y, z, *start], "DOP853", rtol=1e-12, atol=1e-12, dense_output=True,
        max_step=LONGEST,
    )  # fmt: skip


def free_top(rng: np.random.Generator) -> Any:
    """A body with three moments of inertia in free flight, by Euler's equations."""
    moments, until = rng.uniform(0.5, 1.0, 3), rng.uniform(0.3, 2.0)
    turn, spin = Rotation.random(rng=rng), 6.0 * rng.normal(size=3)
    at, velocity, g = rng.normal(size=3), 2.0 * rng.normal(size=3), 9.81
    model = Spatial(gravity=(0.0, 0.0, -g))
    x, y, z, w = turn.as_quat()
    model.body(
        "top", mass=2.0, inertia=moments, at=tuple(at), orientation=(w, x, y, z),
        velocity=tuple(velocity), spin=tuple(spin),
    )  # fmt: skip
    solved = _spun(lambda t, y: -np.cross(y[4:], moments * y[4:]) / moments, spin, turn, until)
    pull = np.array([0.0, 0.0, -g])[:, None]

    def dense(t: Any) -> np.ndarray:
        y = solved.sol(t)
        place = at[:, None] + velocity[:, None] * t + 0.5 * pull * t**2
        return np.vstack([place, y[:4], velocity[:, None] + pull * t, y[4:]])

    found = Statistics(13)
    found.piece(dense, solved.t)
    return model.build(), until, found


def heavy_top(rng: np.random.Generator) -> Any:
    """A top on a ball joint, by its moments about the fixed point."""
    m, g, until = rng.uniform(0.5, 2.0), 9.81, rng.uniform(0.3, 1.2)
    moments, arm = rng.uniform(0.5, 1.0, 3) * 0.02, np.array([0.0, 0.0, rng.uniform(0.1, 0.3)])
    turn, spin = Rotation.random(rng=rng), np.array([*rng.normal(size=2), 30.0 * rng.normal()])
    about = moments + m * arm[2] ** 2 * np.array([1.0, 1.0, 0.0])

    def pushed(t: float, y: np.ndarray) -> np.ndarray:
        down = Rotation.from_quat(y[[1, 2, 3, 0]]).inv().apply([0.0, 0.0, -m * g])
        return (np.cross(arm, down) - np.cross(y[4:], about * y[4:])) / about

    solved = _spun(pushed, spin, turn, until)

    def dense(t: Any) -> np.ndarray:
        y = solved.sol(t)
        turns = Rotation.from_quat(y[[1, 2, 3, 0]].T)
        velocity = turns.apply(np.cross(y[4:].T, arm))
        return np.vstack([turns.apply(arm).T, y[:4], velocity.T, y[4:]])

    found = Statistics(13)
    found.piece(dense, solved.t)
    model = Spatial(gravity=(0.0, 0.0, -g))
    first, (x, y, z, w) = dense(np.zeros(1))[:, 0], turn.as_quat()
    top = model.body(
        "top", mass=m, inertia=moments, at=tuple(first[:3]), orientation=(w, x, y, z),
        velocity=tuple(first[7:10]), spin=tuple(spin),
    )  # fmt: skip
    model.ball_joint(top.point(*-arm), model.ground.point(0.0, 0.0, 0.0))
    return model.build(), until, found


def sliding_sphere(rng: np.random.Generator) -> Any:
    """A homogeneous sphere slides on a floor until it rolls: slowed by μ g along its slip, which does not turn."""
    radius, m, g, friction = rng.uniform(0.05, 0.3), rng.uniform(0.5, 2.0), 9.81, rng.uniform(0.1, 0.5)
    velocity, turning = np.array([*rng.normal(size=2), 0.0]), np.array([*(5.0 * rng.normal(size=2)), 0.0])
    slip = velocity + np.cross(turning, [0.0, 0.0, -radius])
    speed = float(np.linalg.norm(slip))
    along, stops = slip / speed, speed / (3.5 * friction * g)
    until = rng.uniform(0.5, 2.0) * stops
    slowing, twist = -friction * g * along, 2.5 * friction * g / radius * np.cross([0.0, 0.0, 1.0], along)
    found, quaternion = Statistics(13), np.array([1.0, 0.0, 0.0, 0.0])
    for begin, end in ((0.0, min(stops, until)), (stops, until)):
        if end <= begin:
            continue

        def rate(t: float, y: np.ndarray) -> np.ndarray:
            return 0.5 * _times([0.0, *(turning + twist * min(t, stops))], y)

        solved = solve_ivp(
            rate,
            (begin, end),
            quaternion,
            "DOP853",
            rtol=1e-12,
            atol=1e-12,
            dense_output=True,
            max_step=LONGEST,
        )
        quaternion = solved.y[:, -1]

        def dense(t: Any, solved: Any = solved) -> np.ndarray:
            slid = np.minimum(t, stops)
            place = np.array([0.0, 0.0, radius])[:, None] + velocity[:, None] * t
            place = place + slowing[:, None] * (slid * t - 0.5 * slid**2)
            turn = solved.sol(t)
            spin = (
                Rotation.from_quat(turn[[1, 2, 3, 0]].T)
                .inv()
                .apply((turning[:, None] + twist[:, None] * slid).T)
            )
            return np.vstack([place, turn, velocity[:, None] + slowing[:, None] * slid, spin.T])

        found.piece(dense, solved.t)
    model = Spatial(gravity=(0.0, 0.0, -g))
    ball = model.body(
        "ball", mass=m, inertia=0.4 * m * radius**2, at=(0.0, 0.0, radius),
        velocity=tuple(velocity), spin=tuple(turning),
    )  # fmt: skip
    model.contact(ball.sphere(radius), model.wall("floor", normal=(0.0, 0.0, 1.0)), friction=friction)
    return model.build(), until, found


def _times(one: Any, other: Any) -> np.ndarray:
    """The product of two quaternions."""
    a, b, c, d = one
    w, i, j, k = other
    return np.array(
        [
            a * w - b * i - c * j - d * k,
            a * i + b * w + c * k - d * j,
            a * j - b * k + c * w + d * i,
            a * k + b * j - c * i + d * w,
        ]
    )


RIGID = (planar_body, pendulum, free_top, planar_body, heavy_top, changing_mass, planar_body, sliding_sphere)


def drawn(make: Callable[[np.random.Generator], Any], seed: list[int]) -> Any:
    """The first model of a seed whose motion the reference can follow."""
    rng = np.random.default_rng(seed)
    while True:
        try:
            return make(rng)
        except NotFollowed:
            continue
