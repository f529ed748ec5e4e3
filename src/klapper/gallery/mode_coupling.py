"""Mode coupling: a mass on a belt squeals although the friction coefficient does not fall with speed.

A mass is pressed onto a belt. Two inclined springs couple its motions along (x) and across (y) the belt; the contact is
a spring k₃. While it slides, friction follows the normal force and makes the stiffness matrix unsymmetric,

    m q̈ + C q̇ + K q = 0,   K = [k_xx, k_xy − μ k₃; k_xy, k_yy],   k_yy = k₁ sin²α₁ + k₂ sin²α₂ + k₃

With friction the two frequencies approach each other, meet at

    μ_c = (k_xy + (k_xx − k_yy)²/(4 k_xy))/k₃      (no damping)

and beyond it one oscillation grows: flutter. Damping c_x, c_y moves the limit to where Hurwitz' determinant vanishes,

    a₁ a₂ a₃ = a₁² a₄ + a₀ a₃²   of   a₄ s⁴ + a₃ s³ + a₂ s² + a₁ s + a₀ = det(m s² + C s + K),

which can be lower: away from k_xx = k_yy unequal damping of the two directions destabilises. The growth ends where the
mass sticks to the belt or lifts off."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._mode_coupling import Slider
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis import StabilityCourse, StabilityMap

GRID = (81, 61)  # of the map: friction coefficients, contact stiffnesses


@example(
    "mode-coupling",
    source="Hoffmann, Fischer, Allgaier, Gaul, Mech. Res. Comm. 29 (2002) 197-205; "
    "with damping: Hoffmann, Gaul, ZAMM 83 (2003) 524-534",
)
def mode_coupling(
    *,
    mu: Annotated[float, Parameter("friction coefficient", above=0.0)] = 0.9,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    k1: Annotated[float, Parameter("stiffness of the first spring", unit="N/m", above=0.0)] = 1786.33,
    k2: Annotated[float, Parameter("stiffness of the second spring", unit="N/m", above=0.0)] = 24880.34,
    k3: Annotated[float, Parameter("stiffness of the contact", unit="N/m", above=0.0)] = 13333.33,
    alpha1: Annotated[float, Parameter("angle of the first spring to the belt", unit="°")] = 150.0,
    alpha2: Annotated[float, Parameter("angle of the second spring to the belt", unit="°")] = 30.0,
    damping_x: Annotated[float, Parameter("damping along the belt", unit="N s/m", at_least=0.0)] = 6.0,
    damping_y: Annotated[float, Parameter("damping across the belt", unit="N s/m", at_least=0.0)] = 1.0,
    force: Annotated[
        float, Parameter("force that presses the mass onto the belt", unit="N", above=0.0)
    ] = 50.0,
    belt_speed: Annotated[
        float, Parameter("speed of the belt towards negative x", unit="m/s", above=0.0)
    ] = 0.1,
) -> Outcome:
    from klapper.analysis.stability_map import stability_map, stability_over

    slider = Slider(
        mu, mass, k1, k2, k3, np.radians(alpha1), np.radians(alpha2), damping_x, damping_y, force, belt_speed
    )
    _require_coupling(slider)
    judged = slider.judged
    frictions = np.linspace(0.0, 2.0 * max(slider.critical, mu), 121)
    course = stability_over(lambda value: replace(slider, mu=value).judged, frictions, progress=False)
    chart = stability_map(
        lambda value, stiffness: replace(slider, mu=value, k3=stiffness).matrices,
        np.linspace(0.0, 2.5 * max(slider.critical, mu), GRID[0]),
        np.linspace(0.2 * k3, 3.0 * k3, GRID[1]),
        progress=False,
    )
    return Outcome(
        numbers={
            "critical_mu": course.critical,
            "growth_rate": judged.growth,
            "verdict": judged.verdict,
            "frequency": judged.angular_frequency / (2 * np.pi),
            "critical_frequency": course.changes[0].angular_frequency / (2 * np.pi),
            "critical_mu_undamped": replace(slider, damping_x=0.0, damping_y=0.0).critical,
            "normal_force": judged.sliding.normal_force[0],
            "linear_until": slider.motion.time[slider.linear],
        },
        units={
            "growth_rate": "1/s",
            "frequency": "Hz (of the least damped oscillation)",
            "critical_frequency": "Hz",
            "normal_force": "N (in steady sliding)",
            "linear_until": "s (then the mass sticks, lifts off, or the simulation ends)",
        },
        checks=_checks(slider, course, chart),
        audit={
            "steady sliding": f"residual {judged.sliding.residual:.1e}",
            "stability": str(judged).splitlines()[2],
            "limits": "bracketed to 1e-10 of the grid",
            "uniqueness": "one steady sliding; the growing motion depends on the disturbance",
        },
        figures={
            "model": partial(_draw_model, slider=slider),
            "eigenvalues": partial(_draw_eigenvalues, slider=slider, course=course),
            "squeal-map": partial(_draw_map, slider=slider, chart=chart),
            "motion": partial(_draw_motion, slider=slider),
        },
    )


def _require_coupling(slider: Slider) -> None:
    coupling = slider.springs[0, 1]
    if coupling <= 1e-9 * np.abs(slider.springs).max():
        raise ParameterError(
            f"the springs couple x and y by {coupling:.4g} N/m; it must be above 0, or friction never makes the mass "
            f"flutter. Make k2 the stiffer spring, or turn the springs."
        )
    if np.linalg.eigvalsh(slider.springs)[0] <= 0.0:
        raise ParameterError(
            "alpha1 and alpha2 are the same direction, so that nothing holds the mass across it."
        )


def _checks(slider: Slider, course: "StabilityCourse", chart: "StabilityMap") -> list[Check]:
    roots = np.sort_complex(np.roots(slider.polynomial))
    size = float(np.abs(roots).max())
    found = np.sort_complex(slider.judged.eigenvalues)
    near = 1e-6 if abs(slider.mu - slider.critical) < 1e-3 * slider.critical else 1e-9
    curve = np.concatenate([each.points for each in chart.curves if each.kind == "flutter"])
    closed = [replace(slider, k3=stiffness).critical for stiffness in curve[:, 1]]
    return [
        Check(
            "critical friction coefficient",
            value=course.critical,
            expected=slider.critical,
            tolerance=1e-6 * slider.critical,
            source="closed form: double frequency, or Hurwitz' determinant with damping",
        ),
        Check(
            "eigenvalues",
            value=np.concatenate([found.real, found.imag]) / size,
            expected=np.concatenate([roots.real, roots.imag]) / size,
            tolerance=near,
            source="roots of the characteristic polynomial",
        ),
        Check(
            "growth rate of the simulated motion",
            value=slider.measured_growth,
            expected=slider.judged.growth,
            tolerance=1e-5 * size,
            source="eigenvalue; the motion is linear until it sticks or lifts off",
        ),
        Check(
            "traced border of the map",
            value=curve[:, 0] / closed,
            expected=1.0,
            tolerance=1e-6,
            source="closed form, relative",
        ),
        Check(
            "normal force in steady sliding",
            value=slider.judged.sliding.normal_force[0] / slider.force,
            expected=float(slider.k3 * slider.springs[0, 0] / slider.polynomial[-1]),
            tolerance=1e-9,
            source="closed form k₃ k_xx/det K",
        ),
    ]


def _draw_model(figure: "Figure", *, slider: Slider) -> None:
    """A mass is pressed onto a moving belt. Two inclined springs couple its motions along and across the belt."""
    from klapper.gallery._sketch import BLUE, BODY, DARK, ORANGE, arrow, bare, label, wall

    figure.set_size_inches(6.4, 3.4)
    axes = figure.subplots()
    bare(axes, (-3.4, 3.4), (-1.35, 2.3))
    axes.fill([-0.5, 0.5, 0.5, -0.5], [0.0, 0.0, 1.0, 1.0], facecolor=BODY, edgecolor=DARK, zorder=3)
    label(axes, (0.0, 0.5), "m", DARK)
    centre = np.array([0.0, 0.5])
    for angle, name in ((slider.alpha1, "$k_1$"), (slider.alpha2, "$k_2$")):
        way = np.array([np.cos(angle), np.sin(angle)])
        way = way if way[1] >= 0.0 else -way
        _spring(axes, centre + 0.62 * way, centre + 2.5 * way)
        label(axes, centre + 1.55 * way + np.array([0.0, 0.34]), name, DARK)
        across = 0.25 * np.array([-way[1], way[0]])
        wall(axes, centre + 2.5 * way - across, centre + 2.5 * way + across, 0.14 * way)
    _spring(axes, np.array([0.0, -0.62]), np.array([0.0, 0.0]))
    label(axes, (0.36, -0.3), "$k_3$", DARK)
    axes.plot([-2.6, 2.6], [-0.66, -0.66], color=DARK, linewidth=3.0)
    axes.plot([-2.6, 2.6], [-1.05, -1.05], color=DARK, linewidth=1.4)
    arrow(axes, (-0.8, -0.85), (-1.1, 0.0), BLUE)
    label(axes, (1.1, -0.86), f"belt, {slider.belt_speed:g} m/s, friction μ", BLUE)
    arrow(axes, (0.0, 1.9), (0.0, -0.85), ORANGE)
    label(axes, (0.42, 1.72), "F", ORANGE)
    arrow(axes, (1.5, 0.3), (0.6, 0.0), DARK, width=1.4)
    arrow(axes, (1.5, 0.3), (0.0, 0.6), DARK, width=1.4)
    label(axes, (2.25, 0.3), "x", DARK)
    label(axes, (1.5, 1.02), "y", DARK)


def _spring(axes: "Axes", start: np.ndarray, end: np.ndarray) -> None:
    along = end - start
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    shares = np.concatenate([[0.0, 0.15], np.linspace(0.2, 0.8, 9), [0.85, 1.0]])
    swing = np.concatenate([[0.0, 0.0], 0.1 * np.resize([1.0, -1.0], 9), [0.0, 0.0]])
    points = start + np.outer(shares, along) + np.outer(swing, across)
    axes.plot(*points.T, color="#555555", linewidth=1.4, zorder=2)


def _draw_eigenvalues(figure: "Figure", *, slider: Slider, course: "StabilityCourse") -> None:
    """Frequencies and growth rates over the friction coefficient. Lines: from the contact directions; circles: roots of
    the characteristic polynomial; grey dots: without damping. The frequencies meet, and one of the oscillations
    grows."""
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(7.0, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    near = course.critical * (1.0 + np.outer([-1.0, 1.0], np.geomspace(1e-5, 3e-2, 25)).ravel())
    frictions = np.union1d(course.x, near)
    values = np.array([_upper(replace(slider, mu=mu).judged.eigenvalues) for mu in frictions])
    bare = replace(slider, damping_x=0.0, damping_y=0.0)
    ideal = np.array([_upper(np.roots(replace(bare, mu=mu).polynomial)) for mu in frictions])
    known = np.array([_upper(np.roots(replace(slider, mu=mu).polynomial)) for mu in course.x[::6]])
    for axes, part, factor in ((upper, np.imag, 1 / (2 * np.pi)), (lower, np.real, 1.0)):
        axes.plot(frictions, factor * np.sort(part(ideal), axis=1), color=GREY, linestyle=":", linewidth=1.2)
        ordered = factor * np.sort(part(values), axis=1)
        axes.plot(frictions, ordered[:, 0], color=BLUE)
        axes.plot(frictions, ordered[:, 1], color=ORANGE)
        points = factor * np.sort(part(known), axis=1)
        axes.plot(
            course.x[::6], points, "o", markersize=4, markerfacecolor="white", color=DARK, linestyle="none"
        )
        axes.axvline(course.critical, color=DARK, linewidth=1.0, linestyle="--")
    lower.axhline(0.0, color=GREY, linewidth=0.8)
    upper.set(ylabel="frequency / Hz")
    lower.set(xlabel="friction coefficient μ", ylabel="growth rate / (1/s)", xlim=(course.x[0], course.x[-1]))
    upper.annotate(
        f"$\\mu_c$ = {course.critical:.4g}",
        (course.critical, 1.0),
        (5, -4),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
    )


def _upper(values: np.ndarray) -> Any:
    """The two eigenvalues with the largest imaginary parts."""
    return values[np.argsort(-values.imag, kind="stable")[:2]]


def _draw_map(figure: "Figure", *, slider: Slider, chart: "StabilityMap") -> None:
    """Squeal map: growth rate over friction coefficient and contact stiffness; white is quiet. Red: traced border;
    circles: Hurwitz' limit; dotted: closed form without damping. Between dotted and red line damping destabilises."""
    from klapper.gallery._sketch import DARK

    figure.set_size_inches(7.2, 4.8)
    axes = figure.subplots()
    chart.plot(
        axes, x_name="friction coefficient μ", y_name="contact stiffness $k_3$ / (kN/m)", scale=(1.0, 1e-3)
    )
    bare = replace(slider, damping_x=0.0, damping_y=0.0)
    ideal = [replace(bare, k3=stiffness).critical for stiffness in chart.y]
    axes.plot(ideal, 1e-3 * chart.y, color=DARK, linestyle=":", linewidth=1.4, label="onset without damping")
    known = np.array([replace(slider, k3=stiffness).critical for stiffness in chart.y[::5]])
    axes.plot(
        known, 1e-3 * chart.y[::5], "o", markersize=4.5, markerfacecolor="white", color=DARK, linestyle="none",
        label="Hurwitz' limit",
    )  # fmt: skip
    axes.plot(
        slider.mu, 1e-3 * slider.k3, "*", markersize=13, color="#0072B2", markeredgecolor="white", zorder=5
    )
    axes.annotate("this mass", (slider.mu, 1e-3 * slider.k3), (8, 6), textcoords="offset points")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3, frameon=False, ncols=3)


