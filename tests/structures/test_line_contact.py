"""Contact along beams: averages, virtual work, pressure back from multipliers, friction patches."""

from itertools import pairwise

import numpy as np
import pytest

from klapper.complementarity import LinearComplementarity, solve
from klapper.mechanics import Contact, FrictionElement, Harmonic, InvalidModel
from klapper.structures import Assembly, Beam, Line, LineContact, Material, Section

STEEL = Material(young=210e9, density=7500.0, shear=81e9)
THIN = Section.rectangle(height=0.01, width=0.02)
BEAM = Beam(1.0, STEEL, THIN, elements=7, degree=4)
W = BEAM.line()


def random_positions(count: int, size: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((count, size))


def fine_mean(q: np.ndarray, start: float, end: float, weight=None) -> float:  # type: ignore[no-untyped-def]
    """Weighted mean of w by Gauss quadrature on the elements, independent of the contact's own rule."""
    places, shares = np.polynomial.legendre.leggauss(12)
    cuts = np.unique(np.concatenate(([start, end], BEAM.mesh.ends, [0.5 * (start + end)])))
    cuts = cuts[(cuts >= start) & (cuts <= end)]
    total = norm = 0.0
    for left, right in pairwise(cuts):
        x = 0.5 * (left + right) + 0.5 * (right - left) * places
        h = np.ones_like(x) if weight is None else weight(x)
        total += 0.5 * (right - left) * np.sum(shares * h * (BEAM.rows(x) @ q))
        norm += 0.5 * (right - left) * np.sum(shares * h)
    return total / norm


def test_dirac_weights_are_collocation() -> None:
    line = LineContact(W, 0.2, 0.8, count=4, gap=0.003)
    x = np.linspace(0.2, 0.8, 4)
    np.testing.assert_allclose([c.normal for c in line.contacts], BEAM.rows(x), atol=1e-14)  # type: ignore[union-attr]
    assert [float(c.gap.value(0.0)) for c in line.contacts] == pytest.approx([0.003] * 4)  # type: ignore[union-attr]
    assert line.names[0] == "line at 0.2 m"


def test_box_averages_are_exact_means() -> None:
    line = LineContact(W, 0.13, 0.78, count=3, weights="box")
    edges = np.linspace(0.13, 0.78, 4)
    for q in random_positions(4, BEAM.size):
        for i, contact in enumerate(line.contacts):
            assert contact.normal @ q == pytest.approx(fine_mean(q, edges[i], edges[i + 1]), rel=1e-11)  # type: ignore[union-attr]


def test_hat_averages_are_exact_means() -> None:
    line = LineContact(W, 0.1, 0.7, count=3, weights="hat")
    q = random_positions(1, BEAM.size)[0]
    expected = fine_mean(q, 0.1, 0.7, lambda x: 1 - np.abs(x - 0.4) / 0.3)
    assert line.contacts[1].normal @ q == pytest.approx(expected, rel=1e-11)  # type: ignore[union-attr]


@pytest.mark.parametrize("weights", ["box", "hat"])
def test_line_load_does_the_work_of_the_multipliers(weights: str) -> None:
    """Waltersberger (3.59): Σ λ_i δg_i = ∫ F_N(x) δw(x) dx for every δq."""
    line = LineContact(W, 0.13, 0.78, count=5, weights=weights)  # type: ignore[arg-type]
    forces = np.array([3.0, 0.0, 1.0, 7.0, 2.0])
    area = line.averaged.area
    pressure = line.line_load(forces)
    assert area.integrate(pressure) == pytest.approx(forces.sum(), rel=1e-12)
    for q in random_positions(5, BEAM.size):
        virtual = sum(f * (c.normal @ q) for f, c in zip(forces, line.contacts, strict=True))  # type: ignore[union-attr]
        assert area.integrate(pressure * (BEAM.rows(area.points[:, 0]) @ q)) == pytest.approx(
            virtual, rel=1e-10
        )


def test_the_line_load_of_a_history_is_that_of_every_time() -> None:
    line = LineContact(W, 0.0, 1.0, count=2, weights="box")
    history = np.array([[1.0, 2.0, 0.0], [0.0, 4.0, 6.0]])
    np.testing.assert_allclose(line.line_load(history, [0.1, 0.9]), [[2.0, 4.0, 0.0], [0.0, 8.0, 12.0]])
    with pytest.raises(InvalidModel, match="Dirac"):
        LineContact(W, 0.0, 1.0, count=2).line_load([1.0, 1.0])


def test_a_gap_is_the_mean_of_the_profile_plus_the_motion_of_the_stop() -> None:
    line = LineContact(-W, 0.0, 1.0, weights="box", count=2, gap=lambda x: x, motion=Harmonic(0.1, 3.0))
    lift = BEAM.position(1.0)
    for contact, mean in zip(line.contacts, (0.25, 0.75), strict=True):
        assert isinstance(contact, Contact)
        assert contact.normal @ lift == pytest.approx(-1.0, rel=1e-12)
        assert float(contact.gap.value(0.5)) == pytest.approx(mean + 0.1 * np.cos(1.5), rel=1e-12)
        assert float(contact.gap.rate(0.5)) == pytest.approx(-0.3 * np.sin(1.5), rel=1e-12)


def laminae() -> Assembly:
    supports = {0.0: "clamped", 1.0: "clamped"}
    beam = Beam(1.0, STEEL, THIN, elements=4, supports=supports)
    return Assembly({"upper": beam, "lower": beam})


def test_contact_between_laminae_is_the_difference_of_rows() -> None:
    both = laminae()
    gap = both.line("upper", "w") - both.line("lower", "w")
    line = LineContact(gap, 0.2, 0.8, count=3, weights="box", name="joint")
    upper = both.parts["upper"]
    assert isinstance(upper, Beam)
    alone = LineContact(upper.line(), 0.2, 0.8, count=3, weights="box")
    for pair, single in zip(line.contacts, alone.contacts, strict=True):
        np.testing.assert_allclose(pair.normal, np.concatenate((single.normal, -single.normal)), atol=1e-14)  # type: ignore[union-attr]


def test_pressed_laminae_share_the_load() -> None:
    """A load on the upper of two equal laminae in full contact is carried by both: half the deflection each."""
    both = laminae()
    single = Beam(1.0, STEEL, THIN, elements=4, supports={0.0: "clamped", 1.0: "clamped"})
    tied = both.tied(*(both.rows("upper", np.linspace(0, 1, 13)) - both.rows("lower", np.linspace(0, 1, 13))))
    load = single.with_line_load(-50.0)
    together = tied.with_load(tied.lifted("upper", load.load.value(0.0))).deflection()
    for part in ("upper", "lower"):
        assert tied.row(part, 0.5) @ together == pytest.approx(
            0.5 * (single.row(0.5) @ load.deflection()), rel=1e-8
        )


def test_static_contact_pressure_carries_the_load() -> None:
    """A beam that lies on a stop along its whole length is not bent: the pressure is the load per length."""
    beam = Beam(
        2.0, STEEL, THIN, elements=20, theory="euler-bernoulli", supports={0.0: "pinned", 2.0: "pinned"}
    )
    line = LineContact(beam.line(), 0.0, 2.0, count=40, weights="box")
    normals = np.array([contact.normal for contact in line.contacts]).T  # type: ignore[union-attr]
    free, flexible = beam.with_line_load(-30.0).deflection(), beam.deflection(normals)
    solution = solve(LinearComplementarity(normals.T @ flexible, normals.T @ free))
    np.testing.assert_allclose(line.line_load(solution.x), 30.0, rtol=1e-5)


def test_friction_patches_take_the_mean_sliding_velocity() -> None:
    """Rigid sliding gives exactly that velocity: the corrected (5.159); limits are the shares of the pressure."""
    line = LineContact(
        Line(lambda x: np.column_stack((np.ones_like(x), 0 * x, 0 * x)), (0.0, 0.6), 0),
        0.0,
        0.6,
        count=3,
        weights="box",
        sliding=Line(lambda x: np.column_stack((0 * x, np.ones_like(x), x)), (0.0, 0.6), 1),
        friction=0.3,
        patches=2,
        name="joint",
    )
    normals = [part for part in line.contacts if isinstance(part, Contact)]
    elements = [part for part in line.contacts if isinstance(part, FrictionElement)]
    assert (len(normals), len(elements)) == (3, 2)
    for element, centre in zip(elements, (0.15, 0.45), strict=True):
        np.testing.assert_allclose(element.tangents, [[0.0, 1.0, centre]], atol=1e-13)
    assert elements[0].shares["joint 0–0.2 m"] == pytest.approx(0.3)
    assert elements[0].shares["joint 0.2–0.4 m"] == pytest.approx(0.15)
    total = sum(share for element in elements for share in element.shares.values())
    assert total == pytest.approx(3 * 0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either count or at"),
        ({"count": 3, "at": [0.1, 0.2]}, "give either count or at"),
        ({"count": 0}, "count is 0"),
        ({"count": 1, "weights": "hat"}, "count is 1"),
        ({"count": 3, "weights": "spline"}, "allowed are 'dirac', 'box' and 'hat'"),
        ({"count": 3, "friction": 0.2}, "friction needs sliding"),
        ({"at": [0.1, 0.3, 2.0]}, "outside the contact area"),
    ],
)
def test_wrong_line_contacts_are_refused(options: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InvalidModel, match=message):
        LineContact(W, 0.1, 0.9, **options)


def test_lines_add_scale_and_stand_side_by_side() -> None:
    other = Beam(1.0, STEEL, THIN, elements=7, degree=4).line("rotation")
    x = np.array([0.05, 0.5])
    np.testing.assert_allclose((W + other.scaled(-2.0)).at(x), W.at(x) - 2 * other.at(x))
    assert W.beside(other).at(x).shape == (2, 2, BEAM.size)
    two = LineContact(W, 0.0, 1.0, count=1, friction=0.1, sliding=W.beside(other))
    element = two.contacts[1]
    assert isinstance(element, FrictionElement)
    assert element.tangents.shape == (2, BEAM.size)


def test_wrong_ranges_and_rows_are_refused() -> None:
    with pytest.raises(InvalidModel, match="expected start < end"):
        LineContact(W, 0.5, 0.5, count=2)
    with pytest.raises(InvalidModel, match=r"expected \(2, n\)"):
        LineContact(Line(lambda x: np.ones(3), (), 1), 0.0, 1.0, count=2)
