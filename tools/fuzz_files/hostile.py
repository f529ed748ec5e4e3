"""Files that want to do harm, with sizes and depths drawn by chance: to be read elsewhere, to take memory, to hang.

``OUTSIDE`` is a file beside the folder of a case that nothing in the case may open; it is a pipe, which hangs whoever
does.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import sqlite3
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tools.fuzz_files import damage
from tools.fuzz_files.damage import sealed

OUTSIDE = "outside"
_BLOCK = 512


def make_hostile(kind: str, case: Path, chance: random.Random) -> str:
    """Turn a whole case into a hostile one; what was done."""
    chosen = chance.choice(_MAKERS[kind])
    chosen(case, chance)
    return chosen.__name__.strip("_")


def _container(case: Path, change: Callable[[Any], None], name: str = "run.h5") -> None:
    """Change a container by h5py, and seal it again."""
    import h5py

    file = next(case.rglob(name))
    content = file.read_bytes()
    image = io.BytesIO(content)
    with h5py.File(image, "r+", libver=("v110", "v110")) as stored:
        change(stored)
    file.write_bytes(sealed(content[:_BLOCK], image.getvalue()[_BLOCK:]))


def _one(stored: Any, chance: random.Random) -> tuple[Any, str]:
    """A group and the name of one of its arrays."""
    group = stored["samples"]
    return group, chance.choice(sorted(group))


def _external_storage(case: Path, chance: random.Random) -> None:
    def change(stored: Any) -> None:
        group, name = _one(stored, chance)
        shape, kind = group[name].shape, group[name].dtype
        del group[name]
        outside = str(case.parent / OUTSIDE)
        group.create_dataset(name, shape, kind, external=[(outside, 0, max(int(np.prod(shape)), 1) * 8)])

    _container(case, change)


def _external_link(case: Path, chance: random.Random) -> None:
    import h5py

    def change(stored: Any) -> None:
        group, name = _one(stored, chance)
        if chance.random() < 0.2:
            del stored["samples"]
            stored["samples"] = h5py.ExternalLink(str(case.parent / OUTSIDE), "/samples")
            return
        del group[name]
        group[name] = h5py.ExternalLink(str(case.parent / OUTSIDE), f"/samples/{name}")

    _container(case, change)


def _soft_link(case: Path, chance: random.Random) -> None:
    import h5py

    def change(stored: Any) -> None:
        group, name = _one(stored, chance)
        group.move(name, "kept")
        group[name] = h5py.SoftLink("/samples/kept")

    _container(case, change)


def _virtual(case: Path, chance: random.Random) -> None:
    import h5py

    def change(stored: Any) -> None:
        group, name = _one(stored, chance)
        shape, kind = group[name].shape, group[name].dtype
        layout = h5py.VirtualLayout(shape, kind)
        if layout.shape and min(layout.shape, default=0):
            layout[:] = h5py.VirtualSource(str(case.parent / OUTSIDE), "x", shape)
        del group[name]
        group.create_virtual_dataset(name, layout)

    _container(case, change)


def _declared(case: Path, chance: random.Random) -> None:
    """Very many samples of which none is written."""
    count = int(10 ** chance.uniform(5, 12))

    def change(stored: Any) -> None:
        group = stored["samples"]
        for name in list(group) if chance.random() < 0.7 else [_one(stored, chance)[1]]:
            columns, kind = group[name].shape[1:], group[name].dtype
            del group[name]
            rows = chance.choice([1, 1000, 100_000])
            chunks = (rows, *columns) if all(columns) else None
            group.create_dataset(name, (count, *columns), kind, chunks=chunks)

    _container(case, change)


def _bomb(case: Path, chance: random.Random) -> None:
    """Very many equal numbers, packed to a thousandth."""
    count = int(10 ** chance.uniform(5, 6.8))

    def change(stored: Any) -> None:
        group, name = _one(stored, chance)
        columns, kind = group[name].shape[1:], group[name].dtype
        del group[name]
        options = {"chunks": (min(count, 100_000), *columns), "compression": "gzip", "shuffle": True}
        packed = options if all(columns) else {}
        group.create_dataset(name, data=np.zeros((count, *columns), kind), **packed)

    _container(case, change)


def _strange(case: Path, chance: random.Random) -> None:
    """Types, filters and kinds of objects that klapper does not write."""
    import h5py

    def change(stored: Any) -> None:
        group, name = _one(stored, chance)
        shape, array = group[name].shape, group[name][()]
        del group[name]
        match chance.randrange(7):
            case 0:
                group.create_dataset(name, (max(len(array), 1),), h5py.string_dtype())
            case 1:
                group.create_dataset(name, (3,), h5py.ref_dtype)
            case 2:
                group.create_group(name)
            case 3:
                filtered = {"chunks": True, "fletcher32": True} if array.size else {}
                group.create_dataset(name, data=array, **filtered)
            case 4:
                filtered = {"compression": "lzf"} if array.size else {}
                group.create_dataset(name, data=array, **filtered)
            case 5:
                grows = {"maxshape": (None, *shape[1:]), "chunks": True} if array.size else {}
                group.create_dataset(name, data=array, **grows)
            case _:
                group[name] = group  # a circle

    _container(case, change)


def _no_file(case: Path, chance: random.Random) -> None:
    """A folder, a pipe or a link to a device in place of a file."""
    import os

    file = chance.choice(sorted(each for each in case.rglob("*") if each.is_file()))
    file.unlink()
    match chance.randrange(6):
        case 0:
            file.mkdir()
        case 1:
            os.mkfifo(file)
        case 2:
            file.symlink_to("/dev/zero")
        case 3:
            file.symlink_to(file.name)
        case 4:
            file.symlink_to(case.parent / OUTSIDE)
        case _:
            file.touch()


def _foreign_part(case: Path, chance: random.Random) -> None:
    import h5py

    def change(stored: Any) -> None:
        group = stored["snapshot"]
        name = chance.choice(sorted(group))
        del group[name]
        if chance.random() < 0.5:
            group[name] = h5py.ExternalLink(str(case.parent / OUTSIDE), "/x")
        else:
            chunks = (int(10 ** chance.uniform(3, 6)),)
            group.create_dataset(name, (int(10 ** chance.uniform(6, 11)),), "f8", chunks=chunks)

    _container(case, change, chance.choice(sorted(file.name for file in case.rglob("part-*.h5"))))


def _many_entries(case: Path, chance: random.Random) -> None:
    """One array that is named very often."""

    def change(stored: Any) -> None:
        group = stored["snapshot"]
        del group["entries"]
        named = [{"name": f"x{k}", "kind": "array", "array": 0} for k in range(chance.randrange(1, 20_000))]
        group["entries"] = np.bytes_(json.dumps(named).encode())
        del group["array 0"]
        group.create_dataset("array 0", data=np.zeros(10**6), chunks=(10**5,), compression="gzip")

    _container(case, change, "part-000001.h5")


def _about(case: Path, chance: random.Random) -> None:
    """Texts of a run with another value somewhere."""

    def change(stored: Any) -> None:
        name = chance.choice(["about", "about", "layout"])
        content = damage.changed(json.loads(stored[name][()]), chance)
        del stored[name]
        stored[name] = np.bytes_(json.dumps(content).encode() or b" ")

    _container(case, change)


def _names(case: Path, chance: random.Random) -> None:
    """Very many names in the layout, the last of them twice."""

    def change(stored: Any) -> None:
        layout = json.loads(stored["layout"][()])
        names = [f"x{k}" for k in range(int(10 ** chance.uniform(3, 4.7)))]
        layout[chance.choice(["coordinates", "contacts"])] = [*names, names[-1]]
        del stored["layout"]
        stored["layout"] = np.bytes_(json.dumps(layout).encode())

    _container(case, change)


def _json(case: Path, chance: random.Random) -> None:
    """Deep, long and impossible JSON."""
    file = case / ("result.json" if (case / "result.json").exists() else "header.json")
    size = int(10 ** chance.uniform(2, 6))
    whole = json.loads(file.read_text(encoding="utf-8"))
    text = chance.choice(
        [
            "[" * size,
            '{"a":' * size,
            "[" * size + "]" * size,
            json.dumps({**whole, "numbers": "@"}).replace('"@"', '{"a": ' + "[" * size + "]" * size + "}"),
            json.dumps({**whole, "numbers": "@"}).replace('"@"', '{"a": ' + "9" * size + "}"),
            json.dumps({**whole, "numbers": "@"}).replace('"@"', '{"a": NaN, "b": 1e999}'),
            json.dumps({**whole, "audit": {"\ud800": "\udfff"}}),
            json.dumps({**whole, "checks": whole.get("checks", []) * min(size, 3000)}),
            '"' + "\\" * size,
            json.dumps({**whole, "example": "x" * size}),
        ]
    )
    file.write_text(text, encoding="utf-8")


def _toml(case: Path, chance: random.Random) -> None:
    """Deep, long and impossible TOML."""
    file = chance.choice(sorted(case.glob("*.toml")))
    size = int(10 ** chance.uniform(1, 5.9))
    whole = file.read_text(encoding="utf-8")
    few = min(size, 300)
    text = chance.choice(
        [
            "a" + ".a" * (size // 2) + " = 1",
            "[" + "a." * (size // 2) + "a]",
            "a = " + "[" * size,
            "a = " + "{a=" * (size // 3) + "1" + "}" * (size // 3),
            "a = " + "[" * few + "]" * few,
            whole + "\nx = 0x" + "f" * size,
            whole + "\nx = " + "9" * size,
            whole + '\nx = "' + '\\"' * (size // 2),
            whole + '\nx = """' + '""' * (size // 2),
            whole + "\nx = '''" + "''\n" * (size // 3),
            "".join(f"k{k} = 1\n" for k in range(min(size, 90_000))),
            "".join(f"[t{k}.a.b.c]\n" for k in range(min(size, 50_000))),
            "[[a]]\n" * (size // 6),
            "a = [" + "[]," * (size // 3) + "]",
            "a = {" + ",".join(f"k{k}.b.c=1" for k in range(min(size, 60_000))) + "}",
            whole.replace("[model]", f'[model]\ntitle = "{"x" * size}"', 1),
            whole + "\n#" + "\x85" * (size // 2),
            whole.replace("= [", "= [" + "1.0, " * min(size, 100_000), 1),
            whole + f"\n[body.{'b' * min(size, 1000)}]\nshape = 1",
            "\n".join(f"{'.'.join('a' * 19)}.k{k} = 1" for k in range(min(size, 20_000))),
        ]
    )
    file.write_text(text[:1_200_000], encoding="utf-8")


def _wishes(case: Path, chance: random.Random) -> None:
    """Studies of very many points, and names of files outside."""
    file = case / "study.toml"
    text = file.read_text(encoding="utf-8")
    count = int(10 ** chance.uniform(3, 18))
    outside = chance.choice([f"../{OUTSIDE}", str(case.parent / OUTSIDE), "a\\u0000b", "x" * 5000])
    new = chance.choice(
        [
            text.replace("count = 5", f"count = {count}").replace("count = 16", f"count = {count}"),
            text.replace("accuracy = 1e-3", "accuracy = 1e-300"),
            f"replicates = {count}\n" + text,
            text.replace('store = "s"', f'store = "{outside}"'),
            text.replace("my.toml", outside),
            text.replace("0.1,", "[" * 19 + "]" * 19 + ","),
            text.replace("from = 0.1", "from = -inf"),
            text.replace("bouncing-ball", outside),
            text.replace("[over]", "[over]\n" + "".join(f"p{k} = [1, 2, 3]\n" for k in range(60))),
        ]
    )
    file.write_text(new, encoding="utf-8")


def _named(case: Path, chance: random.Random) -> None:
    """A scenario that names files outside, sizes beyond reason, and numbers that nobody can compute."""
    outside = chance.choice(
        [f"../{OUTSIDE}", str(case.parent / OUTSIDE), "/etc/passwd", "a\\u0000b.npz", "x" * 5000, "/dev/zero"]
    )
    number = chance.choice(
        ["1e200", "1e-200", "1e60", "-1e59", "1e-59", "9e18", "inf", "nan", "1e300", "4e307"]
    )
    mesh = f'{{ kind = "file", file = "{outside}" }}'
    sizes = chance.choice(["10000, 10000", "4, 2", "9, 9"])
    cells = f'{{ kind = "block", sides = [{number}, 1.0], cells = [{sizes}] }}'
    linear = (
        f'model = {{ kind = "linear", mass = [1.0, {chance.choice(["1.0", number])}], stiffness = "@" }}\n'
        f'scheme = {{ kind = "{chance.choice(["exact", "event-driven"])}" }}\nrun = {{ until = {number} }}\n'
        f'[[contact]]\nname = "c"\nnormal = [{number}, 0]\ngap = {chance.choice(["0.0", "-1.0", number])}\n'
    )
    solid = (
        'model = { kind = "continuum" }\nscheme = { kind = "quasi-static", step_size = 0.1 }\nrun = { until = 1.0 }\n'
        f'[solid.a]\nmesh = {chance.choice([mesh, cells])}\nlaw = {{ kind = "neo-hooke", youngs_modulus = 1e6, '
        "poisson_ratio = 0.3 }\ndensity = 1.0\n"
    )
    text = chance.choice([linear.replace('"@"', f'"{outside}"'), linear.replace('"@"', "[1.0, 1.0]"), solid])
    (case / "my.toml").write_text(text, encoding="utf-8")


def _program(case: Path, chance: random.Random) -> None:
    """A store that brings a program with it."""
    base = sqlite3.connect(case / "study.sqlite")
    base.execute("PRAGMA journal_mode = DELETE")
    forever = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, 'parameter', 'x' FROM c"
    )
    statements = [
        ["DROP TABLE columns", f"CREATE VIEW columns(number, name, role) AS {forever}"],
        ["ALTER TABLE points RENAME TO p", "CREATE VIEW points AS SELECT p.* FROM p, p AS b, p AS c, p AS d"],
        ["CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM points; END"],
        ["CREATE INDEX i ON points (abs(x))"],
        ["ALTER TABLE points ADD COLUMN big TEXT AS (hex(zeroblob(100000000)))"],
        ["CREATE VIRTUAL TABLE v USING fts5(a)"],
        [f"UPDATE about SET value = '{'x' * 1000}'"],
        ["UPDATE columns SET stored_as = 'x\" FROM points; --' WHERE number = 1"],
        ["UPDATE columns SET name = number"],
        ["UPDATE points SET error = zeroblob(300000)"],
        [f"UPDATE points SET \"list\" = '{'[' * 5000}'"],
        ["UPDATE points SET value = 'text', word = x'ff00', status = 5"],
        ["DELETE FROM about"],
        ["DELETE FROM columns WHERE number = 2"],
        [
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE about (a)' WHERE name='about'",
        ],
        ["PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 2"],
        [f"ATTACH '{case / 'other'}' AS o", "CREATE TABLE o.points (a)"],
    ]
    try:
        for statement in chance.choice(statements):
            base.execute(statement)
        base.commit()
    except sqlite3.Error:
        base.execute("DELETE FROM about")
        base.commit()
    finally:
        base.close()


def _cells(case: Path, chance: random.Random) -> None:
    """Other values in the cells of a store, of any kind."""
    base = sqlite3.connect(case / "study.sqlite")
    base.execute("PRAGMA journal_mode = DELETE")
    values: list[Any] = [
        None, 0, -1, 2**62, 1e308, float("inf"), -1e-300, "", "x" * 100_000, "[" * 3000, '{"a": NaN}', '["\\ud800"]',
        b"\xff\x00", "done", "failed", "1e999", "\x1b]0;x\x07", "a\nb", '"; DROP TABLE points; --', "../../x",
    ]  # fmt: skip
    for _ in range(chance.choice([1, 1, 3])):
        table = chance.choice(["points", "points", "columns", "about", "codes"])
        column = chance.choice([row[1] for row in base.execute(f"PRAGMA table_info({table})")])
        where = chance.choice(["", f" WHERE rowid = {chance.randrange(1, 5)}"])
        with suppress(sqlite3.Error):  # a constraint of the table
            base.execute(f'UPDATE {table} SET "{column}" = ?{where}', (chance.choice(values),))
    base.commit()
    base.close()


def _journal(case: Path, chance: random.Random) -> None:
    """A journal beside a store: hot, and naming a file outside; or nonsense."""
    name = str(case.parent / "kept").encode()
    tail = (
        name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
    )
    head = bytes.fromhex("d9d505f920a163d7") + (0).to_bytes(4, "big") + chance.randbytes(4)
    head += (2).to_bytes(4, "big") + (512).to_bytes(4, "big") + (4096).to_bytes(4, "big")
    end = chance.choice(["-journal", "-journal", "-wal"])
    content = chance.choice([head.ljust(512, b"\0") + tail, chance.randbytes(5000), head.ljust(512, b"\0")])
    (case / f"study.sqlite{end}").write_bytes(content)


def _mesh(case: Path, chance: random.Random) -> None:
    """Meshes that declare too much, name other files, or unpack to very much."""
    for file in case.iterdir():
        file.unlink()
    count = int(10 ** chance.uniform(4, 18))
    outside = chance.choice(
        [f"../{OUTSIDE}", str(case.parent / OUTSIDE), "/etc/passwd", "part.inp", "/dev/zero"]
    )
    piece = f'<Piece NumberOfPoints="{count}" NumberOfCells="{count}">'
    vtu = '<?xml version="1.0"?>{doctype}<VTKFile type="UnstructuredGrid" version="0.1" '
    vtu += 'byte_order="LittleEndian"{more}>'
    points = '<Points><DataArray type="Float64" NumberOfComponents="3" format="{format}">{data}</DataArray></Points>'
    bomb = zlib.compress(bytes(int(10 ** chance.uniform(5, 7.5))))
    packed = base64.b64encode(np.array([1, 2**31, 0, len(bomb)], "<u4").tobytes()) + base64.b64encode(bomb)
    laugh = (
        "<!DOCTYPE x [<!ENTITY a0 'ha'>"
        + "".join(f"<!ENTITY a{k + 1} '{f'&a{k};' * 10}'>" for k in range(9))
        + "]>"
    )
    body = "<UnstructuredGrid>" + piece + "{points}</Piece></UnstructuredGrid></VTKFile>"
    files = {
        "part.inp": chance.choice(
            [
                f"*INCLUDE, INPUT={outside}\n",
                f"*NODE, INPUT={outside}\n",
                "*NODE\n1, 0, 0\n*ELEMENT, TYPE=CPS4\n1, 1, 2, 3, 4\n" * 50,
                "*NODE\n1,0,0\n2,1,0\n3,1,1\n*ELEMENT, TYPE=CPS3, ELSET=a\n1,1,2,3\n"
                f"*ELSET, ELSET=b, GENERATE\n1,{count},1\n",
                "*ELEMENT, TYPE=CPS4, ELSET=" + "a" * 100_000 + "\n1,1,2,3,4\n",
            ]
        ),
        "part.msh": chance.choice(
            [
                f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{count}\n1 0 0 0\n$EndNodes\n",
                f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n{count} {count} 1 {count}\n2 1 0 {count}\n$EndNodes\n",
                f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n{count} 0 0 0\n$EndEntities\n",
                f'$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{count}\n2 1 "a"\n$EndPhysicalNames\n',
                f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n{count}\n1 3 {count} 1 1 2 3 4\n$EndElements\n",
                '(0 "x")\n(10 (0 1 ' + f"{count:x} 1 3))\n" + "(" * min(count, 100_000),
            ]
        ),
        "part.vtk": chance.choice(
            [
                "# vtk DataFile Version 5.1\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                + f"POINTS {count} double\n0 0 0\n",
                "# vtk DataFile Version 4.2\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
                + f"POINTS {count} double\n",
                "# vtk DataFile Version 4.2\nx\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 9999 9999 9999\n"
                "ORIGIN 0 0 0\nSPACING 1 1 1\n",
                "# vtk DataFile Version 4.2\nx\nASCII\nDATASET RECTILINEAR_GRID\nDIMENSIONS 9999 9999 9999\n",
                f"# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 1 1 0\n"
                f"CELLS {count} {count}\n3 0 1 2\nCELL_TYPES 1\n5\n",
            ]
        ),
        "part.vtu": chance.choice(
            [
                vtu.format(doctype=laugh, more="")
                + body.format(points=points.format(format="ascii", data="&a9;")),
                vtu.format(doctype="", more=' compressor="vtkZLibDataCompressor"')
                + body.format(points=points.format(format="binary", data=packed.decode())),
                vtu.format(doctype=f"<!DOCTYPE x [<!ENTITY e SYSTEM '{outside}'>]>", more="")
                + body.format(points=points.format(format="ascii", data="&e;")),
                vtu.format(doctype="", more="") + "<a>" * min(count, 200_000),
                vtu.format(doctype="", more="")
                + body.format(points=points.format(format="ascii", data="1 " * 9)),
            ]
        ),
        "part.su2": f"NDIME= 2\nNELEM= {count}\n9 0 1 2 3 0\nNPOIN= {count}\n0 0 0\n",
        "part.mesh": f"MeshVersionFormatted 2\nDimension 2\nVertices\n{count}\n0 0 1\n",
    }
    name = chance.choice(sorted(files))
    (case / name).write_text(files[name], encoding="utf-8")


def _hdf5_mesh(case: Path, chance: random.Random) -> None:
    """A mesh in HDF5 (.med, .xdmf) whose numbers lie elsewhere, or are very many."""
    import h5py

    for file in case.iterdir():
        file.unlink()
    outside = chance.choice([str(case.parent / OUTSIDE), f"../{OUTSIDE}", "/etc/passwd", "/dev/zero"])
    count = int(10 ** chance.uniform(5, 12))
    with h5py.File(case / "part.med", "w") as stored:
        mesh = stored.create_group("ENS_MAA/mesh")
        mesh.attrs["ESP"] = 2
        nodes, cells = mesh.create_group("1/NOE"), mesh.create_group("1/MAI/TR3")
        stored.create_group("FAS/mesh")
        cells.create_dataset("NOD", data=np.array([1, 2, 3])).attrs["NBR"] = 1
        match chance.randrange(6):
            case 0:
                nodes.create_dataset("COO", (6,), "f8", external=[(outside, 0, 48)])
            case 1:
                nodes["COO"] = h5py.ExternalLink(outside, "/x")
            case 2:
                layout = h5py.VirtualLayout((6,), "f8")
                layout[:] = h5py.VirtualSource(outside, "x", (6,))
                nodes.create_virtual_dataset("COO", layout)
            case 3:
                nodes.create_dataset("COO", (count,), "f8", chunks=(1000,))
            case 4:
                zeros = np.zeros(min(count, 10**7))
                nodes.create_dataset("COO", data=zeros, chunks=(10**5,), compression="gzip")
            case _:
                del mesh["1"]
                mesh["1"] = mesh
        if isinstance(nodes.get("COO") if nodes else None, h5py.Dataset):
            nodes["COO"].attrs["NBR"] = chance.choice([3, count, -1, 0])
    if chance.random() < 0.4:
        place = chance.choice(["part.med", outside, "part.xdmf"])
        item = f'<DataItem Dimensions="3 2" Format="HDF">{place}:/ENS_MAA/mesh/1/NOE/COO</DataItem>'
        item = chance.choice([item, item.replace("HDF", "Binary"), item * 1000])
        (case / "part.xdmf").write_text(
            '<Xdmf Version="3.0"><Domain><Grid><Topology TopologyType="Triangle"><DataItem DataType="Int" '
            f'Dimensions="1 3" Format="XML">0 1 2</DataItem></Topology><Geometry Type="XY">{item}</Geometry></Grid>'
            "</Domain></Xdmf>",
            encoding="utf-8",
        )


def _table(case: Path, chance: random.Random) -> None:
    """Tables of nodes, rows and pairs with impossible entries."""
    file = chance.choice(sorted(case.glob("*.csv")) + sorted(case.glob("*.dof")))
    lines = file.read_text(encoding="utf-8").splitlines()
    size = int(10 ** chance.uniform(2, 5.7))
    place = chance.randrange(len(lines))
    cells = lines[place].split(",")
    cells[chance.randrange(len(cells))] = chance.choice(
        [
            "9" * min(size, 5000),
            "1e999",
            "nan",
            "-1",
            "x" * size,
            '"' + "x" * size,
            "1e300",
            "\0",
            "\ud800",
            "²",
            "٣",
        ]
    )
    lines[place] = chance.choice([",".join(cells), "," * size, '"' * size, lines[place] + "," + cells[0]])
    file.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")


def _state(case: Path, chance: random.Random) -> None:
    """A state from which nobody can go on: lengths, numbers and kinds that are not those of the model."""

    def change(stored: Any) -> None:
        group = stored["snapshot"]
        names = sorted(name for name in group if name != "entries")
        if chance.random() < 0.4:
            entries = damage.changed(json.loads(group["entries"][()]), chance)
            del group["entries"]
            group["entries"] = np.bytes_(json.dumps(entries).encode() or b" ")
            return
        name = chance.choice(names)
        array = group[name][()]
        number = chance.choice([np.nan, np.inf, -1, 2**31, 2**62, 1e300, -1e-300, 7, 0])
        del group[name]
        match chance.randrange(5):
            case 0:
                array = np.resize(array, int(10 ** chance.uniform(0, 5)))
            case 1:
                array = np.array(array, dtype=float).ravel()[: chance.randrange(4)]
            case 2:
                array = np.array(array).astype(chance.choice(["f4", "i8", "u1", "c16", "?"]))
            case 3:
                array = np.zeros((0, 3))
            case _:
                array = np.array(array, dtype=float)
                if array.size:
                    array.flat[chance.randrange(array.size)] = number
                elif not array.ndim:
                    array = np.array(float(number))
        group.create_dataset(name, data=array)

    parts = sorted(file.name for file in case.rglob("part-*.h5"))
    _container(case, change, parts[-1] if chance.random() < 0.9 else parts[0])


def _link(case: Path, chance: random.Random) -> None:
    """Links in the folder of the studio that lead out of it, or in circles."""
    place = chance.choice(sorted(each for each in (case, *case.rglob("*")) if each.is_dir()))
    target = chance.choice([case.parent / OUTSIDE, case.parent, Path("/etc"), Path("/dev"), Path("."), case])
    names = [
        "run.log",
        "more",
        "scenario.toml",
        "report.html",
        "runs",
        "x.toml",
        "x.h5",
        "study.sqlite-wal",
        "lock",
    ]
    link = place / chance.choice(names)
    if link.is_dir() and not link.is_symlink():
        link = place / "more"
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def _odd_names(case: Path, chance: random.Random) -> None:
    """Files and folders whose names are orders to a terminal, no text, very long, deep or very many."""
    import os

    file = chance.choice(sorted(each for each in case.rglob("*") if each.is_file()))
    odd = chance.choice(
        [
            b"\x1b]0;x\x07",
            b"a\nb",
            b"\xff\xfe",
            b"<script>alert(1)<",
            b"x" * 240,
            b"%2e%2e",
            b"--out=x",
            b"\xe2\x80\xae",
            b"'; --",
        ]
    )
    if chance.random() < 0.3:
        folder = case
        for _ in range(chance.randrange(1, 40)):
            folder = folder / "d"
            folder.mkdir()
        (folder / file.name).write_bytes(file.read_bytes())
    elif chance.random() < 0.5:
        file.rename(file.with_name(os.fsdecode(odd) + file.suffix))
    else:
        file.parent.rename(file.parent.with_name(os.fsdecode(odd))) if file.parent != case else file.unlink()


def _page(case: Path, chance: random.Random) -> None:
    """Pages, logs and copies of scenarios beside runs, which are very long or no text."""
    size = int(10 ** chance.uniform(2, 5.9))
    name = chance.choice(["report.html", "run.log", "scenario.toml", "more.html"])
    folder = chance.choice(sorted(each for each in case.iterdir() if each.is_dir()))
    text = chance.choice(
        [
            b"\xff",
            b"<script>",
            b"[model]\ntitle = 3\n",
            b"a\n",
            b"\0",
            b"a = {b.c = [[[1]]]}\n",
            b"\xed\xa0\x80",
        ]
    )
    (folder / name).write_bytes((text * size)[:size])


def _matrix(case: Path, chance: random.Random) -> None:
    """Matrices that declare too much or unpack to very much."""
    for file in case.iterdir():
        file.unlink()
    count = int(10 ** chance.uniform(4, 18))
    few = int(10 ** chance.uniform(4, 7.2))
    match chance.randrange(9):
        case 0:
            (case / "k.sti").write_text(f"1 1 1.0\n{count} {count} 1.0\n")
        case 1:
            head = "%%MatrixMarket matrix coordinate real symmetric\n"
            (case / "k.mtx").write_text(f"{head}{count} {count} {chance.choice([1, count])}\n1 1 1.0\n")
        case 2:
            (case / "k.mtx").write_text(f"%%MatrixMarket matrix array real general\n{count} {count}\n1.0\n")
        case 3:
            (case / "k.mtx.gz").write_bytes(gzip.compress(b" " * few))
        case 4:
            (case / "k.npy").write_bytes(_npy(f"({count}, {count})"))
        case 5:
            (case / "k.npy").write_bytes(
                _npy(chance.choice(["(-1, 2)", "(2**9, 2)", "(" * 900, "'a'", "(1, 1)"]))
            )
        case 6:
            with zipfile.ZipFile(case / "k.npz", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("stiffness.npy", _npy(f"({few // 8}, 1)") + bytes(few))
        case 7:
            parts = {"format": np.array(b"coo"), "shape": np.array([count, count]), "data": np.ones(1)}
            np.savez(case / "k.npz", row=np.zeros(1, int), col=np.zeros(1, int), **parts)
        case _:
            parts = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2)}
            indices = np.array([0, chance.choice([1, 5, -7, 2**40])])
            indptr = np.array([0, chance.choice([1, 9, -3]), 2])
            np.savez(case / "k.npz", indices=indices, indptr=indptr, **parts)


def _npy(shape: str) -> bytes:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


_MAKERS: dict[str, list[Callable[[Path, random.Random], None]]] = {
    "run": [
        _external_storage,
        _external_link,
        _soft_link,
        _virtual,
        _declared,
        _bomb,
        _strange,
        _names,
        _about,
        _about,
        _no_file,
    ],
    "part": [_foreign_part, _many_entries, _state, _state, _no_file],
    "header": [_json, _no_file],
    "result": [_json, _no_file],
    "store": [_program, _program, _cells, _cells, _journal, _no_file],
    "study": [_toml, _wishes, _wishes, _no_file],
    "scenario": [_toml, _named, _named, _no_file],
    "mesh": [_mesh, _mesh, _hdf5_mesh, _no_file],
    "matrix": [_matrix, _matrix, _matrix, _no_file],
    "table": [_table, _table, _no_file],
    "resume": [_state, _state, _state, _foreign_part],
    "studio": [_no_file, _link, _odd_names, _page],
}
