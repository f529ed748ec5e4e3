"""Boundary layer: a mass hits a massless layer of springs and dampers, and restitution comes out instead of going in.

The layer has a compression s of its own. While the mass touches it, s = −g; left alone, it creeps back:

    λ = c s + d ṡ ≥ 0,   ṡ = −ġ in contact,   ṡ = −(c/d) s free        Waltersberger (4.82), (4.83), sign corrected

The layer cannot pull, so the mass leaves when the damper would hold it back, before the layer is relaxed. With
ζ = d/(2 √(c m)) and ω = √(c/m) the rebound has a closed form,

    e = exp(−2 ζ acos ζ/√(1 − ζ²)),   contact time  2 acos ζ/(ω √(1 − ζ²)),   deepest  v √e/ω

(acosh ζ/√(ζ² − 1) for ζ > 1, e = exp(−2) for ζ = 1). The usual law (4.80) forgets the layer as soon as it is free. For
one impact both are the same; a mass that is pressed back before the layer has crept back feels the difference.
"""

from dataclasses import dataclass
from functools import partial
from math import acos, acosh, exp, pi, sqrt
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.results import Run

RATIOS = (0.05, 0.2, 0.5, 1.0, 2.0)  # ζ at which the rebound is computed besides the given one
SAMPLES = 31.7  # per 1/ω; no closed-form time is a multiple of the interval
MOST_SAMPLES = 500
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Layer:
    """The mass, the layer and the speed of the impact, and the impact in closed form."""

    mass: float
    stiffness: float
    damping: float
    speed: float

    @property
    def frequency(self) -> float:
        """ω [rad/s]."""
        return sqrt(self.stiffness / self.mass)

    @property
    def ratio(self) -> float:
        """ζ."""
        return self.damping / (2 * sqrt(self.stiffness * self.mass))

    @property
    def _angle(self) -> float:
        """acos ζ/√(1 − ζ²), continued beyond ζ = 1."""
        ζ = self.ratio
        if abs(ζ - 1.0) < 1e-5:
            return 1.0 - (ζ - 1.0) / 3.0
        return acos(ζ) / sqrt(1 - ζ**2) if ζ < 1 else acosh(ζ) / sqrt(ζ**2 - 1)

    @property
    def restitution(self) -> float:
        return exp(-2 * self.ratio * self._angle)

    @property
    def contact_time(self) -> float:
        """[s]."""
        return 2 * self._angle / self.frequency

    @property
    def depth(self) -> float:
        """Deepest penetration [m]."""
        return self.speed * sqrt(self.restitution) / self.frequency

    @property
    def relaxation(self) -> float:
        """Time constant d/c [s] of the free layer."""
        return self.damping / self.stiffness

    @property
    def left_behind(self) -> float:
        """Compression [m] at release: the spring balances the damper."""
        return self.relaxation * self.restitution * self.speed

    def system(self, pressing_force: float = 0.0) -> "LinearSystem":
        """The mass at the moment of the first touch."""
        from klapper.mechanics import Contact, LinearSystem

        return LinearSystem(
            [self.mass],
            force=[-pressing_force],
            velocity=[-self.speed],
            contacts=[Contact("layer", normal=[1.0])],
            coordinates=["height"],
            name="mass on a layer",
        )

    def run(
        self,
        until: float,
        *,
        pressing_force: float = 0.0,
        remembers: bool = True,
        interval: float | None = None,
    ) -> "Run":
        """The motion with the layer's own compression, or by (4.80), which forgets it; ``interval`` [s] of output."""
        from klapper.mechanics.compliance import BoundaryLayer, CompliantNormal
        from klapper.schemes.regularised import Regularised
        from klapper.simulation import simulate

        law: Any = (BoundaryLayer if remembers else CompliantNormal)(self.stiffness, self.damping)
        interval = max(1 / (SAMPLES * self.frequency), until / MOST_SAMPLES) if interval is None else interval
        scheme = Regularised(law, method="dop853", tolerance=TOLERANCE, sample=interval)
        return simulate(self.system(pressing_force), until, scheme)

    def compression(self, run: "Run", pressing_force: float = 0.0) -> np.ndarray:
        """s (samples,) [m], from the energy in the spring of the layer."""
        stored = run.ledger.potential - pressing_force * run.coordinate("height")
        return np.sqrt(2 * np.maximum(stored, 0.0) / self.stiffness)


@dataclass(frozen=True)
class Flight:
    """The first flight of a run: release and next touch [s], height [m] and speed [m/s] at release."""

    release: float
    touch: float
    height: float
    speed: float

    @classmethod
    def of(cls, run: "Run") -> "Flight | None":
        """None if the mass does not leave the layer and come back."""
        from klapper.contact_states import OPEN
        from klapper.gallery._run import switching_times

        times, states = switching_times(run, "layer")
        releases = times[states == OPEN]
        if len(releases) == 0 or times[-1] <= releases[0]:
            return None
        touch = times[times > releases[0]][0]
        at = int(np.flatnonzero(run.time == releases[0])[0])
        return cls(float(releases[0]), float(touch), float(run.position[at, 0]), float(run.velocity[at, 0]))

    def touch_again(self, layer: Layer, acceleration: float, *, remembers: bool) -> float:
        """When [s] the falling mass meets the creeping surface −s, or for (4.80) the relaxed one, in closed form."""
        from scipy.optimize import brentq

        def distance(t: float) -> float:
            surface = self.height * exp(-t / layer.relaxation) if remembers else 0.0
            return self.height - surface + (self.speed - 0.5 * acceleration * t) * t

        top = self.speed / acceleration
        return self.release + float(brentq(distance, top, 3 * top + 3 * layer.relaxation, xtol=1e-16))


