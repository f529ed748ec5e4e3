"""The stack of blocks: its statics in closed form, its motion, and its fall as one rigid body.

What lies above a joint, with its centre of mass at (x, z), presses on it at p = x + (z − z_joint) tan α.
"""

from dataclasses import dataclass
from functools import cached_property
from math import cos, sin, sqrt, tan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.bodies.rigid_system import RigidSystem
    from klapper.results import Run

MARGIN = 1e-6  # distance from the limits, in widths or in μ, below which round-off decides
STILL = 1e-10  # displacement that counts as none, in sizes of the stack
OFF = 0.01  # how far a corner may leave its face, in widths
CORNERS = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


@dataclass(frozen=True)
class Stack:
    """The stack as built, and its statics. Joint 0 is on the ground; every joint has a left and a right end."""

    count: int
    width: float
    height: float
    overhang: float
    tilt: float
    mu: float
    mass: float
    gravity: float

    @cached_property
    def centres(self) -> np.ndarray:
        """Centres (n, 2) [m] of the blocks, from the ground up."""
        above = np.arange(self.count - 1, 0, -1)  # blocks above the joints
        shift = 0.5 * self.overhang * self.width / above
        x = np.concatenate(([0.0], np.cumsum(shift)))
        return np.column_stack([x, (np.arange(self.count) + 0.5) * self.height])

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the joints begin and end (n, 2) [m] along the ground."""
        x, half = self.centres[:, 0], 0.5 * self.width
        below = np.concatenate((x[:1], x[:-1]))
        return np.column_stack([x - half, below + half])

    @cached_property
    def size(self) -> float:
        """Largest extent [m]."""
        return float(np.hypot(self.count * self.height, self.centres[-1, 0] + self.width))

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight (n,) [N] above each joint."""
        return self.mass * self.gravity * np.arange(self.count, 0, -1)

    @cached_property
    def pressed(self) -> np.ndarray:
        """Where the weight presses on each joint (n,) [m]."""
        mean = np.array([self.centres[k:].mean(axis=0) for k in range(self.count)])
        return mean[:, 0] + (mean[:, 1] - np.arange(self.count) * self.height) * tan(self.tilt)

    @cached_property
    def normal(self) -> np.ndarray:
        """Normal forces (n, 2) [N] at the ends of the joints, by the law of the lever."""
        left, right = self.ends.T
        share = (self.pressed - left) / (right - left)
        return (self.weights * cos(self.tilt))[:, None] * np.column_stack([1.0 - share, share])

    @property
    def shear(self) -> np.ndarray:
        """Tangential force (n,) [N] of each joint on the block above, along the ground."""
        return -self.weights * sin(self.tilt)

    @cached_property
    def shear_range(self) -> np.ndarray:
        """Least and largest tangential force (n, 2, 2) [N] at the left and right ends that friction allows."""
        limit = self.mu * self.normal
        other = limit[:, ::-1]
        least = np.maximum(-limit, self.shear[:, None] - other)
        most = np.minimum(limit, self.shear[:, None] + other)
        return np.stack([least, most], axis=2)

    @cached_property
    def margins(self) -> np.ndarray:
        """Distances (n + 1,) from tipping at each joint, in widths, and from sliding; negative beyond the limit."""
        inside = np.minimum(self.pressed - self.ends[:, 0], self.ends[:, 1] - self.pressed) / self.width
        return np.append(inside, self.mu - abs(tan(self.tilt)))

    @property
    def stands(self) -> bool:
        return bool(self.margins.min() >= 0.0)

    def certain(self, duration: float) -> bool:
        """Whether the limits are far enough away, and a fall is fast enough to be seen in so short a time [s]."""
        excess = abs(self.margins.min())
        slow = self.gravity * cos(self.tilt) * excess * self.width**2 / (8.0 * self.size**2)
        return excess > MARGIN and (self.stands or 0.5 * slow * duration**2 > 10.0 * STILL * self.size)

    def system(self) -> "RigidSystem":
        from klapper.bodies import Planar, inertia

        model = Planar(
            gravity=(self.gravity * sin(self.tilt), -self.gravity * cos(self.tilt)), name="block stack"
        )
        moment = inertia.rectangle(self.mass, self.width, self.height)
        blocks = [
            model.body(f"block {k}", mass=self.mass, inertia=moment, at=centre)
            for k, centre in enumerate(self.centres, start=1)
        ]
        corners = [block.corners(self.width, self.height) for block in blocks]
        below: Any = model.wall("slope", normal=(0.0, 1.0))
        half = 0.5 * self.height
        for k, block in enumerate(blocks):
            left, right = (f"joint {k + 1} {side}" for side in ("left", "right"))
            model.contact(corners[k][0], below, friction=self.mu, name=left)
            if k > 0 and self.overhang > 0.0:  # the corner of the block below carries
                underside = block.wall((0.0, -half), (0.0, -1.0), name=f"underside {k + 1}")
                model.contact(corners[k - 1][2], underside, friction=self.mu, name=right)
            else:
                model.contact(corners[k][1], below, friction=self.mu, name=right)
            below = block.wall((0.0, half), (0.0, 1.0), name=f"top {k + 1}")
        return model.build()


