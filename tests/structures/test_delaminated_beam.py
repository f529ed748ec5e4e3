"""Frequencies and modes of the delaminated beam: counted, in closed form, of finite elements, and as published."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq
from scipy.sparse.linalg import splu

from klapper.mechanics import InvalidModel
from klapper.structures.delaminated_beam import DelaminatedBeam
from klapper.structures.delamination_modes import characteristic_matrix

YOUNG, DENSITY = 210e9, 7500.0
CLAMPED = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])  # cos x cosh x = 1


def beam(
    split: float = 0.6, depth: float = 0.0075, width: float = 0.01, **options: object
) -> DelaminatedBeam:
    return DelaminatedBeam(1.0, split, 0.01, width, depth, YOUNG, DENSITY, **options)


TABLE = {
    (0.005, 0.1): (23.994, 95.052, 215.88, 370.06, 598.43, 803.20, 1165.4, 1391.1, 1899.6, 2163.4, 2646.2),
    (0.005, 0.2): (23.991, 89.442, 213.90, 318.39, 563.24, 679.91, 714.62, 1010.1, 1328.1, 1638.9, 1874.2),
    (0.005, 0.4): (23.900, 68.506, 169.98, 178.78, 284.78, 434.57, 468.55, 634.2, 903.6, 918.5, 1127.4),
    (0.005, 0.6): (23.342, 54.446, 75.545, 134.75, 208.24, 252.91, 408.02, 408.24, 565.3, 674.9, 758.3),
    (0.0075, 0.6): (22.814, 43.082, 67.472, 113.64, 166.93, 215.83, 320.98, 344.74, 500.91, 527.62, 675.81),
    (0.0075, 0.1): (23.994, 95.579, 215.85, 377.91, 597.52, 836.59, 1145.2, 1463.2, 1463.4, 1981.2, 2258.5),
}  # Hz, plane 1-3, by depth h and length L₂ of the delamination; of 20/30/30/20 finite elements


@pytest.mark.parametrize(("depth", "split"), TABLE)
def test_both_methods_have_the_published_frequencies(depth: float, split: float) -> None:
    """Waltersberger Ex. 5.9 ff.; semi-analytical and finite elements agree to 0.05 %."""
    exact = beam(split, depth).frequencies(11, plane="1-3")
    elements = beam(split, depth).frequencies(11, plane="1-3", method="fe")
    np.testing.assert_allclose(exact, TABLE[depth, split], rtol=3e-4)
    np.testing.assert_allclose(elements[:10], exact[:10], rtol=5e-4)
    assert np.all(elements >= exact * (1 - 1e-6))  # Rayleigh: elements only stiffen, but for round-off


def test_published_elements_are_met_to_the_printed_digits() -> None:
    found = beam(0.1, 0.005).frequencies(11, plane="1-3", method="fe", elements=(20, 30, 30, 20))
    assert found[[5, 8, 10]].round(1).tolist() == [803.2, 1899.6, 2646.2]


@pytest.mark.parametrize(("split", "first"), [(0.1, 18.98), (0.2, 16.30), (0.4, 13.60), (0.6, 12.46)])
def test_without_coupling_the_first_frequency_is_far_too_low(split: float, first: float) -> None:
    """B26; the second frequency is not affected by the mid-plane delamination's coupling."""
    coupled = beam(split, 0.005).frequencies(2, plane="1-3")
    for method in ("semi-analytical", "fe"):
        loose = beam(split, 0.005, coupling=False).frequencies(2, plane="1-3", method=method)
        assert loose[0] == pytest.approx(first, abs=0.006)
        assert loose[1] == pytest.approx(coupled[1], rel=1e-4)
    assert coupled[0] > 0.97 * 23.994  # hardly drops up to 60 % of the length


def simply_supported(width: float, count: int) -> np.ndarray:
    k = np.arange(1, count + 1)
    return (k * np.pi) ** 2 * np.sqrt(YOUNG * width**2 / (12 * DENSITY)) / (2 * np.pi)


def clamped_lamina(thickness: float, split: float) -> np.ndarray:
    return (CLAMPED / split) ** 2 * np.sqrt(YOUNG * thickness**2 / (12 * DENSITY)) / (2 * np.pi)


@pytest.mark.parametrize("width", [0.01, 0.02])
def test_in_the_plane_of_the_delamination_laminae_bend_alike_or_against_each_other(width: float) -> None:
    """Both laminae bend alike with the intact beam, or against each other between clamped tips."""
    common, relative = simply_supported(width, 6), clamped_lamina(width, 0.6)
    expected = np.sort(np.concatenate([common, relative]))[:8]
    np.testing.assert_allclose(beam(width=width).frequencies(8, plane="2-3"), expected, rtol=1e-11)


