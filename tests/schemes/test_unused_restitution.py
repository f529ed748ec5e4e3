"""A restitution that a method does not use is refused, or said not to be used."""

from typing import Any

import numpy as np
import pytest

import klapper.simulation
from klapper.analysis import follow_harmonic, harmonic_response
from klapper.mechanics import CompliantNormal, Contact, Harmonic, InvalidModel, LinearSystem
from klapper.schemes import (
    CentralDifference,
    EnergyMomentum,
    GeneralisedAlpha,
    Newmark,
    PenaltyContact,
    Regularised,
)
from klapper.simulation import simulate


def mass(restitution: float, **more: Any) -> LinearSystem:
    stop = Contact("stop", normal=[-1.0], gap=0.5, restitution=restitution)
    return LinearSystem([1.0], stiffness=[1.0], damping=[0.2], contacts=[stop], **more)


@pytest.mark.parametrize(
    "scheme",
    [
        EnergyMomentum(1e-2),
        Newmark(1e-2, contact=PenaltyContact(1e4)),
        GeneralisedAlpha(1e-2, contact=PenaltyContact(1e4)),
        CentralDifference(1e-4, contact=PenaltyContact(1e4)),
    ],
    ids=lambda scheme: scheme.name,
)
def test_steps_that_use_no_restitution_refuse_it(scheme: Any) -> None:
    with pytest.raises(
        InvalidModel, match=r"restitution of the model, e\.g\. 0\.5 at 'stop', is not used.*EventDriven"
    ):
        simulate(mass(0.5, velocity=[1.0]), 0.1, scheme)
    assert simulate(mass(0.0, velocity=[1.0]), 0.1, scheme).about["status"] == "complete"


@pytest.mark.parametrize("listed", [True, False])
def test_compliant_contacts_say_that_they_use_none(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where contacts are so many that they are kept by number."""
    if not listed:
        monkeypatch.setattr(klapper.simulation, "MOST_LISTED_CONTACTS", 0)
    run = simulate(mass(0.5, velocity=[1.0]), 0.1, Regularised(CompliantNormal(1e4)))
    assert "0.5 at 'stop', is not used" in run.about["audit"]["restitution"]


def test_harmonic_balance_says_that_it_uses_none() -> None:
    driven = mass(0.5, force=Harmonic([1.0], 0.8))
    response = harmonic_response(driven, harmonics=5)
    assert "0.5 at 'stop', is not used" in response.unused_restitution
    assert response.unused_restitution in str(response)
    plain = harmonic_response(mass(0.0, force=Harmonic([1.0], 0.8)), harmonics=5)
    assert not plain.unused_restitution
    np.testing.assert_allclose(plain.unknowns, response.unknowns)
    curve = follow_harmonic(driven, 0.12, 0.13, harmonics=3)
    assert "is not used" in str(curve)
