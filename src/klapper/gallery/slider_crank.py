"""Slider-crank with play: the slider rattles in its guide, and what smaller steps change.

Crank, rod and slider are three bodies on hinges; the slider is held between the walls of its guide by nothing but four
corners that may touch, with friction and restitution. Until a corner touches, the motion is that of the two links,

    M(θ₁, θ₂) θ̈ = h(θ, θ̇),      g = d/2 ∓ (l₁ sin θ₁ + l₂ sin θ₂ ± a sin θ₃) − b cos θ₃ ≥ 0

which is integrated on its own to high accuracy as a comparison; afterwards impacts follow. The run is repeated with
double, fourfold, … steps: the table shows the results beside their penetration, opening of hinges, energy and impacts.
With the data of the publication, the two corners of a side hit together and the slider never tilts; started with
slider_angle = 0.005 it rattles corner by corner.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.bodies import RigidSystem
    from klapper.results import Run

CORNERS = ("lower left", "lower right", "upper right", "upper left")
LARGEST_TURN = 0.5  # rad of the crank per step, at the start
TRUSTED = 0.05  # change by halving the step, as a share of the crank's length, up to which it tells the error


@dataclass(frozen=True)
class Mechanism:
    """Crank (1), rod (2) and slider (3): lengths [m], masses [kg], inertias [kg m²] and the start [rad, rad/s].

    The slider is 2a long and 2b high, the guide d high.
    """

    lengths: tuple[float, float]
    a: float
    b: float
    guide: float
    masses: tuple[float, float, float]
    inertias: tuple[float, float, float]
    gravity: float
    speed: float
    slider_angle: float
    restitution: float
    friction: float

    @property
    def play(self) -> float:
        """Half the difference [m] of guide and slider."""
        return 0.5 * self.guide - self.b

    @property
    def rod_speed(self) -> float:
        """ω₂ [rad/s] at the start, where the slider is at rest."""
        return -self.speed * self.lengths[0] / self.lengths[1]

    def system(self) -> "RigidSystem":
        from klapper.bodies import Planar

        l1, l2 = self.lengths
        model = Planar(gravity=(0.0, -self.gravity), name="slider-crank with play")
        crank = model.body(
            "crank",
            mass=self.masses[0],
            inertia=self.inertias[0],
            at=(0.5 * l1, 0.0),
            velocity=(0.0, 0.5 * l1 * self.speed),
            spin=self.speed,
        )
        rod = model.body(
            "rod",
            mass=self.masses[1],
            inertia=self.inertias[1],
            at=(l1 + 0.5 * l2, 0.0),
            velocity=(0.0, l1 * self.speed + 0.5 * l2 * self.rod_speed),
            spin=self.rod_speed,
        )
        slider = model.body(
            "slider",
            mass=self.masses[2],
            inertia=self.inertias[2],
            at=(l1 + l2, 0.0),
            angle=self.slider_angle,
        )
        model.hinge(crank.point((-0.5 * l1, 0.0)), model.ground.point((0.0, 0.0)), name="main bearing")
        model.hinge(rod.point((-0.5 * l2, 0.0)), crank.point((0.5 * l1, 0.0)), name="crank pin")
        model.hinge(slider.point((0.0, 0.0)), rod.point((0.5 * l2, 0.0)), name="slider pin")
        corners = slider.corners(2.0 * self.a, 2.0 * self.b)
        walls = {
            side: model.wall(f"{side} wall", point=(0.0, -0.5 * sign * self.guide), normal=(0.0, sign))
            for side, sign in (("lower", 1.0), ("upper", -1.0))
        }
        for corner, name in zip(corners, CORNERS, strict=True):
            wall = walls[name.split()[0]]
            model.contact(corner, wall, friction=self.friction, restitution=self.restitution, name=name)
        return model.build()

    def accelerations(self, angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """θ̈ (2,) of crank and rod while no corner touches. Flores, Leine, Glocker (2010), (90)–(96)."""
        (l1, l2), (m1, m2, m3), (j1, j2, _) = self.lengths, self.masses, self.inertias
        coupling = (0.5 * m2 + m3) * l1 * l2
        turned = angle[1] - angle[0]
        mass = np.array(
            [
                [j1 + (0.25 * m1 + m2 + m3) * l1**2, coupling * np.cos(turned)],
                [coupling * np.cos(turned), j2 + (0.25 * m2 + m3) * l2**2],
            ]
        )
        weight = self.gravity * np.array([(0.5 * m1 + m2 + m3) * l1, (0.5 * m2 + m3) * l2])
        force = coupling * np.sin(turned) * np.array([rate[1] ** 2, -(rate[0] ** 2)]) - weight * np.cos(angle)
        return np.linalg.solve(mass, force)

    def slider_place(self, angle: np.ndarray) -> np.ndarray:
        """Centre (2, …) [m] of the slider at the angles (2, …) of crank and rod."""
        l1, l2 = self.lengths
        return np.array(
            [
                l1 * np.cos(angle[0]) + l2 * np.cos(angle[1]),
                l1 * np.sin(angle[0]) + l2 * np.sin(angle[1]),
            ]
        )

    @property
    def reach(self) -> float:
        """How far [m] the corners of the slider reach above and below its centre while it is not touched."""
        return self.a * abs(np.sin(self.slider_angle)) + self.b * np.cos(self.slider_angle)

    def free_motion(self, until: float) -> Any:
        """Motion without contact, ending at the first touch or at ``until`` [s]: a solution of scipy's solve_ivp."""
        from scipy.integrate import solve_ivp

        def gap(t: float, y: np.ndarray) -> float:
            return 0.5 * self.guide - self.reach - abs(self.slider_place(y[:2])[1])

        gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]
        return solve_ivp(
            lambda t, y: np.concatenate([y[2:], self.accelerations(y[:2], y[2:])]),
            (0.0, until),
            [0.0, 0.0, self.speed, self.rod_speed],
            method="DOP853",
            events=gap,
            dense_output=True,
            rtol=1e-11,
            atol=1e-12,
        )

    def ideal_speed(self, crank: np.ndarray) -> np.ndarray:
        """Speed (s,) [rad/s] at crank angles (s,) if the slider had no play: energy is kept; nan where it stops."""
        (l1, l2), (m1, m2, m3), (j1, j2, _) = self.lengths, self.masses, self.inertias
        rod = np.arcsin(-l1 / l2 * np.sin(crank))
        ratio = -l1 * np.cos(crank) / (l2 * np.cos(rod))
        across, along = -l1 * np.sin(crank), l1 * np.cos(crank)
        inertia = j1 + 0.25 * m1 * l1**2 + j2 * ratio**2 + m3 * (across - l2 * np.sin(rod) * ratio) ** 2
        inertia += (
            m2 * (across - 0.5 * l2 * np.sin(rod) * ratio) ** 2
            + m2 * (along + 0.5 * l2 * np.cos(rod) * ratio) ** 2
        )
        height = self.gravity * (0.5 * m1 + 0.5 * m2) * l1 * np.sin(crank)
        square = (inertia[0] * self.speed**2 + 2.0 * (height[0] - height)) / inertia
        return np.sign(self.speed) * np.sqrt(np.where(square >= 0.0, square, np.nan))


