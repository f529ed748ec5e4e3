"""Files that a scenario names: read below its folder only, links followed first, within limits."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

from klapper.continuum import block, write_mesh
from klapper.mechanics import LinearSystem
from klapper.scenario import ScenarioError, files, read_scenario

STIFFNESS = np.array([[300.0, -100.0], [-100.0, 100.0]])
TAIL = '[scheme]\nkind = "moreau"\nstep_size = 1e-3\n[run]\nuntil = 0.1\n'


def linear(folder: Path, stiffness: str) -> Path:
    file = folder / "my.toml"
    file.write_text(f'[model]\nkind = "linear"\nmass = [1.0, 2.0]\nstiffness = "{stiffness}"\n{TAIL}')
    return file


@pytest.mark.parametrize("name", ["k.mtx", "k.mtx.gz", "k.npz", "sparse.npz", "k.npy", "sub/k.mtx"])
def test_matrices_come_from_files_as_from_the_text(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if name == "sparse.npz":
        sparse.save_npz(path, sparse.csr_array(STIFFNESS))
    elif name.endswith(".npz"):
        np.savez(path, stiffness=STIFFNESS)
    elif name.endswith(".npy"):
        np.save(path, STIFFNESS)
    else:
        plain = path.with_name("plain.mtx")
        scipy.io.mmwrite(plain, sparse.coo_array(STIFFNESS), precision=17)
        path.write_bytes(gzip.compress(plain.read_bytes()) if name.endswith(".gz") else plain.read_bytes())
    system = read_scenario(linear(tmp_path, name)).system()
    assert isinstance(system, LinearSystem)
    np.testing.assert_array_equal(sparse.csr_array(system.stiffness).toarray(), STIFFNESS)


@pytest.mark.parametrize("name", ["../outside/k.npy", "sub/../../outside/k.npy", "link.npy", "linked/k.npy"])
def test_a_path_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    np.save(outside / "k.npy", STIFFNESS)
    (inside / "link.npy").symlink_to(outside / "k.npy")
    (inside / "linked").symlink_to(outside)
    file = linear(inside, name)
    with pytest.raises(ScenarioError, match=r"my\.toml, line 4: model\.stiffness .* outside of the folder"):
        read_scenario(file)
    assert read_scenario(file, allow=[outside]).system().size == 2


def test_an_absolute_path_is_refused_but_for_allowed_folders(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    np.save(outside / "k.npy", STIFFNESS)
    file = linear(inside, str(outside / "k.npy"))
    with pytest.raises(ScenarioError, match="outside of the folder"):
        read_scenario(file)
    assert read_scenario(file, allow=[outside]).kind == "linear"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.npy", "does not exist"),
        ("sub.npy", "does not exist"),
        ("my.toml", "does not end in"),
        ("a\\u0000b.npy", "no name of a file"),
        ("x" * 5000 + ".npy", r"no name of a file|cannot be read|does not exist"),
        ("bad.npz", "damaged"),
        ("bad.mtx.gz", "damaged"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "sub.npy").mkdir()
    (tmp_path / "bad.npz").write_bytes(b"PK no zip at all")
    (tmp_path / "bad.mtx.gz").write_bytes(b"no gzip")
    with pytest.raises(ScenarioError, match=words):
        read_scenario(linear(tmp_path, name))


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 2_000_000)
    np.savez_compressed(tmp_path / "k.npz", stiffness=np.zeros((600, 600)))
    (tmp_path / "k.mtx.gz").write_bytes(gzip.compress(b"%" * 2_100_000))
    for name in ("k.npz", "k.mtx.gz"):
        assert (tmp_path / name).stat().st_size < 100_000
        with pytest.raises(ScenarioError, match="larger than 2 MB"):
            read_scenario(linear(tmp_path, name))


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ScenarioError, match=r"my\.toml, line 4: k\.npy cannot be read"):
        read_scenario(linear(tmp_path, "k.npy")).system()


@pytest.mark.parametrize("store", ["../out", ".", "", "/tmp/out", "my.toml"])
def test_results_are_written_below_the_folder_only(store: str, tmp_path: Path) -> None:
    file = linear(tmp_path, "k.npy")
    np.save(tmp_path / "k.npy", STIFFNESS)
    file.write_text(file.read_text() + f'store = "{store}"\n')
    with pytest.raises(ScenarioError, match=r"my\.toml, line 10: run\.store"):
        read_scenario(file)


def meshed(folder: Path, name: str) -> Path:
    file = folder / "my.toml"
    solid = f'[solid.a]\nmesh = {{ kind = "file", file = "{name}" }}\ndensity = 1.0\n'
    law = 'law = { kind = "neo-hooke", young = 1e5, poisson = 0.3 }\n'
    file.write_text(f'[model]\nkind = "continuum"\n{solid}{law}{TAIL}')
    return file


def test_a_mesh_comes_from_a_file(tmp_path: Path) -> None:
    mesh = block((2.0, 1.0), (4, 2))
    write_mesh(tmp_path / "a.msh", mesh)
    system = read_scenario(meshed(tmp_path, "a.msh")).system()
    np.testing.assert_allclose(
        sorted(map(tuple, system.bodies[0].mesh.nodes)), sorted(map(tuple, mesh.nodes))
    )


def test_a_mesh_that_includes_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.inp").write_text("*NODE\n1, 0., 0.\n *include, input=/etc/passwd\n")
    with pytest.raises(ScenarioError, match=r"a\.inp includes other files"):
        read_scenario(meshed(tmp_path, "a.inp")).system()
