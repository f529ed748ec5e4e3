"""The compiled loop for rigid bodies against closed forms, conservation laws and the waist's own formulas."""

from __future__ import annotations

import io
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klapper.complementarity import FrictionalContact
from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.rigid_form import RigidForm
from klapper.schemes import rigid_stretch
from klapper.schemes.base import Snapshot
from klapper.schemes.rigid_stretch import RigidStretch

G = 9.81
FLOOR = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
PLANAR_FLOOR = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def form(
    dimension: int = 3,
    *,
    mass: Any = (1.0,),
    inertia: Any = ((1.0, 1.0, 1.0),),
    gravity: Any = None,
    balls: Any = (),
    planes: Any = (),
    pairs: Any = (),
    group: Any = (),
    group_plane: Any = (),
    group_friction: Any = (0.0, 0.0),
    group_restitution: Any = (0.0, 0.0),
) -> RigidForm:
    """Balls as (body, place, radius), planes as (point, normal), pairs as (ball, other, with plane, friction, ε)."""
    if gravity is None:
        gravity = (0.0, -G, 0.0) if dimension == 2 else (0.0, 0.0, -G)

    def column(rows: Any, i: int, kind: Any, width: int = 0) -> np.ndarray:
        return np.array([row[i] for row in rows], dtype=kind).reshape((-1, width) if width else -1)

    return RigidForm(
        dimension,
        np.array(mass, dtype=float),
        np.array(inertia, dtype=float).reshape(-1, 3),
        np.array(gravity, dtype=float),
        column(balls, 0, int),
        column(balls, 1, float, 3),
        column(balls, 2, float),
        column(planes, 0, float, 3),
        column(planes, 1, float, 3),
        column(pairs, 0, int),
        column(pairs, 1, int),
        column(pairs, 2, bool),
        column(pairs, 3, float),
        column(pairs, 4, float),
        np.array(group, dtype=int),
        np.array(group_plane, dtype=int),
        np.array(group_friction, dtype=float),
        np.array(group_restitution, dtype=float),
    )


def at(position: Any, velocity: Any, dimension: int = 3) -> Snapshot:
    return Snapshot(
        step=0,
        time=0.0,
        position=np.array(position, dtype=float).ravel(),
        velocity=np.array(velocity, dtype=float).ravel(),
        contact=np.zeros(0, dtype=np.int64),
        impulse=np.zeros((0, dimension)),
        sums=np.zeros(5),
    )


def ball(
    radius: float = 0.1, mass: float = 1.0, mu: float = 0.0, epsilon: float = 0.0, floor: Any = FLOOR
) -> RigidForm:
    """A solid sphere above a half-space."""
    return form(
        mass=[mass],
        inertia=[[0.4 * mass * radius**2] * 3],
        balls=[(0, (0, 0, 0), radius)],
        planes=[floor],
        pairs=[(0, 0, True, mu, epsilon)],
    )


def disc(radius: float = 0.1, mu: float = 0.0, epsilon: float = 0.0, floor: Any = PLANAR_FLOOR) -> RigidForm:
    """A homogeneous disc of 1 kg above a line."""
    return form(
        2,
        inertia=[[0, 0, 0.5 * radius**2]],
        balls=[(0, (0, 0, 0), radius)],
        planes=[floor],
        pairs=[(0, 0, True, mu, epsilon)],
    )


def slope(angle: float, heading: float = 0.0) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A half-space that falls by ``angle`` in the direction ``heading`` from the x-axis."""
    n = (math.sin(angle) * math.cos(heading), math.sin(angle) * math.sin(heading), math.cos(angle))
    return (0.0, 0.0, 0.0), n


def box_on(plane: Any, mu: float, epsilon: float = 0.0, half: Any = (0.1, 0.08, 0.05)) -> RigidForm:
    """A box of 1 kg whose lower corners may touch a half-space."""
    a, b, c = half
    return form(
        inertia=[[(b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3]],
        balls=[(0, (x * a, y * b, -c), 0.0) for x in (-1, 1) for y in (-1, 1)],
        planes=[plane],
        pairs=[(i, 0, True, mu, epsilon) for i in range(4)],
    )


def heap(
    across: int, layers: int, *, seed: int, mu: float = 0.3, epsilon: float = 0.0, listed: bool = False
) -> tuple[RigidForm, Snapshot, float]:
    """Spheres of about 1 cm radius in a box without a lid, and the width of the box."""
    rng = np.random.default_rng(seed)
    n, pitch = across * across * layers, 0.025
    k = np.arange(n)
    place = np.column_stack([k // across % across + 0.5, k % across + 0.5, k // across**2 + 0.6]) * pitch
    place += rng.uniform(-1e-3, 1e-3, (n, 3))
    radius = rng.uniform(0.008, 0.011, n)
    mass = 2500.0 * 4.0 / 3.0 * np.pi * radius**3
    side = across * pitch
    planes = [
        FLOOR,
        ((0, 0, 0), (1, 0, 0)),
        ((side, 0, 0), (-1, 0, 0)),
        ((0, 0, 0), (0, 1, 0)),
        ((0, side, 0), (0, -1, 0)),
    ]
    contacts: dict[str, Any]
    if listed:
        pairs = [(a, b, False, mu, epsilon) for a in range(n) for b in range(a + 1, n)]
        contacts = {"pairs": pairs + [(a, p, True, mu, epsilon) for p in range(5) for a in range(n)]}
    else:
        contacts = {
            "group": range(n),
            "group_plane": range(5),
            "group_friction": (mu, mu),
            "group_restitution": (epsilon, epsilon),
        }
    model = form(
        mass=mass,
        inertia=np.repeat((0.4 * mass * radius**2)[:, None], 3, axis=1),
        balls=[(i, (0, 0, 0), radius[i]) for i in range(n)],
        planes=planes,
        **contacts,
    )
    position, velocity = np.zeros((n, 7)), np.zeros((n, 6))
    position[:, :3], position[:, 3] = place, 1.0
    velocity[:, :3] = rng.normal(0.0, 0.1, (n, 3))
    return model, at(position, velocity), side


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """R from the definition v ↦ q v q*."""
    w, u = quaternion[0], quaternion[1:]
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def books(samples: dict[str, Any]) -> np.ndarray:
    """kinetic + potential + damping + friction + impact + numerical − loads of each sample."""
    return samples["energy"] @ np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0])


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots agree in every bit."""
    return all(
        np.array_equal(np.asarray(getattr(one, part.name)), np.asarray(getattr(other, part.name)))
        for part in fields(Snapshot)
    )


