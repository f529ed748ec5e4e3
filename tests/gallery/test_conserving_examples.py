"""Examples of conserving integrators: their keys, numbers of another program, other schemes and materials, refusals."""

from typing import Any

import numpy as np
import pytest

from klapper.gallery import find
from klapper.gallery._polygon_ring import polygon_ring
from klapper.gallery.example import Outcome
from klapper.gallery.hyperbola_masses import in_one_coordinate_each, two_masses
from klapper.gallery.parameter import ParameterError


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


def names(outcome: Outcome) -> set[str]:
    return {check.name for check in outcome.checks}


@pytest.mark.parametrize(
    ("method", "rest_length", "told"),
    [
        ("midpoint", 1.0, "energy drift, other program"),
        ("midpoint", 0.9, "energy drift, other program"),
        ("modified", 1.0, "distance from the curve, other program"),
        ("momentum-update", 0.9, "energy drift, other program"),
    ],
)
def test_masses_have_the_digits_of_another_program(method: str, rest_length: float, told: str) -> None:
    """Table 7.1 of the specification: 5.4e-2, 1.3e-1, 1.4e-3, 7.4e-4."""
    outcome = run("hyperbola-masses", method=method, rest_length=rest_length)
    assert told in names(outcome)
    if method == "momentum-update":
        assert outcome.numbers["steps_that_change_energy"] == 11  # negative discriminants


@pytest.mark.parametrize("method", ["modified", "momentum-update", "discrete", "penalty"])
def test_masses_keep_their_energy(method: str) -> None:
    outcome = run("hyperbola-masses", method=method, until=0.6, step=0.02)
    assert outcome.numbers["energy_drift"] < 1e-9
    assert outcome.numbers["steps_that_change_energy"] == 0


def test_augmentation_holds_the_masses_to_round_off() -> None:
    outcome = run("hyperbola-masses", method="augmented", until=0.1, penalty=1e7)
    assert outcome.numbers["constraint_violation"] < 1e-10


def test_a_stiffer_penalty_holds_better() -> None:
    soft, stiff = (
        run("hyperbola-masses", method="penalty", until=0.5, penalty=penalty).numbers["constraint_violation"]
        for penalty in (1e5, 1e6)
    )
    assert soft / stiff == pytest.approx(10.0, rel=0.3)


def test_masses_tend_to_the_motion_in_one_coordinate_each() -> None:
    """A soft spring, so that its vibration is resolved: second order against another formulation and method."""
    exact = in_one_coordinate_each(50.0, 0.9, 0.5)(0.5)[:2]
    errors = []
    for step in (0.01, 0.005):
        outcome = run("hyperbola-masses", stiffness=50.0, rest_length=0.9, until=0.5, step=step)
        errors.append(np.abs(outcome.numbers["final_position"][0::2] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


def test_the_spring_between_two_positions_does_exact_work_and_has_its_derivative() -> None:
    system = two_masses(5000.0, 0.9)
    before = system.start.position
    for after in (before + np.array([0.1, -0.2, 0.05, 0.1]), before + 1e-9):
        found = system.force_between(0.0, before, after, slope=True)
        work = system.potential(before) - system.potential(after)
        assert found.force @ (after - before) == pytest.approx(work, abs=1e-12)
        for j, unit in enumerate(np.eye(4)):
            ends = [system.force_between(0.0, before, after + sign * 1e-4 * unit).force for sign in (1, -1)]
            np.testing.assert_allclose((ends[0] - ends[1]) / 2e-4, found.slope[:, j], rtol=1e-5, atol=2e-2)


@pytest.mark.parametrize(
    ("scheme", "kept"),
    [
        ("energy-momentum", (True, True, True)),
        ("midpoint", (False, True, True)),
        ("newmark", (False, True, False)),
        ("generalised-alpha", (False, True, False)),
        ("central-difference", (False, True, True)),
    ],
)
def test_a_ring_keeps_what_its_scheme_keeps(scheme: str, kept: tuple[bool, ...]) -> None:
    outcome = run("spinning-ring", scheme=scheme, step=0.005, until=0.2, cells=(1, 12))
    keys = ("energy_drift", "momentum_drift", "angular_momentum_drift")
    assert tuple(bool(outcome.numbers[key] < 1e-10) for key in keys) == kept
    rounds = outcome.numbers["newton_iterations"]
    assert (rounds == 0.0) == (scheme == "central-difference")


@pytest.mark.parametrize("material", ["saint-venant-kirchhoff", "mooney-rivlin"])
def test_rings_of_other_materials_keep_their_energy(material: str) -> None:
    outcome = run("spinning-ring", material=material, step=0.02, until=0.2, cells=(1, 12), spin=3.0)
    assert outcome.numbers["energy_drift"] < 1e-11


def test_a_projected_ring_keeps_momenta() -> None:
    run("spinning-ring", scheme="projected", step=0.005, until=0.1, cells=(1, 12))


def test_polygons_tend_to_circles() -> None:
    area, moment = polygon_ring((0.8, 1.0), 10_000)
    assert area == pytest.approx(np.pi * (1.0 - 0.64), rel=1e-6)
    assert moment == pytest.approx(0.5 * np.pi * (1.0 - 0.8**4), rel=1e-6)


def test_rings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ParameterError, match="stable up to"):
        find("spinning-ring").run(scheme="central-difference", step=0.1)
    with pytest.raises(ParameterError, match="radii must rise"):
        find("spinning-ring").run(radii=(1.0, 0.5))


def test_blocks_that_turn_too_far_in_a_step_are_refused() -> None:
    with pytest.raises(ParameterError, match="rotation by"):
        find("tumbling-block").run(factors=(1000.0,))


@pytest.mark.slow
def test_a_block_keeps_everything_over_ten_thousand_steps() -> None:
    outcome = run("tumbling-block", factors=(10.0,), steps=10_000, cells=(2, 1))
    for key in ("energy_drift", "momentum_drift", "angular_momentum_drift"):
        assert outcome.numbers[key][0] < 1e-8


def test_a_smaller_bend_has_the_same_order() -> None:
    outcome = run("integrator-orders", bend=0.1, steps=(0.02, 0.01))
    assert outcome.numbers["orders"]["energy-momentum"] == pytest.approx(2.0, abs=0.1)
