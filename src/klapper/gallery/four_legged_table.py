"""Four-legged table: forces that statics leaves open, and their bounds.

A rigid table on four legs has three equations of equilibrium and four forces. What is determined are the
bounds: with ξ and η the place of the load between the legs (−1 to 1) and s, t = ±1 the corner of a leg,

    F = W (1 + s ξ)(1 + t η)/4 + τ (1, −1, 1, −1),   F ≥ 0

and every τ that keeps all forces non-negative is a solution. If the load leaves the square of the legs, the
table tips."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGS = ("A", "B", "C", "D")
CORNERS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
ALTERNATING = np.array([1.0, -1.0, 1.0, -1.0])
GRAVITY = 9.81


@example("four-legged-table", source="a classic of statics; undetermined combinations as in Seiwald")
def four_legged_table(
    *,
    weight: Annotated[float, Parameter("weight of table and load", unit="N", above=0.0)] = 100.0,
    load_x: Annotated[float, Parameter("place of the centre of gravity, from the middle", unit="m")] = 0.1,
    load_y: Annotated[float, Parameter("place of the centre of gravity, from the middle", unit="m")] = 0.2,
    leg_spacing: Annotated[float, Parameter("distance of neighbouring legs", unit="m", above=0.0)] = 1.0,
    gyration_radius: Annotated[
        float, Parameter("radius of gyration, matters only when the table tips", unit="m", above=0.0)
    ] = 0.4,
) -> Outcome:
    from klapper.complementarity import LinearComplementarity, solve, uniqueness
    from klapper.gallery._audit import audit

    mass = weight / GRAVITY
    half = 0.5 * leg_spacing
    arms = CORNERS * half - np.array([load_x, load_y])
    directions = np.column_stack([np.ones(4), arms])  # (4, 3): vertical, two tilts
    inverse_inertia = np.array([1.0, gyration_radius**-2, gyration_radius**-2]) / mass
    problem = LinearComplementarity(
        directions * inverse_inertia @ directions.T, -GRAVITY * np.ones(4), names=LEGS
    )
    solution = solve(problem)
    answer = uniqueness(solution)
    stands = bool(solution.y.max() <= 1e-9 * GRAVITY)

    place = np.array([load_x, load_y]) / half
    lower, upper = closed_form(weight, place, half, gyration_radius)
    closeness = np.abs(np.abs(place) - 1.0).min()
    checks = [
        Check(
            "weight carried",
            value=float(solution.x.sum()),
            expected=weight / (1.0 + _overhang(place, half) ** 2 / gyration_radius**2),
            tolerance=1e-9 * weight,
            source="equilibrium, or the free fall about the legs that stay",
        ),
        Check(
            "least forces", value=answer.lower, expected=lower, tolerance=1e-7 * weight, source="closed form"
        ),
        Check(
            "greatest forces",
            value=answer.upper,
            expected=upper,
            tolerance=1e-7 * weight,
            source="closed form",
        ),
    ]
    if closeness > 1e-9:
        checks.append(
            Check(
                "table stands",
                value=stands,
                expected=bool(np.abs(place).max() < 1),
                source="load between the legs",
            )
        )
    if stands and closeness > 1e-9:
        checks.append(
            Check(
                "undetermined combination",
                value=answer.null_space[:, 0] * np.sign(answer.null_space[0, 0]),
                expected=ALTERNATING,
                tolerance=1e-9,
                source="closed form: opposite legs up, the other two down",
            )
        )
    feet = [leg for leg, force in zip(LEGS, solution.x, strict=True) if force > 1e-9 * weight]
    verdict = "stands" if stands else f"tips over {' and '.join(feet)}"
    return Outcome(
        numbers={
            "verdict": verdict,
            "forces": solution.x,
            "force_min": answer.lower,
            "force_max": answer.upper,
            "undetermined_combination": answer.null_space[:, 0] if answer.null_space.size else None,
            "leg_accelerations": np.where(np.abs(solution.y) > 1e-12 * GRAVITY, solution.y, 0.0),
        },
        units={"forces": "N", "force_min": "N", "force_max": "N", "leg_accelerations": "m/s²"},
        checks=checks,
        audit=audit(solution, answer),
        figures={
            "forces": partial(
                _draw,
                verdict=verdict,
                forces=solution.x,
                lower=answer.lower,
                upper=answer.upper,
                place=place,
                half=half,
            )
        },
    )


def closed_form(
    weight: float, place: np.ndarray, half: float, gyration_radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest force (4,) of every leg; equal when the table tips."""
    inside = np.clip(place, -1.0, 1.0)
    carried = weight / (1.0 + _overhang(place, half) ** 2 / gyration_radius**2)
    middle = carried * np.prod(1.0 + CORNERS * inside, axis=1) / 4
    down, up = min(middle[0], middle[2]), min(middle[1], middle[3])  # −down ≤ τ ≤ up
    ends = np.array([middle - down * ALTERNATING, middle + up * ALTERNATING])
    return ends.min(axis=0), ends.max(axis=0)


