"""Series of files for ParaView and other programs: VTU files that are listed by a PVD file.

Point data "displacement" [m] from rest, cell data "part" (its number, see :func:`part_names`) and, where
a mesh knows its law, "von Mises stress" [N/m²], not a number elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from klapper.results.container import write_whole
from klapper.results.errors import ResultsError
from klapper.view.pieces import Piece, pieces, require_exaggeration, shown_times

if TYPE_CHECKING:
    import meshio

    from klapper.results import Run

FRAMES = 100
STRESS = "von Mises stress"


def write_vtk_series(
    run: Run, folder: str | Path, *, frames: int = FRAMES, exaggeration: float = 1.0
) -> Path:
    """Write what a run looks like into ``folder``, one VTU file per frame; the path of the PVD file, written last.

    ``frames``        their number, over the whole run
    ``exaggeration``  factor of displacements of linear structures, dimensionless

    >>> import tempfile
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> from klapper.view import write_vtk_series
    >>> run = simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_vtk_series(run, folder, frames=4)
    ...     path.name, len(list(path.parent.glob("*.vtu")))
    ('run.pvd', 4)
    """
    import meshio

    where = _folder(folder)
    times = shown_times(run, frames)
    all_pieces = pieces(run, times, require_exaggeration(exaggeration))
    names = [f"frame-{number:05d}.vtu" for number in range(len(times))]
    for frame, name in enumerate(names):
        mesh = joined(all_pieces, frame)
        temporary = where / f".{name}.temporary"
        try:
            meshio.write(temporary, mesh, file_format="vtu")
            temporary.replace(where / name)
        finally:
            temporary.unlink(missing_ok=True)
    rows = "\n".join(
        f'    <DataSet timestep="{time!r}" part="0" file={quoteattr(name)}/>'
        for time, name in zip(times.tolist(), names, strict=True)
    )
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
        f"{rows}\n  </Collection>\n</VTKFile>\n"
    )
    file = where / "run.pvd"
    write_whole(file, text.encode())
    return file


def part_names(run: Run) -> list[str]:
    """The names behind the numbers of the cell data "part"."""
    from klapper.view.moving import moving

    return [part.name for part in moving(run).picture.parts]


def _folder(folder: str | Path) -> Path:
    where = Path(folder)
    if where.exists() and not where.is_dir():
        raise ResultsError(f"{where} is a file: give a folder.")
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{where} cannot be made: {error.strerror or error}.") from error
    return where


def joined(all_pieces: list[Piece], frame: int) -> meshio.Mesh:
    """One frame of all pieces; cells of the same kind together, as readers want them."""
    import meshio

    starts = np.cumsum([0, *(len(piece.rest) for piece in all_pieces)])
    rest = np.concatenate([piece.rest for piece in all_pieces])
    places = np.concatenate([piece.places[frame] for piece in all_pieces])
    kinds = list(dict.fromkeys(kind for piece in all_pieces for kind, _ in piece.cells))
    stressed = any(piece.stress is not None for piece in all_pieces)
    blocks, parts, stresses = [], [], []
    for wanted in kinds:
        cells, owner, stress = [], [], []
        for number, piece in enumerate(all_pieces):
            for kind, block in piece.cells:
                if kind == wanted:
                    cells.append(block + starts[number])
                    owner.append(np.full(len(block), number))
                    known = piece.stress is not None
                    stress.append(piece.stress[frame] if known else np.full(len(block), np.nan))  # type: ignore[index]
        blocks.append((wanted, np.concatenate(cells)))
        parts.append(np.concatenate(owner))
        stresses.append(np.concatenate(stress))
    data = {"part": parts, **({STRESS: stresses} if stressed else {})}
    return meshio.Mesh(places, blocks, point_data={"displacement": places - rest}, cell_data=data)
