"""Rotor with a stop: a contact followed through the critical speed.

A mass on a spring in a rotating frame, pushed by a load towards a stop at the distance g₀. In the
stationary state

    q = (λ − F)/(k − Ω² m),   0 ≤ λ ⟂ g₀ + q ≥ 0

Below the critical speed √(k/m) there is one solution; above it the problem is not convex, and the mass may
lean on the stop or stand off from it. The solution at rest is followed upwards with the speed as parameter.
If the load pulls away from the stop instead, there is no solution at all above the critical speed until
contact and free flight appear together in a fold."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.complementarity import LinearComplementarity, SolutionBranch


@example("rotor-stop", source="Waltersberger & Wauer, PAMM (2005), (3)")
def rotor_stop(
    *,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N/m", above=0.0)] = 2.0e4,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 2.0,
    gap: Annotated[float, Parameter("distance of the stop", unit="m", above=0.0)] = 1.0e-3,
    load: Annotated[float, Parameter("force towards the stop", unit="N", above=0.0)] = 10.0,
    top_speed: Annotated[
        float, Parameter("greatest speed, above the critical one", unit="rad/s", above=0.0)
    ] = 200.0,
) -> Outcome:
    from klapper.complementarity import enumerate_solutions, follow

    critical = float(np.sqrt(stiffness / mass))
    if top_speed < 1.01 * critical:
        raise ParameterError(
            f"top_speed must be at least 1.01 times the critical speed, {critical:.6g} rad/s, not {top_speed:g}."
        )
    pushed, pulled = (_family(stiffness, mass, gap, push) for push in (load, -load))
    touching = float(np.sqrt(max(stiffness - load / gap, 0.0) / mass))  # the mass reaches the stop
    branch = follow(pushed, 0.0, top_speed, steps=200)
    contact_force = np.maximum(load - gap * (stiffness - branch.parameter**2 * mass), 0.0)
    at_top = enumerate_solutions(pushed(top_speed))
    fold = float(np.sqrt((stiffness + load / gap) / mass))
    start, end = max(1.3 * fold, top_speed), 0.5 * (critical + fold)
    pressed = gap * (mass * start**2 - stiffness) - load
    turned = follow(pulled, start, end, steps=200, first=[pressed])
    between = enumerate_solutions(pulled(end))

    largest = float(contact_force.max())
    worst = max(pushed(s).residuals(x).worst for s, x in zip(branch.parameter, branch.x, strict=True))
    checks = [
        Check(
            "contact force along the branch",
            value=branch.x[:, 0],
            expected=contact_force,
            tolerance=1e-7 * largest,
            source="λ = F − g₀ (k − Ω² m) while positive",
        ),
        Check(
            "solutions at the top speed",
            value=sorted(float(piece.point[0]) for piece in at_top.pieces),
            expected=[0.0, load + gap * (mass * top_speed**2 - stiffness)],
            tolerance=1e-9 * largest,
            source="closed form: free or in contact",
        ),
        Check(
            "fold of the pulled rotor",
            value=turned.folds,
            expected=[fold],
            tolerance=1e-8 * fold,
            source="Ω = √((k + F/g₀)/m)",
        ),
        Check("no solution below the fold", value=len(between), expected=0, source="closed form"),
    ]
    return Outcome(
        numbers={
            "critical_speed": critical,
            "contact_from_speed": touching,
            "force_at_top_speed": float(branch.x[-1, 0]),
            "solutions_at_top_speed": len(at_top),
            "fold_speed": fold,
            "events": [str(event) for event in branch.events],
            "speeds": branch.parameter,
            "forces": branch.x[:, 0],
        },
        units={
            "critical_speed": "rad/s",
            "contact_from_speed": "rad/s",
            "force_at_top_speed": "N",
            "fold_speed": "rad/s",
            "speeds": "rad/s",
            "forces": "N",
        },
        checks=checks,
        audit={
            "solver": "continuation in the speed, changes of contact located to round-off",
            "residuals": {"worst along the branch": worst},
            "uniqueness": "One solution below the critical speed, two above it, by enumeration.",
            "branches": int(branch.number[-1]) + 1,
        },
        figures={
            "branches": partial(
                _draw, pushed=pushed, pulled=pulled, branch=branch, turned=turned, critical=critical, gap=gap
            )
        },
    )


def _family(
    stiffness: float, mass: float, gap: float, load: float
) -> "Callable[[float], LinearComplementarity]":
    """The stationary state as a function of the speed: A = 1/(k − Ω² m), b = g₀ − F/(k − Ω² m)."""
    from klapper.complementarity import LinearComplementarity

    def at(speed: float) -> LinearComplementarity:
        flexibility = 1.0 / (stiffness - speed**2 * mass)
        return LinearComplementarity([[flexibility]], [gap - flexibility * load], names=["stop"])

    return at


def _draw(
    figure: "Figure",
    *,
    pushed: "Callable[[float], LinearComplementarity]",
    pulled: "Callable[[float], LinearComplementarity]",
    branch: "SolutionBranch",
    turned: "SolutionBranch",
    critical: float,
    gap: float,
) -> None:
    """Contact force (top) and gap (bottom) over the speed: branch followed (line) and all solutions found
    by enumeration (circles). Left: load towards the stop. Right: load away from it, followed downwards from
    high speed."""
    figure.set_size_inches(10.0, 5.4)
    panels = figure.subplots(2, 2, sharex=True)
    speed = float(turned.parameter.max())
    titles = ("load towards the stop", "load away from the stop")
    columns = zip((0, 1), (pushed, pulled), (branch, turned), titles, strict=True)
    for column, family, followed, title in columns:
        _draw_column(panels[:, column], family, followed, critical, speed)
        panels[0, column].set_title(title)
    panels[0, 0].set_ylabel("contact force / N")
    panels[1, 0].set_ylabel("gap / mm")
    for axes in panels[1]:
        axes.set_ylim(-0.2e3 * gap, 5e3 * gap)
    panels[0, 0].legend(loc="upper left")


def _draw_column(
    panels: "np.ndarray",
    family: "Callable[[float], LinearComplementarity]",
    branch: "SolutionBranch",
    critical: float,
    top_speed: float,
) -> None:
    from klapper.complementarity import enumerate_solutions
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    force_axes, gap_axes = panels
    for speed in np.linspace(0.0, top_speed, 44):
        if abs(speed - critical) < 1e-6 * critical:
            continue
        problem = family(speed)
        for piece in enumerate_solutions(problem).pieces:
            style = {"s": 26, "facecolor": "none", "edgecolor": ORANGE, "zorder": 4}
            force_axes.scatter(speed, piece.point[0], **style)
            gap_axes.scatter(speed, 1e3 * problem.image(piece.point)[0], **style)
    force_axes.scatter([], [], s=26, facecolor="none", edgecolor=ORANGE, label="every solution")
    force_axes.plot(branch.parameter, branch.x[:, 0], color=BLUE, label="branch followed", zorder=3)
    gap_axes.plot(branch.parameter, 1e3 * branch.y[:, 0], color=BLUE, zorder=3)
    for axes in panels:
        axes.axvline(critical, color=DARK, linewidth=0.9, linestyle=":")
    gap_axes.set_xlabel("speed Ω / (rad/s)")
    force_axes.annotate(
        "critical speed",
        (critical, 0.97),
        (5, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        color=DARK,
        fontsize=10,
    )
