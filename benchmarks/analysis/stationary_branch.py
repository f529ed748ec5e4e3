"""Time of a branch of stationary states: 20 coordinates, 10 contacts, 200 steps over the speed, with its progress.

python -m benchmarks.analysis.stationary_branch
"""

from __future__ import annotations

import time

from klapper.analysis import follow_stationary
from klapper.gallery._bandaged_rotor import BandagedRotor
from klapper.gallery._rotor import Shaft

SHAFT = Shaft(1.0, 0.6, 0.01, 0.01, 0.001, 210e9, 7500.0, 0.0, 1e-5)


def main() -> None:
    rotor = BandagedRotor(SHAFT.model(20), 7, 0.5, 3e-3)
    follow_stationary(rotor.at, 0.0, 1.0, steps=2)  # compiles
    wall, work = time.perf_counter(), time.process_time()
    branch = follow_stationary(rotor.at, 0.0, 22.0, steps=200, progress=True)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    print(f"{len(branch)} states, {len(branch.events)} events, largest residual {branch.residual.max():.1e}")
    print(f"{wall:.2f} s, of which {work:.2f} s of one core")


if __name__ == "__main__":
    main()
