"""Meshes from files: what was written comes back, what is turned is mended, what is no body is refused."""

from pathlib import Path

import meshio
import numpy as np
import pytest

from klapper.continuum import Mesh, annulus, block, read_mesh, read_meshes, write_mesh
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.mechanics import InvalidModel

MESHES = [
    block((2.0, 1.0), (3, 2)),
    annulus(0.5, 1.0, (1, 12)),
    *(
        block(
            (2.0, 1.0, 0.5)[: ELEMENTS[name].dimension], (3, 2, 2)[: ELEMENTS[name].dimension], element=name
        )
        for name in SOLIDS
    ),
]

GMSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
4
1 1 "floor"
1 2 "seam"
2 3 "rubber"
2 4 "steel"
$EndPhysicalNames
$Entities
0 2 2 0
1 0 0 0 1 0 0 1 1 0
2 1 0 0 1 1 0 1 2 0
1 0 0 0 1 1 0 1 3 0
2 1 0 0 2 1 0 1 4 0
$EndEntities
$Nodes
1 7 1 7
2 1 0 7
1
2
3
4
5
6
7
0 0 0
1000 0 0
2000 0 0
0 1000 0
1000 1000 0
2000 1000 0
5000 5000 0
$EndNodes
$Elements
4 4 1 4
1 1 1 1
1 2 1
1 2 1 1
2 5 2
2 1 3 1
3 1 4 5 2
2 2 3 1
4 2 3 6 5
$EndElements
"""


def enclosed(mesh: Mesh) -> float:
    """Area inside the boundary of a plane mesh, which runs with the body to its left."""
    a, b = mesh.nodes[mesh.boundary[:, 0]], mesh.nodes[mesh.boundary[:, 1]]
    return 0.5 * float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))


@pytest.mark.parametrize("suffix", [".msh", ".inp", ".vtk", ".vtu"])
@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: f"{mesh.element.name}-{len(mesh.cells)}")
def test_what_was_written_comes_back(tmp_path: Path, mesh: Mesh, suffix: str) -> None:
    file = tmp_path / f"body{suffix}"
    write_mesh(file, mesh, scale=1e-3)
    found = read_mesh(file, scale=1e-3)
    assert found.element is mesh.element
    np.testing.assert_array_equal(found.cells, mesh.cells)
    np.testing.assert_allclose(found.nodes, mesh.nodes, atol=1e-15)
    assert list(found.surfaces) == list(mesh.surfaces)
    for name in mesh.surfaces:
        assert {*map(tuple, found.surface(name))} == {*map(tuple, mesh.surface(name))}


@pytest.mark.parametrize("suffix", [".vtk", ".vtu"])
def test_names_of_surfaces_may_have_spaces_and_share_facets(tmp_path: Path, suffix: str) -> None:
    mesh = block((2.0, 1.0), (3, 2))
    named = Mesh(
        mesh.nodes, mesh.cells, mesh.element, {"oberer Rand 50 %": mesh.surface("top"), "all": mesh.boundary}
    )
    write_mesh(tmp_path / f"body{suffix}", named)
    found = read_mesh(tmp_path / f"body{suffix}")
    assert {name: len(found.surface(name)) for name in found.surfaces} == {"oberer Rand 50 %": 3, "all": 10}


ABAQUS = {
    "CPE4": "quad4",
    "CPE4H": "quad4",
    "CPS4R": "quad4",
    "CPE3": "tri3",
    "CPE8R": "quad8",
    "CPE6M": "tri6",
}


@pytest.mark.parametrize(("kind", "element"), ABAQUS.items())
def test_plane_elements_of_abaqus_are_read(tmp_path: Path, kind: str, element: str) -> None:
    nodes = ELEMENTS[element].nodes
    lines = [f"{i}, {x}, {y}" for i, (x, y) in enumerate(nodes, start=1)]
    cell = ", ".join(map(str, range(1, len(nodes) + 1)))
    text = ["*NODE", *lines, f"*ELEMENT, TYPE={kind}", f"1, {cell}", ""]
    (tmp_path / "body.inp").write_text("\n".join(text))
    found = read_mesh(tmp_path / "body.inp")
    assert found.element.name == element
    assert found.volume == pytest.approx(0.5 if element.startswith("tri") else 4.0)


def test_what_the_reader_says_of_a_file_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "body.inp").write_text("*NODE\n1, 0, 0\n2, 1, 0\n*ELEMENT, TYPE=CONN3D2\n1, 1, 2\n")
    with pytest.raises(InvalidModel, match="CONN3D2"):
        read_mesh(tmp_path / "body.inp")


def test_a_box_is_pointed_to_its_element() -> None:
    with pytest.raises(InvalidModel, match='element="hex8"'):
        block((1.0, 1.0, 1.0), (2, 2, 2))


def test_two_bodies_of_a_gmsh_file_are_read_with_their_surfaces(tmp_path: Path) -> None:
    """Text as Gmsh 4 writes it, in mm: the first square runs clockwise, the seam is common, node 7 is unused."""
    file = tmp_path / "two.msh"
    file.write_text(GMSH)
    parts = read_meshes(file, scale=1e-3)
    assert set(parts) == {"rubber", "steel"}
    for part in parts.values():
        assert part.volume == pytest.approx(1.0)
        assert enclosed(part) == pytest.approx(1.0)
        assert len(part.nodes) == 4
    rubber, steel = parts["rubber"], parts["steel"]
    assert set(rubber.surfaces) == {"floor", "seam"}
    assert set(steel.surfaces) == {"seam"}
    start, end = rubber.nodes[rubber.surface("seam")[0]]
    np.testing.assert_allclose([start, end], [[1.0, 0.0], [1.0, 1.0]])  # upwards: the rubber is to the left
    np.testing.assert_allclose(steel.nodes[steel.surface("seam")[0]], [[1.0, 1.0], [1.0, 0.0]])
    both = read_mesh(file, scale=1e-3)
    assert both.volume == pytest.approx(2.0)
    assert set(both.surfaces) == {"floor"}  # the seam is inside
    assert read_mesh(file, part="steel", scale=1e-3).nodes[:, 0].min() == 1.0


@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: f"{mesh.element.name}-{len(mesh.cells)}")
def test_cells_that_run_the_wrong_way_are_turned(tmp_path: Path, mesh: Mesh) -> None:
    """A mirrored body has the same volume and surfaces of the same size."""
    nodes = mesh.nodes * np.array([-1.0, 1.0, 1.0])[: mesh.dimension]
    turned = Mesh.__new__(Mesh)  # a mesh that would be refused
    for name, value in (("nodes", nodes), ("cells", mesh.cells), ("element", mesh.element)):
        object.__setattr__(turned, name, value)
    object.__setattr__(turned, "surfaces", mesh.surfaces)
    file = tmp_path / "mirrored.msh"
    write_mesh(file, turned)
    found = read_mesh(file)
    assert found.volume == pytest.approx(mesh.volume, rel=1e-12)
    for name in mesh.surfaces:
        assert len(found.surface(name)) == len(mesh.surface(name))
        np.testing.assert_array_equal(found.surface_nodes(name), mesh.surface_nodes(name))


def test_a_set_of_nodes_becomes_a_surface_that_points_outwards(tmp_path: Path) -> None:
    """A set of nodes of Abaqus becomes a surface whose normals point outwards: ∫ x · n dA = 3 V over all of it."""
    points = [[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, 4]]
    content = meshio.Mesh(
        points, [("tetra", [[0, 2, 1, 3]])], point_sets={"ground": [0, 1, 2], "edge": [0, 1]}
    )
    file = tmp_path / "tetra.inp"
    meshio.write(file, content)
    mesh = read_mesh(file)
    assert mesh.volume == pytest.approx(4.0)
    assert list(mesh.surfaces) == ["ground"]
    a, b, c = (mesh.nodes[mesh.boundary[:, i]] for i in range(3))
    assert np.sum(a * np.cross(b - a, c - a)) / 2.0 == pytest.approx(3 * 4.0)
    a, b, c = mesh.nodes[mesh.surface("ground")[0]]
    np.testing.assert_allclose(np.cross(b - a, c - a), [0.0, 0.0, -6.0])


def test_deformed_meshes_and_values_at_nodes_are_written(tmp_path: Path) -> None:
    mesh = MESHES[0]
    file = tmp_path / "deformed.vtu"
    write_mesh(
        file, mesh, position=2.0 * mesh.nodes, values={"moved": mesh.nodes, "height": mesh.nodes[:, 1]}
    )
    found = meshio.read(file)
    np.testing.assert_allclose(found.points[:, :2], 2.0 * mesh.nodes)
    np.testing.assert_allclose(found.point_data["moved"][:, :2], mesh.nodes)
    np.testing.assert_allclose(found.point_data["height"], mesh.nodes[:, 1])


FLAT = [[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("points", "cells", "words"),
    [
        (FLAT, [("line", [[0, 1]])], "cells of kind line; bodies are made of triangle"),
        (FLAT, [("quad", [[0, 1, 2, 3]]), ("triangle", [[0, 1, 2]])], "mixes cells of kind quad, triangle"),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]], [("triangle", [[0, 1, 2]])], "x-y plane"),
        (
            [*FLAT, [0.5, 0.5, 1.0]],
            [("pyramid", [[0, 1, 2, 3, 4]])],
            "cells of kind pyramid; bodies",
        ),
        ([[0.0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], [("quad", [[0, 1, 2, 3]])], "inside out"),
    ],
)
def test_files_without_a_body_are_refused(tmp_path: Path, points: list, cells: list, words: str) -> None:
    file = tmp_path / "bad.vtu"
    meshio.write(file, meshio.Mesh(np.array(points, dtype=float), cells))
    with pytest.raises(InvalidModel, match=words):
        read_mesh(file)


def test_other_bad_requests_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidModel, match="there is no file"):
        read_mesh(tmp_path / "nowhere.msh")
    broken = tmp_path / "broken.msh"
    broken.write_text("$MeshFormat\n9.9 0 8\n")
    with pytest.raises(InvalidModel, match=r"broken.msh cannot be read as a mesh: .*\.$"):
        read_mesh(broken)
    assert capsys.readouterr() == ("", "")
    good = tmp_path / "good.msh"
    write_mesh(good, MESHES[0])
    with pytest.raises(InvalidModel, match="no part 'roof'; groups of its cells are: none"):
        read_mesh(good, part="roof")
    with pytest.raises(InvalidModel, match="names no groups of its quad4 cells"):
        read_meshes(good)
    with pytest.raises(InvalidModel, match="scale is 0"):
        read_mesh(good, scale=0.0)
    with pytest.raises(InvalidModel, match=r"format '\.stl'"):
        write_mesh(tmp_path / "body.stl", MESHES[0])
    with pytest.raises(InvalidModel, match="cannot keep values"):
        write_mesh(tmp_path / "body.inp", MESHES[0], values={"a": np.zeros(12)})
    with pytest.raises(InvalidModel, match=r"expected \(12,\) or \(12, 2\)"):
        write_mesh(tmp_path / "body.vtk", MESHES[0], values={"a": np.zeros(3)})
    with pytest.raises(InvalidModel, match="cannot be written there"):
        write_mesh(tmp_path / "no" / "body.msh", MESHES[0])
