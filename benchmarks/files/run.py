"""Solve every problem file of a folder with klapper's ``auto``, its single solvers, and Siconos.

    python -m benchmarks.files.run [FOLDER] [--siconos-python PYTHON] [--only TEXT] [--write]

An answer counts if its error, computed here from the file alone, is at most 1e-8 (``problem_file.py``). ``--write``
puts the table into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import sparse

from benchmarks import page, sides
from benchmarks.files.problem_file import NotAProblem, ProblemFile, read
from benchmarks.sides import Side, SideFailed
from benchmarks.tables import Table, duration, ratio, verdict

SMALL = Path(__file__).parent / "problems"
MANUAL = sides.ROOT / "docs" / "benchmarks.md"
SINGLE = ("gauss-seidel", "interior-point", "newton", "admm")
METHODS = ("NSGS", "NSN")
WANTED, ALLOWED = 1e-8, 1e-6  # error of the files: all but one, all
LIMIT = 5.0  # s
SLOWER = 2.0  # times the best single solver


INTRODUCTION = f"""## Frictional contact problems in files

`klapper bench FOLDER` solves all problems of a folder with `auto`, with single solvers and with Siconos; `--write` puts
the table here. The format is described in `benchmarks/files/problem_file.py`, and `benchmarks/files/problems` holds
a small set of generated ones (`klapper bench --only files`). The table is that of 44 problems which other programs
wrote: box stacks, capsules, spheres, a masonry tower, rovers, granular flow and slider-cranks.

All answers are judged by the error of the collection FCLIB, ‖r − P_K(r − (u + μ‖u_T‖n))‖ / (1 + ‖q‖), computed from the
file alone. A time is that of the processor, on one thread, in the call that reaches {WANTED:.0e}; where none does, the
table gives the error that was reached. A call that fails counts with the closest point that its exception holds.
Siconos solves with `fc3d_nsgs` (`fc2d_nsgs_sbm` in the plane) and `fc3d_nonsmooth_Newton_AlartCurnier`, both with
default options. Neither side's time holds the construction of its problem, which for klapper cuts W into blocks, finds
the parts that it does not couple, and does not look at q; the column `built` gives it. Measuring a call takes half a
microsecond, which counts for both sides.

Ratios above 2 remain for some answers that take 2 µs: about 1 µs of a call is Python's, and a compiled call on contacts
that are coupled takes 4 µs before its first sweep is measured. In `fc2d_granularflowonwall_00667_00000` ‖q‖ is 4e-18:
Siconos ends after a first pass with an error of 9 % of ‖q‖, klapper solves it to 1e-9 of its loads.

