"""Signals at random moments, full disks, folders without permission, two processes at once, clocks that jump.

Whatever happens is told in one sentence, nothing that was stored is lost, and the same command, when it can, ends in
the bits of an undisturbed one.
"""

import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools import kill_runs
from tools.kill_runs import SCENARIO, STUDY, _contents, _points

from klapper.studies.file import read_study

SHORT = SCENARIO.replace("UNTIL", "1.0").replace('figures = ["ledger"]', 'page = false, figures = ["ledger"]')


@dataclass(frozen=True)
class Done:
    """How a command ended and what it told on standard error."""

    returncode: int
    stderr: str


def klapper(folder: Path, *words: str, before: Callable[[], object] | None = None) -> Done:
    with tempfile.TemporaryDirectory() as place:
        errors = Path(place, "errors")
        status = kill_runs.Command(folder, *words, errors=errors, before=before).wait(300.0)
        return Done(status, errors.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a study that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    write_files(folder)
    assert klapper(folder, "run", "my.toml", "--out", "run").returncode == 0
    assert klapper(folder, "study", "study.toml", "--workers", "1").returncode == 0
    return folder


def write_files(folder: Path) -> None:
    (folder / "my.toml").write_text(SHORT, encoding="utf-8")
    (folder / "short.toml").write_text(SCENARIO.replace("UNTIL", "0.1"), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY.replace("STORE", "store"), encoding="utf-8")


def told(done: Done) -> str:
    """The sentence of a command that could not do what it was asked for."""
    assert done.returncode in (1, 2), (done.returncode, done.stderr[-500:])
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert lines and "Traceback" not in done.stderr, done.stderr[-500:]
    return lines[-1]


@pytest.mark.parametrize(
    "most", [9000, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 2000, 40_000))]
)
def test_a_file_that_may_not_grow_ends_a_run_in_one_sentence(most: int, whole: Path, tmp_path: Path) -> None:
    """The system refuses to write beyond so many bytes, as it does on a full disk; the same command goes on later."""
    write_files(tmp_path)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    for words in (("run", "my.toml", "--out", "run"), ("study", "study.toml", "--workers", "1")):
        done = klapper(tmp_path, *words, before=limit)
        if done.returncode:
            assert any(word in told(done) for word in ("cannot be", "File too large", "cannot hold"))
        assert klapper(tmp_path, *words).returncode == 0
    assert _contents(tmp_path / "run") == _contents(whole / "run")
    assert _points(tmp_path / "store") == _points(whole / "store")


def require_mount(folder: Path, options: str) -> None:
    """A disk in memory, where the system lets us make one."""
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be made here")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 300 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    require_mount(folder, "size=300k")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_loses_nothing(small_disk: Path, whole: Path) -> None:
    write_files(small_disk)
    for size in range(0, 300_000, 20_000):
        (small_disk / "filler").write_bytes(b"x" * (290_000 - size) if size < 290_000 else b"")
        for words in (("run", "my.toml", "--out", "run"), ("study", "study.toml", "--workers", "1")):
            done = klapper(small_disk, *words)
            if done.returncode:
                told(done)
    (small_disk / "filler").unlink()
    for name in ("run", "store"):
        if (small_disk / name).exists():
            shutil.copytree(small_disk / name, small_disk.parent / name)
    write_files(small_disk.parent)
    assert klapper(small_disk.parent, "run", "my.toml", "--out", "run").returncode == 0
    assert klapper(small_disk.parent, "study", "study.toml", "--workers", "1").returncode == 0
    assert _contents(small_disk.parent / "run") == _contents(whole / "run")
    assert _points(small_disk.parent / "store") == _points(whole / "store")


@pytest.fixture
def read_only(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder that can be read and not written, by a disk of its own where everything is permitted to us."""
    folder = tmp_path / "shown"
    folder.mkdir()
    if os.geteuid() != 0:
        shutil.copytree(whole, folder, dirs_exist_ok=True)
        places = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        for place in places:
            place.chmod(0o555)
        yield folder
        for place in places:
            place.chmod(0o755)
        return
    require_mount(folder, "mode=755")
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_what_cannot_be_written_is_told_and_can_be_read(read_only: Path) -> None:
    """Also a study, whose data base writes a journal where it can."""
    for words in (("run", "my.toml", "--out", "other"), ("run", "my.toml", "--out", "run", "--overwrite")):
        assert "cannot hold a run" in told(klapper(read_only, *words))
    assert "cannot hold a study" in told(klapper(read_only, "study", "study.toml", "--workers", "1"))
    assert klapper(read_only, "show", "run").returncode == 0
    described, _ = read_study(read_only / "study.toml")
    assert described.counts() == {"done": 60, "failed": 0, "missing": 0}


def test_two_processes_on_one_folder_do_not_disturb_each_other(whole: Path, tmp_path: Path) -> None:
    """One of them works, the other is told so; both have their numbers afterwards."""
    write_files(tmp_path)
    for words in (("run", "my.toml", "--out", "run"), ("study", "study.toml", "--workers", "1")):
        both = [kill_runs.Command(tmp_path, *words) for _ in range(3)]
        status = [process.wait(300.0) for process in both]
        assert 0 in status and set(status) <= {0, 2}
    assert _contents(tmp_path / "run") == _contents(whole / "run")
    assert _points(tmp_path / "store") == _points(whole / "store")


@pytest.mark.slow
def test_a_clock_that_jumps_changes_no_number(whole: Path, tmp_path: Path) -> None:
    """Hours forwards and backwards between any two looks at it."""
    write_files(tmp_path)

    def jump() -> None:
        true, chance = time.time, random.Random(1)
        time.time = lambda: true() + chance.uniform(-1e5, 1e5)
        time.time_ns = lambda: int(1e9 * time.time())

    for words in (("run", "my.toml", "--out", "run"), ("study", "study.toml", "--workers", "1")):
        for _ in range(2):
            done = klapper(tmp_path, *words, before=jump)
            assert done.returncode == 0, done.stderr[-500:]
    assert _contents(tmp_path / "run") == _contents(whole / "run")
    assert _points(tmp_path / "store") == _points(whole / "store")


def test_a_run_that_is_killed_a_few_times_ends_as_if_it_never_was() -> None:
    assert kill_runs.main(["--seed", "3", "--count", "3", "--kind", "run"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", kill_runs.KINDS)
def test_commands_that_are_killed_sixty_times_end_as_if_they_never_were(kind: str) -> None:
    assert kill_runs.main(["--seed", "1", "--count", "60", "--kind", kind]) == 0
