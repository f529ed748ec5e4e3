"""Cost of an event of event-driven integration over the number of contacts, beside scipy's ``solve_ivp`` with events.

Balls fall from different heights, so that impacts come one by one. ``solve_ivp`` takes the smooth parts with the same
method, tolerance and one terminal event function per ball; the restitution is done by hand, without a ledger.

    python -m benchmarks.dynamics.events
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
from scipy.integrate import solve_ivp

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import EventDriven
from klapper.schemes.work import Work
from klapper.simulate import simulate

GRAVITY, RESTITUTION, UNTIL, TOLERANCE = 9.81, 0.7, 1.0, 1e-10


def heights(count: int) -> np.ndarray:
    return 0.5 + 0.5 * np.arange(count) / count


def balls(count: int) -> LinearSystem:
    contacts = [
        Contact(f"floor {i}", normal=row, restitution=RESTITUTION) for i, row in enumerate(np.eye(count))
    ]
    force = -GRAVITY * np.ones(count)
    return LinearSystem(np.ones(count), force=force, position=heights(count), contacts=contacts)


def by_steps(count: int) -> int:
    """Impacts of the motion, step by step."""
    system, scheme, work, impacts = balls(count), EventDriven(TOLERANCE), Work(), 0
    snapshot = scheme.init(system)
    while snapshot.time < UNTIL:
        step = scheme.step(system, snapshot, UNTIL, work)
        impacts += int(step.after.time == snapshot.time)
        snapshot = step.after
    return impacts


def by_simulate(count: int) -> int:
    return len(simulate(balls(count), UNTIL, EventDriven(TOLERANCE), progress=False).impacts().time)


def by_scipy(count: int) -> int:
    """The same motion by ``solve_ivp`` with a terminal event for every ball."""

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[count:], np.full(count, -GRAVITY)])

    def hits(ball: int) -> Callable[[float, np.ndarray], float]:
        def gap(_: float, y: np.ndarray) -> float:
            return float(y[ball])

        gap.terminal, gap.direction = True, -1  # type: ignore[attr-defined]
        return gap

    events = [hits(ball) for ball in range(count)]
    y, t, impacts = np.concatenate([heights(count), np.zeros(count)]), 0.0, 0
    while t < UNTIL:
        found = solve_ivp(rate, (t, UNTIL), y, "DOP853", events=events, rtol=TOLERANCE, atol=TOLERANCE)
        t, y = float(found.t[-1]), found.y[:, -1].copy()
        if found.status == 1:
            for ball in (i for i, times in enumerate(found.t_events) if times.size):
                y[count + ball] *= -RESTITUTION
                y[ball] = abs(y[ball])
                impacts += 1
    return impacts


def measure(repeats: int = 5) -> list[tuple[int, float, float, float]]:
    """Contacts, and milliseconds per impact step by step, with samples and audit, and by scipy."""
    rows = []
    for count in (1, 10, 100):
        costs = []
        for way in (by_steps, by_simulate, by_scipy):
            way(count)  # compiles
            best = np.inf
            for _ in range(repeats):
                start, impacts, calls = process_time(), 0, max(20 // count, 1)
                for _ in range(calls):
                    impacts += way(count)
                best = min(best, (process_time() - start) / impacts)
            costs.append(1e3 * best)
        rows.append((count, *costs))
    return rows


if __name__ == "__main__":
    print("| contacts | EventDriven, steps | simulate | solve_ivp |\n| ---: | ---: | ---: | ---: |")
    for count, *costs in measure():
        print(f"| {count} | " + " | ".join(f"{cost:.3g} ms" for cost in costs) + " |")
