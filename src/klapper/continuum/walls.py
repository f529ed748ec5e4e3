"""Contact of the nodes of a surface with a rigid half-space, with friction.

g_A = n · (q_A − p) ≥ 0,   v_T = Tᵀ q̇_A − Tᵀ w
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.body import Body
from klapper.continuum.loads import named, node_numbers
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import Directions


@dataclass(frozen=True, eq=False)
class Wall:
    """A rigid half-space that nodes of a ``body`` may touch.

    ``nodes``        name of a surface, or node numbers
    ``point``        (d,) [m] on the wall; ``normal`` (d,), out of the wall, of any length
    ``friction``     coefficient μ; ``restitution`` ε of node impacts
    ``velocity``     (d,) [m/s] of the wall along itself, e.g. of a belt

    g_A = n · (q_A − p) ≥ 0 [m]. A floor 0.1 m below a bar:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], walls=[Wall("bar", "bottom", point=(0.0, -0.1), normal=(0.0, 1.0))])
    >>> world.gaps(0.0, world.start.position, np.arange(3)).round(9).tolist()
    [0.1, 0.1, 0.1]
    """

    body: str
    nodes: Any
    point: Any
    normal: Any
    friction: float = 0.0
    restitution: float = 0.0
    velocity: Any = 0.0


class WallContacts:
    """The table of all contacts with walls, and their geometry; contacts are numbered wall by wall, node by node.

    ``offsets`` is the number of the first node of each body.
    """

    def __init__(self, walls: Sequence[Wall], bodies: Sequence[Body], offsets: dict[str, int]) -> None:
        d = bodies[0].dimension
        self.tangential, self.constant = d - 1, True
        self._d = d
        nodes, labels, normals, heights, frictions, restitutions, belts = [], [], [], [], [], [], []
        for wall in walls:
            body = named(bodies, wall.body)
            chosen = node_numbers(body, wall.nodes)
            normal = finite(wall.normal, "normal", (d,))
            if not np.any(normal):
                raise InvalidModel(
                    f"the normal of the wall of '{wall.body}' is zero; give a direction out of it."
                )
            normal = normal / np.linalg.norm(normal)
            velocity = np.broadcast_to(finite(wall.velocity, "velocity"), d)
            nodes.append(chosen + offsets[wall.body])
            labels += [
                f"{wall.body} {node}" + (f" wall {len(nodes)}" if len(walls) > 1 else "") for node in chosen
            ]
            normals.append(np.tile(normal, (len(chosen), 1)))
            heights.append(np.full(len(chosen), normal @ finite(wall.point, "point", (d,))))
            belts.append(np.tile(velocity - (velocity @ normal) * normal, (len(chosen), 1)))
            mu = number(wall.friction, "friction", "numbers from 0 on", at_least=0.0)
            epsilon = number(
                wall.restitution, "restitution", "numbers from 0 to 1", at_least=0.0, at_most=1.0
            )
            frictions.append(np.full(len(chosen), mu))
            restitutions.append(np.full(len(chosen), epsilon))
        self._names = tuple(labels)
        self.nodes = np.concatenate([np.zeros(0, dtype=int), *nodes])
        self.normal = np.concatenate([np.zeros((0, d)), *normals])
        self.height = np.concatenate([np.zeros(0), *heights])
        self._friction = np.concatenate([np.zeros(0), *frictions])
        self._restitution = np.concatenate([np.zeros(0), *restitutions])
        self.tangents = _tangents(self.normal)
        self.belt = -np.einsum("cdi,ci->cd", self.tangents, np.concatenate([np.zeros((0, d)), *belts]))
        if not self._friction.any():
            self.tangential = 0

    @property
    def count(self) -> int:
        return len(self._names)

    def name(self, contact: int) -> str:
        return self._names[contact]

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> ContactLaws:
        k = len(which)
        return ContactLaws(
            np.ones(k, dtype=bool), self._restitution[which], self._friction[which], np.zeros(k), np.ones(k)
        )

    def gaps(self, position: np.ndarray, which: np.ndarray) -> np.ndarray:
        """(k,) [m] at node positions (n, d)."""
        return np.einsum("ci,ci->c", self.normal[which], position[self.nodes[which]]) - self.height[which]

    def directions(self, size: int, which: np.ndarray) -> Directions:
        """Directions over ``size`` coordinates."""
        k, d, t = len(which), self._d, self.tangential
        rows = self.nodes[which][:, None] * d + np.arange(d)
        normal = sparse.csc_array(
            (self.normal[which].ravel(), rows.ravel(), np.arange(k + 1) * d), shape=(size, k)
        )
        tangents = self.tangents[which, :t]
        tangential = sparse.csc_array(
            (tangents.ravel(), np.repeat(rows, t, axis=0).ravel(), np.arange(k * t + 1) * d),
            shape=(size, k * t),
        )
        return Directions(normal, np.zeros(k), tangential, self.belt[which, :t].ravel())


def _tangents(normal: np.ndarray) -> np.ndarray:
    """(c, d − 1, d): directions along walls with unit normals (c, d)."""
    if normal.shape[1] == 2:
        return np.stack([normal[:, 1], -normal[:, 0]], axis=1)[:, None, :]
    aside = np.eye(3)[np.argmin(np.abs(normal), axis=1)] if len(normal) else np.zeros((0, 3))
    first = np.cross(aside, normal)
    first /= np.linalg.norm(first, axis=1, keepdims=True) if len(first) else 1.0
    return np.stack([first, np.cross(normal, first)], axis=1)