@dataclass(frozen=True)
class Motion:
    """The run of a stack, as far as its contacts describe it."""

    stack: Stack
    system: "RigidSystem"
    run: "Run"
    step: float

    @cached_property
    def poses(self) -> np.ndarray:
        """x, y, angle (s, n, 3) of the blocks."""
        return self.run.position.reshape(len(self.run), self.stack.count, 3)

    @cached_property
    def corners(self) -> np.ndarray:
        """Corners (s, n, 4, 2) [m]."""
        angle = self.poses[:, :, 2]
        c, s = np.cos(angle), np.sin(angle)
        turn = np.moveaxis(np.array([[c, -s], [s, c]]), (0, 1), (2, 3))
        local = CORNERS * (self.stack.width, self.stack.height)
        return self.poses[:, :, None, :2] + np.einsum("snij,cj->snci", turn, local)

    @cached_property
    def displacement(self) -> np.ndarray:
        """Largest displacement (s, n) [m] of a corner of each block."""
        return np.asarray(np.linalg.norm(self.corners - self.corners[0], axis=3).max(axis=2))

    @cached_property
    def end(self) -> int:
        """Last sample up to which all corners are on the faces that they touch, and none is in the ground."""
        slack = OFF * self.stack.width
        wrong = np.any(self.corners[..., 1] < -slack, axis=(1, 2))
        left = self._along(self.corners[:, 1:, 0], self.poses[:, :-1])  # lower left corner on the block below
        if self.stack.overhang > 0.0:
            right = self._along(
                self.corners[:, :-1, 2], self.poses[:, 1:]
            )  # upper right corner on the block above
        else:
            right = self._along(self.corners[:, 1:, 1], self.poses[:, :-1])
        for place in (left, right):
            wrong |= np.any(np.abs(place) > 0.5 * self.stack.width + slack, axis=1)
        return int(np.argmax(wrong)) - 1 if np.any(wrong) else len(wrong) - 1

    @staticmethod
    def _along(place: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Coordinate (s, n − 1) of places (s, n − 1, 2) along the width of blocks (s, n − 1, 3)."""
        away = place - pose[:, :, :2]
        return np.asarray(np.cos(pose[:, :, 2]) * away[:, :, 0] + np.sin(pose[:, :, 2]) * away[:, :, 1])

    @property
    def forces(self) -> np.ndarray:
        """Normal and tangential force (n, 2, 2) [N] at the left and right ends, mean of the last interval.

        Tangential is the force along the ground on the block above, also where a corner of the block below carries:
        then normal and tangent point the other way, but so does the force.
        """
        last = self.run.impulse[-1] / (self.run.time[-1] - self.run.time[-2])
        return np.asarray(last.reshape(self.stack.count, 2, 2))


@dataclass(frozen=True)
class Toppling:
    """The stack as one rigid body that turns about an end of joint 0, and how long its other joints can hold it
    together: a falling chimney breaks.

    ``stack``  as built
    ``side``   1 if it falls to the right, −1 to the left; then x is counted to the left
    """

    stack: Stack
    side: int

    @classmethod
    def of(cls, stack: Stack) -> "Toppling | None":
        """None unless joint 0 is the only one beyond its limit."""
        if stack.margins[0] >= -MARGIN or np.any(stack.margins[1:] <= MARGIN):
            return None
        return cls(stack, 1 if stack.pressed[0] > stack.ends[0, 1] else -1)

    @cached_property
    def centres(self) -> np.ndarray:
        """Centres (n, 2) [m] of the blocks from the edge."""
        edge = self.stack.ends[0, 1 if self.side > 0 else 0]
        return (self.stack.centres - (edge, 0.0)) * (self.side, 1.0)

    @cached_property
    def own(self) -> float:
        """Moment of inertia of a block about its centre, over its mass [m²]."""
        return (self.stack.width**2 + self.stack.height**2) / 12.0

    @cached_property
    def inertia(self) -> float:
        """Moment of inertia about the edge, over the mass of a block [m²]."""
        return float((np.square(self.centres).sum(axis=1) + self.own).sum())

    @property
    def radius(self) -> float:
        """Distance [m] of the centre of mass from the edge."""
        return float(np.linalg.norm(self.centres.mean(axis=0)))

    @property
    def rate(self) -> float:
        """Rate [1/s] at which deviations grow."""
        return sqrt(self.stack.gravity * self.stack.count * self.radius / self.inertia)

    def acceleration(self, angle: float) -> float:
        """Angular acceleration [rad/s²] after a turn by ``angle``."""
        x, z = self.centres.sum(axis=0)
        tilt = self.side * self.stack.tilt + angle
        return self.stack.gravity * (x * cos(tilt) + z * sin(tilt)) / self.inertia

    def turned(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angle and angular velocity at times (s,) [rad, rad/s]."""
        from scipy.integrate import solve_ivp

        found = solve_ivp(
            lambda t, y: [y[1], self.acceleration(y[0])],
            (0.0, times[-1]),
            [0.0, 0.0],
            t_eval=times,
            rtol=1e-10,
            atol=1e-14,
        )
        return found.y[0], found.y[1]

    def holds(self, angle: float, speed: float) -> bool:
        """Whether all joints carry what the motion demands, with a little to spare."""
        stack, faster = self.stack, self.acceleration(angle)
        tilt = self.side * stack.tilt + angle
        gravity = stack.gravity * np.array([sin(tilt), -cos(tilt)])
        for k in range(stack.count):
            above = self.centres[k:]
            x, z = centre = above.mean(axis=0)
            force = np.array([faster * z, -faster * x]) - speed**2 * centre - gravity  # per mass above
            if force[1] <= 0.0 or abs(force[0]) > 0.95 * stack.mu * force[1]:
                return False
            own = float(np.square(above - centre).sum(axis=1).mean()) + self.own
            pressed = x + ((k * stack.height - z) * force[0] - own * faster) / force[1]
            ends = self.side * (stack.ends[k] - stack.ends[0, 1 if self.side > 0 else 0])
            spare = 0.005 * stack.width
            if k > 0 and not ends.min() + spare < pressed < ends.max() - spare:
                return False
        return True
