"""Ctrl-C keeps what there is, at whichever moment it comes, and ends what called the run."""

import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.bodies import Planar
from klapper.cli import commands
from klapper.mechanics import InvalidModel
from klapper.results import PartStore, Samples, read
from klapper.schemes import EventDriven
from klapper.simulation import SimulationFailed, SimulationInterrupted, _Loop, interrupted_runs_kept, simulate


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """Also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ball() -> Any:
    model = Planar(gravity=(0.0, -9.81), name="ball")
    model.contact(
        model.body("ball", mass=1.0, inertia=0.01, at=(0.0, 1.0)).point((0.0, 0.0)),
        model.wall("floor", normal=(0.0, 1.0)),
        restitution=0.5,
    )
    return model.build()


@pytest.mark.parametrize("samples", [1, 3, 4])
def test_an_interrupt_while_a_sample_is_noted_loses_that_sample_only(
    samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulate(ball(), until=1.0, scheme=EventDriven(), progress=False)
    asked, original = iter(range(10**6)), _Loop._energy

    def energy(loop: _Loop) -> np.ndarray:
        if next(asked) == samples:
            raise KeyboardInterrupt
        return original(loop)

    monkeypatch.setattr(_Loop, "_energy", energy)
    kept = simulate(
        ball(), until=1.0, scheme=EventDriven(), store=tmp_path / "run", progress=False, on_interrupt="return"
    )
    assert kept.about["status"] == "interrupted"
    assert read(tmp_path / "run").samples.step[-1] == samples - 1
    monkeypatch.setattr(_Loop, "_energy", original)
    resumed = simulate(ball(), until=1.0, scheme=EventDriven(), store=tmp_path / "run", progress=False)
    np.testing.assert_array_equal(resumed.position, whole.position)


def interrupted_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in step number ``step`` of every run from now on."""
    original = EventDriven.step

    def stepped(
        self: EventDriven, system: Any, snapshot: Any, until: float = np.inf, work: Any = None
    ) -> Any:
        if snapshot.step == step:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, system, snapshot, until, work)

    monkeypatch.setattr(EventDriven, "step", stepped)


def test_a_loop_over_runs_ends_with_the_run_that_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at(3, monkeypatch)
    begun = 0
    with pytest.raises(KeyboardInterrupt) as caught:
        for _ in range(3):
            begun += 1
            simulate(ball(), 1.0, EventDriven())
    assert begun == 1
    assert isinstance(caught.value, SimulationInterrupted)
    assert caught.value.run.about["status"] == "interrupted"
    assert caught.value.run.samples.step[-1] == 3
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    np.testing.assert_array_equal(again.run.position, caught.value.run.position)


def test_a_failed_run_can_be_pickled_too() -> None:
    run = simulate(ball(), 0.1, EventDriven())
    again = pickle.loads(pickle.dumps(SimulationFailed("It failed.", run)))
    assert (str(again), len(again.run)) == ("It failed.", len(run))


def test_a_notebook_and_the_command_line_get_the_run_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at(3, monkeypatch)
    assert simulate(ball(), 1.0, EventDriven(), on_interrupt="return").about["status"] == "interrupted"
    with interrupted_runs_kept() as kept:
        assert simulate(ball(), 1.0, EventDriven()) is kept[0]
        with pytest.raises(SimulationInterrupted):  # no other run of the example begins
            simulate(ball(), 1.0, EventDriven())
    assert kept[0].about["status"] == "interrupted"
    assert len(kept) == 1
    with pytest.raises(SimulationInterrupted):
        simulate(ball(), 1.0, EventDriven())


@pytest.mark.parametrize("stored", [True, False])
def test_an_example_that_can_make_nothing_of_a_beginning_is_stored_all_the_same(
    stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ran on for 20 s, then failed with "operands could not be broadcast together", and nothing was stored."""

    class Impatient:
        def read(self, settings: Any) -> dict[str, Any]:
            return {}

        def run(self) -> Any:
            run = simulate(ball(), 1.0, EventDriven())
            return run.position[:, 0] + np.zeros(10**6)

    monkeypatch.setattr(commands, "find", lambda name: Impatient())
    interrupted_at(3, monkeypatch)
    options = ["--out", str(tmp_path / "out")] if stored else []
    told = CliRunner().invoke(commands.app, ["run", "ball", *options])
    assert told.exit_code == 130
    assert "interrupted at" in told.output
    assert "Traceback" not in told.output
    assert (tmp_path / "out" / "runs" / "interrupted.h5").exists() == stored
    if stored:
        assert read(tmp_path / "out" / "runs" / "interrupted.h5").about["status"] == "interrupted"


@pytest.mark.parametrize("given", ["keep", None, True])
def test_what_else_on_interrupt_could_be_is_refused(given: Any) -> None:
    with pytest.raises(InvalidModel, match=r"^on_interrupt is .*; allowed are 'raise' and 'return'\.$"):
        simulate(ball(), 1.0, EventDriven(), on_interrupt=given)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_second_ctrl_c_while_saving_leaves_a_store_that_is_whole(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulate(ball(), 1.0, EventDriven())
    original = PartStore.append

    def append(self: PartStore, samples: Samples, snapshot: Any) -> None:
        if when == "before":
            os.kill(os.getpid(), signal.SIGINT)
        original(self, samples, snapshot)
        if when == "after":
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        interrupted_at(3, patch)
        patch.setattr(PartStore, "append", append)
        with pytest.raises(SimulationInterrupted) as caught:
            simulate(ball(), 1.0, EventDriven(), store=tmp_path / "run")
    stored = read(tmp_path / "run")
    assert len(stored) == len(caught.value.run) and stored.samples.step[-1] == 3
    assert read(tmp_path / "run").statistics.steps == 3
    resumed = simulate(ball(), 1.0, EventDriven(), store=tmp_path / "run")
    np.testing.assert_array_equal(resumed.position, whole.position)
