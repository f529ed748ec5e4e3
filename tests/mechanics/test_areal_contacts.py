"""Averaged contact areas in a system: a rigid plank pressed and dragged over the ground."""

import numpy as np
import pytest

from klapper.mechanics import (
    AveragedContact,
    ContactArea,
    FrictionPatches,
    InvalidModel,
    LinearSystem,
    areal_contacts,
)
from klapper.schemes import Moreau
from klapper.simulation import simulate

LENGTH, MASS, GRAVITY, MU = 0.8, 2.0, 9.81, 0.3


def plank(
    drag: float, *, weights: str, patch_count: int = 4, spin: float = 0.0
) -> tuple[LinearSystem, AveragedContact]:
    """Coordinates: horizontal, vertical and tilt of a plank of 0.8 m; gap y + (s − L/2) φ."""
    area = ContactArea.line(LENGTH, panels=4)
    nodes = np.linspace(0.0, LENGTH, 5)
    contact = (AveragedContact.hats if weights == "hats" else AveragedContact.boxes)(area, nodes)
    patches = FrictionPatches(area, np.linspace(0.0, LENGTH, patch_count + 1))
    lever = area.points[:, 0] - LENGTH / 2
    gradients = np.column_stack([np.zeros_like(lever), np.ones_like(lever), lever])
    sliding = np.column_stack([np.ones_like(lever), np.zeros_like(lever), np.zeros_like(lever)])
    system = LinearSystem(
        [MASS, MASS, MASS * LENGTH**2 / 12],
        force=[drag, -MASS * GRAVITY, 0.0],
        velocity=[0.0, 0.0, spin],
        contacts=areal_contacts(
            contact, gradients, patches=patches, sliding=sliding, friction=MU, name="ground"
        ),
    )
    return system, contact


@pytest.mark.parametrize("weights", ["boxes", "hats"])
@pytest.mark.parametrize("patch_count", [1, 2, 4])
def test_the_friction_limit_of_the_whole_plank_is_that_of_its_weight(weights: str, patch_count: int) -> None:
    limit = MU * MASS * GRAVITY
    for drag, acceleration in ((0.99 * limit, 0.0), (1.5 * limit, 0.5 * limit / MASS)):
        system, _ = plank(drag, weights=weights, patch_count=patch_count)
        run = simulate(system, 0.2, Moreau(1e-3))
        assert run.velocity[-1, 0] == pytest.approx(acceleration * 0.2, rel=1e-9, abs=1e-12)
        assert run.ledger.closes(1e-9)


def test_pressure_carries_the_weight_and_forces_are_told_not_to_be_unique() -> None:
    system, contact = plank(0.0, weights="hats")
    run = simulate(system, 0.01, Moreau(1e-3))
    normal = run.force[-1, : contact.count, 0]
    area = contact.area
    assert area.integrate(contact.pressure(normal)) == pytest.approx(MASS * GRAVITY)  # ∫ F_N = Σ λ
    assert "not unique" in run.about["audit"]["forces at the end"]


def test_patches_need_to_know_how_they_slide() -> None:
    area = ContactArea.line(1.0)
    contact = AveragedContact.boxes(area, [0.0, 1.0])
    with pytest.raises(InvalidModel, match="sliding"):
        areal_contacts(contact, np.ones((len(area.points), 1)), patches=FrictionPatches(area, [0.0, 1.0]))
