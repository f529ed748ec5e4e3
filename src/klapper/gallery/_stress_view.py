"""Deformed meshes in the plane, painted by the stress at their quadrature points.

Every quadrature point colours that part of its cell which it stands for: squares as wide as the weights in
quadrilaterals, the three corners of a triangle with three points, else the whole cell.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from klapper.continuum import Mesh, Solid
    from klapper.continuum.elements import Element

EDGE = "#22222266"


def painted(
    axes: "Axes", body: "Solid", position: np.ndarray, *, highest: float, scale: float = 1.0
) -> "PolyCollection":
    """A body at node positions (n, 2) [m], coloured by its von Mises stress from 0 to ``highest`` [N/m²]."""
    from matplotlib.collections import PolyCollection

    regions = _regions(body.mesh.element)
    corners = body.mesh.element.values(regions.reshape(-1, 2)).reshape(*regions.shape[:2], -1)
    polygons = np.einsum("gck,eki->egci", corners, position[body.mesh.cells])
    patches = PolyCollection(
        list(scale * polygons.reshape(-1, regions.shape[1], 2)),
        array=body.von_mises(position).ravel(),
        cmap="viridis",
        edgecolors="face",
        linewidths=0.3,
        clim=(0.0, highest),
    )
    axes.add_collection(patches)
    outlined(axes, body.mesh, position, scale=scale)
    return patches


def outlined(axes: "Axes", mesh: "Mesh", position: np.ndarray, *, scale: float = 1.0, **style: Any) -> None:
    """The edges of all cells at node positions (n, 2) [m]."""
    from matplotlib.collections import LineCollection

    line = mesh.facet
    along = np.linspace(-1.0, 1.0, 2 if line.size == 2 else 9)[:, None]
    edges = position[mesh.cells[:, mesh.element.facets]].reshape(-1, line.size, 2)
    curves = np.einsum("ck,eki->eci", line.values(along), edges)
    axes.add_collection(LineCollection(list(scale * curves), **{"colors": EDGE, "linewidths": 0.5, **style}))
    axes.autoscale_view()


def _regions(element: "Element") -> np.ndarray:
    """Corners (g, c, 2) of the part of the reference cell that belongs to each quadrature point."""
    points, _ = element.stiffness
    if element.name.startswith("quad"):
        side = round(len(points) ** 0.5)
        widths = np.polynomial.legendre.leggauss(side)[1]
        cuts = np.concatenate([[-1.0], -1.0 + np.cumsum(widths)])
        places = [np.searchsorted(cuts, point) - 1 for point in points]
        low, high = cuts[np.array(places)], cuts[np.array(places) + 1]
        return np.stack(
            [low, np.column_stack([high[:, 0], low[:, 1]]), high, np.column_stack([low[:, 0], high[:, 1]])],
            axis=1,
        )
    if len(points) == 3:
        middle = (1 / 3, 1 / 3)
        kites = [
            [(0, 0), (0.5, 0), middle, (0, 0.5)],
            [(1, 0), (0.5, 0.5), middle, (0.5, 0)],
            [(0, 1), (0, 0.5), middle, (0.5, 0.5)],
        ]
        return np.array(kites)
    return np.array([[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]])
