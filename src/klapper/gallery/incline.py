"""Block on an incline: it sticks and does not creep, or it slides.

A block rests on a plane inclined by α, with friction μ between both. In closed form it

    stays where it is                        if tan α ≤ μ
    slides by g (sin α − μ cos α) t²/2       otherwise

Coulomb's law as an inclusion has a true state of sticking: the displacement after a million steps is exactly zero, not
a small number that grows. With constant forces the sliding is exact to round-off, too.
"""

from dataclasses import dataclass
from functools import partial
from math import cos, radians, sin
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.results import Run

SAMPLES = 2000
ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Incline:
    """The parameters of the block, and what follows from them in closed form."""

    angle_deg: float
    mu: float
    mass: float
    gravity: float

    @property
    def weight(self) -> np.ndarray:
        """Down the plane and away from it (2,) [N]."""
        angle = radians(self.angle_deg)
        return self.mass * self.gravity * np.array([sin(angle), -cos(angle)])

    @property
    def drive(self) -> float:
        """sin α − μ cos α; round-off within which it vanishes is taken as zero."""
        angle = radians(self.angle_deg)
        drive = sin(angle) - self.mu * cos(angle)
        return 0.0 if abs(drive) <= 4 * ROUNDING * sin(angle) else drive

    @property
    def sticks(self) -> bool:
        return self.drive <= 0.0

    @property
    def acceleration(self) -> float:
        return self.gravity * max(self.drive, 0.0)

    def system(self) -> "LinearSystem":
        from klapper.mechanics import Contact, LinearSystem

        plane = Contact("plane", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=self.mu)
        return LinearSystem(
            [self.mass, self.mass],
            force=self.weight,
            contacts=[plane],
            coordinates=["displacement", "lift"],
            name="block on an incline",
        )


