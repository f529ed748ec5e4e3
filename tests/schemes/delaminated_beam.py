"""The forced delaminated beam of Waltersberger, Example 5.10, as a finite-element model of its own.

Beam 1 (intact), beams 2 and 3 (the laminae, axes at +h/2 and −(a−h)/2), beam 4 (intact); displacement w across,
rotation w', axial u; simply supported, axially fixed. At the tips the laminae share w and w' with the intact beams and
u_i = u − y_i w', (5.143)-(5.146). No rotary inertia.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from klapper.mechanics import Contact, Harmonic, LinearSystem

YOUNG, DENSITY = 210e9, 7500.0


@dataclass(frozen=True)
class Beam:
    """Lengths in m: total length 1, ``height`` a, ``width`` b, delamination of ``length`` at ``edge`` h."""

    height: float = 0.01
    width: float = 0.02
    length: float = 0.6
    edge: float = 0.0075
    elements: tuple[int, int] = (20, 30)
    damping: float = 0.5
    force: float = 10.0
    frequency: float = 22.8


@dataclass(frozen=True)
class Matrices:
    """Mass, damping, stiffness (n, n); ``shape`` gives the row (n,) of w at a place 0…1 of one of the beams 0…3."""

    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    rows: np.ndarray
    elements: tuple[int, int, int, int]
    lengths: tuple[float, float, float, float]

    def shape(self, beam: int, place: float) -> np.ndarray:
        """Cubic interpolation of w between the nodes."""
        count = self.elements[beam]
        element = min(int(place * count), count - 1)
        size = self.lengths[beam] / count
        weights = hermite(place * count - element, size)
        first = sum(n + 1 for n in self.elements[:beam]) + element
        return weights @ self.rows[[3 * first, 3 * first + 1, 3 * first + 3, 3 * first + 4]]


def hermite(s: float, size: float) -> np.ndarray:
    return np.array(
        [1 - 3 * s**2 + 2 * s**3, size * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, size * (s**3 - s**2)]
    )


def element_matrices(size: float, thick: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness (6, 6) of one element in (w, w', u) of its two nodes."""
    area, inertia = width * thick, width * thick**3 / 12
    bend = np.array(
        [
            [12, 6 * size, -12, 6 * size],
            [6 * size, 4 * size**2, -6 * size, 2 * size**2],
            [-12, -6 * size, 12, -6 * size],
            [6 * size, 2 * size**2, -6 * size, 4 * size**2],
        ]
    )
    inert = np.array(
        [
            [156, 22 * size, 54, -13 * size],
            [22 * size, 4 * size**2, 13 * size, -3 * size**2],
            [54, 13 * size, 156, -22 * size],
            [-13 * size, -3 * size**2, -22 * size, 4 * size**2],
        ]
    )
    mass, stiffness = np.zeros((6, 6)), np.zeros((6, 6))
    across, along = np.ix_([0, 1, 3, 4], [0, 1, 3, 4]), np.ix_([2, 5], [2, 5])
    stiffness[across] = YOUNG * inertia / size**3 * bend
    stiffness[along] = YOUNG * area / size * np.array([[1, -1], [-1, 1]])
    mass[across] = DENSITY * area * size / 420 * inert
    mass[along] = DENSITY * area * size / 6 * np.array([[2, 1], [1, 2]])
    return mass, stiffness


def matrices(beam: Beam) -> Matrices:
    """Assembled and reduced by the multi-point constraints."""
    outer, inner = beam.elements
    elements = (outer, inner, inner, outer)
    lengths = ((1 - beam.length) / 2, beam.length, beam.length, (1 - beam.length) / 2)
    thick = (beam.height, beam.height - beam.edge, beam.edge, beam.height)
    first = np.concatenate([[0], np.cumsum([n + 1 for n in elements])])
    full = 3 * first[-1]
    mass, damping, stiffness = (np.zeros((full, full)) for _ in range(3))
    for b in range(4):
        m, k = element_matrices(lengths[b] / elements[b], thick[b], beam.width)
        for e in range(elements[b]):
            at = slice(3 * (first[b] + e), 3 * (first[b] + e) + 6)
            mass[at, at] += m
            stiffness[at, at] += k
            damping[at, at] += beam.damping / (DENSITY * beam.width * thick[b]) * m
    rows = _reduction(beam, first, full)
    return Matrices(*(rows.T @ x @ rows for x in (mass, damping, stiffness)), rows, elements, lengths)


def _reduction(beam: Beam, first: np.ndarray, full: int) -> np.ndarray:
    """Rows (all, free): every coordinate from the free ones, supports and tips built in."""
    offset = {1: beam.edge / 2, 2: -(beam.height - beam.edge) / 2}
    tied: dict[int, list[tuple[int, float]]] = {}
    for b, y in offset.items():
        for node, master in ((first[b], first[1] - 1), (first[b + 1] - 1, first[3])):
            tied[3 * node] = [(3 * master, 1.0)]
            tied[3 * node + 1] = [(3 * master + 1, 1.0)]
            tied[3 * node + 2] = [(3 * master + 2, 1.0), (3 * master + 1, -y)]
    last = first[4] - 1
    fixed = {0, 2, 3 * last, 3 * last + 2}
    free = [i for i in range(full) if i not in tied and i not in fixed]
    column = {i: k for k, i in enumerate(free)}
    rows = np.zeros((full, len(free)))
    for i in free:
        rows[i, column[i]] = 1.0
    for i, masters in tied.items():
        for master, weight in masters:
            rows[i, column[master]] += weight
    return rows


def frequencies(model: Matrices, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest natural frequencies [Hz] and mass-normalised modes (n, count)."""
    values, modes = scipy.linalg.eigh(model.stiffness, model.mass, subset_by_index=[0, count - 1])
    return np.sqrt(values) / (2 * np.pi), modes


def forced_beam(
    beam: Beam = Beam(),  # noqa: B008 - frozen
    *,
    modes: int = 11,
    points: int = 39,
    **start: object,
) -> tuple[LinearSystem, dict[str, np.ndarray]]:
    """The reduced system in modal coordinates with its ``start``, and rows (modes,) of what is looked at."""
    model = matrices(beam)
    hertz, vectors = frequencies(model, modes)
    gaps = [
        (model.shape(1, x) - model.shape(2, x)) @ vectors for x in np.arange(1, points + 1) / (points + 1)
    ]
    system = LinearSystem(
        np.ones(modes),
        stiffness=(2 * np.pi * hertz) ** 2,
        damping=vectors.T @ model.damping @ vectors,
        force=Harmonic(beam.force * model.shape(0, 0.5) @ vectors, 2 * np.pi * beam.frequency),
        contacts=[Contact(f"gap {i + 1}", normal=row) for i, row in enumerate(gaps)],
        name="delaminated beam",
        **start,
    )
    looked_at = {
        "middle gap": (model.shape(1, 0.5) - model.shape(2, 0.5)) @ vectors,
        "end of beam 1": model.shape(0, 1.0) @ vectors,
    }
    return system, looked_at
