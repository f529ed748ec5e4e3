"""What a run took, as data: counted in the run, kept over files and sessions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.analysis import iteration_history
from klapper.bodies import FootedBlock, rigid_block
from klapper.mechanics import Contact, LinearSystem, Ramp
from klapper.results import ResultsError, Run, read
from klapper.schemes import EventDriven, Moreau, NestedProx, NewtonIteration, QuasiStatic
from klapper.simulation import SimulationInterrupted, simulate

COUNTS = (
    "steps",
    "compiled_steps",
    "newton_iterations",
    "contact_problems",
    "contact_iterations",
    "factorisations",
)


def block() -> LinearSystem:
    """Rests on the floor: one contact problem with one unknown in every step."""
    return LinearSystem([1.0], force=[-10.0], contacts=[Contact("floor", normal=[1.0])])


def footed() -> Any:
    return rigid_block(
        FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1)), load=Ramp([0.0] * 3, [250.0, 0.0, 0.0])
    )


def test_a_linear_spring_takes_the_newton_iterations_that_are_allowed() -> None:
    """Corrections of at most 0.1 m: a spring that moves by 0.5 m in one step needs at least five."""
    spring = LinearSystem([1.0], stiffness=[4.0], force=Ramp([0.0], [2.0]))
    run = simulate(spring, 1.0, QuasiStatic(1.0, newton=NewtonIteration(largest=0.1)))
    assert run.statistics.steps == 1
    assert 5 <= run.statistics.newton_iterations <= 10


def test_each_step_of_a_resting_block_is_one_contact_problem() -> None:
    taken = simulate(block(), 0.1, Moreau(1e-3, compiled=False)).statistics
    assert (taken.steps, taken.compiled_steps, taken.contact_problems) == (100, 0, 100)
    assert taken.contact_iterations >= 1
    assert "100 steps" in str(taken)


def test_a_compiled_loop_counts_its_steps_and_says_that_they_are_compiled() -> None:
    taken = simulate(block(), 0.1, Moreau(1e-3)).statistics
    assert (taken.steps, taken.compiled_steps, taken.contact_problems) == (100, 100, 0)
    assert taken.seconds["compiled loop"] > 0.0


def test_the_parts_of_the_time_are_the_whole_time() -> None:
    run = simulate(block(), 0.2, Moreau(1e-3, compiled=False))
    taken = run.statistics.seconds
    assert set(taken) >= {"contact problem", "linear algebra", "judging", "other"}
    assert min(taken.values()) >= 0.0
    assert sum(taken.values()) == pytest.approx(run.about["wall_time"], abs=0.5)


def test_counts_survive_a_file_and_are_plain_data(tmp_path: Path) -> None:
    run = simulate(block(), 0.1, Moreau(1e-3, compiled=False))
    json.dumps(run.about["statistics"])
    assert read(run.save(tmp_path / "run.h5")).statistics == run.statistics
    assert "contact problems" in run.summary()
    with pytest.raises(ResultsError, match="older version"):
        _ = Run(run.layout, run.samples, {}).statistics


@pytest.mark.parametrize("compiled", [True, False])
def test_counts_and_iterations_go_on_after_an_interruption(
    compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = NestedProx(1e-4, compiled=compiled)
    whole = simulate(footed(), 0.02, scheme, every=3)
    step = NestedProx.step

    def stopped(self: Any, system: Any, snapshot: Any, until: float = np.inf, work: Any = None) -> Any:
        if snapshot.step == 150:  # a sample: what is computed beyond one is computed, and counted, again
            raise KeyboardInterrupt
        return step(self, system, snapshot, until, work)

    if not compiled:
        with monkeypatch.context() as patch:
            patch.setattr(NestedProx, "step", stopped)
            with pytest.raises(SimulationInterrupted):
                simulate(footed(), 0.02, scheme, every=3, store=tmp_path / "run")
        assert read(tmp_path / "run").statistics.steps == 150
        assert len(iteration_history(read(tmp_path / "run")).rounds) == 50
    resumed = simulate(footed(), 0.02, scheme, every=3, store=tmp_path / "run")
    for name in COUNTS:
        assert getattr(resumed.statistics, name) == getattr(whole.statistics, name)
    for name in ("time", "rounds", "normal", "tangential", "reductions"):
        np.testing.assert_array_equal(
            getattr(iteration_history(resumed), name), getattr(iteration_history(whole), name)
        )
    np.testing.assert_array_equal(resumed.position, whole.position)


def test_iterations_between_samples_are_the_sums_of_those_of_the_steps() -> None:
    """Saved or not, compiled or not: the same steps take the same iterations, and the sum is that of the run."""
    fine = iteration_history(simulate(footed(), 0.02, NestedProx(1e-4), every=1))
    assert len(fine.rounds) == 200
    for compiled in (True, False):
        run = simulate(footed(), 0.02, NestedProx(1e-4, compiled=compiled), every=10)
        coarse = iteration_history(run)
        np.testing.assert_array_equal(coarse.rounds, fine.rounds.reshape(20, 10).sum(axis=1))
        assert coarse.inner_total == fine.inner_total == run.statistics.contact_iterations


def test_a_scheme_that_notes_no_iterations_is_refused_in_words() -> None:
    with pytest.raises(ResultsError, match=r"event-driven has no iterations.*run\.statistics"):
        iteration_history(simulate(block(), 0.1, EventDriven()))


class _WithoutPicture(LinearSystem):
    def picture(self, until: float) -> Any:
        raise ValueError("the guide has no shape")


def test_a_picture_that_fails_is_told_in_the_audit(tmp_path: Path) -> None:
    system = _WithoutPicture([1.0], force=[-10.0], position=[1.0])
    run = simulate(system, 0.1, Moreau(1e-2), store=tmp_path / "run")
    assert run.about["audit"]["picture"] == "no picture: ValueError: the guide has no shape"
    assert "picture" not in run.about
    assert run.about["status"] == "complete"
    assert "picture" not in simulate(block(), 0.1, Moreau(1e-2)).about["audit"]
