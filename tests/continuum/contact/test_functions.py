"""Functions of invariants: their derivatives, their values against quadrature, and what they conserve."""

import numpy as np
import pytest

from klapper.continuum.contact.gap_elements import GapElements
from klapper.continuum.contact.mortar_functions import (
    FacetPair,
    MortarGap,
    MortarSlip,
    multiplier_functions,
    slip_coefficients,
)
from klapper.continuum.contact.node_functions import NodeDistance, NodeSlip
from klapper.continuum.elements import element_named

KINDS = [("line2", "line2"), ("line3", "line2"), ("line2", "line3"), ("line3", "line3")]
ENDS = [(True, True), (True, False), (False, True), (False, False)]


def pair(non_mortar, mortar, *, dual=False):
    own = element_named(non_mortar)
    return FacetPair(own, element_named(mortar), multiplier_functions(own, dual=dual))


def nodes(kinds: FacetPair, seed: int, start: bool, end: bool) -> np.ndarray:
    """A facet from about (0, 0) to (1, 0) and a mortar facet below it, overlapping as the ends say."""
    random = np.random.default_rng(seed)
    left, right = (0.25 if start else -0.2), (0.8 if end else 1.3)
    x = [[0.0, 0.0], [1.0, 0.0]] + ([[0.5, 0.02]] if kinds.non_mortar.size == 3 else [])
    y = [[left, -0.1], [right, -0.2]]
    if kinds.mortar.size == 3:
        y.append([0.5 * (left + right) + 0.03, -0.14])
    return (np.array(x + y) + 0.02 * random.standard_normal((kinds.nodes, 2))).ravel()


def single(functions, q: np.ndarray, count: int) -> GapElements:
    places = np.arange(q.size)[None]
    return GapElements(
        functions, places, np.arange(count)[None], np.full((1, count), 0.7), q.size, count, 0.9
    )


def mortar_gap(kinds, start, end, *, dual=False):
    made = pair(*kinds, dual=dual)
    return MortarGap(made, np.array([start]), np.array([end]))


def every_function():
    for kinds in KINDS:
        for start, end in ENDS if kinds == KINDS[0] else ENDS[1:2]:
            for dual in (False, True) if start and not end else (False,):
                functions = mortar_gap(kinds, start, end, dual=dual)
                q = nodes(functions.pair, 3, start, end)
                made = single(functions, q, 2)
                yield f"mortar {kinds} {start} {end} {dual}", made, q
                slip = MortarSlip(functions.pair, slip_coefficients(functions, made.invariants(q)))
                yield f"slip {kinds} {start} {end} {dual}", single(slip, q, 2), q
    q = np.array([0.3, -0.2, 1.1, 0.1, -0.2, 0.15])
    yield "node distance", single(NodeDistance(), q, 1), q
    yield "node slip", single(NodeSlip(np.array([1.3])), q, 1), q


EVERY = [pytest.param(made, q, id=name) for name, made, q in every_function()]


def difference(function, q, spacing=1e-6):
    columns = []
    for j in range(q.size):
        d = np.zeros(q.size)
        d[j] = spacing
        columns.append((function(q + d) - function(q - d)) / (2 * spacing))
    return np.stack(columns, axis=-1)


def moved(q: np.ndarray, seed: int = 0) -> np.ndarray:
    return q + 0.05 * np.random.default_rng(seed).standard_normal(q.size)


@pytest.mark.parametrize("elements, q", EVERY)
def test_slope_is_the_derivative(elements, q):
    assert np.allclose(elements.slope(q).toarray().T, difference(elements.value, q), atol=2e-9)


@pytest.mark.parametrize("elements, q", EVERY)
def test_hessian_is_the_second_derivative(elements, q):
    factor = np.linspace(1.0, 2.0, elements.count)
    by_differences = difference(lambda x: elements.slope(x) @ factor, q)
    assert np.allclose(elements.hessian(q, factor).toarray(), by_differences, atol=5e-8)


@pytest.mark.parametrize("elements, q", EVERY)
@pytest.mark.parametrize("start", [None, 0.0, 0.3])
def test_push_gives_the_difference_exactly(elements, q, start):
    after = moved(q)
    begin = elements.value(q) if start is None else np.full(elements.count, start)
    given = None if start is None else begin
    found = elements.push(q, after, given).T @ (after - q)
    assert np.allclose(found, elements.value(after) - begin, rtol=0, atol=1e-14)