@dataclass(frozen=True)
class Row:
    """One step of the refinement: the run, and by how much [m] and how fast [m/s] its hinges opened at most."""

    step: float
    run: "Run"
    opening: float
    opening_speed: float

    @cached_property
    def impacts(self) -> int:
        """How often corners were hit; what lasts over following steps counts once."""
        from klapper.contact_states import IMPACT

        hit = self.run.state == IMPACT
        return int(np.count_nonzero(hit[1:] & ~hit[:-1]))

    @cached_property
    def first_impact(self) -> float | None:
        times = self.run.impacts().time
        return float(times[0]) if len(times) else None

    @property
    def penetration(self) -> float:
        return max(-float(self.run.gap.min()), 0.0)

    def place(self, time: float) -> np.ndarray:
        """Angle of the crank, place x and y of the slider (3,) at a multiple of the step."""
        sample = round(time / self.step)
        names = ("crank angle", "slider x", "slider y")
        return np.array([self.run.coordinate(name)[sample] for name in names])


@example("slider-crank", source="Flores, Leine, Glocker, Multibody Syst. Dyn. 23 (2010) 165–190")
def slider_crank(
    *,
    crank_length: Annotated[float, Parameter("length of the crank", unit="m", above=0.0)] = 0.153,
    rod_length: Annotated[float, Parameter("length of the rod", unit="m", above=0.0)] = 0.306,
    slider_size: Annotated[
        tuple[float, float], Parameter("length and height of the slider", unit="m", above=0.0)
    ] = (0.1, 0.05),
    guide: Annotated[float, Parameter("height of the guide", unit="m", above=0.0)] = 0.052,
    masses: Annotated[
        tuple[float, float, float], Parameter("masses of crank, rod, slider", unit="kg", above=0.0)
    ] = (0.038, 0.038, 0.076),
    inertias: Annotated[
        tuple[float, float, float], Parameter("their moments of inertia", unit="kg m²", above=0.0)
    ] = (7.4e-5, 5.9e-4, 2.7e-6),
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", at_least=0.0)] = 9.81,
    speed: Annotated[float, Parameter("speed of the crank at the start", unit="rad/s")] = 150.0,
    slider_angle: Annotated[float, Parameter("angle of the slider at the start", unit="rad")] = 0.0,
    restitution: Annotated[float, Parameter("restitution of the corners", at_least=0.0, at_most=1.0)] = 0.4,
    friction: Annotated[float, Parameter("friction coefficient of the corners", at_least=0.0)] = 0.01,
    step: Annotated[float, Parameter("smallest time step", unit="s", above=0.0)] = 5e-5,
    refinements: Annotated[
        int, Parameter("number of steps in the table, each half the one before", at_least=2, at_most=8)
    ] = 4,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.08,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    mechanism = Mechanism(
        (crank_length, rod_length), 0.5 * slider_size[0], 0.5 * slider_size[1], guide, masses, inertias, gravity,
        speed, slider_angle, restitution, friction,
    )  # fmt: skip
    _require(mechanism, step * 2.0 ** (refinements - 1))
    rows = _refine(mechanism, step, refinements, until)
    finest = rows[-1].run
    numbers, units = _numbers(mechanism, rows)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[*_free_checks(mechanism, rows), *_bounds(mechanism, rows), ledger_check(finest)],
        audit={"smallest step": run_audit(finest)},
        figures={
            "mechanism": partial(_draw_mechanism, mechanism=mechanism, run=finest),
            "slider": partial(_draw_slider, mechanism=mechanism, run=finest),
            "crank-speed": partial(_draw_speed, mechanism=mechanism, run=finest),
            "refinement": partial(_draw_refinement, rows=rows),
            **run_figures(finest),
        },
    )


