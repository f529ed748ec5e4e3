"""Two masses on a moving belt: sticking and slipping in turn, until both slide for good.

Springs tie two masses to the wall and to each other; a belt of speed V drags both with constant friction R_i:

    m_i ẍ_i + k_i x_i + k₁₂ (x_i − x_j) = λ_i,   |λ_i| ≤ R_i while mass i sticks (ẋ_i = V),   λ_i = ±R_i while it slides

Each combination of sticking and slipping is a linear system with a closed form, so the motion is exact up to the roots
that end its phases. Measured from steady sliding, the energy of the vibration cannot grow: it stays while both masses
lag behind the belt and falls with the power (R_i − λ_i) V while one of them sticks. So sticking gets ever shorter, and
what is left is a sum of the two free vibrations that hardly reaches the speed of the belt.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.results import Run

NAMES = ("mass 1", "mass 2")
MOST_STEPS = 1_000_000
SHOWN = 40  # switches among the numbers
TOUCH = 1e-4  # of 1/ω: sticking so short is decided by round-off
TOLERANCE = 1e-12  # of the integrations with error control


@dataclass(frozen=True)
class Pair:
    """The parameters, each for both masses, and what follows from them in closed form."""

    mass: tuple[float, float]
    stiffness: tuple[float, float]
    coupling: float
    friction: tuple[float, float]
    speed: float

    @cached_property
    def matrix(self) -> np.ndarray:
        """Stiffness (2, 2) [N/m]."""
        return np.diag(self.stiffness) + self.coupling * np.array([[1.0, -1.0], [-1.0, 1.0]])

    @cached_property
    def frequencies(self) -> np.ndarray:
        """ω (2,) [rad/s] of the free vibrations, rising."""
        root = np.sqrt(np.array(self.mass))
        return np.sqrt(np.linalg.eigvalsh(self.matrix / np.outer(root, root)))

    @cached_property
    def steady(self) -> np.ndarray:
        """Displacements (2,) [m] in steady sliding."""
        return np.linalg.solve(self.matrix, np.array(self.friction))

    @property
    def first_slip(self) -> float:
        """When [s] the first mass slips: both are carried along together, so the coupling stays relaxed."""
        return min(r / (k * self.speed) for r, k in zip(self.friction, self.stiffness, strict=True))

    def vibration_energy(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Energy (s,) [J] of positions and velocities (s, 2), measured from steady sliding."""
        apart = position - self.steady
        return 0.5 * (velocity**2 @ np.array(self.mass) + np.sum((apart @ self.matrix) * apart, axis=1))

    def system(self) -> "LinearSystem":
        """Put on the belt with relaxed springs and carried along."""
        from klapper.mechanics import FrictionElement, LinearSystem

        return LinearSystem(
            list(self.mass),
            stiffness=self.matrix,
            velocity=[self.speed, self.speed],
            contacts=[
                FrictionElement(name, tangents=[row], limit=limit, tangential_rate=-self.speed)
                for name, row, limit in zip(NAMES, np.eye(2), self.friction, strict=True)
            ],
            coordinates=NAMES,
            name="two masses on a belt",
        )


@dataclass(frozen=True)
class Switches:
    """Times (k,) [s] at which a mass starts or stops to stick, its number (k,), and whether it sticks then (k,)."""

    time: np.ndarray
    mass: np.ndarray
    sticks: np.ndarray

    @classmethod
    def of(cls, run: "Run") -> "Switches":
        from klapper.contact_states import STICK
        from klapper.gallery._run import switching_times

        found = [switching_times(run, name) for name in NAMES]
        time = np.concatenate([times for times, _ in found])
        mass = np.concatenate([np.full(len(times), i) for i, (times, _) in enumerate(found)])
        sticks = np.concatenate([states == STICK for _, states in found])
        order = np.lexsort((mass, time))
        return cls(time[order], mass[order], sticks[order])

    def without_touches(self, shortest: float) -> "Switches":
        """Without the moments, shorter than ``shortest`` [s], in which a mass just touches the speed of the belt."""
        kept = np.ones(len(self.time), dtype=bool)
        for mass in range(len(NAMES)):
            own = np.flatnonzero(self.mass == mass)
            for begin, end in pairwise(own):
                if self.sticks[begin] and self.time[end] - self.time[begin] < shortest:
                    kept[[begin, end]] = False
        return Switches(self.time[kept], self.mass[kept], self.sticks[kept])


