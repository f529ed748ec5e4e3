"""Whole files of every kind, made once."""

from __future__ import annotations

import io
import json
import signal
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

KINDS = (
    "run", "part", "header", "resume", "result", "store", "study", "scenario", "mesh", "matrix", "table", "studio",
)  # fmt: skip


def write_samples(folder: Path) -> None:
    """One folder of whole cases for each kind."""
    for kind in KINDS:
        (folder / kind).mkdir(parents=True)
    _runs(folder)
    _results(folder / "result")
    _stores(folder / "store", folder / "study")
    _scenarios(folder / "scenario")
    _meshes(folder / "mesh")
    _matrices(folder / "matrix")
    _tables(folder / "table")
    _interrupted(folder / "resume")
    _shown(folder)


def _runs(folder: Path) -> None:
    import shutil

    from klapper.mechanics import Contact, LinearSystem
    from klapper.results import Layout, Loaded, PartStore, Run, Samples
    from klapper.schemes import EventDriven
    from klapper.simulation import simulate

    floor = Contact("floor", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=0.3, restitution=0.5)
    ball = LinearSystem(
        [1.0, 1.0], force=[0.0, -10.0], position=[0.0, 0.5], velocity=[1.0, 0.0], contacts=[floor]
    )
    run = simulate(ball, 1.0, EventDriven())
    s, count = run.samples, len(run)
    layout = Layout(run.layout.coordinates, run.layout.velocities, tangential=1)
    log = Loaded(np.arange(count + 1), np.arange(count), s.gap[:, 0], s.impulse[:, 0], s.state[:, 0])
    bare = (np.zeros((count, 0)), np.zeros((count, 0, 2)), np.zeros((count, 0)))
    numbered = Samples(
        s.step, s.time, s.position, s.velocity, *bare, s.constraint_impulse, s.energy, s.residual, loaded=log
    )
    for name, each in (("listed", run), ("numbered", Run(layout, numbered, run.about))):
        (folder / "run" / name).mkdir()
        each.save(folder / "run" / name / "run.h5")
    for kind in ("part", "header"):
        place = folder / kind / "interrupted"
        with PartStore(place) as store:
            store.begin(run.layout, run.about, "fingerprint")
            for part in (slice(0, count // 3), slice(count // 3, count // 2), slice(count // 2, count)):
                snapshot = {"step": 5, "time": 0.1, "word": "x", "q": np.arange(3.0), "on": True}
                store.append(s[part], snapshot | {f"m{k}": np.eye(2) for k in range(9)})
        shutil.rmtree(place / "run.log", ignore_errors=True)


def _results(folder: Path) -> None:
    check = {
        "name": "sum",
        "value": 1.0,
        "expected": 1.0,
        "tolerance": 0.0,
        "passed": True,
        "source": "balance",
    }
    content = {
        "example": "four-legged-table",
        "parameters": {"weight": 100.0, "legs": [1.0, 2.0], "word": "é"},
        "numbers": {
            "force": 25.0,
            "forces": [25.0, "inf"],
            "kind": "unique",
            "matrix": [[1.0, "nan"], [0, 1]],
        },
        "checks": [check, check | {"passed": False}],
        "audit": {"solver": "lemke", "residual": 0.0, "nested": {"a": [1, {"real": 1.0, "imag": 2.0}]}},
    }
    (folder / "table").mkdir()
    (folder / "table" / "result.json").write_text(json.dumps(content, indent=2), encoding="utf-8")


def _square(x: float, y: float = 1.0) -> dict[str, object]:
    return {"value": x * x, "word": "a" if x > 0.5 else "b", "list": [x, y]}


def _stores(stores: Path, studies: Path) -> None:
    from klapper.studies import study

    (stores / "squares").mkdir()
    over = {"x": [k / 8 for k in range(9)], "y": [1.0, 2.0]}
    study(_square, over=over, outputs=["value", "word", "list"], store=stores / "squares", code="1").run(
        workers=1
    )
    (studies / "balls").mkdir()
    (studies / "balls" / "study.toml").write_text(
        'example = "bouncing-ball"\noutputs = ["impacts"]\nstore = "s"\nseed = 3\n\n[over]\n'
        'restitution = { from = 0.1, to = 0.9, count = 5 }\ngravity = [1.0, 9.81]\n\n[refine]\non = "impacts"\n'
        'along = "restitution"\naccuracy = 1e-3\n\n[[figure]]\nkind = "map"\nx = "restitution"\ny = "gravity"\n'
        'value = "impacts"\n',
        encoding="utf-8",
    )
    (studies / "sample").mkdir()
    (studies / "sample" / "study.toml").write_text(
        'example = "bouncing-ball"\noutputs = ["impacts"]\n[over]\nrestitution = { from = 0.1, to = 0.9 }\n'
        '[sample]\nkind = "sobol"\ncount = 16\nseed = 2\n[fixed]\ngravity = 5.0\n',
        encoding="utf-8",
    )
    from klapper.scenario import starter

    (studies / "file").mkdir()
    (studies / "file" / "my.toml").write_text(starter("linear"), encoding="utf-8")
    (studies / "file" / "study.toml").write_text(
        'scenario = "my.toml"\noutputs = ["impacts"]\n[over]\n"contact.1.restitution" = [0.1, 0.2]\n'
        "run.until = [1.0, 2.0]\n",
        encoding="utf-8",
    )


def _scenarios(folder: Path) -> None:
    from klapper.scenario import KINDS as SCENARIOS, starter

    for kind in SCENARIOS:
        (folder / kind).mkdir()
        (folder / kind / "my.toml").write_text(starter(kind), encoding="utf-8")


def _meshes(folder: Path) -> None:
    import meshio

    from klapper.continuum import block, write_mesh

    for dimension, mesh in (
        ("plane", block((2.0, 1.0), (4, 2))),
        ("space", block((1.0, 1.0, 1.0), (2, 1, 1), element="hex8")),
    ):
        for suffix in (".msh", ".inp", ".vtk", ".vtu"):
            place = folder / f"{dimension}-{suffix[1:]}"
            place.mkdir()
            write_mesh(place / f"part{suffix}", mesh)
        whole = meshio.read(folder / f"{dimension}-msh" / "part.msh")
        for name, options in (
            ("msh4", {"file_format": "gmsh", "binary": False}),
            ("vtk-text", {"file_format": "vtk", "binary": False}),
            ("vtu-text", {"file_format": "vtu", "binary": False}),
            ("bdf", {"file_format": "nastran"}),
            ("mesh", {"file_format": "medit"}),
            ("med", {"file_format": "med"}),
            ("xdmf", {"file_format": "xdmf", "data_format": "XML"}),
            ("xdmf-hdf", {"file_format": "xdmf", "data_format": "HDF"}),
        ):
            place = folder / f"{dimension}-{name}"
            place.mkdir()
            suffix = {"msh4": ".msh", "vtk-text": ".vtk", "vtu-text": ".vtu", "xdmf-hdf": ".xdmf"}.get(
                name, f".{name}"
            )
            points = whole.points[:, :2] if name == "med" and dimension == "plane" else whole.points
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                meshio.Mesh(points, whole.cells[:1]).write(place / f"part{suffix}", **options)


def _matrices(folder: Path) -> None:
    import gzip

    import scipy.io
    import scipy.sparse as sparse

    matrix = sparse.diags_array([[-1.0] * 5, [2.0] * 6, [-1.0] * 5], offsets=[-1, 0, 1]).tocsr()
    rows = [(i + 1, j + 1, matrix[i, j]) for i in range(6) for j in range(i + 1) if matrix[i, j]]
    texts = {
        "k.sti": "".join(f"{i} {j} {v:.8E}\n" for i, j, v in rows),
        "k.csv": "".join(f"{i}, 1, {j}, 1, {v}\n" for i, j, v in rows),
        "k.txt": "row column value\n" + "".join(f"{i} {j} {v}\n" for i, j, v in rows),
        "k.dof": "".join(f"{i}.{d}\n" for i in (1, 2) for d in (1, 2, 3)),
    }
    for name, text in texts.items():
        (folder / name.replace(".", "-")).mkdir()
        (folder / name.replace(".", "-") / name).write_text(text, encoding="utf-8")
    for name in ("k.npz", "dense.npz", "k.npy", "k.mtx", "k.mtx.gz"):
        place = folder / name.replace(".", "-")
        place.mkdir()
        if name == "k.npz":
            sparse.save_npz(place / name, matrix)
        elif name == "dense.npz":
            np.savez_compressed(place / name, stiffness=matrix.toarray())
        elif name == "k.npy":
            np.save(place / name, matrix.toarray())
        elif name == "k.mtx":
            scipy.io.mmwrite(place / name, matrix)
        else:
            (place / name).write_bytes(gzip.compress((folder / "k-mtx" / "k.mtx").read_bytes()))


def _tables(folder: Path) -> None:
    """A structure of another program: matrices, nodes, rows and contact pairs, each in a file."""
    place = folder / "structure"
    place.mkdir()
    dofs = [(node, direction) for node in (1, 2, 3) for direction in (1, 2)]
    entries = [f"{i + 1}, {i + 1}, 2.0\n" + (f"{i + 2}, {i + 1}, -1.0\n" if i < 5 else "") for i in range(6)]
    texts = {
        "k.csv": "".join(entries),
        "m.csv": "".join(f"{i}, {i}, 1.5\n" for i in range(1, 7)),
        "rows.dof": "".join(f"{node}.{direction}\n" for node, direction in dofs),
        "nodes.csv": "node, x, y\n1, 0.0, 0.0\n2, 1.0, 0.0\n3, 2.0, 0.5\n",
        "pairs.csv": "name, first, second, nx, ny, nz, gap\na, 1, 2, 1, 0, 0, 0.01\nb, 3, , 0, 1, 0,\n",
        "my.toml": 'model = { kind = "imported", mass = "m.csv", stiffness = "k.csv", dofs = "rows.dof", '
        'nodes = "nodes.csv", units = "kg, m, s" }\nscheme = { kind = "moreau", step_size = 1e-3 }\n'
        'run = { until = 0.1 }\n[[contact]]\nname = "c"\nfirst = 3\nnormal = [0.0, 1.0]\ngap = 0.1\n',
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")


STARTED = """model = {{ kind = "linear", mass = [1.0, 2.0], stiffness = [300.0, 100.0] }}
scheme = {{ {scheme} }}
run = {{ until = 0.4 }}
[[contact]]
name = "stop"
normal = [0.0, -1.0]
gap = 0.01
restitution = 0.6
[[friction_element]]
name = "belt"
tangents = [[1.0, 0.0]]
limit = 1.5
tangential_rate = [-0.1]
"""
SCHEMES = {
    "moreau": 'kind = "moreau", step_size = 2e-3',
    "adaptive": 'kind = "moreau", step_size = 2e-3, accuracy = 1e-3',
    "event-driven": 'kind = "event-driven", sample = 0.005',
}


def _interrupted(folder: Path) -> None:
    """Runs that were interrupted after some parts, by several schemes, with the scenarios that go on with them."""
    for name, scheme in SCHEMES.items():
        place = folder / name
        place.mkdir()
        (place / "my.toml").write_text(STARTED.format(scheme=scheme), encoding="utf-8")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            _interrupt(place / "my.toml", place / "run")


def _interrupt(scenario: Path, folder: Path) -> None:
    """Compute a scenario into a folder until two parts are written."""
    from unittest.mock import patch

    from klapper import simulation
    from klapper.results import PartStore
    from klapper.scenario import read_scenario

    whole, count = PartStore.append, 0

    def append(store: PartStore, *given: object) -> None:
        nonlocal count
        whole(store, *given)  # type: ignore[arg-type]
        count += 1
        if count == 2:
            signal.raise_signal(signal.SIGINT)

    read = read_scenario(scenario)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    with (
        patch.object(PartStore, "append", append),
        patch.object(simulation, "_PART_EVERY", -1.0),
        patch.object(simulation._Loop, "_compiled_cut", lambda loop: loop._cut(64)),
    ):
        simulation.simulate(
            read.system(), 0.4, read.scheme(), store=folder, on_interrupt="return", progress=False
        )
    signal.signal(signal.SIGINT, before)
    if not any(folder.glob("part-*.h5")):
        raise RuntimeError(f"{scenario.parent.name} ended before it was interrupted")


def _shown(folder: Path) -> None:
    """A folder as the studio shows it: a run, a result, a study with its points, a scenario."""
    import shutil

    place = folder / "studio" / "work"
    shutil.copytree(folder / "run" / "listed", place / "run")
    shutil.copytree(folder / "result" / "table", place / "table")
    shutil.copytree(folder / "study" / "balls", place / "study")
    shutil.copytree(folder / "store" / "squares", place / "points")
    shutil.copy(folder / "scenario" / "linear" / "my.toml", place / "my.toml")
    shutil.copy(place / "my.toml", place / "run" / "scenario.toml")
    shutil.copytree(folder / "run" / "numbered", place / "table" / "runs")
    for name in ("run", "table"):
        (place / name / "report.html").write_text("<p>page</p>", encoding="utf-8")
    (place / "run" / "run.log").write_text("begun\n", encoding="utf-8")