def _require(mechanism: Mechanism, largest_step: float) -> None:
    """Refuse what cannot turn or does not fit."""
    if mechanism.lengths[1] <= mechanism.lengths[0]:
        raise ParameterError(
            f"rod_length must be above crank_length, {mechanism.lengths[0]:g} m, not {mechanism.lengths[1]:g} m: the "
            f"crank could not turn."
        )
    if mechanism.play <= 0.0 or mechanism.reach >= 0.5 * mechanism.guide:
        raise ParameterError(
            f"guide must be above {2.0 * max(mechanism.reach, mechanism.b):.6g} m, what the slider takes at the start, "
            f"not {mechanism.guide:g} m."
        )
    if largest_step * abs(mechanism.speed) > LARGEST_TURN:
        raise ParameterError(
            f"the largest step, {largest_step:g} s, turns the crank by {largest_step * abs(mechanism.speed):.2g} rad; "
            f"allowed is {LARGEST_TURN:g} rad. Choose a smaller step or fewer refinements."
        )


def _refine(mechanism: Mechanism, step: float, refinements: int, until: float) -> list[Row]:
    """Runs to the same end with ever smaller steps."""
    from klapper.schemes import Moreau
    from klapper.simulate import simulate

    system = mechanism.system()
    coarsest = step * 2.0 ** (refinements - 1)
    end = coarsest * np.ceil(until / coarsest - 1e-9)
    rows = []
    for k in reversed(range(refinements)):
        h = step * 2.0**k
        run = simulate(system, end, Moreau(h), every=1)
        rows.append(Row(h, run, *_opening(system, run)))
    return rows


