"""The loose lamina of the stationary rotor: two models, run-up and run-down, ranges of parameters."""

from typing import Any

import numpy as np
import pytest

from klapper.analysis import follow_stationary, stationary_state
from klapper.analysis.rotor import critical_speeds
from klapper.gallery import find
from klapper.gallery._bandaged_rotor import BandagedRotor
from klapper.gallery._rotor import Shaft
from klapper.gallery.parameter import ParameterError
from klapper.gallery.stationary_rotor import _least_energy
from klapper.report.figures import draw

SHAFT = Shaft(1.0, 0.6, 0.01, 0.01, 0.001, 210e9, 7500.0, 0.0, 1e-5)


def bandaged(method: str = "semi-analytical", modes: int = 20) -> BandagedRotor:
    return BandagedRotor(SHAFT.model(modes, method), 7, 0.5, 3e-3)


@pytest.mark.parametrize(
    "given",
    [
        {"speed": 8.0, "speed_to": 12.0},  # convex
        {"damping_ext": 1.0},  # unsymmetric stiffness, drag
        {"band_force": 0.0},  # nothing presses
        {"speed": 21.0, "speed_to": 26.0},  # through the pole of the shaft itself
    ],
    ids=lambda given: ", ".join(given),
)
def test_other_parameters_keep_all_checks(given: dict[str, Any]) -> None:
    outcome = find("stationary-rotor").run(**given, steps=20)
    assert outcome.passed, [check.as_json() for check in outcome.checks if not check.passed]
    assert outcome.numbers["residual"] <= 1e-10
    assert len(outcome.numbers["contact_forces"]) == len(outcome.numbers["gaps"]) == 10
    if "band_force" in given:
        assert {picture.name for picture in draw(outcome.figures)} == {"branch", "forces", "shapes"}


def test_both_models_of_the_shaft_have_the_same_folds_and_changes_of_contact() -> None:
    """Natural modes as functions, and finite elements, to the error of the elements' stiffnesses."""
    rotors = [bandaged(method) for method in ("semi-analytical", "fe")]
    modes, elements = (follow_stationary(rotor.at, 0.0, 22.0, steps=20) for rotor in rotors)
    assert [event.kind for event in modes.events] == [event.kind for event in elements.events]
    assert [event.name for event in modes.events] == [event.name for event in elements.events]
    exact, approximate = (rotor.model.frequencies for rotor in rotors)
    error = float(np.abs((approximate / exact) ** 2 - 1.0).max())
    assert error < 1e-3
    places = [np.array([event.parameter for event in branch.events]) for branch in (modes, elements)]
    assert places[0] == pytest.approx(places[1], rel=error)


def test_at_standstill_the_joint_carries_the_bands() -> None:
    """No rim touches, and forces are symmetric about the middle."""
    rotor = bandaged()
    state = stationary_state(rotor.at(0.0))
    assert state.convex
    assert np.all(state.forces[:7, 0] >= 0.0)
    assert np.all(state.forces[7:, 0] == 0.0)
    assert np.all(state.gaps[:7] >= 0.0)
    assert state.forces[:7, 0] == pytest.approx(state.forces[6::-1, 0], rel=1e-9)


def test_speed_raised_and_lowered_jumps_at_different_speeds() -> None:
    rotor = bandaged()
    whole = follow_stationary(rotor.at, 0.0, 22.0, steps=24)
    up = follow_stationary(rotor.at, 0.0, 22.0, steps=24, at_fold="jump")
    down = follow_stationary(rotor.at, 22.0, 0.0, steps=24, first=up.state(-1), at_fold="jump")
    assert up.folds == pytest.approx(whole.folds[:1], rel=1e-9)
    assert down.folds == pytest.approx(whole.folds[1:], rel=1e-9)
    assert down.folds[0] < up.folds[0]
    assert critical_speeds(rotor.model.rotor)[0] < down.folds[0]
    assert down.position[-1] == pytest.approx(whole.position[0], rel=1e-8, abs=1e-12)


def test_many_dependent_contacts_hold_few_modes() -> None:
    """39 points of the joint, more than the modes can tell apart: still the position of least energy, and two folds."""
    rotor = BandagedRotor(SHAFT.model(16), 39, 0.5, 3e-3)
    branch = follow_stationary(rotor.at, 0.0, 22.0, steps=24)
    assert branch.number[-1] == 0
    assert branch.parameter[-1] == 22.0
    assert branch.residual.max() <= 1e-10
    assert len(branch.folds) == 2
    below = np.flatnonzero(branch.parameter < 14.0)
    least = np.array([_least_energy(rotor.at(float(branch.parameter[k]))) for k in below[1::4]])
    assert branch.position[below[1::4]] == pytest.approx(least, rel=1e-10, abs=1e-10 * np.abs(least).max())


def test_a_speed_above_the_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="below speed_to"):
        find("stationary-rotor").run(speed=23.0)
