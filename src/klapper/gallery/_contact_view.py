"""Pictures of several bodies that touch: meshes coloured by stress, energies, momenta, contact forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from klapper.gallery._contact_motion import Balance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum
    from klapper.results import Run

KINETIC, ELASTIC, FRICTION, SUM = "#0072B2", "#D55E00", "#CC79A7", "#333333"


class Meshes:
    """All bodies of a ``world`` over a ``run``, cells coloured by their mean von Mises stress on one scale [N/m²].

    ``zoom``  (2, 2) lower left and upper right corner [m] of what is shown; None: everything
    """

    def __init__(self, world: Continuum, run: Run, *, zoom: Sequence[Sequence[float]] | None = None) -> None:
        from klapper.continuum import Solid

        self.world, self.run = world, run
        self.bodies = [body for body in world.bodies if isinstance(body, Solid)]
        some = np.unique(np.linspace(0, len(run) - 1, 40).astype(int))
        self.highest = max(float(self.stress(k).max()) for k in some)
        self.zoom = None if zoom is None else np.asarray(zoom)

    def stress(self, sample: int) -> np.ndarray:
        """(e,) [N/m²] of the cells of all bodies."""
        q = self.run.position[sample]
        return np.concatenate(
            [body.von_mises(self.world.positions(q, body.name)).mean(axis=1) for body in self.bodies]
        )

    def cells(self, sample: int) -> list[np.ndarray]:
        """Corners (4, 2) [m] of the cells of all bodies."""
        q = self.run.position[sample]
        return [
            corners
            for body in self.bodies
            for corners in self.world.positions(q, body.name)[body.mesh.cells[:, :4]]
        ]

    def row(self, figure: Figure, *, times: Sequence[float] | None = None, columns: int = 3) -> None:
        """Bodies at several times, coloured by von Mises stress (mean of a cell)."""
        shown = np.linspace(self.run.time[0], self.run.time[-1], 6) if times is None else np.asarray(times)
        rows = -(-len(shown) // columns)
        figure.set_size_inches(7.0, 0.4 + 2.35 * rows)
        axes = np.atleast_2d(figure.subplots(rows, columns, sharex=True, sharey=True))
        for part, time in zip(axes.ravel(), shown, strict=False):
            sample = int(np.argmin(np.abs(self.run.time - time)))
            shape = self._drawn(part, sample)
            part.set_title(f"{self.run.time[sample]:.3g} s", fontsize=9)
            self._framed(part)
        for part in axes.ravel()[len(shown) :]:
            part.set_axis_off()
        for part in axes[-1]:
            part.set_xlabel("x / m")
        for part in axes[:, 0]:
            part.set_ylabel("y / m")
        figure.colorbar(shape, ax=axes, label="von Mises stress / (N/m²)", shrink=0.85)

    def scene(self, figure: Figure, *, frames: int) -> Callable[[int], None]:
        """Motion of the bodies, coloured by von Mises stress (mean of a cell)."""
        figure.set_size_inches(5.6, 4.6)
        axes = figure.subplots()
        shape = self._drawn(axes, 0)
        self._framed(axes)
        axes.set(xlabel="x / m", ylabel="y / m")
        figure.colorbar(shape, ax=axes, label="von Mises stress / (N/m²)", shrink=0.85)
        numbers = np.linspace(0, len(self.run) - 1, frames).astype(int)
        title = axes.set_title(f"{self.run.time[-1]:.3g} s")

        def show(number: int) -> None:
            sample = int(numbers[number])
            shape.set_verts(self.cells(sample))
            shape.set_array(self.stress(sample))
            title.set_text(f"{self.run.time[sample]:.3g} s")

        return show

    def _drawn(self, axes: Axes, sample: int) -> PolyCollection:
        from matplotlib.collections import PolyCollection

        shape = PolyCollection(self.cells(sample), cmap="viridis", edgecolor="#33333388", linewidth=0.3)
        shape.set_array(self.stress(sample))
        shape.set_clim(0.0, self.highest or 1.0)
        axes.add_collection(shape)
        return shape

    def _framed(self, axes: Axes) -> None:
        places = self.run.position.reshape(len(self.run), -1, 2)
        low, high = (
            (places.min(axis=(0, 1)), places.max(axis=(0, 1)))
            if self.zoom is None
            else (self.zoom[0], self.zoom[1])
        )
        border = 0.03 * float(np.max(high - low))
        axes.set(
            xlim=(low[0] - border, high[0] + border), ylim=(low[1] - border, high[1] + border), aspect="equal"
        )


def draw_energies(figure: Figure, *, balance: Balance) -> None:
    """Kinetic and elastic energy of the bodies, what friction took, and the sum."""
    axes = figure.subplots()
    time = balance.run.time[balance.chosen]
    axes.plot(time, balance.kinetic, color=KINETIC, label="kinetic")
    axes.plot(time, balance.elastic, color=ELASTIC, label="elastic")
    if balance.friction.max() > 0.0:
        axes.plot(time, balance.friction, color=FRICTION, label="taken by friction")
    axes.plot(time, balance.energy, "--", color=SUM, label="sum")
    axes.set(xlabel="time / s", ylabel="energy / J", xlim=(time[0], time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0.3)


def draw_momenta(figure: Figure, *, balance: Balance, free: Balance | None = None) -> None:
    """Energy with what friction took, momentum and angular momentum of the bodies; how they change when free."""
    figure.set_size_inches(6.4, 5.2)
    time = balance.run.time[balance.chosen]
    parts = figure.subplots(3, 1, sharex=True)
    parts[0].plot(time, balance.energy, color=SUM)
    parts[0].set_ylabel("energy\n/ J")
    for column, name, style in zip(balance.momentum.T, "xy", ("-", "--"), strict=True):
        parts[1].plot(time, column, style, label=name)
    parts[1].set_ylabel("momentum\n/ (kg m/s)")
    parts[1].legend(loc="best", ncols=2)
    parts[2].plot(time, balance.angular_momentum, color=SUM)
    parts[2].set(ylabel="ang. momentum\n/ (kg m²/s)", xlabel="time / s", xlim=(time[0], time[-1]))
    when = "" if free is None else f" from {free.since:g} s on"
    for part, (name, change) in zip(parts, (free or balance).drift.items(), strict=True):
        part.set_title(f"{name}: largest change{when} {change:.1e} of its size", fontsize=8, loc="right")
        spread = np.ptp(part.dataLim.intervaly)
        size = float(np.abs(part.dataLim.intervaly).max())
        if spread < 1e-6 * size or size < 1e-6:
            middle = float(part.dataLim.intervaly.mean())
            part.set_ylim(middle - 0.1 * max(abs(middle), 1.0), middle + 0.1 * max(abs(middle), 1.0))
        if free is not None:
            part.axvline(free.since, color="#999999", linewidth=0.8, linestyle=":")


def draw_contact_forces(figure: Figure, *, run: Run) -> None:
    """Sum of the normal contact forces, of friction against them, and how many nodes carry them."""
    figure.set_size_inches(6.4, 4.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    time, force = run.time[1:], run.force[1:]
    above.plot(time, force[:, :, 0].sum(axis=1), color=KINETIC, label="normal")
    if force.shape[2] > 1:
        above.plot(time, force[:, :, 1].sum(axis=1), color=FRICTION, label="friction")
    above.set_ylabel("sum of contact forces / N")
    above.legend(loc="best")
    below.step(run.time, (run.state > 0).sum(axis=1), where="pre", color=SUM)
    below.set(xlabel="time / s", ylabel="nodes in contact", xlim=(run.time[0], run.time[-1]))


def draw_pressures(figure: Figure, *, world: Continuum, run: Run, body: str, surface: str) -> None:
    """Contact pressure over time at the nodes of a surface, by their angle about the middle of the undeformed body."""
    from klapper.continuum import contact_pressure

    moments = [
        contact_pressure(world, q, force)[body, surface]
        for q, force in zip(run.position[1:], run.force[1:], strict=True)
    ]
    mesh = next(each.mesh for each in world.bodies if each.name == body)
    places = mesh.nodes[moments[0].nodes] - mesh.nodes.mean(axis=0)
    angle = np.degrees(np.arctan2(places[:, 1], places[:, 0])) % 360.0
    order = np.argsort(angle)
    pressure = np.array([moment.pressure for moment in moments])[:, order]
    figure.set_size_inches(6.4, 3.8)
    axes = figure.subplots()
    limit = float(np.percentile(np.abs(pressure[pressure != 0.0]), 99.0)) if np.any(pressure) else 1.0
    pulls = pressure.min() < -1e-6 * limit
    picture = axes.pcolormesh(
        run.time[1:],
        angle[order],
        pressure.T,
        cmap="RdBu_r" if pulls else "magma_r",
        vmin=-limit if pulls else 0.0,
        vmax=limit,
        shading="nearest",
    )
    axes.set(xlabel="time / s", ylabel=f"node of {body} at angle / °")
    figure.colorbar(picture, ax=axes, label="contact pressure / (N/m²)")