def test_a_mid_plane_delamination_breathes_like_a_clamped_lamina() -> None:
    """Sixth mode at L₂ = 0.2: a clamped lamina, 679.9 Hz; the intact parts do not move."""
    model = beam(0.2, 0.005).model(6, plane="1-3")
    assert model.frequencies[5] == pytest.approx(clamped_lamina(0.005, 0.2)[0], rel=1e-11)
    places = np.linspace(0.0, 1.0, 41)
    upper, lower = model.rows(2, places, 1)[:, 5], model.rows(3, places, 1)[:, 5]
    np.testing.assert_allclose(upper, -lower, atol=1e-9 * np.abs(upper).max())
    for intact in (1, 4):
        assert np.abs(model.rows(intact, places, 1)[:, 5]).max() < 1e-9 * np.abs(upper).max()


def clamped_number(k: int) -> float:
    """Root k of cos x cosh x = 1."""
    middle = (k + 0.5) * np.pi
    return brentq(lambda x: np.cos(x) - 1 / np.cosh(x), middle - 0.3, middle + 0.3, xtol=1e-15)


PAIRS = [
    (2, 1),
    (4, 3),
    (5, 1),
    (7, 1),
    (8, 7),
]  # the last lies on bisections that start from the first frequency


@pytest.mark.parametrize(("whole", "lamina"), PAIRS)
@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-8, 4.6e-8, 1e-7, 1e-5])
def test_double_and_nearly_double_frequencies_are_all_found(whole: int, lamina: int, apart: float) -> None:
    """A clamped frequency of the laminae on or beside one of the whole beam: both found, with orthogonal modes."""
    split = clamped_number(lamina) / (whole * np.pi) * (1 + apart)
    count = whole + lamina + 2
    relative = [
        (clamped_number(k) / split) ** 2 * np.sqrt(YOUNG * 1e-4 / (12 * DENSITY)) for k in range(1, 12)
    ]
    expected = np.sort(np.concatenate([simply_supported(0.01, 12), np.array(relative) / (2 * np.pi)]))[:count]
    model = beam(split).model(count, plane="2-3")
    np.testing.assert_allclose(model.frequencies, expected, rtol=1e-10)
    np.testing.assert_allclose(products(model, "mass"), np.eye(count), atol=1e-6)


def test_a_double_frequency_is_found_twice() -> None:
    """A delamination so long that its laminae, clamped, have the second frequency of the whole beam."""
    double = beam(CLAMPED[0] / (2 * np.pi))
    model = double.model(3, plane="2-3")
    np.testing.assert_allclose(model.frequencies[1:], simply_supported(0.01, 2)[1], rtol=1e-10)
    matrix = characteristic_matrix(double.segments, "2-3", 2 * np.pi * model.frequencies[1])
    assert np.count_nonzero(np.linalg.svd(matrix / np.abs(matrix).max(axis=1)[:, None])[1] < 1e-9) == 2
    np.testing.assert_allclose(products(model, "mass"), np.eye(3), atol=1e-9)


