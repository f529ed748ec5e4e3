"""Beams against closed forms: frequencies, deflections, section forces, orders of convergence."""

import numpy as np
import pytest

from klapper.mechanics import Harmonic, InvalidModel
from klapper.structures import Bar, Beam, Material, Section

STEEL = Material(young=210e9, density=7500.0, shear=81e9)
THICK = Section.rectangle(height=0.05, width=0.03)
EI, GA_S = STEEL.young * THICK.second_moment, 81e9 * 0.05 * 0.03 / 1.2
MASS = STEEL.density * THICK.area

ENDS = {
    "free": ({}, [4.730040744862704, 7.853204624095838]),
    "pinned": ({0.0: "pinned", 1.0: "pinned"}, [np.pi, 2 * np.pi]),
    "clamped": ({0.0: "clamped", 1.0: "clamped"}, [4.730040744862704, 7.853204624095838]),
    "cantilever": ({0.0: "clamped"}, [1.8751040687119611, 4.694091132974175]),
    "guided": ({0.0: "guided", 1.0: "pinned"}, [0.5 * np.pi, 1.5 * np.pi]),
}


def timoshenko_pinned(section: Section, mode: int, length: float = 1.0) -> float:
    """Lower frequency [Hz] of w = sin kx, θ = cos kx with k = n π / L."""
    k = mode * np.pi / length
    shear = 81e9 * section.required("shear_area", "the closed form")
    stiffness = np.array(
        [[shear * k**2, -shear * k], [-shear * k, STEEL.young * section.second_moment * k**2 + shear]]
    )
    inertia = STEEL.density * np.array([section.area, section.second_moment])
    root = 1 / np.sqrt(inertia)
    return float(np.sqrt(np.linalg.eigvalsh(root[:, None] * stiffness * root)[0]) / (2 * np.pi))


@pytest.mark.parametrize("ends", ENDS)
def test_euler_bernoulli_frequencies_are_the_closed_forms(ends: str) -> None:
    supports, coefficients = ENDS[ends]
    beam = Beam(1.0, STEEL, THICK, elements=12, degree=5, theory="euler-bernoulli", supports=supports)
    rigid = 2 if ends == "free" else 0
    expected = np.array(coefficients) ** 2 * np.sqrt(EI / MASS) / (2 * np.pi)
    frequencies = beam.frequencies(rigid + 2)
    assert np.all(frequencies[:rigid] == 0.0)
    np.testing.assert_allclose(frequencies[rigid:], expected, rtol=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 9])
def test_thin_timoshenko_beams_do_not_lock(degree: int) -> None:
    section = Section.rectangle(height=1e-4, width=0.01)
    beam = Beam(1.0, STEEL, section, elements=-(-96 // degree), degree=degree)
    scale = np.sqrt(STEEL.young * section.second_moment / (STEEL.density * section.area)) / (2 * np.pi)
    frequencies = beam.frequencies(3)
    assert frequencies[1] == 0.0
    assert frequencies[2] / scale == pytest.approx(4.730040744862704**2, rel=1e-3 if degree == 1 else 1e-5)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_timoshenko_frequencies_converge_with_twice_the_degree(degree: int) -> None:
    exact = timoshenko_pinned(THICK, 2)
    errors = []
    for elements in (4, 8):
        beam = Beam(
            1.0, STEEL, THICK, elements=elements, degree=degree, supports={0.0: "pinned", 1.0: "pinned"}
        )
        errors.append(abs(beam.frequencies(2)[1] / exact - 1))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * degree, abs=0.4)


@pytest.mark.parametrize(("degree", "order"), [(3, 4), (4, 6)])
def test_hermite_frequencies_converge_with_twice_the_degree_less_one(degree: int, order: int) -> None:
    exact = (3 * np.pi) ** 2 * np.sqrt(EI / MASS) / (2 * np.pi)
    errors = []
    for elements in (6, 12):
        beam = Beam(
            1.0,
            STEEL,
            THICK,
            elements=elements,
            degree=degree,
            theory="euler-bernoulli",
            supports={0.0: "pinned", 1.0: "pinned"},
        )
        errors.append(abs(beam.frequencies(3)[2] / exact - 1))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_high_degree_meets_the_timoshenko_closed_form() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=3, degree=9, supports={0.0: "pinned", 1.0: "pinned"})
    exact = [timoshenko_pinned(THICK, mode) for mode in (1, 2, 3)]
    np.testing.assert_allclose(beam.frequencies(3), exact, rtol=1e-9)


