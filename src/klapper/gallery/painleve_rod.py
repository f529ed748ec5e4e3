"""Painlevé's rod: a sliding rod for which rigid bodies and Coulomb's law have no answer, or two.

The tip of a uniform rod slides on a rough floor, ahead of the rod, at the angle θ to the floor. Friction turns the tip
into the floor. With the half length a the contact force λ lifts the tip with

    g̈ = A λ + b,   m A = 1 + 3 cos θ (cos θ − μ sin θ),   b = a θ̇² sin θ − g,   0 ≤ g̈ ⟂ λ ≥ 0

If A > 0 there is always one solution. If friction makes A < 0, which needs μ > 4/3, there is none for b < 0 (Painlevé's
paradox: every force presses the tip further in) and there are two for b > 0 (the tip lifts off, or presses). On the
level of velocities the paradox resolves: the velocity jumps, and an impulse without any collision stops the sliding at
once. Time stepping goes through this jump by itself; an event-driven method must stop and say why, or be told to jump.
A rod that slides smoothly comes to A = 0 only where b = 0, too (Génot & Brogliato 1999), so the run starts inside.
"""

from functools import partial
from math import cos, radians, sin
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._painleve_rod import Rod, paradox_angles
from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.report import Scene
    from klapper.results import Run

WORDS = {0: "none: Painlevé's paradox", 1: "one", 2: "two: the tip lifts off or presses"}


