"""Elastic bodies in free flight: the choice of scheme and law, what is kept, pictures of meshes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klapper.gallery.check import Check

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, MaterialLaw, Solid
    from klapper.results import Conservation, Run
    from klapper.schemes import Scheme

FlightScheme = Literal[
    "energy-momentum", "midpoint", "projected", "newmark", "generalised-alpha", "central-difference"
]
Material = Literal["neo-hooke", "saint-venant-kirchhoff", "mooney-rivlin"]
KEPT: dict[str, tuple[str, ...]] = {
    "energy-momentum": ("energy", "momentum", "angular momentum"),
    "midpoint": ("momentum", "angular momentum"),
    "projected": ("momentum", "angular momentum"),
    "newmark": ("momentum",),
    "generalised-alpha": ("momentum",),
    "central-difference": ("momentum", "angular momentum"),
}
"""What a scheme keeps whatever the step."""


def flight_scheme(name: FlightScheme, step: float) -> Scheme:
    """The scheme by its name; ``step`` [s]."""
    from klapper.schemes import CentralDifference, EnergyMomentum, GeneralisedAlpha, Newmark

    if name == "newmark":
        return Newmark(step)
    if name == "generalised-alpha":
        return GeneralisedAlpha(step, 0.8)
    if name == "central-difference":
        return CentralDifference(step)
    forces: Any = {"energy-momentum": "discrete"}.get(name, name)
    return EnergyMomentum(step, forces=forces)


def law_named(name: Material, young: float, poisson: float) -> MaterialLaw:
    from klapper.continuum import MooneyRivlin, NeoHooke, SaintVenantKirchhoff

    laws: dict[str, Callable[[float, float], MaterialLaw]] = {
        "neo-hooke": NeoHooke,
        "saint-venant-kirchhoff": SaintVenantKirchhoff,
        "mooney-rivlin": MooneyRivlin,
    }
    return laws[name](young, poisson)


def kept_checks(scheme: FlightScheme, kept: Conservation, steps: int) -> list[Check]:
    """That every quantity which the scheme keeps is kept over a number of steps."""
    return [
        Check(
            f"{name}, change since the start over its size",
            value=kept[name].since_start / kept[name].size,
            expected=0.0,
            tolerance=kept[name].tolerance * steps,
            source="kept by construction, in each step to the tolerance of Newton's method",
        )
        for name in KEPT[scheme]
    ]


def relative_changes(run: Run, world: Continuum) -> dict[str, np.ndarray]:
    """Changes (s, k) of energy, momentum and angular momentum since the start, in units of the sizes of their terms."""
    histories = {
        "energy": -run.ledger.numerical[:, None],
        "momentum": np.array([world.linear_momentum(v) for v in run.velocity]),
        "angular momentum": np.array(
            [world.angular_momentum(q, v) for q, v in zip(run.position, run.velocity, strict=True)]
        ),
    }
    kept = run.conservation
    return {name: (each - each[:1]) / (kept[name].size or 1.0) for name, each in histories.items()}


def draw_momenta(figure: Figure, *, run: Run, world: Continuum) -> None:
    """Change of energy, momentum and angular momentum since the start, in units of the sizes of their terms."""
    figure.set_size_inches(6.4, 4.4)
    changes = relative_changes(run, world)
    axes = figure.subplots(len(changes), 1, sharex=True)
    for part, (quantity, change) in zip(axes, changes.items(), strict=True):
        names = {"momentum": ("x", "y")}.get(quantity, ("",))
        for column, name in zip(change.T, names, strict=True):
            part.plot(run.time, column, label=name or None)
        part.set(ylabel=f"{quantity}\n(relative)", xlim=(run.time[0], run.time[-1]))
        part.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        if len(names) > 1:
            part.legend(loc="best", ncols=2)
    axes[-1].set_xlabel("time / s")


def draw_energies(figure: Figure, *, run: Run) -> None:
    """Kinetic and elastic energy (energy at rest in the undeformed shape is zero), and their sum."""
    axes = figure.subplots()
    kinetic, elastic = run.ledger.kinetic, run.ledger.potential
    axes.plot(run.time, kinetic, color="#0072B2", label="kinetic")
    axes.plot(run.time, elastic, color="#D55E00", label="elastic")
    axes.plot(run.time, kinetic + elastic, "--", color="#333333", label="sum")
    axes.set(xlabel="time / s", ylabel="energy / J", xlim=(run.time[0], run.time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)


class Shapes:
    """Pictures of one body of a run, its cells coloured by von Mises stress on one scale [kN/m²]."""

    def __init__(self, solid: Solid, run: Run) -> None:
        self.solid, self.run = solid, run
        self.positions = run.position.reshape(len(run), -1, 2)
        some = np.unique(np.linspace(0, len(run) - 1, 40).astype(int))
        self.highest = max(float(self.stress(k).max()) for k in some)

    def stress(self, sample: int) -> np.ndarray:
        """Mean of every cell (e,) [kN/m²]."""
        return np.asarray(1e-3 * self.solid.von_mises(self.positions[sample]).mean(axis=1))

    def cells(self, sample: int) -> np.ndarray:
        """Corners of every cell (e, 4, 2) [m]."""
        return self.positions[sample][self.solid.mesh.cells[:, :4]]

    def drawn(self, axes: Axes, sample: int) -> PolyCollection:
        from matplotlib.collections import PolyCollection

        shape = PolyCollection(list(self.cells(sample)), cmap="viridis", edgecolor="#333333", linewidth=0.4)
        shape.set_array(self.stress(sample))
        shape.set_clim(0.0, self.highest or 1.0)
        axes.add_collection(shape)
        return shape

    def row(self, figure: Figure, *, moments: int = 5) -> None:
        """The body at several times along its flight, coloured by von Mises stress."""
        figure.set_size_inches(7.6, 3.0)
        axes = figure.subplots()
        samples = np.linspace(0, len(self.run) - 1, moments).astype(int).tolist()
        shapes = [self.drawn(axes, sample) for sample in samples]
        for sample in samples:
            x, y = self.positions[sample].mean(axis=0)
            axes.text(x, y, f"{self.run.time[sample]:.2f} s", ha="center", va="center", fontsize=8)
        self._framed(axes)
        figure.colorbar(shapes[-1], ax=axes, label="von Mises stress / kN/m²")

    def scene(self, figure: Figure, *, frames: int) -> Callable[[int], None]:
        """The body in flight, coloured by von Mises stress."""
        figure.set_size_inches(7.4, 3.0)
        axes = figure.subplots()
        shape = self.drawn(axes, 0)
        self._framed(axes)
        figure.colorbar(shape, ax=axes, label="von Mises stress / kN/m²")
        numbers = np.linspace(0, len(self.run) - 1, frames).astype(int)
        title = axes.set_title("")

        def show(number: int) -> None:
            sample = int(numbers[number])
            shape.set_verts(list(self.cells(sample)))
            shape.set_array(self.stress(sample))
            title.set_text(f"{self.run.time[sample]:.2f} s")

        return show

    def _framed(self, axes: Axes) -> None:
        low, high = self.positions.min(axis=(0, 1)), self.positions.max(axis=(0, 1))
        border = 0.04 * float(np.max(high - low))
        axes.set(
            xlim=(low[0] - border, high[0] + border),
            ylim=(low[1] - border, high[1] + border),
            xlabel="x / m",
            ylabel="y / m",
            aspect="equal",
        )
