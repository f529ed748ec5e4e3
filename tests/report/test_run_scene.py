"""Every run of a model with a geometry has its animation, from the picture that it carries."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.bodies import Planar
from klapper.mechanics import Contact, FunctionSystem, LinearSystem
from klapper.report import Scene, Shape, rectangle, scene_of
from klapper.results import ResultsError, Run, read
from klapper.schemes import Moreau
from klapper.simulation import simulate
from results.motions import bouncing_ball
from view.models import bent_beam, pictured, planar, stretched_cube, turned_block, turned_box


def shapes(run: Run, **options: Any) -> dict[str, Shape]:
    scene = scene_of(run, **options)
    assert scene is not None
    return {shape.name: shape for shape in scene.shapes}


def polygon_area(corners: np.ndarray) -> float:
    x, y = corners.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def test_planar_bodies_keep_their_size_and_stand_where_they_are() -> None:
    found = shapes(turned_block())
    block = found["block"].points
    assert [polygon_area(block[0]), polygon_area(block[-1])] == pytest.approx([0.08, 0.08])
    np.testing.assert_allclose(np.ptp(block[-1], axis=0), [0.2, 0.4])  # a quarter turn
    np.testing.assert_allclose(np.linalg.norm(found["ball"].points[-1, :-1] - [4.0, 1.5], axis=1), 0.5)
    floor = found["floor"]
    assert floor.faint
    assert np.all(floor.points[..., 1] == 0.0)
    assert len(floor.points) == 1  # it stands
    assert floor.points[..., 0].min() < 0.0 < 4.0 < floor.points[..., 0].max()
    assert len(found["table"].points) > 1  # it is moved


def test_another_outline_takes_the_place_of_the_hull() -> None:
    found = shapes(turned_block(), outlines={"block": rectangle(1.0, 1.0)})
    assert polygon_area(found["block"].points[0]) == pytest.approx(1.0)
    with pytest.raises(ResultsError, match="there is no body 'brick'"):
        scene_of(turned_block(), outlines={"brick": rectangle(1.0, 1.0)})


def test_bodies_in_space_are_seen_by_parallel_lines() -> None:
    """A parallel projection keeps middles and ratios; what is nearer is painted later."""
    found = shapes(turned_box())
    box = found["box"]
    assert box.cells.shape == (6, 4)
    first = box.points[0]
    middle = first.mean(axis=0)
    for corner in first:  # opposite corners lie opposite
        assert np.abs(first - (2 * middle - corner)).sum(axis=1).min() < 1e-12
    ball = found["ball"].points
    away = np.linalg.norm(ball - ball.mean(axis=1, keepdims=True), axis=2)
    np.testing.assert_allclose(away, 0.1, atol=1e-3)  # a sphere is round from everywhere


def test_beams_are_exaggerated_from_their_rest() -> None:
    run = bent_beam()
    scene = scene_of(run)
    assert scene is not None
    (beam,) = scene.shapes
    assert beam.rest is not None
    np.testing.assert_allclose(beam.points[0], beam.rest, atol=1e-15)
    largest = np.abs(beam.points - beam.rest).max()
    assert scene.exaggeration == pytest.approx(0.02 / largest, rel=0.5)  # as large as the beam is high
    assert not scene.equal


def test_meshes_are_painted_by_their_stress() -> None:
    run = stretched_cube(1.2)
    scene = scene_of(run)
    assert scene is not None
    (cube,) = scene.shapes
    assert scene.quantity == "von Mises stress / N/m²"
    assert cube.cells.shape == (24, 4)  # 4 facets on each of 6 sides
    assert np.all(cube.value[0] == 0.0)
    np.testing.assert_allclose(cube.value[-1], 1.2 * 1000.0 * (1.2**2 - 1) / 2)


def test_many_points_have_fewer_frames() -> None:
    model = Planar(name="many")
    floor = model.wall("floor", normal=(0.0, 1.0))
    for number in range(400):
        ball = model.body(f"ball {number}", mass=1.0, inertia=1.0, at=(0.3 * number, 1.0))
        model.contact(ball.disc(0.1), floor)
    system = model.build()
    scene = scene_of(pictured(system, [system.start.position] * 2))
    assert scene is not None
    assert sum(shape.points.shape[1] for shape in scene.shapes) * len(scene.time) < 600_000


def test_simulate_hands_the_picture_to_the_run_and_to_the_disk(tmp_path: Path) -> None:
    run = simulate(planar(), until=0.05, scheme=Moreau(1e-3), store=tmp_path)
    assert set(shapes(run)) == {"floor", "table", "block", "ball", "spring 1"}
    assert set(shapes(read(tmp_path))) == set(shapes(run))


def test_a_model_without_geometry_has_bars() -> None:
    def free(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(1)

    system = FunctionSystem(mass=[[1.0]], force=free, position=[0.0], velocity=[1.0])
    run = simulate(system, until=0.1, scheme=Moreau(0.01))
    assert "picture" not in run.about
    assert "coordinates" in shapes(run)
    assert isinstance(scene_of(bouncing_ball()), Scene)


def test_what_was_not_finite_is_not_drawn() -> None:
    system = planar()
    positions = np.array([system.start.position, system.start.position])
    positions[1, 0] = np.nan
    assert scene_of(pictured(system, positions)) is None


def test_a_linear_system_is_a_row_of_masses() -> None:
    system = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 1.0]], velocity=[0.0, 1.0],
                          contacts=[Contact("stop", normal=[0.0, -1.0], gap=0.1)], coordinates=["a", "b"])  # fmt: skip
    run = simulate(system, until=0.5, scheme=Moreau(1e-3))
    found = shapes(run)
    assert set(found) == {"a", "b", "floor", "spring 1", "spring 1–2", "stop"}
    room = found["stop"].points[0, :, 0].mean() - found["b"].points[..., 0].max()
    assert room == pytest.approx(float(run.gap.min()), abs=1e-3)
