"""Woodpecker toy: a limit cycle made of impacts, jamming and sliding.

A sleeve runs with play on a pole and carries a woodpecker on a spring. Tilted, the sleeve jams; the bird swings and
frees it, falls a little, hits the pole with its beak and tilts the sleeve again. With the height y of the sleeve and
the angles φ_M of the sleeve and φ_S of the bird, for small angles,

    M q̈ + K q = f + J_N λ_N + J_T λ_T,                   q = (y, φ_M, φ_S)
    g_1 = l_M + l_G − l_S − r_0 − h_S φ_S                beak on the pole, with restitution
    g_2, g_3 = r_M − r_0 ± h_M φ_M                       lower and upper edge of the sleeve, plastic impacts

Pfeiffer 1984; data of Glocker 1995 as used by Leine, Glocker and van Campen 2001. Friction acts at all three contacts;
there is no restitution along the pole. The published start leads to a cycle of one swing. Another start, such as
start = −0.4, 0, 0, leads the same toy to another cycle, of two unequal swings.
"""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.report import Scene
    from klapper.results import Run

CONTACTS = ("beak", "lower edge", "upper edge")
START = (-0.2788, -7.4583, -0.3411)  # φ_S, φ̇_S, ẏ of the published simulations [rad, rad/s, m/s]
SETTLED = 0.02  # change of the speeds at the section from period to period, as a share of the greatest speed
MOST_SWINGS = 6  # of a period


@dataclass(frozen=True)
class Toy:
    """Masses [kg], inertias [kg m²] and lengths [m] of sleeve (M), bird (S) and pole, named as in the formulas."""

    m_M: float = 0.0003
    J_M: float = 5.0e-9
    m_S: float = 0.0045
    J_S: float = 7.0e-7
    c: float = 0.0056
    r_0: float = 0.0025
    r_M: float = 0.0031
    h_M: float = 0.0058
    l_M: float = 0.010
    l_G: float = 0.015
    h_S: float = 0.02
    l_S: float = 0.0201
    mu: float = 0.3
    restitution: float = 0.5
    gravity: float = 9.81

    @property
    def mass(self) -> np.ndarray:
        """M (3, 3)."""
        arms = np.array([1.0, self.l_M, self.l_G])  # how far the bird rises with y, φ_M and φ_S
        return np.diag([self.m_M, self.J_M, self.J_S]) + self.m_S * np.outer(arms, arms)

    @property
    def stiffness(self) -> np.ndarray:
        """K (3, 3) of the spring between sleeve and bird."""
        turn = np.array([0.0, 1.0, -1.0])
        return self.c * np.outer(turn, turn)

    @property
    def weight(self) -> np.ndarray:
        """f (3,)."""
        m = self.m_S
        return -self.gravity * np.array([self.m_M + m, m * self.l_M, m * self.l_G])

    @property
    def normals(self) -> np.ndarray:
        """Rows of J_Nᵀ (3, 3)."""
        return np.array([[0.0, 0.0, -self.h_S], [0.0, self.h_M, 0.0], [0.0, -self.h_M, 0.0]])

    @property
    def tangents(self) -> np.ndarray:
        """Rows of J_Tᵀ (3, 3): how fast the contact points move up."""
        return np.array([[1.0, self.l_M, self.l_G - self.l_S], [1.0, self.r_M, 0.0], [1.0, self.r_M, 0.0]])

    @property
    def gaps_at_zero(self) -> np.ndarray:
        """Gaps (3,) [m] for q = 0."""
        play = self.r_M - self.r_0
        return np.array([self.l_M + self.l_G - self.l_S - self.r_0, play, play])

    @property
    def restitutions(self) -> np.ndarray:
        return np.array([self.restitution, 0.0, 0.0])

    @property
    def hanging(self) -> float:
        """φ_S [rad] at which the bird is in equilibrium when the sleeve hangs on its lower edge."""
        return -(self.r_M - self.r_0) / self.h_M - self.m_S * self.gravity * self.l_G / self.c

    def system(self, bird_angle: float, bird_rate: float, speed: float) -> "LinearSystem":
        """Started with the sleeve on its lower edge."""
        from klapper.mechanics import Contact, LinearSystem

        contacts = [
            Contact(
                name, normal=normal, gap=gap, tangents=[tangent], friction=self.mu, restitution=restitution
            )
            for name, normal, gap, tangent, restitution in zip(
                CONTACTS, self.normals, self.gaps_at_zero, self.tangents, self.restitutions, strict=True
            )
        ]
        return LinearSystem(
            self.mass,
            stiffness=self.stiffness,
            force=self.weight,
            position=[0.0, -(self.r_M - self.r_0) / self.h_M, bird_angle],
            velocity=[speed, 0.0, bird_rate],
            contacts=contacts,
            coordinates=["y", "φ_M", "φ_S"],
            name="woodpecker toy",
        )