def _opening(system: "RigidSystem", run: "Run") -> tuple[float, float]:
    """By how much [m] and how fast [m/s] the hinges opened at most."""
    depth = speed = 0.0
    for t, q, v in zip(run.time, run.position, run.velocity, strict=True):
        direction, _ = system.constraint_directions(t, q)
        depth = max(depth, float(np.abs(system.constraint_residuals(t, q)).max()))
        speed = max(speed, float(np.abs(direction.T @ v).max()))
    return depth, speed


def _numbers(mechanism: Mechanism, rows: list[Row]) -> tuple[dict[str, Any], dict[str, str]]:
    finest = rows[-1].run
    end = float(finest.time[-1])
    last = np.array([row.place(end) for row in rows])
    numbers: dict[str, Any] = {
        "time": end,
        "crank_angle": last[-1, 0],
        "crank_speed": float(finest.speed("crank angle")[-1]),
        "slider_x": last[-1, 1],
        "slider_y": last[-1, 2],
        "slider_angle": float(finest.coordinate("slider angle")[-1]),
        "largest_slider_angle": float(np.abs(finest.coordinate("slider angle")).max()),
        "energy_lost_in_impacts": float(finest.ledger.impact[-1]),
        "energy_lost_in_friction": float(finest.ledger.friction[-1]),
        "table_step": [row.step for row in rows],
        "table_crank_angle": last[:, 0],
        "table_slider_x": last[:, 1],
        "table_penetration": [row.penetration for row in rows],
        "table_hinge_opening": [row.opening for row in rows],
        "table_numerical_loss": [float(row.run.ledger.numerical[-1]) for row in rows],
        "table_ledger_residual": [row.run.ledger.closing_error for row in rows],
        "table_impacts": [row.impacts for row in rows],
    }
    units = {
        "time": "s",
        "crank_angle": "rad",
        "crank_speed": "rad/s",
        "slider_x": "m",
        "slider_y": "m",
        "slider_angle": "rad",
        "largest_slider_angle": "rad",
        "energy_lost_in_impacts": "J",
        "energy_lost_in_friction": "J",
        "table_step": "s",
        "table_crank_angle": "rad (at the end)",
        "table_slider_x": "m (at the end)",
        "table_penetration": "m",
        "table_hinge_opening": "m",
        "table_numerical_loss": "J",
        "table_ledger_residual": "J",
    }
    free = _free_errors(mechanism, rows)
    if free is not None:
        _, errors = free
        crank = np.maximum(errors[:, 0], 1e-300)
        numbers |= {"table_free_error": errors[:, 0], "free_order": np.log2(crank[:-1] / crank[1:])}
        units["table_free_error"] = "rad (crank, just before the first impact)"
    return numbers, units


def _free_errors(mechanism: Mechanism, rows: list[Row]) -> tuple[float, np.ndarray] | None:
    """A time before any contact, and the errors (n, 3) there of the crank's angle and the slider's place."""
    coarsest = rows[0].step
    exact = mechanism.free_motion(float(rows[-1].run.time[-1]))
    touched = [row.first_impact for row in rows if row.first_impact is not None]
    before = min([float(exact.t[-1]), *touched]) - coarsest
    time = coarsest * np.floor(before / coarsest + 1e-9)
    if time < 2.0 * coarsest:
        return None
    angle = exact.sol(time)[:2]
    expected = np.array([angle[0], *mechanism.slider_place(angle)])
    return float(time), np.abs(np.array([row.place(time) for row in rows]) - expected)


def _free_checks(mechanism: Mechanism, rows: list[Row]) -> list[Check]:
    """Until the first impact, against the equations of the two links."""
    free = _free_errors(mechanism, rows)
    if free is None:
        return []
    time, errors = free
    lengths = np.array([mechanism.lengths[0], 1.0, 1.0])  # by which the angle of the crank is a way
    changed = float((lengths * np.abs(rows[-2].place(time) - rows[-1].place(time))).max())
    checks = []
    if changed <= TRUSTED * mechanism.lengths[0]:
        checks.append(
            Check(
                "free motion",
                value=lengths * errors[-1],
                expected=0.0,
                tolerance=2.0 * changed + 1e-9 * mechanism.lengths[1],
                source="angles of the links by an ODE solver; within twice what the last refinement changed",
            )
        )
    exact = mechanism.free_motion(float(rows[-1].run.time[-1]))
    first, coarser = rows[-1].first_impact, rows[-2].first_impact
    if len(exact.t_events[0]) and first is not None and coarser is not None:
        checks.append(
            Check(
                "first impact",
                value=first,
                expected=float(exact.t_events[0][0]),
                tolerance=2.0 * abs(first - coarser) + 2.0 * rows[-2].step,
                source="zero of the gap by an ODE solver; within twice what the last refinement changed",
            )
        )
    return checks


