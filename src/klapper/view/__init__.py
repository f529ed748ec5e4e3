"""Seeing the pictures that runs carry, in three dimensions: windows, and files for ParaView and Blender.

import klapper.view

klapper.view.show(run)                              # needs klapper[view]
klapper.view.write_vtk_series(run, "folder")        # VTU and PVD, for ParaView
klapper.view.write_xdmf(run, "run.xdmf")
klapper.view.write_gltf(run, "run.glb")             # for Blender and browsers
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.view.gltf import write_gltf
    from klapper.view.picture import read_picture, with_picture
    from klapper.view.vtk_files import write_vtk_series
    from klapper.view.window import show
    from klapper.view.xdmf import write_xdmf

_PLACES = {
    "read_picture": "picture",
    "show": "window",
    "with_picture": "picture",
    "write_gltf": "gltf",
    "write_vtk_series": "vtk_files",
    "write_xdmf": "xdmf",
}

__all__ = [
    "read_picture",
    "show",
    "with_picture",
    "write_gltf",
    "write_vtk_series",
    "write_xdmf",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"klapper.view has no '{name}'; it has {', '.join(_PLACES)}.")
    return getattr(import_module(f"klapper.view.{_PLACES[name]}"), name)
