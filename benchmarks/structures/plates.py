"""Two simply supported steel plates that lie on each other and clatter, as files of another program.

    D Δ² w = −ρ t ẅ,   ω = √(D/ρt) (λ_x + λ_y)

Bending by finite differences, whose frequencies have a closed form. Pairs of nodes may touch; the lower plate is
shaken, the upper one lies on it by its weight.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import Harmonic, LinearSystem
from klapper.mechanics.eigenmodes import lowest_modes
from klapper.structures import ImportedStructure

Grid = tuple[int, int]

SIDES = (1.0, 0.8)  # m
YOUNG, DENSITY, POISSON = 210e9, 7800.0, 0.3
THICKNESS = (5e-3, 4e-3)  # m
GAP = 1e-5  # m
EXCITATION, SHAKING = 60.0, 300.0  # Hz, N


def write_files(folder: Path, grid: Grid, pairs: Grid) -> None:
    """Matrices of both plates, their coordinates, and the pairs of nodes that may touch."""
    count = grid[0] * grid[1]
    parts = [plate(grid, thickness) for thickness in THICKNESS]
    for kind, number in (("mass", 0), ("stiffness", 1)):
        matrix = sparse.block_diag([part[number] for part in parts], format="csr")
        sparse.save_npz(folder / f"{kind}.npz", matrix)
    dofs = [f"{node},3" for node in range(1, 2 * count + 1)]
    (folder / "dofs.csv").write_text("\n".join(dofs), encoding="utf-8")
    along = [np.linspace(0, n - 1, k + 2).astype(int)[1:-1] for n, k in zip(grid, pairs, strict=True)]
    lower = (along[0][:, None] * grid[1] + along[1]).ravel() + 1
    lines = [f"pair {i + 1},{node + count},{node},0,0,1,{GAP}" for i, node in enumerate(lower)]
    (folder / "pairs.csv").write_text("\n".join(["name,first,second,nx,ny,nz,gap", *lines]), encoding="utf-8")


def plate(grid: Grid, thickness: float) -> tuple[Any, Any]:
    """Mass and stiffness of a simply supported plate, ``grid`` inner points."""
    lengths = [side / (n + 1) for side, n in zip(SIDES, grid, strict=True)]
    cell = lengths[0] * lengths[1]
    one, two = (second_difference(n) / size**2 for n, size in zip(grid, lengths, strict=True))
    laplace = sparse.kron(one, sparse.eye_array(grid[1])) + sparse.kron(sparse.eye_array(grid[0]), two)
    count = grid[0] * grid[1]
    mass = sparse.diags_array(np.full(count, DENSITY * thickness * cell))
    return mass.tocsr(), (bending_stiffness(thickness) * cell * laplace @ laplace).tocsr()


def second_difference(n: int) -> Any:
    side = np.full(n - 1, -1.0)
    return sparse.diags_array([side, np.full(n, 2.0), side], offsets=[-1, 0, 1])


def bending_stiffness(thickness: float) -> float:
    return YOUNG * thickness**3 / (12 * (1 - POISSON**2))


def imported(folder: Path) -> LinearSystem:
    """The system of the files, damped, shaken and heavy."""
    structure = ImportedStructure.read(
        mass=folder / "mass.npz",
        stiffness=folder / "stiffness.npz",
        dofs=folder / "dofs.csv",
        units="kg, m, s",
        name="two plates",
    ).with_rayleigh(mass=2.0, stiffness=2e-6)
    masses = np.asarray(structure.mass.diagonal())
    count = len(masses) // 2
    shaking = np.where(np.arange(2 * count) < count, SHAKING / count, 0.0)
    structure = structure.with_load(Harmonic(shaking, 2 * np.pi * EXCITATION)).with_load(-9.81 * masses)
    return structure.system(structure.contacts(folder / "pairs.csv"))


def frequency_error(system: LinearSystem, grid: Grid) -> float:
    """Largest relative deviation of the lowest ten natural frequencies from the closed form."""
    waves = [
        (2 * (n + 1) / side * np.sin(0.5 * np.pi * np.arange(1, 12) / (n + 1))) ** 2
        for side, n in zip(SIDES, grid, strict=True)
    ]
    sums = np.add.outer(*waves).ravel()
    exact = [np.sqrt(bending_stiffness(t) / (DENSITY * t)) * sums for t in THICKNESS]
    found = lowest_modes(system.mass_matrix, system.stiffness, 10).angular_frequencies
    return float(np.abs(found / np.sort(np.concatenate(exact))[:10] - 1.0).max())