@dataclass(frozen=True)
class Cycles:
    """Where the bird passes the angle ``level`` [rad] downwards: n sections through the motion.

    ``time`` (n,) [s], ``position`` and ``velocity`` (n, 3), interpolated; ``sample`` (n,) just before.
    """

    run: "Run" = field(repr=False)
    level: float

    @cached_property
    def sample(self) -> np.ndarray:
        angle = self.run.coordinate("φ_S")
        return np.flatnonzero((angle[:-1] > self.level) & (angle[1:] <= self.level))

    @cached_property
    def _share(self) -> np.ndarray:
        """How far (n,) between two samples the section lies."""
        angle, k = self.run.coordinate("φ_S"), self.sample
        return (self.level - angle[k]) / (angle[k + 1] - angle[k])

    def _between(self, values: np.ndarray) -> np.ndarray:
        share = self._share.reshape(-1, *(1,) * (values.ndim - 1))
        return (1.0 - share) * values[self.sample] + share * values[self.sample + 1]

    @cached_property
    def time(self) -> np.ndarray:
        return self._between(self.run.time)

    @cached_property
    def position(self) -> np.ndarray:
        return self._between(self.run.position)

    @cached_property
    def velocity(self) -> np.ndarray:
        return self._between(self.run.velocity)

    def __len__(self) -> int:
        return len(self.sample)

    def change(self, swings: int) -> float:
        """Largest change of ẏ and φ̇_S from a section to the one so many ``swings`` later, among the last ones.

        As a share of the greatest speed of each; infinite if there are too few sections.
        """
        if len(self) < 2 * swings + 3:
            return np.inf
        last = self.velocity[-(2 * swings + 2) :, [0, 2]]
        greatest = np.abs(self.run.velocity[:, [0, 2]]).max(axis=0)
        return float((np.abs(last[swings:] - last[:-swings]) / np.where(greatest > 0.0, greatest, 1.0)).max())

    @cached_property
    def swings(self) -> int:
        """After how many swings the motion repeats; 0 if it does not (yet)."""
        return next((n for n in range(1, MOST_SWINGS + 1) if self.change(n) <= SETTLED), 0)

    @property
    def settled(self) -> bool:
        return self.swings > 0

    @property
    def averaged(self) -> slice:
        """The sections at the ends of whole periods, an even number of them where there are enough swings."""
        whole = min(len(self) - 1, 12) // self.swings
        return slice(-1 - self.swings * (whole - whole % 2 or whole), None)

    def per_period(self, values: np.ndarray) -> float:
        """Mean change of ``values`` (n,) over a period."""
        part = values[self.averaged]
        return float(self.swings * (part[-1] - part[0]) / (len(part) - 1))

    @property
    def speeds(self) -> np.ndarray:
        """ẏ and φ̇_S (swings, 2) at the sections of a period."""
        part = self.velocity[self.averaged][1:, [0, 2]]
        return part.reshape(-1, self.swings, 2).mean(axis=0)


