"""Collisions, wedges and contact problems in the compiled loop for rigid bodies, against the problems stated apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.complementarity import FrictionalContact
from klapper.contact_states import IMPACT, OPEN, SLIP
from klapper.mechanics.rigid_form import RigidForm
from klapper.schemes.base import Snapshot
from klapper.schemes.rigid_stretch import RigidStretch
from schemes.rigid_forms import FLOOR, G, at, form, rotation


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
        e = np.eye(3)[np.argmin(np.abs(n) + np.array([0.0, 0.1, 0.2]))]
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
