"""Import and reduction of a large structure with many contacts, then time steps of what is left.

    python -m benchmarks.reduction_scale [--quick] [--all]

Two simply supported steel plates lie on each other, bending by finite differences: D Δ² w = −ρ t ẅ, 50 000 unknowns
each. 500 pairs of nodes may touch. Matrices and pairs are written to files and imported as from another program. The
lower plate is shaken, so that the plates clatter. Frequencies are compared with the closed form of the differences,
ω = √(D/ρt) (λ_x + λ_y); contact flexibilities of the reduced systems with those of the full one. Systems with contact
compliance (quasi-static, massless boundary) take steps on position level, which are not compiled.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sparse
from rich.console import Console

from benchmarks.tables import Table, duration
from klapper.mechanics import Harmonic, LinearSystem
from klapper.mechanics.eigenmodes import lowest_modes
from klapper.reduction import Reduced, attachment, craig_bampton, massless_boundary, modal, quasi_static
from klapper.schemes import Moreau
from klapper.simulate import simulate
from klapper.structures import ImportedStructure

SIDES = (1.0, 0.8)  # m
YOUNG, DENSITY, POISSON = 210e9, 7800.0, 0.3
THICKNESS = (5e-3, 4e-3)  # m
MODES = 40
STEP = 2e-5  # s
EXCITATION = 60.0  # Hz
PATIENCE = 20.0  # s of time steps per system


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.reduction_scale", description="Reduction at scale.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the unknowns, a tenth of the steps")
    parser.add_argument("--all", action="store_true", help="Craig–Bampton and massless boundary too")
    chosen = parser.parse_args(arguments)
    quick, reductions = chosen.quick, {**REDUCTIONS, **(SLOWER if chosen.all else {})}
    grid, pairs, steps = ((80, 62), (10, 10), 1000) if quick else ((250, 200), (25, 20), 10_000)
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), grid, pairs)
        began = perf_counter()
        system = imported(Path(folder), grid)
        console.print(
            f"{system.size} unknowns, {system.contacts.count} contact pairs imported in "
            f"{duration(perf_counter() - began)}"
        )
    table = Table(
        f"Reduction to {MODES} modes, then up to {steps} steps of {STEP:g} s",
        (
            "reduction",
            "coordinates",
            "time",
            "peak memory",
            "frequencies",
            "contacts lose",
            "steps/min",
            "touching",
        ),
    )
    for name, reduce in reductions.items():
        began = perf_counter()
        reduced = reduce(system, MODES)
        taken = perf_counter() - began
        console.print(f"{duration(taken)}: {reduced}")
        rate, touching = pace(reduced, steps)
        console.print(f"    {rate:.2g} steps per minute, {touching:.0f} pairs touching on average")
        table.add(
            name,
            f"{reduced.system.size}",
            duration(taken),
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB",
            f"{frequency_error(reduced, grid):.0e}",
            f"{np.nanmax(reduced.error.contact):.1e}",
            f"{rate:.2g}",
            f"{touching:.0f}",
        )
    console.print(table.rich())


REDUCTIONS: dict[str, Callable[[LinearSystem, int], Reduced]] = {
    "modal": modal,
    "attachment": attachment,
    "quasi-static": quasi_static,
}
SLOWER: dict[str, Callable[[LinearSystem, int], Reduced]] = {  # both nodes of every pair are on the boundary
    "Craig–Bampton": craig_bampton,
    "massless boundary": massless_boundary,
}


def write_files(folder: Path, grid: tuple[int, int], pairs: tuple[int, int]) -> None:
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
    lines = [f"pair {i + 1},{node + count},{node},0,0,1,1e-5" for i, node in enumerate(lower)]
    (folder / "pairs.csv").write_text("\n".join(["name,first,second,nx,ny,nz,gap", *lines]), encoding="utf-8")


def plate(grid: tuple[int, int], thickness: float) -> tuple[Any, Any]:
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


def imported(folder: Path, grid: tuple[int, int]) -> LinearSystem:
    structure = ImportedStructure.read(
        mass=folder / "mass.npz",
        stiffness=folder / "stiffness.npz",
        dofs=folder / "dofs.csv",
        units="kg, m, s",
        name="two plates",
    ).with_rayleigh(mass=2.0, stiffness=2e-6)
    count = grid[0] * grid[1]
    pressure = np.zeros(2 * count)
    pressure[:count] = 300.0 / count
    structure = structure.with_load(Harmonic(pressure, 2 * np.pi * EXCITATION))
    weight = -9.81 * np.asarray(structure.mass.diagonal())
    return structure.with_load(weight).system(structure.contacts(folder / "pairs.csv"))


def frequency_error(reduced: Reduced, grid: tuple[int, int]) -> float:
    """Largest relative deviation of the lowest ten natural frequencies from the closed form."""
    waves = [
        (2 * (n + 1) / side * np.sin(0.5 * np.pi * np.arange(1, 12) / (n + 1))) ** 2
        for side, n in zip(SIDES, grid, strict=True)
    ]
    sums = np.add.outer(*waves).ravel()
    exact = np.sort(
        np.concatenate([np.sqrt(bending_stiffness(t) / (DENSITY * t)) * sums for t in THICKNESS])
    )[:10]
    found = lowest_modes(reduced.system.mass_matrix, reduced.system.stiffness, 10).angular_frequencies
    return float(np.abs(found / exact - 1.0).max())


def pace(reduced: Reduced, steps: int) -> tuple[float, float]:
    """Steps per minute after compilation, and the mean number of pairs that carry force.

    Slow systems take fewer steps than asked for, as many as fit into ``PATIENCE``.
    """
    scheme = Moreau(STEP, theta=1.0, level="velocity" if reduced.system.compliance is None else "position")
    for count in (2, 20):
        began = perf_counter()
        simulate(reduced.system, count * STEP, scheme, progress=False)
        one = (perf_counter() - began) / count
    steps = max(min(steps, int(PATIENCE / one)), 20)
    began = perf_counter()
    run = simulate(reduced.system, steps * STEP, scheme, every=10, progress=False)
    taken = perf_counter() - began
    return 60.0 * steps / taken, float(np.count_nonzero(run.impulse[:, :, 0], axis=1).mean())


if __name__ == "__main__":
    main()
