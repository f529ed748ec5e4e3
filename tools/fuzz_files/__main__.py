"""The command: cases are handed to processes with limits, and what happened is counted."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 5.0, 500_000_000  # of processor time; bytes that a process has at most
SHARE = 0.25  # of hostile cases; the others are damaged by chance
BATCH = 10_000  # cases of one process


def main(words: list[str] | None = None) -> int:
    from tools.fuzz_files.samples import KINDS, write_samples

    parser = argparse.ArgumentParser(prog="python -m tools.fuzz_files", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="cases of every kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kind", choices=KINDS, action="append", help="all kinds if not given")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.work:
        return _work(Path(given.work), given.kind, given.seed, given.first, given.count)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        folder = Path(place)
        write_samples(folder / "samples")
        for kind in given.kind or KINDS:
            told = _all(folder, kind, given.seed, given.first, given.count)
            failed += len(told["defects"])
            counts = ", ".join(f"{count} {word}" for word, count in sorted(told["counts"].items()))
            print(
                f"{kind:<9} seed {given.seed}, {given.count} cases: {counts}; most memory {told['memory']} MB"
            )
            for defect in told["defects"]:
                print(f"    {defect}")
            sys.stdout.flush()
    return 1 if failed else 0


def _all(folder: Path, kind: str, seed: int, first: int, count: int) -> dict[str, Any]:
    """The cases of a kind, batch by batch; a case that ends its process is a defect, and the next goes on behind it."""
    counts: Counter[str] = Counter()
    defects: list[str] = []
    memory, number, end = 0, first, first + count
    while number < end:
        size = min(BATCH, end - number)
        words = ["--seed", str(seed), "--first", str(number), "--count", str(size), "--kind", kind]
        process = subprocess.run(
            [sys.executable, "-m", "tools.fuzz_files", "--work", str(folder), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if count > 1 else None,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
        lines = [json.loads(line) for line in process.stdout.splitlines()]
        for line in lines:
            counts[line["word"]] += 1
            memory = max(memory, line["memory"])
            if line["word"] == "DEFECT":
                defects.append(f"--first {line['number']} ({line['made']}): {line['told']}")
        number += len(lines)
        if len(lines) < size:
            counts["DEFECT"] += 1
            how = (
                f"signal {-process.returncode}" if process.returncode < 0 else f"status {process.returncode}"
            )
            defects.append(
                f"--first {number}: ended the process with {how} (24, 27: more than {SECONDS:g} s)"
            )
            number += 1
    return {"counts": counts, "defects": defects, "memory": memory}


def _work(folder: Path, kinds: list[str], seed: int, first: int, count: int) -> int:
    """Cases in this process, one line of JSON each."""
    warnings.simplefilter("ignore")
    (kind,) = kinds
    samples = sorted((folder / "samples" / kind).iterdir())
    place = folder / f"work-{os.getpid()}"
    place.mkdir()
    os.mkfifo(place / "outside")
    (place / "kept").write_text("kept")
    watch = _Watch()
    sys.addaudithook(watch)
    for sample in samples:  # everything is imported, so that memory and files are those of the cases
        for attempt in range(min(5, 1 + count // 100)):
            _one(place, kind, [sample], random.Random(attempt), watch, whole=True)
    for number in range(first, first + count):
        chance = random.Random(f"{seed} {kind} {number}")
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        made, word, told = _one(place, kind, samples, chance, watch, whole=False)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        usage = [_most_memory("self"), *map(_most_memory, _helpers())]
        if max(usage) > MEMORY:
            word, told = "DEFECT", f"takes {max(usage) / 1e6:.0f} MB"
        line = {"number": number, "word": word, "told": told, "made": made, "memory": round(max(usage) / 1e6)}
        print(json.dumps(line), flush=True)
        if word == "DEFECT" and "MB" in told:
            break  # the most ever, so that all others would seem to take it, too
    shutil.rmtree(place)
    return 0


def _one(
    place: Path, kind: str, samples: list[Path], chance: random.Random, watch: _Watch, *, whole: bool
) -> tuple[str, str, str]:
    """What was made, what happened, and why."""
    from tools.fuzz_files.damage import damaged
    from tools.fuzz_files.hostile import make_hostile
    from tools.fuzz_files.reading import read_case

    case = place / "case"
    shutil.copytree(chance.choice(samples), case)
    made = "whole"
    try:
        if not whole and chance.random() < SHARE:
            made = make_hostile(kind, case, chance)
        elif not whole:
            file = chance.choice(_files(kind, case))
            made = f"damaged {file.name}"
            other = chance.choice(_files(kind, chance.choice(samples)))
            spare = other.read_bytes() if other.suffix == file.suffix else b""
            file.write_bytes(damaged(file, file.read_bytes(), chance, spare))
        before = _state(kind, case)
        watch.folder, watch.seen = (place, case), ""
        try:
            word = "read" if read_case(kind, case, chance) else "refused"
            told = ""
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            where = traceback.extract_tb(error.__traceback__)[-1]
            word, told = (
                "DEFECT",
                f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[:400],
            )
            print(traceback.format_exc(), file=sys.stderr)
        finally:
            watch.folder = None
        after = _state(kind, case)
        if watch.seen:
            word, told = "DEFECT", f"opened {watch.seen}"
        elif {name: after.get(name) for name in before} != before or not (place / "kept").exists():
            word, told = "DEFECT", "a file was changed or lost"
        return made, word, told
    finally:
        shutil.rmtree(case)


def _most_memory(process: int | str) -> int:
    """Bytes that a process had at most. (What getrusage tells begins with the memory of the parent.)"""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmHWM")), 0)


def _helpers() -> list[int]:
    from klapper.doors import helper

    process = helper._reader._process
    return [] if process is None else [process.pid]


def _files(kind: str, case: Path) -> list[Path]:
    """The files of a case that are damaged."""
    patterns = {"header": "header.json", "part": "part-*.h5", "store": "study.sqlite", "study": "study.toml"}
    patterns |= {"resume": "part-*.h5"}
    return sorted(file for file in case.rglob(patterns.get(kind, "*")) if file.is_file())


def _state(kind: str, case: Path) -> dict[str, Any]:
    """Every file and what is in it; not what SQLite keeps beside a store while it is open, and a run that goes on."""
    found: dict[str, Any] = {}
    for file in sorted(case.rglob("*")):
        regular = file.is_file() and not file.is_symlink()
        if not file.name.endswith("-shm") and not (kind == "resume" and file.parent != case):
            found[str(file.relative_to(case))] = file.read_bytes() if regular else "no file"
    return found


class _Watch:
    """Notes what is opened outside of the folder of a case, except for what Python itself needs."""

    def __init__(self) -> None:
        self.folder: tuple[Path, Path] | None = None
        self.seen = ""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None or event not in ("open", "sqlite3.connect", "os.remove", "os.rename"):
            return
        name = arguments[0]
        if isinstance(name, int) or not isinstance(name, str | bytes | os.PathLike):
            return
        place, case = self.folder
        path = os.path.abspath(os.fsdecode(name)).removeprefix("file:")
        if (path.startswith(str(place)) and not path.startswith(str(case))) or path.startswith(
            ("/etc/", "/dev/zero", "/proc/")
        ):
            self.seen = path


if __name__ == "__main__":
    sys.exit(main())
