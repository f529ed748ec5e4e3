"""The compiled loop for rigid bodies against closed forms and conservation laws: one body at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.mechanics.rigid_form import RigidForm
from klapper.schemes.rigid_stretch import RigidStretch
from schemes.rigid_forms import FLOOR, G, at, ball, books, box_on, disc, form, rotation, slope


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