class TestBall:
    def test_flight_is_the_parabola(self) -> None:
        loop = RigidStretch(ball(), 0.5, 1e-3)
        after, _, why = loop.run(at([0, 0, 9, 1, 0, 0, 0], [0.3, -0.2, 4.0, 0, 0, 0]), 1000, 1000)
        assert why == ""
        assert after.time == 1.0
        assert after.position[:3] == pytest.approx([0.3, -0.2, 9 + 4.0 - G / 2], abs=1e-12)
        assert after.velocity[:3] == pytest.approx([0.3, -0.2, 4.0 - G], abs=1e-12)

    @pytest.mark.parametrize("theta, order", [(0.5, 1.0), (1.0, 1.0)])
    def test_bounces_converge_to_the_closed_form(self, theta: float, order: float) -> None:
        height, epsilon, until = 0.5, 0.8, 1.0  # in the third flight
        impact_speed = math.sqrt(2 * G * height)
        landing = impact_speed / G
        flights = [2 * epsilon**k * impact_speed / G for k in (1, 2)]
        t = until - landing - flights[0]
        speed = epsilon**2 * impact_speed
        expected = 0.1 + speed * t - G * t * t / 2
        assert 0.0 < t < flights[1]
        errors = []
        for steps in (2000, 8000, 32000):
            loop = RigidStretch(ball(epsilon=epsilon), theta, until / steps)
            after, samples, _ = loop.run(at([0, 0, 0.1 + height, 1, 0, 0, 0], np.zeros(6)), steps, 10)
            errors.append(abs(after.position[2] - expected))
            lost = 0.5 * impact_speed**2 * (1 - epsilon**4)
            assert samples["energy"][-1, 5] == pytest.approx(lost, rel=40 * impact_speed / steps)
        assert errors[0] < 40 * impact_speed / 2000
        assert math.log(errors[0] / errors[2], 16) == pytest.approx(order, abs=0.5)

    def test_comes_to_rest_exactly(self) -> None:
        loop = RigidStretch(ball(epsilon=0.5), 0.5, 1e-3)
        after, samples, _ = loop.run(at([0, 0, 0.2, 1, 0, 0, 0], np.zeros(6)), 3000, 1)
        assert np.all(after.velocity == 0.0)
        assert abs(samples["gap"][-1, 0]) < 5e-3
        assert samples["impulse"][-1, 0, 0] == pytest.approx(G * 1e-3, rel=1e-12)
        assert samples["state"][-1, 0] == SLIP  # closed, without friction
        hits = samples["state"][:, 0] == IMPACT
        assert samples["state"][0, 0] == OPEN
        assert 3 < np.count_nonzero(hits) < 20

    def test_bounces_elastically_for_ever(self) -> None:
        loop = RigidStretch(ball(epsilon=1.0), 0.5, 1e-4)
        _, samples, _ = loop.run(at([0, 0, 0.2, 1, 0, 0, 0], np.zeros(6)), 20000, 1)
        tops = samples["position"][1:-1, 2][
            (samples["velocity"][1:-1, 2] >= 0)
            & (samples["velocity"][2:, 2] < 0)
            & (samples["gap"][1:-1, 0] > 0.01)
        ]
        assert len(tops) > 5
        assert tops == pytest.approx(np.full(len(tops), 0.2), abs=2e-3)
        assert np.ptp(books(samples)) < 1e-12

    def test_gap_belongs_to_the_position_of_the_sample(self) -> None:
        loop = RigidStretch(ball(epsilon=0.5), 0.5, 1e-3)
        _, samples, _ = loop.run(at([0, 0, 0.15, 1, 0, 0, 0], np.zeros(6)), 500, 7)
        assert samples["step"].tolist() == [*range(7, 498, 7), 500]
        assert samples["gap"][:, 0] == pytest.approx(samples["position"][:, 2] - 0.1, abs=1e-15)

    def test_saves_sums_of_impulses_between_samples(self) -> None:
        loop = RigidStretch(ball(epsilon=0.5, mu=0.2), 0.5, 1e-3)
        start = at([0, 0, 0.15, 1, 0, 0, 0], [1.0, 0, 0, 0, 0, 0])
        _, fine, _ = loop.run(start, 500, 1)
        _, coarse, _ = loop.run(start, 500, 100)
        summed = fine["impulse"].reshape(5, 100, 1, 3).sum(axis=1)
        assert coarse["impulse"] == pytest.approx(summed, rel=1e-13)
        assert np.array_equal(coarse["position"], fine["position"][99::100])
        hit = (fine["state"] == IMPACT).reshape(5, 100, 1).any(axis=1)
        assert np.array_equal(coarse["state"] == IMPACT, hit)


