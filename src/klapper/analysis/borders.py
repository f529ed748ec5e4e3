"""Borders of regions on a grid: edges that cross them, crossings refined, and curves linked from crossings.

The grid has nodes (x_i, y_j). An edge joins two neighbours of which one is inside and one is not. Crossings are
bracketed on all edges at once by the method of Chandrupatla (1997): inverse quadratic interpolation where three values
allow it, halving else. In a cell with four crossings the value at its centre says which ones belong together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_ROUNDS = 200


def bracketed(
    value: Callable[[np.ndarray, np.ndarray], np.ndarray],
    first: np.ndarray,
    last: np.ndarray,
    accuracy: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Shares (k,), (k,) between which values change sign, at most ``accuracy`` apart; first those next to share 0.

    ``first``, ``last``   values (k,) of different sign at shares 0 and 1
    ``value(which, share)``  the values of the changes ``which`` at their shares; an infinite one says only its sign
    """
    x1, x2, x3 = np.ones(len(first)), np.zeros(len(first)), np.zeros(len(first))
    f1, f2, f3 = last.copy(), first.copy(), first.copy()
    for _ in range(_ROUNDS):
        which = np.flatnonzero(np.abs(x2 - x1) > accuracy)
        if not which.size:
            break
        now = [each[which] for each in (x1, x2, x3, f1, f2, f3)]
        margin = 0.5 * accuracy / np.abs(now[1] - now[0])
        share = now[0] + np.clip(_next_part(*now), margin, 1.0 - margin) * (now[1] - now[0])
        found = value(which, share)
        same = np.signbit(found) == np.signbit(now[3])
        x3[which], f3[which] = np.where(same, now[0], now[1]), np.where(same, now[3], now[4])
        x2[which], f2[which] = np.where(same, now[1], now[0]), np.where(same, now[4], now[3])
        x1[which], f1[which] = share, found
    starts = np.signbit(f1) == np.signbit(first)
    return np.where(starts, x1, x2), np.where(starts, x2, x1)


def _next_part(
    x1: np.ndarray, x2: np.ndarray, x3: np.ndarray, f1: np.ndarray, f2: np.ndarray, f3: np.ndarray
) -> np.ndarray:
    """Part of the way from x1 to x2: by inverse quadratic interpolation where that is safe, else the middle."""
    with np.errstate(invalid="ignore", divide="ignore"):
        place, height = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        safe = (height**2 < place) & ((1.0 - height) ** 2 < 1.0 - place)
        part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return np.where(safe & np.isfinite(part), part, 0.5)


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges (k,) of a grid that cross a border, from node (``row``, ``column``) to the right or upwards.

    ``row``, ``column``  numbers (k,) of the first node; ``upward`` (k,) whether the other is above it, not beside
    """

    row: np.ndarray
    column: np.ndarray
    upward: np.ndarray

    @property
    def count(self) -> int:
        return len(self.row)

    def ends(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values at the nodes (b, a, …) at both ends of every edge (k, …)."""
        return (
            values[self.row, self.column],
            values[self.row + self.upward, self.column + ~self.upward],
        )


def crossing_edges(inside: np.ndarray, known: np.ndarray) -> Edges:
    """Edges between known nodes (b, a) of which one is inside and one is not."""
    beside = (inside[:, 1:] != inside[:, :-1]) & known[:, 1:] & known[:, :-1]
    above = (inside[1:] != inside[:-1]) & known[1:] & known[:-1]
    rows, columns = np.nonzero(beside)
    more_rows, more_columns = np.nonzero(above)
    return Edges(
        np.concatenate([rows, more_rows]),
        np.concatenate([columns, more_columns]),
        np.concatenate([np.zeros(len(rows), dtype=bool), np.ones(len(more_rows), dtype=bool)]),
    )


def linked(edges: Edges, inside: np.ndarray, centre: Callable[[np.ndarray], np.ndarray]) -> list[list[int]]:
    """Numbers of edges in the order in which a border crosses them, curve by curve; a closed one repeats its first.

    ``centre(cells)`` says whether the middles of the cells (c, 2), row and column of their lower left node, are inside.
    """
    by_cell: dict[tuple[int, int], dict[str, int]] = {}
    for number, (row, column, upward) in enumerate(zip(edges.row, edges.column, edges.upward, strict=True)):
        beside = ((0, -1, "right"), (0, 0, "left")) if upward else ((-1, 0, "top"), (0, 0, "bottom"))
        for down, left, side in beside:
            cell = (int(row) + down, int(column) + left)
            if 0 <= cell[0] < inside.shape[0] - 1 and 0 <= cell[1] < inside.shape[1] - 1:
                by_cell.setdefault(cell, {})[side] = number
    saddles = [cell for cell, sides in by_cell.items() if len(sides) == 4]
    middles = dict(zip(saddles, centre(np.array(saddles)), strict=True)) if saddles else {}
    neighbours: dict[int, list[int]] = {number: [] for number in range(edges.count)}
    for cell, sides in by_cell.items():
        if len(sides) == 2:
            one, other = sides.values()
            pairs = [(one, other)]
        elif len(sides) == 4:
            pairs = _saddle(sides, bool(middles[cell]) == bool(inside[cell]))
        else:
            continue
        for one, other in pairs:
            neighbours[one].append(other)
            neighbours[other].append(one)
    return _chains(neighbours)


def _saddle(sides: dict[str, int], joined: bool) -> list[tuple[int, int]]:
    """Pairs of crossings; ``joined`` if the middle of the cell belongs to its lower left corner."""
    if joined:
        return [(sides["bottom"], sides["right"]), (sides["left"], sides["top"])]
    return [(sides["bottom"], sides["left"]), (sides["right"], sides["top"])]


def _chains(neighbours: dict[int, list[int]]) -> list[list[int]]:
    left = set(neighbours)
    chains = []
    for start in sorted(neighbours, key=lambda number: len(neighbours[number]) >= 2):
        if start not in left:
            continue
        chain = [start]
        left.discard(start)
        while ahead := [number for number in neighbours[chain[-1]] if number in left]:
            chain.append(ahead[0])
            left.discard(ahead[0])
        if len(chain) > 2 and start in neighbours[chain[-1]]:
            chain.append(start)
        chains.append(chain)
    return chains
