"""Where the entries of element vectors and matrices go: found once, then every assembly is one pass of sums.

Elements are taken in batches, and batches that share no coordinate in the same turn: in a turn threads write to rows of
their own, and every entry is summed in the same sequence however many threads there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.kernels.places import add_matrices, find_slots, gather
from klapper.continuum.threads import WORTH, shared

_BATCH = 256  # elements


@dataclass(frozen=True, eq=False)
class Slots:
    """Where the matrices (e, k d, k d) of a group of elements go.

    ``first``  (e, k, d, k): place among the stored values of the entry in row A i and column B 0; those in the columns
               B 1 … B d−1 follow
    ``turns``  first element and last one + 1 of batches (b, 2), turn by turn
    """

    first: np.ndarray
    turns: tuple[np.ndarray, ...]


@runtime_checkable
class CellMatrices(Protocol):
    """Element matrices that are not stored, but add themselves to the values of compressed rows; nodes have d
    coordinates each."""

    @property
    def dimension(self) -> int: ...

    def add_to(self, data: np.ndarray, slots: Slots) -> None: ...


@dataclass(frozen=True, eq=False)
class Pattern:
    """The sparsity of matrices (n, n) over the coordinates of several groups of elements.

    ``places``   coordinates (e, s) of the elements of each group; a matrix of a group has shape (e, s, s)
    ``indptr``, ``indices``  compressed rows
    """

    size: int
    places: tuple[np.ndarray, ...]
    indptr: np.ndarray
    indices: np.ndarray
    _slots: dict[tuple[int, int], Slots] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, size: int, places: Sequence[np.ndarray]) -> Pattern:
        given = tuple(np.asarray(place, dtype=np.int64) for place in places)
        touched = sparse.vstack(
            [sparse.csr_array((0, size), dtype=bool), *(_touched(p, size) for p in given)]
        )
        matrix = sparse.csr_array(touched.T @ touched)
        matrix.sort_indices()
        return cls(size, given, matrix.indptr, matrix.indices)

    def matrix(self, parts: Sequence[np.ndarray | CellMatrices]) -> sparse.csr_array:
        """Sum of element matrices (e, s, s), group by group."""
        data = np.zeros(len(self.indices))
        for number, (part, places) in enumerate(zip(parts, self.places, strict=True)):
            if isinstance(part, CellMatrices):
                part.add_to(data, self._slots_of(number, part.dimension))
                continue
            slots = self._slots_of(number, _coordinates_per_node(places))
            for turn in slots.turns:
                shared(add_matrices, len(turn), turn, np.ascontiguousarray(part), slots.first, data, worth=2)
        return sparse.csr_array((data, self.indices, self.indptr), shape=(self.size, self.size))

    def vector(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Sum (n,) of element vectors (e, s), group by group."""
        values = np.ravel(parts[0]) if len(parts) == 1 else np.concatenate([np.ravel(part) for part in parts])
        order, start = self._vector_order
        found = np.empty(self.size)
        shared(gather, self.size, values, order, start, found)
        return found

    def _slots_of(self, number: int, d: int) -> Slots:
        if (number, d) not in self._slots:
            places = self.places[number]
            count, size = places.shape
            first = np.empty((count, size // d, d, size // d), dtype=self.indptr.dtype)
            shared(find_slots, count, places, self.indptr, self.indices, first)
            self._slots[number, d] = Slots(first, _turns(places[:, ::d], self.size))
        return self._slots[number, d]

    @cached_property
    def _vector_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Which entries, in the sequence of the groups, add up to each coordinate, and where each one's begin."""
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *(place.ravel() for place in self.places)])
        order = np.argsort(keys, kind="stable")
        return order, np.searchsorted(keys[order], np.arange(self.size + 1))


def _touched(places: np.ndarray, size: int) -> sparse.csr_array:
    """(e, n) of truth values."""
    count, each = places.shape
    return sparse.csr_array(
        (np.ones(places.size, dtype=bool), places.ravel(), each * np.arange(count + 1)), shape=(count, size)
    )


def _coordinates_per_node(places: np.ndarray) -> int:
    """The largest d ≤ 3 for which the coordinates of every element come in rows of d."""
    for d in (3, 2):
        if places.shape[1] % d == 0 and all(
            np.array_equal(places[:, i::d], places[:, ::d] + i) for i in range(1, d)
        ):
            return d
    return 1


def _turns(places: np.ndarray, size: int) -> tuple[np.ndarray, ...]:
    """Batches of elements (b, 2) such that those of one turn have no coordinate in common."""
    count = len(places)
    if count < WORTH:
        return (np.array([[0, count]]),)
    cuts = np.append(np.arange(0, count, _BATCH), count)
    batches = np.column_stack([cuts[:-1], cuts[1:]])
    merge = sparse.csr_array(
        (np.ones(count, dtype=bool), np.arange(count), cuts), shape=(len(batches), count)
    )
    touched = merge @ _touched(places, size)
    near = sparse.csr_array(touched @ touched.T)
    turn = np.full(len(batches), -1)
    for b in range(len(batches)):
        taken = turn[near.indices[near.indptr[b] : near.indptr[b + 1]]]
        turn[b] = np.setdiff1d(np.arange(len(taken) + 1), taken)[0]
    return tuple(batches[turn == t] for t in range(turn.max() + 1))
