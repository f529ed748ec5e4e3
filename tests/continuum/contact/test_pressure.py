"""Contact pressure as an output: uniform on a patch, whatever the mesh, the element and the thickness."""

import numpy as np
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
    circle,
    contact_pressure,
)
from klapper.continuum.contact.pressure import _order
from klapper.continuum.contact.surface import Surface
from klapper.mechanics import InvalidModel, Ramp
from klapper.schemes import QuasiStatic
from klapper.simulation import simulate

LOAD = 10.0


def pressed(interface, element: str = "quad4", thickness: float = 1.0, cells=((3, 2), (4, 2))):
    """Two blocks with sides held, under a uniform load that both must carry."""
    law = SaintVenantKirchhoff(1000.0, 0.3)
    low = Solid("low", block((1.0, 0.5), cells[1], element=element), law, density=1.0, thickness=thickness)
    mesh = block((1.0, 0.5), cells[0], corner=(0.0, 0.5), element=element)
    up = Solid("up", mesh, law, density=1.0, thickness=thickness)
    supports = [Support("low", "bottom", [1])]
    supports += [Support(name, side, [0]) for name in ("low", "up") for side in ("left", "right")]
    world = Continuum(
        [low, up],
        loads=[Traction("up", "top", (0.0, -LOAD))],
        supports=supports,
        interfaces=[interface],
    )
    return world, simulate(world, 1.0, QuasiStatic(1.0), progress=False)


@pytest.mark.parametrize("thickness", [1.0, 0.25])
@pytest.mark.parametrize("dual", [False, True])
def test_mortar_pressure_is_the_stress_that_is_transmitted(dual: bool, thickness: float) -> None:
    interface = Mortar(secondary=("up", "bottom"), primary=("low", "top"), dual=dual)
    world, run = pressed(interface, thickness=thickness)
    found = contact_pressure(world, run.position[-1], run.force[-1])["up", "bottom"]
    np.testing.assert_allclose(found.pressure, LOAD, rtol=1e-9)  # confined: the area does not change
    np.testing.assert_allclose(found.arc, np.linspace(0.0, 1.0, 4), atol=1e-12)
    np.testing.assert_array_equal(found.shear, 0.0)


def test_pressures_of_single_nodes_carry_the_load() -> None:
    """Whatever the nodes carry, pressures times lengths add up to the load, but for the square of their slopes."""
    world, run = pressed(NodeToSegment(secondary=("up", "bottom"), primary=("low", "top")), thickness=0.5)
    found = contact_pressure(world, run.position[-1], run.force[-1])["up", "bottom"]
    slope = np.diff(found.place[:, 1]) / np.diff(found.place[:, 0])
    assert np.trapezoid(found.pressure, found.arc) == pytest.approx(LOAD, rel=np.max(slope**2) + 1e-9)


def test_exchanged_sides_answer_alike_the_finer_the_mesh() -> None:
    """A curved punch: forces with either surface as the secondary one differ less with every halving of the cells."""
    differences = []
    for factor in (1, 2):
        forces = []
        for secondary, primary in ((("up", "bottom"), ("low", "top")), (("low", "top"), ("up", "bottom"))):
            law = SaintVenantKirchhoff(1000.0, 0.3)
            mesh = block((1.0, 0.4), (8 * factor, 2 * factor), corner=(-0.5, 0.0))
            nodes = mesh.nodes + np.column_stack(
                [0.0 * mesh.nodes[:, 0], 0.2 * mesh.nodes[:, 0] ** 2 * (1.0 - mesh.nodes[:, 1] / 0.4)]
            )
            punch = type(mesh)(nodes, mesh.cells, mesh.element, mesh.surfaces)
            up = Solid("up", punch, law, density=1.0)
            low = Solid(
                "low", block((1.4, 0.4), (10 * factor, 2 * factor), corner=(-0.7, -0.4)), law, density=1.0
            )
            world = Continuum(
                [low, up],
                supports=[
                    Support("low", "bottom"),
                    Support("up", "top", displacement=Ramp((0.0, 0.0), (0.0, -0.02))),
                ],
                interfaces=[Mortar(secondary=secondary, primary=primary)],
            )
            run = simulate(world, 1.0, QuasiStatic(1.0), progress=False)
            names = run.layout.constraints
            held = [k for k, name in enumerate(names) if name.startswith("up") and name.endswith("y")]
            forces.append(run.constraint_force[-1][held].sum())
        differences.append(abs(forces[0] / forces[1] - 1.0))
    assert differences[0] < 0.05
    assert differences[1] < differences[0]


def test_nodes_follow_each_other_along_open_and_closed_surfaces() -> None:
    mesh = block((2.0, 1.0), (4, 2))
    order, starts = _order(Surface.of(mesh, "b", "top"))
    np.testing.assert_allclose(mesh.nodes[order, 0], [2.0, 1.5, 1.0, 0.5, 0.0])  # the body to the left
    assert starts == [0]
    ring = circle(1.0, 7)
    order, starts = _order(Surface.of(ring, "r", "outer"))
    assert sorted(order) == list(range(7))
    assert starts == [0]


def test_forces_of_another_system_are_refused() -> None:
    world, run = pressed(Mortar(secondary=("up", "bottom"), primary=("low", "top")))
    with pytest.raises(InvalidModel, match="4 contacts"):
        contact_pressure(world, run.position[-1], run.force[-1][:2])
