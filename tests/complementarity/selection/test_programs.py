"""Small convex programs: optimality conditions, closed forms of projections, dependent and thin constraints."""

import numpy as np
import pytest

from klapper.complementarity import ComplementarityError
from klapper.complementarity.kernels import quadratic_program as kernel
from klapper.complementarity.selection.discs import Discs
from klapper.complementarity.selection.face import Face


def test_random_programs_with_dependent_rows_meet_their_optimality_conditions() -> None:
    rng = np.random.default_rng(0)
    for trial in range(400):
        n, m = int(rng.integers(1, 9)), int(rng.integers(0, 20))
        equal = int(rng.integers(0, n))
        root = rng.standard_normal((n, n))
        hessian, gradient = root @ root.T + 0.1 * np.eye(n), 3.0 * rng.standard_normal(n)
        rows, inside = rng.standard_normal((equal + m, n)), rng.standard_normal(n)
        if trial % 3 == 0 and m > 3:
            rows[-1], rows[-3] = rows[-2], -rows[-2]
        room = np.concatenate([np.zeros(equal), np.maximum(rng.standard_normal(m), 0.0)])
        offsets = room - rows @ inside
        x, multipliers = np.empty(n), np.empty(equal + m)
        status, _ = kernel.least_quadratic(hessian, gradient, rows, offsets, equal, x, multipliers)
        slack = rows @ x + offsets
        assert status == kernel.SOLVED
        assert hessian @ x + gradient == pytest.approx(rows.T @ multipliers, abs=1e-9)
        assert slack[:equal] == pytest.approx(np.zeros(equal), abs=1e-9)
        assert slack[equal:].min(initial=0.0) >= -1e-10
        assert multipliers[equal:].min(initial=0.0) >= -1e-10
        assert multipliers[equal:] * slack[equal:] == pytest.approx(np.zeros(m), abs=1e-8)


def test_contradictory_rows_are_told() -> None:
    x, multipliers = np.empty(1), np.empty(2)
    rows, offsets = np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0])  # x ≥ 1 and x ≤ −1
    status, _ = kernel.least_quadratic(np.eye(1), np.zeros(1), rows, offsets, 0, x, multipliers)
    assert status == kernel.EMPTY


def unit_disc(rows: np.ndarray | None = None, offsets: np.ndarray | None = None) -> Face:
    """{t in the plane: |t| ≤ 1, rows t + offsets ≥ 0}."""
    disc = Discs(np.eye(2)[None], np.zeros((1, 2)), np.zeros((1, 2)), np.ones(1))
    rows = np.zeros((0, 2)) if rows is None else rows
    return Face(np.zeros(2), np.eye(2), rows, np.zeros(len(rows)) if offsets is None else offsets, disc)


def test_nearest_point_of_a_disc_is_radial() -> None:
    rng = np.random.default_rng(1)
    for target in rng.standard_normal((50, 2)) * 3.0:
        found = unit_disc().nearest(target, np.ones(2))
        assert found == pytest.approx(target / max(np.linalg.norm(target), 1.0), abs=1e-12)


def test_the_nearest_point_of_a_second_order_cone_is_the_closed_form() -> None:
    """|t₁, t₂| ≤ μ t₃: outside the polar cone the projection lies on the surface, in the plane of the axis."""
    mu = 0.5
    cone = Face(
        np.zeros(3),
        np.eye(3),
        np.zeros((0, 3)),
        np.zeros(0),
        Discs(np.eye(2, 3)[None], np.zeros((1, 2)), np.array([[0.0, 0.0, mu]]), np.zeros(1)),
    )
    rng = np.random.default_rng(2)
    for target in rng.standard_normal((60, 3)):
        reach, height = float(np.hypot(*target[:2])), target[2]
        if reach <= mu * height:
            expected = target
        elif mu * reach <= -height:
            expected = np.zeros(3)
        else:
            along = (mu * reach + height) / (1.0 + mu**2)
            expected = np.array([*(target[:2] / reach * mu * along), along])
        assert cone.at(cone.nearest(target, np.ones(3))) == pytest.approx(expected, abs=1e-9)


def test_a_disc_cut_by_a_line_has_the_bounds_of_its_cap() -> None:
    """t₁ + t₂ ≥ 1 leaves the cap of the disc between (1, 0) and (0, 1)."""
    face = unit_disc(np.array([[1.0, 1.0]]), np.array([-1.0]))
    lower, upper = face.ranges()
    assert lower == pytest.approx([0.0, 0.0], abs=1e-9)
    assert upper == pytest.approx([1.0, 1.0], abs=1e-9)
    lowest, highest = face.ranges(np.array([[1.0, 1.0]]))
    assert [lowest[0], highest[0]] == pytest.approx([1.0, np.sqrt(2.0)], abs=1e-9)


def test_a_disc_that_is_touched_by_a_line_is_a_point() -> None:
    face = unit_disc(np.array([[1.0, 0.0]]), np.array([-1.0]))  # t₁ ≥ 1
    assert face.at(face.nearest(np.zeros(2), np.ones(2))) == pytest.approx([1.0, 0.0], abs=1e-9)


def test_two_discs_that_miss_each_other_are_refused() -> None:
    apart = Discs(np.stack([np.eye(2)] * 2), np.array([[0.0, 0.0], [3.0, 0.0]]), np.zeros((2, 2)), np.ones(2))
    face = Face(np.zeros(2), np.eye(2), np.zeros((0, 2)), np.zeros(0), apart)
    with pytest.raises(ComplementarityError, match="No forces"):
        face.ranges()


def test_forces_that_press_against_each_other_have_no_bound() -> None:
    wedge = Face(
        np.ones(2), np.array([[1.0], [1.0]]) / np.sqrt(2.0), np.ones((2, 1)) / np.sqrt(2.0), np.ones(2)
    )
    lower, upper = wedge.ranges()
    assert lower == pytest.approx([0.0, 0.0])
    assert np.all(np.isinf(upper))
    cone = Discs(np.array([[[0.1], [0.0]]]), np.zeros((1, 2)), np.array([[1.0]]), np.ones(1))
    rubbing = Face(wedge.point, wedge.null, wedge.rows, wedge.offsets, cone)
    assert np.all(np.isinf(rubbing.ranges()[1]))
