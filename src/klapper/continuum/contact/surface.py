"""The surface of a body as contact sees it: facets, straight segments, neighbours, and what each node stands for.

Nodes are numbered through all bodies of a system. Facets run with their body to the left, so that Λ (y₂ − y₁) points
out of it. A quadratic facet counts as two straight segments where nodes meet segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.continuum.body import BodyMesh
from klapper.continuum.contact.invariants import TURN
from klapper.continuum.elements import Element
from klapper.mechanics.errors import InvalidModel


@dataclass(frozen=True, eq=False)
class Surface:
    """Facets (f, kf) of a ``body`` over all nodes of a system.

    ``first``  number of the first node of the body
    ``parts``  (f, kf) [m] ∫ N_A ds of every facet in the reference configuration
    """

    body: str
    name: str
    facets: np.ndarray
    element: Element
    parts: np.ndarray
    first: int = 0

    @classmethod
    def of(cls, mesh: BodyMesh, body: str, name: str, first: int = 0) -> Surface:
        """A named surface of a body whose nodes begin with number ``first``."""
        if mesh.dimension != 2:
            raise InvalidModel(f"'{body}' lies in space; contact between bodies is for bodies in the plane.")
        facets, element = mesh.surface(name), mesh.facet
        points, weights = element.mass
        along = np.einsum("fki,gk->fgi", mesh.nodes[facets], element.gradients(points)[:, :, 0])
        parts = (np.linalg.norm(along, axis=2) * weights) @ element.values(points)
        return cls(body, name, facets + first, element, parts, first)

    def __str__(self) -> str:
        return f"{self.body} {self.name}"

    @cached_property
    def nodes(self) -> np.ndarray:
        """(n,) rising."""
        return np.unique(self.facets)

    @cached_property
    def share(self) -> np.ndarray:
        """(n,) [m] ∫ N_A ds of each of its nodes in the reference configuration."""
        return self.summed(self.parts)

    def summed(self, parts: np.ndarray) -> np.ndarray:
        """(n,): what the facets (f, k) give to their first k nodes."""
        numbers = self.number(self.facets[:, : parts.shape[1]])
        return np.bincount(numbers.ravel(), parts.ravel(), minlength=len(self.nodes))

    @cached_property
    def segments(self) -> np.ndarray:
        """(p, 2) straight pieces, in the running direction."""
        if self.facets.shape[1] == 2:
            return self.facets
        start, end, middle = self.facets.T
        return np.stack([np.stack([start, middle], axis=1), np.stack([middle, end], axis=1)], axis=1).reshape(
            -1, 2
        )

    @cached_property
    def after(self) -> np.ndarray:
        """(p,) the segment that begins where this one ends, −1 at an open end."""
        return _joined(self.segments[:, 1], self.segments[:, 0])

    @cached_property
    def before(self) -> np.ndarray:
        """(p,) the segment that ends where this one begins, −1 at an open end."""
        return _joined(self.segments[:, 0], self.segments[:, 1])

    def number(self, nodes: np.ndarray) -> np.ndarray:
        """Position of nodes among ``nodes``."""
        return np.searchsorted(self.nodes, nodes)

    def normals(self, position: np.ndarray) -> np.ndarray:
        """(n, 2): unit directions out of the body at the nodes, means of the segments around them."""
        first, second = position[self.segments[:, 0]], position[self.segments[:, 1]]
        out = (second - first) @ TURN.T
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        total = np.zeros((len(self.nodes), 2))
        for end in range(2):
            np.add.at(total, self.number(self.segments[:, end]), out)
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)


def _joined(ends: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """For each end (p,) the number of the piece that begins with it, or −1."""
    order = np.argsort(begins, kind="stable")
    place = np.searchsorted(begins[order], ends)
    found = order[np.minimum(place, len(order) - 1)]
    return np.where(begins[found] == ends, found, -1)
