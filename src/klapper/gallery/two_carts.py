"""Two carts at a stop: which contact takes part in the impact.

Cart 1 rolls on cart 2 and leans against its post A. Cart 2 hits the stop B, plastically. Both contacts are
closed, but if each is taken as an equation (no velocity after the impact), post A has to pull. As
inequalities

    M (⁺v − ⁻v) = J Λ,   0 ≤ Λ ⟂ Jᵀ ⁺v ≥ 0

the laws decide by themselves: with B on the right cart 1 rolls on, with B on the left post A holds it.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@example("two-carts", source="Waltersberger (2007), Example 1.1b")
def two_carts(
    *,
    mass_1: Annotated[float, Parameter("mass of the cart on top", unit="kg", above=0.0)] = 1.0,
    mass_2: Annotated[float, Parameter("mass of the cart below", unit="kg", above=0.0)] = 1.0,
    approach_speed: Annotated[float, Parameter("speed before the impact", unit="m/s", above=0.0)] = 1.0,
    side: Annotated[
        Literal["right", "left"], Parameter("side of the stop B; post A is left of cart 1")
    ] = "right",
) -> Outcome:
    from klapper.complementarity import LinearComplementarity, solve, uniqueness
    from klapper.gallery._audit import audit

    towards_stop = 1.0 if side == "right" else -1.0
    mass = np.array([mass_1, mass_2])
    before = towards_stop * approach_speed * np.ones(2)
    directions = np.array([[1.0, 0.0], [-1.0, -towards_stop]])  # columns: A opens with v₁ − v₂, B with ∓v₂
    delassus = directions.T @ (directions / mass[:, None])
    solution = solve(LinearComplementarity(delassus, directions.T @ before, names=["A", "B"]))
    impulse = solution.x
    after = before + directions @ impulse / mass
    energy_lost = 0.5 * mass @ (before**2 - after**2)
    glued = np.linalg.solve(delassus, -directions.T @ before)

    momentum = mass * approach_speed
    if side == "right":
        expected_impulse, expected_after = [0.0, momentum[1]], [approach_speed, 0.0]
        expected_loss = 0.5 * momentum[1] * approach_speed
    else:
        expected_impulse, expected_after = [momentum[0], momentum.sum()], [0.0, 0.0]
        expected_loss = 0.5 * momentum.sum() * approach_speed
    small = 1e-9 * momentum.sum()
    return Outcome(
        numbers={
            "impulse_a": impulse[0],
            "impulse_b": impulse[1],
            "velocity_1_after": after[0],
            "velocity_2_after": after[1],
            "opening_speed_a": after[0] - after[1],
            "energy_lost": energy_lost,
            "impulse_a_if_both_stay_closed": glued[0],
        },
        units={
            "impulse_a": "N s",
            "impulse_b": "N s",
            "velocity_1_after": "m/s",
            "velocity_2_after": "m/s",
            "opening_speed_a": "m/s",
            "energy_lost": "J",
            "impulse_a_if_both_stay_closed": "N s",
        },
        checks=[
            Check(
                "impulses", value=impulse, expected=expected_impulse, tolerance=small, source="closed form"
            ),
            Check(
                "velocities after the impact",
                value=after,
                expected=expected_after,
                tolerance=1e-9 * approach_speed,
                source="closed form",
            ),
            Check(
                "energy lost",
                value=energy_lost,
                expected=expected_loss,
                tolerance=small * approach_speed,
                source="kinetic energy of what is stopped",
            ),
            Check(
                "post A as an equation",
                value=glued[0],
                expected=-towards_stop * momentum[0],
                tolerance=small,
                source="closed form; negative is a pull that no post can exert",
            ),
        ],
        audit=audit(solution, uniqueness(solution)),
        figures={"impact": partial(_draw, before=before, after=after, impulse=impulse, side=side)},
    )


def _draw(figure: "Figure", *, before: np.ndarray, after: np.ndarray, impulse: np.ndarray, side: str) -> None:
    """Velocities (blue) before and after the impact, and the impulses on the carts (orange) between."""
    figure.set_size_inches(8.6, 2.7)
    left, right = figure.subplots(1, 2)
    nothing = np.zeros(2)
    _draw_carts(left, "before", before, nothing, side, abs(before[0]))
    _draw_carts(right, "after", after, impulse, side, abs(before[0]))


def _draw_carts(
    axes: "Axes", title: str, velocity: np.ndarray, impulse: np.ndarray, side: str, speed: float
) -> None:
    from klapper.gallery._sketch import BLUE, BODY, DARK, ORANGE, arrow, bare, wall

    mirror = 1.0 if side == "right" else -1.0
    axes.set_title(f"{title} the impact")
    wall(axes, (-3.2, 0.0), (3.2, 0.0), (0.0, -0.25))
    wall(axes, (2.2 * mirror, 0.0), (2.2 * mirror, 1.9), (0.3 * mirror, 0.0))
    axes.fill([-2.2, 2.2, 2.2, -2.2], [0.35, 0.35, 0.8, 0.8], facecolor=BODY, edgecolor=DARK, zorder=3)
    axes.fill([-1.1, -0.9, -0.9, -1.1], [0.8, 0.8, 1.95, 1.95], facecolor=BODY, edgecolor=DARK, zorder=3)
    axes.fill([-0.9, 0.6, 0.6, -0.9], [1.1, 1.1, 1.8, 1.8], facecolor="#F6E3D4", edgecolor=DARK, zorder=3)
    for x, y, size in [(-1.6, 0.18, 80), (1.6, 0.18, 80), (-0.6, 0.95, 50), (0.3, 0.95, 50)]:
        axes.scatter(x, y, s=size, facecolor="white", edgecolor=DARK, linewidth=1.4, zorder=4)
    axes.text(-1.0, 2.06, "A", ha="center")
    axes.text(2.35 * mirror, 2.02, "B", ha="center")
    axes.text(-0.15, 1.57, "1", ha="center", va="center", zorder=5)
    axes.text(0.0, 0.57, "2", ha="center", va="center", zorder=5)

    for v, x, y in ((velocity[0], -0.05, 2.3), (velocity[1], 1.35, 1.15)):
        length = 1.1 * v / speed
        if abs(v) > 1e-9 * speed:
            arrow(axes, (x - length / 2, y), (length, 0.0), BLUE)
            axes.text(x, y + 0.15, f"{abs(v):.3g} m/s", color=BLUE, ha="center")
        else:
            axes.text(x, y, "at rest", color=BLUE, ha="center", va="center")
    largest = impulse.max(initial=0.0)
    stop = 2.2 * mirror
    places = (((-0.9, 1.27), 1.0, (-1.17, 1.27), "right"), ((stop, 0.47), -mirror, (stop, -0.55), "center"))
    for value, (start, sense, text, aligned) in zip(impulse, places, strict=True):
        if value > 1e-9 * largest:
            arrow(axes, start, (sense * (0.35 + 0.75 * value / largest), 0.0), ORANGE, front=7)
            axes.text(*text, f"{value:.3g} N s", color=ORANGE, ha=aligned, va="center")
    bare(axes, (-3.3, 3.3), (-0.75, 2.75))
