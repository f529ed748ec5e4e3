"""A running computation on disk: killed, damaged, resumed, finished, locked."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.results import PartStore, ResultsError, Run, Samples, lock as locks, read

from .motions import bouncing_ball, logged_by_number, run_of_states
from .test_samples import same

ABOUT = {"system": "bouncing ball", "citations": ["moreau1988"]}


def store_parts(folder: Path, run: Run, edges: list[int], *, fingerprint: str = "one") -> None:
    """Store the stretches between ``edges`` as parts and stop there."""
    with PartStore(folder) as store:
        store.begin(run.layout, ABOUT, fingerprint)
        for first, last in pairwise(edges):
            store.append(run.samples[first:last], snapshot_at(run, last))


def snapshot_at(run: Run, sample: int) -> dict[str, Any]:
    return {"q": run.position[sample - 1], "step": sample, "note": f"after {sample}", "h": 0.1 * sample}


@pytest.mark.parametrize("by_number", [False, True])
def test_parts_come_back_and_the_last_snapshot_with_them(tmp_path: Path, by_number: bool) -> None:
    run = run_of_states(np.random.default_rng(2).integers(0, 4, (40, 3)))
    run = logged_by_number(run) if by_number else run
    store_parts(tmp_path, run, [0, 1, 17, 30])
    assert sorted(os.listdir(tmp_path)) == [
        "header.json",
        "part-000001.h5",
        "part-000002.h5",
        "part-000003.h5",
        "run.log",
    ]
    with PartStore(tmp_path) as store:
        resumed = store.resume("one")
        assert resumed is not None
        assert resumed.layout == run.layout
        assert same(resumed.samples, run.samples[:30])
        assert resumed.message == ""
        assert {name: resumed.snapshot[name] for name in ("step", "note", "h")} == {
            "step": 30,
            "note": "after 30",
            "h": 0.1 * 30,
        }
        assert resumed.snapshot["q"].tobytes() == run.position[29].tobytes()
        store.append(run.samples[30:], snapshot_at(run, 40))
        store.finish(Run(run.layout, run.samples, ABOUT | {"status": "complete"}))
    assert sorted(os.listdir(tmp_path)) == ["run.h5", "run.log"]
    assert same(read(tmp_path).samples, run.samples)
    with PartStore(tmp_path) as store:
        finished = store.finished("one")
        assert finished is not None
        assert same(finished.samples, run.samples)


def test_an_unfinished_folder_reads_as_an_interrupted_run(tmp_path: Path) -> None:
    run = bouncing_ball()
    store_parts(tmp_path, run, [0, 100, 251])
    part = read(tmp_path)
    assert part.about["status"] == "interrupted"
    assert part.about["steps"] == 2500
    assert part.about["message"] == "The run stopped at 1.25 s and can be resumed."
    assert part.about["system"] == "bouncing ball"
    assert same(part.samples, run.samples[:251])


def test_a_new_folder_has_nothing_to_resume(tmp_path: Path) -> None:
    run = bouncing_ball(count=11)
    with PartStore(tmp_path / "new" / "folder") as store:
        assert store.finished("one") is None
        assert store.resume("one") is None
        store.begin(run.layout, ABOUT, "one")
    with PartStore(tmp_path / "new" / "folder") as store:  # killed before the first part
        assert store.resume("one") is None
        store.begin(run.layout, ABOUT, "one")
        assert len(read(tmp_path / "new" / "folder")) == 0
        store.append(run.samples[:0], {"step": 0})
    with PartStore(tmp_path / "new" / "folder") as store:
        resumed = store.resume("one")
        assert resumed is not None
        assert len(resumed.samples) == 0
        assert resumed.snapshot == {"step": 0}


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.3, 0.6, 0.999])
@pytest.mark.parametrize("damaged", [1, 2, 3])
def test_a_damaged_part_ends_the_beginning(tmp_path: Path, keep: float, damaged: int) -> None:
    run, edges = bouncing_ball(count=101), [0, 20, 50, 101]
    store_parts(tmp_path, run, edges)
    file = tmp_path / f"part-00000{damaged}.h5"
    content = file.read_bytes()
    file.write_bytes(content[: int(keep * len(content))])
    good = edges[damaged - 1]
    shown = read(tmp_path)
    assert same(shown.samples, run.samples[:good])
    assert f"Parts from number {damaged} on are left out: {file} is" in shown.about["message"]
    with PartStore(tmp_path) as store:
        resumed = store.resume("one")
        if damaged == 1:
            assert resumed is None
            store.begin(run.layout, ABOUT, "one")
        else:
            assert resumed is not None
            assert same(resumed.samples, run.samples[:good])
            assert resumed.snapshot["step"] == good
            assert "left out" in resumed.message
        store.append(run.samples[good:77], snapshot_at(run, 77))  # other cuts than before
        store.append(run.samples[77:], snapshot_at(run, 101))
    assert same(read(tmp_path).samples, run.samples)


def test_a_missing_part_and_parts_of_another_run_are_not_mixed_in(tmp_path: Path) -> None:
    run = bouncing_ball(count=101)
    for name in ("one", "other"):
        store_parts(tmp_path / name, run, [0, 20, 50, 101])
    (tmp_path / "one" / "part-000002.h5").unlink()
    assert same(read(tmp_path / "one").samples, run.samples[:20])
    (tmp_path / "other" / "part-000002.h5").rename(tmp_path / "one" / "part-000002.h5")
    assert same(read(tmp_path / "one").samples, run.samples[:20])
    assert "does not continue the run" in read(tmp_path / "one").about["message"]


def test_files_left_by_a_killed_process_are_removed(tmp_path: Path) -> None:
    store_parts(tmp_path, bouncing_ball(count=11), [0, 5])
    (tmp_path / ".part-000002.h5.0123abcd.temporary").write_bytes(b"half")
    (tmp_path / "part-mine.h5").write_bytes(b"mine")
    assert len(read(tmp_path)) == 5
    PartStore(tmp_path).close()
    assert sorted(os.listdir(tmp_path)) == ["header.json", "part-000001.h5", "part-mine.h5", "run.log"]


def test_another_run_is_refused_and_replaced_only_on_request(tmp_path: Path) -> None:
    run = bouncing_ball(count=11)
    store_parts(tmp_path, run, [0, 5, 11])
    with PartStore(tmp_path) as store:
        with pytest.raises(
            ResultsError, match="holds another run: give another folder, or begin with overwrite"
        ):
            store.resume("two")
        with pytest.raises(
            ResultsError, match="holds a run already: resume it, overwrite it or give another folder"
        ):
            store.begin(run.layout, ABOUT, "two")
        assert len(read(tmp_path)) == 11
        store.begin(run.layout, ABOUT, "two", overwrite=True)
        assert len(read(tmp_path)) == 0
        store.append(run.samples, {})
        store.finish(run)
        with pytest.raises(ResultsError, match=r"run\.h5 is another run"):
            store.finished("one")
        with pytest.raises(ResultsError, match="holds the finished run"):
            store.resume("two")
        with pytest.raises(ResultsError, match="holds a run already"):
            store.begin(run.layout, ABOUT, "three")
        store.begin(run.layout, ABOUT, "three", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["header.json", "run.log"]


def test_what_would_lose_data_is_refused(tmp_path: Path) -> None:
    run = bouncing_ball(count=11)
    with PartStore(tmp_path) as store:
        with pytest.raises(ResultsError, match="has no run to write: begin or resume one"):
            store.append(run.samples, {})
        store.begin(run.layout, ABOUT, "one")
        with pytest.raises(ResultsError, match="gap has columns"):
            store.append(run_of_states(np.zeros((3, 2))).samples, {})
        store.append(run.samples, {})
        with pytest.raises(ResultsError, match=r"begin at 1\.5 s, but the parts before them end at 3 s"):
            store.append(run.samples[5:], {})
        with pytest.raises(ResultsError, match="An interrupted run is not finished"):
            store.finish(Run(run.layout, run.samples, {"status": "interrupted"}))
        with pytest.raises(ResultsError, match="The run has 5 samples, but its parts hold 11"):
            store.finish(Run(run.layout, run.samples[:5], {"status": "complete"}))
        with pytest.raises(ResultsError, match="cannot be stored"):
            store.begin(run.layout, {"x": object()}, "two", overwrite=True)
    assert len(read(tmp_path)) in (0, 11)


@pytest.mark.parametrize("change", ["cut", "bit", "newer", "list", "gone"])
def test_a_damaged_header_is_told(tmp_path: Path, change: str) -> None:
    store_parts(tmp_path, bouncing_ball(count=11), [0, 5])
    file = tmp_path / "header.json"
    text = file.read_text()
    changed = {
        "cut": text[:50],
        "bit": text.replace("ball y", "ball x", 1),
        "newer": json.dumps(json.loads(text) | {"format": 9}),
        "list": "[1]",
        "gone": "",
    }
    file.write_text(changed[change])
    if change == "gone":
        file.unlink()
    message = {"newer": "newer klapper", "gone": "holds no run"}.get(change, r"header\.json is damaged")
    with pytest.raises(ResultsError, match=message):
        read(tmp_path)
    message = {"newer": "newer klapper", "gone": "does not exist"}.get(change, r"header\.json is damaged")
    with PartStore(tmp_path) as store, pytest.raises(ResultsError, match=message):
        store.resume("one")


def test_a_finish_that_was_killed_between_its_steps_is_tidied_up(tmp_path: Path) -> None:
    run = bouncing_ball(count=11)
    store_parts(tmp_path, run, [0, 5, 11])
    left = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    with PartStore(tmp_path) as store:
        store.resume("one")
        store.finish(run)
    for name, content in left.items():
        (tmp_path / name).write_bytes(content)
    assert read(tmp_path).about["status"] == "complete"
    with PartStore(tmp_path) as store:
        assert store.finished("one") is not None
    assert sorted(os.listdir(tmp_path)) == ["run.h5", "run.log"]


WRITER = """
import sys, time
sys.path.insert(0, {tests!r})
from results.motions import bouncing_ball
from klapper.results import PartStore
run = bouncing_ball(count=150)
with PartStore({folder!r}) as store:
    resumed = store.resume("kill")
    if resumed is None:
        store.begin(run.layout, {{}}, "kill")
    done = 0 if resumed is None else resumed.snapshot["done"]
    print("ready", done, flush=True)
    while done < 150:
        last = min(done + 1 + done % 3, 150)
        store.append(run.samples[done:last], {{"done": last, "sum": float(run.position[:last].sum())}})
        done = last
        print(done, flush=True)
    store.finish(run)