class TestSlope:
    @pytest.mark.parametrize("heading", [0.0, 0.7])
    def test_block_does_not_creep(self, heading: float) -> None:
        mu = 0.3
        model = ball(radius=0.0, mu=mu, floor=slope(0.99 * math.atan(mu), heading))
        start = at([0, 0, 0, 1, 0, 0, 0], np.zeros(6))
        after, samples, why = RigidStretch(model, 0.5, 1e-3).run(start, 100_000, 1000)
        assert why == ""
        assert np.array_equal(after.position, start.position)
        assert np.all(after.velocity == 0.0)
        assert np.all(samples["state"] == STICK)

    @pytest.mark.parametrize("heading", [0.0, 0.7])
    def test_block_slides_with_the_closed_acceleration(self, heading: float) -> None:
        mu, angle = 0.3, 1.5 * math.atan(0.3)
        model = ball(radius=0.0, mu=mu, floor=slope(angle, heading))
        after, samples, _ = RigidStretch(model, 0.5, 1e-3).run(
            at([0, 0, 0, 1, 0, 0, 0], np.zeros(6)), 1000, 10
        )
        a = G * (math.sin(angle) - mu * math.cos(angle))
        down = np.array(
            [math.cos(angle) * math.cos(heading), math.cos(angle) * math.sin(heading), -math.sin(angle)]
        )
        assert after.velocity[:3] == pytest.approx(a * down, abs=1e-12)
        assert after.position[:3] == pytest.approx(a / 2 * down, abs=1e-12)
        assert np.all(samples["state"] == SLIP)
        assert samples["energy"][-1, 4] == pytest.approx(mu * G * math.cos(angle) * a / 2, rel=1e-12)

    def test_box_on_four_corners_does_not_creep(self) -> None:
        mu, angle = 0.3, 0.95 * math.atan(0.3)
        plane = slope(angle)
        start = at(
            [*(0.05 * np.array(plane[1])), math.cos(angle / 2), 0, math.sin(angle / 2), 0], np.zeros(6)
        )
        after, _, why = RigidStretch(box_on(plane, mu), 0.5, 1e-3).run(start, 20_000, 1000)
        assert why == ""
        assert np.array_equal(after.position, start.position)

    def test_box_on_four_corners_slides(self) -> None:
        mu, angle = 0.3, 1.3 * math.atan(0.3)
        plane = slope(angle)
        start = at(
            [*(0.05 * np.array(plane[1])), math.cos(angle / 2), 0, math.sin(angle / 2), 0], np.zeros(6)
        )
        after, samples, _ = RigidStretch(box_on(plane, mu), 0.5, 1e-3).run(start, 1000, 1)
        a = G * (math.sin(angle) - mu * math.cos(angle))
        moved = after.position[:3] - start.position[:3]
        assert np.linalg.norm(moved) == pytest.approx(a / 2, rel=1e-11)
        normal = samples["impulse"][:, :, 0].sum(axis=1)
        assert normal == pytest.approx(np.full(1000, G * 1e-3 * math.cos(angle)), rel=1e-12)

    @pytest.mark.parametrize("heading", [0.0, -0.4])
    def test_sphere_rolls(self, heading: float) -> None:
        angle, radius = 0.5, 0.1
        plane = slope(angle, heading)
        model = ball(radius, mu=0.5, floor=plane)
        start = at([*(radius * np.array(plane[1])), 1, 0, 0, 0], np.zeros(6))
        after, samples, _ = RigidStretch(model, 0.5, 1e-3).run(start, 1000, 1)
        speed = 5 / 7 * G * math.sin(angle)
        assert np.linalg.norm(after.velocity[:3]) == pytest.approx(speed, rel=1e-12)
        assert np.linalg.norm(after.velocity[3:]) == pytest.approx(speed / radius, rel=1e-12)
        friction = np.linalg.norm(samples["impulse"][:, 0, 1:], axis=1) / 1e-3
        assert friction == pytest.approx(np.full(1000, 2 / 7 * G * math.sin(angle)), rel=1e-9)
        assert np.all(samples["state"] == STICK)
        assert abs(samples["energy"][-1, 4]) < 1e-12

    def test_sphere_slides_and_turns_where_friction_is_low(self) -> None:
        angle, radius, mu = 0.5, 0.1, 0.1  # below 2/7 tan(angle)
        plane = slope(angle)
        start = at([*(radius * np.array(plane[1])), 1, 0, 0, 0], np.zeros(6))
        after, _, _ = RigidStretch(ball(radius, mu=mu, floor=plane), 0.5, 1e-3).run(start, 1000, 1000)
        assert np.linalg.norm(after.velocity[:3]) == pytest.approx(
            G * (math.sin(angle) - mu * math.cos(angle)), rel=1e-12
        )
        assert np.linalg.norm(after.velocity[3:]) == pytest.approx(
            2.5 * mu * G * math.cos(angle) / radius, rel=1e-12
        )

    def test_disc_rolls(self) -> None:
        angle, radius = 0.4, 0.2
        normal = (math.sin(angle), math.cos(angle), 0.0)
        model = disc(radius, mu=0.5, floor=((0, 0, 0), normal))
        start = at([radius * normal[0], radius * normal[1], 0.0], np.zeros(3), 2)
        after, samples, _ = RigidStretch(model, 0.5, 1e-3).run(start, 1000, 1)
        speed = 2 / 3 * G * math.sin(angle)
        assert after.velocity[:2] == pytest.approx(
            [speed * math.cos(angle), -speed * math.sin(angle)], rel=1e-12
        )
        assert after.velocity[2] == pytest.approx(-speed / radius, rel=1e-12)
        assert after.position[2] == pytest.approx(-speed / 2 / radius, rel=1e-12)
        friction = np.abs(samples["impulse"][:, 0, 1]) / 1e-3
        assert friction == pytest.approx(np.full(1000, G * math.sin(angle) / 3), rel=1e-9)


