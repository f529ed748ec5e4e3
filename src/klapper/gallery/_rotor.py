"""What the examples of the delaminated rotor share: its parameters, its model, and the diagrams over speed.

A shaft of rectangular section, simply supported, with a delamination through its width in the middle of its length;
Waltersberger (2007), Examples 5.11 to 5.15. Speeds are revolutions per second [Hz].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.parameter import Parameter, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis import ContactGrowth
    from klapper.analysis.rotor import Band
    from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel
    from klapper.structures.rotating import Rotor

Length = Annotated[float, Parameter("L, length of the shaft", unit="m", above=0.0)]
Split = Annotated[
    float, Parameter("L₂, length of the delamination in the middle of the shaft", unit="m", above=0.0)
]
Height = Annotated[float, Parameter("a, height of the section, across the joint", unit="m", above=0.0)]
Width = Annotated[float, Parameter("b, width of the section, along the joint", unit="m", above=0.0)]
Depth = Annotated[float, Parameter("h, thickness of one lamina; the other has a − h", unit="m", above=0.0)]
Young = Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)]
Density = Annotated[float, Parameter("density", unit="kg/m³", above=0.0)]
Drag = Annotated[
    float,
    Parameter(
        "external damping of each beam per length, against the frame at rest", unit="N s/m²", at_least=0.0
    ),
]
Alpha2 = Annotated[float, Parameter("material damping over stiffness, D = α₂ K_el", unit="s", at_least=0.0)]
Modes = Annotated[int, Parameter("number of natural modes, of both planes together", at_least=1, at_most=200)]
SpeedFrom = Annotated[float, Parameter("lowest speed looked at", unit="Hz", at_least=0.0)]
SpeedTo = Annotated[float, Parameter("highest speed looked at", unit="Hz", above=0.0)]

UNSTABLE, CLATTERING = "#F3C9B0", "#CFE3F2"
PLACES = np.arange(1, 40) / 40  # of the joint, at which its opening is looked at; the middle is number 19


@dataclass(frozen=True)
class Shaft:
    """A delaminated shaft and its damping; ``split`` 0 is an intact one. Lengths in m, otherwise SI units."""

    length: float
    split: float
    height: float
    width: float
    depth: float
    young: float
    density: float
    drag: float
    alpha2: float

    def __post_init__(self) -> None:
        if self.depth >= self.height:
            raise ParameterError(
                f"h must be below the height a = {self.height:g} m of the section, not {self.depth:g}."
            )
        if self.split >= self.length:
            raise ParameterError(
                f"L2 must be below the length L = {self.length:g} m of the shaft, not {self.split:g}."
            )

    @property
    def line_mass(self) -> float:
        """ν [kg/m] of the intact section."""
        return self.density * self.height * self.width

    @property
    def beam(self) -> DelaminatedBeam:
        from klapper.structures.delaminated_beam import DelaminatedBeam

        return DelaminatedBeam(
            self.length, self.split, self.height, self.width, self.depth, self.young, self.density
        )

    def model(self, modes: int, method: Any = "semi-analytical") -> DelaminatedModel:
        from klapper.mechanics import InvalidModel

        try:
            return self.beam.model(
                modes, method=method, external_damping=self.drag, material_damping=self.alpha2
            )
        except InvalidModel as error:
            raise ParameterError(f"L2 cannot be {self.split:g} m here: {error}") from error

    @property
    def sine_frequencies(self) -> np.ndarray:
        """Natural frequencies [Hz] (400, 2) of the intact shaft with k half waves in directions 1 and 2."""
        waves = np.arange(1, 401)[:, None] * np.pi / self.length
        radii = np.array([self.height, self.width]) / np.sqrt(12.0)
        return waves**2 * radii * np.sqrt(self.young / self.density) / (2 * np.pi)

    def intact_rotor(self, modes: int) -> Rotor:
        """The intact shaft in its sine modes √(2/νL) sin kπx/L, all matrices in closed form. Example 5.11"""
        from klapper.structures.rotating import Rotor

        hertz = self.sine_frequencies
        order = np.argsort(hertz, axis=None, kind="stable")[:modes]
        wave, direction = order // 2 + 1, order % 2
        same = wave[:, None] == wave
        turned = same * (direction[:, None] - direction[None, :]).astype(
            float
        )  # +1 for (2, 1), −1 for (1, 2)
        stiffness = np.diag((2 * np.pi * hertz.ravel()[order]) ** 2)
        drag = self.drag / self.line_mass
        odd = np.sqrt(2 * self.line_mass * self.length) * (1 - (-1.0) ** wave) / (np.pi * wave)
        return Rotor(
            mass=np.eye(modes),
            stiffness=stiffness,
            internal_damping=self.alpha2 * stiffness,
            external_damping=drag * np.eye(modes),
            gyroscopic=2.0 * turned,
            centrifugal=np.eye(modes),
            circulatory=drag * turned,
            unbalance=np.zeros(modes),
            drag=np.zeros(modes),
            weight=np.column_stack([odd * (direction == 0), odd * (direction == 1)]),
            coordinates=tuple(
                f"direction {d + 1}, {k} half waves" for k, d in zip(wave, direction, strict=True)
            ),
            name="intact shaft",
        )


ALUMINIUM = Shaft(3.0, 1.6, 0.045, 0.04, 0.036, 69e9, 2800.0, drag=1.0, alpha2=1e-5)
"""The shaft of Example 5.14, its text read with L₂ = 1.6."""


@dataclass(frozen=True, eq=False)
class SpeedRange:
    """A rotor over a range of speeds [Hz]."""

    rotor: Rotor
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ParameterError(f"speed_to must be above speed_from {self.low:g} Hz, not {self.high:g}.")

    @cached_property
    def critical(self) -> np.ndarray:
        """Critical speeds in the range."""
        from klapper.analysis.rotor import critical_speeds

        found = critical_speeds(self.rotor, up_to=self.high)
        return found[found >= self.low]

    @cached_property
    def unstable(self) -> list[Band]:
        from klapper.analysis.rotor import unstable_bands

        return unstable_bands(self.rotor, self.low, self.high, samples=600)

    @cached_property
    def speeds(self) -> np.ndarray:
        """Speeds for diagrams: dense near critical speeds and inside narrow bands."""
        near = np.array([-1e-2, -3e-3, -1e-3, -3e-4, 3e-4, 1e-3, 3e-3, 1e-2])
        dense = [(self.critical[:, None] * (1 + near)).ravel()]
        dense += [np.linspace(band.low, band.high, 41) for band in self.unstable]
        chosen = np.unique(np.concatenate([np.linspace(self.low, self.high, 600), *dense]))
        return chosen[(chosen >= self.low) & (chosen <= self.high) & (chosen > 0.0)]

    def without_external_damping(self, alpha2: float | None = None) -> Rotor:
        """The rotor without external damping and, if given, with other material damping [s]."""
        bare = replace(
            self.rotor,
            external_damping=np.zeros_like(self.rotor.external_damping),
            circulatory=np.zeros_like(self.rotor.circulatory),
        )
        return bare if alpha2 is None else replace(bare, internal_damping=alpha2 * np.asarray(bare.stiffness))


def limits(bands: list[Band]) -> list[list[float]]:
    """[[from, to], …] in Hz."""
    return [[band.low, band.high] for band in bands]


def shade(axes: Axes, bands: list[Band], colour: str, label: str) -> None:
    """Vertical strips, the narrowest still visible."""
    for number, band in enumerate(bands):
        axes.axvspan(
            band.low, band.high, color=colour, zorder=0, linewidth=0.8, label=label if number == 0 else None
        )


def draw_growth(
    figure: Figure, *, span: SpeedRange, with_contact: dict[float, ContactGrowth] | None = None
) -> None:
    """Largest real part of the eigenvalues over speed: unstable where positive (shaded). Triangles mark critical
    speeds, at which centrifugal forces cancel the stiffness of a mode; dots, if any, large motions with contact."""
    from klapper.analysis.rotor import growth
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    axes = figure.subplots()
    values = growth(span.rotor, span.speeds)
    shade(axes, span.unstable, UNSTABLE, "unstable")
    axes.axhline(0.0, color=DARK, linewidth=0.8)
    axes.plot(span.speeds, values, color=BLUE, linewidth=1.5)
    level = max(-values.min(), 1e-3)
    if values.max() > 30 * level:
        axes.set_yscale("symlog", linthresh=2 * level, linscale=0.7)
    axes.plot(
        span.critical,
        np.full(len(span.critical), 0.02),
        "^",
        color=DARK,
        markersize=6,
        transform=axes.get_xaxis_transform(),
        label="critical speeds",
        linestyle="none",
        clip_on=False,
    )
    if with_contact:
        places = [each for each in with_contact if span.low <= each <= span.high]
        rates = [with_contact[each].rate for each in places]
        axes.plot(places, rates, "o", color=ORANGE, markersize=5, linestyle="none", label="with contact")
    axes.set(xlabel="speed / Hz", ylabel="growth / (1/s)", xlim=(span.low, span.high))
    legend(axes)


def draw_campbell(figure: Figure, *, span: SpeedRange) -> None:
    """Frequencies of the free motion over speed, seen from the turning shaft. A branch that reaches zero does so at a
    critical speed (triangles); red: growing motions. Gravity excites along the dashed line."""
    from klapper.analysis.rotor import campbell
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    axes = figure.subplots()
    places = np.linspace(span.low, span.high, 500)
    found = campbell(span.rotor, places[places > 0.0])
    top = 2.2 * span.high
    frequencies = np.where(found.frequencies <= top, found.frequencies, np.nan)
    growing = found.eigenvalues.real > 1e-7 * 2 * np.pi * span.high
    axes.plot(found.speeds, frequencies, color=BLUE, linewidth=1.0)
    axes.plot(found.speeds, np.where(growing, frequencies, np.nan), color=ORANGE, linewidth=2.4)
    axes.plot([0.0, span.high], [0.0, span.high], "--", color=DARK, linewidth=1.0)
    axes.plot(span.critical, np.zeros(len(span.critical)), "^", color=DARK, clip_on=False, zorder=4)
    axes.set(
        xlabel="speed / Hz",
        ylabel="frequency in the turning frame / Hz",
        xlim=(span.low, span.high),
        ylim=(0.0, top),
    )


def draw_deflection(figure: Figure, *, span: SpeedRange, model: DelaminatedModel) -> None:
    """What centrifugal forces do: deflection of the middles of beams 1 to 3, and opening of the joint in its middle.
    Lines leave the diagram at critical speeds; shaded: unstable."""
    from klapper.analysis.rotor import centrifugal_deflection
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE

    rows = np.array([*(model.row(part, 0.5, 1) for part in (1, 2, 3)), model.gap_rows([0.5])[0]])
    values = 1e3 * centrifugal_deflection(span.rotor, span.speeds, rows)
    figure.set_size_inches(6.0, 5.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for line, colour, name in zip(
        values.T[:3], (BLUE, ORANGE, GREEN), ("beam 1", "beam 2", "beam 3"), strict=True
    ):
        upper.plot(span.speeds, line, color=colour, label=name, linewidth=1.4)
    running = values[[not any(speed in band for band in span.unstable) for speed in span.speeds]]
    reach = 1.3 * np.quantile(np.abs(running if len(running) else values), 0.93, axis=0)
    for axes, size in ((upper, reach[:3].max()), (lower, reach[3])):
        shade(axes, span.unstable, UNSTABLE, "unstable")
        axes.axhline(0.0, color=DARK, linewidth=0.8)
        axes.set_ylim(-size, size)
    lower.plot(span.speeds, values[:, 3], color=BLUE, linewidth=1.4)
    upper.set_ylabel("deflection of the middle / mm")
    lower.set(xlabel="speed / Hz", ylabel="opening of the joint / mm", xlim=(span.low, span.high))
    legend(upper)


def legend(axes: Axes) -> None:
    """Names of the lines, above the axes."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0.3)
