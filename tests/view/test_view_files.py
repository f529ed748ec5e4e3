"""Files for ParaView are read back by other programs' readers: places, cells and stresses are those of the run."""

from pathlib import Path
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest

from klapper.results import ResultsError
from klapper.view import write_vtk_series, write_xdmf
from klapper.view.vtk_files import part_names
from view.models import ALL, bent_beam, run_through, stretched_cube, turned_block, turned_box


@pytest.mark.parametrize("name", ALL)
def test_a_series_is_read_back(name: str, tmp_path: Path) -> None:
    run = ALL[name]()
    listed = ElementTree.parse(write_vtk_series(run, tmp_path / "series", frames=9)).getroot()
    frames = [(float(each.attrib["timestep"]), each.attrib["file"]) for each in listed.iter("DataSet")]
    assert [time for time, _ in frames] == [0.0, 1.0]  # no more frames than samples
    meshes = [meshio.read(tmp_path / "series" / file) for _, file in frames]
    assert {each.name for each in (tmp_path / "series").iterdir()} == {
        "run.pvd",
        *(file for _, file in frames),
    }
    for mesh in meshes:
        numbers = np.concatenate(mesh.cell_data["part"])
        assert set(numbers) == set(range(len(part_names(run))))
        assert np.all(np.isfinite(mesh.points))


@pytest.mark.parametrize("name", ALL)
def test_xdmf_holds_the_same_as_the_series(name: str, tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    run = ALL[name]()
    write_vtk_series(run, tmp_path / "series", frames=9)
    meshes = [meshio.read(file) for file in sorted((tmp_path / "series").glob("*.vtu"))]
    reader = pyvista.get_reader(str(write_xdmf(run, tmp_path / "run.xdmf", frames=9)))
    assert list(reader.time_values) == [0.0, 1.0]
    for number, mesh in enumerate(meshes):
        reader.set_active_time_point(number)
        block = reader.read()
        np.testing.assert_allclose(block.points, mesh.points, atol=1e-6)  # the reader keeps float32
        assert block.n_cells == sum(len(cells.data) for cells in mesh.cells)
        np.testing.assert_allclose(block["displacement"], mesh.point_data["displacement"], atol=1e-12)


def test_the_pvd_file_opens_in_vtk(tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    reader = pyvista.get_reader(str(write_vtk_series(stretched_cube(), tmp_path)))
    reader.set_active_time_value(1.0)
    (grid,) = reader.read()
    assert grid.volume == pytest.approx(1.2)
    np.testing.assert_allclose(grid.cell_data["von Mises stress"], 1.2 * 1000.0 * (1.2**2 - 1) / 2)
    np.testing.assert_allclose(grid.point_data["displacement"][:, 0].max(), 0.2)


def test_volumes_of_bodies_are_those_of_the_model(tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    run = turned_box()
    write_vtk_series(run, tmp_path)
    mesh = pyvista.read(tmp_path / "frame-00001.vtu")
    numbers = {name: number for number, name in enumerate(part_names(run))}
    box = mesh.threshold((numbers["box"], numbers["box"]), scalars="part").extract_surface(algorithm=None)
    assert box.volume == pytest.approx(0.3 * 0.2 * 0.1)
    ball = mesh.threshold((numbers["ball"], numbers["ball"]), scalars="part").extract_surface(algorithm=None)
    assert 0.85 * 4 / 3 * np.pi * 0.1**3 < ball.volume < 4 / 3 * np.pi * 0.1**3  # a polyhedron in the sphere


def test_beams_can_be_exaggerated(tmp_path: Path) -> None:
    run = bent_beam()
    lowest = []
    for factor in (1.0, 10.0):
        write_vtk_series(run, tmp_path, exaggeration=factor)
        lowest.append(np.abs(meshio.read(tmp_path / "frame-00001.vtu").point_data["displacement"]).max())
    assert lowest[1] == pytest.approx(10 * lowest[0])


def test_masses_in_a_row_stand_on_their_floor(tmp_path: Path) -> None:
    run = ALL["row"]()
    write_vtk_series(run, tmp_path)
    mesh = meshio.read(tmp_path / "frame-00001.vtu")
    numbers, lowest = part_names(run), {}
    for name in ("left", "right", "floor"):
        chosen = [
            cells.data[owner == numbers.index(name)]
            for cells, owner in zip(mesh.cells, mesh.cell_data["part"], strict=True)
        ]
        lowest[name] = min(mesh.points[each][..., 1].min() for each in chosen if len(each))
    assert lowest["left"] == pytest.approx(lowest["floor"])
    assert lowest["right"] == pytest.approx(lowest["floor"])


def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    run = turned_block()
    (tmp_path / "file").write_text("mine")
    for wrong, words in [
        (lambda: write_vtk_series(run, tmp_path / "file"), "is a file: give a folder"),
        (lambda: write_vtk_series(run, tmp_path / "new", frames=0), "whole numbers from 1 on"),
        (lambda: write_vtk_series(run, tmp_path / "new", exaggeration=-1.0), "numbers above 0"),
        (lambda: write_vtk_series(run_through([[0.0]]), tmp_path / "new"), "has no picture"),
        (lambda: write_xdmf(run, tmp_path / "run.h5"), r"let it end in \.xdmf"),
        (lambda: write_xdmf(run, tmp_path / "none" / "run.xdmf"), "existing folder"),
    ]:
        with pytest.raises(ResultsError, match=words):
            wrong()
    assert (tmp_path / "file").read_text() == "mine"


def test_a_stored_run_beside_it_is_never_touched(tmp_path: Path) -> None:
    file = turned_block().save(tmp_path / "run.h5")
    before = file.read_bytes()
    write_xdmf(turned_block(), tmp_path / "run.xdmf")
    assert file.read_bytes() == before
