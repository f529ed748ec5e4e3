"""Shaken incline: the drift of a mass, exact and with a smeared stick.

A mass on a rough incline is shaken along the slope. With the pull A = tan α/μ, the shaking B = a Ω²/(μ g cos α) and
τ = Ω t

    ξ'' + ρ = A + B sin τ,   |ρ| ≤ 1,   ρ = sgn ξ' while slipping

and the mass creeps by the drift Δv = (ξ(τ + 2π) − ξ(τ))/2π. The laws replace the stick by a spring, a damper or both
with the parameter ε, or the whole law by (2/π) arctan(ξ'/ε). All but the last are solved phase by phase in closed form,
joined at switching instants located to round-off: there is no time step. All numbers are dimensionless.
"""

from functools import partial
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery._vielsack import COLOURS, NAMES, PERIOD
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis.shaken_incline import History, StationaryMotion

SOURCE = "Vielsack, ZAMM 76 (1996) 439-446"
GREY = "#999999"


@example("vielsack-drift", source=f"{SOURCE}, (14), (20), (24), (27), section 7")
def vielsack_drift(
    *,
    A: Annotated[float, Parameter("pull of gravity tan α/μ")] = 0.5,
    B: Annotated[float, Parameter("shaking a Ω²/(μ g cos α)", at_least=0.0)] = 1.6,
    eps: Annotated[float, Parameter("parameter ε of the regularisation", above=0.0, below=1.0)] = 0.01,
    regularisation: Annotated[
        Literal["none", "spring", "damper", "both", "arctan"],
        Parameter("what replaces the stick; none is Coulomb's law"),
    ] = "none",
) -> Outcome:
    from klapper.analysis.shaken_incline import MOTION_TYPES, stationary_drift

    motion = stationary_drift(A, B, eps, regularisation)
    exact = float(stationary_drift(A, B).drift)
    drift, kind = float(motion.drift), str(motion.motion_type)
    numbers = {
        "drift": drift,
        "motion_type": kind,
        "drift_coulomb": exact,
        "drift_error": drift - exact if isfinite(exact) else None,
        "drift_error_relative": drift / exact - 1.0 if isfinite(exact) and exact != 0.0 else None,
        "force_jump": float(motion.force_jump),
        "cycle": int(motion.cycle),
    }
    audit = {
        "motion type": f"{kind}: {MOTION_TYPES[kind]} (under Coulomb's law)",
        "method": _method(regularisation),
        "uniqueness": _uniqueness(regularisation),
    }
    if kind == "II":
        return Outcome(
            numbers=numbers,
            checks=[_acceleration_check(A, B, eps, regularisation)],
            audit=audit,
            figures={"velocity": partial(_draw_acceleration, A=A, B=B, eps=eps, law=regularisation)},
        )
    from klapper.analysis.shaken_incline import history

    shown = history(A, B, eps, regularisation, periods=2, samples=1000)
    coulomb = history(A, B, periods=2, samples=1000)
    first = shown.switches[shown.switches < PERIOD]
    numbers |= {"switching_times": first, "residual": float(motion.residual)}
    return Outcome(
        numbers=numbers,
        checks=_checks(A, B, eps, regularisation, motion),
        audit={**audit, "periods until stationary": int(motion.periods)},
        figures={
            "force": partial(_draw_force, shown=shown, coulomb=coulomb, law=regularisation),
            "velocity": partial(_draw_velocity, shown=shown, coulomb=coulomb, law=regularisation),
            "phase-portrait": partial(_draw_portrait, shown=shown, coulomb=coulomb, law=regularisation),
            "drift-over-shaking": partial(_draw_drift, A=A, B=B, eps=eps, law=regularisation),
        },
    )


def _method(law: str) -> str:
    if law == "arctan":
        return "Taylor series of order 24, steps with truncation below round-off"
    return "closed forms joined at bracketed roots, no time step"


def _uniqueness(law: str) -> str:
    if law == "both":
        return "not proven: for large ε two stationary motions, or one of two or three periods, exist at a few points"
    return "the stationary velocity, or at least the drift, is unique for |A| < 1: the law dissipates differences"


def _checks(A: float, B: float, eps: float, law: str, motion: "StationaryMotion") -> list[Check]:
    """One period by numerical integration, another start, and the closed forms where there are any."""
    from klapper.analysis.shaken_incline import history, stationary_drift
    from klapper.gallery._vielsack import Incline, integrated_period

    cycle = max(int(motion.cycle), 1)
    begin = history(A, B, eps, law)
    other = integrated_period(Incline(A, B, eps, law), begin, cycle)
    source = "integration with switches (DOP853, 1e-12) from the same state"
    scale = 1.0 + B
    checks = [
        Check(
            "drift by integration",
            value=float(motion.drift),
            expected=other.distance / (cycle * PERIOD),
            tolerance=1e-10 * scale,
            source=source,
        ),
        Check(
            "the motion repeats itself",
            value=float(begin.velocity[0]),
            expected=other.velocity,
            tolerance=1e-9 * scale,
            source=source,
        ),
    ]
    if law != "both":
        elsewhere = stationary_drift(A, B, eps, law, velocity=-3.7, phase=2.0)
        checks.append(
            Check(
                "independent of the start",
                value=float(elsewhere.drift),
                expected=float(motion.drift),
                tolerance=1e-10 * scale,
                source="start with ξ' = −3.7 at τ = 2",
            )
        )
    if law == "none" and abs(A) + B <= 1.0:
        checks.append(
            Check("rest", value=float(motion.drift), expected=0.0, tolerance=0.0, source="|A| + B ≤ 1")
        )
    if A == 0.0:
        checks.append(
            Check(
                "no preferred direction",
                value=float(motion.drift),
                expected=0.0,
                tolerance=1e-12 * scale,
                source="symmetry of A = 0",
            )
        )
    return checks


