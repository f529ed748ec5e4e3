"""Rotors over speed, against closed forms of the Jeffcott rotor and the numbers of Waltersberger 5.3.4."""

import numpy as np
import pytest

from klapper.analysis.rotor import (
    campbell,
    centrifugal_deflection,
    clatter_bands,
    clatter_map,
    critical_speeds,
    determinant_parity,
    eigenvalues,
    gravity_resonance_of_pair,
    gravity_resonances,
    gravity_response,
    growth,
    thomson_tait,
    unstable_bands,
)
from klapper.mechanics import InvalidModel
from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel
from klapper.structures.rotating import Rotor, rotating
from klapper.structures.structure import Structure

TAU = 2 * np.pi
MIDDLE = [0.5]


def jeffcott(first: float, second: float, *, internal: float = 0.0, external: float = 0.0) -> Rotor:
    """One mass of 1 kg, frequencies [Hz] in both directions, damping [N s/m] inside and outside, 1 m off the axis."""
    structure = Structure(
        np.eye(2), np.diag([(TAU * first) ** 2, (TAU * second) ** 2]), damping=internal * np.eye(2)
    )
    return rotating(
        structure,
        [[0, 1]],
        translation=[1.0, 0.0],
        eccentricity=[1.0, 0.0],
        external_damping=external * np.eye(2),
    )


def delaminated(split: float, modes: int = 16, drag: float = 1.0, alpha2: float = 0.0) -> DelaminatedModel:
    """Waltersberger Ex. 5.12 (L₂ = 0.1) and 5.13 (0.6)."""
    shaft = DelaminatedBeam(1.0, split, 0.01, 0.01, 0.0075, 210e9, 7500.0)
    return shaft.model(modes, external_damping=drag, material_damping=alpha2)


def aluminium(modes: int = 16, drag: float = 1.0) -> DelaminatedModel:
    """Waltersberger Ex. 5.14, L₂ = 1.6."""
    shaft = DelaminatedBeam(3.0, 1.6, 0.045, 0.04, 0.036, 69e9, 2800.0)
    return shaft.model(modes, external_damping=drag, material_damping=1e-5)


def intact(modes: int = 4) -> Rotor:
    """Ex. 5.11: square, simply supported, undamped, in closed form; frequencies 24, 96, … Hz in both directions."""
    stiffness = (TAU * 24.0 * np.arange(1, modes + 1) ** 2) ** 2
    structure = Structure(np.eye(2 * modes), np.diag(np.tile(stiffness, 2)))
    pairs = np.column_stack([np.arange(modes), modes + np.arange(modes)])
    loads = np.concatenate(
        [(1 - (-1.0) ** np.arange(1, modes + 1)) / np.arange(1, modes + 1), np.zeros(modes)]
    )
    return rotating(structure, pairs, translation=loads)


def test_eigenvalues_of_an_undamped_unequal_pair_are_the_closed_form() -> None:
    """λ² = −(s + Ω²) ± √(4 s Ω² + d²) with s, d the half sum and difference of ω₁², ω₂²."""
    speeds = np.array([3.0, 9.0, 12.0, 30.0])
    first, second, omega = (TAU * 10.0) ** 2, (TAU * 11.0) ** 2, TAU * speeds
    s, d = 0.5 * (first + second), 0.5 * (second - first)
    root = np.sqrt(4 * s * omega**2 + d**2)
    expected = np.sort(np.sqrt(np.stack([s + omega**2 - root, s + omega**2 + root])), axis=0)
    found = np.sort(eigenvalues(jeffcott(10.0, 11.0), speeds).imag, axis=1)[:, 2:]
    np.testing.assert_allclose(found, expected.T, rtol=1e-9)


def test_an_unequal_pair_is_unstable_exactly_between_its_critical_speeds() -> None:
    (band,) = unstable_bands(jeffcott(10.0, 11.0), 0.0, 40.0, samples=20, accuracy=1e-8)
    assert (band.low, band.high) == pytest.approx((10.0, 11.0), abs=1e-6)
    assert band.closed == (True, True)
    assert 10.5 in band
    assert 9.9 not in band
    np.testing.assert_allclose(critical_speeds(jeffcott(10.0, 11.0)), [10.0, 11.0])


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_internal_damping_is_unstable_from_the_classical_limit_on(ratio: float) -> None:
    """A shaft with internal damping d_i is stable up to Ω = ω (1 + d_e/d_i)."""
    (band,) = unstable_bands(jeffcott(10.0, 10.0, internal=2.0, external=2.0 * ratio), 0.0, 60.0, neutral=0.0)
    assert band.low == pytest.approx(10.0 * (1 + ratio), abs=2e-6)
    assert band.closed == (True, False)
    assert band.high == 60.0


