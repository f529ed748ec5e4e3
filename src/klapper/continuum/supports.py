"""Supports: nodes that are held or moved, for all time or until they are let go.

Φ_Ai = q_Ai − X_Ai − u_i(t) = 0   while t < until
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.continuum.body import Body
from klapper.continuum.loads import node_numbers
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import Signal, as_signal


@dataclass(frozen=True, eq=False)
class Support:
    """Nodes of a ``body`` that are held.

    ``nodes``         name of a surface, or node numbers
    ``directions``    which directions are held, counted from 0; None: all
    ``displacement``  u (d,) [m] of the nodes from their reference positions, a number, a vector or a signal
    ``until``         time [s] at which they are let go

    Φ = q − X − u(t) = 0 [m], one constraint per node and direction. The left end on rollers:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), NeoHooke(100.0, 0.3), density=3.0)
    >>> world = Continuum([bar], supports=[Support("bar", "left", directions=[0])])
    >>> world.constraints, world.constraint_residuals(0.0, world.start.position).tolist()
    (('bar 0 x', 'bar 3 x'), [0.0, 0.0])
    """

    body: str
    nodes: Any
    directions: Sequence[int] | None = None
    displacement: Any = 0.0
    until: float = np.inf

    def __post_init__(self) -> None:
        if self.until != np.inf:
            number(self.until, "until", "times, in s")

    def held(self, body: Body) -> HeldNodes:
        d = body.dimension
        directions = np.arange(d) if self.directions is None else np.asarray(self.directions)
        if directions.dtype.kind not in "iu" or not np.all((directions >= 0) & (directions < d)):
            raise InvalidModel(
                f"directions of the support of '{self.body}' are {self.directions!r}; allowed are 0 to {d - 1}."
            )
        moved = as_signal(self.displacement, "displacement")
        if moved.shape not in ((), (d,)):
            raise InvalidModel(f"displacement has shape {moved.shape}; expected one number or ({d},).")
        nodes = node_numbers(body, self.nodes)
        return HeldNodes(
            self.body, np.repeat(nodes, len(directions)), np.tile(directions, len(nodes)), moved, self.until
        )


@dataclass(frozen=True, eq=False)
class HeldNodes:
    """Nodes (p,) and directions (p,) that are held, and how they move."""

    body: str
    nodes: np.ndarray
    directions: np.ndarray
    moved: Signal
    until: float

    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.body} {n} {'xyz'[i]}" for n, i in zip(self.nodes, self.directions, strict=True))

    def displacement(self, t: float, *, rate: bool = False) -> np.ndarray:
        """u (p,) [m], or its rate [m/s]."""
        value = self.moved.rate(t) if rate else self.moved.value(t)
        return np.broadcast_to(
            value, (self.directions.max(initial=0) + 1,) if value.ndim == 0 else value.shape
        )[self.directions]
