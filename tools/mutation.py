"""Does the suite notice a wrong sign, factor or comparison? Small errors are put into the source, one at a time.

    python -m tools.mutation --seed 1 --count 70 --rooms mechanics schemes --folder out/mutation

picks places by the seed, evenly over the rooms (all three if none is named), breaks each one in a copy of the source
and runs quick tests until one fails. First those of its room: files named like the module, then the fastest ones, then
those of other rooms that import the module. With ``--above``, what survives them meets the tests of the rooms that
build on these three, the fastest ones first, for about two minutes. Which test files enter which function is recorded
once, on the unbroken copy: a file that never enters the broken function cannot notice it and is left out. That takes as
long as these tests take. Compiled kernels cannot be watched, and what runs while tests are collected serves them all:
there every file counts. Broken kernels are compiled anew.

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
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from tools.mutation_sites import ROOMS, Site, broken, chosen
from tools.mutation_watch import COLLECTION, UNHEARD, announcing

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0  # s beyond ten times the usual duration: then the tests hang
FARTHER = 120.0  # s of tests of the rooms above
ABOVE = ("bodies", "structures", "analysis", "continuum", "gallery")
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


def linked(folder: Path, name: str, *, compiled: bool = True) -> Path:
    """Another copy of the source, whose files are those of the first until they are replaced."""
    copy = folder / name
    shutil.rmtree(copy, ignore_errors=True)
    left_out = None if compiled else shutil.ignore_patterns("*.nb[ic]")
    shutil.copytree(folder / "src", copy, copy_function=os.link, ignore=left_out)
    return copy


def replaced(file: Path, content: bytes) -> None:
    file.unlink()
    file.write_bytes(content)


def watched(rooms: Sequence[str], folder: Path) -> dict[str, Any]:
    """What the tests of rooms enter, how long they take and which fail, recorded once on the unbroken source."""
    answer = _answer(rooms, folder)
    if not answer.exists():
        source = linked(folder, "watched")
        for file in [file for room in ROOMS for file in (source / "klapper" / room).rglob("*.py")]:
            if file.parent.name != "kernels":
                name = file.relative_to(source).as_posix()
                replaced(file, announcing(name, file.read_text(encoding="utf-8")).encode())
        package = source / "klapper" / "__init__.py"
        replaced(package, package.read_bytes() + UNHEARD.encode())
        tests = [f"tests/{room}" for room in rooms]
        tested(source, ["-p", "tools.mutation_watch", *tests], ENTERED=str(answer))
    return json.loads(answer.read_text(encoding="utf-8"))


def _answer(rooms: Sequence[str], folder: Path) -> Path:
    return folder / f"entered_{'_'.join(rooms)}.json"


def candidates(site: Site, folder: Path, seen: dict[str, Any]) -> list[str]:
    """Test files that may notice a change: named like the module first, then the fastest, then those of other rooms."""
    stem, tests = Path(site.file).stem, folder / "tests"
    files = _entering(site, folder, [site.room], seen)
    files.sort(key=lambda file: -_likeness(stem, Path(file).stem))
    module = site.file.removesuffix(".py").replace("/", ".")
    others = [
        file for file in sorted(tests.rglob("test_*.py")) if site.room not in file.relative_to(tests).parts
    ]
    naming = [file for file in others if f"{module} " in file.read_text(encoding="utf-8")]
    return files + [file.relative_to(folder).as_posix() for file in naming]


def farther(site: Site, folder: Path, seen: dict[str, Any]) -> list[str]:
    """Test files of the rooms above, the fastest ones."""
    files = _entering(site, folder, ABOVE, seen)
    together = accumulate(seen["seconds"].get(file, 0.0) for file in files)
    return [file for file, seconds in zip(files, together, strict=True) if seconds < FARTHER]


def _entering(site: Site, folder: Path, rooms: Sequence[str], seen: dict[str, Any]) -> list[str]:
    """Test files of rooms that may enter the function of a site, the fastest first."""
    found = [file for room in rooms for file in (folder / "tests" / room).rglob("test_*.py")]
    files = [file.relative_to(folder).as_posix() for file in found]
    entry, entered = f"{site.file}:{site.function}", seen["entered"]
    if site.function and not site.in_kernel and entry not in entered.get(COLLECTION, ()):
        files = [file for file in files if file not in entered or entry in entered[file]]
    return sorted(files, key=lambda file: seen["seconds"].get(file, 0.0))


def _likeness(stem: str, test: str) -> float:
    """Share of the words of both names that they have in common."""
    one, two = set(stem.split("_")), set(test.removeprefix("test_").split("_"))
    return len(one & two) / len(one | two)


def verdict(site: Site, folder: Path, *, above: bool) -> dict[str, Any]:
    """Whether a test fails once the site is broken, and which; ``above`` whether those of the rooms above are asked."""
    begin = time.perf_counter()
    mutant = linked(folder, "mutant", compiled=not site.in_kernel)
    replaced(mutant / site.file, broken((folder / "src" / site.file).read_bytes(), site))
    test, tried = "", 0
    asked = [((site.room,), candidates), (ABOVE, farther)]
    for rooms, choice in asked if above else asked[:1]:
        if not test:
            seen = watched(rooms, folder)
            files = choice(site, folder, seen)
            test, tried = noticing(mutant, files, _answer(rooms, folder)), tried + len(files)
    return {
        "verdict": "caught" if test else "survived",
        "test": test,
        "files": tried,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def noticing(mutant: Path, files: list[str], answer: Path) -> str:
    """The first test that fails, empty if none does; those that fail without a change are left out from then on."""
    seen = json.loads(answer.read_text(encoding="utf-8"))
    while True:
        test = first_failure(mutant, [file for file in files if file not in seen["failed"]], seen)
        if not test or test == HANGS or _fits(test, mutant.parent, seen):
            return test
        seen["failed"].append(test)
        answer.write_text(json.dumps(seen), encoding="utf-8")


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
    asked.add_argument(
        "--above", action="store_true", help="survivors meet the tests of the rooms above, too"
    )
    options = asked.parse_args()
    choice = {"seed": options.seed, "count": options.count, "rooms": options.rooms}
    if options.list:
        print("\n".join(site.name for site in chosen(ROOT / "src", **choice)))
    else:
        check(options.folder.resolve(), again=options.again, above=options.above, **choice)


def check(folder: Path, *, again: bool, above: bool, **choice: Any) -> None:
    """Break what is chosen and not in the record yet, and count."""
    folder.mkdir(parents=True, exist_ok=True)
    if again or not (folder / "src").exists():
        copied(folder)
    kept = folder / "record.json"
    record = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    places = chosen(folder / "src", **choice)
    for site in sorted(places, key=lambda site: site.in_kernel):  # those that compile last
        if site.name not in record or (again and record[site.name]["verdict"] == "survived"):
            record[site.name] = verdict(site, folder, above=above)
            kept.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
            print(site.name, record[site.name], sep="\n    ", flush=True)
    counted = Counter(record[site.name]["verdict"] for site in places)
    print(f"{counted['caught']} of {len(places)} caught, {counted['survived']} survived.")


if __name__ == "__main__":
    main()
