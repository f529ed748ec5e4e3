"""Maps of stability and their traced borders against closed forms, other analyses and each other."""

from __future__ import annotations

import numpy as np
import pytest

from klapper.analysis import (
    Stability,
    minimal_coordinates,
    stability,
    stability_map,
    stability_over,
    stationary_state,
)
from klapper.analysis.batched_eigenvalues import quadratic_eigenvalues
from klapper.analysis.borders import bracketed
from klapper.mechanics import Contact, InvalidModel, LinearSystem


def test_a_map_names_verdicts_and_the_border_between_them() -> None:
    def judge(x: float, y: float) -> Stability:
        if x > 2.0:
            raise InvalidModel("no stationary state")
        return stability([[1.0]], [[y]], [[1.0 - x]])

    chart = stability_map(judge, np.linspace(0.3, 2.5, 12), [0.5, 3.0])
    assert chart.boundary == pytest.approx([1.0, 1.0], abs=1e-9)
    assert set(chart.verdict.ravel()) == {"stable", "divergence", "none"}
    assert np.isnan(chart.growth[:, -1]).all()
    assert chart.table("load", "damping").splitlines()[1].split()[:2] == ["0.5", "1"]


def ziegler(load: float, damping: float = 0.0) -> tuple[object, object, object]:
    """Ziegler's double pendulum with masses 2 and 1, unit springs, bars and dampers, under a follower load."""
    return (
        [[3.0, 1.0], [1.0, 1.0]],
        damping * np.array([[2.0, -1.0], [-1.0, 1.0]]),
        [[2.0 - load, load - 1.0], [-1.0, 1.0]],
    )


def test_batches_of_matrices_have_the_eigenvalues_of_each() -> None:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(40, 5, 5))
    mass = root @ root.swapaxes(1, 2) + np.eye(5)
    damping, stiffness = rng.normal(size=(2, 40, 5, 5))
    damping[::3] = 0.0
    values = quadratic_eigenvalues(mass, damping, stiffness)
    for found, *matrices in zip(values, mass, damping, stiffness, strict=True):
        expected = stability(*matrices).eigenvalues
        assert np.abs(np.sort_complex(found) - np.sort_complex(expected)).max() < 1e-10


def test_matrices_and_verdicts_give_the_same_map() -> None:
    x, y = np.linspace(0.5, 3.0, 9), np.linspace(0.0, 0.5, 4)
    fast, slow = (
        stability_map(judge, x, y)
        for judge in (ziegler, lambda load, damping: stability(*ziegler(load, damping)))
    )
    np.testing.assert_allclose(fast.growth, slow.growth, atol=1e-7)
    assert np.array_equal(fast.verdict, slow.verdict)
    np.testing.assert_allclose(fast.boundary, slow.boundary, atol=1e-9)


def test_the_border_of_zieglers_pendulum_is_traced() -> None:
    """41/28 + d²/2 and ω² = 2/7 with damping, 7/2 − √2 without: Herrmann and Jong 1965."""
    chart = stability_map(ziegler, np.linspace(0.5, 3.0, 11), np.linspace(0.05, 1.0, 8))
    (curve,) = chart.curves
    assert (curve.kind, curve.closed) == ("flutter", False)
    load, damping = curve.points.T
    np.testing.assert_allclose(load, 41 / 28 + damping**2 / 2, atol=1e-9)
    np.testing.assert_allclose(curve.angular_frequency, np.sqrt(2 / 7), rtol=1e-8)
    undamped = stability_over(ziegler, np.linspace(0.5, 3.0, 6))
    assert undamped.critical == pytest.approx(3.5 - np.sqrt(2), abs=1e-9)


