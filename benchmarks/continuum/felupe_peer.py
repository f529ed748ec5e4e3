"""The side of felupe: its compressible neo-Hooke, its solid body."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import felupe
import numpy as np
import scipy.sparse.linalg

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.continuum import problem


class Block:
    def __init__(self, dimension: int, n: int) -> None:
        if dimension == 2:
            mesh = felupe.Rectangle(n=n + 1)
            region = felupe.RegionQuad(mesh)
            field = felupe.FieldPlaneStrain(region, dim=2)
        else:
            mesh = felupe.Cube(n=n + 1)
            region = felupe.RegionHexahedron(mesh)
            field = felupe.Field(region, dim=3)
        self.places = mesh.points
        self.field = felupe.FieldContainer([field])
        law = felupe.NeoHookeCompressible(mu=problem.SHEAR, lmbda=problem.LAME)
        self.solid = felupe.SolidBody(law, self.field, density=problem.DENSITY)
        self.order = problem.grid_order(self.places, n)

    def both(self, u: np.ndarray) -> tuple[np.ndarray, Any]:
        self.field[0].values[:] = u.reshape(self.places.shape)
        force = self.solid.assemble.vector(self.field).toarray().ravel()
        return force, self.solid.assemble.matrix(self.field)


def assemble(dimension: int, n: int, repeats: int) -> dict[str, Any]:
    block = Block(dimension, n)
    u = problem.displacement(block.places).ravel()
    force, stiffness = block.both(u)
    peak = problem.peak_bytes()
    along = stiffness @ problem.probe(block.places).ravel()
    seconds = problem.clocked(lambda: block.both(u), repeats)
    shape = block.places.shape
    return {
        "seconds": seconds,
        "force": force.reshape(shape)[block.order],
        "along": along.reshape(shape)[block.order],
        "peak": peak,
    }


def step(dimension: int, n: int) -> dict[str, Any]:
    block = Block(dimension, n)
    mass = block.solid.assemble.mass()
    speed = problem.velocity(block.places).ravel()
    found: list[Any] = []

    def work() -> None:
        found[:] = problem.newton_midpoint(
            mass,
            block.both,
            lambda matrix, right: scipy.sparse.linalg.spsolve(matrix.tocsr(), right),
            np.zeros_like(speed),
            speed,
        )

    seconds = problem.clocked(work, 1)
    return {
        "seconds": seconds,
        "change": found[0].reshape(block.places.shape)[block.order],
        "rounds": found[1],
    }


if __name__ == "__main__":
    problem.serve(felupe.__version__, {"assemble": assemble, "step": step})
