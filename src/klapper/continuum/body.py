"""What a continuum asks of a body: forces, stiffness and mass of its elements over the positions of its nodes.

    f = ∂V/∂q,   between two configurations  f̄ · (q₁ − q₀) = V(q₁) − V(q₀)

Solids and cables are bodies; whoever writes another kind keeps this contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from klapper.continuum.elements import Element
from klapper.mechanics.picture import Part


class Pull(NamedTuple):
    """Element vectors (e, k d) [N] and element matrices (e, k d, k d) [N/m] or None."""

    force: np.ndarray
    stiffness: np.ndarray | None


class BodyMesh(Protocol):
    """Nodes (n, d) [m], cells (e, k), and named surfaces whose facets (f, kf) have the body to their left."""

    @property
    def nodes(self) -> np.ndarray: ...

    @property
    def cells(self) -> np.ndarray: ...

    @property
    def surfaces(self) -> Mapping[str, np.ndarray]: ...

    @property
    def dimension(self) -> int: ...

    @property
    def facet(self) -> Element:
        """The element on the facets."""
        ...

    def surface(self, name: str) -> np.ndarray: ...

    def surface_nodes(self, name: str) -> np.ndarray: ...


class Body(ABC):
    """A body with a mesh; positions of its nodes are (n, d) [m].

    ``name``       differs from body to body
    ``density``    ρ₀ [kg/m³]
    ``thickness``  [m], width of the surfaces of a body in the plane

    The shipped ones are ``Solid`` and ``Cable``:

    >>> from klapper.continuum import Cable, polyline
    >>> rope = Cable("rope", polyline([(0, 0), (2, 0)]), young=1000.0, area=0.1, density=1.0)
    >>> isinstance(rope, Body), rope.dimension, rope.energy(rope.mesh.nodes), rope.places.tolist()
    (True, 2, 0.0, [[0, 1, 2, 3]])
    """

    name: str
    mesh: BodyMesh
    density: float
    thickness: float

    @property
    def dimension(self) -> int:
        return self.mesh.dimension

    @cached_property
    def places(self) -> np.ndarray:
        """Coordinates (e, k d) of each cell, node by node, within the body."""
        d = self.dimension
        return (self.mesh.cells[:, :, None] * d + np.arange(d)).reshape(len(self.mesh.cells), -1)

    @abstractmethod
    def energy(self, position: np.ndarray) -> float:
        """V [J]."""

    @abstractmethod
    def least_volume(self, position: np.ndarray) -> float:
        """Smallest ratio of deformed to undeformed volume; what is not above zero is turned inside out."""

    @abstractmethod
    def pull(self, position: np.ndarray, *, stiffness: bool = False) -> Pull:
        """∂V/∂q of every cell, and ∂²V/∂q² on request."""

    @abstractmethod
    def pull_between(self, before: np.ndarray, after: np.ndarray, *, stiffness: bool = False) -> Pull:
        """A mean of ∂V/∂q that does exactly the work V(after) − V(before), and its derivative by ``after``."""

    def pull_at_mean(self, before: np.ndarray, after: np.ndarray, *, stiffness: bool = False) -> Pull:
        """∂V/∂q at the mean of two configurations (midpoint rule), and its derivative by the second one."""
        found = self.pull(0.5 * (before + after), stiffness=stiffness)
        return found if found.stiffness is None else Pull(found.force, 0.5 * found.stiffness)

    @abstractmethod
    def mass(self, *, lumped: bool = False) -> np.ndarray:
        """Element matrices (e, k d, k d) [kg]; ``lumped``: diagonal ones of the same total."""

    @abstractmethod
    def volume_load(self) -> np.ndarray:
        """∫ N_A dV (n,) [m³]: a force density (d,) times it is the load on each node."""

    def part(self, first: int) -> Part:
        """What is seen of the body, whose coordinates begin with the number ``first``: the lines of its cells."""
        return Part(self.name, "line", self.mesh.nodes, self.mesh.cells[:, :2], first=first)
