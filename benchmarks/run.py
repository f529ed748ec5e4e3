"""Times klapper against Siconos and quantecon on the same problems and writes the tables to the manual.

    python -m benchmarks.run [--quick] [--only lcp|friction|dynamics|structures|files]
    python -m benchmarks.run FOLDER [--write]

With a folder of problem files, only those are solved (``benchmarks/files``). A peer that is not found is named in one
line and left out. Every answer is checked by the residual of `benchmarks/measure.py`; an answer that misses its
tolerance does not count.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import measure, problems, sides
from benchmarks.dynamics import run as dynamics
from benchmarks.files import run as files
from benchmarks.machine import facts
from benchmarks.sides import Answer, Side, SideFailed
from benchmarks.structures import run as structures
from benchmarks.tables import Table, duration, ratio, verdict

LINEAR_TOLERANCE = 1e-8
FRICTION_TOLERANCES = (1e-6, 1e-8)
SINGLE_CALL_ALLOWANCE = 5e-6  # s, "a few microseconds"
LINEAR_COUNTS = {3: 2000, 10: 1000, 30: 300, 100: 30, 200: 8}
SINGLE_COUNT = 20
OTHER_SOLVERS = ("lemke", "active-set", "gauss-seidel", "prox", "newton")
FRICTION_SOLVERS = ("gauss-seidel", "prox", "newton")
PILES = ((100, 3), (1000, 3), (1000, 6), (10_000, 3))  # contacts, layers
MEMORY_SIZES = (5_000, 10_000, 20_000, 40_000)
PAGE = sides.ROOT / "docs" / "benchmarks.md"
PARTS = ("lcp", "friction", "dynamics", "structures", "files")


INTRODUCTION = f"""# Benchmarks

Other pages: [time stepping](benchmarks_dynamics.md), [structures and rotors](benchmarks_structures.md).

Written by `make bench`. Every side runs in its own process on one thread and times its own solver calls.
Problems are built and code is compiled before the clock starts, and times are the best of several
repeats.

An answer counts only if its residual, computed from the problem alone, meets the tolerance. For linear
complementarity this is ‖min(x, Ax + b)‖∞ ≤ {LINEAR_TOLERANCE:.0e} · max(1, ‖b‖∞); for friction the
natural map ‖r − P_K(r − (u + μ‖u_T‖n))‖ / ‖b‖, which is also Siconos' own full error.

Siconos solves linear complementarity with `lcp_lexicolemke` and friction with `fc3d_nsgs`. Of the
latter's local solvers, with and without freezing of settled contacts, and with either way to judge its
error, the fastest that reaches the tolerance is shown. quantecon's `lcp_lemke` is called from a compiled
loop.

The sphere piles are low on purpose: they were chosen so that NSGS converges. On a full pyramid of 10 000
contacts it had not reached 1e-6 after 10 000 sweeps (plain Newton as local solver, nothing frozen), so these
tables say nothing about tall or strongly hyperstatic piles. There klapper's solvers stall as well. The relaxation and
acceleration of klapper's Gauss–Seidel were chosen, among some forty variants, on other piles of this same family;
Siconos had the best of sixteen settings per case. The iterations of an accelerated method need not grow with the
accuracy asked for.

