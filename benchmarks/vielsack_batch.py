"""Stationary drifts of Vielsack's shaken incline: points per second of the compiled batch, beside scipy per point.

    python -m benchmarks.vielsack_batch [--quick]

The peer is what one would write by hand: `solve_ivp` (DOP853) from switch to switch, period after period until the
velocity repeats itself. It is timed in the same run on points of the same region, and both drifts are compared. The
arctan law is left out: its cost is that of its integration. Compilation is done before the clock starts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from rich.console import Console

from benchmarks.tables import Table, duration
from klapper.analysis.shaken_incline import stationary_drift
from klapper.gallery._vielsack import NAMES, PERIOD, Incline, integrate

EPS = 0.01
LAWS = ("none", "spring", "damper", "both")
POINTS = {"none": 1_000_000, "spring": 200_000, "damper": 200_000, "both": 200_000}
MOST_PERIODS = 60
REPEATED = 1e-8


@dataclass(frozen=True)
class Measured:
    """Seconds per point of both sides, and the largest difference of their drifts."""

    points: int
    batch: float
    peer: float
    difference: float

    @property
    def speed_up(self) -> float:
        return self.peer / self.batch


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.vielsack_batch", description="Drifts by the batch.")
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the points")
    quick = parser.parse_args(arguments).quick
    table = Table(
        f"Stationary drifts of the shaken incline, ε = {EPS:g}",
        ("law", "points", "points/s", "one million", "scipy per point", "ratio", "difference"),
    )
    for law in LAWS:
        found = measure(law, POINTS[law] // (50 if quick else 1), peers=4 if quick else 12)
        table.add(
            NAMES[law],
            f"{found.points}",
            f"{1.0 / found.batch:.3g}",
            duration(1e6 * found.batch),
            duration(found.peer),
            f"{found.speed_up:.3g}",
            f"{found.difference:.1e}",
        )
    Console().print(table.rich())


def measure(law: str, points: int, *, peers: int) -> Measured:
    """Times the batch on ``points`` random points, and the peer on the first ``peers`` of them."""
    generator = np.random.default_rng(2)
    A, B = generator.uniform(0.0, 0.95, points), generator.uniform(0.0, 4.0, points)
    stationary_drift(A[:10], B[:10], EPS, law)
    start = perf_counter()
    drift = stationary_drift(A, B, EPS, law).drift
    batch = (perf_counter() - start) / points
    start = perf_counter()
    others = np.array([peer_drift(A[k], B[k], law) for k in range(peers)])
    peer = (perf_counter() - start) / peers
    return Measured(points, batch, peer, float(np.abs(others - drift[:peers]).max()))


def peer_drift(A: float, B: float, law: str) -> float:
    """Drift by integration from rest until the velocity at the end of a period repeats itself."""
    incline = Incline(float(A), float(B), EPS, law)
    run = integrate(incline, 0.0, PERIOD, 0.0, tolerance=1e-9)
    for _ in range(MOST_PERIODS):
        before = run.velocity
        run = integrate(incline, 0.0, PERIOD, before, phase=run.phase, stretch=run.stretch, tolerance=1e-9)
        if abs(run.velocity - before) < REPEATED:
            break
    return run.distance / PERIOD


if __name__ == "__main__":
    main()