@pytest.mark.parametrize(
    ("second_moment", "printed"),
    [
        (0.01**4 / 12, [27.194, 74.948, 146.89, 242.74, 362.45, 505.98, 673.25, 864.17]),
        (0.02**4 / 12, [108.63, 298.62, 583.09, 958.84, 1423.1]),
    ],
)
def test_the_rocking_beam_has_the_printed_frequencies(second_moment: float, printed: list[float]) -> None:
    """Waltersberger Ex. 5.7, both readings of the cross-section."""
    section = Section(area=0.02**2, second_moment=second_moment, shear_area=0.02**2 / 1.2)
    frequencies = Beam(1.0, STEEL, section, elements=40, degree=3).frequencies(2 + len(printed))
    assert np.all(frequencies[:2] == 0.0)
    np.testing.assert_allclose(frequencies[2:], printed, rtol=4e-5)  # half a unit of the last digit


@pytest.mark.parametrize(
    ("theory", "degree"), [("timoshenko", 2), ("timoshenko", 3), ("timoshenko", 7), ("euler-bernoulli", 3)]
)
def test_cantilever_under_end_load_is_exact(theory: str, degree: int) -> None:
    ends = [0.0, 0.13, 0.5, 1.0]
    beam = Beam(1.0, STEEL, THICK, elements=ends, degree=degree, theory=theory, supports={0.0: "clamped"})  # type: ignore[arg-type]
    q = beam.with_point_load(1.0, -100.0).deflection()
    shear = GA_S if theory == "timoshenko" else np.inf
    x = np.array(ends)
    np.testing.assert_allclose(
        beam.rows(x) @ q, -100 * (x**2 / 2 - x**3 / 6) / EI - 100 * x / shear, atol=1e-14
    )
    np.testing.assert_allclose(beam.rows(x, "rotation") @ q, -100 * (x - x**2 / 2) / EI, atol=1e-14)
    inside = np.array([0.0, 0.2, 0.5, 0.77, 1.0])
    np.testing.assert_allclose(beam.rows(inside, "moment") @ q, -100 * (1 - inside), atol=1e-6)
    np.testing.assert_allclose(beam.rows(inside, "shear") @ q, -100.0, rtol=1e-7)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli"])
def test_a_uniform_load_between_pins_bends_by_the_closed_form(theory: str) -> None:
    degree = 3 if theory == "timoshenko" else 4
    ends = {0.0: "pinned", 1.0: "pinned"}
    beam = Beam(1.0, STEEL, THICK, elements=2, degree=degree, theory=theory, supports=ends)  # type: ignore[arg-type]
    q = beam.with_line_load(-1000.0).deflection()
    shear = 1000 / (8 * GA_S) if theory == "timoshenko" else 0.0
    assert beam.row(0.5) @ q == pytest.approx(-5 * 1000 / (384 * EI) - shear, rel=1e-9)
    x = np.array([0.1, 0.5, 0.8])
    np.testing.assert_allclose(beam.rows(x, "moment") @ q, 1000 * x * (1 - x) / 2, rtol=1e-7)
    np.testing.assert_allclose(beam.rows(x, "shear") @ q, 1000 * (x - 0.5), atol=1e-5)


def test_constant_curvature_is_exact_on_uneven_elements() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=[0.0, 0.07, 0.4, 0.45, 1.0], degree=2, supports={0.0: "clamped"})
    q = beam.with_point_load(1.0, 50.0, "rotation").deflection()
    x = np.linspace(0, 1, 23)
    np.testing.assert_allclose(beam.rows(x) @ q, 50 * x**2 / (2 * EI), atol=1e-15)
    np.testing.assert_allclose(beam.rows(x, "slope") @ q, 50 * x / EI, atol=1e-14)
    np.testing.assert_allclose(beam.rows(x, "moment") @ q, 50.0, rtol=1e-8)
    np.testing.assert_allclose(beam.rows(x, "shear") @ q, 0.0, atol=1e-5)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli"])
