"""A study from description to table: values by closed form, resumption, failures, seeds."""

import sqlite3
from pathlib import Path

import numpy as np
import pandas
import pytest
import study_targets

import klapper
from klapper.studies import Refine, StudyError, grid, listed
from klapper.studies.identity import keys_of, seed_sequence


def test_every_combination_is_computed(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.square,
        over={"x": [0.0, 0.5], "y": grid(1.0, 3.0, 3)},
        outputs=["value", "side", "inside"],
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    assert table["value"] == pytest.approx(table["x"] ** 2 + table["y"])
    assert table["side"].tolist() == ["left"] * 3 + ["right"] * 3
    assert table["inside"].dtype == bool
    assert study.counts() == {"done": 6, "failed": 0, "missing": 0}
    dataset = study.dataset()
    assert dataset.value.sel(x=0.5, y=2.0) == 2.25
    assert dataset.value.dims == ("x", "y")


def test_processes_and_this_process_give_the_same(tmp_path: Path) -> None:
    over = {"x": grid(0.0, 1.0, 40)}
    studies = [
        klapper.study(study_targets.square, over=over, outputs=["value"], store=tmp_path / str(n), code="t")
        for n in (1, 2)
    ]
    one, two = (study.run(workers=n + 1).table()["value"] for n, study in enumerate(studies))
    assert np.array_equal(one, two)


def test_a_finished_study_computes_nothing_and_a_larger_one_only_what_is_new(tmp_path: Path) -> None:
    log = tmp_path / "log"
    given = {"fixed": {"log": str(log)}, "outputs": ["value"], "store": tmp_path / "s", "code": "1"}
    klapper.study(study_targets.logged_square, over={"x": [0.0, 1.0]}, **given).run(workers=1).run(workers=1)
    assert log.read_text().split() == ["0.0", "1.0"]
    klapper.study(study_targets.logged_square, over={"x": [2.0, 1.0]}, **given).run(workers=1)
    assert log.read_text().split() == ["0.0", "1.0", "2.0"]
    other = {**given, "code": "2"}
    klapper.study(study_targets.logged_square, over={"x": [2.0]}, **other).run(workers=1)
    assert log.read_text().split()[3:] == ["2.0"]


def test_a_key_does_not_depend_on_what_varies() -> None:
    varied = keys_of("t", {"a": [1.0, 2.0], "b": [5.0, 5.0]}, {"c": "100 %"})
    fixed = keys_of("t", {"a": [1.0, 2.0]}, {"b": 5.0, "c": "100 %"})
    assert varied == fixed
    assert len(set(varied)) == 2
    assert keys_of("u", {"a": [1.0]}, {}) != keys_of("t", {"a": [1.0]}, {})


def test_a_failed_point_keeps_its_error_and_stops_no_other(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.fragile, over={"x": [0.0, 0.5, 1.0]}, outputs=["value"], store=tmp_path / "s"
    ).run(workers=1)
    table = study.table()
    assert table["status"].tolist() == ["done", "failed", "done"]
    assert table["error"][1] == "ArithmeticError: no answer at a half."
    assert np.isnan(table["value"][1])
    assert study.run(workers=1, retry_failed=True).counts() == {"done": 2, "failed": 1, "missing": 0}


def test_a_vectorised_function_fails_only_where_it_must(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.squares,
        over={"x": grid(-1.0, 1.0, 100)},
        outputs=["value"],
        store=tmp_path / "s",
        vectorised=True,
    ).run(workers=1)
    table = study.table()
    assert np.array_equal(table["status"] == "failed", table["x"] < 0.0)
    good = table["x"] >= 0.0
    assert table["value"][good] == pytest.approx(table["x"][good] ** 2 + 1.0)


def test_a_point_that_kills_its_worker_is_found_and_the_others_are_computed(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.deadly,
        over={"x": grid(0.0, 19.0, 20)},
        outputs=["value"],
        store=tmp_path / "s",
        code="t",
    ).run(workers=2)
    table = study.table()
    assert table["x"][table["status"] == "failed"].tolist() == [7.0]
    assert table["error"][7].startswith("WorkerDied")
    done = table["status"] == "done"
    assert np.array_equal(table["value"][done], table["x"][done])


def test_replicates_are_independent_and_repeatable(tmp_path: Path) -> None:
    def described(store: str, seed: int = 4) -> klapper.studies.Study:
        return klapper.study(
            study_targets.noisy,
            over={"x": [0.0, 10.0]},
            outputs=["value", "first"],
            store=tmp_path / store,
            replicates=400,
            seed=seed,
        ).run(workers=1)

    study = described("a")
    table = study.table()
    assert len(np.unique(table["first"])) == 800
    assert np.array_equal(table["value"], described("b").table()["value"])
    assert not np.array_equal(table["value"], described("c", seed=5).table()["value"])
    noise = (table["value"] - table["x"]).reshape(2, 400)
    assert abs(noise.mean()) < 4.0 / np.sqrt(800)  # four standard errors of a normal mean
    assert abs(np.corrcoef(noise)[0, 1]) < 4.0 / np.sqrt(400)
    assert study.dataset().value.shape == (2, 400)


def test_seeds_do_not_depend_on_the_order_of_parameters() -> None:
    one = seed_sequence({"a": 1.0, "b": 2.0}, 3, 0).generate_state(4)
    assert np.array_equal(one, seed_sequence({"b": 2.0, "a": 1.0}, 3, 0).generate_state(4))
    assert not np.array_equal(one, seed_sequence({"a": 1.0, "b": 2.0}, 4, 0).generate_state(4))


def test_a_boundary_is_bisected_to_the_accuracy(tmp_path: Path) -> None:
    """The circle x² + y² = 1 and the line x = 0.3."""
    study = klapper.study(
        study_targets.square,
        over={"x": grid(0.0, 1.5, 6), "y": grid(0.05, 0.95, 4)},
        outputs=["inside", "side"],
        store=tmp_path / "s",
        refine=Refine("inside", along=("x", "y"), accuracy=1e-6),
    ).run(workers=1)
    found = study.boundaries()
    assert np.all(found["width"] <= 1e-6)
    assert {*found["along"]} == {"x", "y"}
    along = np.where(found["along"] == "x", found["x"], found["y"])
    radius = np.hypot(found["x"], found["y"])
    assert np.all(np.abs(radius - 1.0) * radius <= 1e-6 * (1.0 + along))
    grid_points, columns = 24, study.table()
    rounds = np.ceil(np.log2(0.3 / 1e-6))
    assert grid_points < len(columns["x"]) <= grid_points + rounds * len(found["x"])


def test_continuation_follows_a_branch_to_its_fold(tmp_path: Path) -> None:
    """Up from −1 and down from +1: the branches of x³ − x = f jump at f = ±2/(3√3), hysteresis between."""
    fold = 2.0 / (3.0 * np.sqrt(3.0))
    for name, sign in (("up", 1.0), ("down", -1.0)):
        forces = [sign * value for value in grid(-1.0, 1.0, 201)]
        study = klapper.study(
            study_targets.buckled,
            over={"force": forces},
            outputs=["x"],
            store=tmp_path / name,
            continue_along="force",
        ).run(workers=1)
        x = study.table()["x"]
        assert np.all(np.abs(x**3 - x - forces) < 1e-9)
        jump = int(np.argmax(np.abs(np.diff(x))))
        assert sign * forces[jump] <= fold <= sign * forces[jump + 1]


def test_continuation_resumes_from_the_stored_state(tmp_path: Path) -> None:
    log = tmp_path / "log"
    forces = grid(-1.0, 1.0, 101)
    given = {
        "fixed": {"log": str(log)},
        "outputs": ["x"],
        "store": tmp_path / "s",
        "continue_along": "force",
        "code": "1",
    }
    klapper.study(study_targets.logged_buckled, over={"force": forces[:60]}, **given).run(workers=1)
    study = klapper.study(study_targets.logged_buckled, over={"force": forces}, **given).run(workers=1)
    assert len(log.read_text().split()) == 101
    at_once = klapper.study(
        study_targets.buckled,
        over={"force": forces},
        outputs=["x"],
        store=tmp_path / "t",
        continue_along="force",
        code="t",
    ).run(workers=2)
    assert np.array_equal(study.table()["x"], at_once.table()["x"])


def test_a_study_of_an_example_has_the_drifts_of_the_table(tmp_path: Path) -> None:
    """The drift of Vielsack's table: 0.0007 at A = 0.9, B = 0.11, and 0.4 at B = 3, whose A must be 0.1."""
    study = klapper.study(
        "vielsack-drift",
        over=listed({"A": [0.9, 0.1], "B": [0.11, 3.0]}),
        outputs=["drift", "motion_type", "switching_times"],
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    assert table["error"].tolist() == ["", ""]
    assert table["drift"][0] == pytest.approx(0.0007, abs=5e-5)
    assert table["drift"][1] == pytest.approx(0.4, abs=5e-2)
    assert table["switching_times"][0] == sorted(table["switching_times"][0])


def test_the_store_is_read_by_pandas(tmp_path: Path) -> None:
    klapper.study(
        study_targets.square, over={"x": [1.0, 2.0]}, outputs=["value"], store=tmp_path / "s", code="mine"
    ).run(workers=1)
    with sqlite3.connect(tmp_path / "s" / "study.sqlite") as base:
        frame = pandas.read_sql(
            "SELECT * FROM points JOIN codes ON points.code = codes.number ORDER BY x", base
        )
    assert frame["value"].tolist() == [2.0, 5.0]
    assert frame["status"].tolist() == ["done", "done"]
    base.close()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"over": {"z": [1.0]}}, "no parameter 'z'; it takes x, y"),
        ({"over": {"y": [1.0]}}, "needs x: vary it in `over`, or give it in `fixed`"),
        ({"over": {"x": []}}, "no points"),
        ({"outputs": []}, "no outputs"),
        ({"outputs": ["value", "value"]}, "twice"),
        ({"fixed": {"x": 1.0}}, "x is fixed and varied"),
        ({"outputs": ["y"]}, "the output y is a parameter"),
        ({"units": {"z": "m"}}, "units has 'z', which is neither varied nor an output"),
        ({"replicates": 3}, "takes no randomness"),
        ({"replicates": 0}, "at least 1"),
        ({"continue_along": "x"}, "needs a function with a parameter `start`"),
        ({"refine": Refine("side", "y", 1e-3)}, "along 'y', which is none of the axes x"),
        ({"refine": Refine("nothing", "x", 1e-3)}, "none of the outputs"),
        ({"refine": Refine("value", "x", 0.0)}, "above 0"),
        ({"over": {"x": [1.0, 1.0]}}, "has a value twice"),
    ],
)
def test_a_wrong_description_is_refused_in_a_sentence(given: dict, message: str, tmp_path: Path) -> None:
    shipped = {"over": {"x": [0.0, 1.0]}, "outputs": ["value", "side"], "store": tmp_path / "s"}
    with pytest.raises(StudyError, match=message):
        klapper.study(study_targets.square, **{**shipped, **given})
    assert not (tmp_path / "s").exists()


