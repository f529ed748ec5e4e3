"""Models offer their pictures themselves: also those of a user, and reduced ones; stored ones stay readable."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from klapper.mechanics import Contact, FunctionSystem, InvalidModel, LinearSystem, Part, Picture
from klapper.reduction import Reduced, attachment, craig_bampton, massless_boundary, modal, quasi_static
from klapper.schemes import Moreau
from klapper.simulation import simulate
from klapper.view import read_picture, with_picture
from klapper.view.moving import Moving, moving
from view.models import beam, row, run_through

ROD = Part("rod", "line", [[0.0, 0.0], [0.0, -2.0]], body=0)


def pendulum(**options: Any) -> FunctionSystem:
    return FunctionSystem(
        [1.0], [0.0], mass=[[4.0]], force=lambda t, q, v: -19.62 * np.sin(q), name="pendulum", **options
    )


def test_a_system_of_functions_shows_the_picture_that_it_was_given() -> None:
    run = simulate(pendulum(picture=Picture(2, [ROD], turn=[0])), until=0.1, scheme=Moreau(1e-2))
    places = moving(run).places(ROD, run.time)
    angle = run.position[:, 0]
    np.testing.assert_allclose(places[:, 0], 0.0)
    np.testing.assert_allclose(places[:, 1, :2], 2.0 * np.column_stack([np.sin(angle), -np.cos(angle)]))


def test_a_body_that_turns_about_a_fixed_place_takes_no_name_from_other_coordinates() -> None:
    shown = Moving(run_through([[0.1, 0.2]], ("tilt", "crane x")), Picture(2, [ROD], turn=[0]))
    assert shown.bodies == [""]


def test_a_model_of_a_user_offers_its_picture_by_a_method_and_hears_how_long_the_run_is() -> None:
    heard = []

    class Own(FunctionSystem):
        def picture(self, until: float = 0.0) -> Picture:
            heard.append(until)
            return Picture(2, [ROD], turn=[0], caption="Mine.")

    own = Own([1.0], [0.0], mass=[[4.0]], force=lambda t, q, v: 0.0 * q)
    run = simulate(own, until=0.1, scheme=Moreau(1e-2))
    assert moving(run).picture.caption == "Mine."
    assert heard == [0.1]


def test_a_picture_that_fails_costs_no_run_and_is_told_when_asked_for() -> None:
    def torn(until: float) -> Picture:
        raise RuntimeError("torn")

    run = simulate(pendulum(picture=torn), until=0.1, scheme=Moreau(1e-2))
    assert run.about["status"] == "complete"
    assert "picture" not in run.about
    with pytest.raises(RuntimeError, match="torn"):
        with_picture(run, pendulum(picture=torn))


def test_a_linear_system_shows_its_own_picture_instead_of_masses_in_a_row() -> None:
    own = Picture(2, [Part("cart", "dots", [[0.0, 0.0]], body=0)], place=[0])
    assert LinearSystem([1.0], picture=own).picture() is own
    made = beam()
    assert made.system(picture=own).picture() is own
    (part,) = made.system().picture().parts
    assert part.name == "beam"


def test_what_is_no_picture_is_refused_when_the_model_is_built() -> None:
    with pytest.raises(InvalidModel, match=r"picture is 'house\.png'; allowed are a Picture, or a function"):
        LinearSystem([1.0], picture="house.png")
    with pytest.raises(InvalidModel, match="picture is 3; allowed are a Picture, or a function"):
        pendulum(picture=3)


@pytest.mark.parametrize(
    ("parts", "options", "told"),
    [
        ([], {}, "needs 2 or 3 dimensions and parts"),
        ([ROD], {}, "fixed to a body that is not there"),
        ([ROD], {"turn": [[0, 1, 2, 3, 4]]}, "turn of the picture has the shape"),
        ([ROD], {"turn": [-2]}, "turn of the picture has the shape"),
        ([ROD], {"turn": [0], "place": [[0, 1], [2, 3]]}, "expected one row for each of 2 bodies"),
    ],
)
def test_a_picture_that_cannot_be_is_refused(parts: list[Part], options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidModel, match=told):
        Picture(2, parts, **options)


def test_a_part_says_in_one_way_how_it_moves() -> None:
    with pytest.raises(InvalidModel, match="by body, rows or first"):
        Part("rod", "line", [[0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(InvalidModel, match=r"shape \(1, 4\), expected \(n, 2\) or \(n, 3\)"):
        Part("rod", "line", [0.0, 0.0, 1.0, 0.0], body=0)


REDUCTIONS: dict[str, Callable[[LinearSystem], Reduced]] = {
    "modal": lambda system: modal(system, 3),
    "attachment": lambda system: attachment(system, 2),
    "Craig–Bampton": lambda system: craig_bampton(system, 2),
    "quasi-static": lambda system: quasi_static(system, 3),
    "massless boundary": massless_boundary,
    "massless boundary with modes": lambda system: massless_boundary(system, 3),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction_shows_the_full_structure(name: str) -> None:
    made = beam()
    reduced = REDUCTIONS[name](made.system([Contact("stop", normal=made.row(0.5), gap=1.0)]))
    whole, seen = made.picture(), reduced.system.picture()
    assert seen is not None
    y = 1e-3 * np.random.default_rng(1).standard_normal((3, reduced.system.size))
    ours, theirs = Moving(run_through(y), seen), Moving(run_through(y @ reduced.basis.T), whole)
    times = theirs.run.time
    expected = theirs.places(whole.parts[0], times)
    np.testing.assert_allclose(ours.places(seen.parts[0], times), expected, rtol=1e-12, atol=1e-15)


def test_amplitudes_of_shapes_are_not_shown_as_masses() -> None:
    assert row().picture() is not None
    assert modal(row(), 2).picture() is None
    assert massless_boundary(row()).system.picture() is None  # though it has one coordinate with a mass


STORED = """{"format": 1, "dimension": 2, "parts": [{"name": "floor", "kind": "wall",
"points": {"kind": "f", "shape": [1, 3], "zlib": "eJxjYMAOAAAYAAE="},
"cells": {"kind": "i", "shape": [1, 1], "zlib": "eJxjYGBgAAAABAAB"},
"body": {"kind": "i", "shape": [1], "zlib": "eJz7////fwAJ+gP9"}, "rows": [],
"normal": {"kind": "f", "shape": [3], "zlib": "eJxjYEAGH+xhLAALrwEw"}}, {"name": "block", "kind": "polygon",
"points": {"kind": "f", "shape": [4, 3], "zlib": "eJybNRMEdu6fBaZX7meAAgh/pz0BcXs08f3o4gDxWSY5"},
"cells": {"kind": "i", "shape": [1, 4], "zlib": "eJxjYGBgYARiJiBmBmIAADgABw=="},
"body": {"kind": "i", "shape": [4], "zlib": "eJxjYEAFAAAQAAE="}, "rows": []}],
"place": {"kind": "i", "shape": [1, 3], "zlib": "eJxjYGBgYATi/0AAAAoKA/4="},
"turn": {"kind": "i", "shape": [1, 4], "zlib": "eJxjYmBg+I8EAE3iC/c="},
"time": {"kind": "f", "shape": [0], "zlib": "eJwDAAAAAAE="}, "scaled": false, "caption": "The block on its feet."}"""


def test_pictures_stored_in_the_first_format_still_open() -> None:
    """A block, 0.2 m wide and 0.1 m high, turned by a right angle at (1, 2) m."""
    shown = Moving(run_through([[1.0, 2.0, 0.5 * np.pi]]), read_picture(json.loads(STORED)))
    floor, block = shown.picture.parts
    np.testing.assert_array_equal(floor.normal, [0.0, 1.0, 0.0])
    corners = shown.places(block, np.zeros(1))[0]
    expected = [[1.05, 1.9, 0.0], [1.05, 2.1, 0.0], [0.95, 2.1, 0.0], [0.95, 1.9, 0.0]]
    np.testing.assert_allclose(corners, expected, atol=1e-12)


def test_the_loop_knows_nothing_of_views() -> None:
    code = (
        "import sys; from klapper.mechanics import LinearSystem; from klapper.schemes import Moreau; "
        "from klapper.simulation import simulate; run = simulate(LinearSystem([1.0]), until=0.1, scheme=Moreau(0.1)); "
        "assert 'picture' in run.about; print([name for name in sys.modules if name.startswith('klapper.view')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
