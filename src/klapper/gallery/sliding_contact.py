"""Sliding contact: what a polygon instead of the friction disc costs.

One contact in space with free velocity b and Delassus matrix W:

    v = W Λ + b,   0 ≤ Λ_N ⟂ v_N ≥ 0,   Λ_T = −μ Λ_N v_T/|v_T| while sliding

is solved with the exact disc, and with the disc replaced by the regular polygon with r vertices on its rim,
which makes the problem linear. The polygon's force then points up to π/r away from the sliding velocity's
opposite, and dissipates at least cos(π/r) of what Coulomb's law demands."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.complementarity import FrictionalContact, Solution

    Solved = Solution[FrictionalContact]


@example("sliding-contact", source="Waltersberger (2007), section 3.1.5, (3.61)-(3.74)")
def sliding_contact(
    *,
    friction: Annotated[float, Parameter("friction coefficient", at_least=0.0)] = 0.5,
    free_velocity: Annotated[
        tuple[float, float, float],
        Parameter("velocity without contact impulse: normal, two tangential", unit="m/s"),
    ] = (-1.0, 2.0, 1.3),
    delassus: Annotated[
        tuple[float, ...],
        Parameter("Delassus matrix: its diagonal (3 numbers) or its rows (9 numbers)", unit="1/kg"),
    ] = (1.0, 1.0, 1.0),
    vertices: Annotated[tuple[int, ...], Parameter("numbers of vertices", at_least=4, multiple_of=2)] = (
        4,
        8,
        16,
        32,
    ),
) -> Outcome:
    from klapper.complementarity import uniqueness
    from klapper.contact_states import STATE_NAMES
    from klapper.gallery._audit import in_one_line

    matrix = _as_matrix(delassus)
    exact = _solved(matrix, free_velocity, friction, None)
    polygons = [_solved(matrix, free_velocity, friction, count) for count in vertices]
    state = STATE_NAMES[int(exact.problem.states(exact.x)[0])]
    deviations = [direction_error(solution) for solution in polygons]
    ratios = [dissipation_ratio(solution) for solution in polygons]
    distances = [float(np.linalg.norm(solution.x - exact.x)) for solution in polygons]
    return Outcome(
        numbers={
            "state": state,
            "impulse": exact.x,
            "velocity_after": exact.y,
            "vertices": list(vertices),
            "direction_errors": deviations,
            "dissipation_ratios": ratios,
            "impulse_errors": distances,
        },
        units={
            "impulse": "N s",
            "velocity_after": "m/s",
            "direction_errors": "rad",
            "impulse_errors": "N s",
        },
        checks=_checks(exact, polygons, friction, vertices, deviations, ratios),
        audit={
            "solver": {
                "exact disc": exact.solver,
                **{f"{count} vertices": each.solver for count, each in zip(vertices, polygons, strict=True)},
            },
            "residuals": {
                "exact disc": exact.residuals.worst,
                **{
                    f"{count} vertices": each.residuals.worst
                    for count, each in zip(vertices, polygons, strict=True)
                },
            },
            "uniqueness": in_one_line(uniqueness(exact))
            if _closed_form(exact.problem, friction) is None
            else "Normal and tangential motion are not coupled: motion and impulse are unique.",
        },
        figures={"polygons": partial(_draw, exact=exact, polygons=polygons, vertices=vertices)},
    )


def _as_matrix(entries: tuple[float, ...]) -> np.ndarray:
    if len(entries) not in (3, 9):
        raise ParameterError(f"delassus must be 3 numbers (diagonal) or 9 (rows), not {len(entries)}.")
    matrix = np.diag(entries) if len(entries) == 3 else np.reshape(entries, (3, 3))
    if not np.allclose(matrix, matrix.T, rtol=1e-12) or np.linalg.eigvalsh(matrix).min() <= 0:
        raise ParameterError("delassus must be symmetric and positive definite.")
    return matrix


def _solved(matrix: np.ndarray, free_velocity: Any, friction: float, polygon: int | None) -> "Solved":
    from klapper.complementarity import ComplementarityError, FrictionalContact, solve

    try:
        return solve(FrictionalContact(matrix, free_velocity, friction, polygon=polygon))
    except ComplementarityError as error:
        raise ParameterError(f"these parameters have no solution that could be verified: {error}") from error


def _slides(solution: "Solved") -> bool:
    from klapper.contact_states import SLIP

    return bool(solution.problem.states(solution.x)[0] == SLIP and np.hypot(*solution.x[1:]) > 0)


def direction_error(solution: "Solved") -> float | None:
    """Angle [rad] between the friction impulse and the opposite of the sliding velocity; None unless it
    slides."""
    if not _slides(solution):
        return None
    force, velocity = solution.x[1:], -solution.y[1:]
    cross = force[0] * velocity[1] - force[1] * velocity[0]
    return float(abs(np.arctan2(cross, force @ velocity)))


def dissipation_ratio(solution: "Solved") -> float | None:
    """Dissipated work over that of the exact law at the same velocity; None unless it slides."""
    if not _slides(solution):
        return None
    force, velocity = solution.x[1:], solution.y[1:]
    limit = solution.problem.friction_limits(solution.x)[0]
    return float(-force @ velocity / (limit * np.hypot(*velocity)))


def _checks(
    exact: "Solved",
    polygons: "list[Solved]",
    friction: float,
    vertices: tuple[int, ...],
    deviations: list[float | None],
    ratios: list[float | None],
) -> list[Check]:
    """Coulomb's law for the disc, the bounds for every polygon that slides, and the closed form where there
    is one."""
    normal, limit = exact.x[0], friction * exact.x[0]
    size = float(np.abs(exact.problem.free_velocity).max() / np.diag(exact.problem.delassus).min()) or 1.0
    checks = [
        Check(
            "friction inside its limit",
            value=float(np.hypot(*exact.x[1:])),
            at_most=limit + 1e-9 * size,
            source="Coulomb's law",
        )
    ]
    closed = _closed_form(exact.problem, friction)
    if closed is not None:
        checks.append(
            Check(
                "impulse, exact disc",
                value=exact.x,
                expected=closed,
                tolerance=1e-8 * size,
                source="closed form",
            )
        )
    if _slides(exact):
        away = exact.y[1:] / np.hypot(*exact.y[1:])
        checks.append(
            Check(
                "friction opposes sliding",
                value=exact.x[1:],
                expected=-friction * normal * away,
                tolerance=1e-7 * size,
                source="maximum dissipation",
            )
        )
    for count, deviation, ratio in zip(vertices, deviations, ratios, strict=True):
        if deviation is None or ratio is None:
            continue
        bound = np.pi / count
        checks += [
            Check(f"direction error, {count} vertices", value=deviation, at_most=bound + 1e-7, source="π/r"),
            Check(
                f"dissipation, {count} vertices",
                value=ratio,
                at_least=np.cos(bound) - 1e-7,
                at_most=1.0 + 1e-7,
                source="cos(π/r) ≤ ratio ≤ 1",
            ),
        ]
    return checks


def _closed_form(problem: "FrictionalContact", friction: float) -> np.ndarray | None:
    """The impulse (3,) if normal and tangential motion are not coupled and all tangential directions are
    alike."""
    matrix, velocity = problem.delassus, problem.free_velocity
    if np.any(matrix != np.diag(np.diag(matrix))) or matrix[1, 1] != matrix[2, 2]:
        return None
    normal = max(-velocity[0] / matrix[0, 0], 0.0)
    stick = -velocity[1:] / matrix[1, 1]
    length = float(np.hypot(*stick))
    return np.array([normal, *(stick * min(1.0, friction * normal / length) if length else stick)])


def _draw(figure: "Figure", *, exact: "Solved", polygons: "list[Solved]", vertices: tuple[int, ...]) -> None:
    """Left: friction disc (grey) and the first polygons with their friction impulses (arrows) and the
    opposite of their sliding velocities (dashed). Right: errors of all polygons (dots) and their bounds
    (lines)."""
    figure.set_size_inches(10.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.2])
    _draw_disc(left, exact, polygons, vertices)
    _draw_errors(right, polygons, vertices)


def _draw_disc(axes: "Axes", exact: "Solved", polygons: "list[Solved]", vertices: tuple[int, ...]) -> None:
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE, arrow

    way = np.linspace(0.0, 2 * np.pi, 200)
    limit = float(exact.problem.friction_limits(exact.x)[0])
    axes.fill(limit * np.cos(way), limit * np.sin(way), facecolor="#EEEEEE", edgecolor=GREY)
    reach = 1.3 * limit or 1.0
    shown = [(exact, None, DARK), *zip(polygons[:2], vertices[:2], (ORANGE, BLUE), strict=False)]
    for solution, count, color in shown:
        radius = float(solution.problem.friction_limits(solution.x)[0])
        name = "exact disc"
        if count is not None:
            corners = radius * np.exp(2j * np.pi * np.arange(count + 1) / count)
            axes.plot(corners.real, corners.imag, color=color, linewidth=1.2)
            name = f"{count} vertices"
        if _slides(solution):
            against = -solution.y[1:] / np.hypot(*solution.y[1:])
            axes.plot(*np.array([[0, 0], reach * against]).T, color=color, linestyle="--", linewidth=1.0)
        arrow(axes, (0.0, 0.0), solution.x[1:], color)
        axes.plot([], [], color=color, label=name)
    axes.set(xlabel="tangential impulse 1 / N s", ylabel="tangential impulse 2 / N s")
    axes.set(xlim=(-1.05 * reach, 1.05 * reach), ylim=(-1.05 * reach, 1.5 * reach), aspect="equal")
    axes.legend(loc="upper left", ncols=1)


def _draw_errors(axes: "Axes", polygons: "list[Solved]", vertices: tuple[int, ...]) -> None:
    from klapper.gallery._sketch import BLUE, ORANGE

    sliding = [(count, each) for count, each in zip(vertices, polygons, strict=True) if _slides(each)]
    if not sliding:
        axes.text(0.5, 0.5, "no polygon slides: nothing to compare", ha="center", transform=axes.transAxes)
        axes.set_axis_off()
        return
    counts = np.array([count for count, _ in sliding])
    line = np.geomspace(counts.min() / 1.15, counts.max() * 1.15, 60)
    errors = np.array([direction_error(each) for _, each in sliding], dtype=float)
    lost = 1.0 - np.array([dissipation_ratio(each) for _, each in sliding], dtype=float)
    floor = 1e-6
    axes.plot(line, np.pi / line, color=BLUE, label="bound π/r")
    axes.scatter(counts, np.maximum(errors, floor), color=BLUE, zorder=4, label="direction error / rad")
    axes.plot(line, 1 - np.cos(np.pi / line), color=ORANGE, label="bound 1 − cos(π/r)")
    axes.scatter(
        counts, np.maximum(lost, floor), color=ORANGE, zorder=4, marker="s", label="dissipation lost / 1"
    )
    axes.set(xscale="log", yscale="log", xlabel="number of vertices r", ylabel="error")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.legend(loc="lower left")
