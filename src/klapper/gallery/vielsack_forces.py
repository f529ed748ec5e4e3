"""Shaken incline: how the contact force looks with each law.

Forces of the stationary motion for A = 0.5 and B = 1.6 (type V) as in Vielsack's Figs. 3, 5, 6 and 7, and of the arctan
law. Coulomb's force jumps by Δρ where slip ends. A spring answers with an oscillation that does not die out during the
stick and even causes a short slip which the true motion does not have; a damper and both together let the jump decay
within ε.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._vielsack import COLOURS, LAWS, NAMES, PERIOD
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis.shaken_incline import History


@example("vielsack-forces", source="Vielsack, ZAMM 76 (1996) 439-446, Figs. 3, 5, 6, 7")
def vielsack_forces(
    *,
    A: Annotated[float, Parameter("pull of gravity tan α/μ", above=-1.0, below=1.0)] = 0.5,
    B: Annotated[float, Parameter("shaking a Ω²/(μ g cos α)", at_least=0.0)] = 1.6,
    eps: Annotated[float, Parameter("parameter ε of the regularisations", above=0.0, below=1.0)] = 0.01,
) -> Outcome:
    from klapper.analysis.shaken_incline import history, stationary_drift

    motions = {law: stationary_drift(A, B, eps, law) for law in LAWS}
    runs = {law: history(A, B, eps, law, samples=2000) for law in LAWS}
    slips = {law: _slips(runs[law]) for law in LAWS if law != "arctan"}
    kind = str(motions["none"].motion_type)
    checks = [
        Check(
            f"mean force, {NAMES[law]}",
            value=_mean(run.time, run.force),
            expected=A,
            tolerance=(_mean_tolerance(B, eps) if law != "none" else _mean_tolerance(B, 1.0)),
            source="momentum over a period; trapezoidal rule",
        )
        for law, run in runs.items()
        if int(motions[law].cycle) == 1
    ]
    if (A, B, eps) == (0.5, 1.6, 0.01):
        checks += [
            Check("motion type", value=kind, expected="V", source="Vielsack, Fig. 3"),
            Check(
                "slips per period",
                value=list(slips.values()),
                expected=[2, 3, 2, 2],
                source="Figs. 3, 5, 6, 7",
            ),
        ]
    return Outcome(
        numbers={
            "motion_type": kind,
            **{f"slips_{law}": count for law, count in slips.items()},
            **{f"drift_{law}": float(motions[law].drift) for law in LAWS},
            "force_jump": float(motions["none"].force_jump),
        },
        checks=checks,
        audit={
            "method": "closed forms joined at bracketed roots; arctan: Taylor series of order 24",
            "largest residual of the period": max(float(motion.residual) for motion in motions.values()),
        },
        figures={
            "forces": partial(_draw_forces, runs=runs),
            "boundary-layer": partial(_draw_layer, runs=runs, eps=eps),
        },
    )


def _slips(run: "History") -> int:
    """Slips that begin in a period; both limits of a switch are neighbours."""
    changes = np.flatnonzero(np.diff(run.phase) != 0)
    return int(np.count_nonzero(run.phase[changes + 1]))


def _mean(time: np.ndarray, values: np.ndarray) -> float:
    return float(np.trapezoid(values, time) / PERIOD)


def _mean_tolerance(shaking: float, eps: float) -> float:
    """h²/12 times a bound of |ρ''| in the mean: the shaking, and the layers of height 2 and width ε."""
    return (PERIOD / 2000) ** 2 / 12.0 * (shaking + 20.0 / eps)


def _draw_forces(figure: "Figure", *, runs: "dict[str, History]") -> None:
    """Contact force over one stationary period, Coulomb's law in grey for comparison."""
    figure.set_size_inches(6.2, 8.4)
    for axes, (law, run) in zip(figure.subplots(len(runs), 1, sharex=True), runs.items(), strict=True):
        if law != "none":
            axes.plot(runs["none"].time, runs["none"].force, color="#AAAAAA", linewidth=1.1)
        axes.plot(run.time, run.force, color=COLOURS[law], linewidth=1.5)
        axes.set_title(NAMES[law], fontsize=11)
        axes.set(ylabel="force ρ", ylim=(-1.2, 1.2), xlim=(0.0, PERIOD))
    axes.set_xlabel("τ")


def _draw_layer(figure: "Figure", *, runs: "dict[str, History]", eps: float) -> None:
    """The force after the last slip of the period: a damper takes it to Coulomb's within a few ε."""
    axes = figure.subplots()
    for law in ("none", "damper", "both"):
        run = runs[law]
        ends = run.time[np.flatnonzero((run.phase[1:] == 0) & (run.phase[:-1] != 0)) + 1]
        if not len(ends):
            continue
        inner = (run.time - ends[-1]) / eps
        near = (inner >= 0.0) & (inner <= 15.0)
        axes.plot(inner[near], run.force[near], color=COLOURS[law], label=NAMES[law])
    axes.set(xlabel="time since the end of slip / ε", ylabel="force ρ", xlim=(0.0, 15.0))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
