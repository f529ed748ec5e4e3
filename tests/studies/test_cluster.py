"""The same study on a Dask cluster on loopback, also while its workers are killed."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_targets

import klapper
from klapper.studies import StudyError, grid

pytestmark = pytest.mark.filterwarnings("ignore")  # those of distributed itself


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
    ) as cluster:
        yield cluster


def described(store: Path, log: Path, count: int, pause: float) -> klapper.studies.Study:
    return klapper.study(
        study_targets.logged_square,
        over={"x": grid(0.0, 1.0, count)},
        fixed={"log": str(log), "pause": pause},
        outputs=["value"],
        store=store,
        code="test",
    )


def test_a_cluster_gives_what_this_process_gives(tmp_path: Path) -> None:
    with local_cluster(2) as cluster:
        study = described(tmp_path / "a", tmp_path / "log", 60, 0.001)
        study.run(cluster=cluster.scheduler_address)
    alone = described(tmp_path / "b", tmp_path / "other", 60, 0.001).run(workers=1)
    assert np.array_equal(study.table()["value"], alone.table()["value"])
    assert len((tmp_path / "log").read_text().split()) == 60


def test_an_address_without_a_scheduler_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klapper.studies.crew.PATIENCE", "1s")
    study = described(tmp_path / "a", tmp_path / "log", 4, 0.0)
    with pytest.raises(StudyError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        study.run(cluster="tcp://127.0.0.1:9")
    with pytest.raises(StudyError, match="a cluster brings its own workers"):
        study.run(cluster="tcp://127.0.0.1:9", workers=2)


def test_a_cluster_without_workers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klapper.studies.crew.DESERTED", 0.0)
    monkeypatch.setattr("klapper.studies.runner._WATCH", 0.1)
    with local_cluster(0) as cluster, pytest.raises(StudyError, match="no workers for 0 s: start some"):
        described(tmp_path / "a", tmp_path / "log", 4, 0.0).run(cluster=cluster.scheduler_address)


@pytest.mark.slow
def test_four_workers_killed_one_by_one_leave_every_point_once(tmp_path: Path) -> None:
    with local_cluster(4) as cluster:
        study = described(tmp_path / "a", tmp_path / "log", 1200, 0.05)
        killed: list[int] = []

        def kill_all() -> None:
            """Each of the first four workers, one after the other, while points are computed by two others at least."""
            for pid in [nanny.pid for nanny in cluster.workers.values()]:
                before = lines(tmp_path / "log")
                while lines(tmp_path / "log") < before + 40 or len(cluster.scheduler.workers) < 3:
                    time.sleep(0.02)
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        thread = threading.Thread(target=kill_all)
        thread.start()
        study.run(cluster=cluster.scheduler_address)
        thread.join()
    table = study.table()
    assert len(set(killed)) == 4
    assert set(table["status"]) == {"done"}
    assert len(np.unique(table["x"])) == 1200
    alone = described(tmp_path / "b", tmp_path / "other", 1200, 0.0).run(workers=1)
    assert np.array_equal(table["value"], alone.table()["value"])


def lines(log: Path) -> int:
    return log.read_text().count("\n") if log.exists() else 0