@example("incline", source="Coulomb's law; closed form")
def incline(
    *,
    angle_deg: Annotated[float, Parameter("inclination", unit="°", at_least=0.0, below=90.0)] = 20.0,
    mu: Annotated[float, Parameter("friction coefficient", at_least=0.0)] = 0.4,
    mass: Annotated[float, Parameter("mass of the block", unit="kg", above=0.0)] = 1.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 10.0,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-5,
    scheme: Annotated[SchemeName, Parameter("method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named

    block = Incline(angle_deg, mu, mass, gravity)
    steps = max(round(until / step), 1)
    every = max(steps // SAMPLES, 1) if scheme == "moreau" else 1
    run = run_named(block.system(), until, scheme, step, every=every)
    displacement, speed = run.coordinate("displacement"), run.speed("displacement")
    force = run.contact("plane").force[-1]
    return Outcome(
        numbers={
            "displacement": displacement[-1],
            "speed": speed[-1],
            "largest_displacement": np.abs(displacement).max(),
            "time": run.time[-1],
            "steps": run.about["steps"],
            "normal_force": force[0],
            "friction_force": force[1],
            "friction_used": abs(force[1]) / (mu * force[0]) if mu > 0.0 else 1.0,
            "friction_angle_deg": float(np.degrees(np.arctan(mu))),
        },
        units={
            "displacement": "m",
            "speed": "m/s",
            "largest_displacement": "m",
            "time": "s",
            "normal_force": "N",
            "friction_force": "N",
            "friction_used": "of the friction limit",
            "friction_angle_deg": "°",
        },
        checks=[*_checks(block, run, force), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "forces": partial(_draw_block, block=block),
            "motion": partial(_draw_motion, block=block, run=run),
            "threshold": partial(_draw_threshold, block=block, scheme=scheme),
            **run_figures(run),
        },
    )


def _checks(block: Incline, run: "Run", force: np.ndarray) -> list[Check]:
    """The motion: exactly none, or the parabola up to the rounding of its many summands."""
    time, steps = run.time, int(run.about["steps"])
    displacement, speed = run.coordinate("displacement"), run.speed("displacement")
    if block.sticks:
        source = "sticking: nothing moves, to the last bit"
        moved, fast = np.abs(displacement).max(), np.abs(speed).max()
        checks = [
            Check("displacement", value=moved, expected=0.0, tolerance=0.0, source=source),
            Check("speed", value=fast, expected=0.0, tolerance=0.0, source=source),
        ]
    else:
        rounding = (steps + 100) * ROUNDING * block.gravity * time[-1]
        checks = [
            Check(
                "displacement",
                value=displacement[-1],
                expected=0.5 * block.acceleration * time[-1] ** 2,
                tolerance=rounding * time[-1],
                source="g (sin α − μ cos α) t²/2; round-off of the steps",
            ),
            Check(
                "speed",
                value=speed[-1],
                expected=block.acceleration * time[-1],
                tolerance=rounding,
                source="g (sin α − μ cos α) t; round-off of the steps",
            ),
        ]
    along, across = block.weight
    return [
        *checks,
        Check(
            "contact force",
            value=force,
            expected=[-across, -min(along, -block.mu * across)],
            tolerance=1e-9 * float(np.hypot(along, across)),
            source="equilibrium across the plane; friction holds, or has reached its limit",
        ),
    ]


def _draw_block(figure: "Figure", *, block: Incline) -> None:
    """The block with its weight (dark), the contact force (orange) and the friction cone it must lie in (grey)."""
    from klapper.gallery._sketch import BODY, DARK, GREY, ORANGE, arrow, bare, label, wall

    figure.set_size_inches(5.4, 3.9)
    axes = figure.subplots()
    angle = radians(block.angle_deg)
    down, up = np.array([cos(angle), -sin(angle)]), np.array([sin(angle), cos(angle)])
    wall(axes, -2.4 * down, 2.4 * down, -0.22 * up)
    corners = [-0.8 * down, 0.8 * down, 0.8 * down + 1.1 * up, -0.8 * down + 1.1 * up]
    axes.fill(*np.array(corners).T, facecolor=BODY, edgecolor=DARK, zorder=3)
    along, across = block.weight / np.hypot(*block.weight)
    force = -across * up - min(along, -block.mu * across) * down
    centre, reach = 0.55 * up, 1.6 / np.hypot(1.0, block.mu)
    cone = [centre + reach * (up + side * block.mu * down) for side in (-1, 1)]
    axes.fill(*np.array([centre, *cone]).T, facecolor=GREY, alpha=0.3, zorder=4)
    arrow(axes, centre, (0.0, -1.5), DARK, front=6)
    label(axes, centre + np.array([0.42, -1.4]), "weight", DARK)
    arrow(axes, centre, 1.5 * force, ORANGE, front=7)
    label(axes, centre + 1.5 * force + np.array([0.0, 0.2]), "contact force", ORANGE)
    axes.set_title("sticks" if block.sticks else f"slides with {block.acceleration:.4g} m/s²")
    bare(axes, (-2.7, 2.7), (-2.3, 2.5))


def _draw_motion(figure: "Figure", *, block: Incline, run: "Run") -> None:
    """Displacement down the plane by the chosen method and in closed form."""
    axes = figure.subplots()
    axes.plot(run.time, run.coordinate("displacement"), label=run.about["scheme"])
    exact = 0.5 * block.acceleration * run.time**2
    axes.plot(run.time, exact, "--", color="#333333", linewidth=1.0, label="closed form")
    axes.set(xlabel="time / s", ylabel="displacement / m", xlim=(0.0, run.time[-1]))
    if block.sticks:
        axes.set_ylim(-1.0, 1.0)
        axes.text(
            0.5,
            0.56,
            f"exactly zero after {run.about['steps']} steps",
            transform=axes.transAxes,
            ha="center",
        )
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_threshold(figure: "Figure", *, block: Incline, scheme: SchemeName) -> None:
    """Acceleration over the inclination, by the chosen method over 0.1 s (dots) and in closed form."""
    axes = figure.subplots()
    angles = np.linspace(0.0, 89.0, 90)
    blocks = [Incline(float(angle), block.mu, block.mass, block.gravity) for angle in angles]
    axes.plot(
        angles, [each.acceleration for each in blocks], color="#333333", linewidth=1.0, label="closed form"
    )
    axes.plot(angles, [_acceleration(each, scheme) for each in blocks], ".", label=scheme)
    _mark(axes, float(np.degrees(np.arctan(block.mu))), "friction angle")
    axes.set(xlabel="inclination / °", ylabel="acceleration / (m/s²)", xlim=(0.0, 90.0))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _acceleration(block: Incline, scheme: SchemeName) -> float:
    from klapper.gallery._run import run_named

    run = run_named(block.system(), 0.1, scheme, 1e-3 if scheme == "moreau" else 0.1)
    return float(run.speed("displacement")[-1] / run.time[-1])


def _mark(axes: "Axes", place: float, text: str) -> None:
    axes.axvline(place, color="#888888", linewidth=0.9, linestyle=":")
    axes.text(place, 0.97, f" {text}", color="#555555", va="top", transform=axes.get_xaxis_transform())
