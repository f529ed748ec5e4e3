"""The gallery of the documentation: every example is there with a picture of its run, or with the reason why not."""

import json
import re

from PIL import Image
from tools.gallery import LIMIT, RUNS, chosen_figure
from tools.gallery_page import PAGE, PICTURES, asked, written
from tools.small_pictures import LARGEST, small_picture

from klapper.gallery import examples

TEXT = PAGE.read_text(encoding="utf-8")
TOLD = json.loads(RUNS.read_text(encoding="utf-8"))
NAMES = [example.name for example in examples()]


def test_every_example_has_its_place_once() -> None:
    assert sorted(asked(TEXT)) == NAMES, "give a new example a place: <!-- pictures: … NAME/FIGURE -->"


def test_the_page_is_what_the_runs_tell() -> None:
    assert written(TEXT, TOLD) == TEXT, "write it again: python -m tools.gallery --page"


def test_an_example_has_a_picture_or_a_reason() -> None:
    pictures = {path.stem for path in PICTURES.glob("*.png")}
    with_picture = {name for name, run in TOLD.items() if "figure" in run}
    assert pictures == with_picture
    for name in NAMES:
        run = TOLD.get(name, {"missing": "not run yet"})
        if name not in with_picture:
            assert f"no picture: {run['missing']}" in TEXT
        else:
            assert run["figure"] == chosen_figure(TEXT, name)
            assert run["passed"] and run["seconds"] <= LIMIT


def test_pictures_are_small() -> None:
    for path in PICTURES.glob("*.png"):
        assert path.stat().st_size <= LARGEST
        with Image.open(path) as picture:
            assert picture.format == "PNG"
            assert picture.width >= 300


def test_every_picture_says_what_it_shows() -> None:
    for alternative in re.findall(r"\[!\[([^\]]*)\]\(images/gallery/", TEXT):
        assert len(alternative) >= 5


def test_a_picture_is_made_small_by_fewer_colours_and_pixels() -> None:
    import numpy as np

    def noise(figure: object) -> None:
        values = np.random.default_rng(1).random((60, 60))
        figure.subplots().imshow(values, cmap="turbo")  # type: ignore[attr-defined]

    assert len(small_picture(noise, largest=12_000)) <= 12_000
    assert small_picture(noise) == small_picture(noise)


def test_an_example_that_is_not_run_yet_is_told() -> None:
    page = "<!-- pictures: two-carts/impact -->\n<!-- /pictures -->\n<!-- examples -->\n<!-- /examples -->\n"
    told = written(page, {"two-carts": {"missing": "takes more than 30 s"}})
    assert "no picture: takes more than 30 s" in told
    assert "no picture: not run yet" in told
    assert "figcaption" not in told
