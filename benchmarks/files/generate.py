"""Small frictional contact problems of the kinds that simulations write.

    python -m benchmarks.files.generate [FOLDER]

Rigid bodies with given contacts, one step of time stepping: W = H M⁻¹ Hᵀ and q = H (v + h M⁻¹ f) plus a share of the
restitution or of the correction of gaps. The kinds are those that other programs stumbled over: stacks of boxes (four
forces per face, not unique), walls of bricks, spheres on a tray, capsules (two contacts per pair), vehicles with
joints (W of low rank), rocks with rough faces and errors of gaps that no motion can meet, grains in the plane in many
uncoupled parts, and matrices with a skew part as round-off leaves it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.files.problem_file import ProblemFile
from benchmarks.files.run import SMALL

STEP, GRAVITY = 0.01, 9.81  # s, m/s²
Contacts = list[
    tuple[int, int, np.ndarray, np.ndarray]
]  # bodies (−1: ground), point, normal from the first to the second


class Scene:
    """Bodies in space with places (n, 3), masses (n,), inertias (n,) and velocities (6 n,)."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.place: list[np.ndarray] = []
        self.inverse: list[np.ndarray] = []
        self.contacts: Contacts = []

    def body(self, place: np.ndarray, mass: float, radius: float) -> int:
        """A body with the inertia of a ball of that radius of gyration."""
        self.place.append(np.asarray(place, dtype=float))
        self.inverse.append(np.repeat([1.0 / mass, 1.0 / (mass * radius**2)], 3))
        return len(self.place) - 1

    def touch(self, first: int, second: int, point: np.ndarray, normal: np.ndarray) -> None:
        self.contacts.append((first, second, np.asarray(point, float), np.asarray(normal, float)))

    def directions(self) -> sparse.csr_array:
        """H (3 contacts, 6 bodies): normal first, the second body against the first."""
        matrix = sparse.lil_array((3 * len(self.contacts), 6 * len(self.place)))
        for i, (first, second, point, normal) in enumerate(self.contacts):
            frame = _frame(normal)
            for body, sign in ((first, -1.0), (second, 1.0)):
                if body >= 0:
                    arm = point - self.place[body]
                    for row in range(3):
                        matrix[3 * i + row, 6 * body : 6 * body + 3] = sign * frame[row]
                        matrix[3 * i + row, 6 * body + 3 : 6 * body + 6] = sign * np.cross(arm, frame[row])
        return sparse.csr_array(matrix)

    def problem(
        self, name: str, friction: float, *, push: float = 0.0, noise: float = 0.0, skew: float = 0.0,
        joints: np.ndarray | None = None,
    ) -> ProblemFile:  # fmt: skip
        """One step under gravity and a sideways ``push`` [m/s], with errors of gaps of ``noise`` [m/s] and a skew
        part of W of that relative size; ``joints`` J (k, 6 n) keep J v = 0."""
        directions = self.directions()
        inverse = np.concatenate(self.inverse)
        velocity = self.rng.normal(scale=0.02, size=len(inverse))
        velocity[0::6] += push
        velocity[2::6] -= GRAVITY * STEP
        respond = sparse.diags_array(inverse).toarray()
        if joints is not None:
            tied = respond @ joints.T
            respond = respond - tied @ np.linalg.solve(joints @ tied, tied.T)
            velocity = respond @ (velocity / inverse)
        matrix = directions @ respond @ directions.T
        load = directions @ velocity + noise * self.rng.normal(size=directions.shape[0])
        matrix = matrix + skew * np.abs(matrix).max() * _skew(self.rng, matrix != 0.0)
        return ProblemFile(name, sparse.csr_array(matrix), load, np.full(len(self.contacts), friction), 3)


def _frame(normal: np.ndarray) -> np.ndarray:
    """Normal and two tangents as rows (3, 3)."""
    normal = normal / np.linalg.norm(normal)
    tangent = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    tangent /= np.linalg.norm(tangent)
    return np.array([normal, tangent, np.cross(normal, tangent)])


def _skew(rng: np.random.Generator, pattern: np.ndarray) -> np.ndarray:
    draw = rng.normal(size=pattern.shape) * pattern
    return 0.5 * (draw - draw.T)