def test_values_of_an_example_are_checked_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="B must be a number at least 0"):
        klapper.study("vielsack-drift", over={"B": [-1.0]}, outputs=["drift"], store=tmp_path / "s")


def test_a_function_that_cannot_be_imported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="define it at the top of a file"):
        klapper.study(lambda x: {"y": x}, over={"x": [1.0]}, outputs=["y"], store=tmp_path / "s")


def test_an_output_that_nothing_returns_stops_the_study(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.square, over={"x": grid(0.0, 1.0, 50)}, outputs=["volume"], store=tmp_path / "s"
    )
    with pytest.raises(StudyError, match="returns no volume; outputs can be value, side, inside"):
        study.run(workers=1)


def test_a_worker_with_other_code_refuses_to_compute() -> None:
    from klapper.studies.batch import Batch, Task, compute
    from klapper.studies.target import FunctionTarget

    task = Task(FunctionTarget(study_targets.square), {}, ("value",), 0, code="of another machine")
    with pytest.raises(StudyError, match="a worker has other code"):
        compute(task, Batch((0,), {"x": [1.0]}, [0]))


def test_ctrl_c_keeps_what_was_computed(tmp_path: Path) -> None:
    study = klapper.study(
        study_targets.interrupted, over={"x": grid(0.0, 9.0, 10)}, outputs=["value"], store=tmp_path / "s"
    )
    with pytest.raises(KeyboardInterrupt):
        study.run(workers=1)
    assert study.counts() == {"done": 5, "failed": 0, "missing": 5}


def test_a_store_of_another_study_is_refused(tmp_path: Path) -> None:
    klapper.study(study_targets.square, over={"x": [1.0]}, outputs=["value"], store=tmp_path).run(workers=1)
    other = klapper.study(study_targets.fragile, over={"x": [1.0]}, outputs=["value"], store=tmp_path)
    with pytest.raises(StudyError, match=r"holds function study_targets\.square"):
        other.run(workers=1)


def test_capital_and_small_letters_are_kept_apart(tmp_path: Path) -> None:
    from klapper.studies.store import Content

    assert Content("t", ("A", "a", "B"), ("b", "seconds")).stored_as == ("A", "a_2", "B", "b_2", "seconds_2")
