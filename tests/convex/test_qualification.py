"""Constraint qualifications on examples whose answer is known by hand."""

import numpy as np
import pytest

from klapper.convex import Orthant, constraint_cones, linearly_independent, mangasarian_fromovitz

from .catalogue import draw


def test_squared_constraint_is_not_qualified():
    """(A.61): C = {x : -x² ≥ 0} = {0}, the gradient at 0 vanishes; N_C is R, the formula would give {0}."""
    outcome = mangasarian_fromovitz([[0.0]])
    assert not outcome.holds and outcome.margin == 0.0
    with pytest.raises(ValueError, match="fail the Mangasarian-Fromovitz test"):
        constraint_cones([[0.0]])


def test_independent_gradients_are_qualified():
    for seed in range(10):
        gradients = draw(5, 3, seed).T
        assert linearly_independent(gradients)
        outcome = mangasarian_fromovitz(gradients[:, :2], gradients[:, 2:])
        assert outcome.holds
        assert np.all(gradients[:, :2].T @ outcome.direction > 0.0)
        assert abs(gradients[:, 2] @ outcome.direction) < 1e-9


def test_dependent_inequalities_can_be_qualified():
    """Four edges of a pyramid in R³ are dependent, but one direction opens them all."""
    edges = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])
    assert not linearly_independent(edges)
    assert mangasarian_fromovitz(edges).holds


def test_opposite_inequalities_are_not_qualified():
    """x ≥ 0 and -x ≥ 0: a clamped body, whose two forces can grow together without bound."""
    assert not mangasarian_fromovitz([[1.0, -1.0]]).holds


def test_repeated_equality_is_not_qualified():
    assert not mangasarian_fromovitz(np.zeros((2, 0)), [[1.0, 2.0], [1.0, 2.0]]).holds
    assert mangasarian_fromovitz(np.zeros((2, 0)), [[1.0, 0.0], [1.0, 2.0]]).holds


def test_inequality_along_an_equality_is_not_qualified():
    assert not mangasarian_fromovitz([[1.0], [0.0]], [[1.0], [0.0]]).holds


def test_scale_of_a_gradient_does_not_matter():
    assert mangasarian_fromovitz([[1e-12, 1.0], [1e-12, 0.0]]).holds
    assert linearly_independent([[1e-12, 1.0], [1e-12, 0.0]])


def test_gradients_at_a_corner_give_the_cones_of_the_orthant():
    """The corner of the orthant, once as constraint gradients and once as a set."""
    tangent, normal = constraint_cones(np.eye(2))
    for direction in draw(2, 60, seed=1):
        assert tangent.contains(direction) == Orthant(2).in_tangent_cone([0.0, 0.0], direction)
        assert normal.contains(direction) == Orthant(2).in_normal_cone([0.0, 0.0], direction)


def test_on_a_curve_tangents_lie_along_it_and_normals_across():
    """Unit circle as equality at (0, 1): tangents along x, normals along y, both ways."""
    tangent, normal = constraint_cones(np.zeros((2, 0)), [[0.0], [2.0]])
    assert tangent.contains([3.0, 0.0]) and tangent.contains([-3.0, 0.0]) and not tangent.contains([3.0, 0.1])
    assert normal.contains([0.0, 3.0]) and normal.contains([0.0, -3.0]) and not normal.contains([0.1, 3.0])
