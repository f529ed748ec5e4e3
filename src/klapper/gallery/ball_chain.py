"""Chain of balls: one ball hits a row of others at rest, and who flies off.

Four kinds of balls hang in a row and touch; the first one arrives with the given speed. Ceanga and Hurmuzlu (2001)
measured the coefficient of restitution of every pair (Table 5.1) and the velocities after the impact. Three laws:

    newton      all contacts at once, (3.98): the balls that were hit stay together
    poisson     compression and restitution, (5.11), (5.13)
    sequential  fast impacts one after the other, Scheme 5.3: a wave runs along the row, as in the experiments

All of them keep the momentum and are homogeneous: velocities after the impact are straight lines over the speed.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.mechanics.impact import Impact

MASSES = {"A": 0.045, "B": 0.053, "C": 0.053, "D": 0.166}  # kg, Waltersberger Table 5.1
RESTITUTION = {
    "AA": 0.97, "AB": 0.53, "AC": 0.31, "AD": 0.94, "BB": 0.36, "BC": 0.28, "BD": 0.38,
    "CC": 0.27, "CD": 0.30, "DD": 0.85,
}  # fmt: skip

PREDICTED = {
    "AAA": (0.01478, 0.01500, 0.97022),
    "AAB": (0.01500, 0.16996, 0.69201),
    "ABA": (0.17255, 0.20897, 0.58133),
    "BAA": (0.09720, 0.24827, 0.81504),
    "AAC": (0.01500, 0.28716, 0.59251),
    "ADA": (-0.52626, 0.24256, 0.63148),
    "DAA": (0.35317, 0.88273, 1.50336),
    "AAD": (-0.51036, 0.00700, 0.40754),
    "BBB": (0.25037, 0.28723, 0.46240),
    "CCC": (0.28040, 0.31637, 0.40322),
    "DDD": (0.06980, 0.07458, 0.85562),
    "AAAA": (0.01456, 0.01478, 0.01499, 0.95567),
    "AAAAA": (0.01435, 0.01456, 0.01477, 0.01498, 0.94134),
}
"""Velocities by Scheme 5.3 per speed of the first ball, from an independent program, to five digits."""


@dataclass(frozen=True)
class Balls:
    """A chain of balls by their letters."""

    types: str

    @property
    def masses(self) -> np.ndarray:
        return np.array([MASSES[letter] for letter in self.types])

    @property
    def restitution(self) -> np.ndarray:
        return np.array([RESTITUTION["".join(sorted(pair))] for pair in pairwise(self.types)])

    def hit(self, law: str, speed: float) -> "Impact":
        from klapper.gallery._chain import chain, resolve

        before = speed * (np.arange(len(self.types)) == 0)
        return resolve(law, chain(self.masses, before, self.restitution))


@example("ball-chain", source="Waltersberger (2007), section 5.1.3, Table 5.1, Scheme 5.3")
def ball_chain(
    *,
    types: Annotated[
        str, Parameter("letters of the balls (A, B, C, D), the moving one first", pattern="[ABCD]{2,12}")
    ] = "AAA",
    speed: Annotated[float, Parameter("speed of the first ball", unit="m/s", above=0.0)] = 1.0,
    law: Annotated[Literal["newton", "poisson", "sequential"], Parameter("law of impact")] = "sequential",
) -> Outcome:
    from klapper.gallery._chain import SOURCES, audit, expected_velocities

    balls = Balls(types)
    impact = balls.hit(law, speed)
    books = impact.audit
    momentum = balls.masses[0] * speed
    checks = [
        Check(
            "velocities after the impact",
            value=impact.after,
            expected=expected_velocities(law, impact),
            tolerance=1e-7 * speed,
            source=SOURCES[law],
        ),
        Check(
            "momentum",
            value=balls.masses @ impact.after,
            expected=momentum,
            tolerance=1e-12 * momentum,
            source="conservation",
        ),
        Check(
            "no energy is gained",
            value=books.energy_after / books.energy_before,
            at_most=1.0 + 1e-12,
            source="(3.118): all contacts approach or rest",
        ),
        Check(
            "energy books",
            value=books.residual / books.energy_before,
            expected=0.0,
            tolerance=1e-12,
            source="loss of each contact −½ Λ (⁺v_N + ⁻v_N)",
        ),
        Check(
            "the balls separate",
            value=np.diff(impact.after) / speed,
            at_least=-1e-8,
            source="no ball passes through its neighbour",
        ),
        Check(
            "homogeneity",
            value=balls.hit(law, 2.0 * speed).after,
            expected=2.0 * impact.after,
            tolerance=1e-7 * speed,
            source="twice the speed gives twice the velocities",
        ),
    ]
    if law == "sequential" and types in PREDICTED:
        checks.append(
            Check(
                "velocities of this chain",
                value=impact.after / speed,
                expected=PREDICTED[types],
                tolerance=6e-6,
                source="an independent program, to five digits",
            )
        )
    figures: dict[str, Any] = {
        "velocities": partial(_draw_velocities, balls=balls, speed=speed, law=law),
        "lines": partial(_draw_lines, balls=balls, speed=speed, law=law),
    }
    if law == "sequential":
        figures["fast-impacts"] = partial(_draw_fast_impacts, balls=balls, impact=impact)
    return Outcome(
        numbers={
            "velocities": impact.after,
            "impulses": impact.normal,
            "opening_speeds": impact.normal_velocity,
            "restitution": balls.restitution,
            "energy_before": books.energy_before,
            "energy_after": books.energy_after,
            "energy_lost": books.dissipated,
            "fast_impacts": len(impact.stages) if law == "sequential" else 1,
            "finished": not impact.remaining.any(),
        },
        units={
            "velocities": "m/s",
            "impulses": "N s",
            "opening_speeds": "m/s",
            "energy_before": "J",
            "energy_after": "J",
            "energy_lost": "J",
        },
        checks=checks,
        audit=audit(impact),
        figures=figures,
    )


def _colors() -> dict[str, str]:
    from klapper.gallery._sketch import BLUE, GREEN, ORANGE, PURPLE

    return {"A": BLUE, "B": ORANGE, "C": GREEN, "D": PURPLE}


def _shades(count: int) -> list[Any]:
    """One colour per ball: those of the house while they last, then a scale from the first to the last ball."""
    from matplotlib import colormaps, rcParams

    house = [entry["color"] for entry in rcParams["axes.prop_cycle"]]
    return house[:count] if count <= len(house) else list(colormaps["viridis"](np.linspace(0.0, 0.92, count)))


def _draw_velocities(figure: "Figure", *, balls: Balls, speed: float, law: str) -> None:
    """Above: the chain with the velocities after the impact by the chosen law (arrows). Below: the same velocities
    by all three laws."""
    figure.set_size_inches(8.4, 5.4)
    sketch, chart = figure.subplots(2, 1, height_ratios=[1.0, 1.9])
    _draw_chain(sketch, balls, balls.hit(law, speed).after)
    _draw_laws(chart, balls, speed, law)


def _draw_chain(axes: "Axes", balls: Balls, velocity: np.ndarray) -> None:
    from klapper.gallery._sketch import DARK, arrow

    radius = np.cbrt(balls.masses / MASSES["A"])
    centre = np.concatenate([[0.0], np.cumsum(radius[:-1] + radius[1:])])
    way = np.linspace(0.0, 2 * np.pi, 120)
    scale = 1.9 / np.abs(velocity).max()
    colors, level = _colors(), 2.0 * radius.max() + 0.6
    for letter, x, r, v in zip(balls.types, centre, radius, velocity, strict=True):
        axes.fill(
            x + r * np.cos(way),
            r + r * np.sin(way),
            facecolor=colors[letter],
            alpha=0.3,
            edgecolor=DARK,
            zorder=2,
        )
        axes.text(x, r, letter, ha="center", va="center", zorder=4)
        if abs(scale * v) > 0.35:
            arrow(axes, (x, level), (scale * v, 0.0), DARK, width=1.8)
        axes.scatter(x, level, s=12, color=DARK, zorder=5)
        axes.text(x, level + 0.4, f"{v:.3f}", ha="center", va="bottom", fontsize=9, color=DARK)
    axes.text(
        centre[0] - radius[0] - 0.6, level + 0.4, "m/s", ha="right", va="bottom", fontsize=9, color=DARK
    )
    left, right = min(-3.5, (centre + scale * velocity).min() - 0.5), (centre + scale * velocity).max() + 0.7
    axes.set(xlim=(left, max(right, centre[-1] + radius[-1] + 0.7)), ylim=(-0.2, level + 1.4), aspect="equal")
    axes.set_axis_off()


def _draw_laws(axes: "Axes", balls: Balls, speed: float, law: str) -> None:
    from klapper.gallery._chain import LAWS, TITLES
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE

    place = np.arange(1, len(balls.types) + 1)
    axes.axhline(0.0, color=DARK, linewidth=0.8)
    axes.scatter(1, speed, marker="_", s=500, color=GREY, linewidth=2, zorder=3)
    axes.annotate("before", (1, speed), (16, 0), textcoords="offset points", va="center", color=GREY)
    styles = {"newton": (ORANGE, "s", -0.14), "poisson": (GREEN, "^", 0.0), "sequential": (BLUE, "o", 0.14)}
    for name in LAWS:
        color, marker, shift = styles[name]
        velocity = balls.hit(name, speed).after
        chosen = name == law
        axes.vlines(
            place + shift, 0.0, velocity, color=color, linewidth=2.2, alpha=1.0 if chosen else 0.45, zorder=3
        )
        axes.scatter(
            place + shift,
            velocity,
            s=75 if chosen else 45,
            marker=marker,
            facecolor=color if chosen else "white",
            edgecolor=color,
            linewidth=1.5,
            label=f"{TITLES[name]} (chosen)" if chosen else TITLES[name],
            zorder=4,
        )
    axes.set_xticks(place, [f"{k} ({letter})" for k, letter in zip(place, balls.types, strict=True)])
    axes.set(xlabel="ball", ylabel="velocity after the impact / (m/s)", xlim=(0.5, place[-1] + 0.5))
    axes.margins(y=0.1)
    axes.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.16))


def _draw_lines(figure: "Figure", *, balls: Balls, speed: float, law: str) -> None:
    """Velocities after the impact over the speed of the first ball (experiments: 0.5 to 2 m/s): straight lines."""
    from klapper.gallery._chain import TITLES
    from klapper.gallery._sketch import DARK

    figure.set_size_inches(7.0, 4.4)
    axes = figure.subplots()
    speeds = np.linspace(0.5, 2.0, 7)
    if not 0.5 <= speed <= 2.0:
        speeds = np.sort(np.append(np.linspace(min(0.5, speed), max(2.0, speed), 7), speed))
    velocity = np.array([balls.hit(law, each).after for each in speeds])
    here = balls.hit(law, speed).after
    shades = _shades(len(balls.types))
    for k, letter in enumerate(balls.types):
        axes.plot(
            speeds, velocity[:, k], "o-", color=shades[k], markersize=4, label=f"ball {k + 1} ({letter})"
        )
        axes.scatter(speed, here[k], s=70, facecolor="none", edgecolor=DARK, zorder=5)
    axes.axhline(0.0, color=DARK, linewidth=0.8)
    axes.axvline(speed, color=DARK, linewidth=0.8, linestyle=":")
    axes.set(xlabel="speed of the first ball / (m/s)", ylabel="velocity after the impact / (m/s)")
    axes.set_title(f"chain {balls.types}, {TITLES[law]} law")
    figure.legend(loc="outside right upper")


def _draw_fast_impacts(figure: "Figure", *, balls: Balls, impact: "Impact") -> None:
    """Velocities of the balls from one fast impact to the next, within one instant."""
    from matplotlib.ticker import MaxNLocator

    from klapper.gallery._sketch import DARK

    figure.set_size_inches(7.0, 4.4)
    axes = figure.subplots()
    velocities = np.array([impact.problem.before, *(stage.after for stage in impact.stages)])
    shown = min(len(velocities), 41)
    shades = _shades(len(balls.types))
    for k, letter in enumerate(balls.types):
        axes.step(
            np.arange(shown),
            velocities[:shown, k],
            "o-",
            where="mid",
            color=shades[k],
            markersize=4,
            linewidth=1.4,
            label=f"ball {k + 1} ({letter})",
        )
    axes.axhline(0.0, color=DARK, linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="number of fast impacts", ylabel="velocity / (m/s)")
    cut = f", the first {shown - 1} of {len(impact.stages)}" if shown < len(velocities) else ""
    axes.set_title(f"chain {balls.types}: fast impacts{cut}")
    figure.legend(loc="outside right upper")
