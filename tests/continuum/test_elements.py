"""Elements: shape functions, quadrature, facets."""

import numpy as np
import pytest

from klapper.continuum.elements import ELEMENTS, element_named
from klapper.mechanics import InvalidModel

SOLIDS = [element for element in ELEMENTS.values() if element.facet]


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=lambda e: e.name)
def test_shape_functions_are_one_at_their_node_and_sum_to_one(element) -> None:
    np.testing.assert_allclose(element.values(element.nodes), np.eye(element.size), atol=1e-13)
    points = np.random.default_rng(1).uniform(0.0, 0.3, (7, element.dimension))
    np.testing.assert_allclose(element.values(points).sum(axis=1), 1.0, atol=1e-13)
    np.testing.assert_allclose(element.gradients(points).sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=lambda e: e.name)
def test_gradients_are_those_of_the_values(element) -> None:
    points = np.random.default_rng(2).uniform(0.0, 0.3, (5, element.dimension))
    found = element.gradients(points)
    for i, unit in enumerate(np.eye(element.dimension)):
        difference = (element.values(points + 1e-6 * unit) - element.values(points - 1e-6 * unit)) / 2e-6
        np.testing.assert_allclose(found[:, :, i], difference, atol=1e-8)


def monomial_integral(name: str, exponents: np.ndarray) -> float:
    """Over the reference cell: [−1, 1]^d, or the corner of the unit cube cut off by Σ ξ = 1."""
    from math import factorial, prod

    if name.startswith("t"):
        return prod(factorial(int(a)) for a in exponents) / factorial(int(exponents.sum()) + len(exponents))
    return prod(0.0 if a % 2 else 2.0 / (a + 1) for a in exponents)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_the_mass_rule_integrates_products_of_shape_functions(element) -> None:
    points, weights = element.mass
    for first in element.exponents:
        for second in element.exponents:
            total = first + second
            found = weights @ np.prod(points**total, axis=1)
            assert found == pytest.approx(monomial_integral(element.name, total), abs=1e-12)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_facets_enclose_the_cell(element) -> None:
    """∮ x · n da = d · volume: only with all facets running outwards."""
    facet = element_named(element.facet)
    points, weights = facet.mass
    total = 0.0
    for nodes in element.facets:
        corners = element.nodes[nodes]
        place = facet.values(points) @ corners
        along = np.einsum("ki,gka->gia", corners, facet.gradients(points))
        if element.dimension == 2:
            normal = np.column_stack([along[:, 1, 0], -along[:, 0, 0]])
        else:
            normal = np.cross(along[..., 0], along[..., 1])
        total += weights @ np.einsum("gi,gi->g", place, normal)
    assert total == pytest.approx(element.dimension * element.mass[1].sum(), rel=1e-12)


def test_an_unknown_element_is_refused() -> None:
    with pytest.raises(InvalidModel, match="'hex20'; allowed are line2"):
        element_named("hex20")
