"""Two stops at once: one plastic, one elastic, and a cart that hits both.

Newton's law as equations asks for two velocities after the impact, ε₁ v and ε₂ v, and has no solution. As inequalities

    m (⁺v − ⁻v) = Λ₁ + Λ₂,   0 ≤ Λ_i ⟂ ⁺v + ε_i ⁻v ≥ 0

it has one: the livelier stop takes the whole impulse, ⁺v = max(ε₁, ε₂) v. Poisson's law has many: nothing says how the
stops share the compression, and only its share of it comes back with e_i.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics.impact import ImpactProblem

_CLEARLY = 1e-3


@example("two-stops", source="Waltersberger (2007), Example 1.1c")
def two_stops(
    *,
    mass: Annotated[float, Parameter("mass of the cart", unit="kg", above=0.0)] = 1.0,
    speed: Annotated[float, Parameter("speed before the impact", unit="m/s", above=0.0)] = 1.0,
    restitution: Annotated[
        tuple[float, float], Parameter("coefficients of both stops", at_least=0.0, at_most=1.0)
    ] = (0.0, 1.0),
) -> Outcome:
    from klapper.gallery._chain import audit
    from klapper.mechanics.impact import Newton, Poisson

    problem = _cart(mass, speed, restitution)
    newton, poisson = Newton().resolve(problem), Poisson().resolve(problem)
    livelier, duller = max(restitution), min(restitution)
    total = mass * speed * (1.0 + livelier)
    checks = [
        Check(
            "velocity after the impact",
            value=newton.after[0],
            expected=livelier * speed,
            tolerance=1e-12 * speed,
            source="max(ε₁, ε₂) v",
        ),
        Check(
            "sum of the impulses",
            value=newton.normal.sum(),
            expected=total,
            tolerance=1e-12 * total,
            source="momentum",
        ),
        Check(
            "energy lost",
            value=newton.audit.dissipated,
            expected=0.5 * mass * speed**2 * (1.0 - livelier**2),
            tolerance=1e-12 * mass * speed**2,
            source="closed form",
        ),
        Check(
            "Poisson's law stays between the stops",
            value=poisson.after[0] / speed,
            at_least=duller - 1e-12,
            at_most=livelier + 1e-12,
            source="⁺v = (s e₁ + (1 − s) e₂) v with any share 0 ≤ s ≤ 1",
        ),
    ]
    if livelier - duller > _CLEARLY:
        taking = np.where(np.array(restitution) == livelier, total, 0.0)
        checks += [
            Check(
                "impulses",
                value=newton.normal,
                expected=taking,
                tolerance=1e-9 * total,
                source="the livelier stop takes all",
            ),
            Check(
                "motion by Poisson's law",
                value=poisson.unique.motion,
                expected="not unique",
                source="the shares of the compression are open, and e₁ ≠ e₂",
            ),
        ]
    elif livelier == duller:
        checks.append(
            Check(
                "impulses by Newton's law",
                value=newton.unique.forces,
                expected="not unique",
                source="two equal stops share as they like",
            )
        )
    return Outcome(
        numbers={
            "velocity_after": newton.after[0],
            "impulses": newton.normal,
            "energy_lost": newton.audit.dissipated,
            "velocities_wanted_by_equations": [speed * coefficient for coefficient in restitution],
            "poisson_velocity": poisson.after[0],
            "poisson_motion": poisson.unique.motion,
        },
        units={
            "velocity_after": "m/s",
            "impulses": "N s",
            "energy_lost": "J",
            "velocities_wanted_by_equations": "m/s",
            "poisson_velocity": "m/s",
        },
        checks=checks,
        audit={**audit(newton), "Poisson": audit(poisson)},
        figures={"impact": partial(_draw, mass=mass, speed=speed, restitution=restitution)},
    )


def _cart(mass: float, speed: float, restitution: tuple[float, float]) -> "ImpactProblem":
    from klapper.mechanics.impact import ImpactProblem

    names = ["stop 1", "stop 2"]
    return ImpactProblem([mass], [-speed], [[1.0, 1.0]], restitution=restitution, names=names)


def _draw(figure: "Figure", *, mass: float, speed: float, restitution: tuple[float, float]) -> None:
    """Left: the cart at both stops with its velocities (blue) and the impulses by Newton's law (orange). Right: the
    velocity after the impact over the coefficient of stop 2, by Newton's law (line) and as far as Poisson's law
    determines it (area)."""
    figure.set_size_inches(9.6, 3.9)
    sketch, chart = figure.subplots(1, 2, width_ratios=[1.0, 1.2])
    _draw_cart(sketch, mass, speed, restitution)
    _draw_chart(chart, mass, speed, restitution)


def _draw_cart(axes: "Axes", mass: float, speed: float, restitution: tuple[float, float]) -> None:
    from klapper.gallery._sketch import BLUE, BODY, DARK, GREY, ORANGE, arrow, bare, wall
    from klapper.mechanics.impact import Newton

    impact = Newton().resolve(_cart(mass, speed, restitution))
    wall(axes, (-1.6, 0.0), (3.6, 0.0), (0.0, -0.22))
    wall(axes, (-1.0, 0.0), (-1.0, 2.4), (-0.25, 0.0))
    axes.fill([0.0, 1.9, 1.9, 0.0], [0.35, 0.35, 2.0, 2.0], facecolor=BODY, edgecolor=DARK, zorder=3)
    for x in (0.4, 1.5):
        axes.scatter(x, 0.18, s=80, facecolor="white", edgecolor=DARK, linewidth=1.4, zorder=4)
    largest = impact.normal.max()
    for height, coefficient, push, k in zip((1.65, 0.75), restitution, impact.normal, (1, 2), strict=True):
        axes.fill(
            [-1.0, 0.0, 0.0, -1.0],
            height + 0.13 * np.array([-1, -1, 1, 1]),
            facecolor="#F6E3D4",
            edgecolor=DARK,
        )
        axes.text(-1.4, height, f"stop {k}\nε = {coefficient:.3g}", ha="right", va="center", fontsize=10)
        if push > 1e-9 * largest:
            arrow(axes, (0.0, height), (0.3 + 0.6 * push / largest, 0.0), ORANGE, front=6)
            axes.text(1.0, height, f"{push:.3g} N s", color=ORANGE, va="center", fontsize=10, zorder=6)
    after = impact.after[0]
    arrow(axes, (1.9, 2.35), (-1.2, 0.0), GREY)
    axes.text(2.0, 2.35, f"before {speed:.3g} m/s", color=GREY, va="center", fontsize=10)
    if after > 1e-9 * speed:
        arrow(axes, (2.0, 1.2), (0.35 + 0.85 * after / speed, 0.0), BLUE)
    axes.text(
        2.0, 0.85, f"after {after:.3g} m/s" if after > 1e-9 * speed else "at rest", color=BLUE, fontsize=10
    )
    bare(axes, (-2.7, 3.8), (-0.3, 2.7))


def _draw_chart(axes: "Axes", mass: float, speed: float, restitution: tuple[float, float]) -> None:
    from klapper.gallery._sketch import BLUE, DARK, GREEN
    from klapper.mechanics.impact import Newton

    grid = np.linspace(0.0, 1.0, 41)
    first = restitution[0]
    after = [Newton().resolve(_cart(mass, speed, (first, second))).after[0] for second in grid]
    axes.fill_between(
        grid,
        speed * np.minimum(first, grid),
        speed * np.maximum(first, grid),
        color=GREEN,
        alpha=0.2,
        linewidth=0,
        label="Poisson: anything in between",
    )
    axes.plot(grid, after, color=BLUE, label="Newton, one-sided: the larger", linewidth=2.4)
    axes.plot(
        grid,
        np.full_like(grid, speed * first),
        color=DARK,
        linestyle="--",
        linewidth=1.0,
        label="equation of stop 1",
    )
    axes.plot(grid, speed * grid, color=DARK, linestyle=":", linewidth=1.4, label="equation of stop 2")
    here = Newton().resolve(_cart(mass, speed, restitution)).after[0]
    axes.scatter(restitution[1], here, s=80, color=BLUE, edgecolor="white", zorder=5, clip_on=False)
    axes.set(
        xlabel="coefficient of stop 2",
        ylabel="velocity after the impact / (m/s)",
        xlim=(0, 1),
        ylim=(-0.04 * speed, 1.45 * speed),
    )
    axes.legend(loc="upper left", fontsize=9, ncols=1)
    axes.set_title(f"stop 1 with ε = {first:.3g}")
