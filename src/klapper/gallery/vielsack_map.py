"""Shaken incline: which motion for which pull and shaking.

Under Coulomb's law a mass on a shaken incline rests (I), accelerates (II), creeps in one direction with a pause (III),
or moves in both directions with two pauses (IV), one (V) or none (VI), depending on A = tan α/μ and
B = a Ω²/(μ g cos α). The boundaries are known:

    I | III    A + B = 1
    II         A = 1
    III | IV   B = 1 + A
    V | VI     B² = p² + (1 + |A − p sin(πA/2)|)²/cos²(πA/2),   p = π(1 − A²)/(2 cos(πA/2))

and IV | V, III | V as the root of one equation each. The map is computed without them, point by point.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis.shaken_boundaries import TypeBoundaries

TYPES = ("I", "II", "III", "IV", "V", "VI")
SHADES = ("#E8E8E8", "#C9C9C9", "#CFE3F1", "#FBE2CF", "#CDEBDF", "#F3DCE8")
NEIGHBOURS = {
    "rest": ("I", "III"),
    "reversal": ("III", "IV"),
    "second_pause": ("IV", "V"),
    "first_reversal": ("III", "V"),
    "no_pause": ("V", "VI"),
}


@example("vielsack-map", source="Vielsack, ZAMM 76 (1996) 439-446, Fig. 2")
def vielsack_map(
    *,
    points: Annotated[int, Parameter("points of the map in each direction", at_least=20, at_most=2000)] = 300,
    largest_A: Annotated[float, Parameter("largest pull A", above=0.0)] = 1.2,
    largest_B: Annotated[float, Parameter("largest shaking B", above=0.0)] = 4.0,
    traced: Annotated[int, Parameter("points on each boundary found by bisection", at_least=2)] = 12,
) -> Outcome:
    from klapper.analysis.shaken_boundaries import type_boundaries
    from klapper.analysis.shaken_incline import stationary_drift

    A = (np.arange(points) + 0.5) / points * largest_A
    B = (np.arange(points) + 0.5) / points * largest_B
    motion = stationary_drift(A, B[:, None])
    boundaries = type_boundaries(np.linspace(0.001, 0.95, traced))
    areas = {kind: float(np.mean(motion.motion_type == kind)) for kind in TYPES}
    return Outcome(
        numbers={
            **{f"part_{kind}": areas[kind] for kind in TYPES},
            "meeting_A": boundaries.meeting,
            "meeting_B": 1.0 + boundaries.meeting,
            "no_pause_at_A_0": float(type_boundaries(0.0).no_pause[0]),
        },
        checks=[
            *_boundary_checks(boundaries),
            Check(
                "no pause at A = 0",
                value=float(_bisected(np.zeros(1), np.full(1, 1.862), "IV")[0]),
                expected=float(np.sqrt(1.0 + np.pi**2 / 4.0)),
                tolerance=1e-9,
                source="√(1 + π²/4): half a period each way, load at the limit when the mass turns",
            ),
            Check(
                "types of the map",
                value=bool(np.all(_expected(A, B[:, None]) == motion.motion_type)),
                expected=True,
                source="side of the boundaries at every point",
            ),
        ],
        audit={
            "points": motion.drift.size,
            "largest residual of a period": float(motion.residual.max()),
            "most periods until stationary": int(motion.periods.max()),
        },
        figures={
            "types": partial(
                _draw_types,
                A=A,
                B=B,
                types=motion.motion_type,
                found=boundaries,
                largest=(largest_A, largest_B),
            ),
            "drift": partial(_draw_drift, A=A, B=B, drift=motion.drift, largest=(largest_A, largest_B)),
        },
    )


def _boundary_checks(boundaries: "TypeBoundaries") -> list[Check]:
    """Each boundary by bisection between motions of the two types."""
    checks = []
    for name, (below, above) in NEIGHBOURS.items():
        expected = getattr(boundaries, name)
        there = np.isfinite(expected)
        found = _bisected(boundaries.A[there], expected[there], below)
        checks.append(
            Check(
                f"boundary {below} | {above}",
                value=found,
                expected=expected[there],
                tolerance=1e-9 * expected[there],
                source="bisection of the computed motions against the equation of the boundary",
            )
        )
    return checks


def _bisected(A: np.ndarray, near: np.ndarray, below: str) -> np.ndarray:
    """B (n,) at which the type ceases to be ``below``, searched within 0.1 % of ``near``."""
    from klapper.analysis.shaken_incline import stationary_drift

    low, high = near * (1.0 - 1e-3), near * (1.0 + 1e-3)
    for _ in range(40):
        middle = 0.5 * (low + high)
        still = stationary_drift(A, middle).motion_type == below
        low, high = np.where(still, middle, low), np.where(still, high, middle)
    return 0.5 * (low + high)


def _expected(pull: np.ndarray, shaking: np.ndarray) -> np.ndarray:
    """The types by the boundaries alone."""
    from klapper.analysis.shaken_boundaries import type_boundaries

    slow = pull < 1.0
    edges = type_boundaries(pull[slow])
    types = np.full(np.broadcast_shapes(pull.shape, shaking.shape), "II ")
    types[:, slow] = "III"
    types[:, slow] = np.where(shaking < edges.rest, "I", types[:, slow])
    types[:, slow] = np.where(shaking > edges.reversal, "IV", types[:, slow])
    types[:, slow] = np.where(
        (shaking > edges.second_pause) | (shaking > edges.first_reversal), "V", types[:, slow]
    )
    types[:, slow] = np.where(shaking > edges.no_pause, "VI", types[:, slow])
    return np.char.strip(types)


def _draw_types(
    figure: "Figure",
    *,
    A: np.ndarray,
    B: np.ndarray,
    types: np.ndarray,
    found: "TypeBoundaries",
    largest: tuple[float, float],
) -> None:
    """Motion types point by point (colours), boundaries by their equations (lines), by bisection (dots)."""
    from matplotlib.colors import ListedColormap

    figure.set_size_inches(6.4, 5.2)
    axes = figure.subplots()
    numbers = np.searchsorted(TYPES, types)
    axes.pcolormesh(A, B, numbers, cmap=ListedColormap(SHADES), vmin=-0.5, vmax=5.5, rasterized=True)
    _draw_lines(axes, largest)
    for name, (below, _) in NEIGHBOURS.items():
        there = np.isfinite(getattr(found, name)) & (getattr(found, name) < largest[1])
        near = getattr(found, name)[there]
        axes.plot(
            found.A[there], _bisected(found.A[there], near, below), "o", color="#333333", markersize=3.5
        )
    for number, kind in enumerate(TYPES):
        _name(axes, A, B, numbers == number, kind)
    axes.set(xlabel="pull A = tan α/μ", ylabel="shaking B = a Ω²/(μ g cos α)")
    axes.set(xlim=(0.0, largest[0]), ylim=(0.0, largest[1]))
    axes.grid(False)


def _draw_lines(axes: "Axes", largest: tuple[float, float]) -> None:
    from klapper.analysis.shaken_boundaries import type_boundaries

    edges = type_boundaries(np.concatenate([np.linspace(0.0, 0.98, 400), [1.0 - 1e-9]]))
    for name in NEIGHBOURS:
        axes.plot(edges.A, getattr(edges, name), color="#333333", linewidth=1.2)
    if largest[0] > 1.0:
        axes.axvline(1.0, color="#333333", linewidth=1.2)


def _name(axes: "Axes", A: np.ndarray, B: np.ndarray, region: np.ndarray, kind: str) -> None:
    """The name of a region at the point that is farthest from its rim."""
    from scipy.ndimage import distance_transform_edt

    if not region.any():
        return
    inside = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(np.argmax(inside), inside.shape)
    axes.text(A[column], B[row], kind, ha="center", va="center", fontsize=14, color="#222222")


def _draw_drift(
    figure: "Figure", *, A: np.ndarray, B: np.ndarray, drift: np.ndarray, largest: tuple[float, float]
) -> None:
    """Exact drift per unit of time; there is none at rest, and no stationary one for A ≥ 1."""
    figure.set_size_inches(6.4, 4.8)
    axes = figure.subplots()
    shown = np.where(np.isfinite(drift) & (drift > 0.0), drift, np.nan)
    levels = [0.03, 0.1, 0.3, 1.0, 3.0]
    fast = np.ma.masked_invalid(np.log10(shown))
    image = axes.pcolormesh(A, B, fast, vmin=-3.0, vmax=1.0, rasterized=True)
    bar = figure.colorbar(image, ax=axes, extend="both", label="drift Δv")
    bar.set_ticks([-3, -2, -1, 0, 1], labels=["0.001", "0.01", "0.1", "1", "10"])
    lines = axes.contour(A, B, np.ma.masked_invalid(shown), levels=levels, colors="white", linewidths=0.8)
    axes.clabel(lines, fontsize=8)
    _draw_lines(axes, largest)
    axes.set(xlabel="pull A", ylabel="shaking B", xlim=(0.0, largest[0]), ylim=(0.0, largest[1]))
    axes.grid(False)
