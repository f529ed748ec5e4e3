"""Meshes are read by a process of its own, which opens nothing outside of their folder and has limits."""

import random
from pathlib import Path

import pytest
from tools.fuzz_files import hostile

from klapper.continuum import block, read_mesh, write_mesh
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


def test_formats_that_are_read_by_other_libraries_are_refused(tmp_path: Path) -> None:
    (tmp_path / "part.xdmf").write_text("<Xdmf/>")
    with pytest.raises(InvalidModel, match="ends in none of"):
        read_mesh(tmp_path / "part.xdmf")


def test_hostile_meshes_are_refused(tmp_path: Path) -> None:
    for seed in range(8):
        case = tmp_path / str(seed)
        case.mkdir()
        hostile._mesh(case, random.Random(seed))
        for file in case.iterdir():
            try:
                helper.read_mesh_file(file)
            except Unreadable as error:
                assert "\n" not in str(error)
