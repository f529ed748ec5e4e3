"""Designs: their own defining properties."""

import numpy as np
import pytest

from klapper.studies import StudyError, combined, grid, latin_hypercube, listed, sobol


def test_a_grid_has_even_spacing_in_value_or_logarithm() -> None:
    assert grid(0.0, 1.0, 5) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert np.diff(np.log(grid(1e-4, 1.0, 9, log=True))) == pytest.approx(np.log(10.0) / 2.0)


def test_combinations_run_through_the_last_axis_fastest() -> None:
    design = combined({"a": [1, 2], "b": ["x", "y", "z"]})
    assert list(zip(*design.columns.values(), strict=True))[:4] == [(1, "x"), (1, "y"), (1, "z"), (2, "x")]
    assert len(design) == 6


def test_a_latin_hypercube_has_one_point_in_every_slice() -> None:
    design = latin_hypercube({"a": (2.0, 4.0), "b": (-1.0, 1.0)}, 50, seed=3)
    for name, low, width in (("a", 2.0, 2.0), ("b", -1.0, 2.0)):
        slices = np.floor((np.array(design.columns[name]) - low) / width * 50).astype(int)
        assert sorted(slices) == list(range(50))


def test_sobol_points_are_a_net() -> None:
    """256 points of a scrambled net in base 2: 16 in every box of 1/4 by 1/4 (Owen 1995)."""
    design = sobol({"a": (0.0, 1.0), "b": (0.0, 1.0)}, 256, seed=5)
    boxes = np.histogram2d(design.columns["a"], design.columns["b"], bins=4, range=[[0, 1], [0, 1]])[0]
    assert np.all(boxes == 16)
    assert design == sobol({"a": (0.0, 1.0), "b": (0.0, 1.0)}, 256, seed=5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: grid(0.0, 1.0, 0), "at least 1"),
        (lambda: grid(0.0, 1.0, 3, log=True), "above 0"),
        (lambda: listed({"a": [1], "b": [1, 2]}), "a has 1, b has 2"),
        (lambda: combined({"a": 3.0}), "a takes the values 3.0: give a list"),
        (lambda: sobol({"a": (1.0, 0.0)}, 4), "the range of a is 1 to 0"),
        (lambda: latin_hypercube({"a": (0.0, 1.0)}, 0), "at least 1"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(wrong: object, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        wrong()
