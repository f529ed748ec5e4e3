"""The energy ledger against closed forms."""

import numpy as np
import pytest

from klapper.results import ENERGY, Ledger, Run, Samples
from klapper.results.ledger import EXACT, TRUSTED

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
    assert ledger.closes(EXACT)
    assert ledger.closing_error < 1e-12


def test_a_block_loses_all_its_energy_in_friction() -> None:
    ledger = braked_block(mass=3.0, speed=2.0).ledger
    assert ledger.friction[-1] == pytest.approx(3.0 * 2.0**2 / 2)
    assert ledger.scale == pytest.approx(6.0)  # the constant potential of 5 J is not turned over
    assert ledger.closes(EXACT)


def test_the_work_of_loads_is_on_the_other_side() -> None:
    ledger = driven_oscillator().ledger
    assert ledger.closes(EXACT)
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
    assert not ledger.closes(EXACT)
    assert ledger.closes(1e-6)
    expected = -leak if name == "loads" else leak
    assert ledger.residual == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.9 * EXACT, "closes"),
        (3e-8, "closes to 3.0e-08 of the energy only"),
        (1.1 * TRUSTED, "does not close"),
    ],
)
def test_books_close_or_to_a_share_only_or_not(share: float, told: str) -> None:
    run = bouncing_ball()
    leak = np.where(np.arange(len(run)) > 300, share * run.ledger.scale, 0.0)
    ledger = changed(run, friction=leak)
    assert ledger.closing == told
    assert ledger.verdict.startswith(f"The ledger {told}: off by at most {share * run.ledger.scale:.1e} J")
    assert ledger.closes() == (told != "does not close")


def test_the_zero_level_of_the_potential_does_not_hide_a_leak() -> None:
    run = bouncing_ball()
    leak = np.where(np.arange(len(run)) > 300, 1e-6, 0.0)
    assert changed(run, potential=1e3).closes(EXACT)
    assert not changed(run, potential=1e3 + leak).closes(EXACT)


def test_a_system_at_rest_closes_to_round_off() -> None:
    run = bouncing_ball(count=10)
    energy = np.zeros((10, 7))
    energy[:, 1] = 3.0
    energy[5:, 1] += 4e-16
    fields = {name: getattr(run.samples, name) for name in Samples.__dataclass_fields__}
    assert Ledger.of(Samples(**(fields | {"energy": energy}))).closes(EXACT)
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
