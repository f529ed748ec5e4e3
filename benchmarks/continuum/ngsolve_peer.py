"""The side of NGSolve: the energy as a formula, its derivatives by NGSolve, its own direct solver."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ngsolve
import numpy as np
from ngsolve.meshes import MakeStructured2DMesh, MakeStructured3DMesh

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.continuum import problem


class Block:
    def __init__(self, dimension: int, n: int) -> None:
        if dimension == 2:
            mesh = MakeStructured2DMesh(quads=True, nx=n, ny=n)
            kind = ngsolve.ET.QUAD
        else:
            mesh = MakeStructured3DMesh(hexes=True, nx=n, ny=n, nz=n)
            kind = ngsolve.ET.HEX
        self.places = np.array([vertex.point for vertex in mesh.vertices])
        self.order = problem.grid_order(self.places, n)
        self.space = ngsolve.VectorH1(mesh, order=1)
        measure = ngsolve.dx(intrules={kind: _gauss(dimension)})
        u, v = self.space.TnT()
        strain = ngsolve.Grad(u) + ngsolve.Id(dimension)
        log = ngsolve.log(ngsolve.Det(strain))
        square = ngsolve.InnerProduct(strain, strain)
        energy = (
            0.5 * problem.SHEAR * (square - dimension) - problem.SHEAR * log + 0.5 * problem.LAME * log * log
        )
        self.form = ngsolve.BilinearForm(self.space, symmetric=False)
        self.form += ngsolve.Variation(energy.Compile() * measure)
        self.mass = ngsolve.BilinearForm(self.space, symmetric=False)
        self.mass += problem.DENSITY * ngsolve.InnerProduct(u, v) * measure
        self.state, self.force = ngsolve.GridFunction(self.space), ngsolve.GridFunction(self.space)

    def vector(self, field: np.ndarray) -> np.ndarray:
        return field.T.ravel()

    def field(self, vector: np.ndarray) -> np.ndarray:
        return vector.reshape(self.places.shape[::-1]).T[self.order]

    def both(self, u: np.ndarray) -> tuple[np.ndarray, Any]:
        self.state.vec.FV().NumPy()[:] = u
        self.form.Apply(self.state.vec, self.force.vec)
        self.form.AssembleLinearization(self.state.vec)
        return self.force.vec.FV().NumPy().copy(), self.form.mat


def _gauss(dimension: int) -> ngsolve.IntegrationRule:
    line = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)
    points = [tuple(point) for point in np.stack(np.meshgrid(*[line] * dimension), -1).reshape(-1, dimension)]
    return ngsolve.IntegrationRule(points=points, weights=[0.5**dimension] * len(points))


def assemble(dimension: int, n: int, repeats: int) -> dict[str, Any]:
    block = Block(dimension, n)
    u = block.vector(problem.displacement(block.places))
    force, stiffness = block.both(u)
    peak = problem.peak_bytes()
    block.state.vec.FV().NumPy()[:] = block.vector(problem.probe(block.places))
    block.force.vec.data = stiffness * block.state.vec
    along = block.force.vec.FV().NumPy().copy()
    seconds = problem.clocked(lambda: block.both(u), repeats)
    return {"seconds": seconds, "force": block.field(force), "along": block.field(along), "peak": peak}


def step(dimension: int, n: int) -> dict[str, Any]:
    block = Block(dimension, n)
    block.mass.Assemble()
    mass, total = block.mass.mat, block.mass.mat.CreateMatrix()
    speed = block.vector(problem.velocity(block.places))
    found: list[Any] = []

    class Mass:
        def __matmul__(self, right: np.ndarray) -> np.ndarray:
            block.state.vec.FV().NumPy()[:] = right
            block.force.vec.data = mass * block.state.vec
            return block.force.vec.FV().NumPy().copy()

        def __rmul__(self, factor: float) -> Mass:
            return self

    class Stiffness:
        def __init__(self, matrix: Any) -> None:
            self.matrix = matrix

        def __rmul__(self, factor: float) -> Any:
            return Stiffness(self.matrix)

        def __radd__(self, other: Any) -> Any:
            total.AsVector().data = (2.0 / problem.STEP) * mass.AsVector()
            total.AsVector().data += 0.5 * problem.STEP * self.matrix.AsVector()
            return total

    def solve(matrix: Any, right: np.ndarray) -> np.ndarray:
        block.force.vec.FV().NumPy()[:] = right
        block.state.vec.data = matrix.Inverse(inverse="sparsecholesky") * block.force.vec
        return block.state.vec.FV().NumPy().copy()

    def both(u: np.ndarray) -> tuple[np.ndarray, Any]:
        force, stiffness = block.both(u)
        return force, Stiffness(stiffness)

    def work() -> None:
        found[:] = problem.newton_midpoint(Mass(), both, solve, np.zeros_like(speed), speed)

    seconds = problem.clocked(work, 1)
    return {"seconds": seconds, "change": block.field(found[0]), "rounds": found[1]}


if __name__ == "__main__":
    problem.serve(ngsolve.__version__, {"assemble": assemble, "step": step})