def _draw_motion(figure: "Figure", *, slider: Slider) -> None:
    """Motion along the belt after a small disturbance of steady sliding; dashed: growth by the eigenvalue, as long as
    the contact slides. Bars: states of the contact. Right: phase portrait, grey while it slides; the dotted line is the
    speed of the belt, on which the mass sticks."""
    from klapper.contact_states import OPEN, SLIP, STICK
    from klapper.gallery._sketch import BLUE, GREY, ORANGE
    from klapper.results.plots import COLOURS

    figure.set_size_inches(9.6, 4.4)
    grid = figure.add_gridspec(2, 2, height_ratios=(6, 1), width_ratios=(3, 2))
    course, strip, phase = (figure.add_subplot(grid[where]) for where in ((0, 0), (1, 0), (slice(None), 1)))
    run, rest = slider.motion, slider.judged.sliding.position
    x, v = 1e3 * (run.position[:, 0] - rest[0]), run.velocity[:, 0]
    course.plot(run.time, x, color=BLUE, linewidth=1.2)
    last = slider.linear
    envelope = 1e3 * slider.fastest[0] * np.exp(slider.judged.growth * run.time[: last + 1])
    for sign in (1.0, -1.0):
        course.plot(run.time[: last + 1], sign * envelope, color=ORANGE, linestyle="--", linewidth=1.2)
    course.set(ylabel="x − x₀ / mm", xlim=(0.0, run.time[-1]))
    course.tick_params(labelbottom=False)
    states = run.contact("belt").state
    for code, name in ((OPEN, "open"), (STICK, "stick"), (SLIP, "slip")):
        strip.fill_between(
            run.time, 0.0, 1.0, where=states == code, step="pre", color=COLOURS[code], linewidth=0, label=name
        )
    strip.set(xlabel="time / s", yticks=[], ylim=(0.0, 1.0), xlim=(0.0, run.time[-1]))
    strip.grid(False)
    strip.legend(
        loc="upper left", bbox_to_anchor=(0.0, 1.75), ncols=3, frameon=False, fontsize=8, handlelength=1.0
    )
    phase.plot(x[: last + 1], v[: last + 1], color=GREY, linewidth=0.8)
    phase.plot(x[last:], v[last:], color=BLUE, linewidth=1.2)
    phase.axhline(-slider.belt_speed, color=ORANGE, linestyle=":", linewidth=1.2)
    phase.set(xlabel="x − x₀ / mm", ylabel="velocity along the belt / (m/s)")
