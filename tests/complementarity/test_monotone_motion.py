"""Uniqueness of the motion where there are too many contact states to try them all, and friction is not symmetric.

The motion of a problem with xᵀA x ≥ 0 is unique or not by its solution face; the answers are known by hand.
"""

import numpy as np
import pytest

from klapper.complementarity import Enumeration, LinearComplementarity, solve, uniqueness
from klapper.complementarity.solution import Solution

MANY = 30


def with_many_stops(matrix, offset, compliance):
    """Beside the problem 30 stops of a compliance, each pressed in by one metre: x = 1/compliance."""
    size = len(offset)
    whole = compliance * np.eye(size + MANY)
    whole[:size, :size] = matrix
    problem = LinearComplementarity(whole, np.concatenate([offset, -np.ones(MANY)]))
    assert Enumeration().obstacle(problem)
    return problem


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6], ids="forces of {} N".format)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_motion_within_bounds_is_not_unique_whatever_the_unit_of_force(size, share):
    """0 ≤ x ⟂ (x₂, 1 − x₁) ≥ 0: x₂ = 0 and any x₁ between 0 and 1, so y₂ = 1 − x₁ is open between 0 and 1."""
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]]) / size
    problem = with_many_stops(skew, [0.0, 1.0], 1.0 / size)
    solution = Solution(problem, size * np.array([share, 0.0, *np.ones(MANY)]), ())
    assert solution.residuals.worst <= 1e-12
    assert uniqueness(solution).motion == "not unique"


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6], ids="forces of {} N".format)
def test_forces_that_move_nothing_leave_the_motion_unique(size):
    """y = (x₁ + x₂ − 1) (1, 1) on two equal stops and a gyroscopic pair held in place: only x₁ + x₂ is known."""
    matrix = np.zeros((4, 4))
    matrix[:2, :2] = 1.0
    matrix[2:, 2:] = [[1.0, 2.0], [-2.0, 1.0]]
    problem = with_many_stops(matrix / size, [-1.0, -1.0, -1.0, -1.0], 1.0 / size)
    report = uniqueness(solve(problem))
    assert report.motion == "unique"
    assert not report.forces[:2].any() and report.forces[2:].all()


def test_a_skew_pair_whose_motion_has_no_bound_is_not_unique():
    """0 ≤ x ⟂ (x₂, −x₁) ≥ 0: x₁ = 0, and x₂ = y₁ is any number."""
    problem = with_many_stops([[0.0, 1.0], [-1.0, 0.0]], [0.0, 0.0], 1.0)
    assert uniqueness(solve(problem)).motion == "not unique"
