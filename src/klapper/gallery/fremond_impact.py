"""Mass at a wall by Frémond's law: heavy bodies stick, light ones rebound.

The wall answers with a percussion against the mean velocity, λ_D = −m₁ (⁺v + ⁻v), and a reaction that prevents
penetration:

    m (⁺v − ⁻v) = λ_N + λ_D,   0 ≤ λ_N ⟂ ⁺v ≥ 0        ⁺v = max(0, (m − m₁)/(m + m₁) ⁻v)

The mass m₁ replaces the coefficient of restitution. A body with m ≥ m₁ stays at the wall; a lighter one comes back with
(m₁ − m)/(m₁ + m) of its speed, without any reaction."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics.impact import FremondImpact

KNOWN = {0.0: 0.0, 0.5: 0.0, 1.0: 0.0, 2.0: 1 / 3, 3.0: 0.5, 9.0: 0.8}
"""Velocities of a mass of 1 kg that hits with 1 m/s, by m₁."""


@example("fremond-impact", source="Waltersberger (2007), Example 3.8")
def fremond_impact(
    *,
    mass: Annotated[float, Parameter("mass of the body", unit="kg", above=0.0)] = 1.0,
    wall_mass: Annotated[float, Parameter("parameter m₁ of the wall", unit="kg", at_least=0.0)] = 3.0,
    speed: Annotated[float, Parameter("speed before the impact", unit="m/s", above=0.0)] = 1.0,
) -> Outcome:
    from klapper.gallery._chain import audit

    impact = _hit(mass, wall_mass, speed)
    rebound = max(0.0, (wall_mass - mass) / (wall_mass + mass))
    percussion = mass * (1.0 + rebound) if wall_mass >= mass else wall_mass
    momentum, energy = mass * speed, 0.5 * mass * speed**2
    checks = [
        Check(
            "velocity after the impact",
            value=impact.after[0],
            expected=rebound * speed,
            tolerance=1e-9 * speed,
            source="max(0, (m₁ − m)/(m₁ + m)) v",
        ),
        Check(
            "percussion against the mean velocity",
            value=impact.dissipative[0],
            expected=percussion * speed,
            tolerance=1e-9 * momentum,
            source="m₁ v, or all of the impulse if the body rebounds",
        ),
        Check(
            "reaction",
            value=impact.reaction[0],
            expected=max(0.0, mass - wall_mass) * speed,
            tolerance=1e-9 * momentum,
            source="(m − m₁) v, none if m₁ ≥ m",
        ),
        Check(
            "energy lost",
            value=impact.audit.dissipated,
            expected=energy * (1.0 - rebound**2),
            tolerance=1e-9 * energy,
            source="closed form; never negative, (3.119)",
        ),
    ]
    if mass == speed == 1.0 and wall_mass in KNOWN:
        checks.append(
            Check(
                "value of the source",
                value=impact.after[0],
                expected=KNOWN[wall_mass],
                tolerance=1e-12,
                source="Ex. 3.8: m₁ = 3 m gives half the speed",
            )
        )
    return Outcome(
        numbers={
            "velocity_after": impact.after[0],
            "restitution": impact.after[0] / speed,
            "reaction": impact.reaction[0],
            "dissipative_percussion": impact.dissipative[0],
            "energy_lost": impact.audit.dissipated,
        },
        units={
            "velocity_after": "m/s",
            "reaction": "N s",
            "dissipative_percussion": "N s",
            "energy_lost": "J",
        },
        checks=checks,
        audit=audit(impact),
        figures={"restitution": partial(_draw, mass=mass, wall_mass=wall_mass, speed=speed)},
    )


def _hit(mass: float, wall_mass: float, speed: float) -> "FremondImpact":
    from klapper.mechanics.impact import Fremond, ImpactProblem

    return Fremond(wall_mass).resolve(ImpactProblem([mass], [-speed], [[1.0]], names=["wall"]))


def _draw(figure: "Figure", *, mass: float, wall_mass: float, speed: float) -> None:
    """Left: restitution over the mass of the wall, closed form (line) and law (dots). Right: the two parts of
    the impulse; from m₁ = m on there is no reaction."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    figure.set_size_inches(9.4, 3.9)
    left, right = figure.subplots(1, 2)
    here = wall_mass / mass
    ratio = np.linspace(0.0, max(10.0, 1.25 * here), 241)
    dots = ratio[::12]
    hits = [_hit(mass, each * mass, speed) for each in dots]
    left.plot(ratio, np.maximum(0.0, (ratio - 1) / (ratio + 1)), color=BLUE)
    left.scatter(dots, [hit.after[0] / speed for hit in hits], s=18, color=BLUE, zorder=4)
    this = _hit(mass, wall_mass, speed)
    left.scatter(
        here, this.after[0] / speed, s=110, facecolor="none", edgecolor=DARK, zorder=5, clip_on=False
    )
    left.annotate("m₁ ≤ m: sticks", (1.0, 0.0), (8, 2), textcoords="offset points", color=DARK, fontsize=10)
    left.set(
        xlabel="mass of the wall m₁ / m",
        ylabel="restitution |⁺v / ⁻v|",
        ylim=(-0.03, 1.03),
        xlim=(0, ratio[-1]),
    )
    left.set_title("rebound")
    rebound = np.maximum(0.0, (ratio - 1) / (ratio + 1))
    percussion, reaction = ratio * (1 - rebound), np.maximum(0.0, 1 - ratio)
    right.stackplot(
        ratio,
        percussion,
        reaction,
        colors=[ORANGE, GREEN],
        alpha=0.55,
        labels=[r"$\lambda_D$ against the mean velocity", r"reaction $\lambda_N$"],
    )
    right.plot(
        dots,
        [hit.normal[0] / (mass * speed) for hit in hits],
        "o",
        color=DARK,
        markersize=4,
        label="sum by the law",
    )
    right.axvline(here, color=DARK, linewidth=0.9, linestyle=":")
    right.set(xlabel="mass of the wall m₁ / m", ylabel="impulse / (m v)", ylim=(0, 2.0), xlim=(0, ratio[-1]))
    right.set_title("impulse")
    right.legend(loc="lower right")