class TestCollisions:
    @staticmethod
    def two(mu: float, epsilon: float, dimension: int = 3) -> RigidForm:
        moment = [[0.1, 0.1, 0.1], [0.3, 0.3, 0.3]]
        return form(
            dimension,
            mass=[1.0, 2.0],
            inertia=moment,
            gravity=np.zeros(3),
            balls=[(0, (0, 0, 0), 0.5), (1, (0, 0, 0), 0.7)],
            pairs=[(0, 1, False, mu, epsilon)],
        )

    def test_a_head_on_collision_obeys_newtons_law(self) -> None:
        start = at([[0, 0, 0, 1, 0, 0, 0], [1.5, 0, 0, 1, 0, 0, 0]], [[2.0, 0, 0, 0, 0, 0], np.zeros(6)])
        after, samples, _ = RigidStretch(self.two(0.0, 0.6), 0.5, 1e-3).run(start, 1000, 1)
        # v₁ = (m₁ − ε m₂)/(m₁ + m₂) u, v₂ = (1 + ε) m₁/(m₁ + m₂) u
        assert after.velocity[[0, 6]] == pytest.approx([(1 - 1.2) / 3 * 2, 1.6 / 3 * 2], rel=1e-13)
        assert np.count_nonzero(samples["state"] == IMPACT) == 1
        assert samples["energy"][-1, 5] == pytest.approx(0.5 * (2 / 3) * 4 * (1 - 0.36), rel=1e-12)

    @pytest.mark.parametrize("mu", [0.0, 0.3])
    def test_an_oblique_collision_keeps_momentum_and_turns_the_normal_velocity_around(
        self, mu: float
    ) -> None:
        velocity = np.array([[2.0, 0.1, 0, 0.3, 1.0, -2.0], [-0.5, 0, 0.2, 0, 0, 3.0]])
        start = at([[0, 0, 0, 1, 0, 0, 0], [1.3, 0.6, 0.2, 1, 0, 0, 0]], velocity)
        after, samples, _ = RigidStretch(self.two(mu, 1.0), 0.5, 1e-4).run(start, 4000, 1)
        hit = np.flatnonzero(samples["state"][:, 0] == IMPACT)
        assert len(hit) == 1
        v = after.velocity.reshape(2, 6)
        mass, moment = np.array([1.0, 2.0]), np.array([0.1, 0.3])
        assert mass @ v[:, :3] == pytest.approx(mass @ velocity[:, :3], abs=1e-13)
        # spins are in the bodies' axes; spherical inertia: their world values are R ω
        x = samples["position"][hit[0] - 1].reshape(2, 7)
        middle = x[:, :3] + 0.5e-4 * velocity[:, :3]
        n = (middle[0] - middle[1]) / np.linalg.norm(middle[0] - middle[1])
        before = (velocity[0] - velocity[1])[:3] @ n
        assert (v[0] - v[1])[:3] @ n == pytest.approx(-before, rel=1e-9)
        if mu == 0.0:
            energy = [
                0.5 * (mass @ (u[:, :3] ** 2).sum(1) + moment @ (u[:, 3:] ** 2).sum(1)) for u in (velocity, v)
            ]
            assert energy[1] == pytest.approx(energy[0], rel=1e-13)
            assert v[:, 3:] == pytest.approx(velocity[:, 3:], abs=1e-13)
        else:
            assert samples["energy"][-1, 4] > 1e-3
            impulse = samples["impulse"][hit[0], 0]
            assert np.linalg.norm(impulse[1:]) <= mu * impulse[0] * (1 + 1e-12)
            turned = [
                rotation(q[3:]) @ u for q, u in zip(after.position.reshape(2, 7), v[:, 3:], strict=True)
            ]
            first = [rotation(q[3:]) @ u for q, u in zip(x, velocity[:, 3:], strict=True)]
            for moved, old, arm in zip((0, 1), first, (-0.5 * n, 0.7 * n), strict=True):
                pushed = mass[moved] * (v[moved, :3] - velocity[moved, :3])
                gained = moment[moved] * (turned[moved] - old)
                assert gained == pytest.approx(np.cross(arm, pushed), abs=1e-4)  # frames turn within a step

    def test_planar_and_spatial_discs_move_alike(self) -> None:
        """Balls that stay in a plane and turn about its normal only."""
        kinds = {}
        for dimension in (2, 3):
            model = self.two(0.4, 0.3, dimension)._replace(gravity=np.array([0.0, -G, 0.0]))
            model = model._replace(
                plane_point=np.zeros((1, 3)),
                plane_normal=np.array([[0.6, 0.8, 0.0]]),
                pair_ball=np.array([0, 0, 1]),
                pair_other=np.array([1, 0, 0]),
                pair_with_plane=np.array([False, True, True]),
                pair_friction=np.array([0.4, 0.2, 0.3]),
                pair_restitution=np.array([0.3, 0.5, 0.0]),
            )
            x, v = np.array([[0.1, 1.0], [0.3, 2.5]]), np.array([[0.3, -1.0, 2.0], [0.0, -2.0, -1.0]])
            if dimension == 2:
                start = at(np.column_stack([x, np.zeros(2)]), v, 2)
            else:
                position, velocity = np.zeros((2, 7)), np.zeros((2, 6))
                position[:, :2], position[:, 3] = x, 1.0
                velocity[:, [0, 1, 5]] = v
                start = at(position, velocity)
            after, samples, why = RigidStretch(model, 0.5, 1e-3).run(start, 800, 10)
            assert why == ""
            kinds[dimension] = (after, samples)
        flat, space = kinds[2][0], kinds[3][0]
        assert space.velocity.reshape(2, 6)[:, [0, 1, 5]] == pytest.approx(
            flat.velocity.reshape(2, 3), abs=1e-10
        )
        q = space.position.reshape(2, 7)
        assert q[:, :2] == pytest.approx(flat.position.reshape(2, 3)[:, :2], abs=1e-10)
        angle = flat.position.reshape(2, 3)[:, 2]
        assert q[:, 3] ** 2 == pytest.approx(np.cos(angle / 2) ** 2, abs=1e-10)
        assert kinds[3][1]["energy"] == pytest.approx(kinds[2][1]["energy"], abs=1e-9)
        assert np.array_equal(kinds[3][1]["state"], kinds[2][1]["state"])


