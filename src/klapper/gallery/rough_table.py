"""Rough table: twelve forces, six equations, one motion.

A table stands on four rough legs and is pushed at its top. In space each leg carries a normal force and two components
of friction; equilibrium determines six combinations of the twelve,

    ΣN = W,   Σ r_i N_i  from the push and its height,   ΣT = −P,   Σ (r_i × T_i)_z = 0

and friction leaves |T_i| ≤ μ N_i. With the load in the middle and no push every leg may carry anything from 0 to W/2;
what it does carry is chosen by a rule, and the table moves the same way for all of them: forces not unique, motion
unique. Beyond P = μ W it slides."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example
from klapper.gallery.four_legged_table import ALTERNATING, CORNERS, GRAVITY, LEGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.bodies.rigid_system import RigidSystem
    from klapper.complementarity.selection import ForceSet
    from klapper.results import Run

STEPS = 60


@dataclass(frozen=True)
class Table:
    """A table of ``weight`` [N] on legs ``spacing`` [m] apart, its centre of mass and the push at ``height`` [m]."""

    weight: float
    spacing: float
    height: float
    mu: float

    @property
    def mass(self) -> float:
        return self.weight / GRAVITY

    @property
    def feet(self) -> np.ndarray:
        """Places (4, 3) [m] of the feet from the centre of mass."""
        return np.column_stack([0.5 * self.spacing * CORNERS, np.full(4, -self.height)])

    @cached_property
    def moments(self) -> np.ndarray:
        from klapper.bodies import inertia

        return np.array(inertia.box(self.mass, self.spacing, self.spacing, 0.1 * self.spacing))

    def system(self, push: Any) -> "RigidSystem":
        """Pushed by a force [N] at the height of the centre of mass, a vector or a function of time."""
        from klapper.bodies import Spatial

        model = Spatial(gravity=(0.0, 0.0, -GRAVITY), name="rough table")
        table = model.body("table", mass=self.mass, inertia=self.moments, at=(0.0, 0.0, self.height))
        floor = model.wall("floor", normal=(0.0, 0.0, 1.0))
        for leg, foot in zip(LEGS, self.feet, strict=True):
            model.contact(table.point(*foot), floor, friction=self.mu, name=leg)
        model.force(table, push)
        return model.build()

    def middle(self, carried: np.ndarray) -> np.ndarray:
        """Normal forces (4,) [N] without the alternating part: W/4 and the moment of the friction that carries a push
        [N]."""
        return 0.25 * self.weight + CORNERS @ carried[:2] * self.height / (2.0 * self.spacing)

    def normal_bounds(self, carried: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest normal forces (4,) [N] by N ≥ 0 alone."""
        middle = self.middle(carried)
        down, up = min(middle[0], middle[2]), min(middle[1], middle[3])
        ends = np.array([middle - down * ALTERNATING, middle + up * ALTERNATING])
        return ends.min(axis=0), ends.max(axis=0)


