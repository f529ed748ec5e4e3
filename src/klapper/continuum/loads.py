"""Loads on bodies: dead ones, which have a direction of their own, and ones that follow the surface.

    dead        f_A = ∫ N_A t dA₀,  f_A = ∫ N_A ρ₀ g dV₀                                   Hesch (2.130)
    pressure    f_A = −p ∫ N_A n da, on the deformed surface; linear in the positions in the plane
    torque      f_A = M Λᵀ r_A / Σ r_B², r_A from the middle of the nodes: no resultant force, moment M

Every load is a number, a vector or a signal of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from klapper.continuum.body import Body
from klapper.continuum.elements import Element
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import Signal, as_signal


class Following(NamedTuple):
    """Forces (e, s) [N] of a load of size one on its places, and their derivative (e, s, s) [N/m]."""

    force: np.ndarray
    slope: np.ndarray


class DeadLoad(Protocol):
    """A load whose direction does not change: vectors over time and the shares (n,) of nodes in them, by body."""

    follows: ClassVar[Literal[False]]

    def dead(self, bodies: Sequence[Body]) -> dict[str, tuple[Signal, np.ndarray]]: ...


@dataclass(frozen=True, eq=False)
class Gravity:
    """Weight of all bodies under the ``acceleration`` g (d,) [m/s²], e.g. (0, −9.81).

    f_A = ∫ N_A ρ₀ g dV₀. A bar of 2 m² with 3 kg/m² weighs 60 N:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], loads=[Gravity((0.0, -10.0))])
    >>> world.force(0.0, world.start.position, world.start.velocity).reshape(-1, 2).sum(axis=0).round(9).tolist()
    [0.0, -60.0]
    """

    acceleration: Any
    follows: ClassVar[Literal[False]] = False

    def dead(self, bodies: Sequence[Body]) -> dict[str, tuple[Signal, np.ndarray]]:
        signal = _vector(self.acceleration, bodies[0].dimension, "gravity")
        return {body.name: (signal, body.density * body.volume_load()) for body in bodies}


@dataclass(frozen=True, eq=False)
class Traction:
    """A dead load per area of the undeformed ``surface`` of a ``body``: ``traction`` t (d,) [N/m²].

    f_A = ∫ N_A t dA₀, for a body in the plane over surface length times thickness. 5 N/m² on an end of 1 m²:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], loads=[Traction("bar", "right", (5.0, 0.0))])
    >>> world.force(0.0, world.start.position, world.start.velocity).reshape(-1, 2).sum(axis=0).round(9).tolist()
    [5.0, 0.0]
    """

    body: str
    surface: str
    traction: Any
    follows: ClassVar[Literal[False]] = False

    def dead(self, bodies: Sequence[Body]) -> dict[str, tuple[Signal, np.ndarray]]:
        body = named(bodies, self.body)
        return {
            self.body: (
                _vector(self.traction, body.dimension, "traction"),
                surface_load(body, self.surface),
            )
        }


@dataclass(frozen=True, eq=False)
class NodeForce:
    """A dead force (d,) [N] on each of the nodes of a ``body`` with these ``nodes`` numbers.

    ``nodes`` may also be the name of a surface; then each of its nodes is pushed. Two nodes of an end, 5 N each:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], loads=[NodeForce("bar", "right", (5.0, 0.0))])
    >>> world.force(0.0, world.start.position, world.start.velocity).reshape(-1, 2).sum(axis=0).round(9).tolist()
    [10.0, 0.0]
    """

    body: str
    nodes: Any
    force: Any
    follows: ClassVar[Literal[False]] = False

    def dead(self, bodies: Sequence[Body]) -> dict[str, tuple[Signal, np.ndarray]]:
        body = named(bodies, self.body)
        share = np.zeros(len(body.mesh.nodes))
        share[node_numbers(body, self.nodes)] = 1.0
        return {self.body: (_vector(self.force, body.dimension, "force"), share)}


class FollowingLoad(Protocol):
    """A load whose direction follows the motion: its size over time, and what it does when its size is one."""

    follows: ClassVar[Literal[True]]

    @property
    def body(self) -> str: ...

    @property
    def size(self) -> Signal: ...

    def places(self, body: Body) -> np.ndarray:
        """Coordinates (e, s) of the body on which it acts."""
        ...

    def following(self, body: Body, position: np.ndarray) -> Following: ...


@dataclass(frozen=True, eq=False)
class Pressure:
    """``pressure`` [N/m²] against the deformed ``surface`` of a ``body``, positive inwards.

    f_A = −p ∫ N_A n da. 5 N/m² on a top of 2 m²:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], loads=[Pressure("bar", "top", 5.0)])
    >>> world.force(0.0, world.start.position, world.start.velocity).reshape(-1, 2).sum(axis=0).round(9).tolist()
    [0.0, -10.0]
    """

    body: str
    surface: str
    pressure: Any
    follows: ClassVar[Literal[True]] = True

    @property
    def size(self) -> Signal:
        return _scalar(self.pressure, "pressure")

    def places(self, body: Body) -> np.ndarray:
        return facet_places(body, self.surface)

    def following(self, body: Body, position: np.ndarray) -> Following:
        facets = body.mesh.surface(self.surface)
        return _pressed(body.mesh.facet, position[facets], body.thickness if body.dimension == 2 else 1.0)


@dataclass(frozen=True, eq=False)
class Torque:
    """A ``moment`` [N m] that turns the nodes on a ``surface`` of a ``body`` in the 1-2 plane, anticlockwise.

    f_A = M Λᵀ r_A/Σ r_B². On the two nodes of an end of 1 m it is a pair of forces of 6 N:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], loads=[Torque("bar", "right", 6.0)])
    >>> force = world.force(0.0, world.start.position, world.start.velocity).reshape(-1, 2)
    >>> force[bar.mesh.surface_nodes("right")].round(9).tolist()
    [[6.0, 0.0], [-6.0, 0.0]]
    """

    body: str
    surface: str
    moment: Any
    follows: ClassVar[Literal[True]] = True

    @property
    def size(self) -> Signal:
        return _scalar(self.moment, "moment")

    def places(self, body: Body) -> np.ndarray:
        nodes = body.mesh.surface_nodes(self.surface)
        return (nodes[:, None] * body.dimension + np.arange(2)).reshape(1, -1)

    def following(self, body: Body, position: np.ndarray) -> Following:
        nodes = body.mesh.surface_nodes(self.surface)
        count = len(nodes)
        arm = position[nodes, :2] - position[nodes, :2].mean(axis=0)
        square = float(np.sum(arm**2))
        turned = np.column_stack([-arm[:, 1], arm[:, 0]]).ravel()
        centred = np.kron(np.eye(count) - 1.0 / count, np.array([[0.0, -1.0], [1.0, 0.0]]))
        slope = centred / square - np.outer(turned, 2.0 * arm.ravel()) / square**2
        return Following(turned[None] / square, slope[None])


def surface_load(body: Body, surface: str) -> np.ndarray:
    """∫ N_A dA₀ (n,) [m²] over an undeformed surface."""
    facets, element = body.mesh.surface(surface), body.mesh.facet
    points, weights = element.mass
    along = np.einsum("fki,gka->fgia", body.mesh.nodes[facets], element.gradients(points))
    area = np.sqrt(np.linalg.det(np.einsum("fgia,fgib->fgab", along, along)))
    share = np.einsum("fg,ga->fa", area * weights, element.values(points))
    if body.dimension == 2:
        share = share * body.thickness
    return np.bincount(facets.ravel(), share.ravel(), minlength=len(body.mesh.nodes))


def facet_places(body: Body, surface: str) -> np.ndarray:
    """Coordinates (f, kf d) of the facets of a surface, within the body."""
    facets, d = body.mesh.surface(surface), body.dimension
    return (facets[:, :, None] * d + np.arange(d)).reshape(len(facets), -1)


def named(bodies: Sequence[Body], name: str) -> Body:
    """The body of a name."""
    for body in bodies:
        if body.name == name:
            return body
    raise InvalidModel(f"there is no body '{name}'; there are {', '.join(body.name for body in bodies)}.")


def node_numbers(body: Body, given: Any) -> np.ndarray:
    """Node numbers: of a surface by its name, or numbers themselves."""
    if isinstance(given, str):
        return body.mesh.surface_nodes(given)
    nodes = np.atleast_1d(np.asarray(given))
    if nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= len(body.mesh.nodes):
        raise InvalidModel(
            f"nodes of '{body.name}' are {given!r}; allowed are the name of a surface, or numbers from 0 to "
            f"{len(body.mesh.nodes) - 1}."
        )
    return nodes


def _pressed(element: Element, corners: np.ndarray, thickness: float) -> Following:
    """−∫ N_A n da and its derivative by the corners (f, kf, d)."""
    points, weights = element.mass
    values, slopes = element.values(points), element.gradients(points)
    count, size, d = corners.shape
    if d == 2:
        turn = np.array([[0.0, -1.0], [1.0, 0.0]])  # −n ds = turn · dx, with the body to the left
        shape = thickness * np.einsum("g,ga,gb->ab", weights, values, slopes[:, :, 0])
        matrix = np.kron(shape, turn)
        force = corners.reshape(count, -1) @ matrix.T
        return Following(force, np.broadcast_to(matrix, (count, *matrix.shape)))
    along = np.einsum("fki,gka->fgia", corners, slopes)
    normal = np.cross(along[..., 0], along[..., 1])
    force = -np.einsum("g,ga,fgi->fai", weights, values, normal)
    unit = np.eye(3)
    skew = np.array([[np.cross(unit[j], unit[k]) for k in range(3)] for j in range(3)])  # (j, k, i)
    first = np.einsum("g,ga,gb,jki,fgk->faibj", weights, values, slopes[:, :, 0], skew, along[..., 1])
    second = np.einsum("g,ga,gb,kji,fgk->faibj", weights, values, slopes[:, :, 1], skew, along[..., 0])
    slope = -(first + second).reshape(count, size * d, size * d)
    return Following(force.reshape(count, -1), slope)


def _vector(given: Any, dimension: int, name: str) -> Signal:
    signal = as_signal(given, name)
    if signal.shape != (dimension,):
        raise InvalidModel(
            f"{name} has shape {signal.shape}; expected ({dimension},), or a signal of that shape."
        )
    return signal


def _scalar(given: Any, name: str) -> Signal:
    signal = as_signal(given, name)
    if signal.shape != ():
        raise InvalidModel(f"{name} has shape {signal.shape}; expected one number, or a signal of one.")
    return signal
