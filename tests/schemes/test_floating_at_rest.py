"""Equilibrium of bodies that hang in the air until they touch: found if loads press them on, refused if they pull."""

import pytest

from klapper.continuum import (
    Continuum,
    Mortar,
    NodeToSegment,
    SaintVenantKirchhoff,
    Solid,
    Support,
    Traction,
    block,
)
from klapper.schemes import QuasiStatic
from klapper.simulation import SimulationFailed, simulate

GAP, PRESSURE = 1e-3, 10.0  # m, N/m²


def stacked(kind: type, pressure: float) -> Continuum:
    """A block that nothing holds upwards, a little above another."""
    law = SaintVenantKirchhoff(1000.0, 0.0)
    low = Solid("low", block((2.0, 1.0), (4, 2)), law, density=1.0)
    up = Solid("up", block((2.0, 1.0), (3, 2), corner=(0.0, 1.0 + GAP)), law, density=1.0)
    return Continuum(
        [low, up],
        loads=[Traction("up", "top", (0.0, -pressure))],
        supports=[Support("low", "bottom", [1]), Support("low", [0], [0]), Support("up", [0], [0])],
        interfaces=[kind(secondary=("up", "bottom"), primary=("low", "top"))],
    )


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
def test_what_is_pressed_on_comes_to_rest_on_its_support(kind: type) -> None:
    """Without lateral strain (ν = 0) σ = E ε (1 + …): two blocks of 1 m shorten by p/E each, and the gap closes."""
    world = stacked(kind, PRESSURE)
    run = simulate(world, 1.0, QuasiStatic(1.0), progress=False)
    top = world.positions(run.position[-1], "up")[:, 1].max()
    assert top == pytest.approx(2.0 - 2.0 * PRESSURE / 1000.0, abs=5e-4)
    assert run.force[-1, :, 0].sum() == pytest.approx(2.0 * PRESSURE, rel=1e-4)  # normals tilt a little
    assert run.gap[-1].min() > -1e-9


@pytest.mark.parametrize("kind", [NodeToSegment, Mortar])
def test_what_is_pulled_off_is_refused(kind: type) -> None:
    with pytest.raises(SimulationFailed, match="support what can move freely"):
        simulate(stacked(kind, -PRESSURE), 1.0, QuasiStatic(1.0), progress=False)
