"""Cost of a step of klapper against the number of contacts, for the compiled loops."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.dynamics import klapper_dynamics
from benchmarks.dynamics.models import MassChain, SettlingSpheres
from benchmarks.measure import growth_exponent
from klapper.schemes import Moreau
from klapper.simulation import simulate

Cost = dict[str, tuple[np.ndarray, np.ndarray]]


def measure(*, quick: bool) -> Cost:
    """Contacts and seconds per step, by model."""
    return {
        "chain, all contacts closed": _chains(
            (5, 10, 20, 50, 100) if quick else (5, 10, 20, 50, 100, 200, 400)
        ),
        "spheres settling": _spheres((3, 4, 5) if quick else (3, 5, 8, 12)),
    }


def _chains(sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    contacts, seconds = [], []
    for masses in sizes:
        model = MassChain(masses=masses, largest_gap=0.0, agitation=0.0)
        system, scheme, steps = klapper_dynamics.chain(model), Moreau(model.step), 2000
        simulate(system, 3 * model.step, scheme)
        best = np.inf
        for _ in range(3):
            start = perf_counter()
            simulate(system, steps * model.step, scheme, every=steps)
            best = min(best, perf_counter() - start)
        seconds.append(best / steps)
        contacts.append(masses - 1)
    return np.array(contacts), np.array(seconds)


def _spheres(edges: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    contacts, seconds = [], []
    for edge in edges:
        model = SettlingSpheres(per_edge=edge, until=0.4)
        run = klapper_dynamics.run(model, 3)[0]
        contacts.append(run.trajectory["contacts"].mean())
        seconds.append(run.seconds / run.steps)
    return np.array(contacts), np.array(seconds)


def draw(cost: Cost, path: Path) -> None:
    """Both in one doubly logarithmic picture, with the slope of each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for (name, (contacts, seconds)), marker in zip(cost.items(), ("o", "s"), strict=True):
        slope = growth_exponent(contacts.astype(float), seconds)
        axes.loglog(contacts, 1e6 * seconds, marker=marker, label=f"{name}: slope {slope:.2f}")
    axes.set_xlabel("contacts")
    axes.set_ylabel("time per step / µs")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