class TestBox:
    def test_dropped_flat_comes_to_rest(self) -> None:
        step = 1e-3
        start = at([0, 0, 0.1, 1, 0, 0, 0], np.zeros(6))
        after, samples, why = RigidStretch(box_on(FLOOR, 0.4), 0.5, step).run(start, 1000, 1)
        assert why == ""
        assert np.all(after.velocity == 0.0)
        assert np.all(after.position[[0, 1, 4, 5, 6]] == 0.0)
        speed = math.sqrt(2 * G * 0.05)
        assert np.all(np.abs(samples["gap"][-1]) <= speed * step)
        assert samples["impulse"][-1, :, 0].sum() == pytest.approx(G * step, rel=1e-13)
        assert np.all(samples["state"][-1] == STICK)
        assert np.count_nonzero(samples["state"] == IMPACT) == 4
        assert samples["residual"].max() < 1e-15

    def test_tumbling_keeps_its_books(self) -> None:
        start = at([0, 0, 0.5, 1, 0, 0, 0], [1.0, 0.3, 0.0, 5.0, 8.0, -3.0])
        signs = 2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0
        model = box_on(FLOOR, 0.3)._replace(
            ball_body=np.zeros(8, dtype=int),
            ball_place=signs * [0.1, 0.08, 0.05],
            ball_radius=np.zeros(8),
            pair_ball=np.arange(8),
            pair_other=np.zeros(8, dtype=int),
            pair_with_plane=np.ones(8, dtype=bool),
            pair_friction=np.full(8, 0.3),
            pair_restitution=np.full(8, 0.4),
        )
        after, samples, why = RigidStretch(model, 0.5, 1e-4).run(start, 20_000, 1)
        assert why == ""
        first = 0.5 * (1.0 + 0.09) + 0.5 * model.inertia[0] @ np.array([25.0, 64.0, 9.0]) + G * 0.5
        balance = books(samples)
        assert balance == pytest.approx(np.full(len(balance), first), rel=1e-12)
        assert samples["energy"][-1, 4] > 0.1
        assert samples["energy"][-1, 5] > 0.1
        assert samples["gap"].min() > -2e-3
        assert np.linalg.norm(after.position[3:]) == pytest.approx(1.0, abs=1e-14)

    def test_books_close_in_every_step(self) -> None:
        """T⁺ + V⁺ + losses of the step = T + V."""
        start = at([0, 0, 0.06, 0.98, 0.1, 0.15, 0.05], [0.5, 0.0, -1.0, 2.0, -4.0, 1.0])
        start.position[3:] /= np.linalg.norm(start.position[3:])
        _, samples, _ = RigidStretch(box_on(FLOOR, 0.5, 0.2), 0.5, 1e-3).run(start, 300, 1)
        per_step = np.diff(books(samples))
        assert np.abs(per_step).max() < 4e-15 * np.abs(samples["energy"][:, :2]).sum(axis=1).max()


class TestFreeBody:
    MOMENT = np.array([2.0, 2.0, 3.0])

    def body(self) -> RigidForm:
        return form(inertia=[self.MOMENT], gravity=np.zeros(3), balls=[(0, (0, 0, 0), 0.1)])

    def spin(self, t: float) -> np.ndarray:
        """Symmetric top: ω turns about its axis with (I₃ − I₁)/I₁ ω₃."""
        rate = (3.0 - 2.0) / 2.0 * 4.0
        return np.array([math.cos(rate * t), math.sin(rate * t), 4.0])

    def attitude(self, t: float) -> np.ndarray:
        """R(t) = exp(t L̂/I₁) exp(−t (I₃ − I₁)/I₁ ω₃ ê₃): precession about L, turning about the axis."""
        from scipy.spatial.transform import Rotation

        momentum = self.MOMENT * self.spin(0.0)
        around = Rotation.from_rotvec(t * momentum / 2.0)
        return (around * Rotation.from_rotvec([0.0, 0.0, -t * 0.5 * 4.0])).as_matrix()

    @pytest.mark.parametrize("theta, order", [(0.5, 2.0), (1.0, 1.0)])
    def test_free_rotation_converges_with_the_order_of_theta(self, theta: float, order: float) -> None:
        until, errors = 2.0, []
        for steps in (200, 400, 800):
            loop = RigidStretch(self.body(), theta, until / steps)
            after, _, _ = loop.run(at([0, 0, 0, 1, 0, 0, 0], [0, 0, 0, *self.spin(0.0)]), steps, steps)
            spin = np.abs(after.velocity[3:] - self.spin(until)).max()
            errors.append(spin + np.abs(rotation(after.position[3:]) - self.attitude(until)).max())
        rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
        assert rates == pytest.approx([order, order], abs=0.1)

    def test_energy_and_angular_momentum_drift_with_the_square_of_the_step(self) -> None:
        drifts = []
        for steps in (500, 1000):
            model = self.body()._replace(inertia=np.array([[1.0, 2.0, 3.5]]))
            start = at([0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.1, 3.0, 0.2])
            _, samples, _ = RigidStretch(model, 0.5, 5.0 / steps).run(start, steps, 1)
            energy = samples["energy"][:, 0]
            momentum = np.array(
                [
                    rotation(q[3:]) @ (model.inertia[0] * v[3:])
                    for q, v in zip(samples["position"], samples["velocity"], strict=True)
                ]
            )
            initial = model.inertia[0] * start.velocity[3:]
            drifts.append(
                [np.abs(energy - 0.5 * start.velocity[3:] @ initial).max(), np.abs(momentum - initial).max()]
            )
            assert books(samples) == pytest.approx(np.full(steps, books(samples)[0]), rel=1e-13)
        ratio = np.array(drifts[0]) / np.array(drifts[1])
        assert np.all(ratio > 3.4)
        assert drifts[0][0] < 1e-3

    def test_falling_has_order_two_at_half_and_one_at_one(self) -> None:
        start = at([0, 0, 100, 1, 0, 0, 0], np.zeros(6))
        free = form(balls=[(0, (0, 0, 0), 0.1)])
        error = [
            abs(RigidStretch(free, theta, 1.0 / n).run(start, n, n)[0].position[2] - (100 - G / 2))
            for theta, n in ((0.5, 10), (1.0, 10), (1.0, 20))
        ]
        assert error[0] < 1e-12
        assert error[1] / error[2] == pytest.approx(2.0, rel=1e-9)

    def test_numerical_loss_of_implicit_euler_is_in_the_books(self) -> None:
        """θ = 1: x⁺ − x = h v⁺, so that the weight does m g h (v⁺ − v_m) too much: −m g² h²/2 a step."""
        start = at([0, 0, 100, 1, 0, 0, 0], np.zeros(6))
        _, samples, _ = RigidStretch(form(balls=[(0, (0, 0, 0), 0.1)]), 1.0, 0.01).run(start, 100, 1)
        per_step = G * G * 0.01**2 / 2
        assert samples["energy"][:, 6] == pytest.approx(per_step * np.arange(1, 101), rel=1e-9)


