"""Two masses joined by a spring on a rough floor: a stiff spring moves them as one, but forces keep a memory.

    m ẍ₁ = c (x₂ − x₁) + λ_TA,   m ẍ₂ = −c (x₂ − x₁) + λ_TB + F,   |λ_T| ≤ μ m g

Pushed slowly, the right mass carries the push up to its limit and the left one the rest, for any stiffness. Pushed
suddenly without damping, the spring overshoots and stops at another pair with the same sum. Sliding, both follow one
mass 2m up to a vibration of F/4c; the spring force vibrates between 0 and F however stiff the spring is, so its limit
F/2 is a mean value.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.bodies import CoupledSliders
    from klapper.results import Run

STIFFNESSES = (1e4, 1e6, 1e8)


@example("coupled-sliders", source="Seiwald (2014), B.2.4, (B.30)-(B.47)")
def coupled_sliders(
    *,
    mass: Annotated[float, Parameter("mass of each slider", unit="kg", above=0.0)] = 1.0,
    mu: Annotated[float, Parameter("friction coefficient", above=0.0)] = 0.5,
    stiffness: Annotated[float, Parameter("c of the spring", unit="N/m", above=0.0)] = 1e6,
    push: Annotated[
        float, Parameter("push of the sticking sliders, in units of μ m g", at_least=1.0, at_most=1.5)
    ] = 1.2,
    sliding_push: Annotated[float, Parameter("push of the sliding ones, in units of μ m g", above=2.0)] = 6.0,
) -> Outcome:
    from klapper.bodies import CoupledSliders
    from klapper.gallery._run import ledger_check, run_audit

    free = CoupledSliders(mass, stiffness, friction=mu)
    damped = CoupledSliders(mass, stiffness, damping=2.0 * np.sqrt(mass * stiffness), friction=mu)
    force, period = push * free.limit, 2.0 * np.pi * np.sqrt(mass / stiffness)
    slow, sudden = _slow(damped, force, period), _sudden(free, force, period)
    ends = {"slow": slow.force[-1, :, -1], "sudden": sudden.force[-1, :, -1]}
    strong = sliding_push * free.limit
    slide = _slide(free, strong)
    exact = np.column_stack(free.sliding_motion(strong, slide.time))
    moved = slide.position - _SPEED * slide.time[:, None]
    vibration = strong / (2.0 * mass * free.angular_frequency**2)
    apart = [
        float(
            np.abs(
                CoupledSliders(mass, c, friction=mu).sliding_motion(strong, slide.time)[0]
                - free.rigid_motion(strong, slide.time)
            ).max()
        )
        for c in STIFFNESSES
    ]
    return Outcome(
        numbers={
            "friction_slow": ends["slow"] / free.limit,
            "friction_sudden": ends["sudden"] / free.limit,
            "distance_from_one_mass": apart,
            "vibration": 2.0 * vibration,
            "spring_force_mean": float(np.mean(_spring(free, moved))) / strong,
        },
        units={
            "friction_slow": "(λ_TA, λ_TB)/μ m g",
            "friction_sudden": "(λ_TA, λ_TB)/μ m g",
            "distance_from_one_mass": "m (for c = 1e4, 1e6, 1e8 N/m)",
            "vibration": "m",
            "spring_force_mean": "of the push",
        },
        checks=[
            Check(
                "slow push",
                value=ends["slow"],
                expected=free.quasi_static_friction(force),
                tolerance=0.01 * free.limit,
                source="(B.34)",
            ),
            Check(
                "sudden push without damping",
                value=ends["sudden"],
                expected=free.overshoot_friction(force),
                tolerance=0.01 * free.limit,
                source="overshoot of the spring",
            ),
            Check(
                "sums of friction",
                value=[float(end.sum()) for end in ends.values()],
                expected=-force,
                tolerance=1e-4 * force,
                source="balance of forces",
            ),
            Check(
                "sliding motion",
                value=float(np.abs(moved - exact).max()),
                at_most=0.02 * vibration,
                source="(B.37) in the time domain",
            ),
            Check(
                "distance from one mass, per stiffness",
                value=apart[0] / apart[-1],
                expected=STIFFNESSES[-1] / STIFFNESSES[0],
                tolerance=0.05 * STIFFNESSES[-1] / STIFFNESSES[0],
                source="x₁ − x = F/4c (1 − cos ωt)",
            ),
            ledger_check(slow),
            ledger_check(sudden),
        ],
        audit={
            "sudden push": run_audit(sudden),
            "uniqueness": "of the two masses all forces are unique; of one mass 2m only their sum",
        },
        figures={
            "shares": partial(_draw_shares, slow=slow, sudden=sudden, pair=free, force=force, period=period),
            "sliding": partial(_draw_sliding, slide=slide, moved=moved, pair=free, force=strong),
        },
    )


_SPEED = 5.0  # m/s at which both slide, so that neither sticks


def _slow(pair: "CoupledSliders", force: float, period: float) -> "Run":
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    grown = 50.0 * period

    def push(t: float) -> float:
        return force * min(t / grown, 1.0)

    return simulate(pair.system(push), 80.0 * period, Moreau(period / 300.0), progress=False)


def _sudden(pair: "CoupledSliders", force: float, period: float) -> "Run":
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    return simulate(pair.system(force), 2.0 * period, Moreau(period / 3000.0), progress=False)


def _slide(pair: "CoupledSliders", force: float) -> "Run":
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    period = 2.0 * np.pi / pair.angular_frequency
    return simulate(
        pair.system(force, velocity=_SPEED), 6.0 * period, Moreau(period / 1000.0), every=5, progress=False
    )


def _spring(pair: "CoupledSliders", moved: np.ndarray) -> np.ndarray:
    return pair.stiffness * (moved[:, 1] - moved[:, 0])


def _draw_shares(
    figure: "Figure", *, slow: "Run", sudden: "Run", pair: "CoupledSliders", force: float, period: float
) -> None:
    """Friction of both masses under the same push, put on slowly with damping (left) and suddenly without (right).
    Dotted: closed forms."""
    figure.set_size_inches(8.6, 3.9)
    expected = (pair.quasi_static_friction(force), pair.overshoot_friction(force))
    for axes, run, title, ends in zip(
        figure.subplots(1, 2, sharey=True), (slow, sudden), ("slow", "sudden"), expected, strict=True
    ):
        for mass, colour in enumerate(("C0", "C1")):
            friction = run.force[1:, mass, -1] / pair.limit
            axes.plot(run.time[1:] / period, friction, color=colour, label=f"$\\lambda_{{T{'AB'[mass]}}}$")
            axes.axhline(ends[mass] / pair.limit, color="k", linestyle=":", linewidth=1.2)
        axes.set(xlabel=r"time / $2\pi\sqrt{m/c}$", title=f"{title} push")
        axes.legend(loc="upper right")
    figure.axes[0].set_ylabel(r"friction / $\mu m g$")


def _draw_sliding(
    figure: "Figure", *, slide: "Run", moved: np.ndarray, pair: "CoupledSliders", force: float
) -> None:
    """Both masses sliding, as seen from one rigid mass (left), and the force of the spring (right)."""
    figure.set_size_inches(8.6, 3.9)
    left, right = figure.subplots(1, 2)
    rigid = pair.rigid_motion(force, slide.time)
    for mass in range(2):
        left.plot(1e3 * slide.time, 1e6 * (moved[:, mass] - rigid), label=f"$x_{mass + 1} - x$")
    left.set(xlabel="time / ms", ylabel="distance from one mass / µm")
    left.margins(y=0.25)
    left.legend(loc="upper right", ncols=2)
    right.plot(1e3 * slide.time, _spring(pair, moved) / force, label="time stepping")
    right.plot(1e3 * slide.time, pair.spring_force(force, slide.time) / force, "k:", label="closed form")
    right.axhline(0.5, color="0.6", linewidth=0.9)
    right.set(xlabel="time / ms", ylabel="spring force / F", ylim=(-0.05, 1.25))
    right.legend(loc="upper right")
