"""Row of three masses: what laws for all contacts at once cannot do.

Mass 1 hits mass 2, which touches mass 3. In reality mass 3 flies off with the speed of mass 1 and the others rest
(ε = 1, equal masses). Newton's law (3.98) opens a closed contact only without impulse in it: masses 2 and 3 stay
together. Poisson's law (5.11), (5.13) opens it for e₂ > e₁, but never further than half of what is wanted:

    equal masses:   ⁺v₃ − ⁺v₂ = 0,  ⅔ (e₂ − e₁) v,  ½ e₂ v    for  e₂ ≤ e₁,  e₁ ≤ e₂ ≤ 4 e₁,  e₂ ≥ 4 e₁

Fast impacts in sequence (Scheme 5.3) pass the velocity on. (The text of Ex. 5.1 exchanges its two values of ε.)
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KNOWN = {
    ("newton", 1.0): (-1 / 3, 2 / 3, 2 / 3),
    ("newton", 0.5): (0.0, 0.5, 0.5),
    ("newton", 0.0): (1 / 3, 1 / 3, 1 / 3),
    ("sequential", 1.0): (0.0, 0.0, 1.0),
    ("sequential", 0.5): (0.203125, 0.234375, 0.5625),
}
"""Velocities of equal masses per speed, for one coefficient, Waltersberger Ex. 5.1 and 5.4."""


@example("mass-row", source="Waltersberger (2007), Examples 5.1, 5.2 and 5.4, Figs 5.2-5.8")
def mass_row(
    *,
    masses: Annotated[
        tuple[float, float, float], Parameter("the three masses, the moving one first", unit="kg", above=0.0)
    ] = (1.0, 1.0, 1.0),
    speed: Annotated[float, Parameter("speed of mass 1", unit="m/s", above=0.0)] = 1.0,
    restitution: Annotated[
        tuple[float, float],
        Parameter("coefficients of the contacts 1-2 and 2-3", at_least=0.0, at_most=1.0),
    ] = (0.5, 0.5),
) -> Outcome:
    from klapper.gallery._chain import LAWS, SOURCES, TITLES, audit, chain, expected_velocities, resolve

    before = [speed, 0.0, 0.0]
    impacts = {law: resolve(law, chain(masses, before, restitution)) for law in LAWS}
    after = {law: impact.after for law, impact in impacts.items()}
    grid = np.linspace(0.0, 1.0, 21)
    surfaces = _surfaces(masses, speed, grid)
    expected = np.array([[_opening(masses, speed, (a, b)) for b in grid] for a in grid])
    momentum = masses[0] * speed
    checks = [
        Check(
            f"velocities, {TITLES[law]}",
            value=after[law],
            expected=expected_velocities(law, impacts[law]),
            tolerance=1e-7 * speed,
            source=SOURCES[law],
        )
        for law in LAWS
    ]
    checks += [
        Check(
            "momentum",
            value=[float(np.dot(masses, velocity)) for velocity in after.values()],
            expected=momentum,
            tolerance=1e-12 * momentum,
            source="conservation",
        ),
        Check(
            "no law gains energy",
            value=[impact.audit.energy_after / impact.audit.energy_before for impact in impacts.values()],
            at_most=1.0 + 1e-12,
            source="(3.118)",
        ),
        Check(
            "surfaces by Poisson's law, largest error",
            value=float(np.abs(surfaces - expected).max()) / speed,
            expected=0.0,
            tolerance=1e-9,
            source="closed form by cases on a grid of 21 × 21",
        ),
    ]
    if len(set(masses)) == 1:
        checks.append(
            Check(
                "furthest opening of contact 2-3 by Poisson's law",
                value=surfaces[..., 1].max() / speed,
                expected=0.5,
                tolerance=1e-9,
                source="Ex. 5.2: no pair (e₁, e₂) gives ⁺v₃ − ⁺v₂ = v",
            )
        )
        checks += [
            Check(
                f"printed velocities, {TITLES[law]}",
                value=after[law] / speed,
                expected=KNOWN[law, restitution[0]],
                tolerance=1e-9,
                source="Waltersberger Ex. 5.1, 5.4",
            )
            for law in ("newton", "sequential")
            if (law, restitution[0]) in KNOWN and restitution[0] == restitution[1]
        ]
    return Outcome(
        numbers={
            **{f"velocities_{law}": velocity for law, velocity in after.items()},
            **{f"impulses_{law}": impact.normal for law, impact in impacts.items()},
            **{f"energy_lost_{law}": impact.audit.dissipated for law, impact in impacts.items()},
            "fast_impacts": len(impacts["sequential"].stages),
            "sequence_finished": not impacts["sequential"].remaining.any(),
            "poisson_largest_opening_2_3": surfaces[..., 1].max(),
        },
        units={
            **{f"velocities_{law}": "m/s" for law in LAWS},
            **{f"impulses_{law}": "N s" for law in LAWS},
            **{f"energy_lost_{law}": "J" for law in LAWS},
            "poisson_largest_opening_2_3": "m/s",
        },
        checks=checks,
        audit={
            **{TITLES[law]: audit(impact) for law, impact in impacts.items()},
            "uniqueness": "Motion after the impact: "
            + ", ".join(f"{impact.unique.motion} by {impact.law}" for impact in impacts.values()),
        },
        figures={
            "positions": partial(_draw_positions, speed=speed, after=after),
            "surfaces": partial(_draw_surfaces, masses=masses, speed=speed, here=restitution),
        },
    )


def _surfaces(masses: tuple[float, float, float], speed: float, grid: np.ndarray) -> np.ndarray:
    """⁺v₂ − ⁺v₁ and ⁺v₃ − ⁺v₂ (k, k, 2) by Poisson's law over e₁ (rows) and e₂ (columns)."""
    from klapper.gallery._chain import chain
    from klapper.mechanics.impact import Poisson

    law, before = Poisson(), [speed, 0.0, 0.0]
    return np.array(
        [[law.resolve(chain(masses, before, (a, b))).normal_velocity for b in grid] for a in grid]
    )


