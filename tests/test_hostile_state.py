"""Parts of a run are taken up only if they hold a state from which this run can go on.

A seal shows damage, not who wrote a file. Compiled loops take lengths and numbers of contacts for granted, so that a
state which is none is refused, in one sentence and before the first step.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.fuzz_files.hostile import _container
from tools.fuzz_files.samples import _interrupted

from klapper.results import ResultsError, Run, read
from klapper.scenario import read_scenario
from klapper.schemes import EventDriven
from klapper.simulation import simulate


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each of some schemes, with a scenario and a run that stopped after some parts."""
    folder = tmp_path_factory.mktemp("interrupted")
    _interrupted(folder)
    return folder


def gone_on(folder: Path) -> Run:
    scenario = read_scenario(folder / "my.toml")
    until = scenario.content["run"]["until"]
    return simulate(scenario.system(), until, scenario.scheme(), store=folder / "run", progress=False)


def with_entries(folder: Path, change: Callable[[Any, dict[str, Any]], None]) -> None:
    """Change the snapshot of the last part: its group, and its entries by name; the file is sealed again."""

    def changed(stored: Any) -> None:
        group = stored["snapshot"]
        entries = json.loads(group["entries"][()])
        change(group, {entry["name"]: entry for entry in entries})
        del group["entries"]
        group["entries"] = np.bytes_(json.dumps(entries).encode())

    _container(folder, changed, max(file.name for file in (folder / "run").glob("part-*.h5")))


def as_array(name: str, array: Any) -> Callable[[Any, dict[str, Any]], None]:
    def change(group: Any, entries: dict[str, Any]) -> None:
        place = f"array {entries[name]['array']}"
        value = array(group[place][()]) if callable(array) else np.asarray(array)
        del group[place]
        group[place] = value

    return change


def as_value(name: str, value: Any) -> Callable[[Any, dict[str, Any]], None]:
    def change(group: Any, entries: dict[str, Any]) -> None:
        entries[name]["value"] = value

    return change


def without(name: str) -> Callable[[Any, dict[str, Any]], None]:
    def change(group: Any, entries: dict[str, Any]) -> None:
        entries[name]["name"] = "other"

    return change


EVERY = {
    "no position": without("position"),
    "a longer position": as_array("position", np.zeros(100_000)),
    "another position": as_array("position", lambda q: q + 1e-3),
    "a velocity that is no number": as_array("velocity", lambda v: v * np.nan),
    "a velocity of whole numbers": as_array("velocity", np.array([1, 2])),
    "sums of other entries": as_array("sums", np.zeros(2)),
    "a contact that is not there": as_array("contact", np.array([2**40])),
    "impulses without contacts": as_array("impulse", np.ones((50, 2))),
    "statistics of nothing": as_array("over_time", np.zeros((5, 1))),
    "remarks that are none": as_value("findings", '[{"a": 1}, {}]'),
    "a count that is none": as_value("samples", "many"),
    "numbers that are no JSON": as_value("statistics", "{"),
}
LENGTHS = {
    f"a next step of {length:g} s": as_array("memory", np.array([length, 2e-3]))
    for length in (0.0, -1.0, 1e-300, 1e300)
}
PHASES = {
    "a memory without end": as_array("memory", np.zeros(3)),
    "a memory of very many events": as_array("memory", lambda a: np.r_[a[:5], 1e15, a[6:]]),
    "a memory of contacts that are not there": as_array(
        "memory", lambda a: np.r_[a[:5], 1, 0, a[7], 0, 1, 2**40]
    ),
    "a memory of modes that are none": as_array("memory", lambda a: np.r_[a[:5], 0, 1, a[7], 0, 0, 1, 9, 0]),
}


@pytest.mark.parametrize(
    ("scheme", "what"),
    [
        *(("adaptive", what) for what in {**EVERY, **LENGTHS}),
        *(("event-driven", what) for what in {**EVERY, **PHASES}),
    ],
)
def test_a_state_that_is_none_is_refused(scheme: str, what: str, interrupted: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(interrupted / scheme, folder)
    with_entries(folder, {**EVERY, **PHASES, **LENGTHS}[what])
    with pytest.raises(ResultsError, match="holds no state from which this run can go on") as refused:
        gone_on(folder)
    assert "\n" not in str(refused.value)


def test_a_whole_state_goes_on_to_the_end(interrupted: Path, tmp_path: Path) -> None:
    for scheme in interrupted.iterdir():
        folder = tmp_path / scheme.name
        shutil.copytree(scheme, folder)
        run = gone_on(folder)
        shutil.rmtree(folder / "run")
        np.testing.assert_array_equal(run.position, gone_on(folder).position)


def test_what_is_shown_of_a_part_is_told_or_refused(interrupted: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(interrupted / "moreau", folder)
    with_entries(folder, as_value("statistics", "{"))
    with pytest.raises(ResultsError, match="does not hold 'statistics'"):
        read(folder / "run")


def test_every_memory_that_a_phase_leaves_is_one() -> None:
    """The check refuses nothing that a run writes: stick, slip, impacts and release."""
    from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem

    system = LinearSystem(
        [1.0, 2.0],
        stiffness=[300.0, 100.0],
        force=Harmonic([20.0, 5.0], 11.0),
        contacts=[
            Contact(
                "stop", normal=[0.0, -1.0], tangents=[[1.0, 0.0]], gap=0.01, friction=0.4, restitution=0.6
            ),
            FrictionElement("belt", tangents=[[1.0, 0.0]], limit=1.5, tangential_rate=[-0.1]),
        ],
    )
    scheme, start = EventDriven(), EventDriven().init(system)
    snapshot = start
    for _ in range(150):
        snapshot = scheme.step(system, snapshot).after
        snapshot.require_of(start, system.contacts.count)
        scheme.require_memory(system, snapshot.memory)
