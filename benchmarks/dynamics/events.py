"""Cost of an event of event-driven integration over the number of contacts, beside scipy's ``solve_ivp`` with events.

Balls fall from different heights, so that impacts come one by one, some 3000 of them. ``solve_ivp`` takes the smooth
parts with the same method, tolerance and one terminal event function per ball; the restitution is done by hand, without
samples, statistics and ledger.

    python -m benchmarks.dynamics.events

writes the table into docs/benchmarks_dynamics.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.page import Section, write
from klapper.contact_states import IMPACT
from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import EventDriven
from klapper.schemes.work import Work
from klapper.simulation import simulate

GRAVITY, RESTITUTION, TOLERANCE = 9.81, 0.9999, 1e-10
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks_dynamics.md"


def until(count: int) -> float:
    """Time [s] in which about 3000 times a ball hits the floor."""
    return 2000.0 / count


def heights(count: int) -> np.ndarray:
    return 0.5 + 0.5 * np.arange(count) / count


def balls(count: int) -> LinearSystem:
    contacts = [
        Contact(f"floor {i}", normal=row, restitution=RESTITUTION) for i, row in enumerate(np.eye(count))
    ]
    force = -GRAVITY * np.ones(count)
    return LinearSystem(np.ones(count), force=force, position=heights(count), contacts=contacts)


def by_loop(count: int) -> int:
    """Impacts of the motion, by the compiled loop alone."""
    scheme, system, impacts = EventDriven(TOLERANCE), balls(count), 0
    loop, snapshot = scheme.stretch(system), scheme.init(system)
    while snapshot.time < until(count):
        snapshot, samples, why = loop.run(snapshot, 10**6, 1, until(count))
        assert not why
        impacts += np.count_nonzero(np.any(samples["state"] == IMPACT, axis=1))
    return impacts


def by_steps(count: int) -> int:
    """The same step by step, with compiled phases."""
    system, scheme, work, impacts = balls(count), EventDriven(TOLERANCE), Work(), 0
    snapshot = scheme.init(system)
    while snapshot.time < until(count):
        step = scheme.step(system, snapshot, until(count), work)
        impacts += int(step.after.time == snapshot.time)
        snapshot = step.after
    return impacts


def by_simulate(count: int) -> int:
    """With samples inside the phases, statistics, ledger and audit."""
    return len(simulate(balls(count), until(count), EventDriven(TOLERANCE), progress=False).impacts().time)


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
    while t < until(count):
        found = solve_ivp(rate, (t, until(count)), y, "DOP853", events=events, rtol=TOLERANCE, atol=TOLERANCE)
        t, y = float(found.t[-1]), found.y[:, -1].copy()
        if found.status == 1:
            for ball in (i for i, times in enumerate(found.t_events) if times.size):
                y[count + ball] *= -RESTITUTION
                y[ball] = abs(y[ball])
                impacts += 1
    return impacts


def costs(repeats: int = 3) -> Section:
    """Milliseconds of processor time per impact, the best of several runs."""
    lines = [
        "| contacts | loop | `simulate` | step by step | `solve_ivp` |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for count in (1, 10, 100):
        row = [str(count)]
        for way in (by_loop, by_simulate, by_steps, by_scipy):
            way(count)  # compiles
            best = np.inf
            for _ in range(repeats):
                start = process_time()
                impacts = way(count)
                best = min(best, (process_time() - start) / impacts)
            row.append(f"{1e3 * best:.3g} ms")
        lines.append("| " + " | ".join(row) + " |")
    return Section("\n".join(lines))


if __name__ == "__main__":
    found = costs()
    write(PAGE, "events", found, pictures="dynamics")
    print(found.words)
