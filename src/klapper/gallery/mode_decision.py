"""Mass at a rough stop: lift-off, stick or slip is decided by one problem, not by trying.

A mass touches a stop. One force pulls it away from the stop (f), another one along it (f_T):

    m a_N = f + λ_N,   0 ≤ a_N ⟂ λ_N ≥ 0                                            (4.63)
    m a_T = f_T + λ_T,  |λ_T| ≤ μ λ_N, opposite to sliding, or to the onset of sliding   (3.48)

Every pair of forces has exactly one answer; the map of answers is the friction cone. With f_T = 0 this is
the smallest example of a contact that opens because its force would have to pull."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics.acceleration import AccelerationProblem

MODES = ("open", "stick", "slip")
BORDER = 1e-7  # relative distance from a border of the map within which either side's mode is right


@example("mode-decision", source="Waltersberger (2007), Example 4.2a and section 4.2")
def mode_decision(
    *,
    pull: Annotated[float, Parameter("force away from the stop; negative: against it", unit="N")] = 1.0,
    along: Annotated[float, Parameter("force along the stop", unit="N")] = 0.8,
    mu: Annotated[float, Parameter("friction coefficient of the stop", at_least=0.0)] = 0.5,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    sliding_velocity: Annotated[float, Parameter("velocity along the stop; 0: at rest", unit="m/s")] = 0.0,
) -> Outcome:
    from klapper.gallery._audit import audit

    problem = model(pull, along, mu, mass, sliding_velocity)
    decision = problem.solve()
    motions = problem.all_solutions()
    normal_force, friction = decision.normal_force[0], decision.tangential_force[0, 0]
    size = abs(pull) + abs(along) or 1.0
    mode, expected_force, expected_friction = closed_form(pull, along, mu, sliding_velocity)
    expected = [(pull + expected_force) / mass, (along + expected_friction) / mass]
    small = 1e-9 * size * (1.0 + mu)
    checks = [
        Check(
            "forces",
            value=[normal_force, friction],
            expected=[expected_force, expected_friction],
            tolerance=small,
            source="closed form by cases",
        ),
        Check(
            "accelerations",
            value=decision.acceleration,
            expected=expected,
            tolerance=small / mass,
            source="closed form by cases",
        ),
        Check(
            "number of possible accelerations",
            value=len(motions),
            expected=1,
            source="all combinations of lift-off, stick and slip",
        ),
        Check(
            "the only acceleration",
            value=motions.accelerations[0],
            expected=expected,
            tolerance=small / mass,
            source="closed form by cases",
        ),
    ]
    if distance_to_border(pull, along, mu, sliding_velocity) > BORDER * size * (1.0 + mu):
        checks.append(Check("mode", value=decision.modes[0], expected=mode, source="closed form by cases"))
    return Outcome(
        numbers={
            "mode": decision.modes[0],
            "acceleration_away": decision.acceleration[0],
            "acceleration_along": decision.acceleration[1],
            "normal_force": normal_force,
            "friction_force": friction,
        },
        units={
            "acceleration_away": "m/s²",
            "acceleration_along": "m/s²",
            "normal_force": "N",
            "friction_force": "N",
        },
        checks=checks,
        audit=audit(decision.solution, decision.uniqueness),
        figures={
            "map": partial(
                _draw,
                load=(pull, along),
                reaction=(float(normal_force), float(friction)),
                mu=mu,
                mass=mass,
                velocity=sliding_velocity,
            )
        },
    )


def model(pull: float, along: float, mu: float, mass: float, velocity: float) -> "AccelerationProblem":
    """Coordinates: distance from the stop, place along it."""
    from klapper.mechanics.acceleration import AccelerationProblem

    return AccelerationProblem(
        mass * np.eye(2),
        [pull, along],
        normal=[[1.0], [0.0]],
        tangential=[[0.0], [1.0]],
        sliding_velocity=[[velocity]],
        friction=mu,
        normal_names=["stop"],
        tangential_names=["stop"],
    )


def closed_form(pull: float, along: float, mu: float, velocity: float) -> tuple[str, float, float]:
    """Mode, normal force and friction force [N]."""
    if pull > 0.0:
        return "open", 0.0, 0.0
    limit = -mu * pull
    if velocity != 0.0:
        return "slip", -pull, -limit * float(np.sign(velocity))
    if mu > 0.0 and abs(along) <= limit:
        return "stick", -pull, -along
    return "slip", -pull, -limit * float(np.sign(along))


def distance_to_border(pull: float, along: float, mu: float, velocity: float) -> float:
    """How far the forces [N] are from those where the mode changes."""
    to_open = abs(pull)
    if pull > 0.0 or velocity != 0.0 or mu == 0.0:
        return to_open
    return min(to_open, abs(abs(along) + mu * pull))


def _draw(
    figure: "Figure",
    *,
    load: tuple[float, float],
    reaction: tuple[float, float],
    mu: float,
    mass: float,
    velocity: float,
) -> None:
    """Left: the mass at the stop with its load (blue), the forces of the stop (orange) and m a (green).
    Right: the mode for all loads, found point by point; lines are the borders in closed form, the ring marks
    the load of this run."""
    figure.set_size_inches(10.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.25])
    _draw_mass(left, np.array(load), np.array(reaction))
    _draw_map(right, load, mu, mass, velocity)


def _draw_mass(axes: "Axes", load: np.ndarray, reaction: np.ndarray) -> None:
    from klapper.gallery._sketch import BLUE, BODY, DARK, GREEN, ORANGE, arrow, bare, wall

    wall(axes, (0.0, -1.5), (0.0, 1.5), (-0.2, 0.0))
    axes.fill([0.0, 1.0, 1.0, 0.0], [-0.5, -0.5, 0.5, 0.5], facecolor=BODY, edgecolor=DARK, zorder=3)
    total = load + reaction
    unit = 1.2 / (max(np.hypot(*load), np.hypot(*reaction), np.hypot(*total)) or 1.0)
    centre = np.array([0.5, 0.0])
    vectors = (
        ("m a", total, GREEN, centre, 5.0, 0.55),
        ("load", load, BLUE, centre, 2.2, 1.0),
        ("stop", reaction, ORANGE, np.zeros(2), 2.2, 1.0),
    )
    for k, (name, vector, color, start, width, alpha) in enumerate(vectors):
        if np.hypot(*vector) * unit > 1e-6:
            arrow(axes, start, unit * vector, color, width=width, alpha=alpha, front=6)
            name += f" = ({vector[0]:.3g}, {vector[1]:.3g}) N"
        else:
            name += " = 0"
        axes.text(-1.25, -1.75 - 0.24 * k, name, color=color)
    bare(axes, (-1.35, 2.1), (-2.4, 1.6))


def _draw_map(axes: "Axes", load: tuple[float, float], mu: float, mass: float, velocity: float) -> None:
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    reach = 1.3 * max(abs(load[0]), abs(load[1])) or 1.0
    places = reach * (np.arange(20) - 9.5) / 10.0
    pulls, alongs = (grid.ravel() for grid in np.meshgrid(places, places))
    modes = np.array(
        [model(f, g, mu, mass, velocity).solve().modes[0] for f, g in zip(pulls, alongs, strict=True)]
    )
    for mode, color, marker in zip(MODES, (GREEN, BLUE, ORANGE), ("o", "s", "^"), strict=True):
        chosen = modes == mode
        if chosen.any():
            axes.scatter(pulls[chosen], alongs[chosen], s=16, color=color, marker=marker, label=mode)
    axes.axvline(0.0, color=DARK, linewidth=1.2)
    if mu > 0.0 and velocity == 0.0:
        corner = np.array([-reach, 0.0])
        for side in (1.0, -1.0):
            axes.plot(corner, -side * mu * corner, color=DARK, linewidth=1.2)
    axes.scatter(*load, s=130, facecolor="none", edgecolor=DARK, linewidth=2.0, zorder=6)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="force away from the stop / N", ylabel="force along the stop / N")
    state = "at rest" if velocity == 0.0 else f"sliding with {velocity:g} m/s"
    axes.set_title(f"mode for μ = {mu:g}, {state}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