class TestContactProblem:
    """A step of bodies with balls off their centres, checked with arrays formed here from the form's definition."""

    @staticmethod
    def rattle(seed: int) -> tuple[RigidForm, Snapshot]:
        rng = np.random.default_rng(seed)
        bodies = 4
        balls = [
            (b, rng.uniform(-0.2, 0.2, 3), rng.uniform(0.15, 0.25)) for b in range(bodies) for _ in range(2)
        ]
        balls.append((-1, (0.1, 0.0, 0.0), 0.3))
        pairs = [
            (a, b, False, rng.uniform(0, 0.6), rng.uniform(0, 0.5))
            for a in range(9)
            for b in range(a + 1, 9)
            if balls[a][0] != balls[b][0]
        ]
        pairs += [(a, 0, True, 0.4, 0.2) for a in range(8)]
        model = form(
            mass=rng.uniform(0.5, 2.0, bodies),
            inertia=rng.uniform(0.01, 0.03, (bodies, 3)) + 0.02,
            balls=balls,
            planes=[((0, 0, -0.1), (0.0, 0.6, 0.8))],
            pairs=pairs,
        )
        q = np.zeros((bodies, 7))
        q[:, :3] = rng.uniform(-0.35, 0.35, (bodies, 3))
        q[:, 3:] = rng.normal(size=(bodies, 4))
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        return model, at(q, rng.normal(0.0, 0.5, (bodies, 6)))

    @staticmethod
    def geometry(model: RigidForm, q: np.ndarray, k: int) -> tuple[float, np.ndarray, np.ndarray]:
        """Gap, frame (3, 3) and J (nv, 3) of a listed contact."""
        bodies = q.reshape(-1, 7)

        def centre(s: int) -> tuple[int, np.ndarray]:
            b, place = int(model.ball_body[s]), model.ball_place[s]
            return b, place if b < 0 else bodies[b, :3] + rotation(bodies[b, 3:]) @ place

        s, other = int(model.pair_ball[k]), int(model.pair_other[k])
        a, c = centre(s)
        if model.pair_with_plane[k]:
            n = model.plane_normal[other]
            gap = n @ (c - model.plane_point[other]) - model.ball_radius[s]
            ends = [(a, c - model.ball_radius[s] * n, 1.0)]
        else:
            b, d = centre(other)
            n = (c - d) / np.linalg.norm(c - d)
            gap = np.linalg.norm(c - d) - model.ball_radius[s] - model.ball_radius[other]
            ends = [(a, c - model.ball_radius[s] * n, 1.0), (b, d + model.ball_radius[other] * n, -1.0)]
        e = np.eye(3)[np.argmin(np.abs(n))]
        t1 = np.cross(e, n) / np.linalg.norm(np.cross(e, n))
        frame = np.array([n, t1, np.cross(n, t1)])
        columns = np.zeros((6 * len(bodies), 3))
        for body, point, sign in ends:
            if body >= 0:
                arm = point - bodies[body, :3]
                columns[6 * body : 6 * body + 3] += sign * frame.T
                turned = rotation(bodies[body, 3:]).T @ np.cross(arm, frame).T
                columns[6 * body + 3 : 6 * body + 6] += sign * turned
        return gap, frame, columns

    @staticmethod
    def advanced(q: np.ndarray, u: np.ndarray) -> np.ndarray:
        from scipy.spatial.transform import Rotation

        bodies, moves = q.reshape(-1, 7).copy(), u.reshape(-1, 6)
        bodies[:, :3] += moves[:, :3]
        for body, move in zip(bodies, moves, strict=True):
            turned = Rotation.from_quat(body[3:], scalar_first=True) * Rotation.from_rotvec(move[3:])
            quaternion = turned.as_quat(scalar_first=True)
            body[3:] = quaternion * np.sign(quaternion @ body[3:])
        return bodies.ravel()

    @pytest.mark.parametrize("seed", range(8))
    @pytest.mark.parametrize("theta", [0.5, 0.75])
    def test_step_solves_the_problem_of_the_waist(self, seed: int, theta: float) -> None:
        model, start = self.rattle(seed)
        h, v = 1e-3, start.velocity
        after, samples, why = RigidStretch(model, theta, h).run(start, 1, 1)
        assert why == ""
        q_contact = self.advanced(start.position, (1 - theta) * h * v)
        found = [self.geometry(model, q_contact, k) for k in range(len(model.pair_ball))]
        active = [k for k, (gap, _, _) in enumerate(found) if gap <= 0.0]
        assert len(active) >= 3
        columns = np.hstack([found[k][2] for k in active])
        weights = np.column_stack([np.repeat(model.mass[:, None], 3, axis=1), model.inertia]).ravel()

        def rate(w: np.ndarray) -> np.ndarray:
            spin = w.reshape(-1, 6)[:, 3:]
            turned = -np.cross(spin, model.inertia * spin) / model.inertia
            return np.column_stack([np.tile(model.gravity, (len(spin), 1)), turned]).ravel()

        applied = h * rate(v + theta * h * rate(v))
        impulse = samples["impulse"][0, active].ravel()
        assert after.velocity == pytest.approx(v + applied + columns @ impulse / weights, abs=1e-12)
        mean = h * ((1 - theta) * v + theta * after.velocity)
        assert after.position == pytest.approx(self.advanced(start.position, mean), abs=1e-13)

        given = columns.T @ (v + applied)
        given[::3] += model.pair_restitution[active] * (columns.T @ v)[::3]
        delassus = columns.T @ (columns / weights[:, None])
        problem = FrictionalContact(0.5 * (delassus + delassus.T), given, model.pair_friction[active])
        assert problem.residuals(impulse).natural_map < 2e-9
        assert samples["residual"][0] < 1e-9
        gaps = [self.geometry(model, after.position, k)[0] for k in range(len(model.pair_ball))]
        assert samples["gap"][0] == pytest.approx(gaps, abs=1e-13)
        idle = np.setdiff1d(np.arange(len(model.pair_ball)), active)
        assert np.all(samples["impulse"][0, idle] == 0.0)
        assert np.all(samples["state"][0, idle] == OPEN)


