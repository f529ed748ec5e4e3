"""Statics at large displacements: the inflated ring, the elastica, snap-through, not only as shipped."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.continuum import NeoHooke, Solid, block
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.gallery import find
from klapper.gallery._stress_view import _regions
from klapper.gallery.example import Outcome
from klapper.gallery.large_cantilever import elastica, elastica_end
from klapper.gallery.parameter import ParameterError


def ran(name: str, **given: Any) -> Outcome:
    outcome = find(name).run(**given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    return outcome


@pytest.mark.parametrize(
    ("alpha", "along", "across"), [(1.0, 0.05643, 0.30172), (2.0, 0.16064, 0.49346), (10.0, 0.55500, 0.81061)]
)
def test_the_elastica_has_its_published_end(alpha: float, along: float, across: float) -> None:
    """Mattiasson (1981), to five digits; and the curve by integration ends there."""
    x, y = elastica_end(alpha)
    assert 1.0 - x == pytest.approx(along, abs=6e-6)
    assert y == pytest.approx(across, abs=6e-6)
    np.testing.assert_allclose(elastica(alpha)[-1], (x, y), atol=1e-8)


def test_the_elastica_has_no_moment_at_its_end() -> None:
    x, _ = elastica_end(3.0)
    found = solve_ivp(
        lambda s, z: [z[1], -3.0 * np.cos(z[0])], (0.0, 1.0), [0.0, 3.0 * x], rtol=1e-11, atol=1e-13
    )
    assert found.y[1, -1] == pytest.approx(0.0, abs=1e-9)


def test_elements_that_lock_bend_less_than_the_elastica() -> None:
    outcome = ran("large-cantilever", alpha=9.0, thickness=0.04, elements=(10, 20))
    locked = outcome.numbers["deflection_quad4"]
    assert locked[0] < locked[1] < outcome.numbers["elastica_end"][1]


def test_rings_with_pretension_have_the_closed_form_radius_in_any_unit() -> None:
    outcome = ran(
        "cable-inflation", pressure=3e5, radius=0.02, young=2e6, area=1e-2, pretension=50.0, lines=24
    )
    stretch = np.sqrt(1.0 + 2.0 * (3e5 * 0.02 - 50.0) / 2e4)
    assert outcome.numbers["exact_radius"] == pytest.approx(0.02 * stretch)
    assert outcome.numbers["radius_error"] < 0.5 * (np.pi / 24) ** 2


@pytest.mark.parametrize(("pressure", "pretension"), [(1e5, 0.0), (1e9, 0.0), (1e6, 60.0)])
def test_rings_can_be_blown_up_to_many_times_their_size(pressure: float, pretension: float) -> None:
    """In one step they would fall into a point."""
    outcome = ran("cable-inflation", pressure=pressure, pretension=pretension, lines=16)
    stretch = np.sqrt(1.0 + 2.0 * (pressure - pretension) / 80.0)
    assert outcome.numbers["stretch"] == pytest.approx(stretch, rel=2.0 * (np.pi / 16) ** 2)


@pytest.mark.parametrize("arc", ["spherical", "cylindrical"])
def test_a_steep_truss_bifurcates(arc: str) -> None:
    outcome = ran("snap-through", height=2.0, post_length=8.0, arc=arc, step=0.2)
    assert outcome.numbers["critical_points"] == ["bifurcation", "limit", "limit", "bifurcation"]
    assert outcome.numbers["end_moves_back_by"] > 0.0


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("cable-inflation", {"lines": 30}, "multiple of 4"),
        ("cable-inflation", {"pretension": 12.0}, "pretension must be below 10"),
        ("snap-through", {"post_length": 0.5}, "three heights"),
        ("large-cantilever", {"thickness": 0.3}, "thickness"),
    ],
)
def test_bad_parameters_are_refused(name: str, given: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find(name).run(**given)


@pytest.mark.parametrize("element", [name for name in SOLIDS if ELEMENTS[name].dimension == 2])
def test_painted_regions_fill_the_cell_and_hold_their_points(element: str) -> None:
    body = Solid("block", block((1.0, 1.0), (1, 1), element=element), NeoHooke(1.0, 0.3), density=1.0)
    points, weights = body.mesh.element.stiffness
    regions = _regions(body.mesh.element)
    after = np.roll(regions, -1, axis=1)
    areas = 0.5 * np.sum(regions[..., 0] * after[..., 1] - regions[..., 1] * after[..., 0], axis=1)
    np.testing.assert_allclose(areas, weights, rtol=1e-12)
    for point, region, ahead in zip(points, regions, after, strict=True):
        side, arm = ahead - region, point - region
        assert np.all(side[:, 0] * arm[:, 1] - side[:, 1] * arm[:, 0] > 0.0)
