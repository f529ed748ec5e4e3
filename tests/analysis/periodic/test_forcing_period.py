"""The period that is read off a system."""

import numpy as np
import pytest

from klapper.analysis.periodic.forcing import forcing_period
from klapper.mechanics import Constraint, Contact, FunctionSystem, Harmonic, LinearSystem
from klapper.mechanics.errors import InvalidModel


def test_the_period_of_several_forces_is_their_common_one():
    assert forcing_period(LinearSystem([1.0], force=Harmonic([1.0], 4.0))) == pytest.approx(np.pi / 2)
    both = Harmonic([1.0], 2.0) + Harmonic([0.5], 3.0) + np.array([7.0])
    assert forcing_period(LinearSystem([1.0], force=both)) == pytest.approx(2 * np.pi)
    silent = Harmonic([0.0], 5.0)
    assert forcing_period(LinearSystem([1.0], force=silent)) is None


def test_moving_walls_and_guides_have_a_period_as_well():
    wall = Contact("wall", normal=[1.0], gap=Harmonic(0.1, 5.0) + 1.0)
    assert forcing_period(LinearSystem([1.0], contacts=[wall])) == pytest.approx(2 * np.pi / 5.0)
    guide = Constraint("guide", direction=[1.0], offset=Harmonic(0.1, 5.0, -np.pi / 2))
    assert forcing_period(LinearSystem([1.0], constraints=[guide])) == pytest.approx(2 * np.pi / 5.0)


def test_a_system_that_does_not_depend_on_time_has_no_period():
    assert forcing_period(LinearSystem([1.0], force=[1.0])) is None
    assert forcing_period(FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -q)) is None


def test_a_period_that_cannot_be_read_off_is_refused():
    with pytest.raises(InvalidModel, match="the force is a FunctionOfTime"):
        forcing_period(LinearSystem([1.0], force=lambda t: np.array([np.cos(t)])))
    with pytest.raises(InvalidModel, match="depends on time"):
        forcing_period(
            FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: np.array([np.cos(t)]))
        )
    with pytest.raises(InvalidModel, match="depends on time"):  # a stiffness that changes, at rest
        forcing_period(
            FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -(1.0 + 0.3 * np.cos(t)) * q)
        )
    with pytest.raises(InvalidModel, match="no common period"):
        forcing_period(LinearSystem([1.0], force=Harmonic([1.0], 1.0) + Harmonic([1.0], np.pi)))
