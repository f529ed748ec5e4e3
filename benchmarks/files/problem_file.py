"""A frictional contact problem in a file, and the error that all answers to it are judged by.

An .npz holds ``data``, ``indices``, ``indptr`` and ``n`` (the Delassus matrix W as compressed rows, n × n), ``q`` (n,),
``mu`` (contacts,) and ``dim``, 2 or 3. Contact i owns the rows dim·i … dim·i + dim − 1, normal first:

    u = W r + q,   −(u + μ ‖u_T‖ n) ∈ N_K(r)   for every contact, K its friction cone

The error is that of the collection FCLIB, ‖r − P_K(r − (u + μ ‖u_T‖ n))‖ / (1 + ‖q‖).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.measure import project_on_cone

PARTS = ("data", "indices", "indptr", "n", "q", "mu", "dim")


class NotAProblem(ValueError):
    """A file does not hold a problem; the message says what is missing in one sentence."""


@dataclass(frozen=True, eq=False)
class ProblemFile:
    """W (n, n), q (n,), μ (contacts,) and the rows per contact."""

    name: str
    matrix: sparse.csr_array
    load: np.ndarray
    friction: np.ndarray
    dimension: int

    @property
    def contacts(self) -> int:
        return len(self.friction)

    def error(self, forces: np.ndarray) -> float:
        """FCLIB's error of forces (n,); infinite if one of them is not finite."""
        if not np.all(np.isfinite(forces)):
            return float("inf")
        velocity = (self.matrix @ forces + self.load).reshape(-1, self.dimension)
        velocity[:, 0] += self.friction * np.linalg.norm(velocity[:, 1:], axis=1)
        reaction = forces.reshape(-1, self.dimension)
        distance = reaction - project_on_cone(reaction - velocity, self.friction)
        return float(np.linalg.norm(distance) / (1.0 + np.linalg.norm(self.load)))

    def write(self, folder: Path) -> None:
        """To NAME.npz in a folder."""
        matrix = self.matrix
        np.savez_compressed(
            folder / f"{self.name}.npz", data=matrix.data, indices=matrix.indices, indptr=matrix.indptr,
            n=matrix.shape[0], q=self.load, mu=self.friction, dim=self.dimension,
        )  # fmt: skip


def read(file: Path) -> ProblemFile:
    """The problem of a file; raises NotAProblem."""
    try:
        with np.load(file) as stored:
            missing = [part for part in PARTS if part not in stored]
            if missing:
                raise NotAProblem(
                    f"{file.name} has no {', '.join(missing)}; required are {', '.join(PARTS)}."
                )
            n, dimension = int(stored["n"]), int(stored["dim"])
            rows = (stored["data"].astype(float), stored["indices"], stored["indptr"])
            matrix = sparse.csr_array(rows, shape=(n, n))
            load, friction = stored["q"].astype(float), stored["mu"].astype(float)
    except (OSError, ValueError) as error:
        if isinstance(error, NotAProblem):
            raise
        raise NotAProblem(f"{file.name} cannot be read: {error}") from None
    if dimension not in (2, 3) or load.shape != (n,) or friction.shape != (n // dimension,) or n % dimension:
        raise NotAProblem(
            f"{file.name} has n = {n}, dim = {dimension}, q of shape {load.shape} and mu of shape {friction.shape}; "
            f"required are dim 2 or 3, q (n,) and mu (n / dim,)."
        )
    return ProblemFile(file.stem, matrix, load, friction, dimension)