@example("painleve-rod", source="Painlevé (1895); Génot & Brogliato (1999)")
def painleve_rod(
    *,
    length: Annotated[float, Parameter("length of the rod", unit="m", above=0.0)] = 1.0,
    mass: Annotated[float, Parameter("mass of the rod", unit="kg", above=0.0)] = 1.0,
    mu: Annotated[float, Parameter("friction coefficient", at_least=0.0)] = 1.8,
    angle_deg: Annotated[float, Parameter("angle to the floor", unit="°", above=0.0, below=90.0)] = 50.0,
    angular_speed: Annotated[float, Parameter("angular velocity, raising the rod", unit="rad/s")] = 0.0,
    sliding_speed: Annotated[
        float, Parameter("speed of the tip, ahead of the rod", unit="m/s", above=0.0)
    ] = 2.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.3,
    step: Annotated[float, Parameter("time step, or interval of output", unit="s", above=0.0)] = 2e-3,
    scheme: Annotated[SchemeName, Parameter("method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named

    rod = Rod(length, mass, mu, radians(angle_deg), angular_speed, sliding_speed, gravity)
    found = rod.problem().all_solutions()
    run = run_named(rod.system(), until, scheme, step, painleve="jump", **rod.compliance())
    told = _explanation(rod, until, step)
    grid = _grid(rod)
    return Outcome(
        numbers={
            "solutions": len(found),
            "verdict": WORDS[len(found)],
            "contact_forces": sorted(float(decision.normal_force[0]) for decision in found),
            "mobility": rod.mobility * mass,
            "free_acceleration": rod.free_acceleration,
            "critical_mu": _critical_mu(rod),
            "paradox_angles_deg": paradox_angles(mu),
            "first_impulse": run.impulse[1, 0],
            "sliding_speed_after": _tip_speed(rod, run, 1),
            "event_driven": told,
        },
        units={
            "contact_forces": "N",
            "mobility": "of 1/m (closed form)",
            "free_acceleration": "m/s² (closed form)",
            "paradox_angles_deg": "°, between which A < 0 (closed form)",
            "first_impulse": "N s, normal and tangential, of the first step",
            "sliding_speed_after": "m/s, after the first step",
        },
        checks=[
            *_solution_checks(rod, found, grid),
            *_jump_checks(rod, run, told, step, scheme),
            *_run_checks(rod, run, scheme),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={
            "rod": partial(_draw_rod, rod=rod),
            "map": partial(_draw_map, rod=rod, grid=grid),
            "jump": partial(_draw_jump, rod=rod, until=until, step=step),
            **run_figures(run, "contact-states", "energy"),
        },
        scenes={"run": partial(_scene, rod, run)},
    )


def _scene(rod: Rod, run: "Run") -> "Scene":
    """The rod on its floor."""
    from klapper.report import Scene, Shape, frame_times, moved

    time = frame_times(run)
    x, y, angle = run.position_at(time).T
    line = moved([[-rod.half, 0.0], [rod.half, 0.0]], x, y, angle)
    floor = [[[x.min() - rod.length, 0.0], [x.max() + rod.length, 0.0]]]
    return Scene(
        time, [Shape("floor", floor, "line", faint=True), Shape("rod", line, "line")], caption="The rod."
    )


def _critical_mu(rod: Rod) -> float:
    """The least μ for which any angle has A < 0, from the mobilities of the acceleration problem."""
    from dataclasses import replace

    from scipy.optimize import minimize_scalar

    def needed(angle: float) -> float:  # A is linear in μ
        none, one = (replace(rod, angle=angle, mu=mu).problem().normal_mobility[0] for mu in (0.0, 1.0))
        return float(none / (none - one))

    return float(minimize_scalar(needed, bounds=(0.2, 1.5), method="bounded", options={"xatol": 1e-7}).fun)


def _grid(rod: Rod) -> list[tuple[Rod, int]]:
    """Rods of other angles and friction, with the number of solutions found by trying all combinations."""
    from dataclasses import replace

    rods = [
        replace(rod, angle=radians(angle), mu=float(mu), turning=turning)
        for angle in np.linspace(10.0, 88.0, 9)
        for mu in np.linspace(0.6, 3.0, 5)
        for turning in {rod.turning, 0.0, 2.0 * np.sqrt(rod.gravity / rod.half)}
    ]
    return [(other, len(other.problem().all_solutions())) for other in rods if other.decided]


def _explanation(rod: Rod, until: float, step: float) -> str:
    """What the event-driven method says when it is not allowed to jump."""
    from klapper.schemes.event_driven import EventDriven
    from klapper.simulation import SimulationFailed, simulate

    try:
        simulate(rod.system(), until, EventDriven(sample=max(step, until / 100)), progress=False)
    except SimulationFailed as stopped:
        return str(stopped)
    return "runs to the end"


def _tip_speed(rod: Rod, run: "Run", sample: int) -> float:
    return float(rod.tangent(run.position[sample]) @ run.velocity[sample])


def _solution_checks(rod: Rod, found: Any, grid: list[tuple[Rod, int]]) -> list[Check]:
    """Number of solutions and their forces, and the least friction of a paradox."""
    checks = [
        Check(
            "solutions at other angles, friction and angular speeds",
            value=[number for _, number in grid],
            expected=[other.solutions for other, _ in grid],
            source="signs of A and b",
        ),
        Check(
            "critical friction",
            value=_critical_mu(rod),
            expected=4 / 3,
            tolerance=1e-9,
            source="(4 + t²)/(3 t) with t = tan θ is least at t = 2",
        ),
    ]
    if rod.decided:
        forces = sorted(float(decision.normal_force[0]) for decision in found)
        scale = max([rod.mass * rod.gravity, *rod.forces])
        checks += [
            Check("solutions", value=len(found), expected=rod.solutions, source="signs of A and b"),
            Check(
                "contact forces",
                value=forces,
                expected=rod.forces,
                tolerance=1e-8 * scale / min(abs(rod.mobility) * rod.mass, 1.0),
                source="closed form: none, 0 or −b/A",
            ),
        ]
    return checks


def _jump_checks(rod: Rod, run: "Run", told: str, step: float, scheme: SchemeName) -> list[Check]:
    """In the paradox: the impulse without collision, and that the event-driven method names the reason."""
    if rod.solutions != 0 or not rod.decided:
        return []
    checks = [
        Check(
            "event-driven names the paradox",
            value="Painlevé" in told,
            expected=True,
            source="b < 0 and A < 0",
        )
    ]
    if scheme in ("moreau", "event-driven"):
        during = step if scheme == "moreau" else 1e-9
        forces = rod.mass * rod.gravity * (1.0 + rod.mu) + rod.mass * rod.half * rod.turning**2
        checks += [
            Check(
                "impulse of the jump",
                value=run.impulse[1, 0],
                expected=rod.jump,
                tolerance=2 * during * forces + 1e-6 * np.abs(rod.jump).max(),
                source="closed form: the impulse that stops the tip, and what other forces add within a step",
            ),
            Check(
                "speed of the tip after the jump",
                value=_tip_speed(rod, run, 1),
                expected=0.0,
                tolerance=2 * during * forces / rod.mass + 1e-6 * rod.sliding,
                source="sliding stops at once",
            ),
        ]
    return checks


def _run_checks(rod: Rod, run: "Run", scheme: SchemeName) -> list[Check]:
    """What holds at every sample, jumps or not: momentum balances, friction obeys its limit, nothing sinks in."""
    weight = rod.mass * rod.gravity
    fallen = rod.mass * (run.velocity[:, 1] - run.velocity[0, 1]) + weight * (run.time - run.time[0])
    pushed = rod.mass * (run.velocity[:, 0] - run.velocity[0, 0])
    size = weight * run.time[-1] + np.abs(run.impulse).sum()
    tip = np.abs(run.velocity).max() * (run.time[1] - run.time[0])
    checks = [
        Check(
            "depth of the tip below the floor over the length",
            value=float(np.max(-rod.tip(run.position)[:, 1], initial=0.0)) / rod.length,
            at_most=(
                2.0 * tip / rod.length if scheme == "moreau" else 1e-2 if scheme == "regularised" else 1e-6
            ),
            source="contact; the way of a step of time stepping, the compliance of springs",
        ),
    ]
    if scheme == "moreau":
        normal, along = run.impulse[..., 0], run.impulse[..., 1]
        checks += [
            Check(
                "momentum less impulses and weight, up and along",
                value=[
                    float(np.abs(fallen - normal.sum(axis=1).cumsum()).max() / size),
                    float(np.abs(pushed - along.sum(axis=1).cumsum()).max() / size),
                ],
                expected=0.0,
                tolerance=1e-9,
                source="balance of momentum from the start to every sample",
            ),
            Check(
                "friction impulses less μ times normal ones, all samples",
                value=float((np.abs(along) - rod.mu * normal).max() / size),
                at_most=1e-9,
                source="Coulomb's law, in jumps as well",
            ),
        ]
    return checks


def _draw_rod(figure: "Figure", *, rod: Rod) -> None:
    """The rod with its weight (dark), the way of its tip (blue), and the directions of normal force and friction
    (orange): friction turns the tip into the floor."""
    from klapper.gallery._sketch import BLUE, BODY, DARK, ORANGE, arrow, bare, label, wall

    figure.set_size_inches(5.6, 4.0)
    axes = figure.subplots()
    wall(axes, (-2.6, 0.0), (1.6, 0.0), (0.0, -0.2))
    back = np.array([-cos(rod.angle), sin(rod.angle)])
    axes.plot(
        *np.array([(0.0, 0.0), 2.2 * back]).T, color=DARK, linewidth=9, solid_capstyle="round", zorder=3
    )
    axes.plot(
        *np.array([(0.0, 0.0), 2.2 * back]).T, color=BODY, linewidth=6, solid_capstyle="round", zorder=4
    )
    arrow(axes, 1.1 * back, (0.0, -0.8), DARK, front=6)
    arrow(axes, (0.15, 0.25), (0.9, 0.0), BLUE)
    label(axes, (0.75, 0.45), f"{rod.sliding:.3g} m/s", BLUE)
    arrow(axes, (0.0, 0.0), (0.0, 1.0), ORANGE, front=7)
    size = min(rod.mu, 1.4)
    arrow(axes, (0.0, 0.02), (-size, 0.0), ORANGE, front=7)
    label(axes, (-0.5 * size, -0.33), "friction μ λ", ORANGE)
    label(axes, (0.3, 0.95), "λ", ORANGE)
    axes.set_title(f"solutions: {WORDS[rod.solutions]}", fontsize=11)
    bare(axes, (-2.7, 1.8), (-0.55, 2.4))


def _draw_map(figure: "Figure", *, rod: Rod, grid: list[tuple[Rod, int]]) -> None:
    """Number of solutions over angle and friction: by closed form (areas) and by trying all combinations (marks), left
    without turning, right at an angular speed that lifts the tip. Star: the given rod; dashed: μ = 4/3."""
    figure.set_size_inches(9.6, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    fast = max(rod.turning, 2.0 * float(np.sqrt(rod.gravity / rod.half)), key=abs)
    for axes, turning in zip(panels, (0.0, fast), strict=True):
        _draw_regions(axes, rod, grid, turning)
        if rod.turning == turning:
            place = np.degrees(rod.angle), rod.mu
            axes.plot(*place, "*", color="#D55E00", markersize=15, markeredgecolor="white", clip_on=False)
    panels[0].set_ylabel("friction coefficient μ")


def _draw_regions(axes: "Axes", rod: Rod, grid: list[tuple[Rod, int]], turning: float) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colors = {0: "#E9B3A0", 1: "#EDF1F4", 2: "#B5D9C8"}
    top = max(3.2, 1.1 * rod.mu)
    angle, mu = np.meshgrid(np.radians(np.linspace(0.0, 90.0, 361)), np.linspace(0.0, top, 301))
    mobility = 1 + 3 * np.cos(angle) * (np.cos(angle) - mu * np.sin(angle))
    free = rod.half * turning**2 * np.sin(angle) - rod.gravity
    number = np.where(mobility > 0, 1, np.where(free < 0, 0, 2))
    axes.pcolormesh(
        np.degrees(angle),
        mu,
        number,
        cmap=ListedColormap(list(colors.values())),
        vmin=-0.5,
        vmax=2.5,
        rasterized=True,
    )
    for count, mark in ((0, "x"), (1, "."), (2, "o")):
        here = [r for r, n in grid if n == count and r.turning == turning]
        axes.plot(
            [np.degrees(r.angle) for r in here],
            [r.mu for r in here],
            mark,
            color="#333333",
            markersize=5,
            markerfacecolor="none" if mark == "o" else None,
        )
    axes.axhline(4 / 3, color="#555555", linewidth=0.9, linestyle="--")
    axes.set(xlabel="angle to the floor / °", xlim=(0.0, 90.0), ylim=(0.0, top))
    axes.set_title(f"angular speed {turning:.3g} rad/s")
    shown = [
        Patch(facecolor=colors[n], edgecolor="#AAAAAA", label=t) for n, t in enumerate(("none", "one", "two"))
    ]
    axes.legend(handles=shown, loc="lower left", fontsize=9, title="solutions")


def _draw_jump(figure: "Figure", *, rod: Rod, until: float, step: float) -> None:
    """By time stepping with three step sizes and by the event-driven method that may jump: angle of the rod, and the
    sliding speed of its tip in the first steps. A jump does not become smoother with smaller steps."""
    from klapper.gallery._run import run_named
    from klapper.gallery._sketch import BLUE, DARK, GREEN, YELLOW

    figure.set_size_inches(9.6, 3.8)
    whole, first = figure.subplots(1, 2)
    courses: list[tuple[SchemeName, str, float, str]] = [("event-driven", "event-driven", step, DARK)]
    courses += [
        ("moreau", f"moreau, {h:.3g} s", h, color)
        for h, color in ((4 * step, YELLOW), (step, GREEN), (step / 4, BLUE))
    ]
    for name, text, h, color in courses:
        run = run_named(rod.system(), min(until, 1000 * h), name, h, painleve="jump")
        speed = [_tip_speed(rod, run, k) for k in range(len(run))]
        whole.plot(run.time, np.degrees(run.coordinate("angle")), color=color, linewidth=1.4, label=text)
        first.plot(run.time, speed, color=color, linewidth=1.4, marker="." if name == "moreau" else None)
    whole.set(xlabel="time / s", ylabel="angle to the floor / °", xlim=(0.0, until))
    first.set(xlabel="time / s", ylabel="sliding speed of the tip / (m/s)", xlim=(-0.3 * step, 6 * step))
    whole.legend(fontsize=9)
