"""Machine code on disk: never stale, written by many at once, shared by copies, brought along by an installation."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from klapper import machine_code
from klapper.machine_code import key_of, njit

SOURCE = Path(machine_code.__file__).parent
KERNEL = """
from klapper.machine_code import njit
from called import half
from given import WEIGHT

@njit(cache=True)
def weighed(x):
    return WEIGHT * half(x)
"""
CALLED = """
from klapper.machine_code import njit

@njit(cache=True)
def half(x):
    return x / 2.0
"""
ASK = """
from numba.core import event
compiled = []
class Told(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Told())
from kernel import weighed
print(weighed(3.0), weighed(3), sorted(set(compiled)))
"""


def write(folder: Path, **texts: str) -> None:
    """Modules that look as old and as long as those before, as after an update that keeps times."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
        os.utime(folder / f"{name}.py", (1e9, 1e9))


def start(folder: Path, cache: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"KLAPPER_CACHE": str(cache), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-B", "-c", ASK]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def said(folder: Path, cache: Path) -> str:
    process = start(folder, cache)
    answer = process.communicate()[0].strip()
    assert process.returncode == 0
    return answer


def test_code_is_as_new_as_all_that_it_is_made_from(tmp_path: Path) -> None:
    here, cache = tmp_path / "here", tmp_path / "cache"
    write(here, kernel=KERNEL, called=CALLED, given="WEIGHT = 8.0")
    assert said(here, cache) == "12.0 12.0 ['half', 'weighed']"
    assert said(here, cache) == "12.0 12.0 []"
    write(here, called=CALLED.replace("2.0", "4.0"))  # a function in another file
    assert said(here, cache) == "6.0 6.0 ['half', 'weighed']"
    write(here, given="WEIGHT = 9.0")  # a constant in another file
    assert said(here, cache) == "6.75 6.75 ['weighed']"
    write(here, called=CALLED, given="WEIGHT = 8.0")  # back to what was there: nothing to do
    assert said(here, cache) == "12.0 12.0 []"
    there = tmp_path / "there"  # a copy of the same kernels
    shutil.copytree(here, there)
    assert said(there, cache) == "12.0 12.0 []"


def test_processes_may_write_at_once(tmp_path: Path) -> None:
    here, cache = tmp_path / "here", tmp_path / "cache"
    write(here, kernel=KERNEL, called=CALLED, given="WEIGHT = 8.0")
    together = [start(here, cache) for _ in range(3)]
    answers = [process.communicate()[0] for process in together]
    assert all(answer.startswith("12.0 12.0") for answer in answers)
    assert said(here, cache) == "12.0 12.0 []"
    kept = [file.name for file in (cache / "machine_code").iterdir()]
    assert kept
    assert all(name.endswith(".code") for name in kept)  # nothing that was only half written


def test_an_installation_may_bring_code_that_nobody_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> object:
        return njit(cache=True)(lambda x: 3.5 * x)

    nowhere = tmp_path / "file"
    nowhere.touch()
    monkeypatch.setenv("KLAPPER_CACHE", str(tmp_path))
    assert made()(2.0) == 7.0
    monkeypatch.setenv("KLAPPER_CACHE", str(nowhere))  # no folder can be made below a file
    monkeypatch.setattr(machine_code, "_PACKAGE", tmp_path)
    again = made()
    assert again(2.0) == 7.0
    assert sum(again.stats.cache_hits.values()) == 1
    monkeypatch.setattr(machine_code, "_PACKAGE", nowhere)
    without = made()
    assert without(2.0) == 7.0
    assert sum(without.stats.cache_hits.values()) == 0


def test_what_was_not_used_for_longest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLAPPER_CACHE", str(tmp_path))
    monkeypatch.setattr(machine_code, "_MOST", 1000)
    for k, name in enumerate(("first", "second", "third")):
        machine_code._write(name, bytes(300))
        os.utime(tmp_path / "machine_code" / name, (1e9 + k, 1e9 + k))
    assert machine_code._read("first") == bytes(300)
    machine_code._write("last", bytes(300))
    assert {file.name for file in (tmp_path / "machine_code").iterdir()} <= {"first", "last"}


def test_what_cannot_be_named_is_not_kept() -> None:
    class Answer:
        def __init__(self) -> None:
            self.number = 1.0

    unnamed = Answer()

    def function(x: float) -> float:
        return x + unnamed.number

    assert key_of(njit(cache=True)(function)) is None
    assert key_of(njit(cache=True)(lambda x: x)) != key_of(njit(cache=True, fastmath=True)(lambda x: x))


def test_all_kernels_of_the_package_keep_their_code_here() -> None:
    importing = re.compile(r"from numba import .*\bnjit\b|numba\.njit\(.*cache=True")
    files = set(SOURCE.rglob("*.py")) - {SOURCE / "machine_code.py"}
    others = [str(file) for file in files if importing.search(file.read_text(encoding="utf-8"))]
    assert others == []


def test_kernels_have_names() -> None:
    from klapper.complementarity.kernels.contact_prox import compiled_nested
    from klapper.schemes.form_kernels.loop import run
    from klapper.schemes.kernels.linear import run as run_linear

    names = [key_of(kernel) for kernel in (compiled_nested, run, run_linear)]
    assert None not in names
    assert len(set(names)) == 3
