"""One function per figure: it computes, draws on the given figure, and returns what the page says about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.methods import equal_error, models
from klapper.analysis.shaken_incline import stationary_drift
from klapper.comparison import compare
from klapper.contact_states import IMPACT
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.smooth_friction import ArctanFriction, SaturatedFriction
from klapper.schemes import EventDriven, Moreau, Ordinary, PiecewiseExact, Regularised
from klapper.simulation import simulate


def accumulation(figure: Any, *, quick: bool) -> str:
    """Impacts of a bouncing ball: event-driven integration follows them to their end, time stepping counts on."""
    restitution, end = 0.7, _end_of_bounces(0.7)
    ball = models.bouncing_ball(restitution)
    exact = simulate(ball, 1.2 * end, EventDriven())
    stepped = simulate(ball, 1.2 * end, Moreau(1e-3))
    axes = figure.subplots()
    for run, label, style in ((exact, "event-driven", "o"), (stepped, "time stepping, 1 ms", "x")):
        hits = run.time[np.any(run.state == IMPACT, axis=1)]
        axes.semilogy(np.arange(1, len(hits)), np.diff(hits), style, markersize=4, label=label)
    flights = 2.0 * np.sqrt(2.0 / models.GRAVITY) * restitution ** np.arange(1, 60)
    axes.semilogy(np.arange(1, 60), flights, "-", color="0.6", zorder=0, label="closed form")
    axes.set(xlabel="number of the flight", ylabel="its duration / s")
    axes.legend(frameon=False)
    rest = float(exact.time[np.flatnonzero(np.any(exact.state == IMPACT, axis=1))[-1]])
    return (
        f"The ball comes to rest after {end:.6f} s; event-driven integration closes the contact "
        f"{abs(end - rest):.1e} s before."
    )


def cost_at_equal_error(figure: Any, *, quick: bool) -> str:
    curves = equal_error.measure(quick=quick)
    equal_error.draw(curves, figure)
    lines = []
    for count in sorted({curve.contacts for curve in curves}):
        stepping, events = (c for c in curves if c.contacts == count)
        for error in (1e-3, 1e-5, 1e-7):
            (slow, beyond), (fast, _) = stepping.seconds_at(error), events.seconds_at(error)
            mark = " (extrapolated)" if beyond else ""
            lines.append(
                f"| {count} | {events.events} | {error:.0e} | {slow:.2g}{mark} | {fast:.2g} | {fast / slow:.2g} "
                f"| {1e3 * fast / events.events:.2g} |"
            )
    head = "| contacts | events | rms error / m | time stepping / s | event-driven / s | ratio | ms per event |\n"
    return head + "|---|---|---|---|---|---|---|\n" + "\n".join(lines)


def stick_slip(figure: Any, *, quick: bool) -> str:
    methods = {
        "exact": PiecewiseExact(),
        "event-driven": EventDriven(),
        "Moreau, 2 ms": Moreau(2e-3),
        "arctan, 1 mm/s": Regularised(
            CompliantNormal(1e5), ArctanFriction(1e-3), method="radau", tolerance=1e-6
        ),
    }
    found = compare(models.belt_masses(), 10.0, methods, refine=1 if quick else 5)
    found.plot(figure, coordinate="left")
    return f"```\n{found}\n```"


def creep(figure: Any, *, quick: bool) -> str:
    """A block that should rest on a slope."""
    slope, until = models.block_on_slope(), 2.0
    normal = CompliantNormal(1e5, 200.0)
    runs = {
        "Moreau, event-driven, exact": simulate(slope, until, EventDriven(sample=0.05)),
        "regularised, set-valued friction": simulate(slope, until, Regularised(normal, sample=0.05)),
        "regularised, 1 mm/s": simulate(
            slope, until, Regularised(normal, SaturatedFriction(1e-3), sample=0.05)
        ),
        "regularised, arctan 1 mm/s": simulate(
            slope, until, Regularised(normal, ArctanFriction(1e-3), sample=0.05)
        ),
    }
    axes = figure.subplots()
    for (name, run), style in zip(runs.items(), ("-", "--", "-", "-"), strict=True):
        axes.plot(run.time, 1e3 * run.coordinate("along"), style, label=name)
    axes.set(xlabel="time / s", ylabel="distance crept / mm")
    axes.legend(frameon=False)
    stepped = simulate(slope, until, Moreau(1e-3)).coordinate("along")[-1]
    words = [f"{name}: {1e3 * run.coordinate('along')[-1]:.3g} mm" for name, run in runs.items()]
    return (
        f"After {until:g} s the block has moved by: "
        + "; ".join(words)
        + f" (Moreau {1e3 * stepped:.1g} mm)."
    )


def drift(figure: Any, *, quick: bool) -> str:
    """Vielsack's shaken incline, A = 0.9, B = 0.11: a small difference of large motions."""
    pull, shaking = 0.9, 0.11
    eps = np.logspace(-4, -1.5, 9 if quick else 26)
    exact = float(stationary_drift(pull, shaking).drift)
    axes = figure.subplots()
    for law in ("damper", "spring", "arctan", "both"):
        found = stationary_drift(pull, shaking, eps, law).drift
        axes.loglog(eps, np.abs(found / exact - 1.0), label=law)
    axes.axhline(1.0, color="0.6", linewidth=0.8)
    axes.set(xlabel="regularisation ε", ylabel="relative error of the drift")
    axes.legend(frameon=False)
    worst = float(stationary_drift(pull, shaking, 0.01, "damper").drift) / exact - 1.0
    return f"With ε = 0.01 a damper in place of sticking is wrong by {100 * worst:.0f} % of the drift."