def boxes(rng: np.random.Generator, number: int = 8) -> ProblemFile:
    """A stack of boxes, four contacts per face."""
    scene = Scene(rng)
    for k in range(number):
        body = scene.body(np.array([0.02 * rng.normal(), 0.02 * rng.normal(), k + 0.5]), 1.0 + k % 3, 0.4)
        for x, y in ((-0.4, -0.4), (0.4, -0.4), (0.4, 0.4), (-0.4, 0.4)):
            scene.touch(body - 1, body, np.array([x, y, k]), np.array([0.0, 0.0, 1.0]))
    return scene.problem("boxes", 0.7, push=0.05)


def bricks(rng: np.random.Generator, rows: int = 4, columns: int = 4) -> ProblemFile:
    """A wall in running bond, a brick on two."""
    scene = Scene(rng)
    number: dict[tuple[int, int], int] = {}
    for row in range(rows):
        for column in range(columns - row % 2):
            x = 2.0 * column + row % 2
            number[row, column] = scene.body(np.array([x, 0.0, row + 0.5]), 2.0, 0.6)
            for side in (-1, 1):
                below = -1 if row == 0 else number.get((row - 1, column + (side + 1) // 2 - 1 + row % 2))
                if below is None:
                    continue  # at the ends of the wall
                for y in (-0.4, 0.4):
                    point = np.array([x + 0.5 * side + 0.3 * side, y, row])
                    scene.touch(below, number[row, column], point, np.array([0.0, 0.0, 1.0]))
    return scene.problem("bricks", 0.5, push=0.1, skew=1e-12)


def spheres(rng: np.random.Generator, number: int = 25, wide: int = 5) -> ProblemFile:
    """Two layers of spheres on a tray."""
    scene = Scene(rng)
    for k in range(number):
        ball = scene.body(np.array([k % wide, k // wide, 0.5]), 1.0, 0.3)
        scene.touch(-1, ball, np.array([k % wide, k // wide, 0.0]), np.array([0.0, 0.0, 1.0]))
        for other in (ball - 1, ball - wide):
            if other >= 0 and np.linalg.norm(scene.place[other] - scene.place[ball]) < 1.01:
                _touch_balls(scene, other, ball)
    for k in range(number):
        if k % wide < wide - 1 and k // wide < wide - 1:
            top = scene.body(scene.place[k] + np.array([0.5, 0.5, np.sqrt(0.5)]), 1.0, 0.3)
            for below in (k, k + 1, k + wide, k + wide + 1):
                _touch_balls(scene, below, top)
    return scene.problem("spheres", 0.3)


def _touch_balls(scene: Scene, first: int, second: int) -> None:
    middle = 0.5 * (scene.place[first] + scene.place[second])
    scene.touch(first, second, middle, scene.place[second] - scene.place[first])


def capsules(rng: np.random.Generator, layers: int = 6) -> ProblemFile:
    """Capsules across each other, two contacts with each below, and shallow slopes."""
    scene = Scene(rng)
    before: list[int] = []
    for layer in range(layers):
        now = [scene.body(np.array([1.5 * k, 0.0, layer + 0.5]), 1.0, 0.8) for k in range(2)]
        for body in now:
            for lower in before or [-1]:
                for side in (-1.0, 1.0):
                    point = scene.place[body] + np.array([0.7 * side, 0.3 * rng.normal(), -0.5])
                    slope = 0.2 * rng.normal(size=2)
                    scene.touch(lower, body, point, np.array([*slope, 1.0]))
        before = now
    return scene.problem("capsules", 0.8, noise=0.02)


def rover(rng: np.random.Generator, wheels: int = 6) -> ProblemFile:
    """A hull with wheels on axles: more forces than motions are left by the joints."""
    scene = Scene(rng)
    hull = scene.body(np.array([0.0, 0.0, 1.0]), 50.0, 1.0)
    rows = []
    for k in range(wheels):
        place = np.array([(k // 2) - 1.0, 1.0 if k % 2 else -1.0, 0.3])
        wheel = scene.body(place, 2.0, 0.2)
        scene.touch(
            -1,
            wheel,
            place - np.array([0.0, 0.0, 0.3]),
            np.array([0.1 * rng.normal(), 0.1 * rng.normal(), 1.0]),
        )
        rows.append((hull, wheel, place))
    joints = np.zeros((5 * wheels, 6 * len(scene.place)))
    for k, (first, second, place) in enumerate(rows):
        for axis in range(3):
            direction = np.eye(3)[axis]
            for body, sign in ((first, -1.0), (second, 1.0)):
                joints[5 * k + axis, 6 * body : 6 * body + 3] = sign * direction
                joints[5 * k + axis, 6 * body + 3 : 6 * body + 6] = sign * np.cross(
                    place - scene.place[body], direction
                )
        for row, axis in ((3, 0), (4, 2)):  # free to turn about its axle, y
            joints[5 * k + row, 6 * first + 3 + axis], joints[5 * k + row, 6 * second + 3 + axis] = -1.0, 1.0
    return scene.problem("rover", 0.6, push=0.3, joints=joints, skew=1e-10)


def rocks(rng: np.random.Generator, number: int = 30) -> ProblemFile:
    """Rocks that touch each other in several points with any normal, rough, with errors that no motion meets."""
    scene = Scene(rng)
    for k in range(number):
        rock = scene.body(
            rng.normal(size=3) * np.array([1.5, 1.5, 0.3]) + np.array([0.0, 0.0, 0.5 * k**0.5]), 1.0, 0.4
        )
        others = rng.choice(rock, size=min(rock, 2), replace=False) if rock else [-1]
        for other in [*others, *([-1] if rng.random() < 0.3 else [])]:
            for _ in range(int(rng.integers(1, 4))):
                normal = rng.normal(scale=0.5, size=3) + np.array([0.0, 0.0, 1.0])
                scene.touch(
                    int(other), rock, scene.place[rock] - 0.4 * normal + 0.1 * rng.normal(size=3), normal
                )
    return scene.problem("rocks", 1.0, noise=0.02, skew=1e-3)


def grains(rng: np.random.Generator, columns: int = 20, layers: int = 4) -> ProblemFile:
    """Discs in the plane in uncoupled columns whose loads differ by many orders, some of them at rest."""
    blocks, loads = [], []
    for column in range(columns):
        size = int(rng.integers(1, layers + 1))
        chain = np.zeros((2 * size, 3 * size))
        for k in range(size):
            for body, sign in ((k, 1.0), (k - 1, -1.0)):
                if body >= 0:
                    chain[2 * k, 3 * body + 1] = sign
                    chain[2 * k + 1, 3 * body], chain[2 * k + 1, 3 * body + 2] = sign, 0.5
        inverse = np.tile([1.0, 1.0, 8.0], size)
        velocity = rng.normal(scale=0.2, size=3 * size)
        velocity[1::3] -= 1.0
        scale = 0.0 if column % 5 == 4 else 10.0 ** -(3.0 * (column % 5))
        blocks.append((chain * inverse) @ chain.T)
        loads.append(scale * (chain @ velocity))
    load = np.concatenate(loads)
    return ProblemFile(
        "grains", sparse.csr_array(sparse.block_diag(blocks)), load, np.full(len(load) // 2, 0.3), 2
    )


def crank(rng: np.random.Generator) -> ProblemFile:
    """Four corners of a slider between two guides in the plane: two motions, eight forces."""
    corners = np.array([[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]])
    rows = np.zeros((8, 3))
    for k, (x, y) in enumerate(corners):
        side = -np.sign(y)
        rows[2 * k] = [0.0, side, side * x]
        rows[2 * k + 1] = [1.0, 0.0, -y]
    matrix = (rows * np.array([1.0, 1.0, 20.0])) @ rows.T
    return ProblemFile(
        "crank", sparse.csr_array(matrix), rows @ np.array([2.0, -0.5, 3.0]), np.full(4, 0.1), 2
    )


KINDS: dict[str, Callable[[np.random.Generator], ProblemFile]] = {
    kind.__name__: kind for kind in (crank, rover, boxes, bricks, capsules, spheres, rocks, grains)
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SMALL
    folder.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(KINDS.values()):
        kind(np.random.default_rng(number)).write(folder)


if __name__ == "__main__":
    main()