def test_rigid_motions_cost_no_energy_and_weigh_their_mass(theory: str) -> None:
    beam = Beam(2.0, STEEL, THICK, elements=3, degree=4, theory=theory)  # type: ignore[arg-type]
    lift, turn = beam.position(1.0), beam.position(lambda x: x - 1.0, 1.0)
    scale = np.abs(beam.stiffness).max()
    assert np.abs(beam.stiffness @ lift).max() < 1e-13 * scale
    assert np.abs(beam.stiffness @ turn).max() < 1e-13 * scale
    rotary = STEEL.density * THICK.second_moment * 2.0 if theory == "timoshenko" else 0.0
    assert lift @ (beam.mass @ lift) == pytest.approx(2 * MASS, rel=1e-13)
    assert turn @ (beam.mass @ turn) == pytest.approx(2 * MASS * 4 / 12 + rotary, rel=1e-12)
    assert beam.with_gravity(9.81).load.value(0.0) @ lift == pytest.approx(-9.81 * 2 * MASS, rel=1e-13)
    assert beam.with_gravity(9.81).load.value(0.0) @ turn == pytest.approx(0.0, abs=1e-9)


def test_supports_may_lie_inside_elements() -> None:
    """Two spans, the middle support inside an element: rows hold it, and both spans rotate alike."""
    aligned = Beam(
        1.0, STEEL, THICK, elements=12, degree=3, supports={0.0: "pinned", 0.5: "pinned", 1.0: "pinned"}
    )
    inside = Beam(
        1.0, STEEL, THICK, elements=5, degree=9, supports={0.0: "pinned", 0.5: "pinned", 1.0: "pinned"}
    )
    np.testing.assert_allclose(inside.row(0.5), 0.0, atol=1e-12)
    # the first antisymmetric mode does not feel the middle support: a single span of half the length
    assert aligned.frequencies(1)[0] == pytest.approx(timoshenko_pinned(THICK, 2), rel=1e-5)
    assert inside.frequencies(1)[0] == pytest.approx(timoshenko_pinned(THICK, 2), rel=1e-5)


def test_a_partial_line_load_has_its_resultant_and_moment() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=3)
    loaded = beam.with_line_load(lambda x: 6 * x, start=0.15, end=0.62)
    lift, turn = beam.position(1.0), beam.position(lambda x: x)
    assert loaded.load.value(0.0) @ lift == pytest.approx(3 * (0.62**2 - 0.15**2), rel=1e-12)
    assert loaded.load.value(0.0) @ turn == pytest.approx(2 * (0.62**3 - 0.15**3), rel=1e-12)


def test_harmonic_and_user_loads_follow_time() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=2)
    harmonic = beam.with_point_load(0.3, Harmonic(10.0, 2.0))
    np.testing.assert_allclose(harmonic.load.value(0.4), 10 * np.cos(0.8) * beam.row(0.3))
    user = beam.with_line_load(2.0, course=lambda t: t**2)
    assert user.load.value(3.0) @ beam.position(1.0) == pytest.approx(18.0, rel=1e-12)


def test_external_damping_takes_the_power_of_a_viscous_line() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=4).with_external_damping(0.5, start=0.3)
    lift, turn = beam.position(1.0), beam.position(lambda x: x)
    assert lift @ (beam.damping @ lift) == pytest.approx(0.5 * 0.7, rel=1e-12)
    assert turn @ (beam.damping @ turn) == pytest.approx(0.5 * (1 - 0.3**3) / 3, rel=1e-12)


def test_uniform_external_damping_of_a_thin_beam_is_proportional_to_mass() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=4, theory="euler-bernoulli").with_external_damping(0.5)
    assert abs(beam.damping - 0.5 / MASS * beam.mass).max() < 1e-15


def test_section_forces_are_taken_from_the_side_asked_for() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=2, supports={0.0: "pinned", 1.0: "pinned"})
    q = beam.with_point_load(0.5, -100.0).deflection()
    assert beam.row(0.5, "shear", "left") @ q == pytest.approx(-50.0, rel=1e-8)
    assert beam.row(0.5, "shear", "right") @ q == pytest.approx(50.0, rel=1e-8)
    assert beam.row(0.5, "moment") @ q == pytest.approx(25.0, rel=1e-8)


