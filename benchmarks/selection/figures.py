"""The figures of docs/undetermined_forces.md; each draws and returns the words that go with it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.selection.cost import SIZES, table
from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE

Draw = Callable[[Figure], str]


def feet(figure: Figure) -> str:
    """Five feet under a growing push."""
    from klapper.gallery.many_footed_block import many_footed_block

    outcome = many_footed_block()
    outcome.figures["friction"](figure)
    shares = np.array(outcome.numbers["friction_minimum_norm"])
    return (
        f"`klapper run many-footed-block`: ten forces, three equations. At half the slip force of "
        f"{outcome.numbers['slip_force']:.4g} N the minimum norm gives every foot {shares[0]:.4g} N, and all rules end "
        f"in the same motion (way at the end {outcome.numbers['way']:.4g} m, differences below 1e-11 m)."
    )


def motions(figure: Figure) -> str:
    """Three feet: the motion is open."""
    from klapper.gallery.three_footed_slider import three_footed_slider

    outcome = three_footed_slider()
    outcome.figures["motions"](figure)
    numbers = outcome.numbers
    return (
        f"`klapper run three-footed-slider`: friction between {numbers['friction_min']:.4g} and "
        f"{numbers['friction_max']:.4g} N, acceleration between {numbers['acceleration_min']:.4g} and "
        f"{numbers['acceleration_max']:.4g} m/s². Minimum norm selects {numbers['acceleration_minimum_norm']:.4g}, the "
        f"largest margin {numbers['acceleration_largest_margin']:.4g} m/s²."
    )


def space(figure: Figure) -> str:
    """Bounds of the legs of a table over the push."""
    from klapper.gallery.rough_table import Table, _forces

    rough = Table(100.0, 1.0, 0.7, 0.3)
    pushes = np.linspace(0.0, 29.7, 34)
    low, high = np.empty((len(pushes), 12)), np.empty((len(pushes), 12))
    for k, push in enumerate(pushes):
        forces = _forces(rough, np.array([push, 0.0, 0.0]))
        low[k], high[k] = forces.lower, forces.upper
    figure.set_size_inches(9.6, 3.8)
    left, right = figure.subplots(1, 2)
    for axes, rows, text in (
        (left, (0, 1), "normal force / N"),
        (right, (4, 6), "friction along the push / N"),
    ):
        for row, colour, name in zip(rows, (BLUE, ORANGE), ("leg A (front)", "leg B (back)"), strict=True):
            axes.fill_between(pushes, low[:, row], high[:, row], color=colour, alpha=0.25, label=name)
            axes.plot(pushes, low[:, row], color=colour)
            axes.plot(pushes, high[:, row], color=colour)
        axes.axvline(30.0, color=DARK, linestyle=":", linewidth=1.0)
        axes.set(xlabel="push along x / N", ylabel=text, xlim=(0.0, 31.0))
    left.set_ylim(-3.0, 66.0)
    left.legend(loc="upper left", ncols=2)
    right.annotate(
        "slides", (30.0, 0.0), (-4, 6), textcoords="offset points", rotation=90, ha="right", fontsize=9
    )
    width = high - low
    return (
        f"A table of 100 N on four legs (μ = 0.3), pushed along x at 0.7 m: twelve forces, six equations. Without a "
        f"push each normal force lies in [0, {high[0, 0]:.4g}] N; at {pushes[-1]:.3g} N, close to slip, friction of a "
        f"front leg is known to {width[-1, 4]:.3g} N, while its normal force still has {width[-1, 0]:.3g} N of room."
    )


def impact(figure: Figure) -> str:
    """A block that lands flat on two feet: shares of the friction impulse."""
    from klapper.complementarity import FrictionalContact, solve
    from klapper.complementarity.selection import Compliant, ForceSet, LargestMargin, MinimumNorm

    mass, inertia, half_width, half_height, mu, fall = 16.0, 1 / 15, 0.1, 0.05, 0.3, 1.0
    directions = np.array(
        [[0.0, 1.0, -half_width], [1.0, 0.0, half_height], [0.0, 1.0, half_width], [1.0, 0.0, half_height]]
    )
    flexibility = directions / np.array([mass, mass, inertia])
    speeds = np.linspace(0.0, 0.45, 91)
    rules = {
        "minimum norm": (MinimumNorm(), BLUE),
        "foot A three times as soft": (Compliant({"A tangential": 3.0}), PURPLE),
        "largest margin": (LargestMargin(), GREEN),
    }
    low, high = np.empty(len(speeds)), np.empty(len(speeds))
    shares: dict[str, list[float]] = {name: [] for name in rules}
    for k, speed in enumerate(speeds):
        problem = FrictionalContact(
            flexibility @ directions.T, directions @ [speed, -fall, 0.0], mu, dimension=2, names=["A", "B"]
        )
        forces = ForceSet.of(solve(problem))
        low[k], high[k] = forces.lower[1], forces.upper[1]
        for name, (rule, _) in rules.items():
            shares[name].append(rule.select(forces).forces[1])
    axes = figure.subplots()
    axes.fill_between(speeds, low, high, color="#DCE6EE", label="possible")
    for name, (_, colour) in rules.items():
        axes.plot(speeds, shares[name], color=colour, label=name)
    slips = speeds[np.argmax(high - low <= 1e-6 * np.abs(low).max())] if np.any(high - low < 1e-6) else np.nan
    axes.axvline(slips, color=GREY, linestyle=":", linewidth=1.0)
    axes.set(xlabel="sideways speed before the impact / (m/s)", ylabel="friction impulse of foot A / (N s)")
    axes.set_xlim(speeds[0], speeds[-1])
    axes.annotate("slides through", (slips, high[0]), (4, -8), textcoords="offset points", fontsize=9)
    axes.legend(loc="center right")
    return (
        f"A block of 16 kg lands flat on both feet with 1 m/s (μ = 0.3, no restitution). Up to a sideways speed of "
        f"{slips:.3g} m/s the impact stops it, only the sum −m v of the friction impulses is determined, and foot A "
        f"may take anything in the shaded range. Above, both feet slide through the impact: their impulses are unique."
    )


def cost(figure: Figure) -> str:
    """Time per selection problem over the number of forces."""
    found = table()
    axes = figure.subplots()
    colours = dict(zip(found, (BLUE, GREEN, ORANGE, PURPLE), strict=False))
    for name, timings in found.items():
        seconds = [1e6 * timings[size].seconds for size in SIZES]
        axes.loglog(SIZES, seconds, "o-", color=colours[name], label=name)
    axes.axhline(100.0, color=DARK, linestyle=":", linewidth=1.0)
    axes.annotate("10 000 per second", (SIZES[0], 100.0), (2, 4), textcoords="offset points", fontsize=9)
    axes.set_xticks(SIZES, [str(size) for size in SIZES])
    axes.minorticks_off()
    axes.set(xlabel="number of dependent forces", ylabel="time per problem / µs")
    figure.legend(loc="outside upper center", ncols=2)
    lines = ["| | " + " | ".join(f"n = {size}" for size in SIZES) + " | agree | median difference |"]
    lines.append("|---|" + "---|" * (len(SIZES) + 2))
    for name, timings in found.items():
        cells = " | ".join(f"{1e6 * timings[size].seconds:.0f} µs" for size in SIZES)
        agree = min(timings[size].agree for size in SIZES)
        off = max(timings[size].off for size in SIZES)
        difference = "–" if name == "klapper, compiled batch" else f"{off:.0e} N"
        lines.append(f"| {name} | {cells} | {100 * agree:.0f} % | {difference} |")
    lines.append(f"\nMeasured on {platform.machine()} with one thread, process time, best of three.")
    return "\n".join(lines)


def overhead(figure: Figure) -> str:
    """What the audit by contact state costs beside the run itself."""
    import klapper.simulation as loop
    from klapper.gallery.catalogue import find

    spent, total = [0.0], [0.0]
    states, said, run = loop.forces_by_state, loop.summary, loop._Loop.run

    def timed(function: Any, clock: list[float]) -> Any:
        def wrapper(*arguments: Any, **options: Any) -> Any:
            begin = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                clock[0] += time.process_time() - begin

        return wrapper

    names = (
        "incline",
        "newtons-cradle",
        "woodpecker",
        "block-stack",
        "rotor-clatter",
        "slider-crank",
        "tumbling-box",
    )
    rows = []
    loop.forces_by_state, loop.summary = timed(states, spent), timed(said, spent)
    loop._Loop.run = timed(run, total)
    try:
        for name in names:
            example = find(name)
            example.run()
            spent[0] = total[0] = 0.0
            example.run()
            rows.append((name, total[0], spent[0]))
    finally:
        loop.forces_by_state, loop.summary, loop._Loop.run = states, said, run
    axes = figure.subplots()
    places = np.arange(len(rows))
    axes.barh(places, [1e2 * row[2] / row[1] for row in rows], color=BLUE)
    for k, (_, whole, part) in enumerate(rows):
        axes.annotate(
            f"{1e3 * part:.3g} ms of {whole:.3g} s",
            (1e2 * part / whole, k),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(places, [row[0] for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="share of the audit in the time of the runs / %")
    axes.margins(x=0.3)
    axes.grid(False, axis="y")
    worst = max(1e3 * row[2] for row in rows)
    return (
        f"Forces by contact state, in every run: {worst:.3g} ms at most here. The cost is that of at most six contact "
        f"states, whatever the length of the run; only a run of a few hundredths of a second feels it."
    )


FIGURES: dict[str, tuple[Draw, tuple[float, float]]] = {
    "feet": (feet, (9.0, 6.4)),
    "motions": (motions, (6.0, 3.8)),
    "space": (space, (9.6, 3.8)),
    "impact": (impact, (6.4, 4.0)),
    "cost": (cost, (6.4, 4.2)),
    "overhead": (overhead, (6.8, 3.6)),
}
