"""A window on a run, by pyvista: meshes, bodies and beams with their stresses, and a slider for the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.errors import ResultsError
from klapper.view.pieces import Piece, pieces, require_exaggeration, shown_times
from klapper.view.vtk_files import STRESS

if TYPE_CHECKING:
    from klapper.results import Run

FRAMES = 100
_VERTEX = 1  # number of VTK


def show(
    run: Run,
    *,
    time: float | None = None,
    frames: int = FRAMES,
    exaggeration: float = 1.0,
    screenshot: str | None = None,
) -> Any:
    """Open a window on a run, or write a picture of it without a screen; the pyvista plotter.

    ``time``          [s] that is shown first; None: the end of the run
    ``frames``        between which the slider chooses
    ``exaggeration``  factor of displacements of linear structures, dimensionless
    ``screenshot``    file (.png) that is written instead of opening a window

    Half-way, into a file (not executed with the other examples, since pyvista is an extra):

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> from klapper.view import show
    >>> run = simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven())
    >>> _ = show(run, time=1.5, screenshot="half_way.png")  # doctest: +SKIP
    """
    pyvista = _pyvista()
    times = shown_times(run, frames)
    wanted = float(times[-1]) if time is None else time
    if not isinstance(wanted, int | float | np.number) or not times[0] <= wanted <= times[-1]:
        raise ResultsError(f"time is {wanted!r}; the run has {times[0]:g} s to {times[-1]:g} s.")
    times = np.union1d(times, [float(wanted)])
    first = int(np.searchsorted(times, float(wanted)))
    all_pieces = pieces(run, times, require_exaggeration(exaggeration))
    grids = [grid_of(piece, first) for piece in all_pieces]
    plotter = pyvista.Plotter(off_screen=screenshot is not None)
    top = max((float(p.stress.max()) for p in all_pieces if p.stress is not None), default=0.0)
    for piece, grid in zip(all_pieces, grids, strict=True):
        _add(plotter, piece, grid, top)
    text = plotter.add_text(f"t = {times[first]:.4g} s", font_size=10)

    def go(value: float) -> None:
        frame = int(np.argmin(np.abs(times - value)))
        for piece, grid in zip(all_pieces, grids, strict=True):
            update(piece, grid, frame)
        text.set_text("upper_left", f"t = {times[frame]:.4g} s")

    if len(times) > 1 and screenshot is None:
        plotter.add_slider_widget(go, (float(times[0]), float(times[-1])), value=wanted, title="time / s")
    if any(piece.places[..., 2].any() for piece in all_pieces):
        plotter.view_isometric()
    else:
        plotter.view_xy()
    plotter.show(screenshot=screenshot, auto_close=False)
    return plotter


def grid_of(piece: Piece, frame: int) -> Any:
    """A pyvista grid of one part at a frame, with "displacement" [m] and, where known, the stress [N/m²]."""
    from klapper.continuum.elements import ELEMENTS

    pyvista = _pyvista()
    numbers = {"vertex": _VERTEX} | {element.in_files: element.vtk for element in ELEMENTS.values()}
    cells = np.concatenate(
        [np.column_stack([np.full(len(block), block.shape[1]), block]).ravel() for _, block in piece.cells]
    )
    kinds = np.concatenate([np.full(len(block), numbers[kind]) for kind, block in piece.cells])
    grid = pyvista.UnstructuredGrid(cells, kinds, piece.places[frame].copy())
    update(piece, grid, frame)
    return grid


def update(piece: Piece, grid: Any, frame: int) -> None:
    """Move a grid to another frame."""
    grid.points = piece.places[frame].copy()
    grid.point_data["displacement"] = piece.places[frame] - piece.rest
    if piece.stress is not None:
        grid.cell_data[STRESS] = piece.stress[frame]


def _add(plotter: Any, piece: Piece, grid: Any, top: float) -> None:
    if piece.stress is not None:
        bar = {"title": f"{STRESS} / N/m2"}
        plotter.add_mesh(
            grid, scalars=STRESS, cmap="viridis", clim=(0.0, top), show_edges=True, scalar_bar_args=bar
        )
        return
    scenery = piece.part.kind in ("wall", "spring")
    options = {"color": "lightgray" if scenery else "#0072B2", "line_width": 3, "point_size": 10}
    plotter.add_mesh(
        grid, show_edges=piece.part.kind == "polygon", opacity=0.5 if scenery else 1.0, **options
    )


def _pyvista() -> Any:
    try:
        import pyvista
    except ImportError:
        raise ResultsError("windows in three dimensions need pyvista: pip install 'klapper[view]'.") from None
    return pyvista
