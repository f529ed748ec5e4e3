"""Three-footed slider: the model leaves the motion open.

A block slides on three feet with different friction. Two equations of equilibrium do not determine three normal forces,

    ΣN_i = m g,   Σ x_i N_i = (b/2)(F + Σ μ_i N_i),   N_i ≥ 0,      m ẍ = F − Σ μ_i N_i

and since friction takes its share μ_i of each of them, the acceleration is not determined either: rigid bodies and
Coulomb's law admit every ẍ between two bounds. This is Glocker's pantograph in small. Each rule that selects forces
selects a motion; the bounds are reached when the block slides on two of its feet."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.gallery._feet import FootedBlock
    from klapper.results import Run

PRINTED = {"places": (-0.1, 0.0, 0.1), "mu": (0.1, 0.5, 0.1), "push": 60.0, "mass": 16.0, "height": 0.1}
STEPS = 100


@example(
    "three-footed-slider",
    source="Glocker's pantograph after Seiwald (2014), section 4.3.3; block with three feet",
)
def three_footed_slider(
    *,
    places: Annotated[
        tuple[float, float, float], Parameter("places of the feet from the middle, rising", unit="m")
    ] = (-0.1, 0.0, 0.1),
    mu: Annotated[
        tuple[float, float, float], Parameter("friction coefficients of the feet", at_least=0.0)
    ] = (
        0.1,
        0.5,
        0.1,
    ),
    push: Annotated[float, Parameter("force at the upper edge", unit="N", above=0.0)] = 60.0,
    mass: Annotated[float, Parameter("mass of the block", unit="kg", above=0.0)] = 16.0,
    height: Annotated[float, Parameter("height of the block", unit="m", above=0.0)] = 0.1,
    speed: Annotated[float, Parameter("sliding speed at the start", unit="m/s", above=0.0)] = 0.1,
    until: Annotated[float, Parameter("end of the motion", unit="s", above=0.0)] = 0.5,
) -> Outcome:
    from klapper.gallery._feet import FootedBlock
    from klapper.mechanics.force_sets import mode_forces

    if not places[0] < places[1] < places[2]:
        raise ParameterError(f"places is {places}; the feet must stand in rising order.")
    block = FootedBlock(places, mu, mass, height)
    corners = block.sliding_extremes(push)
    if len(corners) == 0:
        raise ParameterError(
            "push tips the block over its right foot; give a smaller push or a flatter block."
        )
    friction = np.sort(corners @ np.array(mu))[[0, -1]]
    expected = (push - friction[::-1]) / mass
    if expected[0] * until + speed <= 0.0:
        raise ParameterError(
            "the block may come to rest before until; give a smaller until or a larger speed."
        )

    forces = mode_forces(block.acceleration_problem(push, speed).solve(), mass=block.mass_matrix)
    motions, _ = forces.motions(np.linalg.solve(block.mass_matrix, forces.directions))
    found = np.sort(push / mass + motions[:, 0])
    runs = {label: _run(block, push, speed, until, rule) for label, rule in _rules().items()}
    rates = {label: (run.velocity[-1, 0] - speed) / run.time[-1] for label, run in runs.items()}
    spread = expected[1] - expected[0]
    lower, upper = corners.min(axis=0), corners.max(axis=0)
    numbers: dict[str, Any] = {
        "acceleration_min": found[0],
        "acceleration_max": found[-1],
        "friction_min": friction[0],
        "friction_max": friction[1],
        "normal_min": forces.lower[:3],
        "normal_max": forces.upper[:3],
        "motion_unique": forces.motion_unique,
        **{f"acceleration_{label.replace(' ', '_')}": rate for label, rate in rates.items()},
    }
    scale = push / mass + max(mu) * 9.81
    checks = [
        Check(
            "least and greatest acceleration",
            value=found[[0, -1]],
            expected=expected,
            tolerance=1e-9 * scale,
            source="closed form: sliding on two feet",
        ),
        Check(
            "least normal forces",
            value=forces.lower[:3],
            expected=lower,
            tolerance=1e-9 * block.weight,
            source="closed form: sliding on two feet",
        ),
        Check(
            "greatest normal forces",
            value=forces.upper[:3],
            expected=upper,
            tolerance=1e-9 * block.weight,
            source="closed form: sliding on two feet",
        ),
        Check(
            "the motion is not determined",
            value=not forces.motion_unique,
            expected=bool(spread > 1e-6 * scale),
            source="least and greatest acceleration differ",
        ),
        Check(
            "slowest and fastest motion by time stepping",
            value=np.array([rates["slowest"], rates["fastest"]]),
            expected=expected,
            tolerance=1e-7 * scale,
            source="closed form; constant forces are integrated exactly",
        ),
    ]
    between = [rates[label] for label in rates if label not in ("slowest", "fastest")]
    checks.append(
        Check(
            "other rules stay between them",
            value=bool(
                min(between) >= expected[0] - 1e-7 * scale and max(between) <= expected[1] + 1e-7 * scale
            ),
            expected=True,
            source="every rule selects a member of the set",
        )
    )
    shipped = {"places": places, "mu": mu, "push": push, "mass": mass, "height": height}
    if shipped == PRINTED:
        checks.append(
            Check(
                "friction and acceleration of the trial computation",
                value=np.array([*friction, found[-1], found[0]]),
                expected=np.array([15.70, 55.40, 2.769, 0.2875]),
                tolerance=np.array([5e-3, 5e-3, 5e-4, 5e-5]),
                source="printed digits for the block with three feet",
            )
        )
    findings = runs["minimum norm"].about["audit"]
    return Outcome(
        numbers=numbers,
        units={
            "acceleration_min": "m/s²",
            "acceleration_max": "m/s²",
            "friction_min": "N",
            "friction_max": "N",
            "normal_min": "N",
            "normal_max": "N",
            **{f"acceleration_{label.replace(' ', '_')}": "m/s²" for label in rates},
        },
        checks=checks,
        audit={
            "forces": "; ".join(" ".join(line.split()) for line in str(forces).splitlines()),
            "minimum norm run": {
                key: findings[key] for key in findings if "select" in key or "forces" in key
            },
        },
        figures={
            "motions": partial(_draw_motions, runs=runs, speed=speed),
            "forces": partial(_draw_forces, block=block, push=push, runs=runs, lower=lower, upper=upper),
            "acceleration-interval": partial(_draw_interval, block=block, push=push, rates=rates),
        },
    )


def _rules() -> dict[str, Any]:
    from klapper.complementarity.selection import (
        Compliant,
        ExtremeMotion,
        LargestMargin,
        MinimumNorm,
    )

    return {
        "fastest": ExtremeMotion(0, "max"),
        "soft middle foot": Compliant({"foot 2 normal": 10.0}),
        "largest margin": LargestMargin(),
        "minimum norm": MinimumNorm(),
        "slowest": ExtremeMotion(0, "min"),
    }


def _run(block: "FootedBlock", push: float, speed: float, until: float, rule: Any) -> "Run":
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    return simulate(block.system(push, speed), until, Moreau(until / STEPS, selection=rule))


def _colours() -> list[str]:
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE, PURPLE

    return [ORANGE, PURPLE, GREEN, DARK, BLUE]


def _draw_motions(figure: "Figure", *, runs: "dict[str, Run]", speed: float) -> None:
    """Way of the block by the rule that selects the forces. All curves satisfy the same rigid-body model; between the
    slowest and the fastest one every motion is possible (shaded)."""
    axes = figure.subplots()
    slowest, fastest = runs["slowest"], runs["fastest"]
    axes.fill_between(
        slowest.time,
        slowest.position[:, 0],
        fastest.position[:, 0],
        color="#DCE6EE",
        label="possible motions",
    )
    for (label, run), colour in zip(runs.items(), _colours(), strict=True):
        rate = (run.velocity[-1, 0] - speed) / run.time[-1]
        axes.plot(run.time, run.position[:, 0], color=colour, label=f"{label}: {rate:.4g} m/s²")
    axes.set(xlabel="time / s", ylabel="way / m", xlim=(0.0, slowest.time[-1]))
    axes.set_title("one model, many motions")
    axes.legend(loc="upper left", title="selection rule: acceleration")


def _draw_forces(
    figure: "Figure",
    *,
    block: "FootedBlock",
    push: float,
    runs: "dict[str, Run]",
    lower: np.ndarray,
    upper: np.ndarray,
) -> None:
    """The block (left), and the normal forces that each foot may carry (bars) with those of the rules (marks)."""
    figure.set_size_inches(9.6, 4.0)
    sketch, bars = figure.subplots(1, 2, width_ratios=[1.0, 1.5])
    _sketch_block(sketch, block, push)
    places = np.arange(len(block.places))
    bars.bar(
        places, np.maximum(upper - lower, 0.5), bottom=lower, width=0.7, color="#DCE6EE", label="possible"
    )
    for k, ((label, run), colour) in enumerate(zip(runs.items(), _colours(), strict=True)):
        forces = run.samples.impulse[-1, :, 0] / (run.time[-1] - run.time[-2])
        shift = 0.13 * (k - 0.5 * (len(runs) - 1))
        bars.scatter(places + shift, forces, color=colour, marker="D", s=36, zorder=4, label=label)
    for k in range(len(places)):
        bars.annotate(
            f"{lower[k]:.4g} … {upper[k]:.4g} N",
            (k, upper[k]),
            (0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    bars.set_xticks(
        places, [f"{name}\nμ = {mu:g}" for name, mu in zip(block.names, block.friction, strict=True)]
    )
    bars.set(ylabel="normal force / N", ylim=(-4.0, 1.55 * upper.max()))
    bars.set_title("normal forces while sliding")
    bars.legend(loc="upper left", ncols=2, fontsize=9)
    bars.grid(False, axis="x")


def _sketch_block(axes: "Axes", block: "FootedBlock", push: float) -> None:
    from klapper.gallery._sketch import BODY, DARK, GREEN, ORANGE, arrow, bare, label, wall

    half, b = 0.5 * block.width, block.height
    foot = 0.12 * b
    axes.fill([-half, half, half, -half], [foot, foot, b + foot, b + foot], facecolor=BODY, edgecolor=DARK)
    for place, mu, name in zip(block.places, block.friction, block.names, strict=True):
        axes.fill(place + 0.08 * half * np.array([-1, 1, 0]), [foot, foot, 0.0], color=DARK)
        label(axes, (place, -0.42 * b), f"{name}\nμ = {mu:g}", DARK)
    wall(axes, (-1.5 * half, 0.0), (1.5 * half, 0.0), (0.0, -0.12 * b))
    arrow(axes, (half, b + foot), (0.55 * half, 0.0), ORANGE)
    label(axes, (1.35 * half, b + foot + 0.16 * b), f"F = {push:g} N", ORANGE)
    arrow(axes, (-0.2 * half, 0.55 * b), (0.5 * half, 0.0), GREEN)
    label(axes, (0.05 * half, 0.75 * b), "slides", GREEN)
    bare(axes, (-1.6 * half, 1.75 * half), (-0.75 * b, 1.5 * b))


def _draw_interval(figure: "Figure", *, block: "FootedBlock", push: float, rates: dict[str, float]) -> None:
    """Interval of accelerations over the friction of the middle foot. It shrinks to a point where all feet rub alike:
    then it does not matter to the motion how they share the weight."""
    from dataclasses import replace

    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    axes = figure.subplots()
    values = np.linspace(0.0, max(0.8, 1.2 * block.friction[1]), 121)
    ends = np.full((len(values), 2), np.nan)
    for k, mu in enumerate(values):
        other = replace(block, friction=(block.friction[0], float(mu), block.friction[2]))
        corners = other.sliding_extremes(push)
        if len(corners):
            rate = (push - corners @ np.array(other.friction)) / block.mass
            ends[k] = rate.min(), rate.max()
    axes.fill_between(values, ends[:, 0], ends[:, 1], color="#DCE6EE", label="possible accelerations")
    axes.plot(values, ends[:, 1], color=ORANGE, label="fastest")
    axes.plot(values, ends[:, 0], color=BLUE, label="slowest")
    axes.plot(block.friction[1], rates["minimum norm"], "D", color=DARK, label="minimum norm")
    axes.axvline(block.friction[1], color=DARK, linewidth=0.8, linestyle=":")
    axes.axhline(0.0, color=DARK, linewidth=0.8)
    axes.set(xlabel="friction coefficient of the middle foot", ylabel="acceleration / (m/s²)")
    axes.set(xlim=(values[0], values[-1]), title="how far the motion is open")
    axes.legend(loc="lower left")
