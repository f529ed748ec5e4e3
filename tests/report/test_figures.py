"""Figures: drawn without global state, the same bytes every time."""

import subprocess
import sys
from functools import partial
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

from klapper.report.figures import draw


def line(figure: Figure, end: float = 1.0) -> None:
    """Displacement of the tip
    over time.
    """
    axes = figure.subplots()
    axes.plot([0.0, end], [0.0, 1.0])
    axes.set(xlabel="time / s", ylabel="displacement / m")


def test_the_same_drawing_gives_the_same_bytes() -> None:
    first, second = (draw({"tip": line})[0] for _ in range(2))
    assert first.svg == second.svg
    assert first.png == second.png


def test_both_formats_are_whole() -> None:
    picture = draw({"tip": line})[0]
    assert ElementTree.fromstring(picture.svg).tag.endswith("svg")
    assert picture.png.startswith(b"\x89PNG")
    assert picture.png.endswith(b"IEND\xaeB`\x82")


def test_the_docstring_is_the_caption() -> None:
    pictures = draw({"tip": line, "long-tip": partial(line, end=2.0), "nameless-one": lambda figure: None})
    assert [picture.caption for picture in pictures] == [
        "Displacement of the tip over time.",
        "Displacement of the tip over time.",
        "nameless one",
    ]


def test_the_settings_of_the_user_stay_and_do_not_matter() -> None:
    reference = draw({"tip": line})[0]
    with matplotlib.rc_context({"lines.linewidth": 9.0, "font.size": 30.0}):
        picture = draw({"tip": line})[0]
        assert matplotlib.rcParams["lines.linewidth"] == 9.0
    assert picture.svg == reference.svg


def test_no_screen_library_is_loaded() -> None:
    code = (
        "import sys; from klapper.report.figures import draw; draw({'a': lambda figure: figure.subplots()});"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    drawn = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert drawn.stdout.strip() == "False"