class TestWedge:
    @pytest.mark.parametrize("speed", [1e-3, 1e-5, 1e-7])
    def test_contradiction_ends_in_slip(self, speed: float) -> None:
        """A sphere sinks into a corner: to bounce off the floor it must slip on the wall, however slow it is.

        Both contacts would stick without restitution; forces between them have to grow by sweeps of about ``speed``.
        """
        radius, step, mu, epsilon = 0.1, 1e-3, 0.5, 0.5
        model = form(
            inertia=[[0.4 * radius**2] * 3],
            gravity=(-G, 0.0, -G),
            balls=[(0, (0, 0, 0), radius)],
            planes=[FLOOR, ((0, 0, 0), (1, 0, 0))],
            pairs=[(0, 0, True, mu, epsilon), (0, 1, True, mu, epsilon)],
        )
        start = at([radius - 1e-6, 0, radius - 1e-6, 1, 0, 0, 0], [0, 0, -speed, 0, 0, 0])
        after, samples, why = RigidStretch(model, 0.5, step, max_sweeps=1000).run(start, 1, 1)
        assert why == ""
        assert after.velocity == pytest.approx([0, 0, epsilon * speed, 0, 0, 0], abs=1e-15)
        # no spin: equal friction F; wall: N − F = h G and F = μ N; floor: N − F = h G + (1 + ε) speed
        friction = mu / (1 - mu) * G * step
        wall, floor = friction / mu, friction + G * step + (1 + epsilon) * speed
        assert samples["impulse"][0, :, 0] == pytest.approx([floor, wall], rel=1e-12)
        assert np.linalg.norm(samples["impulse"][0, :, 1:], axis=1) == pytest.approx(
            [friction] * 2, rel=1e-12
        )
        assert samples["state"][0, 1] == SLIP

    @given(
        st.tuples(st.floats(0.1, 2.0), st.floats(-1, 1), st.floats(-1, 1)),
        st.tuples(*[st.floats(-1, 1)] * 3),
        st.floats(0.05, 1.5),
    )
    @settings(max_examples=300)
    def test_friction_is_below_its_limit_until_the_time_to_slip(
        self, force: Any, step: Any, mu: float
    ) -> None:
        from klapper.schemes.kernels.rigid_drift import slipping_time

        f, g = np.array(force), np.array(step)
        f[1:] *= 0.9 * mu * f[0] / max(np.linalg.norm(f[1:]), mu * f[0])
        time = slipping_time(tuple(f), tuple(g), mu)

        def excess(t: Any) -> Any:
            x = f + np.multiply.outer(t, g)
            return np.hypot(x[..., 1], x[..., 2]) - mu * x[..., 0]

        inner = np.linspace(0.0, min(time, 1e3), 200, endpoint=False)
        assert np.all(excess(inner) < 1e-7)
        if time < 1e3:
            assert time > 0.0
            assert excess(time) == pytest.approx(0.0, abs=1e-7 * (1.0 + time))


