"""Supports and couplings between coordinates, satisfied by elimination.

    B q = 0   ⟺   q = T y                       (supports, rigid offsets, hinges: multi-point constraints)

Every constraint removes one coordinate; those that are left keep their meaning, because T has a unit row for each of
them. Redundant constraints do no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

_REDUNDANT = 1e-11  # of a constraint's largest coefficient: what is left of it is zero


def elimination(constraints: Any) -> tuple[Any, np.ndarray]:
    """T (N, n), sparse, and the numbers (n,) of the coordinates that are kept, from B (p, N), dense or sparse."""
    rows = sparse.csr_array(constraints)
    size = rows.shape[1]
    expressed: dict[int, dict[int, float]] = {}  # eliminated coordinate: its combination of others
    users: dict[int, set[int]] = {}  # coordinate: the eliminated ones that are expressed by it
    for i in range(rows.shape[0]):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        given = dict(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))
        row = _substituted(given, expressed)
        largest = max(map(abs, given.values()), default=0.0)
        row = {j: value for j, value in row.items() if abs(value) > _REDUNDANT * largest}
        if row:
            _eliminate(row, expressed, users)
    kept = np.setdiff1d(np.arange(size), np.fromiter(expressed, dtype=int, count=len(expressed)))
    return _basis(expressed, kept, size), kept


def _substituted(row: dict[int, float], expressed: dict[int, dict[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for j, value in row.items():
        for k, factor in expressed.get(j, {j: 1.0}).items():
            total[k] = total.get(k, 0.0) + value * factor
    return total


def _eliminate(
    row: dict[int, float], expressed: dict[int, dict[int, float]], users: dict[int, set[int]]
) -> None:
    """Solve the row for its largest coefficient and replace that coordinate wherever it was used."""
    pivot = max(row, key=lambda j: (abs(row[j]), j))
    answer = {j: -value / row[pivot] for j, value in row.items() if j != pivot}
    for user in users.pop(pivot, ()):
        expressed[user] = _substituted(expressed[user], {pivot: answer})
        for j in answer:
            users.setdefault(j, set()).add(user)
    expressed[pivot] = answer
    for j in answer:
        users.setdefault(j, set()).add(pivot)


def _basis(expressed: dict[int, dict[int, float]], kept: np.ndarray, size: int) -> Any:
    number = {int(j): k for k, j in enumerate(kept)}
    rows, columns, values = list(number), list(number.values()), [1.0] * len(number)
    for j, answer in expressed.items():
        for k, value in answer.items():
            rows.append(j)
            columns.append(number[k])
            values.append(value)
    return sparse.csr_array((values, (rows, columns)), shape=(size, kept.size))


def projected(matrix: Any, basis: Any) -> Any:
    """Tᵀ A T, symmetric to the last bit if A is."""
    product = (basis.T @ matrix @ basis).tocsr()
    transposed = product.T.tocsr()
    return (0.5 * (product + transposed)).tocsr()