def _bounds(mechanism: Mechanism, rows: list[Row]) -> list[Check]:
    """What any step must keep to: gaps, hinges and ledger."""
    corner = float(np.hypot(mechanism.a, mechanism.b))
    depths, openings, speeds, scale = [], [], [], 0.0
    for row in rows:
        run, end = row.run, float(row.run.time[-1])
        spin = np.abs(run.speed("slider angle")).max()
        fastest = np.abs(run.speed("slider y")).max() + corner * spin
        depths.append(row.penetration / (row.step * (fastest + end * corner * spin**2) + 1e-12))
        turns = pull = 0.0
        for name, length in zip(("crank", "rod"), mechanism.lengths, strict=True):
            speed = run.speed(f"{name} angle")
            fast, changed = np.abs(speed).max(), np.abs(np.diff(speed)).sum()
            turns += 0.25 * length * fast * (changed + end * fast**2)
            pull += length * fast**2
        openings.append(row.opening / (row.step**2 * turns + 1e-9 * mechanism.lengths[1]))
        speeds.append(row.opening_speed / (row.step * pull + 1e-9))
        scale = max(scale, run.ledger.closing_error / max(run.ledger.scale, 1e-300))
    return [
        Check(
            "penetration over its bound",
            value=depths,
            at_least=0.0,
            at_most=1.0,
            source="step times the greatest speed of a corner and, while it touches, its centripetal acceleration",
        ),
        Check(
            "opening of the hinges over its bound",
            value=openings,
            at_least=0.0,
            at_most=1.0,
            source="square of the step times ¼ Σ l ω (change of ω + duration ω²) of both links",
        ),
        Check(
            "opening speed of the hinges over its bound",
            value=speeds,
            at_least=0.0,
            at_most=1.0,
            source="step times the centripetal accelerations l₁ ω₁² + l₂ ω₂²",
        ),
        Check(
            "energy ledgers of all steps",
            value=scale,
            expected=0.0,
            tolerance=1e-9,
            source="balance of energy, as a share of the energy turned over",
        ),
    ]


def _draw_mechanism(figure: "Figure", *, mechanism: Mechanism, run: "Run") -> None:
    """The mechanism at eight moments of the first turn of the crank, to scale."""
    figure.set_size_inches(7.0, 4.4)
    axes = figure.subplots()
    l1, l2 = mechanism.lengths
    left, right = l2 - 1.1 * l1 - mechanism.a, l2 + 1.1 * l1 + mechanism.a
    for sign in (-1.0, 1.0):
        wall_at = 0.5 * sign * mechanism.guide
        axes.fill_between(
            [left, right], wall_at, wall_at + 0.02 * sign, color="#DDDDDD", linewidth=0.0, zorder=1
        )
        axes.plot([left, right], [wall_at] * 2, color="#333333", linewidth=1.4, zorder=2)
    turn = np.abs(run.coordinate("crank angle"))
    last = int(np.searchsorted(np.maximum.accumulate(turn), min(2.0 * np.pi, turn.max())))
    for k in np.unique(np.linspace(0, min(last, len(run) - 1), 9)[:-1].astype(int)):
        _draw_links(axes, mechanism, run, int(k), strong=bool(k == 0))
    axes.plot(0.0, 0.0, "o", color="#333333", markersize=7, zorder=7)
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")


