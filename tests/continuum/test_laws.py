"""Hyperelastic laws: stress and tangent are derivatives, small strains are Hooke's, plane stress is free of stress."""

import numpy as np
import pytest

from klapper.continuum import MooneyRivlin, NeoHooke, PlaneStress, SaintVenantKirchhoff
from klapper.continuum.laws import determinant, inverse
from klapper.continuum.voigt import embedded, from_strain_like, from_stress_like, strain_like
from klapper.mechanics import InvalidModel

LAWS = [
    SaintVenantKirchhoff(210.0, 0.3),
    NeoHooke(210.0, 0.3),
    MooneyRivlin(210.0, 0.3, share=0.4),
    PlaneStress(NeoHooke(210.0, 0.3)),
    PlaneStress(SaintVenantKirchhoff(210.0, 0.3)),
]
CASES = [(law, d) for law in LAWS for d in (2, 3) if d == 2 or not isinstance(law, PlaneStress)]


def some_metrics(d: int, count: int = 6) -> np.ndarray:
    gradient = np.eye(d) + 0.2 * np.random.default_rng(d).standard_normal((count, d, d))
    return strain_like(np.einsum("pki,pkj->pij", gradient, gradient))


@pytest.mark.parametrize(("law", "d"), CASES)
def test_stress_and_tangent_are_derivatives(law, d: int) -> None:
    metric = some_metrics(d)
    stress, tangent = law.stress(metric), law.tangent(metric)
    for a in range(metric.shape[1]):
        unit = 1e-6 * np.eye(metric.shape[1])[a]
        energy = (law.energy(metric + unit) - law.energy(metric - unit)) / 2e-6
        np.testing.assert_allclose(stress[:, a], 2.0 * energy, rtol=1e-7, atol=1e-6)
        change = (law.stress(metric + unit) - law.stress(metric - unit)) / 2e-6
        np.testing.assert_allclose(tangent[:, :, a], 2.0 * change, rtol=1e-6, atol=2e-5)


@pytest.mark.parametrize("law", LAWS[:3])
@pytest.mark.parametrize("d", [2, 3])
def test_no_stress_at_rest_and_hooke_at_small_strains(law, d: int) -> None:
    rest = strain_like(np.eye(d)[None])
    np.testing.assert_allclose(law.stress(rest), 0.0, atol=1e-12)
    np.testing.assert_allclose(law.energy(rest), 0.0, atol=1e-12)
    one = rest[0]
    hooke = law.lame * np.outer(one, one) + law.shear * np.diag(np.where(one > 0, 2.0, 1.0))
    np.testing.assert_allclose(law.tangent(rest)[0], hooke, atol=1e-10)


def test_plane_stress_is_hooke_of_plates_at_small_strains() -> None:
    law = PlaneStress(NeoHooke(210.0, 0.3))
    rest = strain_like(np.eye(2)[None])
    plate = 210.0 / (1 - 0.09) * np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.35]])
    np.testing.assert_allclose(law.tangent(rest)[0], plate, rtol=1e-10)


@pytest.mark.parametrize("law", LAWS[3:])
def test_plane_stress_leaves_no_stress_across(law) -> None:
    metric = some_metrics(2)
    across = law.law.stress(law.in_space(metric))[:, 2]
    np.testing.assert_allclose(across, 0.0, atol=1e-10)


def test_plane_strain_is_the_law_of_space_with_no_strain_across() -> None:
    for law in LAWS[:3]:
        metric = some_metrics(2)
        full = embedded(metric)
        np.testing.assert_allclose(law.energy(metric), law.energy(full), rtol=1e-12)
        np.testing.assert_allclose(law.stress(metric), law.stress(full)[:, (0, 1, 3)], rtol=1e-12)


@pytest.mark.parametrize("d", [2, 3])
def test_determinant_and_inverse_are_those_of_the_matrix(d: int) -> None:
    metric = some_metrics(d)
    matrix = from_strain_like(metric)
    np.testing.assert_allclose(determinant(metric), np.linalg.det(matrix), rtol=1e-12)
    np.testing.assert_allclose(from_stress_like(inverse(metric)), np.linalg.inv(matrix), rtol=1e-10)


def test_mooney_rivlin_without_its_second_term_is_neo_hooke() -> None:
    metric = some_metrics(3)
    first, second = MooneyRivlin(50.0, 0.4, share=0.0), NeoHooke(50.0, 0.4)
    np.testing.assert_allclose(first.stress(metric), second.stress(metric), rtol=1e-12)


def test_bad_constants_are_refused() -> None:
    with pytest.raises(InvalidModel, match="young is 0"):
        NeoHooke(0.0, 0.3)
    with pytest.raises(InvalidModel, match=r"poisson is 0\.5"):
        SaintVenantKirchhoff(1.0, 0.5)
    with pytest.raises(InvalidModel, match=r"share is 0\.9"):
        MooneyRivlin(1.0, 0.2, share=0.9)
