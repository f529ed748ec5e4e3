"""Tying: two surfaces that stay together, though their meshes do not match.

    node-to-segment   Φ = x − (1 − ξ) y₁ − ξ y₂ = 0, ξ fixed                                 Hesch (4.1)-(4.4)
    mortar            Φ_A = 1/A_A (Σ_B ∫ M_A N_B x_B − Σ_C ∫ M_A N_C y_C) = 0                 (4.49)-(4.54)

Partners and integrals are those of the reference configuration, so that the constraints are linear: constraint forces
in the middle of a step conserve energy. They conserve angular momentum only if the constraints hold exactly from the
beginning: :func:`fitted` moves the nodes of one mesh onto the other surface.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

from klapper.continuum.body import Body
from klapper.continuum.contact.interface import Interface
from klapper.continuum.contact.mortar import Mortar, MortarSearch
from klapper.continuum.contact.mortar_functions import MortarGap, slip_coefficients
from klapper.continuum.contact.node_to_segment import NodeSearch, NodeToSegment
from klapper.continuum.contact.search import projection
from klapper.continuum.contact.surface import Surface
from klapper.continuum.loads import named
from klapper.continuum.mesh import Mesh
from klapper.mechanics.errors import InvalidModel

TyingMethod = Literal["mortar", "node-to-segment"]
_ROUNDS = 60
_DIFFERENCE = 1e-7  # of the extent of a mesh: spacing of differences
_LARGEST = 0.2  # of the shortest facet: largest move in a round
_SINGULAR = 1e-9  # of the largest pivot: below that a direction counts as one that changes nothing


@dataclass(frozen=True, eq=False)
class Tie:
    """Surfaces that stay together: two constraints per node of the ``secondary`` one.

    ``secondary``, ``primary``  (body, surface)
    ``method``                  "mortar" (default) or "node-to-segment"
    ``dual``                    multiplier functions of a mortar that are dual to the shape functions
    ``reach``                   [m] distance up to which parts count as facing each other; None: the longest facet

    A block glued onto another with a finer mesh: two nodes, two directions:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> law = NeoHooke(100.0, 0.3)
    >>> low = Solid("low", block((1.0, 1.0), (2, 1)), law, density=1.0)
    >>> up = Solid("up", block((1.0, 1.0), (1, 1), corner=(0.0, 1.0)), law, density=1.0)
    >>> glued = Continuum([low, up], ties=[Tie(("up", "bottom"), ("low", "top"))])
    >>> len(glued.constraints), float(abs(glued.constraint_residuals(0.0, glued.start.position)).max().round(12))
    (4, 0.0)
    """

    secondary: tuple[str, str]
    primary: tuple[str, str]
    method: TyingMethod = "mortar"
    dual: bool = False
    reach: float | None = None

    def __post_init__(self) -> None:
        if self.method not in ("mortar", "node-to-segment"):
            raise InvalidModel(f"method is {self.method!r}; allowed are mortar and node-to-segment.")
        self.interface()

    def interface(self) -> Interface:
        if self.method == "mortar":
            return Mortar(secondary=self.secondary, primary=self.primary, dual=self.dual, reach=self.reach)
        return NodeToSegment(secondary=self.secondary, primary=self.primary, reach=self.reach)

    def rows(self, bodies: Sequence[Body], offsets: dict[str, int], reference: np.ndarray) -> TiedNodes:
        for name, _ in (self.secondary, self.primary):
            named(bodies, name)
        interface = self.interface()
        search = _search(interface, interface.sides(bodies, offsets), reference)
        rows = _rows(search, reference)
        if rows.nnz == 0:
            raise InvalidModel(
                f"'{' '.join(self.secondary)}' and '{' '.join(self.primary)}' do not face each other; give a larger "
                f"reach."
            )
        tied = np.flatnonzero(np.diff(rows.indptr))
        return TiedNodes(search.surface, search.surface.nodes[tied], rows[tied])


@dataclass(frozen=True, eq=False)
class TiedNodes:
    """``nodes`` (k,) of a surface and their coefficients (k, n) over all nodes: rows · positions = 0."""

    surface: Surface
    nodes: np.ndarray
    coefficients: sparse.csr_array

    def names(self) -> tuple[str, ...]:
        return tuple(
            f"{self.surface} {node - self.surface.first} tied {axis}" for node in self.nodes for axis in "xy"
        )

    def directions(self) -> sparse.csc_array:
        """∂Φ/∂q (n d, k d)."""
        return sparse.csc_array(sparse.kron(self.coefficients, sparse.eye_array(2))).T.tocsc()


def fitted(
    mesh: Mesh,
    surface: str,
    *,
    onto: tuple[Mesh, str],
    method: TyingMethod = "mortar",
    dual: bool = False,
    tolerance: float = 1e-13,
) -> Mesh:
    """The mesh with the nodes of a surface moved so that tying it onto another mesh's surface holds exactly.

    ``tolerance``  of the constraints, in units of the extent of the mesh.                  Hesch 4.1.2, 4.2.3

    ``method`` and ``dual`` as of :class:`Tie`. The top of a block, lifted onto another one 0.1 m above it:

    >>> from klapper.continuum import block
    >>> low, up = block((1.0, 1.0), (2, 1)), block((1.0, 1.0), (3, 1), corner=(0.0, 1.1))
    >>> new = fitted(low, "top", onto=(up, "bottom"))
    >>> new.nodes[low.surface_nodes("top"), 1].round(9).tolist()
    [1.1, 1.1, 1.1]
    """
    tie = Tie(("mesh", surface), ("other", onto[1]), method=method, dual=dual)
    extent = float(np.ptp(mesh.nodes, axis=0).max())
    chosen = np.unique(mesh.surface(surface))
    groups = _apart(mesh.surface(surface), chosen)
    ends = mesh.nodes[mesh.surface(surface)[:, :2]]
    largest = _LARGEST * float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).min())
    with suppress(InvalidModel):  # a cell turned inside out on the way
        for _ in range(_ROUNDS):
            violation = _violation(tie, mesh, onto[0])
            if float(np.abs(violation).max(initial=0.0)) <= tolerance * extent:
                return mesh
            slope = _slope(tie, mesh, onto[0], chosen, groups, _DIFFERENCE * extent)
            step = _shortest(slope, -violation.ravel()).reshape(-1, 2)
            mesh = _shifted(mesh, chosen, step * min(1.0, largest / float(np.abs(step).max())))
    raise InvalidModel(
        f"the nodes of '{surface}' found no places that fit '{onto[1]}'; move the nodes of the coarser mesh instead, "
        f"or make the meshes finer."
    )


def _violation(tie: Tie, mesh: Mesh, other: Mesh) -> np.ndarray:
    """Φ (k, 2) [m] of the nodes of the surface; free nodes, which meet nothing, have none."""
    places = np.concatenate([mesh.nodes, other.nodes])
    sides = (
        Surface.of(mesh, "mesh", tie.secondary[1]),
        Surface.of(other, "other", tie.primary[1], len(mesh.nodes)),
    )
    return np.asarray(_rows(_search(tie.interface(), sides, places), places) @ places)


def _slope(
    tie: Tie, mesh: Mesh, other: Mesh, chosen: np.ndarray, groups: list[np.ndarray], spacing: float
) -> sparse.csr_array:
    """∂Φ/∂X (2 k, 2 k) by differences, nodes that share no neighbour at the same time."""
    count = len(chosen)
    rows, columns, values = [], [], []
    near = _neighbours(mesh.surface(tie.secondary[1]), chosen)
    for group in groups:
        pattern = near[:, group].tocoo()
        for axis in range(2):
            step = np.zeros((count, 2))
            step[group, axis] = spacing
            ahead = _violation(tie, _shifted(mesh, chosen, step), other)
            behind = _violation(tie, _shifted(mesh, chosen, -step), other)
            change = (ahead - behind) / (2.0 * spacing)
            for i in range(2):
                rows.append(2 * pattern.row + i)
                columns.append(2 * group[pattern.col] + axis)
                values.append(change[pattern.row, i])
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array((np.concatenate(values), where), shape=(2 * count, 2 * count)).tocsr()


def _shortest(matrix: sparse.csr_array, right: np.ndarray) -> np.ndarray:
    """The shortest x with A x = b: nodes need not move along the surface, where that changes nothing."""
    square = (matrix @ matrix.T).tocsc()
    size = float(square.diagonal().max())
    return matrix.T @ spsolve(square + _SINGULAR * size * sparse.eye_array(len(right), format="csc"), right)


def _shifted(mesh: Mesh, chosen: np.ndarray, step: np.ndarray) -> Mesh:
    nodes = mesh.nodes.copy()
    nodes[chosen] += step
    return replace(mesh, nodes=nodes)


def _neighbours(facets: np.ndarray, chosen: np.ndarray) -> sparse.csr_array:
    """(k, k): which nodes of a surface share a facet."""
    numbers = np.searchsorted(chosen, facets)
    rows = np.repeat(numbers, numbers.shape[1], axis=1).ravel()
    columns = np.tile(numbers, (1, numbers.shape[1])).ravel()
    found = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(chosen), len(chosen)))
    found.data[:] = 1.0
    return found


def _apart(facets: np.ndarray, chosen: np.ndarray) -> list[np.ndarray]:
    """Nodes in groups in which no two share a neighbour."""
    near = _neighbours(facets, chosen)
    conflict = (near @ near).tocsr()
    group = np.full(len(chosen), -1)
    for node in range(len(chosen)):
        taken = group[conflict.indices[conflict.indptr[node] : conflict.indptr[node + 1]]]
        group[node] = next(k for k in range(len(chosen)) if k not in taken)
    return [np.flatnonzero(group == k) for k in range(group.max() + 1)]


def _search(
    interface: Interface, sides: tuple[Surface, Surface], places: np.ndarray
) -> NodeSearch | MortarSearch:
    reach = interface.distance(sides, places)
    if isinstance(interface, Mortar):
        return MortarSearch(interface, *sides, reach, 1.0)
    return NodeSearch(interface, *sides, reach, 1.0)


def _rows(search: NodeSearch | MortarSearch, places: np.ndarray) -> sparse.csr_array:
    """Coefficients (k, n) of the constraints of all nodes of the surface, at positions (n, 2)."""
    if isinstance(search, MortarSearch):
        return _mortar_rows(search, places)
    node, segment = search.partners(places)
    ends = search.partner.segments[segment]
    x = places[search.surface.nodes[node]]
    share = projection(x, places[ends[:, 0]], places[ends[:, 1]])
    columns = np.column_stack([search.surface.nodes[node], ends])
    values = np.column_stack([np.ones(len(node)), share - 1.0, -share])
    shape = (len(search.surface.nodes), len(places))
    return sparse.csr_array((values.ravel(), (np.repeat(node, 3), columns.ravel())), shape=shape)


def _mortar_rows(search: MortarSearch, places: np.ndarray) -> sparse.csr_array:
    cut = search.segments(places)
    own, other = search.surface.facets[cut.facet], search.opposite[cut.partner]
    gap = search.gap(cut, places.size)
    assert isinstance(gap.functions, MortarGap)
    invariants = gap.invariants(places.ravel())
    length = np.linalg.norm(places[own[:, 1]] - places[own[:, 0]], axis=1)
    inner = slip_coefficients(gap.functions, invariants) * length[:, None, None]
    values = np.concatenate([-inner.sum(axis=2, keepdims=True), inner], axis=2)
    numbers = search.owners(cut)
    values = values / search.share[numbers][:, :, None]
    rows = np.broadcast_to(numbers[:, :, None], values.shape)
    columns = np.broadcast_to(np.concatenate([own, other], axis=1)[:, None, :], values.shape)
    return sparse.coo_array(
        (values.ravel(), (rows.ravel(), columns.ravel())), shape=(len(search.surface.nodes), len(places))
    ).tocsr()
