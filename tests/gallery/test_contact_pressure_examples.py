"""Patch test, Hertz contact, ironing and the block on a slope, beyond their shipped parameters."""

import numpy as np
import pytest

from klapper.gallery.hertz import Cylinders
from klapper.gallery.ironing import ironing
from klapper.gallery.parameter import ParameterError
from klapper.gallery.patch_test import Patch, Uniform, patch_test
from klapper.gallery.sliding_block import sliding_block

SMALL = {"upper": "7x3", "lower": "8x3"}


def passed(outcome) -> bool:
    return all(check.passed for check in outcome.checks)


@pytest.mark.parametrize(
    ("load", "lateral", "stress"),
    [
        ("dead", "free", (-94.3163, -46.3604)),
        ("pressure", "free", (-100.0, -49.9969)),
        ("pressure", "confined", (-100.0, -73.9335)),
    ],
)
def test_uniform_states_are_as_printed(load, lateral, stress) -> None:
    found = Uniform.of(load, lateral, 1000.0, 0.4, 100.0)
    np.testing.assert_allclose(found.stress[1:], stress, atol=5e-5)


@pytest.mark.parametrize("interface", ["mortar", "mortar-dual"])
@pytest.mark.parametrize(
    "settings",
    [
        {"shape": "flat", "lateral": "confined", "load": "pressure"},
        {"shape": "inclined"},
        {"shape": "inclined", "load": "all-round"},
        {"shape": "inclined", "element": "quad9"},
        {"shape": "flat", "element": "tri6", "load": "pressure"},
    ],
    ids=str,
)
def test_mortar_passes_the_patch_test(interface: str, settings: dict) -> None:
    outcome = patch_test(interface=interface, **SMALL, **settings)
    assert outcome.numbers["stress_deviation"] <= 1e-10
    assert passed(outcome)


def test_node_to_segment_fails_it_and_two_passes_do_not_but_for_their_forces() -> None:
    assert patch_test(interface="nts", **SMALL).numbers["stress_deviation"] > 1e-3
    two = patch_test(interface="nts-two-pass", **SMALL)
    assert two.numbers["stress_deviation"] <= 1e-10
    assert passed(two)


def test_a_curved_interface_is_wrong_by_the_square_of_its_facets() -> None:
    scatter = [
        Patch(
            "mortar", (7 * k, 3 * k), (8 * k, 3 * k), "quad4", "curved", "free", "all-round", 0.0, 100.0
        ).scatter
        for k in (1, 2, 4)
    ]
    np.testing.assert_allclose(np.log2(np.divide(scatter[:-1], scatter[1:])), 2.0, atol=0.15)


def test_what_cannot_be_held_is_refused() -> None:
    with pytest.raises(ParameterError, match="friction"):
        patch_test(shape="inclined", friction=0.1)
    with pytest.raises(ParameterError, match="confined"):
        patch_test(load="all-round", lateral="confined")


@pytest.mark.slow
@pytest.mark.parametrize("interface", ["nts", "mortar-dual"])
def test_hertz_pressure_converges_with_the_first_power_of_the_cells(interface: str) -> None:
    """The square root at the edge is met to the order h in the mean square. Where the edge falls in its cell changes
    the error by a factor of two: the mean is taken over three places of it, which leaves √2 or ¼ of an order."""
    counts = np.array([4, 8, 16])
    places = counts[:, None] + np.arange(3) / 3
    single = [
        [Cylinders(interface, n, "plane", 0.01, 0.05, 210e9, 0.3, 1).error for n in row] for row in places
    ]
    errors = np.sqrt(np.mean(np.square(single), axis=1))
    order = -np.polyfit(np.log(places.mean(axis=1)), np.log(errors), 1)[0]
    assert order == pytest.approx(1.0, abs=0.25)
    assert np.all(np.diff(errors) < 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("interface", ["nts", "mortar"])
def test_ironing_passes_its_checks_with_other_interfaces(interface: str) -> None:
    assert passed(ironing(interface=interface, steps=4, cells=(16, 3), travel=0.3))


@pytest.mark.parametrize("interface", ["wall", "nts", "mortar"])
def test_below_the_friction_angle_nothing_creeps(interface: str) -> None:
    outcome = sliding_block(interface=interface, angle=10.0, until=0.05)
    assert outcome.numbers["creep"] < 1e-12
    assert passed(outcome)


@pytest.mark.slow
def test_a_thousand_steps_do_not_creep() -> None:
    outcome = sliding_block(interface="nts", angle=15.0, step=0.005, until=5.0, cells=(3, 2))
    assert outcome.numbers["creep"] < 1e-11


@pytest.mark.parametrize("interface", ["wall", "nts"])
def test_above_the_friction_angle_a_block_slides_as_coulomb_says(interface: str) -> None:
    assert passed(sliding_block(interface=interface, until=0.05))