def test_an_intact_square_rotor_is_stable_everywhere_and_sags_alike_at_every_speed() -> None:
    """Ex. 5.11: unstable nowhere, double zero at the critical speeds, balanced, sag independent of speed."""
    rotor = intact()
    assert np.all(np.abs(growth(rotor, [5.0, 20.0, 50.0, 90.0, 150.0, 500.0])) < 1e-8 * TAU * 500)
    for critical in (24.0, 96.0):
        assert np.count_nonzero(np.abs(eigenvalues(rotor, [critical])[0]) < 1e-4 * critical) == 2
    assert not centrifugal_deflection(rotor, [30.0]).any()
    sag = np.abs(gravity_response(rotor, [0.0, 12.0, 24.0, 48.0, 100.0, 333.0]))
    expected = np.abs(rotor.gravity_load()[0][:4]) / np.diag(rotor.stiffness.toarray())[:4]
    np.testing.assert_allclose(sag[1:, :4], np.broadcast_to(expected, (5, 4)), rtol=1e-8, atol=1e-15)
    assert all(each.participation < 1e-8 for each in gravity_resonances(rotor, 300.0))


def test_campbell_branches_of_an_equal_pair_are_straight() -> None:
    """In the turning frame Im λ = ±ω ± Ω; branches cross at Ω = ω and stay straight."""
    speeds = np.linspace(0.0, 30.0, 61) + 0.1
    found = campbell(jeffcott(10.0, 10.0), speeds)
    slopes = np.diff(found.eigenvalues.imag, axis=0) / (TAU * np.diff(speeds))[:, None]
    np.testing.assert_allclose(np.abs(slopes), 1.0, rtol=1e-6)
    np.testing.assert_allclose(slopes, np.broadcast_to(slopes[0], slopes.shape), rtol=1e-6)
    np.testing.assert_allclose(np.sort(found.frequencies[-1]), np.array([20.1, 20.1, 40.1, 40.1]), rtol=1e-6)
    assert np.abs(found.growth).max() < 1e-5


def test_gravity_is_in_resonance_with_an_unequal_pair_only() -> None:
    """B32: the response of an unequal pair peaks at ω₁ ω₂/√(2(ω₁² + ω₂²)), that of an equal pair nowhere."""
    expected = gravity_resonance_of_pair(10.0, 13.0)
    rotor = jeffcott(10.0, 13.0, external=1e-3)
    (found,) = gravity_resonances(rotor, 40.0)
    assert found.speed == pytest.approx(expected, rel=1e-6)
    assert found.participation > 0.1
    speeds = np.linspace(0.98, 1.02, 401) * expected
    response = np.abs(gravity_response(rotor, speeds)).sum(axis=1)
    assert speeds[np.argmax(response)] == pytest.approx(expected, rel=1e-4)
    assert response.max() > 100 * response[0]
    assert gravity_resonance_of_pair(10.0, 10.0) == pytest.approx(5.0)
    equal = np.abs(gravity_response(jeffcott(10.0, 10.0, external=1e-3), [1.0, 5.0, 10.0, 20.0]))
    np.testing.assert_allclose(equal, 9.81 / (TAU * 10.0) ** 2, rtol=1e-6)


def test_gravity_response_is_the_steady_motion() -> None:
    """Re(q̂ e^jΩt) satisfies the equations of motion of the system without unbalance, at any time."""
    model = aluminium(8)
    speed, time = 4.7, 0.123
    omega = TAU * speed
    phasor = gravity_response(model.rotor, [speed], gravity=(-3.0, 7.0))[0]
    q, v, a = ((1j * omega) ** k * phasor * np.exp(1j * omega * time) for k in range(3))
    system = model.system(speed, gravity=(-3.0, 7.0))
    steady = model.rotor.load(speed, (0.0, 0.0)).value(0.0)
    np.testing.assert_allclose(system.force(time, q.real, v.real) - steady, a.real, rtol=1e-9, atol=1e-9)


def test_compiled_eigenvalues_are_those_of_lapack() -> None:
    rotor = delaminated(0.6, 20).rotor
    speeds = np.linspace(1.0, 60.0, 40)
    found = eigenvalues(rotor, speeds)
    for i in (0, 13, 39):
        omega, n = TAU * speeds[i], rotor.size
        matrix = np.zeros((2 * n, 2 * n))
        matrix[:n, n:] = np.eye(n)
        matrix[n:, :n] = -(rotor.static_stiffness(speeds[i]) + omega * rotor.circulatory)
        matrix[n:, n:] = -(omega * rotor.gyroscopic + rotor.internal_damping + rotor.external_damping)
        expected = np.linalg.eigvals(matrix)
        distance = np.abs(expected[:, None] - found[i])
        assert distance.min(axis=0).max() < 1e-6
        assert distance.min(axis=1).max() < 1e-6


