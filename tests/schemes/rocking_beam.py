"""The rocking beam of Waltersberger, Example 5.7: a free Timoshenko beam over a block, reduced to a few modes.

Finite elements with the exact static shape functions of the Timoshenko beam (cubic, interdependent) and consistent
mass with rotary inertia; unknowns w and the rotation of every node. The block reaches from x = a to x = b.
"""

import numpy as np
import scipy.linalg

from klapper.mechanics import Contact, LinearSystem

YOUNG, SHEAR, DENSITY, AREA, SHEAR_FACTOR, INERTIA = 210e9, 81e9, 7500.0, 0.02**2, 1.2, 0.01**4 / 12
LENGTH, GRAVITY, LEFT, RIGHT = 1.0, 9.81, 0.4, 0.6
ELEMENTS = 40


def element(size: float) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness (4, 4) in (w, φ) of the two nodes, by Gauss integration of the shape functions."""
    bending, shearing = YOUNG * INERTIA, SHEAR * AREA / SHEAR_FACTOR
    weak = 12 * bending / (shearing * size**2)
    points, weights = np.polynomial.legendre.leggauss(5)
    mass, stiffness = np.zeros((4, 4)), np.zeros((4, 4))
    for point, weight in zip(0.5 * (1 + points), 0.5 * weights * size, strict=True):
        w, turn, curve, shear = shapes(point, size, weak)
        mass += weight * DENSITY * (AREA * np.outer(w, w) + INERTIA * np.outer(turn, turn))
        stiffness += weight * (bending * np.outer(curve, curve) + shearing * np.outer(shear, shear))
    return mass, stiffness


def shapes(s: float, size: float, weak: float) -> tuple[np.ndarray, ...]:
    """Displacement, rotation, its derivative and shear angle at s in [0, 1]; weak = 12 E I / (G A size²)."""
    f = 1.0 / (1.0 + weak)
    w = f * np.array(
        [
            1 + weak - weak * s - 3 * s**2 + 2 * s**3,
            size * (s * (1 + weak / 2) - s**2 * (2 + weak / 2) + s**3),
            weak * s + 3 * s**2 - 2 * s**3,
            size * (-s * weak / 2 - s**2 * (1 - weak / 2) + s**3),
        ]
    )
    slope = f * np.array(
        [
            (-weak - 6 * s + 6 * s**2) / size,
            (1 + weak / 2) - 2 * s * (2 + weak / 2) + 3 * s**2,
            (weak + 6 * s - 6 * s**2) / size,
            -weak / 2 - 2 * s * (1 - weak / 2) + 3 * s**2,
        ]
    )
    turn = f * np.array(
        [
            (-6 * s + 6 * s**2) / size,
            1 + weak - s * (4 + weak) + 3 * s**2,
            (6 * s - 6 * s**2) / size,
            -s * (2 - weak) + 3 * s**2,
        ]
    )
    curve = (
        f
        * np.array([(-6 + 12 * s) / size, -(4 + weak) + 6 * s, (6 - 12 * s) / size, -(2 - weak) + 6 * s])
        / size
    )
    return w, turn, curve, slope - turn


def matrices() -> tuple[np.ndarray, np.ndarray]:
    size = LENGTH / ELEMENTS
    m, k = element(size)
    n = 2 * (ELEMENTS + 1)
    mass, stiffness = np.zeros((n, n)), np.zeros((n, n))
    for e in range(ELEMENTS):
        at = slice(2 * e, 2 * e + 4)
        mass[at, at] += m
        stiffness[at, at] += k
    return mass, stiffness


def modes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Natural frequencies [Hz] and mass-normalised modes (n, count), the two rigid ones first."""
    mass, stiffness = matrices()
    values, vectors = scipy.linalg.eigh(stiffness, mass, subset_by_index=[0, count - 1])
    return np.sqrt(np.maximum(values, 0.0)) / (2 * np.pi), vectors


def displacement(x: float) -> np.ndarray:
    """Row (n,) of w at a place x [m]."""
    size = LENGTH / ELEMENTS
    e = min(int(x / size + 1e-9), ELEMENTS - 1)
    weak = 12 * YOUNG * INERTIA * SHEAR_FACTOR / (SHEAR * AREA * size**2)
    row = np.zeros(2 * (ELEMENTS + 1))
    row[2 * e : 2 * e + 4] = shapes((x - e * size) / size, size, weak)[0]
    return row


def rocking_beam(
    count: int, places: list[float], damping: tuple[float, float] = (0.01, 1e-4)
) -> tuple[LinearSystem, np.ndarray, np.ndarray]:
    """The beam with ``count`` modes and contacts at ``places`` [m]; rows (count,) of w at both edges of the block.

    ``damping`` α₁ [1/s] and α₂ [s] of D = α₁ M + α₂ K.

    It starts straight and at rest, touching at the left edge, 10 mm above the right one.
    """
    mass, _ = matrices()
    hertz, vectors = modes(count)
    hertz[:2] = 0.0
    elastic = (2 * np.pi * hertz) ** 2
    nodes = np.arange(ELEMENTS + 1) * LENGTH / ELEMENTS
    start, lift = np.zeros(len(mass)), np.zeros(len(mass))
    start[0::2], start[1::2], lift[0::2] = 0.05 * (nodes - LEFT), 0.05, 1.0
    system = LinearSystem(
        np.ones(count),
        damping=damping[0] * np.ones(count) + damping[1] * elastic,
        stiffness=elastic,
        force=-GRAVITY * vectors.T @ (mass @ lift),
        position=vectors.T @ (mass @ start),
        contacts=[Contact(f"{x:.4f}", normal=displacement(x) @ vectors) for x in places],
        penetration=1e-6,
        name="rocking beam",
    )
    return system, displacement(LEFT) @ vectors, displacement(RIGHT) @ vectors
