"""Meshes are read by a process of its own, which opens nothing outside of their folder and has limits."""

import io
import os
import random
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import h5py
import meshio
import numpy as np
import pytest
from tools.fuzz_files import hostile

from klapper.continuum import block, read_mesh, read_meshes, write_mesh
from klapper.doors import Unreadable, helper
from klapper.mechanics import InvalidModel

DECK = "*NODE\n1, 0, 0\n2, 1, 0\n3, 1, 1\n4, 0, 1\n*ELEMENT, TYPE=CPS4\n1, 1, 2, 3, 4\n"


def test_a_deck_includes_files_of_its_folder_only(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "inner.inp").write_text(DECK)
    (here / "deck.inp").write_text("*INCLUDE, INPUT=inner.inp\n")
    assert len(read_mesh(here / "deck.inp").cells) == 1
    (tmp_path / "outer.inp").write_text(DECK)
    for name in ("../outer.inp", str(tmp_path / "outer.inp"), "/etc/passwd"):
        (here / "deck.inp").write_text(f"*INCLUDE, INPUT={name}\n")
        with pytest.raises(InvalidModel, match=r"is not in its folder|no valid|cannot be read"):
            read_mesh(here / "deck.inp")
    (here / "link.inp").symlink_to(tmp_path / "outer.inp")
    (here / "deck.inp").write_text("*INCLUDE, INPUT=link.inp\n")
    with pytest.raises(InvalidModel, match="not in its folder"):
        read_mesh(here / "deck.inp")


def test_a_process_that_ends_is_replaced(tmp_path: Path) -> None:
    write_mesh(tmp_path / "part.msh", block((1.0, 1.0), (2, 2)))
    assert len(read_mesh(tmp_path / "part.msh").cells) == 4
    process = helper._reader._process
    assert process is not None
    process.kill()
    process.wait()
    assert len(read_mesh(tmp_path / "part.msh").cells) == 4


def test_numbers_of_a_mesh_are_compared_with_each_other(tmp_path: Path) -> None:
    (tmp_path / "part.vtk").write_text(
        "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 double\n0 0 0 1 0 0 1 1 0\n"
        "CELLS 1 4\n3 0 1 7\nCELL_TYPES 1\n5\n"
    )
    with pytest.raises(InvalidModel, match="names a node that it does not hold"):
        read_mesh(tmp_path / "part.vtk")


def test_formats_that_are_not_read_say_how_to_convert(tmp_path: Path) -> None:
    (tmp_path / "part.e").write_bytes(b"CDF")
    with pytest.raises(InvalidModel, match=r"part\.e ends in none of .*`meshio convert part\.e part\.vtu`"):
        read_mesh(tmp_path / "part.e")


def written(path: Path, **options: str) -> Path:
    """A block of 4 × 2 cells as another program writes it."""
    whole = block((2.0, 1.0), (4, 2))
    points = (
        whole.nodes if path.suffix == ".med" else np.column_stack([whole.nodes, np.zeros(len(whole.nodes))])
    )
    mesh = meshio.Mesh(points, [("quad", whole.cells)])
    if path.suffix == ".med":
        mesh.cell_data = {"cell_tags": [np.repeat([-1, -2], 4)]}
        mesh.cell_tags = {-1: ["lower", "all"], -2: ["upper", "all"]}
        mesh.point_data = {"point_tags": np.where(whole.nodes[:, 0] == 0.0, 3, 0)}
        mesh.point_tags = {3: ["left"]}
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        mesh.write(path, **options)
    return path


def test_meshes_of_salome_come_with_their_groups(tmp_path: Path) -> None:
    file = written(tmp_path / "part.med")
    assert {name: len(mesh.cells) for name, mesh in read_meshes(file).items()} == {
        "lower": 4,
        "all": 8,
        "upper": 4,
    }
    assert read_mesh(file).surfaces.keys() == {"left"}
    assert len(read_mesh(file).surfaces["left"]) == 2


@pytest.mark.parametrize("kind", ["XML", "HDF"])
def test_meshes_in_xdmf_take_numbers_from_their_folder_only(kind: str, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    file = written(here / "part.xdmf", data_format=kind)
    assert read_mesh(file).volume == pytest.approx(2.0)
    if kind == "HDF":
        shutil.copy(here / "part.h5", tmp_path / "outside.h5")
        for name in ("../outside.h5", str(tmp_path / "outside.h5")):
            file.write_text(file.read_text().replace("part.h5", name))
            with pytest.raises(InvalidModel, match=r"is not in its folder|cannot be read"):
                read_mesh(file)


@pytest.mark.parametrize("way", ["external storage", "external link", "virtual dataset", "very many numbers"])
def test_data_of_a_mesh_in_hdf5_lies_in_its_file(way: str, tmp_path: Path) -> None:
    """A pipe would be waited for without end, and numbers from elsewhere would become places of nodes."""
    os.mkfifo(tmp_path / "outside")
    file = written(tmp_path / "part.med")
    with h5py.File(file, "r+") as stored:
        nodes = next(iter(stored["ENS_MAA/mesh"].values()))["NOE"]
        shape, count = nodes["COO"].shape, nodes["COO"].attrs["NBR"]
        del nodes["COO"]
        if way == "external storage":
            nodes.create_dataset("COO", shape, "f8", external=[(str(tmp_path / "outside"), 0, 8 * shape[0])])
        elif way == "external link":
            nodes["COO"] = h5py.ExternalLink(str(tmp_path / "outside"), "/x")
        elif way == "virtual dataset":
            layout = h5py.VirtualLayout(shape, "f8")
            layout[:] = h5py.VirtualSource(str(tmp_path / "outside"), "x", shape)
            nodes.create_virtual_dataset("COO", layout)
        else:
            nodes.create_dataset("COO", (10**11,), "f8", chunks=(1000,))
        if way != "external link":
            nodes["COO"].attrs["NBR"] = count
    with pytest.raises(InvalidModel, match=r"is in another file|cannot be read|too much memory"):
        read_mesh(file)


def test_the_hdf5_library_can_open_nothing(tmp_path: Path) -> None:
    """Not even where the data of a file is not looked through before: the system refuses."""
    os.mkfifo(tmp_path / "outside")
    with h5py.File(tmp_path / "part.med", "w") as stored:
        stored.create_dataset("x", (3,), "f8", external=[(str(tmp_path / "outside"), 0, 24)])
    program = Path(helper.__file__).with_name("mesh_program.py")
    text = (
        f"import sys; sys.path.insert(0, {str(program.parent)!r}); import mesh_program as p, h5py\n"
        "p.require_inside = lambda name, entry: None\n"
        f"with p.hdf5_from_memory({str(tmp_path / 'part.med')!r}):\n"
        f"    file = h5py.File({str(tmp_path / 'part.med')!r})\n"
        "    try: file['x'][()]\n"
        "    except OSError as error: print(error)\n"
        "print(open('/dev/null').read() == '')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, timeout=60, check=True
    )
    assert "unable to open external raw data file" in done.stdout
    assert done.stdout.endswith("True\n")


def test_hostile_meshes_are_refused(tmp_path: Path) -> None:
    for seed in range(8):
        case = tmp_path / str(seed)
        case.mkdir()
        chosen = hostile._mesh if seed % 2 else hostile._hdf5_mesh
        chosen(case, random.Random(seed))
        for file in case.iterdir():
            try:
                helper.read_mesh_file(file)
            except Unreadable as error:
                assert "\n" not in str(error)
