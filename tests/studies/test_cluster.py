"""The same study on a Dask cluster on loopback, also while its workers, all of them, or its scheduler are killed.

Everything that could wait has a limit: a study that hangs fails its test after ``LIMIT`` seconds.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_targets
from typer.testing import CliRunner

import klapper
from klapper.cli import app
from klapper.studies import StudyError, grid

pytestmark = pytest.mark.filterwarnings("ignore")  # those of distributed itself

LIMIT = 300.0  # seconds
SCHEDULER = """
import sys, time
if __name__ == "__main__":
    from distributed import LocalCluster
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


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


def lines(log: Path) -> int:
    return log.read_text().count("\n") if log.exists() else 0


def in_time(work: Callable[[], Any]) -> Any:
    """What ``work`` returns or raises, if it ends within the limit."""
    outcome: list[Any] = []

    def tried() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=tried, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert outcome, f"nothing for {LIMIT:g} s: the study hangs"
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


class Killer(threading.Thread):
    """Kills processes one after the other, each at a random moment after some new points, until all are dead."""

    def __init__(self, log: Path, victims: list[Callable[[], int]], points: int, *, seed: int = 0) -> None:
        super().__init__(daemon=True)
        self.log, self.victims, self.points, self.moments = log, victims, points, random.Random(seed)
        self.killed: list[int] = []
        self.over = threading.Event()

    def run(self) -> None:
        for victim in self.victims:
            before = lines(self.log)
            while lines(self.log) < before + self.points and not self.over.is_set():
                time.sleep(0.01)
            if self.over.wait(self.moments.uniform(0.0, 0.3)):
                return
            pid = victim()
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)

    def stop(self) -> None:
        self.over.set()
        self.join(LIMIT)


def require_as_serial(study: klapper.studies.Study, other: klapper.studies.Study) -> None:
    """Every point once, with the values of one process."""
    table = study.table()
    assert set(table["status"]) == {"done"}
    assert len(np.unique(table["x"])) == len(study.design) == len(table["x"])
    assert np.array_equal(table["value"], other.run(workers=1).table()["value"])


def on_the_command_line(folder: Path, address: str) -> Any:
    """``klapper study STUDY.toml --cluster ADDRESS``."""
    path = folder / "study.toml"
    path.write_text(
        'map = "wedge-squeal"\noutputs = ["verdict"]\n[over]\nmu = [0.1, 0.9]\n[fixed]\nalpha = 1.0\n'
    )
    return CliRunner().invoke(app, ["study", str(path), "--cluster", address])


def test_a_cluster_gives_what_this_process_gives_though_a_worker_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with local_cluster(2) as cluster:
        study = described(tmp_path / "a", log, 80, 0.01)
        killer = Killer(log, [lambda: next(iter(cluster.workers.values())).pid], 5, seed=1)
        killer.start()
        in_time(lambda: study.run(cluster=cluster.scheduler_address))
        killer.stop()
        command = in_time(lambda: on_the_command_line(tmp_path, cluster.scheduler_address))
    assert (command.exit_code, "2 points done" in command.output) == (0, True), command.output
    assert len(killer.killed) == 1
    require_as_serial(study, described(tmp_path / "b", tmp_path / "other", 80, 0.0))


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
    study = described(tmp_path / "a", tmp_path / "log", 4, 0.0)
    with local_cluster(0) as cluster, pytest.raises(StudyError, match="no workers for 0 s: start some"):
        in_time(lambda: study.run(cluster=cluster.scheduler_address))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_four_workers_killed_one_by_one_leave_every_point_once(tmp_path: Path, seed: int) -> None:
    """Each of the first four workers, at random moments; the cluster starts others in their place."""
    log = tmp_path / "log"
    with local_cluster(4) as cluster:
        first = [nanny.pid for nanny in cluster.workers.values()]
        killer = Killer(log, [lambda pid=pid: pid for pid in first], 40, seed=seed)
        study = described(tmp_path / "a", log, 1200, 0.05)
        killer.start()
        in_time(lambda: study.run(cluster=cluster.scheduler_address))
        killer.stop()
    assert killer.killed == first
    require_as_serial(study, described(tmp_path / "b", tmp_path / "other", 1200, 0.0))


@pytest.mark.slow
def test_a_study_whose_workers_are_all_gone_ends_and_goes_on_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four workers killed one by one that nobody starts again, then four others."""
    monkeypatch.setattr("klapper.studies.crew.DESERTED", 2.0)
    monkeypatch.setattr("klapper.studies.runner._WATCH", 0.5)
    log, study = tmp_path / "log", described(tmp_path / "a", tmp_path / "log", 600, 0.05)
    with local_cluster(4) as cluster:
        for nanny in cluster.workers.values():
            nanny.auto_restart = False
        first = [nanny.pid for nanny in cluster.workers.values()]
        killer = Killer(log, [lambda pid=pid: pid for pid in first], 20, seed=3)
        killer.start()
        with pytest.raises(StudyError, match="no workers for 2 s: start some and run the study again"):
            in_time(lambda: study.run(cluster=cluster.scheduler_address))
        killer.stop()
    assert killer.killed == first
    counts, before = study.counts(), lines(log)
    assert counts["failed"] == 0
    assert 0 < counts["missing"] < 600
    with local_cluster(4) as cluster:
        in_time(lambda: study.run(cluster=cluster.scheduler_address))
    assert lines(log) - before == counts["missing"]
    require_as_serial(study, described(tmp_path / "b", tmp_path / "other", 600, 0.0))


@pytest.mark.slow
def test_a_study_whose_scheduler_is_killed_ends_in_a_sentence_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klapper.studies.crew.PATIENCE", "2s")
    monkeypatch.setattr("klapper.studies.runner._WATCH", 0.5)
    script, log = tmp_path / "scheduler.py", tmp_path / "log"
    script.write_text(SCHEDULER, encoding="utf-8")
    paths = os.pathsep.join([str(Path(study_targets.__file__).parent), os.environ.get("PYTHONPATH", "")])
    scheduler = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert scheduler.stdout is not None
    address = scheduler.stdout.readline().strip()
    study = described(tmp_path / "a", log, 200, 0.05)
    killer = Killer(log, [lambda: scheduler.pid], 10, seed=4)
    killer.start()
    with pytest.raises(StudyError, match="does not answer any more: start it again and run the study again"):
        in_time(lambda: study.run(cluster=address))
    killer.stop()
    scheduler.communicate()
    assert study.counts()["failed"] == 0
    in_time(lambda: study.run(workers=1))
    require_as_serial(study, described(tmp_path / "b", tmp_path / "other", 200, 0.0))
