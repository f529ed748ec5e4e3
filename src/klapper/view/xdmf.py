"""XDMF 3: one XML file that describes the frames, and one HDF5 file beside it that holds the arrays.

Cells of several kinds are a topology "Mixed": the number of the kind, for points and lines the number of their points,
then the points. (The writer of meshio cannot mix lines with other cells, so this one is written here.)
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np

from klapper.results.container import write_whole
from klapper.results.errors import ResultsError
from klapper.view.pieces import pieces, require_exaggeration, shown_times
from klapper.view.vtk_files import FRAMES, joined

if TYPE_CHECKING:
    import h5py

    from klapper.results import Run

_VERTEX = 1
_COUNTED = ("vertex", "line")


def write_xdmf(run: Run, path: str | Path, *, frames: int = FRAMES, exaggeration: float = 1.0) -> Path:
    """Write what a run looks like as ``path`` (.xdmf) with its arrays in ``path``.h5; the path of the XDMF file.

    The data, ``frames`` and ``exaggeration`` are as of :func:`~klapper.view.write_vtk_series`.

    >>> import tempfile
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> from klapper.view import write_xdmf
    >>> run = simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_xdmf(run, f"{folder}/run.xdmf", frames=4)
    ...     sorted(file.name for file in path.parent.iterdir())
    ['run.xdmf', 'run.xdmf.h5']
    """
    import h5py

    file = Path(path)
    if file.suffix != ".xdmf":
        raise ResultsError(f"{file} is no name of an XDMF file: let it end in .xdmf.")
    if file.is_dir() or not file.parent.is_dir():
        raise ResultsError(f"{file} cannot be written: give a file in an existing folder.")
    times = shown_times(run, frames)
    all_pieces = pieces(run, times, require_exaggeration(exaggeration))
    arrays = f"{file.name}.h5"
    root = ET.Element("Xdmf", Version="3.0")
    series = ET.SubElement(
        ET.SubElement(root, "Domain"), "Grid", Name="run", GridType="Collection", CollectionType="Temporal"
    )
    image = io.BytesIO()
    with h5py.File(image, "w") as store:
        item = _Items(store, arrays)
        blocks = joined(all_pieces, 0).cells
        topology, count = item.put("topology", mixed(blocks)), sum(len(block.data) for block in blocks)
        for frame, time in enumerate(times.tolist()):
            mesh = joined(all_pieces, frame)
            grid = ET.SubElement(series, "Grid", Name=f"frame {frame}", GridType="Uniform")
            ET.SubElement(grid, "Time", Value=repr(time))
            cells = ET.SubElement(grid, "Topology", TopologyType="Mixed", NumberOfElements=str(count))
            cells.append(topology)
            ET.SubElement(grid, "Geometry", GeometryType="XYZ").append(
                item.put(f"points/{frame}", mesh.points)
            )
            _attribute(grid, item, frame, "displacement", "Vector", "Node", mesh.point_data["displacement"])
            for name, values in mesh.cell_data.items():
                _attribute(grid, item, frame, name, "Scalar", "Cell", np.concatenate(values))
    write_whole(file.with_name(arrays), image.getvalue())
    ET.indent(root)
    write_whole(file, ET.tostring(root, encoding="utf-8", xml_declaration=True))
    return file


def mixed(blocks: Any) -> np.ndarray:
    """The cells of all kinds in one row of numbers."""
    from klapper.continuum.elements import ELEMENTS

    numbers = {"vertex": _VERTEX} | {element.in_files: element.xdmf for element in ELEMENTS.values()}
    rows = []
    for block in blocks:
        head = [numbers[block.type], *([block.data.shape[1]] if block.type in _COUNTED else [])]
        rows.append(np.column_stack([np.tile(head, (len(block.data), 1)), block.data]).ravel())
    return np.concatenate(rows)


class _Items:
    """Arrays in the HDF5 file, and the elements that lead to them."""

    def __init__(self, store: h5py.File, name: str) -> None:
        self.store, self.name = store, name

    def put(self, place: str, array: np.ndarray) -> ET.Element:
        whole = array.dtype.kind in "iu"
        stored = np.asarray(array, dtype=np.int64 if whole else np.float64)
        self.store.create_dataset(place, data=stored, compression="gzip" if stored.size > 1 else None)
        item = ET.Element(
            "DataItem",
            Dimensions=" ".join(map(str, stored.shape)),
            NumberType="Int" if whole else "Float",
            Precision="8",
            Format="HDF",
        )
        item.text = f"{self.name}:/{place}"
        return item


def _attribute(
    grid: ET.Element, item: _Items, frame: int, name: str, kind: str, centre: str, values: np.ndarray
) -> None:
    element = ET.SubElement(grid, "Attribute", Name=name, AttributeType=kind, Center=centre)
    element.append(item.put(f"{name}/{frame}", values))
