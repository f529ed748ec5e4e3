"""Stops that move: there is a motion between them, or none, whatever a few harmonics say."""

import numpy as np
import pytest

from klapper.analysis import harmonic_response
from klapper.mechanics import Constant, Contact, Harmonic, InvalidModel, LinearSystem


def squeezed(amplitude: float, *, compliance: np.ndarray | None = None) -> LinearSystem:
    """Stops 0.2 m apart, of which the left one comes nearer by the amplitude [m]."""
    left = Contact("left", normal=[1.0], gap=Constant(0.1) + Harmonic(-amplitude, 2.0, phase=-0.5 * np.pi))
    right = Contact("right", normal=[-1.0], gap=0.1)
    return LinearSystem([1.0], stiffness=[4.0], damping=[0.4], contacts=[left, right], compliance=compliance)


@pytest.mark.parametrize("harmonics", [3, 9])
def test_stops_that_pass_through_each_other_are_refused_by_name(harmonics: int) -> None:
    with pytest.raises(
        InvalidModel, match=r"stops 'left' and 'right' of 'linear system' pass .* each by 0\.0025 m"
    ):
        harmonic_response(squeezed(0.205), harmonics=harmonics)


def test_stops_that_leave_a_little_room_are_taken() -> None:
    assert harmonic_response(squeezed(0.15), harmonics=9).residual.penetration < 2e-3
    assert harmonic_response(squeezed(0.19), harmonics=3).residual.balance < 1e-12


def test_stops_that_give_way_need_no_room() -> None:
    soft = squeezed(0.21, compliance=1e-3 * np.eye(2))
    assert harmonic_response(soft, harmonics=9).residual.balance < 1e-12


def test_two_masses_pass_where_one_could_not() -> None:
    """The same stops, each before a mass of its own: nothing is between both."""
    left = Contact("left", normal=[1.0, 0.0], gap=Constant(0.1) + Harmonic(-0.205, 2.0, phase=-0.5 * np.pi))
    right = Contact("right", normal=[0.0, -1.0], gap=0.1)
    pair = LinearSystem([1.0, 1.0], stiffness=[4.0, 4.0], damping=[0.4, 0.4], contacts=[left, right])
    assert harmonic_response(pair, harmonics=5).residual.balance < 1e-12