@example(
    "rough-table",
    source="a classic of statics with friction in space; undetermined combinations as in Seiwald",
)
def rough_table(
    *,
    weight: Annotated[float, Parameter("weight of the table", unit="N", above=0.0)] = 100.0,
    push: Annotated[
        tuple[float, float], Parameter("force at the centre of mass, along x and y", unit="N")
    ] = (
        20.0,
        8.0,
    ),
    mu: Annotated[float, Parameter("friction coefficient of the feet", above=0.0)] = 0.3,
    leg_spacing: Annotated[float, Parameter("distance of neighbouring legs", unit="m", above=0.0)] = 1.0,
    height: Annotated[float, Parameter("height of the centre of mass", unit="m", above=0.0)] = 0.7,
    until: Annotated[float, Parameter("end of the motion", unit="s", above=0.0)] = 0.06,
) -> Outcome:
    table = Table(weight, leg_spacing, height, mu)
    force = np.array([*push, 0.0])
    size = float(np.hypot(*push))
    carried = force * min(1.0, mu * weight / size) if size else force  # by friction
    if table.middle(carried).min() <= 0.0:
        raise ParameterError(f"push is {push} N, which tips the table; give a smaller push or a lower table.")
    if abs(size - mu * weight) <= 1e-6 * weight:
        raise ParameterError(
            f"push is {size:g} N, exactly what friction can hold; give a little more or less."
        )
    sticks = size < mu * weight
    bare, pushed = _forces(table, np.zeros(3)), _forces(table, force)
    runs = {label: _run(table, force, until, rule) for label, rule in _rules().items()}
    ways = np.array([run.position[-1, :2] for run in runs.values()])
    expected_way = (
        np.zeros(2) if sticks else 0.5 * force[:2] * (1.0 - mu * weight / size) / table.mass * until**2
    )
    chosen = {label: _leg_forces(table, run) for label, run in runs.items()}
    lower, upper = table.normal_bounds(carried)
    scale = weight * until**2 / table.mass
    checks = [
        Check(
            "bounds of every leg without a push",
            value=np.array([bare.lower[:4], bare.upper[:4]]),
            expected=np.array([np.zeros(4), np.full(4, 0.5 * weight)]),
            tolerance=1e-9 * weight,
            source="closed form: opposite legs carry all, or nothing",
        ),
        Check(
            "forces not unique, motion unique",
            value=bool(bare.motion_unique and pushed.motion_unique and not pushed.determined.all()),
            expected=True,
            source="twelve forces, six equations; all feet rub alike",
        ),
        Check(
            "normal forces lie within those of a smooth table",
            value=bool(
                np.all(pushed.lower[:4] >= lower - 1e-7 * weight)
                and np.all(pushed.upper[:4] <= upper + 1e-7 * weight)
            ),
            expected=True,
            source="closed form: the friction that the push needs only narrows the bounds",
        ),
        Check(
            "motion",
            value=ways,
            expected=np.broadcast_to(expected_way, ways.shape),
            tolerance=1e-9 * scale + 2e-3 * float(np.abs(expected_way).max()),
            source="rest, or sliding with (P − μ W)/m; time stepping starts within one step",
        ),
        Check(
            "the same motion by all rules",
            value=float(np.ptp(ways, axis=0).max()),
            expected=0.0,
            tolerance=1e-10 * scale,
            source="the motion is unique",
        ),
        Check(
            "equilibrium of the selected forces",
            value=np.array([forces.sum(axis=0) for forces in chosen.values()]),
            expected=np.broadcast_to([weight, *-carried[:2]], (len(chosen), 3)),
            tolerance=1e-8 * weight,
            source="weight and push, or the friction limit against it",
        ),
    ]
    return Outcome(
        numbers={
            "verdict": "sticks" if sticks else "slides",
            "undetermined_combinations": pushed.dimension,
            "normal_min": pushed.lower[:4],
            "normal_max": pushed.upper[:4],
            "friction_x_min": pushed.lower[4:12:2],
            "friction_x_max": pushed.upper[4:12:2],
            "friction_y_min": pushed.lower[5:12:2],
            "friction_y_max": pushed.upper[5:12:2],
            "way": ways[0],
            **{f"normal_{label.replace(' ', '_')}": forces[:, 0] for label, forces in chosen.items()},
        },
        units={
            **{
                f"{what}_{end}": "N"
                for what in ("normal", "friction_x", "friction_y")
                for end in ("min", "max")
            },
            "way": "m",
            **{f"normal_{label.replace(' ', '_')}": "N" for label in chosen},
        },
        checks=checks,
        audit={
            "forces": "; ".join(" ".join(line.split()) for line in str(pushed).splitlines()),
            "minimum norm run": {
                key: value for key, value in runs["minimum norm"].about["audit"].items() if "forces" in key
            },
        },
        figures={
            "plan": partial(_draw_plan, table=table, push=force, chosen=chosen),
            "normal-forces": partial(_draw_normals, forces=pushed, chosen=chosen),
        },
    )


def _rules() -> dict[str, Any]:
    from klapper.complementarity.selection import Compliant, Extreme, LargestMargin, MinimumNorm

    return {
        "minimum norm": MinimumNorm(),
        "soft leg A": Compliant({"A": 2.0}),
        "largest margin": LargestMargin(),
        "least load on A": Extreme("A normal", "min"),
    }


def _run(table: Table, push: np.ndarray, until: float, rule: Any) -> "Run":
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    return simulate(table.system(push), until, Moreau(until / STEPS, selection=rule))


def _leg_forces(table: Table, run: "Run") -> np.ndarray:
    """Normal force and friction along x and y (4, 3) [N] of the legs at the end of a run."""
    forces = run.samples.impulse[-1] / (run.time[-1] - run.time[-2])
    system = table.system((0.0, 0.0, 0.0))
    axes = system.directions(0.0, system.start.position, np.arange(4)).tangential[:2].reshape(2, 4, 2)
    return np.column_stack([forces[:, 0], np.einsum("xla,la->lx", axes, forces[:, 1:])])


