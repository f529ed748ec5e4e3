"""Every run that the gallery shows has its animation if its model has a geometry."""

import numpy as np
import pytest

from klapper.gallery import examples, find
from klapper.gallery.example import Example
from klapper.report import scene_of
from klapper.view.moving import moving

QUICK = {
    "bouncing-ball": {"polygon", "line"},
    "friction-oscillator": {"polygon", "line", "spring"},
    "rocking-block": {"wall", "line"},
}
"""Kinds of parts of the pictures of some examples that take no time."""

OWN_SCENES = {"painleve-rod", "woodpecker"}
"""Examples whose models are functions of their coordinates, so that they hand over a scene themselves."""


@pytest.mark.parametrize("name", QUICK)
def test_runs_of_the_gallery_carry_the_picture_of_their_model(name: str) -> None:
    for run in find(name).run().shown_runs().values():
        shown = moving(run)
        assert {part.kind for part in shown.picture.parts} == QUICK[name]
        scene = scene_of(run)
        assert scene is not None
        assert not any(shape.name == "coordinates" for shape in scene.shapes)


def test_an_example_may_say_how_its_body_looks() -> None:
    outcome = find("rocking-block").run()
    scene = outcome.scenes["run"]()
    (block,) = [shape for shape in scene.shapes if shape.name == "block"]
    assert block.kind == "polygon"
    x, y = block.points[0].T
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    parameters = find("rocking-block").values({})
    assert area == pytest.approx(parameters["width"] * parameters["height"])


@pytest.mark.slow
@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_shown_run_has_a_scene(example: Example) -> None:
    outcome = example.run()
    for name, run in outcome.shown_runs().items():
        assert ("picture" in run.about) == (example.name not in OWN_SCENES), name
        scene = outcome.scenes[name]() if name in outcome.scenes else scene_of(run)
        assert scene is not None
        assert not any(shape.name == "coordinates" for shape in scene.shapes)  # bars
        assert all(np.all(np.isfinite(shape.points)) for shape in scene.shapes)
