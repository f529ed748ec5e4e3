"""Partners: nearest segments against all pairs, corners with one answer, ends that are open."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.continuum import Mortar, NeoHooke, NodeToSegment, Solid, annulus, block
from klapper.continuum.contact.interface import Interface
from klapper.continuum.contact.node_to_segment import NodeSearch
from klapper.continuum.contact.search import distance_square, nearest_segments, pairs_within
from klapper.continuum.contact.surface import Surface
from klapper.continuum.elements import element_named
from klapper.mechanics import InvalidModel


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), reach=st.floats(0.05, 1.0))
def test_nearest_segments_are_those_of_all_pairs(seed, reach):
    random = np.random.default_rng(seed)
    points, first = random.random((30, 2)), random.random((20, 2))
    second = first + 0.3 * random.standard_normal((20, 2))
    i, j = nearest_segments(points, first, second, reach)
    every = np.array([distance_square(np.tile(x, (20, 1)), first, second) for x in points])
    near = np.flatnonzero(every.min(axis=1) <= reach**2)
    assert np.array_equal(i, near)
    assert np.array_equal(j, every[near].argmin(axis=1))


def test_pairs_within_are_those_of_all_pairs():
    random = np.random.default_rng(4)
    a, b, radius = random.random((40, 2)), random.random((30, 2)), 0.3 * random.random(40)
    i, j = pairs_within(a, b, radius)
    expected = np.argwhere(np.linalg.norm(a[:, None] - b[None], axis=2) <= radius[:, None])
    assert np.array_equal(np.column_stack([i, j]), expected)


def angle(height: float, nodes: list[tuple[float, float]]) -> tuple[NodeSearch, np.ndarray]:
    """Nodes above a surface of two segments that meet at (0, height), its body below."""
    points = np.array([(1.0, 0.0), (0.0, height), (-1.0, 0.0), *nodes])
    surface = Surface("low", "top", np.array([[0, 1], [1, 2]]), element_named("line2"), np.ones((2, 2)))
    count = len(nodes)
    chain = np.column_stack([np.arange(3, 2 + count), np.arange(4, 3 + count)])
    above = Surface("up", "bottom", chain, element_named("line2"), np.ones(chain.shape))
    made = NodeToSegment(secondary=("up", "bottom"), primary=("low", "top"))
    return NodeSearch(made, above, surface, 3.0, 1.0), points


def test_at_a_convex_corner_the_mean_direction_decides():
    search, points = angle(0.5, [(0.05, 1.0), (-0.05, 1.0), (0.6, 0.5), (-0.6, 0.5)])
    node, segment = search.partners(points)
    assert node.tolist() == [0, 1, 2, 3]
    assert segment.tolist() == [0, 1, 0, 1]
    gaps = search.pair(points, 0.0, points, 0).gap.value(points.ravel())
    assert np.all(gaps > 0.0)


def test_in_a_concave_corner_the_nearer_segment_counts():
    search, points = angle(-0.5, [(0.1, -0.2), (-0.1, -0.2)])
    node, segment = search.partners(points)
    assert segment[np.argsort(node)].tolist() == [0, 1]


def test_both_segments_of_a_re_entrant_corner_are_told_whichever_is_nearer():
    """Near (0, −0.5) both lines bound what is outside, on either side of the corner and within the body."""
    search, points = angle(-0.5, [(0.1, -0.2), (-0.1, -0.2), (0.01, -0.6), (0.9, 0.1)])
    one, two = search.in_corners(points, 0.0, points, 0, 100)
    assert one.which.tolist() == [0, 1, 2, 3]
    assert two.which.tolist() == [100, 101, 102]  # the last node is nearer to the open end
    assert one.key[1].tolist() == [0, 0, 0, 0]
    assert two.key[1].tolist() == [1, 1, 1]
    for found, slope in ((one, 0.5), (two, -0.5)):  # the sides are y = ±x/2 − 1/2, the left one drawn on
        expected = (-0.6 - slope * 0.01 + 0.5) / np.hypot(1.0, 0.5)
        assert found.gap.value(points.ravel())[2] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("height", [0.5, 0.0, -1e-9])
def test_convex_and_straight_corners_have_one_segment_for_a_node(height):
    search, points = angle(height, [(0.05, 1.0), (-0.05, 1.0)])
    one, two = search.in_corners(points, 0.0, points, 0, 100)
    assert len(two.which) == 0
    assert one.key[1].tolist() == search.partners(points)[1].tolist()


def test_gap_and_answer_are_continuous_over_a_convex_corner():
    def gap(x: float) -> float:
        search, points = angle(0.2, [(x, 0.4), (9.0, 9.0)])
        return float(search.pair(points, 0.0, points, 0).gap.value(points.ravel())[0])

    assert gap(1e-9) == pytest.approx(gap(-1e-9), abs=1e-8)


def test_beyond_an_open_end_nothing_meets():
    search, points = angle(0.0, [(1.2, 0.1), (0.9, 0.1)])
    assert search.partners(points)[0].tolist() == [1]


def test_nodes_of_one_ring_meet_the_other_only_where_it_is_near():
    ring = annulus(0.8, 1.0, (1, 24))
    meshes = {"one": ring, "two": ring.moved((2.02, 0))}
    one, two = (Solid(n, m, NeoHooke(1.0, 0.3), density=1.0) for n, m in meshes.items())
    offsets = {"one": 0, "two": len(ring.nodes)}
    reference = np.concatenate([one.mesh.nodes, two.mesh.nodes])
    for kind in (NodeToSegment, Mortar):
        (search,) = kind(secondary=("one", "outer"), primary=("two", "outer")).searches(
            [one, two], offsets, reference
        )
        found = search.pair(reference, 0.0, reference, 0)
        angles = np.abs(np.arctan2(*reference[search.surface.nodes[found.which]].T[::-1]))
        assert len(found.which) > 0
        assert angles.max() < 1.2
        assert np.all(found.gap.value(reference.ravel()) > 0.0)


def test_self_contact_pairs_no_node_with_its_own_neighbourhood():
    ring = annulus(0.9, 1.0, (1, 40))
    body = Solid("ring", ring, NeoHooke(1.0, 0.3), density=1.0)
    flat = ring.nodes * [1.0, 0.02]  # squeezed: the inside nearly touches itself
    made: Interface = NodeToSegment(secondary=("ring", "inner"), primary=("ring", "inner"), reach=0.1)
    (search,) = made.searches([body], {"ring": 0}, ring.nodes)
    node, segment = search.partners(flat)
    x = flat[search.surface.nodes[node]]
    y = flat[search.partner.segments[segment]].mean(axis=1)
    middle = np.abs(x[:, 0]) < 0.7
    assert np.count_nonzero(middle) > 10
    assert np.all(x[middle, 1] * y[middle, 1] < 0.0)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"secondary": "ring", "primary": ("b", "top")}, r"secondary is 'ring'; expected \(body, surface\)"),
        ({"secondary": ("a", "top"), "primary": ("b", "top"), "friction": -1.0}, "friction is -1"),
        ({"secondary": ("a", "top"), "primary": ("b", "top"), "reach": 0.0}, "reach is 0"),
        (
            {"secondary": ("a", "top"), "primary": ("b", "top"), "passes": 3},
            "passes is 3; allowed are 1 and 2",
        ),
    ],
)
def test_wrong_interfaces_are_refused(wrong, said):
    with pytest.raises(InvalidModel, match=said):
        NodeToSegment(**wrong)


def test_surfaces_that_are_not_there_are_refused_by_name():
    body = Solid("a", block((1.0, 1.0), (1, 1)), NeoHooke(1.0, 0.3), density=1.0)
    with pytest.raises(InvalidModel, match="no surface 'side'"):
        Mortar(secondary=("a", "side"), primary=("a", "top")).searches([body], {"a": 0}, body.mesh.nodes)
    with pytest.raises(InvalidModel, match="no body 'b'"):
        Mortar(secondary=("b", "top"), primary=("a", "top")).searches([body], {"a": 0}, body.mesh.nodes)
