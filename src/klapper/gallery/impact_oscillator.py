"""Impact oscillator: periodic motions against a stop, followed through grazing, folds and period doublings.

A mass on a spring is driven by F cos ωt and hits a stop at x = g, where it keeps ε of its speed:

    ẍ + 2 ζ ω₀ ẋ + ω₀² x = (F/m) cos ωt,   x ≤ g,   ⁺ẋ = −ε ⁻ẋ  at  x = g

Motions with one impact of the speed u per period T = 2π/ω have a closed form. Between two impacts the distance from the
forced vibration x_p = A cos(ωt − φ) is a free vibration, so with its matrix Φ(T)

    (Φ − 1) (g − x_p, −ẋ_p)ᵀ = u ((0, 1)ᵀ + ε Φ (0, 1)ᵀ),   x_p² + (ẋ_p/ω)² = A²

at the impact: a quadratic equation for u. The multipliers are the eigenvalues of S Φ with the saltation matrix
S = ((−ε, 0), ((⁺ẍ + ε ⁻ẍ)/u, −ε)); their product is ε² exp(−2 ζ ω₀ T). A motion without impacts grazes the stop where
A = g.

Coming from high frequencies the vibration grows until it grazes. No stable motion begins there: the branch with the
impact turns back and is unstable up to a fold. From the fold on it is stable and leads to lower frequencies, with a
window of doubled period.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._impact_oscillator_figures import draw_branch, draw_motion, draw_multipliers
from klapper.gallery._single_impact import Oscillator, SingleImpact, impact_speeds
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.analysis import BifurcationDiagram, PeriodicBranch, PeriodicMotion
    from klapper.results import Run

SETTLE, KEEP = 30, 6  # periods of simulation for the diagram
SLOW = 0.99  # largest multiplier of motions whose approach by long integration is waited for


@example(
    "impact-oscillator", source="closed form: Peterka (1974), Shaw & Holmes (1983); grazing: Nordmark (1991)"
)
def impact_oscillator(
    *,
    angular_frequency: Annotated[float, Parameter("ω of the force", unit="rad/s", above=0.0)] = 1.5,
    gap: Annotated[float, Parameter("place g of the stop; the spring is relaxed at 0", unit="m")] = 0.5,
    restitution: Annotated[float, Parameter("coefficient ε of the stop", above=0.0, at_most=1.0)] = 0.9,
    damping: Annotated[float, Parameter("damping ratio ζ", above=0.0, below=1.0)] = 0.02,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N/m", above=0.0)] = 1.0,
    force: Annotated[float, Parameter("amplitude F of the force", unit="N", above=0.0)] = 1.0,
    angular_frequencies: Annotated[
        tuple[float, float], Parameter("range of the diagram", unit="rad/s", above=0.0)
    ] = (0.75, 2.2),
    simulated: Annotated[int, Parameter("frequencies of the diagram that are simulated", at_least=0)] = 20,
) -> Outcome:
    from klapper.analysis import NoPeriodicMotion, follow_periodic, periodic_motion

    low, high = angular_frequencies
    if not low < high:
        raise ParameterError(
            f"angular_frequencies are {low:g} and {high:g} rad/s; the first must be below the second."
        )
    oscillator = Oscillator(angular_frequency, gap, restitution, damping, mass, stiffness, force)
    known = next((single for single in oscillator.single_impacts if single.possible), None)
    try:
        motion = _motion(oscillator, known)
        first = periodic_motion(oscillator.at(high).system(), settle=30)
    except NoPeriodicMotion as error:
        raise ParameterError(
            f"angular_frequency {angular_frequency:g} rad/s has no periodic motion that was found. {error}"
        ) from error
    branch = follow_periodic(
        lambda w: oscillator.at(w).system(), high, low, first=first, largest=0.1, most=400
    )
    doubled = [branch.switch(found, most=120) for found in branch.named("period doubling")[:1]]
    diagram = _diagram(oscillator, low, high, simulated)
    return Outcome(
        numbers={
            "period_ratio": motion.period_ratio,
            "impact_velocity": max(impact_speeds(motion), default=0.0),
            "multipliers": np.column_stack([motion.multipliers.real, motion.multipliers.imag]),
            "stable": motion.stable,
            "grazing": [found.parameter for found in branch.named("grazing")],
            "folds": [found.parameter for found in branch.named("fold")],
            "period_doublings": [found.parameter for found in branch.named("period doubling")],
            "motions_followed": len(branch) + sum(len(other) for other in doubled),
            "end_of_branch": branch.ended,
        },
        units={
            "impact_velocity": "m/s (largest)",
            "multipliers": "real and imaginary parts",
            "grazing": "rad/s",
            "folds": "rad/s",
            "period_doublings": "rad/s",
        },
        checks=[
            *_motion_checks(oscillator, motion, known),
            *_branch_checks(oscillator, branch),
            *_simulation_checks(oscillator, diagram),
        ],
        audit={
            "motion": str(motion).splitlines(),
            "branch": str(branch).splitlines(),
            "residual of the motion by integration": motion.residual,
        },
        figures={
            "motion": partial(draw_motion, oscillator=oscillator, motion=motion),
            "branch": partial(
                draw_branch, oscillator=oscillator, branch=branch, doubled=doubled, diagram=diagram
            ),
            "multipliers": partial(draw_multipliers, branch=branch),
        },
    )


def _motion(oscillator: Oscillator, known: SingleImpact | None) -> "PeriodicMotion":
    """By shooting from a disturbed closed form if there is one, else from where the motion settles."""
    from klapper.analysis import periodic_motion
    from klapper.mechanics import State

    if known is None:
        return periodic_motion(oscillator.system(), settle=60)
    start = oscillator.after(known)
    return periodic_motion(
        oscillator.system(), State(start.time, start.position, 1.001 * start.velocity), settle=0
    )


def _diagram(oscillator: Oscillator, low: float, high: float, count: int) -> "BifurcationDiagram | None":
    """Speeds of impacts after settling, down and up again."""
    from klapper.analysis import bifurcation_diagram

    if count == 0:
        return None

    def speeds(run: "Run") -> np.ndarray:
        hits = run.impacts().impulse[:, 0] / (oscillator.mass * (1.0 + oscillator.restitution))
        return hits if len(hits) else np.zeros(1)

    down = np.linspace(high, low, count - count // 2)
    up = np.linspace(low, high, count // 2)
    return bifurcation_diagram(
        lambda w: oscillator.at(w).system(),
        np.concatenate([down, up]),
        settle=SETTLE,
        keep=KEEP,
        quantity=speeds,
        progress=False,
    )


def _motion_checks(
    oscillator: Oscillator, motion: "PeriodicMotion", known: SingleImpact | None
) -> list[Check]:
    loss = oscillator.restitution ** (2 * len(impact_speeds(motion)))
    decay = np.exp(-2.0 * oscillator.damping * oscillator.natural * motion.period)
    checks = [
        Check(
            "product of the multipliers",
            value=float(np.prod(motion.multipliers).real),
            expected=float(loss * decay),
            tolerance=1e-9,
            source="ε² of every impact, and exp(−2 ζ ω₀ T)",
        ),
        Check(
            "the motion closes",
            value=motion.residual,
            at_most=1e-9,
            source="integration over one period, in parts of the size of the motion",
        ),
    ]
    if known is not None and len(impact_speeds(motion)) == 1:
        checks += [
            Check(
                "speed of the impact",
                value=impact_speeds(motion)[0],
                expected=known.u,
                tolerance=1e-9 * known.u,
                source="closed form",
            ),
            Check(
                "sum of the multipliers",
                value=float(motion.multipliers.sum().real),
                expected=known.trace,
                tolerance=1e-8,
                source="closed form, trace of S Φ",
            ),
        ]
    if motion.stable and float(np.abs(motion.multipliers[0])) < SLOW:
        reached = motion.approach()
        checks.append(
            Check(
                "long integration ends on the motion",
                value=reached.distance,
                at_most=1e-8,
                source=f"{reached.periods} periods from a start that is off by 0.1 %",
            )
        )
    return checks


def _branch_checks(oscillator: Oscillator, branch: "PeriodicBranch") -> list[Check]:
    checks = []
    apart = [
        min(abs(impact_speeds(motion)[0] - single.u) / single.u for single in singles)
        for value, motion in zip(branch.parameters, branch.motions, strict=True)
        if len(impact_speeds(motion)) == 1
        and (singles := [s for s in oscillator.at(value).single_impacts if s.u > 1e-3 * oscillator.amplitude])
        and impact_speeds(motion)[0] > 1e-3 * oscillator.amplitude
    ]
    if apart:
        checks.append(
            Check(
                f"speeds of {len(apart)} motions with one impact",
                value=max(apart),
                at_most=1e-7,
                source="closed form, relative",
            )
        )
    for found in branch.bifurcations:
        here, speeds = oscillator.at(found.parameter), impact_speeds(found.motion)
        nearest = [
            s for s in here.single_impacts if len(speeds) == 1 and abs(s.u - speeds[0]) < 1e-4 * speeds[0]
        ]
        at = f"at {found.parameter:.6f} rad/s"
        if found.kind == "grazing" and not speeds:
            checks.append(
                Check(
                    f"grazing {at}",
                    value=here.amplitude,
                    expected=oscillator.gap,
                    tolerance=1e-8 * oscillator.gap,
                    source="the vibration without stop reaches it: A = g",
                )
            )
        elif found.kind in ("fold", "period doubling") and nearest:
            sign = 1.0 if found.kind == "period doubling" else -1.0
            single = min(nearest, key=lambda s: abs(1.0 + sign * s.trace + s.determinant))
            checks.append(
                Check(
                    f"{found.kind} {at}",
                    value=1.0 + sign * single.trace + single.determinant,
                    expected=0.0,
                    tolerance=1e-6,
                    source=f"closed form: {'−1' if sign > 0 else '+1'} is a multiplier",
                )
            )
    return checks


def _simulation_checks(oscillator: Oscillator, diagram: "BifurcationDiagram | None") -> list[Check]:
    """Simulated motions with one impact per period lie on the stable branch, as far as they have settled."""
    if diagram is None:
        return []
    worst, count = 0.0, 0
    for value, seen in zip(diagram.values, diagram.seen, strict=True):
        singles = [s for s in oscillator.at(value).single_impacts if s.possible and s.stable]
        if len(seen) != KEEP or np.ptp(seen) > 0.05 * seen.mean() or not singles:
            continue
        single = min(singles, key=lambda s: abs(s.u - seen[-1]))
        left = max(float(np.abs(single.multipliers[0])) ** SETTLE, 1e-9)
        worst, count = max(worst, abs(seen[-1] - single.u) / single.u / left), count + 1
    if count == 0:
        return []
    return [
        Check(
            f"{count} simulated motions are on the stable branch",
            value=worst,
            at_most=10.0,
            source=f"distance from the closed form over what {SETTLE} periods leave of a disturbance",
        )
    ]