@example("woodpecker", source="Pfeiffer (1984); data of Glocker (1995); Leine, Glocker, van Campen (2001)")
def woodpecker(
    *,
    sleeve_mass: Annotated[float, Parameter("mass of the sleeve", unit="kg", above=0.0)] = 0.0003,
    sleeve_inertia: Annotated[float, Parameter("inertia of the sleeve", unit="kg m²", above=0.0)] = 5.0e-9,
    bird_mass: Annotated[float, Parameter("mass of the bird", unit="kg", above=0.0)] = 0.0045,
    bird_inertia: Annotated[float, Parameter("inertia of the bird", unit="kg m²", above=0.0)] = 7.0e-7,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N m/rad", above=0.0)] = 0.0056,
    pole_radius: Annotated[float, Parameter("radius of the pole", unit="m", above=0.0)] = 0.0025,
    sleeve_radius: Annotated[float, Parameter("inner radius of the sleeve", unit="m", above=0.0)] = 0.0031,
    sleeve_half_height: Annotated[
        float, Parameter("half the height of the sleeve", unit="m", above=0.0)
    ] = 0.0058,
    spring_arm: Annotated[float, Parameter("distance of sleeve and spring", unit="m", above=0.0)] = 0.010,
    bird_arm: Annotated[float, Parameter("distance of spring and bird", unit="m", above=0.0)] = 0.015,
    beak_height: Annotated[
        float, Parameter("height of the beak above the bird's centre", unit="m", above=0.0)
    ] = 0.02,
    beak_arm: Annotated[
        float, Parameter("distance of the beak from the bird's centre", unit="m", above=0.0)
    ] = 0.0201,
    friction: Annotated[float, Parameter("friction coefficient of all contacts", at_least=0.0)] = 0.3,
    restitution: Annotated[float, Parameter("restitution of the beak", at_least=0.0, at_most=1.0)] = 0.5,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    start: Annotated[
        tuple[float, float, float],
        Parameter(
            "φ_S, φ̇_S and ẏ at the start, where the sleeve is on its lower edge", unit="rad, rad/s, m/s"
        ),
    ] = START,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-5,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 3.0,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures
    from klapper.schemes import Moreau
    from klapper.simulate import simulate

    toy = Toy(
        sleeve_mass, sleeve_inertia, bird_mass, bird_inertia, stiffness, pole_radius, sleeve_radius,
        sleeve_half_height, spring_arm, bird_arm, beak_height, beak_arm, friction, restitution, gravity,
    )  # fmt: skip
    _require_play(toy, start[0])
    run = simulate(toy.system(*start), until, Moreau(step))
    cycles = Cycles(run, toy.hanging)
    at_printed = Cycles(run, START[0])
    numbers, units = _numbers(run, cycles, at_printed)
    shown = _last_cycles(run, cycles)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[
            *_checks(toy, run, step),
            *_cycle_checks(
                toy, run, cycles, at_printed, shipped=toy == Toy() and start == START and step <= 2e-5
            ),
            ledger_check(run),
        ],
        audit={
            "tangential restitution": "none: friction along the pole follows Coulomb's law in impacts, too",
            "limit cycle": _verdict(cycles),
            **run_audit(run),
        },
        figures={
            "cycle": partial(_draw_cycle, toy=toy, run=shown[0]),
            "motion": partial(_draw_motion, run=shown[1]),
            "phase-portraits": partial(_draw_phases, run=run, last=shown[0]),
            "sections": partial(_draw_sections, cycles=at_printed),
            "contact-states": partial(_draw_states, run=shown[0]),
            "contact-forces": partial(_draw_forces, run=shown[0]),
            "energy": run_figures(run)["energy"],
        },
        scenes={"run": partial(_scene, toy, run)},
    )


