"""Thousands of damaged results: each is told in one sentence or still read, quickly, and no file is lost.

Files are cut, overwritten and exchanged; or they are whole and hold what no run holds, with a digest that fits.
"""

import hashlib
import json
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.mechanics import Contact, LinearSystem
from klapper.results import ResultsError, Run
from klapper.results.container import write_container
from klapper.schemes import Moreau
from klapper.simulation import simulate
from report.damage import damaged_array, damaged_bytes, damaged_content
from results.motions import bouncing_ball, braked_block, logged_by_number
from results.test_store import store_parts

LONGEST = 60  # s until a case counts as hanging


@contextmanager
def no_hang() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"nothing came for {LONGEST} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def write_wrong_content(source: Path, target: Path, kind: str, chance: random.Random) -> None:
    """A whole file with a digest that fits, but with one entry that no run has, or without one."""
    entries: dict[str, Any] = {}
    with h5py.File(source, "r") as file:
        file.visititems(
            lambda name, item: entries.update({name: item[()]} if isinstance(item, h5py.Dataset) else {})
        )
    name = chance.choice(list(entries))
    value = np.asarray(entries.pop(name))
    if chance.random() < 0.85:
        if value.dtype.kind == "S" and chance.random() < 0.9:
            text = json.dumps(damaged_content(json.loads(bytes(value[()])), chance))
            entries[name] = np.bytes_(text.encode("ascii")) if text else np.bytes_(b" ")
        else:
            entries[name] = damaged_array(value, chance)

    def fill(file: h5py.File, packed: bool) -> None:
        for each, content in entries.items():
            file[each] = content

    write_container(target, kind, fill)


def told(path: Path, *words: str) -> None:
    """``klapper show`` shows it, or says in one sentence why not; nothing in the folder changes."""
    folder = path if path.is_dir() else path.parent
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    with no_hang():
        result = CliRunner().invoke(app, ["show", str(path), *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert (result.exit_code, len(lines)) in ((0, 0), (2, 1)), result.output[-500:]
    assert not lines or len(lines[0]) < 900
    after = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    assert {name: after.get(name) for name in before} == before


RUNS: list[Callable[[], Run]] = [
    lambda: bouncing_ball(count=41),
    lambda: logged_by_number(bouncing_ball(count=41)),
    lambda: braked_block(),
]


def damage_runs(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    whole = [make().save(folder / f"whole-{k}.h5") for k, make in enumerate(RUNS)]
    case = folder / "case"
    case.mkdir()
    for _ in range(count):
        source, target = chance.choice(whole), case / "run.h5"
        if chance.random() < 0.5:
            target.write_bytes(damaged_bytes(source.read_bytes(), chance))
        else:
            write_wrong_content(source, target, "run", chance)
        told(
            chance.choice([case, target]),
            *(["--json", str(folder / "out.json")] if chance.random() < 0.3 else []),
        )


def damage_parts(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    store_parts(folder / "whole", bouncing_ball(count=41), [0, 10, 25, 41])
    whole = {file.name: file.read_bytes() for file in (folder / "whole").iterdir()}
    case = folder / "case"
    case.mkdir()
    for _ in range(count):
        for name, content in whole.items():
            (case / name).write_bytes(content)
        name = chance.choice([each for each in whole if each != "run.log"])
        if name == "header.json" and chance.random() < 0.6:
            header = json.loads(whole[name])
            header.pop("blake2b")
            header = damaged_content(header, chance)
            if isinstance(header, dict):
                digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode()).hexdigest()
                header = {**header, "blake2b": digest}
            (case / name).write_text(json.dumps(header))
        elif name != "header.json" and chance.random() < 0.5:
            write_wrong_content(folder / "whole" / name, case / name, "part", chance)
        else:
            (case / name).write_bytes(damaged_bytes(whole[name], chance))
        told(case)


def damage_records(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    content = {
        "example": "four-legged-table",
        "parameters": {"weight": 100.0, "legs": [1.0, 2.0]},
        "numbers": {
            "force": 25.0,
            "forces": [25.0, 25.0],
            "word": "unique",
            "matrix": [[1.0, "nan"], [0.0, 1.0]],
        },
        "checks": [
            {
                "name": "sum",
                "value": 1.0,
                "expected": 1.0,
                "tolerance": 0.0,
                "passed": True,
                "source": "balance",
            }
        ],
        "audit": {"solver": "lemke", "residual": 0.0, "nested": {"a": [1, 2]}},
    }
    text, target = json.dumps(content, indent=2).encode(), folder / "result.json"
    for _ in range(count):
        if chance.random() < 0.5:
            target.write_bytes(damaged_bytes(text, chance))
        else:
            target.write_text(json.dumps(damaged_content(content, chance)))
        told(chance.choice([folder, target]))


def resume_damaged(folder: Path, count: int, seed: int) -> None:
    """The same call after damage ends in the same bits, or refuses in one sentence and leaves the files alone."""
    chance = random.Random(seed)

    def ball() -> LinearSystem:
        return LinearSystem(
            [1.0], force=[-9.81], position=[0.1], contacts=[Contact("floor", normal=[1.0], restitution=0.5)]
        )

    expected = simulate(ball(), until=0.2, scheme=Moreau(1e-3))
    finished = folder / "finished"
    simulate(ball(), until=0.2, scheme=Moreau(1e-3), store=finished)
    whole = {file.name: file.read_bytes() for file in finished.iterdir()}
    for number in range(count):
        case = folder / f"case-{number}"
        case.mkdir()
        for name, content in whole.items():
            (case / name).write_bytes(content)
        (case / "run.h5").write_bytes(damaged_bytes(whole["run.h5"], chance))
        before = (case / "run.h5").read_bytes()
        with no_hang():
            try:
                run = simulate(ball(), until=0.2, scheme=Moreau(1e-3), store=case)
            except ResultsError as error:
                assert "\n" not in str(error)
                assert (case / "run.h5").read_bytes() == before
            else:
                np.testing.assert_array_equal(run.position, expected.position)


FUZZERS = [damage_runs, damage_parts, damage_records, resume_damaged]


@pytest.mark.parametrize("fuzz", FUZZERS, ids=lambda fuzz: fuzz.__name__)
def test_damage_is_told_in_one_sentence(fuzz: Callable[..., None], tmp_path: Path) -> None:
    fuzz(tmp_path, 80 if fuzz is not resume_damaged else 40, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize(("fuzz", "count"), list(zip(FUZZERS, (2200, 1600, 1200, 500), strict=True)))
def test_thousands_of_damaged_results_are_told_in_one_sentence(
    fuzz: Callable[..., None], count: int, tmp_path: Path
) -> None:
    fuzz(tmp_path, count, seed=11)
