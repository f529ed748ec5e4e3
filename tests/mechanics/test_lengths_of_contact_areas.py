"""A contact area has a length."""

import numpy as np
import pytest

from klapper.mechanics import InvalidModel
from klapper.mechanics.contact_area import ContactArea


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan, np.inf])
def test_lengths_that_are_none_are_refused(length: float) -> None:
    with pytest.raises(InvalidModel, match=r"length is .*; allowed are finite numbers above 0, in m\."):
        ContactArea.line(length)
    with pytest.raises(InvalidModel, match=r"lengths is .*; allowed are finite numbers above 0, in m\."):
        ContactArea.rectangle((1.0, length))


@pytest.mark.parametrize("length", [1e-300, 2.0])
def test_any_other_length_is_the_measure(length: float) -> None:
    assert ContactArea.line(length).measure == pytest.approx(length, rel=1e-14)