def _scene(toy: Toy, run: "Run") -> "Scene":
    """The toy as an eye sees it that falls with the sleeve."""
    from klapper.report import Scene, Shape, disc, frame_times, moved, rectangle

    time = frame_times(run)
    _, sleeve, bird = run.position_at(time).T
    spring = np.column_stack([np.full(len(time), toy.l_M), toy.l_M * sleeve])
    centre = spring + np.column_stack([np.full(len(time), toy.l_G), toy.l_G * bird])
    beak = centre + np.column_stack([-toy.l_S - toy.h_S * bird, toy.h_S - toy.l_S * bird])
    height = 4.0 * (toy.h_M + toy.h_S)
    arm = np.stack([np.zeros_like(spring), spring, centre], axis=1)
    shapes = [
        Shape("pole", moved(rectangle(2.0 * toy.r_0, height), 0.0, 0.0), faint=True),
        Shape("sleeve", moved(rectangle(2.0 * toy.r_M, 2.0 * toy.h_M), 0.0, 0.0, sleeve)),
        Shape("spring", arm, "line", faint=True),
        Shape("bird", moved(disc(0.4 * toy.h_S), centre[:, 0], centre[:, 1], bird)),
        Shape("beak", np.stack([centre, beak], axis=1), "line"),
    ]
    return Scene(time, shapes, caption="The toy, seen by an eye that falls with the sleeve.")


def _require_play(toy: Toy, bird_angle: float) -> None:
    """Refuse a toy that does not fit on its pole."""
    if toy.r_M <= toy.r_0:
        raise ParameterError(
            f"sleeve_radius must be above pole_radius, {toy.r_0:g} m, not {toy.r_M:g} m: the sleeve needs play."
        )
    reach = toy.gaps_at_zero[0]
    if reach - toy.h_S * bird_angle < 0.0:
        raise ParameterError(
            f"start has the bird at {bird_angle:g} rad, where its beak is in the pole; it touches at "
            f"{reach / toy.h_S:.4g} rad. Start below that, or change spring_arm, bird_arm or beak_arm."
        )


def _numbers(run: "Run", cycles: Cycles, at_printed: Cycles) -> tuple[dict[str, Any], dict[str, str]]:
    from klapper.contact_states import IMPACT, STICK

    end, descent = float(run.time[-1]), float(run.coordinate("y")[0] - run.coordinate("y")[-1])
    numbers: dict[str, Any] = {"descent": descent, "mean_speed": descent / end, "settled": cycles.settled}
    units = {"descent": "m", "mean_speed": "m/s"}
    if cycles.settled:
        first, last = cycles.sample[cycles.averaged][[0, -1]]
        state, ledger = run.state[first:last], run.ledger
        begins = np.cumsum(np.diff((run.state[:, 0] == IMPACT).astype(int), prepend=0) > 0)
        numbers |= {
            "swings_per_period": cycles.swings,
            "period": cycles.per_period(cycles.time),
            "frequency": 1.0 / cycles.per_period(cycles.time),
            "descent_per_period": 0.0 - cycles.per_period(cycles.position[:, 0]),
            "beak_impacts_per_period": cycles.per_period(begins[cycles.sample]),
            "share_of_time_jammed": float(np.mean(np.any(state[:, 1:] == STICK, axis=1))),
            "friction_loss_per_period": cycles.per_period(ledger.friction[cycles.sample]),
            "impact_loss_per_period": cycles.per_period(ledger.impact[cycles.sample]),
        }
        units |= {
            "period": "s",
            "frequency": "Hz",
            "descent_per_period": "m",
            "friction_loss_per_period": "J",
            "impact_loss_per_period": "J",
        }
    if at_printed.settled:
        speeds, rates = at_printed.speeds.T
        numbers |= {"speeds_at_section": speeds, "bird_rates_at_section": rates}
        units |= {
            "speeds_at_section": "m/s (at φ_S = −0.2788)",
            "bird_rates_at_section": "rad/s (at φ_S = −0.2788)",
        }
    return numbers, units