"""


def start_writer(folder: Path) -> subprocess.Popen[str]:
    code = WRITER.format(tests=str(Path(__file__).parents[1]), folder=str(folder))
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_killed_at_any_moment_it_goes_on_to_the_same_run(tmp_path: Path) -> None:
    run, rng = bouncing_ball(count=150), np.random.default_rng(4)
    reached = [0]
    for _ in range(4):
        with start_writer(tmp_path) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == f"ready {reached[-1]}\n"
            for _ in range(
                rng.integers(1, 12)
            ):  # parts, however slow the machine is; then somewhere in the next one
                writer.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.01))
            writer.send_signal(signal.SIGKILL)
        if (tmp_path / "run.h5").exists():
            break
        part = read(tmp_path)
        assert same(part.samples, run.samples[: len(part)])
        reached.append(len(part))
    with start_writer(tmp_path) as writer:
        _, errors = writer.communicate()
    assert writer.returncode == 0 or "finished run" in errors
    assert max(reached) > 0
    assert reached == sorted(reached)
    assert sorted(os.listdir(tmp_path)) == ["run.h5", "run.log"]
    assert same(read(tmp_path).samples, run.samples)


def test_a_folder_has_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        PartStore(tmp_path),
        pytest.raises(ResultsError, match=f"is being written by process {os.getpid()} on"),
    ):
        PartStore(tmp_path)
    code = f"from klapper.results import PartStore; s = PartStore({str(tmp_path)!r}); print('held', flush=1); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ResultsError, match=f"is being written by process {holder.pid} on"):
            PartStore(tmp_path)
        holder.kill()
    assert (tmp_path / "lock").exists()  # the dead process left it behind
    PartStore(tmp_path).close()
    assert not (tmp_path / "lock").exists()


def test_without_file_locks_the_process_number_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoLocks:
        LOCK_EX = LOCK_NB = 0

        @staticmethod
        def flock(handle: int, operation: int) -> None:
            raise OSError(38, "Function not implemented")

    monkeypatch.setattr(locks, "fcntl", NoLocks)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (tmp_path / "lock").write_text(f"{other.pid} {locks.socket.gethostname()}\n")
        with pytest.raises(ResultsError, match=f"process {other.pid} on"):
            PartStore(tmp_path)
        other.kill()
    PartStore(tmp_path).close()
    (tmp_path / "lock").write_text("1 elsewhere\n")
    with pytest.raises(ResultsError, match="process 1 on elsewhere"):
        PartStore(tmp_path)
    (tmp_path / "lock").write_text("nonsense")
    PartStore(tmp_path).close()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="file cannot hold a run: File exists"):
        PartStore(tmp_path / "file")


def test_samples_of_a_store_keep_their_type(tmp_path: Path) -> None:
    run = logged_by_number(run_of_states(np.zeros((4, 2), dtype=int)))
    store_parts(tmp_path, run, [0, 2])
    samples: Samples = read(tmp_path).samples
    assert samples.loaded is not None
    assert samples.loaded.contact.dtype == np.int64