class TestHeap:
    def test_settles_in_its_box(self) -> None:
        model, start, side = heap(6, 6, seed=0)
        tolerance, depth = 1e-4, []
        for step in (2e-3, 1e-3):
            loop = RigidStretch(model, 0.5, step, tolerance)
            after, samples, why = loop.run(start, round(0.5 / step), 10)
            assert why == ""
            assert samples["residual"].max() <= tolerance
            x = samples["position"].reshape(len(samples["time"]), -1, 7)[:, :, :3]
            r = model.ball_radius
            allowed = 3.0 * step  # no ball is faster than 3 m/s
            assert np.all(x[:, :, :2] > r[:, None] - allowed)
            assert np.all(x[:, :, :2] < side - r[:, None] + allowed)
            assert np.all(x[:, :, 2] > r - allowed)
            depth.append(-samples["loaded"]["gap"].min())
            balance = books(samples)
            assert balance == pytest.approx(np.full(len(balance), balance[0]), rel=1e-12)
            assert samples["energy"][-1, 0] < 1e-3 * samples["energy"][:, 0].max()
            assert len(after.contact) > 2 * len(r)
        assert depth[0] < 3.0 * 2e-3
        assert depth[1] < 0.75 * depth[0]

    def test_chunks_make_no_difference(self) -> None:
        model, start, _ = heap(4, 3, seed=1, epsilon=0.3)
        loop = RigidStretch(model, 0.5, 1e-3, 1e-6)
        at_once, whole, why = loop.run(start, 100, 10)
        assert why == ""
        assert len(at_once.contact) > 20
        first, one, _ = RigidStretch(model, 0.5, 1e-3, 1e-6).run(start, 37, 10)
        stored = io.BytesIO()
        np.savez(stored, **{part.name: getattr(first, part.name) for part in fields(Snapshot)})
        stored.seek(0)
        read = np.load(stored)
        again = Snapshot(
            int(read["step"]),
            float(read["time"]),
            **{part.name: read[part.name] for part in fields(Snapshot)[2:]},
        )
        second, two, _ = RigidStretch(model, 0.5, 1e-3, 1e-6).run(again, 63, 10)
        assert same(at_once, second)
        assert one["step"].tolist() == [10, 20, 30, 37]
        assert two["step"].tolist() == [40, 50, 60, 70, 80, 90, 100]
        for name in ("time", "position", "velocity", "energy"):
            both = np.concatenate([one[name][:3], two[name]])
            assert np.array_equal(whole[name], both)

    def test_search_and_list_give_the_same_motion(self) -> None:
        grouped, start, _ = heap(3, 3, seed=2, epsilon=0.5)
        listed, _, _ = heap(3, 3, seed=2, epsilon=0.5, listed=True)
        one, found, _ = RigidStretch(grouped, 0.5, 1e-3, 1e-5).run(start, 300, 300)
        other, known, _ = RigidStretch(listed, 0.5, 1e-3, 1e-5).run(start, 300, 300)
        assert np.array_equal(one.position, other.position)
        assert np.array_equal(one.impulse, other.impulse)
        assert len(one.contact) > 20
        n = 27
        a, b = np.triu_indices(n, 1)
        numbers = np.concatenate([a * n + b, n * n + np.arange(5 * n)])
        assert np.array_equal(found["gap"][:, numbers], known["gap"])
        assert np.array_equal(found["state"][:, numbers], known["state"])
        rest = np.setdiff1d(np.arange(n * n), a * n + b)
        assert np.all(np.isnan(found["gap"][:, rest]))

    def test_log_and_table_tell_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        model, start, _ = heap(3, 2, seed=3, epsilon=0.2)
        _, table, _ = RigidStretch(model, 0.5, 1e-3, 1e-5).run(start, 200, 1)
        monkeypatch.setattr(rigid_stretch, "MOST_LISTED_CONTACTS", 0)
        _, logged, _ = RigidStretch(model, 0.5, 1e-3, 1e-5).run(start, 200, 1)
        log = logged["loaded"]
        sample = np.repeat(np.arange(200), np.diff(log["start"]))
        assert log["start"][-1] > 500
        assert logged["gap"].shape == (200, 0)
        for name in ("gap", "impulse", "state"):
            assert np.array_equal(table[name][sample, log["contact"]], log[name])
        carried = np.zeros(table["state"].shape, dtype=bool)
        carried[sample, log["contact"]] = True
        assert np.array_equal(carried, table["impulse"][:, :, 0] != 0.0)

    def test_stops_at_the_last_good_sample(self) -> None:
        model, start, _ = heap(4, 4, seed=4)
        patient = RigidStretch(model, 0.5, 1e-3, 1e-8)
        hasty = RigidStretch(model, 0.5, 1e-3, 1e-8, max_sweeps=30)
        after, samples, why = hasty.run(start, 200, 5)
        assert "in 30 sweeps" in why
        assert 0 < after.step < 200
        assert after.step % 5 == 0
        assert samples["step"][-1] == after.step
        straight, _, _ = patient.run(start, after.step, 5)
        assert same(straight, after)
        stuck, none, _ = hasty.run(after, 200, 50)
        assert none == {}
        assert stuck is after

    def test_overflow_is_told(self) -> None:
        start = at([0, 0, 1, 1, 0, 0, 0], [0, 0, 1e308, 0, 0, 0])
        after, samples, why = RigidStretch(ball(), 0.5, 1e3).run(start, 10, 1)
        assert why == "the motion left the range of numbers"
        assert samples == {}
        assert after is start


class TestSearch:
    @given(st.integers(0, 10_000), st.integers(2, 60), st.sampled_from([2, 3]), st.floats(0.3, 3.0))
    @settings(max_examples=60)
    def test_finds_what_looking_at_all_pairs_finds(
        self, seed: int, count: int, dimension: int, size: float
    ) -> None:
        from klapper.schemes.kernels.rigid_search import near_pairs

        rng = np.random.default_rng(seed)
        centre = rng.uniform(-size, size, (count, 3))
        centre[rng.random(count) < 0.1] *= 1e6  # far flyers
        if dimension == 2:
            centre[:, 2] = 0.0
        ball = np.zeros((count, 4))
        ball[:, 3] = rng.uniform(0.05, 0.4, count)
        body = rng.integers(0, max(count // 2, 2), count)
        plane = np.array([[0.0, 0.0, 0.0, 0.6, 0.8, 0.0]])
        group = rng.permutation(count)[: max(count - 3, 1)]
        margin, first, ground = 0.1, 7, 1
        found = near_pairs(first, dimension, group, np.array([0]), centre, ball, body, plane, ground, margin)
        n, expected = len(group), []
        for a, s in enumerate(group):
            for b in range(a + 1, n):
                gap = np.linalg.norm(centre[s] - centre[group[b]]) - ball[s, 3] - ball[group[b], 3]
                if gap <= margin and body[s] != body[group[b]]:
                    expected.append((first + a * n + b, s, group[b], 0))
        for a, s in enumerate(group):
            if centre[s] @ plane[0, 3:] - ball[s, 3] <= margin and body[s] != ground:
                expected.append((first + n * n + a, s, 0, 1))
        assert found.tolist() == [list(map(int, row)) for row in expected]


class TestArguments:
    @pytest.mark.parametrize(
        "change, said",
        [
            ({"theta": 0.4}, "theta is 0.4"),
            ({"step": 0.0}, "step size is 0.0"),
            ({"tolerance": 0.0}, "tolerance is 0.0"),
            ({"max_sweeps": 0}, "max_sweeps is 0"),
        ],
    )
    def test_wrong_options_are_refused(self, change: dict[str, Any], said: str) -> None:
        options: dict[str, Any] = {"theta": 0.5, "step": 1e-3} | change
        with pytest.raises(InvalidModel, match=said):
            RigidStretch(ball(), **options)

    def test_clock_starts_where_it_is_told(self) -> None:
        start = replace(at([0, 0, 1, 1, 0, 0, 0], np.zeros(6)), time=3.0)
        after, samples, _ = RigidStretch(ball(), 0.5, 0.1, start=3.0).run(start, 3, 1)
        assert samples["time"].tolist() == [3.0 + 0.1, 3.0 + 2 * 0.1, 3.0 + 3 * 0.1]
        assert after.time == 3.0 + 3 * 0.1
