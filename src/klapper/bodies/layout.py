"""Where the bodies' coordinates live, and how forces on bodies become generalised forces.

Planar and spatial models share one description: every body has a centre (3,), a rotation R (3, 3) and a twist
(ẋ, ω) (6,) with ω in body axes. A coordinate that a body does not have (the third position in the plane, the rotation
of a particle, all of the ground's) is stored in one extra place behind the last, which is never handed out.

A unit force d at a world point p of a body has the generalised direction (d, Rᵀ((p − x) × d)); the velocity of that
point along d is the same six numbers times the twist.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from klapper.bodies import rotations

_SPARSE_MATRIX = 30  # velocities above which square matrices are sparse
_SPARSE_COLUMNS = 60  # velocities above which directions are sparse


class Poses(NamedTuple):
    """``centre`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3), the ground last; ``turn`` (nb + 1,) [rad] in the plane,
    quaternions (nb + 1, 4) in space."""

    centre: np.ndarray
    rotation: np.ndarray
    turn: np.ndarray

    def place(self, body: np.ndarray, place: np.ndarray) -> np.ndarray:
        """World points (k, 3) of places (k, 3) in the axes of the bodies (k,)."""
        return self.centre[body] + rotations.turn(self.rotation[body], place)


class Wrenches(NamedTuple):
    """Generalised directions of k pairs of bodies: ``entries`` (k, 2, 6) for the ``bodies`` (k, 2)."""

    bodies: np.ndarray
    entries: np.ndarray


class Layout:
    """The coordinates of nb bodies; body −1 is the ground.

    ``rotates`` (nb,) says which bodies turn.
    """

    def __init__(self, dimension: int, rotates: np.ndarray) -> None:
        self.dimension = dimension
        self.rotates = np.append(rotates, False)
        turns, spins = (1, 1) if dimension == 2 else (4, 3)
        count = len(rotates)
        starts = np.cumsum(np.concatenate(([0], dimension + turns * rotates)))
        rows = np.cumsum(np.concatenate(([0], dimension + spins * rotates)))
        self.position_count, self.velocity_count = int(starts[-1]), int(rows[-1])

        self._place = np.full((count + 1, 3), self.position_count)
        self._place[:count, :dimension] = starts[:-1, None] + np.arange(dimension)
        self.rows = np.full((count + 1, 6), self.velocity_count)
        self.rows[:count, :dimension] = rows[:-1, None] + np.arange(dimension)
        self.turning = np.flatnonzero(rotates)
        first = rows[self.turning] + dimension
        self.rows[self.turning, 6 - spins :] = first[:, None] + np.arange(spins)
        self._turn = starts[self.turning, None] + dimension + np.arange(turns)

    def centres(self, q: np.ndarray) -> np.ndarray:
        """Centres (nb + 1, 3) of the bodies and the ground."""
        return np.append(q, 0.0)[self._place]

    def poses(self, q: np.ndarray) -> Poses:
        centre = self.centres(q)
        rotation = np.zeros((len(centre), 3, 3))
        rotation[:, [0, 1, 2], [0, 1, 2]] = 1.0
        if self.dimension == 2:
            turn = np.zeros(len(centre))
            turn[self.turning] = q[self._turn[:, 0]]
            rotation[self.turning] = rotations.planar_matrices(turn[self.turning])
        else:
            turn = np.zeros((len(centre), 4))
            turn[:, 0] = 1.0
            turn[self.turning] = q[self._turn]
            rotation[self.turning] = rotations.matrices(turn[self.turning])
        return Poses(centre, rotation, turn)

    def twists(self, v: np.ndarray) -> np.ndarray:
        """(ẋ, ω) (nb + 1, 6) of every body, zero for the ground."""
        return np.append(v, 0.0)[self.rows]

    def motions(self, poses: Poses, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ẋ and the angular velocities (nb + 1, 3) of every body in world axes, zero for the ground."""
        twist = self.twists(v)
        return twist[:, :3], rotations.turn(poses.rotation, twist[:, 3:])

    def advance(self, q: np.ndarray, displacement: np.ndarray) -> np.ndarray:
        """The position after a displacement (nv,): centres move along, quaternions by the exponential map."""
        if self.dimension == 2:
            return q + displacement
        moved = self.twists(displacement)
        after = np.append(q, 0.0)
        after[self._place] += moved[:, :3]
        if len(self.turning):
            step = rotations.exponential(moved[self.turning, 3:])
            after[self._turn] = rotations.normalised(rotations.product(q[self._turn], step))
        return after[:-1]

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """q' (nq,)."""
        if self.dimension == 2:
            return v
        twist = self.twists(v)
        change = np.zeros(self.position_count + 1)
        change[self._place] = twist[:, :3]
        if len(self.turning):
            spin = np.zeros((len(self.turning), 4))
            spin[:, 1:] = twist[self.turning, 3:]
            change[self._turn] = 0.5 * rotations.product(q[self._turn], spin)
        return change[:-1]

    def join(
        self,
        poses: Poses,
        bodies: np.ndarray,
        force: np.ndarray,
        moment: np.ndarray,
        other_moment: np.ndarray,
    ) -> Wrenches:
        """Directions of a force (k, 3) on the first of two ``bodies`` (k, 2), and its opposite on the second.

        ``moment`` about the first body's centre, ``other_moment`` (of the same sign) about the second's, (k, 3) each,
        all in world axes.
        """
        entries = np.empty((len(bodies), 2, 6))
        entries[:, 0, :3], entries[:, 1, :3] = force, -force
        entries[:, 0, 3:] = rotations.turn_back(poses.rotation[bodies[:, 0]], moment)
        entries[:, 1, 3:] = rotations.turn_back(poses.rotation[bodies[:, 1]], -other_moment)
        return Wrenches(bodies, entries)

    def columns(self, wrenches: Wrenches) -> Any:
        """J (nv, k), sparse if there are many velocities."""
        rows = self.rows[wrenches.bodies].reshape(len(wrenches.bodies), 12)
        entries = wrenches.entries.reshape(len(rows), 12)
        shape = (self.velocity_count + 1, len(rows))
        if self.velocity_count <= _SPARSE_COLUMNS:
            matrix = np.zeros(shape)
            matrix[rows, np.arange(len(rows))[:, None]] = entries
            return matrix[:-1]
        order = np.argsort(rows, axis=1, kind="stable")
        rows, entries = np.take_along_axis(rows, order, 1), np.take_along_axis(entries, order, 1)
        there = rows < self.velocity_count
        ends = np.concatenate(([0], np.cumsum(np.count_nonzero(there, axis=1))))
        return sparse.csc_array((entries[there], rows[there], ends), shape=(self.velocity_count, len(rows)))

    def push(self, wrenches: Wrenches, amount: np.ndarray) -> np.ndarray:
        """J amount (nv,): the generalised force of k forces (k,)."""
        rows = self.rows[wrenches.bodies]
        weights = wrenches.entries * amount[:, None, None]
        return np.bincount(rows.ravel(), weights.ravel(), minlength=self.velocity_count + 1)[:-1]

    def speeds(self, wrenches: Wrenches, v: np.ndarray) -> np.ndarray:
        """Jᵀ v (k,)."""
        return np.einsum("kbi,kbi->k", wrenches.entries, self.twists(v)[wrenches.bodies])

    def square(self, bodies: np.ndarray, local: np.ndarray) -> Any:
        """The sum (nv, nv) of matrices (k, 12, 12) between the velocities of pairs of ``bodies`` (k, 2)."""
        rows = self.rows[bodies].reshape(len(bodies), 12)
        down = np.broadcast_to(rows[:, :, None], local.shape).ravel()
        along = np.broadcast_to(rows[:, None, :], local.shape).ravel()
        size = self.velocity_count + 1
        if self.velocity_count <= _SPARSE_MATRIX:
            total = np.bincount(down * size + along, local.ravel(), minlength=size * size)
            return total.reshape(size, size)[:-1, :-1]
        there = (down < self.velocity_count) & (along < self.velocity_count)
        shape = (self.velocity_count, self.velocity_count)
        return sparse.coo_array((local.ravel()[there], (down[there], along[there])), shape=shape).tocsr()

    def diagonal(self, values: np.ndarray) -> Any:
        """A diagonal matrix (nv, nv), dense if small."""
        return (
            np.diag(values) if self.velocity_count <= _SPARSE_MATRIX else sparse.diags_array(values).tocsr()
        )
