"""Structures put together: rows, loads and ties."""

import numpy as np
import pytest

from klapper.mechanics import Harmonic, InvalidModel
from klapper.structures import Assembly, Bar, Beam, Material, Section, Structure

STEEL = Material(young=210e9, density=7500.0, shear=81e9)
BOX = Section.rectangle(height=0.05, width=0.03)


def test_two_halves_tied_are_the_whole_beam() -> None:
    whole = Beam(1.0, STEEL, BOX, elements=8)
    half = Beam(0.5, STEEL, BOX, elements=4)
    parts = Assembly({"left": half, "right": half})
    joined = parts.tied(
        *(parts.row("left", 0.5, kind) - parts.row("right", 0.0, kind) for kind in ("w", "rotation"))
    )
    assert joined.size == whole.size
    np.testing.assert_allclose(joined.frequencies(6), whole.frequencies(6), rtol=1e-9)


def test_loads_damping_and_gyroscopic_terms_come_along() -> None:
    turning = Structure(np.eye(2), np.eye(2), gyroscopic=[[0.0, 1.0], [-1.0, 0.0]]).with_load(
        Harmonic([1.0, 2.0], 3.0)
    )
    bar = Bar(1.0, STEEL, 1e-4, elements=1, fixed=[0.0]).with_rayleigh(stiffness=0.1).with_load([5.0])
    both = Assembly({"rotor": turning, "bar": bar})
    np.testing.assert_allclose(both.load.value(1.0), [np.cos(3.0), 2 * np.cos(3.0), 5.0])
    assert both.gyroscopic.toarray()[0, 1] == 1.0
    assert both.damping.toarray()[2, 2] == pytest.approx(0.1 * bar.stiffness.toarray()[0, 0])
    tied = both.tied(both.lifted("rotor", [1.0, 0.0]) - both.row("bar", 1.0))
    np.testing.assert_allclose(np.sort(tied.load.value(0.0)), [2.0, 6.0])
    assert abs(tied.gyroscopic + tied.gyroscopic.T).max() == 0.0
    assert tied.coordinates == ("rotor q1", "rotor q2") or len(tied.coordinates) == 2


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(InvalidModel, match="there is no part 'b'; parts are a"):
        Assembly({"a": Structure([[1.0]], [[1.0]])}).lifted("b", [1.0])
    with pytest.raises(InvalidModel, match="at least one part"):
        Assembly({})