def test_a_closed_border_is_one_closed_curve() -> None:
    """Damping x² + y² − 1: oscillations grow inside the circle."""
    grid = np.linspace(-1.6, 1.5, 17)
    chart = stability_map(lambda x, y: ([[1.0]], [[x * x + y * y - 1.0]], [[4.0]]), grid, grid)
    (curve,) = chart.curves
    assert (curve.kind, curve.closed) == ("flutter", True)
    np.testing.assert_allclose(np.linalg.norm(curve.points, axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(curve.angular_frequency, 2.0, rtol=1e-6)
    around = np.unwrap(np.arctan2(curve.points[:, 1], curve.points[:, 0]))
    assert abs(around[-1] - around[0]) == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_saddle_is_linked_by_its_middle(sign: float) -> None:
    """Damping ±(x y + 0.01) on a grid of one cell: the branches of the hyperbola pass the middle on the stable side."""
    corners = np.array([-0.5, 0.5])
    chart = stability_map(lambda x, y: ([[1.0]], [[sign * (x * y + 0.01)]], [[4.0]]), corners, corners)
    assert len(chart.curves) == 2
    for curve in chart.curves:
        np.testing.assert_allclose(curve.points.prod(axis=1), -0.01, atol=1e-12)
        assert np.all(np.sign(curve.points) == np.sign(curve.points[0]))


def test_flutter_and_divergence_borders_meet() -> None:
    """s² + y s + (1 − x): divergence beyond x = 1, flutter below y = 0."""
    chart = stability_map(
        lambda x, y: ([[1.0]], [[y]], [[1.0 - x]]), np.linspace(0.0, 2.1, 8), np.linspace(-1.0, 1.2, 9)
    )
    kinds = {curve.kind: curve for curve in chart.curves}
    assert set(kinds) == {"flutter", "divergence"}
    own = ~np.isnan(kinds["flutter"].angular_frequency)
    np.testing.assert_allclose(kinds["flutter"].points[own, 1], 0.0, atol=1e-10)
    own = ~np.isnan(kinds["divergence"].angular_frequency)
    np.testing.assert_allclose(kinds["divergence"].points[own, 0], 1.0, atol=1e-10)


def test_ends_of_existence_are_traced_too() -> None:
    def judge(x: float, y: float) -> tuple[object, object, object]:
        if x + y > 1.0:
            raise InvalidModel("no stationary state")
        return [[1.0]], [[1.0]], [[1.0]]

    chart = stability_map(judge, np.linspace(0.0, 1.0, 6), np.linspace(0.05, 0.95, 5))
    (curve,) = chart.curves
    assert curve.kind == "existence"
    np.testing.assert_allclose(curve.points.sum(axis=1), 1.0, atol=1e-6)


def test_changes_along_one_parameter_are_named() -> None:
    """s² + (x − 1)(x − 2) s + (3 − x): flutter between 1 and 2, divergence from 3 on, nothing beyond 4."""

    def judge(x: float) -> tuple[object, object, object]:
        if x > 4.0:
            raise InvalidModel("no stationary state")
        return [[1.0]], [[(x - 1.0) * (x - 2.0)]], [[3.0 - x]]

    course = stability_over(judge, np.linspace(0.2, 5.0, 13))
    assert [change.kind for change in course.changes] == ["flutter", "flutter", "divergence", "existence"]
    assert [change.at for change in course.changes] == pytest.approx([1.0, 2.0, 3.0, 4.0], abs=1e-10)
    assert [change.angular_frequency for change in course.changes[:3]] == pytest.approx(
        [np.sqrt(2), 1.0, 0.0], abs=1e-5
    )
    assert course.critical == pytest.approx(1.0, abs=1e-10)
    assert "3: stable → divergence" in str(course)


def test_friction_of_a_rigid_contact_makes_two_modes_flutter() -> None:
    """The force of the contact y = 0 is K_yx x + K_yz z, and friction adds μ times that along x: a matrix [a b; c d]
    that depends on μ, unstable from (a − d)² + 4 b c = 0 on."""
    stiffness = np.array([[5.0, 1.0, 1.0], [1.0, 9.0, 3.0], [1.0, 3.0, 6.0]])

    def judge(mu: float) -> Stability:
        belt = Contact(
            "belt", normal=[0.0, 1.0, 0.0], tangents=[1.0, 0.0, 0.0], tangential_rate=-1.0, friction=mu
        )
        system = LinearSystem(np.ones(3), stiffness=stiffness, force=[0.0, -20.0, 0.0], contacts=[belt])
        return minimal_coordinates(stationary_state(system)).stability

    course = stability_over(judge, np.linspace(0.0, 2.0, 21))
    first = np.poly1d([-stiffness[1, 0], stiffness[0, 0] - stiffness[2, 2]])  # a − d over μ
    both = first * first + 4.0 * stiffness[2, 0] * np.poly1d([-stiffness[1, 2], stiffness[0, 2]])
    onset = min(root.real for root in both.roots if abs(root.imag) < 1e-12 and root.real > 0.0)
    assert course.changes[0].kind == "flutter"
    assert course.critical == pytest.approx(onset, abs=1e-9)


def test_free_motions_do_not_count_as_growth() -> None:
    """Two masses on one spring: zero eigenvalues at every parameter, and damping that turns into drive."""
    couple = np.array([[1.0, -1.0], [-1.0, 1.0]])
    course = stability_over(lambda x: (np.eye(2), x * couple, 4.0 * couple), [-1.0, 0.3, 1.0])
    assert [change.at for change in course.changes] == pytest.approx([0.0], abs=1e-10)
    assert course.verdict.tolist() == ["flutter", "stable", "stable"]


def test_bracketing_needs_few_values_where_they_are_smooth() -> None:
    asked = []

    def value(which: np.ndarray, share: np.ndarray) -> np.ndarray:
        asked.append(len(which))
        return np.exp(3 * share) - np.array([2.0, 11.0])[which]

    ends = np.exp([[0.0], [3.0]]) - np.array([2.0, 11.0])
    low, high = bracketed(value, *ends, 1e-12)
    roots = np.log([2.0, 11.0]) / 3
    assert np.all((low <= roots) & (roots <= high))
    assert np.all(high - low <= 1e-12)
    assert len(asked) < 15


@pytest.mark.parametrize("kind", ["map", "course"])
def test_progress_is_counted_in_points(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    seen: list[int] = []
    asked: list[tuple[object, ...]] = []

    class Counter:
        def __enter__(self) -> Counter:
            return self

        def __exit__(self, *error: object) -> None:
            return None

        def count(self, done: int) -> None:
            seen.append(done)

    module = importlib.import_module("klapper.analysis.stability_map")
    monkeypatch.setattr(module, "tally_for", lambda *about: asked.append(about) or Counter())
    loads, drags = np.linspace(0.5, 3.0, 40), np.linspace(0.05, 1.0, 30)
    if kind == "map":
        stability_map(ziegler, loads, drags, progress=True)
    else:
        stability_over(ziegler, loads, progress=True)
    expected = (True, 1200, "points") if kind == "map" else (True, 40, "values")
    assert asked == [expected]
    assert seen[-1] == expected[1]
    assert seen == sorted(seen)
    assert len(seen) > (kind == "map")


@pytest.mark.parametrize("count", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_a_map_of_a_rotor_of_20_modes_takes_seconds(count: int) -> None:
    """Speeds and drags of a delaminated shaft; the border is that of klapper.analysis.rotor."""
    from dataclasses import replace

    from klapper.analysis.rotor import unstable_bands
    from klapper.structures import DelaminatedBeam

    rotor = DelaminatedBeam(1.0, 0.6, 0.01, 0.01, 0.0075, 210e9, 7500.0).model(20, external_damping=1.0).rotor

    def judge(speed: float, drag: float) -> tuple[object, object, object]:
        omega = 2 * np.pi * speed
        return (
            rotor.mass,
            omega * rotor.gyroscopic + rotor.internal_damping + drag * rotor.external_damping,
            rotor.stiffness - omega**2 * rotor.centrifugal + omega * drag * rotor.circulatory,
        )

    chart = stability_map(judge, np.linspace(1.0, 70.0, count), np.linspace(0.3, 3.0, count), neutral=1e-5)
    assert chart.growth.shape == (count, count)
    row = count // 3
    drag = chart.y[row]
    other = replace(
        rotor, external_damping=drag * rotor.external_damping, circulatory=drag * rotor.circulatory
    )
    bands = unstable_bands(other, 1.0, 70.0, neutral=1e-5)
    limits = np.array([end for band in bands for end in (band.low, band.high)])
    assert np.abs(limits - chart.boundary[row]).min() < 1e-5
    assert {curve.kind for curve in chart.curves} <= {"flutter", "divergence"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stability_map(3, [0.0, 1.0], [0.0, 1.0]), "judge is 3"),
        (lambda: stability_map(lambda x, y: 1.0, [0.0, 1.0], [0.0, 1.0]), "judge returned a float"),
        (lambda: stability_map(lambda x, y: 1.0, [1.0, 0.0], [0.0, 1.0]), "two rising values"),
    ],
)
def test_wrong_maps_are_refused_in_one_sentence(call: object, message: str) -> None:
    with pytest.raises(InvalidModel, match=message):
        call()


def test_a_map_is_drawn_with_its_borders() -> None:
    chart = stability_map(ziegler, np.linspace(0.5, 3.0, 11), np.linspace(0.05, 1.0, 8))
    axes = chart.plot(x_name="load", y_name="damping").axes[0]
    assert axes.get_xlabel() == "load"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["onset of flutter"]
