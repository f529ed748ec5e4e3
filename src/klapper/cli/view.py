"""``klapper export``: a run for other programs: histories as a table, series for ParaView, XDMF, glTF, a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from klapper.cli.errors import Debug, Large, WrongRequest, one_sentence


def export(
    path: Annotated[
        Path, typer.Argument(help="A run.h5, or the folder that holds one or an unfinished run.")
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every history as a column (.csv or .npz).")
    ] = None,
    vtk: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a series of VTU files and run.pvd, for ParaView."),
    ] = None,
    xdmf: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an XDMF file (.xdmf).")] = None,
    gltf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a binary glTF file (.glb), for Blender.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture (.png); needs the extra `view`.")
    ] = None,
    frames: Annotated[int, typer.Option(help="Number of frames over the whole run.")] = 100,
    exaggeration: Annotated[float, typer.Option(help="Of displacements of beams and frames.")] = 1.0,
    large: Large = False,
    debug: Debug = False,
) -> None:
    """Write a stored run for other programs: its numbers, or how it looks in three dimensions."""
    with one_sentence(debug):
        from klapper.results import read

        if all(wanted is None for wanted in (data, vtk, xdmf, gltf, picture)):
            raise WrongRequest(
                "Say what to write: --data FILE, --vtk DIR, --xdmf FILE, --gltf FILE or --picture FILE."
            )
        from klapper import view

        run = read(path, large=large)
        options: dict[str, Any] = {"frames": frames, "exaggeration": exaggeration}
        files = [run.export(data)] if data else []
        files += [view.write_vtk_series(run, vtk, **options)] if vtk else []
        files += [view.write_xdmf(run, xdmf, **options)] if xdmf else []
        files += [view.write_gltf(run, gltf, **options)] if gltf else []
        if picture:
            view.show(run, exaggeration=exaggeration, screenshot=str(picture)).close()
            files.append(picture)
        for file in files:
            typer.echo(f"Written: {file.resolve()}")
