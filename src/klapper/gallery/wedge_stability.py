"""Stability of a disc that turns in a compliant wedge: two frequencies merge and the disc flutters.

The walls of the wedge are springs in the normal direction, and the disc slides on both. Friction makes the
stiffness matrix unsymmetric, with the eigenvalues

    s₀ = 0 (free rotation),   s²₁,₂ = −ω² (1 ± √(cos²α − μ² sin²α)),   ω² = c/m          (5.30), (5.31)

Below μ = cot α both frequencies are real; there they meet, and above it one oscillation grows and one decays
(mode coupling). The border depends neither on the stiffness nor on the load. The stiffness matrix is formed
from the contact directions, so that the misprints of (5.29) do not matter; the border is found by bisection."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._wedged_disc import Disc
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis.sliding_stability import SlidingStability
    from klapper.analysis.stability_map import StabilityMap
    from klapper.mechanics import LinearSystem

BORDER = 1e-9  # the accuracy asked of the traced border


@example("wedge-stability", source="Waltersberger (2007), section 5.1.4, (5.26)-(5.31), Figs. 5.15 and 5.16")
def wedge_stability(
    *,
    mu: Annotated[float, Parameter("friction coefficient of both walls", above=0.0)] = 1.05,
    alpha: Annotated[
        float, Parameter("opening angle of the wedge", unit="rad", above=0.05, below=1.5)
    ] = np.pi / 4,
    stiffness: Annotated[float, Parameter("stiffness of each wall", unit="N/m", above=0.0)] = 1e5,
    force: Annotated[float, Parameter("force into the wedge", unit="N", above=0.0)] = 9.81,
    moment_ratio: Annotated[float, Parameter("moment M in units of M₀; its sign is the sense")] = -1.5,
    radius: Annotated[float, Parameter("radius of the disc", unit="m", above=0.0)] = 0.1,
    mass: Annotated[float, Parameter("mass of the homogeneous disc", unit="kg", above=0.0)] = 1.0,
    angles: Annotated[int, Parameter("number of wedge angles of the map", at_least=2, at_most=200)] = 16,
) -> Outcome:
    from klapper.analysis.coexistence import coexistence
    from klapper.analysis.stability_map import stability_map

    disc = Disc(mu, alpha, moment_ratio, force, radius, mass)
    require_turning(disc)
    judged = judge(disc, stiffness)
    omega = np.sqrt(stiffness / mass)
    border = traced_border(disc, stiffness)
    other = traced_border(disc, 1e3 * stiffness)
    chart = stability_map(
        lambda x, a: judge(Disc(x, a, moment_ratio, force, radius, mass), stiffness),
        np.linspace(0.1, 3.0, 30),
        np.linspace(np.radians(20.0), np.radians(80.0), angles),
    )
    squares = np.sort_complex((judged.eigenvalues**2)[judged.eigenvalues.imag > 0.0])
    expected = np.sort_complex(closed_form(disc, omega))
    return Outcome(
        numbers={
            "verdict": judged.verdict,
            "growth": judged.growth,
            "angular_frequencies": np.sort(judged.eigenvalues.imag[judged.eigenvalues.imag > 0.0]),
            "critical_mu": border,
            "free_motions": judged.free_motions,
            "normal_forces": judged.sliding.normal_force,
            "penetrations": -judged.sliding.gap,
            "map_angles": chart.y,
            "map_critical_mu": chart.boundary,
        },
        units={
            "growth": "1/s",
            "angular_frequencies": "rad/s",
            "normal_forces": "N (walls 1, 2)",
            "penetrations": "m (walls 1, 2)",
            "map_angles": "rad",
        },
        checks=[
            Check(
                "squared eigenvalues",
                value=np.concatenate([squares.real, np.abs(squares.imag)]) / omega**2,
                expected=np.concatenate([expected.real, np.abs(expected.imag)]) / omega**2,
                tolerance=_near_border(disc),
                source="closed form of (5.31), in units of c/m",
            ),
            Check(
                "critical friction coefficient",
                value=border,
                expected=float(1 / np.tan(alpha)),
                tolerance=BORDER / np.tan(alpha),
                source="closed form cot α",
            ),
            Check(
                "border of the map",
                value=chart.boundary * np.tan(chart.y),
                expected=1.0,
                tolerance=BORDER,
                source="closed form cot α, relative",
            ),
            Check(
                "the border does not depend on the stiffness",
                value=other / border,
                expected=1.0,
                tolerance=BORDER,
                source="(5.31)",
            ),
            Check("free motions", value=judged.free_motions, expected=1, source="the disc may turn"),
            Check(
                "normal forces",
                value=judged.sliding.normal_force,
                expected=disc.turning_forces()[0::2],
                tolerance=1e-9 * force / np.cos(disc.phi),
                source="closed form: both contacts slide",
            ),
        ],
        audit={
            "steady sliding": f"residual {judged.sliding.residual:.1e}",
            "stability": str(judged).splitlines()[3],
            "the same disc between rigid walls": str(coexistence(wedge(disc), load=[0.0, 0.0, disc.moment])),
        },
        figures={
            "eigenvalues": partial(_draw_eigenvalues, disc=disc, stiffness=stiffness),
            "map": partial(_draw_map, disc=disc, chart=chart),
        },
    )


def wedge(
    disc: Disc, *, speed: float = 0.0, centre: Any = (0.0, 0.0), rate: Any = (0.0, 0.0)
) -> "LinearSystem":
    """The disc, measured from where it touches both walls, (5.17)-(5.23) with a counter-clockwise angle.

    It turns with ``speed`` [rad/s] in the sense of the moment; ``centre`` (2,) [m] and ``rate`` (2,) [m/s] are those of
    its centre at the start, which may press into compliant walls."""
    from klapper.mechanics import Contact, LinearSystem

    s, c = np.sin(disc.alpha), np.cos(disc.alpha)
    return LinearSystem(
        [disc.mass, disc.mass, disc.inertia],
        force=[-disc.force * np.cos(disc.alpha / 2), -disc.force * np.sin(disc.alpha / 2), disc.moment],
        contacts=[
            Contact("wall 1", normal=[0.0, 1.0, 0.0], tangents=[1.0, 0.0, disc.radius], friction=disc.mu),
            Contact("wall 2", normal=[s, -c, 0.0], tangents=[c, s, -disc.radius], friction=disc.mu),
        ],
        position=[*centre, 0.0],
        velocity=[*rate, np.sign(disc.moment) * speed],
        coordinates=["along wall 1", "above wall 1", "angle"],
        penetration=disc.radius,
        name="disc in a wedge",
    )


def judge(disc: Disc, stiffness: float, damping: float = 0.0) -> "SlidingStability":
    """Steady sliding and eigenvalues of the turning disc."""
    from klapper.analysis.sliding_stability import sliding_stability
    from klapper.mechanics.compliance import CompliantNormal

    law = CompliantNormal(stiffness, damping)
    return sliding_stability(wedge(disc), law, velocity=[0.0, 0.0, np.sign(disc.moment)])


def require_turning(disc: Disc) -> None:
    """Refuse a disc that does not keep turning in place on both walls."""
    if abs(disc.moment_ratio) <= 1.0:
        raise ParameterError(
            f"moment_ratio is {disc.moment_ratio:g}; a disc keeps turning if it is above 1 or below −1."
        )
    if not np.tan(disc.phi) > disc.mu:
        raise ParameterError(
            f"mu is {disc.mu:g}; in this wedge a turning disc climbs a wall from μ = cot(α/2) = "
            f"{np.tan(disc.phi):.6g} on."
        )


def traced_border(disc: Disc, stiffness: float) -> float:
    """The friction coefficient at which the turning disc becomes unstable, by bisection."""
    from klapper.analysis.linear_stability import critical_value

    high = 0.999 * float(np.tan(disc.phi))
    return critical_value(lambda mu: judge(replace(disc, mu=mu), stiffness), 1e-3 * high, high)


def closed_form(disc: Disc, omega: float) -> np.ndarray:
    """s² (2,) complex [1/s²] of (5.31)."""
    root = np.sqrt(complex(np.cos(disc.alpha) ** 2 - (disc.mu * np.sin(disc.alpha)) ** 2))
    return -(omega**2) * (1 + np.array([1.0, -1.0]) * root)


def _near_border(disc: Disc) -> float:
    """Tolerance of s²: a double eigenvalue moves with the root of a disturbance, here of round-off."""
    distance = abs(np.cos(disc.alpha) ** 2 - (disc.mu * np.sin(disc.alpha)) ** 2)
    return float(min(1e-10 / max(np.sqrt(distance), 1e-10), 1e-6))


def _draw_eigenvalues(figure: "Figure", *, disc: Disc, stiffness: float) -> None:
    """Eigenvalues over the friction coefficient. Lines: computed from the stiffness matrix of the contact
    directions; circles: closed form. At μ = cot α the two frequencies meet and a growth rate appears."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    figure.set_size_inches(7.0, 6.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    omega = np.sqrt(stiffness / disc.mass)
    end = min(2.0 / np.tan(disc.alpha), 0.98 * float(np.tan(disc.phi)))
    fine, coarse = np.linspace(0.01, end, 400), np.linspace(0.02, 0.98 * end, 22)
    values = np.array([_positive(judge(replace(disc, mu=mu), stiffness).eigenvalues) for mu in fine]) / omega
    known = np.array([np.sqrt(closed_form(replace(disc, mu=mu), 1.0)) for mu in coarse])
    for axes, part, word in ((upper, np.imag, "frequency Im s / ω"), (lower, np.real, "growth Re s / ω")):
        computed = np.sort(part(values), axis=1)
        axes.plot(fine, computed[:, 0], color=BLUE)
        axes.plot(fine, computed[:, 1], color=ORANGE)
        exact = np.sort(np.abs(np.imag(known)) if part is np.imag else np.real(known), axis=1)
        if part is np.real:
            exact = np.column_stack([-exact[:, 1], exact[:, 1]])
        axes.plot(coarse, exact, "o", markersize=4, markerfacecolor="white", color=DARK, linestyle="none")
        axes.axvline(1 / np.tan(disc.alpha), color=DARK, linewidth=1.0, linestyle="--")
        axes.set_ylabel(word)
    upper.annotate(
        "μ = cot α",
        (1 / np.tan(disc.alpha), upper.get_ylim()[1]),
        (6, -4),
        textcoords="offset points",
        va="top",
    )
    upper.set_title(f"A disc turning in a wedge of {np.degrees(disc.alpha):.3g}° on springs")
    lower.set_xlabel("friction coefficient μ")


