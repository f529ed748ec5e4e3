"""Newton's cradle: what each impact law makes of a row of balls that touch.

Equal balls hang side by side as pendulums with small swings, q̈ = −(g/l) q. The first k of n are lifted and hit the
others. If the balls touch, the laws of Newton and Poisson know one impact of all contacts at once,

    first k:  (1 + ε) k/n − ε      others:  (1 + ε) k/n      of the impact speed,

which keeps momentum and, for ε = 1, energy, but is not what the toy does. Fast impacts in sequence pass the momentum on
from ball to ball: k balls come, k balls leave. With small gaps between the balls the motion itself makes the sequence,
and all laws agree.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import asin, radians, sqrt
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.results import Run

Law = Literal["newton", "poisson", "sequential"]
FAST_IMPACTS = 20_000


@dataclass(frozen=True)
class Cradle:
    """The parameters of the cradle, and what follows from them in closed form."""

    balls: int
    lifted: int
    law: Law
    restitution: float
    spacing: float
    angle_deg: float
    length: float
    mass: float
    gravity: float

    @property
    def frequency(self) -> float:
        """√(g/l) [rad/s]."""
        return sqrt(self.gravity / self.length)

    @property
    def amplitude(self) -> float:
        """Displacement [m] of the lifted balls at the start."""
        return self.length * radians(self.angle_deg)

    @property
    def lowest_speed(self) -> float:
        """Speed [m/s] of the lifted balls at their lowest point."""
        return self.amplitude * self.frequency

    @property
    def speed(self) -> float:
        """Speed [m/s] with which they hit: the gap lies behind the lowest point."""
        return self.after_gap(self.lowest_speed, self.spacing)

    @property
    def first_impact(self) -> float:
        """Time [s] of the first impact."""
        return (0.5 * np.pi + asin(self.spacing / self.amplitude)) / self.frequency

    @property
    def one_by_one(self) -> bool:
        """Whether, with gaps, the momentum reaches the last ball before any ball is hit a second time.

        In units of gap and speed, the front needs the time Σ a⁻ⁱ with a = (1 + ε)/2, and ball 1 meets ball 2 again
        after ε/(a (1 − a)²): for up to 20 balls this is later if ε ≥ 0.8.
        """
        return self.lifted == 1 and self.restitution >= 0.8

    def after_gap(self, speed: float, way: float) -> float:
        """Speed [m/s] left when a ball has climbed a ``way`` [m] from its lowest point."""
        return sqrt(max(speed**2 - (self.frequency * way) ** 2, 0.0))

    def last_speed(self, way: float) -> float:
        """Speed [m/s] of the last ball if one ball came and each covers the ``way`` [m] before it hits the next."""
        speed = self.lowest_speed
        for _ in range(self.balls - 1):
            speed = 0.5 * (1 + self.restitution) * self.after_gap(speed, way)
        return speed

    def passed_on(self) -> np.ndarray:
        """Velocities (n,) after the impact of touching balls, in units of the impact speed, by hand."""
        hit = np.arange(self.balls) >= self.lifted
        if self.law != "sequential":
            together = (1 + self.restitution) * self.lifted / self.balls
            return np.where(hit, together, together - self.restitution)
        velocity = np.where(hit, 0.0, 1.0)
        for _ in range(FAST_IMPACTS):
            approach = np.maximum(velocity[:-1] - velocity[1:], 0.0)
            if approach.max() <= 1e-9:
                break
            exchanged = 0.5 * (1 + self.restitution) * np.where(approach > 1e-9, approach, 0.0)
            velocity[:-1] -= exchanged  # pairs that approach at the same time never share a ball
            velocity[1:] += exchanged
        return velocity

    def system(self) -> "LinearSystem":
        from klapper.mechanics import Contact, LinearSystem

        normals = np.eye(self.balls - 1, self.balls, k=1) - np.eye(self.balls - 1, self.balls)
        contacts = [
            Contact(f"{i + 1}-{i + 2}", normal=normal, gap=self.spacing, restitution=self.restitution)
            for i, normal in enumerate(normals)
        ]
        position = np.zeros(self.balls)
        position[: self.lifted] = -self.amplitude
        return LinearSystem(
            np.full(self.balls, self.mass),
            stiffness=np.full(self.balls, self.mass * self.frequency**2),
            position=position,
            contacts=contacts,
            coordinates=[f"ball {i + 1}" for i in range(self.balls)],
            name="Newton's cradle",
        )


@example("newtons-cradle", source="impact laws: Waltersberger (2007), section 5.1; closed forms")
def newtons_cradle(
    *,
    balls: Annotated[int, Parameter("number of balls", at_least=2, at_most=20)] = 5,
    lifted: Annotated[int, Parameter("number of balls lifted at the start", at_least=1)] = 1,
    law: Annotated[Law, Parameter("impact law")] = "sequential",
    restitution: Annotated[
        float, Parameter("restitution between two balls", at_least=0.0, at_most=1.0)
    ] = 1.0,
    spacing: Annotated[float, Parameter("gap between two balls at rest", unit="m", at_least=0.0)] = 0.0,
    angle_deg: Annotated[
        float, Parameter("angle by which balls are lifted", unit="°", above=0.0, at_most=30.0)
    ] = 10.0,
    length: Annotated[float, Parameter("length of the pendulums", unit="m", above=0.0)] = 0.15,
    mass: Annotated[float, Parameter("mass of a ball", unit="kg", above=0.0)] = 0.05,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-3,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 2.5,
    scheme: Annotated[SchemeName, Parameter("method")] = "moreau",
) -> Outcome:
    from klapper.contact_states import IMPACT
    from klapper.gallery._run import impact_time, ledger_check, run_audit, run_figures, run_named
    from klapper.mechanics.impact import Poisson, Sequential

    cradle = Cradle(balls, lifted, law, restitution, spacing, angle_deg, length, mass, gravity)
    _require(cradle, step)
    laws = {"newton": None, "poisson": Poisson(), "sequential": Sequential(limit=FAST_IMPACTS)}
    run = run_named(cradle.system(), until, scheme, step, impact=laws[law], every=1)
    hits = np.flatnonzero(np.any(run.state == IMPACT, axis=1))
    energy = run.ledger.kinetic + run.ledger.potential
    first = hits[0] if len(hits) else 0
    return Outcome(
        numbers={
            "velocities": run.velocity[first] / cradle.speed,
            "impact_speed": cradle.speed,
            "first_impact_time": impact_time(run, first, step) if len(hits) else None,
            "impacts": len(hits),
            "momentum_ratio": _momentum_ratio(run, first) if len(hits) else None,
            "energy_ratio_impact": energy[first] / energy[0],
            "energy_ratio": energy[-1] / energy[0],
            **{f"velocities_{name}": each.passed_on() for name, each in _laws(cradle).items()},
        },
        units={
            "velocities": "of the impact speed, after the first impact",
            "impact_speed": "m/s",
            "first_impact_time": "s (of time stepping: middle of the step)",
            "momentum_ratio": "after over before the first impact",
            "energy_ratio_impact": "after over before the first impact",
            "energy_ratio": "at the end over at the start",
            **{
                f"velocities_{name}": "of the impact speed, in closed form for touching balls"
                for name in _laws(cradle)
            },
        },
        checks=[*_checks(cradle, run, hits, step), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "motion": partial(_draw_motion, cradle=cradle, run=run),
            "laws": partial(_draw_laws, cradle=cradle),
            **run_figures(run, "contact-states", "energy"),
        },
    )


def _require(cradle: Cradle, step: float) -> None:
    """Refuse what cannot be a cradle."""
    if cradle.lifted >= cradle.balls:
        raise ParameterError(
            f"lifted must be less than the number of balls {cradle.balls}, not {cradle.lifted}."
        )
    widest = 0.2 * cradle.amplitude
    if cradle.spacing > widest:
        raise ParameterError(
            f"spacing must be at most {widest:.4g} m, a fifth of how far balls are lifted, not {cradle.spacing:g}."
        )
    longest = 0.05 / cradle.frequency
    if step > longest:
        raise ParameterError(
            f"step must be at most {longest:.4g} s, which makes 126 steps per swing to and fro, not {step:g}."
        )


def _laws(cradle: Cradle) -> dict[str, Cradle]:
    """The same cradle with each law."""
    names: tuple[Law, ...] = ("newton", "poisson", "sequential")
    return {name: replace(cradle, law=name) for name in names}


def _momentum_ratio(run: "Run", hit: int) -> float:
    return float(run.velocity[hit].sum() / run.velocity[hit - 1].sum())


def _checks(cradle: Cradle, run: "Run", hits: np.ndarray, step: float) -> list[Check]:
    """What is known in closed form; the springs act during the step of an impact, hence the tolerances with ω h."""
    energy = run.ledger.kinetic + run.ledger.potential
    checks = [
        Check(
            "largest energy over that at the start",
            value=energy.max() / energy[0],
            at_most=1.0 + 1e-9,
            source="without friction no law gives energy",
        )
    ]
    if cradle.restitution == 1.0 and cradle.law == "newton":
        checks.append(
            Check(
                "energy at the end over that at the start",
                value=energy[-1] / energy[0],
                expected=1.0,
                tolerance=1e-9,
                source="Newton's law with ε = 1 and the midpoint rule keep the energy",
            )
        )
    return [*checks, *_impact_checks(cradle, run, hits, step)] if len(hits) else checks


def _impact_checks(cradle: Cradle, run: "Run", hits: np.ndarray, step: float) -> list[Check]:
    from klapper.gallery._run import impact_time

    first, turn = hits[0], cradle.frequency * step
    before, after = run.velocity[first - 1] / cradle.speed, run.velocity[first] / cradle.speed
    small = 2 * turn * (turn + cradle.spacing / cradle.amplitude)
    checks = [
        Check(
            "first impact time",
            value=impact_time(run, first, step),
            expected=cradle.first_impact,
            tolerance=step + turn**2 * cradle.first_impact,
            source="pendulum with small swings; one step, and the period of the midpoint rule",
        ),
        Check(
            "momentum after over before the first impact",
            value=after.sum() / before.sum(),
            expected=1.0,
            tolerance=small,
            source="conservation of momentum; weight acts during the step",
        ),
    ]
    if cradle.spacing == 0.0:
        checks.append(
            Check(
                "velocities after the first impact",
                value=after,
                expected=cradle.passed_on(),
                tolerance=small,
                source="closed form of the law" if cradle.law != "sequential" else "impacts of pairs by hand",
            )
        )
    elif cradle.one_by_one and cradle.spacing >= 4 * step * cradle.lowest_speed:
        checks += _row_check(cradle, run, step)
    return checks


def _row_check(cradle: Cradle, run: "Run", step: float) -> list[Check]:
    """The momentum that has run through the row: every ball hits up to two steps early or late."""
    from klapper.contact_states import IMPACT

    arrived = np.flatnonzero(run.state[:, -1] == IMPACT)
    early = 2 * step * cradle.lowest_speed
    slow, expected = cradle.last_speed(cradle.spacing + early), cradle.last_speed(cradle.spacing)
    fast = cradle.last_speed(cradle.spacing - early)
    if not len(arrived) or slow == 0.0:
        return []
    return [
        Check(
            "speed of the last ball when it is first hit",
            value=run.velocity[arrived[0], -1],
            expected=expected,
            tolerance=max(fast - expected, expected - slow) + (cradle.frequency * step) ** 2 * cradle.speed,
            source="impacts of pairs, one after the other; every ball hits up to two steps early or late",
        )
    ]


def _draw_motion(figure: "Figure", *, cradle: Cradle, run: "Run") -> None:
    """Displacement of the balls over time, set apart from each other; the first ball is the lowest line."""
    axes = figure.subplots()
    unit = 2.2 * cradle.amplitude
    for i in range(cradle.balls):
        axes.plot(run.time, i + 1 + run.position[:, i] / unit, linewidth=1.4)
    label = f"ball, and displacement / {1e3 * unit:.3g} mm"
    axes.set(xlabel="time / s", ylabel=label, xlim=(0.0, run.time[-1]), yticks=range(1, cradle.balls + 1))


def _draw_laws(figure: "Figure", *, cradle: Cradle) -> None:
    """Velocities after the first impact by each law, in units of the impact speed, if the balls touch."""
    axes = figure.subplots()
    place = np.arange(1, cradle.balls + 1)
    for k, (name, each) in enumerate(_laws(cradle).items()):
        axes.bar(place + 0.27 * (k - 1), each.passed_on(), width=0.25, label=name)
    axes.axhline(0.0, color="#444444", linewidth=0.8)
    axes.set(xlabel="ball", ylabel="velocity / impact speed", xticks=place)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)