def _verdict(cycles: Cycles) -> str:
    if cycles.settled:
        return (
            f"reached: it repeats after {cycles.swings} swing(s), with speeds at a section that change by "
            f"{cycles.change(cycles.swings):.1%} of the greatest"
        )
    if len(cycles) < 5:
        return f"not judged: {len(cycles)} swings are too few"
    return f"not reached: from swing to swing the speeds at a section change by {cycles.change(1):.1%} of the greatest"


def _checks(toy: Toy, run: "Run", step: float) -> list[Check]:
    """The equations of every step and its contact laws, from the stored samples alone."""
    q, v, impulse = run.position, run.velocity, run.impulse
    fastest = float(np.abs(v @ toy.normals.T).max())
    checks = [
        Check(
            "deepest penetration",
            value=max(-float(run.gap.min()), 0.0),
            at_least=0.0,
            at_most=step * fastest + 1e-12,
            source="a contact is seen at most one step too late: step times the greatest normal speed",
        )
    ]
    if run.about["settings"]["every"] != 1:
        return checks
    momentum = (v[1:] - v[:-1]) @ toy.mass
    force = toy.weight - 0.5 * (q[1:] + q[:-1]) @ toy.stiffness
    pushed = impulse[1:, :, 0] @ toy.normals + impulse[1:, :, 1] @ toy.tangents
    size = np.abs(momentum).max(axis=0) + step * np.abs(force).max(axis=0)
    normal, tangential = impulse[1:, :, 0], impulse[1:, :, 1]
    approach = v @ toy.normals.T
    rebound = approach[1:] + toy.restitutions * approach[:-1]
    slip = v[1:] @ toy.tangents.T
    largest, fast = max(float(normal.max()), 1e-300), max(float(np.abs(slip).max()), 1e-300)
    return [
        *checks,
        Check(
            "equations of motion",
            value=float((np.abs(momentum - step * force - pushed) / size).max()),
            expected=0.0,
            tolerance=1e-9,
            source="M (v⁺ − v) = h (f − K (q + q⁺)/2) + J_N Λ_N + J_T Λ_T in every step",
        ),
        Check(
            "impact law",
            value=float(np.abs(np.where(normal > 1e-9 * largest, rebound, 0.0)).max()),
            expected=0.0,
            tolerance=1e-7 * max(fastest, 1e-300),
            source="v_N⁺ = −ε v_N⁻ wherever a contact transfers an impulse",
        ),
        Check(
            "friction cone",
            value=float((np.abs(tangential) - toy.mu * normal).max()) / largest,
            at_most=1e-9,
            source="|Λ_T| ≤ μ Λ_N",
        ),
        Check(
            "friction opposes sliding",
            value=float(np.abs(tangential * slip + toy.mu * normal * np.abs(slip)).max()) / (largest * fast),
            expected=0.0,
            tolerance=1e-7,
            source="Λ_T v_T = −μ Λ_N |v_T|",
        ),
    ]


def _cycle_checks(toy: Toy, run: "Run", cycles: Cycles, at_printed: Cycles, *, shipped: bool) -> list[Check]:
    """What holds on the limit cycle, if it has been reached; ``shipped``: whether it must be the published one."""
    if not cycles.settled:
        return []
    ends = cycles.sample[cycles.averaged]
    stored = run.ledger.kinetic[ends] + 0.5 * np.einsum(
        "ki,ij,kj->k", run.position[ends], toy.stiffness, run.position[ends]
    )
    lost = run.ledger.friction[ends] + run.ledger.impact[ends] + run.ledger.numerical[ends]
    fallen = -(run.position[ends] @ toy.weight)
    checks = [
        Check(
            "energy over the last periods",
            value=float(lost[-1] - lost[0]),
            expected=float(fallen[0] - fallen[-1]),
            tolerance=abs(float(stored[-1] - stored[0])) + 1e-9 * run.ledger.scale,
            source="friction and impacts take what the weight gives; the tolerance is what the toy itself stores",
        )
    ]
    if shipped and at_printed.swings == 1:
        speed, rate = at_printed.speeds[0]
        checks.append(
            Check(
                "state on the limit cycle",
                value=[speed, rate],
                expected=[START[2], START[1]],
                tolerance=[0.01 * abs(START[2]), 0.01 * abs(START[1])],
                source="ẏ and φ̇_S at φ_S = −0.2788 of the published simulations, by time stepping, so to 1 %",
            )
        )
    return checks


