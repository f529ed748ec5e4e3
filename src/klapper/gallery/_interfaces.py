"""Interfaces of examples by name, and pictures of bodies that touch."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, Interface, SurfacePressure

InterfaceName = Literal["nts", "nts-two-pass", "mortar", "mortar-dual"]
WORDS: Mapping[str, str] = {
    "nts": "node-to-segment",
    "nts-two-pass": "node-to-segment, two passes",
    "mortar": "mortar",
    "mortar-dual": "mortar, dual multipliers",
    "wall": "rigid wall",
}


def interface_named(
    name: InterfaceName, secondary: tuple[str, str], primary: tuple[str, str], **options: Any
) -> "Interface":
    """The interface of a name between two surfaces (body, surface)."""
    from klapper.continuum import Mortar, NodeToSegment

    if name.startswith("nts"):
        passes = 2 if name == "nts-two-pass" else 1
        return NodeToSegment(secondary=secondary, primary=primary, passes=passes, **options)
    return Mortar(secondary=secondary, primary=primary, dual=name == "mortar-dual", **options)


def paint_bodies(
    figure: "Figure",
    axes: "Axes",
    world: "Continuum",
    position: np.ndarray,
    *,
    names: Sequence[str] | None = None,
    lowest: float | None = None,
) -> None:
    """All solids at coordinates (n,), in the colours of one scale of von Mises stress."""
    from klapper.continuum import Solid
    from klapper.gallery._stress_view import painted

    solids = [
        body for body in world.bodies if isinstance(body, Solid) and (names is None or body.name in names)
    ]
    highest = max(float(body.von_mises(world.positions(position, body.name)).max()) for body in solids)
    picture = None
    for body in solids:
        picture = painted(axes, body, world.positions(position, body.name), highest=highest)
        picture.set_clim(0.0 if lowest is None else lowest, highest)
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")
    if picture is not None:
        figure.colorbar(picture, ax=axes, label="von Mises stress / (N/m²)", shrink=0.8)


def draw_pressures(
    axes: "Axes", pressures: Sequence[tuple[str, "SurfacePressure"]], *, across: str = "arc"
) -> None:
    """Contact pressures over the arc of their surfaces, or over ``across`` = "x"."""
    from klapper.gallery._sketch import BLUE, GREEN, ORANGE, PURPLE

    for (label, found), colour, mark in zip(
        pressures, (BLUE, ORANGE, GREEN, PURPLE), ("o", "s", "^", "v"), strict=False
    ):
        at = found.arc if across == "arc" else found.place[:, 0]
        axes.plot(at, found.pressure, "-", marker=mark, markersize=3.5, color=colour, label=label)
    axes.set(
        xlabel="along the surface / m" if across == "arc" else "x / m", ylabel="contact pressure / (N/m²)"
    )
