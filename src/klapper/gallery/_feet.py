"""A rigid block on any number of feet in a row, pushed at its upper edge: statics, and the system of bodies.

    ΣN_i = m g,   Σ x_i N_i = (b/2) (F + f),   f = −ΣT_i                    about the centre of mass, feet at −b/2

With more than two feet the normal forces are not determined, with more than one sticking foot nor are the friction
forces.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.bodies.rigid_system import RigidSystem
    from klapper.mechanics.acceleration import AccelerationProblem

GRAVITY = 9.81


@dataclass(frozen=True)
class FootedBlock:
    """``places`` x_i (n,) [m] of the feet from the middle, ``friction`` μ_i (n,), ``mass`` [kg], ``height`` b [m]."""

    places: tuple[float, ...]
    friction: tuple[float, ...]
    mass: float
    height: float

    @property
    def weight(self) -> float:
        return self.mass * GRAVITY

    @property
    def width(self) -> float:
        return max(self.places) - min(self.places)

    @property
    def inertia(self) -> float:
        return self.mass * (self.width**2 + self.height**2) / 12.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"foot {i + 1}" for i in range(len(self.places)))

    def system(self, push: "float | Callable[[float], float]", speed: float) -> "RigidSystem":
        """The block pushed by a force [N] at its upper right edge, sliding with ``speed`` [m/s] at the start."""
        from klapper.bodies import Planar

        model = Planar(gravity=(0.0, -GRAVITY), name="block on feet")
        block = model.body(
            "block", mass=self.mass, inertia=self.inertia, at=(0.0, 0.5 * self.height), velocity=(speed, 0.0)
        )
        floor = model.wall("floor", normal=(0.0, 1.0))
        for name, place, mu in zip(self.names, self.places, self.friction, strict=True):
            model.contact(block.point(place, -0.5 * self.height), floor, friction=mu, name=name)
        value: Any = (lambda t: np.array([push(t), 0.0])) if callable(push) else (push, 0.0)
        model.force(block.point(max(self.places), 0.5 * self.height), value)
        return model.build()

    def acceleration_problem(self, push: float, speed: float) -> "AccelerationProblem":
        """The same at one instant, in x, y and angle."""
        from klapper.mechanics.acceleration import AccelerationProblem

        n, half = len(self.places), 0.5 * self.height
        return AccelerationProblem(
            self.mass_matrix,
            [push, -self.weight, -half * push],
            normal=np.array([np.zeros(n), np.ones(n), self.places]),
            tangential=np.array([np.ones(n), np.zeros(n), np.full(n, half)]),
            sliding_velocity=np.full((n, 1), speed),
            friction=list(self.friction),
            normal_names=self.names,
            tangential_names=self.names,
        )

    @property
    def mass_matrix(self) -> np.ndarray:
        return np.diag([self.mass, self.mass, self.inertia])

    def pair(self, i: int, j: int, push: float) -> np.ndarray | None:
        """Normal forces (n,) [N] while the block slides to the right on two feet only; None if one would pull."""
        half = 0.5 * self.height
        x, mu = np.array(self.places)[[i, j]], np.array(self.friction)[[i, j]]
        matrix = np.array([[1.0, 1.0], x - half * mu])
        if abs(np.linalg.det(matrix)) < 1e-12:
            return None
        carried = np.linalg.solve(matrix, [self.weight, half * push])
        if carried.min() < -1e-12 * self.weight:
            return None
        forces = np.zeros(len(self.places))
        forces[[i, j]] = carried
        return forces

    def sliding_extremes(self, push: float) -> np.ndarray:
        """Normal forces (k, n) of all pairs of feet on which the block can slide: the corners of the set."""
        n = len(self.places)
        pairs = [self.pair(i, j, push) for i in range(n) for j in range(i + 1, n)]
        return np.array([forces for forces in pairs if forces is not None]).reshape(-1, n)
