"""Point in a wedge: the contact laws decide which wall carries.

A point lies in the corner of a floor and a wall inclined by α; a force acts at the angle β from the
downward vertical. Two equations (the point stays) give two tensile forces wherever α < β < 180°; dropping
both walls lets the point penetrate the floor. The inequalities

    0 ≤ λ ⟂ J_Nᵀ M⁻¹ (J_N λ + f) ≥ 0

have exactly one solution: one wall, both, or none.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.complementarity import LinearComplementarity


@example("wedge-point", source="Waltersberger (2007), Example 4.2b")
def wedge_point(
    *,
    alpha_deg: Annotated[
        float, Parameter("angle between floor and wall", unit="degrees", at_least=1.0, at_most=179.0)
    ] = 30.0,
    beta_deg: Annotated[
        float,
        Parameter("angle of the force from straight down", unit="degrees", at_least=-180.0, at_most=180.0),
    ] = 60.0,
    force: Annotated[float, Parameter("force on the point", unit="N", above=0.0)] = 1.0,
    mass: Annotated[float, Parameter("mass of the point", unit="kg", above=0.0)] = 1.0,
) -> Outcome:
    from klapper.complementarity import solve, uniqueness
    from klapper.gallery._audit import audit

    normals, load, problem = _model(alpha_deg, beta_deg, force, mass)
    solution = solve(problem)
    acceleration = (load + normals @ solution.x) / mass
    bilateral = np.linalg.solve(problem.matrix, -problem.offset)
    one_sided, two_sided = closed_form(alpha_deg, beta_deg, force)
    carrying = [name for name, value in zip(problem.names, solution.x, strict=True) if value > 1e-9 * force]
    tolerance = 1e-9 * force / np.sin(np.radians(alpha_deg)) ** 2
    return Outcome(
        numbers={
            "forces": solution.x,
            "carrying": " and ".join(carrying) or "none",
            "acceleration": acceleration,
            "bilateral_forces": bilateral,
        },
        units={"forces": "N", "acceleration": "m/s²", "bilateral_forces": "N"},
        checks=[
            Check(
                "forces",
                value=solution.x,
                expected=one_sided,
                tolerance=tolerance,
                source="closed form by cases",
            ),
            Check(
                "bilateral forces",
                value=bilateral,
                expected=two_sided,
                tolerance=tolerance,
                source="λ = f (sin(α−β), −sin β) / sin α",
            ),
            Check(
                "neither wall is penetrated",
                value=normals.T @ acceleration * mass / force,
                at_least=-1e-9,
                source="Signorini's law",
            ),
        ],
        audit=audit(solution, uniqueness(solution)),
        figures={"forces": partial(_draw, alpha_deg=alpha_deg, beta_deg=beta_deg, force=force, mass=mass)},
    )


def _model(
    alpha_deg: float, beta_deg: float, force: float, mass: float
) -> "tuple[np.ndarray, np.ndarray, LinearComplementarity]":
    from klapper.complementarity import LinearComplementarity

    alpha, beta = np.radians([alpha_deg, beta_deg])
    normals = np.array([[0.0, np.sin(alpha)], [1.0, -np.cos(alpha)]])  # J_N, Waltersberger Ex. 4.2b
    load = force * np.array([np.sin(beta), -np.cos(beta)])
    matrix, offset = normals.T @ normals / mass, normals.T @ load / mass
    return normals, load, LinearComplementarity(matrix, offset, names=["floor", "wall"])


def closed_form(alpha_deg: float, beta_deg: float, force: float) -> tuple[list[float], list[float]]:
    """Forces of floor and wall, and what they would be if both were two-sided."""
    alpha, beta = np.radians([alpha_deg, beta_deg])
    two_sided = [force * np.sin(alpha - beta) / np.sin(alpha), -force * np.sin(beta) / np.sin(alpha)]
    into_floor, into_wall = force * np.cos(beta), -force * np.cos(alpha - beta)
    if into_floor <= 0 and into_wall <= 0:
        return [0.0, 0.0], two_sided  # the force points into the free sector
    if into_floor > 0 and np.sin(beta) >= 0:
        return [into_floor, 0.0], two_sided  # the point slides along the floor
    if into_wall > 0 and np.sin(beta - alpha) >= 0:
        return [0.0, into_wall], two_sided  # the point slides up the wall
    return two_sided, two_sided  # the point stays


def _draw(figure: "Figure", *, alpha_deg: float, beta_deg: float, force: float, mass: float) -> None:
    """The point with its load (blue) and the wall forces (orange); right: the wall forces for every
    direction of the load, one-sided (solid) and two-sided (dashed)."""
    figure.set_size_inches(10.0, 4.0)
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.25])
    _draw_point(left, alpha_deg, beta_deg, force, mass)
    _draw_sweep(right, alpha_deg, beta_deg, force, mass)


def _draw_point(axes: "Axes", alpha_deg: float, beta_deg: float, force: float, mass: float) -> None:
    from klapper.complementarity import solve
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE, arrow, bare, label, wall

    normals, load, problem = _model(alpha_deg, beta_deg, force, mass)
    reactions = solve(problem).x
    alpha = np.radians(alpha_deg)
    along = np.array([np.cos(alpha), np.sin(alpha)])
    wall(axes, (0.0, 0.0), (1.5, 0.0), (0.0, -0.12))
    wall(axes, (0.0, 0.0), 1.5 * along, -0.12 * normals[:, 1])
    arc = np.linspace(0.0, alpha, 40)
    axes.plot(0.45 * np.cos(arc), 0.45 * np.sin(arc), color=GREY, linewidth=1.0)
    label(axes, (0.6 * np.cos(alpha / 2), 0.6 * np.sin(alpha / 2)), "α", GREY)
    axes.plot([0, 0], [-0.05, -1.15], color=GREY, linewidth=1.0, linestyle=":")
    arc = np.linspace(-np.pi / 2, -np.pi / 2 + np.radians(beta_deg), 40)
    axes.plot(0.75 * np.cos(arc), 0.75 * np.sin(arc), color=GREY, linewidth=1.0)
    middle = -np.pi / 2 + np.radians(beta_deg) / 2
    label(axes, (0.9 * np.cos(middle), 0.9 * np.sin(middle)), "β", GREY)
    unit = max(force, float(reactions.max()))
    motion = (load + normals @ reactions) / unit
    arrow(axes, (0, 0), motion, GREEN, width=4.0, alpha=0.55)
    arrow(axes, (0, 0), load / unit, BLUE)
    for k, name in enumerate(("floor", "wall")):
        vector = normals[:, k] * reactions[k] / unit
        if np.hypot(*vector) > 1e-6:
            arrow(axes, (0, 0), vector, ORANGE)
            label(axes, vector * (1 + 0.14 / np.hypot(*vector)), name, ORANGE)
    axes.scatter(0, 0, s=70, color=DARK, zorder=8)
    legend = [("load", BLUE), ("wall force", ORANGE), ("mass × acceleration", GREEN)]
    for k, (word, color) in enumerate(legend):
        axes.text(-1.6, -1.12 - 0.19 * k, word, color=color)
    bare(axes, (-1.65, 1.65), (-1.6, 1.55))


def _draw_sweep(axes: "Axes", alpha_deg: float, beta_deg: float, force: float, mass: float) -> None:
    from klapper.complementarity import solve
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    angles = np.linspace(-180.0, 180.0, 361)
    one_sided = np.array([solve(_model(alpha_deg, beta, force, mass)[2]).x for beta in angles])
    two_sided = np.array([closed_form(alpha_deg, beta, force)[1] for beta in angles])
    limit = 1.25 * max(float(one_sided.max()), force)
    two_sided[np.abs(two_sided) > limit] = np.nan
    here = solve(_model(alpha_deg, beta_deg, force, mass)[2]).x
    for k, (name, color) in enumerate((("floor", BLUE), ("wall", ORANGE))):
        axes.plot(angles, two_sided[:, k], color=color, linestyle="--", linewidth=1.1)
        axes.plot(angles, one_sided[:, k], color=color, label=name)
        axes.scatter(beta_deg, here[k], color=color, edgecolor="white", s=60, zorder=6)
    axes.axvline(beta_deg, color=DARK, linewidth=0.8, linestyle=":")
    axes.axhline(0.0, color=DARK, linewidth=0.8)
    axes.set_title(f"wall forces for α = {alpha_deg:g}° (dashed: two-sided)")
    axes.set(
        xlabel="angle β of the load / degrees", ylabel="force / N", xlim=(-180, 180), ylim=(-limit, limit)
    )
    axes.set_xticks(range(-180, 181, 60))
    axes.legend(loc="upper right")
