"""Steps of equal length: as many as fit from the start on, whenever that is, and times without drift."""

from dataclasses import replace

import numpy as np
import pytest

from klapper.mechanics import LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate


def starting_at(time: float) -> LinearSystem:
    return LinearSystem([1.0], velocity=[2.0], time=time)


@pytest.mark.parametrize("start", [-7.0, 0.0, 100.0])
def test_steps_are_counted_from_the_start_and_rounding_adds_none(start: float) -> None:
    system, scheme = starting_at(start), Moreau(0.1)
    assert scheme.steps(system, start + 1.0) == 10
    assert scheme.steps(system, start + 1.1) == 11  # 1.1/0.1 is above 11 by rounding
    assert scheme.steps(system, start + 0.91) == 10
    assert scheme.steps(system, start + 0.89) == 9
    assert scheme.steps(system, start) == 1


def test_a_thousand_steps_end_where_their_number_says() -> None:
    system, scheme = starting_at(5.0), Moreau(1e-3)
    assert scheme.end_of_step(system, replace(scheme.init(system), step=999)) == 6.0


@pytest.mark.parametrize("start", [-7.0, 100.0])
def test_a_free_mass_moves_the_same_way_whenever_it_starts(start: float) -> None:
    run = simulate(starting_at(start), start + 0.5, Moreau(0.1), progress=False)
    assert run.time == pytest.approx(start + 0.1 * np.arange(6))
    assert run.position[-1, 0] == pytest.approx(1.0)