@pytest.mark.parametrize("elements, q", EVERY)
def test_push_has_no_resultant_and_no_moment(elements, q):
    after = moved(q)
    for start in (None, np.zeros(elements.count)):
        push = elements.push(q, after, start).toarray().reshape(-1, 2, elements.count)
        middle = 0.5 * (q + after).reshape(-1, 2)
        moment = np.einsum("a,ak->k", middle[:, 0], push[:, 1]) - np.einsum(
            "a,ak->k", middle[:, 1], push[:, 0]
        )
        assert np.allclose(push.sum(axis=0), 0.0, atol=1e-13)
        assert np.allclose(moment, 0.0, atol=1e-13)


@pytest.mark.parametrize("elements, q", EVERY)
@pytest.mark.parametrize("start", [None, 0.1])
def test_push_slope_is_the_derivative_of_the_push(elements, q, start):
    factor = np.linspace(1.0, 2.0, elements.count)
    given = None if start is None else np.full(elements.count, start)
    after = moved(q)
    by_differences = difference(lambda x: elements.push(q, x, given) @ factor, after)
    assert np.allclose(elements.push_slope(q, after, factor, given).toarray(), by_differences, atol=5e-8)


@pytest.mark.parametrize("elements, q", EVERY)
def test_push_turns_with_the_bodies(elements, q):
    angle, shift = 0.7, np.array([1.0, -2.0])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def carried(x):
        return (x.reshape(-1, 2) @ turn.T + shift).ravel()

    after = moved(q)
    here = elements.push(q, after).toarray().reshape(-1, 2, elements.count)
    there = elements.push(carried(q), carried(after)).toarray().reshape(-1, 2, elements.count)
    assert np.allclose(np.einsum("ij,ajk->aik", turn, here), there, atol=1e-12)


@pytest.mark.parametrize("start, end", ENDS)
@pytest.mark.parametrize("kinds", KINDS)
def test_mortar_gap_equals_quadrature_of_high_order(kinds, start, end):
    functions = mortar_gap(kinds, start, end)
    made = functions.pair
    q = nodes(made, 5, start, end)
    if kinds != ("line2", "line2"):  # straight facets, so that both sides are polynomials of the chord
        x = q.reshape(-1, 2)
        if made.non_mortar.size == 3:
            x[2] = 0.5 * (x[0] + x[1])
        q = x.ravel()
    x = q.reshape(-1, 2)
    own, other = x[: made.non_mortar.size], x[made.non_mortar.size :]
    a = own[1] - own[0]
    length = np.linalg.norm(a)
    out = np.array([a[1], -a[0]]) / length

    def on_own(y):
        return 2 * (y - own[0]) @ a / length**2 - 1

    low = on_own(other[0]) if start else -1.0
    high = on_own(other[1]) if end else 1.0
    points, weights = np.polynomial.legendre.leggauss(12)
    expected = np.zeros(2)
    for eta, weight in zip(points, weights, strict=True):
        xi = 0.5 * ((1 - eta) * low + (1 + eta) * high)
        place = own[0] + 0.5 * (1 + xi) * a
        chord = other[1] - other[0]
        zeta = 2 * ((place - other[0]) @ a) / (chord @ a) - 1
        values = made.non_mortar.values(np.array([[xi]]))[0]
        opposite = made.mortar.values(np.array([[zeta]]))[0] @ other
        gap = (opposite - values @ own) @ out
        expected += weight * 0.25 * (high - low) * length * (made.multipliers @ values) * gap
    found = functions.expand(single(functions, q, 1).invariants(q), curved=False).value[0] * 0.9**2
    assert np.allclose(found, expected, rtol=0, atol=1e-14)


def test_distance_of_a_node_is_that_of_plain_geometry():
    q = np.array([0.3, -0.2, 1.1, 0.1, -0.2, 0.15])
    x, y1, y2 = q.reshape(3, 2)
    a = y2 - y1
    out = np.array([a[1], -a[0]]) / np.linalg.norm(a)
    assert single(NodeDistance(), q, 1).value(q)[0] == pytest.approx(0.7 * (x - y1) @ out / 0.9, abs=1e-14)


@pytest.mark.parametrize("name", ["line2", "line3"])
def test_dual_functions_are_biorthogonal_to_linear_ones(name):
    element = element_named(name)
    points, weights = np.polynomial.legendre.leggauss(4)
    values = element.values(points[:, None])
    linear, dual = (values @ multiplier_functions(element, dual=d).T for d in (False, True))
    assert np.allclose(linear, 0.5 * (1.0 + points[:, None] * [-1.0, 1.0]), atol=1e-14)
    assert np.allclose(np.einsum("g,ga,gb->ab", weights, dual, linear), np.eye(2), atol=1e-14)
