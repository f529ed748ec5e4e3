"""Factors by PARDISO of Intel's MKL, by way of pypardiso.

Phase 11 finds an order of the unknowns and the structure of the factors, 22 their values, 33 a solution; 12 is 11 with
22. For matrices with pivots on the diagonal phase 11 depends on the structure only: it is done once for many of them.
"""

from __future__ import annotations

import weakref
from collections import deque
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.schemes.sparse_factor import SingularMatrix, Structure, _pardiso

_DIAGONAL, _GENERAL = 1, 11  # types of matrices: structurally symmetric, any
_idle: deque[tuple[Structure, Any]] = deque()  # one analysis at most, with the solver that holds it
_spare: dict[int, deque[Any]] = {
    _DIAGONAL: deque(),
    _GENERAL: deque(),
}  # empty: a new one looks for MKL in all folders


class PardisoFactor:
    """A⁻¹ of compressed rows; with a ``structure``, which must be that of the matrix, pivots stay on the diagonal."""

    def __init__(self, rows: sparse.csr_array, structure: Structure | None) -> None:
        if not np.all(np.isfinite(rows.data)):
            raise SingularMatrix("the matrix is not finite")
        self._matrix, self._lock = sparse.csr_matrix(rows), Lock()
        idle: Any = None if structure is None else _taken(structure)
        kind = _GENERAL if structure is None else _DIAGONAL
        self._solver: Any = _empty(kind) if idle is None else idle
        weakref.finalize(self, _given_back, self._solver, structure).atexit = False
        self._call(12 if idle is None else 22, np.zeros(rows.shape[0]))

    def __call__(self, right: np.ndarray) -> np.ndarray:
        return self._call(33, np.asfortranarray(right, dtype=float))

    def _call(self, phase: int, right: np.ndarray) -> np.ndarray:
        with self._lock:
            self._solver.set_phase(phase)
            try:
                return self._solver._call_pardiso(self._matrix, right)
            except _pardiso().PyPardisoError as error:
                raise SingularMatrix(str(error)) from error


def _empty(kind: int) -> Any:
    """A solver for a type of matrices that holds nothing."""
    try:
        return _spare[kind].pop()
    except IndexError:
        return _pardiso().PyPardisoSolver(mtype=kind)


def _released(solver: Any, kind: int) -> None:
    solver.free_memory(everything=True)
    _spare[kind].append(solver)


def _taken(structure: Structure) -> Any:
    """The idle solver if its analysis is that of the structure; another one is released."""
    try:
        known, solver = _idle.pop()
    except IndexError:
        return None
    if known is structure:
        return solver
    _released(solver, _DIAGONAL)
    return None


def _given_back(solver: Any, structure: Structure | None) -> None:
    """Called when no one holds a factor any more: its analysis waits for the next matrix, an older one is released."""
    if structure is None:
        _released(solver, _GENERAL)
        return
    _idle.append((structure, solver))
    while len(_idle) > 1:
        _released(_idle.popleft()[1], _DIAGONAL)
