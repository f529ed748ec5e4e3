"""Mortar segments: they cover the overlap, and integrals of both sides belong together."""

import numpy as np
import pytest

from klapper.continuum import Mortar, NeoHooke, Solid, annulus, block
from klapper.continuum.contact.mortar_functions import slip_coefficients
from klapper.continuum.elements import ELEMENTS, SOLIDS

FLAT = [name for name in SOLIDS if ELEMENTS[name].dimension == 2]


def search(lower, upper, **options):
    bodies = [Solid(n, m, NeoHooke(1.0, 0.3), density=1.0) for n, m in (("low", lower), ("up", upper))]
    offsets = {"low": 0, "up": len(lower.nodes)}
    reference = np.concatenate([lower.nodes, upper.nodes])
    sides = {"secondary": ("up", "bottom"), "primary": ("low", "top"), **options}
    (made,) = Mortar(**sides).searches(bodies, offsets, reference)
    return made, reference


@pytest.mark.parametrize("shift", [0.0, 0.13, -0.4, 0.5])
@pytest.mark.parametrize("element", FLAT)
def test_segments_cover_the_overlap_exactly(shift, element):
    made, places = search(
        block((2.0, 1.0), (7, 1), element=element),
        block((1.5, 1.0), (5, 1), corner=(shift, 1.01), element=element),
    )
    cut = made.segments(places)
    gap = made.gap(cut, places.size)
    low, high, _, _ = gap.functions.limits(gap.invariants(places.ravel()))
    own = made.surface.facets[cut.facet]
    length = np.linalg.norm(places[own[:, 1]] - places[own[:, 0]], axis=1)
    overlap = min(1.5 + shift, 2.0) - max(shift, 0.0)
    assert np.sum(0.5 * (high.value - low.value) * length) == pytest.approx(overlap, rel=1e-12)


def test_all_four_types_of_segments_occur_and_integrals_of_both_sides_agree():
    made, places = search(block((2.0, 1.0), (5, 1)), block((2.0, 1.0), (4, 1), corner=(0.0, 1.0)))
    coarse, other = search(block((2.0, 1.0), (9, 1)), block((2.0, 1.0), (2, 1), corner=(0.0, 1.0)))
    fine, third = search(block((2.0, 1.0), (2, 1)), block((2.0, 1.0), (9, 1), corner=(0.0, 1.0)))
    kinds = set()
    for each, at in ((made, places), (coarse, other), (fine, third)):
        cut = each.segments(at)
        kinds |= set(zip(cut.start_at_mortar.tolist(), cut.end_at_mortar.tolist(), strict=True))
        gap = each.gap(cut, at.size)
        inner = slip_coefficients(
            gap.functions, gap.invariants(at.ravel())
        )  # (E, k, x₂ and the mortar nodes)
        own, mortar = each.facets.non_mortar, inner[:, :, 1:].sum(axis=2)
        low, high, _, _ = (limit.value for limit in gap.functions.limits(gap.invariants(at.ravel())))
        points, weights = np.polynomial.legendre.leggauss(4)
        whole = np.zeros_like(mortar)
        for eta, weight in zip(points, weights, strict=True):
            xi = 0.5 * ((1 - eta) * low + (1 + eta) * high)
            whole += (
                (0.25 * weight * (high - low))[:, None] * own.values(xi[:, None]) @ each.facets.multipliers.T
            )
        assert np.allclose(-mortar, whole, atol=1e-14)  # Σ_C n²_AC = ∫ M_A = Σ_B n¹_AB
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}


def test_gaps_of_parallel_surfaces_are_their_distance():
    for dual in (False, True):
        made, places = search(
            block((2.0, 1.0), (5, 1)), block((2.0, 1.0), (3, 1), corner=(0.0, 1.25)), dual=dual, reach=1.0
        )
        found = made.pair(places, 0.0, places, 10)
        assert found.which.tolist() == [10, 11, 12, 13]
        assert np.allclose(found.gap.value(places.ravel()), 0.25, atol=1e-14)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("shift", [-1.3, -0.2, 0.21, 0.77, 1.9])
