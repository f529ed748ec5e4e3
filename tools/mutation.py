"""Does the suite notice a wrong sign, factor or comparison? Small errors are put into the source, one at a time.

    python -m tools.mutation --seed 1 --count 70 --rooms mechanics schemes --folder out/mutation

picks places by the seed, evenly over the rooms (all three if none is named), breaks each one in a copy of the source and runs the quick tests of its
room until one fails: those named like the module first, then the fastest ones, then those of other rooms that import
the module. Which test files enter which function is recorded once, on the unbroken copy: a file that never
enters the broken function cannot notice it and is left out. Compiled kernels cannot be watched, and what runs while
tests are collected serves them all: there every file of the room counts. Broken kernels are compiled anew.

``record.json`` in the folder keeps every verdict, so that an interrupted run goes on where it was. ``--again`` copies
the tests anew and tries the survivors once more.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tools.mutation_sites import ROOMS, Site, broken, chosen
from tools.mutation_watch import COLLECTION, UNHEARD, announcing

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0  # s beyond ten times the usual duration: then the tests hang
HANGS = "the tests hang or end early"
NO_FAILURE = (0, 5)  # what pytest returns if all tests pass, or if there are none


def copied(folder: Path) -> None:
    """The tests as they are now and, once, the source with the compiled kernels beside it."""
    shutil.rmtree(folder / "tests", ignore_errors=True)
    for name in ("src", "tests"):
        if not (folder / name).exists():
            shutil.copytree(ROOT / name, folder / name)
    shutil.copy2(ROOT / "pyproject.toml", folder)


def tested(source: Path, arguments: list[str], *, limit: float | None = None, **more: str) -> tuple[int, str]:
    """Return code and text of quick tests with a source; −1 if they take longer than ``limit`` seconds."""
    environment = {**os.environ, **more, "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = f"{source}{os.pathsep}{ROOT}"
    environment.pop("NUMBA_CACHE_DIR", None)
    quick = ["-q", "-p", "no:cacheprovider", "-m", "not slow"]
    command = [sys.executable, "-B", "-m", "pytest", *quick, *arguments]
    try:
        done = subprocess.run(
            command, cwd=source.parent, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout


def linked(folder: Path, *, compiled: bool = True) -> Path:
    """Another copy of the source, whose files are those of the first until they are replaced."""
    mutant = folder / "mutant"
    shutil.rmtree(mutant, ignore_errors=True)
    left_out = None if compiled else shutil.ignore_patterns("*.nb[ic]")
    shutil.copytree(folder / "src", mutant, copy_function=os.link, ignore=left_out)
    return mutant


def replaced(file: Path, content: bytes) -> None:
    file.unlink()
    file.write_bytes(content)


def watched(room: str, folder: Path) -> dict[str, Any]:
    """What the tests of a room enter, how long they take and which fail, recorded once on the unbroken source."""
    answer = _answer(room, folder)
    if not answer.exists():
        source = linked(folder)
        for file in (source / "klapper" / room).rglob("*.py"):
            if file.parent.name != "kernels":
                name = file.relative_to(source).as_posix()
                replaced(file, announcing(name, file.read_text(encoding="utf-8")).encode())
        package = source / "klapper" / "__init__.py"
        replaced(package, package.read_bytes() + UNHEARD.encode())
        tested(source, ["-p", "tools.mutation_watch", f"tests/{room}"], ENTERED=str(answer))
    return json.loads(answer.read_text(encoding="utf-8"))


def _answer(room: str, folder: Path) -> Path:
    return folder / f"entered_{room}.json"


def candidates(site: Site, folder: Path, seen: dict[str, Any]) -> list[str]:
    """Test files that may notice a change: named like the module first, then the fastest, then those of other rooms."""
    stem, tests = Path(site.file).stem, folder / "tests"
    files = [file.relative_to(folder).as_posix() for file in (tests / site.room).rglob("test_*.py")]
    entry, entered = f"{site.file}:{site.function}", seen["entered"]
    if site.function and not site.in_kernel and entry not in entered.get(COLLECTION, ()):
        files = [file for file in files if file not in entered or entry in entered[file]]
    files.sort(key=lambda file: (-_likeness(stem, Path(file).stem), seen["seconds"].get(file, 0.0)))
    module = site.file.removesuffix(".py").replace("/", ".")
    others = [
        file for file in sorted(tests.rglob("test_*.py")) if site.room not in file.relative_to(tests).parts
    ]
    naming = [file for file in others if f"{module} " in file.read_text(encoding="utf-8")]
    return files + [file.relative_to(folder).as_posix() for file in naming]


def _likeness(stem: str, test: str) -> float:
    """Share of the words of both names that they have in common."""
    one, two = set(stem.split("_")), set(test.removeprefix("test_").split("_"))
    return len(one & two) / len(one | two)


def verdict(site: Site, folder: Path) -> dict[str, Any]:
    """Whether a test fails once the site is broken, and which; tests that fail without it are left out from then on."""
    begin, seen = time.perf_counter(), watched(site.room, folder)
    source = broken((folder / "src" / site.file).read_bytes(), site)
    while True:
        mutant = linked(folder, compiled=not site.in_kernel)
        replaced(mutant / site.file, source)
        files = [file for file in candidates(site, folder, seen) if file not in seen["failed"]]
        test = first_failure(mutant, files, seen)
        if not test or test == HANGS or _fits(test, folder, seen):
            break
        seen["failed"].append(test)
        _answer(site.room, folder).write_text(json.dumps(seen), encoding="utf-8")
    return {
        "verdict": "caught" if test else "survived",
        "test": test,
        "files": len(files),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def first_failure(source: Path, files: list[str], seen: dict[str, Any]) -> str:
    """Name of the first test that fails, empty if there is none."""
    if not files:
        return ""
    usual = sum(seen["seconds"].get(file, 10.0) for file in files)
    excluded = [f"--deselect={name}" for name in seen["failed"]]
    code, text = tested(source, ["-x", *excluded, *files], limit=10.0 * usual + PATIENCE)
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", text, re.M)
    return "" if code in NO_FAILURE else failed[0] if failed else HANGS


def _fits(test: str, folder: Path, seen: dict[str, Any]) -> bool:
    """Whether a test belongs to the unbroken source: it is older than what was watched, or it passes there."""
    written = (folder / test.partition("::")[0]).stat().st_mtime
    return written < seen["time"] or tested(folder / "src", [test])[0] in NO_FAILURE


def main() -> None:
    asked = argparse.ArgumentParser(
        description="Break the source in many places and count what the tests notice."
    )
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--count", type=int, default=70)
    asked.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, metavar="ROOM")
    asked.add_argument("--folder", type=Path, default=ROOT / "out" / "mutation")
    asked.add_argument("--list", action="store_true", help="only list the places")
    asked.add_argument("--again", action="store_true", help="survivors again, with the tests as they are now")
    options = asked.parse_args()
    choice = {"seed": options.seed, "count": options.count, "rooms": options.rooms}
    if options.list:
        print("\n".join(site.name for site in chosen(ROOT / "src", **choice)))
    else:
        check(options.folder.resolve(), again=options.again, **choice)


def check(folder: Path, *, again: bool, **choice: Any) -> None:
    """Break what is chosen and not in the record yet, and count."""
    folder.mkdir(parents=True, exist_ok=True)
    if again or not (folder / "src").exists():
        copied(folder)
    kept = folder / "record.json"
    record = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    places = chosen(folder / "src", **choice)
    for site in sorted(places, key=lambda site: site.in_kernel):  # those that compile last
        if site.name not in record or (again and record[site.name]["verdict"] == "survived"):
            record[site.name] = verdict(site, folder)
            kept.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
            print(site.name, record[site.name], sep="\n    ", flush=True)
    counted = Counter(record[site.name]["verdict"] for site in places)
    print(f"{counted['caught']} of {len(places)} caught, {counted['survived']} survived.")


if __name__ == "__main__":
    main()
