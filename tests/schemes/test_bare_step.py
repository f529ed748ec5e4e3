"""Steps without books move as those with them, to the last bit."""

import numpy as np
import pytest

from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.schemes import EventDriven, PiecewiseExact


@pytest.mark.parametrize("scheme", [PiecewiseExact(), EventDriven(1e-9)])
def test_the_motion_does_not_depend_on_the_books(scheme):
    floor = Contact(
        "floor", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=0.3, restitution=0.4, gap=0.01
    )
    system = LinearSystem(
        [1.0, 1.0],
        stiffness=[4.0, 0.0],
        damping=[0.1, 0.0],
        force=Harmonic([2.0, 0.0], 1.7) + np.array([0.0, -1.0]),
        contacts=[floor],
    )
    with_books = without = scheme.init(system)
    while with_books.time < 3.0:
        step, bare = scheme.step(system, with_books, 3.0), scheme.bare_step(system, without, 3.0)
        with_books, without = step.after, bare.after
        assert without.time == with_books.time
        np.testing.assert_array_equal(without.position, with_books.position)
        np.testing.assert_array_equal(without.velocity, with_books.velocity)
        np.testing.assert_array_equal(bare.state, step.state)
    assert with_books.sums[0] != 0.0  # work of the load
    assert without.sums[0] == 0.0