@example("boundary-layer", source="Waltersberger (2007), Example 4.3")
def boundary_layer(
    *,
    mass: Annotated[float, Parameter("mass", unit="kg", above=0.0)] = 1.0,
    stiffness: Annotated[float, Parameter("stiffness of the layer, c", unit="N/m", above=0.0)] = 1e4,
    damping: Annotated[float, Parameter("damping of the layer, d", unit="N s/m", above=0.0)] = 100.0,
    speed: Annotated[float, Parameter("speed of the impact", unit="m/s", above=0.0)] = 1.0,
    pressing_force: Annotated[
        float, Parameter("force that presses the mass back in the second part", unit="N", above=0.0)
    ] = 10.0,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    layer = Layer(mass, stiffness, damping, speed)
    if not 1e-3 <= layer.ratio <= 20:
        raise ParameterError(
            f"damping is {damping:g} N s/m, which is {layer.ratio:.3g} of the critical damping; allowed are 0.001 to "
            f"20 of it, {1e-3 * damping / layer.ratio:.3g} to {20 * damping / layer.ratio:.3g} N s/m."
        )
    impact = layer.run(layer.contact_time + 4 * layer.relaxation)
    others = _rebounds(layer)
    pressed = _pressed(layer, pressing_force)
    flights = [Flight.of(run) for run in pressed]
    deepest = float(-impact.coordinate("height").min())
    return Outcome(
        numbers={
            "restitution": impact.velocity[-1, 0] / speed,
            "damping_ratio": layer.ratio,
            "contact_time": _release(impact),
            "deepest_penetration": deepest,
            "compression_at_release": layer.left_behind,
            "relaxation_time": layer.relaxation,
            "second_touch": flights[0].touch if flights[0] else float("nan"),
            "second_touch_without_memory": flights[1].touch if flights[1] else float("nan"),
            "pressed_motion": "leaves the layer and comes back"
            if flights[0]
            else "does not come back within the run",
        },
        units={
            "restitution": "speed after over speed before",
            "damping_ratio": "of critical damping",
            "contact_time": "s",
            "deepest_penetration": "m",
            "compression_at_release": "m (closed form)",
            "relaxation_time": "s (closed form)",
            "second_touch": "s",
            "second_touch_without_memory": "s, by (4.80)",
        },
        checks=[
            *_impact_checks(layer, impact),
            Check(
                "restitution over damping",
                value=list(others.values()),
                expected=[_of_ratio(layer, ζ).restitution for ζ in others],
                tolerance=1e-6,
                source=f"closed form at ζ = {', '.join(f'{ζ:g}' for ζ in others)}",
            ),
            *_touch_checks(layer, flights, pressing_force),
            ledger_check(impact),
            ledger_check(pressed[0]),
        ],
        audit={"one impact": run_audit(impact), "pressed back": run_audit(pressed[0])},
        figures={
            "impact": partial(_draw_impact, layer=layer, run=impact),
            "restitution": partial(_draw_restitution, layer=layer, run=impact, others=others),
            "memory": partial(_draw_memory, layer=layer, runs=pressed, force=pressing_force),
            **run_figures(impact, "energy"),
        },
    )


def _of_ratio(layer: Layer, ζ: float) -> Layer:
    return Layer(layer.mass, layer.stiffness, 2 * ζ * sqrt(layer.stiffness * layer.mass), layer.speed)


def _rebounds(layer: Layer) -> dict[float, float]:
    """Restitution by simulation at several damping ratios."""
    found = {}
    for ζ in RATIOS:
        other = _of_ratio(layer, ζ)
        run = other.run(1.1 * other.contact_time, interval=0.3 * other.contact_time)
        found[ζ] = float(run.velocity[-1, 0] / layer.speed)
    return found


def _pressed(layer: Layer, force: float) -> "tuple[Run, Run]":
    """The mass pressed back, on the layer that creeps back and by (4.80)."""
    flight = 2 * layer.restitution * layer.speed * layer.mass / force
    until = 2 * layer.contact_time + 1.5 * flight + 2 * pi / layer.frequency
    return (
        layer.run(until, pressing_force=force),
        layer.run(until, pressing_force=force, remembers=False),
    )


def _release(run: "Run") -> float:
    from klapper.contact_states import OPEN
    from klapper.gallery._run import switching_times

    times, states = switching_times(run, "layer")
    times = times[states == OPEN]
    return float(times[0]) if len(times) else float("nan")


def _impact_checks(layer: Layer, run: "Run") -> list[Check]:
    """One impact without any other force, and the layer that creeps back behind it."""
    interval = float(np.diff(run.time).max())
    free = run.time > layer.contact_time
    expected = layer.left_behind * np.exp(-(run.time[free] - layer.contact_time) / layer.relaxation)
    return [
        Check(
            "restitution",
            value=run.velocity[-1, 0] / layer.speed,
            expected=layer.restitution,
            tolerance=1e-8,
            source="closed form e(ζ)",
        ),
        Check(
            "contact time",
            value=_release(run),
            expected=layer.contact_time,
            tolerance=1e-7 / layer.frequency,
            source="closed form",
        ),
        Check(
            "deepest penetration",
            value=-run.coordinate("height").min(),
            expected=layer.depth,
            tolerance=layer.frequency**2 * layer.depth * interval**2 / 8,
            source="v √e/ω; between samples it may be deeper",
        ),
        Check(
            "layer after release",
            value=np.abs(layer.compression(run)[free] - expected).max() / layer.left_behind,
            expected=0.0,
            tolerance=1e-6,
            source="creeps back with the time constant d/c",
        ),
    ]


def _touch_checks(layer: Layer, flights: list[Flight | None], force: float) -> list[Check]:
    """The second touch: the parabola of the flight meets the surface, which creeps or is relaxed at once."""
    names = ("second touch of the creeping layer", "second touch by (4.80)")
    return [
        Check(
            name,
            value=flight.touch,
            expected=flight.touch_again(layer, force / layer.mass, remembers=remembers),
            tolerance=1e-6 * flight.touch,
            source="parabola from the state at release",
        )
        for name, flight, remembers in zip(names, flights, (True, False), strict=True)
        if flight is not None
    ]


def _draw_impact(figure: "Figure", *, layer: Layer, run: "Run") -> None:
    """One impact: height of the mass (blue) and surface of the layer (orange, dashed in closed form), and the contact
    force, which jumps at the first touch because of the damper and ends without a jump."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    figure.set_size_inches(6.4, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    time, height, s = run.time, run.coordinate("height"), layer.compression(run)
    upper.plot(time, height, color=BLUE, label="mass")
    upper.plot(time, -s, color=ORANGE, linewidth=2.4, alpha=0.7, label="surface of the layer")
    free = time > layer.contact_time
    creep = -layer.left_behind * np.exp(-(time[free] - layer.contact_time) / layer.relaxation)
    upper.plot(time[free], creep, "--", color=DARK, linewidth=1.0, label="time constant d/c")
    upper.set(ylabel="height / m", ylim=(-1.15 * layer.depth, 1.15 * layer.depth))
    upper.legend(loc="upper left", fontsize=9)
    force = np.where(free, 0.0, -layer.stiffness * height - layer.damping * run.speed("height"))
    lower.plot(time, np.maximum(force, 0.0), color=DARK)
    for axes in (upper, lower):
        axes.axvline(layer.contact_time, color="#888888", linewidth=0.9, linestyle=":")
    lower.set(xlabel="time / s", ylabel="contact force / N", xlim=(time[0], time[-1]))


def _draw_restitution(figure: "Figure", *, layer: Layer, run: "Run", others: dict[float, float]) -> None:
    """Speed after over speed before the impact against the damping of the layer: closed form (line), simulation (dots),
    and the given damping (square)."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    axes = figure.subplots()
    ratios = np.linspace(1e-3, 1.1 * max(2.0, layer.ratio), 300)
    axes.plot(
        ratios, [_of_ratio(layer, float(ζ)).restitution for ζ in ratios], color=DARK, label="closed form"
    )
    axes.plot(list(others), list(others.values()), "o", color=BLUE, label="simulation")
    axes.plot(layer.ratio, run.velocity[-1, 0] / layer.speed, "s", color=ORANGE, label="this layer")
    axes.set(xlabel="damping ratio ζ", ylabel="restitution e", xlim=(0.0, ratios[-1]), ylim=(0.0, 1.02))
    axes.legend()


def _draw_memory(figure: "Figure", *, layer: Layer, runs: "tuple[Run, Run]", force: float) -> None:
    """The mass pressed back. Above: height of the mass and surface of the layer that creeps back; (4.80) takes the
    layer as relaxed (grey line) and touches earlier. Below: what this changes in the height."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    figure.set_size_inches(6.6, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    one, two = runs
    upper.axhline(0.0, color="#AAAAAA", linewidth=1.0)
    upper.plot(one.time, one.coordinate("height"), color=BLUE, label="mass")
    upper.plot(
        one.time, -layer.compression(one, force), color=ORANGE, alpha=0.8, label="surface of the layer"
    )
    upper.plot(two.time, two.coordinate("height"), "--", color=GREEN, linewidth=1.2, label="mass by (4.80)")
    upper.set(ylabel="height / m", xlim=(one.time[0], one.time[-1]))
    upper.legend(loc="lower right", fontsize=9)
    apart = two.position_at(one.time)[:, 0] - one.coordinate("height")
    lower.plot(one.time, apart, color=DARK)
    lower.set(xlabel="time / s", ylabel="difference / m")
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