@example("two-masses-belt", source="stick-slip with two masses; event-driven against piecewise exact")
def two_masses_belt(
    *,
    mass: Annotated[tuple[float, float], Parameter("both masses", unit="kg", above=0.0)] = (1.0, 2.0),
    stiffness: Annotated[tuple[float, float], Parameter("springs to the wall", unit="N/m", above=0.0)] = (
        60.0,
        40.0,
    ),
    coupling: Annotated[float, Parameter("spring between the masses", unit="N/m", at_least=0.0)] = 25.0,
    friction: Annotated[tuple[float, float], Parameter("friction of both masses", unit="N", above=0.0)] = (
        6.0,
        9.0,
    ),
    belt_speed: Annotated[float, Parameter("speed of the belt", unit="m/s", above=0.0)] = 0.4,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 8.0,
    step: Annotated[float, Parameter("time step, or interval of output", unit="s", above=0.0)] = 0.02,
    scheme: Annotated[SchemeName, Parameter("method")] = "event-driven",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named

    pair = Pair(mass, stiffness, coupling, friction, belt_speed)
    if scheme == "moreau" and until / step > MOST_STEPS:
        raise ParameterError(
            f"step must be at least {until / MOST_STEPS:.3g} s for a duration of {until:g} s."
        )
    run = run_named(pair.system(), until, scheme, step, tolerance=TOLERANCE)
    other: SchemeName = "event-driven" if scheme == "exact" else "exact"
    reference = run_named(pair.system(), until, other, step, tolerance=TOLERANCE)
    switches = Switches.of(run)
    sticking = [_stick_share(run, name) for name in NAMES]
    ended = switches.time[~switches.sticks]
    energy = pair.vibration_energy(run.position, run.velocity)
    return Outcome(
        numbers={
            "switches": len(switches.time),
            "switching_times": switches.time[:SHOWN],
            "switching_masses": switches.mass[:SHOWN] + 1,
            "stick_shares": sticking,
            "last_release": ended[-1] if len(ended) else float("nan"),
            "final_positions": run.position[-1],
            "final_velocities": run.velocity[-1],
            "steady_positions": pair.steady,
            "free_periods": 2 * pi / pair.frequencies,
            "vibration_energy_left": energy[-1] / energy[0],
        },
        units={
            "switching_times": "s",
            "stick_shares": "of the duration",
            "last_release": "s (end of the last sticking)",
            "final_positions": "m",
            "final_velocities": "m/s",
            "steady_positions": "m (closed form)",
            "free_periods": "s (closed form)",
            "vibration_energy_left": "of that at the start",
        },
        checks=[
            *_checks(pair, run, switches, step, scheme),
            *_agreement(pair, run, reference, step, scheme),
            ledger_check(run),
        ],
        audit={**run_audit(run), f"the same by {other}": run_audit(reference)["scheme"]},
        figures={
            "motion": partial(_draw_motion, pair=pair, run=run),
            "phase": partial(_draw_phase, pair=pair, run=run),
            "vibration": partial(_draw_vibration, pair=pair, run=run),
            "methods": partial(_draw_methods, run=run, reference=reference),
            **run_figures(run, "contact-states", "energy"),
        },
    )


def _stick_share(run: "Run", name: str) -> float:
    """Share of the duration in which a mass sticks."""
    from klapper.contact_states import STICK

    state = run.contact(name).state[1:]
    return float(np.diff(run.time)[state == STICK].sum() / (run.time[-1] - run.time[0]))


def _checks(pair: Pair, run: "Run", switches: Switches, step: float, scheme: SchemeName) -> list[Check]:
    """The first slip in closed form, and the energy of the vibration, which cannot grow."""
    checks = []
    if pair.first_slip < run.time[-1] - step:
        checks.append(
            Check(
                "first slip",
                value=switches.time[0] if len(switches.time) else float("nan"),
                expected=pair.first_slip,
                tolerance=2 * step
                if scheme == "moreau"
                else 1e-9 * (pair.first_slip + 1.0 / pair.frequencies[0]),
                source="the belt stretches the springs to the wall until one overcomes friction",
            )
        )
    energy = pair.vibration_energy(run.position, run.velocity)
    return [
        *checks,
        Check(
            "largest growth of the vibration's energy",
            value=np.diff(energy).max() / energy[0],
            at_most=(pair.frequencies[1] * step) ** 2 if scheme == "moreau" else 1e-8,
            source="friction feeds the vibration with (λ − R) ẋ, which is never positive",
        ),
    ]


def _agreement(pair: Pair, run: "Run", reference: "Run", step: float, scheme: SchemeName) -> list[Check]:
    """All switching times and the final state, by two methods that share neither integration nor step size."""
    touch = TOUCH / pair.frequencies[1]
    one, two = (Switches.of(each).without_touches(touch) for each in (run, reference))
    size = float(np.abs(reference.position).max())
    if scheme == "moreau":
        error = 5 * pair.frequencies[1] * step * size
        return [
            Check(
                "final positions by the exact method",
                value=run.position[-1],
                expected=reference.position[-1],
                tolerance=error,
                source="piecewise exact solution; time stepping has order one at switches",
            )
        ]
    source = "event-driven against piecewise exact"
    return [
        Check(
            "order of the switches",
            value=[
                f"{mass + 1}{'+' if sticks else '-'}"
                for mass, sticks in zip(one.mass, one.sticks, strict=True)
            ],
            expected=[
                f"{mass + 1}{'+' if sticks else '-'}"
                for mass, sticks in zip(two.mass, two.sticks, strict=True)
            ],
            source=source,
        ),
        Check(
            "switching times",
            value=one.time,
            expected=two.time,
            tolerance=1e-9 / pair.frequencies[0],
            source=source,
        ),
        Check(
            "final positions",
            value=run.position[-1],
            expected=reference.position[-1],
            tolerance=1e-9 * size,
            source=source,
        ),
        Check(
            "final velocities",
            value=run.velocity[-1],
            expected=reference.velocity[-1],
            tolerance=1e-9 * size * pair.frequencies[1],
            source=source,
        ),
    ]


def _draw_motion(figure: "Figure", *, pair: Pair, run: "Run") -> None:
    """Displacements over time; where a mass sticks its strip is shaded. Dotted: steady sliding."""
    from klapper.contact_states import STICK
    from klapper.gallery._sketch import BLUE, GREY, ORANGE
    from klapper.results.thinning import thinned

    figure.set_size_inches(6.8, 4.6)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, name, color, steady in zip(panels, NAMES, (BLUE, ORANGE), pair.steady, strict=True):
        x = run.coordinate(name)
        points = thinned(x)
        axes.fill_between(
            run.time,
            0.0,
            1.0,
            where=run.contact(name).state == STICK,
            step="pre",
            color="#DDDDDD",
            linewidth=0,
            transform=axes.get_xaxis_transform(),
        )
        axes.plot(run.time[points], x[points], color=color)
        axes.axhline(steady, color=GREY, linewidth=0.9, linestyle=":")
        axes.set(ylabel=f"{name}: displacement / m", xlim=(run.time[0], run.time[-1]))
    panels[1].set_xlabel("time / s")


def _draw_phase(figure: "Figure", *, pair: Pair, run: "Run") -> None:
    """Velocity over displacement; the masses stick at the speed of the belt (dotted). Cross: steady sliding."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE
    from klapper.results.thinning import thinned_curve

    figure.set_size_inches(9.4, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, name, color, steady in zip(panels, NAMES, (BLUE, ORANGE), pair.steady, strict=True):
        x, v = run.coordinate(name), run.speed(name)
        points = thinned_curve(x, v)
        axes.axhline(pair.speed, color=GREY, linewidth=0.9, linestyle=":")
        axes.plot(x[points], v[points], color=color, linewidth=1.2)
        axes.plot(steady, 0.0, "x", color=DARK)
        axes.plot(x[0], v[0], "o", color=GREEN)
        axes.set(xlabel=f"{name}: displacement / m")
    panels[0].set_ylabel("velocity / (m/s)")


def _draw_vibration(figure: "Figure", *, pair: Pair, run: "Run") -> None:
    """Energy of the vibration about steady sliding: it falls while a mass sticks (shaded) and stays otherwise."""
    from klapper.contact_states import STICK
    from klapper.gallery._sketch import DARK

    axes = figure.subplots()
    energy = pair.vibration_energy(run.position, run.velocity)
    axes.fill_between(
        run.time,
        0.0,
        1.0,
        where=np.any(run.state == STICK, axis=1),
        step="pre",
        color="#DDDDDD",
        linewidth=0,
        transform=axes.get_xaxis_transform(),
    )
    axes.plot(run.time, energy, color=DARK)
    axes.set(xlabel="time / s", ylabel="energy of the vibration / J", xlim=(run.time[0], run.time[-1]))
    axes.set_ylim(bottom=0.0)


def _draw_methods(figure: "Figure", *, run: "Run", reference: "Run") -> None:
    """Difference of the displacements by two methods at the times of output that both have."""
    from klapper.gallery._sketch import BLUE, ORANGE

    axes = figure.subplots()
    _, here, there = np.intersect1d(run.time.round(9), reference.time.round(9), return_indices=True)
    for number, (name, color) in enumerate(zip(NAMES, (BLUE, ORANGE), strict=True)):
        apart = np.abs(run.position[here, number] - reference.position[there, number])
        axes.semilogy(run.time[here], np.maximum(apart, 1e-18), ".", markersize=3, color=color, label=name)
    axes.set(xlabel="time / s", ylabel="difference of displacements / m")
    axes.set_title(f"{run.about['scheme']} against {reference.about['scheme']}")
    axes.legend(loc="lower right")