def _acceleration_check(A: float, B: float, eps: float, law: str) -> Check:
    """The velocity gained per period in a fast slip."""
    from klapper.analysis.shaken_incline import history

    fast = np.sign(A) * (100.0 + 10.0 * B)
    run = history(A, B, eps, law, start=(fast, 0.0))
    return Check(
        "velocity gained in a period",
        value=float(run.velocity[-1] - run.velocity[0]),
        expected=PERIOD * (A - np.sign(A)),
        tolerance=1e-10 * (1.0 + abs(fast)) if law != "arctan" else 4.0 * eps / (abs(fast) - 2.0 * B),
        source="2π (A − sgn A); the arctan law approaches it from above",
    )


def _draw_force(figure: "Figure", *, shown: "History", coulomb: "History", law: str) -> None:
    """Contact force over one period of the stationary motion; stick is shaded."""
    axes = figure.subplots()
    one = shown.time <= PERIOD
    _shade(axes, shown)
    if law != "none":
        exact = coulomb.time <= PERIOD
        axes.plot(coulomb.time[exact], coulomb.force[exact], color=GREY, linewidth=1.2, label="Coulomb")
    axes.plot(shown.time[one], shown.force[one], color=COLOURS[law], label=NAMES[law])
    axes.set(xlabel="τ", ylabel="contact force ρ", xlim=(0.0, PERIOD), ylim=(-1.15, 1.15))
    _legend(axes)


def _draw_velocity(figure: "Figure", *, shown: "History", coulomb: "History", law: str) -> None:
    """Velocity relative to the incline over two periods of the stationary motion."""
    axes = figure.subplots()
    if law != "none":
        axes.plot(coulomb.time, coulomb.velocity, color=GREY, linewidth=1.2, label="Coulomb")
    axes.plot(shown.time, shown.velocity, color=COLOURS[law], label=NAMES[law])
    axes.set(xlabel="τ", ylabel="velocity ξ'", xlim=(0.0, 2.0 * PERIOD))
    _legend(axes)


def _draw_portrait(figure: "Figure", *, shown: "History", coulomb: "History", law: str) -> None:
    """Velocity over position for one period; the way between both ends is 2π times the drift."""
    axes = figure.subplots()
    if law != "none":
        exact = coulomb.time <= PERIOD
        axes.plot(
            coulomb.position[exact], coulomb.velocity[exact], color=GREY, linewidth=1.2, label="Coulomb"
        )
    one = shown.time <= PERIOD
    axes.plot(shown.position[one], shown.velocity[one], color=COLOURS[law], label=NAMES[law])
    ends = [0, int(np.flatnonzero(one)[-1])]
    axes.plot(shown.position[ends], shown.velocity[ends], "o", color=COLOURS[law])
    axes.set(xlabel="position ξ", ylabel="velocity ξ'")
    axes.margins(0.06)
    _legend(axes)


def _draw_drift(figure: "Figure", *, A: float, B: float, eps: float, law: str) -> None:
    """Drift over the shaking at this pull."""
    from klapper.analysis.shaken_incline import stationary_drift

    axes = figure.subplots()
    shaking = np.linspace(0.0, max(2.0 * B, 2.0), 400)
    if law != "none":
        axes.plot(shaking, stationary_drift(A, shaking).drift, color=GREY, linewidth=1.2, label="Coulomb")
    axes.plot(shaking, stationary_drift(A, shaking, eps, law).drift, color=COLOURS[law], label=NAMES[law])
    axes.plot(B, stationary_drift(A, B, eps, law).drift, "o", color=COLOURS[law])
    axes.set(xlabel="shaking B", ylabel="drift Δv", xlim=(0.0, shaking[-1]))
    _legend(axes)


def _draw_acceleration(figure: "Figure", *, A: float, B: float, eps: float, law: str) -> None:
    """Velocity from rest over five periods: there is no stationary state, the mass accelerates."""
    from klapper.analysis.shaken_incline import history

    axes = figure.subplots()
    run = history(A, B, eps, law, periods=5, start=(0.0, 0.0))
    axes.plot(run.time, run.velocity, color=COLOURS[law], label=NAMES[law])
    axes.set(xlabel="τ", ylabel="velocity ξ'", xlim=(0.0, 5 * PERIOD))
    _legend(axes)


def _shade(axes: "Axes", run: "History") -> None:
    """Grey where the mass sticks in the first period."""
    edges = np.concatenate([[0.0], run.switches[run.switches < PERIOD], [PERIOD]])
    for begin, end in pairwise(edges):
        middle = np.flatnonzero(run.time <= 0.5 * (begin + end))[-1]
        if run.phase[middle] == 0:
            axes.axvspan(begin, end, color="#EEEEEE", linewidth=0.0)


def _legend(axes: "Axes") -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