def penetration(figure: Any, *, quick: bool) -> str:
    """A bouncing ball on a spring: penetration, error and cost over the stiffness."""
    ball, until = models.bouncing_ball(1.0), 1.5
    exact = simulate(ball, until, PiecewiseExact(sample=0.01))
    times = exact.time[exact.time > 0.0]
    stiffness = np.logspace(3, 7 if quick else 9, 5 if quick else 7)
    depth, error, steps = [], [], []
    for c in stiffness:
        run = simulate(ball, until, Regularised(CompliantNormal(c), sample=0.01))
        depth.append(-np.nanmin(run.gap))
        error.append(np.abs(run.position_at(times) - exact.position_at(times)).max())
        steps.append(run.about["steps"])
    left, right = figure.subplots(1, 2)
    left.loglog(stiffness, depth, "o-", label="penetration")
    left.loglog(stiffness, error, "s-", label="error of the position")
    left.loglog(
        stiffness, np.sqrt(2 * models.GRAVITY / stiffness), "-", color="0.6", zorder=0, label="v √(m/c)"
    )
    left.set(xlabel="contact stiffness / N/m", ylabel="m")
    left.legend(frameon=False)
    right.semilogx(stiffness, steps, "o-", label="as computed, with restarts at the switches")
    fixed = until * np.sqrt(stiffness) * 10.0 / np.pi
    right.loglog(stiffness, fixed, "--", color="0.5", label="equal steps, 10 per contact")
    right.set(xlabel="contact stiffness / N/m", ylabel="steps")
    right.legend(frameon=False)
    return f"At {stiffness[-1]:.0e} N/m the ball still sinks in by {depth[-1]:.1e} m."


def rocking(figure: Any, *, quick: bool) -> str:
    """The rocking beam of Example 5.7 with two contacts, 3 and 6 modes."""
    panels = figure.subplots(1, 2, sharey=True)
    highest = {}
    for axes, modes in zip(panels, (3, 6), strict=True):
        system, row = models.rocking_beam(modes)
        for name, scheme in (
            ("Moreau", Moreau(2e-5, theta=1.0)),
            ("event-driven", EventDriven(1e-8, sample=1e-3)),
            ("ordinary", Ordinary(1e-8, sample=1e-3)),
        ):
            run = simulate(system, 0.25, scheme, every=50 if name == "Moreau" else None)
            lift = 1e3 * (run.position @ row)
            axes.plot(run.time, lift, label=name)
            highest[name, modes] = lift[run.time > 0.1].max()
        axes.set(xlabel="time / s", title=f"{modes} modes")
    panels[0].set_ylabel("height of A / mm")
    panels[0].legend(frameon=False)
    words = [f"{name} with {modes} modes {lift:.2f} mm" for (name, modes), lift in highest.items()]
    return "Highest lift of A: " + ", ".join(words) + "."


def painleve(figure: Any, *, quick: bool) -> str:
    """Where a sliding rod has no acceleration, one, or two."""
    from klapper.gallery import find

    outcome = find("painleve-rod").run()
    outcome.figures["map"](figure)
    numbers = outcome.numbers
    return (
        f"The paradox begins at μ = {numbers['critical_mu']:.6g} for a uniform rod; the closed form says 4/3."
    )


FIGURES: dict[str, tuple[Callable[..., str], tuple[float, float]]] = {
    "equal_error": (cost_at_equal_error, (10.0, 3.6)),
    "stick_slip": (stick_slip, (9.0, 7.0)),
    "accumulation": (accumulation, (6.4, 4.0)),
    "creep": (creep, (6.4, 4.0)),
    "drift": (drift, (6.4, 4.0)),
    "penetration": (penetration, (9.0, 3.8)),
    "rocking": (rocking, (9.0, 3.6)),
    "painleve": (painleve, (8.0, 3.8)),
}


def _end_of_bounces(restitution: float) -> float:
    """Closed form: fall, then flights that shrink by the restitution."""
    fall = np.sqrt(2.0 / models.GRAVITY)
    return float(fall * (1.0 + restitution) / (1.0 - restitution))
