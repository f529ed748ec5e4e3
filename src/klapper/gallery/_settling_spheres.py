"""The heap of equal spheres in a box: where they start, and what the heap at rest tells (forces, walls, density)."""

from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.bodies.rigid_system import RigidSystem
    from klapper.results import Run

SPACING = 0.3  # of the lattice at the start, in diameters beyond touching
DISORDER = 0.4  # part of the spacing by which centres are moved at random
SIDES = ("floor", "left", "right", "front", "back")


@dataclass(frozen=True)
class Heap:
    """Spheres, box and where the spheres start."""

    count: int
    radius: float
    density: float
    width: float
    mu: float
    wall_mu: float
    gravity: float
    seed: int

    @property
    def mass(self) -> float:
        """Of one sphere [kg]."""
        return self.density * self.volume

    @property
    def volume(self) -> float:
        """Of one sphere [m³]."""
        return 4.0 / 3.0 * pi * self.radius**3

    @property
    def weight(self) -> float:
        """Of all spheres [N]."""
        return self.count * self.mass * self.gravity

    @cached_property
    def starts(self) -> np.ndarray:
        """Centres (n, 3) [m] at the start, layer by layer."""
        pitch = 2.0 * self.radius * (1.0 + SPACING)
        row = int((self.width - 2.0 * self.radius) / pitch) + 1
        number = np.arange(self.count)
        cell = np.column_stack([number % row, number // row % row, number // row**2])
        margin = 0.5 * (self.width - (row - 1) * pitch)
        shift = np.random.default_rng(self.seed).uniform(-1.0, 1.0, (self.count, 3))
        centres = cell * pitch + (margin, margin, self.radius * (1.0 + SPACING))
        centres += DISORDER * SPACING * self.radius * shift
        centres[:, :2] = np.clip(centres[:, :2], self.radius, self.width - self.radius)
        return centres

    @property
    def fall_speed(self) -> float:
        """Speed [m/s] of a fall from the uppermost sphere to the floor."""
        return sqrt(2.0 * self.gravity * float(self.starts[:, 2].max()))

    def system(self) -> "RigidSystem":
        from klapper.bodies import Spatial, inertia

        model = Spatial(gravity=(0.0, 0.0, -self.gravity), name="settling spheres")
        moments = inertia.sphere(self.mass, self.radius)
        spheres = [
            model.body(f"sphere {i}", mass=self.mass, inertia=moments, at=centre).sphere(self.radius)
            for i, centre in enumerate(self.starts)
        ]
        normals = ((0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))
        walls = [
            model.wall(side, point=(self.width, self.width, 0.0) if min(n) < 0 else (0.0, 0.0, 0.0), normal=n)
            for side, n in zip(SIDES, normals, strict=True)
        ]
        model.search(spheres, walls, friction=self.mu, wall_friction=self.wall_mu)
        return model.build()


@dataclass(frozen=True)
class Settled:
    """The run, and the heap at its end. The last two samples are one step apart."""

    heap: Heap
    system: "RigidSystem"
    run: "Run"
    step: float

    @cached_property
    def centres(self) -> np.ndarray:
        """(s, n, 3) [m]."""
        return self.run.position.reshape(len(self.run), self.heap.count, 7)[:, :, :3]

    @cached_property
    def velocities(self) -> np.ndarray:
        """(s, n, 3) [m/s]."""
        return self.run.velocity.reshape(len(self.run), self.heap.count, 6)[:, :, :3]

    @cached_property
    def loaded(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (k,) and impulses (k, 3) [N s] of the contacts loaded in the last step."""
        log = self.run.samples.loaded
        if log is not None:
            last = slice(log.start[-2], log.start[-1])
            return log.contact[last], log.impulse[last]
        number = np.flatnonzero(self.run.impulse[-1, :, 0] > 0.0)
        return number, self.run.impulse[-1, number]

    @cached_property
    def partners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First sphere (k,), second sphere or number of the wall (k,), and whether it is a wall (k,)."""
        pairs = self.system.contacts.decode(self.loaded[0])
        return pairs.ball, pairs.other, pairs.with_plane

    @property
    def forces(self) -> np.ndarray:
        """Normal forces (k,) [N] of the last step."""
        return np.asarray(self.loaded[1][:, 0]) / self.step

    @cached_property
    def wall_forces(self) -> np.ndarray:
        """Sums (5, 3) [N] of the forces of floor and walls on the spheres in the last step."""
        number, impulse = self.loaded
        _, wall, on_wall = self.partners
        total = np.zeros((len(SIDES), 3))
        if np.any(on_wall):
            q = self.run.position[-1]
            directions = self.system.directions(self.run.time[-1], q, number[on_wall])
            spheres = self.partners[0][on_wall]
            for k, sphere in enumerate(spheres):
                rows = slice(6 * sphere, 6 * sphere + 3)
                columns = [directions.normal[rows, [k]], directions.tangential[rows, [2 * k, 2 * k + 1]]]
                across = np.hstack([part.toarray() if hasattr(part, "toarray") else part for part in columns])
                total[wall[on_wall][k]] += across @ impulse[on_wall][k] / self.step
        return total

    @property
    def friction_used(self) -> float | None:
        """Upward force of the walls over μ times their normal forces; None if there are none."""
        normal = np.abs(self.wall_forces[1:3, 0]).sum() + np.abs(self.wall_forces[3:, 1]).sum()
        most = self.heap.wall_mu * normal
        return float(self.wall_forces[1:, 2].sum() / most) if most > 0.0 else None

    @property
    def momentum_rate(self) -> np.ndarray:
        """Mass times acceleration (3,) [N] of all spheres in the last step."""
        change = self.velocities[-1] - self.velocities[-2]
        return np.asarray(self.heap.mass * change.sum(axis=0) / self.step)

    @property
    def coordination(self) -> float:
        """Mean number of loaded contacts of a sphere."""
        _, _, on_wall = self.partners
        return float((2.0 * np.count_nonzero(~on_wall) + np.count_nonzero(on_wall)) / self.heap.count)

    @cached_property
    def penetration(self) -> float:
        """Deepest overlap [m] of two spheres, or of a sphere and a wall, at any sample; from the centres alone."""
        from scipy.spatial import cKDTree

        r, width, deepest = self.heap.radius, self.heap.width, 0.0
        for centres in self.centres:
            inside = np.column_stack([centres, width - centres[:, :2]])
            deepest = max(deepest, r - float(inside.min()))
            if self.heap.count > 1:
                distance, _ = cKDTree(centres).query(centres, k=2)
                deepest = max(deepest, 2.0 * r - float(distance[:, 1].min()))
        return deepest

    @property
    def top(self) -> float:
        """Height [m] of the highest sphere's top at the end."""
        return float(self.centres[-1, :, 2].max()) + self.heap.radius

    @cached_property
    def bulk_fraction(self) -> float | None:
        """Part of space that spheres fill a diameter away from walls, floor and surface; None if nothing is left."""
        from scipy.spatial import cKDTree

        diameter, centres = 2.0 * self.heap.radius, self.centres[-1]
        high = 2.0 * float(np.median(centres[:, 2])) - diameter
        if high <= 1.5 * diameter or self.heap.width < 3.0 * diameter:
            return None
        across = np.linspace(diameter, self.heap.width - diameter, 61)
        grid = np.stack(np.meshgrid(across, across, np.linspace(diameter, high, 61)), axis=-1).reshape(-1, 3)
        distance, _ = cKDTree(centres).query(grid)
        return float(np.mean(distance < self.heap.radius))

    @property
    def kinetic_part(self) -> float:
        """Kinetic energy at the end over the largest one."""
        kinetic = self.run.ledger.kinetic
        return float(kinetic[-1] / max(kinetic.max(), 1e-300))