def _opening(masses: tuple[float, float, float], speed: float, e: tuple[float, float]) -> tuple[float, float]:
    """The same by cases: contact 1-2, or 2-3, or both open; m₁ v/Σm is the velocity of greatest compression."""
    m1, m2, m3 = masses
    together = m1 * speed / (m1 + m2 + m3)
    push = e[0] * (m2 + m3) * together, e[1] * m3 * together
    first = (1 / m1 + 1 / m2) * push[0] - push[1] / m2
    second = (1 / m2 + 1 / m3) * push[1] - push[0] / m2
    if first < 0.0:
        return 0.0, push[1] * (1 / m3 + 1 / (m1 + m2))  # masses 1 and 2 as one body
    if second < 0.0:
        return push[0] * (1 / m1 + 1 / (m2 + m3)), 0.0
    return first, second


def _draw_positions(figure: "Figure", *, speed: float, after: dict[str, np.ndarray]) -> None:
    """Positions before and after the impact at t = 0 by the three laws. Neighbours touch while their lines are
    0.25 m apart."""
    from klapper.gallery._chain import TITLES
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    figure.set_size_inches(9.8, 3.9)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    offset = np.array([0.0, 0.25, 0.5])
    for axes, (law, velocity) in zip(panels, after.items(), strict=True):
        for k, color in enumerate((BLUE, ORANGE, GREEN)):
            arriving = speed if k == 0 else 0.0
            place = offset[k] + np.array([-arriving / speed, 0.0, velocity[k] / speed])
            axes.plot([-1.0, 0.0, 1.0], place, color=color, label=f"mass {k + 1}", linewidth=2.2)
            axes.annotate(
                f"{velocity[k]:.3f}",
                (1.0, place[-1]),
                (4, 0),
                textcoords="offset points",
                color=color,
                va="center",
                fontsize=9,
            )
        axes.axvline(0.0, color=DARK, linewidth=0.8, linestyle=":")
        axes.set_title(TITLES[law])
        axes.set(xlabel="time × speed / m", xlim=(-1.05, 1.45))
    panels[0].set_ylabel("position / m")
    panels[0].legend(loc="upper left")
    figure.supxlabel("numbers: velocities after the impact in m/s", fontsize=10, color=DARK)


def _draw_surfaces(
    figure: "Figure", *, masses: tuple[float, float, float], speed: float, here: tuple[float, float]
) -> None:
    """Opening speeds after the impact by Poisson's law over both coefficients (Figs 5.4 and 5.5); dashed: where
    another contact begins to open. The circle is this run."""
    figure.set_size_inches(9.8, 4.3)
    grid = np.linspace(0.0, 1.0, 41)
    surfaces = _surfaces(masses, speed, grid) / speed
    titles = ("mass 2 from mass 1,  (⁺v₂ − ⁺v₁)/v", "mass 3 from mass 2,  (⁺v₃ − ⁺v₂)/v")
    for k, axes in enumerate(figure.subplots(1, 2)):
        _draw_surface(figure, axes, grid, surfaces[..., k])
        _draw_borders(axes, masses)
        axes.scatter(
            *here, s=90, facecolor="white", edgecolor="#333333", linewidth=1.5, zorder=6, clip_on=False
        )
        axes.set_title(titles[k])


def _draw_surface(figure: "Figure", axes: "Axes", grid: np.ndarray, values: np.ndarray) -> None:
    from matplotlib.ticker import MaxNLocator

    height = np.maximum(values.T, 0.0)
    levels = MaxNLocator(10).tick_values(0.0, max(float(height.max()), 1e-6))
    areas = axes.contourf(grid, grid, height, levels=levels)
    axes.contour(grid, grid, height, levels=levels[1:-1], colors="white", linewidths=0.5)
    figure.colorbar(areas, ax=axes, format="%.3g")
    axes.set(xlabel="e₁ (contact 1-2)", ylabel="e₂ (contact 2-3)", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    axes.grid(False)


def _draw_borders(axes: "Axes", masses: tuple[float, float, float]) -> None:
    """e₂/e₁ at which contact 2-3 begins to open, always 1, and contact 1-2 ceases to, 4 for equal masses."""
    m1, m2, m3 = masses
    for slope in (1.0, (m1 + m2) * (m2 + m3) / (m1 * m3)):
        end = min(1.0, 1.0 / slope)
        axes.plot([0.0, end], [0.0, slope * end], color="white", linestyle="--", linewidth=1.6)