def test_a_short_delamination_has_the_published_critical_speeds_and_one_unstable_range() -> None:
    """Ex. 5.12: critical speeds, one unstable range between a pair of them, opening and sag (B28, B31)."""
    model = delaminated(0.1)
    rotor = model.rotor
    printed = [23.994, 23.994, 95.579, 95.977, 215.847, 215.949]
    np.testing.assert_allclose(critical_speeds(rotor, up_to=226.0), printed, rtol=3e-5)
    (band,) = unstable_bands(rotor, 1.0, 226.0)
    assert 95.55 < band.low < 95.65
    assert 95.9 < band.high < 96.0
    assert band.largest == pytest.approx(0.57, abs=0.01)
    assert growth(rotor, [10.0, 50.0, 150.0]) == pytest.approx([-0.671] * 3, abs=5e-4)
    found = clatter_map(rotor, model.gap_rows(MIDDLE), [10.0, 50.0, 150.0])
    np.testing.assert_allclose(found.opening[:, 0], [2.55e-7, 6.39e-6, 5.81e-5], rtol=0.005)
    np.testing.assert_allclose(found.amplitude[:, 0], 1.74e-7, rtol=0.03)
    sag = np.abs(gravity_response(rotor, [0.0, 10.0, 100.0, 200.0], model.rows(1, MIDDLE, 1)))
    np.testing.assert_allclose(sag, 3.59e-4, rtol=0.01)
    halves = [each.speed for each in gravity_resonances(rotor, 226.0)]
    pairs = gravity_resonance_of_pair(np.array(printed[::2]), np.array(printed[1::2]))
    assert halves[:3] == pytest.approx(pairs, rel=1e-3)  # 12.0, 47.9 and 107.9 Hz
    critical = critical_speeds(rotor)
    for band in clatter_bands(rotor, model.gap_rows(MIDDLE), 10.0, 226.0):
        assert np.abs(critical - band.low).min() < 1e-4  # only where the unbalance is in resonance
        assert band.high - band.low < 0.1


def test_less_external_damping_leaves_more_unstable_ranges() -> None:
    """Ex. 5.12: d_a = 0.01 adds (215.85, 215.95) Hz; without damping every gap of a critical pair is unstable."""
    weak = unstable_bands(delaminated(0.1, drag=0.01).rotor, 1.0, 226.0)
    assert [round(limit, 2) for band in weak for limit in (band.low, band.high)] == [
        95.58,
        95.98,
        215.85,
        215.95,
    ]
    rotor = delaminated(0.1, drag=0.0).rotor
    limits = [limit for band in unstable_bands(rotor, 1.0, 226.0) for limit in (band.low, band.high)]
    np.testing.assert_allclose(limits, critical_speeds(rotor, up_to=226.0), rtol=1e-6)


def test_a_long_delamination_has_the_published_ranges_and_is_unstable_above() -> None:
    """Ex. 5.13: third critical speed 43.1 Hz, unstable ranges, and never stable above (B28, B31)."""
    model = delaminated(0.6)
    critical = critical_speeds(model.rotor)
    assert critical[2] == pytest.approx(43.082, abs=0.002)
    first, second, third = unstable_bands(model.rotor, 1.0, 70.0)
    assert (first.low, first.high) == pytest.approx((22.83, 23.97), abs=0.03)
    assert (second.low, second.high) == pytest.approx((36.4, 41.85), abs=0.05)
    assert third.low == pytest.approx(43.07, abs=0.03)
    assert third.closed == (True, False)
    few = unstable_bands(delaminated(0.6, 6).rotor, 30.0, 45.0)
    assert few[0].low == pytest.approx(37.0, abs=0.05)
    found = clatter_map(model.rotor, model.gap_rows(MIDDLE), [10.0, 20.0, 33.0, 11.7, 28.75])
    np.testing.assert_allclose(found.opening[:3, 0], [3.82e-4, 2.26e-3, 8.07e-3], rtol=0.005)
    np.testing.assert_allclose(found.amplitude[3:, 0], [6.4e-4, 1.48e-2], rtol=0.02)
    clatter = clatter_bands(model.rotor, model.gap_rows(MIDDLE), 8.0, 35.0)
    stable = [(band.low, band.high) for band in clatter if band.high < first.low or band.low > first.high]
    np.testing.assert_allclose(stable, [(11.57, 11.75), (28.04, 29.27)], atol=0.01)
    slow = centrifugal_deflection(model.rotor, [0.1, 0.2], model.gap_rows(MIDDLE))[:, 0]
    assert slow[1] / slow[0] == pytest.approx(4.0, rel=1e-3)


