"""Matrices from other programs: every format gives the same structure; units; contacts by node; errors by line."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st

from klapper.mechanics import InvalidModel
from klapper.structures import Frame, ImportedStructure, Material, Member, Section
from klapper.structures.matrix_files import read_dofs, read_matrix, read_nodes
from klapper.structures.pair_table import Pair, read_pairs
from klapper.structures.units import Units

M = np.diag([2.0, 2.0, 3.0, 3.0])
K = np.array([[5.0, -1.0, -2.0, 0.0], [-1.0, 6.0, 0.0, 0.5], [-2.0, 0.0, 7.0, -1.5], [0.0, 0.5, -1.5, 4.0]])
DOFS = [(10, 1), (10, 2), (25, 1), (25, 2)]
NODES = "node, x, y\n10, 0.0, 0.0\n25, 3.0, 4.0\n"


def triangle(matrix: np.ndarray, lower: bool) -> list[tuple[int, int, float]]:
    part = np.tril(matrix) if lower else np.triu(matrix)
    return [(int(i), int(j), float(part[i, j])) for i, j in np.argwhere(part != 0)]


def write_numbered(path: Path, matrix: np.ndarray, lower: bool = True) -> Path:
    path.write_text("".join(f"{i + 1} {j + 1} {value:.16e}\n" for i, j, value in triangle(matrix, lower)))
    return path


def write_labelled(path: Path, matrix: np.ndarray) -> Path:
    lines = ["** matrix of a job\n"]
    for i, j, value in triangle(matrix, True):
        (row, a), (column, b) = DOFS[i], DOFS[j]
        lines.append(f"{row},{a}, {column},{b}, {value:.16e}\n")
    path.write_text("".join(lines))
    return path


def write_calculix(folder: Path) -> dict[str, Path]:
    dof = folder / "job.dof"
    dof.write_text("".join(f"{node}.{direction}\n" for node, direction in DOFS))
    return {
        "mass": write_numbered(folder / "job.mas", M),
        "stiffness": write_numbered(folder / "job.sti", K),
        "dofs": dof,
    }


def write_abaqus(folder: Path) -> dict[str, Path]:
    return {
        "mass": write_labelled(folder / "job_MASS1.mtx", M),
        "stiffness": write_labelled(folder / "job_STIF1.mtx", K),
    }


def write_coordinate(folder: Path) -> dict[str, Path]:
    table = folder / "dofs.csv"
    table.write_text("".join(f"{node}, {direction}\n" for node, direction in DOFS))
    return {
        "mass": write_numbered(folder / "m.mtx", M, lower=False),
        "stiffness": write_numbered(folder / "k.mtx", K + 0.0, lower=False),
        "dofs": table,
    }


def write_matrix_market(folder: Path) -> dict[str, Path]:
    paths = {}
    for kind, matrix in (("mass", M), ("stiffness", K)):
        paths[kind] = folder / f"{kind}.mtx"
        scipy.io.mmwrite(paths[kind], sparse.coo_array(matrix), symmetry="symmetric")
    return {**paths, "dofs": write_coordinate(folder)["dofs"]}


def write_scipy(folder: Path) -> dict[str, Path]:
    sparse.save_npz(folder / "mass.npz", sparse.csr_array(M))
    sparse.save_npz(folder / "stiffness.npz", sparse.csc_array(np.triu(K)))
    return {
        "mass": folder / "mass.npz",
        "stiffness": folder / "stiffness.npz",
        "dofs": write_coordinate(folder)["dofs"],
    }


def write_numpy(folder: Path) -> dict[str, Path]:
    np.savez(folder / "both.npz", mass=M, stiffness=K)
    both = folder / "both.npz"
    return {"mass": both, "stiffness": both, "dofs": write_coordinate(folder)["dofs"]}


WRITERS = [write_calculix, write_abaqus, write_coordinate, write_matrix_market, write_scipy, write_numpy]


@pytest.mark.parametrize("write", WRITERS)
def test_all_formats_give_the_same_structure(write, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    nodes = tmp_path / "nodes.csv"
    nodes.write_text(NODES)
    structure = ImportedStructure.read(**write(tmp_path), nodes=nodes, units="kg, m, s")
    np.testing.assert_allclose(structure.mass.toarray(), M, rtol=1e-15)
    np.testing.assert_allclose(structure.stiffness.toarray(), K, rtol=1e-15)
    assert structure.dofs == tuple(DOFS)
    np.testing.assert_allclose(structure.place(25), [3.0, 4.0])
    np.testing.assert_allclose(structure.row(25, "y"), [0, 0, 0, 1])
    np.testing.assert_allclose(structure.row(10, (0.6, 0.8)), [0.6, 0.8, 0, 0])
    np.testing.assert_allclose(structure.row(25, 1), [0, 0, 1, 0])


def test_units_do_not_change_frequencies_and_deflections() -> None:
    """A steel cantilever written in t, mm, s (N, MPa) has the frequencies and deflections of the one in SI units."""

    def cantilever(length: float, young: float, density: float, edge: float) -> Frame:
        return Frame(
            {"A": (0, 0, 0), "B": (length, 0, 0)},
            {
                "arm": Member(
                    "A", "B", Material(young, density, young / 2.6), Section.rectangle(edge, edge / 2)
                )
            },
        )

    metres, millimetres = cantilever(1.5, 210e9, 7850.0, 0.05), cantilever(1500.0, 210e3, 7.85e-9, 50.0)
    joint = [(node, direction) for node in (1, 2) for direction in range(1, 7)]
    inner = _inner_dofs(millimetres)
    imported = ImportedStructure(
        millimetres.mass, millimetres.stiffness, dofs=joint + inner, units="t, mm, s", fixed=[1]
    )
    clamped = Frame({"A": (0, 0, 0), "B": (1.5, 0, 0)}, metres.members, supports={"A": "clamped"})
    np.testing.assert_allclose(imported.frequencies(6), clamped.frequencies(6), rtol=1e-8)
    for direction in ("x", "z", "ry"):
        expected = clamped.row("B", direction) @ clamped.with_point_load("B", direction, 10.0).deflection()
        found = imported.row(2, direction) @ imported.with_load(10.0, imported.row(2, direction)).deflection()
        assert found == pytest.approx(expected, rel=1e-8)


def _inner_dofs(frame: Frame) -> list[tuple[int, int]]:
    """Inner coordinates of the arm as nodes of their own: rotations where the field is one."""
    kinds = []
    fields = frame._fields["arm"]
    for part, start in zip(fields.parts, fields.starts, strict=False):
        for i in range(part.size):
            names = getattr(part, "names", None)
            rotation = names[i][0] == "rotation" if names else part is fields.twist
            kinds.append((start + i, rotation))
    own = [name.removeprefix("arm ") for name in frame.coordinates if name.startswith("arm ")]
    rotations = dict(kinds)
    return [(100 + int(number), 4 if rotations[int(number)] else 1) for number in own]


@settings(max_examples=20)
@given(st.sampled_from(["t, mm, s", "g, cm, ms", "slug, ft, s", "kg, m, s"]), st.integers(0, 10**6))
def test_conversion_of_units_keeps_the_energy(units: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    factor = random.standard_normal((4, 4))
    matrix = sparse.csr_array(factor @ factor.T)
    rotations = np.array([False, True, False, True])
    unit = Units.named(units)
    q = random.standard_normal(4)  # in the units of the program
    si = np.where(rotations, q, unit.length * q)
    energy = unit.energy * (q @ (matrix @ q))
    assert si @ (unit.stiffness(matrix, rotations) @ si) == pytest.approx(energy, rel=1e-12)
    v, rate = si / unit.time, unit.energy / unit.time
    assert v @ (unit.inertia(matrix, rotations) @ v) == pytest.approx(energy, rel=1e-12)
    assert v @ (unit.damping(matrix, rotations) @ v) == pytest.approx(rate * (q @ (matrix @ q)), rel=1e-12)


def test_supports_marked_by_abaqus_are_held(tmp_path: Path) -> None:
    stiff = K.copy()
    stiff[0, 0] = 1e36
    structure = ImportedStructure.read(
        mass=write_labelled(tmp_path / "m.mtx", M),
        stiffness=write_labelled(tmp_path / "k.mtx", stiff),
        units="kg, m, s",
    )
    assert structure.dofs == tuple(DOFS[1:])
    np.testing.assert_allclose(structure.stiffness.toarray(), K[1:, 1:])
    np.testing.assert_allclose(structure.row(10, (1.0, 1.0)), [1, 0, 0])


def test_coordinates_are_numbered_node_by_node_and_held_ones_left_out(tmp_path: Path) -> None:
    paths = write_numpy(tmp_path)
    np.save(tmp_path / "d.npy", 0.1 * K)
    structure = ImportedStructure.read(
        mass=paths["mass"],
        stiffness=paths["stiffness"],
        damping=tmp_path / "d.npy",
        per_node=2,
        units="kg, m, s",
        fixed=[(2, 1)],
    )
    assert structure.dofs == ((1, 1), (1, 2), (2, 2))
    np.testing.assert_allclose(structure.damping.toarray(), 0.1 * K[np.ix_([0, 1, 3], [0, 1, 3])])
    with pytest.raises(InvalidModel, match="per_node is 3, which does not fit 4 coordinates"):
        ImportedStructure.read(mass=paths["mass"], stiffness=paths["stiffness"], per_node=3, units="kg, m, s")


def two_nodes() -> ImportedStructure:
    return ImportedStructure(M, K, dofs=DOFS, nodes={10: (0.0, 0.0), 25: (3000.0, 4000.0)}, units="kg, mm, s")


def test_a_pair_of_nodes_has_its_normal_gap_and_tangents() -> None:
    structure = two_nodes()
    contact = structure.contact("pair", 25, 10, normal=(3.0, 4.0), friction=0.2, restitution=0.5)
    np.testing.assert_allclose(contact.normal, [-0.6, -0.8, 0.6, 0.8])
    assert float(contact.gap.value(0.0)) == pytest.approx(5.0)  # 5000 mm
    np.testing.assert_allclose(contact.tangents, [[-0.8, 0.6, 0.8, -0.6]])
    ground = structure.contact("ground", 10, normal=(0.0, 2.0), gap=0.001)
    np.testing.assert_allclose(ground.normal, [0, 1, 0, 0])
    system = structure.system([contact, ground])
    assert system.contacts.count == 2
    with pytest.raises(InvalidModel, match="needs a gap"):
        structure.contact("ground", 10, normal=(0.0, 1.0))
    with pytest.raises(InvalidModel, match="there is no node 11"):
        structure.contact("ground", 11, normal=(0.0, 1.0), gap=0.0)


def test_contact_in_space_has_two_directions_across() -> None:
    dofs = [(node, direction) for node in (1, 2) for direction in (1, 2, 3)]
    structure = ImportedStructure(np.eye(6), np.eye(6), dofs=dofs, units="kg, m, s")
    normal = np.array([1.0, 2.0, -2.0]) / 3
    contact = structure.contact("pair", 1, 2, normal=normal, gap=0.0, friction=0.3)
    directions = np.vstack((contact.normal, contact.tangents))[:, :3]
    np.testing.assert_allclose(directions @ directions.T, np.eye(3), atol=1e-14)


def test_a_table_of_pairs_gives_contacts_by_name(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text(
        "name, first, second, nx, ny, nz, gap\n# joint\nleft, 25, 10, 0, 1, 0, 0.002\nfloor, 10,, 1, 0, 0, 0.5\n"
    )
    contacts = two_nodes().contacts(table, restitution=0.3)
    assert [contact.name for contact in contacts] == ["left", "floor"]
    np.testing.assert_allclose(contacts[0].normal, [0, -1, 0, 1])
    np.testing.assert_allclose(contacts[1].normal, [1, 0, 0, 0])
    same = two_nodes().contacts([Pair("left", 25, 10, (0.0, 1.0, 0.0))])
    assert float(same[0].gap.value(0.0)) == pytest.approx(4.0)


def test_titles_old_exponents_and_compressed_files_are_read(tmp_path: Path) -> None:
    table = tmp_path / "nodes.inp"
    table.write_text("*NODE\n1, 0., 1.5D+01, 0.\n 2, 1., 2., 3.\n")
    nodes = read_nodes(table)
    np.testing.assert_allclose(nodes[1], [0.0, 15.0, 0.0])
    with gzip.open(tmp_path / "k.mtx.gz", "wt") as stream:
        stream.write("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4.0\n")
    assert read_matrix(tmp_path / "k.mtx.gz").matrix.toarray().tolist() == [[4.0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("k.sti", "1 1 2.0\n2 two 3.0\n", r"k\.sti, line 2: '2 two 3\.0' is not a row of numbers"),
        ("k.sti", "1 1 2.0\n2 1\n", r"k\.sti, line 2: 2 numbers, expected 3"),
        ("k.sti", "# x\n1 1 2.0\n0 1 3.0\n", r"k\.sti, line 3: 0 is not a row or column number"),
        ("k.sti", "1 1 2.0\n1.5 1 3.0\n", r"k\.sti, line 2: 1\.5 is not a row or column number"),
        ("k.sti", "1 1 2.0\n2 1 nan\n", r"k\.sti, line 2: .* not finite"),
        ("k.sti", "1 1 2.0\n1 1 3.0\n", "row 1, column 1 is there twice"),
        ("k.sti", "1 1 2.0\n1 2 3.0\n2 1 4.0\n", "not symmetric"),
        ("k.sti", "\n", "holds no rows of 3 or 5 numbers"),
        ("k.mtx", "** job\n1,1, 1,1, 2.\n1,8, 1,1, 3.\n", r"k\.mtx, line 3: node 1, direction 8"),
        ("k.mtx", "-4,1, 1,1, 2.\n", "Internal nodes"),
        (
            "k.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 9 3.0\n",
            "not a valid Matrix Market file",
        ),
        ("k.mtx", "%%MatrixMarket matrix array real general\n2 1\n1.0\n2.0\n", r"shape \(2, 1\)"),
        ("k.npz", "no archive", "cannot be read as a matrix"),
    ],
)
def test_errors_of_matrix_files_name_file_and_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidModel, match=message):
        read_matrix(path)


def test_objects_in_numpy_files_are_not_executed(tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", np.array([object()], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidModel, match="cannot be read as a matrix"):
        read_matrix(tmp_path / "k.npy")
    np.savez(tmp_path / "k.npz", a=np.eye(2), b=np.eye(2))
    with pytest.raises(InvalidModel, match="holds a, b, but no array 'mass'"):
        read_matrix(tmp_path / "k.npz", "mass")


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_dofs, "1.1\n1.7\n", "line 2: direction 7"),
        (read_dofs, "1.1\nfirst\n", "line 2: 'first' is not a node and a direction"),
        (read_nodes, "1, 0, 0\n1, 2, 0\n", "node 1 is there twice"),
        (read_nodes, "1, 0, 0\n2.5, 2, 0\n", r"line 2: 2\.5 is not a node number"),
        (lambda path: two_nodes().contacts(path), "a, 25, 10, 1\n", "line 1: 4 entries"),
        (lambda path: two_nodes().contacts(path), "a, x, 10, 1, 0, 0, 0\n", "line 1: .* whole node numbers"),
        (lambda path: two_nodes().contacts(path), "", "holds no contact pairs"),
    ],
)
def test_a_wrong_table_is_refused_with_the_reason(tmp_path: Path, read, text: str, message: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InvalidModel, match=message):
        read(path)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ImportedStructure(M, K, units="t, mm"), "expected mass, length and time"),
        (lambda: ImportedStructure(M, K, units="mm, t, s"), "expected mass, length and time"),
        (lambda: ImportedStructure(M, K, dofs=DOFS[:3], units="kg, m, s"), "dofs names 3 coordinates"),
        (lambda: ImportedStructure(M, K, dofs=[(1, 1)] * 4, units="kg, m, s"), "node 1, direction 1 twice"),
        (lambda: ImportedStructure(M, K, dofs=DOFS, units="kg, m, s", fixed=[7]), "fixed names 7"),
        (
            lambda: ImportedStructure(M, K, dofs=DOFS, units="kg, m, s", fixed=[(10, 3)]),
            r"fixed names \(10, 3\)",
        ),
        (
            lambda: ImportedStructure(M, K, dofs=DOFS, units="kg, m, s", fixed=[10, 25]),
            "all coordinates are fixed",
        ),
        (lambda: ImportedStructure(M, np.eye(3), units="kg, m, s"), r"stiffness has shape \(3, 3\)"),
        (lambda: two_nodes().row(10, "up"), "there is no direction 'up'"),
        (lambda: two_nodes().row(10, 7), "direction is 7"),
        (lambda: two_nodes().place(11), "the place of node 11 is not known"),
        (lambda: read_matrix("nowhere.mtx"), "there is no file 'nowhere.mtx'"),
    ],
)
def test_wrong_imports_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidModel, match=message):
        build()


def test_mixed_exports_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="export all in one format"):
        ImportedStructure.read(
            mass=write_labelled(tmp_path / "m.mtx", M),
            stiffness=write_numbered(tmp_path / "k.sti", K),
            units="kg, m, s",
        )


@pytest.mark.parametrize(
    "row", ["a, 1, 2, 1, 0, 0, " + "x" * 200_000, 'a, 1, "', "\ud800, 1, 2, x", "a, 1" + ", 2" * 90_000]
)
def test_tables_that_are_none_are_refused_in_one_short_sentence(row: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(
        f"a, 1, 2, 1, 0, 0, 0\n{row}\n", encoding="utf-8", errors="surrogatepass"
    )
    (tmp_path / "rows.dof").write_text(f"1.1\n{row}\n", encoding="utf-8", errors="surrogatepass")
    for reader, name in ((read_pairs, "pairs.csv"), (read_dofs, "rows.dof")):
        with pytest.raises(InvalidModel, match=rf"{name}, line 2") as refused:
            reader(tmp_path / name)
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_names_in_a_file_stay_in_one_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "k.npz", **{"a\nb": M, "c" * 5000: M})
    with pytest.raises(InvalidModel, match="but no array 'stiffness'") as refused:
        read_matrix(tmp_path / "k.npz")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
