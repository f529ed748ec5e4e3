"""Point on a rough surface: Fourier's principle on three levels, Coulomb's law in seven forms.

A mass point is on or above the surface z = ζ(x, y), which is known at the point by slopes and curvatures:

    m a = F + λ_N n + F_T,   n = ∇g/|∇g|,   g = z − ζ(x, y)                       (2.43), (2.7)
    0 ≤ λ_N ⟂ g̈ ≥ 0 while g = ġ = 0,   |F_T| ≤ μ λ_N, opposite to sliding        (2.23), (2.24)

At one and the same state the constraint force does no positive virtual work for displacements, for
velocities and for accelerations that the surface admits, whichever of g, ġ, g̈ vanish; and the friction
force obeys Coulomb's law in each of its seven forms."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D

    from klapper.mechanics.acceleration_solution import ModeDecision


@dataclass(frozen=True)
class Point:
    """The parameters of the example and the geometry that follows from them."""

    slopes: tuple[float, float]
    curvatures: tuple[float, float, float]
    speed: tuple[float, float]
    gap: float
    lift: float
    mu: float
    mass: float
    gravity: float
    applied: tuple[float, float, float]

    @property
    def force(self) -> np.ndarray:
        """F (3,): applied force and weight [N]."""
        return np.array(self.applied) - [0.0, 0.0, self.mass * self.gravity]

    @property
    def gradient(self) -> np.ndarray:
        """∇g (3,)."""
        return np.array([-self.slopes[0], -self.slopes[1], 1.0])

    @property
    def normal(self) -> np.ndarray:
        return self.gradient / np.linalg.norm(self.gradient)

    @cached_property
    def tangents(self) -> np.ndarray:
        """Two orthonormal tangents (3, 2)."""
        first = np.array([1.0, 0.0, self.slopes[0]])
        first /= np.linalg.norm(first)
        return np.column_stack([first, np.cross(self.normal, first)])

    @property
    def velocity(self) -> np.ndarray:
        """Velocity (3,) [m/s]: along the surface, and away from it with ġ = lift."""
        x, y = self.speed
        return np.array([x, y, self.slopes[0] * x + self.slopes[1] * y + self.lift])

    @property
    def bending(self) -> float:
        """vᵀ(∂²ζ)v [m/s²]: how fast the surface turns up under the point."""
        (x, y), (xx, xy, yy) = self.speed, self.curvatures
        return xx * x * x + 2.0 * xy * x * y + yy * y * y

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ζ [m] of the quadratic surface around the point."""
        xx, xy, yy = self.curvatures
        bent = 0.5 * (xx * x * x + 2.0 * xy * x * y + yy * y * y)
        return self.slopes[0] * x + self.slopes[1] * y + bent

    @property
    def opening_bias(self) -> float:
        """b_N of the distance g/|∇g| [m/s²]."""
        return float(-self.bending / np.linalg.norm(self.gradient))

    @property
    def touching(self) -> bool:
        """Whether the contact is closed and does not separate: g = 0 and ġ = 0."""
        return self.gap == 0.0 and self.lift == 0.0

    @property
    def load(self) -> float:
        """Size of the forces [N], the unit of all tolerances."""
        inertia = self.mass * abs(self.opening_bias)
        return float(np.abs(self.applied).max() + self.mass * self.gravity + inertia) or 1.0


@example("surface-point", source="Waltersberger (2007), chapter 2 and Definition 3.3")
def surface_point(
    *,
    slopes: Annotated[tuple[float, float], Parameter("slopes of the surface along x and y")] = (0.3, -0.2),
    curvatures: Annotated[
        tuple[float, float, float],
        Parameter("curvatures ζ_xx, ζ_xy, ζ_yy; positive: a valley", unit="1/m"),
    ] = (0.5, 0.0, -0.4),
    velocity: Annotated[
        tuple[float, float], Parameter("horizontal velocity; zero: at rest on the surface", unit="m/s")
    ] = (1.5, 1.0),
    gap: Annotated[
        float, Parameter("height above the surface; 0: on the surface", unit="m", at_least=0.0)
    ] = 0.0,
    lift_speed: Annotated[
        float, Parameter("speed with which the height grows; 0: along the surface", unit="m/s", at_least=0.0)
    ] = 0.0,
    mu: Annotated[float, Parameter("friction coefficient", at_least=0.0)] = 0.4,
    mass: Annotated[float, Parameter("mass of the point", unit="kg", above=0.0)] = 2.0,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", at_least=0.0)] = 9.81,
    applied_force: Annotated[
        tuple[float, float, float], Parameter("applied force without the weight", unit="N")
    ] = (0.0, 0.0, 0.0),
) -> Outcome:
    from klapper.contact_states import STATE_NAMES
    from klapper.gallery._audit import audit

    point = Point(slopes, curvatures, velocity, gap, lift_speed, mu, mass, gravity, applied_force)
    decision = decide(point)
    state = STATE_NAMES[decision.contact_states[0]] if point.touching else "open"
    normal_force = float(decision.normal_force.sum())
    friction = point.tangents @ decision.tangential_force.sum(axis=0) if point.touching else np.zeros(3)
    acceleration = decision.acceleration
    opening = float(point.normal @ acceleration) + point.opening_bias
    levels = {
        "displacements": gap <= 0.0,
        "velocities": point.touching,
        "accelerations": point.touching and bool(decision.stays_closed[0]),
    }
    rest_force = point.force + friction - mass * acceleration
    works = [largest_work(rest_force, point.normal, closed) for closed in levels.values()]
    return Outcome(
        numbers={
            "state": state,
            "normal_force": normal_force,
            "friction_force": friction,
            "friction_magnitude": float(np.linalg.norm(friction)),
            "acceleration": acceleration,
            "opening_acceleration": opening,
            "levels_on_which_the_contact_is_active": [name for name, closed in levels.items() if closed],
        },
        units={
            "normal_force": "N",
            "friction_force": "N",
            "friction_magnitude": "N",
            "acceleration": "m/s²",
            "opening_acceleration": "m/s²",
        },
        checks=_checks(
            point, decision, normal_force, friction, opening, dict(zip(levels, works, strict=True))
        ),
        audit=audit(decision.solution, decision.uniqueness),
        figures={"surface": partial(_draw, point=point, normal_force=normal_force, friction=friction)},
    )


