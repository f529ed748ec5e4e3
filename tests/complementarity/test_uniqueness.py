"""What solutions leave open: the four-legged table, jammed discs, two-footed blocks, friction cones."""

import numpy as np
import pytest

from klapper.complementarity import (
    Enumeration,
    FrictionalContact,
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
    NotApplicable,
    enumerate_solutions,
    solve,
    uniqueness,
)
from klapper.complementarity.reference_problems import reference_problems, wedged_disc

LEGS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])


def table(load_at=(0.0, 0.0), weight=100.0):
    directions = np.column_stack([np.ones(4), LEGS])
    mobility = np.diag([0.1, 1.0, 1.0])
    force = -weight * np.array([1.0, *load_at])
    return LinearComplementarity(
        directions @ mobility @ directions.T, directions @ mobility @ force, names=["A", "B", "C", "D"]
    )


def test_each_leg_of_a_table_carries_between_nothing_and_half_the_weight():
    report = uniqueness(solve(table()))
    assert report.motion == "unique"
    assert not report.forces.any()
    assert report.lower == pytest.approx(np.zeros(4), abs=1e-9)
    assert report.upper == pytest.approx(np.full(4, 50.0))
    assert report.null_space[:, 0] == pytest.approx([1.0, -1.0, 1.0, -1.0])
    assert "undetermined combination: A - B + C - D" in str(report)


def test_off_centre_load_narrows_the_bounds_in_closed_form():
    """Legs at (±1, ±1), load at (x, y): N = 25 (1 ± x ± y) + s (1, −1, 1, −1); bounds from N ≥ 0."""
    x, y = 0.5, 0.25
    centre = 25.0 * (1 + LEGS @ np.array([x, y]))
    pattern = np.array([1.0, -1.0, 1.0, -1.0])
    low = max(-centre[i] for i in (0, 2))
    high = min(centre[i] for i in (1, 3))
    report = uniqueness(solve(table((x, y))))
    ends = np.sort([centre + low * pattern, centre + high * pattern], axis=0)
    assert report.lower == pytest.approx(ends[0], abs=1e-7)
    assert report.upper == pytest.approx(ends[1], abs=1e-7)


def test_load_above_a_leg_leaves_one_diagonal_pair_in_doubt():
    report = uniqueness(solve(table((1.0, 1.0))))
    assert report.forces.all()
    assert solve(table((1.0, 1.0))).x == pytest.approx([100.0, 0.0, 0.0, 0.0], abs=1e-9)


def test_table_on_three_legs_is_determined():
    problem = table()
    three = LinearComplementarity(problem.matrix[:3, :3], problem.offset[:3])
    report = uniqueness(solve(three))
    assert report.all_unique
    assert str(report) == "The motion is unique. All forces are unique."


def test_block_with_two_feet_knows_only_the_sum_of_friction():
    """Seiwald C29: null vector (1, 0, −1, 0)/√2 in (T_A, N_A, T_B, N_B); bounds ±μN from the friction limits."""
    a, b, m, theta, friction, pull = 0.2, 0.1, 16.0, 1 / 15, 0.1, 2.0
    directions = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [b / 2, -a / 2, b / 2, a / 2]]).T
    flexibility = directions / np.array([m, m, theta])
    load = np.array([pull, -m * 9.81, 0.0])
    contact = FrictionalContact.from_parts(
        flexibility @ directions.T,
        flexibility @ load,
        normal=[1, 3],
        tangential=[0, 2],
        friction=friction,
        normal_names=["A", "B"],
        tangential_names=["A", "B"],
    )
    report = uniqueness(solve(contact))
    assert report.motion == "unique"
    assert report.null_space.shape == (4, 1)
    assert report.null_space[:, 0] == pytest.approx([1.0, 0.0, -1.0, 0.0], abs=1e-9)
    assert report.forces.tolist() == [False, True, False, True]
    normal_a, normal_b = m * 9.81 / 2 - pull * b / (2 * a), m * 9.81 / 2 + pull * b / (2 * a)
    assert [report.lower[1], report.lower[3]] == pytest.approx([normal_a, normal_b], rel=1e-6)
    assert report.lower[0] == pytest.approx(-friction * normal_a, rel=1e-6)
    assert report.upper[0] == pytest.approx(-pull + friction * normal_b, rel=1e-6)


