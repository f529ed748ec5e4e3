"""The energy ledger against closed forms."""

import numpy as np
import pytest

from klapper.results import ENERGY, Ledger, Run, Samples

from .motions import GRAVITY, bouncing_ball, braked_block, driven_oscillator


def changed(run: Run, **columns: np.ndarray | float) -> Ledger:
    """The ledger with something added to some columns."""
    energy = run.samples.energy.copy()
    for name, value in columns.items():
        energy[:, ENERGY.index(name)] += value
    fields = {name: getattr(run.samples, name) for name in Samples.__dataclass_fields__}
    return Run(run.layout, Samples(**(fields | {"energy": energy}))).ledger


def test_a_ball_loses_all_its_energy_in_impacts() -> None:
    ledger = bouncing_ball(mass=2.0, height=1.0, restitution=0.5, until=3.0).ledger
    start = 2.0 * GRAVITY * 1.0
    assert ledger.balance["initial"] == pytest.approx(start)
    assert ledger.balance["impact"] == pytest.approx(start)
    assert ledger.balance["kinetic"] == 0.0
    assert ledger.scale == pytest.approx(start)
    assert ledger.closes()
    assert ledger.closing_error < 1e-12


def test_a_block_loses_all_its_energy_in_friction() -> None:
    ledger = braked_block(mass=3.0, speed=2.0).ledger
    assert ledger.friction[-1] == pytest.approx(3.0 * 2.0**2 / 2)
    assert ledger.scale == pytest.approx(6.0)  # the constant potential of 5 J is not turned over
    assert ledger.closes()


def test_the_work_of_loads_is_on_the_other_side() -> None:
    ledger = driven_oscillator().ledger
    assert ledger.closes()
    end = ledger.balance
    stored = end["kinetic"] + end["potential"] + end["damping"] + end["numerical"]
    assert stored == pytest.approx(end["loads"], rel=1e-12)
    assert abs(end["numerical"]) < 1e-4  # the quadrature error of the work in this motion


@pytest.mark.parametrize("name", ENERGY)
def test_a_leak_in_any_entry_is_found_at_its_sample(name: str) -> None:
    run = bouncing_ball()
    leak = np.zeros(len(run))
    leak[300:] = 1e-6
    ledger = changed(run, **{name: leak})
    assert not ledger.closes()
    assert ledger.closes(1e-6)
    assert "does NOT close" in ledger.verdict
    expected = -leak if name == "loads" else leak
    assert ledger.residual == pytest.approx(expected, abs=1e-12)


def test_the_zero_level_of_the_potential_does_not_hide_a_leak() -> None:
    run = bouncing_ball()
    leak = np.where(np.arange(len(run)) > 300, 1e-6, 0.0)
    assert changed(run, potential=1e3).closes()
    assert not changed(run, potential=1e3 + leak).closes()


def test_a_system_at_rest_closes_to_round_off() -> None:
    run = bouncing_ball(count=10)
    energy = np.zeros((10, 7))
    energy[:, 1] = 3.0
    energy[5:, 1] += 4e-16
    fields = {name: getattr(run.samples, name) for name in Samples.__dataclass_fields__}
    assert Ledger.of(Samples(**(fields | {"energy": energy}))).closes()
    energy[5:, 1] += 1e-12
    assert not Ledger.of(Samples(**(fields | {"energy": energy}))).closes(0.1)


def test_nan_never_closes() -> None:
    run = bouncing_ball()
    hole = np.zeros(len(run))
    hole[10] = np.nan
    assert not changed(run, friction=hole).closes(1.0)


def test_the_table_shows_each_entry_and_the_verdict() -> None:
    table = bouncing_ball(restitution=0.5).ledger.table().splitlines()
    assert table[0].split() == ["energy", "/", "J", "start", "end", "change"]
    assert len(table) == 1 + 7 + 1 + 1
    assert next(row for row in table if row.startswith("+ lost in impacts")).split()[-1] == "19.62"
    assert table[-1].startswith("The ledger closes")
