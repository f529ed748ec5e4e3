"""All loads on the bodies of a continuum, as forces on its coordinates.

    f(t, q) = Σ dead loads g(t) + Σ p(t) b(q)

Dead loads do not depend on the positions, and where they are constant they have a potential; those that follow the
motion have a size p(t) and a slope ∂b/∂q, at places of their own in the sparsity of the stiffness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.body import Body
from klapper.continuum.loads import DeadLoad, Following, FollowingLoad, named


class LoadAt(NamedTuple):
    """Forces (n,) [N] of all loads, and their derivative (n, n) [N/m] by the positions, None if all are dead."""

    force: np.ndarray
    slope: Any


class AppliedLoads:
    """The ``loads`` on ``bodies`` whose first nodes are ``offsets``; constant dead ones as they are at ``time`` [s]."""

    def __init__(
        self,
        loads: Sequence[DeadLoad | FollowingLoad],
        bodies: Sequence[Body],
        offsets: Mapping[str, int],
        time: float,
    ) -> None:
        self._bodies, self._offsets, self._time = bodies, offsets, time
        self.dimension = bodies[0].dimension
        self.size = self.dimension * sum(len(body.mesh.nodes) for body in bodies)
        spread = [load.dead(bodies) for load in loads if not load.follows]
        parts = [(signal, share, offsets[body]) for each in spread for body, (signal, share) in each.items()]
        self._constant = [part for part in parts if part[0].constant]
        self._varying = [part for part in parts if not part[0].constant]
        self._following = [load for load in loads if load.follows]
        self.places = [
            load.places(named(bodies, load.body)) + self.dimension * offsets[load.body]
            for load in self._following
        ]

    @cached_property
    def steady(self) -> np.ndarray:
        """The constant dead loads (n,) [N], which have a potential."""
        return self._spread([(signal.value(self._time), *rest) for signal, *rest in self._constant])

    def force(self, t: float, q: np.ndarray) -> np.ndarray:
        """f (n,) [N]."""
        total = self.steady + self._spread([(signal.value(t), *rest) for signal, *rest in self._varying])
        for load, places in zip(self._following, self.places, strict=True):
            np.add.at(total, places.ravel(), float(load.size.value(t)) * self._of(load, q).force.ravel())
        return total

    def rate(self, t: float, q: np.ndarray) -> np.ndarray | None:
        """∂f/∂t (n,) [N/s], None where nothing changes."""
        if not self._varying and all(load.size.constant for load in self._following):
            return None
        total = self._spread([(signal.rate(t), *rest) for signal, *rest in self._varying])
        for load, places in zip(self._following, self.places, strict=True):
            np.add.at(total, places.ravel(), float(load.size.rate(t)) * self._of(load, q).force.ravel())
        return total

    def slopes(self, t: float, q: np.ndarray) -> list[np.ndarray]:
        """∂f/∂q [N/m] of each load that follows, (e, s, s) at its places (e, s)."""
        return [float(load.size.value(t)) * self._of(load, q).slope for load in self._following]

    def no_slopes(self) -> list[np.ndarray]:
        """The same of nothing: their entries in a matrix that loads have no part in."""
        return [np.zeros((*places.shape, places.shape[1])) for places in self.places]

    def no_forces(self) -> list[np.ndarray]:
        """Nothing (e, s) at the places of each load that follows."""
        return [np.zeros(places.shape) for places in self.places]

    def at(self, t: float, q: np.ndarray) -> LoadAt:
        """All loads at a time [s] and a configuration."""
        if not self._following:
            return LoadAt(self.force(t, q), None)
        rows = [np.repeat(places, places.shape[1], axis=1).ravel() for places in self.places]
        columns = [np.tile(places, (1, places.shape[1])).ravel() for places in self.places]
        values = np.concatenate([np.ravel(slope) for slope in self.slopes(t, q)])
        where = (np.concatenate(rows), np.concatenate(columns))
        return LoadAt(self.force(t, q), sparse.csr_array((values, where), shape=(self.size, self.size)))

    def _of(self, load: FollowingLoad, q: np.ndarray) -> Following:
        body = named(self._bodies, load.body)
        begin = self._offsets[load.body] * self.dimension
        return load.following(body, q[begin : begin + body.mesh.nodes.size].reshape(-1, self.dimension))

    def _spread(self, parts: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Vectors (d,) over the nodes, each by its shares from its first node on."""
        total = np.zeros((self.size // self.dimension, self.dimension))
        for vector, share, begin in parts:
            total[begin : begin + len(share)] += share[:, None] * vector
        return total.ravel()