"""


@dataclass(frozen=True)
class Outcome:
    """Time [s] and error of one solver on one problem."""

    seconds: float
    error: float
    reason: str = ""

    @property
    def solved(self) -> bool:
        return self.error <= WANTED

    def __str__(self) -> str:
        if self.solved:
            return duration(self.seconds)
        return f"{self.error:.0e} in {duration(self.seconds)}" if np.isfinite(self.error) else "–"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.files.run", description="Solve the problem files of a folder."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=SMALL, help="folder of .npz files")
    parser.add_argument("--siconos-python", default="/usr/bin/python3", help="interpreter that has siconos")
    parser.add_argument("--only", default="", help="part of the names of the files")
    parser.add_argument("--write", action="store_true", help="write the tables to docs/benchmarks.md")
    options = parser.parse_args(arguments)
    output = MANUAL if options.write else None
    return solve_all(options.folder, options.siconos_python, only=options.only, output=output)


def solve_all(folder: Path, siconos_python: str, *, only: str = "", output: Path | None = None) -> int:
    """Solve the problems of a folder and print the table, or write it to a page; 2 if there are none, else 0."""
    console = Console(width=None if sys.stdout.isatty() else 190)
    try:
        files = find(folder, only)
    except NotAProblem as error:
        console.print(str(error), markup=False, highlight=False)
        return 2
    ours, built = klapper(files, folder, console)
    table, summary = tables(files, ours, siconos(files, siconos_python, console), built)
    console.print(table.rich())
    console.print(summary, markup=False, highlight=False)
    if output is not None:
        page.write(output, "files", page.Section(summary + "\n" + page.body(table)), pictures="")
    return 0


def section(manual: Path) -> str:
    """The section of the manual about problem files, with the table that it has."""
    old = manual.read_text(encoding="utf-8") if manual.exists() else ""
    found = re.search(r"<!-- files -->\n.*<!-- /files -->", old, re.S)
    return INTRODUCTION + (found[0] if found else "<!-- files -->\n<!-- /files -->") + "\n"


def find(folder: Path, only: str = "") -> list[ProblemFile]:
    """The problems of a folder, small ones first; raises NotAProblem."""
    files = sorted(file for file in folder.glob("*.npz") if only in file.name)
    if not files:
        raise NotAProblem(f"{folder} has no file *{only}*.npz; give a folder of problem files.")
    return sorted((read(file) for file in files), key=lambda problem: (problem.contacts, problem.name))


def klapper(
    files: list[ProblemFile], folder: Path, console: Console
) -> tuple[list[list[Outcome]], list[float]]:
    """Outcomes of auto and of the single solvers, and the seconds of construction, by file."""
    side = Side("klapper", (sys.executable, "-m", "benchmarks.files.klapper_side"))
    rows, built = [], []
    for file in files:
        console.print(f"klapper: {file.name}", highlight=False)
        answer = side.ask(
            "solve", files=[str((folder / f"{file.name}.npz").resolve())], solvers=["auto", *SINGLE], error=WANTED,
            limit=LIMIT,
        )  # fmt: skip
        rows.append(
            [
                Outcome(float(s), float(e), str(r))
                for s, e, r in zip(
                    answer["seconds"][0], answer["errors"][0], answer["reasons"][0], strict=True
                )
            ]
        )
        built.append(float(answer["construction"][0]))
    return rows, built


def siconos(files: list[ProblemFile], interpreter: str, console: Console) -> list[list[Outcome]] | None:
    """Outcomes of the methods of Siconos, by file; None if it is not found."""
    side = Side("Siconos", (interpreter, str(Path(__file__).with_name("siconos_peer.py"))))
    try:
        side.version()
    except SideFailed as reason:
        console.print(f"Siconos not found, left out: {reason}", markup=False, highlight=False)
        return None
    rows = []
    for file in files:
        console.print(f"Siconos: {file.name}", highlight=False)
        rows.append([_siconos(side, file, method) for method in METHODS])
    return rows


def _siconos(side: Side, file: ProblemFile, method: str) -> Outcome:
    if method == "NSN" and file.dimension == 2:
        return Outcome(np.inf, np.inf, "not for the plane")
    blocks = sparse.bsr_array(file.matrix, blocksize=(file.dimension, file.dimension))
    best = Outcome(np.inf, np.inf)
    for tolerance in (WANTED, 0.1 * WANTED, 0.01 * WANTED):
        try:
            answer = side.ask(
                "solve", timeout=2.0 * LIMIT + 5.0, indptr=blocks.indptr, indices=blocks.indices, blocks=blocks.data,
                offset=file.load, friction=file.friction, dimension=file.dimension, method=method, tolerance=tolerance,
            )  # fmt: skip
        except SideFailed as reason:
            return Outcome(best.seconds, best.error, str(reason))
        found = Outcome(float(answer["seconds"]), file.error(answer["forces"]))
        best = min(best, found, key=lambda outcome: (not outcome.solved, outcome.error))
        if found.solved or int(answer["info"]) != 0:
            break
    return best


def tables(
    files: list[ProblemFile],
    ours: list[list[Outcome]],
    theirs: list[list[Outcome]] | None,
    built: list[float],
) -> tuple[Table, str]:
    """Time to an error of 1e-8 by file and solver, and what it adds up to."""
    methods = METHODS if theirs is not None else ()
    table = Table(
        "Problem files",
        ("file", "contacts", "built", "auto", "error", *SINGLE, *methods, "auto / best single", "verdict"),
    )
    met = 0
    for k, file in enumerate(files):
        auto, *single = ours[k]
        others = single + (theirs[k] if theirs is not None else [])
        best = min((other.seconds for other in others if other.solved), default=None)
        against = None if best is None or not auto.solved else auto.seconds / best
        good = auto.solved and (against is None or against <= SLOWER)
        met += good
        table.add(
            file.name, str(file.contacts), duration(built[k]), duration(auto.seconds), f"{auto.error:.0e}",
            *map(str, others),
            ratio(against), "met" if good else "missed",
        )  # fmt: skip
    return table, _summary(files, ours, met)


def _summary(files: list[ProblemFile], ours: list[list[Outcome]], met: int) -> str:
    errors, seconds = [row[0].error for row in ours], [row[0].seconds for row in ours]
    solved, near = sum(error <= WANTED for error in errors), sum(error <= ALLOWED for error in errors)
    slowest = max(seconds)
    return (
        f"`auto`: error {WANTED:.0e} on {solved} and {ALLOWED:.0e} on {near} of {len(files)} problems; longest call "
        f"{duration(slowest)} ({verdict(slowest, LIMIT)}: ≤ {LIMIT:g} s); on {met} within {SLOWER:g} times the best "
        f"single solver.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
