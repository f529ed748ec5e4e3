"""Studies that are killed at random (seeded) moments and resumed: every point once, nothing computed twice."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import study_targets

from klapper.studies import StudyError, grid

COUNT = 240
LIMIT = 300.0  # seconds after which a study hangs
SCRIPT = """
    import sys
    import klapper, study_targets
    from klapper.studies import grid
    store, log, workers, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    klapper.study(study_targets.logged_square, over={{"x": grid(0.0, 1.0, {count})}}, outputs=["value"],
                  fixed={{"log": log, "pause": pause}}, store=store, code="test").run(workers=workers)
"""


def start(folder: Path, workers: int, pause: float) -> subprocess.Popen:
    """The study in a process of its own; a script without a guard."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(SCRIPT.format(count=COUNT)), encoding="utf-8")
    paths = os.pathsep.join([str(Path(study_targets.__file__).parent), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, str(script), str(folder / "s"), str(folder / "log"), str(workers), str(pause)]
    return subprocess.Popen(words, env={**os.environ, "PYTHONPATH": paths})


def stored(folder: Path) -> int:
    file = folder / "s" / "study.sqlite"
    if not file.exists():
        return 0
    base = sqlite3.connect(file, timeout=60.0)
    try:
        return int(base.execute("SELECT count(*) FROM points").fetchone()[0])
    except sqlite3.OperationalError:  # killed before the tables were made
        return 0
    finally:
        base.close()


def computed(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text(encoding="utf-8").split()) if log.exists() else 0


def wait_for_first(process: subprocess.Popen, folder: Path, before: int) -> None:
    while process.poll() is None and computed(folder) == before:
        time.sleep(0.01)


def require_whole(folder: Path, count: int = COUNT) -> None:
    base = sqlite3.connect(folder / "s" / "study.sqlite")
    rows = base.execute("SELECT x, value, status FROM points ORDER BY x").fetchall()
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()
    assert [row[0] for row in rows] == grid(0.0, 1.0, count)
    assert all(value == x * x and status == "done" for x, value, status in rows)


def kill_and_resume(folder: Path, *, seed: int, kills: int, workers: int, pause: float) -> None:
    """Kill the study ``kills`` times at random moments after its first new point, then let it end."""
    moments = random.Random(seed)
    whole = COUNT * pause / workers
    for _ in range(kills):
        process = start(folder, workers, pause)
        wait_for_first(process, folder, computed(folder))
        time.sleep(moments.uniform(0.0, whole / (kills + 1)))
        process.send_signal(signal.SIGKILL)
        process.wait()
    time.sleep(0.3)  # workers of the killed process end by themselves
    before, there = computed(folder), stored(folder)
    assert start(folder, workers, pause).wait(LIMIT) == 0
    assert computed(folder) - before == COUNT - there
    require_whole(folder)


def test_a_study_killed_twenty_times_is_completed(tmp_path: Path) -> None:
    """At random moments from its first line on: before the store is made, while it is written, between two points.

    Processes are forked from a server that has imported everything, so that twenty of them are affordable.
    """
    context, moments = get_context("forkserver"), random.Random(1)
    context.set_forkserver_preload(["klapper.results.lock", "study_targets"])
    wanted, progress = (tmp_path, 600, 0.001), []
    for number in range(20):
        before = stored(tmp_path)
        process = context.Process(target=study_targets.study_of_squares, args=wanted)
        process.start()
        while number % 4 and process.is_alive() and stored(tmp_path) == before:
            time.sleep(0.001)  # every fourth is killed at any moment, the others after their first answer
        process.join(moments.uniform(0.0, 0.02))
        process.kill()
        process.join()
        progress.append(stored(tmp_path))
    before = computed(tmp_path)
    process = context.Process(target=study_targets.study_of_squares, args=wanted)
    process.start()
    process.join(LIMIT)
    assert process.exitcode == 0
    assert len(set(progress)) >= 15
    assert progress == sorted(progress)  # nothing is lost
    assert computed(tmp_path) - before == 600 - progress[-1]
    require_whole(tmp_path, 600)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "workers"), [(1, 1), (2, 2), (3, 2), (4, 2), (5, 2)])
def test_a_study_with_workers_killed_five_times_is_completed(tmp_path: Path, seed: int, workers: int) -> None:
    kill_and_resume(tmp_path, seed=seed, kills=5, workers=workers, pause=0.004 if workers == 1 else 0.02)


def test_workers_killed_at_random_moments_are_replaced(tmp_path: Path) -> None:
    process = start(tmp_path, 2, 0.02)
    moments, killed = random.Random(7), 0
    while process.poll() is None:
        wait_for_first(process, tmp_path, computed(tmp_path))
        time.sleep(moments.uniform(0.0, 0.4))
        workers = children(process.pid)
        if workers and killed < 3:
            os.kill(moments.choice(workers), signal.SIGKILL)
            killed += 1
    assert process.returncode == 0
    assert killed == 3
    require_whole(tmp_path)


def children(parent: int) -> list[int]:
    """Worker processes of a study, without the tracker of resources that Python starts beside them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            words = path.with_name("cmdline").read_text()
        except OSError:
            continue
        if int(fields[1]) == parent and "spawn_main" in words:
            found.append(int(path.parent.name))
    return found


def test_workers_do_not_outlive_a_killed_study(tmp_path: Path) -> None:
    process = start(tmp_path, 2, 0.02)
    wait_for_first(process, tmp_path, 0)
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 30.0
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_a_second_process_on_the_same_store_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    process = start(tmp_path, 1, 0.01)
    wait_for_first(process, tmp_path, 0)
    second = study_targets.squares_in(tmp_path, COUNT, 0.01)
    with pytest.raises(StudyError, match="is being written by process"):
        second.run(workers=1)
    assert second.counts()["failed"] == 0  # reading meanwhile is allowed
    assert process.wait() == 0
    require_whole(tmp_path)
    assert np.array_equal(second.table()["value"], np.array(grid(0.0, 1.0, COUNT)) ** 2)