def _forces(table: Table, push: np.ndarray) -> "ForceSet":
    """All forces of the table under a push [N], from one solved instant."""
    from klapper.mechanics.acceleration import AccelerationProblem
    from klapper.mechanics.force_sets import mode_forces

    feet, mass = table.feet, np.diag([*np.full(3, table.mass), *table.moments])
    directions = np.zeros((6, 12))
    for i, foot in enumerate(feet):
        for j, axis in enumerate(((0, 0, 1), (1, 0, 0), (0, 1, 0))):
            column = i if j == 0 else 4 + 2 * i + j - 1
            directions[:3, column], directions[3:, column] = axis, np.cross(foot, axis)
    problem = AccelerationProblem(
        mass,
        np.concatenate([push - [0.0, 0.0, table.weight], np.zeros(3)]),
        normal=directions[:, :4],
        tangential=directions[:, 4:],
        sliding_velocity=np.zeros((4, 2)),
        friction=table.mu,
        normal_names=LEGS,
        tangential_names=LEGS,
    )
    return mode_forces(problem.solve(), mass=mass)


def _draw_plan(figure: "Figure", *, table: Table, push: np.ndarray, chosen: dict[str, np.ndarray]) -> None:
    """The table from above, once for each rule: normal forces (numbers), friction forces (blue), and the circles of
    radius μN within which friction must stay. The motion is the same in all four."""
    figure.set_size_inches(8.4, 7.6)
    for axes, (label, forces) in zip(figure.subplots(2, 2).flat, chosen.items(), strict=True):
        _draw_one_plan(axes, table, push, label, forces)


def _draw_one_plan(axes: "Axes", table: Table, push: np.ndarray, title: str, forces: np.ndarray) -> None:
    from matplotlib.patches import Circle

    from klapper.gallery._sketch import BLUE, BODY, DARK, GREY, ORANGE, arrow, bare, label

    half = 0.5 * table.spacing
    unit = 0.8 * half / max(table.mu * 0.5 * table.weight, float(np.linalg.norm(push)))
    axes.fill(1.1 * half * CORNERS[:, 0], 1.1 * half * CORNERS[:, 1], facecolor=BODY, edgecolor=DARK)
    for leg, place, force in zip(LEGS, half * CORNERS, forces, strict=True):
        radius = unit * table.mu * max(force[0], 0.0)
        axes.add_patch(Circle(tuple(place), radius, facecolor="white", edgecolor=GREY, zorder=3))
        axes.plot(*place, "o", color=DARK, markersize=3, zorder=4)
        if np.hypot(*force[1:]) > 1e-3 * table.weight:
            arrow(axes, place, unit * force[1:], BLUE, width=1.3)
        label(axes, place * [1.85, 1.0], f"{leg}\n{max(force[0], 0.0):.1f} N", DARK)
    if np.any(push):
        arrow(axes, -0.5 * unit * push[:2], unit * push[:2], ORANGE)
        label(axes, (0.0, -0.45 * half), f"push {np.hypot(*push[:2]):.3g} N", ORANGE)
    bare(axes, (-2.3 * half, 2.3 * half), (-1.75 * half, 1.75 * half))
    axes.set_title(title, loc="center")


def _draw_normals(figure: "Figure", *, forces: "ForceSet", chosen: dict[str, np.ndarray]) -> None:
    """What every leg may carry (bars) and what the rules select (marks): normal force, and both components of
    friction."""
    from klapper.gallery._sketch import BLUE, GREEN, ORANGE, PURPLE

    figure.set_size_inches(10.5, 4.2)
    parts = (
        ("normal force / N", slice(0, 4), 0),
        ("friction along x / N", slice(4, 12, 2), 1),
        ("friction along y / N", slice(5, 12, 2), 2),
    )
    places = np.arange(4)
    for axes, (text, rows, column) in zip(figure.subplots(1, 3), parts, strict=True):
        low, high = forces.lower[rows], forces.upper[rows]
        axes.bar(places, high - low, bottom=low, width=0.72, color="#DCE6EE", label="possible")
        for k, ((label, values), colour) in enumerate(
            zip(chosen.items(), (BLUE, PURPLE, GREEN, ORANGE), strict=True)
        ):
            shifted = places + 0.16 * (k - 1.5)
            axes.scatter(shifted, values[:, column], color=colour, marker="D", s=24, zorder=4, label=label)
        axes.set_xticks(places, [f"leg {leg}" for leg in LEGS])
        axes.set_ylabel(text)
        axes.grid(False, axis="x")
        axes.margins(y=0.06)
        axes.autoscale(axis="y")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=9
    )