def _overhang(place: np.ndarray, half: float) -> float:
    """Distance of the load from the square of the legs."""
    return float(half * np.linalg.norm(np.maximum(np.abs(place) - 1.0, 0.0)))


def _draw(
    figure: "Figure",
    *,
    verdict: str,
    forces: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    place: np.ndarray,
    half: float,
) -> None:
    """Plan of the table with the load, and the forces that each leg may carry (bars) with one selected
    solution (dots)."""
    figure.set_size_inches(8.6, 3.8)
    plan, bars = figure.subplots(1, 2, width_ratios=[1.0, 1.35])
    _draw_plan(plan, verdict, place, half, forces)
    _draw_bars(bars, forces, lower, upper)


def _draw_plan(axes: "Axes", verdict: str, place: np.ndarray, half: float, forces: np.ndarray) -> None:
    from klapper.gallery._sketch import BODY, DARK, GREY, ORANGE, label

    x, y = half * np.array([1.12, -1.12, -1.12, 1.12]), half * np.array([1.12, 1.12, -1.12, -1.12])
    axes.fill(x, y, facecolor=BODY, edgecolor=DARK)
    axes.plot(*(half * CORNERS[[0, 1, 2, 3, 0]].T), color=GREY, linestyle="--", linewidth=1.0)
    for leg, corner, force in zip(LEGS, CORNERS * half, forces, strict=True):
        loaded = force > 1e-9 * forces.max()
        filling = DARK if loaded else "white"
        axes.plot(*corner, marker="s", markersize=11, markerfacecolor=filling, color=DARK, zorder=4)
        label(axes, 0.86 * corner, leg, DARK)
    load = place * half
    axes.plot(*load, marker="X", markersize=13, color=ORANGE, markeredgecolor="white", zorder=5)
    label(axes, (load[0], load[1] + 0.15 * half), "load", ORANGE)
    axes.set(xlabel="x / m", ylabel="y / m", title=verdict)
    axes.set_aspect("equal", adjustable="datalim")


def _draw_bars(axes: "Axes", forces: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    from klapper.gallery._sketch import BLUE, ORANGE

    positions = np.arange(4)
    top = 1.2 * upper.max()
    axes.bar(
        positions, np.maximum(upper - lower, 0.006 * top), bottom=lower, width=0.5, color=BLUE, alpha=0.35
    )
    axes.scatter(positions, forces, color=ORANGE, zorder=5, label="selected solution")
    for k in positions:
        unique = upper[k] - lower[k] <= 1e-6 * top
        text = f"{upper[k]:.4g} N" if unique else f"{lower[k]:.4g} … {upper[k]:.4g} N"
        axes.annotate(text, (k, upper[k]), (0, 7), textcoords="offset points", ha="center", fontsize=10)
    axes.set_xticks(positions, [f"leg {leg}" for leg in LEGS])
    axes.set(ylabel="force / N", ylim=(-0.03 * top, top), title="possible leg forces")
    axes.grid(False, axis="x")
    axes.legend(loc="upper right")