def _last_cycles(run: "Run", cycles: Cycles) -> tuple["Run", "Run"]:
    """The last period and the last swings, at least three; without cycles the last sixth and half of the run."""
    from klapper.results import Run

    ends, swings = [*cycles.sample], cycles.swings
    if not cycles.settled:
        ends, swings = [len(run) * k // 6 for k in (3, 4, 5, 6)], 1
    return tuple(  # type: ignore[return-value]
        Run(run.layout, run.samples[int(ends[-1 - n]) : int(ends[-1])], run.about)
        for n in (swings, max(swings, 3))
    )


def _draw_cycle(figure: "Figure", *, toy: Toy, run: "Run") -> None:
    """The toy at six moments of a period, to scale; contacts that carry force are marked."""
    figure.set_size_inches(8.6, 3.4)
    panels = figure.subplots(1, 6)
    moments = np.linspace(0, len(run) - 1, 7)[:-1].astype(int)
    for axes, k in zip(panels, moments, strict=True):
        _draw_toy(axes, toy, run.position[k], np.any(run.impulse[k] != 0.0, axis=1))
        axes.set_title(f"{1e3 * (run.time[k] - run.time[0]):.0f} ms", fontsize=10, loc="center")


def _draw_toy(axes: "Axes", toy: Toy, q: np.ndarray, loaded: np.ndarray) -> None:
    from klapper.gallery._sketch import DARK, ORANGE, bare

    _, sleeve, bird = q
    tall = toy.h_M + toy.h_S + toy.l_G
    axes.fill_between([-toy.r_0, toy.r_0], -1.4 * tall, 1.4 * tall, color="#E9E4DC", zorder=1)
    for side in (-1.0, 1.0):
        axes.plot([side * toy.r_0] * 2, [-1.4 * tall, 1.4 * tall], color=DARK, linewidth=0.9, zorder=2)
        wall = np.array([[side * toy.r_M - sign * toy.h_M * sleeve, sign * toy.h_M + side * toy.r_M * sleeve]
                         for sign in (-1.0, 1.0)])  # fmt: skip
        axes.plot(*wall.T, color=DARK, linewidth=3.0, solid_capstyle="butt", zorder=4)
    spring = np.array([toy.l_M, toy.l_M * sleeve])
    centre = spring + np.array([toy.l_G, toy.l_G * bird])
    beak = centre + np.array([-toy.l_S - toy.h_S * bird, toy.h_S - toy.l_S * bird])
    axes.plot([toy.r_M, spring[0]], [toy.r_M * sleeve, spring[1]], color=DARK, linewidth=1.6, zorder=3)
    axes.plot(*np.array([spring, centre]).T, color=ORANGE, linewidth=1.6, zorder=3)
    for outline, color in _bird(toy):
        turned = centre + outline + bird * np.stack([-outline[:, 1], outline[:, 0]], axis=1)
        axes.fill(*turned.T, facecolor=color, edgecolor=DARK, linewidth=0.8, zorder=5)
    places = [beak, (toy.r_0, -toy.h_M), (toy.r_0, toy.h_M)]
    for place, force in zip(places, loaded, strict=True):
        if force:
            axes.plot(*place, "o", color=ORANGE, markersize=5, zorder=8)
    bare(axes, (-2.0 * toy.r_M, toy.l_M + toy.l_G + 0.9 * toy.l_S), (-1.35 * tall, 1.35 * tall))


def _bird(toy: Toy) -> list[tuple[np.ndarray, str]]:
    """Outlines (n, 2) around the bird's centre, with colours: the beak with its tip at (−l_S, h_S), body, head."""
    from klapper.gallery._sketch import BODY

    way = np.linspace(0.0, 2.0 * np.pi, 60)
    circle = np.stack([np.cos(way), np.sin(way)], axis=1)
    tall, wide = toy.h_S, toy.l_S
    head = np.array([-0.35 * wide, 0.92 * tall])
    lean = np.array([[0.30 * wide, -0.12 * wide], [0.12 * tall, 1.1 * tall]])
    thick = np.array([0.0, 0.16 * tall])
    beak = np.array([head + thick, (-wide, tall), head - thick])
    return [(beak, "#E69F00"), (circle @ lean.T, BODY), (head + 0.24 * circle * [wide, tall], "#D55E00")]


def _draw_motion(figure: "Figure", *, run: "Run") -> None:
    """Height of the sleeve, and angles of sleeve and bird, over the last swings."""
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, names, factor in ((upper, ("y",), 1e3), (lower, ("φ_M", "φ_S"), 1.0)):
        for name in names:
            values = factor * run.coordinate(name)
            points = thinned(values)
            axes.plot(run.time[points], values[points], label={"φ_M": "sleeve", "φ_S": "bird"}.get(name))
    upper.set(ylabel="height / mm", xlim=(run.time[0], run.time[-1]))
    lower.set(xlabel="time / s", ylabel="angle / rad")
    lower.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_phases(figure: "Figure", *, run: "Run", last: "Run") -> None:
    """Phase portraits of bird and sleeve: the whole run in grey, its last period in colour, impacts as jumps."""
    from klapper.results.thinning import thinned_curve, thinned_together

    figure.set_size_inches(8.0, 3.6)
    for axes, name, title, color in zip(
        figure.subplots(1, 2), ("φ_S", "φ_M"), ("bird", "sleeve"), ("#0072B2", "#D55E00"), strict=True
    ):
        x, y = run.coordinate(name), run.speed(name)
        points = thinned_curve(x, y)
        axes.plot(x[points], y[points], ".", color="#BBBBBB", markersize=1.5)
        x, y = last.coordinate(name), last.speed(name)
        points = thinned_together(np.stack([x, y], axis=1))
        axes.plot(x[points], y[points], color=color, linewidth=1.3)
        axes.set(xlabel=f"{name} / rad", ylabel=f"rate of {name} / (rad/s)", title=title)


def _draw_sections(figure: "Figure", *, cycles: Cycles) -> None:
    """Speeds where the bird passes φ_S = −0.2788 downwards, swing by swing; dashed the published state."""
    figure.set_size_inches(6.0, 4.2)
    panels = figure.subplots(2, 1, sharex=True)
    number = np.arange(1, len(cycles) + 1)
    for axes, column, printed, text in zip(
        panels, (0, 2), (START[2], START[1]), ("ẏ / (m/s)", "rate of φ_S / (rad/s)"), strict=True
    ):
        axes.plot(number, cycles.velocity[:, column], "o-", markersize=4, linewidth=1.0)
        axes.axhline(printed, color="#444444", linestyle="--", linewidth=1.0)
        axes.set_ylabel(text)
    panels[1].set_xlabel("swing")
    panels[1].xaxis.get_major_locator().set_params(integer=True)


def _draw_states(figure: "Figure", *, run: "Run") -> None:
    """States of the contacts over a period: where the lower edge sticks, the toy is jammed."""
    run.plot.states(figure)


def _draw_forces(figure: "Figure", *, run: "Run") -> None:
    """Contact forces (lines, left scale) and impulses of impacts (stems, right scale) over a period."""
    run.plot.forces(figure)