def test_opening_of_modes_converges_to_that_of_full_elements() -> None:
    """Ex. 5.12 with 16 modes is 7 % short of the static opening; 60 modes are not."""
    full = DelaminatedBeam(1.0, 0.1, 0.01, 0.01, 0.0075, 210e9, 7500.0).model(None, method="fe")
    exact = centrifugal_deflection(full.rotor, [50.0], full.gap_rows(MIDDLE))[0, 0]
    some, many = (
        centrifugal_deflection(model.rotor, [50.0], model.gap_rows(MIDDLE))[0, 0]
        for model in (delaminated(0.1), delaminated(0.1, 60))
    )
    assert many == pytest.approx(exact, rel=2e-3)
    assert some == pytest.approx(0.93 * exact, rel=0.01)


def test_the_aluminium_rotor_has_the_published_frequencies_resonances_and_clatter() -> None:
    """Ex. 5.14: frequencies, unstable ranges, resonances with gravity, clatter (B33)."""
    model = aluminium()
    printed = [10.004, 10.844, 19.841, 35.248, 40.018, 52.835, 79.73, 87.63, 90.04, 100.56, 160.0, 160.07]
    np.testing.assert_allclose(model.frequencies[:12], printed, rtol=1e-4)
    np.testing.assert_allclose(model.frequencies[12:], [163.4, 219.8, 233.9, 250.1], rtol=4e-4)
    bands = unstable_bands(model.rotor, 1.0, 25.0)
    limits = [limit for band in bands for limit in (band.low, band.high)]
    np.testing.assert_allclose(limits, [10.00, 10.84, 16.74, 19.44, 19.84, 25.0], atol=0.01)
    strong = [each.speed for each in gravity_resonances(model.rotor, 16.0) if each.participation > 1e-3]
    np.testing.assert_allclose(strong, [5.22, 13.36], atol=0.01)
    assert gravity_resonance_of_pair(10.004, 10.844) == pytest.approx(5.199, abs=1e-3)
    row = model.gap_rows(MIDDLE)
    opening = clatter_map(model.rotor, row, [4.0, 5.2, 5.5, 8.0]).opening[:, 0]
    np.testing.assert_allclose(opening, [1.25e-3, 2.19e-3, 2.48e-3, 6.09e-3], rtol=0.005)
    slow, resonant = clatter_bands(model.rotor, row, 0.5, 9.5)
    assert slow.high == pytest.approx(3.45, abs=0.02)
    assert slow.closed == (False, True)
    assert (resonant.low, resonant.high) == pytest.approx((5.11, 5.47), abs=0.02)
    (above,) = clatter_bands(model.rotor, row, 12.0, 16.0)
    assert (above.low, above.high) == pytest.approx((12.94, 13.66), abs=0.02)


@pytest.mark.parametrize("split", [0.1, 0.6])
def test_an_odd_number_of_critical_speeds_below_is_unstable(split: float) -> None:
    """B29, (5.168), without external damping; and the count is that of negative eigenvalues of K_stat."""
    rotor = delaminated(split, drag=0.0).rotor
    speeds = np.concatenate([np.linspace(2.0, 226.0, 150), [95.7, 215.9]])
    parity = determinant_parity(rotor, speeds)
    for speed, below in zip(speeds[::25], parity.below[::25], strict=True):
        assert below == np.count_nonzero(np.linalg.eigvalsh(rotor.static_stiffness(speed)) < 0.0)
    assert parity.unstable.any()
    assert np.all(growth(rotor, speeds)[parity.unstable] > 1e-4)


def test_material_damping_alone_is_unstable_above_the_first_critical_speed() -> None:
    """B30: material damping alone is unstable at every speed above the first critical one, and stable below."""
    found = thomson_tait(aluminium(drag=0.0).rotor, np.linspace(0.5, 60.0, 120))
    assert found.applies
    assert found.holds
    assert found.indefinite[-1]
    assert not found.indefinite[0]
    assert not thomson_tait(aluminium().rotor, [5.0]).applies


def test_wrong_speeds_and_rows_are_refused_in_one_sentence() -> None:
    rotor = jeffcott(10.0, 11.0)
    with pytest.raises(InvalidModel, match="0 ≤ low < high"):
        unstable_bands(rotor, 5.0, 5.0)
    with pytest.raises(InvalidModel, match=r"expected \(p, 2\)"):
        clatter_map(rotor, [[1.0, 0.0, 0.0]], [1.0])
    with pytest.raises(InvalidModel, match="speeds have shape"):
        growth(rotor, [[1.0]])
    with pytest.raises(InvalidModel, match="accuracy is 0"):
        unstable_bands(rotor, 1.0, 5.0, accuracy=0.0)