def decide(point: Point) -> "ModeDecision":
    """The acceleration, with the contact only if it is closed and not separating (A_N2)."""
    from klapper.mechanics.acceleration import AccelerationProblem

    inertia = point.mass * np.eye(3)
    if not point.touching:
        return AccelerationProblem(inertia, point.force).solve()
    return AccelerationProblem(
        inertia,
        point.force,
        normal=point.normal[:, None],
        normal_bias=point.opening_bias,
        tangential=point.tangents,
        sliding_velocity=[point.tangents.T @ point.velocity],
        friction=point.mu,
        normal_names=["surface"],
        tangential_names=["surface"],
    ).solve(tolerance=1e-12)


def largest_work(force: np.ndarray, normal: np.ndarray, closed: bool) -> float:
    """Greatest work [N] of ``force`` (3,) along unit vectors δ, with n·δ ≥ 0 if the contact is closed.

    The force is projected onto the cone of admissible δ; Fourier's principle demands zero, (2.1), (2.18), (2.22).
    """
    along = force - min(float(force @ normal), 0.0) * normal if closed else force
    return float(np.linalg.norm(along))


def closed_form(point: Point) -> tuple[float, np.ndarray]:
    """Normal force [N] and friction force (3,) [N] by cases."""
    if not point.touching:
        return 0.0, np.zeros(3)
    normal = point.normal
    pressed = max(0.0, -float(point.force @ normal) - point.mass * point.opening_bias)
    limit = point.mu * pressed
    speed = float(np.linalg.norm(point.velocity))
    if speed > 0.0:
        return pressed, -limit * point.velocity / speed
    pull = point.force - (point.force @ normal) * normal
    size = float(np.linalg.norm(pull))
    return pressed, -pull * min(1.0, limit / size if size > 0.0 else 1.0)


def coulomb_residuals(point: Point, decision: "ModeDecision") -> dict[str, float]:
    """How far the seven forms of the law are from being fulfilled, at rest with v̇_T in place of v_T (3.48)."""
    from klapper.convex import CoulombLaw

    if not point.touching:
        return CoulombLaw(0.0).residuals([0.0, 0.0], [0.0, 0.0])
    if decision.sticks[0]:
        sliding = np.zeros(2)
    elif decision.problem.sliding[0]:
        sliding = decision.problem.sliding_velocity[0]
    else:
        sliding = decision.tangential_acceleration[0]
    force, limit = decision.tangential_force[0], point.mu * float(decision.normal_force[0])
    if limit <= 1e-12 * point.load:  # an unloaded disc: forces of rounding size count as none
        limit, force = 0.0, np.where(np.abs(force) <= 1e-12 * point.load, 0.0, force)
    return CoulombLaw(limit).residuals(force, sliding)


def _checks(
    point: Point,
    decision: "ModeDecision",
    normal_force: float,
    friction: np.ndarray,
    opening: float,
    works: dict[str, float],
) -> list[Check]:
    small = 1e-9 * point.load * (1.0 + point.mu)
    expected_normal, expected_friction = closed_form(point)
    expected_acceleration = (point.force + expected_normal * point.normal + expected_friction) / point.mass
    checks = [
        Check(
            "normal force",
            value=normal_force,
            expected=expected_normal,
            tolerance=small,
            source="closed form",
        ),
        Check(
            "friction force",
            value=friction,
            expected=expected_friction,
            tolerance=small,
            source="closed form",
        ),
        Check(
            "acceleration",
            value=decision.acceleration,
            expected=expected_acceleration,
            tolerance=small / point.mass,
            source="closed form",
        ),
        Check(
            "no virtual work is positive: " + ", ".join(works),
            value=list(works.values()),
            at_most=small,
            source="Fourier's principle on three levels, (2.1), (2.18), (2.22)",
        ),
        Check(
            "all seven forms of Coulomb's law hold",
            value=list(coulomb_residuals(point, decision).values()),
            at_most=1e-6,
            source="Definition 3.3, each form by its own computation",
        ),
    ]
    if point.touching:
        checks.append(
            Check(
                "the surface is not penetrated",
                value=opening,
                at_least=-small / point.mass,
                source="(2.23): g̈ ≥ 0 while g = ġ = 0",
            )
        )
    return checks


