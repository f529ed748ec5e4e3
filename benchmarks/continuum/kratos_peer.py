"""The side of Kratos Multiphysics: total Lagrangian elements with its hyperelastic law, its builder of the system."""

from __future__ import annotations

import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import KratosMultiphysics as Kratos
import KratosMultiphysics.ConstitutiveLawsApplication
import KratosMultiphysics.StructuralMechanicsApplication
import numpy as np
from KratosMultiphysics import scipy_conversion_tools

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.continuum import problem

ELEMENTS = {2: "TotalLagrangianElement2D4N", 3: "TotalLagrangianElement3D8N"}
LAWS = {2: "HyperElasticPlaneStrain2DLaw", 3: "HyperElastic3DLaw"}
SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
CORNERS = {2: SQUARE, 3: [(*corner, z) for z in (0, 1) for corner in SQUARE]}


class Block:
    def __init__(self, dimension: int, n: int) -> None:
        part = self.part = Kratos.Model().CreateModelPart("block")
        self.model = part.GetModel()
        part.ProcessInfo[Kratos.DOMAIN_SIZE] = dimension
        part.AddNodalSolutionStepVariable(Kratos.DISPLACEMENT)
        part.AddNodalSolutionStepVariable(Kratos.REACTION)
        part.AddNodalSolutionStepVariable(Kratos.VOLUME_ACCELERATION)
        index = np.array(list(product(range(n + 1), repeat=dimension)))[:, ::-1]  # first coordinate fastest
        self.places = index / n
        for number, place in enumerate(self.places, 1):
            part.CreateNewNode(number, *place, *[0.0] * (3 - dimension))
        law = Kratos.KratosGlobals.GetConstitutiveLaw(LAWS[dimension]).Clone()
        properties = part.CreateNewProperties(1)
        for variable, value in (
            (Kratos.YOUNG_MODULUS, problem.YOUNG),
            (Kratos.POISSON_RATIO, problem.POISSON),
            (Kratos.DENSITY, problem.DENSITY),
            (Kratos.THICKNESS, 1.0),
            (Kratos.CONSTITUTIVE_LAW, law),
        ):
            properties.SetValue(variable, value)
        weights = (n + 1) ** np.arange(dimension)
        for number, cell in enumerate(product(range(n), repeat=dimension), 1):
            corners = (np.array(cell)[::-1] + CORNERS[dimension]) @ weights + 1
            part.CreateNewElement(ELEMENTS[dimension], number, [int(c) for c in corners], properties)
        for axis in "XYZ"[:dimension]:
            variable, reaction = (getattr(Kratos, f"{name}_{axis}") for name in ("DISPLACEMENT", "REACTION"))
            Kratos.VariableUtils().AddDof(variable, reaction, part)
        part.SetBufferSize(1)
        self._system(dimension)

    def _system(self, dimension: int) -> None:
        self.scheme = Kratos.ResidualBasedIncrementalUpdateStaticScheme()
        self.builder = Kratos.ResidualBasedBlockBuilderAndSolver(Kratos.SkylineLUFactorizationSolver())
        space = Kratos.UblasSparseSpace()
        self.matrix, self.change, self.right = (
            space.CreateEmptyMatrixPointer(), space.CreateEmptyVectorPointer(), space.CreateEmptyVectorPointer()
        )  # fmt: skip
        self.scheme.Initialize(self.part)
        self.scheme.InitializeElements(self.part)
        self.builder.SetUpDofSet(self.scheme, self.part)
        self.builder.SetUpSystem(self.part)
        self.builder.ResizeAndInitializeVectors(self.scheme, self.matrix, self.change, self.right, self.part)
        self.scheme.InitializeSolutionStep(self.part, self.matrix, self.change, self.right)
        names = [getattr(Kratos, f"DISPLACEMENT_{axis}") for axis in "XYZ"[:dimension]]
        self.rows = np.array([[node.GetDof(v).EquationId for v in names] for node in self.part.Nodes])

    def set(self, field: np.ndarray) -> None:
        for node, value in zip(self.part.Nodes, field, strict=True):
            node.SetSolutionStepValue(Kratos.DISPLACEMENT, [*value, *[0.0] * (3 - len(value))])
        Kratos.VariableUtils().UpdateCurrentPosition(self.part.Nodes, Kratos.DISPLACEMENT)

    def both(self) -> None:
        space = Kratos.UblasSparseSpace()
        space.SetToZeroMatrix(self.matrix)
        space.SetToZeroVector(self.right)
        self.builder.Build(self.scheme, self.part, self.matrix, self.right)


def assemble(dimension: int, n: int, repeats: int) -> dict[str, Any]:
    block = Block(dimension, n)
    block.set(problem.displacement(block.places))
    block.both()
    peak = problem.peak_bytes()
    probe = np.empty(block.rows.size)
    probe[block.rows] = problem.probe(block.places)
    along = scipy_conversion_tools.to_csr(block.matrix) @ probe
    force = -np.array(block.right)
    seconds = problem.clocked(block.both, repeats)
    order = problem.grid_order(block.places, n)
    return {
        "seconds": seconds,
        "force": force[block.rows][order],
        "along": along[block.rows][order],
        "peak": peak,
    }


if __name__ == "__main__":
    Kratos.Logger.GetDefaultOutput().SetSeverity(Kratos.Logger.Severity.WARNING)
    problem.serve(version("KratosMultiphysics"), {"assemble": assemble})