def test_surfaces_that_are_apart_have_no_negative_gaps_at_edges_that_are_cut(dual, shift):
    """Dual functions are negative in places: over the covered part of a facet alone they would turn a gap around."""
    made, places = search(
        block((2.0, 1.0), (5, 1)), block((2.0, 1.0), (3, 1), corner=(shift, 1.25)), dual=dual, reach=1.0
    )
    found = made.pair(places, 0.0, places, 0)
    gaps = found.gap.value(places.ravel())
    assert np.all(gaps > 0.0)
    covered = 2.0 - abs(shift)
    share = made.share[found.which]
    assert share @ gaps == pytest.approx(0.25 * covered, rel=1e-12)  # Σ ∫ M_A g = ∫ g over what is covered


def test_dual_functions_stay_dual_where_facets_are_covered():
    made, places = search(
        block((2.0, 1.0), (5, 1)), block((2.0, 1.0), (4, 1), corner=(0.3, 1.0)), dual=True, reach=1.0
    )
    cut = made.segments(places)
    functions = made.gap(cut, places.size).functions.pair.multipliers
    assert set(cut.whole.tolist()) == {True, False}
    assert np.all(functions[cut.whole] == [[2.0, -1.0], [-1.0, 2.0]])
    assert np.all(functions[~cut.whole] == np.eye(2))


def test_slip_of_a_shift_along_the_surface_is_the_shift():
    made, places = search(
        block((4.0, 1.0), (5, 1), corner=(-1.0, 0.0)),
        block((2.0, 1.0), (3, 1), corner=(0.0, 1.0)),
        friction=0.3,
    )
    found = made.pair(places, 0.0, places, 0)
    moved = places.copy()
    moved[made.surface.first :, 0] += 0.01
    expected = 0.01 * np.sign(moved[made.surface.facets[0, 1], 0] - moved[made.surface.facets[0, 0], 0])
    slip = found.slip.value(moved.ravel()) - found.slip.value(places.ravel())
    assert np.allclose(slip, expected, atol=1e-14)


def test_facets_that_turn_away_from_each_other_are_no_partners():
    ring = annulus(0.8, 1.0, (1, 16))
    bodies = [
        Solid(n, m, NeoHooke(1.0, 0.3), density=1.0)
        for n, m in (("one", ring), ("two", ring.moved((2.05, 0))))
    ]
    reference = np.concatenate([body.mesh.nodes for body in bodies])
    made = Mortar(secondary=("one", "outer"), primary=("two", "outer"), reach=5.0)
    (found,) = made.searches(bodies, {"one": 0, "two": len(ring.nodes)}, reference)
    cut = found.segments(reference)
    middle = reference[found.surface.facets[cut.facet]].mean(axis=1)
    other = reference[found.partner.facets[cut.partner]].mean(axis=1) - [2.05, 0.0]
    assert len(cut.facet) > 0
    assert np.all(np.sum(middle * other, axis=1) < 0.0)


def test_what_did_not_move_meets_no_more_however_far_other_nodes_fly():
    ring = annulus(0.8, 1.0, (1, 16))
    made, places = search(ring, ring.moved((2.05, 0.0)), secondary=("up", "outer"), primary=("low", "outer"))
    near, all_round, again = (made.segments(places, *how) for how in ((), (3.0,), (3.0, places)))
    assert len(all_round.facet) > len(near.facet) > 0
    assert np.array_equal(np.stack(again), np.stack(near))


def test_what_moved_deep_into_the_other_body_is_still_met():
    made, places = search(block((2.0, 4.0), (4, 8)), block((2.0, 1.0), (4, 1), corner=(0.0, 4.01)))
    moved = places.copy()
    moved[45:, 1] -= 3.0  # six facets deep, of which three belong to an average without a motion
    assert len(made.segments(moved, 6.0, places).facet) == 4
    assert len(made.segments(moved, 6.0, moved).facet) == 0
