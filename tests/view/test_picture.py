"""Pictures show models where they are, in their size, and survive being stored."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.bodies import Planar
from klapper.continuum import Cable, Continuum, NeoHooke, Solid, annulus, circle
from klapper.mechanics import Contact, InvalidModel, LinearSystem
from klapper.reduction import modal
from klapper.results import ResultsError, Run, read
from klapper.structures import DelaminatedBeam, Frame, Member, Pipe, Section
from klapper.view import read_picture, with_picture
from klapper.view.moving import Moving, moving
from report.damage import damaged_content
from view.models import (
    ALL,
    STEEL,
    beam,
    bent_beam,
    cube,
    pictured,
    planar,
    row,
    run_through,
    stretched_cube,
    turned_block,
    turned_box,
)


def part(shown: Moving, name: str, kind: str = "") -> Any:
    (found,) = [each for each in shown.picture.parts if each.name == name and kind in ("", each.kind)]
    return found


def at_end(run: Run, name: str, kind: str = "") -> np.ndarray:
    shown = moving(run)
    return shown.places(part(shown, name, kind), run.time[-1:])[0]


def test_corners_of_a_planar_body_are_its_outline_and_turn_with_it() -> None:
    corners = at_end(turned_block(), "block")
    assert len(corners) == 4
    np.testing.assert_allclose(
        sorted(corners.tolist()), sorted([[1 - s * 0.1, 2 + t * 0.2, 0] for s in (1, -1) for t in (1, -1)])
    )
    spring = at_end(turned_block(), "spring 1")
    np.testing.assert_allclose(spring, [[1.0, 2.2, 0.0], [4.0, 1.5, 0.0]], atol=1e-12)
    assert part(moving(turned_block()), "ball", "ball").radius == 0.5


def test_a_moved_wall_goes_as_it_is_told() -> None:
    shown = moving(turned_block())
    table = part(shown, "table")
    places = shown.places(table, np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(places[:, 0, 1], [-1.0, -0.95, -0.9], atol=1e-12)


def test_a_box_in_space_has_six_faces_whose_normals_point_outwards() -> None:
    run = turned_box()
    shown = moving(run)
    box = part(shown, "box")
    assert box.cells.shape == (6, 4)
    for face in box.cells:
        a, b, c, d = box.points[face]
        normal = np.cross(b - a, c - a)
        assert normal @ (a + b + c + d) > 0.0
    area = sum(np.linalg.norm(np.cross(p[1] - p[0], p[3] - p[0])) for p in box.points[box.cells])
    assert area == pytest.approx(2 * (0.3 * 0.2 + 0.3 * 0.1 + 0.2 * 0.1))
    np.testing.assert_allclose(
        np.ptp(at_end(run, "box"), axis=0), [0.2, 0.3, 0.1], atol=1e-12
    )  # a quarter turn
    np.testing.assert_allclose(at_end(run, "box").mean(axis=0), [1.0, 2.0, 3.6])


def test_a_bent_beam_has_the_deflection_of_the_books() -> None:
    run = bent_beam(-100.0)
    places = at_end(run, "beam")
    middle = places[np.abs(moving(run).picture.parts[0].points[:, 0] - 0.5) < 1e-9]
    inertia = 0.01 * 0.02**3 / 12
    assert middle[:, 1].mean() == pytest.approx(
        -100.0 / (48 * STEEL.young * inertia), rel=1e-9
    )  # P L³/48 E I
    np.testing.assert_allclose(np.ptp(middle[:, 1]), 0.02)  # its height
    shown = moving(run)
    twice = shown.places(shown.picture.parts[0], run.time[-1:], exaggeration=2.0)[0]
    rest = shown.rest(shown.picture.parts[0])
    np.testing.assert_allclose(twice - rest, 2 * (places - rest), atol=1e-15)


def test_a_frame_moves_at_its_joints_as_they_do() -> None:
    square = Section.rectangle(0.02, 0.02)
    members = {"left": Member("A", "B", STEEL, square), "top": Member("B", "C", STEEL, square)}
    frame = Frame({"A": (0, 0), "B": (0, 1), "C": (1, 1)}, members, supports={"A": "clamped"})
    q = frame.with_point_load("C", "y", -50.0).deflection()
    run = pictured(frame, [np.zeros(frame.size), q], frame.coordinates)
    end = at_end(run, "top").reshape(2, -1, 3)[:, -1].mean(axis=0)  # between the edges
    moved = [frame.row("C", "x") @ q, frame.row("C", "y") @ q]
    np.testing.assert_allclose(end[:2], np.array([1.0, 1.0]) + moved, atol=1e-12)


def test_a_delaminated_beam_opens_by_its_gap() -> None:
    model = DelaminatedBeam(1.0, 0.6, 0.01, 0.01, 0.0075, 210e9, 7500.0).model(4)
    q = np.array([1e-4, -2e-4, 3e-4, 1e-4])
    run = pictured(model, [np.zeros(4), q], model.rotor.coordinates)
    upper, lower = (at_end(run, f"segment {k}").reshape(2, -1, 3) for k in (2, 3))
    opening = (
        upper[0, 20, 1] - lower[1, 20, 1]
    )  # lower edge of lamina 2, upper edge of lamina 3, in the middle
    assert opening == pytest.approx(float(model.gap_rows([0.5])[0] @ q), abs=1e-12)


def test_a_pipe_is_its_beam() -> None:
    pipe = Pipe(2.0, 100.0, 1.0, 0.5, supports={0.0: "pinned", 2.0: "pinned"})
    picture = pipe.picture()
    assert picture.parts[0].kind == "line"  # it has no height of its own
    assert np.ptp(picture.parts[0].points[:, 0]) == 2.0


def test_reduced_coordinates_show_what_they_stand_for() -> None:
    made = beam()
    small = modal(made.system(), 3)
    whole, seen = made.picture(), small.picture()
    assert seen is not None
    y = np.array([[0.0, 0.0, 0.0], [1e-3, -2e-3, 1e-3]])
    reduced, full = run_through(y), run_through(y @ np.asarray(small.basis).T)
    ours = Moving(reduced, seen)
    theirs = Moving(full, whole)
    np.testing.assert_allclose(
        ours.places(ours.picture.parts[0], full.time), theirs.places(whole.parts[0], full.time), atol=1e-12
    )


def test_masses_in_a_row_keep_their_gap_to_the_stop() -> None:
    run = pictured(row(), [[0.0, 0.0], [0.1, 0.2]])
    mass, stop = at_end(run, "right"), at_end(run, "stop")
    assert stop[:, 0].mean() - mass[:, 0].max() == pytest.approx(0.3 - 0.2)
    np.testing.assert_allclose(
        at_end(run, "left") - moving(run).rest(part(moving(run), "left")), [[0.1, 0, 0]] * 4, atol=1e-12
    )
    assert {each.name for each in moving(run).picture.parts} >= {"spring 1", "spring 1–2", "floor"}


def test_a_height_moves_up_and_belongs_to_the_displacement_before_it() -> None:
    system = LinearSystem(
        [1.0, 1.0], coordinates=["displacement", "lift"], contacts=[Contact("belt", normal=[0.0, 1.0])]
    )
    run = pictured(system, [[0.0, 0.0], [0.5, 0.2]])
    shown = moving(run)
    mass = part(shown, "displacement")
    np.testing.assert_allclose(shown.places(mass, run.time[-1:])[0] - shown.rest(mass), [[0.5, 0.2, 0.0]] * 4)
    assert at_end(run, "displacement")[:, 1].min() - at_end(run, "belt")[:, 1].mean() == pytest.approx(0.2)


def test_modes_are_not_drawn_as_masses() -> None:
    system = LinearSystem([1.0, 1.0], coordinates=["mode 1", "mode 2"])
    assert system.picture() is None
    with pytest.raises(InvalidModel, match="type object has no picture"):
        with_picture(run_through([[0.0, 0.0]]), object())
    with pytest.raises(InvalidModel, match="type LinearSystem has no picture"):
        with_picture(run_through([[0.0, 0.0]]), system)


def test_stress_of_a_stretched_cube_is_that_of_its_law() -> None:
    run = stretched_cube(1.2)
    shown = moving(run)
    cube_part = part(shown, "cube")
    stress = shown.stress(cube_part, shown.places(cube_part, run.time))
    assert stress is not None
    assert stress.shape == (2, 8)
    np.testing.assert_allclose(stress[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(
        stress[1], 1.2 * 1000.0 * (1.2**2 - 1) / 2
    )  # λ E (λ² − 1)/2, no lateral strain


def test_plane_stress_and_cables_are_shown_too() -> None:
    ring = Solid("ring", annulus(0.8, 1.0, (1, 12)), NeoHooke(1e5, 0.3), density=1000.0, plane="stress")
    rope = Cable("rope", circle(2.0, 12), young=1e6, area=1e-4, density=1000.0)
    world = Continuum([ring, rope])
    rest = world.start.position
    run = pictured(world, [rest, 1.1 * rest])
    shown = moving(run)
    found = shown.stress(part(shown, "ring"), shown.places(part(shown, "ring"), run.time))
    expected = ring.von_mises(1.1 * ring.mesh.nodes).mean(axis=1)
    assert found is not None
    np.testing.assert_allclose(found[1], expected)
    np.testing.assert_allclose(np.linalg.norm(at_end(run, "rope"), axis=1), 2.2)


def test_an_unknown_law_shows_the_shape_without_stress() -> None:
    class Own(NeoHooke):
        pass

    world = cube(Own(1e5, 0.3))
    run = pictured(world, [world.start.position])
    shown = moving(run)
    assert shown.stress(part(shown, "cube"), shown.places(part(shown, "cube"), run.time)) is None


def test_a_body_without_shapes_is_a_dot_and_a_joint_an_arm() -> None:
    model = Planar()
    bob = model.body("bob", mass=1.0, inertia=0.1, at=(1.0, 0.0))
    model.particle("free", mass=1.0, at=(3.0, 0.0))
    model.hinge(bob.point(-1.0, 0.0), model.ground.point(0.0, 0.0))
    picture = model.build().picture()
    kinds = {each.name: each.kind for each in picture.parts}
    assert kinds == {"bob axis": "line", "free": "dots"}


@pytest.mark.parametrize("name", ALL)
def test_a_picture_survives_the_disk(name: str, tmp_path: Path) -> None:
    run = ALL[name]()
    back = read(run.save(tmp_path / "run.h5"))
    for ours, theirs in zip(moving(run).picture.parts, moving(back).picture.parts, strict=True):
        assert ours.name == theirs.name
        np.testing.assert_array_equal(
            moving(run).places(ours, run.time), moving(back).places(theirs, run.time)
        )


def test_a_run_without_a_picture_says_so() -> None:
    with pytest.raises(ResultsError, match="this run has no picture"):
        moving(run_through([[0.0]]))
    with pytest.raises(ResultsError, match="needs 6 coordinates, the run has 1"):
        moving(with_picture(run_through([[0.0]]), planar()))


def test_damaged_pictures_are_refused_in_one_sentence() -> None:
    chance = random.Random(3)
    stored = [json.loads(json.dumps(ALL[name]().about["picture"])) for name in ALL]
    runs = [ALL[name]() for name in ALL]
    refused = 0
    for _ in range(400):
        number = chance.randrange(len(stored))
        damaged = damaged_content(stored[number], chance)
        try:
            shown = Moving(runs[number], read_picture(damaged))
            for each in shown.picture.parts:
                shown.places(each, runs[number].time)
        except ResultsError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 200