def _positive(eigenvalues: np.ndarray) -> Any:
    """The two oscillating eigenvalues with a positive imaginary part."""
    return eigenvalues[eigenvalues.imag > 0.0]


def _draw_map(figure: "Figure", *, disc: Disc, chart: "StabilityMap") -> None:
    """Growth rate over friction coefficient and wedge angle. White: stable; hatched: the disc climbs a wall
    before it can turn in place. Dots: border found by bisection; line: μ = cot α."""
    from klapper.gallery._sketch import DARK

    figure.set_size_inches(7.0, 4.8)
    axes = figure.subplots()
    degrees = np.degrees(chart.y)
    growth = np.where(chart.verdict == "flutter", chart.growth, np.nan)
    shown = axes.pcolormesh(chart.x, degrees, growth, cmap="cividis_r", shading="nearest", rasterized=True)
    figure.colorbar(shown, ax=axes, label="growth rate of the oscillation / (1/s)")
    fine = np.linspace(chart.y[0], chart.y[-1], 200)
    right = float(chart.x[-1])
    climbs = 1 / np.tan(fine / 2)
    axes.fill_betweenx(
        np.degrees(fine),
        climbs,
        right,
        where=climbs < right,
        facecolor="#EEEEEE",
        hatch="///",
        edgecolor="#BBBBBB",
    )
    axes.plot(1 / np.tan(fine), np.degrees(fine), color=DARK, linewidth=1.4, label="μ = cot α")
    axes.plot(
        chart.boundary, degrees, "o", markerfacecolor="white", color=DARK, linestyle="none", label="bisection"
    )
    _mark(axes, disc)
    axes.set(xlim=(0.0, right), ylim=(degrees[0], degrees[-1]))
    axes.set(
        xlabel="friction coefficient μ",
        ylabel="opening angle of the wedge α / °",
        title="Stability of turning",
    )
    axes.text(0.12, degrees[0] + 4.0, "stable")
    axes.legend(loc="upper right", frameon=True)
    axes.grid(False)


def _mark(axes: "Axes", disc: Disc) -> None:
    from klapper.gallery._sketch import ORANGE

    axes.plot(disc.mu, np.degrees(disc.alpha), "o", color=ORANGE, markersize=9, zorder=5)
    axes.annotate("this disc", (disc.mu, np.degrees(disc.alpha)), (10, -14), textcoords="offset points")