def _draw_links(axes: "Axes", mechanism: Mechanism, run: "Run", k: int, *, strong: bool) -> None:
    angle = np.array([run.coordinate(f"{name} angle")[k] for name in ("crank", "rod", "slider")])
    crank = mechanism.lengths[0] * np.array([np.cos(angle[0]), np.sin(angle[0])])
    pin = np.array([run.coordinate("slider x")[k], run.coordinate("slider y")[k]])
    alpha = 1.0 if strong else 0.45
    axes.plot(*np.array([(0.0, 0.0), crank]).T, color="#D55E00", linewidth=2.4, alpha=alpha, zorder=4)
    axes.plot(*np.array([crank, pin]).T, color="#0072B2", linewidth=2.0, alpha=alpha, zorder=4)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [mechanism.a, mechanism.b]
    cosine, sine = np.cos(angle[2]), np.sin(angle[2])
    box = pin + corners @ np.array([[cosine, sine], [-sine, cosine]])
    axes.plot(*box.T, color="#333333", linewidth=1.0, alpha=alpha, zorder=5)
    axes.plot(*np.array([crank, pin]).T, "o", color="#333333", markersize=3.5, alpha=alpha, zorder=6)


def _draw_slider(figure: "Figure", *, mechanism: Mechanism, run: "Run") -> None:
    """The slider in its guide: its height over the way, in parts of the play, and its angle; dots are impacts."""
    from klapper.contact_states import IMPACT

    figure.set_size_inches(6.4, 5.0)
    upper, lower = figure.subplots(2, 1, height_ratios=(2, 1))
    x, y = run.coordinate("slider x"), run.coordinate("slider y") / mechanism.play
    hit = np.any(run.state == IMPACT, axis=1)
    upper.plot(x, y, linewidth=1.2)
    upper.plot(x[hit], y[hit], ".", color="#D55E00", markersize=6)
    for limit in (-1.0, 1.0):
        upper.axhline(limit, color="#444444", linewidth=1.0, linestyle="--")
    upper.set(xlabel="slider x / m", ylabel="slider y / play")
    angle = run.coordinate("slider angle")
    reach = 1.1 * max(float(np.abs(angle).max()), 1e-6)
    lower.plot(run.time, angle, linewidth=1.2)
    lower.set(xlabel="time / s", ylabel="slider angle / rad", xlim=(0.0, run.time[-1]), ylim=(-reach, reach))
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))


def _draw_speed(figure: "Figure", *, mechanism: Mechanism, run: "Run") -> None:
    """Speed of the crank over its angle, with play and (dashed) for a slider without play and friction."""
    axes = figure.subplots()
    angle, speed = run.coordinate("crank angle"), run.speed("crank angle")
    turns = angle / (2.0 * np.pi)
    axes.plot(turns, speed, label="with play")
    axes.plot(turns, mechanism.ideal_speed(angle), "--", color="#333333", linewidth=1.0, label="without")
    axes.set(xlabel="turns of the crank", ylabel="speed of the crank / (rad/s)")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_refinement(figure: "Figure", *, rows: list[Row]) -> None:
    """Results at the end for ever smaller steps, with what they cost; above, how fast the errors fall with the step."""
    figure.set_size_inches(8.4, 5.8)
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    steps = np.array([row.step for row in rows])
    end = float(rows[-1].run.time[-1])
    last = np.array([row.place(end) for row in rows])
    curves = {
        "slider x − that of the smallest step": np.abs(last[:-1, 1] - last[-1, 1]),
        "penetration": np.array([row.penetration for row in rows]),
        "opening of the hinges": np.array([row.opening for row in rows]),
    }
    for (name, values), mark in zip(curves.items(), "osD", strict=True):
        upper.loglog(steps[: len(values)], np.maximum(values, 1e-16), f"{mark}-", label=name, markersize=5)
    upper.loglog(steps, _first_order(steps, curves["penetration"]), ":", color="#666666", label="slope 1")
    upper.set(xlabel="step / s", ylabel="m")
    upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
    columns = [
        "step / s",
        "crank / rad",
        "slider x / m",
        "penetration / m",
        "hinges / m",
        "num. loss / J",
        "impacts",
    ]
    cells = [
        [
            f"{row.step:.3g}",
            f"{place[0]:.5f}",
            f"{place[1]:.6f}",
            f"{row.penetration:.1e}",
            f"{row.opening:.1e}",
            f"{row.run.ledger.numerical[-1]:.1e}",
            f"{row.impacts}",
        ]
        for row, place in zip(rows, last, strict=True)
    ]
    lower.set_axis_off()
    table = lower.table(cells, colLabels=columns, loc="center", cellLoc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(9.5)
    table.scale(1.0, 1.35)


def _first_order(steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A line of first order through the last of the values."""
    return steps / steps[-1] * max(float(values[-1]), 1e-16)
