"""Many bodies in the compiled loop: heaps that settle, the search for neighbours, and what is refused."""

from __future__ import annotations

import io
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.mechanics.errors import InvalidModel
from klapper.schemes import rigid_stretch
from klapper.schemes.base import Snapshot
from klapper.schemes.rigid_stretch import RigidStretch
from schemes.rigid_forms import at, ball, books, heap, same


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
        one, found, _ = RigidStretch(grouped, 0.5, 1e-3, 1e-5).run(start, 200, 200)
        other, known, _ = RigidStretch(listed, 0.5, 1e-3, 1e-5).run(start, 200, 200)
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
