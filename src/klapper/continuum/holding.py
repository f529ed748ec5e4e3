"""Supports and ties of a continuum as two-sided constraints, all linear in the positions.

Φ = q_A − X_A − u(t) = 0  held nodes, until they are let go,      Φ = Σ c_B q_B = 0  tied ones
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.body import Body
from klapper.continuum.contact.tying import Tie, TiedNodes
from klapper.continuum.loads import named
from klapper.continuum.supports import HeldNodes, Support
from klapper.mechanics.errors import InvalidModel


class Holding:
    """``supports`` and ``ties`` of ``bodies`` whose first nodes are ``offsets``; ``reference`` X (n,) [m] of all."""

    def __init__(
        self,
        supports: Sequence[Support],
        ties: Sequence[Tie],
        bodies: Sequence[Body],
        offsets: dict[str, int],
        reference: np.ndarray,
    ) -> None:
        self.dimension, self._reference = bodies[0].dimension, reference
        self._held: list[HeldNodes] = [each.held(named(bodies, each.body)) for each in supports]
        self._tied: list[TiedNodes] = [
            each.rows(bodies, offsets, reference.reshape(-1, self.dimension)) for each in ties
        ]
        self._places = [
            (held.nodes + offsets[held.body]) * self.dimension + held.directions for held in self._held
        ]
        named_parts = [part.names() for part in self._held] + [part.names() for part in self._tied]
        self.names = tuple(name for names in named_parts for name in names)
        if len(set(self.names)) < len(self.names):
            raise InvalidModel(
                "two supports or ties hold the same node in the same direction; leave one of them out."
            )

    def residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        """Φ (p,) [m]."""
        parts = [np.zeros(0)]
        for held, at in zip(self._held, self._places, strict=True):
            violation = q[at] - self._reference[at] - held.displacement(t)
            parts.append(violation if t < held.until else np.zeros(len(at)))
        parts += [(tied.coefficients @ q.reshape(-1, self.dimension)).ravel() for tied in self._tied]
        return np.concatenate(parts)

    def directions(self, t: float) -> tuple[sparse.csc_array, np.ndarray]:
        """J_B (n, p) and a_B (p,) [m/s]; columns of nodes that were let go are zero."""
        places = np.concatenate([np.zeros(0, dtype=int), *self._places])
        value = np.concatenate(
            [np.zeros(0), *(np.full(len(h.nodes), float(t < h.until)) for h in self._held)]
        )
        rate = [np.zeros(0), *(-h.displacement(t, rate=True) * (t < h.until) for h in self._held)]
        count = len(places)
        columns = sparse.csc_array((value, places, np.arange(count + 1)), shape=(len(self._reference), count))
        if not self._tied:
            return columns, np.concatenate(rate)
        tied = [part.directions() for part in self._tied]
        rate.append(np.zeros(sum(part.shape[1] for part in tied)))
        return sparse.hstack([columns, *tied], format="csc"), np.concatenate(rate)

    def curvature(self, t: float) -> np.ndarray:
        """b_B (p,) [m/s²]: the given accelerations."""
        parts = [np.zeros(0)]
        for held in self._held:
            moved = np.broadcast_to(held.moved.acceleration(t), (self.dimension,))[held.directions]
            parts.append(-moved * (t < held.until))
        parts.append(np.zeros(sum(len(tied.names()) for tied in self._tied)))
        return np.concatenate(parts)
