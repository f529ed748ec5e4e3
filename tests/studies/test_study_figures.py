"""Figures of a study: labelled, and showing what was computed."""

from pathlib import Path

import numpy as np
import pytest
import study_targets

import klapper
from klapper.studies import Refine, StudyError, grid, sobol


@pytest.fixture
def circle(tmp_path: Path) -> klapper.studies.Study:
    return klapper.study(
        study_targets.square,
        over={"x": grid(0.0, 1.5, 7), "y": grid(0.1, 0.9, 5)},
        outputs=["value", "side", "inside"],
        store=tmp_path / "s",
        refine=Refine("inside", along="x", accuracy=1e-3),
    ).run(workers=1)


def test_a_map_shows_every_point_at_its_place(circle: klapper.studies.Study) -> None:
    figure = circle.figure.map("x", "y", "value")
    axes = figure.axes[0]
    shown = np.asarray(axes.collections[0].get_array())
    x, y = (np.array(circle.design.axes[name]) for name in "xy")
    assert shown == pytest.approx(x**2 + y[:, None])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    turned = np.asarray(circle.figure.map("y", "x", "value").axes[0].collections[0].get_array())
    assert np.array_equal(turned, shown.T)


def test_a_map_of_texts_names_its_regimes(circle: klapper.studies.Study) -> None:
    axes = circle.figure.map("x", "y", "side").axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["left", "right"]
    shown = np.asarray(axes.collections[0].get_array())
    assert np.array_equal(shown[0] == 0, np.array(circle.design.axes["x"]) < 0.3)


def test_slices_have_a_line_per_value_and_boundaries_lie_on_the_circle(circle: klapper.studies.Study) -> None:
    lines = circle.figure.slices("x", "value", by="y").axes[0].get_lines()
    assert len(lines) == 5
    dots = circle.figure.boundaries("x", "y").axes[0].get_lines()[0]
    assert np.hypot(*dots.get_data()) == pytest.approx(1.0, abs=1e-3)


def test_boundaries_on_a_map_leave_the_names_of_its_regimes(circle: klapper.studies.Study) -> None:
    figure = circle.figure.map("x", "y", "inside")
    circle.figure.boundaries("x", "y", onto=figure.axes[0])
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["False", "True"]
    assert np.hypot(*figure.axes[0].get_lines()[0].get_data()) == pytest.approx(1.0, abs=1e-3)


def test_the_logistic_map_doubles_its_period_in_the_bifurcation_diagram(tmp_path: Path) -> None:
    """Period 1 below 3, 2 up to 1 + √6, 4 beyond (May 1976); the fixed point is 1 − 1/r."""
    study = klapper.study(
        study_targets.logistic,
        over={"rate": [2.8, 3.2, 3.5]},
        outputs=["orbit", "period"],
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    assert table["period"].tolist() == [1, 2, 4]
    assert table["orbit"][0] == pytest.approx([1.0 - 1.0 / 2.8], abs=1e-8)
    rate = 3.2
    pair = (rate + 1.0 + np.array([-1.0, 1.0]) * np.sqrt((rate - 3.0) * (rate + 1.0))) / (2.0 * rate)
    assert table["orbit"][1] == pytest.approx(pair, abs=1e-8)
    x, _ = study.figure.bifurcation("rate", "orbit").axes[0].get_lines()[0].get_data()
    assert np.unique(x, return_counts=True)[1].tolist() == [1, 2, 4]


def test_parallel_coordinates_have_one_line_per_point(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.square,
        over=sobol({"x": (0.0, 1.0), "y": (0.0, 1.0)}, 16),
        outputs=["value", "side"],
        store=tmp_path / "s",
    ).run(workers=1)
    axes = study.figure.parallel("value").axes[0]
    assert len(axes.collections[0].get_segments()) == 16
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y", "value"]
    with pytest.raises(StudyError, match="needs a grid of these two axes"):
        study.figure.map("x", "y", "value")
    with pytest.raises(StudyError, match="no column 'z'"):
        study.figure.slices("z", "value")
