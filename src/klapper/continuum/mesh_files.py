"""Meshes in the files of other programs, through meshio: Gmsh .msh, VTK .vtk and .vtu, Abaqus .inp, Nastran .bdf,
Salome .med, XDMF, ….

Bodies are the cells of the highest dimension in a file: triangles and quadrilaterals of a plane mesh, tetrahedra and
hexahedra of one in space. Groups that a file names become surfaces (from cells one dimension lower, or from sets of
nodes) and parts (from cells of bodies). Cells numbered the wrong way round are turned, nodes without cells left out,
and facets follow the boundary of the body, whichever way the file runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from klapper.continuum.elements import ELEMENTS, SOLIDS, Element
from klapper.continuum.mesh import Mesh
from klapper.doors import Unreadable
from klapper.doors.helper import read_mesh_file
from klapper.doors.text import in_a_sentence
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel

KINDS = {element.in_files: element.name for element in ELEMENTS.values()}
READABLE = (
    ".msh", ".vtk", ".vtu", ".inp", ".bdf", ".fem", ".nas", ".mesh", ".avs", ".su2", ".med", ".xdmf", ".xmf",
)  # fmt: skip
_SUPPORTED = ", ".join(ELEMENTS[name].in_files for name in SOLIDS)


def read_mesh(path: Any, *, part: str | None = None, scale: float = 1.0) -> Mesh:
    """The cells of a file as one mesh, or those of one named ``part`` of it.

    ``path``   of the file: .msh, .vtk, .vtu, .inp, .bdf, .fem, .nas, .mesh, .avs, .su2, .med or .xdmf
    ``scale``  [m] of one unit of the file, e.g. 0.001 for millimetres

    >>> from tempfile import TemporaryDirectory
    >>> from klapper.continuum import block
    >>> with TemporaryDirectory() as folder:
    ...     write_mesh(f"{folder}/bar.inp", block((2.0, 1.0), (4, 2)))
    ...     bar = read_mesh(f"{folder}/bar.inp", scale=0.001)
    >>> float(bar.nodes.max()), len(bar.cells), "left" in bar.surfaces
    (0.002, 8, True)
    """
    file = _File(path, scale)
    if part is None:
        return file.mesh(None)
    if part not in file.parts:
        known = in_a_sentence(", ".join(file.parts), 500) or "none"
        raise InvalidModel(f"{file.name} has no part '{part}'; groups of its cells are: {known}.")
    return file.mesh(part)


def read_meshes(path: Any, *, scale: float = 1.0) -> dict[str, Mesh]:
    """One mesh per named group of cells, e.g. per body; nodes that groups share belong to each of them.

    ``path``, ``scale``  as for :func:`read_mesh`

    Two squares of 1 mm beside each other, each with a name in the file:

    >>> from tempfile import TemporaryDirectory
    >>> text = '''*NODE
    ... 1, 0, 0
    ... 2, 1, 0
    ... 3, 2, 0
    ... 4, 0, 1
    ... 5, 1, 1
    ... 6, 2, 1
    ... *ELEMENT, TYPE=CPS4, ELSET=west
    ... 1, 1, 2, 5, 4
    ... *ELEMENT, TYPE=CPS4, ELSET=east
    ... 2, 2, 3, 6, 5
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pair.inp").write_text(text)
    ...     pair = read_meshes(Path(folder, "pair.inp"), scale=0.001)
    >>> {name: round(mesh.volume, 12) for name, mesh in pair.items()}
    {'west': 1e-06, 'east': 1e-06}
    """
    file = _File(path, scale)
    if not file.parts:
        raise InvalidModel(
            f"{file.name} names no groups of its {file.kind.name} cells; name them there, or use read_mesh."
        )
    return {part: file.mesh(part) for part in file.parts}


def write_mesh(
    path: Any,
    mesh: Mesh,
    *,
    position: Any = None,
    values: Mapping[str, Any] | None = None,
    scale: float = 1.0,
) -> None:
    """A mesh with its surfaces as a file whose format follows from the suffix of ``path``.

    ``position``  (n, d) [m], a deformed configuration instead of the mesh's own
    ``values``    (n,) or (n, d) at the nodes, by name, where the format keeps them (.vtk, .vtu, .msh)
    ``scale``     [m] of one unit of the file

    Names of surfaces are kept: in .vtk and .vtu as cell data "surface:NAME", 1 at the facets of the surface.

    A square of 0.2 m written in millimetres:

    >>> from tempfile import TemporaryDirectory
    >>> from klapper.continuum import block
    >>> with TemporaryDirectory() as folder:
    ...     write_mesh(f"{folder}/square.inp", block((0.2, 0.2), (1, 1)), scale=0.001)
    ...     round(float(read_mesh(f"{folder}/square.inp").nodes.max()), 9)
    200.0
    """
    suffix, name = Path(path).suffix, Path(path).name
    if suffix not in (".msh", ".inp", ".vtk", ".vtu"):
        raise InvalidModel(
            f"{name} would have the format {suffix!r}; meshes are written as .msh, .inp, .vtk or .vtu."
        )
    if suffix == ".inp" and values:
        raise InvalidModel(f"{name} cannot keep values at nodes; write them as .vtk, .vtu or .msh.")
    unit = number(scale, "scale", "numbers above 0, in m per unit of the file", above=0.0)
    nodes = mesh.nodes if position is None else finite(position, "position", mesh.nodes.shape)
    points = np.zeros((len(nodes), 3))
    points[:, : mesh.dimension] = nodes / unit
    cells = [(mesh.element.in_files, mesh.cells)]
    cells += [(mesh.facet.in_files, facets) for facets in mesh.surfaces.values()]
    at_nodes = {what: _per_node(what, value, mesh) for what, value in (values or {}).items()}
    meshio = _meshio()
    content = meshio.Mesh(points, cells, point_data=at_nodes, **_labels(mesh, suffix))
    options = {"file_format": "gmsh22"} if suffix == ".msh" else {}
    try:
        meshio.write(path, content, **options)
    except OSError as error:
        raise InvalidModel(f"{name} cannot be written there: {_sentence(error)}") from None


class _File:
    """The content of a file: points, cells of one kind, and the groups it names."""

    def __init__(self, path: Any, scale: float) -> None:
        file = Path(path)
        self.name = file.name
        if not file.is_file():
            raise InvalidModel(f"there is no file {file}; give the path of a mesh, e.g. 'part.msh'.")
        if file.suffix.lower() not in READABLE:
            raise InvalidModel(
                f"{self.name} ends in none of {', '.join(READABLE)}, the meshes that are read: convert it, for "
                f"instance by `meshio convert {self.name} {file.stem}.vtu` or in ParaView."
            )
        unit = number(scale, "scale", "numbers above 0, in m per unit of the file", above=0.0)
        try:
            self.content = read_mesh_file(file)
        except Unreadable as error:
            raise InvalidModel(f"{self.name} cannot be read as a mesh: {_sentence(error)}") from None
        self.points = unit * self.content.points
        self.kind = self._kind()
        self.groups = self._groups()
        self.parts = [name for name, block in self.groups.items() if self._cells(block).size]

    def mesh(self, part: str | None) -> Mesh:
        """The mesh of a part, None for all cells, with every surface that lies on its boundary."""
        blocks = range(len(self.content.cells))
        cells = self._cells({b: np.arange(len(self.content.cells[b].data)) for b in blocks})
        if part is not None:
            cells = self._cells(self.groups[part])
        used, numbers = np.unique(cells, return_inverse=True)
        cells = numbers.reshape(cells.shape)
        nodes = self._in_its_space(self.points[used])
        mesh = Mesh(nodes, turned_right(nodes, cells, self.kind), self.kind)
        back = np.full(len(self.points), -1)
        back[used] = np.arange(len(used))
        return replace(mesh, surfaces=self._surfaces(mesh, back))

    def _kind(self) -> Element:
        """The element of the bodies: the only kind of the highest dimension that is there."""
        blocks = [block for block in self.content.cells if len(block.data)]
        highest = max((block.dim for block in blocks), default=0)
        chosen = {block.type for block in blocks if block.dim == highest}
        if highest < 2 or not chosen <= set(KINDS):
            cells = ", ".join(sorted(chosen - set(KINDS) if highest >= 2 else chosen)) or "none"
            raise InvalidModel(f"{self.name} has cells of kind {cells}; bodies are made of {_SUPPORTED}.")
        if len(chosen) > 1:
            raise InvalidModel(
                f"{self.name} mixes cells of kind {', '.join(sorted(chosen))}; a mesh is made of one kind: mesh the "
                f"body with one, or write its parts to files of their own."
            )
        return ELEMENTS[KINDS[chosen.pop()]]

    def _groups(self) -> dict[str, dict[int, np.ndarray]]:
        """Numbers of cells per block, by name of the group."""
        groups: dict[str, dict[int, np.ndarray]] = {}
        for name, blocks in self.content.cell_sets.items():
            if not name.startswith("gmsh:"):
                groups[name] = {b: n for b, n in enumerate(blocks) if n is not None}
        for b, tags in enumerate(self.content.physical):
            dimension = self.content.cells[b].dim
            for tag in np.unique(tags[tags > 0]):
                name = self.content.names.get((int(tag), dimension), f"group {tag}")
                groups.setdefault(name, {})[b] = np.flatnonzero(tags == tag)
        return groups

    def _cells(self, group: Mapping[int, np.ndarray], element: Element | None = None) -> np.ndarray:
        """Node numbers (e, k) of those cells of a group that are of the kind of the bodies, or of another."""
        kind = element or self.kind
        found = [
            np.asarray(self.content.cells[b].data)[numbers]
            for b, numbers in group.items()
            if KINDS.get(self.content.cells[b].type) == kind.name
        ]
        return np.concatenate([np.zeros((0, kind.size), dtype=int), *found]).astype(int)

    def _in_its_space(self, points: np.ndarray) -> np.ndarray:
        d = self.kind.dimension
        if points.shape[1] > d and np.ptp(points[:, d:]) > 1e-9 * np.ptp(points):
            raise InvalidModel(
                f"{self.name} has {self.kind.name} cells that do not lie in the x-y plane; turn the mesh into it, or "
                f"mesh the body with tetra or hexahedron."
            )
        return points[:, :d]

    def _surfaces(self, mesh: Mesh, back: np.ndarray) -> dict[str, np.ndarray]:
        """Facets of the boundary that a file names; ``back`` are the numbers (n,) of its nodes in the mesh."""
        order = {tuple(key): i for i, key in enumerate(np.sort(mesh.boundary, axis=1))}
        surfaces = {}
        for name, group in self.groups.items():
            facets = np.sort(back[self._cells(group, mesh.facet)], axis=1)
            places = {order[tuple(facet)] for facet in facets if tuple(facet) in order}
            if places:
                surfaces[name] = mesh.boundary[sorted(places)]
        for name, nodes in self.content.point_sets.items():
            inside = np.isin(mesh.boundary, back[np.asarray(nodes, dtype=int)]).all(axis=1)
            if name not in surfaces and inside.any():
                surfaces[name] = mesh.boundary[inside]
        return surfaces


def turned_right(nodes: np.ndarray, cells: np.ndarray, element: Element) -> np.ndarray:
    """Cells (e, k) of which those with negative volume are numbered the other way round."""
    points, _ = element.stiffness
    jacobian = np.einsum("eki,gkj->egij", nodes[cells], element.gradients(points))
    wrong = np.all(np.linalg.det(jacobian) < 0.0, axis=1)
    mirrored = element.nodes.copy()
    mirrored[:, :2] = mirrored[:, 1::-1]  # ξ₁ and ξ₂ change places
    order = [int(np.argmin(np.abs(element.nodes - node).sum(axis=1))) for node in mirrored]
    return np.where(wrong[:, None], cells[:, order], cells)


def _labels(mesh: Mesh, suffix: str) -> dict[str, Any]:
    """What a file says about which of its cells belong to which surface; the cells of the body come first."""
    sizes = [len(mesh.cells), *(len(facets) for facets in mesh.surfaces.values())]
    if suffix == ".inp":
        empty = np.zeros(0, dtype=int)
        return {
            "cell_sets": {
                name: [np.arange(size) if i == j else empty for j, size in enumerate(sizes)]
                for i, name in enumerate(mesh.surfaces, start=1)
            }
        }
    tags = [np.full(size, i) for i, size in enumerate(sizes)]
    if suffix != ".msh":
        return {
            "cell_data": {
                f"surface:{quote(name, safe='')}": [np.where(tag == i, 1, 0) for tag in tags]
                for i, name in enumerate(mesh.surfaces, start=1)
            }
        }
    return {
        "cell_data": {"gmsh:physical": tags, "gmsh:geometrical": tags},
        "field_data": {
            name: np.array([i, mesh.dimension - 1]) for i, name in enumerate(mesh.surfaces, start=1)
        },
    }


def _per_node(name: str, given: Any, mesh: Mesh) -> np.ndarray:
    """(n,) or (n, 3): viewers expect vectors of space."""
    value = finite(given, name)
    count, d = mesh.nodes.shape
    if value.shape == (count,):
        return value
    if value.shape != (count, d):
        raise InvalidModel(
            f"values '{name}' have shape {value.shape}; expected ({count},) or ({count}, {d})."
        )
    return np.column_stack([value, np.zeros((count, 3 - d))])


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return f"{text}."


def _meshio() -> Any:
    import meshio

    return meshio
