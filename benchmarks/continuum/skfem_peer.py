"""The side of scikit-fem: forms as its examples write them, with fields of the configuration found once before."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse.linalg
import skfem
from skfem.helpers import ddot, dot, grad, mul, transpose

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.continuum import problem


@skfem.BilinearForm
def tangent(u: Any, v: Any, w: Any) -> Any:
    strain = grad(u)
    turned = mul(mul(w.back, transpose(strain)), w.back)
    change = problem.SHEAR * strain + problem.LAME * ddot(w.back, strain) * w.back - w.level * turned
    return ddot(change, grad(v))


@skfem.LinearForm
def load(v: Any, w: Any) -> Any:
    return ddot(problem.SHEAR * w.strain + w.level * w.back, grad(v))


@skfem.BilinearForm
def inertia(u: Any, v: Any, w: Any) -> Any:
    return problem.DENSITY * dot(u, v)


class Block:
    def __init__(self, dimension: int, n: int) -> None:
        line = np.linspace(0.0, 1.0, n + 1)
        if dimension == 2:
            mesh, element = skfem.MeshQuad.init_tensor(line, line), skfem.ElementQuad1()
        else:
            mesh, element = skfem.MeshHex.init_tensor(line, line, line), skfem.ElementHex1()
        self.basis = skfem.Basis(mesh, skfem.ElementVector(element), intorder=3)
        self.places = mesh.p.T
        self.nodes = self.basis.nodal_dofs.T  # (N, d)
        self.order = problem.grid_order(self.places, n)

    def vector(self, field: np.ndarray) -> np.ndarray:
        found = np.empty(field.size)
        found[self.nodes] = field
        return found

    def both(self, u: np.ndarray) -> tuple[np.ndarray, Any]:
        d = self.places.shape[1]
        strain = np.asarray(self.basis.interpolate(u).grad) + np.eye(d)[:, :, None, None]
        matrices = np.moveaxis(strain, (0, 1), (2, 3))
        back = np.moveaxis(np.linalg.inv(matrices), (2, 3), (1, 0)).copy()  # F⁻ᵀ
        level = problem.LAME * np.log(np.linalg.det(matrices)) - problem.SHEAR
        fields = {"strain": strain, "back": back, "level": level}
        return load.assemble(self.basis, **fields), tangent.assemble(self.basis, **fields)


def assemble(dimension: int, n: int, repeats: int) -> dict[str, Any]:
    block = Block(dimension, n)
    u = block.vector(problem.displacement(block.places))
    found = list(block.both(u))
    peak = problem.peak_bytes()
    along = found[1] @ block.vector(problem.probe(block.places))
    seconds = problem.clocked(lambda: block.both(u), repeats)
    return {
        "seconds": seconds,
        "force": found[0][block.nodes][block.order],
        "along": along[block.nodes][block.order],
        "peak": peak,
    }


def step(dimension: int, n: int) -> dict[str, Any]:
    block = Block(dimension, n)
    mass = inertia.assemble(block.basis)
    speed = block.vector(problem.velocity(block.places))
    found: list[Any] = []

    def work() -> None:
        found[:] = problem.newton_midpoint(
            mass,
            block.both,
            lambda matrix, right: scipy.sparse.linalg.spsolve(matrix, right),
            np.zeros_like(speed),
            speed,
        )

    seconds = problem.clocked(work, 1)
    return {"seconds": seconds, "change": found[0][block.nodes][block.order], "rounds": found[1]}


if __name__ == "__main__":
    problem.serve(skfem.__version__, {"assemble": assemble, "step": step})