def test_positions_must_fit_the_supports() -> None:
    beam = Beam(1.0, STEEL, THICK, elements=4, supports={0.0: "pinned"})
    q = beam.position(lambda x: 0.01 * np.sin(x))
    np.testing.assert_allclose(beam.rows([0.0, 0.3, 1.0]) @ q, 0.01 * np.sin([0.0, 0.3, 1.0]), atol=1e-6)
    with pytest.raises(InvalidModel, match=r"violates the supports by 0\.01"):
        beam.position(0.01)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Beam(-1.0, STEEL, THICK), "length is -1.0; allowed are numbers above 0"),
        (lambda: Beam(1.0, STEEL, THICK, elements=0), "elements is 0"),
        (lambda: Beam(1.0, STEEL, THICK, elements=[0.0, 0.5]), "expected 0 to 1 m"),
        (lambda: Beam(1.0, STEEL, THICK, degree=0), "degree is 0"),
        (lambda: Beam(1.0, STEEL, THICK, degree=2, theory="euler-bernoulli"), "from 3 to 30"),
        (lambda: Beam(1.0, STEEL, THICK, theory="rayleigh"), "theory is 'rayleigh'"),
        (lambda: Beam(1.0, Material(1e9, 1e3), THICK), "no shear modulus"),
        (lambda: Beam(1.0, STEEL, Section(1e-4, 1e-9)), "no shear_area"),
        (lambda: Beam(1.0, STEEL, THICK, supports={0.0: "glued"}), "allowed are pinned, clamped, guided"),
        (lambda: Beam(1.0, STEEL, THICK, supports={1.5: "pinned"}), r"no point at 1\.5 m"),
        (lambda: Beam(1.0, STEEL, THICK).row(0.5, "stress"), "a beam has no 'stress'"),
        (lambda: Beam(1.0, STEEL, THICK).row(0.5, "w", "above"), "side is 'above'"),
        (lambda: Beam(1.0, STEEL, THICK).with_line_load(1.0, start=0.5, end=0.2), "start < end"),
        (lambda: Beam(1.0, STEEL, THICK).with_external_damping(-1.0), "allowed are numbers from 0 on"),
        (lambda: Material(young=0.0, density=1.0), "young is 0.0"),
        (lambda: Section(area=-1.0, second_moment=1.0), "area is -1.0"),
        (lambda: Material.isotropic(1e9, 0.7, 1e3), "poisson is 0.7"),
    ],
)
def test_wrong_beams_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidModel, match=message):
        build()


def test_sections_have_the_torsion_constants_of_saint_venant() -> None:
    square = Section.rectangle(0.02, 0.02)
    assert square.torsion_constant == pytest.approx(0.140577 * 0.02**4, rel=1e-5)  # Saint-Venant
    thin = Section.rectangle(0.1, 0.001)
    assert thin.torsion_constant == pytest.approx(0.1 * 0.001**3 / 3 * (1 - 0.63 * 0.01), rel=1e-4)
    circle = Section.circle(0.1)
    assert circle.polar_second_moment == pytest.approx(np.pi * 0.1**4 / 32)


def test_bar_frequencies_converge_with_twice_the_degree() -> None:
    steel = Material(young=200e9, density=8000.0)  # 5000 m/s
    for degree in (1, 2):
        errors = []
        for elements in (4, 8):
            bar = Bar(1.0, steel, 1e-4, elements=elements, degree=degree, fixed=[0.0])
            errors.append(bar.frequencies(2)[1] / 3750.0 - 1)
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * degree, abs=0.2)
    free = Bar(1.0, steel, 1e-4, elements=10, degree=4)
    np.testing.assert_allclose(free.frequencies(3), [0.0, 2500.0, 5000.0], rtol=1e-8)


def test_a_bar_stretches_under_its_own_weight_by_the_closed_form() -> None:
    steel = Material(young=200e9, density=8000.0)
    bar = Bar(2.0, steel, 1e-4, elements=3, degree=2, fixed=[0.0])
    q = bar.with_line_load(9.81 * 8000 * 1e-4).deflection()
    x = np.array([0.0, 0.5, 2.0])
    np.testing.assert_allclose(bar.rows(x) @ q, 9.81 * 8000 * (2 * x - x**2 / 2) / 200e9, atol=1e-18)
    np.testing.assert_allclose(bar.rows(x, "normal") @ q, 9.81 * 0.8 * (2 - x), atol=1e-9)
    with pytest.raises(InvalidModel, match="allowed are u and normal"):
        bar.row(0.0, "w")
