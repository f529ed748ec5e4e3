"""Friction laws: coefficients, the ellipse as a scaled disc, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.complementarity import FrictionalContact, solve
from klapper.mechanics import Anisotropic, Coulomb, Friction, InvalidModel, SpeedDependent, Stribeck
from klapper.mechanics.friction import as_friction


def test_stribeck_falls_from_static_to_dynamic() -> None:
    law = Stribeck(0.5, 0.2, speed=0.1, exponent=2.0)
    assert law.coefficient(0.0) == 0.5
    assert law.coefficient(0.1) == pytest.approx(0.35)  # half way at the Stribeck speed
    assert law.coefficient(1e6) == pytest.approx(0.2)
    speeds = np.linspace(0.0, 1.0, 50)
    assert np.all(np.diff([law.coefficient(s) for s in speeds]) < 0.0)
    assert law.coefficient(-0.1) == law.coefficient(0.1)
    assert not law.constant


def test_laws_are_made_from_what_is_given() -> None:
    law = Stribeck(0.5, 0.2, 0.1)
    assert as_friction(law) is law
    assert as_friction(0.3) == Coulomb(0.3)
    assert as_friction(lambda s: 0.1 + s).coefficient(0.2) == pytest.approx(0.3)
    assert isinstance(as_friction(lambda s: 0.1), SpeedDependent)
    for made in (Coulomb(0.1), Anisotropic(0.1, 0.2), law, SpeedDependent(lambda s: 0.1)):
        assert isinstance(made, Friction)
    assert Anisotropic(0.2, 0.3).ratio == pytest.approx(1.5)
    assert Anisotropic(0.2, 0.3).coefficient(1.0) == 0.2


@settings(max_examples=60)
@given(st.floats(0.05, 2.0), st.floats(0.05, 2.0), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 5.0))
def test_the_scaled_disc_is_the_elliptic_law(
    mu_1: float, mu_2: float, v_1: float, v_2: float, load: float
) -> None:
    """With λ₂ = r λ̃₂, ṽ₂ = r v₂ the disc answer meets −v ∈ N_E(λ) of the ellipse: it maximises dissipation on E."""
    ratio = Anisotropic(mu_1, mu_2).ratio
    scale = np.array([1.0, ratio])
    mass = np.array([1.0, 0.7])
    # one contact pressed with a known normal impulse, tangential motion of two masses
    tangential = np.diag(scale) @ np.diag(1.0 / mass) @ np.diag(scale)
    delassus = np.zeros((3, 3))
    delassus[0, 0], delassus[1:, 1:] = 1.0, tangential
    free = np.concatenate([[-load], scale * [v_1, v_2]])
    solution = solve(FrictionalContact(delassus, free, mu_1, dimension=3), tolerance=1e-12)
    impulse = solution.x[1:] * scale
    after = np.array([v_1, v_2]) + impulse / mass
    radius = np.array([mu_1, mu_2]) * load
    assert np.hypot(*(impulse / radius)) <= 1.0 + 1e-9
    # support function of the ellipse: the most that friction can dissipate at this sliding velocity
    most = np.hypot(*(radius * after))
    assert -impulse @ after == pytest.approx(most, abs=1e-9 * (1.0 + np.hypot(v_1, v_2) * load))


BAD = {
    "negative": lambda: Coulomb(-0.1),
    "nan": lambda: Coulomb(np.nan),
    "infinite": lambda: Coulomb(np.inf),
    "first direction smooth": lambda: Anisotropic(0.0, 0.3),
    "second negative": lambda: Anisotropic(0.1, -0.3),
    "static negative": lambda: Stribeck(-0.1, 0.2, 0.1),
    "dynamic nan": lambda: Stribeck(0.1, np.nan, 0.1),
    "Stribeck speed zero": lambda: Stribeck(0.3, 0.2, 0.0),
    "Stribeck speed nan": lambda: Stribeck(0.3, 0.2, np.nan),
    "exponent negative": lambda: Stribeck(0.3, 0.2, 0.1, -1.0),
    "list": lambda: as_friction([0.1, 0.2]),
    "text": lambda: as_friction("rough"),
    "number as text": lambda: as_friction("0.3"),
    "none": lambda: as_friction(None),
    "Coulomb text": lambda: Coulomb("rough"),
    "Stribeck text": lambda: Stribeck(0.3, 0.2, "slow"),
    "Stribeck speed infinite": lambda: Stribeck(0.3, 0.2, np.inf),
    "function of two arguments": lambda: as_friction(lambda speed, force: 0.1),
    "function of texts": lambda: as_friction(lambda speed: "rough"),
    "function below zero at rest": lambda: as_friction(lambda speed: speed - 0.1),
    "function below zero": lambda: SpeedDependent(lambda s: -0.1).coefficient(0.5),
    "function not finite": lambda: SpeedDependent(lambda s: np.inf).coefficient(0.5),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_laws_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InvalidModel) as caught:
        BAD[name]()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
