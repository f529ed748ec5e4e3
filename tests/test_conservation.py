"""The report of what a run keeps, and what is said of what it does not keep."""

import numpy as np
import pytest

from klapper.conservation import conservation
from klapper.continuum import Continuum, Gravity, NeoHooke, Solid, Support, Wall, block, rigid_velocity
from klapper.mechanics import InvalidModel, LinearSystem
from klapper.results import Conservation, ResultsError
from klapper.schemes import EnergyMomentum, Moreau, Newmark
from klapper.simulation import simulate


def world(**given) -> Continuum:
    solid = Solid("bar", block((1.0, 0.4), (2, 1)), NeoHooke(1e5, 0.3), density=1000.0)
    return Continuum([solid], velocity={"bar": rigid_velocity(solid, (2.0, 1.0), 5.0)}, **given)


def test_free_flight_is_told_as_kept() -> None:
    system = world()
    run = simulate(system, 0.1, EnergyMomentum(0.01))
    report = run.conservation
    assert report.matrix == {"energy": True, "momentum": True, "angular momentum": True}
    assert report["momentum"].changed_by == ()
    told = run.about["audit"]["conservation"]
    assert told["energy"].startswith("kept: at most")
    assert "yes" in str(report)
    again = conservation(run, system)
    assert again.matrix == report.matrix
    np.testing.assert_allclose(again["momentum"].history[0], [800.0, 400.0])
    assert again["momentum"].per_step == report["momentum"].per_step


def test_changes_are_those_of_the_histories() -> None:
    system = world()
    run = simulate(system, 0.2, Newmark(0.02))
    found = conservation(run, system)["angular momentum"]
    spin = np.array(
        [system.angular_momentum(q, v)[0] for q, v in zip(run.position, run.velocity, strict=True)]
    )
    assert found.per_step == pytest.approx(np.abs(np.diff(spin)).max())
    assert found.since_start == pytest.approx(np.abs(spin - spin[0]).max())
    assert found.verdict.startswith("not kept")
    assert not found.kept


def test_samples_apart_are_counted_per_step() -> None:
    system = world()
    one, few = (simulate(system, 0.2, Newmark(0.005), every=every).conservation for every in (1, 10))
    assert few["angular momentum"].per_step <= one["angular momentum"].per_step * (1 + 1e-9)


@pytest.mark.parametrize(
    ("given", "scheme", "linear", "angular"),
    [
        ({"loads": [Gravity((0.0, -9.81))]}, EnergyMomentum(0.01), ("loads",), ("loads",)),
        ({"supports": [Support("bar", "right")]}, EnergyMomentum(0.01), ("supports",), ("supports",)),
        (
            {"walls": [Wall("bar", "right", point=(1.05, 0.0), normal=(-1.0, 0.0))]},
            Moreau(0.002),
            ("contacts",),
            ("contacts",),
        ),
    ],
)
def test_what_acts_from_outside_is_named(given, scheme, linear, angular) -> None:
    run = simulate(world(**given), 0.1, scheme)
    report = run.conservation
    assert report["momentum"].changed_by == linear
    assert report["angular momentum"].changed_by == angular
    assert not report["momentum"].kept
    assert f"not expected to be kept ({', '.join(linear)})" in run.about["audit"]["conservation"]["momentum"]


def test_energy_counts_what_loads_put_in() -> None:
    run = simulate(world(loads=[Gravity((0.0, -9.81))]), 0.1, EnergyMomentum(0.01))
    assert run.conservation["energy"].kept


def test_it_is_stored_with_the_run(tmp_path) -> None:
    from klapper.results import read

    run = simulate(world(), 0.05, EnergyMomentum(0.01))
    stored = read(run.save(tmp_path / "run.h5")).conservation
    assert stored.matrix == run.conservation.matrix
    assert isinstance(stored, Conservation)


def test_systems_without_momenta_are_refused_in_words() -> None:
    system = LinearSystem([1.0], stiffness=[1.0], position=[1.0])
    run = simulate(system, 1.0, Moreau(0.1))
    with pytest.raises(ResultsError, match="does not know its momentum"):
        _ = run.conservation
    with pytest.raises(InvalidModel, match="linear_momentum"):
        conservation(run, system)