def test_wedged_disc_at_rest_has_unbounded_jamming_forces():
    report = uniqueness(solve(wedged_disc(0.5, 0.9)))
    assert report.motion == "unique"
    assert not report.forces.any()
    assert np.isinf(report.upper[[0, 2]]).all()


def test_wedged_disc_may_rest_or_turn():
    report = uniqueness(solve(wedged_disc(0.5, 1.2)))
    assert report.motion == "not unique"
    assert len(report.motions) == 2
    assert "2 different motions" in str(report)


def test_forces_in_exact_friction_discs_are_bounded_by_the_disc():
    """Two equal spatial contacts side by side under pull p: T_A + T_B = −p with both inside discs of radius ρ.

    The extreme of T_A along the pull is ρ or −p + ρ; across the pull ±√(ρ² − p²/4), where both lie on their rims.
    """
    directions = np.vstack([np.eye(3), np.eye(3)])  # both contacts act on one point mass: normal, t1, t2
    weight, pull, friction = 2.0, 0.3, 0.4
    contact = FrictionalContact(
        directions @ directions.T, directions @ np.array([-weight, pull, 0.0]), friction, names=["A", "B"]
    )
    report = uniqueness(solve(contact))
    assert report.null_space.shape[1] == 3
    # Normal forces share the weight freely: each between 0 and 2; tangential bounds where one carries everything.
    assert report.lower[0] == pytest.approx(0.0, abs=1e-7)
    assert report.upper[0] == pytest.approx(weight, rel=1e-7)
    # Largest transverse force: |T_A| ≤ μ N, |T_B| ≤ μ (W − N), T_A + T_B = (−p, 0): an ellipse with focal distance p
    # and string length μ W, half minor axis √((μW)² − p²)/2.
    assert report.upper[2] == pytest.approx(np.sqrt((friction * weight) ** 2 - pull**2) / 2, rel=1e-6)
    assert report.upper[1] == pytest.approx((friction * weight - pull) / 2, rel=1e-6)
    assert report.lower[1] == pytest.approx(-(friction * weight + pull) / 2, rel=1e-6)


def test_sliding_directions_fix_friction_to_the_normal_force():
    """A sliding contact's friction follows its normal force, so nothing is free although W is singular."""
    directions = np.vstack([np.eye(3), np.eye(3)])
    contact = FrictionalContact(directions @ directions.T, directions @ np.array([-2.0, 5.0, 0.0]), 0.4)
    report = uniqueness(solve(contact))
    assert report.null_space.shape[1] == 1  # share of the normal force only
    assert report.lower[1] == pytest.approx(-0.8, rel=1e-6)
    assert report.upper[1] == pytest.approx(0.0, abs=1e-7)


ENUMERABLE = [
    reference
    for reference in reference_problems()
    if reference.motions and not Enumeration(max_combinations=1 << 12).obstacle(reference.problem)
]


@pytest.mark.parametrize("reference", ENUMERABLE, ids=lambda reference: reference.name)
def test_bounds_agree_with_enumeration(reference):
    """Linear programs on the solution face against the union of all complementary pieces."""
    problem = reference.problem
    report = uniqueness(solve(problem))
    found = enumerate_solutions(problem)
    scale = max(1.0, np.abs(found.lower[np.isfinite(found.lower)]).max(initial=0.0))
    assert report.lower == pytest.approx(found.lower, abs=1e-6 * scale)
    assert report.upper == pytest.approx(found.upper, abs=1e-6 * scale)


def test_a_monotone_problem_may_have_several_motions():
    """A = [[0, 1], [−1, 0]], b = 0: x = (s, 0) gives y = (0, −s): only s = 0; x = (0, s) gives y = (s, 0)."""
    problem = LinearComplementarity([[0.0, 1.0], [-1.0, 0.0]], [0.0, 0.0])
    report = uniqueness(solve(problem))
    assert report.motion == "not unique"
    assert report.upper.tolist() == [0.0, np.inf]


def test_mixed_problem_reports_its_redundant_joint():
    joint = next(reference for reference in reference_problems() if reference.name == "joint counted twice")
    report = uniqueness(solve(joint.problem))
    assert report.motion == "unique"
    assert report.forces.tolist() == [True, True, True, False, False, True]
    assert isinstance(joint.problem, MixedComplementarity)


def test_nonlinear_problems_are_refused():
    cubic = NonlinearComplementarity(lambda x: x**3 - 8.0, lambda x: np.diag(3 * x**2), 1)
    with pytest.raises(NotApplicable, match="linear and contact problems"):
        uniqueness(solve(cubic))
