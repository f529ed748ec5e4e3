"""Films: all frames, in order, in a loop, on a page without scripts."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from klapper.report.figures import draw
from klapper.report.film import Film
from klapper.report.folder import store
from klapper.report.record import About, Record

PLACES = [0.1, 0.4, 0.9]


def sweep(figure: Figure) -> Callable[[int], None]:
    """A bar that moves
    to the right."""
    axes = figure.subplots()
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    bar = axes.axvline(0.0, color="red", linewidth=8.0)

    def show(number: int) -> None:
        bar.set_xdata([PLACES[number]] * 2)

    return show


def red_centres(gif: bytes) -> tuple[list[float], list[float]]:
    """Mean column of what is red in every frame, as a part of the width, and the durations [s]."""
    centres, durations = [], []
    with Image.open(io.BytesIO(gif)) as film:
        for number in range(film.n_frames):
            film.seek(number)
            pixels = np.asarray(film.convert("RGB")).astype(int)
            red = (pixels[..., 0] > 200) & (pixels[..., 1] < 80) & (pixels[..., 2] < 80)
            centres.append(float(np.nonzero(red)[1].mean() / pixels.shape[1]))
            durations.append(film.info["duration"] / 1000)
    return centres, durations


def test_every_frame_shows_its_own_drawing() -> None:
    (picture,) = draw({"sweep": Film(sweep, frames=3, interval=0.1, still=1)})
    centres, durations = red_centres(picture.gif)
    assert durations == [0.1, 0.1, 0.1]
    steps = np.diff(centres)
    assert steps[1] / steps[0] == pytest.approx(5 / 3, rel=0.02)  # the axes stay where they are
    assert picture.caption == "A bar that moves to the right."


def test_a_film_runs_in_a_loop() -> None:
    with Image.open(io.BytesIO(draw({"sweep": Film(sweep, frames=3)})[0].gif)) as film:
        assert film.info["loop"] == 0


def test_the_still_is_one_of_the_frames() -> None:
    moving = draw({"sweep": Film(sweep, frames=3, still=2)})[0]

    def still(figure: Figure) -> None:
        sweep(figure)(2)

    assert moving.png == draw({"sweep": still})[0].png


def test_the_same_film_gives_the_same_bytes() -> None:
    first, second = (draw({"sweep": Film(sweep, frames=3)})[0].gif for _ in range(2))
    assert first == second


def test_a_page_holds_the_film_and_a_still_for_readers_who_want_no_motion(tmp_path: Path) -> None:
    pictures = draw({"sweep": Film(sweep, frames=3)})
    html = store(tmp_path, Record("bar", {}, {}, [], {}), About(), pictures).read_text()
    assert "data:image/gif;base64," in html
    assert "prefers-reduced-motion: reduce" in html
    assert "<script" not in html
    assert (tmp_path / "sweep.gif").read_bytes() == pictures[0].gif
    assert (tmp_path / "sweep.png").read_bytes() == pictures[0].png


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"frames": 1}, "at least 2 frames"),
        ({"frames": 3, "still": 3}, "its still is one of them"),
        ({"frames": 3, "interval": 0.001}, "allowed are numbers from 0.02 s on"),
    ],
)
def test_films_that_cannot_be_seen_are_refused(given: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Film(sweep, **given)  # type: ignore[arg-type]
