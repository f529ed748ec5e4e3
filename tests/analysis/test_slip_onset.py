"""When sticking ends: the criteria on a mass under a growing push, whose start of sliding is known."""

import numpy as np
import pytest

from klapper.analysis import slip_onset
from klapper.mechanics import Contact, InvalidModel, LinearSystem, Ramp
from klapper.schemes import Moreau
from klapper.simulation import simulate


def pushed(until: float):
    """2 kg with μ = 0.5 under a push of 100 N/s: slides from 0.0981 s on."""
    system = LinearSystem(
        [2.0, 2.0],
        force=Ramp([0.0, -19.62], [100.0, 0.0]),
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)],
    )
    return simulate(system, until, Moreau(1e-4))


def test_all_criteria_agree_up_to_the_step() -> None:
    run = pushed(0.12)
    found = slip_onset(run, [0.5], run.velocity[:, :1])
    times = [*found.saturated, found.all_saturated, *found.slips, found.slips_for_good, *found.moves]
    np.testing.assert_allclose(times, 0.0981, atol=3e-4)
    assert found.last_reserve == pytest.approx(found.all_saturated - 1e-4, abs=1e-9)
    assert found.flag_changes == 1
    assert len(found.resticks) == 0


def test_what_never_happens_is_not_a_number() -> None:
    run = pushed(0.05)
    found = slip_onset(run, [0.5], run.velocity[:, :1])
    nothing = [*found.saturated, found.all_saturated, *found.slips, found.slips_for_good, *found.moves]
    assert np.all(np.isnan(nothing))
    assert found.flag_changes == 0


def test_a_mass_that_turns_round_sticks_again() -> None:
    """Push and pull in turn: it slides, sticks at the return, and slides the other way."""
    system = LinearSystem(
        [1.0, 1.0],
        force=lambda t: np.array([8.0 * np.sin(20.0 * t), -9.81]),
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)],
    )
    run = simulate(system, 1.0, Moreau(1e-4))
    found = slip_onset(run, [0.5], run.velocity[:, :1])
    assert len(found.resticks) >= 5
    assert found.flag_changes >= 2 * len(found.resticks)


def test_contacts_with_two_tangential_directions_are_refused() -> None:
    system = LinearSystem(
        [1.0] * 3, contacts=[Contact("p", normal=[0, 0, 1.0], tangents=np.eye(3)[:2], friction=0.1)]
    )
    run = simulate(system, 1e-3, Moreau(1e-3))
    with pytest.raises(InvalidModel, match="2 tangential directions"):
        slip_onset(run, [0.1], run.velocity[:, :1])
