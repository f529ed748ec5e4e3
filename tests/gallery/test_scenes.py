"""Moving pictures show bodies where they are, in their size."""

import numpy as np
import pytest

from klapper.bodies import Planar
from klapper.continuum import Continuum, NeoHooke, Solid, annulus
from klapper.gallery._scenes import elastic_scene, laminate_scene, planar_scene
from klapper.gallery.rotor_clatter import Shaft
from klapper.report import rectangle
from klapper.results import Layout, Run, Samples


def run_through(positions: np.ndarray) -> Run:
    """A run through given positions (s, n), one each second."""
    count, size = positions.shape
    names = tuple(f"q {k}" for k in range(size))
    rates = np.zeros_like(positions)
    empty = np.zeros((count, 0))
    samples = Samples(
        np.arange(count),
        np.arange(count, dtype=float),
        positions,
        rates,
        empty,
        np.zeros((count, 0, 1)),
        empty,
        empty,
        np.zeros((count, 7)),
        np.zeros(count),
    )
    return Run(Layout(names, names), samples)


def polygon_area(corners: np.ndarray) -> float:
    x, y = corners.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def test_a_planar_body_keeps_its_size_and_stands_where_it_is() -> None:
    model = Planar(gravity=(0.0, -9.81), name="block and ball")
    block = model.body("block", mass=1.0, inertia=1.0, at=(0.0, 3.0))
    ball = model.body("ball", mass=1.0, inertia=1.0, at=(2.0, 1.0))
    floor = model.wall("floor", normal=(0.0, 1.0))
    model.contact(block.corners(0.4, 0.2)[0], floor)
    model.contact(ball.disc(0.5), floor)
    system = model.build()
    end = np.array([1.0, 0.1, np.pi / 2, 4.0, 0.5, 1.0])
    scene = planar_scene(
        system, run_through(np.array([system.start.position, end])), outlines=[rectangle(0.4, 0.2), None]
    )
    shapes = {shape.name: shape for shape in scene.shapes}
    body = shapes.pop("body 1").points
    assert [polygon_area(body[0]), polygon_area(body[-1])] == pytest.approx([0.08, 0.08])
    np.testing.assert_allclose(np.ptp(body[-1], axis=0), [0.2, 0.4])  # a quarter turn
    np.testing.assert_allclose(body[-1].mean(axis=0), [1.0, 0.1])
    (wall,) = [shape for shape in shapes.values() if shape.faint]
    assert np.all(wall.points[..., 1] == 0.0)
    assert wall.points[..., 0].min() < 0.0
    assert wall.points[..., 0].max() > 4.0
    (round_,) = [shape for shape in shapes.values() if not shape.faint]
    np.testing.assert_allclose(np.linalg.norm(round_.points[-1, :-1] - [4.0, 0.5], axis=1), 0.5)


def test_an_elastic_body_is_painted_by_its_stress() -> None:
    solid = Solid("ring", annulus(0.8, 1.0, (1, 12)), NeoHooke(1e5, 0.3), density=1000.0)
    world = Continuum([solid])
    rest = world.start.position
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    turned = (rest.reshape(-1, 2) @ turn.T + [5.0, 0.0]).ravel()
    scene = elastic_scene(world, run_through(np.array([rest, 1.1 * rest, turned])))
    (ring,) = scene.shapes
    area = sum(polygon_area(ring.points[0][cell]) for cell in ring.cells)
    assert area == pytest.approx(12 * (1.0 - 0.64) * np.sin(2 * np.pi / 12) / 2)  # between two dodecagons
    assert ring.value[0].max() < 1e-9 * ring.value.max()  # no stress at rest
    assert ring.value[-1].max() < 1e-9 * ring.value.max()  # nor after a rigid motion
    assert ring.value.max() > 0.0


def test_a_laminate_is_exaggerated_from_its_rest() -> None:
    model = Shaft(3.0, 1.6, 0.045, 0.04, 0.036, 69e9, 2800.0, 1.0, 1e-5).model(4)
    motion = np.zeros((3, 4))
    motion[1] = 1e-4
    scene = laminate_scene(model, run_through(motion))
    assert len(scene.shapes) == 4
    for number, shape in enumerate(scene.shapes, 1):
        np.testing.assert_array_equal(shape.points[0], shape.rest)
        middle = int(np.argmin(np.abs(scene.time - 1.0)))
        at_start = float(model.rows(number, [0.0], 1)[0].sum()) * 1e-4
        share = float(run_through(motion).position_at([scene.time[middle]])[0, 0]) / 1e-4
        assert shape.points[middle, 0, 1] - shape.rest[0, 1] == pytest.approx(at_start * share, abs=1e-12)
    outline = np.concatenate([shape.rest for shape in scene.shapes])
    np.testing.assert_allclose(np.ptp(outline, axis=0), [3.0, model.beam.height])
    assert scene.exaggeration >= 1.0