@pytest.mark.parametrize("split", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("end", [0.4, 1e-3, 1e-6])
@pytest.mark.parametrize("right", [False, True])
def test_short_segments_do_not_drown_the_beam(split: float, end: float, right: bool) -> None:
    """In the plane 2-3 a delamination that is too short to vibrate by itself changes nothing, wherever it lies."""
    centre = end + 0.5 * split
    found = beam(split, centre=1 - centre if right else centre).frequencies(8, plane="2-3")
    np.testing.assert_allclose(found, simply_supported(0.01, 8), rtol=1e-10)


def test_tiny_end_segments_clamp_the_relative_motion() -> None:
    """Both intact parts are a micrometre: as good as clamped in their relative motion, simply supported together."""
    split = 1 - 2e-6
    expected = np.sort(np.concatenate([simply_supported(0.01, 6), clamped_lamina(0.01, split)]))[:6]
    np.testing.assert_allclose(beam(split).frequencies(6, plane="2-3"), expected, rtol=1e-10)


@pytest.mark.parametrize("split", [1e-5, 1e-4, 1e-3])
def test_a_short_delamination_adds_rotary_inertia(split: float) -> None:
    """Laminae beside the axis swing lengthwise when it turns: Δf/f = −½ Σ ν y² w'² L₂ / ∫ ν w², up to terms in L₂³."""
    k = np.arange(1, 7)
    lever = 0.01 / 4  # of both laminae of a mid-plane delamination
    turning = (k * np.pi * np.cos(0.5 * k * np.pi)) ** 2
    shift = -(lever**2) * turning * split
    found = beam(split, 0.005).frequencies(6, plane="1-3") / simply_supported(0.01, 6) - 1
    assert np.all(np.abs(found - shift) <= 1e-10 + (k * np.pi) ** 2 * split**3)


@pytest.mark.parametrize("split", [1e-6, 1e-4, 1e-3])
def test_a_short_delamination_leaves_the_number_of_frequencies_of_the_intact_beam(split: float) -> None:
    """As many as the intact beam has: bending in both planes, and waves lengthwise between the held ends."""
    length_wise = 0.5 * np.sqrt(YOUNG / DENSITY) * np.arange(1, 6)
    both_planes = np.sort(
        np.concatenate([simply_supported(0.01, 30), simply_supported(0.02, 30), length_wise])
    )
    between = 0.5 * (both_planes[1:] + both_planes[:-1])[np.diff(both_planes) > 0.02 * both_planes[1:]]
    expected = [np.count_nonzero(both_planes < frequency) for frequency in between[:20]]
    assert [beam(split, width=0.02).count_below(frequency) for frequency in between[:20]] == expected


def test_modes_lost_in_round_off_are_refused() -> None:
    with pytest.raises(InvalidModel, match="segment 2 is 1e-06 m long, so short that mode"):
        beam(1e-6).model(16)


FITTING = {
    "16 modes": (beam(0.6, 0.0075), 16),
    "60 modes": (beam(0.6, 0.0075), 60),
    "short delamination": (beam(1e-3, 0.0075), 16),
    "thin lamina": (beam(0.6, 0.0005), 30),
    "near a support": (beam(0.1, 0.003, centre=0.055), 30),
    "nearly all the length": (beam(0.98, 0.005), 30),
    "thick, waves lengthwise": (DelaminatedBeam(1.0, 0.5, 0.1, 0.1, 0.03, YOUNG, DENSITY), 40),
}


@pytest.mark.parametrize("name", FITTING)
def test_fitting_elements_meet_the_semi_analytical_frequencies(name: str) -> None:
    """To 0.05 %, whatever is asked for."""
    some, count = FITTING[name]
    np.testing.assert_allclose(some.frequencies(count, method="fe"), some.frequencies(count), rtol=5e-4)


def test_elements_are_refused_before_rounding_spoils_them() -> None:
    """Elements just long enough still give the first frequency to a tenth of a thousandth; shorter ones are refused."""
    exact = beam(0.6).frequencies(1, plane="1-3")
    with pytest.raises(
        InvalidModel, match=r"4000 finite elements of 0.00015 m in segment 3 .* at most \d+, ask"
    ) as told:
        beam(0.6).frequencies(1, plane="1-3", method="fe", elements=(40, 40, 4000, 40))
    most = int(str(told.value).split("at most ")[1].split(",")[0])
    found = beam(0.6).frequencies(1, plane="1-3", method="fe", elements=(40, 40, most, 40))
    np.testing.assert_allclose(found, exact, rtol=1e-4)
    with pytest.raises(InvalidModel, match="too short for finite elements; use method 'semi-analytical'"):
        beam(1e-4).frequencies(1, method="fe")


def test_a_mirrored_delamination_has_the_same_frequencies() -> None:
    first, second = (beam(0.45, depth).frequencies(20) for depth in (0.003, 0.007))
    np.testing.assert_allclose(first, second, rtol=1e-11)


@settings(max_examples=10)
@given(
    split=st.floats(0.05, 0.9),
    depth=st.floats(0.1, 0.9),
    width=st.floats(0.3, 3.0),
    place=st.floats(0.0, 1.0),
    frequency=st.floats(20.0, 2500.0),
    coupling=st.booleans(),
)
def test_no_frequency_is_missed(
    split: float, depth: float, width: float, place: float, frequency: float, coupling: bool
) -> None:
    """B24: the count is the number of negative eigenvalues of K − ω² M of finite elements, unless one is very close."""
    centre = 0.5 * split + 0.02 + place * (0.96 - split)
    some = beam(split, 0.01 * depth, 0.01 * width, centre=centre, coupling=coupling)
    elements = tuple(max(4, round(40 * part.length)) for part in some.segments)
    rotor = some.model(None, method="fe", elements=elements).rotor
    counts = [
        negative_pivots(rotor.stiffness - (2 * np.pi * factor * frequency) ** 2 * rotor.mass)
        for factor in (0.997, 1.003)
    ]
    assert counts[0] <= some.count_below(frequency) <= counts[1]
    listed = some.frequencies(max(counts[1], 1))
    assert np.count_nonzero(listed < frequency) == some.count_below(frequency)


def negative_pivots(matrix: object) -> int:
    """Number of negative eigenvalues of a sparse symmetric matrix, by Sylvester's law."""
    options = {"SymmetricMode": True}
    factors = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return int(np.count_nonzero(factors.U.diagonal() < 0.0))


def test_both_methods_count_six_frequencies_below_700_hz() -> None:
    """B24 as stated: the count of the finite elements below 700 Hz, the breathing mode at 679.9 Hz among them."""
    model = beam(0.2, 0.005).model(40, plane="1-3", method="fe")
    assert (
        beam(0.2, 0.005).count_below(700.0, plane="1-3") == np.count_nonzero(model.frequencies < 700.0) == 6
    )


def products(model: object, kind: str) -> np.ndarray:
    """Modal mass or stiffness (n, n) by quadrature of the displacement functions, independent of the model's own."""
    points, weights = np.polynomial.legendre.leggauss(200)
    xi = 0.5 * (1 + points)
    total = np.zeros((model.size, model.size))
    for part in model.beam.segments:
        if kind == "mass":
            terms = [(part.line_mass, model.rows(part.number, xi, axis)) for axis in (1, 2, 3)]
        else:
            terms = [(part.bending[axis - 1], model.rows(part.number, xi, axis, 2)) for axis in (1, 2)]
            terms.append((part.axial, model.rows(part.number, xi, 3, 1)))
        for factor, rows in terms:
            total += 0.5 * factor * part.length * rows.T @ (weights[:, None] * rows)
    return total


@pytest.mark.parametrize("split", [0.01, 0.2, 0.6, 0.97])
def test_modes_are_orthogonal_in_mass_and_strain_energy(split: float) -> None:
    model = beam(split, 0.0075, centre=0.5).model(40)
    np.testing.assert_allclose(products(model, "mass"), np.eye(40), atol=1e-8)
    omega = 2 * np.pi * model.frequencies
    np.testing.assert_allclose(products(model, "stiffness") / omega / omega[:, None], np.eye(40), atol=1e-8)


@pytest.mark.parametrize("method", ["semi-analytical", "fe"])
def test_displacements_and_slopes_are_continuous_at_the_tips(method: str) -> None:
    """Displacements and slopes are continuous, and laminae follow a turning tip lengthwise, (5.143)–(5.146)."""
    model = beam(centre=0.45).model(12, method=method)
    for intact, end, start in ((1, 1.0, 0.0), (4, 0.0, 1.0)):
        for number in (2, 3):
            part = model.beam.segments[number - 1]
            for axis in (1, 2):
                for derivative in (0, 1):
                    left = model.row(intact, end, axis, derivative)
                    right = model.row(number, start, axis, derivative)
                    np.testing.assert_allclose(right, left, atol=1e-8 * np.abs(left).max())
            lengthwise = model.row(intact, end, 3) - part.offset * model.row(intact, end, 1, 1)
            np.testing.assert_allclose(model.row(number, start, 3), lengthwise, atol=1e-12)
    for support in (model.row(1, 0.0, 1), model.row(4, 1.0, 3), model.row(1, 0.0, 2)):
        assert np.abs(support).max() < 1e-9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"depth": 0.01}, "below the height"),
        ({"split": 1.0}, "intact parts"),
        ({"split": 0.6, "centre": 0.2}, "reaches beyond"),
        ({"width": 0.0}, "width is 0.0"),
    ],
)
def test_impossible_beams_are_refused(change: dict, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        beam(**change)


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(InvalidModel, match="allowed are 'semi-analytical' and 'fe'"):
        beam().frequencies(3, method="exact")
    with pytest.raises(InvalidModel, match="plane is '1-2'"):
        beam().frequencies(3, plane="1-2")
    with pytest.raises(InvalidModel, match="whole numbers from 1 on"):
        beam().frequencies(0)
    with pytest.raises(InvalidModel, match="modes is 0; allowed are whole numbers from 1 on"):
        beam().model(0, method="fe")
    with pytest.raises(InvalidModel, match="elements is 'many'; allowed are finite numbers"):
        beam().model(3, method="fe", elements="many")
    with pytest.raises(InvalidModel, match="expected four whole numbers"):
        beam().model(3, method="fe", elements=20)
    with pytest.raises(InvalidModel, match="needs their number"):
        beam().model(None)
    with pytest.raises(InvalidModel, match="from 0 to 1"):
        beam().model(4).rows(1, [1.2], 1)
    with pytest.raises(InvalidModel, match="directions 1 to 3"):
        beam().model(4).rows(5, [0.2], 1)
