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

from benchmarks.machine import facts
from benchmarks.studies.measurements import efficiency, million, overhead

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks_studies.md"
TEXT = """# Benchmarks of studies

Written by `python -m benchmarks.studies.run`. Times on the processor add up the study and its workers. The machine did
other work at the same time (load {load:.0f} on {cores} cores). The ratio of times on the processor, the function alone
in a loop by everything that a study uses once its workers are started, says how much work the study adds (a value above
1 is the scatter of the measurement). It is no parallel efficiency: that is a ratio of clocks, which only a quiet
machine can show, and here two workers did not get two cores.

{machine}

{million}
The start is the time in which two workers begin, load their kernels and compute the first points.

{efficiency}
{overhead}
## Workers that die

A cluster of four Dask workers on loopback, each of which is killed while points are computed, ends with every point
present once and with the values of a run in one process. So does a study whose own process is killed (25 times in the
tests), and one whose local workers are killed (3 times): `tests/studies/test_survival.py`, `test_cluster.py`.

## A thousand million points, on paper

From the rates above, for points as cheap as Vielsack's:

- Computing: 10⁹ × {workers:.1f} µs = {hours:.1f} hours of one core.
- Keeping: 10⁹ × {own:.1f} µs in the one process that writes a store, {rate:.0f} points per second. One study would
  need {own_hours:.1f} hours, however many workers it has. Divided by ranges of a parameter into {parts} studies with
  a store each, on {parts} nodes of two cores, the map takes {divided:.0f} minutes.
- Room: 10⁹ × {bytes:.0f} bytes = {terabytes:.2f} TB, in {parts} stores of {gigabytes:.1f} GB each.
- Points of a millisecond need {core_days:.1f} core days: {cluster_hours:.1f} hours on 1024 cores. They finish 10⁶
  points per second, more than one store takes in; {parts} studies with 16 workers each do.
- Points of a second (a rotor until its motion repeats) need {core_years:.0f} core years. That is no grid any more:
  refine along the boundaries, which takes points in proportion to the length of the boundaries, not to the area.
"""


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
    map_table, each = million(60 if quick else 1000)
    efficiency_table, _ = efficiency(200 if quick else 4000)
    overhead_table, _ = overhead(500 if quick else 100_000)
    parts = 64
    return TEXT.format(
        load=os.getloadavg()[0],
        cores=os.cpu_count(),
        machine="\n".join(f"- {name}: {value}" for name, value in facts().items()),
        million=map_table.markdown(),
        efficiency=efficiency_table.markdown(),
        overhead=overhead_table.markdown(),
        own=1e6 * each.own,
        workers=1e6 * each.workers,
        hours=1e9 * each.workers / 3600,
        rate=1.0 / each.own,
        own_hours=1e9 * each.own / 3600,
        parts=parts,
        divided=1e9 * max(each.own, 0.5 * (each.own + each.workers)) / parts / 60,
        bytes=each.size,
        terabytes=each.size / 1e3,
        gigabytes=each.size / parts,
        core_days=1e6 / 86400,
        cluster_hours=1e6 / 1024 / 3600,
        core_years=1e9 / (86400 * 365.25),
    )


if __name__ == "__main__":
    sys.exit(main())