¹ problems without an answer that counts: klapper, Siconos, quantecon.
"""


@dataclass(frozen=True)
class Bench:
    """The sides that were found, with their versions, and how much to run."""

    klapper: Side | None
    siconos: Side | None
    quantecon: Side | None
    versions: dict[str, str]
    quick: bool
    console: Console


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 for a folder without problems."""
    parser = argparse.ArgumentParser(prog="benchmarks.run", description="Time klapper against its peers.")
    parser.add_argument("folder", nargs="?", type=Path, help="problem files to solve instead, *.npz")
    parser.add_argument("--write", action="store_true", help="write their table to the manual")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--only", choices=PARTS, help="one of the parts")
    parser.add_argument("--siconos-python", default="/usr/bin/python3", help="interpreter that has siconos")
    parser.add_argument("--output", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    if options.folder is not None or options.only == "files":
        output = options.output if options.write else None
        return files.solve_all(options.folder or files.SMALL, options.siconos_python, output=output)
    console = Console(width=None if sys.stdout.isatty() else 150)
    if options.only in (None, "dynamics"):
        time_stepping = options.output.with_name("benchmarks_dynamics.md")
        dynamics.write(options.siconos_python, quick=options.quick, console=console, output=time_stepping)
    if options.only in (None, "structures"):
        rotors = options.output.with_name("benchmarks_structures.md")
        structures.write(options.siconos_python, quick=options.quick, console=console, output=rotors)
    if options.only in ("dynamics", "structures"):
        return 0
    bench = find_sides(options.siconos_python, quick=options.quick, console=console)
    tables = []
    if options.only != "friction":
        tables += linear_tables(bench)
    if options.only != "lcp":
        tables += friction_tables(bench)
    tables = [table for table in tables if table.rows]
    for table in tables:
        bench.console.print(table.rich())
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(page(bench, tables) + "\n" + files.section(options.output), encoding="utf-8")
    return 0


def find_sides(siconos_python: str, *, quick: bool, console: Console) -> Bench:
    """Ask every side for its version; a side that does not answer is named and left out."""
    found: dict[str, Side | None] = {}
    versions: dict[str, str] = {}
    for side in (sides.klapper(), sides.siconos(siconos_python), sides.quantecon()):
        try:
            versions[side.name] = side.version()
            found[side.name] = side
        except SideFailed as reason:
            console.print(f"{side.name} not found, left out: {reason}", markup=False, highlight=False)
            found[side.name] = None
    return Bench(found["klapper"], found["Siconos"], found["quantecon"], versions, quick, console)


def linear_tables(bench: Bench) -> list[Table]:
    """Linear complementarity: the batch entry against the peers, single calls, the other solvers."""
    batch_table = Table(
        "Linear complementarity, time per problem",
        ("problem", "n", "problems", "klapper batch", "Siconos", "quantecon", "klapper / Siconos", "target",
         "verdict", "klapper / quantecon", "unsolved¹"),
    )  # fmt: skip
    single_table = Table(
        "Linear complementarity, single calls from Python",
        ("problem", "n", "single call", "more than the batch", "target", "verdict"),
    )
    other_table = Table(
        "Linear complementarity, klapper's other solvers, single calls",
        ("problem", "n", "solver", "time", "iterations (mean)", "worst residual", "unsolved"),
    )
    for size, count in LINEAR_COUNTS.items():
        if bench.quick and size > 30:
            continue
        for family, generate in problems.LINEAR_FAMILIES.items():
            bench.console.print(f"linear complementarity: {family}, n = {size}", highlight=False)
            batch = generate(np.random.default_rng(size), count // (10 if bench.quick else 1), size)
            _linear_rows(bench, batch, batch_table, single_table, other_table)
    return [batch_table, single_table, other_table]


def _linear_rows(
    bench: Bench, batch: problems.LinearBatch, batches: Table, single: Table, other: Table
) -> None:
    repeats = 5 if bench.quick else 25
    request = {"matrices": batch.matrices, "offsets": batch.offsets, "repeats": repeats}
    everyone = (bench.klapper, bench.siconos, bench.quantecon)
    answers = [_try(bench, side, "linear", **request) for side in everyone]
    ours, theirs, quantecon = (_seconds(answer) for answer in answers)
    target = 0.5 if batch.size <= 30 else 0.2
    against = _ratio(ours, theirs)
    judgement = "missed" if _unsolved(batch, answers[0]) not in ("–", "0") else verdict(against, target)
    batches.add(
        batch.family, str(batch.size), str(len(batch.offsets)), duration(ours), duration(theirs),
        duration(quantecon), ratio(against), f"≤ {target}", judgement,
        ratio(_ratio(ours, quantecon)), ", ".join(_unsolved(batch, answer) for answer in answers),
    )  # fmt: skip
    if bench.klapper is None:
        return
    few = problems.LinearBatch(batch.family, batch.matrices[:SINGLE_COUNT], batch.offsets[:SINGLE_COUNT])
    request = {"matrices": few.matrices, "offsets": few.offsets, "repeats": 50 if batch.size <= 30 else 20}
    alone = _seconds(_try(bench, bench.klapper, "single", solver="auto", **request))
    same = _seconds(_try(bench, bench.klapper, "linear", **request))
    more = None if alone is None or same is None else alone - same
    single.add(
        batch.family, str(batch.size), duration(alone), "–" if more is None else f"{1e6 * more:.1f} µs",
        f"≤ {1e6 * SINGLE_CALL_ALLOWANCE:.0f} µs", verdict(more, SINGLE_CALL_ALLOWANCE),
    )  # fmt: skip
    for solver in OTHER_SOLVERS:
        answer = _try(bench, bench.klapper, "single", solver=solver, **{**request, "repeats": 2})
        if answer is None:
            continue
        residuals = measure.linear_residuals(few, answer["x"])
        solved = residuals < np.inf
        other.add(
            batch.family, str(batch.size), solver, duration(_seconds(answer) if solved.any() else None),
            f"{answer['iterations'][solved].mean():.1f}" if solved.any() else "–",
            f"{residuals[solved].max():.0e}" if solved.any() else "–", _unsolved(few, answer),
        )  # fmt: skip


def friction_tables(bench: Bench) -> list[Table]:
    """Frictional contact: time to the common residual, contact states at the solution, memory."""
    times = Table(
        "Frictional contact in three dimensions, time to the residual",
        ("contacts", "layers", "residual", "solver", "time", "iterations", "reached", "klapper / Siconos",
         "target", "verdict"),
    )  # fmt: skip
    states = Table(
        "Sphere piles: contact states at the solution",
        ("contacts", "layers", "spheres", "blocks per row", "open", "stick", "slip"),
    )
    for contacts, layers in PILES:
        if bench.quick and contacts > 1000:
            continue
        bench.console.print(f"frictional contact: {contacts} contacts, {layers} layers", highlight=False)
        pile = problems.sphere_pile(np.random.default_rng(contacts), contacts, layers=layers)
        _friction_rows(bench, pile, layers, times, states)
    return [times, states] + ([memory_table(bench)] if bench.klapper is not None else [])


def _friction_rows(bench: Bench, pile: problems.SpherePile, layers: int, times: Table, states: Table) -> None:
    request = {
        "indptr": pile.delassus.indptr, "indices": pile.delassus.indices, "blocks": pile.delassus.data,
        "offset": pile.offset, "friction": pile.friction, "tolerances": FRICTION_TOLERANCES,
        "repeats": 5 if pile.contacts <= 1000 else 2,
    }  # fmt: skip
    finalists = 16 if pile.contacts <= 1000 else 3
    peer = _try(bench, bench.siconos, "friction", **request, max_iterations=20_000, finalists=finalists)
    answers: dict[str, Answer | None] = {"Siconos": peer}
    for solver in FRICTION_SOLVERS:
        answers[f"klapper {solver}"] = _try(
            bench, bench.klapper, "friction", timeout=180.0, **request, solver=solver
        )
    for k, tolerance in enumerate(FRICTION_TOLERANCES):
        theirs = _friction_seconds(pile, peer, k)
        for name, answer in answers.items():
            if (bench.siconos if name == "Siconos" else bench.klapper) is None:
                continue
            judged = ("–", "–", "–")
            if name != "Siconos":
                seconds = _friction_seconds(pile, answer, k)
                against = ratio(_ratio(seconds, theirs))
                judged = (against, "–", "–")
                if name == f"klapper {FRICTION_SOLVERS[0]}":  # what auto chooses for many contacts
                    judged = (against, "≤ 1", _friction_verdict(seconds, theirs))
            elif answer is not None:
                name = f"Siconos NSGS ({answer['settings'][k]})"
            case = (str(pile.contacts), str(layers), f"{tolerance:.0e}", name)
            times.add(*case, *_friction_outcome(bench, pile, answer, k, name), *judged)
    solution = next((a["forces"][-1] for a in answers.values() if a is not None and a["reached"][-1]), None)
    if solution is not None:
        state = measure.contact_states(pile, solution)
        states.add(
            str(pile.contacts), str(layers), str(pile.spheres),
            f"{pile.delassus.nnz / 9 / pile.contacts:.1f}",
            f"{state.open:.0%}", f"{state.stick:.0%}", f"{state.slip:.0%}",
        )  # fmt: skip


def _friction_outcome(
    bench: Bench, pile: problems.SpherePile, answer: Answer | None, k: int, name: str
) -> tuple[str, str, str]:
    """Time, iterations and residual reached; a side that gave up says why on the console."""
    if answer is None or not np.isfinite(answer["seconds"][k]):
        if answer is not None:
            bench.console.print(f"{name}: no answer, {answer['reason'][k]}", markup=False, highlight=False)
        return "no answer", "–", "–"
    residual = _friction_residual(pile, answer["forces"][k])
    return duration(float(answer["seconds"][k])), str(int(answer["iterations"][k])), f"{residual:.1e}"


def memory_table(bench: Bench) -> Table:
    """Peak memory of building and solving a pile, and the exponent of its growth."""
    columns = ("contacts", "peak", "per contact", "growth exponent", "target")
    table = Table("Memory of klapper's Gauss–Seidel", columns)
    sizes = MEMORY_SIZES[:2] if bench.quick else MEMORY_SIZES
    found: list[tuple[int, float]] = []
    for contacts in sizes:
        bench.console.print(f"memory: {contacts} contacts", highlight=False)
        answer = _try(bench, bench.klapper, "memory", solver="gauss-seidel", contacts=contacts)
        if answer is not None:
            found.append((contacts, float(answer["bytes"])))
    for contacts, amount in found:
        table.add(str(contacts), f"{amount / 2**20:.1f} MiB", f"{amount / contacts / 2**10:.2f} KiB", "", "")
    if len(found) > 1:
        exponent = measure.growth_exponent(*(np.array(column, float) for column in zip(*found, strict=True)))
        table.add("all", "", "", f"{exponent:.2f}", f"about 1: {verdict(exponent, 1.15)}")
    return table


def page(bench: Bench, tables: list[Table]) -> str:
    """The page of the manual: what was measured on what, then the tables."""
    facts = "\n".join(f"- {name}: {value}" for name, value in machine(bench).items())
    return f"{INTRODUCTION}\n{facts}\n\n" + "\n".join(table.markdown() for table in tables)


def machine(bench: Bench) -> dict[str, str]:
    """Processor and versions, nothing that names the computer."""
    missing = dict.fromkeys(("klapper", "Siconos", "quantecon"), "not found, left out")
    return {
        **facts(),
        **missing,
        **bench.versions,
    }


def _try(bench: Bench, side: Side | None, task: str, **request: Any) -> Answer | None:
    """The side's answer, or None after a line that says why there is none."""
    if side is None:
        return None
    try:
        return side.ask(task, **request)
    except SideFailed as reason:
        solver = f" {request['solver']}" if "solver" in request else ""
        bench.console.print(f"{side.name}{solver}: no answer, {reason}", markup=False, highlight=False)
        return None


def _seconds(answer: Answer | None) -> float | None:
    return None if answer is None else float(answer["seconds"])


def _friction_seconds(pile: problems.SpherePile, answer: Answer | None, k: int) -> float | None:
    """Time to the tolerance number k, None if the answer does not reach it."""
    if answer is None or _friction_residual(pile, answer["forces"][k]) > 1.01 * FRICTION_TOLERANCES[k]:
        return None
    return float(answer["seconds"][k])


def _friction_residual(pile: problems.SpherePile, forces: np.ndarray) -> float:
    return measure.friction_residual(pile.delassus, pile.offset, pile.friction, forces)


def _friction_verdict(ours: float | None, theirs: float | None) -> str:
    """A tolerance that is not reached is a miss, whatever the peer did; without a peer it stays open."""
    if ours is None:
        return "missed"
    return verdict(_ratio(ours, theirs), 1.0)


def _unsolved(batch: problems.LinearBatch, answer: Answer | None) -> str:
    if answer is None:
        return "–"
    good = answer["solved"] & (measure.linear_residuals(batch, answer["x"]) <= LINEAR_TOLERANCE)
    return str(int((~good).sum()))


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ours / theirs


if __name__ == "__main__":
    sys.exit(main())
