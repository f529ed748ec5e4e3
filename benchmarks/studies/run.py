"""Measures studies and writes docs/benchmarks_studies.md.

    python -m benchmarks.studies.run [--quick]

With --quick sizes are small and nothing in docs/ is changed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.machine import facts
from benchmarks.studies.measurements import FIRST, MapCost, efficiency, million, overhead
from benchmarks.tables import duration, verdict

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks_studies.md"
TEXT = """# Benchmarks of studies

Written by `python -m benchmarks.studies.run`, with a load of {load:.1f} on {cores} cores before it began and
{late:.1f} at the end{noise}.

{machine}

| promise | measured | |
| --- | ---: | --- |
| 10⁶ points of Vielsack's map on two cores in minutes | {million_clock} | {million_verdict} |
| parallel efficiency of two workers at least 0.9 | {reached:.3f} | {efficiency_verdict} |
| overhead per point below 1 ms in batches | {overhead_time} | {overhead_verdict} |

{million}
The start is the time in which two workers begin, load their kernels and compute the first points. Times of the study
and of the workers are on the processor, so that other work on the machine counts little.

{efficiency}
The same study in this process and with two workers, in turns, from the first {first} points on. The efficiency is
T₁/(2 T₂) on the clock. On a machine with other work that says nothing about the study. The fair efficiency takes off
the time in which a process was ready to run but had no core, as the kernel counts it, and counts half of what the
study's own process computes beside its two workers as their time; on a quiet machine it takes off little. The promise
is judged by {judged}. {siblings}

{overhead}
## Workers that die

Kills by `SIGKILL` at random moments, after which every point is present once, with the values of a run in one process
(`tests/studies/test_survival.py`, `test_cluster.py`): the study itself 20 times in the quick tests and 25 times in the
slow ones, its local workers 3 times, workers of a Dask cluster on loopback 13 times (four workers one by one, twice
replaced by the cluster, once by nobody until the study ended with a sentence and was run again), its scheduler once.

## A thousand million points, on paper

From the rates above, for points as cheap as Vielsack's:

- Computing: 10⁹ × {workers:.1f} µs = {hours:.1f} hours of one core.
- Keeping: 10⁹ × {own:.1f} µs in the one process that writes a store, {rate:.0f} points per second. One study would
  need {own_hours:.1f} hours, however many workers it has. Divided by ranges of a parameter into {parts} studies with
  a store each, on {parts} nodes of two cores, the map takes {divided:.0f} minutes.
- Memory: {memory:.0f} bytes per point in the study's process (keys and columns), {memory_terabytes:.2f} TB for one
  study, {memory_gigabytes:.1f} GB for each of {parts}.
- Room: 10⁹ × {bytes:.0f} bytes = {terabytes:.2f} TB, in {parts} stores of {gigabytes:.1f} GB each, on disks of the
  nodes.
- Points of a millisecond need {core_days:.1f} core days: {cluster_hours:.1f} hours on 1024 cores. They finish 10⁶
  points per second, more than one store takes in; {parts} studies with 16 workers each do.
- Points of a second (a rotor until its motion repeats) need {core_years:.0f} core years. That is no grid any more:
  refine along the boundaries, which takes points in proportion to the length of the boundaries, not to the area.
"""
QUIET = 0.7  # load per core, before a run of its own, below which a machine counts as quiet


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.run", description="Measure studies.")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing in docs/ is changed")
    options = parser.parse_args(arguments)
    text = page(quick=options.quick)
    print(text)
    if not options.quick:
        PAGE.write_text(text, encoding="utf-8")
    return 0


def page(*, quick: bool) -> str:
    """Measure everything, and put it into words."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    quiet = load < QUIET * cores
    map_table, each = million(60 if quick else 1000)
    efficiency_table, pairs = efficiency(400 if quick else 8000, 2 if quick else 5)
    overhead_table, worst = overhead(500 if quick else 100_000)
    reached = median(pair.efficiency if quiet else pair.fair_efficiency for pair in pairs)
    return TEXT.format(
        load=load,
        late=os.getloadavg()[0],
        noise="" if quiet else ", so that other work took part of the cores and clocks mean little",
        judged="the clock, since the machine was quiet"
        if quiet
        else "the fair clock, since the machine was not quiet",
        cores=cores,
        siblings=_siblings(),
        first=FIRST,
        machine="\n".join(f"- {name}: {value}" for name, value in facts().items()),
        million_clock=f"{each.clock:.0f} s",
        million_verdict=verdict(each.clock, 600.0),
        reached=reached,
        efficiency_verdict=verdict(-reached, -0.9),
        overhead_time=duration(worst),
        overhead_verdict=verdict(worst, 1e-3),
        million=map_table.markdown(),
        efficiency=efficiency_table.markdown(),
        overhead=overhead_table.markdown(),
        **on_paper(each),
    )


def _siblings() -> str:
    """Whether the two cores are one: two threads of a core compute less than twice as much as one, whoever asks."""
    try:
        listed = Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return ""
    if listed == "0":
        return "Each core is a core of its own."
    return f"The processors {listed} are threads of one core, which limits what two workers can reach."


def on_paper(each: MapCost, parts: int = 64) -> dict[str, float]:
    """What 10⁹ points need, from what one point needs."""
    return {
        "own": 1e6 * each.own,
        "workers": 1e6 * each.workers,
        "hours": 1e9 * each.workers / 3600,
        "rate": 1.0 / each.own,
        "own_hours": 1e9 * each.own / 3600,
        "parts": parts,
        "divided": 1e9 * max(each.own, 0.5 * (each.own + each.workers)) / parts / 60,
        "memory": each.memory,
        "memory_terabytes": each.memory / 1e3,
        "memory_gigabytes": each.memory / parts,
        "bytes": each.size,
        "terabytes": each.size / 1e3,
        "gigabytes": each.size / parts,
        "core_days": 1e6 / 86400,
        "cluster_hours": 1e6 / 1024 / 3600,
        "core_years": 1e9 / (86400 * 365.25),
    }


if __name__ == "__main__":
    sys.exit(main())
