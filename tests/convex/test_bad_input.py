"""A wrong model is refused when it is built, with a sentence that names the argument."""

import numpy as np
import pytest

from klapper.convex import (
    Ball,
    Box,
    CoulombLaw,
    Disc,
    GeneratedCone,
    HalfSpace,
    Interval,
    Orthant,
    PiecewiseSignal,
    Polyhedron,
    PowerNorm,
    Product,
    Quadratic,
    RegularPolygon,
    Scaled,
    SecondOrderCone,
    Translated,
    mangasarian_fromovitz,
    penalty,
    saturated_friction,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Ball(-1.0), "radius is -1, it must be a finite number >= 0"),
        (lambda: Disc(NAN), "radius is nan, it must be a finite number >= 0"),
        (lambda: Ball(1.0, 0), "dimension is 0, it must be a whole number >= 1"),
        (lambda: Ball(1.0, 2.5), "dimension is 2.5, it must be a whole number >= 1"),
        (lambda: Orthant(-3), "dimension is -3, it must be a whole number >= 1"),
        (lambda: Box([0.0, 2.0], [1.0, 1.0]), "the box is empty: lower.1. = 2 and upper.1. = 1 given"),
        (lambda: Box([0.0], [1.0, 2.0]), r"upper has shape \(2,\), it must have shape \(1\)"),
        (lambda: Box([np.inf], [np.inf]), "the box is empty"),
        (lambda: Box([], []), "the box is empty: no bounds given"),
        (lambda: Interval(NAN, 1.0), "lower contains NaN"),
        (lambda: Interval(2.0, 1.0), "the box is empty"),
        (lambda: RegularPolygon(1.0, 5), "sides is 5, it must be even"),
        (lambda: RegularPolygon(1.0, 0), "sides is 0, it must be a whole number >= 2"),
        (lambda: RegularPolygon(-1.0, 4), "radius is -1"),
        (lambda: RegularPolygon(1.0, 4, NAN), "phase is nan, it must be a finite number$"),
        (lambda: SecondOrderCone(-0.1), "aperture is -0.1, it must be a finite number >= 0"),
        (lambda: SecondOrderCone(0.5, 1), "dimension is 1, it must be a whole number >= 2"),
        (lambda: HalfSpace([0.0, 0.0]), "normal is zero, a half-space must have a direction"),
        (lambda: HalfSpace([1.0], NAN), "offset is nan"),
        (lambda: Polyhedron([[1.0, 0.0], [0.0, 0.0]], [0.0, 0.0]), "column 1 of normals is zero"),
        (
            lambda: Polyhedron([[1.0], [0.0]], [0.0, 0.0]),
            r"offsets has shape \(2,\), it must have shape \(1\)",
        ),
        (lambda: Polyhedron([1.0, 2.0], [0.0]), r"normals has shape \(2,\), it must have shape \(any, any\)"),
        (
            lambda: Polyhedron([[1.0, -1.0]], [-1.0, 0.0]),
            "the polyhedron is empty: the inequalities .* contradict",
        ),
        (lambda: GeneratedCone([[0.0], [0.0]]), "column 0 of generators is zero"),
        (lambda: Translated(Disc(1.0), [1.0]), r"offset has shape \(1,\), it must have shape \(2\)"),
        (lambda: Scaled(Disc(1.0), NAN), "factor is nan"),
        (lambda: Product(()), "factors is empty, a product needs at least one set"),
        (lambda: Quadratic([[1.0, 2.0], [2.0, 1.0]]), "stiffness has smallest eigenvalue -1"),
        (lambda: Quadratic([[1.0, 2.0], [0.0, 1.0]]), "stiffness is not symmetric"),
        (lambda: PowerNorm(1.0, 1.0), "exponent is 1, it must be a finite number > 1"),
        (lambda: saturated_friction(0.0, 1.0), "limit is 0, it must be a finite number > 0"),
        (lambda: penalty(Orthant(1), -1.0), "stiffness is -1, it must be a finite number > 0"),
        (lambda: CoulombLaw(-1.0), "limit is -1"),
        (
            lambda: CoulombLaw(1.0).holds([1.0], [1.0, 2.0]),
            r"velocity has shape \(2,\), it must have shape \(1\)",
        ),
        (
            lambda: CoulombLaw(1.0).holds([1.0], [1.0], form="eighth"),
            "form is 'eighth', it must be one of case_dist",
        ),
        (lambda: PiecewiseSignal([0.0, -1.0], [[0.0], [0.0]]), "times must hold at least one instant"),
        (lambda: PiecewiseSignal([0.0] * 3, [[0.0]] * 3), "times holds an instant three times"),
        (lambda: PiecewiseSignal([0.0], [0.0]), r"values has shape \(1,\)"),
        (lambda: PiecewiseSignal([0.0], [[0.0]]).measure(1.0, 0.0), "start is 1 and end is 0"),
        (lambda: PiecewiseSignal.from_pieces([1.0, 0.0], [lambda t: t]), "breaks must increase strictly"),
        (
            lambda: PiecewiseSignal([0.0], [[0.0]]) + PiecewiseSignal([0.0], [[0.0, 1.0]]),
            "1 and 2 components",
        ),
        (lambda: mangasarian_fromovitz([1.0]), "inequalities has shape"),
        (lambda: mangasarian_fromovitz([[1.0]], [[1.0], [1.0]]), "equalities has shape"),
        (
            lambda: Disc(1.0).project([1.0, 2.0, 3.0]),
            r"point has shape \(3,\), its last axis must have length 2",
        ),
        (lambda: Disc(1.0).project(1.0), r"point has shape \(\), its last axis must have length 2"),
        (lambda: Disc(1.0).contains([NAN, 0.0]), "point contains NaN or an infinite number"),
        (lambda: Disc(1.0).support([1.0]), r"direction has shape \(1,\)"),
        (lambda: Disc(1.0).project([3.0, 0.0], metric=np.eye(3)), r"metric has shape \(3, 3\)"),
        (lambda: Disc(1.0).project([3.0, 0.0], metric=-np.eye(2)), "metric has smallest eigenvalue -1"),
        (lambda: Disc(1.0).project([3.0, 0.0], metric=np.ones((2, 2))), "metric has smallest eigenvalue"),
        (lambda: Disc(1.0).project([3.0, 0.0], metric=[[1.0, 0.5], [0.0, 1.0]]), "metric is not symmetric"),
    ],
)
def test_bad_data_is_refused_with_a_sentence(build, sentence):
    with pytest.raises(ValueError, match=sentence):
        build()


@pytest.mark.parametrize(
    "convex_set",
    [
        Box([-1.0], [1.0]),
        HalfSpace([1.0], 1.0),
        Polyhedron([[1.0]], [1.0]),
        Translated(Disc(1.0), [1.0, 0.0]),
        Product((Disc(1.0), Orthant(1))),
    ],
    ids=str,
)
def test_polar_without_simple_form_is_refused(convex_set):
    with pytest.raises(NotImplementedError, match="has no simple form"):
        convex_set.polar()


def test_sets_cannot_be_changed():
    box = Box([0.0], [1.0])
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 5.0
    with pytest.raises(AttributeError):
        box.lower = np.zeros(1)


def test_a_box_does_not_share_the_array_of_its_maker():
    bounds = np.array([0.0, 0.0])
    box = Box(bounds, [1.0, 1.0])
    bounds[0] = 0.5
    assert box.lower.tolist() == [0.0, 0.0]
