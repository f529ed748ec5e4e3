"""Motions that go on: what repeats, how far it has gone, and what says so."""

import numpy as np
import pytest
from oscillators import impact_oscillator

from klapper.analysis import periodic_motion
from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem
from klapper.mechanics.errors import InvalidModel


def driven_cart(drag=0.5, wind=0.3):
    """m v̇ + c v = f + cos 2t: its mean speed is f/c."""
    return LinearSystem(
        [1.0], damping=[drag], force=Harmonic([1.0], 2.0) + np.array([wind]), contacts=[], coordinates=["x"]
    )


def block(pull):
    """Without damping a block drifts on rough ground where it slips further one way than the other."""
    return LinearSystem(
        [1.0, 1.0],
        stiffness=[[4.0, -4.0], [-4.0, 4.0]],
        damping=[0.2, 0.2],
        force=Harmonic([2.0, 0.0], 1.3) + np.array([pull, 0.0]),
        contacts=[
            FrictionElement(name, tangents=[row], limit=0.5)
            for name, row in zip(("a", "b"), np.eye(2), strict=True)
        ],
        coordinates=["left", "right"],
    )


def test_a_cart_drifts_on_by_wind_over_damping_in_a_period():
    motion = periodic_motion(driven_cart(), drifting=["x"])
    assert motion.drift[0] == pytest.approx(0.3 / 0.5 * np.pi, rel=1e-12)
    assert motion.multipliers.real == pytest.approx([1.0, np.exp(-0.5 * np.pi)], abs=1e-12)
    assert motion.deciding.real == pytest.approx([np.exp(-0.5 * np.pi)], abs=1e-12)
    assert motion.stable and not motion.superstable
    assert motion.residual < 1e-12
    assert f"x goes on by {motion.drift[0]:.6g} in a period" in str(motion)
    assert motion.approach().distance < 1e-8


def test_nothing_drifts_without_being_asked_to():
    assert np.array_equal(periodic_motion(impact_oscillator().system()).drift, [0.0])


@pytest.mark.parametrize(
    ("drifting", "words"),
    [
        ("x", r"give a list of names of coordinates, \['x'\]"),
        (["z"], "'z', which is no coordinate; there are x"),
    ],
)
def test_wrong_names_are_refused(drifting, words):
    with pytest.raises(InvalidModel, match=words):
        periodic_motion(driven_cart(), drifting=drifting)


@pytest.mark.parametrize(
    "system",
    [
        impact_oscillator().system(),  # held by a spring
        LinearSystem(
            [1.0], force=Harmonic([1.0], 2.0), contacts=[Contact("wall", normal=[1.0])], coordinates=["q1"]
        ),
        block(0.2),  # only both together could drift
    ],
)
def test_coordinates_on_which_something_depends_are_refused(system):
    with pytest.raises(InvalidModel, match="is not the same at all its values"):
        periodic_motion(system, drifting=[system.coordinates[0]])
