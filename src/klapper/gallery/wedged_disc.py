"""Wedged disc: rest and rotation are both solutions.

A disc is pressed into a wedge by a force along its bisector and turned by a moment M; both walls are rough.
With rigid walls and Coulomb friction the accelerations need not be unique. If

    tan φ > 1/μ,   φ = (π − α)/2                                 (5.15)
    |M| > M₀ = r f μ / (cos φ (1 + μ²))                          (5.16)

both hold, the disc may rest, held by wall forces that have no upper bound, or start to turn with (|M| −
M₀)/J_S. All combinations of stick, slip and separation are tried, so no solution is missed."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._wedged_disc import Disc
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.complementarity import Piece, SolutionSet


@example("wedged-disc", source="Waltersberger (2007), section 5.1.4, after McNamara et al. (2005)")
def wedged_disc(
    *,
    mu: Annotated[float, Parameter("friction coefficient of both walls", above=0.0)] = 0.5,
    alpha: Annotated[
        float, Parameter("opening angle of the wedge", unit="rad", above=0.0, below=3.14)
    ] = np.pi / 4,
    moment_ratio: Annotated[float, Parameter("moment M in units of M₀")] = 1.2,
    force: Annotated[float, Parameter("force into the wedge", unit="N", above=0.0)] = 9.81,
    radius: Annotated[float, Parameter("radius of the disc", unit="m", above=0.0)] = 0.1,
    mass: Annotated[float, Parameter("mass of the homogeneous disc", unit="kg", above=0.0)] = 1.0,
) -> Outcome:
    from klapper.complementarity import solve

    disc = Disc(mu, alpha, moment_ratio, force, radius, mass)
    found = _all_solutions(disc)
    motions = _motions(disc, found)
    unit = (force * radius + abs(disc.moment)) / disc.inertia  # size of an angular acceleration
    rest, turning = _rest_and_motion(found)
    lower = np.min([piece.lower for piece in rest], axis=0) if rest else None
    upper = np.max([piece.upper for piece in rest], axis=0) if rest else None
    turning_forces = turning[0].point if turning else None
    chosen = solve(found.problem)
    chosen_acceleration = _accelerations(disc, chosen.y)[2]

    return Outcome(
        numbers={
            "accelerations": motions[:, 2],
            "centre_accelerations": np.linalg.norm(motions[:, :2], axis=1),
            "critical_moment": disc.critical_moment,
            "moment": disc.moment,
            "self_locking": disc.self_locking,
            "moment_above_critical": bool(abs(moment_ratio) > 1),
            "rest_possible": bool(rest),
            "rotation_possible": bool(np.any(np.abs(motions[:, 2]) > 1e-9 * unit)),
            "rest_forces_min": lower,
            "rest_forces_max": upper,
            "rotation_forces": turning_forces,
        },
        units={
            "accelerations": "rad/s²",
            "centre_accelerations": "m/s²",
            "critical_moment": "N m",
            "moment": "N m",
            "rest_forces_min": "N (wall 1 normal, tangential, wall 2 normal, tangential)",
            "rest_forces_max": "N (same order)",
            "rotation_forces": "N (same order)",
        },
        checks=_checks(disc, motions, lower, upper, turning_forces, unit),
        audit={
            "solver": f"enumeration of all 36 combinations of stick, slip and separation: {len(found)} pieces",
            "residuals": {
                f"piece {k + 1}": found.problem.residuals(piece.point).worst
                for k, piece in enumerate(found.pieces)
            },
            "uniqueness": _uniqueness(motions, rest),
            "what one solver picks": f"{chosen.solver}: {chosen_acceleration:.6g} rad/s²",
        },
        figures={"forces": partial(_draw, disc=disc)},
    )


def _all_solutions(disc: Disc) -> "SolutionSet":
    from klapper.complementarity import enumerate_solutions
    from klapper.complementarity.reference_problems import wedged_disc as model

    return enumerate_solutions(
        model(
            disc.mu, disc.moment_ratio, angle=disc.alpha, force=disc.force, radius=disc.radius, mass=disc.mass
        )
    )


def _accelerations(disc: Disc, contact: np.ndarray) -> np.ndarray:
    """Accelerations (3,) of centre and angle from those of the contacts (4,), (5.20)-(5.23)."""
    vertical = contact[0]
    along = (contact[2] + vertical * np.cos(disc.alpha)) / np.sin(disc.alpha)
    return np.array([along, vertical, (contact[1] - along) / disc.radius])


def _motions(disc: Disc, found: "SolutionSet") -> np.ndarray:
    """All accelerations (k, 3), in the order of the angular one, without round-off at rest."""
    motions = np.array([_accelerations(disc, contact) for contact in found.motions()]).reshape(-1, 3)
    scale = disc.force / disc.mass * np.array([1.0, 1.0, 1.0 / disc.radius])
    motions[np.abs(motions) < 1e-9 * scale * (1 + abs(disc.moment_ratio))] = 0.0
    return motions[np.argsort(motions[:, 2])]


def _rest_and_motion(found: "SolutionSet") -> "tuple[list[Piece], list[Piece]]":
    """The pieces on which no contact accelerates, and the others."""
    size = np.abs(found.problem.free_velocity).max()
    rest: list[Piece] = []
    motion: list[Piece] = []
    for piece in found.pieces:
        fastest = np.abs([piece.image_lower, piece.image_upper]).max()
        (rest if fastest <= 1e-9 * size else motion).append(piece)
    return rest, motion


def _uniqueness(motions: np.ndarray, rest: "list[Piece]") -> str:
    known = ", ".join(f"{acceleration:.6g}" for acceleration in motions[:, 2])
    if len(motions) != 1:
        head = f"The motion is not unique: {len(motions)} motions satisfy the model, with {known} rad/s²."
    else:
        head = f"The motion is unique: {known} rad/s²."
    if not rest:
        return f"{head} All forces are unique."
    bounded = all(np.isfinite(piece.upper).all() and np.isfinite(piece.lower).all() for piece in rest)
    return f"{head} The wall forces of rest are not unique{'' if bounded else ' and have no upper bound'}."


def _checks(
    disc: Disc,
    motions: np.ndarray,
    lower: np.ndarray | None,
    upper: np.ndarray | None,
    turning_forces: np.ndarray | None,
    unit: float,
) -> list[Check]:
    """Closed forms; none near their borders, and fewer where a turning disc would climb a wall."""
    if not disc.certain:
        return [
            Check(
                "the solver found a motion",
                value=len(motions),
                at_least=1,
                source="the parameters lie on a border of (5.15) or (5.16), where round-off decides which",
            )
        ]
    bounds = disc.resting_forces()
    checks = [
        Check(
            "rest is possible",
            value=lower is not None,
            expected=bounds is not None,
            source="equilibrium by hand",
        )
    ]
    if bounds is not None and lower is not None and upper is not None:
        for name, value, expected in zip(("least", "greatest"), (lower, upper), bounds, strict=True):
            size = np.abs(expected[np.isfinite(expected)]).max(initial=disc.force)
            checks.append(
                Check(
                    f"{name} wall forces of rest",
                    value=value,
                    expected=expected,
                    tolerance=1e-7 * size,
                    source="equilibrium by hand",
                )
            )
    if disc.both_walls_press:
        turns = abs(disc.moment_ratio) > 1
        rests = not turns or disc.self_locking
        known = ([0.0] if rests else []) + ([disc.turning_acceleration] if turns else [])
        checks.insert(
            0,
            Check(
                "accelerations of all solutions",
                value=motions[:, 2],
                expected=sorted(known),
                tolerance=1e-9 * unit,
                source="(5.15), (5.16) and (|M| − M₀)/J_S",
            ),
        )
        if turns:
            checks.append(
                Check(
                    "wall forces of the turning disc",
                    value=turning_forces,
                    expected=disc.turning_forces(),
                    tolerance=1e-9 * disc.force / np.cos(disc.phi),
                    source="closed form: both contacts slide",
                )
            )
    return checks


def _draw(figure: "Figure", *, disc: Disc) -> None:
    """A disc pressed into a rough wedge and turned by a moment. Left: at rest, each wall force (orange) may
    end anywhere on the dotted line inside the friction cone (grey). Middle: turning, with unique forces,
    same scale. Right: which motions exist for which friction and moment; areas by closed form, dots by
    trying every combination of contact states."""
    figure.set_size_inches(10.6, 4.3)
    at_rest, turning, chart = figure.subplots(1, 3, width_ratios=[1.0, 1.0, 1.12])
    rest, motion = _rest_and_motion(_all_solutions(disc))
    largest = max(np.hypot(piece.point[0::2], piece.point[1::2]).max() for piece in (*rest, *motion))
    scale = 0.95 / largest
    several = bool(rest and motion)
    _draw_rest(at_rest, disc, rest, scale, "Solution 1: rest" if several else "Rest")
    _draw_turning(turning, disc, motion, scale, "Solution 2: rotation" if several else "Rotation")
    _draw_chart(chart, disc)


def _frame(disc: Disc) -> tuple[np.ndarray, np.ndarray]:
    """Normals and tangents (2, 2) of the walls, one row each, turned so that the force points down."""
    turn = (np.pi - disc.alpha) / 2
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    c, s = np.cos(disc.alpha), np.sin(disc.alpha)
    return np.array([[0.0, 1.0], [s, -c]]) @ rotation.T, np.array([[1.0, 0.0], [c, s]]) @ rotation.T


def _draw_wedge(axes: "Axes", disc: Disc, scale: float, title: str) -> None:
    """Walls, friction cones and loads; the disc has radius one and its centre in the origin."""
    from klapper.gallery._sketch import BLUE, BODY, DARK, GREY, arrow, bare, turning_arrow, wall

    normals, tangents = _frame(disc)
    below = min(1.0 / np.tan(disc.alpha / 2), 1.35)
    way = np.linspace(0.0, 2 * np.pi, 200)
    axes.fill(np.cos(way), np.sin(way), facecolor=BODY, edgecolor=DARK, linewidth=1.5, zorder=2, alpha=0.8)
    for normal, tangent in zip(normals, tangents, strict=True):
        wall(axes, -normal - below * tangent, -normal + 1.3 * tangent, -0.16 * normal)
        sides = np.array([normal + sign * disc.mu * tangent for sign in (1.0, -1.0)])
        sides *= 1.25 / np.linalg.norm(sides, axis=1, keepdims=True)
        cone = np.array([-normal + sides[0], -normal, -normal + sides[1]])
        axes.fill(*cone.T, color=GREY, alpha=0.13, linewidth=0, zorder=3)
        axes.plot(*cone.T, color=GREY, linewidth=0.8, zorder=3)
    axes.scatter(0.0, 0.0, s=16, color=DARK, zorder=7)
    push = disc.force * scale
    arrow(axes, (0.0, 1.12 + push), (0.0, -push), BLUE)
    axes.text(-0.12, 1.12 + push, f"{disc.force:.3g} N", color=BLUE, va="top", ha="right")
    if disc.moment:
        ends = (np.radians(30), np.radians(150))
        turning_arrow(axes, (0.0, 0.0), 0.55, ends if disc.moment > 0 else ends[::-1], BLUE)
        axes.text(0.0, 0.7, f"{abs(disc.moment):.3g} N m", color=BLUE, ha="center", va="center", zorder=8)
    axes.set_title(title)
    bare(axes, (-1.75, 1.75), (-1.7, 1.3 + max(push, 0.25)))


def _force_vectors(disc: Disc, forces: np.ndarray) -> np.ndarray:
    normals, tangents = _frame(disc)
    return forces[0::2, None] * normals + forces[1::2, None] * tangents


def _below(axes: "Axes", text: str, color: str) -> None:
    axes.text(0.5, -0.02, text, ha="center", va="top", color=color, transform=axes.transAxes)


def _draw_rest(axes: "Axes", disc: Disc, rest: "list[Piece]", scale: float, title: str) -> None:
    from klapper.gallery._sketch import DARK, ORANGE, arrow

    bounds = disc.resting_forces()
    if not rest or bounds is None:
        _draw_wedge(axes, disc, scale, "Rest is impossible")
        _below(axes, "friction cannot balance the moment\n", DARK)
        return
    _draw_wedge(axes, disc, scale, title)
    least, most = bounds
    line = np.array([1.0, -np.tan(disc.alpha / 2), 1.0, -np.tan(disc.alpha / 2)])
    start = np.where(line > 0, least, most)
    reach = most[0] - least[0]
    ends = (start, start + min(reach, 0.7 / scale) * line)
    tips = [scale * _force_vectors(disc, forces) for forces in ends]
    for contact, first, last in zip(-_frame(disc)[0], *tips, strict=True):
        fan = np.array([contact, contact + first, contact + last])
        axes.fill(*fan.T, color=ORANGE, alpha=0.22, linewidth=0, zorder=4)
        axes.plot(*fan[1:].T, color=ORANGE, linewidth=1.5, linestyle=":", zorder=5)
        arrow(axes, contact, first, ORANGE)
        if np.isfinite(reach):
            arrow(axes, contact, last, ORANGE, alpha=0.5, width=1.6)
        else:
            arrow(axes, contact + 0.9 * last + 0.1 * first, 0.1 * (last - first), ORANGE, width=1.2)
    if np.isfinite(reach):
        ranges = [f"{low:.3g} … {high:.3g} N" for low, high in zip(least[0::2], most[0::2], strict=True)]
        _below(axes, f"the walls press with\n{ranges[1]} and {ranges[0]}", ORANGE)
    else:
        _below(
            axes,
            f"the walls press with at least {least[2]:.3g} N\nand {least[0]:.3g} N, no upper limit",
            ORANGE,
        )


def _draw_turning(axes: "Axes", disc: Disc, motion: "list[Piece]", scale: float, title: str) -> None:
    from klapper.gallery._sketch import DARK, GREEN, ORANGE, arrow, turning_arrow

    if not motion:
        _draw_wedge(axes, disc, scale, "Rotation is impossible")
        _below(axes, "friction holds the disc\n", DARK)
        return
    _draw_wedge(axes, disc, scale, title)
    forces = motion[0].point
    acceleration = _accelerations(disc, motion[0].image_lower)[2]
    angles = (np.radians(25), np.radians(65))
    turning_arrow(axes, (0.0, 0.0), 1.14, angles if acceleration > 0 else angles[::-1], GREEN)
    axes.text(0.5, 1.3, f"{abs(acceleration):.3g} rad/s²", color=GREEN)
    for contact, vector in zip(-_frame(disc)[0], scale * _force_vectors(disc, forces), strict=True):
        arrow(axes, contact, vector, ORANGE)
    _below(axes, f"the walls press with exactly {forces[2]:.3g} N\nand {forces[0]:.3g} N", ORANGE)


def _draw_chart(axes: "Axes", disc: Disc) -> None:
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, PURPLE

    climbs = float(np.tan(disc.phi))
    right, top = max(1.0, 1.6 * disc.mu), max(2.5, 1.3 * abs(disc.moment_ratio))
    end = min(right, climbs)
    locks = min(1 / climbs, end)
    both, turns, rests = PURPLE, GREEN, BLUE
    areas = [
        ((locks, end), (1.0, top), both, "rest or\nrotation"),
        ((0.0, locks), (1.0, top), turns, "rotation"),
        ((0.0, end), (0.0, 1.0), rests, "rest"),
        ((end, right), (0.0, top), GREY, "a wall\nmay open"),
    ]
    plate = {"boxstyle": "round,pad=0.25", "facecolor": "white", "alpha": 0.85, "linewidth": 0}
    for x, y, color, word in areas:
        if x[1] - x[0] > 0.03 * right:
            axes.fill_between(x, *y, color=color, alpha=0.28, linewidth=0)
        if x[1] - x[0] > 0.2 * right:
            height = y[1] - 0.12 * top
            axes.text(sum(x) / 2, height, word, ha="center", va="center", fontsize=12, zorder=5, bbox=plate)
    for mu in np.linspace(0.0, right, 14)[1:-1]:
        for ratio in np.linspace(0.0, top, 12)[1:-1]:
            rest, motion = _rest_and_motion(_all_solutions(replace(disc, mu=mu, moment_ratio=ratio)))
            axes.scatter(
                mu, ratio, s=7, color=both if rest and motion else rests if rest else turns, zorder=3
            )
    axes.plot([0.0, end], [1.0, 1.0], color=DARK, linewidth=1.0)
    if locks < end:
        axes.plot([locks, locks], [1.0, top], color=DARK, linewidth=1.0)
    here = (disc.mu, abs(disc.moment_ratio))
    axes.scatter(*here, s=120, color=DARK, edgecolor="white", linewidth=1.5, zorder=6, clip_on=False)
    axes.annotate("this disc", here, (11, 0), textcoords="offset points", va="center", zorder=6, bbox=plate)
    axes.set(xlim=(0, right), ylim=(0, top), xlabel="friction coefficient μ", ylabel="moment |M| / M₀")
    axes.set_title(f"What is possible in a wedge of {np.degrees(disc.alpha):.3g}°")
    axes.grid(False)