def _draw(figure: "Figure", *, point: Point, normal_force: float, friction: np.ndarray) -> None:
    """Left: the surface and the point with weight and applied force (load), the forces of the surface, their
    sum m a, and the direction of the velocity. Right: the tangential plane with the friction disc and the
    tangential parts of the same vectors."""
    figure.set_size_inches(10.0, 4.8)
    grid = figure.add_gridspec(1, 2, width_ratios=[1.25, 1.0])
    vectors = _vectors(point, normal_force, friction)
    _draw_surface(figure.add_subplot(grid[0], projection="3d"), point, vectors)
    _draw_tangential_plane(figure.add_subplot(grid[1]), point, vectors, point.mu * normal_force)


def _vectors(
    point: Point, normal_force: float, friction: np.ndarray
) -> "list[tuple[str, np.ndarray, str, float]]":
    """Name, vector (3,) [N], colour and width of what is drawn; the widest first, below the others."""
    from klapper.gallery._sketch import BLUE, GREEN, GREY, ORANGE, PURPLE

    push = normal_force * point.normal
    total = point.force + push + friction
    largest = max(float(np.linalg.norm(vector)) for vector in (point.force, push, friction, total)) or 1.0
    speed = float(np.linalg.norm(point.velocity))
    heading = point.velocity * (0.8 * largest / speed if speed > 0.0 else 0.0)
    vectors = [
        ("m a", total, GREEN, 4.5),
        ("load", point.force, BLUE, 2.2),
        ("normal force", push, ORANGE, 2.2),
        ("friction", friction, PURPLE, 2.2),
        ("velocity, direction only", heading, GREY, 1.5),
    ]
    return [entry for entry in vectors if np.linalg.norm(entry[1]) > 1e-6 * largest]


def _draw_surface(axes: "Axes3D", point: Point, vectors: "list[tuple[str, np.ndarray, str, float]]") -> None:
    from klapper.gallery._sketch import DARK

    reach = 1.0 + point.gap
    unit = np.linspace(-1.0, 1.0, 25)
    highest = float(np.abs(point.height(*np.meshgrid(reach * unit, reach * unit))).max())
    x, y = np.meshgrid(
        *2 * [unit * reach * min(1.0, 1.1 * reach / max(highest, 1e-300))]
    )  # steep: a narrow strip
    z = point.height(x, y)
    axes.computed_zorder = False
    axes.plot_surface(x, y, z, color="#E6ECF2", edgecolor="#B9C4CE", linewidth=0.4, alpha=0.6, zorder=1)
    start = np.array([0.0, 0.0, point.gap])
    largest = max((float(np.linalg.norm(vector)) for _, vector, _, _ in vectors), default=1.0)
    for name, vector, color, width in vectors:
        tip = vector * (1.1 * reach / largest)
        axes.quiver(*start, *tip, color=color, linewidth=width, arrow_length_ratio=0.16, zorder=5)
        axes.plot([], [], [], color=color, linewidth=width, label=name)
    axes.scatter(*start, s=45, color=DARK, depthshade=False, zorder=6)
    tall = 1.15 * reach + point.gap
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-tall, tall))
    axes.set_box_aspect((1.0, 1.0, tall / reach), zoom=0.9)
    axes.set(xlabel="x / m", ylabel="y / m", zlabel="z / m")
    axes.tick_params(labelsize=8)
    axes.locator_params(nbins=4)
    axes.view_init(elev=28, azim=-62)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.25, 1.0), fontsize=9)


def _draw_tangential_plane(
    axes: "Axes", point: Point, vectors: "list[tuple[str, np.ndarray, str, float]]", limit: float
) -> None:
    from klapper.gallery._sketch import GREY, arrow

    way = np.linspace(0.0, 2 * np.pi, 200)
    axes.fill(limit * np.cos(way), limit * np.sin(way), facecolor="#EEEEEE", edgecolor=GREY)
    flat = [(point.tangents.T @ vector, color, width) for _, vector, color, width in vectors]
    reach = 1.2 * max([limit, *(float(np.hypot(*vector)) for vector, _, _ in flat)]) or 1.0
    for vector, color, width in flat:
        if np.hypot(*vector) > 1e-6 * reach:
            arrow(axes, (0.0, 0.0), vector, color, width=width)
    axes.scatter(0.0, 0.0, s=20, color=GREY, zorder=6)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="force along tangent 1 / N", ylabel="force along tangent 2 / N")
    axes.set_title(f"friction disc, μ λ = {limit:.3g} N" if limit > 0.0 else "no friction disc: μ λ = 0")
