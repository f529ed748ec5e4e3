"""Only the same run is taken out of a store: every option of a scheme counts."""

import copy
from dataclasses import fields

import numpy as np
import pytest

from klapper.mechanics import CompliantNormal, LinearSystem
from klapper.mechanics.fingerprint import written_out
from klapper.results import ResultsError
from klapper.schemes import SCHEMES, Moreau, Newmark, NewtonIteration
from klapper.simulation import simulate


def made(kind: str):
    known = {option.name for option in fields(SCHEMES[kind]) if option.init}
    needed = {"step_size": 0.1, "normal": CompliantNormal(1e4)}
    return SCHEMES[kind](**{name: value for name, value in needed.items() if name in known})


def oscillator() -> LinearSystem:
    return LinearSystem([1.0], stiffness=[4.0], position=[1.0])


@pytest.mark.parametrize(
    ("kind", "option"), [(kind, each.name) for kind in SCHEMES for each in fields(SCHEMES[kind]) if each.init]
)
def test_every_option_of_a_scheme_makes_another_run(kind: str, option: str) -> None:
    scheme = made(kind)
    other = copy.copy(scheme)
    object.__setattr__(other, option, "something else")
    assert written_out(scheme) == written_out(made(kind))
    assert written_out(other) != written_out(scheme)


def test_a_stored_run_with_other_options_is_refused(tmp_path) -> None:
    simulate(oscillator(), 1.0, Newmark(0.2), store=tmp_path / "run")
    assert simulate(oscillator(), 1.0, Newmark(0.2), store=tmp_path / "run").about["status"] == "complete"
    careless = Newmark(0.2, newton=NewtonIteration(most=1, line_search=False))
    with pytest.raises(ResultsError, match="another"):
        simulate(oscillator(), 1.0, careless, store=tmp_path / "run")
    interpreted = simulate(oscillator(), 1.0, Moreau(0.1), store=tmp_path / "other")
    assert len(interpreted) == 11
    with pytest.raises(ResultsError, match="another"):
        simulate(oscillator(), 1.0, Moreau(0.1, compiled=False), store=tmp_path / "other")


def test_options_are_written_out_whole() -> None:
    """Arrays of any length with all their numbers, functions by name, nothing by its place in memory."""
    long = np.arange(5000.0)
    changed = long.copy()
    changed[2500] = -1.0
    assert written_out({"a": long}) != written_out({"a": changed})
    assert " at 0x" not in written_out([oscillator, NewtonIteration(), (long[:3], None)])
    assert written_out([NewtonIteration(), 1]) == written_out([NewtonIteration(), 1])
